//! What each operation reads, writes and jumps to.
//!
//! In: one operation of `ir`. Out: `Touches`, for the validator and for the patching of labels.

use crate::ir::{Label, Op, Reg};
use bombus_kernels::bits::cells::Cells;

/// What an operation touches: at most three reads and one write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touches {
    pub reads: [Option<(Reg, u16)>; 3],
    pub write: Option<(Reg, u16)>,
    /// The written registers are also read (in-place updates and cursors).
    pub updates: bool,
    pub label: Option<Label>,
}

fn words(bits: usize) -> u16 {
    bits.div_ceil(64).max(1) as u16
}

fn matrix(rows: u16, cols: u16) -> u16 {
    words(rows as usize * cols as usize)
}

fn cells(c: Cells) -> u16 {
    c.words() as u16
}

fn table(rows: u16, words_each: u16) -> u16 {
    words(rows as usize) + rows * words_each
}

impl Op {
    pub fn touches(&self) -> Touches {
        use Op::*;
        let one = |r: Reg| Some((r, 1u16));
        let many = |r: Reg, n: u16| Some((r, n));
        let t = Touches::default();
        let rw = |w, reads| Touches { write: w, reads, ..t };
        let rwl = |w, reads, l| Touches { write: w, reads, label: Some(l), ..t };
        let rl = |reads, l| Touches { reads, label: Some(l), ..t };
        match *self {
            Const { d, .. } => rw(one(d), [None; 3]),
            Copy { d, a, n } => rw(many(d, n), [many(a, n), None, None]),
            Add { d, a, b } | Sub { d, a, b } | Mul { d, a, b } | Min { d, a, b } | Max { d, a, b } => {
                rw(one(d), [one(a), one(b), None])
            }
            AddImm { d, a, .. } => rw(one(d), [one(a), None, None]),
            Div { d, a, b, l } | Mod { d, a, b, l } | Power { d, a, b, l } => {
                rwl(one(d), [one(a), one(b), None], l)
            }
            CodeOfInt { d, a, l, .. } => rwl(one(d), [one(a), None, None], l),
            PairCode { d, a, b, .. } => rw(one(d), [one(a), one(b), None]),
            RowOf { d, a, .. } | ColOf { d, a, .. } => rw(one(d), [one(a), None, None]),
            Jump { l } | Call { l } => rl([None; 3], l),
            JumpEq { a, b, l } | JumpNe { a, b, l } | JumpLt { a, b, l } | JumpLe { a, b, l } => {
                rl([one(a), one(b), None], l)
            }
            JumpEqImm { a, l, .. }
            | JumpNeImm { a, l, .. }
            | JumpLtImm { a, l, .. }
            | JumpGtImm { a, l, .. } => rl([one(a), None, None], l),
            JumpSame { a, b, n, l }
            | JumpDiffer { a, b, n, l }
            | JumpSubset { a, b, n, l }
            | JumpNotSubset { a, b, n, l } => rl([many(a, n), many(b, n), None], l),
            JumpBit { a, i, n, l } | JumpNoBit { a, i, n, l } => rl([many(a, n), one(i), None], l),
            JumpEmpty { a, n, l } | JumpNotEmpty { a, n, l } => rl([many(a, n), None, None], l),
            Clear { d, n } => rw(many(d, n), [None; 3]),
            Or { d, a, b, n } | And { d, a, b, n } | AndNot { d, a, b, n } => {
                rw(many(d, n), [many(a, n), many(b, n), None])
            }
            Insert { d, i, n } | Remove { d, i, n } => {
                Touches { write: many(d, n), reads: [one(i), None, None], updates: true, ..t }
            }
            Count { d, a, n } => rw(one(d), [many(a, n), None, None]),
            Least { d, a, n, l } | Greatest { d, a, n, l } => rwl(one(d), [many(a, n), None, None], l),
            Next { d, a, n, l } => {
                Touches { write: one(d), reads: [many(a, n), None, None], updates: true, label: Some(l) }
            }
            NextInt { d, b, l } => {
                Touches { write: one(d), reads: [one(b), None, None], updates: true, label: Some(l) }
            }
            NextSubset { d, a, n, l } => {
                Touches { write: many(d, n), reads: [many(a, n), None, None], updates: true, label: Some(l) }
            }
            Interval { d, a, b, bits, .. } => rw(many(d, words(bits as usize)), [one(a), one(b), None]),
            Remap { d, a, n, m, .. } => rw(many(d, m), [many(a, n), None, None]),
            Row { d, m, r, rows, cols } => {
                rw(many(d, words(cols as usize)), [many(m, matrix(rows, cols)), one(r), None])
            }
            Single { d, m, r, rows, cols, l } => rwl(one(d), [many(m, matrix(rows, cols)), one(r), None], l),
            PutSingle { d, r, c, rows, cols } => Touches {
                write: many(d, matrix(rows, cols)),
                reads: [one(r), one(c), None],
                updates: true,
                ..t
            },
            PutRow { d, r, s, rows, cols } => Touches {
                write: many(d, matrix(rows, cols)),
                reads: [one(r), many(s, words(cols as usize)), None],
                updates: true,
                ..t
            },
            Dom { d, m, rows, cols } => {
                rw(many(d, words(rows as usize)), [many(m, matrix(rows, cols)), None, None])
            }
            Ran { d, m, rows, cols } => {
                rw(many(d, words(cols as usize)), [many(m, matrix(rows, cols)), None, None])
            }
            Image { d, m, s, rows, cols } => rw(
                many(d, words(cols as usize)),
                [many(m, matrix(rows, cols)), many(s, words(rows as usize)), None],
            ),
            Preimage { d, m, s, rows, cols } => rw(
                many(d, words(rows as usize)),
                [many(m, matrix(rows, cols)), many(s, words(cols as usize)), None],
            ),
            Inverse { d, m, rows, cols } => {
                rw(many(d, matrix(rows, cols)), [many(m, matrix(rows, cols)), None, None])
            }
            Compose { d, a, b, rows, mid, cols } => rw(
                many(d, matrix(rows, cols)),
                [many(a, matrix(rows, mid)), many(b, matrix(mid, cols)), None],
            ),
            RestrictRows { d, m, s, rows, cols, .. } => rw(
                many(d, matrix(rows, cols)),
                [many(m, matrix(rows, cols)), many(s, words(rows as usize)), None],
            ),
            RestrictCols { d, m, s, rows, cols, .. } => rw(
                many(d, matrix(rows, cols)),
                [many(m, matrix(rows, cols)), many(s, words(cols as usize)), None],
            ),
            Override { d, a, b, rows, cols } => {
                let n = matrix(rows, cols);
                rw(many(d, n), [many(a, n), many(b, n), None])
            }
            Product { d, a, b, rows, cols } => rw(
                many(d, matrix(rows, cols)),
                [many(a, words(rows as usize)), many(b, words(cols as usize)), None],
            ),
            Closure1 { d, m, size } => {
                rw(many(d, matrix(size, size)), [many(m, matrix(size, size)), None, None])
            }
            Identity { d, s, size } => {
                rw(many(d, matrix(size, size)), [many(s, words(size as usize)), None, None])
            }
            JumpNotFunctional { m, rows, cols, l } | JumpNotInjective { m, rows, cols, l } => {
                rl([many(m, matrix(rows, cols)), None, None], l)
            }
            TableGet { d, t, r, n, w, l } => rwl(many(d, w), [many(t, table(n, w)), one(r), None], l),
            TablePut { d, r, s, n, w } => {
                Touches { write: many(d, table(n, w)), reads: [one(r), many(s, w), None], updates: true, ..t }
            }
            TableDrop { d, r, n, w } => {
                Touches { write: many(d, table(n, w)), reads: [one(r), None, None], updates: true, ..t }
            }
            Peek { d, a, .. } | PokeImm { d, a, .. } => rw(one(d), [one(a), None, None]),
            Poke { d, a, s, .. } => rw(one(d), [one(a), one(s), None]),
            JumpCellEq { a, l, .. } | JumpCellNe { a, l, .. } | Sieve { a, l, .. } => {
                rl([one(a), None, None], l)
            }
            Cell { d, t, r, c, l } => rwl(one(d), [many(t, cells(c)), one(r), None], l),
            PutCell { d, r, s, c } => {
                Touches { write: many(d, cells(c)), reads: [one(r), one(s), None], updates: true, ..t }
            }
            FillCells { d, s, v, c } => Touches {
                write: many(d, cells(c)),
                reads: [many(s, words(c.rows as usize)), one(v), None],
                updates: true,
                ..t
            },
            Present { d, t, c } => rw(many(d, words(c.rows as usize)), [many(t, cells(c)), None, None]),
            CellValues { d, t, cols, c } => {
                rw(many(d, words(cols as usize)), [many(t, cells(c)), None, None])
            }
            CellImage { d, t, s, cols, c } => {
                rw(many(d, words(cols as usize)), [many(t, cells(c)), many(s, words(c.rows as usize)), None])
            }
            CellPreimage { d, t, s, cols, c } => {
                rw(many(d, words(c.rows as usize)), [many(t, cells(c)), many(s, words(cols as usize)), None])
            }
            CellsToMatrix { d, t, cols, c } => {
                rw(many(d, matrix(c.rows, cols)), [many(t, cells(c)), None, None])
            }
            MatrixToCells { d, m, cols, c } => {
                rw(many(d, cells(c)), [many(m, matrix(c.rows, cols)), None, None])
            }
            Recode { d, t, from, to } => rw(many(d, cells(to)), [many(t, cells(from)), None, None]),
            OverrideCells { d, a, b, c } | UnionCells { d, a, b, c } => {
                rw(many(d, cells(c)), [many(a, cells(c)), many(b, cells(c)), None])
            }
            RestrictCells { d, t, s, c, .. } => {
                rw(many(d, cells(c)), [many(t, cells(c)), many(s, words(c.rows as usize)), None])
            }
            RestrictCellValues { d, t, s, cols, c, .. } => {
                rw(many(d, cells(c)), [many(t, cells(c)), many(s, words(cols as usize)), None])
            }
            JumpCellsNotInjective { t, c, l, .. } => rl([many(t, cells(c)), None, None], l),
            Length { d, t, c, l } => rwl(one(d), [many(t, cells(c)), None, None], l),
            Slide { d, t, k, c } => rw(many(d, cells(c)), [many(t, cells(c)), one(k), None]),
            Reverse { d, t, n, c } => rw(many(d, cells(c)), [many(t, cells(c)), one(n), None]),
            Again { l } => rl([None; 3], l),
            General { l, .. } => rl([None; 3], l),
            Ret | Halt | Misfit | Emit { .. } | Undefined | Holds | Fails | Ill => t,
        }
    }

