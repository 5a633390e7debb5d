//! Comprehensions, lambdas, sums, and quantified unions.

use super::*;
use crate::carrier::MAX_CARD;
use crate::plan;
use bombus_lang::typed::{BigOp, PredKind, RelOp};

impl Lower<'_> {
    /// A carrier that has room for `{vars|p}` or `%vars.(p|body)`, found without emitting code.
    pub(super) fn comprehension_carrier(
        &self,
        vars: &[VarId],
        p: &Pred,
        body: Option<&Expr>,
        env: &Env,
    ) -> Option<Carrier> {
        let conjuncts = plan::conjuncts(p);
        let mut all: Option<Carrier> = None;
        let mut inner = env.clone();
        for v in vars {
            let c = self.variable_carrier(*v, &conjuncts, env)?;
            inner.now.insert(*v, Operand { reg: 0, layout: Layout::of_element(&c) });
            all = Some(match all {
                None => c,
                Some(a) => Carrier::pair(a, c),
            });
        }
        let mut all = all?;
        if let Some(e) = body {
            let c = match Carrier::of_type(&e.ty, &|s| self.w.machine.set(s).elems.len()) {
                Some(c) => c,
                None => match &e.kind {
                    ExprKind::Var(v) => self.variable_carrier(*v, &conjuncts, env)?,
                    ExprKind::Int(n) => Carrier::Ints { lo: i32::try_from(n.small()?).ok()?, n: 1 },
                    ExprKind::Apply(f, _) => match self.hint(f, &inner)? {
                        Layout::Bits(Carrier::Pair(p)) => p.1.clone(),
                        Layout::Array(a) => a.values.clone(),
                        _ => return None,
                    },
                    _ => return None,
                },
            };
            all = Carrier::pair(all, c);
        }
        (all.card() <= MAX_CARD).then_some(all)
    }

    fn variable_carrier(&self, v: VarId, conjuncts: &[Pred], env: &Env) -> Option<Carrier> {
        let ty = &self.w.machine.var(v).ty;
        let sizes = |s| self.w.machine.set(s).elems.len();
        if let Some(c) = Carrier::of_type(ty, &sizes) {
            return Some(c);
        }
        let typed = conjuncts.iter().find_map(|c| match &c.kind {
            PredKind::Rel(RelOp::In, a, set) if matches!(a.kind, ExprKind::Var(w) if w == v) => {
                match self.bits_hint(set, env)? {
                    Layout::Bits(c) => Some(c),
                    _ => None,
                }
            }
            _ => None,
        });
        typed.or_else(|| Carrier::of_nested_type(ty, &sizes))
    }

    pub(super) fn comprehension(
        &mut self,
        vars: &[VarId],
        p: &Pred,
        body: Option<&Expr>,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        if let (Some(layout @ Layout::Table(t)), Some(e)) = (want, body) {
            return self.table_of(vars, p, e, env, layout, &t.0.clone(), &t.1.clone());
        }
        if let (Some(Layout::Array(a)), Some(e)) = (want, body) {
            return self.array_of(vars, p, e, env, &a.clone());
        }
        let carrier = match want {
            Some(Layout::Bits(c)) => c.clone(),
            _ => match self.comprehension_carrier(vars, p, body, env) {
                Some(c) => c,
                None => return unsupported("a comprehension without a carrier"),
            },
        };
        let d = self.fresh(Layout::Bits(carrier.clone()))?;
        self.emit(Op::Clear { d: d.reg, n: d.words() });
        let misfit = self.misfit;
        self.with_wd(misfit, |s| {
            s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                let mut x = s.tuple(vars, env)?;
                if let Some(e) = body {
                    let y = s.expr(e, env, None)?;
                    let layout = Layout::pair(x.layout.clone(), y.layout.clone());
                    x = s.join(&[x, y], layout)?;
                }
                let i = s.encode(&x, &carrier, misfit)?;
                s.put_bit(&d, i, true);
                Ok(())
            })
        })?;
        Ok(d)
    }

    /// `%vars.(p|body)` as an array.
    fn array_of(
        &mut self,
        vars: &[VarId],
        p: &Pred,
        body: &Expr,
        env: &Env,
        a: &std::sync::Arc<crate::layout::Array>,
    ) -> Low<Operand> {
        let d = self.empty_array(a)?;
        let misfit = self.misfit;
        self.with_wd(misfit, |s| {
            s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                let x = s.tuple(vars, env)?;
                let y = s.expr(body, env, Some(&Layout::of_element(&a.values)))?;
                s.array_enter(&d, &x, &y)
            })
        })?;
        self.as_array(&d, a)
    }

    /// The variables as one left-nested pair.
    fn tuple(&mut self, vars: &[VarId], env: &Env) -> Low<Operand> {
        let mut x = env.now[&vars[0]].clone();
        for v in &vars[1..] {
            let y = env.now[v].clone();
            let both = Layout::pair(x.layout.clone(), y.layout.clone());
            x = self.join(&[x, y], both)?;
        }
        Ok(x)
    }

    /// `%vars.(p|body)` as a table.
    #[allow(clippy::too_many_arguments)]
    fn table_of(
        &mut self,
        vars: &[VarId],
        p: &Pred,
        body: &Expr,
        env: &Env,
        layout: &Layout,
        rows: &Carrier,
        value: &Layout,
    ) -> Low<Operand> {
        let d = self.empty_table(layout)?;
        let misfit = self.misfit;
        self.with_wd(misfit, |s| {
            s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                let x = s.tuple(vars, env)?;
                let y = s.expr(body, env, Some(value))?;
                let r = s.encode(&x, rows, misfit)?;
                s.emit(Op::TablePut { d: d.reg, r, s: y.reg, n: rows.card() as u16, w: y.words() });
                Ok(())
            })
        })?;
        Ok(d)
    }

    pub(super) fn big(
        &mut self,
        op: BigOp,
        vars: &[VarId],
        p: &Pred,
        body: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        let misfit = self.misfit;
        match op {
            BigOp::Lambda => self.comprehension(vars, p, Some(body), env, want),
            BigOp::Sigma | BigOp::Pi => {
                if body.ty != Type::Integer {
                    return unsupported("a sum of reals");
                }
                let d = self.fresh(Layout::Int)?;
                self.emit(Op::Const { d: d.reg, v: i64::from(op == BigOp::Pi) });
                self.with_wd(misfit, |s| {
                    s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                        let x = s.int(body, env)?;
                        s.emit(if op == BigOp::Sigma {
                            Op::Add { d: d.reg, a: d.reg, b: x.reg }
                        } else {
                            Op::Mul { d: d.reg, a: d.reg, b: x.reg }
                        });
                        Ok(())
                    })
                })?;
                Ok(d)
            }
            BigOp::SetOf => {
                let ty = Type::pow(body.ty.clone());
                let known = || self.of_type(&ty).or_else(|| self.of_nested_type(&ty));
                let Some(Layout::Bits(c)) = want.cloned().or_else(known) else {
                    return unsupported("a set without a carrier");
                };
                let d = self.fresh(Layout::Bits(c.clone()))?;
                self.emit(Op::Clear { d: d.reg, n: d.words() });
                self.with_wd(misfit, |s| {
                    s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                        let x = s.expr(body, env, None)?;
                        let i = s.encode(&x, &c, misfit)?;
                        s.put_bit(&d, i, true);
                        Ok(())
                    })
                })?;
                Ok(d)
            }
            BigOp::Union => {
                let Some(layout @ Layout::Bits(_)) = want.cloned().or_else(|| self.of_type(&body.ty)) else {
                    return unsupported("a union without a carrier");
                };
                let d = self.fresh(layout.clone())?;
                self.emit(Op::Clear { d: d.reg, n: d.words() });
                self.with_wd(misfit, |s| {
                    s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                        let x = s.expr(body, env, Some(&layout))?;
                        s.emit(Op::Or { d: d.reg, a: d.reg, b: x.reg, n: d.words() });
                        Ok(())
                    })
                })?;
                Ok(d)
            }
            BigOp::Inter => {
                let Some(layout @ Layout::Bits(_)) = want.cloned().or_else(|| self.of_type(&body.ty)) else {
                    return unsupported("an intersection without a carrier");
                };
                let Layout::Bits(c) = &layout else { return unsupported("an intersection of functions") };
                let all = self.full(c)?;
                let d = self.duplicate(&all)?;
                let any = self.alloc(1)?;
                self.emit(Op::Const { d: any, v: 0 });
                self.with_wd(misfit, |s| {
                    s.search(vars, plan::conjuncts(p), env, &mut |s, env, _| {
                        let x = s.expr(body, env, Some(&layout))?;
                        s.emit(Op::Const { d: any, v: 1 });
                        s.emit(Op::And { d: d.reg, a: d.reg, b: x.reg, n: d.words() });
                        Ok(())
                    })
                })?;
                // The intersection of nothing is undefined.
                self.emit(Op::JumpEqImm { a: any, i: 0, l: misfit });
                Ok(d)
            }
        }
    }
}
