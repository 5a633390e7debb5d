//! Known lambdas in place of their applications, and known values in place of quantified variables.
//!
//! In: open conjuncts that apply functions whose values are lambdas over integers, or that hold for all of a few values.
//! Out: derived conjuncts with the bodies in place of the applications, and with each of the values. With `f = %x.(P|E)` a conjunct about `f(e)` says the same about E with e for x wherever
//! `f(e)` has a value, and that is what tells of the other variables.
//! Only arithmetic is copied. Where nothing says that `e` lies in the domain of `f`, the search is loose.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Flow, Res};
use crate::solve::functions::settled;
use crate::solve::order::{Item, items_among};
use crate::solve::plan::Conjunct;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{ClosureKind, Symbolic, Value};
use bombus_lang::walk::{Change, Visit, change_expr, change_pred, visit_expr};

/// The lambda over all integers that a conjunct `f = %x.(x:INTEGER|E)` says a function to be; E may hold unknowns.
fn equated(item: &Item, f: VarId) -> Option<Lambda> {
    let PredKind::Rel(RelOp::Equal, a, b) = &item.conjunct.pred.kind else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(x, y)| match (&x.kind, &y.kind) {
        (ExprKind::Var(v), ExprKind::Big(BigOp::Lambda, vars, domain, body)) if *v == f => {
            let [variable] = vars[..] else { return None };
            let PredKind::Rel(RelOp::In, point, set) = &domain.kind else { return None };
            let is_total =
                point.kind == ExprKind::Var(variable) && matches!(set.kind, ExprKind::TypeSet(Type::Integer));
            is_total.then(|| Lambda { variable, domain: (**domain).clone(), body: (**body).clone() })
        }
        _ => None,
    })
}

/// A formula that grew beyond this many copied nodes tells nothing that is cheap to use.
const UNFOLDED: usize = 1 << 10;
/// What holds for more values than this is not told value by value.
const INSTANCES: usize = 1 << 6;

/// `%x.(P|E)` with one variable.
#[derive(Clone)]
struct Lambda {
    variable: VarId,
    domain: Pred,
    body: Expr,
}

