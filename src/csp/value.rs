//! Values: in full, or as far as they were needed.
//!
//! In: made by `eval`. Out: compared, ordered and hashed as data.
//! Never here: evaluation.
//!
//! A dotted value is a flat row of parts: `B.(D.0).1` and `B.D.0.1` are one value, and the arity of a
//! constructor tells which parts belong together.

use super::builtin::Builtin;
use super::core::{Ex, Function, Group};
use super::eval::Eval;
use super::token::Sym;
use bombus_base::{Int, Span};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Something went wrong while a value was computed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    pub span: Span,
    pub message: String,
    /// Whether a value was needed for its own computation.
    pub circular: bool,
    /// Whether a limit of the evaluator was reached: then nothing is known to be wrong.
    pub limit: bool,
}

pub type Res<T> = Result<T, Box<Fault>>;

/// A value in full.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Data {
    Int(Int),
    Bool(bool),
    Char(char),
    /// A constructor of a datatype.
    Const(u32),
    Channel(u32),
    Tuple(Rc<[Data]>),
    Dot(Rc<[Data]>),
    Seq(Rc<[Data]>),
    Set(Rc<SetOf>),
    Map(Rc<[(Data, Data)]>),
    Fun(Rc<FunData>),
    /// A process: the number of its term.
    Proc(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetOf {
    /// Sorted, each element once.
    Finite(Vec<Data>),
    /// All integers from this one on.
    From(Int),
    Ints,
    Chars,
    Procs,
    /// All sequences over a set.
    Seqs(Rc<SetOf>),
    /// All subsets of a set without end.
    Sets(Rc<SetOf>),
    /// All tuples with one element of each set, of which one has no end.
    Tuples(Rc<[Rc<SetOf>]>),
    /// A datatype that has no end.
    Type(u32),
}

/// A function in full: what it is, where it stands, what it was given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunData {
    pub code: Code,
    pub env: Bounds,
    pub args: Vec<Vec<Data>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    User(Rc<Function>),
    Builtin(Builtin),
}

/// An environment in full, innermost first.
pub type Bounds = Rc<[Bound]>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    Var(Sym, Data),
    /// A value that cannot be had yet, because it is being defined by what needs it.
    Later(Sym, Suspended),
    Let(Rc<LetData>),
}

/// An expression that is evaluated later, with the values of its free names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Suspended {
    pub expr: Ex,
    pub env: Bounds,
}

/// Definitions of a `let`, with the environment they stand in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LetData {
    pub group: Rc<Group>,
    pub env: Bounds,
}

/// A value as far as its outermost form.
#[derive(Clone)]
pub enum Val {
    Data(Data),
    Tuple(Rc<[Th]>),
    Seq(Chunk),
    Fun(Rc<Closure>),
}

/// A sequence: some elements, and what computes the rest.
#[derive(Clone)]
pub struct Chunk {
    pub items: Rc<[Th]>,
    pub from: usize,
    pub rest: Option<Th>,
}

pub struct Closure {
    pub code: Code,
    pub env: Env,
    pub args: Vec<Vec<Th>>,
}

/// A value that is computed when it is needed.
pub type Th = Rc<Thunk>;

pub struct Thunk(pub RefCell<State>);

pub type Delayed = Box<dyn FnOnce(&mut Eval) -> Res<Val>>;

pub enum State {
    Done(Val),
    Expr(Ex, Env),
    Later(Delayed),
    /// Under way: to need it now is a circle.
    Busy,
}

pub fn done(val: Val) -> Th {
    Rc::new(Thunk(RefCell::new(State::Done(val))))
}

pub fn data(data: Data) -> Th {
    done(Val::Data(data))
}

pub fn later(work: impl FnOnce(&mut Eval) -> Res<Val> + 'static) -> Th {
    Rc::new(Thunk(RefCell::new(State::Later(Box::new(work)))))
}

#[derive(Clone, Default)]
pub struct Env(pub Option<Rc<Frame>>);

pub struct Frame {
    pub bound: Binding,
    pub next: Env,
}

#[derive(Clone)]
pub enum Binding {
    Var(Sym, Th),
    Let(Rc<Instance>),
}

/// One evaluation of a `let`: its definitions over one environment.
pub struct Instance {
    pub group: Rc<Group>,
    pub env: Env,
    pub cells: RefCell<HashMap<Sym, Th>>,
}

impl Env {
    pub fn with(&self, name: Sym, th: Th) -> Env {
        Env(Some(Rc::new(Frame { bound: Binding::Var(name, th), next: self.clone() })))
    }

    pub fn with_let(&self, instance: Rc<Instance>) -> Env {
        Env(Some(Rc::new(Frame { bound: Binding::Let(instance), next: self.clone() })))
    }

    /// The frame that binds a name, with its value.
    pub fn find(&self, name: Sym) -> Option<(&Binding, Th)> {
        let mut at = self;
        while let Some(frame) = &at.0 {
            match &frame.bound {
                Binding::Var(n, th) if *n == name => return Some((&frame.bound, th.clone())),
                Binding::Let(instance) => {
                    if let Some(th) = instance.cells.borrow().get(&name) {
                        return Some((&frame.bound, th.clone()));
                    }
                }
                Binding::Var(..) => {}
            }
            at = &frame.next;
        }
        None
    }
}

impl Data {
    pub fn set(mut list: Vec<Data>) -> Data {
        list.sort_unstable();
        list.dedup();
        Data::Set(Rc::new(SetOf::Finite(list)))
    }

    /// The parts of a dotted value; a value without dots is its own only part.
    pub fn parts(&self) -> &[Data] {
        match self {
            Data::Dot(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// A dotted value of flat parts.
    pub fn dotted(mut parts: Vec<Data>) -> Data {
        if parts.len() == 1 { parts.swap_remove(0) } else { Data::Dot(parts.into()) }
    }
}
