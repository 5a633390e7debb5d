//! The tree of a B text, as written: no types, no resolved names, definitions not expanded.
//!
//! Predicates and expressions share one type, `Expr`, because the call of a definition may be
//! either; the parsers make sure that each stands only where the grammar wants it.
//! Event-B formulas use the same tree, so that everything behind the parsers is shared.

use bombus_base::{Int, Name, Span};

#[derive(Clone, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// An expression or a predicate.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl Expr {
    /// The conjuncts of a predicate from left to right, below labels and inside conjunctions.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        let mut conjuncts = Vec::new();
        let mut open = vec![self];
        while let Some(p) = open.pop() {
            match &p.kind {
                ExprKind::And(ps) => open.extend(ps.iter().rev()),
                ExprKind::Label(_, p) => open.push(p),
                _ => conjuncts.push(p),
            }
        }
        conjuncts
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A name, possibly dotted; also the call of a definition without arguments.
    Ident(Name),
    /// `x$0`.
    Old(Name),
    /// `x'` of Event-B before-after predicates.
    Primed(Name),
    Int(Int),
    /// The literal as written, `digits.digits[e…]`.
    Real(Name),
    Str(Name),
    /// A template string: literal parts and spliced expressions in turn.
    Template(Vec<TemplatePart>),
    /// A keyword that stands for a value or a truth value by itself.
    Const(Const),
    /// A keyword function, `card(S)`, or a contextual tree function.
    Builtin(Builtin, Vec<Expr>),
    Neg(Box<Expr>),
    /// `r~`
    Inverse(Box<Expr>),
    Not(Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// At least two conjuncts; a parenthesised conjunction inside stays its own node.
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// `f(a,b)`: function, definition, constructor or external function; arguments not paired yet.
    Apply(Box<Expr>, Vec<Expr>),
    /// `r[S]`
    Image(Box<Expr>, Box<Expr>),
    /// `r'f`
    Field(Box<Expr>, Ident),
    /// `{a,b}`, not empty.
    SetExt(Vec<Expr>),
    /// `[a,b]`, not empty.
    SeqExt(Vec<Expr>),
    Rec(Vec<(Ident, Expr)>),
    Struct(Vec<(Ident, Expr)>),
    /// `{x,y|P}`
    Compr(Vec<Ident>, Box<Expr>),
    /// `!x.(P)`, `#x.(P)`
    Quant(Quant, Vec<Ident>, Box<Expr>),
    /// `%x.(P|E)`, `SIGMA(x).(P|E)`, `{x·P|E}` …
    Big(BigOp, Vec<Ident>, Box<Expr>, Box<Expr>),
    /// `IF P THEN E ELSIF … ELSE F END`, of expressions or of predicates.
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `LET x BE x=E IN F END`, of expressions or of predicates.
    Let(Vec<Ident>, Box<Expr>, Box<Expr>),
    /// `[x,y := E,F] P`
    After(Vec<Expr>, Vec<Expr>, Box<Expr>),
    /// `/*@label name*/ P`
    Label(Name, Box<Expr>),
    /// `/*@symbolic*/ E`
    Symbolic(Box<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    Text(Name),
    Expr(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    True,
    False,
    BTrue,
    BFalse,
    Maxint,
    Minint,
    Integer,
    Natural,
    Natural1,
    Int,
    Nat,
    Nat1,
    Bool,
    String,
    Real,
    Float,
    /// `{}`
    EmptySet,
    /// `[]`, `<>`
    EmptySeq,
    /// `succ` and `pred`, also unapplied.
    Succ,
    Pred,
    /// Generic `id`, `prj1`, `prj2` of Event-B, not applied.
    Id,
    Prj1,
    Prj2,
}

/// Keyword functions, all written `name(args)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `bool(P)`
    Bool,
    Pow,
    Pow1,
    Fin,
    Fin1,
    Card,
    Min,
    Max,
    /// `union(SS)`, `inter(SS)`
    Union,
    Inter,
    Dom,
    Ran,
    Id,
    Closure,
    Closure1,
    Iterate,
    Rel,
    Fnc,
    /// With two arguments the projections of B, with one the generic projection applied.
    Prj1,
    Prj2,
    Seq,
    Seq1,
    Iseq,
    Iseq1,
    Perm,
    Size,
    First,
    Last,
    Front,
    Tail,
    Rev,
    Conc,
    Floor,
    Ceiling,
    /// `real(n)`
    ToReal,
    /// Predicates `finite(S)`, `partition(S,A,B…)`.
    Finite,
    Partition,
    Tree,
    Btree,
    /// `const(E,s)`
    TreeConst,
    Top,
    Sons,
    Prefix,
    Postfix,
    Sizet,
    Mirror,
    Rank,
    Father,
    Son,
    Subtree,
    Arity,
    Bin,
    Left,
    Right,
    Infix,
}

pub use super::op::BinOp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quant {
    Forall,
    Exists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BigOp {
    Lambda,
    Sigma,
    Pi,
    Union,
    Inter,
    /// `{x·P|E}`
    SetOf,
}

/// A substitution.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// What the condition of an ASSERT stands for. A text says ASSERT and means an assertion; the translation of Event-B
/// writes the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obligation {
    Assertion,
    /// A proof obligation of refinement in Event-B.
    Refinement,
    /// An event of Event-B must decrease the variant, or must not increase it.
    Variant,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    Skip,
    /// `BEGIN S END`
    Block(Box<Stmt>),
    /// Targets are `x`, `f(a)…`, `r'g…`.
    Assign(Vec<Expr>, Vec<Expr>),
    /// `x,y :: S`
    BecomesIn(Vec<Ident>, Expr),
    /// `x,y :(P)`
    BecomesSuch(Vec<Ident>, Expr),
    Pre(Expr, Box<Stmt>),
    Assert(Obligation, Expr, Box<Stmt>),
    Witness(Expr, Box<Stmt>),
    Choice(Vec<Stmt>),
    If(Vec<(Expr, Stmt)>, Option<Box<Stmt>>),
    Select(Vec<(Expr, Stmt)>, Option<Box<Stmt>>),
    Case(Expr, Vec<(Vec<Expr>, Stmt)>, Option<Box<Stmt>>),
    Any(Vec<Ident>, Expr, Box<Stmt>),
    Let(Vec<Ident>, Expr, Box<Stmt>),
    Var(Vec<Ident>, Box<Stmt>),
    While {
        cond: Expr,
        body: Box<Stmt>,
        invariant: Expr,
        variant: Expr,
    },
    /// `r,s <-- op(a,b)`, or the call of a substitution definition.
    Call {
        results: Vec<Expr>,
        op: Ident,
        args: Vec<Expr>,
    },
    Seq(Vec<Stmt>),
    Par(Vec<Stmt>),
}

/// One file: a machine, or only definitions.
#[derive(Clone, Debug, PartialEq)]
pub enum Unit {
    Machine(Machine),
    Definitions(Vec<DefItem>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineKind {
    /// MACHINE, MODEL, SYSTEM
    Machine,
    Refinement,
    Implementation,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub kind: MachineKind,
    pub name: Ident,
    pub params: Vec<Ident>,
    pub refines: Option<Ident>,
    /// In the order of the text, each kind at most once.
    pub clauses: Vec<Clause>,
    /// The package this file belongs to, then the packages it imports.
    pub packages: Vec<Name>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Clause {
    pub kind: ClauseKind,
    /// The keyword.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClauseKind {
    Constraints(Expr),
    Sees(Vec<MachineRef>),
    Uses(Vec<MachineRef>),
    Includes(Vec<MachineRef>),
    Extends(Vec<MachineRef>),
    Imports(Vec<MachineRef>),
    Promotes(Vec<Ident>),
    /// The script, and the process in it, that guide the machine in other tools.
    CspController(Ident, Option<Ident>),
    Sets(Vec<SetDecl>),
    Freetypes(Vec<Freetype>),
    /// CONSTANTS, CONCRETE_CONSTANTS
    Constants(Vec<Ident>),
    AbstractConstants(Vec<Ident>),
    Properties(Expr),
    /// VARIABLES, ABSTRACT_VARIABLES
    Variables(Vec<Ident>),
    ConcreteVariables(Vec<Ident>),
    Invariant(Expr),
    Assertions(Vec<Expr>),
    Values(Vec<(Ident, Expr)>),
    Initialisation(Stmt),
    Operations(Vec<Operation>),
    LocalOperations(Vec<Operation>),
    /// DEFINITIONS, EXPRESSIONS, PREDICATES
    Definitions(Vec<DefItem>),
}

/// `p.M(args)` of INCLUDES and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRef {
    pub prefix: Option<Ident>,
    pub machine: Ident,
    pub args: Vec<Expr>,
    /// `/*@file "path"*/`
    pub file: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SetDecl {
    Deferred(Ident),
    Enumerated(Ident, Vec<Ident>),
    /// `S = D` with a definition `D == {a,b}`.
    ByDefinition(Ident, Ident),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Freetype {
    pub name: Ident,
    pub params: Vec<Ident>,
    pub constructors: Vec<(Ident, Option<Expr>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub name: Ident,
    pub results: Vec<Ident>,
    pub params: Vec<Ident>,
    /// `ref abs`
    pub refines: Option<Ident>,
    pub body: Stmt,
}

#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all items are definitions")]
pub enum DefItem {
    /// `"file.def"`
    File(Ident),
    Def(Definition),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub name: Ident,
    pub params: Vec<Ident>,
    pub body: DefBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DefBody {
    /// An expression or predicate; a name or call may turn out to be a substitution at its use.
    Expr(Expr),
    Stmt(Stmt),
}

/// Trees are compared by structure; where they stand in the text does not count.
impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Stmt) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Ident {
    fn eq(&self, other: &Ident) -> bool {
        self.name == other.name
    }
}
impl Eq for Ident {}

impl PartialEq for Clause {
    fn eq(&self, other: &Clause) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Machine {
    fn eq(&self, other: &Machine) -> bool {
        self.kind == other.kind
            && self.name == other.name
            && self.params == other.params
            && self.refines == other.refines
            && self.clauses == other.clauses
            && self.packages == other.packages
    }
}
