//! DEFINITIONS: the table of a machine, and the expansion of a call by substitution of trees.
//!
//! In: definitions of a machine and of the definition files it names. Out: the body of a call with
//! the arguments in place of the parameters. Never here: types; a body is typed anew at each call.
//!
//! Substitution is naive, as in ProB: a variable bound in the body captures the same name in an
//! argument. The caller is told which names were captured, so that it can warn.

use super::trees::{Rewrite, names_of, rewrite_expr, rewrite_stmt, visit_calls};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_syntax::ast::{DefBody, Definition, Expr, ExprKind, Ident, Stmt};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The definitions that one machine sees, in the order of the text.
#[derive(Debug, Default)]
pub struct Definitions {
    by_name: HashMap<Name, Arc<Definition>>,
    order: Vec<Name>,
}

impl Definitions {
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        self.by_name.get(name)
    }

    /// Adds a definition; a second one of the same name is refused with the place of the first.
    pub fn add(&mut self, def: Definition) -> Result<(), Diagnostic> {
        let name = def.name.name.clone();
        if let Some(old) = self.by_name.get(&name) {
            if **old == def {
                return Ok(());
            }
            return Err(Diagnostic::error(def.name.span, format!("`{name}` is defined twice"))
                .label(old.name.span, "first defined here"));
        }
        self.order.push(name.clone());
        self.by_name.insert(name, Arc::new(def));
        Ok(())
    }

    /// Puts a definition in the place of an earlier one.
    pub fn replace(&mut self, def: Definition) {
        self.by_name.insert(def.name.name.clone(), Arc::new(def));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.order.iter().map(|n| &self.by_name[n])
    }

    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.order.iter()
    }

    /// Parameters of definitions with the name of a definition of the same text: a call in the body would be
    /// meant where the parameter is.
    pub fn hidden_by_parameters(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for def in self.iter() {
            for param in &def.params {
                if let Some(other) = self.by_name.get(&param.name)
                    && other.name.span.file == param.span.file
                    && other.params.is_empty()
                {
                    found.push(
                        Diagnostic::error(
                            param.span,
                            format!("the parameter `{}` has the name of a definition", param.name),
                        )
                        .label(other.name.span, "defined here"),
                    );
                }
            }
        }
        found
    }

    /// One message for each group of definitions that call each other in a circle.
    pub fn cycles(&self) -> Vec<Diagnostic> {
        let mut calls: HashMap<&Name, Vec<Name>> = HashMap::new();
        for def in self.iter() {
            let own: HashSet<&Name> = def.params.iter().map(|p| &p.name).collect();
            let mut called = BTreeSet::new();
            let mut note = |name: &Name| {
                if self.by_name.contains_key(name) && !own.contains(name) {
                    called.insert(name.clone());
                }
            };
            visit_calls(&def.body, &mut note);
            calls.insert(&def.name.name, called.into_iter().collect());
        }
        let mut found = Vec::new();
        let mut done: HashSet<Name> = HashSet::new();
        for start in &self.order {
            let mut path: Vec<(Name, usize)> = vec![(start.clone(), 0)];
            if done.contains(start) {
                continue;
            }
            while let Some((name, next)) = path.last().cloned() {
                let Some(callee) = calls[&name].get(next).cloned() else {
                    done.insert(name);
                    path.pop();
                    continue;
                };
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                if let Some(at) = path.iter().position(|(n, _)| *n == callee) {
                    let mut circle: Vec<&str> = path[at..].iter().map(|(n, _)| &**n).collect();
                    circle.push(&callee);
                    found.push(
                        Diagnostic::error(
                            self.by_name[&callee].name.span,
                            format!("the definition `{callee}` calls itself"),
                        )
                        .note(circle.join(" calls ")),
                    );
                    // Everything on the way is part of the one report.
                    done.extend(path.drain(..).map(|(n, _)| n));
                } else if !done.contains(&callee) {
                    path.push((callee, 0));
                }
            }
        }
        found
    }
}

