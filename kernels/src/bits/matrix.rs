//! Relations between finite sets as bit matrices: pair (r, c) is bit `r * cols + c`.
//!
//! In: words and a shape. Out: words. Rows need not begin at a word; a matrix of up to 64 bits is
//! one word, which is what makes small functions cheap to load, test and store.
//! Never here: what rows and columns stand for. Plain twins: `super::reference`.

use super::{extract, fill, get, insert, is_empty, low_mask, put_window, window};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub rows: usize,
    pub cols: usize,
}

impl Shape {
    pub const fn bits(self) -> usize {
        self.rows * self.cols
    }

    pub const fn transposed(self) -> Shape {
        Shape { rows: self.cols, cols: self.rows }
    }
}

/// Calls `with(offset, len, window)` for the pieces, of at most 64 bits, of one row.
#[inline(always)]
fn pieces(m: &[u64], shape: Shape, row: usize, mut with: impl FnMut(usize, usize, u64)) {
    let mut done = 0;
    while done < shape.cols {
        let len = (shape.cols - done).min(64);
        with(done, len, window(m, row * shape.cols + done, len));
        done += len;
    }
}

pub fn row_is_empty(m: &[u64], shape: Shape, row: usize) -> bool {
    let mut empty = true;
    pieces(m, shape, row, |_, _, w| empty &= w == 0);
    empty
}

/// The only column of a row; `None` when it has none or several.
#[inline]
pub fn single(m: &[u64], shape: Shape, row: usize) -> Option<usize> {
    if shape.cols <= 64 {
        let w = window(m, row * shape.cols, shape.cols);
        return (w.is_power_of_two()).then(|| w.trailing_zeros() as usize);
    }
    let mut found = None;
    let mut several = false;
    pieces(m, shape, row, |at, _, w| {
        if w != 0 {
            several |= found.is_some() || !w.is_power_of_two();
            found = Some(at + w.trailing_zeros() as usize);
        }
    });
    if several { None } else { found }
}

/// Makes a row hold one column and nothing else.
#[inline]
pub fn put_single(m: &mut [u64], shape: Shape, row: usize, col: usize) {
    clear_row(m, shape, row);
    insert(m, row * shape.cols + col);
}

pub fn clear_row(m: &mut [u64], shape: Shape, row: usize) {
    let mut done = 0;
    while done < shape.cols {
        let len = (shape.cols - done).min(64);
        put_window(m, row * shape.cols + done, len, 0);
        done += len;
    }
}

pub fn dom(m: &[u64], shape: Shape, out: &mut [u64]) {
    out.fill(0);
    for row in 0..shape.rows {
        if !row_is_empty(m, shape, row) {
            insert(out, row);
        }
    }
}

pub fn ran(m: &[u64], shape: Shape, out: &mut [u64]) {
    out.fill(0);
    for row in 0..shape.rows {
        pieces(m, shape, row, |at, _, w| out[at / 64] |= w);
    }
}

/// Columns related to some row in `set`.
pub fn image(m: &[u64], shape: Shape, set: &[u64], out: &mut [u64]) {
    out.fill(0);
    for row in super::iter(set) {
        pieces(m, shape, row, |at, _, w| out[at / 64] |= w);
    }
}

/// Rows related to some column in `set`.
pub fn preimage(m: &[u64], shape: Shape, set: &[u64], out: &mut [u64]) {
    out.fill(0);
    for row in 0..shape.rows {
        let mut hit = 0;
        pieces(m, shape, row, |at, _, w| hit |= w & set[at / 64]);
        if hit != 0 {
            insert(out, row);
        }
    }
}

// PERF: row by row; finding row and column of each bit by division took a sixth of a check of relations.
pub fn inverse(m: &[u64], shape: Shape, out: &mut [u64]) {
    out.fill(0);
    for row in 0..shape.rows {
        pieces(m, shape, row, |at, _, mut w| {
            while w != 0 {
                let col = at + w.trailing_zeros() as usize;
                insert(out, col * shape.rows + row);
                w &= w - 1;
            }
        });
    }
}

