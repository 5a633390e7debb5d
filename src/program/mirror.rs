//! The state as the layout without guesses has it: so the name of a state does not depend on what was guessed.
//!
//! In: a packed state in any layout. Out: its words in the layout that the promises of the invariant alone give.
//! A state whose layouts differ only in widths and lengths is copied word by word; all others go by way of their values.

use super::carrier::Carrier;
use super::layout::{Array, Layout};
use super::pool::Pool;
use super::state::StateLayout;

/// Registers to copy: from where, to where, and how many.
type Copies = Vec<(u16, u16, u16)>;

pub struct Mirror {
    pub wide: StateLayout,
    /// Whether pooled values stand in the states of that layout.
    pub pools: bool,
    /// None if values have to be made.
    copies: Option<Copies>,
    /// Registers of the variables in the two layouts.
    registers: (usize, usize),
}

impl Mirror {
    /// None if the two layouts are one.
    pub fn new(from: &StateLayout, wide: StateLayout) -> Option<Mirror> {
        let same = from.slots.len() == wide.slots.len()
            && from.slots.iter().zip(&wide.slots).all(|(a, b)| a.layout == b.layout && a.fields == b.fields);
        if same {
            return None;
        }
        let mut copies = Copies::new();
        let all = from.slots.iter().zip(&wide.slots);
        let alike = all.fold(true, |ok, (a, b)| ok && copy(&a.layout, a.reg, &b.layout, b.reg, &mut copies));
        let registers = |l: &StateLayout| l.slots.iter().map(|s| s.words as usize).sum();
        let pools = wide.slots.iter().any(|s| s.layout.has_pool());
        let registers = (registers(from), registers(&wide));
        Some(Mirror { wide, pools, copies: alike.then_some(copies), registers })
    }

    /// The words of a state of the layout `from`.
    pub fn words(
        &self,
        from: &StateLayout,
        state: &[u64],
        pool: &Pool,
        regs: &mut Vec<u64>,
        out: &mut Vec<u64>,
    ) {
        if let (Some(copies), false) = (&self.copies, from.is_escaped(state)) {
            let (narrow, wide) = self.registers;
            regs.clear();
            regs.resize(narrow + wide, 0);
            let (narrow, wide) = regs.split_at_mut(narrow);
            from.load(state, narrow);
            for (a, b, n) in copies {
                let (a, b, n) = (*a as usize, *b as usize, *n as usize);
                wide[b..b + n].copy_from_slice(&narrow[a..a + n]);
            }
            if self.wide.store(from.valuation(state), wide, out) {
                return;
            }
        }
        self.wide.pack(from.valuation(state), &from.unpack(state, pool), pool, out);
    }
}

/// The registers that stand for the same in two layouts; false if one does not begin as the other does.
fn copy(from: &Layout, a: u16, to: &Layout, b: u16, out: &mut Copies) -> bool {
    match (from, to) {
        _ if from == to => {
            out.push((a, b, from.words()));
            true
        }
        (Layout::Array(x), Layout::Array(y)) => {
            let alike = begins(&x.rows, &y.rows) && same_cells(x, y);
            out.push((a, b, from.words()));
            alike && from.words() <= to.words()
        }
        (Layout::Table(x), Layout::Table(y)) => {
            let (first, second) = (x.0.words(), y.0.words());
            out.push((a, b, first));
            let row = |i: u16| (a + first + i * x.1.words(), b + second + i * y.1.words());
            begins(&x.0, &y.0) && (0..x.0.card() as u16).all(|i| copy(&x.1, row(i).0, &y.1, row(i).1, out))
        }
        (Layout::Pair(x), Layout::Pair(y)) => {
            copy(&x.0, a, &y.0, b, out) && copy(&x.1, a + x.0.words(), &y.1, b + y.0.words(), out)
        }
        (Layout::Rec(x), Layout::Rec(y)) if x.len() == y.len() => {
            let (mut a, mut b) = (a, b);
            x.iter().zip(y.iter()).all(|(x, y)| {
                let alike = copy(x, a, y, b, out);
                (a, b) = (a + x.words(), b + y.words());
                alike
            })
        }
        _ => false,
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

    /// A number, a sequence, and a table of sequences.
    fn layout(widest: i64, length: u16) -> StateLayout {
        let range = Promise::Range(Some(0), Some(widest));
        let table = Layout::table(rows(2), sequence(length));
        StateLayout::new(
            vec![
                (VarId(0), Layout::Int, range),
                (VarId(1), sequence(length), Promise::Nothing),
                (VarId(2), table, Promise::Nothing),
            ],
            3,
        )
    }

    fn listed(values: &[i64]) -> Value {
        Value::set(values.iter().zip(1..).map(|(v, i)| Value::pair(Value::int(i), Value::int(*v))).collect())
    }

    #[test]
    fn a_state_has_the_words_of_the_layout_without_guesses_whether_it_fits_or_not() {
        let pool = Pool::default();
        let wide = || layout(1000, 40);
        for narrow in [layout(15, 4), layout(1000, 40), layout(100_000, 64)] {
            let Some(mirror) = Mirror::new(&narrow, wide()) else {
                assert_eq!(narrow.words, wide().words);
                continue;
            };
            for (n, length) in [(3, 0), (3, 4), (999, 4), (3, 9), (50_000, 40), (7, 50)] {
                let s = listed(&vec![2; length]);
                let table = Value::set(vec![Value::pair(Value::int(2), s.clone())]);
                let values = [Value::int(n), s, table];
                let (mut state, mut expected) = (Vec::new(), Vec::new());
                narrow.pack(2, &values, &pool, &mut state);
                wide().pack(2, &values, &pool, &mut expected);
                let (mut regs, mut words) = (Vec::new(), Vec::new());
                mirror.words(&narrow, &state, &pool, &mut regs, &mut words);
                assert_eq!(words, expected, "{n} {length}");
            }
        }
    }
}
