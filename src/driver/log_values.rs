//! Values of a log as values of a model: the type that is expected says how JSON is read.
//!
//! In: JSON, a type, other names for texts. Out: a value, or a sentence that says why it is none.

use crate::base::Int;
use crate::lang::typed::{Machine, SetId, Type};
use crate::lang::value::Value;
use crate::model::types;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// JSON nests no deeper in a type than this.
const DEPTH: usize = 64;

pub struct Reader<'m> {
    pub machine: &'m Machine,
    /// Texts of the log, and what they are called in the model.
    pub names: &'m BTreeMap<String, String>,
}

impl Reader<'_> {
    /// The value that a field stands for. An array is a sequence where the type is one, else a set, or a relation as a
    /// list of pairs; an object is a record, or a function on its keys.
    pub fn value(&self, json: &Json, ty: &Type) -> Result<Value, String> {
        self.read(json, ty, 0).ok_or_else(|| {
            let ty = types::show(ty, &self.machine.sets, &self.machine.freetypes);
            format!("{json} cannot be read as a value of {ty}")
        })
    }

    fn read(&self, json: &Json, ty: &Type, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        let inner = |json: &Json, ty: &Type| self.read(json, ty, depth + 1);
        match (ty, json) {
            (Type::Integer, Json::Number(n)) => integer(&n.to_string()),
            (Type::Integer, Json::String(text)) => integer(self.name(text)),
            (Type::Bool, Json::Bool(b)) => Some(Value::Bool(*b)),
            (Type::Bool, Json::String(text)) => match self.name(text) {
                "TRUE" => Some(Value::Bool(true)),
                "FALSE" => Some(Value::Bool(false)),
                _ => None,
            },
            (Type::String, Json::String(text)) => Some(Value::str(self.name(text))),
            (Type::Set(set), Json::String(text)) => self.element(*set, self.name(text)),
            (Type::Set(set), Json::Number(n)) => self.element(*set, self.name(&n.to_string())),
            (Type::Prod(a, b), Json::Array(two)) if two.len() == 2 => {
                Some(Value::pair(inner(&two[0], a)?, inner(&two[1], b)?))
            }
            (Type::Struct(fields), Json::Object(map)) if fields.len() == map.len() => {
                let values: Option<Vec<Value>> =
                    fields.iter().map(|(name, ty)| inner(map.get(&**name)?, ty)).collect();
                Some(Value::Rec(values?.into()))
            }
            (Type::Pow(element), Json::Array(items)) => match &**element {
                Type::Prod(index, item) if **index == Type::Integer => {
                    Some(Value::seq(items.iter().map(|i| inner(i, item)).collect::<Option<Vec<_>>>()?))
                }
                element => Some(Value::set(items.iter().map(|i| inner(i, element)).collect::<Option<_>>()?)),
            },
            (Type::Pow(element), Json::Object(map)) => {
                let Type::Prod(key, item) = &**element else { return None };
                let pair = |(k, v): (&String, &Json)| {
                    Some(Value::pair(inner(&Json::String(k.clone()), key)?, inner(v, item)?))
                };
                Some(Value::set(map.iter().map(pair).collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    fn name<'t>(&'t self, text: &'t str) -> &'t str {
        self.names.get(text).map_or(text, String::as_str)
    }

    fn element(&self, set: SetId, name: &str) -> Option<Value> {
        let at = self.machine.set(set).elems.iter().position(|e| **e == *name)?;
        Some(Value::Elem(set, at as u32))
    }
}

fn integer(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let n = Int::parse(digits, 10).filter(|_| plain)?;
    Some(Value::Int(if digits.len() < text.len() { n.neg() } else { n }))
}
