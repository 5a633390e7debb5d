//! Register code as machine code.
//!
//! In: `Code`. Out: a routine that does what `exec` does with it, operation by operation, or nothing where
//! none can be made; `exec` is then the way. Operations on many words stay what they are, in `bulk`, and are called,
//! as is the host; `relations` and `arrays` have steps for those on few. Never here: bytes of instructions, which are the business of the kernels.
//!
//! Each operation becomes the steps between two labels, and nothing is carried from one operation to the next but the
//! frame. So a routine is right if each operation is; the tests run single operations and random code both ways.

mod arrays;
mod relations;
mod states;
#[cfg(test)]
mod tests;

use super::exec::{Answer, Exit, Host, Regs};
use super::ir::{Code, Op, Reg};
use crate::batched_tests::Sieve;
use crate::wide_ops;
use crate::wide_ops::Step;
use bombus_kernels::bits::cells::Cells;
use bombus_kernels::faults::fault;
use bombus_kernels::native::{self, Builder, Condition, GO, JUMP, Label, Routine, TICK, Temp, Word};
use states::Rounds;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Code beyond this length is seldom hot in all its parts.
const LONGEST: usize = 1 << 17;
/// Values of more words are left to the operations on many words.
const UNROLLED: u16 = 16;
/// A chain of so few tests is made of tests.
const FEW: u32 = 4;

// Numbers a routine ends with; 0 and 1 are answers of a host.
const DONE: u32 = 2;
const HOLDS: u32 = 3;
const FAILS: u32 = 4;
const ILL: u32 = 5;
const MISFIT: u32 = 6;
const STOPPED: u32 = 7;

/// Runs after which code is worth translating: a valuation of the constants may have a handful of states.
const HOT: u32 = 256;

/// Whether code becomes machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tier {
    /// As soon as it turns out to be run often.
    #[default]
    WhenHot,
    AtOnce,
    Never,
}

/// The routine of some code, made when the code has been run often enough.
#[derive(Debug, Default)]
pub struct Native {
    wanted: Tier,
    /// Runs so far, until there is a decision. A statistic: nothing is ordered by it.
    runs: AtomicU32,
    /// `None` inside if no routine can be made.
    made: OnceLock<Option<Made>>,
}

/// Machine code, and where it goes through whole states if it can.
#[derive(Debug)]
pub struct Made {
    routine: Routine,
    rounds: Option<Rounds>,
}

impl Native {
    pub fn new(wanted: Tier) -> Native {
        Native { wanted, ..Native::default() }
    }

    /// The machine code of `code`, whose part this is, if it has some by now.
    #[inline]
    pub fn made(&self, code: &Code) -> Option<&Made> {
        match self.made.get() {
            Some(made) => made.as_ref(),
            None => self.decide(code),
        }
    }

    #[cold]
    fn decide(&self, code: &Code) -> Option<&Made> {
        match self.wanted {
            Tier::Never => return None,
            Tier::WhenHot if self.runs.fetch_add(1, Ordering::Relaxed) < HOT => return None,
            Tier::WhenHot | Tier::AtOnce => {}
        }
        self.made.get_or_init(|| translate(code)).as_ref()
    }

    /// Bytes of machine code.
    pub fn bytes(&self) -> usize {
        self.made.get().and_then(|made| made.as_ref()).map_or(0, |made| made.routine.bytes())
    }
}

/// A copy of code is other code, which has not been run.
impl Clone for Native {
    fn clone(&self) -> Native {
        Native::new(self.wanted)
    }
}

/// A routine that does what `code` says; its first labels are the places of the operations.
pub fn translate(code: &Code) -> Option<Made> {
    if code.ops.is_empty() || code.ops.len() > LONGEST {
        return None;
    }
    let mut b = Builder::new(code.ops.len(), DONE)?;
    let misfit = b.label();
    let single = code.constants.iter().filter(|(_, words)| words.len() == 1);
    let constants = single.map(|(r, words)| (*r, words[0])).collect();
    for (pc, op) in code.ops.iter().enumerate() {
        b.bind(Label(pc as u32));
        let mut one = Translation { b: &mut b, code, constants: &constants, pc: pc as u32, misfit };
        one.op(op);
    }
    // Code does not run off its end; if it did, the interpreter would say so.
    b.end(MISFIT);
    b.bind(misfit);
    b.end(MISFIT);
    let rounds = code.plan.as_ref().map(|plan| Rounds::build(&mut b, plan, DONE));
    Some(Made { routine: b.finish(MISFIT)?, rounds })
}

