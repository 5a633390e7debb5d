//! Formulas over few small unknowns, by evaluating them for every combination of values.
//!
//! In: an expression or predicate. Out: a term or literal tied to its unknowns by a table. The
//! interpreter computes each row, so everything that it understands is understood here.

use crate::env::Env;
use crate::solve::finite_domains::{Constraint, Fd, Lit};
use crate::solve::network::guards::Guards;
use crate::solve::network::pred::Sense;
use crate::solve::network::term::{Lin, Term};
use crate::solve::network::{Builder, Built, Halt};
use bombus_lang::free;
use bombus_lang::typed::{Expr, ExprKind, Pred, VarId};
use bombus_lang::value::Value;

/// Tables have at most so many rows.
pub(crate) const ROWS: u64 = 1 << 12;

/// Called with the values of the variables of a row.
type EachRow<'a, B> = &'a mut dyn FnMut(&mut B, &mut Env, &[i64]) -> Built<()>;

impl Builder<'_, '_> {
    /// The variables behind some unknowns, if they have few values together.
    fn small(&self, unknowns: &[(VarId, Term)]) -> Built<Vec<Fd>> {
        let mut vars = Vec::new();
        for (_, t) in unknowns {
            self.variables(t, &mut vars);
        }
        vars.sort_unstable();
        vars.dedup();
        let d = &self.net.domains;
        vars.retain(|v| !d.is_fixed(*v));
        let mut rows = 1u64;
        for v in &vars {
            rows = rows.saturating_mul(d.size(*v));
            if !d.is_narrow(*v) || rows > ROWS {
                return Err(Halt::Opaque);
            }
        }
        Ok(vars)
    }

