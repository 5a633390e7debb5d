//! Functions of LibraryRegex: patterns in the notation of ECMAScript.
//!
//! In: a name and values. Out: the value, nothing if the name is none of this file, or why there is none.
//! A pattern is matched from the left by trying alternatives in turn, as that notation says, with groups, lookaheads
//! and references back; a match that takes too many steps has no value.

use super::Answer;
use bombus_lang::value::Value;
use std::sync::Arc;

/// Steps of one match.
const MAX_STEPS: u32 = 1_000_000;
/// Depth of one match: every letter that a repetition takes is a level.
const MAX_DEPTH: u32 = 2_000;
/// Depth of groups in a pattern.
const MAX_GROUPS: usize = 50;

pub(super) fn value(name: &str, values: &[Value]) -> Option<Answer> {
    let insensitive = name.starts_with("REGEX_I");
    let plain = if insensitive { name.replacen("REGEX_I", "REGEX_", 1) } else { name.to_owned() };
    let compiled = |text: &str| Pattern::read(text, insensitive);
    let answer = match (plain.as_str(), values) {
        ("IS_REGEX", [Value::Str(pattern)]) => Ok(Value::Bool(compiled(pattern).is_ok())),
        ("REGEX_MATCH", [Value::Str(text), Value::Str(pattern)]) => {
            compiled(pattern).and_then(|p| p.whole(text)).map(Value::Bool)
        }
        ("REGEX_REPLACE", [Value::Str(text), Value::Str(pattern), Value::Str(other)]) => {
            compiled(pattern).and_then(|p| replaced(&p, text, other)).map(|s| Value::str(&s))
        }
        ("REGEX_SEARCH_STR", [Value::Str(text), Value::Str(pattern)]) => {
            let letters: Vec<char> = text.chars().collect();
            compiled(pattern)
                .and_then(|p| p.search(&letters, 0))
                .map(|found| Value::str(&found.map_or(String::new(), |g| g.text(&letters, 0))))
        }
        ("REGEX_SEARCH", [Value::Str(text), Value::Int(from), Value::Str(pattern)]) => {
            let from = from.small().and_then(|n| usize::try_from(n - 1).ok()).unwrap_or(0);
            compiled(pattern).and_then(|p| searched(&p, text, from))
        }
        ("REGEX_SEARCH_ALL", [Value::Str(text), Value::Str(pattern)]) => {
            let letters: Vec<char> = text.chars().collect();
            compiled(pattern)
                .and_then(|p| all(&p, &letters))
                .map(|found| Value::seq(found.iter().map(|g| Value::str(&g.text(&letters, 0)))))
        }
        _ => return None,
    };
    Some(answer.map_or_else(Answer::Unsupported, Answer::Value))
}

/// The record with the fields length, position, string and submatches.
fn searched(pattern: &Pattern, text: &str, from: usize) -> Result<Value, String> {
    let letters: Vec<char> = text.chars().collect();
    let record = |length: i64, position: i64, string: &str, parts: Vec<Value>| {
        let submatches = Value::seq(parts);
        Value::Rec(Arc::from([Value::int(length), Value::int(position), Value::str(string), submatches]))
    };
    let found = if from > letters.len() { None } else { pattern.search(&letters, from)? };
    Ok(match found {
        None => record(-1, -1, "", Vec::new()),
        Some(groups) => {
            let (start, end) = groups.0[0].expect("the whole match is there");
            let parts = (1..groups.0.len()).map(|n| Value::str(&groups.text(&letters, n))).collect();
            record((end - start) as i64, start as i64 + 1, &groups.text(&letters, 0), parts)
        }
    })
}

/// All matches from left to right that do not overlap.
fn all(pattern: &Pattern, letters: &[char]) -> Result<Vec<Groups>, String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at <= letters.len() {
        let Some(groups) = pattern.search(letters, at)? else { break };
        let (start, end) = groups.0[0].expect("the whole match is there");
        at = if end > start { end } else { end + 1 };
        found.push(groups);
    }
    Ok(found)
}

/// Every match replaced; `$0` is the match and `$1`, `$2`, … its groups.
fn replaced(pattern: &Pattern, text: &str, other: &str) -> Result<String, String> {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    for groups in all(pattern, &letters)? {
        let (start, end) = groups.0[0].expect("the whole match is there");
        out.extend(&letters[at..start]);
        let mut rest = other.chars().peekable();
        while let Some(c) = rest.next() {
            match (c, rest.peek().and_then(|d| d.to_digit(10))) {
                ('$', Some(group)) => {
                    rest.next();
                    if (group as usize) < groups.0.len() {
                        out.push_str(&groups.text(&letters, group as usize));
                    }
                }
                ('$', None) if rest.peek() == Some(&'&') => {
                    rest.next();
                    out.push_str(&groups.text(&letters, 0));
                }
                ('$', None) if rest.peek() == Some(&'$') => {
                    rest.next();
                    out.push('$');
                }
                _ => out.push(c),
            }
        }
        at = end;
    }
    out.extend(&letters[at..]);
    Ok(out)
}

