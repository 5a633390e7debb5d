//! Small models: how large the integers of a query need to be, if the query has a model at all.
//!
//! In: the linear comparisons of a query, each `sum of a_i * x_i` with a constant `b` by any of `<`, `<=`, `=`, `/=` or
//! their negations, in any Boolean combination. Out: a number such that, if there is a model, there is one in which no
//! unknown is larger in absolute value; and the bits for that. Every integer unknown of the query must stand in the
//! list with all its comparisons, known ranges of leaves included. Products of unknowns have no bound here.
//!
//! Why. Of a model keep only which comparisons hold: a conjunction of `a.x <= b'` with `|b'| <= |b| + 1` (an
//! inequation is one of two strict comparisons). Let c be the largest `|b'|`, n the number of unknowns.
//!
//! Differences. If each comparison is of one unknown or of `x - y`, the conjunction is a graph with one more node for 0;
//! it has a solution just if no cycle is negative, and then the lengths of shortest paths from a source with edges of
//! length 0 to all nodes are one. A shortest path has at most n edges of the n + 1 nodes, so lengths lie in `-n*c ..= 0`,
//! and moved so that the node of 0 lies at 0, in `-n*c ..= n*c`.
//!
//! Linear. Add for each unknown its sign in the model as a comparison, so that the solutions form a polyhedron with
//! vertices. Let D be the largest absolute value of a subdeterminant of the matrix `[a | b']`; the signs, being rows of a
//! single 1 and a 0, add no larger one. By Cramer's rule vertices have entries of at most D, and the directions of
//! unbounded edges can be chosen as integers of at most D. The model is a convex combination of vertices plus at most n
//! directions with factors of at least 0. Subtract the whole part of each factor times its direction: the rest is again
//! a vector of integers and a solution, with entries of at most `D + n*D`. To bound D: a square submatrix, of at most n + 1
//! rows, expanded along the column of b', is at most `(n + 1) * c` times a subdeterminant of a; there, rows that are equal up to the
//! sign give 0, so that each direction `a` occurs once; expanded along the rows that are no differences, it is at most the
//! product of the sums `|a_1| + ... + |a_n|` of these rows, at most n of them, times a subdeterminant of differences,
//! which is 0, 1 or -1 because each row has at most one 1 and at most one -1.

use crate::integer;
use dashu_int::IBig;
use dashu_int::ops::Abs;
use std::collections::BTreeSet;

/// A comparison of a sum of multiples of unknowns with a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Unknowns by their numbers, rising, with coefficients that are not 0.
    terms: Vec<(usize, IBig)>,
    constant: IBig,
}

impl Comparison {
    /// `sum of terms` compared with `constant`; terms of one unknown are added up.
    pub fn new(terms: impl IntoIterator<Item = (usize, IBig)>, constant: IBig) -> Comparison {
        let mut all: Vec<(usize, IBig)> = terms.into_iter().collect();
        all.sort_by_key(|term| term.0);
        let mut terms: Vec<(usize, IBig)> = Vec::new();
        for (unknown, factor) in all {
            match terms.last_mut() {
                Some(last) if last.0 == unknown => last.1 += factor,
                _ => terms.push((unknown, factor)),
            }
        }
        terms.retain(|term| term.1 != IBig::ZERO);
        Comparison { terms, constant }
    }

    /// Whether each row has at most one 1, at most one -1, and nothing else.
    fn is_difference(&self) -> bool {
        match &self.terms[..] {
            [] => true,
            [a] => unit(&a.1),
            [a, b] => unit(&a.1) && a.1 == -&b.1,
            _ => false,
        }
    }

    /// The coefficients up to a common sign.
    fn direction(&self) -> Vec<(usize, IBig)> {
        let negative = self.terms.first().is_some_and(|term| term.1 < IBig::ZERO);
        let sign = |factor: &IBig| if negative { -factor } else { factor.clone() };
        self.terms.iter().map(|(unknown, factor)| (*unknown, sign(factor))).collect()
    }
}

fn unit(factor: &IBig) -> bool {
    *factor == IBig::ONE || *factor == -IBig::ONE
}

/// The largest absolute value that unknowns need.
pub fn magnitude(comparisons: &[Comparison]) -> IBig {
    let unknowns: BTreeSet<usize> =
        comparisons.iter().flat_map(|c| c.terms.iter().map(|term| term.0)).collect();
    let count = IBig::from(unknowns.len());
    let largest =
        comparisons.iter().map(|c| c.constant.clone().abs()).max().unwrap_or(IBig::ZERO) + IBig::ONE;
    if comparisons.iter().all(Comparison::is_difference) {
        return count * largest;
    }
    let others: BTreeSet<Vec<(usize, IBig)>> =
        comparisons.iter().filter(|c| !c.is_difference()).map(Comparison::direction).collect();
    let mut sums: Vec<IBig> =
        others.iter().map(|row| row.iter().map(|term| term.1.clone().abs()).sum()).collect();
    sums.sort();
    let product: IBig = sums.iter().rev().take(unknowns.len()).product();
    (&count + IBig::ONE) * (count + IBig::ONE) * largest * product
}

