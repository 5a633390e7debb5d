//! The recorded state graph, frozen: states as nodes, transitions as labelled edges.
//!
//! In: the logs of edges that the explorer's workers wrote, and the visited set. Out: a graph whose
//! numbering does not depend on who found what when.
//! Never here: exploration, formulas.

mod csr;

pub use csr::{Csr, Edge, Graph, Log, NodeId, Representatives};
