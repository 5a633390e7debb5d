//! A check with a symbolic engine: clauses and a SAT solver instead of visited states.
//!
//! In: a typed machine, settings. Out: what the engine found, in the words of a report. A candidate of the solver is a
//! violation only after the evaluator has met it again (`candidate`) and the oracle has judged it; a proof counts only
//! if nothing was dropped, nothing rests on a width, and a fresh solver proves it again from a fresh translation.

pub(super) mod candidate;
mod portfolio;

use super::certificate::{Certified, ProofFiles};
use super::temporal::Formulas;
use super::{CheckOptions, Explored, Failure, proof_info, wanted_of as wanted};
use crate::analyse::proof_info::ProofInfo;
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::text::one_line;
use crate::evaluate::{Constants, Interpreter};
use crate::lang::typed::{Expr, ExprKind, Machine};
use crate::lang::walk::{Visit, visit_machine};
use crate::report::{Counts, EventCoverage, Ledger, SETUP_CONSTANTS, Symbolic, Violation};
use crate::symbolic::bmc::{Ended, Run, Search};
use crate::symbolic::encode::EncodeOptions;
use crate::symbolic::encode::number::PRODUCT;
use crate::symbolic::kind::{self, Induction, InductiveStep};
use crate::symbolic::sat::Limit;
use crate::symbolic::system::{Cube, Translation};
use crate::symbolic::translate::Translated;
use crate::symbolic::unroll::{Candidate, Figures, Reply, Unrolling, doubtful_properties};
use crate::symbolic::{ic3, path};
use candidate::{Replay, Verdict};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Which symbolic engine, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub method: Method,
    /// The greatest number of operations of a path.
    pub max_depth: usize,
    /// The greatest k of k-induction.
    pub max_k: usize,
    /// The greatest number of frames of IC3.
    pub frames: usize,
    /// The greatest number of bits of an unlimited integer.
    pub width: usize,
    /// States in a row are made distinct in k-induction.
    pub simple_path: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Bmc,
    BmcPath,
    Kind,
    Ic3,
    /// The explicit engine and the symbolic ones side by side; the first answer counts.
    Portfolio,
}

impl Method {
    pub fn word(self) -> &'static str {
        match self {
            Method::Bmc => "bmc",
            Method::BmcPath => "bmc-path",
            Method::Kind => "kind",
            Method::Ic3 => "ic3",
            Method::Portfolio => "portfolio",
        }
    }
}

/// Bits of unlimited integers that are tried before the greatest number.
const FIRST_WIDTH: usize = 40;
/// Bits that are tried first for a proof by induction.
const PROOF_WIDTH: usize = 12;

/// What a search came to.
struct Searched {
    violation: Option<Violation>,
    /// Findings of other properties, if the search went on.
    others: Vec<Violation>,
    /// Nothing is left that could be wrong.
    proved: bool,
    /// Wider integers might say more.
    narrow: bool,
    /// The bits that are known to be enough for all queries, if any are.
    needed: Option<usize>,
    reasons: Vec<String>,
    report: Symbolic,
}

/// What these engines do not do is refused, not ignored.
pub fn refusals(
    machine: &Machine,
    options: &CheckOptions,
    temporal: bool,
    followed: bool,
    method: Method,
) -> Vec<Diagnostic> {
    let engine = method.word();
    let mut all = Vec::new();
    let mut refuse = |given: bool, why: &str| {
        if given {
            all.push(Diagnostic::plain(format!("--engine {engine}: {why}")));
        }
    };
    refuse(temporal, "temporal formulas need the states that the explicit engine visits");
    refuse(
        options.keep_going && !matches!(method, Method::Bmc | Method::BmcPath),
        "--keep-going looks for every property by itself, which only bmc and bmc-path do among these engines",
    );
    refuse(options.symmetry.is_some(), "--symmetry reduces the states that the explicit engine visits");
    refuse(
        machine.scope.is_some(),
        "SCOPE leaves states without successors, which only the explicit engine does",
    );
    refuse(
        machine.integers_in_scope,
        "integers are not limited to MININT..MAXINT here; leave --integers-in-scope out",
    );
    refuse(
        followed,
        "a refinement is followed together with its abstractions by the explicit engine only; with \
         --abstract-levels 0 the machine is checked alone",
    );
    all
}

