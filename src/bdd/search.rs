//! The search on sets of states: from the initial ones until nothing is new.
//!
//! In: learned steps and conditions, limits. Out: the set of reached states, what was found in it.
//! Two ways: chaining, where each step at once goes on from what the steps before it found; and guided search, ring by
//! ring, where hints say which states go first and a symmetry keeps states that are images of others from being
//! expanded. Never here: the order of variables, paths.

use super::condition::{Asking, Learned};
use super::diagram::{Diagrams, Halt, Halted, Set};
use super::encoding::Encoding;
use super::learn::Learner;
use super::orbit::Orbits;
use super::outcome::Reason;
use super::{Options, Symmetry};
use bombus_system::{Finding, FindingKind, NO_INITIAL_STATE, System};
use dashu_int::UBig;

/// States without a step that are looked at one by one, where some steps could not be computed.
const STUCK: usize = 10_000;
/// The limits are looked at once for so many initial states.
const LOOK: usize = 1 << 12;

/// A finding with the states that show it.
pub struct Shown {
    pub finding: Finding,
    pub states: Set,
}

pub struct Search<'s, S: System> {
    pub learner: Learner<'s, S>,
    conditions: Vec<Learned>,
    hints: Vec<Learned>,
    propositions: Vec<(usize, Learned)>,
    pub orbits: Orbits,
    options: &'s Options,
    pub initial: Set,
    /// States that were reached and kept.
    pub reach: Set,
    /// With a symmetry: the reached states and their images; where sorted states tell orbits apart, the reached states alone.
    pub full: Set,
    /// The sorted states of all orbits that were seen, where these tell orbits apart.
    sorted: Set,
    pub shown: Vec<Shown>,
    /// Whether states without a step were too many to look at one by one.
    pub undecided: bool,
    /// Findings of the learner that were taken over.
    taken_over: usize,
    pub rounds: u64,
    pub nodes_expanded: u64,
    pub asked: u64,
    pub hints_used: usize,
    pub nodes_of_xi: usize,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exhausted,
    /// Something was found, and the search was not to go on.
    Found,
    Limit(Reason),
    /// The sample has become large enough to judge the order of the variables.
    Paused,
}

/// When a sample is large enough.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    pub nodes: usize,
    pub rounds: u64,
}

impl<'s, S: System> Search<'s, S> {
    pub fn new(
        system: &'s S,
        encoding: &'s Encoding,
        diagrams: &'s Diagrams,
        options: &'s Options,
    ) -> Halted<Self> {
        let footprints = system.footprints().expect("the system has footprints");
        let (mut conditions, mut hints, mut propositions) = (Vec::new(), Vec::new(), Vec::new());
        for (i, condition) in footprints.conditions.iter().enumerate() {
            let learned = Learned::new(i, condition, encoding, diagrams)?;
            match condition.proposition {
                Some(number) => propositions.push((number, learned)),
                None if learned.finding.is_some() => conditions.push(learned),
                None => hints.push(learned),
            }
        }
        let orbits = Orbits::new(&options.exchanges, options.sigma_rounds, encoding, diagrams)?;
        let none = || diagrams.none.clone();
        Ok(Search {
            learner: Learner::new(system, encoding, diagrams)?,
            conditions,
            hints,
            propositions,
            orbits,
            options,
            initial: none(),
            reach: none(),
            full: none(),
            sorted: none(),
            shown: Vec::new(),
            undecided: false,
            taken_over: 0,
            rounds: 0,
            nodes_expanded: 0,
            asked: 0,
            hints_used: 0,
            nodes_of_xi: 0,
        })
    }

    /// Runs until nothing is new, something is found, or a limit is reached.
    pub fn run(&mut self, pause: Option<Pause>) -> End {
        let result = self.begin().and_then(|()| {
            let guided = !self.orbits.is_trivial() || !self.hints.is_empty();
            if guided { self.guided(pause) } else { self.chained(pause) }
        });
        match result {
            Ok(end) => end,
            Err(Halt::Nodes) => End::Limit(Reason::Nodes(self.options.nodes)),
            Err(Halt::Stop(stop)) => End::Limit(Reason::of_stop(stop)),
        }
    }

    fn begin(&mut self) -> Halted<()> {
        let learner = &mut self.learner;
        let footprints = learner.system.footprints().expect("the system has footprints");
        learner.heard.look_at(None);
        learner.system.initial(&mut learner.worker, &mut learner.heard);
        let mut states = Vec::new();
        for (i, (_, _, state)) in learner.heard.edges().iter().enumerate() {
            if i % LOOK == 0 {
                learner.diagrams.check()?;
            }
            if !footprints.describes(state) {
                learner.escaped = true;
                continue;
            }
            let at = learner.encoding.assignment(state);
            states
                .push(learner.diagrams.cube(learner.encoding.current.iter().map(|v| (*v, at[*v as usize])))?);
        }
        let heard = &mut learner.heard;
        if heard.edges().is_empty() && heard.findings.is_empty() && heard.reasons.is_empty() {
            let kind = FindingKind::Properties;
            heard.findings.push((Finding { kind, property: NO_INITIAL_STATE, event: None }, None));
        }
        self.initial = learner.diagrams.union(states)?;
        self.reach = self.initial.clone();
        self.full = self.initial.clone();
        Ok(())
    }

