//! Operators of relations on rows of pairs.
//!
//! In: terms of relations and sets. Out: terms; each row of the result is a gate over rows of the operands. Never here:
//! sets of relations such as `A --> B`, which are asked at points (`member`).

use super::Encoder;
use super::expr::Built;
use super::term::{ROWS, Rows, Term};
use crate::sat::Lit;
use bombus_lang::typed::{BinOp, Expr, UnOp};
use bombus_lang::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Elements of a closure beyond which it is not computed.
const CLOSED: usize = 64;

impl Encoder<'_> {
    pub(super) fn unary_relation(&mut self, op: UnOp, x: &Term, of: &Expr, d: Lit) -> Built {
        let rows = x.as_set()?.clone();
        Some(match op {
            UnOp::Inverse => {
                let mut out = Rows::new();
                for (v, l) in &rows {
                    let (a, b) = v.as_pair()?;
                    out.insert(Value::pair(b.clone(), a.clone()), *l);
                }
                (Term::set(out), d)
            }
            UnOp::Dom | UnOp::Ran => (Term::set(self.projected(&rows, op == UnOp::Dom)?), d),
            UnOp::Id => {
                let out = rows.iter().map(|(v, l)| (Value::pair(v.clone(), v.clone()), *l)).collect();
                (Term::set(out), d)
            }
            UnOp::Closure1 => (Term::set(self.closure(rows)?), d),
            UnOp::Closure => {
                let mut out = self.closure(rows)?;
                let bombus_lang::typed::Type::Pow(pair) = &of.ty else { return None };
                let bombus_lang::typed::Type::Prod(from, _) = &**pair else { return None };
                for v in self.values_of_type(from, CLOSED)? {
                    out.insert(Value::pair(v.clone(), v), Lit::TRUE);
                }
                (Term::set(out), d)
            }
            _ => return None,
        })
    }

    /// The domain or the range.
    pub(super) fn projected(&mut self, rows: &Rows, first: bool) -> Option<Rows> {
        let mut out = Vec::with_capacity(rows.len());
        for (v, l) in rows {
            let (a, b) = v.as_pair()?;
            out.push((if first { a } else { b }.clone(), *l));
        }
        Some(self.merged(out.into_iter()))
    }

    /// `closure1(r)` by squaring.
    fn closure(&mut self, rows: Rows) -> Option<Rows> {
        let mut elems = BTreeSet::new();
        for v in rows.keys() {
            let (a, b) = v.as_pair()?;
            elems.insert(a.clone());
            elems.insert(b.clone());
        }
        if elems.len() > CLOSED {
            return None;
        }
        let mut all = rows;
        let mut reach = 1;
        while reach < elems.len() {
            let twice = self.composed(&all, &all)?;
            let both = all.iter().chain(&twice).map(|(v, l)| (v.clone(), *l)).collect::<Vec<_>>();
            all = self.merged(both.into_iter());
            reach *= 2;
        }
        Some(all)
    }

    fn composed(&mut self, left: &Rows, right: &Rows) -> Option<Rows> {
        let mut by_first: BTreeMap<&Value, Vec<(&Value, Lit)>> = BTreeMap::new();
        for (v, l) in right {
            let (a, b) = v.as_pair()?;
            by_first.entry(a).or_default().push((b, *l));
        }
        let mut out = Vec::new();
        for (v, l) in left {
            let (a, b) = v.as_pair()?;
            for (c, r) in by_first.get(b).map_or(&[][..], Vec::as_slice) {
                out.push((Value::pair(a.clone(), (*c).clone()), self.g.and(*l, *r)));
            }
            if out.len() > 4 * ROWS {
                return None;
            }
        }
        Some(self.merged(out.into_iter()))
    }

    pub(super) fn binary_relation(&mut self, op: BinOp, x: &Term, y: &Term, d: Lit) -> Built {
        if op == BinOp::Iterate {
            return self.iterated(x, y, d);
        }
        let (xs, ys) = (x.as_set()?.clone(), y.as_set()?.clone());
        let mut out = Rows::new();
        match op {
            BinOp::Compose => out = self.composed(&xs, &ys)?,
            BinOp::Image => {
                let mut images = Vec::new();
                for (v, l) in &xs {
                    let (a, b) = v.as_pair()?;
                    if let Some(r) = ys.get(a) {
                        images.push((b.clone(), self.g.and(*l, *r)));
                    }
                }
                out = self.merged(images.into_iter());
            }
            BinOp::DomRestrict | BinOp::DomSubtract => {
                for (v, l) in &ys {
                    let within = xs.get(v.as_pair()?.0).copied().unwrap_or(Lit::FALSE);
                    out.insert(v.clone(), self.g.and(*l, within.signed(op == BinOp::DomRestrict)));
                }
            }
            BinOp::RanRestrict | BinOp::RanSubtract => {
                for (v, l) in &xs {
                    let within = ys.get(v.as_pair()?.1).copied().unwrap_or(Lit::FALSE);
                    out.insert(v.clone(), self.g.and(*l, within.signed(op == BinOp::RanRestrict)));
                }
            }
            BinOp::Override => {
                let over = self.projected(&ys, true)?;
                for (v, l) in &xs {
                    let hidden = over.get(v.as_pair()?.0).copied().unwrap_or(Lit::FALSE);
                    out.insert(v.clone(), self.g.and(*l, !hidden));
                }
                for (v, l) in &ys {
                    let before = out.get(v).copied().unwrap_or(Lit::FALSE);
                    out.insert(v.clone(), self.g.or(before, *l));
                }
            }
            BinOp::DirectProduct | BinOp::ParallelProduct => {
                for (v, l) in &xs {
                    for (w, r) in &ys {
                        let ((a, b), (c, e)) = (v.as_pair()?, w.as_pair()?);
                        let to = Value::pair(b.clone(), e.clone());
                        if op == BinOp::ParallelProduct {
                            let from = Value::pair(a.clone(), c.clone());
                            out.insert(Value::pair(from, to), self.g.and(*l, *r));
                        } else if a == c {
                            out.insert(Value::pair(a.clone(), to), self.g.and(*l, *r));
                        }
                    }
                    if out.len() > ROWS {
                        return None;
                    }
                }
            }
            BinOp::Prj1 | BinOp::Prj2 => {
                for (v, l) in &xs {
                    for (w, r) in &ys {
                        let to = if op == BinOp::Prj1 { v } else { w };
                        let from = Value::pair(v.clone(), w.clone());
                        out.insert(Value::pair(from, to.clone()), self.g.and(*l, *r));
                    }
                    if out.len() > ROWS {
                        return None;
                    }
                }
            }
            _ => return None,
        }
        Some((Term::set(out), d))
    }

    /// `iterate(r, n)` for a known number of at least one.
    fn iterated(&mut self, x: &Term, y: &Term, d: Lit) -> Built {
        let times = y.as_int()?.known()?.small()?;
        if !(1..=CLOSED as i64).contains(&times) {
            return None;
        }
        let rows = x.as_set()?.clone();
        let mut all = rows.clone();
        for _ in 1..times {
            all = self.composed(&all, &rows)?;
        }
        Some((Term::set(all), d))
    }

    /// `r` with the image of one point replaced: `r <+ {x |-> e}`.
    pub(super) fn overridden(&mut self, rel: &Term, at: &Term, to: &Term) -> Option<Term> {
        let (Some(rows), Some(points), Some(images)) =
            (rel.as_set().cloned(), self.values_of(at), self.values_of(to))
        else {
            return self.changed_at(rel, at, to);
        };
        if points.len() * images.len() > ROWS {
            return None;
        }
        let here: BTreeMap<&Value, Lit> = points.iter().map(|(v, l)| (v, *l)).collect();
        let mut out = Vec::new();
        for (v, l) in &rows {
            let hidden = here.get(v.as_pair()?.0).copied().unwrap_or(Lit::FALSE);
            out.push((v.clone(), self.g.and(*l, !hidden)));
        }
        for (p, l) in &points {
            for (i, r) in &images {
                out.push((Value::pair(p.clone(), i.clone()), self.g.and(*l, *r)));
            }
        }
        Some(Term::set(self.merged(out.into_iter())))
    }
}
