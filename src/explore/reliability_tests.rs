//! Ways in which a parallel search can lie, each provoked (rows 29 to 38 of the list of failure modes).
//!
//! By default each runs a few times; `BOMBUS_REPEATS=100` makes it the number that the list asks for.

use super::testing::{Family, Toy};
use super::*;
use bombus_system::FindingKind;

fn repeats() -> u64 {
    std::env::var("BOMBUS_REPEATS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

fn options(workers: usize, order: Order) -> Options {
    Options { workers, order, check_deadlock: false, stack: 1 << 20, ..Options::default() }
}

fn run<S: System>(system: &S, options: &Options) -> Outcome {
    explore(system, options, &Budget::unlimited()).expect("no internal error")
}

const ORDERS: [Order; 3] = [Order::Bfs, Order::Dfs, Order::Mixed];

/// Row 29: 91^3 states, 3·91²·90 transitions, from a table of 64 slots, 16 workers.
#[test]
fn no_insert_is_lost_however_often_the_table_grows() {
    let toy = Toy::new(Family::Grid { k: 3, n: 91, cyclic: false });
    for i in 0..repeats() {
        let order = ORDERS[i as usize % 3];
        let store = if i % 2 == 0 { Mode::Exact } else { Mode::Hash };
        let outcome = run(&toy, &Options { slots: 64, store, ..options(16, order) });
        assert_eq!((outcome.states, outcome.transitions), (753_571, 2_235_870), "run {i}");
    }
}

/// Row 30. Copies a batch on the queue, or takes one away, and lets the search go on.
fn tampered(order: Order, twice: bool) -> Result<Outcome, InternalError> {
    let toy = Toy::new(Family::Grid { k: 3, n: 12, cyclic: true });
    let (how, budget) = (options(2, order), Budget::unlimited());
    let (shared, lanes) = prepare(&toy, &how, &budget).expect("memory");
    let mut workers = begin(&shared, lanes);
    let batches = workers[0].lane.drain(0);
    assert_eq!(batches.len(), 1);
    if twice {
        let batch = &batches[0];
        let mut copy = batch::Batch::new(1, &shared.meter).expect("memory");
        copy.push(batch.id(0), batch.print(0), batch.state(0), Default::default());
        workers[0].lane.refill(0, [copy]);
        workers[0].lane.refill(0, batches);
    }
    let records = super::run(&shared, workers);
    conclude(shared, records)
}

#[test]
fn a_batch_that_is_done_twice_or_never_is_an_internal_error() {
    for order in ORDERS {
        for twice in [true, false] {
            assert!(tampered(order, twice).is_err(), "{order:?}, twice: {twice}");
        }
    }
}

/// Row 31: a path of a million states leaves 15 of 16 workers idle all the time.
#[test]
fn the_end_is_not_announced_while_one_worker_still_works() {
    let toy = Toy::new(Family::Path(1_000_000));
    for i in 0..repeats() {
        let outcome = run(&toy, &options(16, ORDERS[i as usize % 3]));
        assert!(outcome.states == 1_000_000 && outcome.is_verified(), "run {i}: {}", outcome.states);
    }
}

/// Row 32: one bad state in 10^5.
#[test]
fn what_one_worker_found_is_never_overruled_by_another() {
    let mut toy = Toy::new(Family::Grid { k: 5, n: 10, cyclic: true });
    for i in 0..repeats() * 3 {
        toy.bad = vec![(i * 37_987 + 1) % 100_000];
        let outcome = run(&toy, &options(16, ORDERS[i as usize % 3]));
        assert_eq!(outcome.counts.of(FindingKind::Invariant), 1, "run {i}");
        assert!(!outcome.is_verified() && outcome.findings[0].trace.is_some());
    }
}

/// Row 34: the panic of one of 16 workers ends the run at once, as an error of ours.
#[test]
fn the_panic_of_a_worker_neither_hangs_nor_passes() {
    for i in 0..repeats() * 3 {
        let mut toy = Toy::new(Family::Grid { k: 4, n: 20, cyclic: true });
        toy.panics_at = Some(1 + i * 7919 % 100_000);
        let error = explore(&toy, &options(16, ORDERS[i as usize % 3]), &Budget::unlimited()).err();
        assert!(error.expect("an internal error").0.contains("a worker failed"), "run {i}");
    }
}

/// Row 36: `s` is reached by a long way first and by a short one later; the fault lies two steps beyond.
/// Without a bound on depth a state needs no second visit, and the fault is found in every order.
#[test]
fn a_state_reached_by_a_longer_way_first_is_expanded_all_the_same() {
    let mut toy = Toy::new(Family::Grid { k: 2, n: 6, cyclic: true });
    toy.bad = vec![5 + 6 * 5];
    for order in ORDERS {
        for workers in [1, 2, 16] {
            let outcome = run(&toy, &options(workers, order));
            assert_eq!(outcome.counts.of(FindingKind::Invariant), 1, "{order:?} {workers}");
        }
    }
}

/// Row 38: there is no queue on disk. A queue that finds no memory ends the run as incomplete, and no
/// state of it is taken for done.
#[test]
fn a_queue_without_memory_ends_the_run_as_incomplete() {
    let toy = Toy::new(Family::Grid { k: 3, n: 91, cyclic: false });
    let mut complete = 0;
    for limit in [1u64, 2, 4, 8, 16, 24, 32, 64] {
        // The meter of bulk memory has the limit here; the process itself is larger.
        let budget = Budget::unlimited();
        let how = options(4, ORDERS[limit as usize % 3]);
        let (mut shared, lanes) = prepare(&toy, &how, &budget).expect("memory");
        let meter = bombus_kernels::memory::Meter::new(Some(limit << 20));
        let shape = bombus_kernels::visited::Shape {
            mode: Mode::Exact,
            words: 1,
            workers: 4,
            slots: 64,
            tag_bits: 32,
            satellites: false,
            ..Default::default()
        };
        let Ok(visited) = Visited::new(shape, &meter) else { continue };
        (shared.visited, shared.meter) = (visited, meter);
        let workers = begin(&shared, lanes);
        let records = super::run(&shared, workers);
        let outcome = conclude(shared, records).expect("no internal error");
        if outcome.exhausted {
            complete += 1;
            assert_eq!(outcome.states, 753_571);
        } else {
            assert_eq!(outcome.reasons, [(Reason::Memory, 1)], "{limit} MiB");
            assert!(outcome.states < 753_571 && !outcome.is_verified());
        }
    }
    assert!((1..8).contains(&complete), "{complete} of the limits suffice");
}
