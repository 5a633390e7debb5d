//! Random systems of processes that are alike: both reductions together against full exploration.
//!
//! Three processes with two cells each share one cell. States that differ by the order of processes are
//! one orbit, and sorting finds the state that stands for it. Steps are those of one process, or of one
//! that looks at another.

use super::super::{Method, Por, Preserve, Proviso};
use super::full::Full;
use super::random::{Fault, Guarded, Instance, Update};
use super::{WITH_FAULTS, reduction, search, systems};
use bombus_kernels::hash;
use bombus_system::{Orbits, Precision};
use std::collections::BTreeSet;

/// Processes that are alike: the cells of each lie side by side above the shared ones.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    shared: usize,
    bits: usize,
    processes: usize,
}

const ALIKE: Alike = Alike { shared: 1, bits: 2, processes: 3 };

impl Alike {
    fn cells(&self) -> usize {
        self.shared + self.bits * self.processes
    }

    fn locals(&self, s: u64) -> Vec<u64> {
        let local = |p| s >> (self.shared + p * self.bits) & ((1 << self.bits) - 1);
        (0..self.processes).map(local).collect()
    }

    fn with(&self, s: u64, locals: &[u64]) -> u64 {
        let shared = s & ((1 << self.shared) - 1);
        let place = |(p, local): (usize, &u64)| local << (self.shared + p * self.bits);
        locals.iter().enumerate().map(place).fold(shared, |s, part| s | part)
    }

    /// The state of the orbit in which processes are in the order of their cells.
    pub fn sorted(&self, s: u64) -> u64 {
        let mut locals = self.locals(s);
        locals.sort_unstable();
        self.with(s, &locals)
    }

    /// All states of the orbit.
    pub fn orbit(&self, s: u64) -> Vec<u64> {
        let l = self.locals(s);
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        orders.iter().map(|order| self.with(s, &order.map(|p| l[p]))).collect()
    }

