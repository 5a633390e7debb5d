//! Expressions: a term and the literal of its being defined.
//!
//! In: a typed expression and an environment. Out: a term and a literal; where the literal is false the term is some
//! value. Operands are taken from left to right and an undefined operand leaves the whole undefined (rule 1 of
//! docs/definedness.md). Never here: relations and sequences (`relation`, `sequence`), truth (`pred`).

use super::term::{LISTED, ROWS, Rows, Term};
use super::{Encoder, Env};
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, FunctionConst, Pred, Type, UnOp, VarId};
use bombus_lang::value::Value;

/// A term with the literal of its being defined; `None` if the expression is not understood.
pub(super) type Built = Option<(Term, Lit)>;

/// Powers with larger exponents are not multiplied out.
const EXPONENT: i64 = 256;

impl Encoder<'_> {
    /// An expression; one that is not understood is an unknown of its type.
    pub fn expr(&mut self, env: &mut Env, e: &Expr) -> (Term, Lit) {
        if self.is_full() {
            return self.opaque_expr(env, e);
        }
        match self.built(env, e) {
            Some(built) => built,
            None => self.opaque_expr(env, e),
        }
    }

    fn built(&mut self, env: &mut Env, e: &Expr) -> Built {
        Some(match &e.kind {
            ExprKind::Int(n) => (Term::Int(self.number(n)), Lit::TRUE),
            ExprKind::Str(s) => (self.known(&Value::Str(s.clone())), Lit::TRUE),
            ExprKind::Bool(b) => (Term::Bool(Lit::constant(*b)), Lit::TRUE),
            ExprKind::Elem(set, n) => (self.known(&Value::Elem(*set, *n)), Lit::TRUE),
            ExprKind::Var(v) => match env.get(*v).cloned() {
                Some(slot) => (slot.term, slot.set),
                // A variable that was given no value.
                None => (self.leaf_of(&e.ty), Lit::FALSE),
            },
            ExprKind::Old(v) => match env.old.get(v.0 as usize).cloned().flatten() {
                Some(slot) => (slot.term, slot.set),
                None => (self.leaf_of(&e.ty), self.g.fresh()),
            },
            ExprKind::TypeSet(t) => {
                let all = self.values_of_type(t, LISTED)?;
                (Term::set(all.into_iter().map(|v| (v, Lit::TRUE)).collect()), Lit::TRUE)
            }
            ExprKind::SetExt(elems) => self.listed(env, elems)?,
            ExprKind::SeqExt(elems) => {
                let mut pairs = Vec::new();
                let mut defined = Vec::new();
                for (i, e) in elems.iter().enumerate() {
                    let (term, d) = self.expr(env, e);
                    defined.push(d);
                    pairs.push(Term::pair(Term::Int(self.number(&Int::from(i + 1))), term));
                }
                (self.set_of(&pairs)?, self.g.and_all(&defined))
            }
            ExprKind::Pair(a, b) => {
                let ((x, d), (y, e)) = (self.expr(env, a), self.expr(env, b));
                (Term::pair(x, y), self.g.and(d, e))
            }
            ExprKind::Rec(parts) => {
                let (terms, defined): (Vec<Term>, Vec<Lit>) = parts.iter().map(|p| self.expr(env, p)).unzip();
                (Term::Rec(terms.into()), self.g.and_all(&defined))
            }
            ExprKind::Field(r, i) => match self.expr(env, r) {
                (Term::Rec(parts), d) => (parts.get(*i)?.clone(), d),
                _ => return None,
            },
            ExprKind::Unary(op, a) => self.unary(env, *op, a, &e.ty)?,
            ExprKind::Binary(op, a, b) => self.binary(env, *op, a, b)?,
            ExprKind::Apply(f, x) => self.apply(env, f, x, &e.ty)?,
            ExprKind::BoolOf(p) => {
                let t = self.pred(env, p);
                (Term::Bool(t.holds), t.defined)
            }
            ExprKind::Compr(vars, p) => self.comprehension(env, vars, p)?,
            ExprKind::Big(op, vars, p, body) => self.big(env, *op, vars, p, body, &e.ty)?,
            ExprKind::If(p, a, b) => {
                let t = self.pred(env, p);
                let ((x, d), (y, f)) = (self.expr(env, a), self.expr(env, b));
                let branch = self.g.ite(t.holds, d, f);
                (self.choose(t.holds, &x, &y), self.g.and(t.defined, branch))
            }
            ExprKind::Let(bindings, body) => {
                let mut saved = Vec::new();
                let mut defined = Vec::new();
                for (v, x) in bindings {
                    let (term, d) = self.expr(env, x);
                    defined.push(d);
                    saved.push((*v, env.put(*v, Some(super::Slot { term, set: Lit::TRUE }))));
                }
                let (term, d) = self.expr(env, body);
                defined.push(d);
                for (v, slot) in saved {
                    env.put(v, slot);
                }
                (term, self.g.and_all(&defined))
            }
            ExprKind::Construct(free, n, arg) => match arg {
                None => (self.known(&Value::Free(*free, *n, None)), Lit::TRUE),
                Some(_) => return None,
            },
            ExprKind::Symbolic(a) => self.built(env, a)?,
            ExprKind::Real(_)
            | ExprKind::Natural
            | ExprKind::Natural1
            | ExprKind::Function(_)
            | ExprKind::StructSet(_)
            | ExprKind::Constructor(..)
            | ExprKind::Destructor(..)
            | ExprKind::External(..) => return None,
        })
    }

    fn listed(&mut self, env: &mut Env, elems: &[Expr]) -> Built {
        let (terms, defined): (Vec<Term>, Vec<Lit>) = elems.iter().map(|e| self.expr(env, e)).unzip();
        Some((self.set_of(&terms)?, self.g.and_all(&defined)))
    }

    /// The set of some terms.
    fn set_of(&mut self, terms: &[Term]) -> Option<Term> {
        let mut rows = Vec::new();
        for term in terms {
            let Some(values) = self.values_of(term) else {
                let pairs = terms.iter().map(|t| match t {
                    Term::Pair(p) => Some((p.0.clone(), p.1.clone(), Lit::TRUE)),
                    _ => None,
                });
                let pairs: Vec<_> = pairs.collect::<Option<_>>()?;
                return self.pairs_as_images(&pairs);
            };
            rows.extend(values);
        }
        Some(Term::set(self.merged(rows.into_iter())))
    }

    /// `min({x,y})`, `max({x,y})` of numbers that need not be listed.
    fn extreme(&mut self, env: &mut Env, op: UnOp, elems: &[Expr]) -> Built {
        let (terms, defined): (Vec<Term>, Vec<Lit>) = elems.iter().map(|e| self.expr(env, e)).unzip();
        let mut numbers = terms.iter().map(Term::as_int);
        let mut best = numbers.next()??.clone();
        for n in numbers {
            let n = n?;
            let better = if op == UnOp::Min { self.num_lt(n, &best) } else { self.num_lt(&best, n) };
            best = self.num_choose(better, n, &best);
        }
        Some((Term::Int(best), self.g.and_all(&defined)))
    }

    fn unary(&mut self, env: &mut Env, op: UnOp, a: &Expr, ty: &Type) -> Built {
        if op == UnOp::Card && matches!(a.kind, ExprKind::Binary(BinOp::Interval, ..)) {
            return self.card_of_interval(env, a);
        }
        if let (UnOp::Min | UnOp::Max, ExprKind::SetExt(elems)) = (op, &a.kind)
            && !elems.is_empty()
            && *ty == Type::Integer
        {
            return self.extreme(env, op, elems);
        }
        let (mut x, d) = self.expr(env, a);
        if a.ty == Type::String || a.ty == Type::Real {
            return None;
        }
        if let Term::Images(images) = &x {
            if let Some(built) = self.unary_images(op, &images.clone(), d) {
                return Some(built);
            }
            x = self.spread(x)?;
        }
        Some(match op {
            UnOp::Neg => (Term::Int(self.num_neg(x.as_int()?)), d),
            UnOp::First2 | UnOp::Second2 => match x {
                Term::Pair(p) => (if op == UnOp::First2 { p.0.clone() } else { p.1.clone() }, d),
                _ => return None,
            },
            UnOp::Card => {
                let lits: Vec<Lit> = x.as_set()?.values().copied().collect();
                (Term::Int(self.num_count(&lits)), d)
            }
            UnOp::Min | UnOp::Max => {
                let mut rows: Vec<(Value, Lit)> = x.as_set()?.iter().map(|(v, l)| (v.clone(), *l)).collect();
                if op == UnOp::Max {
                    rows.reverse();
                }
                let mut none = Lit::TRUE;
                let mut cases = Vec::new();
                for (v, l) in rows {
                    cases.push((v, self.g.and(none, l)));
                    none = self.g.and(none, !l);
                }
                (self.one_of(ty, &cases), self.g.and(d, !none))
            }
            UnOp::Union | UnOp::Inter => {
                let sets = x.as_set()?.clone();
                self.generalised(&sets, op == UnOp::Union, d)
            }
            UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1 => {
                let subsets = self.values_of_subsets(&x)?;
                let proper = matches!(op, UnOp::Pow1 | UnOp::Fin1);
                let rows = subsets.into_iter().filter(|(v, _)| !(proper && *v == Value::empty())).collect();
                (Term::set(rows), d)
            }
            UnOp::Inverse | UnOp::Dom | UnOp::Ran | UnOp::Id | UnOp::Closure | UnOp::Closure1 => {
                self.unary_relation(op, &x, a, d)?
            }
            UnOp::Size | UnOp::First | UnOp::Last | UnOp::Front | UnOp::Tail | UnOp::Rev | UnOp::Conc => {
                self.unary_sequence(op, &x, d, ty)?
            }
            _ => return None,
        })
    }

    /// Subsets of the possible elements, each with the literal that all its elements are there.
    fn values_of_subsets(&mut self, x: &Term) -> Option<Vec<(Value, Lit)>> {
        let rows = x.as_set()?;
        if rows.len() >= LISTED.ilog2() as usize {
            return None;
        }
        let mut all: Vec<(Vec<Value>, Lit)> = vec![(Vec::new(), Lit::TRUE)];
        for (v, l) in rows.iter() {
            for i in 0..all.len() {
                let mut with = all[i].0.clone();
                with.push(v.clone());
                let lit = self.g.and(all[i].1, *l);
                all.push((with, lit));
            }
        }
        Some(all.into_iter().map(|(elems, l)| (Value::set(elems), l)).collect())
    }

    fn card_of_interval(&mut self, env: &mut Env, e: &Expr) -> Built {
        let ExprKind::Binary(_, a, b) = &e.kind else { return None };
        let ((x, d), (y, f)) = (self.expr(env, a), self.expr(env, b));
        let (low, high) = (x.as_int()?, y.as_int()?);
        let some = self.num_le(low, high);
        let span = self.num_sub(high, low);
        let one = self.number(&Int::ONE);
        let zero = self.number(&Int::ZERO);
        let count = self.num_add(&span, &one);
        Some((Term::Int(self.num_choose(some, &count, &zero)), self.g.and(d, f)))
    }

    /// `union(S)`, `inter(S)`.
    fn generalised(&mut self, sets: &Rows, union: bool, d: Lit) -> (Term, Lit) {
        let mut elems: Vec<&Value> = sets.keys().filter_map(Value::as_set).flatten().collect();
        elems.sort();
        elems.dedup();
        let mut rows = Rows::new();
        for v in elems {
            let has = |s: &Value| s.as_set().is_some_and(|e| e.binary_search(v).is_ok());
            let lit = if union {
                let lits: Vec<Lit> = sets.iter().filter(|(s, _)| has(s)).map(|(_, l)| *l).collect();
                self.g.or_all(&lits)
            } else {
                let lits: Vec<Lit> = sets.iter().filter(|(s, _)| !has(s)).map(|(_, l)| !*l).collect();
                self.g.and_all(&lits)
            };
            rows.insert(v.clone(), lit);
        }
        let some: Vec<Lit> = sets.values().copied().collect();
        let some = if union { Lit::TRUE } else { self.g.or_all(&some) };
        (Term::set(rows), self.g.and(d, some))
    }

    fn binary(&mut self, env: &mut Env, op: BinOp, a: &Expr, b: &Expr) -> Built {
        if a.ty == Type::Real || a.ty == Type::String {
            return None;
        }
        if let (BinOp::Cartesian, ExprKind::SetExt(elems)) = (op, &b.kind)
            && let [e] = &elems[..]
            && let Some(built) = self.constant_function(env, a, e)
        {
            return Some(built);
        }
        let ((mut x, d), (mut y, e)) = (self.expr(env, a), self.expr(env, b));
        let both = self.g.and(d, e);
        if matches!(x, Term::Images(_)) || matches!(y, Term::Images(_)) {
            if let Some(built) = self.binary_images(op, &x, &y, both) {
                return Some(built);
            }
            (x, y) = (self.spread(x)?, self.spread(y)?);
        }
        if let (Term::Int(m), Term::Int(n)) = (&x, &y) {
            let (m, n) = (m.clone(), n.clone());
            return self.arithmetic(op, &m, &n, both);
        }
        Some(match op {
            BinOp::Union | BinOp::Inter | BinOp::SetMinus => {
                let (xs, ys) = (x.as_set()?, y.as_set()?);
                let mut rows = Rows::new();
                let mut keys: Vec<&Value> = xs.keys().collect();
                if op == BinOp::Union {
                    keys.extend(ys.keys());
                }
                for v in keys {
                    let l = xs.get(v).copied().unwrap_or(Lit::FALSE);
                    let r = ys.get(v).copied().unwrap_or(Lit::FALSE);
                    let lit = match op {
                        BinOp::Union => self.g.or(l, r),
                        BinOp::Inter => self.g.and(l, r),
                        _ => self.g.and(l, !r),
                    };
                    rows.insert(v.clone(), lit);
                }
                (Term::set(rows), both)
            }
            BinOp::Cartesian => {
                let (xs, ys) = (x.as_set()?, y.as_set()?);
                if xs.len() * ys.len() > ROWS {
                    return None;
                }
                let mut rows = Rows::new();
                for (v, l) in xs {
                    for (w, r) in ys {
                        rows.insert(Value::pair(v.clone(), w.clone()), self.g.and(*l, *r));
                    }
                }
                (Term::set(rows), both)
            }
            BinOp::Concat | BinOp::Prepend | BinOp::Append | BinOp::Take | BinOp::Drop => {
                self.binary_sequence(op, &x, &y, both)?
            }
            _ => self.binary_relation(op, &x, &y, both)?,
        })
    }

    fn arithmetic(&mut self, op: BinOp, m: &super::number::Num, n: &super::number::Num, d: Lit) -> Built {
        let zero = self.number(&Int::ZERO);
        Some(match op {
            BinOp::Add => (Term::Int(self.num_add(m, n)), d),
            BinOp::Sub => (Term::Int(self.num_sub(m, n)), d),
            BinOp::Mul | BinOp::Div | BinOp::Mod if m.is_laborious_with(n) => return None,
            BinOp::Mul => (Term::Int(self.num_mul(m, n)), d),
            BinOp::Div => {
                let nonzero = !self.num_equal(n, &zero);
                (Term::Int(self.num_divide(m, n).0), self.g.and(d, nonzero))
            }
            BinOp::Mod => {
                let (up, down) = (self.num_le(&zero, m), self.num_lt(&zero, n));
                let fine = self.g.and(up, down);
                (Term::Int(self.num_divide(m, n).1), self.g.and(d, fine))
            }
            BinOp::Power => {
                let (low, high) = n.range()?;
                let (low, high) = (low.small()?.max(0), high.small()?);
                if high > EXPONENT || (low != high && (m.known().is_none() || high - low > 64)) {
                    return None;
                }
                let mut power = self.number(&Int::ONE);
                let mut out = power.clone();
                for i in 1..=high.max(0) {
                    if power.is_laborious_with(m) {
                        return None;
                    }
                    power = self.num_mul(&power, m);
                    if i >= low {
                        let here = self.num_is(n, &Int::from(i));
                        out = self.num_choose(here, &power, &out);
                    }
                }
                let fine = self.num_le(&zero, n);
                (Term::Int(out), self.g.and(d, fine))
            }
            BinOp::Interval => {
                let ((low, _), (_, high)) = (m.range()?, n.range()?);
                let (low, high) = (low.small()?, high.small()?);
                if high.checked_sub(low)? >= ROWS as i64 / 4 {
                    return None;
                }
                let mut rows = Rows::new();
                for i in low..=high {
                    let here = self.number(&Int::from(i));
                    let (above, below) = (self.num_le(m, &here), self.num_le(&here, n));
                    rows.insert(Value::int(i), self.g.and(above, below));
                }
                (Term::set(rows), d)
            }
            _ => return None,
        })
    }

    fn apply(&mut self, env: &mut Env, f: &Expr, x: &Expr, ty: &Type) -> Built {
        match &f.kind {
            ExprKind::Function(which) => {
                let (arg, d) = self.expr(env, x);
                let one = self.number(&Int::ONE);
                return Some(match (which, arg) {
                    (FunctionConst::Succ, Term::Int(n)) => (Term::Int(self.num_add(&n, &one)), d),
                    (FunctionConst::Pred, Term::Int(n)) => (Term::Int(self.num_sub(&n, &one)), d),
                    (FunctionConst::Id, term) => (term, d),
                    (FunctionConst::Prj1, Term::Pair(p)) => (p.0.clone(), d),
                    (FunctionConst::Prj2, Term::Pair(p)) => (p.1.clone(), d),
                    _ => return None,
                });
            }
            // At one point a lambda asks for that point alone (rule 8).
            ExprKind::Big(BigOp::Lambda, vars, p, body) => return self.lambda_at(env, vars, p, body, x),
            _ => {}
        }
        let ((rel, d), (arg, e)) = (self.expr(env, f), self.expr(env, x));
        // Some functions are chosen among those that are defined where they are applied.
        let chosen = matches!(f.kind, ExprKind::Var(v) if self.chosen.contains(&v));
        if let Term::Images(images) = &rel {
            let (image, there) = self.image_at(images, &arg, ty)?;
            let both = self.g.and(d, e);
            return Some((image, if chosen { both } else { self.g.and(both, there) }));
        }
        let rows = rel.as_set()?;
        let mut hits = Vec::new();
        let mut last: Option<(Value, Lit)> = None;
        for (pair, l) in rows.clone().iter() {
            let (from, to) = pair.as_pair()?;
            // Rows of one point stand side by side.
            let here = match &last {
                Some((point, here)) if point == from => *here,
                _ => self.is_value(&arg, from)?,
            };
            if last.as_ref().is_none_or(|(point, _)| point != from) {
                last = Some((from.clone(), here));
            }
            let hit = self.g.and(*l, here);
            if hit != Lit::FALSE {
                hits.push((to.clone(), hit));
            }
        }
        let hits: Vec<(Value, Lit)> = self.merged(hits.into_iter()).into_iter().collect();
        let lits: Vec<Lit> = hits.iter().map(|(_, l)| *l).collect();
        let one = self.g.exactly_one(&lits);
        let both = self.g.and(d, e);
        let none = if chosen { !self.g.or_all(&lits) } else { Lit::FALSE };
        let one = self.g.or(one, none);
        Some((self.one_of(ty, &hits), self.g.and(both, one)))
    }

    fn lambda_at(&mut self, env: &mut Env, vars: &[VarId], p: &Pred, body: &Expr, x: &Expr) -> Built {
        let (arg, d) = self.expr(env, x);
        let parts = components(&arg, vars.len())?;
        let saved: Vec<_> = vars
            .iter()
            .zip(parts)
            .map(|(v, term)| (*v, env.put(*v, Some(super::Slot { term, set: Lit::TRUE }))))
            .collect();
        let t = self.pred(env, p);
        let (value, e) = self.expr(env, body);
        for (v, slot) in saved {
            env.put(v, slot);
        }
        let sure = self.surely(t);
        let inside = self.g.and(sure, e);
        Some((value, self.g.and(d, inside)))
    }

    /// `{x,y | P}`.
    fn comprehension(&mut self, env: &mut Env, vars: &[VarId], p: &Pred) -> Built {
        let mut rows = Vec::new();
        let mut defined = Vec::new();
        let sure = self.bindings(env, vars, p, &mut |this, env| {
            let t = this.pred(env, p);
            defined.push(t.defined);
            let mut tuple: Option<Term> = None;
            for v in vars {
                let part = env.get(*v)?.term.clone();
                tuple = Some(match tuple {
                    None => part,
                    Some(before) => Term::pair(before, part),
                });
            }
            for (value, l) in this.values_of(&tuple?)? {
                rows.push((value, this.g.and(l, t.holds)));
            }
            (rows.len() <= ROWS).then_some(())
        })?;
        if sure != Lit::TRUE {
            return None;
        }
        Some((Term::set(self.merged(rows.into_iter())), self.g.and_all(&defined)))
    }

    fn big(&mut self, env: &mut Env, op: BigOp, vars: &[VarId], p: &Pred, body: &Expr, ty: &Type) -> Built {
        let mut parts: Vec<(Lit, Term, Option<Term>)> = Vec::new();
        let mut defined = Vec::new();
        let sure = self.bindings(env, vars, p, &mut |this, env| {
            let t = this.pred(env, p);
            let (term, d) = this.expr(env, body);
            let held = this.g.implies(t.holds, d);
            defined.push(this.g.and(t.defined, held));
            let mut tuple: Option<Term> = None;
            for v in vars {
                let part = env.get(*v)?.term.clone();
                tuple = Some(match tuple {
                    None => part,
                    Some(before) => Term::pair(before, part),
                });
            }
            if t.holds != Lit::FALSE {
                parts.push((t.holds, term, tuple));
            }
            Some(())
        })?;
        if sure != Lit::TRUE {
            return None;
        }
        let d = self.g.and_all(&defined);
        self.combined(op, parts, d, ty)
    }

    fn combined(&mut self, op: BigOp, parts: Vec<(Lit, Term, Option<Term>)>, d: Lit, ty: &Type) -> Built {
        match op {
            BigOp::Lambda | BigOp::SetOf => {
                let mut rows = Vec::new();
                if op == BigOp::Lambda && parts.iter().any(|(_, term, _)| self.values_of(term).is_none()) {
                    let pairs = parts.into_iter().map(|(l, term, tuple)| Some((tuple?, term, l)));
                    let pairs: Vec<_> = pairs.collect::<Option<_>>()?;
                    return Some((self.pairs_as_images(&pairs)?, d));
                }
                for (l, term, tuple) in parts {
                    let whole = if op == BigOp::Lambda { Term::pair(tuple?, term) } else { term };
                    for (v, r) in self.values_of(&whole)? {
                        rows.push((v, self.g.and(l, r)));
                    }
                    if rows.len() > ROWS {
                        return None;
                    }
                }
                Some((Term::set(self.merged(rows.into_iter())), d))
            }
            BigOp::Sigma | BigOp::Pi => {
                if *ty != Type::Integer {
                    return None;
                }
                let neutral = self.number(&if op == BigOp::Sigma { Int::ZERO } else { Int::ONE });
                let mut all = neutral.clone();
                for (l, term, _) in parts {
                    let part = self.num_choose(l, term.as_int()?, &neutral);
                    if op == BigOp::Pi && all.is_laborious_with(&part) {
                        return None;
                    }
                    all = if op == BigOp::Sigma {
                        self.num_add(&all, &part)
                    } else {
                        self.num_mul(&all, &part)
                    };
                }
                Some((Term::Int(all), d))
            }
            BigOp::Union => {
                let mut rows = Vec::new();
                for (l, term, _) in parts {
                    for (v, r) in term.as_set()? {
                        rows.push((v.clone(), self.g.and(l, *r)));
                    }
                }
                Some((Term::set(self.merged(rows.into_iter())), d))
            }
            BigOp::Inter => {
                let mut keys: Vec<Value> = Vec::new();
                for (_, term, _) in &parts {
                    keys.extend(term.as_set()?.keys().cloned());
                }
                keys.sort();
                keys.dedup();
                let mut rows = Rows::new();
                for v in keys {
                    let mut all = Vec::new();
                    for (l, term, _) in &parts {
                        let has = term.as_set()?.get(&v).copied().unwrap_or(Lit::FALSE);
                        all.push(self.g.implies(*l, has));
                    }
                    rows.insert(v, self.g.and_all(&all));
                }
                let some: Vec<Lit> = parts.iter().map(|(l, _, _)| *l).collect();
                let some = self.g.or_all(&some);
                Some((Term::set(rows), self.g.and(d, some)))
            }
        }
    }
}

/// The components of a left-nested tuple.
pub(super) fn components(term: &Term, count: usize) -> Option<Vec<Term>> {
    let mut parts = Vec::with_capacity(count);
    let mut rest = term.clone();
    for _ in 1..count {
        let Term::Pair(p) = rest else { return None };
        parts.push(p.1.clone());
        rest = p.0.clone();
    }
    parts.push(rest);
    parts.reverse();
    Some(parts)
}
