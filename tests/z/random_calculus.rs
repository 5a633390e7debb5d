//! Random expressions of the schema calculus against tables of truth values.
//!
//! A schema is a set of components and a table that says for every valuation of all six names whether it holds, so every
//! operator is a few lines on tables. All components are of `0 \upto 2`; where an operator frees a component from that
//! (negation, disjunction of different signatures, …) the result is joined with the declarations again.

use crate::check_zed;
use crate::support::number_from_env;
use crate::support::rng::Rng;
use std::collections::BTreeSet;

const NAMES: [&str; 6] = ["x", "y", "x'", "y'", "m?", "m!"];
const ALL: usize = 729;
/// Operations in each specification.
const OPERATIONS: usize = 25;

/// The place of a valuation with one value changed.
fn with(at: usize, name: usize, value: usize) -> usize {
    let unit = 3usize.pow(name as u32);
    at - at / unit % 3 * unit + value * unit
}

fn value(at: usize, name: usize) -> usize {
    at / 3usize.pow(name as u32) % 3
}

/// A schema with its text; a component is a bit of `signature`.
#[derive(Clone)]
struct Schema {
    text: String,
    signature: u8,
    table: Vec<bool>,
}

fn names(signature: u8) -> Vec<usize> {
    (0..6).filter(|n| signature >> n & 1 == 1).collect()
}

fn listed(signature: u8) -> String {
    names(signature).iter().map(|n| NAMES[*n]).collect::<Vec<_>>().join(", ")
}

fn table(truth: impl Fn(usize) -> bool) -> Vec<bool> {
    (0..ALL).map(truth).collect()
}

impl Schema {
    fn has(&self, name: usize) -> bool {
        self.signature >> name & 1 == 1
    }

    /// The schema joined with the declarations of its components.
    fn boxed(self) -> Schema {
        let text = format!("(({}) \\land [{} : 0 \\upto 2])", self.text, listed(self.signature));
        Schema { text, ..self }
    }

    fn without(&self, hidden: u8) -> Schema {
        let mut out = self.table.clone();
        for name in names(hidden) {
            out = table(|at| (0..3).any(|v| out[with(at, name, v)]));
        }
        Schema { text: String::new(), signature: self.signature & !hidden, table: out }
    }
}

/// A predicate over components: text and table.
fn predicate(rng: &mut Rng, signature: u8, depth: usize, known: &[Schema]) -> (String, Vec<bool>) {
    let of = names(signature);
    let a = *rng.pick(&of);
    let fitting: Vec<&Schema> = known.iter().filter(|s| s.signature & !signature == 0).collect();
    match rng.below(if depth == 0 { 4 } else { 9 }) {
        0 => {
            let n = rng.below(3);
            (format!("{} = {n}", NAMES[a]), table(|at| value(at, a) == n))
        }
        1 => {
            let b = *rng.pick(&of);
            (format!("{} < {}", NAMES[a], NAMES[b]), table(|at| value(at, a) < value(at, b)))
        }
        2 => {
            let b = *rng.pick(&of);
            let text = format!("{} = ({} + 1) \\mod 3", NAMES[a], NAMES[b]);
            (text, table(|at| value(at, a) == (value(at, b) + 1) % 3))
        }
        3 if !fitting.is_empty() => {
            let schema = rng.pick(&fitting);
            (schema.text.clone(), schema.table.clone())
        }
        3 => ("true".to_owned(), table(|_| true)),
        4 => {
            let (p, t) = predicate(rng, signature, depth - 1, known);
            (format!("\\lnot ({p})"), table(|at| !t[at]))
        }
        kind => {
            let (p, t) = predicate(rng, signature, depth - 1, known);
            let (q, u) = predicate(rng, signature, depth - 1, known);
            let sign = ["\\land", "\\lor", "\\implies", "\\iff"][kind - 5];
            let both = |at: usize| match kind {
                5 => t[at] && u[at],
                6 => t[at] || u[at],
                7 => !t[at] || u[at],
                _ => t[at] == u[at],
            };
            (format!("(({p}) {sign} ({q}))"), table(both))
        }
    }
}

