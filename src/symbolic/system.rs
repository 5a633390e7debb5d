//! A transition system at the level of gates: the seam between a translation and the engines that reason about frames.
//!
//! In: literals of one machine. Out: atoms of states as literals of any copy of the state, and models read back as cubes
//! of atoms. Never here: how a machine becomes gates, and how a proof is searched for.
//!
//! How a translation fills a `System`:
//! - `cells` are the unknowns of the current state, constants among them: truth values (also each member of a one-hot
//!   value, each element of a set) and integers. An integer whose range is known for sure is `Gates::int_between`, any
//!   other one is `Gates::int_limited(width)`. Axioms of the constants are asserted in `gates`, for good; so is what
//!   holds of the cells by their type, such as "exactly one member".
//! - a `Step` has a copy of all cells after it. A cell that the step does not write *is* the current cell, by the same
//!   literals. So is a constant, also in the step `init`, which has no state before it otherwise: it must not read any
//!   current cell but constants.
//! - `taken` is the literal of "the step is enabled, with these inputs, and ends in `next`". Everything in it is a
//!   function of the current cells and `inputs` (parameters, choices, results of ANY), which makes lifting exact; if
//!   it is not, lifting finds out and leaves the state as it is. What holds of the new cells by their type must follow
//!   from `taken`.
//! - `bad` is the literal of "the step is enabled with these inputs and is a finding": its new state breaks the property,
//!   or something inside of the step fails. With proof information it names only what is not yet proven.
//! - `property` is over the current cells; frames assume it. So `bad` of each step must cover it, but for what is
//!   proven to be kept.
//! - `bad_state` is a finding that a state shows by itself and that `property` does not cover, such as a deadlock.
//!
//! A weak translation may make `taken`, `bad` and `bad_state` too often true and `property` too often true, never too often false.

use crate::gates::Gates;
use crate::integer::Integer;
use crate::sat::{Lit, Sat};
use bombus_base::hash::HashMap;
use dashu_int::IBig;

/// A transition system over gates.
pub struct System {
    pub gates: Gates,
    pub cells: Vec<Cell>,
    pub init: Step,
    pub events: Vec<Step>,
    pub property: Lit,
    pub bad_state: Lit,
    /// Integer cells that are compared with each other somewhere: cubes hold atoms of their difference.
    pub pairs: Vec<(usize, usize)>,
    pub(super) literals: HashMap<(Moment, Atom), Lit>,
}

/// One unknown of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Bit(Lit),
    Integer(Integer),
}

/// One event, or the initialisation.
#[derive(Clone, Debug)]
pub struct Step {
    pub taken: Lit,
    pub bad: Lit,
    /// The cells after the step.
    pub next: Vec<Cell>,
    /// The literals of all choices of the step.
    pub inputs: Vec<Lit>,
}

/// A copy of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    Current,
    Initial,
    After(usize),
}

/// What cubes are made of. Cells are named by their index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// The bit is set.
    Bit(usize),
    /// The integer is at most the constant.
    AtMost(usize, IBig),
    /// The first integer minus the second is at most the constant.
    Difference(usize, usize, IBig),
}

/// An atom or its negation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact {
    pub atom: Atom,
    pub holds: bool,
}

/// A conjunction of facts, ordered and without repetition. An invariant is a list of cubes that no state lies in.
pub type Cube = Vec<Fact>;

/// The three kinds of query that make an inductive invariant, of which `bound` may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The initialisation is no finding and leads into the invariant.
    Initiation,
    /// The event leads from the invariant into the invariant and is no finding.
    Consecution(usize),
    /// No state of the invariant is a finding by itself.
    Safety,
}

/// A machine that can be translated again and again.
pub trait Translation {
    /// A fresh system over a fresh solver, limited integers with `width` bits. Equal arguments give equal systems.
    fn system(&self, width: usize, solver: Box<dyn Sat>) -> System;

    /// The bits of limited integers with which the query `part`, with the atoms of an invariant in it, has a model if
    /// it has one at all; `None` if no such width is known. A system without limited integers answers `Some(1)`.
    fn bound(&self, part: Part, invariant: &[Cube]) -> Option<usize>;
}

impl Fact {
    /// Whether each state of this fact is a state of the other.
    pub fn implies(&self, other: &Fact) -> bool {
        let constants = match (&self.atom, &other.atom) {
            (Atom::AtMost(x, c), Atom::AtMost(y, d)) if x == y => (c, d),
            (Atom::Difference(x, y, c), Atom::Difference(u, v, d)) if (x, y) == (u, v) => (c, d),
            _ => return self == other,
        };
        match (self.holds, other.holds) {
            (true, true) => constants.0 <= constants.1,
            (false, false) => constants.0 >= constants.1,
            _ => false,
        }
    }

