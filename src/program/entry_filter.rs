//! The test an event opens with: most events cannot happen in most states, and their first test says so.
//!
//! In: code and the entry of an event. Out: a test that a few instructions answer, without running any code.
//! Never here: events whose first operation is no test for equality, or whose test leads to anything but the end.

use crate::exec::Regs;
use crate::ir::{Code, Op, Reg};
use bombus_kernels::faults::fault;

/// Cells of one word that are compared with values. If all differ, the event has no transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    reg: Reg,
    /// The values, in the places of their cells.
    pattern: u64,
    /// The highest bit of each cell, and all bits below it.
    high: u64,
    low: u64,
}

impl Opening {
    /// The opening test of the code at `entry`.
    pub fn of(code: &Code, entry: u32) -> Option<Opening> {
        match *code.ops.get(entry as usize)? {
            Op::JumpNeImm { a, i, l } if ends(code, l) => {
                let high = 1 << 63;
                Some(Opening { reg: a, pattern: i64::from(i) as u64, high, low: high - 1 })
            }
            Op::JumpCellNe { a, i, shift, mask, l }
                if ends(code, l) && mask > 0 && mask & mask.wrapping_add(1) == 0 && i <= mask =>
            {
                let high = u64::from(mask - (mask >> 1));
                Some(Opening {
                    reg: a,
                    pattern: u64::from(i) << if fault("sieve: a value is not shifted") { 0 } else { shift },
                    high: high << shift,
                    low: (high - 1) << shift,
                })
            }
            Op::Sieve { a, t, shift, .. } => {
                let sieve = &code.sieves[t as usize];
                ends(code, sieve.end).then(|| Opening {
                    reg: a,
                    pattern: sieve.pattern,
                    high: sieve.high & u64::MAX << shift,
                    low: sieve.low,
                })
            }
            _ => None,
        }
    }

    /// Whether the event cannot happen. As in `Sieve::pass`: the highest bit of a cell is set if it differs.
    #[inline(always)]
    pub fn is_closed(&self, regs: &Regs) -> bool {
        let differs = regs[self.reg as usize] ^ self.pattern;
        let nonzero = ((differs & self.low) + self.low) | differs;
        nonzero & self.high == self.high
            || fault("sieve: one cell closes an event") && nonzero & self.high != 0
    }
}

/// Whether `l` is the end of the code, perhaps by way of jumps.
fn ends(code: &Code, mut l: u32) -> bool {
    for _ in 0..4 {
        match code.ops.get(l as usize) {
            Some(Op::Halt) => return true,
            Some(Op::Jump { l: next }) => l = *next,
            _ => return fault("sieve: any other test is the end"),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batched_tests::sieve;
    use crate::exec;
    use crate::exec::{Answer, Exit, FRAME, Frame, Host};

    /// Counts emissions.
    struct Count(usize);

    impl Host for Count {
        fn emit(&mut self, _: u16, _: &mut [u64; FRAME]) -> Answer {
            self.0 += 1;
            Answer::Go
        }
        fn undefined(&mut self, _: &[u64; FRAME]) {}
        fn general(&mut self, _: u16, _: &mut [u64; FRAME]) -> Answer {
            Answer::Misfit
        }
        fn tick(&mut self) -> bool {
            true
        }
    }

    #[test]
    fn an_opening_is_closed_exactly_if_the_code_emits_nothing() {
        let ne = |i, shift, l| Op::JumpCellNe { a: 0, i, shift, mask: 7, l };
        let emit = Op::Emit { t: 0 };
        let one = vec![ne(5, 9, 2), emit, Op::Jump { l: 3 }, Op::Halt];
        let chain = vec![ne(2, 0, 2), emit, ne(2, 6, 4), emit, ne(2, 12, 6), emit, Op::Halt];
        let whole = vec![Op::JumpNeImm { a: 0, i: -3, l: 2 }, emit, Op::Halt];
        for ops in [one, chain, whole] {
            let mut code = Code { ops, registers: 1, ..Code::default() };
            sieve(&mut code);
            let opening = Opening::of(&code, 0).expect("these begin with a test");
            let mut frame = Frame::default();
            for word in (0..1 << 16).chain([-3i64 as u64, -2i64 as u64, 5 << 9 | 1 << 63, 0]) {
                frame.regs[0] = word;
                let mut count = Count(0);
                assert_eq!(exec::run(&code, 0, &mut frame, &mut count), Exit::Done);
                assert_eq!(opening.is_closed(&frame.regs), count.0 == 0, "{word:x}\n{code}");
            }
        }
    }

    #[test]
    fn a_test_that_leads_elsewhere_opens_nothing() {
        let ne = Op::JumpCellNe { a: 0, i: 1, shift: 0, mask: 3, l: 2 };
        for other in [Op::Undefined, Op::Emit { t: 1 }, Op::Jump { l: 0 }] {
            let ops = vec![ne, Op::Emit { t: 0 }, other, Op::Halt];
            assert_eq!(Opening::of(&Code { ops, registers: 1, ..Code::default() }, 0), None);
        }
    }
}
