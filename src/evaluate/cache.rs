//! The one place where the evaluator remembers.
//!
//! In: what was planned, compiled, listed or computed once. Out: the same again, for the same formula of the same
//! machine. An entry says only what evaluating again would say, so that forgetting all of them changes no answer.
//! Never here: values of states, limits, or what a search in hand is about.

use crate::solve::plan::{ForallPlan, Plan};
use crate::{constant_part, index, materialise, memo, operation, recursion};
use bombus_base::hash::HashMap;
use bombus_lang::typed::{Type, VarId};
use bombus_lang::value::ClosureCode;
use std::cell::RefCell;
use std::sync::Arc;

/// What an interpreter remembers of the formulas of its machine.
#[derive(Default)]
pub struct Cache {
    /// Plans by the first variable they bind.
    pub(crate) plans: RefCell<HashMap<VarId, Arc<Plan>>>,
    /// Plans of universal quantifiers, by the first variable they bind.
    pub(crate) foralls: RefCell<HashMap<VarId, Arc<ForallPlan>>>,
    /// Closures by the first variable they bind.
    pub(crate) codes: RefCell<HashMap<VarId, Arc<ClosureCode>>>,
    /// Operations by their numbers, with the plans of their guards.
    pub(crate) operations: RefCell<HashMap<usize, Arc<operation::Guarded>>>,
    /// The same for operations that are called with given parameters.
    pub(crate) called: RefCell<HashMap<usize, Arc<operation::Guarded>>>,
    /// Whether loops, by the place of the body in the machine, ask for values from before them.
    pub(crate) old_in_loops: RefCell<HashMap<usize, bool>>,
    /// Plans of `x:(P)` by the place of P in the machine.
    pub(crate) becomes: RefCell<HashMap<usize, Arc<Plan>>>,
    /// Values of expressions over constants alone.
    pub(crate) memo: RefCell<memo::Memo>,
    /// Elements of comprehensions that were not listed when they were made.
    pub(crate) listed: RefCell<materialise::Listed>,
    /// Choices of operations that depend on constants alone.
    pub(crate) choices: RefCell<constant_part::Choices>,
    /// Elements of sets by what an equation says of them.
    pub(crate) indexes: RefCell<index::Indexes>,
    /// Values of recursive functions, within an outermost application.
    pub(crate) recursion: RefCell<recursion::Recursion>,
    /// Whether a comprehension, by its first variable, may be undefined.
    pub(crate) partial: RefCell<HashMap<VarId, bool>>,
    /// Whether a comprehension, by its first variable, may be a product too large to list.
    pub(crate) wide: RefCell<HashMap<VarId, bool>>,
    /// The types of variables made for the search of single rows.
    pub(crate) row_types: RefCell<Vec<Type>>,
    /// Plans whose nodes `memo` knows.
    pub kept: RefCell<Vec<Arc<Plan>>>,
}
