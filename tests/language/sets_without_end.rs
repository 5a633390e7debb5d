//! Random sets that cannot be listed, against their elements in a window.
//!
//! Every set is a tree whose elements the test knows by itself. Its formula is put to the evaluator, which cannot run through an infinite
//! set and so answers by a rule, or says that it does not know. An answer must be the one of the window. Windows are so wide
//! that they tell: beyond the numbers of a tree a set of integers has all numbers, or none, or in turn; and of texts that
//! no formula names a few are as good as all. Each kind of claim must be answered for as many pairs of
//! infinite sets as the test of rules asks for, so no kind passes by silence.

use crate::inference_rules::instances_of_each;
use crate::value_laws::evaluate;
use bombus::lang::value::Value;
use bombus_kernels::random::Random;

/// What a claim is about, its formula, and whether it holds. `None` if the instance would not need a rule.
type Claim = Option<(String, bool)>;

/// Draws claims of one kind until enough of them were answered. Of all that were drawn at least the given share must be answered.
fn answered(kind: &str, share: f64, mut draw: impl FnMut(&mut Random) -> Claim) {
    let wanted = instances_of_each();
    let mut random = Random(kind.len() as u64 * 7919 + 1);
    let (mut known, mut asked) = (0, 0);
    let mut open = String::new();
    while known < wanted && asked < 100 + 20 * wanted {
        let Some((text, truth)) = draw(&mut random) else { continue };
        asked += 1;
        match evaluate(&text) {
            Ok(found) => {
                assert_eq!(found, Value::Bool(truth), "{kind}: {text}");
                known += 1;
            }
            Err(why) => open = format!("{text}: {why}"),
        }
    }
    let reached = known as f64 / asked as f64;
    assert!(known == wanted && reached >= share, "{kind}: {known} of {asked} were answered; open is {open}");
}

const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "=", "/="];

fn compares(op: &str, x: i64, y: i64) -> bool {
    match op {
        "<" => x < y,
        "<=" => x <= y,
        ">" => x > y,
        ">=" => x >= y,
        "=" => x == y,
        _ => x != y,
    }
}

