//! Random systems of guarded steps over a few small cells, with their exact relations.
//!
//! In: a seed, or events written by hand. Out: a `System`. An event has one or two instances, an
//! instance one or two outcomes. Never here: what is compared.

use super::alike::{Alike, Sorted};
use crate::reduce::por::Preserve;
use bombus_kernels::hash;
use bombus_system::{
    EventId, Finding, FindingKind, GuardId, InstanceId, Orbits, Relations, Rows, Sink, System,
};

pub const CELLS: usize = 5;

/// Rules of the literature that lose something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// A step that keeps the invariant wherever it holds counts as invisible.
    ProvenIsInvisible,
    /// Events with parameters are compared as wholes: by what they read in actions, write, and
    /// whether one can disable the other altogether.
    WholeEvents,
    /// What the proviso asks for is taken from another state of the orbit than what was followed first.
    AnotherOfTheOrbit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Set(bool),
    Flip,
    Copy(usize),
}

#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub event: u32,
    /// Cells and the values they must have.
    pub guards: Vec<(usize, bool)>,
    /// Alternatives; each writes some cells at once.
    pub outcomes: Vec<Vec<(usize, Update)>>,
}

impl Instance {
    pub fn enabled(&self, s: u64) -> bool {
        self.guards.iter().all(|(c, v)| (s >> c & 1 != 0) == *v)
    }

    pub fn targets(&self, s: u64) -> Vec<u64> {
        if !self.enabled(s) {
            return Vec::new();
        }
        let mut targets: Vec<u64> = self
            .outcomes
            .iter()
            .map(|writes| {
                writes.iter().fold(s, |t, (cell, update)| {
                    let bit = match update {
                        Update::Set(v) => u64::from(*v),
                        Update::Flip => !(s >> cell) & 1,
                        Update::Copy(from) => s >> from & 1,
                    };
                    t & !(1 << cell) | bit << cell
                })
            })
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    fn writes(&self) -> u64 {
        self.outcomes.iter().flatten().fold(0, |set, (c, _)| set | 1 << c)
    }

    fn reads_in_actions(&self) -> u64 {
        self.outcomes.iter().flatten().fold(0, |set, (c, u)| match u {
            Update::Set(_) => set,
            Update::Flip => set | 1 << c,
            Update::Copy(from) => set | 1 << from,
        })
    }
}

pub struct Guarded {
    pub cells: usize,
    /// Processes that are alike: states that differ by their order count as one.
    pub alike: Option<Alike>,
    pub instances: Vec<Instance>,
    /// Bad states satisfy all of these.
    pub bad: Vec<(usize, bool)>,
    /// Propositions for paths: states satisfy all literals of one.
    pub propositions: [Vec<(usize, bool)>; 2],
    pub relations: Relations,
    guards: Vec<(usize, bool)>,
    fault: Fault,
    names: Vec<String>,
    pub initial: Vec<u64>,
}

fn satisfies(s: u64, literals: &[(usize, bool)]) -> bool {
    literals.iter().all(|(c, v)| (s >> c & 1 != 0) == *v)
}

impl Guarded {
    pub fn random(seed: u64, preserve: Preserve, fault: Fault) -> Guarded {
        let mut state = hash::mix(seed ^ 0x5eed_0fb0);
        let mut random = |below: usize| {
            state = hash::mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            (state % below as u64) as usize
        };
        let mut instances = Vec::new();
        let events = 2 + random(4) as u32;
        for event in 0..events {
            let copies = 1 + random(5) / 3;
            for _ in 0..copies {
                let guards = (0..1 + random(2)).map(|_| (random(CELLS), random(2) == 0)).collect();
                let outcomes = (0..1 + random(6) / 5)
                    .map(|_| {
                        (0..1 + random(4) / 3)
                            .map(|_| {
                                let update = match random(6) {
                                    0 | 1 => Update::Set(true),
                                    2 | 3 => Update::Set(false),
                                    4 => Update::Flip,
                                    _ => Update::Copy(random(CELLS)),
                                };
                                (random(CELLS), update)
                            })
                            .collect()
                    })
                    .collect();
                instances.push(Instance { event, guards, outcomes });
            }
        }
        let literals = |random: &mut dyn FnMut(usize) -> usize, n: usize| -> Vec<(usize, bool)> {
            (0..n).map(|_| (random(CELLS), random(2) == 0)).collect()
        };
        let bad = literals(&mut random, 2);
        let propositions = [literals(&mut random, 1), literals(&mut random, 1)];
        // Two initial states that differ in one cell, every third time.
        let first = random(1 << CELLS) as u64;
        let initial = match random(3) {
            0 => vec![first, first ^ 1 << random(CELLS)],
            _ => vec![first],
        };
        Guarded::new(instances, bad, propositions, initial, preserve, fault)
    }

