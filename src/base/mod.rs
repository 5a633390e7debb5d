//! Below all: names, numbers, places in the text, plain text, messages, limits.
//!
//! Never here: anything about B.
#![forbid(unsafe_code)]

pub mod budget;
pub mod data_files;
pub mod diagnostic;
pub mod finding;
pub mod hash;
pub mod int;
pub mod sealed;
pub mod span;
pub mod text;

pub use bombus_kernels::random;
pub use int::Int;
pub use span::{FileId, Span};

/// A name as the user wrote it; dotted names keep their dots, back-quotes are gone.
pub type Name = std::sync::Arc<str>;
