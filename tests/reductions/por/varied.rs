//! Random machines in all shapes of text that relations are read from.
//!
//! Beside parameters, functions and sets: several valuations of the constants, several initial states,
//! SELECT with WHEN and ELSE, definitions with arguments, results, sequences of substitutions, relations,
//! a function whose domain is a variable, values without a bound, parameters without a bound, assertions.

use super::machines::Random;

/// Conditions; `p` and `q` are parameters, `K` a small number.
const GUARDS: [&str; 40] = [
    "pc(p) = K",
    "pc(p) = K",
    "pc(p) /= K",
    "pc(p) : {0, K}",
    "pc(p) /: {0, K}",
    "p : flag",
    "p /: flag",
    "p : dom(f)",
    "p /: dom(f)",
    "f(p) = K",
    "f(p) >= K",
    "p |-> K : f",
    "pc(next(p)) = K",
    "pc(q) = K",
    "p /= q",
    "p |-> q : r",
    "p |-> q /: r",
    "r[{p}] = {}",
    "q : r[{p}]",
    "p : act",
    "p /: act",
    "p : dom(g)",
    "g(p) = 1",
    "g(p) /= 0",
    "size(s) < 2",
    "s /= []",
    "first(s) = K",
    "x < K",
    "x = K",
    "x : K..2",
    "y /= K",
    "y = K",
    "x = y",
    "x < k",
    "b = TRUE",
    "at(K)",
    "card(flag) < 2",
    "not(x = K & y = 0)",
    "(b = TRUE or p : flag)",
    "#z.(z : P & pc(z) = K)",
];

/// Substitutions and the variables they write.
const ACTIONS: [(&str, &str); 48] = [
    ("pc(p) := K", "pc"),
    ("pc(p) := K", "pc"),
    ("pc(p) := (pc(p) + 1) mod 3", "pc"),
    ("pc := pc <+ {p |-> K}", "pc"),
    ("pc := pc <+ {p |-> K, q |-> K}", "pc"),
    ("pc := pc <+ {p |-> 1, next(p) |-> 2}", "pc"),
    ("r := r <+ {p |-> p, q |-> p}", "r"),
    ("pc(next(p)) := K", "pc"),
    ("flag := flag \\/ {p}", "flag"),
    ("flag := flag - {p}", "flag"),
    ("flag := flag \\/ {p, q}", "flag"),
    ("flag := {p}", "flag"),
    ("flag := P - flag", "flag"),
    ("x := x + 1", "x"),
    ("x := x - 1", "x"),
    ("x := K", "x"),
    ("x := y", "x"),
    ("x := k", "x"),
    ("x := x + 1; x := x mod 3", "x"),
    ("y := (y + 1) mod 3", "y"),
    ("y := K", "y"),
    ("y := x mod 3; x := 0", "x y"),
    ("b := bool(x = y)", "b"),
    ("b := TRUE", "b"),
    ("b := bool(b = FALSE)", "b"),
    ("f(p) := K", "f"),
    ("f := {p} <<| f", "f"),
    ("f := f \\/ {p |-> K}", "f"),
    ("f := f - {p |-> K}", "f"),
    ("y := f(p)", "y"),
    ("y := 2 / x", "y"),
    ("r := r \\/ {p |-> q}", "r"),
    ("r := r - {p |-> q}", "r"),
    ("r := {p} <<| r", "r"),
    ("act := act \\/ {p} || g := g <+ {p |-> 0}", "act g"),
    ("act := act - {p} || g := {p} <<| g", "act g"),
    ("g(p) := 1", "g"),
    ("g := g <+ {p |-> 1}", "g"),
    ("s := s <- K", "s"),
    ("s := tail(s)", "s"),
    ("s := []", "s"),
    ("x :: 0..1", "x"),
    ("y : (y : 0..2 & y /= x)", "y"),
    ("ANY z WHERE z : P & pc(z) = K THEN pc(z) := 0 END", "pc"),
    ("IF p : flag THEN x := K ELSE y := K END", "x y"),
    ("CHOICE b := TRUE OR y := 0 END", "b y"),
    ("SELECT x = K THEN y := 0 WHEN b = TRUE THEN y := 1 END", "y"),
    ("LET z BE z = K IN x, y := z, y END", "x y"),
];

