//! IC3 against explicit reachability on random finite systems: the same verdict and the same depth.
//!
//! In: seeds. Never here: systems by hand.

use super::certificate::{self, Recheck};
use super::{Finding, Options, Outcome, prove};
use crate::gates::Gates;
use crate::integer::Integer;
use crate::lrat_check;
use crate::sat::{Batsat, Limit, Lit, Sat};
use crate::system::{Cell, Cube, Part, Step, System, Translation};
use crate::testing::Random;
use dashu_int::IBig;
use std::collections::BTreeMap;

/// A formula over bits of the state and choices, or over numbers of the state.
#[derive(Clone, Debug)]
enum Formula {
    Bit(usize),
    Less(usize, usize),
    AtMost(usize, i64),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Xor(Box<Formula>, Box<Formula>),
}

/// How a number changes.
#[derive(Clone, Debug)]
enum Update {
    Plus(i64),
    Set(i64),
    Copy(usize),
}

#[derive(Clone, Debug)]
struct Event {
    guard: Formula,
    bits: BTreeMap<usize, Formula>,
    numbers: BTreeMap<usize, Update>,
}

/// Bits and numbers of 0..=TOP. Formulas of events also see the choices, as further bits.
#[derive(Clone, Debug)]
struct Machine {
    bits: usize,
    numbers: usize,
    choices: usize,
    init: Vec<Option<bool>>,
    init_numbers: Vec<i64>,
    events: Vec<Event>,
    property: Formula,
    deadlock_is_bad: bool,
}

const TOP: i64 = 7;

fn formula(random: &mut Random, bits: usize, numbers: usize, depth: usize) -> Formula {
    if depth == 0 || random.chance(20) {
        let on_numbers = numbers > 0 && (bits == 0 || random.chance(60));
        return match on_numbers {
            false => Formula::Bit(random.below(bits)),
            true if numbers > 1 && random.chance(50) => {
                Formula::Less(random.below(numbers), random.below(numbers))
            }
            true => Formula::AtMost(random.below(numbers), random.below(TOP as usize + 1) as i64),
        };
    }
    let mut side = || Box::new(formula(random, bits, numbers, depth - 1));
    let (a, b) = (side(), side());
    match random.below(4) {
        0 => Formula::Not(a),
        1 => Formula::And(a, b),
        2 => Formula::Or(a, b),
        _ => Formula::Xor(a, b),
    }
}

fn machine(random: &mut Random, bits: usize, numbers: usize) -> Machine {
    let choices = random.below(3);
    let seen = bits + choices;
    let events = (0..1 + random.below(4))
        .map(|_| {
            let mut event = Event {
                guard: formula(random, seen, numbers, 2),
                bits: BTreeMap::new(),
                numbers: BTreeMap::new(),
            };
            for bit in 0..bits {
                if random.chance(40) {
                    event.bits.insert(bit, formula(random, seen, numbers, 2));
                }
            }
            for number in 0..numbers {
                let update = match random.below(6) {
                    0 => Update::Set(random.below(TOP as usize + 1) as i64),
                    1 => Update::Copy(random.below(numbers)),
                    2 | 3 => Update::Plus(random.below(5) as i64 - 2),
                    _ => continue,
                };
                event.numbers.insert(number, update);
            }
            event
        })
        .collect();
    // With many disjuncts few states are bad, so that some are bad but not reached.
    let mut property = formula(random, bits, numbers, 2);
    for _ in 0..1 + random.below(5) {
        property = Formula::Or(Box::new(property), Box::new(formula(random, bits, numbers, 2)));
    }
    Machine {
        bits,
        numbers,
        choices,
        init: (0..bits).map(|_| (!random.chance(15)).then(|| random.chance(50))).collect(),
        init_numbers: (0..numbers).map(|_| random.below(TOP as usize + 1) as i64).collect(),
        events,
        property,
        deadlock_is_bad: random.chance(15),
    }
}

type State = (Vec<bool>, Vec<i64>);

impl Formula {
    fn holds(&self, bits: &[bool], numbers: &[i64]) -> bool {
        match self {
            Formula::Bit(i) => bits[*i],
            Formula::Less(i, j) => numbers[*i] < numbers[*j],
            Formula::AtMost(i, c) => numbers[*i] <= *c,
            Formula::Not(a) => !a.holds(bits, numbers),
            Formula::And(a, b) => a.holds(bits, numbers) && b.holds(bits, numbers),
            Formula::Or(a, b) => a.holds(bits, numbers) || b.holds(bits, numbers),
            Formula::Xor(a, b) => a.holds(bits, numbers) != b.holds(bits, numbers),
        }
    }