    /// Whether the search has found enough.
    fn is_over(&mut self) -> Halted<bool> {
        let learner = &self.learner;
        for (finding, state) in &learner.heard.findings[self.taken_over..] {
            let states = match state {
                None => learner.diagrams.none.clone(),
                Some(state) => {
                    let at = learner.encoding.assignment(state);
                    learner.diagrams.cube(learner.encoding.current.iter().map(|v| (*v, at[*v as usize])))?
                }
            };
            self.shown.push(Shown { finding: finding.clone(), states });
        }
        self.taken_over = learner.heard.findings.len();
        Ok(learner.fault.is_some() || !self.options.keep_going && !self.shown.is_empty())
    }

    /// Looks at the conditions in new states.
    fn check(&mut self, states: &Set) -> Halted<()> {
        let Search { learner, conditions, asked, shown, .. } = self;
        let mut ask = Asking {
            system: learner.system,
            worker: &mut learner.worker,
            encoding: learner.encoding,
            diagrams: learner.diagrams,
            heard: &mut learner.heard,
            asked,
        };
        for condition in conditions {
            let found = condition.find(states, &mut ask)?;
            if let (false, Some(finding)) = (found.is_empty(), &condition.finding) {
                show(shown, finding, found)?;
            }
        }
        Ok(())
    }

    /// Looks for states without a step. All steps must have been learned there.
    fn check_deadlock(&mut self, states: &Set) -> Halted<()> {
        if !self.options.check_deadlock {
            return Ok(());
        }
        let mut stuck = states.clone();
        for step in &self.learner.steps {
            if stuck.is_empty() {
                return Ok(());
            }
            stuck = stuck.without(&step.enabled)?;
        }
        // A state whose successors could not all be computed is not known to be stuck.
        let learner = &mut self.learner;
        let suspicious =
            learner.escaped || !learner.heard.findings.is_empty() || !learner.heard.reasons.is_empty();
        let mut sound = Vec::new();
        let mut looked_at = 0;
        while let Some(one) = stuck.pick() {
            looked_at += 1;
            if looked_at > STUCK {
                self.undecided = true;
                break;
            }
            let state = learner.encoding.state(&one);
            learner.heard.look_at(Some(&state));
            learner.system.successors(&mut learner.worker, &state, &mut learner.heard);
            let is_stuck = !learner.heard.flawed
                && learner.heard.edges().is_empty()
                && !learner.system.terminated(&mut learner.worker, &state);
            if is_stuck && !suspicious {
                sound.push(stuck);
                break;
            }
            let footprints = learner.system.footprints().expect("the system has footprints");
            if learner.heard.edges().iter().any(|e| footprints.describes(&e.2)) {
                learner.fault = Some("a state has a step where the diagrams have none".into());
            }
            let cube =
                learner.diagrams.cube(learner.encoding.current.iter().map(|v| (*v, one[*v as usize])))?;
            stuck = stuck.without(&cube)?;
            if is_stuck {
                sound.push(cube);
            }
            learner.diagrams.check()?;
        }
        let stuck = learner.diagrams.union(sound)?;
        if !stuck.is_empty() {
            let finding = Finding { kind: FindingKind::Deadlock, property: 0, event: None };
            show(&mut self.shown, &finding, stuck)?;
        }
        Ok(())
    }

    /// Each step goes on from what the steps before it found in the same round.
    fn chained(&mut self, pause: Option<Pause>) -> Halted<End> {
        let mut new = self.initial.clone();
        let order = self.bottom_up();
        loop {
            if new.is_empty() {
                return Ok(if self.is_over()? { End::Found } else { End::Exhausted });
            }
            self.check(&new)?;
            if self.is_over()? {
                return Ok(End::Found);
            }
            if let Some(end) = self.pauses(pause) {
                return Ok(end);
            }
            let mut found = self.learner.diagrams.none.clone();
            let mut from = new.clone();
            for step in &order {
                self.learner.diagrams.check()?;
                self.learner.learn(*step, &from)?;
                let step = &self.learner.steps[*step];
                if step.is_idle() {
                    continue;
                }
                let next = step.image(&from)?.without(&self.reach)?;
                if !next.is_empty() {
                    self.reach = self.reach.or(&next)?;
                    found = found.or(&next)?;
                    from = from.or(&next)?;
                }
            }
            self.rounds += 1;
            self.nodes_expanded += from.node_count() as u64;
            self.check_deadlock(&new)?;
            self.full = self.reach.clone();
            new = found;
        }
    }

    /// Steps on lower variables first: what they find is small.
    fn bottom_up(&self) -> Vec<usize> {
        let steps = &self.learner.steps;
        let mut order: Vec<usize> = (0..steps.len()).collect();
        let top = |i: usize| steps[i].view.vars.first().copied().unwrap_or(0);
        order.sort_by_key(|i| (std::cmp::Reverse(top(*i)), *i));
        order
    }

