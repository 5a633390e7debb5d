//! Searches up to symmetry on a system whose orbits are counted by hand.

use crate::{Options, Order, Outcome, Reason, Store, explore};
use bombus_base::budget::Budget;
use bombus_kernels::hash;
use bombus_system::{EventId, Finding, FindingKind, Orbits, Precision, Sink, System};

/// Interchangeable counters, one in a word; each step raises one of them below `top`.
struct Bag {
    counters: usize,
    top: u64,
    /// A state is bad if its counters, sorted, are these.
    bad: Vec<u64>,
    told_apart: By,
    names: [String; 1],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Words,
    /// The counters, sorted.
    Orbit,
    /// Their sum: not exact.
    Sum,
}

impl Bag {
    fn new(counters: usize, top: u64, told_apart: By) -> Bag {
        Bag { counters, top, bad: Vec::new(), told_apart, names: ["raise".into()] }
    }
}

struct Sorter(By, usize);

impl Orbits for Sorter {
    fn words(&self) -> usize {
        if self.0 == By::Sum { 1 } else { self.1 }
    }

    fn identity(&mut self, state: &[u64], out: &mut [u64]) -> Precision {
        if self.0 == By::Sum {
            out[0] = state.iter().sum();
            return Precision::Approximate;
        }
        out.copy_from_slice(state);
        out.sort_unstable();
        Precision::Exact
    }

    fn print(&self, identity: &[u64]) -> u128 {
        hash::words(identity)
    }
}

impl System for Bag {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        self.counters
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &vec![0; self.counters]);
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        for i in (0..self.counters).filter(|i| state[*i] < self.top) {
            let mut next = state.to_vec();
            next[i] += 1;
            sink.edge(EventId(0), i as u64, &next);
        }
    }

    fn check(&self, _: &mut (), state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        let mut sorted = state.to_vec();
        sorted.sort_unstable();
        if sorted == self.bad {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }

    fn orbits(&self) -> Option<Box<dyn Orbits + '_>> {
        (self.told_apart != By::Words).then(|| Box::new(Sorter(self.told_apart, self.counters)) as _)
    }
}

fn run(bag: &Bag, workers: usize, order: Order, store: Store) -> Outcome {
    let options =
        Options { workers, order, store, check_deadlock: false, stack: 1 << 20, ..Options::default() };
    explore(bag, &options, &Budget::unlimited()).expect("no internal error")
}

#[test]
fn one_state_of_each_orbit_is_expanded_and_all_its_transitions_count() {
    // Multisets of 4 numbers in 0..9: C(13,4) = 715. A transition raises one of 4 counters that is
    // not 9: 4 * 10^4 * 9/10 over all states, which is no sum over orbits; by enumeration here.
    let all = run(&Bag::new(4, 9, By::Words), 1, Order::Bfs, Store::Exact);
    assert_eq!((all.states, all.transitions), (10_000, 36_000));
    let mut expected = 0;
    for n in 0..10_000u32 {
        let digits: Vec<u32> = (0..4).map(|i| n / 10u32.pow(i) % 10).collect();
        if digits.is_sorted() {
            expected += digits.iter().filter(|d| **d < 9).count() as u64;
        }
    }
    let mut digests = Vec::new();
    for order in [Order::Bfs, Order::Dfs, Order::Mixed] {
        for store in [Store::Exact, Store::Hash] {
            for workers in [1, 2, 5] {
                let found = run(&Bag::new(4, 9, By::Orbit), workers, order, store);
                assert_eq!((found.states, found.transitions), (715, expected), "{order:?} {workers}");
                assert!(found.is_verified());
                digests.push(found.digest);
            }
        }
    }
    assert!(digests.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn a_trace_up_to_symmetry_is_an_execution_and_no_schedule_changes_it() {
    for workers in [1, 2, 4, 8] {
        let bag = Bag { bad: vec![0, 2, 5, 9], ..Bag::new(4, 9, By::Orbit) };
        let found = run(&bag, workers, Order::Bfs, Store::Exact);
        let trace = found.findings[0].trace.clone().expect("the first finding has a trace");
        assert_eq!(trace.len(), 1 + 16, "a shortest path");
        for two in trace.windows(2) {
            let raised = two[1].label as usize;
            let mut next = two[0].state.clone();
            next[raised] += 1;
            assert_eq!(next, two[1].state);
        }
        let labels: Vec<u64> = trace.iter().map(|s| s.label).collect();
        let first = run(&bag, 1, Order::Bfs, Store::Exact).findings[0].trace.clone().unwrap();
        assert_eq!(labels, first.iter().map(|s| s.label).collect::<Vec<_>>());
    }
}

#[test]
fn an_approximate_identity_is_a_reason_and_its_traces_are_executions() {
    let found = run(&Bag::new(4, 9, By::Sum), 3, Order::Bfs, Store::Exact);
    // Sums 0 to 36; all but the first of each were taken for known.
    assert_eq!(found.states, 37);
    assert!(!found.is_verified());
    assert!(found.reasons.iter().any(|(r, n)| *r == Reason::Orbits && *n > 0));
    for order in [Order::Bfs, Order::Dfs] {
        for workers in [1, 4] {
            let bag = Bag { bad: vec![9, 9, 9, 9], ..Bag::new(4, 9, By::Sum) };
            let found = run(&bag, workers, order, Store::Hash);
            let trace = found.findings[0].trace.clone().expect("a trace");
            assert_eq!(trace.len(), 37);
            assert_eq!(trace.last().map(|s| s.state.clone()), Some(vec![9; 4]));
        }
    }
}
