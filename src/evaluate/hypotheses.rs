//! What the hypotheses of a quantifier say of its variables, as facts about integer terms.
//!
//! In: terms with the ends of their values, and polynomials of them that are not negative (*facts*). Out: whether another polynomial is not
//! negative wherever the facts hold.

use crate::sums::{Ends, Sum};
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::typed::{Expr, ExprKind, VarId};

/// Facts that a claim is derived from at most, and facts that are kept.
const DERIVED_FROM: usize = 3;
const FACTS: usize = 24;

/// A term with a value for all values of the variables that satisfy the hypotheses.
#[derive(Clone)]
pub(crate) struct Term {
    form: Expr,
    ends: Ends,
}

/// A hypothesis about a variable that is no integer.
#[derive(Clone)]
pub(crate) enum Known {
    /// A finite sequence with so many items at least.
    Sequence(VarId, i64),
    /// A function that is total on the first set, with images in the second.
    Function(VarId, Expr, Expr),
    /// A record with fields in these sets.
    Record(VarId, Vec<Expr>),
    /// The first set lies in the second.
    Inside(Expr, Expr),
    /// An element lies in a set, or does not.
    Member(Expr, Expr, bool),
}

/// What the hypotheses say.
#[derive(Clone, Default)]
pub(crate) struct Hypotheses {
    pub vars: Vec<VarId>,
    terms: Vec<Term>,
    /// Polynomials that are not negative.
    facts: Vec<Sum>,
    pub known: Vec<Known>,
    /// No values satisfy the hypotheses.
    pub impossible: bool,
}

impl Hypotheses {
    /// No hypotheses about these variables yet.
    pub(crate) fn about(vars: &[VarId]) -> Hypotheses {
        Hypotheses { vars: vars.to_vec(), ..Hypotheses::default() }
    }

    pub(crate) fn mentioned(&self, e: &Expr) -> bool {
        free::mentions(e, &|v| self.vars.contains(&v))
    }

    pub(crate) fn ends(&self, sum: &Sum) -> Ends {
        sum.ends(&|term| self.terms[term].ends.clone())
    }

    /// The number of a term; a new one lies between `ends`.
    pub(crate) fn term(&mut self, form: &Expr, ends: Ends) -> (Sum, bool) {
        if let Some(n) = self.terms.iter().position(|t| alike(&t.form, form)) {
            return (Sum::term(n), false);
        }
        self.terms.push(Term { form: form.clone(), ends });
        (Sum::term(self.terms.len() - 1), true)
    }

    /// Learns that a polynomial is not negative.
    pub(crate) fn learn(&mut self, fact: Sum) {
        let ends = self.ends(&fact);
        if ends.high.as_ref().is_some_and(Int::is_negative) {
            self.impossible = true;
        }
        if let Some((term, factor, shift)) = fact.linear() {
            // factor*t + shift >= 0
            let own = &mut self.terms[term].ends;
            if factor.is_negative() {
                let high = floor(&shift, &factor.neg());
                if own.high.as_ref().is_none_or(|h| high < *h) {
                    own.high = Some(high);
                }
            } else {
                let low = floor(&shift, &factor).neg();
                if own.low.as_ref().is_none_or(|l| low > *l) {
                    own.low = Some(low);
                }
            }
            let own = &self.terms[term].ends;
            self.impossible |= matches!((&own.low, &own.high), (Some(l), Some(h)) if l > h);
        }
        if self.facts.len() < FACTS && !fact.is_zero() && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// Whether a polynomial is not negative wherever the facts hold: it is the sum of some facts and of one that is not
    /// negative for all values of the terms.
    fn natural(&self, sum: &Sum, depth: usize) -> bool {
        if self.impossible || self.ends(sum).low.is_some_and(|low| !low.is_negative()) {
            return true;
        }
        depth > 0
            && self.facts.iter().any(|fact| sum.meets(fact) && self.natural(&sum.minus(fact), depth - 1))
    }

    pub(crate) fn is_natural(&self, sum: &Sum) -> bool {
        self.natural(sum, DERIVED_FROM)
    }

    /// Whether the values of a polynomial are never zero.
    pub(crate) fn is_nonzero(&self, sum: &Sum) -> bool {
        self.is_natural(&sum.less(1)) || self.is_natural(&sum.negated().less(1))
    }

    /// Whether the facts contradict each other: one of them is negative wherever the others hold.
    pub(crate) fn is_contradictory(&self) -> bool {
        self.impossible || self.facts.iter().any(|f| self.is_natural(&f.negated().less(1)))
    }

    pub(crate) fn sequence(&self, v: VarId) -> Option<i64> {
        self.known.iter().find_map(|k| match k {
            Known::Sequence(w, least) if *w == v => Some(*least),
            _ => None,
        })
    }
}

/// The greatest integer whose product with a positive divisor is not above a number.
fn floor(n: &Int, divisor: &Int) -> Int {
    let quotient = n.div(divisor).unwrap_or(Int::ZERO);
    if quotient.mul(divisor) > *n { quotient.sub(&Int::ONE) } else { quotient }
}

/// Whether two expressions are written alike, so that they have the same value.
pub(crate) fn alike(a: &Expr, b: &Expr) -> bool {
    let all = |xs: &[Expr], ys: &[Expr]| xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| alike(x, y));
    match (&a.kind, &b.kind) {
        (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) => f == g && alike(a, b),
        (ExprKind::Binary(f, a, b), ExprKind::Binary(g, c, d)) => f == g && alike(a, c) && alike(b, d),
        (ExprKind::Apply(a, b), ExprKind::Apply(c, d)) | (ExprKind::Pair(a, b), ExprKind::Pair(c, d)) => {
            alike(a, c) && alike(b, d)
        }
        (ExprKind::Field(a, n), ExprKind::Field(b, m)) => n == m && alike(a, b),
        (ExprKind::SetExt(a), ExprKind::SetExt(b))
        | (ExprKind::SeqExt(a), ExprKind::SeqExt(b))
        | (ExprKind::Rec(a), ExprKind::Rec(b))
        | (ExprKind::StructSet(a), ExprKind::StructSet(b)) => all(a, b),
        (
            ExprKind::Int(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Elem(..)
            | ExprKind::Var(_)
            | ExprKind::Old(_)
            | ExprKind::TypeSet(_)
            | ExprKind::Natural
            | ExprKind::Natural1
            | ExprKind::Function(_),
            _,
        ) => a.kind == b.kind && a.ty == b.ty,
        _ => false,
    }
}
