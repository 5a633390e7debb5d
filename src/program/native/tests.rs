//! Machine code against the interpreter of register code, on code at random.

use super::super::exec::{self, FRAME, Frame};
use super::*;
use crate::tray;
use bombus_kernels::bits;
use bombus_kernels::random::Random;

/// Hears everything, and answers by a rule that both runs share.
#[derive(Default, PartialEq, Debug)]
struct Ears {
    heard: Vec<(char, u16, u64)>,
    ticks: u32,
}

impl Host for Ears {
    fn emit(&mut self, t: u16, regs: &mut [u64; FRAME]) -> Answer {
        self.heard.push(('e', t, regs[3]));
        match t {
            7 => Answer::Stopped,
            6 => Answer::Misfit,
            _ => Answer::Go,
        }
    }

    fn undefined(&mut self, _: &[u64; FRAME]) {
        self.heard.push(('u', 0, 0));
    }

    fn general(&mut self, g: u16, regs: &mut [u64; FRAME]) -> Answer {
        self.heard.push(('g', g, regs[2]));
        regs[1] = regs[1].rotate_left(9) ^ u64::from(g);
        [Answer::Go, Answer::Jump, Answer::Go, Answer::Misfit][g as usize % 4]
    }

    fn tick(&mut self) -> bool {
        self.ticks += 1;
        self.ticks < 3
    }
}

/// Registers 0..24 hold words of all kinds, 24..32 numbers below 20 that nothing writes, as codes of rows and bits are.
fn registers(random: &mut Random) -> Vec<u64> {
    let mut regs: Vec<u64> = (0..24)
        .map(|_| match random.below(6) {
            0 => random.below(4),
            1 => u64::MAX - random.below(4),
            2 => i64::MAX as u64 - random.below(2),
            3 => i64::MIN as u64 + random.below(2),
            4 => 0,
            _ => random.next() >> random.below(60),
        })
        .collect();
    regs.extend((0..8).map(|_| random.below(20)));
    regs
}

