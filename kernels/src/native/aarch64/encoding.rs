//! Instructions of aarch64 as numbers.
//!
//! In: registers, numbers, labels. Out: instructions behind those that a builder has. Never here: steps, and what the flags say.

use super::{Builder, Distance};
use crate::native::steps::{Label, Temp};

/// The number of a register of the processor.
pub(super) type Register = u32;

pub(super) const FRAME: Register = 19;
pub(super) const CONTEXT: Register = 20;
pub(super) const START: Register = 21;
pub(super) const CALLS: Register = 22;
pub(super) const PIECES: Register = 23;
pub(super) const TESTED: Register = 10;
pub(super) const NEAR: Register = 16;
pub(super) const SECOND: Register = 17;
/// The stack in addresses and additions, zero elsewhere.
pub(super) const STACK: Register = 31;
pub(super) const ZERO: Register = 31;

pub(super) fn register(x: Temp) -> Register {
    match x {
        Temp::A => 11,
        Temp::C => 12,
        Temp::D => 13,
        Temp::E => 14,
        Temp::F => 15,
    }
}

// Conditions of the processor.
pub(super) const EQ: u32 = 0;
pub(super) const NE: u32 = 1;
pub(super) const HS: u32 = 2;
pub(super) const LO: u32 = 3;
pub(super) const MI: u32 = 4;
pub(super) const VS: u32 = 6;
pub(super) const HI: u32 = 8;
pub(super) const GE: u32 = 10;
pub(super) const LT: u32 = 11;
pub(super) const GT: u32 = 12;
pub(super) const LE: u32 = 13;

// Instructions on three registers.
pub(super) const ADDS: u32 = 0xab00_0000;
pub(super) const SUBS: u32 = 0xeb00_0000;
pub(super) const ANDS: u32 = 0xea00_0000;
pub(super) const BIC: u32 = 0x8a20_0000;
pub(super) const ORR: u32 = 0xaa00_0000;
pub(super) const ORN: u32 = 0xaa20_0000;
pub(super) const EOR: u32 = 0xca00_0000;
pub(super) const ADD: u32 = 0x8b00_0000;
pub(super) const LSL: u32 = 0x9ac0_2000;
pub(super) const LSR: u32 = 0x9ac0_2400;
pub(super) const UDIV: u32 = 0x9ac0_0800;
pub(super) const SDIV: u32 = 0x9ac0_0c00;
pub(super) const MUL: u32 = 0x9b00_7c00;
pub(super) const SMULH: u32 = 0x9b40_7c00;
pub(super) const LDR_INDEXED: u32 = 0xf860_7800;
pub(super) const STR_INDEXED: u32 = 0xf820_7800;
// On two registers.
pub(super) const CLZ: u32 = 0xdac0_1000;
pub(super) const RBIT: u32 = 0xdac0_0000;
// On two registers and a number of twelve bits.
pub(super) const ADD_NUMBER: u32 = 0x9100_0000;
pub(super) const SUB_NUMBER: u32 = 0xd100_0000;
pub(super) const ADDS_NUMBER: u32 = 0xb100_0000;
pub(super) const SUBS_NUMBER: u32 = 0xf100_0000;
// On two registers and a pattern of bits.
pub(super) const AND_PATTERN: u32 = 0x9200_0000;
pub(super) const ORR_PATTERN: u32 = 0xb200_0000;
pub(super) const EOR_PATTERN: u32 = 0xd200_0000;
pub(super) const ANDS_PATTERN: u32 = 0xf200_0000;
pub(super) const LDR: u32 = 0xf940_0000;
pub(super) const STR: u32 = 0xf900_0000;
/// The same on the lower halves of registers.
pub(super) const LOWER: u32 = 0x8000_0000;

impl Builder {
    pub(super) fn put(&mut self, instruction: u32) {
        self.instructions.push(instruction);
    }

    pub(super) fn three(&mut self, instruction: u32, d: Register, n: Register, m: Register) {
        self.put(instruction | m << 16 | n << 5 | d);
    }

    /// `d := n op i`, where `i` has twelve bits.
    pub(super) fn number(&mut self, instruction: u32, d: Register, n: Register, i: u32) {
        self.put(instruction | (i & 0xfff) << 10 | n << 5 | d);
    }

    /// `d := a - n * m`.
    pub(super) fn product_less(&mut self, d: Register, n: Register, m: Register, a: Register) {
        self.three(0x9b00_8000 | a << 10, d, n, m); // msub
    }

    pub(super) fn move_register(&mut self, d: Register, m: Register) {
        self.three(ORR, d, ZERO, m);
    }

