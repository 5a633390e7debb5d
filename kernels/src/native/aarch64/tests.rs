//! What can be said of instructions without a processor that runs them. Where there is one, or an emulator, the tests of
//! all steps run on it (`.ci/aarch64`).

use super::*;

fn instructions(steps: impl FnOnce(&mut Builder)) -> Vec<u32> {
    let mut b = Builder::new(1, 2).expect("a builder");
    let before = b.instructions.len();
    steps(&mut b);
    b.instructions.split_off(before)
}

/// The word that the fields `N`, `immr` and `imms` stand for, as the manual of the architecture decodes them.
fn decoded(fields: u32) -> u64 {
    let (wide, rotation, ones) = (fields >> 22 & 1, fields >> 16 & 63, fields >> 10 & 63);
    let length = 31 - (wide << 6 | (!ones & 63)).leading_zeros();
    let size = 1u32 << length;
    let (s, r) = (ones & (size - 1), rotation & (size - 1));
    let element: Vec<bool> = (0..size).map(|i| (i + r) % size <= s).collect();
    (0..64).filter(|i| element[(i % size) as usize]).fold(0, |all, i| all | 1 << i)
}

#[test]
fn a_pattern_of_bits_is_found_if_there_is_one() {
    let mut found = 0;
    for size in [2u32, 4, 8, 16, 32, 64] {
        for ones in 1..size {
            for rotation in 0..size {
                let run = (0..64 / size).fold(0, |all, i| all | (u64::MAX >> (64 - ones)) << (i * size));
                let v = run.rotate_right(rotation);
                assert_eq!(pattern(v).map(decoded), Some(v), "{v:x}");
                found += 1;
            }
        }
    }
    // The number of such words that the manual gives: the sum of size * (size - 1).
    assert_eq!(found, 5334);
    for v in [0, u64::MAX, 5, 0x1234_5678, 0xff00_ff00_ff00_0000, 0b1011, u64::MAX - 20] {
        assert_eq!(pattern(v).map(decoded).filter(|w| *w != v), None);
        assert!(pattern(v).is_none(), "{v:x}");
    }
}

/// The content of a register after instructions that only write numbers to it.
fn written(instructions: &[u32]) -> u64 {
    instructions.iter().fold(0, |now, i| {
        let (part, by) = (u64::from(i >> 5 & 0xffff), 16 * (i >> 21 & 3));
        match (i >> 29, i >> 23 & 63) {
            (0b110, 0b10_0101) => part << by,
            (0b100, 0b10_0101) => !(part << by),
            (0b111, 0b10_0101) => now & !(0xffff << by) | part << by,
            (0b101, 0b10_0100) => decoded(i & 0x7f_fc00),
            _ => panic!("{i:x} writes no number"),
        }
    })
}

#[test]
fn every_number_is_written_by_at_most_four_instructions() {
    let numbers = [0, 1, 0xffff, 0x1_0000, 0x1234_5678_9abc_def0, i64::MAX, i64::MIN, -1, -2, -0x1_0000];
    let patterns = [0x5555_5555_5555_5555, 0x00ff_00ff_00ff_00ff, 0x7fff_ffff_0000, -0x1_0000_0001];
    for v in numbers.into_iter().chain(patterns) {
        let all = instructions(|b| b.set(Temp::D, v));
        assert_eq!(written(&all), v as u64, "{v:x}");
        assert!((1..=4).contains(&all.len()), "{v:x}");
        assert!(all.iter().all(|i| i & 31 == 13), "the number is in the register of D");
    }
    for v in patterns {
        assert_eq!(instructions(|b| b.set(Temp::D, v)).len(), 1, "{v:x} is a pattern");
    }
}

#[test]
fn a_condition_needs_a_step_that_says_something_about_it() {
    type Steps = fn(&mut Builder);
    let made = |steps: Steps| {
        let mut b = Builder::new(1, 2).expect("a builder");
        b.bind(Label(0));
        steps(&mut b);
        b.assembled(3).is_some()
    };
    let cases: [(Steps, bool); 6] = [
        (|b| b.jump_if(Condition::Below, Label(0)), false),
        (
            |b| {
                b.combine(Word::And, Temp::A, Temp::C);
                b.jump_if(Condition::Below, Label(0));
            },
            false,
        ),
        (
            |b| {
                b.test(Temp::A);
                b.load(Temp::A, 1);
                b.jump_if(Condition::Equal, Label(0));
            },
            false,
        ),
        (
            |b| {
                b.test(Temp::A);
                b.load(Temp::C, 1);
                b.jump_if(Condition::Equal, Label(0));
            },
            true,
        ),
        (
            |b| {
                b.test_bit(Temp::A, Temp::C);
                b.jump_if(Condition::Equal, Label(0));
            },
            false,
        ),
        (
            |b| {
                b.combine(Word::Add, Temp::A, Temp::C);
                b.jump_if(Condition::Overflow, Label(0));
            },
            true,
        ),
    ];
    for (i, (steps, want)) in cases.into_iter().enumerate() {
        assert_eq!(made(steps), want, "case {i}");
    }
}

#[test]
fn a_jump_over_more_than_a_mebibyte_gives_no_routine() {
    let far = |steps: usize| {
        let mut b = Builder::new(1, 2).expect("a builder");
        b.test(Temp::A);
        b.jump_if(Condition::Equal, Label(0));
        (0..steps).for_each(|_| b.not(Temp::C));
        b.bind(Label(0));
        b.assembled(3).is_some()
    };
    // A conditional jump has 19 bits for the distance, in instructions.
    assert!(far(1 << 17));
    assert!(!far(1 << 18));
}
