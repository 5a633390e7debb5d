//! The canonical numbering of the elements of a state (docs/algorithms.md, "Canonical numbering").
//!
//! In: a structure, and a way to write the state down under a numbering. Out: the least writing over
//! numberings that colours allow; equal for two states exactly if a permutation maps one to the other.
//! Never here: words of a state, explorers.
//!
//! Elements are ordered by colour. If every class of equal colour is a single element or a set of
//! twins (exchanging any two changes nothing), all orders inside classes write the same. Else one
//! element of a class is made different from the others, for each choice in turn, and colours are
//! refined: a tree of choices with numberings at its leaves. Writings that come out equal at two
//! leaves show an automorphism, which prunes choices it maps to each other.
//!
//! Whatever colours do, a writing is a state of the orbit: a mistake or a collision of hashes could
//! split an orbit in two, but never take two orbits for one.

use super::structure::{Structure, mix};
use super::types::{Group, number_in_order};
use bombus_kernels::faults::fault;
use std::sync::Arc;

/// Leaves of the search for one state; beyond, the state is told apart by its colours alone.
const LEAVES: usize = 2_000;
/// Automorphisms kept for pruning.
const AUTOMORPHISMS: usize = 64;

/// The state cannot be written down, or not within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The search would take too long.
    Budget,
    /// A value cannot be renamed.
    Opaque,
}

/// Writes a state down under a numbering; false when it cannot.
pub trait Writer {
    fn write(&mut self, numbers: &[u16], out: &mut Vec<u64>) -> bool;

    /// What comes before the words when two writings are compared: where words are numbers that depend
    /// on the run, a hash of what they mean.
    fn rank(&self, _writing: &[u64]) -> u128 {
        0
    }
}

/// Scratch memory for canonical numberings.
pub struct Canoniser {
    group: Arc<Group>,
    colours: Vec<u128>,
    /// Elements in the order of sets and colours.
    order: Vec<u16>,
    numbers: Vec<u16>,
    best: Leaf,
    first: Leaf,
    /// What the nodes from the root to here look like.
    trail: Vec<u128>,
    /// The elements made different on the way.
    path: Vec<u16>,
    automorphisms: Vec<Vec<u16>>,
    leaves: usize,
    /// Leaves allowed for one state.
    pub budget: usize,
    writing: Vec<u64>,
    plain: Vec<u64>,
}

#[derive(Default)]
struct Leaf {
    found: bool,
    trail: Vec<u128>,
    path: Vec<u16>,
    numbers: Vec<u16>,
    rank: u128,
    writing: Vec<u64>,
}

