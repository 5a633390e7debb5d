//! Proof information: what is proven before a search begins, and who says so.
//!
//! In: a model with the proofs of its authors, what the user allows. Out: which events keep which conjuncts of the invariant,
//! for the engines to use. Free proofs come from what events write; proofs of Rodin count if they are discharged, of the
//! machine itself, and about the obligation as it stands now; own proofs are queries with a small limit. With `--paranoid`
//! nothing is believed: each claim is proved again or dropped, and a claim that the evaluator refutes is an internal error.

use super::symbolic::candidate::Replay;
use super::{CheckOptions, Engine, Explored, Failure, wanted_of};
use crate::analyse::proof_info::{ProofInfo, Source};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::finding::FindingKind;
use crate::evaluate::{Constants, Interpreter, State};
use crate::lang::partiality::pred_may_be_undefined;
use crate::lang::typed::Machine;
use crate::model::Model;
use crate::program::effects::Effects;
use crate::report::{Proven, Symbolic};
use crate::symbolic::encode::EncodeOptions;
use crate::symbolic::preservation::Preservation;
use crate::symbolic::unroll::Reply;
use crate::syntax::eventb::{Proof, ProofStatus};
use std::sync::Arc;
use std::time::Duration;

/// Whose proofs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Off,
    /// An event keeps a conjunct that reads nothing that the event writes.
    Free,
    /// Free proofs, and those by a query of our own.
    Own,
    /// Free proofs, and those that Rodin has discharged.
    Rodin,
    All,
}

impl Level {
    fn counts(self, source: Source) -> bool {
        match source {
            Source::Free => self != Level::Off,
            Source::Rodin => matches!(self, Level::Rodin | Level::All),
            Source::Own => matches!(self, Level::Own | Level::All),
        }
    }
}

/// What the user says about proofs, and what is known by the time a search begins.
#[derive(Clone, Debug, Default)]
pub struct Proofs {
    /// `None`: what costs nothing and needs no belief, which is free proofs.
    pub level: Option<Level>,
    /// Every claim is checked.
    pub paranoid: bool,
    known: Known,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// Free proofs and those of Rodin.
    given: Arc<ProofInfo>,
    /// What the explicit engine does not evaluate again, where the user said anything about proofs.
    of_states: Option<Gathered>,
}

/// What is proven, and what that has cost.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    pub info: Arc<ProofInfo>,
    asked: u64,
    checked: Option<usize>,
    dropped: usize,
}

impl Proofs {
    pub fn asked(level: Option<Level>, paranoid: bool) -> Proofs {
        Proofs { level, paranoid, known: Known::default() }
    }

    fn level(&self) -> Level {
        self.level.unwrap_or(Level::Free)
    }

    /// The pairs that the explicit engine leaves out; `None` is its own rule, free proofs.
    pub fn of_states(&self) -> Option<Arc<ProofInfo>> {
        let known = self.known.of_states.as_ref()?;
        // Whoever believes nothing evaluates everything.
        Some(if self.paranoid { Arc::default() } else { known.info.clone() })
    }
}

