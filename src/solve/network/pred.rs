//! Predicates as literals.
//!
//! In: a predicate with unknowns. Out: a literal, in one of three senses. *Positive*: where it is false the
//! predicate is false. *Negative*: where it is false the predicate is true. *Exact*: it is the truth of the
//! predicate, which has a truth value whatever the unknowns are. So a positive literal may be
//! asserted without losing a solution, nor a valuation for which the predicate has no value and which
//! somebody wants to hear of; what is not understood is the literal `TRUE`.

use crate::env::Env;
use crate::solve::finite_domains::Lit;
use crate::solve::network::guards::Guards;
use crate::solve::network::instances::Instance;
use crate::solve::network::term::Lin;
use crate::solve::network::{Builder, Built, Halt};
use crate::solve::plan::Conjunct;
use bombus_lang::free;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Positive,
    Negative,
    Exact,
}

impl Sense {
    fn negated(self) -> Sense {
        match self {
            Sense::Positive => Sense::Negative,
            Sense::Negative => Sense::Positive,
            Sense::Exact => Sense::Exact,
        }
    }
}

impl Builder<'_, '_> {
    pub(crate) fn exact(&mut self, env: &mut Env, p: &Pred) -> Built<Lit> {
        self.literal(env, p, Sense::Exact)
    }

    /// The literal of a predicate; in the positive and negative sense only a stop is an error.
    pub(crate) fn literal(&mut self, env: &mut Env, p: &Pred, sense: Sense) -> Built<Lit> {
        match self.literal_of_kind(env, p, sense) {
            Err(Halt::Misapplied) if self.strict && sense == Sense::Positive => Ok(Lit::FALSE),
            Err(Halt::Opaque | Halt::Undefined | Halt::Misapplied) if sense != Sense::Exact => {
                self.weak = true;
                Ok(Lit::TRUE)
            }
            // Whether the rest needs a predicate without a value is not known here.
            Err(Halt::Undefined | Halt::Misapplied) => Err(Halt::Opaque),
            other => other,
        }
    }

