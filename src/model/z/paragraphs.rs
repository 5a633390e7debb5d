//! Paragraphs: all names are declared first, then every definition is elaborated.
//!
//! In: the tree of a specification. Out: an `Elaboration` in which all schemas have their meaning, and the conjuncts
//! that hold of the constants.

use super::elaborate::{Elaboration, Global, Meaning, SchemaDef, ValueDef};
use super::predicates::flat;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{FreeId, Freetype, Pred, SetDecl, SetId, SetKind, SizeOrigin};
use bombus_syntax::z::tree::{
    Connective, Decl, Expr, ExprKind, Ident, Logic, LogicKind, ParagraphKind, Quantifier, SchemaText, Spec,
};

/// The generic definitions and abbreviations of a specification, which `Elaboration` refers to.
pub(super) fn value_definitions<'s>(spec: &'s Spec, diagnostics: &mut Vec<Diagnostic>) -> Vec<ValueDef<'s>> {
    let mut all = Vec::new();
    for paragraph in &spec.paragraphs {
        match &paragraph.kind {
            ParagraphKind::Abbreviation { name, formals, value } => {
                all.push(ValueDef { name, formals, meaning: Meaning::Value(value), set: None });
            }
            ParagraphKind::Axiomatic { formals, text } if !formals.is_empty() => {
                generic_definitions(formals, text, paragraph.span, &mut all, diagnostics);
            }
            _ => {}
        }
    }
    all
}

/// A generic definition must say what its names are: by an equation `name = e`, or point by point.
fn generic_definitions<'s>(
    formals: &'s [Ident],
    text: &'s SchemaText,
    span: Span,
    all: &mut Vec<ValueDef<'s>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut conjuncts = Vec::new();
    text.preds.iter().for_each(|p| flatten(p, &mut conjuncts));
    let mut used = vec![false; conjuncts.len()];
    for decl in &text.decls {
        let Decl::Names(names, set) = decl else {
            let text = "a generic definition cannot include a schema here";
            diagnostics.push(Diagnostic::error(span, text));
            continue;
        };
        for name in names {
            let found = conjuncts.iter().enumerate().find_map(|(i, c)| Some((i, meaning(c, name)?)));
            match found {
                Some((i, meaning)) => {
                    used[i] = true;
                    all.push(ValueDef { name, formals, meaning, set: Some(set) });
                }
                None => {
                    let text =
                        format!("the generic constant `{}` is not defined by an equation", name.full());
                    let help = format!(
                        "write `{} = e` in the predicate part, or one equation for all points",
                        name.full()
                    );
                    diagnostics.push(Diagnostic::error(name.span, text).help(help));
                }
            }
        }
    }
    for (conjunct, _) in conjuncts.iter().zip(used).filter(|(_, used)| !used) {
        let text = "a generic definition can only hold one equation for each of its names";
        diagnostics.push(Diagnostic::error(conjunct.span, text));
    }
}

fn flatten<'s>(l: &'s Logic, out: &mut Vec<&'s Logic>) {
    match &l.kind {
        LogicKind::Binary(Connective::And, a, b) => {
            flatten(a, out);
            flatten(b, out);
        }
        _ => out.push(l),
    }
}

