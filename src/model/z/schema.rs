//! The schema calculus on pairs of a signature and a predicate.
//!
//! In: schema expressions. Out: schemas; each has variables of its own. The set that a component is declared with is a
//! conjunct of the predicate like any other.

use super::copy::Replacement;
use super::elaborate::{Elaboration, conjunction, exists, negation, relation};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, Type, VarId};
use bombus_syntax::z::tree::{
    Connective, Decl, Expr as Tree, Frame, Logic, LogicKind, Quantifier, SchemaRef, SchemaText,
};

#[derive(Clone, Debug)]
pub(super) struct Component {
    pub name: Name,
    pub ty: Type,
    pub var: VarId,
    pub span: Span,
}

/// Components in the order of their declarations, and the conjuncts that hold of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    pub components: Vec<Component>,
    pub preds: Vec<Pred>,
}

/// One place of a characteristic tuple.
pub(super) enum Place {
    Var(VarId),
    /// The binding of an included schema: names of the fields and the variables in scope.
    Binding(Vec<(Name, VarId)>),
}

impl Schema {
    pub fn get(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|c| &*c.name == name)
    }

    pub fn vars(&self) -> Vec<VarId> {
        self.components.iter().map(|c| c.var).collect()
    }

    /// The components as names in scope.
    pub fn names(&self) -> Vec<(Name, Expr)> {
        let var = |c: &Component| Expr { kind: ExprKind::Var(c.var), ty: c.ty.clone(), span: c.span };
        self.components.iter().map(|c| (c.name.clone(), var(c))).collect()
    }
}

/// Marks the components between two schemas that are composed or piped.
const HIDDEN: char = '·';

pub(super) fn decorated(name: &Name, decor: &str) -> Name {
    if decor.is_empty() { name.clone() } else { format!("{name}{decor}").into() }
}

impl<'s> Elaboration<'s> {
    /// Adds the components of a schema under new names, identifies those of the same name, and takes its predicate
    /// over. The places that the components went to come back.
    pub fn include(
        &mut self,
        into: &mut Schema,
        schema: &Schema,
        rename: impl Fn(&Name) -> Name,
        span: Span,
    ) -> Vec<VarId> {
        let mut with = Replacement::new();
        let mut places = Vec::new();
        for c in &schema.components {
            let name = rename(&c.name);
            let var = self.component(into, &name, c.ty.clone(), c.span, span);
            with.insert(c.var, self.var(var, span));
            places.push(var);
        }
        let preds = self.copy(with, span, |copy| copy.preds(&schema.preds)).unwrap_or_default();
        into.preds.extend(preds);
        places
    }

    /// The component of this name; one that is there already must have the same type.
    fn component(&mut self, into: &mut Schema, name: &Name, ty: Type, span: Span, at: Span) -> VarId {
        if let Some(old) = into.get(name).cloned() {
            if !self.unifier.unify(&old.ty, &ty) {
                let (first, second) = (self.show(&old.ty), self.show(&ty));
                // What composition and piping hide has the name of a component and a mark behind it.
                let text =
                    format!("type clash: the component `{}` has two types", name.trim_end_matches(HIDDEN));
                let d = Diagnostic::error(at, text).label(old.span, format!("of type `{first}` here"));
                self.error(d.label(span, format!("of type `{second}` here")));
            }
            return old.var;
        }
        let var = self.new_var(name, ty.clone(), span);
        into.components.push(Component { name: name.clone(), ty, var, span });
        var
    }

    /// A copy with variables of its own.
    pub fn instance(&mut self, schema: &Schema, rename: impl Fn(&Name) -> Name, span: Span) -> Schema {
        let mut copy = Schema::default();
        self.include(&mut copy, schema, rename, span);
        copy
    }

    /// Both schemas over one signature; what each says stays apart.
    fn merged(&mut self, a: Schema, b: &Schema, span: Span) -> (Schema, Vec<Pred>, Vec<Pred>) {
        let mut both = a;
        let left = std::mem::take(&mut both.preds);
        self.include(&mut both, b, Name::clone, span);
        let right = std::mem::take(&mut both.preds);
        (both, left, right)
    }

    // ----- schema texts -----

