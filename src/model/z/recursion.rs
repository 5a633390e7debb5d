//! Functions that axioms define case by case, also in terms of themselves.
//!
//! In: the conjuncts about constants. Out: the same, except that the equations of a total function `f` that cover each
//! argument exactly once (`f~0 = a` and `\forall n : \nat @ f(n+1) = b`, one equation for each constructor of a free
//! type, one for `\langle\rangle` and one for `\langle x \rangle \cat s`) are one equation
//! `f = (\lambda k : A @ \IF … \THEN … \ELSE …)`, from which values are computed when they are needed. That `f` leads into its
//! range is dropped where every case shows it, given that the calls in it do; else it stays.

use super::copy::{Copy, Replacement};
use super::elaborate::{conjunction, node, number, relation, unary};
use super::functions::factors;
use super::steps::plain;
use super::types::element;
use bombus_base::{Int, Name, Span};
use bombus_lang::typed::{
    BigOp, BinOp, Expr, ExprKind, FreeId, Freetype, Pred, PredKind, RelOp, SetDecl, SetId, Type, UnOp,
    VarDecl, VarId, VarKind,
};

/// What the equations are read with.
pub(super) struct Axioms<'a> {
    pub constants: &'a [VarId],
    pub vars: &'a mut Vec<VarDecl>,
    pub freetypes: &'a [Freetype],
    pub sets: &'a [SetDecl],
}

/// One equation `f~pattern = value`.
struct Case {
    /// The place of its conjunct.
    at: usize,
    /// Pattern variables and what they range over.
    typing: Vec<(VarId, Expr)>,
    /// Conditions on pattern variables beyond that.
    conditions: Vec<Pred>,
    arguments: Vec<Expr>,
    value: Expr,
}

/// What a pattern says of the argument `k`.
struct Met {
    /// When it fits.
    when: Pred,
    with: Replacement,
}

