//! Proofs that clauses have no model: from the log of a solver to a CNF with an LRAT proof.
//!
//! In: the clauses that were given to a solver and those that it learnt, in order. Out: the CNF and, for each lemma that
//! the contradiction needs, the clauses that refute its negation by unit propagation, in order. A lemma that does not
//! follow by unit propagation makes the whole log worthless: there is no proof then. Never here: checking a proof, which
//! `lrat_check` does without sharing anything with this file.

use crate::sat::{Cnf, Lit, Logged};
use bombus_base::hash::HashMap;
use std::fmt::Write;

/// A CNF and the text of its refutation.
#[derive(Clone, Debug)]
pub struct Proof {
    pub cnf: Cnf,
    pub lrat: String,
    /// Lines of the refutation.
    pub lemmas: usize,
}

/// The refutation of all clauses of the log together, if the log holds one.
pub fn prove(variables: u32, log: &[Logged]) -> Option<Proof> {
    let inputs: Vec<Vec<Lit>> = log
        .iter()
        .filter_map(|entry| match entry {
            Logged::Input(clause) => Some(clause.clone()),
            _ => None,
        })
        .collect();
    let mut replay = Replay::new(variables, inputs.len() as u64);
    let mut next_input = 0;
    for entry in log {
        match entry {
            Logged::Input(clause) => {
                next_input += 1;
                replay.add(clause, next_input);
            }
            Logged::Learnt(clause) => replay.derive(clause)?,
            Logged::Deleted(clause) => replay.delete(clause),
        }
        if replay.refuted.is_some() {
            break;
        }
    }
    let lemmas = replay.needed_lemmas()?;
    let mut lrat = String::new();
    for lemma in &lemmas {
        lemma.write(&mut lrat);
    }
    Some(Proof { cnf: Cnf { variables, clauses: inputs }, lrat, lemmas: lemmas.len() })
}

/// A derived clause with the numbers of the clauses that refute its negation.
struct Lemma {
    number: u64,
    clause: Vec<Lit>,
    hints: Vec<u64>,
}

impl Lemma {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "{}", self.number);
        for lit in &self.clause {
            let _ = write!(text, " {}", lit.dimacs());
        }
        text.push_str(" 0");
        for hint in &self.hints {
            let _ = write!(text, " {hint}");
        }
        text.push_str(" 0\n");
    }
}

struct Clause {
    number: u64,
    /// The first two are watched.
    literals: Vec<Lit>,
    alive: bool,
}

/// Why a literal holds.
#[derive(Clone, Copy)]
enum Reason {
    /// The negation of a literal of the lemma that is being derived.
    Assumed,
    /// The clause at this place became unit.
    Clause(usize),
    /// A unit clause of this number, for good.
    Unit(u64),
}

/// Unit propagation over all clauses so far. The trail holds only literals that hold for good, but while a lemma is
/// derived.
struct Replay {
    clauses: Vec<Clause>,
    /// For each literal, the places of clauses that watch it.
    watches: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    reasons: Vec<Reason>,
    trail: Vec<Lit>,
    done: usize,
    lemmas: Vec<Lemma>,
    inputs: u64,
    last_number: u64,
    places: HashMap<Vec<Lit>, Vec<usize>>,
    /// The number of the empty clause.
    refuted: Option<u64>,
    marked: Vec<bool>,
}

