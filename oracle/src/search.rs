//! What is wrong in a state, and the breadth-first search for all states.
//!
//! In: a machine and limits. Out: counts, the first finding of each kind with a shortest trace, and every reason why
//! the answer is incomplete. The order of everything is fixed.

use crate::eval::{Env, Oracle, Res, Slot, Stop, Undefined};
use crate::exec::{Finding, Kind, Run, Transition, Writes};
use crate::pred::conjuncts;
use crate::text::{Core, mentions};
use crate::tree::{Clause, Expr, Machine, Name, Pred, RelOp, Type, Var};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The values of the constants, in the order of their declarations.
pub type Valuation = Vec<Slot>;
/// The values of the variables, in the order of their declarations.
pub type State = Vec<Value>;

/// The limits of a search.
#[derive(Clone, Debug)]
pub struct Options {
    pub max_states: usize,
    /// Steps of evaluation per state.
    pub budget: u64,
    /// Whether an undefined guard is a finding.
    pub strict_guards: bool,
    /// Kinds of findings that nobody asks for.
    pub ignore: Vec<Kind>,
    /// Whether the search goes on after a finding.
    pub keep_going: bool,
}

impl Default for Options {
    fn default() -> Options {
        let (max_states, budget) = (1_000_000, 50_000_000);
        Options { max_states, budget, strict_guards: false, ignore: Vec::new(), keep_going: true }
    }
}

/// One step of a trace; the first one is the initialisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub event: Name,
    pub params: Vec<Value>,
    pub results: Vec<Option<Value>>,
    pub state: State,
}

/// A path from the constants to a state. Constants that cannot be listed are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pub constants: Writes,
    pub steps: Vec<Step>,
}

/// The outcome of a search.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub states: usize,
    pub transitions: u64,
    pub constants: usize,
    pub initial: usize,
    /// Steps of a shortest path to the farthest state.
    pub depth: usize,
    /// For each event in how many states some binding made its guard undefined.
    pub undefined_guards: BTreeMap<Name, u64>,
    /// For each event in how many states it is enabled, and how many transitions it makes.
    pub events: BTreeMap<Name, (u64, u64)>,
    /// In how many looks a kind was found: one look at the start, and two at each state, at its predicates and at its
    /// events.
    pub found: BTreeMap<Kind, u64>,
    /// The first finding of each kind.
    pub first: Vec<(Finding, Trace)>,
    pub incomplete: BTreeSet<String>,
}

/// What was seen at the start or in one state.
#[derive(Default)]
pub struct Look {
    pub findings: Vec<Finding>,
    pub transitions: Vec<(Name, Transition)>,
    /// The events whose guard is undefined for some binding.
    pub undefined_guards: BTreeSet<Name>,
    /// SCOPE is false, so that no transitions were looked at.
    pub out_of_scope: bool,
    /// What the oracle could not answer.
    pub incomplete: BTreeSet<String>,
}

impl Look {
    fn find(&mut self, kind: Kind, why: impl Into<String>, place: &str) {
        self.findings.push(Finding { kind, why: why.into(), place: place.into(), event: None });
    }

    fn undefined(&mut self, u: Undefined, place: &str) {
        self.find(Kind::WellDefinedness, u.why, if u.place.is_empty() { place } else { &u.place });
    }

    /// A part without an answer makes the whole incomplete.
    pub(crate) fn answer<T>(&mut self, r: Res<T>) -> Option<T> {
        match r {
            Ok(v) => return Some(v),
            Err(Stop::Undefined(u)) => self.incomplete.insert(format!("undefined: {} {}", u.why, u.place)),
            Err(Stop::TooBig(why)) => self.incomplete.insert(why),
            Err(other) => self.incomplete.insert(format!("{other:?}")),
        };
        None
    }

    /// Which of some clauses are false or undefined.
    pub fn clauses(&mut self, oracle: &Oracle, env: &Env, kind: Kind, clauses: &[Clause]) {
        for c in clauses {
            match oracle.holds(env, &c.pred) {
                Ok(true) => {}
                Ok(false) => self.find(kind, format!("the {} is false", kind.word()), &c.label),
                Err(Stop::Undefined(u)) => self.undefined(*u, &c.label),
                Err(stop) => _ = self.answer::<()>(Err(stop)),
            }
        }
    }

