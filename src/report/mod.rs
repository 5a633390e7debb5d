//! What a run says in the end: the verdict, the figures, the counterexample; as text, JSON and trace files.
//!
//! In: figures and findings of an engine, already in the words of the model. Out: texts.
//! Never here: threads, evaluation, printing.

pub mod changes;
pub mod coverage_file;
pub mod diagnostics;
pub mod finding_text;
pub mod graph_file;
pub mod graph_svg;
pub mod json;
pub mod layers;
pub mod ledger;
pub mod outcome;
pub mod page_style;
pub mod sequence;
pub mod style;
pub mod text;
pub mod trace_file;
pub mod trace_page;
pub mod trace_read;

pub use ledger::{Ledger, Verdict};
pub use outcome::*;
pub use style::Style;
