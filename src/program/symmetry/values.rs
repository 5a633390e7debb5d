//! Values under permutations: renaming their elements, and what they say of elements.
//!
//! In: values of constants, of pooled variables and of escaped states. Out: renamed values, atoms of
//! a structure.
//! Never here: packed words.
//!
//! A set of tuples without sets inside says of each tuple's elements that they stand together: atoms.
//! A function into sets says the same as the relation one gets by pairing arguments with members, and
//! for which arguments it is defined. Whatever else holds sets inside sets stays nested: colours look
//! into it in each round.

use super::structure::{Structure, mix, word};
use super::types::{Group, Permutation};
use bombus_lang::value::{Symbolic, Value, digest};

/// Elements in the order in which they stand in a tuple.
type Places = Vec<u16>;

/// The value with its elements renumbered; `None` when it holds something that cannot be renamed.
pub fn permuted(group: &Group, value: &Value, numbers: &Permutation) -> Option<Value> {
    Some(match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Real(_) => value.clone(),
        Value::Elem(set, n) => match group.place(*set, *n) {
            Some(place) => Value::Elem(*set, u32::from(numbers[place as usize])),
            None => value.clone(),
        },
        Value::Pair(p) => Value::pair(permuted(group, &p.0, numbers)?, permuted(group, &p.1, numbers)?),
        Value::Set(elems) => {
            Value::set(elems.iter().map(|e| permuted(group, e, numbers)).collect::<Option<_>>()?)
        }
        Value::Rec(fields) => {
            Value::Rec(fields.iter().map(|f| permuted(group, f, numbers)).collect::<Option<_>>()?)
        }
        Value::Free(f, c, Some(argument)) => {
            Value::Free(*f, *c, Some(permuted(group, argument, numbers)?.into()))
        }
        Value::Free(_, _, None) => value.clone(),
        Value::Symbolic(s) => is_fixed(group, s).then(|| value.clone())?,
    })
}

/// Whether no interchangeable element stands in a value that is not listed.
fn is_fixed(group: &Group, symbolic: &Symbolic) -> bool {
    match symbolic {
        Symbolic::Base(_) | Symbolic::Interval(..) => true,
        Symbolic::Struct(values) => values.iter().all(|v| !mentions(group, v)),
        Symbolic::Unary(_, v) => !mentions(group, v),
        Symbolic::Binary(_, a, b) => !mentions(group, a) && !mentions(group, b),
        // Elements in the code itself are named ones: `constants` sees to that.
        Symbolic::Closure(c) => c.captured.iter().all(|(_, v)| !mentions(group, v)),
    }
}

/// Whether an interchangeable element stands in a value.
pub fn mentions(group: &Group, value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Real(_) => false,
        Value::Elem(set, n) => group.place(*set, *n).is_some(),
        Value::Pair(p) => mentions(group, &p.0) || mentions(group, &p.1),
        Value::Set(values) | Value::Rec(values) => values.iter().any(|v| mentions(group, v)),
        Value::Free(_, _, argument) => argument.as_ref().is_some_and(|v| mentions(group, v)),
        Value::Symbolic(s) => !is_fixed(group, s),
    }
}

/// A hash of a value without interchangeable elements.
pub fn fixed_hash(value: &Value) -> u128 {
    match value {
        Value::Bool(b) => mix(word("bool"), u128::from(*b)),
        _ => {
            let mut bytes = Vec::new();
            value.encode(&mut bytes);
            digest::hash128(&bytes)
        }
    }
}

/// Enters what `value` says; `key` is where it stands, `places` the elements it belongs to.
pub fn enter(group: &Group, value: &Value, key: u128, places: &mut Places, out: &mut Structure) {
    match value {
        Value::Elem(set, n) if group.place(*set, *n).is_some() => {
            places.extend(group.place(*set, *n));
            out.atom(mix(key, out.words.member), places);
            places.pop();
        }
        Value::Pair(p) => {
            let (left, right) = (mix(key, out.words.left), mix(key, out.words.right));
            enter(group, &p.0, left, places, out);
            enter(group, &p.1, right, places, out);
        }
        Value::Rec(fields) => {
            for (i, f) in fields.iter().enumerate() {
                enter(group, f, mix(key, i as u128), places, out);
            }
        }
        Value::Free(_, c, Some(argument)) => {
            out.atom(mix(key, u128::from(*c)), places);
            enter(group, argument, mix(key, u128::from(*c)), places, out);
        }
        Value::Set(elems) => enter_set(group, value, elems, key, places, out),
        Value::Symbolic(s) if !is_fixed(group, s) => out.opaque = true,
        _ => out.atom(mix(key, fixed_hash(value)), places),
    }
}

fn enter_set(
    group: &Group,
    value: &Value,
    elems: &[Value],
    key: u128,
    places: &mut Places,
    out: &mut Structure,
) {
    if !mentions(group, value) {
        out.atom(mix(key, fixed_hash(value)), places);
        return;
    }
    let given = places.len();
    if elems.iter().all(is_tuple) {
        // That the set is there, even if it is empty, is said of the elements it belongs to.
        out.atom(mix(key, mix(out.words.present, elems.len() as u128)), places);
        for e in elems {
            let said = tuple(group, e, mix(key, out.words.member), places);
            out.atom(said, places);
            places.truncate(given);
        }
        return;
    }
    let function = elems.iter().all(|e| matches!(e, Value::Pair(p) if is_tuple(&p.0)))
        && elems.windows(2).all(|two| match (&two[0], &two[1]) {
            (Value::Pair(a), Value::Pair(b)) => a.0 != b.0,
            _ => false,
        });
    if function {
        out.atom(mix(key, mix(out.words.present, elems.len() as u128)), places);
        for e in elems {
            let Value::Pair(p) = e else { continue };
            let here = tuple(group, &p.0, mix(key, out.words.left), places);
            out.atom(mix(here, out.words.present), places);
            enter(group, &p.1, mix(here, out.words.right), places, out);
            places.truncate(given);
        }
        return;
    }
    if value.mentions_symbolic() {
        out.opaque = true;
    } else {
        out.nest(key, places, value);
    }
}