    /// The declarations and predicates of a text; what it declares is bound while `work` goes on.
    pub fn text<T>(
        &mut self,
        text: &'s SchemaText,
        work: impl FnOnce(&mut Self, &mut Schema, Vec<Place>) -> T,
    ) -> T {
        let (mut schema, places) = self.declarations(text);
        self.binding(schema.names(), |this| {
            for p in &text.preds {
                let p = this.pred(p);
                schema.preds.push(p);
            }
            work(this, &mut schema, places)
        })
    }

    pub fn declarations(&mut self, text: &'s SchemaText) -> (Schema, Vec<Place>) {
        let mut schema = Schema::default();
        let mut places = Vec::new();
        for decl in &text.decls {
            match decl {
                Decl::Names(names, set) => {
                    let set = self.expr(set);
                    let ty = self.element_type(&set, "what a variable is declared with");
                    for name in names {
                        let var = self.component(&mut schema, &name.full(), ty.clone(), name.span, name.span);
                        let member = self.var(var, name.span);
                        let copy = self.copy_expr(&set);
                        let pred = self.member(member, copy, name.span.to(set.span));
                        schema.preds.push(pred);
                        places.push(Place::Var(var));
                    }
                }
                Decl::Include(reference) => {
                    let Some(included) = self.reference(reference) else { continue };
                    let vars = self.include(&mut schema, &included, Name::clone, reference.span);
                    let decor = &reference.name.decor;
                    let field = |n: &Name| n.strip_suffix(&**decor).map_or_else(|| n.clone(), Name::from);
                    let fields = included.components.iter().zip(vars).map(|(c, v)| (field(&c.name), v));
                    places.push(Place::Binding(fields.collect()));
                }
            }
        }
        (schema, places)
    }

    // ----- references -----

    /// The schema that a reference stands for; none if it cannot be made out, which has been reported.
    pub fn reference(&mut self, r: &'s SchemaRef) -> Option<Schema> {
        let base = self.framed(r)?;
        for (_, old) in &r.renaming {
            let known = base.components.iter().any(|c| decorated(&c.name, &r.name.decor) == old.full());
            if !known {
                let text = format!("the schema `{}` has no component `{}`", r.name.full(), old.full());
                self.error(Diagnostic::error(old.span, text));
            }
        }
        let renamed = |n: &Name| {
            let name = decorated(n, &r.name.decor);
            r.renaming.iter().find(|(_, old)| old.full() == name).map_or(name, |(new, _)| new.full())
        };
        Some(self.instance(&base, renamed, r.span))
    }

    /// The schema without the decoration and renaming of the reference.
    fn framed(&mut self, r: &'s SchemaRef) -> Option<Schema> {
        let Some(frame) = r.frame else { return self.named(&r.name.base, r, &r.actuals) };
        let sign = if frame == Frame::Delta { "\\Delta" } else { "\\Xi" };
        let own: Name = format!("{sign} {}", r.name.base).into();
        if self.schemas.contains_key(&own) {
            return self.named(&own, r, &r.actuals);
        }
        let state = self.named(&r.name.base, r, &r.actuals)?;
        let mut both = self.instance(&state, Name::clone, r.span);
        self.include(&mut both, &state, |n| decorated(n, "'"), r.span);
        if frame == Frame::Xi {
            for c in &state.components {
                let (Some(old), Some(new)) = (both.get(&c.name), both.get(&decorated(&c.name, "'"))) else {
                    continue;
                };
                let (old, new) = (old.var, new.var);
                let equal = relation(RelOp::Equal, self.var(new, r.span), self.var(old, r.span));
                both.preds.push(equal);
            }
        }
        Some(both)
    }

    /// The schema of a name, with actual parameters for a generic one.
    fn named(&mut self, name: &Name, r: &'s SchemaRef, actuals: &'s [Tree]) -> Option<Schema> {
        let Some(def) = self.schemas.get(name) else {
            self.unknown(name, r.name.span);
            return None;
        };
        let (formals, body) = (def.formals, def.body);
        if formals.len() != actuals.len() {
            let text = format!(
                "the schema `{name}` has {} formal parameters, and {} actual ones are given",
                formals.len(),
                actuals.len()
            );
            self.error(Diagnostic::error(r.span, text));
            return None;
        }
        if let Some(value) = &def.value {
            return Some(value.clone());
        }
        let mut names = Vec::new();
        for (formal, actual) in formals.iter().zip(actuals) {
            let set = self.expr(actual);
            self.element_type(&set, "an actual parameter");
            names.push((formal.full(), set));
        }
        let value = self.defining(name, r.span, names, |this| this.schema(body))??;
        if let Some(def) = self.schemas.get_mut(name).filter(|d| d.formals.is_empty()) {
            def.value = Some(value.clone());
        }
        Some(value)
    }

