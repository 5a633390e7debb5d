//! The typed flat machine: everything that front ends agree on and engines start from.
//!
//! In: built by `model` from classical B and Event-B trees. Out: read by the reference interpreter
//! and by `program`. All names are resolved to ids, all definitions expanded, all overloading
//! settled, machines composed, deferred sets sized, MAXINT and MININT replaced by numbers.
//!
//! Invariant: every `VarId` is bound at exactly one place (a declaration, a quantifier, a local, a
//! parameter), so an environment indexed by `VarId` needs no scopes.

use bombus_base::data_files::DataFiles;
use bombus_base::diagnostic::Sources;
use bombus_base::{Int, Name, Span};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarId(pub u32);
/// A deferred or enumerated set, or a set parameter: index into `Machine::sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(pub u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FreeId(pub u32);
/// Index into `Machine::operations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Integer,
    Bool,
    String,
    Real,
    Set(SetId),
    Free(FreeId),
    Pow(Arc<Type>),
    Prod(Arc<Type>, Arc<Type>),
    /// Fields sorted by name; records carry their values in this order.
    Struct(Arc<[(Name, Type)]>),
    /// What no constraint fixes, as the element type in `{} = {}`.
    Any,
}

impl Type {
    pub fn pow(t: Type) -> Type {
        Type::Pow(Arc::new(t))
    }
    pub fn prod(a: Type, b: Type) -> Type {
        Type::Prod(Arc::new(a), Arc::new(b))
    }
    pub fn rel(a: Type, b: Type) -> Type {
        Type::pow(Type::prod(a, b))
    }
    pub fn seq(t: Type) -> Type {
        Type::rel(Type::Integer, t)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int(Int),
    /// The literal as written, `digits.digits[e…]`.
    Real(Name),
    Str(Name),
    Bool(bool),
    /// Element number `n`, from 0, of an enumerated or deferred set.
    Elem(SetId, u32),
    Var(VarId),
    /// The value of a variable before the enclosing `x:(P)` or before the loop or operation (`x$0`).
    Old(VarId),
    /// All values of a type: INTEGER, BOOL, STRING, REAL, a given set, a free type, and `POW`s and
    /// products of them where an operator needs the whole type.
    TypeSet(Type),
    /// NATURAL, NATURAL1. (NAT, NAT1 and INT are intervals.)
    Natural,
    Natural1,
    /// `succ`, `pred`, generic `id`, `prj1`, `prj2` as functions; the type says over what.
    Function(FunctionConst),
    /// Possibly empty.
    SetExt(Vec<Expr>),
    SeqExt(Vec<Expr>),
    Pair(Box<Expr>, Box<Expr>),
    /// Values in the order of the type's fields.
    Rec(Vec<Expr>),
    /// The set of records; sets in the order of the type's fields.
    StructSet(Vec<Expr>),
    /// Field number of a record.
    Field(Box<Expr>, usize),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// Function application, arguments paired.
    Apply(Box<Expr>, Box<Expr>),
    /// `bool(P)`
    BoolOf(Box<Pred>),
    /// `{x,y|P}`
    Compr(Vec<VarId>, Box<Pred>),
    /// `%x.(P|E)`, `SIGMA`, … ; `vars` may be bound by P.
    Big(BigOp, Vec<VarId>, Box<Pred>, Box<Expr>),
    If(Box<Pred>, Box<Expr>, Box<Expr>),
    /// Bindings in order; a later one may use an earlier one.
    Let(Vec<(VarId, Expr)>, Box<Expr>),
    /// A constructor with its argument, or a constant constructor.
    Construct(FreeId, u32, Option<Box<Expr>>),
    /// A constructor as a function (unapplied).
    Constructor(FreeId, u32),
    /// The inverse of a constructor as a function, where a model names it.
    Destructor(FreeId, u32),
    External(External, Vec<Expr>),
    /// A part the user marked to be kept symbolic.
    Symbolic(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionConst {
    Succ,
    Pred,
    Id,
    Prj1,
    Prj2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    // Integers and reals; the operand's type tells which.
    Neg,
    Floor,
    Ceiling,
    ToReal,
    // Sets.
    Pow,
    Pow1,
    Fin,
    Fin1,
    Card,
    Min,
    Max,
    Union,
    Inter,
    // Relations.
    Inverse,
    Dom,
    Ran,
    Id,
    /// Reflexive over the whole type.
    Closure,
    Closure1,
    Rel,
    Fnc,
    /// Generic projection of one pair.
    First2,
    Second2,
    // Sequences; `Size`, `Rev`, `Conc` also of strings, by the operand's type.
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
    // Trees.
    Tree,
    Btree,
    Top,
    Sons,
    Prefix,
    Postfix,
    Sizet,
    Mirror,
    Bin1,
    Left,
    Right,
    Infix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    // Integers and reals; the operands' type tells which.
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Power,
    Interval,
    // Sets.
    Union,
    Inter,
    SetMinus,
    Cartesian,
    // Sets of relations and functions.
    Relation,
    TotalRelation,
    SurjectiveRelation,
    TotalSurjectiveRelation,
    PartialFunction,
    TotalFunction,
    PartialInjection,
    TotalInjection,
    PartialSurjection,
    TotalSurjection,
    PartialBijection,
    TotalBijection,
    // Relations.
    /// `r;s`; `s∘r` is turned round by the front end.
    Compose,
    ParallelProduct,
    DirectProduct,
    Override,
    DomRestrict,
    DomSubtract,
    RanRestrict,
    RanSubtract,
    /// `r[S]`
    Image,
    Iterate,
    /// `prj1(S,T)`, `prj2(S,T)`
    Prj1,
    Prj2,
    // Sequences; `Concat` also of strings.
    Concat,
    Prepend,
    Append,
    Take,
    Drop,
    // Trees.
    TreeConst,
    Rank,
    Father,
    Subtree,
    Arity,
    /// `son(t,p,n)` as `Son(t, p|->n)`, `bin(l,e,r)` as `Bin3(l|->r, e)`.
    Son,
    Bin3,
}

/// What a set of relations or functions asks of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub functional: bool,
    pub total: bool,
    pub onto: bool,
    pub injective: bool,
}

impl BinOp {
    /// The demands of `A <-> B`, `A --> B` and their kin; `None` for what is no set of relations.
    pub fn arrow(self) -> Option<Arrow> {
        use BinOp::*;
        let (functional, total, onto, injective) = match self {
            Relation => (false, false, false, false),
            TotalRelation => (false, true, false, false),
            SurjectiveRelation => (false, false, true, false),
            TotalSurjectiveRelation => (false, true, true, false),
            PartialFunction => (true, false, false, false),
            TotalFunction => (true, true, false, false),
            PartialInjection => (true, false, false, true),
            TotalInjection => (true, true, false, true),
            PartialSurjection => (true, false, true, false),
            TotalSurjection => (true, true, true, false),
            PartialBijection => (true, false, true, true),
            TotalBijection => (true, true, true, true),
            _ => return None,
        };
        Some(Arrow { functional, total, onto, injective })
    }
}

impl BinOp {
    /// The operator of classical B that an operator is written with; `None` for what is written as a function.
    pub fn written(self) -> Option<Written> {
        use BinOp::*;
        Some(match self {
            Add => Written::Add,
            Sub | SetMinus => Written::Sub,
            Mul | Cartesian => Written::Mul,
            Div => Written::Div,
            Mod => Written::Mod,
            Power => Written::Power,
            Interval => Written::Interval,
            Union => Written::Union,
            Inter => Written::Inter,
            Relation => Written::Relation,
            TotalRelation => Written::TotalRelation,
            SurjectiveRelation => Written::SurjectiveRelation,
            TotalSurjectiveRelation => Written::TotalSurjectiveRelation,
            PartialFunction => Written::PartialFunction,
            TotalFunction => Written::TotalFunction,
            PartialInjection => Written::PartialInjection,
            TotalInjection => Written::TotalInjection,
            PartialSurjection => Written::PartialSurjection,
            TotalSurjection => Written::TotalSurjection,
            PartialBijection => Written::PartialBijection,
            TotalBijection => Written::TotalBijection,
            Compose => Written::Compose,
            ParallelProduct => Written::ParallelProduct,
            DirectProduct => Written::DirectProduct,
            Override => Written::Override,
            DomRestrict => Written::DomRestrict,
            DomSubtract => Written::DomSubtract,
            RanRestrict => Written::RanRestrict,
            RanSubtract => Written::RanSubtract,
            Concat => Written::Concat,
            Prepend => Written::Prepend,
            Append => Written::Append,
            Take => Written::Take,
            Drop => Written::Drop,
            Image | Iterate | Prj1 | Prj2 | TreeConst | Rank | Father | Subtree | Arity | Son | Bin3 => {
                return None;
            }
        })
    }
}

pub use bombus_syntax::ast::{BigOp, Obligation};
use bombus_syntax::op::BinOp as Written;

/// A function the tool provides (`LibraryStrings.def` and its kin); the name says which.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct External {
    pub name: Name,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pred {
    pub kind: PredKind,
    pub span: Span,
}

impl Pred {
    /// The place that the label of this predicate names (`M2 / evt / grd3 / GRD`).
    pub fn place(&self) -> Option<&str> {
        match &self.kind {
            PredKind::Label(label, _) => Some(label),
            _ => None,
        }
    }

    /// The conjuncts of a predicate from left to right, below labels and inside conjunctions; what is merely true is none.
    pub fn conjuncts(&self) -> Vec<&Pred> {
        let mut conjuncts = Vec::new();
        let mut open = vec![self];
        while let Some(p) = open.pop() {
            match &p.kind {
                PredKind::And(ps) => open.extend(ps.iter().rev()),
                PredKind::Label(_, p) => open.push(p),
                PredKind::True => {}
                _ => conjuncts.push(p),
            }
        }
        conjuncts
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum PredKind {
    True,
    False,
    And(Vec<Pred>),
    Or(Vec<Pred>),
    Not(Box<Pred>),
    Implies(Box<Pred>, Box<Pred>),
    Iff(Box<Pred>, Box<Pred>),
    /// Comparisons, equality, membership, inclusion.
    Rel(RelOp, Expr, Expr),
    Forall(Vec<VarId>, Box<Pred>),
    Exists(Vec<VarId>, Box<Pred>),
    If(Box<Pred>, Box<Pred>, Box<Pred>),
    Let(Vec<(VarId, Expr)>, Box<Pred>),
    Finite(Expr),
    Partition(Expr, Vec<Expr>),
    External(External, Vec<Expr>),
    /// A label the user gave.
    Label(Name, Box<Pred>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelOp {
    Equal,
    NotEqual,
    In,
    NotIn,
    Subset,
    NotSubset,
    StrictSubset,
    NotStrictSubset,
    /// Integers, reals.
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl RelOp {
    /// The relation that holds between `b` and `a` just if this one holds between `a` and `b`, where there is one.
    pub fn mirrored(self) -> Option<RelOp> {
        Some(match self {
            RelOp::Equal | RelOp::NotEqual => self,
            RelOp::Less => RelOp::Greater,
            RelOp::LessEqual => RelOp::GreaterEqual,
            RelOp::Greater => RelOp::Less,
            RelOp::GreaterEqual => RelOp::LessEqual,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Skip,
    /// All right sides are evaluated before any target changes.
    Assign(Vec<(Target, Expr)>),
    /// `x,y :: S`; several variables take the components of a left-nested pair.
    BecomesIn(Vec<VarId>, Expr),
    /// `x,y :(P)`: inside P, `Var` is the new value and `Old` the one before.
    BecomesSuch(Vec<VarId>, Pred),
    Pre(Pred, Box<Stmt>),
    Assert(Obligation, Pred, Box<Stmt>),
    Witness(Pred, Box<Stmt>),
    Choice(Vec<Stmt>),
    /// First true branch; no `else` is skip.
    If(Vec<(Pred, Stmt)>, Option<Box<Stmt>>),
    /// Every true branch; `else` when none is; infeasible without.
    Select(Vec<(Pred, Stmt)>, Option<Box<Stmt>>),
    Case(Expr, Vec<(Vec<Expr>, Stmt)>, Option<Box<Stmt>>),
    Any(Vec<VarId>, Pred, Box<Stmt>),
    Let(Vec<(VarId, Expr)>, Box<Stmt>),
    /// Locals, undefined at first.
    Var(Vec<VarId>, Box<Stmt>),
    While {
        cond: Pred,
        body: Box<Stmt>,
        invariant: Pred,
        variant: Expr,
    },
    /// Copy-in of arguments, the body with its precondition checked, copy-out of results.
    Call {
        op: OpId,
        args: Vec<Expr>,
        results: Vec<Target>,
    },
    Seq(Vec<Stmt>),
    Par(Vec<Stmt>),
    /// An external substitution such as PRINT; no effect on the state.
    External(External, Vec<Expr>),
}

/// What an assignment writes: a variable, or a place inside it.
#[derive(Clone, Debug)]
pub struct Target {
    pub var: VarId,
    pub path: Vec<Step>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// `f(a)`
    Index(Expr),
    /// `r'g`
    Field(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    Constant,
    Variable,
    /// Operation parameter or result.
    Parameter,
    Result,
    /// Bound by a quantifier, a comprehension, ANY, LET, VAR.
    Local,
}

#[derive(Clone, Debug)]
pub struct VarDecl {
    pub name: Name,
    pub ty: Type,
    pub kind: VarKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    Deferred,
    Enumerated,
    /// A set parameter of the machine.
    Parameter,
}

/// Where the size of a set comes from; part of the scope that a verdict names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrigin {
    Enumeration,
    CommandLine,
    ScopeDefinition,
    Properties,
    Values,
    Default,
}

#[derive(Clone, Debug)]
pub struct SetDecl {
    pub name: Name,
    pub kind: SetKind,
    /// Names of the elements; its length is the size. Elements of deferred sets are called `S1, S2 …`
    /// or after the constant that was identified with them.
    pub elems: Vec<Name>,
    pub origin: SizeOrigin,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Freetype {
    pub name: Name,
    pub constructors: Vec<(Name, Option<Type>)>,
    /// The set the argument of each constructor must belong to, as declared.
    pub domains: Vec<Option<Expr>>,
}

/// A conjunct of the properties, the invariant or the assertions.
#[derive(Clone, Debug)]
pub struct Clause {
    pub label: Option<Name>,
    /// The machine it comes from.
    pub origin: Name,
    pub pred: Pred,
    /// As the user wrote it.
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub name: Name,
    pub params: Vec<VarId>,
    pub results: Vec<VarId>,
    pub body: Stmt,
    pub span: Span,
}

/// A formula that is text until a temporal checker reads it.
#[derive(Clone, Debug)]
pub struct TemporalAssertion {
    /// The name of the definition, such as `ASSERT_LTL1`.
    pub name: Name,
    pub formula: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub name: Name,
    pub sets: Vec<SetDecl>,
    pub freetypes: Vec<Freetype>,
    /// Declarations of all ids, indexed by `VarId`.
    pub vars: Vec<VarDecl>,
    pub constants: Vec<VarId>,
    pub variables: Vec<VarId>,
    pub properties: Vec<Clause>,
    pub invariant: Vec<Clause>,
    pub assertions: Vec<Clause>,
    /// Conjuncts that are not checked because they speak of variables that are not animated.
    pub unchecked: Vec<String>,
    pub initialisation: Stmt,
    /// All operations, called ones included; bodies of called operations are shared, never recursive.
    pub operations: Vec<Operation>,
    /// The operations that make transitions.
    pub events: Vec<OpId>,
    pub goal: Option<Pred>,
    /// SCOPE: states outside are kept but not expanded.
    pub scope: Option<Pred>,
    pub ltl: Vec<TemporalAssertion>,
    pub ctl: Vec<TemporalAssertion>,
    /// Definitions that seem to be meant as temporal assertions and are none: the name is misspelt, or the
    /// body is no text, and then the formula is empty.
    pub doubtful_assertions: Vec<TemporalAssertion>,
    pub maxint: Int,
    pub minint: Int,
    /// The user takes MININT..MAXINT for all integers where nothing bounds a choice: part of the scope that a verdict
    /// holds for, not a reason against it.
    pub integers_in_scope: bool,
    /// `SET_PREF_SYMBOLIC`: constants that are long comprehensions are not listed.
    pub symbolic: bool,
    /// The texts that places point into, for words that quote a formula.
    pub sources: Arc<Sources>,
    /// The files that formulas may read.
    pub files: Arc<DataFiles>,
}

/// Begins the names of constants that no user wrote: functions that a theory defines by recursion.
pub const OWN: &str = "·";

impl Machine {
    /// Whether a step that sets constants up comes before the initialisation. ProB has one as soon as there is a
    /// constant or a property, and counts its states and transitions.
    pub fn has_setup(&self) -> bool {
        let own = |name: &Name| name.starts_with(OWN);
        self.constants.iter().any(|v| !own(&self.var(*v).name))
            || self.properties.iter().any(|p| !p.label.as_ref().is_some_and(own))
    }
    pub fn var(&self, id: VarId) -> &VarDecl {
        &self.vars[id.0 as usize]
    }
    pub fn set(&self, id: SetId) -> &SetDecl {
        &self.sets[id.0 as usize]
    }
    pub fn op(&self, id: OpId) -> &Operation {
        &self.operations[id.0 as usize]
    }
}