impl Axioms<'_> {
    pub fn equations(&mut self, mut all: Vec<Pred>) -> Vec<Pred> {
        let (said, constants) = (all.clone(), self.constants);
        for f in constants.iter().copied() {
            let Some(total) = all.iter().position(|p| total_function(p, f).is_some()) else { continue };
            let Some((domain, range)) = total_function(&all[total], f) else { continue };
            let (domain, range) = (domain.clone(), range.clone());
            let cases: Vec<Case> = all.iter().enumerate().filter_map(|(i, p)| case(p, i, f)).collect();
            let Some(definition) = self.definition(f, &domain, &cases) else { continue };
            let closed = cases.iter().all(|c| leads_into(&c.value, &range, c, &said, self.freetypes));
            let finite = matches!(domain.ty, Type::Pow(ref t) if super::types::is_finite(t));
            let mut gone: Vec<usize> = cases.iter().map(|c| c.at).collect();
            if closed && !finite {
                gone.push(total);
            }
            let first = gone.iter().copied().min().unwrap_or(total);
            all[first] = definition;
            let mut i = 0;
            all.retain(|_| {
                i += 1;
                i - 1 == first || !gone.contains(&(i - 1))
            });
        }
        all
    }

    /// `f = (\lambda k : A @ …)`, if the cases cover all of A, each argument once.
    fn definition(&mut self, f: VarId, domain: &Expr, cases: &[Case]) -> Option<Pred> {
        let count = cases.first()?.arguments.len();
        let span = cases[0].value.span;
        let mut sets = Vec::new();
        factors(domain, count, &mut sets);
        if sets.len() != count || cases.iter().any(|c| c.arguments.len() != count) {
            return None;
        }
        // The argument that the cases tell apart; all others are variables over their whole set.
        let whole = |c: &Case, i: usize| match c.arguments[i].kind {
            ExprKind::Var(v) => c.ranges_over(v, sets[i]),
            _ => false,
        };
        let told: Vec<usize> = (0..count).filter(|i| cases.iter().any(|c| !whole(c, *i))).collect();
        let told = match (&told[..], cases) {
            ([told], _) => Some(*told),
            ([], [only]) if only.conditions.is_empty() => None,
            _ => return None,
        };
        let keys: Vec<VarId> = sets.iter().map(|set| self.key(set, span)).collect();
        let key = |i: usize| {
            let ty = element(&sets[i].ty).map_or(Type::Any, |t| (*t).clone());
            node(ExprKind::Var(keys[i]), ty, span)
        };
        let mut met = Vec::new();
        for c in cases {
            let always = || Met { when: Pred { kind: PredKind::True, span }, with: Replacement::new() };
            met.push((c, told.map_or_else(|| Some(always()), |i| self.met(c, i, &key(i)))?));
        }
        if told.is_some_and(|i| !self.covered(cases, i, sets[i])) {
            return None;
        }
        // A pattern that fits whatever the others leave comes last.
        met.sort_by_key(|(_, met)| met.when.kind == PredKind::True);
        let mut body: Option<Expr> = None;
        for (c, Met { when, mut with }) in met.into_iter().rev() {
            for i in (0..count).filter(|i| Some(*i) != told) {
                if let ExprKind::Var(v) = c.arguments[i].kind {
                    with.insert(v, key(i));
                }
            }
            let value = Copy::new(self.vars, with).expr(&c.value);
            body = Some(match body {
                None => value,
                Some(rest) => {
                    let ty = value.ty.clone();
                    node(ExprKind::If(Box::new(when), Box::new(value), Box::new(rest)), ty, span)
                }
            });
        }
        let inside = (0..count).map(|i| relation(RelOp::In, key(i), sets[i].clone())).collect();
        let inside = Box::new(conjunction(inside, span));
        let ty = self.vars[f.0 as usize].ty.clone();
        let lambda = ExprKind::Big(BigOp::Lambda, keys.clone(), inside, Box::new(body?));
        let function = node(ExprKind::Var(f), ty.clone(), span);
        Some(relation(RelOp::Equal, function, node(lambda, ty, span)))
    }

    /// A new variable for elements of a set.
    fn key(&mut self, set: &Expr, span: Span) -> VarId {
        let ty = element(&set.ty).map_or(Type::Any, |t| (*t).clone());
        let name = Name::from(format!("argument{}", self.vars.len()).as_str());
        self.vars.push(VarDecl { name, ty, kind: VarKind::Local, span });
        VarId(self.vars.len() as u32 - 1)
    }

    /// When the pattern of a case fits `k`, and what its variables are then.
    fn met(&self, c: &Case, told: usize, k: &Expr) -> Option<Met> {
        let pattern = &c.arguments[told];
        let span = pattern.span;
        let is = |e: &Expr| relation(RelOp::Equal, k.clone(), e.clone());
        let bare = |when: Pred| Some(Met { when, with: Replacement::new() });
        match &pattern.kind {
            ExprKind::Int(_) | ExprKind::Elem(..) | ExprKind::Construct(_, _, None) => bare(is(pattern)),
            ExprKind::SeqExt(items) | ExprKind::SetExt(items) if items.is_empty() => bare(is(pattern)),
            ExprKind::Construct(id, n, Some(argument)) => {
                let inner = argument.ty.clone();
                let maker =
                    node(ExprKind::Constructor(*id, *n), Type::rel(inner.clone(), Type::Free(*id)), span);
                let when =
                    relation(RelOp::In, k.clone(), unary(UnOp::Ran, maker, Type::pow(Type::Free(*id))));
                let back =
                    node(ExprKind::Destructor(*id, *n), Type::rel(Type::Free(*id), inner.clone()), span);
                let content = ExprKind::Apply(Box::new(back), Box::new(k.clone()));
                let mut with = Replacement::new();
                taken_apart(argument, node(content, inner, span), &mut with)?;
                Some(Met { when, with })
            }
            ExprKind::Binary(BinOp::Concat, a, b) => {
                let (one, rest, first, others) = match (&a.kind, &b.kind) {
                    (ExprKind::SeqExt(one), ExprKind::Var(rest)) => (one, *rest, UnOp::First, UnOp::Tail),
                    (ExprKind::Var(rest), ExprKind::SeqExt(one)) => (one, *rest, UnOp::Last, UnOp::Front),
                    _ => return None,
                };
                let [Expr { kind: ExprKind::Var(x), ty, .. }] = &one[..] else { return None };
                let with = Replacement::from([
                    (*x, unary(first, k.clone(), ty.clone())),
                    (rest, unary(others, k.clone(), k.ty.clone())),
                ]);
                let empty = node(ExprKind::SetExt(Vec::new()), k.ty.clone(), span);
                Some(Met { when: relation(RelOp::NotEqual, k.clone(), empty), with })
            }
            // A step of a number: what is left after the cases of single numbers.
            ExprKind::Var(n) => {
                let with = Replacement::from([(*n, k.clone())]);
                Some(Met { when: Pred { kind: PredKind::True, span }, with })
            }
            ExprKind::Binary(BinOp::Add, a, b) => {
                let (ExprKind::Var(n), ExprKind::Int(step)) = (&a.kind, &b.kind) else { return None };
                let less = ExprKind::Binary(
                    BinOp::Sub,
                    Box::new(k.clone()),
                    Box::new(node(ExprKind::Int(step.clone()), Type::Integer, span)),
                );
                let with = Replacement::from([(*n, node(less, Type::Integer, span))]);
                let when = relation(RelOp::GreaterEqual, k.clone(), number(step.small()?, span));
                Some(Met { when, with })
            }
            _ => None,
        }
    }

    /// Whether the patterns at one place cover a set, each element once.
    fn covered(&self, cases: &[Case], told: usize, set: &Expr) -> bool {
        match &set.kind {
            ExprKind::Natural => numbers_covered(cases, told),
            ExprKind::TypeSet(Type::Free(id)) => self.constructors_covered(cases, told, *id),
            ExprKind::TypeSet(Type::Set(id)) => self.elements_covered(cases, told, *id),
            ExprKind::Unary(UnOp::Seq, of) => sequences_covered(cases, told, set, of),
            _ => false,
        }
    }

    fn constructors_covered(&self, cases: &[Case], told: usize, id: FreeId) -> bool {
        let free = &self.freetypes[id.0 as usize];
        let mut seen = vec![false; free.constructors.len()];
        for c in cases {
            let ExprKind::Construct(of, n, argument) = &c.arguments[told].kind else { return false };
            if *of != id || std::mem::replace(&mut seen[*n as usize], true) || !c.conditions.is_empty() {
                return false;
            }
            let Some(argument) = argument else { continue };
            let Some(domain) = &free.domains[*n as usize] else { return false };
            let parts = variables(argument);
            let mut sets = Vec::new();
            factors(domain, parts.as_ref().map_or(0, Vec::len), &mut sets);
            let fits = parts.is_some_and(|parts| {
                parts.len() == sets.len() && parts.iter().zip(&sets).all(|(v, set)| c.ranges_over(*v, set))
            });
            if !fits {
                return false;
            }
        }
        seen.into_iter().all(|seen| seen)
    }

    fn elements_covered(&self, cases: &[Case], told: usize, id: SetId) -> bool {
        let mut seen = vec![false; self.sets[id.0 as usize].elems.len()];
        for c in cases {
            let ExprKind::Elem(of, n) = c.arguments[told].kind else { return false };
            if of != id || !c.conditions.is_empty() || std::mem::replace(&mut seen[n as usize], true) {
                return false;
            }
        }
        !seen.is_empty() && seen.into_iter().all(|seen| seen)
    }
}

