//! Theories: operators that models add to the mathematical language.
//!
//! In: the theories of a project and the names its formulas use. Out: definitions that the front end
//! expands, for operators with a direct definition and for those whose author mapped them to a built-in
//! function, and for datatypes with one constructor; free types and functions for other datatypes and
//! operators defined by recursion. Those described by axioms alone cannot be computed: using one
//! is an error that says so.
//!
//! Bound names of a body are renamed, so that no argument is captured; a type parameter used as a set
//! becomes the set of all values of its type.

use super::datatypes::{Datatypes, component, everything, function_name, is_predicate, is_record};
use super::forms::shorten;
use super::lockstep::{binary, ident, node};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_syntax::ast::{
    self, BigOp, BinOp, Builtin, Const, DefBody, DefItem, Definition, Expr, ExprKind, Ident,
};
use bombus_syntax::eventb::names::free;
use bombus_syntax::eventb::{Datatype, Operator, OperatorDefinition, Theory};
use std::collections::{BTreeMap, BTreeSet};

/// What the theories add to the flat machine.
#[derive(Default)]
pub struct Extension {
    pub definitions: Vec<DefItem>,
    pub free_types: Vec<ast::Freetype>,
    /// Functions defined by recursion, which are constants of the machine.
    pub functions: Vec<(Name, Expr)>,
}

/// Everything that `used` needs, directly or by way of other operators.
pub fn extension(
    theories: &[Theory],
    datatypes: &Datatypes,
    used: &BTreeSet<Name>,
) -> Result<Extension, Vec<Diagnostic>> {
    let mut known: BTreeMap<&Name, (&Theory, &Operator)> = BTreeMap::new();
    for theory in theories {
        for operator in theory.operators.iter().chain(&theory.axiomatic) {
            known.entry(&operator.name).or_insert((theory, operator));
        }
    }
    let predicates = predicates(theories);
    let mut found = Extension::default();
    let mut errors = Vec::new();
    let records: BTreeMap<Name, DefItem> =
        theories.iter().flat_map(|t| &t.datatypes).flat_map(record).collect();
    let mut open: Vec<Name> = used.iter().cloned().collect();
    let mut done: BTreeSet<Name> = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        found.definitions.extend(records.get(&name).cloned());
        if let Some(datatype) = datatypes.owner(&name)
            && !found.free_types.iter().any(|f| f.name.name == datatype.name)
        {
            let free_type = datatypes.free_type(datatype);
            open.extend(free_type.constructors.iter().filter_map(|(_, set)| set.as_ref()).flat_map(free));
            found.free_types.push(free_type);
            found.definitions.extend(datatypes.destructors(datatype));
        }
        if let Some(function) = datatypes.membership(&name) {
            open.extend(free(&function));
            found.functions.push((name, function));
            continue;
        }
        let Some((theory, operator)) = known.get(&name) else { continue };
        match meaning(theory, operator, datatypes, &predicates) {
            Ok(Meaning::Body(body)) => {
                open.extend(free(&body));
                found.definitions.extend(externals(&body));
                found.definitions.push(definition(operator, body));
            }
            Ok(Meaning::Function(function)) => {
                open.extend(free(&function));
                found.definitions.extend(externals(&function));
                let params = operator.args.iter().map(|(name, _)| ident(name, Span::default())).collect();
                let callee = Box::new(ident(&function_name(&name), Span::default()));
                let mut body = node(ExprKind::Apply(callee, params), Span::default());
                if predicates.contains(&name) {
                    body = binary(BinOp::Equal, body, node(ExprKind::Const(Const::True), Span::default()));
                }
                found.definitions.push(definition(operator, body));
                found.functions.push((function_name(&name), function));
            }
            Err(message) => errors.push(Diagnostic::plain(message)),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// The operators that are predicates.
fn predicates(theories: &[Theory]) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    for operator in theories.iter().flat_map(|t| &t.operators) {
        let bodies: Vec<&Expr> = match &operator.definition {
            OperatorDefinition::Direct(body) => vec![body],
            OperatorDefinition::Recursive { cases, .. } => cases.iter().map(|(_, body)| body).collect(),
            OperatorDefinition::Axiomatic => Vec::new(),
        };
        if bodies.into_iter().any(|body| is_predicate(body, &names)) {
            names.insert(operator.name.clone());
        }
    }
    names
}

/// All names that a theory gives a meaning to: their calls are no applications of functions.
pub fn operators(theories: &[Theory]) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    for theory in theories {
        names.extend(theory.operators.iter().chain(&theory.axiomatic).map(|o| o.name.clone()));
        for datatype in &theory.datatypes {
            names.insert(datatype.name.clone());
            for constructor in &datatype.constructors {
                names.insert(constructor.name.clone());
                names.extend(constructor.args.iter().map(|(destructor, _)| destructor.clone()));
            }
        }
    }
    names
}

