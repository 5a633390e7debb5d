//! Instances: events with their parameters fixed, their guards, and the cells they touch.
//!
//! In: the machine, the possible values of parameters. Out: a list of instances and of guards. An
//! event whose parameters have too many values, or whose transitions cannot be told apart by their
//! parameters, stays one instance; then a conjunct about a parameter is no guard by itself.

use super::cells::{Cell, Cells, Touch, Tracer};
use super::facts::Fact;
use super::prove::Prover;
use crate::carrier::Carrier;
use crate::lower::{Alternative, alternatives};
use crate::uses::Uses;
use bombus_base::Span;
use bombus_lang::typed::{
    BinOp, Expr, ExprKind, Machine, Operation, Pred, PredKind, RelOp, SetId, Stmt, StmtKind, Type, UnOp,
    VarId,
};
use bombus_lang::value::Value;
use bombus_lang::walk::{Change, change_pred, change_stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Instances of one event, and of all.
pub const MOST_OF_ONE: usize = 256;
pub const MOST: usize = 1024;

pub struct Guard {
    pub event: usize,
    pub reads: Cells,
    pub fact: Option<Fact>,
    /// The condition itself, if it can be asked for.
    pub pred: Option<Pred>,
}

pub struct Instance {
    pub event: usize,
    /// Values of the parameters; `None` for a whole event.
    pub params: Option<Vec<Value>>,
    /// Indices of guards.
    pub guards: Vec<usize>,
    /// Which guards are about what is chosen inside, not about the instance as a whole.
    pub inner: Vec<usize>,
    pub touch: Touch,
    pub may_fail: bool,
}

#[derive(Default)]
pub struct Grounded {
    pub instances: Vec<Instance>,
    pub guards: Vec<Guard>,
}

/// The values a parameter can have, if they are few and known; by event and parameter.
pub struct Domains<'d> {
    pub machine: &'d Machine,
    pub tracer: &'d Tracer<'d>,
    /// Values of a set over constants.
    pub set_value: &'d dyn Fn(&Expr) -> Option<Value>,
    pub prover: &'d Prover<'d>,
}

