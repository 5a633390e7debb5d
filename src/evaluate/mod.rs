//! The exact tier on values: what a typed machine means, without packed states.
//!
//! In: a typed `Machine`. Out: values of constants, initial states, transitions, truth of formulas, and a plain
//! breadth-first exploration. Compiled code falls back to this tier where a value does not fit its layout. Choices
//! whose enumeration would explode are searched with propagation (`solve::network`), whose candidates are tested like all
//! others; `Interpreter::with_propagation` switches that off, and tests compare both.
//! Never here: packed states, threads. This tier is fast enough to be used and therefore no oracle; the crate
//! `bombus-oracle` is.
#![forbid(unsafe_code)]

mod affine;
pub mod apply;
pub mod cache;
pub(crate) mod called;
pub(crate) mod constant_part;
pub(crate) mod enumerate;
pub mod env;
pub mod error;
pub(crate) mod eval;
pub mod exec;
pub(crate) mod external;
pub(crate) mod fragment;
pub(crate) mod hypotheses;
pub(crate) mod images;
pub mod inclusion;
pub(crate) mod index;
pub(crate) mod inplace;
pub(crate) mod integer_sets;
pub(crate) mod iterate;
pub(crate) mod large_products;
pub mod lockstep;
pub(crate) mod materialise;
pub(crate) mod member;
pub(crate) mod memo;
pub(crate) mod normal;
pub mod operation;
pub(crate) mod operators;
pub(crate) mod optimum;
pub(crate) mod polynomials;
pub(crate) mod pred;
pub(crate) mod recursion;
pub mod search;
pub(crate) mod sequences;
pub(crate) mod set_laws;
pub(crate) mod setup;
pub(crate) mod simplified;
pub(crate) mod size;
#[path = "../solve/mod.rs"]
pub mod solve;
pub(crate) mod state_cursor;
pub(crate) mod sums;
pub(crate) mod symbolic_forms;
pub(crate) mod theorems;

use bombus_analyse::data_independence::Opaque;
use bombus_base::budget::Budget;
use bombus_base::hash::HashSet;
use bombus_lang::typed::{Expr, Machine, Pred, Type, VarId};
use bombus_lang::value::Value;
use cache::Cache;
use env::Env;
use error::Res;
pub use error::{Error, ErrorKind};
pub use fragment::{ListingLimits, Pieces};
pub use operation::{Steps, guards_of};
pub use setup::Found;
pub use state_cursor::Standing;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// Sets up to this size are listed where an operator wants elements.
pub(crate) const LIST: usize = 1 << 18;
/// A comprehension with more elements stays symbolic.
pub(crate) const COMPREHENSION: usize = 1 << 21;
/// A product with more elements stays symbolic.
pub(crate) const PRODUCT: usize = 1 << 14;
/// Ids beyond the machine's that formulas from outside may use.
pub(crate) const FORMULA_VARS: usize = 4096;
/// The budget is asked once per this many steps.
pub(crate) const TICKS: u32 = 1 << 12;
/// Elements of a set that are as much work as a step.
pub(crate) const ELEMENTS: usize = 1 << 5;

/// Steps that something may take that can wait, before it has to.
pub const SOME_STEPS: u32 = 1 << 18;

/// A valuation of the constants, in the order of `Machine::constants`.
pub type Constants = Arc<[Value]>;

/// A state: the constants it was set up with and the values of the variables, in the order of
/// `Machine::variables`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub constants: Constants,
    pub variables: Arc<[Value]>,
}

/// The constants may be large, so only their outermost parts are hashed; that tells valuations apart
/// well enough.
impl std::hash::Hash for State {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        for value in self.constants.iter() {
            match value {
                Value::Set(elems) if elems.len() > 16 => {
                    elems.len().hash(hasher);
                    elems[..4].hash(hasher);
                    elems[elems.len() - 4..].hash(hasher);
                }
                other => other.hash(hasher),
            }
        }
        self.variables.hash(hasher);
    }
}

/// A step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    /// Index into `Machine::events`.
    pub event: usize,
    pub params: Arc<[Value]>,
    pub results: Arc<[Value]>,
    pub target: State,
}

pub struct Interpreter<'m> {
    pub(crate) machine: &'m Machine,
    pub budget: Budget,
    pub(crate) ticks: Cell<u32>,
    /// How many steps the evaluation in hand may still take, if not as many as it needs.
    pub patience: Cell<Option<u32>>,
    /// Enumeration is tried alone.
    pub(crate) alone: Cell<bool>,
    /// The search in hand took a step that may pass over undefined valuations (see `definedness`).
    pub(crate) loose: Cell<bool>,
    /// The search in hand looks for undefined valuations.
    pub(crate) careful: Cell<bool>,
    /// Whoever was told of an undefined valuation last asks for another one.
    pub(crate) passed_over: Cell<bool>,
    /// The functions that the search in hand chooses among those with a value wherever they are applied.
    pub(crate) chosen: RefCell<Vec<VarId>>,
    /// How many quantifiers around the one in hand are being sampled.
    pub(crate) sampling: Cell<u32>,
    pub(crate) fresh: Cell<usize>,
    /// Formulas in hand are rewritten ones, which bind the same variables as what they were made from.
    pub(crate) rewriting: Cell<bool>,
    pub cache: Cache,
    /// Variables of ANY substitutions.
    pub(crate) any: HashSet<VarId>,
    /// Variables of quantifiers, where these are cut to the integers of the scope.
    pub(crate) quantified: HashSet<VarId>,
    /// Something was cut to the scope since this was last set to false.
    pub(crate) windowed: Cell<bool>,
    /// Choices for which the integers of the scope stand, once somebody asks.
    pub(crate) opaque: OnceCell<Opaque>,
    /// From how many candidates on (as a base-2 logarithm) a choice is searched with propagation.
    pub(crate) propagation: Option<f64>,
}

