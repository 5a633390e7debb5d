//! Events in lock-step: a concrete event together with the abstract events it refines.
//!
//! In: the refinement chain. Out: for each event of the checked machine one substitution over the
//! variables of all levels. The concrete guards decide whether the event happens, the concrete
//! actions what it does; abstract parameters and vanished variables follow by witnesses. What the proof
//! obligations of the refinement demand stands inside as labelled ASSERTs: guard strengthening (GRD),
//! simulation (SIM), equality of variables an abstract event does not touch (EQL); and so does that a
//! non-deterministic action has an outcome (FIS).
//! Never here: types, evaluation.
//!
//! The value of `x` after the event is known as an expression over the state before, or it is bound as
//! a local called `x'`. Guards and actions that both levels state in the same words need no check.

use super::actions::{
    as_classical, assigned, before_after, feasible, name_primes, target_name, typed_as, types_of, unbounded,
    whole_value,
};
use super::variants::conditions;
use bombus_base::{Name, Span};
use bombus_syntax::ast::{BinOp, Const, Expr, ExprKind, Ident, Obligation, Quant, Stmt, StmtKind};
use bombus_syntax::eventb::names::{free, parts, primed, replace, replace_in_action, visit};
use bombus_syntax::eventb::{Action, Event, Formula, INITIALISATION, Machine};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

type Renaming = BTreeMap<Name, Expr>;

/// A chain of machines, the most concrete first.
pub struct Lockstep<'a> {
    pub levels: &'a [Machine],
    /// Whether theorems among the guards are evaluated.
    pub theorems: bool,
    /// Whether convergent and anticipated events are held to the variant.
    pub variants: bool,
    /// Variables whose new value some check or witness asks for, and that are assigned non-deterministically or by a value that may
    /// lack a type.
    asked: RefCell<BTreeSet<Name>>,
}

/// A part that stands around the assignments, outermost first.
#[derive(Clone)]
enum Wrap {
    Any(Vec<Ident>, Expr),
    Let(Ident, Expr),
    Assert(Obligation, Expr),
    Select(Expr),
}

/// What the guards of an abstract event are to the concrete one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guards {
    /// They must follow from the concrete guards.
    Check,
    /// They tell which of several abstract events happens.
    Select,
    /// They have been looked at already.
    Known,
}

#[derive(Clone, Default)]
struct Frame {
    wraps: Vec<Wrap>,
    /// The value after the event of each variable that it assigns, as far as it can be named.
    after: BTreeMap<Name, Expr>,
    /// Assigned by a non-deterministic action that was left as it is.
    unnamed: BTreeSet<Name>,
    targets: Vec<Expr>,
    values: Vec<Expr>,
    others: Vec<Stmt>,
    /// Names that parameters of lower levels have taken.
    taken: BTreeSet<Name>,
}

pub(super) fn node(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

pub(super) fn ident(name: &Name, span: Span) -> Expr {
    node(ExprKind::Ident(name.clone()), span)
}

pub(super) fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    node(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
}

pub(super) fn conjunction(mut parts: Vec<Expr>, span: Span) -> Expr {
    match parts.len() {
        0 => node(ExprKind::Const(Const::BTrue), span),
        1 => parts.remove(0),
        _ => node(ExprKind::And(parts), span),
    }
}

pub(super) fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span }
}

fn variables_of(machine: &Machine) -> impl Iterator<Item = &Name> {
    machine.variables.iter().map(|v| &v.name)
}

/// `M2 / evt / grd3 / GRD`, around the predicate that must hold.
fn obligation(place: &str, what: &str, kind: &str, pred: Expr) -> Wrap {
    let family = match kind {
        "THM" | "FIS" => Obligation::Assertion,
        "VAR" | "NAT" | "FIN" => Obligation::Variant,
        _ => Obligation::Refinement,
    };
    let label = format!("{place} / {what} / {kind}");
    let span = pred.span;
    Wrap::Assert(family, node(ExprKind::Label(label.into(), Box::new(pred)), span))
}