/// An operation that may stand at `pc` of code with `end` operations; it jumps forward only.
fn operation(random: &mut Random, pc: u32, end: u32) -> Op {
    let l = pc + 1 + random.below(u64::from(end - pc - 1)) as u32;
    let r = |random: &mut Random| random.below(20) as Reg;
    let code = |random: &mut Random| 24 + random.below(8) as Reg;
    let (d, a, b) = (r(random), r(random), r(random));
    let n = 1 + random.below(4) as u16;
    let i = [0, 1, -1, 3, 200, i32::MIN, i32::MAX][random.below(7) as usize];
    let (c, small) = (code(random), code(random));
    let width = 1 + random.below(10) as u8;
    let mask = ((1u32 << width) - 1) as u16;
    let shift = random.below(u64::from(64 - width) + 1) as u8;
    let fits = random.next() as u16 & mask;
    // One word, or several: a row is below 20.
    let cells =
        Cells { rows: 20, width: if random.below(2) == 0 { 3 } else { 5 + width % 6 }, base: width % 2 };
    match random.below(46) {
        0 => Op::Const { d, v: i64::from(i) << random.below(33) },
        1 => Op::Copy { d, a, n },
        2 => Op::Add { d, a, b },
        3 => Op::AddImm { d, a, i },
        4 => Op::Sub { d, a, b },
        5 => Op::Mul { d, a, b },
        6 => Op::Mod { d, a, b, l },
        7 => Op::CodeOfInt { d, a, lo: i.clamp(-9, 9), n: 1 + random.below(300) as u16, l },
        8 => Op::PairCode { d, a: c, b: small, k: 1 + random.below(30) as u16 },
        9 => Op::RowOf { d, a, k: 1 + random.below(30) as u16 },
        10 => Op::ColOf { d, a, k: 1 + random.below(30) as u16 },
        11 => Op::Jump { l },
        12 => Op::JumpEq { a, b, l },
        13 => Op::JumpNe { a, b, l },
        14 => Op::JumpLt { a, b, l },
        15 => Op::JumpLe { a, b, l },
        16 => Op::JumpEqImm { a, i, l },
        17 => Op::JumpNeImm { a, i, l },
        18 => Op::JumpLtImm { a, i, l },
        19 => Op::JumpGtImm { a, i, l },
        20 => Op::JumpSame { a, b: if b % 3 == 0 { a } else { b }, n, l },
        21 => Op::JumpDiffer { a, b: if b % 3 == 0 { a } else { b }, n, l },
        22 => Op::JumpBit { a, i: c, n, l },
        23 => Op::JumpNoBit { a, i: c, n, l },
        24 => Op::JumpSubset { a, b, n, l },
        25 => Op::JumpNotSubset { a, b, n, l },
        26 => Op::JumpEmpty { a, n, l },
        27 => Op::JumpNotEmpty { a, n, l },
        28 => Op::Clear { d, n },
        29 => Op::Or { d, a, b, n },
        30 => Op::And { d, a, b, n },
        31 => Op::AndNot { d, a, b, n },
        32 => Op::Insert { d, i: c, n },
        33 => Op::Remove { d, i: c, n },
        34 => Op::Count { d, a, n },
        35 => Op::Next { d, a, n: if n < 3 { 1 } else { n }, l },
        36 => Op::NextInt { d, b, l },
        37 => Op::Peek { d, a, shift, mask },
        38 => Op::Poke { d, a, s: c, shift: shift.min(40), mask, base: width % 2 },
        39 => Op::PokeImm { d, a, i: fits, shift, mask },
        40 => Op::JumpCellEq { a, i: fits, shift, mask, l },
        41 => Op::JumpCellNe { a, i: fits, shift, mask, l },
        42 => Op::Cell { d, t: a, r: c, c: cells, l },
        43 => Op::PutCell { d, r: c, s: small, c: cells },
        44 => match random.below(9) {
            0 => Op::Halt,
            1 => Op::Misfit,
            2 => Op::Holds,
            3 => Op::Fails,
            4 => Op::Ill,
            5 => Op::Ret,
            _ => Op::Call { l },
        },
        _ => match random.below(6) {
            0 => Op::Emit { t: random.below(8) as u16 },
            1 => Op::Undefined,
            2 => Op::General { g: random.below(4) as u16, l },
            3 => Op::Min { d, a, b },
            4 => Op::Div { d, a, b: c, l },
            _ => Op::Greatest { d, a, n, l },
        },
    }
}

/// Whatever the code writes is looked at.
fn both(code: &mut Code, regs: &[u64], what: &str) {
    let mut all = regs.to_vec();
    all.resize(64, 0);
    both_with(code, &all, what);
}

/// Whether the processor and the system have machine code for anything.
fn allowed() -> bool {
    translate(&Code { ops: vec![Op::Halt], registers: 64, ..Code::default() }).is_some()
}

fn both_with(code: &mut Code, regs: &[u64], what: &str) {
    if translate(code).is_none() {
        assert!(!allowed(), "no machine code for {what}\n{code}");
        return;
    }
    let mut ends = Vec::new();
    for wanted in [Tier::Never, Tier::AtOnce] {
        code.native = Native::new(wanted);
        let mut frame = Frame::default();
        frame.regs[..regs.len()].copy_from_slice(regs);
        let mut ears = Ears::default();
        let exit = exec::run(code, 0, &mut frame, &mut ears);
        // After a misfit nobody looks at the registers.
        let left = if exit == Exit::Misfit { 0 } else { regs.len() };
        ends.push((exit, frame.regs[..left].to_vec(), ears));
    }
    assert_eq!(ends[0], ends[1], "{what}\n{code}\nfrom {regs:x?}");
}

