//! Checks certificates of Bombus by the oracle alone.
//!
//! A certificate of "verified" lists all states; this crate shows that the list holds every initial state, is closed
//! under every event, and that every property holds in every state of it. So it need not know how the list was made.
//! A certificate of "violated" is a trace, which is executed again. `docs/certificates.md` specifies the files.
//!
//! `manifest` and `certificate` read the files, `encoding` and `states` the bytes in them. `start` has the obligations of
//! constants and initial states, `examine` those of every state, with `reads`, `memo` and `points` to ask nothing twice and
//! `members` to know what is listed; `bounds` follow from predicates where the oracle cannot list bindings; `orbit` renames elements. `trace` replays; `temporal` has
//! formulas, which `product` decides on all paths and `word` along one. `run` is
//! the whole, `proof` checks refutations (`lrat`) instead of states, `unlisted` explores where no states are listed, `reduced`
//! examines a list that is not closed, `refinement` follows a machine and its abstractions in lock-step (`levels`, `player`, `simulation`, `clients`), `log` lets it go on, `report` says the answer, `trust` counts what must be believed.

pub mod bounds;
pub mod certificate;
pub mod clients;
pub mod encoding;
pub mod examine;
pub mod formula;
pub mod levels;
pub mod log;
pub mod lrat;
pub mod manifest;
pub mod members;
pub mod memo;
pub mod orbit;
pub mod player;
pub mod points;
pub mod product;
pub mod proof;
pub mod reads;
pub mod reduced;
pub mod refinement;
pub mod report;
pub mod run;
pub mod simulation;
pub mod start;
pub mod states;
pub mod temporal;
pub mod trace;
pub mod trust;
pub mod unlisted;
pub mod word;
