//! Steps of a routine as instructions for aarch64.
//!
//! In: steps over a frame, five temporaries, labels. Out: instructions. Registers: `x19` the frame, `x20` the context, `x21` the
//! stack at the start, `w22` how many calls are still allowed, `w23` how many are in steps that `done` ends; `x11` to `x15` are
//! the temporaries. `x16` holds addresses and numbers for one step, `x17` a second number, and `x10` the word whose lowest bit was tested.
//! The way back of the innermost call is in `x30`; whoever calls saves its own on the stack, in 16 bytes.
//!
//! A processor of this kind has other flags than the steps speak of: a subtraction that borrows clears the carry, a shift sets
//! nothing, and a product has no flag of overflow. So the builder knows which step was the last to set them (`Flags`), and a condition that such a
//! step does not say anything about gives no routine.

mod encoding;
#[cfg(test)]
mod tests;

use super::steps::{Aside, Condition, Label, Temp, UNBOUND, Word};
use super::{DEPTH, GO, JUMP, TICK};
#[cfg(target_arch = "aarch64")]
pub(super) use encoding::show_to_fetch;
use encoding::*;

/// What the flags of the processor say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flags {
    Unknown,
    /// Of a difference; the carry is clear if it borrowed.
    Difference,
    Sum,
    /// Of a word: whether it is zero or negative.
    Word,
    /// Nothing yet, but they are wanted of the word in this temporary.
    Of(Temp),
    /// Nothing, but the lowest bit of `x10` was tested.
    Bit,
    /// Equal if a product fits.
    Product,
}

/// Where an instruction waits for the distance to a label, and in which of its bits.
#[derive(Clone, Copy, Debug)]
enum Distance {
    /// The lowest 26 bits.
    Far,
    /// 19 bits from bit 5 on.
    Near,
}

/// Makes a routine step by step. One of more than a mebibyte has jumps that are too far and is not made.
pub struct Builder {
    instructions: Vec<u32>,
    /// Where the labels are, in instructions.
    places: Vec<u32>,
    waiting: Vec<(usize, Label, Distance)>,
    asides: Vec<Aside>,
    /// Tables of labels, with the instruction that waits for the distance to them. They are data: no label leads there.
    tables: Vec<(usize, Box<[Label; 64]>)>,
    exit: Label,
    /// What a routine ends with when it returns from where it was entered.
    end: u32,
    flags: Flags,
    /// A step was asked for that these instructions do not know.
    failed: bool,
}

impl Builder {
    /// A builder with the labels `0..labels`; `end` is the number a routine ends with when it returns from where
    /// it was entered. `None` if this processor cannot run what would be built.
    pub fn new(labels: usize, end: u32) -> Option<Builder> {
        let mut b = Builder {
            instructions: Vec::with_capacity(16 + 6 * labels),
            places: vec![UNBOUND; labels],
            waiting: Vec::new(),
            asides: Vec::new(),
            tables: Vec::new(),
            exit: Label(0),
            end,
            flags: Flags::Unknown,
            failed: false,
        };
        b.exit = b.label();
        b.put(0xa9bc_7bfd); // stp x29, x30, [sp, #-64]!
        b.put(0xa901_53f3); // stp x19, x20, [sp, #16]
        b.put(0xa902_5bf5); // stp x21, x22, [sp, #32]
        b.put(0xf900_1bf7); // str x23, [sp, #48]
        b.move_register(CONTEXT, 0);
        b.move_register(FRAME, 1);
        b.number(ADD_NUMBER, START, STACK, 0);
        b.number_32(CALLS, DEPTH);
        b.number_32(PIECES, DEPTH);
        b.put(0xd63f_0040); // blr x2
        b.bind(b.exit);
        b.number(ADD_NUMBER, STACK, START, 0);
        b.put(0xf940_1bf7); // ldr x23, [sp, #48]
        b.put(0xa942_5bf5); // ldp x21, x22, [sp, #32]
        b.put(0xa941_53f3); // ldp x19, x20, [sp, #16]
        b.put(0xa8c4_7bfd); // ldp x29, x30, [sp], #64
        b.ret();
        Some(b)
    }

