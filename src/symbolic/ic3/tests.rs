//! IC3 on small machines over unbounded integers, written by hand: what must be proved, what must be found, and what must
//! stay unknown because no width is enough.
//!
//! In: linear machines. The bound of a query comes from its comparisons by `bound`. Never here: random systems.

use super::certificate::{self, Recheck};
use super::{Options, Outcome, Why, prove};
use crate::symbolic::bound::{self, Comparison};
use crate::symbolic::gates::Gates;
use crate::symbolic::integer::Integer;
use crate::symbolic::lrat_check;
use crate::symbolic::sat::{Batsat, Limit, Lit, Sat};
use crate::symbolic::system::{Atom, Cell, Cube, Fact, Part, Step, System, Translation};
use dashu_int::IBig;

/// `sum of factors * unknowns + constant`; the unknowns are the cells and then the choices of an event.
#[derive(Clone)]
struct Sum {
    factors: Vec<i64>,
    constant: i64,
}

/// `sum <= 0`, or its negation.
#[derive(Clone)]
struct Compare(Sum, bool);

struct Event {
    guard: Vec<Compare>,
    updates: Vec<(usize, Sum)>,
}

/// Integers without bounds. All comparisons and assignments are linear.
struct Linear {
    cells: usize,
    choices: usize,
    init: Vec<i64>,
    events: Vec<Event>,
    /// A conjunction of disjunctions.
    property: Vec<Vec<Compare>>,
    pairs: bool,
    /// Whether the bound is told.
    bounded: bool,
}

fn sum(factors: &[i64], constant: i64) -> Sum {
    Sum { factors: factors.to_vec(), constant }
}

fn at_most(factors: &[i64], limit: i64) -> Compare {
    Compare(sum(factors, -limit), true)
}

fn at_least(factors: &[i64], limit: i64) -> Compare {
    Compare(sum(factors, -limit + 1), false)
}

