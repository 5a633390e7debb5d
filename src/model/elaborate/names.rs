//! Names: what an identifier stands for, and the calls of definitions.

use super::{EXPANSION_DEPTH, Elaborator, pair_up};
use crate::definitions::{Expansion, as_statement, expand_expr, expand_stmt};
use crate::scope::Entity;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::text::distance;
use bombus_base::{Name, Span};
use bombus_lang::typed::{Expr, ExprKind, Pred, Stmt, Type, VarId};
use bombus_syntax::ast::{self, DefBody, Definition};
use bombus_syntax::builtins;
use std::sync::Arc;

impl Elaborator {
    /// The bound variable of this name, innermost first.
    pub(super) fn local(&self, name: &str) -> Option<VarId> {
        self.locals.iter().rev().find(|l| &*l.name == name).map(|l| l.var)
    }

    /// The definition a name calls; bound names come first.
    pub(super) fn definition(&self, name: &str) -> Option<Arc<Definition>> {
        if self.local(name).is_some() {
            return None;
        }
        self.scope().definitions.get(name).cloned()
    }

    pub fn variable(&mut self, var: VarId, span: Span) -> Expr {
        Expr { kind: ExprKind::Var(var), ty: self.vars[var.0 as usize].ty.clone(), span }
    }

    /// A name that stands for a value.
    pub(super) fn name(&mut self, name: &Name, span: Span) -> Expr {
        if let Some(var) = self.local(name) {
            return self.variable(var, span);
        }
        if let Some(def) = self.definition(name) {
            return self.call_expr(&def, &[], span);
        }
        let Some(entry) = self.scope().names.get(name).cloned() else {
            self.unknown(name, span);
            return self.poison(span);
        };
        match entry.entity {
            Entity::Var(var) => self.variable(var, span),
            Entity::Set(set) => {
                let ty = Type::Set(set);
                Expr { kind: ExprKind::TypeSet(ty.clone()), ty: Type::pow(ty), span }
            }
            Entity::Elem(set, n) => Expr { kind: ExprKind::Elem(set, n), ty: Type::Set(set), span },
            Entity::Free(id) => {
                let ty = Type::Free(id);
                Expr { kind: ExprKind::TypeSet(ty.clone()), ty: Type::pow(ty), span }
            }
            Entity::Constructor(id, n) => {
                match self.freetypes[id.0 as usize].constructors[n as usize].1.clone() {
                    None => Expr { kind: ExprKind::Construct(id, n, None), ty: Type::Free(id), span },
                    Some(arg) => {
                        Expr { kind: ExprKind::Constructor(id, n), ty: Type::rel(arg, Type::Free(id)), span }
                    }
                }
            }
            Entity::Actual(actual, scope) => {
                let mut e = self.within(scope, |this| this.expr(&actual));
                e.span = span;
                e
            }
        }
    }

    /// `name(args)` where the name may call a definition, a constructor or an external function.
    pub(super) fn call_by_name(
        &mut self,
        name: &Name,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
    ) -> Expr {
        if let Some(def) = self.definition(name) {
            if !def.params.is_empty() || self.external_declaration("FUNCTION", name).is_some() {
                return self.call_expr(&def, args, span);
            }
        } else if self.local(name).is_none()
            && let Some(Entity::Constructor(id, n)) = self.scope().names.get(name).map(|e| e.entity.clone())
            && let Some(arg_type) = self.freetypes[id.0 as usize].constructors[n as usize].1.clone()
        {
            let values = args.iter().map(|a| self.expr(a)).collect();
            let Some(arg) = pair_up(values) else { return self.poison(span) };
            self.expect(
                &arg,
                &arg_type,
                &format!("the argument of `{name}`"),
                Some((callee.span, "of this constructor".into())),
            );
            return Expr { kind: ExprKind::Construct(id, n, Some(Box::new(arg))), ty: Type::Free(id), span };
        }
        let function = self.expr(callee);
        self.apply(function, args, span)
    }

    /// What is assigned to is nothing that could be a parameter.
    pub(super) fn unknown_target(&mut self, name: &str, span: Span) {
        let locals: Vec<Name> = self.locals.iter().map(|l| l.name.clone()).collect();
        let near = self.scope().nearest(name, locals.iter()).cloned();
        let near = near.filter(|near| name.chars().count() > 2 || near.eq_ignore_ascii_case(name));
        let d = Diagnostic::error(span, format!("unknown identifier `{name}`"));
        let d = match (self.scope().hidden.get(name), near) {
            (Some(why), _) => d.help(*why),
            (None, Some(near)) => d.help(format!("did you mean `{near}`?")),
            (None, None) => d.help("what is assigned to is declared under VARIABLES, by VAR, or as a result"),
        };
        let d = self.traced_name(d, name);
        self.error(d);
    }

    pub(super) fn unknown(&mut self, name: &str, span: Span) {
        let locals: Vec<Name> = self.locals.iter().map(|l| l.name.clone()).collect();
        let near = self.scope().nearest(name, locals.iter()).cloned();
        let mut d = Diagnostic::error(span, format!("unknown identifier `{name}`"));
        let parameter = self.as_parameter(name);
        // A name of one or two letters is near to every other one; only its case can be a slip.
        let short = name.chars().count() <= 2;
        let near = near.filter(|near| !short || parameter.is_none() || near.eq_ignore_ascii_case(name));
        let function = near_function(name);
        let nearer = |word: &str, near: &str| distance(name, word) < distance(name, near);
        let near = near.filter(|near| !function.is_some_and(|word| nearer(word, near)));
        if let Some(why) = self.scope().hidden.get(name) {
            d = d.help(*why);
        } else if let Some(near) = near {
            d = d.help(format!("did you mean `{near}`?"));
        } else if self.scope().operations.contains_key(name) {
            d = d.help("an operation cannot be used as a value; call it as a substitution");
        } else if let Some(word) = function {
            d = d.help(format!("did you mean `{word}`?"));
        } else if let Some(parameter) = &parameter {
            d = d.help(parameter);
        } else if name.chars().count() == 1 {
            d = d
                .help("a parameter is declared behind the name of its operation, a variable under VARIABLES");
        }
        if let (true, Some(parameter), [_]) = (short, &parameter, &d.help[..])
            && !d.help.contains(parameter)
        {
            d = d.help(parameter);
        }
        let d = self.traced_name(d, name);
        self.error(d);
    }

