//! Search on sets of states as binary decision diagrams.
//!
//! In: a `System` that knows which bits its steps and conditions read (`System::footprints`). Out: `Outcome`, with the
//! exact number of reachable states and a path to what was found.
//! Never here: B, verdicts, words for users.
//!
//! `learn` and `condition` find relations out by computing single steps from reached states; `encoding` and `order`
//! say which variable holds which bit; `search` goes on until nothing is new; `orbit` closes sets under a symmetry, and `sorting` keeps one
//! state of each orbit;
//! `path` walks back from what was found. `claim` is what temporal logic asks; `decide` has it answered by `branching` and
//! `linear` on the `structure` of states and steps, and `lasso` walks a path that violates it. `diagram` is the only file that speaks to the library of diagrams at length.
#![forbid(unsafe_code)]

mod branching;
mod claim;
mod condition;
mod decide;
mod diagram;
mod encoding;
mod lasso;
mod learn;
mod linear;
mod orbit;
pub mod order;
mod outcome;
mod path;
mod search;
mod sorting;
mod structure;
#[cfg(test)]
mod tests;
mod xi;

pub use claim::{Branching, Claim, Decided, Ending, Fact, Fair, Form, Linear, Open, Tree};
pub use outcome::{Coverage, Figures, Found, Outcome, PathStep, Reason};

use bombus_base::budget::Budget;
use bombus_base::hash::HashSet;
use bombus_system::{Exchange, Finding, FindingKind, System};
use diagram::{Diagrams, Halt, Halted, Set};
use encoding::Encoding;
use learn::Heard;
use order::Arrangement;
use search::{End, Pause, Search, Shown};
pub use xi::Way;

/// How much of an orbit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Symmetry {
    #[default]
    Off,
    /// What a ring brings that is no image of what was seen.
    Generators,
    /// One state of each orbit.
    Orbits,
}

/// How temporal claims are decided with a symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Liveness {
    /// On paths of kept states: violations are genuine, nothing holds by it.
    #[default]
    Representatives,
    /// On orbits, by closing sets under the exchanges.
    Quotient,
    /// On orbits, by the relation between kept states and their images.
    Xi(Way),
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Nodes of all diagrams together.
    pub nodes: usize,
    pub workers: usize,
    pub check_deadlock: bool,
    pub keep_going: bool,
    pub max_states: Option<u64>,
    pub symmetry: Symmetry,
    /// The exchanges that generate the symmetry; none without one.
    pub exchanges: Vec<Exchange>,
    /// Rounds of each closure under the symmetry; none if it goes on to the end.
    pub sigma_rounds: Option<u64>,
    pub liveness: Liveness,
    /// What is to be decided when all states are known.
    pub claims: Vec<Claim>,
}

/// Nodes of the room of a run unless the user says otherwise.
pub const NODES: usize = 1 << 23;

/// States that are looked at one by one before the search, to see which bits vary.
const LOOKED_AT: usize = 500;
/// Nodes of the sample on which two orders are compared.
const SAMPLE: usize = 10_000;
/// States from which all successors are computed at the end, as a test of what was learned.
const AUDITED: u64 = 32;

