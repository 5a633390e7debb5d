//! The logic at its borders: ends of finite paths, the first position, fairness, unknown truth.

use super::atoms::Truth;
use super::check::Verdict;
use super::path::End;
use super::testing::World;
use super::view::State;

fn path(verdict: &Verdict) -> (Vec<u32>, End) {
    let Verdict::Violated(example) = verdict else { panic!("{verdict:?}") };
    (example.path.states.iter().map(|s: &State| s.0).collect(), example.path.end)
}

#[test]
fn at_a_deadlock_next_and_events_are_false() {
    let lone = World::new("0", &[("p", &[0])]);
    for (formula, word) in [
        ("G {p}", "holds"),
        ("X true", "violated"),
        ("X {p}", "violated"),
        ("not X {p}", "holds"),
        ("X not {p}", "violated"),
        ("deadlock <=> not X true", "holds"),
        ("{p} U {p}", "holds"),
        ("F not {p}", "violated"),
        ("G F {p}", "holds"),
        ("F G {p}", "holds"),
        ("sink", "holds"),
        ("false R {p}", "holds"),
        ("X false", "violated"),
        ("F false", "violated"),
        ("not G true", "violated"),
    ] {
        lone.expect(formula, word);
    }
    let two = World::new("0 -a-> 1", &[("p", &[1])]);
    for (formula, word) in [
        ("F {p}", "holds"),
        ("{p} or X{p}", "holds"),
        ("[a]", "holds"),
        ("G (not {p} => [a])", "holds"),
        ("G X true", "violated"),
        ("G([a] => X deadlock)", "holds"),
        ("{p} R true", "holds"),
        ("false R {p}", "violated"),
        ("X [a]", "violated"),
        ("X not [a]", "holds"),
        ("G e(a)", "violated"),
        ("G deadlock(a)", "violated"),
        ("controller(a)", "holds"),
        ("G deterministic(a)", "holds"),
        ("changed({p})", "holds"),
        ("X changed({p})", "violated"),
        ("X unchanged({p})", "violated"),
        ("increasing({p}) & not decreasing({p})", "holds"),
    ] {
        two.expect(formula, word);
    }
}

#[test]
fn past_formulas_start_at_the_first_state() {
    let line = World::new("0 -a-> 1; 1 -b-> 1", &[("p", &[1]), ("q", &[0])]);
    for (formula, word) in [
        ("Y true", "violated"),
        ("not Y true", "holds"),
        ("X Y true", "holds"),
        ("G (Y true or not Y true)", "holds"),
        ("G (Y[a] => X true)", "holds"),
        ("F (O [a])", "holds"),
        ("O [a]", "holds"),
        ("H {q}", "holds"),
        ("X H {q}", "violated"),
        ("G ({p} => {p} S {q})", "holds"),
        ("G ({p} => {p} S ({q} & Y true))", "violated"),
        ("G ({p} => {p} S Y {q})", "holds"),
        ("G ({p} => Y O {q})", "holds"),
        ("{q} T {q}", "holds"),
        ("G (Y [b] => {p})", "holds"),
        ("X X Y Y Y true", "violated"),
        ("X X Y Y not Y true", "holds"),
    ] {
        line.expect(formula, word);
    }
}

#[test]
fn future_below_past_is_decided_too() {
    let world = World::new("0 -a-> 1; 1 -b-> 2; 2 -c-> 0; 1 -d-> 1", &[("p", &[2]), ("q", &[1])]);
    for (formula, word) in [
        ("G ({q} => Y X {q})", "holds"),
        ("G ({q} => O F {p})", "violated"),
        ("G ({p} => O F {p})", "holds"),
        ("G ({p} => Y (F {p}))", "holds"),
        ("F {p} => G ({p} => H F {p})", "holds"),
        ("G ({q} => H F {p})", "violated"),
        ("G F {p} => G H F {p}", "holds"),
        ("G ({p} => Y (not {p} U {p}))", "holds"),
    ] {
        world.expect(formula, word);
    }
}

