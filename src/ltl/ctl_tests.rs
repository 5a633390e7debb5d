//! CTL: what is read, what is true, and that it agrees with LTL and with a naive fixpoint.

use super::*;
use crate::ctl_parse::parse_ctl;
use crate::testing::{HERE, Random, World};
use bombus_base::budget::Budget;

fn read(text: &str) -> String {
    parse_ctl(text, HERE).unwrap_or_else(|f| panic!("{text}: {}", f[0].message)).formula.to_string()
}

fn check(world: &World, text: &str) -> CtlVerdict {
    let formula = parse_ctl(text, HERE).unwrap_or_else(|f| panic!("{text}: {}", f[0].message)).formula;
    let budget = Budget::unlimited();
    Checker::new(&world.graph, world, &budget).check_ctl(&formula).unwrap()
}

#[test]
fn precedences_are_those_of_prob() {
    for (text, meaning) in [
        ("E {p} U {q} & {r}", "(E ({p} U {q}) & {r})"),
        ("E E {p} U {q} U {r}", "E (E ({p} U {q}) U {r})"),
        ("AG EF {p}", "AG EF {p}"),
        ("AGEFEX[Move]true", "AG EF EX[Move] true"),
        ("EX[Move]EX[Move]true", "EX[Move] EX[Move] true"),
        ("EX [a]", "EX e(a)"),
        ("(EX [a])", "EX e(a)"),
        ("E X {p}", "EX {p}"),
        ("AG ( EX[swap]true => {x})", "AG (EX[swap] true => {x})"),
        ("{a} => {b} => {c}", "(({a} => {b}) => {c})"),
        ("{a} or {b} & {c}", "(({a} or {b}) & {c})"),
        ("A {p} U {q}", "A ({p} U {q})"),
        ("not(EF EX[Set(aa)]{xx=bb})", "not EF EX[Set(aa)] {xx=bb}"),
        ("AF deadlock or EG sink", "(AF deadlock or EG sink)"),
        ("AG !{p}", "AG not {p}"),
    ] {
        assert_eq!(read(text), meaning);
    }
    for text in
        ["E {p} U E {q} U {r}", "AG", "G {p}", "{p} <=> {q}", "{p} W {q}", "AG {p})", "E {p}", "Y {p}"]
    {
        assert!(parse_ctl(text, HERE).is_err(), "{text}");
    }
}

#[test]
fn formulas_are_decided_on_maximal_paths() {
    let world = World::new("0 -a-> 1; 1 -b-> 1; 0 -c-> 2", &[("p", &[0, 1]), ("q", &[2])]);
    for (formula, word) in [
        ("EG {p}", "holds"),
        ("AG {p}", "violated"),
        ("EF {q}", "holds"),
        ("AF {q}", "violated"),
        ("EX[a] {p}", "holds"),
        ("EX[a] {q}", "violated"),
        ("EX[c] AX false", "holds"),
        ("EX[c] deadlock", "holds"),
        ("EF EG {q}", "holds"),
        ("AG (deadlock => {q})", "holds"),
        ("[a] & [c]", "holds"),
        ("A {p} U {q}", "violated"),
        ("A {p} U ({q} or EG {p})", "holds"),
        ("E {p} U {q}", "holds"),
        ("AX ({q} or EX[b] true)", "holds"),
    ] {
        assert_eq!(check(&world, formula).word(), word, "{formula}");
    }
}

#[test]
fn a_violation_is_explained_by_a_path() {
    let world = World::new("0 -a-> 1; 1 -b-> 2; 2 -c-> 1; 1 -d-> 3", &[("p", &[0, 1, 2]), ("q", &[3])]);
    for (formula, states, end) in [
        ("AG {p}", vec![0, 1, 3], End::Open),
        ("AF {q}", vec![0, 1, 2], End::Loop(1)),
        ("AX AX {p}", vec![0, 1, 3], End::Open),
        ("not EF {q}", vec![0, 1, 3], End::Open),
        ("AG AF {q}", vec![0, 1, 2], End::Loop(1)),
        ("{q}", vec![0], End::Open),
    ] {
        let CtlVerdict::Violated(path, _) = check(&world, formula) else { panic!("{formula}") };
        assert_eq!(path.fault(&world.graph), None, "{formula}");
        let shown: Vec<u32> = path.states.iter().map(|s| s.0).collect();
        assert_eq!((shown, path.end), (states, end), "{formula}");
    }
}

