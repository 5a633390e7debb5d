//! Functions between finite sets as arrays of cells: cell `r` holds what row `r` is mapped to.
//!
//! In: words and a shape. Out: words. A cell never straddles words, so reading or writing one is a
//! shift and a mask; a function from 12 rows to 3 values is 24 bits of one word. In a partial array
//! 0 says that the row has no value and `c + 1` stands for value `c`; in a total one `c` stands for
//! itself. Bits that belong to no cell are zero, so equal functions have equal words.
//! Never here: what rows and values stand for. Tests compare with lists of optional values.

use super::{get, insert, iter, low_mask};

/// How an array of cells is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cells {
    pub rows: u16,
    /// Bits of a cell, 1 to 16.
    pub width: u8,
    /// What is added to a value: 1 in a partial array, 0 in a total one.
    pub base: u8,
}

/// Cells in a word, by their width.
const PER_WORD: [u8; 65] = {
    let mut table = [0; 65];
    let mut width = 1;
    while width <= 64 {
        table[width] = (64 / width) as u8;
        width += 1;
    }
    table
};

impl Cells {
    /// The narrowest cells for `values` values.
    pub const fn new(rows: u16, values: usize, total: bool) -> Cells {
        let most = if total { values.saturating_sub(1) } else { values };
        let width = (usize::BITS - most.leading_zeros()) as u8;
        Cells { rows, width: if width == 0 { 1 } else { width }, base: !total as u8 }
    }

    #[inline(always)]
    pub const fn per_word(self) -> usize {
        PER_WORD[self.width as usize] as usize
    }

    #[inline(always)]
    pub const fn words(self) -> usize {
        let n = (self.rows as usize).div_ceil(self.per_word());
        if n == 0 { 1 } else { n }
    }

    /// Word and shift of a row.
    #[inline(always)]
    pub fn place(self, row: usize) -> (usize, u32) {
        // Most arrays are one word.
        if self.rows as usize * self.width as usize <= 64 {
            (0, row as u32 * u32::from(self.width))
        } else {
            let per = self.per_word() as u32;
            ((row as u32 / per) as usize, row as u32 % per * u32::from(self.width))
        }
    }

    #[inline(always)]
    pub const fn mask(self) -> u64 {
        low_mask(self.width as usize)
    }

    /// A one in every cell of a full word.
    const fn ones(self) -> u64 {
        low_mask(self.per_word() * self.width as usize) / self.mask()
    }

    /// The bits of the cells in a word of a partial array that have a value: all cells are asked at once.
    #[inline(always)]
    const fn filled(self, word: u64) -> u64 {
        let top = self.ones() << (self.width - 1);
        let rest = top - self.ones();
        // A cell whose bits below the top one are not all zero carries into the top one.
        let some = (((word & rest) + rest) | word) & top;
        (some >> (self.width - 1)) * self.mask()
    }

    /// The value of a row.
    #[inline(always)]
    pub fn value(self, cells: &[u64], row: usize) -> Option<u64> {
        let (at, shift) = self.place(row);
        (cells[at] >> shift & self.mask()).checked_sub(u64::from(self.base))
    }

    #[inline(always)]
    pub fn put(self, cells: &mut [u64], row: usize, value: u64) {
        let (at, shift) = self.place(row);
        cells[at] = cells[at] & !(self.mask() << shift) | (value + u64::from(self.base)) << shift;
    }

    /// Takes the value of a row away; only in a partial array.
    #[inline(always)]
    pub fn clear(self, cells: &mut [u64], row: usize) {
        debug_assert!(self.base == 1);
        let (at, shift) = self.place(row);
        cells[at] &= !(self.mask() << shift);
    }