impl<'a> Lockstep<'a> {
    pub fn new(levels: &'a [Machine], theorems: bool, variants: bool) -> Self {
        Lockstep { levels, theorems, variants, asked: RefCell::default() }
    }

    /// The substitution of an event of the checked machine, guards included.
    pub fn event(&self, event: &Event) -> Stmt {
        self.asked.borrow_mut().clear();
        // Which new values must be named is only known at the end, so the work is repeated until no
        // further one is asked for; each round adds at least one name.
        let body = loop {
            let before = self.asked.borrow().len();
            let body = self.up(0, event, self.concrete(event), &Renaming::new());
            if self.asked.borrow().len() == before {
                break body;
            }
        };
        let guards: Vec<Expr> = event.guards.iter().filter(|g| !g.theorem).map(|g| g.expr.clone()).collect();
        if guards.is_empty() {
            return body;
        }
        let span = guards[0].span;
        stmt(StmtKind::Select(vec![(conjunction(guards, span), body)], None), span)
    }

    /// `M2 / evt`
    fn place(&self, level: usize, event: &Event) -> String {
        format!("{} / {}", self.levels[level].name, event.name)
    }

    fn concrete(&self, event: &Event) -> Frame {
        let mut frame = Frame::default();
        frame.taken.extend(event.params.iter().map(|p| p.name.clone()));
        if self.theorems {
            for guard in event.guards.iter().filter(|g| g.theorem) {
                frame.wraps.push(obligation(&self.place(0, event), &guard.label, "THM", guard.expr.clone()));
            }
        }
        for action in &event.actions {
            let names = assigned(&action.stmt);
            let asked = names.iter().any(|n| self.asked.borrow().contains(n));
            match &action.stmt.kind {
                StmtKind::Assign(targets, values) => {
                    for (target, value) in targets.iter().zip(values) {
                        frame.assign(target, value, &self.asked.borrow());
                    }
                }
                _ if asked => {
                    self.owe_outcome(event, action, &mut frame);
                    let locals: Vec<Ident> =
                        names.iter().map(|n| Ident { name: primed(n), span: action.stmt.span }).collect();
                    let mut relation = before_after(&action.stmt);
                    name_primes(&mut relation, &|n| names.contains(n).then(|| primed(n)));
                    frame.wraps.push(Wrap::Any(locals, typed_as(&names, relation)));
                    for name in &names {
                        frame.take_local(name, action.stmt.span);
                    }
                }
                _ => {
                    self.owe_outcome(event, action, &mut frame);
                    frame.unnamed.extend(names);
                    frame.others.push(as_classical(&action.stmt, event.name.as_ref() == INITIALISATION));
                }
            }
        }
        frame
    }

    /// The action must have an outcome.
    fn owe_outcome(&self, event: &Event, action: &Action, frame: &mut Frame) {
        if let Some(pred) = feasible(action) {
            frame.wraps.push(obligation(&self.place(0, event), &action.label, "FIS", pred));
        }
    }

    /// Adds what the levels above `level` have to say about `event` of that level.
    fn up(&self, level: usize, event: &Event, mut frame: Frame, renaming: &Renaming) -> Stmt {
        if self.variants && event.name.as_ref() != INITIALISATION {
            self.decrease(level, event, &mut frame);
        }
        let Some(above) = self.levels.get(level + 1) else { return frame.finish(event.span) };
        let find = |name: &Name| above.events.iter().find(|e| e.name == *name);
        let refined: Vec<&Event> = if event.name.as_ref() == INITIALISATION {
            find(&event.name).into_iter().collect()
        } else {
            event.refines.iter().filter_map(|r| find(&r.name)).collect()
        };
        match refined.as_slice() {
            [] => {
                if event.name.as_ref() != INITIALISATION {
                    self.untouched(level, event, &BTreeSet::new(), &mut frame);
                }
                frame.finish(event.span)
            }
            [only] => self.refine(level, event, only, frame, renaming, Guards::Check),
            several => {
                // A merge: one of the abstract events must be possible, and one that is happens too.
                let possible: Vec<Expr> =
                    several.iter().map(|a| self.possible(event, a, &frame, renaming)).collect();
                let names: Vec<&str> = several.iter().map(|a| a.name.as_ref()).collect();
                let either = node(ExprKind::Or(possible), event.span);
                frame.wraps.push(obligation(&self.place(level, event), &names.join(", "), "MRG", either));
                let outer = std::mem::take(&mut frame.wraps);
                // Which one happens makes no difference when they do the same at this level and above.
                let same = several.windows(2).all(|w| same_effect(w[0], w[1]));
                let body = if same {
                    self.refine(level, event, several[0], frame, renaming, Guards::Known)
                } else {
                    let branch =
                        |a: &&Event| self.refine(level, event, a, frame.clone(), renaming, Guards::Select);
                    stmt(StmtKind::Choice(several.iter().map(branch).collect()), event.span)
                };
                wrap_all(outer, body)
            }
        }
    }

