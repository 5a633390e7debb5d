//! A violation that sets of states found, shown as the explorer shows its own.
//!
//! In: the states of a path on which a formula fails, or the path itself. Out: a confirmed counterexample. The states
//! are explored once more, one by one and no others, and the checker of the explicit engine has to find the violation
//! on this small graph by itself: so the lasso is as short as any among these states, and two engines agree on it.
//! Never here: sets.

use super::symmetric::Execution;
use super::truth::Truths;
use super::{Checked, Decided, Formulas, decide, violation, walked};
use crate::base::budget::Budget;
use crate::base::hash::HashSet;
use crate::bdd::{self, Ending, PathStep};
use crate::driver::Certificate;
use crate::explore::{self, Step};
use crate::ltl::Checker;
use crate::ltl::check::{NOT_EVALUATED, NOT_EXPLORED};
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path};
use crate::program::{Program, Worker};
use crate::report::{Ledger, Violation};
use crate::system::{EventId, Sink, System};

/// Takes over what sets of states came to.
pub fn decided_by_sets(
    program: &Program,
    formulas: &Formulas,
    decided: &[bdd::Decided],
    words: impl Fn(&bdd::Reason) -> String,
    ledger: &mut Ledger,
    certificate: &Certificate,
) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for (i, one) in formulas.list.iter().enumerate() {
        let open = |ledger: &mut Ledger, why: &str| {
            ledger.enter(format!("{}: {why}", one.called()));
            one.verdict("incomplete")
        };
        let shown = match decided.get(i) {
            Some(bdd::Decided::Holds) => {
                checked.verdicts.push(one.verdict("holds"));
                continue;
            }
            Some(bdd::Decided::Along(states)) => among(program, formulas, i, states, certificate)?,
            Some(bdd::Decided::Path(path, end)) => by_path(program, formulas, i, (path, *end), certificate)?,
            Some(bdd::Decided::Limit(reason)) => {
                checked.verdicts.push(open(ledger, &words(reason)));
                continue;
            }
            Some(bdd::Decided::Open(why)) => {
                checked.verdicts.push(open(ledger, why_open(*why)));
                continue;
            }
            None => {
                checked.verdicts.push(open(ledger, NOT_EXPLORED));
                continue;
            }
        };
        checked.verdicts.push(one.verdict("violated"));
        checked.violations.push(shown);
    }
    Ok(checked)
}

fn why_open(why: bdd::Open) -> &'static str {
    match why {
        bdd::Open::NotExplored => NOT_EXPLORED,
        bdd::Open::NotEvaluated => NOT_EVALUATED,
        bdd::Open::NoStart => "there is no initial state",
        bdd::Open::OnlyKept => {
            "violations were looked for on paths of representatives alone, and there are none (--liveness quotient)"
        }
        bdd::Open::NotSymmetric => {
            "the formula, the initial states or the generators are not known to be symmetric: use --symmetry off"
        }
        bdd::Open::NotShown => "a violation was found, but its path is too long to be shown",
    }
}

/// The model with some states that are expanded.
struct Along<'a, 'm> {
    program: &'a Program<'m>,
    states: HashSet<Vec<u64>>,
}

impl<'m> System for Along<'_, 'm> {
    type Worker = Worker<'m>;

    fn worker(&self) -> Worker<'m> {
        self.program.replay_worker()
    }

    fn words(&self) -> usize {
        self.program.words()
    }

    fn event_names(&self) -> &[String] {
        self.program.event_names()
    }

    fn constant_valuations(&self) -> usize {
        self.program.constant_valuations()
    }

    fn initial(&self, worker: &mut Worker<'m>, sink: &mut dyn Sink) {
        self.program.initial(worker, sink);
    }

    fn successors(&self, worker: &mut Worker<'m>, state: &[u64], sink: &mut dyn Sink) {
        self.program.successors(worker, state, sink);
    }

    fn event(&self, worker: &mut Worker<'m>, state: &[u64], event: EventId, sink: &mut dyn Sink) {
        self.program.event(worker, state, event, sink);
    }

    fn in_scope(&self, _: &mut Worker<'m>, state: &[u64], _: &mut dyn Sink) -> bool {
        self.states.contains(state)
    }

    fn fingerprint(&self, worker: &mut Worker<'m>, state: &[u64]) -> Option<u128> {
        self.program.fingerprint(worker, state)
    }
}

/// The counterexample to a formula, by its number, among the states of a path.
pub fn among(
    program: &Program,
    formulas: &Formulas,
    number: usize,
    states: &[Vec<u64>],
    certificate: &Certificate,
) -> Result<Violation, String> {
    let one = &formulas.list[number];
    let along = Along { program, states: states.iter().cloned().collect() };
    let options = explore::Options {
        check_deadlock: false,
        keep_going: true,
        record_edges: true,
        ..explore::Options::default()
    };
    // A finding must be shown even when the time is up.
    let budget = Budget::unlimited();
    let found = explore::explore(&along, &options, &budget).map_err(|e| format!("{e:?}"))?;
    let graph = found.graph.as_ref().ok_or("the states of a path make no graph")?;
    let frozen = Frozen::new(graph);
    let truths = Truths::new(program, graph, &formulas.pieces, &budget);
    let mut checker = Checker::new(&frozen, &truths, &budget);
    match decide(&mut checker, one) {
        Decided::Violated(path, rows) => {
            let shown = walked(graph, &frozen, &path)?;
            violation(program, (one, &formulas.pieces, certificate), &path, &rows, shown)
        }
        Decided::Holds | Decided::Incomplete(_) => Err(format!(
            "{}: the explicit engine finds no violation on the path that sets of states found",
            one.called()
        )),
    }
}

/// The counterexample that a path is; a loop repeats its entry at the end.
pub fn by_path(
    program: &Program,
    formulas: &Formulas,
    number: usize,
    (steps, ending): (&[PathStep], Ending),
    certificate: &Certificate,
) -> Result<Violation, String> {
    let one = &formulas.list[number];
    let (end, loop_start) = match ending {
        Ending::Loop(entry) => (End::Loop(entry), Some(entry)),
        Ending::Deadlock => (End::Deadlock, None),
        Ending::Open => (End::Open, None),
    };
    let trace: explore::Trace =
        steps.iter().map(|s| Step { event: s.event, label: s.label, state: s.state.clone() }).collect();
    let positions = (0..trace.len() - usize::from(loop_start.is_some())).collect();
    let path = Path { states: Vec::new(), edges: Vec::new(), end };
    let shown = Execution { trace, positions, loop_start };
    violation(program, (one, &formulas.pieces, certificate), &path, &[], shown)
}
