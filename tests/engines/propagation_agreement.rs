//! Three ways to the valuations of the constants: plain enumeration, the search with propagation, and the list of the
//! SAT solver. The first two find the same valuations and, where all functions are total, the same faults; where the solver
//! lists valuations, there is no fault and the list is the same.
//!
//! Random PROPERTIES over numbers, elements, sets, relations, total and partial functions, injections and
//! functions into functions, small enough for enumeration; the search with propagation is told to take them all the same.
//! The seed is fixed: failures can be repeated. `BOMBUS_PROPAGATION_CASES` asks for a longer run.

use crate::support;
use crate::support::binary::Folder;

use bombus::base::budget::Budget;
use bombus::evaluate::{Constants, Interpreter};
use bombus::lang::free;
use bombus::lang::typed::{Machine, Pred, PredKind, VarId};
use bombus::lang::value::Value;
use bombus::model::{self, LoadOptions};
use bombus::symbolic::valuations::{groups, solutions};
use std::fmt::Write as _;
use support::rng::Rng;
use support::{number_from_env, with_stack};

const CASES: u64 = 1500;

struct Properties<'r> {
    rng: &'r mut Rng,
    /// Names of quantified numbers in scope.
    bound: Vec<&'static str>,
    /// The first argument of `h` is an element, not a number.
    by_element: bool,
}

/// A declaration of the constants: how each is typed, and what may be said of it.
const TYPINGS: &[(&str, &[&str])] = &[
    // The first alternative is the plain one; all give a space that plain enumeration can do.
    ("x", &["x : 0..2", "x : -1..2", "x : {0,2,5}"]),
    ("y", &["y : 0..2", "y : -1..1", "y : {1,3}"]),
    ("s", &["s <: 0..2", "s : POW1(0..2)", "s <: {0,3}"]),
    ("e", &["e : E", "e : E - {e1}"]),
    (
        "f",
        &[
            "f : 0..1 --> 0..2",
            "f : 0..2 --> 0..1",
            "f : 0..1 >-> 0..2",
            "f : 0..2 >->> 0..2",
            "f : perm(1..2)",
        ],
    ),
    ("h", &["h : (0..1)*(0..1) --> 0..1", "h : E*{1} --> 0..1", "h : (0..1)*(0..1) +-> 0..1"]),
    ("g", &["g : E +-> 0..1", "g : E >+> 0..1", "g : 0..2 +-> 0..1", "g : E --> BOOL", "g : E +-> BOOL"]),
];

