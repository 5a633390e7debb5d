//! The tree of a Z specification: it mirrors the text and knows no types.
//!
//! In: built by the parser. Out: read by `model::z`. Predicates and schema expressions share one grammar and one kind
//! of node, `Logic`; only the place where a node stands tells which of the two is meant.

use bombus_base::{Int, Name, Span};

/// A word with its decoration: `x`, `x'`, `in?`, `S_1`.
#[derive(Clone, Debug)]
pub struct Ident {
    pub base: Name,
    /// A run of `'`, `?`, `!` and `_d`.
    pub decor: Name,
    pub span: Span,
}

impl Ident {
    pub fn full(&self) -> Name {
        if self.decor.is_empty() { self.base.clone() } else { format!("{}{}", self.base, self.decor).into() }
    }
}

/// The name of the function `(-)`, which is not the operator of a difference.
pub const NEGATION: &str = "(-)";

#[derive(Clone, Debug, Default)]
pub struct Spec {
    pub paragraphs: Vec<Paragraph>,
}

#[derive(Clone, Debug)]
pub struct Paragraph {
    pub kind: ParagraphKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ParagraphKind {
    /// `[A, B]`
    Given(Vec<Ident>),
    /// A schema box, or `Name[X] \defs …`.
    Schema { name: Ident, formals: Vec<Ident>, body: Logic },
    /// `Name[X] == e`
    Abbreviation { name: Ident, formals: Vec<Ident>, value: Expr },
    /// `T ::= a | b \ldata e \rdata`
    FreeType { name: Ident, arms: Vec<(Ident, Option<Expr>)> },
    /// `axdef` without formals, `gendef` with them.
    Axiomatic { formals: Vec<Ident>, text: SchemaText },
    /// A predicate over what is global.
    Constraint(Logic),
}

/// Declarations and predicates; the predicates are a conjunction.
#[derive(Clone, Debug, Default)]
pub struct SchemaText {
    pub decls: Vec<Decl>,
    pub preds: Vec<Logic>,
}

#[derive(Clone, Debug)]
pub enum Decl {
    /// `x, y : E`
    Names(Vec<Ident>, Expr),
    /// The inclusion of a schema.
    Include(SchemaRef),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    Delta,
    Xi,
}

/// `\Delta Name' [actuals] [new/old]`
#[derive(Clone, Debug)]
pub struct SchemaRef {
    pub frame: Option<Frame>,
    /// The name of the schema; its decoration applies to all components.
    pub name: Ident,
    pub actuals: Vec<Expr>,
    /// Pairs of the new and the old name.
    pub renaming: Vec<(Ident, Ident)>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Logic {
    pub kind: LogicKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connective {
    And,
    Or,
    Implies,
    Iff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    Forall,
    Exists,
    ExistsOne,
}

#[derive(Clone, Debug)]
pub enum LogicKind {
    True,
    False,
    Not(Box<Logic>),
    Binary(Connective, Box<Logic>, Box<Logic>),
    Quantified(Quantifier, SchemaText, Box<Logic>),
    Let(Vec<(Ident, Expr)>, Box<Logic>),
    /// `e1 R1 e2 R2 e3`: the first operand, then each relation with its right side.
    Chain(Box<Expr>, Vec<(Ident, Expr)>),
    /// `\disjoint e` and declared prefix relations.
    PrefixRelation(Ident, Box<Expr>),
    Reference(SchemaRef),
    Text(SchemaText),
    Decorated(Box<Logic>, Name),
    Hide(Box<Logic>, Vec<Ident>),
    Project(Box<Logic>, Box<Logic>),
    Compose(Box<Logic>, Box<Logic>),
    Pipe(Box<Logic>, Box<Logic>),
    Precondition(Box<Logic>),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A name with actual parameters, if some are given.
    Name(Ident, Option<Vec<Expr>>),
    Number(Int),
    Tuple(Vec<Expr>),
    SetExt(Vec<Expr>),
    SeqExt(Vec<Expr>),
    BagExt(Vec<Expr>),
    /// `\{ D | P @ e \}`; without `e` the characteristic tuple.
    Comprehension(SchemaText, Option<Box<Expr>>),
    Lambda(SchemaText, Box<Expr>),
    Mu(SchemaText, Option<Box<Expr>>),
    Let(Vec<(Ident, Expr)>, Box<Expr>),
    If(Box<Logic>, Box<Expr>, Box<Expr>),
    Apply(Box<Expr>, Box<Expr>),
    /// An infix operator: a function of both operands.
    Infix(Ident, Box<Expr>, Box<Expr>),
    /// An infix generic such as `\fun`: the operands are its actual parameters.
    Generic(Ident, Box<Expr>, Box<Expr>),
    /// `\power`, `\seq` and other prefix generics.
    Prefix(Ident, Box<Expr>),
    Postfix(Ident, Box<Expr>),
    Negative(Box<Expr>),
    Image(Box<Expr>, Box<Expr>),
    /// `R^{k}`
    Iterate(Box<Expr>, Box<Expr>),
    Cross(Vec<Expr>),
    Select(Box<Expr>, Ident),
    /// `t.2`
    Component(Box<Expr>, usize),
    Theta(SchemaRef),
    /// A schema as the set of its bindings.
    Schema(Box<Logic>),
    Binding(Vec<(Ident, Expr)>),
}
