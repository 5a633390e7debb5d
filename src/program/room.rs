//! Room for what the invariant says nothing about: widths of numbers and lengths of sequences, guessed short, and widened when values were
//! met that have no place.
//!
//! In: promises and layouts; values of states that escaped. Out: promises that give shorter or wider layouts.
//! A guess is a hint as a promise is one: a state that breaks it is stored as its values, and nothing but time is lost.
//! Never here: when a search begins again (`driver`), the name of a state, which is that of the layout without guesses (`mirror`).

use super::invariant_ranges::{Function, Promise};
use super::layout::Layout;
use super::state::StateLayout;
use Promise::{Nothing, Range};
use bombus_base::Int;
use bombus_lang::typed::{Machine, Stmt, StmtKind, VarId};
use bombus_lang::value::Value;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a variable gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// What the invariant promises, and more where values were met that break it.
    pub promise: Promise,
    /// Where numbers are taken to lie that have no bound; none if they get all the bits that a number without a bound can have.
    pub numbers: Option<(i64, i64)>,
    /// The length of sequences that have no bound.
    pub longest: i64,
}

/// The variables whose room is known from a search before; the others are guessed.
pub type Rooms = BTreeMap<VarId, Room>;

/// The first guess for the length of a sequence.
pub const LENGTH: i64 = 8;
/// A sequence that is longer is better off as a value.
const LONGEST: i64 = 64;
/// The fewest and the most bits of the first guess for a number.
const FEWEST: usize = 4;
const MOST: usize = 16;
/// By how many times its span a guess grows beyond what was met.
const GROWTH: i64 = 8;
/// The numbers that have a place without any promise.
const ALL: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// The first guess for numbers without a bound: a state is to be one word, if that leaves each number enough bits. None if it is one anyway.
pub fn first_numbers(wide: &StateLayout) -> Option<(i64, i64)> {
    let fields = wide.slots.iter().flat_map(|slot| &slot.fields);
    let open =
        fields.filter(|f| f.width == 32 && matches!(f.kind, super::layout::FieldKind::Int { .. })).count();
    if open == 0 || wide.words == 1 {
        return None;
    }
    let fixed = wide.bits - 32 * open;
    let width = (64usize.saturating_sub(fixed) / open).clamp(FEWEST, MOST);
    let quarter = 1i64 << (width - 2);
    Some((-quarter, 3 * quarter - 1))
}

/// Whether some operation has a loop: what it comes to may have no place, and then the whole loop would be done again on values.
pub fn has_loops(machine: &Machine) -> bool {
    fn loops(s: &Stmt) -> bool {
        match &s.kind {
            StmtKind::While { .. } => true,
            StmtKind::Skip
            | StmtKind::Assign(_)
            | StmtKind::BecomesIn(..)
            | StmtKind::BecomesSuch(..)
            | StmtKind::Call { .. }
            | StmtKind::External(..) => false,
            StmtKind::Pre(_, s)
            | StmtKind::Assert(_, _, s)
            | StmtKind::Witness(_, s)
            | StmtKind::Any(_, _, s)
            | StmtKind::Let(_, s)
            | StmtKind::Var(_, s) => loops(s),
            StmtKind::If(cases, other) | StmtKind::Select(cases, other) => {
                cases.iter().any(|(_, s)| loops(s)) || other.as_deref().is_some_and(loops)
            }
            StmtKind::Case(_, cases, other) => {
                cases.iter().any(|(_, s)| loops(s)) || other.as_deref().is_some_and(loops)
            }
            StmtKind::Choice(all) | StmtKind::Seq(all) | StmtKind::Par(all) => all.iter().any(loops),
        }
    }
    machine.operations.iter().any(|op| loops(&op.body))
}

/// The promise with a bound for the length of sequences that have none.
pub fn shorten(promise: &Promise, longest: i64) -> Promise {
    match promise {
        Promise::Function(f) => {
            let from = match f.from {
                Range(Some(1), None) if f.sequence => Range(Some(1), Some(longest)),
                _ => f.from.clone(),
            };
            Promise::Function(Box::new(Function { from, to: shorten(&f.to, longest), ..(**f).clone() }))
        }
        Promise::Pair(p) => Promise::Pair(Box::new((shorten(&p.0, longest), shorten(&p.1, longest)))),
        Promise::Rec(all) => Promise::Rec(all.iter().map(|p| shorten(p, longest)).collect()),
        _ => promise.clone(),
    }
}

