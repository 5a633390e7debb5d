//! Sets of assignments as binary decision diagrams, with a budget of nodes.
//!
//! In: variables in a fixed order. Out: sets, their union, intersection, projection, renaming and exact size.
//! Diagrams are canonical, so no result depends on threads. Never here: what a variable means.

use crate::base::budget::{Budget, Stop};
use dashu_int::UBig;
use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::{AllocResult, FxHasher, OptBool, OutOfMemory, SatCountCache};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, FunctionSubst, Manager, ManagerRef, Subst, VarNo,
};
use std::hash::BuildHasherDefault;
use std::ops::{Add, Range, Shl, ShlAssign, Shr};

/// A set of assignments to the variables.
pub type Set = BDDFunction;

/// Why a computation on sets ended before its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// More nodes would be needed than the budget has.
    Nodes,
    Stop(Stop),
}

impl From<OutOfMemory> for Halt {
    fn from(_: OutOfMemory) -> Halt {
        Halt::Nodes
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stop(stop)
    }
}

pub type Halted<T> = Result<T, Halt>;

/// Where all sets of one search live.
pub struct Diagrams {
    manager: BDDManagerRef,
    vars: u32,
    pub none: Set,
    pub all: Set,
    budget: Budget,
}

/// Entries of the cache of results for each so many nodes of the budget.
const NODES_PER_ENTRY: usize = 4;
/// Entries of the cache at most.
const MOST_ENTRIES: usize = 1 << 20;

impl Diagrams {
    /// Room for `nodes` nodes over `vars` variables, the first one topmost.
    pub fn new(vars: u32, nodes: usize, threads: u32, budget: &Budget) -> Diagrams {
        let cache = (nodes / NODES_PER_ENTRY).clamp(1 << 10, MOST_ENTRIES).next_power_of_two();
        // Small diagrams are not worth the handing over between threads.
        let manager = new_manager(nodes.max(64 + 4 * vars as usize), cache, threads);
        let (none, all) = manager.with_manager_exclusive(|m| {
            m.add_vars(vars);
            (Set::f(m), Set::t(m))
        });
        Diagrams { manager, vars, none, all, budget: budget.clone() }
    }

    /// Whether the search may go on.
    pub fn check(&self) -> Halted<()> {
        Ok(self.budget.check()?)
    }

    /// Nodes in use, garbage included.
    pub fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|m| m.num_inner_nodes())
    }

    /// So many more variables, below all others. Sets that are there already do not depend on them.
    pub fn add_variables(&self, count: u32) -> Range<VarNo> {
        self.manager.with_manager_exclusive(|m| m.add_vars(count))
    }

    /// The assignments in which the variables have these values.
    pub fn cube(&self, literals: impl IntoIterator<Item = (VarNo, bool)>) -> Halted<Set> {
        let mut literals: Vec<(VarNo, bool)> = literals.into_iter().collect();
        // From the bottom up each step adds one node.
        literals.sort_unstable_by_key(|l| std::cmp::Reverse(l.0));
        let mut cube = self.all.clone();
        for (var, value) in literals {
            let literal = self
                .manager
                .with_manager_shared(|m| if value { Set::var(m, var) } else { Set::not_var(m, var) })?;
            cube = literal.and(&cube)?;
        }
        Ok(cube)
    }

    /// The variables as a set of variables, for `exists`.
    pub fn variables(&self, vars: impl IntoIterator<Item = VarNo>) -> Halted<Set> {
        self.cube(vars.into_iter().map(|v| (v, true)))
    }

    /// The union of many small sets.
    pub fn union(&self, sets: Vec<Set>) -> Halted<Set> {
        let mut sets = sets;
        // In pairs, so that no set is looked at more often than there are doublings.
        while sets.len() > 1 {
            let mut next = Vec::with_capacity(sets.len().div_ceil(2));
            for pair in sets.chunks(2) {
                next.push(match pair {
                    [a, b] => a.or(b)?,
                    _ => pair[0].clone(),
                });
            }
            sets = next;
        }
        Ok(sets.pop().unwrap_or_else(|| self.none.clone()))
    }

    /// A renaming that puts the second variable of each pair in the place of the first.
    pub fn renaming(&self, pairs: &[(VarNo, VarNo)]) -> Halted<Renaming> {
        let vars: Vec<VarNo> = pairs.iter().map(|p| p.0).collect();
        let by: AllocResult<Vec<Set>> =
            self.manager.with_manager_shared(|m| pairs.iter().map(|p| Set::var(m, p.1)).collect());
        Ok(Renaming { by: Subst::new(vars, by?) })
    }

    /// How many assignments a set has, counted over `counted` of the variables; it depends on no others.
    pub fn size(&self, set: &Set, counted: u32) -> UBig {
        let count: Count = set.sat_count(self.vars, &mut SatCountCache::<Count, Hasher>::default());
        count.0 >> (self.vars - counted) as usize
    }
}

