//! Closing: every open type replaced, every overloaded operator and field settled.
//!
//! In: typed trees as `elaborate` left them, and what the unifier found. Out: trees without any open part.

use super::elaborate::{Elaborator, OPEN_FIELD};
use super::types::Unifier;
use bombus_base::Name;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Step, Target, Type, VarDecl};
use bombus_lang::walk::Change;

/// Closes trees; run it over each with the walkers of `walk`.
pub struct Settle<'a> {
    pub unifier: &'a Unifier,
    pub fields: &'a [Name],
    pub vars: &'a [VarDecl],
}

impl<'a> Settle<'a> {
    pub fn new(from: &'a Elaborator) -> Self {
        Settle { unifier: &from.unifier, fields: &from.fields, vars: &from.vars }
    }

    fn place(&self, record: &Type, index: usize) -> usize {
        if index < OPEN_FIELD {
            return index;
        }
        match record {
            Type::Struct(fields) => {
                fields.iter().position(|(n, _)| *n == self.fields[index - OPEN_FIELD]).unwrap_or(0)
            }
            _ => 0,
        }
    }
}

impl Change for Settle<'_> {
    fn expr(&mut self, e: &mut Expr) {
        e.ty = self.unifier.close(&e.ty);
        match &mut e.kind {
            ExprKind::Binary(op @ BinOp::Sub, a, _) if matches!(a.ty, Type::Pow(_)) => *op = BinOp::SetMinus,
            ExprKind::Binary(op @ BinOp::Mul, a, _) if matches!(a.ty, Type::Pow(_)) => *op = BinOp::Cartesian,
            ExprKind::Field(record, index) => *index = self.place(&record.ty, *index),
            ExprKind::TypeSet(ty) => *ty = self.unifier.close(ty),
            _ => {}
        }
    }

    fn target(&mut self, t: &mut Target) {
        let mut ty = self.unifier.close(&self.vars[t.var.0 as usize].ty);
        for step in &mut t.path {
            ty = match (step, ty) {
                (Step::Index(_), Type::Pow(pair)) => match &*pair {
                    Type::Prod(_, to) => (**to).clone(),
                    _ => Type::Any,
                },
                (Step::Field(index), record) => {
                    *index = self.place(&record, *index);
                    match &record {
                        Type::Struct(fields) => fields[*index].1.clone(),
                        _ => Type::Any,
                    }
                }
                _ => Type::Any,
            };
        }
    }
}
