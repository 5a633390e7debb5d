//! A check with the compiled engine and the parallel explorer.
//!
//! Every counterexample is confirmed by the reference interpreter before it is shown: each step must
//! be one of its transitions, and the last state must break what was reported. A trace that is not
//! confirmed is our fault and ends the run as an internal error.

use super::temporal::{self, Formulas};
use super::{CheckOptions, Explored, Failure, checkpoint, cluster, judge, reduction, symmetry};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::cluster::Membership;
use crate::evaluate::{Interpreter, State, Transition};
use crate::explore::{self, Reason, Trace};
use crate::lang::typed::{Machine, OWN, VarId};
use crate::lang::value::Value;
use crate::lang::value::identity::BY_FORM;
use crate::program::native::Wanted;
use crate::program::{self, Program};
use crate::report::{
    Counts, EventCoverage, INITIALISE, Ledger, Reductions, SETUP_CONSTANTS, TimeShares, TraceStep, Violation,
};
use crate::system::{Finding, FindingKind, System};
use std::time::Instant;

/// States of the first look at formulas that may end a search early, and how many times more there are at
/// each later one: few enough looks to cost little, since each is a search of its own.
const FIRST_ROUND: u64 = 20_000;
const GROWTH: u64 = 8;

/// States of a search with relations that were read from the text alone. Refining them takes as long as visiting so
/// many, so it waits until there are more.
const UNREFINED: u64 = 5_000;

