//! Runs register code over a worker's frame.
//!
//! In: `Code`, an entry, a frame whose inputs and constants are filled, a host. Out: an answer; the
//! host is told of transitions and findings on the way.
//! Never here: what registers mean, allocation, recursion.
//!
//! The frame is an array of 65,536 words and registers are `u16`, so the compiler drops every bounds
//! check on a register; only fetching an operation is checked.

use super::ir::{Code, DROPPED, NOWHERE, Op, Reg};
use bombus_kernels::bits::{self, matrix, matrix::Shape};

pub const FRAME: usize = 1 << 16;
/// Words of the largest bit-set that lives in registers.
pub const MAX_WORDS: usize = 16;

/// The registers of one worker.
pub struct Frame {
    pub regs: Box<[u64; FRAME]>,
    calls: Vec<u32>,
}

impl Default for Frame {
    fn default() -> Frame {
        let regs: Box<[u64; FRAME]> =
            vec![0; FRAME].into_boxed_slice().try_into().expect("the vector has the length of the frame");
        Frame { regs, calls: Vec::new() }
    }
}

/// How the code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    Holds,
    Fails,
    Ill,
    /// A value has no place in its layout: do the whole piece again on values.
    Misfit,
    /// The host asked to stop.
    Stopped,
}

/// What an evaluation on values says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Go,
    Jump,
    Misfit,
    Stopped,
}

/// Whoever runs code and hears of what happens.
pub trait Host {
    fn emit(&mut self, t: u16, regs: &[u64; FRAME]) -> Answer;
    fn undefined(&mut self);
    fn general(&mut self, g: u16, regs: &mut [u64; FRAME]) -> Answer;
    /// Called now and then in long loops; false stops the code.
    fn tick(&mut self) -> bool;
}

type Regs = [u64; FRAME];

#[inline(always)]
fn int(f: &Regs, r: Reg) -> i64 {
    f[r as usize] as i64
}

#[inline(always)]
fn at(r: Reg, i: u16) -> usize {
    r.wrapping_add(i) as usize
}

#[inline(always)]
fn slice(f: &Regs, r: Reg, n: usize) -> &[u64] {
    &f[r as usize..r as usize + n]
}

/// A copy of a bit-set, so that a kernel may write where it reads.
#[inline(always)]
fn load(f: &Regs, r: Reg, n: usize) -> [u64; MAX_WORDS] {
    let mut out = [0; MAX_WORDS];
    out[..n].copy_from_slice(slice(f, r, n));
    out
}

fn shape(rows: u16, cols: u16) -> Shape {
    Shape { rows: rows as usize, cols: cols as usize }
}

fn words(bits: usize) -> usize {
    bits::words_for(bits).max(1)
}

