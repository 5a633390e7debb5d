//! Why an operation cannot happen: the conjuncts of its guard that are false, or that no parameter satisfies.
//!
//! In: a state and an operation. Out: a tree with the false parts of each branch of its guard.
//! Never here: why a step that can happen fails (`substitution`).

use super::{Explainer, Node, Place, Worth};
use bombus_base::Span;
use bombus_evaluate::State;
use bombus_evaluate::env::Env;
use bombus_evaluate::operation::Alternative;
use bombus_lang::typed::{Pred, VarId};
use bombus_lang::value::Value;

impl Explainer<'_> {
    /// Why an event, by its number, is not enabled in a state; `None` if it is enabled.
    pub fn why_disabled(&self, state: &State, event: usize) -> Option<Node> {
        let steps = self.interpreter.steps_of(state, event).ok()?;
        if !steps.transitions.is_empty() || !steps.errors.is_empty() {
            return None;
        }
        let mut env = self.env(Some(state));
        Some(self.disabled(&mut env, event))
    }

    /// Why an event is not enabled in a state with these values of some of its parameters; `None` if it is.
    pub fn why_disabled_with(&self, state: &State, event: usize, given: &[(VarId, Value)]) -> Option<Node> {
        let steps = self.interpreter.steps_of(state, event).ok()?;
        let params = &self.machine.op(self.machine.events[event]).params;
        let fits = |values: &[Value]| {
            given
                .iter()
                .all(|(v, x)| params.iter().position(|p| p == v).is_none_or(|i| values.get(i) == Some(x)))
        };
        if steps.transitions.iter().any(|t| fits(&t.params)) {
            return None;
        }
        let mut env = self.env(Some(state));
        let saved: Vec<_> = given.iter().map(|(v, x)| (*v, env.replace(*v, Some(x.clone())))).collect();
        let mut node = self.disabled_but(&mut env, event, given);
        env.restore(saved);
        node.witness = given.iter().map(|(v, x)| self.named(*v, x)).collect();
        Some(node)
    }

    /// The parts of the guard of an event that keep it from happening.
    pub(super) fn disabled(&self, env: &mut Env, event: usize) -> Node {
        self.disabled_but(env, event, &[])
    }

    /// Why an event does not happen in a deadlock. One that can happen is an operation of a refinement, of which only the calls
    /// count that the abstraction allows.
    pub(super) fn not_called(&self, env: &mut Env, state: &State, event: usize) -> Node {
        let mut node = self.disabled(env, event);
        let possible =
            self.interpreter.steps_of(state, event).is_ok_and(|steps| !steps.transitions.is_empty());
        if possible {
            node.notes = vec![NOT_ALLOWED.into()];
        }
        node
    }

    /// The same where some parameters have values in `env`.
    fn disabled_but(&self, env: &mut Env, event: usize, given: &[(VarId, Value)]) -> Node {
        let id = self.machine.events[event];
        let op = self.machine.op(id);
        let names: Vec<&str> = op.params.iter().map(|v| &*self.machine.var(*v).name).collect();
        let text =
            if names.is_empty() { op.name.to_string() } else { format!("{}({})", op.name, names.join(", ")) };
        let mut node = Node::new(text, Worth::Disabled);
        node.place = Place::of(self.sources, op.span);
        let guarded = self.interpreter.guarded(id);
        let several = guarded.alternatives.len() > 1;
        for (i, alternative) in guarded.alternatives.iter().enumerate() {
            let parts = self.closed(env, alternative, given);
            let infeasible = parts.is_empty();
            if several {
                let mut branch = Node::new(format!("branch {}", i + 1), Worth::Disabled);
                branch.parts = parts;
                if infeasible {
                    branch.notes.push(INFEASIBLE.into());
                }
                node.parts.push(branch);
            } else {
                node.parts.extend(parts);
                if infeasible {
                    node.notes.push(INFEASIBLE.into());
                }
            }
        }
        node
    }

    /// The conjuncts that close one branch.
    fn closed(&self, env: &mut Env, alternative: &Alternative, given: &[(VarId, Value)]) -> Vec<Node> {
        let plan = &alternative.plan;
        let preds: Vec<&Pred> = plan.conjuncts.iter().filter(|c| !c.derived).map(|c| &c.pred).collect();
        let is_given = |v: &VarId| given.iter().any(|(g, _)| g == v);
        let vars: Vec<VarId> = plan.vars.iter().copied().filter(|v| !is_given(v)).collect();
        let saved = env.take(&vars);
        let parts = self.unsatisfiable(env, &vars, &preds, Span::default(), 0);
        env.restore(saved);
        parts
    }
}

/// What is said of an operation that nobody may call.
const NOT_ALLOWED: &str = "it could be called, but the precondition of the abstraction allows no call";

/// What is said where no conjunct of the guard is to blame.
const INFEASIBLE: &str = "the guard can hold, but the action has no outcome";