    /// Points the jump of this operation somewhere else.
    pub fn set_label(&mut self, to: Label) {
        use Op::*;
        match self {
            Div { l, .. }
            | Mod { l, .. }
            | Power { l, .. }
            | CodeOfInt { l, .. }
            | Jump { l }
            | JumpEq { l, .. }
            | JumpNe { l, .. }
            | JumpLt { l, .. }
            | JumpLe { l, .. }
            | JumpEqImm { l, .. }
            | JumpNeImm { l, .. }
            | JumpLtImm { l, .. }
            | JumpGtImm { l, .. }
            | JumpSame { l, .. }
            | JumpDiffer { l, .. }
            | JumpBit { l, .. }
            | JumpNoBit { l, .. }
            | JumpSubset { l, .. }
            | JumpNotSubset { l, .. }
            | JumpEmpty { l, .. }
            | JumpNotEmpty { l, .. }
            | Least { l, .. }
            | Greatest { l, .. }
            | Next { l, .. }
            | NextInt { l, .. }
            | NextSubset { l, .. }
            | Single { l, .. }
            | TableGet { l, .. }
            | JumpCellEq { l, .. }
            | JumpCellNe { l, .. }
            | Sieve { l, .. }
            | Cell { l, .. }
            | JumpCellsNotInjective { l, .. }
            | Length { l, .. }
            | Again { l }
            | JumpNotFunctional { l, .. }
            | JumpNotInjective { l, .. }
            | Call { l }
            | General { l, .. } => *l = to,
            _ => unreachable!("only operations with a label are patched"),
        }
    }

    /// Whether control never reaches the next operation.
    pub fn ends(&self) -> bool {
        matches!(
            self,
            Op::Jump { .. }
                | Op::Again { .. }
                | Op::Ret
                | Op::Halt
                | Op::Misfit
                | Op::Holds
                | Op::Fails
                | Op::Ill
        )
    }
}
