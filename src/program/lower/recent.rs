//! What the operations just before the present one have computed or tested already.
//!
//! In: the operations since the last label: whoever comes here has done all of them. Out: the register that holds a
//! cell, and bounds of a register. Only operations that write one register and call nobody are looked at; the search
//! ends at the first other one.

use super::*;

/// How far the search goes back: guards of an event are short.
const WINDOW: usize = 32;

/// Whether all an operation does is to write the register it names, or to jump.
fn is_plain(op: &Op) -> bool {
    matches!(
        op,
        Op::Peek { .. }
            | Op::Poke { .. }
            | Op::PokeImm { .. }
            | Op::AddImm { .. }
            | Op::CodeOfInt { .. }
            | Op::Cell { .. }
            | Op::JumpCellEq { .. }
            | Op::JumpCellNe { .. }
            | Op::JumpEq { .. }
            | Op::JumpNe { .. }
            | Op::JumpLt { .. }
            | Op::JumpLe { .. }
            | Op::JumpEqImm { .. }
            | Op::JumpNeImm { .. }
            | Op::JumpLtImm { .. }
            | Op::JumpGtImm { .. }
    )
}

fn writes(op: &Op, reg: Reg) -> bool {
    op.touches().write.is_some_and(|(first, n)| (first..first + n).contains(&reg))
}

impl Lower<'_> {
    /// The plain operations since the last label.
    fn straight(&self) -> &[Op] {
        let ops = &self.code.ops[..];
        let since = ops.len().saturating_sub(WINDOW).max(self.marked as usize).min(ops.len());
        let line = &ops[since..];
        let from = line.iter().rposition(|op| !is_plain(op)).map_or(0, |at| at + 1);
        &line[from..]
    }

    /// The register that a cell was read into, if it and the word of the cell are as they were.
    pub(super) fn peeked(&self, word: Reg, shift: u8, mask: u16) -> Option<Reg> {
        let line = self.straight();
        line.iter().enumerate().rev().find_map(|(at, op)| match op {
            Op::Peek { d, a, shift: s, mask: m } if (*a, *s, *m) == (word, shift, mask) => {
                line[at + 1..].iter().all(|op| !writes(op, *d) && !writes(op, word)).then_some(*d)
            }
            _ => None,
        })
    }

    /// The least and the greatest number that a register can hold here.
    pub(super) fn bounds(&self, reg: Reg) -> Option<(i64, i64)> {
        let (mut reg, mut by) = (reg, 0);
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        for op in self.straight().iter().rev() {
            match op {
                Op::JumpGtImm { a, i, .. } if *a == reg => most = most.min(i64::from(*i) + by),
                Op::JumpLtImm { a, i, .. } if *a == reg => least = least.max(i64::from(*i) + by),
                Op::Peek { d, mask, .. } if *d == reg => {
                    return Some((least.max(by), most.min(i64::from(*mask) + by)));
                }
                Op::Cell { d, c, .. } if *d == reg => {
                    let last = c.mask() as i64 - i64::from(c.base);
                    return Some((least.max(by), most.min(last + by)));
                }
                Op::AddImm { d, a, i } if *d == reg => {
                    reg = *a;
                    by += i64::from(*i);
                }
                op if writes(op, reg) => return None,
                _ => {}
            }
        }
        None
    }
}
