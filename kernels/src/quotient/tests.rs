//! The quotient table against a set that everybody trusts.

use super::*;
use crate::random::Random;
use std::collections::BTreeSet;

/// Puts words as `Visited` does, without other workers.
fn put(table: &Quotients, ids: &mut Ids, word: u64) -> Found {
    loop {
        if ids.is_empty() && table.reserve(ids, 5).is_err() {
            grow(table);
            continue;
        }
        match table.find_or_put(ids, table.spread(word)) {
            Ok(found) => return found,
            Err(Full) => grow(table),
        }
    }
}

fn grow(table: &Quotients) {
    table.plan_growth().unwrap();
    (0..PARTS).for_each(|part| table.grow_part(part));
    table.finish_growth().unwrap();
}

fn words_of(table: &Quotients) -> Vec<u64> {
    let mut words = Vec::new();
    table.each(|word| words.push(word));
    words.sort_unstable();
    words
}

#[test]
fn a_set_of_words_is_what_was_put_however_often_it_grew() {
    for bits in [1, 16, 20, 25, 33, 40, 47, 63, 64] {
        let table = Quotients::new(bits, 64, false, &Meter::new(None)).unwrap();
        let mut ids = Ids::default();
        let mut random = Random(u64::from(bits));
        let mut known = BTreeSet::new();
        for n in 0..60_000u64 {
            // Neighbours, multiples of a power of two, and anything.
            let word = [n / 3, n << 7, random.next() >> (n % 40), u64::MAX - n][n as usize % 4];
            let word = if bits == 64 { word } else { word % (1 << bits) };
            assert_eq!(put(&table, &mut ids, word).fresh, known.insert(word), "{bits} bits, {word}");
        }
        assert_eq!(table.count(), known.len() as u64);
        assert_eq!(words_of(&table), known.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_set_of_all_words_needs_no_more_slots_than_words() {
    let meter = Meter::new(None);
    let table = Quotients::new(18, 64, false, &meter).unwrap();
    let mut ids = Ids::default();
    for word in 0..1 << 18 {
        assert!(put(&table, &mut ids, word).fresh);
    }
    for word in 0..1 << 18 {
        assert!(!put(&table, &mut ids, word).fresh);
    }
    assert_eq!(words_of(&table), (0..1 << 18).collect::<Vec<u64>>());
    assert!(meter.used() <= 4 << 18, "{} bytes", meter.used());
}

#[test]
fn a_slot_of_a_fixed_set_gives_its_word_back() {
    for bits in [28, 60] {
        let table = Quotients::new(bits, 20_000, true, &Meter::new(None)).unwrap();
        let mut ids = Ids::default();
        let slots: Vec<u64> = (0..15_000).map(|n| put(&table, &mut ids, n * 977).slot).collect();
        for (n, slot) in slots.into_iter().enumerate() {
            let word = n as u64 * 977;
            assert!(slot < table.capacity());
            assert_eq!((table.word(slot), table.find(word)), (Some(word), Some(slot)));
            assert_eq!(table.find(word + 1), None);
        }
    }
}

#[test]
fn a_fixed_set_that_is_full_says_so() {
    let table = Quotients::new(40, 64, true, &Meter::new(None)).unwrap();
    let mut ids = Ids::default();
    let mut refused = false;
    for word in 0..1000 {
        refused |= ids.is_empty() && table.reserve(&mut ids, 1).is_err();
        refused |= !ids.is_empty() && table.find_or_put(&mut ids, table.spread(word)).is_err();
    }
    assert!(refused);
    assert_eq!(table.plan_growth(), Err(Trouble::OutOfIds));
}

#[test]
fn a_large_set_of_words_of_25_bits_takes_less_than_six_bytes_a_word() {
    // 23 in 25 slots of 4 bytes are 4.35 bytes a word; a growth by a quarter leaves 5.43.
    let meter = Meter::new(None);
    let table = Quotients::new(25, 64, false, &meter).unwrap();
    let mut ids = Ids::default();
    let mut worst: f64 = 0.0;
    for n in 0..5_500_000u64 {
        put(&table, &mut ids, n * 5);
        if n > 4_500_000 {
            worst = worst.max(meter.used() as f64 / n as f64);
        }
    }
    assert!(worst < 5.6, "{worst} bytes a word");
}