    fn literal(&self, gates: &mut Gates, bits: &[Lit], numbers: &[Integer]) -> Lit {
        match self {
            Formula::Bit(i) => bits[*i],
            Formula::Less(i, j) => gates.int_lt(&numbers[*i], &numbers[*j]),
            Formula::AtMost(i, c) => gates.int_le(&numbers[*i], &Integer::constant(IBig::from(*c))),
            Formula::Not(a) => !a.literal(gates, bits, numbers),
            Formula::And(a, b) => {
                let (a, b) = (a.literal(gates, bits, numbers), b.literal(gates, bits, numbers));
                gates.and(a, b)
            }
            Formula::Or(a, b) => {
                let (a, b) = (a.literal(gates, bits, numbers), b.literal(gates, bits, numbers));
                gates.or(a, b)
            }
            Formula::Xor(a, b) => {
                let (a, b) = (a.literal(gates, bits, numbers), b.literal(gates, bits, numbers));
                gates.xor(a, b)
            }
        }
    }
}

/// Explicit reachability.
impl Machine {
    fn initial(&self) -> Vec<State> {
        let mut all = vec![Vec::new()];
        for value in &self.init {
            let values: &[bool] = match value {
                None => &[false, true],
                Some(true) => &[true],
                Some(false) => &[false],
            };
            all = all
                .into_iter()
                .flat_map(|s: Vec<bool>| values.iter().map(move |v| [&s[..], &[*v]].concat()))
                .collect();
        }
        all.into_iter().map(|bits| (bits, self.init_numbers.clone())).collect()
    }

    fn successors(&self, (bits, numbers): &State) -> Vec<(usize, State)> {
        let mut out = Vec::new();
        for choice in 0..1usize << self.choices {
            let seen: Vec<bool> =
                bits.iter().copied().chain((0..self.choices).map(|i| choice >> i & 1 == 1)).collect();
            for (index, event) in self.events.iter().enumerate() {
                let mut next = (bits.clone(), numbers.clone());
                for (bit, value) in &event.bits {
                    next.0[*bit] = value.holds(&seen, numbers);
                }
                for (number, update) in &event.numbers {
                    next.1[*number] = match update {
                        Update::Plus(c) => numbers[*number] + c,
                        Update::Set(c) => *c,
                        Update::Copy(other) => numbers[*other],
                    };
                }
                if event.guard.holds(&seen, numbers) && next.1.iter().all(|n| (0..=TOP).contains(n)) {
                    out.push((index, next));
                }
            }
        }
        out
    }

    /// The least number of events to a finding.
    fn depth(&self) -> Option<usize> {
        let mut ring = self.initial();
        let mut seen: std::collections::BTreeSet<State> = ring.iter().cloned().collect();
        for depth in 0.. {
            if ring.is_empty() {
                break;
            }
            if ring.iter().any(|state| self.is_bad(state)) {
                return Some(depth);
            }
            let next: Vec<State> = ring.iter().flat_map(|s| self.successors(s)).map(|s| s.1).collect();
            ring = next.into_iter().filter(|s| seen.insert(s.clone())).collect();
        }
        None
    }

    fn is_bad(&self, state: &State) -> bool {
        let dead = self.deadlock_is_bad && self.successors(state).is_empty();
        dead || !self.property.holds(&state.0, &state.1)
    }

    /// Whether a path of these events leads to a state that is a finding.
    fn replays(&self, events: &[usize]) -> bool {
        let mut ring = self.initial();
        for event in events {
            ring =
                ring.iter().flat_map(|s| self.successors(s)).filter(|s| s.0 == *event).map(|s| s.1).collect();
            ring.sort();
            ring.dedup();
        }
        ring.iter().any(|state| self.is_bad(state))
    }
}

/// The same as gates.
impl Machine {
    fn step(
        &self,
        gates: &mut Gates,
        event: &Event,
        bits: &[Lit],
        numbers: &[Integer],
        inputs: &[Lit],
    ) -> Step {
        let seen = [bits, inputs].concat();
        let mut next_bits = bits.to_vec();
        for (bit, value) in &event.bits {
            next_bits[*bit] = value.literal(gates, &seen, numbers);
        }
        let mut next_numbers = numbers.to_vec();
        let mut taken = vec![event.guard.literal(gates, &seen, numbers)];
        for (number, update) in &event.numbers {
            let value = match update {
                Update::Plus(c) => gates.int_add(&numbers[*number], &Integer::constant(IBig::from(*c))),
                Update::Set(c) => Integer::constant(IBig::from(*c)),
                Update::Copy(other) => numbers[*other].clone(),
            };
            taken.push(gates.int_le(&Integer::constant(IBig::ZERO), &value));
            taken.push(gates.int_le(&value, &Integer::constant(IBig::from(TOP))));
            next_numbers[*number] = value;
        }
        let taken = gates.and_all(&taken);
        let good = self.property.literal(gates, &next_bits, &next_numbers);
        let bad = gates.and(taken, !good);
        Step { taken, bad, next: cells(&next_bits, &next_numbers), inputs: inputs.to_vec() }
    }
}

fn cells(bits: &[Lit], numbers: &[Integer]) -> Vec<Cell> {
    let bits = bits.iter().map(|l| Cell::Bit(*l));
    bits.chain(numbers.iter().cloned().map(Cell::Integer)).collect()
}

