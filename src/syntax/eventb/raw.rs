//! Formulas of a package: ProB's raw tree as Prolog terms, one functor per operator.
//!
//! In: terms whose first argument is a place, such as `union(none,A,B)`. Out: `ast::Expr` and
//! `ast::Stmt` without places. Never here: components.

use super::names::{for_each_expr, primed, settle_bound_primes};
use super::term::{Term, TermKind};
use crate::ast::{BigOp, BinOp, Builtin, Const, Expr, ExprKind, Ident, Quant, Stmt, StmtKind};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};

fn expr_of(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn unknown(term: &Term, wanted: &str) -> Diagnostic {
    Diagnostic::error(term.span, format!("{} is not known as {wanted} of Event-B", term.describe()))
}

/// Functor, place and the arguments that follow it.
pub fn node<'a>(term: &'a Term, wanted: &str) -> Result<(&'a str, &'a Term, &'a [Term]), Diagnostic> {
    match &term.kind {
        TermKind::Compound(name, args) => Ok((name, &args[0], &args[1..])),
        _ => Err(unknown(term, wanted)),
    }
}

pub fn list<'a>(term: &'a Term, of: &str) -> Result<&'a [Term], Diagnostic> {
    term.list().ok_or_else(|| {
        Diagnostic::error(term.span, format!("a list of {of} is expected, not {}", term.describe()))
    })
}

/// An atom; a number or a functor that looks like one is read as its text.
pub fn atom(term: &Term, what: &str) -> Result<Name, Diagnostic> {
    match &term.kind {
        TermKind::Atom(name) | TermKind::Str(name) => Ok(name.clone()),
        TermKind::Int(n) => Ok(n.to_string().into()),
        TermKind::List(items) if items.is_empty() => Ok("[]".into()),
        _ => Err(Diagnostic::error(term.span, format!("{what} is expected here, not {}", term.describe()))),
    }
}

/// The name in `identifier(Pos,x)`.
pub fn identifier(term: &Term) -> Result<Ident, Diagnostic> {
    match term.functor() {
        Some(("identifier", [_, name])) => Ok(Ident { name: atom(name, "a name")?, span: Span::default() }),
        _ => Err(unknown(term, "an identifier")),
    }
}

pub fn identifiers(term: &Term) -> Result<Vec<Ident>, Diagnostic> {
    list(term, "identifiers")?.iter().map(identifier).collect()
}

/// A predicate or an expression.
pub fn formula(term: &Term) -> Result<Expr, Diagnostic> {
    let mut e = part(term)?;
    settle_bound_primes(&mut e);
    Ok(e)
}

