//! All stores say the same: with predecessors or without, with ids or packed, in memory or on disk.

use super::testing::{Family, Table, Toy};
use super::*;
use bombus_kernels::random::Random;
use bombus_system::{EventId, FindingKind};

/// Everything that must not depend on the store, traces included.
fn essence(outcome: &Outcome) -> String {
    format!(
        "{} {} {} {:?} {:?} {:?} {} {} {:?} {:?} {:x} {:?} {}",
        outcome.states,
        outcome.transitions,
        outcome.initial,
        outcome.depth,
        outcome.events,
        outcome.undefined_guards,
        outcome.deadlocks,
        outcome.out_of_scope,
        outcome.counts,
        outcome.findings,
        outcome.digest,
        outcome.reasons,
        outcome.exhausted
    )
}

/// Searches `system` with every store; with ids and predecessors first.
fn agree<S: System>(system: &S, plain: &Options) {
    let dir = tempfile::tempdir().unwrap();
    // Fewer than all bits of a hash make the search use ids.
    let ids = Options { tag_bits: 31, ..plain.clone() };
    let expected = essence(&explore(system, &ids, &Budget::unlimited()).expect("no internal error"));
    let stores = [
        ("packed", plain.clone()),
        ("packed, searched again", Options { trail: 0, ..plain.clone() }),
        ("packed, its trail lost", Options { trail: 300, ..plain.clone() }),
        ("without parents", Options { keep_parents: false, ..ids.clone() }),
        ("hashes without parents", Options { store: Mode::Hash, keep_parents: false, ..plain.clone() }),
        ("disk", Options { store: Mode::Disk, disk: Some(dir.path().into()), ..plain.clone() }),
    ];
    for (name, options) in stores {
        for workers in [1, 3] {
            let options = Options { workers, ..options.clone() };
            let outcome = explore(system, &options, &Budget::unlimited()).expect("no internal error");
            assert_eq!(essence(&outcome), expected, "{name}, {workers} workers");
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "files stay behind");
}

fn options(keep_going: bool) -> Options {
    Options { keep_going, stack: 1 << 20, ..Options::default() }
}

/// A table of some twenty states with anything in it.
fn random_table(random: &mut Random) -> Table {
    let states = 2 + random.below(24);
    let state = |random: &mut Random| {
        let number = random.below(states);
        // Some states have high bits, as numbers of pooled values do.
        if number.is_multiple_of(5) { u64::MAX - number } else { number }
    };
    let mut edges = Vec::new();
    for _ in 0..random.below(4 * states) {
        edges.push((state(random), random.below(3) as u32, state(random)));
    }
    edges.sort_unstable();
    edges.dedup();
    let mut initial: Vec<u64> = (0..1 + random.below(3)).map(|_| state(random)).collect();
    initial.sort_unstable();
    initial.dedup();
    let mut table = Table::new(&initial, &edges);
    for _ in 0..random.below(4) {
        let kinds = [FindingKind::Invariant, FindingKind::Goal, FindingKind::Assertion];
        table = table.violating(state(random), random.pick(&kinds));
    }
    if random.below(3) == 0 {
        table = table.failing(state(random), 0, FindingKind::WellDefinedness);
    }
    if random.below(3) == 0 {
        table.out_of_scope.push(state(random));
    }
    if random.below(3) == 0 {
        table.undefined.push((state(random), 0));
    }
    table
}

#[test]
fn every_store_finds_the_same_states_findings_and_traces() {
    let mut random = Random(27);
    for n in 0..40 {
        let table = random_table(&mut random);
        agree(&table, &options(n % 2 == 0));
    }
}

#[test]
fn the_trace_of_a_second_search_is_the_one_with_stored_predecessors() {
    for words in [1, 3] {
        let mut toy = Toy::wide(Family::Grid { k: 4, n: 9, cyclic: true }, words);
        // Four counters at 4: distance 16, with very many paths.
        toy.bad = vec![4 + 4 * 9 + 4 * 81 + 4 * 729];
        agree(&toy, &options(false));
        toy.bad.extend([1, 2, 9 * 3, 6560]);
        agree(&toy, &options(true));
    }
    let mut deep = Toy::new(Family::Path(700));
    deep.bad = vec![699];
    agree(&deep, &options(false));
    // The level before the leaves has 16,384 states.
    let mut broad = Toy::new(Family::Tree(16));
    broad.bad = vec![50_000];
    agree(&broad, &options(false));
    let mut initial = Toy::new(Family::Star(3));
    initial.bad = vec![0];
    agree(&initial, &options(false));
}

#[test]
fn a_table_that_grew_often_loses_nothing() {
    // 40^3 states: the table of 8192 slots grows four times.
    let toy = Toy::new(Family::Grid { k: 3, n: 40, cyclic: true });
    let outcome = explore(&toy, &options(false), &Budget::unlimited()).unwrap();
    assert_eq!((outcome.states, outcome.transitions), (64_000, 192_000));
    assert!(outcome.is_verified());
    // Slots of eight bytes, for the toy says nothing of the bits of its states; at least 0.4 of them are full.
    assert!(outcome.bytes_per_state() < 20.0 + 450_000.0 / 64_000.0, "{}", outcome.bytes_per_state());
}

#[test]
fn a_search_on_disk_that_is_stopped_is_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    let toy = Toy::new(Family::Grid { k: 3, n: 30, cyclic: true });
    let mut budget = Budget::unlimited();
    budget.max_states = Some(1000);
    let options = Options { store: Mode::Disk, disk: Some(dir.path().into()), ..options(false) };
    let outcome = explore(&toy, &options, &budget).unwrap();
    assert_eq!(outcome.reasons, [(Reason::States(1000), 1)]);
    assert!(outcome.states >= 1000 && outcome.states < 27_000 && !outcome.is_verified());
}

