//! Promises: ranges that the invariant gives to the integers inside a variable.
//!
//! In: invariant conjuncts, values of the constants. Out: a `Promise` per variable, from which
//! `state` picks layouts. Nothing relies on a promise being kept.

use crate::carrier::Carrier;
use crate::layout::Layout;
use crate::lower::Folder;
use crate::plan;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;
use std::collections::BTreeMap;

/// Sets and relations of a state variable with more elements than this are pooled.
const MAX_STATE_BITS: usize = 512;

#[derive(Clone, Debug, PartialEq)]
pub enum Promise {
    Nothing,
    /// Bounds of an integer; either may be missing.
    Range(Option<i64>, Option<i64>),
    /// About the elements of a set.
    Set(Box<Promise>),
    /// A set of pairs that is a function.
    Function(Box<Function>),
    Pair(Box<(Promise, Promise)>),
    Rec(Vec<Promise>),
}

/// What is promised about a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub from: Promise,
    pub to: Promise,
    /// The arguments it is defined for, exactly, where the model says so.
    pub whole: Option<Value>,
    /// Its arguments are `1..n`.
    pub sequence: bool,
}

use Promise::{Nothing, Range};

impl Promise {
    /// Both hold.
    fn and(self, other: Promise) -> Promise {
        match (self, other) {
            (Nothing, p) | (p, Nothing) => p,
            (Range(a, b), Range(c, d)) => {
                let lo = a.into_iter().chain(c).max();
                let hi = b.into_iter().chain(d).min();
                Range(lo, hi)
            }
            (Promise::Set(a), Promise::Set(b)) => Promise::Set(Box::new(a.and(*b))),
            (Promise::Function(mut f), Promise::Set(p)) | (Promise::Set(p), Promise::Function(mut f)) => {
                if let Promise::Pair(p) = *p {
                    f.from = f.from.and(p.0);
                    f.to = f.to.and(p.1);
                }
                Promise::Function(f)
            }
            (Promise::Function(f), Promise::Function(g)) => Promise::Function(Box::new(Function {
                from: f.from.and(g.from),
                to: f.to.and(g.to),
                whole: f.whole.or(g.whole),
                sequence: f.sequence || g.sequence,
            })),
            (Promise::Pair(a), Promise::Pair(b)) => {
                let (a, b) = (*a, *b);
                Promise::Pair(Box::new((a.0.and(b.0), a.1.and(b.1))))
            }
            (Promise::Rec(a), Promise::Rec(b)) => {
                Promise::Rec(a.into_iter().zip(b).map(|(a, b)| a.and(b)).collect())
            }
            (p, _) => p,
        }
    }

    /// One of them holds.
    pub fn or(self, other: Promise) -> Promise {
        match (self, other) {
            (Nothing, _) | (_, Nothing) => Nothing,
            (Range(a, b), Range(c, d)) => {
                Range(a.zip(c).map(|(a, c)| a.min(c)), b.zip(d).map(|(b, d)| b.max(d)))
            }
            (Promise::Set(a), Promise::Set(b)) => Promise::Set(Box::new(a.or(*b))),
            (f @ Promise::Function(_), Promise::Set(p)) | (Promise::Set(p), f @ Promise::Function(_)) => {
                Promise::Set(Box::new(f.of_elements().or(*p)))
            }
            (Promise::Function(f), Promise::Function(g)) => Promise::Function(Box::new(Function {
                from: f.from.or(g.from),
                to: f.to.or(g.to),
                whole: if f.whole == g.whole { f.whole } else { None },
                sequence: f.sequence && g.sequence,
            })),
            (Promise::Pair(a), Promise::Pair(b)) => {
                let (a, b) = (*a, *b);
                Promise::Pair(Box::new((a.0.or(b.0), a.1.or(b.1))))
            }
            (Promise::Rec(a), Promise::Rec(b)) => {
                Promise::Rec(a.into_iter().zip(b).map(|(a, b)| a.or(b)).collect())
            }
            _ => Nothing,
        }
    }