/// The body of a definition with its arguments in place.
pub struct Expansion<T> {
    pub body: T,
    /// Names of arguments that a binder of the body captured.
    pub captured: BTreeMap<Name, Span>,
    /// How many nodes were copied, for the budget of the caller.
    pub nodes: u64,
}

pub fn expand_expr(def: &Definition, body: &Expr, args: &[Expr]) -> Expansion<Expr> {
    let mut with = Substitution::new(def, args);
    let body = rewrite_expr(body, &mut with);
    Expansion { body, captured: with.captured, nodes: with.nodes }
}

pub fn expand_stmt(def: &Definition, body: &Stmt, args: &[Expr]) -> Expansion<Stmt> {
    let mut with = Substitution::new(def, args);
    let body = rewrite_stmt(body, &mut with);
    Expansion { body, captured: with.captured, nodes: with.nodes }
}

/// A body that is a name or a call may stand for a substitution: the same tree read as a statement.
pub fn as_statement(body: &DefBody) -> Option<Stmt> {
    match body {
        DefBody::Stmt(stmt) => Some(stmt.clone()),
        DefBody::Expr(expr) => call_statement(expr),
    }
}

pub fn call_statement(expr: &Expr) -> Option<Stmt> {
    let (name, args) = match &expr.kind {
        ExprKind::Ident(name) => (name.clone(), Vec::new()),
        ExprKind::Apply(callee, args) => match &callee.kind {
            ExprKind::Ident(name) => (name.clone(), args.clone()),
            _ => return None,
        },
        _ => return None,
    };
    Some(Stmt {
        kind: bombus_syntax::ast::StmtKind::Call {
            results: Vec::new(),
            op: Ident { name, span: expr.span },
            args,
        },
        span: expr.span,
    })
}

struct Substitution<'a> {
    args: HashMap<Name, &'a Expr>,
    /// Names that occur in an argument.
    names: HashMap<Name, BTreeSet<Name>>,
    /// Bound names round the place we are at, and whether an argument gave the name.
    binders: Vec<(Ident, bool)>,
    captured: BTreeMap<Name, Span>,
    nodes: u64,
}

impl<'a> Substitution<'a> {
    fn new(def: &Definition, args: &'a [Expr]) -> Self {
        let pairs = def.params.iter().zip(args);
        Substitution {
            names: pairs.clone().map(|(p, a)| (p.name.clone(), names_of(a))).collect(),
            args: pairs.map(|(p, a)| (p.name.clone(), a)).collect(),
            binders: Vec::new(),
            captured: BTreeMap::new(),
            nodes: 0,
        }
    }
}

impl Rewrite for Substitution<'_> {
    fn name(&mut self, name: &Name) -> Option<Expr> {
        self.nodes += 1;
        let arg = self.args.get(name)?;
        // A binder of the body with the parameter's own name hides the parameter.
        if self.binders.iter().any(|(b, _)| b.name == *name) {
            return None;
        }
        for (binder, from_argument) in &self.binders {
            // A binder that an argument named (`all(x) == !x.(…)`) captures on purpose.
            if !from_argument && self.names[name].contains(&binder.name) {
                self.captured.insert(binder.name.clone(), binder.span);
            }
        }
        self.nodes += self.names[name].len() as u64;
        Some((*arg).clone())
    }

    fn binder(&mut self, ident: &Ident) -> Ident {
        // `all(x) == !x.(…)` called with a name binds that name.
        let (renamed, from_argument) = match self.args.get(&ident.name).map(|a| &a.kind) {
            Some(ExprKind::Ident(new)) => (Ident { name: new.clone(), span: ident.span }, true),
            _ => (ident.clone(), false),
        };
        self.binders.push((renamed.clone(), from_argument));
        renamed
    }

    fn leave(&mut self, count: usize) {
        self.binders.truncate(self.binders.len() - count);
    }

    fn node(&mut self) {
        self.nodes += 1;
    }
}
