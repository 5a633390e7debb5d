//! A check on sets of states: the compiled model, learned into decision diagrams.
//!
//! In: a machine, hints and generators. Out: what the search on sets found, in the words of the model. Every
//! counterexample is a path of real states and is confirmed as those of the explorer are.
//! Never here: diagrams.

mod generators;

use super::temporal::{self, Claims, Formulas};
use super::{CheckOptions, Explored, Failure, Rejected, compiled};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::text::{many, one_line};
use crate::bdd::{self, Reason, Symmetry};
use crate::explore;
use crate::lang::typed::{Machine, Pred};
use crate::lang::value::identity::BY_FORM;
use crate::model::{Formula, Model};
use crate::program::native::Tier;
use crate::program::{self, Program, footprints};
use crate::report::{BddDetails, Counts, EventCoverage, Ledger, Reductions};
use crate::system::{FindingKind, System};
use dashu_int::UBig;
use std::time::Instant;

/// What the command line says about a search on sets.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub symmetry: Symmetry,
    /// A file of permutations that the user claims to be symmetries: its name and its text.
    pub generators: Option<(String, String)>,
    /// Predicates that say which states go first.
    pub hints: Vec<String>,
    /// Nodes of all diagrams; none for the default.
    pub nodes: Option<usize>,
    pub sigma_rounds: Option<u64>,
    /// How temporal formulas are decided with a symmetry.
    pub liveness: bdd::Liveness,
}

/// Why a model or an option is not for this engine.
pub fn refusals(machine: &Machine) -> Vec<Diagnostic> {
    let scope = machine.scope.as_ref().map(|p| {
        Diagnostic::error(p.span, "--engine bdd: the search on sets expands every state, it knows no SCOPE")
            .help("use --engine explicit")
    });
    scope.into_iter().collect()
}

/// The hints of the command line, then those of the model: definitions `HINT`, `HINT1`, `HINT2` in their order.
pub fn read_hints(
    model: &mut Model,
    sources: &mut Sources,
    options: &CheckOptions,
) -> Result<Vec<Pred>, Rejected> {
    let number = |name: &str| match name.strip_prefix("HINT")? {
        "" => Some(0),
        digits => digits.parse::<u32>().ok(),
    };
    let mut named: Vec<(u32, String)> =
        model.scope.definitions().filter_map(|name| Some((number(name)?, name.to_string()))).collect();
    named.sort();
    let given = options.bdd.hints.iter().cloned();
    let mut hints = Vec::new();
    let mut faults = Vec::new();
    for text in given.chain(named.into_iter().map(|(_, name)| name)) {
        match model.scope.parse(&mut model.machine, sources, "<hint>", &text) {
            Ok(Formula::Pred(p)) => hints.push(p),
            Ok(Formula::Expr(e)) => {
                faults.push(Diagnostic::error(e.span, "a hint is a predicate, this is an expression"));
            }
            Err(mut diagnostics) => faults.append(&mut diagnostics),
        }
    }
    if faults.is_empty() {
        Ok(hints)
    } else {
        Err(Rejected { sources: sources.clone(), diagnostics: faults })
    }
}

/// Searches on sets. Where values lie outside the ranges that the invariant promises, it begins once more with a place
/// for every value.
pub fn explore(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    formulas: &Formulas,
    hints: &[Pred],
    budget: &Budget,
) -> Result<Explored, Failure> {
    let attempt = Attempt { machine, sources, options, formulas, hints, budget };
    match attempt.run(false)? {
        (_, true) => attempt.run(true).map(|done| done.0),
        (explored, false) => Ok(explored),
    }
}

/// What a search on sets is about.
struct Attempt<'a> {
    machine: &'a Machine,
    sources: &'a Sources,
    options: &'a CheckOptions,
    formulas: &'a Formulas,
    hints: &'a [Pred],
    budget: &'a Budget,
}