pub fn explore(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    formulas: &Formulas,
    budget: &Budget,
) -> Result<Explored, Failure> {
    let started = Instant::now();
    let compiling = program::Options {
        plain: false,
        skip_invariant: options.no_invariant,
        skip_assertions: options.no_assertions,
        strict_guards: options.strict_wd,
        native: if options.no_native { Wanted::Never } else { Wanted::WhenHot },
        observed: formulas.observed(),
        watched: formulas.watched(),
        symmetry: options.symmetry,
        proven: options.proofs.of_states(),
    };
    // What is under way when the time is up is finished if the search is saved then.
    let saved = options.checkpoint.save.is_some();
    let lenient = if saved { budget.lenient() } else { budget.clone() };
    let mut program = match program::compile(machine, &lenient, &compiling) {
        Ok(program) => program,
        Err(stop) => {
            let why = format!("{} while the constants were set up", stop.reason());
            return Ok(nothing(machine, why, options, formulas));
        }
    };
    let mut member =
        match cluster::join(options, formulas, budget, || checkpoint::facts(&program, sources, options))? {
            Some(Ok(member)) => Some(member),
            Some(Err(late)) => return Ok(nothing(machine, late, options, formulas)),
            None => None,
        };
    let mut settled = reduction::settle(&mut program, options, formulas);
    let refines_later = settled.por.is_some()
        && !options.refine_at_once
        && program.can_refine_reduction()
        && !options.checkpoint.is_used()
        && budget.max_states.is_none_or(|most| most > UNREFINED);
    if !refines_later {
        program.refine_reduction();
    }
    let mut setup_seconds = started.elapsed().as_secs_f64();
    let how = explore::Options {
        workers: options.workers,
        order: options.order,
        store: options.store,
        check_deadlock: !options.no_deadlock,
        // Temporal formulas speak of all paths, also of those behind a finding.
        keep_going: options.keep_going || !formulas.is_empty(),
        until_violated: if options.keep_going { 0 } else { formulas.watched().len() as u32 },
        record_edges: formulas.need_graph(),
        keep_states: options.certificate.is_asked(),
        progress: options.progress.clone(),
        por: settled.por,
        peers: member.as_ref().map(Membership::peers),
        ..explore::Options::default()
    };
    // Freezing the graph and checking formulas on it are shared by as many threads as exploring.
    let threads = temporal::threads(formulas, options.workers)?;
    let (keep_going, until_violated) = (how.keep_going, how.until_violated);
    // Formulas whose violations show early are looked at early, when the states have become many times more.
    let rounds = formulas.may_end_early()
        && !options.keep_going
        && how.order == explore::Order::Bfs
        && how.por.is_none()
        && !options.checkpoint.is_used();
    let mut first = None;
    if refines_later {
        let look = explore::Options { pause_beyond: Some(UNREFINED), ..how.clone() };
        let searched = threads.run(|| checkpoint::search(&program, look, budget, sources, options))?;
        if is_over(&searched.outcome, &how) {
            first = Some(searched);
        } else {
            let started = Instant::now();
            program.refine_reduction();
            setup_seconds += started.elapsed().as_secs_f64();
            how.progress.reset();
        }
    }
    let program = program;
    let mut pause = rounds.then_some(FIRST_ROUND);
    let searched = loop {
        if let Some(searched) = first.take() {
            break searched;
        }
        let round = explore::Options { pause_beyond: pause, ..how.clone() };
        let searched = threads.run(|| checkpoint::search(&program, round, budget, sources, options))?;
        let found = &searched.outcome;
        let over = pause.is_none() || found.exhausted || is_limited(found);
        if over || threads.run(|| temporal::all_violated(&program, found, formulas, budget)) {
            break searched;
        }
        pause = pause.map(|most| most * GROWTH);
        how.progress.reset();
    };
    let found = searched.outcome;
    if let Some(member) = &mut member {
        member.leave();
    }
    options.certificate.take_states(&program, &found, options.workers);
    if options.certificate.is_asked() {
        let (claims, left) = formulas.claims(machine);
        options.certificate.take_formulas(claims, left);
    }
    let ended_early = pause.is_some() && !found.exhausted && !is_limited(&found);

    let mut ledger = Ledger::default();
    let mut notes = Vec::new();
    for (reason, _) in &found.reasons {
        let words = match (reason, &found.lost) {
            (Reason::Lost, Some(lost)) => cluster::lost_words(lost, found.depth, options),
            _ => reason.words(&program),
        };
        match reason {
            Reason::System(n) if program.is_note(*n) && formulas.is_empty() => notes.push(words),
            Reason::System(n) if program.is_note(*n) => {
                ledger.enter(format!("{words}; temporal formulas may tell them apart"));
            }
            _ => ledger.enter(words),
        }
    }
    if found.out_of_scope > 0 {
        ledger.enter(format!("SCOPE left {} states without their successors", found.out_of_scope));
    }
    if found.exhausted {
        ledger.finished();
    }
    let por = settled
        .por
        .zip(found.por)
        .map(|(por, figures)| reduction::details(program.relations(), por, &figures));
    if let Some((_, notes)) = &por {
        settled.notes.extend(notes.iter().cloned());
    }
    let mut findings = Vec::new();
    let told = |v: &explore::Violation| v.trace.is_some() || options.keep_going && v.state.is_none();
    let shown = found.findings.iter().enumerate().filter(|(i, v)| *i == 0 || told(v));
    for (_, v) in shown {
        let more = violation(&program, formulas, options, &v.finding, v.trace.as_ref())?;
        // Under a symmetry, findings that differ by the names of elements may show as one.
        let same = |v: &Violation| {
            (&v.kind, &v.property, &v.explanation) == (&more.kind, &more.property, &more.explanation)
        };
        if !findings.iter().any(same) {
            findings.push(more);
        }
    }
    let mut findings = findings.into_iter();
    let mut violation = findings.next();
    let mut others: Vec<Violation> = findings.collect();
    let mut counts: Vec<u64> = FindingKind::ALL.iter().map(|k| found.counts.of(*k)).collect();
    if violation.is_some() && !keep_going {
        ledger.enter("the search stopped at the first finding");
    } else {
        let late = program.late_assertions(keep_going, budget);
        late.reasons.iter().for_each(|n| ledger.enter(program.reason(*n)));
        late.stop.iter().for_each(|stop| ledger.enter(stop.reason()));
        late.kinds.iter().for_each(|kind| counts[*kind as usize] += 1);
        for finding in &late.findings {
            others.push(self::violation(&program, formulas, options, finding, None)?);
        }
        if violation.is_none() && !others.is_empty() {
            violation = Some(others.remove(0));
        }
    }
    if ended_early || until_violated > 0 && found.violated.count_ones() >= until_violated && !found.exhausted
    {
        ledger.enter("the search stopped when every formula was violated");
    }
    let checking = Instant::now();
    let checked = threads
        .run(|| temporal::check(&program, &found, formulas, &mut ledger, (budget, &options.certificate)))?;
    let temporal_seconds = checking.elapsed().as_secs_f64();
    violation = violation.or(checked.violation);
    if checked.chance > 0.0 {
        notes.push(format!(
            "parameters that do not fit into a word were told apart by hashes: two were equal by chance with \
             probability below {:.1e}",
            checked.chance
        ));
    }
    notes.extend(program.tells_sets_apart_by_form().then(|| BY_FORM.to_string()));
    let constants = program.constant_valuations() as u64;
    // ProB has a step that sets constants up as soon as there is a constant or a property.
    let setups = if machine.has_setup() { program.valuations() as u64 } else { 0 };
    let mut details = vec![
        format!("memory       {:.1} bytes per state in the visited set", found.bytes_per_state()),
        format!(
            "time shares  evaluate {:.2} s, visited set {:.2} s, stealing {:.2} s, idle {:.2} s",
            found.shares.evaluate.as_secs_f64(),
            found.shares.insert.as_secs_f64(),
            found.shares.steal.as_secs_f64(),
            found.shares.idle.as_secs_f64()
        ),
        format!("value pool   {} values", program.pooled()),
        match program.native_bytes() {
            0 => "machine code none".into(),
            bytes => format!("machine code {bytes} bytes"),
        },
    ];
    details.extend(searched.details);
    details.extend(program.layout_text().lines().map(|l| format!("layout       {l}")));
    details.extend(program.uncompiled().iter().map(|l| format!("interpreted  {l}")));
    Ok(Explored {
        engine: "explicit",
        workers: options.workers,
        ledger,
        violation,
        others,
        found: FindingKind::ALL
            .iter()
            .filter(|k| k.is_of_b() && **k != FindingKind::Ltl)
            .map(|k| (k.word().to_string(), counts[*k as usize]))
            .collect(),
        counts: Counts {
            states: found.states,
            transitions: found.transitions,
            constants,
            initial: found.initial,
            depth: u64::from(found.depth.unwrap_or(0)),
            prob_states: found.states + setups,
            prob_transitions: found.transitions + found.initial_transitions + setups,
        },
        events: program
            .event_names()
            .iter()
            .zip(&found.events)
            .map(|(name, c)| EventCoverage {
                name: name.clone(),
                states: c.states,
                transitions: c.transitions,
            })
            .collect(),
        undefined_guards: found.undefined_guards.clone(),
        notes,
        digest: format!("{:032x}-{}", found.digest, found.states),
        reductions: Reductions {
            store: match options.store {
                explore::Store::Exact => "exact",
                explore::Store::Hash => "hash",
            },
            collision_bound: found.collision_bound
                + symmetry::collision_bound(&program, found.states)
                + checked.chance,
            symmetry: symmetry::grade(&program, &found),
            symmetric_sets: program.symmetric_sets(),
            por: if por.is_some() { "on" } else { "off" },
            por_details: por.map(|(details, _)| details),
            bdd: None,
            proven: None,
            notes: settled.notes,
        },
        setup_seconds,
        time_shares: Some(shares(&found.shares)),
        temporal: checked.verdicts,
        temporal_seconds,
        warnings: searched.warnings,
        details,
        symbolic: None,
        machines: cluster::shares(&found),
    })
}

