//! A check with the compiled engine and the parallel explorer: prepare, search, confirm, decide, tell.
//!
//! In: a machine, options, formulas. Out: what was found, in the words of the model.
//! Never here: other engines, the words of a report.
//!
//! Every counterexample is confirmed by the evaluator and by the oracle before it is shown (`confirm`). A trace that
//! is not confirmed is our fault and ends the run as an internal error.

mod confirm;

pub(super) use confirm::{confirm_finding, confirmed_steps, violation, walk_again};

use super::reduction::{self, Settled};
use super::temporal::{self, Checked, Formulas, Threads};
use super::{CheckOptions, Explored, Failure, checkpoint, cluster, symmetry};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::cluster::Membership;
use crate::explore::{self, Reason};
use crate::lang::typed::Machine;
use crate::lang::value::identity::BY_FORM;
use crate::program::native::Tier;
use crate::program::{self, Program};
use crate::report::{Counts, EventCoverage, Ledger, Reductions, TimeShares, Violation};
use crate::system::{FindingKind, System};
use std::sync::Arc;
use std::time::Instant;

/// States of the first look at formulas that may end a search early, and how many times more there are at
/// each later one: few enough looks to cost little, since each is a search of its own.
const FIRST_ROUND: u64 = 20_000;
const GROWTH: u64 = 8;

/// States of a search with relations that were read from the text alone. Refining them takes as long as visiting so
/// many, so it waits until there are more.
const UNREFINED: u64 = 5_000;

/// What a run is asked.
struct Run<'a> {
    machine: &'a Machine,
    sources: &'a Sources,
    options: &'a CheckOptions,
    formulas: &'a Formulas,
    budget: &'a Budget,
}

/// A program that is ready to be searched.
struct Prepared<'a> {
    program: Program<'a>,
    /// The seat among several machines.
    member: Option<Membership>,
    settled: Settled,
    /// Whether relations are refined only when the search turns out to be long.
    refines_later: bool,
    seconds: f64,
}

impl Prepared<'_> {
    /// Chooses a layout in which what escaped has a place; false if there is none, or no time to make it.
    fn make_room(&mut self) -> bool {
        let started = Instant::now();
        let made = self.program.with_more_room();
        self.seconds += started.elapsed().as_secs_f64();
        match made {
            Ok(Some(program)) => {
                self.program = program;
                true
            }
            Ok(None) | Err(_) => false,
        }
    }
}

/// What a search left behind.
struct Seen {
    found: explore::Outcome,
    warnings: Vec<String>,
    details: Vec<String>,
    /// The formulas were all violated before all states were seen.
    ended_early: bool,
}

/// What is said of the states themselves, confirmed.
struct Judged {
    ledger: Ledger,
    /// What the counts leave out without a doubt about the states.
    notes: Vec<String>,
    violation: Option<Violation>,
    others: Vec<Violation>,
    /// By the number of their kind.
    counts: Vec<u64>,
}

pub fn explore(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    formulas: &Formulas,
    budget: &Budget,
) -> Result<Explored, Failure> {
    let run = Run { machine, sources, options, formulas, budget };
    let mut prepared = match run.prepare()? {
        Ok(prepared) => prepared,
        Err(why) => return Ok(nothing(machine, why, options, formulas)),
    };
    // Freezing the graph and checking formulas on it are shared by as many threads as exploring.
    let threads = temporal::threads(formulas, options.workers)?;
    let how = run.how(&prepared);
    let seen = run.search(&mut prepared, &how, &threads)?;
    let mut judged = run.judge(&prepared.program, &seen, &how)?;
    let deciding = Instant::now();
    let decide = |ledger: &mut Ledger| {
        let with = (budget, &options.certificate);
        threads.run(|| temporal::check(&prepared.program, &seen.found, formulas, ledger, with))
    };
    let checked = match &prepared.member {
        // A search that did not end together leaves nothing to agree upon.
        Some(member) if formulas.need_graph() && !seen.found.machines.is_empty() => {
            cluster::decide_on_first(member, formulas, &mut judged.ledger, decide)?
        }
        _ => decide(&mut judged.ledger)?,
    };
    let seconds = deciding.elapsed().as_secs_f64();
    Ok(Explored { temporal_seconds: seconds, ..run.tell(prepared, seen, judged, checked) })
}

