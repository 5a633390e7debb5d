//! Bodies: properties, invariants, initialisations and operations of all instances, typed.

use super::declare::written_operations;
use super::outputs::without_typed_outputs;
use super::{Composer, InstanceId, Instantiated};
use crate::scope::{Access, Entity, Entry, ScopeId};
use bombus_base::Name;
use bombus_base::diagnostic::Diagnostic;
use bombus_lang::typed::{Expr, ExprKind, OpId, Pred, PredKind, RelOp, Stmt, StmtKind, VarId, VarKind};
use bombus_lang::walk::{Change, change_pred};
use bombus_syntax::ast::{self, ClauseKind};
use std::collections::HashMap;

impl Composer<'_> {
    /// Everything that gives types comes first: properties, then invariants, then what runs.
    pub(super) fn elaborate(&mut self) {
        let ids: Vec<InstanceId> = (0..self.instances.len() as u32).map(InstanceId).collect();
        self.actual_parameters();
        for id in &ids {
            self.properties(*id);
        }
        self.elaborator.advance_pending();
        for id in &ids {
            self.invariant(*id);
        }
        self.elaborator.advance_pending();
        for id in &ids {
            self.executable(*id);
        }
        self.elaborator.advance_pending();
        for id in &ids {
            self.assertions(*id);
        }
    }

    /// Formal parameters equal the actual ones.
    fn actual_parameters(&mut self) {
        for Instantiated { formal, actual, scope } in std::mem::take(&mut self.instantiated) {
            let formal = self.elaborator.variable(formal, actual.span);
            let actual = self.elaborator.within(scope, |e| e.expr(&actual));
            self.elaborator.same(&formal, &actual, "=");
            let span = actual.span;
            let equation = Pred { kind: PredKind::Rel(RelOp::Equal, formal, actual), span };
            if let Some(includer) = self.instances.iter().position(|i| i.scope == scope) {
                self.bodies[includer].properties.push(equation);
            }
        }
    }

    fn properties(&mut self, id: InstanceId) {
        let (machine, scope) = (self.instance(id).machine, self.instance(id).scope);
        let tree = &self.project.get(machine).tree;
        let shared = self.properties_done.contains(&machine);
        self.properties_done.push(machine);
        for clause in &tree.clauses {
            match &clause.kind {
                ClauseKind::Constraints(p) => {
                    let p = self.elaborator.within(scope, |e| e.pred(p));
                    self.bodies[id.0 as usize].properties.push(p);
                }
                // All instances of a machine share its constants, so one set of properties is enough.
                ClauseKind::Properties(p) if !shared => {
                    let hidden = self.hide_parameters(scope, tree);
                    let p = self.elaborator.within(scope, |e| e.pred(p));
                    let known = &mut self.elaborator.scopes[scope.0 as usize];
                    known.hidden.clear();
                    known.names.extend(hidden);
                    self.bodies[id.0 as usize].properties.push(p);
                }
                ClauseKind::Values(values) => {
                    for (name, value) in values {
                        self.value(id, name, value);
                    }
                }
                _ => {}
            }
        }
    }

    /// Constants are the same in all instances of a machine, so PROPERTIES may not speak of the parameters,
    /// which each instance has for itself. What is hidden comes back, to be shown again.
    fn hide_parameters(&mut self, scope: ScopeId, tree: &ast::Machine) -> Vec<(Name, Entry)> {
        let known = &mut self.elaborator.scopes[scope.0 as usize];
        let mut hidden = Vec::new();
        for param in &tree.params {
            if let Some(entry) = known.names.remove(&param.name) {
                known.hidden.insert(
                    param.name.clone(),
                    "a parameter of the machine is not visible in PROPERTIES; CONSTRAINTS may speak of it",
                );
                hidden.push((param.name.clone(), entry));
            }
        }
        hidden
    }

    /// `VALUES c = E`: the constant has this value.
    fn value(&mut self, id: InstanceId, name: &ast::Ident, value: &ast::Expr) {
        let scope = self.instance(id).scope;
        let entity = self.elaborator.scopes[scope.0 as usize].names.get(&name.name).map(|e| e.entity.clone());
        match entity {
            Some(Entity::Var(_)) => {
                let span = name.span.to(value.span);
                let equation = ast::Expr {
                    kind: ast::ExprKind::Binary(
                        ast::BinOp::Equal,
                        Box::new(ast::Expr {
                            kind: ast::ExprKind::Ident(name.name.clone()),
                            span: name.span,
                        }),
                        Box::new(value.clone()),
                    ),
                    span,
                };
                let p = self.elaborator.within(scope, |e| e.pred(&equation));
                self.bodies[id.0 as usize].properties.push(p);
            }
            // The set is read as its value wherever it is named.
            Some(Entity::Actual(..)) => {}
            _ => self.elaborator.error(Diagnostic::error(
                name.span,
                format!("VALUES gives a value to `{}`, which is no constant and no deferred set", name.name),
            )),
        }
    }

    fn invariant(&mut self, id: InstanceId) {
        let (machine, scope) = (self.instance(id).machine, self.instance(id).scope);
        for clause in &self.project.get(machine).tree.clauses {
            if let ClauseKind::Invariant(p) = &clause.kind {
                let p = self.elaborator.within(scope, |e| e.pred(p));
                self.bodies[id.0 as usize].invariant.push(p);
            }
        }
    }

    fn assertions(&mut self, id: InstanceId) {
        let (machine, scope) = (self.instance(id).machine, self.instance(id).scope);
        for clause in &self.project.get(machine).tree.clauses {
            if let ClauseKind::Assertions(ps) = &clause.kind {
                for p in ps {
                    let p = self.elaborator.within(scope, |e| e.pred(p));
                    self.bodies[id.0 as usize].assertions.push(p);
                }
            }
        }
    }

    fn executable(&mut self, id: InstanceId) {
        let (machine, scope) = (self.instance(id).machine, self.instance(id).scope);
        let tree = &self.project.get(machine).tree;
        for clause in &tree.clauses {
            if let ClauseKind::Initialisation(s) = &clause.kind {
                let s = self.elaborator.within(scope, |e| e.stmt(s));
                self.bodies[id.0 as usize].initialisation = Some(s);
            }
        }
        let own = self.instance(id).own_operations.clone();
        for (op, written) in own.into_iter().zip(written_operations(tree)) {
            let signature = self.elaborator.signatures[op.0 as usize].clone();
            let names = written.params.iter().map(|p| p.name.clone()).collect();
            self.elaborator.operation = Some((signature.name.clone(), names));
            let body = self.elaborator.within(scope, |e| {
                let read_only = Access::Read("a parameter of the operation");
                e.with_locals(&written.params, &signature.params, read_only, |e| {
                    e.with_locals(&written.results, &signature.results, Access::Write, |e| {
                        e.stmt(&written.body)
                    })
                })
            });
            let e = &mut self.elaborator;
            e.operation = None;
            let body = without_typed_outputs(body, &signature.results, &e.vars, &mut e.diagnostics);
            let body = self.with_refined_precondition(id, written, op, body);
            self.operation_bodies[op.0 as usize] = Some(body);
        }
    }

    /// An operation of a refinement may rely on the precondition of the one it refines.
    ///
    /// Where it states none itself, the conjuncts about its parameters and animated variables are taken
    /// over: without them the parameters would range over whole types.
    fn with_refined_precondition(
        &self,
        id: InstanceId,
        written: &ast::Operation,
        op: OpId,
        body: Stmt,
    ) -> Stmt {
        let Some(refined) = self.instance(id).refines else { return body };
        if matches!(body.kind, StmtKind::Pre(..)) {
            return body;
        }
        let wanted = &written.refines.as_ref().unwrap_or(&written.name).name;
        let scope = &self.elaborator.scopes[self.instance(refined).scope.0 as usize];
        let Some(old) = scope.operations.get(wanted) else { return body };
        let Some(Some(Stmt { kind: StmtKind::Pre(p, _), span })) = self.operation_bodies.get(old.0 as usize)
        else {
            return body;
        };
        let from = &self.elaborator.signatures[old.0 as usize].params;
        let to = &self.elaborator.signatures[op.0 as usize].params;
        let mut renaming = Renaming(from.iter().copied().zip(to.iter().copied()).collect());
        let own = &self.instance(id).own;
        let kept: Vec<Pred> = flatten(p.clone())
            .into_iter()
            .map(|mut c| {
                change_pred(&mut c, &mut renaming);
                c
            })
            .filter(|c| {
                bombus_lang::walk::variables_of_pred(c)
                    .iter()
                    .all(|v| self.elaborator.vars[v.0 as usize].kind != VarKind::Variable || own.contains(v))
            })
            .collect();
        if kept.is_empty() {
            return body;
        }
        let at = body.span;
        let p = Pred { kind: PredKind::And(kept), span: *span };
        Stmt { kind: StmtKind::Pre(p, Box::new(body)), span: at }
    }
}

