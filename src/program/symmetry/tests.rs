//! Canonical forms and markers against all permutations, on random nested values and on graphs whose
//! classes are known.

use super::canon::{Canoniser, Failed, Writer, least_of_all};
use super::structure::Structure;
use super::types::{Group, Standing};
use super::{classic, values};
use bombus_kernels::hash;
use bombus_kernels::random::Random;
use bombus_lang::typed::SetId;
use bombus_lang::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

struct Rng(Random);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }
}

/// A state as a list of values.
struct Listed<'a> {
    group: &'a Group,
    values: &'a [Value],
    writings: usize,
}

impl Writer for Listed<'_> {
    fn write(&mut self, numbers: &[u16], out: &mut Vec<u64>) -> bool {
        self.writings += 1;
        let mut bytes = Vec::new();
        for v in self.values {
            let Some(v) = values::permuted(self.group, v, numbers) else { return false };
            v.encode(&mut bytes);
        }
        out.clear();
        out.push(bytes.len() as u64);
        out.extend(bytes.chunks(8).map(|c| c.iter().fold(0, |w, b| w << 8 | u64::from(*b))));
        true
    }
}

fn group(sizes: &[usize]) -> Arc<Group> {
    let all = vec![Standing::Symmetric { named: BTreeSet::new() }; sizes.len()];
    Arc::new(Group::of(sizes, &all))
}

fn structure(group: &Arc<Group>, state: &[Value]) -> Structure {
    let mut s = Structure::new(group);
    for (i, v) in state.iter().enumerate() {
        values::enter(group, v, super::renumbering::variable_key(i), &mut Vec::new(), &mut s);
    }
    s
}

fn canonical_with(group: &Arc<Group>, state: &[Value]) -> (Result<Vec<u64>, Failed>, usize) {
    let mut writer = Listed { group, values: state, writings: 0 };
    let form =
        Canoniser::new(group).canonical(&mut structure(group, state), &mut writer).map(<[u64]>::to_vec);
    (form, writer.writings)
}

fn canonical(group: &Arc<Group>, state: &[Value]) -> Vec<u64> {
    canonical_with(group, state).0.expect("within the budget")
}

fn flooded(group: &Arc<Group>, state: &[Value]) -> Vec<u64> {
    let mut out = Vec::new();
    assert!(least_of_all(group, &mut Listed { group, values: state, writings: 0 }, &mut out));
    out
}

fn marker(group: &Arc<Group>, state: &[Value]) -> u128 {
    structure(group, state).refined_marker(&mut vec![0; group.elements.len()])
}

fn classic_marker(group: &Arc<Group>, state: &[Value]) -> u128 {
    classic::marker(group, &state.iter().enumerate().collect::<Vec<_>>())
}

fn shuffled(group: &Group, state: &[Value], rng: &mut Rng) -> Vec<Value> {
    let mut numbers: Vec<u16> = group.elements.iter().map(|e| e.number).collect();
    for range in &group.ranges {
        for i in (range.start + 1..range.end).rev() {
            numbers.swap(i, range.start + rng.below(i - range.start + 1));
        }
    }
    state.iter().map(|v| values::permuted(group, v, &numbers).expect("nothing symbolic")).collect()
}

#[derive(Clone)]
enum Kind {
    Element(u32),
    Number,
    Truth,
    Pair(Box<Kind>, Box<Kind>),
    Set(Box<Kind>),
    /// A function, so that nesting in ranges is seen.
    Function(Box<Kind>, Box<Kind>),
}

fn kind(rng: &mut Rng, depth: usize) -> Kind {
    match rng.below(if depth == 0 { 4 } else { 9 }) {
        0 | 1 => Kind::Element(0),
        2 => Kind::Element(1),
        3 => [Kind::Number, Kind::Truth][rng.below(2)].clone(),
        4 | 5 => Kind::Pair(Box::new(kind(rng, depth - 1)), Box::new(kind(rng, depth - 1))),
        6 => Kind::Function(Box::new(kind(rng, 0)), Box::new(kind(rng, depth - 1))),
        _ => Kind::Set(Box::new(kind(rng, depth - 1))),
    }
}

fn value(rng: &mut Rng, group: &Group, kind: &Kind) -> Value {
    match kind {
        Kind::Element(s) => {
            let range = &group.ranges[*s as usize];
            Value::Elem(SetId(*s), rng.below(range.len()) as u32)
        }
        Kind::Number => Value::int(rng.below(3) as i64),
        Kind::Truth => Value::Bool(rng.below(2) == 1),
        Kind::Pair(a, b) => Value::pair(value(rng, group, a), value(rng, group, b)),
        Kind::Set(k) => {
            let n = rng.below(5);
            Value::set((0..n).map(|_| value(rng, group, k)).collect())
        }
        Kind::Function(a, b) => {
            let pairs: BTreeMap<Value, Value> =
                (0..rng.below(5)).map(|_| (value(rng, group, a), value(rng, group, b))).collect();
            Value::set(pairs.into_iter().map(|(a, b)| Value::pair(a, b)).collect())
        }
    }
}