/// Explores a system. An error says that the system contradicts its footprints, so that nothing can be trusted.
pub fn explore<S: System>(system: &S, options: &Options, budget: &Budget) -> Result<Outcome, String> {
    let footprints = system.footprints().ok_or("the system does not know what its steps read")?;
    let one_hot = encoding::one_hot(&footprints.fields, &options.exchanges);
    let varied = varied_bits(system, budget);
    let words = system.words();
    let mut written = vec![0; words];
    // The relation between kept states and their images needs a copy of every variable.
    if matches!(options.liveness, Liveness::Xi(_)) && !options.claims.is_empty() {
        written.fill(u64::MAX);
    }
    for instance in &footprints.instances {
        written.iter_mut().zip(&instance.writes).for_each(|(all, w)| *all |= w);
    }
    let encoded = |arrangement| {
        let atoms = order::order(footprints, &one_hot, &varied, arrangement);
        let trivial = atoms == order::order(footprints, &one_hot, &varied, Arrangement::FieldByField);
        (Encoding::new(&footprints.fields, words, &one_hot, &atoms, &written), trivial)
    };
    let (by_field, _) = encoded(Arrangement::FieldByField);
    let (by_bit, same) = encoded(Arrangement::BitByBit);
    let first = Run { encoding: &by_field, arrangement: Arrangement::FieldByField };
    let second = Run { encoding: &by_bit, arrangement: Arrangement::BitByBit };
    if same {
        return first.run(system, options, budget, None).map(|tried| tried.outcome);
    }
    let sample = Pause { nodes: SAMPLE, rounds: u64::MAX };
    let tried = first.run(system, options, budget, Some(sample))?;
    if !tried.paused {
        return Ok(tried.outcome);
    }
    let (nodes, rounds) = (tried.outcome.figures.nodes_of_states, tried.outcome.figures.rounds);
    let sample = Pause { nodes: 2 * nodes, rounds };
    let other = second.run(system, options, budget, Some(sample))?;
    if !other.paused {
        return Ok(other.outcome);
    }
    let better = if other.outcome.figures.nodes_of_states < nodes { second } else { first };
    better.run(system, options, budget, None).map(|tried| tried.outcome)
}

/// The bits that differ between some of the first states of a search.
fn varied_bits<S: System>(system: &S, budget: &Budget) -> Vec<u64> {
    let mut worker = system.worker();
    let mut heard = Heard::default();
    heard.look_at(None);
    system.initial(&mut worker, &mut heard);
    let mut seen: HashSet<Vec<u64>> = HashSet::default();
    let mut list: Vec<Vec<u64>> = Vec::new();
    let footprints = system.footprints();
    let mut meet = |heard: &Heard, list: &mut Vec<Vec<u64>>| {
        for (_, _, state) in heard.edges() {
            let fits = footprints.is_some_and(|f| f.describes(state));
            if fits && list.len() < LOOKED_AT && seen.insert(state.clone()) {
                list.push(state.clone());
            }
        }
    };
    meet(&heard, &mut list);
    let mut at = 0;
    while at < list.len() && list.len() < LOOKED_AT && budget.check().is_ok() {
        let state = list[at].clone();
        heard.look_at(Some(&state));
        system.successors(&mut worker, &state, &mut heard);
        meet(&heard, &mut list);
        at += 1;
    }
    let mut varied = vec![0; system.words()];
    for state in &list {
        varied.iter_mut().zip(state).zip(&list[0]).for_each(|((v, a), b)| *v |= a ^ b);
    }
    varied
}

/// A search with one order of the variables.
struct Run<'e> {
    encoding: &'e Encoding,
    arrangement: Arrangement,
}

struct Tried {
    outcome: Outcome,
    paused: bool,
}