    /// A new label.
    pub fn label(&mut self) -> Label {
        self.places.push(UNBOUND);
        Label(self.places.len() as u32 - 1)
    }

    /// Here is where `label` is.
    pub fn bind(&mut self, label: Label) {
        self.places[label.0 as usize] = self.instructions.len() as u32;
        self.flags = Flags::Unknown;
    }

    pub fn load(&mut self, x: Temp, r: u16) {
        self.word(LDR, register(x), r);
        self.wrote(x);
    }

    pub fn store(&mut self, r: u16, x: Temp) {
        self.word(STR, register(x), r);
    }

    /// Loads the word whose index is the low 16 bits of `i`.
    pub fn load_at(&mut self, x: Temp, i: Temp) {
        self.narrow(i);
        self.three(LDR_INDEXED, register(x), FRAME, register(i));
        self.wrote(x);
    }

    pub fn store_at(&mut self, i: Temp, x: Temp) {
        self.narrow(i);
        self.three(STR_INDEXED, register(x), FRAME, register(i));
    }

    pub fn store_number(&mut self, r: u16, v: i32) {
        let from = if v == 0 { ZERO } else { SECOND };
        if v != 0 {
            self.number_64(SECOND, i64::from(v) as u64);
        }
        self.word(STR, from, r);
    }

    pub fn set(&mut self, x: Temp, v: i64) {
        self.number_64(register(x), v as u64);
        self.wrote(x);
    }

    pub fn copy(&mut self, x: Temp, y: Temp) {
        self.move_register(register(x), register(y));
        self.wrote(x);
    }

    /// `x := x op y`.
    pub fn combine(&mut self, op: Word, x: Temp, y: Temp) {
        self.operation(op, x, register(y));
    }

    /// `x := x op f[r]`.
    pub fn combine_word(&mut self, op: Word, x: Temp, r: u16) {
        self.word(LDR, NEAR, r);
        self.operation(op, x, NEAR);
    }

    /// `x := x op i`.
    pub fn combine_number(&mut self, op: Word, x: Temp, i: i32) {
        let small = i.unsigned_abs() < 1 << 12;
        match op {
            Word::Add | Word::Sub | Word::Cmp if small => {
                let sum = (op == Word::Add) != (i < 0);
                let into = if op == Word::Cmp { ZERO } else { register(x) };
                let instruction = if sum { ADDS_NUMBER } else { SUBS_NUMBER };
                self.number(instruction, into, register(x), i.unsigned_abs());
                self.flags = if op == Word::Add { Flags::Sum } else { Flags::Difference };
            }
            Word::Add | Word::Sub | Word::Cmp => {
                self.number_64(NEAR, i64::from(i) as u64);
                self.operation(op, x, NEAR);
            }
            Word::And | Word::Or | Word::Xor => match pattern(i64::from(i) as u64) {
                Some(bits) => {
                    let instruction = match op {
                        Word::And => ANDS_PATTERN,
                        Word::Or => ORR_PATTERN,
                        _ => EOR_PATTERN,
                    };
                    self.put(instruction | bits | register(x) << 5 | register(x));
                    self.flags = if op == Word::And { Flags::Word } else { Flags::Of(x) };
                }
                None => {
                    self.number_64(NEAR, i64::from(i) as u64);
                    self.operation(op, x, NEAR);
                }
            },
        }
    }

    /// Compares `f[r]` with a number.
    pub fn compare_word(&mut self, r: u16, i: i32) {
        self.word(LDR, NEAR, r);
        if i.unsigned_abs() < 1 << 12 {
            let instruction = if i < 0 { ADDS_NUMBER } else { SUBS_NUMBER };
            self.number(instruction, ZERO, NEAR, i.unsigned_abs());
        } else {
            self.number_64(SECOND, i64::from(i) as u64);
            self.three(SUBS, ZERO, NEAR, SECOND);
        }
        self.flags = Flags::Difference;
    }