#[test]
fn machine_code_does_what_register_code_says() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..30_000 {
        let end = 2 + random.below(24) as u32;
        let mut ops: Vec<Op> = (0..end - 1).map(|pc| operation(&mut random, pc, end)).collect();
        ops.push(Op::Halt);
        let mut code = Code { ops, registers: 64, ..Code::default() };
        for _ in 0..3 {
            both(&mut code, &registers(&mut random), &format!("round {round}"));
        }
    }
}

#[test]
fn a_sieve_goes_the_same_way_in_machine_code() {
    let mut random = Random(77);
    for width in 1..=8u64 {
        let mask = (1u16 << width) - 1;
        for _ in 0..40 {
            let cells = 64 / width;
            let i = random.next() as u16 & mask;
            let kept: Vec<u64> = (0..cells).filter(|_| random.below(4) > 0).collect();
            let mut ops: Vec<Op> = Vec::new();
            for cell in &kept {
                let l = ops.len() as u32 + 2;
                ops.push(Op::JumpCellNe { a: 0, i, shift: (cell * width) as u8, mask, l });
                ops.push(Op::Emit { t: 100 + *cell as u16 });
            }
            ops.push(Op::Halt);
            let mut code = Code { ops, registers: 4, ..Code::default() };
            crate::batched_tests::sieve(&mut code);
            for _ in 0..40 {
                let mut word = random.next();
                for cell in 0..cells {
                    if random.below(3) == 0 {
                        let at = cell * width;
                        word = word & !(u64::from(mask) << at) | u64::from(i) << at;
                    }
                }
                both(&mut code, &[word], "sieve");
            }
        }
    }
}

#[test]
fn values_of_many_words_are_worked_on_whole() {
    let mut random = Random(5);
    let n = UNROLLED + 3;
    let regs: Vec<u64> = (0..64).map(|k| if k < 40 { random.next() } else { 0 }).collect();
    let (a, b, d, l) = (0, 20, 40, 2);
    for op in [
        Op::Copy { d, a, n },
        Op::Copy { d: 1, a, n },
        Op::Clear { d: 3, n },
        Op::Or { d, a, b, n },
        Op::And { d, a, b, n },
        Op::AndNot { d, a, b, n },
        Op::Count { d, a, n },
        Op::Next { d, a, n, l },
        Op::Next { d, a: 40, n, l },
        Op::JumpSame { a, b, n, l },
        Op::JumpDiffer { a, b, n, l },
        Op::JumpSubset { a, b, n, l },
        Op::JumpNotSubset { a, b, n, l },
        Op::JumpEmpty { a, n, l },
        Op::JumpEmpty { a: 40, n, l },
        Op::JumpNotEmpty { a, n, l },
    ] {
        let mut code = Code { ops: vec![op, Op::Emit { t: 1 }, Op::Halt], registers: 64, ..Code::default() };
        both(&mut code, &regs, "many words");
    }
}

/// Values as they stand in registers, at random: nothing beyond their last bit, and a function in the cells of an array.
trait Operands {
    fn set(&mut self, bits: usize) -> Vec<u64>;
    fn array(&mut self, c: Cells, values: u64) -> Vec<u64>;
    /// A relation that is a function from time to time.
    fn relation(&mut self, rows: u16, cols: u16) -> Vec<u64>;
}

impl Operands for Random {
    fn set(&mut self, bits: usize) -> Vec<u64> {
        let words = bits.div_ceil(64).max(1);
        let mut set: Vec<u64> =
            (0..words).map(|_| self.next() & self.next() | self.next() & self.next()).collect();
        if self.below(4) == 0 {
            set.fill(0);
        }
        let mut all = vec![0; words];
        bits::fill(&mut all, bits);
        set.iter_mut().zip(all).for_each(|(word, all)| *word &= all);
        set
    }

