//! Many workers on few cores, against a map that everybody trusts.
#![cfg(not(loom))]

use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_kernels::packed::Packed;
use bombus_kernels::table::Entry;
use bombus_kernels::visited::{Mode, Shape, Visited};
use dashmap::DashMap;
use std::sync::atomic::{AtomicU64, Ordering};

fn shape(mode: Mode, words: usize, workers: usize, tag_bits: u32) -> Shape {
    Shape { mode, words, workers, slots: 64, tag_bits, satellites: false, ..Shape::default() }
}

/// Key `n` as a state of some words.
fn state(n: u64, words: usize) -> Vec<u64> {
    (0..words as u32).map(|i| if i == 0 { n } else { n >> (3 * i) }).collect()
}

/// All workers insert the same keys, each in an order of its own; the table starts tiny.
fn check(shape: Shape, keys: u64) {
    let set = Visited::new(shape, &Meter::new(None)).unwrap();
    let oracle: DashMap<u64, u32> = DashMap::new();
    let fresh = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for worker in 0..shape.workers {
            let (set, oracle, fresh) = (&set, &oracle, &fresh);
            scope.spawn(move || {
                let mut seat = set.seat(worker);
                seat.block = 1 + worker as u32 * 7;
                // An odd factor below a power of two permutes the keys.
                let factor = hash::mix(worker as u64) | 1;
                let mut n = 0;
                while n < keys {
                    let mut session = set.enter(&mut seat).unwrap();
                    for _ in 0..1 + (n ^ worker as u64) % 90 {
                        if n == keys {
                            break;
                        }
                        let number = n.wrapping_mul(factor) & (keys - 1);
                        n += 1;
                        let key = session.key(&state(number, shape.words)).unwrap();
                        let entry = session.insert(key).unwrap();
                        fresh.fetch_add(entry.fresh as u64, Ordering::Relaxed);
                        let known = *oracle.entry(number).or_insert(entry.id);
                        assert_eq!(known, entry.id, "one id per key");
                    }
                }
            });
        }
    });
    assert_eq!(fresh.load(Ordering::Relaxed), keys);
    assert_eq!(oracle.len() as u64, keys);
    let mut set = set;
    assert_eq!(set.count(), keys);
    if shape.mode == Mode::Exact {
        let mut read = vec![0; shape.words];
        for pair in &oracle {
            set.state(*pair.value(), &mut read);
            assert_eq!(read, state(*pair.key(), shape.words));
        }
    }
    let mut ids: Vec<u32> = oracle.iter().map(|pair| *pair.value()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len() as u64, keys, "no two keys share an id");
}

#[test]
fn every_key_has_one_winner_and_one_id_for_any_number_of_workers() {
    for workers in [1, 2, 3, 8, 16] {
        check(shape(Mode::Exact, 1, workers, 32), 1 << 16);
        check(shape(Mode::Hash, 2, workers, 32), 1 << 16);
        check(shape(Mode::Exact, 5, workers, 32), 1 << 14);
    }
}

#[test]
fn every_packed_state_has_one_winner_for_any_number_of_workers() {
    for (workers, bits) in [(1, 20), (3, 16), (8, 40), (16, 10)] {
        let packed = Some(Packed { bits, fixed: None });
        let set = Visited::new(Shape { packed, ..shape(Mode::Exact, 1, workers, 32) }, &Meter::new(None));
        let mut set = set.unwrap();
        let keys = 1u64 << 16;
        let fresh = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let (set, fresh) = (&set, &fresh);
                scope.spawn(move || {
                    let mut seat = set.seat(worker);
                    let mut aims = Vec::new();
                    let factor = hash::mix(worker as u64) | 1;
                    let order: Vec<u64> = (0..keys).map(|n| n.wrapping_mul(factor) & (keys - 1)).collect();
                    for states in order.chunks(90) {
                        let mut session = set.enter(&mut seat).unwrap();
                        let note = |_, entry: Entry| {
                            fresh.fetch_add(entry.fresh as u64, Ordering::Relaxed);
                        };
                        if worker % 2 == 0 {
                            session.insert_packed(states, &mut aims, note).unwrap();
                        } else {
                            let mut places = Vec::new();
                            session.insert_packed_many(states, &mut aims, &mut places).1.unwrap();
                            fresh.fetch_add(places.len() as u64, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!((fresh.load(Ordering::Relaxed), set.count()), (keys, keys));
        let mut states = Vec::new();
        let words = set.into_words().unwrap();
        (0..words.parts()).for_each(|part| words.each_in(part, |state| states.push(state)));
        states.sort_unstable();
        assert_eq!(states, (0..keys).collect::<Vec<_>>());
    }
}

#[test]
fn keys_that_all_hash_alike_are_still_told_apart() {
    for tag_bits in [0, 8] {
        check(shape(Mode::Exact, 3, 4, tag_bits), 1 << 11);
    }
}

#[test]
fn a_set_fills_its_limit_and_then_refuses() {
    let meter = Meter::new(Some(64 << 20));
    let set = Visited::new(shape(Mode::Hash, 1, 1, 32), &meter).unwrap();
    let mut seat = set.seat(0);
    let mut inserted = 0u64;
    let refused = loop {
        let mut session = set.enter(&mut seat).unwrap();
        let key = session.key(&[inserted]).unwrap();
        match session.insert(key) {
            Ok(entry) => inserted += entry.fresh as u64,
            Err(trouble) => break trouble,
        }
    };
    assert_eq!(refused, bombus_kernels::Trouble::OutOfMemory);
    assert!(meter.peak() <= 64 << 20);
    // The limit is not reached early: 64 MiB hold two million states at some 30 bytes each.
    assert!(inserted > 2_000_000, "{inserted}");
    drop(set);
    assert_eq!(meter.used(), 0);
}
