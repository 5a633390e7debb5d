//! Predicates as jumps: control falls through or leaves.
//!
//! A conjunction is false when one conjunct is, even if an earlier one is undefined; so an undefined
//! conjunct that is not the last is a misfit and left to the interpreter. The other connectives go
//! from left to right and hand undefinedness on.

use super::*;
use crate::plan;
use crate::uses::Uses;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{PredKind, RelOp};
use std::sync::Arc;

impl Lower<'_> {
    /// Falls through when `p` holds, else goes to `l`.
    pub fn jump_unless(&mut self, p: &Pred, env: &Env, l: Label) -> Low<()> {
        self.branch(p, env, l, false)
    }

    /// Falls through when `p` does not hold, else goes to `l`.
    pub fn jump_if(&mut self, p: &Pred, env: &Env, l: Label) -> Low<()> {
        self.branch(p, env, l, true)
    }

    /// Goes to `l` when the truth of `p` is `when`.
    fn branch(&mut self, p: &Pred, env: &Env, l: Label, when: bool) -> Low<()> {
        let mark = self.here();
        match self.branch_kind(p, env, l, when) {
            Ok(()) => Ok(()),
            Err(_) => {
                self.rewind(mark);
                self.general_pred(p, env, l, when)
            }
        }
    }

    fn branch_kind(&mut self, p: &Pred, env: &Env, l: Label, when: bool) -> Low<()> {
        match &p.kind {
            PredKind::True | PredKind::False => {
                if matches!(p.kind, PredKind::True) == when {
                    self.emit(Op::Jump { l });
                }
                Ok(())
            }
            PredKind::Label(_, q) => self.branch(q, env, l, when),
            PredKind::Not(q) => self.branch(q, env, l, !when),
            PredKind::And(ps) => {
                let end = self.label();
                let misfit = self.misfit;
                let ps = &ps[..ps.len() - usize::from(fault("lowering: the last conjunct is lost"))];
                for (i, q) in ps.iter().enumerate() {
                    let last = i + 1 == ps.len();
                    let wd = if last { self.wd } else { misfit };
                    self.with_wd(wd, |s| match (when, last) {
                        (false, _) => s.jump_unless(q, env, l),
                        (true, true) => s.jump_if(q, env, l),
                        (true, false) => s.jump_unless(q, env, end),
                    })?;
                }
                if ps.is_empty() && when {
                    self.emit(Op::Jump { l });
                }
                self.place(end);
                Ok(())
            }
            PredKind::Or(ps) => {
                let end = self.label();
                let ps = &ps[usize::from(fault("lowering: the first disjunct is lost"))..];
                for (i, q) in ps.iter().enumerate() {
                    match (when, i + 1 == ps.len()) {
                        (true, _) => self.jump_if(q, env, l)?,
                        (false, true) => self.jump_unless(q, env, l)?,
                        (false, false) => self.jump_if(q, env, end)?,
                    }
                }
                if ps.is_empty() && !when {
                    self.emit(Op::Jump { l });
                }
                self.place(end);
                Ok(())
            }
            PredKind::Implies(a, b) => {
                if when {
                    self.jump_unless(a, env, l)?;
                    self.jump_if(b, env, l)
                } else {
                    let end = self.label();
                    if !fault("lowering: an implication is its conclusion") {
                        self.jump_unless(a, env, end)?;
                    }
                    self.jump_unless(b, env, l)?;
                    self.place(end);
                    Ok(())
                }
            }
            PredKind::Iff(a, b) => {
                let (x, y) = (self.alloc(1)?, self.alloc(1)?);
                self.truth(a, env, x)?;
                self.truth(b, env, y)?;
                let when = when != fault("lowering: an equivalence is turned round");
                self.emit(if when { Op::JumpEq { a: x, b: y, l } } else { Op::JumpNe { a: x, b: y, l } });
                Ok(())
            }
            PredKind::If(c, a, b) => {
                let (other, end) = (self.label(), self.label());
                self.jump_unless(c, env, other)?;
                self.branch(a, env, l, when)?;
                self.emit(Op::Jump { l: end });
                self.place(other);
                self.branch(b, env, l, when)?;
                self.place(end);
                Ok(())
            }
            PredKind::Let(bindings, body) => {
                let mut env = env.clone();
                for (v, e) in bindings {
                    let x = self.expr(e, &env, None)?;
                    env.now.insert(*v, x);
                }
                self.branch(body, &env, l, when)
            }
            PredKind::Rel(op, a, b) => self.comparison(*op, a, b, env, l, when),
            PredKind::Forall(vars, body) => {
                let (hypotheses, conclusion) = antecedents(body);
                let end = self.label();
                let misfit = self.misfit;
                let no = if when { end } else { l };
                self.with_wd(misfit, |s| {
                    s.search(vars, hypotheses, env, &mut |s, env, _| match &conclusion {
                        Some(_) if fault("lowering: a conclusion for all values is not looked at") => Ok(()),
                        Some(q) => s.jump_unless(q, env, no),
                        None => {
                            s.emit(Op::Jump { l: no });
                            Ok(())
                        }
                    })
                })?;
                if when {
                    self.emit(Op::Jump { l });
                }
                self.place(end);
                Ok(())
            }
            PredKind::Exists(vars, body) => {
                let end = self.label();
                let misfit = self.misfit;
                let yes = if when { l } else { end };
                self.with_wd(misfit, |s| {
                    s.search(vars, plan::conjuncts(body), env, &mut |s, _, _| {
                        s.emit(Op::Jump { l: yes });
                        Ok(())
                    })
                })?;
                if !when {
                    self.emit(Op::Jump { l });
                }
                self.place(end);
                Ok(())
            }
            PredKind::Finite(e) => {
                self.bits(e, env, None)?;
                if when {
                    self.emit(Op::Jump { l });
                }
                Ok(())
            }
            PredKind::Partition(..) | PredKind::External(..) => unsupported("no lowering"),
        }
    }

    /// The truth of `p` as 0 or 1.
    pub(super) fn truth(&mut self, p: &Pred, env: &Env, d: Reg) -> Low<()> {
        let (no, end) = (self.label(), self.label());
        self.jump_unless(p, env, no)?;
        self.emit(Op::Const { d, v: 1 });
        self.emit(Op::Jump { l: end });
        self.place(no);
        self.emit(Op::Const { d, v: i64::from(fault("lowering: bool(P) is TRUE")) });
        self.place(end);
        Ok(())
    }

    fn general_pred(&mut self, p: &Pred, env: &Env, l: Label, when: bool) -> Low<()> {
        let inputs = self.inputs(&Uses::of_pred(p), env)?;
        let out = self.alloc(1)?;
        let touch = GeneralTouch {
            reads: inputs.iter().map(|i| (i.from.reg, i.from.words())).collect(),
            write: Some((out, 1)),
        };
        self.general(General::Pred { pred: p.clone(), inputs, out }, touch)?;
        self.emit(if when { Op::JumpNeImm { a: out, i: 0, l } } else { Op::JumpEqImm { a: out, i: 0, l } });
        Ok(())
    }

    fn comparison(&mut self, op: RelOp, a: &Expr, b: &Expr, env: &Env, l: Label, when: bool) -> Low<()> {
        match op {
            RelOp::NotEqual => self.comparison(RelOp::Equal, a, b, env, l, !when),
            RelOp::NotIn => self.comparison(RelOp::In, a, b, env, l, !when),
            RelOp::NotSubset => self.comparison(RelOp::Subset, a, b, env, l, !when),
            RelOp::NotStrictSubset => self.comparison(RelOp::StrictSubset, a, b, env, l, !when),
            RelOp::Equal => {
                // `S = {}` needs no second set.
                for (set, other) in [(a, b), (b, a)] {
                    if matches!(&other.kind, ExprKind::SetExt(es) if es.is_empty()) {
                        if let Some((a, b)) = self.two_comprehensions(set, env) {
                            return self.disjoint(a, b, env, l, when);
                        }
                        let x = self.expr(set, env, None)?;
                        if x.array().is_some_and(|a| a.total) {
                            if !when {
                                self.emit(Op::Jump { l });
                            }
                            return Ok(());
                        }
                        // A partial array without values is all zeros.
                        let x = x.presence().unwrap_or(x);
                        if x.array().is_none() {
                            x.carrier()?;
                        }
                        let (a, n) = (x.reg, x.words());
                        self.emit(if when {
                            Op::JumpEmpty { a, n, l }
                        } else {
                            Op::JumpNotEmpty { a, n, l }
                        });
                        return Ok(());
                    }
                }
                if matches!(a.ty, Type::Pow(_)) {
                    let table =
                        |h: Option<Layout>| h.filter(|l| matches!(l, Layout::Table(_)) && !l.has_pool());
                    if let Some(layout) = table(self.hint(a, env)).or_else(|| table(self.hint(b, env))) {
                        let x = self.expr(a, env, Some(&layout))?;
                        let y = self.expr(b, env, Some(&layout))?;
                        return self.equal(&x, &y, l, when);
                    }
                    if let Some(layout) = self.common_array(a, b, env) {
                        let x = self.expr(a, env, Some(&layout))?;
                        let y = self.expr(b, env, Some(&layout))?;
                        return self.equal(&x, &y, l, when);
                    }
                    let (x, y) = self.alike(a, b, env, None)?;
                    return self.equal(&x, &y, l, when);
                }
                let mark = self.here();
                let (x, y) = (self.expr(a, env, None)?, self.expr(b, env, None)?);
                for (e, x, y) in [(a, &x, &y), (b, &y, &x)] {
                    if matches!(e.kind, ExprKind::Apply(..))
                        && let Some(i) = self.immediate(y)
                        && self.fuse_equal(x, i, mark, l, when)
                    {
                        return Ok(());
                    }
                }
                self.equal(&x, &y, l, when)
            }
            RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual => {
                if a.ty != Type::Integer {
                    return unsupported("reals");
                }
                let (x, y) = (self.int(a, env)?, self.int(b, env)?);
                self.order(op, &x, &y, l, when);
                Ok(())
            }
            RelOp::In => self.membership(a, b, env, l, when),
            RelOp::Subset => {
                if let Some(t) = self.range_of_table(a, env)? {
                    self.need(&[b], env)?;
                    let no = if when { self.label() } else { l };
                    self.each_row(&t, &mut |s, _, value| s.member(value, b, env, no, false))?;
                    if when {
                        self.emit(Op::Jump { l });
                        self.place(no);
                    }
                    return Ok(());
                }
                let x = self.bits(a, env, None)?;
                self.inclusion(&x, b, env, l, when)
            }
            RelOp::StrictSubset => {
                let (x, y) = self.alike(a, b, env, None)?;
                let (a, b, n) = (x.reg, y.reg, x.words());
                if when {
                    let end = self.label();
                    self.emit(Op::JumpNotSubset { a, b, n, l: end });
                    self.emit(Op::JumpDiffer { a, b, n, l });
                    self.place(end);
                } else {
                    self.emit(Op::JumpNotSubset { a, b, n, l });
                    if !fault("lowering: a strict subset may be the whole") {
                        self.emit(Op::JumpSame { a, b, n, l });
                    }
                }
                Ok(())
            }
        }
    }

    /// The two sides of an intersection of comprehensions that has no place in registers.
    fn two_comprehensions<'e>(
        &self,
        set: &'e Expr,
        env: &Env,
    ) -> Option<(Comprehension<'e>, Comprehension<'e>)> {
        let ExprKind::Binary(BinOp::Inter, a, b) = &set.kind else { return None };
        let (ExprKind::Compr(v, p), ExprKind::Compr(w, q)) = (&a.kind, &b.kind) else { return None };
        let ty = |v: &VarId| &self.w.machine.var(*v).ty;
        let alike = v.len() == w.len() && v.iter().zip(w).all(|(v, w)| ty(v) == ty(w));
        (alike && self.hint(set, env).is_none()).then_some(((v, p), (w, q)))
    }

    /// Goes to `l` when the truth of "no element of `a` is one of `b`" is `when`: a search for such an element.
    fn disjoint(&mut self, a: Comprehension, b: Comprehension, env: &Env, l: Label, when: bool) -> Low<()> {
        let end = self.label();
        let misfit = self.misfit;
        let common = if when { end } else { l };
        self.with_wd(misfit, |s| {
            // Both sets must have a value, also where the first is empty.
            if Uses::of_pred(b.1).partial {
                s.search(b.0, plan::conjuncts(b.1), env, &mut |_, _, _| Ok(()))?;
            }
            s.search(a.0, plan::conjuncts(a.1), env, &mut |s, inner, _| {
                let mut both = inner.clone();
                for (v, w) in a.0.iter().zip(b.0) {
                    let Some(x) = inner.now.get(v) else { return unsupported("an element without a place") };
                    both.now.insert(*w, x.clone());
                }
                s.jump_if(b.1, &both, common)
            })
        })?;
        if when {
            self.emit(Op::Jump { l });
        }
        self.place(end);
        Ok(())
    }

    /// The array layout in which two functions can be compared: both are arrays, or one is and the
    /// other is a known function that fits.
    fn common_array(&self, a: &Expr, b: &Expr, env: &Env) -> Option<Layout> {
        let fits =
            |e: &Expr, layout: &Layout| {
                self.is_constant_expr(e)
                    && self.w.folder.value(e).is_some_and(|v| {
                        layout.encode(&v, self.w.pool, &mut vec![0; layout.words() as usize])
                    })
            };
        match (self.hint(a, env), self.hint(b, env)) {
            (Some(x @ Layout::Array(_)), Some(y)) if x == y => Some(x),
            (Some(Layout::Array(x)), Some(Layout::Array(y))) if x.rows == y.rows && x.values == y.values => {
                Some(Layout::Array(Arc::new(x.partial())))
            }
            (Some(x @ Layout::Array(_)), _) if fits(b, &x) => Some(x),
            (_, Some(y @ Layout::Array(_))) if fits(a, &y) => Some(y),
            _ => None,
        }
    }

    /// Turns the read of a cell that was emitted last, and after `mark`, into a comparison of the cell.
    fn fuse_equal(&mut self, x: &Operand, i: i32, mark: u32, l: Label, when: bool) -> bool {
        let n = self.code.ops.len();
        let (at, shifted) = match self.code.ops[..] {
            [.., Op::Peek { d, .. }] if d == x.reg => (n - 1, 0),
            [.., Op::Peek { d, .. }, Op::AddImm { d: e, a, i }] if d == a && e == x.reg => (n - 2, i),
            _ => return false,
        };
        let Op::Peek { a, shift, mask, .. } = self.code.ops[at] else { return false };
        // Of an earlier read others may know.
        if self.marked.max(mark) as usize > at {
            return false;
        }
        self.code.ops.truncate(at);
        let cell = i64::from(i) - i64::from(shifted);
        if !(0..=i64::from(mask)).contains(&cell) {
            // No value of the array is that number.
            if !when {
                self.emit(Op::Jump { l });
            }
            return true;
        }
        let i = cell as u16;
        self.emit(if when {
            Op::JumpCellEq { a, i, shift, mask, l }
        } else {
            Op::JumpCellNe { a, i, shift, mask, l }
        });
        true
    }

    /// Goes to `l` when the equality of two values is `when`.
    pub(super) fn equal(&mut self, x: &Operand, y: &Operand, l: Label, when: bool) -> Low<()> {
        match (&x.layout, &y.layout) {
            (Layout::Int, Layout::Int) | (Layout::Code(_), Layout::Code(_)) => {
                let (x, i) = match (self.immediate(x), self.immediate(y)) {
                    (_, Some(i)) => (x, Some(i)),
                    (Some(i), _) => (y, Some(i)),
                    _ => (x, None),
                };
                if let (Some(a), Some(b)) = (self.known.get(&x.reg), i) {
                    if (*a == i64::from(b)) == when {
                        self.emit(Op::Jump { l });
                    }
                    return Ok(());
                }
                self.emit(match (i, when) {
                    (Some(i), true) => Op::JumpEqImm { a: x.reg, i, l },
                    (Some(i), false) => Op::JumpNeImm { a: x.reg, i, l },
                    (None, true) => Op::JumpEq { a: x.reg, b: y.reg, l },
                    (None, false) => Op::JumpNe { a: x.reg, b: y.reg, l },
                });
                Ok(())
            }
            (Layout::Table(_), Layout::Table(_)) if x.layout == y.layout && !x.layout.has_pool() => {
                let (a, b, n) = (x.reg, y.reg, x.words());
                self.emit(if when { Op::JumpSame { a, b, n, l } } else { Op::JumpDiffer { a, b, n, l } });
                Ok(())
            }
            (Layout::Array(a), Layout::Array(b)) if a == b => {
                let (a, b, n) = (x.reg, y.reg, x.words());
                self.emit(if when { Op::JumpSame { a, b, n, l } } else { Op::JumpDiffer { a, b, n, l } });
                Ok(())
            }
            (Layout::Array(a), Layout::Array(b)) if a.rows == b.rows && a.values == b.values => {
                let form = Arc::new(a.partial());
                let (x, y) = (self.as_array(x, &form)?, self.as_array(y, &form)?);
                self.equal(&x, &y, l, when)
            }
            (Layout::Array(_), Layout::Bits(_) | Layout::Array(_)) | (Layout::Bits(_), Layout::Array(_)) => {
                let (x, y) = (self.as_bits(x.clone())?, self.as_bits(y.clone())?);
                self.equal(&x, &y, l, when)
            }
            (Layout::Bits(_), Layout::Bits(_)) => {
                let (x, y) = self.unified(x.clone(), y.clone())?;
                let (a, b, n) = (x.reg, y.reg, x.words());
                self.emit(if when { Op::JumpSame { a, b, n, l } } else { Op::JumpDiffer { a, b, n, l } });
                Ok(())
            }
            (Layout::Pair(_), Layout::Pair(_)) => {
                let (Some((a, b)), Some((c, d))) = (x.halves(), y.halves()) else {
                    return unsupported("a pair in two forms");
                };
                if when {
                    let end = self.label();
                    self.equal(&a, &c, end, false)?;
                    self.equal(&b, &d, l, true)?;
                    self.place(end);
                    Ok(())
                } else {
                    self.equal(&a, &c, l, false)?;
                    if fault("lowering: pairs are compared by their first halves") {
                        return Ok(());
                    }
                    self.equal(&b, &d, l, false)
                }
            }
            (Layout::Rec(fields), Layout::Rec(_)) => {
                let end = self.label();
                let n = fields.len();
                for i in 0..n {
                    let (Some(a), Some(b)) = (x.field(i), y.field(i)) else {
                        return unsupported("a record in two forms");
                    };
                    if when && i + 1 == n {
                        self.equal(&a, &b, l, true)?;
                    } else {
                        self.equal(&a, &b, if when { end } else { l }, false)?;
                    }
                }
                self.place(end);
                Ok(())
            }
            _ => unsupported("values in the pool"),
        }
    }

    pub(super) fn order(&mut self, op: RelOp, x: &Operand, y: &Operand, l: Label, when: bool) {
        // `x op y` with its negation turned into the opposite comparison.
        let op = match (op, when) {
            (op, true) => op,
            (RelOp::Less, false) if fault("lowering: not less is greater") => RelOp::Greater,
            (RelOp::Less, false) => RelOp::GreaterEqual,
            (RelOp::LessEqual, false) => RelOp::Greater,
            (RelOp::Greater, false) => RelOp::LessEqual,
            (_, false) => RelOp::Less,
        };
        let (a, b) = (x.reg, y.reg);
        if let (Some(x), Some(y)) = (self.known.get(&a), self.known.get(&b)) {
            let holds = match op {
                RelOp::Less => x < y,
                RelOp::LessEqual => x <= y,
                RelOp::Greater => x > y,
                _ => x >= y,
            };
            if holds {
                self.emit(Op::Jump { l });
            }
            return;
        }
        let right = self.immediate(y);
        let left = self.immediate(x);
        let next = |i: i32| i.checked_add(1);
        let last = |i: i32| i.checked_sub(1);
        let op = match op {
            RelOp::Less => match (right, left) {
                (Some(i), _) if fault("lowering: less is less or equal") => Op::JumpLtImm { a, i: i + 1, l },
                (Some(i), _) => Op::JumpLtImm { a, i, l },
                (_, Some(i)) => Op::JumpGtImm { a: b, i, l },
                _ => Op::JumpLt { a, b, l },
            },
            RelOp::LessEqual => match (right.and_then(next), left.and_then(last)) {
                (Some(i), _) => Op::JumpLtImm { a, i, l },
                (_, Some(i)) => Op::JumpGtImm { a: b, i, l },
                _ => Op::JumpLe { a, b, l },
            },
            RelOp::Greater => match (right, left) {
                (Some(i), _) => Op::JumpGtImm { a, i, l },
                (_, Some(i)) => Op::JumpLtImm { a: b, i, l },
                _ => Op::JumpLt { a: b, b: a, l },
            },
            _ => match (right.and_then(last), left.and_then(next)) {
                (Some(i), _) => Op::JumpGtImm { a, i, l },
                (_, Some(i)) => Op::JumpLtImm { a: b, i, l },
                _ => Op::JumpLe { a: b, b: a, l },
            },
        };
        self.emit(op);
    }
}

/// The variables and the predicate of `{x, y | P}`.
type Comprehension<'e> = (&'e [VarId], &'e Pred);

/// `P => (Q => R)` as the conjuncts of P and Q, and R. Behind a P that may be undefined Q is not looked at.
fn antecedents(body: &Pred) -> (Vec<Pred>, Option<Pred>) {
    match &body.kind {
        PredKind::Label(_, p) => antecedents(p),
        PredKind::Implies(p, q) => {
            let mut all = plan::conjuncts(p);
            let (more, conclusion) = match &q.kind {
                PredKind::Implies(..) if !Uses::of_pred(p).partial => antecedents(q),
                PredKind::False => (Vec::new(), None),
                _ => (Vec::new(), Some((**q).clone())),
            };
            all.extend(more);
            (all, conclusion)
        }
        _ => (Vec::new(), Some(body.clone())),
    }
}