fn part(term: &Term) -> Result<Expr, Diagnostic> {
    let (name, _, args) = node(term, "a formula")?;
    if let Some(c) = constant(name)
        && args.is_empty()
    {
        return Ok(expr_of(ExprKind::Const(c)));
    }
    if let Some(b) = unary(name)
        && let [arg] = args
    {
        return Ok(expr_of(ExprKind::Builtin(b, vec![part(arg)?])));
    }
    if let Some(op) = BinOp::of_functor(name)
        && let [left, right] = args
    {
        return Ok(expr_of(ExprKind::Binary(op, Box::new(part(left)?), Box::new(part(right)?))));
    }
    let kind = match (name, args) {
        ("identifier", [id]) => named(atom(id, "a name")?),
        ("integer", [n]) => match &n.kind {
            TermKind::Int(value) => ExprKind::Int(value.clone()),
            _ => return Err(unknown(n, "an integer")),
        },
        ("conjunct", [_, _]) => ExprKind::And(flatten(term, "conjunct")?),
        ("disjunct", [_, _]) => ExprKind::Or(flatten(term, "disjunct")?),
        ("conjunct" | "disjunct", [items]) if items.list().is_some() => {
            let parts = parts_of(items)?;
            match (parts.len(), name) {
                (0, "conjunct") => ExprKind::Const(Const::BTrue),
                (0, _) => ExprKind::Const(Const::BFalse),
                (1, _) => return Ok(parts.into_iter().next().expect("one part")),
                (_, "conjunct") => ExprKind::And(parts),
                _ => ExprKind::Or(parts),
            }
        }
        ("negation", [p]) => ExprKind::Not(Box::new(part(p)?)),
        ("unary_minus", [e]) => ExprKind::Neg(Box::new(part(e)?)),
        ("reverse", [r]) => ExprKind::Inverse(Box::new(part(r)?)),
        ("couple", [parts]) => {
            let mut parts = parts_of(parts)?.into_iter();
            let Some(first) = parts.next() else { return Err(unknown(term, "a pair")) };
            return Ok(parts.fold(first, |left, right| {
                expr_of(ExprKind::Binary(BinOp::Maplet, Box::new(left), Box::new(right)))
            }));
        }
        ("function", [f, operands]) => {
            let operands = match operands.list() {
                Some(_) => parts_of(operands)?,
                None => vec![part(operands)?],
            };
            ExprKind::Apply(Box::new(part(f)?), operands)
        }
        ("image", [r, s]) => ExprKind::Image(Box::new(part(r)?), Box::new(part(s)?)),
        ("set_extension", [items]) => {
            let items = parts_of(items)?;
            if items.is_empty() { ExprKind::Const(Const::EmptySet) } else { ExprKind::SetExt(items) }
        }
        ("partition", [set, parts]) => {
            let mut all = vec![part(set)?];
            all.extend(parts_of(parts)?);
            ExprKind::Builtin(Builtin::Partition, all)
        }
        ("convert_bool", [p]) => ExprKind::Builtin(Builtin::Bool, vec![part(p)?]),
        ("forall", [names, body]) => {
            ExprKind::Quant(Quant::Forall, identifiers(names)?, Box::new(part(body)?))
        }
        // Classical B's shape: names, left side, right side.
        ("forall", [names, left, right]) => {
            let body = ExprKind::Binary(BinOp::Implies, Box::new(part(left)?), Box::new(part(right)?));
            ExprKind::Quant(Quant::Forall, identifiers(names)?, Box::new(expr_of(body)))
        }
        ("exists", [names, body]) => {
            ExprKind::Quant(Quant::Exists, identifiers(names)?, Box::new(part(body)?))
        }
        ("comprehension_set", [names, body]) => ExprKind::Compr(identifiers(names)?, Box::new(part(body)?)),
        ("event_b_comprehension_set", [names, value, pred]) => {
            comprehension(identifiers(names)?, part(pred)?, part(value)?)
        }
        ("lambda", [names, pred, value]) => big(BigOp::Lambda, names, pred, value)?,
        ("quantified_union", [names, pred, value]) => big(BigOp::Union, names, pred, value)?,
        ("quantified_intersection", [names, pred, value]) => big(BigOp::Inter, names, pred, value)?,
        // Rodin's first language had projections of a relation: prj1(r) = r ◁ prj1.
        ("event_b_first_projection" | "first_projection", [r]) => ExprKind::Binary(
            BinOp::DomRestrict,
            Box::new(part(r)?),
            Box::new(expr_of(ExprKind::Const(Const::Prj1))),
        ),
        ("event_b_second_projection" | "second_projection", [r]) => ExprKind::Binary(
            BinOp::DomRestrict,
            Box::new(part(r)?),
            Box::new(expr_of(ExprKind::Const(Const::Prj2))),
        ),
        ("extended_expr" | "extended_pred", [op, exprs, preds]) => {
            let op = atom(op, "an operator")?;
            let mut operands = parts_of(exprs)?;
            let mut preds = parts_of(preds)?;
            if op.as_ref() == "COND" && operands.len() == 2 && preds.len() == 1 {
                let otherwise = operands.pop().expect("two operands");
                let value = operands.pop().expect("two operands");
                let test = preds.pop().expect("one predicate");
                ExprKind::If(vec![(test, value)], Box::new(otherwise))
            } else {
                operands.append(&mut preds);
                if operands.is_empty() {
                    ExprKind::Ident(op)
                } else {
                    ExprKind::Apply(Box::new(expr_of(ExprKind::Ident(op))), operands)
                }
            }
        }
        _ => return Err(unknown(term, "a formula")),
    };
    Ok(expr_of(kind))
}

fn parts_of(term: &Term) -> Result<Vec<Expr>, Diagnostic> {
    list(term, "formulas")?.iter().map(part).collect()
}

