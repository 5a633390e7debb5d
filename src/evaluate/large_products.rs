//! Comprehensions that are products of sets too large to list.
//!
//! In: the variables and predicate of a comprehension. Out: whether it is one, told without running through it. Such
//! a set would stay symbolic after millions of elements; a function over `POW(POW(S))` is one at a glance.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::size::Card;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, UnOp, VarId};
use bombus_lang::value::{Closure, ClosureKind, Symbolic, Value};

impl Interpreter<'_> {
    /// Whether a predicate leaves more than `COMPREHENSION` values to its variables, because it only says for each of
    /// them, apart from the others, in which set it lies. `Infinite`, `Huge`, or `Unknown` for everything else.
    pub(crate) fn width(&self, env: &mut Env, vars: &[VarId], pred: &Pred) -> Res<Card> {
        let Some(first) = vars.first() else { return Ok(Card::Unknown) };
        // The types alone settle most comprehensions, once and for all.
        let known = self.cache.wide.borrow().get(first).copied();
        let may_be_wide = match known {
            Some(known) => known,
            None => {
                let mut types = Card::of(1);
                for v in vars {
                    types = types.times(self.card(env, &self.type_set(&self.type_of(*v)))?);
                }
                // Other sets would have to be computed before their size is known, and are computed anyway.
                let powers =
                    |sides: Vec<Side>| sides.iter().any(|s| s.op == RelOp::Subset || is_power(s.set));
                let may_be_wide = is_wide(&types) && sides(vars, pred).is_some_and(powers);
                if self.is_declared(*first) {
                    self.cache.wide.borrow_mut().insert(*first, may_be_wide);
                }
                may_be_wide
            }
        };
        if !may_be_wide {
            return Ok(Card::Unknown);
        }
        let Some(sides) = sides(vars, pred) else { return Ok(Card::Unknown) };
        let mut left: Vec<Option<Card>> = vec![None; vars.len()];
        for Side { var, op, set } in sides {
            let value = match self.eval_lazy(env, set) {
                Ok(value) => value,
                Err(e) if e.is_stop() => return Err(e),
                Err(_) => return Ok(Card::Unknown),
            };
            if self.is_whole_type(&value) {
                continue;
            }
            let value = match op {
                RelOp::Subset => Value::symbolic(Symbolic::Unary(UnOp::Pow, value)),
                _ => value,
            };
            // Two sets for one variable: how much they share is another question.
            if left[var].is_some() {
                return Ok(Card::Unknown);
            }
            left[var] = Some(self.card(env, &value)?);
        }
        let mut all = Card::of(1);
        for (v, card) in vars.iter().zip(left) {
            all = all.times(match card {
                Some(card) => card,
                None => self.card(env, &self.type_set(&self.type_of(*v)))?,
            });
        }
        Ok(match all {
            Card::Infinite => Card::Infinite,
            all if is_wide(&all) => Card::Huge,
            _ => Card::Unknown,
        })
    }

    /// The same for a closure, where different values of the variables give different elements.
    pub(crate) fn closure_width(&self, env: &mut Env, c: &Closure) -> Res<Card> {
        let code = c.code.clone();
        let distinct = match (code.kind, &code.body) {
            (ClosureKind::Set | ClosureKind::Lambda, _) => true,
            (ClosureKind::SetOf, Some(body)) => code.vars.iter().all(|v| shows(body, *v)),
            _ => false,
        };
        if !distinct {
            return Ok(Card::Unknown);
        }
        self.with_captured(env, c, &mut |this, env| this.width(env, &code.vars, &code.pred))
    }
}

/// `var : set` or `var <: set`, the variable by its index.
struct Side<'p> {
    var: usize,
    op: RelOp,
    set: &'p Expr,
}

/// The sets that the variables lie in, if the predicate says nothing else.
fn sides<'p>(vars: &[VarId], pred: &'p Pred) -> Option<Vec<Side<'p>>> {
    let mut out = Vec::new();
    let mut open = vec![pred];
    while let Some(p) = open.pop() {
        match &p.kind {
            PredKind::True => {}
            PredKind::And(ps) => open.extend(ps),
            PredKind::Label(_, q) => open.push(q),
            PredKind::Rel(op @ (RelOp::In | RelOp::Subset), a, set) => {
                let ExprKind::Var(v) = a.kind else { return None };
                let var = vars.iter().position(|w| *w == v)?;
                if bombus_lang::free::mentions(set, &|w| vars.contains(&w)) {
                    return None;
                }
                out.push(Side { var, op: *op, set });
            }
            _ => return None,
        }
    }
    Some(out)
}

/// Whether a set is written as a set of subsets, relations or functions.
fn is_power(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::Unary(op, _) => matches!(op, UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1),
        ExprKind::Binary(op, ..) => matches!(
            op,
            BinOp::Relation | BinOp::PartialFunction | BinOp::TotalFunction | BinOp::PartialInjection
        ),
        _ => false,
    }
}

/// Whether the value of a variable can be read off a tuple.
fn shows(tuple: &Expr, v: VarId) -> bool {
    match &tuple.kind {
        ExprKind::Var(w) => *w == v,
        ExprKind::Pair(a, b) => shows(a, v) || shows(b, v),
        _ => false,
    }
}

fn is_wide(card: &Card) -> bool {
    match card {
        Card::Infinite | Card::Huge => true,
        Card::Finite(n) => *n > Int::from(crate::COMPREHENSION),
        Card::Unknown => false,
    }
}