#[test]
fn states_that_a_permutation_maps_to_each_other_have_one_form_and_one_marker() {
    // Ten thousand random states, each with a random permutation of it.
    let mut rng = Rng(Random(11));
    for _ in 0..10_000 {
        let group = group(&[2 + rng.below(5), 1 + rng.below(4)]);
        let kinds: Vec<Kind> = (0..1 + rng.below(3)).map(|_| kind(&mut rng, 3)).collect();
        let state: Vec<Value> = kinds.iter().map(|k| value(&mut rng, &group, k)).collect();
        let other = shuffled(&group, &state, &mut rng);
        assert_eq!(canonical(&group, &state), canonical(&group, &other), "{state:?}");
        assert_eq!(marker(&group, &state), marker(&group, &other), "{state:?}");
        assert_eq!(classic_marker(&group, &state), classic_marker(&group, &other), "{state:?}");
    }
}

#[test]
fn a_form_tells_exactly_the_orbits_apart_that_all_permutations_do() {
    let mut rng = Rng(Random(12));
    let mut shared = 0;
    for _ in 0..400 {
        let group = group(&[2 + rng.below(4), 1 + rng.below(3)]);
        let kinds: Vec<Kind> = (0..1 + rng.below(2)).map(|_| kind(&mut rng, 3)).collect();
        let mut by_all: BTreeMap<Vec<u64>, (Vec<u64>, u128, u128)> = BTreeMap::new();
        let mut by_form: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
        for _ in 0..30 {
            let state: Vec<Value> = kinds.iter().map(|k| value(&mut rng, &group, k)).collect();
            let (all, form) = (flooded(&group, &state), canonical(&group, &state));
            let markers = (marker(&group, &state), classic_marker(&group, &state));
            shared += usize::from(by_all.contains_key(&all));
            // A marker never splits an orbit.
            let known = by_all.entry(all.clone()).or_insert((form.clone(), markers.0, markers.1));
            assert_eq!(*known, (form.clone(), markers.0, markers.1), "{state:?}");
            assert_eq!(*by_form.entry(form).or_insert(all.clone()), all, "{state:?}");
        }
    }
    assert!(shared > 1000, "orbits must meet for the test to mean anything: {shared}");
}

fn element(n: usize) -> Value {
    Value::Elem(SetId(0), n as u32)
}

fn graph(edges: impl Iterator<Item = (usize, usize)>) -> Vec<Value> {
    vec![Value::set(edges.map(|(a, b)| Value::pair(element(a), element(b))).collect())]
}

#[test]
fn the_3044_classes_of_relations_over_four_elements_are_told_apart() {
    // A000595: 2, 10, 104, 3044. Definitions 6 to 8 give 3010 (docs/algorithms.md, F5).
    let classes = |n: usize| {
        let group = group(&[n]);
        let mut forms = BTreeSet::new();
        let mut markers = BTreeSet::new();
        let mut classics = BTreeSet::new();
        for bits in 0..1u64 << (n * n) {
            let state = graph((0..n * n).filter(|b| bits >> b & 1 == 1).map(|b| (b / n, b % n)));
            forms.insert(hash::words(&canonical(&group, &state)));
            markers.insert(marker(&group, &state));
            classics.insert(classic_marker(&group, &state));
        }
        (forms.len(), markers.len(), classics.len())
    };
    assert_eq!(classes(2), (10, 10, 10));
    assert_eq!(classes(3), (104, 104, 104));
    assert_eq!(classes(4), (3044, 3044, 3010));
}

#[test]
fn the_subsets_of_five_elements_have_six_orbits() {
    let group = group(&[5]);
    let forms: BTreeSet<Vec<u64>> = (0..32u32)
        .map(|bits| {
            let set = Value::set((0..5).filter(|i| bits >> i & 1 == 1).map(element).collect());
            canonical(&group, &[set])
        })
        .collect();
    assert_eq!(forms.len(), 6);
}

/// Two graphs with 16 vertices of degree 6 in which any two vertices have two common neighbours.
fn rook_and_shrikhande() -> [Vec<Value>; 2] {
    let vertices = || (0..16usize).flat_map(|a| (0..16usize).map(move |b| (a, b))).filter(|(a, b)| a != b);
    let rook = graph(vertices().filter(|(a, b)| a / 4 == b / 4 || a % 4 == b % 4));
    let shrikhande = graph(vertices().filter(|(a, b)| {
        let step = ((4 + b / 4 - a / 4) % 4, (4 + b % 4 - a % 4) % 4);
        [(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)].contains(&step)
    }));
    [rook, shrikhande]
}

