//! The sixty small processes of the reference: states, transitions, traces, deadlock, divergence, termination,
//! and the verdicts of assertions.
//!
//! The figures were derived by an independent program in another language and checked by hand.

use super::testing::{figures, machine, on_large_stack, read, verdicts};

const PRELUDE: &str = "channel a, b, c, d\nchannel x, y : {0..1}\nchannel p : {0..1}.{0..1}\n\
                       datatype D = A | B.{0..1}\nchannel m : D\n";

/// Number, script, expected figures of `MAIN`.
const PROCESSES: &[(u32, &str, &str)] = &[
    (1, "MAIN = STOP", "1/0 T1 D"),
    (2, "MAIN = SKIP", "2/1 T2 ✓"),
    (3, "MAIN = a -> STOP", "2/1 T2 D"),
    (4, "MAIN = a -> MAIN", "1/1 T4"),
    (5, "MAIN = a -> b -> MAIN", "2/2 T4"),
    (6, "MAIN = a -> STOP [] b -> STOP", "2/2 T3 D"),
    (7, "MAIN = a -> STOP |~| b -> STOP", "4/4 T3 D"),
    (8, "MAIN = a -> STOP [] a -> b -> STOP", "3/3 T3 D"),
    (9, "MAIN = x?v -> STOP", "2/2 T3 D"),
    (10, "MAIN = x?v -> y!v -> MAIN", "3/4 T9"),
    (11, "MAIN = x?v:{0} -> MAIN", "1/1 T4"),
    (12, "MAIN = p?u?v -> MAIN", "1/4 T85"),
    (13, "MAIN = p?u.v -> MAIN", "1/4 T85"),
    (14, "MAIN = p.0?v -> MAIN", "1/2 T15"),
    (15, "MAIN = p?w -> SKIP", "3/5 T9 ✓"),
    (16, "MAIN = x$v -> MAIN", "3/4 T15"),
    (17, "MAIN = m?e -> MAIN", "1/3 T40"),
    (18, "MAIN = m?B.n -> x!n -> MAIN", "3/4 T9"),
    (19, "MAIN = m.B?n -> MAIN", "1/2 T15"),
    (20, "MAIN = a -> SKIP ; b -> SKIP", "5/4 T4 ✓"),
    (21, "MAIN = SKIP ; MAIN", "1/1 T1 V"),
    (22, "MAIN = a -> STOP ||| b -> STOP", "4/4 T5 D"),
    (23, "MAIN = a -> SKIP ||| b -> SKIP", "10/13 T7 ✓"),
    (24, "MAIN = (a -> b -> STOP) [|{a}|] (a -> c -> STOP)", "5/5 T6 D"),
    (25, "MAIN = a -> STOP [|{a,b}|] b -> STOP", "1/0 T1 D"),
    (26, "MAIN = (a -> b -> STOP) [{a,b} || {b,c}] (b -> c -> STOP)", "4/3 T4 D"),
    (27, "MAIN = (a -> b -> STOP) \\ {a}", "3/2 T2 D"),
    (28, "P = a -> P\nMAIN = P \\ {a}", "1/1 T1 V"),
    (29, "MAIN = (a -> STOP)[[a <- b]]", "2/1 T2 D"),
    (30, "MAIN = (a -> STOP)[[a <- b, a <- c]]", "2/2 T3 D"),
    (31, "MAIN = (x?v -> STOP)[[x <- y]]", "2/2 T3 D"),
    (32, "MAIN = (x.0 -> STOP)[[x.i <- y.1-i | i <- {0,1}]]", "2/1 T2 D"),
    (33, "MAIN = (a -> b -> STOP) [b <-> c] (c -> d -> STOP)", "4/3 T3 D"),
    (34, "MAIN = (a -> b -> STOP) /\\ (c -> STOP)", "4/5 T6 D"),
    (35, "MAIN = (a -> b -> a -> STOP) [|{b}|> (c -> STOP)", "4/3 T4 D"),
    (36, "MAIN = (a -> STOP) [> (b -> STOP)", "3/3 T3 D"),
    (37, "MAIN = true & a -> STOP [] false & b -> STOP", "2/1 T2 D"),
    (38, "P(n) = n < 3 & a -> P(n+1) [] n > 0 & b -> P(n-1)\nMAIN = P(0)", "4/6 T7"),
    (39, "MAIN = [] i:{0..1} @ x.i -> STOP", "2/2 T3 D"),
    (40, "MAIN = |~| i:{0..1} @ x.i -> STOP", "4/4 T3 D"),
    (41, "MAIN = ||| i:{0..2} @ a -> STOP", "8/12 T4 D"),
    (42, "AL(i) = {x.i, x.(i+1)%2}\nMAIN = || i:{0..1} @ [AL(i)] x.i -> x.(i+1)%2 -> STOP", "1/0 T1 D"),
    (43, "MAIN = [|{a}|] i:{0..1} @ a -> x.i -> STOP", "5/5 T6 D"),
    (44, "MAIN = ; i:<0,1,0> @ x.i -> SKIP", "7/6 T4 ✓"),
    (45, "MAIN = let Q(0) = STOP\nQ(n) = a -> Q(n-1)\nwithin Q(2)", "3/2 T3 D"),
    (
        46,
        "BUF(s) = #s < 2 & x?v -> BUF(s^<v>) [] #s > 0 & y!head(s) -> BUF(tail(s))\nMAIN = BUF(<>)",
        "7/12 T17",
    ),
    (47, "Q(<>) = STOP\nQ(<h>^t) = x.h -> Q(t)\nMAIN = Q(<0,1,1>)", "4/3 T4 D"),
    (48, "MAIN = card(union({0..2},{2..4})) == 5 & a -> STOP", "2/1 T2 D"),
    (49, "MAIN = if (-7)/2 == -4 and (-7)%2 == 1 then a -> STOP else b -> STOP", "2/1 T2 D"),
    (50, "MAIN = a -> STOP [] b -> STOP \\ {a}", "2/2 T2 D"),
    (51, "MAIN = a -> STOP [] b -> STOP |~| c -> STOP", "4/5 T4 D"),
    (52, "MAIN = a -> STOP ||| b -> STOP [] c -> STOP", "4/6 T8 D"),
    (
        60,
        "B1(i,o) = i?v -> o!v -> B1(i,o)\nBUF(s) = #s < 2 & x?v -> BUF(s^<v>) [] #s > 0 & y!head(s) -> BUF(tail(s))\nchannel mid : {0..1}\nMAIN = B1(x,mid) [mid <-> mid] B1(mid,y)\nassert BUF(<>) [FD= MAIN\nassert MAIN [FD= BUF(<>)",
        "9/14 T17",
    ),
];

