//! Why a predicate is true or false: the parts that decide it, with witnesses and values.
//!
//! In: a predicate and an environment in which its free variables have values. Out: a tree of its parts. A part that
//! has no say in the truth of the whole is left out. Never here: why an expression has no value (`undefined`), which
//! element breaks a membership (`membership`).

use super::{Explainer, Formula, Node, Place, Worth};
use bombus_base::Span;
use bombus_evaluate::env::Env;
pub use bombus_evaluate::error::{Error, Flow, Res};
use bombus_evaluate::solve::plan::Plan;
use bombus_lang::free;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Deeper parts are not shown.
const DEPTH: usize = 16;
/// True conjuncts of a hypothesis that are listed.
const HYPOTHESES: usize = 8;
/// Candidates that are counted where none satisfies a conjunct.
const CANDIDATES: usize = 100;
/// Longer values of variables are not repeated below the expression they occur in.
const SHORT: usize = 60;

impl Explainer<'_> {
    /// A predicate with the parts that decide it. `whole` is the span of the formula around it.
    pub(super) fn predicate(&self, env: &mut Env, p: &Pred, whole: Span, depth: usize) -> Node {
        let p = bare(p);
        let truth = self.interpreter.holds(env, p);
        let mut node = self.pred_node(env, p, &truth, whole);
        if depth >= DEPTH || !self.has_room() {
            return node;
        }
        let span = if p.span == Span::default() { whole } else { p.span };
        match truth {
            Ok(truth) => self.decide(env, p, truth, &mut node, span, depth + 1),
            Err(e) if e.is_finding() => node.parts.extend(self.undefined_pred(env, p, depth + 1)),
            Err(_) => {}
        }
        // A part that says the same as the whole and nothing else is that whole.
        if let [part] = &node.parts[..]
            && part.text == node.text
            && part.worth == node.worth
            && node.witness.is_empty()
            && node.notes.is_empty()
        {
            return node.parts.remove(0);
        }
        node
    }

    /// A predicate and its truth, without parts.
    pub(super) fn brief(&self, env: &mut Env, p: &Pred, whole: Span) -> Node {
        let p = bare(p);
        let truth = self.interpreter.holds(env, p);
        self.pred_node(env, p, &truth, whole)
    }

    fn pred_node(&self, env: &Env, p: &Pred, truth: &Res<bool>, whole: Span) -> Node {
        self.count();
        let worth = match truth {
            Ok(true) => Worth::True,
            Ok(false) => Worth::False,
            Err(e) => self.failed(e),
        };
        match truth {
            Ok(b) => self.claim(env, Formula::Pred(p.clone()), Some(Value::Bool(*b))),
            Err(e) if e.is_undefined() => self.claim(env, Formula::Pred(p.clone()), None),
            Err(_) => {}
        }
        let mut node = Node::new(self.pred_text(p, whole), worth);
        node.place = Place::of(self.sources, p.span);
        node
    }

    /// What is said of a formula whose evaluation failed.
    pub(super) fn failed(&self, e: &Error) -> Worth {
        if e.is_stop() {
            self.cut_short.set(true);
        }
        if e.is_finding() { Worth::Undefined(e.told()) } else { Worth::Unknown }
    }

    fn decide(&self, env: &mut Env, p: &Pred, truth: bool, node: &mut Node, span: Span, depth: usize) {
        match (&p.kind, truth) {
            (PredKind::And(ps), false) => {
                for q in ps {
                    if !matches!(self.interpreter.holds(env, q), Ok(true)) {
                        node.parts.push(self.predicate(env, q, span, depth));
                    }
                }
            }
            (PredKind::And(ps), true) => {
                node.parts.extend(ps.iter().take(HYPOTHESES).map(|q| self.predicate(env, q, span, depth)));
            }
            (PredKind::Or(ps), false) => {
                node.parts.extend(ps.iter().map(|q| self.predicate(env, q, span, depth)));
            }
            (PredKind::Or(ps), true) => {
                if let Some(q) = ps.iter().find(|q| matches!(self.interpreter.holds(env, q), Ok(true))) {
                    node.parts.push(self.predicate(env, q, span, depth));
                }
            }
            (PredKind::Not(q), _) => node.parts.push(self.predicate(env, q, span, depth)),
            (PredKind::Implies(a, b), false) => {
                node.parts.extend(self.hypotheses(env, a, span));
                node.parts.push(self.predicate(env, b, span, depth));
            }
            (PredKind::Implies(a, b), true) => {
                let decides = if matches!(self.interpreter.holds(env, a), Ok(true)) { b } else { a };
                node.parts.push(self.predicate(env, decides, span, depth));
            }
            (PredKind::Iff(a, b), _) => {
                node.parts.push(self.predicate(env, a, span, depth));
                node.parts.push(self.predicate(env, b, span, depth));
            }
            (PredKind::Forall(vars, body), false) => {
                if let Some(values) = self.counterexample(env, vars, body) {
                    self.with_witness(env, vars, values, node, &mut |env, node| {
                        let part = self.predicate(env, body, span, depth);
                        let whole =
                            !matches!(bare(body).kind, PredKind::Implies(..)) || part.parts.is_empty();
                        node.parts = if whole { vec![part] } else { part.parts };
                    });
                }
            }
            (PredKind::Forall(..), true) => {}
            (PredKind::Exists(vars, body), true) => {
                let listed = self.first_solution(env, vars, &body.conjuncts());
                if let Some(values) = listed.or_else(|| self.sample(env, vars, body, true)) {
                    self.with_witness(env, vars, values, node, &mut |env, node| {
                        let parts = body.conjuncts().into_iter().take(HYPOTHESES);
                        node.parts.extend(parts.map(|q| self.predicate(env, q, span, depth)));
                    });
                }
            }
            (PredKind::Exists(vars, body), false) => {
                node.parts.extend(self.unsatisfiable(env, vars, &body.conjuncts(), span, depth));
            }
            (PredKind::If(c, a, b), _) => {
                let chosen = if matches!(self.interpreter.holds(env, c), Ok(true)) { a } else { b };
                node.parts.push(self.brief(env, c, span));
                node.parts.push(self.predicate(env, chosen, span, depth));
            }
            (PredKind::Let(bindings, body), _) => {
                let mut saved = Vec::new();
                for (v, e) in bindings {
                    if let Ok(value) = self.interpreter.eval_canon(env, e) {
                        node.witness.push(self.named(*v, &value));
                        saved.push((*v, env.replace(*v, Some(value))));
                    }
                }
                node.parts.push(self.predicate(env, body, span, depth));
                env.restore(saved);
            }
            (PredKind::Rel(op, a, b), truth) => self.relation(env, *op, a, b, truth, node, span, depth),
            (PredKind::Finite(e), _) => self.side(env, e, node, span),
            (PredKind::Partition(whole, parts), _) => {
                if !truth {
                    node.notes.extend(self.not_a_partition(env, whole, parts));
                }
                self.side(env, whole, node, span);
                parts.iter().for_each(|e| self.side(env, e, node, span));
            }
            (PredKind::External(_, args), _) => args.iter().for_each(|e| self.side(env, e, node, span)),
            (PredKind::True | PredKind::False | PredKind::Label(..), _) => {}
        }
    }

    /// The conjuncts of something that holds, one after the other.
    fn hypotheses(&self, env: &mut Env, p: &Pred, span: Span) -> Vec<Node> {
        p.conjuncts().into_iter().take(HYPOTHESES).map(|q| self.brief(env, q, span)).collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn relation(
        &self,
        env: &mut Env,
        op: RelOp,
        a: &Expr,
        b: &Expr,
        truth: bool,
        node: &mut Node,
        span: Span,
        depth: usize,
    ) {
        let explained = match (op, truth) {
            (RelOp::In, false) | (RelOp::NotIn, true) => match self.interpreter.eval_canon(env, a) {
                Ok(x) => self.outside(env, &x, &a.ty, b, node, depth),
                Err(_) => false,
            },
            (RelOp::Equal, false) | (RelOp::NotEqual, true) => self.differ(env, a, b, node),
            (RelOp::Subset | RelOp::StrictSubset, false) => self.not_included(env, a, b, node),
            _ => false,
        };
        self.side(env, a, node, span);
        if !explained || !is_space(b) {
            self.side(env, b, node, span);
        }
    }

    /// The value of an expression as a part of `node`, unless the expression shows its value already.
    pub(super) fn side(&self, env: &mut Env, e: &Expr, node: &mut Node, whole: Span) {
        let is_told = matches!(e.kind, ExprKind::Var(v) if self.told.borrow().contains(&v));
        if is_obvious(e)
            || is_told
            || is_space(e) && !matches!(e.kind, ExprKind::Compr(..) | ExprKind::Big(..))
        {
            return;
        }
        let text = self.expr_text(e, whole);
        let value = self.interpreter.eval(env, e).and_then(|v| self.interpreter.listed_form(env, v));
        let mut part = match &value {
            Ok(v) => {
                self.claim(env, Formula::Expr(e.clone()), Some(v.clone()));
                Node::new(text, Worth::Value(v.show(self.machine, &e.ty)))
            }
            Err(error) => Node::new(text, self.failed(error)),
        };
        part.place = Place::of(self.sources, e.span);
        let says_nothing = matches!(&part.worth, Worth::Value(v) if *v == part.text);
        if says_nothing || part.worth == Worth::Unknown {
            return;
        }
        self.count();
        match &e.kind {
            ExprKind::Var(_) => {}
            _ if self.has_room() && self.deciding(env, e, &mut part, whole) => {}
            _ => {
                let known: Vec<Node> =
                    free::of_expr(e).into_iter().filter_map(|v| self.known(env, v)).collect();
                part.parts.extend(known.into_iter().filter(|n| !node.parts.contains(n)));
            }
        }
        if !node.parts.contains(&part) {
            node.parts.push(part);
        }
    }

    /// The parts that decide the value of IF and LET: the condition and the branch that counts, the values of the
    /// names and the body. False for every other expression.
    fn deciding(&self, env: &mut Env, e: &Expr, part: &mut Node, whole: Span) -> bool {
        match &e.kind {
            ExprKind::If(c, a, b) => {
                let condition = self.predicate(env, c, whole, DEPTH - 1);
                let chosen = if condition.worth == Worth::True { a } else { b };
                part.parts.push(condition);
                self.side(env, chosen, part, whole);
                true
            }
            ExprKind::Let(bindings, body) => {
                let mut saved = Vec::new();
                for (v, x) in bindings {
                    let Ok(value) = self.interpreter.eval_canon(env, x) else { break };
                    part.witness.push(self.named(*v, &value));
                    saved.push((*v, env.replace(*v, Some(value))));
                }
                if saved.len() == bindings.len() {
                    let told = self.told.borrow().len();
                    self.told.borrow_mut().extend(bindings.iter().map(|(v, _)| *v));
                    self.side(env, body, part, whole);
                    self.told.borrow_mut().truncate(told);
                }
                env.restore(saved);
                true
            }
            _ => false,
        }
    }

    /// The value of a variable, if it is short.
    fn known(&self, env: &Env, v: VarId) -> Option<Node> {
        let decl = self.machine.vars.get(v.0 as usize)?;
        let shown = env.get(v)?.show(self.machine, &decl.ty);
        let is_told = self.told.borrow().contains(&v);
        (!is_told && shown.chars().count() <= SHORT && shown != *decl.name)
            .then(|| Node::new(decl.name.to_string(), Worth::Value(shown)))
    }

    /// Runs `then` with values for bound variables, and notes them as the witness of `node`.
    pub(super) fn with_witness(
        &self,
        env: &mut Env,
        vars: &[VarId],
        values: Vec<Option<Value>>,
        node: &mut Node,
        then: &mut dyn FnMut(&mut Env, &mut Node),
    ) {
        let mut saved = Vec::with_capacity(vars.len());
        for (v, value) in vars.iter().zip(values) {
            if let Some(value) = &value {
                node.witness.push(self.named(*v, value));
            }
            saved.push((*v, env.replace(*v, value)));
        }
        let told = self.told.borrow().len();
        self.told.borrow_mut().extend(vars);
        then(env, node);
        self.told.borrow_mut().truncate(told);
        env.restore(saved);
    }

    /// Values of the bound variables for which a universal predicate is false.
    pub(super) fn counterexample(
        &self,
        env: &mut Env,
        vars: &[VarId],
        body: &Pred,
    ) -> Option<Vec<Option<Value>>> {
        let plan = self.interpreter.forall_plan(vars, body);
        let mut found = None;
        let run = self.interpreter.within_window(env, &mut |env| {
            self.interpreter.run_plan(env, &plan.hypotheses, &mut |env, error| match error {
                Some(e) if e.is_stop() => Err(e.clone()),
                Some(_) => Ok(Flow::Go),
                None => match self.interpreter.holds(env, &plan.conclusion) {
                    Ok(false) => {
                        found = Some(vars.iter().map(|v| env.get(*v).cloned()).collect());
                        Ok(Flow::Stop)
                    }
                    Err(e) if e.is_stop() => Err(e),
                    _ => Ok(Flow::Go),
                },
            })?;
            Ok(true)
        });
        self.note_stop(&run);
        for search in plan.refutations().unwrap_or_default() {
            if found.is_none() {
                let run = self.interpreter.run_plan_exactly(env, search, &mut |env, error| match error {
                    Some(e) if e.is_stop() => Err(e.clone()),
                    Some(_) => Ok(Flow::Go),
                    None => {
                        found = Some(vars.iter().map(|v| env.get(*v).cloned()).collect());
                        Ok(Flow::Stop)
                    }
                });
                self.note_stop(&run);
            }
        }
        found.or_else(|| self.sample(env, vars, body, false))
    }

    /// Where values cannot be listed: some that give the body of a quantifier the wanted truth value.
    fn sample(&self, env: &mut Env, vars: &[VarId], body: &Pred, wanted: bool) -> Option<Vec<Option<Value>>> {
        let values = self.interpreter.sample(env, vars, body, wanted);
        self.note_stop(&values);
        Some(values.ok()??.into_iter().map(Some).collect())
    }

    /// The first values of `vars` that satisfy all conjuncts.
    pub(super) fn first_solution(
        &self,
        env: &mut Env,
        vars: &[VarId],
        conjuncts: &[&Pred],
    ) -> Option<Vec<Option<Value>>> {
        self.solutions(env, vars, conjuncts, 1).0.into_iter().next()
    }

    /// At most so many solutions, and whether the search for them was decided.
    fn solutions(
        &self,
        env: &mut Env,
        vars: &[VarId],
        conjuncts: &[&Pred],
        most: usize,
    ) -> (Vec<Vec<Option<Value>>>, bool) {
        let plan = Arc::new(Plan::new(vars, conjuncts));
        // Evaluation remembers what it knows of a plan by its place in memory, so the plan stays there.
        self.interpreter.cache.kept.borrow_mut().push(plan.clone());
        let mut found: Vec<Vec<Option<Value>>> = Vec::new();
        let mut decided = true;
        let run = self.interpreter.run_plan(env, &plan, &mut |env, error| {
            match error {
                Some(e) if e.is_stop() => return Err(e.clone()),
                Some(e) => decided &= e.is_finding(),
                None => {
                    let values: Vec<Option<Value>> = vars.iter().map(|v| env.get(*v).cloned()).collect();
                    if !found.contains(&values) {
                        found.push(values);
                    }
                }
            }
            Ok(if found.len() >= most { Flow::Stop } else { Flow::Go })
        });
        self.note_stop(&run);
        (found, decided && run.is_ok())
    }

    /// Why no values of `vars` satisfy all conjuncts: conjuncts that speak of no variable and are false; else the
    /// first conjunct that leaves nothing of what those before it leave.
    pub(super) fn unsatisfiable(
        &self,
        env: &mut Env,
        vars: &[VarId],
        conjuncts: &[&Pred],
        span: Span,
        depth: usize,
    ) -> Vec<Node> {
        let speaks = |p: &Pred| free::mentions_in(p, &|v| vars.contains(&v));
        let mut ground: Vec<Node> = Vec::new();
        for p in conjuncts.iter().filter(|p| !speaks(p)) {
            if !matches!(self.interpreter.holds(env, p), Ok(true)) {
                ground.push(self.predicate(env, p, span, depth));
            }
        }
        if !ground.is_empty() {
            return ground;
        }
        let open: Vec<&Pred> = conjuncts.iter().copied().filter(|p| speaks(p)).collect();
        let of = |ps: &[&Pred]| -> Vec<VarId> {
            vars.iter().copied().filter(|v| ps.iter().any(|p| free::mentions_in(p, &|w| w == *v))).collect()
        };
        for k in 1..=open.len() {
            let prefix = &open[..k];
            let (found, decided) = self.solutions(env, &of(prefix), prefix, 1);
            if !found.is_empty() || !decided {
                continue;
            }
            let before = related(open[k - 1], &open[..k - 1], vars);
            return vec![self.barrier(env, &of(&before), &before, open[k - 1], vars, span, depth)];
        }
        Vec::new()
    }

    /// The conjunct that leaves nothing of the candidates that the conjuncts before it leave.
    #[allow(clippy::too_many_arguments)]
    fn barrier(
        &self,
        env: &mut Env,
        bound: &[VarId],
        before: &[&Pred],
        barrier: &Pred,
        vars: &[VarId],
        span: Span,
        depth: usize,
    ) -> Node {
        let candidates = match before.is_empty() {
            true => Vec::new(),
            false => self.solutions(env, bound, before, CANDIDATES).0,
        };
        let names = |vars: &[VarId]| -> String {
            let name = |v: &VarId| self.machine.var(*v).name.to_string();
            vars.iter().map(name).collect::<Vec<_>>().join(", ")
        };
        let rest: Vec<VarId> = vars
            .iter()
            .copied()
            .filter(|v| !bound.contains(v) && free::mentions_in(barrier, &|w| w == *v))
            .collect();
        let count = candidates.len();
        let Some(first) = candidates.into_iter().next() else {
            let mut node = Node::new(self.pred_text(bare(barrier), span), Worth::False);
            node.place = Place::of(self.sources, barrier.span);
            node.notes.push(match rest.is_empty() {
                false => format!("no {} satisfies this", names(&rest)),
                // What leads up to the conjunct could not be enumerated in time.
                true => format!("no {} satisfies this and what stands before it", names(bound)),
            });
            return node;
        };
        let mut held = Node::new(String::new(), Worth::Unknown);
        self.with_witness(env, bound, first, &mut held, &mut |env, held| {
            let part = if rest.is_empty() {
                self.predicate(env, barrier, span, depth)
            } else {
                let mut part = Node::new(self.pred_text(bare(barrier), span), Worth::False);
                part.notes.push(format!("no {} satisfies this", names(&rest)));
                part
            };
            held.parts.push(part);
        });
        let mut node = held.parts.remove(0);
        let witness = std::mem::take(&mut held.witness);
        if count > 1 {
            let all =
                if count >= CANDIDATES { "every choice".into() } else { format!("all {count} choices") };
            node.notes.insert(
                0,
                format!("and so for {all} of {} that the conjuncts before it leave", names(bound)),
            );
        }
        node.witness.splice(0..0, witness);
        node
    }

    pub(super) fn note_stop<T>(&self, run: &Res<T>) {
        if matches!(run, Err(e) if e.is_stop()) {
            self.cut_short.set(true);
        }
    }
}

