//! Why no valuation of the constants satisfies PROPERTIES: conjuncts that cannot hold together, as few as possible.
//!
//! In: the properties. Out: the numbers of a set of clauses that has no solution while it has one without any of them,
//! as far as the searches come to an end. Clauses that could not be decided about stay in the set.
//! Never here: other sizes of sets; whoever loads models tries them.

use super::Explainer;
use bombus_evaluate::env::Env;
pub use bombus_evaluate::error::Flow;
use bombus_evaluate::solve::plan::Plan;
use bombus_lang::free;
use bombus_lang::typed::{Pred, VarId};
use std::sync::Arc;

/// Steps that the search for one solution may take.
const STEPS: u32 = 1 << 19;

impl Explainer<'_> {
    /// Clauses that contradict each other, by their numbers; `None` if that is not known.
    pub(super) fn contradiction(&self) -> Option<Vec<usize>> {
        let all: Vec<usize> = (0..self.machine.properties.len()).collect();
        // A clause that is false for all values says it alone.
        if let Some(one) = all.iter().find(|i| self.is_satisfiable(&[**i]) == Some(false)) {
            return Some(vec![*one]);
        }
        let mut core = self.groups(&all).into_iter().find(|g| self.is_satisfiable(g) == Some(false))?;
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            if self.is_satisfiable(&fewer) == Some(false) {
                // Removing one clause may cut what is left into parts, one of which is enough.
                let parts = self.groups(&fewer);
                core = match parts.len() {
                    0 | 1 => fewer,
                    _ => parts.into_iter().find(|g| self.is_satisfiable(g) == Some(false)).unwrap_or(fewer),
                };
                at = 0;
            } else {
                at += 1;
            }
        }
        Some(core)
    }

    /// Whether some valuation of the constants satisfies the PROPERTIES; `None` if that is not known.
    pub fn has_constants(&self) -> Option<bool> {
        let all: Vec<usize> = (0..self.machine.properties.len()).collect();
        let mut possible = Some(true);
        for group in self.groups(&all) {
            match self.is_satisfiable(&group) {
                Some(false) => return Some(false),
                None => possible = None,
                Some(true) => {}
            }
        }
        possible
    }

    fn clause(&self, i: usize) -> &Pred {
        &self.machine.properties[i].pred
    }

    pub(super) fn constants_of(&self, clauses: &[usize]) -> Vec<VarId> {
        let speaks = |v: &VarId| clauses.iter().any(|i| free::mentions_in(self.clause(*i), &|w| w == *v));
        self.machine.constants.iter().copied().filter(|v| speaks(v)).collect()
    }

    /// The clauses in groups that share no constant.
    fn groups(&self, clauses: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<(Vec<VarId>, Vec<usize>)> = Vec::new();
        for i in clauses {
            let mut joined = (self.constants_of(&[*i]), vec![*i]);
            let shares = |g: &(Vec<VarId>, Vec<usize>)| g.0.iter().any(|v| joined.0.contains(v));
            let (mine, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(shares);
            groups = others;
            for (vars, members) in mine {
                joined.0.extend(vars);
                joined.1.extend(members);
            }
            joined.1.sort_unstable();
            groups.push(joined);
        }
        groups.sort_by_key(|(_, members)| members.first().copied());
        groups.into_iter().map(|(_, members)| members).collect()
    }

    /// Whether some values of the constants satisfy these clauses; `None` if that is not known.
    fn is_satisfiable(&self, clauses: &[usize]) -> Option<bool> {
        let preds: Vec<&Pred> = clauses.iter().map(|i| self.clause(*i)).collect();
        let plan = Arc::new(Plan::new(&self.constants_of(clauses), &preds));
        self.interpreter.cache.kept.borrow_mut().push(plan.clone());
        let mut env = Env::new(self.machine.vars.len());
        let (mut found, mut open) = (false, false);
        self.interpreter.patience.set(Some(STEPS));
        let run = self.interpreter.run_plan(&mut env, &plan, &mut |_, error| {
            match error {
                None => found = true,
                Some(e) if e.is_stop() => return Err(e.clone()),
                Some(_) => open = true,
            }
            Ok(if found { Flow::Stop } else { Flow::Go })
        });
        self.interpreter.patience.set(None);
        if self.interpreter.look().is_err() {
            self.cut_short.set(true);
        }
        match (found, open || run.is_err()) {
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) => Some(false),
        }
    }
}
