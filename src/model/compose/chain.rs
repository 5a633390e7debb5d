//! The refinement chain of the main machine, put together for the lock-step check.
//!
//! In: the composed instances with settled operations. Out: a `Refinement`: one machine over the variables of all
//! levels, the initialisation of each level, and for each event the operations it refines.
//! Never here: what lock-step means (`reference::lockstep`), conjuncts (`assemble` sorts them).

use super::{Composer, InstanceId};
use crate::refinement::{Followed, Level, Refined, Refinement, Role, precondition};
use bombus_base::Name;
use bombus_lang::typed::{
    Clause, Expr, ExprKind, Machine, OpId, Operation, Pred, PredKind, Stmt, StmtKind, Target, VarId,
};
use bombus_lang::walk::{Change, Visit, calls_of, change_stmt, variables_of_pred, visit_stmt};
use std::collections::{BTreeSet, HashMap};

use super::bodies::flatten;

/// The machines that the main machine refines, nearest first, and what they bring into the state.
pub(super) struct Abstractions {
    pub(super) levels: Vec<(InstanceId, Vec<InstanceId>)>,
    pub(super) left_out: Vec<Name>,
    /// The variables of all levels that are followed.
    pub(super) variables: Vec<VarId>,
}

/// What `assemble` keeps for the chain before it drops operations that no event of the main machine reaches.
pub(super) struct Kept {
    pub(super) operations: Vec<Operation>,
    pub(super) events: Vec<OpId>,
    /// Initialisations by instance.
    pub(super) initialisations: HashMap<InstanceId, Stmt>,
    /// Conjuncts of the invariant and assertions that speak of variables of abstractions.
    pub(super) invariant: Vec<Clause>,
    pub(super) assertions: Vec<Clause>,
}

