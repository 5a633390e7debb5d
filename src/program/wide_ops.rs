//! Operations on many words: relations, tables, arrays, conversions.
//!
//! In: one operation and the registers. Out: the registers it writes, and where control goes on.
//! Never here: dispatch, the host. Apart from the main loop, whose registers they would take.

use crate::exec::{MAX_WORDS, Regs, at, int, slice};
use crate::ir::{Code, DROPPED, NOWHERE, Op, Reg};
use bombus_kernels::bits::{self, cells, matrix, matrix::Shape};

/// Where control goes after an operation.
pub(crate) enum Step {
    Go,
    To(u32),
    Misfit,
}

/// A copy of a bit-set, so that a kernel may write where it reads.
#[inline(always)]
fn load(f: &Regs, r: Reg, n: usize) -> [u64; MAX_WORDS] {
    let mut out = [0; MAX_WORDS];
    out[..n].copy_from_slice(slice(f, r, n));
    out
}

/// Where an operation writes, and what it reads: a value is never written over one it is made from.
#[inline(always)]
fn apart(f: &mut Regs, d: Reg, n: usize, a: Reg, m: usize) -> (&mut [u64], &[u64]) {
    let (out, a, _) = apart3(f, (d, n), (a, m), (a, m));
    (out, a)
}

/// The same with two values that are read; equal constants may share their registers.
#[inline(always)]
fn apart3(f: &mut Regs, d: (Reg, usize), a: (Reg, usize), b: (Reg, usize)) -> (&mut [u64], &[u64], &[u64]) {
    let (at, n) = (d.0 as usize, d.1);
    let (below, rest) = f.split_at_mut(at);
    let (out, above) = rest.split_at_mut(n);
    let (below, above) = (&*below, &*above);
    let read = |(r, m): (Reg, usize)| {
        let r = r as usize;
        if r < at { &below[r..r + m] } else { &above[r - at - n..r - at - n + m] }
    };
    (out, read(a), read(b))
}

fn shape(rows: u16, cols: u16) -> Shape {
    Shape { rows: rows as usize, cols: cols as usize }
}

fn words(bits: usize) -> usize {
    bits::words_for(bits).max(1)
}

fn subset(f: &Regs, a: Reg, b: Reg, n: u16) -> bool {
    slice(f, a, n as usize).iter().zip(slice(f, b, n as usize)).all(|(x, y)| x & !y == 0)
}

fn each_word(f: &mut Regs, d: Reg, a: Reg, b: Reg, n: u16, op: impl Fn(u64, u64) -> u64) {
    for i in 0..n {
        f[at(d, i)] = op(f[at(a, i)], f[at(b, i)]);
    }
}