impl Case {
    /// Whether a pattern variable ranges over a set.
    fn ranges_over(&self, v: VarId, set: &Expr) -> bool {
        self.typing.iter().any(|(w, over)| *w == v && same(over, set))
    }
}

/// Single numbers from 0 on, and one step from the next.
fn numbers_covered(cases: &[Case], told: usize) -> bool {
    let single = cases.len() as i64 - 1;
    let mut seen = vec![false; single as usize];
    let mut steps = 0;
    for c in cases {
        match &c.arguments[told].kind {
            ExprKind::Int(n) => match n.small().filter(|n| (0..single).contains(n)) {
                Some(n) if c.conditions.is_empty() => seen[n as usize] = true,
                _ => return false,
            },
            ExprKind::Binary(BinOp::Add, a, b) => {
                let (ExprKind::Var(n), ExprKind::Int(step)) = (&a.kind, &b.kind) else { return false };
                let natural = node(ExprKind::Natural, Type::pow(Type::Integer), Span::default());
                if step.small() != Some(single) || !c.ranges_over(*n, &natural) || !c.conditions.is_empty() {
                    return false;
                }
                steps += 1;
            }
            ExprKind::Var(n) => {
                if !begins_at(c, *n, single) {
                    return false;
                }
                steps += 1;
            }
            _ => return false,
        }
    }
    steps == 1 && seen.into_iter().all(|seen| seen)
}

