//! The counterexamples of docs/algorithms.md (F1 to F3) and small systems with known reduced sizes.

use super::super::{Method, Por, Preserve, Proviso};
use super::full::{Full, algorithm_5};
use super::random::{Fault, Guarded, Instance, Update};
use super::search;

fn step(event: u32, guards: &[(usize, bool)], writes: &[(usize, Update)]) -> Instance {
    Instance { event, guards: guards.to_vec(), outcomes: vec![writes.to_vec()] }
}

fn system(instances: Vec<Instance>, bad: &[(usize, bool)], preserve: Preserve, fault: Fault) -> Guarded {
    Guarded::new(instances, bad.to_vec(), [vec![(0, true)], vec![(1, true)]], vec![0], preserve, fault)
}

fn por(preserve: Preserve, proviso: Proviso) -> Option<Por> {
    Some(Por { method: Method::Stubborn, preserve, proviso })
}

/// `start(t)` chooses one of two states x and y between which `a` and `b` go back and forth; `e`, which
/// is independent of both, leads to a bad state.
fn toggle(fault: Fault) -> Guarded {
    let (phase, t, c) = (0, 1, 2);
    let instances = vec![
        step(0, &[(phase, false)], &[(phase, Update::Set(true)), (t, Update::Set(false))]),
        step(0, &[(phase, false)], &[(phase, Update::Set(true)), (t, Update::Set(true))]),
        step(1, &[(phase, true), (t, true)], &[(t, Update::Set(false))]),
        step(2, &[(phase, true), (t, false)], &[(t, Update::Set(true))]),
        step(3, &[(phase, true), (c, false)], &[(c, Update::Set(true))]),
    ];
    system(instances, &[(c, true)], Preserve::States, fault)
}

#[test]
fn f1_two_states_that_lead_to_each_other_may_not_both_stay_reduced() {
    let toggle = toggle(Fault::None);
    assert_eq!(Full::of(&toggle).states.len(), 5);
    assert!(!algorithm_5(&toggle), "newest state first, the paper's cycle test loses the violation");
    for proviso in [Proviso::Topological, Proviso::Level] {
        for workers in [1, 2, 5, 8] {
            let found = search(&toggle, por(Preserve::States, proviso), workers, false);
            assert!(found.counts.total() > 0, "{proviso:?} with {workers} workers");
            let found = search(&toggle, por(Preserve::Paths, proviso), workers, true);
            assert!(found.counts.total() > 0, "{proviso:?} with {workers} workers");
        }
    }
}

#[test]
fn f2_a_step_that_repairs_the_invariant_is_visible() {
    // Invariant x = 0 or y = 1: e2 keeps it wherever it holds, and repairs what e1 breaks.
    let (x, y) = (0, 1);
    let instances = || {
        vec![
            step(0, &[(y, false)], &[(y, Update::Set(true))]),
            step(1, &[(x, false)], &[(x, Update::Set(true))]),
        ]
    };
    let bad = [(x, true), (y, false)];
    let right = system(instances(), &bad, Preserve::States, Fault::None);
    assert!(search(&right, por(Preserve::States, Proviso::Topological), 1, false).counts.total() > 0);
    let wrong = system(instances(), &bad, Preserve::States, Fault::ProvenIsInvisible);
    assert_eq!(search(&wrong, por(Preserve::States, Proviso::Topological), 1, false).counts.total(), 0);
}

#[test]
fn f3_an_event_that_stays_enabled_may_lose_an_instance() {
    // e1(t) for t in S = {1, 2}: x := t; e2 takes 1 out of S and never the last element.
    let (one, two, x1) = (0, 1, 2);
    let instances = vec![
        step(0, &[(3, true), (two, true)], &[(3, Update::Set(false)), (one, Update::Set(false))]),
        step(1, &[(one, true), (4, false)], &[(x1, Update::Set(true)), (4, Update::Set(true))]),
        step(1, &[(two, true), (4, false)], &[(4, Update::Set(true))]),
    ];
    let build = |fault| {
        let mut s = system(instances.clone(), &[], Preserve::Deadlocks, fault);
        s.initial = vec![0b01011];
        s
    };
    let full = Full::of(&build(Fault::None));
    let count = |fault| search(&build(fault), por(Preserve::Deadlocks, Proviso::Level), 1, true).deadlocks;
    assert_eq!(full.deadlocks(), 2, "with 1 chosen and with 2 chosen");
    assert_eq!(count(Fault::None), 2);
    assert_eq!(count(Fault::WholeEvents), 1, "e2 and e1 pass for independent, and e1(1) is lost");
}

