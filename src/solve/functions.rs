//! Unknown functions: built row by row, and cut as soon as the rows so far refute a conjunct.
//!
//! In: a variable that is member of a set of functions, and the conjuncts about it. Out: the functions
//! that are worth testing, each once. Where the images come from an infinite set, equations and
//! memberships must give the candidates of every row.

use crate::Interpreter;
use crate::enumerate::{FunctionSpace, Hooks};
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::solve::binder::applications;
use crate::solve::order::{Item, Sink};
use crate::solve::plan::Conjunct;
use crate::solve::summands::Sums;
use bombus_lang::free;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use bombus_lang::walk::{Visit, visit_expr};
use std::sync::Arc;

impl Interpreter<'_> {
    /// The functions of a set of functions, if its points can be listed.
    pub(crate) fn function_space(&self, env: &mut Env, set: &Value) -> Res<Option<FunctionSpace>> {
        let Value::Symbolic(s) = set else { return Ok(None) };
        Ok(match &**s {
            Symbolic::Binary(arrow, a, b) => match (self.list(env, a)?, self.list(env, b)?) {
                // What must be covered has to be listed.
                (Some(_), None)
                    if matches!(
                        arrow,
                        BinOp::PartialSurjection
                            | BinOp::TotalSurjection
                            | BinOp::PartialBijection
                            | BinOp::TotalBijection
                    ) =>
                {
                    None
                }
                (Some(a), b) => FunctionSpace::of_arrow(*arrow, &a, b.as_ref()),
                _ => None,
            },
            Symbolic::Unary(UnOp::Perm, a) => match self.list(env, a)? {
                Some(elems) => {
                    let places: Vec<Value> = (1..=elems.len()).map(|i| Value::int(i as i64)).collect();
                    FunctionSpace::of_arrow(BinOp::TotalBijection, &places, Some(&elems))
                }
                None => None,
            },
            _ => None,
        })
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn bind_function(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        mut open: Vec<Item>,
        at: usize,
        var: VarId,
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let item = open.remove(at);
        let Some(set) = &item.set else { return Ok(Flow::Go) };
        let Some(mut space) = self.function_space(env, set)? else { return Ok(Flow::Go) };
        let lenient = !space.total && self.is_chosen(var);
        if lenient {
            be_lenient(&mut open, var);
        }
        let listed = !space.is_open();
        self.narrow(env, unknown, &open, var, &mut space)?;
        // Conjuncts about this function are tested on the rows built so far.
        // One that speaks of other unknowns as well is seldom false yet.
        let alone: Vec<Arc<Conjunct>> = open
            .iter()
            .map(|i| &i.conjunct)
            .filter(|c| c.free.contains(&var) && c.free.iter().all(|v| *v == var || !unknown.contains(v)))
            .filter(|c| !c.derived)
            .cloned()
            .collect();
        let about = alone.iter().filter(|c| prunable(&c.pred)).cloned().collect();
        let range = match set {
            Value::Symbolic(s) => match &**s {
                Symbolic::Binary(_, _, b) => b.clone(),
                _ => Value::empty(),
            },
            _ => Value::empty(),
        };
        // Candidates that conjuncts gave need not lie in the set of images.
        if !listed {
            for (_, images) in &mut space.rows {
                let Some(list) = images else { continue };
                let mut inside = Vec::with_capacity(list.len());
                for y in list.iter() {
                    if self.member(env, y, &range)? {
                        inside.push(y.clone());
                    }
                }
                *images = Some(inside.into());
            }
        }
        let points: Vec<Value> = space.rows.iter().map(|(x, _)| x.clone()).collect();
        let sums = self.sums_about(env, &alone, (var, &range), &points, space.total)?;
        let mut rows = Rows { interpreter: self, about, alone, sums, var, range, partial: lenient };
        self.each_function(env, &space, Some(var), &mut rows, &mut |env, f| {
            self.bound(env, unknown, &open, pending.clone(), var, f, sink)
        })
    }

    /// The images that the conjuncts leave for one point of an unknown function, if some equation or
    /// membership tells.
    pub(crate) fn row_candidates(
        &self,
        env: &mut Env,
        pred: &Pred,
        var: VarId,
        point: &Value,
    ) -> Res<Option<Arc<[Value]>>> {
        match &pred.kind {
            PredKind::And(ps) => {
                for p in ps {
                    if let Some(found) = self.row_candidates(env, p, var, point)? {
                        return Ok(Some(found));
                    }
                }
                Ok(None)
            }
            PredKind::Label(_, p) => self.row_candidates(env, p, var, point),
            PredKind::Rel(RelOp::Equal, a, b) => {
                for (x, y) in [(a, b), (b, a)] {
                    if self.is_row(env, x, var, point)?
                        && let Some(v) = settled(self.eval_canon(env, y))?
                    {
                        return Ok(Some(Arc::from([v])));
                    }
                }
                Ok(None)
            }
            PredKind::Rel(RelOp::In, a, set) if self.is_row(env, a, var, point)? => {
                match settled(self.eval(env, set))? {
                    Some(set) => self.list(env, &set),
                    None => Ok(None),
                }
            }
            PredKind::Implies(a, b) if self.is_in_domain(env, a, var, point)? => {
                self.row_candidates(env, b, var, point)
            }
            PredKind::Implies(a, b) => match settled(self.holds(env, a))? {
                Some(true) => self.row_candidates(env, b, var, point),
                _ => Ok(None),
            },
            PredKind::Forall(vars, body) => {
                let plan = self.forall_plan(vars, body);
                let mut shapes = Vec::new();
                row_patterns(&plan.conclusion, var, &mut shapes);
                for arg in shapes {
                    let saved = env.take(&plan.hypotheses.vars);
                    let (mut bound, mut exact) = (Vec::new(), true);
                    let matched = self.match_pattern(env, vars, arg, point, &mut bound, &mut exact);
                    let mut found = Ok(None);
                    if let Ok(true) = matched
                        && vars.iter().all(|v| env.is_bound(*v))
                    {
                        let mut applies = true;
                        for c in plan.hypotheses.conjuncts.iter().filter(|c| !c.derived) {
                            // An image is asked for where the function has one.
                            if self.is_in_domain(env, &c.pred, var, point)? {
                                continue;
                            }
                            match settled(self.holds(env, &c.pred)) {
                                Ok(Some(true)) => {}
                                Ok(_) => applies = false,
                                Err(e) => found = Err(e),
                            }
                        }
                        if applies && found.is_ok() {
                            found = self.row_candidates(env, &plan.conclusion, var, point);
                        }
                    }
                    env.restore(saved);
                    if let Some(images) = found? {
                        return Ok(Some(images));
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Whether an expression is the function `var` applied to `point`.
    fn is_row(&self, env: &mut Env, e: &Expr, var: VarId, point: &Value) -> Res<bool> {
        match &e.kind {
            ExprKind::Apply(f, arg) if matches!(f.kind, ExprKind::Var(v) if v == var) => {
                Ok(settled(self.eval_canon(env, arg))?.is_some_and(|x| x == *point))
            }
            _ => Ok(false),
        }
    }

    /// Whether a predicate says that `point` is in the domain of the function `var`.
    fn is_in_domain(&self, env: &mut Env, p: &Pred, var: VarId, point: &Value) -> Res<bool> {
        match &p.kind {
            PredKind::Label(_, q) => self.is_in_domain(env, q, var, point),
            PredKind::Rel(RelOp::In, x, domain) => match &domain.kind {
                ExprKind::Unary(UnOp::Dom, f) if matches!(f.kind, ExprKind::Var(v) if v == var) => {
                    Ok(settled(self.eval_canon(env, x))?.is_some_and(|x| x == *point))
                }
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// What equations say about single rows, and about the domain, of a function to be built.
    fn narrow(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
        space: &mut FunctionSpace,
    ) -> Res<()> {
        for item in open {
            let PredKind::Rel(op @ (RelOp::Equal | RelOp::Subset), a, b) = &item.conjunct.pred.kind else {
                continue;
            };
            if let ExprKind::Unary(UnOp::Ran, f) = &a.kind
                && matches!(f.kind, ExprKind::Var(v) if v == var)
                && !self.has_unknown(unknown, b)
                && let Ok(range) = self.eval(env, b)
                && let Some(range) = self.list(env, &range)?
            {
                for (_, images) in &mut space.rows {
                    *images = Some(match images {
                        Some(list) => {
                            list.iter().filter(|i| range.binary_search(i).is_ok()).cloned().collect()
                        }
                        None => range.clone(),
                    });
                }
                if *op == RelOp::Equal && space.onto.is_none() {
                    space.onto = Some(range);
                }
            }
            // `f[S] <: T`: what S has goes into T.
            if let ExprKind::Binary(BinOp::Image, f, points) = &a.kind
                && matches!(f.kind, ExprKind::Var(v) if v == var)
                && !self.has_unknown(unknown, points)
                && !self.has_unknown(unknown, b)
                && let (Ok(points), Ok(images)) = (self.eval_lazy(env, points), self.eval(env, b))
                && let Some(images) = self.list(env, &images)?
            {
                for (x, list) in &mut space.rows {
                    if settled(self.member(env, x, &points))? != Some(true) {
                        continue;
                    }
                    *list = Some(match list {
                        Some(list) => {
                            list.iter().filter(|i| images.binary_search(i).is_ok()).cloned().collect()
                        }
                        None => images.clone(),
                    });
                }
            }
            if *op == RelOp::Subset {
                continue;
            }
            for (x, y) in [(a, b), (b, a)] {
                if self.has_unknown(unknown, y) {
                    continue;
                }
                match &x.kind {
                    ExprKind::Apply(f, arg)
                        if matches!(f.kind, ExprKind::Var(v) if v == var)
                            && !self.has_unknown(unknown, arg) =>
                    {
                        if let (Ok(point), Ok(image)) = (self.eval_canon(env, arg), self.eval_canon(env, y)) {
                            for (p, images) in &mut space.rows {
                                if *p != point {
                                    continue;
                                }
                                *images = Some(match images {
                                    Some(list) => list.iter().filter(|i| **i == image).cloned().collect(),
                                    None => Arc::from([image.clone()]),
                                });
                            }
                        }
                    }
                    ExprKind::Unary(UnOp::Dom, f) if matches!(f.kind, ExprKind::Var(v) if v == var) => {
                        if let Ok(domain) = self.eval(env, y)
                            && let Some(domain) = self.list(env, &domain)?
                        {
                            let before = space.rows.len();
                            space.rows.retain(|(p, _)| domain.binary_search(p).is_ok());
                            // A total function with another domain does not exist; a domain with
                            // foreign points is refuted by the equation itself.
                            if !space.total || space.rows.len() == before {
                                space.total = true;
                            } else {
                                space.rows.clear();
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Conjuncts that apply something and speak of a partial function are lenient: a valuation of the
/// constants that leaves one without a value is not wanted. Of other choices that is a finding.
pub(crate) fn be_lenient(open: &mut [Item], var: VarId) {
    for item in open.iter_mut().filter(|i| i.conjunct.free.contains(&var)) {
        item.lenient |= !item.conjunct.derived && prunable(&item.conjunct.pred);
    }
}

/// What the search for a function knows: the conjuncts about it and the set of its images.
struct Rows<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    about: Vec<Arc<Conjunct>>,
    /// All conjuncts about nothing else that is unknown.
    alone: Vec<Arc<Conjunct>>,
    /// Sums and products of images that are known.
    sums: Sums,
    var: VarId,
    range: Value,
    /// A constant's points may be left out; a conjunct that applies it there cannot be true any more,
    /// unless something that is not known yet guards the application.
    partial: bool,
}

impl Rows<'_, '_> {
    /// That the function has images in an infinite set, with the conjunct that says so.
    fn unbounded_images(&self) -> Error {
        let name = self.interpreter.machine.vars.get(self.var.0 as usize).map_or("a function", |d| &*d.name);
        let own = self.alone.iter().chain(&self.about).find(|c| !c.derived);
        let span = own.map(|c| c.pred.span).unwrap_or_default();
        Error::unbounded(span, format!("nothing bounds the images of {name}, which lie in an infinite set"))
    }

    /// The images of a point that nothing bounds, cut to the scope if the user wants it.
    fn images_in_scope(&self, env: &mut Env, point: &Value) -> Res<Option<Arc<[Value]>>> {
        let interpreter = self.interpreter;
        let Type::Pow(pair) = interpreter.type_of(self.var) else { return Ok(None) };
        let Type::Prod(_, ty) = &*pair else { return Ok(None) };
        if !interpreter.is_cut(env, self.var) {
            return Ok(None);
        }
        interpreter.windowed.set(true);
        let before = std::mem::replace(&mut env.searching, true);
        let found = interpreter.row_in_scope(env, &self.alone, self.var, point, &self.range);
        env.searching = before;
        if let Some(images) = found? {
            return Ok(Some(images));
        }
        match interpreter.part_in_scope(env, &self.range, ty)? {
            Some(part) => interpreter.list(env, &part),
            None => Ok(None),
        }
    }
}

impl Hooks for Rows<'_, '_> {
    fn check(&mut self, env: &mut Env) -> Res<bool> {
        for c in &self.about {
            if self.interpreter.refuted(env, &c.pred, self.partial && unguarded(&c.pred, self.var))? {
                return Ok(false);
            }
        }
        Ok(self.interpreter.sums_fit(env, &self.sums))
    }

    fn ends_of_row(&mut self, env: &Env, point: &Value, images: &[Value]) -> (usize, usize) {
        self.sums.ends(env, point, images)
    }

    fn open_row(&mut self, env: &mut Env, point: &Value) -> Res<Arc<[Value]>> {
        let before = std::mem::replace(&mut env.searching, true);
        let mut found = Ok(None);
        for c in &self.about {
            found = self.interpreter.row_candidates(env, &c.pred, self.var, point);
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        if let Ok(None) = found {
            found = self.interpreter.row_solutions(env, &self.alone, self.var, point, &self.range);
        }
        env.searching = before;
        let mut found = found?;
        if found.is_none() {
            found = self.interpreter.summand(env, &self.sums, point)?;
        }
        if found.is_none() {
            found = self.images_in_scope(env, point)?;
        }
        let Some(images) = found else {
            return Err(self.unbounded_images());
        };
        let mut inside = Vec::with_capacity(images.len());
        for y in images.iter() {
            if self.interpreter.member(env, y, &self.range)? {
                inside.push(y.clone());
            }
        }
        Ok(inside.into())
    }
}

/// A value that is settled already; a stop stays an error.
pub(crate) fn settled<T>(r: Res<T>) -> Res<Option<T>> {
    match r {
        Ok(v) => Ok(Some(v)),
        Err(e) if e.is_stop() => Err(e),
        Err(_) => Ok(None),
    }
}

/// Whether a conjunct has an equation or membership of the function `var` at some point.
pub(crate) fn tells_rows(p: &Pred, var: VarId) -> bool {
    let mut patterns = Vec::new();
    match &p.kind {
        PredKind::Forall(_, body) => row_patterns(body, var, &mut patterns),
        _ => row_patterns(p, var, &mut patterns),
    }
    !patterns.is_empty()
}

/// The arguments that the function `var` is applied to on one side of an equation or membership.
fn row_patterns<'p>(p: &'p Pred, var: VarId, out: &mut Vec<&'p Expr>) {
    let mut side = |e: &'p Expr| {
        if let ExprKind::Apply(f, arg) = &e.kind
            && matches!(f.kind, ExprKind::Var(v) if v == var)
        {
            out.push(arg);
        }
    };
    match &p.kind {
        PredKind::Rel(RelOp::Equal, a, b) => {
            side(a);
            side(b);
        }
        PredKind::Rel(RelOp::In, a, _) => side(a),
        PredKind::And(ps) => ps.iter().for_each(|q| row_patterns(q, var, out)),
        PredKind::Label(_, q) | PredKind::Implies(_, q) => row_patterns(q, var, out),
        _ => {}
    }
}

/// Whether a conjunct may be false on some rows of a function alone: it applies something.
pub(crate) fn prunable(p: &Pred) -> bool {
    match &p.kind {
        PredKind::Rel(_, a, b) => has_application(a) || has_application(b),
        PredKind::And(ps) | PredKind::Or(ps) => ps.iter().any(prunable),
        PredKind::Not(q) | PredKind::Label(_, q) => prunable(q),
        PredKind::Implies(a, b) | PredKind::Iff(a, b) => prunable(a) || prunable(b),
        PredKind::Forall(_, q) => prunable(q),
        _ => false,
    }
}

/// Whether every application in a conjunct is needed for its truth. In `x : dom(f) => f(x) = y`, say,
/// the hypothesis may turn out false, so an undefined `f(x)` refutes nothing.
fn unguarded(p: &Pred, var: VarId) -> bool {
    match &p.kind {
        PredKind::Rel(_, a, b) => strict(a) && strict(b),
        PredKind::And(ps) => ps.iter().all(|q| unguarded(q, var)),
        PredKind::Label(_, q) => unguarded(q, var),
        // Hypotheses that do not speak of the function guard nothing of it.
        PredKind::Forall(_, body) => {
            let mut body = &**body;
            loop {
                match &body.kind {
                    PredKind::Label(_, q) => body = q,
                    PredKind::Implies(a, b) if !free::of_pred(a).contains(&var) => body = b,
                    _ => return unguarded(body, var),
                }
            }
        }
        _ => false,
    }
}

/// Whether an expression is evaluated as a whole: no predicate inside decides about its parts.
fn strict(e: &Expr) -> bool {
    struct Guards(bool);
    impl Visit for Guards {
        fn expr(&mut self, e: &Expr) {
            self.0 |= matches!(
                e.kind,
                ExprKind::BoolOf(_) | ExprKind::Compr(..) | ExprKind::Big(..) | ExprKind::If(..)
            );
        }
    }
    let mut guards = Guards(false);
    visit_expr(e, &mut guards);
    !guards.0
}

fn has_application(e: &Expr) -> bool {
    let mut found = Vec::new();
    applications(e, &mut found);
    !found.is_empty()
}