#[test]
fn untils_on_a_loop() {
    let round = World::new("0 -a-> 0", &[("p", &[])]);
    for (formula, word) in [
        ("F {p}", "violated"),
        ("{p} W {p}", "violated"),
        ("not {p} W {p}", "holds"),
        ("not {p} U {p}", "violated"),
        ("G not {p}", "holds"),
        ("{p} R not {p}", "holds"),
        ("sink & not deadlock", "holds"),
    ] {
        round.expect(formula, word);
    }
}

#[test]
fn weak_and_strong_fairness_differ_where_an_event_is_enabled_again_and_again() {
    let stay = World::new("0 -a-> 0; 0 -b-> 1; 1 -c-> 1", &[("p", &[1])]);
    stay.expect("F {p}", "violated");
    stay.expect("WF(b) => F {p}", "holds");
    stay.expect("WEF => F {p}", "holds");
    let blink = World::new("0 -a-> 2; 2 -d-> 0; 0 -b-> 1; 1 -c-> 1", &[("p", &[1])]);
    blink.expect("WF(b) => F {p}", "violated");
    blink.expect("SF(b) => F {p}", "holds");
    assert_eq!(blink.check("WEF => F {p}").word(), "violated");
    assert_eq!(blink.check("SEF => F {p}").word(), "holds");
    blink.expect("SF(a) or SF(b) => F {p}", "violated");
    blink.expect("SF(a) & SF(b) => F {p}", "holds");
    blink.expect("WF(a) & SF(b) => F {p}", "holds");
    blink.expect("G (SF(b) => F {p})", "holds");
    assert_eq!(path(&blink.check("WF(b) => F {p}")), (vec![0, 2], End::Loop(0)));
}

#[test]
fn finite_paths_are_fair() {
    let world = World::new("0 -a-> 0; 0 -b-> 1", &[("p", &[]), ("q", &[1])]);
    world.expect("SEF => F {p}", "violated");
    world.expect("SEF => F {q}", "holds");
    assert_eq!(path(&world.check("SEF & WF(a) => F {p}")), (vec![0, 1], End::Deadlock));
}

#[test]
fn fairness_speaks_of_arguments() {
    let world = World::new("0 -a(1)-> 0; 0 -a(2)-> 1; 1 -c-> 1", &[("p", &[1])]);
    world.expect("WF(a) => F {p}", "violated");
    world.expect("WF(a(2)) => F {p}", "holds");
    world.expect("WF(a(1)) => F {p}", "violated");
    world.expect("WEF => F {p}", "holds");
    world.expect("F [a(2)]", "violated");
    world.expect("e(a(2)) & not e(a(3)) & e(a(_))", "holds");
    world.expect("#x.({1,2} & F [a(x)])", "holds");
    world.expect("#x.({2,3} & F [a(x)])", "violated");
    world.expect("!x.({1,2} => e(a(x)))", "holds");
    world.expect("!x.({1,2,3} => e(a(x)))", "violated");
    world.expect("#x.({1,2,3} & [a(x)])", "holds");
}

// Rows 56 to 64 of the reliability catalogue.

#[test]
fn a_maximal_finite_path_violates_a_liveness_formula() {
    let world = World::new("0 -inc-> 1; 1 -inc-> 2", &[("nine", &[])]);
    world.expect("F {nine}", "violated");
    assert_eq!(path(&world.check("F {nine}")), (vec![0, 1, 2], End::Deadlock));
}

#[test]
fn a_step_that_leaves_the_state_unchanged_is_a_step() {
    // x :: {x, x+1} from 0, bounded by 3: the self-loop is an execution of a.
    let world = World::new(
        "0 -a-> 0; 0 -a-> 1; 1 -a-> 1; 1 -a-> 2; 2 -a-> 2; 2 -a-> 3; 3 -a-> 3",
        &[("three", &[3])],
    );
    world.expect("WF(a) => F {three}", "violated");
    // The other reading, "a changes the state again and again", has to be said.
    world.expect("G F changed({three}) => F {three}", "holds");
}

