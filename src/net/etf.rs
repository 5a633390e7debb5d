//! Enumerated tables of transitions: the ETF text format of LTSmin.
//!
//! In: the text of a file. Out: a table of variables, initial vector and groups of transitions, or
//! every fault with its line. Never here: states, the search.
//!
//! A state is a vector of numbers. A line of a group says for each variable `*` (neither read nor
//! written) or `a/b` (is `a`, becomes `b`), and then the value of each edge label. Sorts name values.

use bombus_base::diagnostic::Diagnostic;
use bombus_base::hash::HashMap;
use bombus_base::span::{FileId, Span};

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Etf {
    pub variables: Vec<Typed>,
    /// What transitions are labelled with.
    pub labels: Vec<Typed>,
    pub initial: Vec<u32>,
    pub groups: Vec<Vec<Line>>,
    /// Facts about states: a name, and lines of values.
    pub maps: Vec<Map>,
    pub sorts: Vec<Sort>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    pub name: String,
    pub sort: String,
}

/// One line of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Variables that are read and written: number, value before, value after; ascending.
    pub parts: Vec<(usize, u32, u32)>,
    pub labels: Vec<u32>,
}

/// A fact about states that is given by a table; no line for a state means 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    pub name: String,
    pub lines: Vec<(Vec<(usize, u32)>, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    pub name: String,
    pub values: Vec<String>,
}

/// Reads a file.
pub fn read(file: FileId, text: &str) -> Result<Etf, Vec<Diagnostic>> {
    let mut reader = Reader { file, etf: Etf::default(), faults: Vec::new(), seen: HashMap::new() };
    let mut open: Option<(Section, usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, line) = (at, line.trim_end_matches(['\n', '\r']));
        at += line.len();
        at = text[at..].find('\n').map_or(text.len(), |n| at + n + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = (start, start + line.len());
        match (words.first(), &mut open) {
            (None, _) => {}
            (Some(&"begin"), None) => {
                open = reader.section(&words[1..], place).map(|section| (section, place.0, place.1));
                if open.is_none() {
                    break;
                }
            }
            (Some(&"end"), Some((section, ..))) if words.get(1).copied() == Some(section.word()) => {
                let (section, ..) = open.take().expect("a section is open");
                reader.close(section, place);
            }
            (Some(_), Some((section, ..))) => reader.line(section, line, &words, place),
            (Some(_), None) => reader.fault(place, "this stands outside of any section"),
        }
    }
    if let Some((section, start, end)) = open {
        reader.fault((start, end), format!("this section has no `end {}`", section.word()));
    }
    reader.finish()
}

/// The section that is being read.
enum Section {
    State,
    Edge,
    Init,
    Trans(Vec<Line>),
    Map(Map),
    Sort(Sort),
}

impl Section {
    fn word(&self) -> &'static str {
        match self {
            Section::State => "state",
            Section::Edge => "edge",
            Section::Init => "init",
            Section::Trans(_) => "trans",
            Section::Map(_) => "map",
            Section::Sort(_) => "sort",
        }
    }
}

type Place = (usize, usize);

struct Reader {
    file: FileId,
    etf: Etf,
    faults: Vec<Diagnostic>,
    /// Sections of which there is one, and where it was.
    seen: HashMap<&'static str, Place>,
}

/// More faults than this help nobody.
const MAX_FAULTS: usize = 50;

