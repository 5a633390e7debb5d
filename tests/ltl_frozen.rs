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
use bombus::system::{EventId, Finding, Sink, System};

/// Two counters below `n`: `x` goes round for ever, `y` rises to its top; `halt` ends everything.
struct Counters {
    n: u64,
    events: Vec<String>,
}

impl Counters {
    fn new(n: u64) -> Self {
        Counters { n, events: ["turn", "rise", "halt"].map(String::from).to_vec() }
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

    fn check(&self, _: &mut (), _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}

    fn property(&self, _: &Finding) -> String {
        String::new()
    }

    fn reason(&self, _: u32) -> String {
        String::new()
    }

    fn describe(&self, _: &[u64]) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Ten wheels of `n` positions, each turned by an event of its own: n^10 states, ten times as many
/// transitions.
struct Wheels {
    n: u64,
    events: Vec<String>,
}

impl System for Wheels {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0]);
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        let mut unit = 1;
        for event in 0..10 {
            let position = state[0] / unit % self.n;
            let turned = if position + 1 == self.n { state[0] - position * unit } else { state[0] + unit };
            sink.edge(EventId(event), 0, &[turned]);
            unit *= self.n;
        }
    }

    fn check(&self, _: &mut (), _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}

    fn property(&self, _: &Finding) -> String {
        String::new()
    }

    fn reason(&self, _: u32) -> String {
        String::new()
    }

    fn describe(&self, _: &[u64]) -> Vec<(String, String)> {
        Vec::new()
    }
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

/// The words of a path's states, which do not depend on numbers.
fn run(workers: usize, n: u64, whole: bool, formulas: &[&str]) -> Vec<(&'static str, Vec<Vec<u64>>)> {
    let system = Counters::new(n);
    let options = Options {
        workers,
        record_edges: true,
        keep_going: true,
        check_deadlock: false,
        ..Options::default()
    };
    let budget = Budget::unlimited();
    let outcome = explore(&system, &options, &budget).unwrap();
    let graph = outcome.graph.expect("edges were recorded");
    let frozen =
        if whole { Frozen::complete(&graph) } else { Frozen::partial(&graph, Bits::new(graph.nodes())) };
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
    let one = run(1, 5, true, &texts);
    for ((text, expected), (word, path)) in formulas.iter().zip(&one) {
        assert_eq!(word, expected, "{text}: {path:?}");
    }
    for workers in [2, 8] {
        for _ in 0..20 {
            assert_eq!(run(workers, 5, true, &texts), one);
        }
    }
}

#[test]
fn a_run_that_was_cut_short_proves_nothing() {
    let words: Vec<&str> = run(2, 4, false, &["G F {x=0}", "G not {y=3}", "F {y=3}", "G not deadlock"])
        .into_iter()
        .map(|(word, _)| word)
        .collect();
    assert_eq!(words, ["incomplete", "violated", "violated", "incomplete"]);
}

#[test]
fn ctl_runs_on_the_same_graph() {
    let system = Counters::new(3);
    let budget = Budget::unlimited();
    let options = Options { record_edges: true, check_deadlock: false, ..Options::default() };
    let graph = explore(&system, &options, &budget).unwrap().graph.unwrap();
    let frozen = Frozen::complete(&graph);
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

/// Seconds of processor time that this process used, in hundredths.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

#[test]
#[ignore = "measures; run it in release"]
fn edges_per_second_of_processor_time() {
    let system = Wheels { n: 4, events: (0..10).map(|e| format!("turn{e}")).collect() };
    let budget = Budget::unlimited();
    let options = Options { record_edges: true, check_deadlock: false, slots: 1 << 22, ..Options::default() };
    let graph = explore(&system, &options, &budget).unwrap().graph.unwrap();
    let frozen = Frozen::complete(&graph);
    let states = (0..frozen.states()).map(|s| graph.state(frozen.node(State(s as u32))).unwrap()).collect();
    let atoms = Reading { events: &system.events, states, graph: &frozen };
    let place = Place { file: FileId(0), offset: 0 };
    println!("{} states, {} transitions", frozen.states(), frozen.transitions());
    for text in [
        "G not {x=1048577}",
        "G ([turn1] => X e(turn2))",
        "G (Y [turn1] => X e(turn2))",
        "G ({x=1} => F {x=0} or true)",
        "GF {x=0} or F {x=1048577} or FG {x=0} or X X X true",
        "GF {x=0}",
        "SF(turn1) & SF(turn2) => GF [turn1]",
        "WEF => GF [turn1]",
    ] {
        let formula = parse_ltl(text, place).unwrap().formula;
        let mut checker = Checker::new(&frozen, &atoms, &budget);
        let before = cpu_seconds();
        let word = checker.check(&formula).unwrap().word();
        let seconds = cpu_seconds() - before;
        let speed = frozen.transitions() as f64 / seconds / 1e6;
        println!("{text}: {word}, {seconds:.2} s, {speed:.0} million transitions of the graph a second");
    }
}
