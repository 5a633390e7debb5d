//! Terms: what a B expression becomes when some of its variables are finite-domain variables.
//!
//! In: known values and domains. Out: terms, and literals for their equality, order, membership and
//! inclusion. A set is a list of elements, each with a literal that says whether it belongs; the same
//! element may stand there twice.

use crate::env::Env;
use crate::solve::finite_domains::{Constraint, Fd, Lit, Sum};
use crate::solve::network::{Builder, Built, Halt};
use bombus_base::Int;
use bombus_base::hash::HashMap;
use bombus_lang::typed::Type;
use bombus_lang::value::Value;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) enum Term {
    Known(Value),
    Num(Lin),
    /// The value with this code, of this type.
    Code(Fd, Type),
    Pair(Rc<(Term, Term)>),
    Rec(Rc<[Term]>),
    Set(Elems),
    Func(Rc<Func>),
}

pub(crate) type Elems = Rc<Vec<(Term, Lit)>>;

/// A function with known points, sorted; a point belongs to the domain if its literal is true.
#[derive(Debug)]
pub(crate) struct Func {
    pub(crate) rows: Vec<Row>,
    pub(crate) injective: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) point: Value,
    pub(crate) image: Term,
    pub(crate) lit: Lit,
}

/// A sum of variables with coefficients, sorted by variable, plus a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lin {
    pub(crate) sum: Vec<(i64, Fd)>,
    pub(crate) k: i64,
}

/// Numbers and coefficients beyond are left to the interpreter.
const LARGE: i64 = 1 << 40;
/// Sums must stay far from the ends of 64 bits.
const SUM: i128 = 1 << 60;
/// Sets with more elements are not taken apart.
pub(crate) const ELEMENTS: usize = 1 << 13;
/// Up to so many known pairs are compared one by one with a pair.
const FEW: usize = 12;
/// Pairs of elements are compared one by one up to here.
const PAIRS: usize = 1 << 20;

impl Lin {
    pub(crate) fn number(k: i64) -> Lin {
        Lin { sum: Vec::new(), k }
    }

    pub(crate) fn of(v: Fd) -> Lin {
        Lin { sum: vec![(1, v)], k: 0 }
    }

    /// 1 where the literal is true, else 0.
    pub(crate) fn of_lit(l: Lit) -> Lin {
        if l == Lit::TRUE {
            Lin::number(1)
        } else if l == Lit::FALSE {
            Lin::number(0)
        } else if l.positive {
            Lin::of(l.var)
        } else {
            Lin { sum: vec![(-1, l.var)], k: 1 }
        }
    }

    pub(crate) fn times(&self, c: i64) -> Built<Lin> {
        if c == 0 {
            return Ok(Lin::number(0));
        }
        let mul = |n: i64| n.checked_mul(c).filter(|n| n.abs() < LARGE).ok_or(Halt::Opaque);
        let mut sum = Vec::with_capacity(self.sum.len());
        for (d, v) in &self.sum {
            sum.push((mul(*d)?, *v));
        }
        Ok(Lin { sum, k: mul(self.k)? })
    }

    pub(crate) fn plus(&self, other: &Lin) -> Built<Lin> {
        let mut sum = Vec::with_capacity(self.sum.len() + other.sum.len());
        let (mut a, mut b) = (self.sum.iter().peekable(), other.sum.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some((c, v)), Some((d, w))) if v == w => {
                    if c + d != 0 {
                        sum.push((c + d, *v));
                    }
                    a.next();
                    b.next();
                }
                (Some((_, v)), Some((_, w))) => sum.extend(if v < w { a.next() } else { b.next() }),
                (Some(_), None) => sum.extend(a.next()),
                (None, Some(_)) => sum.extend(b.next()),
                (None, None) => break,
            }
        }
        let k = self.k + other.k;
        if k.abs() >= LARGE { Err(Halt::Opaque) } else { Ok(Lin { sum, k }) }
    }

    pub(crate) fn minus(&self, other: &Lin) -> Built<Lin> {
        self.plus(&other.times(-1)?)
    }
}