    /// Whether an abstract event could happen along with `event`: its guards hold for parameters that
    /// the witnesses allow.
    fn possible(&self, event: &Event, base: &Event, frame: &Frame, renaming: &Renaming) -> Expr {
        let vanished: Vec<Ident> =
            base.params.iter().filter(|p| !event.params.iter().any(|q| q.name == p.name)).cloned().collect();
        let witnesses = vanished.iter().filter_map(|p| witness_for(event, &p.name));
        let guards = base.guards.iter().filter(|g| !g.theorem);
        let mut pred = conjunction(witnesses.chain(guards).map(|f| f.expr.clone()).collect(), event.span);
        let mut names = renaming.clone();
        names.retain(|name, _| !vanished.iter().any(|v| v.name == *name));
        replace(&mut pred, &names);
        self.settle_primes(&mut pred, frame);
        if vanished.is_empty() {
            return pred;
        }
        node(ExprKind::Quant(Quant::Exists, vanished, Box::new(pred)), event.span)
    }

    /// `event` of `level` against the abstract event `base` that it refines.
    fn refine(
        &self,
        level: usize,
        event: &Event,
        base: &Event,
        mut frame: Frame,
        renaming: &Renaming,
        role: Guards,
    ) -> Stmt {
        let above = &self.levels[level + 1];
        let place = self.place(level, event);
        let mut of_base = Renaming::new();
        let mut vanished: Vec<(Name, Ident)> = Vec::new();
        for param in &base.params {
            if event.params.iter().any(|p| p.name == param.name) {
                if let Some(value) = renaming.get(&param.name) {
                    of_base.insert(param.name.clone(), value.clone());
                }
                continue;
            }
            let clash = frame.taken.contains(&param.name)
                || self.levels[..=level].iter().any(|m| variables_of(m).any(|v| *v == param.name));
            let name: Name =
                if clash { format!("{}.{}", above.name, param.name).into() } else { param.name.clone() };
            frame.taken.insert(name.clone());
            if clash {
                of_base.insert(param.name.clone(), ident(&name, param.span));
            }
            vanished.push((param.name.clone(), Ident { name, span: param.span }));
        }
        let mut witness_names = renaming.clone();
        witness_names.extend(of_base.iter().map(|(k, v)| (k.clone(), v.clone())));
        let guards: Vec<&Formula> = base.guards.iter().filter(|g| !g.theorem).collect();
        let mut loose: Vec<(Name, Ident)> = Vec::new();
        let mut unbound: BTreeSet<Name> = vanished.iter().map(|(param, _)| param.clone()).collect();
        for (param, local) in vanished {
            match witness_for(event, &param) {
                Some(witness) => {
                    let mut pred = witness.expr.clone();
                    replace(&mut pred, &witness_names);
                    self.settle_primes(&mut pred, &frame);
                    unbound.remove(&param);
                    let about = |g: &&&Formula| {
                        let names = free(&g.expr);
                        names.contains(&param) && names.is_disjoint(&unbound)
                    };
                    let mut types: Vec<Expr> = guards.iter().filter(about).map(|g| g.expr.clone()).collect();
                    types.iter_mut().for_each(|guard| replace(guard, &of_base));
                    let types = types.into_iter().map(types_of).collect();
                    self.bind(local, types, pred, witness, &place, &mut frame);
                }
                None => loose.push((param, local)),
            }
        }
        let mut chosen: BTreeSet<Name> = BTreeSet::new();
        if !loose.is_empty() {
            // Without a witness any abstract choice will do, but there must be one.
            let locals: Vec<Ident> = loose.iter().map(|(_, local)| local.clone()).collect();
            chosen.extend(loose.iter().map(|(param, _)| param.clone()));
            let about = guards.iter().filter(|g| !free(&g.expr).is_disjoint(&chosen));
            let mut pred = conjunction(about.map(|g| g.expr.clone()).collect(), base.span);
            replace(&mut pred, &of_base);
            let exists =
                node(ExprKind::Quant(Quant::Exists, locals.clone(), Box::new(pred.clone())), base.span);
            frame.wraps.push(obligation(&place, &base.name, "GRD", exists));
            frame.wraps.push(Wrap::Any(locals, pred));
        }
        for guard in guards.iter().filter(|_| role != Guards::Known) {
            let renamed = !of_base.is_empty() && free(&guard.expr).iter().any(|n| of_base.contains_key(n));
            let stated = !renamed && event.guards.iter().any(|g| g.expr == guard.expr);
            if stated || !free(&guard.expr).is_disjoint(&chosen) {
                continue;
            }
            let mut pred = guard.expr.clone();
            replace(&mut pred, &of_base);
            frame.wraps.push(match role {
                Guards::Select => Wrap::Select(pred),
                _ => obligation(&place, &guard.label, "GRD", pred),
            });
        }
        self.simulate(level, event, base, &of_base, &witness_names, &mut frame);
        self.up(level + 1, base, frame, &of_base)
    }