/// Carries out one operation that `exec` leaves to us.
#[inline(never)]
pub(crate) fn step(op: &Op, f: &mut Regs, code: &Code) -> Step {
    macro_rules! jump_if {
        ($cond:expr, $l:expr) => {
            if $cond {
                return Step::To($l);
            }
        };
    }
    macro_rules! exact {
        ($d:expr, $value:expr) => {
            match $value {
                Some(v) => f[$d as usize] = v as u64,
                None => return Step::Misfit,
            }
        };
    }
    match *op {
        Op::Row { d, m, r, rows, cols } => {
            let (n, w) = (words(rows as usize * cols as usize), words(cols as usize));
            let row = f[r as usize] as usize;
            if n == 1 {
                f[d as usize] = f[m as usize] >> (row * cols as usize) & bits::low_mask(cols as usize);
            } else {
                let from = load(f, m, n);
                bits::extract(
                    &from[..n],
                    row * cols as usize,
                    cols as usize,
                    &mut f[d as usize..d as usize + w],
                );
            }
        }
        Op::Single { d, m, r, rows, cols, l } => {
            let row = f[r as usize] as usize;
            let n = words(rows as usize * cols as usize);
            if n == 1 {
                let w = f[m as usize] >> (row * cols as usize) & bits::low_mask(cols as usize);
                if w.is_power_of_two() {
                    f[d as usize] = u64::from(w.trailing_zeros());
                } else {
                    return Step::To(l);
                }
            } else {
                match matrix::single(slice(f, m, n), shape(rows, cols), row) {
                    Some(col) => f[d as usize] = col as u64,
                    None => return Step::To(l),
                }
            }
        }
        Op::PutSingle { d, r, c, rows, cols } => {
            let (row, col) = (f[r as usize] as usize, f[c as usize] as usize);
            let n = words(rows as usize * cols as usize);
            if n == 1 {
                let at = row * cols as usize;
                f[d as usize] = f[d as usize] & !(bits::low_mask(cols as usize) << at) | 1 << (at + col);
            } else {
                matrix::put_single(&mut f[d as usize..d as usize + n], shape(rows, cols), row, col);
            }
        }
        Op::Div { d, a, b, l } => {
            if f[b as usize] == 0 {
                return Step::To(l);
            } else {
                exact!(d, int(f, a).checked_div(int(f, b)));
            }
        }
        Op::Power { d, a, b, l } => {
            let (x, y) = (int(f, a), int(f, b));
            if y < 0 {
                return Step::To(l);
            } else {
                exact!(d, u32::try_from(y).ok().and_then(|y| x.checked_pow(y)));
            }
        }
        Op::Min { d, a, b } => f[d as usize] = int(f, a).min(int(f, b)) as u64,
        Op::Max { d, a, b } => f[d as usize] = int(f, a).max(int(f, b)) as u64,
        Op::Least { d, a, n, l } => match bits::first(slice(f, a, n as usize)) {
            Some(bit) => f[d as usize] = bit as u64,
            None => return Step::To(l),
        },
        Op::Greatest { d, a, n, l } => match bits::last(slice(f, a, n as usize)) {
            Some(bit) => f[d as usize] = bit as u64,
            None => return Step::To(l),
        },
        Op::NextSubset { d, a, n, l } => {
            let mut cursor = load(f, d, n as usize);
            let more = bits::next_subset(&mut cursor[..n as usize], slice(f, a, n as usize));
            f[d as usize..d as usize + n as usize].copy_from_slice(&cursor[..n as usize]);
            jump_if!(!more, l);
        }
        Op::Interval { d, a, b, lo, bits: size, clip } => {
            let n = words(size as usize);
            let (mut from, mut to) = (int(f, a), int(f, b));
            if clip {
                from = from.max(i64::from(lo));
                to = to.min(i64::from(lo) + i64::from(size) - 1);
            }
            let out = &mut f[d as usize..d as usize + n];
            out.fill(0);
            if from <= to {
                let (from, to) = (from.wrapping_sub(i64::from(lo)), to.wrapping_sub(i64::from(lo)));
                if from < 0 || to >= i64::from(size) || to < from {
                    return Step::Misfit;
                }
                for bit in from..=to {
                    bits::insert(out, bit as usize);
                }
            }
        }
        Op::Remap { d, a, n, m, table } => {
            let from = load(f, a, n as usize);
            let table = &code.tables[table as usize];
            let out = &mut f[d as usize..d as usize + m as usize];
            out.fill(0);
            for bit in bits::iter(&from[..n as usize]) {
                match table[bit] {
                    NOWHERE => return Step::Misfit,
                    DROPPED => {}
                    to => bits::insert(out, to as usize),
                }
            }
        }
        Op::PutRow { d, r, s, rows, cols } => {
            let row = f[r as usize] as usize;
            let n = words(rows as usize * cols as usize);
            let set = load(f, s, words(cols as usize));
            bits::deposit(&mut f[d as usize..d as usize + n], row * cols as usize, cols as usize, &set);
        }
        Op::Dom { d, m, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let from = load(f, m, n);
            let w = words(rows as usize);
            matrix::dom(&from[..n], shape(rows, cols), &mut f[d as usize..d as usize + w]);
        }
        Op::Ran { d, m, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let from = load(f, m, n);
            let w = words(cols as usize);
            matrix::ran(&from[..n], shape(rows, cols), &mut f[d as usize..d as usize + w]);
        }
        Op::Image { d, m, s, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let (from, set) = (load(f, m, n), load(f, s, words(rows as usize)));
            let w = words(cols as usize);
            matrix::image(
                &from[..n],
                shape(rows, cols),
                &set[..words(rows as usize)],
                &mut f[d as usize..d as usize + w],
            );
        }
        Op::Preimage { d, m, s, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let (r, c) = (words(rows as usize), words(cols as usize));
            let (out, from, set) = apart3(f, (d, r), (m, n), (s, c));
            matrix::preimage(from, shape(rows, cols), set, out);
        }
        Op::Inverse { d, m, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let from = load(f, m, n);
            matrix::inverse(&from[..n], shape(rows, cols), &mut f[d as usize..d as usize + n]);
        }
        Op::Compose { d, a, b, rows, mid, cols } => {
            let (na, nb) = (words(rows as usize * mid as usize), words(mid as usize * cols as usize));
            let (x, y) = (load(f, a, na), load(f, b, nb));
            let n = words(rows as usize * cols as usize);
            matrix::compose(
                &x[..na],
                shape(rows, mid),
                &y[..nb],
                shape(mid, cols),
                &mut f[d as usize..d as usize + n],
            );
        }
        Op::RestrictRows { d, m, s, rows, cols, keep } => {
            let n = words(rows as usize * cols as usize);
            let (from, set) = (load(f, m, n), load(f, s, words(rows as usize)));
            matrix::restrict_rows(
                &from[..n],
                shape(rows, cols),
                &set,
                keep,
                &mut f[d as usize..d as usize + n],
            );
        }
        Op::RestrictCols { d, m, s, rows, cols, keep } => {
            let n = words(rows as usize * cols as usize);
            let (from, set) = (load(f, m, n), load(f, s, words(cols as usize)));
            matrix::restrict_cols(
                &from[..n],
                shape(rows, cols),
                &set,
                keep,
                &mut f[d as usize..d as usize + n],
            );
        }
        Op::Override { d, a, b, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let (x, y) = (load(f, a, n), load(f, b, n));
            matrix::override_with(&x[..n], &y[..n], shape(rows, cols), &mut f[d as usize..d as usize + n]);
        }
        Op::Product { d, a, b, rows, cols } => {
            let n = words(rows as usize * cols as usize);
            let (x, y) = (load(f, a, words(rows as usize)), load(f, b, words(cols as usize)));
            matrix::product(
                &x[..words(rows as usize)],
                &y,
                shape(rows, cols),
                &mut f[d as usize..d as usize + n],
            );
        }
        Op::Closure1 { d, m, size } => {
            let n = words(size as usize * size as usize);
            let from = load(f, m, n);
            matrix::closure1(&from[..n], size as usize, &mut f[d as usize..d as usize + n]);
        }
        Op::Identity { d, s, size } => {
            let n = words(size as usize * size as usize);
            let set = load(f, s, words(size as usize));
            matrix::identity(&set[..words(size as usize)], size as usize, &mut f[d as usize..d as usize + n]);
        }
        Op::JumpNotFunctional { m, rows, cols, l } => {
            let n = words(rows as usize * cols as usize);
            jump_if!(!matrix::is_functional(slice(f, m, n), shape(rows, cols)), l);
        }
        Op::JumpNotInjective { m, rows, cols, l } => {
            let n = words(rows as usize * cols as usize);
            jump_if!(!matrix::is_injective(slice(f, m, n), shape(rows, cols)), l);
        }
        Op::TableGet { d, t, r, n, w, l } => {
            let row = f[r as usize] as usize;
            if f[t as usize + row / 64] >> (row % 64) & 1 == 0 {
                return Step::To(l);
            } else {
                let at = t as usize + words(n as usize) + row * w as usize;
                f.copy_within(at..at + w as usize, d as usize);
            }
        }
        Op::TablePut { d, r, s, n, w } => {
            let row = f[r as usize] as usize;
            f[d as usize + row / 64] |= 1 << (row % 64);
            let at = d as usize + words(n as usize) + row * w as usize;
            f.copy_within(s as usize..s as usize + w as usize, at);
        }
        Op::TableDrop { d, r, n, w } => {
            let row = f[r as usize] as usize;
            f[d as usize + row / 64] &= !(1 << (row % 64));
            let at = d as usize + words(n as usize) + row * w as usize;
            f[at..at + w as usize].fill(0);
        }
        Op::PutCell { d, r, s, c } => {
            let (row, value) = (f[r as usize] as usize, f[s as usize]);
            c.put(&mut f[d as usize..], row, value);
        }
        Op::FillCells { d, s, v, c } => {
            let value = f[v as usize];
            let (out, set) = apart(f, d, c.words(), s, words(c.rows as usize));
            bits::iter(set).for_each(|row| c.put(out, row, value));
        }
        Op::Present { d, t, c } => {
            let (out, from) = apart(f, d, words(c.rows as usize), t, c.words());
            cells::present(from, c, out);
        }
        Op::CellValues { d, t, cols, c } => {
            let (out, from) = apart(f, d, words(cols as usize), t, c.words());
            cells::values(from, c, out);
        }
        Op::CellImage { d, t, s, cols, c } => {
            let rows = words(c.rows as usize);
            let (out, from, set) = apart3(f, (d, words(cols as usize)), (t, c.words()), (s, rows));
            cells::image(from, c, set, out);
        }
        Op::CellPreimage { d, t, s, cols, c } => {
            let rows = words(c.rows as usize);
            let (out, from, set) = apart3(f, (d, rows), (t, c.words()), (s, words(cols as usize)));
            out.fill(0);
            c.each(from, |row, value| {
                if bits::get(set, value as usize) {
                    bits::insert(out, row);
                }
            });
        }
        Op::CellsToMatrix { d, t, cols, c } => {
            let (out, from) = apart(f, d, words(c.rows as usize * cols as usize), t, c.words());
            cells::to_matrix(from, c, cols as usize, out);
        }
        Op::MatrixToCells { d, m, cols, c } => {
            let (out, from) = apart(f, d, c.words(), m, words(c.rows as usize * cols as usize));
            if !cells::of_matrix(from, cols as usize, c, out) {
                return Step::Misfit;
            }
        }
        Op::Recode { d, t, from, to } => {
            let (out, old) = apart(f, d, to.words(), t, from.words());
            if !cells::recode(old, from, to, out) {
                return Step::Misfit;
            }
        }
        Op::OverrideCells { d, a, b, c } => {
            let n = c.words();
            f.copy_within(a as usize..a as usize + n, d as usize);
            let (out, with) = apart(f, d, n, b, n);
            cells::override_with(out, with, c);
        }
        Op::UnionCells { d, a, b, c } => {
            let n = c.words();
            f.copy_within(a as usize..a as usize + n, d as usize);
            let (out, with) = apart(f, d, n, b, n);
            if !cells::unite(out, with, c) {
                return Step::Misfit;
            }
        }
        Op::RestrictCells { d, t, s, c, keep } => {
            let rows = words(c.rows as usize);
            let (out, from, set) = apart3(f, (d, c.words()), (t, c.words()), (s, rows));
            cells::restrict_rows(from, c, set, keep, out);
        }
        Op::RestrictCellValues { d, t, s, cols, c, keep } => {
            let (out, from, set) = apart3(f, (d, c.words()), (t, c.words()), (s, words(cols as usize)));
            cells::restrict_values(from, c, set, keep, out);
        }
        Op::JumpCellsNotInjective { t, cols, c, l } => {
            let mut seen = [0; MAX_WORDS];
            let seen = &mut seen[..words(cols as usize)];
            jump_if!(!cells::is_injective(slice(f, t, c.words()), c, seen), l);
        }
        Op::Length { d, t, c, l } => match cells::length(slice(f, t, c.words()), c) {
            Some(n) => f[d as usize] = n as u64,
            None => return Step::To(l),
        },
        Op::Slide { d, t, k, c } => {
            let by = int(f, k);
            let (out, from) = apart(f, d, c.words(), t, c.words());
            out.fill(0);
            let mut lost = false;
            c.each(from, |row, value| {
                let row = (row as i64).saturating_add(by);
                if row >= i64::from(c.rows) {
                    lost = true;
                } else if row >= 0 {
                    c.put(out, row as usize, value);
                }
            });
            if lost {
                return Step::Misfit;
            }
        }
        Op::Reverse { d, t, n, c } => {
            let n = f[n as usize] as usize;
            let (out, from) = apart(f, d, c.words(), t, c.words());
            out.fill(0);
            c.each(from, |row, value| c.put(out, n - 1 - row, value));
        }
        // The main loop does these itself; machine code leaves them to us when they are long.
        Op::Copy { d, a, n } => f.copy_within(a as usize..a as usize + n as usize, d as usize),
        Op::Clear { d, n } => f[d as usize..d as usize + n as usize].fill(0),
        Op::JumpSame { a, b, n, l } => jump_if!(slice(f, a, n as usize) == slice(f, b, n as usize), l),
        Op::JumpDiffer { a, b, n, l } => jump_if!(slice(f, a, n as usize) != slice(f, b, n as usize), l),
        Op::JumpEmpty { a, n, l } => jump_if!(slice(f, a, n as usize).iter().all(|w| *w == 0), l),
        Op::JumpNotEmpty { a, n, l } => jump_if!(slice(f, a, n as usize).iter().any(|w| *w != 0), l),
        Op::JumpSubset { a, b, n, l } => jump_if!(subset(f, a, b, n), l),
        Op::JumpNotSubset { a, b, n, l } => jump_if!(!subset(f, a, b, n), l),
        Op::Or { d, a, b, n } => each_word(f, d, a, b, n, |x, y| x | y),
        Op::And { d, a, b, n } => each_word(f, d, a, b, n, |x, y| x & y),
        Op::AndNot { d, a, b, n } => each_word(f, d, a, b, n, |x, y| x & !y),
        Op::Count { d, a, n } => f[d as usize] = bits::count(slice(f, a, n as usize)) as u64,
        Op::Next { d, a, n, l } => {
            match bits::next(slice(f, a, n as usize), f[d as usize].wrapping_add(1) as usize) {
                Some(bit) => f[d as usize] = bit as u64,
                None => return Step::To(l),
            }
        }
        _ => unreachable!("the main loop does the others itself"),
    }
    Step::Go
}
