//! Terms: the shape that a value of B takes while its parts are literals.
//!
//! In: types, values, literals. Out: terms, their equality, choice between terms, the values a term may have, and the
//! value of a term in a model. A term of a type without bits is `Opaque`: nothing is known of it but its number, and
//! equal numbers stand for equal values. Never here: formulas (`expr`, `pred`), environments.

use super::Encoder;
use super::images::Images;
use super::number::Num;
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::typed::Type;
use bombus_lang::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elements that a set may have, each with the literal of its membership. All else is no element.
pub type Rows = BTreeMap<Value, Lit>;

/// A value with literals in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Bool(Lit),
    /// Exactly one of the literals holds; values are sorted and distinct.
    Choice(Arc<[(Value, Lit)]>),
    Int(Num),
    Pair(Arc<(Term, Term)>),
    Rec(Arc<[Term]>),
    Set(Arc<Rows>),
    /// A function by the images of its possible arguments.
    Images(Arc<Images>),
    Opaque(u32),
}

/// More values of one term than this are not listed.
pub const LISTED: usize = 1 << 12;
/// More elements of one set than this are not kept as literals.
pub const ROWS: usize = 1 << 16;

impl Term {
    pub fn pair(a: Term, b: Term) -> Term {
        Term::Pair(Arc::new((a, b)))
    }

    pub fn set(mut rows: Rows) -> Term {
        rows.retain(|_, l| *l != Lit::FALSE);
        Term::Set(Arc::new(rows))
    }

