//! The library: operators and functions that every specification can use.

use super::elaborate::{
    Elaboration, Global, binary, conjunction, node, number, pair, relation, tuple_of, unary, whole,
};
use super::types::is_finite;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, RelOp, Type, UnOp};
use bombus_syntax::z::operators::{Fixity, Operators};
use bombus_syntax::z::tree::{Ident, NEGATION};

/// Functions that are applied by juxtaposition.
const FUNCTIONS: &[&str] = &[
    "\\dom", "\\ran", "\\#", "\\bigcup", "\\bigcap", "\\dcat", "first", "second", "min", "max", "head",
    "last", "tail", "front", "rev", "squash", "items", "succ", "count", NEGATION,
];

impl<'s> Elaboration<'s> {
    /// A name of the library in the place of a value.
    pub fn library_value(&mut self, name: &Name, actuals: &[Expr], span: Span) -> Option<Expr> {
        let simple = |kind| Some(node(kind, Type::pow(Type::Integer), span));
        match &**name {
            "\\num" => return Some(whole(Type::Integer, span)),
            "\\nat" => return simple(ExprKind::Natural),
            "\\nat_1" => return simple(ExprKind::Natural1),
            "\\empty" => {
                let ty = match actuals {
                    [set] => self.element_type(set, "an actual parameter"),
                    _ => self.unifier.fresh(),
                };
                return Some(node(ExprKind::SetExt(Vec::new()), Type::pow(ty), span));
            }
            "\\prozignore" => {
                let text = "`\\prozignore` is understood as the empty set of integers here";
                self.error(Diagnostic::warning(span, text).approximating());
                return simple(ExprKind::SetExt(Vec::new()));
            }
            _ => {}
        }
        if FUNCTIONS.contains(&&**name) {
            let ty = self.unifier.fresh();
            let var = self.new_var(&"x".into(), ty.clone(), span);
            let argument = self.var(var, span);
            let value = self.library_call(name, argument.clone(), span)?;
            let typing = relation(RelOp::In, argument, whole(ty.clone(), span));
            let result = Type::rel(ty, value.ty.clone());
            return Some(node(
                ExprKind::Big(BigOp::Lambda, vec![var], Box::new(typing), Box::new(value)),
                result,
                span,
            ));
        }
        if let Some(sets) = self.generic_value(name, actuals, span) {
            return Some(sets);
        }
        self.operator_value(name, span)
    }

    /// `(\_ \fun \_)[X, Y]`; without actual parameters they are whole types.
    fn generic_value(&mut self, name: &Name, actuals: &[Expr], span: Span) -> Option<Expr> {
        if Operators::default().get(name) != Some(Fixity::InfixGeneric) {
            return None;
        }
        if !actuals.is_empty() && actuals.len() != 2 {
            let text =
                format!("`{name}` has 2 formal parameters, and {} actual ones are given", actuals.len());
            self.error(Diagnostic::error(span, text));
        }
        let [a, b] = match actuals {
            [a, b] => [a.clone(), b.clone()],
            _ => [whole(self.unifier.fresh(), span), whole(self.unifier.fresh(), span)],
        };
        self.functions(name, a, b)
    }

    /// `(\_ + \_)` as a function, `(\_ < \_)` as a relation.
    fn operator_value(&mut self, name: &Name, span: Span) -> Option<Expr> {
        let (s, t) = (self.unifier.fresh(), self.unifier.fresh());
        let (x, y) = (self.new_var(&"x".into(), s.clone(), span), self.new_var(&"y".into(), t.clone(), span));
        let sign = Ident { base: name.clone(), decor: "".into(), span };
        let (left, right) = (self.var(x, span), self.var(y, span));
        let typing = vec![
            relation(RelOp::In, left.clone(), whole(s.clone(), span)),
            relation(RelOp::In, right.clone(), whole(t.clone(), span)),
        ];
        if Operators::default().get(name) == Some(Fixity::Relation) {
            let holds = self.relation_pred(&sign, left, right, span);
            let mut all = typing;
            all.push(holds);
            let set = ExprKind::Compr(vec![x, y], Box::new(conjunction(all, span)));
            return Some(node(set, Type::rel(s, t), span));
        }
        let value = self.library_infix(&sign, left, right, span)?;
        let ty = Type::rel(Type::prod(s, t), value.ty.clone());
        let typing = Box::new(conjunction(typing, span));
        Some(node(ExprKind::Big(BigOp::Lambda, vec![x, y], typing, Box::new(value)), ty, span))
    }

