//! Lowering: typed trees to register code.
//!
//! In: expressions, predicates, substitutions, and where their variables stand. Out: `Code`, and the
//! pieces that are evaluated on values because they have no lowering (yet).
//! The fast path speaks only of what is well-defined and fits its layout. Everywhere else control
//! goes to `misfit`, and the whole piece is done again on exact values: so the meaning of undefined
//! and oversized values is told in one place, the interpreter.

mod array;
mod codes;
mod comprehension;
mod estimates;
mod expr;
mod given;
mod guard;
mod listed;
mod maplets;
mod member;
mod pooled;
mod pred;
mod recent;
mod relation;
mod search;
mod stmt;
mod table;

pub use guard::{Alternative, Emission, EventCode, alternatives, written};
pub use stmt::updated;

use super::carrier::Carrier;
use super::ir::{Code, DROPPED, GeneralTouch, Label, NOWHERE, Op, Reg};
use super::layout::Layout;
use super::pool::Pool;
use bombus_base::Int;
use bombus_base::hash::HashMap;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Machine, Pred, SetId, Type, UnOp, VarId};
use bombus_lang::value::Value;
use std::collections::BTreeMap;

/// No lowering exists; in words, for people who look at why a model is slow.
#[derive(Clone, Debug)]
pub struct Unsupported(pub String);

pub type Low<T> = Result<T, Unsupported>;

pub(super) fn unsupported<T>(why: impl Into<String>) -> Low<T> {
    Err(Unsupported(why.into()))
}

/// Evaluation at compile time, done by the interpreter.
pub trait Folder {
    /// The value of an expression over constants alone; `None` when it has none or is not a listed set.
    fn value(&self, e: &Expr) -> Option<Value>;
    /// Whether `v` belongs to a set over constants alone, which may be infinite.
    fn member(&self, v: &Value, set: &Expr) -> Option<bool>;
    /// From now on `v` is a constant with this value, or is none any more.
    fn give(&self, v: VarId, value: Option<&Value>);
    /// The values of `v` that satisfy predicates over it and constants; `None` when they are more than `most`, when
    /// some predicate has no value, or when it takes long to find them.
    fn solutions(&self, v: VarId, conjuncts: &[&Pred], most: usize) -> Option<Vec<Value>>;
}

/// What lowering knows about the model.
pub struct World<'w> {
    pub machine: &'w Machine,
    pub pool: &'w Pool,
    pub folder: &'w dyn Folder,
    /// The constants, with their values in the valuation at hand.
    pub constants: &'w BTreeMap<VarId, Value>,
}

/// A value in registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub reg: Reg,
    pub layout: Layout,
}

impl Operand {
    pub fn words(&self) -> u16 {
        self.layout.words()
    }

    fn halves(&self) -> Option<(Operand, Operand)> {
        match &self.layout {
            Layout::Pair(p) => Some((
                Operand { reg: self.reg, layout: p.0.clone() },
                Operand { reg: self.reg + p.0.words(), layout: p.1.clone() },
            )),
            _ => None,
        }
    }

    fn field(&self, i: usize) -> Option<Operand> {
        match &self.layout {
            Layout::Rec(fields) => {
                let before: u16 = fields[..i].iter().map(Layout::words).sum();
                Some(Operand { reg: self.reg + before, layout: fields[i].clone() })
            }
            _ => None,
        }
    }

    /// The carrier of a bit-set.
    fn carrier(&self) -> Low<&Carrier> {
        match &self.layout {
            Layout::Bits(c) => Ok(c),
            other => unsupported(format!("a set as {other}")),
        }
    }

    /// Rows and columns of a bit matrix.
    fn matrix(&self) -> Low<(&Carrier, &Carrier)> {
        match &self.layout {
            Layout::Bits(Carrier::Pair(p)) => Ok((&p.0, &p.1)),
            other => unsupported(format!("a relation as {other}")),
        }
    }
}

