//! Tables of two columns as matrices of bits, and of three if the last one says yes or no.
//!
//! In: rows of a table for two variables with few values. Out: domains in which every value of one variable has a partner in
//! the other. A value has one if its line of the matrix and the domain of the other have a bit in common.

use crate::solve::finite_domains::domain::{Domains, Fd, Step};

/// Columns with values farther apart are not told in one word.
const WIDTH: i64 = 64;

/// Which values of two columns stand in a row together.
#[derive(Debug)]
pub struct Matrix {
    /// The least value of each column.
    base: [i64; 2],
    /// For each value of a column the values of the other one, as bits.
    lines: [Vec<u64>; 2],
}

impl Matrix {
    /// The matrix of rows of two values; `None` if the values of a column lie too far apart, or there is no row.
    pub(super) fn new(rows: impl Iterator<Item = [i64; 2]> + Clone) -> Option<Matrix> {
        let mut base = [0; 2];
        let mut lines = [Vec::new(), Vec::new()];
        for side in 0..2 {
            let column = || rows.clone().map(|row| row[side]);
            let (low, high) = (column().min()?, column().max()?);
            if high - low >= WIDTH {
                return None;
            }
            base[side] = low;
            lines[side] = vec![0; (high - low + 1) as usize];
        }
        for row in rows {
            let at = [row[0] - base[0], row[1] - base[1]];
            lines[0][at[0] as usize] |= 1 << at[1];
            lines[1][at[1] as usize] |= 1 << at[0];
        }
        Some(Matrix { base, lines })
    }

    /// The values of a column that are left for its variable, as bits.
    fn left(&self, d: &Domains, vars: [Fd; 2], side: usize) -> u64 {
        d.word(vars[side], self.base[side]) & u64::MAX >> (WIDTH as usize - self.lines[side].len())
    }

    /// Whether some row is left.
    fn meets(&self, d: &Domains, vars: [Fd; 2]) -> bool {
        let partners = self.left(d, vars, 1);
        bits(self.left(d, vars, 0)).any(|at| self.lines[0][at] & partners != 0)
    }
}

/// The places of the bits of a word.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (word != 0).then_some(word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        at
    })
}

/// The values of two variables stand in a row together.
pub(super) fn related(d: &mut Domains, vars: [Fd; 2], matrix: &Matrix) -> Step {
    for side in [0, 1] {
        let (mine, partners) = (matrix.left(d, vars, side), matrix.left(d, vars, 1 - side));
        let supported = if partners.count_ones() < mine.count_ones() {
            bits(partners).fold(0, |all, at| all | matrix.lines[1 - side][at])
        } else {
            bits(mine).filter(|at| matrix.lines[side][*at] & partners != 0).fold(0, |all, at| all | 1 << at)
        };
        d.keep(vars[side], matrix.base[side], supported & mine)?;
    }
    Ok(())
}

/// A table of two columns and a third one that holds 0 or 1: the rows with either, and all of them.
#[derive(Debug)]
pub struct Verdicts {
    rows: [Matrix; 2],
    all: Matrix,
}

impl Verdicts {
    /// `None` as for a matrix.
    pub(super) fn new(rows: impl Iterator<Item = [i64; 3]> + Clone) -> Option<Verdicts> {
        let with = |n: i64| Matrix::new(rows.clone().filter(move |r| r[2] == n).map(|r| [r[0], r[1]]));
        let all = Matrix::new(rows.clone().map(|r| [r[0], r[1]]))?;
        Some(Verdicts { rows: [with(0)?, with(1)?], all })
    }
}

/// The values of two variables and of one that is 0 or 1 stand in a row together.
pub(super) fn decided(d: &mut Domains, vars: [Fd; 2], truth: Fd, table: &Verdicts) -> Step {
    for n in [0, 1] {
        if !d.is_fixed(truth) && !table.rows[n].meets(d, vars) {
            d.remove(truth, n as i64)?;
        }
    }
    match d.value(truth) {
        Some(n) => related(d, vars, &table.rows[usize::from(n == 1)]),
        None => related(d, vars, &table.all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::finite_domains::domain::Conflict;
    use bombus_base::random::Random;

    /// A variable with some values of an interval.
    fn domain(d: &mut Domains, dice: &mut Random, low: i64, width: i64) -> (Fd, Vec<i64>) {
        let mut list: Vec<i64> =
            (0..1 + dice.between(0, 5)).map(|_| low + dice.between(0, width - 1)).collect();
        list.sort_unstable();
        list.dedup();
        (d.of_values(&list), list)
    }

    #[test]
    fn just_the_values_with_a_partner_are_left() {
        let mut dice = Random(5);
        for _ in 0..2000 {
            let rows: Vec<i64> = (0..1 + dice.between(0, 11))
                .flat_map(|_| [dice.between(0, 8) - 4, dice.between(0, 6)])
                .collect();
            let mut d = Domains::default();
            let (x, xs) = domain(&mut d, &mut dice, -6, 12);
            let (y, ys) = domain(&mut d, &mut dice, -1, 9);
            let matrix = Matrix::new(rows.chunks_exact(2).map(|r| [r[0], r[1]])).expect("a small table");
            let fits = |r: &&[i64]| xs.contains(&r[0]) && ys.contains(&r[1]);
            let column = |side: usize| {
                let mut list: Vec<i64> = rows.chunks_exact(2).filter(fits).map(|r| r[side]).collect();
                list.sort_unstable();
                list.dedup();
                list
            };
            match related(&mut d, [x, y], &matrix) {
                Ok(()) => {
                    assert_eq!((d.values(x), d.values(y)), (column(0), column(1)), "{rows:?} {xs:?} {ys:?}")
                }
                Err(Conflict) => assert!(column(0).is_empty(), "{rows:?} {xs:?} {ys:?}"),
            }
        }
    }
    #[test]
    fn a_third_column_of_truth_values_is_decided_by_the_rows_that_are_left() {
        let mut dice = Random(11);
        for round in 0..4000 {
            let mut rows: Vec<[i64; 3]> = (0..dice.between(0, 11))
                .map(|_| [dice.between(0, 8) - 4, dice.between(0, 6), dice.between(0, 1)])
                .collect();
            rows.extend([[0, 0, 0], [1, 3, 1]]);
            let mut d = Domains::default();
            let (x, xs) = domain(&mut d, &mut dice, -6, 12);
            let (y, ys) = domain(&mut d, &mut dice, -1, 9);
            let truth = d.interval(0, 1);
            let known = [None, Some(0), Some(1)][round % 3];
            if let Some(n) = known {
                d.fix(truth, n).expect("a value of its domain");
            }
            let table = Verdicts::new(rows.iter().copied()).expect("a small table");
            let fits =
                |r: &&[i64; 3]| xs.contains(&r[0]) && ys.contains(&r[1]) && known.is_none_or(|n| n == r[2]);
            let column = |side: usize| {
                let mut list: Vec<i64> = rows.iter().filter(fits).map(|r| r[side]).collect();
                list.sort_unstable();
                list.dedup();
                list
            };
            match decided(&mut d, [x, y], truth, &table) {
                Ok(()) => {
                    let left = [x, y, truth].map(|v| d.values(v));
                    assert_eq!(left, [column(0), column(1), column(2)], "{rows:?} {xs:?} {ys:?} {known:?}")
                }
                Err(Conflict) => assert!(column(0).is_empty(), "{rows:?} {xs:?} {ys:?} {known:?}"),
            }
        }
    }
}
