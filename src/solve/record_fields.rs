//! Records whose fields are bounded one by one.
//!
//! In: the conjuncts of a plan. Out: memberships `r : struct(a:S,b:T)` that follow from what they say of the fields of `r`. A record
//! lies in that set exactly if each of its fields lies in its set, and every set here is one that a conjunct says to hold the
//! field. Worth saying where a field of an infinite type gets a set or two ends.

use crate::solve::plan::Conjunct;
use bombus_base::{Int, Name};
use bombus_lang::free;
use bombus_lang::partiality::is_infinite;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is said of one field.
#[derive(Clone, Default)]
struct Field {
    sets: Vec<Expr>,
    low: Option<Expr>,
    high: Option<Expr>,
}

pub(crate) fn bounded_records(conjuncts: &[Arc<Conjunct>]) -> Vec<(Pred, bool)> {
    let mut records: BTreeMap<VarId, (Expr, Vec<Field>)> = BTreeMap::new();
    for c in conjuncts.iter().filter(|c| !c.partial) {
        let PredKind::Rel(op, a, b) = &c.pred.kind else { continue };
        note(&mut records, *op, a, b);
        if let Some(op) = op.mirrored() {
            note(&mut records, op, b, a);
        }
    }
    let mut out = Vec::new();
    for (r, fields) in records.into_values() {
        let Type::Struct(types) = &r.ty else { continue };
        if !is_infinite(&r.ty) || !fields.iter().any(|f| f.high.is_some() || !f.sets.is_empty()) {
            continue;
        }
        let sets: Option<Vec<Expr>> =
            fields.iter().zip(types.iter()).map(|(f, (_, t))| set_of(f, t, &r)).collect();
        if let Some(sets) = sets {
            let set = Expr { kind: ExprKind::StructSet(sets), ty: Type::pow(r.ty.clone()), span: r.span };
            let span = r.span;
            out.push((Pred { kind: PredKind::Rel(RelOp::In, r, set), span }, false));
        }
    }
    out
}

/// Notes what `a op b` says of a field that stands on the left, or of all fields of a record that lies in a set of records.
fn note(records: &mut BTreeMap<VarId, (Expr, Vec<Field>)>, op: RelOp, a: &Expr, b: &Expr) {
    let mut about = |r: &Expr, fields: &[(Name, Type)], number: usize, op: RelOp, e: &Expr| {
        let ExprKind::Var(v) = r.kind else { return };
        if free::mentions(e, &|w| w == v) {
            return;
        }
        let (_, noted) =
            records.entry(v).or_insert_with(|| (r.clone(), vec![Field::default(); fields.len()]));
        noted[number].add(op, e);
    };
    match (&a.kind, &b.kind, op) {
        (ExprKind::Field(r, number), _, _) => {
            if let Type::Struct(fields) = &r.ty {
                about(r, fields, *number, op, b);
            }
        }
        (ExprKind::Var(_), ExprKind::StructSet(sets), RelOp::In) => {
            if let Type::Struct(fields) = &a.ty {
                for (number, set) in sets.iter().enumerate() {
                    about(a, fields, number, RelOp::In, set);
                }
            }
        }
        _ => {}
    }
}

impl Field {
    /// `field op e`.
    fn add(&mut self, op: RelOp, e: &Expr) {
        let number = |n: Int| Expr { kind: ExprKind::Int(n), ty: Type::Integer, span: e.span };
        // What is less than a number is at most the one before it.
        let beside = |by: BinOp| {
            let kind = ExprKind::Binary(by, Box::new(e.clone()), Box::new(number(Int::ONE)));
            Expr { kind, ty: Type::Integer, span: e.span }
        };
        match (op, &e.kind) {
            (RelOp::In, ExprKind::Natural) => self.low = self.low.take().or(Some(number(Int::ZERO))),
            (RelOp::In, ExprKind::Natural1) => self.low = Some(number(Int::ONE)),
            (RelOp::In, ExprKind::TypeSet(_)) => {}
            (RelOp::In, _) => self.sets.push(e.clone()),
            (RelOp::Equal, _) => {
                let kind = ExprKind::SetExt(vec![e.clone()]);
                self.sets.push(Expr { kind, ty: Type::pow(e.ty.clone()), span: e.span });
            }
            _ if e.ty != Type::Integer => {}
            (RelOp::LessEqual, _) => self.high = Some(e.clone()),
            (RelOp::Less, _) => self.high = Some(beside(BinOp::Sub)),
            (RelOp::GreaterEqual, _) => self.low = Some(e.clone()),
            (RelOp::Greater, _) => self.low = Some(beside(BinOp::Add)),
            _ => {}
        }
    }
}

/// A set that holds the field of `r`; `None` if its type has no end and nothing is said of it.
fn set_of(field: &Field, ty: &Type, r: &Expr) -> Option<Expr> {
    let set = |kind: ExprKind| Expr { kind, ty: Type::pow(ty.clone()), span: r.span };
    let interval = match (&field.low, &field.high) {
        (Some(low), Some(high)) => {
            Some(set(ExprKind::Binary(BinOp::Interval, Box::new(low.clone()), Box::new(high.clone()))))
        }
        _ => None,
    };
    let all = field.sets.iter().cloned().chain(interval);
    let both = |a: Expr, b: Expr| set(ExprKind::Binary(BinOp::Inter, Box::new(a), Box::new(b)));
    all.reduce(both).or_else(|| (!is_infinite(ty)).then(|| set(ExprKind::TypeSet(ty.clone()))))
}