/// Where variables stand.
#[derive(Clone, Debug, Default)]
pub struct Env {
    pub now: BTreeMap<VarId, Operand>,
    pub old: BTreeMap<VarId, Operand>,
}

impl Env {
    pub fn with(&self, v: VarId, x: Operand) -> Env {
        let mut env = self.clone();
        env.now.insert(v, x);
        env
    }
}

/// A piece that is evaluated on values.
#[derive(Clone, Debug)]
pub enum General {
    Expr {
        expr: Expr,
        inputs: Vec<Input>,
        out: Operand,
    },
    Pred {
        pred: Pred,
        inputs: Vec<Input>,
        out: Reg,
    },
    /// The same value in another layout.
    Convert {
        from: Operand,
        to: Operand,
    },
    /// How many elements a set in the pool has.
    Count {
        set: Operand,
        out: Reg,
    },
    /// The element of a set in the pool at a place.
    Element {
        set: Operand,
        at: Reg,
        out: Operand,
    },
}

#[derive(Clone, Debug)]
pub struct Input {
    pub var: VarId,
    pub old: bool,
    pub from: Operand,
}

/// Finished code with its tables.
pub struct Lowered {
    pub code: Code,
    pub generals: Vec<General>,
    pub emissions: Vec<Emission>,
}

pub struct Lower<'w> {
    w: &'w World<'w>,
    pub code: Code,
    pub generals: Vec<General>,
    /// Places of labels; operations hold label numbers until `finish`.
    labels: Vec<Option<u32>>,
    /// The last place that has a label: operations before it may not be changed any more.
    marked: u32,
    /// How many copies of the code at hand are made by unrolled loops.
    copies: usize,
    constants: HashMap<Vec<u64>, Reg>,
    /// Single-word constants by register, to use immediate forms.
    known: HashMap<Reg, i64>,
    tables: HashMap<(Carrier, Carrier, bool), u16>,
    /// Parameters that have one value in the piece at hand.
    given: BTreeMap<VarId, Value>,
    /// Values that stand in the pool as well: where, and where their numbers are.
    pooled: Vec<(Operand, Operand)>,
    /// Layouts of the variables of the state.
    pub declared: BTreeMap<VarId, Layout>,
    pub emissions: Vec<Emission>,
    misfit: Label,
    /// The next register, the first behind the inputs, and the first of the constants.
    next: usize,
    floor: usize,
    ceiling: usize,
    /// Where control goes when the expression at hand is undefined.
    wd: Label,
}

/// Registers beyond this are not given out: the frame has 65,536.
const LAST_REGISTER: usize = crate::tray::REGISTERS;

