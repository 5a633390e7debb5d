//! Expressions over constants alone: computed once per valuation; and while the constants are set up,
//! once for the values that the constants in them have at the moment.
//!
//! In: nodes of the machine's trees and of the interpreter's own plans. Out: their values, remembered.
//! A node is named by its place in memory. That is sound only for trees that live as long as the
//! interpreter: closures and formulas from outside are evaluated with `Env::valuation` empty.

use crate::env::Env;
use crate::error::Res;
use crate::{Constants, Interpreter};
use bombus_base::hash::HashMap;
use bombus_lang::free;
use bombus_lang::typed::{BinOp, Expr, ExprKind, UnOp, VarId, VarKind};
use bombus_lang::value::Value;
use std::sync::Arc;

/// More values than this are forgotten together.
const REMEMBERED: usize = 1 << 18;
/// Stands for a valuation while the constants are set up.
pub(crate) const SETUP: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Memo {
    /// Valuations by the address of the shared list, which is kept alive here.
    valuations: HashMap<usize, (u32, Constants)>,
    /// Whether a node reads constants alone.
    constant: HashMap<usize, bool>,
    values: HashMap<(u32, usize), Value>,
    /// While constants are set up: the constants a node reads, if it reads nothing else, and the value it had last.
    reads: HashMap<usize, Option<Arc<[VarId]>>>,
    last: HashMap<usize, (Vec<Value>, Value)>,
}

impl Memo {
    pub(crate) fn valuation(&mut self, constants: &Constants) -> u32 {
        let next = self.valuations.len() as u32;
        let at = constants.as_ptr() as usize;
        // Empty lists may share an address, and are equal.
        self.valuations.entry(at).or_insert_with(|| (next, constants.clone())).0
    }
}

impl Interpreter<'_> {
    /// The value of a node, from memory if it reads constants alone.
    pub(crate) fn remembered(&self, env: &mut Env, e: &Expr, valuation: u32) -> Res<Value> {
        if valuation == SETUP {
            return self.remembered_at_setup(env, e);
        }
        let node = std::ptr::from_ref(e) as usize;
        let known = self.cache.memo.borrow().constant.get(&node).copied();
        let constant = known.unwrap_or_else(|| {
            let constant = free::reads_only(e, &|v| {
                self.machine.vars.get(v.0 as usize).is_some_and(|d| d.kind == VarKind::Constant)
            });
            self.cache.memo.borrow_mut().constant.insert(node, constant);
            constant
        });
        if !constant {
            return self.eval_kind(env, e);
        }
        if let Some(value) = self.cache.memo.borrow().values.get(&(valuation, node)) {
            return Ok(value.clone());
        }
        let value = self.eval_kind(env, e)?;
        let mut memo = self.cache.memo.borrow_mut();
        if memo.values.len() >= REMEMBERED {
            memo.values.clear();
        }
        memo.values.insert((valuation, node), value.clone());
        Ok(value)
    }

    /// The value of a node while the constants are set up: the one it had last, if the constants it
    /// reads are still the same. So what does not depend on the variable of a loop is computed once.
    fn remembered_at_setup(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        let node = std::ptr::from_ref(e) as usize;
        let known = self.cache.memo.borrow().reads.get(&node).cloned();
        let reads = known.unwrap_or_else(|| {
            let constant = free::reads_only(e, &|v| {
                self.machine.vars.get(v.0 as usize).is_some_and(|d| d.kind == VarKind::Constant)
            });
            let reads = constant.then(|| Arc::from(free::of_expr(e)));
            self.cache.memo.borrow_mut().reads.insert(node, reads.clone());
            reads
        });
        let Some(reads) = reads else { return self.eval_kind(env, e) };
        if let Some((inputs, value)) = self.cache.memo.borrow().last.get(&node)
            && reads.iter().zip(inputs).all(|(v, x)| env.get(*v).is_some_and(|y| is_same(x, y)))
        {
            return Ok(value.clone());
        }
        let value = self.eval_kind(env, e)?;
        let inputs: Option<Vec<Value>> = reads.iter().map(|v| env.get(*v).cloned()).collect();
        if let Some(inputs) = inputs {
            self.cache.memo.borrow_mut().last.insert(node, (inputs, value.clone()));
        }
        Ok(value)
    }
}

/// Whether two values are one and the same, told without looking inside.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Set(x), Value::Set(y)) | (Value::Rec(x), Value::Rec(y)) => Arc::ptr_eq(x, y),
        (Value::Symbolic(x), Value::Symbolic(y)) => Arc::ptr_eq(x, y),
        (Value::Pair(x), Value::Pair(y)) => Arc::ptr_eq(x, y),
        (Value::Int(_) | Value::Bool(_) | Value::Elem(..), _) => a == b,
        _ => false,
    }
}

/// Whether a node is worth remembering: it builds a set or runs through one.
pub(crate) fn is_costly(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Compr(..) | ExprKind::Big(..) => true,
        ExprKind::SetExt(es) | ExprKind::SeqExt(es) => es.len() > 3,
        ExprKind::Unary(op, _) => !matches!(
            op,
            UnOp::Neg | UnOp::Floor | UnOp::Ceiling | UnOp::ToReal | UnOp::First2 | UnOp::Second2
        ),
        ExprKind::Binary(op, ..) => !matches!(
            op,
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Power | BinOp::Interval
        ),
        _ => false,
    }
}