    /// The abstract actions: run for vanished variables, checked for kept ones.
    fn simulate(
        &self,
        level: usize,
        event: &Event,
        base: &Event,
        of_base: &Renaming,
        witness_names: &Renaming,
        frame: &mut Frame,
    ) {
        let kept = |name: &Name| variables_of(&self.levels[level]).any(|v| v == name);
        let place = self.place(level, event);
        let mut touched = BTreeSet::new();
        for action in &base.actions {
            let names = assigned(&action.stmt);
            touched.extend(names.iter().cloned());
            let stated = of_base.is_empty()
                && names.iter().all(&kept)
                && event.actions.iter().any(|a| a.stmt == action.stmt);
            if stated {
                continue;
            }
            let mut base_stmt = action.stmt.clone();
            replace_in_action(&mut base_stmt, of_base);
            if let StmtKind::Assign(targets, values) = &base_stmt.kind {
                for (target, value) in targets.iter().zip(values) {
                    let Some(name) = target_name(target) else { continue };
                    if !kept(name) {
                        frame.assign(target, value, &self.asked.borrow());
                        continue;
                    }
                    let wanted = whole_value(target, value);
                    if frame.after.get(name) == Some(&wanted) {
                        continue;
                    }
                    let after = self.after(name, frame, target.span);
                    if after != wanted {
                        let pred = binary(BinOp::Equal, after, wanted);
                        frame.wraps.push(obligation(&place, &action.label, "SIM", pred));
                    }
                }
                continue;
            }
            let mut free_choice = Vec::new();
            for name in names.iter().filter(|n| !kept(n)) {
                let local = Ident { name: primed(name), span: base_stmt.span };
                match witness_for(event, &local.name) {
                    Some(witness) => {
                        let mut pred = witness.expr.clone();
                        replace(&mut pred, witness_names);
                        name_primes(&mut pred, &|n| (n == name).then(|| primed(n)));
                        self.settle_primes(&mut pred, frame);
                        let span = pred.span;
                        let types = vec![typed_as(std::slice::from_ref(name), conjunction(vec![], span))];
                        self.bind(local, types, pred, witness, &place, frame);
                        frame.take_local(name, base_stmt.span);
                    }
                    None => free_choice.push(name.clone()),
                }
            }
            let mut relation = before_after(&base_stmt);
            name_primes(&mut relation, &|n| free_choice.contains(n).then(|| primed(n)));
            self.settle_primes(&mut relation, frame);
            if free_choice.is_empty() {
                frame.wraps.push(obligation(&place, &action.label, "SIM", relation));
                continue;
            }
            let relation = typed_as(&free_choice, relation);
            let locals: Vec<Ident> =
                free_choice.iter().map(|n| Ident { name: primed(n), span: base_stmt.span }).collect();
            // Without a witness any abstract choice will do, but there must be one.
            let exists = node(
                ExprKind::Quant(Quant::Exists, locals.clone(), Box::new(relation.clone())),
                base_stmt.span,
            );
            if !unbounded(&free_choice, &relation) {
                frame.wraps.push(obligation(&place, &action.label, "SIM", exists));
            }
            frame.wraps.push(Wrap::Any(locals, relation));
            for name in &free_choice {
                frame.take_local(name, base_stmt.span);
            }
        }
        if event.name.as_ref() != INITIALISATION {
            self.untouched(level, event, &touched, frame);
        }
    }

