//! Functions kept as tables: a presence bit and a value for each argument.
//!
//! Only operators that keep a function a function are here; the others convert or go to values.

use super::*;

impl Operand {
    pub(super) fn table(&self) -> Option<(&Carrier, &Layout)> {
        match &self.layout {
            Layout::Table(t) => Some((&t.0, &t.1)),
            _ => None,
        }
    }

    /// The domain: the first words of a table are a bit-set of its rows.
    pub(super) fn presence(&self) -> Option<Operand> {
        let (rows, _) = self.table()?;
        Some(Operand { reg: self.reg, layout: Layout::Bits(rows.clone()) })
    }
}

/// The layout of a union of sets that have the layout of the values of a table.
pub(super) fn union_layout(value: &Layout) -> Option<Layout> {
    match value {
        Layout::Bits(_) => Some(value.clone()),
        Layout::Array(a) if a.matrix().card() <= crate::carrier::MAX_CARD => Some(Layout::Bits(a.matrix())),
        _ => None,
    }
}

impl<'w> Lower<'w> {
    /// The value of row `r`; `none` when it has none.
    pub(super) fn table_get(&mut self, t: &Operand, r: Reg, none: Label) -> Low<Operand> {
        let Some((rows, value)) = t.table() else { return unsupported("no table") };
        let (n, value) = (rows.card() as u16, value.clone());
        let d = self.fresh(value)?;
        self.emit(Op::TableGet { d: d.reg, t: t.reg, r, n, w: d.words(), l: none });
        Ok(d)
    }

    fn table_put(&mut self, t: &Operand, r: Reg, value: &Operand) -> Low<()> {
        let Some((rows, _)) = t.table() else { return unsupported("no table") };
        let n = rows.card() as u16;
        self.emit(Op::TablePut { d: t.reg, r, s: value.reg, n, w: value.words() });
        Ok(())
    }

    /// Writes maplets into `d`. With `fresh_only` a key that is there already is a misfit.
    pub(super) fn table_maplets(
        &mut self,
        d: &Operand,
        maplets: &[Expr],
        env: &Env,
        fresh_only: bool,
    ) -> Low<()> {
        let Some((rows, value)) = d.table() else { return unsupported("no table") };
        let (rows, value) = (rows.clone(), value.clone());
        let misfit = self.misfit;
        let mut places: Vec<(Reg, Operand)> = Vec::new();
        for maplet in maplets {
            let ExprKind::Pair(k, v) = &maplet.kind else { return unsupported("a maplet that is no pair") };
            let x = self.expr(k, env, Some(&Layout::of_element(&rows)))?;
            let y = self.expr(v, env, Some(&value))?;
            let r = self.encode(&x, &rows, misfit)?;
            for (other, _) in &places {
                self.emit(Op::JumpEq { a: *other, b: r, l: misfit });
            }
            places.push((r, y));
        }
        for (r, y) in places {
            if fresh_only {
                self.emit(Op::JumpBit { a: d.reg, i: r, n: rows.words(), l: misfit });
            }
            self.table_put(d, r, &y)?;
        }
        Ok(())
    }

    /// Keeps the rows in `set`, or those outside.
    pub(super) fn table_restrict(&mut self, t: &Operand, set: &Expr, keep: bool, env: &Env) -> Low<Operand> {
        let Some(present) = t.presence() else { return unsupported("no table") };
        let rows = present.carrier()?.clone();
        let s = self.set_over(set, rows.clone(), env)?;
        let drop = self.fresh(present.layout.clone())?;
        let (d, a, b, n) = (drop.reg, present.reg, s.reg, present.words());
        self.emit(if keep { Op::AndNot { d, a, b, n } } else { Op::And { d, a, b, n } });
        let out = self.duplicate(t)?;
        let w = match out.table() {
            Some((_, value)) => value.words(),
            None => 0,
        };
        let cursor = self.alloc(1)?;
        let (head, exit) = (self.label(), self.label());
        self.emit(Op::Const { d: cursor, v: -1 });
        self.place(head);
        self.emit(Op::Next { d: cursor, a: drop.reg, n, l: exit });
        self.emit(Op::TableDrop { d: out.reg, r: cursor, n: rows.card() as u16, w });
        self.emit(Op::Jump { l: head });
        self.place(exit);
        Ok(out)
    }

    /// `a <+ b` of two tables.
    pub(super) fn table_override(&mut self, a: &Operand, b: &Operand) -> Low<Operand> {
        let out = self.duplicate(a)?;
        self.each_row(b, &mut |s, r, value| s.table_put(&out, r, value))?;
        Ok(out)
    }

