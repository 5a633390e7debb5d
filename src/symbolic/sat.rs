//! The seam to a SAT solver: literals, clauses, queries under assumptions, cores.
//!
//! In: clauses and assumptions. Out: a model, a core of the assumptions, or "unknown". `Batsat` is the solver that is
//! always there; `Recorder` keeps a copy of every clause for a CNF. Variable 0 of every solver is the constant true, so
//! `Lit::TRUE` and `Lit::FALSE` may stand in any clause. Never here: gates, numbers, anything about B.
//!
//! `Unsat` is said only by the solver itself; a stop or a spent budget is always `Unknown`.

use batsat::SolverInterface;
use std::cell::Cell;
use std::fmt;
use std::ops::Not;
use std::sync::Arc;

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    pub const TRUE: Lit = Lit(0);
    pub const FALSE: Lit = Lit(1);

    pub fn positive(variable: u32) -> Lit {
        Lit(variable << 1)
    }

    pub fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }

    pub fn variable(self) -> u32 {
        self.0 >> 1
    }

    pub fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub fn is_constant(self) -> bool {
        self.0 <= 1
    }

    /// The literal itself if `keep`, else its negation.
    pub fn signed(self, keep: bool) -> Lit {
        if keep { self } else { !self }
    }

    /// The number of the literal in DIMACS: variables count from one, a minus sign negates.
    pub fn dimacs(self) -> i64 {
        let number = i64::from(self.variable()) + 1;
        if self.negated() { -number } else { number }
    }

    /// A dense number for tables that are indexed by literals.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dimacs())
    }
}

/// The answer to one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a model; `Sat::value` reads it.
    Sat,
    /// There is none; `Sat::core` names assumptions that already have none together.
    Unsat,
    /// The query was stopped, or its conflicts were spent.
    Unknown,
}

/// Asked now and then while a query runs; true stops the query.
pub type StopFlag = Arc<dyn Fn() -> bool + Send + Sync>;

/// What a query may cost.
#[derive(Clone, Default)]
pub struct Limit {
    pub conflicts: Option<u64>,
    pub stop: Option<StopFlag>,
}

impl Limit {
    pub fn none() -> Limit {
        Limit::default()
    }

    pub fn conflicts(count: u64) -> Limit {
        Limit { conflicts: Some(count), stop: None }
    }

    pub fn stopped_by(stop: StopFlag) -> Limit {
        Limit { conflicts: None, stop: Some(stop) }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop())
    }
}

/// An incremental SAT solver.
pub trait Sat: Send {
    /// A new variable as its positive literal.
    fn new_var(&mut self) -> Lit;

    /// How many variables there are, the constant included.
    fn variables(&self) -> u32;

    /// Asserts a clause for good.
    fn add_clause(&mut self, clause: &[Lit]);

    /// Looks for a model of all clauses and assumptions.
    fn solve(&mut self, assumptions: &[Lit], limit: &Limit) -> Answer;

    /// The value of a literal in the model of the last query, which was `Sat`. A variable that the model leaves open is
    /// false.
    fn value(&self, lit: Lit) -> bool;

    /// Assumptions of the last query, which was `Unsat`, that have no model together, in the order in which they were
    /// given.
    fn core(&self) -> &[Lit];

    /// Conflicts of all queries so far; 0 if the solver does not tell.
    fn conflicts(&self) -> u64;

    /// Queries so far.
    fn queries(&self) -> u64;

    /// Name and version, for reports.
    fn name(&self) -> &'static str;

    /// Every clause that was added or learnt, if the solver was asked to log them.
    fn log(&self) -> &[Logged] {
        &[]
    }
}

/// The solver for searches: the fastest one that was built in. Proofs are checked again by `Batsat` in any case.
pub fn searcher() -> Box<dyn Sat> {
    #[cfg(feature = "cadical")]
    return Box::new(crate::cadical::Cadical::new());
    #[cfg(not(feature = "cadical"))]
    Box::new(Batsat::new())
}

/// An entry of the log from which a proof is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// A clause of the user.
    Input(Vec<Lit>),
    /// A clause that follows by unit propagation from those before it.
    Learnt(Vec<Lit>),
    /// A clause that the solver forgot.
    Deleted(Vec<Lit>),
}

/// The solver that needs nothing but Rust.
pub struct Batsat {
    solver: batsat::Solver<Watch>,
    core: Vec<Lit>,
    queries: u64,
}