impl Builder<'_, '_> {
    /// The code of a value. Values that are no numbers or elements are numbered as they come.
    pub(crate) fn encode(&mut self, v: &Value) -> Built<i64> {
        match v {
            Value::Int(n) => n.small().filter(|n| n.abs() < LARGE).ok_or(Halt::Opaque),
            Value::Bool(b) => Ok(i64::from(*b)),
            Value::Elem(_, n) => Ok(i64::from(*n)),
            Value::Symbolic(_) => Err(Halt::Opaque),
            other if other.mentions_symbolic() => Err(Halt::Opaque),
            other => {
                if let Some(n) = self.numbers.get(other) {
                    return Ok(*n);
                }
                let n = self.coded.len() as i64;
                self.coded.push(other.clone());
                self.numbers.insert(other.clone(), n);
                Ok(n)
            }
        }
    }

    pub(crate) fn decode(&self, ty: &Type, code: i64) -> Value {
        match ty {
            Type::Integer => Value::Int(Int::from(code)),
            Type::Bool => Value::Bool(code == 1),
            Type::Set(id) => Value::Elem(*id, code as u32),
            _ => self.coded[code as usize].clone(),
        }
    }

    /// A variable over some values of a type, as a term.
    pub(crate) fn scalar_term(&self, v: Fd, ty: &Type) -> Term {
        if *ty == Type::Integer { Term::Num(Lin::of(v)) } else { Term::Code(v, ty.clone()) }
    }

    /// A term that is one number or code.
    pub(crate) fn scalar(&mut self, t: &Term) -> Built<Lin> {
        match t {
            Term::Num(l) => Ok(l.clone()),
            Term::Code(v, _) => Ok(Lin::of(*v)),
            Term::Known(v) => Ok(Lin::number(self.encode(v)?)),
            _ => Err(Halt::Opaque),
        }
    }

    /// One variable that has the value of a sum.
    pub(crate) fn materialise(&mut self, l: &Lin) -> Built<Fd> {
        if let ([(1, v)], 0) = (&l.sum[..], l.k) {
            return Ok(*v);
        }
        let (low, high) = self.bounds(l)?;
        let v = self.net.variable(low, high);
        if low < high {
            let mut sum = l.sum.clone();
            sum.push((-1, v));
            self.net.add(Constraint::equal(Lit::TRUE, Sum::new(sum), -l.k));
        }
        Ok(v)
    }

    /// The least and the largest value a sum can have now.
    pub(crate) fn bounds(&self, l: &Lin) -> Built<(i64, i64)> {
        let (mut low, mut high, mut most) = (i128::from(l.k), i128::from(l.k), i128::from(l.k.abs()));
        for (c, v) in &l.sum {
            let d = &self.net.domains;
            let (a, b) = (i128::from(*c) * i128::from(d.low(*v)), i128::from(*c) * i128::from(d.high(*v)));
            low += a.min(b);
            high += a.max(b);
            most += a.abs().max(b.abs());
        }
        if most >= SUM {
            return Err(Halt::Opaque);
        }
        Ok((low as i64, high as i64))
    }

    /// `l <= 0`
    pub(crate) fn at_most_zero(&mut self, l: &Lin) -> Built<Lit> {
        let (low, high) = self.bounds(l)?;
        if high <= 0 {
            return Ok(Lit::TRUE);
        }
        if low > 0 {
            return Ok(Lit::FALSE);
        }
        if let [(c, v)] = l.sum[..]
            && self.is_boolean(v)
        {
            // Neither value decides alone, so the sign does.
            return Ok(Lit { var: v, positive: c < 0 });
        }
        let sum = Sum::new(l.sum.clone());
        if let Some(lit) = self.at_most.get(&(sum.clone(), -l.k)) {
            return Ok(*lit);
        }
        let lit = self.net.boolean();
        self.at_most.insert((sum.clone(), -l.k), lit);
        self.net.add(Constraint::at_most(lit, sum, -l.k));
        Ok(lit)
    }

