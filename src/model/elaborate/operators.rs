//! Operators and keyword functions: their types, one row each.

use super::expressions::{binary, unary};
use super::{Elaborator, pair_up};
use crate::overload::Constraint;
use ast::BinOp as B;
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Type, UnOp};
use bombus_syntax::ast::{self, Builtin};
use bombus_syntax::builtins;

/// A tree is a function from paths, which are sequences of numbers, to labels.
fn tree(label: Type) -> Type {
    Type::rel(path(), label)
}

fn path() -> Type {
    Type::seq(Type::Integer)
}

/// Type of the left side, of the right side, of the result.
struct Row(BinOp, Type, Type, Type);

impl Elaborator {
    pub(super) fn binary(&mut self, op: B, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        if op.is_predicate() {
            return self.predicate_as_value(span);
        }
        let (a, b) = (self.expr(left), self.expr(right));
        let is_number = |e: &Expr| matches!(self.unifier.head(&e.ty), Type::Integer | Type::Real);
        // `×` is another way to write `*`, which is a product of numbers or of sets.
        let op = if op == B::Cartesian && (is_number(&a) || is_number(&b)) { B::Mul } else { op };
        match op {
            B::Maplet => {
                let ty = Type::prod(a.ty.clone(), b.ty.clone());
                return Expr { kind: ExprKind::Pair(Box::new(a), Box::new(b)), ty, span };
            }
            B::Mul => {
                let result = self.unifier.fresh();
                self.demand(
                    Constraint::Product { left: a.ty.clone(), right: b.ty.clone(), result: result.clone() },
                    span,
                );
                return binary(BinOp::Mul, a, b, result, span);
            }
            B::OfType => {
                let ty = a.ty.clone();
                self.operands(op, &a, &b, &ty, &Type::pow(ty.clone()));
                return a;
            }
            B::ComposeBack => {
                let Row(typed, lt, rt, ty) = self.row(B::Compose);
                self.operands(op, &b, &a, &lt, &rt);
                return binary(typed, b, a, ty, span);
            }
            _ => {}
        }
        let Row(typed, lt, rt, ty) = self.row(op);
        if self.operands(op, &a, &b, &lt, &rt) {
            match op {
                B::Add | B::Div | B::Power => self.demand(Constraint::Number(ty.clone()), span),
                B::Sub => self.demand(Constraint::Difference(ty.clone()), span),
                B::Concat => self.demand(Constraint::Sequence(ty.clone()), span),
                _ => {}
            }
        }
        binary(typed, a, b, ty, span)
    }

    /// Asks both operands for their types; a message shows both sides.
    pub(super) fn operands(&mut self, op: B, a: &Expr, b: &Expr, left: &Type, right: &Type) -> bool {
        self.unifier.at = a.span.to(b.span);
        for (e, want, other, side) in [(a, left, b, "left"), (b, right, a, "right")] {
            if self.unifier.unify(&e.ty, want) {
                continue;
            }
            let (wanted, found, shown) = (self.show(want), self.show(&e.ty), self.show(&other.ty));
            let d = Diagnostic::error(
                e.span,
                format!(
                    "type clash: the {side} side of `{}` must be of type {wanted}, not {found}",
                    op.spelling()
                ),
            )
            .note(format!("this is of type {found}"))
            .label(other.span, format!("the other side is of type {shown}"));
            self.error(self.traced(d, &[e, other], Some(want)));
            return false;
        }
        true
    }

