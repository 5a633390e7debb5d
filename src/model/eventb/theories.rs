//! Theories: operators that models add to the mathematical language.
//!
//! In: the theories of a project and the names its formulas use. Out: definitions that the front end
//! expands, for operators with a direct definition and for those whose author mapped them to a built-in
//! function, and for datatypes with one constructor. Other datatypes, operators over them that are
//! defined by recursion, and those described by axioms alone, cannot be computed: using one is an
//! error that says so.
//!
//! Bound names of a body are renamed, so that no argument is captured; a type parameter used as a set
//! becomes the set of all values of its type.

use super::lockstep::{binary, ident, node};
use crate::base::diagnostic::Diagnostic;
use crate::base::{Name, Span};
use crate::syntax::ast::{BigOp, BinOp, Builtin, Const, DefBody, DefItem, Definition, Expr, ExprKind, Ident};
use crate::syntax::eventb::names::free;
use crate::syntax::eventb::{Datatype, Operator, OperatorDefinition, Theory};
use std::collections::{BTreeMap, BTreeSet};

/// Definitions of all operators that `used` needs, directly or by way of other operators.
pub fn definitions(theories: &[Theory], used: &BTreeSet<Name>) -> Result<Vec<DefItem>, Vec<Diagnostic>> {
    let mut known: BTreeMap<&Name, (&Theory, &Operator)> = BTreeMap::new();
    for theory in theories {
        for operator in theory.operators.iter().chain(&theory.axiomatic) {
            known.entry(&operator.name).or_insert((theory, operator));
        }
    }
    let mut items = Vec::new();
    let mut errors = Vec::new();
    let records: BTreeMap<Name, DefItem> =
        theories.iter().flat_map(|t| &t.datatypes).flat_map(record).collect();
    let mut open: Vec<Name> = used.iter().cloned().collect();
    let mut done: BTreeSet<Name> = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        items.extend(records.get(&name).cloned());
        let Some((theory, operator)) = known.get(&name) else { continue };
        match body(theory, operator) {
            Ok(body) => {
                open.extend(free(&body));
                items.extend(externals(&body));
                items.push(definition(operator, body));
            }
            Err(message) => errors.push(Diagnostic::plain(message)),
        }
    }
    errors.extend(datatypes_used(theories, &done));
    if errors.is_empty() { Ok(items) } else { Err(errors) }
}

/// A datatype with one constructor is a product under another name: `mk(a,b)` is `a↦b`, its
/// destructors are the projections, and the type over sets is their product.
fn record(datatype: &Datatype) -> Vec<(Name, DefItem)> {
    let [constructor] = datatype.constructors.as_slice() else { return Vec::new() };
    let args = &constructor.args;
    if args.is_empty() || args.iter().any(|(_, t)| free(t).contains(&datatype.name)) {
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
    let project =
        |of: Const, e: Expr| node(ExprKind::Apply(Box::new(node(ExprKind::Const(of), span)), vec![e]), span);
    for (i, name) in names.iter().enumerate() {
        // Pairs nest to the left: the last component is the second of the whole.
        let mut e = ident(&value, span);
        for _ in i + 1..names.len() {
            e = project(Const::Prj1, e);
        }
        if i > 0 {
            e = project(Const::Prj2, e);
        }
        items.push(define(name, vec![value.clone()], e));
    }
    items
}

fn datatypes_used(theories: &[Theory], used: &BTreeSet<Name>) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for theory in theories {
        for datatype in theory.datatypes.iter().filter(|d| record(d).is_empty()) {
            let constructors = datatype.constructors.iter();
            let names =
                constructors.flat_map(|c| std::iter::once(&c.name).chain(c.args.iter().map(|(d, _)| d)));
            if let Some(name) = std::iter::once(&datatype.name).chain(names).find(|n| used.contains(*n)) {
                errors.push(Diagnostic::plain(format!(
                    "`{name}` belongs to the datatype {} of the theory {}: datatypes with several constructors cannot be evaluated yet",
                    datatype.name, theory.name
                )));
            }
        }
    }
    errors
}

fn definition(operator: &Operator, body: Expr) -> DefItem {
    let span = body.span;
    DefItem::Def(Definition {
        name: Ident { name: operator.name.clone(), span },
        params: operator.args.iter().map(|(name, _)| Ident { name: name.clone(), span }).collect(),
        body: DefBody::Expr(body),
    })
}

/// What the operator computes, in terms of its arguments.
fn body(theory: &Theory, operator: &Operator) -> Result<Expr, String> {
    let tag = theory.mappings.iter().find(|(name, _)| *name == operator.name).map(|(_, tag)| tag.as_ref());
    if let (Some(tag), [(argument, _)]) = (tag, operator.args.as_slice())
        && let Some(built_in) = mapped(tag, argument)
    {
        return Ok(built_in);
    }
    match &operator.definition {
        OperatorDefinition::Direct(body) => {
            let mut body = body.clone();
            adapt(&mut body, theory, operator, 0);
            Ok(body)
        }
        OperatorDefinition::Recursive { .. } => Err(format!(
            "the operator {} of the theory {} is defined by recursion over a datatype, which cannot be evaluated yet",
            operator.name, theory.name
        )),
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

/// Renames bound names, settles type parameters, and knows sequences when it sees them.
fn adapt(e: &mut Expr, theory: &Theory, operator: &Operator, depth: usize) {
    let span = e.span;
    if let Some(set) = sequences(e) {
        *e = node(ExprKind::Builtin(Builtin::Seq, vec![set]), span);
    }
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
                let element = Ident { name: "element·".into(), span };
                let everything = Box::new(node(ExprKind::Const(Const::BTrue), span));
                *e = node(ExprKind::Compr(vec![element], everything), span);
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
        crate::syntax::eventb::names::replace(e, &by);
    }
}

/// The set `A` if the expression is `{f,n · n∈ℕ ∧ f∈1‥n→A ∣ f}`.
fn sequences(e: &Expr) -> Option<Expr> {
    let ExprKind::Big(BigOp::SetOf, names, pred, value) = &e.kind else { return None };
    let ExprKind::Ident(f) = &value.kind else { return None };
    let n = names.iter().map(|i| &i.name).find(|i| *i != f)?;
    let ExprKind::And(parts) = &pred.kind else { return None };
    let [bound, function] = parts.as_slice() else { return None };
    let ExprKind::Binary(BinOp::In, length, naturals) = &bound.kind else { return None };
    let ExprKind::Binary(BinOp::In, name, arrow) = &function.kind else { return None };
    let ExprKind::Binary(BinOp::TotalFunction, domain, set) = &arrow.kind else { return None };
    let ExprKind::Binary(BinOp::Interval, one, last) = &domain.kind else { return None };
    let is = |e: &Expr, name: &Name| matches!(&e.kind, ExprKind::Ident(x) if x == name);
    let fits = names.len() == 2
        && is(length, n)
        && naturals.kind == ExprKind::Const(Const::Natural)
        && is(name, f)
        && one.kind == ExprKind::Int(crate::base::Int::ONE)
        && is(last, n);
    fits.then(|| (**set).clone())
}
