//! Fairness against its definition: every strongly connected set of transitions is tried.

use super::check::{Engine, Verdict};
use super::path::End;
use super::testing::{Random, World};
use super::view::{Arc, Edge, Explicit, Graph, State};
use std::collections::BTreeSet;

#[test]
fn what_strong_fairness_forbids_may_leave_a_smaller_loop() {
    // Where b is enabled it leads away; the loop of 1 and 3 does not pass there.
    let world =
        World::new("0 -a-> 1; 1 -a-> 0; 1 -a-> 3; 3 -a-> 1; 0 -b-> 2; 2 -c-> 2", &[("p", &[2]), ("q", &[3])]);
    world.expect("SF(b) => F {p}", "violated");
    world.expect("SF(b) => F ({p} or {q})", "holds");
    let Verdict::Violated(example) = world.check("SF(b) => F {p}") else { panic!() };
    assert_eq!(example.path.states, [State(0), State(1), State(3)]);
    assert_eq!(example.path.end, End::Loop(1));
    // Two constraints, each of which costs a state.
    let world = World::new(
        "0 -a-> 1; 1 -a-> 0; 1 -a-> 2; 2 -a-> 1; 2 -a-> 3; 3 -a-> 2; 0 -b-> 4; 1 -c-> 4; 4 -d-> 4",
        &[("p", &[4]), ("q", &[3, 4])],
    );
    world.expect("SF(b) & SF(c) => F {p}", "violated");
    world.expect("SF(b) & SF(c) => F {q}", "holds");
    world.expect("SF(b) => F {q}", "violated");
}

#[derive(Clone, Copy)]
struct Constraint {
    strong: bool,
    /// An event, or every event with every label.
    event: Option<u32>,
}

const TERMS: [(&str, Constraint); 8] = [
    ("SF(a)", Constraint { strong: true, event: Some(0) }),
    ("SF(b)", Constraint { strong: true, event: Some(1) }),
    ("SF(c)", Constraint { strong: true, event: Some(2) }),
    ("WF(a)", Constraint { strong: false, event: Some(0) }),
    ("WF(b)", Constraint { strong: false, event: Some(1) }),
    ("WF(c)", Constraint { strong: false, event: Some(2) }),
    ("SEF", Constraint { strong: true, event: None }),
    ("WEF", Constraint { strong: false, event: None }),
];

/// Whether going through all of `edges` for ever, and through nothing else, is possible and fair.
fn is_fair_set(world: &World, edges: &[(State, Edge)], constraints: &[Constraint]) -> bool {
    let graph = &world.graph;
    let nodes: BTreeSet<State> = edges.iter().map(|(s, _)| *s).collect();
    let reaches_all = |start: State| {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(s) = open.pop() {
            for (_, e) in edges.iter().filter(|(source, _)| *source == s) {
                if seen.insert(graph.target(*e)) {
                    open.push(graph.target(*e));
                }
            }
        }
        seen == nodes
    };
    if edges.is_empty() || !nodes.iter().all(|s| reaches_all(*s)) {
        return false;
    }
    let label = |e: Edge| (graph.event(e).0, graph.label(e));
    let all: BTreeSet<(u32, u64)> = (0..graph.transitions()).map(|e| label(Edge(e))).collect();
    constraints.iter().all(|c| {
        // The groups of labels each of which has to be treated fairly.
        let groups: Vec<BTreeSet<(u32, u64)>> = match c.event {
            Some(event) => vec![all.iter().copied().filter(|l| l.0 == event).collect()],
            None => all.iter().map(|l| BTreeSet::from([*l])).collect(),
        };
        groups.iter().all(|group| {
            let enabled = |s: &State| graph.edges(*s).any(|e| group.contains(&label(Edge(e))));
            let asked = if c.strong { nodes.iter().any(enabled) } else { nodes.iter().all(enabled) };
            !asked || edges.iter().any(|(_, e)| group.contains(&label(*e)))
        })
    })
}

/// Whether some path that is finite or fair never sees `p`.
fn avoids(world: &World, constraints: &[Constraint]) -> bool {
    let graph = &world.graph;
    let free = |s: State| !world.propositions["p"].contains(&s.0);
    let mut reached: BTreeSet<State> = graph.initial().iter().copied().filter(|s| free(*s)).collect();
    let mut open: Vec<State> = reached.iter().copied().collect();
    while let Some(s) = open.pop() {
        if graph.is_deadlock(s) {
            return true;
        }
        for target in graph.edges(s).map(|e| graph.target(Edge(e))) {
            if free(target) && reached.insert(target) {
                open.push(target);
            }
        }
    }
    let edges: Vec<(State, Edge)> = reached
        .iter()
        .flat_map(|&s| graph.edges(s).map(move |e| (s, Edge(e))))
        .filter(|(_, e)| reached.contains(&graph.target(*e)))
        .collect();
    (1u32..1 << edges.len()).any(|choice| {
        let chosen: Vec<(State, Edge)> =
            edges.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1).map(|(_, e)| *e).collect();
        is_fair_set(world, &chosen, constraints)
    })
}

#[test]
fn fairness_on_components_agrees_with_trying_every_set_of_transitions() {
    let mut random = Random(5);
    let (mut violated, mut held) = (0, 0);
    for _ in 0..3000 {
        let states = 2 + random.below(4) as u32;
        let mut arcs = Vec::new();
        for source in 0..states {
            for _ in 0..random.below(4) {
                // Event d is left alone by the constraints.
                let event = random.pick(&[0, 1, 2, 3, 3, 3]);
                let (label, target) = (random.below(2), random.below(u64::from(states)) as u32);
                arcs.push(Arc { source, event, label, target });
            }
        }
        arcs.truncate(9);
        let p: Vec<u32> = (1..states).filter(|_| random.below(3) == 0).collect();
        let world = World {
            graph: Explicit::new(states as usize, &[0], arcs),
            events: ["a", "b", "c", "d"].map(String::from).to_vec(),
            propositions: [("p".to_string(), p)].into(),
            undefined: Vec::new(),
        };
        let strong: Vec<usize> = (0..3).filter(|_| random.below(2) == 0).collect();
        let weak: Vec<usize> = (3..6).filter(|_| random.below(3) == 0).collect();
        let group = |random: &mut Random, every: usize, some: Vec<usize>| {
            if random.below(5) == 0 { vec![every] } else { some }
        };
        let groups = [group(&mut random, 6, strong), group(&mut random, 7, weak)];
        let chosen: Vec<usize> = groups.concat();
        if chosen.is_empty() {
            continue;
        }
        let assumption = chosen.iter().map(|&t| TERMS[t].0).collect::<Vec<_>>().join(" & ");
        let formula = format!("{assumption} => F {{p}}");
        let constraints: Vec<Constraint> = chosen.iter().map(|&t| TERMS[t].1).collect();
        let expected = if avoids(&world, &constraints) { "violated" } else { "holds" };
        assert_eq!(world.check(&formula).word(), expected, "{formula} on {:?}", world.graph);
        // The tableau takes fairness into the formula and is slow with more than two constraints.
        if chosen.len() <= 2 {
            let tableau = world.check_by(Engine::Tableau, &formula);
            assert!(["incomplete", expected].contains(&tableau.word()), "{formula} on {:?}", world.graph);
        }
        if expected == "holds" {
            held += 1;
        } else {
            violated += 1;
        }
    }
    assert!(violated > 500 && held > 200, "{violated} {held}");
}
