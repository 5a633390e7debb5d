//! Runs register code over a worker's frame.
//!
//! In: `Code`, an entry, a frame whose inputs and constants are filled, a host. Out: an answer; the
//! host is told of transitions and findings on the way.
//! Never here: what registers mean, allocation, recursion.
//!
//! The frame is an array of 65,536 words and registers are `u16`, so the compiler drops every bounds
//! check on a register; only fetching an operation is checked.

use super::ir::{Code, Op, Reg};
use super::native;
use crate::wide_ops;
use crate::wide_ops::Step;
use bombus_kernels::bits;

pub const FRAME: usize = bombus_kernels::native::FRAME;
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
    fn emit(&mut self, t: u16, regs: &mut [u64; FRAME]) -> Answer;
    fn undefined(&mut self, regs: &[u64; FRAME]);
    fn general(&mut self, g: u16, regs: &mut [u64; FRAME]) -> Answer;
    /// Called now and then in long loops; false stops the code.
    fn tick(&mut self) -> bool;
}

pub type Regs = [u64; FRAME];

#[inline(always)]
pub(super) fn int(f: &Regs, r: Reg) -> i64 {
    f[r as usize] as i64
}

#[inline(always)]
pub(super) fn at(r: Reg, i: u16) -> usize {
    r.wrapping_add(i) as usize
}

#[inline(always)]
pub(super) fn slice(f: &Regs, r: Reg, n: usize) -> &[u64] {
    &f[r as usize..r as usize + n]
}

/// Runs `code` from `entry` until it ends, as machine code if there is some.
#[inline]
pub fn run<H: Host>(code: &Code, entry: u32, frame: &mut Frame, host: &mut H) -> Exit {
    match code.native.made(code) {
        Some(made) => native::run(made, code, entry, &mut frame.regs, host),
        None => interpret(code, entry, frame, host),
    }
}

/// Runs `code` from `entry` operation by operation.
pub fn interpret<H: Host>(code: &Code, entry: u32, frame: &mut Frame, host: &mut H) -> Exit {
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
            Op::Mod { d, a, b, l } => {
                let (x, y) = (int(f, a), int(f, b));
                if x < 0 || y <= 0 {
                    pc = l as usize;
                } else {
                    f[d as usize] = if x < y { x as u64 } else { (x % y) as u64 };
                }
            }
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
            Op::Peek { d, a, shift, mask } => {
                f[d as usize] = f[a as usize] >> shift & u64::from(mask);
            }
            Op::Poke { d, a, s, shift, mask, base } => {
                let mask = u64::from(mask) << shift;
                f[d as usize] = f[a as usize] & !mask | (f[s as usize] + u64::from(base)) << shift;
            }
            Op::PokeImm { d, a, i, shift, mask } => {
                let mask = u64::from(mask) << shift;
                f[d as usize] = f[a as usize] & !mask | u64::from(i) << shift;
            }
            Op::JumpCellEq { a, i, shift, mask, l } => {
                jump_if!(f[a as usize] >> shift & u64::from(mask) == u64::from(i), l);
            }
            Op::JumpCellNe { a, i, shift, mask, l } => {
                jump_if!(f[a as usize] >> shift & u64::from(mask) != u64::from(i), l);
            }
            Op::Sieve { a, t, shift, .. } => {
                pc = code.sieves[t as usize].pass(f[a as usize], shift) as usize;
            }
            Op::Cell { d, t, r, c, l } => {
                let (at, shift) = c.place(f[r as usize] as usize);
                let cell = f[(t as usize + at) & (FRAME - 1)] >> shift & c.mask();
                match cell.checked_sub(u64::from(c.base)) {
                    Some(value) => f[d as usize] = value,
                    None => pc = l as usize,
                }
            }
            Op::Again { l } => {
                pc = l as usize;
                tick!();
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
            Op::Undefined => host.undefined(f),
            Op::General { g, l } => match host.general(g, f) {
                Answer::Go => {}
                Answer::Jump => pc = l as usize,
                Answer::Misfit => return Exit::Misfit,
                Answer::Stopped => return Exit::Stopped,
            },
            Op::Holds => return Exit::Holds,
            Op::Fails => return Exit::Fails,
            Op::Ill => return Exit::Ill,
            // Whatever works on many words stands apart, so that the loop keeps its registers.
            op => match wide_ops::step(&op, f, code) {
                Step::Go => {
                    tick!();
                }
                Step::To(l) => pc = l as usize,
                Step::Misfit => return Exit::Misfit,
            },
        }
    }
}
