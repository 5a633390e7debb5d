//! A state as a structure over interchangeable elements: what is said of one, of two, of many.
//!
//! In: atoms from `shape` and `values`. Out: colours of elements, refined until they are stable.
//! Never here: what a state is made of.
//!
//! An atom says something of no, one, two or more elements, in an order. Everything that is said of
//! one element is added up in one number, everything that is said of two in a number for the ordered
//! pair: so all relations between the same two elements are seen together, which is what makes
//! refinement strong (docs/algorithms.md, "Refinement"). Sums of 128-bit hashes stand for multisets; exclusive or
//! would let equal atoms cancel.

use super::types::Group;
use bombus_kernels::hash;
use bombus_lang::typed::SetId;
use bombus_lang::value::Value;
use std::sync::Arc;

/// A hash of two numbers that is the same in every run.
#[inline]
pub fn mix(a: u128, b: u128) -> u128 {
    hash::words(&[a as u64, (a >> 64) as u64, b as u64, (b >> 64) as u64])
}

/// The number of a word of our own vocabulary.
pub fn word(text: &str) -> u128 {
    text.bytes().fold(0, |h, b| mix(h, u128::from(b) + 1))
}

/// Hashes of the words that keys are made of.
pub struct Words {
    pub left: u128,
    pub right: u128,
    pub member: u128,
    pub same: u128,
    pub present: u128,
    pub tuple: u128,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            left: word("left"),
            right: word("right"),
            member: word("member"),
            same: word("same"),
            present: word("present"),
            tuple: word("tuple"),
        }
    }
}

/// What a state says of its elements.
pub struct Structure {
    group: Arc<Group>,
    elements: usize,
    /// By element: the set it belongs to.
    types: Vec<u128>,
    pub words: Words,
    /// What is said of no element.
    pub rest: u128,
    pub unary: Vec<u128>,
    /// What is said of an ordered pair of different elements: row, column.
    binary: Vec<u128>,
    /// The pairs of which something is said, each once, the smaller first.
    pub pairs: Vec<(u16, u16)>,
    /// What is said of three and more.
    tuples: Vec<(u128, std::ops::Range<u32>)>,
    places: Vec<u16>,
    /// Values that are not made of atoms, such as sets of sets.
    pub nested: Vec<(u128, std::ops::Range<u32>, Value)>,
    /// A value was met whose elements cannot be told: the state is taken as it is.
    pub opaque: bool,
    next: Vec<u128>,
    sorted: Vec<u128>,
}

impl Structure {
    pub fn new(group: &Arc<Group>) -> Structure {
        let n = group.elements.len();
        Structure {
            group: group.clone(),
            elements: n,
            types: group.elements.iter().map(|e| mix(word("element of"), u128::from(e.set.0))).collect(),
            words: Words::default(),
            rest: 0,
            unary: vec![0; n],
            binary: Vec::new(),
            pairs: Vec::new(),
            tuples: Vec::new(),
            places: Vec::new(),
            nested: Vec::new(),
            opaque: false,
            next: vec![0; n],
            sorted: Vec::with_capacity(n),
        }
    }

    /// Where an element stands among the interchangeable ones.
    pub fn place(&self, set: SetId, number: u32) -> Option<u16> {
        self.group.place(set, number)
    }

    pub fn clear(&mut self) {
        self.rest = 0;
        self.opaque = false;
        self.unary.fill(0);
        for (a, b) in self.pairs.drain(..) {
            self.binary[a as usize * self.elements + b as usize] = 0;
            self.binary[b as usize * self.elements + a as usize] = 0;
        }
        self.tuples.clear();
        self.places.clear();
        self.nested.clear();
    }

    /// Adds an atom: `key` holds of the elements at `places`, in this order.
    #[inline]
    pub fn atom(&mut self, key: u128, places: &[u16]) {
        match *places {
            [] => self.rest = self.rest.wrapping_add(key),
            [a] => self.unary[a as usize] = self.unary[a as usize].wrapping_add(key),
            [a, b] if a == b => {
                let key = mix(key, self.words.same);
                self.unary[a as usize] = self.unary[a as usize].wrapping_add(key);
            }
            [a, b] => self.pair(key, a, b),
            _ => {
                let first = self.places.len() as u32;
                self.places.extend_from_slice(places);
                self.tuples.push((key, first..self.places.len() as u32));
            }
        }
    }

    fn pair(&mut self, key: u128, a: u16, b: u16) {
        if self.binary.is_empty() {
            self.binary.resize(self.elements * self.elements, 0);
        }
        let (x, y) = (a as usize, b as usize);
        if self.between(x, y) == 0 && self.between(y, x) == 0 {
            self.pairs.push((a.min(b), a.max(b)));
        }
        let at = &mut self.binary[x * self.elements + y];
        *at = at.wrapping_add(key);
    }

    /// Adds a value that is not made of atoms.
    pub fn nest(&mut self, key: u128, places: &[u16], value: &Value) {
        let first = self.places.len() as u32;
        self.places.extend_from_slice(places);
        self.nested.push((key, first..self.places.len() as u32, value.clone()));
    }

