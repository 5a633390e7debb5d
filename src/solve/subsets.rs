//! Unknown sets: the parts of a known set that the other conjuncts leave possible.
//!
//! In: a variable below a known set, and the conjuncts about it. Out: its candidates. Elements that
//! must or must not belong, bounds on the size, and what is said of domain and range narrow them.

use crate::Interpreter;
use crate::enumerate::Visit;
use crate::env::Env;
use crate::error::{Flow, Res};
use crate::size::Card;
use crate::solve::order::Item;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, UnOp, VarId};
use bombus_lang::value::Value;

/// The sets between two others, of bounded size.
#[derive(Debug)]
pub(crate) struct Subsets {
    required: Vec<Value>,
    /// Elements that may be added.
    optional: Vec<Value>,
    least: usize,
    most: usize,
}

impl Subsets {
    /// Base-2 logarithm of an upper bound on their number.
    pub(crate) fn cost(&self) -> f64 {
        let n = self.optional.len();
        let (low, high) = self.extra();
        if low > high {
            return 0.0;
        }
        if low == 0 && high == n {
            return n as f64;
        }
        // Few sizes are possible: the sum of binomials, by floating point.
        let mut total = 0.0f64;
        let mut binomial = 1.0f64;
        for k in 0..=high {
            if k >= low {
                total += binomial;
            }
            binomial = binomial * (n - k.min(n)) as f64 / (k + 1) as f64;
        }
        total.max(1.0).log2()
    }

    /// How many optional elements may be chosen.
    fn extra(&self) -> (usize, usize) {
        let fixed = self.required.len();
        if self.most < fixed {
            return (1, 0);
        }
        (self.least.saturating_sub(fixed), (self.most - fixed).min(self.optional.len()))
    }
}

