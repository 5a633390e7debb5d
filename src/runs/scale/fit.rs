//! Two laws of scaling fitted to measured times by least squares.
//!
//! In: pairs of workers and seconds, one for each worker count. Out: the serial fraction (Amdahl), and the serial fraction with the cost of
//! keeping workers consistent (Gunther's universal scalability law).
//!
//! Both laws are linear in their unknowns once written for the work W(p) = p * T(p), the processor time spent:
//! W(p) = T1 * (1 + sigma * (p - 1) + kappa * p * (p - 1)), with kappa = 0 for Amdahl. So T1, T1*sigma and T1*kappa come
//! from one linear regression, without a starting guess and without needing a run with one worker. Each equation is
//! divided by its own W, so that a relative error counts the same at every worker count.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub workers: u32,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Fitted time of one worker.
    pub one: f64,
    /// Fraction that cannot run in parallel, or contention.
    pub sigma: f64,
    /// Coherence: the price of pairs of workers; zero for Amdahl.
    pub kappa: f64,
    /// Root of the mean squared relative error of the times.
    pub error: f64,
}

impl Law {
    pub fn seconds(&self, p: f64) -> f64 {
        self.one * (1.0 + self.sigma * (p - 1.0) + self.kappa * p * (p - 1.0)) / p
    }

    pub fn speedup(&self, p: f64) -> f64 {
        self.one / self.seconds(p)
    }

    /// The number of workers beyond which more would slow the run down.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 1e-12 && self.sigma < 1.0).then(|| ((1.0 - self.sigma) / self.kappa).sqrt().max(1.0))
    }
}

/// Amdahl's law; needs two different worker counts.
pub fn amdahl(samples: &[Sample]) -> Option<Law> {
    if different(samples) < 2 {
        return None;
    }
    let free = law(samples, &[constant, serial])?;
    // Not more than everything is serial.
    if free.sigma > 1.0 { law_free(samples, &[all_serial]) } else { Some(free) }
}

/// The universal scalability law; needs three different worker counts.
pub fn universal(samples: &[Sample]) -> Option<Law> {
    if different(samples) < 3 {
        return None;
    }
    let full = law_free(samples, &[constant, serial, coherence])?;
    // Neither cost can be negative: what would be is left out and the rest fitted again.
    if full.sigma >= 0.0 && full.kappa >= 0.0 {
        return Some(full);
    }
    let without_kappa = amdahl(samples);
    let without_sigma = law(samples, &[constant, coherence]);
    [without_kappa, without_sigma].into_iter().flatten().min_by(|a, b| a.error.total_cmp(&b.error))
}

fn different(samples: &[Sample]) -> usize {
    let mut counts: Vec<u32> = samples.iter().map(|s| s.workers).collect();
    counts.sort_unstable();
    counts.dedup();
    counts.len()
}

type Term = fn(f64) -> f64;

fn constant(_: f64) -> f64 {
    1.0
}

/// Work that grows with the workers because none of it is shared: sigma is one.
fn all_serial(p: f64) -> f64 {
    p
}

fn serial(p: f64) -> f64 {
    p - 1.0
}

fn coherence(p: f64) -> f64 {
    p * (p - 1.0)
}

/// As `law_free`, with a negative cost replaced by none.
fn law(samples: &[Sample], terms: &[Term]) -> Option<Law> {
    let free = law_free(samples, terms)?;
    if free.sigma >= 0.0 && free.kappa >= 0.0 {
        return Some(free);
    }
    law_free(samples, &[constant])
}

