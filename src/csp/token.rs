//! The tokens of CSP-M.
//!
//! In: nothing. Out: the alphabet that the lexer writes and the parser reads.
//! Never here: text, precedence.

use bombus_base::{Int, Span};

/// A name of a script, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sym(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tok {
    Name(Sym),
    Int(Int),
    Char(char),
    Str(String),
    /// Reserved words, operators and brackets, as written.
    Op(&'static str),
    /// `[T=`, `[FD=` and the like: the letters of the model.
    Refines(String),
    /// `{-# … #-}`: the text between the marks.
    Pragma(String),
    End,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub tok: Tok,
    pub span: Span,
    /// Whether the token is the first one of its line.
    pub first: bool,
}

/// Words that are never names.
pub const WORDS: [&str; 25] = [
    "let",
    "within",
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "true",
    "false",
    "channel",
    "datatype",
    "subtype",
    "nametype",
    "assert",
    "include",
    "transparent",
    "external",
    "module",
    "endmodule",
    "exports",
    "instance",
    "Timed",
    "print",
    "_",
];

/// Operators and brackets, longer ones first.
pub const OPERATORS: [&str; 61] = [
    "=>*", "|||", "|~|", "<->", "::", "[[", "]]", "[|", "|]", "|>", "{|", "|}", "(|", "|)", "[>", "[]", "[+",
    "+]", "/+", "+\\", ":[", "||", "<-", "->", "==", "!=", "<=", ">=", "..", "/\\", "|\\", "@@", "=>", "(",
    ")", "[", "]", "{", "}", "<", ">", "=", "+", "-", "*", "/", "%", "#", "^", "\\", "|", ";", ":", ",", ".",
    "?", "!", "$", "&", "@", "~",
];

/// The names of a script.
#[derive(Default)]
pub struct Names {
    list: Vec<std::rc::Rc<str>>,
    known: std::collections::HashMap<std::rc::Rc<str>, Sym>,
}

impl Names {
    pub fn sym(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.known.get(text) {
            return *sym;
        }
        let sym = Sym(self.list.len() as u32);
        let text: std::rc::Rc<str> = text.into();
        self.list.push(text.clone());
        self.known.insert(text, sym);
        sym
    }

    /// The name, if the script has it.
    pub fn find(&self, text: &str) -> Option<Sym> {
        self.known.get(text).copied()
    }

    pub fn text(&self, sym: Sym) -> &str {
        &self.list[sym.0 as usize]
    }
}
