//! Bombus: a parallel model checker for B-family specifications.
//!
//! Data flows one way, and a module names only what stands upstream of it. Each folder of `src` is a crate that this one
//! gathers under the folder's name, so that the compiler holds the order and a change builds only what stands on it;
//! `evaluate` and `solve`, which ask each other, are one crate. What composes the line (`driver`, `report`, `cli`, `runs`,
//! `serve`, `api`, `pins`) is this crate itself, and `tests/cli/tidy.rs` checks the order in it.
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

pub use bombus_analyse as analyse;
pub use bombus_base as base;
pub use bombus_bdd as bdd;
pub use bombus_cluster as cluster;
pub use bombus_csp as csp;
pub use bombus_evaluate as evaluate;
pub use bombus_evaluate::solve;
pub use bombus_explain as explain;
pub use bombus_explore as explore;
pub use bombus_graph as graph;
pub use bombus_lang as lang;
pub use bombus_ltl as ltl;
pub use bombus_model as model;
pub use bombus_net as net;
pub use bombus_program as program;
pub use bombus_source as source;
pub use bombus_symbolic as symbolic;
pub use bombus_syntax as syntax;
pub use bombus_system as system;
pub use bombus_via as via;

pub mod api;
pub mod cli;
pub mod driver;
pub mod pins;
pub mod report;
pub mod runs;
pub mod serve;