/// A promise about the numbers that stand in a layout by themselves, none of which lacks a bound.
pub fn bounded(layout: &Layout, promise: &Promise, numbers: (i64, i64)) -> Promise {
    match (layout, promise) {
        (Layout::Int, Range(Some(lo), Some(hi))) if lo <= hi => promise.clone(),
        (Layout::Int, Range(Some(lo), None)) => Range(Some(*lo), Some(numbers.1.max(lo.saturating_add(1)))),
        (Layout::Int, Range(None, Some(hi))) => Range(Some(numbers.0.min(hi.saturating_sub(1))), Some(*hi)),
        (Layout::Int, _) => Range(Some(numbers.0), Some(numbers.1)),
        (Layout::Table(t), p) => {
            let to = match p.of_elements() {
                Promise::Pair(q) => q.1,
                _ => Nothing,
            };
            let to = bounded(&t.1, &to, numbers);
            Promise::Function(Box::new(Function { from: Nothing, to, whole: None, sequence: false }))
        }
        (Layout::Pair(ls), p) => {
            let (a, b) = match p {
                Promise::Pair(ps) => (&ps.0, &ps.1),
                _ => (&Nothing, &Nothing),
            };
            Promise::Pair(Box::new((bounded(&ls.0, a, numbers), bounded(&ls.1, b, numbers))))
        }
        (Layout::Rec(ls), p) => {
            let of = |i: usize| match p {
                Promise::Rec(ps) => ps.get(i).unwrap_or(&Nothing),
                _ => &Nothing,
            };
            Promise::Rec(ls.iter().enumerate().map(|(i, l)| bounded(l, of(i), numbers)).collect())
        }
        _ => promise.clone(),
    }
}

/// What was met of a variable in states that escaped.
#[derive(Clone, Debug)]
struct Met {
    promise: Promise,
    numbers: Option<(i64, i64)>,
    longest: i64,
}

impl Met {
    /// The promise that holds of the value as well; what has no bound is noted beside.
    fn widened(&mut self, promise: Promise, v: &Value) -> Promise {
        match (promise, v) {
            (Range(lo, hi), Value::Int(Int::Small(n))) => {
                if lo.is_none() || hi.is_none() {
                    self.note(*n);
                }
                Range(lo.map(|lo| lo.min(*n)), hi.map(|hi| hi.max(*n)))
            }
            (Nothing, Value::Int(Int::Small(n))) => {
                self.note(*n);
                Nothing
            }
            (Nothing, Value::Pair(p)) => {
                self.widened(Nothing, &p.0);
                self.widened(Nothing, &p.1);
                Nothing
            }
            (Nothing, Value::Rec(vs)) => {
                vs.iter().for_each(|v| {
                    self.widened(Nothing, v);
                });
                Nothing
            }
            (Promise::Pair(p), Value::Pair(v)) => {
                let (a, b) = *p;
                Promise::Pair(Box::new((self.widened(a, &v.0), self.widened(b, &v.1))))
            }
            (Promise::Rec(ps), Value::Rec(vs)) if ps.len() == vs.len() => {
                Promise::Rec(ps.into_iter().zip(vs.iter()).map(|(p, v)| self.widened(p, v)).collect())
            }
            (Promise::Set(p), Value::Set(elems)) => {
                Promise::Set(Box::new(elems.iter().fold(*p, |p, v| self.widened(p, v))))
            }
            (Promise::Function(f), Value::Set(elems)) => self.function(*f, elems),
            // Whether a value of the type is promised anything about is told by its form alone.
            (promise, _) => promise,
        }
    }

