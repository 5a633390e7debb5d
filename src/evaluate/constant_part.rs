//! Choices of an operation that depend on constants alone.
//!
//! In: the plan of an alternative. Out: the part of it that no variable of the machine has a say in, with its
//! solutions, found once per valuation of the constants; and the rest, to be solved in each state.
//! Only parts that take a search are kept apart, and only if all of it has a value and is known.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Flow, Res};
use crate::memo::SETUP;
use crate::solve::order::Sink;
use crate::solve::plan::{Conjunct, Plan};
use bombus_base::hash::HashMap;
use bombus_lang::free;
use bombus_lang::typed::{ExprKind, Machine, PredKind, RelOp, VarId, VarKind};
use bombus_lang::value::Value;
use std::sync::Arc;

/// More solutions than this are searched for again in each state.
const SOLUTIONS: usize = 1 << 14;
/// Values that are remembered together; beyond, all are forgotten.
const REMEMBERED: usize = 1 << 20;

/// A plan in two parts that share no variable.
pub(crate) struct Apart {
    alone: Plan,
    rest: Plan,
}

/// Solutions by valuation and place of the plan; `None` where they are not to be remembered.
#[derive(Default)]
pub(crate) struct Choices {
    known: HashMap<(u32, usize), Option<Solutions>>,
    size: usize,
}

type Solutions = Arc<[Vec<Value>]>;

impl Apart {
    /// The parts of a plan, if there is one that is worth it.
    pub(crate) fn of(machine: &Machine, plan: &Plan) -> Option<Apart> {
        let mut groups: Vec<(Vec<VarId>, Vec<Arc<Conjunct>>)> =
            plan.vars.iter().map(|v| (vec![*v], Vec::new())).collect();
        for c in &plan.conjuncts {
            let (mine, others): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(vars, _)| vars.iter().any(|v| c.free.contains(v)));
            groups = others;
            if mine.is_empty() {
                continue;
            }
            let mut joined = (Vec::new(), Vec::new());
            for (vars, conjuncts) in mine {
                joined.0.extend(vars);
                joined.1.extend(conjuncts);
            }
            joined.1.push(c.clone());
            groups.push(joined);
        }
        let is_alone = |vars: &[VarId], c: &Conjunct| {
            !free::reads_old(&c.pred, None)
                && c.free.iter().all(|v| vars.contains(v) || machine.var(*v).kind == VarKind::Constant)
        };
        let (vars, _) = groups
            .into_iter()
            .filter(|(vars, conjuncts)| {
                conjuncts.iter().all(|c| is_alone(vars, c)) && conjuncts.iter().any(|c| takes_a_search(c))
            })
            .max_by_key(|(_, conjuncts)| conjuncts.len())?;
        // The order of the text stays.
        let (alone, rest): (Vec<_>, Vec<_>) =
            plan.conjuncts.iter().cloned().partition(|c| c.free.iter().any(|v| vars.contains(v)));
        let (inside, outside): (Vec<VarId>, Vec<VarId>) = plan.vars.iter().partition(|v| vars.contains(v));
        Some(Apart { alone: Plan::of_conjuncts(inside, alone), rest: Plan::of_conjuncts(outside, rest) })
    }
}

/// Whether a conjunct is more than a membership or inclusion of one variable.
fn takes_a_search(c: &Conjunct) -> bool {
    match &c.pred.kind {
        PredKind::Rel(RelOp::In | RelOp::Subset, x, _) => !matches!(x.kind, ExprKind::Var(_)),
        _ => true,
    }
}

impl Interpreter<'_> {
    /// All solutions of a plan that was taken apart; false if it has to be solved as a whole.
    pub(crate) fn run_apart(&self, env: &mut Env, apart: &Apart, sink: Sink) -> Res<bool> {
        let vars = &apart.alone.vars;
        let saved = env.take(vars);
        let mut solutions: Option<Solutions> = None;
        let mut whole = false;
        let result = self.run_plan(env, &apart.rest, &mut |env, error| {
            // Not before the rest holds somewhere: the search may be long, and for nothing.
            let solutions = match &solutions {
                Some(known) => known.clone(),
                None => match self.solutions_apart(env, apart)? {
                    Some(found) => solutions.insert(found).clone(),
                    None => {
                        whole = true;
                        return Ok(Flow::Stop);
                    }
                },
            };
            if solutions.is_empty() {
                return Ok(Flow::Stop);
            }
            if error.is_some() {
                return sink(env, error);
            }
            for solution in solutions.iter() {
                self.tick()?;
                for (v, x) in vars.iter().zip(solution) {
                    env.bind(*v, x.clone());
                }
                let flow = sink(env, None);
                for v in vars {
                    env.unbind(*v);
                }
                if flow? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            Ok(Flow::Go)
        });
        env.restore(saved);
        result.map(|_| !whole)
    }

    fn solutions_apart(&self, env: &mut Env, apart: &Apart) -> Res<Option<Solutions>> {
        let Some(valuation) = env.valuation.filter(|v| *v != SETUP) else { return Ok(None) };
        // Plans live as long as the interpreter.
        let key = (valuation, std::ptr::from_ref(apart) as usize);
        if let Some(known) = self.cache.choices.borrow().known.get(&key) {
            return Ok(known.clone());
        }
        let vars = &apart.alone.vars;
        let (mut found, mut known) = (Vec::new(), true);
        let run = self.run_plan(env, &apart.alone, &mut |env, error| {
            if error.is_some() || found.len() >= SOLUTIONS {
                known = false;
                return Ok(Flow::Stop);
            }
            found.push(vars.iter().map(|v| env.get(*v).cloned().unwrap_or_default()).collect::<Vec<_>>());
            Ok(Flow::Go)
        });
        match run {
            Err(e) if e.is_stop() => return Err(e),
            Err(_) => known = false,
            Ok(_) => {}
        }
        let mut choices = self.cache.choices.borrow_mut();
        let size = found.len() * vars.len() + 1;
        if choices.size + size > REMEMBERED {
            *choices = Choices::default();
        }
        choices.size += size;
        found.sort();
        found.dedup();
        let solutions = known.then(|| Solutions::from(found));
        choices.known.insert(key, solutions.clone());
        Ok(solutions)
    }
}
