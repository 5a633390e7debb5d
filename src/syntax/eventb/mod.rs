//! Event-B: components as their authors wrote them, whatever the notation.
//!
//! In: ProB packages, Rodin files, plain text. Out: one `Project` of contexts and machines whose
//! formulas are `ast::Expr`. Never here: types, merging of extended events, refinement.
//!
//! Every formula has a text of its own among the `Sources`, named `M2 / evt_enter / grd3`; all spans of
//! its tree point into that text. So every later message names the component and the label.

pub mod camille;
pub mod formula;
pub mod lexer;
pub mod names;
pub mod operators;
pub mod package;
pub mod printer;
pub mod proofs;
pub mod raw;
pub mod rodin;
pub mod rodin_theory;
pub mod term;

use super::ast::{Expr, Ident, Stmt};
use bombus_base::{Name, Span};

/// A chain of refinements with everything it sees.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The machine to check first, then its abstraction, and so on; empty for contexts alone.
    pub machines: Vec<Machine>,
    /// The context to check first when there is no machine.
    pub contexts: Vec<Context>,
    pub theories: Vec<Theory>,
    pub proofs: Vec<Proof>,
    /// Theories that the project names but does not hold.
    pub missing_theories: Vec<Name>,
    /// Written by an exporter that leaves out types which Rodin has checked.
    pub exported: bool,
}

/// A labelled predicate, or the expression of a variant.
#[derive(Clone, Debug)]
pub struct Formula {
    pub label: Name,
    /// The component where the text stands; inherited guards keep the one they came from.
    pub origin: Name,
    pub expr: Expr,
    pub theorem: bool,
}

#[derive(Clone, Debug)]
pub struct Context {
    pub name: Name,
    pub extends: Vec<Ident>,
    pub sets: Vec<Ident>,
    pub constants: Vec<Ident>,
    pub axioms: Vec<Formula>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub name: Name,
    pub refines: Option<Ident>,
    pub sees: Vec<Ident>,
    pub variables: Vec<Ident>,
    pub invariants: Vec<Formula>,
    pub variants: Vec<Formula>,
    pub events: Vec<Event>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convergence {
    Ordinary,
    Convergent,
    Anticipated,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub name: Name,
    pub convergence: Convergence,
    /// Parameters, guards and actions of the abstract event are part of this one but not listed here.
    pub extended: bool,
    /// Empty for a new event; several for a merge.
    pub refines: Vec<Ident>,
    pub params: Vec<Ident>,
    pub guards: Vec<Formula>,
    /// Labelled with the abstract parameter `p` or the primed variable `v'` they bind.
    pub witnesses: Vec<Formula>,
    pub actions: Vec<Action>,
    pub span: Span,
}

/// `x ≔ E`, `x :∈ S` or `x :∣ P`; the predicate of the last is written with primed names.
#[derive(Clone, Debug)]
pub struct Action {
    pub label: Name,
    pub origin: Name,
    pub stmt: Stmt,
}

/// The name of the event that every machine must have.
pub const INITIALISATION: &str = "INITIALISATION";

/// A theory: types and operators that the formulas of a project may use.
#[derive(Clone, Debug)]
pub struct Theory {
    pub name: Name,
    pub type_params: Vec<Name>,
    pub datatypes: Vec<Datatype>,
    pub operators: Vec<Operator>,
    /// Operators that are only described by axioms, and sets that are only named.
    pub axiomatic: Vec<Operator>,
    pub axiomatic_types: Vec<Name>,
    pub axioms: Vec<Expr>,
    /// Operator and the built-in function that computes it, as the theory's author mapped them.
    pub mappings: Vec<(Name, Name)>,
}

#[derive(Clone, Debug)]
pub struct Datatype {
    pub name: Name,
    pub params: Vec<Name>,
    pub constructors: Vec<Constructor>,
}

#[derive(Clone, Debug)]
pub struct Constructor {
    pub name: Name,
    /// Destructors with the type of each argument.
    pub args: Vec<(Name, Expr)>,
}

#[derive(Clone, Debug)]
pub struct Operator {
    pub name: Name,
    pub args: Vec<(Name, Expr)>,
    pub definition: OperatorDefinition,
}

#[derive(Clone, Debug)]
pub enum OperatorDefinition {
    Direct(Expr),
    /// One case per constructor of the argument that the recursion follows.
    Recursive {
        on: Name,
        cases: Vec<(Expr, Expr)>,
    },
    Axiomatic,
}

/// A proof obligation and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    pub component: Name,
    /// What is proved, in the word that ends Rodin's name of the obligation: `INV`, `GRD`, `WD` …
    pub kind: Name,
    /// The parts it speaks of: kind of part (`event`, `invariant`, `guard` …) and label. Of two events the
    /// last is the concrete one.
    pub about: Vec<(Name, Name)>,
    pub status: ProofStatus,
}

impl Proof {
    /// `M2 / evt / inv3 / INV`
    pub fn place(&self) -> String {
        let of = |event: bool| move |part: &&(Name, Name)| (part.0.as_ref() == "event") == event;
        let mut words: Vec<&str> = vec![&self.component];
        words.extend(self.about.iter().rev().find(of(true)).map(|(_, label)| label.as_ref()));
        words.extend(self.about.iter().filter(of(false)).map(|(_, label)| label.as_ref()));
        words.push(&self.kind);
        words.join(" / ")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofStatus {
    Discharged,
    Reviewed,
    Open,
}