impl<'w> Lower<'w> {
    pub fn new(w: &'w World<'w>) -> Lower<'w> {
        let mut l = Lower {
            w,
            code: Code { registers: LAST_REGISTER, ..Code::default() },
            generals: Vec::new(),
            labels: Vec::new(),
            marked: 0,
            copies: 1,
            constants: HashMap::new(),
            known: HashMap::new(),
            tables: HashMap::new(),
            given: BTreeMap::new(),
            pooled: Vec::new(),
            declared: BTreeMap::new(),
            emissions: Vec::new(),
            misfit: 0,
            next: 0,
            floor: 0,
            ceiling: LAST_REGISTER,
            wd: 0,
        };
        l.misfit = l.label();
        l.wd = l.misfit;
        l
    }

    /// Gives every label its place. The code may be extended no more.
    pub fn finish(mut self) -> Lowered {
        let misfit = self.misfit;
        self.place(misfit);
        self.emit(Op::Misfit);
        for at in 0..self.code.ops.len() {
            if let Some(l) = self.code.ops[at].touches().label {
                let mut place = self.labels[l as usize].expect("every label that is used has a place");
                // A jump to a jump goes where that one goes. Jumps before `at` know their place already.
                for _ in 0..8 {
                    match self.code.ops.get(place as usize) {
                        Some(Op::Jump { l }) if (place as usize) < at => place = *l,
                        Some(Op::Jump { l }) if (place as usize) > at => match self.labels[*l as usize] {
                            Some(p) => place = p,
                            None => break,
                        },
                        _ => break,
                    }
                }
                self.code.ops[at].set_label(place);
            }
        }
        Lowered { code: self.code, generals: self.generals, emissions: self.emissions }
    }

    /// Registers for the variables of the state, before any other.
    pub fn input(&mut self, layout: Layout) -> Low<Operand> {
        let x = self.fresh(layout)?;
        self.code.inputs.push((x.reg, x.words()));
        self.floor = self.next;
        Ok(x)
    }

    /// Where the next operation will stand.
    pub fn here(&self) -> u32 {
        self.code.ops.len() as u32
    }

    /// Forgets what was emitted since `mark`, after a lowering that failed half-way.
    pub fn rewind(&mut self, mark: u32) {
        self.code.ops.truncate(mark as usize);
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        (self.labels.len() - 1) as Label
    }

    pub(super) fn place(&mut self, l: Label) {
        // A jump to the next operation is none, unless somebody jumps behind it.
        if self.marked < self.here() && self.code.ops.last() == Some(&Op::Jump { l }) {
            self.code.ops.pop();
        }
        self.labels[l as usize] = Some(self.here());
        self.marked = self.here();
    }

    /// Whether an operation since `mark` goes to `l`.
    pub(super) fn jumps_to(&self, l: Label, mark: u32) -> bool {
        self.code
            .ops
            .get(mark as usize..)
            .is_some_and(|ops| ops.iter().any(|op| op.touches().label == Some(l)))
    }

    fn alloc(&mut self, words: u16) -> Low<Reg> {
        let reg = self.next;
        if reg + words as usize > self.ceiling {
            return unsupported("too many registers");
        }
        self.next += words as usize;
        Ok(reg as Reg)
    }

    /// Starts a piece of code that runs by itself: its registers may be those of another piece. Inputs
    /// and constants keep theirs.
    pub fn begin_piece(&mut self) {
        self.next = self.floor;
    }

    fn fresh(&mut self, layout: Layout) -> Low<Operand> {
        Ok(Operand { reg: self.alloc(layout.words())?, layout })
    }

    fn with_wd<T>(&mut self, wd: Label, f: impl FnOnce(&mut Self) -> T) -> T {
        let saved = std::mem::replace(&mut self.wd, wd);
        let result = f(self);
        self.wd = saved;
        result
    }

    // --- Constants.

    fn constant(&mut self, words: Vec<u64>) -> Low<Reg> {
        if let Some(r) = self.constants.get(&words) {
            return Ok(*r);
        }
        // Constants grow downwards from the end of the frame.
        if self.next + words.len() > self.ceiling {
            return unsupported("too many registers");
        }
        self.ceiling -= words.len();
        let reg = self.ceiling as Reg;
        if words.len() == 1 {
            self.known.insert(reg, words[0] as i64);
        }
        self.code.constants.push((reg, words.clone()));
        self.constants.insert(words, reg);
        Ok(reg)
    }

    fn integer(&mut self, n: i64) -> Low<Operand> {
        Ok(Operand { reg: self.constant(vec![n as u64])?, layout: Layout::Int })
    }

    /// The known number in a register, if it fits an immediate.
    pub(super) fn immediate(&self, x: &Operand) -> Option<i32> {
        self.known.get(&x.reg).and_then(|n| i32::try_from(*n).ok())
    }

    /// A value that is known now.
    fn literal(&mut self, v: &Value, ty: &Type, want: Option<&Layout>) -> Low<Operand> {
        let natural = self.natural(v, ty);
        for layout in want.into_iter().chain(natural.as_ref()) {
            let mut words = vec![0; layout.words() as usize];
            if layout.encode(v, self.w.pool, &mut words) {
                return Ok(Operand { reg: self.constant(words)?, layout: layout.clone() });
            }
        }
        unsupported("a constant without a layout")
    }

    /// The tightest layout for a known value.
    fn natural(&self, v: &Value, ty: &Type) -> Option<Layout> {
        let sizes = |s: SetId| self.w.machine.set(s).elems.len();
        if v.mentions_symbolic() {
            return None;
        }
        Some(match (v, ty) {
            (Value::Int(Int::Small(_)), _) => Layout::Int,
            (Value::Bool(_) | Value::Elem(..), _) => Layout::Code(Carrier::of_type(ty, &sizes)?),
            (Value::Pair(p), Type::Prod(a, b)) => {
                Layout::pair(self.natural(&p.0, a)?, self.natural(&p.1, b)?)
            }
            (Value::Rec(vs), Type::Struct(fields)) => Layout::Rec(
                vs.iter().zip(fields.iter()).map(|(v, (_, t))| self.natural(v, t)).collect::<Option<_>>()?,
            ),
            (Value::Set(elems), Type::Pow(t)) => match Carrier::of_type(t, &sizes) {
                Some(c) => Layout::Bits(c),
                None => match Carrier::of_values(elems.iter(), t, &sizes) {
                    Some(c) => Layout::Bits(c),
                    None if elems.is_empty() => match self.tiny(t) {
                        Some(c) => Layout::Bits(c),
                        None => Layout::Pool,
                    },
                    None => self
                        .natural_table(elems, t)
                        .or_else(|| Carrier::of_nested_type(t, &sizes).map(Layout::Bits))
                        .unwrap_or(Layout::Pool),
                },
            },
            _ => Layout::Pool,
        })
    }

    /// The bit-set that every set of a type fits, if its elements are or have small sets. Weaker than a layout that is
    /// known of a value: a function to sets is better off as a table.
    pub(super) fn of_nested_type(&self, ty: &Type) -> Option<Layout> {
        let Type::Pow(t) = ty else { return None };
        Carrier::of_nested_type(t, &|s| self.w.machine.set(s).elems.len()).map(Layout::Bits)
    }

    /// The layout of a known function that has no place as a matrix.
    fn natural_table(&self, maplets: &[Value], ty: &Type) -> Option<Layout> {
        let sizes = |s: SetId| self.w.machine.set(s).elems.len();
        let Type::Prod(a, b) = ty else { return None };
        let pairs: Vec<(&Value, &Value)> = maplets.iter().map(Value::as_pair).collect::<Option<_>>()?;
        // Sorted by the first component, so a second value for an argument stands beside the first.
        if pairs.windows(2).any(|w| w[0].0 == w[1].0) {
            return None;
        }
        let rows = Carrier::of_type(a, &sizes)
            .or_else(|| Carrier::of_values(pairs.iter().map(|p| p.0), a, &sizes))?;
        let value = match self.of_type(b) {
            Some(l) => l,
            None => {
                let mut all: Option<Layout> = None;
                for (_, v) in &pairs {
                    let one = self.natural(v, b)?;
                    all = Some(match (all, one) {
                        (None, l) => l,
                        (Some(Layout::Bits(x)), Layout::Bits(y)) => Layout::Bits(x.join(&y)?),
                        (Some(x), y) if x == y => x,
                        _ => Layout::Pool,
                    });
                }
                all?
            }
        };
        let small = rows.card() <= 512 && rows.card() * value.words() as usize <= 1024;
        small.then(|| Layout::table(rows, value))
    }

    /// Some carrier for a type, for sets that are empty anyway.
    fn tiny(&self, ty: &Type) -> Option<Carrier> {
        Some(match ty {
            Type::Integer => Carrier::Ints { lo: 0, n: 1 },
            Type::Prod(a, b) => Carrier::pair(self.tiny(a)?, self.tiny(b)?),
            Type::Struct(fields) => {
                Carrier::Rec(fields.iter().map(|(_, t)| self.tiny(t)).collect::<Option<_>>()?)
            }
            _ => Carrier::of_type(ty, &|s| self.w.machine.set(s).elems.len())?,
        })
    }

    /// The layout that every value of a type fits, if there is one in words.
    pub fn of_type(&self, ty: &Type) -> Option<Layout> {
        let sizes = |s: SetId| self.w.machine.set(s).elems.len();
        Some(match ty {
            Type::Integer => Layout::Int,
            Type::Bool | Type::Set(_) => Layout::Code(Carrier::of_type(ty, &sizes)?),
            Type::Pow(t) => Layout::Bits(Carrier::of_type(t, &sizes)?),
            Type::Prod(a, b) => Layout::pair(self.of_type(a)?, self.of_type(b)?),
            Type::Struct(fields) => {
                Layout::Rec(fields.iter().map(|(_, t)| self.of_type(t)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    // --- Moving values between layouts.

    fn copy(&mut self, from: &Operand, to: Reg) {
        if from.reg != to {
            self.emit(Op::Copy { d: to, a: from.reg, n: from.words() });
        }
    }

    /// A copy in registers of its own, to be changed in place.
    fn duplicate(&mut self, x: &Operand) -> Low<Operand> {
        let d = self.fresh(x.layout.clone())?;
        self.copy(x, d.reg);
        Ok(d)
    }

    /// The same value in another layout; a value without a place there is a misfit.
    fn convert(&mut self, x: Operand, to: &Layout) -> Low<Operand> {
        if x.layout == *to {
            return Ok(x);
        }
        if *to == Layout::Pool
            && let Some((_, number)) = self.pooled.iter().find(|(known, _)| *known == x)
        {
            return Ok(number.clone());
        }
        match (&x.layout, to) {
            (Layout::Bits(_), Layout::Bits(c)) => self.remap(&x, c, false),
            (Layout::Bits(Carrier::Pair(_)) | Layout::Array(_), Layout::Array(a))
                if a.matrix().card() <= super::carrier::MAX_CARD =>
            {
                self.as_array(&x, a)
            }
            (Layout::Array(b), Layout::Array(a)) if a.rows == b.rows && a.values == b.values => {
                self.as_array(&x, a)
            }
            (Layout::Array(a), Layout::Bits(c)) if a.matrix().card() <= super::carrier::MAX_CARD => {
                let m = self.as_bits(x)?;
                self.remap(&m, c, false)
            }
            (Layout::Pair(_), Layout::Pair(t)) => {
                let (a, b) = x.halves().expect("the layout is a pair");
                let (a, b) = (self.convert(a, &t.0)?, self.convert(b, &t.1)?);
                self.join(&[a, b], to.clone())
            }
            (Layout::Rec(fields), Layout::Rec(ts)) if fields.len() == ts.len() => {
                let mut parts = Vec::new();
                for (i, t) in ts.iter().enumerate() {
                    let part = x.field(i).expect("the layout is a record");
                    parts.push(self.convert(part, t)?);
                }
                self.join(&parts, to.clone())
            }
            (Layout::Pool | Layout::Table(_) | Layout::Array(_) | Layout::Bits(_), _) | (_, Layout::Pool) => {
                let d = self.fresh(to.clone())?;
                let touch = GeneralTouch { reads: vec![(x.reg, x.words())], write: Some((d.reg, d.words())) };
                self.general(General::Convert { from: x, to: d.clone() }, touch)?;
                Ok(d)
            }
            _ => unsupported(format!("{} as {to}", x.layout)),
        }
    }

    /// Parts side by side in consecutive registers.
    fn join(&mut self, parts: &[Operand], layout: Layout) -> Low<Operand> {
        let d = self.fresh(layout)?;
        let mut at = d.reg;
        for p in parts {
            self.copy(p, at);
            at += p.words();
        }
        Ok(d)
    }

    fn general(&mut self, g: General, touch: GeneralTouch) -> Low<()> {
        if self.generals.len() >= usize::from(u16::MAX) {
            return unsupported("too many pieces on values");
        }
        self.generals.push(g);
        self.code.generals.push(touch);
        let l = self.wd;
        self.emit(Op::General { g: (self.generals.len() - 1) as u16, l });
        Ok(())
    }
}