impl Translation for Machine {
    fn system(&self, _: usize, solver: Box<dyn Sat>) -> System {
        let mut gates = Gates::new(solver);
        let bits: Vec<Lit> = (0..self.bits).map(|_| gates.fresh()).collect();
        let numbers: Vec<Integer> =
            (0..self.numbers).map(|_| gates.int_between(&IBig::ZERO, &IBig::from(TOP))).collect();
        let property = self.property.literal(&mut gates, &bits, &numbers);
        let first: Vec<Lit> =
            self.init.iter().map(|v| v.map_or_else(|| gates.fresh(), Lit::constant)).collect();
        let start: Vec<Integer> =
            self.init_numbers.iter().map(|n| Integer::constant(IBig::from(*n))).collect();
        let good = self.property.literal(&mut gates, &first, &start);
        let inputs = first.iter().copied().filter(|l| !l.is_constant()).collect();
        let init = Step { taken: Lit::TRUE, bad: !good, next: cells(&first, &start), inputs };
        let inputs: Vec<Lit> = (0..self.choices).map(|_| gates.fresh()).collect();
        let events: Vec<Step> =
            self.events.iter().map(|e| self.step(&mut gates, e, &bits, &numbers, &inputs)).collect();
        // A deadlock quantifies over the choices: one literal for each choice and event.
        let mut enabled = Vec::new();
        for choice in 0..1usize << self.choices {
            let inputs: Vec<Lit> = (0..self.choices).map(|i| Lit::constant(choice >> i & 1 == 1)).collect();
            for event in &self.events {
                enabled.push(self.step(&mut gates, event, &bits, &numbers, &inputs).taken);
            }
        }
        let some = gates.or_all(&enabled);
        let mut system = System::new(gates, cells(&bits, &numbers), init, events, property);
        if self.deadlock_is_bad {
            system.bad_state = !some;
        }
        for x in 0..self.numbers {
            system.pairs.extend((0..x).map(|y| (self.bits + x, self.bits + y)));
        }
        system
    }

    fn bound(&self, _: Part, _: &[Cube]) -> Option<usize> {
        Some(1)
    }
}

/// How many machines were of which kind: a test of trivial machines would say little.
#[derive(Debug, Default)]
struct Tally {
    safe: usize,
    /// Safe, and the property alone is not inductive.
    strengthened: usize,
    violated: usize,
    /// Violated after two events or more.
    deep: usize,
}

fn compare(machine: &Machine, seed: usize, proofs: bool, tally: &mut Tally) {
    let report = prove(machine, &Options::default());
    let explicit = machine.depth();
    match (&report.outcome, explicit) {
        (Outcome::Invariant(cubes), None) => {
            tally.safe += 1;
            tally.strengthened += usize::from(!cubes.is_empty());
            let system = machine.system(8, Box::new(Batsat::new()));
            let again = certificate::recheck(system, machine, cubes, 8, &Limit::none()).0;
            assert_eq!(again, Recheck::Proved, "seed {seed}");
            if proofs {
                for part in certificate::proofs(machine, cubes, 8, &Limit::none()).expect("proofs") {
                    let checked = lrat_check::check(&part.proof.cnf.dimacs(), &part.proof.lrat);
                    assert_eq!(checked, Ok(()), "seed {seed} {:?}", part.part);
                }
            }
        }
        (Outcome::Counterexample(path), Some(depth)) => {
            tally.violated += 1;
            tally.deep += usize::from(depth >= 2);
            assert_eq!(path.depth(), depth, "seed {seed}");
            let last = match path.end {
                Some(Finding::Step(event)) => Some(event),
                _ => None,
            };
            let events: Vec<usize> = path.events.iter().copied().chain(last).collect();
            assert!(machine.replays(&events), "seed {seed}");
        }
        (outcome, depth) => panic!("seed {seed}: {outcome:?}, but explicitly {depth:?}\n{machine:?}"),
    }
}

fn compare_many(seeds: std::ops::Range<usize>, sizes: impl Fn(&mut Random) -> (usize, usize)) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut random = Random::new(seed as u64);
        let (bits, numbers) = sizes(&mut random);
        let machine = machine(&mut random, bits, numbers);
        compare(&machine, seed, seed % 20 == 0, &mut tally);
    }
    tally
}

#[test]
fn on_random_systems_of_bits_the_verdict_and_the_depth_are_those_of_reachability() {
    let tally = compare_many(0..2500, |random| (2 + random.below(7), 0));
    assert!(tally.strengthened >= 300 && tally.violated >= 300 && tally.deep >= 100, "{tally:?}");
}

#[test]
fn on_random_systems_of_numbers_the_verdict_and_the_depth_are_those_of_reachability() {
    let tally = compare_many(1_000_000..1_000_500, |random| (random.below(3), 1 + random.below(2)));
    assert!(tally.strengthened >= 50 && tally.violated >= 50 && tally.deep >= 20, "{tally:?}");
}