/// Schemas of one specification: names of definitions stand for what was made before.
struct Calculus<'r> {
    rng: &'r mut Rng,
    items: Vec<String>,
    known: Vec<Schema>,
}

impl Calculus<'_> {
    fn leaf(&mut self) -> Schema {
        let signature = 1 + self.rng.below(63) as u8;
        let (text, table) = predicate(self.rng, signature, 2, &self.known);
        Schema { text: format!("[{} : 0 \\upto 2 | {text}]", listed(signature)), signature, table }
    }

    /// Gives a schema a name, by which it is referred to.
    fn named(&mut self, schema: Schema) -> Schema {
        let name = format!("Part{}k", self.items.len());
        self.items.push(format!("{name} \\defs {}", schema.text));
        let named = Schema { text: name, ..schema };
        self.known.push(named.clone());
        named
    }

    fn schema(&mut self, depth: usize) -> Schema {
        if depth == 0 {
            return self.leaf();
        }
        let made = match self.rng.below(13) {
            0..5 => self.connected(depth),
            5 => {
                let s = self.schema(depth - 1);
                let text = format!("\\lnot ({})", s.text);
                Schema { text, signature: s.signature, table: table(|at| !s.table[at]) }.boxed()
            }
            6 => {
                let s = self.schema(depth - 1);
                let hidden = s.signature & self.rng.below(64) as u8;
                if hidden == 0 || hidden == s.signature {
                    return s;
                }
                Schema { text: format!("(({}) \\hide ({}))", s.text, listed(hidden)), ..s.without(hidden) }
            }
            7 => self.projected(depth),
            8 => self.quantified(depth),
            9 => self.renamed(depth),
            10 => {
                let s = self.schema(depth - 1);
                let hidden = s.signature & 0b10_1100;
                if hidden == s.signature {
                    return s;
                }
                Schema { text: format!("(\\pre ({}))", s.text), ..s.without(hidden) }
            }
            11 => self.composed(depth),
            _ => self.piped(depth),
        };
        if self.rng.chance(40) { self.named(made) } else { made }
    }

    fn connected(&mut self, depth: usize) -> Schema {
        let (s, t) = (self.schema(depth - 1), self.schema(depth - 1));
        let kind = self.rng.below(4);
        let sign = ["\\land", "\\lor", "\\implies", "\\iff"][kind];
        let both = |at: usize| {
            let (a, b) = (s.table[at], t.table[at]);
            [a && b, a || b, !a || b, a == b][kind]
        };
        let text = format!("({} {sign} {})", s.text, t.text);
        Schema { text, signature: s.signature | t.signature, table: table(both) }.boxed()
    }

    fn projected(&mut self, depth: usize) -> Schema {
        let (s, t) = (self.schema(depth - 1), self.schema(depth - 1));
        let both = Schema {
            text: String::new(),
            signature: s.signature | t.signature,
            table: table(|at| s.table[at] && t.table[at]),
        };
        let text = format!("({} \\project {})", s.text, t.text);
        Schema { text, ..both.without(s.signature & !t.signature) }
    }

    fn quantified(&mut self, depth: usize) -> Schema {
        let s = self.schema(depth - 1);
        let of = names(s.signature);
        if of.len() < 2 {
            return s;
        }
        let name = *self.rng.pick(&of);
        let (sign, least, most) =
            *self.rng.pick(&[("\\exists", 1, 3), ("\\forall", 3, 3), ("\\exists_1", 1, 1)]);
        let count = |at: usize| (0..3).filter(|v| s.table[with(at, name, *v)]).count();
        Schema {
            text: format!("({sign} {} : 0 \\upto 2 @ {})", NAMES[name], s.text),
            signature: s.signature & !(1 << name),
            table: table(|at| (least..=most).contains(&count(at))),
        }
        .boxed()
    }

    fn renamed(&mut self, depth: usize) -> Schema {
        let s = self.schema(depth - 1);
        let s = self.named(s);
        let (old, new) = (self.rng.below(6), self.rng.below(6));
        if !s.has(old) || s.has(new) {
            return s;
        }
        Schema {
            text: format!("{}[{}/{}]", s.text, NAMES[new], NAMES[old]),
            signature: s.signature & !(1 << old) | 1 << new,
            table: table(|at| s.table[with(at, old, value(at, new))]),
        }
    }

    fn composed(&mut self, depth: usize) -> Schema {
        let (s, t) = (self.schema(depth - 1), self.schema(depth - 1));
        // x and x', y and y': what the first leaves is what the second finds.
        let met: Vec<usize> = (0..2).filter(|n| s.has(n + 2) && t.has(*n)).collect();
        let after = met.iter().fold(s.signature, |all, n| all & !(1 << (n + 2)));
        let before = met.iter().fold(t.signature, |all, n| all & !(1 << n));
        let holds = |at: usize| {
            (0..9).any(|between| {
                let value = |n: usize| if n == 0 { between % 3 } else { between / 3 };
                let first = met.iter().fold(at, |at, n| with(at, n + 2, value(*n)));
                let second = met.iter().fold(at, |at, n| with(at, *n, value(*n)));
                s.table[first] && t.table[second]
            })
        };
        let text = format!("({} \\semi {})", s.text, t.text);
        Schema { text, signature: after | before, table: table(holds) }
    }

    fn piped(&mut self, depth: usize) -> Schema {
        let (s, t) = (self.schema(depth - 1), self.schema(depth - 1));
        let met = s.has(5) && t.has(4);
        let holds = |at: usize| {
            if !met {
                return s.table[at] && t.table[at];
            }
            (0..3).any(|v| s.table[with(at, 5, v)] && t.table[with(at, 4, v)])
        };
        let signature = match met {
            true => s.signature & !(1 << 5) | t.signature & !(1 << 4),
            false => s.signature | t.signature,
        };
        Schema { text: format!("({} \\pipe {})", s.text, t.text), signature, table: table(holds) }
    }
}

