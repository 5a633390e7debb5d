//! Functions that call themselves: each value is computed once in one outermost application.
//!
//! In: the applications of symbolic functions, as they begin and end. Out: values already known. Without this
//! `f(x) = g(f(x-1), f(x-1))` takes 2^x steps.
//! Sound because nothing a function reads changes while its outermost application runs: it sees its argument, what
//! its closure captured, and the constants.

use crate::error::{Error, Res};
use bombus_lang::value::Value;
use std::collections::BTreeMap;

/// More values than this are forgotten together.
const REMEMBERED: usize = 1 << 14;
/// A function called by way of more others than this is not recognised as one that calls itself.
const NEAR: usize = 8;

#[derive(Default)]
pub(crate) struct Recursion {
    /// The functions being applied, the innermost last, by the address of their shared form.
    active: Vec<usize>,
    known: BTreeMap<(usize, Value), Value>,
    /// The sets that speak of themselves and are being listed, by the addresses of their code and of what they captured.
    listing: Vec<(usize, usize)>,
    /// Keeps the functions alive whose addresses `known` speaks of.
    kept: Vec<Value>,
}

impl crate::Interpreter<'_> {
    /// Lists a set that may speak of itself. To list it while it is being listed would never end.
    pub(crate) fn listed_once(
        &self,
        set: (usize, usize),
        list: &mut dyn FnMut() -> Res<Value>,
    ) -> Res<Value> {
        if self.cache.recursion.borrow().listing.contains(&set) {
            return Err(Error::undecided("a set that speaks of itself would have to be listed"));
        }
        self.cache.recursion.borrow_mut().listing.push(set);
        let listed = list();
        self.cache.recursion.borrow_mut().listing.pop();
        listed
    }

    /// The value of `f` at `x`, computed by `apply` unless it is known.
    pub(crate) fn recalled(
        &self,
        f: (usize, &Value),
        x: &Value,
        apply: &mut dyn FnMut() -> Res<Value>,
    ) -> Res<Value> {
        let (at, function) = f;
        let inner = {
            let recursion = self.cache.recursion.borrow();
            let inner = recursion.active.iter().rev().take(NEAR).any(|f| *f == at);
            if inner && let Some(y) = recursion.known.get(&(at, x.clone())) {
                return Ok(y.clone());
            }
            inner
        };
        self.cache.recursion.borrow_mut().active.push(at);
        let value = apply();
        let mut recursion = self.cache.recursion.borrow_mut();
        recursion.active.pop();
        if recursion.active.is_empty() {
            recursion.known.clear();
            recursion.kept.clear();
        } else if inner && let Ok(y) = &value {
            if recursion.known.len() >= REMEMBERED {
                recursion.known.clear();
                recursion.kept.clear();
            }
            recursion.kept.push(function.clone());
            recursion.known.insert((at, x.clone()), y.clone());
        }
        value
    }
}
