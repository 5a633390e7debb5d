//! What a step changed inside of a value: maplets of a function, elements of a set.
//!
//! In: two values as text, in the notation of B. Out: the changes in words, such as `t2: idle → reading`. Values that
//! are no listed sets have no parts. Never here: values themselves, typing.

use std::collections::HashSet;

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
    let (gone, come) = (missing(&old, &new)?, missing(&new, &old)?);
    // Where a point had one image and has another one, that is one change.
    let images = |of: &[&str], point: &str| -> Vec<String> {
        let maplets = of.iter().filter_map(|e| maplet(e));
        maplets.filter(|(x, _)| *x == point).map(|(_, y)| y.to_string()).collect()
    };
    let moved = |point: &str| match (&images(&gone, point)[..], &images(&come, point)[..]) {
        ([from], [to]) => Some(format!("{point}: {from} → {to}")),
        _ => None,
    };
    let mut changes = Vec::new();
    for (sign, e) in gone.iter().map(|e| ('−', e)).chain(come.iter().map(|e| ('+', e))) {
        match maplet(e).map(|(from, to)| (from, to, moved(from))) {
            Some((_, _, Some(change))) if sign == '−' => changes.push(change),
            Some((_, _, Some(_))) => {}
            Some((from, to, None)) => changes.push(format!("{sign} {from}|->{to}")),
            None => changes.push(format!("{sign} {e}")),
        }
    }
    (changes.len() <= MOST && changes.len() < new.len().max(old.len())).then_some(changes)
}

/// The elements of a set that another one lacks; `None` if these are more than can be told.
fn missing<'t>(set: &[&'t str], other: &[&str]) -> Option<Vec<&'t str>> {
    let other: HashSet<&str> = other.iter().copied().collect();
    let missing: Vec<&str> = set.iter().copied().filter(|e| !other.contains(e)).take(MOST + 1).collect();
    (missing.len() <= MOST).then_some(missing)
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
    fn a_point_that_gets_more_images_loses_none_of_them() {
        let before = "{(a|->1),(b|->1),(c|->1),(d|->1)}";
        let after = "{(a|->2),(a|->3),(b|->1),(c|->1),(d|->1)}";
        let told = ["− a|->1", "+ a|->2", "+ a|->3"].map(String::from).to_vec();
        assert_eq!(between(before, after), Some(told));
    }

    #[test]
    fn one_element_among_a_hundred_thousand_is_told_and_half_of_them_are_not() {
        let set = |numbers: &mut dyn Iterator<Item = u32>| {
            format!("{{{}}}", numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(","))
        };
        let all = set(&mut (0..100_000));
        assert_eq!(between(&all, &set(&mut (1..100_000))), Some(vec!["− 0".into()]));
        assert_eq!(between(&all, &set(&mut (0..50_000))), None);
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
