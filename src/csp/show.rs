//! Values and events as a user writes them.
//!
//! In: values. Out: text. Never here: evaluation.

use super::eval::Eval;
use super::term::{TAU, TICK};
use super::value::{Data, SetOf};

impl Eval {
    pub fn show(&self, value: &Data) -> String {
        let list = |items: &[Data]| items.iter().map(|d| self.show(d)).collect::<Vec<_>>().join(", ");
        match value {
            Data::Int(n) => n.to_string(),
            Data::Bool(b) => b.to_string(),
            Data::Char(c) => format!("'{c}'"),
            Data::Const(n) => self.text(self.script.constructors[*n as usize].name).to_string(),
            Data::Channel(n) => self.text(self.script.channels[*n as usize].name).to_string(),
            Data::Tuple(items) => format!("({})", list(items)),
            Data::Dot(items) => items.iter().map(|d| self.show(d)).collect::<Vec<_>>().join("."),
            Data::Seq(items) => {
                let text: Option<String> =
                    items.iter().map(|d| if let Data::Char(c) = d { Some(*c) } else { None }).collect();
                match text {
                    Some(text) if !text.is_empty() => format!("{text:?}"),
                    _ => format!("<{}>", list(items)),
                }
            }
            Data::Set(set) => self.show_set(set),
            Data::Map(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(k, v)| format!("{} => {}", self.show(k), self.show(v))).collect();
                format!("(| {} |)", pairs.join(", "))
            }
            Data::Fun(_) => "a function".to_string(),
            Data::Proc(_) => "a process".to_string(),
        }
    }

    pub fn show_set(&self, set: &SetOf) -> String {
        match set {
            SetOf::Finite(list) => {
                format!("{{{}}}", list.iter().map(|d| self.show(d)).collect::<Vec<_>>().join(", "))
            }
            SetOf::From(n) => format!("{{{n}..}}"),
            SetOf::Ints => "Int".to_string(),
            SetOf::Chars => "Char".to_string(),
            SetOf::Procs => "Proc".to_string(),
            SetOf::Seqs(inner) => format!("Seq({})", self.show_set(inner)),
            SetOf::Sets(inner) => format!("Set({})", self.show_set(inner)),
            SetOf::Tuples(sets) => {
                format!("({})", sets.iter().map(|s| self.show_set(s)).collect::<Vec<_>>().join(", "))
            }
            SetOf::Type(n) => self.text(self.script.types[*n as usize].0).to_string(),
        }
    }

    /// The parts of an event, each as written.
    pub fn event_parts(&self, event: u32) -> Vec<String> {
        match event {
            TAU | TICK => vec![self.show_event(event)],
            _ => self.events.data(event).parts().iter().map(|d| self.show(d)).collect(),
        }
    }

    /// An event by its number.
    pub fn show_event(&self, event: u32) -> String {
        match event {
            TAU => "tau".to_string(),
            TICK => "tick".to_string(),
            _ => self.show(self.events.data(event)),
        }
    }
}