    pub fn new(
        instances: Vec<Instance>,
        bad: Vec<(usize, bool)>,
        propositions: [Vec<(usize, bool)>; 2],
        initial: Vec<u64>,
        preserve: Preserve,
        fault: Fault,
    ) -> Guarded {
        Guarded::build(CELLS, None, instances, bad, propositions, initial).related(preserve, fault)
    }

    /// A system without relations.
    pub fn build(
        cells: usize,
        alike: Option<Alike>,
        instances: Vec<Instance>,
        bad: Vec<(usize, bool)>,
        propositions: [Vec<(usize, bool)>; 2],
        initial: Vec<u64>,
    ) -> Guarded {
        let events = instances.iter().map(|i| i.event + 1).max().unwrap_or(0);
        let mut guards: Vec<(usize, bool)> = instances.iter().flat_map(|i| i.guards.clone()).collect();
        guards.sort_unstable();
        guards.dedup();
        Guarded {
            cells,
            alike,
            relations: Relations::default(),
            instances,
            bad,
            propositions,
            guards,
            fault: Fault::None,
            names: (0..events).map(|e| format!("e{e}")).collect(),
            initial,
        }
    }

    /// The system with its relations.
    pub fn related(mut self, preserve: Preserve, fault: Fault) -> Guarded {
        self.fault = fault;
        self.relations = if self.whole_events() { self.event_relations() } else { self.exact_relations() };
        for group in 0..self.relations.len() {
            if (0..self.states()).any(|s| self.shows(group, s, preserve, fault)) {
                self.relations.make_visible(group);
            }
        }
        self
    }

    fn states(&self) -> u64 {
        1 << self.cells
    }

    fn whole_events(&self) -> bool {
        self.fault == Fault::WholeEvents
    }

    /// Whether a state satisfies all literals; where processes are alike, in some order of them.
    pub fn satisfies(&self, s: u64, literals: &[(usize, bool)]) -> bool {
        match &self.alike {
            None => satisfies(s, literals),
            Some(alike) => alike.orbit(s).into_iter().any(|t| satisfies(t, literals)),
        }
    }

    /// Whether a step of a group from `s` makes it visible.
    fn shows(&self, group: usize, s: u64, preserve: Preserve, fault: Fault) -> bool {
        let bad = |s| self.satisfies(s, &self.bad);
        self.targets_of(group, s).iter().any(|&t| match (preserve, fault) {
            (Preserve::Paths, _) => {
                self.propositions.iter().any(|p| self.satisfies(s, p) != self.satisfies(t, p))
            }
            (_, Fault::ProvenIsInvisible) => !bad(s) && bad(t),
            _ => bad(s) && !bad(t),
        })
    }

    /// The groups of transitions that relations speak of: instances, or whole events.
    fn members(&self, group: usize) -> impl Iterator<Item = (usize, &Instance)> {
        let whole = self.whole_events();
        self.instances
            .iter()
            .enumerate()
            .filter(move |(i, instance)| if whole { instance.event as usize == group } else { *i == group })
    }

    fn targets_of(&self, group: usize, s: u64) -> Vec<u64> {
        self.members(group).flat_map(|(_, i)| i.targets(s)).collect()
    }

    /// Whether two instances accord in a state in which both are enabled.
    fn accord(a: &Instance, b: &Instance, s: u64) -> bool {
        a.targets(s).iter().all(|&x| {
            b.targets(s).iter().all(|&y| {
                let (xb, ya) = (b.targets(x), a.targets(y));
                xb.iter().any(|z| ya.contains(z))
                    && xb.len() == b.targets(s).len()
                    && ya.len() == a.targets(s).len()
            })
        }) && {
            // Every outcome finds its counterpart, not only some pair.
            let both = |first: &Instance, second: &Instance| {
                let mut all: Vec<u64> = first.targets(s).iter().flat_map(|x| second.targets(*x)).collect();
                all.sort_unstable();
                all.dedup();
                all
            };
            both(a, b) == both(b, a)
        }
    }

