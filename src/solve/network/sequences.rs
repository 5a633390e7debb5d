//! Sequences whose length has a known bound, as functions from the first numbers.
//!
//! In: terms of functions, sets of sequences. Out: terms of their ends, pieces and joins, literals for membership in
//! `seq(S)` and its kinds, and terms for unknown sequences. A row behind the end of a sequence is not there.

use crate::env::Env;
use crate::solve::finite_domains::Lit;
use crate::solve::network::guards::Guards;
use crate::solve::network::term::{Func, Lin, Row, Term};
use crate::solve::network::{Builder, Built, Halt};
use crate::solve::order::Item;
use bombus_lang::typed::{Type, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use std::rc::Rc;

/// Longer sequences are not made row by row.
const LONGEST: usize = 1 << 8;

impl Builder<'_, '_> {
    /// An unknown that lies in one of the given sets of sequences and has a length with known bounds.
    pub(crate) fn shape_of_sequence(
        &mut self,
        env: &mut Env,
        open: &[Item],
        v: VarId,
        sets: &[Value],
    ) -> Built<Term> {
        let Type::Pow(pair) = self.interp.type_of(v) else { return Err(Halt::Opaque) };
        let Type::Prod(_, ty) = &*pair else { return Err(Halt::Opaque) };
        for set in sets {
            let Value::Symbolic(s) = set else { continue };
            let Symbolic::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1), images) = &**s
            else {
                continue;
            };
            let injective = matches!(op, UnOp::Iseq | UnOp::Iseq1);
            let unknown = self.unknown.clone();
            let Some((low, high)) = self.interp.lengths(env, &unknown, open, v, injective)? else { continue };
            if low > high || high > LONGEST {
                return Err(Halt::Opaque);
            }
            let mut rows: Vec<Row> = Vec::with_capacity(high);
            for i in 1..=high {
                let lit = if i <= low { Lit::TRUE } else { self.base_literal() };
                let image = self.shape_of_row(env, lit, images, ty)?;
                if let Some(before) = rows.last() {
                    let before = before.lit;
                    self.clause([!lit, before]);
                }
                rows.push(Row { point: Value::int(i as i64), image, lit });
            }
            if injective {
                self.different(env, &rows)?;
            }
            return Ok(Term::Func(Rc::new(Func { rows, injective })));
        }
        Err(Halt::Opaque)
    }

    /// Whether a function is a sequence: a row is there only if the one before it is.
    fn is_sequence(&mut self, f: &Func) -> Built<Lit> {
        if f.rows.iter().enumerate().any(|(i, r)| r.point != Value::int(i as i64 + 1)) {
            return Err(Halt::Opaque);
        }
        let steps: Vec<Lit> = f.rows.windows(2).map(|w| self.or([!w[1].lit, w[0].lit])).collect();
        Ok(self.and(steps))
    }

    /// Membership in `seq(S)`, `seq1(S)`, `iseq(S)`, `iseq1(S)`.
    pub(crate) fn inside_sequences(
        &mut self,
        env: &mut Env,
        t: &Term,
        op: UnOp,
        images: &Value,
    ) -> Built<Lit> {
        let Term::Func(f) = t else { return Err(Halt::Opaque) };
        let mut lits = vec![self.is_sequence(f)?];
        for r in &f.rows {
            let inside = self.inside_value(env, &r.image, images)?;
            lits.push(self.or([!r.lit, inside]));
        }
        if matches!(op, UnOp::Seq1 | UnOp::Iseq1) {
            lits.push(f.rows.first().map_or(Lit::FALSE, |r| r.lit));
        }
        if matches!(op, UnOp::Iseq | UnOp::Iseq1) && !f.injective {
            if f.rows.len() > LONGEST {
                return Err(Halt::Opaque);
            }
            for (i, r) in f.rows.iter().enumerate() {
                for s in &f.rows[..i] {
                    let same = self.equal(env, &r.image, &s.image)?;
                    lits.push(self.or([!r.lit, !s.lit, !same]));
                }
            }
        }
        Ok(self.and(lits))
    }

    /// The length of a sequence; a function that is none has no length.
    pub(crate) fn length(&mut self, f: &Func, guards: &mut Guards) -> Built<Lin> {
        guards.push(self.is_sequence(f)?);
        let mut n = Lin::number(0);
        for r in &f.rows {
            n = n.plus(&Lin::of_lit(r.lit))?;
        }
        Ok(n)
    }

    /// The images of a sequence whose length is known.
    fn images_of(&mut self, env: &mut Env, t: &Term) -> Built<Vec<Term>> {
        match t {
            Term::Func(f) if f.rows.iter().all(|r| r.lit == Lit::TRUE) => {
                self.is_sequence(f)?;
                Ok(f.rows.iter().map(|r| r.image.clone()).collect())
            }
            Term::Known(v) => {
                let Some(list) = self.interp.list(env, v)? else { return Err(Halt::Opaque) };
                let mut images = Vec::with_capacity(list.len());
                for (i, x) in list.iter().enumerate() {
                    match x.as_pair() {
                        Some((n, y)) if *n == Value::int(i as i64 + 1) => images.push(Term::Known(y.clone())),
                        _ => return Err(Halt::Opaque),
                    }
                }
                Ok(images)
            }
            _ => Err(Halt::Opaque),
        }
    }

    /// `rev(s)`, `front(s)`, `tail(s)`, `first(s)`, `last(s)` of a sequence whose length is known.
    pub(crate) fn piece(&mut self, env: &mut Env, op: UnOp, t: &Term) -> Built<Term> {
        let mut images = self.images_of(env, t)?;
        if images.is_empty() && op != UnOp::Rev {
            return Err(Halt::Opaque);
        }
        match op {
            UnOp::First => return Ok(images.swap_remove(0)),
            UnOp::Last => return images.pop().ok_or(Halt::Opaque),
            UnOp::Rev => images.reverse(),
            UnOp::Front => {
                images.pop();
            }
            UnOp::Tail => {
                images.remove(0);
            }
            _ => return Err(Halt::Opaque),
        }
        Ok(sequence_of(images))
    }

    /// `s^t` of sequences whose lengths are known.
    pub(crate) fn joined(&mut self, env: &mut Env, s: &Term, t: &Term) -> Built<Term> {
        let mut images = self.images_of(env, s)?;
        images.extend(self.images_of(env, t)?);
        Ok(sequence_of(images))
    }

    /// `x -> s`, or `s <- x` if `behind`.
    pub(crate) fn extended(&mut self, env: &mut Env, s: &Term, x: &Term, behind: bool) -> Built<Term> {
        let mut images = self.images_of(env, s)?;
        images.insert(if behind { images.len() } else { 0 }, x.clone());
        Ok(sequence_of(images))
    }
}

fn sequence_of(images: Vec<Term>) -> Term {
    let rows = images
        .into_iter()
        .enumerate()
        .map(|(i, image)| Row { point: Value::int(i as i64 + 1), image, lit: Lit::TRUE })
        .collect();
    Term::Func(Rc::new(Func { rows, injective: false }))
}