impl<'a> Attempt<'a> {
    fn compiled(&self, every_value: bool) -> Result<Program<'a>, crate::base::budget::Stop> {
        let options = self.options;
        let compiling = program::Options {
            skip_invariant: options.no_invariant,
            skip_assertions: options.no_assertions,
            strict_guards: options.strict_wd,
            native: if options.no_native { Tier::Never } else { Tier::WhenHot },
            observed: self.formulas.observed().into_iter().chain(self.hints.iter().cloned()).collect(),
            every_value,
            ..program::Options::default()
        };
        program::compile(self.machine, self.budget, &compiling)
    }

    /// One search, and whether states were left out whose values have no place.
    fn run(&self, every_value: bool) -> Result<(Explored, bool), Failure> {
        let Attempt { machine, sources, options, formulas, hints, budget } = *self;
        let started = Instant::now();
        let mut program = match self.compiled(every_value) {
            Ok(program) => program,
            Err(stop) => {
                let why = format!("{} while the constants were set up", stop.reason());
                return Ok((named(compiled::nothing(machine, why, options, formulas)), false));
            }
        };
        let asked = &options.bdd;
        let rejected = |diagnostics| Rejected { sources: sources.clone(), diagnostics };
        let early = Claims::ground(formulas, machine, budget).map_err(rejected)?;
        let wanted = footprints::SetQuestions {
            invariant: !options.no_invariant,
            assertions: !options.no_assertions,
            goal: machine.goal.is_some(),
            hints: hints.len(),
            propositions: early.propositions.clone(),
            symmetry: asked.symmetry != Symmetry::Off,
        };
        if !program.prepare_footprints(&wanted) {
            let mut explored = compiled::explore(machine, sources, options, formulas, budget)?;
            if program.is_without_valuations() {
                // What was found is a matter of the constants: no engine had a state to explore.
                return Ok((named(explored), false));
            }
            let why = "there is nothing to put into diagrams; the explicit engine was used";
            explored.warnings.push(why.into());
            return Ok((explored, false));
        }
        let mut exchanges = program.footprints().map(|f| f.exchanges.clone()).unwrap_or_default();
        if let Some((name, text)) = &asked.generators {
            exchanges.extend(generators::read(&program, sources, name, text)?);
        }
        let claims = early.settle(&program, formulas).map_err(rejected)?;
        let search = bdd::Options {
            nodes: asked.nodes.unwrap_or(bdd::NODES),
            workers: options.workers,
            check_deadlock: !options.no_deadlock,
            // Temporal formulas speak of all paths, also of those behind a finding.
            keep_going: options.keep_going || !claims.is_empty(),
            max_states: budget.max_states,
            symmetry: asked.symmetry,
            exchanges,
            sigma_rounds: asked.sigma_rounds,
            liveness: asked.liveness,
            claims,
        };
        let setup_seconds = started.elapsed().as_secs_f64();
        let found = bdd::explore(&program, &search, budget)?;
        let final_finding = found.found.is_some() && !search.keep_going;
        if !every_value && !final_finding && found.reasons.contains(&Reason::Escaped) {
            return Ok((Explored::default(), true));
        }
        let concluding = Concluding { program: &program, options, formulas, budget };
        let explored = concluding.conclude(&found, &search)?;
        Ok((Explored { setup_seconds, ..explored }, false))
    }
}

fn named(explored: Explored) -> Explored {
    Explored { engine: "bdd", ..explored }
}

/// What is needed to word an outcome.
struct Concluding<'c, 'm> {
    program: &'c Program<'m>,
    options: &'c CheckOptions,
    formulas: &'c Formulas,
    budget: &'c Budget,
}

