//! A checker of LRAT proofs that shares nothing with what it checks.
//!
//! In: the text of a CNF in DIMACS and the text of a proof. Out: accepted, or the line that is wrong. Every lemma must be
//! refuted by the clauses that its line names, in that order, each of which leaves exactly one literal open, or none for
//! the last one; and the empty clause must be among the lemmas. Lemmas that need a clause with a literal of their own (RAT)
//! are not accepted. Never here: searching.

use std::collections::{BTreeMap, BTreeSet};

/// Accepts the proof, or says what is wrong with it.
pub fn check(cnf: &str, proof: &str) -> Result<(), String> {
    let mut clauses = read_cnf(cnf)?;
    let mut last = clauses.keys().last().copied().unwrap_or(0);
    for (index, line) in proof.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", index + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words[0] == "c" {
            continue;
        }
        let number: i64 = words[0].parse().map_err(|_| wrong("no number"))?;
        if words.get(1) == Some(&"d") {
            for word in &words[2..] {
                let gone: i64 = word.parse().map_err(|_| wrong("no number"))?;
                if gone != 0 && clauses.remove(&gone).is_none() {
                    return Err(wrong("deletes what is not there"));
                }
            }
            continue;
        }
        let numbers: Vec<i64> = words[1..]
            .iter()
            .map(|word| word.parse().map_err(|_| wrong("no number")))
            .collect::<Result<_, _>>()?;
        let end = numbers.iter().position(|n| *n == 0).ok_or_else(|| wrong("a clause without end"))?;
        let (clause, hints) = (&numbers[..end], &numbers[end + 1..]);
        let Some((0, hints)) = hints.split_last() else { return Err(wrong("hints without end")) };
        if number <= last {
            return Err(wrong("numbers do not rise"));
        }
        refute(clause, hints, &clauses).map_err(|what| wrong(&what))?;
        if clause.is_empty() {
            return Ok(());
        }
        clauses.insert(number, clause.to_vec());
        last = number;
    }
    Err("the empty clause is not derived".into())
}

fn read_cnf(text: &str) -> Result<BTreeMap<i64, Vec<i64>>, String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('c'));
    let header: Vec<&str> = lines.next().unwrap_or("").split_whitespace().collect();
    let ["p", "cnf", variables, count] = header[..] else { return Err("no header of a CNF".into()) };
    let variables: i64 = variables.parse().map_err(|_| "no number of variables")?;
    let count: i64 = count.parse().map_err(|_| "no number of clauses")?;
    let mut clauses = BTreeMap::new();
    let mut clause = Vec::new();
    for word in lines.flat_map(str::split_whitespace) {
        let literal: i64 = word.parse().map_err(|_| format!("no literal: {word}"))?;
        if literal == 0 {
            clauses.insert(clauses.len() as i64 + 1, std::mem::take(&mut clause));
        } else if literal.abs() > variables {
            return Err(format!("no variable: {literal}"));
        } else {
            clause.push(literal);
        }
    }
    if !clause.is_empty() || clauses.len() as i64 != count {
        return Err("the header counts other clauses".into());
    }
    Ok(clauses)
}

/// Propagates the hints from the negation of the clause to a contradiction.
fn refute(clause: &[i64], hints: &[i64], clauses: &BTreeMap<i64, Vec<i64>>) -> Result<(), String> {
    let mut holds: BTreeSet<i64> = clause.iter().map(|literal| -literal).collect();
    if clause.iter().any(|literal| holds.contains(literal)) {
        return Err("a lemma with a literal and its negation".into());
    }
    for (at, hint) in hints.iter().enumerate() {
        let named = clauses.get(hint).ok_or_else(|| format!("names clause {hint}, which is not there"))?;
        if named.iter().any(|literal| holds.contains(literal)) {
            return Err(format!("clause {hint} holds already"));
        }
        let open: BTreeSet<i64> =
            named.iter().copied().filter(|literal| !holds.contains(&-literal)).collect();
        match open.len() {
            0 if at + 1 == hints.len() => return Ok(()),
            0 => return Err(format!("hints after the contradiction of clause {hint}")),
            1 => holds.extend(open),
            _ => return Err(format!("clause {hint} is not unit")),
        }
    }
    Err("no contradiction".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CNF: &str = "p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";

    #[test]
    fn a_proof_by_hand_is_accepted() {
        assert_eq!(check(CNF, "5 1 0 1 2 0\n6 0 5 3 4 0\n"), Ok(()));
        assert_eq!(check(CNF, "5 1 0 1 2 0\n5 d 1 2 0\n6 0 5 3 4 0\n"), Ok(()));
    }

    #[test]
    fn a_proof_is_rejected_for_each_kind_of_fault() {
        let faults = [
            ("", "nothing derived"),
            ("5 1 0 1 2 0\n", "no empty clause"),
            ("5 0 1 2 0\n", "a hint that is not unit"),
            ("5 1 0 1 9 0\n", "a hint that is not there"),
            ("5 1 0 1 2 0\n6 d 5 0\n7 0 5 3 4 0\n", "a hint that was deleted"),
            ("5 1 0 1 2 0\n5 0 5 3 4 0\n", "a number twice"),
            ("5 1 0 1 2 3 0\n6 0 5 3 4 0\n", "hints after the contradiction"),
            ("5 1 0 1 2\n", "no end"),
            ("5 2 -2 0 1 0\n", "a tautology"),
        ];
        for (proof, fault) in faults {
            assert!(check(CNF, proof).is_err(), "{fault}");
        }
        assert!(check("p cnf 2 5\n1 2 0\n", "5 0 1 0\n").is_err(), "a header that lies");
        assert!(check("1 2 0\n", "5 0 1 0\n").is_err(), "no header");
    }
}
