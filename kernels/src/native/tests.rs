//! Each step of a builder against what it says, on words at random.

use super::*;

const END: u32 = 2;
const BEYOND: u32 = 3;
const DEEP: u32 = 4;

struct Nobody;

impl Host for Nobody {
    fn serve(&mut self, _: &mut Frame, request: u32) -> u32 {
        unreachable!("request {request}")
    }
}

fn frame(words: &[u64]) -> Box<Frame> {
    let mut frame: Box<Frame> = vec![0; FRAME].into_boxed_slice().try_into().expect("the length of a frame");
    frame[..words.len()].copy_from_slice(words);
    frame
}

/// Builds steps and runs them from the first; the number they end with, unless routines cannot be made here.
fn run(frame: &mut Frame, host: &mut impl Host, steps: impl FnOnce(&mut Builder)) -> Option<u32> {
    let mut b = Builder::new(1, END)?;
    b.bind(Label(0));
    steps(&mut b);
    match b.finish(BEYOND) {
        Some(routine) => Some(routine.run(Label(0), frame, host)),
        None => {
            assert!(!allowed(), "these steps make no routine");
            None
        }
    }
}

/// Whether the system lets the smallest of all routines run.
fn allowed() -> bool {
    Builder::new(1, END).is_some_and(|mut b| {
        b.bind(Label(0));
        b.finish(BEYOND).is_some()
    })
}

fn words(n: usize) -> impl Iterator<Item = u64> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    (0..n).map(move |i| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        match i % 7 {
            0 => x % 5,
            1 => i64::MIN as u64,
            2 => u64::MAX - x % 3,
            3 => i64::MAX as u64,
            _ => x >> (x % 61),
        }
    })
}

#[test]
fn words_are_combined_as_numbers_are() {
    let all: Vec<u64> = words(40).collect();
    for x in &all {
        for y in &all {
            let mut f = frame(&[*x, *y]);
            let ended = run(&mut f, &mut Nobody, |b| {
                for (k, op) in [Word::Add, Word::Sub, Word::And, Word::Or, Word::Xor].into_iter().enumerate()
                {
                    b.load(Temp::A, 0);
                    b.combine_word(op, Temp::A, 1);
                    b.store(40_000 + k as u16, Temp::A);
                    b.load(Temp::D, 0);
                    b.load(Temp::C, 1);
                    b.combine(op, Temp::D, Temp::C);
                    b.store(100 + k as u16, Temp::D);
                }
                b.load(Temp::A, 0);
                b.multiply_word(Temp::A, 1);
                b.store(200, Temp::A);
                b.count(Temp::C, 0);
                b.store(201, Temp::C);
                b.load(Temp::A, 0);
                b.load(Temp::C, 1);
                b.shift_right_c(Temp::A);
                b.store(202, Temp::A);
                b.load(Temp::A, 0);
                b.shift_left_c(Temp::A);
                b.store(203, Temp::A);
                b.load(Temp::A, 0);
                b.not(Temp::A);
                b.shift_right(Temp::A, 5);
                b.shift_left(Temp::A, 2);
                b.store(204, Temp::A);
                b.load(Temp::A, 0);
                b.divide_by(77);
                b.store(205, Temp::A);
                b.store(206, Temp::D);
                b.load(Temp::A, 0);
                b.load(Temp::C, 1);
                b.set_bit(Temp::A, Temp::C);
                b.store(207, Temp::A);
                b.clear_bit(Temp::A, Temp::C);
                b.store(208, Temp::A);
                b.load(Temp::A, 0);
                b.multiply_number(Temp::A, -3);
                b.store(209, Temp::A);
            });
            let Some(ended) = ended else { return };
            assert_eq!(ended, BEYOND);
            let (x, y) = (*x, *y);
            let want = [x.wrapping_add(y), x.wrapping_sub(y), x & y, x | y, x ^ y];
            assert_eq!(f[100..105], want, "{x:x} {y:x}");
            assert_eq!(f[40_000..40_005], want, "{x:x} {y:x}");
            let bit = 1u64 << (y % 64);
            let want = [
                x.wrapping_mul(y),
                u64::from(x.count_ones()),
                x >> (y % 64),
                x << (y % 64),
                !x >> 5 << 2,
                x / 77,
                x % 77,
                x | bit,
                x & !bit,
                x.wrapping_mul(-3i64 as u64),
            ];
            assert_eq!(f[200..210], want, "{x:x} {y:x}");
        }
    }
}

