//! The bits of packed states as sets of states see them: fields, and the bits that a cell of a variable has.
//!
//! In: the layout of the state. Out: `BitField`s, the bits of a cell, and where fields go when the elements of a set
//! are permuted. Never here: which cells a step reads.

use super::effects::cells::Cell;
use super::layout::{Field, Layout};
use super::state::{Slot, StateLayout};
use crate::carrier::Carrier;
use crate::symmetry::types::sets_of;
use bombus_lang::typed::{Machine, SetId};
use bombus_lang::value::Value;
use bombus_system::BitField;

/// A permutation of the elements of one set: `to[n]` is the element that takes the place of element `n`.
pub struct Moved {
    pub set: SetId,
    pub to: Vec<u32>,
}

impl Moved {
    /// Two elements of a set of `size` elements change places.
    pub fn swap(set: SetId, size: usize, a: u32, b: u32) -> Moved {
        let mut to: Vec<u32> = (0..size as u32).collect();
        to.swap(a as usize, b as usize);
        Moved { set, to }
    }

    /// The value with all elements of the set replaced; `None` if they may stand in it unseen.
    pub fn value(&self, v: &Value) -> Option<Value> {
        Some(match v {
            Value::Elem(set, n) if *set == self.set => Value::Elem(*set, *self.to.get(*n as usize)?),
            Value::Pair(p) => Value::pair(self.value(&p.0)?, self.value(&p.1)?),
            Value::Set(all) => Value::set(all.iter().map(|v| self.value(v)).collect::<Option<_>>()?),
            Value::Rec(all) => Value::Rec(all.iter().map(|v| self.value(v)).collect::<Option<_>>()?),
            Value::Int(_) | Value::Bool(_) | Value::Elem(..) | Value::Str(_) => v.clone(),
            _ => return None,
        })
    }

    /// The new numbers of the codes of a carrier.
    fn codes(&self, c: &Carrier) -> Option<Vec<u32>> {
        (0..c.card()).map(|code| Some(c.code(&self.value(&c.value(code))?)? as u32)).collect()
    }
}

/// The bits of one state, in a fixed order: the number of the valuation, then the variables.
pub struct Bits<'l> {
    layout: &'l StateLayout,
    /// First field of each slot, and the number of all.
    firsts: Vec<usize>,
    pub fields: Vec<BitField>,
}

