//! Learned relations: what a step does, found out by taking it from states that were reached.
//!
//! In: sets of reached states, a system that computes single steps. Out: for each instance of an event the relation
//! between what it reads and what it writes, as far as reached states go.
//!
//! A step is a function of the bits that its footprint says it reads. So for each valuation of these bits one real
//! state is enough, and what it shows holds for all states with that valuation. A relation is sound because nothing
//! but what the system itself did from a reached state ever enters it. Two things are tested on the way, and break a
//! run: a step that changes a bit it was not said to write, and a step that goes another way from another state with
//! the same valuation. Never here: which states are looked at when.

use super::diagram::{Diagrams, Halted, Renaming, Set};
use super::encoding::Encoding;
use bombus_base::hash::HashSet;
use bombus_system::{EventId, Finding, Footprint, Sink, System};
use oxidd::VarNo;

/// Valuations of one step that are tried from a second state.
const TRIED_TWICE: usize = 8;

/// What is seen of a state: a projection to the bits that something reads.
pub struct View {
    bits: Vec<u64>,
    pub vars: Vec<VarNo>,
    /// All other variables of the state, to be projected away.
    hidden: Set,
    known: HashSet<Box<[u64]>>,
    pub seen: Set,
    fresh: Vec<Set>,
}

impl View {
    pub fn new(bits: &[u64], encoding: &Encoding, diagrams: &Diagrams) -> Halted<View> {
        let vars = encoding.vars_of(bits);
        let others = encoding.current.iter().copied().filter(|v| vars.binary_search(v).is_err());
        Ok(View {
            bits: bits.to_vec(),
            hidden: diagrams.variables(others)?,
            vars,
            known: HashSet::default(),
            seen: diagrams.none.clone(),
            fresh: Vec::new(),
        })
    }

    fn key(&self, state: &[u64]) -> Box<[u64]> {
        state.iter().zip(&self.bits).map(|(s, b)| s & b).collect()
    }

    /// The valuation that an assignment has, as a set of states.
    fn cube(&self, diagrams: &Diagrams, assignment: &[bool]) -> Halted<Set> {
        diagrams.cube(self.vars.iter().map(|v| (*v, assignment[*v as usize])))
    }

    /// Marks what is seen of a state; the valuation if it is new.
    pub fn meet(&mut self, diagrams: &Diagrams, state: &[u64], assignment: &[bool]) -> Halted<Option<Set>> {
        let key = self.key(state);
        if !self.known.insert(key) {
            return Ok(None);
        }
        let cube = self.cube(diagrams, assignment)?;
        self.fresh.push(cube.clone());
        Ok(Some(cube))
    }

    /// Brings `seen` up to date.
    pub fn settle(&mut self, diagrams: &Diagrams) -> Halted<()> {
        if !self.fresh.is_empty() {
            let fresh = diagrams.union(std::mem::take(&mut self.fresh))?;
            self.seen = self.seen.or(&fresh)?;
        }
        Ok(())
    }

    /// What is seen of `states` and was never seen before.
    pub fn unseen(&mut self, diagrams: &Diagrams, states: &Set) -> Halted<Set> {
        self.settle(diagrams)?;
        // If all states look familiar there is no need to project.
        let open = states.without(&self.seen)?;
        if open.is_empty() { Ok(open) } else { Ok(open.exists(&self.hidden)?) }
    }

    /// A real state of `states` whose valuation is one of `open`, and `open` without that valuation.
    pub fn sample(&self, diagrams: &Diagrams, states: &Set, open: &Set) -> Halted<Option<(Sample, Set)>> {
        let Some(short) = open.pick() else { return Ok(None) };
        let cube = self.cube(diagrams, &short)?;
        let inside = states.and(&cube)?;
        let first =
            inside.pick().expect("a projection of a set has a member of the set behind each of its own");
        let sample = Sample { first, inside };
        Ok(Some((sample, open.without(&cube)?)))
    }
}

/// A state with a valuation, and all states with the same.
pub struct Sample {
    pub first: Vec<bool>,
    inside: Set,
}

impl Sample {
    /// Another state with the same valuation, if there is one.
    fn second(&self) -> Option<Vec<bool>> {
        self.inside.pick_other().filter(|other| *other != self.first)
    }
}

/// An instance of an event with what is known of its relation.
pub struct Step {
    pub event: EventId,
    pub ground: bool,
    pub view: View,
    writes: Vec<u64>,
    /// The written variables before and after the step.
    written: Vec<VarNo>,
    before: Set,
    after: Set,
    down: Renaming,
    up: Renaming,
    /// Between what is read and what is written.
    pub relation: Set,
    /// Where the step can be taken.
    pub enabled: Set,
    fresh: (Vec<Set>, Vec<Set>),
    tried_twice: usize,
}