/// Whether no set stands inside.
fn is_tuple(value: &Value) -> bool {
    match value {
        Value::Pair(p) => is_tuple(&p.0) && is_tuple(&p.1),
        Value::Rec(fields) => fields.iter().all(is_tuple),
        Value::Free(_, _, argument) => argument.as_ref().is_none_or(|a| is_tuple(a)),
        Value::Set(_) | Value::Symbolic(_) => false,
        _ => true,
    }
}

/// Appends the elements of a tuple; the hash of all else in it.
fn tuple(group: &Group, value: &Value, key: u128, places: &mut Places) -> u128 {
    match value {
        Value::Elem(set, n) if group.place(*set, *n).is_some() => {
            places.extend(group.place(*set, *n));
            mix(key, u128::from(set.0))
        }
        Value::Pair(p) => {
            let left = tuple(group, &p.0, mix(key, 1), places);
            tuple(group, &p.1, mix(left, 2), places)
        }
        Value::Rec(fields) => fields.iter().fold(mix(key, 3), |h, f| tuple(group, f, h, places)),
        Value::Free(_, c, Some(argument)) => tuple(group, argument, mix(key, u128::from(*c)), places),
        _ => mix(key, fixed_hash(value)),
    }
}

/// Adds to `next` what nested values say of each element under the present colours.
pub fn look_into(s: &Structure, colours: &[u128], next: &mut [u128]) {
    for (key, range, value) in &s.nested {
        let places = s.places(range);
        let outer = places.iter().fold(*key, |h, p| mix(h, colours[*p as usize]));
        let inner = mix(outer, colour_of(s, value, colours));
        for (i, p) in places.iter().enumerate() {
            next[*p as usize] = next[*p as usize].wrapping_add(mix(inner, i as u128));
        }
        paths(s, value, outer, colours, next);
    }
}

/// A hash of all nested values under colours.
pub fn nested_marker(s: &Structure, colours: &[u128]) -> u128 {
    s.nested.iter().fold(0u128, |sum, (key, range, value)| {
        let outer = s.places(range).iter().fold(*key, |h, p| mix(h, colours[*p as usize]));
        sum.wrapping_add(mix(outer, colour_of(s, value, colours)))
    })
}

/// The hash of a value in which colours stand for elements (docs/algorithms.md, "Values as structures").
fn colour_of(s: &Structure, value: &Value, colours: &[u128]) -> u128 {
    match value {
        Value::Elem(set, n) => match s.place(*set, *n) {
            Some(place) => mix(word("element"), colours[place as usize]),
            None => fixed_hash(value),
        },
        Value::Pair(p) => mix(mix(s.words.tuple, colour_of(s, &p.0, colours)), colour_of(s, &p.1, colours)),
        Value::Rec(fields) => fields.iter().fold(s.words.tuple, |h, f| mix(h, colour_of(s, f, colours))),
        Value::Set(elems) => {
            let sum = elems
                .iter()
                .fold(0u128, |sum, e| sum.wrapping_add(mix(s.words.member, colour_of(s, e, colours))));
            mix(elems.len() as u128, sum)
        }
        Value::Free(_, c, Some(argument)) => mix(u128::from(*c), colour_of(s, argument, colours)),
        _ => fixed_hash(value),
    }
}

/// Adds, for each element in a value, a hash of the way that leads to it (`walk`).
fn paths(s: &Structure, value: &Value, way: u128, colours: &[u128], next: &mut [u128]) {
    match value {
        Value::Elem(set, n) => {
            if let Some(place) = s.place(*set, *n) {
                next[place as usize] = next[place as usize].wrapping_add(mix(way, s.words.member));
            }
        }
        Value::Pair(p) if p.0 == p.1 => paths(s, &p.0, mix(way, s.words.same), colours, next),
        Value::Pair(p) => {
            let left = mix(mix(way, s.words.left), colour_of(s, &p.1, colours));
            let right = mix(mix(way, s.words.right), colour_of(s, &p.0, colours));
            paths(s, &p.0, left, colours, next);
            paths(s, &p.1, right, colours, next);
        }
        Value::Rec(fields) => {
            let all = fields.iter().fold(way, |h, f| mix(h, colour_of(s, f, colours)));
            for (i, f) in fields.iter().enumerate() {
                paths(s, f, mix(all, i as u128), colours, next);
            }
        }
        Value::Set(elems) => {
            // The whole set is part of the way: which other members an element stands with.
            let here = mix(way, colour_of(s, value, colours));
            for e in elems.iter() {
                paths(s, e, mix(here, colour_of(s, e, colours)), colours, next);
            }
        }
        Value::Free(_, c, Some(argument)) => {
            paths(s, argument, mix(way, u128::from(*c)), colours, next);
        }
        _ => {}
    }
}
