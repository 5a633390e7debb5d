//! The refinement chain: which machines and contexts take part, in which order.
//!
//! In: a project. Out: the machine to check with its abstractions, extended events merged, and the
//! contexts they see, extended ones first. Missing and cyclic references, names used twice and labels
//! used twice are errors, all of them collected.

use super::actions::assigned;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_syntax::ast::{Expr, ExprKind, Ident, StmtKind};
use bombus_syntax::eventb::{Context, Event, INITIALISATION, Machine, Project};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is animated together.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// The machine to check first, then its abstraction, and so on.
    pub levels: Vec<Machine>,
    pub contexts: Vec<Context>,
    /// Variables of the abstractions that are left out.
    pub hidden: Vec<Name>,
    /// The abstractions that are left out.
    pub left_out: Vec<Name>,
}

/// Sorts out the project; at most `abstract_levels` abstractions are kept.
pub fn chain(project: &Project, abstract_levels: Option<usize>) -> Result<Chain, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut levels: Vec<Machine> = Vec::new();
    let mut next = project.machines.first();
    while let Some(machine) = next {
        if levels.iter().any(|l| l.name == machine.name) {
            errors.push(Diagnostic::error(
                machine.span,
                format!("the machine {} refines itself, by way of {}", machine.name, path(&levels)),
            ));
            break;
        }
        levels.push(machine.clone());
        next = match &machine.refines {
            None => None,
            Some(of) => {
                let found = project.machines.iter().find(|m| m.name == of.name);
                if found.is_none() {
                    let message = format!("{} refines {}, which is missing", machine.name, of.name);
                    errors.push(Diagnostic::error(machine.span, message));
                }
                found
            }
        };
    }
    let mut contexts = Contexts { project, done: Vec::new(), open: Vec::new(), errors: Vec::new() };
    for machine in levels.iter().rev() {
        for seen in &machine.sees {
            contexts.visit(seen, &machine.name, machine.span);
        }
    }
    if levels.is_empty()
        && let Some(first) = project.contexts.first()
    {
        let name = Ident { name: first.name.clone(), span: first.span };
        contexts.visit(&name, &first.name, first.span);
    }
    let Contexts { done, errors: missing, .. } = contexts;
    errors.extend(missing);
    for level in &levels {
        check_machine(level, &mut errors);
    }
    for pair in levels.windows(2) {
        check_refined(&pair[0], &pair[1], &mut errors);
    }
    check_names(&levels, &done, &mut errors);
    merge_extended(&mut levels, &mut errors);
    if !project.exported {
        for level in &levels {
            check_parts(level, &mut errors);
        }
    }
    let kept = abstract_levels.map_or(levels.len(), |n| levels.len().min(n + 1));
    let left_out = levels.split_off(kept);
    let hidden = left_out.iter().flat_map(|m| &m.variables).map(|v| v.name.clone()).collect();
    let left_out = left_out.into_iter().map(|m| m.name).collect();
    if errors.is_empty() { Ok(Chain { levels, contexts: done, hidden, left_out }) } else { Err(errors) }
}

/// Every formula but the targets of assignments, which are no applications.
pub fn each_formula(chain: &mut Chain, work: &mut dyn FnMut(&mut Expr)) {
    for axiom in chain.contexts.iter_mut().flat_map(|c| &mut c.axioms) {
        work(&mut axiom.expr);
    }
    for level in &mut chain.levels {
        for formula in level.invariants.iter_mut().chain(&mut level.variants) {
            work(&mut formula.expr);
        }
        for event in &mut level.events {
            for formula in event.guards.iter_mut().chain(&mut event.witnesses) {
                work(&mut formula.expr);
            }
            for action in &mut event.actions {
                match &mut action.stmt.kind {
                    StmtKind::Assign(targets, values) => {
                        for target in targets {
                            if let ExprKind::Apply(_, indices) = &mut target.kind {
                                indices.iter_mut().for_each(&mut *work);
                            }
                        }
                        values.iter_mut().for_each(&mut *work);
                    }
                    StmtKind::BecomesIn(_, e) | StmtKind::BecomesSuch(_, e) => work(e),
                    _ => {}
                }
            }
        }
    }
}

fn path(levels: &[Machine]) -> String {
    let names: Vec<&str> = levels.iter().map(|l| l.name.as_ref()).collect();
    names.join(", ")
}

struct Contexts<'a> {
    project: &'a Project,
    done: Vec<Context>,
    open: Vec<Name>,
    errors: Vec<Diagnostic>,
}

impl Contexts<'_> {
    /// Adds a context after all that it extends.
    fn visit(&mut self, name: &Ident, by: &Name, at: Span) {
        if self.done.iter().any(|c| c.name == name.name) {
            return;
        }
        if self.open.contains(&name.name) {
            self.errors.push(Diagnostic::error(
                at,
                format!("the context {} extends itself, by way of {}", name.name, self.open.join(", ")),
            ));
            return;
        }
        let Some(context) = self.project.contexts.iter().find(|c| c.name == name.name) else {
            self.errors.push(Diagnostic::error(
                at,
                format!("{by} needs the context {}, which is missing", name.name),
            ));
            return;
        };
        self.open.push(name.name.clone());
        for extended in &context.extends {
            self.visit(extended, &context.name, context.span);
        }
        self.open.pop();
        self.done.push(context.clone());
    }
}

