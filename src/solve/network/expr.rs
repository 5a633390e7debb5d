//! Expressions as terms.
//!
//! In: an expression, with unknown variables as terms and all others in the environment. Out: a term,
//! and literals that must all be true for the expression to have a value. What reads no unknown is
//! evaluated by the interpreter; what is not understood here is `Opaque`.

use crate::env::Env;
use crate::solve::finite_domains::{Constraint, Lit};
use crate::solve::network::guards::Guards;
use crate::solve::network::instances::Instance;
use crate::solve::network::term::{ELEMENTS, Func, Lin, Row, Term, fold_pair};
use crate::solve::network::{Builder, Built, Halt};
use crate::solve::plan::Plan;
use bombus_lang::free;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, UnOp, VarId};
use bombus_lang::value::Value;
use std::rc::Rc;

impl Builder<'_, '_> {
    pub(crate) fn is_ground(&self, e: &Expr) -> bool {
        !free::mentions(e, &|v| self.is_unknown(v))
    }

    /// The term of an expression that must have a value, whatever the unknowns are.
    pub(crate) fn total(&mut self, env: &mut Env, e: &Expr) -> Built<Term> {
        let mut guards = Guards::default();
        let t = self.term(env, e, &mut guards)?;
        if self.all(&guards) == Lit::TRUE { Ok(t) } else { Err(Halt::Opaque) }
    }

    pub(crate) fn term(&mut self, env: &mut Env, e: &Expr, guards: &mut Guards) -> Built<Term> {
        if self.is_ground(e) {
            return Ok(Term::Known(self.interp.eval_canon(env, e)?));
        }
        let before = guards.len();
        match self.term_of_kind(env, e, guards) {
            Err(Halt::Opaque) => {
                guards.truncate(before);
                match self.tabulated_expr(env, e, guards) {
                    Err(Halt::Opaque) => {
                        guards.truncate(before);
                        self.inlined(env, e, guards)
                    }
                    other => other,
                }
            }
            other => other,
        }
    }

    fn term_of_kind(&mut self, env: &mut Env, e: &Expr, guards: &mut Guards) -> Built<Term> {
        match &e.kind {
            ExprKind::Var(v) => self.terms.get(v).cloned().ok_or(Halt::Opaque),
            ExprKind::Symbolic(inner) => self.term(env, inner, guards),
            ExprKind::Pair(a, b) => {
                let (x, y) = (self.term(env, a, guards)?, self.term(env, b, guards)?);
                Ok(fold_pair(Rc::new((x, y))))
            }
            ExprKind::Rec(es) => {
                let mut parts = Vec::with_capacity(es.len());
                for e in es {
                    parts.push(self.term(env, e, guards)?);
                }
                Ok(Term::Rec(parts.into()))
            }
            ExprKind::Field(a, i) => match self.term(env, a, guards)? {
                Term::Rec(parts) => Ok(parts[*i].clone()),
                _ => Err(Halt::Opaque),
            },
            ExprKind::SetExt(es) => {
                let mut elems = Vec::with_capacity(es.len());
                for e in es {
                    elems.push((self.term(env, e, guards)?, Lit::TRUE));
                }
                Ok(Term::Set(Rc::new(elems)))
            }
            ExprKind::SeqExt(es) => {
                let mut rows = Vec::with_capacity(es.len());
                for (i, e) in es.iter().enumerate() {
                    let image = self.term(env, e, guards)?;
                    rows.push(Row { point: Value::int(i as i64 + 1), image, lit: Lit::TRUE });
                }
                Ok(Term::Func(Rc::new(Func { rows, injective: false })))
            }
            ExprKind::BoolOf(p) => {
                let lit = self.exact(env, p)?;
                let v = self.materialise(&Lin::of_lit(lit))?;
                Ok(Term::Code(v, e.ty.clone()))
            }
            ExprKind::If(c, a, b) => self.choice(env, c, a, b, guards),
            ExprKind::Let(bindings, body) => {
                let mut done = Vec::new();
                let mut result = Ok(());
                for (v, e) in bindings {
                    match self.term(env, e, guards) {
                        Ok(t) => done.push((*v, self.terms.insert(*v, t))),
                        Err(h) => {
                            result = Err(h);
                            break;
                        }
                    }
                }
                let result = result.and_then(|()| self.term(env, body, guards));
                self.restore_terms(done);
                result
            }
            ExprKind::Apply(f, x) => self.application(env, f, x, guards),
            ExprKind::Unary(op, a) => self.unary_term(env, *op, a, guards),
            ExprKind::Binary(op, a, b) => self.binary_term(env, *op, a, b, guards),
            ExprKind::Compr(vars, p) => {
                let mut elems = Vec::new();
                let mut each = |this: &mut Self, env: &mut Env, lit: Lit| -> Built<()> {
                    let t = this.tuple_term(env, vars)?;
                    elems.push((t, lit));
                    Ok(())
                };
                // An element for which something exists is there once for every such thing.
                match unquantified(vars, p) {
                    Some((vars, preds)) => {
                        let preds: Vec<&Pred> = preds.iter().collect();
                        self.each_binding(env, &Plan::new(&vars, &preds), &mut each)?;
                    }
                    None => self.each_element(env, vars, p, &mut each)?,
                }
                Ok(self.set_term(elems))
            }
            ExprKind::Big(op, vars, p, body) => self.big_term(env, *op, vars, p, body),
            _ => Err(Halt::Opaque),
        }
    }