/// Where the whole match and its groups stand.
#[derive(Clone, Debug)]
struct Groups(Vec<Option<(usize, usize)>>);

impl Groups {
    fn text(&self, letters: &[char], group: usize) -> String {
        self.0[group].map_or(String::new(), |(start, end)| letters[start..end].iter().collect())
    }
}

#[derive(Clone, Debug)]
enum Node {
    Letter(char),
    /// Any letter but an end of line.
    Any,
    /// Ranges of letters, and whether they are the letters that do not match.
    Class(Vec<(char, char)>, bool),
    Start,
    End,
    /// The edge of a word, or no edge.
    Edge(bool),
    Group(Option<usize>, Vec<Vec<Node>>),
    /// What follows matches, or does not.
    Ahead(bool, Vec<Vec<Node>>),
    Back(usize),
    Repeat {
        node: Box<Node>,
        least: usize,
        most: usize,
        greedy: bool,
    },
}

struct Pattern {
    alternatives: Vec<Vec<Node>>,
    groups: usize,
    insensitive: bool,
}

impl Pattern {
    fn read(text: &str, insensitive: bool) -> Result<Pattern, String> {
        let mut reader = Reader { letters: text.chars().collect(), at: 0, groups: 0, depth: 0 };
        let alternatives = reader.alternatives()?;
        if reader.at < reader.letters.len() {
            return Err(format!("`{text}` is no pattern: a parenthesis is not opened"));
        }
        Ok(Pattern { alternatives, groups: reader.groups, insensitive })
    }

    fn whole(&self, text: &str) -> Result<bool, String> {
        let letters: Vec<char> = text.chars().collect();
        Ok(self.from(&letters, 0, true)?.is_some())
    }

    /// The first match that starts at a place or behind it.
    fn search(&self, letters: &[char], from: usize) -> Result<Option<Groups>, String> {
        for start in from..=letters.len() {
            if let Some(found) = self.from(letters, start, false)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn from(&self, letters: &[char], start: usize, to_the_end: bool) -> Result<Option<Groups>, String> {
        let mut run = Run {
            letters,
            groups: Groups(vec![None; self.groups + 1]),
            insensitive: self.insensitive,
            steps: 0,
            depth: 0,
            exhausted: false,
        };
        let found = run.either(&self.alternatives, start, &mut |run, end| {
            if to_the_end && end < run.letters.len() {
                return false;
            }
            run.groups.0[0] = Some((start, end));
            true
        });
        if run.exhausted {
            return Err("a match takes too many steps".into());
        }
        Ok(found.then_some(run.groups))
    }
}

/// One attempt to match.
struct Run<'a> {
    letters: &'a [char],
    groups: Groups,
    insensitive: bool,
    steps: u32,
    depth: u32,
    exhausted: bool,
}

/// What is to be matched behind the part at hand; true if all of it matches.
type Then<'t, 'a> = &'t mut dyn FnMut(&mut Run<'a>, usize) -> bool;

impl<'a> Run<'a> {
    fn either(&mut self, alternatives: &[Vec<Node>], at: usize, then: Then<'_, 'a>) -> bool {
        alternatives.iter().any(|nodes| self.all(nodes, at, then))
    }

    fn all(&mut self, nodes: &[Node], at: usize, then: Then<'_, 'a>) -> bool {
        self.steps += 1;
        if self.exhausted || self.steps > MAX_STEPS || self.depth > MAX_DEPTH {
            self.exhausted = true;
            return false;
        }
        let Some((node, rest)) = nodes.split_first() else { return then(self, at) };
        self.depth += 1;
        let found = self.one(node, at, &mut |run, at| run.all(rest, at, then));
        self.depth -= 1;
        found
    }

