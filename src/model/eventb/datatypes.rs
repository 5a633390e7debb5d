//! Datatypes of theories: free types, their destructors, and recursion over them.
//!
//! In: datatypes and operators of theories. Out: free types of the flat machine, definitions of destructors,
//! and functions for what is defined by recursion: operators, and membership in a datatype over
//! sets that are not whole types, such as `List(1‥3)`.
//! Never here: which operators a model uses (`theories`), types.
//!
//! A function is a constant of the machine that no user named; `OWN` begins its name. A type parameter
//! stands for one type in the whole model; only where that fails to type is the datatype generic,
//! which forgets what its arguments are.

use super::lockstep::{binary, conjunction, ident, node};
use bombus_base::{Int, Name, Span};
use bombus_lang::typed::OWN;
use bombus_syntax::ast::{
    self, BigOp, BinOp, Builtin, Const, DefBody, DefItem, Definition, Expr, ExprKind, Ident, Quant,
};
use bombus_syntax::eventb::names::{free, parts, replace};
use bombus_syntax::eventb::{Constructor, Datatype, Operator, Theory};
use std::collections::{BTreeMap, BTreeSet};

/// The datatypes that are not just products (see `theories::record`), by their names.
pub struct Datatypes<'a> {
    by_name: BTreeMap<&'a Name, &'a Datatype>,
    /// Sets that are whole types.
    carriers: BTreeSet<Name>,
    generic: bool,
}

const SPAN: fn() -> Span = Span::default;

fn local(name: &Name) -> Ident {
    Ident { name: name.clone(), span: SPAN() }
}

fn name_of(name: &Name) -> Expr {
    ident(name, SPAN())
}

fn call(function: &Name, args: Vec<Expr>) -> Expr {
    node(ExprKind::Apply(Box::new(name_of(function)), args), SPAN())
}

fn truth() -> Expr {
    node(ExprKind::Const(Const::True), SPAN())
}

/// All values of a type that the rest of the formula tells.
pub(super) fn everything(span: Span) -> Expr {
    let element = Ident { name: "element·".into(), span };
    node(ExprKind::Compr(vec![element], Box::new(node(ExprKind::Const(Const::BTrue), span))), span)
}

/// The name of the function that computes an operator.
pub(super) fn function_name(operator: &Name) -> Name {
    format!("{OWN}{operator}").into()
}

fn member_name(datatype: &Name) -> Name {
    format!("{OWN}member{OWN}{datatype}").into()
}

fn param_name(param: &Name) -> Name {
    format!("{OWN}{param}").into()
}

/// `name(params) == body`
pub(super) fn define(name: &Name, params: Vec<Name>, body: Expr) -> DefItem {
    let params = params.iter().map(local).collect();
    DefItem::Def(Definition { name: local(name), params, body: DefBody::Expr(body) })
}

/// `λ params · pred ∣ body`
fn lambda(params: Vec<Ident>, pred: Expr, body: Expr) -> Expr {
    node(ExprKind::Big(BigOp::Lambda, params, Box::new(pred), Box::new(body)), SPAN())
}

fn if_else(test: Expr, then: Expr, other: Expr) -> Expr {
    node(ExprKind::If(vec![(test, then)], Box::new(other)), SPAN())
}

fn as_bool(pred: Expr) -> Expr {
    node(ExprKind::Builtin(Builtin::Bool, vec![pred]), SPAN())
}

/// Component `i` of `n` of a tuple; pairs nest to the left.
pub(super) fn component(tuple: Expr, i: usize, n: usize) -> Expr {
    let span = tuple.span;
    let project =
        |of: Const, e: Expr| node(ExprKind::Apply(Box::new(node(ExprKind::Const(of), span)), vec![e]), span);
    let mut e = tuple;
    for _ in i + 1..n {
        e = project(Const::Prj1, e);
    }
    if i > 0 { project(Const::Prj2, e) } else { e }
}

/// Argument `i` of the constructor that made `value`.
fn destruct(constructor: &Constructor, i: usize, value: Expr) -> Expr {
    let inverse = node(ExprKind::Inverse(Box::new(name_of(&constructor.name))), SPAN());
    let tuple = node(ExprKind::Apply(Box::new(inverse), vec![value]), SPAN());
    component(tuple, i, constructor.args.len())
}

/// Whether `value` was made by the constructor.
fn made_by(constructor: &Constructor, value: Expr) -> Expr {
    if constructor.args.is_empty() {
        return binary(BinOp::Equal, value, name_of(&constructor.name));
    }
    let names: Vec<Name> = (0..constructor.args.len()).map(|i| format!("argument·{i}").into()).collect();
    let made = call(&constructor.name, names.iter().map(name_of).collect());
    let equal = binary(BinOp::Equal, value, made);
    node(ExprKind::Quant(Quant::Exists, names.iter().map(local).collect(), Box::new(equal)), SPAN())
}

