//! States as assignments: which variables of the diagrams hold which bits of a packed state.
//!
//! In: the fields of a state, and an order of them. Out: assignments of states and states of assignments.
//! A field is held by its bits, or by one variable for each of its codes where a symmetry renumbers these: then the
//! symmetry permutes variables. Fields that steps write have a second copy of their variables, for the state after a
//! step, each right below the first. Never here: how the order was chosen.

use bombus_system::{BitField, Exchange};
use oxidd::VarNo;

/// One variable: a bit of a field (the lowest is 0), or a code of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Atom {
    pub field: u32,
    pub index: u32,
}

struct Held {
    field: BitField,
    one_hot: bool,
    /// By bit or code.
    vars: Vec<VarNo>,
}

pub struct Encoding {
    held: Vec<Held>,
    words: usize,
    /// By variable: its copy for the state after a step.
    primed: Vec<Option<VarNo>>,
    /// The variables of the state before a step.
    pub current: Vec<VarNo>,
    /// All variables.
    pub vars: u32,
}

/// Which fields are held by their codes: those that some exchange renumbers, and those that go to the same places.
pub fn one_hot(fields: &[BitField], exchanges: &[Exchange]) -> Vec<bool> {
    let mut one_hot = vec![false; fields.len()];
    loop {
        let mut grew = false;
        for exchange in exchanges {
            for (from, (to, codes)) in exchange.images.iter().enumerate() {
                let both = one_hot[from] || one_hot[*to as usize] || codes.is_some();
                for at in [from, *to as usize] {
                    grew |= both && !one_hot[at];
                    one_hot[at] |= both;
                }
            }
        }
        if !grew {
            return one_hot;
        }
    }
}

/// How many variables a field has.
pub fn atoms_of(field: &BitField, one_hot: bool) -> u32 {
    match (one_hot, field.codes) {
        (true, Some(codes)) => codes,
        _ => u32::from(field.width),
    }
}

impl Encoding {
    /// `order` lists all atoms from the top down; `written` are the bits that steps write.
    pub fn new(
        fields: &[BitField],
        words: usize,
        one_hot: &[bool],
        order: &[Atom],
        written: &[u64],
    ) -> Encoding {
        let mut held: Vec<Held> = fields
            .iter()
            .zip(one_hot)
            .map(|(f, hot)| {
                let n = atoms_of(f, *hot) as usize;
                Held { field: *f, one_hot: *hot && f.codes.is_some(), vars: vec![0; n] }
            })
            .collect();
        let (mut primed, mut current) = (Vec::new(), Vec::new());
        for atom in order {
            let held = &mut held[atom.field as usize];
            let var = primed.len() as VarNo;
            held.vars[atom.index as usize] = var;
            current.push(var);
            if held.is_in(written, atom.index) {
                primed.extend([Some(var + 1), None]);
            } else {
                primed.push(None);
            }
        }
        let vars = primed.len() as u32;
        Encoding { held, words, primed, current, vars }
    }

    /// The copy of a variable for the state after a step.
    pub fn primed(&self, var: VarNo) -> Option<VarNo> {
        self.primed[var as usize]
    }

    /// The assignment of a state; the copies are false.
    pub fn assignment(&self, state: &[u64]) -> Vec<bool> {
        let mut out = vec![false; self.vars as usize];
        for held in &self.held {
            let code = held.code(state);
            for (i, var) in held.vars.iter().enumerate() {
                out[*var as usize] = if held.one_hot { code == i as u64 } else { code >> i & 1 != 0 };
            }
        }
        out
    }

    /// The state of an assignment.
    pub fn state(&self, assignment: &[bool]) -> Vec<u64> {
        let mut state = vec![0; self.words];
        for held in &self.held {
            let mut code = 0u64;
            for (i, var) in held.vars.iter().enumerate().filter(|(_, v)| assignment[**v as usize]) {
                debug_assert!(*var < self.vars);
                code |= if held.one_hot { i as u64 } else { 1 << i };
            }
            let at = held.field.offset as usize;
            state[at / 64] |= code << (at % 64);
        }
        state
    }

    /// The variables that hold some of these bits, ascending.
    pub fn vars_of(&self, bits: &[u64]) -> Vec<VarNo> {
        let mut vars: Vec<VarNo> = Vec::new();
        for held in &self.held {
            let inside = held.vars.iter().enumerate().filter(|(i, _)| held.is_in(bits, *i as u32));
            vars.extend(inside.map(|(_, var)| *var));
        }
        vars.sort_unstable();
        vars
    }

    /// Where each variable of the state before a step goes under an exchange, those that stay left out.
    pub fn permuted(&self, exchange: &Exchange) -> Vec<(VarNo, VarNo)> {
        let mut pairs = Vec::new();
        for (from, (to, codes)) in self.held.iter().zip(&exchange.images) {
            let to = &self.held[*to as usize];
            for (i, var) in from.vars.iter().enumerate() {
                let j = codes.as_ref().map_or(i, |codes| codes[i] as usize);
                if to.vars[j] != *var {
                    pairs.push((*var, to.vars[j]));
                }
            }
        }
        pairs
    }
}

impl Held {
    fn code(&self, state: &[u64]) -> u64 {
        let (at, width) = (self.field.offset as usize, self.field.width);
        let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        if width == 0 { 0 } else { state[at / 64] >> (at % 64) & mask }
    }

    /// Whether a variable holds one of these bits; a code holds all bits of its field.
    fn is_in(&self, bits: &[u64], index: u32) -> bool {
        let bit = |i: u32| bits[i as usize / 64] >> (i % 64) & 1 != 0;
        match self.one_hot {
            true => (0..u32::from(self.field.width)).any(|i| bit(self.field.offset + i)),
            false => bit(self.field.offset + index),
        }
    }
}
