//! Sequences and bags: operators that B does not have, in terms of those that it has.
//!
//! In: typed operands. Out: typed trees; a bag is a partial function to numbers above 0.

use super::elaborate::{Elaboration, binary, conjunction, exists, node, number, pair, relation, unary};
use bombus_base::Span;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, RelOp, Type, UnOp};
use bombus_syntax::z::tree::Ident;

impl Elaboration<'_> {
    /// The entries of a function on numbers, in order and without gaps.
    pub fn squash(&mut self, f: Expr, t: Type, span: Span) -> Expr {
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

    pub fn bag_operator(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Expr {
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
}