    fn function(&mut self, f: Function, elems: &[Value]) -> Promise {
        let Some(maplets) = elems.iter().map(Value::as_pair).collect::<Option<Vec<_>>>() else {
            return Nothing;
        };
        let Function { from, to, whole, sequence } = f;
        let grows = sequence && matches!(from, Range(Some(1), None));
        let from = match grows {
            true => from,
            false => maplets.iter().fold(from, |p, m| self.widened(p, m.0)),
        };
        let to = maplets.iter().fold(to, |p, m| self.widened(p, m.1));
        // Sorted by the argument, so a second value stands beside the first.
        let functional = maplets.windows(2).all(|w| w[0].0 != w[1].0);
        let in_order = || maplets.iter().zip(1..).all(|(m, i)| *m.0 == Value::int(i));
        if !functional || sequence && !in_order() {
            let from = if grows { Range(None, None) } else { from };
            return Promise::Set(Box::new(Promise::Pair(Box::new((from, to)))));
        }
        if grows {
            self.longest = self.longest.max(maplets.len() as i64);
        }
        let all = |whole: &Value| matches!(whole, Value::Set(all) if all.len() == maplets.len() && all.iter().zip(&maplets).all(|(x, m)| x == m.0));
        Promise::Function(Box::new(Function { from, to, whole: whole.filter(all), sequence }))
    }

    fn note(&mut self, n: i64) {
        let (lo, hi) = self.numbers.unwrap_or((n, n));
        self.numbers = Some((lo.min(n), hi.max(n)));
    }
}

/// States that escaped whose values are noted, at most. Others are only counted: where a layout can grow no more, they may be very many,
/// and workers would wait for each other.
const NOTED: u64 = 1 << 16;

/// What a search meets that has no place in its layouts.
#[derive(Default)]
pub struct Growth {
    escapes: AtomicU64,
    met: Mutex<BTreeMap<VarId, Met>>,
}

impl Growth {
    pub fn escapes(&self) -> u64 {
        self.escapes.load(Ordering::Relaxed)
    }

    /// Counts a state that escaped, and notes its values.
    pub fn note(&self, rooms: &Rooms, vars: &[VarId], values: &[Value]) {
        if self.escapes.fetch_add(1, Ordering::Relaxed) >= NOTED {
            return;
        }
        let mut met = self.met.lock();
        for (v, value) in vars.iter().zip(values) {
            let Some(room) = rooms.get(v) else { continue };
            let met = met.entry(*v).or_insert_with(|| Met {
                promise: room.promise.clone(),
                numbers: None,
                longest: 0,
            });
            let promise = std::mem::replace(&mut met.promise, Nothing);
            met.promise = met.widened(promise, value);
        }
    }

    /// The rooms in which what was met has a place, and more than that.
    pub fn grown(&self, rooms: &Rooms) -> Rooms {
        let met = self.met.lock();
        let mut grown = rooms.clone();
        for (v, met) in met.iter() {
            let Some(room) = grown.get_mut(v) else { continue };
            room.promise = stretched(&room.promise, met.promise.clone());
            if let (Some(numbers), Some(met)) = (room.numbers, met.numbers) {
                room.numbers = Some(beyond(numbers, met));
            }
            if met.longest > room.longest {
                room.longest = (2 * met.longest).min(LONGEST);
            }
        }
        grown
    }
}

/// A range in which numbers have a place that lay outside of it.
fn beyond((lo, hi): (i64, i64), (least, greatest): (i64, i64)) -> (i64, i64) {
    let up = if greatest > hi {
        lo.saturating_add(greatest.saturating_sub(lo).saturating_mul(GROWTH))
    } else {
        hi
    };
    let down =
        if least < lo { hi.saturating_sub(hi.saturating_sub(least).saturating_mul(GROWTH)) } else { lo };
    (down.max(ALL.0), up.min(ALL.1))
}

