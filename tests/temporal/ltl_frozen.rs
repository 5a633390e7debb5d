//! Temporal formulas on graphs that the explorer froze: the same verdict and the same path for any
//! number of workers.

use bombus::base::budget::Budget;
use bombus::base::diagnostic::Diagnostic;
use bombus::base::span::{FileId, Span};
use bombus::explore::{Options, explore};
use bombus::ltl::atoms::{Atoms, Bound, Extent, Faults, Special};
use bombus::ltl::bits::Bits;
use bombus::ltl::formula::{Change, Pattern, Text};
use bombus::ltl::frozen::Frozen;
use bombus::ltl::view::{Edge, Graph, State};
use bombus::ltl::{Checker, Place, Verdict, parse_ctl, parse_ltl};
use bombus::system::{EventId, Sink, System};

/// Two counters below `n`: `x` goes round for ever, `y` rises to its top; `halt` ends everything.
struct Counters {
    n: u64,
    /// States with a larger `y` are not expanded.
    scope: u64,
    events: Vec<String>,
}

impl Counters {
    fn new(n: u64) -> Self {
        Counters { n, scope: n, events: ["turn", "rise", "halt"].map(String::from).to_vec() }
    }
}

impl System for Counters {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        3
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0, 0, 0]);
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        let [x, y, halted] = [state[0], state[1], state[2]];
        if halted == 0 {
            sink.edge(EventId(0), x, &[(x + 1) % self.n, y, 0]);
            if y + 1 < self.n {
                sink.edge(EventId(1), y, &[x, y + 1, 0]);
            }
            if y + 1 == self.n && x == 0 {
                sink.edge(EventId(2), 0, &[x, y, 1]);
            }
        }
    }

    fn in_scope(&self, _: &mut (), state: &[u64], _: &mut dyn Sink) -> bool {
        state[1] <= self.scope
    }

    fn check(&self, _: &mut (), _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}
}

/// Predicates `x=k`, `y=k`, `halted`; the label of a transition is its only argument.
struct Reading<'a> {
    events: &'a [String],
    states: Vec<Vec<u64>>,
    graph: &'a Frozen<'a>,
}

impl Atoms for Reading<'_> {
    fn event_names(&self) -> &[String] {
        self.events
    }

    fn predicate(&self, predicate: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        let (at, value) = match predicate.text.split_once('=') {
            Some(("x", value)) => (0, value.parse().unwrap()),
            Some(("y", value)) => (1, value.parse().unwrap()),
            _ => (2, 1),
        };
        Ok(Extent::known(Bits::from_fn(self.states.len(), |s| self.states[s][at] == value)))
    }

    fn matching(&self, event: EventId, pattern: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        let label: u64 = pattern.arguments[0].as_ref().unwrap().text.parse().unwrap();
        Ok(Extent::known(Bits::from_fn(self.graph.transitions() as usize, |e| {
            let edge = Edge(e as u64);
            self.graph.event(edge) == event && self.graph.label(edge) == label
        })))
    }

    fn change(&self, _: Change, text: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(text.span, "not here")])
    }

    fn special(&self, _: Special, at: Span) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(at, "not here")])
    }

    fn solutions(&self, _: &str, domain: &Text, _: &[Bound]) -> Result<Vec<Bound>, Faults> {
        Err(vec![Diagnostic::error(domain.span, "not here")])
    }
}

/// The verdicts, with the words of each path's states, which do not depend on numbers.
fn run(workers: usize, system: &Counters, formulas: &[&str]) -> Vec<(&'static str, Vec<Vec<u64>>)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    pool.install(|| check(workers, system, formulas))
}

fn check(workers: usize, system: &Counters, formulas: &[&str]) -> Vec<(&'static str, Vec<Vec<u64>>)> {
    let options = Options {
        workers,
        record_edges: true,
        keep_going: true,
        check_deadlock: false,
        ..Options::default()
    };
    let budget = Budget::unlimited();
    let outcome = explore(system, &options, &budget).unwrap();
    let graph = outcome.graph.expect("edges were recorded");
    let frozen = Frozen::new(&graph);
    let states: Vec<Vec<u64>> =
        (0..frozen.states()).map(|s| graph.state(frozen.node(State(s as u32))).unwrap()).collect();
    let atoms = Reading { events: &system.events, states, graph: &frozen };
    let mut checker = Checker::new(&frozen, &atoms, &budget);
    let place = Place { file: FileId(0), offset: 0 };
    formulas
        .iter()
        .map(|text| {
            let verdict = checker.check(&parse_ltl(text, place).unwrap().formula).unwrap();
            let path = match &verdict {
                Verdict::Violated(example) => example.path.states.clone(),
                _ => Vec::new(),
            };
            (verdict.word(), path.into_iter().map(|s| atoms.states[s.index()].clone()).collect())
        })
        .collect()
}

