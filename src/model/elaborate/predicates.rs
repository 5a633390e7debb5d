//! Predicates.

use super::Elaborator;
use super::expressions::BOUND;
use crate::overload::Constraint;
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use bombus_lang::typed::{Pred, PredKind, RelOp, Type, VarKind};
use bombus_syntax::ast::{self, BinOp as B, Builtin, Const, Quant};

impl Elaborator {
    pub fn pred(&mut self, e: &ast::Expr) -> Pred {
        let span = e.span;
        if self.inside_definition() && !self.spend(1) {
            return self.poison_pred(span);
        }
        let kind = match &e.kind {
            ast::ExprKind::Ident(name) => match self.definition(name) {
                Some(def) => return self.call_pred(&def, &[], span),
                None => return self.value_as_predicate(e),
            },
            ast::ExprKind::Apply(callee, args) => {
                let def = match &callee.kind {
                    ast::ExprKind::Ident(name) => self.definition(name),
                    _ => None,
                };
                match def {
                    Some(def) => return self.call_pred(&def, args, span),
                    None => return self.value_as_predicate(e),
                }
            }
            ast::ExprKind::Const(Const::BTrue) => PredKind::True,
            ast::ExprKind::Const(Const::BFalse) => PredKind::False,
            ast::ExprKind::Not(p) => PredKind::Not(Box::new(self.pred(p))),
            ast::ExprKind::And(parts) => PredKind::And(parts.iter().map(|p| self.pred(p)).collect()),
            ast::ExprKind::Or(parts) => PredKind::Or(parts.iter().map(|p| self.pred(p)).collect()),
            ast::ExprKind::Binary(B::Implies, a, b) => {
                PredKind::Implies(Box::new(self.pred(a)), Box::new(self.pred(b)))
            }
            ast::ExprKind::Binary(B::Iff, a, b) => {
                PredKind::Iff(Box::new(self.pred(a)), Box::new(self.pred(b)))
            }
            ast::ExprKind::Binary(op, a, b) if op.is_predicate() => self.comparison(*op, a, b),
            ast::ExprKind::Quant(q, ids, p) => {
                let (vars, p) = self.bind(ids, VarKind::Local, BOUND, |this, _| this.pred(p));
                match q {
                    Quant::Forall => PredKind::Forall(vars, Box::new(p)),
                    Quant::Exists => PredKind::Exists(vars, Box::new(p)),
                }
            }
            ast::ExprKind::If(branches, other) => {
                let typed: Vec<(Pred, Pred)> =
                    branches.iter().map(|(c, p)| (self.pred(c), self.pred(p))).collect();
                let mut result = self.pred(other);
                for (cond, p) in typed.into_iter().rev() {
                    result = Pred { kind: PredKind::If(Box::new(cond), Box::new(p), Box::new(result)), span };
                }
                return result;
            }
            ast::ExprKind::Let(ids, equations, body) => {
                let (bindings, body) = self.let_in(ids, equations, |this| this.pred(body));
                PredKind::Let(bindings, Box::new(body))
            }
            ast::ExprKind::After(targets, values, p) => return self.after(targets, values, p, span),
            ast::ExprKind::Label(name, p) => PredKind::Label(name.clone(), Box::new(self.pred(p))),
            ast::ExprKind::Builtin(Builtin::Finite, args) if args.len() == 1 => {
                let set = self.expr(&args[0]);
                let element = self.unifier.fresh();
                self.expect(&set, &Type::pow(element), "the argument of `finite`", None);
                PredKind::Finite(set)
            }
            ast::ExprKind::Builtin(Builtin::Partition, args) if !args.is_empty() => {
                let element = self.unifier.fresh();
                let ty = Type::pow(element);
                let mut typed = Vec::new();
                for arg in args {
                    let set = self.expr(arg);
                    self.expect(&set, &ty, "an argument of `partition`", None);
                    typed.push(set);
                }
                let whole = typed.remove(0);
                PredKind::Partition(whole, typed)
            }
            _ => return self.value_as_predicate(e),
        };
        Pred { kind, span }
    }