    /// Calls `row` with every combination of values of the variables, the unknowns bound to what they are.
    fn each_row(
        &mut self,
        env: &mut Env,
        unknowns: &[(VarId, Term)],
        vars: &[Fd],
        row: EachRow<'_, Self>,
    ) -> Built<()> {
        let values: Vec<Vec<i64>> = vars.iter().map(|v| self.net.domains.values(*v)).collect();
        let mut at = vec![0; vars.len()];
        let ids: Vec<VarId> = unknowns.iter().map(|(v, _)| *v).collect();
        let saved = env.take(&ids);
        let valuation = env.valuation.take();
        let mut result;
        'rows: loop {
            let codes: Vec<i64> = at.iter().zip(&values).map(|(i, list)| list[*i]).collect();
            for (v, t) in unknowns {
                match self.value_with(t, vars, &codes) {
                    Some(x) => env.bind(*v, x),
                    None => {
                        result = Err(Halt::Opaque);
                        break 'rows;
                    }
                }
            }
            result = self.interp.tick().map_err(Halt::from).and_then(|()| row(self, env, &codes));
            if result.is_err() {
                break;
            }
            let mut i = 0;
            loop {
                if i == at.len() {
                    break 'rows;
                }
                at[i] += 1;
                if at[i] < values[i].len() {
                    break;
                }
                at[i] = 0;
                i += 1;
            }
        }
        env.valuation = valuation;
        for v in ids {
            env.unbind(v);
        }
        env.restore(saved);
        result
    }

    /// The value of a term where some variables have given values and all others are fixed.
    fn value_with(&mut self, t: &Term, vars: &[Fd], codes: &[i64]) -> Option<Value> {
        let mark = self.net.domains.mark();
        let fits = vars.iter().zip(codes).all(|(v, n)| self.net.domains.fix(*v, *n).is_ok());
        let value = if fits { self.value(t) } else { None };
        self.net.domains.undo(mark);
        value
    }

    fn unknowns(&self, free: Vec<VarId>) -> Built<Vec<(VarId, Term)>> {
        let mut found = Vec::new();
        for v in free {
            if let Some(t) = self.terms.get(&v) {
                found.push((v, t.clone()));
            } else if self.is_unknown(v) {
                return Err(Halt::Opaque);
            }
        }
        Ok(found)
    }

    pub(crate) fn tabulated_expr(&mut self, env: &mut Env, e: &Expr, guards: &mut Guards) -> Built<Term> {
        // Where only parts of the unknowns matter, as `f(1)` of f, the parts are tabulated.
        let direct = self.unknowns(free::of_expr(e)).and_then(|u| {
            let vars = self.small(&u)?;
            Ok((u, vars))
        });
        match direct {
            Ok((unknowns, vars)) => self.tabulate(env, e, &unknowns, vars, guards),
            Err(Halt::Opaque) => {
                let (outer, parts) = self.apart(env, e, guards)?;
                let vars = self.small(&parts)?;
                self.tabulate(env, &outer, &parts, vars, guards)
            }
            Err(h) => Err(h),
        }
    }

    /// The outermost operator over new variables that stand for its operands.
    fn apart(&mut self, env: &mut Env, e: &Expr, guards: &mut Guards) -> Built<(Expr, Vec<(VarId, Term)>)> {
        let mut parts = Vec::new();
        let mut part = |this: &mut Self, env: &mut Env, e: &Expr| -> Built<Box<Expr>> {
            let t = this.term(env, e, guards)?;
            let v = VarId((this.interp.machine.vars.len() + crate::FORMULA_VARS + 64 + parts.len()) as u32);
            parts.push((v, t));
            Ok(Box::new(Expr { kind: ExprKind::Var(v), ty: e.ty.clone(), span: e.span }))
        };
        let kind = match &e.kind {
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, part(self, env, a)?),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, part(self, env, a)?, part(self, env, b)?),
            ExprKind::Apply(f, x) => ExprKind::Apply(part(self, env, f)?, part(self, env, x)?),
            ExprKind::Field(a, i) => ExprKind::Field(part(self, env, a)?, *i),
            _ => return Err(Halt::Opaque),
        };
        Ok((Expr { kind, ty: e.ty.clone(), span: e.span }, parts))
    }

    fn tabulate(
        &mut self,
        env: &mut Env,
        e: &Expr,
        unknowns: &[(VarId, Term)],
        mut vars: Vec<Fd>,
        guards: &mut Guards,
    ) -> Built<Term> {
        let mut found: Vec<(Vec<i64>, Option<i64>)> = Vec::new();
        let mut misapplied = true;
        self.each_row(env, unknowns, &vars, &mut |this, env, codes| {
            let value = match this.interp.eval_canon(env, e) {
                Ok(v) => Some(this.encode(&v)?),
                Err(err) if err.is_undefined() => {
                    misapplied &= err.is_misapplied();
                    None
                }
                Err(err) => return Err(err.into()),
            };
            found.push((codes.to_vec(), value));
            Ok(())
        })?;
        let mut values: Vec<i64> = found.iter().filter_map(|(_, v)| *v).collect();
        values.sort_unstable();
        values.dedup();
        let Some(first) = values.first().copied() else {
            let chosen = misapplied && guards.are_all_chosen();
            return Err(if chosen { Halt::Misapplied } else { Halt::Undefined });
        };
        if values.len() == 1 && found.iter().all(|(_, v)| v.is_some()) {
            return Ok(Term::Known(self.decode(&e.ty, first)));
        }
        let y = self.net.of_values(&values);
        vars.push(y);
        let undefined = found.iter().any(|(_, v)| v.is_none());
        if undefined {
            let lit = self.net.boolean();
            if misapplied {
                guards.push_chosen(lit);
            } else {
                guards.push(lit);
            }
            vars.push(lit.var);
        }
        let mut rows = Vec::with_capacity(found.len() * vars.len());
        for (codes, value) in found {
            rows.extend(codes);
            rows.push(value.unwrap_or(first));
            if undefined {
                rows.push(i64::from(value.is_some()));
            }
        }
        self.net.add(Constraint::Table { vars: vars.into(), rows: rows.into() });
        Ok(if e.ty == bombus_lang::typed::Type::Integer {
            Term::Num(Lin::of(y))
        } else {
            Term::Code(y, e.ty.clone())
        })
    }

    pub(crate) fn tabulated_pred(&mut self, env: &mut Env, p: &Pred, sense: Sense) -> Built<Lit> {
        let unknowns = self.unknowns(free::of_pred(p))?;
        let mut vars = self.small(&unknowns)?;
        let mut rows = Vec::new();
        let mut counts = [0, 0];
        self.each_row(env, &unknowns, &vars, &mut |this, env, codes| {
            let truth = match this.interp.holds(env, p) {
                Ok(b) => b == (sense != Sense::Negative),
                Err(e) if e.is_stop() => return Err(Halt::Stop(e)),
                Err(_) if sense == Sense::Exact => return Err(Halt::Opaque),
                // Without a truth value nothing is ruled out but what nobody asks for.
                Err(e) => !(this.strict && sense == Sense::Positive && e.is_misapplied()),
            };
            counts[usize::from(truth)] += 1;
            rows.extend_from_slice(codes);
            rows.push(i64::from(truth));
            Ok(())
        })?;
        Ok(match counts {
            [0, _] => Lit::TRUE,
            [_, 0] => Lit::FALSE,
            _ => {
                let lit = self.net.boolean();
                vars.push(lit.var);
                self.net.add(Constraint::Table { vars: vars.into(), rows: rows.into() });
                lit
            }
        })
    }
}
