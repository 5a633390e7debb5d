//! Which element breaks a membership, an inclusion or an equation of sets.
//!
//! In: a value and the set, as an expression, that it is not in. Out: words that name the maplet, element, index or
//! field at fault, and the parts of a comprehension that are false. A function space is never listed.

use super::formula::is_obvious;
use super::{Explainer, Node, cut};
use bombus_base::Int;
use bombus_evaluate::apply::components;
use bombus_evaluate::env::Env;
use bombus_lang::typed::{Arrow, BinOp, Expr, ExprKind, Type, UnOp};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Elements of a difference that are named.
const NAMED: usize = 5;
/// Values inside of words are cut.
const LONGEST: usize = 80;
/// Deeper parts of a set are not followed.
const DEPTH: usize = 16;

impl Explainer<'_> {
    pub(super) fn show(&self, v: &Value, ty: &Type) -> String {
        cut(&v.show(self.machine, ty), LONGEST)
    }

    /// Whether `x` is in a set; `None` if that is not known.
    fn is_in(&self, env: &mut Env, x: &Value, set: &Expr) -> Option<bool> {
        let set = self.interpreter.eval_lazy(env, set).ok()?;
        self.interpreter.member(env, x, &set).ok()
    }

    fn elements(&self, env: &mut Env, v: &Value) -> Option<Arc<[Value]>> {
        self.interpreter.list(env, v).ok().flatten()
    }

    /// Says why `x` is not in `set`; whether there was anything to say.
    pub(super) fn outside(
        &self,
        env: &mut Env,
        x: &Value,
        ty: &Type,
        set: &Expr,
        node: &mut Node,
        depth: usize,
    ) -> bool {
        if depth > DEPTH {
            return false;
        }
        let depth = depth + 1;
        match &set.kind {
            ExprKind::Symbolic(set) => self.outside(env, x, ty, set, node, depth),
            ExprKind::Binary(op, a, b) => match (op.arrow(), op) {
                (Some(arrow), _) => self.no_arrow(env, x, ty, arrow, (a, b), node, depth),
                (None, BinOp::Interval) => self.out_of_interval(env, x, a, b, node),
                (None, BinOp::Cartesian) => {
                    let (Some((left, right)), Type::Prod(s, t)) = (x.as_pair(), ty) else { return false };
                    self.missing(env, left, s, a, "", node, depth)
                        || self.missing(env, right, t, b, "", node, depth)
                }
                (None, BinOp::SetMinus) if self.is_in(env, x, a) == Some(true) => {
                    node.notes.push(format!(
                        "{} is taken away: it is in {}",
                        self.show(x, ty),
                        self.expr_text(b, set.span)
                    ));
                    true
                }
                (None, BinOp::SetMinus) => self.missing(env, x, ty, a, "", node, depth),
                (None, BinOp::Inter) => {
                    let side = if self.is_in(env, x, a) == Some(false) { a } else { b };
                    self.missing(env, x, ty, side, "", node, depth)
                }
                _ => false,
            },
            ExprKind::Unary(op, s) => self.no_collection(env, x, ty, *op, s, node, depth),
            ExprKind::Compr(vars, p) => {
                let Some(parts) = components(x, vars.len()) else { return false };
                let values = parts.into_iter().map(|v| Some(v.clone())).collect();
                self.with_witness(env, vars, values, node, &mut |env, node| {
                    node.parts.push(self.predicate(env, p, set.span, depth));
                });
                true
            }
            ExprKind::Natural | ExprKind::Natural1 => {
                let bound = if matches!(set.kind, ExprKind::Natural) { "negative" } else { "less than 1" };
                node.notes.push(format!("{} is {bound}", self.show(x, ty)));
                true
            }
            ExprKind::StructSet(sets) => {
                let (Value::Rec(fields), Type::Struct(names)) = (x, ty) else { return false };
                fields.iter().zip(names.iter()).zip(sets).any(|((field, (name, ty)), set)| {
                    self.missing(env, field, ty, set, &format!("field {name}: "), node, depth)
                })
            }
            _ => false,
        }
    }

    /// Says that `x` is not in `set`, if so, and why.
    #[allow(clippy::too_many_arguments)]
    fn missing(
        &self,
        env: &mut Env,
        x: &Value,
        ty: &Type,
        set: &Expr,
        of: &str,
        node: &mut Node,
        depth: usize,
    ) -> bool {
        if self.is_in(env, x, set) != Some(false) {
            return false;
        }
        let text = self.expr_text(set, bombus_base::Span::default());
        let mut words = format!("{of}{} is not in {text}", self.show(x, ty));
        if !is_obvious(set)
            && !super::formula::is_space(set)
            && let Ok(v) = self.interpreter.eval(env, set)
        {
            words.push_str(&format!(" = {}", self.show(&v, &set.ty)));
        }
        node.notes.push(words);
        if super::formula::is_space(set) && !is_obvious(set) {
            self.outside(env, x, ty, set, node, depth);
        }
        true
    }

    fn out_of_interval(&self, env: &mut Env, x: &Value, a: &Expr, b: &Expr, node: &mut Node) -> bool {
        let bound = |env: &mut Env, e: &Expr| -> Option<Int> { self.interpreter.integer(env, e).ok() };
        let (Some(n), Some(low), Some(high)) = (x.as_int(), bound(env, a), bound(env, b)) else {
            return false;
        };
        node.notes.push(if low > high {
            format!("{low}..{high} is empty")
        } else if *n < low {
            format!("{n} is less than {low}")
        } else {
            format!("{n} is greater than {high}")
        });
        true
    }

    /// Why `x` is no relation or function of this kind between two sets.
    #[allow(clippy::too_many_arguments)]
    fn no_arrow(
        &self,
        env: &mut Env,
        x: &Value,
        ty: &Type,
        arrow: Arrow,
        (a, b): (&Expr, &Expr),
        node: &mut Node,
        depth: usize,
    ) -> bool {
        let (Some(rows), Some((s, t))) = (self.elements(env, x), sides(ty)) else { return false };
        let pairs: Vec<(&Value, &Value)> = rows.iter().filter_map(Value::as_pair).collect();
        let maplet = |x: &Value, y: &Value| format!("{}|->{}", self.show(x, s), self.show(y, t));
        for (x, y) in &pairs {
            let of = format!("{}: ", maplet(x, y));
            if self.missing(env, x, s, a, &of, node, depth) || self.missing(env, y, t, b, &of, node, depth) {
                return true;
            }
        }
        if arrow.functional
            && let Some(w) = pairs.windows(2).find(|w| w[0].0 == w[1].0)
        {
            node.notes.push(format!(
                "no function: {} and {}",
                maplet(w[0].0, w[0].1),
                maplet(w[1].0, w[1].1)
            ));
            return true;
        }
        let missed =
            |this: &Self, env: &mut Env, set: &Expr, has: &dyn Fn(&Value) -> bool| -> Option<Value> {
                let all = this.interpreter.eval(env, set).ok()?;
                this.elements(env, &all)?.iter().find(|v| !has(v)).cloned()
            };
        if arrow.total
            && let Some(v) = missed(self, env, a, &|v| pairs.iter().any(|(x, _)| *x == v))
        {
            let of = self.expr_text(a, bombus_base::Span::default());
            node.notes.push(format!("not total: {} of {of} is mapped to nothing", self.show(&v, s)));
            return true;
        }
        if arrow.onto
            && let Some(v) = missed(self, env, b, &|v| pairs.iter().any(|(_, y)| *y == v))
        {
            let of = self.expr_text(b, bombus_base::Span::default());
            node.notes.push(format!("not onto: nothing is mapped to {} of {of}", self.show(&v, t)));
            return true;
        }
        if arrow.injective {
            for (i, (x, y)) in pairs.iter().enumerate() {
                if let Some((z, _)) = pairs[..i].iter().find(|(_, w)| w == y) {
                    node.notes.push(format!("not injective: {} and {}", maplet(z, y), maplet(x, y)));
                    return true;
                }
            }
        }
        false
    }

    /// Why `x` is no subset, or no sequence, of a set.
    #[allow(clippy::too_many_arguments)]
    fn no_collection(
        &self,
        env: &mut Env,
        x: &Value,
        ty: &Type,
        op: UnOp,
        set: &Expr,
        node: &mut Node,
        depth: usize,
    ) -> bool {
        use UnOp::*;
        if !matches!(op, Pow | Pow1 | Fin | Fin1 | Seq | Seq1 | Iseq | Iseq1 | Perm) {
            return false;
        }
        let Some(items) = self.elements(env, x) else { return false };
        if items.is_empty() && matches!(op, Pow1 | Fin1 | Seq1 | Iseq1) {
            node.notes.push("it is empty".into());
            return true;
        }
        if let Pow | Pow1 | Fin | Fin1 = op {
            let Type::Pow(elem) = ty else { return false };
            return items.iter().any(|v| self.missing(env, v, elem, set, "", node, depth));
        }
        let Some((_, item)) = sides(ty) else { return false };
        let Some(sequence) = x.as_seq() else {
            let indices: Vec<&Value> = items.iter().filter_map(|p| Some(p.as_pair()?.0)).collect();
            let gap = (1..).map(Value::int).find(|n| !indices.contains(&n));
            let gap = gap.map(|n| self.show(&n, &Type::Integer)).unwrap_or_default();
            let twice = indices.windows(2).find(|w| w[0] == w[1]).map(|w| self.show(w[0], &Type::Integer));
            node.notes.push(match twice {
                Some(n) => format!("no sequence: index {n} occurs twice"),
                None => format!("no sequence: index {gap} is missing"),
            });
            return true;
        };
        for (i, v) in sequence.iter().enumerate() {
            if self.missing(env, v, item, set, &format!("item {}: ", i + 1), node, depth) {
                return true;
            }
            if matches!(op, Iseq | Iseq1 | Perm)
                && let Some(j) = sequence[..i].iter().position(|w| w == v)
            {
                let v = self.show(v, item);
                node.notes.push(format!("items {} and {} are both {v}", j + 1, i + 1));
                return true;
            }
        }
        if op == Perm
            && let Ok(all) = self.interpreter.eval(env, set)
            && let Some(v) =
                self.elements(env, &all).and_then(|all| all.iter().find(|v| !sequence.contains(v)).cloned())
        {
            node.notes.push(format!("{} does not occur", self.show(&v, item)));
            return true;
        }
        false
    }

    /// Names what is in one set and not in the other.
    fn difference(&self, left: &[Value], right: &[Value], elem: &Type) -> Option<String> {
        let only: Vec<&Value> = left.iter().filter(|v| right.binary_search(v).is_err()).collect();
        if only.is_empty() {
            return None;
        }
        let named: Vec<String> = only.iter().take(NAMED).map(|v| self.show(v, elem)).collect();
        let more = only.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("{}{more}", named.join(", ")))
    }

    /// Says in what two values differ; only sets and records need words.
    pub(super) fn differ(&self, env: &mut Env, a: &Expr, b: &Expr, node: &mut Node) -> bool {
        let (Ok(x), Ok(y)) = (self.interpreter.eval_canon(env, a), self.interpreter.eval_canon(env, b))
        else {
            return false;
        };
        if let (Value::Rec(xs), Value::Rec(ys), Type::Struct(names)) = (&x, &y, &a.ty) {
            for ((x, y), (name, ty)) in
                xs.iter().zip(ys.iter()).zip(names.iter()).filter(|((x, y), _)| x != y)
            {
                node.notes.push(format!("field {name}: {} and {}", self.show(x, ty), self.show(y, ty)));
            }
            return true;
        }
        let Type::Pow(elem) = &a.ty else { return false };
        let (Some(xs), Some(ys)) = (self.elements(env, &x), self.elements(env, &y)) else { return false };
        if xs.is_empty() || ys.is_empty() {
            return false;
        }
        if let Some(words) = self.difference(&xs, &ys, elem) {
            node.notes.push(format!("only on the left: {words}"));
        }
        if let Some(words) = self.difference(&ys, &xs, elem) {
            node.notes.push(format!("only on the right: {words}"));
        }
        true
    }

    /// Names the elements of the first set that are not in the second.
    pub(super) fn not_included(&self, env: &mut Env, a: &Expr, b: &Expr, node: &mut Node) -> bool {
        let (Ok(x), Type::Pow(elem)) = (self.interpreter.eval_canon(env, a), &a.ty) else { return false };
        let Some(items) = self.elements(env, &x) else { return false };
        let Ok(set) = self.interpreter.eval_operand(env, b) else { return false };
        let mut is_outside = |v: &Value| self.interpreter.member(env, v, &set).is_ok_and(|inside| !inside);
        let only: Vec<Value> = items.iter().filter(|v| is_outside(v)).cloned().collect();
        match self.difference(&only, &[], elem) {
            Some(words) => node
                .notes
                .push(format!("not in {}: {words}", self.expr_text(b, bombus_base::Span::default()))),
            None => node.notes.push("both sets are equal".into()),
        }
        true
    }

    /// Why some sets are no partition of a set.
    pub(super) fn not_a_partition(&self, env: &mut Env, whole: &Expr, parts: &[Expr]) -> Vec<String> {
        let mut notes = Vec::new();
        let Type::Pow(elem) = &whole.ty else { return notes };
        let list = |env: &mut Env, e: &Expr| -> Option<Arc<[Value]>> {
            let v = self.interpreter.eval_canon(env, e).ok()?;
            self.elements(env, &v)
        };
        let Some(all) = list(env, whole) else { return notes };
        let mut seen: Vec<(Value, usize)> = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let Some(items) = list(env, part) else { return notes };
            for v in items.iter() {
                let text = |i: usize| self.expr_text(&parts[i], bombus_base::Span::default());
                if let Some((_, j)) = seen.iter().find(|(w, _)| w == v) {
                    notes.push(format!("{} is in {} and in {}", self.show(v, elem), text(*j), text(i)));
                }
                if all.binary_search(v).is_err() {
                    notes.push(format!("{} of {} is not in the whole", self.show(v, elem), text(i)));
                }
                seen.push((v.clone(), i));
            }
        }
        for v in all.iter().filter(|v| seen.iter().all(|(w, _)| w != *v)) {
            notes.push(format!("{} is in no part", self.show(v, elem)));
        }
        notes.truncate(NAMED);
        notes
    }
}

/// The types of both sides of a relation.
fn sides(ty: &Type) -> Option<(&Type, &Type)> {
    match ty {
        Type::Pow(pair) => match &**pair {
            Type::Prod(a, b) => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}