/// How the compiled engine keeps a machine's states: layout of each variable, bits per state, and
/// which events and conjuncts are left to the interpreter.
pub fn layouts(machine: &Machine, budget: &Budget) -> Vec<String> {
    match program::compile(machine, budget, &program::Options::default()) {
        Ok(mut program) => {
            let mut lines: Vec<String> =
                program.layout_text().lines().map(|l| format!("layout      {l}")).collect();
            lines.extend(program.uncompiled().iter().map(|l| format!("interpreted {l}")));
            lines.extend(program::symmetry::describe(machine).iter().map(|l| format!("symmetry    {l}")));
            lines.extend(super::bdd::advice(&mut program));
            lines
        }
        Err(stop) => vec![format!("layout      unknown: {} while the constants were set up", stop.reason())],
    }
}

/// The register code of events and conjuncts, for the first valuation of the constants.
pub fn code(machine: &Machine, budget: &Budget) -> String {
    match program::compile(machine, budget, &program::Options::default()) {
        Ok(program) => program.code_text(),
        Err(stop) => format!("code        unknown: {} while the constants were set up", stop.reason()),
    }
}

/// How relations are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relate {
    Matrices,
    Dot,
}

/// The relations between the instances of events that partial order reduction uses when everything is
/// checked.
pub fn relations(machine: &Machine, budget: &Budget, how: Relate) -> String {
    let mut program = match program::compile(machine, budget, &program::Options::default()) {
        Ok(program) => program,
        Err(stop) => {
            return format!("relations   unknown: {} while the constants were set up", stop.reason());
        }
    };
    program.prepare_reduction(&program::Wanted {
        invariant: true,
        assertions: true,
        goal: machine.goal.is_some(),
        ..program::Wanted::default()
    });
    program.refine_reduction();
    match (program.reduction(), how) {
        (None, _) => "relations   unknown: there is no valuation of the constants".into(),
        (Some(r), Relate::Matrices) => program::relation_text::text(r),
        (Some(r), Relate::Dot) => program::relation_text::dot(r),
    }
}

