//! Temporal formulas on the graph of ten wheels: product edges a second, bytes per product state.
//!
//! The wheels cost nothing to evaluate and all states lie on one cycle, so the figures are those of freezing
//! and of the product alone, in the case that is worst for the search for components.

use crate::{cpu_seconds, option};
use bombus::base::budget::{Budget, resident_bytes};
use bombus::base::diagnostic::Diagnostic;
use bombus::base::span::{FileId, Span};
use bombus::explore::{Options, explore};
use bombus::graph;
use bombus::ltl::atoms::{Atoms, Bound, Extent, Faults, Special};
use bombus::ltl::bits::Bits;
use bombus::ltl::formula::{Change, Pattern, Text};
use bombus::ltl::frozen::Frozen;
use bombus::ltl::view::Graph;
use bombus::ltl::{Checker, Place, parse_ltl};
use bombus::system::{EventId, Sink, System};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub const USAGE: &str = "temporal [--values 4] [--workers 1] [--formula NUMBER]";

/// Where formulas stand that are in no file.
pub const PLACE: Place = Place { file: FileId(0), offset: 0 };

/// Wheels, each turned by an event of its own.
const WHEELS: u32 = 10;

/// `WHEELS` wheels of `n` positions: n^10 states, ten times as many transitions.
pub struct Wheels {
    n: u64,
    events: Vec<String>,
}

impl Wheels {
    pub fn new(n: u64) -> Self {
        Wheels { n, events: (0..WHEELS).map(|e| format!("turn{e}")).collect() }
    }

    pub fn states(&self) -> u64 {
        self.n.pow(WHEELS)
    }
}

impl System for Wheels {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0]);
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        let mut unit = 1;
        for event in 0..WHEELS {
            let position = state[0] / unit % self.n;
            let turned = if position + 1 == self.n { state[0] - position * unit } else { state[0] + unit };
            sink.edge(EventId(event), 0, &[turned]);
            unit *= self.n;
        }
    }

    fn check(&self, _: &mut (), _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}
}

/// The predicate `x=k`, where x is the word of a state.
pub struct Reading<'a> {
    events: &'a [String],
    graph: &'a graph::Graph,
}

impl<'a> Reading<'a> {
    pub fn new(system: &'a Wheels, graph: &'a graph::Graph) -> Self {
        Reading { events: &system.events, graph }
    }
}

impl Atoms for Reading<'_> {
    fn event_names(&self) -> &[String] {
        self.events
    }

    fn predicate(&self, predicate: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        let value: u64 = predicate.text.trim_start_matches("x=").parse().expect("x=k");
        Ok(Extent::known(Bits::par(self.graph.nodes(), |s| {
            let mut state = [0];
            self.graph.read_state(graph::NodeId(s as u32), &mut state) && state[0] == value
        })))
    }

    fn matching(&self, _: EventId, pattern: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(pattern.operation.span, "not here")])
    }

    fn change(&self, _: Change, text: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(text.span, "not here")])
    }

    fn special(&self, _: Special, at: Span) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(at, "not here")])
    }

    fn solutions(&self, _: &str, domain: &Text, _: &[Bound]) -> Result<Vec<Bound>, Faults> {
        Err(vec![Diagnostic::error(domain.span, "not here")])
    }
}

const FORMULAS: &[&str] = &[
    "G not {x=1048577}",
    "G ([turn1] => X e(turn2))",
    "G F {x=0}",
    "F {x=1048577} or G F e(turn1)",
    "G ([turn1] => F [turn2])",
    "SF(turn1) & SF(turn2) => G F [turn1]",
    "WEF => G F [turn1]",
];

pub fn run(arguments: &[String]) {
    let n = option(arguments, "--values", 4u64);
    let workers = option(arguments, "--workers", 1usize);
    let only = option(arguments, "--formula", usize::MAX);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("threads");
    pool.install(|| check(n, workers, only));
}

fn check(n: u64, workers: usize, only: usize) {
    let system = Wheels::new(n);
    let budget = Budget::unlimited();
    let options =
        Options { workers, record_edges: true, check_deadlock: false, stack: 1 << 20, ..Options::default() };
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    let graph = explore(&system, &options, &budget).expect("no internal error").graph.expect("edges");
    println!(
        "explored and frozen: {:.2} s, {:.2} s of CPU",
        clock.elapsed().as_secs_f64(),
        cpu_seconds() - cpu
    );
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    let turned = graph.forward.reversed();
    println!(
        "rows of {} edges sorted by target: {:.2} s, {:.2} s of CPU",
        turned.edges(),
        clock.elapsed().as_secs_f64(),
        cpu_seconds() - cpu
    );
    drop(turned);
    let frozen = Frozen::new(&graph);
    let atoms = Reading::new(&system, &graph);
    println!("{} states, {} transitions, {workers} threads", frozen.states(), frozen.transitions());
    for (_, text) in FORMULAS.iter().enumerate().filter(|(i, _)| only == usize::MAX || only == *i) {
        let formula = parse_ltl(text, PLACE).expect("a formula").formula;
        let mut checker = Checker::new(&frozen, &atoms, &budget);
        let size = checker.size(&formula).expect("no fault").expect("a product");
        let mut checker = Checker::new(&frozen, &atoms, &budget);
        let resident = resident_bytes();
        let (clock, cpu) = (Instant::now(), cpu_seconds());
        let (word, peak) = watched(|| checker.check(&formula).expect("no fault").word());
        let (clock, cpu) = (clock.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        println!(
            "{text}: {word}; {clock:.2} s, {cpu:.2} s of CPU; {} nodes, {} edges of the product: {:.1} M edges a \
             second of CPU; {:.1} bytes per node",
            size.nodes,
            size.edges,
            size.edges as f64 / cpu.max(0.01) / 1e6,
            peak.saturating_sub(resident) as f64 / size.nodes.max(1) as f64,
        );
    }
}

/// Does a job and gives the most memory that was resident meanwhile, as far as looking often tells.
fn watched<T>(job: impl FnOnce() -> T) -> (T, u64) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Acquire) {
                most = most.max(resident_bytes());
                std::thread::sleep(Duration::from_millis(2));
            }
            most
        });
        let result = job();
        done.store(true, Ordering::Release);
        (result, watch.join().expect("it only looks"))
    })
}