impl Domains<'_> {
    /// Values of all parameters of an operation.
    fn of(&self, op: &Operation, alternatives: &[Alternative<'_>]) -> Option<Vec<Vec<Value>>> {
        op.params
            .iter()
            .map(|p| {
                let mut all: BTreeSet<Value> = BTreeSet::new();
                for a in alternatives {
                    all.extend(self.in_alternative(*p, &a.conjuncts)?);
                }
                (all.len() <= MOST_OF_ONE).then(|| all.into_iter().collect())
            })
            .collect()
    }

    fn in_alternative(&self, p: VarId, conjuncts: &[Pred]) -> Option<Vec<Value>> {
        let is_it = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if v == p);
        let mut best = self.of_type(&self.machine.var(p).ty);
        for c in conjuncts {
            let PredKind::Rel(op, a, b) = &c.kind else { continue };
            let found = match op {
                RelOp::In if is_it(a) => self.superset(b, 4),
                RelOp::Equal if is_it(a) => self.values(b, 4),
                RelOp::Equal if is_it(b) => self.values(a, 4),
                _ => None,
            };
            if let Some(found) = found
                && best.as_ref().is_none_or(|b| found.len() < b.len())
            {
                best = Some(found);
            }
        }
        best.filter(|all| all.iter().all(|v| literal(v, &Type::Any, Span::default()).is_some()))
    }

    pub fn of_type(&self, ty: &Type) -> Option<Vec<Value>> {
        let c = Carrier::of_type(ty, &|s: SetId| self.machine.set(s).elems.len())?;
        (c.is_whole_type() && c.card() <= MOST_OF_ONE)
            .then(|| (0..c.card()).map(|code| c.value(code)).collect())
    }

    /// All values that an expression can have.
    fn values(&self, e: &Expr, depth: u32) -> Option<Vec<Value>> {
        if let Some(v) = (self.tracer.fold)(e) {
            return Some(vec![v]);
        }
        if let Some(all) = self.of_type(&e.ty) {
            return Some(all);
        }
        let depth = depth.checked_sub(1)?;
        match &e.kind {
            ExprKind::Var(v) => self.homes(*v, false).iter().find_map(|set| self.superset(set, depth)),
            _ => None,
        }
    }

    /// All values that an element of a set can have.
    fn superset(&self, set: &Expr, depth: u32) -> Option<Vec<Value>> {
        let state = |e: &Expr| Uses::of_expr(e).all().iter().any(|v| self.tracer.state.contains(v));
        if !state(set)
            && let Some(Value::Set(all)) = (self.set_value)(set)
            && all.len() <= MOST_OF_ONE
        {
            return Some(all.to_vec());
        }
        let depth = depth.checked_sub(1)?;
        let found = match &set.kind {
            ExprKind::SetExt(es) => {
                let mut all = Vec::new();
                for e in es {
                    all.extend(self.values(e, depth)?);
                }
                Some(all)
            }
            ExprKind::Binary(BinOp::SetMinus, a, _) => self.superset(a, depth),
            ExprKind::Binary(BinOp::Inter, a, b) => {
                self.superset(a, depth).or_else(|| self.superset(b, depth))
            }
            ExprKind::Binary(BinOp::Union, a, b) => {
                let mut all = self.superset(a, depth)?;
                all.extend(self.superset(b, depth)?);
                Some(all)
            }
            ExprKind::Unary(side @ (UnOp::Dom | UnOp::Ran), f) => match f.kind {
                ExprKind::Var(v) => self.homes(v, false).iter().find_map(|space| match &space.kind {
                    ExprKind::Binary(_, a, b) if matches!(space.ty, Type::Pow(_)) && is_relations(space) => {
                        self.superset(if *side == UnOp::Dom { a } else { b }, depth)
                    }
                    _ => None,
                }),
                _ => None,
            },
            ExprKind::Var(v) => {
                self.homes(*v, true).iter().find_map(|set| self.superset(set, depth)).or_else(|| {
                    self.homes(*v, false).iter().find_map(|space| match &space.kind {
                        ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, of) => {
                            self.superset(of, depth)
                        }
                        _ => None,
                    })
                })
            }
            _ => None,
        };
        found.or_else(|| match &set.ty {
            Type::Pow(t) => self.of_type(t),
            _ => None,
        })
    }

    /// What a cell can hold, if that is little and known; `None` for a row or element that is not there.
    pub fn contents(&self, cell: &Cell) -> Option<Vec<Option<Value>>> {
        const MOST_OF_A_CELL: usize = 32;
        let ty = &self.machine.var(cell.var).ty;
        let variable = Expr { kind: ExprKind::Var(cell.var), ty: ty.clone(), span: Span::default() };
        let few = |all: Vec<Value>| {
            let all: BTreeSet<Value> = all.into_iter().collect();
            (all.len() <= MOST_OF_A_CELL).then(|| all.into_iter().map(Some).collect::<Vec<_>>())
        };
        match (&cell.row, &cell.column, ty) {
            (None, _, Type::Pow(_)) => {
                let all = self.superset(&variable, 4).filter(|all| all.len() <= 4)?;
                let subsets = (0..1u32 << all.len()).map(|bits| {
                    let chosen = all.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0);
                    Value::set(chosen.map(|(_, v)| v.clone()).collect())
                });
                few(subsets.collect())
            }
            (None, ..) => few(self.values(&variable, 4)?),
            (Some(row), None, Type::Pow(t)) if matches!(**t, Type::Prod(..)) => {
                self.homes(cell.var, false).into_iter().find_map(|space| {
                    let ExprKind::Binary(op, from, to) = &space.kind else { return None };
                    let total = match op {
                        BinOp::TotalFunction
                        | BinOp::TotalInjection
                        | BinOp::TotalSurjection
                        | BinOp::TotalBijection => true,
                        BinOp::PartialFunction
                        | BinOp::PartialInjection
                        | BinOp::PartialSurjection
                        | BinOp::PartialBijection => false,
                        _ => return None,
                    };
                    let mut all = few(self.superset(to, 4)?)?;
                    if !total || !self.is_member(row, from) {
                        all.push(None);
                    }
                    Some(all)
                })
            }
            (Some(_), None, Type::Pow(_)) => Some(vec![None, Some(Value::Bool(true))]),
            _ => None,
        }
    }

    /// Whether a value belongs to a set in every state.
    fn is_member(&self, value: &Value, set: &Expr) -> bool {
        let fixed = Uses::of_expr(set).all().iter().all(|v| !self.tracer.state.contains(v));
        fixed && matches!((self.set_value)(set), Some(Value::Set(all)) if all.contains(value))
    }

    /// What is granted about a variable: sets it is an element of, or a subset of.
    fn homes(&self, v: VarId, subset: bool) -> Vec<&Expr> {
        self.prover.granted.iter().filter(|b| b.var == v && b.subset == subset).map(|b| &b.set).collect()
    }
}

