//! From the typed machine to the oracle's own tree, construct by construct.
//!
//! In: a typed machine, typed predicates, values. Out: the same in the oracle's tree.
//! Never here: evaluation, rewriting, simplification. A construct that the oracle does not know is an
//! error that names the construct; no other construct stands in for it. One rule of the language is applied
//! here: a LET in front of a guard, whose expressions always have values, is part of the guard (an ANY with equations).

use crate::base::Int;
use crate::lang::partiality::is_let_of_guard;
use crate::lang::typed;
use crate::lang::typed::{
    BigOp, BinOp, ExprKind, FreeId, FunctionConst, Obligation, PredKind, RelOp, SetId, StmtKind, UnOp, VarId,
};
use crate::lang::value::Value;
use bombus_oracle::tree::{self, Expr, Name, Pred, Subst, Type};
use bombus_oracle::value::Value as Plain;
use dashu_int::IBig;
use dashu_ratio::RBig;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why something has no counterpart in the oracle's tree.
pub type Unknown = String;

/// The names under which the oracle knows the variables and operations of a machine.
pub struct Converter<'m> {
    machine: &'m typed::Machine,
    /// By `VarId`: the name as written where it is the only one, else with the number of the variable.
    names: Vec<Name>,
    /// By `OpId`, likewise.
    operations: Vec<Name>,
}

/// Names that are pairwise different: a name that stands twice gets its number.
fn distinct<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<Name> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.clone() {
        *count.entry(name).or_default() += 1;
    }
    let own = |(at, name): (usize, &'a str)| match count[name] {
        1 => Name::from(name),
        _ => Name::from(format!("{name}#{at}")),
    };
    names.enumerate().map(own).collect()
}