fn differs(factors: &[i64], value: i64) -> Vec<Compare> {
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

fn options(first_width: usize, max_width: usize, frames: usize) -> Options {
    Options { frames, first_width, max_width, limit: Limit::none() }
}

/// One counter that starts at `start` and moves by `step` while it is at most `last`.
fn counter(start: i64, step: i64, last: i64, property: Vec<Vec<Compare>>) -> Linear {
    Linear {
        cells: 1,
        choices: 0,
        init: vec![start],
        events: vec![Event { guard: vec![at_most(&[1], last)], updates: vec![(0, sum(&[1], step))] }],
        property,
        pairs: false,
        bounded: true,
    }
}

/// Proved; the invariant stands at twice the width too, and its refutations pass the independent checker.
fn assert_proved(machine: &Linear, options: &Options) -> Vec<Cube> {
    let report = prove(machine, options);
    let Outcome::Invariant(cubes) = report.outcome else { panic!("{report:?}") };
    let wider = machine.system(2 * report.width, Box::new(Batsat::new()));
    let again = certificate::recheck(wider, machine, &cubes, 2 * report.width, &Limit::none()).0;
    assert_eq!(again, Recheck::Proved);
    for part in certificate::proofs(machine, &cubes, report.width, &Limit::none()).expect("proofs") {
        assert_eq!(lrat_check::check(&part.proof.cnf.dimacs(), &part.proof.lrat), Ok(()));
    }
    cubes
}

#[track_caller]
fn assert_violated(machine: &Linear, options: &Options, depth: usize) {
    let report = prove(machine, options);
    let Outcome::Counterexample(path) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(path.depth(), depth);
}

#[test]
fn an_inductive_property_needs_no_cube() {
    // x >= 0 is kept by x := x + 1, for all integers.
    let machine = counter(0, 1, 1_000_000, vec![vec![at_least(&[1], 0)]]);
    assert!(assert_proved(&machine, &options(8, 128, 10)).is_empty());
}

#[test]
fn a_bound_that_the_guard_keeps_is_found() {
    // x /= 200 while x is counted up to 100 at most: some bound between is the invariant.
    let machine = counter(0, 1, 99, vec![differs(&[1], 200)]);
    let cubes = assert_proved(&machine, &options(16, 128, 20));
    assert!(cubes.len() <= 2, "{cubes:?}");
}

#[test]
fn a_violation_is_found_at_its_depth() {
    assert_violated(&counter(0, 1, 99, vec![differs(&[1], 17)]), &options(8, 64, 50), 17);
    assert_violated(&counter(0, 3, 99, vec![at_most(&[1], 20).into()]), &options(8, 64, 50), 7);
    assert_violated(&counter(5, 1, 99, vec![at_most(&[1], 4).into()]), &options(8, 64, 50), 0);
}

impl From<Compare> for Vec<Compare> {
    fn from(compare: Compare) -> Self {
        vec![compare]
    }
}

/// With four bits, 20 is no state: the search at that width "proves" the property, and the bound of the query makes the
/// check look at more bits, where the violation is.
#[test]
fn a_value_beyond_the_first_width_is_not_forgotten() {
    assert_violated(&counter(0, 1, 99, vec![differs(&[1], 20)]), &options(4, 64, 50), 20);
}

#[test]
fn a_value_beyond_the_last_width_is_never_proved_unreachable() {
    let report = prove(&counter(0, 1, 99, vec![differs(&[1], 20)]), &options(4, 5, 50));
    assert_eq!(report.outcome, Outcome::Unknown(Why::Width));
}

/// x := 2 * x from 1 reaches 2^20 in 20 events. Nine bits do not reach it, and without a bound nothing may be said.
#[test]
fn doubling_is_unknown_where_no_bound_is_told() {
    let event = Event { guard: Vec::new(), updates: vec![(0, sum(&[2], 0))] };
    let mut machine = counter(1, 0, 0, vec![differs(&[1], 1 << 20)]);
    machine.events = vec![event];
    machine.bounded = false;
    let report = prove(&machine, &options(8, 16, 30));
    assert_eq!(report.outcome, Outcome::Unknown(Why::Width));
    machine.bounded = true;
    assert_violated(&machine, &options(8, 64, 30), 20);
}

/// x := 2 * x from 1 keeps x >= 1: a linear query that is no difference.
#[test]
fn doubling_keeps_a_positive_number_positive() {
    let mut machine = counter(1, 0, 0, vec![vec![at_least(&[1], 1)]]);
    machine.events = vec![Event { guard: Vec::new(), updates: vec![(0, sum(&[2], 0))] }];
    assert_proved(&machine, &options(8, 64, 30));
}

/// Two counters without bounds; the second one may only follow the first, by at most two.
fn handshake(pairs: bool) -> Linear {
    Linear {
        cells: 2,
        choices: 0,
        init: vec![0, 0],
        events: vec![
            // Sends while fewer than two are open; answers while one is open.
            Event { guard: vec![at_most(&[1, -1], 1)], updates: vec![(0, sum(&[1, 0], 1))] },
            Event { guard: vec![at_least(&[1, -1], 1)], updates: vec![(1, sum(&[0, 1], 1))] },
        ],
        // The difference is never 5: true, but not inductive, because 4 might become 5 from -1 .. 4 only by the guard.
        property: vec![differs(&[1, -1], -3), differs(&[1, -1], 3)],
        pairs,
        bounded: true,
    }
}

#[test]
fn a_relation_of_two_counters_is_found_with_atoms_of_differences() {
    let cubes = assert_proved(&handshake(true), &options(8, 64, 30));
    assert!(cubes.iter().flatten().all(|fact| matches!(fact.atom, Atom::Difference(..))), "{cubes:?}");
}

/// A choice moves both counters by the same amount: their difference stays, whatever they are.
#[test]
fn two_counters_that_move_together_stay_together() {
    let machine = Linear {
        cells: 2,
        choices: 1,
        init: vec![3, 3],
        events: vec![Event {
            guard: vec![at_least(&[0, 0, 1], 1)],
            updates: vec![(0, sum(&[1, 0, 1], 0)), (1, sum(&[0, 1, 1], 0))],
        }],
        // y = 10 only if x >= 10: follows from x = y, and is not inductive.
        property: vec![[differs(&[0, 1], 10), vec![at_least(&[1, 0], 10)]].concat()],
        pairs: true,
        bounded: true,
    };
    assert_proved(&machine, &options(8, 128, 30));
}

/// x := x + 2 from 0 up to 20 never is 9: with bounds alone each odd number below is a cube of its own.
#[test]
fn parity_is_proved_number_by_number() {
    let cubes = assert_proved(&counter(0, 2, 18, vec![differs(&[1], 9)]), &options(8, 64, 40));
    assert!(cubes.len() >= 4, "{cubes:?}");
}

#[test]
fn an_invariant_that_does_not_hold_is_refuted_by_the_fresh_solver() {
    let machine = counter(0, 1, 99, vec![vec![at_least(&[1], 0)]]);
    let above = |c: i64| Fact { atom: Atom::AtMost(0, IBig::from(c)), holds: false };
    let check = |cubes: &[Cube]| {
        let system = machine.system(16, Box::new(Batsat::new()));
        certificate::recheck(system, &machine, cubes, 16, &Limit::none()).0
    };
    assert_eq!(check(&[]), Recheck::Proved);
    assert_eq!(check(&[vec![above(100)]]), Recheck::Proved);
    // Not kept by the event, and not true at the start.
    assert_eq!(check(&[vec![above(50)]]), Recheck::Refuted(Part::Consecution(0)));
    assert_eq!(check(&[vec![above(-1)]]), Recheck::Refuted(Part::Initiation));
    assert!(certificate::proofs(&machine, &[vec![above(50)]], 16, &Limit::none()).is_none());
}

#[test]
fn a_property_that_is_broken_within_a_state_is_found_without_an_event() {
    struct Dead(Linear);
    impl Translation for Dead {
        fn system(&self, width: usize, solver: Box<dyn Sat>) -> System {
            let mut system = self.0.system(width, solver);
            system.bad_state = !system.events[0].taken;
            system
        }
        fn bound(&self, part: Part, invariant: &[Cube]) -> Option<usize> {
            self.0.bound(part, invariant)
        }
    }
    // The counter stops at 5, after five events.
    let report = prove(&Dead(counter(0, 1, 4, vec![vec![at_least(&[1], 0)]])), &options(8, 64, 30));
    let Outcome::Counterexample(path) = &report.outcome else { panic!("{report:?}") };
    assert_eq!((path.depth(), path.events.len()), (5, 5));
}

#[test]
fn a_stopped_search_or_a_spent_level_is_unknown() {
    let machine = counter(0, 1, 99, vec![differs(&[1], 50)]);
    let report = prove(&machine, &options(8, 64, 5));
    assert_eq!(report.outcome, Outcome::Unknown(Why::Frames));
    let stopped = Options { limit: Limit::stopped_by(std::sync::Arc::new(|| true)), ..options(8, 64, 50) };
    assert_eq!(prove(&machine, &stopped).outcome, Outcome::Unknown(Why::Stopped));
}

#[test]
fn two_runs_are_equal() {
    let run = || prove(&handshake(true), &options(8, 64, 30));
    let (first, second) = (run(), run());
    assert_eq!(first.outcome, second.outcome);
    assert_eq!((first.queries, first.conflicts), (second.queries, second.conflicts));
}