/// A promise that was broken is taken to be broken by more than was met: ranges get twice the span.
fn stretched(old: &Promise, met: Promise) -> Promise {
    match (old, met) {
        (Range(Some(a), Some(b)), Range(Some(lo), Some(hi))) => {
            let span = hi.saturating_sub(lo);
            let (down, up) = (lo.saturating_sub(span), hi.saturating_add(span));
            Range(Some(if lo < *a { down } else { lo }), Some(if hi > *b { up } else { hi }))
        }
        (Promise::Pair(p), Promise::Pair(q)) => {
            let (a, b) = *q;
            Promise::Pair(Box::new((stretched(&p.0, a), stretched(&p.1, b))))
        }
        (Promise::Rec(ps), Promise::Rec(qs)) => {
            Promise::Rec(ps.iter().zip(qs).map(|(p, q)| stretched(p, q)).collect())
        }
        (Promise::Set(p), Promise::Set(q)) => Promise::Set(Box::new(stretched(p, *q))),
        (Promise::Function(f), Promise::Function(g)) => {
            let Function { from, to, whole, sequence } = *g;
            let (from, to) = (stretched(&f.from, from), stretched(&f.to, to));
            Promise::Function(Box::new(Function { from, to, whole, sequence }))
        }
        (_, met) => met,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(promise: Promise) -> Met {
        Met { promise, numbers: None, longest: 0 }
    }

    fn sequence(to: Promise) -> Promise {
        Promise::Function(Box::new(Function { from: Range(Some(1), None), to, whole: None, sequence: true }))
    }

    fn listed(values: &[i64]) -> Value {
        Value::set(values.iter().zip(1..).map(|(v, i)| Value::pair(Value::int(i), Value::int(*v))).collect())
    }

    #[test]
    fn a_range_covers_what_was_met_and_an_open_end_stays_open() {
        let mut met = met(Nothing);
        assert_eq!(met.widened(Range(Some(0), Some(3)), &Value::int(7)), Range(Some(0), Some(7)));
        assert_eq!(met.numbers, None);
        assert_eq!(met.widened(Range(Some(0), None), &Value::int(70)), Range(Some(0), None));
        assert_eq!(met.numbers, Some((70, 70)));
    }

    #[test]
    fn a_longer_sequence_is_still_one_and_a_gap_makes_it_a_relation() {
        let mut met = met(Nothing);
        let short = sequence(Range(Some(0), Some(1)));
        assert_eq!(met.widened(short.clone(), &listed(&[0; 11])), short);
        assert_eq!(met.longest, 11);
        let gap = Value::set(vec![Value::pair(Value::int(2), Value::int(0))]);
        assert!(matches!(met.widened(short, &gap), Promise::Set(_)));
    }

    #[test]
    fn a_total_function_that_loses_an_argument_is_partial_and_one_that_does_not_stays_total() {
        let mut met = met(Nothing);
        let whole = Value::set((1..=3).map(Value::int).collect());
        let (from, to) = (Range(Some(1), Some(3)), Range(Some(0), Some(1)));
        let total = Promise::Function(Box::new(Function { from, to, whole: Some(whole), sequence: false }));
        let of = |p: Promise| match p {
            Promise::Function(f) => (f.whole.is_some(), f.to),
            _ => unreachable!("a function stays one"),
        };
        assert_eq!(of(met.widened(total.clone(), &listed(&[0, 5, 1]))), (true, Range(Some(0), Some(5))));
        assert_eq!(of(met.widened(total, &listed(&[0, 1]))), (false, Range(Some(0), Some(1))));
    }

    #[test]
    fn of_very_many_states_that_escape_the_first_are_noted_and_all_are_counted() {
        let v = VarId(0);
        let room = Room { promise: Range(Some(0), Some(3)), numbers: None, longest: LENGTH };
        let (growth, rooms) = (Growth::default(), Rooms::from([(v, room)]));
        (0..NOTED).for_each(|_| growth.note(&rooms, &[v], &[Value::int(4)]));
        let noted = growth.grown(&rooms);
        growth.note(&rooms, &[v], &[Value::int(1000)]);
        assert_eq!(growth.grown(&rooms), noted);
        assert_eq!(growth.escapes(), NOTED + 1);
    }

    #[test]
    fn what_grows_has_a_place_for_all_that_was_met() {
        for (old, seen) in [((-4, 11), (12, 12)), ((-4, 11), (-9, 40)), ((0, 3), (i64::MIN, i64::MAX))] {
            let (lo, hi) = beyond(old, seen);
            assert!(lo <= seen.0.max(ALL.0) && hi >= seen.1.min(ALL.1), "{lo} {hi}");
            assert!(lo <= old.0 && hi >= old.1);
        }
    }
}
