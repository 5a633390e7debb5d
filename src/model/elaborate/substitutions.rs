//! Substitutions: what an operation does, with the static rules about what may be written.

use super::expressions::BOUND;
use super::names::count;
use super::{Elaborator, pair_up};
use crate::overload::Constraint;
use crate::scope::{Access, Entity};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{Expr, ExprKind, Pred, Step, Stmt, StmtKind, Target, Type, VarId, VarKind};
use bombus_syntax::ast;

impl Elaborator {
    pub fn stmt(&mut self, s: &ast::Stmt) -> Stmt {
        let span = s.span;
        if self.inside_definition() && !self.spend(1) {
            return Stmt { kind: StmtKind::Skip, span };
        }
        let kind = match &s.kind {
            ast::StmtKind::Skip => StmtKind::Skip,
            ast::StmtKind::Block(b) => return self.stmt(b),
            ast::StmtKind::Assign(targets, values) => self.assign(targets, values, span),
            ast::StmtKind::BecomesIn(ids, set) => {
                let vars = self.written(ids);
                let set = self.expr(set);
                let ty = self.tuple_type(&vars);
                let shown = self.show(&ty);
                if !vars.is_empty() {
                    let other = ids.first().map(|i| (i.span, format!("this is of type {shown}")));
                    self.expect(&set, &Type::pow(ty), "the right side of `::`", other);
                }
                StmtKind::BecomesIn(vars, set)
            }
            ast::StmtKind::BecomesSuch(ids, p) => {
                let vars = self.written(ids);
                StmtKind::BecomesSuch(vars, self.pred(p))
            }
            ast::StmtKind::Pre(p, b) => StmtKind::Pre(self.pred(p), Box::new(self.stmt(b))),
            ast::StmtKind::Assert(o, p, b) => StmtKind::Assert(*o, self.pred(p), Box::new(self.stmt(b))),
            ast::StmtKind::Witness(p, b) => StmtKind::Witness(self.pred(p), Box::new(self.stmt(b))),
            ast::StmtKind::Choice(branches) => {
                StmtKind::Choice(branches.iter().map(|b| self.stmt(b)).collect())
            }
            ast::StmtKind::If(branches, other) => {
                StmtKind::If(self.branches(branches), self.otherwise(other))
            }
            ast::StmtKind::Select(branches, other) => {
                StmtKind::Select(self.branches(branches), self.otherwise(other))
            }
            ast::StmtKind::Case(e, branches, other) => {
                let e = self.expr(e);
                let mut typed = Vec::new();
                for (labels, body) in branches {
                    let labels: Vec<Expr> = labels.iter().map(|l| self.expr(l)).collect();
                    for label in &labels {
                        self.same(&e, label, "CASE");
                        if let ExprKind::Var(v) = label.kind {
                            let name = self.vars[v.0 as usize].name.clone();
                            self.error(Diagnostic::error(
                                label.span,
                                format!(
                                    "a case is a literal or an element of a set, but `{name}` is a variable"
                                ),
                            ));
                        }
                    }
                    typed.push((labels, self.stmt(body)));
                }
                StmtKind::Case(e, typed, self.otherwise(other))
            }
            ast::StmtKind::Any(ids, p, b) => {
                let (vars, (p, b)) =
                    self.bind(ids, VarKind::Local, BOUND, |this, _| (this.pred(p), this.stmt(b)));
                StmtKind::Any(vars, p, Box::new(b))
            }
            ast::StmtKind::Let(ids, equations, b) => {
                let (bindings, b) = self.let_in(ids, equations, |this| this.stmt(b));
                StmtKind::Let(bindings, Box::new(b))
            }
            ast::StmtKind::Var(ids, b) => {
                let (vars, b) = self.bind(ids, VarKind::Local, Access::Write, |this, _| this.stmt(b));
                StmtKind::Var(vars, Box::new(b))
            }
            ast::StmtKind::While { cond, body, invariant, variant } => {
                let (cond, body) = (self.pred(cond), Box::new(self.stmt(body)));
                let (invariant, variant) = (self.pred(invariant), self.expr(variant));
                self.expect(&variant, &Type::Integer, "the variant of a loop", None);
                StmtKind::While { cond, body, invariant, variant }
            }
            ast::StmtKind::Call { results, op, args } => return self.call(results, op, args, span),
            ast::StmtKind::Seq(parts) => StmtKind::Seq(parts.iter().map(|p| self.stmt(p)).collect()),
            ast::StmtKind::Par(parts) => StmtKind::Par(parts.iter().map(|p| self.stmt(p)).collect()),
        };
        Stmt { kind, span }
    }