    /// `l = 0`
    pub(crate) fn is_zero(&mut self, l: &Lin) -> Built<Lit> {
        let (low, high) = self.bounds(l)?;
        if low > 0 || high < 0 {
            return Ok(Lit::FALSE);
        }
        if low == 0 && high == 0 {
            return Ok(Lit::TRUE);
        }
        let l = if l.sum.first().is_some_and(|(c, _)| *c < 0) { l.times(-1)? } else { l.clone() };
        if let [(c, v)] = l.sum[..] {
            if l.k % c != 0 || !self.net.domains.contains(v, -l.k / c) {
                return Ok(Lit::FALSE);
            }
            if self.is_boolean(v) {
                return Ok(Lit { var: v, positive: -l.k / c == 1 });
            }
        }
        let sum = Sum::new(l.sum);
        if let Some(lit) = self.equal.get(&(sum.clone(), -l.k)) {
            return Ok(*lit);
        }
        let lit = self.net.boolean();
        self.equal.insert((sum.clone(), -l.k), lit);
        self.net.add(Constraint::equal(lit, sum, -l.k));
        Ok(lit)
    }

    fn is_boolean(&self, v: Fd) -> bool {
        self.net.domains.low(v) == 0 && self.net.domains.high(v) == 1
    }

    pub(crate) fn or(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut kept: Vec<Lit> = Vec::new();
        for l in lits {
            match self.net.literal(l) {
                Some(true) => return Lit::TRUE,
                Some(false) => {}
                None => kept.push(l),
            }
        }
        kept.sort_unstable();
        kept.dedup();
        if kept.windows(2).any(|w| w[0].var == w[1].var) {
            return Lit::TRUE;
        }
        match kept[..] {
            [] => Lit::FALSE,
            [l] => l,
            _ => {
                let of: Box<[Lit]> = kept.into();
                if let Some(lit) = self.ors.get(&of) {
                    return *lit;
                }
                let lit = self.net.boolean();
                self.ors.insert(of.clone(), lit);
                self.net.add(Constraint::Or { lit, of });
                lit
            }
        }
    }

    pub(crate) fn and(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        !self.or(lits.into_iter().map(|l| !l).collect::<Vec<_>>())
    }

    /// One of the literals is true.
    pub(crate) fn clause(&mut self, lits: impl IntoIterator<Item = Lit>) {
        let of: Vec<Lit> = lits.into_iter().collect();
        if of.iter().any(|l| self.net.literal(*l) == Some(true)) {
            return;
        }
        self.net.add(Constraint::Or { lit: Lit::TRUE, of: of.into() });
    }

    pub(crate) fn equal(&mut self, env: &mut Env, a: &Term, b: &Term) -> Built<Lit> {
        Ok(match (a, b) {
            (Term::Known(x), Term::Known(y)) => {
                if self.interp.equal(env, x, y)? {
                    Lit::TRUE
                } else {
                    Lit::FALSE
                }
            }
            (Term::Num(_) | Term::Code(..), _) | (_, Term::Num(_) | Term::Code(..)) => {
                let (x, y) = (self.scalar(a)?, self.scalar(b)?);
                self.is_zero(&x.minus(&y)?)?
            }
            (Term::Pair(x), Term::Pair(y)) => {
                let (l, r) = (self.equal(env, &x.0, &y.0)?, self.equal(env, &x.1, &y.1)?);
                self.and([l, r])
            }
            (Term::Pair(x), Term::Known(y)) | (Term::Known(y), Term::Pair(x)) => {
                let Some((p, q)) = y.as_pair() else { return Err(Halt::Opaque) };
                let (p, q) = (Term::Known(p.clone()), Term::Known(q.clone()));
                let (l, r) = (self.equal(env, &x.0, &p)?, self.equal(env, &x.1, &q)?);
                self.and([l, r])
            }
            (Term::Rec(x), Term::Rec(y)) => {
                let mut lits = Vec::new();
                for (p, q) in x.iter().zip(y.iter()) {
                    lits.push(self.equal(env, p, q)?);
                }
                self.and(lits)
            }
            (Term::Rec(x), Term::Known(Value::Rec(y))) | (Term::Known(Value::Rec(y)), Term::Rec(x)) => {
                let mut lits = Vec::new();
                for (p, q) in x.iter().zip(y.iter()) {
                    lits.push(self.equal(env, p, &Term::Known(q.clone()))?);
                }
                self.and(lits)
            }
            _ => {
                let (x, y) = (self.elements(env, a)?, self.elements(env, b)?);
                let (l, r) = (self.included(env, &x, &y)?, self.included(env, &y, &x)?);
                self.and([l, r])
            }
        })
    }