impl Interpreter<'_> {
    /// Adds what open conjuncts say about the bodies of the lambdas they apply; false if that is nothing new.
    /// What holds for all of a few values is told value by value only if nothing else binds a variable.
    pub(crate) fn unfold(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &mut Vec<Item>,
        nothing_binds: bool,
    ) -> Res<bool> {
        let mut found = Vec::new();
        for at in 0..open.len() {
            if open[at].unfolded || open[at].conjunct.derived {
                continue;
            }
            let c = open[at].conjunct.clone();
            if let PredKind::Forall(vars, body) = &c.pred.kind {
                if !nothing_binds {
                    continue;
                }
                open[at].unfolded = true;
                let instances =
                    if c.partial { Vec::new() } else { self.instances(env, unknown, vars, body)? };
                found.extend(instances.into_iter().map(|p| (Conjunct::derived(p, false), true)));
                continue;
            }
            let (op, a, b) = match &c.pred.kind {
                PredKind::Rel(op, a, b) if a.ty == Type::Integer && is_arithmetic(a) && is_arithmetic(b) => {
                    (op, a, b)
                }
                _ => {
                    open[at].unfolded = true;
                    continue;
                }
            };
            let mut unfolding = Unfolding {
                lambdas: self.lambdas_of(env, unknown, open, [a, b]),
                points: Vec::new(),
                nodes: 0,
            };
            if unfolding.lambdas.is_empty() {
                continue;
            }
            open[at].unfolded = true;
            let (mut x, mut y) = (a.clone(), b.clone());
            change_expr(&mut x, &mut unfolding);
            change_expr(&mut y, &mut unfolding);
            if unfolding.points.is_empty() || unfolding.nodes >= UNFOLDED {
                continue;
            }
            let mut total = true;
            for (lambda, point) in &unfolding.points {
                total &= self.is_inside(env, open, lambda, point)?;
            }
            if !total && self.careful.get() {
                continue;
            }
            let pred = Pred { kind: PredKind::Rel(*op, x, y), span: c.pred.span };
            found.push((Conjunct::derived(pred, !total), total));
        }
        for (conjunct, total) in &found {
            if !total {
                self.loosen();
            }
            open.extend(items_among(std::slice::from_ref(conjunct)));
        }
        Ok(!found.is_empty())
    }

    /// What `!x.(P => Q)` says of each x with P, if there are few and nothing unknown tells which.
    fn instances(&self, env: &mut Env, unknown: &[VarId], vars: &[VarId], body: &Pred) -> Res<Vec<Pred>> {
        let plan = self.forall_plan(vars, body);
        let is_known = |c: &Conjunct| !c.free.iter().any(|v| unknown.contains(v));
        if !plan.hypotheses.conjuncts.iter().all(|c| is_known(c)) {
            return Ok(Vec::new());
        }
        let mut parts = Vec::new();
        relations_of(&plan.conclusion, &mut parts);
        let mut out = Some(Vec::new());
        let run = self.run_plan_exactly(env, &plan.hypotheses, &mut |env, error| {
            let values: Option<Vec<(VarId, ExprKind)>> =
                vars.iter().map(|v| Some((*v, literal(env.get(*v)?)?))).collect();
            match (&mut out, values, error) {
                (Some(list), Some(values), None) if list.len() < INSTANCES => {
                    for p in &parts {
                        let mut p = (*p).clone();
                        change_pred(&mut p, &mut Values(&values));
                        list.push(p);
                    }
                    Ok(Flow::Go)
                }
                _ => {
                    out = None;
                    Ok(Flow::Stop)
                }
            }
        });
        match run {
            Err(e) if e.is_stop() => Err(e),
            Err(_) => Ok(Vec::new()),
            Ok(_) => Ok(out.unwrap_or_default()),
        }
    }

    /// The lambdas over integers that an expression applies, by the expression that stands for them.
    fn lambdas_of(
        &self,
        env: &Env,
        unknown: &[VarId],
        open: &[Item],
        sides: [&Expr; 2],
    ) -> Vec<(ExprKind, Lambda)> {
        struct Applied(Vec<ExprKind>);
        impl Visit for Applied {
            fn expr(&mut self, e: &Expr) {
                if let ExprKind::Apply(f, _) = &e.kind
                    && !self.0.contains(&f.kind)
                {
                    self.0.push(f.kind.clone());
                }
            }
        }
        let mut applied = Applied(Vec::new());
        sides.into_iter().for_each(|e| visit_expr(e, &mut applied));
        let lambda = |f: &ExprKind| match f {
            ExprKind::Big(BigOp::Lambda, vars, domain, body) => match vars[..] {
                [variable] => Some(Lambda { variable, domain: (**domain).clone(), body: (**body).clone() }),
                _ => None,
            },
            ExprKind::Var(f) if unknown.contains(f) => open.iter().find_map(|item| equated(item, *f)),
            ExprKind::Var(f) => {
                let Some(Value::Symbolic(s)) = env.get(*f) else { return None };
                let Symbolic::Closure(c) = &**s else { return None };
                // The body is read here, so its variables must mean the same here.
                let is_same = |v: VarId, x: &Value| !unknown.contains(&v) && env.get(v) == Some(x);
                match (&c.code.vars[..], &c.code.body) {
                    ([variable], Some(body))
                        if c.code.kind == ClosureKind::Lambda
                            && c.captured.iter().all(|(v, x)| is_same(*v, x)) =>
                    {
                        Some(Lambda { variable: *variable, domain: c.code.pred.clone(), body: body.clone() })
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        applied
            .0
            .into_iter()
            .filter_map(|f| Some((f.clone(), lambda(&f)?)))
            .filter(|(_, l)| l.body.ty == Type::Integer && is_arithmetic(&l.body))
            .collect()
    }

    /// Whether some conjunct says that a point lies in the domain of a lambda.
    fn is_inside(&self, env: &mut Env, open: &[Item], lambda: &Lambda, point: &Expr) -> Res<bool> {
        let PredKind::Rel(RelOp::In, x, set) = &lambda.domain.kind else { return Ok(false) };
        if !matches!(x.kind, ExprKind::Var(v) if v == lambda.variable) {
            return Ok(false);
        }
        let Some(set) = settled(self.eval_lazy(env, set))? else { return Ok(false) };
        if self.is_whole_type(&set) {
            return Ok(true);
        }
        for item in open {
            let PredKind::Rel(RelOp::In, y, part) = &item.conjunct.pred.kind else { continue };
            if item.conjunct.partial || y.kind != point.kind {
                continue;
            }
            let Some(part) = settled(self.eval_lazy(env, part))? else { continue };
            if settled(self.subset(env, &part, &set))? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The relations of integers that a predicate is a conjunction of, others left out.
fn relations_of<'p>(p: &'p Pred, out: &mut Vec<&'p Pred>) {
    match &p.kind {
        PredKind::And(ps) => ps.iter().for_each(|q| relations_of(q, out)),
        PredKind::Label(_, q) => relations_of(q, out),
        PredKind::Rel(_, a, _) if a.ty == Type::Integer => out.push(p),
        _ => {}
    }
}

/// The expression that denotes a number, a truth value or an element.
fn literal(value: &Value) -> Option<ExprKind> {
    match value {
        Value::Int(n) => Some(ExprKind::Int(n.clone())),
        Value::Bool(b) => Some(ExprKind::Bool(*b)),
        Value::Elem(set, n) => Some(ExprKind::Elem(*set, *n)),
        _ => None,
    }
}

/// Puts values in place of variables.
struct Values<'a>(&'a [(VarId, ExprKind)]);

impl Change for Values<'_> {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::Var(v) = e.kind
            && let Some((_, kind)) = self.0.iter().find(|(w, _)| *w == v)
        {
            e.kind = kind.clone();
        }
    }
}

/// Puts the bodies of lambdas in place of their applications, innermost first.
struct Unfolding {
    lambdas: Vec<(ExprKind, Lambda)>,
    /// The lambdas that were put in place, and the points they were applied to.
    points: Vec<(Lambda, Expr)>,
    nodes: usize,
}

impl Change for Unfolding {
    fn expr(&mut self, e: &mut Expr) {
        struct Place<'a>(VarId, &'a Expr, usize);
        impl Change for Place<'_> {
            fn expr(&mut self, e: &mut Expr) {
                self.2 += 1;
                if matches!(e.kind, ExprKind::Var(v) if v == self.0) {
                    *e = self.1.clone();
                    self.2 += size_of(self.1);
                }
            }
        }
        let ExprKind::Apply(f, point) = &e.kind else { return };
        let Some((_, lambda)) = self.lambdas.iter().find(|(g, _)| *g == f.kind) else { return };
        if self.nodes >= UNFOLDED {
            return;
        }
        let mut copy = lambda.body.clone();
        let mut place = Place(lambda.variable, point, 0);
        change_expr(&mut copy, &mut place);
        self.nodes += place.2;
        self.points.push((lambda.clone(), (**point).clone()));
        *e = copy;
    }
}

fn size_of(e: &Expr) -> usize {
    struct Size(usize);
    impl Visit for Size {
        fn expr(&mut self, _: &Expr) {
            self.0 += 1;
        }
    }
    let mut size = Size(0);
    visit_expr(e, &mut size);
    size.0
}

/// Whether an expression is made of numbers, variables, sums, products and applications alone.
fn is_arithmetic(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Var(_) => true,
        ExprKind::Unary(UnOp::Neg, a) => is_arithmetic(a),
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) if e.ty == Type::Integer => {
            is_arithmetic(a) && is_arithmetic(b)
        }
        ExprKind::Apply(f, x) => {
            matches!(f.kind, ExprKind::Var(_) | ExprKind::Big(BigOp::Lambda, ..)) && is_arithmetic(x)
        }
        _ => false,
    }
}