    /// Calls `with(row, value)` for every row that has a value, in order.
    #[inline(always)]
    pub fn each(self, cells: &[u64], mut with: impl FnMut(usize, u64)) {
        let mut row = 0;
        let rows = self.rows as usize;
        for word in &cells[..self.words()] {
            let mut word = *word;
            for _ in 0..self.per_word().min(rows - row) {
                if let Some(value) = (word & self.mask()).checked_sub(u64::from(self.base)) {
                    with(row, value);
                }
                word >>= self.width;
                row += 1;
            }
        }
    }
}

/// The rows that have a value.
pub fn present(cells: &[u64], shape: Cells, out: &mut [u64]) {
    if shape.base == 0 {
        return super::fill(out, shape.rows as usize);
    }
    out.fill(0);
    let (per, mut row) = (shape.per_word(), 0);
    for word in &cells[..shape.words()] {
        let here = per.min(shape.rows as usize - row);
        // PERF: most arrays are full, and most words of the others too.
        if shape.filled(*word) == low_mask(here * shape.width as usize) {
            super::put_window(out, row, here, low_mask(here));
        } else {
            (0..here)
                .filter(|k| word >> (k * shape.width as usize) & shape.mask() != 0)
                .for_each(|k| insert(out, row + k));
        }
        row += here;
    }
}

/// The values that occur.
pub fn values(cells: &[u64], shape: Cells, out: &mut [u64]) {
    out.fill(0);
    shape.each(cells, |_, value| insert(out, value as usize));
}

/// The values of the rows in `set`.
pub fn image(cells: &[u64], shape: Cells, set: &[u64], out: &mut [u64]) {
    out.fill(0);
    for row in super::iter(set) {
        if let Some(value) = shape.value(cells, row) {
            insert(out, value as usize);
        }
    }
}

/// The bit matrix of the same function.
pub fn to_matrix(cells: &[u64], shape: Cells, cols: usize, out: &mut [u64]) {
    out.fill(0);
    shape.each(cells, |row, value| insert(out, row * cols + value as usize));
}

/// The function that a bit matrix is; false when it is none, or not a total one where that is asked.
pub fn of_matrix(m: &[u64], cols: usize, shape: Cells, out: &mut [u64]) -> bool {
    out.fill(0);
    let mut rows = 0;
    for row in 0..shape.rows as usize {
        let (mut value, mut done) = (None, 0);
        while done < cols {
            let len = (cols - done).min(64);
            let w = super::window(m, row * cols + done, len);
            if w != 0 {
                if value.is_some() || !w.is_power_of_two() {
                    return false;
                }
                value = Some((done as u32 + w.trailing_zeros()) as u64);
            }
            done += len;
        }
        if let Some(value) = value {
            rows += 1;
            shape.put(out, row, value);
        }
    }
    shape.base == 1 || rows == shape.rows
}

/// The same function in cells of another shape; false when a row of a total array gets no value.
pub fn recode(cells: &[u64], from: Cells, to: Cells, out: &mut [u64]) -> bool {
    if (from.width, from.base, to.base) == (to.width, 0, 1) {
        // All cells of a word grow by one at a time; a value has room for that, or the width would differ.
        let mut left = to.rows as usize;
        for (out, word) in out[..to.words()].iter_mut().zip(cells) {
            let here = left.min(to.per_word());
            *out = word + (to.ones() & low_mask(here * to.width as usize));
            left -= here;
        }
        return true;
    }
    if (from.width, from.base, to.base) == (to.width, 1, 0) {
        let (mut left, mut full) = (to.rows as usize, true);
        for (out, word) in out[..to.words()].iter_mut().zip(cells) {
            let here = left.min(to.per_word());
            let cells = low_mask(here * to.width as usize);
            full &= from.filled(*word) == cells;
            // A row without a value has none to be written; nobody looks at the others then.
            *out = word.wrapping_sub(to.ones() & cells) & cells;
            left -= here;
        }
        return full;
    }
    out.fill(0);
    let mut rows = 0;
    from.each(cells, |row, value| {
        rows += 1;
        to.put(out, row, value);
    });
    to.base == 1 || rows == to.rows
}

