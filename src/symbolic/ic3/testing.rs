//! Linear machines over unbounded integers, for the tests of IC3: as gates, and step by step.
//!
//! In: sums and comparisons. Out: a `Translation` whose bound comes from `bound`, and the states that are reached.

use crate::bound::{self, Comparison};
use crate::gates::Gates;
use crate::integer::Integer;
use crate::sat::{Lit, Sat};
use crate::system::{Atom, Cell, Cube, Part, Step, System, Translation};
use dashu_int::IBig;
use std::collections::BTreeSet;

/// `sum of factors * unknowns + constant`; the unknowns are the cells and then the choices of an event.
#[derive(Clone, Debug)]
pub struct Sum {
    pub factors: Vec<i64>,
    pub constant: i64,
}

/// `sum <= 0`, or its negation.
#[derive(Clone, Debug)]
pub struct Compare(pub Sum, pub bool);

#[derive(Clone, Debug)]
pub struct Event {
    pub guard: Vec<Compare>,
    pub updates: Vec<(usize, Sum)>,
}

/// Integers without bounds. All comparisons and assignments are linear.
#[derive(Clone, Debug)]
pub struct Linear {
    pub cells: usize,
    pub choices: usize,
    pub init: Vec<i64>,
    pub events: Vec<Event>,
    /// A conjunction of disjunctions.
    pub property: Vec<Vec<Compare>>,
    pub pairs: bool,
    /// Whether the bound is told.
    pub bounded: bool,
}

pub fn sum(factors: &[i64], constant: i64) -> Sum {
    Sum { factors: factors.to_vec(), constant }
}

pub fn at_most(factors: &[i64], limit: i64) -> Compare {
    Compare(sum(factors, -limit), true)
}

pub fn at_least(factors: &[i64], limit: i64) -> Compare {
    Compare(sum(factors, -limit + 1), false)
}

pub fn differs(factors: &[i64], value: i64) -> Vec<Compare> {
    vec![at_most(factors, value - 1), at_least(factors, value + 1)]
}

impl Sum {
    fn factor(&self, unknown: usize) -> i64 {
        self.factors.get(unknown).copied().unwrap_or(0)
    }

    fn integer(&self, gates: &mut Gates, unknowns: &[Integer]) -> Integer {
        let mut out = Integer::constant(IBig::from(self.constant));
        for (unknown, factor) in unknowns.iter().zip(&self.factors) {
            let term = gates.int_scale(unknown, &IBig::from(*factor));
            out = gates.int_add(&out, &term);
        }
        out
    }

    /// The sum after the updates, as a sum of the unknowns before them.
    fn after(&self, event: &Event, unknowns: usize) -> Sum {
        let mut out = Sum { factors: vec![0; unknowns], constant: self.constant };
        for (cell, factor) in self.factors.iter().enumerate() {
            match event.updates.iter().find(|u| u.0 == cell) {
                None => out.factors[cell] += factor,
                Some((_, new)) => {
                    out.constant += factor * new.constant;
                    for unknown in 0..unknowns {
                        out.factors[unknown] += factor * new.factor(unknown);
                    }
                }
            }
        }
        out
    }
}

impl Linear {
    fn compare(gates: &mut Gates, unknowns: &[Integer], compare: &Compare) -> Lit {
        let number = compare.0.integer(gates, unknowns);
        gates.int_le(&number, &Integer::constant(IBig::ZERO)).signed(compare.1)
    }

    fn property(&self, gates: &mut Gates, cells: &[Integer]) -> Lit {
        let clauses: Vec<Lit> = self
            .property
            .iter()
            .map(|clause| {
                let lits: Vec<Lit> = clause.iter().map(|c| Linear::compare(gates, cells, c)).collect();
                gates.or_all(&lits)
            })
            .collect();
        gates.and_all(&clauses)
    }

    fn step(&self, gates: &mut Gates, event: &Event, cells: &[Integer], choices: &[Integer]) -> Step {
        let unknowns = [cells, choices].concat();
        let guard: Vec<Lit> = event.guard.iter().map(|c| Linear::compare(gates, &unknowns, c)).collect();
        let taken = gates.and_all(&guard);
        let mut next = cells.to_vec();
        for (cell, value) in &event.updates {
            next[*cell] = value.integer(gates, &unknowns);
        }
        let good = self.property(gates, &next);
        let bad = gates.and(taken, !good);
        let inputs = choices.iter().flat_map(|c| c.bits().to_vec()).collect();
        Step { taken, bad, next: next.into_iter().map(Cell::Integer).collect(), inputs }
    }
}

/// The sum `s` of a fact `s <= c` over the cells, with the constant moved to the left.
fn sum_of_atom(atom: &Atom, cells: usize) -> Sum {
    let mut factors = vec![0; cells];
    let constant = match atom {
        Atom::Bit(_) => unreachable!("there are only numbers"),
        Atom::AtMost(x, c) => {
            factors[*x] += 1;
            c
        }
        Atom::Difference(x, y, c) => {
            factors[*x] += 1;
            factors[*y] -= 1;
            c
        }
    };
    Sum { factors, constant: -i64::try_from(constant).expect("a small constant") }
}