pub fn explore(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    settings: Settings,
    formulas: &Formulas,
    budget: &Budget,
) -> Result<Explored, Failure> {
    if settings.method == Method::Portfolio {
        return portfolio::explore(machine, sources, options, settings, formulas, budget);
    }
    let started = Instant::now();
    let mut ledger = Ledger::default();
    let replay = Replay { machine, sources, options, budget };
    let valuations = list_valuations(machine, budget);
    let gathered = proof_info::gather(machine, &replay, valuations.clone(), settings.width, true)?;
    let of_rodin = Arc::new(gathered.info.of_rodin());
    let plan = Plan {
        machine,
        options,
        sources,
        settings,
        valuations,
        proven: gathered.info.clone(),
        of_rodin,
        budget,
    };
    let mut searched = search_at_growing_width(plan.clone(), &replay)?;
    if searched.violation.is_none() && !searched.proved && searched.report.weak.contains(PRODUCT) {
        searched = with_exact_products(&plan, searched, &replay)?;
    }
    if searched.violation.is_some() {
        ledger.enter(if options.keep_going {
            format!("each property was looked for within {} steps", settings.max_depth)
        } else {
            "the search stopped at the first finding".into()
        });
    } else if let Err(stop) = budget.check() {
        ledger.enter(stop.reason());
    } else if searched.proved {
        let doubtful = doubtful_properties(machine, encoding(&plan, settings.width, true), budget);
        if doubtful {
            ledger.enter("a property may be undefined for some valuation of the constants");
        }
        ledger.finished();
    }
    if !searched.proved {
        searched.reasons.iter().for_each(|r| ledger.enter(one_line(r)));
    }
    let mut found = std::collections::BTreeMap::new();
    for v in searched.violation.iter().chain(&searched.others) {
        *found.entry(v.kind.clone()).or_insert(0) += 1;
    }
    let mut report = Symbolic { seconds: started.elapsed().as_secs_f64(), ..searched.report };
    gathered.add_to(&mut report);
    let details = report.weak.iter().map(|w| format!("weak         {w}")).collect();
    Ok(Explored {
        engine: settings.method.word(),
        workers: if settings.method == Method::BmcPath { options.workers } else { 1 },
        ledger,
        violation: searched.violation,
        others: searched.others,
        found,
        counts: Counts { depth: report.depth.unwrap_or(0) as u64, ..Counts::default() },
        events: machine
            .events
            .iter()
            .map(|op| EventCoverage { name: machine.op(*op).name.to_string(), states: 0, transitions: 0 })
            .collect(),
        details,
        symbolic: Some(report),
        ..Explored::default()
    })
}

fn encoding(plan: &Plan, width: usize, free_products: bool) -> EncodeOptions {
    EncodeOptions {
        width,
        free_products,
        strict_guards: plan.options.strict_wd,
        valuations: plan.valuations.clone(),
    }
}

/// Valuations beyond which the solver chooses among all that satisfy PROPERTIES.
const VALUATIONS: usize = 64;
/// How long the evaluator may look for valuations.
const LISTING: Duration = Duration::from_secs(2);

/// All valuations of the constants, if the evaluator soon has them all, and they are few.
fn list_valuations(machine: &Machine, budget: &Budget) -> Option<Arc<[Constants]>> {
    let until = budget.elapsed() + LISTING;
    let mut moment = budget.clone();
    moment.time_limit = Some(budget.time_limit.map_or(until, |limit| limit.min(until)));
    let found = Interpreter::new(machine, &moment).constants().ok()?;
    let whole = found.remarks().next().is_none() && !found.values.is_empty();
    (whole && found.values.len() <= VALUATIONS).then(|| found.values.into())
}

/// What a run is about.
#[derive(Clone)]
struct Plan<'a> {
    machine: &'a Machine,
    options: &'a CheckOptions,
    sources: &'a Sources,
    settings: Settings,
    valuations: Option<Arc<[Constants]>>,
    /// What is proven beforehand, and the part of it that rests on the word of Rodin.
    proven: Arc<ProofInfo>,
    of_rodin: Arc<ProofInfo>,
    budget: &'a Budget,
}

/// Searches with some bits for unlimited integers, and with as many as the user allows if those may be too few. A path that
/// was found with few bits may not be a shortest one.
fn search_at_growing_width(plan: Plan, replay: &Replay) -> Result<Searched, Failure> {
    let most = plan.settings.width;
    let literal = widest_literal(plan.machine) + 4;
    // A proof with few bits is found sooner, and says how many bits it needs.
    let inductive = plan.settings.method == Method::Kind;
    let mut width = (if inductive { PROOF_WIDTH } else { FIRST_WIDTH }).max(literal).min(most);
    loop {
        let found = search(&plan, width, replay)?;
        if !found.narrow || found.proved || width >= most || plan.budget.check().is_err() {
            return Ok(found);
        }
        if found.violation.is_some() {
            return shorter(plan, found, replay);
        }
        width = match found.needed {
            Some(bits) if bits > width => bits.min(most),
            _ if width < FIRST_WIDTH => FIRST_WIDTH.min(most),
            _ => most,
        };
    }
}

