//! Sets that are not listed: infinite ones, and finite ones too large to list.
//!
//! In: operators of B applied to values that cannot, or need not, be listed. Out: a form that
//! `reference` asks for membership, images, size and, where possible, elements.
//! Never here: evaluation.

use crate::typed::{BinOp, Expr, FreeId, FunctionConst, Pred, Type, UnOp, VarId};
use crate::value::Value;
use bombus_base::Int;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A set in symbolic form.
///
/// Order, equality and hash are those of the form, derived from the stable bytes of `encode`.
#[derive(Clone, Debug)]
pub enum Symbolic {
    Base(Base),
    /// Not empty; too long to list.
    Interval(Int, Int),
    /// `struct(a:S, …)`, sets in the order of the fields.
    Struct(Arc<[Value]>),
    /// An operator on sets whose result is kept as it is: `POW(S)`, `seq(S)`, `r~`, …
    Unary(UnOp, Value),
    /// `S*T`, `S-->T`, `S\/T`, `f<+g`, …
    Binary(BinOp, Value, Value),
    /// A comprehension, lambda or quantified union with the values it captured.
    Closure(Closure),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    Integer,
    Natural,
    Natural1,
    String,
    Real,
    /// All values of a free type.
    Free(FreeId),
    /// `succ`, `pred`, and generic `id`, `prj1`, `prj2` with the type of their argument.
    Function(FunctionKind, Type),
    /// A constructor of a free type as a function, and its inverse.
    Constructor(FreeId, u32),
    Destructor(FreeId, u32),
}

/// `FunctionConst` with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionKind {
    Succ,
    Pred,
    Id,
    Prj1,
    Prj2,
}

impl From<FunctionConst> for FunctionKind {
    fn from(f: FunctionConst) -> FunctionKind {
        match f {
            FunctionConst::Succ => FunctionKind::Succ,
            FunctionConst::Pred => FunctionKind::Pred,
            FunctionConst::Id => FunctionKind::Id,
            FunctionConst::Prj1 => FunctionKind::Prj1,
            FunctionConst::Prj2 => FunctionKind::Prj2,
        }
    }
}

/// What a comprehension says, apart from the values of its free variables.
#[derive(Debug)]
pub struct ClosureCode {
    /// The bound variables. Since a variable is bound at one place only, the first one names the
    /// comprehension.
    pub vars: Vec<VarId>,
    /// The types of the bound variables.
    pub types: Vec<Type>,
    pub pred: Pred,
    /// `%x.(P|E)`, `{x·P|E}`, `UNION(x).(P|E)`: the E.
    pub body: Option<Expr>,
    pub kind: ClosureKind,
    /// Variables that occur free, sorted.
    pub free: Vec<VarId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClosureKind {
    /// `{x|P}`
    Set,
    /// `%x.(P|E)`
    Lambda,
    /// `{x·P|E}`
    SetOf,
    /// `UNION(x).(P|E)`
    Union,
    /// `INTER(x).(P|E)`
    Inter,
}

#[derive(Clone, Debug)]
pub struct Closure {
    pub code: Arc<ClosureCode>,
    /// Values of the free variables that had one when the closure was made, sorted by variable.
    /// A constant without a value then (a recursive function) is looked up where the closure is used.
    pub captured: Arc<[(VarId, Value)]>,
}

impl Symbolic {
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

impl PartialEq for Symbolic {
    fn eq(&self, other: &Symbolic) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Symbolic {}

impl PartialOrd for Symbolic {
    fn partial_cmp(&self, other: &Symbolic) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Symbolic {
    fn cmp(&self, other: &Symbolic) -> Ordering {
        self.bytes().cmp(&other.bytes())
    }
}

impl Hash for Symbolic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}
