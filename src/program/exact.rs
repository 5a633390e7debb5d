//! The exact tier: whatever the code does not cover, done on values by the interpreter.
//!
//! In: states as words. Out: transitions and truth values with the interpreter's meaning. Slow; its
//! use is counted, so that a report can say why a model is slow.

use super::lower::Folder;
use crate::model::reference::{Constants, Error, Interpreter, Pieces};
use crate::model::typed::{Expr, VarId};
use crate::model::value::Value;
use std::cell::RefCell;

/// Folds constant expressions with the values of one valuation.
pub struct Constant<'c, 'm> {
    pub interpreter: &'c Interpreter<'m>,
    pieces: RefCell<Pieces>,
}

impl<'c, 'm> Constant<'c, 'm> {
    pub fn new(interpreter: &'c Interpreter<'m>, constants: &Constants) -> Constant<'c, 'm> {
        Constant { interpreter, pieces: RefCell::new(Pieces::new(interpreter, constants)) }
    }
}

impl Folder for Constant<'_, '_> {
    fn value(&self, e: &Expr) -> Option<Value> {
        self.interpreter.piece_value(e, &mut self.pieces.borrow_mut()).ok()
    }

    fn member(&self, v: &Value, set: &Expr) -> Option<bool> {
        self.interpreter.piece_member(v, set, &mut self.pieces.borrow_mut()).ok()
    }

    fn give(&self, v: VarId, value: Option<&Value>) {
        match value {
            Some(value) => self.pieces.borrow_mut().bind(v, false, value.clone()),
            None => self.pieces.borrow_mut().unbind(v, false),
        }
    }
}

/// The words for an error, with nothing that depends on the run.
pub fn words(e: &Error) -> String {
    e.message().to_string()
}