/// Proofs take products of unlimited integers for unknowns, so a candidate of theirs says little: what they leave open is looked
/// for again with exact products.
fn with_exact_products(plan: &Plan, found: Searched, replay: &Replay) -> Result<Searched, Failure> {
    if !matches!(plan.settings.method, Method::Kind | Method::Ic3) || plan.budget.check().is_err() {
        return Ok(found);
    }
    let mut plan = plan.clone();
    plan.settings.method = Method::Bmc;
    let again = search_at_growing_width(plan, replay)?;
    Ok(if again.violation.is_some() { again } else { found })
}

/// Looks for a path that is shorter than one that was found with integers that may be too narrow.
fn shorter(mut plan: Plan, found: Searched, replay: &Replay) -> Result<Searched, Failure> {
    let enough = found.needed.unwrap_or(plan.settings.width).min(plan.settings.width);
    let Some(depth) = found.report.depth.unwrap_or(0).checked_sub(1) else { return Ok(found) };
    plan.settings = Settings { method: Method::Bmc, max_depth: depth, ..plan.settings };
    let again = search(&plan, enough, replay)?;
    Ok(if again.violation.is_some() { again } else { found })
}

/// The bits of the largest number that is written in the machine.
fn widest_literal(machine: &Machine) -> usize {
    struct Widest(usize);
    impl Visit for Widest {
        fn expr(&mut self, e: &Expr) {
            if let ExprKind::Int(n) = &e.kind {
                self.0 = self.0.max(dashu_int::ops::BitTest::bit_len(&n.to_big()));
            }
        }
    }
    let mut widest = Widest(0);
    visit_machine(machine, &mut widest);
    widest.0
}

fn search(plan: &Plan, width: usize, replay: &Replay) -> Result<Searched, Failure> {
    let Plan { machine, options, settings, budget, .. } = *plan;
    let progress = |depth: usize| options.progress.depth.store(depth as u32, Ordering::Relaxed);
    let mut judge = |c: &Candidate| -> Verdict { replay.judge(c) };
    let free = matches!(settings.method, Method::Kind | Method::Ic3);
    let unrolling = Unrolling::new(machine, wanted(options), encoding(plan, width, free), budget)
        .with_proofs(&plan.proven);
    let mut base = Search::new(unrolling, &mut judge, &progress, budget);
    base.keep_going = options.keep_going;
    let mut report = Symbolic::default();
    let mut needed = None;
    let mut proved = false;
    let ended = match settings.method {
        Method::Bmc => base.run(settings.max_depth),
        Method::BmcPath => {
            let (wanted, encode, proven) = (wanted(options), encoding(plan, width, free), &plan.proven);
            let like_ours = || Unrolling::new(machine, wanted, encode.clone(), budget).with_proofs(proven);
            let beside = path::Beside { helpers: options.workers, unrolling: &like_ours };
            path::run(&mut base, settings.max_depth, &beside)
        }
        // Constants, the initialisation and the initial states come first: a proof of nothing is none.
        Method::Ic3 => base.run(0),
        Method::Portfolio => Ended::Stopped,
        Method::Kind => {
            let encode = encoding(plan, width, true);
            let simple = settings.simple_path;
            let mut step = InductiveStep::new(machine, wanted(options), encode, simple, &plan.proven, budget);
            let ended = kind::induce(&mut base, &mut step, settings.max_k);
            add(&mut report, step.figures());
            report.proven.saved += step.saved();
            report.weak.extend(step.weak());
            needed = step.width_reason().map(|(bits, _)| bits);
            note_width(&mut report, width, step.width_reason());
            match ended {
                Induction::Proved(k) => {
                    report.k = Some(k);
                    proved = is_whole(&base.run);
                    Ended::Depth
                }
                Induction::Base(ended) => ended,
                // What no induction proves may be wrong at a greater depth.
                Induction::NotInductive => {
                    let ended = base.go_on(settings.max_depth);
                    if !matches!(ended, Ended::AllPaths) {
                        let words = format!("no proof by induction with k up to {}", settings.max_k);
                        base.run.doubts.push(words);
                    }
                    ended
                }
            }
        }
    };
    let mut invariant = None;
    let ended = match (settings.method, ended) {
        (Method::Ic3, Ended::Depth) => {
            // An invariant speaks of all depths, whatever unrolling says of some.
            let whole = is_whole(&base.run);
            let (by_ic3, found) = blocked(plan, &mut base, &mut report)?;
            proved = by_ic3.is_some() && whole;
            invariant = by_ic3;
            found
        }
        (_, ended) => ended,
    };
    let mut searched = conclude(machine, replay, settings, base, ended, proved, report, (width, needed))?;
    // Where all paths were seen, nothing was proved again.
    searched.report.proven.trusted |=
        searched.report.certificate == Some("all paths") && !plan.of_rodin.is_empty();
    if let (true, Some(k)) = (searched.proved, searched.report.k) {
        searched.report.proven.trusted = recheck(plan, width, k)?;
        searched.report.certificate = Some("k-inductive");
    }
    if searched.proved && options.certificate.is_asked() {
        options.certificate.take_proof(evidence(plan, width, &searched.report, invariant));
    }
    Ok(searched)
}

