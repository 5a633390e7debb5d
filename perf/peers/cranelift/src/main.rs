//! Random register code as machine code, made by the builder of `bombus-kernels` and by Cranelift: how long each takes to make it, and how
//! long the code runs. `cargo run --release` in this folder; the figures are processor time of one thread, in `perf/lessons.md`.
//!
//! Both translate operation by operation between words of a frame in memory. Cranelift does so with the single-pass and with its usual
//! allocation of registers, and once with all words as variables (`held`), which are loaded first and stored last.

use bombus_kernels::native::{Builder, Condition, FRAME, Frame, Host, Label, Routine, Temp, Word};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module;
use std::hint::black_box;

/// Words that the code works on.
const WORDS: u16 = 24;
const MASK: i64 = 15;

/// Operations as events have them.
#[derive(Clone, Copy)]
enum Op {
    AddNumber {
        d: u16,
        a: u16,
        i: i32,
    },
    Add {
        d: u16,
        a: u16,
        b: u16,
    },
    Or {
        d: u16,
        a: u16,
        b: u16,
    },
    /// The cell of `a` from bit `shift` on becomes `s`.
    Poke {
        d: u16,
        a: u16,
        s: u16,
        shift: u8,
    },
    /// Goes to `l` unless a cell is `i`.
    CellDiffers {
        a: u16,
        shift: u8,
        i: i32,
        l: usize,
    },
    Less {
        a: u16,
        i: i32,
        l: usize,
    },
}

fn program(n: usize) -> Vec<Op> {
    let mut x = 0x1234567_u64;
    let mut below = move |n: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % n
    };
    let mut each = |i: usize| {
        let [d, a, b] = [0; 3].map(|_| below(WORDS.into()) as u16);
        let shift = below(56) as u8;
        let l = (i + 1 + below(3) as usize).min(n);
        match below(6) {
            0 => Op::AddNumber { d, a, i: below(3) as i32 - 1 },
            1 => Op::Add { d, a, b },
            2 => Op::Or { d, a, b },
            3 => Op::Poke { d, a, s: b, shift },
            4 => Op::CellDiffers { a, shift, i: below(16) as i32, l },
            _ => Op::Less { a, i: below(50) as i32, l },
        }
    };
    (0..n).map(&mut each).collect()
}

const DONE: u32 = 7;
const MISFIT: u32 = 6;

fn built(program: &[Op]) -> Option<Routine> {
    use Temp::{A, C};
    let mut b = Builder::new(program.len() + 1, DONE)?;
    let misfit = b.label();
    let exact = |b: &mut Builder, d: u16| {
        b.jump_if(Condition::Overflow, misfit);
        b.store(d, A);
    };
    for (at, op) in program.iter().enumerate() {
        b.bind(Label(at as u32));
        match *op {
            Op::AddNumber { d, a, i } => {
                b.load(A, a);
                b.combine_number(Word::Add, A, i);
                exact(&mut b, d);
            }
            Op::Add { d, a, b: other } => {
                b.load(A, a);
                b.combine_word(Word::Add, A, other);
                exact(&mut b, d);
            }
            Op::Or { d, a, b: other } => {
                b.load(A, a);
                b.combine_word(Word::Or, A, other);
                b.store(d, A);
            }
            Op::Poke { d, a, s, shift } => {
                b.load(A, s);
                b.shift_left(A, shift);
                b.set(C, !(MASK << shift));
                b.combine_word(Word::And, C, a);
                b.combine(Word::Or, A, C);
                b.store(d, A);
            }
            Op::CellDiffers { a, shift, i, l } => {
                b.load(A, a);
                b.shift_right(A, shift);
                b.combine_number(Word::And, A, MASK as i32);
                b.combine_number(Word::Cmp, A, i);
                b.jump_if(Condition::NotEqual, Label(l as u32));
            }
            Op::Less { a, i, l } => {
                b.compare_word(a, i);
                b.jump_if(Condition::Less, Label(l as u32));
            }
        }
    }
    b.bind(Label(program.len() as u32));
    b.end(DONE);
    b.bind(misfit);
    b.end(MISFIT);
    b.finish(MISFIT)
}