impl Properties<'_> {
    fn number(&mut self, depth: u32, g: usize) -> String {
        let choice = if depth == 0 { self.rng.below(5) } else { self.rng.below(15) };
        match choice {
            0 => "x".into(),
            1 => "y".into(),
            2 if !self.bound.is_empty() => self.rng.pick(&self.bound).to_string(),
            2 | 3 => format!("({})", self.rng.below(6) as i64 - 1),
            4 => format!("f({})", self.rng.pick(&["0", "1", "1"])),
            5 => format!("({}+{})", self.number(depth - 1, g), self.number(depth - 1, g)),
            6 => format!("({}-{})", self.number(depth - 1, g), self.number(depth - 1, g)),
            7 => format!("({}*{})", self.number(depth - 1, g), self.number(0, g)),
            8 => format!("card({})", self.set(depth - 1)),
            9 => format!("f({})", self.number(0, g)),
            10 => format!(
                "({} {} {})",
                self.number(0, g),
                self.rng.pick(&["mod", "/"]),
                self.rng.pick(&["2", "3", "x", "y"])
            ),
            11 => format!("{}({})", self.rng.pick(&["max", "min"]), self.set(0)),
            12 if self.rng.chance(30) => {
                let first = if self.by_element { "e".into() } else { self.number(0, g) };
                format!("h({first},{})", self.number(0, g))
            }
            12 if g < 3 => format!("g({})", if g == 2 { self.number(0, g) } else { "e".into() }),
            12 => format!("f~({})", self.number(0, g)),
            13 => format!("SIGMA(z).(z:{}|z+{})", self.set(0), self.number(0, g)),
            _ => {
                format!("(IF {} THEN {} ELSE {} END)", self.atom(0, g), self.number(0, g), self.number(0, g))
            }
        }
    }

    fn set(&mut self, depth: u32) -> String {
        match if depth == 0 { self.rng.below(4) } else { self.rng.below(13) } {
            0 => "s".into(),
            1 => "{x,y}".into(),
            2 => "ran(f)".into(),
            3 => self.rng.pick(&["0..2", "{0,2,3}", "1..4", "{1}"]).to_string(),
            4 => format!("({}..{})", self.number(0, 9), self.number(0, 9)),
            5 => format!("({} \\/ {})", self.set(depth - 1), self.set(depth - 1)),
            6 => format!("({} /\\ {})", self.set(depth - 1), self.set(depth - 1)),
            7 => format!("({} - {})", self.set(depth - 1), self.set(depth - 1)),
            8 => format!("f[{}]", self.set(depth - 1)),
            9 => format!("f~[{}]", self.set(depth - 1)),
            10 => format!("dom(f |> {})", self.set(depth - 1)),
            11 => format!(
                "{{w | w:{} & w {} {}}}",
                self.set(0),
                self.rng.pick(&["<", ">=", "/="]),
                self.number(0, 9)
            ),
            _ => "{0|->1,1|->2,2|->0}[s]".into(),
        }
    }

    fn atom(&mut self, depth: u32, g: usize) -> String {
        match self.rng.below(15) {
            0..4 => {
                let op = *self.rng.pick(&["=", "/=", "<", "<=", ">", ">="]);
                format!("{} {op} {}", self.number(depth, g), self.number(depth, g))
            }
            4 | 5 => format!("{} {} {}", self.number(depth, g), self.rng.pick(&[":", "/:"]), self.set(depth)),
            6 | 7 => {
                let op = *self.rng.pick(&["<:", "/<:", "<<:", "=", "/="]);
                format!("{} {op} {}", self.set(depth), self.set(depth))
            }
            8 if self.rng.chance(50) => format!(
                "({}|->{}) {} {{a,b | a:-1..5 & b:-1..5 & (a+2)*(b+3) mod 4 < 2}}",
                self.number(0, g),
                self.number(0, g),
                self.rng.pick(&[":", "/:"])
            ),
            8 => format!("x|->{} : f", self.number(0, g)),
            9 => format!("e {} {{e1,e3}}", self.rng.pick(&[":", "/:"])),
            10 => format!("card({}) {} {}", self.set(1), self.rng.pick(&["=", "<", ">"]), self.number(0, g)),
            11 => {
                format!("f : 0..2 {} 0..{}", self.rng.pick(&["-->", ">->", "+->", "-->>"]), self.number(0, g))
            }
            12 if g == 3 || g == 4 => format!(
                "g({}) = {}",
                self.rng.pick(&["e", "e2"]),
                self.rng.pick(&["TRUE", "FALSE", "bool(x<y)"])
            ),
            12 if g < 2 => format!("{} : dom(g)", self.rng.pick(&["e", "e1"])),
            12 => "x : dom(g)".into(),
            13 => format!("({} \\/ {} = {})", self.set(0), self.set(0), self.set(0)),
            _ => "%z.(z:dom(f) | f(z)+z) : 0..2 >-> 0..5".into(),
        }
    }

    fn pred(&mut self, depth: u32, g: usize) -> String {
        if depth == 0 {
            return self.atom(1, g);
        }
        match self.rng.below(12) {
            0 => format!("({} & {})", self.pred(depth - 1, g), self.pred(depth - 1, g)),
            1 | 2 => format!("({} or {})", self.pred(depth - 1, g), self.pred(depth - 1, g)),
            3 => format!("({} => {})", self.pred(depth - 1, g), self.pred(depth - 1, g)),
            4 => format!("({} <=> {})", self.pred(depth - 1, g), self.pred(depth - 1, g)),
            5 => format!("not({})", self.pred(depth - 1, g)),
            6..9 => {
                let names = ["u", "v", "w1", "w2"];
                let Some(name) = names.into_iter().find(|n| !self.bound.contains(n)) else {
                    return self.atom(1, g);
                };
                let range = self.set(0);
                self.bound.push(name);
                let body = self.pred(depth - 1, g);
                let guard = self.atom(0, g);
                self.bound.pop();
                match self.rng.below(4) {
                    0 => format!("#{name}.({name}:{range} & {body})"),
                    1 => format!("!{name}.({name}:{range} & {guard} => {body})"),
                    _ => format!("!{name}.({name}:{range} => {body})"),
                }
            }
            9 => format!("!(a,b).(a|->b : f & a<=x => {})", self.atom(0, g)),
            _ => self.atom(2, g),
        }
    }
}