const INVARIANTS: [&str; 19] = [
    "not(x = 2 & b = TRUE)",
    "!z.(z : P => (pc(z) = 2 => z : flag))",
    "flag /= P",
    "x + y < 4",
    "(b = TRUE => x = 0 or y = 0)",
    "card(pc |> {2}) < 2",
    "(p1 : flag => p2 /: flag)",
    "y /= 2",
    "p1 /: flag",
    "r <: id(P)",
    "!z.(z : P => (pc(z) = 1 => z /: flag))",
    "(x = 1 => y = 0)",
    "(x : {0, 1} => b = FALSE)",
    "(y = 2 => p1 : flag)",
    "!(z, w).(z : P & w : P & z /= w => not(pc(z) = 2 & pc(w) = 2))",
    "!i.(i : 0..2 => (i = x => y /= i or b = FALSE))",
    "(pc(p1) = 2 => x : {0, 1})",
    "(p1 : flag => y = 0 or x = 0)",
    "(p1 : flag <=> pc(p1) = 2)",
];

/// Variables that an operation most often keeps to, so that operations are independent.
const GROUPS: [&[&str]; 5] = [&["pc", "flag"], &["x", "b"], &["y", "s"], &["f", "r"], &["act", "g"]];

type Group = Option<&'static [&'static str]>;

/// Whether a text speaks of no variable outside the group.
fn fits(text: &str, group: Group) -> bool {
    group.is_none_or(|group| {
        let inside =
            |v: &&str| group.contains(v) || !(mentions(text, v) || *v == "y" && mentions(text, "at"));
        GROUPS.concat().iter().all(inside)
    })
}

fn conditions(random: &mut Random, most: u64, group: Group) -> Vec<String> {
    let all: Vec<&str> = GUARDS.into_iter().filter(|g| fits(g, group)).collect();
    (0..1 + random.below(most))
        .map(|_| {
            let guard = random.pick(&all);
            filled(random, guard)
        })
        .collect()
}

fn filled(random: &mut Random, text: &str) -> String {
    text.replace('K', &random.below(3).to_string())
}

/// Some substitutions in parallel, and conditions that keep counters in their ranges.
fn substitution(random: &mut Random, open: bool, group: Group, guards: &mut Vec<String>) -> String {
    let all: Vec<(&str, &str)> = ACTIONS.into_iter().filter(|a| fits(a.0, group)).collect();
    let mut parts: Vec<String> = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for _ in 0..1 + random.below(2) {
        let (action, writes) = all[random.below(all.len() as u64) as usize];
        if writes.split(' ').any(|w| taken.contains(&w)) || (action.contains(';') && !parts.is_empty()) {
            continue;
        }
        if !open && action == "x := x + 1" {
            guards.push("x < 2".into());
        }
        if !open && action == "x := x - 1" {
            guards.push("x > 0".into());
        }
        if action == "s := s <- K" {
            guards.push("size(s) < 2".into());
        }
        taken.extend(writes.split(' '));
        parts.push(filled(random, action));
        if action.contains(';') {
            break;
        }
    }
    if parts.is_empty() { "skip".into() } else { parts.join(" || ") }
}

fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(word) && !text[at + name.len()..].starts_with(word))
}