/// Looks for a path by unrolling up to a depth, while an invariant is looked for, as long as that is easy compared with so
/// many queries of the other search. Only a violation is an answer.
fn unrolled_meanwhile<V>(base: &mut Search<V>, depth: usize, queries: u64) -> Option<Ended<V>> {
    let spent = base.unrolling.figures().conflicts;
    let allowed = 2_000 + 8 * queries;
    if base.run.depth.is_none_or(|d| d >= depth) || spent >= allowed {
        return None;
    }
    base.unrolling.limit_conflicts(Some(allowed - spent));
    let ended = base.go_on(depth);
    base.unrolling.limit_conflicts(None);
    matches!(ended, Ended::Violation(_)).then_some(ended)
}

/// The cubes of an inductive invariant, if there is one, and how the search for violations ended.
type Blocked = (Option<Vec<Cube>>, Ended<Result<Violation, String>>);

/// Looks for an inductive invariant. A counterexample is looked for again by unrolling, which yields values.
fn blocked(
    plan: &Plan,
    base: &mut Search<Result<Violation, String>>,
    report: &mut Symbolic,
) -> Result<Blocked, Failure> {
    let Plan { machine, options, settings, budget, .. } = *plan;
    let translated = |proven: &Arc<ProofInfo>| {
        Translated::new(machine, wanted(options), encoding(plan, settings.width, true), proven, budget)
    };
    // The certificate believes nobody; where that is not enough, it believes what we proved, then Rodin.
    let (translation, strict) = (translated(&plan.proven), translated(&Arc::default()));
    let ours = translated(&Arc::new(plan.proven.without_rodin()));
    let mut checks: Vec<&dyn Translation> = vec![&strict, &ours];
    if !plan.of_rodin.is_empty() {
        checks.push(&translation);
    }
    let stop = budget.clone();
    let mut early = None;
    let run = ic3::prove_by(
        &translation,
        &checks,
        &ic3::Options {
            frames: settings.frames,
            max_width: settings.width,
            limit: Limit::stopped_by(Arc::new(move || stop.check().is_err())),
            ..ic3::Options::default()
        },
        &mut |level, queries| {
            early =
                unrolled_meanwhile(base, settings.max_depth.min(level + (queries / 32) as usize), queries);
            early.is_some()
        },
    );
    report.frames = Some(run.frames);
    report.queries += run.queries;
    report.conflicts += run.conflicts;
    report.proven.saved += translation.saved_per_level() * run.frames as u64;
    report.weak.extend(translation.weak());
    note_width(report, run.width, translation.width_reason());
    if let Some(found) = early {
        return Ok((None, found));
    }
    match run.outcome {
        ic3::Outcome::Invariant(cubes) => {
            report.proven.trusted = run.check > 1;
            report.clauses = Some(cubes.len());
            report.certificate = Some("inductive");
            Ok((Some(cubes), Ended::Depth))
        }
        ic3::Outcome::Counterexample(path) => {
            let ended = base.go_on(path.depth());
            if matches!(ended, Ended::Depth | Ended::AllPaths) {
                base.run.doubts.push(format!(
                    "a path of {} operations that may lead to a finding could not be replayed",
                    path.depth()
                ));
                return Ok((None, went_on(base, settings.max_depth)));
            }
            Ok((None, ended))
        }
        ic3::Outcome::Unknown(ic3::Why::Refuted(_)) => {
            Err(Failure::Internal("an inductive invariant was refuted by a fresh solver".into()))
        }
        ic3::Outcome::Unknown(why) => {
            base.run.doubts.push(match why {
                ic3::Why::Frames => format!("no invariant was found with {} frames", settings.frames),
                ic3::Why::Width => "the invariant that was found rests on the width of integers".into(),
                _ => "the search for an invariant was stopped".into(),
            });
            Ok((None, went_on(base, settings.max_depth)))
        }
    }
}

