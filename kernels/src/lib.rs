//! Everything hot, lock-free or `unsafe`.
//!
//! In: words and bits. Out: words and bits. Never here: what they mean.
//! This crate is the only place of the project that may say `unsafe`.

pub mod bits;
pub mod chunks;
pub mod counter;
pub mod distant;
pub mod faults;
mod fold;
pub mod hash;
pub mod image;
pub mod leaving;
pub mod lineage;
pub mod memory;
pub mod native;
pub mod packed;
pub mod parents;
mod quotient;
pub mod random;
pub mod shim;
pub mod table;
pub mod termination;
pub mod visited;

/// Why the visited set could not take a state. Each of these makes a run incomplete, never wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The memory limit was reached, or the machine refused an allocation.
    OutOfMemory,
    /// More entries than 32-bit ids can name.
    OutOfIds,
    /// Another worker failed; nothing can be waited for any more.
    Aborted,
}