fn operation(random: &mut Random, n: u64, open: bool) -> String {
    let group: Group = GROUPS.get(random.below(7) as usize).copied();
    let mut guards = conditions(random, 2, group);
    let body = substitution(random, open, group, &mut guards);
    let shape = random.below(14);
    let (keyword, rest) = match shape {
        0 => {
            let mut inner = conditions(random, 1, group);
            let other = substitution(random, open, group, &mut inner);
            ("SELECT", format!("{body} WHEN {} THEN {other}", inner.join(" & ")))
        }
        1 | 2 => {
            // Bounds that were asked for hold outside the ELSE only.
            let other = substitution(random, true, group, &mut Vec::new());
            guards.truncate(1 + random.below(2) as usize);
            ("SELECT", format!("{body} ELSE {other}"))
        }
        3 => ("SELECT", format!("SELECT at(1) THEN {body} WHEN at(2) THEN {body} END")),
        4 => ("PRE", format!("CHOICE {body} OR b := FALSE END")),
        _ => ("SELECT", body),
    };
    let text = format!("{} {rest}", guards.join(" & "));
    let (p, q) = (mentions(&text, "p"), mentions(&text, "q"));
    let typed = match (p, q) {
        (true, true) => "p : P & q : P & ",
        (true, false) => "p : P & ",
        (false, true) => "q : P & ",
        _ => "",
    };
    let names = match (p, q) {
        (true, true) => "p, q",
        (true, false) => "p",
        (false, true) => "q",
        _ => "",
    };
    let guards = guards.join(" & ");
    let inside = format!("{keyword} {guards} THEN {rest} END");
    let sequence = inside.contains(';');
    match random.below(8) {
        _ if names.is_empty() && random.below(6) == 0 => {
            format!("op{n}(i) = PRE i : NATURAL & i < x + 1 THEN {inside} END")
        }
        0 if !sequence => {
            let list = if names.is_empty() { String::new() } else { format!("({names})") };
            format!("res <-- op{n}{list} = PRE {typed}0 = 0 THEN res := x || {inside} END")
        }
        _ if names.is_empty() => format!("op{n} = {inside}"),
        1 => format!("op{n} = ANY {names} WHERE {typed}0 = 0 THEN {inside} END"),
        _ => format!("op{n}({names}) = PRE {typed}0 = 0 THEN {inside} END"),
    }
}

pub fn random(seed: u64) -> String {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c55) ^ 0x77);
    let open = r.below(6) == 0;
    let operations: Vec<String> = (0..4 + r.below(4)).map(|n| operation(&mut r, n, open)).collect();
    let mut invariant = vec![
        "pc : P --> 0..2",
        "flag <: P",
        "x : 0..2",
        "y : 0..2",
        "b : BOOL",
        "f : P +-> 0..2",
        "act <: P",
        "g : act --> 0..1",
        "r : P <-> P",
        "s : seq(0..2)",
    ];
    for _ in 0..r.below(4) / 2 {
        invariant.push(r.pick(&INVARIANTS));
    }
    let assertions = match r.below(6) {
        0 => format!("ASSERTIONS {}\n", r.pick(&INVARIANTS)),
        _ => String::new(),
    };
    format!(
        "MACHINE M SETS P = {{p1, p2}}\nDEFINITIONS at(v) == (y = v)\nCONSTANTS next, k\n\
         PROPERTIES next = {{p1 |-> p2, p2 |-> p1}} & k : {}\n\
         VARIABLES pc, flag, x, y, b, f, act, g, r, s\nINVARIANT {}\n{assertions}\
         INITIALISATION pc := P * {{0}} || flag := {} || x := 0 || {} || b := FALSE || f := {} || act := {{}} \
         || g := {{}} || r := {} || s := []\nOPERATIONS\n  {}\nEND\n",
        r.pick(&["{1}", "{1}", "1..2"]),
        invariant.join(" & "),
        r.pick(&["{}", "{p1}"]),
        r.pick(&["y := 0", "y := 1", "y :: 0..1"]),
        r.pick(&["{}", "{p1 |-> 0}", "P * {1}"]),
        r.pick(&["{}", "id(P)"]),
        operations.join(";\n  ")
    )
}