/// Variables take the place of others.
pub(super) struct Renaming(pub HashMap<VarId, VarId>);

impl Change for Renaming {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::Var(v) | ExprKind::Old(v) = &mut e.kind
            && let Some(new) = self.0.get(v)
        {
            *v = *new;
        }
    }
}

/// The conjuncts of a typed predicate.
pub(super) fn flatten(p: Pred) -> Vec<Pred> {
    match p.kind {
        PredKind::And(parts) => parts.into_iter().flat_map(flatten).collect(),
        PredKind::True => Vec::new(),
        // `x:S & …` under a name is still a conjunction for whoever checks it piece by piece.
        PredKind::Label(name, inner) => match inner.kind {
            PredKind::And(parts) => parts
                .into_iter()
                .flat_map(flatten)
                .map(|p| Pred { span: p.span, kind: PredKind::Label(name.clone(), Box::new(p)) })
                .collect(),
            kind => vec![Pred {
                kind: PredKind::Label(name, Box::new(Pred { kind, span: inner.span })),
                span: p.span,
            }],
        },
        PredKind::Not(inner) => match inner.kind {
            // `not(a = b)` is a disequality for whoever looks for distinct constants.
            PredKind::Rel(RelOp::Equal, a, b) => {
                vec![Pred { kind: PredKind::Rel(RelOp::NotEqual, a, b), span: p.span }]
            }
            kind => {
                vec![Pred { kind: PredKind::Not(Box::new(Pred { kind, span: inner.span })), span: p.span }]
            }
        },
        kind => vec![Pred { kind, span: p.span }],
    }
}
