//! Hash maps and sets for keys of our own making.
//!
//! In: values, numbers, words of the model being checked. Nobody chooses them so that they collide, so the hash need not
//! be the slow one of the standard library. Never here: anything that is written down or compared between runs, for
//! these hashes differ from run to run; see `model::value::digest` for one that does not.

pub use ahash::{AHashMap as HashMap, AHashSet as HashSet};