impl Translation for Linear {
    fn system(&self, width: usize, solver: Box<dyn Sat>) -> System {
        let mut gates = Gates::new(solver);
        let cells: Vec<Integer> = (0..self.cells).map(|_| gates.int_limited(width)).collect();
        let choices: Vec<Integer> = (0..self.choices).map(|_| gates.int_limited(width)).collect();
        let property = self.property(&mut gates, &cells);
        let first: Vec<Integer> = self.init.iter().map(|n| Integer::constant(IBig::from(*n))).collect();
        let good = self.property(&mut gates, &first);
        let next = first.into_iter().map(Cell::Integer).collect();
        let init = Step { taken: Lit::TRUE, bad: !good, next, inputs: Vec::new() };
        let events = self.events.iter().map(|e| self.step(&mut gates, e, &cells, &choices)).collect();
        let cells = cells.into_iter().map(Cell::Integer).collect();
        let mut system = System::new(gates, cells, init, events, property);
        if self.pairs {
            for x in 0..self.cells {
                system.pairs.extend((0..x).map(|y| (x, y)));
            }
        }
        system
    }

    fn bound(&self, part: Part, invariant: &[Cube]) -> Option<usize> {
        if !self.bounded {
            return None;
        }
        let mut state: Vec<Sum> = self.property.iter().flatten().map(|c| c.0.clone()).collect();
        state.extend(invariant.iter().flatten().map(|fact| sum_of_atom(&fact.atom, self.cells)));
        let mut sums = state.clone();
        if let Part::Consecution(event) = part {
            let event = &self.events[event];
            sums.extend(event.guard.iter().map(|c| c.0.clone()));
            sums.extend(state.iter().map(|s| s.after(event, self.cells + self.choices)));
        }
        let comparisons: Vec<Comparison> = sums
            .iter()
            .map(|s| {
                let terms = s.factors.iter().map(|f| IBig::from(*f)).enumerate();
                Comparison::new(terms, IBig::from(-s.constant))
            })
            .collect();
        Some(bound::width(&comparisons))
    }
}

/// The machine step by step.
impl Linear {
    fn holds(compare: &Compare, unknowns: &[i64]) -> bool {
        (Linear::value(&compare.0, unknowns) <= 0) == compare.1
    }

    fn value(sum: &Sum, unknowns: &[i64]) -> i64 {
        sum.factors.iter().zip(unknowns).map(|(a, x)| a * x).sum::<i64>() + sum.constant
    }

    pub fn is_good(&self, state: &[i64]) -> bool {
        self.property.iter().all(|clause| clause.iter().any(|c| Linear::holds(c, state)))
    }

    /// Successors, where each choice is one of the given numbers.
    fn successors(&self, state: &[i64], choices: &[i64]) -> Vec<(usize, Vec<i64>)> {
        let mut all = vec![state.to_vec()];
        for _ in 0..self.choices {
            all = all.iter().flat_map(|s| choices.iter().map(move |c| [&s[..], &[*c]].concat())).collect();
        }
        let mut out = Vec::new();
        for unknowns in all {
            for (index, event) in self.events.iter().enumerate() {
                if event.guard.iter().all(|c| Linear::holds(c, &unknowns)) {
                    let mut next = state.to_vec();
                    for (cell, value) in &event.updates {
                        next[*cell] = Linear::value(value, &unknowns);
                    }
                    out.push((index, next));
                }
            }
        }
        out
    }

    /// The least number of events to a state that breaks the property, if it is at most `most`; `Err` if there are
    /// more states than may be looked at.
    pub fn depth(&self, choices: &[i64], most: usize) -> Result<Option<usize>, ()> {
        let mut ring = BTreeSet::from([self.init.clone()]);
        let mut seen = ring.clone();
        for depth in 0..=most {
            if ring.iter().any(|state| !self.is_good(state)) {
                return Ok(Some(depth));
            }
            let next: BTreeSet<Vec<i64>> =
                ring.iter().flat_map(|s| self.successors(s, choices)).map(|s| s.1).collect();
            ring = next.into_iter().filter(|s| seen.insert(s.clone())).collect();
            if seen.len() > 5_000 || ring.iter().flatten().any(|x| x.abs() > 1 << 50) {
                return Err(());
            }
        }
        Ok(None)
    }

    /// Whether a path of these events ends in a state that breaks the property.
    pub fn replays(&self, events: &[usize], choices: &[i64]) -> bool {
        let mut ring = BTreeSet::from([self.init.clone()]);
        for event in events {
            let next = ring.iter().flat_map(|s| self.successors(s, choices)).filter(|s| s.0 == *event);
            ring = next.map(|s| s.1).collect();
        }
        ring.iter().any(|state| !self.is_good(state))
    }
}