impl<'m> Interpreter<'m> {
    pub fn new(machine: &'m Machine, budget: &Budget) -> Interpreter<'m> {
        Interpreter {
            machine,
            budget: budget.clone(),
            ticks: Cell::new(0),
            patience: Cell::new(None),
            alone: Cell::new(false),
            loose: Cell::new(false),
            sampling: Cell::new(0),
            careful: Cell::new(false),
            passed_over: Cell::new(false),
            chosen: RefCell::default(),
            fresh: Cell::new(0),
            rewriting: Cell::new(false),
            cache: Cache::default(),
            any: crate::solve::choice::of_substitutions(machine),
            quantified: crate::solve::scope_window::quantified(machine),
            windowed: Cell::new(false),
            opaque: OnceCell::new(),
            propagation: Some(crate::solve::network::WORTH),
        }
    }

    /// An interpreter that searches with propagation from this many candidates on (as a base-2 logarithm), or
    /// only enumerates and takes loops round by round, as the oracle of that search and of loops in place.
    pub fn with_propagation(machine: &'m Machine, budget: &Budget, from: Option<f64>) -> Interpreter<'m> {
        Interpreter { propagation: from, ..Interpreter::new(machine, budget) }
    }

    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    pub fn machine(&self) -> &'m Machine {
        self.machine
    }

    /// The value of an expression in a state, or without one.
    pub fn eval_expr(&self, e: &Expr, state: Option<&State>) -> Res<Value> {
        let mut env = self.env(state);
        env.valuation = None;
        let v = self.eval(&mut env, e)?;
        self.listed_form(&mut env, v)
    }

    /// The truth of a predicate in a state, or without one.
    pub fn eval_pred(&self, p: &Pred, state: Option<&State>) -> Res<bool> {
        let mut env = self.env(state);
        env.valuation = None;
        self.holds(&mut env, p)
    }

    /// The truth of a predicate in a state if that takes no more than so many steps, and how many it took.
    /// Steps are the same in every run that did the same before.
    pub fn eval_pred_within(&self, p: &Pred, state: &State, steps: u32) -> (Res<bool>, u32) {
        self.patience.set(Some(steps));
        let holds = self.eval_pred(p, Some(state));
        let left = self.patience.replace(None).unwrap_or(0);
        (holds, steps - left)
    }

    /// The environment of a state; `x$0` is the value in it.
    pub fn env(&self, state: Option<&State>) -> Env {
        let mut env = Env::new(self.machine.vars.len());
        if let Some(state) = state {
            self.load(&mut env, state);
        }
        env
    }

    pub(crate) fn load(&self, env: &mut Env, state: &State) {
        env.valuation = Some(self.cache.memo.borrow_mut().valuation(&state.constants));
        for (v, x) in self.machine.constants.iter().zip(state.constants.iter()) {
            env.bind(*v, x.clone());
        }
        for (v, x) in self.machine.variables.iter().zip(state.variables.iter()) {
            env.bind(*v, x.clone());
            env.replace_old(*v, Some(x.clone()));
        }
    }

    /// The type of a variable; `Any` for one that is not the machine's.
    pub(crate) fn type_of(&self, v: VarId) -> Type {
        match self.machine.vars.get(v.0 as usize) {
            Some(decl) => decl.ty.clone(),
            None => self.row_type(v).unwrap_or(Type::Any),
        }
    }

    /// Whether a variable is a function that is chosen to be defined wherever it is applied.
    pub(crate) fn is_chosen(&self, v: VarId) -> bool {
        self.chosen.borrow().contains(&v)
    }

    /// Whether a variable is the machine's, so that what is bound there may be remembered. Formulas
    /// from outside may use the same new ids for different things.
    pub(crate) fn is_declared(&self, v: VarId) -> bool {
        (v.0 as usize) < self.machine.vars.len() && !self.rewriting.get()
    }

    /// Counts a step and asks the budget now and then.
    pub(crate) fn tick(&self) -> Res<()> {
        let n = self.ticks.get().wrapping_add(1);
        self.ticks.set(n);
        if n.is_multiple_of(TICKS) {
            self.look()?;
        }
        match self.patience.get() {
            Some(0) => return Err(Error::impatient()),
            Some(n) => self.patience.set(Some(n - 1)),
            None => {}
        }
        Ok(())
    }

    /// Asks the budget now: for work that is counted elsewhere.
    pub fn look(&self) -> Res<()> {
        self.budget.check().map_err(Error::stopped)
    }

    /// Counts work on this many elements, which is no step of its own: the budget is asked for large sets as
    /// often as for many steps.
    pub(crate) fn charge(&self, elements: usize) -> Res<()> {
        let more = u32::try_from(elements / ELEMENTS).unwrap_or(u32::MAX);
        if more == 0 {
            return Ok(());
        }
        let before = self.ticks.get();
        let n = before.wrapping_add(more);
        self.ticks.set(n);
        if more >= TICKS || n / TICKS != before / TICKS {
            self.look()?;
        }
        // A search that propagates builds sets too, so these count less.
        if let Some(left) = self.patience.get() {
            if left < more / 4 {
                return Err(Error::impatient());
            }
            self.patience.set(Some(left - more / 4));
        }
        Ok(())
    }
}
