//! Predicates: connectives, quantifiers, relations, and schemas in the place of predicates.

use super::elaborate::{Elaboration, Global, conjunction, exists, negation, tuple_of};
use bombus_base::Span;
use bombus_lang::typed::{Expr, Pred, PredKind};
use bombus_syntax::z::tree::{Connective, Expr as Tree, Ident, Logic, LogicKind, Quantifier, SchemaText};

impl<'s> Elaboration<'s> {
    pub fn pred(&mut self, l: &'s Logic) -> Pred {
        let span = l.span;
        let kind = match &l.kind {
            LogicKind::True => PredKind::True,
            LogicKind::False => PredKind::False,
            LogicKind::Not(inner) => return negation(self.pred(inner)),
            LogicKind::Binary(sign, a, b) => {
                let (a, b) = (self.pred(a), self.pred(b));
                match sign {
                    Connective::And => return conjunction(flat(vec![a, b]), span),
                    Connective::Or => PredKind::Or(vec![a, b]),
                    Connective::Implies => PredKind::Implies(Box::new(a), Box::new(b)),
                    Connective::Iff => PredKind::Iff(Box::new(a), Box::new(b)),
                }
            }
            LogicKind::Quantified(quantifier, text, body) => {
                return self.quantifier(*quantifier, text, body, span);
            }
            LogicKind::Let(bindings, body) => {
                let (vars, names) = self.let_bindings(bindings);
                let body = self.binding(names, |this| this.pred(body));
                PredKind::Let(vars, Box::new(body))
            }
            LogicKind::Chain(first, links) => return self.chain(first, links, span),
            LogicKind::PrefixRelation(sign, operand) => {
                let operand = self.expr(operand);
                return self.prefix_relation(sign, operand, span);
            }
            LogicKind::Reference(_)
            | LogicKind::Text(_)
            | LogicKind::Decorated(..)
            | LogicKind::Hide(..)
            | LogicKind::Project(..)
            | LogicKind::Compose(..)
            | LogicKind::Pipe(..)
            | LogicKind::Precondition(_) => return self.reference_pred(l),
        };
        Pred { kind, span }
    }

    fn quantifier(
        &mut self,
        quantifier: Quantifier,
        text: &'s SchemaText,
        body: &'s Logic,
        span: Span,
    ) -> Pred {
        let (schema, body) = self.text(text, |this, schema, _| {
            let body = this.pred(body);
            (std::mem::take(schema), body)
        });
        let vars = schema.vars();
        let mut preds = schema.preds;
        match quantifier {
            Quantifier::Forall => {
                let kind = PredKind::Implies(Box::new(conjunction(preds, span)), Box::new(body));
                Pred { kind: PredKind::Forall(vars, Box::new(Pred { kind, span })), span }
            }
            Quantifier::Exists => {
                preds.push(body);
                exists(vars, flat(preds), span)
            }
            Quantifier::ExistsOne => {
                preds.push(body);
                self.exactly_one(vars, flat(preds), span)
            }
        }
    }

    fn chain(&mut self, first: &'s Tree, links: &'s [(Ident, Tree)], span: Span) -> Pred {
        let mut left = self.expr(first);
        let mut all = Vec::new();
        for (i, (sign, right)) in links.iter().enumerate() {
            let right = self.expr(right);
            let at = if links.len() == 1 { span } else { left.span.to(right.span) };
            let next = if i + 1 < links.len() { Some(self.copy_expr(&right)) } else { None };
            let p = self.relation_pred(sign, left, right, at);
            all.push(p);
            match next {
                Some(next) => left = next,
                None => break,
            }
        }
        conjunction(flat(all), span)
    }

    pub fn relation_pred(&mut self, sign: &Ident, a: Expr, b: Expr, span: Span) -> Pred {
        let name = sign.full();
        let declared = name.strip_prefix("\\inrel ").map(|n| Ident { base: n.into(), ..sign.clone() });
        let user = declared.as_ref().or_else(|| self.globals.contains_key(&name).then_some(sign));
        if let Some(user) = user {
            let set =
                self.name(&Ident { decor: "".into(), base: user.full(), span: user.span }, None, sign.span);
            let is_in = Ident { base: "\\in".into(), decor: "".into(), span: sign.span };
            let pair = tuple_of(vec![a, b]);
            if let Some(p) = self.library_relation(&is_in, pair, set, span) {
                return p;
            }
        } else if let Some(p) = self.library_relation(sign, a, b, span) {
            return p;
        }
        self.unknown(&name, sign.span);
        Pred { kind: PredKind::True, span }
    }

    fn prefix_relation(&mut self, sign: &Ident, operand: Expr, span: Span) -> Pred {
        let name = sign.full();
        if let Some((Global::Constant(_) | Global::Axiom(_) | Global::Value(_), _)) = self.globals.get(&name)
        {
            let set = self.name(sign, None, sign.span);
            let is_in = Ident { base: "\\in".into(), decor: "".into(), span: sign.span };
            if let Some(p) = self.library_relation(&is_in, operand, set, span) {
                return p;
            }
        } else if &*name == "\\disjoint" {
            return self.disjoint(operand, span);
        }
        self.unknown(&name, sign.span);
        Pred { kind: PredKind::True, span }
    }
}

/// Conjunctions inside of a conjunction become its conjuncts.
pub(super) fn flat(ps: Vec<Pred>) -> Vec<Pred> {
    let mut all = Vec::new();
    for p in ps {
        match p.kind {
            PredKind::And(inner) => all.extend(inner),
            _ => all.push(p),
        }
    }
    all
}