/// Options that know what is proven of the model.
pub fn prepared(
    model: &Model,
    sources: &Sources,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<CheckOptions, Failure> {
    let mut options = options.clone();
    let explicit =
        options.engine == Engine::Explicit && (options.proofs.level.is_some() || options.proofs.paranoid);
    if options.no_invariant || !(explicit || matches!(options.engine, Engine::Symbolic(_))) {
        return Ok(options);
    }
    let machine = &model.machine;
    options.proofs.known.given = Arc::new(given(machine, &model.proofs, options.proofs.level()));
    if explicit {
        let replay = Replay { machine, sources, options: &options, budget };
        let found = match options.proofs.level {
            Some(_) => gather(machine, &replay, None, WIDTH, false)?,
            None => Gathered { info: Arc::new(given(machine, &[], Level::Free)), ..Gathered::default() },
        };
        options.proofs.known.of_states = Some(found);
    }
    Ok(options)
}

/// Bits of unlimited integers in queries for the explicit engine.
const WIDTH: usize = 128;

/// Free proofs, and those of Rodin.
fn given(machine: &Machine, proofs: &[Proof], level: Level) -> ProofInfo {
    let (events, conjuncts) = (machine.events.len(), machine.invariant.len());
    let mut info = ProofInfo::none(events, conjuncts, machine.assertions.len());
    if level.counts(Source::Free) {
        let effects = Effects::of(machine);
        for (event, touched) in effects.touched.iter().enumerate() {
            (0..conjuncts).filter(|c| !touched.contains(c)).for_each(|c| info.enter(event, c, Source::Free));
        }
    }
    if level.counts(Source::Rodin) {
        of_rodin(machine, proofs, &mut info);
    }
    info
}

/// Enters discharged obligations. A proof may use all invariants of the machine and of its abstractions, so all of them
/// have to be conjuncts here. A conjunct that may be undefined needs its obligation of definedness discharged too.
fn of_rodin(machine: &Machine, proofs: &[Proof], info: &mut ProofInfo) {
    if !machine.unchecked.is_empty() {
        return;
    }
    let discharged = |p: &&Proof| p.component == machine.name && p.status == ProofStatus::Discharged;
    let label = |p: &Proof, part: &str| {
        p.about.iter().rev().find(|(kind, _)| kind.as_ref() == part).map(|(_, label)| label.clone())
    };
    for proof in proofs.iter().filter(discharged).filter(|p| p.kind.as_ref() == "INV") {
        let (Some(event), Some(invariant)) = (label(proof, "event"), label(proof, "invariant")) else {
            continue;
        };
        let Some(event) = machine.events.iter().position(|op| machine.op(*op).name == event) else {
            continue;
        };
        let defined = proofs
            .iter()
            .filter(discharged)
            .filter(|p| p.kind.as_ref() == "WD")
            .any(|p| p.about.len() == 1 && p.about.iter().any(|(_, label)| *label == invariant));
        for (i, clause) in machine.invariant.iter().enumerate() {
            let same = clause.origin == machine.name && clause.label.as_ref() == Some(&invariant);
            if same && (defined || !pred_may_be_undefined(&clause.pred)) {
                info.enter(event, i, Source::Rodin);
            }
        }
    }
}

/// What is proven, own queries included, for a search that has these valuations of the constants. With `implied` also what
/// follows from the invariant by itself.
pub fn gather(
    machine: &Machine,
    replay: &Replay,
    valuations: Option<Arc<[Constants]>>,
    width: usize,
    implied: bool,
) -> Result<Gathered, Failure> {
    let proofs = &replay.options.proofs;
    let own = proofs.level().counts(Source::Own);
    let given = proofs.known.given.clone();
    if replay.options.no_invariant {
        return Ok(Gathered::default());
    }
    if !own && !proofs.paranoid {
        return Ok(Gathered { info: given, ..Gathered::default() });
    }
    let encode =
        EncodeOptions { width, free_products: true, strict_guards: replay.options.strict_wd, valuations };
    let wanted = wanted_of(replay.options);
    let moment = moment(replay.budget);
    let mut prover = Preservation::new(machine, wanted, encode, &moment);
    let mut info = (*given).clone();
    let mut found = Gathered::default();
    if proofs.paranoid {
        found.checked = Some(info.pairs().count());
        for (event, conjunct, source) in given.pairs() {
            match prover.keeps(event, conjunct) {
                Reply::Proof => {}
                Reply::Candidate if is_refuted(replay, &prover, event, conjunct) => {
                    return Err(Failure::Internal(false_claim(machine, event, conjunct, source)));
                }
                _ => {
                    info.withdraw(event, conjunct);
                    found.dropped += 1;
                }
            }
        }
    }
    if own {
        prover.add_to(&mut info, implied);
    }
    Ok(Gathered { info: Arc::new(info), asked: prover.queries(), ..found })
}

/// Proofs are there to save time: they get a part of what there is, and never more than this.
const PATIENCE: Duration = Duration::from_secs(10);

fn moment(budget: &Budget) -> Budget {
    let mut moment = budget.clone();
    let share = budget.time_limit.map_or(PATIENCE, |limit| limit.saturating_sub(budget.elapsed()) / 4);
    moment.time_limit = Some(budget.elapsed() + share.min(PATIENCE));
    moment
}

fn false_claim(machine: &Machine, event: usize, conjunct: usize, source: Source) -> String {
    format!(
        "a false claim ({}): {} is said to keep {}, and does not",
        source.word(),
        machine.op(machine.events[event]).name,
        machine.invariant[conjunct].text
    )
}

/// Whether the evaluator makes the step of the last query from a state of the invariant to one without the conjunct.
fn is_refuted(replay: &Replay, prover: &Preservation, event: usize, conjunct: usize) -> bool {
    let breach = prover.breach(event);
    let machine = replay.machine;
    let Ok(constants) = replay.valuation(&breach.constants, replay.budget) else { return false };
    if breach.state.len() != machine.variables.len() {
        return false;
    }
    let state = State { constants, variables: breach.state.into_iter().map(|(_, value)| value).collect() };
    let interpreter = Interpreter::new(machine, replay.budget);
    let is_good = |state: &State| {
        interpreter.check_state(state, true).is_ok_and(|broken| {
            broken.invariant.is_empty() && broken.undefined.iter().all(|(assertion, ..)| *assertion)
        })
    };
    let breaks = |state: &State| {
        interpreter.check_state(state, true).is_ok_and(|broken| broken.invariant.contains(&conjunct))
    };
    is_good(&state)
        && replay
            .targets(&state, event, &breach.choices, replay.budget)
            .is_ok_and(|targets| targets.iter().any(breaks))
}

impl Gathered {
    fn figures(&self) -> Proven {
        Proven {
            pairs: self.info.all_pairs(),
            by: Source::ALL.iter().map(|s| (s.word(), self.info.count(*s))).collect(),
            events: self.info.proven_events(),
            asked: self.asked,
            checked: self.checked,
            dropped: self.dropped,
            ..Proven::default()
        }
    }

    /// Puts the figures into a report that knows what was saved.
    pub fn add_to(&self, report: &mut Symbolic) {
        let Proven { saved, trusted, .. } = report.proven;
        report.proven = Proven { saved, trusted, ..self.figures() };
    }
}

/// What the explicit engine found, with the figures of the proofs that it used; with `--paranoid` a violation that a claim
/// rules out is a false claim.
pub fn judged(
    machine: &Machine,
    options: &CheckOptions,
    mut explored: Explored,
) -> Result<Explored, Failure> {
    let Some(gathered) = &options.proofs.known.of_states else { return Ok(explored) };
    let mut figures = gathered.figures();
    figures.trusted = gathered.info.count(Source::Rodin) > 0 && !options.proofs.paranoid;
    if options.proofs.paranoid {
        figures.checked = Some(gathered.info.pairs().count() + gathered.dropped);
        if let Some(claim) = contradicted(machine, options, &explored, &gathered.info) {
            return Err(Failure::Internal(claim));
        }
    }
    explored.reductions.proven = Some(figures);
    Ok(explored)
}

/// The claim that the first violation contradicts. The state before that violation has no finding.
fn contradicted(
    machine: &Machine,
    options: &CheckOptions,
    explored: &Explored,
    info: &ProofInfo,
) -> Option<String> {
    let violation = explored.violation.as_ref().filter(|_| !options.keep_going)?;
    if violation.kind != FindingKind::Invariant.word() {
        return None;
    }
    let last = violation.trace.last()?;
    let event = machine.events.iter().position(|op| *machine.op(*op).name == *last.event)?;
    let conjunct = machine.invariant.iter().position(|c| c.text == violation.property)?;
    let source = info.source(event, conjunct)?;
    Some(false_claim(machine, event, conjunct, source))
}
