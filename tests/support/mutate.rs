//! Damage to texts: bytes and words are changed, lost, doubled or exchanged.

use super::rng::Rng;

/// Pieces that upset a lexer or a parser.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'''",
    "```",
    "`",
    "/*",
    "*/",
    "//",
    "/*@label x*/",
    "/*@symbolic*/",
    "$0",
    "${",
    "|",
    "||",
    ";",
    ";;",
    ",",
    ".",
    "..",
    "'",
    "~",
    "-",
    "--",
    "<--",
    "<-",
    ":=",
    "::",
    ":",
    "(:",
    "==",
    "=",
    "&",
    " or ",
    "not",
    "!x.(",
    "#",
    "%x.(",
    "λ",
    "∀",
    "⁻¹",
    "·",
    "0x",
    "1.5e",
    "1.",
    "END",
    "BEGIN",
    "WHILE",
    "INVARIANT",
    "VARIANT",
    "IF",
    "THEN",
    "ELSE",
    "CASE",
    "OF EITHER",
    "LET",
    "BE",
    "IN",
    "DEFINITIONS",
    "OPERATIONS",
    "MACHINE",
    "REFINES",
    "SETS",
    "rec(",
    "struct(a:",
    "\0",
    "\u{FEFF}",
    "\u{1D706}",
    "₀",
    "′",
    "@",
    "\\",
    "\\=",
    "#!",
    "\r",
    "ref",
    "floor",
    "left(",
    "99999999999999999999999",
    "skip",
];

/// One to four random changes.
pub fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        let (from, to) = word_at(&bytes, at);
        match rng.below(8) {
            0 if at < bytes.len() => bytes[at] = rng.next() as u8,
            1 if at < bytes.len() => {
                bytes.remove(at);
            }
            2 => {
                bytes.splice(from..to, []);
            }
            3 => {
                let word = bytes[from..to].to_vec();
                bytes.splice(to..to, [b" ".to_vec(), word].concat());
            }
            4 => {
                let (other_from, other_to) = {
                    let other = rng.below(bytes.len() + 1);
                    word_at(&bytes, other)
                };
                let word = bytes[other_from..other_to].to_vec();
                bytes.splice(from..to, word);
            }
            5 => bytes.truncate(at),
            6 => {
                let other = rng.below(bytes.len() + 1);
                let piece = bytes[at.min(other)..at.max(other)].to_vec();
                if piece.len() < 200 {
                    bytes.splice(at..at, piece);
                }
            }
            _ => {
                bytes.splice(from..from, rng.pick(PIECES).bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The word or run of symbols at a place.
fn word_at(bytes: &[u8], at: usize) -> (usize, usize) {
    let Some(&here) = bytes.get(at) else { return (bytes.len(), bytes.len()) };
    let same = |b: &u8| b.is_ascii_alphanumeric() == here.is_ascii_alphanumeric() && !b.is_ascii_whitespace();
    let from = at - bytes[..at].iter().rev().take_while(|b| same(b)).count();
    let to = at + bytes[at..].iter().take_while(|b| same(b)).count();
    (from, to.max(from))
}
