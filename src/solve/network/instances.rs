//! Instances of quantifiers and comprehensions.
//!
//! In: the plan of a binder. Out: one call per binding of its variables that the known conjuncts allow,
//! with the conjuncts that are left. Where an unknown set gives the bindings, its possible elements do,
//! each with the literal of its membership.

use crate::env::Env;
use crate::error::Flow;
use crate::solve::finite_domains::Lit;
use crate::solve::network::term::Term;
use crate::solve::network::{Builder, Built, Halt};
use crate::solve::plan::{Conjunct, Plan};
use bombus_base::hash::HashSet;
use bombus_lang::typed::{ExprKind, PredKind, RelOp, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// More bindings than this are left to the interpreter.
const INSTANCES: usize = 1 << 16;
/// More constraints than this are not made.
const CONSTRAINTS: usize = 1 << 20;

/// One binding: it counts if the literal is true and the rest of the conjuncts hold.
pub(crate) struct Instance<'a> {
    pub(crate) lit: Lit,
    pub(crate) rest: &'a [Arc<Conjunct>],
}

type Each<'a, 'b, 'm> = &'a mut dyn FnMut(&mut Builder<'b, 'm>, &mut Env, Instance) -> Built<()>;

impl<'b, 'm> Builder<'b, 'm> {
    pub(crate) fn instances(&mut self, env: &mut Env, plan: &Plan, each: Each<'_, 'b, 'm>) -> Built<()> {
        let saved = env.take(&plan.vars);
        let result = self.bind_instances(env, &plan.vars, plan.conjuncts.clone(), Lit::TRUE, each);
        env.restore(saved);
        result
    }

    fn is_known(&self, c: &Conjunct) -> bool {
        !c.free.iter().any(|v| self.is_unknown(*v))
    }

    fn bind_instances(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        conjuncts: Vec<Arc<Conjunct>>,
        lit: Lit,
        each: Each<'_, 'b, 'm>,
    ) -> Built<()> {
        let (known, rest): (Vec<_>, Vec<_>) = conjuncts.iter().cloned().partition(|c| self.is_known(c));
        if let Some(bindings) = self.bindings(env, vars, known)? {
            let rest: Vec<Arc<Conjunct>> = rest.into_iter().filter(|c| !c.derived).collect();
            for binding in bindings {
                self.interp.tick()?;
                if self.net.size() > CONSTRAINTS {
                    return Err(Halt::Opaque);
                }
                for (v, x) in vars.iter().zip(binding) {
                    env.bind(*v, x);
                }
                let result = each(self, env, Instance { lit, rest: &rest });
                for v in vars {
                    env.unbind(*v);
                }
                result?;
            }
            return Ok(());
        }
        // Membership in an unknown set, or an equation with an unknown value, binds some variables.
        for (at, c) in conjuncts.iter().enumerate() {
            let PredKind::Rel(op @ (RelOp::In | RelOp::Equal), a, b) = &c.pred.kind else { continue };
            if c.derived || self.is_known(c) {
                continue;
            }
            let mut others = conjuncts.clone();
            others.remove(at);
            if *op == RelOp::Equal {
                for (x, y, free) in [(a, b, &c.right), (b, a, &c.left)] {
                    if let ExprKind::Var(v) = x.kind
                        && vars.contains(&v)
                        && !free.iter().any(|w| vars.contains(w))
                        && let Ok(t) = self.total(env, y)
                    {
                        let vars: Vec<VarId> = vars.iter().copied().filter(|w| *w != v).collect();
                        let before = self.terms.insert(v, t);
                        let result = self.bind_instances(env, &vars, others, lit, each);
                        self.restore_terms(vec![(v, before)]);
                        return result;
                    }
                }
                continue;
            }
            if c.left.iter().any(|v| self.is_unknown(*v))
                || c.right.iter().any(|v| vars.contains(v))
                || !self.interp.binds(vars, a)
            {
                continue;
            }
            let Ok(set) = self.total(env, b) else { continue };
            let Ok(elems) = self.elements(env, &set) else { continue };
            if elems.len() > INSTANCES || !elems.iter().all(|(e, _)| matches!(e, Term::Known(_))) {
                continue;
            }
            for (e, inside) in elems.iter() {
                let Term::Known(value) = e else { continue };
                let lit = self.and([lit, *inside]);
                if lit == Lit::FALSE {
                    continue;
                }
                let (mut bound, mut exact) = (Vec::new(), true);
                let matched = self.interp.match_pattern(env, vars, a, value, &mut bound, &mut exact);
                let result = match matched {
                    Ok(true) if exact => {
                        let vars: Vec<VarId> = vars.iter().copied().filter(|v| !bound.contains(v)).collect();
                        self.bind_instances(env, &vars, others.clone(), lit, each)
                    }
                    Ok(false) => Ok(()),
                    Ok(true) => Err(Halt::Opaque),
                    Err(e) => Err(e.into()),
                };
                for v in bound {
                    env.unbind(v);
                }
                result?;
            }
            return Ok(());
        }
        self.bind_first(env, vars, &conjuncts, lit, each)
    }

    /// Gives the first variable that known conjuncts bound alone its values: then an equation may tell the others.
    fn bind_first(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        conjuncts: &[Arc<Conjunct>],
        lit: Lit,
        each: Each<'_, 'b, 'm>,
    ) -> Built<()> {
        if vars.len() < 2 {
            return Err(Halt::Opaque);
        }
        for v in vars {
            let speaks_alone = |c: &Conjunct| {
                c.free.contains(v) && c.free.iter().all(|w| w == v || !vars.contains(w)) && self.is_known(c)
            };
            let (alone, others): (Vec<_>, Vec<_>) = conjuncts.iter().cloned().partition(|c| speaks_alone(c));
            if !alone.iter().any(|c| !c.derived) {
                continue;
            }
            let Some(bindings) = self.bindings(env, &[*v], alone)? else { continue };
            let rest: Vec<VarId> = vars.iter().copied().filter(|w| w != v).collect();
            for binding in bindings {
                for x in binding {
                    env.bind(*v, x);
                }
                let result = self.bind_instances(env, &rest, others.clone(), lit, each);
                env.unbind(*v);
                result?;
            }
            return Ok(());
        }
        Err(Halt::Opaque)
    }

    /// The bindings that the known conjuncts allow; `None` if they bound the variables too little.
    fn bindings(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        known: Vec<Arc<Conjunct>>,
    ) -> Built<Option<Vec<Vec<Value>>>> {
        let plan = Plan::of_conjuncts(vars.to_vec(), known);
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let (mut open, mut undefined) = (false, false);
        let run = self.interp.run_plan_exactly(env, &plan, &mut |env, error| {
            if let Some(e) = error {
                open |= !e.is_finding();
                undefined |= e.is_finding();
                return Ok(Flow::Stop);
            }
            let binding: Vec<Value> = vars.iter().map(|v| env.get(*v).cloned().unwrap_or_default()).collect();
            if seen.insert(binding.clone()) {
                found.push(binding);
            }
            open |= found.len() > INSTANCES;
            Ok(if open { Flow::Stop } else { Flow::Go })
        });
        match run {
            Err(e) if e.is_stop() => return Err(Halt::Stop(e)),
            Err(e) if e.is_finding() => return Err(Halt::Opaque),
            Err(_) => return Ok(None),
            Ok(_) => {}
        }
        if undefined {
            return Err(Halt::Opaque);
        }
        Ok((!open).then_some(found))
    }
}