    /// Invariant, assertions and goal.
    pub fn predicates(&mut self, oracle: &Oracle, env: &Env) {
        self.clauses(oracle, env, Kind::Invariant, &oracle.machine.invariant);
        self.clauses(oracle, env, Kind::Assertion, &oracle.machine.assertions);
        let goal = oracle.machine.goal.as_ref().map(|g| oracle.holds(env, g));
        if goal.and_then(|g| self.answer(g)) == Some(true) {
            self.find(Kind::Goal, "the goal is reached", "");
        }
    }

    /// All transitions, or those of one event; a deadlock if all events are looked at and none is enabled.
    pub fn events(&mut self, oracle: &Oracle, env: &Env, only: Option<&str>, strict: bool) {
        let scope = self.answer(oracle.machine.scope.as_ref().map_or(Ok(true), |s| oracle.holds(env, s)));
        self.out_of_scope = scope == Some(false);
        if self.out_of_scope {
            return;
        }
        let mut quiet = scope.is_some();
        for op in oracle.machine.operations.iter().filter(|o| o.event && only.is_none_or(|n| n == &*o.name)) {
            let mut run = Run::new(oracle, None);
            let transitions = run.operation(env, op, None);
            quiet &= run.findings.is_empty() && transitions.as_ref().is_ok_and(Vec::is_empty);
            let transitions = self.answer(transitions).unwrap_or_default();
            self.transitions.extend(transitions.into_iter().map(|t| (op.name.clone(), t)));
            self.findings.extend(run.findings);
            if !run.undefined_guards.is_empty() {
                self.undefined_guards.insert(op.name.clone());
                quiet &= !strict;
            }
            if strict {
                run.undefined_guards.into_iter().for_each(|u| self.undefined(u, &op.name));
            }
        }
        if only.is_none() && quiet {
            self.find(Kind::Deadlock, "no operation is enabled", "");
        }
    }

    /// The valuations of the constants that agree with the given values, each with its initial states.
    pub fn start(&mut self, oracle: &Oracle, given: &Writes) -> Vec<(Valuation, Vec<State>)> {
        let (valuations, undefined) = self.answer(oracle.valuations(given)).unwrap_or_default();
        if valuations.is_empty() && undefined.is_empty() && self.incomplete.is_empty() {
            self.find(Kind::Properties, "no values of the constants satisfy the properties", "");
        }
        undefined.into_iter().for_each(|u| self.undefined(u, "properties"));
        let mut out = Vec::new();
        for valuation in valuations {
            oracle.restart();
            let mut run = Run::new(oracle, None);
            let outcomes = run.initialise(&oracle.environment(&valuation, None));
            let said = self.findings.len() + self.incomplete.len();
            self.findings.extend(run.findings);
            let outcomes = self.answer(outcomes).unwrap_or_default();
            let states: Vec<State> = outcomes.iter().filter_map(|w| oracle.state_after(None, w)).collect();
            if states.len() < outcomes.len() {
                self.find(Kind::WellDefinedness, "the initialisation leaves a variable without a value", "");
            } else if states.is_empty() && said == self.findings.len() + self.incomplete.len() {
                self.find(Kind::Properties, "the initialisation has no outcome", "");
            }
            out.push((valuation, states));
        }
        out
    }
}

