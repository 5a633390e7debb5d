//! Everything hot, lock-free or `unsafe`.
//!
//! In: words and bits. Out: words and bits. Never here: what they mean.
//! This crate is the only place of the project that may say `unsafe`.

pub mod bits;