    /// The relation that an operand must be.
    pub fn relation_type(&mut self, e: &Expr, what: &str) -> (Type, Type) {
        let (a, b) = (self.unifier.fresh(), self.unifier.fresh());
        self.expect(e, &Type::rel(a.clone(), b.clone()), what);
        (a, b)
    }

    pub fn sequence_type(&mut self, e: &Expr, what: &str) -> Type {
        let t = self.unifier.fresh();
        self.expect(e, &Type::seq(t.clone()), what);
        t
    }

    pub fn bag_type(&mut self, e: &Expr, what: &str) -> Type {
        let t = self.unifier.fresh();
        self.expect(e, &Type::rel(t.clone(), Type::Integer), what);
        t
    }

    /// The application of a function of the library; none if there is no function of this name.
    pub fn library_call(&mut self, name: &Name, x: Expr, span: Span) -> Option<Expr> {
        if !FUNCTIONS.contains(&&**name) {
            return None;
        }
        let what = format!("the argument of `{name}`");
        let e = match &**name {
            "\\dom" | "\\ran" => {
                let (a, b) = self.relation_type(&x, &what);
                let dom = &**name == "\\dom";
                let (op, ty) = if dom { (UnOp::Dom, a) } else { (UnOp::Ran, b) };
                unary(op, x, Type::pow(ty))
            }
            "\\#" => {
                self.element_type(&x, &what);
                unary(UnOp::Card, x, Type::Integer)
            }
            "\\bigcup" | "\\bigcap" => self.generalized(&name.clone(), x, &what, span),
            "first" | "second" => {
                let (a, b) = (self.unifier.fresh(), self.unifier.fresh());
                self.expect(&x, &Type::prod(a.clone(), b.clone()), &what);
                if &**name == "first" { unary(UnOp::First2, x, a) } else { unary(UnOp::Second2, x, b) }
            }
            "min" | "max" => {
                self.expect(&x, &Type::pow(Type::Integer), &what);
                unary(if &**name == "min" { UnOp::Min } else { UnOp::Max }, x, Type::Integer)
            }
            NEGATION => {
                self.expect(&x, &Type::Integer, &what);
                unary(UnOp::Neg, x, Type::Integer)
            }
            "succ" => {
                self.expect(&x, &Type::Integer, &what);
                binary(BinOp::Add, x, number(1, span), Type::Integer)
            }
            "\\dcat" => {
                let t = self.unifier.fresh();
                self.expect(&x, &Type::seq(Type::seq(t.clone())), &what);
                unary(UnOp::Conc, x, Type::seq(t))
            }
            "squash" => {
                let t = self.sequence_type(&x, &what);
                self.squash(x, t, span)
            }
            "items" => self.items_of(x, span),
            "count" => {
                let t = self.bag_type(&x, &what);
                let var = self.new_var(&"x".into(), t.clone(), span);
                let element = self.var(var, span);
                let typing = relation(RelOp::In, element.clone(), whole(t.clone(), span));
                let value = self.count_of(x, element, span);
                let ty = Type::rel(t, Type::Integer);
                node(ExprKind::Big(BigOp::Lambda, vec![var], Box::new(typing), Box::new(value)), ty, span)
            }
            _ => {
                let t = self.sequence_type(&x, &what);
                match &**name {
                    "head" => unary(UnOp::First, x, t),
                    "last" => unary(UnOp::Last, x, t),
                    "tail" => unary(UnOp::Tail, x, Type::seq(t)),
                    "front" => unary(UnOp::Front, x, Type::seq(t)),
                    _ => unary(UnOp::Rev, x, Type::seq(t)),
                }
            }
        };
        Some(Expr { span, ..e })
    }