/// Counts conflicts, asks whether to stop, keeps the log.
#[derive(Default)]
struct Watch {
    stop: Option<StopFlag>,
    conflicts: u64,
    conflicts_allowed: Option<u64>,
    asked: Cell<u32>,
    stopped: Cell<bool>,
    log: Option<Vec<Logged>>,
}

/// The stop flag is asked once in so many decisions: it may read the clock.
const DECISIONS_PER_LOOK: u32 = 64;

impl batsat::Callbacks for Watch {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], _: batsat::ClauseKind) {
        self.conflicts += 1;
        if let Some(log) = &mut self.log {
            log.push(Logged::Learnt(clause.iter().map(|l| from_batsat(*l)).collect()));
        }
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        if let Some(log) = &mut self.log {
            log.push(Logged::Deleted(clause.iter().map(|l| from_batsat(*l)).collect()));
        }
    }

    fn stop(&self) -> bool {
        if self.conflicts_allowed.is_some_and(|allowed| self.conflicts >= allowed) {
            return true;
        }
        let Some(stop) = &self.stop else { return false };
        if self.asked.get() == 0 {
            self.stopped.set(stop());
        }
        self.asked.set((self.asked.get() + 1) % DECISIONS_PER_LOOK);
        self.stopped.get()
    }
}

fn to_batsat(lit: Lit) -> batsat::Lit {
    batsat::Lit::new(batsat::Var::unsafe_from_idx(lit.variable()), !lit.negated())
}

fn from_batsat(lit: batsat::Lit) -> Lit {
    Lit::positive(lit.var().idx()).signed(lit.sign())
}

impl Batsat {
    pub fn new() -> Batsat {
        Batsat::with(Watch::default())
    }

    /// A solver that keeps the log of which `lrat` makes a proof.
    pub fn logging() -> Batsat {
        Batsat::with(Watch { log: Some(Vec::new()), ..Watch::default() })
    }

    fn with(watch: Watch) -> Batsat {
        let solver = batsat::Solver::new(batsat::SolverOpts::default(), watch);
        let mut new = Batsat { solver, core: Vec::new(), queries: 0 };
        new.new_var();
        new.add_clause(&[Lit::TRUE]);
        new
    }
}

impl Default for Batsat {
    fn default() -> Self {
        Batsat::new()
    }
}

impl Sat for Batsat {
    fn new_var(&mut self) -> Lit {
        from_batsat(batsat::Lit::new(self.solver.new_var_default(), true))
    }

    fn variables(&self) -> u32 {
        self.solver.num_vars()
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        if let Some(log) = &mut self.solver.cb_mut().log {
            log.push(Logged::Input(clause.to_vec()));
        }
        let mut literals: Vec<batsat::Lit> = clause.iter().map(|l| to_batsat(*l)).collect();
        // The solver remembers that it became unsatisfiable; the next query says so.
        self.solver.add_clause_reuse(&mut literals);
    }

    fn solve(&mut self, assumptions: &[Lit], limit: &Limit) -> Answer {
        self.queries += 1;
        self.core.clear();
        let watch = self.solver.cb_mut();
        watch.conflicts_allowed = limit.conflicts.map(|count| watch.conflicts.saturating_add(count));
        watch.stop = limit.stop.clone();
        watch.asked.set(0);
        watch.stopped.set(false);
        let given: Vec<batsat::Lit> = assumptions.iter().map(|l| to_batsat(*l)).collect();
        let answer = self.solver.solve_limited(&given);
        self.solver.cb_mut().stop = None;
        if answer == batsat::lbool::TRUE {
            Answer::Sat
        } else if answer == batsat::lbool::FALSE {
            // The solver's core is the clause of the negated assumptions.
            self.core.extend(
                assumptions
                    .iter()
                    .zip(&given)
                    .filter(|(_, l)| self.solver.unsat_core_contains_lit(!**l))
                    .map(|p| p.0),
            );
            Answer::Unsat
        } else {
            Answer::Unknown
        }
    }

    fn value(&self, lit: Lit) -> bool {
        let value = self.solver.value_var(batsat::Var::unsafe_from_idx(lit.variable()));
        (value == batsat::lbool::TRUE) != lit.negated()
    }

    fn core(&self) -> &[Lit] {
        &self.core
    }