fn is_relations(set: &Expr) -> bool {
    matches!(&set.kind, ExprKind::Binary(op, ..) if op.arrow().is_some())
}

/// Takes all events apart. `whole` keeps each event one instance.
pub fn ground(domains: &Domains<'_>, whole: bool) -> Grounded {
    let machine = domains.machine;
    let mut out = Grounded::default();
    let mut counts: Vec<usize> = Vec::new();
    let mut spaces: Vec<Option<Vec<Vec<Value>>>> = Vec::new();
    for op in &machine.events {
        let op = machine.op(*op);
        let all = alternatives(&op.params, &op.body);
        // Results make labels that parameters alone do not tell.
        let space = if whole || !op.results.is_empty() { None } else { domains.of(op, &all) };
        let count = |s: &Vec<Vec<Value>>| s.iter().fold(1usize, |n, d| n.saturating_mul(d.len()));
        let space = space.filter(|s| count(s) <= MOST_OF_ONE);
        counts.push(space.as_ref().map_or(1, count));
        spaces.push(space);
    }
    // Too many in all: the largest ones stay whole.
    while counts.iter().sum::<usize>() > MOST {
        let Some(most) = (0..counts.len()).max_by_key(|e| counts[*e]) else { break };
        counts[most] = 1;
        spaces[most] = None;
    }
    for (event, space) in spaces.into_iter().enumerate() {
        out.event(domains, event, space);
    }
    out
}

impl Grounded {
    fn event(&mut self, domains: &Domains<'_>, event: usize, space: Option<Vec<Vec<Value>>>) {
        let op = domains.machine.op(domains.machine.events[event]);
        let all = alternatives(&op.params, &op.body);
        let mut known: BTreeMap<(usize, Vec<Value>), usize> = BTreeMap::new();
        match space {
            None => self.instance(domains, event, op, &all, None, &mut known),
            Some(space) => {
                for values in product(&space) {
                    self.instance(domains, event, op, &all, Some(values), &mut known);
                }
            }
        }
    }

