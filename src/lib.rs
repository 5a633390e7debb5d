//! Bombus: a parallel model checker for B-family specifications.
//!
//! Data flows one way, and a module names only what stands upstream of it; `tests/cli/tidy.rs` checks the order.
//!
//! ```text
//! text → source → syntax → model → program ─┐                        ┌→ report
//!                   lang (shape)            ▼                        │
//!                   evaluate ⇄ solve     system → explore → graph → ltl
//! ```
//!
//! `base` is below all. `lang` is what front ends agree on and engines start from: typed trees and values, without
//! behaviour. `analyse` runs nothing of a machine. `evaluate` says what formulas and substitutions yield on values, and
//! asks `solve` for the bindings of quantifiers and choices; compiled code falls back to them. `explain` says on the
//! same tier, after the search, why a finding is one. `symbolic` makes clauses of typed trees and asks a SAT solver
//! instead of visiting states. `system` is the seam on which `csp`, `net`, `pins` and `via` stand beside `program`,
//! and `bdd`, which learns sets of states from steps, beside `explore`.
//! `cluster` is the other machines behind `explore::peers`.
//! `driver` composes the line; `serve` shows a model as a web page. The crate `oracle` stands beside all: it shares no
//! code with what it judges, and `driver/judge.rs` alone speaks to it.
//! The crate `certify` checks by the oracle what `driver/certificate.rs` writes.
//!
//! Invariants of the architecture:
//! 1. `syntax` knows no types, `model` evaluates nothing, `explore` knows no B, `report` no threads.
//! 2. Parsing and typing collect all errors; after `model` no user error is left but those of
//!    evaluation, and these are findings with a trace, not `Err`.
//! 3. A reduction declares what it preserves; `driver` refuses to pair it with a property outside
//!    that class, or switches it off and says so.
//! 4. The verdict of a complete run never depends on the number of threads and machines; nor do the counts, nor
//!    which of several equally short traces is shown.
//! 5. "verified" is earned: one constructor, fed by a ledger in which every limit, time-out, cap,
//!    approximation and unevaluated predicate is entered. Anything in it makes the verdict "incomplete".
//! 6. No iteration over a hash map reaches an output. Fingerprints use a fixed, versioned hash.
//! 7. Nobody below `driver` reads the environment, the clock (except `base::budget`) or prints.
#![forbid(unsafe_code)]

pub mod analyse;
pub mod api;
pub mod base;
pub mod bdd;
pub mod cli;
pub mod cluster;
pub mod csp;
pub mod driver;
pub mod evaluate;
pub mod explain;
pub mod explore;
pub mod graph;
pub mod lang;
pub mod ltl;
pub mod model;
pub mod net;
pub mod pins;
pub mod program;
pub mod report;
pub mod runs;
pub mod serve;
pub mod solve;
pub mod source;
pub mod symbolic;
pub mod syntax;
pub mod system;
pub mod via;
