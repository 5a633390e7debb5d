//! The state as the layout without guesses has it: so the name of a state does not depend on what was guessed.
//!
//! In: a packed state in any layout. Out: its words in the layout that the promises of the invariant alone give.
//! A state whose layouts differ only in widths and lengths is copied word by word, and a value that has words in one layout and stands
//! in the pool of the other is told by its hash, as the pool tells it; all others go by way of their values.

use super::carrier::Carrier;
use super::layout::{Array, Layout};
use super::memo::Memo;
use super::pool::{self, Pool, ValueId};
use super::state::StateLayout;

/// Registers to copy: from where, to where, and how many.
type Copies = Vec<(u16, u16, u16)>;

pub struct Mirror {
    pub wide: StateLayout,
    /// None if the name of every state goes by way of its values.
    registers: Option<Registers>,
}

/// How the name of a state comes from its registers.
struct Registers {
    /// What stands in both layouts as words.
    copies: Copies,
    /// The pooled values of the layout without guesses, in their order.
    pooled: Vec<Pooled>,
    /// Registers of the variables in the two layouts.
    narrow: usize,
    wide: usize,
}

/// A pooled value of the layout without guesses.
enum Pooled {
    /// Its number stands in this register of the other layout too.
    Number(u16),
    /// The other layout has words for it, from this register on.
    Words(Layout, u16),
}

/// Room for registers and for the bytes of a value, and hashes of values that are known by their words.
#[derive(Default)]
pub struct Scratch {
    regs: Vec<u64>,
    bytes: Vec<u8>,
    contents: Memo<u128>,
}

impl Mirror {
    /// None if the two layouts are one.
    pub fn new(from: &StateLayout, wide: StateLayout) -> Option<Mirror> {
        let same = from.slots.len() == wide.slots.len()
            && from.slots.iter().zip(&wide.slots).all(|(a, b)| a.layout == b.layout && a.fields == b.fields);
        if same {
            return None;
        }
        let words = |l: &StateLayout| l.slots.iter().map(|s| s.words as usize).sum();
        let mut all =
            Registers { copies: Copies::new(), pooled: Vec::new(), narrow: words(from), wide: words(&wide) };
        let mut slots = from.slots.iter().zip(&wide.slots);
        let alike =
            wide.pooled().is_some() && slots.all(|(a, b)| all.copy(&a.layout, a.reg, &b.layout, b.reg));
        Some(Mirror { wide, registers: alike.then_some(all) })
    }

    /// Writes what `StateLayout::stable_words` says of the state in the layout without guesses; false if that takes its values.
    pub fn stable_words(
        &self,
        from: &StateLayout,
        state: &[u64],
        pool: &Pool,
        scratch: &mut Scratch,
        out: &mut Vec<u64>,
    ) -> bool {
        let Some(registers) = self.registers.as_ref().filter(|_| !from.is_escaped(state)) else {
            return false;
        };
        let Scratch { regs, bytes, contents } = scratch;
        regs.clear();
        regs.resize(registers.narrow + registers.wide, 0);
        let (narrow, wide) = regs.split_at_mut(registers.narrow);
        from.load(state, narrow);
        for (a, b, n) in &registers.copies {
            let (a, b, n) = (*a as usize, *b as usize, *n as usize);
            wide[b..b + n].copy_from_slice(&narrow[a..a + n]);
        }
        if !self.wide.store(from.valuation(state), wide, out) {
            return false;
        }
        for (i, pooled) in registers.pooled.iter().enumerate() {
            let content = match pooled {
                Pooled::Number(reg) => pool.content128(ValueId(narrow[*reg as usize] as u32)),
                Pooled::Words(layout, reg) => {
                    let words = &narrow[*reg as usize..][..layout.words() as usize];
                    match contents.ask(i, |key| key.extend_from_slice(words)) {
                        Some(Some(known)) => *known,
                        asked => {
                            let is_kept = asked.is_some();
                            let content = pool::content128_of(&layout.decode(words, pool), bytes);
                            if is_kept {
                                contents.learn(content, 2);
                            }
                            content
                        }
                    }
                }
            };
            out.extend([content as u64, (content >> 64) as u64]);
        }
        true
    }

    /// The state in the layout without guesses, by way of its values.
    pub fn pack(&self, from: &StateLayout, state: &[u64], pool: &Pool, out: &mut Vec<u64>) {
        self.wide.pack(from.valuation(state), &from.unpack(state, pool), pool, out);
    }
}