    fn instance(
        &mut self,
        domains: &Domains<'_>,
        event: usize,
        op: &Operation,
        all: &[Alternative<'_>],
        params: Option<Vec<Value>>,
        known: &mut BTreeMap<(usize, Vec<Value>), usize>,
    ) {
        let tracer = domains.tracer;
        let given: BTreeMap<VarId, Value> =
            op.params.iter().copied().zip(params.iter().flatten().cloned()).collect();
        let mut put = Put { given: &given, machine: domains.machine };
        // Conjuncts that stand at the front of all alternatives belong to the event. Their places do not
        // tell: what an ELSE denies stands where the condition stands, and so does a definition that is
        // used with other arguments.
        let common = match all {
            [] => 0,
            [first, rest @ ..] => (0..first.conjuncts.len())
                .take_while(|i| rest.iter().all(|a| a.conjuncts.get(*i) == Some(&first.conjuncts[*i])))
                .count(),
        };
        let mut guards = Vec::new();
        let mut touch = Touch::default();
        let mut rest = Cells::new();
        let mut has_rest = all.len() != 1;
        let mut may_fail = !op.results.is_empty();
        for (nth, a) in all.iter().enumerate() {
            let open = |p: &Pred| {
                let reads = Uses::of_pred(p).all();
                a.vars.iter().any(|v| reads.contains(v) && !given.contains_key(v))
            };
            for (i, c) in a.conjuncts.iter().enumerate() {
                if i < common && nth > 0 {
                    continue;
                }
                let mut p = c.clone();
                change_pred(&mut p, &mut put);
                if i < common && !open(c) {
                    let reads = Uses::of_pred(c).all();
                    let used: Vec<Value> =
                        given.iter().filter(|(v, _)| reads.contains(v)).map(|(_, x)| x.clone()).collect();
                    let changed = !used.is_empty();
                    let at = *known.entry((i, used)).or_insert_with(|| {
                        let mut reads = Cells::new();
                        tracer.pred(&p, &mut reads);
                        // Plans of quantifiers are remembered by their variables, so a formula with
                        // a binder may not be asked for with several values put into it.
                        let binds = Uses::of_pred(&p).binds();
                        let fact = Fact::of(&p, tracer);
                        let pred = (!(changed && binds)).then(|| p.clone());
                        self.guards.push(Guard { event, reads, fact, pred });
                        self.guards.len() - 1
                    });
                    if !guards.contains(&at) {
                        guards.push(at);
                    }
                } else {
                    has_rest = true;
                    tracer.pred(&p, &mut rest);
                }
            }
            let mut body = a.body.clone();
            change_stmt(&mut body, &mut put);
            let mut part = Touch::default();
            tracer.stmt(&body, &mut part);
            if may_be_infeasible(&body) {
                has_rest = true;
                rest.extend(part.reads.iter().cloned());
            }
            let context: Vec<&Pred> = a.conjuncts.iter().collect();
            may_fail |= domains.prover.may_fail(a.body, &context);
            touch.reads.append(&mut part.reads);
            for (cell, contents) in part.writes {
                match touch.writes.get_mut(&cell) {
                    None => {
                        touch.writes.insert(cell, contents);
                    }
                    Some(before) => {
                        *before = match (before.take(), contents) {
                            (Some(mut a), Some(b)) => {
                                a.extend(b);
                                Some(a)
                            }
                            _ => None,
                        }
                    }
                }
            }
        }
        let mut inner = Vec::new();
        if has_rest {
            // What is chosen inside depends on what is read there: it is part of the effect.
            touch.reads.extend(rest.iter().cloned());
            self.guards.push(Guard { event, reads: rest, fact: None, pred: None });
            inner.push(self.guards.len() - 1);
            guards.push(self.guards.len() - 1);
        }
        self.instances.push(Instance { event, params, guards, inner, touch, may_fail });
    }
}

/// Whether a substitution may have no outcome at all.
fn may_be_infeasible(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Skip | StmtKind::Assign(_) | StmtKind::External(..) => false,
        StmtKind::Pre(_, s)
        | StmtKind::Assert(_, _, s)
        | StmtKind::Witness(_, s)
        | StmtKind::Let(_, s)
        | StmtKind::Var(_, s) => may_be_infeasible(s),
        StmtKind::Seq(all) | StmtKind::Par(all) => all.iter().any(may_be_infeasible),
        StmtKind::If(branches, other) => {
            branches.iter().any(|(_, s)| may_be_infeasible(s)) || other.iter().any(|s| may_be_infeasible(s))
        }
        StmtKind::Case(_, branches, other) => {
            branches.iter().any(|(_, s)| may_be_infeasible(s)) || other.iter().any(|s| may_be_infeasible(s))
        }
        StmtKind::BecomesIn(..)
        | StmtKind::BecomesSuch(..)
        | StmtKind::Choice(_)
        | StmtKind::Select(..)
        | StmtKind::Any(..)
        | StmtKind::While { .. }
        | StmtKind::Call { .. } => true,
    }
}

pub fn product(space: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for domain in space {
        all = all
            .into_iter()
            .flat_map(|prefix| {
                domain.iter().map(move |v| {
                    let mut next = prefix.clone();
                    next.push(v.clone());
                    next
                })
            })
            .collect();
    }
    all
}

/// Puts values in the place of parameters.
pub struct Put<'p> {
    pub given: &'p BTreeMap<VarId, Value>,
    pub machine: &'p Machine,
}

impl Change for Put<'_> {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::Var(v) = e.kind
            && let Some(value) = self.given.get(&v)
            && let Some(kind) = literal(value, &self.machine.var(v).ty, e.span)
        {
            e.kind = kind;
        }
    }
}

/// A value as an expression: numbers, elements, truth values and pairs of them.
pub fn literal(v: &Value, ty: &Type, span: Span) -> Option<ExprKind> {
    Some(match v {
        Value::Bool(b) => ExprKind::Bool(*b),
        Value::Int(n) => ExprKind::Int(n.clone()),
        Value::Elem(s, n) => ExprKind::Elem(*s, *n),
        Value::Pair(p) => {
            let (a, b) = match ty {
                Type::Prod(a, b) => ((**a).clone(), (**b).clone()),
                _ => (Type::Any, Type::Any),
            };
            let part = |v: &Value, ty: Type| {
                literal(v, &ty, span).map(|kind| Box::new(Expr { kind, ty: ty.clone(), span }))
            };
            ExprKind::Pair(part(&p.0, a)?, part(&p.1, b)?)
        }
        _ => return None,
    })
}
