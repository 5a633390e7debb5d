//! Refutations: whether a CNF has no model, by a proof in the format LRAT.
//!
//! In: the text of a CNF in DIMACS and the text of a proof. Out: how many lines were checked, or the first that is wrong.
//! A lemma counts if the clauses that its line names, taken in that order, each leave one literal open after the lemma was
//! negated, and the last one none; the proof ends with the empty clause. Lemmas by RAT are refused. Never here: searching.

use std::collections::HashMap;

/// A text may speak of so many variables, or of as many as it has bytes if these are more.
const FEW_VARIABLES: usize = 1 << 20;

/// Clauses by their numbers, and the literals that are assumed at the moment.
struct Checker {
    clauses: HashMap<u64, Box<[i32]>>,
    /// By variable: the round in which the variable was set, and its value.
    assigned: Vec<(u64, bool)>,
    round: u64,
    /// How many variables there are.
    variables: u64,
}

/// Checks a refutation and gives the number of its lemmas.
pub fn check(cnf: &str, proof: &str) -> Result<usize, String> {
    let mut checker = Checker { clauses: HashMap::new(), assigned: Vec::new(), round: 0, variables: 0 };
    let mut last = checker.read(cnf)?;
    let (mut lemmas, mut is_refuted) = (0, false);
    for (index, line) in proof.lines().enumerate() {
        let at = |why: String| format!("line {}: {why}", index + 1);
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next().filter(|w| *w != "c") else { continue };
        if is_refuted {
            return Err(at("there is a line behind the empty clause".into()));
        }
        let number: u64 = first.parse().map_err(|_| at(format!("`{first}` is no number")))?;
        let rest: Vec<&str> = words.collect();
        if rest.first() == Some(&"d") {
            checker.delete(&rest[1..]).map_err(at)?;
            continue;
        }
        if number <= last {
            return Err(at("the numbers of lemmas do not rise".into()));
        }
        let (clause, hints) = parts(&rest).map_err(at)?;
        checker.known(&clause).map_err(at)?;
        checker.follows(&clause, &hints).map_err(at)?;
        lemmas += 1;
        is_refuted = clause.is_empty();
        checker.clauses.insert(number, clause.into());
        last = number;
    }
    if is_refuted { Ok(lemmas) } else { Err("the empty clause is not derived".into()) }
}

/// The literals of a lemma and the clauses that it follows from, each list with its closing 0.
fn parts(words: &[&str]) -> Result<(Vec<i32>, Vec<u64>), String> {
    let end = words.iter().position(|w| *w == "0").ok_or("the clause has no end")?;
    let (last, hints) = words[end + 1..].split_last().ok_or("there are no hints")?;
    if *last != "0" {
        return Err("the hints have no end".into());
    }
    let clause = words[..end].iter().map(|w| literal(w)).collect::<Result<_, _>>()?;
    let hint = |w: &&str| w.parse::<u64>().map_err(|_| format!("`{w}` names no clause"));
    Ok((clause, hints.iter().map(hint).collect::<Result<_, _>>()?))
}

fn literal(word: &str) -> Result<i32, String> {
    let number: i64 = word.parse().map_err(|_| format!("`{word}` is no literal"))?;
    match i32::try_from(number) {
        Ok(small) if number != 0 && small != i32::MIN => Ok(small),
        _ => Err(format!("`{word}` is no literal")),
    }
}

