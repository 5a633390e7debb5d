//! Outputs that a precondition speaks of.
//!
//! In: the body of an operation and its outputs. Out: the body without the conjuncts of the precondition that only
//! type an output, and a warning for each; an error for a conjunct that says more. An output has no value before the
//! operation, so nothing else can be meant by such a conjunct than its type.

use super::bodies::flatten;
use bombus_base::diagnostic::Diagnostic;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, Stmt, StmtKind, VarDecl, VarId};
use bombus_lang::walk::variables_of_pred;

/// The body, with a precondition that speaks of no output.
pub(super) fn without_typed_outputs(
    body: Stmt,
    outputs: &[VarId],
    vars: &[VarDecl],
    diagnostics: &mut Vec<Diagnostic>,
) -> Stmt {
    let StmtKind::Pre(p, inner) = body.kind else { return body };
    if !variables_of_pred(&p).iter().any(|v| outputs.contains(v)) {
        return Stmt { kind: StmtKind::Pre(p, inner), span: body.span };
    }
    let span = p.span;
    let mut kept = Vec::new();
    for conjunct in flatten(p) {
        let Some(output) = variables_of_pred(&conjunct).into_iter().find(|v| outputs.contains(v)) else {
            kept.push(conjunct);
            continue;
        };
        let name = &vars[output.0 as usize].name;
        diagnostics.push(if is_typing(&conjunct, outputs) {
            let words = format!(
                "the precondition gives a type to the output `{name}`, and nothing else is read in it"
            );
            Diagnostic::warning(conjunct.span, words)
        } else {
            let words = format!(
                "the precondition speaks of the output `{name}`, which has no value before the operation"
            );
            Diagnostic::error(conjunct.span, words)
                .help("state what the output is in the body of the operation".to_string())
        });
    }
    let kind = if kept.len() == 1 { kept.remove(0).kind } else { PredKind::And(kept) };
    Stmt { kind: StmtKind::Pre(Pred { kind, span }, inner), span: body.span }
}

/// `r : S`, `r <: S` and `r,q : S` with a set that no output occurs in.
fn is_typing(p: &Pred, outputs: &[VarId]) -> bool {
    fn is_outputs(e: &Expr, outputs: &[VarId]) -> bool {
        match &e.kind {
            ExprKind::Var(v) => outputs.contains(v),
            ExprKind::Pair(a, b) => is_outputs(a, outputs) && is_outputs(b, outputs),
            _ => false,
        }
    }
    match &p.kind {
        PredKind::Label(_, p) => is_typing(p, outputs),
        PredKind::Rel(RelOp::In | RelOp::Subset, x, set) => {
            is_outputs(x, outputs)
                && !bombus_lang::walk::variables_of_expr(set).iter().any(|v| outputs.contains(v))
        }
        _ => false,
    }
}