impl Reader {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Diagnostic::error(Span::new(self.file, place.0, place.1), message));
        }
    }

    fn section(&mut self, words: &[&str], place: Place) -> Option<Section> {
        let section = match words {
            ["state"] => Section::State,
            ["edge"] => Section::Edge,
            ["init"] => Section::Init,
            ["trans"] => Section::Trans(Vec::new()),
            ["map", name] => Section::Map(Map { name: typed(name).name, lines: Vec::new() }),
            ["sort", name] => Section::Sort(Sort { name: unescaped(name), values: Vec::new() }),
            _ => {
                self.fault(place, "an unknown section: state, edge, init, trans, map and sort are known");
                return None;
            }
        };
        let once = matches!(section, Section::State | Section::Edge | Section::Init);
        if once && self.seen.insert(section.word(), place).is_some() {
            self.fault(place, format!("a second section `{}`", section.word()));
        }
        if !matches!(section, Section::State | Section::Edge | Section::Sort(_))
            && self.etf.variables.is_empty()
        {
            self.fault(place, "the section `state` must come before this one");
        }
        Some(section)
    }

    fn line(&mut self, section: &mut Section, line: &str, words: &[&str], place: Place) {
        match section {
            Section::State => self.etf.variables.extend(words.iter().map(|w| typed(w))),
            Section::Edge => self.etf.labels.extend(words.iter().map(|w| typed(w))),
            Section::Init => {
                for word in words {
                    match word.parse() {
                        Ok(n) => self.etf.initial.push(n),
                        Err(_) => self.fault(place, format!("`{word}` is not a value")),
                    }
                }
            }
            Section::Trans(lines) => lines.extend(self.transition(words, place)),
            Section::Map(map) => map.lines.extend(self.fact(words, place)),
            Section::Sort(sort) => {
                let text = line.trim();
                let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
                sort.values.push(inner.unwrap_or(text).to_string());
            }
        }
    }

    fn transition(&mut self, words: &[&str], place: Place) -> Option<Line> {
        let count = self.etf.variables.len();
        if words.len() != count + self.etf.labels.len() {
            let labels = self.etf.labels.len();
            self.fault(place, format!("a line of {count} variables and {labels} labels is expected here"));
            return None;
        }
        let mut parts = Vec::new();
        for (v, word) in words[..count].iter().enumerate().filter(|(_, word)| **word != "*") {
            let both = word.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            match both {
                Some((before, after)) => parts.push((v, before, after)),
                None => {
                    self.fault(place, format!("`{word}` is neither * nor a/b"));
                    return None;
                }
            }
        }
        let mut labels = Vec::new();
        for word in &words[count..] {
            match word.parse() {
                Ok(label) => labels.push(label),
                Err(_) => {
                    self.fault(place, format!("`{word}` is not the value of a label"));
                    return None;
                }
            }
        }
        Some(Line { parts, labels })
    }

    fn fact(&mut self, words: &[&str], place: Place) -> Option<(Vec<(usize, u32)>, u32)> {
        let count = self.etf.variables.len();
        let [conditions @ .., value] = words else { return None };
        if conditions.len() != count {
            self.fault(place, format!("a line of {count} variables and a value is expected here"));
            return None;
        }
        let mut parts = Vec::new();
        for (v, word) in conditions.iter().enumerate().filter(|(_, word)| **word != "*") {
            match word.parse() {
                Ok(number) => parts.push((v, number)),
                Err(_) => {
                    self.fault(place, format!("`{word}` is neither * nor a value"));
                    return None;
                }
            }
        }
        match value.parse() {
            Ok(value) => Some((parts, value)),
            Err(_) => {
                self.fault(place, format!("`{value}` is not a value"));
                None
            }
        }
    }

    fn close(&mut self, section: Section, place: Place) {
        match section {
            Section::Trans(lines) => self.etf.groups.push(lines),
            Section::Map(map) => self.etf.maps.push(map),
            Section::Sort(sort) => self.etf.sorts.push(sort),
            Section::Init if self.etf.initial.len() != self.etf.variables.len() => {
                let (given, wanted) = (self.etf.initial.len(), self.etf.variables.len());
                self.fault(place, format!("{given} initial values for {wanted} variables"));
            }
            Section::State | Section::Edge | Section::Init => {}
        }
    }

    fn finish(mut self) -> Result<Etf, Vec<Diagnostic>> {
        for section in ["state", "init"] {
            if self.faults.is_empty() && !self.seen.contains_key(section) {
                self.faults.push(Diagnostic::plain(format!("the file has no section `{section}`")));
            }
        }
        if self.faults.is_empty() { Ok(self.etf) } else { Err(self.faults) }
    }
}

/// `name:sort`, where a backslash before a sign makes it part of the name.
fn typed(word: &str) -> Typed {
    let mut escaped = false;
    for (at, c) in word.char_indices() {
        if c == ':' && !escaped {
            return Typed { name: unescaped(&word[..at]), sort: unescaped(&word[at + 1..]) };
        }
        escaped = c == '\\' && !escaped;
    }
    Typed { name: unescaped(word), sort: String::new() }
}

fn unescaped(word: &str) -> String {
    let mut out = String::new();
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "begin state\nx:byte y\\.z:Mode\nend state\nbegin edge\nact:Name\nend edge\n\
        begin init\n0 1\nend init\nbegin trans\n 0/1 * 4\n * 1/0 5\nend trans\nbegin map odd:bool\n1 * 1\nend map\n\
        begin sort Mode\n\"off\"\n\"on\"\nend sort\n";

    #[test]
    fn a_table_gives_variables_groups_facts_and_names_of_values() {
        let etf = read(FileId(0), SMALL).unwrap();
        assert_eq!(etf.variables[1], Typed { name: "y.z".into(), sort: "Mode".into() });
        assert_eq!(etf.initial, [0, 1]);
        assert_eq!(
            etf.groups,
            [vec![
                Line { parts: vec![(0, 0, 1)], labels: vec![4] },
                Line { parts: vec![(1, 1, 0)], labels: vec![5] },
            ]]
        );
        assert_eq!(etf.maps[0].lines, [(vec![(0, 1)], 1)]);
        assert_eq!(etf.sorts[0].values, ["off", "on"]);
    }

    #[test]
    fn faults_are_told_with_their_line() {
        let told = |text: &str| read(FileId(0), text).unwrap_err()[0].message.clone();
        assert!(told("").contains("no section `state`"));
        assert!(told("begin nothing\n").contains("unknown section"));
        assert!(told("begin state\nx:a\n").contains("no `end state`"));
        assert!(told(&SMALL.replace("0/1 * 4", "0/1 * 4 4")).contains("2 variables and 1 labels"));
        assert!(told(&SMALL.replace("0/1", "0-1")).contains("neither * nor a/b"));
        assert!(told(&SMALL.replace("\n0 1\n", "\n0\n")).contains("1 initial values for 2"));
        assert!(told("x").contains("outside of any section"));
    }
}