impl Concluding<'_, '_> {
    fn conclude(&self, found: &bdd::Outcome, search: &bdd::Options) -> Result<Explored, Failure> {
        let (program, options) = (self.program, self.options);
        let machine = program.machine();
        let mut ledger = Ledger::default();
        let mut notes = Vec::new();
        for reason in &found.reasons {
            match reason {
                Reason::System(n) if program.is_note(*n) => notes.push(program.reason(*n)),
                _ => ledger.enter(self.words(reason)),
            }
        }
        if found.exhausted {
            ledger.finished();
        }
        let mut counts: Vec<u64> =
            FindingKind::ALL.iter().map(|k| found.counts.get(k).map_or(0, small)).collect();
        let mut violation = match &found.found {
            None => None,
            Some(shown) => {
                let trace = shown.path.as_ref().map(|path| path.iter().map(step).collect());
                Some(self.violation(&shown.finding, trace.as_ref())?)
            }
        };
        if violation.is_some() && !search.keep_going {
            ledger.enter("the search stopped at the first finding");
        } else {
            let late = program.late_assertions(search.keep_going, self.budget);
            late.reasons.iter().for_each(|n| ledger.enter(program.reason(*n)));
            late.stop.iter().for_each(|stop| ledger.enter(stop.reason()));
            late.kinds.iter().for_each(|kind| counts[*kind as usize] += 1);
            if let (None, Some(finding)) = (&violation, late.findings.first()) {
                violation = Some(self.violation(finding, None)?);
            }
        }
        let started = Instant::now();
        let threads = temporal::threads_if(!search.claims.is_empty(), options.workers)?;
        let checked = threads.run(|| {
            let words = |reason: &Reason| self.words(reason);
            let own = (self.formulas, &options.certificate);
            temporal::decided_by_sets(program, own.0, &found.decided, words, &mut ledger, own.1)
        })?;
        let temporal_seconds = started.elapsed().as_secs_f64();
        let mut all = violation.into_iter().chain(checked.violations);
        let (violation, others) = (all.next(), all.collect());
        notes.extend(program.tells_sets_apart_by_form().then(|| BY_FORM.to_string()));
        let mut warnings: Vec<String> = program.footprints().map(|f| f.notes.clone()).unwrap_or_default();
        for event in &found.undefined {
            warnings.push(format!(
                "the guard of {} was undefined in some states and counted as false there (--strict-wd reports it)",
                program.event_names()[event.0 as usize]
            ));
        }
        let symmetric = search.symmetry != Symmetry::Off && !search.exchanges.is_empty();
        if search.symmetry != Symmetry::Off && !symmetric {
            warnings.push("no set is symmetric, so --symmetry has no effect (bombus info says why)".into());
        }
        let mut sets: Vec<String> = search.exchanges.iter().map(|e| e.set.clone()).collect();
        sets.dedup();
        Ok(Explored {
            engine: "bdd",
            workers: options.workers,
            ledger,
            violation,
            others,
            found: FindingKind::ALL
                .iter()
                .filter(|k| k.is_of_b() && **k != FindingKind::Ltl)
                .map(|k| (k.word().to_string(), counts[*k as usize]))
                .collect(),
            counts: self.counts(found),
            events: machine
                .events
                .iter()
                .zip(&found.events)
                .map(|(op, c)| EventCoverage {
                    name: machine.op(*op).name.to_string(),
                    states: small(&c.states),
                    transitions: small(c.transitions.as_ref().unwrap_or(&c.states)),
                })
                .collect(),
            notes,
            reductions: Reductions {
                bdd: Some(details(found, search, symmetric)),
                symmetric_sets: if symmetric { sets } else { Vec::new() },
                ..Reductions::default()
            },
            temporal: checked.verdicts,
            temporal_seconds,
            warnings,
            details: self.lines(found),
            ..Explored::default()
        })
    }

    fn violation(
        &self,
        finding: &crate::system::Finding,
        trace: Option<&explore::Trace>,
    ) -> Result<crate::report::Violation, String> {
        compiled::violation(self.program, self.formulas, self.options, finding, trace)
    }

    fn counts(&self, found: &bdd::Outcome) -> Counts {
        let program = self.program;
        let setups = if program.machine().has_setup() { program.valuations() as u64 } else { 0 };
        let states = small(found.states.as_ref().unwrap_or(&found.kept));
        let transitions = found.transitions.as_ref().map_or(0, small);
        let initial = small(&found.initial);
        Counts {
            states,
            transitions,
            constants: program.constant_valuations() as u64,
            initial,
            depth: 0,
            prob_states: states.saturating_add(setups),
            prob_transitions: transitions.saturating_add(initial).saturating_add(setups),
        }
    }

    fn words(&self, reason: &Reason) -> String {
        match reason {
            Reason::System(n) => self.program.reason(*n),
            Reason::Nodes(n) => format!("the {n} nodes of the diagrams do not suffice (--nodes gives more)"),
            Reason::Stop(why) => (*why).into(),
            Reason::States(n) => format!("the limit of {n} states was reached"),
            Reason::Escaped => {
                "states were left out whose values have no place in the bits of a state; --engine explicit keeps them"
                    .into()
            }
            Reason::Unproved(which) => format!("not proved to be a symmetry: {which}"),
            Reason::Undecided => {
                "states that may be deadlocks are too many to look at one by one; --engine explicit does".into()
            }
            Reason::PathLost => {
                "something was found, but the nodes of the diagrams do not suffice to show a path to it".into()
            }
        }
    }

    fn lines(&self, found: &bdd::Outcome) -> Vec<String> {
        let f = &found.figures;
        let xi = (f.nodes_of_xi > 0).then(|| format!("xi           {} nodes", f.nodes_of_xi));
        let lines = vec![
            format!(
                "diagrams     {} variables for a state, {} with copies, {}; {} instances of events",
                f.variables, f.all_variables, f.arrangement, f.instances
            ),
            format!(
                "nodes        {} for the states, {} for the relations, {} expanded in {} rounds, {} in use at the end",
                f.nodes_of_states, f.nodes_of_relations, f.nodes_expanded, f.rounds, f.nodes
            ),
            format!(
                "learned      from {} steps and {} looks at conditions",
                f.steps_taken, f.conditions_asked
            ),
        ];
        lines.into_iter().chain(xi).collect()
    }
}