/// What has no proof may be wrong at a greater depth. Only a violation is an answer.
fn went_on<V>(base: &mut Search<V>, depth: usize) -> Ended<V> {
    match base.go_on(depth) {
        ended @ Ended::Violation(_) => ended,
        _ => Ended::Depth,
    }
}

/// The proof in a form that others can check: an inductive invariant where there is one, else the queries of the induction.
fn evidence(
    plan: &Plan,
    width: usize,
    report: &Symbolic,
    invariant: Option<Vec<Cube>>,
) -> Result<ProofFiles, String> {
    let Plan { machine, options, settings, budget, .. } = *plan;
    let trusted = if report.proven.trusted { plan.of_rodin.clone() } else { Arc::default() };
    let about = Certified { machine, report, options, sources: plan.sources, trusted: &trusted };
    let stop = budget.clone();
    let limit = Limit::stopped_by(Arc::new(move || stop.check().is_err()));
    let cubes = match (invariant, report.k) {
        (Some(cubes), _) => Some((cubes, report.width)),
        (None, Some(0)) => Some((Vec::new(), width)),
        _ => None,
    };
    if let Some((cubes, width)) = cubes {
        let encode = encoding(plan, width, true);
        let translation = Translated::new(machine, wanted(options), encode, &trusted, budget);
        if let Some(files) = about.inductive(&translation, &cubes, width, &limit) {
            return Ok(files);
        }
    }
    let k = report.k.ok_or("the proof is no induction")?;
    if report.proven.trusted {
        return Err("the proof rests on obligations of Rodin".into());
    }
    let encode = encoding(plan, width, true);
    let proofs = kind::proofs(machine, wanted(options), &encode, (k, settings.simple_path), budget);
    proofs.map(|all| about.k_inductive(k, all)).ok_or("the proof was not found again in time".into())
}

/// Whether nothing was passed over on the way from the beginnings.
fn is_whole(run: &Run) -> bool {
    run.dropped.is_empty() && run.doubts.is_empty() && !run.narrow
}

fn add(report: &mut Symbolic, figures: Figures) {
    report.queries += figures.queries;
    report.conflicts += figures.conflicts;
    report.variables += figures.variables;
}

