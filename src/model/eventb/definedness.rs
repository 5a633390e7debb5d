//! Well-definedness where Event-B asks for more than classical B.
//!
//! In: the formulas of a chain. Out: the same formulas; an application `f(x)` of which nothing says that `f`
//! is a function asks for that first, and so does `a^b` for a natural `a`. The two questions are external
//! functions that give their argument back.
//! Never here: evaluation; types.
//!
//! In classical B `f(x)` is defined if `x` has one image. In Event-B the whole of `f` must be functional. A name
//! that some axiom, invariant or guard declares as a function needs no question: where the
//! declaration is broken, that is a finding of its own.

use super::chain::{Chain, each_formula};
use super::lockstep::{binary, ident, node};
use bombus_base::{Int, Name, Span};
use bombus_syntax::ast::{BigOp, BinOp, Builtin, Const, DefBody, DefItem, Definition, Expr, ExprKind, Ident};
use bombus_syntax::eventb::names::parts;
use std::collections::{BTreeMap, BTreeSet};

const AS_FUNCTION: &str = "AS_FUNCTION";
const AS_NATURAL: &str = "AS_NATURAL";

/// What is known about a relation.
#[derive(Clone, Debug, Default, PartialEq)]
struct RelationFacts {
    function: bool,
    injective: bool,
    /// About its images, if these are relations.
    images: Option<Box<RelationFacts>>,
}

#[derive(Default)]
struct Known {
    names: BTreeMap<Name, RelationFacts>,
    /// Operators of theories: their calls are no applications.
    operators: BTreeSet<Name>,
    asked: BTreeSet<&'static str>,
}

/// Puts the questions into all formulas of the chain; the definitions they need come back.
pub fn demand(chain: &mut Chain, operators: BTreeSet<Name>) -> Vec<DefItem> {
    let mut known = Known { operators, ..Known::default() };
    // What is known about one name may rest on another: `g = f` with `f ∈ A → B`.
    loop {
        let before = known.names.clone();
        known.learn(chain);
        if known.names == before {
            break;
        }
    }
    each_formula(chain, &mut |e| known.ask(e));
    known.asked.iter().flat_map(|name| declaration(name)).collect()
}

impl Known {
    /// What the axioms and invariants declare, what guards declare of the parameters, and what formulas
    /// declare of the names they bind.
    fn learn(&mut self, chain: &mut Chain) {
        for axiom in chain.contexts.iter().flat_map(|c| &c.axioms) {
            self.declared(&axiom.expr, None);
        }
        for level in &chain.levels {
            for invariant in &level.invariants {
                self.declared(&invariant.expr, None);
            }
            for event in &level.events {
                for guard in &event.guards {
                    self.declared(&guard.expr, Some(&event.params));
                }
            }
        }
        each_formula(chain, &mut |e| self.bound(e));
    }

    /// The declarations among the conjuncts of a predicate that must hold, of `only` these names if any are given.
    fn declared(&mut self, e: &Expr, only: Option<&[Ident]>) {
        let name = |e: &Expr| match &e.kind {
            ExprKind::Ident(name) if only.is_none_or(|o| o.iter().any(|i| i.name == *name)) => {
                Some(name.clone())
            }
            _ => None,
        };
        match &e.kind {
            ExprKind::And(parts) => parts.iter().for_each(|p| self.declared(p, only)),
            ExprKind::Label(_, inner) => self.declared(inner, only),
            ExprKind::Binary(BinOp::In, left, right) => {
                if let Some(f) = name(left) {
                    self.note(f, Some(self.members(right)));
                }
            }
            ExprKind::Binary(BinOp::Equal, left, right) => {
                for (f, value) in [(name(left), right), (name(right), left)] {
                    if let Some(f) = f {
                        self.note(f, self.shape(value));
                    }
                }
            }
            _ => {}
        }
    }

    /// The same of the names that quantifiers and comprehensions bind.
    fn bound(&mut self, e: &mut Expr) {
        match &e.kind {
            ExprKind::Quant(_, names, p) | ExprKind::Compr(names, p) | ExprKind::Big(_, names, p, _) => {
                match &p.kind {
                    ExprKind::Binary(BinOp::Implies, condition, _) => self.declared(condition, Some(names)),
                    _ => self.declared(p, Some(names)),
                }
            }
            _ => {}
        }
        for part in parts(e) {
            self.bound(part);
        }
    }

    fn note(&mut self, name: Name, shape: Option<RelationFacts>) {
        let Some(shape) = shape else { return };
        let known = self.names.entry(name).or_default();
        known.function |= shape.function;
        known.injective |= shape.injective;
        if known.images.is_none() {
            known.images = shape.images;
        }
    }

