//! The tree of the core language: types, expressions, predicates, substitutions, operations, machines.
//!
//! In: built by `text`, or directly in Rust by a converter. Out: read by every other file of this crate.
//! Never here: evaluation, text. Names are resolved by scope: the innermost binder of a name wins.

use crate::value::Value;
use std::sync::Arc;

/// A name of the model; cheap to clone. Names that were read together are the same place in memory if they are equal.
pub type Name = Arc<str>;

/// A type. Types are never empty; sets of values such as `NAT` are expressions, not types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Integer,
    Bool,
    Str,
    Real,
    /// A deferred or enumerated set of the machine.
    Given(Name),
    /// A free type of the machine.
    Free(Name),
    Pow(Box<Type>),
    Prod(Box<Type>, Box<Type>),
    /// Fields sorted by name.
    Record(Vec<(Name, Type)>),
}

/// A declared or bound variable with its type.
pub type Var = (Name, Type);

/// An enumeration whose variants carry the word that the text form uses.
macro_rules! words {
    ($(#[$m:meta])* $t:ident { $($v:ident $s:literal),* $(,)? }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $t { $(#[doc = $s] $v),* }
        impl $t {
            /// All of them.
            pub const ALL: &'static [$t] = &[$($t::$v),*];
            /// The word of the text form.
            pub fn word(self) -> &'static str {
                match self { $($t::$v => $s),* }
            }
            /// The operator that a word of the text form names.
            pub fn named(word: &str) -> Option<$t> {
                $t::ALL.iter().copied().find(|o| o.word() == word)
            }
        }
    };
}

pub(crate) use words;

words! {
    /// Operators with one operand. `Neg`, `Size`, `Rev` look at the value to know its type;
    /// `ConcStrings` is `conc` of a sequence of strings, `Choose` the least element in the order of values.
    UnOp {
        Neg "neg", Floor "floor", Ceiling "ceiling", ToReal "to-real", Pow "POW", Pow1 "POW1", Fin "FIN", Fin1 "FIN1",
        Card "card", Min "min", Max "max", Union "union", Inter "inter", Inverse "~", Dom "dom", Ran "ran", Id "id",
        Closure1 "closure1", Rel "rel", Fnc "fnc", Fst "fst", Snd "snd", Seq "seq", Seq1 "seq1", Iseq "iseq",
        Iseq1 "iseq1", Perm "perm", Size "size", First "first", Last "last", Front "front", Tail "tail", Rev "rev",
        Conc "conc", ConcStrings "conc-strings", Choose "choose",
    }
}

words! {
    /// Operators with two operands. Arithmetic looks at the values to know whether they are reals;
    /// `Power` is of classical B, `PowerWhole` of Event-B (the base may not be negative).
    BinOp {
        Add "+", Sub "-", Mul "*", Div "/", Mod "mod", Power "**", PowerWhole "^e", Interval "..", Union "\\/",
        Inter "/\\", Minus "\\", Product "cart", Relation "<->", TotalRelation "<<->", SurjectiveRelation "<->>",
        TotalSurjectiveRelation "<<->>", PartialFunction "+->", TotalFunction "-->", PartialInjection ">+>",
        TotalInjection ">->", PartialSurjection "+->>", TotalSurjection "-->>", PartialBijection ">+>>",
        TotalBijection ">->>", Compose "comp", ParallelProduct "||", DirectProduct "><", Override "<+",
        DomRestrict "<|", DomSubtract "<<|", RanRestrict "|>", RanSubtract "|>>", Image "image", Prj1 "prj1",
        Prj2 "prj2", Concat "^", Prepend "->", Append "<-", Take "/|\\", Drop "\\|/",
    }
}

words! {
    /// Operators that bind variables: `%x.(P|E)`, `SIGMA(x).(P|E)`, …, and `{x·P|E}`.
    BigOp { Lambda "%", Sigma "SIGMA", Pi "PI", Union "UNION", Inter "INTER", SetOf "set-of" }
}

