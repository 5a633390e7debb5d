//! The explorer on systems whose answers are known.

use super::testing::{Family, Table, Toy};
use super::*;
use bombus_system::{EventId, FindingKind};
use std::time::Duration;

const GRID: Family = Family::Grid { k: 3, n: 12, cyclic: false };

fn options(workers: usize, order: Order) -> Options {
    Options { workers, order, check_deadlock: false, stack: 1 << 20, ..Options::default() }
}

fn run<S: System>(system: &S, options: &Options) -> Outcome {
    explore(system, options, &Budget::unlimited()).expect("no internal error")
}

fn limited(limit: impl Fn(&mut Budget)) -> Budget {
    let mut budget = Budget::unlimited();
    limit(&mut budget);
    budget
}

/// Everything that must not depend on the schedule, as text.
fn essence(outcome: &Outcome) -> String {
    format!(
        "{} {} {} {:?} {:?} {} {:?} {:?} {:x} {:?}",
        outcome.states,
        outcome.transitions,
        outcome.initial,
        outcome.depth,
        outcome.events,
        outcome.deadlocks,
        outcome.counts,
        outcome.findings,
        outcome.digest,
        outcome.reasons
    )
}

/// States, transitions and deadlocks in every order, store and a few numbers of workers.
fn expect(family: Family, words: usize, states: u64, transitions: u64, deadlocks: u64) {
    let toy = Toy::wide(family, words);
    let mut digests = Vec::new();
    for order in [Order::Bfs, Order::Dfs, Order::Mixed] {
        for store in [Mode::Exact, Mode::Hash] {
            for workers in [1, 3] {
                let outcome = run(&toy, &Options { store, ..options(workers, order) });
                assert_eq!(
                    (outcome.states, outcome.transitions),
                    (states, transitions),
                    "{order:?} {store:?}"
                );
                assert_eq!(outcome.deadlocks, deadlocks);
                assert!(outcome.exhausted && outcome.is_verified());
                digests.push(outcome.digest);
            }
        }
    }
    assert!(digests.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn a_grid_of_k_counters_has_n_to_the_k_states() {
    // n^k states, k·n^(k-1)·(n-1) transitions, one corner without exit.
    for words in [1, 2, 3, 5] {
        expect(GRID, words, 12u64.pow(3), 3 * 144 * 11, 1);
    }
}

#[test]
fn a_cyclic_grid_has_k_transitions_per_state() {
    expect(Family::Grid { k: 4, n: 7, cyclic: true }, 2, 7u64.pow(4), 4 * 7u64.pow(4), 0);
}

#[test]
fn a_star_has_one_level_and_rays_that_lead_nowhere() {
    expect(Family::Star(5_000), 1, 5_001, 5_000, 5_000);
}

#[test]
fn a_binary_tree_has_twice_as_many_states_per_level() {
    expect(Family::Tree(13), 1, (1 << 13) - 1, (1 << 13) - 2, 1 << 12);
}

#[test]
fn a_path_of_a_million_states_is_walked_to_its_end() {
    let toy = Toy::new(Family::Path(1_000_000));
    for (order, workers) in [(Order::Bfs, 1), (Order::Bfs, 4), (Order::Dfs, 16), (Order::Mixed, 3)] {
        let outcome = run(&toy, &options(workers, order));
        assert_eq!((outcome.states, outcome.transitions), (1_000_000, 999_999));
        assert_eq!(outcome.depth, (order == Order::Bfs).then_some(999_999));
    }
}

#[test]
fn the_depth_is_the_largest_distance_from_an_initial_state() {
    assert_eq!(run(&Toy::new(GRID), &options(2, Order::Bfs)).depth, Some(33));
    assert_eq!(run(&Toy::new(Family::Star(10)), &options(2, Order::Bfs)).depth, Some(1));
}

#[test]
fn nothing_depends_on_the_number_of_workers() {
    let mut bad = Toy::new(Family::Grid { k: 3, n: 20, cyclic: true });
    bad.bad = vec![7 + 20 * 7 + 400 * 7, 8 + 20 * 6 + 400 * 7, 21 * 19];
    for keep_going in [false, true] {
        let reference = essence(&run(&bad, &Options { keep_going, ..options(1, Order::Bfs) }));
        for workers in [1, 2, 3, 5, 8, 16] {
            for _ in 0..3 {
                let outcome = run(&bad, &Options { keep_going, ..options(workers, Order::Bfs) });
                assert_eq!(essence(&outcome), reference, "{workers} workers");
            }
        }
    }
}

#[test]
fn equality_is_by_value_however_weak_the_hash() {
    for tag_bits in [0, 8] {
        let ring = Toy::wide(Family::Grid { k: 1, n: 1000, cyclic: true }, 3);
        let outcome = run(&ring, &Options { tag_bits, ..options(2, Order::Bfs) });
        assert_eq!(outcome.states, 1000);
    }
    let outcome = run(&Toy::wide(GRID, 2), &Options { tag_bits: 8, ..options(3, Order::Dfs) });
    assert_eq!(outcome.states, 1728);
}

#[test]
fn no_insert_is_lost_while_the_table_grows_from_its_smallest_size() {
    // 91^3 states, 3·91²·90 transitions.
    let toy = Toy::new(Family::Grid { k: 3, n: 91, cyclic: false });
    for order in [Order::Bfs, Order::Dfs] {
        let outcome = run(&toy, &Options { slots: 64, ..options(16, order) });
        assert_eq!((outcome.states, outcome.transitions), (753_571, 2_235_870));
    }
}

#[test]
fn a_single_bad_state_is_found_by_all_orders_and_workers() {
    let mut toy = Toy::new(Family::Tree(15));
    toy.bad = vec![31_000];
    for order in [Order::Bfs, Order::Dfs, Order::Mixed] {
        for workers in [1, 2, 16] {
            let outcome = run(&toy, &options(workers, order));
            assert_eq!(outcome.counts.of(FindingKind::Invariant), 1, "{order:?} {workers}");
            assert!(!outcome.is_verified());
            let trace = outcome.findings[0].trace.as_ref().unwrap();
            // The path in a tree is unique: node 31,000 is on level 14.
            assert_eq!(trace.len(), 15);
            assert_eq!(trace[14].state, [31_000]);
            assert!(trace.windows(2).all(|two| (two[1].state[0] - 1) / 2 == two[0].state[0]));
        }
    }
}

#[test]
fn the_trace_is_a_shortest_path_of_real_transitions() {
    let mut toy = Toy::wide(Family::Grid { k: 2, n: 30, cyclic: true }, 2);
    toy.bad = vec![5 + 30 * 6];
    for store in [Mode::Exact, Mode::Hash] {
        let outcome = run(&toy, &Options { store, ..options(3, Order::Bfs) });
        let first = &outcome.findings[0];
        assert_eq!(first.depth, 11);
        let trace = first.trace.as_ref().unwrap();
        assert_eq!(trace.len(), 12);
        assert_eq!(trace[0].event, None);
        assert_eq!(trace.iter().filter(|step| step.event == Some(EventId(0))).count(), 5);
        assert_eq!(trace.iter().filter(|step| step.event == Some(EventId(1))).count(), 6);
    }
}

#[test]
fn an_initial_state_is_checked_and_its_trace_has_no_event() {
    let table = Table::new(&[3, 4], &[(3, 0, 4), (4, 0, 3)]).violating(4, FindingKind::Invariant);
    for order in [Order::Bfs, Order::Dfs] {
        let outcome = run(&table, &options(2, order));
        let trace = outcome.findings[0].trace.as_ref().unwrap();
        assert_eq!((trace.len(), trace[0].event, trace[0].state[0]), (1, None, 4));
        assert_eq!(outcome.transitions, 0);
        assert_eq!(outcome.depth, (order == Order::Bfs).then_some(0));
    }
}

#[test]
fn all_findings_are_counted_and_listed_when_the_search_keeps_going() {
    let table = Table::new(&[0], &[(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 0)])
        .violating(1, FindingKind::Invariant)
        .violating(3, FindingKind::Invariant);
    let outcome = run(&table, &Options { keep_going: true, ..options(2, Order::Bfs) });
    assert_eq!(outcome.counts.of(FindingKind::Invariant), 2);
    assert_eq!(outcome.findings.iter().map(|f| f.depth).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(outcome.states, 4);
    assert!(outcome.exhausted && !outcome.is_verified());
}

#[test]
fn after_a_flawed_state_everything_is_checked_again() {
    // 0 is initial: full check. 1 comes from 0. 2 comes from the flawed 1: full check.
    let table = Table::new(&[0], &[(0, 0, 1), (1, 0, 2)]).violating(1, FindingKind::Invariant);
    run(&table, &Options { keep_going: true, ..options(1, Order::Bfs) });
    assert_eq!(table.full_checks.load(Ordering::Relaxed), 2);
}

#[test]
fn a_state_without_transitions_is_a_deadlock_and_a_loop_is_not() {
    let deadlock = Options { check_deadlock: true, ..options(2, Order::Bfs) };
    let outcome = run(&Table::new(&[0], &[(0, 0, 1)]), &deadlock);
    assert_eq!((outcome.counts.of(FindingKind::Deadlock), outcome.deadlocks), (1, 1));
    assert_eq!(outcome.findings[0].trace.as_ref().unwrap().len(), 2);
    let outcome = run(&Table::new(&[0], &[(0, 0, 1), (1, 0, 1)]), &deadlock);
    assert!(outcome.is_verified());
}

#[test]
fn an_undefined_action_is_a_finding_and_not_a_deadlock() {
    let table = Table::new(&[0], &[(0, 0, 1)]).failing(1, 0, FindingKind::WellDefinedness);
    let outcome = run(&table, &Options { check_deadlock: true, ..options(2, Order::Bfs) });
    assert_eq!(outcome.counts.of(FindingKind::WellDefinedness), 1);
    assert_eq!(outcome.counts.of(FindingKind::Deadlock), 0);
    assert_eq!(outcome.findings[0].finding.event, Some(EventId(0)));
    assert_eq!(outcome.findings[0].trace.as_ref().unwrap().len(), 2);
}

#[test]
fn an_undefined_guard_is_counted_and_disables() {
    let mut table = Table::new(&[0], &[(0, 0, 1)]);
    table.undefined = vec![(1, 0)];
    let outcome = run(&table, &Options { check_deadlock: true, ..options(1, Order::Bfs) });
    assert_eq!((outcome.undefined_guards[0], outcome.deadlocks), (1, 1));
}

#[test]
fn of_findings_at_one_depth_the_nearer_state_comes_first() {
    // State 1 (depth 1) has no exit; state 2 (depth 2) breaks the invariant and is seen in the
    // same level's work.
    let table = Table::new(&[0], &[(0, 0, 1), (0, 1, 3), (3, 0, 2)]).violating(2, FindingKind::Invariant);
    for workers in [1, 2, 5] {
        let outcome = run(&table, &Options { check_deadlock: true, ..options(workers, Order::Bfs) });
        assert_eq!(outcome.findings[0].finding.kind, FindingKind::Deadlock);
        assert_eq!(outcome.findings[0].depth, 1);
    }
}

#[test]
fn no_initial_state_is_a_finding() {
    let outcome = run(&Table::new(&[], &[]), &options(2, Order::Bfs));
    assert_eq!(outcome.counts.of(FindingKind::Properties), 1);
    assert!(!outcome.is_verified());
    assert_eq!(outcome.states, 0);
}

#[test]
fn states_out_of_scope_are_counted_but_not_expanded() {
    let mut table = Table::new(&[0], &[(0, 0, 1), (1, 0, 2)]);
    table.out_of_scope = vec![1];
    let outcome = run(&table, &Options { check_deadlock: true, ..options(1, Order::Bfs) });
    assert_eq!((outcome.states, outcome.transitions, outcome.out_of_scope), (2, 1, 1));
    assert_eq!(outcome.deadlocks, 0);
}

#[test]
fn two_labels_between_the_same_states_are_two_transitions() {
    let mut table = Table::new(&[0], &[]);
    table.edges = vec![(0, 0, 1, 1), (0, 0, 2, 1), (1, 0, 0, 1)];
    let outcome = run(&table, &options(1, Order::Bfs));
    assert_eq!(outcome.events, [Coverage { states: 2, transitions: 3 }]);
}

#[test]
fn a_limit_on_states_makes_the_run_incomplete() {
    let budget = limited(|b| b.max_states = Some(1000));
    for order in [Order::Bfs, Order::Dfs] {
        let toy = Toy::new(Family::Grid { k: 4, n: 30, cyclic: true });
        let outcome = explore(&toy, &options(4, order), &budget).unwrap();
        assert_eq!(outcome.reasons, [(Reason::States(1000), 1)]);
        assert!(!outcome.exhausted && !outcome.is_verified());
        assert!(outcome.states >= 1000 && outcome.states < 20_000);
    }
}

#[test]
fn a_limit_on_memory_makes_the_run_incomplete() {
    let toy = Toy::wide(Family::Grid { k: 5, n: 30, cyclic: true }, 3);
    for store in [Mode::Exact, Mode::Hash] {
        for limit in [0, 1 << 20, 6 << 20, 12 << 20] {
            let budget = limited(|b| b.max_memory = Some(limit));
            for order in [Order::Bfs, Order::Dfs] {
                let outcome = explore(&toy, &Options { store, ..options(3, order) }, &budget).unwrap();
                assert_eq!(outcome.reasons, [(Reason::Memory, 1)], "{store:?} {limit}");
                assert!(!outcome.is_verified());
                assert!(outcome.peak_bytes <= limit);
            }
        }
    }
}

#[test]
fn a_limit_on_time_and_an_interrupt_make_the_run_incomplete() {
    let toy = Toy::new(Family::Grid { k: 5, n: 30, cyclic: true });
    let late = limited(|b| b.time_limit = Some(Duration::ZERO));
    assert_eq!(explore(&toy, &options(2, Order::Bfs), &late).unwrap().reasons, [(Reason::Time, 1)]);
    let interrupted = Budget::unlimited();
    interrupted.interrupt_flag().store(true, Ordering::Relaxed);
    let outcome = explore(&toy, &options(2, Order::Mixed), &interrupted).unwrap();
    assert_eq!(outcome.reasons, [(Reason::Interrupted, 1)]);
    assert!(!outcome.is_verified());
}

#[test]
fn what_a_system_cannot_compute_makes_the_run_incomplete() {
    let mut toy = Toy::new(GRID);
    toy.incomplete_at = Some(100);
    let outcome = run(&toy, &options(2, Order::Bfs));
    assert_eq!(outcome.reasons, [(Reason::System(7), 1)]);
    assert!(outcome.exhausted && !outcome.is_verified());
}

#[test]
fn a_violation_found_before_a_limit_is_still_there() {
    let mut toy = Toy::new(Family::Grid { k: 4, n: 30, cyclic: true });
    toy.bad = vec![1];
    let budget = limited(|b| b.max_states = Some(5_000));
    let keep_going = Options { keep_going: true, ..options(3, Order::Bfs) };
    let outcome = explore(&toy, &keep_going, &budget).unwrap();
    assert_eq!(outcome.counts.of(FindingKind::Invariant), 1);
    assert_eq!(outcome.findings[0].trace.as_ref().unwrap().len(), 2);
}

#[test]
fn a_panic_of_one_worker_is_an_internal_error() {
    for order in [Order::Bfs, Order::Dfs, Order::Mixed] {
        for workers in [1, 4] {
            let mut toy = Toy::new(Family::Grid { k: 3, n: 40, cyclic: true });
            toy.panics_at = Some(20 * 1641);
            let error = explore(&toy, &options(workers, order), &Budget::unlimited()).err().unwrap();
            assert!(error.0.contains("is poisoned"), "{error}");
        }
    }
}

#[test]
fn the_recorded_graph_is_the_same_for_any_number_of_workers() {
    let toy = Toy::wide(Family::Grid { k: 3, n: 9, cyclic: true }, 2);
    let graph =
        |workers| run(&toy, &Options { record_edges: true, ..options(workers, Order::Bfs) }).graph.unwrap();
    let reference = graph(1);
    assert_eq!((reference.nodes(), reference.forward.edges()), (729, 3 * 729));
    assert_eq!(reference.initial.len(), 1);
    assert_eq!(reference.state(reference.initial[0]).unwrap(), [0, 0]);
    for workers in [2, 5] {
        let other = graph(workers);
        assert!(other.forward == reference.forward && other.initial == reference.initial);
    }
}
