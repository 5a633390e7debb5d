//! What names stand for: bound variables, what paragraphs define, the library.

use super::elaborate::{Elaboration, Global, Meaning, ValueDef, node, whole};
use super::functions::{is_function_on, is_relation_on};
use super::types::{Close, formal_type};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{Expr, ExprKind, FreeId, Type, VarKind};
use bombus_lang::walk::change_expr;
use bombus_syntax::z::tree::{Expr as Tree, Ident};

impl<'s> Elaboration<'s> {
    /// A name that stands for a value, with actual parameters if some are given.
    pub fn name(&mut self, ident: &Ident, actuals: Option<&'s [Tree]>, span: Span) -> Expr {
        let name = ident.full();
        if let Some(mut value) = self.local(&name) {
            if !matches!(value.kind, ExprKind::Var(_)) {
                value = self.copy_expr(&value);
            }
            value.span = span;
            self.refuse_actuals(&name, actuals, span);
            return value;
        }
        if let Some((global, _)) = self.globals.get(&name).cloned() {
            if let Global::Value(def) = global {
                return self.value(def, actuals, span);
            }
            self.refuse_actuals(&name, actuals, span);
            return self.global(&name, global, span);
        }
        let given: Vec<Expr> = actuals.unwrap_or_default().iter().map(|a| self.expr(a)).collect();
        if let Some(value) = self.library_value(&name, &given, span) {
            return value;
        }
        self.unknown(&name, ident.span);
        self.poison(span)
    }

    fn refuse_actuals(&mut self, name: &Name, actuals: Option<&[Tree]>, span: Span) {
        if actuals.is_some() {
            self.error(Diagnostic::error(
                span,
                format!("`{name}` is not generic and takes no actual parameters"),
            ));
        }
    }

    fn global(&mut self, name: &Name, global: Global<'s>, span: Span) -> Expr {
        match global {
            Global::Given(set) => whole(Type::Set(set), span),
            Global::Element(set, n) => node(ExprKind::Elem(set, n), Type::Set(set), span),
            Global::Free(id) => whole(Type::Free(id), span),
            Global::Constructor(id, n) => {
                self.arms(id);
                match self.freetypes[id.0 as usize].constructors[n as usize].1.clone() {
                    None => node(ExprKind::Construct(id, n, None), Type::Free(id), span),
                    Some(arg) => node(ExprKind::Constructor(id, n), Type::rel(arg, Type::Free(id)), span),
                }
            }
            Global::Constant(var) => self.var(var, span),
            Global::Axiom(number) => {
                self.axiom(number);
                match self.globals.get(name).cloned() {
                    Some((Global::Constant(var), _)) => self.var(var, span),
                    _ => self.poison(span),
                }
            }
            Global::Value(def) => self.value(def, None, span),
        }
    }

    /// A global constant by its name.
    pub fn constant(&mut self, name: &Name, span: Span) -> Option<Expr> {
        match self.globals.get(name).cloned() {
            Some((global @ (Global::Constant(_) | Global::Axiom(_)), _)) => {
                Some(self.global(name, global, span))
            }
            _ => None,
        }
    }

    /// The value of an abbreviation or a generic definition.
    pub fn value(&mut self, def: &'s ValueDef<'s>, actuals: Option<&'s [Tree]>, span: Span) -> Expr {
        let given = actuals.map(|all| all.iter().map(|a| self.expr(a)).collect());
        self.value_of(def, given, span)
    }