/// One branch for each constructor; the last one is what remains.
fn by_cases(value: &Expr, mut branches: Vec<(&Constructor, Expr)>) -> Option<Expr> {
    // Constants first: they are told apart by a comparison.
    branches.sort_by_key(|(c, _)| !c.args.is_empty());
    let (_, last) = branches.pop()?;
    Some(
        branches
            .into_iter()
            .rev()
            .fold(last, |other, (c, body)| if_else(made_by(c, value.clone()), body, other)),
    )
}

impl<'a> Datatypes<'a> {
    pub fn new(theories: &'a [Theory], carriers: BTreeSet<Name>, generic: bool) -> Self {
        let all = theories.iter().flat_map(|t| &t.datatypes);
        let by_name = all.filter(|d| !is_record(d)).map(|d| (&d.name, d)).collect();
        Datatypes { by_name, carriers, generic }
    }

    /// Writes `List(ℤ)` as the free type `List`, and `List(1‥3)` as the set of its members.
    pub fn settle_sets(&self, e: &mut Expr) {
        for part in parts(e) {
            self.settle_sets(part);
        }
        let ExprKind::Apply(name, args) = &e.kind else { return };
        let ExprKind::Ident(name) = &name.kind else { return };
        let Some(datatype) = self.by_name.get(name) else { return };
        let span = e.span;
        if args.iter().all(|a| self.is_type(a)) {
            *e = ident(&datatype.name, span);
            return;
        }
        let value: Name = format!("value·{name}").into();
        let mut all = vec![name_of(&value)];
        all.extend(args.iter().cloned());
        let member = binary(BinOp::Equal, call(&member_name(name), all), truth());
        let typed = binary(BinOp::In, name_of(&value), name_of(name));
        let pred = conjunction(vec![typed, member], span);
        *e = node(ExprKind::Compr(vec![local(&value)], Box::new(pred)), span);
    }

