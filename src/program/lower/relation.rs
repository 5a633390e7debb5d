//! Operators on sets and relations, as bit kernels.

use super::*;

fn size(c: &Carrier) -> u16 {
    c.card() as u16
}

impl Lower<'_> {
    pub(super) fn relation_unary(
        &mut self,
        op: UnOp,
        a: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        // Only the inverse can hand a wish on: the others lose one side of the relation.
        let inner = match (op, want) {
            (UnOp::Inverse, Some(Layout::Bits(Carrier::Pair(p)))) => {
                Some(Layout::Bits(Carrier::pair(p.1.clone(), p.0.clone())))
            }
            (UnOp::Closure1 | UnOp::Closure, Some(l)) => Some(l.clone()),
            _ => None,
        };
        let x = self.expr(a, env, inner.as_ref())?;
        if op == UnOp::Dom
            && let Some(rows) = self.rows_of(&x)?
        {
            return Ok(rows);
        }
        if op == UnOp::Ran && x.array().is_some() {
            return self.array_values(&x);
        }
        let x = self.as_bits(x)?;
        x.carrier()?;
        if op == UnOp::Id {
            let c = x.carrier()?.clone();
            let d = self.fresh_set(Carrier::pair(c.clone(), c.clone()))?;
            self.emit(Op::Identity { d: d.reg, s: x.reg, size: size(&c) });
            return Ok(d);
        }
        let (r, c) = x.matrix()?;
        let (r, c) = (r.clone(), c.clone());
        let (m, rows, cols) = (x.reg, size(&r), size(&c));
        match op {
            UnOp::Dom => {
                let d = self.fresh_set(r)?;
                self.emit(Op::Dom { d: d.reg, m, rows, cols });
                Ok(d)
            }
            UnOp::Ran => {
                let d = self.fresh_set(c)?;
                self.emit(Op::Ran { d: d.reg, m, rows, cols });
                Ok(d)
            }
            UnOp::Inverse => {
                let d = self.fresh_set(Carrier::pair(c, r))?;
                self.emit(Op::Inverse { d: d.reg, m, rows, cols });
                Ok(d)
            }
            UnOp::Closure1 | UnOp::Closure => {
                // Over windows the closure may leave the smaller side; a square one is closed.
                let square =
                    if r == c { r } else { r.join(&c).map_or_else(|| unsupported("closure"), Ok)? };
                let x = self.remap(&x, &Carrier::pair(square.clone(), square.clone()), false)?;
                let d = self.fresh_set(Carrier::pair(square.clone(), square.clone()))?;
                self.emit(Op::Closure1 { d: d.reg, m: x.reg, size: size(&square) });
                if op == UnOp::Closure1 {
                    return Ok(d);
                }
                if !square.is_whole_type() {
                    return unsupported("the reflexive closure over integers");
                }
                let all = self.full(&square)?;
                let id = self.fresh_set(Carrier::pair(square.clone(), square.clone()))?;
                self.emit(Op::Identity { d: id.reg, s: all.reg, size: size(&square) });
                self.emit(Op::Or { d: d.reg, a: d.reg, b: id.reg, n: d.words() });
                Ok(d)
            }
            _ => unsupported("no lowering"),
        }
    }

    pub(super) fn fresh_set(&mut self, c: Carrier) -> Low<Operand> {
        if c.card() > super::super::carrier::MAX_CARD {
            return unsupported("a set too large for bits");
        }
        self.fresh(Layout::Bits(c))
    }

    /// Two sets over one carrier that has room for both.
    pub(super) fn alike(
        &mut self,
        a: &Expr,
        b: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<(Operand, Operand)> {
        let wish = match want {
            Some(l) => Some(l.clone()),
            None => match (self.bits_hint(a, env), self.bits_hint(b, env)) {
                (Some(Layout::Bits(x)), Some(Layout::Bits(y))) => x.join(&y).map(Layout::Bits),
                (Some(l @ Layout::Bits(_)), None) | (None, Some(l @ Layout::Bits(_))) => Some(l),
                _ => None,
            },
        };
        let (x, y) = (self.bits(a, env, wish.as_ref())?, self.bits(b, env, wish.as_ref())?);
        self.unified(x, y)
    }

    pub(super) fn unified(&mut self, x: Operand, y: Operand) -> Low<(Operand, Operand)> {
        if x.layout == y.layout {
            return Ok((x, y));
        }
        let Some(c) = x.carrier()?.join(y.carrier()?) else {
            return unsupported("two sets without a common carrier");
        };
        Ok((self.remap(&x, &c, false)?, self.remap(&y, &c, false)?))
    }

    pub(super) fn relation_binary(
        &mut self,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        e: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        match op {
            BinOp::Union => {
                if let Some(d) = self.union_of_functions(a, b, env, want)? {
                    return Ok(d);
                }
                // `s \/ {x}` is an insertion.
                if let ExprKind::SetExt(es) = &b.kind {
                    if let Some(layout @ Layout::Array(_)) = want {
                        return self.array_update(a, es, env, layout, true);
                    }
                    if let Some(layout @ Layout::Table(_)) = want.cloned().or_else(|| self.hint(a, env)) {
                        let t = self.expr(a, env, Some(&layout))?;
                        let d = self.duplicate(&t)?;
                        self.table_maplets(&d, es, env, true)?;
                        return Ok(d);
                    }
                    return self.with_elements(a, es, env, want, true);
                }
                let (x, y) = self.alike(a, b, env, want)?;
                let d = self.fresh(x.layout.clone())?;
                self.emit(Op::Or { d: d.reg, a: x.reg, b: y.reg, n: d.words() });
                Ok(d)
            }
            BinOp::Inter => {
                let x = self.bits(a, env, None)?;
                let y = self.set_over(b, x.carrier()?.clone(), env)?;
                let d = self.fresh(x.layout.clone())?;
                self.emit(Op::And { d: d.reg, a: x.reg, b: y.reg, n: d.words() });
                Ok(d)
            }
            BinOp::SetMinus => {
                if let ExprKind::SetExt(es) = &b.kind {
                    return self.with_elements(a, es, env, want, false);
                }
                let x = self.bits(a, env, None)?;
                let y = self.set_over(b, x.carrier()?.clone(), env)?;
                let d = self.fresh(x.layout.clone())?;
                self.emit(Op::AndNot { d: d.reg, a: x.reg, b: y.reg, n: d.words() });
                Ok(d)
            }
            BinOp::Cartesian => {
                if let (Some(layout @ Layout::Table(_)), ExprKind::SetExt(es)) = (want, &b.kind)
                    && let [only] = &es[..]
                {
                    return self.table_product(a, only, layout, env);
                }
                if let (Some(Layout::Array(layout)), ExprKind::SetExt(es)) = (want, &b.kind)
                    && let [only] = &es[..]
                {
                    return self.array_product(a, only, &layout.clone(), env);
                }
                let (wa, wb) = match want {
                    Some(Layout::Bits(Carrier::Pair(p))) => {
                        (Some(Layout::Bits(p.0.clone())), Some(Layout::Bits(p.1.clone())))
                    }
                    _ => (None, None),
                };
                let (x, y) = (self.bits(a, env, wa.as_ref())?, self.bits(b, env, wb.as_ref())?);
                let (r, c) = (x.carrier()?.clone(), y.carrier()?.clone());
                let d = self.fresh_set(Carrier::pair(r.clone(), c.clone()))?;
                self.emit(Op::Product { d: d.reg, a: x.reg, b: y.reg, rows: size(&r), cols: size(&c) });
                Ok(d)
            }
            BinOp::Override => {
                let wish = match want {
                    Some(l) => Some(l.clone()),
                    None => self.hint(a, env),
                };
                if let Some(layout @ Layout::Array(_)) = &wish {
                    if let ExprKind::SetExt(es) = &b.kind {
                        return self.array_update(a, es, env, layout, false);
                    }
                    let x = self.expr(a, env, Some(layout))?;
                    return self.array_override(&x, b, env);
                }
                if let Some(layout @ Layout::Table(_)) = want.cloned().or_else(|| self.hint(a, env)) {
                    let t = self.expr(a, env, Some(&layout))?;
                    if let ExprKind::SetExt(es) = &b.kind {
                        let d = self.duplicate(&t)?;
                        self.table_maplets(&d, es, env, false)?;
                        return Ok(d);
                    }
                    let other = self.expr(b, env, Some(&layout))?;
                    return self.table_override(&t, &other);
                }
                if let ExprKind::SetExt(es) = &b.kind
                    && !es.is_empty()
                    && es.len() <= 4
                    && es.iter().all(|e| matches!(e.kind, ExprKind::Pair(..)))
                {
                    return self.update(a, es, env, want);
                }
                let (x, y) = self.alike(a, b, env, want)?;
                let (r, c) = x.matrix()?;
                let (rows, cols) = (size(r), size(c));
                let d = self.fresh(x.layout.clone())?;
                self.emit(Op::Override { d: d.reg, a: x.reg, b: y.reg, rows, cols });
                Ok(d)
            }
            BinOp::DomRestrict | BinOp::DomSubtract => {
                // Of a total function less than all is wanted only in the end.
                let wish = want.filter(|l| !matches!(l, Layout::Array(a) if a.total));
                let m = self.expr(b, env, wish)?;
                if m.table().is_some() {
                    return self.table_restrict(&m, a, op == BinOp::DomRestrict, env);
                }
                if m.array().is_some() {
                    return self.array_restrict(&m, a, op == BinOp::DomRestrict, env);
                }
                let (r, c) = m.matrix()?;
                let (rows, cols, r) = (size(r), size(c), r.clone());
                let s = self.set_over(a, r, env)?;
                let d = self.fresh(m.layout.clone())?;
                let keep = op == BinOp::DomRestrict;
                self.emit(Op::RestrictRows { d: d.reg, m: m.reg, s: s.reg, rows, cols, keep });
                Ok(d)
            }
            BinOp::RanRestrict | BinOp::RanSubtract => {
                let wish = want.filter(|l| !matches!(l, Layout::Array(a) if a.total));
                let m = self.expr(a, env, wish)?;
                if m.array().is_some() {
                    return self.array_restrict_values(&m, b, op == BinOp::RanRestrict, env);
                }
                let (r, c) = m.matrix()?;
                let (rows, cols, c) = (size(r), size(c), c.clone());
                let s = self.set_over(b, c, env)?;
                let d = self.fresh(m.layout.clone())?;
                let keep = op == BinOp::RanRestrict;
                self.emit(Op::RestrictCols { d: d.reg, m: m.reg, s: s.reg, rows, cols, keep });
                Ok(d)
            }
            BinOp::Image => self.image(a, b, env),
            BinOp::Compose => {
                let (x, y) = (self.bits(a, env, None)?, self.bits(b, env, None)?);
                let (r, m1) = x.matrix()?;
                let (m2, c) = y.matrix()?;
                let (r, mid, other, c) = (r.clone(), m1.clone(), m2.clone(), c.clone());
                // What the second relation cannot take up leads nowhere.
                let x = if mid == other {
                    x
                } else {
                    self.remap(&x, &Carrier::pair(r.clone(), other.clone()), true)?
                };
                let d = self.fresh_set(Carrier::pair(r.clone(), c.clone()))?;
                self.emit(Op::Compose {
                    d: d.reg,
                    a: x.reg,
                    b: y.reg,
                    rows: size(&r),
                    mid: size(&other),
                    cols: size(&c),
                });
                Ok(d)
            }
            _ => unsupported(format!("no lowering for an operator of type {:?}", e.ty)),
        }
    }

    /// A set over a given carrier, elements outside dropped: for operators that only ask which
    /// elements of the carrier belong to it.
    pub(super) fn set_over(&mut self, s: &Expr, c: Carrier, env: &Env) -> Low<Operand> {
        if let Some(mask) = self.mask(s, &c)? {
            return Ok(mask);
        }
        if let (ExprKind::Binary(BinOp::Interval, a, b), Carrier::Ints { lo, n }) = (&s.kind, &c) {
            let (x, y) = (self.int(a, env)?, self.int(b, env)?);
            if let (Some(a), Some(b)) = (self.known.get(&x.reg), self.known.get(&y.reg)) {
                let mut words = vec![0; c.words() as usize];
                for code in 0..i64::from(*n) {
                    if (*a..=*b).contains(&(code + i64::from(*lo))) {
                        bombus_kernels::bits::insert(&mut words, code as usize);
                    }
                }
                return Ok(Operand { reg: self.constant(words)?, layout: Layout::Bits(c) });
            }
            let (lo, bits) = (*lo, *n);
            let d = self.fresh(Layout::Bits(c))?;
            self.emit(Op::Interval { d: d.reg, a: x.reg, b: y.reg, lo, bits, clip: true });
            return Ok(d);
        }
        if let Some(side) = self.side_of_maplets(s, env)? {
            return self.set_over(&side, c, env);
        }
        if let ExprKind::SetExt(es) = &s.kind {
            let d = self.fresh(Layout::Bits(c.clone()))?;
            let mut parts = Vec::new();
            for e in es {
                parts.push(self.expr(e, env, None)?);
            }
            self.emit(Op::Clear { d: d.reg, n: d.words() });
            for x in parts {
                let outside = self.label();
                let i = self.encode(&x, &c, outside)?;
                self.put_bit(&d, i, true);
                self.place(outside);
            }
            return Ok(d);
        }
        let x = self.bits(s, env, None)?;
        self.remap(&x, &c, true)
    }

    /// The elements of a carrier that belong to a set over constants, which may be infinite.
    pub(super) fn mask(&mut self, s: &Expr, c: &Carrier) -> Low<Option<Operand>> {
        match self.mask_words(s, c) {
            Some(words) => Ok(Some(Operand { reg: self.constant(words)?, layout: Layout::Bits(c.clone()) })),
            None => Ok(None),
        }
    }

    pub(super) fn mask_words(&self, s: &Expr, c: &Carrier) -> Option<Vec<u64>> {
        let uses = crate::uses::Uses::of_expr(s);
        // A set that is undefined at some point has no elements, whatever points are asked for.
        if !self.is_constant(&uses) || uses.partial && self.w.folder.value(s).is_none() {
            return None;
        }
        let mut words = vec![0; c.words() as usize];
        for code in 0..c.card() {
            if self.w.folder.member(&c.value(code), s)? {
                bombus_kernels::bits::insert(&mut words, code);
            }
        }
        Some(words)
    }

    /// `s \/ {x,…}` and `s - {x,…}`.
    fn with_elements(
        &mut self,
        s: &Expr,
        es: &[Expr],
        env: &Env,
        want: Option<&Layout>,
        add: bool,
    ) -> Low<Operand> {
        let wish = want.cloned().or_else(|| self.bits_hint(s, env));
        let x = self.bits(s, env, if add { wish.as_ref() } else { None })?;
        let c = x.carrier()?.clone();
        let element = Layout::of_element(&c);
        let mut codes = Vec::new();
        let misfit = self.misfit;
        let mut parts = Vec::new();
        for e in es {
            parts.push(self.expr(e, env, Some(&element))?);
        }
        let d = self.duplicate(&x)?;
        for x in parts {
            if add {
                codes.push(self.encode(&x, &c, misfit)?);
            } else {
                let outside = self.label();
                let i = self.encode(&x, &c, outside)?;
                self.put_bit(&d, i, false);
                self.place(outside);
            }
        }
        for i in codes {
            self.put_bit(&d, i, true);
        }
        Ok(d)
    }

    /// `f <+ {k|->v, …}`.
    fn update(&mut self, f: &Expr, maplets: &[Expr], env: &Env, want: Option<&Layout>) -> Low<Operand> {
        let wish = want.cloned().or_else(|| self.hint(f, env));
        let m = self.bits(f, env, wish.as_ref())?;
        let (r, c) = m.matrix()?;
        let (r, c) = (r.clone(), c.clone());
        let misfit = self.misfit;
        let mut places: Vec<(Reg, Reg)> = Vec::new();
        for maplet in maplets {
            let ExprKind::Pair(k, v) = &maplet.kind else { return unsupported("a maplet that is no pair") };
            let x = self.expr(k, env, Some(&Layout::of_element(&r)))?;
            let y = self.expr(v, env, Some(&Layout::of_element(&c)))?;
            let row = self.encode(&x, &r, misfit)?;
            let col = self.encode(&y, &c, misfit)?;
            // Two maplets with one key would both stay; that is left to the interpreter.
            for (other, _) in &places {
                self.emit(Op::JumpEq { a: *other, b: row, l: misfit });
            }
            places.push((row, col));
        }
        let d = self.duplicate(&m)?;
        for (row, col) in places {
            self.emit(Op::PutSingle { d: d.reg, r: row, c: col, rows: size(&r), cols: size(&c) });
        }
        Ok(d)
    }

    /// `r[S]`; one row when S is a single element.
    fn image(&mut self, r: &Expr, s: &Expr, env: &Env) -> Low<Operand> {
        if let ExprKind::Unary(UnOp::Inverse, f) = &r.kind
            && !self.is_constant_expr(f)
        {
            let x = self.expr(f, env, None)?;
            if x.array().is_some() {
                return self.array_preimage(&x, s, env);
            }
            if let Ok((rc, cc)) = x.matrix() {
                let (rc, cc) = (rc.clone(), cc.clone());
                let s = self.set_over(s, cc.clone(), env)?;
                let (rows, cols) = (size(&rc), size(&cc));
                let d = self.fresh_set(rc)?;
                self.emit(Op::Preimage { d: d.reg, m: x.reg, s: s.reg, rows, cols });
                return Ok(d);
            }
        }
        let m = self.expr(r, env, None)?;
        if m.array().is_some() {
            return self.array_image(&m, s, env);
        }
        let (rc, cc) = m.matrix()?;
        let (rc, cc) = (rc.clone(), cc.clone());
        let (rows, cols) = (size(&rc), size(&cc));
        let d = self.fresh_set(cc)?;
        if let ExprKind::SetExt(es) = &s.kind
            && let [only] = &es[..]
        {
            let x = self.expr(only, env, None)?;
            let (outside, end) = (self.label(), self.label());
            let row = self.encode(&x, &rc, outside)?;
            self.emit(Op::Row { d: d.reg, m: m.reg, r: row, rows, cols });
            self.emit(Op::Jump { l: end });
            self.place(outside);
            self.emit(Op::Clear { d: d.reg, n: d.words() });
            self.place(end);
            return Ok(d);
        }
        let s = self.set_over(s, rc, env)?;
        self.emit(Op::Image { d: d.reg, m: m.reg, s: s.reg, rows, cols });
        Ok(d)
    }
}