/// The bits in two's complement that unknowns need.
pub fn width(comparisons: &[Comparison]) -> usize {
    let most = magnitude(comparisons);
    integer::width(&-&most, &most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// The least absolute value of the largest unknown over all solutions of `row . x <= constant` within a box.
    fn least_solution(conjunction: &[(Vec<i64>, i64)], unknowns: usize, size: i64) -> Option<i64> {
        let mut best = None;
        let mut values = vec![-size; unknowns];
        loop {
            let holds = |(row, most): &(Vec<i64>, i64)| {
                row.iter().zip(&values).map(|(a, x)| a * x).sum::<i64>() <= *most
            };
            if conjunction.iter().all(holds) {
                let most = values.iter().map(|v| v.abs()).max().unwrap_or(0);
                best = Some(best.map_or(most, |b: i64| b.min(most)));
            }
            let Some(at) = (0..unknowns).find(|i| values[*i] < size) else { return best };
            values[at] += 1;
            values[..at].fill(-size);
        }
    }

    fn check(random: &mut Random, unknowns: usize, size: i64, row: impl Fn(&mut Random) -> Vec<i64>) -> bool {
        let conjunction: Vec<(Vec<i64>, i64)> =
            (0..1 + random.below(5)).map(|_| (row(random), random.below(9) as i64 - 4)).collect();
        let Some(least) = least_solution(&conjunction, unknowns, size) else { return false };
        let comparisons: Vec<Comparison> = conjunction
            .iter()
            .map(|(row, most)| {
                Comparison::new(row.iter().map(|a| IBig::from(*a)).enumerate(), IBig::from(*most))
            })
            .collect();
        assert!(IBig::from(least) <= magnitude(&comparisons), "{least} {conjunction:?}");
        true
    }

    #[test]
    fn a_solvable_conjunction_of_differences_has_a_solution_within_the_bound() {
        let mut random = Random::new(7);
        let mut solvable = 0;
        for _ in 0..200 {
            solvable += usize::from(check(&mut random, 3, 16, |random| {
                let mut row = vec![0; 3];
                row[random.below(3)] += 1;
                if random.chance(70) {
                    row[random.below(3)] -= 1;
                }
                if random.chance(50) { row.iter().map(|a| -a).collect() } else { row }
            }));
        }
        assert!(solvable > 80, "{solvable}");
    }

    #[test]
    fn a_solvable_conjunction_of_sums_has_a_solution_within_the_bound() {
        let mut random = Random::new(11);
        let mut solvable = 0;
        for _ in 0..400 {
            solvable += usize::from(check(&mut random, 2, 60, |random| {
                (0..2).map(|_| random.below(9) as i64 - 4).collect()
            }));
        }
        assert!(solvable > 80, "{solvable}");
    }

    /// `x1 >= 1 & x2 >= 3*x1 & x3 >= 3*x2 & ...`: each unknown needs three times the one before it.
    #[test]
    fn a_chain_of_multiples_stays_within_the_bound() {
        for length in 1..20usize {
            let mut chain = vec![Comparison::new([(0, -IBig::ONE)], -IBig::ONE)];
            for x in 1..length {
                chain.push(Comparison::new([(x - 1, IBig::from(3)), (x, -IBig::ONE)], IBig::ZERO));
            }
            assert!(magnitude(&chain) >= IBig::from(3).pow(length - 1), "{length}");
        }
    }

    /// `x1 - x2 <= -c & x2 - x3 <= -c & ...` between 0 and above: the last unknown needs `(n - 1) * c`.
    #[test]
    fn a_chain_of_differences_stays_within_the_bound() {
        for length in 1..20usize {
            let mut chain = vec![Comparison::new([(0, -IBig::ONE)], IBig::ZERO)];
            for x in 1..length {
                chain.push(Comparison::new([(x - 1, IBig::ONE), (x, -IBig::ONE)], IBig::from(-5)));
            }
            assert!(magnitude(&chain) >= IBig::from(5 * (length - 1)), "{length}");
            assert_eq!(magnitude(&chain), IBig::from(length * if length == 1 { 1 } else { 6 }));
        }
    }

    #[test]
    fn terms_of_one_unknown_are_added_up() {
        let same = Comparison::new([(1, 2.into()), (0, 3.into()), (1, (-2).into())], 4.into());
        assert_eq!(same, Comparison::new([(0, 3.into())], 4.into()));
    }
}
