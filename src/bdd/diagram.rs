//! Sets of assignments as binary decision diagrams, with a budget of nodes.
//!
//! In: variables in a fixed order. Out: sets, their union, intersection, projection, renaming and exact size.
//! Diagrams are canonical, so no result depends on threads. Never here: what a variable means.
//!
//! The library cannot cut one operation short. So, once diagrams are large, each operation runs on a thread beside the
//! search, which looks at its limits meanwhile: when one is reached the search goes on without the result, and the
//! operation is left to itself until it ends or the process does.

use bombus_base::budget::{Budget, Stop};
use dashu_int::UBig;
use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::{AllocResult, FxHasher, OptBool, OutOfMemory, SatCountCache};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager, ManagerRef,
    Subst, VarNo,
};
use parking_lot::Mutex;
use std::hash::BuildHasherDefault;
use std::ops::{Add, Range, Shl, ShlAssign, Shr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// A set of assignments to the variables.
#[derive(Clone)]
pub struct Set {
    diagram: BDDFunction,
    aside: Arc<Aside>,
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.diagram == other.diagram
    }
}

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
    aside: Arc<Aside>,
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
            (BDDFunction::f(m), BDDFunction::t(m))
        });
        let aside = Arc::new(Aside::new(budget));
        let set = |diagram| Set { diagram, aside: aside.clone() };
        Diagrams { manager, vars, none: set(none), all: set(all), aside }
    }

    fn set(&self, diagram: BDDFunction) -> Set {
        Set { diagram, aside: self.aside.clone() }
    }

    /// Whether the search may go on.
    pub fn check(&self) -> Halted<()> {
        self.aside.may_go_on()?;
        self.aside.large.store(self.nodes() > LARGE, Ordering::Relaxed);
        Ok(())
    }

    /// Lets the search go on for a moment beyond its limits: what was found is to be shown.
    pub fn grant_a_moment(&self) {
        *self.aside.grace.lock() = Some(Budget::moment());
    }

    /// Nodes in use, garbage included.
    pub fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|m| m.approx_num_inner_nodes())
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
            let literal = self.manager.with_manager_shared(|m| match value {
                true => BDDFunction::var(m, var),
                false => BDDFunction::not_var(m, var),
            })?;
            // Small as it is, a cube is never worth a thread.
            cube = self.set(literal.and(&cube.diagram)?);
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
        let by: AllocResult<Vec<BDDFunction>> =
            self.manager.with_manager_shared(|m| pairs.iter().map(|p| BDDFunction::var(m, p.1)).collect());
        Ok(Renaming { by: Arc::new(Subst::new(vars, by?)) })
    }

    /// How many assignments a set has, counted over `counted` of the variables; it depends on no others.
    pub fn size(&self, set: &Set, counted: u32) -> UBig {
        let count: Count = set.diagram.sat_count(self.vars, &mut SatCountCache::<Count, Hasher>::default());
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
    by: Arc<Subst<BDDFunction>>,
}

impl Renaming {
    pub fn of(&self, set: &Set) -> Halted<Set> {
        let by = self.by.clone();
        set.apply(move |d| d.substitute(&*by))
    }
}

impl Set {
    fn apply(
        &self,
        job: impl FnOnce(&BDDFunction) -> AllocResult<BDDFunction> + Send + 'static,
    ) -> Halted<Set> {
        let diagram = if self.aside.large.load(Ordering::Relaxed) {
            let own = self.diagram.clone();
            self.aside.run(move || job(&own))?
        } else {
            job(&self.diagram)?
        };
        Ok(Set { diagram, aside: self.aside.clone() })
    }

    pub fn and(&self, other: &Set) -> Halted<Set> {
        let other = other.diagram.clone();
        self.apply(move |d| d.and(&other))
    }

    pub fn or(&self, other: &Set) -> Halted<Set> {
        let other = other.diagram.clone();
        self.apply(move |d| d.or(&other))
    }

    pub fn without(&self, other: &Set) -> Halted<Set> {
        let other = other.diagram.clone();
        self.apply(move |d| other.imp_strict(d))
    }

    /// The assignments that differ from a member in these variables at most.
    pub fn exists(&self, vars: &Set) -> Halted<Set> {
        let vars = vars.diagram.clone();
        self.apply(move |d| d.exists(&vars))
    }

