//! Values of CSP in a form that values of another language can be compared with.
//!
//! In: data. Out: names and numbers as text, pairs, sets; a sequence is the set of its numbered elements, a longer tuple
//! is a pair of pairs from the left. Never here: the other language.

use super::eval::Eval;
use super::value::{Data, SetOf};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Plain {
    /// A name, a number, a truth value.
    Atom(String),
    Text(String),
    Pair(Box<(Plain, Plain)>),
    Set(BTreeSet<Plain>),
}

impl Plain {
    pub fn pair(first: Plain, second: Plain) -> Plain {
        Plain::Pair(Box::new((first, second)))
    }
}

impl Eval {
    /// The plain form of a value; none for functions, processes and sets without end.
    pub fn plain(&self, value: &Data) -> Option<Plain> {
        Some(match value {
            Data::Int(_) | Data::Bool(_) | Data::Const(_) | Data::Channel(_) => Plain::Atom(self.show(value)),
            Data::Char(c) => Plain::Text(c.to_string()),
            Data::Tuple(items) | Data::Dot(items) => {
                let mut parts = items.iter();
                let first = self.plain(parts.next()?)?;
                parts.try_fold(first, |so_far, next| Some(Plain::pair(so_far, self.plain(next)?)))?
            }
            Data::Seq(items) => {
                let text: Option<String> =
                    items.iter().map(|d| if let Data::Char(c) = d { Some(*c) } else { None }).collect();
                match text {
                    Some(text) if !text.is_empty() => Plain::Text(text),
                    _ => {
                        let numbered = items.iter().enumerate();
                        let pairs: Option<BTreeSet<Plain>> = numbered
                            .map(|(i, d)| Some(Plain::pair(Plain::Atom((i + 1).to_string()), self.plain(d)?)))
                            .collect();
                        Plain::Set(pairs?)
                    }
                }
            }
            Data::Set(set) => match &**set {
                SetOf::Finite(list) => {
                    let items: Option<BTreeSet<Plain>> = list.iter().map(|d| self.plain(d)).collect();
                    Plain::Set(items?)
                }
                _ => return None,
            },
            Data::Map(pairs) => {
                let pairs: Option<BTreeSet<Plain>> =
                    pairs.iter().map(|(k, v)| Some(Plain::pair(self.plain(k)?, self.plain(v)?))).collect();
                Plain::Set(pairs?)
            }
            Data::Fun(_) | Data::Proc(_) => return None,
        })
    }
}