/// Whether a pattern variable ranges over the numbers from `least` on.
fn begins_at(c: &Case, n: VarId, least: i64) -> bool {
    let over = |kind: ExprKind| c.ranges_over(n, &node(kind, Type::pow(Type::Integer), Span::default()));
    if c.conditions.is_empty() {
        return least == 1 && over(ExprKind::Natural1);
    }
    let [Pred { kind: PredKind::Rel(op, a, b), .. }] = &c.conditions[..] else { return false };
    let (ExprKind::Var(v), ExprKind::Int(bound)) = (&a.kind, &b.kind) else { return false };
    let from = match op {
        RelOp::Greater => bound.small().map(|n| n + 1),
        RelOp::GreaterEqual => bound.small(),
        _ => None,
    };
    *v == n && from == Some(least) && over(ExprKind::Natural)
}

fn sequences_covered(cases: &[Case], told: usize, set: &Expr, of: &Expr) -> bool {
    let (mut empty, mut steps) = (0, 0);
    for c in cases {
        match &c.arguments[told].kind {
            ExprKind::SeqExt(items) | ExprKind::SetExt(items) if items.is_empty() => empty += 1,
            ExprKind::Binary(BinOp::Concat, a, b) => {
                let (one, rest) = match (&a.kind, &b.kind) {
                    (ExprKind::SeqExt(one), ExprKind::Var(rest))
                    | (ExprKind::Var(rest), ExprKind::SeqExt(one)) => (one, *rest),
                    _ => return false,
                };
                let [Expr { kind: ExprKind::Var(x), .. }] = &one[..] else { return false };
                if !c.ranges_over(*x, of) || !c.ranges_over(rest, set) {
                    return false;
                }
                steps += 1;
            }
            _ => return false,
        }
        if !c.conditions.is_empty() {
            return false;
        }
    }
    (empty, steps) == (1, 1)
}

fn same(a: &Expr, b: &Expr) -> bool {
    let place = |e: &Expr| plain(&relation(RelOp::Equal, e.clone(), e.clone()));
    place(a) == place(b)
}

/// The variables of a tuple of variables.
fn variables(e: &Expr) -> Option<Vec<VarId>> {
    match &e.kind {
        ExprKind::Var(v) => Some(vec![*v]),
        ExprKind::Pair(a, b) => {
            let mut all = variables(a)?;
            let ExprKind::Var(last) = b.kind else { return None };
            all.push(last);
            Some(all)
        }
        _ => None,
    }
}

/// The variables of a tuple as parts of a value.
fn taken_apart(pattern: &Expr, value: Expr, with: &mut Replacement) -> Option<()> {
    match &pattern.kind {
        ExprKind::Var(v) => {
            with.insert(*v, value);
            Some(())
        }
        ExprKind::Pair(a, b) => {
            taken_apart(a, unary(UnOp::First2, value.clone(), a.ty.clone()), with)?;
            taken_apart(b, unary(UnOp::Second2, value, b.ty.clone()), with)
        }
        _ => None,
    }
}

/// Domain and range, if a conjunct says that `f` is a total function.
fn total_function(p: &Pred, f: VarId) -> Option<(&Expr, &Expr)> {
    let PredKind::Rel(RelOp::In, member, set) = &p.kind else { return None };
    let ExprKind::Binary(BinOp::TotalFunction, domain, range) = &set.kind else { return None };
    matches!(member.kind, ExprKind::Var(v) if v == f).then_some((domain, range))
}

