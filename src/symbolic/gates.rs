//! Gates over a SAT solver: literals for conjunction, choice, counting, each built once.
//!
//! In: literals. Out: literals that are equivalent to the gate (both directions, so that a gate may be used positively
//! and negatively). Constants are folded and equal gates are shared, so a gate of constants costs nothing. Never here:
//! numbers (`integer`), anything about B.

use crate::integer::Limited;
use crate::sat::{Answer, Limit, Lit, Sat};
use bombus_base::hash::HashMap;

/// A solver with its gates.
pub struct Gates {
    pub sat: Box<dyn Sat>,
    shared: HashMap<Gate, Lit>,
    /// What `integer` knows of integers with fewer bits than they have values.
    pub(super) limited: Limited,
}

/// Inputs are ordered, and signs are moved out, so that equal functions have equal keys.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    AndAll(Box<[Lit]>),
    Xor(Lit, Lit),
    Ite(Lit, Lit, Lit),
    Majority(Lit, Lit, Lit),
}

impl Gates {
    pub fn new(sat: Box<dyn Sat>) -> Gates {
        Gates { sat, shared: HashMap::default(), limited: Limited::default() }
    }

    pub fn fresh(&mut self) -> Lit {
        self.sat.new_var()
    }

    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.sat.add_clause(clause);
    }

    /// Asserts a literal for good.
    pub fn require(&mut self, lit: Lit) {
        if lit != Lit::TRUE {
            self.sat.add_clause(&[lit]);
        }
    }

    pub fn solve(&mut self, assumptions: &[Lit], limit: &Limit) -> Answer {
        self.sat.solve(assumptions, limit)
    }

    pub fn value(&self, lit: Lit) -> bool {
        if lit.is_constant() { lit == Lit::TRUE } else { self.sat.value(lit) }
    }

    fn gate(&mut self, gate: Gate, clauses: impl FnOnce(&mut dyn Sat, Lit)) -> Lit {
        if let Some(lit) = self.shared.get(&gate) {
            return *lit;
        }
        let out = self.sat.new_var();
        clauses(self.sat.as_mut(), out);
        self.shared.insert(gate, out);
        out
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if a == b || b == Lit::TRUE {
            return a;
        }
        if a == Lit::TRUE {
            return b;
        }
        if a == !b || a == Lit::FALSE || b == Lit::FALSE {
            return Lit::FALSE;
        }
        let (a, b) = (a.min(b), a.max(b));
        self.gate(Gate::And(a, b), |sat, out| {
            sat.add_clause(&[!out, a]);
            sat.add_clause(&[!out, b]);
            sat.add_clause(&[out, !a, !b]);
        })
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn implies(&mut self, a: Lit, b: Lit) -> Lit {
        self.or(!a, b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.negated() ^ b.negated();
        let (a, b) = (a.signed(!a.negated()), b.signed(!b.negated()));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Lit::constant(flip);
        }
        // Both are positive now: the only constant left is true, and it is the smaller one.
        if a == Lit::TRUE {
            return b.signed(flip);
        }
        let out = self.gate(Gate::Xor(a, b), |sat, out| {
            sat.add_clause(&[!out, a, b]);
            sat.add_clause(&[!out, !a, !b]);
            sat.add_clause(&[out, !a, b]);
            sat.add_clause(&[out, a, !b]);
        });
        out.signed(!flip)
    }

    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// `yes` if the condition holds, else `no`.
    pub fn ite(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        if condition == Lit::TRUE || yes == no {
            return yes;
        }
        if condition == Lit::FALSE {
            return no;
        }
        if condition.negated() {
            return self.ite(!condition, no, yes);
        }
        if yes == Lit::TRUE || yes == condition {
            return self.or(condition, no);
        }
        if yes == Lit::FALSE || yes == !condition {
            return self.and(!condition, no);
        }
        if no == Lit::TRUE || no == !condition {
            return self.or(!condition, yes);
        }
        if no == Lit::FALSE || no == condition {
            return self.and(condition, yes);
        }
        if yes == !no {
            return self.iff(condition, yes);
        }
        let flip = yes.negated();
        let (yes, no) = (yes.signed(!flip), no.signed(!flip));
        let out = self.gate(Gate::Ite(condition, yes, no), |sat, out| {
            sat.add_clause(&[!condition, !yes, out]);
            sat.add_clause(&[!condition, yes, !out]);
            sat.add_clause(&[condition, !no, out]);
            sat.add_clause(&[condition, no, !out]);
            sat.add_clause(&[!yes, !no, out]);
            sat.add_clause(&[yes, no, !out]);
        });
        out.signed(!flip)
    }

    /// At least two of three: the carry of an adder.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut inputs = [a, b, c];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        if a == Lit::TRUE {
            return self.or(b, c);
        }
        if a == Lit::FALSE {
            return self.and(b, c);
        }
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        self.gate(Gate::Majority(a, b, c), |sat, out| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                sat.add_clause(&[!x, !y, out]);
                sat.add_clause(&[x, y, !out]);
            }
        })
    }

    pub fn and_all(&mut self, lits: &[Lit]) -> Lit {
        let mut inputs: Vec<Lit> = lits.iter().copied().filter(|l| *l != Lit::TRUE).collect();
        inputs.sort_unstable();
        inputs.dedup();
        // A literal and its negation are neighbours in the order.
        if inputs.first() == Some(&Lit::FALSE) || inputs.windows(2).any(|w| w[0] == !w[1]) {
            return Lit::FALSE;
        }
        match inputs[..] {
            [] => Lit::TRUE,
            [a] => a,
            [a, b] => self.and(a, b),
            _ => self.gate(Gate::AndAll(inputs.clone().into()), |sat, out| {
                for lit in &inputs {
                    sat.add_clause(&[!out, *lit]);
                }
                let mut all: Vec<Lit> = inputs.iter().map(|l| !*l).collect();
                all.push(out);
                sat.add_clause(&all);
            }),
        }
    }

    pub fn or_all(&mut self, lits: &[Lit]) -> Lit {
        let negated: Vec<Lit> = lits.iter().map(|l| !*l).collect();
        !self.and_all(&negated)
    }

    /// A new literal that equals `lit` where `assumption` holds and is free where `assumption` does not hold, also if
    /// `lit` is constant. It is shared with nothing: without the assumption, equal literals need not stay equal.
    pub fn under(&mut self, assumption: Lit, lit: Lit) -> Lit {
        let out = self.fresh();
        self.add_clause(&[!assumption, !out, lit]);
        self.add_clause(&[!assumption, out, !lit]);
        out
    }

    /// The unary sum of the literals: entry `i` says that at least `i + 1` of them hold. At most `most` entries are
    /// built; the last of them is exact, and larger sums are not told apart.
    pub fn totaliser(&mut self, lits: &[Lit], most: usize) -> Vec<Lit> {
        let known = lits.iter().filter(|l| **l == Lit::TRUE).count();
        let open: Vec<Lit> = lits.iter().copied().filter(|l| !l.is_constant()).collect();
        let mut out = vec![Lit::TRUE; known.min(most)];
        let rest = most - out.len();
        out.extend(self.unary_sum(&open, rest));
        out
    }

    /// Halves are summed and merged; the depth is the logarithm of the number of literals.
    fn unary_sum(&mut self, lits: &[Lit], most: usize) -> Vec<Lit> {
        if most == 0 || lits.is_empty() {
            return Vec::new();
        }
        if lits.len() == 1 {
            return vec![lits[0]];
        }
        let (left, right) = lits.split_at(lits.len() / 2);
        let left = self.unary_sum(left, most);
        let right = self.unary_sum(right, most);
        let at_least = |sum: &[Lit], count: usize| match count {
            0 => Lit::TRUE,
            _ => sum.get(count - 1).copied().unwrap_or(Lit::FALSE),
        };
        (1..=most.min(lits.len()))
            .map(|count| {
                let splits: Vec<Lit> =
                    (0..=count).map(|i| self.and(at_least(&left, i), at_least(&right, count - i))).collect();
                self.or_all(&splits)
            })
            .collect()
    }

    pub fn at_least(&mut self, lits: &[Lit], count: usize) -> Lit {
        match count {
            0 => Lit::TRUE,
            _ => self.totaliser(lits, count).get(count - 1).copied().unwrap_or(Lit::FALSE),
        }
    }

    pub fn at_most(&mut self, lits: &[Lit], count: usize) -> Lit {
        !self.at_least(lits, count + 1)
    }

    pub fn at_most_one(&mut self, lits: &[Lit]) -> Lit {
        self.at_most(lits, 1)
    }

    pub fn exactly_one(&mut self, lits: &[Lit]) -> Lit {
        let some = self.or_all(lits);
        let one = self.at_most_one(lits);
        self.and(some, one)
    }

    /// New literals of which exactly one holds, asserted for good: a value of a finite type.
    pub fn one_hot(&mut self, count: usize) -> Vec<Lit> {
        if count == 1 {
            return vec![Lit::TRUE];
        }
        let lits: Vec<Lit> = (0..count).map(|_| self.fresh()).collect();
        self.add_clause(&lits);
        if count <= 6 {
            for (i, a) in lits.iter().enumerate() {
                for b in &lits[..i] {
                    self.add_clause(&[!*a, !*b]);
                }
            }
        } else {
            let one = self.at_most_one(&lits);
            self.require(one);
        }
        lits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::Batsat;

    /// Builds the gate over every choice of constants and variables for its inputs and compares all valuations.
    fn agrees(inputs: usize, build: impl Fn(&mut Gates, &[Lit]) -> Lit, meaning: impl Fn(&[bool]) -> bool) {
        // Each input is true, false, one of two shared variables or its negation, or a variable of its own.
        for shape in 0..7usize.pow(inputs as u32) {
            let mut gates = Gates::new(Box::new(Batsat::new()));
            let shared = [gates.fresh(), gates.fresh()];
            let lits: Vec<Lit> = (0..inputs)
                .map(|i| match shape / 7usize.pow(i as u32) % 7 {
                    0 => Lit::TRUE,
                    1 => Lit::FALSE,
                    k @ 2..=5 => shared[k % 2].signed(k < 4),
                    _ => gates.fresh(),
                })
                .collect();
            let out = build(&mut gates, &lits);
            for valuation in 0..1usize << inputs {
                let values: Vec<bool> = (0..inputs).map(|i| valuation >> i & 1 == 1).collect();
                let mut given: Vec<Lit> = lits.iter().zip(&values).map(|(l, v)| l.signed(*v)).collect();
                if gates.solve(&given, &Limit::none()) == Answer::Unsat {
                    continue;
                }
                given.push(out.signed(!meaning(&values)));
                assert_eq!(gates.solve(&given, &Limit::none()), Answer::Unsat, "{lits:?} {values:?}");
            }
        }
    }

    #[test]
    fn a_gate_equals_its_truth_table_whatever_its_inputs_share() {
        agrees(2, |g, l| g.and(l[0], l[1]), |v| v[0] && v[1]);
        agrees(2, |g, l| g.or(l[0], l[1]), |v| v[0] || v[1]);
        agrees(2, |g, l| g.implies(l[0], l[1]), |v| !v[0] || v[1]);
        agrees(2, |g, l| g.xor(l[0], l[1]), |v| v[0] != v[1]);
        agrees(2, |g, l| g.iff(l[0], l[1]), |v| v[0] == v[1]);
        agrees(3, |g, l| g.ite(l[0], l[1], l[2]), |v| if v[0] { v[1] } else { v[2] });
        agrees(3, |g, l| g.majority(l[0], l[1], l[2]), |v| v.iter().filter(|x| **x).count() >= 2);
        agrees(3, |g, l| g.and_all(l), |v| v.iter().all(|x| *x));
        agrees(3, |g, l| g.or_all(l), |v| v.iter().any(|x| *x));
    }

    #[test]
    fn a_counting_gate_counts() {
        for count in 0..=4 {
            agrees(3, |g, l| g.at_most(l, count), |v| v.iter().filter(|x| **x).count() <= count);
            agrees(3, |g, l| g.at_least(l, count), |v| v.iter().filter(|x| **x).count() >= count);
        }
        agrees(3, |g, l| g.exactly_one(l), |v| v.iter().filter(|x| **x).count() == 1);
    }

    #[test]
    fn a_totaliser_is_exact_up_to_its_last_entry() {
        for most in 0..=6 {
            let mut gates = Gates::new(Box::new(Batsat::new()));
            let lits: Vec<Lit> = (0..5).map(|_| gates.fresh()).collect();
            let sum = gates.totaliser(&lits, most);
            for valuation in 0..32usize {
                let given: Vec<Lit> = (0..5).map(|i| lits[i].signed(valuation >> i & 1 == 1)).collect();
                assert_eq!(gates.solve(&given, &Limit::none()), Answer::Sat);
                for (i, out) in sum.iter().enumerate() {
                    assert_eq!(gates.value(*out), valuation.count_ones() as usize > i);
                }
            }
        }
    }

    #[test]
    fn a_one_hot_value_has_as_many_models_as_elements() {
        for count in 1..=9 {
            let mut gates = Gates::new(Box::new(Batsat::new()));
            let lits = gates.one_hot(count);
            let mut found = 0;
            while gates.solve(&[], &Limit::none()) == Answer::Sat {
                let held: Vec<Lit> = lits.iter().copied().filter(|l| gates.value(*l)).collect();
                assert_eq!(held.len(), 1);
                gates.add_clause(&[!held[0]]);
                found += 1;
            }
            assert_eq!(found, count);
        }
    }

    #[test]
    fn equal_gates_are_built_once() {
        let mut gates = Gates::new(Box::new(Batsat::new()));
        let (a, b) = (gates.fresh(), gates.fresh());
        let first = gates.xor(a, b);
        let before = gates.sat.variables();
        assert_eq!(gates.xor(!b, a), !first);
        assert_eq!(gates.sat.variables(), before);
    }
}
