//! Bounds that follow from predicates, so that the oracle can list bindings that it cannot list by itself.
//!
//! In: a machine. Out: the same machine, where a predicate P over bound variables may have become `B & P`.
//! **Law of bounds.** Where B is false, P is false; where B is undefined, P is not true. A conjunction is false if
//! some conjunct is false, so `B & P` is true, false and undefined exactly where P is. Each rule says why it keeps the law.
//! The oracle is asked about this machine only where it has no answer about the machine itself: a bound that cannot be
//! evaluated takes an answer away and never makes a wrong one.
//! Never here: evaluation.
//!
//! `walk` finds the binders; `numbers`, `sequences`, `functions`, `sets` and `inside` are rules about one variable;
//! `guards` has rules about operations.

mod functions;
mod guards;
mod inside;
mod numbers;
mod sequences;
mod sets;
#[cfg(test)]
mod tests;
mod walk;

use crate::reads::names;
use bombus_oracle::text::Core;
use bombus_oracle::tree::{BinOp, Expr, Machine, Name, Pred, RelOp, Type, UnOp, Var};
use bombus_oracle::value::Value;
use dashu_int::IBig;

/// The integers of the scope, least and greatest.
pub type Window = (IBig, IBig);

/// The machine with all bounds that some rule gives. An integer parameter that nothing reads runs through the window.
pub fn bounded(machine: &Machine, window: Option<&Window>) -> Machine {
    let mut machine = machine.clone();
    guards::joined(&mut machine, window);
    walk::machine(&mut machine);
    machine
}

/// A variable whose bindings are to be listed, and the conjuncts about it and its neighbours.
struct Site<'p> {
    name: &'p Name,
    of: &'p Type,
    /// The variables of the same binder that stand behind it.
    behind: &'p [Var],
    all: &'p [&'p Pred],
}

/// A rule: the bounds of a variable that follow from the conjuncts.
type Rule = fn(&Site) -> Vec<Pred>;

const RULES: [Rule; 8] = [
    numbers::solved,
    numbers::within,
    numbers::factors,
    sequences::of_size,
    functions::by_images,
    functions::between,
    sets::apart,
    inside::below_exists,
];

/// Predicates with more variables times conjuncts get no bounds: every rule reads every conjunct for every variable.
const MOST: usize = 20_000;

/// The bounds of variables that follow from a predicate over them.
fn bounds(vars: &[Var], p: &Pred) -> Vec<Pred> {
    let mut all = Vec::new();
    conjuncts(p, &mut all);
    if vars.len() * all.len() > MOST {
        return Vec::new();
    }
    let mut out = inside::possible(vars, &all);
    for (at, (name, of)) in vars.iter().enumerate() {
        let site = Site { name, of, behind: &vars[at + 1..], all: &all };
        out.extend(RULES.iter().flat_map(|rule| rule(&site)));
    }
    out
}

/// `B & P` with bounds of the variables.
fn with(mut bounds: Vec<Pred>, vars: &[Var], p: &Pred) -> Pred {
    let mut all = Vec::new();
    conjuncts(p, &mut all);
    let is_long = vars.len() * all.len() > MOST;
    let parted = if is_long { p.clone() } else { numbers::parted(vars, &all, p) };
    if bounds.is_empty() {
        return parted;
    }
    bounds.push(parted);
    Pred::And(bounds)
}

/// The conjuncts of a predicate, without their labels.
pub fn conjuncts<'p>(p: &'p Pred, out: &mut Vec<&'p Pred>) {
    match p.bare() {
        Pred::And(ps) => ps.iter().for_each(|p| conjuncts(p, out)),
        p => out.push(p),
    }
}

/// Whether a name occurs in a tree, free or bound.
fn mentions(tree: &impl Core, name: &str) -> bool {
    names(&tree.write()).contains(name)
}

fn var(name: &Name) -> Expr {
    Expr::Var(name.clone())
}

fn is(e: &Expr, name: &Name) -> bool {
    matches!(e, Expr::Var(n) if n == name)
}

fn int(n: i32) -> Expr {
    Expr::Const(Value::int(n))
}

fn binary(op: BinOp, a: &Expr, b: &Expr) -> Expr {
    Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()))
}

fn unary(op: UnOp, a: &Expr) -> Expr {
    Expr::Unary(op, Box::new(a.clone()))
}

fn rel(op: RelOp, a: Expr, b: Expr) -> Pred {
    Pred::Rel(op, a, b)
}

/// True wherever the set has a value, undefined elsewhere.
fn has_value(set: &Expr) -> Pred {
    rel(RelOp::In, Expr::Set(Vec::new()), unary(UnOp::Pow, set))
}

/// The relation between the two sides of an equation or comparison, read from the other side.
fn mirrored(op: RelOp) -> Option<RelOp> {
    Some(match op {
        RelOp::Equal => RelOp::Equal,
        RelOp::Less => RelOp::Greater,
        RelOp::LessEqual => RelOp::GreaterEqual,
        RelOp::Greater => RelOp::Less,
        RelOp::GreaterEqual => RelOp::LessEqual,
        _ => return None,
    })
}

/// An equation or comparison read from both sides.
fn both_ways(p: &Pred) -> Vec<(RelOp, &Expr, &Expr)> {
    let Pred::Rel(op, a, b) = p else { return Vec::new() };
    std::iter::once((*op, a, b)).chain(mirrored(*op).map(|op| (op, b, a))).collect()
}
