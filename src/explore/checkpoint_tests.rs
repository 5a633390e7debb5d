//! Saved searches on systems whose answers are known: saved at every moment, they all end alike.

use super::testing::{Family, Toy};
use super::*;
use std::io::{self, Write};
use std::sync::atomic::AtomicU64;

/// Keeps every n-th state of the search that it is asked about.
#[derive(Debug)]
struct Memory {
    every: u64,
    asked: AtomicU64,
    kept: Mutex<Vec<Vec<u8>>>,
}

impl Memory {
    fn new(every: u64) -> Arc<Memory> {
        Arc::new(Memory { every, asked: AtomicU64::new(0), kept: Mutex::default() })
    }
}

impl Keeper for Memory {
    fn is_due(&self, _: Duration) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) % self.every == self.every - 1
    }

    fn keep(&self, _: &dyn Fn() -> Duration, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("memory takes everything");
        self.kept.lock().push(bytes);
    }
}

/// Everything that must not depend on whether a search was saved.
fn essence(outcome: &Outcome) -> String {
    format!(
        "{} {} {} {:?} {:?} {} {:?} {:?} {:x} {:?} {:?} {} {:?}",
        outcome.states,
        outcome.transitions,
        outcome.initial,
        outcome.depth,
        outcome.events,
        outcome.deadlocks,
        outcome.counts,
        outcome.findings,
        outcome.digest,
        outcome.reasons,
        outcome.graph.as_ref().map(|graph| (&graph.forward, &graph.initial)),
        outcome.exhausted,
        outcome.por
    )
}

fn agree(toy: &Toy, options: &Options, every: u64) {
    let savings = saved_anywhere(toy, options, every);
    assert!(savings > 2, "{savings} savings");
}

/// Saves a search again and again, goes on from many of the savings, and compares. How often it was saved.
pub(crate) fn saved_anywhere<S: System>(toy: &S, options: &Options, every: u64) -> usize {
    let budget = Budget::unlimited();
    let wanted = essence(&explore(toy, options, &budget).unwrap());
    let memory = Memory::new(every);
    let keeper: Arc<dyn Keeper> = memory.clone();
    let saving = Options { keeper: Some(keeper), ..options.clone() };
    assert_eq!(essence(&explore(toy, &saving, &budget).unwrap()), wanted, "saving changes nothing");
    let kept = memory.kept.lock();
    for (i, bytes) in kept.iter().enumerate().step_by(kept.len() / 12 + 1) {
        for workers in [1, 3] {
            let again = Options { workers, ..options.clone() };
            let outcome = resume(toy, &again, &budget, &mut &bytes[..]).expect("it is whole");
            assert_eq!(essence(&outcome), wanted, "saved {i} of {}, {workers} workers", kept.len());
        }
    }
    kept.len()
}

const GRID: Family = Family::Grid { k: 3, n: 14, cyclic: false };

fn options(workers: usize, order: Order, store: Mode) -> Options {
    let base = Options { check_deadlock: false, stack: 1 << 20, ..Options::default() };
    Options { workers, order, store, ..base }
}

#[test]
fn a_search_saved_at_any_moment_ends_as_if_it_had_not_been() {
    for order in [Order::Bfs, Order::Dfs, Order::Mixed] {
        for store in [Mode::Exact, Mode::Hash] {
            for words in [1, 3] {
                let toy = Toy::wide(GRID, words);
                agree(&toy, &options(2, order, store), 7);
            }
        }
    }
}

#[test]
fn findings_and_their_trace_survive() {
    let mut toy = Toy::new(GRID);
    toy.bad = vec![2743, 1500, 900];
    agree(&toy, &options(2, Order::Bfs, Mode::Exact), 5);
    let keep_going = Options { keep_going: true, check_deadlock: true, ..options(3, Order::Bfs, Mode::Hash) };
    agree(&toy, &keep_going, 5);
}

#[test]
fn reasons_of_incompleteness_survive() {
    let mut toy = Toy::new(GRID);
    toy.incomplete_at = Some(4);
    agree(&toy, &options(2, Order::Bfs, Mode::Exact), 9);
}

#[test]
fn recorded_edges_survive() {
    let toy = Toy::new(GRID);
    agree(&toy, &Options { record_edges: true, ..options(2, Order::Bfs, Mode::Exact) }, 11);
}

#[test]
fn a_path_and_a_star_survive() {
    agree(&Toy::new(Family::Path(3000)), &options(2, Order::Bfs, Mode::Exact), 100);
    agree(&Toy::new(Family::Star(3000)), &options(2, Order::Bfs, Mode::Exact), 3);
}

#[test]
fn bytes_of_another_search_are_refused_and_never_panic() {
    let toy = Toy::new(GRID);
    let memory = Memory::new(10);
    let how = Options { keeper: Some(memory.clone()), ..options(1, Order::Bfs, Mode::Exact) };
    explore(&toy, &how, &Budget::unlimited()).unwrap();
    let bytes = memory.kept.lock()[1].clone();
    let try_it = |toy: &Toy, options: &Options, bytes: &[u8]| {
        resume(toy, options, &Budget::unlimited(), &mut &bytes[..])
    };
    let plain = options(1, Order::Bfs, Mode::Exact);
    assert!(try_it(&toy, &plain, &bytes).is_ok());
    assert!(try_it(&toy, &options(1, Order::Dfs, Mode::Exact), &bytes).is_err());
    assert!(try_it(&toy, &options(1, Order::Bfs, Mode::Hash), &bytes).is_err());
    assert!(try_it(&Toy::wide(GRID, 2), &plain, &bytes).is_err());
    for cut in (0..bytes.len()).step_by(bytes.len() / 60) {
        assert!(try_it(&toy, &plain, &bytes[..cut]).is_err(), "cut at {cut}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(try_it(&toy, &plain, &longer).is_err());
}

#[test]
fn a_search_that_is_saved_at_its_limit_goes_on_from_there() {
    let toy = Toy::new(GRID);
    for order in [Order::Bfs, Order::Dfs] {
        let memory = Memory::new(u64::MAX);
        let plain = options(2, order, Mode::Exact);
        let how = Options { keeper: Some(memory.clone()), ..plain.clone() };
        let mut budget = Budget::unlimited();
        budget.max_states = Some(1000);
        let outcome = explore(&toy, &how, &budget).unwrap();
        assert_eq!(outcome.reasons, [(Reason::States(1000), 1)]);
        assert!(outcome.states >= 1000 && outcome.states < 2744 && !outcome.exhausted);
        let bytes = memory.kept.lock().pop().expect("it was saved");
        let outcome = resume(&toy, &plain, &Budget::unlimited(), &mut &bytes[..]).unwrap();
        assert_eq!(essence(&outcome), essence(&explore(&toy, &plain, &Budget::unlimited()).unwrap()));
    }
}
