//! Where the atoms of temporal formulas hold on the graph of an exploration.
//!
//! In: the graph, the compiled model that knows its states, typed pieces of B. Out: one set of states or
//! transitions for each atom. Never here: temporal operators.
//!
//! Predicates over a state run as code; the reference interpreter evaluates the rest. What cannot be
//! evaluated is unknown, never false. States are dealt out to all threads; the sets do not depend on them.

use super::typing::{Part, Pieces as Typed};
use crate::base::budget::Budget;
use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;
use crate::evaluate::{Constants, Interpreter, Pieces, State, Transition};
use crate::graph::{Graph, NodeId};
use crate::lang::typed::{Expr, Machine, Pred, Type, VarId};
use crate::lang::value::Value;
use crate::ltl::atoms::{Atoms, Bound, Extent, Faults, Special, Truth};
use crate::ltl::bits::Bits;
use crate::ltl::formula::{Change, Pattern, Text};
use crate::program::uses::Uses;
use crate::program::{Program, Worker};
use crate::system::{EventId, Finding, FindingKind, Sink, System};
use rayon::prelude::*;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The clock is read once per this many states; one thread takes at least so many.
const STATES_PER_LOOK: usize = 256;

pub struct Truths<'a, 'm> {
    world: World<'a, 'm>,
    typed: &'a Typed,
    /// Where each observed predicate holds; all of them are evaluated in one pass.
    observed: OnceCell<Vec<Extent>>,
    /// Values of quantified variables; `Bound::value` is a place here.
    values: RefCell<Vec<Value>>,
}

/// What all threads share.
struct World<'a, 'm> {
    program: &'a Program<'m>,
    graph: &'a Graph,
    budget: &'a Budget,
    /// The budget is used up: what was not evaluated is unknown.
    stopped: AtomicBool,
}

/// An environment that goes from state to state; each thread has one.
struct Seat<'m> {
    interpreter: Interpreter<'m>,
    pieces: Pieces,
    constants: Constants,
}

/// A pattern with arguments.
struct Asked<'a> {
    event: EventId,
    /// For each argument that is no `_`, that the parameter equals it.
    wanted: &'a [Option<Pred>],
    /// The arguments are the same in every state.
    is_fixed: bool,
}

/// What a thread knows about the transitions of an event by their labels, which stand for arguments and
/// results throughout: a transition is told from another by nothing else.
#[derive(Default)]
struct Known {
    /// Arguments; none if several choices were met under one label.
    arguments: HashMap<u64, Option<Arc<[Value]>>>,
    /// Truths that are the same in every state.
    truths: HashMap<u64, Truth>,
}

impl Known {
    fn learn<'t>(&mut self, steps: impl Iterator<Item = (u64, &'t Arc<[Value]>)>) {
        for (label, params) in steps {
            let entry = self.arguments.entry(label).or_insert_with(|| Some(params.clone()));
            if entry.as_ref().is_some_and(|known| known != params) {
                *entry = None;
            }
        }
    }
}