    /// What the members of a set of relations have in common.
    fn members(&self, set: &Expr) -> RelationFacts {
        use BinOp::{
            PartialBijection, PartialFunction, PartialInjection, PartialSurjection, TotalBijection,
            TotalFunction, TotalInjection, TotalSurjection,
        };
        match &set.kind {
            ExprKind::Binary(op, _, to) => {
                let function = matches!(
                    op,
                    PartialFunction
                        | TotalFunction
                        | PartialInjection
                        | TotalInjection
                        | PartialSurjection
                        | TotalSurjection
                        | PartialBijection
                        | TotalBijection
                );
                let injective =
                    matches!(op, PartialInjection | TotalInjection | PartialBijection | TotalBijection);
                RelationFacts { function, injective, images: function.then(|| Box::new(self.members(to))) }
            }
            ExprKind::Builtin(Builtin::Seq, _) => {
                RelationFacts { function: true, ..RelationFacts::default() }
            }
            _ => RelationFacts::default(),
        }
    }

    /// What is known about the value of an expression.
    fn shape(&self, e: &Expr) -> Option<RelationFacts> {
        let function = |yes: bool| yes.then(|| RelationFacts { function: true, ..RelationFacts::default() });
        let is = |e: &Expr| self.shape(e).is_some_and(|s| s.function);
        match &e.kind {
            ExprKind::Ident(name) | ExprKind::Primed(name) => self.names.get(name).cloned(),
            ExprKind::Const(c) => function(matches!(
                c,
                Const::Succ | Const::Pred | Const::Id | Const::Prj1 | Const::Prj2 | Const::EmptySet
            )),
            ExprKind::Big(BigOp::Lambda, ..) => function(true),
            ExprKind::SetExt(items) => function(items.len() < 2),
            ExprKind::Inverse(r) => {
                let shape = self.shape(r)?;
                Some(RelationFacts { function: shape.injective, injective: shape.function, images: None })
            }
            ExprKind::Apply(f, _) => self.shape(f)?.images.map(|s| *s),
            ExprKind::Binary(op, a, b) => match op {
                BinOp::Override
                | BinOp::Compose
                | BinOp::ComposeBack
                | BinOp::ParallelProduct
                | BinOp::DirectProduct => function(is(a) && is(b)),
                BinOp::DomRestrict | BinOp::DomSubtract => self.shape(b),
                BinOp::RanRestrict | BinOp::RanSubtract | BinOp::SetMinus | BinOp::OfType => self.shape(a),
                BinOp::Inter => function(is(a) || is(b)),
                BinOp::Cartesian => function(matches!(&b.kind, ExprKind::SetExt(items) if items.len() == 1)),
                _ => None,
            },
            _ => None,
        }
    }

    fn ask(&mut self, e: &mut Expr) {
        for part in parts(e) {
            self.ask(part);
        }
        match &mut e.kind {
            ExprKind::Apply(f, _) => {
                let call = matches!(&f.kind, ExprKind::Ident(name) if self.operators.contains(name));
                if !call && !self.shape(f).is_some_and(|s| s.function) {
                    self.question(f, AS_FUNCTION);
                }
            }
            ExprKind::Binary(BinOp::Power, base, _) => {
                let natural = matches!(&base.kind, ExprKind::Int(n) if *n >= Int::ZERO);
                if !natural {
                    self.question(base, AS_NATURAL);
                }
            }
            _ => {}
        }
    }

    fn question(&mut self, e: &mut Expr, name: &'static str) {
        self.asked.insert(name);
        let span = e.span;
        let inner = std::mem::replace(e, node(ExprKind::Const(Const::EmptySet), span));
        *e = node(ExprKind::Apply(Box::new(ident(&name.into(), span)), vec![inner]), span);
    }
}

/// The external function and its type: the same type goes in and comes out.
fn declaration(name: &'static str) -> Vec<DefItem> {
    let span = Span::default();
    let type_name: Name = "T".into();
    let (params, set) = match name {
        AS_NATURAL => (Vec::new(), node(ExprKind::Const(Const::Integer), span)),
        _ => {
            let set = node(ExprKind::Builtin(Builtin::Pow, vec![ident(&type_name, span)]), span);
            (vec![Ident { name: type_name, span }], set)
        }
    };
    let define = |name: Name, params: Vec<Ident>, body: Expr| {
        DefItem::Def(Definition { name: Ident { name, span }, params, body: DefBody::Expr(body) })
    };
    let argument: Name = "value·".into();
    vec![
        define(
            format!("EXTERNAL_FUNCTION_{name}").into(),
            params,
            binary(BinOp::TotalFunction, set.clone(), set),
        ),
        define(name.into(), vec![Ident { name: argument.clone(), span }], ident(&argument, span)),
    ]
}
