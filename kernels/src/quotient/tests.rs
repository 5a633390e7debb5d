//! The quotient table against a set that everybody trusts.

use super::lines::{first_from, survey_plain};
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
        match table.find_or_put(ids, table.aim(word)) {
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
    (0..PARTS as usize).for_each(|part| table.each_in(part, |word| words.push(word)));
    words.sort_unstable();
    words
}

#[test]
fn a_line_is_surveyed_at_once_as_slot_by_slot() {
    let mut random = Random(9);
    for _ in 0..20_000 {
        // Few different numbers, of all sizes, in lines of any fill.
        let number = |random: &mut Random| [1, 2, 1 << 15, 1 << 31, 0xffff_ffff][random.below(5) as usize];
        let fill = random.below(5);
        let line: Vec<AtomicU32> = (0..16)
            .map(|_| AtomicU32::new(if random.below(4) < fill { number(&mut random) } else { 0 }))
            .collect();
        let (wanted, rest) = (u64::from(number(&mut random)), random.next());
        let seen = AtomicU32::survey(&line, wanted);
        assert_eq!(seen, survey_plain(&line, wanted));
        let first = (0..16).map(|step| (rest as usize % 16 + step) % 16).find(|at| line[*at].look() == 0);
        assert_eq!(first_from::<AtomicU32>(seen.empty, rest), first);
    }
}

#[test]
fn many_words_are_put_as_one_by_one() {
    let [many, single] = [4096, 64].map(|slots| Quotients::new(24, slots, false, &Meter::new(None)).unwrap());
    let (mut ids, mut others) = (Ids::default(), Ids::default());
    let mut random = Random(77);
    let mut full_lines = 0;
    for _ in 0..400 {
        // Some are not for this set; they end the run of those that are.
        let words: Vec<u64> =
            (0..90).map(|_| random.below(20_000) | u64::from(random.below(40) == 0) << 30).collect();
        let (mut aims, mut fresh, mut later) = (Vec::new(), Vec::new(), Vec::new());
        let mut done = 0;
        while done < words.len() {
            while ids.is_empty() && many.reserve(&mut ids, 7).is_err() {
                grow(&many);
            }
            many.aim_many(&words, &mut aims);
            let before = done;
            done += many.find_or_put_many(&mut ids, &aims[done..], done, &mut fresh, &mut later);
            if done < words.len() && aims[done].is_elsewhere() {
                done += 1;
            } else if before == done {
                grow(&many);
            }
        }
        full_lines += later.len();
        fresh.extend(later.into_iter().filter(|i| put(&many, &mut ids, words[*i as usize]).fresh));
        let mut fresh: Vec<u64> = fresh.into_iter().map(|i| words[i as usize]).collect();
        let is_new = |word: &u64| single.takes(*word) && put(&single, &mut others, *word).fresh;
        let mut one_by_one: Vec<u64> = words.iter().copied().filter(is_new).collect();
        fresh.sort_unstable();
        one_by_one.sort_unstable();
        assert_eq!(fresh, one_by_one);
    }
    assert!(full_lines > 0, "some words stand beyond their home lines");
    assert_eq!(words_of(&many), words_of(&single));
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
        let slots: Vec<u64> = (0..15_000).map(|n| table.slot(put(&table, &mut ids, n * 977))).collect();
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
        refused |= !ids.is_empty() && table.find_or_put(&mut ids, table.aim(word)).is_err();
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

#[test]
fn a_set_of_words_holds_more_than_32_bits_can_number() {
    // Counting begins a little below 2^32, because nobody waits for so many words.
    let table = Quotients::new(40, 4096, false, &Meter::new(None)).unwrap();
    let before = u64::from(u32::MAX) - 100;
    table.next.0.store(before, Ordering::Relaxed);
    table.room.store(before + 3000, Ordering::Relaxed);
    let mut ids = Ids::default();
    for word in 0..2000 {
        if ids.is_empty() {
            table.reserve(&mut ids, 7).unwrap();
        }
        assert!(table.find_or_put(&mut ids, table.aim(word * 77)).unwrap().fresh);
    }
    table.give_back(&mut ids);
    assert_eq!((table.bound(), table.count()), (before + 2000, 2000));
    assert!((0..2000).all(|word| table.find(word * 77).is_some() && table.find(word * 77 + 1).is_none()));
    assert!(ids.is_empty() && table.reserve(&mut ids, 7).is_ok());
    assert!(!table.find_or_put(&mut ids, table.aim(77)).unwrap().fresh);
}