/// What differs between the ways to use Cranelift.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    level: &'static str,
    allocation: &'static str,
    held: bool,
}

const WAYS: [Way; 3] = [
    Way { name: "cranelift, one pass", level: "none", allocation: "single_pass", held: false },
    Way { name: "cranelift", level: "speed", allocation: "backtracking", held: false },
    Way { name: "cranelift, held", level: "speed", allocation: "backtracking", held: true },
];

fn module(way: Way) -> JITModule {
    let mut flags = settings::builder();
    for (name, value) in
        [("opt_level", way.level), ("regalloc_algorithm", way.allocation), ("enable_verifier", "false")]
    {
        flags.set(name, value).expect("a setting of Cranelift");
    }
    let isa = cranelift_native::builder().expect("a processor that Cranelift knows");
    let isa = isa.finish(settings::Flags::new(flags)).expect("settings that fit the processor");
    JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names()))
}

struct Translation<'f> {
    b: FunctionBuilder<'f>,
    frame: Value,
    /// The words as variables, if they are held.
    held: Option<Vec<Variable>>,
    blocks: Vec<Block>,
    misfit: Block,
}

impl Translation<'_> {
    fn word(&mut self, r: u16) -> Value {
        match &self.held {
            Some(words) => self.b.use_var(words[r as usize]),
            None => self.in_memory(r),
        }
    }

    fn in_memory(&mut self, r: u16) -> Value {
        self.b.ins().load(types::I64, MemFlagsData::trusted(), self.frame, i32::from(r) * 8)
    }

    fn put(&mut self, r: u16, v: Value) {
        match &self.held {
            Some(words) => self.b.def_var(words[r as usize], v),
            None => self.to_memory(r, v),
        }
    }

    fn to_memory(&mut self, r: u16, v: Value) {
        self.b.ins().store(MemFlagsData::trusted(), v, self.frame, i32::from(r) * 8);
    }

    fn sum(&mut self, d: u16, x: Value, y: Value) {
        let (sum, overflow) = self.b.ins().sadd_overflow(x, y);
        let go = self.b.create_block();
        self.b.ins().brif(overflow, self.misfit, &[], go, &[]);
        self.b.switch_to_block(go);
        self.put(d, sum);
    }

    fn op(&mut self, at: usize, op: Op) {
        self.b.switch_to_block(self.blocks[at]);
        let next = self.blocks[at + 1];
        match op {
            Op::AddNumber { d, a, i } => {
                let (x, y) = (self.word(a), self.b.ins().iconst(types::I64, i64::from(i)));
                self.sum(d, x, y);
            }
            Op::Add { d, a, b } => {
                let (x, y) = (self.word(a), self.word(b));
                self.sum(d, x, y);
            }
            Op::Or { d, a, b } => {
                let (x, y) = (self.word(a), self.word(b));
                let union = self.b.ins().bor(x, y);
                self.put(d, union);
            }
            Op::Poke { d, a, s, shift } => {
                let (x, y) = (self.word(s), self.word(a));
                let x = self.b.ins().ishl_imm_u(x, i64::from(shift));
                let y = self.b.ins().band_imm_s(y, !(MASK << shift));
                let word = self.b.ins().bor(x, y);
                self.put(d, word);
            }
            Op::CellDiffers { a, shift, i, l } => {
                let x = self.word(a);
                let x = self.b.ins().ushr_imm_u(x, i64::from(shift));
                let x = self.b.ins().band_imm_s(x, MASK);
                let differs = self.b.ins().icmp_imm_s(IntCC::NotEqual, x, i64::from(i));
                self.b.ins().brif(differs, self.blocks[l], &[], next, &[]);
                return;
            }
            Op::Less { a, i, l } => {
                let x = self.word(a);
                let less = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, x, i64::from(i));
                self.b.ins().brif(less, self.blocks[l], &[], next, &[]);
                return;
            }
        }
        self.b.ins().jump(next, &[]);
    }

    fn end(&mut self, block: Block, with: u32) {
        self.b.switch_to_block(block);
        if let Some(words) = self.held.clone()
            && with == DONE
        {
            for (r, word) in words.iter().enumerate() {
                let v = self.b.use_var(*word);
                self.to_memory(r as u16, v);
            }
        }
        let with = self.b.ins().iconst(types::I32, i64::from(with));
        self.b.ins().return_(&[with]);
    }
}

