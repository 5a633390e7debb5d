//! Tokens of Z in LaTeX, and which of them a line may break at.

use super::operators::{Fixity, Operators};
use bombus_base::{Int, Name, Span};

#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// A name or an operator, with its decoration.
    Word(Name, Name),
    Number(Int),
    /// Punctuation and the words of the language itself.
    Sym(&'static str),
    /// A decoration that follows a closing bracket.
    Decor(Name),
    /// `\\` or `\also` where it separates.
    NewLine,
    End,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub tok: Tok,
    pub span: Span,
}

/// Commands that are words of the language.
const SYMBOLS: &[&str] = &[
    "\\{",
    "\\}",
    "\\langle",
    "\\rangle",
    "\\lbag",
    "\\rbag",
    "\\limg",
    "\\rimg",
    "\\ldata",
    "\\rdata",
    "\\lblot",
    "\\rblot",
    "\\bsup",
    "\\esup",
    "\\defs",
    "\\where",
    "\\land",
    "\\lor",
    "\\lnot",
    "\\implies",
    "\\iff",
    "\\forall",
    "\\exists",
    "\\exists_1",
    "\\lambda",
    "\\mu",
    "\\LET",
    "\\IF",
    "\\THEN",
    "\\ELSE",
    "\\theta",
    "\\Delta",
    "\\Xi",
    "\\pre",
    "\\hide",
    "\\project",
    "\\semi",
    "\\pipe",
    "\\cross",
    "\\_",
    "\\inrel",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "|",
    "@",
    "/",
    ".",
    "==",
    "::=",
    "^",
];

/// Other spellings of the same word.
const SPELLINGS: &[(&str, &str)] = &[
    ("\\spot", "@"),
    ("\\mid", "|"),
    ("\\emptyset", "\\empty"),
    ("\\neg", "\\lnot"),
    ("\\wedge", "\\land"),
    ("\\vee", "\\lor"),
    ("\\le", "\\leq"),
    ("\\ge", "\\geq"),
    ("\\ne", "\\neq"),
    ("\\setminus", "\\setminus"),
    ("\\bind", "\\theta"),
];

/// Symbols beside which a line break does not separate.
const JOINING: &[&str] = &[
    ";",
    ":",
    ",",
    "|",
    "@",
    "==",
    "\\defs",
    "::=",
    "\\land",
    "\\lor",
    "\\implies",
    "\\iff",
    "\\cross",
    "\\hide",
    "\\project",
    "\\semi",
    "\\pipe",
    "\\THEN",
    "\\ELSE",
    "\\inrel",
];

/// The word in its usual spelling.
pub fn usual(word: &str) -> &str {
    SPELLINGS.iter().find(|(other, _)| *other == word).map_or(word, |(_, usual)| usual)
}

pub fn symbol(word: &str) -> Option<&'static str> {
    SYMBOLS.iter().find(|s| **s == word).copied()
}

impl Tok {
    /// How the token is written.
    pub fn spelling(&self) -> String {
        match self {
            Tok::Word(base, decor) => format!("{base}{decor}"),
            Tok::Number(n) => n.to_string(),
            Tok::Sym(s) => (*s).to_owned(),
            Tok::Decor(d) => d.to_string(),
            Tok::NewLine => "\\\\".to_owned(),
            Tok::End => "the end of the paragraph".to_owned(),
        }
    }

    /// Whether a line break beside this token is no separator.
    fn joins(&self, operators: &Operators) -> bool {
        match self {
            Tok::Sym(s) => JOINING.contains(s),
            Tok::Word(base, decor) => matches!(
                operators.get(&format!("{base}{decor}")).or_else(|| operators.get(base)),
                Some(Fixity::Infix(_) | Fixity::Relation | Fixity::InfixGeneric)
            ),
            _ => false,
        }
    }
}

/// Leaves only those line breaks that separate.
pub fn drop_line_breaks(tokens: Vec<Token>, operators: &Operators) -> Vec<Token> {
    let opens = |t: &Tok| matches!(t, Tok::Sym("(" | "[" | "\\{" | "\\langle" | "\\lbag" | "\\limg" | "{"));
    let closes = |t: &Tok| matches!(t, Tok::Sym(")" | "]" | "\\}" | "\\rangle" | "\\rbag" | "\\rimg" | "}"));
    let before = |t: &Tok| matches!(t, Tok::NewLine | Tok::Sym("\\where")) || opens(t) || t.joins(operators);
    let after = |t: &Tok| {
        let sign = matches!(t, Tok::Word(base, decor) if decor.is_empty() && &**base == "-");
        matches!(t, Tok::Sym("\\where") | Tok::End) || closes(t) || (t.joins(operators) && !sign)
    };
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token.tok == Tok::NewLine && kept.last().is_none_or(|t| before(&t.tok)) {
            continue;
        }
        if after(&token.tok) && kept.last().is_some_and(|t| t.tok == Tok::NewLine) {
            kept.pop();
        }
        kept.push(token);
    }
    kept
}
