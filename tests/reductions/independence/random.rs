//! Random machines with choices that nothing bounds: whatever is complete in a small scope holds in a larger one.
//!
//! The small scope is -1..1, so that a few comparisons are enough to ask for more values than it has.
//! The generator knows nothing of the analysis: it mixes copies, tests and ways to look at values as they come.

use crate::support::rng::Rng;
use bombus::base::Int;
use bombus::base::budget::Budget;
use bombus::driver::on_large_stack;
use bombus::evaluate::search::{Exploration, SearchOptions, explore};
use bombus::model::{self, LoadOptions};

const LIMIT: u64 = 3_000;

pub fn agree(machines: u64) {
    let done = on_large_stack(move || {
        let mut claimed = 0;
        for seed in 0..machines {
            let text = machine(&mut Rng::new(seed));
            let Some(small) = explored(&text, 1) else { continue };
            if !small.is_complete() || small.sampled.is_empty() || !small.findings.is_empty() {
                continue;
            }
            claimed += 1;
            // Beyond the limit what was found by then still counts.
            let large = explored(&text, 5).expect("the machine loads");
            let found = large.findings.first().map(|f| (f.kind, f.property.clone()));
            assert!(found.is_none(), "seed {seed} breaks {found:?} beyond the scope:\n{text}");
        }
        assert!(claimed * 10 > machines, "only {claimed} of {machines} machines say anything");
    });
    done.unwrap_or_else(|words| panic!("{words}"));
}

fn explored(text: &str, maxint: i64) -> Option<Exploration> {
    let dir = tempfile::tempdir().expect("a directory for the model");
    let path = dir.path().join("M.mch");
    std::fs::write(&path, text).expect("the model is written");
    let options = LoadOptions { maxint: Some(Int::from(maxint)), ..LoadOptions::default() };
    let loaded = model::load(&path, &options);
    let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{text}\n{}", loaded.messages()));
    let search = SearchOptions { max_states: Some(LIMIT), ..SearchOptions::default() };
    Some(explore(&model.machine, &Budget::unlimited(), &search))
}

/// An integer: a copy, or sometimes something computed.
fn integer(r: &mut Rng, names: &[&str]) -> String {
    match r.below(20) {
        0 => format!("{}+1", r.pick(names)),
        1 => "card(u)".into(),
        2 => "max({0,k})".into(),
        3 | 4 => format!("{}", r.below(3) as i64 - 1),
        5 => "IF b = TRUE THEN x ELSE y END".into(),
        6 | 7 => "f(k)".into(),
        _ => (*r.pick(names)).to_string(),
    }
}

fn test(r: &mut Rng, names: &[&str]) -> String {
    let x = integer(r, names);
    let k = r.below(3).min(1);
    match r.below(22) {
        0..=3 => format!("{x} >= {k}"),
        4..=6 => format!("{x} /= {k}"),
        7 => format!("{x} = {}", r.pick(names)),
        8 => format!("{x} < {}", r.pick(names)),
        9 => format!("{x} : u"),
        10 => format!("{x} : ran(f)"),
        11 => format!("{x} : 0..{}", r.below(4)),
        12 => "u /= {}".into(),
        13 => format!("card(u) < {}", 2 + r.below(3)),
        14 => format!("card(f) < {}", 1 + r.below(3)),
        15 => "u <: NATURAL".into(),
        16 => "b = TRUE".into(),
        17 => "k = 0".into(),
        18 => format!("({} => {})", test(r, names), test(r, names)),
        19 => format!("({} or {})", test(r, names), test(r, names)),
        20 => format!("!i.(i:dom(f) => f(i) /= {k})"),
        _ => format!("{x} : NATURAL"),
    }
}

fn action(r: &mut Rng, names: &[&str]) -> String {
    let e = integer(r, names);
    match r.below(14) {
        0..=2 => format!("x := {e}"),
        3 | 4 => format!("y := {e}"),
        5 => "x, y := y, x".into(),
        6 => format!("f(k) := {e}"),
        7 => format!("f := f <+ {{1-k |-> {e}}}"),
        8 => format!("f := {{0 |-> {e}, 1 |-> {}}}", integer(r, names)),
        9 => format!("u := u \\/ {{{e}}}"),
        10 => "u := f[{0,k}]".into(),
        11 => format!("u := u - {{{e}}}"),
        12 => "k := 1-k".into(),
        _ => format!("b := bool({})", test(r, names)),
    }
}

fn body(r: &mut Rng, names: &[&str]) -> String {
    match r.below(5) {
        0 => format!("IF {} THEN {} ELSE {} END", test(r, names), action(r, names), action(r, names)),
        1 => format!("BEGIN {} ; {} END", action(r, names), action(r, names)),
        _ => action(r, names),
    }
}

fn machine(r: &mut Rng) -> String {
    let state = ["x", "y"];
    let mut operations = Vec::new();
    for i in 0..2 + r.below(3) {
        let with = ["n", "n", "x", "y"];
        let set = *r.pick(&["INTEGER", "NATURAL", "NATURAL1"]);
        let more = if r.one_in(2) { format!(" & {}", test(r, &with)) } else { String::new() };
        operations.push(match r.below(5) {
            0..=2 => format!("op{i}(n) = PRE n:{set}{more} THEN {} END", body(r, &with)),
            3 => format!("op{i}(n) = PRE n = {} THEN {} END", integer(r, &state), body(r, &with)),
            _ => format!("op{i} = PRE {} THEN {} END", test(r, &state), body(r, &state)),
        });
    }
    operations.push("rest = skip".into());
    let invariant = (0..r.below(3)).map(|_| format!(" & {}", test(r, &state))).collect::<String>();
    format!(
        "MACHINE M VARIABLES x, y, f, u, k, b INVARIANT x:INTEGER & y:INTEGER & f : 0..1 --> INTEGER & u <: INTEGER & \
         k : 0..1 & b:BOOL{invariant}\nINITIALISATION x, y, f, u, k, b := 1, 2, {{0|->1, 1|->2}}, {{2}}, 0, TRUE\n\
         OPERATIONS {}\nEND",
        operations.join(";\n")
    )
}