    /// Loads or stores the word `r` of the frame; `x16` is lost if it is far.
    pub(super) fn word(&mut self, instruction: u32, x: Register, r: u16) {
        let (page, index) = (u32::from(r) >> 12, u32::from(r) & 0xfff);
        if page == 0 {
            return self.number(instruction, x, FRAME, index);
        }
        // 4096 words are 8 times 4096 bytes: add x16, x19, #page * 8, lsl #12.
        self.number(ADD_NUMBER | 1 << 22, NEAR, FRAME, page * 8);
        self.number(instruction, x, NEAR, index);
    }

    /// A number without a sign, in a register.
    pub(super) fn number_32(&mut self, d: Register, v: u32) {
        self.number_64(d, u64::from(v));
    }

    /// Of all ways to write a number, one with few instructions.
    pub(super) fn number_64(&mut self, d: Register, v: u64) {
        let quarters = [0, 1, 2, 3].map(|i| (i, (v >> (16 * i)) as u32 & 0xffff));
        let unlike = |q: u32| quarters.iter().filter(|(_, part)| *part != q).count();
        let (zeros, ones) = (unlike(0), unlike(0xffff));
        if zeros.min(ones) > 1
            && let Some(bits) = pattern(v)
        {
            return self.put(ORR_PATTERN | bits | ZERO << 5 | d);
        }
        let (rest, first) = if ones < zeros { (0xffff, 0x9280_0000) } else { (0, 0xd280_0000) };
        let mut begun = false;
        for (i, part) in quarters.into_iter().filter(|(_, part)| *part != rest) {
            // movk keeps the other quarters, movn and movz set them to the rest.
            let (instruction, part) = if begun { (0xf280_0000, part) } else { (first, part ^ rest) };
            self.put(instruction | i << 21 | part << 5 | d);
            begun = true;
        }
        if !begun {
            self.put(first | d);
        }
    }

    /// An instruction that waits for the distance to a label.
    pub(super) fn to(&mut self, instruction: u32, l: Label, distance: Distance) {
        self.waiting.push((self.instructions.len(), l, distance));
        self.put(instruction);
    }

    pub(super) fn branch(&mut self, when: u32, l: Label) {
        self.to(0x5400_0000 | when, l, Distance::Near);
    }

    pub(super) fn ret(&mut self) {
        self.put(0xd65f_03c0);
    }
}

/// A number as a two's complement of so many bits, if it is one.
pub(super) fn signed(v: i64, bits: u32) -> Option<u32> {
    let half = 1 << (bits - 1);
    (-half..half).contains(&v).then_some((v & ((1 << bits) - 1)) as u32)
}

/// The fields `N`, `immr` and `imms` of an instruction for a word that repeats one rotated run of ones, if `v` is such a word.
pub(super) fn pattern(v: u64) -> Option<u32> {
    if v == 0 || v == u64::MAX {
        return None;
    }
    let low = |size: u32| u64::MAX >> (64 - size);
    let repeats = |size: &u32| v.rotate_right(*size) == v;
    let size = [2, 4, 8, 16, 32, 64].into_iter().find(repeats)?;
    let ones = (v & low(size)).count_ones();
    let run = (0..64 / size).fold(0, |all, i| all | low(ones) << (i * size));
    let rotation = (0..size).find(|r| run.rotate_right(*r) == v)?;
    let wide = u32::from(size == 64);
    Some(wide << 22 | rotation << 16 | ((!(2 * size - 1) & 63) | (ones - 1)) << 10)
}

/// Lets the processor fetch instructions that were just written, for it does not look for them where it writes data.
///
/// # Safety
/// `at` begins `len` bytes that can be read.
#[cfg(target_arch = "aarch64")]
pub unsafe fn show_to_fetch(at: *const u8, len: usize) {
    use std::arch::asm;
    let lines: u64;
    // SAFETY: the register says how long lines of the caches are; programs may read it.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) lines, options(nomem, nostack, preserves_flags)) };
    let (begin, end) = (at as usize, at as usize + len);
    let each = |line: usize| (begin & !(line - 1)..end).step_by(line);
    for place in each(4 << (lines >> 16 & 15)) {
        // SAFETY: the line holds a byte of the memory that the caller speaks of; its contents do not change.
        unsafe { asm!("dc cvau, {}", in(reg) place, options(nostack, preserves_flags)) };
    }
    // SAFETY: a barrier changes nothing.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for place in each(4 << (lines & 15)) {
        // SAFETY: as above.
        unsafe { asm!("ic ivau, {}", in(reg) place, options(nostack, preserves_flags)) };
    }
    // SAFETY: as above.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}