pub(super) fn shares(s: &explore::Shares) -> TimeShares {
    let all = (s.evaluate + s.insert + s.steal + s.idle).as_secs_f64().max(f64::MIN_POSITIVE);
    TimeShares {
        evaluate: s.evaluate.as_secs_f64() / all,
        insert: s.insert.as_secs_f64() / all,
        steal: s.steal.as_secs_f64() / all,
        idle: s.idle.as_secs_f64() / all,
    }
}

/// The outcome when the search could not begin: constants could not be set up in time, or a machine did not come.
pub(super) fn nothing(
    machine: &Machine,
    reason: String,
    options: &CheckOptions,
    formulas: &Formulas,
) -> Explored {
    let mut ledger = Ledger::default();
    ledger.enter(reason);
    Explored {
        engine: "explicit",
        workers: options.workers,
        ledger,
        violation: None,
        others: Vec::new(),
        found: Default::default(),
        counts: Counts::default(),
        events: machine
            .events
            .iter()
            .map(|op| EventCoverage { name: machine.op(*op).name.to_string(), states: 0, transitions: 0 })
            .collect(),
        undefined_guards: Vec::new(),
        notes: Vec::new(),
        digest: String::new(),
        reductions: Reductions::default(),
        setup_seconds: 0.0,
        time_shares: None,
        temporal: formulas.undecided(),
        temporal_seconds: 0.0,
        warnings: Vec::new(),
        details: Vec::new(),
        symbolic: None,
        machines: Vec::new(),
    }
}

