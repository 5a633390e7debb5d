//! Expressions: tuples, sets, bindings, functions, and what binds variables.

use super::copy::Replacement;
use super::elaborate::{
    Elaboration, Global, conjunction, node, number, pair, relation, tuple_of, unary, whole,
};
use super::schema::{Place, Schema, decorated};
use super::types::{binding, components, fields, tuple};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{BigOp, Expr, ExprKind, External, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::walk::variables_of_expr;
use bombus_syntax::z::tree::{
    Expr as Tree, ExprKind as Kind, Ident, Logic, LogicKind, SchemaRef, SchemaText,
};

/// Names and what they stand for.
type Names = Vec<(Name, Expr)>;

impl<'s> Elaboration<'s> {
    pub fn expr(&mut self, e: &'s Tree) -> Expr {
        let span = e.span;
        let mut typed = self.typed(e);
        typed.span = span;
        typed
    }

    fn typed(&mut self, e: &'s Tree) -> Expr {
        let span = e.span;
        match &e.kind {
            Kind::Name(name, actuals) => self.name(name, actuals.as_deref(), span),
            Kind::Number(n) => node(ExprKind::Int(n.clone()), Type::Integer, span),
            Kind::Tuple(items) => tuple_of(items.iter().map(|i| self.expr(i)).collect()),
            Kind::SetExt(items) => {
                let (items, ty) = self.items(items, "the elements of a set");
                node(ExprKind::SetExt(items), Type::pow(ty), span)
            }
            Kind::SeqExt(items) => {
                let (items, ty) = self.items(items, "the elements of a sequence");
                node(ExprKind::SeqExt(items), Type::seq(ty), span)
            }
            Kind::BagExt(items) => {
                let (items, ty) = self.items(items, "the elements of a bag");
                let sequence = node(ExprKind::SeqExt(items), Type::seq(ty), span);
                self.items_of(sequence, span)
            }
            Kind::Comprehension(text, value) => self.comprehension(text, value.as_deref(), span),
            Kind::Lambda(text, value) => self.lambda(text, value, span),
            Kind::Mu(text, value) => {
                let set = self.comprehension(text, value.as_deref(), span);
                let ty = self.element_type(&set, "the values");
                node(ExprKind::External(External { name: "MU".into() }, vec![set]), ty, span)
            }
            Kind::Let(bindings, body) => {
                let (vars, names) = self.let_bindings(bindings);
                let body = self.binding(names, |this| this.expr(body));
                let ty = body.ty.clone();
                node(ExprKind::Let(vars, Box::new(body)), ty, span)
            }
            Kind::If(test, yes, no) => {
                let test = self.pred(test);
                let (yes, no) = (self.expr(yes), self.expr(no));
                let ty = yes.ty.clone();
                self.expect(&no, &ty, "the other branch");
                node(ExprKind::If(Box::new(test), Box::new(yes), Box::new(no)), ty, span)
            }
            Kind::Apply(f, x) => self.application(f, x, span),
            Kind::Infix(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.infix(op, a, b, span)
            }
            Kind::Generic(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.infix_generic(op, a, b, span)
            }
            Kind::Prefix(op, a) => {
                let a = self.expr(a);
                self.prefix(op, a, span)
            }
            Kind::Postfix(op, a) => {
                let a = self.expr(a);
                self.postfix(op, a, span)
            }
            Kind::Negative(a) => {
                let a = self.expr(a);
                self.expect(&a, &Type::Integer, "the operand of `-`");
                match &a.kind {
                    ExprKind::Int(n) => node(ExprKind::Int(n.neg()), Type::Integer, span),
                    _ => unary(UnOp::Neg, a, Type::Integer),
                }
            }
            Kind::Image(r, s) => {
                let (r, s) = (self.expr(r), self.expr(s));
                self.image(r, s)
            }
            Kind::Iterate(r, k) => {
                let (r, k) = (self.expr(r), self.expr(k));
                self.iterate(r, k)
            }
            Kind::Cross(factors) => self.product(factors, span),
            Kind::Select(of, name) => self.select(of, name, span),
            Kind::Component(of, place) => self.projection(of, *place, span),
            Kind::Theta(reference) => self.theta(reference, span),
            Kind::Schema(schema) => match self.schema(schema) {
                Some(schema) => self.bindings_of(schema, span),
                None => self.poison(span),
            },
            Kind::Binding(values) => {
                let mut values: Vec<(Name, Expr)> =
                    values.iter().map(|(n, e)| (n.full(), self.expr(e))).collect();
                values.sort_by(|a, b| a.0.cmp(&b.0));
                record(values, span)
            }
        }
    }

    fn items(&mut self, items: &'s [Tree], what: &str) -> (Vec<Expr>, Type) {
        let items: Vec<Expr> = items.iter().map(|i| self.expr(i)).collect();
        let ty = items.first().map_or_else(|| self.unifier.fresh(), |e| e.ty.clone());
        for item in items.iter().skip(1) {
            self.expect(item, &ty, &format!("{what}, like the first one,"));
        }
        (items, ty)
    }

    pub fn let_bindings(&mut self, bindings: &'s [(Ident, Tree)]) -> (Vec<(VarId, Expr)>, Names) {
        let mut vars = Vec::new();
        let mut names = Vec::new();
        for (name, value) in bindings {
            let value = self.expr(value);
            let var = self.new_var(&name.full(), value.ty.clone(), name.span);
            names.push((name.full(), self.var(var, name.span)));
            vars.push((var, value));
        }
        (vars, names)
    }

    // ----- what binds variables -----

    fn comprehension(&mut self, text: &'s SchemaText, value: Option<&'s Tree>, span: Span) -> Expr {
        let (schema, places, value) = self.text(text, |this, schema, places| {
            let value = value.map(|v| this.expr(v));
            (std::mem::take(schema), places, value)
        });
        let vars = schema.vars();
        let plain: Option<Vec<VarId>> =
            places.iter().map(|p| if let Place::Var(v) = p { Some(*v) } else { None }).collect();
        match (value, plain) {
            (None, Some(plain)) if plain == vars => {
                let ty = tuple(schema.components.iter().map(|c| c.ty.clone()).collect());
                let pred = conjunction(schema.preds, span);
                node(ExprKind::Compr(vars, Box::new(pred)), Type::pow(ty), span)
            }
            (None, _) if places.len() == 1 && undecorated(&places, &schema) => self.bindings_of(schema, span),
            (value, _) => {
                let value = value.unwrap_or_else(|| self.characteristic(&places, span));
                let ty = Type::pow(value.ty.clone());
                let pred = conjunction(schema.preds, span);
                node(ExprKind::Big(BigOp::SetOf, vars, Box::new(pred), Box::new(value)), ty, span)
            }
        }
    }

    /// The characteristic tuple of declarations.
    fn characteristic(&mut self, places: &[Place], span: Span) -> Expr {
        let items = places.iter().map(|place| match place {
            Place::Var(v) => self.var(*v, span),
            Place::Binding(fields) => {
                let mut fields: Vec<(Name, Expr)> =
                    fields.iter().map(|(n, v)| (n.clone(), self.var(*v, span))).collect();
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                record(fields, span)
            }
        });
        tuple_of(items.collect())
    }

    /// `\{ D | P \}` for declarations of variables alone and a predicate that stands elsewhere.
    pub fn points(&mut self, text: &'s SchemaText, when: &'s Logic, span: Span) -> Expr {
        let (schema, when) = self.text(text, |this, schema, _| {
            let when = this.pred(when);
            (std::mem::take(schema), when)
        });
        let ty = tuple(schema.components.iter().map(|c| c.ty.clone()).collect());
        let vars = schema.vars();
        let mut preds = schema.preds;
        preds.push(when);
        node(ExprKind::Compr(vars, Box::new(conjunction(preds, span))), Type::pow(ty), span)
    }

    pub fn lambda(&mut self, text: &'s SchemaText, value: &'s Tree, span: Span) -> Expr {
        let (schema, places, value) = self.text(text, |this, schema, places| {
            let value = this.expr(value);
            (std::mem::take(schema), places, value)
        });
        let vars = schema.vars();
        let argument = self.characteristic(&places, span);
        let ty = Type::rel(argument.ty.clone(), value.ty.clone());
        let pred = Box::new(conjunction(schema.preds, span));
        let plain = places.len() == vars.len() && places.iter().all(|p| matches!(p, Place::Var(_)));
        if plain {
            return node(ExprKind::Big(BigOp::Lambda, vars, pred, Box::new(value)), ty, span);
        }
        let image = pair(argument, value);
        node(ExprKind::Big(BigOp::SetOf, vars, pred, Box::new(image)), ty, span)
    }

    // ----- schemas as values -----

    /// The set of all bindings that satisfy a schema.
    pub fn bindings_of(&mut self, schema: Schema, span: Span) -> Expr {
        let mut sorted = schema.components.clone();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        let ty = binding(sorted.iter().map(|c| (c.name.clone(), c.ty.clone())).collect());
        let own = schema.vars();
        let mut rest = schema.preds;
        // The sets that components range over bound the search for bindings.
        let mut sets = Vec::new();
        for c in &sorted {
            let declared = rest.iter().position(|p| match &p.kind {
                PredKind::Rel(RelOp::In, e, set) => {
                    matches!(e.kind, ExprKind::Var(v) if v == c.var)
                        && variables_of_expr(set).iter().all(|v| !own.contains(v))
                }
                _ => false,
            });
            let set = match declared.map(|i| rest.remove(i).kind) {
                Some(PredKind::Rel(_, _, set)) => set,
                _ => whole(c.ty.clone(), span),
            };
            sets.push(set);
        }
        let all = node(ExprKind::StructSet(sets), Type::pow(ty.clone()), span);
        if rest.is_empty() {
            return all;
        }
        let var = self.new_var(&"binding".into(), ty.clone(), span);
        let mut with = Replacement::new();
        for (i, c) in sorted.iter().enumerate() {
            let record = self.var(var, span);
            with.insert(c.var, node(ExprKind::Field(Box::new(record), i), c.ty.clone(), span));
        }
        let mut preds = vec![relation(RelOp::In, self.var(var, span), all)];
        preds.extend(self.copy(with, span, |copy| copy.preds(&rest)).unwrap_or_default());
        node(ExprKind::Compr(vec![var], Box::new(conjunction(preds, span))), Type::pow(ty), span)
    }

    /// Membership; in the bindings of a schema it is what the schema says of the fields.
    pub fn member(&mut self, e: Expr, set: Expr, span: Span) -> Pred {
        let whole_set = Pred { kind: PredKind::Rel(RelOp::In, e, set), span };
        let PredKind::Rel(_, e, set) = &whole_set.kind else { return whole_set };
        match &set.kind {
            ExprKind::Compr(vars, p)
                if vars.len() == 1 && is_path(e) && fields(&self.unifier.head(&e.ty)).is_some() =>
            {
                let with = Replacement::from([(vars[0], e.clone())]);
                self.copy(with, span, |copy| copy.pred(p)).unwrap_or(Pred { kind: PredKind::True, span })
            }
            _ => whole_set,
        }
    }

    fn theta(&mut self, r: &'s SchemaRef, span: Span) -> Expr {
        let decor = r.name.decor.clone();
        let Some(schema) = self.reference(r) else { return self.poison(span) };
        let mut values = Vec::new();
        for c in &schema.components {
            let field = c.name.strip_suffix(&*decor).map_or_else(|| c.name.clone(), Name::from);
            let Some(mut value) = self.local(&c.name).or_else(|| self.constant(&c.name, span)) else {
                let text = format!("`{}`, a component of this binding, is not in scope here", c.name);
                self.error(Diagnostic::error(span, text));
                continue;
            };
            value.span = span;
            self.expect(&value, &c.ty, &format!("the component `{}`", c.name));
            values.push((field, value));
        }
        values.sort_by(|a, b| a.0.cmp(&b.0));
        record(values, span)
    }

    fn select(&mut self, of: &'s Tree, name: &Ident, span: Span) -> Expr {
        let of = self.expr(of);
        let ty = self.unifier.resolve(&of.ty);
        let place = fields(&ty).and_then(|f| f.iter().position(|(n, _)| *n == name.full()));
        match (fields(&ty), place) {
            (Some(all), Some(i)) => node(ExprKind::Field(Box::new(of), i), all[i].1.clone(), span),
            _ => {
                let text = format!(
                    "type clash: only a binding with a component `{}` can be asked for it",
                    name.full()
                );
                let shown = self.show(&ty);
                self.error(Diagnostic::error(of.span, text).note(format!("this is of type `{shown}`")));
                self.poison(span)
            }
        }
    }

    fn projection(&mut self, of: &'s Tree, place: usize, span: Span) -> Expr {
        let of = self.expr(of);
        let ty = self.unifier.resolve(&of.ty);
        let Some(types) = components(&ty).filter(|t| (1..=t.len()).contains(&place)) else {
            let text =
                format!("type clash: only a tuple with {place} or more components can be asked for one");
            let shown = self.show(&ty);
            self.error(Diagnostic::error(of.span, text).note(format!("this is of type `{shown}`")));
            return self.poison(span);
        };
        let mut e = of;
        for n in (place.max(2)..types.len()).rev() {
            e = unary(UnOp::First2, e, tuple_prefix(&types[..n]));
        }
        if place == 1 {
            return unary(UnOp::First2, e, types[0].clone());
        }
        unary(UnOp::Second2, e, types[place - 1].clone())
    }

    fn product(&mut self, factors: &'s [Tree], span: Span) -> Expr {
        let sets: Vec<Expr> = factors.iter().map(|f| self.expr(f)).collect();
        let types: Vec<Type> = sets.iter().map(|s| self.element_type(s, "a factor of a product")).collect();
        let mut result: Option<Expr> = None;
        for (i, set) in sets.into_iter().enumerate() {
            result = Some(match result {
                None => set,
                Some(left) => {
                    let ty = Type::pow(tuple_prefix(&types[..=i]));
                    super::elaborate::binary(bombus_lang::typed::BinOp::Cartesian, left, set, ty)
                }
            });
        }
        let mut product = result.unwrap_or_else(|| number(0, span));
        product.ty = Type::pow(tuple(types));
        product
    }

    // ----- application -----

    fn application(&mut self, f: &'s Tree, x: &'s Tree, span: Span) -> Expr {
        if let Kind::Name(name, _) = &f.kind
            && self.local(&name.full()).is_none()
        {
            match self.globals.get(&name.full()).cloned() {
                Some((Global::Constructor(id, n), _)) => {
                    let argument = self.expr(x);
                    self.arms(id);
                    let wanted = self.freetypes[id.0 as usize].constructors[n as usize].1.clone();
                    let Some(wanted) = wanted else {
                        let text = format!("`{}` is a constant and takes no argument", name.full());
                        self.error(Diagnostic::error(f.span, text));
                        return self.poison(span);
                    };
                    self.expect(&argument, &wanted, &format!("the argument of `{}`", name.full()));
                    return node(ExprKind::Construct(id, n, Some(Box::new(argument))), Type::Free(id), span);
                }
                Some(_) => {}
                None => {
                    let argument = self.expr(x);
                    if let Some(value) = self.library_call(&name.full(), argument.clone(), span) {
                        return value;
                    }
                    let f = self.expr(f);
                    return self.apply(f, argument, span);
                }
            }
        }
        // `count b x` is the number of times that x is in the bag b.
        if let Kind::Apply(g, bag) = &f.kind
            && let Kind::Name(name, None) = &g.kind
            && &*name.full() == "count"
            && !self.globals.contains_key("count")
            && self.local("count").is_none()
        {
            let (bag, element) = (self.expr(bag), self.expr(x));
            return self.count_of(bag, element, span);
        }
        let (f, x) = (self.expr(f), self.expr(x));
        self.apply(f, x, span)
    }

    pub fn apply(&mut self, f: Expr, x: Expr, span: Span) -> Expr {
        let result = self.unifier.fresh();
        let wanted = Type::rel(x.ty.clone(), result.clone());
        if !self.unifier.unify(&f.ty, &wanted) {
            let (function, argument) = (self.show(&f.ty), self.show(&x.ty));
            let d = Diagnostic::error(f.span, "type clash: this cannot be applied to its argument");
            let d = d.note(format!("this is of type `{function}`"));
            self.error(d.label(x.span, format!("this is of type `{argument}`")));
            return self.poison(span);
        }
        node(ExprKind::Apply(Box::new(f), Box::new(x)), result, span)
    }

    /// The predicate that a tree in the place of a schema stands for.
    pub fn reference_pred(&mut self, l: &'s Logic) -> Pred {
        let schema = match &l.kind {
            LogicKind::Reference(r) => self.reference(r),
            _ => self.schema(l),
        };
        match schema {
            Some(schema) => self.in_scope(&schema, l.span),
            None => Pred { kind: PredKind::True, span: l.span },
        }
    }
}

/// Whether the places are those of one schema whose components kept their names.
fn undecorated(places: &[Place], schema: &Schema) -> bool {
    match places {
        [Place::Binding(fields)] => {
            fields.len() == schema.components.len()
                && fields.iter().all(|(n, v)| schema.get(&decorated(n, "")).is_some_and(|c| c.var == *v))
        }
        _ => false,
    }
}

/// A binding; the values are sorted by their names.
pub(super) fn record(values: Vec<(Name, Expr)>, span: Span) -> Expr {
    let ty = binding(values.iter().map(|(n, e)| (n.clone(), e.ty.clone())).collect());
    node(ExprKind::Rec(values.into_iter().map(|(_, e)| e).collect()), ty, span)
}

/// Left-nested products, as tuples are stored.
fn tuple_prefix(types: &[Type]) -> Type {
    types.iter().cloned().reduce(Type::prod).unwrap_or(Type::Any)
}

/// Whether an expression is so small that it may stand in many places.
fn is_path(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Var(_) | ExprKind::Elem(..) => true,
        ExprKind::Rec(values) => values.iter().all(is_path),
        ExprKind::Field(of, _) => is_path(of),
        _ => false,
    }
}