    pub fn as_set(&self) -> Option<&Rows> {
        match self {
            Term::Set(rows) => Some(rows),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<&Num> {
        match self {
            Term::Int(n) => Some(n),
            _ => None,
        }
    }

    /// Whether some part of the term is not known at all.
    pub fn is_opaque(&self) -> bool {
        match self {
            Term::Opaque(_) => true,
            Term::Pair(p) => p.0.is_opaque() || p.1.is_opaque(),
            Term::Rec(parts) => parts.iter().any(Term::is_opaque),
            _ => false,
        }
    }
}

impl Encoder<'_> {
    pub(super) fn opaque(&mut self) -> Term {
        self.opaque += 1;
        Term::Opaque(self.opaque)
    }

    /// A known value as a term.
    pub fn known(&mut self, value: &Value) -> Term {
        match value {
            Value::Bool(b) => Term::Bool(Lit::constant(*b)),
            Value::Int(n) => Term::Int(self.number(n)),
            Value::Str(_) | Value::Real(_) | Value::Elem(..) | Value::Free(..) => {
                Term::Choice(Arc::from([(value.clone(), Lit::TRUE)]))
            }
            Value::Pair(p) => Term::pair(self.known(&p.0), self.known(&p.1)),
            Value::Rec(parts) => Term::Rec(parts.iter().map(|x| self.known(x)).collect()),
            Value::Set(elems) if elems.iter().any(Value::mentions_symbolic) => self.opaque(),
            Value::Set(elems) => Term::set(elems.iter().map(|x| (x.clone(), Lit::TRUE)).collect()),
            Value::Symbolic(_) => self.opaque(),
        }
    }

    /// The literal of a term being a known value; `None` where that cannot be said.
    pub fn is_value(&mut self, term: &Term, value: &Value) -> Option<Lit> {
        Some(match (term, value) {
            (Term::Bool(l), Value::Bool(b)) => l.signed(*b),
            (Term::Choice(choices), value) => {
                choices.iter().find(|(v, _)| v == value).map_or(Lit::FALSE, |(_, l)| *l)
            }
            (Term::Int(n), Value::Int(m)) => self.num_is(n, m),
            (Term::Pair(p), Value::Pair(q)) => {
                let a = self.is_value(&p.0, &q.0)?;
                let b = self.is_value(&p.1, &q.1)?;
                self.g.and(a, b)
            }
            (Term::Rec(parts), Value::Rec(values)) => {
                let mut all = Vec::with_capacity(parts.len());
                for (p, v) in parts.iter().zip(values.iter()) {
                    all.push(self.is_value(p, v)?);
                }
                self.g.and_all(&all)
            }
            (Term::Images(images), Value::Set(elems)) => self.is_value_by_images(images, elems)?,
            (Term::Set(rows), Value::Set(elems)) => {
                let mut all = Vec::with_capacity(rows.len());
                for (v, l) in rows.iter() {
                    all.push(l.signed(elems.binary_search(v).is_ok()));
                }
                if elems.iter().any(|v| !rows.contains_key(v)) {
                    return Some(Lit::FALSE);
                }
                self.g.and_all(&all)
            }
            _ => return None,
        })
    }

    /// The literal of two terms being equal.
    pub fn equal(&mut self, a: &Term, b: &Term) -> Option<Lit> {
        if a == b {
            return Some(Lit::TRUE);
        }
        Some(match (a, b) {
            (Term::Bool(a), Term::Bool(b)) => self.g.iff(*a, *b),
            (Term::Choice(xs), Term::Choice(ys)) => {
                let mut same = Vec::new();
                for (v, l) in xs.iter() {
                    if let Ok(at) = ys.binary_search_by(|(w, _)| w.cmp(v)) {
                        same.push(self.g.and(*l, ys[at].1));
                    }
                }
                self.g.or_all(&same)
            }
            (Term::Int(a), Term::Int(b)) => self.num_equal(a, b),
            (Term::Pair(p), Term::Pair(q)) => {
                let a = self.equal(&p.0, &q.0)?;
                let b = self.equal(&p.1, &q.1)?;
                self.g.and(a, b)
            }
            (Term::Rec(xs), Term::Rec(ys)) => {
                let mut all = Vec::with_capacity(xs.len());
                for (x, y) in xs.iter().zip(ys.iter()) {
                    all.push(self.equal(x, y)?);
                }
                self.g.and_all(&all)
            }
            (Term::Images(_), _) | (_, Term::Images(_)) => self.equal_images(a, b)?,
            (Term::Set(xs), Term::Set(ys)) => {
                let mut all = Vec::new();
                for (v, l) in xs.iter() {
                    let other = ys.get(v).copied().unwrap_or(Lit::FALSE);
                    all.push(self.g.iff(*l, other));
                }
                all.extend(ys.iter().filter(|(v, _)| !xs.contains_key(v)).map(|(_, l)| !*l));
                self.g.and_all(&all)
            }
            _ => return None,
        })
    }

    /// The first term where the condition holds, else the second.
    pub fn choose(&mut self, condition: Lit, yes: &Term, no: &Term) -> Term {
        if condition == Lit::TRUE || yes == no {
            return yes.clone();
        }
        if condition == Lit::FALSE {
            return no.clone();
        }
        match (yes, no) {
            (Term::Bool(a), Term::Bool(b)) => Term::Bool(self.g.ite(condition, *a, *b)),
            (Term::Choice(xs), Term::Choice(ys)) => {
                let mut all: BTreeMap<Value, (Lit, Lit)> = BTreeMap::new();
                for (v, l) in xs.iter() {
                    all.entry(v.clone()).or_insert((Lit::FALSE, Lit::FALSE)).0 = *l;
                }
                for (v, l) in ys.iter() {
                    all.entry(v.clone()).or_insert((Lit::FALSE, Lit::FALSE)).1 = *l;
                }
                Term::Choice(all.into_iter().map(|(v, (a, b))| (v, self.g.ite(condition, a, b))).collect())
            }
            (Term::Int(a), Term::Int(b)) => Term::Int(self.num_choose(condition, a, b)),
            (Term::Pair(p), Term::Pair(q)) => {
                let first = self.choose(condition, &p.0, &q.0);
                Term::pair(first, self.choose(condition, &p.1, &q.1))
            }
            (Term::Rec(xs), Term::Rec(ys)) => {
                Term::Rec(xs.iter().zip(ys.iter()).map(|(x, y)| self.choose(condition, x, y)).collect())
            }
            (Term::Set(xs), Term::Set(ys)) => {
                let mut rows = Rows::new();
                for v in xs.keys().chain(ys.keys()) {
                    if !rows.contains_key(v) {
                        let a = xs.get(v).copied().unwrap_or(Lit::FALSE);
                        let b = ys.get(v).copied().unwrap_or(Lit::FALSE);
                        rows.insert(v.clone(), self.g.ite(condition, a, b));
                    }
                }
                Term::set(rows)
            }
            (Term::Images(_), _) | (_, Term::Images(_)) => {
                self.choose_images(condition, yes, no).unwrap_or_else(|| self.opaque())
            }
            _ => self.opaque(),
        }
    }

    /// One of several known values; exactly one literal holds wherever the term is used.
    pub fn one_of(&mut self, ty: &Type, choices: &[(Value, Lit)]) -> Term {
        match ty {
            Type::Bool => {
                let yes: Vec<Lit> =
                    choices.iter().filter(|(v, _)| *v == Value::Bool(true)).map(|(_, l)| *l).collect();
                Term::Bool(self.g.or_all(&yes))
            }
            Type::Integer => {
                let numbers: Vec<(Int, Lit)> =
                    choices.iter().filter_map(|(v, l)| Some((v.as_int()?.clone(), *l))).collect();
                Term::Int(self.num_one_of(&numbers))
            }
            Type::Set(_) | Type::String | Type::Real | Type::Free(_) => {
                Term::Choice(self.merged(choices.iter().cloned()).into_iter().collect())
            }
            Type::Prod(a, b) => {
                let part = |first: bool| -> Vec<(Value, Lit)> {
                    choices
                        .iter()
                        .filter_map(|(v, l)| {
                            v.as_pair().map(|(x, y)| (if first { x } else { y }.clone(), *l))
                        })
                        .collect()
                };
                let (left, right) = (part(true), part(false));
                let first = self.one_of(a, &left);
                Term::pair(first, self.one_of(b, &right))
            }
            Type::Struct(fields) => {
                let mut parts = Vec::with_capacity(fields.len());
                for (i, (_, t)) in fields.iter().enumerate() {
                    let part: Vec<(Value, Lit)> = choices
                        .iter()
                        .filter_map(|(v, l)| match v {
                            Value::Rec(values) => Some((values[i].clone(), *l)),
                            _ => None,
                        })
                        .collect();
                    parts.push(self.one_of(t, &part));
                }
                Term::Rec(parts.into())
            }
            Type::Pow(_) => {
                let elems = choices.iter().flat_map(|(v, l)| {
                    v.as_set().unwrap_or(&[]).iter().map(|x| (x.clone(), *l)).collect::<Vec<_>>()
                });
                let rows = self.merged(elems.collect::<Vec<_>>().into_iter());
                Term::set(rows.into_iter().collect())
            }
            Type::Any => self.opaque(),
        }
    }

    /// Equal values are put together, with the disjunction of their literals.
    pub(super) fn merged(&mut self, rows: impl Iterator<Item = (Value, Lit)>) -> Rows {
        let mut all: BTreeMap<Value, Vec<Lit>> = BTreeMap::new();
        for (v, l) in rows {
            if l != Lit::FALSE {
                all.entry(v).or_default().push(l);
            }
        }
        all.into_iter().map(|(v, ls)| (v, self.g.or_all(&ls))).collect()
    }

    /// All values that a term may have, each with its literal; `None` if there are too many, or not known.
    pub fn values_of(&mut self, term: &Term) -> Option<Vec<(Value, Lit)>> {
        Some(match term {
            Term::Bool(l) => [(Value::Bool(false), !*l), (Value::Bool(true), *l)]
                .into_iter()
                .filter(|(_, l)| *l != Lit::FALSE)
                .collect(),
            Term::Choice(choices) => choices.iter().filter(|(_, l)| *l != Lit::FALSE).cloned().collect(),
            Term::Int(n) => {
                let (lo, hi) = n.range()?;
                let (lo, hi) = (lo.small()?, hi.small()?);
                if hi.checked_sub(lo)? >= LISTED as i64 {
                    return None;
                }
                let mut all = Vec::new();
                for i in lo..=hi {
                    let l = self.num_is(n, &Int::from(i));
                    if l != Lit::FALSE {
                        all.push((Value::int(i), l));
                    }
                }
                all
            }
            Term::Pair(p) => {
                let (xs, ys) = (self.values_of(&p.0)?, self.values_of(&p.1)?);
                if xs.len() * ys.len() > LISTED {
                    return None;
                }
                let mut all = Vec::with_capacity(xs.len() * ys.len());
                for (x, a) in &xs {
                    for (y, b) in &ys {
                        all.push((Value::pair(x.clone(), y.clone()), self.g.and(*a, *b)));
                    }
                }
                all
            }
            Term::Rec(parts) => {
                let mut all: Vec<(Vec<Value>, Lit)> = vec![(Vec::new(), Lit::TRUE)];
                for part in parts.iter() {
                    let values = self.values_of(part)?;
                    if all.len() * values.len() > LISTED {
                        return None;
                    }
                    let mut next = Vec::with_capacity(all.len() * values.len());
                    for (before, a) in &all {
                        for (v, b) in &values {
                            let mut longer = before.clone();
                            longer.push(v.clone());
                            next.push((longer, self.g.and(*a, *b)));
                        }
                    }
                    all = next;
                }
                all.into_iter().map(|(parts, l)| (Value::Rec(parts.into()), l)).collect()
            }
            Term::Set(rows) => {
                let open = rows.values().filter(|l| !l.is_constant()).count();
                if open >= LISTED.ilog2() as usize {
                    return None;
                }
                let mut all: Vec<(Vec<Value>, Lit)> = vec![(Vec::new(), Lit::TRUE)];
                for (v, l) in rows.iter() {
                    let mut next = Vec::with_capacity(2 * all.len());
                    for (before, a) in all {
                        let (with, without) = (self.g.and(a, *l), self.g.and(a, !*l));
                        if without != Lit::FALSE {
                            next.push((before.clone(), without));
                        }
                        if with != Lit::FALSE {
                            let mut longer = before;
                            longer.push(v.clone());
                            next.push((longer, with));
                        }
                    }
                    all = next;
                }
                all.into_iter().map(|(elems, l)| (Value::set(elems), l)).collect()
            }
            Term::Images(_) | Term::Opaque(_) => return None,
        })
    }

    /// The value of a term in the model of the last query.
    pub fn value_in_model(&self, term: &Term) -> Option<Value> {
        Some(match term {
            Term::Bool(l) => Value::Bool(self.g.value(*l)),
            Term::Choice(choices) => choices.iter().find(|(_, l)| self.g.value(*l))?.0.clone(),
            Term::Int(n) => Value::Int(self.num_value(n)),
            Term::Pair(p) => Value::pair(self.value_in_model(&p.0)?, self.value_in_model(&p.1)?),
            Term::Rec(parts) => {
                Value::Rec(parts.iter().map(|p| self.value_in_model(p)).collect::<Option<Vec<_>>>()?.into())
            }
            Term::Set(rows) => {
                Value::set(rows.iter().filter(|(_, l)| self.g.value(**l)).map(|(v, _)| v.clone()).collect())
            }
            Term::Images(images) => {
                let mut pairs = Vec::new();
                for (v, (_, term)) in images.iter().filter(|(_, (l, _))| self.g.value(*l)) {
                    pairs.push(Value::pair(v.clone(), self.value_in_model(term)?));
                }
                Value::set(pairs)
            }
            Term::Opaque(_) => return None,
        })
    }
}