    /// Variables bound by an instance, as a tuple.
    fn tuple_term(&mut self, env: &mut Env, vars: &[VarId]) -> Built<Term> {
        let mut tuple: Option<Term> = None;
        for v in vars {
            let t = match (env.get(*v), self.terms.get(v)) {
                (Some(x), _) => Term::Known(x.clone()),
                (None, Some(t)) => t.clone(),
                _ => return Err(Halt::Opaque),
            };
            tuple = Some(match tuple {
                None => t,
                Some(left) => fold_pair(Rc::new((left, t))),
            });
        }
        tuple.ok_or(Halt::Opaque)
    }

    /// Runs through the bindings of a comprehension, each with the literal that says whether the
    /// predicate holds for it.
    fn each_element(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        p: &Pred,
        each: &mut dyn FnMut(&mut Self, &mut Env, Lit) -> Built<()>,
    ) -> Built<()> {
        let plan = self.interp.plan_of(vars, &[p]);
        self.each_binding(env, &plan, each)
    }

    fn each_binding(
        &mut self,
        env: &mut Env,
        plan: &Plan,
        each: &mut dyn FnMut(&mut Self, &mut Env, Lit) -> Built<()>,
    ) -> Built<()> {
        self.instances(env, plan, &mut |this, env, Instance { lit, rest }| {
            let mut lits = vec![lit];
            for c in rest {
                lits.push(this.exact(env, &c.pred)?);
            }
            let lit = this.and(lits);
            if lit == Lit::FALSE { Ok(()) } else { each(this, env, lit).map_err(Halt::somewhere) }
        })
    }

    fn big_term(&mut self, env: &mut Env, op: BigOp, vars: &[VarId], p: &Pred, body: &Expr) -> Built<Term> {
        match op {
            BigOp::Lambda => {
                let mut rows: Vec<(Term, Term, Lit)> = Vec::new();
                self.each_element(env, vars, p, &mut |this, env, lit| {
                    let point = this.tuple_term(env, vars)?;
                    rows.push((point, this.total(env, body)?, lit));
                    Ok(())
                })?;
                if rows.iter().all(|(p, _, _)| matches!(p, Term::Known(_))) {
                    let mut list = Vec::with_capacity(rows.len());
                    for (point, image, lit) in rows {
                        if let Term::Known(point) = point {
                            list.push(Row { point, image, lit });
                        }
                    }
                    list.sort_by(|a, b| a.point.cmp(&b.point));
                    return Ok(Term::Func(Rc::new(Func { rows: list, injective: false })));
                }
                Ok(Term::Set(Rc::new(
                    rows.into_iter().map(|(p, i, l)| (Term::Pair(Rc::new((p, i))), l)).collect(),
                )))
            }
            BigOp::SetOf => {
                let mut elems = Vec::new();
                self.each_element(env, vars, p, &mut |this, env, lit| {
                    elems.push((this.total(env, body)?, lit));
                    Ok(())
                })?;
                Ok(Term::Set(Rc::new(elems)))
            }
            BigOp::Union => {
                let mut elems = Vec::new();
                self.each_element(env, vars, p, &mut |this, env, lit| {
                    let set = this.total(env, body)?;
                    for (e, inner) in this.elements(env, &set)?.iter() {
                        elems.push((e.clone(), this.and([lit, *inner])));
                    }
                    if elems.len() > ELEMENTS { Err(Halt::Opaque) } else { Ok(()) }
                })?;
                Ok(self.set_term(elems))
            }
            BigOp::Sigma => {
                let mut sum = Lin::number(0);
                self.each_element(env, vars, p, &mut |this, env, lit| {
                    let t = this.total(env, body)?;
                    let x = this.number(&t)?;
                    let part = this.gated(lit, &x)?;
                    sum = sum.plus(&part)?;
                    Ok(())
                })?;
                Ok(Term::Num(sum))
            }
            _ => Err(Halt::Opaque),
        }
    }

