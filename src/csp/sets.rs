//! Sets, some of them without end.
//!
//! In: sets. Out: sets, sizes, memberships; a fault where a set without end would have to be listed.
//! Never here: expressions.

use super::eval::Eval;
use super::value::{Data, Res, SetOf};
use bombus_base::Int;
use std::rc::Rc;

/// Larger sets are refused.
const LARGEST: usize = 4_000_000;

impl Eval {
    /// The elements of a finite set.
    pub fn elements<'s>(&self, set: &'s SetOf) -> Res<&'s [Data]> {
        match set {
            SetOf::Finite(list) => Ok(list),
            _ => self.fail(format!("the set {} has no end and cannot be listed", self.show_set(set))),
        }
    }

    pub fn is_member(&mut self, value: &Data, set: &SetOf) -> Res<bool> {
        Ok(match set {
            SetOf::Finite(list) => list.binary_search(value).is_ok(),
            SetOf::From(from) => matches!(value, Data::Int(n) if n >= from),
            SetOf::Ints => matches!(value, Data::Int(_)),
            SetOf::Chars => matches!(value, Data::Char(_)),
            SetOf::Procs => matches!(value, Data::Proc(_)),
            SetOf::Seqs(inner) => match value {
                Data::Seq(list) => {
                    for item in list.iter() {
                        if !self.is_member(item, inner)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                _ => false,
            },
            SetOf::Sets(inner) => match value {
                Data::Set(set) => self.is_subset(set, inner)?,
                _ => false,
            },
            SetOf::Tuples(sets) => match value {
                Data::Tuple(items) if items.len() == sets.len() => {
                    for (item, set) in items.iter().zip(sets.iter()) {
                        if !self.is_member(item, set)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                _ => false,
            },
            SetOf::Type(number) => self.is_of_type(value, *number)?,
        })
    }

    pub fn union(&mut self, a: &SetOf, b: &SetOf) -> Res<SetOf> {
        use SetOf::{Finite, From, Ints};
        if self.is_subset(a, b)? {
            return Ok(b.clone());
        }
        if self.is_subset(b, a)? {
            return Ok(a.clone());
        }
        match (a, b) {
            (Finite(x), Finite(y)) => {
                let mut all: Vec<Data> = x.iter().chain(y).cloned().collect();
                all.sort_unstable();
                all.dedup();
                self.small(all.len())?;
                Ok(Finite(all))
            }
            (From(x), From(y)) => Ok(From(x.min(y).clone())),
            (Ints, _) | (_, Ints) => Ok(Ints),
            (From(n), Finite(list)) | (Finite(list), From(n)) => {
                let mut least = n.clone();
                for item in list.iter().rev() {
                    match item {
                        Data::Int(i) if *i >= least => {}
                        Data::Int(i) if i.add(&Int::ONE) == least => least = i.clone(),
                        _ => return self.fail("this union has no end and no simple form"),
                    }
                }
                Ok(From(least))
            }
            _ => self.fail("this union has no end and no simple form"),
        }
    }

    pub fn inter(&mut self, a: &SetOf, b: &SetOf) -> Res<SetOf> {
        if self.is_subset(a, b)? {
            return Ok(a.clone());
        }
        if self.is_subset(b, a)? {
            return Ok(b.clone());
        }
        match (a, b) {
            (SetOf::Finite(list), other) | (other, SetOf::Finite(list)) => {
                let mut both = Vec::new();
                for item in list {
                    if self.is_member(item, other)? {
                        both.push(item.clone());
                    }
                }
                Ok(SetOf::Finite(both))
            }
            (SetOf::From(x), SetOf::From(y)) => Ok(SetOf::From(x.max(y).clone())),
            _ => self.fail("this intersection has no end and no simple form"),
        }
    }

    pub fn diff(&mut self, a: &SetOf, b: &SetOf) -> Res<SetOf> {
        if self.is_subset(a, b)? {
            return Ok(SetOf::Finite(Vec::new()));
        }
        match (a, b) {
            (SetOf::Finite(list), other) => {
                let mut rest = Vec::new();
                for item in list {
                    if !self.is_member(item, other)? {
                        rest.push(item.clone());
                    }
                }
                Ok(SetOf::Finite(rest))
            }
            (SetOf::From(from), SetOf::Finite(list)) => {
                let mut least = from.clone();
                let mut inside = 0;
                for item in list {
                    if let Data::Int(n) = item
                        && n >= from
                    {
                        inside += 1;
                        if *n == least {
                            least = least.add(&Int::ONE);
                        }
                    }
                }
                if least == from.add(&Int::from(inside as i64)) {
                    return Ok(SetOf::From(least));
                }
                self.fail("this difference has no end and no simple form")
            }
            _ => self.fail("this difference has no end and no simple form"),
        }
    }

    pub fn is_subset(&mut self, a: &SetOf, b: &SetOf) -> Res<bool> {
        Ok(match (a, b) {
            (SetOf::Finite(x), SetOf::Finite(y)) => {
                x.len() <= y.len() && x.iter().all(|i| y.binary_search(i).is_ok())
            }
            (SetOf::Finite(list), other) => {
                for item in list {
                    if !self.is_member(item, other)? {
                        return Ok(false);
                    }
                }
                true
            }
            (_, SetOf::Finite(_)) => false,
            (SetOf::From(x), SetOf::From(y)) => x >= y,
            (SetOf::From(_), SetOf::Ints) => true,
            (SetOf::Seqs(x), SetOf::Seqs(y)) | (SetOf::Sets(x), SetOf::Sets(y)) => self.is_subset(x, y)?,
            (SetOf::Tuples(x), SetOf::Tuples(y)) if x.len() == y.len() => {
                for (x, y) in x.iter().zip(y.iter()) {
                    if !self.is_subset(x, y)? {
                        return Ok(false);
                    }
                }
                true
            }
            (x, y) => x == y,
        })
    }

    /// All subsets.
    pub fn powerset(&mut self, set: &SetOf) -> Res<SetOf> {
        let SetOf::Finite(list) = set else { return Ok(SetOf::Sets(Rc::new(set.clone()))) };
        if list.len() > 20 {
            return self.give_up(format!("a set of 2^{} sets is too large", list.len()));
        }
        let all = (0..1u32 << list.len()).map(|bits| {
            let chosen = list.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            Data::Set(Rc::new(SetOf::Finite(chosen.map(|(_, d)| d.clone()).collect())))
        });
        let Data::Set(set) = Data::set(all.collect()) else { return self.fail("no set") };
        Ok((*set).clone())
    }

    pub fn small(&self, size: usize) -> Res<()> {
        if size > LARGEST {
            self.give_up(format!("a set of more than {LARGEST} elements is too large"))
        } else {
            Ok(())
        }
    }
}
