//! The library: operators and functions that every specification can use.

use super::elaborate::{
    Elaboration, Global, binary, conjunction, exists, negation, node, number, pair, relation, tuple_of,
    unary, whole,
};
use super::types::is_finite;
use crate::base::diagnostic::Diagnostic;
use crate::base::{Name, Span};
use crate::model::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp};
use crate::syntax::z::tree::Ident;

/// Functions that are applied by juxtaposition.
const FUNCTIONS: &[&str] = &[
    "\\dom", "\\ran", "\\#", "\\bigcup", "\\bigcap", "\\dcat", "first", "second", "min", "max", "head",
    "last", "tail", "front", "rev", "squash", "items", "succ", "count",
];

/// Operators that are relations between two values.
const RELATIONS: &[&str] = &[
    "=",
    "\\neq",
    "\\in",
    "\\notin",
    "\\subseteq",
    "\\subset",
    "<",
    ">",
    "\\leq",
    "\\geq",
    "\\prefix",
    "\\suffix",
    "\\inseq",
    "\\inbag",
    "\\subbageq",
    "\\partition",
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
        self.operator_value(name, span)
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
        if RELATIONS.contains(&&**name) {
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
    fn relation_type(&mut self, e: &Expr, what: &str) -> (Type, Type) {
        let (a, b) = (self.unifier.fresh(), self.unifier.fresh());
        self.expect(e, &Type::rel(a.clone(), b.clone()), what);
        (a, b)
    }

    fn sequence_type(&mut self, e: &Expr, what: &str) -> Type {
        let t = self.unifier.fresh();
        self.expect(e, &Type::seq(t.clone()), what);
        t
    }

    fn bag_type(&mut self, e: &Expr, what: &str) -> Type {
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
        let name = sign.full();
        match self.globals.get(&name).cloned() {
            Some((Global::Value(def), _)) if def.formals.len() == 2 => {
                return self.value_of(def, Some(vec![a, b]), span);
            }
            Some(_) => {
                let f = self.name(sign, None, sign.span);
                return self.apply(f, tuple_of(vec![a, b]), span);
            }
            None => {}
        }
        match self.library_infix(sign, a, b, span) {
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
            _ => return self.functions(&name, a, b),
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

    // ----- sequences and bags -----

    /// The entries of a function on numbers, in order and without gaps.
    fn squash(&mut self, f: Expr, t: Type, span: Span) -> Expr {
        let ty = Type::seq(t.clone());
        let all = self.new_var(&"f".into(), ty.clone(), span);
        let mut int = |name: &str| self.new_var(&name.into(), Type::Integer, span);
        let (i, k, j) = (int("i"), int("k"), int("j"));
        let v = self.new_var(&"v".into(), t, span);
        let var = |s: &Self, x| s.var(x, span);
        let entry = relation(RelOp::In, pair(var(self, k), var(self, v)), var(self, all));
        let domain = unary(UnOp::Dom, var(self, all), Type::pow(Type::Integer));
        let before = vec![
            relation(RelOp::In, var(self, j), domain),
            relation(RelOp::LessEqual, var(self, j), var(self, k)),
        ];
        let numbers = ExprKind::Compr(vec![j], Box::new(conjunction(before, span)));
        let place = unary(UnOp::Card, node(numbers, Type::pow(Type::Integer), span), Type::Integer);
        let here = relation(RelOp::Equal, var(self, i), place);
        let pred = exists(vec![k], vec![entry, here], span);
        let set = node(ExprKind::Compr(vec![i, v], Box::new(pred)), ty.clone(), span);
        node(ExprKind::Let(vec![(all, f)], Box::new(set)), ty, span)
    }

    /// The bag of the entries of a sequence.
    pub fn items_of(&mut self, sequence: Expr, span: Span) -> Expr {
        let t = self.sequence_type(&sequence, "the argument of `items`");
        let ty = Type::rel(t.clone(), Type::Integer);
        let (s, x) = (
            self.new_var(&"s".into(), sequence.ty.clone(), span),
            self.new_var(&"x".into(), t.clone(), span),
        );
        let (of, element) = (self.var(s, span), self.var(x, span));
        let inside = relation(RelOp::In, element.clone(), unary(UnOp::Ran, of.clone(), Type::pow(t.clone())));
        let one = node(ExprKind::SetExt(vec![element]), Type::pow(t), span);
        let where_ = binary(BinOp::RanRestrict, of, one, sequence.ty.clone());
        let times = unary(UnOp::Card, where_, Type::Integer);
        let bag =
            node(ExprKind::Big(BigOp::Lambda, vec![x], Box::new(inside), Box::new(times)), ty.clone(), span);
        node(ExprKind::Let(vec![(s, sequence)], Box::new(bag)), ty, span)
    }

    /// How many times an element is in a bag.
    pub fn count_of(&mut self, bag: Expr, element: Expr, span: Span) -> Expr {
        let t = self.bag_type(&bag, "a bag");
        self.expect(&element, &t, "an element of the bag");
        let (bag_again, element_again) = (self.copy_expr(&bag), self.copy_expr(&element));
        let inside = relation(RelOp::In, element, unary(UnOp::Dom, bag, Type::pow(t)));
        let times = node(ExprKind::Apply(Box::new(bag_again), Box::new(element_again)), Type::Integer, span);
        node(ExprKind::If(Box::new(inside), Box::new(times), Box::new(number(0, span))), Type::Integer, span)
    }

    fn bag_operator(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Expr {
        let name = sign.full();
        if &*name == "\\bcount" {
            return self.count_of(a, b, span);
        }
        let scaled = &*name == "\\otimes";
        let t = self.bag_type(if scaled { &b } else { &a }, &format!("an operand of `{name}`"));
        let ty = Type::rel(t.clone(), Type::Integer);
        if scaled {
            self.expect(&a, &Type::Integer, "the left side of `\\otimes`");
        } else {
            self.same_type(&a, &b, sign);
        }
        let (p, q) =
            (self.new_var(&"a".into(), a.ty.clone(), span), self.new_var(&"b".into(), b.ty.clone(), span));
        let x = self.new_var(&"x".into(), t.clone(), span);
        let domain = |s: &Self, bag| unary(UnOp::Dom, s.var(bag, span), Type::pow(t.clone()));
        let element = self.var(x, span);
        let (set, value) = if scaled {
            let (n, bag) = (self.var(p, span), self.var(q, span));
            let times = self.count_of(bag, element.clone(), span);
            (domain(self, q), binary(BinOp::Mul, n, times, Type::Integer))
        } else {
            let (first, second) = (self.var(p, span), self.var(q, span));
            let (m, n) =
                (self.count_of(first, element.clone(), span), self.count_of(second, element.clone(), span));
            let set = binary(BinOp::Union, domain(self, p), domain(self, q), Type::pow(t.clone()));
            let op = if &*name == "\\uplus" { BinOp::Add } else { BinOp::Sub };
            (set, binary(op, m, n, Type::Integer))
        };
        let mut preds = vec![relation(RelOp::In, element, set)];
        if &*name != "\\uplus" {
            // What is there no time, or less than that, is not in the bag.
            preds.push(relation(RelOp::Greater, self.copy_expr(&value), number(0, span)));
        }
        let pred = Box::new(conjunction(preds, span));
        let bag = node(ExprKind::Big(BigOp::Lambda, vec![x], pred, Box::new(value)), ty.clone(), span);
        node(ExprKind::Let(vec![(p, a), (q, b)], Box::new(bag)), ty, span)
    }

    // ----- relations -----

    /// `\disjoint F`: no two sets of the family share an element.
    pub fn disjoint(&mut self, family: Expr, span: Span) -> Pred {
        let (index, set) = self.relation_type(&family, "the operand of `\\disjoint`");
        let t = self.unifier.fresh();
        self.expect(&family, &Type::rel(index.clone(), Type::pow(t)), "the operand of `\\disjoint`");
        let empty = node(ExprKind::SetExt(Vec::new()), set.clone(), span);
        if let ExprKind::SeqExt(sets) = &family.kind {
            let mut apart = Vec::new();
            for (i, a) in sets.iter().enumerate() {
                for b in &sets[i + 1..] {
                    let (a, b) = (self.copy_expr(a), self.copy_expr(b));
                    apart.push(relation(
                        RelOp::Equal,
                        binary(BinOp::Inter, a, b, set.clone()),
                        empty.clone(),
                    ));
                }
            }
            return conjunction(apart, span);
        }
        let (i, j) =
            (self.new_var(&"i".into(), index.clone(), span), self.new_var(&"j".into(), index.clone(), span));
        let f = self.new_var(&"f".into(), family.ty.clone(), span);
        let domain = |s: &Self| unary(UnOp::Dom, s.var(f, span), Type::pow(index.clone()));
        let at = |s: &Self, v| {
            node(ExprKind::Apply(Box::new(s.var(f, span)), Box::new(s.var(v, span))), set.clone(), span)
        };
        let apart = vec![
            relation(RelOp::In, self.var(i, span), domain(self)),
            relation(RelOp::In, self.var(j, span), domain(self)),
            relation(RelOp::NotEqual, self.var(i, span), self.var(j, span)),
        ];
        let shared = binary(BinOp::Inter, at(self, i), at(self, j), set.clone());
        let none = relation(RelOp::Equal, shared, empty);
        let kind = PredKind::Implies(Box::new(conjunction(apart, span)), Box::new(none));
        let all = PredKind::Forall(vec![i, j], Box::new(Pred { kind, span }));
        Pred { kind: PredKind::Let(vec![(f, family)], Box::new(Pred { kind: all, span })), span }
    }

    /// Relations of the library between two values.
    pub fn library_relation(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Option<Pred> {
        let name = sign.full();
        let left = format!("the left side of `{name}`");
        let size = |e: Expr| unary(UnOp::Card, e, Type::Integer);
        let simple = |op, a, b| Some(Pred { kind: PredKind::Rel(op, a, b), span });
        match &*name {
            "=" | "\\neq" => {
                self.same_type(&a, &b, sign);
                simple(if &*name == "=" { RelOp::Equal } else { RelOp::NotEqual }, a, b)
            }
            "\\in" | "\\notin" => {
                let wanted = Type::pow(a.ty.clone());
                if !self.unifier.unify(&b.ty, &wanted) {
                    let (element, set) = (self.show(&a.ty), self.show(&b.ty));
                    let text = format!(
                        "type clash: the left side of `{name}` cannot be an element of the right side"
                    );
                    let d = Diagnostic::error(a.span, text).note(format!("this is of type `{element}`"));
                    self.error(d.label(b.span, format!("this is of type `{set}`")));
                }
                let inside = self.member(a, b, span);
                Some(if &*name == "\\in" { inside } else { not_member(inside) })
            }
            "\\subseteq" | "\\subset" => {
                self.element_type(&a, &left);
                self.same_type(&a, &b, sign);
                simple(if &*name == "\\subset" { RelOp::StrictSubset } else { RelOp::Subset }, a, b)
            }
            "<" | ">" | "\\leq" | "\\geq" => {
                self.expect(&a, &Type::Integer, &left);
                self.expect(&b, &Type::Integer, &format!("the right side of `{name}`"));
                let op = match &*name {
                    "<" => RelOp::Less,
                    ">" => RelOp::Greater,
                    "\\leq" => RelOp::LessEqual,
                    _ => RelOp::GreaterEqual,
                };
                simple(op, a, b)
            }
            "\\prefix" | "\\suffix" | "\\inseq" => {
                self.sequence_type(&a, &left);
                self.same_type(&a, &b, sign);
                if &*name == "\\prefix" {
                    return simple(RelOp::Subset, a, b);
                }
                let ty = a.ty.clone();
                let copies = [&a, &b, &a, &b].map(|e| self.copy_expr(e));
                let [a2, b2, a3, b3] = copies;
                let fits = relation(RelOp::LessEqual, size(a), size(b));
                let gap = binary(BinOp::Sub, size(b2), size(a2), Type::Integer);
                if &*name == "\\suffix" {
                    let rest = binary(BinOp::Drop, b3, gap, ty);
                    return Some(conjunction(vec![fits, relation(RelOp::Equal, rest, a3)], span));
                }
                let k = self.new_var(&"k".into(), Type::Integer, span);
                let places = binary(BinOp::Interval, number(0, span), gap, Type::pow(Type::Integer));
                let inside = relation(RelOp::In, self.var(k, span), places);
                let rest = binary(BinOp::Drop, b3, self.var(k, span), ty.clone());
                let length = size(self.copy_expr(&a3));
                let part = binary(BinOp::Take, rest, length, ty);
                let found = exists(vec![k], vec![inside, relation(RelOp::Equal, part, a3)], span);
                Some(conjunction(vec![fits, found], span))
            }
            "\\inbag" => {
                let t = self.bag_type(&b, "the right side of `\\inbag`");
                self.expect(&a, &t, &left);
                simple(RelOp::In, a, unary(UnOp::Dom, b, Type::pow(t)))
            }
            "\\subbageq" => {
                let t = self.bag_type(&a, &left);
                self.same_type(&a, &b, sign);
                let x = self.new_var(&"x".into(), t.clone(), span);
                let domain = unary(UnOp::Dom, self.copy_expr(&a), Type::pow(t));
                let inside = relation(RelOp::In, self.var(x, span), domain);
                let element = self.var(x, span);
                let (m, n) = (self.count_of(a, element.clone(), span), self.count_of(b, element, span));
                let fewer = relation(RelOp::LessEqual, m, n);
                let kind = PredKind::Implies(Box::new(inside), Box::new(fewer));
                Some(Pred { kind: PredKind::Forall(vec![x], Box::new(Pred { kind, span })), span })
            }
            "\\partition" => {
                let t = self.unifier.fresh();
                let index = self.unifier.fresh();
                self.expect(&a, &Type::rel(index, Type::pow(t.clone())), &left);
                self.expect(&b, &Type::pow(t.clone()), "the right side of `\\partition`");
                if let ExprKind::SeqExt(parts) = a.kind {
                    return Some(Pred { kind: PredKind::Partition(b, parts), span });
                }
                let sets = unary(UnOp::Ran, self.copy_expr(&a), Type::pow(Type::pow(t.clone())));
                let all = relation(RelOp::Equal, unary(UnOp::Union, sets, Type::pow(t)), b);
                Some(conjunction(vec![self.disjoint(a, span), all], span))
            }
            _ => None,
        }
    }
}

fn not_member(p: Pred) -> Pred {
    let span = p.span;
    match p.kind {
        PredKind::Rel(RelOp::In, a, b) => Pred { kind: PredKind::Rel(RelOp::NotIn, a, b), span },
        kind => negation(Pred { kind, span }),
    }
}
