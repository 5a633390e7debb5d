//! Values taken apart along the form of an expression that builds them: sequences along `s^t`, `e->s`, `s<-e`,
//! `conc([s,t])` and `rev(s)`, intervals along `a..b`.
//!
//! In: such an expression with unknown variables, and the value it must have. Out: every way to give the
//! variables values. A sequence of n elements falls into two parts in n+1 ways; what is no sequence is the value of
//! no such expression, because its operators are defined on sequences only.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::solve::order::{Item, Sink};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, Type, UnOp, VarId};
use bombus_lang::value::Value;

/// A piece of a sequence.
enum Part<'e> {
    /// As long as this, and equal to it.
    Known(Vec<Value>),
    /// One element for each expression.
    Items(Vec<&'e Expr>),
    /// Any length between two.
    Open(&'e Expr, usize, usize),
}

/// An expression and a value that fit, ready to be matched in all ways.
pub(crate) struct Parting<'e> {
    parts: Vec<Part<'e>>,
    items: Vec<Value>,
}

type Found<'a> = &'a mut dyn FnMut(&mut Env, &[VarId]) -> Res<Flow>;

impl<'e> Parting<'e> {
    /// Base-2 logarithm of an upper bound on the number of ways.
    pub(crate) fn cost(&self) -> f64 {
        let open = self.parts.iter().filter(|p| matches!(p, Part::Open(_, low, high) if low < high)).count();
        ((self.items.len() + 1) as f64).log2() * open.saturating_sub(1) as f64
    }
}

/// Whether an expression has a form that `parting` looks at.
pub(crate) fn is_compound(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Binary(BinOp::Concat | BinOp::Prepend | BinOp::Append, ..)
        | ExprKind::Unary(UnOp::Rev | UnOp::Conc, _) => matches!(e.ty, Type::Pow(_)),
        ExprKind::Binary(BinOp::Interval, ..) => true,
        _ => false,
    }
}

