//! IC3 on small machines over unbounded integers, written by hand: what must be proved, what must be found, and what must
//! stay unknown because no width is enough.
//!
//! In: linear machines. The bound of a query comes from its comparisons by `bound`. Never here: random systems.

use super::certificate::{self, Recheck};
use super::testing::{Compare, Event, Linear, at_least, at_most, differs, sum};
use super::{Finding, Options, Outcome, Why, prove};
use crate::lrat_check;
use crate::sat::{Batsat, Limit, Sat};
use crate::system::{Atom, Cube, Fact, Part, System, Translation};
use crate::testing::Random;
use dashu_int::IBig;

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

/// A machine of one or two integers with small constants, of which some grow without end.
fn random_machine(random: &mut Random) -> Linear {
    let cells = 1 + random.below(2);
    let choices = random.below(2);
    let small = |random: &mut Random| random.below(13) as i64 - 4;
    let row = |random: &mut Random, length: usize| -> Vec<i64> {
        let mut row = vec![0; length];
        row[random.below(length)] += 1;
        if random.chance(40) {
            row[random.below(length)] -= 1;
        }
        row
    };
    let compare = |random: &mut Random, length: usize| {
        let (row, constant) = (row(random, length), small(random));
        if random.chance(50) { at_most(&row, constant) } else { at_least(&row, constant) }
    };
    let unknowns = cells + choices;
    let mut events = Vec::new();
    for _ in 0..1 + random.below(3) {
        let mut guard: Vec<Compare> = (0..random.below(3)).map(|_| compare(random, unknowns)).collect();
        for choice in cells..unknowns {
            let mut only = vec![0; unknowns];
            only[choice] = 1;
            guard.extend([at_least(&only, 0), at_most(&only, 2)]);
        }
        let mut updates = Vec::new();
        for cell in 0..cells {
            if random.chance(70) {
                let mut factors = vec![0; unknowns];
                factors[cell] = if random.chance(85) { 1 } else { random.below(4) as i64 - 1 };
                factors[random.below(unknowns)] += i64::from(random.chance(20));
                updates.push((cell, sum(&factors, random.below(7) as i64 - 2)));
            }
        }
        events.push(Event { guard, updates });
    }
    let property = (0..1 + random.below(2))
        .map(|_| {
            let (row, value) = (row(random, cells), random.below(60) as i64 - 10);
            match random.below(3) {
                0 => differs(&row, value),
                1 => vec![at_most(&row, value)],
                _ => vec![at_least(&row, -value), compare(random, cells)],
            }
        })
        .collect();
    let init = (0..cells).map(|_| small(random)).collect();
    Linear { cells, choices, init, events, property, pairs: random.chance(50), bounded: random.chance(90) }
}

/// What IC3 says of integers without bounds, starting from three bits, against walking through the states: nothing that is
/// proved is broken within eight events, and every counterexample is a path of the machine.
#[test]
fn on_random_machines_of_unbounded_integers_nothing_is_proved_that_is_reached() {
    let (mut proved, mut strengthened, mut violated, mut unknown) = (0, 0, 0, 0);
    for seed in 0..100u64 {
        let machine = random_machine(&mut Random::new(seed));
        let Ok(explicit) = machine.depth(&[0, 1, 2], 8) else { continue };
        let report = prove(&machine, &options(3, 32, 9));
        match report.outcome {
            Outcome::Invariant(cubes) => {
                assert_eq!(explicit, None, "seed {seed}: {machine:?}");
                proved += 1;
                strengthened += usize::from(!cubes.is_empty());
            }
            Outcome::Counterexample(path) => {
                let depth = path.depth();
                assert!(explicit.map_or(depth > 8, |least| least <= depth), "seed {seed}: {machine:?}");
                let last = match path.end {
                    Some(Finding::Step(event)) => Some(event),
                    _ => None,
                };
                let events: Vec<usize> = path.events.iter().copied().chain(last).collect();
                assert!(machine.replays(&events, &[0, 1, 2]), "seed {seed}: {machine:?}");
                violated += 1;
            }
            Outcome::Unknown(Why::Refuted(part)) => panic!("seed {seed}: {part:?}"),
            Outcome::Unknown(_) => unknown += 1,
        }
    }
    let counts = (proved, strengthened, violated, unknown);
    assert!(proved >= 30 && strengthened >= 5 && violated >= 10 && unknown <= 30, "{counts:?}");
}
