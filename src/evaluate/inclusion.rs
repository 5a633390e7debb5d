//! Inclusion of sets that cannot be listed, proved part by part.
//!
//! In: two symbolic sets. Out: whether the first is known to lie in the second, or known not to. Tuples are looked at
//! component by component, comprehensions conjunct by conjunct, integers as unions of intervals, and what a lambda
//! yields by interval arithmetic. "Not known" is an answer here; a guess never is.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::integer_sets::Spans;
use crate::solve::functions::settled;
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Base, Closure, ClosureKind, Symbolic, Value};
use std::cell::Cell;

/// The integers that are tried where an inclusion is not proved.
const SAMPLES: std::ops::RangeInclusive<i64> = -2..=4;

/// How many integers are tried from the end of a set for its least or greatest element.
const NEAR: usize = 10_000;

/// What is known of one component of the elements of a set.
enum Component {
    /// It runs through all of this set.
    Exactly(Value),
    /// It lies in each of these sets; for integers, in these intervals.
    Within(Vec<Value>, Option<Spans>),
}

/// What a proof about the values of a lambda rests on.
struct Known<'a> {
    /// Its variables, and what is known of each.
    parts: Vec<(VarId, Component)>,
    lambda: &'a Closure,
    /// The set that all values are to be shown to lie in.
    set: &'a Value,
    /// Which argument becomes smaller, and in which way, where the lambda applies itself: the same everywhere.
    measure: Cell<Option<(usize, Shrinks)>>,
}

/// Ways in which an argument cannot become smaller for ever.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shrinks {
    Down,
    Up,
    ByAnItem,
}

