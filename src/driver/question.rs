//! A model with what is asked about it, from its text to the outcome: ask, refuse, search, tell.
//!
//! In: a path and options. Out: an outcome, or messages.
//! Never here: formalisms beside B, Event-B and Z.

use super::{CheckOptions, Engine, Explored, Failure, Rejected};
use super::{
    advice, bdd, compiled, evaluate, explain, judge, load, origin_word, proof_info, refinement, symbolic,
    symmetry, temporal,
};
use crate::analyse::distinguishable::{Apart, sets_of};
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Severity, Sources};
use crate::base::finding::FindingKind;
use crate::base::text::one_line;
use crate::lang::typed::{Machine, Pred, SetDecl, SetId, SetKind};
use crate::lang::walk::visit_pred;
use crate::model::{Formula, LoadOptions, Model};
use crate::report::{Outcome, Scope, Seconds, SetSize};
use std::path::Path;
use std::sync::atomic::Ordering;

/// A model with what is asked about it.
pub(super) struct Question {
    pub model: Model,
    pub sources: Sources,
    diagnostics: Vec<Diagnostic>,
    formulas: temporal::Formulas,
    /// Predicates that guide a search on sets of states.
    hints: Vec<Pred>,
    warnings: Vec<String>,
}

impl Question {
    /// Reads the model and the formulas; once more with all valuations of the constants if a formula needs them. A certificate up to
    /// renaming needs them too: a constant that numbers elements would name these in the model that is certified.
    pub fn ask(path: &Path, options: &CheckOptions) -> Result<Question, Rejected> {
        let certified = options.certificate.is_asked() && options.symmetry.is_some();
        let loading = LoadOptions {
            all_constants: options.loading.all_constants || certified,
            ..options.loading.clone()
        };
        let mut asked = Question::read(path, options, &loading)?;
        let mut warnings = Vec::new();
        if let Some(set) = asked.names_an_element(options) {
            warnings.push(format!(
                "a formula tells elements of {set} apart, so valuations of the constants that differ by their \
                 names are all explored"
            ));
            let all = LoadOptions { all_constants: true, ..options.loading.clone() };
            asked = Question::read(path, options, &all)?;
        }
        warnings.extend(warnings_of(&asked.sources, &asked.diagnostics));
        warnings.extend(warnings_of(&asked.sources, asked.formulas.warnings()));
        // Of classical B they are reasons in the ledger.
        let unchecked = asked.model.machine.unchecked.iter().filter(|_| asked.model.refinement.is_none());
        warnings.extend(unchecked.map(|conjunct| {
            format!("not checked, speaks of variables of the abstraction: {}", one_line(conjunct))
        }));
        Ok(Question { warnings, ..asked })
    }

    fn read(path: &Path, options: &CheckOptions, loading: &LoadOptions) -> Result<Question, Rejected> {
        let (mut model, mut sources, diagnostics) = load(path, loading)?;
        set_goal(&mut model, &mut sources, options)?;
        let formulas = temporal::read(&mut model, &mut sources, options)?;
        let hints = match options.engine {
            Engine::Bdd => bdd::read_hints(&mut model, &mut sources, options)?,
            _ => Vec::new(),
        };
        Ok(Question { model, sources, diagnostics, formulas, hints, warnings: Vec::new() })
    }

