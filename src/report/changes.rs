//! What a step changed inside of a value: maplets of a function, elements of a set.
//!
//! In: two values as text, in the notation of B. Out: the changes in words, such as `t2: idle → reading`. Values that
//! are no listed sets have no parts. Never here: values themselves, typing.

/// More changes than this are told by the whole value.
const MOST: usize = 4;

/// The changes from one value to the next, if both are listed sets or functions and few parts differ.
pub fn between(before: &str, after: &str) -> Option<Vec<String>> {
    if let (Some(old), Some(new)) = (items(before), items(after)) {
        return replaced(&old, &new);
    }
    let (old, new) = (elements(before)?, elements(after)?);
    // A value with one part is as short as its change.
    if old.len().max(new.len()) < 2 {
        return None;
    }
    let gone: Vec<&&str> = old.iter().filter(|e| !new.contains(e)).collect();
    let come: Vec<&&str> = new.iter().filter(|e| !old.contains(e)).collect();
    let mut changes = Vec::new();
    for e in &gone {
        let Some((from, to)) = maplet(e) else {
            changes.push(format!("− {e}"));
            continue;
        };
        let images: Vec<&str> =
            come.iter().filter_map(|f| maplet(f)).filter(|(x, _)| *x == from).map(|(_, y)| y).collect();
        match images[..] {
            [image] => changes.push(format!("{from}: {to} → {image}")),
            _ => changes.push(format!("− {from}|->{to}")),
        }
    }
    for e in &come {
        match maplet(e) {
            Some((from, to)) => {
                let known = gone.iter().filter_map(|f| maplet(f)).any(|(x, _)| x == from);
                if !known {
                    changes.push(format!("+ {from}|->{to}"));
                }
            }
            None => changes.push(format!("+ {e}")),
        }
    }
    (changes.len() <= MOST && changes.len() < new.len().max(old.len())).then_some(changes)
}

/// The items of a sequence.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    Some(split(text.strip_prefix('[')?.strip_suffix(']')?, ","))
}

/// The items that differ in two sequences of one length.
fn replaced(old: &[&str], new: &[&str]) -> Option<Vec<String>> {
    if old.len() != new.len() || old.len() < 2 {
        return None;
    }
    let differ = old.iter().zip(new).enumerate().filter(|(_, (x, y))| x != y);
    let changes: Vec<String> = differ.map(|(i, (x, y))| format!("{}: {x} → {y}", i + 1)).collect();
    (changes.len() <= MOST && changes.len() < new.len()).then_some(changes)
}

/// The elements of a listed set.
pub(super) fn elements(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    if inner.contains("/*@symbolic*/") {
        return None;
    }
    Some(if inner.is_empty() { Vec::new() } else { split(inner, ",") })
}

/// Both sides of `(x|->y)`.
fn maplet(element: &str) -> Option<(&str, &str)> {
    let inner = element.strip_prefix('(')?.strip_suffix(')')?;
    match split(inner, "|->")[..] {
        [x, y] => Some((x, y)),
        _ => None,
    }
}

/// The parts of a text between separators that stand in no brackets and no string.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut depth, mut quoted, mut escaped, mut start) = (0usize, false, false, 0);
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= start && text[at..].starts_with(separator) => {
                parts.push(&text[start..at]);
                start = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn a_changed_image_is_told_by_its_point() {
        let before = "{(t1|->idle),(t2|->idle),(t3|->writing)}";
        let after = "{(t1|->idle),(t2|->reading),(t3|->writing)}";
        assert_eq!(between(before, after), Some(vec!["t2: idle → reading".to_string()]));
    }

    #[test]
    fn elements_that_come_and_go_are_told_with_a_sign() {
        assert_eq!(between("{1,2,3}", "{1,3,4}"), Some(vec!["− 2".into(), "+ 4".into()]));
        assert_eq!(
            between("{((a|->b)|->{1,2}),(c|->d)}", "{(c|->d)}"),
            Some(vec!["− (a|->b)|->{1,2}".into()])
        );
    }

    #[test]
    fn separators_inside_of_strings_and_brackets_separate_nothing() {
        assert_eq!(between("{\"a,b\",\"c\"}", "{\"a,b\"}"), Some(vec!["− \"c\"".into()]));
    }

    #[test]
    fn items_of_a_sequence_are_told_by_their_index() {
        assert_eq!(between("[a,b,c]", "[a,d,c]"), Some(vec!["2: b → d".into()]));
        assert_eq!(between("[a,b]", "[a,b,c]"), None);
    }

    #[test]
    fn numbers_and_small_values_have_no_parts() {
        assert_eq!(between("1", "2"), None);
        assert_eq!(between("{1}", "{2}"), None);
    }
}
