//! Steps of a routine as bytes for x86-64.
//!
//! In: steps over a frame, three temporaries, labels. Out: bytes. Registers: `rbx` the frame, `r12` the
//! context, `r13` the stack at the start, `r14` how many calls are still allowed, `r15` how many are in
//! steps that `done` ends; `rax`, `rcx`, `rdx`, `rsi` and `rdi` are the temporaries. In a body the stack is 8 bytes off a multiple of 16; calls keep it so.

use super::steps::{Aside, Condition, Label, Temp, UNBOUND, Word};
use super::{DEPTH, GO, JUMP, Routine, TICK};

/// Makes a routine step by step.
pub struct Builder {
    bytes: Vec<u8>,
    places: Vec<u32>,
    /// Where four bytes wait for the distance to a label.
    waiting: Vec<(u32, Label)>,
    asides: Vec<Aside>,
    /// Tables of labels, with where four bytes wait for the distance to them. They are data: no label leads there.
    tables: Vec<(u32, Box<[Label; 64]>)>,
    exit: Label,
    /// What a routine ends with when it returns from where it was entered.
    end: u32,
}

impl Builder {
    /// A builder with the labels `0..labels`; `end` is the number a routine ends with when it returns from where
    /// it was entered. `None` if this processor cannot run what would be built.
    pub fn new(labels: usize, end: u32) -> Option<Builder> {
        if !possible() {
            return None;
        }
        let mut b = Builder {
            bytes: Vec::with_capacity(64 + 24 * labels),
            places: vec![UNBOUND; labels],
            waiting: Vec::new(),
            asides: Vec::new(),
            tables: Vec::new(),
            exit: Label(0),
            end,
        };
        b.exit = b.label();
        // push rbx, r12, r13, r14, r15: five, and the return address makes six, so the stack is aligned.
        b.put(&[0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57]);
        b.put(&[0x49, 0x89, 0xfc]); // mov r12, rdi
        b.put(&[0x48, 0x89, 0xf3]); // mov rbx, rsi
        b.put(&[0x49, 0x89, 0xe5]); // mov r13, rsp
        b.put(&[0x41, 0xbe]); // mov r14d, DEPTH
        b.put(&DEPTH.to_le_bytes());
        b.put(&[0x45, 0x89, 0xf7]); // mov r15d, r14d
        b.put(&[0xff, 0xd2]); // call rdx
        b.bind(b.exit);
        b.put(&[0x4c, 0x89, 0xec]); // mov rsp, r13
        b.put(&[0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0xc3]); // pop r15 … rbx; ret
        Some(b)
    }

    /// A new label.
    pub fn label(&mut self) -> Label {
        self.places.push(UNBOUND);
        Label(self.places.len() as u32 - 1)
    }