impl Oracle<'_> {
    /// All values of the constants that agree with the given ones and satisfy the properties, and for which values the
    /// properties are undefined. A function that is searched for is chosen among those with a value wherever the
    /// properties apply it; that there is none is a fault.
    pub fn valuations(&self, given: &Writes) -> Res<(Vec<Valuation>, Vec<Undefined>)> {
        let mut env = Env::default();
        given.iter().for_each(|(n, v)| env.bind(n, v.clone()));
        let all = &self.machine.constants;
        let open: Vec<Var> = all.iter().filter(|c| !given.contains_key(&c.0)).cloned().collect();
        let labelled = |c: &Clause| Pred::At(c.label.clone(), Box::new(c.pred.clone()));
        let properties = Pred::And(self.machine.properties.iter().map(labelled).collect());
        let mut parts = Vec::new();
        conjuncts(&properties, "", &mut parts);
        let searched = searched_for(&open, &parts);
        // A function without a value where some property applies it is not looked for, whatever else is undefined.
        let name = |s| if let Stop::Undefined(u) = s { u.applied } else { None };
        let by_choice = |s| name(s).is_some_and(|f| searched.contains(&&f));
        let (mut out, mut undefined, mut passed_over) = (Vec::new(), Vec::new(), None);
        let visited = self.bindings(&env, &open, &properties, &mut |env, truth| {
            let mut stops = parts.iter().filter_map(|(_, p)| self.holds(env, p).err());
            match truth {
                Ok(()) => out.push(all.iter().filter_map(|c| env.get(&c.0).cloned()).collect()),
                Err(u) if stops.any(by_choice) => passed_over = Some(*u),
                Err(u) => undefined.push(*u),
            }
            Ok(())
        });
        visited.map_err(|s| crate::pred::unlisted(s, "CONSTANTS", &open))?;
        undefined.extend(passed_over.filter(|_| out.is_empty()));
        Ok((out, undefined))
    }

    /// The environment of a state; without a state the variables have no value.
    pub fn environment(&self, valuation: &[Slot], state: Option<&[Value]>) -> Env {
        let constants = self.machine.constants.iter().zip(valuation).map(|(c, s)| (c.0.clone(), s.clone()));
        let value = |i: usize| state.map_or(Slot::Unassigned, |s| Slot::Value(s[i].clone()));
        let variables = self.machine.variables.iter().enumerate().map(|(i, v)| (v.0.clone(), value(i)));
        Env { machine: constants.chain(variables).collect::<Vec<_>>().into(), ..Env::default() }
    }

    /// The state after some writes; `None` if a variable has no value yet.
    pub fn state_after(&self, old: Option<&[Value]>, writes: &Writes) -> Option<State> {
        let new = self.machine.variables.iter().enumerate();
        new.map(|(i, (n, _))| writes.get(n).cloned().or_else(|| Some(old?[i].clone()))).collect()
    }
}

/// The relations among some constants that no equation gives a value, except by others of these relations.
fn searched_for<'a>(open: &'a [Var], parts: &[(&str, &Pred)]) -> Vec<&'a Name> {
    let relation = |t: &Type| matches!(t, Type::Pow(pair) if matches!(**pair, Type::Prod(..)));
    let mut searched: Vec<&Name> = open.iter().filter(|c| relation(&c.1)).map(|c| &c.0).collect();
    let gives = |p: &Pred, c: &Name, searched: &[&Name]| match p {
        Pred::Rel(RelOp::Equal, Expr::Var(n), e) | Pred::Rel(RelOp::Equal, e, Expr::Var(n)) if n == c => {
            !mentions(&e.write(), searched.iter().map(|s| &***s))
        }
        _ => false,
    };
    while let Some(at) = searched.iter().position(|c| parts.iter().any(|(_, p)| gives(p, c, &searched))) {
        searched.remove(at);
    }
    searched
}

struct Node {
    valuation: usize,
    parent: Option<usize>,
    step: Step,
}

struct Search<'a> {
    oracle: Oracle<'a>,
    options: &'a Options,
    valuations: Vec<Valuation>,
    nodes: Vec<Node>,
    known: BTreeMap<(usize, State), usize>,
    out_of_scope: u64,
    report: Report,
}

