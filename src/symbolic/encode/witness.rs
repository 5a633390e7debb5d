//! Witnesses: values for which an existential formula is true, found by the solver while the formula is built.
//!
//! In: variables with too many values to list, and a way to build what they have to satisfy. Out: the literal of an
//! unknown binding satisfying it, and one literal for each binding that the solver proposed. A proposal is built like any
//! other instance, so it is never believed: a poor one only fails to help. Witnesses are kept by their variables and tried
//! again wherever the same formula is built, in every state.

use super::term::Term;
use super::{Encoder, Env};
use crate::sat::{Answer, Limit, Lit};
use bombus_lang::typed::{Pred, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Witnesses of one formula.
const WITNESSES: usize = 8;
/// Questions for witnesses of one encoder, and what one of them may cost.
const QUESTIONS: usize = 64;
const CONFLICTS: u64 = 20_000;

/// What is known of the witnesses of a formula.
#[derive(Clone, Default)]
pub(super) struct Known {
    bindings: Vec<Vec<Value>>,
    /// The solver has no more to propose.
    exhausted: bool,
}

/// Builds what a binding has to satisfy.
pub(super) type Wanted<'a, 'm> = &'a mut dyn FnMut(&mut Encoder<'m>, &mut Env) -> Lit;

/// An unknown binding, and those that were proposed.
pub(super) struct Witnessed {
    /// The unknown binding satisfies what is wanted.
    pub some: Lit,
    /// The witnesses do.
    pub proposed: Vec<Lit>,
}

impl<'m> Encoder<'m> {
    /// Looks for bindings of `vars`, which `preds` bound, that satisfy what is wanted. Inside of what is wanted nobody looks
    /// for witnesses: there would be too many of them.
    pub(super) fn witnessed(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        preds: &[&Pred],
        wanted: Wanted<'_, 'm>,
    ) -> Witnessed {
        let (some, leaves) = self.unknown_binding(env, vars, preds, wanted);
        let mut proposed = Vec::new();
        if self.witnessing {
            return Witnessed { some, proposed };
        }
        let saved: Vec<_> = vars.iter().map(|v| (*v, env.put(*v, None))).collect();
        let mut known = self.witnesses.remove(vars).unwrap_or_default();
        self.witnessing = true;
        for i in 0..WITNESSES {
            if i == known.bindings.len() {
                if known.exhausted || leaves.len() != vars.len() {
                    break;
                }
                match self.propose(some, &proposed, &leaves) {
                    Ok(values) => known.bindings.push(values),
                    Err(exhausted) => {
                        known.exhausted = exhausted;
                        break;
                    }
                }
            }
            for (v, value) in vars.iter().zip(&known.bindings[i]) {
                let term = self.known(value);
                env.bind(*v, term);
            }
            proposed.push(wanted(self, env));
            if proposed.last() == Some(&Lit::TRUE) {
                break;
            }
        }
        self.witnessing = false;
        self.witnesses.insert(vars.to_vec(), known);
        for (v, slot) in saved {
            env.put(v, slot);
        }
        Witnessed { some, proposed }
    }

    /// The literal of an unknown binding satisfying what is wanted, and the values of that binding.
    pub(super) fn unknown_binding(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        preds: &[&Pred],
        wanted: Wanted<'_, 'm>,
    ) -> (Lit, Vec<Term>) {
        let saved: Vec<_> = vars.iter().map(|v| (*v, env.put(*v, None))).collect();
        self.bind_leaves(env, vars, preds);
        let leaves = vars.iter().filter_map(|v| env.get(*v).map(|s| s.term.clone())).collect();
        let inside = std::mem::replace(&mut self.witnessing, true);
        let some = wanted(self, env);
        self.witnessing = inside;
        for (v, slot) in saved {
            env.put(v, slot);
        }
        (some, leaves)
    }

    /// Values of the leaves where something satisfies what is wanted and no witness so far does. Else, whether asking
    /// again is of no use.
    fn propose(&mut self, some: Lit, proposed: &[Lit], leaves: &[Term]) -> Result<Vec<Value>, bool> {
        if self.questions == QUESTIONS || some == Lit::FALSE {
            return Err(false);
        }
        self.questions += 1;
        let mut assumptions: Vec<Lit> = proposed.iter().map(|l| !*l).collect();
        assumptions.push(some);
        if !self.atoms.are_bounded() {
            assumptions.push(self.g.range_assumption());
            assumptions.push(self.small);
        }
        let budget = self.budget.clone();
        let limit = Limit {
            conflicts: Some(CONFLICTS),
            ..Limit::stopped_by(Arc::new(move || budget.check().is_err()))
        };
        match self.g.solve(&assumptions, &limit) {
            Answer::Sat => leaves.iter().map(|t| self.value_in_model(t)).collect::<Option<_>>().ok_or(true),
            Answer::Unsat => Err(false),
            Answer::Unknown => Err(true),
        }
    }
}