/// A set of integers.
#[derive(Clone)]
enum Set {
    Named(&'static str, fn(i64) -> bool),
    Interval(i64, i64),
    Listed(Vec<i64>),
    Compared(&'static str, i64),
    /// `{x | x:INTEGER & (x < a or (not(x < b) & x /= c))}` and its like.
    Either([(&'static str, i64); 3]),
    Operated(&'static str, Box<Set>, Box<Set>),
}

/// Numbers of trees lie between -REACH and REACH.
const REACH: i64 = 6;
/// Beyond these ends a set of integers has all numbers or none.
const WINDOW: i64 = 2 * REACH;

impl Set {
    fn random(random: &mut Random, depth: u32) -> Set {
        let number = |random: &mut Random| random.between(-REACH, REACH);
        match random.below(if depth == 0 { 7 } else { 12 }) {
            0 => Set::Named("NATURAL", |x| x >= 0),
            1 => Set::Named("NATURAL1", |x| x >= 1),
            2 => Set::Named("INTEGER", |_| true),
            3 => Set::Interval(number(random), number(random)),
            4 => Set::Listed((0..1 + random.below(3)).map(|_| number(random)).collect()),
            5 => Set::Compared(random.pick(&COMPARISONS), number(random)),
            6 => Set::Either([(); 3].map(|()| (random.pick(&COMPARISONS), number(random)))),
            _ => {
                let op = random.pick(&["\\/", "/\\", "-"]);
                let (a, b) = (Set::random(random, depth - 1), Set::random(random, depth - 1));
                Set::Operated(op, Box::new(a), Box::new(b))
            }
        }
    }

    /// One that holds infinitely many numbers.
    fn infinite(random: &mut Random, depth: u32) -> Set {
        loop {
            let set = Set::random(random, depth);
            if !set.is_finite() {
                return set;
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Set::Named(name, _) => (*name).to_string(),
            Set::Interval(a, b) => format!("(({a})..({b}))"),
            Set::Listed(list) => {
                format!("{{{}}}", list.iter().map(|n| format!("({n})")).collect::<Vec<_>>().join(","))
            }
            Set::Compared(op, a) => format!("{{x|x:INTEGER & x {op} ({a})}}"),
            Set::Either([(p, a), (q, b), (r, c)]) => {
                format!("{{x|x:INTEGER & (x {p} ({a}) or (not(x {q} ({b})) & x {r} ({c})))}}")
            }
            Set::Operated(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
        }
    }

    fn holds(&self, x: i64) -> bool {
        match self {
            Set::Named(_, holds) => holds(x),
            Set::Interval(a, b) => (*a..=*b).contains(&x),
            Set::Listed(list) => list.contains(&x),
            Set::Compared(op, a) => compares(op, x, *a),
            Set::Either([(p, a), (q, b), (r, c)]) => {
                compares(p, x, *a) || !compares(q, x, *b) && compares(r, x, *c)
            }
            Set::Operated("\\/", a, b) => a.holds(x) || b.holds(x),
            Set::Operated("/\\", a, b) => a.holds(x) && b.holds(x),
            Set::Operated(_, a, b) => a.holds(x) && !b.holds(x),
        }
    }

    fn is_finite(&self) -> bool {
        !self.holds(WINDOW) && !self.holds(-WINDOW)
    }

    fn is_empty(&self) -> bool {
        self.all(|x| !self.holds(x))
    }

    fn all(&self, claim: impl FnMut(i64) -> bool) -> bool {
        (-WINDOW..=WINDOW).all(claim)
    }

    fn lies_in(&self, other: &Set) -> bool {
        self.all(|x| !self.holds(x) || other.holds(x))
    }

    fn equals(&self, other: &Set) -> bool {
        self.all(|x| self.holds(x) == other.holds(x))
    }
}

#[test]
fn sets_of_integers_are_compared_by_their_ends() {
    let two = |random: &mut Random| (Set::infinite(random, 3), Set::infinite(random, 3));
    answered("equality", 1.0, |random| {
        let (a, b) = two(random);
        Some((format!("{} = {}", a.text(), b.text()), a.equals(&b)))
    });
    answered("inclusion", 1.0, |random| {
        let (a, b) = two(random);
        Some((format!("{} <: {}", a.text(), b.text()), a.lies_in(&b)))
    });
    answered("strict inclusion", 1.0, |random| {
        let (a, b) = two(random);
        Some((format!("{} <<: {}", a.text(), b.text()), a.lies_in(&b) && !a.equals(&b)))
    });
    answered("membership", 1.0, |random| {
        let (a, n) = (Set::infinite(random, 3), random.between(-WINDOW, WINDOW));
        Some((format!("{n} : {}", a.text()), a.holds(n)))
    });
    answered("disjointness", 1.0, |random| {
        let (a, b) = two(random);
        Some((format!("{} /\\ {} = {{}}", a.text(), b.text()), a.all(|x| !a.holds(x) || !b.holds(x))))
    });
    answered("the least element", 1.0, |random| {
        let a = Set::infinite(random, 3);
        let least = (-WINDOW..=WINDOW).find(|x| a.holds(*x)).filter(|x| *x > -WINDOW)?;
        Some((format!("min({}) = {least}", a.text()), true))
    });
    answered("the greatest element", 1.0, |random| {
        let a = Set::infinite(random, 3);
        let greatest = (-WINDOW..=WINDOW).rev().find(|x| a.holds(*x)).filter(|x| *x < WINDOW)?;
        Some((format!("max({}) = {greatest}", a.text()), true))
    });
    answered("all of one are in the other", 1.0, |random| {
        let (a, b) = two(random);
        Some((format!("!x.(x:{} => x:{})", a.text(), b.text()), a.lies_in(&b)))
    });
    answered("something is in both", 1.0, |random| {
        let (a, b) = two(random);
        Some((format!("#x.(x:{} & x:{})", a.text(), b.text()), !a.all(|x| !a.holds(x) || !b.holds(x))))
    });
}

/// A linear function on a set of integers, and what operators make of it. None of the functions takes one value twice.
#[derive(Clone)]
enum Linear {
    Lambda(Set, i64, i64),
    Graph(Set, i64, i64),
    Successor,
    Predecessor,
    Identity(Set),
    Inverse(Box<Linear>),
    Then(Box<Linear>, Box<Linear>),
    /// `s <| f`, or `s <<| f`.
    Points(bool, Set, Box<Linear>),
    /// `f |> s`, or `f |>> s`.
    Images(bool, Box<Linear>, Set),
}

/// Factors of functions of the greatest depth, and numbers that their inverses reach, stay inside of this.
const FAR: i64 = 600;

impl Linear {
    fn random(random: &mut Random, depth: u32, steep: i64) -> Linear {
        let factor = |random: &mut Random| random.between(1, steep) * random.pick(&[1, -1]);
        let shift = |random: &mut Random| random.between(-4, 4);
        let inner = |random: &mut Random| Box::new(Linear::random(random, depth - 1, steep));
        match random.below(if depth == 0 { 5 } else { 10 }) {
            0 => Linear::Lambda(Set::random(random, 1), factor(random), shift(random)),
            1 => Linear::Graph(Set::random(random, 1), factor(random), shift(random)),
            2 => Linear::Successor,
            3 => Linear::Predecessor,
            4 => Linear::Identity(Set::random(random, 1)),
            5 | 6 => Linear::Inverse(inner(random)),
            7 => Linear::Then(inner(random), inner(random)),
            8 => Linear::Points(random.below(2) == 0, Set::random(random, 1), inner(random)),
            _ => Linear::Images(random.below(2) == 0, inner(random), Set::random(random, 1)),
        }
    }

    /// One with infinitely many points.
    fn infinite(random: &mut Random, depth: u32, steep: i64) -> Linear {
        loop {
            let f = Linear::random(random, depth, steep);
            if [FAR / 2, -FAR / 2].iter().any(|x| (0..60).any(|k| f.image(x + k).is_some())) {
                return f;
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Linear::Lambda(s, a, b) => format!("(%x.(x:{}|({a})*x+({b})))", s.text()),
            Linear::Graph(s, a, b) => format!("{{x,y|x:{} & y = ({a})*x+({b})}}", s.text()),
            Linear::Successor => "succ".to_string(),
            Linear::Predecessor => "pred".to_string(),
            Linear::Identity(s) => format!("id({})", s.text()),
            Linear::Inverse(f) => format!("({}~)", f.text()),
            Linear::Then(f, g) => format!("({} ; {})", f.text(), g.text()),
            Linear::Points(keep, s, f) => {
                format!("({} {} {})", s.text(), ["<<|", "<|"][*keep as usize], f.text())
            }
            Linear::Images(keep, f, s) => {
                format!("({} {} {})", f.text(), ["|>>", "|>"][*keep as usize], s.text())
            }
        }
    }

    fn image(&self, x: i64) -> Option<i64> {
        match self {
            Linear::Lambda(s, a, b) | Linear::Graph(s, a, b) => s.holds(x).then_some(a * x + b),
            Linear::Successor => Some(x + 1),
            Linear::Predecessor => Some(x - 1),
            Linear::Identity(s) => s.holds(x).then_some(x),
            Linear::Inverse(f) => f.point(x),
            Linear::Then(f, g) => g.image(f.image(x)?),
            Linear::Points(keep, s, f) => f.image(x).filter(|_| s.holds(x) == *keep),
            Linear::Images(keep, f, s) => f.image(x).filter(|y| s.holds(*y) == *keep),
        }
    }

    /// The point that has this image.
    fn point(&self, y: i64) -> Option<i64> {
        match self {
            Linear::Lambda(s, a, b) | Linear::Graph(s, a, b) => {
                ((y - b) % a == 0).then(|| (y - b) / a).filter(|x| s.holds(*x))
            }
            Linear::Successor => Some(y - 1),
            Linear::Predecessor => Some(y + 1),
            Linear::Identity(s) => s.holds(y).then_some(y),
            Linear::Inverse(f) => f.image(y),
            Linear::Then(f, g) => f.point(g.point(y)?),
            Linear::Points(keep, s, f) => f.point(y).filter(|x| s.holds(*x) == *keep),
            Linear::Images(keep, f, s) => f.point(y).filter(|_| s.holds(y) == *keep),
        }
    }
}

fn everywhere(claim: impl FnMut(i64) -> bool) -> bool {
    (-FAR..=FAR).all(claim)
}

/// A set of integers inside of which a function of depth two is told by its window.
fn functions_of_depth(depth: u32, steep: i64) -> impl Fn(&mut Random) -> (Linear, Linear) {
    move |random| {
        let f = Linear::infinite(random, depth, steep);
        // Sometimes two that are nearly the same.
        let g = match random.below(3) {
            0 => Linear::infinite(random, depth, steep),
            1 => Linear::Points(true, Set::random(random, 1), Box::new(f.clone())),
            _ => Linear::Inverse(Box::new(Linear::Inverse(Box::new(f.clone())))),
        };
        (f, g)
    }
}

#[test]
fn linear_functions_are_compared_by_factor_shift_and_domain() {
    let two = functions_of_depth(2, 1);
    let of_steep = functions_of_depth(1, 3);
    for (name, share, two) in [("linear", 0.9, &two as &dyn Fn(&mut Random) -> _), ("steep", 0.5, &of_steep)]
    {
        answered(&format!("{name}: equality"), share, |random| {
            let (f, g): (Linear, Linear) = two(random);
            Some((format!("{} = {}", f.text(), g.text()), everywhere(|x| f.image(x) == g.image(x))))
        });
        answered(&format!("{name}: inclusion"), share, |random| {
            let (f, g): (Linear, Linear) = two(random);
            let lies_in = everywhere(|x| f.image(x).is_none() || f.image(x) == g.image(x));
            Some((format!("{} <: {}", f.text(), g.text()), lies_in))
        });
        answered(&format!("{name}: membership"), share, |random| {
            let (f, _): (Linear, Linear) = two(random);
            let x = random.between(-WINDOW, WINDOW);
            let y = f.image(x).unwrap_or(x) + random.pick(&[0, 0, 1]);
            Some((format!("{x}|->({y}) : {}", f.text()), f.image(x) == Some(y)))
        });
        answered(&format!("{name}: domain"), share, |random| {
            let ((f, _), s): ((Linear, Linear), _) = (two(random), Set::random(random, 1));
            let equal = everywhere(|x| f.image(x).is_some() == s.holds(x));
            Some((format!("dom({}) = {}", f.text(), s.text()), equal))
        });
        answered(&format!("{name}: image of a set"), share, |random| {
            let (f, _): (Linear, Linear) = two(random);
            let (s, t) = (Set::random(random, 1), Set::infinite(random, 1));
            let lies_in = everywhere(|x| !s.holds(x) || f.image(x).is_none_or(|y| t.holds(y)));
            Some((format!("{}[{}] <: {}", f.text(), s.text(), t.text()), lies_in))
        });
        answered(&format!("{name}: injection into a set"), share, |random| {
            let (f, _): (Linear, Linear) = two(random);
            let (s, t) = (Set::random(random, 1), Set::infinite(random, 1));
            let total = everywhere(|x| f.image(x).is_some() == s.holds(x));
            let into = everywhere(|x| f.image(x).is_none_or(|y| t.holds(y)));
            Some((format!("{} : {} >-> {}", f.text(), s.text(), t.text()), total && into))
        });
    }
}

#[test]
fn products_and_records_are_compared_component_by_component() {
    // The four sets of two products or records, and whether each lies in the other. Nothing lies in all of them, and there is
    // nothing where one of the two sets is empty.
    let four = |random: &mut Random| {
        let sets = [(); 4].map(|()| Set::random(random, 1));
        let lies_in = |[a, b, c, d]: [usize; 4]| {
            let none = sets[a].is_empty() || sets[b].is_empty();
            none || sets[a].lies_in(&sets[c]) && sets[b].lies_in(&sets[d])
        };
        let (there, back) = (lies_in([0, 1, 2, 3]), lies_in([2, 3, 0, 1]));
        let finite = |a: usize, b: usize| sets[a].is_finite() && sets[b].is_finite();
        let listed = finite(0, 1) || finite(2, 3);
        (!listed).then(|| (sets.each_ref().map(Set::text), there, back))
    };
    answered("inclusion of products", 1.0, |random| {
        let ([a, b, c, d], lies_in, _) = four(random)?;
        Some((format!("{a}*{b} <: {c}*{d}"), lies_in))
    });
    answered("equality of products", 1.0, |random| {
        let ([a, b, c, d], lies_in, back) = four(random)?;
        Some((format!("{a}*{b} = {c}*{d}"), lies_in && back))
    });
    answered("inclusion of pairs", 0.8, |random| {
        let ([a, b, c, d], lies_in, _) = four(random)?;
        Some((format!("{{x,y|x:{a} & y:{b}}} <: {c}*{d}"), lies_in))
    });
    answered("inclusion of records", 1.0, |random| {
        let ([a, b, c, d], lies_in, _) = four(random)?;
        Some((format!("struct(p:{a},q:{b}) <: struct(p:{c},q:{d})"), lies_in))
    });
    answered("first projections", 1.0, |random| {
        let (s, t, u) = (Set::infinite(random, 1), Set::random(random, 1), Set::infinite(random, 1));
        let truth = t.is_empty() || s.lies_in(&u);
        Some((format!("prj1({0},{1}) : {0}*{1} --> {2}", s.text(), t.text(), u.text()), truth))
    });
    answered("second projections", 1.0, |random| {
        let (s, t, u) = (Set::infinite(random, 1), Set::random(random, 1), Set::infinite(random, 1));
        Some((format!("ran(prj2({},{})) <: {}", s.text(), t.text(), u.text()), t.lies_in(&u)))
    });
}

#[test]
fn ends_images_and_compositions_of_products_are_their_sides() {
    let some = |random: &mut Random, s: &Set| random.below(3) == 0 || !s.is_finite();
    answered("domains of products", 0.9, |random| {
        let [s, t, u] = [(); 3].map(|()| Set::random(random, 1));
        let equal = if t.is_empty() { u.is_empty() } else { s.equals(&u) };
        some(random, &s).then(|| (format!("dom({}*{}) = {}", s.text(), t.text(), u.text()), equal))
    });
    answered("images of products", 0.9, |random| {
        let [s, t, u, v] = [(); 4].map(|()| Set::random(random, 1));
        let meets = !s.all(|x| !s.holds(x) || !u.holds(x));
        let equal = if meets { t.equals(&v) } else { v.is_empty() };
        some(random, &t).then(|| (format!("({}*{})[{}] = {}", s.text(), t.text(), u.text(), v.text()), equal))
    });
    answered("compositions of products", 0.5, |random| {
        let [a, b, c, d, e, f] = [(); 6].map(|()| Set::random(random, 0));
        let through = !b.all(|x| !b.holds(x) || !c.holds(x)) && !a.is_empty() && !d.is_empty();
        let none = e.is_empty() || f.is_empty();
        let equal = if through { !none && a.equals(&e) && d.equals(&f) } else { none };
        let [a, b, c, d, e, f] = [a, b, c, d, e, f].map(|s| s.text());
        Some((format!("({a}*{b} ; {c}*{d}) = {e}*{f}"), equal))
    });
}

#[test]
fn sets_of_functions_are_compared_by_their_ends() {
    // Without a point or an image there is no pair, and {} is the only relation; {} is total where there is no point.
    answered("inclusion of sets of functions", 0.15, |random| {
        let arrows = ["<->", "+->", "-->"];
        let (k, l) = (random.pick(&arrows), random.pick(&arrows));
        let [s, t, u, v] = [(); 4].map(|()| Set::random(random, 1));
        let no_pair = s.is_empty() || t.is_empty();
        let parts = no_pair || s.lies_in(&u) && t.lies_in(&v);
        let single = (-WINDOW..=WINDOW).filter(|x| t.holds(*x)).count() == 1;
        let truth = match (k, l) {
            ("-->", _) if t.is_empty() && !s.is_empty() => true,
            ("-->", "-->") if s.is_empty() => u.is_empty(),
            ("-->", "-->") => s.equals(&u) && t.lies_in(&v),
            (_, "-->") => u.is_empty() && no_pair,
            ("<->", "+->") => parts && (no_pair || single),
            _ => parts,
        };
        let listed = s.is_finite() && t.is_finite() || u.is_finite() && v.is_finite();
        let text = format!("({} {k} {}) <: ({} {l} {})", s.text(), t.text(), u.text(), v.text());
        (!listed).then_some((text, truth))
    });
}

/// A set of sets or of sequences over a set.
#[derive(Clone, Copy)]
struct Over {
    name: &'static str,
    /// The empty one is not in it.
    some: bool,
    /// Only finite sets, or only sequences that take no value twice, are in it.
    strict: bool,
}

const POWERS: [Over; 4] = [
    Over { name: "POW", some: false, strict: false },
    Over { name: "POW1", some: true, strict: false },
    Over { name: "FIN", some: false, strict: true },
    Over { name: "FIN1", some: true, strict: true },
];
const SEQUENCES: [Over; 4] = [
    Over { name: "seq", some: false, strict: false },
    Over { name: "seq1", some: true, strict: false },
    Over { name: "iseq", some: false, strict: true },
    Over { name: "iseq1", some: true, strict: true },
];

#[test]
fn sets_of_sets_and_of_sequences_are_compared_by_what_they_are_over() {
    // A singleton tells sets apart that do not lie in each other. The whole set is no finite one if it is infinite; a
    // sequence with one value twice is there as soon as there is a value.
    let lies_in = |(k, s): (Over, &Set), (l, t): (Over, &Set), sequences: bool| {
        let harmless = if sequences { s.is_empty() } else { s.is_finite() };
        k.some && s.is_empty() || (k.some || !l.some) && s.lies_in(t) && (k.strict || !l.strict || harmless)
    };
    for (name, kinds, sequences) in [("sets", POWERS, false), ("sequences", SEQUENCES, true)] {
        answered(&format!("inclusion of sets of {name}"), 1.0, |random| {
            let (k, l) = (random.pick(&kinds), random.pick(&kinds));
            let (s, t) = (Set::infinite(random, 2), Set::infinite(random, 2));
            let text = format!("{}({}) <: {}({})", k.name, s.text(), l.name, t.text());
            Some((text, lies_in((k, &s), (l, &t), sequences)))
        });
        answered(&format!("equality of sets of {name}"), 1.0, |random| {
            let (k, l) = (random.pick(&kinds), random.pick(&kinds));
            let (s, t) = (Set::infinite(random, 2), Set::infinite(random, 1));
            let equal = lies_in((k, &s), (l, &t), sequences) && lies_in((l, &t), (k, &s), sequences);
            Some((format!("{}({}) = {}({})", k.name, s.text(), l.name, t.text()), equal))
        });
        answered(&format!("membership in sets of {name}"), 1.0, |random| {
            let (k, s) = (random.pick(&kinds), Set::infinite(random, 2));
            let list: Vec<i64> = (0..random.below(4)).map(|_| random.between(-WINDOW, WINDOW)).collect();
            let shown = list.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            let twice = (0..list.len()).any(|i| list[..i].contains(&list[i]));
            let strict = !sequences || !k.strict || !twice;
            let truth = list.iter().all(|x| s.holds(*x)) && strict && !(k.some && list.is_empty());
            let member = if sequences { format!("[{shown}]") } else { format!("{{{shown}}}") };
            Some((format!("{member} : {}({})", k.name, s.text()), truth))
        });
    }
}

/// Texts that formulas name, and some more that none names: two texts of a pair and what lies between them in compositions.
const NAMED: [&str; 3] = ["a", "b", "c"];
const TEXTS: usize = 8;

/// A set of texts as bits, and its formula.
fn texts(random: &mut Random, depth: u32) -> (String, u8) {
    let list = |random: &mut Random| {
        let bits = random.below(8) as u8;
        let some = NAMED.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        let some: Vec<String> = some.map(|(_, name)| format!("\"{name}\"")).collect();
        let text =
            if some.is_empty() { "({\"z\"}-{\"z\"})".into() } else { format!("{{{}}}", some.join(",")) };
        (text, bits)
    };
    match random.below(if depth == 0 { 4 } else { 8 }) {
        0 => ("STRING".into(), 0xff),
        1 => list(random),
        2 => {
            let (text, bits) = list(random);
            (format!("(STRING-{text})"), !bits)
        }
        3 => {
            let at = random.below(3) as usize;
            (format!("{{t|t:STRING & t /= \"{}\"}}", NAMED[at]), !(1 << at))
        }
        _ => {
            let (op, (a, x), (b, y)) =
                (random.pick(&["\\/", "/\\", "-"]), texts(random, depth - 1), texts(random, depth - 1));
            let bits = match op {
                "\\/" => x | y,
                "/\\" => x & y,
                _ => x & !y,
            };
            (format!("({a} {op} {b})"), bits)
        }
    }
}

/// Whether a set of texts holds those that no formula names.
fn goes_on(bits: u8) -> bool {
    bits >> (TEXTS - 1) == 1
}

/// A relation between texts: for each text those that it is related to.
type Relation = [u8; TEXTS];

fn relation(random: &mut Random, depth: u32) -> (String, Relation) {
    let rows = |row: &dyn Fn(usize) -> u8| -> Relation { std::array::from_fn(row) };
    let within = |set: u8, i: usize| if set >> i & 1 == 1 { 0xff } else { 0 };
    match random.below(if depth == 0 { 3 } else { 9 }) {
        0 | 1 => {
            let (s, bits) = texts(random, 1);
            (format!("id({s})"), rows(&|i| within(bits, i) & 1 << i))
        }
        2 => {
            let ((s, x), (t, y)) = (texts(random, 1), texts(random, 1));
            (format!("({s}*{t})"), rows(&|i| within(x, i) & y))
        }
        n => {
            let ((r, m), (s, bits)) = (relation(random, depth - 1), texts(random, 1));
            match n {
                3 => (format!("({s} <| {r})"), rows(&|i| within(bits, i) & m[i])),
                4 => (format!("({s} <<| {r})"), rows(&|i| within(!bits, i) & m[i])),
                5 => (format!("({r} |> {s})"), rows(&|i| m[i] & bits)),
                6 => (format!("({r} |>> {s})"), rows(&|i| m[i] & !bits)),
                7 => {
                    let inverse = |i: usize| (0..TEXTS).fold(0, |row, k| row | (m[k] >> i & 1) << k);
                    (format!("({r}~)"), rows(&inverse))
                }
                _ => {
                    let (q, k) = relation(random, depth - 1);
                    let through =
                        |i: usize| (0..TEXTS).filter(|z| m[i] >> z & 1 == 1).fold(0, |row, z| row | k[z]);
                    (format!("({r} ; {q})"), rows(&through))
                }
            }
        }
    }
}

#[test]
fn sets_of_texts_and_relations_between_them_follow_the_laws_of_sets() {
    answered("inclusion of sets of texts", 0.9, |random| {
        let ((s, x), (t, y)) = (texts(random, 2), texts(random, 2));
        (goes_on(x) && goes_on(y)).then(|| (format!("{s} <: {t}"), x & !y == 0))
    });
    answered("equality of sets of texts", 0.9, |random| {
        let ((s, x), (t, y)) = (texts(random, 2), texts(random, 2));
        (goes_on(x) && goes_on(y)).then(|| (format!("{s} = {t}"), x == y))
    });
    let endless = |m: &Relation| goes_on(m[TEXTS - 1]) || m.iter().any(|row| goes_on(*row));
    answered("inclusion of relations", 0.3, |random| {
        let ((r, m), (q, k)) = (relation(random, 2), relation(random, 1));
        let lies_in = m.iter().zip(&k).all(|(x, y)| x & !y == 0);
        (endless(&m) && endless(&k)).then(|| (format!("{r} <: {q}"), lies_in))
    });
    answered("equality of relations", 0.3, |random| {
        let ((r, m), (q, k)) = (relation(random, 2), relation(random, 1));
        (endless(&m) && endless(&k)).then(|| (format!("{r} = {q}"), m == k))
    });
    answered("images of sets of texts", 0.3, |random| {
        let ((r, m), (s, x), (t, y)) = (relation(random, 1), texts(random, 1), texts(random, 1));
        let image = (0..TEXTS).filter(|i| x >> i & 1 == 1).fold(0, |all, i| all | m[i]);
        endless(&m).then(|| (format!("{r}[{s}] = {t}"), image == y))
    });
}