#[test]
fn a_disk_that_takes_nothing_makes_the_search_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("no folder");
    std::fs::write(&file, "").unwrap();
    let toy = Toy::new(Family::Path(9));
    let options = Options { store: Mode::Disk, disk: Some(file), ..options(false) };
    let outcome = explore(&toy, &options, &Budget::unlimited()).unwrap();
    assert_eq!(outcome.reasons, [(Reason::Disk, 1)]);
    assert!(!outcome.is_verified());
}

#[test]
fn an_event_that_leads_nowhere_new_is_counted_by_every_store() {
    let mut table = Table::new(&[1, 2], &[(1, 0, 1), (1, 1, 2), (2, 0, 1), (2, 1, 3), (3, 0, 3)]);
    table.events = vec!["a".into(), "b".into(), "never".into()];
    agree(&table, &options(true));
    let outcome = explore(&table, &options(true), &Budget::unlimited()).unwrap();
    assert_eq!(outcome.events[EventId(2).0 as usize], Coverage::default());
    assert_eq!((outcome.states, outcome.initial, outcome.transitions), (3, 2, 5));
}

/// 512 states, with an invariant that some of them break.
fn cube(bad: &[u64]) -> Toy {
    let mut toy = Toy::new(Family::Grid { k: 3, n: 8, cyclic: true });
    toy.bad = bad.to_vec();
    toy
}

#[test]
fn a_store_without_ids_for_all_states_is_incomplete_and_names_the_limit() {
    for store in [Mode::Exact, Mode::Hash] {
        for workers in [1, 3] {
            let few = Options { store, workers, tag_bits: 31, ids: 100, ..options(false) };
            let outcome = explore(&cube(&[]), &few, &Budget::unlimited()).expect("no internal error");
            assert_eq!(outcome.reasons, [(Reason::Ids, 1)], "{store:?}");
            assert!(!outcome.exhausted && !outcome.is_verified() && outcome.states <= 100, "{store:?}");
        }
    }
    assert!(Reason::Ids.words(&cube(&[])).contains("more than 4294967293 states on one machine"));
}

#[test]
fn states_that_stand_in_the_table_itself_need_no_ids() {
    let plain = options(false);
    let expected = essence(&explore(&cube(&[]), &plain, &Budget::unlimited()).expect("no internal error"));
    let few = Options { ids: 100, ..plain };
    let outcome = explore(&cube(&[]), &few, &Budget::unlimited()).expect("no internal error");
    assert!(outcome.is_verified());
    assert_eq!(essence(&outcome), expected);
}

#[test]
fn a_finding_behind_more_states_than_have_ids_is_not_shown_and_nothing_is_verified() {
    let few = Options { ids: 100, trail: 0, ..options(true) };
    let outcome = explore(&cube(&[511]), &few, &Budget::unlimited()).expect("no internal error");
    assert!(outcome.findings.is_empty() && outcome.counts.total() == 0 && !outcome.is_verified());
    assert_eq!(outcome.reasons, [(Reason::Ids, 1)]);
    // Few states lie before this one.
    let outcome = explore(&cube(&[1]), &few, &Budget::unlimited()).expect("no internal error");
    assert_eq!(outcome.findings.len(), 1);
    assert!(outcome.findings[0].trace.is_some());
}
