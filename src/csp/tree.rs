//! The tree of a script, as written: names are not looked up yet, patterns stand as expressions.
//!
//! In: built by the parser. Out: read by `scope`.
//! Never here: types, values.

use super::token::Sym;
use bombus_base::{Int, Span};

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub span: Span,
}

pub type Boxed = Box<Expr>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Concat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Not,
    Minus,
    Length,
}

/// Binary operators on processes without a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    Interleave,
    Internal,
    External,
    Interrupt,
    Timeout,
    Sequence,
}

/// Binary operators on processes with a set of events between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    Parallel,
    Exception,
    Hide,
    Project,
    /// `[+ A +]`: a choice that events of the set do not resolve, both sides do them together.
    Choice,
    /// `/+ A +\\`: an interrupt with events that both sides do together.
    Interrupt,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Name(Sym),
    Wildcard,
    Int(Int),
    Bool(bool),
    Char(char),
    Str(String),
    Tuple(Vec<Expr>),
    Apply(Boxed, Vec<Expr>),
    Unary(Unary, Boxed),
    Binary(Binary, Boxed, Boxed),
    Dot(Vec<Expr>),
    Both(Boxed, Boxed),
    If(Boxed, Boxed, Boxed),
    Let(Vec<Decl>, Boxed),
    Lambda(Vec<Expr>, Boxed),
    Seq(Vec<Expr>, Vec<Stmt>),
    SeqRange(Boxed, Option<Boxed>, Vec<Stmt>),
    Set(Vec<Expr>, Vec<Stmt>),
    SetRange(Boxed, Option<Boxed>, Vec<Stmt>),
    /// `{| c, d | x <- S |}`.
    Productions(Vec<Expr>, Vec<Stmt>),
    Map(Vec<(Expr, Expr)>),
    Prefix(Boxed, Vec<Field>, Boxed),
    Guard(Boxed, Boxed),
    Combine(Combine, Boxed, Boxed),
    /// The process, the set, and the other process if the operator has one.
    Over(Over, Boxed, Boxed, Option<Boxed>),
    Alphabetised(Boxed, Boxed, Boxed, Boxed),
    Link(Boxed, Vec<(Expr, Expr)>, Vec<Stmt>, Boxed),
    Rename(Boxed, Vec<(Expr, Expr)>, Vec<Stmt>),
    /// `⊕ generators @ P`.
    Each(Each, Vec<Stmt>, Boxed),
}

#[derive(Clone, Debug)]
pub enum Each {
    External,
    Internal,
    Sequence,
    /// With the set that is shared.
    Parallel(Boxed),
    Interleave,
    /// With the set whose events do not resolve the choice.
    Choice(Boxed),
    /// With the alphabet of each.
    Alphabetised(Boxed),
    Link(Vec<(Expr, Expr)>, Vec<Stmt>),
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Generator(Expr, Expr),
    Condition(Expr),
}

#[derive(Clone, Debug)]
pub enum Field {
    Output(Expr),
    Input(Expr, Option<Expr>),
    Choice(Expr, Option<Expr>),
}

#[derive(Clone, Debug)]
pub struct Decl {
    pub kind: DeclKind,
    pub span: Span,
    /// Where the declaration stands, if that is not where the declarations round it stand.
    pub place: Option<Place>,
}

/// The surroundings of a declaration: they say what its names mean and how its processes take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the level of names.
    pub level: u32,
    /// The name of the function that tells how long each event takes, inside of a timed section.
    pub timed: Option<Sym>,
}

#[derive(Clone, Debug)]
pub enum DeclKind {
    /// One clause: name, groups of parameters, body.
    Clause(Sym, Vec<Vec<Expr>>, Expr),
    /// `p = e` with a pattern that is no name.
    Pattern(Expr, Expr),
    Channel(Vec<(Sym, Span)>, Option<Expr>),
    Datatype(Sym, Vec<Arm>),
    Subtype(Sym, Vec<Arm>),
    Nametype(Sym, Expr),
    /// `transparent` or `external` names.
    Extern(Vec<(Sym, Span)>),
    Assert(Assert),
    Annotation(Vec<(Sym, Span)>),
    Print(Expr),
    /// Name, parameters, declarations for inside, declarations for all.
    Module(Sym, Vec<(Sym, Span)>, Vec<Decl>, Vec<Decl>),
    /// `instance N = M(args)`: the name, the module with its place, the arguments.
    Instance(Sym, Sym, Span, Vec<Expr>),
    /// `Timed(f) { … }`.
    Timed(Option<Expr>, Vec<Decl>),
    /// A temporal formula of a pragma, with its comment.
    Formula {
        ctl: bool,
        formula: String,
        comment: String,
    },
}

/// One alternative of a datatype: the constructor and its fields.
#[derive(Clone, Debug)]
pub struct Arm {
    pub name: Sym,
    pub span: Span,
    pub fields: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Assert {
    pub negated: bool,
    pub claim: Claim,
}

/// Which behaviours count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semantics {
    Traces,
    Failures,
    Divergences,
}

impl Semantics {
    pub fn letters(self) -> &'static str {
        match self {
            Semantics::Traces => "T",
            Semantics::Failures => "F",
            Semantics::Divergences => "FD",
        }
    }
}

#[derive(Clone, Debug)]
pub enum Claim {
    Refines(Expr, Semantics, Expr),
    DeadlockFree(Expr, Semantics),
    DivergenceFree(Expr),
    Deterministic(Expr, Semantics),
    HasTrace(Expr, Semantics, Expr),
}