impl<'m> Converter<'m> {
    pub fn new(machine: &'m typed::Machine) -> Converter<'m> {
        let mut names = distinct(machine.vars.iter().map(|v| &*v.name));
        // A constant, variable, parameter or result keeps its written name where no other such one has it: those
        // names stand in traces, and every local with the same name carries a number.
        let mut taken = BTreeSet::new();
        let global = machine.constants.iter().chain(&machine.variables);
        let formal = machine.operations.iter().flat_map(|o| o.params.iter().chain(&o.results));
        for id in global {
            if taken.insert(machine.var(*id).name.clone()) {
                names[id.0 as usize] = Name::from(&*machine.var(*id).name);
            }
        }
        for id in formal {
            if !taken.contains(&machine.var(*id).name) {
                names[id.0 as usize] = Name::from(&*machine.var(*id).name);
            }
        }
        let operations = distinct(machine.operations.iter().map(|o| &*o.name));
        Converter { machine, names, operations }
    }

    /// A converter for the operations of all levels of a refinement, under names that no operation of a model has.
    pub(super) fn of_levels(machine: &'m typed::Machine) -> Converter<'m> {
        let numbered = |(at, o): (usize, &typed::Operation)| Name::from(format!("{}~{at}", o.name));
        let operations = machine.operations.iter().enumerate().map(numbered).collect();
        Converter { operations, ..Converter::new(machine) }
    }

    /// The whole machine.
    pub fn machine(&self) -> Result<tree::Machine, Unknown> {
        let m = self.machine;
        let set = |s: &typed::SetDecl| tree::GivenSet {
            name: Name::from(&*s.name),
            elements: s.elems.iter().map(|e| Name::from(&**e)).collect(),
        };
        Ok(tree::Machine {
            name: Name::from(&*m.name),
            sets: m.sets.iter().map(set).collect(),
            freetypes: m.freetypes.iter().map(|f| self.freetype(f)).collect::<Result<_, _>>()?,
            constants: self.vars(&m.constants)?,
            variables: self.vars(&m.variables)?,
            properties: self.clauses(&m.properties)?,
            invariant: self.clauses(&m.invariant)?,
            assertions: self.clauses(&m.assertions)?,
            initialisation: self.subst(&m.initialisation)?,
            operations: self.all_operations()?,
            goal: m.goal.as_ref().map(|p| self.pred(p)).transpose()?,
            scope: m.scope.as_ref().map(|p| self.pred(p)).transpose()?,
            refines: Vec::new(),
        })
    }

    /// The name of a declared variable.
    pub fn name(&self, v: VarId) -> Name {
        self.names[v.0 as usize].clone()
    }

    /// The name of an event, by its number among the events.
    pub fn event(&self, event: usize) -> Name {
        self.operations[self.machine.events[event].0 as usize].clone()
    }

    /// A value of a type; none for a set that is not listed and for the mark of a missing result.
    pub fn value(&self, v: &Value, ty: &typed::Type) -> Option<Plain> {
        Some(match (v, ty) {
            (Value::Bool(b), _) => Plain::Bool(*b),
            (Value::Int(n), _) => Plain::Int(n.to_big()),
            (Value::Str(s), typed::Type::String) => Plain::Str(Name::from(&**s)),
            (Value::Real(r), _) => Plain::Real((**r).clone()),
            (Value::Elem(set, n), _) => self.element(*set, *n),
            (Value::Pair(p), typed::Type::Prod(a, b)) => {
                Plain::pair(self.value(&p.0, a)?, self.value(&p.1, b)?)
            }
            (Value::Set(elems), typed::Type::Pow(t)) => {
                Plain::set(elems.iter().map(|e| self.value(e, t)).collect::<Option<_>>()?)
            }
            // A set whose type nothing fixes has no elements.
            (Value::Set(elems), _) if elems.is_empty() => Plain::set(Vec::new()),
            (Value::Rec(values), typed::Type::Struct(fields)) => Plain::record(
                fields
                    .iter()
                    .zip(values.iter())
                    .map(|((name, t), v)| Some((Name::from(&**name), self.value(v, t)?)))
                    .collect::<Option<_>>()?,
            ),
            (Value::Free(f, n, arg), _) => {
                let free = &self.machine.freetypes[f.0 as usize];
                let (name, ty) = &free.constructors[*n as usize];
                let arg = match (arg, ty) {
                    (Some(v), Some(t)) => Some(Arc::new(self.value(v, t)?)),
                    _ => None,
                };
                Plain::Free(*n, Arc::new((Name::from(&*free.name), Name::from(&**name))), arg)
            }
            _ => return None,
        })
    }

    fn element(&self, set: SetId, n: u32) -> Plain {
        let set = self.machine.set(set);
        Plain::element(n, Name::from(&*set.name), Name::from(&*set.elems[n as usize]))
    }

    fn freetype(&self, f: &typed::Freetype) -> Result<tree::FreeType, Unknown> {
        let constructor = |((name, ty), domain): (&(_, Option<typed::Type>), &Option<typed::Expr>)| {
            let arg = match (ty, domain) {
                (None, _) => None,
                (Some(t), Some(d)) => Some((self.ty(t)?, self.expr(d)?)),
                (Some(t), None) => Some((self.ty(t)?, Expr::All(self.ty(t)?))),
            };
            let name: &crate::base::Name = name;
            Ok((Name::from(&**name), arg))
        };
        Ok(tree::FreeType {
            name: Name::from(&*f.name),
            constructors: f
                .constructors
                .iter()
                .zip(&f.domains)
                .map(constructor)
                .collect::<Result<_, Unknown>>()?,
        })
    }

    pub(super) fn clauses(&self, clauses: &[typed::Clause]) -> Result<Vec<tree::Clause>, Unknown> {
        let clause = |c: &typed::Clause| {
            let label = c.label.as_ref().map_or_else(|| Name::from(&*c.text), |l| Name::from(&**l));
            Ok(tree::Clause { label, pred: self.pred(&c.pred)? })
        };
        clauses.iter().map(clause).collect()
    }

    fn all_operations(&self) -> Result<Vec<tree::Operation>, Unknown> {
        let events: BTreeSet<_> = self.machine.events.iter().copied().collect();
        let all = (0..self.machine.operations.len()).map(|at| typed::OpId(at as u32));
        all.map(|op| Ok(tree::Operation { event: events.contains(&op), ..self.operation(op)? })).collect()
    }

    /// An operation that is only called.
    pub(super) fn operation(&self, op: typed::OpId) -> Result<tree::Operation, Unknown> {
        let o = self.machine.op(op);
        Ok(tree::Operation {
            name: self.operations[op.0 as usize].clone(),
            event: false,
            params: self.vars(&o.params)?,
            results: self.vars(&o.results)?,
            body: self.subst(&o.body)?,
        })
    }

    pub(super) fn vars(&self, ids: &[VarId]) -> Result<Vec<tree::Var>, Unknown> {
        ids.iter().map(|v| Ok((self.name(*v), self.ty(&self.machine.var(*v).ty)?))).collect()
    }

    pub fn ty(&self, t: &typed::Type) -> Result<Type, Unknown> {
        Ok(match t {
            typed::Type::Integer => Type::Integer,
            typed::Type::Bool => Type::Bool,
            typed::Type::String => Type::Str,
            typed::Type::Real => Type::Real,
            typed::Type::Set(s) => Type::Given(Name::from(&*self.machine.set(*s).name)),
            typed::Type::Free(f) => Type::Free(Name::from(&*self.machine.freetypes[f.0 as usize].name)),
            typed::Type::Pow(t) => Type::Pow(Box::new(self.ty(t)?)),
            typed::Type::Prod(a, b) => Type::Prod(Box::new(self.ty(a)?), Box::new(self.ty(b)?)),
            typed::Type::Struct(fields) => {
                let fields = fields.iter().map(|(n, t)| Ok((Name::from(&**n), self.ty(t)?)));
                let mut fields = fields.collect::<Result<Vec<_>, Unknown>>()?;
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                Type::Record(fields)
            }
            typed::Type::Any => return Err("a variable whose type nothing fixes".into()),
        })
    }

    /// The two sides of the type of a relation.
    fn sides(&self, t: &typed::Type) -> Result<(typed::Type, typed::Type), Unknown> {
        if let typed::Type::Pow(pair) = t
            && let typed::Type::Prod(a, b) = &**pair
        {
            return Ok(((**a).clone(), (**b).clone()));
        }
        Err("a relation whose type nothing fixes".into())
    }

    fn constructor(&self, f: FreeId, n: u32) -> (Name, Option<&typed::Type>) {
        let (name, ty) = &self.machine.freetypes[f.0 as usize].constructors[n as usize];
        (Name::from(&**name), ty.as_ref())
    }

    fn boxed(&self, e: &typed::Expr) -> Result<Box<Expr>, Unknown> {
        Ok(Box::new(self.expr(e)?))
    }

    fn exprs(&self, list: &[typed::Expr]) -> Result<Vec<Expr>, Unknown> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    fn preds(&self, list: &[typed::Pred]) -> Result<Vec<Pred>, Unknown> {
        list.iter().map(|p| self.pred(p)).collect()
    }

    fn bindings(&self, list: &[(VarId, typed::Expr)]) -> Result<Vec<(Name, Expr)>, Unknown> {
        list.iter().map(|(v, e)| Ok((self.name(*v), self.expr(e)?))).collect()
    }

    pub fn expr(&self, e: &typed::Expr) -> Result<Expr, Unknown> {
        Ok(match &e.kind {
            ExprKind::Int(n) => Expr::Const(Plain::Int(n.to_big())),
            ExprKind::Real(text) => {
                Expr::Const(Plain::Real(real(text).ok_or("a real number in this notation")?))
            }
            ExprKind::Str(s) => Expr::Const(Plain::Str(Name::from(&**s))),
            ExprKind::Bool(b) => Expr::Const(Plain::Bool(*b)),
            ExprKind::Elem(set, n) => Expr::Const(self.element(*set, *n)),
            ExprKind::Var(v) => Expr::Var(self.known(*v)?),
            ExprKind::Old(v) => Expr::Old(self.known(*v)?),
            ExprKind::TypeSet(t) => Expr::All(self.ty(t)?),
            ExprKind::Natural => Expr::Natural,
            ExprKind::Natural1 => Expr::Natural1,
            ExprKind::Function(f) => self.function(*f, &e.ty)?,
            ExprKind::SetExt(list) => Expr::Set(self.exprs(list)?),
            ExprKind::SeqExt(list) => Expr::Seq(self.exprs(list)?),
            ExprKind::Pair(a, b) => Expr::Pair(self.boxed(a)?, self.boxed(b)?),
            ExprKind::Rec(values) => Expr::Record(self.fields(&e.ty, values)?),
            ExprKind::StructSet(sets) => match &e.ty {
                typed::Type::Pow(t) => Expr::Struct(self.fields(t, sets)?),
                _ => return Err("a set of records without its type".into()),
            },
            ExprKind::Field(r, n) => Expr::Field(self.boxed(r)?, self.field(&r.ty, *n)?),
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.ty)?,
            ExprKind::Binary(op, a, b) => match asked_for(a, "AS_NATURAL") {
                Some(base) if *op == BinOp::Power => {
                    Expr::Binary(tree::BinOp::PowerWhole, self.boxed(base)?, self.boxed(b)?)
                }
                _ => self.binary(*op, a, b, &e.ty)?,
            },
            ExprKind::Apply(f, x) => match &f.kind {
                ExprKind::Destructor(free, n) => {
                    Expr::Destruct(self.constructor(*free, *n).0, self.boxed(x)?)
                }
                _ => match asked_for(f, "AS_FUNCTION") {
                    Some(relation) => Expr::ApplyWhole(self.boxed(relation)?, self.boxed(x)?),
                    None => Expr::Apply(self.boxed(f)?, self.boxed(x)?),
                },
            },
            ExprKind::BoolOf(p) => Expr::Truth(Box::new(self.pred(p)?)),
            ExprKind::Compr(vars, p) => Expr::Compr(self.vars(vars)?, Box::new(self.pred(p)?)),
            ExprKind::Big(op, vars, p, body) => {
                Expr::Big(big(*op), self.vars(vars)?, Box::new(self.pred(p)?), self.boxed(body)?)
            }
            ExprKind::If(c, a, b) => Expr::If(Box::new(self.pred(c)?), self.boxed(a)?, self.boxed(b)?),
            ExprKind::Let(bindings, body) => Expr::Let(self.bindings(bindings)?, self.boxed(body)?),
            ExprKind::Construct(f, n, arg) => {
                let arg = arg.as_ref().map(|a| self.boxed(a)).transpose()?;
                Expr::Construct(self.constructor(*f, *n).0, arg)
            }
            ExprKind::Constructor(..) => return Err("a constructor as a function".into()),
            ExprKind::Destructor(..) => return Err("a destructor as a function".into()),
            ExprKind::External(f, args) => self.library(&f.name, args)?,
            ExprKind::Symbolic(e) => self.expr(e)?,
        })
    }

    /// The functions of libraries that the core language can say.
    fn library(&self, name: &str, args: &[typed::Expr]) -> Result<Expr, Unknown> {
        Ok(match (name, args) {
            ("CHOOSE", [set]) => Expr::Unary(tree::UnOp::Choose, self.boxed(set)?),
            ("CLOSURE1", [r]) => Expr::Unary(tree::UnOp::Closure1, self.boxed(r)?),
            ("STRING_LENGTH", [s]) => Expr::Unary(tree::UnOp::Size, self.boxed(s)?),
            ("STRING_APPEND", [s, t]) => Expr::Binary(tree::BinOp::Concat, self.boxed(s)?, self.boxed(t)?),
            // One image of TRUE in {TRUE} * S is the only element of S.
            ("MU", [set]) => {
                let truth = || Expr::Const(Plain::Bool(true));
                let column =
                    Expr::Binary(tree::BinOp::Product, Box::new(Expr::Set(vec![truth()])), self.boxed(set)?);
                Expr::Apply(Box::new(column), Box::new(truth()))
            }
            _ => return Err(format!("the library function {name}")),
        })
    }

    /// The name of a variable that the machine declares.
    fn known(&self, v: VarId) -> Result<Name, Unknown> {
        self.names
            .get(v.0 as usize)
            .cloned()
            .ok_or_else(|| "a variable that the machine does not declare".into())
    }

    fn field(&self, record: &typed::Type, n: usize) -> Result<Name, Unknown> {
        match record {
            typed::Type::Struct(fields) if n < fields.len() => Ok(Name::from(&*fields[n].0)),
            _ => Err("a record without its type".into()),
        }
    }

    fn fields(&self, record: &typed::Type, list: &[typed::Expr]) -> Result<Vec<(Name, Expr)>, Unknown> {
        let one = |(n, e): (usize, &typed::Expr)| Ok((self.field(record, n)?, self.expr(e)?));
        list.iter().enumerate().map(one).collect()
    }

    /// `succ`, `pred`, generic `id`, `prj1`, `prj2` as the lambdas that they stand for.
    fn function(&self, f: FunctionConst, ty: &typed::Type) -> Result<Expr, Unknown> {
        let (from, _) = self.sides(ty)?;
        let x = Name::from("argument#");
        let argument = || Box::new(Expr::Var(x.clone()));
        let moved = |op| Expr::Binary(op, argument(), Box::new(Expr::Const(Plain::int(1))));
        let value = match f {
            FunctionConst::Succ => moved(tree::BinOp::Add),
            FunctionConst::Pred => moved(tree::BinOp::Sub),
            FunctionConst::Id => Expr::Var(x.clone()),
            FunctionConst::Prj1 => Expr::Unary(tree::UnOp::Fst, argument()),
            FunctionConst::Prj2 => Expr::Unary(tree::UnOp::Snd, argument()),
        };
        Ok(Expr::Big(tree::BigOp::Lambda, vec![(x, self.ty(&from)?)], Box::new(Pred::True), Box::new(value)))
    }

    fn unary(&self, op: UnOp, a: &typed::Expr, ty: &typed::Type) -> Result<Expr, Unknown> {
        use tree::UnOp as O;
        let op = match op {
            UnOp::Closure => return Ok(Expr::Closure(self.ty(&self.sides(ty)?.0)?, self.boxed(a)?)),
            UnOp::Conc if *ty == typed::Type::String => O::ConcStrings,
            UnOp::Neg => O::Neg,
            UnOp::Floor => O::Floor,
            UnOp::Ceiling => O::Ceiling,
            UnOp::ToReal => O::ToReal,
            UnOp::Pow => O::Pow,
            UnOp::Pow1 => O::Pow1,
            UnOp::Fin => O::Fin,
            UnOp::Fin1 => O::Fin1,
            UnOp::Card => O::Card,
            UnOp::Min => O::Min,
            UnOp::Max => O::Max,
            UnOp::Union => O::Union,
            UnOp::Inter => O::Inter,
            UnOp::Inverse => O::Inverse,
            UnOp::Dom => O::Dom,
            UnOp::Ran => O::Ran,
            UnOp::Id => O::Id,
            UnOp::Closure1 => O::Closure1,
            UnOp::Rel => O::Rel,
            UnOp::Fnc => O::Fnc,
            UnOp::First2 => O::Fst,
            UnOp::Second2 => O::Snd,
            UnOp::Seq => O::Seq,
            UnOp::Seq1 => O::Seq1,
            UnOp::Iseq => O::Iseq,
            UnOp::Iseq1 => O::Iseq1,
            UnOp::Perm => O::Perm,
            UnOp::Size => O::Size,
            UnOp::First => O::First,
            UnOp::Last => O::Last,
            UnOp::Front => O::Front,
            UnOp::Tail => O::Tail,
            UnOp::Rev => O::Rev,
            UnOp::Conc => O::Conc,
            UnOp::Tree
            | UnOp::Btree
            | UnOp::Top
            | UnOp::Sons
            | UnOp::Prefix
            | UnOp::Postfix
            | UnOp::Sizet
            | UnOp::Mirror
            | UnOp::Bin1
            | UnOp::Left
            | UnOp::Right
            | UnOp::Infix => return Err("an operator on trees".into()),
        };
        Ok(Expr::Unary(op, self.boxed(a)?))
    }

    fn binary(&self, op: BinOp, a: &typed::Expr, b: &typed::Expr, ty: &typed::Type) -> Result<Expr, Unknown> {
        use tree::BinOp as O;
        let op = match op {
            BinOp::Iterate => {
                return Ok(Expr::Iterate(self.ty(&self.sides(ty)?.0)?, self.boxed(a)?, self.boxed(b)?));
            }
            BinOp::Add => O::Add,
            BinOp::Sub => O::Sub,
            BinOp::Mul => O::Mul,
            BinOp::Div => O::Div,
            BinOp::Mod => O::Mod,
            BinOp::Power => O::Power,
            BinOp::Interval => O::Interval,
            BinOp::Union => O::Union,
            BinOp::Inter => O::Inter,
            BinOp::SetMinus => O::Minus,
            BinOp::Cartesian => O::Product,
            BinOp::Relation => O::Relation,
            BinOp::TotalRelation => O::TotalRelation,
            BinOp::SurjectiveRelation => O::SurjectiveRelation,
            BinOp::TotalSurjectiveRelation => O::TotalSurjectiveRelation,
            BinOp::PartialFunction => O::PartialFunction,
            BinOp::TotalFunction => O::TotalFunction,
            BinOp::PartialInjection => O::PartialInjection,
            BinOp::TotalInjection => O::TotalInjection,
            BinOp::PartialSurjection => O::PartialSurjection,
            BinOp::TotalSurjection => O::TotalSurjection,
            BinOp::PartialBijection => O::PartialBijection,
            BinOp::TotalBijection => O::TotalBijection,
            BinOp::Compose => O::Compose,
            BinOp::ParallelProduct => O::ParallelProduct,
            BinOp::DirectProduct => O::DirectProduct,
            BinOp::Override => O::Override,
            BinOp::DomRestrict => O::DomRestrict,
            BinOp::DomSubtract => O::DomSubtract,
            BinOp::RanRestrict => O::RanRestrict,
            BinOp::RanSubtract => O::RanSubtract,
            BinOp::Image => O::Image,
            BinOp::Prj1 => O::Prj1,
            BinOp::Prj2 => O::Prj2,
            BinOp::Concat => O::Concat,
            BinOp::Prepend => O::Prepend,
            BinOp::Append => O::Append,
            BinOp::Take => O::Take,
            BinOp::Drop => O::Drop,
            BinOp::TreeConst
            | BinOp::Rank
            | BinOp::Father
            | BinOp::Subtree
            | BinOp::Arity
            | BinOp::Son
            | BinOp::Bin3 => return Err("an operator on trees".into()),
        };
        Ok(Expr::Binary(op, self.boxed(a)?, self.boxed(b)?))
    }

    pub fn pred(&self, p: &typed::Pred) -> Result<Pred, Unknown> {
        let boxed = |p: &typed::Pred| Ok::<_, Unknown>(Box::new(self.pred(p)?));
        Ok(match &p.kind {
            PredKind::True => Pred::True,
            PredKind::False => Pred::False,
            PredKind::And(ps) => Pred::And(self.preds(ps)?),
            PredKind::Or(ps) => Pred::Or(self.preds(ps)?),
            PredKind::Not(q) => Pred::Not(boxed(q)?),
            PredKind::Implies(a, b) => Pred::Implies(boxed(a)?, boxed(b)?),
            PredKind::Iff(a, b) => Pred::Iff(boxed(a)?, boxed(b)?),
            PredKind::Rel(op, a, b) => Pred::Rel(relation(*op), self.expr(a)?, self.expr(b)?),
            PredKind::Forall(vars, q) => Pred::Forall(self.vars(vars)?, boxed(q)?),
            PredKind::Exists(vars, q) => Pred::Exists(self.vars(vars)?, boxed(q)?),
            PredKind::If(c, a, b) => Pred::If(boxed(c)?, boxed(a)?, boxed(b)?),
            PredKind::Let(bindings, q) => Pred::Let(self.bindings(bindings)?, boxed(q)?),
            PredKind::Finite(e) => Pred::Finite(self.expr(e)?),
            PredKind::Partition(e, parts) => Pred::Partition(self.expr(e)?, self.exprs(parts)?),
            PredKind::External(f, _) => return Err(format!("the library predicate {}", f.name)),
            PredKind::Label(label, q) => Pred::At(Name::from(&**label), boxed(q)?),
        })
    }

    fn branches(&self, list: &[(typed::Pred, typed::Stmt)]) -> Result<Vec<(Pred, Subst)>, Unknown> {
        list.iter().map(|(p, s)| Ok((self.pred(p)?, self.subst(s)?))).collect()
    }

    fn targets(&self, list: &[typed::Target]) -> Result<Vec<tree::Target>, Unknown> {
        list.iter().map(|t| self.target(t)).collect()
    }

    fn target(&self, t: &typed::Target) -> Result<tree::Target, Unknown> {
        let mut ty = &self.machine.var(t.var).ty;
        let mut path = Vec::new();
        for step in &t.path {
            match (step, ty) {
                (typed::Step::Index(e), typed::Type::Pow(pair)) => {
                    path.push(tree::Step::Index(self.expr(e)?));
                    let typed::Type::Prod(_, to) = &**pair else {
                        return Err("a place in a value that is no function".into());
                    };
                    ty = to;
                }
                (typed::Step::Field(n), typed::Type::Struct(fields)) => {
                    path.push(tree::Step::Field(Name::from(&*fields[*n].0)));
                    ty = &fields[*n].1;
                }
                _ => return Err("a place in a value of another type".into()),
            }
        }
        Ok(tree::Target { var: self.name(t.var), path })
    }

    pub(super) fn subst(&self, s: &typed::Stmt) -> Result<Subst, Unknown> {
        let boxed = |s: &typed::Stmt| Ok::<_, Unknown>(Box::new(self.subst(s)?));
        let other = |s: &Option<Box<typed::Stmt>>| s.as_ref().map(|s| boxed(s)).transpose();
        let names = |vars: &[VarId]| vars.iter().map(|v| self.name(*v)).collect::<Vec<_>>();
        Ok(match &s.kind {
            StmtKind::Skip => Subst::Skip,
            StmtKind::Assign(list) => Subst::Assign(
                list.iter()
                    .map(|(t, e)| Ok((self.target(t)?, self.expr(e)?)))
                    .collect::<Result<_, Unknown>>()?,
            ),
            StmtKind::BecomesIn(vars, e) => Subst::In(names(vars), self.expr(e)?),
            StmtKind::BecomesSuch(vars, p) => Subst::Such(self.vars(vars)?, self.pred(p)?),
            StmtKind::Pre(p, s) => Subst::Pre(self.pred(p)?, boxed(s)?),
            StmtKind::Assert(obligation, p, s) => {
                let duty = match obligation {
                    Obligation::Assertion => tree::Duty::Assertion,
                    Obligation::Refinement => tree::Duty::Refinement,
                    Obligation::Variant => tree::Duty::Variant,
                };
                Subst::Assert(duty, self.pred(p)?, boxed(s)?)
            }
            StmtKind::Witness(p, s) => Subst::Witness(self.pred(p)?, boxed(s)?),
            StmtKind::Choice(list) => Subst::Choice(self.substs(list)?),
            StmtKind::If(list, last) => Subst::If(self.branches(list)?, other(last)?),
            StmtKind::Select(list, last) => Subst::Select(self.branches(list)?, other(last)?),
            StmtKind::Case(e, list, last) => Subst::Case(
                self.expr(e)?,
                list.iter()
                    .map(|(labels, s)| Ok((self.exprs(labels)?, self.subst(s)?)))
                    .collect::<Result<_, Unknown>>()?,
                other(last)?,
            ),
            StmtKind::Any(vars, p, s) => Subst::Any(self.vars(vars)?, self.pred(p)?, boxed(s)?),
            StmtKind::Let(bindings, s) if is_let_of_guard(bindings, s) => {
                let vars: Vec<VarId> = bindings.iter().map(|(v, _)| *v).collect();
                let named = self.bindings(bindings)?.into_iter();
                let equations = named.map(|(n, e)| Pred::Rel(tree::RelOp::Equal, Expr::Var(n), e)).collect();
                Subst::Any(self.vars(&vars)?, Pred::And(equations), boxed(s)?)
            }
            StmtKind::Let(bindings, s) => Subst::Let(self.bindings(bindings)?, boxed(s)?),
            StmtKind::Var(vars, s) => Subst::Var(names(vars), boxed(s)?),
            StmtKind::While { cond, body, invariant, variant } => Subst::While(Box::new(tree::Loop {
                condition: self.pred(cond)?,
                body: self.subst(body)?,
                invariant: self.pred(invariant)?,
                variant: self.expr(variant)?,
            })),
            StmtKind::Call { op, args, results } => {
                Subst::Call(self.operations[op.0 as usize].clone(), self.exprs(args)?, self.targets(results)?)
            }
            StmtKind::Seq(list) | StmtKind::Par(list) if list.len() == 1 => self.subst(&list[0])?,
            StmtKind::Seq(list) => Subst::Seq(self.substs(list)?),
            StmtKind::Par(list) => Subst::Par(self.substs(list)?),
            // Whatever is printed changes nothing.
            StmtKind::External(..) => Subst::Skip,
        })
    }

    fn substs(&self, list: &[typed::Stmt]) -> Result<Vec<Subst>, Unknown> {
        list.iter().map(|s| self.subst(s)).collect()
    }
}

/// The expression of which this question of Event-B is asked, if the question stands around it.
fn asked_for<'e>(e: &'e typed::Expr, question: &str) -> Option<&'e typed::Expr> {
    match &e.kind {
        ExprKind::External(f, args) if &*f.name == question => args.first(),
        _ => None,
    }
}