    /// A cell of a rule: shared, or one of the process that takes the step or of the other.
    fn cell(&self, rule: Cell, me: usize, other: usize) -> usize {
        match rule {
            Cell::Shared => 0,
            Cell::Mine(bit) => self.shared + me * self.bits + bit,
            Cell::Others(bit) => self.shared + other * self.bits + bit,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Shared,
    Mine(usize),
    Others(usize),
}

/// Tells orbits apart by sorting. With the fault, the state that stands for an orbit is the sorted one
/// when the orbit is found and the one in reverse order when the proviso asks for it again.
pub struct Sorted {
    alike: Alike,
    fault: bool,
    /// Whether identities were asked for: a search does, a proviso does not.
    searches: bool,
}

impl Sorted {
    pub fn new(alike: Alike, fault: bool) -> Sorted {
        Sorted { alike, fault, searches: false }
    }
}

impl Orbits for Sorted {
    fn words(&self) -> usize {
        1
    }

    fn identity(&mut self, state: &[u64], out: &mut [u64]) -> Precision {
        self.searches = true;
        out[0] = self.alike.sorted(state[0]);
        Precision::Exact
    }

    fn print(&self, identity: &[u64]) -> u128 {
        hash::words(identity)
    }

    fn representative(&mut self, identity: &[u64], state: &mut [u64]) -> bool {
        state[0] = identity[0];
        if self.fault && !self.searches {
            let mut locals = self.alike.locals(identity[0]);
            locals.reverse();
            state[0] = self.alike.with(identity[0], &locals);
        }
        true
    }
}

pub fn random_system(seed: u64, preserve: Preserve, fault: Fault) -> Guarded {
    let alike = ALIKE;
    let mut state = hash::mix(seed ^ 0x0a11_4e00);
    let mut random = |below: usize| {
        state = hash::mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        (state % below as u64) as usize
    };
    let mut instances = Vec::new();
    for event in 0..2 + random(3) as u32 {
        let pairs = random(4) == 0;
        let cell = |random: &mut dyn FnMut(usize) -> usize| match random(6) {
            0 => Cell::Shared,
            1 if pairs => Cell::Others(random(2)),
            _ => Cell::Mine(random(2)),
        };
        let guards: Vec<(Cell, bool)> =
            (0..1 + random(2)).map(|_| (cell(&mut random), random(2) == 0)).collect();
        let mut outcomes: Vec<Vec<(Cell, Update, Cell)>> = Vec::new();
        for _ in 0..1 + random(6) / 5 {
            let mut writes: Vec<(Cell, Update, Cell)> = Vec::new();
            for _ in 0..1 + random(4) / 3 {
                let update = match random(6) {
                    0 | 1 => Update::Set(true),
                    2 | 3 => Update::Set(false),
                    4 => Update::Flip,
                    _ => Update::Copy(0),
                };
                let (to, from) = (cell(&mut random), cell(&mut random));
                writes.push((to, update, from));
            }
            outcomes.push(writes);
        }
        for me in 0..alike.processes {
            for other in (0..alike.processes).filter(|o| *o != me).take(if pairs { 2 } else { 1 }) {
                let at = |c| alike.cell(c, me, other);
                let write = |(to, update, from): &(Cell, Update, Cell)| match update {
                    Update::Copy(_) => (at(*to), Update::Copy(at(*from))),
                    same => (at(*to), *same),
                };
                instances.push(Instance {
                    event,
                    guards: guards.iter().map(|(c, v)| (at(*c), *v)).collect(),
                    outcomes: outcomes.iter().map(|w| w.iter().map(write).collect()).collect(),
                });
            }
        }
    }
    let cells = alike.cells();
    let bad = (0..2).map(|_| (random(cells), random(2) == 0)).collect();
    let propositions = [(); 2].map(|()| vec![(random(cells), random(2) == 0)]);
    let initial = alike.orbit(random(1 << cells) as u64);
    let initial: BTreeSet<u64> = initial.into_iter().collect();
    Guarded::build(cells, Some(alike), instances, bad, propositions, initial.into_iter().collect())
        .related(preserve, fault)
}

/// What both reductions together lose of a random system, in words.
fn lost(seed: u64, fault: Fault) -> Option<&'static str> {
    let (at, por) = (seed as usize, reduction(seed));
    let system = random_system(seed, por.preserve, fault);
    let full = Full::of(&system);
    let reduced = search(&system, Some(por), 1 + at % 2, true);
    let graph = reduced.graph.as_ref().expect("edges were recorded");
    let seen = Full::of_graph(&system, graph);
    assert!(seen.states.keys().all(|s| *s == ALIKE.sorted(*s)), "system {seed}: a state stands for another");
    let orbits: BTreeSet<u64> = full.states.keys().map(|s| ALIKE.sorted(*s)).collect();
    assert!(seen.states.keys().all(|s| orbits.contains(s)), "system {seed}: a state that is not reachable");
    let stuck = |of: &Full| of.stuck().map(|s| ALIKE.sorted(s)).collect::<BTreeSet<u64>>();
    if stuck(&full) != stuck(&seen) || reduced.deadlocks != stuck(&full).len() as u64 {
        return Some("a deadlock");
    }
    match por.preserve {
        Preserve::Deadlocks => None,
        Preserve::States => (full.bad(&system) != (reduced.counts.total() > 0)).then_some("a violation"),
        Preserve::Paths => (full.paths(&system) != seen.paths(&system)).then_some("a path"),
    }
}

#[test]
fn both_reductions_together_lose_no_deadlock_no_violation_and_no_path() {
    for seed in 0..systems() / 4 {
        if let Some(what) = lost(seed, Fault::None) {
            panic!("system {seed} lost {what}");
        }
    }
}

#[test]
fn the_proviso_may_not_ask_another_state_of_the_orbit() {
    // What was followed in one state and what was left out in another are not all there is in either.
    assert!((0..WITH_FAULTS).any(|seed| lost(seed, Fault::AnotherOfTheOrbit).is_some()));
}

#[test]
fn both_reductions_together_leave_more_out_than_each_alone() {
    let (mut orbits, mut reduced, mut both) = (0, 0, 0);
    for seed in 0..300 {
        let system = random_system(seed, Preserve::States, Fault::None);
        let mut plain = random_system(seed, Preserve::States, Fault::None);
        plain.alike = None;
        let por =
            Por { method: Method::Stubborn, preserve: Preserve::Deadlocks, proviso: Proviso::Topological };
        orbits += search(&system, None, 1, true).states;
        reduced += search(&plain, Some(por), 1, true).states;
        both += search(&system, Some(por), 1, true).states;
    }
    assert!(both * 10 < orbits * 9 && both * 10 < reduced * 9, "{both} of {orbits} and {reduced}");
}

#[test]
fn traces_through_representatives_are_executions() {
    let mut shown = 0;
    for seed in 0..400 {
        let system = random_system(seed, Preserve::States, Fault::None);
        let por = Por { method: Method::Stubborn, preserve: Preserve::States, proviso: Proviso::Topological };
        let found = search(&system, Some(por), 1, false);
        let Some(trace) = found.findings.first().and_then(|f| f.trace.as_ref()) else { continue };
        shown += 1;
        assert!(system.initial.contains(&trace[0].state[0]), "system {seed}");
        for two in trace.windows(2) {
            let targets = system.instances[two[1].label as usize].targets(two[0].state[0]);
            assert!(targets.contains(&two[1].state[0]), "system {seed}");
        }
        assert!(trace.last().is_some_and(|s| system.satisfies(s.state[0], &system.bad)), "system {seed}");
    }
    assert!(shown > 50, "{shown} traces");
}
