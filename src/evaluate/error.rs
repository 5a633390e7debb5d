//! What can go wrong while a formula or substitution is evaluated.
//!
//! In: a reason and the place it is about. Out: one error type that says whether it is the model's
//! fault (a finding), our limit (incomplete), or a stop.

use bombus_base::Span;
use bombus_base::budget::Stop;
use bombus_lang::typed::{Machine, VarId};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An expression without a value: `1/0`, `f(x)` outside the domain, `max({})`.
    WellDefinedness,
    /// A precondition that is not the outermost guard is false.
    Precondition,
    /// ASSERT, a loop invariant or a loop variant fails.
    Assertion,
    /// A proof obligation of refinement in Event-B fails.
    Refinement,
    /// An event of Event-B does not decrease the variant as it should.
    Variant,
    /// A variable is read before it was given a value.
    Uninitialised,
    /// A variable ranges over an infinite type and nothing bounds it.
    Unbounded,
    /// The same for a choice of an integer whose value no other choice depends on, where some value of the scope is
    /// possible: only the integers of the scope were tried.
    Sampled(VarId),
    /// The same for a choice whose other values are like those that were tried (see `model::opaque`).
    Represented,
    /// A finite set too large to list was needed element by element.
    TooLarge,
    /// Two symbolic sets that cannot be compared.
    Undecided,
    /// A construct this interpreter does not evaluate.
    Unsupported,
    /// The budget is used up.
    Stopped(Stop),
    /// Enumeration takes too long and something better is to be tried.
    Impatient,
    /// The value depends on a variable that is still being searched for.
    Unknown,
}

/// Boxed, so that results stay small on the paths that succeed.
#[derive(Clone, Debug)]
pub struct Error(Box<Detail>);

#[derive(Clone, Debug)]
struct Detail {
    kind: ErrorKind,
    /// What is wrong: the same words whenever the same formula is at fault for the same reason.
    message: String,
    /// The values of this once, as they follow the message; empty if there is none to tell.
    values: String,
    span: Span,
    /// A function is applied outside its domain.
    outside: bool,
    /// That function is one that is being chosen.
    chosen: bool,
}

pub type Res<T> = Result<T, Error>;

/// Whether an enumeration goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Go,
    Stop,
}

impl Error {
    pub fn new(kind: ErrorKind, span: Span, message: impl Into<String>) -> Error {
        Error(Box::new(Detail {
            kind,
            message: message.into(),
            values: String::new(),
            span,
            outside: false,
            chosen: false,
        }))
    }

    pub fn undefined(span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::WellDefinedness, span, message)
    }

    pub fn unbounded(span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unbounded, span, message)
    }

    pub fn too_large(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::TooLarge, Span::default(), message)
    }

    pub fn undecided(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Undecided, Span::default(), message)
    }

    pub fn unsupported(span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unsupported, span, message)
    }

    pub fn unknown() -> Error {
        Error::new(ErrorKind::Unknown, Span::default(), "value not known yet")
    }

    pub fn impatient() -> Error {
        Error::new(ErrorKind::Impatient, Span::default(), "evaluation takes too long")
    }

    pub fn stopped(stop: Stop) -> Error {
        Error::new(ErrorKind::Stopped(stop), Span::default(), stop.reason())
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, without the values of this once: findings of one formula have one message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The values of this once, as words that follow the message.
    pub(crate) fn with_values(mut self, values: String) -> Error {
        self.0.values = values;
        self
    }

    /// The message with the values of this once.
    pub fn told(&self) -> String {
        format!("{}{}", self.0.message, self.0.values)
    }

    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Names the place if none is named yet: values know no places, the formulas around them do.
    pub fn at(mut self, span: Span) -> Error {
        if self.0.span == Span::default() {
            self.0.span = span;
        }
        self
    }

    /// A function is applied at `span` outside its domain.
    pub(crate) fn outside(span: Span, message: impl Into<String>) -> Error {
        let mut error = Error::undefined(span, message);
        error.0.outside = true;
        error
    }

    /// The function that is applied at `span` is one that is being chosen.
    pub(crate) fn of_chosen(mut self, span: Span) -> Error {
        self.0.chosen |= self.0.outside && self.0.span == span;
        self
    }

    /// A function that is being chosen has no value where it is applied, so that it is not looked for.
    pub(crate) fn is_misapplied(&self) -> bool {
        self.0.chosen
    }

    /// The model has no meaning here.
    pub fn is_undefined(&self) -> bool {
        matches!(self.0.kind, ErrorKind::WellDefinedness | ErrorKind::Uninitialised)
    }

    /// The model's fault: something to report as a finding.
    pub fn is_finding(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::WellDefinedness
                | ErrorKind::Uninitialised
                | ErrorKind::Precondition
                | ErrorKind::Assertion
                | ErrorKind::Refinement
                | ErrorKind::Variant
        )
    }

    /// Our limit: the answer exists but was not computed.
    pub fn is_incomplete(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Unbounded
                | ErrorKind::Sampled(_)
                | ErrorKind::Represented
                | ErrorKind::TooLarge
                | ErrorKind::Undecided
                | ErrorKind::Unsupported
        )
    }

    /// The words for a reason why something was not decided: with the formula it is about and the place of that.
    pub fn reason(&self, machine: &Machine) -> String {
        const QUOTED: usize = 60;
        let formula: Vec<&str> = machine.sources.slice(self.0.span).split_whitespace().collect();
        let formula = formula.join(" ");
        if formula.is_empty() || !self.is_incomplete() {
            return self.0.message.clone();
        }
        let mut quoted: String = formula.chars().take(QUOTED).collect();
        if quoted.len() < formula.len() {
            quoted.push('…');
        }
        format!("{} (in `{quoted}`, {})", self.0.message, machine.sources.locate(self.0.span))
    }

    pub fn is_stop(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Stopped(_) | ErrorKind::Impatient)
    }

    pub fn is_unknown(&self) -> bool {
        self.0.kind == ErrorKind::Unknown
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        f.write_str(&self.0.values)
    }
}