impl<'m> World<'_, 'm> {
    fn state(&self, node: usize) -> State {
        let words = self.graph.state(NodeId(node as u32)).expect("an exact store keeps states");
        self.program.values(&words)
    }

    fn row(&self, node: usize) -> std::ops::Range<usize> {
        self.graph.forward.row(NodeId(node as u32))
    }

    /// Whether the state of a node is here: what is only the end of an edge has no truths.
    fn is_told(&self, node: usize) -> bool {
        self.graph.is_told(NodeId(node as u32))
    }

    fn target(&self, edge: usize) -> usize {
        self.graph.forward.end(edge).0 as usize
    }

    fn seat(&self, bound: &[(VarId, Value)]) -> Seat<'m> {
        let constants: Constants = Arc::from([]);
        let interpreter = Interpreter::new(self.program.machine(), self.budget);
        let mut pieces = Pieces::new(&interpreter, &constants);
        for (v, value) in bound {
            pieces.bind(*v, false, value.clone());
        }
        Seat { interpreter, pieces, constants }
    }

    /// Puts a state into the environment: its values now, or also those of before.
    fn load(&self, seat: &mut Seat<'m>, state: &State, before: Option<&State>) {
        let machine = self.program.machine();
        if !Arc::ptr_eq(&seat.constants, &state.constants) {
            for (v, x) in machine.constants.iter().zip(state.constants.iter()) {
                seat.pieces.bind(*v, false, x.clone());
            }
            seat.constants = state.constants.clone();
        }
        let old = before.unwrap_or(state);
        for ((v, x), y) in machine.variables.iter().zip(state.variables.iter()).zip(old.variables.iter()) {
            seat.pieces.bind(*v, false, x.clone());
            seat.pieces.bind(*v, true, y.clone());
        }
    }

    /// Whether there is time for this state.
    fn goes_on(&self, node: usize) -> bool {
        if node.is_multiple_of(STATES_PER_LOOK) && self.budget.check().is_err() {
            self.stopped.store(true, Relaxed);
        }
        !self.stopped.load(Relaxed)
    }

    /// A truth for each state, on all threads.
    fn per_state<T>(
        &self,
        init: impl Fn() -> T + Sync + Send,
        truth: impl Fn(&mut T, usize) -> Truth + Sync + Send,
    ) -> Extent {
        Extent::by_word(self.graph.nodes(), init, |own, s| {
            if self.goes_on(s) && self.is_told(s) { truth(own, s) } else { Truth::Unknown }
        })
    }

    /// A truth for each transition, computed for those of one state together, on all threads.
    fn per_edge<T>(
        &self,
        init: impl Fn() -> T + Sync + Send,
        truths: impl Fn(&mut T, usize, &mut [Truth]) + Sync + Send,
    ) -> Extent {
        let mut all = vec![Truth::Unknown; self.graph.forward.edges()];
        let mut rows = Vec::new();
        let mut rest = &mut all[..];
        for first in (0..self.graph.nodes()).step_by(STATES_PER_LOOK) {
            let last = (first + STATES_PER_LOOK).min(self.graph.nodes());
            let edges = self.row(last - 1).end - self.row(first).start;
            let (own, others) = rest.split_at_mut(edges);
            rows.push((first..last, own));
            rest = others;
        }
        rows.into_par_iter().for_each_init(init, |own, (states, mut rest)| {
            for s in states {
                let (row, others) = std::mem::take(&mut rest).split_at_mut(self.row(s).len());
                rest = others;
                if self.goes_on(s) && !row.is_empty() {
                    truths(own, s, row);
                }
            }
        });
        Extent::par(all.len(), |e| all[e])
    }

    /// Where the observed predicates hold, all in one pass over the states.
    fn observed(&self, count: usize) -> Vec<Extent> {
        let len = self.graph.nodes();
        // For 64 states, and each predicate, the states in which it holds and is unknown.
        let word = |(worker, words): &mut (Worker<'m>, Vec<u64>), at: usize| {
            let mut found = vec![(0u64, 0u64); count];
            for s in at * 64..(at * 64 + 64).min(len) {
                let bit = 1u64 << (s % 64);
                if !self.goes_on(s) || !self.is_told(s) {
                    found.iter_mut().for_each(|f| f.1 |= bit);
                    continue;
                }
                assert!(self.graph.read_state(NodeId(s as u32), words), "an exact store keeps states");
                self.program.observe(worker, words, 0..count, |i, truth| match truth {
                    Ok(true) => found[i].0 |= bit,
                    Ok(false) => {}
                    Err(_) => found[i].1 |= bit,
                });
            }
            found
        };
        let init = || (self.program.worker(), vec![0; self.program.words()]);
        let words: Vec<Vec<(u64, u64)>> = (0..len.div_ceil(64))
            .into_par_iter()
            .with_min_len(STATES_PER_LOOK / 64)
            .map_init(init, word)
            .collect();
        (0..count)
            .map(|i| {
                let column = |part: fn(&(u64, u64)) -> u64| {
                    Bits::from_words(words.iter().map(|found| part(&found[i])).collect(), len)
                };
                let unknown = column(|f| f.1);
                Extent { holds: column(|f| f.0), unknown: (!unknown.is_empty()).then_some(unknown) }
            })
            .collect()
    }

    /// Whether arguments are as wanted in the state that is loaded.
    fn fits(&self, seat: &mut Seat<'m>, asked: &Asked<'_>, params: &[Value]) -> Truth {
        let machine = self.program.machine();
        let vars = &machine.op(machine.events[asked.event.0 as usize]).params;
        let mut truth = Truth::True;
        for ((pred, v), x) in asked.wanted.iter().zip(vars).zip(params) {
            let Some(pred) = pred else { continue };
            seat.pieces.bind(*v, false, x.clone());
            let one = seat.holds(pred);
            seat.pieces.unbind(*v, false);
            match one {
                Truth::False => return Truth::False,
                Truth::Unknown => truth = Truth::Unknown,
                Truth::True => {}
            }
        }
        truth
    }

    /// The truths of the transitions from a state that a pattern asks about, in the order of `row`.
    fn matched(&self, (seat, known): &mut (Seat<'m>, Known), s: usize, asked: &Asked<'_>, row: &mut [Truth]) {
        let event = asked.event;
        let first = self.row(s).start;
        let edge = |i: usize| self.graph.forward.edge(first + i);
        let mut open = Vec::new();
        for (i, truth) in row.iter_mut().enumerate() {
            let (of, label, _) = edge(i);
            match known.truths.get(&label) {
                _ if of != event => *truth = Truth::False,
                Some(fixed) => *truth = *fixed,
                None => open.push(i),
            }
        }
        if open.is_empty() {
            return;
        }
        let state = self.state(s);
        let label = |step: &Transition| self.program.label(event, &step.params, &step.results);
        if open.iter().any(|i| known.arguments.get(&edge(*i).1).is_none_or(Option::is_none)) {
            let Ok(steps) = seat.interpreter.steps_of(&state, event.0 as usize) else { return };
            known.learn(steps.transitions.iter().map(|step| (label(step), &step.params)));
        }
        self.load(seat, &state, None);
        for i in open {
            let (_, number, target) = edge(i);
            row[i] = match known.arguments.get(&number) {
                Some(Some(params)) => {
                    let truth = self.fits(seat, asked, params);
                    if asked.is_fixed {
                        known.truths.insert(number, truth);
                    }
                    truth
                }
                // Two choices of arguments under one label: the target may tell which is meant.
                Some(None) if self.graph.is_told(target) => {
                    let target = self.state(target.0 as usize);
                    let Ok(steps) = seat.interpreter.steps_of(&state, event.0 as usize) else { continue };
                    let same = steps.transitions.iter().filter(|t| t.target == target && label(t) == number);
                    let truths: Vec<Truth> = same.map(|t| self.fits(seat, asked, &t.params)).collect();
                    unanimous(truths.into_iter()).unwrap_or(Truth::Unknown)
                }
                Some(None) | None => Truth::Unknown,
            };
        }
    }

    /// Whether some operation that is enabled has several results for one choice of its arguments.
    fn has_open_output(&self, interpreter: &Interpreter<'m>, s: usize) -> Truth {
        let machine = self.program.machine();
        let mut state = None;
        let mut unsure = false;
        for (e, op) in machine.events.iter().enumerate() {
            let of_event = |edge: &usize| self.graph.forward.edge(*edge).0.0 as usize == e;
            if machine.op(*op).results.is_empty() || self.row(s).filter(of_event).count() < 2 {
                continue;
            }
            let Ok(steps) = interpreter.steps_of(state.get_or_insert_with(|| self.state(s)), e) else {
                unsure = true;
                continue;
            };
            let mut results = BTreeMap::new();
            for step in &steps.transitions {
                if results.insert(&step.params, &step.results).is_some_and(|other| *other != step.results) {
                    return Truth::True;
                }
            }
            unsure |= !steps.incomplete.is_empty() || !steps.sampled.is_empty();
        }
        if unsure { Truth::Unknown } else { Truth::False }
    }

    /// Whether something is undefined or forbidden in a state or in what leaves it.
    fn has_error(&self, (worker, words): &mut (Worker<'m>, Vec<u64>), s: usize) -> Truth {
        assert!(self.graph.read_state(NodeId(s as u32), words), "an exact store keeps states");
        let mut errors = Errors::default();
        self.program.successors(worker, words, &mut errors);
        // What is false is no error, only what is undefined.
        let mut checks = Errors::default();
        self.program.check(worker, words, None, &mut checks);
        if errors.any || checks.undefined {
            Truth::True
        } else if errors.unsure || checks.unsure {
            Truth::Unknown
        } else {
            Truth::False
        }
    }
}

impl Seat<'_> {
    fn holds(&mut self, pred: &Pred) -> Truth {
        self.interpreter.piece_holds(pred, &mut self.pieces).map_or(Truth::Unknown, Truth::from)
    }
}

