//! Steps for operations on arrays whose cells are in one word.
//!
//! In: an operation on arrays that `bulk` does for arrays of any size. Out: its steps, if the array is small. The result
//! grows in `A`, a cell is in `C`, `D` is lost.

use super::relations::{ROWS, ones};
use super::*;
use bombus_kernels::bits::low_mask;

/// Whether the cells can be looked at one by one, and their contents be bits of a word.
fn is_small(c: Cells, cols: u16) -> bool {
    has_few(c) && cols < 64
}

fn has_few(c: Cells) -> bool {
    one_word(c) && (1..=ROWS).contains(&c.rows)
}

fn shift(c: Cells, row: u16) -> usize {
    usize::from(row) * usize::from(c.width)
}

impl Translation<'_> {
    /// The steps of an operation; false if it has none here.
    pub(super) fn array(&mut self, op: &Op) -> bool {
        match *op {
            Op::Present { d, t, c } if has_few(c) => {
                self.b.set(A, if c.base == 0 { low_mask(c.rows.into()) as i64 } else { 0 });
                if c.base > 0 {
                    self.cells_down(t, c, |s| s.b.negate(C));
                }
                self.b.store(d, A);
            }
            Op::CellValues { d, t, cols, c } if is_small(c, cols) => {
                self.b.set(A, 0);
                self.each_cell(t, c, |s, _| s.b.set_bit(A, C));
                // A row without a value has left the bit below those of the values.
                self.b.shift_right(A, c.base);
                self.b.store(d, A);
            }
            Op::CellImage { d, t, s, cols, c } if is_small(c, cols) => {
                self.b.load(E, s);
                self.b.set(A, 0);
                self.each_cell(t, c, |s, row| {
                    // As in a partial array, so that 0 can say that the row is not asked for.
                    s.b.combine_number(Word::Add, C, 1 - i32::from(c.base));
                    s.b.test_bit_number(E, row as u8);
                    s.b.spread(D);
                    s.b.combine(Word::And, C, D);
                    s.b.set_bit(A, C);
                });
                self.b.shift_right(A, 1);
                self.b.store(d, A);
            }
            Op::CellPreimage { d, t, s, cols, c } if is_small(c, cols) => {
                self.b.load(E, s);
                self.b.shift_left(E, c.base);
                self.b.set(A, 0);
                self.cells_down(t, c, |s| s.b.test_bit(E, C));
                self.b.store(d, A);
            }
            Op::RestrictCells { d, t, s, c, keep } if has_few(c) && c.base == 1 => {
                self.some_rows(s, c.rows, c.width.into());
                self.keep(d, t, keep);
            }
            Op::RestrictCellValues { d, t, s, cols, c, keep } if is_small(c, cols) && c.base == 1 => {
                self.b.load(E, s);
                self.b.shift_left(E, 1);
                self.b.set(A, 0);
                self.each_cell(t, c, |s, row| {
                    s.b.test_bit(E, C);
                    s.b.spread(C);
                    s.place(C, shift(c, row), c.width.into());
                });
                self.keep(d, t, keep);
            }
            Op::CellsToMatrix { d, t, cols, c } if is_small(c, cols) => {
                self.matrix_of_cells(d, t, cols.into(), c)
            }
            Op::MatrixToCells { d, m, cols, c } if is_small(c, cols) && cols > 0 => {
                self.cells_of_matrix(d, m, cols.into(), c);
            }
            Op::Recode { d, t, from, to } if has_few(from) && has_few(to) && from.rows == to.rows => {
                self.recode(d, t, from, to);
            }
            Op::OverrideCells { d, a, b, c } if one_word(c) && c.base == 1 && c.rows > 0 => {
                self.filled(b, c);
                // From the highest bit of each cell that holds something to the whole of it.
                self.b.copy(C, A);
                self.b.shift_right(C, c.width - 1);
                self.b.copy(D, A);
                self.b.combine(Word::Sub, D, C);
                self.b.combine(Word::Or, A, D);
                self.b.not(A);
                self.b.combine_word(Word::And, A, a);
                self.b.combine_word(Word::Or, A, b);
                self.b.store(d, A);
            }
            Op::JumpCellsNotInjective { t, cols, c, l } if is_small(c, cols) => {
                self.b.set(A, 0);
                self.each_cell(t, c, |s, _| {
                    s.b.test_bit(A, C);
                    s.b.jump_if(Below, Label(l));
                    s.b.set_bit(A, C);
                    if c.base > 0 {
                        s.b.clear_bit_number(A, 0);
                    }
                });
            }
            Op::Length { d, t, c, l } if one_word(c) && c.base == 1 && c.rows > 0 => {
                self.filled(t, c);
                // Where a cell holds something, so does the one below it.
                self.b.copy(C, A);
                self.b.shift_right(C, c.width);
                self.b.copy(D, A);
                self.b.not(D);
                self.b.combine(Word::And, C, D);
                self.b.jump_if(NotEqual, Label(l));
                self.b.count_of(A, A);
                self.b.store(d, A);
            }
            Op::Slide { d, t, k, c } if one_word(c) && c.base == 1 && c.rows > 0 => self.slide(d, t, k, c),
            _ => return false,
        }
        true
    }

    /// The content of a cell in `C`.
    fn load_cell(&mut self, t: Reg, c: Cells, row: u16) {
        self.b.load(C, t);
        self.b.shift_right(C, shift(c, row) as u8);
        self.b.combine_number(Word::And, C, c.mask() as i32);
    }

    fn each_cell(&mut self, t: Reg, c: Cells, mut with: impl FnMut(&mut Self, u16)) {
        for row in 0..c.rows {
            self.load_cell(t, c, row);
            with(self, row);
        }
    }

    /// In `A`, the rows for which `test` says `Below`.
    fn cells_down(&mut self, t: Reg, c: Cells, test: impl Fn(&mut Self)) {
        for row in (0..c.rows).rev() {
            self.load_cell(t, c, row);
            test(self);
            self.b.append(A);
        }
    }

    /// In `A`, the highest bit of each cell that is not zero; `C` and `D` are lost.
    fn filled(&mut self, t: Reg, c: Cells) {
        let high = ones(c.rows, c.width.into()) << (c.width - 1);
        let low = low_mask(usize::from(c.rows) * usize::from(c.width)) & !high;
        // Adding `low` carries into the highest bit of a cell unless the others are zero, and never beyond it.
        self.b.load(A, t);
        self.b.copy(C, A);
        self.b.set(D, low as i64);
        self.b.combine(Word::And, A, D);
        self.b.combine(Word::Add, A, D);
        self.b.combine(Word::Or, A, C);
        self.b.set(D, high as i64);
        self.b.combine(Word::And, A, D);
    }

    fn matrix_of_cells(&mut self, d: Reg, t: Reg, cols: usize, c: Cells) {
        self.b.set(A, 0);
        let last = (usize::from(c.rows) * cols).div_ceil(64).max(1) - 1;
        self.each_cell(t, c, |s, row| {
            s.b.set(D, 0);
            s.b.set_bit(D, C);
            s.b.shift_right(D, c.base);
            let (at, from) = (usize::from(row) * cols / 64, usize::from(row) * cols % 64);
            s.b.copy(E, D);
            s.b.shift_left(E, from as u8);
            s.b.combine(Word::Or, A, E);
            if from + cols >= 64 && at < last {
                // This word is full: the rest of the row begins the next one.
                s.b.store(word(d, at as u16), A);
                if from + cols > 64 {
                    s.b.copy(A, D);
                    s.b.shift_right(A, (64 - from) as u8);
                } else {
                    s.b.set(A, 0);
                }
            }
        });
        self.b.store(word(d, last as u16), A);
    }

    fn cells_of_matrix(&mut self, d: Reg, m: Reg, cols: usize, c: Cells) {
        self.b.set(A, 0);
        for row in 0..c.rows {
            self.bits(C, m, usize::from(row) * cols, cols, D);
            self.unless_single(self.misfit);
            if c.base > 0 {
                // Bit n becomes n + 1, and nothing 0.
                self.b.combine(Word::Add, C, C);
                self.b.set_bit_number(C, 0);
                self.b.highest(C, C);
            } else {
                self.b.test(C);
                self.b.jump_if(Equal, self.misfit);
                self.b.lowest(C, C);
            }
            self.b.shift_left(C, shift(c, row) as u8);
            self.b.combine(Word::Or, A, C);
        }
        self.b.store(d, A);
    }

    fn recode(&mut self, d: Reg, t: Reg, from: Cells, to: Cells) {
        self.b.set(A, 0);
        if from.width == to.width && from.base <= to.base {
            let more = if from.base < to.base { ones(to.rows, to.width.into()) } else { 0 };
            self.b.set(A, more as i64);
            self.b.combine_word(Word::Add, A, t);
        } else {
            self.each_cell(t, from, |s, row| {
                if from.base < to.base {
                    s.b.combine_number(Word::Add, C, 1);
                } else if from.base > to.base {
                    s.b.combine_number(Word::Sub, C, 1);
                    s.b.jump_if(Below, s.misfit);
                }
                s.b.shift_left(C, shift(to, row) as u8);
                s.b.combine(Word::Or, A, C);
            });
        }
        self.b.store(d, A);
    }

    fn slide(&mut self, d: Reg, t: Reg, k: Reg, c: Cells) {
        let (back, nothing, done) = (self.b.label(), self.b.label(), self.b.label());
        self.b.load(A, t);
        self.b.load(C, k);
        self.b.test(A);
        self.b.jump_if(Equal, done);
        self.b.test(C);
        self.b.jump_if(Negative, back);
        // Down: what leaves the end is a misfit.
        self.b.combine_number(Word::Cmp, C, i32::from(c.rows));
        self.b.jump_if(NotBelow, self.misfit);
        self.b.multiply_number(C, i32::from(c.width));
        self.b.copy(D, A);
        self.b.shift_left_c(D);
        self.b.copy(E, D);
        self.b.shift_right_c(E);
        self.b.combine(Word::Cmp, E, A);
        self.b.jump_if(NotEqual, self.misfit);
        let bits = usize::from(c.rows) * usize::from(c.width);
        if bits < 64 {
            self.b.copy(E, D);
            self.b.shift_right(E, bits as u8);
            self.b.test(E);
            self.b.jump_if(NotEqual, self.misfit);
        }
        self.b.copy(A, D);
        self.b.jump(done);
        self.b.bind(back);
        self.b.negate(C);
        self.b.combine_number(Word::Cmp, C, i32::from(c.rows));
        self.b.jump_if(NotBelow, nothing);
        self.b.multiply_number(C, i32::from(c.width));
        self.b.shift_right_c(A);
        self.b.jump(done);
        self.b.bind(nothing);
        self.b.set(A, 0);
        self.b.bind(done);
        self.b.store(d, A);
    }
}