impl Replay {
    fn new(variables: u32, inputs: u64) -> Replay {
        let count = variables as usize;
        Replay {
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * count],
            values: vec![None; count],
            reasons: vec![Reason::Assumed; count],
            trail: Vec::new(),
            done: 0,
            lemmas: Vec::new(),
            inputs,
            last_number: inputs,
            places: HashMap::default(),
            refuted: None,
            marked: vec![false; count],
        }
    }

    fn value(&self, lit: Lit) -> Option<bool> {
        self.values[lit.variable() as usize].map(|value| value != lit.negated())
    }

    fn assign(&mut self, lit: Lit, reason: Reason) {
        self.values[lit.variable() as usize] = Some(!lit.negated());
        self.reasons[lit.variable() as usize] = reason;
        self.trail.push(lit);
    }

    fn lemma(&mut self, clause: Vec<Lit>, hints: Vec<u64>) -> u64 {
        self.last_number += 1;
        self.lemmas.push(Lemma { number: self.last_number, clause, hints });
        self.last_number
    }

    /// Takes a clause that holds: watches two of its open literals, or draws the conclusion if there are not two.
    fn add(&mut self, clause: &[Lit], number: u64) {
        let mut literals = clause.to_vec();
        literals.sort_unstable();
        literals.dedup();
        let tautology = literals.windows(2).any(|w| w[0] == !w[1]);
        if tautology || literals.iter().any(|l| self.value(*l) == Some(true)) {
            return;
        }
        let key = literals.clone();
        literals.sort_by_key(|l| self.value(*l).is_some());
        let open = literals.iter().filter(|l| self.value(**l).is_none()).count();
        match open {
            0 => self.refute(&literals, number),
            1 => {
                self.conclude(literals[0], &literals, number);
                self.propagate_for_good();
            }
            _ => {
                let place = self.clauses.len();
                self.watches[literals[0].index()].push(place);
                self.watches[literals[1].index()].push(place);
                self.places.entry(key).or_default().push(place);
                self.clauses.push(Clause { number, literals, alive: true });
            }
        }
    }

    /// Numbers of the unit clauses that make these literals false.
    fn units(&self, literals: &[Lit]) -> Vec<u64> {
        let unit = |lit: &Lit| match self.reasons[lit.variable() as usize] {
            Reason::Unit(number) => number,
            _ => unreachable!("what holds for good has a unit clause"),
        };
        literals.iter().map(unit).collect()
    }

    fn refute(&mut self, literals: &[Lit], number: u64) {
        let mut hints = self.units(literals);
        hints.push(number);
        self.refuted = Some(self.lemma(Vec::new(), hints));
    }

    /// The literal holds for good because all others of the clause are false for good.
    fn conclude(&mut self, lit: Lit, literals: &[Lit], number: u64) {
        let unit = if literals.len() == 1 {
            number
        } else {
            let others: Vec<Lit> = literals.iter().copied().filter(|l| *l != lit).collect();
            let mut hints = self.units(&others);
            hints.push(number);
            self.lemma(vec![lit], hints)
        };
        self.assign(lit, Reason::Unit(unit));
    }

    fn propagate_for_good(&mut self) {
        if let Some(place) = self.propagate(true) {
            let literals = self.clauses[place].literals.clone();
            self.refute(&literals, self.clauses[place].number);
        }
    }

    /// Draws all conclusions; the place of a clause that became false, if one did.
    fn propagate(&mut self, for_good: bool) -> Option<usize> {
        while self.done < self.trail.len() {
            let gone = !self.trail[self.done];
            self.done += 1;
            let mut watching = std::mem::take(&mut self.watches[gone.index()]);
            let mut kept = 0;
            let mut conflict = None;
            for at in 0..watching.len() {
                let place = watching[at];
                if conflict.is_none() && self.rewatch(place, gone) {
                    continue;
                }
                if !self.clauses[place].alive {
                    continue;
                }
                watching[kept] = place;
                kept += 1;
                if conflict.is_some() {
                    continue;
                }
                let first = self.clauses[place].literals[0];
                match self.value(first) {
                    Some(true) => {}
                    Some(false) => conflict = Some(place),
                    None if for_good => {
                        let literals = self.clauses[place].literals.clone();
                        self.conclude(first, &literals, self.clauses[place].number);
                    }
                    None => self.assign(first, Reason::Clause(place)),
                }
            }
            watching.truncate(kept);
            self.watches[gone.index()] = watching;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Lets the clause watch another literal than the one that became false, if there is one. Otherwise the first
    /// literal of the clause is the last one that is not false.
    fn rewatch(&mut self, place: usize, gone: Lit) -> bool {
        let clause = &mut self.clauses[place];
        if !clause.alive {
            return true;
        }
        if clause.literals[0] == gone {
            clause.literals.swap(0, 1);
        }
        let values = &self.values;
        let is_false = |l: Lit| values[l.variable() as usize] == Some(l.negated());
        if values[clause.literals[0].variable() as usize] == Some(!clause.literals[0].negated()) {
            return false;
        }
        let Some(other) = (2..clause.literals.len()).find(|i| !is_false(clause.literals[*i])) else {
            return false;
        };
        clause.literals.swap(1, other);
        self.watches[clause.literals[1].index()].push(place);
        true
    }

    /// Derives a lemma by refuting its negation; `None` if unit propagation does not refute it.
    fn derive(&mut self, clause: &[Lit]) -> Option<()> {
        if clause.iter().any(|l| self.value(*l) == Some(true)) || clause.iter().any(|l| clause.contains(&!*l))
        {
            return Some(());
        }
        let start = self.trail.len();
        for lit in clause {
            if self.value(*lit).is_none() {
                self.assign(!*lit, Reason::Assumed);
            }
        }
        let conflict = self.propagate(false);
        let hints = conflict.map(|place| self.hints(place, start, clause));
        for lit in self.trail.drain(start..) {
            self.values[lit.variable() as usize] = None;
        }
        self.done = start;
        let number = self.lemma(clause.to_vec(), hints?);
        if clause.is_empty() {
            self.refuted = Some(number);
        } else {
            self.add(clause, number);
        }
        Some(())
    }

    /// The clauses that were used up to a conflict, in the order in which they became unit.
    fn hints(&mut self, conflict: usize, start: usize, clause: &[Lit]) -> Vec<u64> {
        let mut used = vec![self.clauses[conflict].number];
        let mut units = Vec::new();
        let mut touched: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = vec![conflict];
        let mut at = self.trail.len();
        loop {
            for place in open.drain(..) {
                for lit in &self.clauses[place].literals {
                    let variable = lit.variable() as usize;
                    if !self.marked[variable] {
                        self.marked[variable] = true;
                        touched.push(variable);
                        // A literal of the lemma is false by assumption, even if it is false for good as well.
                        if let Reason::Unit(number) = self.reasons[variable]
                            && !clause.contains(&!Lit::positive(variable as u32))
                            && !clause.contains(&Lit::positive(variable as u32))
                        {
                            units.push(number);
                        }
                    }
                }
            }
            if at == start {
                break;
            }
            at -= 1;
            let variable = self.trail[at].variable() as usize;
            if self.marked[variable]
                && let Reason::Clause(place) = self.reasons[variable]
            {
                used.push(self.clauses[place].number);
                open.push(place);
            }
        }
        for variable in touched {
            self.marked[variable] = false;
        }
        units.sort_unstable();
        units.dedup();
        units.extend(used.into_iter().rev());
        units
    }

    /// A clause that the solver forgot need not be watched. The solver may name it without literals that are false for
    /// good, and then the clause stays.
    fn delete(&mut self, clause: &[Lit]) {
        let mut key = clause.to_vec();
        key.sort_unstable();
        if let Some(place) = self.places.get_mut(&key).and_then(Vec::pop) {
            self.clauses[place].alive = false;
        }
    }

    /// Lemmas from which the empty clause follows, in order.
    fn needed_lemmas(self) -> Option<Vec<Lemma>> {
        let refuted = self.refuted?;
        let first = self.inputs + 1;
        let mut needed = vec![false; self.lemmas.len()];
        needed[(refuted - first) as usize] = true;
        for (at, lemma) in self.lemmas.iter().enumerate().rev() {
            if needed[at] {
                for hint in lemma.hints.iter().filter(|hint| **hint >= first) {
                    needed[(hint - first) as usize] = true;
                }
            }
        }
        Some(self.lemmas.into_iter().zip(needed).filter(|(_, keep)| *keep).map(|(lemma, _)| lemma).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lrat_check::check;
    use crate::sat::{Answer, Batsat, Limit, Sat};
    use crate::testing::{Random, pigeons};

    fn refutation_of_pigeons(count: usize) -> Proof {
        let mut sat = Batsat::logging();
        pigeons(&mut sat, count);
        assert_eq!(sat.solve(&[], &Limit::none()), Answer::Unsat);
        prove(sat.variables(), sat.log()).expect("a proof")
    }

    #[test]
    fn the_refutation_of_a_solver_is_accepted_by_an_independent_checker() {
        for count in 2..=6 {
            let proof = refutation_of_pigeons(count);
            assert_eq!(check(&proof.cnf.dimacs(), &proof.lrat), Ok(()), "{count} pigeons");
        }
    }

    #[test]
    fn random_clauses_without_a_model_have_an_accepted_proof() {
        let (mut random, mut refuted) = (Random::new(1), 0);
        for _ in 0..300 {
            let mut sat = Batsat::logging();
            let variables: Vec<Lit> = (0..12).map(|_| sat.new_var()).collect();
            for _ in 0..70 {
                let length = 2 + random.below(3);
                let clause: Vec<Lit> =
                    (0..length).map(|_| variables[random.below(12)].signed(random.chance(50))).collect();
                sat.add_clause(&clause);
            }
            if sat.solve(&[], &Limit::none()) == Answer::Unsat {
                refuted += 1;
                let proof = prove(sat.variables(), sat.log()).expect("a proof");
                assert_eq!(check(&proof.cnf.dimacs(), &proof.lrat), Ok(()));
            }
        }
        assert!(refuted > 100, "only {refuted} of 300 had no model");
    }

    #[test]
    fn a_tampered_proof_is_rejected() {
        let proof = refutation_of_pigeons(5);
        let cnf = proof.cnf.dimacs();
        let lines: Vec<&str> = proof.lrat.lines().collect();
        let longest = (0..lines.len()).max_by_key(|i| lines[*i].len()).expect("a line");
        let with = |at: usize, line: String| {
            let mut all: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
            all[at] = line;
            all.join("\n")
        };
        // Without one of the hints, without a literal, without the last line, or of a CNF in which the first pigeon may
        // sit nowhere.
        let words: Vec<&str> = lines[longest].split(' ').collect();
        let mut fewer = words.clone();
        fewer.remove(words.len() - 2);
        assert!(check(&cnf, &with(longest, fewer.join(" "))).is_err());
        let mut shorter = words.clone();
        shorter.remove(1);
        assert!(check(&cnf, &with(longest, shorter.join(" "))).is_err());
        assert!(check(&cnf, &lines[..lines.len() - 1].join("\n")).is_err());
        let weaker = cnf.replacen("\n2 3 4 5 0\n", "\n2 3 4 5 -2 0\n", 1);
        assert_ne!(weaker, cnf);
        assert!(check(&weaker, &proof.lrat).is_err());
    }

    #[test]
    fn a_log_with_a_clause_that_does_not_follow_gives_no_proof() {
        let (a, b) = (Lit::positive(1), Lit::positive(2));
        let log = [Logged::Input(vec![a, b]), Logged::Learnt(vec![a]), Logged::Learnt(vec![!a])];
        assert!(prove(3, &log).is_none());
    }
}
