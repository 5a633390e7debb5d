//! Formulas of the user: typed in the scope of a loaded machine, or of none.
//!
//! In: a text such as `x : 1..3` or `card(S)`. Out: a typed expression or predicate. Bound variables of the
//! formula are added to the machine's declarations, so that the numbering stays dense.

use super::elaborate::Elaborator;
use super::scope::{Access, Entity, Entry, Scope, ScopeId};
use super::settle::Settle;
use bombus_base::diagnostic::{Diagnostic, Severity, Sources, one_for_each_cause};
use bombus_base::{Int, Name, Span};
use bombus_lang::typed::{Expr, Machine, Pred, Stmt, StmtKind, VarId};
use bombus_lang::walk::{change_expr, change_pred};
use bombus_syntax as syntax;
use bombus_syntax::ast::{self, Builtin, Const, ExprKind};
use std::collections::HashMap;
use std::sync::Arc;

/// A formula with its types.
#[derive(Clone, Debug)]
pub enum Formula {
    Expr(Expr),
    Pred(Pred),
}

/// The names and definitions of the main machine.
#[derive(Clone)]
pub struct FormulaScope {
    scope: Scope,
    maxint: Int,
    minint: Int,
}

impl FormulaScope {
    pub(super) fn new(
        elaborator: Elaborator,
        id: ScopeId,
        machine: &Machine,
        elements: &HashMap<VarId, Entity>,
    ) -> FormulaScope {
        let Elaborator { mut scopes, maxint, minint, .. } = elaborator;
        let mut scope = scopes.swap_remove(id.0 as usize);
        for entry in scope.names.values_mut() {
            if let Entity::Var(v) = entry.entity
                && let Some(element) = elements.get(&v)
            {
                entry.entity = element.clone();
            }
        }
        // Elements of deferred sets get names when the set gets its size; the user sees them in traces.
        for (i, set) in machine.sets.iter().enumerate() {
            for (n, name) in set.elems.iter().enumerate() {
                let entity = Entity::Elem(bombus_lang::typed::SetId(i as u32), n as u32);
                scope.names.entry(name.clone()).or_insert(Entry {
                    entity,
                    access: Access::Read("an element of a set"),
                    span: set.span,
                });
            }
        }
        FormulaScope { scope, maxint, minint }
    }

    /// The names of the definitions, in the order of the text.
    pub fn definitions(&self) -> impl Iterator<Item = &Name> {
        self.scope.definitions.names()
    }

    /// The scope of `bombus eval` without a model.
    pub fn empty(maxint: Int, minint: Int) -> FormulaScope {
        FormulaScope { scope: Scope::default(), maxint, minint }
    }

    /// A name that models write and formulas can use, such as an operation's parameter in a trace.
    pub fn declare(&mut self, name: &Name, var: VarId) {
        let entry =
            Entry { entity: Entity::Var(var), access: Access::Read("a variable"), span: Span::default() };
        self.scope.names.insert(name.clone(), entry);
    }

    /// Where a name or a definition was declared.
    pub fn place_of(&self, name: &str) -> Option<Span> {
        let declared = self.scope.names.get(name).map(|entry| entry.span);
        declared.or_else(|| self.scope.definitions.get(name).map(|definition| definition.name.span))
    }

    /// The text of a definition, from its name to the end of its body.
    pub fn definition_of(&self, name: &str) -> Option<Span> {
        let definition = self.scope.definitions.get(name)?;
        let body = match &definition.body {
            ast::DefBody::Expr(body) => body.span,
            ast::DefBody::Stmt(body) => body.span,
        };
        Some(Span { end: body.end.max(definition.name.span.end), ..definition.name.span })
    }

    /// Parses and types a text; its spans point to a new entry of `sources` called `name`.
    pub fn parse(
        &self,
        machine: &mut Machine,
        sources: &mut Sources,
        name: &str,
        text: &str,
    ) -> Result<Formula, Vec<Diagnostic>> {
        let file = sources.add(name, None, text);
        let parsed = syntax::parse_formula(file, text);
        match parsed.tree {
            Some(tree) => self.typed(machine, &tree),
            None => Err(parsed.diagnostics),
        }
    }

    /// Types a tree.
    pub fn typed(&self, machine: &mut Machine, tree: &ast::Expr) -> Result<Formula, Vec<Diagnostic>> {
        self.elaborate(machine, |e| {
            if self.is_predicate(tree) { Formula::Pred(e.pred(tree)) } else { Formula::Expr(e.expr(tree)) }
        })
    }