#[test]
fn an_incomplete_graph_never_makes_a_formula_hold() {
    let mut world = World::new("0 -a-> 1; 0 -b-> 2", &[("p", &[0, 1, 2]), ("q", &[2])]);
    world.graph = world.graph.with_open(1);
    for (formula, word) in [
        ("AG {p}", "incomplete"),
        ("EF {q}", "incomplete"),
        ("AG not {q}", "violated"),
        ("EG not {q}", "incomplete"),
        ("AX {q}", "violated"),
        ("EX[b] not {q}", "violated"),
        ("EF not {p}", "incomplete"),
    ] {
        assert_eq!(check(&world, formula).word(), word, "{formula}");
    }
}

/// Straight fixpoint iteration over booleans; shares nothing with the labelling.
fn naive(world: &World, formula: &Ctl) -> Vec<bool> {
    let graph = &world.graph;
    let n = graph.states();
    let edges = |s: usize| graph.edges(State(s as u32)).map(Edge).collect::<Vec<_>>();
    let to = |e: &Edge| graph.target(*e).index();
    match &formula.kind {
        CtlKind::Constant(value) => vec![*value; n],
        CtlKind::Atom(Atom::Predicate(p)) => {
            (0..n).map(|s| world.propositions[&p.text].contains(&(s as u32))).collect()
        }
        CtlKind::Atom(Atom::Enabled(p)) => {
            let event = world.events.iter().position(|e| *e == p.operation.text).unwrap();
            (0..n).map(|s| edges(s).iter().any(|e| graph.event(*e).0 as usize == event)).collect()
        }
        CtlKind::Atom(_) => (0..n).map(|s| edges(s).is_empty()).collect(),
        CtlKind::Not(f) => naive(world, f).iter().map(|v| !v).collect(),
        CtlKind::And(f, g) => naive(world, f).iter().zip(naive(world, g)).map(|(a, b)| *a && b).collect(),
        CtlKind::Or(f, g) => naive(world, f).iter().zip(naive(world, g)).map(|(a, b)| *a || b).collect(),
        CtlKind::Implies(f, g) => {
            naive(world, f).iter().zip(naive(world, g)).map(|(a, b)| !*a || b).collect()
        }
        CtlKind::Path(quantifier, temporal) => {
            let all = *quantifier == Quantifier::All;
            let some = |v: &[bool], s: usize, at_end: bool| {
                let edges = edges(s);
                if edges.is_empty() {
                    at_end
                } else if all {
                    edges.iter().all(|e| v[to(e)])
                } else {
                    edges.iter().any(|e| v[to(e)])
                }
            };
            let iterate = |from: bool, step: &dyn Fn(&[bool], usize) -> bool| {
                let mut v = vec![from; n];
                loop {
                    let next: Vec<bool> = (0..n).map(|s| step(&v, s)).collect();
                    if next == v {
                        return v;
                    }
                    v = next;
                }
            };
            match temporal {
                Temporal::Next(None, f) => {
                    let f = naive(world, f);
                    (0..n).map(|s| some(&f, s, all)).collect()
                }
                Temporal::Next(Some(p), f) => {
                    let f = naive(world, f);
                    let event = world.events.iter().position(|e| *e == p.operation.text).unwrap();
                    (0..n)
                        .map(|s| edges(s).iter().any(|e| graph.event(*e).0 as usize == event && f[to(e)]))
                        .collect()
                }
                Temporal::Finally(f) => {
                    let f = naive(world, f);
                    iterate(false, &|v, s| f[s] || some(v, s, false))
                }
                Temporal::Globally(f) => {
                    let f = naive(world, f);
                    iterate(true, &|v, s| f[s] && some(v, s, true))
                }
                Temporal::Until(f, g) => {
                    let (f, g) = (naive(world, f), naive(world, g));
                    iterate(false, &|v, s| g[s] || f[s] && some(v, s, false))
                }
            }
        }
    }
}