    fn conflicts(&self) -> u64 {
        self.solver.num_conflicts()
    }

    fn queries(&self) -> u64 {
        self.queries
    }

    fn name(&self) -> &'static str {
        "batsat 0.6"
    }

    fn log(&self) -> &[Logged] {
        self.solver.cb().log.as_deref().unwrap_or(&[])
    }
}

/// A solver whose clauses are kept, so that they can be written as a CNF.
pub struct Recorder<S: Sat> {
    pub solver: S,
    pub cnf: Cnf,
}

/// Clauses over variables that count from zero, where variable 0 is true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cnf {
    pub variables: u32,
    pub clauses: Vec<Vec<Lit>>,
}

impl Cnf {
    /// The text of the format DIMACS.
    pub fn dimacs(&self) -> String {
        let mut text = format!("p cnf {} {}\n", self.variables, self.clauses.len());
        for clause in &self.clauses {
            for lit in clause {
                text.push_str(&lit.dimacs().to_string());
                text.push(' ');
            }
            text.push_str("0\n");
        }
        text
    }
}

impl<S: Sat> Recorder<S> {
    /// Takes a solver that has no clause yet but that of the constant.
    pub fn new(solver: S) -> Recorder<S> {
        let cnf = Cnf { variables: solver.variables(), clauses: vec![vec![Lit::TRUE]] };
        Recorder { solver, cnf }
    }
}

impl<S: Sat> Sat for Recorder<S> {
    fn new_var(&mut self) -> Lit {
        let lit = self.solver.new_var();
        self.cnf.variables = self.solver.variables();
        lit
    }

    fn variables(&self) -> u32 {
        self.solver.variables()
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.cnf.clauses.push(clause.to_vec());
        self.solver.add_clause(clause);
    }

    fn solve(&mut self, assumptions: &[Lit], limit: &Limit) -> Answer {
        self.solver.solve(assumptions, limit)
    }

    fn value(&self, lit: Lit) -> bool {
        self.solver.value(lit)
    }

    fn core(&self) -> &[Lit] {
        self.solver.core()
    }

    fn conflicts(&self) -> u64 {
        self.solver.conflicts()
    }

    fn queries(&self) -> u64 {
        self.solver.queries()
    }

    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn log(&self) -> &[Logged] {
        self.solver.log()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::pigeons;

    #[test]
    fn a_core_names_only_assumptions_that_clash() {
        let mut sat = Batsat::new();
        let (a, b, c) = (sat.new_var(), sat.new_var(), sat.new_var());
        sat.add_clause(&[!a, !c]);
        assert_eq!(sat.solve(&[a, b], &Limit::none()), Answer::Sat);
        assert!(sat.value(a) && sat.value(b) && !sat.value(c));
        assert_eq!(sat.solve(&[a, b, c], &Limit::none()), Answer::Unsat);
        assert_eq!(sat.core(), &[a, c]);
        assert_eq!(sat.solve(&[b, !b], &Limit::none()), Answer::Unsat);
        assert_eq!(sat.core(), &[b, !b]);
        assert_eq!(sat.solve(&[Lit::FALSE], &Limit::none()), Answer::Unsat);
        assert_eq!(sat.core(), &[Lit::FALSE]);
        assert_eq!(sat.solve(&[c], &Limit::none()), Answer::Sat);
    }

    #[test]
    fn a_spent_budget_or_a_stop_is_unknown_and_the_solver_goes_on_afterwards() {
        let mut sat = Batsat::new();
        pigeons(&mut sat, 7);
        assert_eq!(sat.solve(&[], &Limit::conflicts(5)), Answer::Unknown);
        assert_eq!(sat.solve(&[], &Limit::stopped_by(Arc::new(|| true))), Answer::Unknown);
        assert_eq!(sat.solve(&[], &Limit::none()), Answer::Unsat);
        assert!(sat.core().is_empty());
        assert_eq!(sat.solve(&[], &Limit::none()), Answer::Unsat);
    }

    #[test]
    fn a_recorder_writes_every_clause() {
        let mut sat = Recorder::new(Batsat::new());
        let (a, b) = (sat.new_var(), sat.new_var());
        sat.add_clause(&[a, !b]);
        assert_eq!(sat.cnf.dimacs(), "p cnf 3 2\n1 0\n2 -3 0\n");
    }
}
