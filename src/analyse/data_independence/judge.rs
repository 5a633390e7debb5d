//! What predicates tell about values.
//!
//! In: predicates. Out: cuts where a value is tested against numbers, and seen slots everywhere else.

use crate::data_independence::Flow;
use crate::data_independence::shape::Shape;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, Type, UnOp, VarId};
use std::collections::BTreeMap;

/// Constants that a property equates with a number: they are it in every run.
pub(crate) struct Known(BTreeMap<VarId, Int>);

impl Known {
    pub fn of(machine: &Machine) -> Known {
        let mut known = Known(BTreeMap::new());
        for clause in &machine.properties {
            for p in clause.pred.conjuncts() {
                let PredKind::Rel(RelOp::Equal, a, b) = &p.kind else { continue };
                for (x, e) in [(a, b), (b, a)] {
                    if let ExprKind::Var(v) = x.kind
                        && machine.constants.contains(&v)
                        && let Some(k) = known.number(e)
                    {
                        known.0.insert(v, k);
                    }
                }
            }
        }
        known
    }

    /// The number an expression is in every run, where its form tells.
    pub fn number(&self, e: &Expr) -> Option<Int> {
        match &e.kind {
            ExprKind::Int(k) => Some(k.clone()),
            ExprKind::Var(v) => self.0.get(v).cloned(),
            ExprKind::Unary(UnOp::Neg, a) if e.ty == Type::Integer => Some(self.number(a)?.neg()),
            ExprKind::Binary(op, a, b) if e.ty == Type::Integer => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                match op {
                    BinOp::Add => Some(a.add(&b)),
                    BinOp::Sub => Some(a.sub(&b)),
                    BinOp::Mul => Some(a.mul(&b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl Flow<'_> {
    /// A predicate whose truth matters, for each value of what it binds.
    pub(crate) fn pred(&mut self, p: &Pred) {
        match &p.kind {
            PredKind::True | PredKind::False => {}
            PredKind::And(list) | PredKind::Or(list) => list.iter().for_each(|p| self.pred(p)),
            PredKind::Not(p) | PredKind::Label(_, p) | PredKind::Forall(_, p) | PredKind::Exists(_, p) => {
                self.pred(p);
            }
            PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                self.pred(a);
                self.pred(b);
            }
            PredKind::If(c, a, b) => {
                self.pred(c);
                self.pred(a);
                self.pred(b);
            }
            PredKind::Rel(op, a, b) => self.relation(*op, a, b),
            PredKind::Let(bindings, p) => {
                for (v, x) in bindings {
                    let shape = self.expr(x);
                    let v = self.var(*v, &x.ty);
                    self.classes.join(&v, &shape);
                }
                self.pred(p);
            }
            PredKind::Finite(e) => {
                let shape = self.expr(e);
                self.classes.need_exact(&shape);
            }
            PredKind::Partition(e, list) => {
                self.see_expr(e);
                list.iter().for_each(|e| self.see_expr(e));
            }
            PredKind::External(_, list) => list.iter().for_each(|e| self.see_expr(e)),
        }
    }

    fn relation(&mut self, op: RelOp, a: &Expr, b: &Expr) {
        match op {
            RelOp::In | RelOp::NotIn => {
                let a = self.expr(a);
                self.member(&a, b);
            }
            // Each element is tested.
            RelOp::Subset | RelOp::NotSubset => {
                let a = self.expr(a);
                self.member(&a.element(), b);
            }
            RelOp::Equal | RelOp::NotEqual => self.equal(a, b),
            RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual => self.order(op, a, b),
            RelOp::StrictSubset | RelOp::NotStrictSubset => {
                self.see_expr(a);
                self.see_expr(b);
            }
        }
    }

    pub(crate) fn equal(&mut self, a: &Expr, b: &Expr) {
        for (x, e) in [(a, b), (b, a)] {
            if let Some(k) = self.known.number(e) {
                let x = self.expr(x);
                return self.classes.cut_out(&x, &k);
            }
            // Sets that are alike are both empty or neither.
            if matches!(&e.kind, ExprKind::SetExt(list) | ExprKind::SeqExt(list) if list.is_empty()) {
                self.expr(x);
                return;
            }
        }
        self.see_expr(a);
        self.see_expr(b);
    }

    fn order(&mut self, op: RelOp, a: &Expr, b: &Expr) {
        let one = Int::from(1i64);
        // Whether the bound itself counts among the lower values.
        let (x, bound, below) = match (self.known.number(a), self.known.number(b)) {
            (_, Some(k)) => (a, k, matches!(op, RelOp::LessEqual | RelOp::Greater)),
            (Some(k), None) => (b, k, matches!(op, RelOp::Less | RelOp::GreaterEqual)),
            (None, None) => {
                self.see_expr(a);
                return self.see_expr(b);
            }
        };
        let x = self.expr(x);
        self.classes.cut(&x, if below { bound.add(&one) } else { bound });
    }

    /// A value is tested for membership in a set. Only sets whose form names numbers are tests against numbers.
    pub(crate) fn member(&mut self, x: &Shape, set: &Expr) {
        let one = Int::from(1i64);
        match (x, &set.kind) {
            (_, ExprKind::TypeSet(_)) => {}
            (_, ExprKind::Symbolic(s)) => self.member(x, s),
            (_, ExprKind::Compr(vars, p)) => {
                let tuple = self.tuple(vars);
                self.classes.join(&tuple, x);
                self.pred(p);
            }
            (_, ExprKind::Binary(BinOp::Union | BinOp::Inter | BinOp::SetMinus, a, b)) => {
                self.member(x, a);
                self.member(x, b);
            }
            (Shape::Int(_), ExprKind::Natural) => self.classes.cut(x, Int::from(0i64)),
            (Shape::Int(_), ExprKind::Natural1) => self.classes.cut(x, one),
            (Shape::Int(_), ExprKind::Binary(BinOp::Interval, a, b)) => {
                match (self.known.number(a), self.known.number(b)) {
                    (Some(a), Some(b)) => {
                        self.classes.cut(x, a);
                        self.classes.cut(x, b.add(&one));
                    }
                    _ => self.unknown_set(x, set),
                }
            }
            (Shape::Int(_), ExprKind::SetExt(list)) => {
                let numbers: Option<Vec<Int>> = list.iter().map(|e| self.known.number(e)).collect();
                match numbers {
                    Some(numbers) => numbers.iter().for_each(|k| self.classes.cut_out(x, k)),
                    None => self.unknown_set(x, set),
                }
            }
            (Shape::Pair(a, b), ExprKind::Binary(BinOp::Cartesian, s, t)) => {
                self.member(a, s);
                self.member(b, t);
            }
            (Shape::Rec(fields), ExprKind::StructSet(sets)) if fields.len() == sets.len() => {
                fields.iter().zip(sets).for_each(|(x, s)| self.member(x, s));
            }
            (Shape::Set(_, element), ExprKind::Unary(op, s)) => match op {
                UnOp::Pow | UnOp::Pow1 => self.member(element, s),
                UnOp::Fin | UnOp::Fin1 => {
                    self.classes.need_exact(x);
                    self.member(element, s);
                }
                UnOp::Seq | UnOp::Seq1 => {
                    self.keyed(x);
                    self.classes.need_exact(x);
                    self.member(&element.columns().1, s);
                }
                _ => self.unknown_set(x, set),
            },
            (Shape::Set(..), ExprKind::Binary(op, s, t)) => match op.arrow() {
                Some(arrow) => {
                    let (key, image) = x.columns();
                    if arrow.functional || arrow.total || arrow.injective {
                        self.classes.see(&key);
                    }
                    if arrow.functional || arrow.injective {
                        self.classes.need_exact(x);
                    }
                    if arrow.onto || arrow.injective {
                        self.classes.see(&image);
                    }
                    // For a total relation the domain is compared, which is no test of single values.
                    if arrow.total {
                        self.unknown_set(&key, s)
                    } else {
                        self.member(&key, s)
                    }
                    if arrow.onto { self.unknown_set(&image, t) } else { self.member(&image, t) }
                }
                None => self.unknown_set(x, set),
            },
            _ => self.unknown_set(x, set),
        }
    }

    fn unknown_set(&mut self, x: &Shape, set: &Expr) {
        self.classes.see(x);
        self.see_expr(set);
    }
}
