//! Where the values of expressions come from.
//!
//! In: an expression. Out: its shape, whose slots are those of the variables it copies; what looks at values on the
//! way is entered in the classes. Whatever is not listed here sees its operands, and its value counts as seen.

use crate::data_independence::Flow;
use crate::data_independence::shape::Shape;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, UnOp};

impl Flow<'_> {
    pub(crate) fn expr(&mut self, e: &Expr) -> Shape {
        match &e.kind {
            // A number is the same in all runs: it may flow anywhere.
            ExprKind::Int(_) => self.classes.int(),
            ExprKind::Real(_) | ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::Elem(..) => Shape::Plain,
            ExprKind::Var(v) | ExprKind::Old(v) => self.var(*v, &e.ty),
            ExprKind::TypeSet(_) | ExprKind::Natural | ExprKind::Natural1 => self.classes.shape(&e.ty),
            ExprKind::SetExt(list) => self.extension(list, e),
            ExprKind::SeqExt(list) => {
                let Shape::Set(n, pair) = self.classes.shape(&e.ty) else { return self.foreign(e) };
                let (_, range) = pair.columns();
                for x in list {
                    let x = self.expr(x);
                    self.classes.join(&range, &x);
                }
                Shape::Set(n, pair)
            }
            ExprKind::Pair(a, b) => {
                let a = self.expr(a);
                Shape::pair(a, self.expr(b))
            }
            ExprKind::Rec(list) => Shape::Rec(list.iter().map(|x| self.expr(x)).collect()),
            ExprKind::Field(a, i) => match self.expr(a) {
                Shape::Rec(fields) if *i < fields.len() => fields[*i].clone(),
                _ => self.classes.seen_shape(&e.ty),
            },
            ExprKind::Unary(op, a) => self.unary(*op, a, e),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e),
            ExprKind::Apply(f, x) => {
                self.see_expr(x);
                if matches!(
                    f.kind,
                    ExprKind::Function(_) | ExprKind::Constructor(..) | ExprKind::Destructor(..)
                ) {
                    return self.classes.seen_shape(&e.ty);
                }
                let f = self.expr(f);
                self.keyed(&f);
                self.classes.need_exact(&f);
                f.columns().1
            }
            ExprKind::BoolOf(p) => {
                self.pred(p);
                Shape::Plain
            }
            ExprKind::Compr(vars, p) => {
                // The variables run through the same values in all runs.
                self.pred(p);
                let element = self.tuple(vars);
                self.classes.set(element)
            }
            ExprKind::Big(op, vars, p, body) => {
                self.pred(p);
                let value = self.expr(body);
                match op {
                    // Each tuple of the variables gives one pair.
                    BigOp::Lambda => {
                        let key = self.tuple(vars);
                        self.classes.set(Shape::pair(key, value))
                    }
                    BigOp::SetOf => self.classes.loose_set(value),
                    BigOp::Union => self.classes.loose_set(value.element()),
                    BigOp::Sigma | BigOp::Pi | BigOp::Inter => {
                        self.classes.see(&value);
                        self.classes.seen_shape(&e.ty)
                    }
                }
            }
            ExprKind::If(p, a, b) => {
                self.pred(p);
                let (a, b) = (self.expr(a), self.expr(b));
                self.classes.join(&a, &b);
                a
            }
            ExprKind::Let(bindings, body) => {
                for (v, x) in bindings {
                    let shape = self.expr(x);
                    let v = self.var(*v, &x.ty);
                    self.classes.join(&v, &shape);
                }
                self.expr(body)
            }
            ExprKind::Symbolic(a) => self.expr(a),
            ExprKind::Function(_)
            | ExprKind::StructSet(_)
            | ExprKind::Construct(..)
            | ExprKind::Constructor(..)
            | ExprKind::Destructor(..)
            | ExprKind::External(..) => self.foreign(e),
        }
    }

    /// An expression that looks at its value, or is looked at.
    pub(crate) fn see_expr(&mut self, e: &Expr) {
        let shape = self.expr(e);
        self.classes.see(&shape);
    }

    /// An expression of a form that is not understood: all it speaks of is seen.
    fn foreign(&mut self, e: &Expr) -> Shape {
        match &e.kind {
            ExprKind::StructSet(list) | ExprKind::External(_, list) => {
                list.iter().for_each(|x| self.see_expr(x));
            }
            ExprKind::Construct(_, _, Some(a)) | ExprKind::Unary(_, a) => self.see_expr(a),
            ExprKind::SetExt(list) | ExprKind::SeqExt(list) => list.iter().for_each(|x| self.see_expr(x)),
            ExprKind::Binary(_, a, b) => {
                self.see_expr(a);
                self.see_expr(b);
            }
            _ => {}
        }
        self.classes.seen_shape(&e.ty)
    }

    /// What the left column of a relation holds is compared.
    pub(crate) fn keyed(&mut self, relation: &Shape) {
        let (key, _) = relation.columns();
        self.classes.see(&key);
    }

    /// `{a,b,…}`: elements that are not evidently different may be equal in one run and not in another.
    fn extension(&mut self, list: &[Expr], e: &Expr) -> Shape {
        let set = self.classes.shape(&e.ty);
        let element = set.element();
        for x in list {
            let x = self.expr(x);
            self.classes.join(&element, &x);
        }
        let keys: Vec<&Expr> = list
            .iter()
            .map(|x| match &x.kind {
                ExprKind::Pair(a, _) => &**a,
                _ => x,
            })
            .collect();
        let is_literal = |x: &Expr| {
            matches!(x.kind, ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Str(_) | ExprKind::Elem(..))
        };
        let differ =
            keys.iter().enumerate().all(|(i, a)| is_literal(a) && keys[..i].iter().all(|b| a.kind != b.kind));
        // Literals alone are the same set in all runs, however often one is repeated.
        let literal = list.iter().all(is_literal);
        if list.len() > 1 && !differ && !literal {
            self.classes.loosen(&set);
        }
        set
    }

    fn unary(&mut self, op: UnOp, a: &Expr, e: &Expr) -> Shape {
        match op {
            UnOp::Card | UnOp::Size => {
                let a = self.expr(a);
                self.classes.need_exact(&a);
                if op == UnOp::Size {
                    self.keyed(&a);
                }
                self.classes.shape(&e.ty)
            }
            // The value of a sum is the same in all runs if its operands are.
            UnOp::Neg | UnOp::Min | UnOp::Max => {
                self.see_expr(a);
                self.classes.shape(&e.ty)
            }
            UnOp::Dom => {
                let a = self.expr(a);
                self.keyed(&a);
                self.classes.set(a.columns().0)
            }
            UnOp::Ran => {
                let a = self.expr(a);
                self.classes.loose_set(a.columns().1)
            }
            UnOp::Union => {
                let a = self.expr(a);
                self.classes.loose_set(a.element().element())
            }
            UnOp::Inverse => match self.expr(a) {
                Shape::Set(n, pair) => {
                    let (a, b) = pair.columns();
                    let turned = self.classes.set(Shape::pair(b, a));
                    self.classes.same_kind(&turned, &Shape::Set(n, pair));
                    turned
                }
                other => {
                    self.classes.see(&other);
                    self.classes.seen_shape(&e.ty)
                }
            },
            UnOp::First2 => self.expr(a).columns().0,
            UnOp::Second2 => self.expr(a).columns().1,
            UnOp::First | UnOp::Last | UnOp::Front | UnOp::Tail | UnOp::Rev => {
                let a = self.expr(a);
                if matches!(a, Shape::Plain) {
                    return self.classes.seen_shape(&e.ty);
                }
                self.keyed(&a);
                self.classes.need_exact(&a);
                if matches!(op, UnOp::First | UnOp::Last) { a.columns().1 } else { a }
            }
            _ => self.foreign(e),
        }
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Shape {
        match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Mod
            | BinOp::Power
            | BinOp::Interval => {
                self.see_expr(a);
                self.see_expr(b);
                self.classes.shape(&e.ty)
            }
            BinOp::Union => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.classes.join(&a, &b);
                self.classes.loosen(&a);
                a
            }
            BinOp::Cartesian => {
                let (a, b) = (self.expr(a), self.expr(b));
                let set = self.classes.set(Shape::pair(a.element(), b.element()));
                self.classes.same_kind(&set, &a);
                self.classes.same_kind(&set, &b);
                set
            }
            BinOp::Override => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.classes.join(&a, &b);
                self.keyed(&a);
                a
            }
            BinOp::DomRestrict | BinOp::DomSubtract => {
                self.see_expr(a);
                let b = self.expr(b);
                self.keyed(&b);
                b
            }
            BinOp::RanRestrict | BinOp::RanSubtract => {
                let a = self.expr(a);
                self.member(&a.columns().1, b);
                a
            }
            BinOp::Image => {
                let a = self.expr(a);
                self.see_expr(b);
                self.keyed(&a);
                self.classes.loose_set(a.columns().1)
            }
            BinOp::Concat => {
                let (a, b) = (self.expr(a), self.expr(b));
                if matches!(a, Shape::Plain) {
                    return Shape::Plain;
                }
                self.classes.join(&a, &b);
                self.keyed(&a);
                self.classes.need_exact(&a);
                a
            }
            BinOp::Prepend | BinOp::Append => {
                let (x, s) = if op == BinOp::Prepend { (a, b) } else { (b, a) };
                let (x, s) = (self.expr(x), self.expr(s));
                self.classes.join(&s.columns().1, &x);
                self.keyed(&s);
                self.classes.need_exact(&s);
                s
            }
            BinOp::Take | BinOp::Drop => {
                let a = self.expr(a);
                self.see_expr(b);
                self.keyed(&a);
                self.classes.need_exact(&a);
                a
            }
            _ => self.foreign(e),
        }
    }
}