/// What a conjunct says that a name is, if it defines the name.
fn meaning<'s>(l: &'s Logic, name: &Ident) -> Option<Meaning<'s>> {
    match &l.kind {
        LogicKind::Chain(first, links) => {
            let [(sign, value)] = links.as_slice() else { return None };
            (&*sign.full() == "=" && is_name(first, name)).then_some(Meaning::Value(value))
        }
        LogicKind::Quantified(Quantifier::Forall, text, body) => {
            let point = declared(text)?;
            let equal = |arguments: Option<Vec<Name>>| arguments.is_some_and(|names| names == point);
            match &body.kind {
                LogicKind::Chain(first, links) => {
                    let [(sign, value)] = links.as_slice() else { return None };
                    let defines = &*sign.full() == "=" && equal(arguments(first, name));
                    defines.then_some(Meaning::Function(text, value))
                }
                LogicKind::Binary(Connective::Iff, inside, when) => {
                    equal(point_inside(inside, name)).then_some(Meaning::Relation(text, when))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_name(e: &Expr, name: &Ident) -> bool {
    matches!(&e.kind, ExprKind::Name(n, None) if n.full() == name.full())
}

/// The names that a text declares, if it does nothing else.
fn declared(text: &SchemaText) -> Option<Vec<Name>> {
    let mut all = Vec::new();
    for decl in &text.decls {
        let Decl::Names(names, _) = decl else { return None };
        all.extend(names.iter().map(Ident::full));
    }
    text.preds.is_empty().then_some(all)
}

/// The names that a tuple consists of.
fn tuple_of_names(e: &Expr) -> Option<Vec<Name>> {
    match &e.kind {
        ExprKind::Name(n, None) => Some(vec![n.full()]),
        ExprKind::Tuple(items) => {
            let one = |e: &Expr| match &e.kind {
                ExprKind::Name(n, None) => Some(n.full()),
                _ => None,
            };
            items.iter().map(one).collect()
        }
        _ => None,
    }
}

fn two_names(a: &Expr, b: &Expr) -> Option<Vec<Name>> {
    match (&a.kind, &b.kind) {
        (ExprKind::Name(a, None), ExprKind::Name(b, None)) => Some(vec![a.full(), b.full()]),
        _ => None,
    }
}

/// The arguments of an application of the function, which may be an operator.
fn arguments(e: &Expr, f: &Ident) -> Option<Vec<Name>> {
    match &e.kind {
        ExprKind::Apply(g, x) if is_name(g, f) => tuple_of_names(x),
        ExprKind::Infix(g, a, b) if g.full() == f.full() => two_names(a, b),
        ExprKind::Postfix(g, x) if g.full() == f.full() => tuple_of_names(x),
        _ => None,
    }
}

/// The point that a predicate says to be in the relation, which may be an operator.
fn point_inside(l: &Logic, r: &Ident) -> Option<Vec<Name>> {
    match &l.kind {
        LogicKind::PrefixRelation(sign, x) if sign.full() == r.full() => tuple_of_names(x),
        LogicKind::Chain(a, links) => match links.as_slice() {
            [(sign, b)] if sign.full() == r.full() => two_names(a, b),
            [(sign, set)] if &*sign.full() == "\\in" && is_name(set, r) => tuple_of_names(a),
            _ => None,
        },
        _ => None,
    }
}

impl<'s> Elaboration<'s> {
    /// Declares all names of a specification, then elaborates all of it. The conjuncts about constants come back.
    pub fn specification(&mut self, spec: &'s Spec, values: &'s [ValueDef<'s>]) -> Vec<Pred> {
        for def in values {
            self.declare(def.name, Global::Value(def));
        }
        for paragraph in &spec.paragraphs {
            self.declare_paragraph(&paragraph.kind);
        }
        // Constants that come from an included schema have no names before their paragraph is typed.
        for i in 0..self.axioms.len() {
            if self.axioms[i].0.decls.iter().any(|d| matches!(d, Decl::Include(_))) {
                self.axiom(i);
            }
        }
        let free: Vec<u32> = self.arms.keys().copied().collect();
        free.into_iter().for_each(|id| self.arms(FreeId(id)));
        for def in values {
            self.check_value(def);
        }
        for paragraph in &spec.paragraphs {
            if let ParagraphKind::Schema { name, .. } = &paragraph.kind {
                self.check_schema(&name.full());
            }
        }
        self.properties(spec)
    }

    fn declare(&mut self, name: &Ident, global: Global<'s>) {
        let full = name.full();
        let earlier = self.globals.get(&full).map(|(_, s)| *s);
        let earlier = earlier.or_else(|| self.schemas.get(&full).map(|s| s.name.span));
        if let Some(other) = earlier {
            self.defined_twice(&full, name.span, other);
            return;
        }
        self.globals.insert(full, (global, name.span));
    }

    fn defined_twice(&mut self, name: &Name, one: Span, other: Span) {
        let (first, second) = if other < one { (other, one) } else { (one, other) };
        let d = Diagnostic::error(second, format!("`{name}` is defined twice"));
        self.error(d.label(first, "defined here already"));
    }

    fn declare_paragraph(&mut self, kind: &'s ParagraphKind) {
        match kind {
            ParagraphKind::Given(names) => {
                for name in names {
                    let id = self.new_set(name, SetKind::Deferred, Vec::new());
                    self.declare(name, Global::Given(id));
                }
            }
            ParagraphKind::Schema { name, formals, body } => {
                let full = name.full();
                let earlier = self.schemas.get(&full).map(|s| s.name.span);
                if let Some(other) = earlier.or_else(|| self.globals.get(&full).map(|(_, s)| *s)) {
                    self.defined_twice(&full, name.span, other);
                    return;
                }
                self.schemas.insert(full, SchemaDef { name, formals, body, value: None });
            }
            ParagraphKind::FreeType { name, arms } => self.declare_free_type(name, arms),
            ParagraphKind::Axiomatic { formals, text } if formals.is_empty() => {
                let number = self.axioms.len();
                self.axioms.push((text, None));
                for decl in &text.decls {
                    let Decl::Names(names, _) = decl else { continue };
                    names.iter().for_each(|name| self.declare(name, Global::Axiom(number)));
                }
            }
            ParagraphKind::Abbreviation { .. }
            | ParagraphKind::Axiomatic { .. }
            | ParagraphKind::Constraint(_) => {}
        }
    }

    fn new_set(&mut self, name: &Ident, kind: SetKind, elems: Vec<Name>) -> SetId {
        let id = SetId(self.sets.len() as u32);
        let origin = if elems.is_empty() { SizeOrigin::Default } else { SizeOrigin::Enumeration };
        self.sets.push(SetDecl { name: name.full(), kind, elems, origin, span: name.span });
        id
    }

    /// A free type of constants alone is an enumerated set.
    fn declare_free_type(&mut self, name: &'s Ident, arms: &'s [(Ident, Option<Expr>)]) {
        if arms.iter().all(|(_, argument)| argument.is_none()) {
            let elems = arms.iter().map(|(n, _)| n.full()).collect();
            let id = self.new_set(name, SetKind::Enumerated, elems);
            self.declare(name, Global::Given(id));
            for (i, (arm, _)) in arms.iter().enumerate() {
                self.declare(arm, Global::Element(id, i as u32));
            }
            return;
        }
        let id = FreeId(self.freetypes.len() as u32);
        self.freetypes.push(Freetype {
            name: name.full(),
            constructors: arms.iter().map(|(n, _)| (n.full(), None)).collect(),
            domains: arms.iter().map(|_| None).collect(),
        });
        self.arms.insert(id.0, arms);
        self.declare(name, Global::Free(id));
        for (i, (arm, _)) in arms.iter().enumerate() {
            self.declare(arm, Global::Constructor(id, i as u32));
        }
    }

    /// Elaborates a definition even if nothing uses it, for its messages.
    fn check_value(&mut self, def: &'s ValueDef<'s>) {
        let sets = self.opaque_formals(def.formals);
        let given = (!sets.is_empty()).then(|| sets.into_iter().map(|(_, set)| set).collect());
        self.value_of(def, given, def.name.span);
    }

    fn check_schema(&mut self, name: &Name) {
        let Some(def) = self.schemas.get(name) else { return };
        if def.value.is_some() {
            return;
        }
        let (formals, body, span) = (def.formals, def.body, def.name.span);
        let names = self.opaque_formals(formals);
        let value = self.defining(name, span, names, |this| this.schema(body)).flatten();
        if let (Some(def), true) = (self.schemas.get_mut(name), formals.is_empty()) {
            def.value = value;
        }
    }

    /// What axioms and constraints say, declarations included, in the order of the text.
    fn properties(&mut self, spec: &'s Spec) -> Vec<Pred> {
        let mut all = Vec::new();
        let mut number = 0;
        for paragraph in &spec.paragraphs {
            match &paragraph.kind {
                ParagraphKind::Axiomatic { formals, text } if formals.is_empty() => {
                    self.axiom(number);
                    if let Some(schema) = &self.axioms[number].1 {
                        all.extend(schema.preds.iter().cloned());
                    }
                    number += 1;
                    all.extend(text.preds.iter().map(|p| self.pred(p)));
                }
                ParagraphKind::Constraint(p) => all.push(self.pred(p)),
                _ => {}
            }
        }
        flat(all)
    }
}