#[test]
fn fairness_looks_at_edges_not_states() {
    let mut text = String::new();
    for x in 0..3 {
        text.push_str(&format!("{x} -a-> {}; ", (x + 1) % 3));
        for y in 0..3 {
            text.push_str(&format!("{x} -b-> {y}; "));
        }
    }
    let world = World::new(&text, &[]);
    world.expect("WF(a) => G F [a]", "holds");
    world.expect("SF(a) => G F [a]", "holds");
    world.expect("G F [a]", "violated");
}

#[test]
fn the_verdict_is_the_same_every_time() {
    let world = World::new("0 -a-> 1; 1 -b-> 0; 1 -c-> 2; 2 -d-> 2; 0 -e-> 2", &[("p", &[1])]);
    let first = format!("{:?}", world.check("G F {p}"));
    for _ in 0..1000 {
        assert_eq!(format!("{:?}", world.check("G F {p}")), first);
    }
}

#[test]
fn a_prefix_that_fairness_excludes_is_no_counterexample() {
    let world =
        World::new("0 -next-> 1; 1 -next-> 2; 1 -stay-> 1; 2 -next-> 2", &[("one", &[0]), ("five", &[2])]);
    world.expect("WF(next) => ({one} => F G {five})", "holds");
    world.expect("{one} => F G {five}", "violated");
}

#[test]
fn an_incomplete_graph_never_makes_a_formula_hold() {
    let mut world = World::new("0 -a-> 1; 1 -a-> 2", &[("p", &[0, 1, 2]), ("q", &[2])]);
    world.graph = world.graph.with_open(2);
    for (formula, word) in [
        ("G F {p}", "incomplete"),
        ("G {p}", "incomplete"),
        ("true", "incomplete"),
        // A prefix refutes these, whatever follows.
        ("G not {q}", "violated"),
        ("not {p}", "violated"),
        ("G not [a]", "violated"),
        // The end of the path is not known to be a deadlock, nor what it enables.
        ("F not {p}", "incomplete"),
        ("G e(a)", "incomplete"),
        ("G not deadlock", "incomplete"),
        ("F deadlock", "incomplete"),
    ] {
        assert_eq!(world.check(formula).word(), word, "{formula}");
    }
    assert_eq!(path(&world.check("G not {q}")), (vec![0, 1, 2], End::Open));
    // A loop in the part that was explored is a real counterexample.
    let mut world = World::new("0 -a-> 1; 1 -b-> 0; 1 -c-> 2", &[("p", &[2])]);
    world.graph = world.graph.with_open(2);
    assert_eq!(path(&world.check("F {p}")), (vec![0, 1], End::Loop(0)));
    // Weak fairness of c could be met or not where c may be enabled.
    assert_eq!(world.check("SF(c) => F {p}").word(), "incomplete");
}

#[test]
fn an_atom_that_cannot_be_evaluated_makes_the_check_incomplete() {
    let mut world = World::new("0 -a-> 1; 1 -a-> 0", &[("p", &[0, 1])]);
    world.undefined = vec![1];
    assert_eq!(world.check("G {p}").word(), "incomplete");
    assert_eq!(world.check("F not {p}").word(), "incomplete");
    assert_eq!(world.check("{p}").word(), "holds");
    assert_eq!(world.check("G [a]").word(), "holds");
}

#[test]
fn fairness_that_cannot_be_evaluated_excludes_no_path() {
    // The loop at 0 is fair unless a(1) is enabled there, and whether it is cannot be told.
    let mut world = World::new("0 -a(0)-> 0; 0 -b-> 1; 1 -c-> 1", &[("p", &[1])]);
    world.expect("WF(a(1)) => F {p}", "violated");
    world.undefined = vec![0];
    for formula in ["WF(a(1)) => F e(c)", "SF(a(1)) => F e(c)"] {
        assert_eq!(world.check(formula).word(), "incomplete", "{formula}");
    }
    // Without a cycle to judge, fairness does not matter.
    assert_eq!(world.check("WF(a(1)) => G (e(b) or e(c))").word(), "holds");
}

