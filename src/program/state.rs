//! The packed state: which bits of which word hold which variable.
//!
//! In: layouts and promises of the variables, the number of valuations. Out: packing and unpacking.
//! Word 0 begins with one bit that tells an escaped state (whose values stand in the pool) and with
//! the number of the valuation, each only if needed. Fields of up to 64 bits never straddle words.
//! Invariant: a state is escaped if and only if some value has no place, so equal states have equal
//! words.

use super::layout::{Field, FieldKind, Layout, Place};
use super::pool::{Pool, ValueId};
use crate::invariant_ranges::Promise;
use bombus_base::text::many;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{Machine, VarId};
use bombus_lang::value::Value;
use std::fmt::Write;
use std::sync::Arc;

pub struct Slot {
    pub var: VarId,
    pub layout: Layout,
    pub fields: Vec<Field>,
    /// First register of the variable, and how many there are.
    pub reg: u16,
    pub words: u16,
}

pub struct StateLayout {
    pub slots: Vec<Slot>,
    pub words: usize,
    /// Bits that hold something.
    pub bits: usize,
    escapes: bool,
    valuation_bits: u16,
    /// All fields, with their registers: those of up to a word, and the wider ones.
    places: Vec<Place>,
    wide: Vec<(Field, u16)>,
    /// The fields that hold pool numbers; `None` if some row of a table has one, for rows may be absent.
    pooled: Option<Vec<Place>>,
}

const ESCAPED: u64 = 1;

impl StateLayout {
    pub fn new(vars: Vec<(VarId, Layout, Promise)>, valuations: usize) -> StateLayout {
        let valuation_bits =
            if valuations > 1 { (usize::BITS - (valuations - 1).leading_zeros()) as u16 } else { 0 };
        let valuation_bits =
            valuation_bits.saturating_sub(fault("lowering: a valuation loses a bit of its number").into());
        let mut slots = Vec::new();
        let mut reg = 0;
        for (var, layout, promise) in vars {
            let mut fields = Vec::new();
            split(&layout, &promise, 0, &mut fields);
            let words = layout.words();
            slots.push(Slot { var, layout, fields, reg, words });
            reg += words;
        }
        let escapes = slots.iter().any(|s| may_escape(&s.layout));
        let head = usize::from(escapes) + valuation_bits as usize;
        // First fit, widest first; wide bit-sets start a word of their own.
        let mut used: Vec<usize> = vec![head];
        let mut order: Vec<(usize, usize)> = slots
            .iter()
            .enumerate()
            .flat_map(|(s, slot)| (0..slot.fields.len()).map(move |f| (s, f)))
            .collect();
        order.sort_by_key(|(s, f)| std::cmp::Reverse(slots[*s].fields[*f].width));
        for (s, f) in order {
            let width = slots[s].fields[f].width as usize;
            let word = if width > 64 {
                let at = used.len();
                used.extend(std::iter::repeat_n(64, width / 64));
                if !width.is_multiple_of(64) {
                    used.push(width % 64);
                }
                slots[s].fields[f].offset = (at * 64) as u32;
                continue;
            } else {
                match used.iter().position(|u| u + width <= 64) {
                    Some(w) => w,
                    None => {
                        used.push(0);
                        used.len() - 1
                    }
                }
            };
            slots[s].fields[f].offset = (word * 64 + used[word]) as u32;
            used[word] += width;
        }
        let bits = head + slots.iter().flat_map(|s| &s.fields).map(|f| f.width as usize).sum::<usize>();
        let all = || slots.iter().flat_map(|s| s.fields.iter().map(|f| (*f, s.reg + f.part)));
        let places = all().filter_map(|(f, reg)| f.place(reg)).collect();
        let wide = all().filter(|(f, reg)| f.place(*reg).is_none()).collect();
        let pooled = slots.iter().map(pool_places).collect::<Option<Vec<_>>>().map(|all| all.concat());
        StateLayout { slots, words: used.len(), bits, escapes, valuation_bits, places, wide, pooled }
    }

    pub fn is_escaped(&self, state: &[u64]) -> bool {
        self.escapes && state[0] & ESCAPED != 0
    }

    pub fn valuation(&self, state: &[u64]) -> usize {
        (state[0] >> u64::from(self.escapes) & ((1u64 << self.valuation_bits) - 1)) as usize
    }

    /// The bit that escaped states have set, and where the number of the valuation stands: its first bit and its width.
    pub fn head_bits(&self) -> (Option<u32>, (u32, u16)) {
        (self.escapes.then_some(0), (u32::from(self.escapes), self.valuation_bits))
    }

    /// The first word of a state that is not escaped, with zero in the place of all variables.
    pub fn head(&self, valuation: usize) -> u64 {
        (valuation as u64) << u64::from(self.escapes)
    }