    /// What is promised about the elements of a set.
    pub fn of_elements(&self) -> Promise {
        match self {
            Promise::Set(p) => (**p).clone(),
            Promise::Function(f) => Promise::Pair(Box::new((f.from.clone(), f.to.clone()))),
            _ => Nothing,
        }
    }

    fn of_value(v: &Value) -> Promise {
        match v {
            Value::Int(Int::Small(n)) => Range(Some(*n), Some(*n)),
            Value::Pair(p) => Promise::Pair(Box::new((Promise::of_value(&p.0), Promise::of_value(&p.1)))),
            Value::Rec(vs) => Promise::Rec(vs.iter().map(Promise::of_value).collect()),
            Value::Set(elems) => {
                let mut all = elems.iter().map(Promise::of_value);
                match all.next() {
                    Some(first) => Promise::Set(Box::new(all.fold(first, Promise::or))),
                    None => Nothing,
                }
            }
            _ => Nothing,
        }
    }
}

/// Reads promises off the invariant.
pub struct Reader<'r> {
    pub machine: &'r Machine,
    pub folder: &'r dyn Folder,
    pub known: BTreeMap<VarId, Promise>,
}

/// Rows and registers of the largest function that is kept as a table.
const MAX_ROWS: usize = 512;
const MAX_TABLE: usize = 1024;