    fn literal_of_kind(&mut self, env: &mut Env, p: &Pred, sense: Sense) -> Built<Lit> {
        let truth = |b: bool| {
            let lit = if b { Lit::TRUE } else { Lit::FALSE };
            Ok(if sense == Sense::Negative { !lit } else { lit })
        };
        if !self.mentions_unknown(p) {
            return truth(self.interp.holds(env, p)?);
        }
        match &p.kind {
            PredKind::True => truth(true),
            PredKind::False => truth(false),
            PredKind::Label(_, q) => self.literal(env, q, sense),
            PredKind::Not(q) => {
                let lit = self.literal(env, q, sense.negated())?;
                Ok(if sense == Sense::Exact { !lit } else { lit })
            }
            PredKind::And(ps) => {
                let mut lits = Vec::with_capacity(ps.len());
                for q in ps {
                    let lit = self.literal(env, q, sense)?;
                    if lit == Lit::FALSE && sense != Sense::Negative {
                        return Ok(Lit::FALSE);
                    }
                    lits.push(lit);
                }
                Ok(if sense == Sense::Negative { self.or(lits) } else { self.and(lits) })
            }
            PredKind::Or(ps) => {
                let mut lits = Vec::with_capacity(ps.len());
                for q in ps {
                    if sense != Sense::Negative {
                        lits.push(self.literal(env, q, sense)?);
                        continue;
                    }
                    // Behind a disjunct that may have no value the others do not count.
                    match self.exact(env, q) {
                        Ok(lit) => lits.push(!lit),
                        Err(Halt::Stop(e)) => return Err(Halt::Stop(e)),
                        Err(_) => {
                            lits.push(self.literal(env, q, sense)?);
                            break;
                        }
                    }
                }
                Ok(if sense == Sense::Negative { self.and(lits) } else { self.or(lits) })
            }
            PredKind::Implies(a, b) => self.implication(env, a, b, sense),
            PredKind::Iff(a, b) => {
                if let (Ok(x), Ok(y)) = (self.exact(env, a), self.exact(env, b)) {
                    let (l, r) = (self.or([!x, y]), self.or([x, !y]));
                    let lit = self.and([l, r]);
                    return Ok(if sense == Sense::Negative { !lit } else { lit });
                }
                if sense == Sense::Exact {
                    return Err(Halt::Opaque);
                }
                let (first, second) = match sense {
                    Sense::Positive => (Sense::Negative, Sense::Positive),
                    _ => (Sense::Positive, Sense::Negative),
                };
                // `a <=> b`: not a or b, and a or not b; its negation: a or b, and not a or not b.
                let (x, y) = (self.literal(env, a, first)?, self.literal(env, b, Sense::Positive)?);
                let left = self.or([x, y]);
                let (x, y) = (self.literal(env, a, second)?, self.literal(env, b, Sense::Negative)?);
                let right = self.or([x, y]);
                Ok(self.and([left, right]))
            }
            PredKind::If(c, a, b) => {
                let c = self.exact(env, c)?;
                let (x, y) = (self.literal(env, a, sense)?, self.literal(env, b, sense)?);
                let (l, r) = (self.or([!c, x]), self.or([c, y]));
                Ok(self.and([l, r]))
            }
            PredKind::Let(bindings, body) => {
                let mut done = Vec::new();
                let mut result = Ok(());
                for (v, e) in bindings {
                    match self.total(env, e) {
                        Ok(t) => done.push((*v, self.terms.insert(*v, t))),
                        Err(h) => {
                            result = Err(h);
                            break;
                        }
                    }
                }
                let result = result.and_then(|()| self.literal(env, body, sense));
                self.restore_terms(done);
                result
            }
            PredKind::Forall(vars, body) => self.universal(env, vars, body, sense),
            PredKind::Exists(vars, body) => self.existential(env, vars, body, sense),
            PredKind::Finite(e) => {
                let t = self.total(env, e)?;
                self.elements(env, &t)?;
                truth(true)
            }
            PredKind::Rel(..) | PredKind::Partition(..) => match self.atom(env, p, sense) {
                Err(Halt::Opaque) => self.tabulated_pred(env, p, sense),
                other => other,
            },
            PredKind::External(..) => self.tabulated_pred(env, p, sense),
        }
    }

