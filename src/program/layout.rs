//! Layouts: how a value stands in registers and in the words of a state.
//!
//! In: types, and ranges promised by the model. Out: words of values and values of words.
//! A promise is only a hint: a value that has no place in its layout is a *misfit*; the piece of
//! code that met it is done again on exact values, and a state that holds one is stored as the
//! number of its values in the pool. A state is stored that way only if some value is a misfit, so
//! equal states have equal words.

use super::carrier::Carrier;
use super::pool::{Pool, ValueId};
use bombus_base::Int;
use bombus_kernels::bits::{self, cells::Cells};
use bombus_lang::value::Value;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A number that fits a word.
    Int,
    /// An element of a finite set, by its code: BOOL, enumerated and deferred sets.
    Code(Carrier),
    /// A set over a carrier; over a carrier of pairs this is a bit matrix.
    Bits(Carrier),
    /// A function from a carrier: a bit for each argument that has a value, then the values side by
    /// side, zero where there is none.
    Table(Arc<(Carrier, Layout)>),
    /// A function from a carrier into a carrier: the codes of its values side by side.
    Array(Arc<Array>),
    Pair(Arc<(Layout, Layout)>),
    Rec(Arc<[Layout]>),
    /// The number of the value in the pool.
    Pool,
}

/// A function as an array of codes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Array {
    pub rows: Carrier,
    pub values: Carrier,
    /// Total: every row has a value, and a function that lacks one has no place here.
    pub total: bool,
}

/// Words of the largest array.
const MAX_ARRAY_WORDS: usize = 64;

impl Array {
    pub fn cells(&self) -> Cells {
        Cells::new(self.rows.card() as u16, self.values.card(), self.total)
    }

    /// The same function with room for rows without a value.
    pub fn partial(&self) -> Array {
        Array { total: false, ..self.clone() }
    }

    /// The carrier of the bit matrix of the same function.
    pub fn matrix(&self) -> Carrier {
        Carrier::pair(self.rows.clone(), self.values.clone())
    }
}

impl Layout {
    /// A function as an array, if it is not too large for one.
    pub fn array(rows: Carrier, values: Carrier, total: bool) -> Option<Layout> {
        let array = Array { rows, values, total };
        let fits = array.rows.card() > 0
            && array.rows.card() <= usize::from(u16::MAX)
            && array.values.card() > 0
            && array.cells().width <= 16
            && array.cells().words() <= MAX_ARRAY_WORDS;
        fits.then(|| Layout::Array(Arc::new(array)))
    }

    pub fn table(rows: Carrier, value: Layout) -> Layout {
        Layout::Table(Arc::new((rows, value)))
    }

    pub fn pair(a: Layout, b: Layout) -> Layout {
        Layout::Pair(Arc::new((a, b)))
    }

    /// Registers of a value.
    pub fn words(&self) -> u16 {
        match self {
            Layout::Int | Layout::Code(_) | Layout::Pool => 1,
            Layout::Bits(c) => c.words(),
            Layout::Table(t) => t.0.words() + t.0.card() as u16 * t.1.words(),
            Layout::Array(a) => a.cells().words() as u16,
            Layout::Pair(p) => p.0.words() + p.1.words(),
            Layout::Rec(fields) => fields.iter().map(Layout::words).sum(),
        }
    }

    /// How one element of a carrier stands in registers.
    pub fn of_element(c: &Carrier) -> Layout {
        match c {
            Carrier::Bool | Carrier::Set(..) => Layout::Code(c.clone()),
            Carrier::Ints { .. } => Layout::Int,
            Carrier::Pair(p) => Layout::pair(Layout::of_element(&p.0), Layout::of_element(&p.1)),
            Carrier::Rec(fields) => Layout::Rec(fields.iter().map(Layout::of_element).collect()),
            Carrier::Sets(of) => Layout::Bits((**of).clone()),
        }
    }

    /// Whether a pooled value stands inside.
    pub fn has_pool(&self) -> bool {
        match self {
            Layout::Pool => true,
            Layout::Table(t) => t.1.has_pool(),
            Layout::Pair(p) => p.0.has_pool() || p.1.has_pool(),
            Layout::Rec(fields) => fields.iter().any(Layout::has_pool),
            _ => false,
        }
    }

