//! The flat machine: which instances are animated, which conjuncts can be checked, which operations run.

use super::bodies::{Renaming, flatten};
use super::chain::{Kept, in_sequence, strip_loops};
use super::labels::show_any_values;
use super::{Composed, Composer, InstanceId};
use crate::checks::{Checks, recursion};
use crate::project::Relation;
use crate::settle::Settle;
use bombus_base::Name;
use bombus_base::diagnostic::{Diagnostic, Severity};
use bombus_lang::typed::{
    Clause, External, Machine, OpId, Operation, Pred, PredKind, Stmt, StmtKind, VarId, VarKind,
};
use bombus_lang::walk::{Change, calls_of, change_expr, change_pred, change_stmt, variables_of_pred};
use bombus_syntax::ast::DefBody;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

impl Composer<'_> {
    pub(super) fn assemble(&mut self, main: InstanceId) -> Composed {
        let (goal, scope) = (self.read_definition(main, "GOAL"), self.read_definition(main, "SCOPE"));
        self.elaborator.settle_pending();
        let mut operations = self.settled_operations();
        let animated = self.animated(main);
        let variables = self.animated_variables(&animated);
        let chain = self.abstractions(main);
        let hidden = chain.as_ref().map(|c| c.variables.clone()).unwrap_or_default();
        let SettledBodies { sorted, mut apart, initialisations } = self.settled_bodies(&variables, hidden);
        let mut initialisation =
            in_sequence(animated.iter().filter_map(|id| initialisations.get(id).cloned()).collect());
        self.check_substitutions(&operations, &initialisation);
        let mut events = self.events(main, &animated);
        let kept = Kept {
            operations: operations.clone(),
            events: events.clone(),
            initialisations,
            invariant: sorted.glued_invariant,
            assertions: sorted.glued_assertions,
        };
        self.keep_reachable(&mut operations, &mut events, &mut initialisation);
        self.leave_out_loop_conjuncts(&mut operations, &variables, &mut apart);
        let settings = self.settings;
        if settings.any_values {
            show_any_values(&mut operations, &events, &mut self.elaborator.vars);
        }
        self.close_types();
        let (goal, scope) = (self.settled(goal), self.settled(scope));
        let e = &self.elaborator;
        let constants = (0..e.vars.len() as u32)
            .map(VarId)
            .filter(|v| e.vars[v.0 as usize].kind == VarKind::Constant)
            .collect();
        let machine = Machine {
            name: self.project.get(self.instances[main.0 as usize].machine).tree.name.name.clone(),
            sets: e.sets.clone(),
            freetypes: e.freetypes.clone(),
            vars: e.vars.clone(),
            constants,
            variables,
            properties: sorted.properties,
            invariant: sorted.invariant,
            assertions: sorted.assertions,
            unchecked: apart.unchecked,
            initialisation,
            operations,
            events,
            goal,
            scope,
            ltl: settings.ltl.clone(),
            ctl: settings.ctl.clone(),
            doubtful_assertions: settings.doubtful.clone(),
            maxint: settings.maxint.clone(),
            minint: settings.minint.clone(),
            integers_in_scope: settings.integers_in_scope,
            symbolic: settings.symbolic,
            sources: Arc::new(self.sources.clone()),
            files: Arc::default(),
        };
        let refinement = chain.map(|chain| self.refinement(main, &machine, chain, kept));
        for name in refinement.iter().flat_map(|r| &r.missing) {
            let tree = &self.project.get(self.instance(main).machine).tree;
            let text = format!("the refinement has no operation `{name}`, which its abstraction offers");
            self.elaborator.diagnostics.push(Diagnostic::warning(tree.name.span, text));
        }
        Composed { machine, refinement }
    }

    /// The variables of the machines that are animated, each once.
    fn animated_variables(&self, animated: &[InstanceId]) -> Vec<VarId> {
        let mut variables: Vec<VarId> = Vec::new();
        for var in animated.iter().flat_map(|id| &self.instance(*id).own) {
            if !variables.contains(var) {
                variables.push(*var);
            }
        }
        variables
    }

    /// The clauses of all machines with their types known, sorted by whose variables they speak of.
    fn settled_bodies(&mut self, variables: &[VarId], hidden: Vec<VarId>) -> SettledBodies {
        let mut sorted = Sorted::default();
        let mut apart = Apart { hidden, glued: Vec::new(), unchecked: Vec::new() };
        let mut initialisations = HashMap::new();
        for i in 0..self.instances.len() {
            let id = InstanceId(i as u32);
            let bodies = std::mem::take(&mut self.bodies[i]);
            sorted.properties.extend(self.sorted_clauses(id, bodies.properties, variables, &mut apart));
            sorted.invariant.extend(self.sorted_clauses(id, bodies.invariant, variables, &mut apart));
            sorted.glued_invariant.append(&mut apart.glued);
            sorted.assertions.extend(self.sorted_clauses(id, bodies.assertions, variables, &mut apart));
            sorted.glued_assertions.append(&mut apart.glued);
            if let Some(mut init) = bodies.initialisation {
                change_stmt(&mut init, &mut Settle::new(&self.elaborator));
                initialisations.insert(id, init);
            }
        }
        SettledBodies { sorted, apart, initialisations }
    }

    /// The conjuncts of a clause that speak of the animated variables alone; the others are put into `apart`.
    fn sorted_clauses(
        &self,
        id: InstanceId,
        preds: Vec<Pred>,
        variables: &[VarId],
        apart: &mut Apart,
    ) -> Vec<Clause> {
        let origin = &self.project.get(self.instance(id).machine).tree.name.name;
        let mut renaming = Renaming(self.identified.clone());
        let mut found = Vec::new();
        for mut pred in preds {
            change_pred(&mut pred, &mut Settle::new(&self.elaborator));
            change_pred(&mut pred, &mut renaming);
            for conjunct in flatten(pred) {
                let text = self.sources.slice(conjunct.span).to_owned();
                let mut others = variables_of_pred(&conjunct);
                others.retain(|v| {
                    self.elaborator.vars[v.0 as usize].kind == VarKind::Variable && !variables.contains(v)
                });
                if others.is_empty() {
                    found.push(clause(conjunct, origin, text));
                } else if others.iter().all(|v| apart.hidden.contains(v)) {
                    apart.glued.push(clause(conjunct, origin, text));
                } else {
                    apart.unchecked.push(text);
                }
            }
        }
        found
    }

    /// Reports what no substitution may do, such as assigning a variable twice.
    fn check_substitutions(&mut self, operations: &[Operation], initialisation: &Stmt) {
        let checks = Checks {
            operations,
            vars: &self.elaborator.vars,
            simultaneous: self.settings.simultaneous_assignments,
        };
        let mut found = checks.substitution(initialisation);
        for op in operations {
            found.extend(checks.operation(op));
        }
        self.elaborator.diagnostics.extend(found);
    }

    /// Replaces the unknowns of types by what was inferred for them, in variables and free types.
    fn close_types(&mut self) {
        let e = &mut self.elaborator;
        for i in 0..e.vars.len() {
            e.vars[i].ty = e.unifier.close(&e.vars[i].ty);
        }
        for i in 0..e.freetypes.len() {
            for (_, arg) in &mut e.freetypes[i].constructors {
                *arg = arg.as_ref().map(|t| e.unifier.close(t));
            }
            let mut domains = std::mem::take(&mut e.freetypes[i].domains);
            for domain in domains.iter_mut().flatten() {
                change_expr(domain, &mut Settle::new(e));
            }
            e.freetypes[i].domains = domains;
        }
    }

    fn settled(&self, pred: Option<Pred>) -> Option<Pred> {
        pred.map(|mut pred| {
            change_pred(&mut pred, &mut Settle::new(&self.elaborator));
            pred
        })
    }

    /// Loop invariants may speak of variables of the abstraction; those conjuncts are for the lock-step check.
    fn leave_out_loop_conjuncts(&self, operations: &mut [Operation], variables: &[VarId], apart: &mut Apart) {
        let absent = |v: VarId| {
            self.elaborator.vars[v.0 as usize].kind == VarKind::Variable && !variables.contains(&v)
        };
        let mut left = Vec::new();
        for op in operations {
            strip_loops(&mut op.body, &absent, &mut left);
        }
        for conjunct in left {
            if !variables_of_pred(&conjunct)
                .into_iter()
                .filter(|v| absent(*v))
                .all(|v| apart.hidden.contains(&v))
            {
                apart.unchecked.push(self.sources.slice(conjunct.span).to_owned());
            }
        }
    }

    /// A definition that the checker reads as a predicate. Where it makes no sense, that is a warning:
    /// the model itself is sound.
    fn read_definition(&mut self, main: InstanceId, name: &str) -> Option<Pred> {
        let scope = self.instance(main).scope;
        let def = self.elaborator.scopes[scope.0 as usize].definitions.get(name).cloned()?;
        let DefBody::Expr(body) = &def.body else { return None };
        if !def.params.is_empty() || self.elaborator.has_errors() {
            return None;
        }
        let (errors, vars) = (self.elaborator.diagnostics.len(), self.elaborator.vars.len());
        let pred = self.elaborator.within(scope, |e| e.pred(body));
        self.elaborator.settle_pending();
        self.elaborator.report_untyped(vars);
        if self.elaborator.diagnostics[errors..].iter().all(|d| d.severity != Severity::Error) {
            return Some(pred);
        }
        for d in &mut self.elaborator.diagnostics[errors..] {
            d.severity = Severity::Warning;
        }
        self.elaborator
            .diagnostics
            .push(Diagnostic::warning(def.name.span, format!("`{name}` cannot be evaluated, see above")));
        // A predicate that no engine evaluates: the run will say that it is incomplete.
        let external = External { name: name.into() };
        Some(Pred { kind: PredKind::External(external, Vec::new()), span: def.name.span })
    }

    /// Settled bodies of all operations, indexed by `OpId`.
    fn settled_operations(&mut self) -> Vec<Operation> {
        let mut operations = Vec::new();
        for (i, signature) in self.elaborator.signatures.iter().enumerate() {
            let mut body = self.operation_bodies[i]
                .take()
                .unwrap_or(Stmt { kind: StmtKind::Skip, span: signature.span });
            change_stmt(&mut body, &mut Settle::new(&self.elaborator));
            operations.push(Operation {
                name: signature.name.clone(),
                params: signature.params.clone(),
                results: signature.results.clone(),
                body,
                span: signature.span,
            });
        }
        for (first, at) in recursion(&operations) {
            let name = &operations[first.0 as usize].name;
            self.elaborator.error(Diagnostic::error(at, format!("the operation `{name}` calls itself")));
            // Later passes follow calls; the broken body is not needed any more.
            let span = operations[first.0 as usize].span;
            operations[first.0 as usize].body = Stmt { kind: StmtKind::Skip, span };
        }
        operations
    }

    /// The main machine and what it refers to, those referred to first; refined machines are not animated.
    pub(super) fn animated(&self, main: InstanceId) -> Vec<InstanceId> {
        let mut found = BTreeSet::from([main]);
        let mut todo = vec![main];
        while let Some(id) = todo.pop() {
            for (_, other) in &self.instance(id).references {
                if found.insert(*other) {
                    todo.push(*other);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Own operations of the main machine, promoted ones, and those of extended machines.
    ///
    /// A machine that is seen or used but included by nobody runs on its own beside the others, as in ProB:
    /// its operations are events too.
    fn events(&self, main: InstanceId, animated: &[InstanceId]) -> Vec<OpId> {
        let mut events: Vec<OpId> = self.events_of(main);
        let included = |id: InstanceId| {
            animated.iter().any(|a| {
                self.instance(*a).references.iter().any(|(relation, other)| {
                    *other == id && !matches!(relation, Relation::Sees | Relation::Uses)
                })
            })
        };
        for id in animated {
            if *id != main && !included(*id) {
                let more: Vec<OpId> =
                    self.events_of(*id).into_iter().filter(|op| !events.contains(op)).collect();
                events.extend(more);
            }
        }
        events
    }

    fn events_of(&self, main: InstanceId) -> Vec<OpId> {
        let mut events: Vec<OpId> = Vec::new();
        let main = self.instance(main);
        let own = main.operations.iter().filter(|(_, op)| main.own_operations.contains(op));
        let rest = main.operations.iter().filter(|(_, op)| !main.own_operations.contains(op));
        for (_, op) in own.chain(rest) {
            if !events.contains(op) {
                events.push(*op);
            }
        }
        events
    }

    /// Drops operations that no transition can reach, and numbers the others anew.
    fn keep_reachable(&self, operations: &mut Vec<Operation>, events: &mut Vec<OpId>, init: &mut Stmt) {
        let mut reached: BTreeSet<OpId> = BTreeSet::new();
        let mut todo: Vec<OpId> = events.iter().copied().chain(calls_of(init)).collect();
        while let Some(op) = todo.pop() {
            if reached.insert(op) {
                todo.extend(calls_of(&operations[op.0 as usize].body));
            }
        }
        let numbers: BTreeMap<OpId, OpId> =
            reached.iter().enumerate().map(|(i, op)| (*op, OpId(i as u32))).collect();
        let mut renumber = Renumber(numbers);
        let mut i = 0;
        operations.retain(|_| {
            i += 1;
            reached.contains(&OpId(i - 1))
        });
        for op in operations {
            change_stmt(&mut op.body, &mut renumber);
        }
        change_stmt(init, &mut renumber);
        for event in events {
            renumber.call(event);
        }
    }
}

/// Clauses of all machines, conjunct by conjunct.
#[derive(Default)]
struct Sorted {
    properties: Vec<Clause>,
    invariant: Vec<Clause>,
    assertions: Vec<Clause>,
    /// Conjuncts over variables of abstractions that are followed in lock-step.
    glued_invariant: Vec<Clause>,
    glued_assertions: Vec<Clause>,
}

/// What `settled_bodies` finds.
struct SettledBodies {
    sorted: Sorted,
    apart: Apart,
    initialisations: HashMap<InstanceId, Stmt>,
}

/// Conjuncts that speak of variables which the main machine does not have.
struct Apart {
    /// The variables of abstractions that are followed in lock-step.
    hidden: Vec<VarId>,
    /// Conjuncts over these.
    glued: Vec<Clause>,
    /// Conjuncts over others, as they were written.
    unchecked: Vec<String>,
}

struct Renumber(BTreeMap<OpId, OpId>);

impl Change for Renumber {
    fn call(&mut self, op: &mut OpId) {
        if let Some(new) = self.0.get(op) {
            *op = *new;
        }
    }
}

fn clause(pred: Pred, origin: &Name, text: String) -> Clause {
    match pred.kind {
        PredKind::Label(label, inner) => {
            Clause { label: Some(label), origin: origin.clone(), pred: *inner, text }
        }
        kind => Clause { label: None, origin: origin.clone(), pred: Pred { kind, span: pred.span }, text },
    }
}