    fn array(&mut self, c: Cells, values: u64) -> Vec<u64> {
        let mut array = vec![0; c.words()];
        let (some, length) = (self.below(3), self.below(u64::from(c.rows) + 1));
        for row in 0..u64::from(c.rows) {
            // Total, a sequence, or anything.
            if c.base == 0 || [true, row < length, self.below(2) == 0][some as usize] {
                c.put(&mut array, row as usize, self.below(values));
            }
        }
        array
    }

    fn relation(&mut self, rows: u16, cols: u16) -> Vec<u64> {
        let mut m = self.set(usize::from(rows) * usize::from(cols));
        let way = self.below(3);
        if way > 0 {
            m.fill(0);
            for row in 0..usize::from(rows) {
                if way == 1 || self.below(2) == 0 {
                    let col = self.below(u64::from(cols)) as usize;
                    bits::insert(&mut m, row * usize::from(cols) + col);
                }
            }
        }
        m
    }
}

/// The registers of one value after the other, from register 1 on.
struct Layout(Vec<u64>);

impl Layout {
    fn put(&mut self, words: Vec<u64>) -> Reg {
        let at = self.0.len() as Reg;
        self.0.extend(words);
        at
    }
}

/// One operation on values of random shapes, all kinds in turn.
fn one_of_many(kind: u64, random: &mut Random, regs: &mut Layout, row: Reg) -> Op {
    let (l, keep) = (2, random.below(2) == 0);
    let row_at = regs.0[row as usize] as u16;
    let rows = row_at + 1 + random.below(if keep { 3 } else { 20 }) as u16;
    let most = if random.below(3) > 0 { 7 } else { 70 };
    let cols = (1 + random.below(most) as u16).min(1024 / rows);
    let (bits_of_rows, bits_of_cols) = (usize::from(rows), usize::from(cols));
    let c = Cells::new(rows, bits_of_cols, random.below(3) == 0);
    let partial = Cells::new(rows, bits_of_cols, false);
    let m = regs.put(random.relation(rows, cols));
    let n = regs.put(random.relation(rows, cols));
    let s = regs.put(random.set(bits_of_rows));
    let v = regs.put(random.set(bits_of_cols));
    let t = regs.put(random.array(c, cols.into()));
    let p = regs.put(random.array(partial, cols.into()));
    let q = regs.put(random.array(partial, cols.into()));
    let w = 1 + random.below(3) as u16;
    let mut table = random.set(bits_of_rows);
    for row in 0..bits_of_rows {
        let there = bits::get(&table, row);
        table.extend((0..w).map(|_| if there { random.next() } else { 0 }));
    }
    let table = regs.put(table);
    let number = |random: &mut Random| {
        let small = random.below(30) as i64 - 9;
        [small, i64::MIN, i64::MAX][random.below(9).saturating_sub(6) as usize]
    };
    let a = regs.put(vec![number(random) as u64]);
    let b = regs.put(vec![number(random) as u64]);
    let col = regs.put(vec![random.below(cols.into())]);
    // Room for the largest result.
    let d = regs.put(vec![0; 40]);
    let r = row;
    match kind {
        0 => Op::Row { d, m, r, rows, cols },
        1 => Op::Single { d, m, r, rows, cols, l },
        2 => Op::PutSingle { d: m, r, c: col, rows, cols },
        3 => Op::PutRow { d: m, r, s: v, rows, cols },
        4 => Op::Dom { d, m, rows, cols },
        5 => Op::Ran { d, m, rows, cols },
        6 => Op::Image { d, m, s, rows, cols },
        7 => Op::Preimage { d, m, s: v, rows, cols },
        8 => Op::RestrictRows { d, m, s, rows, cols, keep },
        9 => Op::RestrictCols { d, m, s: v, rows, cols, keep },
        10 => Op::Override { d, a: m, b: n, rows, cols },
        11 => Op::Product { d, a: s, b: v, rows, cols },
        12 => Op::JumpNotFunctional { m, rows, cols, l },
        13 => Op::JumpNotInjective { m, rows, cols, l },
        14 => Op::TableGet { d, t: table, r, n: rows, w, l },
        15 => Op::TablePut { d: table, r, s: m, n: rows, w },
        16 => Op::TableDrop { d: table, r, n: rows, w },
        17 => Op::Present { d, t, c },
        18 => Op::CellValues { d, t, cols, c },
        19 => Op::CellImage { d, t, s, cols, c },
        20 => Op::CellPreimage { d, t, s: v, cols, c },
        21 => Op::CellsToMatrix { d, t, cols, c },
        22 => Op::MatrixToCells { d, m, cols, c },
        23 => Op::Recode { d, t: p, from: partial, to: Cells { width: partial.width + w as u8 % 2, ..c } },
        24 => Op::Recode { d, t, from: c, to: Cells { width: partial.width + w as u8 % 2, ..partial } },
        25 => Op::OverrideCells { d, a: p, b: q, c: partial },
        26 => Op::RestrictCells { d, t: p, s, c: partial, keep },
        27 => Op::RestrictCellValues { d, t: p, s: v, cols, c: partial, keep },
        28 => Op::JumpCellsNotInjective { t, cols, c, l },
        29 => Op::Length { d, t: p, c: partial, l },
        30 => Op::Slide { d, t: p, k: a, c: partial },
        31 => Op::Interval { d, a, b, lo: -3, bits: cols, clip: keep },
        32 => Op::Least { d, a: v, n: words(bits_of_cols), l },
        33 => Op::Greatest { d, a: v, n: words(bits_of_cols), l },
        34 => Op::NextSubset { d, a: v, n: words(bits_of_cols), l },
        35 => Op::Min { d, a, b },
        36 => Op::Max { d, a, b },
        37 => Op::Inverse { d, m, rows, cols },
        38 => Op::RestrictRows { d: m, m, s, rows, cols, keep },
        _ => Op::Div { d, a, b, l },
    }
}