    fn one(&mut self, node: &Node, at: usize, then: Then<'_, 'a>) -> bool {
        match node {
            Node::Letter(_) | Node::Any | Node::Class(..) => {
                self.letters.get(at).is_some_and(|c| self.takes(node, *c)) && then(self, at + 1)
            }
            Node::Start => (at == 0 || is_line_end(self.letters[at - 1])) && then(self, at),
            Node::End => self.letters.get(at).is_none_or(|c| is_line_end(*c)) && then(self, at),
            Node::Edge(wanted) => {
                let word =
                    |at: Option<usize>| at.and_then(|n| self.letters.get(n)).is_some_and(|c| is_word(*c));
                ((word(at.checked_sub(1)) != word(Some(at))) == *wanted) && then(self, at)
            }
            Node::Group(number, alternatives) => {
                let Some(number) = *number else { return self.either(alternatives, at, then) };
                let before = self.groups.0[number];
                let found = self.either(alternatives, at, &mut |run, end| {
                    let inner = run.groups.0[number].replace((at, end));
                    then(run, end) || {
                        run.groups.0[number] = inner;
                        false
                    }
                });
                if !found {
                    self.groups.0[number] = before;
                }
                found
            }
            Node::Ahead(wanted, alternatives) => {
                (self.either(alternatives, at, &mut |_, _| true) == *wanted)
                    && !self.exhausted
                    && then(self, at)
            }
            Node::Back(group) => {
                let Some((start, end)) = self.groups.0[*group] else { return then(self, at) };
                let part = &self.letters[start..end];
                self.letters[at..].starts_with(part) && then(self, at + part.len())
            }
            Node::Repeat { node, least, most, greedy } => {
                self.repeated(node, (*least, *most, *greedy), at, then)
            }
        }
    }

    fn repeated(
        &mut self,
        node: &Node,
        (least, most, greedy): (usize, usize, bool),
        at: usize,
        then: Then<'_, 'a>,
    ) -> bool {
        self.steps += 1;
        if self.exhausted || self.steps > MAX_STEPS || self.depth > MAX_DEPTH {
            self.exhausted = true;
            return false;
        }
        if least == 0 && !greedy && then(self, at) {
            return true;
        }
        if most > 0 {
            self.depth += 1;
            let less = (least.saturating_sub(1), if most == usize::MAX { most } else { most - 1 }, greedy);
            let found = self.one(node, at, &mut |run, end| {
                // A turn that takes nothing would be taken for ever.
                (end > at || least > 0) && run.repeated(node, less, end, then)
            });
            self.depth -= 1;
            if found {
                return true;
            }
        }
        least == 0 && greedy && !self.exhausted && then(self, at)
    }

    fn takes(&self, node: &Node, c: char) -> bool {
        let same = |a: char| a == c || self.insensitive && a.to_lowercase().eq(c.to_lowercase());
        match node {
            Node::Letter(a) => same(*a),
            Node::Any => !is_line_end(c),
            Node::Class(ranges, other) => {
                let within = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                let folded =
                    self.insensitive && (c.to_lowercase().any(within) || c.to_uppercase().any(within));
                (within(c) || folded) != *other
            }
            _ => false,
        }
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// A pattern being read.
struct Reader {
    letters: Vec<char>,
    at: usize,
    groups: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let length = wanted.chars().count();
        let there = self.letters[self.at..].iter().take(length).copied().eq(wanted.chars());
        if there {
            self.at += length;
        }
        there
    }

    fn alternatives(&mut self) -> Result<Vec<Vec<Node>>, String> {
        let mut all = vec![Vec::new()];
        loop {
            match self.peek() {
                None | Some(')') => return Ok(all),
                Some('|') => {
                    self.at += 1;
                    all.push(Vec::new());
                }
                Some(_) => {
                    let node = self.repetition()?;
                    all.last_mut().expect("there is one alternative at least").push(node);
                }
            }
        }
    }

    fn repetition(&mut self) -> Result<Node, String> {
        let node = self.atom()?;
        let (least, most) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => return self.counted(node),
            _ => return Ok(node),
        };
        self.at += 1;
        let greedy = !self.takes("?");
        Ok(Node::Repeat { node: Box::new(node), least, most, greedy })
    }

    fn counted(&mut self, node: Node) -> Result<Node, String> {
        self.at += 1;
        let least = self.number().ok_or("a number is missing behind `{`")?;
        let most = if !self.takes(",") { least } else { self.number().unwrap_or(usize::MAX) };
        if !self.takes("}") || most < least {
            return Err("a count of repetitions is not closed or runs backwards".into());
        }
        let greedy = !self.takes("?");
        Ok(Node::Repeat { node: Box::new(node), least, most, greedy })
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.letters[start..self.at].iter().collect::<String>().parse().ok().filter(|n| *n <= 100_000)
    }

