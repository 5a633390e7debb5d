//! Identities of states: what the visited set holds when states of one orbit count as one.
//!
//! In: packed states. Out: words that are equal for states of one orbit, and how exact they are.
//! Never here: which state stands for an orbit.
//!
//! A canonical identity is the canonical state itself, constants included: equal identities mean
//! states of one orbit whatever happens to hashes. Its last word tells the kind of identity and the
//! renamed constants. A marker is 128 bits.

use super::canon::{Canoniser, Failed, Writer, least_of_all};
use super::represent::Representer;
use super::structure::Structure;
use super::{Fixed, Mode, States, Symmetry, classic, values};
use crate::pool::{Fold, ValueId};
use bombus_kernels::hash;
use bombus_lang::value::{Value, digest};
use bombus_system::{Orbits, Precision};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Kinds of identity, in the two lowest bits of the last word.
const CANONICAL: u64 = 0;
const COLOURS: u64 = 1;
/// The state as it is, because it holds a value that cannot be renamed.
const ITSELF: u64 = 2;
const KIND: u64 = 3;

/// Renamed constants that are remembered.
const REMEMBERED: usize = 4096;

/// By valuation: numberings, and the numbers in the pool of the constants renamed by them.
type Renamed = Vec<HashMap<Vec<u16>, u32, BuildHasherDefault<Fold>>>;

/// Scratch memory of one thread.
pub struct OrbitWorker<'a> {
    symmetry: &'a Symmetry,
    states: States<'a>,
    structure: Structure,
    canoniser: Canoniser,
    colours: Vec<u128>,
    regs: Vec<u64>,
    scratch: Vec<u64>,
    places: Vec<u16>,
    writing: Vec<u64>,
    renamed: Renamed,
    representer: Representer,
}

impl<'a> OrbitWorker<'a> {
    pub fn new(symmetry: &'a Symmetry, states: States<'a>) -> OrbitWorker<'a> {
        let registers = symmetry.shapes.registers();
        OrbitWorker {
            symmetry,
            states,
            structure: Structure::new(&symmetry.group),
            canoniser: Canoniser::new(&symmetry.group),
            colours: vec![0; symmetry.group.elements.len()],
            regs: vec![0; registers],
            scratch: vec![0; registers],
            places: Vec::new(),
            writing: Vec::new(),
            renamed: vec![HashMap::default(); symmetry.constants.len()],
            representer: Representer::default(),
        }
    }

    /// Reads a state into registers, if it has none of its values in the pool as a whole, and enters
    /// what it says. The values of an escaped state come back.
    fn read(&mut self, state: &[u64], rest: bool) -> Option<Vec<Value>> {
        let group = &self.symmetry.group;
        let States { layout, pool } = self.states;
        self.structure.clear();
        let escaped = layout.is_escaped(state).then(|| layout.unpack(state, pool));
        match &escaped {
            None => {
                layout.load(state, &mut self.regs);
                self.symmetry.shapes.enter(
                    group,
                    pool,
                    &self.regs,
                    rest,
                    &mut self.places,
                    &mut self.structure,
                );
            }
            Some(values) => {
                for (i, value) in values.iter().enumerate() {
                    self.places.clear();
                    // Unlike that of any state in words.
                    let key = !super::renumbering::variable_key(i);
                    values::enter(group, value, key, &mut self.places, &mut self.structure);
                }
            }
        }
        let constants = &self.symmetry.constants[layout.valuation(state)];
        if constants.moves || rest {
            self.structure.add(&constants.structure);
        }
        escaped
    }

    fn marker(&mut self, state: &[u64]) -> (u128, Precision) {
        self.read(state, true);
        if self.structure.opaque {
            return (!hash::words(state), Precision::Exact);
        }
        let unary = self.structure.is_unary();
        let precision = if unary { Precision::Exact } else { Precision::Approximate };
        (self.structure.refined_marker(&mut self.colours), precision)
    }

    fn classic_marker(&mut self, state: &[u64]) -> (u128, Precision) {
        let States { layout, pool } = self.states;
        let constants = &self.symmetry.constants[layout.valuation(state)].values;
        let variables = layout.unpack(state, pool);
        let all: Vec<(usize, &Value)> = constants.iter().chain(&variables).enumerate().collect();
        let exact = self.symmetry.classic_is_exact;
        let precision = if exact { Precision::Exact } else { Precision::Approximate };
        (classic::marker(&self.symmetry.group, &all), precision)
    }

    fn canonical(&mut self, state: &[u64], out: &mut [u64]) -> Precision {
        let last = out.len() - 1;
        let escaped = self.read(state, false);
        let opaque = self.structure.opaque;
        let valuation = self.states.layout.valuation(state);
        let mut writer = Packed {
            symmetry: self.symmetry,
            states: self.states,
            constants: &self.symmetry.constants[valuation],
            valuation,
            regs: &self.regs,
            scratch: &mut self.scratch,
            escaped: escaped.as_deref(),
            renamed: &mut self.renamed,
        };
        let done = if opaque {
            Err(Failed::Opaque)
        } else if self.symmetry.mode == Mode::Flood {
            match least_of_all(&self.symmetry.group, &mut writer, &mut self.writing) {
                true => Ok(&self.writing[..]),
                false => Err(Failed::Opaque),
            }
        } else {
            self.canoniser.canonical(&mut self.structure, &mut writer)
        };
        match done {
            Ok(writing) => {
                out.copy_from_slice(writing);
                Precision::Exact
            }
            Err(Failed::Opaque) => {
                out[..last].copy_from_slice(state);
                out[last] = ITSELF;
                Precision::Exact
            }
            Err(Failed::Budget) => {
                self.read(state, true);
                let marker = self.structure.refined_marker(&mut self.colours);
                out.fill(0);
                out[0] = marker as u64;
                out[last] = (marker >> 64) as u64 & !KIND | COLOURS;
                Precision::Approximate
            }
        }
    }
}