    fn is_type(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Const(c) => matches!(c, Const::Integer | Const::Bool),
            ExprKind::Ident(name) => self.carriers.contains(name) || self.by_name.contains_key(name),
            ExprKind::Builtin(Builtin::Pow, items) => items.iter().all(|i| self.is_type(i)),
            ExprKind::Binary(BinOp::Cartesian | BinOp::Relation, a, b) => self.is_type(a) && self.is_type(b),
            ExprKind::Compr(_, p) => p.kind == ExprKind::Const(Const::BTrue),
            _ => false,
        }
    }

    /// The datatype that a name belongs to: its own name, a constructor or a destructor.
    pub fn owner(&self, name: &Name) -> Option<&'a Datatype> {
        let mut all = self.by_name.values();
        all.find(|d| {
            d.name == *name
                || d.constructors.iter().any(|c| c.name == *name || c.args.iter().any(|(d, _)| d == name))
        })
        .copied()
    }

    /// The datatype as a free type.
    pub fn free_type(&self, datatype: &Datatype) -> ast::Freetype {
        let argument = |constructor: &Constructor| {
            let sets = constructor.args.iter().map(|(_, set)| {
                let mut set = set.clone();
                self.settle_sets(&mut set);
                self.settle_params(&mut set, datatype);
                set
            });
            sets.reduce(|a, b| binary(BinOp::Cartesian, a, b))
        };
        let params = datatype.params.iter().filter(|_| self.generic).map(|p| local(&param_name(p))).collect();
        ast::Freetype {
            name: local(&datatype.name),
            params,
            constructors: datatype.constructors.iter().map(|c| (local(&c.name), argument(c))).collect(),
        }
    }

    /// `List(T)` inside the datatype is the datatype; another parameter is any type.
    fn settle_params(&self, e: &mut Expr, datatype: &Datatype) {
        for part in parts(e) {
            self.settle_params(part, datatype);
        }
        let span = e.span;
        match &e.kind {
            ExprKind::Ident(name) if datatype.params.contains(name) => {
                *e = if self.generic { ident(&param_name(name), span) } else { everything(span) };
            }
            // The members of another datatype over a parameter: its type is enough here.
            ExprKind::Compr(names, _) => {
                let of = |d: &&&Name| names.first().is_some_and(|n| *n.name == *format!("value·{d}"));
                if let Some(name) = self.by_name.keys().find(of) {
                    *e = ident(name, span);
                }
            }
            _ => {}
        }
    }

    /// Definitions of the destructors.
    pub fn destructors(&self, datatype: &Datatype) -> Vec<DefItem> {
        let value: Name = "value·".into();
        let mut items = Vec::new();
        for constructor in &datatype.constructors {
            for (i, (name, _)) in constructor.args.iter().enumerate() {
                items.push(define(name, vec![value.clone()], destruct(constructor, i, name_of(&value))));
            }
        }
        items
    }

    /// If the name is that of a test for membership: its function.
    pub fn membership(&self, name: &Name) -> Option<Expr> {
        let (_, datatype) = self.by_name.iter().find(|(d, _)| member_name(d) == *name)?;
        let value: Name = "value·".into();
        let mut params = vec![local(&value)];
        params.extend(datatype.params.iter().map(local));
        let branches = datatype.constructors.iter().map(|constructor| {
            let mut conditions = Vec::new();
            for (i, (_, set)) in constructor.args.iter().enumerate() {
                let argument = destruct(constructor, i, name_of(&value));
                let mut set = set.clone();
                self.settle_sets(&mut set);
                conditions.push(binary(BinOp::In, argument, set));
            }
            (constructor, as_bool(conjunction(conditions, SPAN())))
        });
        let body = by_cases(&name_of(&value), branches.collect())?;
        Some(lambda(params, binary(BinOp::In, name_of(&value), name_of(&datatype.name)), body))
    }

    /// The function of an operator with one case for each constructor of the argument `on`.
    pub fn recursion(
        &self,
        operator: &Operator,
        on: &Name,
        cases: &[(Expr, Expr)],
        predicate: bool,
    ) -> Result<Expr, String> {
        let mut branches = Vec::new();
        let mut datatype: Option<&Datatype> = None;
        for (pattern, body) in cases {
            let (name, args) = match &pattern.kind {
                ExprKind::Ident(name) => (name, [].as_slice()),
                ExprKind::Apply(f, args) => match &f.kind {
                    ExprKind::Ident(name) => (name, args.as_slice()),
                    _ => return Err(format!("{}: a case is no constructor", operator.name)),
                },
                _ => return Err(format!("{}: a case is no constructor", operator.name)),
            };
            let owner = self.owner(name).filter(|d| datatype.is_none_or(|e| e.name == d.name));
            let constructor = owner.and_then(|d| d.constructors.iter().find(|c| c.name == *name));
            let (Some(owner), Some(constructor)) = (owner, constructor) else {
                return Err(format!("{}: `{name}` is no constructor of its argument", operator.name));
            };
            datatype = Some(owner);
            let mut values = BTreeMap::new();
            for (i, arg) in args.iter().enumerate() {
                if let ExprKind::Ident(arg) = &arg.kind {
                    values.insert(arg.clone(), destruct(constructor, i, name_of(on)));
                }
            }
            let mut body = body.clone();
            replace(&mut body, &values);
            branches.push((constructor, if predicate { as_bool(body) } else { body }));
        }
        let missing = datatype.filter(|d| d.constructors.len() != branches.len()).is_some();
        let body = by_cases(&name_of(on), branches).filter(|_| !missing);
        let (Some(body), Some(datatype)) = (body, datatype) else {
            return Err(format!("{}: not every constructor has a case", operator.name));
        };
        let params = operator.args.iter().map(|(name, _)| local(name)).collect();
        Ok(lambda(params, binary(BinOp::In, name_of(on), name_of(&datatype.name)), body))
    }

    /// The built-in conversion of a natural number into a datatype of zero and successor.
    pub fn natural_conversion(&self, operator: &Operator) -> Option<Expr> {
        let [(argument, _)] = operator.args.as_slice() else { return None };
        let zero_and_successor = |d: &&&Datatype| match d.constructors.as_slice() {
            [zero, next] => {
                zero.args.is_empty() && next.args.len() == 1 && free(&next.args[0].1).contains(&d.name)
            }
            _ => false,
        };
        let datatype = self.by_name.values().find(zero_and_successor)?;
        let number = |n: Int| node(ExprKind::Int(n), SPAN());
        let before = binary(BinOp::Sub, name_of(argument), number(Int::ONE));
        let smaller = call(&function_name(&operator.name), vec![before]);
        let body = if_else(
            binary(BinOp::Equal, name_of(argument), number(Int::ZERO)),
            name_of(&datatype.constructors[0].name),
            call(&datatype.constructors[1].name, vec![smaller]),
        );
        let natural = binary(BinOp::In, name_of(argument), node(ExprKind::Const(Const::Natural), SPAN()));
        Some(lambda(vec![local(argument)], natural, body))
    }
}

/// A datatype with one constructor that does not hold itself is a product under another name.
pub(super) fn is_record(datatype: &Datatype) -> bool {
    match datatype.constructors.as_slice() {
        [one] => !one.args.is_empty() && !one.args.iter().any(|(_, t)| free(t).contains(&datatype.name)),
        _ => false,
    }
}

/// Whether a formula can only be a predicate; of a call this is known of the operators in `predicates`.
pub(super) fn is_predicate(e: &Expr, predicates: &BTreeSet<Name>) -> bool {
    match &e.kind {
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::Quant(..) => true,
        ExprKind::Const(c) => matches!(c, Const::BTrue | Const::BFalse),
        ExprKind::Builtin(b, _) => matches!(b, Builtin::Finite | Builtin::Partition),
        ExprKind::Binary(op, ..) => op.is_predicate(),
        ExprKind::Apply(f, _) => matches!(&f.kind, ExprKind::Ident(name) if predicates.contains(name)),
        ExprKind::Label(_, x) => is_predicate(x, predicates),
        _ => false,
    }
}
