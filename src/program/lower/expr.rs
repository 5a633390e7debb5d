//! Expressions: scalars, pairs, records, sets and applications.
//!
//! Constant expressions are folded; what has no lowering is evaluated on values, at the smallest
//! subexpression that lacks one.

use super::*;
use crate::uses::{Reads, Uses};
use bombus_kernels::faults::fault;
use bombus_lang::typed::{BigOp, FunctionConst};

impl Lower<'_> {
    /// The value of `e`, in the layout `want` if given, else in one that suits it.
    pub fn expr(&mut self, e: &Expr, env: &Env, want: Option<&Layout>) -> Low<Operand> {
        let mark = self.here();
        let x = match self.folded(e, want)? {
            Some(x) => x,
            None => match self.expr_kind(e, env, want) {
                Ok(x) => x,
                Err(_) => {
                    self.rewind(mark);
                    self.general_expr(e, env, want)?
                }
            },
        };
        match want {
            Some(layout) => self.convert(x, layout),
            None => Ok(x),
        }
    }

    /// A set as a bit-set over whatever carrier suits it.
    pub(super) fn bits(&mut self, e: &Expr, env: &Env, want: Option<&Layout>) -> Low<Operand> {
        let x = self.expr(e, env, want)?;
        let x = self.as_bits(x)?;
        x.carrier()?;
        Ok(x)
    }

    /// Whether a formula speaks of constants alone.
    pub(super) fn is_constant(&self, uses: &Uses) -> bool {
        uses.olds.is_empty() && uses.reads.iter().all(|v| self.value_of(*v).is_some())
    }

    /// The same for an expression; it is asked of every expression of a model for each valuation of the constants.
    pub(super) fn is_constant_expr(&self, e: &Expr) -> bool {
        let is_open = |v| self.value_of(v).is_none();
        let open = Reads::of_expr(e, &is_open);
        open.is_none() && !open.has_old()
    }

    fn folded(&mut self, e: &Expr, want: Option<&Layout>) -> Low<Option<Operand>> {
        let value = match &e.kind {
            ExprKind::Int(n) => Some(Value::Int(n.clone())),
            ExprKind::Bool(b) => Some(Value::Bool(*b)),
            ExprKind::Elem(s, n) => Some(Value::Elem(*s, *n)),
            ExprKind::Var(v) => match self.value_of(*v) {
                Some(value) => Some(value.clone()),
                None => return Ok(None),
            },
            _ if self.is_constant_expr(e) => self.w.folder.value(e),
            _ => None,
        };
        Ok(match value {
            Some(v) if !v.mentions_symbolic() => self.literal(&v, &e.ty, want).ok(),
            _ => None,
        })
    }

    /// The layout that `e` would get by itself; nothing is emitted.
    pub(super) fn hint(&self, e: &Expr, env: &Env) -> Option<Layout> {
        if let Some(whole) = self.of_type(&e.ty) {
            return Some(whole);
        }
        self.hint_of_form(e, env).or_else(|| self.of_nested_type(&e.ty))
    }

    fn hint_of_form(&self, e: &Expr, env: &Env) -> Option<Layout> {
        let rel = |l: Option<Layout>| match l {
            Some(Layout::Bits(Carrier::Pair(p))) => Some((p.0.clone(), p.1.clone())),
            Some(Layout::Array(a)) => Some((a.rows.clone(), a.values.clone())),
            _ => None,
        };
        match &e.kind {
            ExprKind::Var(v) => match env.now.get(v) {
                Some(x) if !self.given.contains_key(v) => Some(x.layout.clone()),
                _ => self.natural(self.value_of(*v)?, &e.ty),
            },
            ExprKind::Old(v) => env.old.get(v).map(|x| x.layout.clone()),
            ExprKind::Unary(UnOp::Dom, a) => match self.hint(a, env)? {
                Layout::Table(t) => Some(Layout::Bits(t.0.clone())),
                l => rel(Some(l)).map(|p| Layout::Bits(p.0.clone())),
            },
            ExprKind::Unary(UnOp::Ran, a) => rel(self.hint(a, env)).map(|p| Layout::Bits(p.1.clone())),
            ExprKind::Unary(UnOp::Union, sets) => match &sets.kind {
                ExprKind::Unary(UnOp::Ran, f) => match self.hint(f, env)? {
                    Layout::Table(t) => super::table::union_layout(&t.1),
                    _ => None,
                },
                _ => None,
            },
            ExprKind::Unary(UnOp::Inverse, a) => {
                rel(self.hint(a, env)).map(|p| Layout::Bits(Carrier::pair(p.1.clone(), p.0.clone())))
            }
            ExprKind::Binary(BinOp::Image, r, _) => rel(self.hint(r, env)).map(|p| Layout::Bits(p.1.clone())),
            ExprKind::Binary(BinOp::DomRestrict | BinOp::DomSubtract, _, r) => {
                self.hint(r, env).map(without_totality)
            }
            ExprKind::Binary(BinOp::RanRestrict | BinOp::RanSubtract, r, _) => {
                self.hint(r, env).map(without_totality)
            }
            ExprKind::Binary(BinOp::SetMinus, r, _) => self.bits_hint(r, env),
            ExprKind::Unary(UnOp::Front | UnOp::Tail | UnOp::Rev, s)
            | ExprKind::Binary(BinOp::Append | BinOp::Take | BinOp::Drop, s, _)
            | ExprKind::Binary(BinOp::Prepend, _, s) => self.hint(s, env).map(without_totality),
            ExprKind::Binary(BinOp::Concat, a, b) => {
                self.hint(a, env).or_else(|| self.hint(b, env)).map(without_totality)
            }
            ExprKind::Unary(UnOp::First | UnOp::Last, s) => {
                rel(self.hint(s, env)).map(|p| Layout::of_element(&p.1))
            }
            ExprKind::Binary(BinOp::Inter, a, b) => self.bits_hint(a, env).or_else(|| self.bits_hint(b, env)),
            ExprKind::Binary(op @ (BinOp::Union | BinOp::Override), a, b) => {
                let side = |e| if *op == BinOp::Union { self.bits_hint(e, env) } else { self.hint(e, env) };
                match (side(a), side(b)) {
                    (Some(Layout::Bits(a)), Some(Layout::Bits(b))) => a.join(&b).map(Layout::Bits),
                    (Some(a), None) => Some(a),
                    (None, b) => b,
                    (a, _) => a,
                }
            }
            ExprKind::Binary(BinOp::Cartesian, a, b) => match (self.hint(a, env)?, self.hint(b, env)?) {
                (Layout::Bits(a), Layout::Bits(b)) => Some(Layout::Bits(Carrier::pair(a, b))),
                _ => None,
            },
            ExprKind::If(_, a, b) => self.hint(a, env).or_else(|| self.hint(b, env)),
            ExprKind::Apply(f, _) => match self.hint(f, env)? {
                Layout::Table(t) => Some(t.1.clone()),
                l => rel(Some(l)).map(|p| Layout::of_element(&p.1)),
            },
            ExprKind::Pair(a, b) => Some(Layout::pair(self.hint(a, env)?, self.hint(b, env)?)),
            ExprKind::Compr(vars, p) => self.comprehension_carrier(vars, p, None, env).map(Layout::Bits),
            ExprKind::Big(BigOp::Lambda, vars, p, body) => {
                self.comprehension_carrier(vars, p, Some(body), env).map(Layout::Bits)
            }
            ExprKind::Binary(BinOp::Interval, ..) | ExprKind::SetExt(_) if self.is_constant_expr(e) => {
                self.natural(&self.w.folder.value(e)?, &e.ty)
            }
            _ => None,
        }
    }

    /// The layout that `e` would get as a bit-set.
    pub(super) fn bits_hint(&self, e: &Expr, env: &Env) -> Option<Layout> {
        self.hint(e, env).map(|l| match l {
            Layout::Array(a) if a.matrix().card() <= crate::carrier::MAX_CARD => Layout::Bits(a.matrix()),
            l => l,
        })
    }

    fn expr_kind(&mut self, e: &Expr, env: &Env, want: Option<&Layout>) -> Low<Operand> {
        match &e.kind {
            ExprKind::Var(v) => match env.now.get(v) {
                Some(x) => Ok(x.clone()),
                None => unsupported("a variable without a value"),
            },
            ExprKind::Old(v) => match env.old.get(v) {
                Some(x) => Ok(x.clone()),
                None => unsupported("a variable without a value before"),
            },
            ExprKind::Pair(a, b) => {
                let (wa, wb) = match want {
                    Some(Layout::Pair(p)) => (Some(&p.0), Some(&p.1)),
                    _ => (None, None),
                };
                let (a, b) = (self.expr(a, env, wa)?, self.expr(b, env, wb)?);
                let layout = Layout::pair(a.layout.clone(), b.layout.clone());
                self.join(&[a, b], layout)
            }
            ExprKind::Rec(es) => {
                let mut parts = Vec::new();
                for (i, e) in es.iter().enumerate() {
                    let w = match want {
                        Some(Layout::Rec(ls)) => ls.get(i),
                        _ => None,
                    };
                    parts.push(self.expr(e, env, w)?);
                }
                let layout = Layout::Rec(parts.iter().map(|p| p.layout.clone()).collect());
                self.join(&parts, layout)
            }
            ExprKind::Field(r, i) => {
                let r = self.expr(r, env, None)?;
                r.field(*i).map_or_else(|| unsupported("a field of a pooled record"), Ok)
            }
            ExprKind::BoolOf(p) => {
                let d = self.fresh(Layout::Code(Carrier::Bool))?;
                self.truth(p, env, d.reg)?;
                Ok(d)
            }
            ExprKind::If(c, a, b) => {
                let layout = want
                    .cloned()
                    .or_else(|| self.hint(e, env))
                    .map_or_else(|| unsupported("IF without a layout"), Ok)?;
                let d = self.fresh(layout.clone())?;
                let (other, end) = (self.label(), self.label());
                self.jump_unless(c, env, other)?;
                let x = self.expr(a, env, Some(&layout))?;
                self.copy(&x, d.reg);
                self.emit(Op::Jump { l: end });
                self.place(other);
                let x = self.expr(b, env, Some(&layout))?;
                self.copy(&x, d.reg);
                self.place(end);
                Ok(d)
            }
            ExprKind::Let(bindings, body) => {
                let mut env = env.clone();
                for (v, e) in bindings {
                    let x = self.expr(e, &env, None)?;
                    env.now.insert(*v, x);
                }
                self.expr(body, &env, want)
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, e, env, want),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e, env, want),
            ExprKind::Apply(f, x) => self.apply(f, x, env),
            ExprKind::SetExt(es) => self.set_extension(es, e, env, want),
            ExprKind::SeqExt(es) => self.sequence_extension(es, e, env, want),
            ExprKind::Compr(vars, p) => self.comprehension(vars, p, None, env, want),
            ExprKind::Big(op, vars, p, body) => self.big(*op, vars, p, body, env, want),
            ExprKind::TypeSet(_) => match self.of_type(&e.ty) {
                Some(Layout::Bits(c)) => self.full(&c),
                _ => unsupported("an infinite set"),
            },
            _ => unsupported("no lowering"),
        }
    }

    /// The set of all elements of a carrier.
    pub(super) fn full(&mut self, c: &Carrier) -> Low<Operand> {
        let mut words = vec![0; c.words() as usize];
        bombus_kernels::bits::fill(&mut words, c.card());
        Ok(Operand { reg: self.constant(words)?, layout: Layout::Bits(c.clone()) })
    }

    /// Evaluates `e` on values.
    fn general_expr(&mut self, e: &Expr, env: &Env, want: Option<&Layout>) -> Low<Operand> {
        let layout = match want.cloned().or_else(|| self.hint(e, env)) {
            Some(l) => l,
            None => Layout::Pool,
        };
        let inputs = self.inputs(&Uses::of_expr(e), env)?;
        let out = self.fresh(layout)?;
        let touch = GeneralTouch {
            reads: inputs.iter().map(|i| (i.from.reg, i.from.words())).collect(),
            write: Some((out.reg, out.words())),
        };
        self.general(General::Expr { expr: e.clone(), inputs, out: out.clone() }, touch)?;
        Ok(out)
    }

    pub(super) fn inputs(&self, uses: &Uses, env: &Env) -> Low<Vec<Input>> {
        let mut inputs = Vec::new();
        for (vars, old) in [(&uses.reads, false), (&uses.olds, true)] {
            for v in vars {
                let from = if old { env.old.get(v) } else { env.now.get(v) };
                match from {
                    Some(x) => inputs.push(Input { var: *v, old, from: x.clone() }),
                    None if self.w.constants.contains_key(v) => {}
                    None => return unsupported("a variable without a value"),
                }
            }
        }
        Ok(inputs)
    }

    pub(super) fn int(&mut self, e: &Expr, env: &Env) -> Low<Operand> {
        self.expr(e, env, Some(&Layout::Int))
    }

    fn unary(&mut self, op: UnOp, a: &Expr, e: &Expr, env: &Env, want: Option<&Layout>) -> Low<Operand> {
        match op {
            UnOp::Neg if e.ty == Type::Integer => {
                let (zero, x) = (self.integer(0)?, self.int(a, env)?);
                let d = self.fresh(Layout::Int)?;
                self.emit(Op::Sub { d: d.reg, a: zero.reg, b: x.reg });
                Ok(d)
            }
            UnOp::Card => {
                let x = self.expr(a, env, None)?;
                if let Some(n) = x.array().filter(|a| a.total).map(|a| a.rows.card()) {
                    return self.integer(n as i64);
                }
                let x = self.rows_of(&x)?.unwrap_or(x);
                x.carrier()?;
                let d = self.fresh(Layout::Int)?;
                let words = if fault("lowering: card counts one word") { 1 } else { x.words() };
                self.emit(Op::Count { d: d.reg, a: x.reg, n: words });
                Ok(d)
            }
            UnOp::Min | UnOp::Max if e.ty == Type::Integer => self.extreme(op, a, env),
            UnOp::First2 | UnOp::Second2 => {
                let x = self.expr(a, env, None)?;
                let Some((first, second)) = x.halves() else { return unsupported("a pooled pair") };
                Ok(if op == UnOp::First2 { first } else { second })
            }
            UnOp::Size | UnOp::First | UnOp::Last | UnOp::Front | UnOp::Tail | UnOp::Rev => {
                self.sequence_unary(op, a, env, want)
            }
            UnOp::Union => match self.union_of_rows(a, env)? {
                Some(all) => Ok(all),
                None => self.relation_unary(op, a, env, want),
            },
            _ => self.relation_unary(op, a, env, want),
        }
    }

    /// `min(S)` and `max(S)`.
    fn extreme(&mut self, op: UnOp, set: &Expr, env: &Env) -> Low<Operand> {
        if let ExprKind::SetExt(es) = &set.kind
            && let [first, rest @ ..] = &es[..]
        {
            let mut x = self.int(first, env)?;
            for e in rest {
                let y = self.int(e, env)?;
                let d = self.fresh(Layout::Int)?;
                self.emit(match op {
                    UnOp::Min => Op::Min { d: d.reg, a: x.reg, b: y.reg },
                    _ => Op::Max { d: d.reg, a: x.reg, b: y.reg },
                });
                x = d;
            }
            return Ok(x);
        }
        if let Some(t) = self.range_of_table(set, env)? {
            return self.extreme_row(op, &t);
        }
        let x = self.bits(set, env, None)?;
        let c = x.carrier()?.clone();
        let code = self.alloc(1)?;
        let l = self.wd;
        self.emit(match op {
            UnOp::Min if !fault("lowering: min is max") => Op::Least { d: code, a: x.reg, n: x.words(), l },
            _ => Op::Greatest { d: code, a: x.reg, n: x.words(), l },
        });
        self.decode(code, &c)
    }

    fn binary(
        &mut self,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        e: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Power
                if e.ty == Type::Integer =>
            {
                self.arithmetic(op, a, b, env)
            }
            BinOp::Interval => {
                let Some(Layout::Bits(Carrier::Ints { lo, n })) = want else {
                    return unsupported("an interval without a window");
                };
                let (lo, bits) = (*lo, *n);
                let (x, y) = (self.int(a, env)?, self.int(b, env)?);
                let d = self.fresh(Layout::Bits(Carrier::Ints { lo, n: bits }))?;
                self.emit(Op::Interval { d: d.reg, a: x.reg, b: y.reg, lo, bits, clip: false });
                Ok(d)
            }
            BinOp::Append | BinOp::Prepend | BinOp::Concat | BinOp::Take | BinOp::Drop => {
                self.sequence_binary(op, a, b, env, want)
            }
            _ => self.relation_binary(op, a, b, e, env, want),
        }
    }

    fn arithmetic(&mut self, op: BinOp, a: &Expr, b: &Expr, env: &Env) -> Low<Operand> {
        let (x, y) = (self.int(a, env)?, self.int(b, env)?);
        if let (Some(a), Some(b)) = (self.known.get(&x.reg).copied(), self.known.get(&y.reg).copied()) {
            let value = match op {
                BinOp::Add => a.checked_add(b),
                BinOp::Sub => a.checked_sub(b),
                BinOp::Mul => a.checked_mul(b),
                BinOp::Mod if a >= 0 && b > 0 => Some(a % b),
                _ => None,
            };
            if let Some(n) = value {
                return self.integer(n);
            }
        }
        let d = self.fresh(Layout::Int)?;
        let (d_, a, b, l) = (d.reg, x.reg, y.reg, self.wd);
        self.emit(match op {
            BinOp::Add => match (self.immediate(&x), self.immediate(&y)) {
                (_, Some(i)) => Op::AddImm { d: d_, a, i },
                (Some(i), _) => Op::AddImm { d: d_, a: b, i },
                _ => Op::Add { d: d_, a, b },
            },
            BinOp::Sub if fault("lowering: minus is plus") => Op::Add { d: d_, a, b },
            BinOp::Sub => match self.immediate(&y).and_then(i32::checked_neg) {
                Some(i) => Op::AddImm { d: d_, a, i },
                None => Op::Sub { d: d_, a, b },
            },
            BinOp::Mul => Op::Mul { d: d_, a, b },
            BinOp::Div => Op::Div { d: d_, a, b, l },
            BinOp::Mod => Op::Mod { d: d_, a, b, l },
            _ => Op::Power { d: d_, a, b, l },
        });
        Ok(d)
    }

    /// `f(x)`.
    fn apply(&mut self, f: &Expr, x: &Expr, env: &Env) -> Low<Operand> {
        match &f.kind {
            ExprKind::Function(FunctionConst::Succ | FunctionConst::Pred) => {
                let i = if matches!(f.kind, ExprKind::Function(FunctionConst::Succ)) { 1 } else { -1 };
                let x = self.int(x, env)?;
                let d = self.fresh(Layout::Int)?;
                self.emit(Op::AddImm { d: d.reg, a: x.reg, i });
                return Ok(d);
            }
            ExprKind::Function(FunctionConst::Prj1 | FunctionConst::Prj2) => {
                let x = self.expr(x, env, None)?;
                let Some((a, b)) = x.halves() else { return unsupported("a pooled pair") };
                return Ok(if matches!(f.kind, ExprKind::Function(FunctionConst::Prj1)) { a } else { b });
            }
            ExprKind::Big(BigOp::Lambda, vars, p, body) if vars.len() == 1 => {
                let x = self.expr(x, env, None)?;
                let env = env.with(vars[0], x);
                let wd = self.wd;
                self.jump_unless(p, &env, wd)?;
                return self.expr(body, &env, None);
            }
            ExprKind::Unary(UnOp::Inverse, g) if !self.is_constant_expr(g) => {
                let g = self.expr(g, env, None)?;
                if let Some(row) = self.apply_inverse(&g, x, env)? {
                    return Ok(row);
                }
            }
            _ => {}
        }
        let wish = self.constant_array(f);
        let m = self.expr(f, env, wish.as_ref())?;
        if let Some((rows, _)) = m.table() {
            let rows = rows.clone();
            let x = self.expr(x, env, None)?;
            let wd = self.wd;
            let r = self.encode(&x, &rows, wd)?;
            return self.table_get(&m, r, wd);
        }
        if let Some(rows) = m.array().map(|a| a.rows.clone()) {
            let x = self.expr(x, env, None)?;
            let wd = self.wd;
            let r = self.encode(&x, &rows, wd)?;
            return self.array_get(&m, r, wd);
        }
        let (rows, cols) = m.matrix()?;
        let (rows, cols) = (rows.clone(), cols.clone());
        let x = self.expr(x, env, None)?;
        let wd = self.wd;
        let r = self.encode(&x, &rows, wd)?;
        let d = self.alloc(1)?;
        self.emit(Op::Single { d, m: m.reg, r, rows: rows.card() as u16, cols: cols.card() as u16, l: wd });
        self.decode(d, &cols)
    }

    /// `g~(x)`: the only row with the value `x`, without turning `g` round.
    fn apply_inverse(&mut self, g: &Operand, x: &Expr, env: &Env) -> Low<Option<Operand>> {
        let (rows, values) = match (g.array(), g.matrix()) {
            (Some(a), _) => (a.rows.clone(), a.values.clone()),
            (None, Ok((rows, cols))) => (rows.clone(), cols.clone()),
            (None, Err(_)) => return Ok(None),
        };
        let x = self.expr(x, env, None)?;
        let wd = self.wd;
        let code = self.encode(&x, &values, wd)?;
        let one = self.fresh_set(values.clone())?;
        self.emit(Op::Clear { d: one.reg, n: one.words() });
        self.put_bit(&one, code, true);
        let found = self.fresh_set(rows.clone())?;
        let (size, cols) = (rows.card() as u16, values.card() as u16);
        self.emit(match g.array() {
            Some(a) => Op::CellPreimage { d: found.reg, t: g.reg, s: one.reg, cols, c: a.cells() },
            None => Op::Preimage { d: found.reg, m: g.reg, s: one.reg, rows: size, cols },
        });
        let (d, first) = (self.alloc(1)?, self.constant(vec![0])?);
        self.emit(Op::Single { d, m: found.reg, r: first, rows: 1, cols: size, l: wd });
        self.decode(d, &rows).map(Some)
    }

    /// The array of a function over constants alone: cheaper to apply than its matrix.
    fn constant_array(&self, f: &Expr) -> Option<Layout> {
        let Type::Pow(pair) = &f.ty else { return None };
        if !matches!(**pair, Type::Prod(..)) || !self.is_constant_expr(f) {
            return None;
        }
        let value = match &f.kind {
            ExprKind::Var(v) => self.value_of(*v)?.clone(),
            _ => self.w.folder.value(f)?,
        };
        let Layout::Bits(Carrier::Pair(p)) = self.natural(&value, &f.ty)? else { return None };
        let Value::Set(maplets) = &value else { return None };
        [true, false].into_iter().find_map(|total| {
            let layout = Layout::array(p.0.clone(), p.1.clone(), total)?;
            let mut words = vec![0; layout.words() as usize];
            (!maplets.is_empty() && layout.encode(&value, self.w.pool, &mut words)).then_some(layout)
        })
    }

    fn set_extension(&mut self, es: &[Expr], e: &Expr, env: &Env, want: Option<&Layout>) -> Low<Operand> {
        if let Some(layout @ Layout::Table(_)) = want {
            let d = self.empty_table(layout)?;
            self.table_maplets(&d, es, env, true)?;
            return Ok(d);
        }
        if let Some(Layout::Array(a)) = want {
            return self.array_of_maplets(&a.clone(), es, env);
        }
        let known = || self.of_type(&e.ty).or_else(|| self.of_nested_type(&e.ty));
        let Some(Layout::Bits(c)) = want.cloned().or_else(known) else {
            return unsupported("a set without a carrier");
        };
        let d = self.fresh(Layout::Bits(c.clone()))?;
        let element = Layout::of_element(&c);
        // All elements are computed before the set is built: an element may have jumps inside.
        let mut parts = Vec::new();
        for e in es {
            parts.push(self.expr(e, env, Some(&element))?);
        }
        self.emit(Op::Clear { d: d.reg, n: d.words() });
        for x in parts {
            let misfit = self.misfit;
            let i = self.encode(&x, &c, misfit)?;
            self.put_bit(&d, i, true);
        }
        Ok(d)
    }

    fn sequence_extension(
        &mut self,
        es: &[Expr],
        e: &Expr,
        env: &Env,
        want: Option<&Layout>,
    ) -> Low<Operand> {
        if let Some(Layout::Array(a)) = want {
            return self.array_of_list(&a.clone(), es, env);
        }
        let Some(Layout::Bits(c)) = want.cloned().or_else(|| self.of_type(&e.ty)) else {
            return unsupported("a sequence without a carrier");
        };
        let Some((rows, cols)) = c.sides() else { return unsupported("a sequence as a set") };
        let element = Layout::of_element(cols);
        let (rows, cols) = (rows.clone(), cols.clone());
        let mut parts = Vec::new();
        for e in es {
            parts.push(self.expr(e, env, Some(&element))?);
        }
        let d = self.fresh(Layout::Bits(c.clone()))?;
        self.emit(Op::Clear { d: d.reg, n: d.words() });
        let misfit = self.misfit;
        for (k, x) in parts.iter().enumerate() {
            let Some(row) = rows.code(&Value::int(k as i64 + 1)) else {
                return unsupported("a sequence longer than its window");
            };
            let r = self.integer(row as i64)?.reg;
            let col = self.encode(x, &cols, misfit)?;
            let i = self.pair_code(r, col, cols.card())?;
            self.put_bit(&d, i, true);
        }
        Ok(d)
    }
}

/// What an operator leaves of a total function may be partial.
fn without_totality(l: Layout) -> Layout {
    match l {
        Layout::Array(a) => Layout::Array(std::sync::Arc::new(a.partial())),
        l => l,
    }
}