    /// Types a tree that must be a predicate.
    pub fn predicate(&self, machine: &mut Machine, tree: &ast::Expr) -> Result<Pred, Vec<Diagnostic>> {
        match self.elaborate(machine, |e| Formula::Pred(e.pred(tree)))? {
            Formula::Pred(p) => Ok(p),
            Formula::Expr(e) => Err(vec![Diagnostic::error(e.span, "a predicate is wanted here")]),
        }
    }

    /// Types a tree that must be an expression.
    pub fn expression(&self, machine: &mut Machine, tree: &ast::Expr) -> Result<Expr, Vec<Diagnostic>> {
        match self.elaborate(machine, |e| Formula::Expr(e.expr(tree)))? {
            Formula::Expr(e) => Ok(e),
            Formula::Pred(p) => Err(vec![Diagnostic::error(p.span, "a value is wanted here")]),
        }
    }

    fn elaborate(
        &self,
        machine: &mut Machine,
        work: impl FnOnce(&mut Elaborator) -> Formula,
    ) -> Result<Formula, Vec<Diagnostic>> {
        let mut e = Elaborator::new(self.maxint.clone(), self.minint.clone());
        e.sets.clone_from(&machine.sets);
        e.freetypes.clone_from(&machine.freetypes);
        e.vars.clone_from(&machine.vars);
        e.scopes.push(self.scope.clone());
        let first = e.vars.len();
        let mut formula = work(&mut e);
        e.settle_pending();
        e.report_untyped(first);
        if e.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            return Err(one_for_each_cause(e.diagnostics));
        }
        match &mut formula {
            Formula::Expr(x) => change_expr(x, &mut Settle::new(&e)),
            Formula::Pred(p) => change_pred(p, &mut Settle::new(&e)),
        }
        for var in &mut e.vars[first..] {
            var.ty = e.unifier.close(&var.ty);
        }
        machine.vars = e.vars;
        Ok(formula)
    }

    /// Whether a tree is a predicate; the call of a definition is what its body is.
    fn is_predicate(&self, tree: &ast::Expr) -> bool {
        let mut tree = tree;
        for _ in 0..100 {
            match &tree.kind {
                ExprKind::Not(_)
                | ExprKind::And(_)
                | ExprKind::Or(_)
                | ExprKind::Quant(..)
                | ExprKind::After(..) => {
                    return true;
                }
                ExprKind::Const(c) => return matches!(c, Const::BTrue | Const::BFalse),
                ExprKind::Builtin(b, _) => return matches!(b, Builtin::Finite | Builtin::Partition),
                ExprKind::Binary(op, _, _) => return op.is_predicate(),
                ExprKind::If(_, other) => tree = other,
                ExprKind::Let(_, _, body) => tree = body,
                ExprKind::Label(_, p) => tree = p,
                ExprKind::Ident(name) => match self.body(name) {
                    Some(body) => tree = body,
                    None => {
                        return self.scope.definitions.get(&format!("EXTERNAL_PREDICATE_{name}")).is_some();
                    }
                },
                ExprKind::Apply(f, _) => match &f.kind {
                    ExprKind::Ident(name) => match self.body(name) {
                        Some(body) => tree = body,
                        None => return false,
                    },
                    _ => return false,
                },
                _ => return false,
            }
        }
        false
    }

    fn body(&self, name: &str) -> Option<&ast::Expr> {
        match &self.scope.definitions.get(name)?.body {
            ast::DefBody::Expr(body) => Some(body),
            ast::DefBody::Stmt(_) => None,
        }
    }
}

/// A machine of nothing, for formulas without a model.
pub fn empty_machine(maxint: Int, minint: Int) -> Machine {
    Machine {
        name: "".into(),
        sets: Vec::new(),
        freetypes: Vec::new(),
        vars: Vec::new(),
        constants: Vec::new(),
        variables: Vec::new(),
        properties: Vec::new(),
        invariant: Vec::new(),
        assertions: Vec::new(),
        unchecked: Vec::new(),
        initialisation: Stmt { kind: StmtKind::Skip, span: Span::default() },
        operations: Vec::new(),
        events: Vec::new(),
        goal: None,
        scope: None,
        ltl: Vec::new(),
        ctl: Vec::new(),
        doubtful_assertions: Vec::new(),
        maxint,
        minint,
        integers_in_scope: false,
        symbolic: false,
        sources: Arc::default(),
        files: Arc::default(),
    }
}