/// Whether a search that may have paused has told all it can tell. With fewer states to visit another one may
/// stay below the limit of states.
fn is_over(found: &explore::Outcome, how: &explore::Options) -> bool {
    let limited = |reason: &Reason| !matches!(reason, Reason::System(_) | Reason::Orbits | Reason::States(_));
    let told = !how.keep_going && !found.findings.is_empty()
        || how.until_violated > 0 && found.violated.count_ones() >= how.until_violated;
    found.exhausted || told || found.reasons.iter().any(|(reason, _)| limited(reason))
}

/// Whether a limit ended the search.
fn is_limited(found: &explore::Outcome) -> bool {
    found.reasons.iter().any(|(reason, _)| !matches!(reason, Reason::System(_) | Reason::Orbits))
}

/// The finding with its trace, confirmed.
pub(super) fn violation(
    program: &Program,
    formulas: &Formulas,
    options: &CheckOptions,
    finding: &Finding,
    trace: Option<&Trace>,
) -> Result<Violation, String> {
    let machine = program.machine();
    let interpreter = Interpreter::new(machine, &Budget::unlimited());
    let mut steps = Vec::new();
    let confirmed_by;
    let mut explanation = Vec::new();
    if let Some(event) = finding.event {
        explanation.push(format!("while computing {}", program.event_names()[event.0 as usize]));
    }
    let start = match trace {
        None => start_that_shows(program, finding),
        Some(_) => None,
    };
    let claim = judge::Finding {
        kind: finding.kind,
        property: Some(finding.property as usize),
        event: finding.event.map(|e| e.0 as usize),
        broken: (finding.kind == FindingKind::Ltl).then(|| formulas.broken(finding.property)).flatten(),
        strict_guards: options.strict_wd,
    };
    let property = match finding.kind {
        FindingKind::Ltl => formulas.text(finding.property),
        _ => program.property(finding),
    };
    let take = |path: &[judge::Stop]| {
        if !options.certificate.is_asked() {
            return;
        }
        let json = match finding.kind {
            FindingKind::Ltl => formulas.broken_path(finding.property, machine, path),
            _ => judge::finding_json(machine, path, &claim),
        };
        options.certificate.take_trace(finding.kind.word(), &property, json);
    };
    if let Some(trace) = trace.or(start.as_ref()) {
        let states: Vec<State> = trace.iter().map(|s| program.values(&s.state)).collect();
        let walk = confirmed_steps(program, &interpreter, trace, &states)?;
        confirmed_by = Some(judge::confirm(machine, &walk.path(&states), &claim)?);
        take(&walk.path(&states));
        steps = walk.steps;
        if let Some(last) = states.last() {
            if finding.kind == FindingKind::Ltl {
                formulas.confirm(finding.property, &interpreter, last)?;
                explanation.push(temporal::OPEN.into());
            }
            confirm_finding(&interpreter, finding, last)?;
        }
    } else {
        confirmed_by = Some(judge::confirm(machine, &[], &claim)?);
        take(&[]);
    }
    Ok(Violation {
        kind: finding.kind.word().to_string(),
        property,
        explanation,
        trace: steps,
        loop_start: None,
        confirmed_by,
    })
}

/// The state that shows what is wrong with constants alone, as a trace.
fn start_that_shows(program: &Program, finding: &Finding) -> Option<Trace> {
    let state = program.pack(&program.shown_by_constants(finding)?)?;
    Some(vec![explore::Step { event: None, label: 0, state }])
}

/// A path as the evaluator walked it.
pub(super) struct Walk {
    /// The steps as users read them; the set-up of the constants is a step of its own.
    pub steps: Vec<TraceStep>,
    /// For each state of the path the transition that led there.
    taken: Vec<Option<Transition>>,
}

impl Walk {
    /// The path as the judge reads it.
    pub fn path<'a>(&'a self, states: &'a [State]) -> Vec<judge::Stop<'a>> {
        let stop = |(by, state): (&'a Option<Transition>, &'a State)| judge::Stop { by: by.as_ref(), state };
        self.taken.iter().zip(states).map(stop).collect()
    }
}