fn words(bits: usize) -> u16 {
    bits.div_ceil(64).max(1) as u16
}

#[test]
fn operations_on_small_relations_and_arrays_do_the_same_in_machine_code() {
    let mut random = Random(0x5eed);
    for round in 0..40 * 700 {
        let mut regs = Layout(vec![random.below(6)]);
        let op = one_of_many(round % 40, &mut random, &mut regs, 0);
        let ops = vec![op, Op::Emit { t: 1 }, Op::Halt];
        let mut code = Code { ops, registers: regs.0.len(), ..Code::default() };
        both_with(&mut code, &regs.0, "a row that is known when it is run");
        code.constants.push((0, vec![regs.0[0]]));
        both_with(&mut code, &regs.0, "a row that is known before");
    }
}

#[test]
fn a_loop_is_asked_as_often_and_stopped_at_the_same_place() {
    let ops = vec![Op::NextInt { d: 0, b: 1, l: 2 }, Op::Again { l: 0 }, Op::Halt];
    let mut code = Code { ops, registers: 2, ..Code::default() };
    for last in [10, 200_000] {
        both(&mut code, &[0, last], "loop");
    }
}

/// Packs what the host is asked for as `Place::store` and `label::of_registers` do it.
struct Packer<'p> {
    plan: &'p tray::Plan,
    labels: &'p [Vec<(Reg, u16, bool)>],
    pool: &'p crate::pool::Pool,
    state: Vec<u64>,
    made: Vec<u64>,
    asked: usize,
}