    /// The fact with its bound moved outwards by `distance`, if the fact has a bound.
    pub fn widened(&self, distance: &IBig) -> Option<Fact> {
        let moved = |c: &IBig| if self.holds { c + distance } else { c - distance };
        let atom = match &self.atom {
            Atom::Bit(_) => return None,
            Atom::AtMost(x, c) => Atom::AtMost(*x, moved(c)),
            Atom::Difference(x, y, c) => Atom::Difference(*x, *y, moved(c)),
        };
        Some(Fact { atom, holds: self.holds })
    }
}

/// Whether each state of `inner` is a state of `outer`, as far as single facts tell.
pub fn lies_in(inner: &[Fact], outer: &[Fact]) -> bool {
    outer.iter().all(|fact| inner.iter().any(|own| own.implies(fact)))
}

impl System {
    pub fn new(gates: Gates, cells: Vec<Cell>, init: Step, events: Vec<Step>, property: Lit) -> System {
        System {
            gates,
            cells,
            init,
            events,
            property,
            bad_state: Lit::FALSE,
            pairs: Vec::new(),
            literals: HashMap::default(),
        }
    }

    pub fn step(&self, moment: Moment) -> Option<&Step> {
        match moment {
            Moment::Current => None,
            Moment::Initial => Some(&self.init),
            Moment::After(event) => Some(&self.events[event]),
        }
    }

    fn cell(&self, moment: Moment, index: usize) -> &Cell {
        &self.step(moment).map_or(&self.cells, |step| &step.next)[index]
    }

    fn integer(&self, moment: Moment, index: usize) -> Integer {
        match self.cell(moment, index) {
            Cell::Integer(number) => number.clone(),
            Cell::Bit(_) => panic!("an atom of numbers names a bit"),
        }
    }

    /// The literal of a fact about a copy of the state.
    pub fn literal(&mut self, moment: Moment, fact: &Fact) -> Lit {
        if let Some(lit) = self.literals.get(&(moment, fact.atom.clone())) {
            return lit.signed(fact.holds);
        }
        let lit = match &fact.atom {
            Atom::Bit(index) => match self.cell(moment, *index) {
                Cell::Bit(lit) => *lit,
                Cell::Integer(_) => panic!("an atom of bits names a number"),
            },
            Atom::AtMost(index, bound) => {
                let number = self.integer(moment, *index);
                self.gates.int_le(&number, &Integer::constant(bound.clone()))
            }
            Atom::Difference(x, y, bound) => {
                let (x, y) = (self.integer(moment, *x), self.integer(moment, *y));
                self.gates.int_difference_le(&x, &y, bound)
            }
        };
        self.literals.insert((moment, fact.atom.clone()), lit);
        lit.signed(fact.holds)
    }

    pub fn literals(&mut self, moment: Moment, cube: &[Fact]) -> Vec<Lit> {
        cube.iter().map(|fact| self.literal(moment, fact)).collect()
    }

    /// The literal of "the state of this copy lies in none of the cubes".
    pub fn outside(&mut self, moment: Moment, cubes: &[Cube]) -> Lit {
        let inside: Vec<Lit> = cubes
            .iter()
            .map(|cube| {
                let literals = self.literals(moment, cube);
                self.gates.and_all(&literals)
            })
            .collect();
        !self.gates.or_all(&inside)
    }

    /// The current state of the solver's model as a cube: each bit, each integer by its two bounds, and the differences
    /// of the pairs by theirs.
    pub fn cube_of_model(&self) -> Cube {
        let mut cube = Cube::new();
        let mut exactly = |atom: &dyn Fn(IBig) -> Atom, value: IBig| {
            cube.push(Fact { atom: atom(&value - IBig::ONE), holds: false });
            cube.push(Fact { atom: atom(value), holds: true });
        };
        for (index, cell) in self.cells.iter().enumerate() {
            if let Cell::Integer(number) = cell {
                exactly(&|c| Atom::AtMost(index, c), self.gates.int_value(number));
            }
        }
        for (x, y) in &self.pairs {
            if let (Cell::Integer(a), Cell::Integer(b)) = (&self.cells[*x], &self.cells[*y]) {
                let difference = self.gates.int_value(a) - self.gates.int_value(b);
                exactly(&|c| Atom::Difference(*x, *y, c), difference);
            }
        }
        for (index, cell) in self.cells.iter().enumerate() {
            if let Cell::Bit(lit) = cell {
                cube.push(Fact { atom: Atom::Bit(index), holds: self.gates.value(*lit) });
            }
        }
        cube.sort();
        cube
    }

