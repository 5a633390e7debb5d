//! Parameters that have no layout but few values, known now: one search for each value.
//!
//! In: a guarded alternative with a conjunct such as `x|->s : R`, where `R` is a listed constant and `s` a sequence, a
//! string or a set of sets. Out: code that goes through the values of `s`, each of which is a constant of its
//! piece of code: whatever depends on it alone is computed now.
//! A value that the conjunct leaves out makes it false, and with it the guard, whatever the other conjuncts are; that
//! needs a pattern that always has a value.

use super::guard::Alternative;
use super::*;
use crate::plan::Estimates;
use crate::uses::Uses;
use bombus_lang::typed::{PredKind, RelOp};

/// Searches in place of one at most.
const MAX_GIVEN: usize = 64;
/// Sets that are estimated to be larger are not listed to look for values.
const MAX_LISTED: f64 = 4096.0;

impl<'w> Lower<'w> {
    /// The value of a constant, or of a parameter that has one in the piece at hand.
    pub(super) fn value_of(&self, v: VarId) -> Option<&'_ Value> {
        self.given.get(&v).or_else(|| self.w.constants.get(&v))
    }

    /// Carries out the search of an alternative for each value of one of its parameters.
    pub(super) fn search_given(
        &mut self,
        guard: &Alternative<'_>,
        state: &super::Env,
        body: &mut dyn FnMut(&mut Self, &super::Env) -> Low<()>,
    ) -> Low<()> {
        let Some((v, values)) = self.few_of_no_layout(guard) else {
            return unsupported("no parameter with few values");
        };
        if values.len() * self.copies > MAX_GIVEN {
            return unsupported("too many values of a parameter");
        }
        let copies = self.copies;
        self.copies *= values.len().max(1);
        // As for unrolled loops: one search after the other, then what is called from inside of them.
        let (floor, mut top) = (self.next, self.next);
        let mut done = Ok(());
        let mark = self.here();
        for value in values {
            self.next = floor;
            self.w.folder.give(v, Some(&value));
            self.given.insert(v, value.clone());
            done = self.search_with(guard, v, &value, state, body);
            self.given.remove(&v);
            self.w.folder.give(v, None);
            top = top.max(self.next);
            if done.is_err() {
                break;
            }
        }
        self.next = top;
        self.copies = copies;
        // Where the guard is false for all values nothing was asked of the other parameters; of one without an end the
        // interpreter has something to tell.
        let others = guard.vars.iter().filter(|w| **w != v);
        if self.here() == mark && others.into_iter().any(|w| self.is_endless(&self.w.machine.var(*w).ty)) {
            return unsupported("a parameter without an end beside a false guard");
        }
        done
    }

    fn search_with(
        &mut self,
        guard: &Alternative<'_>,
        v: VarId,
        value: &Value,
        state: &super::Env,
        body: &mut dyn FnMut(&mut Self, &super::Env) -> Low<()>,
    ) -> Low<()> {
        let Some(conjuncts) = self.left_open(&guard.conjuncts) else { return Ok(()) };
        let ty = self.w.machine.var(v).ty.clone();
        // This is what names the transition, and what is evaluated on values takes.
        let pooled = self.literal(value, &ty, Some(&Layout::Pool))?;
        let vars = guard.vars.iter().copied().filter(|w| *w != v).collect();
        let rest = Alternative { vars, conjuncts, stages: Vec::new(), body: guard.body };
        self.search_guard(&rest, &state.with(v, pooled), body)
    }

    /// A parameter without a layout and the values that a conjunct leaves it, as few as can be.
    fn few_of_no_layout(&self, guard: &Alternative<'_>) -> Option<(VarId, Vec<Value>)> {
        let mut best: Option<(VarId, Vec<Value>)> = None;
        for v in &guard.vars {
            if self.of_type(&self.w.machine.var(*v).ty).is_some() {
                continue;
            }
            for c in &guard.conjuncts {
                let PredKind::Rel(RelOp::In, pattern, set) = &c.kind else { continue };
                let Some(path) = place_in(pattern, *v).filter(|_| has_value(pattern)) else { continue };
                if !self.is_constant_expr(set) || self.size(set) > MAX_LISTED {
                    continue;
                }
                let Some(Value::Set(elems)) = self.w.folder.value(set) else { continue };
                let Some(mut values) =
                    elems.iter().map(|x| at(x, &path).cloned()).collect::<Option<Vec<_>>>()
                else {
                    continue;
                };
                values.sort();
                values.dedup();
                let symbolic = values.iter().any(Value::mentions_symbolic);
                if !symbolic && best.as_ref().is_none_or(|(_, b)| values.len() < b.len()) {
                    best = Some((*v, values));
                }
            }
        }
        best
    }

    /// The conjuncts without those that are true now; `None` if one is false.
    fn left_open(&self, conjuncts: &[Pred]) -> Option<Vec<Pred>> {
        let mut open = Vec::new();
        for c in conjuncts {
            let c = self.without_known_side(c);
            if self.is_constant(&Uses::of_pred(&c)) {
                let truth =
                    Expr { kind: ExprKind::BoolOf(Box::new(c.clone())), ty: Type::Bool, span: c.span };
                match self.w.folder.value(&truth) {
                    Some(Value::Bool(true)) => continue,
                    Some(Value::Bool(false)) => return None,
                    _ => {}
                }
            }
            open.push(c);
        }
        Some(open)
    }

    /// `x|->k : R` with a constant `R` and a known `k` as `x : R~[{k}]`, and `k|->x : R` as `x : R[{k}]`.
    fn without_known_side(&self, c: &Pred) -> Pred {
        let PredKind::Rel(RelOp::In, pattern, set) = &c.kind else { return c.clone() };
        let (ExprKind::Pair(a, b), Type::Pow(pair)) = (&pattern.kind, &set.ty) else { return c.clone() };
        let Type::Prod(left, right) = &**pair else { return c.clone() };
        let known = |e: &Expr| self.is_constant_expr(e);
        if !known(set) {
            return c.clone();
        }
        let make = |kind, ty: Type| Expr { kind, ty, span: set.span };
        let image = |relation: Expr, of: &Expr, elem: &Type| {
            let single = make(ExprKind::SetExt(vec![of.clone()]), Type::pow(of.ty.clone()));
            make(
                ExprKind::Binary(BinOp::Image, Box::new(relation), Box::new(single)),
                Type::pow(elem.clone()),
            )
        };
        let (open, set) = match (known(a), known(b)) {
            (false, true) => {
                let turned = Type::pow(Type::Prod(right.clone(), left.clone()));
                let inverse = make(ExprKind::Unary(UnOp::Inverse, Box::new(set.clone())), turned);
                (a, image(inverse, b, left))
            }
            (true, false) => (b, image(set.clone(), a, right)),
            _ => return c.clone(),
        };
        Pred { kind: PredKind::Rel(RelOp::In, (**open).clone(), set), span: c.span }
    }

    /// The domain of a known function that a conjunct applies to `v`, as a conjunct, if nothing else bounds `v`: all
    /// others say that it is large, or all that it is small, or speak of all values of something else. The
    /// interpreter goes through the same domain then, and outside of it the guard has no value.
    pub(super) fn argument_bound(&self, v: VarId, conjuncts: &[Pred]) -> Option<Pred> {
        if self.w.machine.var(v).ty != Type::Integer {
            return None;
        }
        let is = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
        let mentions = |e: &Expr| Uses::of_expr(e).reads.contains(&v);
        let mut from_above = None;
        let mut domain = None;
        for c in conjuncts.iter().filter(|c| Uses::of_pred(c).reads.contains(&v)) {
            match &c.kind {
                PredKind::Rel(
                    op @ (RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual),
                    a,
                    b,
                ) => {
                    let less = matches!(op, RelOp::Less | RelOp::LessEqual);
                    let above = match (is(a), is(b)) {
                        (true, false) if !mentions(b) => less,
                        (false, true) if !mentions(a) => !less,
                        _ => return None,
                    };
                    if from_above.is_some_and(|known| known != above) {
                        return None;
                    }
                    from_above = Some(above);
                }
                PredKind::Rel(RelOp::In, x, set) if !mentions(x) => {
                    let ExprKind::Apply(_, arg) = &set.kind else { return None };
                    let inner = if is(arg) { set } else { arg };
                    if let ExprKind::Apply(f, arg) = &inner.kind
                        && is(arg)
                        && self.is_constant_expr(f)
                    {
                        let kind = ExprKind::Unary(UnOp::Dom, f.clone());
                        domain = Some(Expr { kind, ty: Type::pow(Type::Integer), span: f.span });
                    }
                }
                PredKind::Forall(..) => {}
                _ => return None,
            }
        }
        let domain = domain?;
        let variable = Expr { kind: ExprKind::Var(v), ty: Type::Integer, span: domain.span };
        Some(Pred { span: domain.span, kind: PredKind::Rel(RelOp::In, variable, domain) })
    }
}

/// Whether a pattern is made of variables and literals, which are never undefined.
fn has_value(pattern: &Expr) -> bool {
    match &pattern.kind {
        ExprKind::Pair(a, b) => has_value(a) && has_value(b),
        ExprKind::Var(_)
        | ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Real(_)
        | ExprKind::Elem(..) => true,
        _ => false,
    }
}

/// The way to a variable in a pattern of pairs: left is false, right is true.
pub(super) fn place_in(pattern: &Expr, v: VarId) -> Option<Vec<bool>> {
    match &pattern.kind {
        ExprKind::Var(w) if *w == v => Some(Vec::new()),
        ExprKind::Pair(a, b) => {
            let below = |e, right| {
                place_in(e, v).map(|mut path| {
                    path.insert(0, right);
                    path
                })
            };
            below(a, false).or_else(|| below(b, true))
        }
        _ => None,
    }
}

pub(super) fn at<'v>(x: &'v Value, path: &[bool]) -> Option<&'v Value> {
    path.iter().try_fold(x, |x, right| x.as_pair().map(|(a, b)| if *right { b } else { a }))
}