impl<'l> Bits<'l> {
    pub fn new(layout: &'l StateLayout) -> Bits<'l> {
        let mut fields = Vec::new();
        let (_, (offset, width)) = layout.head_bits();
        if width > 0 {
            fields.push(BitField { offset, width, codes: None });
        }
        let mut firsts = Vec::new();
        for slot in &layout.slots {
            firsts.push(fields.len());
            split(&slot.layout, &slot.fields, 0, &mut fields);
        }
        firsts.push(fields.len());
        Bits { layout, firsts, fields }
    }

    fn words(&self) -> usize {
        self.layout.words
    }

    /// The bits of the number of the valuation.
    pub fn common(&self) -> Vec<u64> {
        let mut mask = vec![0; self.words()];
        let (_, (offset, width)) = self.layout.head_bits();
        insert(&mut mask, offset, width);
        mask
    }

    /// All bits that a field has.
    pub fn all(&self) -> Vec<u64> {
        let mut mask = vec![0; self.words()];
        self.fields.iter().for_each(|f| insert(&mut mask, f.offset, f.width));
        mask
    }

    /// Adds the bits of a cell.
    pub fn insert(&self, cell: &Cell, mask: &mut [u64]) {
        let Some(at) = self.layout.slots.iter().position(|s| s.var == cell.var) else { return };
        let slot = &self.layout.slots[at];
        if let Some(row) = &cell.row
            && insert_row(slot, row, cell.column.as_ref(), mask)
        {
            return;
        }
        self.fields[self.firsts[at]..self.firsts[at + 1]].iter().for_each(|f| {
            insert(mask, f.offset, f.width);
        });
    }

    /// Where the fields go under a permutation; `None` if it moves something that has no field of its own.
    pub fn images(&self, machine: &Machine, by: &Moved) -> Option<Vec<(u32, Option<Vec<u32>>)>> {
        let first = self.firsts.first().copied().unwrap_or(0);
        let mut images: Vec<(u32, Option<Vec<u32>>)> = (0..first).map(|i| (i as u32, None)).collect();
        for (at, slot) in self.layout.slots.iter().enumerate() {
            let (from, to) = (self.firsts[at], self.firsts[at + 1]);
            if !sets_of(machine, &machine.var(slot.var).ty).contains(&by.set) {
                images.extend((from..to).map(|i| (i as u32, None)));
                continue;
            }
            let inside = moved(&slot.layout, by)?;
            debug_assert_eq!(inside.len(), to - from);
            images.extend(inside.into_iter().map(|(i, codes)| ((from + i) as u32, codes)));
        }
        Some(images)
    }
}

fn insert(mask: &mut [u64], offset: u32, width: u16) {
    for bit in offset..offset + u32::from(width) {
        mask[bit as usize / 64] |= 1 << (bit % 64);
    }
}

/// The state field whose first register is `part`.
fn field_at(fields: &[Field], part: u16) -> &Field {
    fields.iter().find(|f| f.part == part).expect("every register of a layout has a field")
}

/// The fields of a layout whose registers begin at `part`.
fn split(l: &Layout, fields: &[Field], part: u16, out: &mut Vec<BitField>) {
    match l {
        Layout::Int | Layout::Pool => {
            let f = field_at(fields, part);
            out.push(BitField { offset: f.offset, width: f.width, codes: None });
        }
        Layout::Code(c) => {
            let f = field_at(fields, part);
            out.push(BitField { offset: f.offset, width: f.width, codes: Some(c.card() as u32) });
        }
        Layout::Bits(c) => bits(field_at(fields, part).offset, c.card(), out),
        Layout::Array(a) => {
            let cells = a.cells();
            let codes = a.values.card() as u32 + u32::from(cells.base);
            for row in 0..a.rows.card() {
                let (word, shift) = cells.place(row);
                let offset = field_at(fields, part + word as u16).offset + shift;
                out.push(BitField { offset, width: u16::from(cells.width), codes: Some(codes) });
            }
        }
        Layout::Table(t) => {
            bits(field_at(fields, part).offset, t.0.card(), out);
            for row in 0..t.0.card() as u16 {
                split(&t.1, fields, part + t.0.words() + row * t.1.words(), out);
            }
        }
        Layout::Pair(p) => {
            split(&p.0, fields, part, out);
            split(&p.1, fields, part + p.0.words(), out);
        }
        Layout::Rec(all) => {
            let mut at = part;
            for l in all.iter() {
                split(l, fields, at, out);
                at += l.words();
            }
        }
    }
}

/// A field for each bit of a set.
fn bits(offset: u32, n: usize, out: &mut Vec<BitField>) {
    out.extend((0..n as u32).map(|i| BitField { offset: offset + i, width: 1, codes: None }));
}

/// Adds the bits of one row of a variable, or of one pair of it; false if the layout has no place for rows.
fn insert_row(slot: &Slot, row: &Value, column: Option<&Value>, mask: &mut [u64]) -> bool {
    match &slot.layout {
        Layout::Array(a) => {
            let cells = a.cells();
            // A row without a place is absent in every state.
            if let Some(row) = a.rows.code(row) {
                let (word, shift) = cells.place(row);
                insert(mask, field_at(&slot.fields, word as u16).offset + shift, u16::from(cells.width));
            }
            true
        }
        Layout::Bits(c) => {
            let first = field_at(&slot.fields, 0).offset;
            let Some((rows, columns)) = c.sides() else {
                if let Some(code) = c.code(row) {
                    insert(mask, first + code as u32, 1);
                }
                return column.is_none();
            };
            let width = columns.card() as u32;
            let Some(row) = rows.code(row) else { return true };
            match column.map(|v| columns.code(v)) {
                None => insert(mask, first + row as u32 * width, width as u16),
                Some(Some(column)) => insert(mask, first + row as u32 * width + column as u32, 1),
                Some(None) => {}
            }
            true
        }
        Layout::Table(t) => {
            let Some(row) = t.0.code(row) else { return true };
            insert(mask, field_at(&slot.fields, 0).offset + row as u32, 1);
            let from = t.0.words() + row as u16 * t.1.words();
            let inside = slot.fields.iter().filter(|f| (from..from + t.1.words()).contains(&f.part));
            inside.for_each(|f| insert(mask, f.offset, f.width));
            true
        }
        _ => false,
    }
}

/// For each field of a layout, the field it goes to and the new numbers of its codes.
fn moved(l: &Layout, by: &Moved) -> Option<Vec<(usize, Option<Vec<u32>>)>> {
    Some(match l {
        Layout::Int => vec![(0, None)],
        Layout::Pool => return None,
        Layout::Code(c) => vec![(0, changed(by.codes(c)?))],
        Layout::Bits(c) => by.codes(c)?.into_iter().map(|to| (to as usize, None)).collect(),
        Layout::Array(a) => {
            let base = u32::from(a.cells().base);
            let values = by.codes(&a.values)?.into_iter().map(|v| v + base);
            let values = changed((0..base).chain(values).collect());
            by.codes(&a.rows)?.into_iter().map(|to| (to as usize, values.clone())).collect()
        }
        Layout::Table(t) => {
            let rows = by.codes(&t.0)?;
            let inside = moved(&t.1, by)?;
            let present = rows.iter().map(|to| (*to as usize, None));
            let values = rows.iter().flat_map(|to| {
                let first = rows.len() + *to as usize * inside.len();
                inside.iter().map(move |(i, codes)| (first + i, codes.clone()))
            });
            present.chain(values).collect()
        }
        Layout::Pair(p) => in_turn([&p.0, &p.1].into_iter(), by)?,
        Layout::Rec(all) => in_turn(all.iter(), by)?,
    })
}

fn in_turn<'a>(
    layouts: impl Iterator<Item = &'a Layout>,
    by: &Moved,
) -> Option<Vec<(usize, Option<Vec<u32>>)>> {
    let mut all = Vec::new();
    for l in layouts {
        let first = all.len();
        all.extend(moved(l, by)?.into_iter().map(|(i, codes)| (first + i, codes)));
    }
    Some(all)
}

/// The numbers, if one of them is new.
fn changed(codes: Vec<u32>) -> Option<Vec<u32>> {
    codes.iter().enumerate().any(|(i, to)| i as u32 != *to).then_some(codes)
}