#[test]
fn f3_an_event_that_reads_only_in_its_guard_does_not_commute_with_what_it_reads() {
    // e1: ANY t WHERE t = y THEN x := t, once; e2: y := 1, once.
    let (x, y, done1, done2) = (0, 1, 2, 3);
    let instances = vec![
        step(0, &[(done2, false)], &[(y, Update::Set(true)), (done2, Update::Set(true))]),
        step(1, &[(y, true), (done1, false)], &[(x, Update::Set(true)), (done1, Update::Set(true))]),
        step(1, &[(y, false), (done1, false)], &[(x, Update::Set(false)), (done1, Update::Set(true))]),
    ];
    let count = |fault| {
        let s = system(instances.clone(), &[], Preserve::Deadlocks, fault);
        search(&s, por(Preserve::Deadlocks, Proviso::Level), 1, true).deadlocks
    };
    assert_eq!((count(Fault::None), count(Fault::WholeEvents)), (2, 1));
}

#[test]
fn independent_steps_are_taken_one_after_the_other() {
    // Five cells that are set once: 2^5 states, 6 on one path.
    let instances: Vec<Instance> =
        (0..5).map(|c| step(c as u32, &[(c, false)], &[(c, Update::Set(true))])).collect();
    let s = system(instances, &[], Preserve::States, Fault::None);
    assert_eq!(search(&s, None, 1, true).states, 32);
    for preserve in [Preserve::Deadlocks, Preserve::States] {
        let found = search(&s, por(preserve, Proviso::Topological), 1, true);
        assert_eq!((found.states, found.transitions, found.deadlocks), (6, 5, 1));
        assert_eq!(found.por.map(|f| (f.reduced, f.single, f.no_smaller)), Some((4, 2, 0)));
    }
}

/// Two steps that set a cell each, whenever they like, and a third that needs both cells.
fn two_and_a_third() -> Vec<Instance> {
    vec![
        step(0, &[], &[(0, Update::Set(true))]),
        step(1, &[], &[(1, Update::Set(true))]),
        step(2, &[(0, true), (1, true)], &[(0, Update::Set(false)), (1, Update::Set(false))]),
    ]
}

#[test]
fn a_third_step_that_waits_for_two_others_does_not_hinder_them() {
    // Remark 4.1 of the paper: the ample sets find nothing at the start, a false guard does.
    let instances = two_and_a_third();
    let s = system(instances, &[], Preserve::Deadlocks, Fault::None);
    let states = |method| {
        let por = Por { method, preserve: Preserve::Deadlocks, proviso: Proviso::Topological };
        search(&s, Some(por), 1, true).states
    };
    assert_eq!((states(Method::Ample), states(Method::Stubborn)), (4, 3));
}

#[test]
fn a_guard_that_cannot_be_asked_for_counts_as_false_when_the_others_hold() {
    let instances = two_and_a_third();
    let mut s = system(instances, &[], Preserve::Deadlocks, Fault::None);
    s.relations.askable.fill(false);
    let found = search(&s, por(Preserve::Deadlocks, Proviso::Topological), 1, true);
    assert_eq!(found.states, 4, "both guards of the third step may be the false one");
}

#[test]
fn figures_are_the_same_for_any_number_of_workers_and_with_hashes_the_level_rule_is_used() {
    use crate::{Options, Store, explore};
    use bombus_base::budget::Budget;
    let s = toggle(Fault::None);
    for store in [Store::Exact, Store::Hash] {
        let run = |workers| {
            let options = Options {
                workers,
                store,
                por: por(Preserve::States, Proviso::Topological),
                keep_going: true,
                ..Options::default()
            };
            let o = explore(&s, &options, &Budget::unlimited()).unwrap();
            (o.states, o.transitions, o.digest, o.por)
        };
        assert!([2, 5, 8].iter().all(|n| run(*n) == run(1)));
        let rounds = run(1).3.unwrap().rounds;
        assert_eq!(rounds > 0, store == Store::Exact);
    }
}
