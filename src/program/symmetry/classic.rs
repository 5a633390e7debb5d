//! The symmetry markers of Leuschel and Massart to the letter (Definitions 6 to 8), for comparison
//! with their tables.
//!
//! In: the values of constants and variables. Out: a 128-bit hash of the marker.
//! Never here: refinement; `structure` does better.
//!
//! An element is replaced by the multiset of paths that lead to it. Path and marker are hashes, sums
//! of hashes are multisets. Elements that a formula names count as values of their own, because a
//! permutation leaves them alone.

use super::structure::{mix, word};
use super::types::{Group, sets_of};
use super::values::fixed_hash;
use bombus_lang::typed::{Machine, Type};
use bombus_lang::value::Value;

/// The marker of a state, given by its numbered values.
pub fn marker(group: &Group, state: &[(usize, &Value)]) -> u128 {
    let mut paths = vec![0u128; group.elements.len()];
    for (i, value) in state {
        walk(group, value, mix(word("variable"), *i as u128), &mut paths);
    }
    state.iter().fold(0u128, |sum, (i, value)| {
        sum.wrapping_add(mix(mix(word("value"), *i as u128), replaced(group, value, &paths)))
    })
}

/// Definition 8: numbers, truth values, elements that are not interchangeable, the empty set, pairs.
fn is_nonsym(group: &Group, value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Real(_) => true,
        Value::Elem(set, n) => group.place(*set, *n).is_none(),
        Value::Set(elems) => elems.is_empty(),
        Value::Pair(p) => is_nonsym(group, &p.0) && is_nonsym(group, &p.1),
        Value::Rec(fields) => fields.iter().all(|f| is_nonsym(group, f)),
        Value::Free(_, _, argument) => argument.as_ref().is_none_or(|a| is_nonsym(group, a)),
        Value::Symbolic(_) => true,
    }
}

/// Definition 6 with the rules 2a to 2d: adds the paths below `way` to each element.
fn walk(group: &Group, value: &Value, way: u128, paths: &mut [u128]) {
    match value {
        Value::Elem(set, n) => {
            if let Some(place) = group.place(*set, *n) {
                paths[place as usize] = paths[place as usize].wrapping_add(mix(way, word("end")));
            }
        }
        Value::Pair(p) => match (is_nonsym(group, &p.0), is_nonsym(group, &p.1)) {
            (true, true) => {}
            (false, true) => walk(group, &p.0, mix(mix(way, word("to")), fixed_hash(&p.1)), paths),
            (true, false) => walk(group, &p.1, mix(mix(way, word("from")), fixed_hash(&p.0)), paths),
            (false, false) if p.0 == p.1 => walk(group, &p.0, mix(way, word("leftright")), paths),
            (false, false) => {
                walk(group, &p.0, mix(way, word("left")), paths);
                walk(group, &p.1, mix(way, word("right")), paths);
            }
        },
        Value::Set(elems) => {
            let way = mix(way, word("el"));
            elems.iter().for_each(|e| walk(group, e, way, paths));
        }
        // Records and free types are not in the definition: fields are told apart by their number.
        Value::Rec(fields) => {
            for (i, f) in fields.iter().enumerate() {
                walk(group, f, mix(mix(way, word("field")), i as u128), paths);
            }
        }
        Value::Free(_, c, Some(argument)) => {
            walk(group, argument, mix(mix(way, word("constructor")), u128::from(*c)), paths);
        }
        _ => {}
    }
}

/// Definition 7: the value with its elements replaced by their paths.
fn replaced(group: &Group, value: &Value, paths: &[u128]) -> u128 {
    match value {
        Value::Elem(set, n) => match group.place(*set, *n) {
            Some(place) => mix(word("paths"), paths[place as usize]),
            None => fixed_hash(value),
        },
        Value::Pair(p) => {
            let left = mix(word("pair"), replaced(group, &p.0, paths));
            mix(left, replaced(group, &p.1, paths))
        }
        Value::Set(elems) if !elems.is_empty() => {
            let sum = elems
                .iter()
                .fold(0u128, |sum, e| sum.wrapping_add(mix(word("in"), replaced(group, e, paths))));
            mix(word("set"), sum)
        }
        Value::Rec(fields) => fields.iter().fold(word("record"), |h, f| mix(h, replaced(group, f, paths))),
        Value::Free(_, c, Some(argument)) => {
            mix(mix(word("constructor"), u128::from(*c)), replaced(group, argument, paths))
        }
        _ => fixed_hash(value),
    }
}

/// Proposition 2: whether the types of all constants and variables are such that equal markers mean
/// symmetric states.
pub fn is_exact(machine: &Machine, group: &Group) -> bool {
    let apart = |ty: &Type| sets_of(machine, ty).iter().all(|s| !group.is_symmetric(*s));
    fn nonsym(ty: &Type, group: &Group) -> bool {
        match ty {
            Type::Integer | Type::Bool | Type::String | Type::Real => true,
            Type::Set(s) => !group.is_symmetric(*s),
            Type::Prod(a, b) => nonsym(a, group) && nonsym(b, group),
            _ => false,
        }
    }
    let element = |ty: &Type| matches!(ty, Type::Set(s) if group.is_symmetric(*s));
    fn check(
        ty: &Type,
        group: &Group,
        apart: &dyn Fn(&Type) -> bool,
        element: &dyn Fn(&Type) -> bool,
    ) -> bool {
        if apart(ty) || element(ty) {
            return true;
        }
        match ty {
            Type::Pow(t) => match &**t {
                t if element(t) => true,
                Type::Prod(a, b) => element(a) && nonsym(b, group) || nonsym(a, group) && element(b),
                _ => false,
            },
            Type::Prod(a, b) => check(a, group, apart, element) && check(b, group, apart, element),
            _ => false,
        }
    }
    machine
        .constants
        .iter()
        .chain(&machine.variables)
        .all(|v| check(&machine.var(*v).ty, group, &apart, &element))
}
