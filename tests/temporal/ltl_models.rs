//! Temporal formulas on B machines, with the reference interpreter underneath: slow and obvious.
//!
//! What the driver does with compiled machines is done here with a few lines, so that the logic is
//! tried on real predicates, events and arguments.

use crate::support::corpus;
use bombus::base::budget::Budget;
use bombus::base::diagnostic::{Diagnostic, Sources};
use bombus::base::span::{FileId, Span};
use bombus::driver::on_large_stack;
use bombus::evaluate;
use bombus::evaluate::{Interpreter, search};
use bombus::lang::typed::{Expr, Machine, Pred};
use bombus::lang::value::Value;
use bombus::ltl::atoms::{Atoms, Bound, Extent, Faults, Special, Truth};
use bombus::ltl::formula::{Change, Pattern, Text};
use bombus::ltl::view::{Arc, Edge, Explicit, Graph, State};
use bombus::ltl::{Checker, Engine, Place, parse_ctl, parse_ltl};
use bombus::model::{self, Formula, LoadOptions, Model};
use bombus::system::EventId;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A machine with its state space.
struct World {
    model: Model,
    events: Vec<String>,
    states: Vec<evaluate::State>,
    /// Arguments by label.
    arguments: Vec<Vec<Value>>,
    graph: Explicit,
    budget: Budget,
}

/// Loads and explores; nothing if the machine is out of reach of this test.
fn explored(path: &Path, seconds: u64) -> Option<World> {
    let loaded = model::load(path, &LoadOptions::default());
    let model = loaded.model?;
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(Duration::from_secs(seconds));
    let options = search::SearchOptions {
        check_invariant: false,
        check_deadlock: false,
        check_assertions: false,
        keep_going: true,
        max_states: Some(20_000),
        ..search::SearchOptions::default()
    };
    let found = search::explore(&model.machine, &budget, &options);
    if !found.is_complete() || found.states.is_empty() || model.machine.scope.is_some() {
        return None;
    }
    let numbers: HashMap<&evaluate::State, u32> =
        found.states.iter().enumerate().map(|(i, s)| (s, i as u32)).collect();
    let mut labels: HashMap<(Vec<Value>, Vec<Value>), u64> = HashMap::new();
    let mut arguments = Vec::new();
    let mut arcs = Vec::new();
    let interpreter = Interpreter::new(&model.machine, &budget);
    for (source, state) in found.states.iter().enumerate() {
        for step in interpreter.transitions(state).ok()?.transitions {
            let key = (step.params.to_vec(), step.results.to_vec());
            let label = *labels.entry(key.clone()).or_insert_with(|| {
                arguments.push(key.0);
                arguments.len() as u64 - 1
            });
            arcs.push(Arc {
                source: source as u32,
                event: step.event as u32,
                label,
                target: *numbers.get(&step.target)?,
            });
        }
    }
    let initial: Vec<u32> =
        (0..found.states.len()).filter(|&s| found.origins[s].from.is_none()).map(|s| s as u32).collect();
    let graph = Explicit::new(found.states.len(), &initial, arcs);
    drop(numbers);
    drop(interpreter);
    let events = model.machine.events.iter().map(|e| model.machine.op(*e).name.to_string()).collect();
    budget.time_limit = None;
    Some(World { events, states: found.states, arguments, graph, budget, model })
}

impl World {
    fn predicate_of(&self, text: &Text) -> Result<(Machine, Pred), Faults> {
        let mut machine = self.model.machine.clone();
        match self.model.scope.parse(&mut machine, &mut Sources::default(), "<atom>", &text.text)? {
            Formula::Pred(pred) => Ok((machine, pred)),
            Formula::Expr(_) => Err(vec![Diagnostic::error(text.span, "a predicate is wanted here")]),
        }
    }

    fn expression_of(&self, text: &Text) -> Result<(Machine, Expr), Faults> {
        let mut machine = self.model.machine.clone();
        match self.model.scope.parse(&mut machine, &mut Sources::default(), "<argument>", &text.text)? {
            Formula::Expr(expr) => Ok((machine, expr)),
            Formula::Pred(_) => Err(vec![Diagnostic::error(text.span, "a value is wanted here")]),
        }
    }

    fn holds(&self, machine: &Machine, pred: &Pred) -> Extent {
        let interpreter = Interpreter::new(machine, &self.budget);
        Extent::from_fn(self.states.len(), |s| {
            interpreter.eval_pred(pred, Some(&self.states[s])).map_or(Truth::Unknown, Truth::from)
        })
    }

    /// The value of an expression in every state.
    fn values(&self, text: &Text) -> Result<Vec<Option<Value>>, Faults> {
        let (machine, expr) = self.expression_of(text)?;
        let interpreter = Interpreter::new(&machine, &self.budget);
        Ok(self.states.iter().map(|s| interpreter.eval_expr(&expr, Some(s)).ok()).collect())
    }

    fn per_edge(&self, truth: impl Fn(usize, Edge) -> Truth) -> Extent {
        let mut all = vec![Truth::False; self.graph.transitions() as usize];
        for s in 0..self.graph.states() {
            for e in self.graph.edges(State(s as u32)) {
                all[e as usize] = truth(s, Edge(e));
            }
        }
        Extent::from_fn(all.len(), |e| all[e])
    }