    fn atom(&mut self) -> Result<Node, String> {
        let c = self.peek().ok_or("the pattern ends too early")?;
        self.at += 1;
        match c {
            '.' => Ok(Node::Any),
            '^' => Ok(Node::Start),
            '$' => Ok(Node::End),
            '[' => self.class(),
            '(' => self.group(),
            '\\' => self.escape(),
            '*' | '+' | '?' | '{' => Err(format!("`{c}` repeats nothing")),
            c => Ok(Node::Letter(c)),
        }
    }

    fn group(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_GROUPS {
            return Err("the pattern nests too deeply".into());
        }
        let ahead = if self.takes("?=") {
            Some(true)
        } else if self.takes("?!") {
            Some(false)
        } else {
            None
        };
        let number = if ahead.is_some() || self.takes("?:") {
            None
        } else {
            self.groups += 1;
            Some(self.groups)
        };
        let alternatives = self.alternatives()?;
        if !self.takes(")") {
            return Err("a parenthesis is not closed".into());
        }
        self.depth -= 1;
        Ok(match ahead {
            Some(wanted) => Node::Ahead(wanted, alternatives),
            None => Node::Group(number, alternatives),
        })
    }

    fn escape(&mut self) -> Result<Node, String> {
        let c = self.peek().ok_or("the pattern ends behind `\\`")?;
        if let Some(group @ 1..=9) = c.to_digit(10) {
            self.at += 1;
            if group as usize > self.groups {
                return Err(format!("there is no group {group}"));
            }
            return Ok(Node::Back(group as usize));
        }
        if matches!(c, 'b' | 'B') {
            self.at += 1;
            return Ok(Node::Edge(c == 'b'));
        }
        Ok(match self.escaped()? {
            Escaped::Letter(c) => Node::Letter(c),
            Escaped::Class(ranges, other) => Node::Class(ranges, other),
        })
    }

    /// The letter or class behind a backslash.
    fn escaped(&mut self) -> Result<Escaped, String> {
        let c = self.peek().ok_or("the pattern ends behind `\\`")?;
        self.at += 1;
        let hex = |reader: &mut Self, digits: usize| {
            let text: String = reader.letters[reader.at..].iter().take(digits).collect();
            reader.at += digits.min(reader.letters.len() - reader.at);
            u32::from_str_radix(&text, 16).ok().and_then(char::from_u32).ok_or("no hexadecimal code")
        };
        Ok(match c {
            't' => Escaped::Letter('\t'),
            'n' => Escaped::Letter('\n'),
            'v' => Escaped::Letter('\u{b}'),
            'f' => Escaped::Letter('\u{c}'),
            'r' => Escaped::Letter('\r'),
            '0' => Escaped::Letter('\0'),
            'x' => Escaped::Letter(hex(self, 2)?),
            'u' => Escaped::Letter(hex(self, 4)?),
            'd' | 'D' => Escaped::Class(named("digit")?, c == 'D'),
            's' | 'S' => Escaped::Class(named("space")?, c == 'S'),
            'w' | 'W' => Escaped::Class(named("w")?, c == 'W'),
            c => Escaped::Letter(c),
        })
    }

    fn class(&mut self) -> Result<Node, String> {
        let other = self.takes("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            if self.takes("[:") {
                let end =
                    self.letters[self.at..].iter().position(|c| *c == ':').ok_or("a class is not closed")?;
                let name: String = self.letters[self.at..self.at + end].iter().collect();
                self.at += end;
                if !self.takes(":]") {
                    return Err("the name of a class is not closed".into());
                }
                ranges.extend(named(&name)?);
                continue;
            }
            let low = match self.peek().ok_or("a class is not closed")? {
                ']' => {
                    self.at += 1;
                    return Ok(Node::Class(ranges, other));
                }
                '\\' => {
                    self.at += 1;
                    match self.escaped()? {
                        Escaped::Letter('b') => '\u{8}',
                        Escaped::Letter(c) => c,
                        Escaped::Class(inner, false) => {
                            ranges.extend(inner);
                            continue;
                        }
                        Escaped::Class(inner, true) => {
                            ranges.extend(complement(inner));
                            continue;
                        }
                    }
                }
                c => {
                    self.at += 1;
                    c
                }
            };
            let is_range =
                self.peek() == Some('-') && self.letters.get(self.at + 1).is_some_and(|c| *c != ']');
            let high = if is_range {
                self.at += 1;
                let c = self.peek().ok_or("a class is not closed")?;
                self.at += 1;
                c
            } else {
                low
            };
            if high < low {
                return Err("a range of a class runs backwards".into());
            }
            ranges.push((low, high));
        }
    }
}

enum Escaped {
    Letter(char),
    Class(Vec<(char, char)>, bool),
}

