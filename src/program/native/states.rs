//! Whole states in machine code: registers are filled from a state, all events are done one after the other, and targets
//! are packed.
//!
//! In: a `tray::Plan`. Out: steps, and the labels where they begin. Never here: what the host does with what is left in the tray.

use super::{A, Above, C, D, E, F, Label, MISFIT, NotEqual, Translation, Word};
use crate::layout::Place;
use crate::tray::{CURSOR_REG, EVENT_REG, Emission, HEAD, LAST_BEGIN, Plan, STATE_REG};
use bombus_kernels::faults::fault;
use bombus_kernels::native::{Builder, Temp};

/// Where whole states are entered.
#[derive(Debug, Default)]
pub struct Rounds {
    /// By event: the round that begins there, with a loaded state but for the first, which loads it.
    pub from: Vec<Label>,
    /// By event, and last for all: a state is loaded and checked.
    pub checks: Vec<Option<Label>>,
}

impl Rounds {
    /// Steps for all events and checks. `done` is the end of a round; any other means that the event in the tray was not
    /// done to its end.
    pub fn build(b: &mut Builder, plan: &Plan, done: u32) -> Rounds {
        let mut rounds = Rounds::default();
        let events: Vec<Label> = plan.events.iter().map(|_| b.label()).collect();
        // A round that begins with a later event finds the registers filled.
        for (e, event) in events.iter().enumerate() {
            let here = b.label();
            b.bind(here);
            rounds.from.push(here);
            if e == 0 {
                load(b, &plan.load);
            }
            b.begin_pieces();
            b.jump(*event);
        }
        for (e, entry) in plan.events.iter().enumerate() {
            b.bind(events[e]);
            b.store_number(EVENT_REG, e as i32);
            match entry {
                Some(_) if fault("native: the last event is left out") && e + 1 == plan.events.len() => {}
                Some(entry) => b.piece(Label(*entry)),
                None => b.end(MISFIT),
            }
        }
        b.end(done);
        for entry in &plan.checks {
            rounds.checks.push(entry.map(|entry| {
                let here = b.label();
                b.bind(here);
                load(b, &plan.load);
                b.jump(Label(entry));
                here
            }));
        }
        rounds
    }
}

/// Fills the registers of the variables from the state in the tray.
fn load(b: &mut Builder, places: &[Place]) {
    for place in places {
        b.load(A, STATE_REG + place.word);
        b.shift_right(A, place.shift);
        mask(b, A, place.mask, C);
        add(b, A, if fault("native: ranges begin at zero") { 0 } else { place.lo }, C);
        b.store(place.reg, A);
    }
}

/// `x := x & mask`; `other` is lost.
fn mask(b: &mut Builder, x: Temp, mask: u64, other: Temp) {
    match i32::try_from(mask) {
        Ok(small) => b.combine_number(Word::And, x, small),
        Err(_) if mask == u64::MAX => {}
        Err(_) => {
            b.set(other, mask as i64);
            b.combine(Word::And, x, other);
        }
    }
}

/// `x := x + n`, modulo 2^64; `other` is lost.
fn add(b: &mut Builder, x: Temp, n: i64, other: Temp) {
    match i32::try_from(n) {
        Ok(0) => {}
        Ok(small) => b.combine_number(Word::Add, x, small),
        Err(_) => {
            b.set(other, n);
            b.combine(Word::Add, x, other);
        }
    }
}

impl Translation<'_> {
    /// Packs a transition into the tray, or asks the host to.
    pub(super) fn emission(&mut self, emission: &Emission, words: usize) {
        let (by_host, done) = (self.b.label(), self.b.label());
        if let Some(label) = &emission.label {
            self.b.load(F, CURSOR_REG);
            self.b.combine_number(Word::Cmp, F, LAST_BEGIN);
            self.b.jump_if(Above, by_host);
            self.spell(label, by_host);
            self.b.set(A, i64::from(emission.event));
            self.b.store_at(F, A);
            self.b.combine_number(Word::Add, F, 1);
            self.b.store_at(F, D);
            for word in 0..words as u16 {
                self.b.combine_number(Word::Add, F, 1);
                self.target_word(word, &emission.places);
                self.b.store_at(F, A);
            }
            self.b.combine_number(Word::Add, F, 1);
            if !fault("native: a transition takes the place of the one before") {
                self.b.store(CURSOR_REG, F);
            }
            self.b.jump(done);
        }
        const { assert!(HEAD == 2) };
        self.b.bind(by_host);
        self.b.request(self.pc, None);
        self.b.bind(done);
    }

    /// The label in `D`, as `label::of_registers` makes it; `by_host` if it would be a hash.
    fn spell(&mut self, registers: &[u16], by_host: Label) {
        self.b.set(D, 0);
        let Some(bits) = 63usize.checked_div(registers.len()) else { return };
        let (bits, free) = (bits as u8, 64 - bits as u8);
        for (i, &register) in registers.iter().enumerate() {
            self.b.load(A, register);
            self.b.copy(C, A);
            self.b.shift_left(C, free);
            self.b.copy(E, C);
            self.b.shift_right_signed(E, free);
            self.b.combine(Word::Cmp, E, A);
            self.b.jump_if(NotEqual, by_host);
            self.b.shift_right(C, free);
            if i > 0 {
                self.b.shift_left(D, bits);
            }
            self.b.combine(Word::Or, D, C);
        }
    }

    /// A word of the target in `A`: that of the source with what is written to it.
    fn target_word(&mut self, word: u16, places: &[Place]) {
        let here = || places.iter().filter(|place| place.word == word);
        let written = here().fold(0, |all, place| all | place.mask << place.shift);
        self.b.load(A, STATE_REG + word);
        if written != 0 {
            mask(self.b, A, !written, C);
        }
        for place in here().skip(fault("native: a written variable is zero").into()) {
            self.b.load(C, place.reg);
            add(self.b, C, place.lo.wrapping_neg(), E);
            if place.mask != u64::MAX {
                match i32::try_from(place.mask) {
                    Ok(small) => self.b.combine_number(Word::Cmp, C, small),
                    Err(_) => {
                        self.b.set(E, place.mask as i64);
                        self.b.combine(Word::Cmp, C, E);
                    }
                }
                self.b.jump_if(Above, self.misfit);
            }
            self.b.shift_left(C, place.shift);
            self.b.combine(Word::Or, A, C);
        }
    }
}
