//! Tokens of LTL and CTL formulas.
//!
//! In: the text of a formula. Out: tokens with spans; whatever belongs to B (`{P}`, `[op(a)]`, `e(op)`)
//! is one token that carries its text. Never here: precedences.
//!
//! The language has no identifiers of its own, so operators may be written without blanks: `GF{p}`,
//! `AGEF{p}`. At each place the longest word of the language wins.

use super::formula::{Atom, Change, Pattern, Text};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::span::{FileId, Span};

#[derive(Clone, Debug)]
pub(super) enum Tok {
    Open,
    Close,
    True,
    False,
    Not,
    And,
    Or,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
    Since,
    Trigger,
    Next,
    Finally,
    Globally,
    Yesterday,
    Once,
    Historically,
    Atom(Atom),
    Fair {
        strong: bool,
        pattern: Pattern,
    },
    FairAll {
        strong: bool,
    },
    Exists(String),
    Forall(String),
    /// `E` of CTL.
    Some,
    /// `A` of CTL.
    All,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logic {
    Ltl,
    Ctl,
}

/// A formula somewhere in a file: spans are shifted by `offset` bytes.
#[derive(Clone, Copy)]
pub struct Place {
    pub file: FileId,
    pub offset: usize,
}

/// Words without arguments, in both logics.
const COMMON: &[(&str, Tok)] = &[
    ("true", Tok::True),
    ("false", Tok::False),
    ("not", Tok::Not),
    ("¬", Tok::Not),
    ("&&", Tok::And),
    ("&", Tok::And),
    ("∧", Tok::And),
    ("and", Tok::And),
    ("||", Tok::Or),
    ("∨", Tok::Or),
    ("or", Tok::Or),
    ("=>", Tok::Implies),
    ("⇒", Tok::Implies),
    ("->", Tok::Implies),
    ("implies", Tok::Implies),
    ("U", Tok::Until),
    ("G", Tok::Globally),
    ("F", Tok::Finally),
    ("X", Tok::Next),
    ("deadlock", Tok::Atom(Atom::Deadlock)),
    ("sink", Tok::Atom(Atom::Sink)),
    ("non_det", Tok::Atom(Atom::NonDet)),
    ("goal", Tok::Atom(Atom::Goal)),
    ("det_output", Tok::Atom(Atom::DetOutput)),
    ("error", Tok::Atom(Atom::StateError)),
    ("current", Tok::Atom(Atom::Current)),
    ("(", Tok::Open),
    (")", Tok::Close),
];

const LTL: &[(&str, Tok)] = &[
    ("<=>", Tok::Iff),
    ("⇔", Tok::Iff),
    ("<->", Tok::Iff),
    ("equivalent", Tok::Iff),
    ("until", Tok::Until),
    ("stronguntil", Tok::Until),
    ("W", Tok::WeakUntil),
    ("weakuntil", Tok::WeakUntil),
    ("R", Tok::Release),
    ("release", Tok::Release),
    ("S", Tok::Since),
    ("since", Tok::Since),
    ("T", Tok::Trigger),
    ("trigger", Tok::Trigger),
    ("globally", Tok::Globally),
    ("always", Tok::Globally),
    ("□", Tok::Globally),
    ("finally", Tok::Finally),
    ("eventually", Tok::Finally),
    ("<>", Tok::Finally),
    ("⋄", Tok::Finally),
    ("◇", Tok::Finally),
    ("next", Tok::Next),
    ("H", Tok::Historically),
    ("historically", Tok::Historically),
    ("O", Tok::Once),
    ("once", Tok::Once),
    ("Y", Tok::Yesterday),
    ("yesterday", Tok::Yesterday),
    ("SEF", Tok::FairAll { strong: true }),
    ("WEF", Tok::FairAll { strong: false }),
];

const CTL: &[(&str, Tok)] = &[("E", Tok::Some), ("A", Tok::All)];

/// Words that take an argument in parentheses.
#[derive(Clone, Copy)]
enum Call {
    Enabled,
    NoneEnabled,
    AtMostOne,
    ExactlyOne,
    Fair { strong: bool },
    Change(Change),
}

/// Whether the parentheses after a word hold text of the model.
pub(super) fn is_call(word: &str) -> bool {
    CALLS.iter().any(|(name, _)| *name == word)
}

const CALLS: &[(&str, Call)] = &[
    ("e", Call::Enabled),
    ("enabled", Call::Enabled),
    ("Av", Call::Enabled),
    ("available", Call::Enabled),
    ("deadlock", Call::NoneEnabled),
    ("deterministic", Call::AtMostOne),
    ("controller", Call::ExactlyOne),
    ("SF", Call::Fair { strong: true }),
    ("sf", Call::Fair { strong: true }),
    ("WF", Call::Fair { strong: false }),
    ("wf", Call::Fair { strong: false }),
    ("unchanged", Call::Change(Change::Unchanged)),
    ("UNCHANGED", Call::Change(Change::Unchanged)),
    ("changed", Call::Change(Change::Changed)),
    ("increasing", Call::Change(Change::Increasing)),
    ("decreasing", Call::Change(Change::Decreasing)),
    ("before_after", Call::Change(Change::BeforeAfter)),
    ("BA", Call::Change(Change::BeforeAfter)),
];

/// All tokens, or every fault of the text at this level.
pub(super) fn tokens(text: &str, place: Place, logic: Logic) -> Result<Vec<Token>, Vec<Diagnostic>> {
    let mut lexer = Lexer { text, at: 0, place, logic, faults: Vec::new() };
    let mut out = Vec::new();
    while let Some(token) = lexer.next() {
        out.push(token);
    }
    if lexer.faults.is_empty() { Ok(out) } else { Err(lexer.faults) }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    place: Place,
    logic: Logic,
    faults: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.place.file, self.place.offset + start, self.place.offset + end)
    }

    fn next(&mut self) -> Option<Token> {
        loop {
            self.at += blanks(self.rest());
            if self.rest().is_empty() {
                return None;
            }
            let start = self.at;
            let tok = match self.rest().as_bytes()[0] {
                b'{' => self.predicate(),
                b'[' => self.executed(),
                b'#' | b'!' => self.quantifier_or_negation(),
                _ => self.word(),
            };
            if let Some(tok) = tok {
                return Some(Token { tok, span: self.span(start, self.at) });
            }
            // A fault was entered; go on behind it, so that one run shows all of them.
            if self.at == start {
                self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    fn word(&mut self) -> Option<Tok> {
        let rest = self.rest();
        let mut best: Option<(usize, Result<&Tok, Call>)> = None;
        let mut take = |len: usize, what: Result<&'static Tok, Call>| {
            if best.as_ref().is_none_or(|(longest, _)| len > *longest) {
                best = Some((len, what));
            }
        };
        if self.logic == Logic::Ltl || rest.starts_with("e") {
            for (word, call) in CALLS {
                let ctl = matches!(call, Call::Enabled);
                if (self.logic == Logic::Ltl || ctl)
                    && rest.strip_prefix(word).is_some_and(|after| after[blanks(after)..].starts_with('('))
                {
                    take(word.len(), Err(*call));
                }
            }
        }
        let own = if self.logic == Logic::Ltl { LTL } else { CTL };
        for (word, tok) in COMMON.iter().chain(own) {
            if rest.starts_with(word) {
                take(word.len(), Ok(tok));
            }
        }
        match best {
            Some((len, Ok(tok))) => {
                self.at += len;
                Some(tok.clone())
            }
            Some((len, Err(call))) => {
                let start = self.at;
                self.at += len;
                self.at += blanks(self.rest());
                let inner = self.bracketed(start)?;
                self.call(call, inner)
            }
            None => self.unknown(),
        }
    }

    fn unknown(&mut self) -> Option<Tok> {
        let rest = self.rest();
        let len = unknown_piece(rest);
        let word = &rest[..len];
        let span = self.span(self.at, self.at + len);
        let is_call = CALLS.iter().any(|(name, _)| *name == word);
        let is_ctl = word.strip_prefix(['A', 'E']).is_some_and(|w| w.chars().all(|c| "AEGFXU".contains(c)));
        self.faults.push(match (word, self.logic) {
            ("<", Logic::Ctl) => {
                Diagnostic::error(span, "CTL has no equivalence").help("write (a => b) & (b => a)")
            }
            ("|", _) => Diagnostic::error(span, "`|` is not an operator here").help("write `or`"),
            ("~>", _) => Diagnostic::error(span, "`~>` is not an operator here")
                .help("«p leads to q» is written G (p => F q), in CTL AG (p => AF q)"),
            ("~" | "-", _) => Diagnostic::error(span, format!("`{word}` is not an operator here"))
                .help("negation is written `not`"),
            ("\"" | "'", _) => Diagnostic::error(span, "a formula has no quotation marks of its own"),
            ("W" | "R" | "S" | "T" | "Y" | "O" | "H", Logic::Ctl) => {
                Diagnostic::error(span, format!("`{word}` is an operator of LTL, not of CTL"))
            }
            ("SF" | "sf" | "WF" | "wf" | "SEF" | "WEF", Logic::Ctl) => {
                Diagnostic::error(span, "fairness can be assumed in LTL, not in CTL")
            }
            (_, Logic::Ltl) if is_ctl => {
                Diagnostic::error(span, format!("`{word}` belongs to CTL, this is read as LTL"))
                    .help("formulas of CTL are given with --ctl or as ASSERT_CTL…")
            }
            (_, Logic::Ltl) if is_call => {
                let example = if word.to_lowercase().contains("change") { "({x})" } else { "(op)" };
                Diagnostic::error(span, format!("`{word}` is followed by what it speaks of, in parentheses"))
                    .help(format!("write for instance {word}{example}"))
            }
            _ => Diagnostic::error(span, format!("`{word}` is not a word of {}", self.logic.name())).help(
                "a B predicate is written {P}, an operation that is executed next [op], an enabled one e(op)",
            ),
        });
        self.at += len;
        None
    }

    fn predicate(&mut self) -> Option<Tok> {
        let start = self.at;
        let inner = self.braced(start)?;
        Some(Tok::Atom(Atom::Predicate(inner)))
    }

    fn executed(&mut self) -> Option<Tok> {
        let start = self.at;
        let inner = self.bracketed(start)?;
        if inner.text.is_empty() {
            self.faults.push(
                Diagnostic::error(inner.span, "no operation is named between the brackets")
                    .help("[op] says that op is executed next; «always» is written G"),
            );
            return None;
        }
        self.pattern(&inner).map(|p| Tok::Atom(Atom::Executed(p)))
    }

    /// `#x.` and `!x.`; a `!` that no variable and dot follow is the negation of older formulas.
    fn quantifier_or_negation(&mut self) -> Option<Tok> {
        let universal = self.rest().starts_with('!');
        let start = self.at;
        let mut at = self.at + 1;
        at += blanks(&self.text[at..]);
        let name: String = self.text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let starts_well = name.chars().next().is_some_and(char::is_alphabetic);
        let after = at + name.len();
        let dot = after + blanks(&self.text[after..]);
        if starts_well && self.text[dot..].starts_with('.') && self.logic == Logic::Ltl {
            self.at = dot + 1;
            return Some(if universal { Tok::Forall(name) } else { Tok::Exists(name) });
        }
        if universal {
            self.at = start + 1;
            return Some(Tok::Not);
        }
        self.faults.push(
            Diagnostic::error(self.span(start, start + 1), "`#` must be followed by a variable and a dot")
                .help("existential quantification is written #x.({P} & f)"),
        );
        None
    }

    /// The text between matching braces; the lexer stands on the opening one.
    fn braced(&mut self, start: usize) -> Option<Text> {
        self.matching(start, |c| i32::from(c == '{') - i32::from(c == '}'), "}")
    }

    /// The text between matching parentheses or brackets; the lexer stands on the opening one.
    fn bracketed(&mut self, start: usize) -> Option<Text> {
        let close = if self.rest().starts_with('[') { "]" } else { ")" };
        self.matching(start, |c| i32::from("([".contains(c)) - i32::from(")]".contains(c)), close)
    }

    fn matching(&mut self, start: usize, step: impl Fn(char) -> i32, close: &str) -> Option<Text> {
        let mut depth = 0;
        let inner = self.at + 1;
        for (i, c) in self.rest().char_indices() {
            depth += step(c);
            if depth == 0 {
                let end = self.at + i;
                self.at = end + 1;
                return Some(self.trimmed(inner, end));
            }
        }
        self.faults.push(
            Diagnostic::error(self.span(start, inner), "this is never closed")
                .help(format!("the matching `{close}` is missing")),
        );
        self.at = self.text.len();
        None
    }

    /// The text of a range without the blanks at its ends.
    fn trimmed(&self, start: usize, end: usize) -> Text {
        let raw = &self.text[start..end];
        let lead = raw.len() - raw.trim_start().len();
        let text = raw.trim();
        Text { text: text.to_string(), span: self.span(start + lead, start + lead + text.len()) }
    }

    /// Splits at commas outside brackets and braces.
    fn split(&self, list: &Text) -> Vec<Text> {
        let start = list.span.start as usize - self.place.offset;
        let mut parts = Vec::new();
        let (mut depth, mut from) = (0, 0);
        for (i, c) in list.text.char_indices() {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            if c == ',' && depth == 0 {
                parts.push(self.trimmed(start + from, start + i));
                from = i + 1;
            }
        }
        parts.push(self.trimmed(start + from, start + list.text.len()));
        parts
    }

    fn pattern(&mut self, inner: &Text) -> Option<Pattern> {
        let start = inner.span.start as usize - self.place.offset;
        let (name, arguments) = match inner.text.find('(') {
            None => (inner.clone(), Vec::new()),
            Some(open) if inner.text.ends_with(')') => {
                let arguments = self.trimmed(start + open + 1, start + inner.text.len() - 1);
                let list = if arguments.text.is_empty() { Vec::new() } else { self.split(&arguments) };
                (self.trimmed(start, start + open), list)
            }
            Some(_) => {
                self.faults.push(
                    Diagnostic::error(inner.span, "an operation pattern ends with its arguments")
                        .help("write op(a,_,b), where _ matches anything"),
                );
                return None;
            }
        };
        if name.text.is_empty() || arguments.iter().any(|a| a.text.is_empty()) {
            self.faults.push(Diagnostic::error(inner.span, "a name or an argument is missing"));
            return None;
        }
        let arguments = arguments.into_iter().map(|a| (a.text != "_").then_some(a)).collect();
        Some(Pattern { operation: name, arguments })
    }

    fn call(&mut self, call: Call, inner: Text) -> Option<Tok> {
        let mut patterns = || -> Option<Vec<Pattern>> {
            let parts = self.split(&inner);
            parts.iter().map(|part| self.pattern(part)).collect()
        };
        Some(match call {
            Call::Enabled => Tok::Atom(Atom::Enabled(self.pattern(&inner)?)),
            Call::Fair { strong } => Tok::Fair { strong, pattern: self.pattern(&inner)? },
            Call::NoneEnabled => Tok::Atom(Atom::NoneEnabled(patterns()?)),
            Call::AtMostOne => Tok::Atom(Atom::AtMostOne(patterns()?)),
            Call::ExactlyOne => Tok::Atom(Atom::ExactlyOne(patterns()?)),
            Call::Change(change) => {
                let start = inner.span.start as usize - self.place.offset;
                if !(inner.text.starts_with('{') && inner.text.ends_with('}')) {
                    self.faults.push(
                        Diagnostic::error(inner.span, "B text stands in braces here")
                            .help("write for instance changed({x})"),
                    );
                    return None;
                }
                let text = self.trimmed(start + 1, start + inner.text.len() - 1);
                Tok::Atom(Atom::Change(change, text))
            }
        })
    }
}

impl Logic {
    fn name(self) -> &'static str {
        match self {
            Logic::Ltl => "LTL",
            Logic::Ctl => "CTL",
        }
    }
}

/// Bytes of a piece of text that is no word of the language. B text without its braces is one piece, so
/// that it is told once: a name, and what compares it with the next.
fn unknown_piece(text: &str) -> usize {
    let arrow = |at: usize| ["=>", "->", "<=>", "<->", "<>"].iter().any(|a| text[at..].starts_with(a));
    if text.starts_with("~>") {
        return 2;
    }
    let begun = text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    for (at, c) in text.char_indices().skip(1) {
        let named = c.is_alphanumeric() || c == '_';
        let compares = "=<>:/+-*.'".contains(c) && !arrow(at);
        if !(begun && (named || compares)) {
            return at;
        }
    }
    text.len()
}

/// Bytes of leading blanks, the marks of text direction included.
fn blanks(text: &str) -> usize {
    let blank = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{200e}' | '\u{200f}');
    text.find(|c| !blank(c)).unwrap_or(text.len())
}
