//! The plain twins of the bit kernels: ordered sets of numbers and of pairs, one line per operator.
//!
//! Slow and obvious; nothing but tests calls them.

use super::matrix::Shape;
use std::collections::BTreeSet;

pub type Pairs = BTreeSet<(usize, usize)>;

pub fn elements(set: &[u64]) -> BTreeSet<usize> {
    super::iter(set).collect()
}

pub fn pairs(m: &[u64], shape: Shape) -> Pairs {
    super::iter(m).map(|bit| (bit / shape.cols, bit % shape.cols)).collect()
}

pub fn dom(r: &Pairs) -> BTreeSet<usize> {
    r.iter().map(|p| p.0).collect()
}

pub fn ran(r: &Pairs) -> BTreeSet<usize> {
    r.iter().map(|p| p.1).collect()
}

pub fn image(r: &Pairs, s: &BTreeSet<usize>) -> BTreeSet<usize> {
    r.iter().filter(|p| s.contains(&p.0)).map(|p| p.1).collect()
}

pub fn inverse(r: &Pairs) -> Pairs {
    r.iter().map(|p| (p.1, p.0)).collect()
}

pub fn compose(a: &Pairs, b: &Pairs) -> Pairs {
    a.iter().flat_map(|p| b.iter().filter(|q| q.0 == p.1).map(|q| (p.0, q.1))).collect()
}

pub fn restrict(r: &Pairs, keep: impl Fn(&(usize, usize)) -> bool) -> Pairs {
    r.iter().filter(|p| keep(p)).copied().collect()
}

pub fn override_with(a: &Pairs, b: &Pairs) -> Pairs {
    let kept = restrict(a, |p| !dom(b).contains(&p.0));
    kept.union(b).copied().collect()
}

pub fn product(s: &BTreeSet<usize>, t: &BTreeSet<usize>) -> Pairs {
    s.iter().flat_map(|a| t.iter().map(|b| (*a, *b))).collect()
}

pub fn is_functional(r: &Pairs) -> bool {
    dom(r).len() == r.len()
}

pub fn closure1(r: &Pairs) -> Pairs {
    let mut all = r.clone();
    loop {
        let next: Pairs = all.union(&compose(&all, r)).copied().collect();
        if next == all {
            return all;
        }
        all = next;
    }
}
