//! Operators of sequences on rows of pairs of an index and a value.
//!
//! In: terms of relations from integers. Out: terms, and the literal that the operands are sequences. A sequence is
//! taken apart into literals of its length, of which exactly one holds where the relation is a sequence.

use super::Encoder;
use super::expr::Built;
use super::term::{ROWS, Rows, Term};
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Type, UnOp};
use bombus_lang::value::Value;
use std::collections::BTreeMap;

/// A relation looked at as a sequence.
pub(super) struct Sequence {
    /// Rows by index, from 1.
    rows: Vec<Vec<(Value, Lit)>>,
    /// `length[n]` says that the sequence has `n` elements.
    length: Vec<Lit>,
    /// The relation is a sequence at all.
    pub(super) is_one: Lit,
}

impl Sequence {
    pub(super) fn is_empty(&self) -> Lit {
        self.length[0]
    }
}

/// Longer sequences are not taken apart.
const LONGEST: i64 = 512;

impl Encoder<'_> {
    pub(super) fn sequence(&mut self, rows: &Rows) -> Option<Sequence> {
        let mut by_index: BTreeMap<i64, Vec<(Value, Lit)>> = BTreeMap::new();
        let mut outside = Vec::new();
        for (v, l) in rows {
            let (i, x) = v.as_pair()?;
            match i.as_int()?.small() {
                Some(i) if (1..=LONGEST).contains(&i) => by_index.entry(i).or_default().push((x.clone(), *l)),
                _ => outside.push(!*l),
            }
        }
        let most = by_index.keys().next_back().copied().unwrap_or(0);
        let rows: Vec<Vec<(Value, Lit)>> =
            (1..=most).map(|i| by_index.remove(&i).unwrap_or_default()).collect();
        let mut fine = outside;
        let mut present = Vec::new();
        for row in &rows {
            let lits: Vec<Lit> = row.iter().map(|(_, l)| *l).collect();
            fine.push(self.g.at_most_one(&lits));
            present.push(self.g.or_all(&lits));
        }
        for pair in present.windows(2) {
            fine.push(self.g.implies(pair[1], pair[0]));
        }
        let mut length = Vec::with_capacity(rows.len() + 1);
        for n in 0..=rows.len() {
            let here = if n == 0 { Lit::TRUE } else { present[n - 1] };
            let next = present.get(n).copied().unwrap_or(Lit::FALSE);
            length.push(self.g.and(here, !next));
        }
        let is_one = self.g.and_all(&fine);
        Some(Sequence { rows, length, is_one })
    }

    pub(super) fn unary_sequence(&mut self, op: UnOp, x: &Term, d: Lit, ty: &Type) -> Built {
        if op == UnOp::Conc {
            return None;
        }
        let s = self.sequence(x.as_set()?)?;
        let defined = self.g.and(d, s.is_one);
        let some = self.g.and(defined, !s.length[0]);
        Some(match op {
            UnOp::Size => {
                let cases: Vec<(Int, Lit)> =
                    s.length.iter().enumerate().map(|(n, l)| (Int::from(n), *l)).collect();
                (Term::Int(self.num_one_of(&cases)), defined)
            }
            UnOp::First => (self.one_of(ty, s.rows.first().map_or(&[][..], Vec::as_slice)), some),
            UnOp::Last => {
                let mut cases = Vec::new();
                for (i, row) in s.rows.iter().enumerate() {
                    for (v, l) in row {
                        cases.push((v.clone(), self.g.and(*l, s.length[i + 1])));
                    }
                }
                (self.one_of(ty, &cases), some)
            }
            UnOp::Front => {
                let mut out = Vec::new();
                for (i, row) in s.rows.iter().enumerate() {
                    for (v, l) in row {
                        out.push((at(i + 1, v), self.g.and(*l, !s.length[i + 1])));
                    }
                }
                (Term::set(out.into_iter().collect()), some)
            }
            UnOp::Tail => {
                let out = s.rows.iter().enumerate().skip(1);
                let out = out.flat_map(|(i, row)| row.iter().map(move |(v, l)| (at(i, v), *l)));
                (Term::set(out.collect()), some)
            }
            UnOp::Rev => {
                let mut out = Vec::new();
                for (n, here) in s.length.iter().enumerate() {
                    for (i, row) in s.rows.iter().enumerate().take(n) {
                        for (v, l) in row {
                            out.push((at(n - i, v), self.g.and(*l, *here)));
                        }
                    }
                }
                (Term::set(self.merged(out.into_iter())), defined)
            }
            _ => return None,
        })
    }

    pub(super) fn binary_sequence(&mut self, op: BinOp, x: &Term, y: &Term, d: Lit) -> Built {
        match op {
            BinOp::Concat => {
                let (s, t) = (self.sequence(x.as_set()?)?, self.sequence(y.as_set()?)?);
                let both = self.g.and(s.is_one, t.is_one);
                let rows = self.joined(x.as_set()?, &s, &t.rows)?;
                Some((rows, self.g.and(d, both)))
            }
            BinOp::Append => {
                let s = self.sequence(x.as_set()?)?;
                let last = vec![self.values_of(y)?];
                let rows = self.joined(x.as_set()?, &s, &last)?;
                Some((rows, self.g.and(d, s.is_one)))
            }
            BinOp::Prepend => {
                let s = self.sequence(y.as_set()?)?;
                let mut out: Rows = self.values_of(x)?.into_iter().map(|(v, l)| (at(1, &v), l)).collect();
                for (i, row) in s.rows.iter().enumerate() {
                    out.extend(row.iter().map(|(v, l)| (at(i + 2, v), *l)));
                }
                Some((Term::set(out), self.g.and(d, s.is_one)))
            }
            // Taking more than there is yields the whole sequence; no more can be dropped than there is.
            BinOp::Take => {
                let n = y.as_int()?.clone();
                let s = self.sequence(x.as_set()?)?;
                let mut out = Rows::new();
                for (i, row) in s.rows.iter().enumerate() {
                    let index = self.number(&Int::from(i + 1));
                    let taken = self.num_le(&index, &n);
                    for (v, l) in row {
                        out.insert(at(i + 1, v), self.g.and(*l, taken));
                    }
                }
                let zero = self.number(&Int::ZERO);
                let natural = self.num_le(&zero, &n);
                let fine = self.g.and(s.is_one, natural);
                Some((Term::set(out), self.g.and(d, fine)))
            }
            BinOp::Drop => {
                let n = y.as_int()?.clone();
                let s = self.sequence(x.as_set()?)?;
                let (mut out, mut within) = (Vec::new(), Vec::new());
                for dropped in 0..s.length.len() {
                    let is = self.num_is(&n, &Int::from(dropped));
                    let long = self.g.or_all(&s.length[dropped..]);
                    within.push(self.g.and(is, long));
                    for (i, row) in s.rows.iter().enumerate().skip(dropped) {
                        for (v, l) in row {
                            out.push((at(i + 1 - dropped, v), self.g.and(*l, is)));
                        }
                    }
                    if out.len() > ROWS {
                        return None;
                    }
                }
                let within = self.g.or_all(&within);
                let fine = self.g.and(s.is_one, within);
                Some((Term::set(self.merged(out.into_iter())), self.g.and(d, fine)))
            }
            _ => None,
        }
    }

    /// The first sequence with the rows of the second behind it.
    fn joined(&mut self, first: &Rows, s: &Sequence, second: &[Vec<(Value, Lit)>]) -> Option<Term> {
        let mut out: Vec<(Value, Lit)> = first.iter().map(|(v, l)| (v.clone(), *l)).collect();
        for (n, here) in s.length.iter().enumerate() {
            for (i, row) in second.iter().enumerate() {
                for (v, l) in row {
                    out.push((at(n + i + 1, v), self.g.and(*l, *here)));
                }
            }
            if out.len() > ROWS {
                return None;
            }
        }
        Some(Term::set(self.merged(out.into_iter())))
    }
}

fn at(index: usize, value: &Value) -> Value {
    Value::pair(Value::Int(Int::from(index)), value.clone())
}