    /// The elements that a tuple or a nested value belongs to.
    pub fn places(&self, range: &std::ops::Range<u32>) -> &[u16] {
        &self.places[range.start as usize..range.end as usize]
    }

    /// Adds all atoms of `other`.
    pub fn add(&mut self, other: &Structure) {
        self.rest = self.rest.wrapping_add(other.rest);
        self.opaque |= other.opaque;
        for (sum, more) in self.unary.iter_mut().zip(&other.unary) {
            *sum = sum.wrapping_add(*more);
        }
        for (a, b) in &other.pairs {
            let (x, y) = (*a as usize, *b as usize);
            for (key, from, to) in [(other.between(x, y), *a, *b), (other.between(y, x), *b, *a)] {
                if key != 0 {
                    self.pair(key, from, to);
                }
            }
        }
        for (key, range) in &other.tuples {
            self.atom(*key, other.places(range));
        }
        for (key, range, value) in &other.nested {
            self.nest(*key, other.places(range), value);
        }
    }

    /// What is said of the ordered pair.
    #[inline]
    pub fn between(&self, a: usize, b: usize) -> u128 {
        self.binary.get(a * self.elements + b).copied().unwrap_or(0)
    }

    /// Whether nothing is said of more than one element: then equal colours mean that nothing tells
    /// two elements apart.
    pub fn is_unary(&self) -> bool {
        self.pairs.is_empty() && self.tuples.is_empty() && self.nested.is_empty()
    }

    /// Whether something is said of more than two elements.
    pub fn is_beyond_pairs(&self) -> bool {
        !self.tuples.is_empty() || !self.nested.is_empty()
    }

    /// The colour of each element by its set and what is said of it alone.
    pub fn first_colours(&self, colours: &mut [u128]) {
        for (colour, (ty, said)) in colours.iter_mut().zip(self.types.iter().zip(&self.unary)) {
            *colour = mix(*ty, *said);
        }
    }

    /// Refines colours by those of the elements that are related, until no class splits any more.
    /// The result depends on the structure and the given colours only, not on how elements are
    /// numbered.
    pub fn refine(&mut self, colours: &mut [u128]) {
        if self.is_unary() {
            return;
        }
        let mut classes = self.count_classes(colours);
        loop {
            self.round(colours);
            let now = self.count_classes(colours);
            if now <= classes || now == self.elements {
                return;
            }
            classes = now;
        }
    }

    /// One round of refinement.
    fn round(&mut self, colours: &mut [u128]) {
        let mut next = std::mem::take(&mut self.next);
        next.fill(0);
        for (a, b) in &self.pairs {
            let (a, b) = (*a as usize, *b as usize);
            let (there, back) = (self.between(a, b), self.between(b, a));
            next[a] = next[a].wrapping_add(mix(mix(there, back), colours[b]));
            next[b] = next[b].wrapping_add(mix(mix(back, there), colours[a]));
        }
        for (key, range) in &self.tuples {
            let places = self.places(range);
            for (i, place) in places.iter().enumerate() {
                // Which of the others are this same element is part of what is seen.
                let seen = places.iter().fold(mix(*key, i as u128), |h, other| {
                    mix(h, if other == place { self.words.same } else { colours[*other as usize] })
                });
                next[*place as usize] = next[*place as usize].wrapping_add(seen);
            }
        }
        super::values::look_into(self, colours, &mut next);
        for (colour, seen) in colours.iter_mut().zip(&next) {
            *colour = mix(*colour, *seen);
        }
        self.next = next;
    }

    /// The marker of the structure under refined colours. Colours are left refined.
    pub fn refined_marker(&mut self, colours: &mut [u128]) -> u128 {
        self.first_colours(colours);
        if !self.is_unary() {
            self.refine(colours);
            // The last round may have told all elements apart; what is said between them under these
            // colours is seen in one more.
            self.round(colours);
        }
        self.marker(colours)
    }

    /// A hash of the structure under colours: equal for structures that a permutation maps to each
    /// other, whatever the colours do not tell apart.
    pub fn marker(&self, colours: &[u128]) -> u128 {
        let mut sum = 0u128;
        for (colour, ty) in colours.iter().zip(&self.types) {
            sum = sum.wrapping_add(mix(*ty, *colour));
        }
        for (key, range) in &self.tuples {
            let seen = self.places(range).iter().fold(*key, |h, place| mix(h, colours[*place as usize]));
            sum = sum.wrapping_add(mix(self.words.tuple, seen));
        }
        mix(mix(self.rest, sum), super::values::nested_marker(self, colours))
    }

    fn count_classes(&mut self, colours: &[u128]) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(colours);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.sorted.len()
    }

    /// Whether exchanging two elements of one colour leaves all that is said of one and of two as it
    /// is. Says nothing about what is said of more.
    pub fn are_twins(&self, a: usize, b: usize) -> bool {
        let same = |x: usize, y: usize| {
            self.between(a, x) == self.between(b, y) && self.between(x, a) == self.between(y, b)
        };
        self.unary[a] == self.unary[b]
            && same(b, a)
            && (0..self.elements).filter(|x| *x != a && *x != b).all(|x| same(x, x))
    }
}