/// Notes whether anything went wrong.
#[derive(Default)]
struct Errors {
    any: bool,
    undefined: bool,
    unsure: bool,
}

impl Sink for Errors {
    fn edge(&mut self, _: EventId, _: u64, _: &[u64]) {}

    fn finding(&mut self, finding: Finding) {
        self.any = true;
        self.undefined |= finding.kind == FindingKind::WellDefinedness;
    }

    fn incomplete(&mut self, _: u32) {
        self.unsure = true;
    }

    fn undefined_guard(&mut self, _: EventId) {}
}

impl<'a, 'm> Truths<'a, 'm> {
    pub fn new(program: &'a Program<'m>, graph: &'a Graph, typed: &'a Typed, budget: &'a Budget) -> Self {
        let world = World { program, graph, budget, stopped: AtomicBool::new(false) };
        Truths { world, typed, observed: OnceCell::new(), values: RefCell::default() }
    }

    /// The piece at a place, which the typing pass has met, and the values of the variables in it.
    fn part(&self, at: Span, bound: &[Bound]) -> (&'a Part, Vec<(VarId, Value)>) {
        let typed = self.typed.places.get(&at).expect("every piece of a formula was typed");
        let values = self.values.borrow();
        let value = |(v, b): (&VarId, &Bound)| (*v, values[b.value as usize].clone());
        (&typed.part, typed.bound.iter().zip(bound).map(value).collect())
    }

