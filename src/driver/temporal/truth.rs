//! Where the atoms of temporal formulas hold on the graph of an exploration.
//!
//! In: the graph, the compiled model that knows its states, typed pieces of B. Out: one set of states or
//! transitions for each atom. Never here: temporal operators.
//!
//! The reference interpreter evaluates; what it cannot evaluate is unknown, never false.

use super::typing::{Part, Pieces as Typed};
use crate::base::budget::Budget;
use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;
use crate::graph::{Graph, NodeId};
use crate::ltl::atoms::{Atoms, Bound, Extent, Faults, Special, Truth};
use crate::ltl::formula::{Change, Pattern, Text};
use crate::model::reference::{Constants, Interpreter, Pieces, State, Transition};
use crate::model::typed::{Pred, Type, VarId};
use crate::model::value::Value;
use crate::program::Program;
use crate::system::{EventId, System};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The clock is read once per this many states.
const STATES_PER_LOOK: usize = 256;

pub struct Truths<'a, 'm> {
    program: &'a Program<'m>,
    graph: &'a Graph,
    typed: &'a Typed,
    interpreter: Interpreter<'m>,
    budget: &'a Budget,
    /// Values of quantified variables; `Bound::value` is a place here.
    values: RefCell<Vec<Value>>,
}

/// An environment that goes from state to state.
struct Seat {
    pieces: Pieces,
    constants: Constants,
}

impl<'a, 'm> Truths<'a, 'm> {
    pub fn new(program: &'a Program<'m>, graph: &'a Graph, typed: &'a Typed, budget: &'a Budget) -> Self {
        let interpreter = Interpreter::new(program.machine(), budget);
        Truths { program, graph, typed, interpreter, budget, values: RefCell::default() }
    }

    fn state(&self, node: usize) -> State {
        let words = self.graph.state(NodeId(node as u32)).expect("an exact store keeps states");
        self.program.values(&words)
    }

    /// The piece at a place; the typing pass met every one.
    fn part(&self, at: Span) -> (&'a Part, &'a [VarId]) {
        let typed = self.typed.get(&at).expect("every piece of a formula was typed");
        (&typed.part, &typed.bound)
    }

    fn seat(&self, vars: &[VarId], bound: &[Bound]) -> Seat {
        let constants: Constants = Arc::from([]);
        let mut pieces = Pieces::new(&self.interpreter, &constants);
        let values = self.values.borrow();
        for (v, b) in vars.iter().zip(bound) {
            pieces.bind(*v, false, values[b.value as usize].clone());
        }
        Seat { pieces, constants }
    }

    /// Puts a state into the environment: its values now, or also those of before.
    fn load(&self, seat: &mut Seat, state: &State, before: Option<&State>) {
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

    fn holds(&self, seat: &mut Seat, pred: &Pred) -> Truth {
        self.interpreter.piece_holds(pred, &mut seat.pieces).map_or(Truth::Unknown, Truth::from)
    }

    /// Whether there is time for this state; asked for states in order.
    fn goes_on(&self, node: usize, stopped: &mut bool) -> bool {
        if node.is_multiple_of(STATES_PER_LOOK) && self.budget.check().is_err() {
            *stopped = true;
        }
        !*stopped
    }

    fn where_holds(&self, pred: &Pred, vars: &[VarId], bound: &[Bound]) -> Extent {
        let mut seat = self.seat(vars, bound);
        let mut stopped = false;
        Extent::from_fn(self.graph.nodes(), |s| {
            if !self.goes_on(s, &mut stopped) {
                return Truth::Unknown;
            }
            self.load(&mut seat, &self.state(s), None);
            self.holds(&mut seat, pred)
        })
    }

    /// A truth for each transition, computed for those of one state together.
    fn per_edge(&self, mut truths: impl FnMut(usize, &mut [Truth])) -> Extent {
        let mut all = vec![Truth::Unknown; self.graph.forward.edges()];
        let mut stopped = false;
        for s in 0..self.graph.nodes() {
            let row = self.graph.forward.row(NodeId(s as u32));
            if self.goes_on(s, &mut stopped) && !row.is_empty() {
                truths(s, &mut all[row]);
            }
        }
        Extent::from_fn(all.len(), |e| all[e])
    }

    /// Whether the arguments of a transition are as wanted in the state that is loaded.
    fn fits(&self, seat: &mut Seat, event: EventId, wanted: &[Option<Pred>], step: &Transition) -> Truth {
        let machine = self.program.machine();
        let params = &machine.op(machine.events[event.0 as usize]).params;
        let mut truth = Truth::True;
        for ((pred, v), x) in wanted.iter().zip(params).zip(step.params.iter()) {
            let Some(pred) = pred else { continue };
            seat.pieces.bind(*v, false, x.clone());
            let one = self.holds(seat, pred);
            seat.pieces.unbind(*v, false);
            match one {
                Truth::False => return Truth::False,
                Truth::Unknown => truth = Truth::Unknown,
                Truth::True => {}
            }
        }
        truth
    }

    /// The truths of the transitions of `event` from a state, in the order of `row`.
    fn matched(&self, seat: &mut Seat, s: usize, event: EventId, wanted: &[Option<Pred>], row: &mut [Truth]) {
        let first = self.graph.forward.row(NodeId(s as u32)).start;
        let edges: Vec<_> = (0..row.len()).map(|i| self.graph.forward.edge(first + i)).collect();
        for (truth, edge) in row.iter_mut().zip(&edges) {
            *truth = if edge.0 == event { Truth::Unknown } else { Truth::False };
        }
        if edges.iter().all(|e| e.0 != event) {
            return;
        }
        let state = self.state(s);
        let Ok(steps) = self.interpreter.steps_of(&state, event.0 as usize) else { return };
        self.load(seat, &state, None);
        let mut by_label: HashMap<u64, Vec<(Truth, &Transition)>> = HashMap::new();
        for step in &steps.transitions {
            let label = self.program.label(event, &step.params, &step.results);
            let truth = self.fits(seat, event, wanted, step);
            by_label.entry(label).or_default().push((truth, step));
        }
        for (truth, (of, label, target)) in row.iter_mut().zip(&edges) {
            let Some(steps) = by_label.get(label).filter(|_| *of == event) else { continue };
            if let Some(one) = unanimous(steps.iter().map(|(t, _)| *t)) {
                *truth = one;
                continue;
            }
            // Two choices of arguments under one label: the target may tell which is meant.
            let target = self.state(target.0 as usize);
            let same = steps.iter().filter(|(_, step)| step.target == target).map(|(t, _)| *t);
            *truth = unanimous(same).unwrap_or(Truth::Unknown);
        }
    }
}

/// What all say, if they say the same.
fn unanimous(mut truths: impl Iterator<Item = Truth>) -> Option<Truth> {
    let first = truths.next()?;
    truths.all(|t| t == first).then_some(first)
}

impl Atoms for Truths<'_, '_> {
    fn event_names(&self) -> &[String] {
        self.program.event_names()
    }

