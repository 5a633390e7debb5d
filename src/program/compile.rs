//! From the typed machine to code: one specialised program per valuation of the constants.
//!
//! In: the machine, a valuation, the state layout. Out: `Compiled`, code for every event and every
//! conjunct that has a lowering; the rest is evaluated on values, which is slow and always right.
//! Constants are folded: a program knows its valuation.

use super::ir::{Code, Op, Reg};
use super::layout::{Field, Layout, Place};
use super::lower::{Env, EventCode, Folder, General, Low, Lower, Operand, Unsupported, World};
use super::native::{Native, Tier};
use super::pool::Pool;
use super::state::StateLayout;
use crate::batched_tests;
use crate::entry_filter::Opening;
use crate::tray::{self, Plan};
use bombus_lang::typed::{Expr, Machine, Pred, VarId};
use bombus_lang::value::Value;
use std::collections::BTreeMap;

/// What one transition packs, ready to run.
pub struct Packing {
    pub event: u32,
    /// Fields of up to a word, and the wider ones with their registers.
    pub places: Vec<Place>,
    pub wide: Vec<(Field, Reg)>,
    /// Registers that tell transitions apart: the register, its words, whether it is a pool number.
    pub label: Vec<(Reg, u16, bool)>,
}

impl Packing {
    fn for_machine_code(&self) -> tray::Emission {
        let wide = self.wide.iter().flat_map(|(field, reg)| field.places(*reg));
        tray::Emission::new(self.event, self.places.iter().copied().chain(wide).collect(), &self.label)
    }
}

pub struct Compiled {
    pub code: Code,
    /// Some event may emit a transition twice.
    pub may_repeat: bool,
    /// For each event, and last for all: whether nothing needs to be looked at in a state that it led to.
    pub quiet: Vec<bool>,
    pub generals: Vec<General>,
    pub packings: Vec<Packing>,
    pub events: Vec<Result<EventCode, Unsupported>>,
    /// The tests the events open with.
    pub openings: Vec<Option<Opening>>,
    /// Entries of the invariant's conjuncts, of the assertions, of goal and scope.
    pub invariant: Vec<Option<u32>>,
    pub assertions: Vec<Option<u32>>,
    pub goal: Option<u32>,
    pub scope: Option<u32>,
    /// Entries of the observed predicates.
    pub observed: Vec<Option<u32>>,
    /// For each event, and last for all together: code that holds if all conjuncts that the event can
    /// change hold; `None` if one of them has no code.
    pub after: Vec<Option<u32>>,
    /// Entries of the guards that a reduction may ask for.
    pub guards: Vec<Option<u32>>,
    /// Whether that code has nothing to do: the layouts say it all.
    pub idle: Vec<bool>,
}

/// Everything that compilation needs to know.
pub struct Source<'s> {
    pub machine: &'s Machine,
    pub pool: &'s Pool,
    pub folder: &'s dyn Folder,
    pub constants: &'s BTreeMap<VarId, Value>,
    pub layout: &'s StateLayout,
    /// For each event, the invariant conjuncts it can change.
    pub touched: &'s [Vec<usize>],
    /// Assertions about constants alone: nobody asks for them in a state.
    pub statics: &'s [bool],
    /// Guards that a reduction may ask for.
    pub guards: &'s [Option<Pred>],
    /// More predicates over a state.
    pub observed: &'s [Pred],
    /// Whether code becomes machine code.
    pub native: Tier,
}