fn twice<'a>(labels: impl Iterator<Item = &'a Name>) -> Option<&'a Name> {
    let mut seen = BTreeSet::new();
    labels.into_iter().find(|l| !seen.insert((*l).clone()))
}

fn check_machine(machine: &Machine, errors: &mut Vec<Diagnostic>) {
    let mut error = |message: String| errors.push(Diagnostic::error(machine.span, message));
    let name = &machine.name;
    if let Some(event) = twice(machine.events.iter().map(|e| &e.name)) {
        error(format!("{name}: two events are called {event}"));
    }
    if let Some(variable) = twice(machine.variables.iter().map(|v| &v.name)) {
        error(format!("{name}: the variable {variable} is declared twice"));
    }
    for event in &machine.events {
        if let Some(p) = twice(event.params.iter().map(|p| &p.name)) {
            error(format!("{name} / {}: the parameter {p} is declared twice", event.name));
        }
        if event.name.as_ref() == INITIALISATION && !event.params.is_empty() {
            error(format!("{name} / {INITIALISATION}: the initialisation has no parameters"));
        }
    }
}

/// In one event, inherited parts included, every guard has a label of its own, so has every action, and every variable
/// is assigned by one action. (Exported packages passed these checks in Rodin, and some lost their labels.)
fn check_parts(machine: &Machine, errors: &mut Vec<Diagnostic>) {
    for event in &machine.events {
        let place = format!("{} / {}", machine.name, event.name);
        let mut labels: BTreeMap<(bool, &Name), &Name> = BTreeMap::new();
        let guards = event.guards.iter().map(|g| (true, &g.label, &g.origin, g.expr.span));
        let actions = event.actions.iter().map(|a| (false, &a.label, &a.origin, a.stmt.span));
        for (guard, label, origin, span) in guards.chain(actions) {
            if let Some(first) = labels.insert((guard, label), origin) {
                let from = if first == origin { String::new() } else { format!(", first by {first}") };
                let message = format!("{place} / {label}: the label is used twice{from}");
                errors.push(Diagnostic::error(span, message));
            }
        }
        let mut writers: BTreeMap<Name, &Name> = BTreeMap::new();
        for action in &event.actions {
            for variable in assigned(&action.stmt) {
                if let Some(first) = writers.insert(variable.clone(), &action.label) {
                    let message = format!("{place}: {first} and {} both assign {variable}", action.label);
                    errors.push(
                        Diagnostic::error(action.stmt.span, message).help(
                            "the actions of an event happen at once; join the two values into one action",
                        ),
                    );
                }
            }
        }
    }
}

/// The events that a machine refines are events of its abstraction.
fn check_refined(machine: &Machine, base: &Machine, errors: &mut Vec<Diagnostic>) {
    for event in machine.events.iter().filter(|e| e.name.as_ref() != INITIALISATION) {
        for refined in event.refines.iter().filter(|r| !base.events.iter().any(|e| e.name == r.name)) {
            errors.push(Diagnostic::error(
                event.span,
                format!(
                    "{} / {}: the refined event {} is missing in {}",
                    machine.name, event.name, refined.name, base.name
                ),
            ));
        }
    }
}

/// Carrier sets, constants and variables share one space of names.
fn check_names(levels: &[Machine], contexts: &[Context], errors: &mut Vec<Diagnostic>) {
    let mut owners: BTreeMap<&Name, &Name> = BTreeMap::new();
    for context in contexts {
        for ident in context.sets.iter().chain(&context.constants) {
            if let Some(first) = owners.insert(&ident.name, &context.name) {
                errors.push(Diagnostic::error(
                    context.span,
                    format!("{}: {} is declared in {first} already", context.name, ident.name),
                ));
            }
        }
    }
    for level in levels {
        for ident in &level.variables {
            if let Some(first) = owners.get(&ident.name) {
                errors.push(Diagnostic::error(
                    level.span,
                    format!("{}: the variable {} is declared in {first} already", level.name, ident.name),
                ));
            }
        }
    }
}

/// Writes the abstract text into extended events, most abstract machine first.
fn merge_extended(levels: &mut [Machine], errors: &mut Vec<Diagnostic>) {
    for i in (0..levels.len()).rev() {
        let (concrete, abstracts) = levels.split_at_mut(i + 1);
        let machine = &mut concrete[i];
        let above = abstracts.first();
        for event in machine.events.iter_mut().filter(|e| e.extended) {
            let of: Name = match event.refines.as_slice() {
                [one] => one.name.clone(),
                [] if event.name.as_ref() == INITIALISATION => INITIALISATION.into(),
                _ => {
                    errors.push(Diagnostic::error(
                        event.span,
                        format!("{} / {}: an extended event refines one event", machine.name, event.name),
                    ));
                    continue;
                }
            };
            match above.and_then(|m| m.events.iter().find(|e| e.name == of)) {
                Some(base) => extend(event, base),
                None => errors.push(Diagnostic::error(
                    event.span,
                    format!("{} / {}: the extended event {of} is missing", machine.name, event.name),
                )),
            }
        }
    }
}

fn extend(event: &mut Event, base: &Event) {
    let mut params = base.params.clone();
    params.append(&mut event.params);
    let mut guards = base.guards.clone();
    guards.append(&mut event.guards);
    let mut actions = base.actions.clone();
    actions.append(&mut event.actions);
    event.params = params;
    event.guards = guards;
    event.actions = actions;
    event.extended = false;
}
