//! A known lambda at an unknown point: its body with the point put in place.
//!
//! In: the application of a function that is kept as a comprehension. Out: the term of the body, and the literal of the
//! lambda's predicate, outside of which the application has no value.

use crate::env::Env;
use crate::solve::finite_domains::Lit;
use crate::solve::network::guards::Guards;
use crate::solve::network::term::Term;
use crate::solve::network::{Builder, Built, Halt};
use bombus_lang::typed::{Expr, ExprKind};
use bombus_lang::value::{Closure, ClosureKind, Symbolic, Value};

/// Functions that apply themselves are followed no deeper than this.
const DEPTH: usize = 6;

impl Builder<'_, '_> {
    pub(crate) fn inlined(&mut self, env: &mut Env, e: &Expr, guards: &mut Guards) -> Built<Term> {
        let ExprKind::Apply(f, x) = &e.kind else { return Err(Halt::Opaque) };
        if self.depth >= DEPTH || !self.is_ground(f) {
            return Err(Halt::Opaque);
        }
        let Value::Symbolic(s) = self.interp.eval_lazy(env, f)? else { return Err(Halt::Opaque) };
        let Symbolic::Closure(c) = &*s else { return Err(Halt::Opaque) };
        // A variable that the closure has a value of is not the one that is looked for now.
        if c.code.kind != ClosureKind::Lambda || c.captured.iter().any(|(v, _)| self.is_unknown(*v)) {
            return Err(Halt::Opaque);
        }
        let arg = self.term(env, x, guards)?;
        let mut parts = Vec::new();
        components(&arg, c.code.vars.len(), &mut parts)?;
        self.depth += 1;
        let valuation = env.valuation.take();
        let values: Vec<_> = c.captured.iter().map(|(v, x)| (*v, env.replace(*v, Some(x.clone())))).collect();
        let hidden = env.take(&c.code.vars);
        let terms: Vec<_> =
            c.code.vars.iter().zip(parts).map(|(v, t)| (*v, self.terms.insert(*v, t))).collect();
        let result = self.body(env, c, guards);
        self.restore_terms(terms);
        env.restore(hidden);
        env.restore(values);
        env.valuation = valuation;
        self.depth -= 1;
        result
    }

    fn body(&mut self, env: &mut Env, c: &Closure, guards: &mut Guards) -> Built<Term> {
        let Some(body) = &c.code.body else { return Err(Halt::Opaque) };
        match self.exact(env, &c.code.pred)? {
            Lit::FALSE => Err(Halt::Undefined),
            inside => {
                guards.push(inside);
                self.term(env, body, guards)
            }
        }
    }
}

/// A tuple taken apart into as many parts as a lambda has variables.
fn components(t: &Term, n: usize, out: &mut Vec<Term>) -> Built<()> {
    if n <= 1 {
        out.push(t.clone());
        return Ok(());
    }
    let (left, right) = crate::solve::network::expr::split(t)?;
    components(&left, n - 1, out)?;
    out.push(right);
    Ok(())
}
