//! Counterexamples of temporal formulas as a reader sees them.
//!
//! In: a path of the graph that violates a formula. Out: an execution that the evaluator and the oracle have walked,
//! with the truth of the formula's parts after each of its steps. Never here: how a path is found.

use super::symmetric::{self, Execution};
use super::typing::Pieces;
use super::{Logic, OPEN, One, certified};
use crate::base::budget::Budget;
use crate::driver::compiled::{confirm_finding, confirmed_steps, walk_again};
use crate::driver::{Certificate, first_use, judge, one_line};
use crate::evaluate::{Interpreter, State};
use crate::explore::{Step, Trace};
use crate::graph::Graph;
use crate::ltl::atoms::Truth;
use crate::ltl::check::Row;
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path};
use crate::ltl::view::Graph as _;
use crate::program::Program;
use crate::report::{SETUP_CONSTANTS, Violation};
use crate::system::{Finding, FindingKind};

/// A path of the graph as an execution; the transition that closes a loop is its last step.
pub fn executed(program: &Program, graph: &Graph, frozen: &Frozen, path: &Path) -> Result<Execution, String> {
    if graph.has_orbits() {
        return symmetric::unfold(program, graph, frozen, path);
    }
    walked(graph, frozen, path)
}

/// A path of a graph whose nodes are single states as an execution.
pub fn walked(graph: &Graph, frozen: &Frozen, path: &Path) -> Result<Execution, String> {
    let loop_start = match path.end {
        End::Loop(entry) => Some(entry),
        End::Deadlock | End::Open => None,
    };
    let mut trace: Trace = Vec::new();
    let closing = loop_start.map(|entry| path.states[entry]);
    for (i, state) in path.states.iter().copied().chain(closing).enumerate() {
        let taken = i.checked_sub(1).map(|before| path.edges[before]);
        let words = graph.state(frozen.node(state)).ok_or("a state of the graph has no words")?;
        trace.push(Step {
            event: taken.map(|e| frozen.event(e)),
            label: taken.map_or(0, |e| frozen.label(e)),
            state: words,
        });
    }
    Ok(Execution { trace, positions: (0..path.states.len()).collect(), loop_start })
}

/// The counterexample, confirmed step by step.
pub fn violation(
    program: &Program,
    (one, pieces, certificate): (&One, &Pieces, &Certificate),
    path: &Path,
    rows: &[Row],
    shown: Execution,
) -> Result<Violation, String> {
    let Execution { trace, positions, loop_start } = shown;
    let interpreter = Interpreter::new(program.machine(), &Budget::unlimited());
    let mut states: Vec<State> = trace.iter().map(|s| program.values(&s.state)).collect();
    let mut walk = confirmed_steps(program, &interpreter, &trace, &states)?;
    // The formula itself is confirmed by `ltl::evaluate`, the oracle confirms that the path is an execution.
    let claim = judge::Finding {
        kind: if path.end == End::Deadlock { FindingKind::Deadlock } else { FindingKind::Ltl },
        property: None,
        event: None,
        broken: None,
        strict_guards: false,
    };
    let mut judged = judge::confirm(program.machine(), &walk.path(&states), &claim)?;
    // A formula that may be decided on orbits is as true on a path as on the same path with other names.
    let end = Finding { kind: claim.kind, property: 0, event: None };
    if symmetric::obstacle(&one.formula).is_none()
        && let Some(renamed) = first_use::in_order(program.machine(), &pieces.observed, &states, &walk.taken)
        && let Some((again, by)) = walk_again(&interpreter, &end, &renamed, &claim)
    {
        (states, walk, judged) = (renamed.states, again, by);
    }
    let confirmed_by = Some(judged);
    if certificate.is_asked() {
        let end = loop_start.map_or(path.end, End::Loop);
        let broken = certified::broken((one, pieces), program.machine(), &walk.path(&states), end);
        certificate.take_trace(one.formula.word(), &one.text, broken);
    }
    let steps = walk.steps;
    if let (End::Deadlock, Some(last)) = (path.end, states.last()) {
        let deadlock = Finding { kind: FindingKind::Deadlock, property: 0, event: None };
        confirm_finding(&interpreter, &deadlock, last)?;
    }
    let setup = steps.iter().take_while(|s| s.event == SETUP_CONSTANTS).count();
    let mut explanation = truths_along(rows, &positions, setup);
    explanation.push(
        match (path.end, &one.formula) {
            (End::Loop(_), _) => "the last step closes the loop: the path goes round for ever",
            (End::Deadlock, _) => "the path ends in a deadlock",
            (End::Open, Logic::Ltl(_)) => OPEN,
            (End::Open, Logic::Ctl(_)) => "the formula fails; the path shows it as far as one path can",
        }
        .to_string(),
    );
    Ok(Violation {
        kind: one.formula.word().to_string(),
        property: one.text.clone(),
        explanation,
        trace: steps,
        loop_start: loop_start.map(|entry| entry + setup),
        confirmed_by,
    })
}

/// Longer paths and larger formulas would hide the point.
const MAX_POSITIONS: usize = 40;
const MAX_ROWS: usize = 20;

/// A table of the sub-formulas and their truth after each step of the trace, which goes through these
/// positions of the path.
pub fn truths_along(rows: &[Row], positions: &[usize], setup: usize) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let shown = positions.len().min(MAX_POSITIONS);
    let width = (setup + shown).saturating_sub(1).to_string().len();
    let more = if positions.len() > shown { " …" } else { "" };
    let line = |cells: &mut dyn Iterator<Item = String>, text: &str| {
        let cells: Vec<String> = cells.map(|c| format!("{c:>width$}")).collect();
        format!("{}{more}  {text}", cells.join(" "))
    };
    let mut lines = vec![line(&mut (setup..setup + shown).map(|i| i.to_string()), "after step")];
    // The whole formula stands last; it is the one to keep when there are too many.
    for row in &rows[rows.len().saturating_sub(MAX_ROWS)..] {
        let cells = positions.iter().take(shown).map(|at| match row.truth[*at] {
            Truth::True => "T".to_string(),
            Truth::False => "F".to_string(),
            Truth::Unknown => "?".to_string(),
        });
        lines.push(line(&mut { cells }, &one_line(&row.formula)));
    }
    lines
}