impl Reader<'_> {
    /// The promises that the invariant makes; two passes, since one may rest on another.
    pub fn read(&mut self) {
        for _ in 0..2 {
            for clause in &self.machine.invariant {
                for c in plan::conjuncts(&clause.pred) {
                    self.conjunct(&c);
                }
            }
        }
    }

    fn tell(&mut self, v: VarId, p: Promise) {
        if p == Nothing || !self.machine.variables.contains(&v) {
            return;
        }
        let old = self.known.remove(&v).unwrap_or(Nothing);
        self.known.insert(v, old.and(p));
    }

    fn conjunct(&mut self, c: &Pred) {
        let PredKind::Rel(op, a, b) = &c.kind else { return };
        match (op, &a.kind, &b.kind) {
            (RelOp::In, ExprKind::Var(v), _) => {
                let p = self.element(b);
                self.tell(*v, p);
            }
            (
                RelOp::In | RelOp::Equal | RelOp::Less | RelOp::LessEqual,
                ExprKind::Unary(UnOp::Size, s),
                _,
            ) => {
                if let ExprKind::Var(v) = s.kind {
                    let most = match op {
                        RelOp::In => match self.element(b) {
                            Range(_, most) => most,
                            _ => None,
                        },
                        RelOp::Less => self.number(b).1.and_then(|n| n.checked_sub(1)),
                        _ => self.number(b).1,
                    };
                    let pair = (Range(Some(1), most), Nothing);
                    self.tell(v, Promise::Set(Box::new(Promise::Pair(Box::new(pair)))));
                }
            }
            (RelOp::Subset | RelOp::StrictSubset, ExprKind::Var(v), _) => {
                let p = self.element(b);
                self.tell(*v, Promise::Set(Box::new(p)));
            }
            (RelOp::Subset | RelOp::Equal, ExprKind::Unary(side @ (UnOp::Dom | UnOp::Ran), f), _) => {
                if let ExprKind::Var(v) = f.kind {
                    let p = self.element(b);
                    let pair = if *side == UnOp::Dom { (p, Nothing) } else { (Nothing, p) };
                    self.tell(v, Promise::Set(Box::new(Promise::Pair(Box::new(pair)))));
                }
            }
            (_, ExprKind::Var(v), _) if a.ty == Type::Integer => {
                let bound = self.number(b);
                let p = match op {
                    RelOp::Less => Range(None, bound.1.and_then(|n| n.checked_sub(1))),
                    RelOp::LessEqual => Range(None, bound.1),
                    RelOp::Greater => Range(bound.0.and_then(|n| n.checked_add(1)), None),
                    RelOp::GreaterEqual => Range(bound.0, None),
                    RelOp::Equal => Range(bound.0, bound.1),
                    _ => Nothing,
                };
                self.tell(*v, p);
            }
            (_, _, ExprKind::Var(v)) if a.ty == Type::Integer => {
                let bound = self.number(a);
                let p = match op {
                    RelOp::Less => Range(bound.0.and_then(|n| n.checked_add(1)), None),
                    RelOp::LessEqual => Range(bound.0, None),
                    RelOp::Greater => Range(None, bound.1.and_then(|n| n.checked_sub(1))),
                    RelOp::GreaterEqual => Range(None, bound.1),
                    _ => Nothing,
                };
                self.tell(*v, p);
            }
            _ => {}
        }
    }

    /// Least and greatest value of an integer expression, as far as they are known.
    fn number(&self, e: &Expr) -> (Option<i64>, Option<i64>) {
        if let Some(Value::Int(Int::Small(n))) = self.constant(e) {
            return (Some(n), Some(n));
        }
        match &e.kind {
            ExprKind::Var(v) => match self.known.get(v) {
                Some(Range(a, b)) => (*a, *b),
                _ => (None, None),
            },
            ExprKind::Unary(UnOp::Card | UnOp::Size, s) => {
                let most = match &s.ty {
                    Type::Pow(t) => self.carrier(t, &self.element(s)).map(|c| c.card() as i64),
                    _ => None,
                };
                (Some(0), most)
            }
            ExprKind::Binary(BinOp::Mod, _, b) => {
                (Some(0), self.number(b).1.and_then(|n| n.checked_sub(1)).filter(|n| *n >= 0))
            }
            ExprKind::Binary(BinOp::Mul, a, b) => match (self.number(a), self.number(b)) {
                ((Some(a), Some(b)), (Some(c), Some(d))) => {
                    let all = [a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)];
                    match all.into_iter().collect::<Option<Vec<i64>>>() {
                        Some(all) => (all.iter().min().copied(), all.iter().max().copied()),
                        None => (None, None),
                    }
                }
                _ => (None, None),
            },
            ExprKind::Apply(f, _) => match self.value(f).of_elements() {
                Promise::Pair(p) => match p.1 {
                    Range(a, b) => (a, b),
                    _ => (None, None),
                },
                _ => (None, None),
            },
            ExprKind::Binary(BinOp::Add, a, b) => {
                let (x, y) = (self.number(a), self.number(b));
                let add = |x: Option<i64>, y: Option<i64>| x.zip(y).and_then(|(x, y)| x.checked_add(y));
                (add(x.0, y.0), add(x.1, y.1))
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                let (x, y) = (self.number(a), self.number(b));
                let sub = |x: Option<i64>, y: Option<i64>| x.zip(y).and_then(|(x, y)| x.checked_sub(y));
                (sub(x.0, y.1), sub(x.1, y.0))
            }
            _ => (None, None),
        }
    }

    fn constant(&self, e: &Expr) -> Option<Value> {
        let uses = crate::uses::Uses::of_expr(e);
        let fixed = uses.olds.is_empty() && uses.reads.iter().all(|v| self.machine.constants.contains(v));
        if fixed { self.folder.value(e) } else { None }
    }

    /// What is promised about the value of an expression.
    fn value(&self, e: &Expr) -> Promise {
        match &e.kind {
            _ if e.ty == Type::Integer => match self.number(e) {
                (None, None) => Nothing,
                (a, b) => Range(a, b),
            },
            ExprKind::Var(v) if self.known.contains_key(v) => self.known[v].clone(),
            ExprKind::Pair(a, b) => Promise::Pair(Box::new((self.value(a), self.value(b)))),
            ExprKind::Rec(es) => Promise::Rec(es.iter().map(|e| self.value(e)).collect()),
            _ => self.constant(e).map_or(Nothing, |v| Promise::of_value(&v)),
        }
    }

    /// What is promised about the elements of a set.
    fn element(&self, set: &Expr) -> Promise {
        let pair = |a: Promise, b: Promise| Promise::Pair(Box::new((a, b)));
        let function =
            |from, to, whole, sequence| Promise::Function(Box::new(Function { from, to, whole, sequence }));
        match &set.kind {
            ExprKind::SetExt(es) if !es.is_empty() && self.constant(set).is_none() => {
                let mut all = es.iter().map(|e| self.value(e));
                let first = all.next().unwrap_or(Nothing);
                all.fold(first, Promise::or)
            }
            ExprKind::Binary(BinOp::Interval, a, b) => Range(self.number(a).0, self.number(b).1),
            ExprKind::Natural => Range(Some(0), None),
            ExprKind::Natural1 => Range(Some(1), None),
            ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, s) => {
                Promise::Set(Box::new(self.element(s)))
            }
            ExprKind::Binary(
                BinOp::Relation
                | BinOp::TotalRelation
                | BinOp::SurjectiveRelation
                | BinOp::TotalSurjectiveRelation,
                a,
                b,
            ) => Promise::Set(Box::new(pair(self.element(a), self.element(b)))),
            ExprKind::Binary(
                BinOp::PartialFunction
                | BinOp::PartialInjection
                | BinOp::PartialSurjection
                | BinOp::PartialBijection,
                a,
                b,
            ) => function(self.element(a), self.element(b), None, false),
            ExprKind::Binary(
                BinOp::TotalFunction | BinOp::TotalInjection | BinOp::TotalSurjection | BinOp::TotalBijection,
                a,
                b,
            ) => function(self.element(a), self.element(b), self.constant(a), false),
            ExprKind::Unary(UnOp::Seq | UnOp::Seq1, s) => {
                function(Range(Some(1), None), self.element(s), None, true)
            }
            ExprKind::Unary(op @ (UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm), s) => {
                // An injective sequence is no longer than its set.
                let most = match self.constant(s) {
                    Some(Value::Set(elems)) => Some(elems.len() as i64),
                    _ => None,
                };
                let whole = most.filter(|n| *op == UnOp::Perm && *n > 0);
                let whole = whole.map(|n| Value::sorted_set((1..=n).map(Value::int).collect()));
                function(Range(Some(1), most), self.element(s), whole, true)
            }
            ExprKind::Binary(BinOp::Cartesian, a, b) => pair(self.element(a), self.element(b)),
            ExprKind::StructSet(sets) => Promise::Rec(sets.iter().map(|s| self.element(s)).collect()),
            ExprKind::Binary(BinOp::SetMinus, a, _) => self.element(a),
            ExprKind::Binary(BinOp::Inter, a, b) => self.element(a).and(self.element(b)),
            ExprKind::Binary(BinOp::Union, a, b) => self.element(a).or(self.element(b)),
            ExprKind::Unary(side @ (UnOp::Dom | UnOp::Ran), f) => match self.element(f) {
                Promise::Pair(p) => {
                    if *side == UnOp::Dom {
                        p.0
                    } else {
                        p.1
                    }
                }
                _ => Nothing,
            },
            ExprKind::Var(v) if self.known.contains_key(v) => self.known[v].of_elements(),
            _ => match self.constant(set) {
                Some(v) => Promise::of_value(&v).of_elements(),
                None => Nothing,
            },
        }
    }

    /// The layout of a variable of this type under a promise.
    pub fn layout(&self, ty: &Type, promise: &Promise) -> Option<Layout> {
        Some(match (ty, promise) {
            (Type::Integer, _) => Layout::Int,
            (Type::Bool | Type::Set(_), _) => Layout::Code(self.carrier(ty, promise)?),
            (Type::Pow(t), p) => {
                if let (Promise::Function(f), Type::Prod(a, b)) = (p, &**t)
                    && let Some(layout) = self.function(f, a, b)
                {
                    return Some(layout);
                }
                match self.carrier(t, &p.of_elements()).or_else(|| self.nested(t, &p.of_elements())) {
                    Some(c) if c.card() <= MAX_STATE_BITS => Layout::Bits(c),
                    _ => Layout::Pool,
                }
            }
            (Type::Prod(a, b), p) => {
                let (p, q) = match p {
                    Promise::Pair(p) => (&p.0, &p.1),
                    _ => (&Nothing, &Nothing),
                };
                Layout::pair(self.layout(a, p)?, self.layout(b, q)?)
            }
            (Type::Struct(fields), p) => {
                let mut parts = Vec::new();
                for (i, (_, t)) in fields.iter().enumerate() {
                    let q = match p {
                        Promise::Rec(ps) => ps.get(i).unwrap_or(&Nothing),
                        _ => &Nothing,
                    };
                    parts.push(self.layout(t, q)?);
                }
                Layout::Rec(parts.into())
            }
            _ => Layout::Pool,
        })
    }

    /// The layout of a function: an array of codes, or a table where the values have none.
    fn function(&self, f: &Function, a: &Type, b: &Type) -> Option<Layout> {
        let values = self.carrier(b, &f.to);
        let from = match f.from {
            // A sequence without a bound gets the room of a word or two; a longer one escapes.
            Range(Some(1), None) if f.sequence => {
                let width = values.as_ref().map_or(64, |c| (64 - (c.card() as u64).leading_zeros()).max(1));
                &Range(Some(1), Some((64 / i64::from(width)).clamp(8, 32)))
            }
            _ => &f.from,
        };
        let rows = self.carrier(a, from)?;
        if let Some(values) = values {
            let total = match &f.whole {
                Some(Value::Set(all)) => {
                    all.len() == rows.card() && all.iter().all(|x| rows.code(x).is_some())
                }
                _ => false,
            };
            if let Some(layout) = Layout::array(rows.clone(), values, total) {
                return Some(layout);
            }
        }
        let value = self.layout(b, &f.to)?;
        let small = rows.card() <= MAX_ROWS && rows.card() * value.words() as usize <= MAX_TABLE;
        // A sequence of unbounded numbers or of pooled values is better off in the pool itself.
        (small && !(f.sequence && value.has_pool())).then(|| Layout::table(rows, value))
    }

    /// The carrier of elements that are or have small sets.
    fn nested(&self, ty: &Type, promise: &Promise) -> Option<Carrier> {
        let c = match (ty, promise) {
            (Type::Pow(t), p) => Carrier::sets(self.nested(t, &p.of_elements())?)?,
            (Type::Prod(a, b), Promise::Pair(p)) => {
                Carrier::pair(self.nested(a, &p.0)?, self.nested(b, &p.1)?)
            }
            (Type::Prod(a, b), _) => Carrier::pair(self.nested(a, &Nothing)?, self.nested(b, &Nothing)?),
            _ => self.carrier(ty, promise)?,
        };
        (c.card() <= crate::carrier::MAX_CARD).then_some(c)
    }

    fn carrier(&self, ty: &Type, promise: &Promise) -> Option<Carrier> {
        let c = match (ty, promise) {
            (Type::Integer, Range(Some(lo), Some(hi))) => Carrier::Ints {
                lo: i32::try_from(*lo).ok()?,
                n: u16::try_from(hi.checked_sub(*lo)?.checked_add(1)?.max(1)).ok()?,
            },
            (Type::Prod(a, b), Promise::Pair(p)) => {
                Carrier::pair(self.carrier(a, &p.0)?, self.carrier(b, &p.1)?)
            }
            (Type::Struct(fields), Promise::Rec(ps)) => Carrier::Rec(
                fields
                    .iter()
                    .zip(ps)
                    .map(|((_, t), p)| self.carrier(t, p))
                    .collect::<Option<Vec<_>>>()?
                    .into(),
            ),
            _ => Carrier::of_type(ty, &|s| self.machine.set(s).elems.len())?,
        };
        (c.card() <= crate::carrier::MAX_CARD).then_some(c)
    }
}
