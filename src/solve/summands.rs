//! Images of an unknown function that take part in a sum or a product.
//!
//! In: conjuncts such as `f(1)+f(2) = 5`, `SIGMA(x).(x:c|f(x)*x) <= 9`, `PI(i).(i:1..4|f(i)) = 12`, and the rows of `f`
//! that are known. Out: bounds of another image, and whether the rows can still be completed. An image lies between the
//! ends of the set of images; what the sum leaves beyond the least and the greatest of the others bounds it. A factor
//! of a product that is not zero divides it, and so do all factors that are known together.
//! A conjunct that applies the function outside of its points has no value: there the step is loose.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Flow, Res};
use crate::eval::interval;
use crate::solve::bounds::Range;
use crate::solve::functions::settled;
use crate::solve::inverses::quotient;
use crate::solve::plan::Conjunct;
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Terms of one sum at most.
const TERMS: usize = 1 << 12;
/// More images than this are no help.
const IMAGES: i64 = 1 << 16;
/// Sums nested deeper than this are not looked into.
const DEPTH: u32 = 32;

/// What sums and products say about the images of one function.
pub(crate) struct Sums {
    var: VarId,
    /// The ends of the set of images.
    images: Range,
    sums: Vec<Sum>,
    products: Vec<Product>,
}

/// `within.low <= rest + Σ coefficient*f(point) <= within.high`
struct Sum {
    terms: Vec<(Value, Int)>,
    rest: Int,
    within: Range,
    /// The points of the function, if it has a row for each.
    points: Option<Arc<[Value]>>,
    /// Variables that stand for the image of a point.
    images: Vec<(VarId, Value)>,
}

/// `known * Π f(point) = value`, where the value is not zero.
struct Product {
    points: Vec<Value>,
    known: Int,
    value: Int,
}