    fn observed(&self, number: usize) -> Extent {
        let all = self.observed.get_or_init(|| self.world.observed(self.typed.observed.len()));
        all[number].clone()
    }
}

/// What all say, if they say the same.
fn unanimous(mut truths: impl Iterator<Item = Truth>) -> Option<Truth> {
    let first = truths.next()?;
    truths.all(|t| t == first).then_some(first)
}

impl<'m> Atoms for Truths<'_, 'm> {
    fn event_names(&self) -> &[String] {
        self.world.program.event_names()
    }

    fn predicate(&self, predicate: &Text, bound: &[Bound]) -> Result<Extent, Faults> {
        let world = &self.world;
        match self.part(predicate.span, bound) {
            (Part::Observed(number), _) => Ok(self.observed(*number)),
            (Part::Pred(pred), values) => Ok(world.per_state(
                || world.seat(&values),
                |seat, s| {
                    world.load(seat, &world.state(s), None);
                    seat.holds(pred)
                },
            )),
            _ => unreachable!("an atom {{P}} is typed as a predicate"),
        }
    }

    fn matching(&self, event: EventId, pattern: &Pattern, bound: &[Bound]) -> Result<Extent, Faults> {
        let world = &self.world;
        let (Part::Arguments(wanted), values) = self.part(pattern.operation.span, bound) else {
            unreachable!("a pattern is typed as its arguments")
        };
        let machine = world.program.machine();
        let varies = |v: &VarId| machine.variables.contains(v) || machine.constants.contains(v);
        let is_fixed = wanted.iter().flatten().all(|p| !Uses::of_pred(p).all().iter().any(varies));
        let asked = Asked { event, wanted, is_fixed };
        let init = || (world.seat(&values), Known::default());
        Ok(world.per_edge(init, |own, s, row| world.matched(own, s, &asked, row)))
    }

    fn change(&self, change: Change, text: &Text, bound: &[Bound]) -> Result<Extent, Faults> {
        let world = &self.world;
        let (part, values) = self.part(text.span, bound);
        let seat = || world.seat(&values);
        match part {
            Part::Pred(pred) => Ok(world.per_edge(seat, |seat, s, row| {
                let before = world.state(s);
                let told = |e: &usize| world.is_told(world.target(*e));
                for (truth, e) in row.iter_mut().zip(world.row(s)).filter(|(_, e)| told(e)) {
                    world.load(seat, &world.state(world.target(e)), Some(&before));
                    *truth = seat.holds(pred);
                }
            })),
            Part::Expr(expr) => {
                let value = |seat: &mut Seat<'m>, s: usize| {
                    if !world.goes_on(s) || !world.is_told(s) {
                        return None;
                    }
                    world.load(seat, &world.state(s), None);
                    seat.interpreter.piece_value(expr, &mut seat.pieces).ok()
                };
                let states = (0..world.graph.nodes()).into_par_iter().with_min_len(STATES_PER_LOOK);
                let values: Vec<Option<Value>> = states.map_init(seat, value).collect();
                Ok(world.per_edge(
                    || (),
                    |(), s, row| {
                        for (truth, e) in row.iter_mut().zip(world.row(s)) {
                            *truth = match (&values[s], &values[world.target(e)]) {
                                (Some(before), Some(after)) => related(change, before, after),
                                _ => Truth::Unknown,
                            };
                        }
                    },
                ))
            }
            Part::Observed(_) | Part::Arguments(_) => unreachable!("a change is typed as B text"),
        }
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        let world = &self.world;
        let program = world.program;
        match (which, self.typed.goal) {
            (Special::Goal, Some(number)) => Ok(self.observed(number)),
            (Special::Goal, None) => Err(vec![Diagnostic::error(at, "the model has no goal")]),
            (Special::Current, _) => Ok(Extent::from_fn(world.graph.nodes(), |s| match world.is_told(s) {
                true => world.graph.initial.binary_search(&NodeId(s as u32)).is_ok().into(),
                false => Truth::Unknown,
            })),
            (Special::DetOutput, _) => Ok(world.per_state(
                || Interpreter::new(program.machine(), world.budget),
                |interpreter, s| world.has_open_output(interpreter, s),
            )),
            (Special::StateError, _) => Ok(world.per_state(
                || (program.worker(), vec![0; program.words()]),
                |own, s| world.has_error(own, s),
            )),
        }
    }

    /// The values in the initial states, where the formula is evaluated.
    fn solutions(&self, variable: &str, domain: &Text, bound: &[Bound]) -> Result<Vec<Bound>, Faults> {
        let world = &self.world;
        let (Part::Expr(set), values) = self.part(domain.span, bound) else {
            unreachable!("a domain is typed as a set")
        };
        let fault = |message: String| vec![Diagnostic::error(domain.span, message)];
        let mut seat = world.seat(&values);
        let mut found: Option<Value> = None;
        for node in &world.graph.initial {
            world.load(&mut seat, &world.state(node.0 as usize), None);
            let value = seat
                .interpreter
                .piece_value(set, &mut seat.pieces)
                .map_err(|e| fault(format!("the values of `{variable}` cannot be computed: {e}")))?;
            if found.as_ref().is_some_and(|known| *known != value) {
                return Err(fault(format!("`{variable}` has other values in other initial states")));
            }
            found = Some(value);
        }
        elements(world.program.machine(), variable, set, found, &self.values).map_err(fault)
    }
}