/// Runs `code` from `entry` until it ends.
pub fn run<H: Host>(code: &Code, entry: u32, frame: &mut Frame, host: &mut H) -> Exit {
    let f: &mut Regs = &mut frame.regs;
    let calls = &mut frame.calls;
    calls.clear();
    let ops = &code.ops[..];
    let mut pc = entry as usize;
    let mut ticks = 0u32;
    macro_rules! jump_if {
        ($cond:expr, $l:expr) => {
            if $cond {
                pc = $l as usize;
            }
        };
    }
    // Loops over integers and subsets may be long; the host is asked once in a while.
    macro_rules! tick {
        () => {
            ticks = ticks.wrapping_add(1);
            if ticks & 0xffff == 0 && !host.tick() {
                return Exit::Stopped;
            }
        };
    }
    macro_rules! exact {
        ($d:expr, $value:expr) => {
            match $value {
                Some(v) => f[$d as usize] = v as u64,
                None => return Exit::Misfit,
            }
        };
    }
    loop {
        let op = ops[pc];
        pc += 1;
        match op {
            Op::Const { d, v } => f[d as usize] = v as u64,
            Op::Copy { d, a, n } => {
                if n == 1 {
                    f[d as usize] = f[a as usize];
                } else {
                    f.copy_within(a as usize..a as usize + n as usize, d as usize);
                }
            }
            Op::Add { d, a, b } => exact!(d, int(f, a).checked_add(int(f, b))),
            Op::AddImm { d, a, i } => exact!(d, int(f, a).checked_add(i64::from(i))),
            Op::Sub { d, a, b } => exact!(d, int(f, a).checked_sub(int(f, b))),
            Op::Mul { d, a, b } => exact!(d, int(f, a).checked_mul(int(f, b))),
            Op::Div { d, a, b, l } => {
                if f[b as usize] == 0 {
                    pc = l as usize;
                } else {
                    exact!(d, int(f, a).checked_div(int(f, b)));
                }
            }
            Op::Mod { d, a, b, l } => {
                let (x, y) = (int(f, a), int(f, b));
                if x < 0 || y <= 0 {
                    pc = l as usize;
                } else {
                    f[d as usize] = if x < y { x as u64 } else { (x % y) as u64 };
                }
            }
            Op::Power { d, a, b, l } => {
                let (x, y) = (int(f, a), int(f, b));
                if y < 0 {
                    pc = l as usize;
                } else {
                    exact!(d, u32::try_from(y).ok().and_then(|y| x.checked_pow(y)));
                }
            }
            Op::Min { d, a, b } => f[d as usize] = int(f, a).min(int(f, b)) as u64,
            Op::Max { d, a, b } => f[d as usize] = int(f, a).max(int(f, b)) as u64,
            Op::CodeOfInt { d, a, lo, n, l } => {
                // One unsigned comparison covers both ends; a wrapped difference is far outside.
                let code = int(f, a).wrapping_sub(i64::from(lo)) as u64;
                if code < u64::from(n) {
                    f[d as usize] = code;
                } else {
                    pc = l as usize;
                }
            }
            Op::PairCode { d, a, b, k } => f[d as usize] = f[a as usize] * u64::from(k) + f[b as usize],
            Op::RowOf { d, a, k } => f[d as usize] = f[a as usize] / u64::from(k),
            Op::ColOf { d, a, k } => f[d as usize] = f[a as usize] % u64::from(k),
            Op::Jump { l } => pc = l as usize,
            Op::JumpEq { a, b, l } => jump_if!(f[a as usize] == f[b as usize], l),
            Op::JumpNe { a, b, l } => jump_if!(f[a as usize] != f[b as usize], l),
            Op::JumpLt { a, b, l } => jump_if!(int(f, a) < int(f, b), l),
            Op::JumpLe { a, b, l } => jump_if!(int(f, a) <= int(f, b), l),
            Op::JumpEqImm { a, i, l } => jump_if!(int(f, a) == i64::from(i), l),
            Op::JumpNeImm { a, i, l } => jump_if!(int(f, a) != i64::from(i), l),
            Op::JumpLtImm { a, i, l } => jump_if!(int(f, a) < i64::from(i), l),
            Op::JumpGtImm { a, i, l } => jump_if!(int(f, a) > i64::from(i), l),
            Op::JumpSame { a, b, n, l } => {
                jump_if!((0..n).all(|i| f[at(a, i)] == f[at(b, i)]), l);
            }
            Op::JumpDiffer { a, b, n, l } => {
                jump_if!((0..n).any(|i| f[at(a, i)] != f[at(b, i)]), l);
            }
            Op::JumpBit { a, i, n: _, l } => {
                let bit = f[i as usize];
                jump_if!(f[at(a, (bit / 64) as u16)] >> (bit % 64) & 1 == 1, l);
            }
            Op::JumpNoBit { a, i, n: _, l } => {
                let bit = f[i as usize];
                jump_if!(f[at(a, (bit / 64) as u16)] >> (bit % 64) & 1 == 0, l);
            }
            Op::JumpSubset { a, b, n, l } => {
                jump_if!((0..n).all(|i| f[at(a, i)] & !f[at(b, i)] == 0), l);
            }
            Op::JumpNotSubset { a, b, n, l } => {
                jump_if!((0..n).any(|i| f[at(a, i)] & !f[at(b, i)] != 0), l);
            }
            Op::JumpEmpty { a, n, l } => jump_if!((0..n).all(|i| f[at(a, i)] == 0), l),
            Op::JumpNotEmpty { a, n, l } => jump_if!((0..n).any(|i| f[at(a, i)] != 0), l),
            Op::Clear { d, n } => (0..n).for_each(|i| f[at(d, i)] = 0),
            Op::Or { d, a, b, n } => (0..n).for_each(|i| f[at(d, i)] = f[at(a, i)] | f[at(b, i)]),
            Op::And { d, a, b, n } => (0..n).for_each(|i| f[at(d, i)] = f[at(a, i)] & f[at(b, i)]),
            Op::AndNot { d, a, b, n } => (0..n).for_each(|i| f[at(d, i)] = f[at(a, i)] & !f[at(b, i)]),
            Op::Insert { d, i, n: _ } => {
                let bit = f[i as usize];
                f[at(d, (bit / 64) as u16)] |= 1 << (bit % 64);
            }
            Op::Remove { d, i, n: _ } => {
                let bit = f[i as usize];
                f[at(d, (bit / 64) as u16)] &= !(1 << (bit % 64));
            }
            Op::Count { d, a, n } => {
                f[d as usize] = (0..n).map(|i| u64::from(f[at(a, i)].count_ones())).sum();
            }
            Op::Least { d, a, n, l } => match bits::first(slice(f, a, n as usize)) {
                Some(bit) => f[d as usize] = bit as u64,
                None => pc = l as usize,
            },
            Op::Greatest { d, a, n, l } => match bits::last(slice(f, a, n as usize)) {
                Some(bit) => f[d as usize] = bit as u64,
                None => pc = l as usize,
            },
            Op::Next { d, a, n, l } => {
                let from = f[d as usize].wrapping_add(1);
                if n == 1 {
                    let word = if from < 64 { f[a as usize] >> from } else { 0 };
                    if word == 0 {
                        pc = l as usize;
                    } else {
                        f[d as usize] = from + u64::from(word.trailing_zeros());
                    }
                } else {
                    match bits::next(slice(f, a, n as usize), from as usize) {
                        Some(bit) => f[d as usize] = bit as u64,
                        None => pc = l as usize,
                    }
                }
            }
            Op::NextInt { d, b, l } => {
                if int(f, d) >= int(f, b) {
                    pc = l as usize;
                } else {
                    f[d as usize] = (int(f, d) + 1) as u64;
                    tick!();
                }
            }
            Op::NextSubset { d, a, n, l } => {
                let mut cursor = load(f, d, n as usize);
                let more = bits::next_subset(&mut cursor[..n as usize], slice(f, a, n as usize));
                f[d as usize..d as usize + n as usize].copy_from_slice(&cursor[..n as usize]);
                jump_if!(!more, l);
                tick!();
            }
            Op::Interval { d, a, b, lo, bits: size } => {
                let n = words(size as usize);
                let (from, to) = (int(f, a), int(f, b));
                let out = &mut f[d as usize..d as usize + n];
                out.fill(0);
                if from <= to {
                    let (from, to) = (from.wrapping_sub(i64::from(lo)), to.wrapping_sub(i64::from(lo)));
                    if from < 0 || to >= i64::from(size) || to < from {
                        return Exit::Misfit;
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
                        NOWHERE => return Exit::Misfit,
                        DROPPED => {}
                        to => bits::insert(out, to as usize),
                    }
                }
            }
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
                        pc = l as usize;
                    }
                } else {
                    match matrix::single(slice(f, m, n), shape(rows, cols), row) {
                        Some(col) => f[d as usize] = col as u64,
                        None => pc = l as usize,
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
                matrix::override_with(
                    &x[..n],
                    &y[..n],
                    shape(rows, cols),
                    &mut f[d as usize..d as usize + n],
                );
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
                matrix::identity(
                    &set[..words(size as usize)],
                    size as usize,
                    &mut f[d as usize..d as usize + n],
                );
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
                    pc = l as usize;
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
            Op::Call { l } => {
                calls.push(pc as u32);
                pc = l as usize;
            }
            Op::Ret => match calls.pop() {
                Some(back) => pc = back as usize,
                None => return Exit::Done,
            },
            Op::Halt => return Exit::Done,
            Op::Misfit => return Exit::Misfit,
            Op::Emit { t } => match host.emit(t, f) {
                Answer::Go => {}
                Answer::Jump | Answer::Misfit => return Exit::Misfit,
                Answer::Stopped => return Exit::Stopped,
            },
            Op::Undefined => host.undefined(),
            Op::General { g, l } => match host.general(g, f) {
                Answer::Go => {}
                Answer::Jump => pc = l as usize,
                Answer::Misfit => return Exit::Misfit,
                Answer::Stopped => return Exit::Stopped,
            },
            Op::Holds => return Exit::Holds,
            Op::Fails => return Exit::Fails,
            Op::Ill => return Exit::Ill,
        }
    }
}
