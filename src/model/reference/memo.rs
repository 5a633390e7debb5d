//! Expressions over constants alone: computed once per valuation.
//!
//! In: nodes of the machine's trees and of the interpreter's own plans. Out: their values, remembered.
//! A node is named by its place in memory. That is sound only for trees that live as long as the
//! interpreter: closures and formulas from outside are evaluated with `Env::valuation` empty.

use super::env::Env;
use super::error::Res;
use super::{Constants, Interpreter, free};
use crate::model::typed::{BinOp, Expr, ExprKind, UnOp, VarKind};
use crate::model::value::Value;
use std::collections::HashMap;

/// More values than this are forgotten together.
const REMEMBERED: usize = 1 << 18;

#[derive(Default)]
pub(super) struct Memo {
    /// Valuations by the address of the shared list, which is kept alive here.
    valuations: HashMap<usize, (u32, Constants)>,
    /// Whether a node reads constants alone.
    constant: HashMap<usize, bool>,
    values: HashMap<(u32, usize), Value>,
}

impl Memo {
    pub(super) fn valuation(&mut self, constants: &Constants) -> u32 {
        let next = self.valuations.len() as u32;
        let at = constants.as_ptr() as usize;
        // Empty lists may share an address, and are equal.
        self.valuations.entry(at).or_insert_with(|| (next, constants.clone())).0
    }
}

impl Interpreter<'_> {
    /// The value of a node, from memory if it reads constants alone.
    pub(super) fn remembered(&self, env: &mut Env, e: &Expr, valuation: u32) -> Res<Value> {
        let node = std::ptr::from_ref(e) as usize;
        let known = self.memo.borrow().constant.get(&node).copied();
        let constant = known.unwrap_or_else(|| {
            let constant = free::reads_only(e, &|v| {
                self.machine.vars.get(v.0 as usize).is_some_and(|d| d.kind == VarKind::Constant)
            });
            self.memo.borrow_mut().constant.insert(node, constant);
            constant
        });
        if !constant {
            return self.eval_kind(env, e);
        }
        if let Some(value) = self.memo.borrow().values.get(&(valuation, node)) {
            return Ok(value.clone());
        }
        let value = self.eval_kind(env, e)?;
        let mut memo = self.memo.borrow_mut();
        if memo.values.len() >= REMEMBERED {
            memo.values.clear();
        }
        memo.values.insert((valuation, node), value.clone());
        Ok(value)
    }
}

/// Whether a node is worth remembering: it builds a set or runs through one.
pub(super) fn is_costly(e: &Expr) -> bool {
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