/// The elements of the value of a domain, entered among the values of quantified variables.
pub(super) fn elements(
    machine: &Machine,
    variable: &str,
    set: &Expr,
    found: Option<Value>,
    values: &RefCell<Vec<Value>>,
) -> Result<Vec<Bound>, String> {
    let Some(set_value) = found else { return Ok(Vec::new()) };
    let Value::Set(elements) = &set_value else {
        return Err(format!("the values of `{variable}` cannot be enumerated"));
    };
    let Type::Pow(ty) = &set.ty else { unreachable!("a domain is typed as a set") };
    let mut values = values.borrow_mut();
    Ok(elements
        .iter()
        .map(|x| {
            values.push(x.clone());
            Bound {
                variable: variable.to_string(),
                value: values.len() as u32 - 1,
                shown: x.show(machine, ty),
            }
        })
        .collect())
}

fn related(change: Change, before: &Value, after: &Value) -> Truth {
    // Sets that are not listed may be equal in spite of different forms.
    let differ = before != after;
    if differ && !(is_listed(before) && is_listed(after)) {
        return Truth::Unknown;
    }
    match change {
        Change::Unchanged => (!differ).into(),
        Change::Changed => differ.into(),
        Change::Increasing => (before < after).into(),
        Change::Decreasing => (before > after).into(),
        Change::BeforeAfter => Truth::Unknown,
    }
}

/// Whether a value contains no set that is given by a description.
fn is_listed(value: &Value) -> bool {
    match value {
        Value::Symbolic(_) => false,
        Value::Pair(pair) => is_listed(&pair.0) && is_listed(&pair.1),
        Value::Set(parts) | Value::Rec(parts) => parts.iter().all(is_listed),
        Value::Free(_, _, argument) => argument.as_ref().is_none_or(|x| is_listed(x)),
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Real(_) | Value::Elem(..) => true,
    }
}
