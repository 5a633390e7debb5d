//! Keys of packed states: numbers of a fixed width that are ordered as the bytes are that spell the states.
//!
//! In: the layouts of a program, and a spelling of values. Out: for a packed state its key; for a key the bytes of the state.
//! Never here: how a value is spelled, and what the bytes are for.
//!
//! A state is spelled as the number of its valuation and its variables one after the other: a set as the number of its
//! elements and these in the order of their bytes, a pair and a record as their parts. Where two spellings differ
//! for the first time, two *components* differ: numbers, codes, whether an element is in a set. So the components, in the order in which they are
//! spelled, the first one in the highest bits, make a number that is ordered as the bytes are. It needs about as many bits as the packed state, is
//! sorted without a look at bytes, and is read back without making values.
//!
//! Of two sets of one size that which has the lesser element where they first differ comes first: being there counts less than
//! not being there. States whose values stand in the pool have no keys.

mod components;
mod speller;

use super::Program;
use super::state::StateLayout;
use bombus_lang::typed::Type;
use bombus_lang::value::Value;
use components::{Component, Shows, Source};
pub use speller::Speller;
use speller::Step;
use std::collections::BTreeSet;

/// Appends the bytes of a value of a type; false if it has none. Bytes of a set, of parts and of integers are as this module
/// says, integers are ordered as their bytes are, and of two spellings of one type neither begins with the other.
pub type Spell<'a> = &'a (dyn Fn(&Value, &Type, &mut Vec<u8>) -> bool + Sync);

/// Bits that are looked up together, unless a single code has more. PERF: tables of 256 entries stay near the processor.
const TOGETHER: u32 = 8;

/// How the states of a program become keys, and keys bytes.
pub struct Keys<'a> {
    layout: &'a StateLayout,
    spell: Spell<'a>,
    lookups: Vec<Lookup>,
    tables: Vec<u128>,
    bits: u32,
    steps: Vec<Step>,
    /// By bit of a key, the lowest first, the step that it belongs to.
    step_of: Vec<u32>,
    /// All texts of the steps one after the other, and where they end; the first ends where it begins.
    texts: Vec<u8>,
    ends: Vec<u32>,
}

/// Bits of a state, and where the table begins of what they add to the key.
struct Lookup {
    word: usize,
    shift: u32,
    mask: u64,
    table: usize,
}

impl Program<'_> {
    /// Keys of the states whose values do not stand in the pool; `ranks` are the numbers by which the valuations are spelled. None if keys
    /// would be too wide, or some variable may hold what only the pool knows.
    pub fn keys<'a>(&'a self, ranks: &[usize], spell: Spell<'a>) -> Option<Keys<'a>> {
        let variables: Vec<&Type> =
            self.layout.slots.iter().map(|slot| &self.machine.var(slot.var).ty).collect();
        Keys::new(&self.layout, &variables, ranks, spell)
    }
}

