//! The parts of a temporal check that all threads share: freezing, propositions, reaching and trimming.
//!
//! One thread and several take turns in one run, and of each the best of several repeats counts: on a
//! machine that others use too, what disturbs one disturbs the next.

use crate::option;
use crate::temporal::{PLACE, Reading, Wheels};
use bombus::base::budget::Budget;
use bombus::graph::{Edge, Graph, Log};
use bombus::ltl::frozen::Frozen;
use bombus::ltl::{Checker, parse_ltl};
use bombus::system::{EventId, Finding, Sink, System};
use bombus_kernels::memory::Meter;
use bombus_kernels::visited::{Mode, Shape, Visited};
use std::sync::Arc;
use std::time::Instant;

pub const USAGE: &str = "phases [--values 4] [--threads 2] [--repeats 5]";

/// Two predicates, an operation and what it enables.
const PROPOSITIONS: &str = "G ({x=1} => F ({x=2} or e(turn3)))";

/// Nothing can be trimmed away, so every transition is looked at.
const TRIMMED: &str = "G F [turn1]";

pub fn run(arguments: &[String]) {
    let system = Wheels::new(option(arguments, "--values", 4u64));
    let threads = option(arguments, "--threads", 2usize);
    let repeats = option(arguments, "--repeats", 5usize);
    let pools =
        [1, threads].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    let mut best = vec![("freeze", [f64::MAX; 2]), ("propositions", [f64::MAX; 2]), ("trim", [f64::MAX; 2])];
    for _ in 0..repeats {
        for (who, pool) in pools.iter().enumerate() {
            for (phase, seconds) in pool.install(|| once(&system)).into_iter().enumerate() {
                let least = &mut best[phase].1[who];
                *least = least.min(seconds);
            }
        }
    }
    for (phase, [one, several]) in best {
        println!(
            "{phase}: {one:.3} s on one thread, {several:.3} s on {threads}: {:.2} times as fast, best of {repeats}",
            one / several
        );
    }
}

/// The seconds that each phase takes on the threads of this pool.
fn once(system: &Wheels) -> [f64; 3] {
    let meter = Meter::new(None);
    let (visited, log) = logged(system, &meter);
    let clock = Instant::now();
    let graph = Graph::freeze(system, visited, &meter, log).expect("no limit");
    let freeze = clock.elapsed().as_secs_f64();
    let frozen = Frozen::new(&graph);
    let budget = Budget::unlimited();
    let atoms = Reading::new(system, &graph);
    let mut checker = Checker::new(&frozen, &atoms, &budget);
    let formula = parse_ltl(PROPOSITIONS, PLACE).expect("a formula").formula;
    let clock = Instant::now();
    let letters = checker.letters(&formula).expect("no fault");
    let propositions = clock.elapsed().as_secs_f64();
    assert!(letters > 2, "the predicates are told apart");
    let formula = parse_ltl(TRIMMED, PLACE).expect("a formula").formula;
    let clock = Instant::now();
    let core = checker.core(&formula).expect("no fault").expect("a product");
    let trim = clock.elapsed().as_secs_f64();
    assert!(core > 0, "wheels turn for ever");
    [freeze, propositions, trim]
}

/// What an exploration of the wheels by two workers leaves behind.
fn logged(system: &Wheels, meter: &Arc<Meter>) -> (Visited, Log) {
    let shape =
        Shape { mode: Mode::Exact, words: 1, workers: 1, slots: 1 << 16, tag_bits: 32, satellites: false };
    let visited = Visited::new(shape, meter).expect("memory");
    let states = system.states();
    let mut seat = visited.seat(0);
    let ids: Vec<u32> = {
        let mut session = visited.enter(&mut seat).expect("a seat");
        let ids = (0..states).map(|s| {
            let key = session.key(&[s]).expect("memory");
            session.insert(key).expect("memory").id
        });
        ids.collect()
    };
    visited.rise(seat);
    let mut edges = vec![Vec::new(), Vec::new()];
    for state in 0..states {
        let mut sink = Edges { ids: &ids, source: ids[state as usize], log: &mut edges[state as usize % 2] };
        system.successors(&mut (), &[state], &mut sink);
    }
    let log = Log {
        edges,
        expanded: vec![ids.clone()],
        initial: vec![ids[0]],
        all_initial: true,
        representatives: Vec::new(),
    };
    (visited, log)
}

struct Edges<'a> {
    ids: &'a [u32],
    source: u32,
    log: &'a mut Vec<Edge>,
}

impl Sink for Edges<'_> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        let target = self.ids[target[0] as usize];
        self.log.push(Edge { source: self.source, event, label, target });
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
