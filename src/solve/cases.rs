//! Disjunctions, implications and other conjuncts that hold in one of several cases.
//!
//! In: a conjunct with cases and the variables still unknown. Out: the only case left, if all others
//! are known to fail; and what it costs to search case by case.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::order::{Item, Unknown, items_of};
use crate::solve::plan::{Conjunct, Split};
use bombus_lang::typed::{PredKind, RelOp, VarId};

/// Base-2 logarithms, to be compared with the number of values that another binder would try.
const CASES_COST: f64 = 6.0;
const USELESS_COST: f64 = 30.0;

pub(crate) enum Propagation {
    Nothing,
    Refuted,
    /// Some conjuncts were replaced by the only case left of them.
    Forced,
}

impl Interpreter<'_> {
    /// Disjunctions, implications and the like of which all cases but one are known to fail give way to
    /// that case.
    pub(crate) fn propagate(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &mut Vec<Item>,
    ) -> Res<Propagation> {
        let unknown = Unknown::new(unknown);
        let mut forced = false;
        let mut at = 0;
        while at < open.len() {
            let conjunct = open[at].conjunct.clone();
            if !conjunct.has_cases() {
                at += 1;
                continue;
            }
            let Some(Split::Cases(cases)) = conjunct.split() else {
                at += 1;
                continue;
            };
            if cases.len() > 64 || cases.iter().any(|c| !c.vars.is_empty()) {
                at += 1;
                continue;
            }
            // Thousands of disjunctions take longer than many a search: the budget is asked here too.
            self.tick()?;
            let mut failed = open[at].failed;
            let mut left = None;
            let mut count = 0;
            for (i, case) in cases.iter().enumerate() {
                if failed & (1 << i) != 0 {
                    continue;
                }
                let mut fails = false;
                for c in case.conjuncts.iter().filter(|c| !c.derived) {
                    if c.free.iter().any(|v| unknown.contains(*v)) {
                        continue;
                    }
                    match self.holds(env, &c.pred) {
                        Ok(false) => {
                            fails = true;
                            break;
                        }
                        Err(e) if e.is_stop() => return Err(e),
                        _ => {}
                    }
                }
                if fails {
                    failed |= 1 << i;
                } else {
                    count += 1;
                    left = Some(i);
                }
            }
            open[at].failed = failed;
            match (count, left) {
                (0, _) => return Ok(Propagation::Refuted),
                (1, Some(i)) => {
                    let whole = open.remove(at);
                    open.extend(items_of(&cases[i], &whole));
                    forced = true;
                }
                _ => at += 1,
            }
        }
        Ok(if forced { Propagation::Forced } else { Propagation::Nothing })
    }

    /// What it costs to search case by case.
    pub(crate) fn cases_cost(&self, unknown: &[VarId], c: &Conjunct) -> f64 {
        let cost = match &c.pred.kind {
            PredKind::Exists(..) => CASES_COST,
            PredKind::Or(ps) => CASES_COST + (ps.len() as f64).log2(),
            PredKind::Rel(..) => CASES_COST + 1.0,
            // Implications and equivalences bind little.
            _ => CASES_COST + USELESS_COST,
        };
        if self.cases_bind(unknown, c, 3) { cost } else { cost + USELESS_COST }
    }

    /// Whether some case of a conjunct says what an unknown variable is, or where it lies.
    fn cases_bind(&self, unknown: &[VarId], c: &Conjunct, depth: u32) -> bool {
        let Some(Split::Cases(cases)) = c.split() else { return false };
        cases.iter().flat_map(|case| &case.conjuncts).any(|c| match &c.pred.kind {
            PredKind::Rel(RelOp::Equal, a, b) => self.binds(unknown, a) || self.binds(unknown, b),
            PredKind::Rel(RelOp::In | RelOp::Subset, a, _) => self.binds(unknown, a),
            _ => depth > 0 && self.cases_bind(unknown, c, depth - 1),
        })
    }
}
