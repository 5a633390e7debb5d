//! Steps for operations on relations, arrays and tables of a few words.
//!
//! In: an operation that `bulk` does for values of any size. Out: its steps, if its values are small; whoever asks leaves the
//! others to `bulk`. A loop over rows is unrolled: where a row stands is known when the code is made.
//! Nothing is written before everything is read, but for tables, of which only one row is touched.

use super::*;
use bombus_kernels::bits::{low_mask, words_for};

/// Rows of a loop that is unrolled.
pub(super) const ROWS: u16 = 32;
/// Bits of a relation that is turned round bit by bit.
const INVERTED: u32 = 16;
/// Longer code takes its room for what is done in it, not for loops that are unrolled.
const SHORT: usize = 1 << 14;

fn words(bits: usize) -> usize {
    words_for(bits).max(1)
}

/// A one at the lowest bit of each of `rows` cells.
pub(super) fn ones(rows: u16, width: usize) -> u64 {
    (0..usize::from(rows)).fold(0, |all, row| all | 1 << (row * width))
}

/// A relation of `rows` times `cols` bits at `m`.
#[derive(Clone, Copy)]
struct Matrix {
    m: Reg,
    rows: u16,
    cols: usize,
}

impl Matrix {
    fn new(m: Reg, rows: u16, cols: u16) -> Matrix {
        Matrix { m, rows, cols: usize::from(cols) }
    }

    fn words(self) -> usize {
        words(usize::from(self.rows) * self.cols)
    }

    /// Whether a value made of it word by word may stand at `d`.
    fn can_become(self, d: Reg) -> bool {
        let n = self.words() as u16;
        d == self.m || disjoint((d, n), (self.m, n))
    }

    fn is_word(self) -> bool {
        (1..=64).contains(&(usize::from(self.rows) * self.cols))
    }

    /// A relation whose rows can be looked at one by one.
    fn small(m: Reg, rows: u16, cols: u16) -> Option<Matrix> {
        ((1..=ROWS).contains(&rows) && (1..=64).contains(&cols)).then(|| Matrix::new(m, rows, cols))
    }

    /// The same, in one word.
    fn word(m: Reg, rows: u16, cols: u16) -> Option<Matrix> {
        Matrix::small(m, rows, cols).filter(|m| m.is_word())
    }
}

