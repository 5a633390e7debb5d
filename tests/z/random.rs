//! Random operations against going through all states, inputs, outputs and quantified values by hand.
//!
//! The state is two numbers from 0 to 2; an operation is a random predicate over the state before and after, an input and
//! an output, alone, as one of two cases, with its input hidden, or joined with a negated schema. What the lowering of
//! operations does with equations, cases and quantifiers must not change how many transitions there are.

use crate::check_zed;
use crate::support::rng::Rng;
use std::collections::BTreeSet;

const NAMES: [&str; 6] = ["x", "y", "x'", "y'", "in?", "out!"];

/// Values of the variables in the order of `NAMES`, then of the quantified ones.
type Values = Vec<i64>;

enum Term {
    Var(usize),
    Number(i64),
    Binary(char, Box<Term>, Box<Term>),
}

enum Formula {
    Relation(&'static str, Term, Term),
    Connective(&'static str, Box<Formula>, Box<Formula>),
    Not(Box<Formula>),
    /// The quantified variable is the one behind all others.
    Quantified(&'static str, Box<Formula>),
}

fn name(v: usize) -> String {
    NAMES.get(v).map_or_else(|| format!("z{v}z"), |n| (*n).to_owned())
}

fn term(rng: &mut Rng, depth: usize, vars: usize) -> Term {
    match rng.below(10) {
        0..6 => Term::Var(rng.below(vars)),
        6..8 => Term::Number(rng.below(3) as i64),
        _ if depth == 0 => Term::Var(rng.below(vars)),
        _ => {
            let sign = *rng.pick(&['+', '-', '*']);
            Term::Binary(sign, Box::new(term(rng, depth - 1, vars)), Box::new(term(rng, depth - 1, vars)))
        }
    }
}

fn formula(rng: &mut Rng, depth: usize, vars: usize) -> Formula {
    let kind = if depth == 0 { 0 } else { rng.below(100) };
    match kind {
        0..15 => Formula::Relation("=", Term::Var(2 + rng.below(vars - 2)), term(rng, 1, vars)),
        15..30 => {
            let sign = *rng.pick(&["<", "\\leq", "\\neq", "="]);
            Formula::Relation(sign, term(rng, 1, vars), term(rng, 1, vars))
        }
        30..85 => {
            let sign = *rng.pick(&["\\land", "\\lor", "\\implies", "\\iff", "\\land", "\\lor"]);
            let (a, b) = (formula(rng, depth - 1, vars), formula(rng, depth - 1, vars));
            Formula::Connective(sign, Box::new(a), Box::new(b))
        }
        85..92 => Formula::Not(Box::new(formula(rng, depth - 1, vars))),
        _ => {
            let sign = *rng.pick(&["\\exists", "\\forall", "\\exists_1"]);
            Formula::Quantified(sign, Box::new(formula(rng, depth - 1, vars + 1)))
        }
    }
}

impl Term {
    fn text(&self) -> String {
        match self {
            Term::Var(v) => name(*v),
            Term::Number(n) => n.to_string(),
            Term::Binary(sign, a, b) => format!("({} {sign} {})", a.text(), b.text()),
        }
    }

    fn value(&self, at: &Values) -> i64 {
        match self {
            Term::Var(v) => at[*v],
            Term::Number(n) => *n,
            Term::Binary('+', a, b) => a.value(at) + b.value(at),
            Term::Binary('-', a, b) => a.value(at) - b.value(at),
            Term::Binary(_, a, b) => a.value(at) * b.value(at),
        }
    }
}

impl Formula {
    fn text(&self, vars: usize) -> String {
        match self {
            Formula::Relation(sign, a, b) => format!("{} {sign} {}", a.text(), b.text()),
            Formula::Connective(sign, a, b) => format!("({} {sign} {})", a.text(vars), b.text(vars)),
            Formula::Not(p) => format!("\\lnot ({})", p.text(vars)),
            Formula::Quantified(sign, p) => {
                format!("({sign} {} : 0 \\upto 2 @ {})", name(vars), p.text(vars + 1))
            }
        }
    }

    fn holds(&self, at: &Values) -> bool {
        match self {
            Formula::Relation(sign, a, b) => {
                let (a, b) = (a.value(at), b.value(at));
                match *sign {
                    "<" => a < b,
                    "\\leq" => a <= b,
                    "\\neq" => a != b,
                    _ => a == b,
                }
            }
            Formula::Connective(sign, a, b) => {
                let (a, b) = (a.holds(at), b.holds(at));
                match *sign {
                    "\\land" => a && b,
                    "\\lor" => a || b,
                    "\\implies" => !a || b,
                    _ => a == b,
                }
            }
            Formula::Not(p) => !p.holds(at),
            Formula::Quantified(sign, p) => {
                let with = |n: i64| at.iter().copied().chain([n]).collect::<Values>();
                let count = (0..3).filter(|n| p.holds(&with(*n))).count();
                match *sign {
                    "\\exists" => count > 0,
                    "\\forall" => count == 3,
                    _ => count == 1,
                }
            }
        }
    }
}

/// The items that define an operation, and how many transitions it has from all states with x + y at most 3.
fn operation(rng: &mut Rng, name: &str) -> (String, usize) {
    let (p, q) = (formula(rng, 3, NAMES.len()), formula(rng, 2, NAMES.len()));
    let (first, second) = (p.text(NAMES.len()), q.text(NAMES.len()));
    let io = "in?, out! : 0 \\upto 2";
    let kind = rng.below(4);
    let text = match kind {
        0 => format!("{name} \\defs [\\Delta S; {io} | {first}]"),
        1 => format!(
            "{name}A \\defs [\\Delta S; {io} | {first}] \\\\ {name}B \\defs [\\Xi S; {io} | {second}]
             \\\\ {name} \\defs {name}A \\lor {name}B"
        ),
        2 => format!("{name} \\defs [\\Delta S; {io} | {first} \\land y' = y] \\hide (in?)"),
        _ => {
            format!("{name} \\defs [\\Delta S; {io} | {first}] \\land [\\Delta S; {io} | \\lnot ({second})]")
        }
    };
    let mut found: BTreeSet<Values> = BTreeSet::new();
    for n in 0..729 {
        let mut at: Values = (0..6).map(|i| n / 3i64.pow(i) % 3).collect();
        let same = at[0] == at[2] && at[1] == at[3];
        let taken = match kind {
            0 => p.holds(&at),
            1 => p.holds(&at) || (same && q.holds(&at)),
            2 => p.holds(&at) && at[3] == at[1],
            _ => p.holds(&at) && !q.holds(&at),
        };
        if taken && at[0] + at[1] <= 3 && at[2] + at[3] <= 3 {
            if kind == 2 {
                at[4] = 0;
            }
            found.insert(at);
        }
    }
    (text, found.len())
}

#[test]
fn random_operations_have_the_transitions_that_trying_all_values_finds() {
    for seed in 0..15 {
        let mut rng = Rng::new(seed);
        let mut items =
            vec!["S \\defs [x, y : 0 \\upto 2 | x + y \\leq 3] \\\\ Init \\defs [S' | true]".to_owned()];
        let mut wanted = Vec::new();
        for i in 0..10 {
            let name = format!("Op{i}k");
            let (text, count) = operation(&mut rng, &name);
            items.push(text);
            wanted.push((name, count));
        }
        let items = items.join(" \\\\ ");
        let result = check_zed(&items, &["--no-deadlock"]);
        assert_eq!(result["incomplete_because"], serde_json::json!([]), "seed {seed}");
        for (name, count) in wanted {
            assert_eq!(result["events"][&name]["transitions"], count, "seed {seed}, {name} of {items}");
        }
    }
}
