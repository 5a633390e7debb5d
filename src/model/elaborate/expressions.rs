//! Expressions.

use super::names::count;
use super::{Elaborator, pair_up, product_of};
use crate::overload::Constraint;
use crate::scope::Access;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Int, Name, Span};
use bombus_lang::typed::{
    BinOp, Expr, ExprKind, External, FunctionConst, Pred, PredKind, Type, UnOp, VarId, VarKind,
};
use bombus_syntax::ast::{self, BigOp, Builtin, Const, TemplatePart};
use bombus_syntax::builtins;

/// Bound variables of quantifiers and their kin cannot be assigned to.
pub(super) const BOUND: Access = Access::Read("a bound variable");
/// A field whose place is not known yet: its number is this plus an index into `Elaborator::fields`.
pub const OPEN_FIELD: usize = 1 << 32;

impl Elaborator {
    pub fn expr(&mut self, e: &ast::Expr) -> Expr {
        let span = e.span;
        if self.inside_definition() && !self.spend(1) {
            return self.poison(span);
        }
        match &e.kind {
            ast::ExprKind::Ident(name) => self.name(name, span),
            ast::ExprKind::Old(name) => self.old(name, span),
            ast::ExprKind::Primed(name) => {
                // After-values are bound as locals under their primed name.
                let primed: Name = format!("{name}'").into();
                self.name(&primed, span)
            }
            ast::ExprKind::Int(n) => integer(n.clone(), span),
            ast::ExprKind::Real(text) => Expr { kind: ExprKind::Real(text.clone()), ty: Type::Real, span },
            ast::ExprKind::Str(text) => Expr { kind: ExprKind::Str(text.clone()), ty: Type::String, span },
            ast::ExprKind::Template(parts) => self.template(parts, span),
            ast::ExprKind::Const(c) => self.constant(*c, span),
            ast::ExprKind::Builtin(b, args) => self.builtin(*b, args, span),
            ast::ExprKind::Neg(x) => self.negation(x, span),
            ast::ExprKind::Inverse(x) => {
                let (a, b) = (self.unifier.fresh(), self.unifier.fresh());
                let r = self.expr(x);
                self.expect(&r, &Type::rel(a.clone(), b.clone()), "the operand of `~`", None);
                unary(UnOp::Inverse, r, Type::rel(b, a), span)
            }
            ast::ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span),
            ast::ExprKind::Apply(f, args) => match &f.kind {
                ast::ExprKind::Ident(name) => self.call_by_name(name, f, args, span),
                _ => {
                    let function = self.expr(f);
                    self.apply(function, args, span)
                }
            },
            ast::ExprKind::Image(r, s) => {
                let (a, b) = (self.unifier.fresh(), self.unifier.fresh());
                let (r, s) = (self.expr(r), self.expr(s));
                let shown = self.show(&s.ty);
                self.expect(
                    &r,
                    &Type::rel(a.clone(), b.clone()),
                    "the relation of an image",
                    Some((s.span, format!("applied to a set of type {shown}"))),
                );
                let shown = self.show(&r.ty);
                self.expect(
                    &s,
                    &Type::pow(a),
                    "the set of an image",
                    Some((r.span, format!("the relation is of type {shown}"))),
                );
                binary(BinOp::Image, r, s, Type::pow(b), span)
            }
            ast::ExprKind::Field(r, field) => {
                let r = self.expr(r);
                let value = self.unifier.fresh();
                self.demand(
                    Constraint::Field {
                        record: r.ty.clone(),
                        field: field.name.clone(),
                        value: value.clone(),
                    },
                    r.span,
                );
                let index = self.open_field(&field.name);
                Expr { kind: ExprKind::Field(Box::new(r), index), ty: value, span }
            }
            ast::ExprKind::SetExt(items) => {
                let (items, ty) = self.items(items, "a set");
                Expr { kind: ExprKind::SetExt(items), ty: Type::pow(ty), span }
            }
            ast::ExprKind::SeqExt(items) => {
                let (items, ty) = self.items(items, "a sequence");
                Expr { kind: ExprKind::SeqExt(items), ty: Type::seq(ty), span }
            }
            ast::ExprKind::Rec(fields) => {
                let (values, ty) = self.record(fields, |_, e| e.ty.clone());
                Expr { kind: ExprKind::Rec(values), ty, span }
            }
            ast::ExprKind::Struct(fields) => {
                let (sets, ty) = self.record(fields, |this, e| {
                    let element = this.unifier.fresh();
                    this.expect(e, &Type::pow(element.clone()), "a field of `struct`", None);
                    element
                });
                Expr { kind: ExprKind::StructSet(sets), ty: Type::pow(ty), span }
            }
            ast::ExprKind::Compr(ids, p) => {
                let (vars, p) = self.bind(ids, VarKind::Local, BOUND, |this, _| this.pred(p));
                let ty = self.tuple_type(&vars);
                Expr { kind: ExprKind::Compr(vars, Box::new(p)), ty: Type::pow(ty), span }
            }
            ast::ExprKind::Big(op, ids, p, x) => self.big(*op, ids, p, x, span),
            ast::ExprKind::If(branches, other) => self.conditional(branches, other, span),
            ast::ExprKind::Let(ids, equations, body) => {
                let (bindings, body) = self.let_in(ids, equations, |this| this.expr(body));
                let ty = body.ty.clone();
                Expr { kind: ExprKind::Let(bindings, Box::new(body)), ty, span }
            }
            ast::ExprKind::Label(_, inner) => self.expr(inner),
            ast::ExprKind::Symbolic(x) => {
                let x = self.expr(x);
                let ty = x.ty.clone();
                Expr { kind: ExprKind::Symbolic(Box::new(x)), ty, span }
            }
            ast::ExprKind::Not(_)
            | ast::ExprKind::And(_)
            | ast::ExprKind::Or(_)
            | ast::ExprKind::Quant(..)
            | ast::ExprKind::After(..) => self.predicate_as_value(span),
        }
    }

    pub(super) fn predicate_as_value(&mut self, span: Span) -> Expr {
        self.error(
            Diagnostic::error(span, "a value is wanted here, but this is a predicate")
                .help("write `bool(…)` round the predicate to get its truth value"),
        );
        self.poison(span)
    }

    pub(super) fn tuple_type(&self, vars: &[VarId]) -> Type {
        product_of(vars.iter().map(|v| self.vars[v.0 as usize].ty.clone())).unwrap_or(Type::Any)
    }

    pub(super) fn open_field(&mut self, name: &Name) -> usize {
        self.fields.push(name.clone());
        OPEN_FIELD + self.fields.len() - 1
    }

    fn old(&mut self, name: &Name, span: Span) -> Expr {
        let e = self.name(name, span);
        match e.kind {
            ExprKind::Var(var) => Expr { kind: ExprKind::Old(var), ..e },
            _ => {
                self.error(Diagnostic::error(
                    span,
                    format!("`{name}$0` is used, but `{name}` is no variable"),
                ));
                self.poison(span)
            }
        }
    }

    /// `f(args)` with the function known.
    pub(super) fn apply(&mut self, function: Expr, args: &[ast::Expr], span: Span) -> Expr {
        let values: Vec<Expr> = args.iter().map(|a| self.expr(a)).collect();
        let Some(arg) = pair_up(values) else {
            self.error(Diagnostic::error(span, "a function is applied to no argument"));
            return self.poison(span);
        };
        let (from, to) = (self.unifier.fresh(), self.unifier.fresh());
        let shown = self.show(&arg.ty);
        if self.expect(
            &function,
            &Type::rel(from.clone(), to.clone()),
            "what is applied to an argument",
            Some((arg.span, format!("the argument is of type {shown}"))),
        ) {
            let shown = self.show(&function.ty);
            self.expect(
                &arg,
                &from,
                "the argument",
                Some((function.span, format!("the function is of type {shown}"))),
            );
        }
        Expr { kind: ExprKind::Apply(Box::new(function), Box::new(arg)), ty: to, span }
    }

    fn items(&mut self, items: &[ast::Expr], what: &str) -> (Vec<Expr>, Type) {
        let ty = self.unifier.fresh();
        let mut typed: Vec<Expr> = Vec::with_capacity(items.len());
        for item in items {
            let item = self.expr(item);
            let first = typed
                .first()
                .map(|f| (f.span, format!("an earlier element of {what} is of type {}", self.show(&f.ty))));
            self.expect(&item, &ty, &format!("this element of {what}"), first);
            typed.push(item);
        }
        (typed, ty)
    }

    /// Fields sorted by name, with the type that `field_type` gives each.
    fn record(
        &mut self,
        fields: &[(ast::Ident, ast::Expr)],
        field_type: impl Fn(&mut Self, &Expr) -> Type,
    ) -> (Vec<Expr>, Type) {
        let mut entries: Vec<(Name, Type, Expr)> = Vec::new();
        for (ident, value) in fields {
            let value = self.expr(value);
            let ty = field_type(self, &value);
            if entries.iter().any(|(n, _, _)| *n == ident.name) {
                self.error(Diagnostic::error(
                    ident.span,
                    format!("the field `{}` stands twice in one record", ident.name),
                ));
                continue;
            }
            entries.push((ident.name.clone(), ty, value));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        let ty = Type::Struct(entries.iter().map(|(n, t, _)| (n.clone(), t.clone())).collect());
        (entries.into_iter().map(|(_, _, v)| v).collect(), ty)
    }

    fn big(&mut self, op: BigOp, ids: &[ast::Ident], p: &ast::Expr, x: &ast::Expr, span: Span) -> Expr {
        let (vars, (p, x)) = self.bind(ids, VarKind::Local, BOUND, |this, _| (this.pred(p), this.expr(x)));
        let ty = match op {
            BigOp::Lambda => Type::rel(self.tuple_type(&vars), x.ty.clone()),
            BigOp::Sigma | BigOp::Pi => {
                self.demand(Constraint::Number(x.ty.clone()), x.span);
                x.ty.clone()
            }
            BigOp::Union | BigOp::Inter => {
                let element = self.unifier.fresh();
                self.expect(&x, &Type::pow(element), "the expression under `UNION` or `INTER`", None);
                x.ty.clone()
            }
            BigOp::SetOf => Type::pow(x.ty.clone()),
        };
        Expr { kind: ExprKind::Big(op, vars, Box::new(p), Box::new(x)), ty, span }
    }

    fn conditional(&mut self, branches: &[(ast::Expr, ast::Expr)], other: &ast::Expr, span: Span) -> Expr {
        let typed: Vec<(Pred, Expr)> = branches.iter().map(|(c, e)| (self.pred(c), self.expr(e))).collect();
        let mut result = self.expr(other);
        for (cond, value) in typed.into_iter().rev() {
            self.same(&value, &result, "IF");
            let ty = value.ty.clone();
            result = Expr { kind: ExprKind::If(Box::new(cond), Box::new(value), Box::new(result)), ty, span };
        }
        result
    }

    /// Strings with spliced values are concatenations.
    fn template(&mut self, parts: &[TemplatePart], span: Span) -> Expr {
        let mut result: Option<Expr> = None;
        for part in parts {
            let next = match part {
                TemplatePart::Text(text) => {
                    Expr { kind: ExprKind::Str(text.clone()), ty: Type::String, span }
                }
                TemplatePart::Expr(e) => {
                    let value = self.expr(e);
                    let external = External { name: "TO_STRING".into() };
                    Expr {
                        span: value.span,
                        kind: ExprKind::External(external, vec![value]),
                        ty: Type::String,
                    }
                }
            };
            result = Some(match result {
                None => next,
                Some(before) => binary(BinOp::Concat, before, next, Type::String, span),
            });
        }
        result.unwrap_or_else(|| Expr { kind: ExprKind::Str("".into()), ty: Type::String, span })
    }

    fn negation(&mut self, x: &ast::Expr, span: Span) -> Expr {
        let x = self.expr(x);
        if let ExprKind::Int(n) = &x.kind {
            return integer(n.neg(), span);
        }
        self.demand(Constraint::Number(x.ty.clone()), x.span);
        let ty = x.ty.clone();
        unary(UnOp::Neg, x, ty, span)
    }

    fn constant(&mut self, c: Const, span: Span) -> Expr {
        let whole = |ty: Type| Expr { kind: ExprKind::TypeSet(ty.clone()), ty: Type::pow(ty), span };
        let from = |lower: Int, upper: &Int| {
            binary(
                BinOp::Interval,
                integer(lower, span),
                integer(upper.clone(), span),
                Type::pow(Type::Integer),
                span,
            )
        };
        match c {
            Const::True | Const::False => {
                Expr { kind: ExprKind::Bool(c == Const::True), ty: Type::Bool, span }
            }
            Const::BTrue | Const::BFalse => self.predicate_as_value(span),
            Const::Maxint => integer(self.maxint.clone(), span),
            Const::Minint => integer(self.minint.clone(), span),
            Const::Integer => whole(Type::Integer),
            Const::Natural => Expr { kind: ExprKind::Natural, ty: Type::pow(Type::Integer), span },
            Const::Natural1 => Expr { kind: ExprKind::Natural1, ty: Type::pow(Type::Integer), span },
            Const::Int => from(self.minint.clone(), &self.maxint),
            Const::Nat => from(Int::ZERO, &self.maxint),
            Const::Nat1 => from(Int::ONE, &self.maxint),
            Const::Bool => whole(Type::Bool),
            Const::String => whole(Type::String),
            Const::Real | Const::Float => whole(Type::Real),
            Const::EmptySet => {
                let element = self.unifier.fresh();
                Expr { kind: ExprKind::SetExt(Vec::new()), ty: Type::pow(element), span }
            }
            Const::EmptySeq => {
                let element = self.unifier.fresh();
                Expr { kind: ExprKind::SeqExt(Vec::new()), ty: Type::seq(element), span }
            }
            Const::Succ | Const::Pred => {
                let which = if c == Const::Succ { FunctionConst::Succ } else { FunctionConst::Pred };
                Expr { kind: ExprKind::Function(which), ty: Type::rel(Type::Integer, Type::Integer), span }
            }
            Const::Id => {
                let a = self.unifier.fresh();
                Expr { kind: ExprKind::Function(FunctionConst::Id), ty: Type::rel(a.clone(), a), span }
            }
            Const::Prj1 | Const::Prj2 => {
                let (a, b) = (self.unifier.fresh(), self.unifier.fresh());
                let (which, to) = match c {
                    Const::Prj1 => (FunctionConst::Prj1, a.clone()),
                    _ => (FunctionConst::Prj2, b.clone()),
                };
                Expr { kind: ExprKind::Function(which), ty: Type::rel(Type::prod(a, b), to), span }
            }
        }
    }

    /// `LET x,y BE x=E & y=F IN …`: one equation for each name, none of which uses the names that LET introduces.
    pub(super) fn let_in<T>(
        &mut self,
        ids: &[ast::Ident],
        equations: &ast::Expr,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (Vec<(VarId, Expr)>, T) {
        let vars = self.new_vars(ids, VarKind::Local);
        let mut right: Vec<Option<&ast::Expr>> = vec![None; ids.len()];
        for equation in equations.conjuncts() {
            let place = match &equation.kind {
                ast::ExprKind::Binary(ast::BinOp::Equal, a, b) => match &a.kind {
                    ast::ExprKind::Ident(n) => ids.iter().position(|i| i.name == *n).map(|i| (i, &**b)),
                    _ => None,
                },
                _ => None,
            };
            match place {
                Some((i, value)) if right[i].is_none() => right[i] = Some(value),
                Some((i, _)) => self
                    .error(Diagnostic::error(equation.span, format!("LET defines `{}` twice", ids[i].name))),
                None => self.error(Diagnostic::error(
                    equation.span,
                    "LET takes equations `x = E`, one for each of its names",
                )),
            }
        }
        for (ident, value) in ids.iter().zip(&right) {
            if value.is_none() {
                self.error(Diagnostic::error(ident.span, format!("LET gives no value to `{}`", ident.name)));
            }
        }
        for value in right.iter().flatten() {
            let used = crate::trees::names_of(value);
            if let Some(ident) = ids.iter().find(|i| used.contains(&i.name)) {
                self.error(
                    Diagnostic::error(
                        value.span,
                        format!("an equation of LET uses `{}`, which the same LET introduces", ident.name),
                    )
                    .label(ident.span, "introduced here")
                    .help("put one LET inside another"),
                );
            }
        }
        let mut bindings = Vec::new();
        let result = self.with_locals(ids, &vars, BOUND, |this| {
            for (i, value) in right.iter().enumerate() {
                let Some(value) = value else { continue };
                let value = this.expr(value);
                let var = this.variable(vars[i], ids[i].span);
                this.same(&var, &value, "=");
                bindings.push((vars[i], value));
            }
            body(this)
        });
        (bindings, result)
    }

    pub(super) fn arity(&mut self, name: &str, args: &[ast::Expr], wanted: usize, span: Span) -> bool {
        if args.len() == wanted {
            return true;
        }
        self.error(Diagnostic::error(
            span,
            format!("`{name}` takes {}, not {}", count(wanted, "argument"), args.len()),
        ));
        false
    }

    /// `bool(P)`
    fn truth_value(&mut self, p: &ast::Expr, span: Span) -> Expr {
        let p = self.pred(p);
        let kind = match p.kind {
            PredKind::True => ExprKind::Bool(true),
            PredKind::False => ExprKind::Bool(false),
            _ => ExprKind::BoolOf(Box::new(p)),
        };
        Expr { kind, ty: Type::Bool, span }
    }

    fn builtin(&mut self, b: Builtin, args: &[ast::Expr], span: Span) -> Expr {
        if let Some(name) = contextual_name(b) {
            let name: Name = name.into();
            if self.local(&name).is_some()
                || self.definition(&name).is_some()
                || self.scope().names.contains_key(&name)
            {
                let callee = ast::Expr { kind: ast::ExprKind::Ident(name.clone()), span };
                return self.call_by_name(&name, &callee, args, span);
            }
        }
        match b {
            Builtin::Bool if args.len() == 1 => self.truth_value(&args[0], span),
            Builtin::Finite | Builtin::Partition => self.predicate_as_value(span),
            _ => self.function(b, args, span),
        }
    }
}

/// Tree functions are built in only as long as the model does not use their name otherwise.
pub(super) fn contextual_name(b: Builtin) -> Option<&'static str> {
    match b {
        Builtin::Finite => Some("finite"),
        Builtin::Partition => Some("partition"),
        _ => Some(builtins::spelling(b)).filter(|name| builtins::contextual_function(name) == Some(b)),
    }
}

pub(super) fn integer(n: Int, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(n), ty: Type::Integer, span }
}

pub(super) fn unary(op: UnOp, x: Expr, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Unary(op, Box::new(x)), ty, span }
}

pub(super) fn binary(op: BinOp, a: Expr, b: Expr, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
}
