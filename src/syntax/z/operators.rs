//! Which words are operators: those of fuzz' library, and those that `%%inop` and its kin declare.
//!
//! In: lines that begin with `%%` and a word. Out: what kind of operator a word is. Never here: what operators mean.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixity {
    /// With its priority; a larger one binds tighter, all are left-associative.
    Infix(u8),
    Postfix,
    Relation,
    PrefixRelation,
    InfixGeneric,
    PrefixGeneric,
}

/// The priorities of infix operators.
const INFIX: &[(u8, &[&str])] = &[
    (1, &["\\mapsto"]),
    (2, &["\\upto"]),
    (3, &["+", "-", "\\cup", "\\setminus", "\\cat", "\\uplus", "\\uminus"]),
    (4, &["*", "\\div", "\\mod", "\\cap", "\\circ", "\\comp", "\\filter", "\\extract", "\\otimes"]),
    (5, &["\\oplus", "\\bcount"]),
    (6, &["\\dres", "\\rres", "\\ndres", "\\nrres"]),
];
const RELATIONS: &[&str] = &[
    "=",
    "\\in",
    "\\notin",
    "\\neq",
    "\\subseteq",
    "\\subset",
    "<",
    ">",
    "\\leq",
    "\\geq",
    "\\prefix",
    "\\suffix",
    "\\inseq",
    "\\inbag",
    "\\subbageq",
    "\\partition",
];
const INFIX_GENERICS: &[&str] =
    &["\\rel", "\\pfun", "\\fun", "\\pinj", "\\inj", "\\psurj", "\\surj", "\\bij", "\\ffun", "\\finj"];
const PREFIX_GENERICS: &[&str] =
    &["\\power", "\\power_1", "\\finset", "\\finset_1", "\\seq", "\\seq_1", "\\iseq", "\\bag", "\\id"];
const POSTFIX: &[&str] = &["\\plus", "\\star", "\\inv"];

/// The operators of one specification, and the words it asks to be ignored.
#[derive(Clone, Debug)]
pub struct Operators {
    table: BTreeMap<String, Fixity>,
    /// The number of bytes of the longest operator.
    longest: usize,
    pub ignored: BTreeSet<String>,
}

impl Default for Operators {
    fn default() -> Self {
        let mut table = BTreeMap::new();
        let mut put = |words: &[&str], fixity: Fixity| {
            for word in words {
                table.insert((*word).to_owned(), fixity);
            }
        };
        for (priority, words) in INFIX {
            put(words, Fixity::Infix(*priority));
        }
        put(RELATIONS, Fixity::Relation);
        put(INFIX_GENERICS, Fixity::InfixGeneric);
        put(PREFIX_GENERICS, Fixity::PrefixGeneric);
        put(POSTFIX, Fixity::Postfix);
        put(&["\\disjoint"], Fixity::PrefixRelation);
        let longest = table.keys().map(String::len).max().unwrap_or(0);
        Operators { table, longest, ignored: BTreeSet::new() }
    }
}

impl Operators {
    pub fn get(&self, word: &str) -> Option<Fixity> {
        self.table.get(word).copied()
    }

    /// Obeys a directive, the text of the line behind `%%`; false if no directive has this name.
    pub fn directive(&mut self, line: &str) -> Result<bool, String> {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { return Ok(true) };
        let mut rest: Vec<&str> = words.collect();
        let fixity = match name {
            "inop" => {
                let priority = rest.pop().and_then(|n| n.parse::<u8>().ok()).filter(|n| (1..=6).contains(n));
                match priority {
                    Some(n) => Fixity::Infix(n),
                    None => return Err("`%%inop` ends with a priority from 1 to 6".into()),
                }
            }
            "postop" => Fixity::Postfix,
            "inrel" => Fixity::Relation,
            "prerel" => Fixity::PrefixRelation,
            "ingen" => Fixity::InfixGeneric,
            "pregen" => Fixity::PrefixGeneric,
            "ignore" => {
                self.ignored.extend(rest.iter().map(|w| (*w).to_owned()));
                return Ok(true);
            }
            "type" | "tame" | "pname" | "token" | "abbrev" | "line" | "unchecked" => return Ok(true),
            _ => return Ok(false),
        };
        for word in rest {
            self.longest = self.longest.max(word.len());
            self.table.insert(word.to_owned(), fixity);
        }
        Ok(true)
    }

    /// The longest operator that the run of `+ - * . = < >` at the beginning of a text begins with; the whole run if
    /// none does. A run is looked at no further than operators are long.
    pub fn leading_run<'t>(&self, text: &'t str) -> &'t str {
        let run = |most: usize| {
            let length = text.bytes().take(most).take_while(|b| b"+-*.=<>".contains(b)).count();
            &text[..length]
        };
        let known = |word: &str| word == "==" || word == "." || self.table.contains_key(word);
        let start = run(self.longest.max(2));
        let found = (1..=start.len()).rev().map(|n| &start[..n]).find(|word| known(word));
        found.unwrap_or_else(|| run(usize::MAX))
    }
}
