//! Packed states under permutations: every layout against the values it stands for.
//!
//! Random states of machines whose variables cover all layouts (codes, bit-sets, matrices, tables, the
//! value pool, states that escape) are renamed as values and packed; identities must agree with that.

use crate::support;

use bombus::base::budget::Budget;
use bombus::evaluate::State;
use bombus::lang::typed::{Machine, SetId, Type};
use bombus::lang::value::Value;
use bombus::model::{LoadOptions, load};
use bombus::program::symmetry::Mode;
use bombus::program::symmetry::types::Group;
use bombus::program::{self, Program};
use bombus::system::{Precision, System};
use std::collections::BTreeMap;
use support::rng::Rng;
use support::{cases, first_seed, with_stack};

const WORDS: &str = "MACHINE M SETS D; E; K = {k1, k2}
VARIABLES x, s, f, g, h, r, d, m, k, both, b
INVARIANT x : D & s <: D & f : D --> 0..3 & g : D +-> E & h : 1..3 --> POW(D) & r : D <-> E & d : D <-> D
  & m : D +-> K & k : K --> D & both : D * E & b : BOOL & k1 : K
INITIALISATION x :: D || s := {} || f := D * {0} || g := {} || h := (1..3) * {{}} || r := {} || d := {}
  || m := {} || k :: K --> D || both :: D * E || b := TRUE
OPERATIONS o = skip END";

const POOLED: &str = "MACHINE M SETS D; E
VARIABLES q, ss, deep, triple, t, w, n
INVARIANT q : seq(D) & ss <: POW(D) & deep : D <-> POW(E) & triple : (D * E) <-> D & t : D --> POW(E)
  & w : struct(a : D, c : POW(E)) & n : INTEGER
INITIALISATION q := [] || ss := {} || deep := {} || triple := {} || t := D * {{}} || w :: struct(a : D, c : POW(E)) || n := 0
OPERATIONS o = skip END";

const NAMED: &str = "MACHINE M SETS D CONSTANTS c, e, f PROPERTIES c : D & e : D & c /= e & f : D --> 0..1
VARIABLES x, s, d INVARIANT x : D & s <: D & d : D <-> D
INITIALISATION x := c || s := {} || d := {}
OPERATIONS o = PRE x = c THEN x := e END END";

fn value(rng: &mut Rng, machine: &Machine, ty: &Type) -> Value {
    match ty {
        // Now and then a number that has no place in a window.
        Type::Integer => Value::int(if rng.one_in(12) { 100 } else { rng.below(4) as i64 }),
        Type::Bool => Value::Bool(rng.one_in(2)),
        Type::Set(s) => Value::Elem(*s, rng.below(machine.set(*s).elems.len()) as u32),
        Type::Prod(a, b) => Value::pair(value(rng, machine, a), value(rng, machine, b)),
        Type::Struct(fields) => Value::Rec(fields.iter().map(|(_, t)| value(rng, machine, t)).collect()),
        Type::Pow(t) => {
            let n = rng.below(5);
            match &**t {
                // Mostly functions, some of them on all of a set; else the state escapes.
                Type::Prod(a, b) if !rng.one_in(8) => {
                    let whole = match &**a {
                        Type::Set(s) if rng.one_in(2) => machine.set(*s).elems.len(),
                        _ => n,
                    };
                    let pairs: BTreeMap<Value, Value> = (0..whole)
                        .map(|i| match &**a {
                            Type::Set(s) if whole != n => (Value::Elem(*s, i as u32), value(rng, machine, b)),
                            _ => (value(rng, machine, a), value(rng, machine, b)),
                        })
                        .collect();
                    Value::set(pairs.into_iter().map(|(a, b)| Value::pair(a, b)).collect())
                }
                t => Value::set((0..n).map(|_| value(rng, machine, t)).collect()),
            }
        }
        _ => panic!("no such type here"),
    }
}

/// Renames elements; written apart from the one under test.
fn renamed(v: &Value, to: &dyn Fn(SetId, u32) -> u32) -> Value {
    match v {
        Value::Elem(s, n) => Value::Elem(*s, to(*s, *n)),
        Value::Pair(p) => Value::pair(renamed(&p.0, to), renamed(&p.1, to)),
        Value::Set(all) => Value::set(all.iter().map(|v| renamed(v, to)).collect()),
        Value::Rec(all) => Value::Rec(all.iter().map(|v| renamed(v, to)).collect()),
        other => other.clone(),
    }
}

fn random_renaming(rng: &mut Rng, group: &Group) -> BTreeMap<(SetId, u32), u32> {
    let mut to = BTreeMap::new();
    for range in &group.ranges {
        let mut numbers: Vec<u32> =
            group.elements[range.clone()].iter().map(|e| u32::from(e.number)).collect();
        for i in (1..numbers.len()).rev() {
            numbers.swap(i, rng.below(i + 1));
        }
        for (e, n) in group.elements[range.clone()].iter().zip(numbers) {
            to.insert((e.set, u32::from(e.number)), n);
        }
    }
    to
}

fn identity(program: &Program, state: &State) -> (Vec<u64>, Precision) {
    let packed = program.pack(state).expect("the constants are a valuation");
    let mut orbits = program.orbits().expect("the machine is symmetric");
    let mut out = vec![0; orbits.words()];
    let precision = orbits.identity(&packed, &mut out);
    (out, precision)
}

