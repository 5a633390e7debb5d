//! What the planner asks: about how large sets and types are.

use super::*;
use crate::plan::Estimates;

impl Estimates for Lower<'_> {
    fn size(&self, set: &Expr) -> f64 {
        match &set.kind {
            ExprKind::SetExt(es) | ExprKind::SeqExt(es) => es.len() as f64,
            ExprKind::Binary(BinOp::Interval, a, b) => match (&a.kind, &b.kind) {
                (ExprKind::Int(a), ExprKind::Int(b)) => b
                    .small()
                    .zip(a.small())
                    .map_or(f64::INFINITY, |(b, a)| (b as f64 - a as f64 + 1.0).max(0.0)),
                _ => 20.0,
            },
            ExprKind::Natural | ExprKind::Natural1 => f64::INFINITY,
            ExprKind::TypeSet(t) => self.type_size(t),
            ExprKind::Var(v) => match self.value_of(*v) {
                Some(Value::Set(elems)) => elems.len() as f64,
                Some(_) => f64::INFINITY,
                None => match &set.ty {
                    Type::Pow(t) => 1.0 + self.type_size(t).min(60.0) / 2.0,
                    _ => 20.0,
                },
            },
            ExprKind::Binary(BinOp::Cartesian, a, b) => self.size(a) * self.size(b),
            ExprKind::Binary(BinOp::Inter, a, b) => self.size(a).min(self.size(b)),
            ExprKind::Binary(BinOp::SetMinus, a, _) => self.size(a),
            ExprKind::Binary(BinOp::Union, a, b) => self.size(a) + self.size(b),
            ExprKind::Unary(UnOp::Dom | UnOp::Ran | UnOp::Inverse, a) => self.size(a),
            ExprKind::Unary(UnOp::Pow | UnOp::Fin | UnOp::Pow1 | UnOp::Fin1, a) => {
                2f64.powf(self.size(a).min(1000.0))
            }
            ExprKind::Function(_)
            | ExprKind::Constructor(..)
            | ExprKind::Destructor(..)
            | ExprKind::Symbolic(_) => f64::INFINITY,
            ExprKind::Unary(UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1, _) => f64::INFINITY,
            _ => match &set.ty {
                Type::Pow(t) => 1.0 + self.type_size(t).min(60.0) / 2.0,
                _ => 50.0,
            },
        }
    }

    fn type_size(&self, ty: &Type) -> f64 {
        match ty {
            Type::Bool => 2.0,
            Type::Set(s) => self.w.machine.set(*s).elems.len() as f64,
            Type::Prod(a, b) => self.type_size(a) * self.type_size(b),
            Type::Struct(fields) => fields.iter().map(|(_, t)| self.type_size(t)).product(),
            Type::Pow(t) => {
                let n = self.type_size(t);
                if n.is_finite() { 2f64.powf(n) } else { n }
            }
            Type::Integer | Type::String | Type::Real | Type::Free(_) | Type::Any => f64::INFINITY,
        }
    }

    fn type_of(&self, v: VarId) -> Type {
        self.w.machine.var(v).ty.clone()
    }
}
