//! The visited set as one worker sees it: states, keys, marks, bounds.

use super::*;

fn set(mode: Mode, words: usize) -> Visited {
    let shape =
        Shape { mode, words, workers: 1, slots: 64, tag_bits: 32, satellites: true, ..Shape::default() };
    Visited::new(shape, &Meter::new(None)).unwrap()
}

/// A state of `words` words that is a function of `n`, with little and with much in a word.
fn state(n: u64, words: usize) -> Vec<u64> {
    (0..words as u64).map(|i| if i % 2 == 0 { n >> i } else { hash::mix(n / 3 + i) }).collect()
}

#[test]
fn a_state_of_any_length_comes_back_as_it_was_put() {
    for words in [0, 1, 2, 3, 4, 5, 7, 8, 9, 31] {
        let set = set(Mode::Exact, words);
        let mut seat = set.seat(0);
        let count = if words == 0 { 1 } else { 3000 };
        let mut ids = Vec::new();
        for n in 0..count {
            let mut session = set.enter(&mut seat).unwrap();
            let key = session.key(&state(n, words)).unwrap();
            ids.push(session.insert(key).unwrap());
            assert!(ids[n as usize].fresh);
        }
        for n in 0..count {
            let mut read = vec![0; words];
            assert!(set.state(ids[n as usize].id, &mut read));
            assert_eq!(read, state(n, words));
            let mut session = set.enter(&mut seat).unwrap();
            assert_eq!(session.find(&read), Some(ids[n as usize].id));
            let key = session.key(&read).unwrap();
            assert!(!session.insert(key).unwrap().fresh);
        }
    }
}

#[test]
fn a_state_has_the_same_key_whatever_it_is_near() {
    for words in [2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 65] {
        let set = set(Mode::Exact, words);
        let mut seat = set.seat(0);
        let mut alone: Vec<(Vec<u64>, u128)> = Vec::new();
        for n in 0..400 {
            // Some words of the state before are changed, none and the outermost among them.
            let mut now = alone.last().map_or_else(|| vec![hash::mix(words as u64); words], |s| s.0.clone());
            for k in 0..n % 5 {
                let at = (hash::mix(n * 5 + k) % (words as u64 + 2)).saturating_sub(1);
                now[(at as usize).min(words - 1)] = hash::mix(n + k) % 3;
            }
            let mut session = set.enter(&mut seat).unwrap();
            session.near(&now).unwrap();
            let key = session.key(&now).unwrap();
            alone.push((now, key.0));
        }
        let mut session = set.enter(&mut seat).unwrap();
        for n in 0..3000 {
            let (base, _) = &alone[hash::mix(n) as usize % alone.len()];
            let (other, key) = &alone[hash::mix(n + 77) as usize % alone.len()];
            if n % 3 == 0 {
                session.near(base).unwrap();
            }
            assert!(session.recall(other).is_none_or(|known| known.0 == *key));
            assert_eq!(session.key(other).unwrap().0, *key);
            assert_eq!(session.recall(other).map(|known| known.0), Some(*key));
        }
        for (a, x) in &alone {
            for (b, y) in &alone {
                assert_eq!(a == b, x == y);
            }
        }
    }
}

#[test]
fn states_that_never_come_again_are_not_remembered_for_ever() {
    let set = set(Mode::Exact, 3);
    let mut seat = set.seat(0);
    let mut session = set.enter(&mut seat).unwrap();
    let first = session.key(&state(0, 3)).unwrap().0;
    for n in 1..20_000 {
        assert!(session.recall(&state(n, 3)).is_none());
        session.key(&state(n, 3)).unwrap();
        if n == 100 {
            assert!(session.recall(&state(n, 3)).is_some());
        }
    }
    assert!(session.recall(&state(19_999, 3)).is_none());
    assert_eq!(session.key(&state(0, 3)).unwrap().0, first);
}

#[test]
fn a_state_that_was_not_put_is_not_found() {
    for mode in [Mode::Exact, Mode::Hash] {
        let set = set(mode, 3);
        let mut seat = set.seat(0);
        let mut session = set.enter(&mut seat).unwrap();
        assert_eq!(session.find(&[1, 2, 3]), None);
        let key = session.key(&[1, 2, 3]).unwrap();
        let id = session.insert(key).unwrap().id;
        assert_eq!(session.find(&[1, 2, 3]), Some(id));
        assert_eq!(session.find(&[1, 3, 2]), None);
    }
}

#[test]
fn marks_stay_and_tell_what_was_there_before() {
    let set = set(Mode::Hash, 1);
    let mut seat = set.seat(0);
    let mut session = set.enter(&mut seat).unwrap();
    let key = session.key(&[9]).unwrap();
    let id = session.insert(key).unwrap().id;
    assert_eq!((set.mark(id, 1), set.mark(id, 4), set.marks(id)), (0, 1, 5));
}

#[test]
fn the_collision_bound_is_that_of_eighty_bits() {
    // (10^9)² / 2^81 is a little more than 4·10^-7.
    let bound = set(Mode::Hash, 1).collision_bound(1_000_000_000);
    assert!((4.0e-7..4.2e-7).contains(&bound), "{bound}");
    assert_eq!(set(Mode::Exact, 1).collision_bound(1_000_000_000), 0.0);
}