impl Checker {
    /// Reads the clauses; they have the numbers 1, 2, … The answer is the last number.
    fn read(&mut self, text: &str) -> Result<u64, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('c'));
        let head: Vec<&str> = lines.next().unwrap_or("").split_ascii_whitespace().collect();
        let ["p", "cnf", variables, count] = head[..] else { return Err("the CNF has no header".into()) };
        let number = |w: &str| w.parse::<u64>().map_err(|_| format!("the header of the CNF has `{w}`"));
        let count = number(count)?;
        self.variables = number(variables)?;
        if self.variables > text.len().max(FEW_VARIABLES) as u64 {
            return Err("the CNF counts more variables than it can have".into());
        }
        let (mut clause, mut last) = (Vec::new(), 0);
        for word in lines.flat_map(str::split_ascii_whitespace) {
            if word == "0" {
                self.known(&clause)?;
                last += 1;
                self.clauses.insert(last, std::mem::take(&mut clause).into());
                continue;
            }
            clause.push(literal(word)?);
        }
        match clause.is_empty() && last == count {
            true => Ok(last),
            false => Err("the header of the CNF counts other clauses".into()),
        }
    }

    /// All literals are of variables that there are.
    fn known(&self, clause: &[i32]) -> Result<(), String> {
        match clause.iter().find(|lit| u64::from(lit.unsigned_abs()) > self.variables) {
            Some(lit) => Err(format!("there is no variable {lit}")),
            None => Ok(()),
        }
    }

    fn delete(&mut self, words: &[&str]) -> Result<(), String> {
        for word in words.iter().filter(|w| **w != "0") {
            let number: u64 = word.parse().map_err(|_| format!("`{word}` names no clause"))?;
            self.clauses.remove(&number).ok_or(format!("clause {number} is deleted and is not there"))?;
        }
        Ok(())
    }

    fn value(&self, lit: i32) -> Option<bool> {
        let (round, value) = *self.assigned.get(lit.unsigned_abs() as usize)?;
        (round == self.round).then_some(value == (lit > 0))
    }

    fn set(&mut self, lit: i32) {
        let variable = lit.unsigned_abs() as usize;
        if self.assigned.len() <= variable {
            self.assigned.resize(variable + 1, (0, false));
        }
        self.assigned[variable] = (self.round, lit > 0);
    }

    /// Whether the lemma follows from the clauses by unit propagation in the given order.
    fn follows(&mut self, lemma: &[i32], hints: &[u64]) -> Result<(), String> {
        self.round += 1;
        for lit in lemma {
            if self.value(*lit) == Some(true) {
                return Err("the lemma has a literal and its negation".into());
            }
            self.set(-lit);
        }
        for (i, hint) in hints.iter().enumerate() {
            let clause = self.clauses.get(hint).ok_or(format!("clause {hint} is not there"))?;
            let mut open = None;
            for lit in clause {
                match self.value(*lit) {
                    Some(false) => {}
                    Some(true) => return Err(format!("clause {hint} holds already")),
                    None if open.is_none_or(|other| other == *lit) => open = Some(*lit),
                    None => return Err(format!("clause {hint} leaves two literals open")),
                }
            }
            match open {
                Some(lit) => self.set(lit),
                None if i + 1 == hints.len() => return Ok(()),
                None => return Err(format!("there are hints behind the contradiction of clause {hint}")),
            }
        }
        Err("the hints lead to no contradiction".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CNF: &str = "c all four clauses of two variables\np cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";
    const PROOF: &str = "5 1 0 1 2 0\n6 d 1 2 0\n7 0 5 3 4 0\n";

    #[test]
    fn a_refutation_by_hand_is_accepted() {
        assert_eq!(check(CNF, PROOF), Ok(2));
    }

    #[test]
    fn every_change_of_a_number_in_a_short_refutation_is_refused_or_harmless() {
        // Harmless is what still is a refutation by the rules, such as a greater number of a lemma; nothing may panic.
        let mut refused = 0;
        for text in [CNF, PROOF] {
            for (i, c) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
                for other in "0123456789".chars().filter(|o| *o != c) {
                    let mut changed = text.to_string();
                    changed.replace_range(i..=i, &other.to_string());
                    let answer = if text == CNF { check(&changed, PROOF) } else { check(CNF, &changed) };
                    refused += usize::from(answer.is_err());
                }
            }
        }
        assert!(refused > 200, "{refused}");
    }

    #[test]
    fn clauses_with_a_model_have_no_refutation() {
        let one_less = "p cnf 2 3\n1 2 0\n1 -2 0\n-1 2 0\n";
        for proof in ["4 0 1 2 3 0\n", "4 1 0 1 2 0\n5 0 4 3 0\n", "4 2 0 1 3 0\n5 0 4 2 0\n", "", "4 0 0\n"]
        {
            assert!(check(one_less, proof).is_err(), "{proof}");
        }
    }

    #[test]
    fn hostile_texts_are_refused() {
        for cnf in [
            "",
            "p cnf",
            "p cnf 99999999999999999999 1\n1 0\n",
            "p cnf 1 4000000000\n1 0\n",
            "p cnf 1 1\n2 0\n",
            "p cnf 2000000000 1\n2000000000 0\n",
        ] {
            assert!(check(cnf, PROOF).is_err(), "{cnf}");
        }
        for proof in [
            "5 99999999999 0 1 0\n",
            "5 1 0 1",
            "d",
            "5",
            "99999999999999999999 0 1 0\n",
            "5 -2147483648 0 1 0",
            "5 3 0 1 2 0\n",
            "5 1 0 1 2 0\n7 0 5 3 4 0\n8 2 0 1 3 0\n",
        ] {
            assert!(check(CNF, proof).is_err(), "{proof}");
        }
    }
}
