//! Tokens of the mathematical language, in unicode and in Rodin's ASCII.
//!
//! In: the text of one formula. Out: its tokens with their bytes. Never here: precedence.

use crate::ast::{BinOp, Builtin, Const};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{FileId, Int, Name, Span};

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Ident(Name),
    /// `x'`
    Primed(Name),
    Int(Int),
    Op(BinOp),
    Const(Const),
    Function(Builtin),
    And,
    Or,
    Not,
    Forall,
    Exists,
    Lambda,
    BigUnion,
    BigInter,
    Converse,
    Becomes,
    BecomesIn,
    BecomesSuch,
    Comma,
    /// `·`
    Dot,
    /// `∣`
    Bar,
    Open,
    Close,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    End,
}

#[derive(Clone, Debug)]
pub struct Spanned {
    pub token: Token,
    pub span: Span,
}

/// Spellings that are no binary operators.
const SYMBOLS: &[(&str, Token)] = &[
    ("∧", Token::And),
    ("&", Token::And),
    ("∨", Token::Or),
    ("¬", Token::Not),
    ("∀", Token::Forall),
    ("!", Token::Forall),
    ("∃", Token::Exists),
    ("#", Token::Exists),
    ("λ", Token::Lambda),
    ("%", Token::Lambda),
    ("⋃", Token::BigUnion),
    ("⋂", Token::BigInter),
    ("∼", Token::Converse),
    ("~", Token::Converse),
    ("≔", Token::Becomes),
    (":=", Token::Becomes),
    (":∈", Token::BecomesIn),
    ("::", Token::BecomesIn),
    (":∣", Token::BecomesSuch),
    (":|", Token::BecomesSuch),
    (",", Token::Comma),
    ("·", Token::Dot),
    (".", Token::Dot),
    ("∙", Token::Dot),
    ("•", Token::Dot),
    ("∣", Token::Bar),
    ("|", Token::Bar),
    ("(", Token::Open),
    (")", Token::Close),
    ("{", Token::OpenBrace),
    ("}", Token::CloseBrace),
    ("[", Token::OpenBracket),
    ("]", Token::CloseBracket),
    ("⊤", Token::Const(Const::BTrue)),
    ("⊥", Token::Const(Const::BFalse)),
    ("ℤ", Token::Const(Const::Integer)),
    ("ℕ1", Token::Const(Const::Natural1)),
    ("ℕ", Token::Const(Const::Natural)),
    ("ℙ1", Token::Function(Builtin::Pow1)),
    ("ℙ", Token::Function(Builtin::Pow)),
    ("∅", Token::Const(Const::EmptySet)),
    // ASCII and look-alikes of signs whose proper form is in the table of operators.
    ("-", Token::Op(BinOp::Sub)),
    ("*", Token::Op(BinOp::Mul)),
    ("…", Token::Op(BinOp::Interval)),
];

fn word(text: &str) -> Option<Token> {
    Some(match text {
        "or" => Token::Or,
        "not" => Token::Not,
        "UNION" => Token::BigUnion,
        "INTER" => Token::BigInter,
        "mod" => Token::Op(BinOp::Mod),
        "circ" => Token::Op(BinOp::ComposeBack),
        "oftype" => Token::Op(BinOp::OfType),
        "true" => Token::Const(Const::BTrue),
        "false" => Token::Const(Const::BFalse),
        "TRUE" => Token::Const(Const::True),
        "FALSE" => Token::Const(Const::False),
        "BOOL" => Token::Const(Const::Bool),
        "INT" => Token::Const(Const::Integer),
        "NAT" => Token::Const(Const::Natural),
        "NAT1" => Token::Const(Const::Natural1),
        "id" => Token::Const(Const::Id),
        "prj1" => Token::Const(Const::Prj1),
        "prj2" => Token::Const(Const::Prj2),
        "succ" => Token::Const(Const::Succ),
        "pred" => Token::Const(Const::Pred),
        "POW" => Token::Function(Builtin::Pow),
        "POW1" => Token::Function(Builtin::Pow1),
        "bool" => Token::Function(Builtin::Bool),
        "card" => Token::Function(Builtin::Card),
        "min" => Token::Function(Builtin::Min),
        "max" => Token::Function(Builtin::Max),
        "union" => Token::Function(Builtin::Union),
        "inter" => Token::Function(Builtin::Inter),
        "dom" => Token::Function(Builtin::Dom),
        "ran" => Token::Function(Builtin::Ran),
        "finite" => Token::Function(Builtin::Finite),
        "partition" => Token::Function(Builtin::Partition),
        _ => return None,
    })
}

fn is_start(c: char) -> bool {
    // λ is a letter to Unicode, but a sign to Event-B.
    c == '_' || (c.is_alphabetic() && !matches!(c, 'λ' | 'ℤ' | 'ℕ' | 'ℙ'))
}

fn is_part(c: char) -> bool {
    is_start(c) || c.is_alphanumeric() && !matches!(c, 'λ' | 'ℤ' | 'ℕ' | 'ℙ')
}

/// All tokens, with `End` last.
pub fn tokens(file: FileId, text: &str) -> Result<Vec<Spanned>, Diagnostic> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() || first == '\u{feff}' {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = if is_start(first) {
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let name = &rest[..length];
            match word(name) {
                Some(token) => (token, length),
                None if rest[length..].starts_with('\'') => (Token::Primed(name.into()), length + 1),
                None => (Token::Ident(name.into()), length),
            }
        } else if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            match Int::parse(&rest[..length], 10) {
                Some(value) => (Token::Int(value), length),
                None => return Err(unreadable(file, at, length)),
            }
        } else {
            match symbol(rest) {
                Some(found) => found,
                None => return Err(unreadable(file, at, first.len_utf8())),
            }
        };
        out.push(Spanned { token, span: Span::new(file, at, at + length) });
        at += length;
    }
    out.push(Spanned { token: Token::End, span: Span::new(file, text.len(), text.len()) });
    Ok(out)
}

fn unreadable(file: FileId, at: usize, length: usize) -> Diagnostic {
    Diagnostic::error(Span::new(file, at, at + length), "this is no sign of the mathematical language")
}

/// The longest sign that the text begins with.
fn symbol(rest: &str) -> Option<(Token, usize)> {
    let rows = BinOp::ALL.iter().filter_map(|op| Some((op, op.rodin()?)));
    let operators = rows.flat_map(|(op, row)| [(row.symbol, Token::Op(*op)), (row.ascii, Token::Op(*op))]);
    SYMBOLS
        .iter()
        .cloned()
        .chain(operators)
        .filter(|(spelling, _)| rest.starts_with(spelling))
        .max_by_key(|(spelling, _)| spelling.len())
        .map(|(spelling, token)| (token, spelling.len()))
}