    fn exact_relations(&self) -> Relations {
        let all = &self.instances;
        let guards: Vec<Vec<GuardId>> = all
            .iter()
            .map(|i| {
                let find = |g| self.guards.iter().position(|h| h == g).unwrap_or(0);
                i.guards.iter().map(|g| GuardId(find(g) as u32)).collect()
            })
            .collect();
        let events = all.iter().map(|i| EventId(i.event)).collect();
        let mut r = Relations::unrelated(events, guards, self.guards.len());
        for (a, ia) in all.iter().enumerate() {
            for s in (0..self.states()).filter(|s| ia.enabled(*s)) {
                for (b, ib) in all.iter().enumerate() {
                    if ib.enabled(s) {
                        r.together.insert(a, b);
                        if a == b || !Guarded::accord(ia, ib, s) {
                            r.dependent.insert(a, b);
                            r.dependent.insert(b, a);
                        }
                    }
                    for t in ia.targets(s) {
                        if !ib.enabled(s) && ib.enabled(t) {
                            r.enables.insert(a, b);
                        }
                        if ib.enabled(s) && !ib.enabled(t) {
                            r.disables.insert(a, b);
                        }
                    }
                }
                for (g, (c, v)) in self.guards.iter().enumerate() {
                    let holds = |s: u64| (s >> c & 1 != 0) == *v;
                    for t in ia.targets(s) {
                        if !holds(s) && holds(t) {
                            r.enablers.insert(g, a);
                        }
                        if holds(s) && !holds(t) {
                            r.disablers.insert(g, a);
                        }
                    }
                }
            }
        }
        r
    }

    /// Relations of whole events by the paper's algorithms 2 and 3, which are for events that do one
    /// thing in each state.
    fn event_relations(&self) -> Relations {
        let n = self.names.len();
        let events = (0..n as u32).map(EventId).collect();
        let guards = (0..n as u32).map(|e| vec![GuardId(e)]).collect();
        let mut r = Relations::unrelated(events, guards, n);
        r.askable = vec![false; n];
        let enabled = |e: usize, s: u64| self.members(e).any(|(_, i)| i.enabled(s));
        let union = |e: usize, f: fn(&Instance) -> u64| self.members(e).fold(0, |set, (_, i)| set | f(i));
        let mut turns_off = Rows::new(n, n);
        for a in 0..n {
            for s in (0..self.states()).filter(|s| enabled(a, *s)) {
                for t in self.targets_of(a, s) {
                    for b in 0..n {
                        if enabled(b, s) && !enabled(b, t) {
                            turns_off.insert(a, b);
                        }
                        if !enabled(b, s) && enabled(b, t) {
                            r.enables.insert(a, b);
                            r.enablers.insert(b, a);
                        }
                    }
                }
            }
        }
        for a in 0..n {
            for b in 0..n {
                let (wa, wb) = (union(a, Instance::writes), union(b, Instance::writes));
                let (ra, rb) = (union(a, Instance::reads_in_actions), union(b, Instance::reads_in_actions));
                let dependent = wa & wb != 0
                    || ra & wb != 0
                    || rb & wa != 0
                    || turns_off.contains(a, b)
                    || turns_off.contains(b, a);
                if a == b || dependent {
                    r.dependent.insert(a, b);
                }
            }
        }
        r
    }
}

impl System for Guarded {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        self.initial.iter().for_each(|s| sink.edge(EventId(0), *s, &[*s]));
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        for (i, instance) in self.instances.iter().enumerate() {
            for t in instance.targets(state[0]) {
                sink.edge(EventId(instance.event), i as u64, &[t]);
            }
        }
    }

    fn check(&self, _: &mut (), state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        if !self.bad.is_empty() && self.satisfies(state[0], &self.bad) {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }

    fn relations(&self) -> Option<&Relations> {
        Some(&self.relations)
    }

    fn instance(&self, event: EventId, label: u64) -> Option<InstanceId> {
        Some(InstanceId(if self.whole_events() { event.0 } else { label as u32 }))
    }

    fn guard(&self, _: &mut (), state: &[u64], guard: GuardId) -> bool {
        satisfies(state[0], &self.guards[guard.0 as usize..guard.0 as usize + 1])
    }

    fn orbits(&self) -> Option<Box<dyn Orbits + '_>> {
        let fault = self.fault == Fault::AnotherOfTheOrbit;
        self.alike.map(|alike| Box::new(Sorted::new(alike, fault)) as Box<dyn Orbits>)
    }
}
