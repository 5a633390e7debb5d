//! The environment of an evaluation: the value of every variable that has one.
//!
//! Since a variable is bound at one place only, one flat table does without scopes; binders save
//! what they overwrite (a recursive function may bind the same variable again) and restore it.

use bombus_lang::typed::VarId;
use bombus_lang::value::Value;
use std::collections::BTreeMap;

/// Rows of a function that is being built.
pub type Rows = BTreeMap<Value, Option<Value>>;

#[derive(Clone, Debug, Default)]
pub struct Env {
    values: Vec<Option<Value>>,
    /// Values before the enclosing `x:(P)`, loop or operation.
    old: Vec<Option<Value>>,
    /// Functions that are being built row by row; rows not there yet are unknown, `None` is a point
    /// decided to be outside the domain.
    partial: Vec<(VarId, Rows)>,
    /// A variable without a value is one that is being searched for, not one that was forgotten.
    pub searching: bool,
    /// The choice in hand is enumerated; searching it with propagation was tried.
    pub enumerating: bool,
    /// Nothing is cut to the integers of the scope, although the user takes them for all.
    pub exact: bool,
    /// The image of a row that may be cut to the scope, while it is searched for.
    pub row: Option<VarId>,
    /// Nested applications of closures, to stop runaway recursion.
    pub depth: u32,
    /// The valuation of the constants, where expressions over constants alone may be remembered.
    pub valuation: Option<u32>,
}

impl Env {
    pub fn new(vars: usize) -> Env {
        Env { values: vec![None; vars], old: vec![None; vars], ..Env::default() }
    }

    pub fn get(&self, v: VarId) -> Option<&Value> {
        self.values.get(v.0 as usize).and_then(Option::as_ref)
    }

    pub fn is_bound(&self, v: VarId) -> bool {
        self.get(v).is_some()
    }

    /// Gives `v` a value or takes it away; returns what it had.
    pub fn replace(&mut self, v: VarId, value: Option<Value>) -> Option<Value> {
        let i = v.0 as usize;
        if i >= self.values.len() {
            self.values.resize(i + 1, None);
        }
        std::mem::replace(&mut self.values[i], value)
    }

    pub fn bind(&mut self, v: VarId, value: Value) {
        self.replace(v, Some(value));
    }

    pub fn unbind(&mut self, v: VarId) {
        self.replace(v, None);
    }

    pub fn old(&self, v: VarId) -> Option<&Value> {
        self.old.get(v.0 as usize).and_then(Option::as_ref)
    }

    pub fn replace_old(&mut self, v: VarId, value: Option<Value>) -> Option<Value> {
        let i = v.0 as usize;
        if i >= self.old.len() {
            self.old.resize(i + 1, None);
        }
        std::mem::replace(&mut self.old[i], value)
    }

    /// Takes the values of several variables away and returns them, for `restore`.
    pub fn take(&mut self, vars: &[VarId]) -> Vec<(VarId, Option<Value>)> {
        vars.iter().map(|v| (*v, self.replace(*v, None))).collect()
    }

    pub fn restore(&mut self, saved: Vec<(VarId, Option<Value>)>) {
        for (v, value) in saved.into_iter().rev() {
            self.replace(v, value);
        }
    }

    /// Starts to build the function `v` row by row.
    pub fn begin_partial(&mut self, v: VarId, rows: Rows) {
        self.partial.push((v, rows));
    }

    pub fn end_partial(&mut self) -> Option<Rows> {
        self.partial.pop().map(|(_, rows)| rows)
    }

    /// The rows of the function built innermost.
    pub fn partial_rows(&mut self) -> Option<&mut Rows> {
        self.partial.last_mut().map(|(_, rows)| rows)
    }

    pub fn partial(&self, v: VarId) -> Option<&Rows> {
        self.partial.iter().rev().find(|(w, _)| *w == v).map(|(_, rows)| rows)
    }
}