type Hasher = BuildHasherDefault<FxHasher>;

/// A number of assignments, exact.
#[derive(Clone)]
struct Count(UBig);

impl From<u32> for Count {
    fn from(n: u32) -> Count {
        Count(n.into())
    }
}

impl Add for Count {
    type Output = Count;
    fn add(self, other: Count) -> Count {
        Count(self.0 + other.0)
    }
}

impl Shl<u32> for Count {
    type Output = Count;
    fn shl(self, n: u32) -> Count {
        Count(self.0 << n as usize)
    }
}

impl Shr<u32> for Count {
    type Output = Count;
    fn shr(self, n: u32) -> Count {
        Count(self.0 >> n as usize)
    }
}

// This is how the library recognises a number that is no floating-point one.
impl ShlAssign<i32> for Count {
    fn shl_assign(&mut self, n: i32) {
        self.0 <<= n as usize;
    }
}

/// Puts variables in the place of others, all at once.
pub struct Renaming {
    by: Subst<Set>,
}

impl Renaming {
    pub fn of(&self, set: &Set) -> Halted<Set> {
        Ok(set.substitute(&self.by)?)
    }
}

/// What sets of states need beside the operations of the library.
pub trait SetOps: Sized {
    fn is_empty(&self) -> bool;
    fn without(&self, other: &Self) -> Halted<Self>;
    /// The assignments of `self` and `other`, without the variables.
    fn and_exists(&self, other: &Self, vars: &Self) -> Halted<Self>;
    /// One assignment; variables that do not matter are false.
    fn pick(&self) -> Option<Vec<bool>>;
    /// Another one, where there is a choice.
    fn pick_other(&self) -> Option<Vec<bool>>;
    /// One that `seed` chooses.
    fn pick_by(&self, seed: u64) -> Option<Vec<bool>>;
    /// Whether an assignment belongs to the set.
    fn has(&self, assignment: &[bool]) -> bool;
}

impl SetOps for Set {
    fn is_empty(&self) -> bool {
        !self.satisfiable()
    }

    fn without(&self, other: &Set) -> Halted<Set> {
        Ok(other.imp_strict(self)?)
    }

    fn and_exists(&self, other: &Set, vars: &Set) -> Halted<Set> {
        Ok(self.apply_exists(BooleanOperator::And, other, vars)?)
    }

    fn pick(&self) -> Option<Vec<bool>> {
        let cube = self.pick_cube(|_, _, _| false)?;
        Some(cube.into_iter().map(|b| b == OptBool::True).collect())
    }

    fn pick_other(&self) -> Option<Vec<bool>> {
        let cube = self.pick_cube(|_, _, _| true)?;
        Some(cube.into_iter().map(|b| b == OptBool::True).collect())
    }

    fn pick_by(&self, seed: u64) -> Option<Vec<bool>> {
        let toss = |level: u32| {
            let mixed = (seed ^ u64::from(level)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 63 != 0
        };
        let cube = self.pick_cube(|_, _, level| toss(level))?;
        Some(cube.into_iter().map(|b| b == OptBool::True).collect())
    }

    fn has(&self, assignment: &[bool]) -> bool {
        self.eval(assignment.iter().enumerate().map(|(v, b)| (v as VarNo, *b)))
    }
}