impl Made {
    /// Does all events of the state in the tray from the one with the number `first` on; the first of all loads the state.
    /// `None` if this machine code knows no whole states. Any end but `Exit::Done` is one within the event in the tray.
    #[inline]
    pub fn round<H: Host>(&self, code: &Code, first: usize, regs: &mut Regs, host: &mut H) -> Option<Exit> {
        let from = *self.rounds.as_ref()?.from.get(first)?;
        Some(self.run_at(code, from, regs, host))
    }

    /// Loads the state in the tray and runs the check with the number `which`, if it is part of this machine code.
    #[inline]
    pub fn check<H: Host>(&self, code: &Code, which: usize, regs: &mut Regs, host: &mut H) -> Option<Exit> {
        let from = (*self.rounds.as_ref()?.checks.get(which)?)?;
        Some(self.run_at(code, from, regs, host))
    }

    /// Whether this machine code knows whole states.
    #[inline]
    pub fn knows_states(&self) -> bool {
        self.rounds.is_some()
    }

    fn run_at<H: Host>(&self, code: &Code, from: Label, regs: &mut Regs, host: &mut H) -> Exit {
        let mut bridge = Bridge { code, host, served: 0 };
        exit_of(self.routine.run(from, regs, &mut bridge))
    }
}

/// Runs `code` from `entry` by its routine.
pub fn run<H: Host>(made: &Made, code: &Code, entry: u32, regs: &mut Regs, host: &mut H) -> Exit {
    made.run_at(code, Label(entry), regs, host)
}

/// What the number says that a routine ended with.
fn exit_of(number: u32) -> Exit {
    match number {
        DONE => Exit::Done,
        HOLDS => Exit::Holds,
        FAILS => Exit::Fails,
        ILL => Exit::Ill,
        STOPPED => Exit::Stopped,
        _ => Exit::Misfit,
    }
}

/// What a routine asks for: operations it has no steps for, and the host.
struct Bridge<'b, H> {
    code: &'b Code,
    host: &'b mut H,
    served: u32,
}

impl<H: Host> native::Host for Bridge<'_, H> {
    #[inline]
    fn serve(&mut self, regs: &mut Regs, request: u32) -> u32 {
        if request == TICK {
            return if self.host.tick() { GO } else { STOPPED };
        }
        let answer = match &self.code.ops[request as usize] {
            Op::Emit { t } => match self.host.emit(*t, regs) {
                Answer::Jump => Answer::Misfit,
                answer => answer,
            },
            Op::Undefined => {
                self.host.undefined(regs);
                Answer::Go
            }
            Op::General { g, .. } => self.host.general(*g, regs),
            op => match wide_ops::step(op, regs, self.code) {
                Step::Go => {
                    self.served = self.served.wrapping_add(1);
                    if self.served & 0xffff == 0 && !self.host.tick() { Answer::Stopped } else { Answer::Go }
                }
                Step::To(_) => Answer::Jump,
                Step::Misfit => Answer::Misfit,
            },
        };
        match answer {
            Answer::Go => GO,
            Answer::Jump => JUMP,
            Answer::Misfit => MISFIT,
            Answer::Stopped => STOPPED,
        }
    }
}

struct Translation<'t> {
    b: &'t mut Builder,
    code: &'t Code,
    /// Registers of one word that nothing writes.
    constants: &'t HashMap<Reg, u64>,
    pc: u32,
    misfit: Label,
}

use Condition::{
    Above, Below, Equal, Greater, Less, Negative, NotBelow, NotEqual, NotGreater, NotLess, Overflow,
};
use Temp::{A, C, D, E, F};