impl Interpreter<'_> {
    /// The sums and products among conjuncts that speak of nothing unknown but the function `var`.
    pub(crate) fn sums_about(
        &self,
        env: &mut Env,
        conjuncts: &[Arc<Conjunct>],
        (var, images): (VarId, &Value),
        points_of: &[Value],
        total: bool,
    ) -> Res<Sums> {
        let hull = self.spans(env, images)?.and_then(|s| s.hull());
        let images = hull.map_or(Range::default(), |(low, high)| Range { low, high });
        let mut all = Sums { var, images, sums: Vec::new(), products: Vec::new() };
        for c in conjuncts {
            let PredKind::Rel(op, a, b) = &c.pred.kind else { continue };
            if a.ty != Type::Integer || !mentions(a, var) && !mentions(b, var) {
                continue;
            }
            let zero = Some(Int::ZERO);
            let within = match op {
                RelOp::Equal => Range { low: zero.clone(), high: zero },
                RelOp::LessEqual => Range { low: None, high: zero },
                RelOp::Less => Range { low: None, high: Some(Int::from(-1i64)) },
                RelOp::GreaterEqual => Range { low: zero, high: None },
                RelOp::Greater => Range { low: Some(Int::ONE), high: None },
                _ => continue,
            };
            let points = total.then(|| points_of.into());
            let mut sum = Sum { terms: Vec::new(), rest: Int::ZERO, within, points, images: Vec::new() };
            let is_sum = self.add_terms(env, var, a, &Int::ONE, &mut sum, DEPTH)?
                && self.add_terms(env, var, b, &Int::from(-1i64), &mut sum, DEPTH)?;
            let product = match op {
                RelOp::Equal if !is_sum => self.product_of(env, var, a, b)?,
                _ => None,
            };
            let mut used = sum.terms.iter().map(|(x, _)| x).take(if is_sum { TERMS } else { 0 });
            let inside = |x: &Value| total && points_of.binary_search(x).is_ok();
            let defined = used.all(inside) && product.as_ref().is_none_or(|p| p.points.iter().all(inside));
            if !is_sum && product.is_none() {
                continue;
            }
            if !defined {
                if self.careful.get() {
                    continue;
                }
                self.loosen();
            }
            if is_sum {
                all.sums.push(sum);
            }
            all.products.extend(product);
        }
        Ok(all)
    }

    /// Adds `k*e` to a sum; false if `e` is no sum of images and known numbers.
    fn add_terms(
        &self,
        env: &mut Env,
        var: VarId,
        e: &Expr,
        k: &Int,
        sum: &mut Sum,
        depth: u32,
    ) -> Res<bool> {
        if depth == 0 || sum.terms.len() >= TERMS {
            return Ok(false);
        }
        let is_open = |e: &Expr, sum: &Sum| {
            mentions(e, var) || free::mentions(e, &|v| sum.images.iter().any(|(w, _)| *w == v))
        };
        if !is_open(e, sum) {
            let Some(Value::Int(n)) = settled(self.eval(env, e))? else { return Ok(false) };
            sum.rest = sum.rest.add(&n.mul(k));
            return Ok(true);
        }
        match &e.kind {
            ExprKind::Var(v) => match sum.images.iter().find(|(w, _)| w == v) {
                Some((_, point)) => {
                    let point = point.clone();
                    sum.add(point, k);
                    Ok(true)
                }
                None => Ok(false),
            },
            ExprKind::Binary(BinOp::Add, a, b) => Ok(self.add_terms(env, var, a, k, sum, depth - 1)?
                && self.add_terms(env, var, b, k, sum, depth - 1)?),
            ExprKind::Binary(BinOp::Sub, a, b) => Ok(self.add_terms(env, var, a, k, sum, depth - 1)?
                && self.add_terms(env, var, b, &k.neg(), sum, depth - 1)?),
            ExprKind::Unary(UnOp::Neg, a) => self.add_terms(env, var, a, &k.neg(), sum, depth - 1),
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (known, open) = if is_open(a, sum) { (b, a) } else { (a, b) };
                if is_open(known, sum) {
                    return Ok(false);
                }
                match settled(self.eval(env, known))? {
                    Some(Value::Int(n)) => self.add_terms(env, var, open, &k.mul(&n), sum, depth - 1),
                    _ => Ok(false),
                }
            }
            ExprKind::Apply(..) => match self.point_of(env, var, e)? {
                Some(point) => {
                    sum.add(point, k);
                    Ok(true)
                }
                None => Ok(false),
            },
            ExprKind::Big(BigOp::Sigma, vars, pred, body) => {
                if free::mentions_in(pred, &|v| v == var) {
                    return self.add_rows(env, var, (vars, pred, body), k, sum, depth);
                }
                let mut fits = true;
                let run = self.solutions(env, vars, pred, &mut |env, error| {
                    fits = fits && error.is_none() && self.add_terms(env, var, body, k, sum, depth - 1)?;
                    Ok(if fits { Flow::Go } else { Flow::Stop })
                });
                Ok(settled(run)?.is_some() && fits)
            }
            _ => Ok(false),
        }
    }

    /// Adds `SIGMA(x).(x:dom(f)|e)` or `SIGMA(x,y).((x|->y):f|e)` to a sum, for a function that has a row for each of its
    /// points: x is each point in turn, and y its image.
    fn add_rows(
        &self,
        env: &mut Env,
        var: VarId,
        (vars, pred, body): (&[VarId], &Pred, &Expr),
        k: &Int,
        sum: &mut Sum,
        depth: u32,
    ) -> Res<bool> {
        let PredKind::Rel(RelOp::In, row, set) = &pred.kind else { return Ok(false) };
        let is_var = |e: &Expr, v: VarId| matches!(e.kind, ExprKind::Var(w) if w == v);
        let (x, y) = match (vars, &row.kind, &set.kind) {
            ([x], _, ExprKind::Unary(UnOp::Dom, f)) if is_var(row, *x) && is_var(f, var) => (*x, None),
            ([x, y], ExprKind::Pair(a, b), _) if is_var(a, *x) && is_var(b, *y) && is_var(set, var) => {
                (*x, Some(*y))
            }
            _ => return Ok(false),
        };
        let Some(points) = sum.points.clone() else { return Ok(false) };
        let saved = env.take(vars);
        let images = sum.images.len();
        let mut fits = Ok(true);
        for point in points.iter() {
            env.bind(x, point.clone());
            sum.images.extend(y.map(|y| (y, point.clone())));
            fits = self.add_terms(env, var, body, k, sum, depth - 1);
            sum.images.truncate(images);
            env.unbind(x);
            if !matches!(fits, Ok(true)) {
                break;
            }
        }
        env.restore(saved);
        fits
    }

    /// `a = b`, one side of which is a product of images and the other a known number that is not zero.
    fn product_of(&self, env: &mut Env, var: VarId, a: &Expr, b: &Expr) -> Res<Option<Product>> {
        for (x, y) in [(a, b), (b, a)] {
            if mentions(y, var) {
                continue;
            }
            let Some(Value::Int(value)) = settled(self.eval(env, y))? else { continue };
            let mut product = Product { points: Vec::new(), known: Int::ONE, value };
            if !product.value.is_zero() && self.add_factors(env, var, x, &mut product, DEPTH)? {
                return Ok(Some(product));
            }
        }
        Ok(None)
    }

    fn add_factors(
        &self,
        env: &mut Env,
        var: VarId,
        e: &Expr,
        product: &mut Product,
        depth: u32,
    ) -> Res<bool> {
        if depth == 0 || product.points.len() >= TERMS {
            return Ok(false);
        }
        if !mentions(e, var) {
            let Some(Value::Int(n)) = settled(self.eval(env, e))? else { return Ok(false) };
            product.known = product.known.mul(&n);
            return Ok(true);
        }
        match &e.kind {
            ExprKind::Binary(BinOp::Mul, a, b) => Ok(self.add_factors(env, var, a, product, depth - 1)?
                && self.add_factors(env, var, b, product, depth - 1)?),
            ExprKind::Apply(..) => Ok(match self.point_of(env, var, e)? {
                Some(point) => {
                    product.points.push(point);
                    true
                }
                None => false,
            }),
            ExprKind::Big(BigOp::Pi, vars, pred, body) => {
                if free::mentions_in(pred, &|v| v == var) {
                    return Ok(false);
                }
                let mut fits = true;
                let run = self.solutions(env, vars, pred, &mut |env, error| {
                    fits = fits && error.is_none() && self.add_factors(env, var, body, product, depth - 1)?;
                    Ok(if fits { Flow::Go } else { Flow::Stop })
                });
                Ok(settled(run)?.is_some() && fits)
            }
            _ => Ok(false),
        }
    }

    /// The point of `var(point)`.
    fn point_of(&self, env: &mut Env, var: VarId, e: &Expr) -> Res<Option<Value>> {
        match &e.kind {
            ExprKind::Apply(f, arg)
                if matches!(f.kind, ExprKind::Var(v) if v == var) && !mentions(arg, var) =>
            {
                settled(self.eval_canon(env, arg))
            }
            _ => Ok(None),
        }
    }

    /// The images of `point` that some sum or product leaves, if these are finitely many.
    pub(crate) fn summand(&self, env: &mut Env, all: &Sums, point: &Value) -> Res<Option<Arc<[Value]>>> {
        let Some(Range { low: Some(low), high: Some(high) }) = all.left(env, point) else { return Ok(None) };
        match high.sub(&low).small() {
            Some(width) if width < IMAGES => self.list(env, &interval(&low, &high)),
            None if high < low => Ok(Some(Arc::from([]))),
            _ => Ok(None),
        }
    }

    /// Whether the rows that are known can be part of a function that satisfies all sums and products.
    pub(crate) fn sums_fit(&self, env: &Env, all: &Sums) -> bool {
        let reaches = |sum: &Sum| {
            let Some(r) = all.range(env, sum, None) else { return true };
            let below = |a: &Option<Int>, b: &Option<Int>| matches!((a, b), (Some(a), Some(b)) if a < b);
            !below(&r.high, &sum.within.low) && !below(&sum.within.high, &r.low)
        };
        let divides = |product: &Product| match all.known(env, product) {
            Some(known) => product.value.div(&known).is_some_and(|q| q.mul(&known) == product.value),
            None => true,
        };
        all.sums.iter().all(reaches) && all.products.iter().all(divides)
    }
}

