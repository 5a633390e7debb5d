//! The exact tier: whatever the code does not cover, done on values by the interpreter.
//!
//! In: states as words. Out: transitions and truth values with the interpreter's meaning. Slow; its
//! use is counted, so that a report can say why a model is slow.

use super::lower::Folder;
use bombus_evaluate::{Constants, Error, Interpreter, ListingLimits, Pieces};
use bombus_lang::typed::{Expr, Pred, VarId};
use bombus_lang::value::Value;
use std::cell::RefCell;

/// Steps of searches at compile time, for each variable in all valuations together, and in one of them at least.
const PATIENCE: u32 = 1 << 17;
const LEAST_PATIENCE: u32 = 1 << 10;

/// Folds constant expressions with the values of one valuation.
pub struct Constant<'c, 'm> {
    pub interpreter: &'c Interpreter<'m>,
    pieces: RefCell<Pieces>,
    /// Steps that the search for the values of one variable may take.
    patience: u32,
}

impl<'c, 'm> Constant<'c, 'm> {
    pub fn new(interpreter: &'c Interpreter<'m>, constants: &Constants) -> Constant<'c, 'm> {
        let pieces = RefCell::new(Pieces::new(interpreter, constants));
        Constant { interpreter, pieces, patience: LEAST_PATIENCE }
    }

    /// One of so many valuations: together their searches take no longer than that of a single one.
    pub fn one_of(self, valuations: usize) -> Constant<'c, 'm> {
        let share = u32::try_from(valuations).map_or(0, |n| PATIENCE / n.max(1));
        Constant { patience: share.max(LEAST_PATIENCE), ..self }
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

    fn solutions(&self, v: VarId, conjuncts: &[&Pred], most: usize) -> Option<Vec<Value>> {
        let wanted = ListingLimits { most, steps: self.patience };
        self.interpreter.piece_solutions(v, conjuncts, &wanted, &mut self.pieces.borrow_mut())
    }
}

/// The words for an error, with nothing that depends on the run.
pub fn words(e: &Error) -> String {
    e.message().to_string()
}