impl Translation<'_> {
    fn op(&mut self, op: &Op) {
        match *op {
            Op::Const { d, v } => {
                self.b.set(A, v);
                self.b.store(d, A);
            }
            Op::Copy { d, a, n } if n <= UNROLLED && apart(d, a, n) => self.copy(d, a, n),
            Op::Add { d, a, b } => self.exact(Word::Add, d, a, b),
            Op::Sub { d, a, b } => self.exact(Word::Sub, d, a, b),
            Op::AddImm { d, a, i } => {
                self.b.load(A, a);
                let i = if fault("native: a number is added twice") { i.wrapping_mul(2) } else { i };
                self.b.combine_number(Word::Add, A, i);
                self.b.jump_if(Overflow, self.misfit);
                self.b.store(d, A);
            }
            Op::Mul { d, a, b } => {
                self.b.load(A, a);
                self.b.multiply_word(A, b);
                self.b.jump_if(Overflow, self.misfit);
                self.b.store(d, A);
            }
            Op::Mod { d, a, b, l } => {
                self.b.load(A, a);
                self.b.load(C, b);
                self.b.remainder(Label(l));
                self.b.store(d, A);
            }
            Op::CodeOfInt { d, a, lo, n, l } => {
                self.b.load(A, a);
                self.b.combine_number(Word::Sub, A, lo);
                self.b.combine_number(Word::Cmp, A, i32::from(n));
                self.b.jump_if(NotBelow, Label(l));
                self.b.store(d, A);
            }
            Op::PairCode { d, a, b, k } => {
                self.b.load(A, a);
                let k = i32::from(k) - i32::from(fault("native: rows of a matrix overlap"));
                self.b.multiply_number(A, k);
                self.b.combine_word(Word::Add, A, b);
                self.b.store(d, A);
            }
            Op::RowOf { d, a, k } if k > 0 => {
                self.b.load(A, a);
                if k.is_power_of_two() {
                    self.b.shift_right(A, k.trailing_zeros() as u8);
                } else {
                    self.b.divide_by(k);
                }
                self.b.store(d, A);
            }
            Op::ColOf { d, a, k } if k > 0 => {
                self.b.load(A, a);
                if k.is_power_of_two() {
                    self.b.combine_number(Word::And, A, i32::from(k) - 1);
                    self.b.store(d, A);
                } else {
                    self.b.divide_by(k);
                    self.b.store(d, D);
                }
            }
            Op::Jump { l } => self.b.jump(Label(l)),
            Op::JumpEq { a, b, l } => self.compare(a, b, Equal, l),
            Op::JumpNe { a, b, l } => self.compare(a, b, NotEqual, l),
            Op::JumpLt { a, b, l } if fault("native: less is less or equal") => {
                self.compare(a, b, NotGreater, l)
            }
            Op::JumpLt { a, b, l } => self.compare(a, b, Less, l),
            Op::JumpLe { a, b, l } => self.compare(a, b, NotGreater, l),
            Op::JumpEqImm { a, l, .. } if fault("native: equal is positive") => {
                self.compare_number(a, 0, Greater, l)
            }
            Op::JumpEqImm { a, i, l } => self.compare_number(a, i, Equal, l),
            Op::JumpNeImm { a, i, l } => self.compare_number(a, i, NotEqual, l),
            Op::JumpLtImm { a, i, l } => self.compare_number(a, i, Less, l),
            Op::JumpGtImm { a, i, l } => self.compare_number(a, i, Greater, l),
            Op::JumpSame { a, b, n, l } if n <= UNROLLED => {
                self.unless_all(n, l, |s, i, no| {
                    s.b.load(A, word(a, i));
                    s.b.combine_word(Word::Cmp, A, word(b, i));
                    s.b.jump_if(NotEqual, no);
                });
            }
            Op::JumpDiffer { a, b, n, l } if n <= UNROLLED => {
                for i in 0..n {
                    self.compare(word(a, i), word(b, i), NotEqual, l);
                }
            }
            Op::JumpBit { a, i, l, .. } if fault("native: a bit is turned round") => {
                self.bit(a, i, NotBelow, l)
            }
            Op::JumpBit { a, i, l, .. } => self.bit(a, i, Below, l),
            Op::JumpNoBit { a, i, l, .. } => self.bit(a, i, NotBelow, l),
            Op::JumpSubset { a, b, n, l } if n <= UNROLLED => {
                self.unless_all(n, l, |s, i, no| {
                    s.without(word(a, i), word(b, i));
                    s.b.jump_if(NotEqual, no);
                });
            }
            Op::JumpNotSubset { a, b, n, l } if n <= UNROLLED => {
                let (a, b) = if fault("native: subset is superset") { (b, a) } else { (a, b) };
                for i in 0..n {
                    self.without(word(a, i), word(b, i));
                    self.b.jump_if(NotEqual, Label(l));
                }
            }
            Op::JumpEmpty { a, n, l } if (1..=UNROLLED).contains(&n) => self.empty(a, n, Equal, l),
            Op::JumpNotEmpty { a, n, l } if (1..=UNROLLED).contains(&n) => self.empty(a, n, NotEqual, l),
            Op::Clear { d, n } if n <= UNROLLED => {
                self.b.set(A, 0);
                let n = n - u16::from(fault("native: the last word of a set is not emptied"));
                (0..n).for_each(|i| self.b.store(word(d, i), A));
            }
            Op::Or { d, a, b, n } if fault("native: union is intersection") => {
                self.words(Word::And, d, a, b, n)
            }
            Op::Or { d, a, b, n } if n <= UNROLLED => self.words(Word::Or, d, a, b, n),
            Op::And { d, a, b, n } if n <= UNROLLED => self.words(Word::And, d, a, b, n),
            Op::AndNot { d, a, b, n } if n <= UNROLLED => {
                for i in 0..n {
                    self.without(word(a, i), word(b, i));
                    self.b.store(word(d, i), A);
                }
            }
            Op::Insert { d, i, .. } => {
                self.bit_word(d, i);
                if fault("native: an element is not put in") {
                    return;
                }
                self.b.set_bit(D, C);
                self.b.store_at(A, D);
            }
            Op::Remove { d, i, .. } => {
                self.bit_word(d, i);
                self.b.clear_bit(D, C);
                self.b.store_at(A, D);
            }
            Op::Count { d, a, n } if n <= UNROLLED => {
                self.b.set(A, fault("native: card counts one more").into());
                for i in 0..n {
                    self.b.count(C, word(a, i));
                    self.b.combine(Word::Add, A, C);
                }
                self.b.store(d, A);
            }
            Op::Next { d, a, n: 1, l } => {
                self.b.load(C, d);
                self.b.combine_number(
                    Word::Add,
                    C,
                    1 + i32::from(fault("native: a loop passes over elements")),
                );
                self.b.combine_number(Word::Cmp, C, 63);
                self.b.jump_if(Above, Label(l));
                self.b.load(A, a);
                self.b.shift_right_c(A);
                self.b.test(A);
                self.b.jump_if(Equal, Label(l));
                self.b.lowest(A, A);
                self.b.combine(Word::Add, A, C);
                self.b.store(d, A);
            }
            Op::NextInt { d, b, l } => {
                self.b.load(A, d);
                self.b.combine_word(Word::Cmp, A, b);
                self.b.jump_if(NotLess, Label(l));
                self.b.combine_number(Word::Add, A, 1);
                self.b.store(d, A);
                self.b.tick();
            }
            Op::Peek { d, a, shift, mask } => {
                self.cell(a, shift, mask);
                self.b.store(d, A);
            }
            Op::Poke { d, a, s, shift, mask, base } => {
                self.b.load(A, s);
                self.b.combine_number(Word::Add, A, i32::from(base));
                self.b.shift_left(A, shift);
                self.cleared(a, shift, mask);
                self.b.combine(Word::Or, A, C);
                self.b.store(d, A);
            }
            Op::PokeImm { d, a, i, shift, mask } => {
                self.cleared(a, shift, mask);
                self.b.set(A, (u64::from(i) << (shift & 63)) as i64);
                self.b.combine(Word::Or, A, C);
                self.b.store(d, A);
            }
            Op::JumpCellEq { a, i, shift, mask, l } => {
                self.cell(a, shift, mask);
                self.b.combine_number(Word::Cmp, A, i32::from(i));
                self.b.jump_if(Equal, Label(l));
            }
            Op::JumpCellNe { a, i, shift, mask, l } => {
                self.cell(a, shift, mask);
                self.b.combine_number(Word::Cmp, A, i32::from(i));
                self.b.jump_if(NotEqual, Label(l));
            }
            Op::Sieve { a, t, shift, l } => self.sieve(a, &self.code.sieves[t as usize], shift, l),
            Op::Cell { d, t, r, c, l } => {
                self.load_cells(t, r, c);
                self.b.shift_right_c(A);
                self.b.combine_number(Word::And, A, c.mask() as i32);
                if c.base > 0 {
                    self.b.combine_number(Word::Sub, A, i32::from(c.base));
                    self.b.jump_if(Negative, Label(l));
                }
                self.b.store(d, A);
            }
            Op::PutCell { d, r, s, c } if one_word(c) => {
                self.b.load(C, r);
                self.b.multiply_number(C, i32::from(c.width));
                self.b.set(A, c.mask() as i64);
                self.b.shift_left_c(A);
                self.b.not(A);
                self.b.combine_word(Word::And, A, d);
                self.b.load(D, s);
                self.b.combine_number(Word::Add, D, i32::from(c.base));
                self.b.shift_left_c(D);
                self.b.combine(Word::Or, A, D);
                self.b.store(d, A);
            }
            Op::Again { l } => {
                self.b.tick();
                self.b.jump(Label(l));
            }
            Op::Call { l } => self.b.call(Label(l), MISFIT),
            Op::Ret => self.b.give_back(),
            Op::Halt => self.b.done(),
            Op::Misfit => self.b.end(MISFIT),
            Op::Holds => self.b.end(HOLDS),
            Op::Fails if fault("native: a false conjunct holds") => self.b.end(HOLDS),
            Op::Fails => self.b.end(FAILS),
            Op::Ill => self.b.end(ILL),
            Op::Emit { t } => match &self.code.plan {
                Some(plan) => self.emission(&plan.emissions[t as usize], plan.words),
                None => self.b.request(self.pc, None),
            },
            _ if self.small(op) => {}
            _ => self.b.request(self.pc, op.touches().label.map(Label)),
        }
    }
}