impl Composer<'_> {
    /// The abstractions of the main machine, `None` if it refines nothing.
    pub(super) fn abstractions(&self, main: InstanceId) -> Option<Abstractions> {
        let mut chain = Vec::new();
        let mut next = self.instance(main).refines;
        while let Some(id) = next {
            chain.push(id);
            next = self.instance(id).refines;
        }
        if chain.is_empty() {
            return None;
        }
        let kept = self.settings.abstract_levels.unwrap_or(usize::MAX).min(chain.len());
        let left_out = chain.split_off(kept);
        let levels: Vec<(InstanceId, Vec<InstanceId>)> =
            chain.into_iter().map(|id| (id, self.animated(id))).collect();
        let mut variables = Vec::new();
        for (_, instances) in &levels {
            for var in self.variables_of(instances) {
                if !variables.contains(&var) {
                    variables.push(var);
                }
            }
        }
        let left_out = left_out.into_iter().map(|id| self.machine_name(id)).collect();
        Some(Abstractions { levels, left_out, variables })
    }

    fn machine_name(&self, id: InstanceId) -> Name {
        self.project.get(self.instance(id).machine).tree.name.name.clone()
    }

    /// The variables that instances bring into the state; one that an imported variable stands for is that one.
    fn variables_of(&self, instances: &[InstanceId]) -> Vec<VarId> {
        let mut found = Vec::new();
        for id in instances {
            for var in &self.instance(*id).own {
                let var = self.stands_for(*var);
                if !found.contains(&var) {
                    found.push(var);
                }
            }
        }
        found
    }

    fn stands_for(&self, var: VarId) -> VarId {
        let mut var = var;
        // Each step leads to an instance that was declared later, so the way ends.
        while let Some(new) = self.identified.get(&var) {
            var = *new;
        }
        var
    }

    /// The chain as one machine. `machine` is the main machine as it is animated alone.
    pub(super) fn refinement(
        &self,
        main: InstanceId,
        machine: &Machine,
        chain: Abstractions,
        kept: Kept,
    ) -> Refinement {
        let renamed: HashMap<VarId, VarId> =
            self.identified.keys().map(|old| (*old, self.stands_for(*old))).collect();
        let mut rename = Rename(renamed);
        let Kept { mut operations, events: own_events, mut initialisations, invariant, assertions } = kept;
        operations.iter_mut().for_each(|op| change_stmt(&mut op.body, &mut rename));
        initialisations.values_mut().for_each(|init| change_stmt(init, &mut rename));
        let hidden: Vec<VarId> =
            chain.variables.iter().copied().filter(|v| !machine.variables.contains(v)).collect();
        let levels = chain
            .levels
            .iter()
            .map(|(id, instances)| {
                let parts: Vec<Stmt> =
                    instances.iter().filter_map(|i| initialisations.get(i).cloned()).collect();
                Level {
                    name: self.machine_name(*id),
                    variables: self.variables_of(instances),
                    initialisation: in_sequence(parts),
                }
            })
            .collect();
        let followed: Vec<Followed> = own_events
            .iter()
            .map(|op| self.followed(main, *op, &chain.levels, &operations, &hidden))
            .collect();
        let initialisation =
            in_sequence(self.animated(main).iter().filter_map(|i| initialisations.get(i).cloned()).collect());
        let mut events = own_events;
        for refined in followed.iter().flat_map(|f| &f.refined) {
            if !events.contains(&refined.op) {
                events.push(refined.op);
            }
        }
        let mut whole = machine.clone();
        let (own_variables, own_invariant) = (whole.variables.len(), whole.invariant.len());
        let own_assertions = whole.assertions.len();
        whole.variables.extend(&hidden);
        whole.invariant.extend(invariant);
        whole.assertions.extend(assertions);
        whole.initialisation = initialisation;
        whole.operations = operations;
        whole.events = events;
        Refinement {
            machine: whole,
            own_variables,
            own_invariant,
            own_assertions,
            levels,
            events: followed,
            left_out: chain.left_out,
            missing: self.missing_operations(main),
        }
    }

    /// An event of the main machine with the operations of the levels that it refines.
    fn followed(
        &self,
        main: InstanceId,
        op: OpId,
        levels: &[(InstanceId, Vec<InstanceId>)],
        operations: &[Operation],
        hidden: &[VarId],
    ) -> Followed {
        let body = &operations[op.0 as usize].body;
        let mut found = Followed {
            op,
            precondition: precondition(body),
            refined: Vec::new(),
            role: Role::Own,
            loops_read_abstractions: loops_alone_read(op, operations, hidden),
        };
        let Some((name, _)) = self.instance(main).operations.iter().find(|(_, o)| *o == op) else {
            found.role = Role::Beside;
            return found;
        };
        let (mut at, mut wanted, mut lower) = (main, name.clone(), op);
        for (level, _) in levels {
            if let Some(renamed) = self.refines_by_name(at, lower) {
                wanted = renamed;
            }
            let Some((_, above)) = self.instance(*level).operations.iter().find(|(n, _)| *n == wanted) else {
                break;
            };
            let (a, b) = (&operations[above.0 as usize], &operations[lower.0 as usize]);
            if a.params.len() != b.params.len() || a.results.len() != b.results.len() {
                found.role = Role::OtherParameters;
            }
            found.refined.push(Refined { op: *above, precondition: precondition(&a.body) });
            (at, lower) = (*level, *above);
        }
        found
    }

    /// The operation that an operation of an instance says it refines, if that is called otherwise.
    fn refines_by_name(&self, instance: InstanceId, op: OpId) -> Option<Name> {
        let own = self.instance(instance).own_operations.iter().position(|o| *o == op)?;
        let tree = &self.project.get(self.instance(instance).machine).tree;
        let written = super::declare::written_operations(tree);
        written.get(own)?.refines.as_ref().map(|r| r.name.clone())
    }

    /// Operations of the nearest abstraction that the main machine does not have.
    pub(super) fn missing_operations(&self, main: InstanceId) -> Vec<Name> {
        let Some(above) = self.instance(main).refines else { return Vec::new() };
        let has = |name: &Name| {
            self.instance(main)
                .operations
                .iter()
                .any(|(n, op)| self.refines_by_name(main, *op).as_ref().unwrap_or(n) == name)
        };
        let mut found: Vec<Name> =
            self.instance(above).operations.iter().map(|(n, _)| n.clone()).filter(|n| !has(n)).collect();
        found.dedup();
        found
    }
}

