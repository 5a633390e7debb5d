//! Expressions with names looked up and patterns told from expressions.
//!
//! In: built by `scope`. Out: evaluated by `eval`. Equal expressions have equal numbers, wherever they
//! stand in the script: the number, not the place, is what the identity of a process is made of.
//! Never here: values.

use super::token::Sym;
pub use super::tree::{Binary, Combine, Over, Semantics, Unary};
use bombus_base::{Int, Span};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

#[derive(Debug)]
pub struct Expr {
    pub id: u32,
    pub span: Span,
    pub kind: Kind,
    /// Names that the expression does not bind itself, sorted; global ones are among them.
    pub free: Rc<[Sym]>,
}

pub type Ex = Rc<Expr>;

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.id == other.id
    }
}

impl Eq for Expr {}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> std::cmp::Ordering {
        self.id.cmp(&other.id)
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Name(Sym),
    Int(Int),
    Bool(bool),
    Char(char),
    Str(Rc<str>),
    Tuple(Vec<Ex>),
    Apply(Ex, Vec<Ex>),
    Unary(Unary, Ex),
    Binary(Binary, Ex, Ex),
    Dot(Vec<Ex>),
    If(Ex, Ex, Ex),
    Let(Rc<Group>, Ex),
    Lambda(Rc<Function>),
    Seq(Vec<Ex>, Vec<Stmt>),
    SeqRange(Ex, Option<Ex>, Vec<Stmt>),
    Set(Vec<Ex>, Vec<Stmt>),
    SetRange(Ex, Option<Ex>, Vec<Stmt>),
    Productions(Vec<Ex>, Vec<Stmt>),
    Map(Vec<(Ex, Ex)>),
    Prefix(Ex, Vec<Field>, Ex),
    Guard(Ex, Ex),
    Combine(Combine, Ex, Ex),
    Over(Over, Ex, Ex, Option<Ex>),
    Alphabetised(Ex, Ex, Ex, Ex),
    Link(Ex, Pairs, Ex),
    Rename(Ex, Pairs),
    /// With what stands for an operator on no processes, where that is not the usual one.
    Each(Each, Vec<Stmt>, Ex, Option<Ex>),
    /// A communication that waits: how long each event takes, the event of time, the communication.
    Timed(Ex, Ex, Ex),
}

/// Pairs of event prefixes with generators.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pairs {
    pub list: Vec<(Ex, Ex)>,
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Each {
    External,
    Internal,
    Sequence,
    Parallel(Ex),
    Interleave,
    Choice(Ex),
    Alphabetised(Ex),
    Link(Pairs),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    Generator(Pat, Ex),
    Condition(Ex),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Output(Ex),
    Input(Pat, Option<Ex>),
    Choice(Pat, Option<Ex>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pat {
    Any,
    Var(Sym),
    Int(Int),
    Bool(bool),
    Char(char),
    Tuple(Vec<Pat>),
    Seq(Vec<Pat>),
    /// Sequences of known lengths round one of any length.
    Around(Vec<Pat>, Box<Pat>, Vec<Pat>),
    /// The empty set, or a set of one element.
    Set(Option<Box<Pat>>),
    /// A constructor or a channel.
    Const(Sym),
    Dot(Vec<Pat>),
    Both(Box<Pat>, Box<Pat>),
}

impl Pat {
    /// The names that the pattern binds, in order.
    pub fn names(&self, out: &mut Vec<Sym>) {
        match self {
            Pat::Var(name) => out.push(*name),
            Pat::Tuple(list) | Pat::Seq(list) | Pat::Dot(list) => list.iter().for_each(|p| p.names(out)),
            Pat::Around(before, middle, after) => {
                before.iter().for_each(|p| p.names(out));
                middle.names(out);
                after.iter().for_each(|p| p.names(out));
            }
            Pat::Set(Some(one)) => one.names(out),
            Pat::Both(a, b) => {
                a.names(out);
                b.names(out);
            }
            _ => {}
        }
    }
}

/// A function: clauses tried from top to bottom, each with groups of parameters.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    pub name: Option<Sym>,
    pub clauses: Vec<Clause>,
    pub free: Rc<[Sym]>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clause {
    pub groups: Vec<Vec<Pat>>,
    pub body: Ex,
}

/// Definitions that may refer to each other.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    pub binds: Vec<Bind>,
    /// Names from outside of the group.
    pub free: Rc<[Sym]>,
}

impl Group {
    /// The names that are defined here.
    pub fn names(&self) -> Vec<Sym> {
        let mut names = Vec::new();
        self.binds.iter().for_each(|bind| match bind {
            Bind::Function(name, _) => names.push(*name),
            Bind::Value(pat, _) => pat.names(&mut names),
        });
        names
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bind {
    Function(Sym, Rc<Function>),
    Value(Pat, Ex),
}

/// Gives equal expressions equal numbers.
#[derive(Default)]
pub struct Numbers {
    known: HashMap<Kind, u32>,
}

impl Numbers {
    pub fn expr(&mut self, kind: Kind, span: Span, free: Rc<[Sym]>) -> Ex {
        let next = self.known.len() as u32;
        let id = *self.known.entry(kind.clone()).or_insert(next);
        Rc::new(Expr { id, span, kind, free })
    }
}