fn random_machine(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = String::from("MACHINE M\nSETS E={e1,e2,e3}\nCONSTANTS x,y,s,e,f,g,h\nPROPERTIES\n");
    let mut parts = Vec::new();
    let (mut g, mut by_element) = (0, false);
    for (name, ways) in TYPINGS {
        let way = if rng.chance(60) { 0 } else { rng.below(ways.len()) };
        by_element |= ways[way].starts_with("h : E");
        if *name == "g" {
            g = rng.below(ways.len());
            parts.push(ways[g].to_string());
        } else {
            parts.push(ways[way].to_string());
        }
    }
    let mut properties = Properties { rng: &mut rng, bound: Vec::new(), by_element };
    for _ in 0..1 + properties.rng.below(4) {
        parts.push(properties.pred(2, g));
    }
    // Valuations are multiplied by those of a constant that nothing speaks of, so `h` is there only if needed.
    if !parts.iter().any(|p| p.contains("h(")) {
        parts.retain(|p| !p.starts_with("h : "));
        text = text.replace(",h\n", "\n");
    }
    // The order of conjuncts means nothing.
    for i in (1..parts.len()).rev() {
        let j = rng.below(i + 1);
        parts.swap(i, j);
    }
    let _ = write!(text, "  {}\nEND\n", parts.join("\n  & "));
    text
}

/// What an interpreter finds: valuations, and the places of faults.
fn constants(interpreter: &Interpreter) -> Result<(Vec<String>, bool, bool), String> {
    let found = interpreter.constants().map_err(|e| e.to_string())?;
    let mut values: Vec<String> = found.values.iter().map(|v| format!("{v:?}")).collect();
    values.sort();
    Ok((values, found.errors.is_empty(), found.incomplete.is_empty()))
}

/// Whether some conjunct is about no constant at all, so that it is in no group.
fn has_ground_conjunct(p: &Pred) -> bool {
    match &p.kind {
        PredKind::And(ps) => ps.iter().any(has_ground_conjunct),
        PredKind::Label(_, p) => has_ground_conjunct(p),
        _ => free::of_pred(p).is_empty(),
    }
}

/// The valuations that the SAT solver lists, if it lists those of all constants.
fn listed_by_solver(machine: &Machine, budget: &Budget) -> Option<Vec<String>> {
    if machine.properties.iter().any(|c| has_ground_conjunct(&c.pred)) {
        return None;
    }
    let mut all: Vec<Vec<(VarId, Value)>> = vec![Vec::new()];
    for group in groups(machine) {
        let list = solutions(machine, &group, budget)?;
        let named = list.into_iter().map(|values| group.constants.iter().copied().zip(values));
        let named: Vec<Vec<(VarId, Value)>> = named.map(Iterator::collect).collect();
        all = all.iter().flat_map(|a| named.iter().map(|b| [&a[..], b].concat())).collect();
    }
    let in_order = |valuation: &Vec<(VarId, Value)>| {
        let value = |v: &VarId| valuation.iter().find(|(w, _)| w == v).map(|(_, x)| x.clone());
        let values: Constants = machine.constants.iter().filter_map(value).collect();
        format!("{values:?}")
    };
    let mut values: Vec<String> = all.iter().map(in_order).collect();
    values.sort();
    Some(values)
}

fn load(text: &str) -> Option<model::Model> {
    model::load(&Folder::new().write("M.mch", text), &LoadOptions::default()).model
}

#[test]
fn propagation_and_enumeration_find_the_same_constants() {
    let cases = number_from_env("BOMBUS_PROPAGATION_CASES", CASES);
    let first = number_from_env("BOMBUS_PROPAGATION_SEED", 1);
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get()) as u64;
    let all: Vec<Compared> = std::thread::scope(|scope| {
        let some = |t: u64| move || with_stack(move || compare(first + t, first + cases, threads));
        let threads: Vec<_> = (0..threads).map(|t| scope.spawn(some(t))).collect();
        threads.into_iter().map(|t| t.join().expect("no comparison panics")).collect()
    });
    let wrong: Vec<&String> = all.iter().flat_map(|c| &c.wrong).collect();
    let shown: Vec<&str> = wrong.iter().take(5).map(|w| w.as_str()).collect();
    assert!(wrong.is_empty(), "{} of {cases} differ:\n{}", wrong.len(), shown.join("\n"));
    let rejected: u64 = all.iter().map(|c| c.rejected).sum();
    assert!(rejected * 4 < cases, "{rejected} of {cases} machines were rejected");
    let solved: u64 = all.iter().map(|c| c.solved).sum();
    assert!(solved * 10 > cases, "only {solved} of {cases} have a solution");
    let faulty: u64 = all.iter().map(|c| c.faulty).sum();
    assert!(faulty * 50 > cases, "only {faulty} of {cases} have a fault");
    let listed: u64 = all.iter().map(|c| c.listed).sum();
    assert!(listed * 500 > cases, "only {listed} of {cases} were listed by the solver");
}