    /// An integer term as a sum.
    pub(crate) fn number(&mut self, t: &Term) -> Built<Lin> {
        match t {
            Term::Known(Value::Int(_)) | Term::Num(_) => self.scalar(t),
            _ => Err(Halt::Opaque),
        }
    }

    /// The number where the literal is true, else 0.
    fn gated(&mut self, lit: Lit, x: &Lin) -> Built<Lin> {
        if lit == Lit::TRUE {
            return Ok(x.clone());
        }
        if x.sum.is_empty() {
            return Lin::of_lit(lit).times(x.k);
        }
        let (low, high) = self.bounds(x)?;
        let y = self.net.variable(low.min(0), high.max(0));
        let same = self.is_zero(&x.minus(&Lin::of(y))?)?;
        let none = self.is_zero(&Lin::of(y))?;
        self.clause([!lit, same]);
        self.clause([lit, none]);
        Ok(Lin::of(y))
    }

    /// A variable that equals one of several scalar terms, by literals of which one is true at most;
    /// where none is, it is the least value.
    pub(crate) fn one_of(&mut self, options: &[(Lin, Lit)]) -> Built<Lin> {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for (x, _) in options {
            let (a, b) = self.bounds(x)?;
            low = low.min(a);
            high = high.max(b);
        }
        if low > high {
            return Err(Halt::Opaque);
        }
        let y = self.net.variable(low, high);
        let mut lits = vec![self.is_zero(&Lin::of(y).plus(&Lin::number(-low))?)?];
        for (x, lit) in options {
            let same = self.is_zero(&x.minus(&Lin::of(y))?)?;
            self.clause([!*lit, same]);
            lits.push(*lit);
        }
        self.clause(lits);
        Ok(Lin::of(y))
    }

    fn choice(&mut self, env: &mut Env, c: &Pred, a: &Expr, b: &Expr, guards: &mut Guards) -> Built<Term> {
        let lit = self.exact(env, c)?;
        match self.net.literal(lit) {
            Some(true) => return self.term(env, a, guards),
            Some(false) => return self.term(env, b, guards),
            None => {}
        }
        let (mut g, mut h) = (Guards::default(), Guards::default());
        let x = self.term(env, a, &mut g).map_err(Halt::somewhere)?;
        let y = self.term(env, b, &mut h).map_err(Halt::somewhere)?;
        let (g, h) = (self.all(&g), self.all(&h));
        guards.push(self.or([!lit, g]));
        guards.push(self.or([lit, h]));
        let ty = &a.ty;
        let (x, y) = (self.scalar(&x)?, self.scalar(&y)?);
        let z = self.one_of(&[(x, lit), (y, !lit)])?;
        let v = self.materialise(&z)?;
        Ok(self.scalar_term(v, ty))
    }