pub(super) fn in_sequence(mut parts: Vec<Stmt>) -> Stmt {
    match parts.len() {
        0 => Stmt { kind: StmtKind::Skip, span: Default::default() },
        1 => parts.remove(0),
        _ => Stmt { span: parts[0].span, kind: StmtKind::Seq(parts) },
    }
}

/// Variables take the place of others, where they are read and where they are written.
struct Rename(HashMap<VarId, VarId>);

impl Rename {
    fn var(&self, v: &mut VarId) {
        if let Some(new) = self.0.get(v) {
            *v = *new;
        }
    }
}

impl Change for Rename {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::Var(v) | ExprKind::Old(v) = &mut e.kind {
            self.var(v);
        }
    }
    fn target(&mut self, t: &mut Target) {
        self.var(&mut t.var);
    }
    fn written(&mut self, vars: &mut Vec<VarId>) {
        vars.iter_mut().for_each(|v| self.var(v));
    }
}

/// Leaves out the conjuncts of loop invariants that speak of variables which are not there; they come back as they
/// were, to be named.
pub(super) fn strip_loops(s: &mut Stmt, absent: &dyn Fn(VarId) -> bool, left: &mut Vec<Pred>) {
    match &mut s.kind {
        StmtKind::While { body, invariant, .. } => {
            let (out, kept): (Vec<Pred>, Vec<Pred>) = flatten(invariant.clone())
                .into_iter()
                .partition(|c| variables_of_pred(c).into_iter().any(absent));
            if !out.is_empty() {
                left.extend(out);
                *invariant = Pred { kind: PredKind::And(kept), span: invariant.span };
            }
            strip_loops(body, absent, left);
        }
        StmtKind::Pre(_, b)
        | StmtKind::Assert(_, _, b)
        | StmtKind::Witness(_, b)
        | StmtKind::Any(_, _, b)
        | StmtKind::Let(_, b)
        | StmtKind::Var(_, b) => strip_loops(b, absent, left),
        StmtKind::Choice(bs) | StmtKind::Seq(bs) | StmtKind::Par(bs) => {
            bs.iter_mut().for_each(|b| strip_loops(b, absent, left));
        }
        StmtKind::If(bs, other) | StmtKind::Select(bs, other) => {
            bs.iter_mut().for_each(|(_, b)| strip_loops(b, absent, left));
            other.iter_mut().for_each(|b| strip_loops(b, absent, left));
        }
        StmtKind::Case(_, bs, other) => {
            bs.iter_mut().for_each(|(_, b)| strip_loops(b, absent, left));
            other.iter_mut().for_each(|b| strip_loops(b, absent, left));
        }
        StmtKind::Skip
        | StmtKind::Assign(_)
        | StmtKind::BecomesIn(..)
        | StmtKind::BecomesSuch(..)
        | StmtKind::Call { .. }
        | StmtKind::External(..) => {}
    }
}

/// Whether an operation speaks of variables of abstractions in loop invariants, and nowhere else.
fn loops_alone_read(op: OpId, operations: &[Operation], hidden: &[VarId]) -> bool {
    let mut reached = BTreeSet::new();
    let mut todo = vec![op];
    let mut in_loops = false;
    while let Some(op) = todo.pop() {
        if !reached.insert(op) {
            continue;
        }
        let mut body = operations[op.0 as usize].body.clone();
        let mut left = Vec::new();
        strip_loops(&mut body, &|v| hidden.contains(&v), &mut left);
        in_loops |= !left.is_empty();
        let mut reads = Reads { of: hidden, found: false };
        visit_stmt(&body, &mut reads);
        if reads.found {
            return false;
        }
        todo.extend(calls_of(&body));
    }
    in_loops
}

struct Reads<'a> {
    of: &'a [VarId],
    found: bool,
}

impl Visit for Reads<'_> {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Var(v) | ExprKind::Old(v) = &e.kind {
            self.found |= self.of.contains(v);
        }
    }
}