    /// The cube with the differences of pairs that follow from its bounds, and without the bounds of these integers.
    /// `None` if no difference follows.
    pub fn relational(&self, cube: &[Fact]) -> Option<Cube> {
        let paired = |index: &usize| self.pairs.iter().any(|(x, y)| x == index || y == index);
        let bound = |index: usize, holds: bool| {
            cube.iter().find_map(|fact| match &fact.atom {
                Atom::AtMost(x, c) if *x == index && fact.holds == holds => Some(c),
                _ => None,
            })
        };
        let mut out: Cube = cube
            .iter()
            .filter(|fact| !matches!(&fact.atom, Atom::AtMost(x, _) if paired(x)))
            .cloned()
            .collect();
        for (x, y) in &self.pairs {
            // x <= a and y > b give x - y <= a - b - 1; x > a and y <= b give x - y > a - b.
            if let (Some(a), Some(b)) = (bound(*x, true), bound(*y, false)) {
                out.push(Fact { atom: Atom::Difference(*x, *y, a - b - IBig::ONE), holds: true });
            }
            if let (Some(a), Some(b)) = (bound(*x, false), bound(*y, true)) {
                out.push(Fact { atom: Atom::Difference(*x, *y, a - b), holds: false });
            }
        }
        out.sort();
        out.dedup();
        out.iter().any(|fact| matches!(fact.atom, Atom::Difference(..))).then_some(out)
    }

    /// The choices of a step in the solver's model.
    pub fn inputs_of_model(&self, moment: Moment) -> Vec<Lit> {
        let inputs = self.step(moment).map_or(&[][..], |step| &step.inputs);
        inputs.iter().map(|lit| lit.signed(self.gates.value(*lit))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::Batsat;

    fn at_most(c: i64) -> Fact {
        Fact { atom: Atom::AtMost(0, c.into()), holds: true }
    }

    fn above(c: i64) -> Fact {
        Fact { atom: Atom::AtMost(0, c.into()), holds: false }
    }

    #[test]
    fn a_fact_implies_exactly_the_facts_that_hold_of_all_its_numbers() {
        let facts: Vec<Fact> = (-2..=2).flat_map(|c| [at_most(c), above(c)]).collect();
        let holds = |fact: &Fact, x: i64| match &fact.atom {
            Atom::AtMost(_, c) => (IBig::from(x) <= *c) == fact.holds,
            _ => unreachable!("only bounds here"),
        };
        for a in &facts {
            for b in &facts {
                let all = (-5..=5).all(|x| !holds(a, x) || holds(b, x));
                assert_eq!(a.implies(b), all, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_widened_fact_follows_from_the_fact() {
        for fact in [at_most(3), above(-2)] {
            let wide = fact.widened(&4.into()).expect("a bound");
            assert!(fact.implies(&wide) && !wide.implies(&fact));
        }
    }

    /// With 2 <= x <= 5 and 1 <= y, and no more, x - y is at most 4 and may be as low as one likes.
    #[test]
    fn the_differences_of_a_cube_are_those_that_follow_from_its_bounds() {
        let mut gates = Gates::new(Box::new(Batsat::new()));
        let cells = [Cell::Integer(gates.int_limited(6)), Cell::Integer(gates.int_limited(6))].to_vec();
        let init = Step { taken: Lit::TRUE, bad: Lit::FALSE, next: cells.clone(), inputs: Vec::new() };
        let mut system = System::new(gates, cells, init, Vec::new(), Lit::TRUE);
        let below_y = Fact { atom: Atom::AtMost(1, 0.into()), holds: false };
        let cube = [at_most(5), above(1), below_y];
        assert_eq!(system.relational(&cube), None);
        system.pairs.push((0, 1));
        let most = Fact { atom: Atom::Difference(0, 1, 4.into()), holds: true };
        assert_eq!(system.relational(&cube), Some(vec![most]));
    }

    #[test]
    fn a_cube_lies_in_another_if_each_fact_there_follows_from_one_fact_here() {
        let bit = Fact { atom: Atom::Bit(1), holds: true };
        assert!(lies_in(&[at_most(1), above(-1), bit.clone()], &[at_most(2), bit.clone()]));
        assert!(!lies_in(&[at_most(1)], &[at_most(1), bit]));
        assert!(lies_in(&[at_most(1)], &[]));
    }
}