    fn mentions_unknown(&self, p: &Pred) -> bool {
        match &p.kind {
            PredKind::Rel(_, a, b) => !self.is_ground(a) || !self.is_ground(b),
            PredKind::Not(q) | PredKind::Label(_, q) => self.mentions_unknown(q),
            PredKind::And(ps) | PredKind::Or(ps) => ps.iter().any(|q| self.mentions_unknown(q)),
            PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                self.mentions_unknown(a) || self.mentions_unknown(b)
            }
            _ => free::of_pred(p).iter().any(|v| self.is_unknown(*v)),
        }
    }

    fn implication(&mut self, env: &mut Env, a: &Pred, b: &Pred, sense: Sense) -> Built<Lit> {
        match sense {
            Sense::Positive => {
                let x = self.literal(env, a, Sense::Negative)?;
                if x == Lit::TRUE {
                    return Ok(x);
                }
                let y = self.literal(env, b, Sense::Positive)?;
                Ok(self.or([x, y]))
            }
            Sense::Negative => match self.exact(env, a) {
                Ok(x) => {
                    let y = self.literal(env, b, Sense::Negative)?;
                    Ok(self.and([x, y]))
                }
                Err(Halt::Stop(e)) => Err(Halt::Stop(e)),
                Err(_) => self.literal(env, a, Sense::Positive),
            },
            Sense::Exact => {
                let x = self.exact(env, a)?;
                if x == Lit::FALSE {
                    return Ok(Lit::TRUE);
                }
                let y = self.exact(env, b)?;
                Ok(self.or([!x, y]))
            }
        }
    }

    /// The conjunction of some conjuncts.
    fn conjunction(&mut self, env: &mut Env, list: &[Arc<Conjunct>], sense: Sense) -> Built<Lit> {
        let mut lits = Vec::with_capacity(list.len());
        for c in list {
            lits.push(self.literal(env, &c.pred, sense)?);
        }
        Ok(if sense == Sense::Negative { self.or(lits) } else { self.and(lits) })
    }

    fn universal(&mut self, env: &mut Env, vars: &[VarId], body: &Pred, sense: Sense) -> Built<Lit> {
        let plan = self.interp.forall_plan(vars, body);
        let mut lits = Vec::new();
        let run = self.instances(env, &plan.hypotheses, &mut |this, env, Instance { lit, rest }| {
            let x = match sense {
                Sense::Positive => this.conjunction(env, rest, Sense::Negative)?,
                Sense::Exact => !this.conjunction(env, rest, Sense::Exact)?,
                Sense::Negative => {
                    // As in an implication: the conclusion counts where the hypotheses have a value.
                    let x = match this.conjunction(env, rest, Sense::Exact) {
                        Ok(x) => {
                            let y = this.literal(env, &plan.conclusion, Sense::Negative)?;
                            this.and([x, y])
                        }
                        Err(Halt::Stop(e)) => return Err(Halt::Stop(e)),
                        // A hypothesis that is false does not count behind one that may be undefined.
                        Err(_) if !plan.hypotheses.stages.is_empty() => Lit::TRUE,
                        Err(_) => this.conjunction(env, rest, Sense::Positive)?,
                    };
                    lits.push(this.and([lit, x]));
                    return Ok(());
                }
            };
            let guard = this.or([!lit, x]);
            if guard == Lit::TRUE {
                return Ok(());
            }
            let y = this.literal(env, &plan.conclusion, sense)?;
            lits.push(this.or([guard, y]));
            Ok(())
        });
        match (run, sense) {
            (Ok(()), Sense::Negative) => Ok(self.or(lits)),
            (Ok(()), _) => Ok(self.and(lits)),
            // What was found of a conjunction still follows from the whole.
            (Err(Halt::Opaque | Halt::Undefined | Halt::Misapplied), Sense::Positive) => {
                self.weak = true;
                Ok(self.and(lits))
            }
            (Err(h), _) => Err(h),
        }
    }

    fn existential(&mut self, env: &mut Env, vars: &[VarId], body: &Pred, sense: Sense) -> Built<Lit> {
        let plan = self.interp.plan_of(vars, &[body]);
        let mut lits = Vec::new();
        let run = self.instances(env, &plan, &mut |this, env, Instance { lit, rest }| {
            let x = this.conjunction(env, rest, sense)?;
            lits.push(if sense == Sense::Negative { this.or([!lit, x]) } else { this.and([lit, x]) });
            Ok(())
        });
        match (run, sense) {
            (Ok(()), Sense::Negative) => Ok(self.and(lits)),
            (Ok(()), _) => Ok(self.or(lits)),
            (Err(Halt::Opaque | Halt::Undefined | Halt::Misapplied), Sense::Negative) => {
                self.weak = true;
                Ok(self.and(lits))
            }
            (Err(h), _) => Err(h),
        }
    }

    fn atom(&mut self, env: &mut Env, p: &Pred, sense: Sense) -> Built<Lit> {
        let mut guards = Guards::default();
        let lit = match &p.kind {
            PredKind::Rel(op, a, b) => self.relation(env, *op, a, b, &mut guards)?,
            PredKind::Partition(whole, parts) => self.partition(env, whole, parts, &mut guards)?,
            _ => return Err(Halt::Opaque),
        };
        let defined = self.all(&guards);
        Ok(match sense {
            Sense::Positive if self.strict => {
                let (applied, lit) = (self.all_chosen(&guards), self.or([!defined, lit]));
                self.and([applied, lit])
            }
            Sense::Positive => self.or([!defined, lit]),
            Sense::Negative => self.or([!defined, !lit]),
            Sense::Exact if defined == Lit::TRUE => lit,
            Sense::Exact => return Err(Halt::Opaque),
        })
    }

    fn partition(&mut self, env: &mut Env, whole: &Expr, parts: &[Expr], guards: &mut Guards) -> Built<Lit> {
        let whole = self.term(env, whole, guards)?;
        let whole = self.elements(env, &whole)?;
        let mut sets = Vec::with_capacity(parts.len());
        for part in parts {
            let t = self.term(env, part, guards)?;
            sets.push(self.elements(env, &t)?);
        }
        let union = std::rc::Rc::new(sets.iter().flat_map(|s| s.iter().cloned()).collect::<Vec<_>>());
        let mut lits = vec![self.included(env, &union, &whole)?, self.included(env, &whole, &union)?];
        for (i, s) in sets.iter().enumerate() {
            for t in &sets[..i] {
                for (e, lit) in s.iter() {
                    let inside = self.member(env, e, t)?;
                    lits.push(self.or([!*lit, !inside]));
                }
            }
        }
        Ok(self.and(lits))
    }

    fn relation(&mut self, env: &mut Env, op: RelOp, a: &Expr, b: &Expr, guards: &mut Guards) -> Built<Lit> {
        Ok(match op {
            RelOp::Equal => {
                if let Some(lit) = self.all_different(env, a, b, guards)? {
                    return Ok(lit);
                }
                let (x, y) = (self.term(env, a, guards)?, self.term(env, b, guards)?);
                self.equal(env, &x, &y)?
            }
            RelOp::NotEqual => !self.relation(env, RelOp::Equal, a, b, guards)?,
            RelOp::In => {
                let x = self.term(env, a, guards)?;
                self.inside_expr(env, &x, b, guards)?
            }
            RelOp::NotIn => !self.relation(env, RelOp::In, a, b, guards)?,
            RelOp::Subset | RelOp::StrictSubset => {
                let x = self.term(env, a, guards)?;
                if op == RelOp::Subset && self.is_ground(b) {
                    let set = self.interp.eval_operand(env, b)?;
                    return self.part_of_value(env, &x, &set);
                }
                let y = self.term(env, b, guards)?;
                let (x, y) = (self.elements(env, &x)?, self.elements(env, &y)?);
                let inside = self.included(env, &x, &y)?;
                if op == RelOp::Subset {
                    return Ok(inside);
                }
                let back = self.included(env, &y, &x)?;
                self.and([inside, !back])
            }
            RelOp::NotSubset => !self.relation(env, RelOp::Subset, a, b, guards)?,
            RelOp::NotStrictSubset => !self.relation(env, RelOp::StrictSubset, a, b, guards)?,
            RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual => {
                if a.ty != Type::Integer {
                    return Err(Halt::Opaque);
                }
                let (x, y) = (self.term(env, a, guards)?, self.term(env, b, guards)?);
                let (x, y) = (self.number(&x)?, self.number(&y)?);
                let (small, large) = match op {
                    RelOp::Less | RelOp::LessEqual => (x, y),
                    _ => (y, x),
                };
                let strict = i64::from(matches!(op, RelOp::Less | RelOp::Greater));
                self.at_most_zero(&small.minus(&large)?.plus(&Lin::number(strict))?)?
            }
        })
    }

    /// `card({x,y,…}) = n` with as many expressions as the number says: they are all different.
    fn all_different(
        &mut self,
        env: &mut Env,
        a: &Expr,
        b: &Expr,
        guards: &mut Guards,
    ) -> Built<Option<Lit>> {
        for (x, n) in [(a, b), (b, a)] {
            if let ExprKind::Unary(UnOp::Card, set) = &x.kind
                && let ExprKind::SetExt(es) = &set.kind
                && es.len() <= 64
                && self.is_ground(n)
            {
                let n = self.interp.integer(env, n)?;
                if n.small() != Some(es.len() as i64) {
                    return Ok(None);
                }
                let mut terms = Vec::with_capacity(es.len());
                for e in es {
                    terms.push(self.term(env, e, guards)?);
                }
                let mut lits = Vec::new();
                for (i, s) in terms.iter().enumerate() {
                    for t in &terms[..i] {
                        lits.push(!self.equal(env, s, t)?);
                    }
                }
                return Ok(Some(self.and(lits)));
            }
        }
        Ok(None)
    }
}