    /// The union or intersection of a set of sets; the intersection of none is the whole type.
    fn generalized(&mut self, name: &Name, x: Expr, what: &str, span: Span) -> Expr {
        let t = self.unifier.fresh();
        let set = Type::pow(t.clone());
        self.expect(&x, &Type::pow(set.clone()), what);
        if &**name == "\\bigcup" {
            return unary(UnOp::Union, x, set);
        }
        let empty = node(ExprKind::SetExt(Vec::new()), x.ty.clone(), span);
        let none = relation(RelOp::Equal, self.copy_expr(&x), empty);
        let inter = unary(UnOp::Inter, x, set.clone());
        node(ExprKind::If(Box::new(none), Box::new(whole(t, span)), Box::new(inter)), set, span)
    }

    // ----- infix -----

    pub fn infix(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Expr {
        if self.globals.contains_key(&sign.full()) {
            let f = self.name(sign, None, sign.span);
            return self.apply(f, tuple_of(vec![a, b]), span);
        }
        match self.library_infix(sign, a, b, span) {
            Some(e) => Expr { span, ..e },
            None => {
                self.unknown(&sign.full(), sign.span);
                self.poison(span)
            }
        }
    }

    /// `X \fun Y` and its kin: both sides are actual parameters.
    pub fn infix_generic(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Expr {
        let name = sign.full();
        if let Some((Global::Value(def), _)) = self.globals.get(&name).cloned() {
            return self.value_of(def, Some(vec![a, b]), span);
        }
        match self.functions(&name, a, b) {
            Some(e) => Expr { span, ..e },
            None => {
                self.unknown(&name, sign.span);
                self.poison(span)
            }
        }
    }

    fn library_infix(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Option<Expr> {
        let name = sign.full();
        let left = format!("the left side of `{name}`");
        let right = format!("the right side of `{name}`");
        Some(match &*name {
            "\\mapsto" => pair(a, b),
            "\\upto" | "+" | "-" | "*" | "\\div" | "\\mod" => {
                self.expect(&a, &Type::Integer, &left);
                self.expect(&b, &Type::Integer, &right);
                match &*name {
                    "\\upto" => binary(BinOp::Interval, a, b, Type::pow(Type::Integer)),
                    "+" => binary(BinOp::Add, a, b, Type::Integer),
                    "-" => binary(BinOp::Sub, a, b, Type::Integer),
                    "*" => binary(BinOp::Mul, a, b, Type::Integer),
                    _ => self.floored(&*name == "\\div", a, b, span),
                }
            }
            "\\cup" | "\\cap" | "\\setminus" => {
                self.element_type(&a, &left);
                self.same_type(&a, &b, sign);
                let op = match &*name {
                    "\\cup" => BinOp::Union,
                    "\\cap" => BinOp::Inter,
                    _ => BinOp::SetMinus,
                };
                let ty = a.ty.clone();
                binary(op, a, b, ty)
            }
            "\\cat" => {
                self.sequence_type(&a, &left);
                self.same_type(&a, &b, sign);
                let ty = a.ty.clone();
                binary(BinOp::Concat, a, b, ty)
            }
            "\\filter" => {
                let t = self.sequence_type(&a, &left);
                self.expect(&b, &Type::pow(t.clone()), &right);
                let kept = binary(BinOp::RanRestrict, a, b, Type::seq(t.clone()));
                self.squash(kept, t, span)
            }
            "\\extract" => {
                self.expect(&a, &Type::pow(Type::Integer), &left);
                let t = self.sequence_type(&b, &right);
                let kept = binary(BinOp::DomRestrict, a, b, Type::seq(t.clone()));
                self.squash(kept, t, span)
            }
            "\\comp" | "\\circ" => {
                let (first, second) = if &*name == "\\comp" { (a, b) } else { (b, a) };
                let (x, y) = self.relation_type(&first, &format!("an operand of `{name}`"));
                let z = self.unifier.fresh();
                self.expect(&second, &Type::rel(y, z.clone()), &format!("the other operand of `{name}`"));
                binary(BinOp::Compose, first, second, Type::rel(x, z))
            }
            "\\oplus" => {
                self.relation_type(&a, &left);
                self.same_type(&a, &b, sign);
                let ty = a.ty.clone();
                binary(BinOp::Override, a, b, ty)
            }
            "\\dres" | "\\ndres" => {
                let (x, _) = self.relation_type(&b, &right);
                self.expect(&a, &Type::pow(x), &left);
                let ty = b.ty.clone();
                binary(if &*name == "\\dres" { BinOp::DomRestrict } else { BinOp::DomSubtract }, a, b, ty)
            }
            "\\rres" | "\\nrres" => {
                let (_, y) = self.relation_type(&a, &left);
                self.expect(&b, &Type::pow(y), &right);
                let ty = a.ty.clone();
                binary(if &*name == "\\rres" { BinOp::RanRestrict } else { BinOp::RanSubtract }, a, b, ty)
            }
            "\\uplus" | "\\uminus" | "\\otimes" | "\\bcount" => {
                return Some(self.bag_operator(sign, a, b, span));
            }
            _ => return None,
        })
    }

    /// Sets of relations and functions.
    fn functions(&mut self, name: &Name, a: Expr, b: Expr) -> Option<Expr> {
        let op = match &**name {
            "\\rel" => BinOp::Relation,
            "\\pfun" | "\\ffun" => BinOp::PartialFunction,
            "\\fun" => BinOp::TotalFunction,
            "\\pinj" | "\\finj" => BinOp::PartialInjection,
            "\\inj" => BinOp::TotalInjection,
            "\\psurj" => BinOp::PartialSurjection,
            "\\surj" => BinOp::TotalSurjection,
            "\\bij" => BinOp::TotalBijection,
            _ => return None,
        };
        let x = self.element_type(&a, &format!("the left side of `{name}`"));
        let y = self.element_type(&b, &format!("the right side of `{name}`"));
        let ty = Type::pow(Type::rel(x.clone(), y.clone()));
        let finite = matches!(&**name, "\\ffun" | "\\finj") && !is_finite(&self.unifier.resolve(&x));
        if !finite {
            return Some(binary(op, a, b, ty));
        }
        let (c, d) = (self.copy_expr(&a), self.copy_expr(&b));
        let pairs = binary(BinOp::Cartesian, c, d, Type::rel(x, y));
        let subsets = unary(UnOp::Fin, pairs, ty.clone());
        let all = binary(op, a, b, ty.clone());
        Some(binary(BinOp::Inter, all, subsets, ty))
    }

    /// Division and remainder round toward minus infinity, whatever the signs.
    fn floored(&mut self, quotient: bool, a: Expr, b: Expr, span: Span) -> Expr {
        let zero = || number(0, span);
        let int = |op, a, b| binary(op, a, b, Type::Integer);
        let plain = if quotient { BinOp::Div } else { BinOp::Mod };
        let (x, y) =
            (self.new_var(&"a".into(), Type::Integer, span), self.new_var(&"b".into(), Type::Integer, span));
        let (x_, y_) = (|s: &Self| s.var(x, span), |s: &Self| s.var(y, span));
        let minus = |e| unary(UnOp::Neg, e, Type::Integer);
        let test = |op, e| relation(op, e, zero());
        let both = |p, q| conjunction(vec![p, q], span);
        let choose = |p, yes: Expr, no: Expr| {
            node(ExprKind::If(Box::new(p), Box::new(yes), Box::new(no)), Type::Integer, span)
        };
        // (a + b - 1) / b for positive a and b rounds up.
        let up = |a: Expr, b: Expr, again: Expr| {
            int(BinOp::Div, int(BinOp::Sub, int(BinOp::Add, a, b), number(1, span)), again)
        };
        let positive = both(test(RelOp::GreaterEqual, x_(self)), test(RelOp::Greater, y_(self)));
        let negative = both(test(RelOp::LessEqual, x_(self)), test(RelOp::LessEqual, y_(self)));
        let same = int(BinOp::Div, minus(x_(self)), minus(y_(self)));
        let below = minus(up(minus(x_(self)), y_(self), y_(self)));
        let above = minus(up(x_(self), minus(y_(self)), minus(y_(self))));
        let mixed = choose(test(RelOp::Greater, y_(self)), below, above);
        let mut general = choose(negative, same, mixed);
        if !quotient {
            general = int(BinOp::Sub, x_(self), int(BinOp::Mul, y_(self), general));
        }
        let first = int(plain, x_(self), y_(self));
        let value = choose(positive, first, general);
        node(ExprKind::Let(vec![(x, a), (y, b)], Box::new(value)), Type::Integer, span)
    }

    // ----- prefix and postfix -----

    pub fn prefix(&mut self, sign: &Ident, a: Expr, span: Span) -> Expr {
        let name = sign.full();
        if let Some((Global::Value(def), _)) = self.globals.get(&name).cloned() {
            return self.value_of(def, Some(vec![a]), span);
        }
        let t = self.element_type(&a, &format!("the operand of `{name}`"));
        let set = Type::pow(Type::pow(t.clone()));
        let sequences = Type::pow(Type::seq(t.clone()));
        match &*name {
            "\\power" => unary(UnOp::Pow, a, set),
            "\\power_1" => unary(UnOp::Pow1, a, set),
            "\\finset" => unary(UnOp::Fin, a, set),
            "\\finset_1" => unary(UnOp::Fin1, a, set),
            "\\seq" => unary(UnOp::Seq, a, sequences),
            "\\seq_1" => unary(UnOp::Seq1, a, sequences),
            "\\iseq" => unary(UnOp::Iseq, a, sequences),
            "\\bag" => {
                let counts = node(ExprKind::Natural1, Type::pow(Type::Integer), span);
                binary(BinOp::PartialFunction, a, counts, Type::pow(Type::rel(t, Type::Integer)))
            }
            "\\id" => unary(UnOp::Id, a, Type::rel(t.clone(), t)),
            _ => {
                self.unknown(&name, sign.span);
                self.poison(span)
            }
        }
    }

    pub fn postfix(&mut self, sign: &Ident, a: Expr, span: Span) -> Expr {
        let name = sign.full();
        if self.globals.contains_key(&name) {
            let f = self.name(sign, None, sign.span);
            return self.apply(f, a, span);
        }
        let (x, y) = self.relation_type(&a, &format!("the operand of `{name}`"));
        if &*name == "\\inv" {
            return unary(UnOp::Inverse, a, Type::rel(y, x));
        }
        self.expect(&a, &Type::rel(x.clone(), x.clone()), &format!("the operand of `{name}`"));
        match &*name {
            "\\plus" => unary(UnOp::Closure1, a, Type::rel(x.clone(), x)),
            "\\star" => unary(UnOp::Closure, a, Type::rel(x.clone(), x)),
            _ => {
                self.unknown(&name, sign.span);
                self.poison(span)
            }
        }
    }

    pub fn image(&mut self, r: Expr, s: Expr) -> Expr {
        let (x, y) = self.relation_type(&r, "what stands before a relational image");
        self.expect(&s, &Type::pow(x), "the set of a relational image");
        binary(BinOp::Image, r, s, Type::pow(y))
    }

    pub fn iterate(&mut self, r: Expr, k: Expr) -> Expr {
        let (x, y) = self.relation_type(&r, "what is iterated");
        let ty = Type::rel(x.clone(), x.clone());
        self.expect(&r, &ty, "what is iterated");
        self.expect(&k, &Type::Integer, "the number of iterations");
        let negative = match &k.kind {
            ExprKind::Int(n) => n.small().is_some_and(|n| n < 0).then(|| n.neg()),
            _ => None,
        };
        match negative {
            Some(n) => {
                let back = unary(UnOp::Inverse, r, Type::rel(y, x));
                let times = Expr { kind: ExprKind::Int(n), ..k };
                binary(BinOp::Iterate, back, times, ty)
            }
            None => binary(BinOp::Iterate, r, k, ty),
        }
    }
}
