//! The parts of a temporal check that all threads share: freezing, propositions, reaching and trimming.
//!
//! One thread and several take turns in one run, and of each the best of several repeats counts: on a
//! machine that others use too, what disturbs one disturbs the next. Where there are more jobs than cores the
//! clock says nothing about threads; the processor time of the busiest one says how long it would take if
//! each had a core.

use crate::option;
use crate::temporal::{PLACE, Reading, Wheels};
use bombus::base::budget::Budget;
use bombus::graph::{Edge, Graph, Log};
use bombus::ltl::frozen::Frozen;
use bombus::ltl::{Checker, parse_ltl};
use bombus::system::{EventId, Finding, Sink, System};
use bombus_kernels::memory::Meter;
use bombus_kernels::visited::{Mode, Shape, Visited};
use std::collections::BTreeMap;
use std::path::PathBuf;
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
    let mut best = [[Cost::MOST; 2]; PHASES.len()];
    for _ in 0..repeats {
        for (who, pool) in pools.iter().enumerate() {
            for (phase, cost) in pool.install(|| once(&system)).into_iter().enumerate() {
                best[phase][who] = best[phase][who].least(cost);
            }
        }
    }
    for (phase, [one, several]) in PHASES.iter().zip(best) {
        println!(
            "{phase}: {:.3} s on one thread, {:.3} s on {threads}, {:.2} times as fast; busiest thread {:.3} s and \
             {:.3} s of CPU, {:.2} times as fast; best of {repeats}",
            one.clock,
            several.clock,
            one.clock / several.clock,
            one.busiest,
            several.busiest,
            one.busiest / several.busiest
        );
    }
}

const PHASES: [&str; 3] = ["freeze", "propositions", "trim"];

/// Seconds that a phase took.
#[derive(Clone, Copy)]
struct Cost {
    clock: f64,
    /// Processor time of the thread that had most of it.
    busiest: f64,
}

impl Cost {
    const MOST: Cost = Cost { clock: f64::MAX, busiest: f64::MAX };

    fn least(self, other: Cost) -> Cost {
        Cost { clock: self.clock.min(other.clock), busiest: self.busiest.min(other.busiest) }
    }
}

/// Does a job and tells what it cost.
fn timed<T>(job: impl FnOnce() -> T) -> (T, Cost) {
    let before = thread_seconds();
    let clock = Instant::now();
    let result = job();
    let clock = clock.elapsed().as_secs_f64();
    let spent = |(thread, seconds): (&String, &f64)| seconds - before.get(thread).unwrap_or(&0.0);
    let busiest = thread_seconds().iter().map(spent).fold(0.0, f64::max);
    (result, Cost { clock, busiest })
}

/// The processor time of every thread so far.
fn thread_seconds() -> BTreeMap<String, f64> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let seconds = |path: PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
    };
    tasks.filter_map(|t| Some((t.file_name().to_string_lossy().into_owned(), seconds(t.path())?))).collect()
}

/// What each phase costs on the threads of this pool.
fn once(system: &Wheels) -> [Cost; PHASES.len()] {
    let meter = Meter::new(None);
    let (visited, log) = logged(system, &meter);
    let (graph, freeze) = timed(|| Graph::freeze(system, visited, &meter, log).expect("no limit"));
    let frozen = Frozen::new(&graph);
    let budget = Budget::unlimited();
    let atoms = Reading::new(system, &graph);
    let mut checker = Checker::new(&frozen, &atoms, &budget);
    let formula = parse_ltl(PROPOSITIONS, PLACE).expect("a formula").formula;
    let (letters, propositions) = timed(|| checker.letters(&formula).expect("no fault"));
    assert!(letters > 2, "the predicates are told apart");
    let formula = parse_ltl(TRIMMED, PLACE).expect("a formula").formula;
    let (core, trim) = timed(|| checker.core(&formula).expect("no fault").expect("a product"));
    assert!(core > 0, "wheels turn for ever");
    [freeze, propositions, trim]
}

/// What an exploration of the wheels by two workers leaves behind.
fn logged(system: &Wheels, meter: &Arc<Meter>) -> (Visited, Log) {
    let shape = Shape {
        mode: Mode::Exact,
        words: 1,
        workers: 1,
        slots: 1 << 16,
        tag_bits: 32,
        satellites: false,
        ..Shape::default()
    };
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
        crossing: Vec::new(),
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
