//! Symmetry of states: elements of deferred sets are interchangeable, so states that differ by a
//! permutation of them count as one.
//!
//! In: the machine, its layouts, the valuations of its constants. Out: `system::Orbits`, which the
//! explorer asks for the identity of each state; which sets are symmetric and why.
//! Never here: who visits a state when.
//!
//! `types` says what is interchangeable; `shape` and `values` read packed states and values into a
//! `structure` of atoms, and rename them; `canon` finds the canonical numbering; `represent` the state
//! that stands for an orbit where that must be the same in every run; `classic` has the markers of the
//! literature. Constants belong to the state: a permutation acts on both.

pub mod canon;
mod classic;
mod constants;
mod orbits;
pub mod renumbering;
mod represent;
pub mod structure;
#[cfg(test)]
mod tests;
pub mod types;
pub mod values;

use super::pool::Pool;
use super::state::StateLayout;
use bombus_evaluate::Constants;
use bombus_lang::typed::{Machine, Pred};
use constants::Fixed;
pub use constants::one_of_each_orbit;
pub use orbits::OrbitWorker;
use renumbering::Shapes;
use represent::Homes;
use std::sync::{Arc, OnceLock};
use types::{Group, Standing, standings};

/// How orbits are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 128-bit hashes of the state under refined colours: fast, exact where nothing is said of more
    /// than one element at a time.
    Marker,
    /// The markers of Leuschel and Massart to the letter, to reproduce their tables.
    MarkerClassic,
    /// Canonical forms.
    Exact,
    /// Canonical forms by way of all permutations: slow and obvious.
    Flood,
}

/// More permutations than this are not gone through for each state.
pub const MOST_PERMUTATIONS: f64 = 50_000.0;

/// The symmetry of a compiled model.
pub struct Symmetry {
    pub mode: Mode,
    pub group: Arc<Group>,
    shapes: Shapes,
    /// By valuation.
    constants: Vec<Fixed>,
    /// Some constant holds interchangeable elements.
    constants_move: bool,
    /// The classic marker tells all orbits of this model apart.
    classic_is_exact: bool,
    /// Made when first asked for.
    homes: OnceLock<Homes>,
}

impl Symmetry {
    fn homes(&self) -> &Homes {
        self.homes.get_or_init(|| Homes::new(&self.group, &self.constants))
    }

    pub fn new(
        machine: &Machine,
        mode: Mode,
        group: &Arc<Group>,
        layout: &StateLayout,
        valuations: &[Constants],
    ) -> Symmetry {
        let constants: Vec<Fixed> = valuations.iter().map(|c| Fixed::new(group, c)).collect();
        Symmetry {
            mode,
            group: group.clone(),
            shapes: Shapes::new(machine, group, layout),
            constants_move: constants.iter().any(|c| c.moves),
            constants,
            classic_is_exact: classic::is_exact(machine, group),
            homes: OnceLock::new(),
        }
    }
}

/// The permutations that act on the states of a machine with these constants and that leave alone
/// what is asked of its states.
pub fn group(machine: &Machine, asked: &[Pred], valuations: &[Constants]) -> Group {
    let mut standings = standings(machine, asked);
    constants::name_elements_of_formulas(machine, valuations, &mut standings);
    Group::new(machine, &standings)
}

/// Which sets are symmetric and why others are not, a line for each; and where markers may not be
/// exact. For people.
pub fn describe(machine: &Machine) -> Vec<String> {
    let standings = standings(machine, &[]);
    let group = Group::new(machine, &standings);
    let related = machine
        .constants
        .iter()
        .chain(&machine.variables)
        .map(|v| machine.var(*v))
        .filter(|v| types::relates(machine, &group, &v.ty))
        .map(|v| format!("markers may be inexact: {} can relate several of these elements", v.name));
    let sets = standings.iter().zip(&machine.sets).map(|(standing, set)| match standing {
        Standing::Symmetric { named } if named.is_empty() => format!("{} is symmetric", set.name),
        Standing::Symmetric { named } => {
            let names: Vec<&str> = named.iter().map(|n| &*set.elems[*n as usize]).collect();
            format!("{} is symmetric but for {}", set.name, names.join(", "))
        }
        Standing::Apart(why) => format!("{} is not symmetric: {why}", set.name),
    });
    sets.chain(related).collect()
}

/// The packed states of a program, for reading and writing.
#[derive(Clone, Copy)]
pub struct States<'a> {
    pub layout: &'a StateLayout,
    pub pool: &'a Pool,
}