impl Run<'_> {
    fn run<S: System>(
        &self,
        system: &S,
        options: &Options,
        budget: &Budget,
        pause: Option<Pause>,
    ) -> Result<Tried, String> {
        let diagrams = Diagrams::new(self.encoding.vars, options.nodes, options.workers as u32, budget);
        let mut outcome =
            Outcome { events: vec![Coverage::default(); system.event_names().len()], ..Outcome::default() };
        let mut search = match Search::new(system, self.encoding, &diagrams, options) {
            Ok(search) => search,
            Err(halt) => {
                outcome.reasons.push(reason(halt, options));
                return Ok(Tried { outcome, paused: false });
            }
        };
        let end = search.run(pause);
        if let Some(fault) = search.learner.fault.take() {
            return Err(fault);
        }
        let paused = end == End::Paused;
        match end {
            End::Limit(reason) => outcome.reasons.push(reason),
            End::Exhausted => outcome.exhausted = true,
            End::Found | End::Paused => {}
        }
        if let Err(halt) = conclude(&mut search, options, &mut outcome, paused) {
            outcome.exhausted = false;
            outcome.reasons.push(reason(halt, options));
        }
        if outcome.exhausted && search.orbits.is_trivial() {
            audit(&mut search)?;
        }
        if !paused {
            outcome.decided = decide::all(&mut search, options, outcome.exhausted);
            if let Some(fault) = search.learner.fault.take() {
                return Err(fault);
            }
        }
        self.figures(&search, options, &mut outcome);
        Ok(Tried { outcome, paused })
    }

    fn figures<S: System>(&self, search: &Search<'_, S>, options: &Options, outcome: &mut Outcome) {
        let learner = &search.learner;
        outcome.figures = Figures {
            variables: self.encoding.current.len() as u32,
            all_variables: self.encoding.vars,
            arrangement: self.arrangement.word(),
            instances: learner.steps.len(),
            nodes_of_states: search.reach.node_count(),
            nodes_of_relations: learner.steps.iter().map(|s| s.relation.node_count()).sum(),
            nodes_expanded: search.nodes_expanded,
            nodes: learner.diagrams.nodes(),
            rounds: search.rounds,
            steps_taken: learner.taken,
            conditions_asked: search.asked,
            exchanges: options.exchanges.len(),
            hints: search.hints_used,
            nodes_of_xi: search.nodes_of_xi,
        };
    }
}

fn reason(halt: Halt, options: &Options) -> Reason {
    match halt {
        Halt::Nodes => Reason::Nodes(options.nodes),
        Halt::Stop(stop) => Reason::of_stop(stop),
    }
}

/// Counts what was reached, and finds the path to what was found.
fn conclude<S: System>(
    search: &mut Search<'_, S>,
    options: &Options,
    outcome: &mut Outcome,
    paused: bool,
) -> Halted<()> {
    let (diagrams, encoding) = (search.learner.diagrams, search.learner.encoding);
    let counted = encoding.current.len() as u32;
    diagrams.grant_a_moment();
    outcome.kept = diagrams.size(&search.reach, counted);
    outcome.initial = diagrams.size(&search.initial, counted);
    outcome.undefined = search.learner.heard.undefined.clone();
    outcome.undefined.sort_unstable();
    outcome.reasons.extend(search.learner.heard.reasons.iter().map(|n| Reason::System(*n)));
    if search.learner.escaped {
        outcome.reasons.push(Reason::Escaped);
    }
    if search.undecided {
        outcome.reasons.push(Reason::Undecided);
    }
    for e in options.exchanges.iter().filter(|e| !e.proved) {
        outcome.reasons.push(Reason::Unproved(format!("{} {} {}", e.set, e.elements[0], e.elements[1])));
    }
    if paused {
        return Ok(());
    }
    for kind in FindingKind::ALL {
        let of_kind = || search.shown.iter().filter(|s| s.finding.kind == kind);
        let states = diagrams.union(of_kind().map(|s| s.states.clone()).collect())?;
        if of_kind().next().is_some() {
            outcome.counts.insert(kind, diagrams.size(&states, counted).max(1u8.into()));
        }
    }
    if !search.shown.is_empty() {
        match found(search) {
            Ok(found) => outcome.found = found,
            Err(_) => outcome.reasons.push(Reason::PathLost),
        }
    }
    if search.orbits.is_trivial() {
        outcome.states = Some(outcome.kept.clone());
    } else if options.exchanges.iter().all(|e| e.proved) && search.orbits.is_closed(&search.initial)? {
        outcome.states = if outcome.exhausted { Some(search.count(counted)?) } else { None };
    }
    count_transitions(search, outcome)
}

