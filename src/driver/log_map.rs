//! What the fields of a log mean in a model: a file in TOML.
//!
//! In: text. Out: for each name of an event in the log the events of the model it may be, and which fields say what.
//! Never here: whether the model has these names; that is found out where the model is.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A map as written. Fields of a log line are named by paths with dots: `msg.to`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogMap {
    /// The field that names the event of a line.
    #[serde(default = "event_field")]
    pub event: String,
    /// Names whose lines are passed over.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Events of the model that the log does not show.
    #[serde(default)]
    pub silent: Vec<String>,
    /// How many of them may happen between two lines.
    #[serde(default = "one")]
    pub silent_steps: usize,
    /// By the name in the log.
    #[serde(default)]
    pub events: BTreeMap<String, EventMap>,
    /// Expressions of the model, and the fields that tell their values after each line that has them.
    #[serde(default)]
    pub state: BTreeMap<String, String>,
    /// Texts of the log, and what they are called in the model.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// What a line with one name means.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventMap {
    /// The event of the model, or several; the same name if none is given.
    #[serde(default)]
    pub operation: Option<OneOrMore>,
    /// Parameters and results by the fields that tell them. What is not listed may be anything.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    #[serde(default)]
    pub results: BTreeMap<String, String>,
    /// As `state` of the map, for lines with this name alone.
    #[serde(default)]
    pub state: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub fn names(&self) -> Vec<&str> {
        match self {
            OneOrMore::One(name) => vec![name],
            OneOrMore::More(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

fn event_field() -> String {
    "event".into()
}

fn one() -> usize {
    1
}

impl LogMap {
    /// The map of a text; an empty one for an empty text.
    pub fn read(text: &str) -> Result<LogMap, String> {
        toml::from_str(text).map_err(|e| e.to_string())
    }
}

/// A field of a line by its path.
pub fn field<'j>(line: &'j serde_json::Value, path: &str) -> Option<&'j serde_json::Value> {
    let whole = line.get(path);
    whole.or_else(|| path.split('.').try_fold(line, |at, name| at.get(name))).filter(|v| !v.is_null())
}