impl Interpreter<'_> {
    /// Whether `a` lies in `b`; `None` if that is not known.
    pub(crate) fn included(&self, env: &mut Env, a: &Value, b: &Value) -> Res<Option<bool>> {
        if let Some(known) = self.affine_included(env, a, b)? {
            return Ok(Some(known));
        }
        if let Some(known) = self.proved(env, a, b)? {
            return Ok(Some(known));
        }
        let (closure, whole) = match a {
            Value::Symbolic(s) => match &**s {
                Symbolic::Closure(c) if !matches!(c.code.kind, ClosureKind::Union | ClosureKind::Inter) => {
                    (c.clone(), b.clone())
                }
                Symbolic::Unary(UnOp::Ran, Value::Symbolic(r)) => match &**r {
                    // A pair lies outside of a product with the whole type when its image lies outside of `b`.
                    Symbolic::Closure(c) if c.code.kind == ClosureKind::Lambda => {
                        let mut domain = Value::symbolic(Symbolic::Base(Base::Integer));
                        for _ in 1..c.code.vars.len() {
                            let more = Value::symbolic(Symbolic::Base(Base::Integer));
                            domain = Value::symbolic(Symbolic::Binary(BinOp::Cartesian, domain, more));
                        }
                        (c.clone(), Value::symbolic(Symbolic::Binary(BinOp::Cartesian, domain, b.clone())))
                    }
                    _ => return Ok(None),
                },
                Symbolic::Binary(BinOp::Inter | BinOp::SetMinus, ..) if holds_integers(a) => {
                    return Ok(self.integer_outside(env, a, b)?.then_some(false));
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(self.sticks_out(env, &closure, &whole)?.then_some(false))
    }

    /// Whether the tuples with one part of each first set are among those with parts of the second sets: they are if each first set lies
    /// in its second one. If one does not, an element that sticks out makes a tuple that does, unless there is no tuple at all
    /// because one of the sets is empty.
    pub(crate) fn subset_by_parts(&self, env: &mut Env, parts: &[(&Value, &Value)]) -> Res<bool> {
        let (mut sticks_out, mut open) = (false, None);
        for (x, y) in parts {
            match self.subset(env, x, y) {
                Ok(inside) => sticks_out |= !inside,
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => open = Some(e),
            }
        }
        if !sticks_out && open.is_none() {
            return Ok(true);
        }
        for (x, _) in parts {
            if self.is_empty(env, x)? {
                return Ok(true);
            }
        }
        open.filter(|_| !sticks_out).map_or(Ok(false), Err)
    }

    /// The least or greatest integer of a comprehension that cannot be listed: the first one that satisfies its
    /// predicate, from the end that its conjuncts leave. `None` if there is no such end or nothing is found near it, and if
    /// the predicate may be undefined at points that are not looked at: then the comprehension may have no value.
    pub(crate) fn extreme_of_comprehension(
        &self,
        env: &mut Env,
        set: &Value,
        least: bool,
    ) -> Res<Option<Int>> {
        let Value::Symbolic(s) = set else { return Ok(None) };
        let Symbolic::Closure(c) = &**s else { return Ok(None) };
        let ([var], [Type::Integer], ClosureKind::Set) = (&c.code.vars[..], &c.code.types[..], c.code.kind)
        else {
            return Ok(None);
        };
        if pred_may_be_undefined(&c.code.pred) {
            return Ok(None);
        }
        let c = c.clone();
        let known =
            self.with_captured(env, &c, &mut |this, env| this.known_of(env, &c, *var, &Type::Integer))?;
        let hull = self.component_spans(env, &known)?.and_then(|spans| spans.hull());
        let Some(mut at) = hull.and_then(|(low, high)| if least { low } else { high }) else {
            return Ok(None);
        };
        for _ in 0..NEAR {
            if self.member(env, &Value::Int(at.clone()), set)? {
                return Ok(Some(at));
            }
            at = if least { at.add(&Int::ONE) } else { at.sub(&Int::ONE) };
        }
        Ok(None)
    }

    fn proved(&self, env: &mut Env, a: &Value, b: &Value) -> Res<Option<bool>> {
        if let (Some(x), Some(y)) = (self.spans(env, a)?, self.spans(env, b)?) {
            return Ok(Some(x.is_subset(&y)));
        }
        if let Value::Symbolic(s) = b
            && let Symbolic::Closure(c) = &**s
            && c.code.kind == ClosureKind::Set
            && let Some(parts) = self.components_of(env, a, c.code.vars.len())?
        {
            let c = c.clone();
            let proved = self.with_captured(env, &c, &mut |this, env| {
                for q in c.code.pred.conjuncts() {
                    if !this.implied(env, &parts, &c.code.vars, q)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })?;
            return Ok(proved.then_some(true));
        }
        let Value::Symbolic(s) = a else { return Ok(None) };
        match &**s {
            Symbolic::Closure(c) => match c.code.kind {
                ClosureKind::Set => {
                    let n = c.code.vars.len();
                    let (Some(parts), Some(sets)) = (self.components_of(env, a, n)?, factors(b, n)) else {
                        return Ok(None);
                    };
                    for (part, set) in parts.iter().zip(sets) {
                        if !self.component_in(env, part, &set)? {
                            return Ok(None);
                        }
                    }
                    Ok(Some(true))
                }
                ClosureKind::Lambda => {
                    let Value::Symbolic(t) = b else { return Ok(None) };
                    let Symbolic::Binary(BinOp::Cartesian, x, y) = &**t else { return Ok(None) };
                    let domain = self.domain(env, a)?;
                    let known = self.subset(env, &domain, x);
                    Ok((matches!(known, Ok(true)) && self.images_in(env, c, y)?).then_some(true))
                }
                ClosureKind::SetOf => Ok(self.images_in(env, c, b)?.then_some(true)),
                _ => Ok(None),
            },
            Symbolic::Unary(UnOp::Ran, Value::Symbolic(r)) => match &**r {
                Symbolic::Closure(c) if c.code.kind == ClosureKind::Lambda => {
                    Ok(self.images_in(env, c, b)?.then_some(true))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Whether some element of a comprehension over few integers is found outside of `b`.
    fn sticks_out(&self, env: &mut Env, c: &Closure, b: &Value) -> Res<bool> {
        let n = c.code.vars.len();
        if n > 2 || c.code.types.iter().any(|t| *t != Type::Integer) {
            return Ok(false);
        }
        let tried: Vec<i64> = SAMPLES.collect();
        for i in 0..tried.len().pow(n as u32) {
            let mut point = Value::int(tried[i % tried.len()]);
            if n == 2 {
                point = Value::pair(point, Value::int(tried[i / tried.len()]));
            }
            let element = self.with_closure(env, c, &point, &mut |this, env| {
                if !this.holds(env, &c.code.pred)? {
                    return Ok(None);
                }
                Ok(Some(match (&c.code.body, c.code.kind) {
                    (Some(e), ClosureKind::Lambda) => Value::pair(point.clone(), this.eval_canon(env, e)?),
                    (Some(e), _) => this.eval_canon(env, e)?,
                    (None, _) => point.clone(),
                }))
            });
            if let Ok(Some(x)) = element
                && let Ok(false) = self.member(env, &x, b)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether one of a few integers lies in `a` and not in `b`: one is enough to refute an inclusion.
    fn integer_outside(&self, env: &mut Env, a: &Value, b: &Value) -> Res<bool> {
        for n in SAMPLES.map(Value::int) {
            if settled(self.member(env, &n, a))? == Some(true)
                && settled(self.member(env, &n, b))? == Some(false)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The components of the elements of a set of n-tuples.
    fn components_of(&self, env: &mut Env, a: &Value, n: usize) -> Res<Option<Vec<Component>>> {
        if let Value::Symbolic(s) = a
            && let Symbolic::Closure(c) = &**s
            && c.code.kind == ClosureKind::Set
            && c.code.vars.len() == n
        {
            return Ok(Some(self.with_captured(env, c, &mut |this, env| {
                let mut parts = Vec::with_capacity(n);
                for (v, t) in c.code.vars.iter().zip(&c.code.types) {
                    parts.push(this.known_of(env, c, *v, t)?);
                }
                Ok(parts)
            })?));
        }
        Ok(factors(a, n).map(|sets| sets.into_iter().map(Component::Exactly).collect()))
    }

    /// What the conjuncts of a comprehension say about one of its variables alone.
    fn known_of(&self, env: &mut Env, c: &Closure, v: VarId, t: &Type) -> Res<Component> {
        let mut sets = Vec::new();
        let mut spans: Option<Spans> = None;
        for p in c.code.pred.conjuncts() {
            if free::of_pred(p).iter().any(|w| *w != v && c.code.vars.contains(w)) {
                continue;
            }
            if let PredKind::Rel(op @ (RelOp::In | RelOp::Subset), x, set) = &p.kind
                && matches!(x.kind, ExprKind::Var(w) if w == v)
                && !free::mentions(set, &|w| w == v)
                && let Ok(set) = self.eval_lazy(env, set)
            {
                sets.push(match op {
                    RelOp::In => set,
                    _ => Value::symbolic(Symbolic::Unary(UnOp::Pow, set)),
                });
            }
            if *t == Type::Integer
                && let Some(s) = self.spans_of_pred(env, p, v)?
            {
                spans = Some(match spans {
                    None => s,
                    Some(before) => before.inter(&s),
                });
            }
        }
        Ok(Component::Within(sets, spans))
    }

    fn component_in(&self, env: &mut Env, part: &Component, set: &Value) -> Res<bool> {
        if self.is_whole_type(set) {
            return Ok(true);
        }
        match part {
            Component::Exactly(a) => Ok(matches!(self.subset(env, a, set), Ok(true))),
            Component::Within(sets, spans) => {
                if let (Some(s), Some(t)) = (spans, self.spans(env, set)?) {
                    return Ok(s.is_subset(&t));
                }
                Ok(sets.iter().any(|a| matches!(self.subset(env, a, set), Ok(true))))
            }
        }
    }

    fn component_spans(&self, env: &mut Env, part: &Component) -> Res<Option<Spans>> {
        match part {
            Component::Exactly(a) => self.spans(env, a),
            Component::Within(_, spans) => Ok(spans.clone()),
        }
    }

    /// Whether a conjunct about the variables `vars` holds for all tuples with these components.
    fn implied(&self, env: &mut Env, parts: &[Component], vars: &[VarId], p: &Pred) -> Res<bool> {
        let about: Vec<usize> =
            vars.iter().enumerate().filter(|(_, v)| free::of_pred(p).contains(v)).map(|(i, _)| i).collect();
        let [i] = about[..] else {
            return Ok(about.is_empty() && matches!(self.holds(env, p), Ok(true)));
        };
        if let PredKind::Rel(op @ (RelOp::In | RelOp::Subset), x, set) = &p.kind
            && matches!(x.kind, ExprKind::Var(w) if w == vars[i])
            && !free::mentions(set, &|w| w == vars[i])
        {
            let Ok(set) = self.eval_lazy(env, set) else { return Ok(false) };
            let set = match op {
                RelOp::In => set,
                _ => Value::symbolic(Symbolic::Unary(UnOp::Pow, set)),
            };
            return self.component_in(env, &parts[i], &set);
        }
        match (self.component_spans(env, &parts[i])?, self.spans_of_pred(env, p, vars[i])?) {
            (Some(s), Some(t)) => Ok(s.is_subset(&t)),
            _ => Ok(false),
        }
    }

    /// Whether everything that `%x.(P|E)` or `{x·P|E}` yields is known to lie in a set.
    fn images_in(&self, env: &mut Env, c: &Closure, set: &Value) -> Res<bool> {
        let Some(body) = &c.code.body else { return Ok(false) };
        let c = c.clone();
        self.with_captured(env, &c, &mut |this, env| {
            let mut parts = Vec::with_capacity(c.code.vars.len());
            for (v, t) in c.code.vars.iter().zip(&c.code.types) {
                parts.push((*v, this.known_of(env, &c, *v, t)?));
            }
            this.value_in(env, &Known { parts, lambda: &c, set, measure: Cell::new(None) }, body, set)
        })
    }

    fn value_in(&self, env: &mut Env, known: &Known, e: &Expr, set: &Value) -> Res<bool> {
        if self.is_whole_type(set) {
            return Ok(true);
        }
        match &e.kind {
            ExprKind::If(_, a, b) => {
                return Ok(self.value_in(env, known, a, set)? && self.value_in(env, known, b, set)?);
            }
            ExprKind::Pair(a, b) => {
                return match factors(set, 2).as_deref() {
                    Some([x, y]) => Ok(self.value_in(env, known, a, x)? && self.value_in(env, known, b, y)?),
                    _ => Ok(false),
                };
            }
            ExprKind::Var(v) => {
                if let Some((_, part)) = known.parts.iter().find(|(w, _)| w == v) {
                    return self.component_in(env, part, set);
                }
            }
            ExprKind::Apply(f, x) if self.is_smaller_instance(env, known, f, x)? => {
                return Ok(set == known.set || matches!(self.subset(env, known.set, set), Ok(true)));
            }
            _ => {}
        }
        if let Some(inside) = self.sequence_in(env, known, e, set)? {
            return Ok(inside);
        }
        if let (ExprKind::Binary(BinOp::Interval, low, high), Value::Symbolic(s)) = (&e.kind, set)
            && let Symbolic::Unary(UnOp::Pow | UnOp::Fin, around) = &**s
        {
            let ends = (self.hull_of(env, known, low)?, self.hull_of(env, known, high)?);
            let between = Spans::between(ends.0.and_then(|e| e.0), ends.1.and_then(|e| e.1));
            return Ok(self.spans(env, around)?.is_some_and(|around| between.is_subset(&around)));
        }
        if !free::mentions(e, &|v| known.parts.iter().any(|(w, _)| *w == v)) {
            return Ok(match self.eval(env, e) {
                Ok(value) => matches!(self.member(env, &value, set), Ok(true)),
                Err(_) => false,
            });
        }
        match (self.hull_of(env, known, e)?, self.spans(env, set)?) {
            (Some((low, high)), Some(set)) => Ok(Spans::between(low, high).is_subset(&set)),
            _ => Ok(false),
        }
    }

    /// An interval that the value of an integer expression lies in.
    #[allow(clippy::type_complexity)]
    fn hull_of(&self, env: &mut Env, known: &Known, e: &Expr) -> Res<Option<(Option<Int>, Option<Int>)>> {
        if e.ty != Type::Integer {
            return Ok(None);
        }
        if !free::mentions(e, &|v| known.parts.iter().any(|(w, _)| *w == v)) {
            return Ok(match self.eval(env, e) {
                Ok(Value::Int(n)) => Some((Some(n.clone()), Some(n))),
                _ => None,
            });
        }
        let sum = |x: Option<Int>, y: Option<Int>| Some(x?.add(&y?));
        Ok(match &e.kind {
            ExprKind::Var(v) => match known.parts.iter().find(|(w, _)| w == v) {
                Some((_, part)) => {
                    let spans = self.component_spans(env, part)?;
                    Some(spans.and_then(|s| s.hull()).unwrap_or((None, None)))
                }
                None => None,
            },
            ExprKind::Unary(UnOp::Neg, a) => {
                self.hull_of(env, known, a)?.map(|(l, h)| (h.map(|n| n.neg()), l.map(|n| n.neg())))
            }
            ExprKind::Binary(BinOp::Add, a, b) => {
                match (self.hull_of(env, known, a)?, self.hull_of(env, known, b)?) {
                    (Some((l, h)), Some((l2, h2))) => Some((sum(l, l2), sum(h, h2))),
                    _ => None,
                }
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                match (self.hull_of(env, known, a)?, self.hull_of(env, known, b)?) {
                    (Some((l, h)), Some((l2, h2))) => {
                        Some((sum(l, h2.map(|n| n.neg())), sum(h, l2.map(|n| n.neg()))))
                    }
                    _ => None,
                }
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (a_hull, b_hull) = (self.hull_of(env, known, a)?, self.hull_of(env, known, b)?);
                match (a_hull, b_hull) {
                    // Factors that are not negative.
                    (Some((Some(l), h)), Some((Some(l2), h2))) if !l.is_negative() && !l2.is_negative() => {
                        let high = match (h, h2) {
                            (Some(h), Some(h2)) => Some(h.mul(&h2)),
                            _ => None,
                        };
                        Some((Some(l.mul(&l2)), high))
                    }
                    // A square.
                    _ if same_var(a, b) => Some((Some(Int::ZERO), None)),
                    _ => None,
                }
            }
            // A remainder is defined for a positive divisor only.
            ExprKind::Binary(BinOp::Mod, _, b) => match self.hull_of(env, known, b)? {
                Some((_, high)) => Some((Some(Int::ZERO), high.map(|n| n.sub(&Int::ONE)))),
                None => Some((Some(Int::ZERO), None)),
            },
            ExprKind::Unary(UnOp::Card | UnOp::Size, s) => {
                Some((Some(if is_filled(known, s) { Int::ONE } else { Int::ZERO }), None))
            }
            ExprKind::Apply(f, x) if self.is_smaller_instance(env, known, f, x)? => {
                Some(self.spans(env, known.set)?.and_then(|s| s.hull()).unwrap_or((None, None)))
            }
            ExprKind::If(_, a, b) => match (self.hull_of(env, known, a)?, self.hull_of(env, known, b)?) {
                (Some((l, h)), Some((l2, h2))) => Some((
                    match (l, l2) {
                        (Some(x), Some(y)) => Some(x.min(y)),
                        _ => None,
                    },
                    match (h, h2) {
                        (Some(x), Some(y)) => Some(x.max(y)),
                        _ => None,
                    },
                )),
                _ => None,
            },
            _ => None,
        })
    }

    /// Whether a lambda applies itself to a smaller argument: then the value lies in the set that all its values are shown to
    /// lie in, by induction. Smaller is an integer nearer to an end that the domain has, and a sequence without its first or last item.
    /// Besides the lambda the function may have listed rows, whose images lie in that set.
    fn is_smaller_instance(&self, env: &mut Env, known: &Known, f: &Expr, x: &Expr) -> Res<bool> {
        let ExprKind::Var(v) = f.kind else { return Ok(false) };
        let Some(value) = env.get(v).cloned() else { return Ok(false) };
        let mut itself = false;
        let mut open = vec![&value];
        while let Some(part) = open.pop() {
            match part {
                Value::Symbolic(s) => match &**s {
                    Symbolic::Closure(c) if is_same_closure(c, known.lambda) => itself = true,
                    Symbolic::Binary(BinOp::Union, a, b) => open.extend([a, b]),
                    _ => return Ok(false),
                },
                Value::Set(rows) => {
                    for (_, y) in rows.iter().filter_map(Value::as_pair) {
                        if !matches!(self.member(env, y, known.set), Ok(true)) {
                            return Ok(false);
                        }
                    }
                }
                _ => return Ok(false),
            }
        }
        let mut args = vec![x];
        while args.len() < known.parts.len() {
            let ExprKind::Pair(a, b) = &args[0].kind else { return Ok(false) };
            args.splice(0..1, [&**a, &**b]);
        }
        for (at, (arg, (v, part))) in args.into_iter().zip(&known.parts).enumerate() {
            let Some(how) = self.shrinks(env, arg, *v, part)?.filter(|_| itself) else { continue };
            // One measure for all applications: otherwise they could call each other round and round.
            if known.measure.get().is_none_or(|measure| measure == (at, how)) {
                known.measure.set(Some((at, how)));
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn shrinks(&self, env: &mut Env, arg: &Expr, v: VarId, part: &Component) -> Res<Option<Shrinks>> {
        if let ExprKind::Unary(UnOp::Tail | UnOp::Front, s) = &arg.kind {
            return Ok(matches!(s.kind, ExprKind::Var(w) if w == v).then_some(Shrinks::ByAnItem));
        }
        if arg.ty != Type::Integer {
            return Ok(None);
        }
        let Some((factor, shift)) = self.linear_in(env, arg, v)? else { return Ok(None) };
        let (low, high) = self.component_spans(env, part)?.and_then(|s| s.hull()).unwrap_or((None, None));
        Ok(match factor == Int::ONE {
            true if shift.is_negative() && low.is_some() => Some(Shrinks::Down),
            true if shift >= Int::ONE && high.is_some() => Some(Shrinks::Up),
            _ => None,
        })
    }

    /// Whether a sequence made by an operator is known to be one over the set that `set` has the sequences of, and whether an item
    /// of a sequence lies in a set; `None` for other expressions.
    fn sequence_in(&self, env: &mut Env, known: &Known, e: &Expr, set: &Value) -> Res<Option<bool>> {
        if let ExprKind::Unary(UnOp::First | UnOp::Last, s) = &e.kind {
            let sequences = Value::symbolic(Symbolic::Unary(UnOp::Seq, set.clone()));
            return self.value_in(env, known, s, &sequences).map(Some);
        }
        let Value::Symbolic(of) = set else { return Ok(None) };
        let items = match &**of {
            Symbolic::Unary(UnOp::Seq, items) => items.clone(),
            Symbolic::Unary(UnOp::Seq1, items) => return self.filled_sequence_in(env, known, e, items),
            _ => return Ok(None),
        };
        Ok(match &e.kind {
            ExprKind::Unary(UnOp::Tail | UnOp::Front | UnOp::Rev, s) => {
                Some(self.value_in(env, known, s, set)?)
            }
            ExprKind::Binary(BinOp::Concat, s, t) => {
                Some(self.value_in(env, known, s, set)? && self.value_in(env, known, t, set)?)
            }
            ExprKind::Binary(BinOp::Append, s, x) | ExprKind::Binary(BinOp::Prepend, x, s) => {
                Some(self.value_in(env, known, s, set)? && self.value_in(env, known, x, &items)?)
            }
            ExprKind::SeqExt(xs) => {
                for x in xs {
                    if !self.value_in(env, known, x, &items)? {
                        return Ok(Some(false));
                    }
                }
                Some(true)
            }
            _ => None,
        })
    }

    /// Whether the value of an expression is a sequence with at least one of these items; none if the form of the expression does not
    /// tell.
    fn filled_sequence_in(&self, env: &mut Env, known: &Known, e: &Expr, items: &Value) -> Res<Option<bool>> {
        let of = |op| Value::symbolic(Symbolic::Unary(op, items.clone()));
        Ok(match &e.kind {
            ExprKind::Unary(UnOp::Rev, s) => Some(self.value_in(env, known, s, &of(UnOp::Seq1))?),
            ExprKind::Binary(BinOp::Concat, s, t) => {
                let both = self.value_in(env, known, s, &of(UnOp::Seq))?
                    && self.value_in(env, known, t, &of(UnOp::Seq))?;
                let one = self.value_in(env, known, s, &of(UnOp::Seq1))?
                    || self.value_in(env, known, t, &of(UnOp::Seq1))?;
                Some(both && one)
            }
            ExprKind::SeqExt(xs) if xs.is_empty() => Some(false),
            ExprKind::Binary(BinOp::Append | BinOp::Prepend, ..) | ExprKind::SeqExt(_) => {
                self.sequence_in(env, known, e, &of(UnOp::Seq))?
            }
            _ => None,
        })
    }
}

/// Whether a variable of a lambda runs through sets or sequences that are not empty.
fn is_filled(known: &Known, e: &Expr) -> bool {
    use UnOp::{Fin1, Iseq1, Pow1, Seq1};
    let ExprKind::Var(v) = e.kind else { return false };
    let filled = |set: &Value| match set {
        Value::Symbolic(s) => matches!(&**s, Symbolic::Unary(Pow1 | Fin1 | Seq1 | Iseq1, _)),
        _ => false,
    };
    known.parts.iter().any(|(w, part)| {
        *w == v
            && match part {
                Component::Exactly(set) => filled(set),
                Component::Within(sets, _) => sets.iter().any(filled),
            }
    })
}

fn is_same_closure(a: &Closure, b: &Closure) -> bool {
    std::sync::Arc::ptr_eq(&a.code, &b.code) && a.captured == b.captured
}

/// The n sets whose product (nested to the left) a set is.
fn factors(set: &Value, n: usize) -> Option<Vec<Value>> {
    if n == 1 {
        return Some(vec![set.clone()]);
    }
    let Value::Symbolic(s) = set else { return None };
    let Symbolic::Binary(BinOp::Cartesian, a, b) = &**s else { return None };
    let mut sets = factors(a, n - 1)?;
    sets.push(b.clone());
    Some(sets)
}

fn same_var(a: &Expr, b: &Expr) -> bool {
    matches!((&a.kind, &b.kind), (ExprKind::Var(x), ExprKind::Var(y)) if x == y)
}

/// Whether the form of a set shows that its elements are integers.
fn holds_integers(v: &Value) -> bool {
    let Value::Symbolic(s) = v else { return matches!(v.as_set(), Some([Value::Int(_), ..])) };
    match &**s {
        Symbolic::Base(Base::Integer | Base::Natural | Base::Natural1) | Symbolic::Interval(..) => true,
        Symbolic::Closure(c) => c.code.kind == ClosureKind::Set && c.code.types[..] == [Type::Integer],
        Symbolic::Binary(BinOp::Inter | BinOp::SetMinus | BinOp::Union, x, _) => holds_integers(x),
        _ => false,
    }
}