    /// The word of the verdict on a formula; what is wrong with it otherwise.
    fn check(&self, text: &str) -> Result<&'static str, String> {
        let place = Place { file: FileId(0), offset: 0 };
        let first = |faults: Faults| faults[0].message.clone();
        let formula = parse_ltl(text, place).map_err(first)?.formula;
        let mut checker = Checker::new(&self.graph, self, &self.budget);
        let word = checker.check(&formula).map_err(first)?.word();
        let mut oracle = Checker::new(&self.graph, self, &self.budget).with_engine(Engine::Tableau);
        if self.graph.states() < 300 {
            let slow = oracle.check(&formula).map_err(first)?.word();
            assert!([word, "incomplete"].contains(&slow), "{text}: {word}, but the tableau says {slow}");
        }
        Ok(word)
    }

    fn check_ctl(&self, text: &str) -> Result<&'static str, String> {
        let place = Place { file: FileId(0), offset: 0 };
        let first = |faults: Faults| faults[0].message.clone();
        let formula = parse_ctl(text, place).map_err(first)?.formula;
        Ok(Checker::new(&self.graph, self, &self.budget).check_ctl(&formula).map_err(first)?.word())
    }
}

impl Atoms for World {
    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn predicate(&self, predicate: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        let (machine, pred) = self.predicate_of(predicate)?;
        Ok(self.holds(&machine, &pred))
    }

    fn matching(&self, event: EventId, pattern: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        let wanted: Vec<Option<Vec<Option<Value>>>> = pattern
            .arguments
            .iter()
            .map(|a| a.as_ref().map(|a| self.values(a)).transpose())
            .collect::<Result<_, _>>()?;
        Ok(self.per_edge(|s, e| {
            if self.graph.event(e) != event {
                return Truth::False;
            }
            let given = &self.arguments[self.graph.label(e) as usize];
            let mut truth = Truth::True;
            for (i, column) in wanted.iter().enumerate() {
                match column.as_ref().map(|values| &values[s]) {
                    None => {}
                    Some(None) => truth = Truth::Unknown,
                    Some(Some(value)) if given.get(i) == Some(value) => {}
                    Some(Some(_)) => return Truth::False,
                }
            }
            truth
        }))
    }

    fn change(&self, change: Change, text: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        let values = self.values(text)?;
        Ok(self.per_edge(|s, e| match (&values[s], &values[self.graph.target(e).index()]) {
            (Some(before), Some(after)) => match change {
                Change::Unchanged => (before == after).into(),
                Change::Changed => (before != after).into(),
                Change::Increasing => (before < after).into(),
                Change::Decreasing => (before > after).into(),
                Change::BeforeAfter => Truth::Unknown,
            },
            _ => Truth::Unknown,
        }))
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        match (which, &self.model.machine.goal) {
            (Special::Goal, Some(goal)) => Ok(self.holds(&self.model.machine, goal)),
            _ => Err(vec![Diagnostic::error(at, "the machine has no such thing")]),
        }
    }

    fn solutions(&self, _: &str, domain: &Text, _: &[Bound]) -> Result<Vec<Bound>, Faults> {
        Err(vec![Diagnostic::error(domain.span, "quantifiers are not tried here")])
    }
}

fn machine(text: &str) -> World {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("M.mch");
    std::fs::write(&path, text).unwrap();
    on_large_stack(|| explored(&path, 60)).unwrap().expect("a small machine")
}

fn expect(text: &str, formulas: &[(&str, &str)]) {
    let world = machine(text);
    for (formula, word) in formulas {
        assert_eq!(world.check(formula), Ok(*word), "{formula}");
    }
}

#[test]
fn a_machine_that_deadlocks_violates_liveness_by_its_finite_path() {
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS inc = SELECT x < 3 THEN x := x + 1 END END",
        &[
            ("F {x=9}", "violated"),
            ("F {x=3}", "holds"),
            ("F deadlock", "holds"),
            ("G ({x=3} => not X true)", "holds"),
            ("Y true", "violated"),
            ("G {x : 0..3}", "holds"),
            ("G increasing({x})", "violated"),
            ("G ([inc] => increasing({x}))", "holds"),
        ],
    );
}

#[test]
fn fairness_of_an_operation_counts_its_steps_not_its_changes() {
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS a = SELECT x < 3 THEN x :: {x, x + 1} END; b = SELECT x = 3 THEN skip END END",
        &[("WF(a) => F {x=3}", "violated"), ("GF changed({x}) => F {x=3}", "holds")],
    );
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0
         OPERATIONS a = x := (x + 1) mod 3; b = x :: 0..2 END",
        &[("WF(a) => GF [a]", "holds"), ("GF [a]", "violated"), ("WF(a) => GF {x=1}", "violated")],
    );
}

#[test]
fn a_prefix_excluded_by_fairness_is_no_counterexample() {
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 1..5 INITIALISATION x := 1
         OPERATIONS next = SELECT x < 5 THEN x := x + 1 END; stay = skip END",
        &[("WF(next) => ({x=1} => F G {x=5})", "holds"), ("{x=1} => F G {x=5}", "violated")],
    );
}

