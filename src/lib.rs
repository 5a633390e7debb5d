//! Bombus: a parallel model checker for B-family specifications.
//!
//! Data flows one way, `text → source → syntax → model → program → explore → graph → ltl → report`,
//! and a module names only what stands upstream of it; `base` is below all, `system` is the seam
//! between `program` and `explore`, `driver` composes the line; `csp` stands beside `syntax`, `model` and
//! `program` and has a line of its own. `tests/tidy.rs` checks the order.
//!
//! Invariants of the architecture:
//! 1. `syntax` knows no types, `model` no bits, `explore` no B, `report` no threads.
//! 2. Parsing and typing collect all errors; after `model` no user error is left but those of
//!    evaluation, and these are findings with a trace, not `Err`.
//! 3. A reduction declares what it preserves; `driver` refuses to pair it with a property outside
//!    that class, or switches it off and says so.
//! 4. The verdict of a complete run never depends on the number of threads; nor do the counts, nor
//!    which of several equally short traces is shown.
//! 5. "verified" is earned: one constructor, fed by a ledger in which every limit, time-out, cap,
//!    approximation and unevaluated predicate is entered. Anything in it makes the verdict "incomplete".
//! 6. No iteration over a hash map reaches an output. Fingerprints use a fixed, versioned hash.
//! 7. Nobody below `driver` reads the environment, the clock (except `base::budget`) or prints.
#![forbid(unsafe_code)]

pub mod base;
pub mod cli;
pub mod csp;
pub mod driver;
pub mod explore;
pub mod graph;
pub mod ltl;
pub mod model;
pub mod program;
pub mod report;
pub mod runs;
pub mod source;
pub mod syntax;
pub mod system;