    /// What the chosen engine or reduction cannot do with this model.
    pub fn refuse(&self, options: &CheckOptions) -> Result<(), Rejected> {
        let machine = &self.model.machine;
        let mut refused = match options.symmetry {
            Some(mode) => symmetry::refusals(machine, mode, &self.formulas, options),
            None => Vec::new(),
        };
        if refused.is_empty() {
            refused = match options.engine {
                Engine::Symbolic(settings) => {
                    let followed = self.model.refinement.as_ref().is_some_and(|c| !c.levels.is_empty());
                    let temporal = !self.formulas.is_empty();
                    symbolic::refusals(machine, options, temporal, followed, settings.method)
                }
                Engine::Bdd => bdd::refusals(machine),
                Engine::Explicit | Engine::Evaluate | Engine::Reference => Vec::new(),
            };
        }
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Rejected { sources: self.sources.clone(), diagnostics: refused }),
        }
    }

    /// Runs the engine, and follows the abstraction of a refinement.
    pub fn search(&self, options: &CheckOptions, budget: &Budget) -> Result<Explored, Failure> {
        let Question { model, sources, formulas, hints, .. } = self;
        let machine = &model.machine;
        let explore = |options: &CheckOptions, budget: &Budget| -> Result<Explored, Failure> {
            Ok(match options.engine {
                Engine::Reference => judge::reference::explore(machine, options, budget)?,
                Engine::Evaluate => evaluate::explore(machine, sources, options, budget)?,
                Engine::Explicit => {
                    let explored = compiled::explore(machine, sources, options, formulas, budget)?;
                    proof_info::judged(machine, options, explored)?
                }
                Engine::Symbolic(settings) => {
                    symbolic::explore(machine, sources, options, settings, formulas, budget)?
                }
                Engine::Bdd => bdd::explore(machine, sources, options, formulas, hints, budget)?,
            })
        };
        let temporal = !formulas.is_empty();
        let explored = match refinement::first_look(model, options, budget, temporal) {
            None => explore(options, budget)?,
            Some(look) => {
                let first = explore(options, &look)?;
                if !refinement::is_cut(&first) {
                    first
                } else if let Some(followed) =
                    refinement::followed_first(model, sources, options, &look, first)
                {
                    return Ok(followed);
                } else {
                    explore(options, budget)?
                }
            }
        };
        refinement::judge(model, sources, options, budget, explored, temporal, &mut || {
            explore(&CheckOptions { keep_going: true, ..options.clone() }, budget)
        })
    }

    /// What is found may rest on something that stands in for what the model means.
    pub fn enter_stand_ins(&self, explored: &mut Explored) {
        // A machine without operations deadlocks whatever stands in for a function.
        let inevitable = self.model.machine.events.is_empty()
            && explored.violation.as_ref().is_some_and(|v| v.kind == FindingKind::Deadlock.word());
        for d in self.diagnostics.iter().filter(|d| d.approximates) {
            if inevitable {
                explored.ledger.enter(d.message.clone());
            } else {
                explored.ledger.enter_stand_in(d.message.clone());
            }
            // What a formula says of the model cannot be told from a model with a stand-in in it.
            explored.temporal.iter_mut().for_each(|t| t.verdict = "incomplete");
        }
    }

    /// The outcome, with findings explained and a certificate written.
    pub fn tell(
        mut self,
        path: &Path,
        options: &CheckOptions,
        budget: &Budget,
        mut explored: Explored,
        seconds: Seconds,
    ) -> Outcome {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(explored.warnings_of_run(options));
        let followed = self.model.refinement.as_ref().is_some_and(|c| !c.levels.is_empty());
        let reasons = explored.ledger.reasons();
        warnings.extend(advice::advice(&self.model.machine, options, &self.formulas, followed, &reasons));
        let (name, scope) = (self.model.machine.name.to_string(), scope_of(&self.model.machine));
        let always = |text: &str| self.formulas.always(text).cloned();
        options.certificate.keep_trace_of(explored.violation.as_ref());
        let found =
            explain::Found { violation: explored.violation, others: explored.others, joint: explored.joint };
        let explained = explain::findings(path, &mut self.model, &mut self.sources, options, &always, found);
        let mut outcome = Outcome {
            file: path.display().to_string(),
            machine: name,
            scope,
            ledger: explored.ledger,
            violation: explained.violation,
            why: explained.why,
            others: explained.others,
            found: explored.found,
            warnings,
            counts: explored.counts,
            figures: Vec::new(),
            events: explored.events,
            temporal: explored.temporal,
            goal: options.goal.clone(),
            asserts: None,
            digest: explored.digest,
            engine: explored.engine,
            symbolic: explored.symbolic,
            reductions: explored.reductions,
            workers: explored.workers,
            seconds,
            time_shares: explored.time_shares,
            peak_memory_bytes: peak_resident_bytes(),
            machines: explored.machines,
            details: explored.details,
            interrupted: budget.check() == Err(Stop::Interrupted)
                || options.checkpoint.end.load(Ordering::Relaxed),
        };
        match options.certificate.finish(&self.model, &self.sources, options, &outcome) {
            None => {}
            Some(Ok(written)) => outcome.details.push(format!("certificate  {written}")),
            Some(Err(why)) => outcome.warnings.push(format!("no certificate was written: {why}")),
        }
        outcome
    }

    /// A deferred set of which formulas of the user name an element, or show it to a function that sees an order,
    /// while constants were valued as if its elements were interchangeable.
    fn names_an_element(&self, options: &CheckOptions) -> Option<&str> {
        if options.loading.all_constants {
            return None;
        }
        let machine = &self.model.machine;
        let mut apart = Apart::new(machine);
        // The model's own goal was there when its constants were looked at, and cannot name an element by a number.
        machine.goal.iter().filter(|_| options.goal.is_some()).for_each(|goal| visit_pred(goal, &mut apart));
        self.formulas.visit(&mut apart);
        // Elements that are called after a constant are what the model calls them.
        let by_number = |set: &SetDecl, n: usize| *set.elems[n] == format!("{}{}", set.name, n + 1);
        let constant =
            |id: SetId| machine.constants.iter().any(|c| sets_of(machine, &machine.var(*c).ty).contains(&id));
        (0..machine.sets.len() as u32)
            .map(|s| (SetId(s), machine.set(SetId(s))))
            .filter(|(id, set)| {
                let named =
                    apart.named.get(id).is_some_and(|e| e.iter().any(|n| by_number(set, *n as usize)));
                set.kind != SetKind::Enumerated && (named || apart.shown.contains_key(id))
            })
            .find(|(id, set)| constant(*id) || (0..set.elems.len()).any(|n| !by_number(set, n)))
            .map(|(_, set)| &*set.name)
    }
}

