//! Random machines with something to reduce: parameters, functions, sets, counters, choices.

pub use bombus_kernels::random::Random;

/// Conditions; `p` is a parameter, `K` a small number.
const GUARDS: [&str; 22] = [
    "pc(p) = K",
    "pc(p) = K",
    "pc(p) < K",
    "p : flag",
    "p /: flag",
    "p : dom(f)",
    "f(p) = K",
    "p |-> K : f",
    "pc(next(p)) = K",
    "next(p) /: flag",
    "x < K",
    "x = K",
    "x > K",
    "y /= K",
    "y = K",
    "x = y",
    "b = TRUE",
    "b = FALSE",
    "card(flag) < 2",
    "flag = {}",
    "#q.(q : P & pc(q) = K)",
    "pc(p) = x",
];

const ACTIONS: [&str; 28] = [
    "pc(p) := K",
    "pc(p) := K",
    "pc(p) := (pc(p) + 1) mod 3",
    "pc := pc <+ {p |-> K}",
    "pc(next(p)) := K",
    "flag := flag \\/ {p}",
    "flag := flag \\/ {p}",
    "flag := flag - {p}",
    "flag := {}",
    "x := x + 1",
    "x := x - 1",
    "x := K",
    "x := y",
    "y := (y + 1) mod 3",
    "y := K",
    "b := bool(x = y)",
    "b := TRUE",
    "b := FALSE",
    "f(p) := K",
    "f := {p} <<| f",
    "f := f \\/ {p |-> K}",
    "y := f(p)",
    "x :: 0..1",
    "y :: {K, 1}",
    "ANY q WHERE q : P & pc(q) = K THEN pc(q) := 0 END",
    "IF p : flag THEN x := K ELSE y := K END",
    "CHOICE b := TRUE OR b := FALSE END",
    "SELECT x = K THEN y := 0 WHEN b = TRUE THEN y := 1 END",
];

const INVARIANTS: [&str; 8] = [
    "not(x = 2 & b = TRUE)",
    "!q.(q : P => (pc(q) = 2 => q : flag))",
    "flag /= P",
    "x + y < 4",
    "(b = TRUE => x = 0 or y = 0)",
    "card(pc |> {2}) < 2",
    "(p1 : flag => p2 /: flag)",
    "y < 3",
];

fn filled(random: &mut Random, text: &str) -> String {
    text.replace('K', &random.below(3).to_string())
}

/// Variables that a substitution writes, so that no two in parallel write the same.
fn written(action: &str) -> Vec<&'static str> {
    ["pc", "flag", "x", "y", "b", "f"]
        .into_iter()
        .filter(|v| {
            [" := ", " :: ", "(p) := ", "(q) := ", "(next(p)) := "]
                .iter()
                .any(|w| format!(" {action}").contains(&format!(" {v}{w}")))
        })
        .collect()
}

pub fn random(seed: u64) -> String {
    let mut r = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let mut operations = Vec::new();
    let open = r.below(6) == 0;
    for n in 0..3 + r.below(4) {
        let mut guards = vec!["p : P".to_string()];
        for _ in 0..1 + r.below(3) {
            let guard = r.pick(&GUARDS);
            guards.push(filled(&mut r, guard));
        }
        let mut actions: Vec<String> = Vec::new();
        let mut taken: Vec<&str> = Vec::new();
        for _ in 0..1 + r.below(2) {
            let action = r.pick(&ACTIONS);
            // Counters stay in their ranges most of the time.
            if !open && action == "x := x + 1" {
                guards.push("x < 2".into());
            }
            if !open && action == "x := x - 1" {
                guards.push("x > 0".into());
            }
            let writes = written(action);
            if writes.iter().any(|w| taken.contains(w)) {
                continue;
            }
            taken.extend(writes);
            actions.push(filled(&mut r, action));
        }
        let body = actions.join(" || ");
        let speaks_of_p = |t: &String| {
            t.contains("(p)")
                || t.contains("{p")
                || t.contains("p :")
                || t.contains("p /:")
                || t.contains("p |->")
        };
        let parameter = guards[1..].iter().chain(&actions).any(speaks_of_p);
        operations.push(match (parameter, r.below(5)) {
            (true, 0) => format!("op{n} = ANY p WHERE {} THEN {body} END", guards.join(" & ")),
            (true, _) => format!("op{n}(p) = PRE {} THEN {body} END", guards.join(" & ")),
            (false, _) => format!("op{n} = SELECT {} THEN {body} END", guards[1..].join(" & ")),
        });
    }
    let mut invariant =
        vec!["pc : P --> 0..2", "flag <: P", "x : 0..2", "y : 0..2", "b : BOOL", "f : P +-> 0..2"];
    for _ in 0..r.below(3) {
        invariant.push(r.pick(&INVARIANTS));
    }
    format!(
        "MACHINE M SETS P = {{p1, p2}}\nCONSTANTS next PROPERTIES next = {{p1 |-> p2, p2 |-> p1}}\n\
         VARIABLES pc, flag, x, y, b, f\nINVARIANT {}\n\
         INITIALISATION pc := P * {{0}} || flag := {} || x := 0 || y := {} || b := FALSE || f := {}\nOPERATIONS\n  {}\nEND\n",
        invariant.join(" & "),
        r.pick(&["{}", "{p1}"]),
        r.below(2),
        r.pick(&["{}", "{p1 |-> 0}", "P * {1}"]),
        operations.join(";\n  ")
    )
}

/// A predicate over the variables.
pub fn predicate(seed: u64) -> String {
    let mut r = Random(seed ^ 0xabcd);
    let list = [
        "x = 2 & b = TRUE",
        "flag = P",
        "pc(p1) = 2 & pc(p2) = 2",
        "y = 2 & x = 0",
        "dom(f) = P & x = 1",
        "x = y & y = 1",
    ];
    r.pick(&list).to_string()
}

/// A formula that is the same up to stuttering.
pub fn formula(seed: u64) -> String {
    let mut r = Random(seed ^ 0x1234_5678);
    let atoms =
        ["{x = 1}", "{b = TRUE}", "{pc(p1) = 1}", "{p2 : flag}", "{y = 0}", "{x + y < 2}", "{flag = {}}"];
    stuttering(&mut r, &atoms)
}

/// A formula over some atoms in which no operator counts steps.
pub fn stuttering(r: &mut Random, atoms: &[&str]) -> String {
    let (p, q) = (r.pick(atoms), r.pick(atoms));
    match r.below(11) {
        0 => format!("G {p}"),
        1 => format!("F {p}"),
        2 => format!("G F {p}"),
        3 => format!("F G {p}"),
        4 => format!("{p} U {q}"),
        5 => format!("G ({p} => F {q})"),
        6 => format!("{p} R {q}"),
        7 => format!("G ({p} => O {q})"),
        8 => format!("F ({p} & G {q})"),
        9 => format!("({p} W {q}) or G F {p}"),
        _ => format!("G ({p} => ({q} S {p}))"),
    }
}
