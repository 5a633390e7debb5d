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

use super::native::Native;
use crate::batched_tests::Sieve;
use crate::tray::Plan;
use bombus_kernels::bits::cells::Cells;
use std::fmt;

pub use crate::op_effects::Touches;

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
        /// What lies outside is left out instead.
        clip: bool,
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
    /// The rows related to a column in `s`.
    Preimage {
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
    // --- Arrays of codes. One cell at a place known when the code is made:
    /// The content of a cell, base included.
    Peek {
        d: Reg,
        a: Reg,
        shift: u8,
        mask: u16,
    },
    /// `d` is `a` with the cell replaced by `s + base`.
    Poke {
        d: Reg,
        a: Reg,
        s: Reg,
        shift: u8,
        mask: u16,
        base: u8,
    },
    /// `d` is `a` with the cell replaced by `i`.
    PokeImm {
        d: Reg,
        a: Reg,
        i: u16,
        shift: u8,
        mask: u16,
    },
    JumpCellEq {
        a: Reg,
        i: u16,
        shift: u8,
        mask: u16,
        l: Label,
    },
    JumpCellNe {
        a: Reg,
        i: u16,
        shift: u8,
        mask: u16,
        l: Label,
    },
    /// Stands in the place of a `JumpCellNe` on the cell at `shift` of `a`, one of the tests of sieve `t`; `l` is
    /// the next of them. Goes where the tests would go from here (`super::sieve`).
    Sieve {
        a: Reg,
        t: u16,
        shift: u8,
        l: Label,
    },
    /// Cells of rows that are known only now. The value of row `r`; `l` when it has none.
    Cell {
        d: Reg,
        t: Reg,
        r: Reg,
        c: Cells,
        l: Label,
    },
    PutCell {
        d: Reg,
        r: Reg,
        s: Reg,
        c: Cells,
    },
    /// Maps every row in `s` to the value in `v`.
    FillCells {
        d: Reg,
        s: Reg,
        v: Reg,
        c: Cells,
    },
    /// The rows that have a value.
    Present {
        d: Reg,
        t: Reg,
        c: Cells,
    },
    /// The values that occur, of `cols` values.
    CellValues {
        d: Reg,
        t: Reg,
        cols: u16,
        c: Cells,
    },
    CellImage {
        d: Reg,
        t: Reg,
        s: Reg,
        cols: u16,
        c: Cells,
    },
    /// The rows whose value is in `s`.
    CellPreimage {
        d: Reg,
        t: Reg,
        s: Reg,
        cols: u16,
        c: Cells,
    },
    CellsToMatrix {
        d: Reg,
        t: Reg,
        cols: u16,
        c: Cells,
    },
    /// What is no function, or not total where that is asked, is a misfit.
    MatrixToCells {
        d: Reg,
        m: Reg,
        cols: u16,
        c: Cells,
    },
    /// The same function in cells of another shape; a row without a value is a misfit in a total array.
    Recode {
        d: Reg,
        t: Reg,
        from: Cells,
        to: Cells,
    },
    OverrideCells {
        d: Reg,
        a: Reg,
        b: Reg,
        c: Cells,
    },
    /// The union of two functions; where they disagree it is no function, and a misfit.
    UnionCells {
        d: Reg,
        a: Reg,
        b: Reg,
        c: Cells,
    },
    RestrictCells {
        d: Reg,
        t: Reg,
        s: Reg,
        c: Cells,
        keep: bool,
    },
    RestrictCellValues {
        d: Reg,
        t: Reg,
        s: Reg,
        cols: u16,
        c: Cells,
        keep: bool,
    },
    JumpCellsNotInjective {
        t: Reg,
        cols: u16,
        c: Cells,
        l: Label,
    },
    /// The length of a sequence; `l` when the rows are not `0..n`.
    Length {
        d: Reg,
        t: Reg,
        c: Cells,
        l: Label,
    },
    /// Moves every value `f[k]` rows down (or up, if that is negative); what leaves the front is dropped,
    /// what leaves the end is a misfit.
    Slide {
        d: Reg,
        t: Reg,
        k: Reg,
        c: Cells,
    },
    /// Turns a sequence of length `n` round.
    Reverse {
        d: Reg,
        t: Reg,
        n: Reg,
        c: Cells,
    },
    // --- Control.
    /// Back to the head of a loop whose rounds are counted.
    Again {
        l: Label,
    },
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
    /// Chains of tests that are answered at once.
    pub sieves: Vec<Sieve>,
    /// How machine code goes through whole states, if it can.
    pub plan: Option<Plan>,
    /// The same operations for the processor.
    pub native: Native,
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