    /// Whether the search has to end here for another reason than a finding.
    fn pauses(&self, pause: Option<Pause>) -> Option<End> {
        if let Some(pause) = pause
            && (self.reach.node_count() > pause.nodes || self.rounds >= pause.rounds)
        {
            return Some(End::Paused);
        }
        let most = self.options.max_states?;
        let states = self.learner.diagrams.size(&self.reach, self.learner.encoding.current.len() as u32);
        (states > most.into()).then_some(End::Limit(Reason::States(most)))
    }

    /// Ring by ring: the states of a hint first, images of seen states never.
    fn guided(&mut self, pause: Option<Pause>) -> Halted<End> {
        let diagrams = self.learner.diagrams;
        self.check(&self.initial.clone())?;
        (self.full, self.reach) = (diagrams.none.clone(), diagrams.none.clone());
        self.reach = self.keep(self.initial.clone())?;
        let mut waiting = self.reach.clone();
        let mut hint = 0;
        loop {
            if self.is_over()? {
                return Ok(End::Found);
            }
            if let Some(end) = self.pauses(pause) {
                return Ok(end);
            }
            let under = self.under(hint, &waiting)?;
            if under.is_empty() {
                if hint >= self.hints.len() {
                    self.hints_used = hint + 1;
                    return Ok(End::Exhausted);
                }
                hint += 1;
                continue;
            }
            waiting = waiting.without(&under)?;
            let mut next = Vec::new();
            for step in 0..self.learner.steps.len() {
                diagrams.check()?;
                self.learner.learn(step, &under)?;
                let step = &self.learner.steps[step];
                if !step.is_idle() {
                    next.push(step.image(&under)?);
                }
            }
            self.rounds += 1;
            self.nodes_expanded += under.node_count() as u64;
            self.check_deadlock(&under)?;
            let kept = self.keep(diagrams.union(next)?)?;
            self.reach = self.reach.or(&kept)?;
            waiting = waiting.or(&kept)?;
        }
    }

    /// What is kept of some states: those that are no images of seen ones, and with `Symmetry::Orbits` one of each orbit.
    fn keep(&mut self, states: Set) -> Halted<Set> {
        let (encoding, diagrams) = (self.learner.encoding, self.learner.diagrams);
        let orbits = self.options.symmetry == Symmetry::Orbits;
        if orbits && self.orbits.are_sorted() {
            let kept = self.orbits.pick_unseen(&states, &mut self.sorted, diagrams)?;
            self.check(&kept)?;
            self.full = self.full.or(&kept)?;
            return Ok(kept);
        }
        let new = states.without(&self.full)?;
        self.check(&new)?;
        self.full = self.full.or(&self.orbits.close(&new, self.orbits.rounds, diagrams)?)?;
        if orbits { self.orbits.pick(&new, encoding, diagrams) } else { Ok(new) }
    }

    /// How many states there are in the orbits of all that were seen, counted over `counted` variables.
    pub fn count(&self, counted: u32) -> Halted<UBig> {
        let diagrams = self.learner.diagrams;
        if self.options.symmetry == Symmetry::Orbits && self.orbits.are_sorted() {
            return self.orbits.size(&self.sorted, counted, diagrams);
        }
        Ok(diagrams.size(&self.orbits.close(&self.full, None, diagrams)?, counted))
    }

    /// The waiting states that a hint lets go first; after the last hint, all.
    fn under(&mut self, hint: usize, waiting: &Set) -> Halted<Set> {
        let Search { learner, hints, asked, .. } = self;
        let Some(hint) = hints.get_mut(hint) else { return Ok(waiting.clone()) };
        let mut ask = Asking {
            system: learner.system,
            worker: &mut learner.worker,
            encoding: learner.encoding,
            diagrams: learner.diagrams,
            heard: &mut learner.heard,
            asked,
        };
        hint.find(waiting, &mut ask)
    }
}

impl<S: System> Search<'_, S> {
    /// The members of `states` in which a proposition is false; none if it has no truth value in some of them. One that
    /// has no part that may be false is false nowhere.
    pub fn proposition(&mut self, number: usize, states: &Set) -> Halted<Option<Set>> {
        let Search { learner, propositions, asked, .. } = self;
        let Some((_, learned)) = propositions.iter_mut().find(|(n, _)| *n == number) else {
            return Ok(Some(learner.diagrams.none.clone()));
        };
        let mut ask = Asking {
            system: learner.system,
            worker: &mut learner.worker,
            encoding: learner.encoding,
            diagrams: learner.diagrams,
            heard: &mut learner.heard,
            asked,
        };
        let failing = learned.find(states, &mut ask)?;
        Ok((!learned.unknown).then_some(failing))
    }
}

/// Adds states that show a finding.
fn show(shown: &mut Vec<Shown>, finding: &Finding, states: Set) -> Halted<()> {
    match shown.iter_mut().find(|s| s.finding == *finding) {
        Some(known) => known.states = known.states.or(&states)?,
        None => shown.push(Shown { finding: finding.clone(), states }),
    }
    Ok(())
}
