//! Elements of a set by what an equation says of them.
//!
//! In: `pattern : S` with S listed, and an equation `E = s` beside it where E computes with the variables of the pattern
//! alone and s is known. Out: the elements that can satisfy it. So `{x,y | (x,y):W & x+y = s}`, asked for many s, costs one pass over
//! W and then a look-up each time, where it was a pass each time.
//! An element for which the equation is false is no solution, whatever the other conjuncts are; one for which E has no
//! value, or none that is easily compared, is always among those returned, and the equation is tested as ever.
//! An index is made when the same set is asked for a second time, and belongs to the set as it lies in memory.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::order::Item;
use crate::solve::plan::Conjunct;
use bombus_base::hash::HashMap;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, UnOp, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Smaller sets are run through.
const SMALL: usize = 1 << 5;
/// Indexes and indexed elements that are kept; beyond, all are forgotten together.
const KEPT: usize = 1 << 8;
const ELEMENTS: usize = 1 << 22;

/// Indexes by the equation, the membership and the set, named by their places in memory, which are kept alive here.
#[derive(Default)]
pub(crate) struct Indexes {
    entries: HashMap<(usize, usize, usize), Entry>,
    elements: usize,
}

struct Entry {
    _kept: (Arc<Conjunct>, Arc<Conjunct>, Arc<[Value]>),
    /// Not before the second time.
    index: Option<Arc<Index>>,
}

struct Index {
    by_value: HashMap<Value, Vec<u32>>,
    /// Elements that have to be tested one by one.
    others: Vec<u32>,
}

impl Interpreter<'_> {
    /// The positions of the elements of `set` that some equation among `open` leaves, if an index tells.
    pub(crate) fn fitting(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        item: &Item,
        set: &Arc<[Value]>,
    ) -> Res<Option<Vec<u32>>> {
        let PredKind::Rel(RelOp::In, pattern, _) = &item.conjunct.pred.kind else { return Ok(None) };
        let mut vars = Vec::new();
        if set.len() < SMALL || !is_plain(pattern, unknown, &mut vars) {
            return Ok(None);
        }
        for other in open {
            let c = &other.conjunct;
            let PredKind::Rel(RelOp::Equal, a, b) = &c.pred.kind else { continue };
            if c.derived {
                continue;
            }
            for (e, free, s, known) in [(a, &c.left, b, &c.right), (b, &c.right, a, &c.left)] {
                if free.is_empty() || !is_arithmetic(e, &vars) || known.iter().any(|v| unknown.contains(v)) {
                    continue;
                }
                let target = match self.eval(env, s) {
                    Ok(target) if is_simple(&target) => target,
                    Err(error) if error.is_stop() => return Err(error),
                    _ => continue,
                };
                let Some(index) = self.index_of(env, unknown, (c, e), (item, pattern), set)? else {
                    continue;
                };
                let mut found = index.others.clone();
                found.extend(index.by_value.get(&target).into_iter().flatten());
                found.sort_unstable();
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn index_of(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        (equation, e): (&Arc<Conjunct>, &Expr),
        (item, pattern): (&Item, &Expr),
        set: &Arc<[Value]>,
    ) -> Res<Option<Arc<Index>>> {
        let place = |c: &Arc<Conjunct>| Arc::as_ptr(c) as usize;
        let key = (place(equation), place(&item.conjunct), set.as_ptr() as usize);
        let known = self.cache.indexes.borrow().entries.get(&key).map(|e| e.index.clone());
        match known {
            Some(Some(index)) => return Ok(Some(index)),
            Some(None) => {}
            None => {
                let mut all = self.cache.indexes.borrow_mut();
                if all.entries.len() >= KEPT || all.elements + set.len() > ELEMENTS {
                    *all = Indexes::default();
                }
                all.elements += set.len();
                let kept = (equation.clone(), item.conjunct.clone(), set.clone());
                all.entries.insert(key, Entry { _kept: kept, index: None });
                return Ok(None);
            }
        }
        let mut index = Index { by_value: HashMap::new(), others: Vec::new() };
        for (i, element) in set.iter().enumerate() {
            self.tick()?;
            let (mut bound, mut exact) = (Vec::new(), true);
            let matched = self.match_pattern(env, unknown, pattern, element, &mut bound, &mut exact);
            let value = match matched {
                Ok(true) if exact => Some(self.eval(env, e)),
                _ => None,
            };
            bound.into_iter().for_each(|v| env.unbind(v));
            match value {
                Some(Ok(value)) if is_simple(&value) => {
                    index.by_value.entry(value).or_default().push(i as u32);
                }
                Some(Err(error)) if error.is_stop() => return Err(error),
                _ => index.others.push(i as u32),
            }
        }
        let index = Arc::new(index);
        if let Some(entry) = self.cache.indexes.borrow_mut().entries.get_mut(&key) {
            entry.index = Some(index.clone());
        }
        Ok(Some(index))
    }
}

/// Whether a pattern is made of different unknown variables alone, so that it fits every element in all states.
pub(crate) fn is_plain(pattern: &Expr, unknown: &[VarId], vars: &mut Vec<VarId>) -> bool {
    match &pattern.kind {
        ExprKind::Var(v) if unknown.contains(v) && !vars.contains(v) => {
            vars.push(*v);
            true
        }
        ExprKind::Pair(a, b) => is_plain(a, unknown, vars) && is_plain(b, unknown, vars),
        _ => false,
    }
}

/// Whether an expression computes with these variables and numbers alone, so that its value is the same in all states.
fn is_arithmetic(e: &Expr, vars: &[VarId]) -> bool {
    match &e.kind {
        ExprKind::Int(_) => true,
        ExprKind::Var(v) => vars.contains(v),
        ExprKind::Unary(UnOp::Neg | UnOp::First2 | UnOp::Second2, a) => is_arithmetic(a, vars),
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod, a, b) => {
            is_arithmetic(a, vars) && is_arithmetic(b, vars)
        }
        _ => false,
    }
}

/// Whether equal values of this form are the same in memory.
fn is_simple(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Bool(_) | Value::Elem(..))
}
