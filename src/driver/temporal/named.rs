//! Formulas that name elements of deferred sets.
//!
//! In: a formula and its typed pieces. Out: an element that it names although the constants of the model
//! were set up only up to the names of such elements. Never here: states.
//!
//! Of valuations of the constants that differ only by the names of elements one is explored. What a formula
//! says of an element by its name may be true of that one alone, so the formula is not known to hold. An
//! element that is named by a constant is the same in all valuations.

use super::Logic;
use super::typing::{Part, Pieces};
use crate::base::span::Span;
use crate::ltl::ctl_parse::{Ctl, CtlKind, Temporal};
use crate::ltl::formula::{Atom, Fairness, Formula, Kind};
use crate::model::typed::{Expr, ExprKind, Machine, SetId, SetKind};
use crate::model::walk::{Visit, visit_expr, visit_pred};
use crate::program::symmetry::types::sets_of;

/// An element that the formula names and that some valuation would exchange for another.
pub(super) fn element(formula: &Logic, pieces: &Pieces, machine: &Machine) -> Option<String> {
    let mut places = Vec::new();
    match formula {
        Logic::Ltl(f) => in_ltl(f, &mut places),
        Logic::Ctl(f) => in_ctl(f, &mut places),
    }
    let mut seen = Seen { machine, found: None };
    if pieces.goal.is_some()
        && let Some(goal) = &machine.goal
    {
        visit_pred(goal, &mut seen);
    }
    for typed in places.iter().filter_map(|at| pieces.places.get(at)) {
        match &typed.part {
            Part::Observed(number) => visit_pred(&pieces.observed[*number], &mut seen),
            Part::Pred(p) => visit_pred(p, &mut seen),
            Part::Expr(e) => visit_expr(e, &mut seen),
            Part::Arguments(list) => list.iter().flatten().for_each(|p| visit_pred(p, &mut seen)),
        }
    }
    seen.found
}

/// The same for the goal of a check.
pub fn in_goal(machine: &Machine) -> Option<String> {
    let mut seen = Seen { machine, found: None };
    visit_pred(machine.goal.as_ref()?, &mut seen);
    seen.found
}

/// What is left open when only some valuations were explored and `name` is named.
pub fn reservation(what: &str, name: &str) -> String {
    format!(
        "{what}: of valuations of the constants that differ only by the names of elements one was explored, and \
         {name} is named (--all-constants explores all)"
    )
}

fn in_ltl(formula: &Formula, places: &mut Vec<Span>) {
    match &formula.kind {
        Kind::Constant(_) => {}
        Kind::Atom(atom) => in_atom(atom, places),
        Kind::Unary(_, f) => in_ltl(f, places),
        Kind::Binary(_, f, g) => {
            in_ltl(f, places);
            in_ltl(g, places);
        }
        Kind::Quantified { domain, body, .. } => {
            places.push(domain.span);
            in_ltl(body, places);
        }
        Kind::Fair(fairness, f) => {
            in_fairness(fairness, places);
            in_ltl(f, places);
        }
    }
}

fn in_fairness(fairness: &Fairness, places: &mut Vec<Span>) {
    match fairness {
        Fairness::Operation { pattern, .. } => places.push(pattern.operation.span),
        Fairness::Every { .. } => {}
        Fairness::And(f, g) | Fairness::Or(f, g) => {
            in_fairness(f, places);
            in_fairness(g, places);
        }
    }
}

fn in_ctl(formula: &Ctl, places: &mut Vec<Span>) {
    match &formula.kind {
        CtlKind::Constant(_) => {}
        CtlKind::Atom(atom) => in_atom(atom, places),
        CtlKind::Not(f) => in_ctl(f, places),
        CtlKind::And(f, g) | CtlKind::Or(f, g) | CtlKind::Implies(f, g) => {
            in_ctl(f, places);
            in_ctl(g, places);
        }
        CtlKind::Path(_, temporal) => match temporal {
            Temporal::Next(pattern, f) => {
                places.extend(pattern.iter().map(|p| p.operation.span));
                in_ctl(f, places);
            }
            Temporal::Finally(f) | Temporal::Globally(f) => in_ctl(f, places),
            Temporal::Until(f, g) => {
                in_ctl(f, places);
                in_ctl(g, places);
            }
        },
    }
}

fn in_atom(atom: &Atom, places: &mut Vec<Span>) {
    match atom {
        Atom::Predicate(text) | Atom::Change(_, text) => places.push(text.span),
        _ => places.extend(atom.patterns().iter().map(|p| p.operation.span)),
    }
}

struct Seen<'m> {
    machine: &'m Machine,
    found: Option<String>,
}

impl Seen<'_> {
    /// Whether constants that are left may hold elements of a set, so that names matter.
    fn is_renamed(&self, set: SetId) -> bool {
        let holds = |ty| sets_of(self.machine, ty).contains(&set);
        self.machine.set(set).kind != SetKind::Enumerated
            && self.machine.constants.iter().any(|c| holds(&self.machine.var(*c).ty))
    }
}

impl Visit for Seen<'_> {
    fn expr(&mut self, e: &Expr) {
        let ExprKind::Elem(set, number) = e.kind else { return };
        let (name, own) = (&self.machine.set(set).elems[number as usize], &self.machine.set(set).name);
        let is_numbered = name.strip_prefix(&**own).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if self.found.is_none() && is_numbered && self.is_renamed(set) {
            self.found = Some(name.to_string());
        }
    }
}