/// Word `i` of a value.
fn word(r: Reg, i: u16) -> Reg {
    r.wrapping_add(i)
}

fn one_word(c: Cells) -> bool {
    usize::from(c.rows) * usize::from(c.width) <= 64
}

/// Whether two values of `n` words share none.
fn apart(d: Reg, a: Reg, n: u16) -> bool {
    u32::from(d) + u32::from(n) <= u32::from(a) || u32::from(a) + u32::from(n) <= u32::from(d)
}

/// Sequences of steps that several operations have in common. They work in `A`.
impl Translation<'_> {
    fn copy(&mut self, d: Reg, a: Reg, n: u16) {
        for i in usize::from(fault("native: the first word is not copied")) as u16..n {
            self.b.load(A, word(a, i));
            self.b.store(word(d, i), A);
        }
    }

    fn exact(&mut self, op: Word, d: Reg, a: Reg, b: Reg) {
        self.b.load(A, a);
        self.b.combine_word(op, A, b);
        self.b.jump_if(Overflow, self.misfit);
        self.b.store(d, A);
    }

    fn compare(&mut self, a: Reg, b: Reg, when: Condition, l: u32) {
        self.b.load(A, a);
        self.b.combine_word(Word::Cmp, A, b);
        self.b.jump_if(when, Label(l));
    }

    fn compare_number(&mut self, a: Reg, i: i32, when: Condition, l: u32) {
        self.b.compare_word(a, i);
        self.b.jump_if(when, Label(l));
    }

    /// Goes to `l` unless one of `n` parts leads away.
    fn unless_all(&mut self, n: u16, l: u32, part: impl Fn(&mut Self, u16, Label)) {
        let no = self.b.label();
        (0..n).for_each(|i| part(self, i, no));
        self.b.jump(Label(l));
        self.b.bind(no);
    }

    /// What is in `a` and not in `b`.
    fn without(&mut self, a: Reg, b: Reg) {
        self.b.load(A, b);
        self.b.not(A);
        self.b.combine_word(Word::And, A, a);
    }

    fn words(&mut self, op: Word, d: Reg, a: Reg, b: Reg, n: u16) {
        for i in 0..n {
            self.b.load(A, word(a, i));
            self.b.combine_word(op, A, word(b, i));
            self.b.store(word(d, i), A);
        }
    }

    fn empty(&mut self, a: Reg, n: u16, when: Condition, l: u32) {
        self.b.load(A, a);
        (1..n).for_each(|i| self.b.combine_word(Word::Or, A, word(a, i)));
        self.b.test(A);
        self.b.jump_if(when, Label(l));
    }

    /// The word of the set at `a` that holds the bit whose number is in `i`: the number in `C`, the index of the word
    /// in `A`, the word in `D`.
    fn bit_word(&mut self, a: Reg, i: Reg) {
        self.b.load(C, i);
        self.b.copy(A, C);
        self.b.shift_right(A, 6);
        self.b.combine_number(Word::Add, A, i32::from(a));
        self.b.load_at(D, A);
    }

    fn bit(&mut self, a: Reg, i: Reg, when: Condition, l: u32) {
        self.bit_word(a, i);
        self.b.test_bit(D, C);
        self.b.jump_if(when, Label(l));
    }

    /// The content of a cell.
    fn cell(&mut self, a: Reg, shift: u8, mask: u16) {
        let mask = if fault("native: a cell loses its highest bit") { mask >> 1 } else { mask };
        self.b.load(A, a);
        self.b.shift_right(A, shift);
        self.b.combine_number(Word::And, A, i32::from(mask));
    }

    /// In `C`, the word `a` with a cell emptied.
    fn cleared(&mut self, a: Reg, shift: u8, mask: u16) {
        let mask = if fault("native: a cell is not emptied before it is written") { 0 } else { mask };
        let kept = !(u64::from(mask) << (shift & 63)) as i64;
        match i32::try_from(kept) {
            Ok(kept) => {
                self.b.load(C, a);
                self.b.combine_number(Word::And, C, kept);
            }
            Err(_) => {
                self.b.set(C, kept);
                self.b.combine_word(Word::And, C, a);
            }
        }
    }

    /// In `A`, the word of the array at `t` that holds row `f[r]`; in `C`, by how much it is shifted.
    fn load_cells(&mut self, t: Reg, r: Reg, c: Cells) {
        if one_word(c) {
            self.b.load(C, r);
            self.b.load(A, t);
        } else {
            self.b.load(A, r);
            self.b.divide_by(c.per_word() as u16);
            self.b.copy(C, D);
            self.b.combine_number(Word::Add, A, i32::from(t));
            self.b.load_at(A, A);
        }
        self.b.multiply_number(C, i32::from(c.width) - i32::from(fault("native: cells overlap")));
    }

    fn sieve(&mut self, a: Reg, sieve: &Sieve, shift: u8, l: u32) {
        let tests = sieve.tests(shift);
        if tests <= FEW {
            // The other tests of the chain follow at `l`.
            let (i, mask) = sieve.cell(shift);
            self.cell(a, shift, mask);
            self.b.combine_number(Word::Cmp, A, i32::from(i));
            self.b.jump_if(NotEqual, Label(l));
            return;
        }
        // As in `Sieve::pass`: what differs, then which highest bits say that nothing does.
        self.b.load(A, a);
        let pattern = if fault("native: a sieve looks for zeros") { 0 } else { sieve.pattern };
        self.b.set(D, pattern as i64);
        self.b.combine(Word::Xor, A, D);
        self.b.copy(C, A);
        self.b.set(D, sieve.low as i64);
        self.b.combine(Word::And, C, D);
        self.b.combine(Word::Add, C, D);
        self.b.combine(Word::Or, C, A);
        self.b.not(C);
        self.b.set(D, (sieve.high & u64::MAX << (shift & 63)) as i64);
        self.b.combine(Word::And, C, D);
        self.b.jump_if(Equal, Label(sieve.end));
        self.b.lowest(C, C);
        self.b.choose(Box::new(sieve.targets.map(Label)));
    }
}