    /// Here is where `label` is.
    pub fn bind(&mut self, label: Label) {
        self.places[label.0 as usize] = self.bytes.len() as u32;
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The operand bytes for the word `r` of the frame, beside the register or extension `x`.
    fn word(&mut self, x: u8, r: u16) {
        let offset = i32::from(r) * 8;
        match i8::try_from(offset) {
            Ok(near) => self.put(&[0x43 | x << 3, near as u8]),
            Err(_) => {
                self.put(&[0x83 | x << 3]);
                self.put(&offset.to_le_bytes());
            }
        }
    }

    pub fn load(&mut self, x: Temp, r: u16) {
        self.put(&[0x48, 0x8b]);
        self.word(x as u8, r);
    }

    pub fn store(&mut self, r: u16, x: Temp) {
        self.put(&[0x48, 0x89]);
        self.word(x as u8, r);
    }

    /// Loads the word whose index is the low 16 bits of `i`.
    pub fn load_at(&mut self, x: Temp, i: Temp) {
        self.narrow(i);
        self.put(&[0x48, 0x8b, 0x04 | (x as u8) << 3, 0xc3 | (i as u8) << 3]);
    }

    pub fn store_at(&mut self, i: Temp, x: Temp) {
        self.narrow(i);
        self.put(&[0x48, 0x89, 0x04 | (x as u8) << 3, 0xc3 | (i as u8) << 3]);
    }

    /// movzx of the low 16 bits: what makes an index of any word.
    fn narrow(&mut self, i: Temp) {
        self.put(&[0x0f, 0xb7, 0xc0 | (i as u8) << 3 | i as u8]);
    }

    pub fn store_number(&mut self, r: u16, v: i32) {
        self.put(&[0x48, 0xc7]);
        self.word(0, r);
        self.put(&v.to_le_bytes());
    }

    pub fn set(&mut self, x: Temp, v: i64) {
        if let Ok(small) = u32::try_from(v) {
            self.put(&[0xb8 | x as u8]);
            self.put(&small.to_le_bytes());
        } else if let Ok(small) = i32::try_from(v) {
            self.put(&[0x48, 0xc7, 0xc0 | x as u8]);
            self.put(&small.to_le_bytes());
        } else {
            self.put(&[0x48, 0xb8 | x as u8]);
            self.put(&v.to_le_bytes());
        }
    }

    pub fn copy(&mut self, x: Temp, y: Temp) {
        self.put(&[0x48, 0x89, 0xc0 | (y as u8) << 3 | x as u8]);
    }

    /// `x := x op y`.
    pub fn combine(&mut self, op: Word, x: Temp, y: Temp) {
        self.put(&[0x48, 0x03 | (op as u8) << 3, 0xc0 | (x as u8) << 3 | y as u8]);
    }

    /// `x := x op f[r]`.
    pub fn combine_word(&mut self, op: Word, x: Temp, r: u16) {
        self.put(&[0x48, 0x03 | (op as u8) << 3]);
        self.word(x as u8, r);
    }

    /// `x := x op i`.
    pub fn combine_number(&mut self, op: Word, x: Temp, i: i32) {
        match i8::try_from(i) {
            Ok(small) => self.put(&[0x48, 0x83, 0xc0 | (op as u8) << 3 | x as u8, small as u8]),
            Err(_) => {
                self.put(&[0x48, 0x81, 0xc0 | (op as u8) << 3 | x as u8]);
                self.put(&i.to_le_bytes());
            }
        }
    }

    /// Compares `f[r]` with a number.
    pub fn compare_word(&mut self, r: u16, i: i32) {
        match i8::try_from(i) {
            Ok(small) => {
                self.put(&[0x48, 0x83]);
                self.word(Word::Cmp as u8, r);
                self.put(&[small as u8]);
            }
            Err(_) => {
                self.put(&[0x48, 0x81]);
                self.word(Word::Cmp as u8, r);
                self.put(&i.to_le_bytes());
            }
        }
    }

    /// `x := x * f[r]`; `Overflow` if that is no 64-bit number.
    pub fn multiply_word(&mut self, x: Temp, r: u16) {
        self.put(&[0x48, 0x0f, 0xaf]);
        self.word(x as u8, r);
    }

    pub fn multiply_number(&mut self, x: Temp, i: i32) {
        self.put(&[0x48, 0x69, 0xc0 | (x as u8) << 3 | x as u8]);
        self.put(&i.to_le_bytes());
    }

    /// `A := A / C` and `D := A % C`, without signs. `C` must not be zero, or the process ends: hence two
    /// forms, with a number that is known and with a test that the caller has made.
    pub fn divide_by(&mut self, k: u16) {
        self.set(Temp::C, i64::from(k.max(1)));
        self.put(&[0x31, 0xd2, 0x48, 0xf7, 0xf1]); // xor edx, edx; div rcx
    }

    /// The remainder of `A` by `C` in `A`; `l` unless A ≥ 0 and C > 0, as numbers with a sign.
    pub fn remainder(&mut self, l: Label) {
        let small = self.label();
        self.test(Temp::A);
        self.jump_if(Condition::Negative, l);
        self.test(Temp::C);
        self.jump_if(Condition::NotGreater, l);
        self.combine(Word::Cmp, Temp::A, Temp::C);
        self.jump_if(Condition::Less, small);
        self.put(&[0x31, 0xd2, 0x48, 0xf7, 0xf1]);
        self.copy(Temp::A, Temp::D);
        self.bind(small);
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
        self.put(&[0x48, 0x99, 0x48, 0xf7, 0xf9]); // cqo; idiv rcx
        self.bind(done);
    }

    /// `x := -x`; afterwards `Below` if `x` was not zero, `Overflow` if it has no opposite.
    pub fn negate(&mut self, x: Temp) {
        self.put(&[0x48, 0xf7, 0xd8 | x as u8]);
    }

    /// All bits of `x` are what `Below` says.
    pub fn spread(&mut self, x: Temp) {
        self.put(&[0x48, 0x19, 0xc0 | (x as u8) << 3 | x as u8]); // sbb x, x
    }

    /// Shifts `x` left by one and puts in what `Below` says.
    pub fn append(&mut self, x: Temp) {
        self.put(&[0x48, 0x11, 0xc0 | (x as u8) << 3 | x as u8]); // adc x, x
    }

    /// `x := y` if the condition holds.
    pub fn take_if(&mut self, c: Condition, x: Temp, y: Temp) {
        self.put(&[0x48, 0x0f, 0x40 | c as u8, 0xc0 | (x as u8) << 3 | y as u8]);
    }

    /// `x := x * y`.
    pub fn multiply(&mut self, x: Temp, y: Temp) {
        self.put(&[0x48, 0x0f, 0xaf, 0xc0 | (x as u8) << 3 | y as u8]);
    }

    pub fn not(&mut self, x: Temp) {
        self.put(&[0x48, 0xf7, 0xd0 | x as u8]);
    }

    /// Sets the flags by what `x` is.
    pub fn test(&mut self, x: Temp) {
        self.put(&[0x48, 0x85, 0xc0 | (x as u8) << 3 | x as u8]);
    }

    pub fn shift_left(&mut self, x: Temp, by: u8) {
        if by & 63 != 0 {
            self.put(&[0x48, 0xc1, 0xe0 | x as u8, by & 63]);
        }
    }

    pub fn shift_right(&mut self, x: Temp, by: u8) {
        if by & 63 != 0 {
            self.put(&[0x48, 0xc1, 0xe8 | x as u8, by & 63]);
        }
    }

    /// Shifts to the right and keeps the sign.
    pub fn shift_right_signed(&mut self, x: Temp, by: u8) {
        if by & 63 != 0 {
            self.put(&[0x48, 0xc1, 0xf8 | x as u8, by & 63]);
        }
    }

    /// Shifts by the low six bits of `C`.
    pub fn shift_left_c(&mut self, x: Temp) {
        self.put(&[0x48, 0xd3, 0xe0 | x as u8]);
    }

    pub fn shift_right_c(&mut self, x: Temp) {
        self.put(&[0x48, 0xd3, 0xe8 | x as u8]);
    }

    /// `Below` if bit `y % 64` of `x` is set.
    pub fn test_bit(&mut self, x: Temp, y: Temp) {
        self.put(&[0x48, 0x0f, 0xa3, 0xc0 | (y as u8) << 3 | x as u8]);
    }

    pub fn set_bit(&mut self, x: Temp, y: Temp) {
        self.put(&[0x48, 0x0f, 0xab, 0xc0 | (y as u8) << 3 | x as u8]);
    }

    pub fn clear_bit(&mut self, x: Temp, y: Temp) {
        self.put(&[0x48, 0x0f, 0xb3, 0xc0 | (y as u8) << 3 | x as u8]);
    }

    /// `Below` if bit `i % 64` of `x` is set.
    pub fn test_bit_number(&mut self, x: Temp, i: u8) {
        self.put(&[0x48, 0x0f, 0xba, 0xe0 | x as u8, i & 63]);
    }

    pub fn set_bit_number(&mut self, x: Temp, i: u8) {
        self.put(&[0x48, 0x0f, 0xba, 0xe8 | x as u8, i & 63]);
    }

    pub fn clear_bit_number(&mut self, x: Temp, i: u8) {
        self.put(&[0x48, 0x0f, 0xba, 0xf0 | x as u8, i & 63]);
    }

    /// `x :=` the number of bits of `y`.
    pub fn count_of(&mut self, x: Temp, y: Temp) {
        self.put(&[0xf3, 0x48, 0x0f, 0xb8, 0xc0 | (x as u8) << 3 | y as u8]);
    }

    /// `x :=` the place of the highest bit of `y`, which is not zero.
    pub fn highest(&mut self, x: Temp, y: Temp) {
        self.put(&[0x48, 0x0f, 0xbd, 0xc0 | (x as u8) << 3 | y as u8]);
    }

    /// `x :=` the number of bits of `f[r]`.
    pub fn count(&mut self, x: Temp, r: u16) {
        self.put(&[0xf3, 0x48, 0x0f, 0xb8]);
        self.word(x as u8, r);
    }

    /// `x :=` the place of the lowest bit of `y`, which is not zero.
    pub fn lowest(&mut self, x: Temp, y: Temp) {
        self.put(&[0xf3, 0x48, 0x0f, 0xbc, 0xc0 | (x as u8) << 3 | y as u8]);
    }

    fn distance(&mut self, to: Label) {
        self.waiting.push((self.bytes.len() as u32, to));
        self.put(&[0; 4]);
    }

    pub fn jump(&mut self, l: Label) {
        self.put(&[0xe9]);
        self.distance(l);
    }

    pub fn jump_if(&mut self, c: Condition, l: Label) {
        self.put(&[0x0f, 0x80 | c as u8]);
        self.distance(l);
    }

    /// Goes to the label with the number that is in the low six bits of `C`.
    pub fn choose(&mut self, targets: Box<[Label; 64]>) {
        self.put(&[0x83, 0xe1, 0x3f]); // and ecx, 63
        self.put(&[0x48, 0x8d, 0x15]); // lea rdx, [rip + table]
        self.tables.push((self.bytes.len() as u32, targets));
        self.put(&[0; 4]);
        self.put(&[0x48, 0x63, 0x0c, 0x8a]); // movsxd rcx, [rdx + rcx * 4]
        self.put(&[0x48, 0x01, 0xd1, 0xff, 0xe1]); // add rcx, rdx; jmp rcx
    }

    /// Goes to `l` and comes back with `give_back`; ends with `too_deep` if that is nested too deeply.
    pub fn call(&mut self, l: Label, too_deep: u32) {
        let (fine, deep) = (self.label(), self.label());
        self.put(&[0x41, 0xff, 0xce]); // dec r14d
        self.jump_if(Condition::Negative, deep);
        self.put(&[0x48, 0x83, 0xec, 0x08, 0xe8]); // sub rsp, 8; call
        self.distance(l);
        self.put(&[0x48, 0x83, 0xc4, 0x08, 0x41, 0xff, 0xc6]); // add rsp, 8; inc r14d
        self.jump(fine);
        self.bind(deep);
        self.end(too_deep);
        self.bind(fine);
    }

    pub fn give_back(&mut self) {
        self.put(&[0xb8]); // mov eax, end
        self.put(&self.end.to_le_bytes());
        self.put(&[0xc3]);
    }

    /// From here on the steps that `piece` goes to are pieces: what `done` ends is a piece and not the routine.
    pub fn begin_pieces(&mut self) {
        self.put(&[0x41, 0xbf]); // mov r15d, DEPTH - 1
        self.put(&(DEPTH - 1).to_le_bytes());
    }

    /// Runs the steps at `l` until they are `done`. Whatever ends the routine there ends it all, and so does a piece
    /// while a call is open.
    pub fn piece(&mut self, l: Label) {
        self.put(&[0x41, 0x81, 0xfe]); // cmp r14d, DEPTH
        self.put(&DEPTH.to_le_bytes());
        self.jump_if(Condition::NotEqual, self.exit);
        self.put(&[0x41, 0xff, 0xce, 0x48, 0x83, 0xec, 0x08, 0xe8]); // dec r14d; sub rsp, 8; call
        self.distance(l);
        self.put(&[0x48, 0x83, 0xc4, 0x08, 0x41, 0xff, 0xc6]); // add rsp, 8; inc r14d
    }

    /// The steps from where the routine was entered are done: a piece ends, and if there is none the routine, with
    /// the number that a builder is made with.
    pub fn done(&mut self) {
        let at = self.label();
        self.put(&[0xb8]); // mov eax, end
        self.put(&self.end.to_le_bytes());
        self.put(&[0x45, 0x39, 0xfe]); // cmp r14d, r15d
        self.jump_if(Condition::NotEqual, at);
        self.put(&[0xc3]);
        self.asides.push(Aside::Done { at });
    }

    /// Ends the routine with a number.
    pub fn end(&mut self, with: u32) {
        self.put(&[0xb8]);
        self.put(&with.to_le_bytes());
        self.leave();
    }

    /// Ends the routine with what is in `eax`. PERF: where no call is open, by a return, which the processor foresees; a
    /// jump out would leave its notes of open calls one too deep, and all returns of the callers would be guessed wrong.
    fn leave(&mut self) {
        self.put(&[0x41, 0x81, 0xfe]); // cmp r14d, DEPTH
        self.put(&DEPTH.to_le_bytes());
        self.jump_if(Condition::NotEqual, self.exit);
        self.put(&[0xc3]);
    }

    fn request_of_host(&mut self, request: u32) {
        // sub rsp, 8; mov rdi, r12; mov esi, request
        self.put(&[0x48, 0x83, 0xec, 0x08, 0x4c, 0x89, 0xe7, 0xbe]);
        self.put(&request.to_le_bytes());
        // call [r12 + 8]; add rsp, 8; test eax, eax
        self.put(&[0x41, 0xff, 0x54, 0x24, 0x08, 0x48, 0x83, 0xc4, 0x08, 0x85, 0xc0]);
    }

    /// Asks the host; `jump` is where its answer `JUMP` leads.
    pub fn request(&mut self, request: u32, jump: Option<Label>) {
        const { assert!(GO == 0) };
        self.request_of_host(request);
        let at = self.label();
        self.jump_if(Condition::NotEqual, at);
        self.asides.push(Aside::Answer { at, jump });
    }

    /// Counts a step towards the next tick.
    pub fn tick(&mut self) {
        let (at, back) = (self.label(), self.label());
        self.put(&[0x41, 0xff, 0x0c, 0x24]); // dec dword [r12]
        self.jump_if(Condition::Equal, at);
        self.bind(back);
        self.asides.push(Aside::Tick { at, back });
    }

    /// The routine, if the system allows to run it. Running off the end of the steps is an end with `beyond`.
    pub fn finish(mut self, beyond: u32) -> Option<Routine> {
        self.end(beyond);
        for aside in std::mem::take(&mut self.asides) {
            match aside {
                Aside::Answer { at, jump } => {
                    self.bind(at);
                    if let Some(l) = jump {
                        self.put(&[0x83, 0xf8, JUMP as u8]); // cmp eax, JUMP
                        self.jump_if(Condition::Equal, l);
                    }
                    self.leave();
                }
                Aside::Done { at } => {
                    self.bind(at);
                    self.put(&[0x41, 0x81, 0xff]); // cmp r15d, DEPTH
                    self.put(&DEPTH.to_le_bytes());
                    self.jump_if(Condition::Equal, self.exit);
                    self.put(&[0x45, 0x39, 0xfe]); // cmp r14d, r15d
                    self.jump_if(Condition::Greater, self.exit);
                    // Two calls are open or more. The first has left below the stack at the start: the way out of the routine,
                    // eight bytes, and the way back to behind itself.
                    self.put(&[0x45, 0x89, 0xfe]); // mov r14d, r15d
                    self.put(&[0x49, 0x8d, 0x65, 0xe8, 0xc3]); // lea rsp, [r13 - 24]; ret
                }
                Aside::Tick { at, back } => {
                    self.bind(at);
                    self.request_of_host(TICK);
                    self.jump_if(Condition::Equal, back);
                    self.leave();
                }
            }
        }
        for (at, targets) in std::mem::take(&mut self.tables) {
            let start = self.bytes.len();
            for target in targets.iter() {
                let place = *self.places.get(target.0 as usize).filter(|p| **p != UNBOUND)?;
                self.put(&i32::try_from(i64::from(place) - start as i64).ok()?.to_le_bytes());
            }
            let far = i32::try_from(start as i64 - i64::from(at) - 4).ok()?;
            self.bytes[at as usize..at as usize + 4].copy_from_slice(&far.to_le_bytes());
        }
        for (at, to) in &self.waiting {
            let place = *self.places.get(to.0 as usize)?;
            if place == UNBOUND {
                return None;
            }
            let far = i32::try_from(i64::from(place) - i64::from(*at) - 4).ok()?;
            self.bytes[*at as usize..*at as usize + 4].copy_from_slice(&far.to_le_bytes());
        }
        if self.places.contains(&UNBOUND) {
            return None;
        }
        Routine::new(&self.bytes, self.places)
    }
}

#[cfg(all(target_arch = "x86_64", unix))]
fn possible() -> bool {
    std::arch::is_x86_feature_detected!("popcnt")
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn possible() -> bool {
    false
}
