//! Every interleaving, within loom's bounds, of the code that ships: visited set, gate, termination.
//!
//! Run: `RUSTFLAGS="--cfg loom" cargo test --release -p bombus-kernels --test loom`.
//! In an ordinary build this file is empty.
#![cfg(loom)]

use bombus_kernels::memory::Meter;
use bombus_kernels::packed::{Capacity, Packed};
use bombus_kernels::table::Entry;
use bombus_kernels::table::gate::Gate;
use bombus_kernels::termination::Tally;
use bombus_kernels::visited::{Mode, Shape, Visited};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Explores with at most three preemptions, enough for every known bug of such structures.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// Two workers insert what `keys` says; returns how often each key was new, and its ids.
fn insert_both(shape: Shape, keys: [&'static [u64]; 2]) {
    explore(move || {
        let set = Arc::new(Visited::new(shape, &Meter::new(None)).unwrap());
        let insert = move |set: Arc<Visited>, worker: usize, keys: &'static [u64]| {
            let mut seat = set.seat(worker);
            seat.block = 1;
            let mut entries = Vec::new();
            for &key in keys {
                let mut session = set.enter(&mut seat).unwrap();
                let found = session.key(&[key]).unwrap();
                let entry = session.insert(found).unwrap();
                drop(session);
                if shape.mode == Mode::Exact {
                    // The record of an id that we were told is there to be read.
                    let mut state = [0];
                    set.state(entry.id, &mut state);
                    assert_eq!(state, [key]);
                }
                entries.push((key, entry));
            }
            entries
        };
        let other = {
            let set = set.clone();
            thread::spawn(move || insert(set, 1, keys[1]))
        };
        let mut entries = insert(set.clone(), 0, keys[0]);
        entries.extend(other.join().unwrap());
        let mut distinct: Vec<u64> = entries.iter().map(|(key, _)| *key).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for &key in &distinct {
            let same: Vec<_> = entries.iter().filter(|(k, _)| *k == key).collect();
            assert_eq!(same.iter().filter(|(_, entry)| entry.fresh).count(), 1, "one winner per key");
            assert!(same.iter().all(|(_, entry)| entry.id == same[0].1.id), "one id per key");
        }
        let mut ids: Vec<u32> = entries.iter().map(|(_, entry)| entry.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), distinct.len(), "no two keys share an id");
        let mut set = Arc::try_unwrap(set).ok().unwrap();
        assert_eq!(set.count(), distinct.len() as u64);
    });
}

fn shape(mode: Mode, slots: usize, tag_bits: u32) -> Shape {
    Shape { mode, words: 1, workers: 2, slots, tag_bits, satellites: false, ..Shape::default() }
}

#[test]
fn two_inserts_of_one_key_have_one_winner() {
    insert_both(shape(Mode::Exact, 4, 32), [&[5], &[5]]);
    insert_both(shape(Mode::Hash, 4, 32), [&[5], &[5]]);
}

#[test]
fn two_inserts_that_want_one_slot_both_succeed() {
    // No tag bits: all keys begin at the same slot and look alike until their records are read.
    insert_both(shape(Mode::Exact, 4, 0), [&[5], &[6]]);
}

#[test]
fn inserts_meet_in_the_middle() {
    insert_both(shape(Mode::Exact, 8, 0), [&[5, 6], &[6, 5]]);
}

#[test]
fn no_key_is_lost_or_doubled_while_the_table_grows() {
    // Two slots at first, and room for one id: the second key makes it grow.
    insert_both(shape(Mode::Exact, 2, 32), [&[5, 6], &[6]]);
    insert_both(shape(Mode::Hash, 2, 32), [&[5], &[6]]);
}

/// Two workers put packed states; every one is new once, and all stand in the set in the end.
fn insert_packed_both(bits: u32, slots: usize, keys: [&'static [u64]; 2]) {
    let packed = Some(Packed { bits, fixed: None });
    let shape = Shape { packed, ..shape(Mode::Exact, slots, 32) };
    explore(move || {
        let set = Arc::new(Visited::new(shape, &Meter::new(None)).unwrap());
        let insert = |set: Arc<Visited>, worker: usize, keys: &'static [u64]| {
            let mut seat = set.seat(worker);
            // One worker puts them one by one, the other as many as it can at a time.
            seat.block = 1 + worker as u32;
            let mut fresh = Vec::new();
            let mut session = set.enter(&mut seat).unwrap();
            if worker == 0 {
                let note = |i: usize, entry: Entry| fresh.extend(entry.fresh.then_some(keys[i]));
                session.insert_packed(keys, &mut Vec::new(), note).unwrap();
            } else {
                let mut places = Vec::new();
                let (looked, done) = session.insert_packed_many(keys, &mut Vec::new(), &mut places);
                assert_eq!((looked, done.is_ok()), (keys.len(), true));
                fresh.extend(places.into_iter().map(|i| keys[i as usize]));
            }
            drop(session);
            fresh
        };
        let other = {
            let set = set.clone();
            thread::spawn(move || insert(set, 1, keys[1]))
        };
        let mut fresh = insert(set.clone(), 0, keys[0]);
        fresh.extend(other.join().unwrap());
        fresh.sort_unstable();
        let mut distinct = keys.concat();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(fresh, distinct, "one winner per state");
        let set = Arc::try_unwrap(set).ok().unwrap();
        let mut stored = Vec::new();
        let words = set.into_words().unwrap();
        (0..words.parts()).for_each(|part| words.each_in(part, |state| stored.push(state)));
        stored.sort_unstable();
        assert_eq!(stored, distinct, "every state stands in the set once");
    });
}

