//! Text from outside as values of the type that a model declares: cells of tables, members of documents.
//!
//! In: a text or a document of JSON, and a type. Out: the value of that type, or why there is none.

use crate::eval::parse_real;
use bombus_base::Int;
use bombus_lang::typed::{Machine, Type};
use bombus_lang::value::Value;
use serde_json::Value as Json;
use std::sync::Arc;

/// Documents may not nest deeper.
const MAX_DEPTH: usize = 200;

/// An integer as people write it: blanks around the sign are no matter.
pub(super) fn integer(text: &str) -> Option<Int> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n = Int::parse(digits, 10)?;
    Some(if negative { n.neg() } else { n })
}

/// One text as a value of a type without parts.
pub(super) fn atom(machine: &Machine, ty: &Type, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let found = match ty {
        Type::String => return Ok(Value::str(text)),
        Type::Integer => integer(text).map(Value::Int),
        Type::Real => parse_real(trimmed).map(Value::real),
        Type::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        Type::Set(id) => machine
            .set(*id)
            .elems
            .iter()
            .position(|name| **name == *trimmed)
            .map(|number| Value::Elem(*id, number as u32)),
        _ => return Err("the declared type has no spelling in one cell".into()),
    };
    found.ok_or_else(|| format!("`{trimmed}` is no {}", spelled(machine, ty)))
}

fn spelled(machine: &Machine, ty: &Type) -> String {
    match ty {
        Type::Integer => "integer".into(),
        Type::Real => "decimal number".into(),
        Type::Bool => "truth value".into(),
        Type::Set(id) => format!("element of {}", machine.set(*id).name),
        _ => "value of the declared type".into(),
    }
}

/// A part of a document as a value of a type.
pub(super) fn part(machine: &Machine, ty: &Type, json: &Json, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("the document nests too deeply".into());
    }
    let inside = |ty: &Type, json: &Json| part(machine, ty, json, depth + 1);
    match (ty, json) {
        (Type::Struct(fields), Json::Object(members)) => {
            let values: Result<Vec<Value>, String> = fields
                .iter()
                .map(|(name, ty)| match members.get(&**name) {
                    Some(member) => inside(ty, member),
                    None => Err(format!("an object has no member `{name}`")),
                })
                .collect();
            Ok(Value::Rec(Arc::from(values?)))
        }
        (Type::Pow(element), Json::Object(members)) => {
            let Type::Prod(key, value) = &**element else {
                return Err("an object is a function from its names".into());
            };
            let rows: Result<Vec<Value>, String> = members
                .iter()
                .map(|(name, member)| Ok(Value::pair(atom(machine, key, name)?, inside(value, member)?)))
                .collect();
            Ok(Value::set(rows?))
        }
        // A sequence where the type is one; else the set of the items.
        (Type::Pow(element), Json::Array(items)) => match &**element {
            Type::Prod(index, item) if **index == Type::Integer => {
                let values: Result<Vec<Value>, String> = items.iter().map(|i| inside(item, i)).collect();
                Ok(Value::seq(values?))
            }
            element => {
                let values: Result<Vec<Value>, String> = items.iter().map(|i| inside(element, i)).collect();
                Ok(Value::set(values?))
            }
        },
        (Type::Prod(first, second), Json::Array(items)) => match items.as_slice() {
            [] | [_] => Err("a pair needs two items".into()),
            [one, two] => Ok(Value::pair(inside(first, one)?, inside(second, two)?)),
            [front @ .., last] => {
                Ok(Value::pair(inside(first, &Json::Array(front.to_vec()))?, inside(second, last)?))
            }
        },
        (Type::Free(id), json) => {
            let all = &machine.freetypes[id.0 as usize].constructors;
            for (number, (name, argument)) in all.iter().enumerate() {
                let value = match (argument, json) {
                    (None, Json::Null) if name.to_lowercase().ends_with("null") => None,
                    (None, _) | (Some(_), Json::Null) => continue,
                    (Some(ty), json) if fits(ty, json) => match inside(ty, json) {
                        Ok(value) => Some(Arc::new(value)),
                        Err(_) => continue,
                    },
                    _ => continue,
                };
                return Ok(Value::Free(*id, number as u32, value));
            }
            Err("no constructor of the declared type fits".into())
        }
        (Type::Bool, Json::Bool(b)) => Ok(Value::Bool(*b)),
        (Type::Integer | Type::Real, Json::Number(n)) => atom(machine, ty, &n.to_string()),
        (Type::String | Type::Set(_), Json::String(text)) => atom(machine, ty, text),
        (Type::String, Json::Number(n)) => Ok(Value::str(&n.to_string())),
        (ty, json) => Err(format!("`{}` is no {}", brief(json), spelled(machine, ty))),
    }
}

/// Whether a type is the natural one for a part of a document; a free type takes the first such constructor.
fn fits(ty: &Type, json: &Json) -> bool {
    match json {
        Json::Bool(_) => *ty == Type::Bool,
        Json::Number(n) => *ty == if n.is_f64() { Type::Real } else { Type::Integer } || *ty == Type::Real,
        Json::String(_) => matches!(ty, Type::String | Type::Set(_)),
        Json::Array(_) => {
            matches!(ty, Type::Pow(e) if !matches!(&**e, Type::Prod(i, _) if **i == Type::String))
        }
        Json::Object(_) => {
            matches!(ty, Type::Struct(_))
                || matches!(ty, Type::Pow(e) if matches!(&**e, Type::Prod(i, _) if **i == Type::String))
        }
        Json::Null => false,
    }
}

fn brief(json: &Json) -> String {
    let text = json.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