    /// Writes the words of `v`; false when it has no place.
    pub fn encode(&self, v: &Value, pool: &Pool, out: &mut [u64]) -> bool {
        match (self, v) {
            (Layout::Int, Value::Int(Int::Small(n))) => {
                out[0] = *n as u64;
                true
            }
            (Layout::Code(c), v) => match c.code(v) {
                Some(code) => {
                    out[0] = code as u64;
                    true
                }
                None => false,
            },
            (Layout::Bits(c), Value::Set(elems)) => {
                let out = &mut out[..c.words() as usize];
                out.fill(0);
                elems.iter().all(|e| c.code(e).map(|code| bits::insert(out, code)).is_some())
            }
            (Layout::Table(t), Value::Set(elems)) => {
                let (rows, value) = (&t.0, &t.1);
                let (present, w) = (rows.words() as usize, value.words() as usize);
                out[..self.words() as usize].fill(0);
                elems.iter().all(|e| {
                    let Value::Pair(p) = e else { return false };
                    let Some(row) = rows.code(&p.0) else { return false };
                    if bits::get(out, row) {
                        return false;
                    }
                    bits::insert(out, row);
                    value.encode(&p.1, pool, &mut out[present + row * w..])
                })
            }
            (Layout::Array(a), Value::Set(elems)) => {
                let cells = a.cells();
                let out = &mut out[..cells.words()];
                out.fill(0);
                // Maplets are sorted by their argument: a second value stands beside the first.
                let mut last = None;
                let each = elems.iter().all(|e| {
                    let Value::Pair(p) = e else { return false };
                    let (Some(row), Some(value)) = (a.rows.code(&p.0), a.values.code(&p.1)) else {
                        return false;
                    };
                    cells.put(out, row, value as u64);
                    last.replace(row) != Some(row)
                });
                each && (!a.total || elems.len() == a.rows.card())
            }
            (Layout::Pair(l), Value::Pair(p)) => {
                let (a, b) = out.split_at_mut(l.0.words() as usize);
                l.0.encode(&p.0, pool, a) && l.1.encode(&p.1, pool, b)
            }
            (Layout::Rec(ls), Value::Rec(vs)) => {
                let mut rest = out;
                for (l, v) in ls.iter().zip(vs.iter()) {
                    let (now, later) = rest.split_at_mut(l.words() as usize);
                    if !l.encode(v, pool, now) {
                        return false;
                    }
                    rest = later;
                }
                true
            }
            (Layout::Pool, v) => {
                out[0] = u64::from(pool.intern(v).0);
                true
            }
            _ => false,
        }
    }

    pub fn decode(&self, words: &[u64], pool: &Pool) -> Value {
        match self {
            Layout::Int => Value::int(words[0] as i64),
            Layout::Code(c) => c.value(words[0] as usize),
            Layout::Bits(c) => {
                c.set_of(bits::iter(&words[..c.words() as usize]).map(|b| c.value(b)).collect())
            }
            Layout::Table(t) => {
                let (present, w) = (t.0.words() as usize, t.1.words() as usize);
                let rows = bits::iter(&words[..present]);
                t.0.set_of(
                    rows.map(|r| Value::pair(t.0.value(r), t.1.decode(&words[present + r * w..], pool)))
                        .collect(),
                )
            }
            Layout::Array(a) => {
                let cells = a.cells();
                let mut maplets = Vec::with_capacity(a.rows.card());
                cells.each(&words[..cells.words()], |row, value| {
                    maplets.push(Value::pair(a.rows.value(row), a.values.value(value as usize)));
                });
                a.rows.set_of(maplets)
            }
            Layout::Pair(l) => {
                let at = l.0.words() as usize;
                Value::pair(l.0.decode(words, pool), l.1.decode(&words[at..], pool))
            }
            Layout::Rec(ls) => {
                let mut at = 0;
                let fields: Vec<Value> = ls
                    .iter()
                    .map(|l| {
                        let v = l.decode(&words[at..], pool);
                        at += l.words() as usize;
                        v
                    })
                    .collect();
                Value::Rec(fields.into())
            }
            Layout::Pool => pool.get(ValueId(words[0] as u32)).clone(),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layout::Int => write!(f, "integer"),
            Layout::Code(c) => write!(f, "code of {c}"),
            Layout::Bits(c) if c.sides().is_some() => write!(f, "bit matrix {c}"),
            Layout::Bits(c) => write!(f, "bit-set {c}"),
            Layout::Table(t) => write!(f, "table {} → {}", t.0, t.1),
            Layout::Array(a) => {
                let kind = if a.total { "" } else { "partial " };
                write!(f, "{kind}array {} → {}", a.rows, a.values)
            }
            Layout::Pair(p) => write!(f, "pair({}, {})", p.0, p.1),
            Layout::Rec(fields) => {
                write!(f, "record(")?;
                for (i, l) in fields.iter().enumerate() {
                    write!(f, "{}{l}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, ")")
            }
            Layout::Pool => write!(f, "value pool"),
        }
    }
}

/// One run of bits in a packed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset of the value's word within its variable's registers.
    pub part: u16,
    /// Place in the state, in bits.
    pub offset: u32,
    pub width: u16,
    pub kind: FieldKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// `value - lo` in `width` bits.
    Int { lo: i64 },
    /// A code or pool number.
    Code,
    /// A bit-set, `width` bits in one or more words.
    Bits,
}