impl Orbits for OrbitWorker<'_> {
    fn words(&self) -> usize {
        match self.symmetry.mode {
            Mode::Marker | Mode::MarkerClassic => 2,
            Mode::Exact | Mode::Flood => self.states.layout.words + 1,
        }
    }

    fn identity(&mut self, state: &[u64], out: &mut [u64]) -> Precision {
        let (marker, precision) = match self.symmetry.mode {
            Mode::Exact | Mode::Flood => return self.canonical(state, out),
            Mode::Marker => self.marker(state),
            Mode::MarkerClassic => self.classic_marker(state),
        };
        out.copy_from_slice(&[marker as u64, (marker >> 64) as u64]);
        precision
    }

    fn print(&self, identity: &[u64]) -> u128 {
        let last = identity.len() - 1;
        match self.symmetry.mode {
            Mode::Marker | Mode::MarkerClassic => u128::from(identity[0]) | u128::from(identity[1]) << 64,
            Mode::Exact | Mode::Flood if identity[last] & KIND == COLOURS => hash::words(identity),
            Mode::Exact | Mode::Flood => {
                meaning(self.symmetry, self.states, identity).unwrap_or_else(|| hash::words(identity))
            }
        }
    }

    fn representative(&mut self, identity: &[u64], state: &mut [u64]) -> bool {
        let last = identity.len() - 1;
        match self.symmetry.mode {
            Mode::Marker | Mode::MarkerClassic => false,
            Mode::Exact | Mode::Flood => match identity[last] & KIND {
                COLOURS => false,
                ITSELF => {
                    state.copy_from_slice(&identity[..last]);
                    true
                }
                _ => {
                    let constants = ValueId((identity[last] >> 2) as u32);
                    let canonical = (&identity[..last], constants);
                    let OrbitWorker { symmetry, states, regs, scratch, representer, .. } = self;
                    representer.represent(symmetry, *states, canonical, regs, scratch, state)
                }
            },
        }
    }
}

/// A hash of what an identity means, if its words are numbers of the pool, which depend on who met a
/// value first.
fn meaning(symmetry: &Symmetry, states: States<'_>, identity: &[u64]) -> Option<u128> {
    let States { layout, pool } = states;
    let last = identity.len() - 1;
    let state = &identity[..last];
    let pooled = layout.slots.iter().any(|s| s.layout.has_pool()) || layout.is_escaped(state);
    if !pooled && !symmetry.constants_move {
        return None;
    }
    let mut bytes = Vec::new();
    if symmetry.constants_move {
        let constants = pool.content128(ValueId((identity[last] >> 2) as u32));
        bytes.extend_from_slice(&constants.to_le_bytes());
    } else {
        bytes.extend_from_slice(&(layout.valuation(state) as u64).to_le_bytes());
    }
    layout.spell(state, pool, &mut Vec::new(), &mut bytes);
    Some(digest::hash128(&bytes))
}

/// Writes a packed state down under a numbering of its elements.
struct Packed<'a> {
    symmetry: &'a Symmetry,
    states: States<'a>,
    constants: &'a Fixed,
    valuation: usize,
    regs: &'a [u64],
    scratch: &'a mut [u64],
    escaped: Option<&'a [Value]>,
    renamed: &'a mut Renamed,
}

impl Packed<'_> {
    /// The number, in the pool, of the renamed constants.
    fn constants(&mut self, numbers: &[u16]) -> Option<u32> {
        let renamed = &mut self.renamed[self.valuation];
        if let Some(id) = renamed.get(numbers) {
            return Some(*id);
        }
        let value = self.constants.permuted(&self.symmetry.group, numbers)?;
        let id = self.states.pool.intern(&value).0;
        if renamed.len() >= REMEMBERED {
            renamed.clear();
        }
        renamed.insert(numbers.to_vec(), id);
        Some(id)
    }
}

impl Writer for Packed<'_> {
    fn write(&mut self, numbers: &[u16], out: &mut Vec<u64>) -> bool {
        let group = &self.symmetry.group;
        let States { layout, pool } = self.states;
        // Renamed constants stand for the valuation, whose number is no part of the orbit then.
        let moves = self.symmetry.constants_move;
        let head = if moves { 0 } else { self.valuation };
        let constants = if moves {
            match self.constants(numbers) {
                Some(id) => u64::from(id) << 2,
                None => return false,
            }
        } else {
            0
        };
        match self.escaped {
            None => {
                out.clear();
                out.resize(layout.words, 0);
                out[0] = layout.head(head);
                if !self.symmetry.shapes.permute(group, pool, self.regs, numbers, self.scratch, out) {
                    return false;
                }
            }
            Some(values) => {
                let renamed: Option<Vec<Value>> =
                    values.iter().map(|v| values::permuted(group, v, numbers)).collect();
                let Some(renamed) = renamed else { return false };
                layout.pack(head, &renamed, pool, out);
            }
        }
        out.push(constants | CANONICAL);
        true
    }

    fn rank(&self, writing: &[u64]) -> u128 {
        meaning(self.symmetry, self.states, writing).unwrap_or(0)
    }
}