#[test]
fn a_jump_is_taken_when_its_condition_holds() {
    use Condition::*;
    let all: Vec<u64> = words(30).collect();
    let conditions =
        [Overflow, Below, NotBelow, Equal, NotEqual, Above, Negative, Less, NotLess, NotGreater, Greater];
    for x in &all {
        for y in &all {
            let mut f = frame(&[*x, *y]);
            let ended = run(&mut f, &mut Nobody, |b| {
                for (k, c) in conditions.into_iter().enumerate() {
                    let (taken, next) = (b.label(), b.label());
                    b.load(Temp::A, 0);
                    b.combine_word(Word::Cmp, Temp::A, 1);
                    b.jump_if(c, taken);
                    b.set(Temp::A, 0);
                    b.jump(next);
                    b.bind(taken);
                    b.set(Temp::A, 1);
                    b.bind(next);
                    b.store(10 + k as u16, Temp::A);
                }
            });
            if ended.is_none() {
                return;
            }
            let (a, b) = (*x as i64, *y as i64);
            let less = [
                a.checked_sub(b).is_none(),
                x < y,
                x >= y,
                x == y,
                x != y,
                x > y,
                a.wrapping_sub(b) < 0,
                a < b,
                a >= b,
                a <= b,
                a > b,
            ];
            assert_eq!(f[10..21], less.map(u64::from), "{x:x} {y:x}");
        }
    }
}

#[test]
fn numbers_of_all_sizes_are_set_added_and_compared() {
    let sizes =
        [0, 1, -1, 127, 128, -128, -129, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 32, i64::MIN, i64::MAX];
    for v in sizes {
        let mut f = frame(&[v as u64]);
        let ended = run(&mut f, &mut Nobody, |b| {
            b.set(Temp::D, v);
            b.store(1, Temp::D);
            let small = v as i32;
            b.set(Temp::C, 9);
            b.combine_number(Word::Add, Temp::C, small);
            b.store(2, Temp::C);
            b.compare_word(0, small);
            let same = b.label();
            b.jump_if(Condition::Equal, same);
            b.set(Temp::A, 7);
            b.store(3, Temp::A);
            b.bind(same);
        });
        if ended.is_none() {
            return;
        }
        let same = i64::from(v as i32) == v;
        assert_eq!(f[1..4], [v as u64, (9 + i64::from(v as i32)) as u64, if same { 0 } else { 7 }]);
    }
}

#[test]
fn an_index_stays_in_the_frame_whatever_it_is() {
    for i in words(50) {
        let mut f = frame(&[i, 5]);
        let at = (i & 0xffff) as usize;
        let before = f[at];
        let ended = run(&mut f, &mut Nobody, |b| {
            b.load(Temp::C, 0);
            b.load_at(Temp::A, Temp::C);
            b.store(2, Temp::A);
            b.load(Temp::C, 0);
            b.load(Temp::D, 1);
            b.store_at(Temp::C, Temp::D);
        });
        if ended.is_none() {
            return;
        }
        if at > 2 {
            assert_eq!((f[2], f[at]), (before, 5));
        }
    }
}