    fn unary_term(&mut self, env: &mut Env, op: UnOp, a: &Expr, guards: &mut Guards) -> Built<Term> {
        let t = self.term(env, a, guards)?;
        match op {
            UnOp::Neg => Ok(Term::Num(self.number(&t)?.times(-1)?)),
            UnOp::Card => Ok(Term::Num(self.cardinality(env, &t)?)),
            UnOp::First2 | UnOp::Second2 => match &t {
                Term::Pair(p) => Ok(if op == UnOp::First2 { p.0.clone() } else { p.1.clone() }),
                _ => Err(Halt::Opaque),
            },
            UnOp::Dom | UnOp::Ran => {
                let mut elems = Vec::new();
                for (e, lit) in self.elements(env, &t)?.iter() {
                    let (x, y) = split(e)?;
                    elems.push((if op == UnOp::Dom { x } else { y }, *lit));
                }
                Ok(self.set_term(elems))
            }
            UnOp::Inverse => {
                let mut elems = Vec::new();
                for (e, lit) in self.elements(env, &t)?.iter() {
                    let (x, y) = split(e)?;
                    elems.push((fold_pair(Rc::new((y, x))), *lit));
                }
                Ok(Term::Set(Rc::new(elems)))
            }
            UnOp::Union => {
                let mut elems = Vec::new();
                for (s, lit) in self.elements(env, &t)?.iter() {
                    for (e, inner) in self.elements(env, s)?.iter() {
                        elems.push((e.clone(), self.and([*lit, *inner])));
                    }
                    if elems.len() > ELEMENTS {
                        return Err(Halt::Opaque);
                    }
                }
                Ok(self.set_term(elems))
            }
            UnOp::Max | UnOp::Min => {
                let elems = self.elements(env, &t)?;
                guards.push(self.or(elems.iter().map(|(_, l)| *l).collect::<Vec<_>>()));
                let (mut low, mut high) = (i64::MAX, i64::MIN);
                let mut numbers = Vec::with_capacity(elems.len());
                for (e, lit) in elems.iter() {
                    let x = self.number(e)?;
                    let (a, b) = self.bounds(&x)?;
                    low = low.min(a);
                    high = high.max(b);
                    numbers.push((x, *lit));
                }
                if low > high {
                    return Err(Halt::Opaque);
                }
                let m = Lin::of(self.net.variable(low, high));
                let mut witness = vec![self.is_zero(&m.plus(&Lin::number(-low))?)?];
                for (x, lit) in &numbers {
                    let same = self.is_zero(&x.minus(&m)?)?;
                    witness.push(self.and([*lit, same]));
                    let order = if op == UnOp::Max { x.minus(&m)? } else { m.minus(x)? };
                    let within = self.at_most_zero(&order)?;
                    self.clause([!*lit, within]);
                }
                // With no element it is the least value; else some element is it.
                let some = self.or(numbers.iter().map(|(_, l)| *l).collect::<Vec<_>>());
                let first = witness.remove(0);
                self.clause([some, first]);
                witness.push(!some);
                self.clause(witness);
                Ok(Term::Num(m))
            }
            UnOp::Size => match &t {
                Term::Func(f) => Ok(Term::Num(self.length(f, guards)?)),
                _ => Err(Halt::Opaque),
            },
            UnOp::First | UnOp::Last | UnOp::Rev | UnOp::Front | UnOp::Tail => self.piece(env, op, &t),
            _ => Err(Halt::Opaque),
        }
    }

    fn binary_term(
        &mut self,
        env: &mut Env,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        guards: &mut Guards,
    ) -> Built<Term> {
        let (x, y) = (self.term(env, a, guards)?, self.term(env, b, guards)?);
        match op {
            BinOp::Add => Ok(Term::Num(self.number(&x)?.plus(&self.number(&y)?)?)),
            BinOp::Sub => Ok(Term::Num(self.number(&x)?.minus(&self.number(&y)?)?)),
            BinOp::Mul => {
                let (x, y) = (self.number(&x)?, self.number(&y)?);
                if x.sum.is_empty() {
                    return Ok(Term::Num(y.times(x.k)?));
                }
                if y.sum.is_empty() {
                    return Ok(Term::Num(x.times(y.k)?));
                }
                let (p, q) = (self.materialise(&x)?, self.materialise(&y)?);
                let d = &self.net.domains;
                // Small factors are better done by table, value by value.
                if d.is_narrow(p)
                    && d.is_narrow(q)
                    && d.size(p) * d.size(q) <= crate::solve::network::table::ROWS
                {
                    return Err(Halt::Opaque);
                }
                let most = |v| i128::from(d.low(v).abs().max(d.high(v).abs()));
                let bound = most(p) * most(q);
                if bound >= 1 << 40 {
                    return Err(Halt::Opaque);
                }
                let z = self.net.variable(-(bound as i64), bound as i64);
                self.net.add(Constraint::Product { x: p, y: q, z });
                Ok(Term::Num(Lin::of(z)))
            }
            BinOp::Interval => {
                let (low, high) = (self.number(&x)?, self.number(&y)?);
                let (from, to) = (self.bounds(&low)?.0, self.bounds(&high)?.1);
                if to - from > ELEMENTS as i64 {
                    return Err(Halt::Opaque);
                }
                let mut elems = Vec::new();
                for n in from..=to {
                    let above = self.at_most_zero(&low.plus(&Lin::number(-n))?)?;
                    let below = self.at_most_zero(&Lin::number(n).minus(&high)?)?;
                    elems.push((Term::Known(Value::int(n)), self.and([above, below])));
                }
                Ok(Term::Set(Rc::new(elems)))
            }
            BinOp::Union => {
                let (x, y) = (self.elements(env, &x)?, self.elements(env, &y)?);
                Ok(self.set_term(x.iter().chain(y.iter()).cloned().collect()))
            }
            BinOp::Inter | BinOp::SetMinus => {
                let (x, y) = match (op, &x) {
                    // The shorter list may stand first.
                    (BinOp::Inter, Term::Known(_)) => (self.elements(env, &y)?, self.elements(env, &x)?),
                    _ => (self.elements(env, &x)?, self.elements(env, &y)?),
                };
                let index = self.index(&y);
                let mut elems = Vec::new();
                for (e, lit) in x.iter() {
                    let inside = self.member_by(env, e, (&y, &index))?;
                    let inside = if op == BinOp::Inter { inside } else { !inside };
                    let lit = self.and([*lit, inside]);
                    if lit != Lit::FALSE {
                        elems.push((e.clone(), lit));
                    }
                }
                Ok(Term::Set(Rc::new(elems)))
            }
            BinOp::Concat => self.joined(env, &x, &y),
            BinOp::Prepend => self.extended(env, &y, &x, false),
            BinOp::Append => self.extended(env, &x, &y, true),
            BinOp::Cartesian => {
                let (x, y) = (self.elements(env, &x)?, self.elements(env, &y)?);
                if x.len() * y.len() > ELEMENTS {
                    return Err(Halt::Opaque);
                }
                let mut elems = Vec::new();
                for (p, l) in x.iter() {
                    for (q, m) in y.iter() {
                        let lit = self.and([*l, *m]);
                        elems.push((fold_pair(Rc::new((p.clone(), q.clone()))), lit));
                    }
                }
                Ok(Term::Set(Rc::new(elems)))
            }
            BinOp::Image
            | BinOp::DomRestrict
            | BinOp::DomSubtract
            | BinOp::RanRestrict
            | BinOp::RanSubtract => {
                let relation_first = matches!(op, BinOp::Image | BinOp::RanRestrict | BinOp::RanSubtract);
                let (r, s) = if relation_first { (&x, &y) } else { (&y, &x) };
                let (r, s) = (self.elements(env, r)?, self.elements(env, s)?);
                let index = self.index(&s);
                let mut elems = Vec::new();
                for (e, lit) in r.iter() {
                    let (p, q) = split(e)?;
                    let key = if matches!(op, BinOp::RanRestrict | BinOp::RanSubtract) { &q } else { &p };
                    let inside = self.member_by(env, key, (&s, &index))?;
                    let inside =
                        if matches!(op, BinOp::DomSubtract | BinOp::RanSubtract) { !inside } else { inside };
                    let lit = self.and([*lit, inside]);
                    if lit != Lit::FALSE {
                        elems.push((if op == BinOp::Image { q } else { e.clone() }, lit));
                    }
                }
                Ok(self.set_term(elems))
            }
            _ => Err(Halt::Opaque),
        }
    }