    // ----- expressions -----

    /// A tree that must be a schema; none if it is not, which has been reported.
    pub fn schema(&mut self, l: &'s Logic) -> Option<Schema> {
        match &l.kind {
            LogicKind::Reference(r) => self.reference(r),
            LogicKind::Text(text) => Some(self.text(text, |_, schema, _| std::mem::take(schema))),
            LogicKind::Decorated(inner, decor) => {
                let schema = self.schema(inner)?;
                Some(self.instance(&schema, |n| decorated(n, decor), l.span))
            }
            LogicKind::Not(inner) => {
                let mut schema = self.schema(inner)?;
                let all = conjunction(std::mem::take(&mut schema.preds), inner.span);
                schema.preds.push(negation(all));
                Some(schema)
            }
            LogicKind::Binary(sign, a, b) => {
                let (a, b) = (self.schema(a), self.schema(b));
                Some(self.connected(*sign, a?, &b?, l.span))
            }
            LogicKind::Quantified(quantifier, text, body) => {
                let bound = self.text(text, |_, schema, _| std::mem::take(schema));
                let body = self.schema(body)?;
                Some(self.quantified(*quantifier, bound, &body, l.span))
            }
            LogicKind::Let(bindings, body) => {
                let names = bindings.iter().map(|(n, e)| (n.full(), self.expr(e))).collect();
                self.binding(names, |this| this.schema(body))
            }
            LogicKind::Hide(inner, names) => {
                let schema = self.schema(inner)?;
                for name in names.iter().filter(|n| schema.get(&n.full()).is_none()) {
                    let text = format!("there is no component `{}` to hide", name.full());
                    self.error(Diagnostic::error(name.span, text));
                }
                Some(hide(schema, |n| names.iter().any(|h| h.full() == *n), l.span))
            }
            LogicKind::Project(a, b) => {
                let (a, b) = (self.schema(a), self.schema(b));
                let b = b?;
                let both = self.connected(Connective::And, a?, &b, l.span);
                Some(hide(both, |n| b.get(n).is_none(), l.span))
            }
            LogicKind::Compose(a, b) => {
                let (a, b) = (self.schema(a), self.schema(b));
                Some(self.linked(a?, b?, "'", "", l.span))
            }
            LogicKind::Pipe(a, b) => {
                let (a, b) = (self.schema(a), self.schema(b));
                Some(self.linked(a?, b?, "!", "?", l.span))
            }
            LogicKind::Precondition(inner) => {
                let schema = self.schema(inner)?;
                Some(hide(schema, |n| n.ends_with(['\'', '!']), l.span))
            }
            LogicKind::True | LogicKind::False | LogicKind::Chain(..) | LogicKind::PrefixRelation(..) => {
                let d = Diagnostic::error(l.span, "a schema is expected here, and this is a predicate");
                self.error(d.help("write `[D | P]` for the schema with declarations D and predicate P"));
                None
            }
        }
    }

    fn connected(&mut self, sign: Connective, a: Schema, b: &Schema, span: Span) -> Schema {
        let (mut both, left, right) = self.merged(a, b, span);
        if sign == Connective::And {
            both.preds = left;
            both.preds.extend(right);
            return both;
        }
        let (left, right) = (conjunction(left, span), conjunction(right, span));
        let kind = match sign {
            Connective::Or => PredKind::Or(vec![left, right]),
            Connective::Implies => PredKind::Implies(Box::new(left), Box::new(right)),
            _ => PredKind::Iff(Box::new(left), Box::new(right)),
        };
        both.preds.push(Pred { kind, span });
        both
    }

    fn quantified(&mut self, quantifier: Quantifier, bound: Schema, body: &Schema, span: Span) -> Schema {
        let vars = bound.vars();
        let names: Vec<Name> = bound.components.iter().map(|c| c.name.clone()).collect();
        let (mut both, mut left, right) = self.merged(bound, body, span);
        both.components.retain(|c| !names.contains(&c.name));
        let pred = match quantifier {
            Quantifier::Exists => {
                left.extend(right);
                exists(vars, left, span)
            }
            Quantifier::Forall => {
                let (left, right) = (conjunction(left, span), conjunction(right, span));
                let kind = PredKind::Implies(Box::new(left), Box::new(right));
                Pred { kind: PredKind::Forall(vars, Box::new(Pred { kind, span })), span }
            }
            Quantifier::ExistsOne => {
                left.extend(right);
                self.exactly_one(vars, left, span)
            }
        };
        both.preds = vec![pred];
        both
    }