    /// `x := x * f[r]`; `Overflow` if that is no 64-bit number.
    pub fn multiply_word(&mut self, x: Temp, r: u16) {
        let x = register(x);
        self.word(LDR, NEAR, r);
        self.three(SMULH, SECOND, x, NEAR);
        self.three(MUL, x, x, NEAR);
        // The upper word of a product that fits is the sign of the lower one: subs xzr, x17, x, asr #63.
        self.three(SUBS | 2 << 22 | 63 << 10, ZERO, SECOND, x);
        self.flags = Flags::Product;
    }

    pub fn multiply_number(&mut self, x: Temp, i: i32) {
        self.number_64(NEAR, i64::from(i) as u64);
        self.three(MUL, register(x), register(x), NEAR);
        self.flags = Flags::Unknown;
    }

    /// `A := A / C` and `D := A % C`, without signs, where `C` is a number that is not zero.
    pub fn divide_by(&mut self, k: u16) {
        self.set(Temp::C, i64::from(k.max(1)));
        let [a, c, d] = [Temp::A, Temp::C, Temp::D].map(register);
        self.three(UDIV, NEAR, a, c);
        self.product_less(d, NEAR, c, a);
        self.move_register(a, NEAR);
        self.flags = Flags::Unknown;
    }

    /// The remainder of `A` by `C` in `A`; `l` unless A ≥ 0 and C > 0, as numbers with a sign.
    pub fn remainder(&mut self, l: Label) {
        let [a, c] = [Temp::A, Temp::C].map(register);
        self.test(Temp::A);
        self.jump_if(Condition::Negative, l);
        self.test(Temp::C);
        self.jump_if(Condition::NotGreater, l);
        self.three(UDIV, NEAR, a, c);
        self.product_less(a, NEAR, c, a);
        self.flags = Flags::Unknown;
    }

    /// `A := A / C`, towards zero, of numbers with a sign; `D` is lost. `zero` if `C` is zero, `beyond` if the quotient
    /// is no 64-bit number.
    pub fn divide(&mut self, zero: Label, beyond: Label) {
        let (other, done) = (self.label(), self.label());
        self.test(Temp::C);
        self.jump_if(Condition::Equal, zero);
        self.combine_number(Word::Cmp, Temp::C, -1);
        self.jump_if(Condition::NotEqual, other);
        self.negate(Temp::A);
        self.jump_if(Condition::Overflow, beyond);
        self.jump(done);
        self.bind(other);
        self.three(SDIV, register(Temp::A), register(Temp::A), register(Temp::C));
        self.bind(done);
    }

    /// `x := -x`; afterwards `Below` if `x` was not zero, `Overflow` if it has no opposite.
    pub fn negate(&mut self, x: Temp) {
        self.three(SUBS, register(x), ZERO, register(x));
        self.flags = Flags::Difference;
    }

    /// All bits of `x` are what `Below` says.
    pub fn spread(&mut self, x: Temp) {
        if self.flags == Flags::Bit {
            self.put(0x9340_0000 | TESTED << 5 | register(x)); // sbfx x, x10, #0, #1
        } else {
            let otherwise = self.condition(Condition::Below) ^ 1;
            self.put(0xda9f_03e0 | otherwise << 12 | register(x)); // csetm
        }
    }

    /// Shifts `x` left by one and puts in what `Below` says.
    pub fn append(&mut self, x: Temp) {
        let x = register(x);
        if self.flags == Flags::Bit {
            self.put(AND_PATTERN | 1 << 22 | TESTED << 5 | NEAR); // and x16, x10, #1
        } else {
            let otherwise = self.condition(Condition::Below) ^ 1;
            self.put(0x9a9f_07e0 | otherwise << 12 | NEAR); // cset x16
        }
        self.three(ORR | 1 << 10, x, NEAR, x); // orr x, x16, x, lsl #1
        self.flags = Flags::Unknown;
    }