    /// A set of elements; known ones that stand there several times become one.
    fn set_term(&mut self, elems: Vec<(Term, Lit)>) -> Term {
        let mut known: Vec<(Value, Vec<Lit>)> = Vec::new();
        let mut rest = Vec::new();
        for (e, lit) in elems {
            match e {
                Term::Known(v) if !v.mentions_symbolic() => known.push((v, vec![lit])),
                e => rest.push((e, lit)),
            }
        }
        known.sort_by(|a, b| a.0.cmp(&b.0));
        known.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1.append(&mut b.1);
            }
            same
        });
        let mut merged: Vec<(Term, Lit)> =
            known.into_iter().map(|(v, lits)| (Term::Known(v), self.or(lits))).collect();
        merged.append(&mut rest);
        Term::Set(Rc::new(merged))
    }
}

/// The variables and conjuncts of a comprehension with those of the `#` that stand among its conjuncts; `None` if there are
/// no such.
fn unquantified(vars: &[VarId], p: &Pred) -> Option<(Vec<VarId>, Vec<Pred>)> {
    fn collect(p: &Pred, vars: &mut Vec<VarId>, out: &mut Vec<Pred>) {
        match &p.kind {
            PredKind::And(ps) => ps.iter().for_each(|q| collect(q, vars, out)),
            PredKind::Label(_, q) => collect(q, vars, out),
            PredKind::Exists(bound, body) => {
                vars.extend(bound);
                collect(body, vars, out);
            }
            _ => out.push(p.clone()),
        }
    }
    let (mut all, mut preds) = (vars.to_vec(), Vec::new());
    collect(p, &mut all, &mut preds);
    (all.len() > vars.len()).then_some((all, preds))
}

/// The parts of an element of a relation.
pub(crate) fn split(e: &Term) -> Built<(Term, Term)> {
    match e {
        Term::Pair(p) => Ok((p.0.clone(), p.1.clone())),
        Term::Known(v) => match v.as_pair() {
            Some((x, y)) => Ok((Term::Known(x.clone()), Term::Known(y.clone()))),
            None => Err(Halt::Opaque),
        },
        _ => Err(Halt::Opaque),
    }
}