#[test]
fn a_packed_state_has_one_winner() {
    insert_packed_both(8, 8, [&[5], &[5]]);
    // Wider than the set was told of.
    insert_packed_both(8, 8, [&[500], &[500]]);
}

#[test]
fn packed_states_that_want_one_line_both_succeed() {
    // Lines of two slots over words of four bits: some line is the home of two of these.
    insert_packed_both(4, 4, [&[1, 2], &[2, 3]]);
}

#[test]
fn no_packed_state_is_lost_or_doubled_while_the_table_grows() {
    insert_packed_both(8, 2, [&[5, 6], &[6]]);
    insert_packed_both(8, 2, [&[6], &[6, 5]]);
}

#[test]
fn the_parent_with_the_smallest_fingerprint_wins_whoever_claims_first() {
    let packed = Some(Packed { bits: 8, fixed: Some(Capacity { narrow: 8, wide: 2 }) });
    let shape = Shape { packed, ..shape(Mode::Exact, 8, 32) };
    explore(move || {
        let set = Arc::new(Visited::new(shape, &Meter::new(None)).unwrap());
        let claim = |set: Arc<Visited>, worker: usize| {
            let mut seat = set.seat(worker);
            seat.block = 1;
            let mut id = 0;
            let mut session = set.enter(&mut seat).unwrap();
            session.insert_packed(&[7], &mut Vec::new(), |_, entry| id = entry.id).unwrap();
            drop(session);
            // The fingerprint of parent n is n.
            set.lineage().unwrap().claim(false, id, worker as u32 + 1, worker as u128 + 1, u128::from);
            id
        };
        let other = {
            let set = set.clone();
            thread::spawn(move || claim(set, 1))
        };
        let id = claim(set.clone(), 0);
        assert_eq!(other.join().unwrap(), id);
        assert_eq!(set.parent(&[], id), Some(1));
    });
}

#[test]
fn the_tasks_of_a_growth_run_once_each_and_alone() {
    explore(|| {
        struct World {
            gate: Gate,
            /// Written by tasks, read inside the gate: loom reports a race if the two overlap.
            cells: [UnsafeCell<u32>; 2],
        }
        // The cells are what the gate protects; that is the claim under test.
        struct Shared(World);
        unsafe impl Sync for Shared {}
        unsafe impl Send for Shared {}
        let world =
            Arc::new(Shared(World { gate: Gate::new(2), cells: [UnsafeCell::new(0), UnsafeCell::new(0)] }));
        let task = |world: &Shared, i: u32| {
            world.0.cells[i as usize].with_mut(|cell| unsafe { *cell += 1 });
        };
        let read = |world: &Shared| {
            (0..2).map(|i| world.0.cells[i].with(|cell| unsafe { *cell })).collect::<Vec<u32>>()
        };
        let body = move |world: &Shared, worker: usize, grows: bool| {
            let seen = world.0.gate.enter(worker, &|i| task(world, i)).unwrap();
            let inside = read(world);
            assert_eq!(inside, [seen, seen], "inside, a growth is done wholly or not at all");
            world.0.gate.leave(worker);
            if grows {
                world.0.gate.grow(seen, || Ok(2), &|i| task(world, i), || Ok(())).unwrap();
            }
        };
        let other = {
            let world = world.clone();
            thread::spawn(move || body(&world, 1, true))
        };
        body(&world, 0, true);
        other.join().unwrap();
        let seen = world.0.gate.enter(0, &|_| {}).unwrap();
        let cells = read(&world);
        assert_eq!(cells, [seen, seen]);
        assert!(seen == 1 || seen == 2);
    });
}

#[test]
fn quiet_is_said_only_when_all_work_is_done() {
    explore(|| {
        // Work is a number; n leads to n - 1 until 0. Worker 0 starts with the work 2.
        let tally = Arc::new(Tally::new(2));
        let queue = Arc::new(Mutex::new(vec![2u32]));
        let done = Arc::new(Mutex::new(0));
        tally.created(0, 1);
        let worker = |index: usize, tally: Arc<Tally>, queue: Arc<Mutex<Vec<u32>>>, done: Arc<Mutex<u32>>| {
            loop {
                let work = queue.lock().unwrap().pop();
                match work {
                    Some(n) => {
                        if n > 0 {
                            tally.created(index, 1);
                            queue.lock().unwrap().push(n - 1);
                        }
                        *done.lock().unwrap() += 1;
                        tally.finished(index, 1);
                    }
                    None if tally.quiet() => {
                        assert_eq!(*done.lock().unwrap(), 3, "ended before the work did");
                        return;
                    }
                    None => thread::yield_now(),
                }
            }
        };
        let other = {
            let (tally, queue, done) = (tally.clone(), queue.clone(), done.clone());
            thread::spawn(move || worker(1, tally, queue, done))
        };
        worker(0, tally, queue, done);
        other.join().unwrap();
    });
}
