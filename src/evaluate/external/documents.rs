//! Functions of LibraryXML and LibraryJSON: documents as values.
//!
//! In: a name, values, the type that the model declares. Out: the value, nothing if the name is none of this file, or
//! why there is none. A document of XML is a sequence of its elements in the order of their starts; texts between
//! them are elements named CText. A document of JSON is read as the declared type says.

use super::Answer;
use super::typed_text::part;
use bombus_lang::typed::{Machine, Type};
use bombus_lang::value::Value;
use roxmltree::{Document, Node, ParsingOptions};
use std::sync::Arc;

/// Documents may not have more nodes.
const MAX_NODES: u32 = 2_000_000;

pub(super) fn value(machine: &Machine, name: &str, values: &[Value], ty: &Type) -> Option<Answer> {
    let Value::Str(first) = values.first()? else { return None };
    let answer = match (name, &values[1..]) {
        ("READ_XML", []) => machine.files.text(first).and_then(|text| elements(&text, ty)),
        ("READ_XML", [Value::Str(encoding)]) => {
            decoded(machine, first, encoding).and_then(|text| elements(&text, ty))
        }
        ("READ_XML_FROM_STRING", []) => elements(first, ty),
        ("READ_JSON", []) => machine.files.text(first).and_then(|text| json(machine, &text, ty)),
        ("READ_JSON_FROM_STRING", []) => json(machine, first, ty),
        _ => return None,
    };
    Some(answer.map_or_else(Answer::Unsupported, Answer::Value))
}

fn json(machine: &Machine, text: &str, ty: &Type) -> Result<Value, String> {
    let document = serde_json::from_str(text).map_err(|e| format!("the document is no JSON: {e}"))?;
    part(machine, ty, &document, 0)
}

fn decoded(machine: &Machine, name: &str, encoding: &str) -> Result<String, String> {
    let bytes = machine.files.read(name)?;
    let words = |of: fn([u8; 2]) -> u16| -> Result<String, String> {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| of(*pair)).collect();
        let text = String::from_utf16(&units).map_err(|_| format!("`{name}` is not in {encoding}"))?;
        Ok(text.trim_start_matches('\u{feff}').to_owned())
    };
    match encoding.to_ascii_uppercase().as_str() {
        "AUTO" | "UTF-8" | "UTF8" => machine.files.text(name),
        "ISO-8859-1" | "ANSI_X3.4-1968" | "US-ASCII" | "ASCII" => {
            Ok(bytes.iter().map(|b| char::from(*b)).collect())
        }
        "UTF-16LE" => words(u16::from_le_bytes),
        "UTF-16BE" => words(u16::from_be_bytes),
        "UTF-16" if bytes.starts_with(&[0xff, 0xfe]) => words(u16::from_le_bytes),
        "UTF-16" => words(u16::from_be_bytes),
        _ => Err(format!("the encoding `{encoding}` is not read")),
    }
}

/// The sequence of the elements as records with the fields recId, pId, element, attributes and meta.
fn elements(text: &str, ty: &Type) -> Result<Value, String> {
    let Some(fields) = record_of(ty) else {
        return Err(
            "a document is a sequence of records with recId, pId, element, attributes and meta".into()
        );
    };
    // A declaration must be the first thing of a document; blank lines before it are counted all the same.
    let document = text.trim_start();
    let above = text[..text.len() - document.len()].matches('\n').count();
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let parsed = Document::parse_with_options(document, options)
        .map_err(|e| format!("the document is no XML: {e}"))?;
    let mut numbers = vec![0usize; parsed.descendants().count() + 1];
    let mut records = Vec::new();
    // Nodes come in the order of their starts, so lines are counted once.
    let (mut seen, mut line) = (0, above + 1);
    for node in parsed.descendants() {
        let Some((name, attributes)) = described(node) else { continue };
        let parent = node.parent().map_or(0, |up| numbers[up.id().get_usize()]);
        let number = records.len() + 1;
        numbers[node.id().get_usize()] = number;
        line += document[seen..node.range().start].matches('\n').count();
        seen = node.range().start;
        let meta = Value::set(vec![Value::pair(Value::str("xmlLineNumber"), Value::str(&line.to_string()))]);
        let field = |field: &str| match field {
            "recId" => Ok(Value::Int(number.into())),
            "pId" => Ok(Value::Int(parent.into())),
            "element" => Ok(Value::str(&name)),
            "attributes" => Ok(attributes.clone()),
            "meta" => Ok(meta.clone()),
            other => Err(format!("elements of a document have no field `{other}`")),
        };
        let values: Result<Vec<Value>, String> = fields.iter().map(|(name, _)| field(name)).collect();
        records.push(Value::Rec(Arc::from(values?)));
    }
    Ok(Value::seq(records))
}

/// The name and the attributes of an element, or of a text that is not blank.
fn described(node: Node<'_, '_>) -> Option<(String, Value)> {
    let pair = |name: &str, value: &str| Value::pair(Value::str(name), Value::str(value));
    if node.is_element() {
        let attributes = node.attributes().map(|a| pair(a.name(), a.value())).collect();
        return Some((node.tag_name().name().to_owned(), Value::set(attributes)));
    }
    let text = node.text().filter(|text| node.is_text() && !text.trim().is_empty())?;
    Some(("CText".into(), Value::set(vec![pair("text", text.trim())])))
}

/// The fields of R in the type of sequences of R.
fn record_of(ty: &Type) -> Option<&[(bombus_base::Name, Type)]> {
    let Type::Pow(row) = ty else { return None };
    let Type::Prod(_, item) = &**row else { return None };
    match &**item {
        Type::Struct(fields) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::Name;

    fn strings() -> Type {
        Type::rel(Type::String, Type::String)
    }

    fn declared() -> Type {
        let fields: [(&str, Type); 5] = [
            ("attributes", strings()),
            ("element", Type::String),
            ("meta", strings()),
            ("pId", Type::Integer),
            ("recId", Type::Integer),
        ];
        let fields: Vec<(Name, Type)> = fields.into_iter().map(|(n, t)| (Name::from(n), t)).collect();
        Type::seq(Type::Struct(Arc::from(fields)))
    }

    #[test]
    fn elements_are_numbered_in_the_order_of_their_starts_and_know_their_parents() {
        let text = "\n<?xml version=\"1.0\"?>\n<a k=\"v\">\n<b/>words</a>";
        let one = |name: &str, line: &str, up: i64, number: i64, attributes: &[(&str, &str)]| {
            let pairs = |all: &[(&str, &str)]| {
                Value::set(all.iter().map(|(k, v)| Value::pair(Value::str(k), Value::str(v))).collect())
            };
            let meta = pairs(&[("xmlLineNumber", line)]);
            Value::Rec(Arc::from([
                pairs(attributes),
                Value::str(name),
                meta,
                Value::int(up),
                Value::int(number),
            ]))
        };
        let expected = Value::seq([
            one("a", "3", 0, 1, &[("k", "v")]),
            one("b", "4", 1, 2, &[]),
            one("CText", "4", 1, 3, &[("text", "words")]),
        ]);
        assert_eq!(elements(text, &declared()), Ok(expected));
    }

    #[test]
    fn a_document_that_expands_entities_is_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"cc\">]><a>&b;</a>";
        assert!(elements(bomb, &declared()).is_err());
    }
}