/// Explores all states of a machine as long as `go_on` says so; it is asked before each state.
pub fn explore(machine: &Machine, options: &Options, go_on: &mut dyn FnMut() -> bool) -> Report {
    let oracle = Oracle::new(machine, options.budget);
    let (valuations, nodes, known, report) = Default::default();
    let mut s = Search { oracle, options, valuations, nodes, known, out_of_scope: 0, report };
    s.begin();
    let mut at = 0;
    while at < s.nodes.len() && (options.keep_going || s.report.first.is_empty()) {
        if !go_on() {
            s.report.incomplete.insert("the search was stopped".into());
            break;
        }
        s.expand(at);
        at += 1;
    }
    if s.out_of_scope > 0 {
        s.report.incomplete.insert(format!("SCOPE left {} states without their successors", s.out_of_scope));
    }
    // The state that was found last is the farthest.
    s.report.depth = s.trace(s.nodes.len().checked_sub(1)).steps.len().saturating_sub(1);
    s.report.states = s.nodes.len();
    s.report
}

impl Search<'_> {
    fn begin(&mut self) {
        let mut look = Look::default();
        for (at, (valuation, states)) in look.start(&self.oracle, &Writes::new()).into_iter().enumerate() {
            self.valuations.push(valuation);
            for state in states {
                let event = Name::from("INITIALISATION");
                self.add(at, None, Step { event, params: Vec::new(), results: Vec::new(), state });
            }
        }
        self.report.constants = self.valuations.len();
        self.report.initial = self.nodes.len();
        self.note(look, None);
    }

    fn add(&mut self, valuation: usize, parent: Option<usize>, step: Step) {
        let key = (valuation, step.state.clone());
        if self.known.contains_key(&key) {
            return;
        }
        if self.nodes.len() >= self.options.max_states {
            self.report.incomplete.insert(format!("more than {} states", self.options.max_states));
            return;
        }
        self.known.insert(key, self.nodes.len());
        self.nodes.push(Node { valuation, parent, step });
    }

    fn expand(&mut self, at: usize) {
        self.oracle.restart();
        let (valuation, state) = (self.nodes[at].valuation, self.nodes[at].step.state.clone());
        let env = self.oracle.environment(&self.valuations[valuation], Some(&state));
        let mut look = Look::default();
        look.predicates(&self.oracle, &env);
        self.note(look, Some(at));
        let mut look = Look::default();
        look.events(&self.oracle, &env, None, self.options.strict_guards);
        let mut distinct = BTreeSet::new();
        for (event, t) in std::mem::take(&mut look.transitions) {
            let target = self.oracle.state_after(Some(&state), &t.writes).expect("all have values");
            distinct.insert((event, t.params, t.results, target));
        }
        let enabled: BTreeSet<Name> = distinct.iter().map(|t| t.0.clone()).collect();
        enabled.into_iter().for_each(|e| self.report.events.entry(e).or_default().0 += 1);
        for (event, params, results, state) in distinct {
            self.report.transitions += 1;
            self.report.events.entry(event.clone()).or_default().1 += 1;
            self.add(valuation, Some(at), Step { event, params, results, state });
        }
        self.note(look, Some(at));
    }

    fn note(&mut self, look: Look, at: Option<usize>) {
        let undefined = &mut self.report.undefined_guards;
        look.undefined_guards.into_iter().for_each(|event| *undefined.entry(event).or_default() += 1);
        self.out_of_scope += u64::from(look.out_of_scope);
        self.report.incomplete.extend(look.incomplete);
        let mut kinds = BTreeSet::new();
        for f in look.findings.into_iter().filter(|f| !self.options.ignore.contains(&f.kind)) {
            if kinds.insert(f.kind) {
                let count = self.report.found.entry(f.kind).or_default();
                *count += 1;
                if *count == 1 {
                    let trace = self.trace(at);
                    self.report.first.push((f, trace));
                }
            }
        }
    }

    fn trace(&self, at: Option<usize>) -> Trace {
        let path = std::iter::successors(at, |n| self.nodes[*n].parent);
        let mut steps: Vec<Step> = path.map(|n| self.nodes[n].step.clone()).collect();
        steps.reverse();
        let valuation = at.map(|n| &self.valuations[self.nodes[n].valuation]);
        let named = self.oracle.machine.constants.iter().zip(valuation.into_iter().flatten());
        Trace { constants: named.filter_map(|((n, _), s)| Some((n.clone(), s.value()?))).collect(), steps }
    }
}