/// In how many of the kept states each event is enabled, and how many transitions there are if their labels need not be looked at.
fn count_transitions<S: System>(search: &Search<'_, S>, outcome: &mut Outcome) -> Halted<()> {
    let (diagrams, encoding) = (search.learner.diagrams, search.learner.encoding);
    let counted = encoding.current.len() as u32;
    for (event, coverage) in outcome.events.iter_mut().enumerate() {
        let steps = || search.learner.steps.iter().filter(move |s| s.event.0 as usize == event);
        let enabled = diagrams.union(steps().map(|s| s.enabled.clone()).collect())?;
        coverage.states = diagrams.size(&search.reach.and(&enabled)?, counted);
        if steps().any(|s| !s.ground) || !search.orbits.is_trivial() {
            continue;
        }
        let mut transitions = Default::default();
        for step in steps() {
            transitions += diagrams.size(&search.reach.and(&step.relation)?, counted + step.width());
        }
        coverage.transitions = Some(transitions);
    }
    if outcome.exhausted {
        outcome.transitions = outcome.events.iter().map(|c| c.transitions.clone()).sum();
    }
    Ok(())
}

/// The finding with the shortest path. The last state says what it shows.
fn found<S: System>(search: &Search<'_, S>) -> Halted<Option<Found>> {
    let early = search.shown.iter().find(|s| s.states.is_empty());
    if let Some(early) = early {
        return Ok(Some(Found { finding: early.finding.clone(), path: None }));
    }
    let targets: Vec<Set> = search.shown.iter().map(|s| s.states.clone()).collect();
    let Some((which, path)) = path::shortest(&search.learner, &search.initial, &targets)? else {
        return Err(Halt::Nodes);
    };
    let shown = &search.shown[which];
    let finding = path.last().and_then(|last| shown_by(search.learner.system, shown, &last.state));
    Ok(Some(Found { finding: finding.unwrap_or_else(|| shown.finding.clone()), path: Some(path) }))
}

/// What a state shows when it is looked at by itself: of its kind if possible.
fn shown_by<S: System>(system: &S, shown: &Shown, state: &[u64]) -> Option<Finding> {
    if shown.finding.kind == FindingKind::Deadlock {
        return None;
    }
    let mut worker = system.replay_worker();
    let mut heard = Heard::default();
    heard.look_at(Some(state));
    system.check(&mut worker, state, None, &mut heard);
    system.successors(&mut worker, state, &mut heard);
    let all = || heard.findings.iter().map(|(f, _)| f);
    all().find(|f| f.kind == shown.finding.kind).or_else(|| all().next()).cloned()
}

/// Computes all successors of some states, and all conditions: what was learned must say the same.
fn audit<S: System>(search: &mut Search<'_, S>) -> Result<(), String> {
    let footprints = search.learner.system.footprints().expect("the system has footprints");
    for seed in 0..AUDITED {
        let Some(at) = search.reach.pick_by(seed) else { return Ok(()) };
        let learner = &mut search.learner;
        let state = learner.encoding.state(&at);
        let mut heard = Heard::default();
        heard.look_at(Some(&state));
        learner.system.successors(&mut learner.worker, &state, &mut heard);
        for (event, _, target) in heard.edges() {
            let name = &learner.system.event_names()[event.0 as usize];
            if footprints.describes(target) && !search.reach.has(&learner.encoding.assignment(target)) {
                return Err(format!("a step of {name} leads to a state that the diagrams lack"));
            }
            let enabled = learner.steps.iter().any(|s| s.event == *event && s.enabled.has(&at));
            if !enabled && footprints.describes(target) {
                return Err(format!("{name} is enabled where the diagrams say that it is not"));
            }
        }
        learner.system.check(&mut learner.worker, &state, None, &mut heard);
        let known = |f: &Finding| search.shown.iter().any(|s| s.finding.kind == f.kind);
        if let Some((finding, _)) = heard.findings.iter().find(|(f, _)| !known(f)) {
            let kind = finding.kind.word();
            return Err(format!("a state shows a finding of kind {kind} that the diagrams do not know"));
        }
    }
    Ok(())
}