/// `(a;b)`: first `a` (rows × mid), then `b` (mid × cols).
pub fn compose(a: &[u64], left: Shape, b: &[u64], right: Shape, out: &mut [u64]) {
    out.fill(0);
    for row in 0..left.rows {
        pieces(a, left, row, |first, _, mut mids| {
            while mids != 0 {
                let mid = first + mids.trailing_zeros() as usize;
                mids &= mids - 1;
                pieces(b, right, mid, |at, len, w| {
                    let offset = row * right.cols + at;
                    let old = window(out, offset, len);
                    put_window(out, offset, len, old | w);
                });
            }
        });
    }
}

/// Keeps the rows that are in `set`, or those that are not.
pub fn restrict_rows(m: &[u64], shape: Shape, set: &[u64], keep: bool, out: &mut [u64]) {
    out.copy_from_slice(m);
    for row in 0..shape.rows {
        if get(set, row) != keep {
            clear_row(out, shape, row);
        }
    }
}

/// Keeps the columns that are in `set`, or those that are not.
pub fn restrict_cols(m: &[u64], shape: Shape, set: &[u64], keep: bool, out: &mut [u64]) {
    out.copy_from_slice(m);
    for row in 0..shape.rows {
        let mut done = 0;
        while done < shape.cols {
            let len = (shape.cols - done).min(64);
            let mask = if keep { set[done / 64] } else { !set[done / 64] } & low_mask(len);
            let offset = row * shape.cols + done;
            let w = window(out, offset, len);
            put_window(out, offset, len, w & mask);
            done += len;
        }
    }
}

/// `a <+ b`.
pub fn override_with(a: &[u64], b: &[u64], shape: Shape, out: &mut [u64]) {
    out.copy_from_slice(a);
    for row in 0..shape.rows {
        if !row_is_empty(b, shape, row) {
            clear_row(out, shape, row);
        }
    }
    for (o, w) in out.iter_mut().zip(b) {
        *o |= w;
    }
}

/// `rows * cols` of two sets.
pub fn product(rows: &[u64], cols: &[u64], shape: Shape, out: &mut [u64]) {
    out.fill(0);
    for row in super::iter(rows) {
        let mut done = 0;
        while done < shape.cols {
            let len = (shape.cols - done).min(64);
            put_window(out, row * shape.cols + done, len, cols[done / 64] & low_mask(len));
            done += len;
        }
    }
}

/// Each row has at most one column.
pub fn is_functional(m: &[u64], shape: Shape) -> bool {
    (0..shape.rows).all(|row| {
        let mut found = 0;
        pieces(m, shape, row, |_, _, w| found += w.count_ones());
        found <= 1
    })
}

/// Each column occurs in at most one row.
pub fn is_injective(m: &[u64], shape: Shape) -> bool {
    let mut seen = [0u64; 16];
    if shape.cols > 64 * seen.len() {
        return (0..shape.cols)
            .all(|col| (0..shape.rows).filter(|row| get(m, row * shape.cols + col)).count() <= 1);
    }
    for row in 0..shape.rows {
        let mut clash = false;
        pieces(m, shape, row, |at, _, w| {
            clash |= seen[at / 64] & w != 0;
            seen[at / 64] |= w;
        });
        if clash {
            return false;
        }
    }
    true
}

/// The identity on `set`.
pub fn identity(set: &[u64], size: usize, out: &mut [u64]) {
    out.fill(0);
    for bit in super::iter(set) {
        insert(out, bit * size + bit);
    }
}

/// Transitive closure of a square matrix, by rows (Warshall).
pub fn closure1(m: &[u64], size: usize, out: &mut [u64]) {
    let shape = Shape { rows: size, cols: size };
    out.copy_from_slice(m);
    let mut through = vec![0; super::words_for(size)];
    for mid in 0..size {
        extract(out, mid * size, size, &mut through);
        if is_empty(&through) {
            continue;
        }
        for row in 0..size {
            if get(out, row * size + mid) {
                let mut done = 0;
                while done < shape.cols {
                    let len = (shape.cols - done).min(64);
                    let offset = row * size + done;
                    let w = window(out, offset, len) | through[done / 64] & low_mask(len);
                    put_window(out, offset, len, w);
                    done += len;
                }
            }
        }
    }
}

/// All pairs of a shape.
pub fn full(shape: Shape, out: &mut [u64]) {
    fill(out, shape.bits());
}