/// A conjunct as an equation of `f`.
fn case(p: &Pred, at: usize, f: VarId) -> Option<Case> {
    let (mut typing, mut conditions) = (Vec::new(), Vec::new());
    let holds = match &p.kind {
        PredKind::Forall(vars, body) => {
            let PredKind::Implies(given, holds) = &body.kind else { return None };
            let given = match &given.kind {
                PredKind::And(parts) => parts.iter().collect(),
                _ => vec![&**given],
            };
            for part in given {
                match &part.kind {
                    PredKind::Rel(RelOp::In, Expr { kind: ExprKind::Var(v), .. }, set)
                        if vars.contains(v) =>
                    {
                        typing.push((*v, set.clone()));
                    }
                    _ => conditions.push(part.clone()),
                }
            }
            holds
        }
        _ => p,
    };
    let PredKind::Rel(RelOp::Equal, call, value) = &holds.kind else { return None };
    let ExprKind::Apply(function, argument) = &call.kind else { return None };
    if !matches!(function.kind, ExprKind::Var(v) if v == f) {
        return None;
    }
    let mut arguments = Vec::new();
    spread(argument, &mut arguments);
    Some(Case { at, typing, conditions, arguments, value: value.clone() })
}

/// The components of a left-nested tuple.
fn spread(e: &Expr, out: &mut Vec<Expr>) {
    match &e.kind {
        ExprKind::Pair(a, b) => {
            spread(a, out);
            out.push((**b).clone());
        }
        _ => out.push(e.clone()),
    }
}

/// Whether a value is in a set if pattern variables and calls of functions are where they are said to be.
fn leads_into(e: &Expr, set: &Expr, c: &Case, all: &[Pred], free: &[Freetype]) -> bool {
    let into = |e: &Expr, set: &Expr| leads_into(e, set, c, all, free);
    let one = |kind: ExprKind| node(kind, Type::pow(Type::Integer), Span::default());
    match &e.kind {
        ExprKind::Var(v) if c.ranges_over(*v, set) => return true,
        ExprKind::Apply(g, _) => {
            let ExprKind::Var(g) = g.kind else { return false };
            return all.iter().any(|p| total_function(p, g).is_some_and(|(_, range)| same(range, set)));
        }
        ExprKind::If(_, a, b) => return into(a, set) && into(b, set),
        _ => {}
    }
    match (&set.kind, &e.kind) {
        (ExprKind::TypeSet(Type::Free(id)), ExprKind::Construct(of, n, argument)) if id == of => {
            let Some(argument) = argument else { return true };
            let mut parts = Vec::new();
            spread(argument, &mut parts);
            let mut sets = Vec::new();
            if let Some(domain) = &free[id.0 as usize].domains[*n as usize] {
                factors(domain, parts.len(), &mut sets);
            }
            sets.len() == parts.len() && parts.iter().zip(sets).all(|(part, set)| into(part, set))
        }
        (ExprKind::TypeSet(ty), _) => matches!(ty, Type::Integer | Type::Bool | Type::Set(_)),
        (ExprKind::Natural, ExprKind::Int(n)) => *n >= Int::ZERO,
        (ExprKind::Natural, ExprKind::Unary(UnOp::Card, _)) => true,
        (ExprKind::Natural, ExprKind::Binary(BinOp::Add | BinOp::Mul, a, b)) => into(a, set) && into(b, set),
        (ExprKind::Natural, ExprKind::Var(_)) => into(e, &one(ExprKind::Natural1)),
        (ExprKind::Natural1, ExprKind::Int(n)) => *n >= Int::ONE,
        (ExprKind::Natural1, ExprKind::Binary(BinOp::Add, a, b)) => {
            let natural = one(ExprKind::Natural);
            into(a, set) && into(b, &natural) || into(a, &natural) && into(b, set)
        }
        (ExprKind::Natural1, ExprKind::Binary(BinOp::Mul, a, b)) => into(a, set) && into(b, set),
        (ExprKind::Unary(UnOp::Seq, of), ExprKind::SeqExt(items)) => items.iter().all(|x| into(x, of)),
        (ExprKind::Unary(UnOp::Seq, _), ExprKind::Binary(BinOp::Concat, a, b)) => {
            into(a, set) && into(b, set)
        }
        (ExprKind::Unary(UnOp::Pow | UnOp::Fin, of), ExprKind::SetExt(items)) => {
            items.iter().all(|x| into(x, of))
        }
        (ExprKind::Unary(UnOp::Pow | UnOp::Fin, _), ExprKind::Binary(BinOp::Union, a, b)) => {
            into(a, set) && into(b, set)
        }
        _ => false,
    }
}