    /// `x := y` if the condition holds.
    pub fn take_if(&mut self, c: Condition, x: Temp, y: Temp) {
        let when = self.condition(c);
        self.three(0x9a80_0000 | when << 12, register(x), register(y), register(x)); // csel
        self.wrote(x);
    }

    /// `x := x * y`.
    pub fn multiply(&mut self, x: Temp, y: Temp) {
        self.three(MUL, register(x), register(x), register(y));
        self.flags = Flags::Unknown;
    }

    pub fn not(&mut self, x: Temp) {
        self.three(ORN, register(x), ZERO, register(x));
        self.wrote(x);
    }

    /// Sets the flags by what `x` is.
    pub fn test(&mut self, x: Temp) {
        self.flags = Flags::Of(x);
    }

    pub fn shift_left(&mut self, x: Temp, by: u8) {
        let by = u32::from(by & 63);
        if by != 0 {
            self.field(0xd340_0000, x, (64 - by) & 63, 63 - by);
        }
    }

    pub fn shift_right(&mut self, x: Temp, by: u8) {
        if by & 63 != 0 {
            self.field(0xd340_0000, x, u32::from(by & 63), 63);
        }
    }

    /// Shifts to the right and keeps the sign.
    pub fn shift_right_signed(&mut self, x: Temp, by: u8) {
        if by & 63 != 0 {
            self.field(0x9340_0000, x, u32::from(by & 63), 63);
        }
    }

    /// Shifts by the low six bits of `C`.
    pub fn shift_left_c(&mut self, x: Temp) {
        self.changed(LSL, x, register(Temp::C));
    }

    pub fn shift_right_c(&mut self, x: Temp) {
        self.changed(LSR, x, register(Temp::C));
    }

    /// `Below` if bit `y % 64` of `x` is set.
    pub fn test_bit(&mut self, x: Temp, y: Temp) {
        self.three(LSR, TESTED, register(x), register(y));
        self.flags = Flags::Bit;
    }

    pub fn set_bit(&mut self, x: Temp, y: Temp) {
        self.one_bit(y);
        self.changed(ORR, x, NEAR);
    }

    pub fn clear_bit(&mut self, x: Temp, y: Temp) {
        self.one_bit(y);
        self.changed(BIC, x, NEAR);
    }

    /// `Below` if bit `i % 64` of `x` is set.
    pub fn test_bit_number(&mut self, x: Temp, i: u8) {
        self.put(0xd340_0000 | u32::from(i & 63) << 16 | 63 << 10 | register(x) << 5 | TESTED); // lsr x10, x, #i
        self.flags = Flags::Bit;
    }

    pub fn set_bit_number(&mut self, x: Temp, i: u8) {
        self.masked(ORR_PATTERN, x, 1 << (i & 63));
    }

    pub fn clear_bit_number(&mut self, x: Temp, i: u8) {
        self.masked(AND_PATTERN, x, !(1 << (i & 63)));
    }

    /// `x :=` the number of bits of `y`.
    pub fn count_of(&mut self, x: Temp, y: Temp) {
        self.population(x, register(y));
    }

    /// `x :=` the number of bits of `f[r]`.
    pub fn count(&mut self, x: Temp, r: u16) {
        self.word(LDR, NEAR, r);
        self.population(x, NEAR);
    }

    /// `x :=` the place of the highest bit of `y`, which is not zero.
    pub fn highest(&mut self, x: Temp, y: Temp) {
        self.put(CLZ | register(y) << 5 | register(x));
        self.masked(EOR_PATTERN, x, 63);
    }

    /// `x :=` the place of the lowest bit of `y`, which is not zero.
    pub fn lowest(&mut self, x: Temp, y: Temp) {
        self.put(RBIT | register(y) << 5 | register(x));
        self.put(CLZ | register(x) << 5 | register(x));
        self.flags = Flags::Unknown;
    }

    pub fn jump(&mut self, l: Label) {
        self.to(0x1400_0000, l, Distance::Far);
    }

