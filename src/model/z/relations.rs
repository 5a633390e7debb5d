//! Relations of the library between two values, and families of disjoint sets.
//!
//! In: typed operands. Out: predicates; the operands are typed against each other, and messages show both sides.

use super::elaborate::{Elaboration, binary, conjunction, exists, negation, node, number, relation, unary};
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp};
use bombus_syntax::z::tree::Ident;

impl Elaboration<'_> {
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
            "\\prefix" | "\\suffix" | "\\inseq" => Some(self.sequence_relation(sign, a, b, span)),
            "\\inbag" | "\\subbageq" | "\\partition" => Some(self.family_relation(sign, a, b, span)),
            _ => None,
        }
    }

    /// `\prefix`, `\suffix`, `\inseq`
    fn sequence_relation(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Pred {
        let name = sign.full();
        let size = |e: Expr| unary(UnOp::Card, e, Type::Integer);
        self.sequence_type(&a, &format!("the left side of `{name}`"));
        self.same_type(&a, &b, sign);
        if &*name == "\\prefix" {
            return Pred { kind: PredKind::Rel(RelOp::Subset, a, b), span };
        }
        let ty = a.ty.clone();
        let copies = [&a, &b, &a, &b].map(|e| self.copy_expr(e));
        let [a2, b2, a3, b3] = copies;
        let fits = relation(RelOp::LessEqual, size(a), size(b));
        let gap = binary(BinOp::Sub, size(b2), size(a2), Type::Integer);
        if &*name == "\\suffix" {
            let rest = binary(BinOp::Drop, b3, gap, ty);
            return conjunction(vec![fits, relation(RelOp::Equal, rest, a3)], span);
        }
        let k = self.new_var(&"k".into(), Type::Integer, span);
        let places = binary(BinOp::Interval, number(0, span), gap, Type::pow(Type::Integer));
        let inside = relation(RelOp::In, self.var(k, span), places);
        let rest = binary(BinOp::Drop, b3, self.var(k, span), ty.clone());
        let length = size(self.copy_expr(&a3));
        let part = binary(BinOp::Take, rest, length, ty);
        let found = exists(vec![k], vec![inside, relation(RelOp::Equal, part, a3)], span);
        conjunction(vec![fits, found], span)
    }

    /// `\inbag`, `\subbageq`, `\partition`
    fn family_relation(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Pred {
        let name = sign.full();
        let left = format!("the left side of `{name}`");
        match &*name {
            "\\inbag" => {
                let t = self.bag_type(&b, "the right side of `\\inbag`");
                self.expect(&a, &t, &left);
                Pred { kind: PredKind::Rel(RelOp::In, a, unary(UnOp::Dom, b, Type::pow(t))), span }
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
                Pred { kind: PredKind::Forall(vec![x], Box::new(Pred { kind, span })), span }
            }
            _ => {
                let t = self.unifier.fresh();
                let index = self.unifier.fresh();
                self.expect(&a, &Type::rel(index, Type::pow(t.clone())), &left);
                self.expect(&b, &Type::pow(t.clone()), "the right side of `\\partition`");
                if let ExprKind::SeqExt(parts) = a.kind {
                    return Pred { kind: PredKind::Partition(b, parts), span };
                }
                let sets = unary(UnOp::Ran, self.copy_expr(&a), Type::pow(Type::pow(t.clone())));
                let all = relation(RelOp::Equal, unary(UnOp::Union, sets, Type::pow(t)), b);
                conjunction(vec![self.disjoint(a, span), all], span)
            }
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