    /// Fills the registers of all variables from a state that is not escaped.
    #[inline]
    pub fn load(&self, state: &[u64], regs: &mut [u64]) {
        for p in &self.places {
            regs[p.reg as usize] = p.load(state);
        }
        for (f, reg) in &self.wide {
            f.load(state, &mut regs[*reg as usize..]);
        }
    }

    /// Where all registers of the variables come from, word by word.
    pub fn all_places(&self) -> Vec<Place> {
        let fields = self.slots.iter().flat_map(|s| s.fields.iter().map(|f| (f, s.reg + f.part)));
        fields.flat_map(|(f, reg)| f.places(reg)).collect()
    }

    /// The packed form of a list of values, one for each slot.
    pub fn pack(&self, valuation: usize, values: &[Value], pool: &Pool, out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        let head = self.head(valuation);
        out[0] = head;
        let mut regs = Vec::new();
        for (slot, value) in self.slots.iter().zip(values) {
            regs.clear();
            regs.resize(slot.words as usize, 0);
            let fits = slot.layout.encode(value, pool, &mut regs)
                && slot.fields.iter().all(|f| f.store(&regs[f.part as usize..], out));
            if !fits && !fault("lowering: a value beyond its range is cut off") {
                out.fill(0);
                let id = pool.intern(&Value::Rec(Arc::from(values)));
                out[0] = head | ESCAPED | u64::from(id.0) << 32;
                return;
            }
        }
    }

    /// Packs the registers of all variables; false if some have no place.
    pub fn store(&self, valuation: usize, regs: &[u64], out: &mut Vec<u64>) -> bool {
        out.clear();
        out.resize(self.words, 0);
        out[0] = self.head(valuation);
        self.places.iter().all(|p| p.store(regs[p.reg as usize], out))
            && self.wide.iter().all(|(f, reg)| f.store(&regs[*reg as usize..], out))
    }

    /// The values of all slots.
    pub fn unpack(&self, state: &[u64], pool: &Pool) -> Vec<Value> {
        if self.is_escaped(state) {
            let Value::Rec(values) = pool.get(ValueId((state[0] >> 32) as u32)) else {
                unreachable!("an escaped state is a record of its values")
            };
            return values.to_vec();
        }
        let mut regs = Vec::new();
        self.slots
            .iter()
            .map(|slot| {
                regs.clear();
                regs.resize(slot.words as usize, 0);
                for f in &slot.fields {
                    f.load(state, &mut regs[f.part as usize..]);
                }
                slot.layout.decode(&regs, pool)
            })
            .collect()
    }

    /// The fields that hold pool numbers; `None` if some state lacks one of them.
    pub fn pooled(&self) -> Option<&[Place]> {
        self.pooled.as_deref()
    }

    /// Words that are equal exactly if the states are, whatever numbers the pool gave to values: numbers are replaced by hashes of what
    /// they stand for. False if that cannot be done, and then the state has to be spelled.
    pub fn stable_words(&self, state: &[u64], pool: &Pool, out: &mut Vec<u64>) -> bool {
        out.clear();
        let push = |out: &mut Vec<u64>, id: u64| {
            let content = pool.content128(ValueId(id as u32));
            out.extend([content as u64, (content >> 64) as u64]);
        };
        if self.is_escaped(state) {
            out.push(state[0] & u64::from(u32::MAX));
            push(out, state[0] >> 32);
            return true;
        }
        let Some(pooled) = &self.pooled else { return false };
        out.extend_from_slice(state);
        for p in pooled {
            out[p.word as usize] &= !(p.mask << p.shift);
            push(out, p.load(state));
        }
        true
    }

    /// One line per variable, for `bombus info`.
    pub fn describe(&self, machine: &Machine) -> String {
        let mut out = String::new();
        for slot in &self.slots {
            let width: usize = slot.fields.iter().map(|f| f.width as usize).sum();
            let _ = writeln!(out, "{}: {}, {width} bits", machine.var(slot.var).name, slot.layout);
        }
        let _ =
            writeln!(out, "state: {} in {}", many(self.bits as u64, "bit"), many(self.words as u64, "word"));
        out
    }
}

/// The fields of a variable that hold pool numbers, if there is one in every state.
fn pool_places(slot: &Slot) -> Option<Vec<Place>> {
    let mut parts = Vec::new();
    note_pooled(&slot.layout, 0, &mut parts).then(|| {
        let fields = slot.fields.iter().filter(|f| parts.contains(&f.part));
        fields.filter_map(|f| f.place(slot.reg + f.part)).collect()
    })
}

/// Notes the registers of a layout that hold pool numbers; false if some may hold none.
fn note_pooled(l: &Layout, part: u16, parts: &mut Vec<u16>) -> bool {
    match l {
        Layout::Pool => parts.push(part),
        Layout::Pair(p) => {
            return note_pooled(&p.0, part, parts) && note_pooled(&p.1, part + p.0.words(), parts);
        }
        Layout::Rec(fields) => {
            let mut at = part;
            return fields.iter().all(|l| {
                let fixed = note_pooled(l, at, parts);
                at += l.words();
                fixed
            });
        }
        Layout::Table(_) => return !l.has_pool(),
        Layout::Int | Layout::Code(_) | Layout::Bits(_) | Layout::Array(_) => {}
    }
    true
}