#[cfg(test)]
mod tests {
    use super::super::{reference as plain, words_for};
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    fn some_bits(seed: &mut u64, bits: usize) -> Vec<u64> {
        let mut set = vec![0; words_for(bits).max(1)];
        let sparse = random(seed).is_multiple_of(2);
        for bit in 0..bits {
            if random(seed).is_multiple_of(if sparse { 7 } else { 2 }) {
                insert(&mut set, bit);
            }
        }
        set
    }

    #[test]
    fn every_matrix_kernel_equals_its_plain_twin() {
        let mut seed = 3;
        for _ in 0..3000 {
            let (rows, mid, cols) = (
                1 + (random(&mut seed) % 9) as usize,
                1 + (random(&mut seed) % 9) as usize,
                1 + (random(&mut seed) % if random(&mut seed).is_multiple_of(9) { 90 } else { 9 }) as usize,
            );
            let (ab, bc, ac) = (Shape { rows, cols: mid }, Shape { rows: mid, cols }, Shape { rows, cols });
            let (a, b, c) = (
                some_bits(&mut seed, ab.bits()),
                some_bits(&mut seed, bc.bits()),
                some_bits(&mut seed, ac.bits()),
            );
            let (c2, s, t) =
                (some_bits(&mut seed, ac.bits()), some_bits(&mut seed, rows), some_bits(&mut seed, cols));
            let (pc, ps, pt) = (plain::pairs(&c, ac), plain::elements(&s), plain::elements(&t));
            let mut out = vec![0; words_for(ac.bits())];
            compose(&a, ab, &b, bc, &mut out);
            assert_eq!(plain::pairs(&out, ac), plain::compose(&plain::pairs(&a, ab), &plain::pairs(&b, bc)));
            let mut small = vec![0; words_for(rows)];
            dom(&c, ac, &mut small);
            assert_eq!(plain::elements(&small), plain::dom(&pc));
            let mut wide = vec![0; words_for(cols)];
            ran(&c, ac, &mut wide);
            assert_eq!(plain::elements(&wide), plain::ran(&pc));
            image(&c, ac, &s, &mut wide);
            assert_eq!(plain::elements(&wide), plain::image(&pc, &ps));
            preimage(&c, ac, &t, &mut small);
            assert_eq!(plain::elements(&small), plain::image(&plain::inverse(&pc), &pt));
            let mut turned = vec![0; words_for(ac.bits())];
            inverse(&c, ac, &mut turned);
            assert_eq!(plain::pairs(&turned, ac.transposed()), plain::inverse(&pc));
            for keep in [true, false] {
                restrict_rows(&c, ac, &s, keep, &mut out);
                assert_eq!(plain::pairs(&out, ac), plain::restrict(&pc, |p| ps.contains(&p.0) == keep));
                restrict_cols(&c, ac, &t, keep, &mut out);
                assert_eq!(plain::pairs(&out, ac), plain::restrict(&pc, |p| pt.contains(&p.1) == keep));
            }
            override_with(&c, &c2, ac, &mut out);
            assert_eq!(plain::pairs(&out, ac), plain::override_with(&pc, &plain::pairs(&c2, ac)));
            product(&s, &t, ac, &mut out);
            assert_eq!(plain::pairs(&out, ac), plain::product(&ps, &pt));
            assert_eq!(is_functional(&c, ac), plain::is_functional(&pc));
            assert_eq!(is_injective(&c, ac), plain::is_functional(&plain::inverse(&pc)));
            for row in 0..rows {
                let of: Vec<usize> = pc.iter().filter(|p| p.0 == row).map(|p| p.1).collect();
                assert_eq!(single(&c, ac, row), if of.len() == 1 { Some(of[0]) } else { None });
            }
            let square = Shape { rows, cols: rows };
            let q = some_bits(&mut seed, square.bits());
            let mut out = vec![0; words_for(square.bits())];
            closure1(&q, rows, &mut out);
            assert_eq!(plain::pairs(&out, square), plain::closure1(&plain::pairs(&q, square)));
            identity(&s, rows, &mut out);
            assert_eq!(plain::pairs(&out, square), ps.iter().map(|e| (*e, *e)).collect());
        }
    }
}