    /// The possible elements of a set.
    pub(crate) fn elements(&mut self, env: &mut Env, t: &Term) -> Built<Elems> {
        match t {
            Term::Set(elems) => Ok(elems.clone()),
            Term::Func(f) => Ok(Rc::new(
                f.rows
                    .iter()
                    .map(|r| {
                        let pair = Rc::new((Term::Known(r.point.clone()), r.image.clone()));
                        (fold_pair(pair), r.lit)
                    })
                    .collect(),
            )),
            Term::Known(v @ (Value::Set(_) | Value::Symbolic(_))) => match self.interp.list(env, v)? {
                Some(list) if list.len() <= ELEMENTS => {
                    Ok(Rc::new(list.iter().map(|x| (Term::Known(x.clone()), Lit::TRUE)).collect()))
                }
                _ => Err(Halt::Opaque),
            },
            // One of several known sets: an element belongs if the set chosen has it.
            Term::Code(v, ty @ Type::Pow(_)) if self.net.domains.size(*v) <= 256 => {
                let mut found: Vec<(Value, Vec<Lit>)> = Vec::new();
                for code in self.net.domains.values(*v) {
                    let Value::Set(list) = self.decode(ty, code) else { return Err(Halt::Opaque) };
                    let chosen = self.is_zero(&Lin::of(*v).plus(&Lin::number(-code))?)?;
                    for x in list.iter() {
                        match found.binary_search_by(|(y, _)| y.cmp(x)) {
                            Ok(i) => found[i].1.push(chosen),
                            Err(i) => found.insert(i, (x.clone(), vec![chosen])),
                        }
                    }
                    if found.len() > ELEMENTS {
                        return Err(Halt::Opaque);
                    }
                }
                let elems = found.into_iter().map(|(x, lits)| (Term::Known(x), self.or(lits))).collect();
                Ok(Rc::new(elems))
            }
            _ => Err(Halt::Opaque),
        }
    }

    pub(crate) fn member(&mut self, env: &mut Env, t: &Term, set: &Elems) -> Built<Lit> {
        if let Term::Num(_) | Term::Code(..) = t
            && set.iter().all(|(e, lit)| *lit == Lit::TRUE && matches!(e, Term::Known(_)))
        {
            let x = self.scalar(t)?;
            let mut codes = Vec::with_capacity(set.len());
            for (e, _) in set.iter() {
                if let Term::Known(v) = e {
                    codes.push(self.encode(v)?);
                }
            }
            codes.sort_unstable();
            return self.among(&x, &codes);
        }
        if let Term::Pair(p) = t
            && set.len() > FEW
            && let Some(lit) = self.among_pairs(&p.0, &p.1, set)?
        {
            return Ok(lit);
        }
        let mut lits = Vec::new();
        for (e, lit) in set.iter() {
            if *lit != Lit::FALSE {
                self.interp.tick()?;
                let same = self.equal(env, t, e)?;
                lits.push(self.and([*lit, same]));
            }
        }
        Ok(self.or(lits))
    }

