//! States of a compiled model on their way to another process of the same model.
//!
//! In: packed states. Out: their words with numbers of a glossary in the place of numbers of the value pool, and back.
//! Never here: packets, machines, which state goes where.
//!
//! Layouts and valuations of the constants are made from the model in the same way by every process, so only
//! numbers of the pool differ: those of pooled variables and parts of variables, and that of an escaped state.

use super::Program;
use super::layout::Layout;
use super::pool::ValueId;
use bombus_kernels::bits;
use bombus_system::Glossary;

impl Program<'_> {
    pub(super) fn export_state(&self, state: &mut [u64], glossary: &mut Glossary) -> bool {
        if !self.pools && !self.layout.is_escaped(state) {
            return true;
        }
        self.renumber(state, &mut |id| {
            glossary.number(id, |bytes| {
                let value = self.pool.get(ValueId(id));
                value.encode(bytes);
                // Sets that are not listed have no bytes from which they could be made again.
                !value.mentions_symbolic()
            })
        })
    }

    pub(super) fn import_state(&self, state: &mut [u64], values: &[u32]) -> bool {
        let known = |valuation: usize| valuation < self.valuations().max(1);
        if !known(self.layout.valuation(state)) {
            return false;
        }
        if !self.pools && !self.layout.is_escaped(state) {
            return true;
        }
        self.renumber(state, &mut |number| values.get(number as usize).copied())
    }

    /// Puts another number in the place of each number of the pool; false if there is none for one of them.
    fn renumber(&self, state: &mut [u64], of: &mut dyn FnMut(u32) -> Option<u32>) -> bool {
        let layout = &self.layout;
        if layout.is_escaped(state) {
            let Some(number) = of((state[0] >> 32) as u32) else { return false };
            state[0] = state[0] & 0xffff_ffff | u64::from(number) << 32;
            return true;
        }
        let mut regs = Vec::new();
        for slot in layout.slots.iter().filter(|slot| slot.layout.has_pool()) {
            regs.clear();
            regs.resize(slot.words as usize, 0);
            slot.fields.iter().for_each(|f| f.load(state, &mut regs[f.part as usize..]));
            if !renumber_value(&slot.layout, &mut regs, of)
                || !slot.fields.iter().all(|f| f.store(&regs[f.part as usize..], state))
            {
                return false;
            }
        }
        true
    }
}

/// The same for the registers of one value. The layout is as deep as the type of a variable.
fn renumber_value(layout: &Layout, regs: &mut [u64], of: &mut dyn FnMut(u32) -> Option<u32>) -> bool {
    match layout {
        Layout::Pool => {
            let Some(number) = of(regs[0] as u32) else { return false };
            regs[0] = number.into();
            true
        }
        Layout::Table(t) if t.1.has_pool() => {
            let (present, w) = (t.0.words() as usize, t.1.words() as usize);
            let rows: Vec<usize> = bits::iter(&regs[..present]).collect();
            rows.into_iter().all(|row| renumber_value(&t.1, &mut regs[present + row * w..], of))
        }
        Layout::Pair(p) => {
            let (a, b) = regs.split_at_mut(p.0.words() as usize);
            renumber_value(&p.0, a, of) && renumber_value(&p.1, b, of)
        }
        Layout::Rec(fields) => {
            let mut rest = regs;
            fields.iter().all(|l| {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(l.words() as usize);
                rest = later;
                renumber_value(l, now, of)
            })
        }
        _ => true,
    }
}