    pub fn jump_if(&mut self, c: Condition, l: Label) {
        match (self.flags, c) {
            (Flags::Of(x), Condition::Equal) => self.to(0xb400_0000 | register(x), l, Distance::Near), // cbz
            (Flags::Of(x), Condition::NotEqual) => self.to(0xb500_0000 | register(x), l, Distance::Near), // cbnz
            _ => {
                let when = self.condition(c);
                self.branch(when, l);
            }
        }
    }

    /// Goes to the label with the number that is in the low six bits of `C`.
    pub fn choose(&mut self, targets: Box<[Label; 64]>) {
        let low = pattern(63).unwrap_or_default();
        self.put(AND_PATTERN | low | register(Temp::C) << 5 | NEAR);
        self.tables.push((self.instructions.len(), targets));
        self.put(0x1000_0000 | SECOND); // adr x17, table
        self.put(0xb8b0_7a30); // ldrsw x16, [x17, x16, lsl #2]
        self.three(ADD, NEAR, NEAR, SECOND);
        self.put(0xd61f_0200); // br x16
        self.flags = Flags::Unknown;
    }

    /// Goes to `l` and comes back with `give_back`; ends with `too_deep` if that is nested too deeply.
    pub fn call(&mut self, l: Label, too_deep: u32) {
        let (fine, deep) = (self.label(), self.label());
        self.number(SUBS_NUMBER ^ LOWER, CALLS, CALLS, 1);
        self.branch(MI, deep);
        self.enter(l);
        self.jump(fine);
        self.bind(deep);
        self.end(too_deep);
        self.bind(fine);
    }

    pub fn give_back(&mut self) {
        self.number_32(0, self.end);
        self.ret();
    }

    /// From here on the steps that `piece` goes to are pieces: what `done` ends is a piece and not the routine.
    pub fn begin_pieces(&mut self) {
        self.number_32(PIECES, DEPTH - 1);
    }

    /// Runs the steps at `l` until they are `done`. Whatever ends the routine there ends it all, and so does a piece
    /// while a call is open.
    pub fn piece(&mut self, l: Label) {
        self.compare_calls(CALLS);
        self.branch(NE, self.exit);
        self.number(SUB_NUMBER ^ LOWER, CALLS, CALLS, 1);
        self.enter(l);
    }

    /// The steps from where the routine was entered are done: a piece ends, and if there is none the routine, with
    /// the number that a builder is made with.
    pub fn done(&mut self) {
        let at = self.label();
        self.number_32(0, self.end);
        self.three(SUBS ^ LOWER, ZERO, CALLS, PIECES);
        self.branch(NE, at);
        self.ret();
        self.asides.push(Aside::Done { at });
    }

    /// Ends the routine with a number.
    pub fn end(&mut self, with: u32) {
        self.number_32(0, with);
        self.leave();
    }

    /// Asks the host; `jump` is where its answer `JUMP` leads.
    pub fn request(&mut self, request: u32, jump: Option<Label>) {
        const { assert!(GO == 0) };
        self.request_of_host(request);
        let at = self.label();
        self.to(0x3500_0000, at, Distance::Near); // cbnz w0
        self.asides.push(Aside::Answer { at, jump });
    }

    /// Counts a step towards the next tick.
    pub fn tick(&mut self) {
        let (at, back) = (self.label(), self.label());
        self.put(0xb940_0290); // ldr w16, [x20]
        self.number(SUBS_NUMBER ^ LOWER, NEAR, NEAR, 1);
        self.put(0xb900_0290); // str w16, [x20]
        self.branch(EQ, at);
        self.bind(back);
        self.asides.push(Aside::Tick { at, back });
    }

    /// The routine, if the system allows to run it. Running off the end of the steps is an end with `beyond`.
    #[cfg(target_arch = "aarch64")]
    pub fn finish(self, beyond: u32) -> Option<super::Routine> {
        let (instructions, places) = self.assembled(beyond)?;
        super::Routine::new(&instructions, places)
    }