#[derive(Default)]
struct Compared {
    wrong: Vec<String>,
    solved: u64,
    faulty: u64,
    listed: u64,
    rejected: u64,
}

/// Compares machines with seeds from `first` in steps of `step`.
fn compare(first: u64, end: u64, step: u64) -> Compared {
    let mut found = Compared::default();
    for seed in (first..end).step_by(step as usize) {
        let text = random_machine(seed);
        let Some(model) = load(&text) else {
            found.rejected += 1;
            continue;
        };
        let budget = Budget::unlimited();
        let machine = &model.machine;
        let plain = constants(&Interpreter::with_propagation(machine, &budget, None));
        let narrowed = constants(&Interpreter::with_propagation(machine, &budget, Some(0.0)));
        found.solved += u64::from(plain.as_ref().is_ok_and(|(values, ..)| !values.is_empty()));
        found.faulty += u64::from(plain.as_ref().is_ok_and(|(_, faultless, _)| !faultless));
        let listed = seed.is_multiple_of(10).then(|| listed_by_solver(machine, &budget));
        if let Some(listed) = listed.flatten() {
            found.listed += u64::from(!listed.is_empty());
            // Where there is no valuation, the evaluator says why.
            let same = |(values, defined, all): &(Vec<String>, bool, bool)| {
                *values == listed && (listed.is_empty() || *defined && *all)
            };
            if !plain.as_ref().is_ok_and(same) {
                found
                    .wrong
                    .push(format!("seed {seed}: the solver lists {}: {plain:?}\n{text}", listed.len()));
            }
        }
        // Which of the valuations without a value are told may differ where a partial function is looked for.
        let same = match (&plain, &narrowed) {
            (Ok(p), Ok(n)) if !text.contains("g : E --> BOOL") => p.0 == n.0,
            _ => plain == narrowed,
        };
        if !same {
            let show = |r: &Result<(Vec<String>, bool, bool), String>| match r {
                Ok((v, e, i)) => format!("{} valuations, no fault {e}, complete {i}", v.len()),
                Err(e) => e.clone(),
            };
            found.wrong.push(format!("seed {seed}: {} / {}\n{text}", show(&plain), show(&narrowed)));
        }
    }
    found
}

fn valuations(text: &str) -> usize {
    let model = load(text).expect("a machine that loads");
    let found = Interpreter::new(&model.machine, &Budget::unlimited()).constants().expect("constants");
    assert!(found.errors.is_empty() && found.incomplete.is_empty());
    found.values.len()
}

fn queens(n: u32) -> String {
    format!(
        "MACHINE Queens CONSTANTS n,q PROPERTIES n={n} & q : 1..n >-> 1..n &
         !(i,j).(i:1..n & j:2..n & i<j => q(i)+(j-i) /= q(j) & q(i)-(j-i) /= q(j)) END"
    )
}

#[test]
fn queens_on_a_board_have_the_known_number_of_solutions() {
    // OEIS A000170.
    for (n, count) in [(4, 2), (5, 10), (6, 4), (7, 40), (8, 92)] {
        assert_eq!(valuations(&queens(n)), count, "{n} queens");
    }
}

#[test]
fn a_sum_of_words_has_one_reading() {
    // The known answer is 9567 + 1085 = 10652.
    let text = "MACHINE Money CONSTANTS S,E,N,D,M,O,R,Y PROPERTIES
        S:1..9 & E:0..9 & N:0..9 & D:0..9 & M:1..9 & O:0..9 & R:0..9 & Y:0..9 & card({S,E,N,D,M,O,R,Y}) = 8 &
        S*1000+E*100+N*10+D + M*1000+O*100+R*10+E = M*10000+O*1000+N*100+E*10+Y END";
    assert_eq!(valuations(text), 1);
}