/// The steps as the evaluator makes them; an error if it cannot.
pub(super) fn confirmed_steps(
    program: &Program,
    interpreter: &Interpreter,
    trace: &Trace,
    states: &[State],
) -> Result<Walk, String> {
    let machine = interpreter.machine();
    let named = |vars: &[VarId], values: &[Value]| -> Vec<(String, String)> {
        vars.iter()
            .zip(values)
            .filter(|(v, _)| !machine.var(**v).name.starts_with(OWN))
            .map(|(v, x)| (machine.var(*v).name.to_string(), x.show(machine, &machine.var(*v).ty)))
            .collect()
    };
    let mut steps = Vec::new();
    let mut taken = Vec::new();
    for (i, (step, state)) in trace.iter().zip(states).enumerate() {
        let shown = named(&machine.variables, &state.variables);
        let Some(event) = step.event else {
            let state_of_constants = named(&machine.constants, &state.constants);
            if !state_of_constants.is_empty() {
                let state = state_of_constants;
                steps.push(TraceStep { event: SETUP_CONSTANTS.into(), state, ..TraceStep::default() });
            }
            let initial = interpreter.initial_states(&state.constants).map_err(|e| e.to_string())?;
            if !initial.values.contains(state) {
                return Err("the first state of a trace is not an initial state of the interpreter".into());
            }
            steps.push(TraceStep { event: INITIALISE.into(), state: shown, ..TraceStep::default() });
            taken.push(None);
            continue;
        };
        let from = states[i - 1].clone();
        let possible = interpreter.steps_of(&from, event.0 as usize).map_err(|e| e.to_string())?;
        let op = machine.op(machine.events[event.0 as usize]);
        // Several choices of arguments may lead to one state; the label says which one was made.
        let same: Vec<_> = possible.transitions.iter().filter(|t| t.target == *state).collect();
        let chosen = same.iter().find(|t| program.label(event, &t.params, &t.results) == step.label);
        let Some(t) = chosen.or(same.first()) else {
            return Err(format!("step {i} of a trace, {}, is not a transition of the interpreter", op.name));
        };
        steps.push(TraceStep {
            event: op.name.to_string(),
            params: named(&op.params, &t.params),
            results: named(&op.results, &t.results),
            state: shown,
        });
        taken.push(Some((*t).clone()));
    }
    Ok(Walk { steps, taken })
}

/// The interpreter must see the same fault in the last state.
pub(super) fn confirm_finding(
    interpreter: &Interpreter,
    finding: &Finding,
    state: &State,
) -> Result<(), String> {
    let machine = interpreter.machine();
    let is_false = |clause: Option<&crate::lang::typed::Clause>| {
        clause.is_some_and(|c| interpreter.eval_pred(&c.pred, Some(state)).is_ok_and(|holds| !holds))
    };
    let confirmed = match finding.kind {
        FindingKind::Invariant => is_false(machine.invariant.get(finding.property as usize)),
        FindingKind::Deadlock => interpreter
            .transitions(state)
            .is_ok_and(|s| s.transitions.is_empty() && s.errors.is_empty() && s.incomplete.is_empty()),
        FindingKind::Goal => machine
            .goal
            .as_ref()
            .is_some_and(|g| interpreter.eval_pred(g, Some(state)).is_ok_and(|holds| holds)),
        // Errors of evaluation come from the interpreter itself, formulas are confirmed by those who know them.
        FindingKind::Ltl
        | FindingKind::Assertion
        | FindingKind::WellDefinedness
        | FindingKind::Precondition
        | FindingKind::Properties
        | FindingKind::Refinement
        | FindingKind::Variant => true,
        // No machine of B has these.
        FindingKind::Divergence | FindingKind::Error => false,
    };
    if confirmed {
        Ok(())
    } else {
        Err(format!("the interpreter does not confirm a finding of kind {}", finding.kind.word()))
    }
}