#[test]
fn the_processes_of_the_reference_have_their_states_transitions_and_traces() {
    for (number, script, expected) in PROCESSES {
        let found = on_large_stack(|| {
            let (mut eval, sources) = read(&format!("{PRELUDE}{script}")).expect("the script is right");
            figures(&machine(&mut eval, &sources, "MAIN"))
        });
        assert_eq!(&found, expected, "process {number}");
    }
}

/// Number, script, expected verdicts.
const ASSERTIONS: &[(u32, &str, &[&str])] = &[
    (53, "assert a -> STOP [T= STOP\nassert STOP [T= a -> STOP", &["holds", "fails after <a> (trace)"]),
    (
        54,
        "assert a -> STOP [] b -> STOP [T= a -> STOP |~| b -> STOP\nassert a -> STOP [] b -> STOP [F= a -> STOP |~| b -> STOP",
        &["holds", "fails after <> (refusal)"],
    ),
    (55, "assert a -> STOP |~| b -> STOP [F= a -> STOP [] b -> STOP", &["holds"]),
    (
        56,
        "P = a -> P\nassert STOP [F= P \\ {a}\nassert STOP [FD= P \\ {a}\nassert P \\ {a} :[divergence free]",
        &["holds", "fails after <> (divergence)", "fails"],
    ),
    (
        57,
        "P = a -> P\nQ = a -> STOP\nassert P :[deadlock free]\nassert Q :[deadlock free]\nassert SKIP :[deadlock free]",
        &["holds", "fails", "holds"],
    ),
    (
        58,
        "assert a -> STOP [] a -> b -> STOP :[deterministic]\nassert a -> STOP [] b -> STOP :[deterministic]",
        &["fails", "holds"],
    ),
    (
        59,
        "assert CHAOS({a,b}) [FD= a -> b -> STOP\nassert CHAOS({a}) [F= a -> b -> STOP",
        &["holds", "fails after <a,b> (trace)"],
    ),
    (
        60,
        "B1(i,o) = i?v -> o!v -> B1(i,o)\nBUF(s) = #s < 2 & x?v -> BUF(s^<v>) [] #s > 0 & y!head(s) -> BUF(tail(s))\nchannel mid : {0..1}\nMAIN = B1(x,mid) [mid <-> mid] B1(mid,y)\nassert BUF(<>) [FD= MAIN\nassert MAIN [FD= BUF(<>)",
        &["holds", "holds"],
    ),
];

#[test]
fn the_assertions_of_the_reference_have_their_verdicts_for_any_number_of_workers() {
    for workers in [1, 2, 3] {
        for (number, script, expected) in ASSERTIONS {
            let found = on_large_stack(|| verdicts(&format!("{PRELUDE}{script}"), workers));
            assert_eq!(found.len(), expected.len(), "assertions {number}");
            for (found, expected) in found.iter().zip(*expected) {
                // The reference leaves out the counterexample where it says nothing about it.
                assert!(found.starts_with(expected), "assertion {number}: {found}, not {expected}");
            }
        }
    }
}