#[test]
fn a_square_of_numbers_in_which_rows_and_columns_differ() {
    // Latin squares of order 4 with a first row and column in order: 4 (OEIS A000315).
    let text = "MACHINE Latin CONSTANTS b PROPERTIES b : 1..4 --> (1..4 --> 1..4) &
        !(i,j,k).(i:1..4 & j:1..4 & k:1..4 & j<k => b(i)(j) /= b(i)(k) & b(j)(i) /= b(k)(i)) &
        !i.(i:1..4 => b(1)(i) = i & b(i)(1) = i) END";
    assert_eq!(valuations(text), 4);
}

#[test]
fn a_partial_function_is_looked_for_where_it_is_applied() {
    // Both points must be there; each has two images.
    let text = "MACHINE Partial CONSTANTS f PROPERTIES f : 0..12 +-> 0..1 & !i.(i:0..1 => f(i) >= 0) &
        dom(f) <: 0..1 END";
    assert_eq!(valuations(text), 4);
}

#[test]
fn a_function_of_pairs_is_applied_to_its_own_images() {
    // Commutative, associative and idempotent operations on three elements: nine semilattices with names.
    let text = "MACHINE Meet SETS V = {a,b,c} CONSTANTS m, below PROPERTIES m : V*V --> V &
        !x.(x:V => m(x,x) = x) & !(x,y).(x:V & y:V => m(x,y) = m(y,x)) &
        !(x,y,z).(x:V & y:V & z:V => m(x,m(y,z)) = m(m(x,y),z)) &
        below : V <-> V & !(x,y).(x:V & y:V => (x|->y : below <=> m(x,y) = x)) END";
    assert_eq!(valuations(text), 9);
}

#[test]
fn a_renaming_of_a_graph_is_found() {
    // A cycle with one loop has one renaming to the same cycle with a loop elsewhere.
    let text = "MACHINE Renaming CONSTANTS g,h,p PROPERTIES
        g = %x.(x:0..39|(x+1) mod 40) \\/ {1|->1} & h = %x.(x:0..39|(x+1) mod 40) \\/ {5|->5} &
        p : 0..39 >->> 0..39 & !(x,y).(x:0..39 & y:0..39 => (x|->y : g <=> p(x)|->p(y) : h)) END";
    assert_eq!(valuations(text), 1);
}

#[test]
fn the_largest_solution_is_found_without_listing_all() {
    let text = "MACHINE Most DEFINITIONS EXTERNAL_FUNCTION_MAXIMIZE(T) == POW(T) --> T; MAXIMIZE(x) == 1
        CONSTANTS n, s PROPERTIES
        (n,s) = MAXIMIZE({k,t | t <: 1..40 & k = card(t) & !x.(x:t => x mod 2 = 0)}) & n = 20 & 38 : s END";
    assert_eq!(valuations(text), 1);
}

#[test]
fn thousands_of_clauses_over_hundreds_of_booleans_are_solved() {
    // A chain of implications: the first truth decides all.
    let names: Vec<String> = (0..400).map(|i| format!("x{i}")).collect();
    let typing: Vec<String> = names.iter().map(|x| format!("{x} : BOOL")).collect();
    let chain: Vec<String> =
        names.windows(2).map(|w| format!("({} = FALSE or {} = TRUE)", w[0], w[1])).collect();
    let text = format!(
        "MACHINE Chain CONSTANTS {} PROPERTIES {} & {} & (x0 = TRUE or x399 = FALSE) & x0 = TRUE END",
        names.join(","),
        typing.join(" & "),
        chain.join(" & ")
    );
    assert_eq!(valuations(&text), 1);
}

#[test]
fn work_on_large_sets_is_stopped_though_it_takes_few_steps() {
    let text = "MACHINE Large CONSTANTS s PROPERTIES s = (1..200000) - {7} END";
    let model = load(text).expect("a machine that loads");
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(std::time::Duration::ZERO);
    let stopped = Interpreter::new(&model.machine, &budget).constants();
    assert!(stopped.is_err(), "the budget was not asked");
}

/// The solver and the evaluator work side by side: one of them is ended alone, both are ended with the run.
#[test]
fn who_works_beside_others_is_ended_alone_and_with_all() {
    use std::sync::atomic::Ordering;
    let whole = Budget::unlimited();
    let ((one, end), (other, _)) = (whole.beside(), whole.beside());
    end.store(true, Ordering::Relaxed);
    assert!(one.check().is_err() && other.check().is_ok() && whole.check().is_ok());
    whole.interrupt_flag().store(true, Ordering::Relaxed);
    assert!(other.check().is_err() && whole.check().is_err());
}