impl Run<'_> {
    /// Compiles the machine, joins the other machines, and settles what the search may leave out. The inner `Err`
    /// says why there is nothing to search.
    fn prepare(&self) -> Result<Result<Prepared<'_>, String>, Failure> {
        let Run { machine, sources, options, formulas, budget } = *self;
        let started = Instant::now();
        let compiling = program::Options {
            every_value: false,
            plain: false,
            skip_invariant: options.no_invariant,
            skip_assertions: options.no_assertions,
            strict_guards: options.strict_wd,
            native: if options.no_native { Tier::Never } else { Tier::WhenHot },
            observed: formulas.observed(),
            watched: formulas.watched(),
            symmetry: options.symmetry,
            proven: options.proofs.of_states(),
            listed: options.listed.clone(),
            rooms: self.may_begin_again().then(Arc::default),
        };
        // What is under way when the time is up is finished if the search is saved then.
        let saved = options.checkpoint.save.is_some();
        let lenient = if saved { budget.lenient() } else { budget.clone() };
        let mut program = match program::compile(machine, &lenient, &compiling) {
            Ok(program) => program,
            Err(stop) => return Ok(Err(format!("{} while the constants were set up", stop.reason()))),
        };
        let facts = || checkpoint::facts(&program, sources, options);
        let member = match cluster::join(options, formulas, budget, facts)?.transpose() {
            Ok(member) => member,
            Err(late) => return Ok(Err(late)),
        };
        let settled = reduction::settle(&mut program, options, formulas);
        let refines_later = settled.por.is_some()
            && !options.refine_at_once
            && program.can_refine_reduction()
            && !options.checkpoint.is_used()
            && budget.max_states.is_none_or(|most| most > UNREFINED);
        if !refines_later {
            program.refine_reduction();
        }
        let seconds = started.elapsed().as_secs_f64();
        Ok(Ok(Prepared { program, member, settled, refines_later, seconds }))
    }

    /// Whether a search may begin again with another layout of its states: by levels, in memory, and with nothing that was made for
    /// the layout, as a reduction or what is saved and sent.
    fn may_begin_again(&self) -> bool {
        let options = self.options;
        options.order == explore::Order::Bfs
            && options.store != explore::Store::Disk
            && options.por == super::Reduce::Off
            && options.symmetry.is_none()
            && options.cluster.is_none()
            && !options.checkpoint.is_used()
    }

    /// How the explorer is to go about it.
    fn how(&self, prepared: &Prepared) -> explore::Options {
        let Run { options, formulas, .. } = *self;
        explore::Options {
            // Temporal formulas speak of all paths, also of those behind a finding.
            keep_going: options.keep_going || !formulas.is_empty(),
            until_violated: if options.keep_going { 0 } else { formulas.watched().len() as u32 },
            record_edges: formulas.need_graph(),
            pause_when_outgrown: self.may_begin_again(),
            keep_states: options.certificate.is_asked() && options.store == explore::Store::Exact,
            por: prepared.settled.por,
            peers: prepared.member.as_ref().map(Membership::peers),
            gather: options.cluster.as_ref().and_then(|cluster| cluster.gather),
            ..options.exploring()
        }
    }

    /// Searches, in rounds where a look at a part of the states may be enough.
    fn search(
        &self,
        prepared: &mut Prepared,
        how: &explore::Options,
        threads: &Threads,
    ) -> Result<Seen, Failure> {
        let Run { sources, options, formulas, budget, .. } = *self;
        let mut pause = None;
        let searched = match self.first_look(prepared, how, threads)? {
            Some(searched) => searched,
            None => {
                pause = self.goes_in_rounds(how).then_some(FIRST_ROUND);
                let mut how = how.clone();
                loop {
                    let round = explore::Options { pause_beyond: pause, ..how.clone() };
                    let program = &prepared.program;
                    let searched =
                        threads.run(|| checkpoint::search(program, round, budget, sources, options))?;
                    let found = &searched.outcome;
                    let ended = is_over(found, &how) || is_limited(found);
                    if found.outgrown || how.pause_when_outgrown && program.escapes() > 0 && !ended {
                        how.pause_when_outgrown = prepared.make_room();
                        how.progress.reset();
                        continue;
                    }
                    let over = pause.is_none() || found.exhausted || is_limited(found);
                    let violated =
                        || threads.run(|| temporal::all_violated(program, found, formulas, budget));
                    if over || cluster::ask_first(prepared.member.as_ref(), violated) {
                        break searched;
                    }
                    pause = pause.map(|most| most * GROWTH);
                    how.progress.reset();
                }
            }
        };
        // Formulas on a graph are decided by one machine for all.
        if let Some(member) = &mut prepared.member
            && !formulas.need_graph()
        {
            member.leave();
        }
        let found = searched.outcome;
        options.certificate.take_states(&prepared.program, &found, options.workers)?;
        if options.certificate.is_asked() {
            let (claims, left) = formulas.claims(self.machine);
            options.certificate.take_formulas(claims, left);
        }
        let ended_early = pause.is_some() && !found.exhausted && !is_limited(&found);
        Ok(Seen { found, warnings: searched.warnings, details: searched.details, ended_early })
    }

    /// A short search with relations that were read from the text alone; nothing if there is more to see, and then
    /// the relations are refined.
    fn first_look(
        &self,
        prepared: &mut Prepared,
        how: &explore::Options,
        threads: &Threads,
    ) -> Result<Option<checkpoint::Searched>, Failure> {
        if !prepared.refines_later {
            return Ok(None);
        }
        let look = explore::Options { pause_beyond: Some(UNREFINED), ..how.clone() };
        let program = &prepared.program;
        let searched =
            threads.run(|| checkpoint::search(program, look, self.budget, self.sources, self.options))?;
        if is_over(&searched.outcome, how) {
            return Ok(Some(searched));
        }
        let started = Instant::now();
        prepared.program.refine_reduction();
        prepared.seconds += started.elapsed().as_secs_f64();
        how.progress.reset();
        Ok(None)
    }

    /// Formulas whose violations show early are looked at early, when the states have become many times more.
    fn goes_in_rounds(&self, how: &explore::Options) -> bool {
        self.formulas.may_end_early()
            && !self.options.keep_going
            && how.order == explore::Order::Bfs
            && how.por.is_none()
            && !self.options.checkpoint.is_used()
    }

    /// Confirms what was found, and enters what was not seen.
    fn judge(&self, program: &Program, seen: &Seen, how: &explore::Options) -> Result<Judged, Failure> {
        let Run { options, formulas, budget, .. } = *self;
        let found = &seen.found;
        let (mut ledger, notes) = self.reasons(program, found);
        let mut findings: Vec<Violation> = Vec::new();
        let told = |v: &explore::Violation| v.trace.is_some() || options.keep_going && v.state.is_none();
        for (_, v) in found.findings.iter().enumerate().filter(|(i, v)| *i == 0 || told(v)) {
            let more = violation(program, formulas, options, &v.finding, v.trace.as_ref())?;
            // Under a symmetry, findings that differ by the names of elements may show as one.
            let same = |v: &Violation| {
                (&v.kind, &v.property, &v.explanation) == (&more.kind, &more.property, &more.explanation)
            };
            if !findings.iter().any(same) {
                findings.push(more);
            }
        }
        let mut counts: Vec<u64> = FindingKind::ALL.iter().map(|k| found.counts.of(*k)).collect();
        if !findings.is_empty() && !how.keep_going {
            ledger.enter("the search stopped at the first finding");
        } else {
            let late = program.late_assertions(how.keep_going, budget);
            late.reasons.iter().for_each(|n| ledger.enter(program.reason(*n)));
            late.stop.iter().for_each(|stop| ledger.enter(stop.reason()));
            late.kinds.iter().for_each(|kind| counts[*kind as usize] += 1);
            for finding in &late.findings {
                findings.push(violation(program, formulas, options, finding, None)?);
            }
        }
        let all_violated = how.until_violated > 0 && found.violated.count_ones() >= how.until_violated;
        if seen.ended_early || all_violated && !found.exhausted {
            ledger.enter("the search stopped when every formula was violated");
        }
        let mut findings = findings.into_iter();
        Ok(Judged { ledger, notes, violation: findings.next(), others: findings.collect(), counts })
    }

    /// Why the search may not have seen everything, and what it left out without a doubt about the states.
    fn reasons(&self, program: &Program, found: &explore::Outcome) -> (Ledger, Vec<String>) {
        let (mut ledger, mut notes) = (Ledger::default(), Vec::new());
        for (reason, _) in &found.reasons {
            let words = match (reason, &found.lost) {
                (Reason::Lost, Some(lost)) => cluster::lost_words(lost, found.depth, self.options),
                _ => reason.words(program),
            };
            match reason {
                Reason::System(n) if program.is_note(*n) && self.formulas.is_empty() => notes.push(words),
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
        (ledger, notes)
    }

    /// Everything together.
    fn tell(&self, prepared: Prepared, seen: Seen, judged: Judged, checked: Checked) -> Explored {
        let Run { machine, options, .. } = *self;
        let Prepared { program, mut settled, .. } = prepared;
        let found = &seen.found;
        let por = settled
            .por
            .zip(found.por)
            .map(|(por, figures)| reduction::details(program.relations(), por, &figures));
        settled.notes.extend(por.iter().flat_map(|(_, notes)| notes.iter().cloned()));
        let mut notes = judged.notes;
        if checked.chance > 0.0 {
            notes.push(format!(
                "parameters that do not fit into a word were told apart by hashes: two were equal by chance with \
                 probability below {:.1e}",
                checked.chance
            ));
        }
        notes.extend(program.tells_sets_apart_by_form().then(|| BY_FORM.to_string()));
        let reductions = Reductions {
            store: options.store.word(),
            collision_bound: found.collision_bound
                + symmetry::collision_bound(&program, found.states)
                + checked.chance,
            symmetry: symmetry::grade(&program, found),
            symmetric_sets: program.symmetric_sets(),
            por: if por.is_some() { "on" } else { "off" },
            por_details: por.map(|(details, _)| details),
            bdd: None,
            proven: None,
            notes: settled.notes,
        };
        let judged_findings = judged.violation.into_iter().chain(judged.others);
        let mut findings = judged_findings.chain(checked.violations);
        Explored {
            engine: "explicit",
            workers: options.workers,
            ledger: judged.ledger,
            violation: findings.next(),
            others: findings.collect(),
            found: FindingKind::ALL
                .iter()
                .filter(|k| k.is_of_b() && **k != FindingKind::Ltl)
                .map(|k| (k.word().to_string(), judged.counts[*k as usize]))
                .collect(),
            counts: counts(machine, &program, found),
            events: coverage(&program, found),
            undefined_guards: found.undefined_guards.clone(),
            notes,
            digest: format!("{:032x}-{}", found.digest, found.states),
            reductions,
            setup_seconds: prepared.seconds,
            time_shares: Some(shares(&found.shares)),
            temporal: checked.verdicts,
            warnings: seen.warnings,
            details: details(&program, found, seen.details),
            machines: cluster::shares(found),
            ..Explored::default()
        }
    }
}

fn counts(machine: &Machine, program: &Program, found: &explore::Outcome) -> Counts {
    // ProB has a step that sets constants up as soon as there is a constant or a property.
    let setups = if machine.has_setup() { program.valuations() as u64 } else { 0 };
    Counts {
        states: found.states,
        transitions: found.transitions,
        constants: program.constant_valuations() as u64,
        initial: found.initial,
        depth: u64::from(found.depth.unwrap_or(0)),
        prob_states: found.states + setups,
        prob_transitions: found.transitions + found.initial_transitions + setups,
    }
}

fn coverage(program: &Program, found: &explore::Outcome) -> Vec<EventCoverage> {
    let named = program.event_names().iter().zip(&found.events);
    named
        .map(|(name, c)| EventCoverage { name: name.clone(), states: c.states, transitions: c.transitions })
        .collect()
}

/// The lines of `--verbose`.
fn details(program: &Program, found: &explore::Outcome, saved: Vec<String>) -> Vec<String> {
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
    details.extend(saved);
    details.extend(program.layout_text().lines().map(|l| format!("layout       {l}")));
    details.extend(program.uncompiled().iter().map(|l| format!("interpreted  {l}")));
    details
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
        events: machine
            .events
            .iter()
            .map(|op| EventCoverage { name: machine.op(*op).name.to_string(), states: 0, transitions: 0 })
            .collect(),
        temporal: formulas.undecided(),
        ..Explored::default()
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