impl Canoniser {
    pub fn new(group: &Arc<Group>) -> Canoniser {
        let n = group.elements.len();
        Canoniser {
            group: group.clone(),
            colours: vec![0; n],
            order: (0..n as u16).collect(),
            numbers: vec![0; n],
            best: Leaf::default(),
            first: Leaf::default(),
            trail: Vec::new(),
            path: Vec::new(),
            automorphisms: Vec::new(),
            leaves: 0,
            budget: LEAVES,
            writing: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// The canonical writing of a state; the structure says of its elements what the state does.
    pub fn canonical(&mut self, s: &mut Structure, writer: &mut dyn Writer) -> Result<&[u64], Failed> {
        let mut colours = std::mem::take(&mut self.colours);
        s.first_colours(&mut colours);
        s.refine(&mut colours);
        self.order_by(&colours);
        if s.is_beyond_pairs() {
            self.plain.clear();
            for (number, e) in self.numbers.iter_mut().zip(&self.group.elements) {
                *number = e.number;
            }
            if !writer.write(&self.numbers, &mut self.plain) {
                self.colours = colours;
                return Err(Failed::Opaque);
            }
        }
        let cell = self.target(s, &colours, writer);
        if cell.is_none() {
            self.colours = colours;
            self.number();
            return match writer.write(&self.numbers, &mut self.writing) {
                true => Ok(&self.writing),
                false => Err(Failed::Opaque),
            };
        }
        self.best.found = false;
        self.first.found = false;
        self.trail.clear();
        self.path.clear();
        self.automorphisms.clear();
        self.leaves = 0;
        let done = self.search(s, colours.clone(), writer);
        self.colours = colours;
        done?;
        self.numbers.clone_from(&self.best.numbers);
        Ok(&self.best.writing)
    }

    /// The numbering that made the last canonical writing.
    pub fn numbering(&self) -> &[u16] {
        &self.numbers
    }

    /// Orders the elements of each set by colour; ties in any order.
    fn order_by(&mut self, colours: &[u128]) {
        for range in &self.group.ranges {
            self.order[range.clone()].sort_unstable_by_key(|e| colours[*e as usize]);
        }
    }

    /// Numbers the elements in their order.
    fn number(&mut self) {
        for range in &self.group.ranges {
            number_in_order(&self.group, range.clone(), &self.order[range.clone()], &mut self.numbers);
        }
    }

    /// The first among the smallest classes that are neither single nor twins, as a range of `order`.
    fn target(
        &mut self,
        s: &Structure,
        colours: &[u128],
        writer: &mut dyn Writer,
    ) -> Option<std::ops::Range<usize>> {
        if s.is_unary() {
            return None;
        }
        let mut smallest: Option<std::ops::Range<usize>> = None;
        let group = self.group.clone();
        for range in &group.ranges {
            let mut start = range.start;
            while start < range.end {
                let colour = colours[self.order[start] as usize];
                let mut end = start + 1;
                while end < range.end && colours[self.order[end] as usize] == colour {
                    end += 1;
                }
                let smaller = smallest.as_ref().is_none_or(|best| end - start < best.len());
                if end - start > 1 && smaller && !self.are_twins(s, start..end, writer) {
                    smallest = Some(start..end);
                }
                start = end;
            }
        }
        smallest
    }

    /// Whether the elements in a part of the order are all twins of each other.
    fn are_twins(&mut self, s: &Structure, part: std::ops::Range<usize>, writer: &mut dyn Writer) -> bool {
        (part.start + 1..part.end).all(|i| {
            let (a, b) = (self.order[i - 1], self.order[i]);
            self.is_twin(s, a, b, writer)
        })
    }

    fn is_twin(&mut self, s: &Structure, a: u16, b: u16, writer: &mut dyn Writer) -> bool {
        if fault("symmetry: elements of one colour are twins") {
            return true;
        }
        let (a, b) = (a as usize, b as usize);
        if !s.are_twins(a, b) {
            return false;
        }
        if !s.is_beyond_pairs() {
            return true;
        }
        // What is said of three and more, and what is nested, is compared as it is written.
        for (number, e) in self.numbers.iter_mut().zip(&self.group.elements) {
            *number = e.number;
        }
        self.numbers.swap(a, b);
        writer.write(&self.numbers, &mut self.writing) && self.writing == self.plain
    }

    /// Searches below the node with these colours. `Ok(depth)`: nodes deeper than `depth` are done
    /// with, because an automorphism maps the rest of them to what was searched before.
    fn search(
        &mut self,
        s: &mut Structure,
        colours: Vec<u128>,
        writer: &mut dyn Writer,
    ) -> Result<usize, Failed> {
        let depth = self.path.len();
        let look = colours.iter().fold(0u128, |sum, c| sum.wrapping_add(mix(*c, 7)));
        self.trail.truncate(depth);
        self.trail.push(look);
        if self.best.found && self.trail[..] > self.best.trail[..self.best.trail.len().min(depth + 1)] {
            return Ok(depth);
        }
        self.order_by(&colours);
        let Some(cell) = self.target(s, &colours, writer) else {
            return self.leaf(writer);
        };
        let members: Vec<u16> = self.order[cell].to_vec();
        let mut tried: Vec<u16> = Vec::new();
        for d in members {
            let twin = tried.iter().any(|e| self.is_twin(s, *e, d, writer));
            if twin || self.is_mapped_to(&tried, d) {
                continue;
            }
            let mut below = colours.clone();
            below[d as usize] = mix(below[d as usize], 11);
            s.refine(&mut below);
            self.path.push(d);
            let back = self.search(s, below, writer)?;
            self.path.truncate(depth);
            self.trail.truncate(depth + 1);
            tried.push(d);
            if back < depth {
                return Ok(back);
            }
        }
        Ok(depth)
    }

    fn leaf(&mut self, writer: &mut dyn Writer) -> Result<usize, Failed> {
        self.leaves += 1;
        if self.leaves > self.budget {
            return Err(Failed::Budget);
        }
        self.number();
        if !writer.write(&self.numbers, &mut self.writing) {
            return Err(Failed::Opaque);
        }
        let depth = self.path.len();
        for known in [&self.first, &self.best] {
            if known.found && known.writing == self.writing && known.trail == self.trail {
                let mut image = vec![0u16; self.numbers.len()];
                for range in &self.group.ranges {
                    for y in range.clone() {
                        let x = range.clone().find(|x| self.numbers[*x] == known.numbers[y]);
                        image[y] = x.map_or(y as u16, |x| x as u16);
                    }
                }
                if self.automorphisms.len() < AUTOMORPHISMS {
                    self.automorphisms.push(image);
                }
                let common = self.path.iter().zip(&known.path).take_while(|(a, b)| a == b).count();
                return Ok(common.min(depth));
            }
        }
        let rank = writer.rank(&self.writing);
        let better = !self.best.found
            || (&self.trail[..], rank, &self.writing[..])
                < (&self.best.trail[..], self.best.rank, &self.best.writing[..]);
        let Canoniser { best, first, trail, path, numbers, writing, .. } = self;
        if better {
            best.keep(trail, path, numbers, rank, writing);
        }
        if !first.found {
            first.keep(trail, path, numbers, rank, writing);
        }
        Ok(depth)
    }

    /// Whether an automorphism that leaves the path alone maps a tried element to `d`.
    fn is_mapped_to(&self, tried: &[u16], d: u16) -> bool {
        if tried.is_empty() {
            return false;
        }
        let fixing: Vec<&Vec<u16>> = self
            .automorphisms
            .iter()
            .filter(|image| self.path.iter().all(|p| image[*p as usize] == *p))
            .collect();
        // The orbit of `d` under the automorphisms: inverses are powers, so images are enough.
        let mut orbit = vec![d];
        let mut at = 0;
        while at < orbit.len() {
            for image in &fixing {
                let to = image[orbit[at] as usize];
                if !orbit.contains(&to) {
                    orbit.push(to);
                }
            }
            at += 1;
        }
        orbit.iter().any(|e| tried.contains(e))
    }
}

impl Leaf {
    fn keep(&mut self, trail: &[u128], path: &[u16], numbers: &[u16], rank: u128, writing: &[u64]) {
        self.found = true;
        self.rank = rank;
        self.trail.clear();
        self.trail.extend_from_slice(trail);
        self.path.clear();
        self.path.extend_from_slice(path);
        self.numbers.clear();
        self.numbers.extend_from_slice(numbers);
        self.writing.clear();
        self.writing.extend_from_slice(writing);
    }
}

/// The least writing over all permutations: the slow oracle (permutation flooding).
pub fn least_of_all(group: &Group, writer: &mut dyn Writer, out: &mut Vec<u64>) -> bool {
    let mut order: Vec<u16> = (0..group.elements.len() as u16).collect();
    let mut numbers = vec![0; group.elements.len()];
    let mut writing = Vec::new();
    let mut least = 0;
    out.clear();
    loop {
        for range in &group.ranges {
            number_in_order(group, range.clone(), &order[range.clone()], &mut numbers);
        }
        if !writer.write(&numbers, &mut writing) {
            return false;
        }
        let rank = writer.rank(&writing);
        if out.is_empty() || (rank, &writing) < (least, &*out) {
            out.clone_from(&writing);
            least = rank;
        }
        // The next permutation in lexicographic order; a set that is through starts again and the
        // next set takes a step.
        if !group.ranges.iter().any(|range| next_permutation(&mut order[range.clone()])) {
            return true;
        }
    }
}

/// Steps to the next permutation; false when it starts again from the first.
fn next_permutation(list: &mut [u16]) -> bool {
    let Some(at) = (1..list.len()).rev().find(|i| list[i - 1] < list[*i]) else {
        list.reverse();
        return false;
    };
    let with = (at..list.len()).rev().find(|i| list[*i] > list[at - 1]).unwrap_or(at);
    list.swap(at - 1, with);
    list[at..].reverse();
    true
}
