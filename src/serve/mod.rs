//! A model as a web page on this machine: states, steps, history, formulas, pictures.
//!
//! In: a loaded model, and requests of a browser that knows the address. Out: JSON for the page, and the page itself,
//! which is part of the program. `door` decides who is answered, `session` does what is asked, `present` and
//! `pictures` put values and graphs into JSON, `reasons` explanations.
//! Never here: printing, the command line, files other than the texts of the model, addresses other than 127.0.0.1.

mod door;
mod pictures;
mod present;
mod reasons;
mod session;

pub use door::Door;
pub use session::{Cancel, Checker, Session};