    /// The assignments of `self` and `other`, without the variables.
    pub fn and_exists(&self, other: &Set, vars: &Set) -> Halted<Set> {
        let (other, vars) = (other.diagram.clone(), vars.diagram.clone());
        self.apply(move |d| d.apply_exists(BooleanOperator::And, &other, &vars))
    }

    pub fn is_empty(&self) -> bool {
        !self.diagram.satisfiable()
    }

    pub fn node_count(&self) -> usize {
        self.diagram.node_count()
    }

    /// One assignment; variables that do not matter are false.
    pub fn pick(&self) -> Option<Vec<bool>> {
        self.picked(|_| false)
    }

    /// Another one, where there is a choice.
    pub fn pick_other(&self) -> Option<Vec<bool>> {
        self.picked(|_| true)
    }

    /// One that `seed` chooses.
    pub fn pick_by(&self, seed: u64) -> Option<Vec<bool>> {
        self.picked(|level| {
            let mixed = (seed ^ u64::from(level)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 63 != 0
        })
    }

    fn picked(&self, toss: impl Fn(u32) -> bool) -> Option<Vec<bool>> {
        let cube = self.diagram.pick_cube(|_, _, level| toss(level))?;
        Some(cube.into_iter().map(|b| b == OptBool::True).collect())
    }

    /// Whether an assignment belongs to the set.
    pub fn has(&self, assignment: &[bool]) -> bool {
        self.diagram.eval(assignment.iter().enumerate().map(|(v, b)| (v as VarNo, *b)))
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The thread beside the search.
struct Aside {
    budget: Budget,
    /// Whether operations may take long.
    large: AtomicBool,
    /// While this lasts limits do not apply: what was found is to be shown.
    grace: Mutex<Option<Budget>>,
    /// Where jobs are handed in; none before the first.
    jobs: Mutex<Option<Sender<Job>>>,
}

/// Nodes in use from which on an operation may take longer than handing it over.
const LARGE: usize = 1 << 15;
/// How often limits are looked at while an operation runs.
const LOOK: Duration = Duration::from_millis(10);

impl Aside {
    fn new(budget: &Budget) -> Aside {
        let large = AtomicBool::new(false);
        Aside { budget: budget.clone(), large, grace: Mutex::new(None), jobs: Mutex::new(None) }
    }

    fn may_go_on(&self) -> Halted<()> {
        match self.budget.check() {
            Err(_) if self.grace.lock().as_ref().is_some_and(|grace| grace.check().is_ok()) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Has an operation done, and waits for it as long as no limit is reached.
    fn run(&self, job: impl FnOnce() -> AllocResult<BDDFunction> + Send + 'static) -> Halted<BDDFunction> {
        let (tell, hear) = mpsc::channel();
        self.hand_over(Box::new(move || {
            // Nobody listens any more if a limit was reached.
            let _ = tell.send(job());
        }));
        loop {
            match hear.recv_timeout(LOOK) {
                Ok(result) => return Ok(result?),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(halt) = self.may_go_on() {
                        // The next operation must not wait behind this one.
                        *self.jobs.lock() = None;
                        return Err(halt);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the thread of the diagrams ended in the middle of an operation")
                }
            }
        }
    }

    fn hand_over(&self, job: Job) {
        let mut jobs = self.jobs.lock();
        let sender = jobs.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel::<Job>();
            std::thread::Builder::new()
                .name("diagrams".into())
                .stack_size(STACK)
                .spawn(move || receiver.into_iter().for_each(|job| job()))
                .expect("a thread can be started");
            sender
        });
        let sent = sender.send(job);
        sent.expect("the thread of the diagrams waits for jobs");
    }
}

/// Operations recurse as deep as there are variables.
const STACK: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends_the_search_in_the_middle_of_an_operation_and_the_next_one_does_not_wait_for_it() {
        let budget = Budget::unlimited();
        let diagrams = Diagrams::new(2, 1 << 10, 1, &budget);
        let (release, held) = mpsc::channel::<()>();
        let own = diagrams.all.diagram.clone();
        let endless = move || {
            let _ = held.recv();
            Ok(own)
        };
        budget.interrupt_flag().store(true, Ordering::Relaxed);
        assert!(matches!(diagrams.aside.run(endless), Err(Halt::Stop(Stop::Interrupted))));
        // The first operation is still held while the second one comes to its end.
        budget.interrupt_flag().store(false, Ordering::Relaxed);
        diagrams.aside.large.store(true, Ordering::Relaxed);
        assert!(diagrams.all.and(&diagrams.none).is_ok_and(|both| both.is_empty()));
        drop(release);
    }
}