impl Sum {
    /// Adds the image of a point, so many times.
    fn add(&mut self, point: Value, times: &Int) {
        match self.terms.iter_mut().find(|(x, _)| *x == point) {
            Some((_, n)) => *n = n.add(times),
            None => self.terms.push((point, times.clone())),
        }
    }
}

impl Sums {
    /// The range that sums and products leave to the image of a point; `None` if none of them speaks of the point.
    fn left(&self, env: &Env, point: &Value) -> Option<Range> {
        let mut left = None;
        let mut meet = |r: Range| {
            let before: &mut Range = left.get_or_insert_with(|| self.images.clone());
            before.low = further(before.low.take(), r.low, Int::max);
            before.high = further(before.high.take(), r.high, Int::min);
        };
        for sum in &self.sums {
            let Some((_, k)) = sum.terms.iter().find(|(x, _)| x == point) else { continue };
            let Some(others) = self.range(env, sum, Some(point)) else { continue };
            meet(quotient(&sum.within.add(&others.times(&Int::from(-1i64))), k));
        }
        for product in &self.products {
            if let (true, Some(known)) = (product.points.contains(point), self.known(env, product))
                && let Some(rest) = product.value.div(&known)
            {
                let most = if rest.is_negative() { rest.neg() } else { rest };
                meet(Range { low: Some(most.neg()), high: Some(most) });
            }
        }
        left
    }