    fn row(&mut self, op: B) -> Row {
        let mut fresh = || self.unifier.fresh();
        let same = |op, t: Type| Row(op, t.clone(), t.clone(), t);
        let (a, b) = (fresh(), fresh());
        let rel = Type::rel(a.clone(), b.clone());
        let sets = |op| Row(op, Type::pow(a.clone()), Type::pow(b.clone()), Type::pow(rel.clone()));
        match op {
            B::Add => same(BinOp::Add, a),
            B::Sub => same(BinOp::Sub, a),
            B::Div => same(BinOp::Div, a),
            B::Power => Row(BinOp::Power, a.clone(), Type::Integer, a),
            B::Mod => same(BinOp::Mod, Type::Integer),
            B::Interval => Row(BinOp::Interval, Type::Integer, Type::Integer, Type::pow(Type::Integer)),
            B::Union => same(BinOp::Union, Type::pow(a)),
            B::Inter => same(BinOp::Inter, Type::pow(a)),
            B::SetMinus => same(BinOp::SetMinus, Type::pow(a)),
            B::Cartesian => Row(BinOp::Cartesian, Type::pow(a), Type::pow(b), rel),
            B::Relation => sets(BinOp::Relation),
            B::TotalRelation => sets(BinOp::TotalRelation),
            B::SurjectiveRelation => sets(BinOp::SurjectiveRelation),
            B::TotalSurjectiveRelation => sets(BinOp::TotalSurjectiveRelation),
            B::PartialFunction => sets(BinOp::PartialFunction),
            B::TotalFunction => sets(BinOp::TotalFunction),
            B::PartialInjection => sets(BinOp::PartialInjection),
            B::TotalInjection => sets(BinOp::TotalInjection),
            B::PartialSurjection => sets(BinOp::PartialSurjection),
            B::TotalSurjection => sets(BinOp::TotalSurjection),
            B::PartialBijection => sets(BinOp::PartialBijection),
            B::TotalBijection => sets(BinOp::TotalBijection),
            B::Compose | B::ComposeBack => {
                let c = fresh();
                Row(BinOp::Compose, rel, Type::rel(b, c.clone()), Type::rel(a, c))
            }
            B::ParallelProduct => {
                let (c, d) = (fresh(), fresh());
                Row(
                    BinOp::ParallelProduct,
                    rel,
                    Type::rel(c.clone(), d.clone()),
                    Type::rel(Type::prod(a, c), Type::prod(b, d)),
                )
            }
            B::DirectProduct => {
                let c = fresh();
                Row(
                    BinOp::DirectProduct,
                    rel,
                    Type::rel(a.clone(), c.clone()),
                    Type::rel(a, Type::prod(b, c)),
                )
            }
            B::Override => same(BinOp::Override, rel),
            B::DomRestrict => Row(BinOp::DomRestrict, Type::pow(a), rel.clone(), rel),
            B::DomSubtract => Row(BinOp::DomSubtract, Type::pow(a), rel.clone(), rel),
            B::RanRestrict => Row(BinOp::RanRestrict, rel.clone(), Type::pow(b), rel),
            B::RanSubtract => Row(BinOp::RanSubtract, rel.clone(), Type::pow(b), rel),
            B::Concat => same(BinOp::Concat, a),
            B::Prepend => Row(BinOp::Prepend, a.clone(), Type::seq(a.clone()), Type::seq(a)),
            B::Append => Row(BinOp::Append, Type::seq(a.clone()), a.clone(), Type::seq(a)),
            B::Take => Row(BinOp::Take, Type::seq(a.clone()), Type::Integer, Type::seq(a)),
            B::Drop => Row(BinOp::Drop, Type::seq(a.clone()), Type::Integer, Type::seq(a)),
            // The rest was dealt with before.
            B::Mul | B::Maplet | B::OfType => same(BinOp::Mul, a),
            _ => same(BinOp::Add, a),
        }
    }