fn note_width(report: &mut Symbolic, width: usize, bound: Option<(usize, &'static str)>) {
    report.width = width;
    report.width_reason = match bound {
        Some((bits, rule)) if bits <= width => rule.to_string(),
        Some((bits, rule)) => format!("not enough: the {rule} asks for {bits} bits"),
        None => "no bound is known: a product or quotient of unlimited integers".into(),
    };
}

#[allow(clippy::too_many_arguments)]
fn conclude(
    machine: &Machine,
    replay: &Replay,
    settings: Settings,
    base: Search<Result<Violation, String>>,
    ended: Ended<Result<Violation, String>>,
    proved: bool,
    report: Symbolic,
    (width, needed): (usize, Option<usize>),
) -> Result<Searched, Failure> {
    let mut report = report;
    let bound = base.unrolling.enc.atoms.width();
    let keeps_going = base.keep_going;
    add(&mut report, base.unrolling.figures());
    add(&mut report, base.run.beside);
    report.proven.saved += base.unrolling.saved();
    report.weak.extend(base.unrolling.enc.weak.iter().cloned());
    report.depth = base.run.depth;
    report.ends = base.run.ends;
    if report.width == 0 {
        note_width(&mut report, width, base.unrolling.enc.atoms.width());
    }
    let mut reasons: Vec<String> = base
        .run
        .dropped
        .iter()
        .map(|(t, why)| format!("not decided: {}: {why}", t.words(machine)))
        .chain(base.run.doubts.iter().cloned())
        .collect();
    let (mut violation, mut proved) = (None, proved);
    let mut others = Vec::new();
    let mut found: Vec<Violation> = base.found.into_iter().collect::<Result<_, _>>()?;
    found.dedup_by(|a, b| a.kind == b.kind && a.property == b.property);
    match ended {
        Ended::Violation(v) => violation = Some(v?),
        Ended::NoBeginning { proved } => match replay.no_beginning(proved) {
            Some(v) => violation = Some(v?),
            None if proved => violation = Some(replay.proved_no_beginning()),
            None => {
                reasons.push(format!("no valuation of the constants was found with integers of {width} bits"))
            }
        },
        Ended::AllPaths => {
            proved = is_whole(&base.run);
            report.certificate = proved.then_some("all paths");
        }
        Ended::Depth if !proved => {
            let depth = base.run.depth.map_or("no depth".to_string(), |d| format!("{d} steps"));
            reasons.push(format!("no violation within {depth}; {} proves no more", settings.method.word()));
        }
        Ended::Depth => {}
        Ended::Stopped => reasons.push("the solver was stopped".into()),
    }
    // A query with unknowns in place of formulas has solutions where the machine may have none: a proof is about
    // something only if there is a beginning.
    if proved && violation.is_none() && !report.weak.is_empty() && !replay.begins() {
        (proved, report.k, report.certificate) = (false, None, None);
        match replay.no_beginning(false) {
            Some(v) => violation = Some(v?),
            None => reasons.push("no initial state is known, so that a proof may be about nothing".into()),
        }
    }
    if violation.is_none() && !found.is_empty() {
        violation = Some(found.remove(0));
    }
    others.extend(found);
    // Where the evaluator does not know a valuation that the solver chose, there may be none at all.
    let unknown = |why: &str| why.contains(candidate::NO_VALUATION);
    let doubted = base.run.dropped.iter().any(|(_, why)| unknown(why))
        || base.run.doubts.iter().any(|why| unknown(why));
    if violation.is_none()
        && !proved
        && doubted
        && let Some(v) = replay.no_beginning(false)
    {
        violation = Some(v?);
    }
    let needed = needed.max(bound.map(|(bits, _)| bits)).filter(|_| bound.is_some());
    let narrow = base.run.narrow || report.width_reason.starts_with("not enough");
    if base.run.narrow {
        reasons.push(format!("integers of {width} bits may be too narrow: {}", report.width_reason));
    }
    if let Some(v) = violation.as_ref().filter(|_| !keeps_going) {
        report.depth = operations(v);
    }
    Ok(Searched { violation, others, proved, narrow, needed, reasons, report })
}

/// The operations before a finding; `None` if there is not even a state.
fn operations(violation: &Violation) -> Option<usize> {
    let states = violation.trace.iter().filter(|step| step.event != SETUP_CONSTANTS).count();
    states.checked_sub(1)
}

/// Proves the same again: a fresh translation, a fresh solver, and nothing that is proven already. Where formulas became
/// unknowns that is not enough, and what we proved ourselves is believed, then the word of Rodin. Says whether that word
/// was needed.
fn recheck(plan: &Plan, width: usize, k: usize) -> Result<bool, Failure> {
    let ours = Arc::new(plan.proven.without_rodin());
    if [&Arc::default(), &ours].into_iter().any(|proven| proves_again(plan, width, k, proven)) {
        return Ok(false);
    }
    if plan.of_rodin.is_empty() || !proves_again(plan, width, k, &plan.proven) {
        return Err(Failure::Internal(format!("the proof by induction with k = {k} was not found again")));
    }
    Ok(true)
}

fn proves_again(plan: &Plan, width: usize, k: usize, proven: &Arc<ProofInfo>) -> bool {
    let Plan { machine, options, settings, budget, .. } = *plan;
    let encode = encoding(plan, width, true);
    let simple = settings.simple_path;
    let mut step = InductiveStep::new(machine, wanted(options), encode.clone(), simple, proven, budget);
    let mut reply = Reply::Unknown;
    for _ in 0..=k {
        reply = step.one_more();
    }
    let unrolling = Unrolling::new(machine, wanted(options), encode, budget).with_proofs(proven);
    let mut judge =
        |_: &Candidate| -> Verdict { crate::symbolic::bmc::Judged::Spurious("a re-check".into()) };
    let mut base = Search::new(unrolling, &mut judge, &|_| {}, budget);
    let ended = base.run(k);
    if budget.check().is_err() {
        return true;
    }
    let whole = matches!(ended, Ended::Depth | Ended::AllPaths) && is_whole(&base.run);
    reply == Reply::Proof && whole
}