/// `x` or `x'`.
fn named(name: Name) -> ExprKind {
    match name.strip_suffix('\'') {
        Some(plain) => ExprKind::Primed(plain.into()),
        None => ExprKind::Ident(name),
    }
}

fn big(op: BigOp, names: &Term, pred: &Term, value: &Term) -> Result<ExprKind, Diagnostic> {
    Ok(ExprKind::Big(op, identifiers(names)?, Box::new(part(pred)?), Box::new(part(value)?)))
}

/// `{x·P∣E}`, which exporters also write for `{x∣P}` and for lambda: both get their own form back,
/// because engines know more about them.
pub fn comprehension(names: Vec<Ident>, pred: Expr, value: Expr) -> ExprKind {
    if is_tuple(&value, &names) {
        return ExprKind::Compr(names, Box::new(pred));
    }
    match value.kind {
        ExprKind::Binary(BinOp::Maplet, pattern, result) if is_tuple(&pattern, &names) => {
            ExprKind::Big(BigOp::Lambda, names, Box::new(pred), result)
        }
        kind => {
            let value = Expr { kind, span: value.span };
            ExprKind::Big(BigOp::SetOf, names, Box::new(pred), Box::new(value))
        }
    }
}

/// Whether `e` is exactly `x↦y↦…` of the given names in their order.
fn is_tuple(e: &Expr, names: &[Ident]) -> bool {
    match (&e.kind, names) {
        (ExprKind::Ident(x), [name]) => *x == name.name,
        (ExprKind::Primed(x), [name]) => primed(x) == name.name,
        (ExprKind::Binary(BinOp::Maplet, left, right), [first @ .., last]) if !first.is_empty() => {
            is_tuple(right, std::slice::from_ref(last)) && is_tuple(left, first)
        }
        _ => false,
    }
}

/// The parts of a chain of one connective, however it is nested.
fn flatten(term: &Term, connective: &str) -> Result<Vec<Expr>, Diagnostic> {
    let mut parts = Vec::new();
    let mut open = vec![term];
    while let Some(next) = open.pop() {
        match next.functor() {
            Some((name, [_, left, right])) if name == connective => {
                open.push(right);
                open.push(left);
            }
            _ => parts.push(part(next)?),
        }
    }
    Ok(parts)
}

/// An action of an event.
pub fn action(term: &Term) -> Result<Stmt, Diagnostic> {
    let (name, _, args) = node(term, "an action")?;
    let kind = match (name, args) {
        ("skip", []) => StmtKind::Skip,
        ("assign", [targets, values]) => StmtKind::Assign(parts_of(targets)?, parts_of(values)?),
        ("becomes_element_of", [names, set]) => StmtKind::BecomesIn(identifiers(names)?, part(set)?),
        ("becomes_such", [names, pred]) => StmtKind::BecomesSuch(identifiers(names)?, part(pred)?),
        _ => return Err(unknown(term, "an action")),
    };
    let mut stmt = Stmt { kind, span: Span::default() };
    for_each_expr(&mut stmt, &mut settle_bound_primes);
    Ok(stmt)
}

fn constant(name: &str) -> Option<Const> {
    Some(match name {
        "truth" => Const::BTrue,
        "falsity" => Const::BFalse,
        "boolean_true" => Const::True,
        "boolean_false" => Const::False,
        "empty_set" => Const::EmptySet,
        "integer_set" => Const::Integer,
        "natural_set" => Const::Natural,
        "natural1_set" => Const::Natural1,
        "bool_set" => Const::Bool,
        "successor" => Const::Succ,
        "predecessor" => Const::Pred,
        "event_b_identity" => Const::Id,
        "event_b_first_projection_v2" => Const::Prj1,
        "event_b_second_projection_v2" => Const::Prj2,
        _ => return None,
    })
}

fn unary(name: &str) -> Option<Builtin> {
    Some(match name {
        "pow_subset" => Builtin::Pow,
        "pow1_subset" => Builtin::Pow1,
        "card" => Builtin::Card,
        "min" => Builtin::Min,
        "max" => Builtin::Max,
        "general_union" => Builtin::Union,
        "general_intersection" => Builtin::Inter,
        "domain" => Builtin::Dom,
        "range" => Builtin::Ran,
        "identity" => Builtin::Id,
        "finite" => Builtin::Finite,
        _ => return None,
    })
}