pub(super) fn warnings_of(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| match d.labels.first() {
            Some((span, _)) => format!("{}: {}", sources.locate(*span), d.message),
            None => d.message.clone(),
        })
        .collect()
}

/// The goal of the command line takes the place of the model's.
pub(super) fn set_goal(
    model: &mut Model,
    sources: &mut Sources,
    options: &CheckOptions,
) -> Result<(), Rejected> {
    if options.no_goal {
        model.machine.goal = None;
    }
    let Some(text) = &options.goal else { return Ok(()) };
    match model.scope.parse(&mut model.machine, sources, "<goal>", text) {
        Ok(Formula::Pred(p)) => {
            model.machine.goal = Some(p);
            Ok(())
        }
        Ok(Formula::Expr(e)) => {
            let d = Diagnostic::error(e.span, "a goal is a predicate, this is an expression");
            Err(Rejected { sources: sources.clone(), diagnostics: vec![d] })
        }
        Err(diagnostics) => Err(Rejected { sources: sources.clone(), diagnostics }),
    }
}

pub(super) fn scope_of(machine: &Machine) -> Scope {
    let sets = machine
        .sets
        .iter()
        .map(|s| SetSize {
            name: s.name.to_string(),
            size: s.elems.len(),
            origin: (s.kind != SetKind::Enumerated).then(|| origin_word(s.origin)),
        })
        .collect();
    Scope {
        sets,
        maxint: machine.maxint.to_string(),
        minint: machine.minint.to_string(),
        integers: machine.integers_in_scope,
    }
}