impl Host for Packer<'_> {
    fn emit(&mut self, t: u16, regs: &mut [u64; FRAME]) -> Answer {
        self.asked += 1;
        self.made.extend_from_slice(tray::content(regs));
        tray::clear(regs);
        let emission = &self.plan.emissions[t as usize];
        let mut target = self.state.clone();
        if !emission.places.iter().all(|p| p.store(regs[p.reg as usize], &mut target)) {
            return Answer::Misfit;
        }
        let label = crate::label::of_registers(&self.labels[t as usize], regs, self.pool);
        self.made.extend([u64::from(emission.event), label]);
        self.made.extend(target);
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
fn machine_code_packs_states_as_the_host_does() {
    use crate::layout::{Field, FieldKind};
    let mut random = Random(0x7777_1234);
    let mut packed = 0;
    let pool = crate::pool::Pool::default();
    let pooled = pool.intern(&bombus_lang::value::Value::int(7));
    for round in 0..4000 {
        // Three fields in three words: a number, a code of a whole word, a set of 70 bits.
        let words = 1 + random.below(3) as usize;
        let width = 1 + random.below(40) as u16;
        let lo = [0, -3, i64::from(i32::MIN) * 4, 17][random.below(4) as usize];
        let number = Field { part: 0, offset: 3, width, kind: FieldKind::Int { lo } };
        let mut places = number.places(random.below(8) as Reg);
        if words > 1 {
            places.extend(Field { part: 0, offset: 64, width: 64, kind: FieldKind::Code }.places(9));
        }
        let label: Vec<(Reg, u16, bool)> = match random.below(5) {
            0 => vec![],
            1 => vec![(10, 1, false)],
            2 => vec![(10, 2, false), (2, 1, false)],
            3 => vec![(10, 9, false)],
            _ => vec![(10, 1, random.below(2) == 0)],
        };
        let emission = tray::Emission::new(0, places.clone(), &label);
        let load = places.iter().map(|p| crate::layout::Place { reg: p.reg + 32, ..*p }).collect();
        let plan = tray::Plan {
            words,
            load,
            emissions: vec![emission],
            events: vec![Some(0)],
            checks: vec![Some(2)],
        };
        let ops = vec![Op::Emit { t: 0 }, Op::Halt, Op::Fails];
        let mut code = Code { ops, registers: 64, plan: Some(plan.clone()), ..Code::default() };
        code.native = Native::new(Tier::AtOnce);
        let Some(made) = code.native.made(&code) else { return };
        let state: Vec<u64> = (0..words).map(|_| random.next()).collect();
        let mut frame = Frame::default();
        let around = |random: &mut Random| (lo as u64).wrapping_add(random.below(1 << width.min(20)));
        for r in 0..24 {
            frame.regs[r] = match random.below(3) {
                0 => random.next(),
                1 => random.below(9),
                _ => around(&mut random),
            };
        }
        if label.iter().any(|(_, _, pooled)| *pooled) {
            frame.regs[10] = u64::from(pooled.0);
        }
        let labels = [label];
        let listener = |state: &[u64]| Packer {
            plan: &plan,
            labels: &labels,
            pool: &pool,
            state: state.to_vec(),
            made: Vec::new(),
            asked: 0,
        };
        tray::begin(&mut frame.regs, &state);
        let (mut host, mut alone) = (listener(&state), listener(&state));
        let exit = made.round(&code, 0, &mut frame.regs, &mut host).expect("there is one event");
        let mut by_machine = host.made.clone();
        by_machine.extend_from_slice(tray::content(&frame.regs));
        packed += usize::from(host.asked == 0 && exit == Exit::Done);
        for p in &plan.load {
            assert_eq!(frame.regs[p.reg as usize], p.load(&state), "round {round}");
        }
        let answer = alone.emit(0, &mut frame.regs.clone());
        if answer == Answer::Misfit {
            assert_eq!(exit, Exit::Misfit, "round {round}");
        } else {
            let by_host = alone.made.split_off(alone.made.len() - words - tray::HEAD);
            assert_eq!((exit, by_machine), (Exit::Done, by_host), "round {round}");
        }
        tray::begin(&mut frame.regs, &state);
        assert_eq!(made.check(&code, 0, &mut frame.regs, &mut host), Some(Exit::Fails));
    }
    assert!(packed > 500, "{packed} transitions were packed without the host");
}
