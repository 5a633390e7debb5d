//! Laws of sets that hold whatever their elements are.
//!
//! In: a claim `s <: t`, `s = t`, `x : s` or `x /: s` about sets put together by union, intersection and difference, and hypotheses of the same
//! kinds. Out: whether the claim holds by truth tables. Whether an element lies in `s \/ t` depends only on whether it lies in `s` and in
//! `t`; so a claim about all elements holds if it holds for every way in which one element can lie in the sets
//! that are not put together, as far as the hypotheses leave that way open.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::hypotheses::{Hypotheses, Known, alike};
use crate::simplified::decided;
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, RelOp, Type};

/// More sets have too many ways.
const SETS: usize = 10;

/// Whether an element lies in a set that is put together.
enum Lies {
    Always(bool),
    /// In the set of this number.
    In(usize),
    Both(Box<Lies>, Box<Lies>),
    Either(Box<Lies>, Box<Lies>),
    /// In the first, not in the second.
    Only(Box<Lies>, Box<Lies>),
}

impl Lies {
    /// Bit n of `way` says whether the element lies in set n.
    fn holds(&self, way: u32) -> bool {
        match self {
            Lies::Always(truth) => *truth,
            Lies::In(n) => (way >> n) & 1 == 1,
            Lies::Both(a, b) => a.holds(way) && b.holds(way),
            Lies::Either(a, b) => a.holds(way) || b.holds(way),
            Lies::Only(a, b) => a.holds(way) && !b.holds(way),
        }
    }
}

/// The sets that are not put together.
#[derive(Default)]
struct Sets(Vec<Expr>);

impl Sets {
    /// `None` where a set may have no value, or where there are too many.
    fn lies(&mut self, set: &Expr) -> Option<Lies> {
        let mut both = |a: &Expr, b: &Expr| Some((Box::new(self.lies(a)?), Box::new(self.lies(b)?)));
        Some(match &set.kind {
            ExprKind::TypeSet(Type::Integer | Type::Bool | Type::String | Type::Real | Type::Set(_)) => {
                Lies::Always(true)
            }
            ExprKind::SetExt(elems) if elems.is_empty() => Lies::Always(false),
            ExprKind::Binary(BinOp::Union, a, b) => both(a, b).map(|(a, b)| Lies::Either(a, b))?,
            ExprKind::Binary(BinOp::Inter, a, b) => both(a, b).map(|(a, b)| Lies::Both(a, b))?,
            ExprKind::Binary(BinOp::SetMinus, a, b) => both(a, b).map(|(a, b)| Lies::Only(a, b))?,
            _ if may_be_undefined(set) => return None,
            _ => match self.0.iter().position(|s| alike(s, set)) {
                Some(n) => Lies::In(n),
                None if self.0.len() == SETS => return None,
                None => {
                    self.0.push(set.clone());
                    Lies::In(self.0.len() - 1)
                }
            },
        })
    }
}

impl Interpreter<'_> {
    /// Whether a relation between sets, or between an element and a set, follows from the hypotheses by truth tables.
    pub(crate) fn prove_of_sets(
        &self,
        env: &mut Env,
        given: &Hypotheses,
        op: RelOp,
        a: &Expr,
        b: &Expr,
    ) -> Res<bool> {
        let mut sets = Sets::default();
        let is_member = matches!(op, RelOp::In | RelOp::NotIn);
        if is_member && may_be_undefined(a) {
            return Ok(false);
        }
        let left = if is_member { Some(Lies::Always(true)) } else { sets.lies(a) };
        let (Some(left), Some(right)) = (left, sets.lies(b)) else { return Ok(false) };
        // What a hypothesis says about an element: where it lies on the left, it lies on the right.
        let mut rules: Vec<(Lies, Lies)> = Vec::new();
        for known in &given.known {
            let rule = match known {
                Known::Inside(s, t) => sets.lies(s).zip(sets.lies(t)),
                Known::Member(x, s, true) if is_member && alike(x, a) => {
                    sets.lies(s).map(|s| (Lies::Always(true), s))
                }
                Known::Member(x, s, false) if is_member && alike(x, a) => {
                    sets.lies(s).map(|s| (s, Lies::Always(false)))
                }
                _ => None,
            };
            rules.extend(rule);
        }
        rules.extend(self.inclusions_among(env, given, &sets.0)?);
        let holds = |way: u32| {
            let (left, right) = (left.holds(way), right.holds(way));
            match op {
                RelOp::Equal => left == right,
                RelOp::NotIn => !right,
                _ => !left || right,
            }
        };
        let possible = |way: u32| rules.iter().all(|(s, t)| !s.holds(way) || t.holds(way));
        Ok((0..1 << sets.0.len()).all(|way| !possible(way) || holds(way)))
    }

    /// Which of the sets without variables lie in which.
    fn inclusions_among(&self, env: &mut Env, given: &Hypotheses, sets: &[Expr]) -> Res<Vec<(Lies, Lies)>> {
        let mut values = Vec::new();
        for (n, set) in sets.iter().enumerate() {
            if !given.mentioned(set)
                && let Some(value) = decided(self.eval_lazy(env, set))?
            {
                values.push((n, value));
            }
        }
        let mut out = Vec::new();
        for (n, s) in &values {
            for (m, t) in values.iter().filter(|(m, _)| m != n) {
                if decided(self.subset(env, s, t))? == Some(true) {
                    out.push((Lies::In(*n), Lies::In(*m)));
                }
            }
        }
        Ok(out)
    }
}
