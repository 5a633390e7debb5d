//! Windows: where the numbers inside sets are taken to lie that the invariant does not bound.
//!
//! In: the promise of a variable that would stand in the value pool, the integers of the scope. Out: a promise under which its sets and
//! functions are bits and codes.
//! A window is a guess as the widths of numbers are: a state with a value outside of it is stored as its values, and ranges grow by what
//! was met as those that the invariant promised (`room`).

use super::invariant_ranges::{Function, Promise, Reader};
use Promise::{Nothing, Range};
use bombus_base::Int;
use bombus_lang::typed::{Machine, Type};

/// The least and the greatest number.
type Window = (i64, i64);

/// The first guess: the integers of the scope, and these.
const LEAST: Window = (0, 7);
/// Integers of the scope beyond this one say nothing of sets.
const MOST: i64 = 15;
/// A value that would take more registers is better off in the pool.
const MOST_WORDS: u16 = 8;

/// Where the numbers inside sets are taken to lie at first.
pub fn first(machine: &Machine) -> Window {
    let end = |n: &Int| n.small().filter(|n| (-MOST..=MOST).contains(n)).unwrap_or(0);
    (end(&machine.minint).min(LEAST.0), end(&machine.maxint).max(LEAST.1))
}

/// A promise that bounds all numbers inside sets, if the variable would stand in the pool without it, and does not with it.
pub fn bounding(reader: &Reader<'_>, ty: &Type, promise: &Promise, window: Window) -> Option<Promise> {
    let bounded = outside(ty, promise, window);
    (pools(reader, ty, promise) && is_short(reader, ty, &bounded)).then_some(bounded)
}

/// Whether a value is better off in the pool, where the invariant puts it, than under a promise that was guessed and has grown.
pub fn is_outgrown(reader: &Reader<'_>, ty: &Type, promise: &Promise, grown: &Promise) -> bool {
    pools(reader, ty, promise) && !is_short(reader, ty, grown)
}

fn pools(reader: &Reader<'_>, ty: &Type, promise: &Promise) -> bool {
    reader.layout(ty, promise).is_none_or(|l| l.has_pool())
}

fn is_short(reader: &Reader<'_>, ty: &Type, promise: &Promise) -> bool {
    reader.layout(ty, promise).is_some_and(|l| !l.has_pool() && l.words() <= MOST_WORDS)
}

/// Bounds the numbers inside the sets of a value; numbers beside them keep their words.
fn outside(ty: &Type, promise: &Promise, window: Window) -> Promise {
    match (ty, promise) {
        (Type::Pow(_), _) => inside(ty, promise, window),
        (Type::Prod(a, b), p) => {
            let (p, q) = halves(p);
            Promise::Pair(Box::new((outside(a, p, window), outside(b, q, window))))
        }
        (Type::Struct(fields), p) => Promise::Rec(
            fields.iter().enumerate().map(|(i, (_, t))| outside(t, field(p, i), window)).collect(),
        ),
        (_, p) => p.clone(),
    }
}

fn inside(ty: &Type, promise: &Promise, window: Window) -> Promise {
    match (ty, promise) {
        (Type::Integer, Range(Some(lo), Some(hi))) if lo <= hi => promise.clone(),
        (Type::Integer, Range(Some(lo), _)) => Range(Some(*lo), Some(window.1.max(lo.saturating_add(1)))),
        (Type::Integer, Range(_, Some(hi))) => Range(Some(window.0.min(hi.saturating_sub(1))), Some(*hi)),
        (Type::Integer, _) => Range(Some(window.0), Some(window.1)),
        (Type::Prod(a, b), p) => {
            let (p, q) = halves(p);
            Promise::Pair(Box::new((inside(a, p, window), inside(b, q, window))))
        }
        (Type::Struct(fields), p) => Promise::Rec(
            fields.iter().enumerate().map(|(i, (_, t))| inside(t, field(p, i), window)).collect(),
        ),
        (Type::Pow(t), Promise::Function(f)) => match &**t {
            Type::Prod(a, b) => Promise::Function(Box::new(Function {
                from: inside(a, &f.from, window),
                to: inside(b, &f.to, window),
                ..(**f).clone()
            })),
            _ => promise.clone(),
        },
        (Type::Pow(t), p) => Promise::Set(Box::new(inside(t, &p.of_elements(), window))),
        (_, p) => p.clone(),
    }
}

fn halves(promise: &Promise) -> (&Promise, &Promise) {
    match promise {
        Promise::Pair(p) => (&p.0, &p.1),
        _ => (&Nothing, &Nothing),
    }
}

fn field(promise: &Promise, i: usize) -> &Promise {
    match promise {
        Promise::Rec(ps) => ps.get(i).unwrap_or(&Nothing),
        _ => &Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_promised_stays_and_the_other_is_that_of_the_window() {
        let set = Type::pow(Type::Integer);
        let naturals = Promise::Set(Box::new(Range(Some(1), None)));
        let bounded = outside(&set, &naturals, (-3, 9));
        assert_eq!(bounded, Promise::Set(Box::new(Range(Some(1), Some(9)))));
        assert_eq!(outside(&set, &Nothing, (-3, 9)), Promise::Set(Box::new(Range(Some(-3), Some(9)))));
        assert_eq!(outside(&Type::Integer, &Nothing, (-3, 9)), Nothing);
    }
}
