//! Membership: a term and a set that is asked at this term alone, so that infinite sets need not be listed.
//!
//! In: a term, a set expression. Out: the literal of the term being an element where the set is defined, and the
//! literal of the set being defined. Never here: bindings from sets (`binder`).

use super::term::{Rows, Term};
use super::{Encoder, Env, Slot, Truth};
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{Arrow, BinOp, Expr, ExprKind, Type, UnOp};
use bombus_lang::value::Value;
use std::collections::BTreeMap;

impl Encoder<'_> {
    /// `x : S`.
    pub(super) fn element(&mut self, env: &mut Env, x: &Term, set: &Expr) -> Option<Truth> {
        match &set.kind {
            // Written just so, a comprehension is asked at the point alone (rule 8).
            ExprKind::Compr(vars, p) => {
                let parts = super::expr::components(x, vars.len())?;
                let saved: Vec<_> = vars
                    .iter()
                    .zip(parts)
                    .map(|(v, term)| (*v, env.put(*v, Some(Slot { term, set: Lit::TRUE }))))
                    .collect();
                let truth = self.pred(env, p);
                for (v, slot) in saved {
                    env.put(v, slot);
                }
                Some(truth)
            }
            ExprKind::Symbolic(inner) => self.element(env, x, inner),
            _ => {
                let defined = self.is_defined(env, set);
                Some(Truth { holds: self.member(env, x, set)?, defined })
            }
        }
    }

    pub(super) fn is_defined(&mut self, env: &mut Env, e: &Expr) -> Lit {
        if may_be_undefined(e) { self.expr(env, e).1 } else { Lit::TRUE }
    }

    /// The literal of `x : S` where S is defined.
    pub(super) fn member(&mut self, env: &mut Env, x: &Term, set: &Expr) -> Option<Lit> {
        match &set.kind {
            _ if is_whole(set) => Some(Lit::TRUE),
            ExprKind::Natural | ExprKind::Natural1 => {
                let least = if set.kind == ExprKind::Natural { Int::ZERO } else { Int::ONE };
                let least = self.number(&least);
                Some(self.num_le(&least, x.as_int()?))
            }
            ExprKind::SetExt(elems) => {
                let mut any = Vec::with_capacity(elems.len());
                for e in elems {
                    let (term, _) = self.expr(env, e);
                    any.push(self.equal(x, &term)?);
                }
                Some(self.g.or_all(&any))
            }
            ExprKind::Binary(BinOp::Interval, a, b) => {
                let ((low, _), (high, _)) = (self.expr(env, a), self.expr(env, b));
                let x = x.as_int()?;
                let (above, below) = (self.num_le(low.as_int()?, x), self.num_le(x, high.as_int()?));
                Some(self.g.and(above, below))
            }
            ExprKind::Binary(op @ (BinOp::Union | BinOp::Inter | BinOp::SetMinus), a, b) => {
                let (l, r) = (self.member(env, x, a)?, self.member(env, x, b)?);
                Some(match op {
                    BinOp::Union => self.g.or(l, r),
                    BinOp::Inter => self.g.and(l, r),
                    _ => self.g.and(l, !r),
                })
            }
            ExprKind::Binary(BinOp::Cartesian, a, b) => {
                let Term::Pair(p) = x else { return None };
                let (l, r) = (self.member(env, &p.0, a)?, self.member(env, &p.1, b)?);
                Some(self.g.and(l, r))
            }
            ExprKind::Binary(op, a, b) if op.arrow().is_some() => {
                if let Term::Images(images) = x {
                    return self.is_arrow_by_images(env, images, op.arrow()?, a, b);
                }
                self.is_arrow(env, x.as_set()?, op.arrow()?, a, b)
            }
            ExprKind::StructSet(sets) => {
                let Term::Rec(parts) = x else { return None };
                let mut all = Vec::with_capacity(sets.len());
                for (part, set) in parts.iter().zip(sets) {
                    all.push(self.member(env, part, set)?);
                }
                Some(self.g.and_all(&all))
            }
            ExprKind::Unary(UnOp::Pow | UnOp::Fin, a) if matches!(x, Term::Images(_)) => {
                let Term::Images(images) = x else { return None };
                self.images_within(env, images, true, a)
            }
            ExprKind::Unary(op @ (UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1), a) => {
                let rows = x.as_set()?.clone();
                let within = self.rows_within(env, &rows, a)?;
                if matches!(op, UnOp::Pow | UnOp::Fin) {
                    return Some(within);
                }
                let lits: Vec<Lit> = rows.values().copied().collect();
                let some = self.g.or_all(&lits);
                Some(self.g.and(within, some))
            }
            ExprKind::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm), a) => {
                self.is_sequence_of(env, x.as_set()?, *op, a)
            }
            ExprKind::Symbolic(inner) => self.member(env, x, inner),
            _ => {
                if let Some(images) = self.range_of(env, set) {
                    return self.among_images(x, &images, false);
                }
                let (term, _) = self.expr(env, set);
                if let Term::Images(images) = &term {
                    return self.among_images(x, images, true);
                }
                self.within(x, term.as_set()?)
            }
        }
    }

    /// A term is one of the rows of a set.
    pub(super) fn within(&mut self, x: &Term, rows: &Rows) -> Option<Lit> {
        let mut any = Vec::new();
        for (v, l) in rows {
            let is = self.is_value(x, v)?;
            any.push(self.g.and(is, *l));
        }
        Some(self.g.or_all(&any))
    }

    /// All rows are elements of a set.
    pub(super) fn rows_within(&mut self, env: &mut Env, rows: &Rows, set: &Expr) -> Option<Lit> {
        if is_whole(set) {
            return Some(Lit::TRUE);
        }
        let mut all = Vec::with_capacity(rows.len());
        for (v, l) in rows {
            let term = self.known(v);
            let inside = self.member(env, &term, set)?;
            all.push(self.g.implies(*l, inside));
        }
        Some(self.g.and_all(&all))
    }

    /// `r : A --> B` and its kin.
    fn is_arrow(&mut self, env: &mut Env, rows: &Rows, arrow: Arrow, a: &Expr, b: &Expr) -> Option<Lit> {
        let mut from: BTreeMap<&Value, Vec<Lit>> = BTreeMap::new();
        let mut to: BTreeMap<&Value, Vec<Lit>> = BTreeMap::new();
        for (v, l) in rows {
            let (x, y) = v.as_pair()?;
            from.entry(x).or_default().push(*l);
            to.entry(y).or_default().push(*l);
        }
        let mut all = Vec::new();
        for (side, set, single, whole) in
            [(&from, a, arrow.functional, arrow.total), (&to, b, arrow.injective, arrow.onto)]
        {
            let mut present: BTreeMap<&Value, Lit> = BTreeMap::new();
            for (v, lits) in side {
                let here = self.g.or_all(lits);
                let term = self.known(v);
                let inside = self.member(env, &term, set)?;
                all.push(self.g.implies(here, inside));
                if single {
                    all.push(self.g.at_most_one(lits));
                }
                present.insert(*v, here);
            }
            if whole {
                let (term, _) = self.expr(env, set);
                for (v, l) in term.as_set()? {
                    let here = present.get(v).copied().unwrap_or(Lit::FALSE);
                    all.push(self.g.implies(*l, here));
                }
            }
        }
        Some(self.g.and_all(&all))
    }

    fn is_sequence_of(&mut self, env: &mut Env, rows: &Rows, op: UnOp, set: &Expr) -> Option<Lit> {
        let s = self.sequence(rows)?;
        let values = self.projected(rows, false)?;
        let mut all = vec![s.is_one, self.rows_within(env, &values, set)?];
        if matches!(op, UnOp::Seq1 | UnOp::Iseq1) {
            all.push(!s.is_empty());
        }
        if matches!(op, UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm) {
            let mut by_value: BTreeMap<&Value, Vec<Lit>> = BTreeMap::new();
            for (v, l) in rows {
                by_value.entry(v.as_pair()?.1).or_default().push(*l);
            }
            for lits in by_value.values() {
                all.push(self.g.at_most_one(lits));
            }
        }
        if op == UnOp::Perm {
            let (term, _) = self.expr(env, set);
            for (v, l) in term.as_set()? {
                let here = values.get(v).copied().unwrap_or(Lit::FALSE);
                all.push(self.g.implies(*l, here));
            }
        }
        Some(self.g.and_all(&all))
    }
}

/// Whether a set has every value of its type, whatever unknowns are.
pub(super) fn is_whole(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::TypeSet(t) => !has_free(t),
        ExprKind::Binary(BinOp::Cartesian | BinOp::Relation, a, b) => is_whole(a) && is_whole(b),
        ExprKind::Unary(UnOp::Pow, of) => is_whole(of),
        ExprKind::StructSet(sets) => sets.iter().all(is_whole),
        ExprKind::Symbolic(inner) => is_whole(inner),
        _ => false,
    }
}

fn has_free(t: &Type) -> bool {
    match t {
        Type::Free(_) | Type::Any => true,
        Type::Pow(t) => has_free(t),
        Type::Prod(a, b) => has_free(a) || has_free(b),
        Type::Struct(fields) => fields.iter().any(|(_, t)| has_free(t)),
        _ => false,
    }
}
