//! One row of a function that is being built, from what the conjuncts say about it.
//!
//! In: the conjuncts about a function whose images come from an infinite set, and one of its points. Out: images
//! among which that of the point is, found by solving the conjuncts for it; none if they do not bound it.
//! A quantifier counts with those of its instances that speak of the point. A conjunct that needs a row not known
//! yet is left out: what is found is only ever too much, and the function as a whole is tested in the end.

use crate::env::Env;
use crate::error::{Flow, Res};
use crate::solve::functions::settled;
use crate::solve::plan::{Conjunct, ForallPlan, Plan};
use crate::{FORMULA_VARS, Interpreter};
use bombus_base::hash::HashMap;
use bombus_lang::free;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;
use bombus_lang::walk::{Change, Visit, change_pred, visit_pred};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Quantifiers with more instances than this are left out.
const INSTANCES: usize = 1 << 14;
/// More images than this are no help.
const IMAGES: usize = 1 << 16;
/// Where the variables of this search begin, behind those of formulas and of other searches.
const FIRST: usize = FORMULA_VARS + 1024;

/// What the search for one row is about.
struct Row<'a> {
    /// The function.
    var: VarId,
    point: &'a Value,
    /// What stands for the image.
    image: Expr,
}

impl Interpreter<'_> {
    /// A variable for a search of its own; `release` gives it back.
    fn row_var(&self, ty: Type) -> VarId {
        let mut types = self.cache.row_types.borrow_mut();
        types.push(ty);
        VarId((self.machine.vars.len() + FIRST + types.len() - 1) as u32)
    }

    /// The type of a variable of such a search.
    pub(crate) fn row_type(&self, v: VarId) -> Option<Type> {
        let at = (v.0 as usize).checked_sub(self.machine.vars.len() + FIRST)?;
        self.cache.row_types.borrow().get(at).cloned()
    }

    /// Images among which that of `point` is, or none if the conjuncts do not bound it.
    pub(crate) fn row_solutions(
        &self,
        env: &mut Env,
        conjuncts: &[Arc<Conjunct>],
        var: VarId,
        point: &Value,
        range: &Value,
    ) -> Res<Option<Arc<[Value]>>> {
        let exact = std::mem::replace(&mut env.exact, true);
        let found = self.row_images(env, conjuncts, var, point, range, false);
        env.exact = exact;
        found
    }

    /// The same where the image that nothing bounds is cut to the scope; none if the conjuncts do not speak of it.
    pub(crate) fn row_in_scope(
        &self,
        env: &mut Env,
        conjuncts: &[Arc<Conjunct>],
        var: VarId,
        point: &Value,
        range: &Value,
    ) -> Res<Option<Arc<[Value]>>> {
        self.row_images(env, conjuncts, var, point, range, true)
    }

    fn row_images(
        &self,
        env: &mut Env,
        conjuncts: &[Arc<Conjunct>],
        var: VarId,
        point: &Value,
        range: &Value,
        cut: bool,
    ) -> Res<Option<Arc<[Value]>>> {
        let Type::Pow(pair) = self.type_of(var) else { return Ok(None) };
        let Type::Prod(_, ty) = &*pair else { return Ok(None) };
        let ty = (**ty).clone();
        let first = self.cache.row_types.borrow().len();
        // What is rewritten binds the same variables as the original, so nothing may be remembered by them.
        let rewriting = self.rewriting.replace(true);
        let valuation = env.valuation.take();
        let image = self.row_var(ty.clone());
        let set = self.row_var(Type::pow(ty.clone()));
        env.bind(set, range.clone());
        let var_expr = |v: VarId, ty: Type| Expr { kind: ExprKind::Var(v), ty, span: Default::default() };
        let row = Row { var, point, image: var_expr(image, ty.clone()) };
        let outer = std::mem::replace(&mut env.row, cut.then_some(image));
        let result = self.solve_row(env, conjuncts, &row, var_expr(set, Type::pow(ty)), image);
        env.row = outer;
        env.valuation = valuation;
        self.rewriting.set(rewriting);
        let made = self.cache.row_types.borrow().len();
        for i in first..made {
            env.unbind(VarId((self.machine.vars.len() + FIRST + i) as u32));
        }
        self.cache.row_types.borrow_mut().truncate(first);
        result
    }

    fn solve_row(
        &self,
        env: &mut Env,
        conjuncts: &[Arc<Conjunct>],
        row: &Row,
        set: Expr,
        image: VarId,
    ) -> Res<Option<Arc<[Value]>>> {
        let mut found = Vec::new();
        for c in conjuncts {
            self.about_row(env, &c.pred, row, &mut found)?;
        }
        if found.is_empty() {
            return Ok(None);
        }
        let within = PredKind::Rel(RelOp::In, row.image.clone(), set);
        found.push(Pred { kind: within, span: Default::default() });
        let preds: Vec<&Pred> = found.iter().collect();
        let plan = Plan::new(&[image], &preds);
        let (mut images, mut open) = (BTreeSet::new(), false);
        let run = self.run_plan(env, &plan, &mut |env, _| {
            // A candidate for which some conjunct has no value is one all the same.
            match env.get(image).cloned() {
                Some(v) => {
                    let v = self.canon(env, v)?;
                    open |= v.mentions_symbolic();
                    images.insert(v);
                }
                None => open = true,
            }
            open |= images.len() > IMAGES;
            Ok(if open { Flow::Stop } else { Flow::Go })
        });
        match run {
            Err(e) if e.is_stop() => Err(e),
            Ok(_) if !open => Ok(Some(images.into_iter().collect())),
            _ => Ok(None),
        }
    }

    /// What a conjunct says about the row, with the image in place of the application.
    fn about_row(&self, env: &mut Env, pred: &Pred, row: &Row, out: &mut Vec<Pred>) -> Res<()> {
        match &pred.kind {
            PredKind::And(ps) => {
                for p in ps {
                    self.about_row(env, p, row, out)?;
                }
                Ok(())
            }
            PredKind::Label(_, p) => self.about_row(env, p, row, out),
            PredKind::Implies(a, b) => match settled(self.holds(env, a))? {
                Some(true) => self.about_row(env, b, row, out),
                _ => Ok(()),
            },
            PredKind::Forall(vars, body) => {
                let mut whole = pred.clone();
                if self.rewrite_row(env, &mut whole, row)? {
                    out.push(whole);
                    return Ok(());
                }
                if let Some(there) = self.instance_of_row(env, &self.forall_plan(vars, body), row) {
                    if !free::of_pred(&there).contains(&row.var) {
                        out.push(there);
                        return Ok(());
                    }
                    return self.about_row(env, &there, row, out);
                }
                self.instances_about_row(env, vars, body, row, out)
            }
            _ => {
                if let PredKind::Rel(op, a, b) = &pred.kind
                    && let Some(kind) = end_of_images(*op, a, b, row)
                {
                    out.push(Pred { kind, span: pred.span });
                    return Ok(());
                }
                let mut p = pred.clone();
                if self.rewrite_row(env, &mut p, row)? {
                    out.push(p);
                }
                Ok(())
            }
        }
    }

    fn instances_about_row(
        &self,
        env: &mut Env,
        vars: &[VarId],
        body: &Pred,
        row: &Row,
        out: &mut Vec<Pred>,
    ) -> Res<()> {
        let plan = self.forall_plan(vars, body);
        let mut args = Arguments { var: row.var, found: Vec::new() };
        visit_pred(&plan.conclusion, &mut args);
        if args.found.is_empty() {
            return Ok(());
        }
        if let Some(there) = self.instance_of_domain(env, &plan, row) {
            return self.about_row(env, &there, row, out);
        }
        let vars = &plan.hypotheses.vars;
        let mut bindings: Vec<Vec<Value>> = Vec::new();
        let (mut open, mut seen) = (false, 0);
        let run = self.run_plan_exactly(env, &plan.hypotheses, &mut |env, error| {
            seen += 1;
            open |= error.is_some() || seen > INSTANCES;
            if open {
                return Ok(Flow::Stop);
            }
            for arg in &args.found {
                // A point that depends on a variable bound further inside may be this one.
                if settled(self.eval_canon(env, arg))?.is_none_or(|x| x == *row.point) {
                    bindings.push(vars.iter().map(|v| env.get(*v).cloned().unwrap_or_default()).collect());
                    break;
                }
            }
            Ok(Flow::Go)
        });
        match run {
            Err(e) if e.is_stop() => return Err(e),
            Ok(_) if !open => {}
            _ => return Ok(()),
        }
        for binding in bindings {
            let mut renaming = HashMap::new();
            for (v, x) in vars.iter().zip(binding) {
                let w = self.row_var(self.type_of(*v));
                env.bind(w, x);
                renaming.insert(*v, w);
            }
            let mut conclusion = plan.conclusion.clone();
            change_pred(&mut conclusion, &mut Renaming(renaming));
            self.about_row(env, &conclusion, row, out)?;
        }
        Ok(())
    }

    /// `!x.(x : dom(f) & P => Q)` at the point in place of `x`: an image is asked for where the function has one, so the point is in
    /// the domain there. Other points of the domain, which is not known yet, are left out.
    fn instance_of_domain(&self, env: &mut Env, plan: &ForallPlan, row: &Row) -> Option<Pred> {
        let all = &plan.hypotheses.vars;
        let ranges_over_domain = |p: &Pred| match &p.kind {
            PredKind::Rel(RelOp::In, x, domain) => match (&x.kind, &domain.kind) {
                (ExprKind::Var(x), ExprKind::Unary(UnOp::Dom, f)) if all.contains(x) => {
                    matches!(f.kind, ExprKind::Var(v) if v == row.var).then_some(*x)
                }
                _ => None,
            },
            _ => None,
        };
        let told = plan.hypotheses.conjuncts.iter().filter(|c| !c.derived);
        let x = told.clone().find_map(|c| ranges_over_domain(&c.pred))?;
        let others: Vec<Pred> =
            told.filter(|c| ranges_over_domain(&c.pred) != Some(x)).map(|c| c.pred.clone()).collect();
        let vars: Vec<VarId> = all.iter().copied().filter(|v| *v != x).collect();
        let mut there = implied(others, plan.conclusion.clone(), vars);
        let point = self.row_var(self.type_of(x));
        env.bind(point, row.point.clone());
        change_pred(&mut there, &mut Renaming(HashMap::from_iter([(x, point)])));
        Some(there)
    }

    /// `!(x,y).(x|->y : f & P => Q)` at the point in place of `x` and its image in place of `y`: the two are a row of the function.
    /// `!y.(y : ran(f) & P => Q)` at the image, which is in the range. Other rows are left out.
    fn instance_of_row(&self, env: &mut Env, plan: &ForallPlan, row: &Row) -> Option<Pred> {
        let all = &plan.hypotheses.vars;
        let bound = |e: &Expr| match e.kind {
            ExprKind::Var(v) if all.contains(&v) => Some(v),
            _ => None,
        };
        let is_function = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if v == row.var);
        let ranges_over_rows = |p: &Pred| {
            let PredKind::Rel(RelOp::In, element, set) = &p.kind else { return None };
            match (&element.kind, &set.kind) {
                (ExprKind::Pair(x, y), _) if is_function(set) => {
                    Some((bound(x), bound(y)?)).filter(|(x, y)| x.is_some_and(|x| x != *y))
                }
                (_, ExprKind::Unary(UnOp::Ran, f)) if is_function(f) => Some((None, bound(element)?)),
                _ => None,
            }
        };
        let told = plan.hypotheses.conjuncts.iter().filter(|c| !c.derived);
        let (x, y) = told.clone().find_map(|c| ranges_over_rows(&c.pred))?;
        let ExprKind::Var(image) = row.image.kind else { return None };
        let others: Vec<Pred> =
            told.filter(|c| ranges_over_rows(&c.pred) != Some((x, y))).map(|c| c.pred.clone()).collect();
        let vars = all.iter().copied().filter(|v| Some(*v) != x && *v != y).collect();
        let mut there = implied(others, plan.conclusion.clone(), vars);
        let mut renaming = HashMap::from_iter([(y, image)]);
        if let Some(x) = x {
            let point = self.row_var(self.type_of(x));
            env.bind(point, row.point.clone());
            renaming.insert(x, point);
        }
        change_pred(&mut there, &mut Renaming(renaming));
        Some(there)
    }

    /// Puts the image in place of the function applied to the point. False if that is not to be found, or the
    /// formula needs something else of the function that is not known yet.
    fn rewrite_row(&self, env: &mut Env, p: &mut Pred, row: &Row) -> Res<bool> {
        struct Rewriting<'a, 'm, 'e> {
            interp: &'a Interpreter<'m>,
            env: &'e mut Env,
            row: &'a Row<'a>,
            free: Vec<VarId>,
            hit: bool,
            stop: Res<()>,
        }
        impl Change for Rewriting<'_, '_, '_> {
            fn expr(&mut self, e: &mut Expr) {
                let ExprKind::Apply(f, arg) = &e.kind else { return };
                // A point that depends on a variable bound inside is another one for each of its values.
                if !matches!(f.kind, ExprKind::Var(v) if v == self.row.var)
                    || !free::of_expr(arg).iter().all(|v| self.free.contains(v))
                {
                    return;
                }
                match settled(self.interp.eval_canon(self.env, arg)) {
                    Ok(Some(x)) if x == *self.row.point => {
                        *e = self.row.image.clone();
                        self.hit = true;
                    }
                    Ok(_) => {}
                    Err(stop) => self.stop = Err(stop),
                }
            }
        }
        let outer = free::of_pred(p);
        let mut rewriting =
            Rewriting { interp: self, env, row, free: outer.clone(), hit: false, stop: Ok(()) };
        change_pred(p, &mut rewriting);
        let hit = rewriting.hit;
        std::mem::replace(&mut rewriting.stop, Ok(()))?;
        if !hit {
            return Ok(false);
        }
        // Every mention that is left must be an application to a point whose row is known.
        let mut args = Arguments { var: row.var, found: Vec::new() };
        visit_pred(p, &mut args);
        let mut mentions = Mentions { var: row.var, count: 0 };
        visit_pred(p, &mut mentions);
        if mentions.count != args.found.len() {
            return Ok(false);
        }
        for arg in &args.found {
            let known = match settled(self.eval_canon(env, arg))? {
                Some(x) if free::of_expr(arg).iter().all(|v| outer.contains(v)) => {
                    env.partial(row.var).is_some_and(|rows| rows.contains_key(&x))
                }
                _ => false,
            };
            if !known {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// `!vars.(given => claim)`, without what is empty of it.
fn implied(given: Vec<Pred>, claim: Pred, vars: Vec<VarId>) -> Pred {
    let span = claim.span;
    let mut whole = claim;
    if !given.is_empty() {
        let given = Pred { kind: PredKind::And(given), span };
        whole = Pred { kind: PredKind::Implies(Box::new(given), Box::new(whole)), span };
    }
    if !vars.is_empty() {
        whole = Pred { kind: PredKind::Forall(vars, Box::new(whole)), span };
    }
    whole
}

/// `max(ran(f)) <= n` says of each image that it is at most n, because no image is beyond the maximum; likewise for a
/// minimum, and where the other side stands first. Not where `n` speaks of the function itself.
fn end_of_images(op: RelOp, a: &Expr, b: &Expr, row: &Row) -> Option<PredKind> {
    let is_function = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if v == row.var);
    let extreme = |e: &Expr| match &e.kind {
        ExprKind::Unary(op @ (UnOp::Max | UnOp::Min), s) => match &s.kind {
            ExprKind::Unary(UnOp::Ran, f) if is_function(f) => Some(*op),
            _ => None,
        },
        _ => None,
    };
    let (op, extreme, n) = match (extreme(a), extreme(b), op) {
        (Some(extreme), None, op) => (op, extreme, b),
        (None, Some(extreme), RelOp::Less) => (RelOp::Greater, extreme, a),
        (None, Some(extreme), RelOp::LessEqual) => (RelOp::GreaterEqual, extreme, a),
        (None, Some(extreme), RelOp::Greater) => (RelOp::Less, extreme, a),
        (None, Some(extreme), RelOp::GreaterEqual) => (RelOp::LessEqual, extreme, a),
        (None, Some(extreme), RelOp::Equal) => (RelOp::Equal, extreme, a),
        _ => return None,
    };
    let op = match (extreme, op) {
        (UnOp::Max, RelOp::Less | RelOp::LessEqual) | (UnOp::Min, RelOp::Greater | RelOp::GreaterEqual) => op,
        (UnOp::Max, RelOp::Equal) => RelOp::LessEqual,
        (UnOp::Min, RelOp::Equal) => RelOp::GreaterEqual,
        _ => return None,
    };
    let closed = !free::mentions(n, &|v| v == row.var);
    closed.then(|| PredKind::Rel(op, row.image.clone(), n.clone()))
}

/// The arguments that a function is applied to.
struct Arguments {
    var: VarId,
    found: Vec<Expr>,
}

impl Visit for Arguments {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Apply(f, arg) = &e.kind
            && matches!(f.kind, ExprKind::Var(v) if v == self.var)
        {
            self.found.push((**arg).clone());
        }
    }
}

/// How often a variable occurs.
struct Mentions {
    var: VarId,
    count: usize,
}

impl Visit for Mentions {
    fn expr(&mut self, e: &Expr) {
        self.count += usize::from(matches!(e.kind, ExprKind::Var(v) if v == self.var));
    }
}

/// Variables take the place of others.
struct Renaming(HashMap<VarId, VarId>);

impl Change for Renaming {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::Var(v) = &mut e.kind
            && let Some(w) = self.0.get(v)
        {
            *v = *w;
        }
    }
}
