//! Operations of the register code that are wrong on purpose, for tests (`bombus_system::faults`).
//!
//! In: an operation and the place that makes it: lowering, or the translation to machine code. Out: the same operation,
//! or, if this fault is chosen, one that a slip in that place could have made. Never here: code of any release.

use crate::ir::{Code, Op, Reg};
use bombus_system::faults;

/// The operation that the place makes of this one.
pub fn spoiled(op: Op, place: &str) -> Op {
    match faults::chosen(place) {
        Some(fault) => {
            numbers(fault, op).or_else(|| jumps(fault, op)).or_else(|| sets(fault, op)).unwrap_or(op)
        }
        None => op,
    }
}

fn numbers(fault: &str, op: Op) -> Option<Op> {
    Some(match (fault, op) {
        ("add", Op::Add { d, a, b }) => Op::Sub { d, a, b },
        ("add a number", Op::AddImm { d, a, i }) => Op::AddImm { d, a, i: i.wrapping_neg() },
        ("subtract", Op::Sub { d, a, b }) => Op::Sub { d, a: b, b: a },
        ("multiply", Op::Mul { d, a, b }) => Op::Add { d, a, b },
        ("divide", Op::Div { d, a, b, l }) => Op::Div { d, a: b, b: a, l },
        ("remainder", Op::Mod { d, a, b, l }) => Op::Div { d, a, b, l },
        ("a constant", Op::Const { d, v: 2 }) => Op::Const { d, v: 1 },
        _ => return None,
    })
}

fn jumps(fault: &str, op: Op) -> Option<Op> {
    Some(match (fault, op) {
        ("equal", Op::JumpEq { a, b, l }) => Op::JumpNe { a, b, l },
        ("not equal", Op::JumpNe { a, b, l }) => Op::JumpEq { a, b, l },
        ("less", Op::JumpLt { a, b, l }) => Op::JumpLe { a, b, l },
        ("at most", Op::JumpLe { a, b, l }) => Op::JumpLt { a, b, l },
        ("equal to a number", Op::JumpEqImm { a, i, l }) => Op::JumpNeImm { a, i, l },
        ("not equal to a number", Op::JumpNeImm { a, i, l }) => Op::JumpEqImm { a, i, l },
        ("less than a number", Op::JumpLtImm { a, i, l }) => Op::JumpLtImm { a, i: i.wrapping_add(1), l },
        ("greater than a number", Op::JumpGtImm { a, i, l }) => Op::JumpGtImm { a, i: i.wrapping_sub(1), l },
        ("the same words", Op::JumpSame { a, b, n, l }) => Op::JumpDiffer { a, b, n, l },
        ("other words", Op::JumpDiffer { a, b, n, l }) => Op::JumpSame { a, b, n, l },
        ("an element", Op::JumpBit { a, i, n, l }) => Op::JumpNoBit { a, i, n, l },
        ("no element", Op::JumpNoBit { a, i, n, l }) => Op::JumpBit { a, i, n, l },
        ("a subset", Op::JumpSubset { a, b, n, l }) => Op::JumpNotSubset { a, b, n, l },
        ("no subset", Op::JumpNotSubset { a, b, n, l }) => Op::JumpSubset { a, b, n, l },
        ("empty", Op::JumpEmpty { a, n, l }) => Op::JumpNotEmpty { a, n, l },
        ("not empty", Op::JumpNotEmpty { a, n, l }) => Op::JumpEmpty { a, n, l },
        ("the content of a cell", Op::JumpCellEq { a, i, shift, mask, l }) => {
            Op::JumpCellNe { a, i, shift, mask, l }
        }
        ("another content", Op::JumpCellNe { a, i, shift, mask, l }) => {
            Op::JumpCellEq { a, i, shift, mask, l }
        }
        _ => return None,
    })
}

fn sets(fault: &str, op: Op) -> Option<Op> {
    Some(match (fault, op) {
        ("union", Op::Or { d, a, b, n }) => Op::And { d, a, b, n },
        ("intersection", Op::And { d, a, b, n }) => Op::Or { d, a, b, n },
        ("difference", Op::AndNot { d, a, b, n }) => Op::And { d, a, b, n },
        ("insert", Op::Insert { d, i, n }) => Op::Remove { d, i, n },
        ("remove", Op::Remove { d, i, n }) => Op::Insert { d, i, n },
        ("least", Op::Least { d, a, n, l }) => Op::Greatest { d, a, n, l },
        ("greatest", Op::Greatest { d, a, n, l }) => Op::Least { d, a, n, l },
        ("domain", Op::Dom { d, m, rows, cols }) if rows == cols => Op::Ran { d, m, rows, cols },
        ("range", Op::Ran { d, m, rows, cols }) if rows == cols => Op::Dom { d, m, rows, cols },
        ("image", Op::Image { d, m, s, rows, cols }) if rows == cols => Op::Preimage { d, m, s, rows, cols },
        ("restriction of rows", Op::RestrictRows { d, m, s, rows, cols, keep }) => {
            Op::RestrictRows { d, m, s, rows, cols, keep: !keep }
        }
        ("restriction of columns", Op::RestrictCols { d, m, s, rows, cols, keep }) => {
            Op::RestrictCols { d, m, s, rows, cols, keep: !keep }
        }
        ("override", Op::Override { d, a, b, rows, cols }) => Op::Override { d, a: b, b: a, rows, cols },
        ("store in a cell", Op::PokeImm { d, a, i, shift, mask }) => {
            Op::PokeImm { d, a, i: i.wrapping_add(1) & mask, shift, mask }
        }
        ("override cells", Op::OverrideCells { d, a, b, c }) => Op::OverrideCells { d, a: b, b: a, c },
        ("restriction of cells", Op::RestrictCells { d, t, s, c, keep }) => {
            Op::RestrictCells { d, t, s, c, keep: !keep }
        }
        _ => return None,
    })
}

/// Sieves with a slip in them, if one is chosen.
pub fn spoil_sieves(code: &mut Code) {
    let Some(fault) = faults::chosen("sieve") else { return };
    for sieve in &mut code.sieves {
        match fault {
            "another value" => {
                sieve.pattern ^= sieve.low & sieve.low.wrapping_neg() | u64::from(sieve.low == 0)
            }
            "the first cell is left out" => sieve.high &= sieve.high.wrapping_sub(1),
            "the last cell is left out" => sieve.high &= !(1 << (63 - (sieve.high | 1).leading_zeros())),
            "a neighbour is taken" => sieve.targets.rotate_left(1),
            "the end is the beginning" => {
                sieve.end = sieve.targets[(sieve.high.trailing_zeros() & 63) as usize]
            }
            _ => {}
        }
    }
}

/// An opening test with a slip in it, if one is chosen: its register, its values, the highest bits of its cells.
pub fn spoil_opening(reg: Reg, pattern: u64, high: u64) -> (Reg, u64, u64) {
    match faults::chosen("entry filter") {
        Some("another value") => (reg, pattern ^ (high >> 1).max(1), high),
        Some("no value") => (reg, pattern, 0),
        Some("another register") => (reg + 1, pattern, high),
        _ => (reg, pattern, high),
    }
}