    /// `S \semi T` and `S \pipe T`: what the first leaves is what the second finds, and is hidden.
    fn linked(&mut self, a: Schema, b: Schema, out: &str, into: &str, span: Span) -> Schema {
        let plain = |n: &Name, decor: &str| -> Option<Name> {
            let base = n.strip_suffix(decor)?;
            // What is left must be the name of a component that has no other decoration.
            (!base.ends_with(['\'', '!', '?'])).then(|| base.into())
        };
        let links: Vec<Name> = a
            .components
            .iter()
            .filter_map(|c| plain(&c.name, out))
            .filter(|n| b.get(&decorated(n, into)).is_some())
            .collect();
        let middle = |n: &Name| -> Name { format!("{n}{HIDDEN}").into() };
        let first = |n: &Name| match plain(n, out) {
            Some(base) if links.contains(&base) => middle(&base),
            _ => n.clone(),
        };
        let second = |n: &Name| match plain(n, into) {
            Some(base) if links.contains(&base) => middle(&base),
            _ => n.clone(),
        };
        let mut both = self.instance(&a, first, span);
        self.include(&mut both, &b, second, span);
        hide(both, |n| n.ends_with(HIDDEN), span)
    }

    /// The predicate of a schema for the variables of the same names in scope.
    pub fn in_scope(&mut self, schema: &Schema, span: Span) -> Pred {
        let mut with = Replacement::new();
        for c in &schema.components {
            let Some(value) = self.local(&c.name).or_else(|| self.constant(&c.name, span)) else {
                let text = format!("`{}`, a component of this schema, is not in scope here", c.name);
                self.error(Diagnostic::error(span, text).label(c.span, "declared here"));
                continue;
            };
            if !self.unifier.unify(&value.ty, &c.ty) {
                let (here, there) = (self.show(&value.ty), self.show(&c.ty));
                let text = format!("type clash: `{}` has another type in this schema", c.name);
                let d = Diagnostic::error(span, text).note(format!("it is of type `{here}` here"));
                self.error(d.label(c.span, format!("and of type `{there}` in the schema")));
            }
            with.insert(c.var, value);
        }
        let preds = self.copy(with, span, |copy| copy.preds(&schema.preds)).unwrap_or_default();
        conjunction(preds, span)
    }

    /// Exactly one valuation satisfies the conjuncts: one does, and each that does is the same.
    pub fn exactly_one(&mut self, vars: Vec<VarId>, preds: Vec<Pred>, span: Span) -> Pred {
        let mut others = Vec::new();
        let copied = self.copy(Replacement::new(), span, |copy| {
            others = vars.iter().map(|v| copy.fresh(*v)).collect();
            copy.preds(&preds)
        });
        let same = vars.iter().zip(&others).map(|(a, b)| {
            let (a, b) = (self.var(*a, span), self.var(*b, span));
            relation(RelOp::Equal, b, a)
        });
        let same = conjunction(same.collect(), span);
        let satisfied = conjunction(copied.unwrap_or_default(), span);
        let kind = PredKind::Implies(Box::new(satisfied), Box::new(same));
        let unique = Pred { kind: PredKind::Forall(others, Box::new(Pred { kind, span })), span };
        let mut all = preds;
        all.push(unique);
        exists(vars, all, span)
    }

    /// The value of a name that is bound where we are.
    pub fn local(&self, name: &str) -> Option<Expr> {
        self.locals.iter().rev().find(|(n, _)| &**n == name).map(|(_, e)| e.clone())
    }
}

/// The schema without some components, which are quantified.
pub(super) fn hide(mut schema: Schema, hidden: impl Fn(&Name) -> bool, span: Span) -> Schema {
    let vars: Vec<VarId> = schema.components.iter().filter(|c| hidden(&c.name)).map(|c| c.var).collect();
    schema.components.retain(|c| !hidden(&c.name));
    if !vars.is_empty() {
        let preds = std::mem::take(&mut schema.preds);
        schema.preds.push(exists(vars, preds, span));
    }
    schema
}
