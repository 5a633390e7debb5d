//! A formula taken apart: its parts with their values, as a tree.
//!
//! In: a typed formula and a state. Out: JSON, one node for each part that has a place in a text. What cannot be
//! evaluated says why; the tree never changes a truth value that stands elsewhere.

use super::present;
use crate::base::Span;
use crate::base::diagnostic::Sources;
use crate::base::text::one_line;
use crate::evaluate::{Interpreter, State};
use crate::lang::typed::{Expr, ExprKind, Pred, PredKind};
use crate::lang::value::Value;
use serde_json::{Value as Json, json};

/// Trees are cut below this depth: deeper parts are in the text of their parents.
const DEPTH: usize = 24;
/// Longer texts of parts are cut.
const TEXT: usize = 400;

/// What trees are made from.
pub struct Reasons<'i, 'm> {
    pub interpreter: &'i Interpreter<'m>,
    pub sources: &'i Sources,
    pub state: Option<&'i State>,
}

impl Reasons<'_, '_> {
    /// A predicate with its parts.
    pub fn predicate(&self, p: &Pred, depth: usize) -> Json {
        let truth = match self.interpreter.eval_pred(p, self.state) {
            Ok(truth) => json!({ "truth": truth }),
            Err(e) => json!({ "error": e.message() }),
        };
        let mut parts: Vec<Json> = Vec::new();
        if depth < DEPTH {
            let mut more = |q: &Pred| parts.push(self.predicate(q, depth + 1));
            match &p.kind {
                PredKind::Label(_, q) => return self.predicate(q, depth),
                PredKind::Not(q) => more(q),
                PredKind::And(qs) | PredKind::Or(qs) => qs.iter().for_each(more),
                PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                    more(a);
                    more(b);
                }
                PredKind::Rel(_, a, b) => parts.extend([a, b].into_iter().filter_map(|e| self.expression(e))),
                PredKind::Finite(e) | PredKind::Partition(e, _) => parts.extend(self.expression(e)),
                _ => {}
            }
        }
        self.node(p.span, truth, parts)
    }

    /// An expression with its value, unless its text says all there is.
    pub fn expression(&self, e: &Expr) -> Option<Json> {
        let obvious = matches!(
            e.kind,
            ExprKind::Int(_)
                | ExprKind::Bool(_)
                | ExprKind::Str(_)
                | ExprKind::Elem(..)
                | ExprKind::Natural
                | ExprKind::Natural1
                | ExprKind::TypeSet(_)
        );
        if obvious || e.span == Span::default() {
            return None;
        }
        let value = match self.interpreter.eval_expr(e, self.state) {
            Ok(value) => self.shown(e, &value),
            Err(error) => json!({ "error": error.message() }),
        };
        let parts = match &e.kind {
            ExprKind::Apply(f, x) => [f, x].into_iter().filter_map(|e| self.leaf(e)).collect(),
            ExprKind::Unary(_, a) => self.leaf(a).into_iter().collect(),
            ExprKind::Binary(_, a, b) => [a, b].into_iter().filter_map(|e| self.leaf(e)).collect(),
            _ => Vec::new(),
        };
        Some(self.node(e.span, value, parts))
    }

    /// A part of an expression that is shown with its value alone.
    fn leaf(&self, e: &Expr) -> Option<Json> {
        if matches!(e.kind, ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Elem(..))
            || e.span == Span::default()
        {
            return None;
        }
        let value = self.interpreter.eval_expr(e, self.state).ok()?;
        Some(self.node(e.span, self.shown(e, &value), Vec::new()))
    }

    fn shown(&self, e: &Expr, value: &Value) -> Json {
        let (text, cut) = present::shortened(self.interpreter.machine(), &e.ty, value, present::SHORT);
        json!({ "value": text, "cut": cut })
    }

    fn node(&self, span: Span, mut node: Json, parts: Vec<Json>) -> Json {
        let mut text = one_line(self.sources.slice(span));
        if let Some((at, _)) = text.char_indices().nth(TEXT) {
            text.truncate(at);
            text.push('…');
        }
        node["text"] = text.into();
        // A part that has the text and value of the whole says nothing.
        let parts: Vec<Json> = parts.into_iter().filter(|part| part["text"] != node["text"]).collect();
        node["parts"] = parts.into();
        node
    }
}
