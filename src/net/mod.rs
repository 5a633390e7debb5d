//! Petri nets and tables of transitions: other formalisms than B behind the same seam.
//!
//! In: the text of a PNML file (place/transition nets) or of an ETF file (a table of transition
//! groups). Out: a `System` for the explorer, with propositions and what a reduction may rely on.
//! Never here: the search, formulas over paths, printing.
#![forbid(unsafe_code)]

pub mod etf;
pub mod layout;
pub mod pnml;
pub mod proposition;
mod relations;
pub mod system;
pub mod table;

pub use system::Marking;
pub use table::Table;

/// A place/transition net with arc weights, all pages flattened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    pub name: String,
    pub places: Vec<Place>,
    pub transitions: Vec<Transition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The identifier in the file: unique.
    pub id: String,
    /// The name for people, if there is one; need not be unique.
    pub name: Option<String>,
    pub tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub id: String,
    pub name: Option<String>,
    /// Places with the tokens that firing takes from them, ascending, each place once.
    pub takes: Vec<(usize, u64)>,
    /// Places with the tokens that firing puts there, ascending, each place once.
    pub puts: Vec<(usize, u64)>,
}

impl Transition {
    /// What firing changes: the places whose tokens become more or fewer, ascending.
    pub fn changes(&self) -> Vec<(usize, i128)> {
        let mut all: Vec<(usize, i128)> = self.takes.iter().map(|&(p, n)| (p, -i128::from(n))).collect();
        for &(p, n) in &self.puts {
            match all.iter_mut().find(|(q, _)| *q == p) {
                Some((_, sum)) => *sum += i128::from(n),
                None => all.push((p, i128::from(n))),
            }
        }
        all.retain(|(_, change)| *change != 0);
        all.sort_unstable();
        all
    }
}