pub fn compile(source: &Source<'_>) -> Compiled {
    let world = World {
        machine: source.machine,
        pool: source.pool,
        folder: source.folder,
        constants: source.constants,
    };
    let mut lower = Lower::new(&world);
    let mut env = Env::default();
    let mut inputs_fit = true;
    for slot in &source.layout.slots {
        lower.declared.insert(slot.var, slot.layout.clone());
        match lower.input(slot.layout.clone()) {
            Ok(x) => {
                debug_assert_eq!(x.reg, slot.reg);
                env.now.insert(slot.var, x.clone());
                env.old.insert(slot.var, x);
            }
            Err(_) => inputs_fit = false,
        }
    }
    // The events that emissions belong to, by the numbers of the emissions.
    let mut owners: Vec<u32> = Vec::new();
    let events: Vec<Result<EventCode, Unsupported>> = source
        .machine
        .events
        .iter()
        .zip(0..)
        .map(|(op, number)| {
            if inputs_fit {
                let done = lower.event(*op, &env);
                owners.resize(lower.emissions.len(), number);
                done
            } else {
                Err(Unsupported("a state too large for registers".into()))
            }
        })
        .collect();
    let mut test = |p: &Pred| if inputs_fit { test(&mut lower, p, &env).ok() } else { None };
    let invariant: Vec<Option<u32>> = source.machine.invariant.iter().map(|c| test(&c.pred)).collect();
    let asked = source.machine.assertions.iter().zip(source.statics);
    let assertions = asked.map(|(c, is_static)| if *is_static { None } else { test(&c.pred) }).collect();
    let goal = source.machine.goal.as_ref().and_then(&mut test);
    let scope = source.machine.scope.as_ref().and_then(&mut test);
    let observed = source.observed.iter().map(&mut test).collect();
    let guards = source.guards.iter().map(|g| g.as_ref().and_then(&mut test)).collect();
    let all: Vec<usize> = (0..invariant.len()).collect();
    let after: Vec<Option<(u32, Vec<u32>)>> = source
        .touched
        .iter()
        .chain([&all])
        .map(|set| {
            let entries: Option<Vec<u32>> = set.iter().map(|i| invariant[*i]).collect();
            entries.map(|mut entries| {
                entries.retain(|e| lower.code.ops[*e as usize] != Op::Ret);
                (lower.chain(entries.len()), entries)
            })
        })
        .collect();
    let lowered = lower.finish();
    let mut code = lowered.code;
    // Chains call entries, which are places and not labels; they are filled in last.
    for (at, entries) in after.iter().flatten() {
        for (k, entry) in entries.iter().enumerate() {
            code.ops[*at as usize + k] = Op::Call { l: *entry };
        }
    }
    batched_tests::sieve(&mut code);
    let openings = events.iter().map(|e| Opening::of(&code, e.as_ref().ok()?.entry)).collect();
    code.native = Native::new(source.native);
    let slots: BTreeMap<VarId, &[Field]> =
        source.layout.slots.iter().map(|s| (s.var, &s.fields[..])).collect();
    let packings: Vec<Packing> = lowered
        .emissions
        .iter()
        .zip(owners)
        .map(|(e, owner)| {
            let all = || e.writes.iter().flat_map(|(v, x)| slots[v].iter().map(|f| (*f, x.reg + f.part)));
            Packing {
                event: owner,
                places: all().filter_map(|(f, reg)| f.place(reg)).collect(),
                wide: all().filter(|(f, reg)| f.place(*reg).is_none()).collect(),
                label: e.label.iter().flat_map(leaves).collect(),
            }
        })
        .collect();
    let after_entries: Vec<Option<u32>> = after.iter().map(|a| a.as_ref().map(|(at, _)| *at)).collect();
    if tray::fits(source.layout.words, code.registers) {
        code.plan = Some(Plan {
            words: source.layout.words,
            load: source.layout.all_places(),
            emissions: packings.iter().map(Packing::for_machine_code).collect(),
            events: events.iter().map(|e| e.as_ref().ok().map(|code| code.entry)).collect(),
            checks: after_entries.clone(),
        });
    }
    Compiled {
        may_repeat: events.iter().any(|e| e.as_ref().is_ok_and(|code| code.may_repeat)),
        quiet: Vec::new(),
        code,
        generals: lowered.generals,
        packings,
        events,
        openings,
        invariant,
        assertions,
        goal,
        scope,
        idle: after.iter().map(|a| a.as_ref().is_some_and(|(_, entries)| entries.is_empty())).collect(),
        observed,
        after: after_entries,
        guards,
    }
}

/// A subroutine that returns when `p` holds and ends the code with `Fails` when not.
fn test(lower: &mut Lower<'_>, p: &Pred, env: &Env) -> Low<u32> {
    // Tests are called one after the other, never inside each other.
    lower.begin_piece();
    let entry = lower.here();
    lower.test(p, env).inspect_err(|_| lower.rewind(entry))?;
    Ok(entry)
}

/// The registers of a value, with a mark on pool numbers.
pub fn leaves(x: &Operand) -> Vec<(Reg, u16, bool)> {
    match &x.layout {
        Layout::Int | Layout::Code(_) | Layout::Bits(_) | Layout::Table(_) | Layout::Array(_) => {
            vec![(x.reg, x.words(), false)]
        }
        Layout::Pool => vec![(x.reg, 1, true)],
        Layout::Pair(p) => {
            let second = Operand { reg: x.reg + p.0.words(), layout: p.1.clone() };
            let mut out = leaves(&Operand { reg: x.reg, layout: p.0.clone() });
            out.extend(leaves(&second));
            out
        }
        Layout::Rec(fields) => {
            let mut at = x.reg;
            let mut out = Vec::new();
            for l in fields.iter() {
                out.extend(leaves(&Operand { reg: at, layout: l.clone() }));
                at += l.words();
            }
            out
        }
    }
}

impl Lower<'_> {
    fn test(&mut self, p: &Pred, env: &Env) -> Low<()> {
        let no = self.label();
        self.jump_unless(p, env, no)?;
        self.emit(Op::Ret);
        self.place(no);
        self.emit(Op::Fails);
        Ok(())
    }

    /// Room for `n` calls and an end that says that all held.
    fn chain(&mut self, n: usize) -> u32 {
        let at = self.here();
        for _ in 0..n {
            self.emit(Op::Halt);
        }
        self.emit(Op::Holds);
        at
    }
}

/// A folder for tests and for machines whose constants are not set up: knows nothing.
pub struct Blind;

impl Folder for Blind {
    fn value(&self, _: &Expr) -> Option<Value> {
        None
    }
    fn member(&self, _: &Value, _: &Expr) -> Option<bool> {
        None
    }
    fn give(&self, _: VarId, _: Option<&Value>) {}
    fn solutions(&self, _: VarId, _: &[&Pred], _: usize) -> Option<Vec<Value>> {
        None
    }
}