/// Whether no value occurs twice; `seen` is scratch.
pub fn is_injective(cells: &[u64], shape: Cells, seen: &mut [u64]) -> bool {
    seen.fill(0);
    let mut twice = false;
    shape.each(cells, |_, value| {
        twice |= get(seen, value as usize);
        insert(seen, value as usize);
    });
    !twice
}

/// Keeps the rows in `set`, or those outside. Partial arrays only.
pub fn restrict_rows(cells: &[u64], shape: Cells, set: &[u64], keep: bool, out: &mut [u64]) {
    let rows = iter(set).take_while(|row| *row < shape.rows as usize);
    if keep {
        out.fill(0);
        for row in rows {
            let (at, shift) = shape.place(row);
            out[at] |= cells[at] & shape.mask() << shift;
        }
    } else {
        out.copy_from_slice(&cells[..out.len()]);
        rows.for_each(|row| shape.clear(out, row));
    }
}

/// Keeps the rows whose value is in `set`, or the others. Partial arrays only.
pub fn restrict_values(cells: &[u64], shape: Cells, set: &[u64], keep: bool, out: &mut [u64]) {
    out.fill(0);
    shape.each(cells, |row, value| {
        if get(set, value as usize) == keep {
            shape.put(out, row, value);
        }
    });
}

/// Writes the values of `with` over those in `out`.
pub fn override_with(out: &mut [u64], with: &[u64], shape: Cells) {
    let words = shape.words();
    if shape.base == 0 {
        return out[..words].copy_from_slice(&with[..words]);
    }
    for (out, with) in out[..words].iter_mut().zip(with) {
        *out = *out & !shape.filled(*with) | with;
    }
}

/// Adds the values of `with` to the partial array `out`; whether the two agree on the rows they share.
pub fn unite(out: &mut [u64], with: &[u64], shape: Cells) -> bool {
    debug_assert!(shape.base == 1);
    let mut differ = 0;
    for (out, with) in out[..shape.words()].iter_mut().zip(with) {
        let written = shape.filled(*with);
        differ |= (*out ^ with) & written & shape.filled(*out);
        *out = *out & !written | with;
    }
    differ == 0
}

