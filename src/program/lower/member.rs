//! Membership and inclusion, by the form of the set: most sets in typing predicates are never built.

use super::*;
use crate::layout::Array;
use crate::uses::Uses;
use bombus_lang::typed::{Arrow, RelOp};

impl Lower<'_> {
    /// Goes to `l` when the truth of `a : set` is `when`.
    pub(super) fn membership(&mut self, a: &Expr, set: &Expr, env: &Env, l: Label, when: bool) -> Low<()> {
        if when {
            let end = self.label();
            if self.maplets_function(a, set, env, end)?.is_some() {
                self.emit(Op::Jump { l });
                self.place(end);
                return Ok(());
            }
            self.place(end);
        } else if self.maplets_function(a, set, env, l)?.is_some() {
            return Ok(());
        }
        // A pair of scalars is tested in its relation without being built.
        let x = self.expr(a, env, None)?;
        self.member(&x, set, env, l, when)
    }

    /// Goes where undefined expressions go if one of some sets is undefined: all of them must have a value, also
    /// where the element or one of them decides.
    pub(super) fn need(&mut self, sets: &[&Expr], env: &Env) -> Low<()> {
        for set in sets {
            if Uses::of_expr(set).partial {
                self.expr(set, env, None)?;
            }
        }
        Ok(())
    }

    /// A number in a register of its own: one that is too large for that stands in the pool.
    fn as_int(&mut self, x: &Operand) -> Low<Operand> {
        self.convert(x.clone(), &Layout::Int)
    }

    pub(super) fn member(&mut self, x: &Operand, set: &Expr, env: &Env, l: Label, when: bool) -> Low<()> {
        match &set.kind {
            ExprKind::TypeSet(t) if !matches!(t, Type::Free(_)) => {
                if when {
                    self.emit(Op::Jump { l });
                }
                Ok(())
            }
            ExprKind::Natural | ExprKind::Natural1 => {
                let x = &self.as_int(x)?;
                let least = self.integer(i64::from(matches!(set.kind, ExprKind::Natural1)))?;
                self.order(RelOp::GreaterEqual, x, &least, l, when);
                Ok(())
            }
            ExprKind::Binary(BinOp::Interval, lo, hi) => {
                let x = &self.as_int(x)?;
                let (lo, hi) = (self.int(lo, env)?, self.int(hi, env)?);
                if when {
                    let end = self.label();
                    self.order(RelOp::Less, x, &lo, end, true);
                    self.order(RelOp::LessEqual, x, &hi, l, true);
                    self.place(end);
                } else {
                    self.order(RelOp::Less, x, &lo, l, true);
                    self.order(RelOp::Greater, x, &hi, l, true);
                }
                Ok(())
            }
            // Only what has no layout of its own may be infinite, and inclusion does not look into it.
            ExprKind::Unary(UnOp::Fin | UnOp::Fin1, _) if matches!(x.layout, Layout::Pool) => {
                unsupported("whether a set without a bound is finite")
            }
            ExprKind::Unary(UnOp::Pow | UnOp::Fin, of) => self.inclusion(x, of, env, l, when),
            ExprKind::Unary(UnOp::Pow1 | UnOp::Fin1, of) => {
                self.need(&[of], env)?;
                let x = &self.as_bits(x.clone())?;
                x.carrier()?;
                let (a, n) = (x.reg, x.words());
                if when {
                    let end = self.label();
                    self.emit(Op::JumpEmpty { a, n, l: end });
                    self.inclusion(x, of, env, l, true)?;
                    self.place(end);
                    Ok(())
                } else {
                    self.emit(Op::JumpEmpty { a, n, l });
                    self.inclusion(x, of, env, l, false)
                }
            }
            ExprKind::Binary(op, from, to) if op.arrow().is_some() => {
                if when {
                    let end = self.label();
                    self.function(x, *op, from, to, env, end)?;
                    self.emit(Op::Jump { l });
                    self.place(end);
                    Ok(())
                } else {
                    self.function(x, *op, from, to, env, l)
                }
            }
            ExprKind::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1), of) => {
                if when {
                    let end = self.label();
                    self.sequence_over(x, *op, of, env, end)?;
                    self.emit(Op::Jump { l });
                    self.place(end);
                    Ok(())
                } else {
                    self.sequence_over(x, *op, of, env, l)
                }
            }
            ExprKind::Binary(BinOp::Cartesian, a, b) => {
                self.need(&[a, b], env)?;
                let Some((p, q)) = x.halves() else { return unsupported("a pooled pair") };
                if when {
                    let end = self.label();
                    self.member(&p, a, env, end, false)?;
                    self.member(&q, b, env, l, true)?;
                    self.place(end);
                    Ok(())
                } else {
                    self.member(&p, a, env, l, false)?;
                    self.member(&q, b, env, l, false)
                }
            }
            ExprKind::Binary(BinOp::Union, a, b) if !self.is_constant_expr(set) => {
                self.need(&[a, b], env)?;
                if when {
                    self.member(x, a, env, l, true)?;
                    self.member(x, b, env, l, true)
                } else {
                    let end = self.label();
                    self.member(x, a, env, end, true)?;
                    self.member(x, b, env, l, false)?;
                    self.place(end);
                    Ok(())
                }
            }
            ExprKind::Binary(op @ (BinOp::Inter | BinOp::SetMinus), a, b) if !self.is_constant_expr(set) => {
                self.need(&[a, b], env)?;
                let inter = *op == BinOp::Inter;
                if when {
                    let end = self.label();
                    self.member(x, a, env, end, false)?;
                    self.member(x, b, env, l, inter)?;
                    self.place(end);
                    Ok(())
                } else {
                    self.member(x, a, env, l, false)?;
                    self.member(x, b, env, l, !inter)
                }
            }
            ExprKind::SetExt(es) if !es.is_empty() && !self.is_constant_expr(set) => {
                let end = self.label();
                // All elements must be defined, whichever is hit first.
                let mut parts = Vec::new();
                for e in es {
                    parts.push(self.expr(e, env, None)?);
                }
                for y in &parts {
                    self.equal(x, y, if when { l } else { end }, true)?;
                }
                if !when {
                    self.emit(Op::Jump { l });
                }
                self.place(end);
                Ok(())
            }
            ExprKind::Unary(UnOp::Dom, r) => {
                let m = self.expr(r, env, None)?;
                if let Some(a) = m.array().cloned() {
                    return self.in_domain(x, &m, &a, l, when);
                }
                if let Some(rows) = m.presence() {
                    return self.bit_member(x, &rows, l, when);
                }
                let (rows, cols) = m.matrix()?;
                let (rc, cc) = (rows.clone(), cols.clone());
                let (outside, end) = (self.label(), self.label());
                let r = self.encode(x, &rc, outside)?;
                let row = self.fresh(Layout::Bits(cc.clone()))?;
                self.emit(Op::Row {
                    d: row.reg,
                    m: m.reg,
                    r,
                    rows: rc.card() as u16,
                    cols: cc.card() as u16,
                });
                let (a, n) = (row.reg, row.words());
                if when {
                    self.emit(Op::JumpNotEmpty { a, n, l });
                    self.place(outside);
                } else {
                    self.emit(Op::JumpNotEmpty { a, n, l: end });
                    self.place(outside);
                    self.emit(Op::Jump { l });
                }
                self.place(end);
                Ok(())
            }
            _ => {
                // A constant set that is infinite or awkward is a mask over the window that `x` has;
                // a plain number has none, so the set must be listed.
                let s = self.expr(set, env, None)?;
                if let (Some((k, v)), true) = (x.halves(), s.array().is_some()) {
                    return self.array_member(&k, &v, &s, l, when);
                }
                self.bit_member(x, &s, l, when)
            }
        }
    }

    /// Goes to `l` when the truth of "`x` is an argument of the array `f`" is `when`.
    fn in_domain(&mut self, x: &Operand, f: &Operand, a: &Array, l: Label, when: bool) -> Low<()> {
        let (outside, end) = (self.label(), self.label());
        let r = self.encode(x, &a.rows, outside)?;
        let c = a.cells();
        match self.known.get(&r).copied() {
            _ if a.total => self.emit(Op::Jump { l: if when { l } else { end } }),
            Some(row) => {
                let (at, shift) = c.place(row as usize);
                let (word, shift, mask) = (f.reg + at as u16, shift as u8, c.mask() as u16);
                let l = if when { l } else { end };
                self.emit(Op::JumpCellNe { a: word, i: 0, shift, mask, l });
            }
            None => {
                let d = self.alloc(1)?;
                self.emit(Op::Cell { d, t: f.reg, r, c, l: outside });
                self.emit(Op::Jump { l: if when { l } else { end } });
            }
        }
        self.place(outside);
        if !when {
            self.emit(Op::Jump { l });
        }
        self.place(end);
        Ok(())
    }

    /// Goes to `l` when the truth of "`x` is an element of the bit-set `s`" is `when`.
    fn bit_member(&mut self, x: &Operand, s: &Operand, l: Label, when: bool) -> Low<()> {
        let c = s.carrier()?.clone();
        let (outside, end) = (self.label(), self.label());
        let i = self.encode(x, &c, outside)?;
        if when {
            self.jump_bit(s, i, l, true);
            self.place(outside);
        } else {
            self.jump_bit(s, i, l, false);
            self.emit(Op::Jump { l: end });
            self.place(outside);
            self.emit(Op::Jump { l });
        }
        self.place(end);
        Ok(())
    }

    /// Goes to `l` when the truth of `x <: set` is `when`.
    pub(super) fn inclusion(&mut self, x: &Operand, set: &Expr, env: &Env, l: Label, when: bool) -> Low<()> {
        if let ExprKind::TypeSet(t) = &set.kind
            && !matches!(t, Type::Free(_))
        {
            if when {
                self.emit(Op::Jump { l });
            }
            return Ok(());
        }
        let x = &self.as_bits(x.clone())?;
        let c = x.carrier()?.clone();
        // `set_over` drops what the carrier of `x` lacks; such elements cannot be in `x`.
        let s = self.set_over(set, c, env)?;
        let (a, b, n) = (x.reg, s.reg, x.words());
        self.emit(if when { Op::JumpSubset { a, b, n, l } } else { Op::JumpNotSubset { a, b, n, l } });
        Ok(())
    }

    /// Goes to `no` unless `x` belongs to a set of relations.
    fn function(&mut self, x: &Operand, op: BinOp, from: &Expr, to: &Expr, env: &Env, no: Label) -> Low<()> {
        let Some(Arrow { functional, total, onto, injective }) = op.arrow() else {
            return unsupported("no set of relations");
        };
        self.need(&[from, to], env)?;
        if x.table().is_some() {
            return self.table_function(x, op, from, to, env, no);
        }
        if x.array().is_some() {
            return self.array_function(x, op, from, to, env, no);
        }
        let (rc, cc) = x.matrix()?;
        let (rc, cc) = (rc.clone(), cc.clone());
        let (rows, cols) = (rc.card() as u16, cc.card() as u16);
        if functional {
            self.emit(Op::JumpNotFunctional { m: x.reg, rows, cols, l: no });
        }
        if injective {
            self.emit(Op::JumpNotInjective { m: x.reg, rows, cols, l: no });
        }
        let sides = [(from, rc, total, true), (to, cc, onto, false)];
        for (set, c, exact, is_dom) in sides {
            let whole = matches!(set.kind, ExprKind::TypeSet(_));
            if whole && !exact {
                continue;
            }
            let side = self.fresh(Layout::Bits(c.clone()))?;
            self.emit(if is_dom {
                Op::Dom { d: side.reg, m: x.reg, rows, cols }
            } else {
                Op::Ran { d: side.reg, m: x.reg, rows, cols }
            });
            if exact {
                // The whole set must be known here: an element outside the window counts too.
                let s = self.bits(set, env, None)?;
                self.equal(&side, &s, no, false)?;
            } else {
                self.inclusion(&side, set, env, no, false)?;
            }
        }
        Ok(())
    }
}