fn law_free(samples: &[Sample], terms: &[Term]) -> Option<Law> {
    let n = terms.len();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for s in samples {
        let p = f64::from(s.workers);
        let work = p * s.seconds;
        if work.is_nan() || work <= 0.0 {
            return None;
        }
        let row: Vec<f64> = terms.iter().map(|t| t(p) / work).collect();
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] += row[i] * row[j];
            }
            matrix[i][n] += row[i];
        }
    }
    let solved = solve(matrix)?;
    let one = solved[0];
    if one.is_nan() || one <= 0.0 {
        return None;
    }
    let (mut sigma, mut kappa) = (terms[0](2.0) - 1.0, 0.0);
    for (term, value) in terms.iter().zip(&solved).skip(1) {
        // The terms are told apart by what they give for two workers.
        if term(2.0) == 1.0 { sigma = value / one } else { kappa = value / one }
    }
    let mut fitted = Law { one, sigma, kappa, error: 0.0 };
    let squares: f64 =
        samples.iter().map(|s| (fitted.seconds(f64::from(s.workers)) / s.seconds - 1.0).powi(2)).sum();
    fitted.error = (squares / samples.len() as f64).sqrt();
    Some(fitted)
}

/// Gaussian elimination with pivots, for the three unknowns we have at most.
fn solve(mut m: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = m.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| m[*a][column].abs().total_cmp(&m[*b][column].abs()))?;
        m.swap(column, pivot);
        if m[column][column].abs() < 1e-300 {
            return None;
        }
        for row in 0..n {
            if row != column {
                let factor = m[row][column] / m[column][column];
                let above = m[column].clone();
                for (cell, above) in m[row].iter_mut().zip(above).skip(column) {
                    *cell -= factor * above;
                }
            }
        }
    }
    Some((0..n).map(|i| m[i][n] / m[i][i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(one: f64, sigma: f64, kappa: f64, counts: &[u32]) -> Vec<Sample> {
        let law = Law { one, sigma, kappa, error: 0.0 };
        counts.iter().map(|p| Sample { workers: *p, seconds: law.seconds(f64::from(*p)) }).collect()
    }

    #[test]
    fn a_law_is_found_again_in_its_own_times() {
        let found = amdahl(&samples(8.0, 0.05, 0.0, &[1, 2, 4, 8])).unwrap();
        assert!((found.sigma - 0.05).abs() < 1e-9 && (found.one - 8.0).abs() < 1e-9, "{found:?}");
        let found = universal(&samples(3.0, 0.02, 0.001, &[1, 2, 4, 8, 16])).unwrap();
        assert!((found.sigma - 0.02).abs() < 1e-9 && (found.kappa - 0.001).abs() < 1e-9, "{found:?}");
        assert!((found.peak().unwrap() - (0.98f64 / 0.001).sqrt()).abs() < 1e-3);
    }

    #[test]
    fn one_worker_need_not_be_measured() {
        let found = amdahl(&samples(8.0, 0.1, 0.0, &[2, 4])).unwrap();
        assert!((found.one - 8.0).abs() < 1e-9);
    }

    #[test]
    fn too_few_counts_determine_nothing() {
        assert_eq!(amdahl(&samples(1.0, 0.0, 0.0, &[2, 2])), None);
        assert_eq!(universal(&samples(1.0, 0.0, 0.0, &[1, 2])), None);
    }

    #[test]
    fn a_serial_fraction_is_at_most_one() {
        let times = [(1, 1.0), (2, 1.5)];
        let samples: Vec<Sample> =
            times.iter().map(|(workers, seconds)| Sample { workers: *workers, seconds: *seconds }).collect();
        let found = amdahl(&samples).unwrap();
        assert_eq!(found.sigma, 1.0);
        assert!((1.0..1.5).contains(&found.one) && found.speedup(8.0) == 1.0, "{found:?}");
    }

    #[test]
    fn a_cost_is_never_negative() {
        // Better than linear, as caches may make it.
        let times = [(1, 1.0), (2, 0.45), (4, 0.2)];
        let samples: Vec<Sample> =
            times.iter().map(|(workers, seconds)| Sample { workers: *workers, seconds: *seconds }).collect();
        let found = universal(&samples).unwrap();
        assert!(found.sigma >= 0.0 && found.kappa >= 0.0, "{found:?}");
        assert!(amdahl(&samples).unwrap().sigma >= 0.0);
    }
}