fn random_world(random: &mut Random) -> World {
    let states = 1 + random.below(8);
    let mut text = format!("{}; ", states - 1);
    for s in (0..states).filter(|s| s % 4 != 3) {
        for _ in 0..1 + random.below(2) {
            text.push_str(&format!("{s} -{}-> {}; ", random.pick(&["a", "b"]), random.below(states)));
        }
    }
    let set = |random: &mut Random| (0..states as u32).filter(|_| random.below(2) == 0).collect::<Vec<_>>();
    let (p, q) = (set(random), set(random));
    let mut world = World::new(&text, &[("p", &p), ("q", &q)]);
    world.events = vec!["a".into(), "b".into()];
    world
}

pub(crate) fn random_formula(random: &mut Random, size: u64) -> String {
    if size <= 1 {
        return random.pick(&["{p}", "{q}", "e(a)", "[b]", "deadlock", "true"]).to_string();
    }
    match random.below(4) {
        0 => format!("not ({})", random_formula(random, size - 1)),
        1 => {
            let op = random.pick(&["&", "or", "=>"]);
            format!("({}) {op} ({})", random_formula(random, size / 2), random_formula(random, size / 2))
        }
        2 => {
            let op = random.pick(&["E", "A"]);
            format!("{op} ({}) U ({})", random_formula(random, size / 2), random_formula(random, size / 2))
        }
        _ => {
            let op = random.pick(&["EX", "AX", "EX[a]", "EF", "AF", "EG", "AG"]);
            format!("{op} ({})", random_formula(random, size - 1))
        }
    }
}

#[test]
fn labelling_agrees_with_naive_fixpoints() {
    let mut random = Random(8);
    let mut compared = 0;
    let mut violated = 0;
    for _ in 0..5000 {
        let world = random_world(&mut random);
        let size = 1 + random.below(8);
        let text = random_formula(&mut random, size);
        let formula = parse_ctl(&text, HERE).unwrap().formula;
        let expected = if naive(&world, &formula)[0] { "holds" } else { "violated" };
        let verdict = check(&world, &text);
        assert_eq!(verdict.word(), expected, "{text} on {:?}", world.graph);
        if let CtlVerdict::Violated(path, rows) = verdict {
            violated += 1;
            assert_eq!(path.fault(&world.graph), None, "{text}: {path:?} on {:?}", world.graph);
            // The row of the whole formula has its truth in the states of the path.
            let whole = naive(&world, &formula);
            for row in rows.iter().filter(|row| row.formula == formula.to_string()) {
                let truth =
                    path.states.iter().map(|s| if whole[s.index()] { Truth::True } else { Truth::False });
                assert_eq!(row.truth, truth.collect::<Vec<_>>(), "{text} along {path:?}");
                compared += 1;
            }
        }
    }
    assert!((1000..4000).contains(&violated), "{violated}");
    assert!(compared > 900, "{compared}");
}

#[test]
fn on_all_paths_means_the_same_as_in_ltl() {
    let mut random = Random(9);
    for _ in 0..500 {
        let world = random_world(&mut random);
        for (ctl, ltl) in [
            ("AG {p}", "G {p}"),
            ("AF {p}", "F {p}"),
            ("A {p} U {q}", "{p} U {q}"),
            ("AX {p}", "deadlock or X {p}"),
            ("AG AF {p}", "G F {p}"),
            ("AG ({p} => AF {q})", "G ({p} => F {q})"),
        ] {
            assert_eq!(check(&world, ctl).word(), world.check(ltl).word(), "{ctl} on {:?}", world.graph);
        }
    }
}