    fn value_as_predicate(&mut self, e: &ast::Expr) -> Pred {
        // The value itself may be wrong as well; if it is right, say what is wanted.
        let before = self.diagnostics.len();
        let value = self.expr(e);
        if self.diagnostics.len() == before {
            let shown = self.show(&value.ty);
            let mut d = Diagnostic::error(e.span, "a predicate is wanted here, but this is a value")
                .note(format!("this is of type {shown}"));
            if value.ty == Type::Bool {
                d = d.help("compare it: `… = TRUE`");
            }
            self.error(d);
        }
        self.poison_pred(e.span)
    }

    fn comparison(&mut self, op: B, left: &ast::Expr, right: &ast::Expr) -> PredKind {
        let (a, b) = (self.expr(left), self.expr(right));
        let typed = match op {
            B::Equal => RelOp::Equal,
            B::NotEqual => RelOp::NotEqual,
            B::In => RelOp::In,
            B::NotIn => RelOp::NotIn,
            B::Subset => RelOp::Subset,
            B::NotSubset => RelOp::NotSubset,
            B::StrictSubset => RelOp::StrictSubset,
            B::NotStrictSubset => RelOp::NotStrictSubset,
            B::Less => RelOp::Less,
            B::LessEqual => RelOp::LessEqual,
            B::Greater => RelOp::Greater,
            _ => RelOp::GreaterEqual,
        };
        match op {
            B::Equal | B::NotEqual => self.same(&a, &b, op.spelling()),
            B::In | B::NotIn => {
                // The set first: the message then names what the element is measured against.
                let element = self.unifier.fresh();
                let shown = self.show(&a.ty);
                if self.expect(
                    &b,
                    &Type::pow(element.clone()),
                    &format!("the right side of `{}`", op.spelling()),
                    Some((a.span, format!("the left side is of type {shown}"))),
                ) {
                    self.operands(op, &a, &b, &element, &Type::pow(element.clone()));
                }
            }
            B::Subset | B::NotSubset | B::StrictSubset | B::NotStrictSubset => {
                let element = self.unifier.fresh();
                let ty = Type::pow(element);
                self.operands(op, &a, &b, &ty, &ty);
            }
            _ => {
                let ty = self.unifier.fresh();
                if self.operands(op, &a, &b, &ty, &ty) {
                    self.demand(Constraint::Number(ty), a.span);
                }
            }
        }
        PredKind::Rel(typed, a, b)
    }

    /// `[x,y := E,F] P`: P with new meanings of x and y, all values taken before.
    fn after(&mut self, targets: &[ast::Expr], values: &[ast::Expr], p: &ast::Expr, span: Span) -> Pred {
        let mut ids = Vec::new();
        for target in targets {
            match &target.kind {
                ast::ExprKind::Ident(name) => ids.push(ast::Ident { name: name.clone(), span: target.span }),
                _ => self.error(Diagnostic::error(target.span, "a name is wanted on the left of `:=` here")),
            }
        }
        if ids.len() != values.len() {
            self.error(Diagnostic::error(span, "as many values as names are wanted round `:=`"));
            return self.poison_pred(span);
        }
        let mut bindings = Vec::new();
        let vars = self.new_vars(&ids, VarKind::Local);
        for ((ident, value), var) in ids.iter().zip(values).zip(&vars) {
            let (outer, value) = (self.name(&ident.name, ident.span), self.expr(value));
            self.same(&outer, &value, ":=");
            let inner = self.variable(*var, ident.span);
            self.same(&inner, &value, ":=");
            bindings.push((*var, value));
        }
        let p = self.with_locals(&ids, &vars, BOUND, |this| this.pred(p));
        Pred { kind: PredKind::Let(bindings, Box::new(p)), span }
    }
}