impl Step {
    pub fn new(footprint: &Footprint, encoding: &Encoding, diagrams: &Diagrams) -> Halted<Step> {
        let written = encoding.vars_of(&footprint.writes);
        let primed =
            |v: &VarNo| encoding.primed(*v).expect("what a step writes has a copy for the state after it");
        let pairs: Vec<(VarNo, VarNo)> = written.iter().map(|v| (primed(v), *v)).collect();
        let back: Vec<(VarNo, VarNo)> = pairs.iter().map(|(p, v)| (*v, *p)).collect();
        Ok(Step {
            event: footprint.event,
            ground: footprint.ground,
            view: View::new(&footprint.reads, encoding, diagrams)?,
            writes: footprint.writes.clone(),
            before: diagrams.variables(written.iter().copied())?,
            after: diagrams.variables(pairs.iter().map(|p| p.0))?,
            written,
            down: diagrams.renaming(&pairs)?,
            up: diagrams.renaming(&back)?,
            relation: diagrams.none.clone(),
            enabled: diagrams.none.clone(),
            fresh: Default::default(),
            tried_twice: 0,
        })
    }

    /// Whether the step never changes anything.
    pub fn is_idle(&self) -> bool {
        self.written.is_empty()
    }

    /// How many variables the step writes.
    pub fn width(&self) -> u32 {
        self.written.len() as u32
    }

    /// The states that the step leads to from `states`.
    pub fn image(&self, states: &Set) -> Halted<Set> {
        self.down.of(&states.and_exists(&self.relation, &self.before)?)
    }

    /// The states from which the step leads to `states`.
    pub fn preimage(&self, states: &Set) -> Halted<Set> {
        self.up.of(states)?.and_exists(&self.relation, &self.after)
    }

    /// The states from which the step leads to another state.
    pub fn moving(&self, encoding: &Encoding, diagrams: &Diagrams) -> Halted<Set> {
        let mut still = self.relation.clone();
        for var in &self.written {
            let copy = encoding.primed(*var).expect("what a step writes has a copy for the state after it");
            let both = diagrams.cube([(*var, true), (copy, true)])?;
            let neither = diagrams.cube([(*var, false), (copy, false)])?;
            still = still.and(&both.or(&neither)?)?;
        }
        self.relation.without(&still)?.exists(&self.after)
    }

    /// Enters what the step does where it reads what it reads in one state.
    fn enter(
        &mut self,
        from: &Set,
        targets: &[Vec<bool>],
        encoding: &Encoding,
        diagrams: &Diagrams,
    ) -> Halted<()> {
        for target in targets {
            let copy = |v: &VarNo| (encoding.primed(*v).expect("written"), target[*v as usize]);
            let after = diagrams.cube(self.written.iter().map(copy))?;
            self.fresh.0.push(from.and(&after)?);
        }
        if !targets.is_empty() {
            self.fresh.1.push(from.clone());
        }
        Ok(())
    }

    fn settle(&mut self, diagrams: &Diagrams) -> Halted<()> {
        let (relation, enabled) = std::mem::take(&mut self.fresh);
        if !enabled.is_empty() {
            self.relation = self.relation.or(&diagrams.union(relation)?)?;
            self.enabled = self.enabled.or(&diagrams.union(enabled)?)?;
        }
        self.view.settle(diagrams)
    }
}

/// What the system said while it was asked about single states.
#[derive(Default)]
pub struct Heard {
    edges: Vec<(EventId, u64, Vec<u64>)>,
    /// Each finding once, with the first state that showed it; none if it was no state.
    pub findings: Vec<(Finding, Option<Vec<u64>>)>,
    pub reasons: Vec<u32>,
    /// Events with a guard that was undefined somewhere.
    pub undefined: Vec<EventId>,
    /// The state that is looked at.
    at: Option<Vec<u64>>,
    /// Something was found or left open in this state.
    pub flawed: bool,
}

impl Heard {
    pub fn look_at(&mut self, state: Option<&[u64]>) {
        self.at = state.map(<[u64]>::to_vec);
        self.edges.clear();
        self.flawed = false;
    }

    pub fn edges(&self) -> &[(EventId, u64, Vec<u64>)] {
        &self.edges
    }
}

impl Sink for Heard {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push((event, label, target.to_vec()));
    }

    fn finding(&mut self, finding: Finding) {
        self.flawed = true;
        if !self.findings.iter().any(|(known, _)| *known == finding) {
            self.findings.push((finding, self.at.clone()));
        }
    }

    fn incomplete(&mut self, reason: u32) {
        self.flawed = true;
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn undefined_guard(&mut self, event: EventId) {
        if !self.undefined.contains(&event) {
            self.undefined.push(event);
        }
    }
}