    /// The instructions as bytes, and where in them the labels are.
    pub(super) fn assembled(mut self, beyond: u32) -> Option<(Vec<u8>, Vec<u32>)> {
        self.end(beyond);
        std::mem::take(&mut self.asides).into_iter().for_each(|aside| self.aside(aside));
        if self.failed || self.places.contains(&UNBOUND) {
            return None;
        }
        for (at, targets) in std::mem::take(&mut self.tables) {
            let table = self.instructions.len();
            let far = signed((table - at) as i64 * 4, 21)?;
            self.instructions[at] |= (far & 3) << 29 | (far >> 2) << 5;
            for target in targets.iter() {
                let place = *self.places.get(target.0 as usize)?;
                self.put(i32::try_from((i64::from(place) - table as i64) * 4).ok()? as u32);
            }
        }
        for (at, to, distance) in std::mem::take(&mut self.waiting) {
            let far = i64::from(*self.places.get(to.0 as usize)?) - at as i64;
            self.instructions[at] |= match distance {
                Distance::Far => signed(far, 26)?,
                Distance::Near => signed(far, 19)? << 5,
            };
        }
        let bytes = self.instructions.iter().flat_map(|i| i.to_le_bytes()).collect();
        Some((bytes, self.places.iter().map(|place| place * 4).collect()))
    }
}

/// Instructions that several steps have in common.
impl Builder {
    /// Some bits of `x` as the number `x`.
    fn field(&mut self, instruction: u32, x: Temp, rotation: u32, last: u32) {
        self.put(instruction | rotation << 16 | last << 10 | register(x) << 5 | register(x));
        self.flags = Flags::Unknown;
    }

    /// `x := x op m` of an instruction that sets no flags.
    fn changed(&mut self, instruction: u32, x: Temp, m: Register) {
        self.three(instruction, register(x), register(x), m);
        self.flags = Flags::Unknown;
    }

    /// `x := x op i`, where `i` is a pattern of bits.
    fn masked(&mut self, instruction: u32, x: Temp, i: u64) {
        match pattern(i) {
            Some(bits) => self.put(instruction | bits | register(x) << 5 | register(x)),
            None => self.failed = true,
        }
        self.flags = Flags::Unknown;
    }

    /// `x16 := 2 ** (y % 64)`.
    fn one_bit(&mut self, y: Temp) {
        self.number_32(NEAR, 1);
        self.three(LSL, NEAR, NEAR, register(y));
    }

    /// The low 16 bits of `i`: what makes an index of any word.
    fn narrow(&mut self, i: Temp) {
        self.put(0x5300_3c00 | register(i) << 5 | register(i)); // uxth
        self.wrote(i);
    }

    fn operation(&mut self, op: Word, x: Temp, m: Register) {
        let d = register(x);
        match op {
            Word::Add => self.three(ADDS, d, d, m),
            Word::Sub => self.three(SUBS, d, d, m),
            Word::Cmp => self.three(SUBS, ZERO, d, m),
            Word::And => self.three(ANDS, d, d, m),
            Word::Or => self.three(ORR, d, d, m),
            Word::Xor => self.three(EOR, d, d, m),
        }
        self.flags = match op {
            Word::Add => Flags::Sum,
            Word::Sub | Word::Cmp => Flags::Difference,
            Word::And => Flags::Word,
            Word::Or | Word::Xor => Flags::Of(x),
        };
    }

    fn population(&mut self, x: Temp, from: Register) {
        self.put(0x9e67_0000 | from << 5); // fmov d0, x
        self.put(0x0e20_5800); // cnt v0.8b, v0.8b
        self.put(0x0e31_b800); // addv b0, v0.8b
        self.put(0x1e26_0000 | register(x)); // fmov w, s0
        self.flags = Flags::Unknown;
    }

    /// A temporary was written by a step that leaves the flags as they are.
    fn wrote(&mut self, x: Temp) {
        if self.flags == Flags::Of(x) {
            self.flags = Flags::Unknown;
        }
    }

