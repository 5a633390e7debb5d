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
use bombus_base::int::Int;
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

/// What is known about an unknown set while the conjuncts are gone through.
struct Narrowed<'u> {
    upper: &'u [Value],
    required: Vec<Value>,
    optional: Vec<Value>,
    least: usize,
    most: usize,
    /// No conjunct excluded every set so far.
    possible: bool,
}

impl<'u> Narrowed<'u> {
    fn below(upper: &'u [Value]) -> Self {
        let (optional, most) = (upper.to_vec(), upper.len());
        Narrowed { upper, required: Vec::new(), optional, least: 0, most, possible: true }
    }

    /// `size op n`, where `flipped` says that the number stands on the left.
    fn size(&mut self, op: RelOp, n: &Int, flipped: bool) {
        use RelOp::{Equal, Greater, GreaterEqual, Less, LessEqual};
        if n.is_negative() {
            let excludes = matches!(
                (op, flipped),
                (Equal, _) | (Less | LessEqual, false) | (Greater | GreaterEqual, true)
            );
            self.possible &= !excludes;
            return;
        }
        // A size beyond every number here is as good as one more than there are elements.
        let n = n.small().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX - 1);
        match (op, flipped) {
            (Equal, _) => {
                self.least = self.least.max(n);
                self.most = self.most.min(n);
            }
            (Less, false) | (Greater, true) => {
                self.possible &= n > 0;
                self.most = self.most.min(n.saturating_sub(1));
            }
            (LessEqual, false) | (GreaterEqual, true) => self.most = self.most.min(n),
            (Greater, false) | (Less, true) => self.least = self.least.max(n + 1),
            (GreaterEqual, false) | (LessEqual, true) => self.least = self.least.max(n),
            _ => {}
        }
    }

    fn finish(mut self) -> Subsets {
        self.required.sort();
        self.required.dedup();
        let required = &self.required;
        self.optional.retain(|x| required.binary_search(x).is_err());
        let (least, most) = if self.possible { (self.least, self.most) } else { (1, 0) };
        Subsets { required: self.required, optional: self.optional, least, most }
    }
}

/// The unknown set, and what else has no value yet.
struct Unknowns<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    var: VarId,
    others: &'a [VarId],
}

impl Unknowns<'_, '_> {
    fn is_var(&self, e: &Expr) -> bool {
        matches!(e.kind, ExprKind::Var(v) if v == self.var)
    }

    fn known(&self, e: &Expr) -> bool {
        !self.interpreter.has_unknown(self.others, e)
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
        let unknown = Unknowns { interpreter: self, var, others: unknown };
        let mut narrowed = Narrowed::below(upper);
        for item in open {
            let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { continue };
            self.narrow_by_elements(env, &unknown, (*op, a, b), &mut narrowed)?;
            for (x, y, flipped) in [(a, b, false), (b, a, true)] {
                if let ExprKind::Unary(UnOp::Card, s) = &x.kind
                    && unknown.is_var(s)
                    && unknown.known(y)
                    && let Ok(n) = self.integer(env, y)
                {
                    narrowed.size(*op, &n, flipped);
                }
            }
        }
        Ok(narrowed.finish())
    }

    /// Elements that a conjunct demands or excludes.
    fn narrow_by_elements(
        &self,
        env: &mut Env,
        unknown: &Unknowns<'_, '_>,
        (op, a, b): (RelOp, &Expr, &Expr),
        narrowed: &mut Narrowed<'_>,
    ) -> Res<()> {
        match op {
            RelOp::In if unknown.is_var(b) && unknown.known(a) => {
                if let Ok(x) = self.eval_canon(env, a) {
                    narrowed.possible &=
                        narrowed.optional.binary_search(&x).is_ok() || narrowed.required.contains(&x);
                    narrowed.required.push(x);
                }
            }
            RelOp::Subset if unknown.is_var(b) && unknown.known(a) => {
                if let Ok(s) = self.eval(env, a)
                    && let Some(list) = self.list(env, &s)?
                {
                    narrowed.possible &= list.iter().all(|x| narrowed.upper.binary_search(x).is_ok());
                    narrowed.required.extend(list.iter().cloned());
                }
            }
            RelOp::NotIn if unknown.is_var(b) && unknown.known(a) => {
                if let Ok(x) = self.eval_canon(env, a) {
                    narrowed.optional.retain(|y| *y != x);
                }
            }
            RelOp::Subset if unknown.is_var(a) && unknown.known(b) => {
                if let Ok(s) = self.eval_lazy(env, b) {
                    self.keep_parts(env, &mut narrowed.optional, &s, true, &|x| Some(x.clone()))?;
                }
            }
            RelOp::Subset => self.narrow_by_parts(env, unknown, (op, a, b), narrowed)?,
            RelOp::Equal => {
                self.narrow_by_parts(env, unknown, (op, a, b), narrowed)?;
                self.narrow_by_parts(env, unknown, (op, b, a), narrowed)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// `part <: y` or `part = y`, where `part` is a domain, a range or an intersection of the unknown set and `y` is known.
    fn narrow_by_parts(
        &self,
        env: &mut Env,
        unknown: &Unknowns<'_, '_>,
        (op, part, y): (RelOp, &Expr, &Expr),
        narrowed: &mut Narrowed<'_>,
    ) -> Res<()> {
        if !unknown.known(y) {
            return Ok(());
        }
        match &part.kind {
            ExprKind::Unary(side @ (UnOp::Dom | UnOp::Ran), f) if unknown.is_var(f) => {
                let Ok(s) = self.eval_lazy(env, y) else { return Ok(()) };
                let component = |p: &Value| {
                    p.as_pair().map(|(x, y)| if *side == UnOp::Dom { x.clone() } else { y.clone() })
                };
                self.keep_parts(env, &mut narrowed.optional, &s, true, &component)?;
                if op == RelOp::Equal {
                    narrowed.least = narrowed.least.max(self.card_of(env, &s)?);
                }
            }
            ExprKind::Binary(BinOp::Inter, s, t) if op == RelOp::Equal => {
                let other = match (unknown.is_var(s), unknown.is_var(t)) {
                    (true, _) if unknown.known(t) => t,
                    (_, true) if unknown.known(s) => s,
                    _ => return Ok(()),
                };
                // Disjoint from a known set.
                if let (Ok(none), Ok(other)) = (self.eval(env, y), self.eval_lazy(env, other))
                    && none.as_set().is_some_and(<[Value]>::is_empty)
                {
                    self.keep_parts(env, &mut narrowed.optional, &other, false, &|x| Some(x.clone()))?;
                }
            }
            _ => {}
        }
        Ok(())
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