fn by_cranelift(module: &mut JITModule, program: &[Op], held: bool) -> fn(*mut u64) -> u32 {
    let (mut context, mut memory) = (module.make_context(), FunctionBuilderContext::new());
    context.func.signature.params.push(AbiParam::new(types::I64));
    context.func.signature.returns.push(AbiParam::new(types::I32));
    let mut b = FunctionBuilder::new(&mut context.func, &mut memory);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    let blocks = (0..=program.len()).map(|_| b.create_block()).collect();
    let misfit = b.create_block();
    b.switch_to_block(entry);
    let frame = b.block_params(entry)[0];
    let words: Option<Vec<Variable>> = held.then(|| (0..WORDS).map(|_| b.declare_var(types::I64)).collect());
    let mut t = Translation { b, frame, held: words, blocks, misfit };
    for r in (0..WORDS).filter(|_| held) {
        let v = t.in_memory(r);
        t.put(r, v);
    }
    t.b.ins().jump(t.blocks[0], &[]);
    program.iter().enumerate().for_each(|(at, op)| t.op(at, *op));
    t.end(t.blocks[program.len()], DONE);
    t.end(misfit, MISFIT);
    t.b.seal_all_blocks();
    t.b.finalize(module.isa().frontend_config());
    let id = module.declare_anonymous_function(&context.func.signature).expect("a function");
    module.define_function(id, &mut context).expect("instructions");
    module.clear_context(&mut context);
    module.finalize_definitions().expect("memory for instructions");
    // SAFETY: the function has this signature, and the module outlives it.
    unsafe { std::mem::transmute(module.get_finalized_function(id)) }
}

/// Processor time of this thread in seconds.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes the time there.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds for one of many turns.
fn each(turns: usize, mut what: impl FnMut(usize)) -> f64 {
    let begun = now();
    (0..turns).for_each(&mut what);
    (now() - begun) / turns as f64
}

struct Nobody;

impl Host for Nobody {
    fn serve(&mut self, _: &mut Frame, _: u32) -> u32 {
        DONE
    }
}

/// Runs code on words at random; the time, and what makes two ways comparable: how often the code ended with which number.
fn runs(turns: usize, mut run: impl FnMut(&mut Frame) -> u32) -> (f64, u64) {
    let mut frame: Box<Frame> = vec![0; FRAME].into_boxed_slice().try_into().expect("the length of a frame");
    let mut sum = 0u64;
    let seconds = each(turns, |turn| {
        (0..WORDS).for_each(|r| frame[r as usize] = ((turn as u64).wrapping_mul(0x9e37_79b9) >> r) & 63);
        sum = sum.wrapping_mul(31).wrapping_add(u64::from(run(&mut frame)));
    });
    (seconds, sum)
}

fn main() {
    for n in [30, 300, 3000] {
        let program = program(n);
        let (turns, often) = (100_000_000 / n, 200_000 / n);
        let row = |name: &str, made: f64, (run, sum): (f64, u64)| {
            println!(
                "{n:5} operations  {name:20} made in {:9.1} µs  run {:6.1} ns  ends {sum:x}",
                made * 1e6,
                run * 1e9
            );
        };
        row("no code", 0.0, runs(turns, |frame| black_box(frame[0]) as u32 & 0));
        let made = each(often, |_| drop(black_box(built(&program))));
        let routine = built(&program).expect("a routine");
        row("builder", made, runs(turns, |frame| routine.run(Label(0), frame, &mut Nobody)));
        for way in WAYS {
            let mut module = module(way);
            let made = each((often / 100).max(2), |_| {
                black_box(by_cranelift(&mut module, &program, way.held));
            });
            let code = by_cranelift(&mut module, &program, way.held);
            row(way.name, made, runs(turns, |frame| code(frame.as_mut_ptr())));
        }
    }
}