impl Translation<'_> {
    /// The steps of an operation; false if it has none here.
    pub(super) fn small(&mut self, op: &Op) -> bool {
        self.numbers(op)
            || self.table(op)
            || self.row(op)
            || self.code.ops.len() <= SHORT && (self.relation(op) || self.array(op))
    }

    fn numbers(&mut self, op: &Op) -> bool {
        match *op {
            Op::Min { d, a, b } => self.chosen(Greater, d, a, b),
            Op::Max { d, a, b } => self.chosen(Less, d, a, b),
            Op::Div { d, a, b, l } => {
                self.b.load(A, a);
                self.b.load(C, b);
                self.b.divide(Label(l), self.misfit);
                self.b.store(d, A);
            }
            Op::Least { d, a, n: 1, l } => {
                self.b.load(A, a);
                self.b.test(A);
                self.b.jump_if(Equal, Label(l));
                self.b.lowest(A, A);
                self.b.store(d, A);
            }
            Op::Greatest { d, a, n: 1, l } => {
                self.b.load(A, a);
                self.b.test(A);
                self.b.jump_if(Equal, Label(l));
                self.b.highest(A, A);
                self.b.store(d, A);
            }
            Op::NextSubset { d, a, n: 1, l } => {
                self.b.load(A, d);
                self.b.combine_word(Word::Sub, A, a);
                self.b.combine_word(Word::And, A, a);
                self.b.store(d, A);
                self.b.jump_if(Equal, Label(l));
                self.b.tick();
            }
            Op::Interval { d, a, b, lo, bits, clip } if (1..=64).contains(&bits) => {
                self.interval(d, (a, b), i64::from(lo), bits, clip);
            }
            _ => return false,
        }
        true
    }

    /// `d` is `a`, or `b` if the two compare so.
    fn chosen(&mut self, when: Condition, d: Reg, a: Reg, b: Reg) {
        self.b.load(A, a);
        self.b.load(C, b);
        self.b.combine(Word::Cmp, A, C);
        self.b.take_if(when, A, C);
        self.b.store(d, A);
    }

    fn interval(&mut self, d: Reg, (a, b): (Reg, Reg), lo: i64, bits: u16, clip: bool) {
        let (empty, done) = (self.b.label(), self.b.label());
        let hi = lo + i64::from(bits) - 1;
        self.b.load(A, a);
        self.b.load(D, b);
        if clip {
            self.b.set(C, lo);
            self.b.combine(Word::Cmp, A, C);
            self.b.take_if(Less, A, C);
            self.b.set(C, hi);
            self.b.combine(Word::Cmp, D, C);
            self.b.take_if(Greater, D, C);
        }
        self.b.combine(Word::Cmp, A, D);
        self.b.jump_if(Greater, empty);
        if !clip {
            self.b.set(C, lo);
            self.b.combine(Word::Cmp, A, C);
            self.b.jump_if(Less, self.misfit);
            self.b.set(C, hi);
            self.b.combine(Word::Cmp, D, C);
            self.b.jump_if(Greater, self.misfit);
        }
        // All bits from the first on, and all up to the last.
        self.b.set(C, lo);
        self.b.combine(Word::Sub, A, C);
        self.b.combine(Word::Sub, D, C);
        self.b.copy(C, A);
        self.b.set(A, -1);
        self.b.shift_left_c(A);
        self.b.set(C, 63);
        self.b.combine(Word::Sub, C, D);
        self.b.set(D, -1);
        self.b.shift_right_c(D);
        self.b.combine(Word::And, A, D);
        self.b.jump(done);
        self.b.bind(empty);
        self.b.set(A, 0);
        self.b.bind(done);
        self.b.store(d, A);
    }

    // --- Tables.

    fn table(&mut self, op: &Op) -> bool {
        match *op {
            Op::TableGet { d, t, r, n, w, l } if w <= UNROLLED => {
                let rows = words(usize::from(n)) as u16;
                let table = (t, rows + n * w);
                if !disjoint((d, w), table) {
                    return false;
                }
                if let Some(row) = self.known(r).filter(|row| *row < n) {
                    self.b.load(A, t + row / 64);
                    self.b.test_bit_number(A, (row % 64) as u8);
                    self.b.jump_if(NotBelow, Label(l));
                    self.copy(d, t + rows + row * w, w);
                    return true;
                }
                self.bit(t, r, NotBelow, l);
                self.row_index(t + rows, w);
                for i in 0..w {
                    self.b.load_at(D, A);
                    self.b.store(word(d, i), D);
                    self.b.combine_number(Word::Add, A, 1);
                }
                true
            }
            Op::TablePut { d, r, s, n, w } if w <= UNROLLED => {
                let rows = words(usize::from(n)) as u16;
                if !disjoint((s, w), (d, rows + n * w)) || !disjoint((r, 1), (d, rows + n * w)) {
                    return false;
                }
                if let Some(row) = self.known(r).filter(|row| *row < n) {
                    self.b.load(A, d + row / 64);
                    self.b.set_bit_number(A, (row % 64) as u8);
                    self.b.store(d + row / 64, A);
                    self.copy(d + rows + row * w, s, w);
                    return true;
                }
                self.bit_word(d, r);
                self.b.set_bit(D, C);
                self.b.store_at(A, D);
                self.row_index(d + rows, w);
                for i in 0..w {
                    self.b.load(D, word(s, i));
                    self.b.store_at(A, D);
                    self.b.combine_number(Word::Add, A, 1);
                }
                true
            }
            Op::TableDrop { d, r, n, w } if w <= UNROLLED => {
                let rows = words(usize::from(n)) as u16;
                if !disjoint((r, 1), (d, rows + n * w)) {
                    return false;
                }
                self.bit_word(d, r);
                self.b.clear_bit(D, C);
                self.b.store_at(A, D);
                self.row_index(d + rows, w);
                self.b.set(D, 0);
                for _ in 0..w {
                    self.b.store_at(A, D);
                    self.b.combine_number(Word::Add, A, 1);
                }
                true
            }
            _ => false,
        }
    }

    /// In `A`, where the row whose number is in `C` begins.
    fn row_index(&mut self, first: Reg, w: u16) {
        self.b.copy(A, C);
        self.b.multiply_number(A, i32::from(w));
        self.b.combine_number(Word::Add, A, i32::from(first));
    }

    /// The number in a register, if it is a constant.
    fn known(&self, r: Reg) -> Option<u16> {
        self.constants.get(&r).and_then(|v| u16::try_from(*v).ok())
    }

    // --- One row of a relation.

    fn row(&mut self, op: &Op) -> bool {
        match *op {
            Op::Row { d, m, r, rows, cols } if self.load_row(Matrix::new(m, rows, cols), r) => {
                self.b.store(d, A);
                true
            }
            Op::Single { d, m, r, rows, cols, l } if self.load_row(Matrix::new(m, rows, cols), r) => {
                self.b.test(A);
                self.b.jump_if(Equal, Label(l));
                self.b.copy(C, A);
                self.b.combine_number(Word::Sub, C, 1);
                self.b.combine(Word::And, C, A);
                self.b.jump_if(NotEqual, Label(l));
                self.b.lowest(A, A);
                self.b.store(d, A);
                true
            }
            Op::PutSingle { d, r, c, rows, cols } if Matrix::new(d, rows, cols).is_word() => {
                self.without_row(d, r, cols);
                self.b.combine_word(Word::Add, C, c);
                self.b.set(D, 1);
                self.b.shift_left_c(D);
                self.b.combine(Word::Or, A, D);
                self.b.store(d, A);
                true
            }
            Op::PutRow { d, r, s, rows, cols } if Matrix::new(d, rows, cols).is_word() => {
                self.without_row(d, r, cols);
                self.b.load(D, s);
                self.keep_low(D, usize::from(cols), E);
                self.b.shift_left_c(D);
                self.b.combine(Word::Or, A, D);
                self.b.store(d, A);
                true
            }
            _ => false,
        }
    }

    /// Row `f[r]` in `A`, if that is a matter of a few steps.
    fn load_row(&mut self, m: Matrix, r: Reg) -> bool {
        if !(1..=64).contains(&m.cols) {
            return false;
        }
        if let Some(row) = self.known(r).filter(|row| *row < m.rows) {
            self.bits(A, m.m, usize::from(row) * m.cols, m.cols, C);
            return true;
        }
        self.b.load(C, r);
        self.b.multiply_number(C, m.cols as i32);
        if m.is_word() {
            self.b.load(A, m.m);
            self.b.shift_right_c(A);
        } else {
            // What the first word has of the row, and what the next one may have: 64 bits to the left in all, which
            // is no shift at all if the row begins with the word, so it is done in two.
            self.b.copy(A, C);
            self.b.shift_right(A, 6);
            self.b.combine_number(Word::Add, A, i32::from(m.m));
            self.b.load_at(D, A);
            self.b.shift_right_c(D);
            self.b.combine_number(Word::Add, A, 1);
            self.b.load_at(A, A);
            self.b.shift_left(A, 1);
            self.b.combine_number(Word::Xor, C, 63);
            self.b.shift_left_c(A);
            self.b.combine(Word::Or, A, D);
        }
        self.keep_low(A, m.cols, D);
        true
    }

    /// In `A`, the matrix of one word without row `f[r]`; in `C`, where that row begins.
    fn without_row(&mut self, m: Reg, r: Reg, cols: u16) {
        self.b.load(C, r);
        self.b.multiply_number(C, i32::from(cols));
        self.b.set(A, low_mask(usize::from(cols)) as i64);
        self.b.shift_left_c(A);
        self.b.not(A);
        self.b.combine_word(Word::And, A, m);
    }

    /// `x :=` `len` bits of the value at `r` that begin at bit `from`; `other` is lost.
    pub(super) fn bits(&mut self, x: Temp, r: Reg, from: usize, len: usize, other: Temp) {
        let (at, shift) = ((from / 64) as u16, from % 64);
        self.b.load(x, word(r, at));
        self.b.shift_right(x, shift as u8);
        if shift + len > 64 {
            self.b.load(other, word(r, at + 1));
            self.b.shift_left(other, (64 - shift) as u8);
            self.b.combine(Word::Or, x, other);
        }
        if shift + len != 64 {
            self.keep_low(x, len, other);
        }
    }

    /// Clears all but the lowest `len` bits.
    fn keep_low(&mut self, x: Temp, len: usize, other: Temp) {
        match len {
            64.. => {}
            32.. => {
                self.b.set(other, low_mask(len) as i64);
                self.b.combine(Word::And, x, other);
            }
            _ => self.b.combine_number(Word::And, x, low_mask(len) as i32),
        }
    }

    // --- Relations, row by row. The result grows in `A`, a row is in `C`, `D` is lost.

    fn relation(&mut self, op: &Op) -> bool {
        match *op {
            Op::Dom { d, m, rows, cols } => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.rows_down(d, m, |_| {});
            }
            Op::Preimage { d, m, s, rows, cols } => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.b.load(E, s);
                self.rows_down(d, m, |t| t.b.combine(Word::And, C, E));
            }
            Op::Ran { d, m, rows, cols } => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.b.set(A, 0);
                self.each_row(m, |t, _| t.b.combine(Word::Or, A, C));
                self.b.store(d, A);
            }
            Op::Image { d, m, s, rows, cols } => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.b.load(E, s);
                self.b.set(A, 0);
                self.each_row(m, |t, row| {
                    t.b.test_bit_number(E, row as u8);
                    t.b.spread(D);
                    t.b.combine(Word::And, C, D);
                    t.b.combine(Word::Or, A, C);
                });
                self.b.store(d, A);
            }
            Op::JumpNotFunctional { m, rows, cols, l } => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.each_row(m, |t, _| t.unless_single(Label(l)));
            }
            Op::JumpNotInjective { m, rows, cols, l } => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.b.set(A, 0);
                self.each_row(m, |t, _| {
                    t.b.copy(D, C);
                    t.b.combine(Word::And, D, A);
                    t.b.jump_if(NotEqual, Label(l));
                    t.b.combine(Word::Or, A, C);
                });
            }
            Op::RestrictCols { d, m, s, rows, cols, keep } => {
                let Some(shape) = Matrix::small(m, rows, cols).filter(|m| m.can_become(d)) else {
                    return false;
                };
                self.b.load(E, s);
                self.keep_low(E, shape.cols, D);
                self.restrict(d, shape, keep, |t, _| t.b.copy(C, E));
            }
            Op::RestrictRows { d, m, s, rows, cols, keep } => {
                let Some(shape) = Matrix::small(m, rows, cols).filter(|m| m.can_become(d)) else {
                    return false;
                };
                self.b.load(E, s);
                self.restrict(d, shape, keep, |t, row| {
                    t.b.test_bit_number(E, row as u8);
                    t.b.spread(C);
                    t.keep_low(C, shape.cols, D);
                });
            }
            Op::Inverse { d, m, rows, cols } if u32::from(rows) * u32::from(cols) <= INVERTED => {
                let Some(m) = Matrix::small(m, rows, cols) else { return false };
                self.b.set(A, 0);
                self.each_row(m, |t, row| {
                    for col in 0..cols {
                        t.b.copy(D, C);
                        t.b.shift_right(D, col as u8);
                        t.b.combine_number(Word::And, D, 1);
                        t.b.shift_left(D, (col * rows + row) as u8);
                        t.b.combine(Word::Or, A, D);
                    }
                });
                self.b.store(d, A);
            }
            Op::Product { d, a, b, rows, cols } => {
                let Some(shape) = Matrix::word(d, rows, cols) else { return false };
                self.some_rows(a, rows, shape.cols);
                self.all_rows(C, b, shape);
                self.b.combine(Word::And, A, C);
                self.b.store(d, A);
            }
            Op::Override { d, a, b, rows, cols } => {
                let Some(shape) = Matrix::word(b, rows, cols) else { return false };
                self.b.set(A, 0);
                self.each_row(shape, |t, row| {
                    t.b.negate(C);
                    t.b.spread(C);
                    t.place(C, usize::from(row) * shape.cols, shape.cols);
                });
                self.b.not(A);
                self.b.combine_word(Word::And, A, a);
                self.b.combine_word(Word::Or, A, b);
                self.b.store(d, A);
            }
            _ => return false,
        }
        true
    }

    fn each_row(&mut self, m: Matrix, mut with: impl FnMut(&mut Self, u16)) {
        for row in 0..m.rows {
            self.bits(C, m.m, usize::from(row) * m.cols, m.cols, D);
            with(self, row);
        }
    }

    /// The rows of which `with` leaves something.
    fn rows_down(&mut self, d: Reg, m: Matrix, with: impl Fn(&mut Self)) {
        self.b.set(A, 0);
        for row in (0..m.rows).rev() {
            self.bits(C, m.m, usize::from(row) * m.cols, m.cols, D);
            with(self);
            self.b.negate(C);
            self.b.append(A);
        }
        self.b.store(d, A);
    }

    /// Keeps of each row the bits that `kept` leaves in `C`, or the others.
    fn restrict(&mut self, d: Reg, m: Matrix, keep: bool, kept: impl Fn(&mut Self, u16)) {
        for at in 0..m.words() {
            self.b.set(A, 0);
            for row in 0..m.rows {
                let (first, start) = (usize::from(row) * m.cols, at * 64);
                if first >= start + 64 || first + m.cols <= start {
                    continue;
                }
                kept(self, row);
                if first >= start {
                    self.b.shift_left(C, (first - start) as u8);
                } else {
                    self.b.shift_right(C, (start - first) as u8);
                }
                self.b.combine(Word::Or, A, C);
            }
            self.keep(word(d, at as u16), word(m.m, at as u16), keep);
        }
    }

    /// Jumps if `C` has more than one bit.
    pub(super) fn unless_single(&mut self, l: Label) {
        self.b.copy(D, C);
        self.b.combine_number(Word::Sub, D, 1);
        self.b.combine(Word::And, D, C);
        self.b.jump_if(NotEqual, l);
    }

    /// Adds the lowest `len` bits of `x` to `A`, from bit `at` on.
    pub(super) fn place(&mut self, x: Temp, at: usize, len: usize) {
        self.keep_low(x, len, D);
        self.b.shift_left(x, at as u8);
        self.b.combine(Word::Or, A, x);
    }

    /// In `A`, all bits of the rows in `s`.
    pub(super) fn some_rows(&mut self, s: Reg, rows: u16, width: usize) {
        self.b.load(E, s);
        self.b.set(A, 0);
        for row in 0..rows {
            self.b.test_bit_number(E, row as u8);
            self.b.spread(C);
            self.place(C, usize::from(row) * width, width);
        }
    }

    /// `x :=` the set `s` of columns, in every row.
    fn all_rows(&mut self, x: Temp, s: Reg, m: Matrix) {
        self.b.load(x, s);
        self.keep_low(x, m.cols, D);
        self.b.set(D, ones(m.rows, m.cols) as i64);
        self.b.multiply(x, D);
    }

    /// `d` is what `A` keeps of `m`, or what it does not.
    pub(super) fn keep(&mut self, d: Reg, m: Reg, keep: bool) {
        if !keep {
            self.b.not(A);
        }
        self.b.combine_word(Word::And, A, m);
        self.b.store(d, A);
    }
}

/// Whether two values share no word.
fn disjoint((a, n): (Reg, u16), (b, m): (Reg, u16)) -> bool {
    u32::from(a) + u32::from(n) <= u32::from(b) || u32::from(b) + u32::from(m) <= u32::from(a)
}