/// The rows of a partial array as the length of a sequence: rows `0..n` have values, the others none.
pub fn length(cells: &[u64], shape: Cells) -> Option<usize> {
    let (mut n, mut dense) = (0, true);
    shape.each(cells, |row, _| {
        dense &= row == n;
        n += 1;
    });
    dense.then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    fn list(cells: &[u64], shape: Cells) -> Vec<Option<u64>> {
        (0..shape.rows as usize).map(|r| shape.value(cells, r)).collect()
    }

    #[test]
    fn every_kernel_equals_the_list_of_optional_values() {
        let mut seed = 7;
        for round in 0..3000 {
            let rows = 1 + (random(&mut seed) % 40) as u16;
            let cols = 1 + (random(&mut seed) % 20) as usize;
            let total = round % 3 == 0;
            let shape = Cells::new(rows, cols, total);
            let plain: Vec<Option<u64>> = (0..rows)
                .map(|_| {
                    let v = random(&mut seed);
                    (total || v >> 20 & 3 != 0).then_some(v % cols as u64)
                })
                .collect();
            let mut cells = vec![0; shape.words()];
            for (r, v) in plain.iter().enumerate() {
                if let Some(v) = v {
                    shape.put(&mut cells, r, *v);
                }
            }
            assert_eq!(list(&cells, shape), plain);
            let mut set = vec![0u64; 1];
            (0..rows.min(64)).for_each(|r| {
                if random(&mut seed) & 1 == 1 {
                    insert(&mut set, r as usize);
                }
            });
            let mut rows_out = vec![0; 1];
            present(&cells, shape, &mut rows_out);
            let mut cols_out = vec![0; 1];
            values(&cells, shape, &mut cols_out);
            let mut image_out = vec![0; 1];
            image(&cells, shape, &set, &mut image_out);
            for (r, value) in plain.iter().enumerate() {
                assert_eq!(get(&rows_out, r), value.is_some());
            }
            for c in 0..cols {
                assert_eq!(get(&cols_out, c), plain.contains(&Some(c as u64)));
                let hit = (0..rows as usize).any(|r| get(&set, r) && plain[r] == Some(c as u64));
                assert_eq!(get(&image_out, c), hit);
            }
            let mut m = vec![0; (rows as usize * cols).div_ceil(64)];
            to_matrix(&cells, shape, cols, &mut m);
            let mut back = vec![0; shape.words()];
            assert!(of_matrix(&m, cols, shape, &mut back));
            assert_eq!(back, cells);
            let partial = Cells::new(rows, cols, false);
            let mut wide = vec![0; partial.words()];
            assert!(recode(&cells, shape, partial, &mut wide));
            assert_eq!(list(&wide, partial), plain);
            let mut narrow = vec![0; Cells::new(rows, cols, true).words()];
            let all = plain.iter().all(Option::is_some);
            assert_eq!(recode(&wide, partial, Cells::new(rows, cols, true), &mut narrow), all);
            let mut over = vec![0; shape.words()];
            override_with(&mut over, &cells, shape);
            assert_eq!(list(&over, shape), plain);
            let mut kept = vec![0; partial.words()];
            for keep in [true, false] {
                restrict_rows(&wide, partial, &set, keep, &mut kept);
                for (r, v) in list(&kept, partial).iter().enumerate() {
                    assert_eq!(*v, plain[r].filter(|_| get(&set, r) == keep));
                }
                restrict_values(&wide, partial, &set, keep, &mut kept);
                for (r, v) in list(&kept, partial).iter().enumerate() {
                    assert_eq!(*v, plain[r].filter(|v| get(&set, *v as usize) == keep));
                }
            }
            let other: Vec<Option<u64>> = (0..rows as usize)
                .map(|r| match random(&mut seed) >> 20 & 7 {
                    0..4 => None,
                    7 => Some(random(&mut seed) % cols as u64),
                    _ => plain[r],
                })
                .collect();
            let (mut with, mut both) = (vec![0; partial.words()], wide.clone());
            other.iter().enumerate().for_each(|(r, v)| v.iter().for_each(|v| partial.put(&mut with, r, *v)));
            let agree = plain.iter().zip(&other).all(|(a, b)| a.is_none() || b.is_none() || a == b);
            let mut over = wide.clone();
            override_with(&mut over, &with, partial);
            let later: Vec<Option<u64>> = plain.iter().zip(&other).map(|(a, b)| b.or(*a)).collect();
            assert_eq!(list(&over, partial), later);
            assert_eq!(unite(&mut both, &with, partial), agree);
            if agree {
                let union: Vec<Option<u64>> = plain.iter().zip(&other).map(|(a, b)| a.or(*b)).collect();
                assert_eq!(list(&both, partial), union);
            }
            let mut seen = vec![0; 1];
            let some: Vec<u64> = plain.iter().flatten().copied().collect();
            let distinct = some.iter().collect::<std::collections::BTreeSet<_>>().len();
            assert_eq!(is_injective(&cells, shape, &mut seen), distinct == some.len());
            let dense = plain.iter().position(Option::is_none).unwrap_or(rows as usize);
            let is_sequence = plain[dense..].iter().all(Option::is_none);
            assert_eq!(length(&cells, shape), is_sequence.then_some(dense));
        }
    }

    #[test]
    fn a_matrix_with_two_values_in_a_row_is_no_array() {
        let shape = Cells::new(2, 3, false);
        let mut out = [0];
        assert!(!of_matrix(&[0b011_000], 3, shape, &mut out));
        assert!(of_matrix(&[0b010_000], 3, shape, &mut out));
        assert!(!of_matrix(&[0b010_000], 3, Cells::new(2, 3, true), &mut out), "row 0 has no value");
    }
}
