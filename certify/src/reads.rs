//! Which variables a piece of the machine can depend on.
//!
//! In: the text form of a tree. Out: the variables whose names occur in it, or in an operation whose name occurs in it.
//! A name that is bound further inside counts too, so the answer is never too small. A variable that is only
//! assigned as a whole, `(to x ())`, is not read.
//! Never here: evaluation.

use bombus_oracle::text::Core;
use bombus_oracle::tree::{Machine, UnOp};
use std::collections::BTreeSet;

/// The positions of the variables that a text may read, ascending.
pub fn variables(machine: &Machine, text: &str) -> Vec<usize> {
    let mut names = names_of(machine, text);
    let mut seen = BTreeSet::new();
    while let Some(op) =
        machine.operations.iter().find(|o| names.contains(&*o.name) && !seen.contains(&o.name))
    {
        seen.insert(op.name.clone());
        names.extend(names_of(machine, &op.body.write()));
    }
    let all = machine.variables.iter().enumerate();
    all.filter(|(_, (n, _))| names.contains(&**n)).map(|(i, _)| i).collect()
}

/// The elements of given sets that stand in a text as `(elem SET NUMBER NAME)`.
pub fn elements(text: &str) -> BTreeSet<(String, u32)> {
    let tokens = tokens(text);
    let word = |i: usize| tokens.get(i).and_then(|t| t.as_deref());
    (0..tokens.len())
        .filter(|i| word(*i) == Some("elem"))
        .filter_map(|i| Some((word(i + 1)?.to_string(), word(i + 2)?.parse().ok()?)))
        .collect()
}

/// Whether a text may choose the least element of a set.
pub fn chooses(text: &str) -> bool {
    tokens(text).iter().flatten().any(|word| word == UnOp::Choose.word())
}

/// All words, names and texts of a text.
pub fn names(text: &str) -> BTreeSet<String> {
    tokens(text).into_iter().flatten().collect()
}

fn names_of(machine: &Machine, text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    // Where a variable is called `to`, the form `(to x ())` is not to be told from a list.
    let plain = machine.variables.iter().all(|(n, _)| &**n != "to");
    let brackets: Vec<Option<bool>> = brackets(text);
    let assigned = |i: usize| {
        plain
            && i >= 2
            && tokens[i - 1].as_deref() == Some("to")
            && brackets[i - 2] == Some(true)
            && brackets.get(i + 1) == Some(&Some(true))
            && brackets.get(i + 2) == Some(&Some(false))
    };
    (0..tokens.len()).filter(|i| !assigned(*i)).filter_map(|i| tokens[i].clone()).collect()
}

/// For each token whether it opens or closes a list; nothing for a name.
fn brackets(text: &str) -> Vec<Option<bool>> {
    each_token(text).into_iter().map(|t| t.err()).collect()
}

/// The names and words of a text, in order; nothing for a bracket.
fn tokens(text: &str) -> Vec<Option<String>> {
    each_token(text).into_iter().map(|t| t.ok()).collect()
}

/// Words, names and strings as they mean, or whether a bracket opens.
fn each_token(text: &str) -> Vec<Result<String, bool>> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '(' | ')' => out.push(Err(c == '(')),
            '"' | '`' => {
                let mut name = String::new();
                while let Some(d) = chars.next().filter(|d| *d != c) {
                    let plain = if d == '\\' {
                        chars.next().map(|e| if e == 'n' { '\n' } else { e })
                    } else {
                        Some(d)
                    };
                    name.extend(plain);
                }
                out.push(Ok(name));
            }
            c if c.is_whitespace() => {}
            c => {
                let mut word = c.to_string();
                while let Some(d) = chars.next_if(|d| !d.is_whitespace() && !"()\"`".contains(*d)) {
                    word.push(d);
                }
                out.push(Ok(word));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_oracle::text::read;

    #[test]
    fn an_event_reads_what_it_names_but_not_what_it_only_assigns() {
        let text =
            "(machine M (variables ((x INTEGER) (y INTEGER) (f (pow (prod INTEGER INTEGER))) (z INTEGER)))
          (init skip) (operations ((op e TRUE () () (:= (((to x ()) y) ((to f ((index 1))) 2))))
          (op g TRUE () () (call e () ())) (op h TRUE () () (:= (((to z ()) (+ z 1))))))))";
        let machine: Machine = read(text).expect("a machine");
        let reads = |n: usize| variables(&machine, &machine.operations[n].body.write());
        assert_eq!((reads(0), reads(1), reads(2)), (vec![1, 2], vec![1, 2], vec![3]));
    }

    #[test]
    fn elements_that_a_text_names_are_found_in_quoted_sets_too() {
        let found = elements("(= x ({} ((elem S 1 a) (elem `T U` 0 b))))");
        assert_eq!(found, [("S".to_string(), 1), ("T U".to_string(), 0)].into());
    }
}