    /// The same with actual parameters that are typed already; without any, they are whole types that the place of use tells.
    pub fn value_of(&mut self, def: &'s ValueDef<'s>, given: Option<Vec<Expr>>, span: Span) -> Expr {
        let name = def.name.full();
        if let Some(value) = self.values.get(&name).cloned() {
            let mut copy = self.copy_expr(&value);
            copy.span = span;
            return copy;
        }
        let actuals = match given {
            Some(sets) => sets,
            None => def.formals.iter().map(|_| whole(self.unifier.fresh(), span)).collect(),
        };
        if actuals.len() != def.formals.len() {
            let text = format!(
                "`{name}` has {} formal parameters, and {} actual ones are given",
                def.formals.len(),
                actuals.len()
            );
            self.error(Diagnostic::error(span, text).label(def.name.span, "defined here"));
            return self.poison(span);
        }
        for set in &actuals {
            self.element_type(set, "an actual parameter");
        }
        let names = def.formals.iter().map(Ident::full).zip(actuals).collect();
        let value = self.defining(&name, span, names, |this| {
            let value = match &def.meaning {
                Meaning::Value(value) => this.expr(value),
                Meaning::Function(text, value) => this.lambda(text, value, span),
                Meaning::Relation(text, when) => this.points(text, when, span),
            };
            if let Some(set) = def.set {
                let set = this.expr(set);
                let ty = this.element_type(&set, "what a name is declared with");
                this.expect(&value, &ty, &format!("the value of `{}`", def.name.full()));
                this.check_points(def, &value, &set);
            }
            value
        });
        let Some(mut value) = value else { return self.poison(span) };
        if def.formals.is_empty() {
            self.values.insert(name, value.clone());
            value = self.copy_expr(&value);
        }
        value.span = span;
        value
    }

    /// A definition point by point must speak of all points that the declaration of its name allows, and of no other.
    fn check_points(&mut self, def: &ValueDef<'s>, value: &Expr, set: &Expr) {
        if self.has_errors() {
            return;
        }
        let (mut value, mut set) = (value.clone(), set.clone());
        let mut close = Close(&self.unifier);
        change_expr(&mut value, &mut close);
        change_expr(&mut set, &mut close);
        let fits = match (&def.meaning, &value.kind) {
            (Meaning::Value(_), _) => true,
            (Meaning::Function(..), ExprKind::Big(_, vars, typing, _)) => is_function_on(&set, vars, typing),
            (Meaning::Relation(..), ExprKind::Compr(vars, both)) => is_relation_on(&set, vars, both),
            _ => false,
        };
        if !fits {
            let text = format!("`{}` is defined for other points than it is declared for", def.name.full());
            let help =
                "declare a total function or a relation between the sets that the quantifier ranges over";
            self.error(Diagnostic::error(def.name.span, text).help(help));
        }
    }

    /// Types the arms of a free type, once.
    pub fn arms(&mut self, id: FreeId) {
        let Some(arms) = self.arms.remove(&id.0) else { return };
        let outer = std::mem::take(&mut self.locals);
        for (i, (_, argument)) in arms.iter().enumerate() {
            let Some(argument) = argument else { continue };
            let set = self.expr(argument);
            let ty = self.element_type(&set, "the argument of a constructor");
            let free = &mut self.freetypes[id.0 as usize];
            free.constructors[i].1 = Some(ty);
            free.domains[i] = Some(set);
        }
        self.locals = outer;
    }

    /// Types the declarations of an axiomatic paragraph, once.
    pub fn axiom(&mut self, number: usize) {
        let (text, None) = &self.axioms[number] else { return };
        let text = *text;
        let place: Name = format!("axiom {}", number + 1).into();
        let span = Span::default();
        let declared = self.defining(&place, span, Vec::new(), |this| this.declarations(text).0);
        let Some(schema) = declared else { return };
        for c in &schema.components {
            self.vars[c.var.0 as usize].kind = VarKind::Constant;
            let known = self.globals.get(&c.name);
            if let Some((global, at)) = known
                && !matches!(global, Global::Axiom(n) if *n == number)
            {
                let text = format!("`{}` is defined twice", c.name);
                let d = Diagnostic::error(c.span, text).label(*at, "defined here already");
                self.error(d);
                continue;
            }
            self.globals.insert(c.name.clone(), (Global::Constant(c.var), c.span));
        }
        self.axioms[number].1 = Some(schema);
    }

    /// Types a generic definition for its own sake: its formal parameters are types that nothing is known of.
    pub fn opaque_formals(&mut self, formals: &[Ident]) -> Vec<(Name, Expr)> {
        formals
            .iter()
            .map(|f| {
                let ty = formal_type(self.formals.len());
                self.formals.push(f.full());
                (f.full(), whole(ty, f.span))
            })
            .collect()
    }
}