/// A field of up to a word, ready for loading and storing: a shift and a mask.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub reg: u16,
    pub word: u16,
    pub shift: u8,
    /// The bits, before they are shifted.
    pub mask: u64,
    pub lo: i64,
}

impl Place {
    #[inline(always)]
    pub fn load(&self, state: &[u64]) -> u64 {
        ((state[self.word as usize] >> self.shift & self.mask) as i64).wrapping_add(self.lo) as u64
    }

    /// False when the number does not fit.
    #[inline(always)]
    pub fn store(&self, value: u64, state: &mut [u64]) -> bool {
        let word = (value as i64).wrapping_sub(self.lo) as u64;
        if word & !self.mask != 0 {
            return false;
        }
        let at = &mut state[self.word as usize];
        *at = *at & !(self.mask << self.shift) | word << self.shift;
        true
    }
}

impl Field {
    /// The place of a field of up to a word, for the register `reg`.
    pub fn place(&self, reg: u16) -> Option<Place> {
        (self.width <= 64).then(|| Place {
            reg,
            word: (self.offset / 64) as u16,
            shift: (self.offset % 64) as u8,
            mask: bits::low_mask(self.width as usize),
            lo: match self.kind {
                FieldKind::Int { lo } => lo,
                _ => 0,
            },
        })
    }

    /// The places of a field of any width, for the registers from `reg` on: one for each word of the field. A field of more
    /// than a word begins with a word of the state.
    pub fn places(&self, reg: u16) -> Vec<Place> {
        if let Some(place) = self.place(reg) {
            return vec![place];
        }
        let parts = self.width.div_ceil(64);
        let part = |i: u16| Place {
            reg: reg + i,
            word: (self.offset / 64) as u16 + i,
            shift: 0,
            mask: bits::low_mask(usize::from(self.width - 64 * i).min(64)),
            lo: 0,
        };
        debug_assert_eq!(self.offset % 64, 0, "a wide field begins with a word");
        (0..parts).map(part).collect()
    }

    /// Copies the field from a packed state to registers.
    #[inline(always)]
    pub fn load(&self, state: &[u64], regs: &mut [u64]) {
        let (at, width) = (self.offset as usize, self.width as usize);
        if width <= 64 {
            // Fields of up to a word never straddle words.
            let word = state[at / 64] >> (at % 64) & bits::low_mask(width);
            regs[0] = match self.kind {
                FieldKind::Int { lo } => (word as i64).wrapping_add(lo) as u64,
                _ => word,
            };
        } else {
            bits::extract(state, at, width, &mut regs[..bits::words_for(width)]);
        }
    }

    /// Copies registers into the field; false when the number does not fit.
    #[inline(always)]
    pub fn store(&self, regs: &[u64], state: &mut [u64]) -> bool {
        let (at, width) = (self.offset as usize, self.width as usize);
        if width <= 64 {
            let mask = bits::low_mask(width);
            let word = match self.kind {
                FieldKind::Int { lo } => (regs[0] as i64).wrapping_sub(lo) as u64,
                _ => regs[0],
            };
            if word & !mask != 0 {
                return false;
            }
            let (at, shift) = (at / 64, at % 64);
            state[at] = state[at] & !(mask << shift) | word << shift;
        } else {
            bits::deposit(state, at, width, regs);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_lang::typed::SetId;

    #[test]
    fn words_and_values_are_inverse() {
        let pool = Pool::default();
        let layout = Layout::pair(
            Layout::Bits(Carrier::pair(Carrier::Ints { lo: -1, n: 9 }, Carrier::Set(SetId(1), 9))),
            Layout::Rec(Arc::from([Layout::Int, Layout::Pool])),
        );
        let relation = Value::set(
            (0..9).map(|i| Value::pair(Value::int(7 - i), Value::Elem(SetId(1), i as u32))).collect(),
        );
        let value = Value::pair(relation, Value::Rec(Arc::from([Value::int(-5), Value::str("abc")])));
        let mut words = vec![0; layout.words() as usize];
        assert!(layout.encode(&value, &pool, &mut words));
        assert_eq!(layout.decode(&words, &pool), value);
    }

    #[test]
    fn a_number_outside_the_promised_range_does_not_fit() {
        let field = Field { part: 0, offset: 3, width: 2, kind: FieldKind::Int { lo: 0 } };
        let mut state = [0];
        assert!(field.store(&[3], &mut state));
        assert!(!field.store(&[4], &mut state));
        assert!(!field.store(&[-1i64 as u64], &mut state));
        let mut regs = [0];
        field.load(&state, &mut regs);
        assert_eq!(regs[0], 3);
    }
}