/// The predicate without its labels.
/// The conjuncts that have to do with one of them by way of the variables that they share. The others, which can be satisfied, cannot
/// be what keeps it from being true.
fn related<'p>(one: &Pred, others: &[&'p Pred], vars: &[VarId]) -> Vec<&'p Pred> {
    let of =
        |p: &Pred| vars.iter().copied().filter(|v| free::mentions_in(p, &|w| w == *v)).collect::<Vec<_>>();
    let mut shared = of(one);
    let mut chosen = vec![false; others.len()];
    loop {
        let next =
            (0..others.len()).find(|i| !chosen[*i] && of(others[*i]).iter().any(|v| shared.contains(v)));
        let Some(next) = next else { break };
        chosen[next] = true;
        shared.extend(of(others[next]));
    }
    others.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(p, _)| *p).collect()
}

pub(super) fn bare(p: &Pred) -> &Pred {
    match &p.kind {
        PredKind::Label(_, q) => bare(q),
        _ => p,
    }
}

/// Whether an expression is its own value for a reader.
pub(super) fn is_obvious(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Elem(..)
        | ExprKind::Natural
        | ExprKind::Natural1
        | ExprKind::Function(_)
        | ExprKind::TypeSet(_) => true,
        ExprKind::SetExt(es) | ExprKind::SeqExt(es) => es.iter().all(is_obvious),
        ExprKind::Pair(a, b) => is_obvious(a) && is_obvious(b),
        ExprKind::Binary(bombus_lang::typed::BinOp::Interval, a, b) => is_obvious(a) && is_obvious(b),
        ExprKind::Unary(bombus_lang::typed::UnOp::Neg, a) => is_obvious(a),
        _ => false,
    }
}

/// Whether an expression is a space of functions, subsets or sequences, which nobody wants listed.
pub(super) fn is_space(e: &Expr) -> bool {
    use bombus_lang::typed::UnOp::*;
    match &e.kind {
        ExprKind::Binary(op, ..) => op.arrow().is_some() || *op == bombus_lang::typed::BinOp::Cartesian,
        ExprKind::Unary(Pow | Pow1 | Fin | Fin1 | Seq | Seq1 | Iseq | Iseq1 | Perm | Tree | Btree, _) => true,
        ExprKind::StructSet(_) | ExprKind::Compr(..) => true,
        ExprKind::Big(..) => matches!(e.ty, bombus_lang::typed::Type::Pow(_)),
        ExprKind::Symbolic(e) => is_space(e),
        _ => is_obvious(e) && matches!(e.ty, bombus_lang::typed::Type::Pow(_)),
    }
}