impl Interpreter<'_> {
    /// How `value` falls apart along `pattern`: `None` if the form does not tell, `Some(None)` if it has no such form.
    /// What is said of the length of a piece counts, also where other values of the piece would leave it undefined:
    /// all pieces of a sequence are sequences, and these have a size.
    pub(crate) fn parting<'e>(
        &self,
        env: &mut Env,
        (unknown, open): (&[VarId], &[Item]),
        pattern: &'e Expr,
        value: &Value,
    ) -> Res<Option<Option<Parting<'e>>>> {
        let Some(list) = self.list(env, value)? else { return Ok(None) };
        if let ExprKind::Binary(BinOp::Interval, a, b) = &pattern.kind {
            if !self.binds(unknown, a) && !self.binds(unknown, b) {
                return Ok(None);
            }
            let (Some(Value::Int(low)), Some(Value::Int(high))) = (list.first(), list.last()) else {
                // Every `a..b` with a > b is empty.
                return Ok(None);
            };
            if high.sub(low).add(&Int::ONE) != Int::from(list.len()) {
                return Ok(Some(None));
            }
            let items = vec![Value::Int(low.clone()), Value::Int(high.clone())];
            return Ok(Some(Some(Parting { parts: vec![Part::Items(vec![a, b])], items })));
        }
        let mut pattern = pattern;
        let listed = Value::Set(list);
        let Some(items) = listed.as_seq() else { return Ok(Some(None)) };
        let mut items: Vec<Value> = items.into_iter().cloned().collect();
        while let ExprKind::Unary(UnOp::Rev, inner) = &pattern.kind {
            items.reverse();
            pattern = inner;
        }
        let mut parts = Vec::new();
        if !self.pieces_of(env, unknown, pattern, &mut parts)? {
            return Ok(None);
        }
        for part in &mut parts {
            if let Part::Open(Expr { kind: ExprKind::Var(v), .. }, low, high) = part
                && let Some(lengths) = self.lengths(env, unknown, open, *v, false)?
            {
                (*low, *high) = lengths;
            }
        }
        let binds = parts.iter().any(|p| match p {
            Part::Open(..) => true,
            Part::Items(es) => es.iter().any(|e| self.binds(unknown, e)),
            Part::Known(_) => false,
        });
        Ok(binds.then_some(Some(Parting { parts, items })))
    }

    /// Whether a pattern has a sequence inside that its value, once known, can be taken apart along.
    pub(crate) fn binds_parts(&self, unknown: &[VarId], e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Pair(a, b) => self.binds_parts(unknown, a) || self.binds_parts(unknown, b),
            ExprKind::Rec(es) => es.iter().any(|e| self.binds_parts(unknown, e)),
            ExprKind::Binary(BinOp::Interval, ..) => false,
            _ => is_compound(e) && self.has_unknown(unknown, e) && self.opens(unknown, e),
        }
    }

    /// Whether every unknown piece of a sequence is bound by taking it apart.
    fn opens(&self, unknown: &[VarId], e: &Expr) -> bool {
        if !self.has_unknown(unknown, e) {
            return true;
        }
        match &e.kind {
            ExprKind::Var(_) => true,
            ExprKind::SeqExt(es) => es.iter().any(|e| self.binds(unknown, e)),
            ExprKind::Binary(BinOp::Concat, a, b) => self.opens(unknown, a) && self.opens(unknown, b),
            ExprKind::Binary(BinOp::Prepend, x, s) | ExprKind::Binary(BinOp::Append, s, x) => {
                self.opens(unknown, s) && (self.has_unknown(unknown, s) || self.binds(unknown, x))
            }
            ExprKind::Unary(UnOp::Conc, list) => match &list.kind {
                ExprKind::SeqExt(es) => es.iter().all(|e| self.opens(unknown, e)),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether values can be taken apart along the sequences inside a pattern. Not if a known piece is no sequence: then
    /// the pattern is undefined whatever the unknown ones are, which shows when they are known by other means.
    pub(crate) fn falls_apart(&self, env: &mut Env, unknown: &[VarId], pattern: &Expr) -> Res<bool> {
        Ok(match &pattern.kind {
            ExprKind::Pair(a, b) => {
                self.falls_apart(env, unknown, a)? && self.falls_apart(env, unknown, b)?
            }
            ExprKind::Rec(es) => {
                for e in es {
                    if !self.falls_apart(env, unknown, e)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ if self.binds_parts(unknown, pattern) => {
                self.pieces_of(env, unknown, pattern, &mut Vec::new())?
            }
            _ => true,
        })
    }

    /// The sequences inside a pattern that are to be taken apart, with their values.
    pub(crate) fn compounds<'e>(
        &self,
        unknown: &[VarId],
        pattern: &'e Expr,
        value: &Value,
        out: &mut Vec<(&'e Expr, Value)>,
    ) {
        match (&pattern.kind, value) {
            (ExprKind::Pair(a, b), Value::Pair(p)) => {
                self.compounds(unknown, a, &p.0, out);
                self.compounds(unknown, b, &p.1, out);
            }
            (ExprKind::Rec(es), Value::Rec(fields)) => {
                es.iter().zip(fields.iter()).for_each(|(e, x)| self.compounds(unknown, e, x, out));
            }
            _ if self.binds_parts(unknown, pattern) => out.push((pattern, value.clone())),
            _ => {}
        }
    }

    /// The pieces an expression puts together; false if it has another form.
    fn pieces_of<'e>(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        e: &'e Expr,
        out: &mut Vec<Part<'e>>,
    ) -> Res<bool> {
        if !self.has_unknown(unknown, e) {
            let Ok(value) = self.eval(env, e) else { return Ok(false) };
            let Some(list) = self.list(env, &value)? else { return Ok(false) };
            let listed = Value::Set(list);
            let Some(items) = listed.as_seq() else { return Ok(false) };
            out.push(Part::Known(items.into_iter().cloned().collect()));
            return Ok(true);
        }
        match &e.kind {
            ExprKind::Var(_) => out.push(Part::Open(e, 0, usize::MAX)),
            ExprKind::SeqExt(es) => out.push(Part::Items(es.iter().collect())),
            ExprKind::Binary(BinOp::Concat, a, b) => {
                return Ok(self.pieces_of(env, unknown, a, out)? && self.pieces_of(env, unknown, b, out)?);
            }
            ExprKind::Binary(BinOp::Prepend, x, s) => {
                out.push(Part::Items(vec![x]));
                return self.pieces_of(env, unknown, s, out);
            }
            ExprKind::Binary(BinOp::Append, s, x) => {
                if !self.pieces_of(env, unknown, s, out)? {
                    return Ok(false);
                }
                out.push(Part::Items(vec![x]));
            }
            ExprKind::Unary(UnOp::Conc, list) => {
                let ExprKind::SeqExt(es) = &list.kind else { return Ok(false) };
                for e in es {
                    if !self.pieces_of(env, unknown, e, out)? {
                        return Ok(false);
                    }
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Calls `found` with the variables bound, in every way; they are unbound again afterwards.
    pub(crate) fn each_parting(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        parting: &Parting,
        found: Found,
    ) -> Res<Flow> {
        self.part(env, unknown, &parting.parts, &parting.items, &mut Vec::new(), found)
    }

    fn part(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        parts: &[Part],
        items: &[Value],
        bound: &mut Vec<VarId>,
        found: Found,
    ) -> Res<Flow> {
        self.tick()?;
        let Some((first, rest)) = parts.split_first() else {
            return if items.is_empty() { found(env, bound) } else { Ok(Flow::Go) };
        };
        let before = bound.len();
        let lengths = match first {
            Part::Known(xs) => xs.len()..=xs.len(),
            Part::Items(es) => es.len()..=es.len(),
            Part::Open(_, low, high) if rest.is_empty() => {
                if !(*low..=*high).contains(&items.len()) {
                    return Ok(Flow::Go);
                }
                items.len()..=items.len()
            }
            Part::Open(_, low, high) => *low..=*high.min(&items.len()),
        };
        for n in lengths {
            if n > items.len() {
                break;
            }
            let (here, after) = items.split_at(n);
            let mut exact = true;
            let fits = match first {
                Part::Known(xs) => self.all_equal(env, xs, here)?,
                Part::Items(es) => {
                    let mut fits = true;
                    for (e, x) in es.iter().zip(here) {
                        fits = fits && self.fits_item(env, unknown, e, x, bound, &mut exact)?;
                    }
                    fits
                }
                Part::Open(e, ..) => {
                    let whole = Value::seq(here.iter().cloned());
                    self.match_pattern(env, unknown, e, &whole, bound, &mut exact)?
                }
            };
            let flow = if fits { self.part(env, unknown, rest, after, bound, found)? } else { Flow::Go };
            for v in bound.drain(before..) {
                env.unbind(v);
            }
            if flow == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }

    /// Matches one item. An item without a value fits nothing; the search for undefined valuations meets it.
    fn fits_item(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        e: &Expr,
        x: &Value,
        bound: &mut Vec<VarId>,
        exact: &mut bool,
    ) -> Res<bool> {
        match self.match_pattern(env, unknown, e, x, bound, exact) {
            Err(error) if error.is_finding() => {
                self.loosen();
                Ok(false)
            }
            other => other,
        }
    }

    /// `pattern = known`: the search goes on in every way.
    pub(crate) fn bind_parts(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        (at, pattern_left): (usize, bool),
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let conjunct = open[at].conjunct.clone();
        let PredKind::Rel(_, a, b) = &conjunct.pred.kind else { return Ok(Flow::Go) };
        let (pattern, known) = if pattern_left { (a, b) } else { (b, a) };
        let value = self.eval(env, known)?;
        // The conjunct stays, to be tested when all its variables are known.
        self.search_parts(env, unknown, open.to_vec(), pending, &[(pattern, value)], sink)
    }

    /// Goes on in every way in which the given values can be taken apart.
    pub(crate) fn search_parts(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        todo: Vec<Item>,
        pending: Option<Error>,
        parts: &[(&Expr, Value)],
        sink: Sink,
    ) -> Res<Flow> {
        let Some(((pattern, value), others)) = parts.split_first() else {
            return self.search(env, unknown, todo, pending, sink);
        };
        if !self.has_unknown(unknown, pattern) {
            return self.search_parts(env, unknown, todo, pending, others, sink);
        }
        match self.parting(env, (unknown, &todo), pattern, value)? {
            Some(Some(parting)) => self.each_parting(env, unknown, &parting, &mut |env, bound| {
                let rest: Vec<VarId> = unknown.iter().copied().filter(|v| !bound.contains(v)).collect();
                self.search_parts(env, &rest, todo.clone(), pending.clone(), others, sink)
            }),
            Some(None) => Ok(Flow::Go),
            None => sink(env, Some(&Error::unbounded(pattern.span, "a sequence could not be taken apart"))),
        }
    }

    fn all_equal(&self, env: &mut Env, xs: &[Value], ys: &[Value]) -> Res<bool> {
        for (x, y) in xs.iter().zip(ys) {
            if !self.equal(env, x, y)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