    /// Emits `body` for every row that has a value.
    pub(super) fn each_row(
        &mut self,
        t: &Operand,
        body: &mut dyn FnMut(&mut Self, Reg, &Operand) -> Low<()>,
    ) -> Low<()> {
        let Some(present) = t.presence() else { return unsupported("no table") };
        let cursor = self.alloc(1)?;
        let (head, exit) = (self.label(), self.label());
        self.emit(Op::Const { d: cursor, v: -1 });
        self.place(head);
        self.emit(Op::Next { d: cursor, a: present.reg, n: present.words(), l: exit });
        let value = self.table_get(t, cursor, head)?;
        body(self, cursor, &value)?;
        self.emit(Op::Jump { l: head });
        self.place(exit);
        Ok(())
    }

    /// The table `f`, if a set is written `ran(f)`: its values need not be a bit-set of their own.
    pub(super) fn range_of_table(&mut self, set: &Expr, env: &Env) -> Low<Option<Operand>> {
        let ExprKind::Unary(UnOp::Ran, f) = &set.kind else { return Ok(None) };
        match self.hint(f, env) {
            Some(layout @ Layout::Table(_)) => Ok(Some(self.expr(f, env, Some(&layout))?)),
            _ => Ok(None),
        }
    }

    /// `union(ran(f))` of a table `f` of sets.
    pub(super) fn union_of_rows(&mut self, sets: &Expr, env: &Env) -> Low<Option<Operand>> {
        let Some(t) = self.range_of_table(sets, env)? else { return Ok(None) };
        let Some(layout) = t.table().and_then(|(_, value)| union_layout(value)) else { return Ok(None) };
        let d = self.fresh(layout.clone())?;
        self.emit(Op::Clear { d: d.reg, n: d.words() });
        self.each_row(&t, &mut |s, _, value| {
            let x = s.as_bits(value.clone())?;
            let x = s.convert(x, &layout)?;
            s.emit(Op::Or { d: d.reg, a: d.reg, b: x.reg, n: d.words() });
            Ok(())
        })?;
        Ok(Some(d))
    }

    /// The least or greatest of the numbers in a table; undefined if there are none.
    pub(super) fn extreme_row(&mut self, op: UnOp, t: &Operand) -> Low<Operand> {
        if !matches!(t.table(), Some((_, Layout::Int))) {
            return unsupported("a table without numbers");
        }
        let Some(present) = t.presence() else { return unsupported("no table") };
        let l = self.wd;
        self.emit(Op::JumpEmpty { a: present.reg, n: present.words(), l });
        let d = self.fresh(Layout::Int)?;
        self.emit(Op::Const { d: d.reg, v: if op == UnOp::Min { i64::MAX } else { i64::MIN } });
        self.each_row(t, &mut |s, _, x| {
            s.emit(match op {
                UnOp::Min => Op::Min { d: d.reg, a: d.reg, b: x.reg },
                _ => Op::Max { d: d.reg, a: d.reg, b: x.reg },
            });
            Ok(())
        })?;
        Ok(d)
    }

    /// An empty table to be filled.
    pub(super) fn empty_table(&mut self, layout: &Layout) -> Low<Operand> {
        let d = self.fresh(layout.clone())?;
        self.emit(Op::Clear { d: d.reg, n: d.words() });
        Ok(d)
    }

    /// `S * {v}` as a table.
    pub(super) fn table_product(&mut self, s: &Expr, v: &Expr, layout: &Layout, env: &Env) -> Low<Operand> {
        let Layout::Table(t) = layout else { return unsupported("no table") };
        let value = self.expr(v, env, Some(&t.1))?;
        let rows = self.bits(s, env, Some(&Layout::Bits(t.0.clone())))?;
        let d = self.empty_table(layout)?;
        let cursor = self.alloc(1)?;
        let (head, exit) = (self.label(), self.label());
        self.emit(Op::Const { d: cursor, v: -1 });
        self.place(head);
        self.emit(Op::Next { d: cursor, a: rows.reg, n: rows.words(), l: exit });
        self.table_put(&d, cursor, &value)?;
        self.emit(Op::Jump { l: head });
        self.place(exit);
        Ok(d)
    }

    /// Goes to `no` unless `x` is a function from `from` to `to`.
    pub(super) fn table_function(
        &mut self,
        x: &Operand,
        op: BinOp,
        from: &Expr,
        to: &Expr,
        env: &Env,
        no: Label,
    ) -> Low<()> {
        let total = match op {
            BinOp::TotalFunction | BinOp::TotalRelation => true,
            BinOp::PartialFunction | BinOp::Relation => false,
            _ => return unsupported("an injective or surjective table"),
        };
        let Some(present) = x.presence() else { return unsupported("no table") };
        if total {
            let s = self.bits(from, env, None)?;
            self.equal(&present, &s, no, false)?;
        } else {
            self.inclusion(&present, from, env, no, false)?;
        }
        if matches!(&to.kind, ExprKind::TypeSet(t) if !matches!(t, Type::Free(_))) {
            return Ok(());
        }
        self.each_row(x, &mut |s, _, value| s.member(value, to, env, no, false))
    }
}