fn big(op: BigOp) -> tree::BigOp {
    match op {
        BigOp::Lambda => tree::BigOp::Lambda,
        BigOp::Sigma => tree::BigOp::Sigma,
        BigOp::Pi => tree::BigOp::Pi,
        BigOp::Union => tree::BigOp::Union,
        BigOp::Inter => tree::BigOp::Inter,
        BigOp::SetOf => tree::BigOp::SetOf,
    }
}

fn relation(op: RelOp) -> tree::RelOp {
    match op {
        RelOp::Equal => tree::RelOp::Equal,
        RelOp::NotEqual => tree::RelOp::NotEqual,
        RelOp::In => tree::RelOp::In,
        RelOp::NotIn => tree::RelOp::NotIn,
        RelOp::Subset => tree::RelOp::Subset,
        RelOp::NotSubset => tree::RelOp::NotSubset,
        RelOp::StrictSubset => tree::RelOp::StrictSubset,
        RelOp::NotStrictSubset => tree::RelOp::NotStrictSubset,
        RelOp::Less => tree::RelOp::Less,
        RelOp::LessEqual => tree::RelOp::LessEqual,
        RelOp::Greater => tree::RelOp::Greater,
        RelOp::GreaterEqual => tree::RelOp::GreaterEqual,
    }
}

/// The number that a literal `digits.digits` with an optional `e` and exponent of ten stands for.
fn real(text: &str) -> Option<RBig> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((n, e)) => (n, e.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = Int::parse(&format!("{whole}{fraction}"), 10)?.to_big();
    let scale = exponent - i32::try_from(fraction.len()).ok()?;
    let power = IBig::from(10).pow(usize::try_from(scale.unsigned_abs()).ok()?);
    Some(if scale >= 0 { RBig::from(digits * power) } else { RBig::from(digits) / RBig::from(power) })
}
