//! What the spelling of a state is made of, and which bits of the packed state tell it.
//!
//! In: layouts with types, a spelling of values. Out: components in the order in which they are spelled, and sources:
//! bits of the state with what they say of components.
//! Never here: tables, single states.

use super::{Spell, TOGETHER};
use crate::carrier::Carrier;
use crate::layout::{Array, Field, FieldKind, Layout};
use crate::state::StateLayout;
use bombus_kernels::faults::fault;
use bombus_lang::typed::Type;
use bombus_lang::value::Value;

/// Codes that are listed at most, so that no table is too large.
const MOST_CODES: usize = 1 << 12;

/// One thing that is spelled, told by so many bits of the key.
pub struct Component {
    pub width: u32,
    pub shows: Shows,
}

/// What is spelled for a code.
pub enum Shows {
    /// One of these texts, which ascend.
    Listed(Vec<Vec<u8>>),
    /// The integer `lo` + code.
    Integer { lo: i64 },
    /// Code 0: this text, which is that of an argument, and behind it the components of the value. Code 1: nothing, and the
    /// components before number `end` are left out.
    Row { bytes: Vec<u8>, end: usize },
}

impl Component {
    /// The component behind a row.
    pub fn end(&self) -> Option<usize> {
        match self.shows {
            Shows::Row { end, .. } => Some(end),
            _ => None,
        }
    }
}

/// Some bits of a state, and what they say of components.
pub struct Source {
    at: usize,
    width: u32,
    says: Says,
}

enum Says {
    /// For some components, by the value of the bits, what is added to their codes.
    Listed(Vec<(usize, Vec<u64>)>),
    /// The bits are the code of a component, the highest one inverted if `signed`.
    Bits { component: usize, signed: bool },
}

/// The components of all states of a layout, and their sources; none if some value is not told by bits.
pub fn of(
    layout: &StateLayout,
    types: &[&Type],
    ranks: &[usize],
    spell: Spell,
) -> Option<(Vec<Component>, Vec<Source>)> {
    let mut build = Build { spell, fields: &[], components: Vec::new(), sources: Vec::new() };
    build.valuation(layout, ranks)?;
    for (slot, ty) in layout.slots.iter().zip(types) {
        build.fields = &slot.fields;
        build.variable(&slot.layout, ty, 0)?;
    }
    Some((build.components, build.sources))
}

struct Build<'a> {
    spell: Spell<'a>,
    /// The fields of the variable.
    fields: &'a [Field],
    components: Vec<Component>,
    sources: Vec<Source>,
}