    /// Whether a pair of two numbers or codes is one of some known pairs: by a table.
    fn among_pairs(&mut self, x: &Term, y: &Term, set: &Elems) -> Built<Option<Lit>> {
        if !is_scalar(x) || !is_scalar(y) {
            return Ok(None);
        }
        let mut codes = Vec::with_capacity(set.len());
        for (e, lit) in set.iter() {
            match e {
                Term::Known(v) if *lit == Lit::TRUE => {
                    let Some((a, b)) = v.as_pair() else { return Ok(None) };
                    codes.push((self.encode(a)?, self.encode(b)?));
                }
                _ => return Ok(None),
            }
        }
        codes.sort_unstable();
        let (x, y) = (self.scalar(x)?, self.scalar(y)?);
        let (x, y) = (self.materialise(&x)?, self.materialise(&y)?);
        let d = &self.net.domains;
        if !d.is_narrow(x) || !d.is_narrow(y) || d.size(x) * d.size(y) > crate::solve::network::table::ROWS {
            return Ok(None);
        }
        let (left, right) = (d.values(x), d.values(y));
        if x == y {
            let lit = self.net.boolean();
            let row = |a: &i64| [*a, i64::from(codes.binary_search(&(*a, *a)).is_ok())];
            let rows: Vec<i64> = left.iter().flat_map(row).collect();
            self.net.add(Constraint::Table { vars: [x, lit.var].into(), rows: rows.into() });
            return Ok(Some(lit));
        }
        let key = [codes.iter().flat_map(|(a, b)| [*a, *b]).collect(), left.clone(), right.clone()];
        let rows = self.pairs.entry(key).or_insert_with(|| {
            let mut rows = Vec::with_capacity(3 * left.len() * right.len());
            for a in &left {
                for b in &right {
                    rows.extend([*a, *b, i64::from(codes.binary_search(&(*a, *b)).is_ok())]);
                }
            }
            rows.into()
        });
        let rows = rows.clone();
        let lit = self.net.boolean();
        self.net.add(Constraint::Table { vars: [x, y, lit.var].into(), rows });
        Ok(Some(lit))
    }

    /// Whether a number is one of some, which are sorted.
    pub(crate) fn among(&mut self, x: &Lin, codes: &[i64]) -> Built<Lit> {
        let (Some(first), Some(last)) = (codes.first(), codes.last()) else { return Ok(Lit::FALSE) };
        if last - first == codes.len() as i64 - 1 {
            return self.between(x, *first, *last);
        }
        let (low, high) = self.bounds(x)?;
        if high - low > ELEMENTS as i64 {
            let mut lits = Vec::new();
            for n in codes {
                lits.push(self.is_zero(&x.plus(&Lin::number(-n))?)?);
            }
            return Ok(self.or(lits));
        }
        let v = self.materialise(x)?;
        let lit = self.net.boolean();
        let mut rows = Vec::new();
        let mut counts = [0, 0];
        for n in self.net.domains.values(v) {
            let inside = codes.binary_search(&n).is_ok();
            counts[usize::from(inside)] += 1;
            rows.extend([n, i64::from(inside)]);
        }
        Ok(match counts {
            [0, _] => Lit::TRUE,
            [_, 0] => Lit::FALSE,
            _ => {
                self.net.add(Constraint::Table { vars: [v, lit.var].into(), rows: rows.into() });
                lit
            }
        })
    }

    pub(crate) fn between(&mut self, x: &Lin, low: i64, high: i64) -> Built<Lit> {
        let above = self.at_most_zero(&Lin::number(low).minus(x)?)?;
        let below = self.at_most_zero(&x.plus(&Lin::number(-high))?)?;
        Ok(self.and([above, below]))
    }

