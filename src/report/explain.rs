//! Why a state is bad: the false conjuncts, and the values of their parts.
//!
//! In: a state and the reference interpreter. Out: lines such as `x = 4` for the sides of a comparison.
//! Whatever cannot be evaluated is left out; an explanation never changes a verdict.

use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::text::one_line;
use crate::evaluate::{Interpreter, State};
use crate::lang::typed::{Clause, Expr, ExprKind, Machine, Pred, PredKind};

/// More lines than this hide the point.
const MAX_LINES: usize = 12;
/// Longer values are cut.
const MAX_VALUE: usize = 200;

pub fn state(machine: &Machine, sources: &Sources, kind: &str, state: &State) -> Vec<String> {
    // Nobody waits long for an explanation: what takes more than a moment is left out too.
    let interpreter = &Interpreter::new(machine, &Budget::moment());
    let clauses: &[Clause] = match kind {
        "invariant" => &machine.invariant,
        "assertion" => &machine.assertions,
        _ => &[],
    };
    let mut lines = Vec::new();
    for clause in clauses {
        if interpreter.eval_pred(&clause.pred, Some(state)).is_ok_and(|holds| !holds) {
            // The text of a clause of Event-B names its component and label already.
            let label = clause.label.as_ref().filter(|_| !clause.text.starts_with(&*clause.origin));
            let label = label.map(|l| format!("{l}: ")).unwrap_or_default();
            lines.push(format!("false: {label}{}", one_line(&clause.text)));
            parts(interpreter, sources, state, &clause.pred, &mut lines);
        }
    }
    lines.truncate(MAX_LINES);
    lines
}

/// The values of the sides of the comparisons that make `p` false.
fn parts(interpreter: &Interpreter, sources: &Sources, state: &State, p: &Pred, lines: &mut Vec<String>) {
    let holds = |q: &Pred| interpreter.eval_pred(q, Some(state)).ok();
    match &p.kind {
        PredKind::Label(_, q) | PredKind::Not(q) => parts(interpreter, sources, state, q, lines),
        PredKind::And(qs) | PredKind::Or(qs) => {
            for q in qs.iter().filter(|q| holds(q) == Some(false)) {
                parts(interpreter, sources, state, q, lines);
            }
        }
        PredKind::Implies(_, q) => parts(interpreter, sources, state, q, lines),
        PredKind::Iff(a, b) => {
            parts(interpreter, sources, state, a, lines);
            parts(interpreter, sources, state, b, lines);
        }
        PredKind::Rel(_, a, b) => {
            side(interpreter, sources, state, a, lines);
            side(interpreter, sources, state, b, lines);
        }
        PredKind::Finite(e) | PredKind::Partition(e, _) => side(interpreter, sources, state, e, lines),
        _ => {}
    }
}

fn side(interpreter: &Interpreter, sources: &Sources, state: &State, e: &Expr, lines: &mut Vec<String>) {
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
        return;
    }
    let Ok(value) = interpreter.eval_expr(e, Some(state)) else { return };
    let text = one_line(sources.slice(e.span));
    let mut shown = value.show(interpreter.machine(), &e.ty);
    if let Some((at, _)) = shown.char_indices().nth(MAX_VALUE) {
        shown.truncate(at);
        shown.push('…');
    }
    let line = format!("  {text} = {shown}");
    if text != shown && !lines.contains(&line) {
        lines.push(line);
    }
}