/// The transitions of a schema from all states in which x + y is at most 3.
fn transitions(schema: &Schema) -> usize {
    let sum = |at: usize, a: usize, b: usize| value(at, a) + value(at, b);
    let all = (0..ALL).filter(|at| schema.table[*at] && sum(*at, 0, 1) <= 3 && sum(*at, 2, 3) <= 3);
    all.collect::<BTreeSet<usize>>().len()
}

#[test]
fn expressions_of_the_schema_calculus_mean_what_their_tables_say() {
    // 200 specifications are 5,000 operations.
    for seed in 0..number_from_env("BOMBUS_Z_SPECIFICATIONS", 24) {
        let mut rng = Rng::new(seed);
        let mut calculus = Calculus { rng: &mut rng, items: Vec::new(), known: Vec::new() };
        calculus
            .items
            .push("S \\defs [x, y : 0 \\upto 2 | x + y \\leq 3] \\\\ Init \\defs [S' | true]".into());
        let mut wanted = Vec::new();
        for i in 0..OPERATIONS {
            let depth = 1 + calculus.rng.below(3);
            let schema = calculus.schema(depth);
            let name = format!("Op{i}k");
            let text = format!("{name} \\defs [\\Delta S; m?, m! : 0 \\upto 2] \\land {}", schema.text);
            calculus.items.push(text.clone());
            wanted.push((name, transitions(&schema), text));
        }
        let items = calculus.items.join(" \\\\ ");
        let result = check_zed(&items, &["--no-deadlock"]);
        assert_eq!(result["incomplete_because"], serde_json::json!([]), "seed {seed}: {items}");
        for (name, count, text) in wanted {
            assert_eq!(result["events"][&name]["transitions"], count, "seed {seed}: {text}\nof {items}");
        }
    }
}
