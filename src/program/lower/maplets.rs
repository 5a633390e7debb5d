//! Functions written as a few maplets, `{k|->v, …}`, and unions of functions that are too large for a bit matrix.
//!
//! In: expressions whose operands lower. Out: code on rows and cells. Two maplets with one key, and functions that
//! disagree on a key, make a relation that is no function: those are left to the interpreter at run time.

use super::*;
use crate::carrier::MAX_CARD;
use crate::uses::Uses;
use bombus_lang::typed::Arrow;
use std::sync::Arc;

/// More maplets than this are compared with each other by the interpreter.
const FEW: usize = 8;

/// The keys and the values of a set of maplets.
fn maplets(e: &Expr) -> Option<Vec<(&Expr, &Expr)>> {
    let ExprKind::SetExt(es) = &e.kind else { return None };
    let halves = es.iter().map(|e| match &e.kind {
        ExprKind::Pair(k, v) => Some((&**k, &**v)),
        _ => None,
    });
    halves.collect()
}

/// The wish for a union that has to be built in cells, because its matrix is too large.
fn large(layout: Option<Layout>) -> Option<Layout> {
    layout.filter(|l| matches!(l, Layout::Array(a) if a.matrix().card() > MAX_CARD))
}

impl Lower<'_> {
    /// `dom({k|->v, …})` is `{k, …}`, and `ran` of it `{v, …}`, once the other side is known to have values.
    pub(super) fn side_of_maplets(&mut self, s: &Expr, env: &Env) -> Low<Option<Expr>> {
        let ExprKind::Unary(op @ (UnOp::Dom | UnOp::Ran), r) = &s.kind else { return Ok(None) };
        let Some(pairs) = maplets(r) else { return Ok(None) };
        let mut side = Vec::new();
        for (k, v) in pairs {
            let (kept, other) = if *op == UnOp::Dom { (k, v) } else { (v, k) };
            if Uses::of_expr(other).partial {
                self.expr(other, env, None)?;
            }
            side.push(kept.clone());
        }
        Ok(Some(Expr { kind: ExprKind::SetExt(side), ty: s.ty.clone(), span: s.span }))
    }

    /// Goes to `no` unless the maplets `e` are a member of a set of partial functions; `None` if this is something
    /// else.
    pub(super) fn maplets_function(&mut self, e: &Expr, set: &Expr, env: &Env, no: Label) -> Low<Option<()>> {
        let ExprKind::Binary(op, from, to) = &set.kind else { return Ok(None) };
        let Some(Arrow { total: false, onto: false, injective, .. }) = op.arrow() else { return Ok(None) };
        let Some(pairs) = maplets(e).filter(|p| p.len() <= FEW) else { return Ok(None) };
        self.need(&[from, to], env)?;
        // Everything has a value before anything decides.
        let mut operands = Vec::new();
        for (k, v) in pairs {
            operands.push((self.expr(k, env, None)?, self.expr(v, env, None)?));
        }
        let misfit = self.misfit;
        for (i, (k, v)) in operands.iter().enumerate() {
            for (other, image) in &operands[..i] {
                self.equal(k, other, misfit, true)?;
                if injective {
                    self.equal(v, image, no, true)?;
                }
            }
        }
        for (k, v) in &operands {
            self.member(k, from, env, no, false)?;
            self.member(v, to, env, no, false)?;
        }
        Ok(Some(()))
    }

    /// `f \/ g` of functions whose matrix would be too large; `None` if it is not.
    pub(super) fn union_of_functions(
        &mut self,
        a: &Expr,
        b: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Option<Operand>> {
        let hint = match want {
            Some(l) => Some(l.clone()),
            None => self.hint(a, env).or_else(|| self.hint(b, env)),
        };
        let Some(Layout::Array(form)) = large(hint) else { return Ok(None) };
        let partial = Arc::new(form.partial());
        let layout = Layout::Array(partial.clone());
        let d = match (maplets(a), maplets(b), &a.kind, &b.kind) {
            (_, Some(_), _, ExprKind::SetExt(es)) => self.array_update(a, es, env, &layout, true)?,
            (Some(_), _, ExprKind::SetExt(es), _) => self.array_update(b, es, env, &layout, true)?,
            _ => {
                let (x, y) = (self.expr(a, env, Some(&layout))?, self.expr(b, env, Some(&layout))?);
                let (x, y) = (self.as_array(&x, &partial)?, self.as_array(&y, &partial)?);
                let d = self.fresh(layout)?;
                self.emit(Op::UnionCells { d: d.reg, a: x.reg, b: y.reg, c: partial.cells() });
                d
            }
        };
        match want {
            Some(_) => self.as_array(&d, &form).map(Some),
            None => Ok(Some(d)),
        }
    }
}
