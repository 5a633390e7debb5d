//! The tray: the upper part of a worker's frame, where machine code finds the state it is about and leaves its transitions.
//!
//! In: the layout of states, what emissions pack, where events and checks begin. Out: a plan for machine code that goes through
//! all events of a state in one run, and the places in the frame that both sides know.
//! Never here: machine code, and what becomes of the transitions.
//!
//! A transition is its event, its label and the words of its target, side by side. What machine code cannot pack,
//! because a label is a hash or the tray is full, the host packs; it empties the tray first, so the order stays.

use super::exec::{FRAME, Regs};
use super::ir::Reg;
use super::layout::Place;

/// Words of the widest state that machine code packs.
pub const WIDEST: usize = 16;
/// Where the next transition goes: an index into the frame.
const CURSOR: usize = FRAME - 1;
/// The event that is being done.
const EVENT: usize = FRAME - 2;
/// The words of the state.
const STATE: usize = EVENT - WIDEST;
/// Where transitions stand.
const FIRST: usize = STATE - ROOM;
const ROOM: usize = 4096;
/// Words that a label may be spelled from in machine code.
const SPELLED: usize = 8;

/// The same places as registers.
pub const CURSOR_REG: Reg = CURSOR as Reg;
pub const EVENT_REG: Reg = EVENT as Reg;
pub const STATE_REG: Reg = STATE as Reg;
/// Where a transition may begin at the latest.
pub const LAST_BEGIN: i32 = (STATE - 2 - WIDEST) as i32;
/// Words of a transition beside those of its target.
pub const HEAD: usize = 2;

/// What machine code must know to go through the events of a state.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Words of a state.
    pub words: usize,
    /// Where the registers of the variables come from.
    pub load: Vec<Place>,
    /// What the emissions pack, by their numbers.
    pub emissions: Vec<Emission>,
    /// Where the events begin; `None` for those without code.
    pub events: Vec<Option<u32>>,
    /// Where the checks of a state begin that an event led to, and last those of any state.
    pub checks: Vec<Option<u32>>,
}

/// What one emission packs.
#[derive(Clone, Debug)]
pub struct Emission {
    pub event: u32,
    /// What is written to the words of the source.
    pub places: Vec<Place>,
    /// Registers whose words spell the label; `None` if the host must make it.
    pub label: Option<Vec<Reg>>,
}

impl Emission {
    /// `label`: first register, words, whether they are numbers of the pool.
    pub fn new(event: u32, places: Vec<Place>, label: &[(Reg, u16, bool)]) -> Emission {
        let words: usize = label.iter().map(|(_, n, _)| usize::from(*n)).sum();
        let spelled = words <= SPELLED && label.iter().all(|(_, _, pooled)| !pooled);
        let registers = || label.iter().flat_map(|(r, n, _)| *r..*r + *n).collect();
        Emission { event, places, label: spelled.then(registers) }
    }
}

/// Registers that code may use beside the tray.
pub const REGISTERS: usize = FIRST;

/// Whether states of so many words and code with so many registers leave the tray alone.
pub fn fits(words: usize, registers: usize) -> bool {
    words <= WIDEST && registers <= FIRST
}

/// Empties the tray and puts a state into it. As all that follows here: only beside code with a plan.
#[inline]
pub fn begin(regs: &mut Regs, state: &[u64]) {
    regs[STATE..STATE + state.len()].copy_from_slice(state);
    clear(regs);
}

#[inline]
pub fn clear(regs: &mut Regs) {
    regs[CURSOR] = FIRST as u64;
}

/// The transitions in the tray.
#[inline]
pub fn content(regs: &Regs) -> &[u64] {
    &regs[FIRST..(regs[CURSOR] as usize).clamp(FIRST, STATE)]
}

/// The event that is being done.
#[inline]
pub fn event(regs: &Regs) -> u32 {
    regs[EVENT] as u32
}
