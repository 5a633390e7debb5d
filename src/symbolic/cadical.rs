//! CaDiCaL behind the seam of SAT solvers; only with the feature `cadical`, which needs a C++ compiler.
//!
//! In: clauses and assumptions. Out: as `sat` says. The model and the core are copied after each query, because clauses
//! may be added before they are read. Never here: proofs, which the library's interface does not give.

use crate::sat::{Answer, Limit, Lit, Sat, StopFlag};

/// A solver in C++ that is faster on long runs.
pub struct Cadical {
    solver: ::cadical::Solver<Stop>,
    variables: u32,
    /// The values of the last model, by variable.
    model: Vec<bool>,
    core: Vec<Lit>,
    queries: u64,
}

struct Stop(StopFlag);

impl ::cadical::Callbacks for Stop {
    fn terminate(&mut self) -> bool {
        (self.0)()
    }
}

impl Cadical {
    pub fn new() -> Cadical {
        let mut new = Cadical {
            solver: ::cadical::Solver::new(),
            variables: 0,
            model: Vec::new(),
            core: Vec::new(),
            queries: 0,
        };
        new.new_var();
        new.add_clause(&[Lit::TRUE]);
        new
    }
}

impl Default for Cadical {
    fn default() -> Self {
        Cadical::new()
    }
}

fn number(lit: Lit) -> i32 {
    i32::try_from(lit.dimacs()).expect("fewer variables than the library has")
}

impl Sat for Cadical {
    fn new_var(&mut self) -> Lit {
        self.variables += 1;
        Lit::positive(self.variables - 1)
    }

    fn variables(&self) -> u32 {
        self.variables
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.solver.add_clause(clause.iter().map(|lit| number(*lit)));
    }

    fn solve(&mut self, assumptions: &[Lit], limit: &Limit) -> Answer {
        self.queries += 1;
        self.core.clear();
        self.solver.set_callbacks(limit.stop.clone().map(Stop));
        // A limit lasts for one query; -1 is none.
        let conflicts = limit.conflicts.map_or(-1, |count| i32::try_from(count).unwrap_or(i32::MAX));
        self.solver.set_limit("conflicts", conflicts).expect("the library knows this limit");
        let answer = self.solver.solve_with(assumptions.iter().map(|lit| number(*lit)));
        self.solver.set_callbacks(None);
        match answer {
            Some(true) => {
                let value = |variable| self.solver.value(number(Lit::positive(variable))) == Some(true);
                // The library knows only variables that occur in a clause or an assumption.
                let known = self.solver.max_variable() as u32;
                self.model =
                    (0..self.variables).map(|variable| variable < known && value(variable)).collect();
                Answer::Sat
            }
            Some(false) => {
                let failed = assumptions.iter().filter(|lit| self.solver.failed(number(**lit)));
                self.core = failed.copied().collect();
                Answer::Unsat
            }
            None => Answer::Unknown,
        }
    }

    fn value(&self, lit: Lit) -> bool {
        let value = self.model.get(lit.variable() as usize).copied().unwrap_or(false);
        value != lit.negated()
    }

    fn core(&self) -> &[Lit] {
        &self.core
    }

    fn conflicts(&self) -> u64 {
        0
    }

    fn queries(&self) -> u64 {
        self.queries
    }

    fn name(&self) -> &'static str {
        "CaDiCaL 1.9.5"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::Batsat;
    use crate::testing::{Random, pigeons};

    #[test]
    fn both_solvers_give_the_same_answers_and_cores_that_clash() {
        let mut random = Random::new(3);
        for _ in 0..300 {
            let (mut ours, mut theirs) = (Batsat::new(), Cadical::new());
            let variables: Vec<Lit> = (0..10).map(|_| ours.new_var()).collect();
            for _ in 0..10 {
                theirs.new_var();
            }
            let mut literal = || variables[random.below(10)].signed(random.chance(50));
            let clauses: Vec<Vec<Lit>> = (0..30).map(|_| (0..3).map(|_| literal()).collect()).collect();
            for clause in &clauses {
                ours.add_clause(clause);
                theirs.add_clause(clause);
            }
            let assumptions: Vec<Lit> = (0..3).map(|_| literal()).collect();
            let answer = theirs.solve(&assumptions, &Limit::none());
            assert_eq!(ours.solve(&assumptions, &Limit::none()), answer);
            if answer == Answer::Sat {
                assert!(clauses.iter().all(|clause| clause.iter().any(|lit| theirs.value(*lit))));
                assert!(assumptions.iter().all(|lit| theirs.value(*lit)));
            } else {
                let core = theirs.core().to_vec();
                assert!(core.iter().all(|lit| assumptions.contains(lit)));
                assert_eq!(ours.solve(&core, &Limit::none()), Answer::Unsat);
            }
        }
    }

    #[test]
    fn a_spent_budget_or_a_stop_is_unknown_and_the_solver_goes_on_afterwards() {
        let mut sat = Cadical::new();
        pigeons(&mut sat, 7);
        assert_eq!(sat.solve(&[], &Limit::conflicts(5)), Answer::Unknown);
        assert_eq!(sat.solve(&[], &Limit::stopped_by(std::sync::Arc::new(|| true))), Answer::Unknown);
        assert_eq!(sat.solve(&[], &Limit::none()), Answer::Unsat);
    }
}