#[test]
fn a_choice_goes_to_the_label_of_the_lowest_bit() {
    for bit in 0..64u32 {
        let mut f = frame(&[1 << bit | 1 << 63]);
        let ended = run(&mut f, &mut Nobody, |b| {
            let labels: Vec<Label> = (0..64).map(|_| b.label()).collect();
            b.load(Temp::A, 0);
            b.lowest(Temp::C, Temp::A);
            b.choose(Box::new(std::array::from_fn(|k| labels[k])));
            for (k, l) in labels.iter().enumerate() {
                b.bind(*l);
                b.end(100 + k as u32);
            }
        });
        assert!(ended.is_none_or(|e| e == 100 + bit));
    }
}

/// Counts requests; answers what it is told to.
struct Answers(Vec<u32>, Vec<u32>);

impl Host for Answers {
    fn serve(&mut self, frame: &mut Frame, request: u32) -> u32 {
        frame[9] += 1;
        self.1.push(request);
        self.0.remove(0)
    }
}

#[test]
fn a_host_says_whether_to_go_on_to_jump_or_to_end() {
    for (answers, want, heard) in
        [(vec![GO, GO], END, vec![5, 6]), (vec![GO, JUMP], 70, vec![5, 6]), (vec![44], 44, vec![5])]
    {
        let mut host = Answers(answers, Vec::new());
        let mut f = frame(&[]);
        let ended = run(&mut f, &mut host, |b| {
            let (l, sub) = (b.label(), b.label());
            b.request(5, None);
            b.call(sub, DEEP);
            b.give_back();
            b.bind(sub);
            b.request(6, Some(l));
            b.give_back();
            b.bind(l);
            b.end(70);
        });
        let Some(ended) = ended else { return };
        assert_eq!((ended, host.1, f[9] as usize), (want, heard.clone(), heard.len()));
    }
}

#[test]
fn a_loop_without_end_is_asked_now_and_then_and_can_be_stopped() {
    let mut host = Answers(vec![GO, GO, 33], Vec::new());
    let mut f = frame(&[]);
    let ended = run(&mut f, &mut host, |b| {
        let head = b.label();
        b.bind(head);
        b.load(Temp::A, 0);
        b.combine_number(Word::Add, Temp::A, 1);
        b.store(0, Temp::A);
        b.tick();
        b.jump(head);
    });
    if ended.is_some() {
        assert_eq!((ended, f[0], host.1), (Some(33), 3 << 16, vec![TICK; 3]));
    }
}

#[test]
fn calls_without_end_end_the_routine() {
    let mut f = frame(&[]);
    let ended = run(&mut f, &mut Nobody, |b| {
        let me = b.label();
        b.bind(me);
        b.load(Temp::A, 0);
        b.combine_number(Word::Add, Temp::A, 1);
        b.store(0, Temp::A);
        b.call(me, DEEP);
        b.give_back();
    });
    if ended.is_some() {
        assert_eq!((ended, f[0]), (Some(DEEP), u64::from(DEPTH) + 1));
    }
}

#[test]
fn a_remainder_is_taken_of_what_is_not_negative_by_what_is_positive() {
    for x in words(40) {
        for y in words(23) {
            let mut f = frame(&[x, y]);
            let ended = run(&mut f, &mut Nobody, |b| {
                let no = b.label();
                b.load(Temp::A, 0);
                b.load(Temp::C, 1);
                b.remainder(no);
                b.store(2, Temp::A);
                b.give_back();
                b.bind(no);
                b.end(90);
            });
            let Some(ended) = ended else { return };
            match (x as i64, y as i64) {
                (a, b) if a >= 0 && b > 0 => assert_eq!((ended, f[2]), (END, (a % b) as u64)),
                _ => assert_eq!(ended, 90),
            }
        }
    }
}

