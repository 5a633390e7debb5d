//! Temporal formulas over a model of another formalism: read before exploring, decided on the graph.
//!
//! In: formulas as the user wrote them, the system, then the graph. Out: a verdict for each, and for the
//! first violated one a trace that the system makes again step by step.
//! Never here: how a formula is decided.

use super::{NOT_CONFIRMED, steps};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::text::one_line;
use crate::driver::temporal::{Checked, Decided, Logic, OPEN, One, Reader, decide, truths_along, walked};
use crate::driver::{CheckOptions, Failure, Rejected};
use crate::explore::{self, Store};
use crate::ltl::check::Row;
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path};
use crate::ltl::propositions::{Propositions, Truths};
use crate::ltl::{self, Checker, Place};
use crate::report::{Ledger, Violation};
use crate::system::System;

/// Formulas whose propositions the system knows.
pub struct Formulas {
    list: Vec<One>,
    propositions: Propositions,
    warnings: Vec<Diagnostic>,
    engine: ltl::Engine,
}

impl Formulas {
    /// Reads all formulas of a run; the faults of all of them reject it. `common` turns a formula as the formalism writes
    /// it into the common form.
    pub fn read<S: System>(
        system: &mut S,
        sources: &mut Sources,
        options: &CheckOptions,
        common: &dyn Fn(&str) -> String,
    ) -> Result<Formulas, Rejected> {
        let asked = &options.temporal;
        let mut reader = Reader::default();
        for text in &asked.ltl {
            let formula = common(text);
            let file = sources.add("<ltl>", None, formula.as_str());
            let before = reader.list.len();
            reader.ltl(None, &formula, Place { file, offset: 0 });
            reader.list[before..].iter_mut().for_each(|one| one.text = one_line(text));
        }
        if let Some((name, text)) = &asked.ltl_file
            && !reader.file(name, text, sources)
        {
            reader.faults.push(Diagnostic::plain(format!("--ltl-file: there is no formula in {name}")));
        }
        for text in &asked.ctl {
            let formula = common(text);
            let file = sources.add("<ctl>", None, formula.as_str());
            let before = reader.list.len();
            reader.ctl(None, &formula, Place { file, offset: 0 });
            reader.list[before..].iter_mut().for_each(|one| one.text = one_line(text));
        }
        let Reader { list, warnings, mut faults } = reader;
        if !list.is_empty() && options.store != Store::Exact {
            faults.push(Diagnostic::plain("temporal formulas need the states themselves: use --store exact"));
        }
        let mut propositions = Propositions::default();
        for one in &list {
            let read = match &one.formula {
                Logic::Ltl(f) => propositions.read_ltl(system, f),
                Logic::Ctl(f) => propositions.read_ctl(system, f),
            };
            faults.extend(read.err().into_iter().flatten());
        }
        if faults.is_empty() {
            Ok(Formulas { list, propositions, warnings, engine: asked.engine })
        } else {
            Err(Rejected { sources: sources.clone(), diagnostics: faults })
        }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn warnings(&self, sources: &Sources) -> Vec<String> {
        crate::driver::warnings_of(sources, &self.warnings)
    }

    /// Why a reduction cannot be used with these formulas.
    pub fn not_preserved(&self) -> Option<String> {
        self.list.iter().find_map(|one| {
            let why = match &one.formula {
                Logic::Ctl(_) => Some("a CTL formula speaks of branching, which is not preserved"),
                Logic::Ltl(f) => f.not_preserved(),
            };
            why.map(|why| format!("{}: {why}", one.text))
        })
    }
}

/// Decides every formula on the graph of an exploration.
pub fn check<S: System>(
    system: &S,
    found: &explore::Outcome,
    formulas: &Formulas,
    ledger: &mut Ledger,
    budget: &Budget,
) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    if formulas.is_empty() {
        return Ok(checked);
    }
    let Some(graph) = found.graph.as_ref().filter(|graph| !graph.has_orbits()) else {
        ledger.enter("there is no graph of single states to check temporal formulas on");
        checked.verdicts = formulas.list.iter().map(|one| one.verdict("incomplete")).collect();
        return Ok(checked);
    };
    let frozen = Frozen::new(graph);
    let truths = Truths::new(system, graph, &formulas.propositions, budget);
    let mut checker = Checker::new(&frozen, &truths, budget).with_engine(formulas.engine);
    for one in &formulas.list {
        if let Err(stop) = budget.check() {
            checked.verdicts.push(one.verdict("incomplete"));
            ledger.enter(format!("{}: {}", one.called(), stop.reason()));
            continue;
        }
        match decide(&mut checker, one) {
            Decided::Holds => checked.verdicts.push(one.verdict("holds")),
            Decided::Violated(path, rows) => {
                checked.verdicts.push(one.verdict("violated"));
                let shown = walked(graph, &frozen, &path)?;
                let trace = steps(system, &shown.trace)?;
                let explanation = explained(one, &path, &rows, &shown.positions);
                checked.violations.push(Violation {
                    confirmed_by: None,
                    kind: one.formula.word().to_string(),
                    property: one.text.clone(),
                    explanation,
                    trace,
                    loop_start: shown.loop_start,
                });
            }
            Decided::Incomplete(reasons) => {
                checked.verdicts.push(one.verdict("incomplete"));
                if reasons.is_empty() {
                    ledger.enter(format!("{}: not decided", one.called()));
                }
                reasons.iter().for_each(|reason| ledger.enter(format!("{}: {reason}", one.called())));
            }
        }
    }
    Ok(checked)
}

fn explained(one: &One, path: &Path, rows: &[Row], positions: &[usize]) -> Vec<String> {
    let mut lines = truths_along(rows, positions, 0);
    let end = match (path.end, &one.formula) {
        (End::Loop(_), _) => "the last step closes the loop: the path goes round for ever",
        (End::Deadlock, _) => "the path ends in a state without successors",
        (End::Open, Logic::Ltl(_)) => OPEN,
        (End::Open, Logic::Ctl(_)) => "the formula fails; the path shows it as far as one path can",
    };
    lines.push(end.to_string());
    lines.push(NOT_CONFIRMED.into());
    lines
}