    /// The condition of the processor that says what the step before means by `c`; makes the flags if they are only wanted.
    fn condition(&mut self, c: Condition) -> u32 {
        match self.flags {
            Flags::Of(x) => {
                self.three(ANDS, ZERO, register(x), register(x));
                self.flags = Flags::Word;
            }
            Flags::Bit => self.put(ANDS_PATTERN | 1 << 22 | TESTED << 5 | ZERO), // tst x10, #1
            _ => {}
        }
        match (self.flags, c) {
            (Flags::Difference, Condition::Below) | (Flags::Sum, Condition::NotBelow) => LO,
            (Flags::Difference, Condition::NotBelow) | (Flags::Sum, Condition::Below) => HS,
            (Flags::Difference, Condition::Above) => HI,
            (Flags::Difference | Flags::Sum, Condition::Overflow) => VS,
            (Flags::Bit, Condition::Below) | (Flags::Product, Condition::Overflow) => NE,
            (Flags::Bit, Condition::NotBelow) => EQ,
            (Flags::Difference | Flags::Sum | Flags::Word, c) => match c {
                Condition::Equal => EQ,
                Condition::NotEqual => NE,
                Condition::Negative => MI,
                Condition::Less => LT,
                Condition::NotLess => GE,
                Condition::Greater => GT,
                Condition::NotGreater => LE,
                Condition::Overflow | Condition::Below | Condition::NotBelow | Condition::Above => {
                    self.fail()
                }
            },
            _ => self.fail(),
        }
    }

    fn fail(&mut self) -> u32 {
        self.failed = true;
        EQ
    }

    /// Calls the steps at `l`, with the own way back on the stack, and counts the call as over.
    fn enter(&mut self, l: Label) {
        self.put(0xf81f_0ffe); // str x30, [sp, #-16]!
        self.to(0x9400_0000, l, Distance::Far); // bl
        self.put(0xf841_07fe); // ldr x30, [sp], #16
        self.number(ADD_NUMBER ^ LOWER, CALLS, CALLS, 1);
        self.flags = Flags::Unknown;
    }

    /// Compares a count of calls with that of no call.
    fn compare_calls(&mut self, x: Register) {
        self.number(SUBS_NUMBER ^ LOWER, ZERO, x, DEPTH);
    }

    /// Ends the routine with what is in `w0`. PERF: where no call is open, by a return, which the processor foresees.
    fn leave(&mut self) {
        self.compare_calls(CALLS);
        self.branch(NE, self.exit);
        self.ret();
    }

    fn request_of_host(&mut self, request: u32) {
        self.put(0xf81f_0ffe); // str x30, [sp, #-16]!
        self.move_register(0, CONTEXT);
        self.number_32(1, request);
        self.put(0xf940_0689); // ldr x9, [x20, #8]
        self.put(0xd63f_0120); // blr x9
        self.put(0xf841_07fe); // ldr x30, [sp], #16
        self.flags = Flags::Unknown;
    }

    fn aside(&mut self, aside: Aside) {
        match aside {
            Aside::Answer { at, jump } => {
                self.bind(at);
                if let Some(l) = jump {
                    self.number(SUBS_NUMBER ^ LOWER, ZERO, 0, JUMP);
                    self.branch(EQ, l);
                }
                self.leave();
            }
            Aside::Done { at } => {
                self.bind(at);
                self.compare_calls(PIECES);
                self.branch(EQ, self.exit);
                self.three(SUBS ^ LOWER, ZERO, CALLS, PIECES);
                self.branch(GT, self.exit);
                // Two calls are open or more. The first has left the way out of the routine below the stack at the start, the second
                // the way back to behind the first.
                self.move_register(CALLS, PIECES);
                self.number(SUB_NUMBER, STACK, START, 16);
                self.put(0xf85e_02be); // ldur x30, [x21, #-32]
                self.ret();
            }
            Aside::Tick { at, back } => {
                self.bind(at);
                self.request_of_host(TICK);
                self.to(0x3400_0000, back, Distance::Near); // cbz w0
                self.leave();
            }
        }
    }
}