/// Bits for codes below `n`.
fn width_for(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

impl Build<'_> {
    fn push(&mut self, width: u32, shows: Shows) -> usize {
        self.components.push(Component { width, shows });
        self.components.len() - 1
    }

    fn listed(&mut self, texts: Vec<Vec<u8>>) -> usize {
        self.push(width_for(texts.len()), Shows::Listed(texts))
    }

    fn source(&mut self, at: usize, width: u32, says: Says) {
        self.sources.push(Source { at, width, says });
    }

    fn spelled(&self, v: &Value, ty: &Type) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        (self.spell)(v, ty, &mut bytes).then_some(bytes)
    }

    /// An integer of so many bits from `lo` on.
    fn integer(&mut self, width: u32, lo: i64) -> Option<usize> {
        if width > TOGETHER {
            return Some(self.push(width, Shows::Integer { lo }));
        }
        let number = |code: i64| self.spelled(&Value::int(lo.checked_add(code)?), &Type::Integer);
        let texts = (0..1 << width).map(number).collect::<Option<Vec<_>>>()?;
        Some(self.listed(texts))
    }

    /// The spellings of all elements of a carrier in ascending order, with their codes; and by code the place in there.
    fn elements(&self, carrier: &Carrier, ty: &Type) -> Option<Elements> {
        if carrier.card() > MOST_CODES {
            return None;
        }
        let spelled = |code| Some((self.spelled(&carrier.value(code), ty)?, code));
        let mut sorted = (0..carrier.card()).map(spelled).collect::<Option<Vec<_>>>()?;
        sorted.sort_unstable();
        let mut places = vec![0; sorted.len()];
        sorted.iter().zip(0..).for_each(|((_, code), place)| places[*code] = place);
        Some(Elements { sorted, places })
    }

    /// The number of elements of a set of up to `most`; none of its bits are set, for elements add to it.
    fn count(&mut self, most: usize) -> Option<usize> {
        if most >= MOST_CODES {
            return None;
        }
        let number = |n: usize| self.spelled(&Value::int(n as i64), &Type::Integer);
        let texts = (0..=most).map(number).collect::<Option<Vec<_>>>()?;
        Some(self.listed(texts))
    }

    fn valuation(&mut self, layout: &StateLayout, ranks: &[usize]) -> Option<()> {
        let (_, (at, width)) = layout.head_bits();
        if ranks.len() > MOST_CODES {
            return None;
        }
        let number = self.integer(width_for(ranks.len()), 0)?;
        if width > 0 {
            let codes = ranks.iter().map(|rank| *rank as u64).collect();
            self.source(at as usize, width.into(), Says::Listed(vec![(number, codes)]));
        }
        Some(())
    }

    /// The field of a register.
    fn field(&self, part: u16) -> Option<Field> {
        self.fields.iter().find(|f| f.part == part).copied()
    }

    /// A variable, or a part of one from a register on.
    fn variable(&mut self, layout: &Layout, ty: &Type, part: u16) -> Option<()> {
        match (layout, ty) {
            (Layout::Int, _) => {
                let field = self.field(part)?;
                let (lo, signed) = match field.kind {
                    FieldKind::Int { lo } => (lo, false),
                    _ => (i64::MIN, true),
                };
                let number = self.integer(field.width.into(), lo)?;
                let says = Says::Bits { component: number, signed };
                self.source(field.offset as usize, field.width.into(), says);
            }
            (Layout::Code(carrier), _) => {
                let Elements { sorted, places } = self.elements(carrier, ty)?;
                let code = self.listed(sorted.into_iter().map(|e| e.0).collect());
                let field = self.field(part)?;
                self.source(field.offset as usize, field.width.into(), Says::Listed(vec![(code, places)]));
            }
            (Layout::Bits(carrier), Type::Pow(of)) => self.set(carrier, of, part)?,
            (Layout::Array(array), Type::Pow(of)) => match &**of {
                Type::Prod(rows, values) => self.array(array, rows, values, part)?,
                _ => return None,
            },
            (Layout::Table(table), Type::Pow(of)) => match &**of {
                Type::Prod(rows, values) => self.table(table, rows, values, part)?,
                _ => return None,
            },
            (Layout::Pair(layouts), Type::Prod(a, b)) => {
                self.variable(&layouts.0, a, part)?;
                self.variable(&layouts.1, b, part + layouts.0.words())?;
            }
            (Layout::Rec(layouts), Type::Struct(fields)) => {
                let mut at = part;
                for (layout, (_, ty)) in layouts.iter().zip(fields.iter()) {
                    self.variable(layout, ty, at)?;
                    at += layout.words();
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn set(&mut self, carrier: &Carrier, of: &Type, part: u16) -> Option<()> {
        let Elements { sorted, .. } = self.elements(carrier, of)?;
        let at = self.field(part)?.offset as usize;
        let count = self.count(sorted.len())?;
        for (text, code) in sorted {
            let element = self.listed(vec![text, Vec::new()]);
            self.source(at + code, 1, absent_or_present(element, count));
        }
        Some(())
    }

    fn array(&mut self, array: &Array, rows: &Type, values: &Type, part: u16) -> Option<()> {
        let Elements { sorted: rows, .. } = self.elements(&array.rows, rows)?;
        let Elements { sorted: values, places } = self.elements(&array.values, values)?;
        let cells = array.cells();
        let count = match array.total {
            false => self.count(rows.len())?,
            true => {
                let text = self.spelled(&Value::int(rows.len() as i64), &Type::Integer)?;
                self.listed(vec![text])
            }
        };
        for (row, number) in rows {
            let mut texts: Vec<Vec<u8>> = values.iter().map(|value| [&row[..], &value.0].concat()).collect();
            let mut codes = places.clone();
            if !array.total {
                codes.insert(0, texts.len() as u64);
                texts.push(Vec::new());
            }
            let cell = self.listed(texts);
            let (word, shift) = cells.place(number);
            let at = self.field(part + word as u16)?.offset as usize + shift as usize;
            let mut says = Vec::new();
            if !array.total {
                says.push((count, (0..codes.len()).map(|code| (code > 0).into()).collect()));
            }
            says.push((cell, codes));
            self.source(at, cells.width.into(), Says::Listed(says));
        }
        Some(())
    }

    fn table(&mut self, table: &(Carrier, Layout), rows: &Type, values: &Type, part: u16) -> Option<()> {
        let Elements { sorted, .. } = self.elements(&table.0, rows)?;
        let present = self.field(part)?.offset as usize;
        let first = part + table.0.words();
        let count = self.count(sorted.len())?;
        for (bytes, code) in sorted {
            let row = self.push(1, Shows::Row { bytes, end: 0 });
            self.source(present + code, 1, absent_or_present(row, count));
            self.variable(&table.1, values, first + code as u16 * table.1.words())?;
            let behind = self.components.len();
            if let Shows::Row { end, .. } = &mut self.components[row].shows {
                *end = behind;
            }
        }
        Some(())
    }
}

/// What the bit of an element says: of the element, which comes first if it is there, and of their number.
fn absent_or_present(element: usize, count: usize) -> Says {
    if fault("keys: the number of elements is not told") {
        return Says::Listed(vec![(element, vec![1, 0])]);
    }
    Says::Listed(vec![(element, vec![1, 0]), (count, vec![0, 1])])
}

struct Elements {
    sorted: Vec<(Vec<u8>, usize)>,
    places: Vec<u64>,
}

impl Source {
    /// What the bits add to a key, in pieces that are looked up by themselves: the first bit of the state, how many, and by their
    /// value what they add. `shifts` says where the components stand in a key.
    pub fn pieces(&self, shifts: &[u32]) -> Vec<(usize, u32, Vec<u128>)> {
        let at = |low: u32| self.at + low as usize;
        match &self.says {
            _ if self.width == 0 => Vec::new(),
            Says::Bits { component, signed } => {
                let piece = |low: u32| {
                    let width = TOGETHER.min(self.width - low);
                    let flip = if *signed && low + width == self.width { 1 << (width - 1) } else { 0 };
                    let add = |code: u64| u128::from(code ^ flip) << (low + shifts[*component]);
                    (at(low), width, (0..1 << width).map(add).collect())
                };
                (0..self.width).step_by(TOGETHER as usize).map(piece).collect()
            }
            Says::Listed(all) => {
                let of = |codes: &[u64], code: usize| u128::from(codes.get(code).copied().unwrap_or(0));
                let add =
                    |code| all.iter().map(|(component, codes)| of(codes, code) << shifts[*component]).sum();
                vec![(at(0), self.width, (0..1 << self.width).map(add).collect())]
            }
        }
    }
}
