//! Where types came from: what a clash of types can be put down to.
//!
//! In: a clash and the expressions it is about. Out: the same message with the places where the types of their
//! variables were fixed, and with the variables it speaks of, so that one mistake makes one message.
//! Never here: whether types fit.

use super::Elaborator;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{Expr, ExprKind, Type, VarId};
use bombus_lang::walk::variables_of_expr;

impl Elaborator {
    /// The message of a clash between the types of expressions, with what it can be put down to.
    pub(super) fn traced(&self, mut d: Diagnostic, sides: &[&Expr], want: Option<&Type>) -> Diagnostic {
        let mut blamed: Vec<VarId> = sides.iter().filter_map(|e| plain_variable(e)).collect();
        // The open type of a variable belongs to this variable alone.
        let of_want = want.and_then(|t| self.vars.iter().position(|v| v.ty == *t));
        blamed.extend(of_want.map(|n| VarId(n as u32)));
        blamed.dedup();
        let shown: Vec<Span> = d.labels.iter().map(|(span, _)| *span).collect();
        for var in &blamed {
            let decl = &self.vars[var.0 as usize];
            let Some(place) = self.unifier.origin(&decl.ty, self.against(*var, sides, want)) else {
                continue;
            };
            // A place that holds what the message is about says nothing new.
            if shown
                .iter()
                .any(|span| place.file == span.file && place.start <= span.start && span.end <= place.end)
            {
                continue;
            }
            let ty = self.show(&decl.ty);
            d = d.label(place, format!("this makes `{}` of type {ty}", decl.name));
        }
        let key = |var: &VarId| format!("variable {}", var.0);
        let mentioned = sides.iter().flat_map(|e| variables_of_expr(e)).map(|var| key(&var)).collect();
        d.caused_by(blamed.iter().map(key).collect(), mentioned)
    }

    /// The type that the type of a variable clashes with.
    fn against<'a>(&self, var: VarId, sides: &[&'a Expr], want: Option<&'a Type>) -> Option<&'a Type> {
        match sides.iter().position(|e| plain_variable(e) == Some(var)) {
            Some(0) => want.or_else(|| sides.get(1).map(|e| &e.ty)),
            _ => sides.first().map(|e| &e.ty),
        }
    }

    /// An unknown name is told once; where only operations use it, it may be a parameter of each, and is told in each.
    pub(super) fn traced_name(&self, d: Diagnostic, name: &str) -> Diagnostic {
        let everywhere = format!("name {name}");
        match &self.operation {
            Some((operation, _)) => {
                d.caused_by(vec![format!("name {name} in {operation}")], vec![everywhere])
            }
            None => d.caused_by(vec![everywhere], Vec::new()),
        }
    }

    /// How a name that nobody declared becomes a parameter of the operation around it.
    pub(super) fn as_parameter(&self, name: &str) -> Option<String> {
        let (operation, params) = self.operation.as_ref()?;
        let all: Vec<&str> = params.iter().map(|p: &Name| &**p).chain([name]).collect();
        Some(format!("if `{name}` is a parameter, declare it: {operation}({})", all.join(", ")))
    }
}

fn plain_variable(e: &Expr) -> Option<VarId> {
    match e.kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}