words! {
    /// Comparisons.
    RelOp {
        Equal "=", NotEqual "/=", In ":", NotIn "/:", Subset "<:", NotSubset "/<:", StrictSubset "<<:",
        NotStrictSubset "/<<:", Less "<", LessEqual "<=", Greater ">", GreaterEqual ">=",
    }
}

words! {
    /// What the condition of an ASSERT stands for.
    Duty { Assertion "assertion", Refinement "refinement", Variant "variant" }
}

/// What a set of relations asks of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub functional: bool,
    pub total: bool,
    pub onto: bool,
    pub injective: bool,
}

impl BinOp {
    /// The demands of `A --> B` and its kin; `A <-> B` has none.
    pub fn arrow(self) -> Option<Arrow> {
        use BinOp::*;
        let (functional, total, onto, injective) = match self {
            TotalRelation => (false, true, false, false),
            SurjectiveRelation => (false, false, true, false),
            TotalSurjectiveRelation => (false, true, true, false),
            PartialFunction => (true, false, false, false),
            TotalFunction => (true, true, false, false),
            PartialSurjection => (true, false, true, false),
            TotalSurjection => (true, true, true, false),
            PartialInjection => (true, false, false, true),
            TotalInjection => (true, true, false, true),
            PartialBijection => (true, false, true, true),
            TotalBijection => (true, true, true, true),
            _ => return None,
        };
        Some(Arrow { functional, total, onto, injective })
    }
}

/// An expression. The functions `succ`, `pred` and the generic `id`, `prj1`, `prj2` are written as lambdas.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A literal or an element of a given set.
    Const(Value),
    Var(Name),
    /// `x$0`: the value before the enclosing `x:(P)`, the enclosing loop, or the operation.
    Old(Name),
    /// All values of a type.
    All(Type),
    Natural,
    Natural1,
    Set(Vec<Expr>),
    Seq(Vec<Expr>),
    Pair(Box<Expr>, Box<Expr>),
    Record(Vec<(Name, Expr)>),
    /// The set of records whose fields are members of the sets.
    Struct(Vec<(Name, Expr)>),
    Field(Box<Expr>, Name),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `closure(r)`, reflexive over the whole type.
    Closure(Type, Box<Expr>),
    /// `iterate(r,n)`; `iterate(r,0)` is the identity on the whole type.
    Iterate(Type, Box<Expr>, Box<Expr>),
    /// `f(x)` of classical B: one image at x.
    Apply(Box<Expr>, Box<Expr>),
    /// `f(x)` of Event-B: one image at x, and f functional everywhere.
    ApplyWhole(Box<Expr>, Box<Expr>),
    /// `bool(P)`
    Truth(Box<Pred>),
    /// `{x,y|P}`
    Compr(Vec<Var>, Box<Pred>),
    Big(BigOp, Vec<Var>, Box<Pred>, Box<Expr>),
    If(Box<Pred>, Box<Expr>, Box<Expr>),
    /// Bindings in order; a later one may use an earlier one.
    Let(Vec<(Name, Expr)>, Box<Expr>),
    /// A constructor of a free type, applied; undefined outside its declared domain.
    Construct(Name, Option<Box<Expr>>),
    /// The argument of a constructor; undefined for a value of another constructor.
    Destruct(Name, Box<Expr>),
}

/// A predicate.
#[derive(Clone, Debug, PartialEq)]
pub enum Pred {
    True,
    False,
    And(Vec<Pred>),
    Or(Vec<Pred>),
    Not(Box<Pred>),
    Implies(Box<Pred>, Box<Pred>),
    Iff(Box<Pred>, Box<Pred>),
    Rel(RelOp, Expr, Expr),
    Forall(Vec<Var>, Box<Pred>),
    Exists(Vec<Var>, Box<Pred>),
    If(Box<Pred>, Box<Pred>, Box<Pred>),
    Let(Vec<(Name, Expr)>, Box<Pred>),
    Finite(Expr),
    Partition(Expr, Vec<Expr>),
    /// Whether a value of a free type was made by this constructor.
    Made(Name, Expr),
    /// A label or a position; an undefined part below is reported with it.
    At(Name, Box<Pred>),
}

impl Pred {
    /// The predicate below its labels.
    pub fn bare(&self) -> &Pred {
        match self {
            Pred::At(_, p) => p.bare(),
            p => p,
        }
    }
}