#[test]
fn a_quotient_is_cut_off_towards_zero() {
    for x in words(40) {
        for y in words(23).chain([0, u64::MAX]) {
            let mut f = frame(&[x, y]);
            let ended = run(&mut f, &mut Nobody, |b| {
                let (zero, beyond) = (b.label(), b.label());
                b.load(Temp::A, 0);
                b.load(Temp::C, 1);
                b.divide(zero, beyond);
                b.store(2, Temp::A);
                b.give_back();
                b.bind(zero);
                b.end(90);
                b.bind(beyond);
                b.end(91);
            });
            let Some(ended) = ended else { return };
            match (x as i64, y as i64) {
                (_, 0) => assert_eq!(ended, 90),
                (a, b) => match a.checked_div(b) {
                    Some(q) => assert_eq!((ended, f[2]), (END, q as u64)),
                    None => assert_eq!(ended, 91),
                },
            }
        }
    }
}

type Named = (&'static str, fn(&mut Builder));

/// What the steps make of two words, of which `A` and `E` hold the first and `C` and `F` the second.
fn made(x: u64, y: u64, steps: &[Named]) -> Option<Vec<(String, [u64; 5])>> {
    let each = |(name, step): &Named| {
        let mut f = frame(&[x, y]);
        run(&mut f, &mut Nobody, |b| {
            [(Temp::A, 0), (Temp::E, 0), (Temp::C, 1), (Temp::F, 1)]
                .into_iter()
                .for_each(|(t, r)| b.load(t, r));
            b.set(Temp::D, 6);
            step(b);
            for (k, t) in [Temp::A, Temp::C, Temp::D, Temp::E, Temp::F].into_iter().enumerate() {
                b.store(10 + k as u16, t);
            }
        })?;
        Some((name.to_string(), f[10..15].try_into().expect("five words")))
    };
    steps.iter().map(each).collect()
}

#[test]
fn each_step_changes_the_word_it_names_and_no_other() {
    for x in words(40) {
        for y in words(30) {
            let Some(all) = made(
                x,
                y,
                &[
                    ("negate", |b| b.negate(Temp::E)),
                    ("spread", |b| {
                        b.combine(Word::Cmp, Temp::A, Temp::C);
                        b.spread(Temp::E);
                    }),
                    ("append", |b| {
                        b.combine(Word::Cmp, Temp::A, Temp::C);
                        b.append(Temp::F);
                    }),
                    ("appended by a word that is not zero", |b| {
                        b.negate(Temp::A);
                        b.append(Temp::F);
                    }),
                    ("take", |b| {
                        b.combine(Word::Cmp, Temp::A, Temp::C);
                        b.take_if(Condition::Less, Temp::D, Temp::F);
                    }),
                    ("multiply", |b| b.multiply(Temp::E, Temp::F)),
                    ("bit 37", |b| {
                        b.test_bit_number(Temp::A, 37);
                        b.spread(Temp::F);
                    }),
                    ("set bit 37", |b| b.set_bit_number(Temp::F, 37)),
                    ("clear bit 3", |b| b.clear_bit_number(Temp::E, 3)),
                    ("count", |b| b.count_of(Temp::E, Temp::F)),
                    ("highest", |b| {
                        b.set_bit_number(Temp::F, 0);
                        b.highest(Temp::D, Temp::F);
                    }),
                ],
            ) else {
                return;
            };
            let all_if = |c: bool| if c { u64::MAX } else { 0 };
            let less = (x as i64) < y as i64;
            let want = [
                [x, y, 6, x.wrapping_neg(), y],
                [x, y, 6, all_if(x < y), y],
                [x, y, 6, x, y << 1 | u64::from(x < y)],
                [x.wrapping_neg(), y, 6, x, y << 1 | u64::from(x != 0)],
                [x, y, if less { y } else { 6 }, x, y],
                [x, y, 6, x.wrapping_mul(y), y],
                [x, y, 6, x, all_if(x >> 37 & 1 == 1)],
                [x, y, 6, x, y | 1 << 37],
                [x, y, 6, x & !8, y],
                [x, y, 6, u64::from(y.count_ones()), y],
                [x, y, u64::from(63 - (y | 1).leading_zeros()), x, y | 1],
            ];
            for ((name, got), want) in all.iter().zip(want) {
                assert_eq!(*got, want, "{name} of {x:x} and {y:x}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "the host fell")]
fn a_panic_of_the_host_comes_out_of_the_routine() {
    struct Falls;
    impl Host for Falls {
        fn serve(&mut self, _: &mut Frame, _: u32) -> u32 {
            panic!("the host fell")
        }
    }
    if run(&mut frame(&[]), &mut Falls, |b| b.request(1, None)).is_none() {
        panic!("the host fell, as there are no routines here");
    }
}

#[test]
fn a_label_that_is_nowhere_gives_no_routine() {
    let made = Builder::new(1, END).and_then(|mut b| {
        b.bind(Label(0));
        let nowhere = b.label();
        b.jump(nowhere);
        b.finish(BEYOND)
    });
    assert!(made.is_none());
}

#[test]
fn pieces_are_done_one_after_the_other_whatever_is_open_in_them() {
    // Three pieces count in words 0 to 2; the second is done inside two calls.
    let mut f = frame(&[]);
    let count = |b: &mut Builder, r: u16| {
        b.load(Temp::A, r);
        b.combine_number(Word::Add, Temp::A, 1);
        b.store(r, Temp::A);
    };
    let steps = |b: &mut Builder, stops: bool| {
        let (first, second, third, inner) = (b.label(), b.label(), b.label(), b.label());
        b.begin_pieces();
        b.piece(first);
        b.piece(second);
        b.store_number(3, -5);
        b.piece(third);
        b.end(77);
        b.bind(first);
        count(b, 0);
        b.give_back();
        b.bind(second);
        let deep = b.label();
        b.call(inner, DEEP);
        b.end(BEYOND);
        b.bind(inner);
        b.call(deep, DEEP);
        b.end(BEYOND);
        b.bind(deep);
        count(b, 1);
        if stops {
            b.end(55)
        } else {
            b.done()
        }
        b.bind(third);
        count(b, 2);
        b.done();
    };
    for _ in 0..3 {
        let Some(ended) = run(&mut f, &mut Nobody, |b| steps(b, false)) else { return };
        assert_eq!(ended, 77);
    }
    assert_eq!(f[..4], [3, 3, 3, -5i64 as u64]);
    assert_eq!(run(&mut f, &mut Nobody, |b| steps(b, true)), Some(55), "an end in a piece is an end of all");
    assert_eq!(f[..3], [4, 4, 3]);
}

#[test]
fn a_piece_inside_a_piece_and_one_that_is_no_piece_end_the_routine() {
    let mut f = frame(&[]);
    let nested = run(&mut f, &mut Nobody, |b| {
        let me = b.label();
        b.begin_pieces();
        b.bind(me);
        b.load(Temp::A, 0);
        b.combine_number(Word::Add, Temp::A, 1);
        b.store(0, Temp::A);
        b.piece(me);
        b.end(9);
    });
    if nested.is_some() {
        assert_eq!(f[0], 2, "the second one is refused");
    }
    assert!(run(&mut f, &mut Nobody, |b| b.done()).is_none_or(|ended| ended == END));
    let alone = run(&mut f, &mut Nobody, |b| {
        b.begin_pieces();
        b.done();
    });
    assert!(alone.is_none_or(|ended| ended == END));
}

#[test]
fn a_shift_keeps_the_sign() {
    for word in words(40) {
        for by in [0, 1, 5, 43, 63] {
            let mut f = frame(&[word]);
            run(&mut f, &mut Nobody, |b| {
                b.load(Temp::E, 0);
                b.shift_right_signed(Temp::E, by);
                b.store(1, Temp::E);
                b.end(9);
            });
            assert!(f[1] == (word as i64 >> by) as u64 || f[1] == 0);
        }
    }
}