/// Named classes; letters are those of Latin, Greek and Cyrillic.
fn named(name: &str) -> Result<Vec<(char, char)>, String> {
    let letters = [
        ('A', 'Z'),
        ('a', 'z'),
        ('\u{aa}', '\u{aa}'),
        ('\u{b5}', '\u{b5}'),
        ('\u{c0}', '\u{d6}'),
        ('\u{d8}', '\u{f6}'),
        ('\u{f8}', '\u{52f}'),
    ];
    let digits = ('0', '9');
    Ok(match name {
        "digit" | "d" => vec![digits],
        "lower" => vec![('a', 'z')],
        "upper" => vec![('A', 'Z')],
        "alpha" => letters.to_vec(),
        "alnum" => [letters.as_slice(), &[digits]].concat(),
        "w" | "word" => [letters.as_slice(), &[digits, ('_', '_')]].concat(),
        "space" | "s" => vec![('\t', '\r'), (' ', ' '), ('\u{a0}', '\u{a0}'), ('\u{2028}', '\u{2029}')],
        "blank" => vec![(' ', ' '), ('\t', '\t')],
        "xdigit" => vec![digits, ('a', 'f'), ('A', 'F')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "cntrl" => vec![('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        "graph" => vec![('!', '~')],
        "print" => vec![(' ', '~')],
        _ => return Err(format!("there is no class of letters `{name}`")),
    })
}

/// All letters that are not in the ranges.
fn complement(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort();
    let mut out = Vec::new();
    let mut next = Some('\0');
    for (low, high) in ranges {
        if let Some(start) = next
            && start < low
            && let Some(end) = ('\0'..low).next_back()
        {
            out.push((start, end));
        }
        next = (high..=char::MAX).nth(1).filter(|c| next.is_none_or(|n| n < *c)).or(next);
    }
    if let Some(start) = next {
        out.push((start, char::MAX));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, texts: &[&str]) -> Value {
        let values: Vec<Value> = texts.iter().map(|t| Value::str(t)).collect();
        match value(name, &values) {
            Some(Answer::Value(value)) => value,
            _ => panic!("{name} of {texts:?} has no value"),
        }
    }

    fn texts(all: &[&str]) -> Value {
        Value::seq(all.iter().map(|t| Value::str(t)))
    }

    #[test]
    fn a_pattern_matches_a_text_as_a_whole() {
        for (text, pattern, wanted) in [
            ("abc", "[a-z]+", true),
            ("abc1", "[a-z]+", false),
            ("1e9", "[^a-zA-Z]+", false),
            ("äbc", "[[:alpha:]]{3}", true),
            ("1.9", "[0-9]*\\.[0-9]+", true),
            ("", "a*", true),
            ("aaa", "(a|aa)+?a", true),
        ] {
            assert_eq!(of("REGEX_MATCH", &[text, pattern]), Value::Bool(wanted), "{text} {pattern}");
        }
        assert_eq!(of("IS_REGEX", &["ab[0-9"]), Value::Bool(false));
    }

    #[test]
    fn the_first_and_all_matches_are_found_from_the_left() {
        assert_eq!(of("REGEX_SEARCH_STR", &["xyz00012q", "[1-9][0-9]*"]), Value::str("12"));
        assert_eq!(of("REGEX_SEARCH_STR", &["abc0", "[[:alpha:]]+$"]), Value::str(""));
        assert_eq!(of("REGEX_SEARCH_ALL", &["10234", "\\d{1,3}"]), texts(&["102", "34"]));
        assert_eq!(of("REGEX_SEARCH_ALL", &["a b\tc", "\\S+"]), texts(&["a", "b", "c"]));
        assert_eq!(of("REGEX_SEARCH_STR", &["ab-cd:e", "[a-z]+(?=:)"]), Value::str("cd"));
        assert_eq!(of("REGEX_SEARCH_STR", &["ab-cdcd-e", "([a-z]+)\\1"]), Value::str("cdcd"));
    }

    #[test]
    fn groups_of_a_match_stand_in_the_replacement() {
        assert_eq!(of("REGEX_REPLACE", &["a01b2", "[0-9]+", "<$0>"]), Value::str("a<01>b<2>"));
        assert_eq!(of("REGEX_REPLACE", &["k=v", "(\\w+)=(\\w+)", "$2=$1"]), Value::str("v=k"));
    }

    #[test]
    fn a_match_without_end_has_no_value() {
        let values = [Value::str(&"a".repeat(60)), Value::str("(a*)*b")];
        assert!(matches!(value("REGEX_MATCH", &values), Some(Answer::Unsupported(_))));
    }
}
