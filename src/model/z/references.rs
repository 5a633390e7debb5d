//! Which schemas a tree refers to.

use bombus_base::Name;
use bombus_syntax::z::tree::{Decl, Expr, ExprKind, Logic, LogicKind, SchemaRef, SchemaText};
use std::collections::BTreeSet;

/// Names of all schemas that a schema expression refers to, in any way.
pub fn references(l: &Logic) -> BTreeSet<Name> {
    let mut found = Found(BTreeSet::new());
    found.logic(l);
    found.0
}

struct Found(BTreeSet<Name>);

impl Found {
    fn reference(&mut self, r: &SchemaRef) {
        self.0.insert(r.name.base.clone());
        if let Some(frame) = r.frame {
            let sign = if frame == bombus_syntax::z::tree::Frame::Delta { "\\Delta" } else { "\\Xi" };
            self.0.insert(format!("{sign} {}", r.name.base).into());
        }
        self.exprs(&r.actuals);
    }

    fn text(&mut self, text: &SchemaText) {
        for decl in &text.decls {
            match decl {
                Decl::Names(_, set) => self.expr(set),
                Decl::Include(r) => self.reference(r),
            }
        }
        text.preds.iter().for_each(|p| self.logic(p));
    }

    fn logic(&mut self, l: &Logic) {
        match &l.kind {
            LogicKind::True | LogicKind::False => {}
            LogicKind::Not(a)
            | LogicKind::Precondition(a)
            | LogicKind::Decorated(a, _)
            | LogicKind::Hide(a, _) => {
                self.logic(a);
            }
            LogicKind::Binary(_, a, b)
            | LogicKind::Project(a, b)
            | LogicKind::Compose(a, b)
            | LogicKind::Pipe(a, b) => {
                self.logic(a);
                self.logic(b);
            }
            LogicKind::Quantified(_, text, body) => {
                self.text(text);
                self.logic(body);
            }
            LogicKind::Let(bindings, body) => {
                bindings.iter().for_each(|(_, e)| self.expr(e));
                self.logic(body);
            }
            LogicKind::Chain(first, links) => {
                self.expr(first);
                links.iter().for_each(|(_, e)| self.expr(e));
            }
            LogicKind::PrefixRelation(_, e) => self.expr(e),
            LogicKind::Reference(r) => self.reference(r),
            LogicKind::Text(text) => self.text(text),
        }
    }

    fn exprs(&mut self, all: &[Expr]) {
        all.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Number(_) => {}
            ExprKind::Name(_, actuals) => self.exprs(actuals.as_deref().unwrap_or_default()),
            ExprKind::Tuple(items)
            | ExprKind::SetExt(items)
            | ExprKind::SeqExt(items)
            | ExprKind::BagExt(items)
            | ExprKind::Cross(items) => self.exprs(items),
            ExprKind::Comprehension(text, value) | ExprKind::Mu(text, value) => {
                self.text(text);
                if let Some(value) = value {
                    self.expr(value);
                }
            }
            ExprKind::Lambda(text, value) => {
                self.text(text);
                self.expr(value);
            }
            ExprKind::Let(bindings, body) => {
                bindings.iter().for_each(|(_, e)| self.expr(e));
                self.expr(body);
            }
            ExprKind::Binding(bindings) => bindings.iter().for_each(|(_, e)| self.expr(e)),
            ExprKind::If(test, yes, no) => {
                self.logic(test);
                self.expr(yes);
                self.expr(no);
            }
            ExprKind::Apply(a, b)
            | ExprKind::Infix(_, a, b)
            | ExprKind::Generic(_, a, b)
            | ExprKind::Image(a, b)
            | ExprKind::Iterate(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Prefix(_, a)
            | ExprKind::Postfix(_, a)
            | ExprKind::Negative(a)
            | ExprKind::Select(a, _)
            | ExprKind::Component(a, _) => self.expr(a),
            ExprKind::Theta(r) => self.reference(r),
            ExprKind::Schema(schema) => self.logic(schema),
        }
    }
}