/// A datatype with one constructor is a product under another name: `mk(a,b)` is `a↦b`, its
/// destructors are the projections, and the type over sets is their product.
fn record(datatype: &Datatype) -> Vec<(Name, DefItem)> {
    let [constructor] = datatype.constructors.as_slice() else { return Vec::new() };
    let args = &constructor.args;
    if !is_record(datatype) {
        return Vec::new();
    }
    let span = Span::default();
    let define = |name: &Name, params: Vec<Name>, body: Expr| {
        let params = params.into_iter().map(|name| Ident { name, span }).collect();
        let name = Ident { name: name.clone(), span };
        (name.name.clone(), DefItem::Def(Definition { name, params, body: DefBody::Expr(body) }))
    };
    let join = |op, parts: Vec<Expr>| parts.into_iter().reduce(|a, b| binary(op, a, b));
    let names: Vec<Name> = args.iter().map(|(d, _)| d.clone()).collect();
    let mut items = Vec::new();
    if let Some(set) = join(BinOp::Cartesian, args.iter().map(|(_, t)| t.clone()).collect()) {
        items.push(define(&datatype.name, datatype.params.clone(), set));
    }
    // The destructors' names are names of definitions too, so the arguments get others.
    let locals: Vec<Name> = names.iter().map(|n| format!("{n}·").into()).collect();
    if let Some(tuple) = join(BinOp::Maplet, locals.iter().map(|n| ident(n, span)).collect()) {
        items.push(define(&constructor.name, locals, tuple));
    }
    let value: Name = "value·".into();
    for (i, name) in names.iter().enumerate() {
        let part = component(ident(&value, span), i, names.len());
        items.push(define(name, vec![value.clone()], part));
    }
    items
}

fn definition(operator: &Operator, body: Expr) -> DefItem {
    let span = body.span;
    DefItem::Def(Definition {
        name: Ident { name: operator.name.clone(), span },
        params: operator.args.iter().map(|(name, _)| Ident { name: name.clone(), span }).collect(),
        body: DefBody::Expr(body),
    })
}

enum Meaning {
    /// In terms of the arguments.
    Body(Expr),
    /// A function that may call itself.
    Function(Expr),
}

fn meaning(
    theory: &Theory,
    operator: &Operator,
    datatypes: &Datatypes,
    predicates: &BTreeSet<Name>,
) -> Result<Meaning, String> {
    let tag = theory.mappings.iter().find(|(name, _)| *name == operator.name).map(|(_, tag)| tag.as_ref());
    if let (Some(tag), [(argument, _)]) = (tag, operator.args.as_slice())
        && let Some(built_in) = mapped(tag, argument)
    {
        return Ok(Meaning::Body(built_in));
    }
    if tag == Some("mkinat")
        && let Some(function) = datatypes.natural_conversion(operator)
    {
        return Ok(Meaning::Function(function));
    }
    let adapted = |body: &Expr| {
        let mut body = body.clone();
        shorten(&mut body);
        adapt(&mut body, theory, operator, 0);
        datatypes.settle_sets(&mut body);
        body
    };
    match &operator.definition {
        OperatorDefinition::Direct(body) => Ok(Meaning::Body(adapted(body))),
        OperatorDefinition::Recursive { on, cases } => {
            let cases: Vec<(Expr, Expr)> = cases.iter().map(|(p, body)| (p.clone(), adapted(body))).collect();
            let predicate = predicates.contains(&operator.name);
            datatypes
                .recursion(operator, on, &cases, predicate)
                .map(Meaning::Function)
                .map_err(|why| format!("theory {}: {why}", theory.name))
        }
        OperatorDefinition::Axiomatic => Err(format!(
            "the operator {} of the theory {} is described by axioms alone: there is nothing to compute it with",
            operator.name, theory.name
        )),
    }
}