/// Whether some value of the type has no place in the layout.
pub fn may_escape(l: &Layout) -> bool {
    match l {
        Layout::Int => true,
        Layout::Code(_) | Layout::Pool => false,
        Layout::Bits(c) => !c.is_whole_type(),
        // A relation that is no function has no place in a table or an array.
        Layout::Table(_) | Layout::Array(_) => true,
        Layout::Pair(p) => may_escape(&p.0) || may_escape(&p.1),
        Layout::Rec(fields) => fields.iter().any(may_escape),
    }
}

fn split(l: &Layout, p: &Promise, part: u16, out: &mut Vec<Field>) {
    let width_of = |n: u64| (64 - n.leading_zeros()) as u16;
    match l {
        Layout::Int => {
            // Without a promise 32 bits are room enough for most; what is beyond escapes.
            let (lo, hi) = match p {
                Promise::Range(Some(lo), Some(hi)) if lo <= hi => (*lo, *hi),
                Promise::Range(Some(lo), None) => (*lo, lo.saturating_add(u32::MAX.into())),
                _ => (i32::MIN.into(), i32::MAX.into()),
            };
            let width = width_of(hi.wrapping_sub(lo) as u64);
            let kind = if width >= 64 { FieldKind::Code } else { FieldKind::Int { lo } };
            out.push(Field { part, offset: 0, width, kind });
        }
        Layout::Code(c) => {
            let width = width_of((c.card() as u64).saturating_sub(1));
            out.push(Field { part, offset: 0, width, kind: FieldKind::Code });
        }
        Layout::Bits(c) => {
            out.push(Field { part, offset: 0, width: c.card() as u16, kind: FieldKind::Bits });
        }
        Layout::Pool => out.push(Field { part, offset: 0, width: 32, kind: FieldKind::Code }),
        Layout::Array(a) => {
            let cells = a.cells();
            let mut rest = a.rows.card();
            for word in 0..cells.words() {
                let here = rest.min(cells.per_word());
                rest -= here;
                let width = (here * cells.width as usize) as u16;
                out.push(Field { part: part + word as u16, offset: 0, width, kind: FieldKind::Bits });
            }
        }
        Layout::Table(t) => {
            let range = match p.of_elements() {
                Promise::Pair(q) => q.1,
                _ => Promise::Nothing,
            };
            out.push(Field { part, offset: 0, width: t.0.card() as u16, kind: FieldKind::Bits });
            for row in 0..t.0.card() as u16 {
                let first = out.len();
                split(&t.1, &range, part + t.0.words() + row * t.1.words(), out);
                // An absent row is zero, which an offset would turn into something that does not fit.
                for f in &mut out[first..] {
                    if let FieldKind::Int { lo } = f.kind {
                        let hi = lo.saturating_add(((1u128 << f.width) - 1) as i64);
                        let (lo, hi) = (lo.min(0), hi.max(0));
                        f.width = width_of(hi.wrapping_sub(lo) as u64);
                        f.kind = if f.width >= 64 { FieldKind::Code } else { FieldKind::Int { lo } };
                    }
                }
            }
        }
        Layout::Pair(ls) => {
            let (a, b) = match p {
                Promise::Pair(ps) => (&ps.0, &ps.1),
                _ => (&Promise::Nothing, &Promise::Nothing),
            };
            split(&ls.0, a, part, out);
            split(&ls.1, b, part + ls.0.words(), out);
        }
        Layout::Rec(ls) => {
            let mut at = part;
            for (i, l) in ls.iter().enumerate() {
                let q = match p {
                    Promise::Rec(ps) => ps.get(i).unwrap_or(&Promise::Nothing),
                    _ => &Promise::Nothing,
                };
                split(l, q, at, out);
                at += l.words();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_is_stored_exactly_and_in_one_form() {
        let pool = Pool::default();
        let range = Promise::Range(Some(0), Some(3));
        let layout =
            StateLayout::new(vec![(VarId(0), Layout::Int, range.clone()), (VarId(1), Layout::Int, range)], 3);
        assert_eq!(
            (layout.words, layout.bits),
            (1, 7),
            "two bits each, one for escapes, two for 3 valuations"
        );
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for (x, y) in [(0, 3), (4, 0), (-1, 7)] {
            let values = [Value::int(x), Value::int(y)];
            layout.pack(2, &values, &pool, &mut a);
            layout.pack(2, &values, &pool, &mut b);
            assert_eq!(a, b);
            assert_eq!(layout.valuation(&a), 2);
            assert_eq!(layout.is_escaped(&a), !(0..4).contains(&x) || !(0..4).contains(&y));
            assert_eq!(layout.unpack(&a, &pool), values);
        }
    }
}