#[test]
fn arguments_are_evaluated_in_the_source_state() {
    expect(
        "MACHINE M SETS P = {p, q} VARIABLES x, seen INVARIANT x : 0..2 & seen : P INITIALISATION x := 0 || seen := p
         OPERATIONS set(v) = PRE v : 0..2 THEN x := v END; visit(w) = SELECT w : P & w /= seen THEN seen := w END END",
        &[
            ("G ([set(x)] => unchanged({x}))", "holds"),
            ("G ([set(x+1)] => X {x > 0})", "holds"),
            ("G not e(visit(seen))", "holds"),
            ("G (e(visit(p)) => {seen = q})", "holds"),
            ("G ([visit(p)] => X {seen = p})", "holds"),
            ("G ([visit(q)] => X {seen = p})", "violated"),
            ("G controller(visit(p), visit(q))", "holds"),
            ("G deterministic(set(0), set(1))", "violated"),
            ("WEF => GF [visit(p)]", "holds"),
            ("SF(set) => GF [set(1)]", "violated"),
        ],
    );
}

/// The models of seed paper 004 that are public, with the truths confirmed for them.
#[test]
#[ignore = "needs real models: BOMBUS_CORPUS names their directory"]
fn seed_formulas_on_public_models_have_their_confirmed_truth() {
    let corpus = corpus();
    let fair = "GF[Eject] & (GF{CardF2=bl} => GF[Csends]) & (GF{ReaderF2=bl} => GF[Rsends])";
    let protocol = "G({CardF2=bl} => F{CardF2=lb})";
    for (file, formulas) in [
        (
            "B/Daniel/JAG_Robot.mch",
            vec![
                ("G(({Dt=TRUE} & X{Dt=FALSE}) => {De=FALSE})".to_string(), "holds"),
                ("G([Unload] => {De=FALSE})".into(), "holds"),
            ],
        ),
        (
            "B/LTL/teg1ref.ref",
            vec![
                (protocol.to_string(), "violated"),
                (format!("{fair} => {protocol}"), "holds"),
                (format!("GF[Eject] => {protocol}"), "holds"),
                (format!("SF(Eject) & SF(Csends) & SF(Rsends) => {protocol}"), "holds"),
            ],
        ),
        (
            "B/Benchmarks/Cruise_finite1.mch",
            vec![
                ("G(e(SetCruiseSpeed) => e(CruiseBecomesNotAllowed))".to_string(), "holds"),
                ("G(e(CruiseBecomesAllowed) => X e(SetCruiseSpeed))".into(), "violated"),
                ("G([CruiseBecomesAllowed] => X e(SetCruiseSpeed))".into(), "holds"),
                ("G(e(CruiseOff) => Y O [SetCruiseSpeed])".into(), "holds"),
            ],
        ),
    ] {
        let path = corpus.join(file);
        let world = on_large_stack(|| explored(&path, 120)).unwrap();
        let Some(world) = world else {
            println!("{file}: not explored");
            continue;
        };
        for (formula, word) in formulas {
            assert_eq!(world.check(&formula), Ok(word), "{file}: {formula}");
        }
        println!("{file}: as confirmed");
    }
}

/// Decides the formulas of every machine of the corpus that has some and is small.
#[test]
#[ignore = "needs real models: BOMBUS_CORPUS names their directory"]
fn assertions_of_the_corpus_are_decided() {
    let corpus = corpus();
    let mut open = vec![corpus];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(dir) = open.pop() {
        for path in std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|e| e.path()) {
            let text = || String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|x| x == "mch" || x == "ref")
                && ["ASSERT_LTL", "ASSERT_CTL"].iter().any(|a| text().contains(a))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut words: HashMap<String, usize> = HashMap::new();
    for path in files {
        let world = match on_large_stack(|| explored(&path, 10)) {
            Ok(Some(world)) => world,
            other => {
                println!("{}: not explored {}", path.display(), other.err().unwrap_or_default());
                *words.entry("machine not explored".into()).or_default() += 1;
                continue;
            }
        };
        let machine = &world.model.machine;
        println!(
            "{}: {} states, {} transitions",
            path.display(),
            world.states.len(),
            world.graph.transitions()
        );
        for (assertion, ctl) in
            machine.ltl.iter().map(|a| (a, false)).chain(machine.ctl.iter().map(|a| (a, true)))
        {
            let verdict =
                if ctl { world.check_ctl(&assertion.formula) } else { world.check(&assertion.formula) };
            let word = verdict.clone().unwrap_or("refused");
            *words.entry(word.into()).or_default() += 1;
            println!("  {}: {} {:?}", assertion.name, assertion.formula, verdict);
            let name = assertion.name.to_uppercase();
            if name.ends_with("FALSE") || name.ends_with("FAIL") {
                assert_eq!(word, "violated", "{}", assertion.name);
            } else if name.ends_with("TRUE") {
                assert_eq!(word, "holds", "{}", assertion.name);
            }
        }
    }
    println!("{words:?}");
}