/// What an assignment writes: a variable, or a place inside its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub var: Name,
    pub path: Vec<Step>,
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `f(a)`
    Index(Expr),
    /// `r'g`
    Field(Name),
}

/// A substitution.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Subst {
    #[default]
    Skip,
    /// All right sides are evaluated before any target changes.
    Assign(Vec<(Target, Expr)>),
    /// `x,y :: S`
    In(Vec<Name>, Expr),
    /// `x,y :(P)`: in P a variable is the new value, `Old` the one before.
    Such(Vec<Var>, Pred),
    Pre(Pred, Box<Subst>),
    Assert(Duty, Pred, Box<Subst>),
    Witness(Pred, Box<Subst>),
    Choice(Vec<Subst>),
    If(Vec<(Pred, Subst)>, Option<Box<Subst>>),
    Select(Vec<(Pred, Subst)>, Option<Box<Subst>>),
    Case(Expr, Vec<(Vec<Expr>, Subst)>, Option<Box<Subst>>),
    Any(Vec<Var>, Pred, Box<Subst>),
    Let(Vec<(Name, Expr)>, Box<Subst>),
    /// Locals without a value at first.
    Var(Vec<Name>, Box<Subst>),
    While(Box<Loop>),
    /// An operation of the machine with its precondition checked.
    Call(Name, Vec<Expr>, Vec<Target>),
    Seq(Vec<Subst>),
    Par(Vec<Subst>),
}

/// `WHILE condition DO body INVARIANT invariant VARIANT variant END`
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub condition: Pred,
    pub body: Subst,
    pub invariant: Pred,
    pub variant: Expr,
}

/// A given set with the names of its elements, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenSet {
    pub name: Name,
    pub elements: Vec<Name>,
}

/// A free type: constructors, each with the type and the set of its argument if it takes one.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeType {
    pub name: Name,
    pub constructors: Vec<Constructor>,
}

/// The name of a constructor, and the type and the set of its argument.
pub type Constructor = (Name, Option<(Type, Expr)>);

/// A conjunct of the properties, the invariant or the assertions.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub label: Name,
    pub pred: Pred,
}

/// An operation or event. A PRE that is the outermost substitution of the body is a guard when the
/// operation makes a transition, and a condition to be met when the operation is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub name: Name,
    /// Whether the operation makes transitions; otherwise it can only be called.
    pub event: bool,
    pub params: Vec<Var>,
    pub results: Vec<Var>,
    pub body: Subst,
}

/// A flat machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    pub name: Name,
    pub sets: Vec<GivenSet>,
    pub freetypes: Vec<FreeType>,
    pub constants: Vec<Var>,
    pub variables: Vec<Var>,
    pub properties: Vec<Clause>,
    pub invariant: Vec<Clause>,
    pub assertions: Vec<Clause>,
    pub initialisation: Subst,
    pub operations: Vec<Operation>,
    pub goal: Option<Pred>,
    pub scope: Option<Pred>,
    /// If it refines others: a machine of its name with what it says of them, and then they, nearest first. The invariant of that
    /// machine are the conjuncts of all invariants that speak of variables which only abstractions have, its assertions those
    /// that do, its operations the events with loop invariants that do, and what these call. An abstraction has variables, an
    /// initialisation, and operations over the sets and constants of the refining machine; an event of it has the name of the
    /// event that refines it. Variables of one name are one variable.
    pub refines: Vec<Machine>,
}

impl Machine {
    /// The free type and the number of a constructor.
    pub fn constructor(&self, name: &str) -> Option<(&FreeType, usize)> {
        self.freetypes
            .iter()
            .find_map(|f| f.constructors.iter().position(|c| &*c.0 == name).map(|at| (f, at)))
    }

    /// The constructors of a free type.
    pub fn constructors(&self, free: &str) -> impl Iterator<Item = &Constructor> {
        self.freetypes.iter().filter(move |f| &*f.name == free).flat_map(|f| &f.constructors)
    }

    /// The operation of a name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|o| &*o.name == name)
    }
}