    /// Variables of the level above that the event changes but the abstract event does not.
    fn untouched(&self, level: usize, event: &Event, touched: &BTreeSet<Name>, frame: &mut Frame) {
        let names: Vec<Name> = variables_of(&self.levels[level + 1])
            .filter(|v| !touched.contains(*v) && variables_of(&self.levels[level]).any(|w| w == *v))
            .filter(|v| frame.after.contains_key(*v) || frame.unnamed.contains(*v))
            .cloned()
            .collect();
        for name in names {
            let after = self.after(&name, frame, event.span);
            let pred = binary(BinOp::Equal, after, ident(&name, event.span));
            frame.wraps.push(obligation(&self.place(level, event), &name, "EQL", pred));
        }
    }

    /// What the event owes to the variants of its level.
    fn decrease(&self, level: usize, event: &Event, frame: &mut Frame) {
        let machine = &self.levels[level];
        for variant in &machine.variants {
            let changed = |name: &Name| frame.after.contains_key(name) || frame.unnamed.contains(name);
            let mut after = |name: &Name| changed(name).then(|| self.after(name, frame, variant.expr.span));
            let owed = conditions(&variant.expr, event.convergence, self.levels, &mut after);
            let place = self.place(level, event);
            frame
                .wraps
                .extend(owed.into_iter().map(|(kind, pred)| obligation(&place, &variant.label, kind, pred)));
        }
    }

    /// The value of a variable after the event.
    fn after(&self, name: &Name, frame: &Frame, span: Span) -> Expr {
        if let Some(value) = frame.after.get(name) {
            if may_lack_a_type(value) {
                self.asked.borrow_mut().insert(name.clone());
            }
            return Expr { kind: value.kind.clone(), span };
        }
        if frame.unnamed.contains(name) {
            self.asked.borrow_mut().insert(name.clone());
        }
        ident(name, span)
    }

    /// Replaces every `x'` that is still there by the value of `x` after the event.
    fn settle_primes(&self, e: &mut Expr, frame: &Frame) {
        visit(e, &mut |leaf| {
            if let ExprKind::Primed(name) = &leaf.kind {
                let name = name.clone();
                *leaf = self.after(&name, frame, leaf.span);
            }
        });
    }

    /// Binds a local by its witness: by an equation where it is one, by search otherwise. `types` tell its type.
    fn bind(
        &self,
        local: Ident,
        types: Vec<Expr>,
        pred: Expr,
        witness: &Formula,
        place: &str,
        frame: &mut Frame,
    ) {
        if let Some(value) = solved_for(&pred, &local.name) {
            frame.wraps.push(Wrap::Let(local, value));
            return;
        }
        let span = pred.span;
        let pred = conjunction(types.into_iter().chain([pred]).collect(), span);
        let exists =
            node(ExprKind::Quant(Quant::Exists, vec![local.clone()], Box::new(pred.clone())), pred.span);
        frame.wraps.push(obligation(place, &witness.label, "WFIS", exists));
        frame.wraps.push(Wrap::Any(vec![local], pred));
    }
}