    /// Which of the sorted images of a point are left, from where to where.
    pub(crate) fn ends(&self, env: &Env, point: &Value, images: &[Value]) -> (usize, usize) {
        let Some(left) = self.left(env, point).filter(|_| images.len() > 1) else { return (0, images.len()) };
        if !images.iter().all(|y| matches!(y, Value::Int(_))) || !images.is_sorted() {
            return (0, images.len());
        }
        let below = |n: &Option<Int>, y: &Value| matches!((n, y), (Some(n), Value::Int(y)) if y < n);
        let above = |n: &Option<Int>, y: &Value| matches!((n, y), (Some(n), Value::Int(y)) if y > n);
        let from = images.partition_point(|y| below(&left.low, y));
        (from, images.partition_point(|y| !above(&left.high, y)).max(from))
    }

    /// The range of a sum, without the term of one point; `None` if a point has no image.
    fn range(&self, env: &Env, sum: &Sum, without: Option<&Value>) -> Option<Range> {
        let rows = env.partial(self.var);
        let mut all = Range::point(sum.rest.clone());
        for (x, k) in sum.terms.iter().filter(|(x, _)| Some(x) != without) {
            let image = match rows.and_then(|rows| rows.get(x)) {
                Some(Some(Value::Int(n))) => Range::point(n.clone()),
                Some(_) => return None,
                None => self.images.clone(),
            };
            all = all.add(&image.times(k));
        }
        Some(all)
    }

    /// The product of all factors that are known; `None` if a point has no image.
    fn known(&self, env: &Env, product: &Product) -> Option<Int> {
        let rows = env.partial(self.var);
        let mut all = product.known.clone();
        for x in &product.points {
            match rows.and_then(|rows| rows.get(x)) {
                Some(Some(Value::Int(n))) => all = all.mul(n),
                Some(_) => return None,
                None => {}
            }
        }
        Some(all)
    }
}

/// The tighter of two ends, each of which need not be known.
fn further(a: Option<Int>, b: Option<Int>, tighter: impl Fn(Int, Int) -> Int) -> Option<Int> {
    match (a, b) {
        (Some(a), Some(b)) => Some(tighter(a, b)),
        (a, b) => a.or(b),
    }
}

fn mentions(e: &Expr, var: VarId) -> bool {
    free::mentions(e, &|v| v == var)
}
