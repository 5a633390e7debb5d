//! The recorded state graph, frozen: states as nodes, transitions as labelled edges.
//!
//! In: the logs of edges that the explorer's workers wrote, and the visited set. Out: a graph whose
//! numbering does not depend on who found what when.
//! Never here: exploration, formulas.
#![forbid(unsafe_code)]

mod csr;
mod freeze;
mod instance;
mod narrow;

pub use csr::{Csr, Edge, NodeId};
pub use freeze::{Crossing, Graph, Log, Representatives};
pub use instance::Instance;
pub use narrow::Narrow;