impl<'a> Keys<'a> {
    fn new(layout: &'a StateLayout, types: &[&Type], ranks: &[usize], spell: Spell<'a>) -> Option<Keys<'a>> {
        let (components, sources) = components::of(layout, types, ranks, spell)?;
        let bits: u32 = components.iter().map(|c| c.width).sum();
        if bits > u128::BITS {
            return None;
        }
        let mut keys = Keys {
            layout,
            spell,
            lookups: Vec::new(),
            tables: Vec::new(),
            bits,
            steps: Vec::new(),
            step_of: vec![0; bits as usize],
            texts: Vec::new(),
            ends: vec![0],
        };
        let shifts: Vec<u32> = components
            .iter()
            .scan(bits, |rest, component| {
                *rest -= component.width;
                // Components without bits may stand before the highest one.
                Some((*rest).min(u128::BITS - 1))
            })
            .collect();
        keys.look_up(sources, &shifts);
        keys.list_steps(&components, &shifts);
        Some(keys)
    }

    /// The width of keys.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The key of a state; none if its values stand in the pool.
    #[inline]
    pub fn key(&self, state: &[u64]) -> Option<u128> {
        if self.layout.is_escaped(state) {
            return None;
        }
        let add =
            |sum: u128, l: &Lookup| sum + self.tables[l.table + (state[l.word] >> l.shift & l.mask) as usize];
        Some(self.lookups.iter().fold(0, add))
    }

    /// Bytes of keys.
    pub fn speller(&self) -> Speller<'_> {
        Speller::new(self)
    }

    /// Makes tables of what the bits of states add to keys.
    fn look_up(&mut self, sources: Vec<Source>, shifts: &[u32]) {
        let mut pieces: Vec<(usize, u32, Vec<u128>)> =
            sources.iter().flat_map(|source| source.pieces(shifts)).collect();
        pieces.sort_by_key(|piece| piece.0);
        let mut joined: Vec<(usize, u32, Vec<u128>)> = Vec::new();
        for (at, width, table) in pieces {
            match joined.last_mut() {
                Some((first, wide, below))
                    if *first + *wide as usize == at && at % 64 != 0 && *wide + width <= TOGETHER =>
                {
                    *below = table.iter().flat_map(|high| below.iter().map(move |low| high + low)).collect();
                    *wide += width;
                }
                _ => joined.push((at, width, table)),
            }
        }
        for (at, width, table) in joined {
            let mask = (1 << width) - 1;
            let table_at = self.tables.len();
            self.lookups.push(Lookup { word: at / 64, shift: (at % 64) as u32, mask, table: table_at });
            self.tables.extend(table);
        }
    }

    /// Lists what is appended for a key, as few steps as tables of a moderate size allow.
    fn list_steps(&mut self, components: &[Component], shifts: &[u32]) {
        let row_ends: BTreeSet<usize> = components.iter().filter_map(Component::end).collect();
        // By component, the step that it is in.
        let mut step_of_component: Vec<u32> = Vec::new();
        let mut listed: Vec<Vec<u8>> = Vec::new();
        let (mut width, mut shift) = (0, 0);
        for (at, component) in components.iter().enumerate() {
            let Component { shows, width: own } = component;
            let joins = !listed.is_empty() && width + own <= TOGETHER && !row_ends.contains(&at);
            if !(joins && matches!(shows, Shows::Listed(_))) {
                self.push_listed(&mut listed, shift, width);
            }
            step_of_component.push(self.steps.len() as u32);
            match shows {
                Shows::Listed(texts) if listed.is_empty() => {
                    listed.clone_from(texts);
                    listed.resize(1 << own, Vec::new());
                    (width, shift) = (*own, shifts[at]);
                }
                Shows::Listed(texts) => {
                    let none = Vec::new();
                    let low = |code: usize| texts.get(code).unwrap_or(&none);
                    let both = |high: &Vec<u8>, code| [&high[..], low(code)].concat();
                    listed = listed
                        .iter()
                        .flat_map(|high| (0..1 << own).map(move |code| both(high, code)))
                        .collect();
                    (width, shift) = (width + own, shifts[at]);
                }
                Shows::Integer { lo } => {
                    self.steps.push(Step::Integer { shift: shifts[at], mask: mask(*own), lo: *lo });
                }
                Shows::Row { bytes, end } => {
                    let text = self.ends.len() - 1;
                    self.push_text(bytes);
                    self.steps.push(Step::Row { shift: shifts[at], text, end: *end });
                }
            }
            for bit in shifts[at]..shifts[at] + own {
                self.step_of[bit as usize] = step_of_component[at];
            }
        }
        self.push_listed(&mut listed, shift, width);
        step_of_component.push(self.steps.len() as u32);
        for step in &mut self.steps {
            if let Step::Row { end, .. } = step {
                *end = step_of_component[*end] as usize;
            }
        }
    }

    fn push_listed(&mut self, listed: &mut Vec<Vec<u8>>, shift: u32, width: u32) {
        if listed.is_empty() {
            return;
        }
        self.steps.push(Step::Listed { shift, mask: mask(width) as usize, text: self.ends.len() - 1 });
        listed.drain(..).for_each(|text| self.push_text(&text));
    }

    fn push_text(&mut self, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len() as u32);
    }

    /// The text of this number.
    #[inline]
    fn text(&self, number: usize) -> &[u8] {
        &self.texts[self.ends[number] as usize..self.ends[number + 1] as usize]
    }
}

/// The lowest `width` bits, at most 64.
fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

#[cfg(test)]
mod tests;