#[test]
fn the_search_separates_what_refinement_cannot() {
    let group = group(&[16]);
    let [rook, shrikhande] = rook_and_shrikhande();
    assert_eq!(marker(&group, &rook), marker(&group, &shrikhande), "they are strongly regular alike");
    let mut rng = Rng(Random(5));
    for graph in [&rook, &shrikhande] {
        for _ in 0..5 {
            let other = shuffled(&group, graph, &mut rng);
            assert_eq!(canonical(&group, graph), canonical(&group, &other));
        }
    }
    assert_ne!(canonical(&group, &rook), canonical(&group, &shrikhande));
}

#[test]
fn one_ring_and_two_smaller_ones_differ() {
    // Left of Figure 7 of the symmetry markers: the classic marker does not see it, ours does, because
    // there and back between two elements is seen together. Not so with rings of six and three.
    let group = group(&[6]);
    let one = graph((0..4).map(|i| (i, (i + 1) % 4)));
    let two = graph([(0, 1), (1, 0), (2, 3), (3, 2)].into_iter());
    assert_eq!(classic_marker(&group, &one), classic_marker(&group, &two));
    assert_ne!(marker(&group, &one), marker(&group, &two));
    assert_ne!(canonical(&group, &one), canonical(&group, &two));
    let one = graph((0..6).map(|i| (i, (i + 1) % 6)));
    let two = graph((0..6).map(|i| (i, i / 3 * 3 + (i + 1) % 3)));
    assert_eq!(marker(&group, &one), marker(&group, &two));
    assert_ne!(canonical(&group, &one), canonical(&group, &two));
}

#[test]
fn twelve_unused_elements_cost_no_search() {
    let group = group(&[14]);
    // An edge between two elements, the others are twins; and nothing at all.
    let (_, writings) = canonical_with(&group, &graph([(3, 7)].into_iter()));
    assert_eq!(writings, 1);
    // Nested values are compared as they are written: once for each neighbour in the order.
    let nested = [Value::set(vec![Value::set(vec![element(3), element(7)]), Value::empty()])];
    let (form, writings) = canonical_with(&group, &nested);
    assert!(form.is_ok() && writings <= 2 * 14, "{writings}");
}

#[test]
fn a_search_that_takes_too_long_is_given_up() {
    let group = group(&[16]);
    let [rook, _] = rook_and_shrikhande();
    let mut canoniser = Canoniser::new(&group);
    canoniser.budget = 2;
    let mut writer = Listed { group: &group, values: &rook, writings: 0 };
    let given_up = canoniser.canonical(&mut structure(&group, &rook), &mut writer).map(<[u64]>::to_vec);
    assert_eq!(given_up, Err(Failed::Budget));
    // The next state is not concerned.
    let empty = graph(std::iter::empty());
    let mut writer = Listed { group: &group, values: &empty, writings: 0 };
    assert!(canoniser.canonical(&mut structure(&group, &empty), &mut writer).is_ok());
}

#[test]
fn matched_pairs_cost_a_polynomial_number_of_writings() {
    // Twelve servers, each with a user: 12! automorphisms.
    let group = group(&[12, 12]);
    let matched =
        vec![Value::set((0..12).map(|i| Value::pair(element(i), Value::Elem(SetId(1), i as u32))).collect())];
    let (form, writings) = canonical_with(&group, &matched);
    assert!(form.is_ok() && writings <= 12 * 12, "{writings}");
    assert_eq!(form.unwrap(), canonical(&group, &shuffled(&group, &matched, &mut Rng(Random(3)))));
}

#[test]
fn the_two_philosophers_of_figure_6_differ_and_the_classic_marker_does_not_see_it() {
    let group = group(&[2, 2]);
    let fork = |n: u32| Value::Elem(SetId(1), n);
    let relation = |pairs: [(usize, u32); 2]| {
        Value::set(pairs.iter().map(|(p, f)| Value::pair(element(*p), fork(*f))).collect())
    };
    let taken = |pairs: [(u32, usize); 2]| {
        Value::set(pairs.iter().map(|(f, p)| Value::pair(fork(*f), element(*p))).collect())
    };
    let (left, right) = (relation([(0, 0), (1, 1)]), relation([(0, 1), (1, 0)]));
    let all_left = [left.clone(), right.clone(), taken([(0, 0), (1, 1)])];
    let all_right = [left, right, taken([(1, 0), (0, 1)])];
    assert_eq!(classic_marker(&group, &all_left), classic_marker(&group, &all_right));
    assert_ne!(marker(&group, &all_left), marker(&group, &all_right));
    assert_ne!(canonical(&group, &all_left), canonical(&group, &all_right));
}