#[test]
fn verdicts_and_paths_do_not_depend_on_the_number_of_workers() {
    let formulas = [
        ("G F {x=0}", "holds"),
        ("F {y=4}", "violated"),
        ("WF(rise) => F {y=4}", "holds"),
        ("SF(halt) => F {halted}", "violated"),
        ("SF(rise) & SF(halt) => F {halted}", "holds"),
        ("WF(rise) & WF(halt) => F {halted}", "violated"),
        ("WF(turn) & SF(halt) & SF(rise) => F {halted}", "holds"),
        ("G ([halt] => X deadlock)", "holds"),
        ("G ({halted} => Y [halt])", "holds"),
        ("G not [turn(3)]", "violated"),
        ("G ({x=3} => {y=0})", "violated"),
    ];
    let texts: Vec<&str> = formulas.iter().map(|(f, _)| *f).collect();
    let counters = Counters::new(5);
    let one = run(1, &counters, &texts);
    for ((text, expected), (word, path)) in formulas.iter().zip(&one) {
        assert_eq!(word, expected, "{text}: {path:?}");
    }
    for workers in [2, 8] {
        for _ in 0..20 {
            assert_eq!(run(workers, &counters, &texts), one);
        }
    }
}

/// Row 59: no race of threads ever loses a violation. The loop with y=0 is the only counterexample.
#[test]
fn a_violation_is_found_every_time() {
    let formula = parse_ltl("F {y=1}", Place { file: FileId(0), offset: 0 }).unwrap().formula;
    let pools: Vec<rayon::ThreadPool> =
        (2..=16).map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).collect();
    let system = Counters::new(2);
    let mut first: Option<Vec<Vec<u64>>> = None;
    for round in 0..1000 {
        let workers = 2 + round % 15;
        let words: Vec<Vec<u64>> = pools[round % 15].install(|| {
            let budget = Budget::unlimited();
            let stack = 1 << 20;
            let options =
                Options { workers, record_edges: true, check_deadlock: false, stack, ..Options::default() };
            let graph = explore(&system, &options, &budget).unwrap().graph.unwrap();
            let frozen = Frozen::new(&graph);
            let states: Vec<Vec<u64>> =
                (0..frozen.states()).map(|s| graph.state(frozen.node(State(s as u32))).unwrap()).collect();
            let atoms = Reading { events: &system.events, states, graph: &frozen };
            match Checker::new(&frozen, &atoms, &budget).check(&formula).unwrap() {
                Verdict::Violated(example) => {
                    example.path.states.iter().map(|s| atoms.states[s.index()].clone()).collect()
                }
                other => panic!("round {round}: {}", other.word()),
            }
        });
        assert_eq!(*first.get_or_insert_with(|| words.clone()), words, "round {round}");
    }
}

/// Which states were expanded is known one by one: what stands on them is said, the rest is not.
#[test]
fn a_state_that_was_not_expanded_proves_nothing() {
    let cut = Counters { scope: 1, ..Counters::new(4) };
    let formulas = [
        // Every loop that is there passes x=0, but there may be others.
        ("G F {x=0}", "incomplete"),
        // A state that was not expanded is a state all the same.
        ("G not {y=2}", "violated"),
        // The loop with y=0 is there with all that fairness asks about.
        ("F {y=3}", "violated"),
        ("WF(turn) => F {y=3}", "violated"),
        ("WF(rise) => F {y=2}", "incomplete"),
        ("G not deadlock", "incomplete"),
        // In the states that were expanded `rise` is enabled; in the others nobody knows.
        ("G e(rise)", "incomplete"),
        ("G ({y=1} => e(halt))", "violated"),
        ("G {y=0}", "violated"),
    ];
    let texts: Vec<&str> = formulas.iter().map(|(f, _)| *f).collect();
    let one = run(1, &cut, &texts);
    for ((text, expected), (word, path)) in formulas.iter().zip(&one) {
        assert_eq!(word, expected, "{text}: {path:?}");
    }
    assert_eq!(run(3, &cut, &texts), one);
}

#[test]
fn ctl_runs_on_the_same_graph() {
    let system = Counters::new(3);
    let budget = Budget::unlimited();
    let options = Options { record_edges: true, check_deadlock: false, ..Options::default() };
    let graph = explore(&system, &options, &budget).unwrap().graph.unwrap();
    let frozen = Frozen::new(&graph);
    let states = (0..frozen.states()).map(|s| graph.state(frozen.node(State(s as u32))).unwrap()).collect();
    let atoms = Reading { events: &system.events, states, graph: &frozen };
    let mut checker = Checker::new(&frozen, &atoms, &budget);
    let place = Place { file: FileId(0), offset: 0 };
    for (text, word) in [
        ("AG EF deadlock", "holds"),
        ("AF deadlock", "violated"),
        ("EG not {y=1}", "holds"),
        ("AG (EX[halt] true => {y=2})", "holds"),
    ] {
        let formula = parse_ctl(text, place).unwrap().formula;
        assert_eq!(checker.check_ctl(&formula).unwrap().word(), word, "{text}");
    }
}
