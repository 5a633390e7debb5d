//! Values in JSON: short texts, pages of elements, what changed.
//!
//! In: values and their types. Out: JSON whose size does not depend on the size of the values.

use crate::lang::typed::{Machine, Type};
use crate::lang::value::Value;
use serde_json::{Value as Json, json};

/// Longer values are cut in tables; the page asks for more.
pub const SHORT: usize = 240;
/// Elements that were added or removed are listed up to this many.
const CHANGES: usize = 24;
/// The greatest page of elements.
const PAGE: usize = 500;

/// A value as a table shows it: its beginning, whether that is all, how many elements it has.
pub fn short(machine: &Machine, ty: &Type, value: &Value) -> Json {
    let (text, cut) = shortened(machine, ty, value, SHORT);
    let size = value.as_set().map(<[Value]>::len);
    json!({ "text": text, "cut": cut, "size": size, "relation": is_relation(ty) })
}

/// A text of at most about so many characters, and whether anything is missing.
pub fn shortened(machine: &Machine, ty: &Type, value: &Value, limit: usize) -> (String, bool) {
    let (mut text, mut cut) = value.show_within(machine, ty, limit);
    if let Some((at, _)) = text.char_indices().nth(limit + limit / 2) {
        text.truncate(at);
        text.push('…');
        cut = true;
    }
    (text, cut)
}

pub fn is_relation(ty: &Type) -> bool {
    matches!(ty, Type::Pow(element) if matches!(**element, Type::Prod(..)))
}

/// The elements that a change of a set added and removed; nothing for values that are no sets.
pub fn change(machine: &Machine, ty: &Type, before: &Value, now: &Value) -> Json {
    let (Type::Pow(element), Some(old), Some(new)) = (ty, before.as_set(), now.as_set()) else {
        let (text, _) = shortened(machine, ty, before, SHORT);
        return json!({ "before": text });
    };
    let (removed, removed_count) = missing(machine, element, old, new);
    let (added, added_count) = missing(machine, element, new, old);
    json!({ "added": added, "added_count": added_count, "removed": removed, "removed_count": removed_count })
}

/// The first of the elements of one sorted list that another does not have, and how many there are.
fn missing(machine: &Machine, ty: &Type, these: &[Value], those: &[Value]) -> (Vec<String>, usize) {
    let (mut texts, mut count, mut at) = (Vec::new(), 0, 0);
    for value in these {
        while those.get(at).is_some_and(|other| other < value) {
            at += 1;
        }
        if those.get(at) == Some(value) {
            continue;
        }
        count += 1;
        if texts.len() < CHANGES {
            texts.push(shortened(machine, ty, value, SHORT / 2).0);
        }
    }
    (texts, count)
}

/// The parts of a value: the elements of a set, the sides of a pair, the fields of a record; from one on, so many.
pub fn parts(machine: &Machine, ty: &Type, value: &Value, path: &[usize], from: usize, count: usize) -> Json {
    let mut at = (value.clone(), ty.clone());
    for step in path {
        match nth_part(&at.0, &at.1, *step) {
            Some((_, value, ty)) => at = (value, ty),
            None => return json!({ "total": 0, "from": 0, "parts": [] }),
        }
    }
    let (value, ty) = at;
    let total = part_count(&value);
    let last = from.saturating_add(count.min(PAGE)).min(total);
    let parts: Vec<Json> = (from..last)
        .filter_map(|n| nth_part(&value, &ty, n))
        .map(|(name, value, ty)| {
            let (text, cut) = shortened(machine, &ty, &value, SHORT);
            json!({ "name": name, "text": text, "cut": cut, "parts": part_count(&value) })
        })
        .collect();
    json!({ "total": total, "from": from, "parts": parts })
}

fn part_count(value: &Value) -> usize {
    match value {
        Value::Set(elements) => elements.len(),
        Value::Pair(_) => 2,
        Value::Rec(fields) => fields.len(),
        _ => 0,
    }
}

fn nth_part(value: &Value, ty: &Type, n: usize) -> Option<(Option<String>, Value, Type)> {
    match (value, ty) {
        (Value::Set(elements), ty) => {
            let element = if let Type::Pow(element) = ty { (**element).clone() } else { Type::Any };
            elements.get(n).map(|value| (None, value.clone(), element))
        }
        (Value::Pair(sides), ty) => {
            let (left, right) = if let Type::Prod(a, b) = ty {
                ((**a).clone(), (**b).clone())
            } else {
                (Type::Any, Type::Any)
            };
            match n {
                0 => Some((None, sides.0.clone(), left)),
                1 => Some((None, sides.1.clone(), right)),
                _ => None,
            }
        }
        (Value::Rec(fields), Type::Struct(names)) => {
            let (name, ty) = names.get(n)?;
            Some((Some(name.to_string()), fields.get(n)?.clone(), ty.clone()))
        }
        _ => None,
    }
}
