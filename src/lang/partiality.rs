//! Which formulas may have no value.
//!
//! In: typed operators, expressions and predicates. Out: whether an operator is partial, and whether a formula may be
//! undefined for some values of its variables. The answer is conservative: "may be undefined" is said of every
//! operator with a condition, unless a literal operand fulfils the condition. Never here: values and environments.

use crate::typed::{
    BigOp, BinOp, Expr, ExprKind, External, FunctionConst, Pred, Step, Stmt, StmtKind, Type, UnOp, VarId,
};
use crate::walk::{Visit, visit_expr, visit_pred};

/// Whether some value of the variables of an expression may leave the expression without a value.
pub fn may_be_undefined(e: &Expr) -> bool {
    let mut partial = Partial(false);
    visit_expr(e, &mut partial);
    partial.0
}

/// Whether some value of the variables of a predicate may leave the predicate without a truth value.
pub fn pred_may_be_undefined(p: &Pred) -> bool {
    let mut partial = Partial(false);
    visit_pred(p, &mut partial);
    partial.0
}

/// Whether a LET is part of the guard that stands behind it: its expressions always have values, and nothing but such LETs
/// stands between it and the guard. A LET whose expression may be undefined is an action (`docs/definedness.md`, rule 9).
pub fn is_let_of_guard(bindings: &[(VarId, Expr)], body: &Stmt) -> bool {
    let behind = match &body.kind {
        StmtKind::Select(..) | StmtKind::Any(..) => true,
        StmtKind::Let(bindings, body) => is_let_of_guard(bindings, body),
        _ => false,
    };
    behind && !bindings.iter().any(|(_, e)| may_be_undefined(e))
}

/// Whether an assignment to a place asks for what a function holds: `f(a)(b) := e` and `f(a)'k := e` read `f(a)`, `f(a) := e` does not.
pub fn reads_an_image(path: &[Step]) -> bool {
    path.split_last().is_some_and(|(_, before)| before.iter().any(|step| matches!(step, Step::Index(_))))
}

/// Whether a unary operator has a condition that depends on more than types.
pub fn is_partial_unary(op: UnOp) -> bool {
    use UnOp::*;
    match op {
        Neg | Floor | Ceiling | ToReal | Pow | Pow1 | Fin | Fin1 | Card | Union | Inverse | Dom | Ran
        | Id | Closure | Closure1 | Rel | Fnc | First2 | Second2 | Seq | Seq1 | Iseq | Iseq1 => false,
        Min | Max | Inter | Perm | Size | First | Last | Front | Tail | Rev | Conc | Tree | Btree | Top
        | Sons | Prefix | Postfix | Sizet | Mirror | Bin1 | Left | Right | Infix => true,
    }
}

/// Whether a binary operator has a condition that depends on more than types.
pub fn is_partial_binary(op: BinOp) -> bool {
    use BinOp::*;
    match op {
        Div | Mod | Power | Iterate | Concat | Prepend | Append | Take | Drop | TreeConst | Rank | Father
        | Subtree | Arity | Son | Bin3 => true,
        Add
        | Sub
        | Mul
        | Interval
        | Union
        | Inter
        | SetMinus
        | Cartesian
        | Relation
        | TotalRelation
        | SurjectiveRelation
        | TotalSurjectiveRelation
        | PartialFunction
        | TotalFunction
        | PartialInjection
        | TotalInjection
        | PartialSurjection
        | TotalSurjection
        | PartialBijection
        | TotalBijection
        | Compose
        | ParallelProduct
        | DirectProduct
        | Override
        | DomRestrict
        | DomSubtract
        | RanRestrict
        | RanSubtract
        | Image
        | Prj1
        | Prj2 => false,
    }
}

struct Partial(bool);

impl Visit for Partial {
    fn expr(&mut self, e: &Expr) {
        self.0 |= match &e.kind {
            ExprKind::Apply(f, _) => !matches!(
                f.kind,
                ExprKind::Function(
                    FunctionConst::Succ
                        | FunctionConst::Pred
                        | FunctionConst::Id
                        | FunctionConst::Prj1
                        | FunctionConst::Prj2
                )
            ),
            ExprKind::External(..) | ExprKind::Construct(..) => true,
            // An infinite set has no number of elements; what is listed, and an interval, is finite.
            ExprKind::Unary(UnOp::Card, set) => !is_finite_by_form(set) && is_infinite(&set.ty),
            // What is listed has a least and a greatest element, unless it is empty.
            ExprKind::Unary(UnOp::Min | UnOp::Max, set) => {
                !matches!(&set.kind, ExprKind::SetExt(elements) if !elements.is_empty())
            }
            ExprKind::Unary(UnOp::Size | UnOp::Rev, text) if text.ty == Type::String => false,
            ExprKind::Unary(op, _) => is_partial_unary(*op),
            ExprKind::Binary(BinOp::Concat, text, _) if text.ty == Type::String => false,
            ExprKind::Binary(BinOp::Div, _, divisor) => {
                !matches!(&divisor.kind, ExprKind::Int(n) if !n.is_zero())
            }
            ExprKind::Binary(BinOp::Power, _, exponent) => {
                !matches!(&exponent.kind, ExprKind::Int(n) if !n.is_negative())
            }
            ExprKind::Binary(op, ..) => is_partial_binary(*op),
            ExprKind::Big(op, ..) => *op == BigOp::Inter,
            _ => false,
        };
    }

    fn external(&mut self, _: &External, _: &[Expr]) {
        self.0 = true;
    }
}

/// Whether a set is finite whatever its variables are: it is listed, or made of finite sets.
fn is_finite_by_form(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::SetExt(_) | ExprKind::SeqExt(_) | ExprKind::Binary(BinOp::Interval, ..) => true,
        ExprKind::Binary(BinOp::Union | BinOp::Cartesian, a, b) => {
            is_finite_by_form(a) && is_finite_by_form(b)
        }
        ExprKind::Binary(BinOp::Inter, a, b) => is_finite_by_form(a) || is_finite_by_form(b),
        ExprKind::Binary(BinOp::SetMinus, a, _) => is_finite_by_form(a),
        _ => false,
    }
}

/// Whether a type has infinitely many values.
pub fn is_infinite(t: &Type) -> bool {
    match t {
        Type::Bool | Type::Set(_) => false,
        Type::Integer | Type::String | Type::Real | Type::Any | Type::Free(_) => true,
        Type::Pow(t) => is_infinite(t),
        Type::Prod(a, b) => is_infinite(a) || is_infinite(b),
        Type::Struct(fields) => fields.iter().any(|(_, t)| is_infinite(t)),
    }
}
