//! The register code that compiled events, guards and conjuncts become.
//!
//! In: built by `lower`. Out: executed by `exec`, printed for people, checked by `validate`.
//! A register is one 64-bit word of a worker's frame; a value of several words (a bit-set, a pair)
//! takes consecutive registers. Loops and choices are jumps; what follows a choice is a subroutine,
//! so code grows linearly with the model. Nothing refers to trees or closures: a native back end can
//! take the same code.
//!
//! Meaning of the jumps: `l` is where control goes when the condition in the name holds, when the
//! operation is undefined, or when a loop is at its end.

use std::fmt;

/// A register: an index into the frame. `u16`, so that a frame of 65,536 words needs no bounds check.
pub type Reg = u16;
/// An index into `Code::ops`.
pub type Label = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // --- Scalars: exact; an overflow leaves the code with `Exit::Misfit`.
    Const {
        d: Reg,
        v: i64,
    },
    Copy {
        d: Reg,
        a: Reg,
        n: u16,
    },
    Add {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AddImm {
        d: Reg,
        a: Reg,
        i: i32,
    },
    Sub {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Mul {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// Truncating division; `l` for a zero divisor.
    Div {
        d: Reg,
        a: Reg,
        b: Reg,
        l: Label,
    },
    /// `l` unless a ≥ 0 and b > 0.
    Mod {
        d: Reg,
        a: Reg,
        b: Reg,
        l: Label,
    },
    /// `l` for a negative exponent.
    Power {
        d: Reg,
        a: Reg,
        b: Reg,
        l: Label,
    },
    Min {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Max {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    // --- Codes of finite elements.
    /// `d := a - lo`; `l` when that is outside `0..n`.
    CodeOfInt {
        d: Reg,
        a: Reg,
        lo: i32,
        n: u16,
        l: Label,
    },
    /// `d := a * k + b`.
    PairCode {
        d: Reg,
        a: Reg,
        b: Reg,
        k: u16,
    },
    /// `d := a / k`.
    RowOf {
        d: Reg,
        a: Reg,
        k: u16,
    },
    /// `d := a % k`.
    ColOf {
        d: Reg,
        a: Reg,
        k: u16,
    },
    // --- Jumps.
    Jump {
        l: Label,
    },
    JumpEq {
        a: Reg,
        b: Reg,
        l: Label,
    },
    JumpNe {
        a: Reg,
        b: Reg,
        l: Label,
    },
    JumpLt {
        a: Reg,
        b: Reg,
        l: Label,
    },
    JumpLe {
        a: Reg,
        b: Reg,
        l: Label,
    },
    JumpEqImm {
        a: Reg,
        i: i32,
        l: Label,
    },
    JumpNeImm {
        a: Reg,
        i: i32,
        l: Label,
    },
    JumpLtImm {
        a: Reg,
        i: i32,
        l: Label,
    },
    JumpGtImm {
        a: Reg,
        i: i32,
        l: Label,
    },
    JumpSame {
        a: Reg,
        b: Reg,
        n: u16,
        l: Label,
    },
    JumpDiffer {
        a: Reg,
        b: Reg,
        n: u16,
        l: Label,
    },
    JumpBit {
        a: Reg,
        i: Reg,
        n: u16,
        l: Label,
    },
    JumpNoBit {
        a: Reg,
        i: Reg,
        n: u16,
        l: Label,
    },
    JumpSubset {
        a: Reg,
        b: Reg,
        n: u16,
        l: Label,
    },
    JumpNotSubset {
        a: Reg,
        b: Reg,
        n: u16,
        l: Label,
    },
    JumpEmpty {
        a: Reg,
        n: u16,
        l: Label,
    },
    JumpNotEmpty {
        a: Reg,
        n: u16,
        l: Label,
    },
    // --- Bit-sets of `n` words.
    Clear {
        d: Reg,
        n: u16,
    },
    Or {
        d: Reg,
        a: Reg,
        b: Reg,
        n: u16,
    },
    And {
        d: Reg,
        a: Reg,
        b: Reg,
        n: u16,
    },
    AndNot {
        d: Reg,
        a: Reg,
        b: Reg,
        n: u16,
    },
    Insert {
        d: Reg,
        i: Reg,
        n: u16,
    },
    Remove {
        d: Reg,
        i: Reg,
        n: u16,
    },
    Count {
        d: Reg,
        a: Reg,
        n: u16,
    },
    /// The least element; `l` when there is none.
    Least {
        d: Reg,
        a: Reg,
        n: u16,
        l: Label,
    },
    Greatest {
        d: Reg,
        a: Reg,
        n: u16,
        l: Label,
    },
    /// Steps the cursor `d` to the next element above it; `l` when there is none. Start with -1.
    Next {
        d: Reg,
        a: Reg,
        n: u16,
        l: Label,
    },
    /// Steps `d` to the next integer up to `b`; `l` beyond. Start with one less than the least.
    NextInt {
        d: Reg,
        b: Reg,
        l: Label,
    },
    /// Steps `d` to the next subset of `a`; `l` after the last. The first one is the empty set.
    NextSubset {
        d: Reg,
        a: Reg,
        n: u16,
        l: Label,
    },
    /// The integers `a..b` over the window that starts at `lo` and has `bits` elements. What lies
    /// outside is a misfit.
    Interval {
        d: Reg,
        a: Reg,
        b: Reg,
        lo: i32,
        bits: u16,
    },
    /// Moves each element of `a` to its place in another carrier, by `Code::tables[table]`.
    Remap {
        d: Reg,
        a: Reg,
        n: u16,
        m: u16,
        table: u16,
    },
    // --- Bit matrices, row-major.
    Row {
        d: Reg,
        m: Reg,
        r: Reg,
        rows: u16,
        cols: u16,
    },
    /// The only column of row `r`; `l` when it has none or several.
    Single {
        d: Reg,
        m: Reg,
        r: Reg,
        rows: u16,
        cols: u16,
        l: Label,
    },
    PutSingle {
        d: Reg,
        r: Reg,
        c: Reg,
        rows: u16,
        cols: u16,
    },
    /// Replaces row `r` by the set `s`.
    PutRow {
        d: Reg,
        r: Reg,
        s: Reg,
        rows: u16,
        cols: u16,
    },
    Dom {
        d: Reg,
        m: Reg,
        rows: u16,
        cols: u16,
    },
    Ran {
        d: Reg,
        m: Reg,
        rows: u16,
        cols: u16,
    },
    Image {
        d: Reg,
        m: Reg,
        s: Reg,
        rows: u16,
        cols: u16,
    },
    Inverse {
        d: Reg,
        m: Reg,
        rows: u16,
        cols: u16,
    },
    Compose {
        d: Reg,
        a: Reg,
        b: Reg,
        rows: u16,
        mid: u16,
        cols: u16,
    },
    RestrictRows {
        d: Reg,
        m: Reg,
        s: Reg,
        rows: u16,
        cols: u16,
        keep: bool,
    },
    RestrictCols {
        d: Reg,
        m: Reg,
        s: Reg,
        rows: u16,
        cols: u16,
        keep: bool,
    },
    Override {
        d: Reg,
        a: Reg,
        b: Reg,
        rows: u16,
        cols: u16,
    },
    Product {
        d: Reg,
        a: Reg,
        b: Reg,
        rows: u16,
        cols: u16,
    },
    Closure1 {
        d: Reg,
        m: Reg,
        size: u16,
    },
    Identity {
        d: Reg,
        s: Reg,
        size: u16,
    },
    JumpNotFunctional {
        m: Reg,
        rows: u16,
        cols: u16,
        l: Label,
    },
    JumpNotInjective {
        m: Reg,
        rows: u16,
        cols: u16,
        l: Label,
    },
    // --- Tables of `n` rows of `w` words.
    /// The value of row `r`; `l` when it has none.
    TableGet {
        d: Reg,
        t: Reg,
        r: Reg,
        n: u16,
        w: u16,
        l: Label,
    },
    TablePut {
        d: Reg,
        r: Reg,
        s: Reg,
        n: u16,
        w: u16,
    },
    TableDrop {
        d: Reg,
        r: Reg,
        n: u16,
        w: u16,
    },
    // --- Control.
    Call {
        l: Label,
    },
    Ret,
    Halt,
    /// Leaves the code: the value at hand has no place in its layout.
    Misfit,
    // --- The host.
    /// A transition, packed as `Code::emits[t]` says.
    Emit {
        t: u16,
    },
    /// The guard was undefined.
    Undefined,
    /// Evaluates piece `g` on values; a predicate yields 0 or 1; `l` when it is undefined.
    General {
        g: u16,
        l: Label,
    },
    /// The code ends with an answer: the predicate holds.
    Holds,
    /// The code ends with an answer: the predicate does not hold.
    Fails,
    /// The code ends with an answer: the predicate is undefined.
    Ill,
}

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
            | JumpNotFunctional { l, .. }
            | JumpNotInjective { l, .. }
            | Call { l }
            | General { l, .. } => *l = to,
            _ => unreachable!("only operations with a label are patched"),
        }
    }

    /// Whether control never reaches the next operation.
    pub fn ends(&self) -> bool {
        matches!(self, Op::Jump { .. } | Op::Ret | Op::Halt | Op::Misfit | Op::Holds | Op::Fails | Op::Ill)
    }
}

/// Operations with the constants they read. Tables that speak of the model (what an emission packs,
/// what a general evaluation computes) stand beside the code, in `program`.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// Registers used, all below this one.
    pub registers: usize,
    /// Registers filled once for each worker: first register and words.
    pub constants: Vec<(Reg, Vec<u64>)>,
    /// Registers that are filled before the code starts: the variables of the state.
    pub inputs: Vec<(Reg, u16)>,
    /// Registers that `General` operation `g` reads and writes.
    pub generals: Vec<GeneralTouch>,
    /// Places of elements in another carrier; `NOWHERE` is a misfit, `DROPPED` is left out.
    pub tables: Vec<Vec<u16>>,
}

/// Which registers an evaluation on values reads and writes.
#[derive(Clone, Debug, Default)]
pub struct GeneralTouch {
    pub reads: Vec<(Reg, u16)>,
    pub write: Option<(Reg, u16)>,
}

pub const NOWHERE: u16 = u16::MAX;
pub const DROPPED: u16 = u16::MAX - 1;

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (r, n) in &self.inputs {
            writeln!(f, "  input    r{r}+{n}")?;
        }
        for (r, words) in &self.constants {
            writeln!(f, "  constant r{r} = {words:x?}")?;
        }
        for (pc, op) in self.ops.iter().enumerate() {
            writeln!(f, "{pc:5}  {op:?}")?;
        }
        Ok(())
    }
}
