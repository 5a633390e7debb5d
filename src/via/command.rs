//! A command as words: quotation marks and backslashes as in a shell, and nothing else of a shell.
//!
//! Never here: running it.

/// The words of a command, or why there are none.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => {
                let next = chars.next().ok_or("a backslash at the end of the command")?;
                word.get_or_insert_default().push(next);
            }
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(format!("a quotation mark {c} has no partner")),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(inner) => word.push(inner),
                    }
                }
            }
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    if words.is_empty() { Err("the command is empty".into()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_join_words_and_may_be_escaped() {
        assert_eq!(split("a 'b c' \"d \\\" e\" f\\ g ''").unwrap(), ["a", "b c", "d \" e", "f g", ""]);
        assert!(split("  ").is_err());
        assert!(split("'a").is_err());
        assert!(split("a\\").is_err());
    }
}