impl Frame {
    /// A value that was `asked` for by name gets one: a local `x'`.
    fn assign(&mut self, target: &Expr, value: &Expr, asked: &BTreeSet<Name>) {
        if let ExprKind::Ident(name) = &target.kind
            && asked.contains(name)
        {
            let local = Ident { name: primed(name), span: target.span };
            self.wraps.push(Wrap::Let(local, value.clone()));
            self.take_local(name, target.span);
            return;
        }
        if let Some(name) = target_name(target) {
            self.after.insert(name.clone(), whole_value(target, value));
        }
        self.targets.push(target.clone());
        self.values.push(value.clone());
    }

    /// The variable takes the value of the local `x'`.
    fn take_local(&mut self, name: &Name, span: Span) {
        let local = ident(&primed(name), span);
        self.after.insert(name.clone(), local.clone());
        self.targets.push(ident(name, span));
        self.values.push(local);
    }

    fn finish(self, span: Span) -> Stmt {
        let mut parts = Vec::new();
        if !self.targets.is_empty() {
            let span = self.targets[0].span;
            parts.push(stmt(StmtKind::Assign(self.targets, self.values), span));
        }
        parts.extend(self.others);
        let body = match parts.len() {
            0 => stmt(StmtKind::Skip, span),
            1 => parts.remove(0),
            _ => stmt(StmtKind::Par(parts), span),
        };
        wrap_all(self.wraps, body)
    }
}

/// Whether a value may have to be told its type by what it is compared with, as `∅` and `id` have. What an action assigns is of
/// the type of its variable, but where the value stands for `x'` in a predicate nothing says so.
fn may_lack_a_type(value: &Expr) -> bool {
    let open = matches!(
        &value.kind,
        ExprKind::Const(Const::EmptySet | Const::EmptySeq | Const::Id | Const::Prj1 | Const::Prj2)
    );
    open || parts(&mut value.clone()).into_iter().any(|part| may_lack_a_type(part))
}

fn wrap_all(wraps: Vec<Wrap>, body: Stmt) -> Stmt {
    wraps.into_iter().rev().fold(body, |body, wrap| {
        let span = body.span;
        let body = Box::new(body);
        match wrap {
            Wrap::Any(names, pred) => stmt(StmtKind::Any(names, pred, body), span),
            Wrap::Let(name, value) => {
                let equation = binary(BinOp::Equal, ident(&name.name, name.span), value);
                stmt(StmtKind::Let(vec![name], equation, body), span)
            }
            Wrap::Assert(family, pred) => {
                let span = pred.span;
                stmt(StmtKind::Assert(family, pred, body), span)
            }
            Wrap::Select(pred) => {
                let span = pred.span;
                stmt(StmtKind::Select(vec![(pred, *body)], None), span)
            }
        }
    })
}

fn same_effect(a: &Event, b: &Event) -> bool {
    a.params == b.params
        && a.refines == b.refines
        && a.convergence == b.convergence
        && a.actions.len() == b.actions.len()
        && a.actions.iter().all(|x| b.actions.iter().any(|y| x.stmt == y.stmt))
}

/// The witness of a parameter `p` or variable `v'`; one that does not speak of it says nothing.
fn witness_for<'a>(event: &'a Event, name: &Name) -> Option<&'a Formula> {
    event.witnesses.iter().find(|w| w.label == *name && free(&w.expr).contains(name))
}

/// The value if the predicate is `x = E` or `E = x`, and `x` does not occur in `E`.
fn solved_for(pred: &Expr, name: &Name) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Equal, left, right) = &pred.kind else { return None };
    let is = |e: &Expr| matches!(&e.kind, ExprKind::Ident(x) if x == name);
    match (is(left), is(right)) {
        (true, false) if !free(right).contains(name) => Some((**right).clone()),
        (false, true) if !free(left).contains(name) => Some((**left).clone()),
        _ => None,
    }
}
