//! A classical refinement in the oracle's own tree: the levels that a machine refines, each as a machine.
//!
//! In: the chain that the lock-step check follows, and the names of the machine's events in the oracle's tree. Out: the part
//! `refines` of that tree. An event of a level has the name of the event that refines it; what events call stands beside
//! them under other names. An operation of a machine that is only seen changes variables of all levels that see it, so
//! it is an event of these levels too.

use super::convert::{Converter, Unknown};
use crate::lang::typed::{Machine, OpId, VarId};
use crate::lang::walk::{Visit, calls_of, visit_stmt};
use crate::model::refinement::{Followed, Level, Refinement, Role};
use bombus_oracle::tree::{self, Name};
use std::collections::BTreeSet;

/// What a machine refines; `event` names its events by their numbers.
pub(super) fn refinement(
    chain: &Refinement,
    event: &dyn Fn(usize) -> Name,
) -> Result<Vec<tree::Machine>, Unknown> {
    let machine = &chain.machine;
    let converter = Converter::of_levels(machine);
    let named: Vec<(Name, &Followed)> = chain.events.iter().enumerate().map(|(n, f)| (event(n), f)).collect();
    let looped = named.iter().filter(|(_, f)| f.loops_read_abstractions).map(|(n, f)| (n.clone(), f.op));
    let level = |(i, level): (usize, &Level)| {
        let own = |(name, f): &(Name, &Followed)| Some((name.clone(), counterpart(machine, level, i, f)?));
        Ok(tree::Machine {
            name: Name::from(&*level.name),
            variables: converter.vars(&level.variables)?,
            initialisation: converter.subst(&level.initialisation)?,
            operations: with_callees(machine, &converter, named.iter().filter_map(own))?,
            ..tree::Machine::default()
        })
    };
    let said = tree::Machine {
        name: Name::from(&*machine.name),
        invariant: converter.clauses(&machine.invariant[chain.own_invariant..])?,
        assertions: converter.clauses(&machine.assertions[chain.own_assertions..])?,
        operations: with_callees(machine, &converter, looped)?,
        ..tree::Machine::default()
    };
    std::iter::once(Ok(said)).chain(chain.levels.iter().enumerate().map(level)).collect()
}

/// The operation of a level that runs where an event of the checked machine does.
fn counterpart(machine: &Machine, level: &Level, i: usize, followed: &Followed) -> Option<OpId> {
    if followed.role != Role::Beside {
        return followed.refined.get(i).map(|r| r.op);
    }
    let touched = touched(machine, followed.op);
    let seen = !touched.is_empty() && touched.iter().all(|v| level.variables.contains(v));
    seen.then_some(followed.op)
}

/// Operations as events of these names, and those that they call.
fn with_callees(
    machine: &Machine,
    converter: &Converter,
    events: impl Iterator<Item = (Name, OpId)>,
) -> Result<Vec<tree::Operation>, Unknown> {
    let (mut out, mut called) = (Vec::new(), BTreeSet::new());
    for (name, op) in events {
        called.extend(calls_of(&machine.op(op).body));
        out.push(tree::Operation { name, event: true, ..converter.operation(op)? });
    }
    for op in reached(machine, called) {
        out.push(converter.operation(op)?);
    }
    Ok(out)
}

/// Some operations and all that they call.
fn reached(machine: &Machine, from: BTreeSet<OpId>) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<OpId> = from.into_iter().collect();
    while let Some(op) = open.pop() {
        if found.insert(op) {
            open.extend(calls_of(&machine.op(op).body));
        }
    }
    found
}

/// The variables of machines that an operation reads or writes.
fn touched(machine: &Machine, op: OpId) -> BTreeSet<VarId> {
    let mut names = Names(BTreeSet::new());
    for op in reached(machine, [op].into()) {
        visit_stmt(&machine.op(op).body, &mut names);
    }
    names.0.into_iter().filter(|v| machine.variables.contains(v)).collect()
}

struct Names(BTreeSet<VarId>);

impl Visit for Names {
    fn expr(&mut self, e: &crate::lang::typed::Expr) {
        use crate::lang::typed::ExprKind::{Old, Var};
        if let Var(v) | Old(v) = &e.kind {
            self.0.insert(*v);
        }
    }
    fn target(&mut self, t: &crate::lang::typed::Target) {
        self.0.insert(t.var);
    }
    fn written(&mut self, vars: &Vec<VarId>) {
        self.0.extend(vars);
    }
}