fn details(found: &bdd::Outcome, search: &bdd::Options, symmetric: bool) -> BddDetails {
    let f = &found.figures;
    BddDetails {
        states: found.states.as_ref().map(UBig::to_string),
        transitions: found.transitions.as_ref().map(UBig::to_string),
        initial: found.initial.to_string(),
        representatives: symmetric.then(|| found.kept.to_string()),
        events: found
            .events
            .iter()
            .map(|c| (c.states.to_string(), c.transitions.as_ref().map(UBig::to_string)))
            .collect(),
        symmetry: match search.symmetry {
            _ if !symmetric => "off",
            Symmetry::Off => "off",
            Symmetry::Generators => "generators",
            Symmetry::Orbits => "orbits",
        },
        variables: u64::from(f.variables),
        arrangement: f.arrangement,
        instances: f.instances as u64,
        exchanges: f.exchanges as u64,
        hints: f.hints as u64,
        rounds: f.rounds,
        nodes_of_states: f.nodes_of_states as u64,
        nodes_of_relations: f.nodes_of_relations as u64,
        nodes_expanded: f.nodes_expanded,
        steps_taken: f.steps_taken,
        conditions_asked: f.conditions_asked,
    }
}

fn step(s: &bdd::PathStep) -> explore::Step {
    explore::Step { event: s.event, label: s.label, state: s.state.clone() }
}

/// The number, or the largest that fits a word.
fn small(n: &UBig) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Bits that a step may read where learning its relation is still quick.
const FEW_BITS: u32 = 20;
/// States of so few bits are not worth a choice.
const SMALL: u32 = 8;

/// Whether sets of states suit a model, and why, for `bombus info`.
pub fn advice(program: &mut Program) -> Vec<String> {
    let wanted = footprints::SetQuestions {
        invariant: true,
        assertions: true,
        goal: true,
        symmetry: true,
        ..footprints::SetQuestions::default()
    };
    if !program.prepare_footprints(&wanted) {
        return Vec::new();
    }
    let Some(known) = program.footprints() else { return Vec::new() };
    let bits: u32 = known.fields.iter().map(|f| u32::from(f.width)).sum();
    let width = |mask: &[u64]| mask.iter().map(|w| w.count_ones()).sum::<u32>();
    let steps = known.instances.iter().map(|i| (width(&i.reads), &program.event_names()[i.event.0 as usize]));
    let conditions = known.conditions.iter().flat_map(|c| {
        let name = c.finding.as_ref().map_or_else(String::new, |f| program.property(f));
        c.parts.iter().map(move |p| (width(&p.reads), name.clone()))
    });
    let (most, event) = steps.max().map_or((0, ""), |(n, name)| (n, name.as_str()));
    let (widest, condition) = conditions.max().unwrap_or_default();
    let instances = known.instances.len();
    // A step that reads every bit is learned state by state, which is exploration by a longer way.
    let local = most < bits || bits <= SMALL;
    let mut lines = vec![match (most <= FEW_BITS && local, widest <= FEW_BITS) {
        (true, true) => format!(
            "engine      bdd suits: each of {instances} steps reads at most {most} of {bits} bits, each condition at most \
             {widest}"
        ),
        (false, _) => format!(
            "engine      explicit suits better than bdd: {event} reads {most} of {bits} bits at once, and each of their \
             values that occurs has to be learned"
        ),
        (true, false) => format!(
            "engine      bdd suits the steps, each reads at most {most} of {bits} bits, but a condition reads {widest}: {}",
            one_line(&condition)
        ),
    }];
    let (read, written) = known
        .instances
        .iter()
        .fold((0, 0), |(read, written), i| (read + width(&i.reads), written + width(&i.writes)));
    let values: f64 = known.instances.iter().map(|i| f64::from(width(&i.reads)).exp2()).sum();
    lines.push(format!(
        "engine      bdd: the relations of {instances} steps have {read} read and {written} written bits; at most {} \
         values of these are learned",
        if values < 1e9 { format!("{values:.0}") } else { format!("{values:.0e}") }
    ));
    if !known.exchanges.is_empty() {
        lines.push(format!(
            "engine      bdd: the symmetry is generated by {} of elements (--symmetry generators, orbits)",
            many(known.exchanges.len() as u64, "exchange")
        ));
    }
    lines
}