    /// For each element of a set the literal that says whether it belongs; `None` if some element is not known.
    pub(crate) fn index(&mut self, set: &Elems) -> Option<HashMap<Value, Lit>> {
        let mut found: HashMap<&Value, Lit> = HashMap::with_capacity(set.len());
        for (e, lit) in set.iter() {
            let Term::Known(v) = e else { return None };
            if v.mentions_symbolic() {
                return None;
            }
            let lit = match found.get(v) {
                Some(other) => self.or([*other, *lit]),
                None => *lit,
            };
            found.insert(v, lit);
        }
        Some(found.into_iter().map(|(v, lit)| (v.clone(), lit)).collect())
    }

    /// Membership in a set with its index.
    pub(crate) fn member_by(
        &mut self,
        env: &mut Env,
        t: &Term,
        (set, index): (&Elems, &Option<HashMap<Value, Lit>>),
    ) -> Built<Lit> {
        match (index, t) {
            (Some(index), Term::Known(v)) if !v.mentions_symbolic() => {
                Ok(index.get(v).copied().unwrap_or(Lit::FALSE))
            }
            _ => self.member(env, t, set),
        }
    }

    pub(crate) fn included(&mut self, env: &mut Env, a: &Elems, b: &Elems) -> Built<Lit> {
        let index = if b.len() > FEW { self.index(b) } else { None };
        let open = a.iter().filter(|(e, _)| index.is_none() || !matches!(e, Term::Known(_))).count();
        if open * b.len() > PAIRS {
            return Err(Halt::Opaque);
        }
        let mut lits = Vec::new();
        for (e, lit) in a.iter() {
            self.interp.tick()?;
            if *lit != Lit::FALSE {
                let inside = self.member_by(env, e, (b, &index))?;
                lits.push(self.or([!*lit, inside]));
            }
        }
        Ok(self.and(lits))
    }

    /// How many elements a set has.
    pub(crate) fn cardinality(&mut self, env: &mut Env, t: &Term) -> Built<Lin> {
        let elems = match t {
            Term::Func(f) => {
                let mut total = Lin::number(0);
                for r in &f.rows {
                    total = total.plus(&Lin::of_lit(r.lit))?;
                }
                return Ok(total);
            }
            _ => self.elements(env, t)?,
        };
        // Elements by their value, or by their first component, or by all the codes they may have.
        let mut known: Vec<(Value, Vec<Lit>)> = Vec::new();
        let mut add = |value: &Value, lit: Lit| match known.binary_search_by(|(y, _)| y.cmp(value)) {
            Ok(i) => known[i].1.push(lit),
            Err(i) => known.insert(i, (value.clone(), vec![lit])),
        };
        for (e, lit) in elems.iter() {
            match e {
                Term::Known(v) if !v.mentions_symbolic() => add(v, *lit),
                Term::Num(_) | Term::Code(..) => {
                    let x = self.scalar(e)?;
                    let (low, high) = self.bounds(&x)?;
                    if high - low > 512 {
                        return Err(Halt::Opaque);
                    }
                    for n in low..=high {
                        let same = self.is_zero(&x.plus(&Lin::number(-n))?)?;
                        if same == Lit::FALSE {
                            continue;
                        }
                        let here = self.and([*lit, same]);
                        let value = match e {
                            Term::Code(_, ty) => self.decode(ty, n),
                            _ => Value::int(n),
                        };
                        add(&value, here);
                    }
                }
                _ => return Err(Halt::Opaque),
            }
        }
        let mut total = Lin::number(0);
        for (_, lits) in known {
            let lit = self.or(lits);
            total = total.plus(&Lin::of_lit(lit))?;
        }
        Ok(total)
    }
}

fn is_scalar(t: &Term) -> bool {
    matches!(t, Term::Num(_) | Term::Code(..) | Term::Known(Value::Int(_) | Value::Elem(..) | Value::Bool(_)))
}

/// A pair of known values is a known pair.
pub(crate) fn fold_pair(p: Rc<(Term, Term)>) -> Term {
    match &*p {
        (Term::Known(a), Term::Known(b)) => Term::Known(Value::pair(a.clone(), b.clone())),
        _ => Term::Pair(p),
    }
}
