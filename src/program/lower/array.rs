//! Functions kept as arrays of codes, and sequences among them.
//!
//! Operators that keep a function a function work on cells; the others take the bit matrix of the
//! same function. Whatever is no function, or not total where a total one is kept, is a misfit.

use super::*;
use crate::carrier::MAX_CARD;
use crate::layout::Array;
use bombus_kernels::bits::cells::Cells;
use bombus_lang::typed::Arrow;
use std::sync::Arc;

impl Operand {
    pub(super) fn array(&self) -> Option<&Arc<Array>> {
        match &self.layout {
            Layout::Array(a) => Some(a),
            _ => None,
        }
    }

    fn cells(&self) -> Low<Cells> {
        self.array().map_or_else(|| unsupported("no array"), |a| Ok(a.cells()))
    }
}

impl<'w> Lower<'w> {
    /// A function as a bit matrix; other sets as they are.
    pub(super) fn as_bits(&mut self, x: Operand) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return Ok(x) };
        let c = a.matrix();
        if c.card() > MAX_CARD {
            return unsupported("a function too large for a matrix");
        }
        let d = self.fresh(Layout::Bits(c))?;
        let cols = a.values.card() as u16;
        self.emit(Op::CellsToMatrix { d: d.reg, t: x.reg, cols, c: a.cells() });
        Ok(d)
    }

    /// The array of a function that stands in another form.
    pub(super) fn as_array(&mut self, x: &Operand, to: &Arc<Array>) -> Low<Operand> {
        let d = Layout::Array(to.clone());
        match x.array() {
            Some(from) if from == to => Ok(x.clone()),
            Some(from) if from.rows == to.rows && from.values == to.values => {
                let (from, to) = (from.cells(), to.cells());
                let d = self.fresh(d)?;
                self.emit(Op::Recode { d: d.reg, t: x.reg, from, to });
                Ok(d)
            }
            _ => {
                if to.matrix().card() > MAX_CARD {
                    return unsupported("a function too large for a matrix");
                }
                let m = self.as_bits(x.clone())?;
                let m = self.remap(&m, &to.matrix(), false)?;
                let d = self.fresh(d)?;
                let cols = to.values.card() as u16;
                self.emit(Op::MatrixToCells { d: d.reg, m: m.reg, cols, c: to.cells() });
                Ok(d)
            }
        }
    }

    /// The domain of a table or an array as a bit-set.
    pub(super) fn rows_of(&mut self, x: &Operand) -> Low<Option<Operand>> {
        if let Some(rows) = x.presence() {
            return Ok(Some(rows));
        }
        let Some(a) = x.array().cloned() else { return Ok(None) };
        if a.total {
            return self.full(&a.rows).map(Some);
        }
        let d = self.fresh(Layout::Bits(a.rows.clone()))?;
        self.emit(Op::Present { d: d.reg, t: x.reg, c: a.cells() });
        Ok(Some(d))
    }

    /// The value of the row whose code is in `r`; `none` when it has none.
    pub(super) fn array_get(&mut self, t: &Operand, r: Reg, none: Label) -> Low<Operand> {
        let Some(a) = t.array().cloned() else { return unsupported("no array") };
        let c = a.cells();
        let Some(row) = self.known.get(&r).copied() else {
            let d = self.alloc(1)?;
            self.emit(Op::Cell { d, t: t.reg, r, c, l: none });
            return self.decode(d, &a.values);
        };
        let (at, shift) = c.place(row as usize);
        let (word, shift, mask) = (t.reg + at as u16, shift as u8, c.mask() as u16);
        // A cell that was read a moment ago had a value then.
        let raw = match self.peeked(word, shift, mask) {
            Some(raw) => raw,
            None => {
                if c.base == 1 {
                    self.emit(Op::JumpCellEq { a: word, i: 0, shift, mask, l: none });
                }
                let raw = self.alloc(1)?;
                self.emit(Op::Peek { d: raw, a: word, shift, mask });
                raw
            }
        };
        let lo = match &a.values {
            Carrier::Ints { lo, .. } => *lo,
            _ => 0,
        };
        let by = lo - i32::from(c.base);
        let code = match by {
            0 => raw,
            _ => {
                let d = self.alloc(1)?;
                self.emit(Op::AddImm { d, a: raw, i: by });
                d
            }
        };
        match &a.values {
            Carrier::Ints { .. } => Ok(Operand { reg: code, layout: Layout::Int }),
            values => self.decode(code, values),
        }
    }

    /// Puts the value with the code in `s` into the row with the code in `r`, in place.
    fn array_put(&mut self, d: &Operand, r: Reg, s: Reg) -> Low<()> {
        self.array_put_from(d, d.reg, r, s)
    }

    /// The same, but where the row is known its word is taken from the array at `from`.
    fn array_put_from(&mut self, d: &Operand, from: Reg, r: Reg, s: Reg) -> Low<()> {
        let c = d.cells()?;
        let Some(row) = self.known.get(&r).copied() else {
            self.emit(Op::PutCell { d: d.reg, r, s, c });
            return Ok(());
        };
        let (at, shift) = c.place(row as usize);
        let (word, a, shift, mask) = (d.reg + at as u16, from + at as u16, shift as u8, c.mask() as u16);
        self.emit(match self.known.get(&s).copied() {
            Some(v) => Op::PokeImm { d: word, a, i: v as u16 + u16::from(c.base), shift, mask },
            None => Op::Poke { d: word, a, s, shift, mask, base: c.base },
        });
        Ok(())
    }

    /// Codes of the keys and values of maplets; two that share a key are left to the interpreter.
    fn maplet_codes(&mut self, a: &Array, maplets: &[Expr], env: &Env) -> Low<Vec<(Reg, Reg)>> {
        let misfit = self.misfit;
        let mut places: Vec<(Reg, Reg)> = Vec::new();
        for maplet in maplets {
            let ExprKind::Pair(k, v) = &maplet.kind else { return unsupported("a maplet that is no pair") };
            let x = self.expr(k, env, Some(&Layout::of_element(&a.rows)))?;
            let y = self.expr(v, env, Some(&Layout::of_element(&a.values)))?;
            let row = self.encode(&x, &a.rows, misfit)?;
            let value = self.encode(&y, &a.values, misfit)?;
            for (other, _) in &places {
                self.jump_same_code(*other, row, misfit);
            }
            places.push((row, value));
        }
        Ok(places)
    }

    fn jump_same_code(&mut self, a: Reg, b: Reg, l: Label) {
        match (self.known.get(&a), self.known.get(&b)) {
            (Some(x), Some(y)) if x != y => {}
            _ => self.emit(Op::JumpEq { a, b, l }),
        }
    }

    /// `f <+ {k|->v, …}`, or with `fresh_only` `f \/ {k|->v, …}`.
    pub(super) fn array_update(
        &mut self,
        f: &Expr,
        maplets: &[Expr],
        env: &Env,
        want: &Layout,
        fresh_only: bool,
    ) -> Low<Operand> {
        let t = self.expr(f, env, Some(want))?;
        let Some(a) = t.array().cloned() else { return unsupported("no array") };
        let places = self.maplet_codes(&a, maplets, env)?;
        if fresh_only {
            for (row, value) in &places {
                // A key that is there already must have this value.
                let absent = self.label();
                let misfit = self.misfit;
                let old = self.alloc(1)?;
                self.emit(Op::Cell { d: old, t: t.reg, r: *row, c: a.cells(), l: absent });
                self.emit(Op::JumpNe { a: old, b: *value, l: misfit });
                self.place(absent);
            }
        }
        if let [(row, value)] = &places[..]
            && t.words() == 1
            && self.known.contains_key(row)
        {
            let d = self.fresh(t.layout.clone())?;
            self.array_put_from(&d, t.reg, *row, *value)?;
            return Ok(d);
        }
        let d = self.duplicate(&t)?;
        for (row, value) in places {
            self.array_put(&d, row, value)?;
        }
        Ok(d)
    }

    /// An array without values to be filled, and afterwards brought into the form `a` by `filled`.
    pub(super) fn empty_array(&mut self, a: &Arc<Array>) -> Low<Operand> {
        let d = self.fresh(Layout::Array(Arc::new(a.partial())))?;
        self.emit(Op::Clear { d: d.reg, n: d.words() });
        Ok(d)
    }

    /// `{k|->v, …}`.
    pub(super) fn array_of_maplets(&mut self, a: &Arc<Array>, maplets: &[Expr], env: &Env) -> Low<Operand> {
        let places = self.maplet_codes(a, maplets, env)?;
        let d = self.empty_array(a)?;
        for (row, value) in places {
            self.array_put(&d, row, value)?;
        }
        self.as_array(&d, a)
    }

    /// `[v, …]`.
    pub(super) fn array_of_list(&mut self, a: &Arc<Array>, es: &[Expr], env: &Env) -> Low<Operand> {
        let misfit = self.misfit;
        let mut codes = Vec::new();
        for e in es {
            let x = self.expr(e, env, Some(&Layout::of_element(&a.values)))?;
            codes.push(self.encode(&x, &a.values, misfit)?);
        }
        let d = self.empty_array(a)?;
        for (k, value) in codes.into_iter().enumerate() {
            let Some(row) = a.rows.code(&Value::int(k as i64 + 1)) else {
                return unsupported("a sequence longer than its array");
            };
            let r = self.integer(row as i64)?.reg;
            self.array_put(&d, r, value)?;
        }
        self.as_array(&d, a)
    }

    /// Puts `x` at the row `key`, both values; for loops that build a function.
    pub(super) fn array_enter(&mut self, d: &Operand, key: &Operand, x: &Operand) -> Low<()> {
        let Some(a) = d.array().cloned() else { return unsupported("no array") };
        let misfit = self.misfit;
        let row = self.encode(key, &a.rows, misfit)?;
        let value = self.encode(x, &a.values, misfit)?;
        // A comprehension may give one key two values.
        let absent = self.label();
        let old = self.alloc(1)?;
        self.emit(Op::Cell { d: old, t: d.reg, r: row, c: a.cells(), l: absent });
        self.emit(Op::JumpNe { a: old, b: value, l: misfit });
        self.place(absent);
        self.emit(Op::PutCell { d: d.reg, r: row, s: value, c: a.cells() });
        Ok(())
    }

    /// `S * {v}`.
    pub(super) fn array_product(&mut self, s: &Expr, v: &Expr, a: &Arc<Array>, env: &Env) -> Low<Operand> {
        let misfit = self.misfit;
        let y = self.expr(v, env, Some(&Layout::of_element(&a.values)))?;
        let value = self.encode(&y, &a.values, misfit)?;
        let rows = self.bits(s, env, Some(&Layout::Bits(a.rows.clone())))?;
        let d = self.empty_array(a)?;
        let c = d.cells()?;
        self.emit(Op::FillCells { d: d.reg, s: rows.reg, v: value, c });
        self.as_array(&d, a)
    }

    /// `a <+ b` of two functions in one form.
    pub(super) fn array_override(&mut self, x: &Operand, y: &Expr, env: &Env) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let partial = Arc::new(a.partial());
        let y = self.expr(y, env, Some(&Layout::Array(partial.clone())))?;
        let x = self.as_array(x, &partial)?;
        let d = self.fresh(x.layout.clone())?;
        self.emit(Op::OverrideCells { d: d.reg, a: x.reg, b: y.reg, c: partial.cells() });
        self.as_array(&d, &a)
    }

    /// Keeps the rows in `set`, or those outside.
    pub(super) fn array_restrict(&mut self, x: &Operand, set: &Expr, keep: bool, env: &Env) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let s = self.set_over(set, a.rows.clone(), env)?;
        let partial = Arc::new(a.partial());
        let x = self.as_array(x, &partial)?;
        let d = self.fresh(x.layout.clone())?;
        self.emit(Op::RestrictCells { d: d.reg, t: x.reg, s: s.reg, c: partial.cells(), keep });
        Ok(d)
    }

    /// Keeps the rows whose value is in `set`, or the others.
    pub(super) fn array_restrict_values(
        &mut self,
        x: &Operand,
        set: &Expr,
        keep: bool,
        env: &Env,
    ) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let s = self.set_over(set, a.values.clone(), env)?;
        let partial = Arc::new(a.partial());
        let x = self.as_array(x, &partial)?;
        let d = self.fresh(x.layout.clone())?;
        let cols = a.values.card() as u16;
        self.emit(Op::RestrictCellValues { d: d.reg, t: x.reg, s: s.reg, cols, c: partial.cells(), keep });
        Ok(d)
    }

    /// The values that occur.
    pub(super) fn array_values(&mut self, x: &Operand) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let d = self.fresh(Layout::Bits(a.values.clone()))?;
        self.emit(Op::CellValues { d: d.reg, t: x.reg, cols: a.values.card() as u16, c: a.cells() });
        Ok(d)
    }

    /// `f[S]`.
    pub(super) fn array_image(&mut self, x: &Operand, s: &Expr, env: &Env) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        if let ExprKind::SetExt(es) = &s.kind
            && let [only] = &es[..]
        {
            let k = self.expr(only, env, None)?;
            let d = self.fresh(Layout::Bits(a.values.clone()))?;
            let none = self.label();
            self.emit(Op::Clear { d: d.reg, n: d.words() });
            let r = self.encode(&k, &a.rows, none)?;
            let code = self.alloc(1)?;
            self.emit(Op::Cell { d: code, t: x.reg, r, c: a.cells(), l: none });
            self.put_bit(&d, code, true);
            self.place(none);
            return Ok(d);
        }
        let s = self.set_over(s, a.rows.clone(), env)?;
        let d = self.fresh(Layout::Bits(a.values.clone()))?;
        let cols = a.values.card() as u16;
        self.emit(Op::CellImage { d: d.reg, t: x.reg, s: s.reg, cols, c: a.cells() });
        Ok(d)
    }

    /// `f~[S]`.
    pub(super) fn array_preimage(&mut self, x: &Operand, s: &Expr, env: &Env) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let s = self.set_over(s, a.values.clone(), env)?;
        let d = self.fresh(Layout::Bits(a.rows.clone()))?;
        let cols = a.values.card() as u16;
        self.emit(Op::CellPreimage { d: d.reg, t: x.reg, s: s.reg, cols, c: a.cells() });
        Ok(d)
    }

    /// Goes to `l` when the truth of "`k|->v` is in `f`" is `when`.
    pub(super) fn array_member(
        &mut self,
        k: &Operand,
        v: &Operand,
        f: &Operand,
        l: Label,
        when: bool,
    ) -> Low<()> {
        let Some(a) = f.array().cloned() else { return unsupported("no array") };
        let (outside, end) = (self.label(), self.label());
        let row = self.encode(k, &a.rows, outside)?;
        let value = self.encode(v, &a.values, outside)?;
        let c = a.cells();
        match (self.known.get(&row).copied(), self.known.get(&value).copied()) {
            (Some(row), Some(value)) => {
                let (at, shift) = c.place(row as usize);
                let (word, shift, mask) = (f.reg + at as u16, shift as u8, c.mask() as u16);
                let i = value as u16 + u16::from(c.base);
                self.emit(if when {
                    Op::JumpCellEq { a: word, i, shift, mask, l }
                } else {
                    Op::JumpCellNe { a: word, i, shift, mask, l }
                });
                if !when {
                    self.emit(Op::Jump { l: end });
                }
            }
            _ => {
                let d = self.alloc(1)?;
                self.emit(Op::Cell { d, t: f.reg, r: row, c, l: outside });
                self.emit(Op::JumpEq { a: d, b: value, l: if when { l } else { end } });
            }
        }
        self.place(outside);
        if !when {
            self.emit(Op::Jump { l });
        }
        self.place(end);
        Ok(())
    }

    /// Whether a set over constants has all elements of a carrier, and whether it has no others.
    fn covers(&self, set: &Expr, c: &Carrier) -> (bool, bool) {
        let Some(words) = self.mask_words(set, c) else { return (false, false) };
        let all = bombus_kernels::bits::count(&words) == c.card();
        let only = match self.w.folder.value(set) {
            Some(Value::Set(elems)) => elems.len() == c.card(),
            _ => false,
        };
        (all, all && only)
    }

    /// Goes to `no` unless `x` belongs to a set of relations. Most of it is true of every array.
    pub(super) fn array_function(
        &mut self,
        x: &Operand,
        op: BinOp,
        from: &Expr,
        to: &Expr,
        env: &Env,
        no: Label,
    ) -> Low<()> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let Some(Arrow { total, onto, injective, .. }) = op.arrow() else {
            return unsupported("no set of relations");
        };
        let (all, only) = self.covers(from, &a.rows);
        if !(if total { a.total && only } else { all }) {
            let Some(rows) = self.rows_of(x)? else { return unsupported("no array") };
            if total {
                let s = self.bits(from, env, None)?;
                self.equal(&rows, &s, no, false)?;
            } else {
                self.inclusion(&rows, from, env, no, false)?;
            }
        }
        if onto || !self.covers(to, &a.values).0 {
            let values = self.array_values(x)?;
            if onto {
                let s = self.bits(to, env, None)?;
                self.equal(&values, &s, no, false)?;
            } else {
                self.inclusion(&values, to, env, no, false)?;
            }
        }
        if injective {
            let cols = a.values.card() as u16;
            self.emit(Op::JumpCellsNotInjective { t: x.reg, cols, c: a.cells(), l: no });
        }
        Ok(())
    }

    // --- Sequences.

    /// Goes to `no` unless `x` is a sequence over `of`, as `op` wants it.
    pub(super) fn sequence_over(
        &mut self,
        x: &Operand,
        op: UnOp,
        of: &Expr,
        env: &Env,
        no: Label,
    ) -> Low<()> {
        let Some(a) = x.array().cloned().filter(|a| matches!(a.rows, Carrier::Ints { lo: 1, .. })) else {
            return unsupported("a sequence that is no array");
        };
        self.need(&[of], env)?;
        if !a.total {
            let n = self.alloc(1)?;
            self.emit(Op::Length { d: n, t: x.reg, c: a.cells(), l: no });
            if matches!(op, UnOp::Seq1 | UnOp::Iseq1) {
                self.emit(Op::JumpEqImm { a: n, i: 0, l: no });
            }
        }
        let injective = matches!(op, UnOp::Iseq | UnOp::Iseq1);
        let arrow = if injective { BinOp::PartialInjection } else { BinOp::PartialFunction };
        let from = Expr { kind: ExprKind::Natural1, ty: Type::pow(Type::Integer), span: of.span };
        self.array_function(x, arrow, &from, of, env, no)
    }

    /// A sequence as a partial array whose rows begin at 1, with its length.
    fn sequence_of(&mut self, e: &Expr, env: &Env, want: Option<&Layout>) -> Low<(Operand, Reg)> {
        let array = match want {
            Some(Layout::Array(a)) => Some(a.clone()),
            _ => None,
        };
        let array = match array.map(Layout::Array).or_else(|| self.hint(e, env)) {
            Some(Layout::Array(a)) if matches!(a.rows, Carrier::Ints { lo: 1, .. }) => Arc::new(a.partial()),
            _ => return unsupported("a sequence that is no array"),
        };
        let x = self.expr(e, env, Some(&Layout::Array(array.clone())))?;
        let n = self.alloc(1)?;
        let misfit = self.misfit;
        self.emit(Op::Length { d: n, t: x.reg, c: array.cells(), l: misfit });
        Ok((x, n))
    }

    fn slide(&mut self, x: &Operand, by: Reg) -> Low<Operand> {
        let c = x.cells()?;
        let d = self.fresh(x.layout.clone())?;
        self.emit(Op::Slide { d: d.reg, t: x.reg, k: by, c });
        Ok(d)
    }

    fn code_of_value(&mut self, e: &Expr, a: &Array, env: &Env) -> Low<Reg> {
        let misfit = self.misfit;
        let x = self.expr(e, env, Some(&Layout::of_element(&a.values)))?;
        self.encode(&x, &a.values, misfit)
    }

    /// `size`, `first`, `last`, `front`, `tail`, `rev`. What is undefined is a misfit.
    pub(super) fn sequence_unary(
        &mut self,
        op: UnOp,
        e: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        let wish = want.filter(|_| matches!(op, UnOp::Front | UnOp::Tail | UnOp::Rev));
        let (x, n) = self.sequence_of(e, env, wish)?;
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let misfit = self.misfit;
        if !matches!(op, UnOp::Size | UnOp::Rev) {
            self.emit(Op::JumpEqImm { a: n, i: 0, l: misfit });
        }
        match op {
            UnOp::Size => Ok(Operand { reg: n, layout: Layout::Int }),
            UnOp::First => {
                let r = self.integer(0)?.reg;
                self.array_get(&x, r, misfit)
            }
            UnOp::Last => {
                let r = self.alloc(1)?;
                self.emit(Op::AddImm { d: r, a: n, i: -1 });
                self.array_get(&x, r, misfit)
            }
            UnOp::Front => {
                let r = self.alloc(1)?;
                self.emit(Op::AddImm { d: r, a: n, i: -1 });
                self.prefix(&x, r)
            }
            UnOp::Tail => {
                let by = self.integer(-1)?.reg;
                self.slide(&x, by)
            }
            UnOp::Rev => {
                let d = self.fresh(x.layout.clone())?;
                self.emit(Op::Reverse { d: d.reg, t: x.reg, n, c: a.cells() });
                Ok(d)
            }
            _ => unsupported("no lowering"),
        }
    }

    /// The first `n` elements.
    fn prefix(&mut self, x: &Operand, n: Reg) -> Low<Operand> {
        let Some(a) = x.array().cloned() else { return unsupported("no array") };
        let keep = self.fresh(Layout::Bits(a.rows.clone()))?;
        let one = self.integer(1)?.reg;
        let bits = a.rows.card() as u16;
        self.emit(Op::Interval { d: keep.reg, a: one, b: n, lo: 1, bits, clip: true });
        let d = self.fresh(x.layout.clone())?;
        self.emit(Op::RestrictCells { d: d.reg, t: x.reg, s: keep.reg, c: a.cells(), keep: true });
        Ok(d)
    }

    /// `s <- x`, `x -> s`, `s ^ t`, `s /|\ n`, `s \|/ n`.
    pub(super) fn sequence_binary(
        &mut self,
        op: BinOp,
        left: &Expr,
        right: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        let misfit = self.misfit;
        match op {
            BinOp::Append => {
                let (x, n) = self.sequence_of(left, env, want)?;
                let Some(a) = x.array().cloned() else { return unsupported("no array") };
                let value = self.code_of_value(right, &a, env)?;
                let full = self.integer(a.rows.card() as i64)?;
                self.emit(Op::JumpEq { a: n, b: full.reg, l: misfit });
                let d = self.duplicate(&x)?;
                self.array_put(&d, n, value)?;
                Ok(d)
            }
            BinOp::Prepend => {
                let (x, _) = self.sequence_of(right, env, want)?;
                let Some(a) = x.array().cloned() else { return unsupported("no array") };
                let value = self.code_of_value(left, &a, env)?;
                let one = self.integer(1)?.reg;
                let d = self.slide(&x, one)?;
                let first = self.integer(0)?.reg;
                self.array_put(&d, first, value)?;
                Ok(d)
            }
            BinOp::Concat => {
                let hint = match want {
                    Some(l) => Some(l.clone()),
                    None => self.hint(left, env).or_else(|| self.hint(right, env)),
                };
                let (x, n) = self.sequence_of(left, env, hint.as_ref())?;
                let (y, _) = self.sequence_of(right, env, Some(&x.layout))?;
                let y = self.slide(&y, n)?;
                let d = self.fresh(x.layout.clone())?;
                let c = d.cells()?;
                self.emit(Op::OverrideCells { d: d.reg, a: x.reg, b: y.reg, c });
                Ok(d)
            }
            BinOp::Take | BinOp::Drop => {
                let (x, n) = self.sequence_of(left, env, want)?;
                let k = self.int(right, env)?;
                self.emit(Op::JumpLtImm { a: k.reg, i: 0, l: misfit });
                self.emit(Op::JumpLt { a: n, b: k.reg, l: misfit });
                if op == BinOp::Take {
                    return self.prefix(&x, k.reg);
                }
                let zero = self.integer(0)?.reg;
                let by = self.alloc(1)?;
                self.emit(Op::Sub { d: by, a: zero, b: k.reg });
                self.slide(&x, by)
            }
            _ => unsupported("no lowering"),
        }
    }
}