    /// The call of a definition where an expression is wanted.
    fn call_expr(&mut self, def: &Arc<Definition>, args: &[ast::Expr], span: Span) -> Expr {
        if let Some(external) = self.external_function(def, args, span) {
            return external;
        }
        self.expand_call(def, args, span).unwrap_or_else(|| self.poison(span))
    }

    /// The body of a definition as a value; none if it is not one, which has been reported.
    pub(super) fn expand_call(
        &mut self,
        def: &Arc<Definition>,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let DefBody::Expr(body) = &def.body else {
            self.error(
                Diagnostic::error(
                    span,
                    format!("`{}` is a substitution, but a value is wanted here", def.name.name),
                )
                .label(def.name.span, "defined here"),
            );
            return None;
        };
        self.expanding(def, args, span, |this| {
            if args.is_empty() {
                return Some(this.expr(body));
            }
            let expansion = this.expanded(def, span, expand_expr(def, body, args))?;
            Some(this.expr(&expansion))
        })
        .map(|mut e| {
            e.span = span;
            e
        })
    }

    /// The body of a definition with arguments in place, where a predicate is wanted.
    pub(super) fn call_pred(&mut self, def: &Arc<Definition>, args: &[ast::Expr], span: Span) -> Pred {
        if let Some(external) = self.external_predicate(def, args, span) {
            return external;
        }
        match self.expand_predicate(def, args, span) {
            // The whole stands where it is called; its parts stand in the definition.
            Some(body) => Pred { kind: body.kind, span },
            None => self.poison_pred(span),
        }
    }

    /// The body of a definition as a predicate; none if it cannot be expanded, which has been reported.
    pub(super) fn expand_predicate(
        &mut self,
        def: &Arc<Definition>,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Pred> {
        let DefBody::Expr(body) = &def.body else {
            self.error(
                Diagnostic::error(
                    span,
                    format!("`{}` is a substitution, but a predicate is wanted here", def.name.name),
                )
                .label(def.name.span, "defined here"),
            );
            return None;
        };
        self.expanding(def, args, span, |this| {
            if args.is_empty() {
                return Some(this.pred(body));
            }
            let expansion = this.expanded(def, span, expand_expr(def, body, args))?;
            Some(this.pred(&expansion))
        })
    }

    /// The call of a definition where a substitution is wanted.
    pub(super) fn call_stmt(
        &mut self,
        def: &Arc<Definition>,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Stmt> {
        let Some(body) = as_statement(&def.body) else {
            self.error(
                Diagnostic::error(span, format!("`{}` is not a substitution", def.name.name))
                    .label(def.name.span, "defined here"),
            );
            return None;
        };
        self.expanding(def, args, span, |this| {
            if args.is_empty() {
                return Some(this.stmt(&body));
            }
            let expansion = this.expanded(def, span, expand_stmt(def, &body, args))?;
            Some(this.stmt(&expansion))
        })
    }

    /// A definition in the place of an assignment's target.
    pub(super) fn target_of_definition(&mut self, name: &str) -> Option<ast::Expr> {
        let def = self.definition(name)?;
        match &def.body {
            DefBody::Expr(body) if def.params.is_empty() => Some(body.clone()),
            _ => None,
        }
    }

    fn expanding<T>(
        &mut self,
        def: &Definition,
        args: &[ast::Expr],
        span: Span,
        work: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let (wanted, given) = (def.params.len(), args.len());
        if wanted != given {
            self.error(
                Diagnostic::error(
                    span,
                    format!(
                        "the definition `{}` takes {}, not {given}",
                        def.name.name,
                        count(wanted, "argument")
                    ),
                )
                .label(def.name.span, "defined here"),
            );
            return None;
        }
        if self.calls.len() >= EXPANSION_DEPTH {
            self.error(Diagnostic::error(
                span,
                format!("definitions are nested more than {EXPANSION_DEPTH} deep"),
            ));
            return None;
        }
        if !self.spend(1) {
            return None;
        }
        self.calls.push((def.name.name.clone(), span));
        let result = work(self);
        self.calls.pop();
        result
    }

    fn expanded<T>(&mut self, def: &Definition, span: Span, expansion: Expansion<T>) -> Option<T> {
        for (name, binder) in &expansion.captured {
            if self.warned.insert((*binder, name.clone())) {
                self.diagnostics.push(
                    Diagnostic::warning(
                        span,
                        format!("the argument's `{name}` is captured by a bound variable of the definition `{}`", def.name.name),
                    )
                    .label(*binder, "bound here")
                    .help("rename the bound variable of the definition; definitions are expanded as they are written"),
                );
            }
        }
        self.spend(expansion.nodes).then_some(expansion.body)
    }

    pub(super) fn inside_definition(&self) -> bool {
        !self.calls.is_empty()
    }
}

/// `1 argument`, `2 arguments`.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The function of the language whose word is nearest, if it is near.
fn near_function(name: &str) -> Option<&'static str> {
    let (changes, word) = builtins::words().into_iter().map(|word| (distance(name, word), word)).min()?;
    (changes <= 2 && changes + 1 < word.len()).then_some(word)
}