impl Registers {
    /// Notes the registers that stand for the same in two layouts; false if one does not begin as the other does.
    fn copy(&mut self, from: &Layout, a: u16, to: &Layout, b: u16) -> bool {
        match (from, to) {
            (Layout::Pool, Layout::Pool) => {
                self.pooled.push(Pooled::Number(a));
                true
            }
            (_, Layout::Pool) => {
                self.pooled.push(Pooled::Words(from.clone(), a));
                true
            }
            _ if from == to && !to.has_pool() => {
                self.copies.push((a, b, from.words()));
                true
            }
            (Layout::Array(x), Layout::Array(y)) => {
                let alike = begins(&x.rows, &y.rows) && same_cells(x, y);
                self.copies.push((a, b, from.words()));
                alike && from.words() <= to.words()
            }
            (Layout::Table(x), Layout::Table(y)) => {
                let (first, second) = (x.0.words(), y.0.words());
                self.copies.push((a, b, first));
                let row = |i: u16| (a + first + i * x.1.words(), b + second + i * y.1.words());
                begins(&x.0, &y.0)
                    && (0..x.0.card() as u16).all(|i| self.copy(&x.1, row(i).0, &y.1, row(i).1))
            }
            (Layout::Pair(x), Layout::Pair(y)) => {
                self.copy(&x.0, a, &y.0, b) && self.copy(&x.1, a + x.0.words(), &y.1, b + y.0.words())
            }
            (Layout::Rec(x), Layout::Rec(y)) if x.len() == y.len() => {
                let (mut a, mut b) = (a, b);
                x.iter().zip(y.iter()).all(|(x, y)| {
                    let alike = self.copy(x, a, y, b);
                    (a, b) = (a + x.words(), b + y.words());
                    alike
                })
            }
            _ => false,
        }
    }
}

/// Whether the elements of the first have the same codes in the second.
fn begins(a: &Carrier, b: &Carrier) -> bool {
    match (a, b) {
        _ if a == b => true,
        (Carrier::Ints { lo: a, n: few }, Carrier::Ints { lo: b, n: many }) => a == b && few <= many,
        _ => false,
    }
}

/// Whether the cells of two arrays hold the same codes.
fn same_cells(a: &Array, b: &Array) -> bool {
    a.values == b.values && a.total == b.total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant_ranges::Promise;
    use bombus_lang::typed::VarId;
    use bombus_lang::value::Value;

    fn rows(n: u16) -> Carrier {
        Carrier::Ints { lo: 1, n }
    }

    fn sequence(n: u16) -> Layout {
        Layout::array(rows(n), Carrier::Ints { lo: 0, n: 3 }, false).unwrap()
    }

    /// A number, a sequence, a table of sequences, and numbers with a sequence of numbers: in the pool, or below a bound.
    fn layout(widest: i64, length: u16, below: Option<u16>) -> StateLayout {
        let range = Promise::Range(Some(0), Some(widest));
        let table = Layout::table(rows(2), sequence(length));
        let numbers = match below {
            None => Layout::pair(Layout::Pool, Layout::Pool),
            Some(n) => Layout::pair(Layout::Bits(Carrier::Ints { lo: 0, n }), sequence(n)),
        };
        StateLayout::new(
            vec![
                (VarId(0), Layout::Int, range),
                (VarId(1), sequence(length), Promise::Nothing),
                (VarId(2), table, Promise::Nothing),
                (VarId(3), numbers, Promise::Nothing),
                (VarId(4), Layout::Pool, Promise::Nothing),
            ],
            3,
        )
    }

    fn listed(values: &[i64]) -> Value {
        Value::set(values.iter().zip(1..).map(|(v, i)| Value::pair(Value::int(i), Value::int(*v))).collect())
    }

    #[test]
    fn a_state_has_the_name_of_the_layout_without_guesses_whether_it_fits_or_not() {
        let pool = Pool::default();
        let wide = || layout(1000, 40, None);
        let mut scratch = Scratch::default();
        for narrow in [
            layout(15, 4, None),
            layout(1000, 40, None),
            layout(100_000, 64, Some(8)),
            layout(15, 40, Some(40)),
        ] {
            let Some(mirror) = Mirror::new(&narrow, wide()) else {
                assert_eq!(narrow.words, wide().words);
                continue;
            };
            for (n, length) in [(3, 0), (3, 4), (999, 4), (3, 9), (50_000, 40), (7, 50), (3, 4)] {
                let s = listed(&vec![2; length]);
                let table = Value::set(vec![Value::pair(Value::int(2), s.clone())]);
                let numbers = Value::set((0..n.min(20)).map(Value::int).collect());
                let values = [Value::int(n), s.clone(), table, Value::pair(numbers.clone(), s), numbers];
                let (mut state, mut packed) = (Vec::new(), Vec::new());
                narrow.pack(2, &values, &pool, &mut state);
                wide().pack(2, &values, &pool, &mut packed);
                let mut expected = Vec::new();
                assert!(wide().stable_words(&packed, &pool, &mut expected));
                let mut words = Vec::new();
                let by_registers = mirror.stable_words(&narrow, &state, &pool, &mut scratch, &mut words);
                if !by_registers {
                    mirror.pack(&narrow, &state, &pool, &mut packed);
                    assert!(wide().stable_words(&packed, &pool, &mut words));
                }
                assert_eq!(words, expected, "{n} {length}");
                let fits = !narrow.is_escaped(&state) && n <= 1000;
                assert!(by_registers == fits || narrow.words > wide().words, "{n} {length}");
            }
        }
    }
}