fn compare(text: &'static str, sizes: &'static [(&'static str, usize)]) {
    compare_with(text, sizes, false);
}

/// With all valuations of the constants, or with one of each orbit.
fn compare_with(text: &'static str, sizes: &'static [(&'static str, usize)], all_constants: bool) {
    with_stack(move || {
        let dir = tempfile::tempdir().expect("a directory for the model");
        let path = dir.path().join("M.mch");
        std::fs::write(&path, text).expect("the model is written");
        let set_sizes = sizes.iter().map(|(s, n)| (s.to_string(), *n)).collect();
        let loaded = load(&path, &LoadOptions { set_sizes, all_constants, ..LoadOptions::default() });
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        let machine = &model.machine;
        let budget = Budget::unlimited();
        let with = |mode| {
            let options = program::Options { symmetry: Some(mode), ..program::Options::default() };
            program::compile(machine, &budget, &options).expect("nothing stops the set-up")
        };
        let modes = [Mode::Exact, Mode::Flood, Mode::Marker, Mode::MarkerClassic];
        let programs = modes.map(with);
        let group = programs[0].symmetry().expect("the machine is symmetric").group.clone();
        let mut rng = Rng::new(first_seed());
        let mut by_flood: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
        let mut by_form: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
        let mut by_marker: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
        let mut states: Vec<State> = Vec::new();
        for _ in 0..cases(300) {
            let valuation = rng.below(programs[0].valuations());
            let constants: Vec<Value> =
                programs[0].valuation(valuation).into_iter().map(|(_, v)| v).collect();
            // Some variables stay empty, so that few elements are used.
            let variables: Vec<Value> = machine
                .variables
                .iter()
                .map(|v| match &machine.var(*v).ty {
                    Type::Pow(_) if rng.chance(50) => Value::empty(),
                    ty => value(&mut rng, machine, ty),
                })
                .collect();
            let state = State { constants: constants.into(), variables: variables.into() };
            let ids: Vec<(Vec<u64>, Precision)> = programs.iter().map(|p| identity(p, &state)).collect();
            // The constants must stay a valuation: only permutations that leave them alone.
            for _ in 0..3 {
                let to = random_renaming(&mut rng, &group);
                let to = |s: SetId, n: u32| to.get(&(s, n)).copied().unwrap_or(n);
                if state.constants.iter().any(|v| renamed(v, &to) != *v) {
                    continue;
                }
                let other = State {
                    constants: state.constants.clone(),
                    variables: state.variables.iter().map(|v| renamed(v, &to)).collect(),
                };
                for (program, id) in programs.iter().zip(&ids) {
                    assert_eq!(identity(program, &other), *id, "{state:?}");
                }
            }
            // The state that stands for the orbit is of the orbit, and has constants that are explored.
            for (program, (id, _)) in programs.iter().zip(&ids).take(2) {
                let stands = representative(program, id);
                assert!(program.pack(&stands).is_some(), "{stands:?}");
                assert_eq!(identity(program, &stands).0, *id, "{state:?} and {stands:?}");
                assert!(all_constants || stands.constants == state.constants, "{state:?} and {stands:?}");
            }
            states.push(state.clone());
            let [(form, _), (flood, _), (marker, precision), _] = &ids[..] else { unreachable!() };
            assert_eq!(by_flood.entry(flood.clone()).or_insert(form.clone()), form, "{state:?}");
            assert_eq!(by_form.entry(form.clone()).or_insert(flood.clone()), flood, "{state:?}");
            if *precision == Precision::Exact {
                assert_eq!(by_marker.entry(marker.clone()).or_insert(form.clone()), form, "{state:?}");
            }
        }
        assert!(by_form.len() > 50, "{}", by_form.len());
        // Another run meets values in another order, and the same states stand for orbits.
        for mode in [Mode::Exact, Mode::Flood] {
            let (one, other) = (with(mode), with(mode));
            let stands = |program: &Program, state| representative(program, &identity(program, state).0);
            let forwards: Vec<State> = states.iter().map(|s| stands(&one, s)).collect();
            let mut backwards: Vec<State> = states.iter().rev().map(|s| stands(&other, s)).collect();
            backwards.reverse();
            assert_eq!(forwards, backwards);
        }
    });
}

fn representative(program: &Program, identity: &[u64]) -> State {
    let mut state = vec![0; identity.len() - 1];
    let mut orbits = program.orbits().expect("the machine is symmetric");
    assert!(orbits.representative(identity, &mut state), "{identity:?}");
    program.values(&state)
}

#[test]
fn states_in_words_have_the_identities_of_their_values() {
    compare(WORDS, &[("D", 4), ("E", 3)]);
}

#[test]
fn pooled_and_escaped_states_have_the_identities_of_their_values() {
    compare(POOLED, &[("D", 4), ("E", 2)]);
}

#[test]
fn named_elements_stay_in_their_places() {
    compare(NAMED, &[("D", 5)]);
}

/// Constants that relate elements in many ways, beside variables in words and in the pool.
const RELATED: &str =
    "MACHINE M SETS D CONSTANTS next, chosen PROPERTIES next : D >+> D & card(next) = 1 & chosen <: D & card(chosen) = 2
VARIABLES x, d, q, ss INVARIANT x : D & d : D <-> D & q : seq(D) & ss <: POW(D)
INITIALISATION x :: D || d := {} || q := [] || ss := {}
OPERATIONS o = PRE x : chosen THEN x := next(x) END END";

#[test]
fn constants_that_hold_elements_stay_valuations_that_are_explored() {
    compare(RELATED, &[("D", 4)]);
    compare_with(RELATED, &[("D", 4)], true);
    compare_with(NAMED, &[("D", 4)], true);
}
