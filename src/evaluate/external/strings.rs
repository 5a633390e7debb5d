//! Functions of LibraryStrings: texts to texts, numbers and sequences.
//!
//! In: a name and values. Out: the value, nothing if the name is none of this file, or why there is none.
//! Texts are sequences of Unicode characters. Never here: the spelling of values, which needs the machine.

use super::Answer;
use super::typed_text::integer;
use crate::eval::parse_real;
use bombus_base::Int;
use bombus_lang::value::Value;
use dashu_int::IBig;
use dashu_ratio::RBig;

/// Texts that a function makes by repeating may not be longer.
const MAX_PADDING: usize = 100_000;

pub(super) fn value(name: &str, values: &[Value]) -> Option<Answer> {
    let text = |s: String| Some(Answer::Value(Value::str(&s)));
    let number = |n: usize| Some(Answer::Value(Value::Int(Int::from(n))));
    let sequence = |items: Vec<Value>| Some(Answer::Value(Value::seq(items)));
    match (name, values) {
        ("STRING_APPEND" | "STRING_CONC2", [Value::Str(a), Value::Str(b)]) => text(format!("{a}{b}")),
        ("STRING_LENGTH", [Value::Str(s)]) => number(s.chars().count()),
        ("STRING_CHARS", [Value::Str(s)]) => {
            sequence(s.chars().map(|c| Value::str(&c.to_string())).collect())
        }
        ("STRING_CODES", [Value::Str(s)]) => sequence(s.chars().map(|c| Value::int(c as i64)).collect()),
        ("CODES_TO_STRING", [codes]) => {
            let letters: Option<Option<String>> = codes.as_seq().map(|items| {
                items
                    .into_iter()
                    .map(|code| u32::try_from(code.as_int()?.small()?).ok().and_then(char::from_u32))
                    .collect()
            });
            match letters {
                Some(Some(letters)) => text(letters),
                Some(None) => Some(Answer::undefined("a number is not the code of a character")),
                None => Some(Answer::undefined("not a sequence")),
            }
        }
        ("STRING_SPLIT", [Value::Str(s), Value::Str(separator)]) if separator.is_empty() => {
            sequence(vec![Value::Str(s.clone())])
        }
        ("STRING_SPLIT", [Value::Str(s), Value::Str(separator)]) => {
            sequence(s.split(&**separator).map(Value::str).collect())
        }
        ("STRING_JOIN", [parts, Value::Str(separator)]) => match strings(parts) {
            Some(parts) => text(parts.join(separator)),
            None => Some(Answer::undefined("not a sequence")),
        },
        ("STRING_CONC", [parts]) => match strings(parts) {
            Some(parts) => text(parts.concat()),
            None => Some(Answer::undefined("not a sequence")),
        },
        ("STRING_TO_UPPER", [Value::Str(s), ..]) => text(s.to_uppercase()),
        ("STRING_TO_LOWER", [Value::Str(s), ..]) => text(s.to_lowercase()),
        ("STRING_REV", [Value::Str(s)]) => text(s.chars().rev().collect()),
        ("STRING_REPLACE", [Value::Str(s), Value::Str(part), Value::Str(other)]) => {
            text(if part.is_empty() { s.to_string() } else { s.replace(&**part, other) })
        }
        ("SUB_STRING", [Value::Str(s), Value::Int(from), Value::Int(length)]) => {
            let from = from.small().unwrap_or(0).max(1) as usize;
            let length = length.small().unwrap_or(0).max(0) as usize;
            text(s.chars().skip(from - 1).take(length).collect())
        }
        ("STRING_PADLEFT", [Value::Str(s), Value::Int(length), Value::Str(fill)]) => {
            let length = length.small().unwrap_or(0).max(0) as usize;
            let missing = length.saturating_sub(s.chars().count());
            if missing > MAX_PADDING || fill.chars().count() != 1 {
                return Some(Answer::undefined("too long, or not filled by one character"));
            }
            text(format!("{}{s}", fill.repeat(missing)))
        }
        ("STRING_IS_INT", [Value::Str(s)]) => truth(integer(s).is_some()),
        ("STRING_IS_NUMBER" | "STRING_IS_DECIMAL", [Value::Str(s)]) => truth(decimal(s).is_some()),
        ("STRING_IS_ALPHANUMERIC", [Value::Str(s)]) => {
            truth(!s.is_empty() && s.chars().all(char::is_alphanumeric))
        }
        ("STRING_CONTAINS_STRING", [Value::Str(s), Value::Str(part)]) => truth(s.contains(&**part)),
        ("STRING_EQUAL_CASE_INSENSITIVE", [Value::Str(a), Value::Str(b)]) => {
            truth(a.to_lowercase() == b.to_lowercase())
        }
        _ => conversion(name, values),
    }
}