    fn branches(&mut self, branches: &[(ast::Expr, ast::Stmt)]) -> Vec<(Pred, Stmt)> {
        branches.iter().map(|(p, b)| (self.pred(p), self.stmt(b))).collect()
    }

    fn otherwise(&mut self, other: &Option<Box<ast::Stmt>>) -> Option<Box<Stmt>> {
        other.as_ref().map(|b| Box::new(self.stmt(b)))
    }

    fn assign(&mut self, targets: &[ast::Expr], values: &[ast::Expr], span: Span) -> StmtKind {
        if targets.len() != values.len() {
            self.error(Diagnostic::error(
                span,
                format!(
                    "{} on the left of `:=`, {} on the right",
                    count(targets.len(), "target"),
                    count(values.len(), "value")
                ),
            ));
            return StmtKind::Skip;
        }
        let mut typed = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let place = self.target(target);
            let value = self.expr(value);
            let Some((place, ty)) = place else { continue };
            let shown = self.show(&ty);
            self.expect(
                &value,
                &ty,
                "the right side of `:=`",
                Some((place.span, format!("this is of type {shown}"))),
            );
            typed.push((place, value));
        }
        StmtKind::Assign(typed)
    }

    /// A place that can be written, and the type of what it holds.
    fn target(&mut self, e: &ast::Expr) -> Option<(Target, Type)> {
        match &e.kind {
            ast::ExprKind::Ident(name) => {
                if let Some(body) = self.target_of_definition(name) {
                    return self.target(&body);
                }
                let var = self.writable(name, e.span)?;
                let ty = self.vars[var.0 as usize].ty.clone();
                Some((Target { var, path: Vec::new(), span: e.span }, ty))
            }
            ast::ExprKind::Apply(inner, args) => {
                let (mut target, ty) = self.target(inner)?;
                let values = args.iter().map(|a| self.expr(a)).collect();
                let index = pair_up(values)?;
                let to = self.unifier.fresh();
                let want = Type::rel(index.ty.clone(), to.clone());
                if !self.unifier.unify(&ty, &want) {
                    let (found, shown) = (self.show(&ty), self.show(&index.ty));
                    self.error(
                        Diagnostic::error(
                            e.span,
                            format!("type clash: `{found}` cannot be indexed by {shown}"),
                        )
                        .label(inner.span, format!("this is of type {found}"))
                        .label(index.span, format!("this is of type {shown}")),
                    );
                    return None;
                }
                target.path.push(Step::Index(index));
                target.span = e.span;
                Some((target, to))
            }
            ast::ExprKind::Field(inner, field) => {
                let (mut target, ty) = self.target(inner)?;
                let value = self.unifier.fresh();
                self.demand(
                    Constraint::Field { record: ty, field: field.name.clone(), value: value.clone() },
                    inner.span,
                );
                target.path.push(Step::Field(self.open_field(&field.name)));
                target.span = e.span;
                Some((target, value))
            }
            // A tree function's name may be the user's own function.
            ast::ExprKind::Builtin(b, args) if super::expressions::contextual_name(*b).is_some() => {
                let name = super::expressions::contextual_name(*b).unwrap_or_default();
                let callee = ast::Expr { kind: ast::ExprKind::Ident(name.into()), span: e.span };
                let apply = ast::ExprKind::Apply(Box::new(callee), args.clone());
                self.target(&ast::Expr { kind: apply, span: e.span })
            }
            _ => {
                self.error(Diagnostic::error(e.span, "this cannot be assigned to"));
                None
            }
        }
    }

    fn written(&mut self, ids: &[ast::Ident]) -> Vec<VarId> {
        let mut vars = Vec::new();
        for id in ids {
            let renamed = match self.target_of_definition(&id.name).map(|e| e.kind) {
                Some(ast::ExprKind::Ident(name)) => name,
                _ => id.name.clone(),
            };
            if let Some(var) = self.writable(&renamed, id.span) {
                vars.push(var);
            }
        }
        vars
    }

    /// The variable of this name, if it may be written here.
    fn writable(&mut self, name: &Name, span: Span) -> Option<VarId> {
        if let Some(local) = self.locals.iter().rev().find(|l| l.name == *name).cloned() {
            if let Access::Read(what) = local.access {
                self.error(Diagnostic::error(span, format!("`{name}` cannot be assigned to: it is {what}")));
                return None;
            }
            return Some(local.var);
        }
        let Some(entry) = self.scope().names.get(name).cloned() else {
            self.unknown_target(name, span);
            return None;
        };
        match (entry.entity, entry.access) {
            (Entity::Var(var), Access::Write) => Some(var),
            (_, access) => {
                let what = match access {
                    Access::Read(what) => what,
                    Access::Write => "no variable",
                };
                self.error(
                    Diagnostic::error(span, format!("`{name}` cannot be assigned to: it is {what}"))
                        .label(entry.span, "declared here"),
                );
                None
            }
        }
    }

    fn call(&mut self, results: &[ast::Expr], op: &ast::Ident, args: &[ast::Expr], span: Span) -> Stmt {
        let skip = Stmt { kind: StmtKind::Skip, span };
        if results.is_empty()
            && let Some(def) = self.definition(&op.name)
        {
            if let Some(external) = self.external_substitution(&op.name, args, span) {
                return external;
            }
            return self.call_stmt(&def, args, span).unwrap_or(skip);
        }
        let Some(id) = self.scope().operations.get(&op.name).copied() else {
            let near = crate::scope::nearest(&op.name, self.scope().operations.keys()).cloned();
            let mut d = Diagnostic::error(op.span, format!("unknown operation `{}`", op.name));
            if results.is_empty()
                && args.is_empty()
                && (self.scope().names.contains_key(&op.name) || self.local(&op.name).is_some())
            {
                d = d.help(format!(
                    "a value is no substitution; to give it as a result write `r := {}`",
                    op.name
                ));
            } else if let Some(near) = near {
                d = d.help(format!("did you mean `{near}`?"));
            }
            self.error(d);
            return skip;
        };
        let signature = self.signatures[id.0 as usize].clone();
        if self.scope().own_operations.contains(&op.name) {
            self.error(
                Diagnostic::error(op.span, format!("`{}` is an operation of the same machine", op.name))
                    .label(signature.span, "declared here")
                    .help("operations call those of included machines only; a definition may hold what two share"),
            );
            return skip;
        }
        let typed: Vec<Expr> = args.iter().map(|a| self.expr(a)).collect();
        if typed.len() != signature.params.len() {
            self.error(
                Diagnostic::error(
                    span,
                    format!(
                        "the operation `{}` takes {}, not {}",
                        op.name,
                        count(signature.params.len(), "argument"),
                        typed.len()
                    ),
                )
                .label(signature.span, "declared here"),
            );
            return skip;
        }
        if results.len() != signature.results.len() {
            self.error(
                Diagnostic::error(
                    span,
                    format!(
                        "the operation `{}` gives {}, not {}",
                        op.name,
                        count(signature.results.len(), "result"),
                        results.len()
                    ),
                )
                .label(signature.span, "declared here"),
            );
            return skip;
        }
        for (arg, param) in typed.iter().zip(&signature.params) {
            let decl = self.vars[param.0 as usize].clone();
            let shown = self.show(&decl.ty);
            self.expect(
                arg,
                &decl.ty,
                "this argument",
                Some((decl.span, format!("the parameter is of type {shown}"))),
            );
        }
        let mut places = Vec::new();
        for (result, formal) in results.iter().zip(&signature.results) {
            let Some((place, ty)) = self.target(result) else { continue };
            let decl = self.vars[formal.0 as usize].clone();
            if !self.unifier.unify(&ty, &decl.ty) {
                let (want, found) = (self.show(&decl.ty), self.show(&ty));
                self.error(
                    Diagnostic::error(
                        place.span,
                        format!("type clash: the result is of type {want}, not {found}"),
                    )
                    .note(format!("this is of type {found}"))
                    .label(decl.span, format!("the result is of type {want}")),
                );
            }
            places.push(place);
        }
        Stmt { kind: StmtKind::Call { op: id, args: typed, results: places }, span }
    }
}