    /// A keyword function applied to its arguments.
    pub(super) fn function(&mut self, b: Builtin, args: &[ast::Expr], span: Span) -> Expr {
        let name = builtins::spelling(b);
        let n = args.len();
        let wanted = match b {
            Builtin::Iterate
            | Builtin::TreeConst
            | Builtin::Rank
            | Builtin::Father
            | Builtin::Subtree
            | Builtin::Arity => 2,
            Builtin::Prj1 | Builtin::Prj2 if n == 1 => 1,
            Builtin::Prj1 | Builtin::Prj2 => 2,
            Builtin::Son => 3,
            Builtin::Bin if n == 3 => 3,
            _ => 1,
        };
        if !self.arity(name, args, wanted, span) {
            return self.poison(span);
        }
        let mut typed: Vec<Expr> = args.iter().map(|a| self.expr(a)).collect();
        let (a, c) = (self.unifier.fresh(), self.unifier.fresh());
        let rel = Type::rel(a.clone(), c.clone());
        if wanted == 1 {
            let Some(x) = typed.pop() else { return self.poison(span) };
            let (op, from, to) = match b {
                Builtin::Pow => (UnOp::Pow, Type::pow(a.clone()), Type::pow(Type::pow(a))),
                Builtin::Pow1 => (UnOp::Pow1, Type::pow(a.clone()), Type::pow(Type::pow(a))),
                Builtin::Fin => (UnOp::Fin, Type::pow(a.clone()), Type::pow(Type::pow(a))),
                Builtin::Fin1 => (UnOp::Fin1, Type::pow(a.clone()), Type::pow(Type::pow(a))),
                Builtin::Card => (UnOp::Card, Type::pow(a), Type::Integer),
                Builtin::Min => (UnOp::Min, Type::pow(a.clone()), a),
                Builtin::Max => (UnOp::Max, Type::pow(a.clone()), a),
                Builtin::Union => (UnOp::Union, Type::pow(Type::pow(a.clone())), Type::pow(a)),
                Builtin::Inter => (UnOp::Inter, Type::pow(Type::pow(a.clone())), Type::pow(a)),
                Builtin::Dom => (UnOp::Dom, rel, Type::pow(a)),
                Builtin::Ran => (UnOp::Ran, rel, Type::pow(c)),
                Builtin::Id => (UnOp::Id, Type::pow(a.clone()), Type::rel(a.clone(), a)),
                Builtin::Closure => (UnOp::Closure, Type::rel(a.clone(), a.clone()), Type::rel(a.clone(), a)),
                Builtin::Closure1 => {
                    (UnOp::Closure1, Type::rel(a.clone(), a.clone()), Type::rel(a.clone(), a))
                }
                Builtin::Rel => (UnOp::Rel, Type::rel(a.clone(), Type::pow(c.clone())), Type::rel(a, c)),
                Builtin::Fnc => (UnOp::Fnc, rel, Type::rel(a, Type::pow(c))),
                Builtin::Prj1 => (UnOp::First2, Type::prod(a.clone(), c), a),
                Builtin::Prj2 => (UnOp::Second2, Type::prod(a, c.clone()), c),
                Builtin::Seq => (UnOp::Seq, Type::pow(a.clone()), Type::pow(Type::seq(a))),
                Builtin::Seq1 => (UnOp::Seq1, Type::pow(a.clone()), Type::pow(Type::seq(a))),
                Builtin::Iseq => (UnOp::Iseq, Type::pow(a.clone()), Type::pow(Type::seq(a))),
                Builtin::Iseq1 => (UnOp::Iseq1, Type::pow(a.clone()), Type::pow(Type::seq(a))),
                Builtin::Perm => (UnOp::Perm, Type::pow(a.clone()), Type::pow(Type::seq(a))),
                Builtin::Size => (UnOp::Size, a, Type::Integer),
                Builtin::First => (UnOp::First, Type::seq(a.clone()), a),
                Builtin::Last => (UnOp::Last, Type::seq(a.clone()), a),
                Builtin::Front => (UnOp::Front, Type::seq(a.clone()), Type::seq(a)),
                Builtin::Tail => (UnOp::Tail, Type::seq(a.clone()), Type::seq(a)),
                Builtin::Rev => (UnOp::Rev, a.clone(), a),
                Builtin::Conc => (UnOp::Conc, Type::seq(a.clone()), a),
                Builtin::Floor => (UnOp::Floor, Type::Real, Type::Integer),
                Builtin::Ceiling => (UnOp::Ceiling, Type::Real, Type::Integer),
                Builtin::ToReal => (UnOp::ToReal, Type::Integer, Type::Real),
                Builtin::Tree => (UnOp::Tree, Type::pow(a.clone()), Type::pow(tree(a))),
                Builtin::Btree => (UnOp::Btree, Type::pow(a.clone()), Type::pow(tree(a))),
                Builtin::Top => (UnOp::Top, tree(a.clone()), a),
                Builtin::Sons => (UnOp::Sons, tree(a.clone()), Type::seq(tree(a))),
                Builtin::Prefix => (UnOp::Prefix, tree(a.clone()), Type::seq(a)),
                Builtin::Postfix => (UnOp::Postfix, tree(a.clone()), Type::seq(a)),
                Builtin::Sizet => (UnOp::Sizet, tree(a), Type::Integer),
                Builtin::Mirror => (UnOp::Mirror, tree(a.clone()), tree(a)),
                Builtin::Bin => (UnOp::Bin1, a.clone(), tree(a)),
                Builtin::Left => (UnOp::Left, tree(a.clone()), tree(a)),
                Builtin::Right => (UnOp::Right, tree(a.clone()), tree(a)),
                Builtin::Infix => (UnOp::Infix, tree(a.clone()), Type::seq(a)),
                _ => return self.poison(span),
            };
            if self.expect(&x, &from, &format!("the argument of `{name}`"), None) {
                match b {
                    Builtin::Min | Builtin::Max => self.demand(Constraint::Number(to.clone()), span),
                    Builtin::Size => self.demand(Constraint::Sequence(from), span),
                    Builtin::Rev | Builtin::Conc => self.demand(Constraint::Sequence(to.clone()), span),
                    _ => {}
                }
            }
            return unary(op, x, to, span);
        }
        let (op, from, to) = match b {
            Builtin::Iterate => {
                let r = Type::rel(a.clone(), a);
                (BinOp::Iterate, vec![r.clone(), Type::Integer], r)
            }
            Builtin::Prj1 => (
                BinOp::Prj1,
                vec![Type::pow(a.clone()), Type::pow(c.clone())],
                Type::rel(Type::prod(a.clone(), c), a),
            ),
            Builtin::Prj2 => (
                BinOp::Prj2,
                vec![Type::pow(a.clone()), Type::pow(c.clone())],
                Type::rel(Type::prod(a, c.clone()), c),
            ),
            Builtin::TreeConst => (BinOp::TreeConst, vec![a.clone(), Type::seq(tree(a.clone()))], tree(a)),
            Builtin::Rank => (BinOp::Rank, vec![tree(a), path()], Type::Integer),
            Builtin::Father => (BinOp::Father, vec![tree(a), path()], path()),
            Builtin::Subtree => (BinOp::Subtree, vec![tree(a.clone()), path()], tree(a)),
            Builtin::Arity => (BinOp::Arity, vec![tree(a), path()], Type::Integer),
            Builtin::Son => (BinOp::Son, vec![tree(a), path(), Type::Integer], path()),
            Builtin::Bin => (BinOp::Bin3, vec![tree(a.clone()), a.clone(), tree(a.clone())], tree(a)),
            _ => return self.poison(span),
        };
        for (x, want) in typed.iter().zip(&from) {
            self.expect(x, want, &format!("an argument of `{name}`"), None);
        }
        let second = match b {
            Builtin::Son => {
                let rest = typed.split_off(1);
                pair_up(rest)
            }
            Builtin::Bin => {
                // `bin(l,e,r)` is kept as `Bin3(l|->r, e)`.
                let label = typed.remove(1);
                let pair = pair_up(typed.split_off(0));
                typed.extend(pair);
                Some(label)
            }
            _ => typed.pop(),
        };
        match (typed.pop(), second) {
            (Some(first), Some(second)) => binary(op, first, second, to, span),
            _ => self.poison(span),
        }
    }
}
