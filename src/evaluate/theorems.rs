//! Formulas that hold whatever the values of their variables are, by laws of arithmetic.
//!
//! In: the body of a quantifier over variables that cannot be listed. Out: whether the body is true, and has a truth value,
//! for all their values; or whether it is false for all. Integer terms become polynomials (`sums`) over *terms*: variables, sizes
//! of sequences, fields of records, images, quotients and remainders. A hypothesis adds a *fact*, a polynomial that is not negative; a
//! claim `a <= b` holds where `b-a`, less some of the facts, is a polynomial whose least value is not negative. A
//! term is made only where it is known to have a value, so nothing that may be undefined is ever called true.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::hypotheses::{Hypotheses, Known, alike};
use crate::integer_sets::Spans;
use crate::simplified::decided;
use crate::sums::{Ends, Sum};
use bombus_base::{Int, Span};
use bombus_lang::free;
use bombus_lang::partiality::{may_be_undefined, pred_may_be_undefined};
use bombus_lang::typed::{BinOp, Expr, ExprKind, FunctionConst, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;

/// Higher powers of a number that is known are left alone.
const EXPONENT: i64 = 8;

impl Interpreter<'_> {
    /// Whether a predicate is true for all values of some variables, wherever that is seen.
    pub(crate) fn is_theorem(&self, env: &mut Env, vars: &[VarId], body: &Pred) -> Res<bool> {
        let mut given = Hypotheses::about(vars);
        self.prove(env, &mut given, body)
    }

    /// Whether a predicate is false for all values of some variables, wherever that is seen.
    pub(crate) fn is_contradiction(&self, env: &mut Env, vars: &[VarId], body: &Pred) -> Res<bool> {
        let mut given = Hypotheses::about(vars);
        for p in body.conjuncts() {
            // A conjunct that is false makes the conjunction false, whatever the others are.
            if !self.assume(env, &mut given, p)? {
                return Ok(false);
            }
            if given.is_contradictory() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a predicate for true. `false` means that it may have no truth value.
    fn assume(&self, env: &mut Env, given: &mut Hypotheses, p: &Pred) -> Res<bool> {
        match &p.kind {
            PredKind::And(ps) => {
                for p in ps {
                    if !self.assume(env, given, p)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            PredKind::Label(_, p) => return self.assume(env, given, p),
            PredKind::Not(p) => {
                if let Some(turned) = turned(p) {
                    return self.assume(env, given, &turned);
                }
            }
            PredKind::Rel(op, a, b) if a.ty == Type::Integer => {
                return self.assume_of_integers(env, given, (*op, a, b), p);
            }
            PredKind::Rel(op @ (RelOp::In | RelOp::NotIn), x, set) if !pred_may_be_undefined(p) => {
                given.known.push(Known::Member(x.clone(), set.clone(), *op == RelOp::In));
                if *op == RelOp::In {
                    self.assume_member(env, given, x, set)?;
                }
            }
            PredKind::Rel(op @ (RelOp::Subset | RelOp::Equal), a, b)
                if matches!(a.ty, Type::Pow(_)) && !pred_may_be_undefined(p) =>
            {
                given.known.push(Known::Inside(a.clone(), b.clone()));
                if *op == RelOp::Equal {
                    given.known.push(Known::Inside(b.clone(), a.clone()));
                }
            }
            _ => {}
        }
        Ok(!pred_may_be_undefined(p))
    }

    fn assume_of_integers(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        (op, a, b): (RelOp, &Expr, &Expr),
        p: &Pred,
    ) -> Res<bool> {
        if matches!(op, RelOp::In | RelOp::NotIn) && !pred_may_be_undefined(p) {
            given.known.push(Known::Member(a.clone(), b.clone(), op == RelOp::In));
        }
        let Some(left) = self.sum_of(env, given, a)? else { return Ok(!pred_may_be_undefined(p)) };
        if matches!(op, RelOp::In | RelOp::NotIn) {
            let Some((low, high)) = self.ends_around(env, given, b)? else {
                return Ok(!pred_may_be_undefined(p));
            };
            if op == RelOp::In {
                low.into_iter().for_each(|low| given.learn(left.minus(&low)));
                high.into_iter().for_each(|high| given.learn(high.minus(&left)));
            }
            return Ok(true);
        }
        let Some(right) = self.sum_of(env, given, b)? else { return Ok(!pred_may_be_undefined(p)) };
        let rise = right.minus(&left);
        match op {
            RelOp::LessEqual => given.learn(rise),
            RelOp::Less => given.learn(rise.less(1)),
            RelOp::GreaterEqual => given.learn(rise.negated()),
            RelOp::Greater => given.learn(rise.negated().less(1)),
            RelOp::Equal => {
                given.learn(rise.negated());
                given.learn(rise);
            }
            _ => {}
        }
        Ok(true)
    }

    /// What `x : set` says of something that is no integer.
    fn assume_member(&self, env: &mut Env, given: &mut Hypotheses, x: &Expr, set: &Expr) -> Res<()> {
        match (&x.kind, &set.kind) {
            (ExprKind::Pair(a, b), ExprKind::Binary(BinOp::Cartesian, s, t)) => {
                for (x, set) in [(a, s), (b, t)] {
                    let span = x.span;
                    let member =
                        Pred { kind: PredKind::Rel(RelOp::In, (**x).clone(), (**set).clone()), span };
                    // The product has a value, so its parts have.
                    self.assume(env, given, &member)?;
                }
            }
            (_, ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, whole)) => {
                given.known.push(Known::Inside(x.clone(), (**whole).clone()));
            }
            (ExprKind::Var(v), _) if !given.vars.contains(v) => {}
            (ExprKind::Var(v), ExprKind::Unary(UnOp::Seq | UnOp::Iseq, _)) => {
                given.known.push(Known::Sequence(*v, 0));
            }
            (ExprKind::Var(v), ExprKind::Unary(UnOp::Seq1 | UnOp::Iseq1, _)) => {
                given.known.push(Known::Sequence(*v, 1));
            }
            (ExprKind::Var(v), ExprKind::Binary(op, s, t))
                if op.arrow().is_some_and(|a| a.functional && a.total) =>
            {
                given.known.push(Known::Function(*v, (**s).clone(), (**t).clone()));
            }
            (ExprKind::Var(v), ExprKind::StructSet(sets)) => {
                given.known.push(Known::Record(*v, sets.clone()))
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a predicate is seen to be true wherever the hypotheses hold.
    fn prove(&self, env: &mut Env, given: &mut Hypotheses, p: &Pred) -> Res<bool> {
        self.tick()?;
        if given.impossible {
            return Ok(true);
        }
        if !free::mentions_in(p, &|v| given.vars.contains(&v)) {
            return Ok(decided(self.holds(env, p))? == Some(true));
        }
        let under = |env: &mut Env, given: &Hypotheses, hypothesis: &Pred, claim: &Pred| -> Res<bool> {
            let mut given = given.clone();
            Ok(self.assume(env, &mut given, hypothesis)? && self.prove(env, &mut given, claim)?)
        };
        match &p.kind {
            PredKind::True => Ok(true),
            PredKind::Label(_, p) => self.prove(env, given, p),
            PredKind::And(ps) => {
                let mut given = given.clone();
                for p in ps {
                    // What was proved may be used for the definedness of what follows.
                    if !self.prove(env, &mut given, p)? || !self.assume(env, &mut given, p)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            PredKind::Or(ps) => {
                let mut given = given.clone();
                for p in ps {
                    if self.prove(env, &mut given.clone(), p)? {
                        return Ok(true);
                    }
                    if !self.assume(env, &mut given, &negated(p))? {
                        return Ok(false);
                    }
                }
                Ok(given.impossible)
            }
            PredKind::Implies(a, b) => under(env, given, a, b),
            PredKind::Iff(a, b) => Ok(under(env, given, a, b)? && under(env, given, b, a)?),
            PredKind::If(c, a, b) => Ok(under(env, given, c, a)? && under(env, given, &negated(c), b)?),
            PredKind::Not(p) => match turned(p) {
                Some(turned) => self.prove(env, given, &turned),
                None => Ok(false),
            },
            PredKind::Forall(vars, body) if !vars.iter().any(|v| given.vars.contains(v)) => {
                let mut given = given.clone();
                given.vars.extend(vars);
                self.prove(env, &mut given, body)
            }
            PredKind::Rel(op, a, b) if a.ty == Type::Integer => Ok(self
                .prove_of_integers(env, given, *op, a, b)?
                || matches!(op, RelOp::In | RelOp::NotIn) && self.prove_of_sets(env, given, *op, a, b)?),
            PredKind::Rel(RelOp::Equal, a, b) if alike(a, b) && !may_be_undefined(a) => Ok(true),
            PredKind::Rel(op @ (RelOp::Equal | RelOp::Subset), a, b) if matches!(a.ty, Type::Pow(_)) => {
                self.prove_of_sets(env, given, *op, a, b)
            }
            PredKind::Rel(op @ (RelOp::In | RelOp::NotIn), a, b) => self.prove_of_sets(env, given, *op, a, b),
            _ => Ok(false),
        }
    }

    fn prove_of_integers(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        op: RelOp,
        a: &Expr,
        b: &Expr,
    ) -> Res<bool> {
        let Some(left) = self.sum_of(env, given, a)? else { return Ok(false) };
        if matches!(op, RelOp::In | RelOp::NotIn) {
            return self.prove_member(env, given, op, &left, b);
        }
        let Some(right) = self.sum_of(env, given, b)? else { return Ok(false) };
        let rise = right.minus(&left);
        Ok(match op {
            RelOp::LessEqual => given.is_natural(&rise),
            RelOp::Less => given.is_natural(&rise.less(1)),
            RelOp::GreaterEqual => given.is_natural(&rise.negated()),
            RelOp::Greater => given.is_natural(&rise.negated().less(1)),
            RelOp::Equal => rise.is_zero() || given.is_natural(&rise) && given.is_natural(&rise.negated()),
            RelOp::NotEqual => given.is_nonzero(&rise),
            _ => false,
        })
    }

    fn prove_member(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        op: RelOp,
        x: &Sum,
        set: &Expr,
    ) -> Res<bool> {
        if let ExprKind::Binary(BinOp::Interval, ..) | ExprKind::Natural | ExprKind::Natural1 = &set.kind {
            let Some((low, high)) = self.ends_around(env, given, set)? else { return Ok(false) };
            return Ok(if op == RelOp::In {
                low.is_none_or(|low| given.is_natural(&x.minus(&low)))
                    && high.is_none_or(|high| given.is_natural(&high.minus(x)))
            } else {
                low.is_some_and(|low| given.is_natural(&low.minus(x).less(1)))
                    || high.is_some_and(|high| given.is_natural(&x.minus(&high).less(1)))
            });
        }
        if given.mentioned(set) {
            return Ok(false);
        }
        let Some(set) = decided(self.eval_lazy(env, set))? else { return Ok(false) };
        let Some(spans) = decided(self.spans(env, &set))?.flatten() else { return Ok(false) };
        let ends = given.ends(x);
        let values = Spans::between(ends.low, ends.high);
        Ok(if op == RelOp::In { values.is_subset(&spans) } else { values.is_subset(&spans.complement()) })
    }

    /// The ends of a set of integers; those of a set that is no interval may be too far.
    fn ends_around(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        set: &Expr,
    ) -> Res<Option<(Option<Sum>, Option<Sum>)>> {
        let from = |n: i64| Ok(Some((Some(Sum::number(Int::from(n))), None)));
        match &set.kind {
            ExprKind::Natural => return from(0),
            ExprKind::Natural1 => return from(1),
            ExprKind::TypeSet(Type::Integer) => return Ok(Some((None, None))),
            ExprKind::Binary(BinOp::Interval, a, b) => {
                return Ok(match (self.sum_of(env, given, a)?, self.sum_of(env, given, b)?) {
                    (Some(a), Some(b)) => Some((Some(a), Some(b))),
                    _ => None,
                });
            }
            _ if given.mentioned(set) => return Ok(None),
            _ => {}
        }
        let Some(set) = decided(self.eval_lazy(env, set))? else { return Ok(None) };
        let Some((low, high)) = decided(self.spans(env, &set))?.flatten().and_then(|s| s.hull()) else {
            return Ok(None);
        };
        Ok(Some((low.map(Sum::number), high.map(Sum::number))))
    }

    /// An integer expression as a polynomial, if it is known to have a value.
    fn sum_of(&self, env: &mut Env, given: &mut Hypotheses, e: &Expr) -> Res<Option<Sum>> {
        if e.ty != Type::Integer {
            return Ok(None);
        }
        if !given.mentioned(e) {
            return Ok(match decided(self.eval(env, e))? {
                Some(Value::Int(n)) => Some(Sum::number(n)),
                _ => None,
            });
        }
        Ok(match &e.kind {
            ExprKind::Var(_) => Some(given.term(e, Ends::ALL).0),
            ExprKind::Unary(UnOp::Neg, a) => self.sum_of(env, given, a)?.map(|a| a.negated()),
            ExprKind::Unary(UnOp::Size | UnOp::Card, s) => self.size_term(env, given, s)?,
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                let (Some(a), Some(b)) = (self.sum_of(env, given, a)?, self.sum_of(env, given, b)?) else {
                    return Ok(None);
                };
                match op {
                    BinOp::Add => Some(a.plus(&b)),
                    BinOp::Sub => Some(a.minus(&b)),
                    _ => a.times(&b),
                }
            }
            ExprKind::Binary(BinOp::Power, a, n) => self.power_term(env, given, e, a, n)?,
            ExprKind::Binary(BinOp::Div | BinOp::Mod, a, b) => self.quotient_term(env, given, e, a, b)?,
            ExprKind::Field(r, number) => self.field_term(env, given, e, r, *number)?,
            ExprKind::Apply(f, x) => match f.kind {
                ExprKind::Function(FunctionConst::Succ) => self.sum_of(env, given, x)?.map(|x| x.less(-1)),
                ExprKind::Function(FunctionConst::Pred) => self.sum_of(env, given, x)?.map(|x| x.less(1)),
                ExprKind::Var(f) => self.image_term(env, given, e, f, x)?,
                _ => None,
            },
            _ => None,
        })
    }

    fn power_term(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        e: &Expr,
        a: &Expr,
        n: &Expr,
    ) -> Res<Option<Sum>> {
        let (Some(base), Some(exponent)) = (self.sum_of(env, given, a)?, self.sum_of(env, given, n)?) else {
            return Ok(None);
        };
        if !given.mentioned(n) {
            let n = given.ends(&exponent).low.and_then(|n| n.small());
            let Some(n) = n.filter(|n| (0..=EXPONENT).contains(n)) else { return Ok(None) };
            return Ok((0..n).try_fold(Sum::number(Int::ONE), |all, _| all.times(&base)));
        }
        if !given.is_natural(&exponent) {
            return Ok(None);
        }
        let least = [1, 0].into_iter().find(|n| given.is_natural(&base.less(*n)));
        Ok(Some(given.term(e, least.map_or(Ends::ALL, Ends::from)).0))
    }

    /// A quotient or a remainder. Where the dividend is not negative and the divisor positive, `a = b*(a/b) + a mod b` and the
    /// remainder is less than the divisor.
    fn quotient_term(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        e: &Expr,
        a: &Expr,
        b: &Expr,
    ) -> Res<Option<Sum>> {
        let is_quotient = matches!(e.kind, ExprKind::Binary(BinOp::Div, ..));
        let (Some(over), Some(under)) = (self.sum_of(env, given, a)?, self.sum_of(env, given, b)?) else {
            return Ok(None);
        };
        if !(given.is_natural(&over) && given.is_natural(&under.less(1))) {
            let defined = is_quotient && given.is_nonzero(&under);
            return Ok(defined.then(|| given.term(e, Ends::ALL).0));
        }
        let part = |op: BinOp| Expr {
            kind: ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())),
            ty: Type::Integer,
            span: Span::default(),
        };
        let (quotient, new) = given.term(&part(BinOp::Div), Ends::from(0));
        let (rest, _) = given.term(&part(BinOp::Mod), Ends::from(0));
        if new && let Some(product) = under.times(&quotient) {
            given.learn(under.minus(&rest).less(1));
            given.learn(over.minus(&rest));
            given.learn(over.minus(&quotient));
            let gap = over.minus(&product).minus(&rest);
            given.learn(gap.negated());
            given.learn(gap);
        }
        Ok(Some(if is_quotient { quotient } else { rest }))
    }

    /// The number of items of a sequence.
    fn size_term(&self, env: &mut Env, given: &mut Hypotheses, s: &Expr) -> Res<Option<Sum>> {
        let size = Expr {
            kind: ExprKind::Unary(UnOp::Size, Box::new(s.clone())),
            ty: Type::Integer,
            span: Span::default(),
        };
        if !given.mentioned(s) {
            return self.sum_of(env, given, &size);
        }
        Ok(match &s.kind {
            // A text has a length.
            ExprKind::Var(v) => Some(0)
                .filter(|_| s.ty == Type::String)
                .or(given.sequence(*v))
                .map(|least| given.term(&size, Ends::from(least)).0),
            ExprKind::SeqExt(items) if !may_be_undefined(s) => Some(Sum::number(Int::from(items.len()))),
            ExprKind::Unary(UnOp::Rev, s) => self.size_term(env, given, s)?,
            ExprKind::Unary(UnOp::Front | UnOp::Tail, s) => {
                self.size_term(env, given, s)?.map(|n| n.less(1)).filter(|n| given.is_natural(n))
            }
            ExprKind::Binary(BinOp::Append, s, x) | ExprKind::Binary(BinOp::Prepend, x, s)
                if !may_be_undefined(x) =>
            {
                self.size_term(env, given, s)?.map(|n| n.less(-1))
            }
            ExprKind::Binary(BinOp::Concat, s, t) => {
                match (self.size_term(env, given, s)?, self.size_term(env, given, t)?) {
                    (Some(n), Some(m)) => Some(n.plus(&m)),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// A field of a record that is a variable.
    fn field_term(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        e: &Expr,
        r: &Expr,
        number: usize,
    ) -> Res<Option<Sum>> {
        let ExprKind::Var(v) = r.kind else { return Ok(None) };
        let (field, new) = given.term(e, Ends::ALL);
        let known = given.known.iter().find_map(|k| match k {
            Known::Record(w, sets) if *w == v => sets.get(number).cloned(),
            _ => None,
        });
        if new && let Some(set) = known {
            self.learn_member(env, given, &field, &set)?;
        }
        Ok(Some(field))
    }

    /// The image of an argument in the domain of a total function that is a variable.
    fn image_term(
        &self,
        env: &mut Env,
        given: &mut Hypotheses,
        e: &Expr,
        f: VarId,
        x: &Expr,
    ) -> Res<Option<Sum>> {
        let known = given.known.iter().find_map(|k| match k {
            Known::Function(w, domain, range) if *w == f => Some((domain.clone(), range.clone())),
            _ => None,
        });
        let Some((domain, range)) = known else { return Ok(None) };
        if x.ty != Type::Integer || !self.prove_of_integers(env, given, RelOp::In, x, &domain)? {
            return Ok(None);
        }
        let (image, new) = given.term(e, Ends::ALL);
        if new {
            self.learn_member(env, given, &image, &range)?;
        }
        Ok(Some(image))
    }

    fn learn_member(&self, env: &mut Env, given: &mut Hypotheses, x: &Sum, set: &Expr) -> Res<()> {
        if let Some((low, high)) = self.ends_around(env, given, set)? {
            low.into_iter().for_each(|low| given.learn(x.minus(&low)));
            high.into_iter().for_each(|high| given.learn(high.minus(x)));
        }
        Ok(())
    }
}

fn negated(p: &Pred) -> Pred {
    Pred { kind: PredKind::Not(Box::new(p.clone())), span: p.span }
}

/// What the negation of a predicate says, where a simpler form of it is known.
fn turned(p: &Pred) -> Option<Pred> {
    let kind = match &p.kind {
        PredKind::True => PredKind::False,
        PredKind::False => PredKind::True,
        PredKind::Not(p) => return Some((**p).clone()),
        PredKind::Label(_, p) => return turned(p),
        PredKind::Or(ps) => PredKind::And(ps.iter().map(negated).collect()),
        PredKind::And(ps) => PredKind::Or(ps.iter().map(negated).collect()),
        PredKind::Implies(a, b) => PredKind::And(vec![(**a).clone(), negated(b)]),
        PredKind::Rel(op, a, b) => {
            let op = match op {
                RelOp::Equal => RelOp::NotEqual,
                RelOp::NotEqual => RelOp::Equal,
                RelOp::In => RelOp::NotIn,
                RelOp::NotIn => RelOp::In,
                RelOp::Less => RelOp::GreaterEqual,
                RelOp::LessEqual => RelOp::Greater,
                RelOp::Greater => RelOp::LessEqual,
                RelOp::GreaterEqual => RelOp::Less,
                RelOp::Subset => RelOp::NotSubset,
                RelOp::NotSubset => RelOp::Subset,
                RelOp::StrictSubset => RelOp::NotStrictSubset,
                RelOp::NotStrictSubset => RelOp::StrictSubset,
            };
            PredKind::Rel(op, a.clone(), b.clone())
        }
        _ => return None,
    };
    Some(Pred { kind, span: p.span })
}
