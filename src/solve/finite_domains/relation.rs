//! Tables of two columns as matrices of bits.
//!
//! In: rows of a table for two variables with few values. Out: domains in which every value of one variable has a partner in
//! the other. A value has one if its line of the matrix and the domain of the other have a bit in common.

use crate::solve::finite_domains::domain::{Conflict, Domains, Fd, Step};
use std::sync::Arc;

/// Columns with values farther apart are not told in one word.
const WIDTH: i64 = 64;

/// Which values of two columns stand in a row together.
#[derive(Debug)]
pub struct Matrix {
    /// The rows themselves, which stay in memory as long as the matrix does.
    rows: Arc<[i64]>,
    /// The least value of each column.
    base: [i64; 2],
    /// For each value of a column the values of the other one, as bits.
    lines: [Vec<u64>; 2],
}

impl Matrix {
    /// The matrix of rows of two values; `None` if the values of a column lie too far apart.
    pub(super) fn new(rows: &Arc<[i64]>) -> Option<Matrix> {
        let column = |side: usize| rows.iter().skip(side).step_by(2).copied();
        let mut base = [0; 2];
        let mut lines = [Vec::new(), Vec::new()];
        for side in 0..2 {
            let (low, high) = (column(side).min()?, column(side).max()?);
            if high - low >= WIDTH {
                return None;
            }
            base[side] = low;
            lines[side] = vec![0; (high - low + 1) as usize];
        }
        for row in rows.chunks_exact(2) {
            let at = [row[0] - base[0], row[1] - base[1]];
            lines[0][at[0] as usize] |= 1 << at[1];
            lines[1][at[1] as usize] |= 1 << at[0];
        }
        Some(Matrix { rows: rows.clone(), base, lines })
    }

    pub(super) fn is_of(&self, rows: &Arc<[i64]>) -> bool {
        Arc::ptr_eq(&self.rows, rows)
    }
}

/// The values of two variables stand in a row together.
pub(super) fn related(d: &mut Domains, vars: [Fd; 2], matrix: &Matrix) -> Step {
    for (side, v) in vars.into_iter().enumerate() {
        d.at_least(v, matrix.base[side])?;
        d.at_most(v, matrix.base[side] + matrix.lines[side].len() as i64 - 1)?;
    }
    for side in [0, 1] {
        let (v, other) = (vars[side], vars[1 - side]);
        let partners = d.word(other, matrix.base[1 - side]);
        let mut left = d.word(v, matrix.base[side]);
        if left == 0 || partners == 0 {
            return Err(Conflict);
        }
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            if matrix.lines[side][at] & partners == 0 {
                d.remove(v, matrix.base[side] + at as i64)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::random::Random;

    #[test]
    fn just_the_values_with_a_partner_are_left() {
        let mut dice = Random(5);
        for _ in 0..2000 {
            let rows: Vec<i64> = (0..1 + dice.between(0, 11))
                .flat_map(|_| [dice.between(0, 8) - 4, dice.between(0, 6)])
                .collect();
            let mut d = Domains::default();
            let mut domain = |low: i64, width: i64| {
                let mut list: Vec<i64> =
                    (0..1 + dice.between(0, 5)).map(|_| low + dice.between(0, width - 1)).collect();
                list.sort_unstable();
                list.dedup();
                (d.of_values(&list), list)
            };
            let ((x, xs), (y, ys)) = (domain(-6, 12), domain(-1, 9));
            let rows: Arc<[i64]> = rows.into();
            let matrix = Matrix::new(&rows).expect("a small table");
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
}