fn mapped(tag: &str, argument: &Name) -> Option<Expr> {
    let span = Span::default();
    let argument = ident(argument, span);
    Some(match tag {
        "closure1" => node(ExprKind::Builtin(Builtin::Closure1, vec![argument]), span),
        "closure" => node(ExprKind::Builtin(Builtin::Closure, vec![argument]), span),
        "choose" => node(ExprKind::Apply(Box::new(ident(&"CHOOSE".into(), span)), vec![argument]), span),
        // The sum or product of the second components of a relation.
        "SIGMA" | "PI" => {
            let pair = Ident { name: "pair·".into(), span };
            let member = binary(BinOp::In, ident(&pair.name, span), argument);
            let second = node(
                ExprKind::Apply(
                    Box::new(node(ExprKind::Const(Const::Prj2), span)),
                    vec![ident(&pair.name, span)],
                ),
                span,
            );
            let op = if tag == "SIGMA" { BigOp::Sigma } else { BigOp::Pi };
            node(ExprKind::Big(op, vec![pair], Box::new(member), Box::new(second)), span)
        }
        _ => return None,
    })
}

/// Declarations of the external functions that a body calls.
fn externals(body: &Expr) -> Vec<DefItem> {
    let span = body.span;
    if !free(body).contains("CHOOSE") {
        return Vec::new();
    }
    let t: Name = "T".into();
    let set = node(ExprKind::Builtin(Builtin::Pow, vec![ident(&t, span)]), span);
    let one = |name: &str, param: &str, body: Expr| {
        DefItem::Def(Definition {
            name: Ident { name: name.into(), span },
            params: vec![Ident { name: param.into(), span }],
            body: DefBody::Expr(body),
        })
    };
    vec![
        one("EXTERNAL_FUNCTION_CHOOSE", "T", binary(BinOp::TotalFunction, set, ident(&t, span))),
        one("CHOOSE", "s", node(ExprKind::Str("an element of s".into()), span)),
    ]
}

/// Renames bound names and settles type parameters.
fn adapt(e: &mut Expr, theory: &Theory, operator: &Operator, depth: usize) {
    let span = e.span;
    match &mut e.kind {
        // The type of an operand says nothing that its use does not say.
        ExprKind::Binary(BinOp::OfType, value, set)
            if free(set).iter().any(|n| theory.type_params.contains(n)) =>
        {
            let mut value = (**value).clone();
            adapt(&mut value, theory, operator, depth);
            *e = value;
        }
        ExprKind::Ident(name) => {
            let is_argument = operator.args.iter().any(|(arg, _)| arg == name);
            if theory.type_params.contains(name) && !is_argument {
                *e = everything(span);
            }
        }
        ExprKind::Compr(names, p) | ExprKind::Quant(_, names, p) => {
            rename(names, &mut [p], operator, depth);
            adapt(p, theory, operator, depth + 1);
        }
        ExprKind::Big(_, names, p, x) => {
            rename(names, &mut [p, x], operator, depth);
            adapt(p, theory, operator, depth + 1);
            adapt(x, theory, operator, depth + 1);
        }
        ExprKind::Builtin(_, items)
        | ExprKind::And(items)
        | ExprKind::Or(items)
        | ExprKind::SetExt(items) => {
            for item in items {
                adapt(item, theory, operator, depth);
            }
        }
        ExprKind::Neg(x) | ExprKind::Inverse(x) | ExprKind::Not(x) => adapt(x, theory, operator, depth),
        ExprKind::Binary(_, a, b) | ExprKind::Image(a, b) => {
            adapt(a, theory, operator, depth);
            adapt(b, theory, operator, depth);
        }
        ExprKind::Apply(f, args) => {
            adapt(f, theory, operator, depth);
            for arg in args {
                adapt(arg, theory, operator, depth);
            }
        }
        ExprKind::If(cases, other) => {
            for (p, x) in cases {
                adapt(p, theory, operator, depth);
                adapt(x, theory, operator, depth);
            }
            adapt(other, theory, operator, depth);
        }
        _ => {}
    }
}

fn rename(names: &mut [Ident], scope: &mut [&mut Box<Expr>], operator: &Operator, depth: usize) {
    let mut by = BTreeMap::new();
    for name in names {
        let new: Name = format!("{}·{}{depth}", name.name, operator.name).into();
        by.insert(name.name.clone(), ident(&new, name.span));
        name.name = new;
    }
    for e in scope {
        bombus_syntax::eventb::names::replace(e, &by);
    }
}