/// Learns the relations of all steps.
pub struct Learner<'s, S: System> {
    pub system: &'s S,
    pub worker: S::Worker,
    pub encoding: &'s Encoding,
    pub diagrams: &'s Diagrams,
    pub steps: Vec<Step>,
    by_event: Vec<Vec<usize>>,
    pub heard: Heard,
    /// States without a place in the fields were met, and left out.
    pub escaped: bool,
    /// The system contradicts its footprints.
    pub fault: Option<String>,
    /// Single steps that were computed.
    pub taken: u64,
}

impl<'s, S: System> Learner<'s, S> {
    pub fn new(system: &'s S, encoding: &'s Encoding, diagrams: &'s Diagrams) -> Halted<Self> {
        let footprints = system.footprints().expect("the system has footprints");
        let mut steps = Vec::new();
        let mut by_event = vec![Vec::new(); system.event_names().len()];
        for (i, footprint) in footprints.instances.iter().enumerate() {
            diagrams.check()?;
            by_event[footprint.event.0 as usize].push(i);
            steps.push(Step::new(footprint, encoding, diagrams)?);
        }
        Ok(Learner {
            system,
            worker: system.worker(),
            encoding,
            diagrams,
            steps,
            by_event,
            heard: Heard::default(),
            escaped: false,
            fault: None,
            taken: 0,
        })
    }

    /// Finds out what a step does in all of `states`.
    pub fn learn(&mut self, step: usize, states: &Set) -> Halted<()> {
        let mut open = self.steps[step].view.unseen(self.diagrams, states)?;
        while let Some((sample, rest)) = self.steps[step].view.sample(self.diagrams, states, &open)? {
            self.diagrams.check()?;
            open = rest;
            self.take(step, &sample.first)?;
            if self.steps[step].tried_twice < TRIED_TWICE
                && let Some(second) = sample.second()
            {
                self.steps[step].tried_twice += 1;
                self.try_again(step, &sample.first, &second);
            }
        }
        for at in self.by_event[self.steps[step].event.0 as usize].clone() {
            self.steps[at].settle(self.diagrams)?;
        }
        Ok(())
    }

    /// Takes all steps of an event from one state, and enters what they do.
    fn take(&mut self, step: usize, assignment: &[bool]) -> Halted<()> {
        let state = self.encoding.state(assignment);
        let event = self.steps[step].event;
        let targets = self.targets(event, &state);
        for at in &self.by_event[event.0 as usize] {
            let known = &mut self.steps[*at];
            if let Some(from) = known.view.meet(self.diagrams, &state, assignment)? {
                let mine: Vec<Vec<bool>> = targets
                    .iter()
                    .filter(|(i, _)| i == at)
                    .map(|(_, t)| self.encoding.assignment(t))
                    .collect();
                known.enter(&from, &mine, self.encoding, self.diagrams)?;
            }
        }
        Ok(())
    }

    /// The targets of all steps of an event from a state, each with the instance it belongs to.
    fn targets(&mut self, event: EventId, state: &[u64]) -> Vec<(usize, Vec<u64>)> {
        self.taken += 1;
        self.heard.look_at(Some(state));
        self.system.event(&mut self.worker, state, event, &mut self.heard);
        let footprints = self.system.footprints().expect("the system has footprints");
        let mut targets = Vec::new();
        for (event, label, target) in self.heard.edges.drain(..) {
            if !footprints.describes(&target) {
                self.escaped = true;
                continue;
            }
            let name = || &self.system.event_names()[event.0 as usize];
            let Some(instance) = self.system.instance(event, label) else {
                self.fault = Some(format!("a step of {} belongs to no instance of it", name()));
                continue;
            };
            let writes = &self.steps[instance.0 as usize].writes;
            let kept = state.iter().zip(&target).zip(writes).all(|((a, b), w)| (a ^ b) & !w == 0);
            if !kept {
                self.fault = Some(format!("a step of {} writes more than its text names", name()));
            }
            targets.push((instance.0 as usize, target));
        }
        targets
    }

    /// From another state with the same valuation a step must do the same.
    fn try_again(&mut self, step: usize, first: &[bool], second: &[bool]) {
        let Step { event, writes, .. } = &self.steps[step];
        let (event, writes) = (*event, writes.clone());
        let done = |learner: &mut Self, assignment: &[bool]| {
            let state = learner.encoding.state(assignment);
            let targets = learner.targets(event, &state);
            let mine = targets.into_iter().filter(|(i, _)| *i == step);
            let mut done: Vec<Vec<u64>> =
                mine.map(|(_, t)| t.iter().zip(&writes).map(|(t, w)| t & w).collect()).collect();
            done.sort_unstable();
            done.dedup();
            done
        };
        if done(self, first) != done(self, second) {
            let name = &self.system.event_names()[event.0 as usize];
            self.fault = Some(format!("a step of {name} reads more than its text names"));
        }
    }
}