/// Texts that spell numbers, and back.
fn conversion(name: &str, values: &[Value]) -> Option<Answer> {
    let text = |s: String| Some(Answer::Value(Value::str(&s)));
    match (name, values) {
        ("STRING_TO_INT", [Value::Str(s)]) => Some(match integer(s) {
            Some(n) => Answer::Value(Value::Int(n)),
            None => Answer::undefined("not a number"),
        }),
        ("STRING_TO_REAL", [Value::Str(s)]) => Some(match decimal(s) {
            Some(r) => Answer::Value(Value::real(r)),
            None => Answer::undefined("not a number"),
        }),
        ("DEC_STRING_TO_INT", [Value::Str(s), Value::Int(places)]) => {
            let places = places.small().unwrap_or(0).clamp(-10_000, 10_000);
            let Some(number) = decimal(s) else { return Some(Answer::undefined("not a number")) };
            let scale = RBig::from(IBig::from(10).pow(places.unsigned_abs() as usize));
            let scaled = if places >= 0 { number * scale } else { number / scale };
            let half = RBig::from_parts(1.into(), 2u8.into());
            // Halves are rounded away from zero.
            let negative = scaled < RBig::from(IBig::from(0));
            let rounded = if negative { -(half - scaled).floor() } else { (scaled + half).floor() };
            Some(Answer::Value(Value::Int(Int::from_big(rounded))))
        }
        ("INT_TO_STRING", [Value::Int(n)]) => text(n.to_string()),
        ("INT_TO_HEX_STRING", [Value::Int(n)]) => text(n.to_big().in_radix(16).to_string()),
        ("INT_TO_DEC_STRING", [Value::Int(n), Value::Int(places)]) => {
            let places = places.small().unwrap_or(0).clamp(-1000, 1000);
            if places <= 0 {
                let zeros = if n.is_zero() { 0 } else { places.unsigned_abs() as usize };
                return text(format!("{n}{}", "0".repeat(zeros)));
            }
            let places = places as usize;
            let digits = if n.is_negative() { n.neg() } else { n.clone() }.to_string();
            let digits = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            text(format!("{}{whole}.{fraction}", if n.is_negative() { "-" } else { "" }))
        }
        ("BOOL_STR" | "BOOL_TO_STRING", [Value::Bool(b)]) => {
            text(if *b { "TRUE" } else { "FALSE" }.to_string())
        }
        _ => None,
    }
}

/// `~w` takes the next of the spelled values, `~i` leaves it out, `~n` ends the line and `~~` is a tilde.
pub(super) fn formatted(format: &str, items: impl IntoIterator<Item = String>) -> String {
    let mut items = items.into_iter();
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('~') {
        out.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let digits = code.len() - code.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let letter = code[digits..].chars().next();
        match letter {
            Some('w' | 'p') => out.push_str(&items.next().unwrap_or_default()),
            Some('i') => drop(items.next()),
            Some('n') => out.push_str(&"\n".repeat(code[..digits].parse().unwrap_or(1usize).min(100))),
            Some('N') if !out.is_empty() && !out.ends_with('\n') => out.push('\n'),
            Some('N') => {}
            Some('~') => out.push('~'),
            _ => {
                out.push('~');
                rest = code;
                continue;
            }
        }
        rest = &code[digits + letter.map_or(0, char::len_utf8)..];
    }
    out.push_str(rest);
    out
}

fn truth(b: bool) -> Option<Answer> {
    Some(Answer::Value(Value::Bool(b)))
}

fn decimal(s: &str) -> Option<RBig> {
    parse_real(s.trim())
}

fn strings(parts: &Value) -> Option<Vec<String>> {
    parts.as_seq()?.into_iter().map(|part| part.as_str().map(|s| s.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, values: &[Value]) -> Value {
        match value(name, values) {
            Some(Answer::Value(value)) => value,
            _ => panic!("{name} has no value"),
        }
    }

    #[test]
    fn blanks_around_a_sign_belong_to_a_number() {
        assert_eq!(of("STRING_TO_INT", &[Value::str(" - 00001")]), Value::int(-1));
        assert_eq!(of("STRING_IS_INT", &[Value::str("1.0")]), Value::Bool(false));
    }

    #[test]
    fn decimals_are_rounded_away_from_zero_at_halves() {
        let of = |s: &str, places| of("DEC_STRING_TO_INT", &[Value::str(s), Value::int(places)]);
        assert_eq!(of("1024.234", 2), Value::int(102_423));
        assert_eq!(of("1025", -1), Value::int(103));
        assert_eq!(of(" -1025", -1), Value::int(-103));
    }

    #[test]
    fn integers_are_spelled_with_a_point_or_with_zeros() {
        let of = |n, places| of("INT_TO_DEC_STRING", &[Value::int(n), Value::int(places)]);
        assert_eq!(of(-10, 3), Value::str("-0.010"));
        assert_eq!(of(1204, -2), Value::str("120400"));
        assert_eq!(super::tests::of("INT_TO_HEX_STRING", &[Value::int(-254)]), Value::str("-fe"));
    }

    #[test]
    fn a_format_takes_its_values_in_turn() {
        let spelled = formatted("~w and ~i~w~2n~~~w ~x", ["a", "b", "c", "d"].map(String::from));
        assert_eq!(spelled, "a and c\n\n~d ~x");
    }
}