impl Interpreter<'_> {
    /// What the conjuncts say about `var`, which lies in the listed set `upper`.
    pub(crate) fn subsets_of(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
        upper: &[Value],
    ) -> Res<Subsets> {
        let mut required: Vec<Value> = Vec::new();
        let mut optional: Vec<Value> = upper.to_vec();
        let (mut least, mut most) = (0, upper.len());
        let is_var = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if v == var);
        let known = |e: &Expr| !self.has_unknown(unknown, e);
        let mut possible = true;
        for item in open {
            let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { continue };
            match op {
                RelOp::In if is_var(b) && known(a) => {
                    if let Ok(x) = self.eval_canon(env, a) {
                        possible &= optional.binary_search(&x).is_ok() || required.contains(&x);
                        required.push(x);
                    }
                }
                RelOp::Subset if is_var(b) && known(a) => {
                    if let Ok(s) = self.eval(env, a)
                        && let Some(list) = self.list(env, &s)?
                    {
                        possible &= list.iter().all(|x| upper.binary_search(x).is_ok());
                        required.extend(list.iter().cloned());
                    }
                }
                RelOp::NotIn if is_var(b) && known(a) => {
                    if let Ok(x) = self.eval_canon(env, a) {
                        optional.retain(|y| *y != x);
                    }
                }
                RelOp::Subset if is_var(a) && known(b) => {
                    if let Ok(s) = self.eval_lazy(env, b) {
                        self.keep_parts(env, &mut optional, &s, true, &|x| Some(x.clone()))?;
                    }
                }
                RelOp::Subset | RelOp::Equal => {
                    for (x, y) in [(a, b), (b, a)] {
                        if *op == RelOp::Subset && !std::ptr::eq(x, a) {
                            continue;
                        }
                        if !known(y) {
                            continue;
                        }
                        match &x.kind {
                            ExprKind::Unary(UnOp::Dom, f) if is_var(f) => {
                                if let Ok(s) = self.eval_lazy(env, y) {
                                    let first = |p: &'_ Value| p.as_pair().map(|(x, _)| x.clone());
                                    self.keep_parts(env, &mut optional, &s, true, &first)?;
                                    if *op == RelOp::Equal {
                                        least = least.max(self.card_of(env, &s)?);
                                    }
                                }
                            }
                            ExprKind::Unary(UnOp::Ran, f) if is_var(f) => {
                                if let Ok(s) = self.eval_lazy(env, y) {
                                    let second = |p: &'_ Value| p.as_pair().map(|(_, y)| y.clone());
                                    self.keep_parts(env, &mut optional, &s, true, &second)?;
                                    if *op == RelOp::Equal {
                                        least = least.max(self.card_of(env, &s)?);
                                    }
                                }
                            }
                            ExprKind::Binary(BinOp::Inter, s, t) if *op == RelOp::Equal => {
                                // Disjoint from a known set.
                                let other = if is_var(s) && known(t) {
                                    t
                                } else if is_var(t) && known(s) {
                                    s
                                } else {
                                    continue;
                                };
                                if let (Ok(none), Ok(other)) = (self.eval(env, y), self.eval_lazy(env, other))
                                    && none.as_set().is_some_and(<[Value]>::is_empty)
                                {
                                    self.keep_parts(env, &mut optional, &other, false, &|x| Some(x.clone()))?;
                                }
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            // Bounds on the size.
            for (x, y, flipped) in [(a, b, false), (b, a, true)] {
                if let ExprKind::Unary(UnOp::Card, s) = &x.kind
                    && is_var(s)
                    && known(y)
                    && let Ok(n) = self.integer(env, y)
                {
                    // A size beyond every number here is as good as one more than there are elements.
                    let n = if n.is_negative() {
                        if *op == RelOp::Equal {
                            possible = false;
                        }
                        match (op, flipped) {
                            (RelOp::Less | RelOp::LessEqual, false)
                            | (RelOp::Greater | RelOp::GreaterEqual, true) => possible = false,
                            _ => {}
                        }
                        continue;
                    } else {
                        n.small().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX - 1)
                    };
                    match (op, flipped) {
                        (RelOp::Equal, _) => {
                            least = least.max(n);
                            most = most.min(n);
                        }
                        (RelOp::Less, false) | (RelOp::Greater, true) => {
                            possible &= n > 0;
                            most = most.min(n.saturating_sub(1));
                        }
                        (RelOp::LessEqual, false) | (RelOp::GreaterEqual, true) => most = most.min(n),
                        (RelOp::Greater, false) | (RelOp::Less, true) => least = least.max(n + 1),
                        (RelOp::GreaterEqual, false) | (RelOp::LessEqual, true) => least = least.max(n),
                        _ => {}
                    }
                }
            }
        }
        required.sort();
        required.dedup();
        optional.retain(|x| required.binary_search(x).is_err());
        if !possible {
            most = 0;
            least = 1;
        }
        Ok(Subsets { required, optional, least, most })
    }

    fn card_of(&self, env: &mut Env, s: &Value) -> Res<usize> {
        Ok(match self.card(env, s)? {
            Card::Finite(n) => n.small().and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
            _ => 0,
        })
    }

    /// Drops elements whose part is not inside (or not outside) a set.
    fn keep_parts(
        &self,
        env: &mut Env,
        elems: &mut Vec<Value>,
        set: &Value,
        inside: bool,
        part: &dyn Fn(&Value) -> Option<Value>,
    ) -> Res<()> {
        let mut kept = Vec::with_capacity(elems.len());
        for x in elems.drain(..) {
            let keep = match part(&x) {
                Some(y) => match self.member(env, &y, set) {
                    Ok(b) => b == inside,
                    Err(e) if e.is_stop() => return Err(e),
                    // What cannot be decided is left to the conjunct itself.
                    Err(_) => true,
                },
                None => true,
            };
            if keep {
                kept.push(x);
            }
        }
        *elems = kept;
        Ok(())
    }

    pub(crate) fn each_candidate(&self, env: &mut Env, subsets: &Subsets, visit: Visit) -> Res<Flow> {
        let (low, high) = subsets.extra();
        if low > high {
            return Ok(Flow::Go);
        }
        self.each_choice(env, &subsets.optional, &mut subsets.required.clone(), (low, high), visit)
    }

    /// Adds between `low` and `high` of the elements to what is chosen.
    fn each_choice(
        &self,
        env: &mut Env,
        elems: &[Value],
        chosen: &mut Vec<Value>,
        (low, high): (usize, usize),
        visit: Visit,
    ) -> Res<Flow> {
        self.tick()?;
        if low == 0 && visit(env, Value::set(chosen.clone()))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        if high == 0 {
            return Ok(Flow::Go);
        }
        for i in 0..elems.len() {
            // Enough elements must be left.
            if elems.len() - i < low {
                break;
            }
            chosen.push(elems[i].clone());
            let flow =
                self.each_choice(env, &elems[i + 1..], chosen, (low.saturating_sub(1), high - 1), visit);
            chosen.pop();
            if flow? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }
}
