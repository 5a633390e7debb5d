//! The meaning of B and Event-B, slowly and obviously.
//!
//! This crate judges the findings of the fast engines, so it shares nothing with them: a tree of its own, values of
//! its own, one way to evaluate, no plan, no cache. It gives an exact answer or says that it cannot answer.
//!
//! `tree` is the core language, `text` reads and writes it. `value` are values, `sets` are sets described
//! by a rule, `eval` with `operators`, `pred`, `enumerate` and `grow` say what expressions and predicates mean, `exec` what
//! substitutions and operations do, `search` explores a machine, `judge` tests one claim about one trace.

pub mod enumerate;
pub mod eval;
pub mod exec;
pub mod grow;
pub mod judge;
pub mod operators;
pub mod pred;
pub mod search;
pub mod sets;
pub mod text;
pub mod tree;
pub mod value;