    fn predicate(&self, predicate: &Text, bound: &[Bound]) -> Result<Extent, Faults> {
        match self.part(predicate.span) {
            (Part::Pred(pred), vars) => Ok(self.where_holds(pred, vars, bound)),
            _ => unreachable!("an atom {{P}} is typed as a predicate"),
        }
    }

    fn matching(&self, event: EventId, pattern: &Pattern, bound: &[Bound]) -> Result<Extent, Faults> {
        let (Part::Arguments(wanted), vars) = self.part(pattern.operation.span) else {
            unreachable!("a pattern is typed as its arguments")
        };
        let mut seat = self.seat(vars, bound);
        Ok(self.per_edge(|s, row| self.matched(&mut seat, s, event, wanted, row)))
    }

    fn change(&self, change: Change, text: &Text, bound: &[Bound]) -> Result<Extent, Faults> {
        let (part, vars) = self.part(text.span);
        let mut seat = self.seat(vars, bound);
        let first = |s: usize| self.graph.forward.row(NodeId(s as u32)).start;
        let target = |e: usize| self.graph.forward.edge(e).2.0 as usize;
        match part {
            Part::Pred(pred) => Ok(self.per_edge(|s, row| {
                let before = self.state(s);
                for (i, truth) in row.iter_mut().enumerate() {
                    self.load(&mut seat, &self.state(target(first(s) + i)), Some(&before));
                    *truth = self.holds(&mut seat, pred);
                }
            })),
            Part::Expr(expr) => {
                let mut stopped = false;
                let values: Vec<Option<Value>> = (0..self.graph.nodes())
                    .map(|s| {
                        if !self.goes_on(s, &mut stopped) {
                            return None;
                        }
                        self.load(&mut seat, &self.state(s), None);
                        self.interpreter.piece_value(expr, &mut seat.pieces).ok()
                    })
                    .collect();
                Ok(self.per_edge(|s, row| {
                    for (i, truth) in row.iter_mut().enumerate() {
                        *truth = match (&values[s], &values[target(first(s) + i)]) {
                            (Some(before), Some(after)) => related(change, before, after),
                            _ => Truth::Unknown,
                        };
                    }
                }))
            }
            Part::Arguments(_) => unreachable!("a change is typed as B text"),
        }
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        match (which, &self.program.machine().goal) {
            (Special::Goal, Some(goal)) => Ok(self.where_holds(goal, &[], &[])),
            _ => Err(vec![Diagnostic::error(at, "this atom has no meaning here")]),
        }
    }

    /// The values in the initial states, where the formula is evaluated.
    fn solutions(&self, variable: &str, domain: &Text, bound: &[Bound]) -> Result<Vec<Bound>, Faults> {
        let (Part::Expr(set), vars) = self.part(domain.span) else {
            unreachable!("a domain is typed as a set")
        };
        let fault = |message: String| vec![Diagnostic::error(domain.span, message)];
        let mut seat = self.seat(vars, bound);
        let mut found: Option<Value> = None;
        for node in &self.graph.initial {
            self.load(&mut seat, &self.state(node.0 as usize), None);
            let value = self
                .interpreter
                .piece_value(set, &mut seat.pieces)
                .map_err(|e| fault(format!("the values of `{variable}` cannot be computed: {e}")))?;
            if found.as_ref().is_some_and(|known| *known != value) {
                return Err(fault(format!("`{variable}` has other values in other initial states")));
            }
            found = Some(value);
        }
        let Some(set_value) = found else { return Ok(Vec::new()) };
        let Value::Set(elements) = &set_value else {
            return Err(fault(format!("the values of `{variable}` cannot be enumerated")));
        };
        let machine = self.program.machine();
        let Type::Pow(ty) = &set.ty else { unreachable!("a domain is typed as a set") };
        let mut values = self.values.borrow_mut();
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