#[test]
fn constant_sub_formulas_are_simplified_soundly() {
    let world = World::new("0 -a-> 1; 1 -b-> 0", &[("p", &[0])]);
    for (formula, word) in [
        ("G (false => {p})", "holds"),
        ("G (true => {p})", "violated"),
        ("G (false & {p})", "violated"),
        ("F ({p} or true)", "holds"),
        ("{p} U false", "violated"),
        ("false U {p}", "holds"),
        ("true R {p}", "holds"),
        ("{p} W false", "violated"),
        ("F G F {p}", "holds"),
        ("G F G {p}", "violated"),
        ("X false", "violated"),
        ("not X true", "violated"),
    ] {
        world.expect(formula, word);
    }
}

#[test]
fn unknown_operations_and_predicates_are_faults_not_verdicts() {
    use super::{Checker, parse_ltl, testing::HERE};
    use bombus_base::budget::Budget;
    let world = World::new("0 -Lend-> 0", &[("p", &[0])]);
    let budget = Budget::unlimited();
    let mut checker = Checker::new(&world.graph, &world, &budget);
    for (formula, place) in [("G e(Land)", 4), ("G [Ledn]", 3), ("SF(foo) => true", 3), ("{zz}", 1)] {
        let faults = checker.check(&parse_ltl(formula, HERE).unwrap().formula).unwrap_err();
        assert_eq!(faults[0].labels[0].0.start, place, "{formula}");
    }
    let faults = checker.check(&parse_ltl("e(Land) & {zz}", HERE).unwrap().formula).unwrap_err();
    assert_eq!(faults.len(), 2);
    assert!(faults[0].help[0].contains("Lend"));
}

#[test]
fn without_an_initial_state_nothing_is_said_to_hold() {
    let world = World::starting(&[], "0 -a-> 0", &[]);
    world.expect("true", "incomplete");
}

#[test]
fn a_counterexample_shows_the_truth_of_every_sub_formula() {
    let world = World::new("0 -a-> 1; 1 -b-> 1", &[("p", &[0])]);
    let Verdict::Violated(example) = world.check("G F {p}") else { panic!() };
    let shown: Vec<(String, Vec<Truth>)> = example.rows.into_iter().map(|r| (r.formula, r.truth)).collect();
    assert_eq!(example.path.end, End::Loop(1));
    assert_eq!(
        shown,
        vec![
            ("{p}".into(), vec![Truth::True, Truth::False]),
            ("F {p}".into(), vec![Truth::True, Truth::False]),
            ("G F {p}".into(), vec![Truth::False, Truth::False]),
        ]
    );
}

#[test]
fn the_loop_is_unrolled_until_past_formulas_repeat() {
    // On the lasso 0 (1 0)^w nothing but the first position lacks a predecessor.
    let world = World::new("0 -a-> 1; 1 -b-> 0", &[("p", &[0])]);
    let Verdict::Violated(example) = world.check("G ({p} => not Y true) & true") else { panic!() };
    assert_eq!(example.rows.last().unwrap().truth[0], Truth::False);
}

/// The automaton of "always" waits in every state; those that nothing leads to do not count.
#[test]
fn what_cannot_be_reached_neither_violates_nor_leaves_anything_open() {
    let mut world = World::new("0 -a-> 0; 1 -b-> 1; 1 -c-> 2; 2 -c-> 2", &[("p", &[0]), ("q", &[2])]);
    for formula in ["G {p}", "G F {p}", "G ([b] => X {p})", "G not {q}", "G F [a]", "SF(c) => G F {p}"] {
        assert_eq!(world.check(formula).word(), "holds", "{formula}");
    }
    world.undefined = vec![2];
    for formula in ["G {p}", "G F {p}", "G ({q} => F {p})"] {
        assert_eq!(world.check(formula).word(), "holds", "{formula}");
    }
}
