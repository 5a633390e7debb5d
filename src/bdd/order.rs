//! The order of the variables: what is read together stands together.
//!
//! In: the fields, which of them each step reads, bits that vary in a sample of states. Out: all atoms from the top
//! down. Fields are ordered by the FORCE heuristic of Aloul, Markov and Sakallah: each field moves to the middle of
//! the steps that read it until the steps do not get narrower. Bits that never varied come first, where they cost one
//! node each. Never here: diagrams.

use super::encoding::{Atom, atoms_of};
use crate::system::{BitField, Footprints};

/// How the bits of several fields are interleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// All bits of a field, then the next field.
    FieldByField,
    /// The first bit of all fields, then the second.
    BitByBit,
}

impl Arrangement {
    pub fn word(self) -> &'static str {
        match self {
            Arrangement::FieldByField => "field by field",
            Arrangement::BitByBit => "bit by bit",
        }
    }
}

/// Rounds of FORCE at most.
const ROUNDS: usize = 60;

/// The atoms from the top down. `varied` are the bits that differ between states of a sample.
pub fn order(
    footprints: &Footprints,
    one_hot: &[bool],
    varied: &[u64],
    arrangement: Arrangement,
) -> Vec<Atom> {
    let fields = &footprints.fields;
    let placed = force(fields.len(), &hyperedges(footprints));
    let is_varied = |bit: u32| varied[bit as usize / 64] >> (bit % 64) & 1 != 0;
    let varies = |f: &BitField, hot: bool, index: u32| match hot && f.codes.is_some() {
        true => (0..u32::from(f.width)).any(|i| is_varied(f.offset + i)),
        false => is_varied(f.offset + index),
    };
    let (mut still, mut moving) = (Vec::new(), Vec::new());
    for (place, field) in placed.iter().enumerate() {
        let f = &fields[*field];
        let n = atoms_of(f, one_hot[*field]);
        // High bits decide most, so they come first.
        for (rank, index) in (0..n).rev().enumerate() {
            let atom = Atom { field: *field as u32, index };
            let key = match arrangement {
                Arrangement::FieldByField => (place, rank),
                Arrangement::BitByBit => (n as usize - rank, place),
            };
            let list = if varies(f, one_hot[*field], index) { &mut moving } else { &mut still };
            list.push((key, atom));
        }
    }
    if arrangement == Arrangement::BitByBit {
        moving.sort_by_key(|(key, _)| (std::cmp::Reverse(key.0), key.1));
    }
    still.into_iter().chain(moving).map(|(_, atom)| atom).collect()
}

/// By step: the fields it reads.
fn hyperedges(footprints: &Footprints) -> Vec<Vec<usize>> {
    let in_mask = |f: &BitField, mask: &[u64]| {
        (f.offset..f.offset + u32::from(f.width)).any(|i| mask[i as usize / 64] >> (i % 64) & 1 != 0)
    };
    let common = &footprints.common;
    let of = |mask: &[u64]| -> Vec<usize> {
        let fields = footprints.fields.iter().enumerate();
        fields.filter(|(_, f)| in_mask(f, mask) && !in_mask(f, common)).map(|(i, _)| i).collect()
    };
    footprints.instances.iter().map(|i| of(&i.reads)).filter(|e| e.len() > 1).collect()
}

/// An order of `n` vertices in which the edges are narrow.
pub fn force(n: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let mut place: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let mut best: Vec<usize> = (0..n).collect();
    let mut least = span(edges, &place);
    for _ in 0..ROUNDS {
        let (mut sum, mut count) = (vec![0.0; n], vec![0u32; n]);
        for edge in edges {
            let middle = edge.iter().map(|v| place[*v]).sum::<f64>() / edge.len() as f64;
            for v in edge {
                sum[*v] += middle;
                count[*v] += 1;
            }
        }
        let target = |v: usize| if count[v] == 0 { place[v] } else { sum[v] / f64::from(count[v]) };
        let mut order: Vec<(f64, usize)> = (0..n).map(|v| (target(v), v)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (at, (_, v)) in order.iter().enumerate() {
            place[*v] = at as f64;
        }
        let now = span(edges, &place);
        if now < least {
            least = now;
            best = order.into_iter().map(|(_, v)| v).collect();
        }
    }
    best
}

/// The sum of the widths of all edges.
fn span(edges: &[Vec<usize>], place: &[f64]) -> f64 {
    let width = |edge: &Vec<usize>| {
        let places = edge.iter().map(|v| place[*v]);
        places.clone().fold(f64::MIN, f64::max) - places.fold(f64::MAX, f64::min)
    };
    edges.iter().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn force_puts_the_two_halves_of_a_ring_of_pairs_together() {
        // Vertex i and n + i belong together, and each with its neighbour: the best span of n pairs is linear.
        let n = 12;
        let edges: Vec<Vec<usize>> = (0..n - 1).map(|i| vec![i, n + i, n + i + 1]).collect();
        let order = force(2 * n, &edges);
        let mut place = vec![0.0; 2 * n];
        order.iter().enumerate().for_each(|(at, v)| place[*v] = at as f64);
        let at_first: Vec<f64> = (0..2 * n).map(|i| i as f64).collect();
        assert!(span(&edges, &place) * 3.0 < span(&edges, &at_first));
    }
}
