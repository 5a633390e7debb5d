//! Predicates taken apart for solving: conjuncts with their free variables, made once per binder.
//!
//! In: the predicate of a quantifier, comprehension, ANY, `:(P)`, guard or PROPERTIES. Out: a flat
//! list of conjuncts; negations are pushed inwards and memberships split as far as that is exact.
//! A *derived* conjunct follows from another one and only serves to bind variables.

use crate::Interpreter;
use crate::solve::consequences::{
    common_sequences, consequences, ends_of_relations, functions_on_their_domains, restricted_sets,
};
use crate::solve::record_fields::bounded_records;
use crate::solve::told_functions::told_functions;
use bombus_analyse::effect_free_choice;
use bombus_analyse::substitution::contradict;
use bombus_base::Span;
use bombus_lang::free;
use bombus_lang::partiality::{may_be_undefined, pred_may_be_undefined};
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use std::sync::Arc;
use std::sync::OnceLock;

#[derive(Debug)]
pub struct Plan {
    /// The variables to find values for, those of flattened LETs included.
    pub vars: Vec<VarId>,
    /// How many of them were asked for; the rest are those of LETs.
    own: usize,
    pub conjuncts: Vec<Arc<Conjunct>>,
    /// Numbers of conjuncts at the front that must have a truth value before the others are looked at: the guards
    /// and hypotheses that stand in front of others and may be undefined.
    pub(crate) stages: Vec<usize>,
}

#[derive(Debug)]
pub struct Conjunct {
    pub pred: Pred,
    pub(crate) free: Vec<VarId>,
    /// Free variables of the sides of a relation.
    pub(crate) left: Vec<VarId>,
    pub(crate) right: Vec<VarId>,
    pub derived: bool,
    /// The conjunct may have no truth value; so may the sides of a relation.
    pub(crate) partial: bool,
    pub(crate) left_partial: bool,
    pub(crate) right_partial: bool,
    split: OnceLock<Option<Split>>,
}

/// Ways to go on when nothing binds a variable directly.
#[derive(Debug)]
pub(crate) enum Split {
    /// One of these lists of conjuncts holds.
    Cases(Vec<Plan>),
}

#[derive(Debug)]
pub struct ForallPlan {
    pub hypotheses: Plan,
    pub conclusion: Pred,
    refutations: OnceLock<Option<Vec<Plan>>>,
}

impl ForallPlan {
    fn new(hypotheses: Plan, conclusion: Pred) -> ForallPlan {
        ForallPlan { hypotheses, conclusion, refutations: OnceLock::new() }
    }

    /// For each conjunct of the conclusion the search for values that break it: together they decide the quantifier.
    /// Only where every conjunct is defined for all values, because such a search does not meet the others.
    pub fn refutations(&self) -> Option<&[Plan]> {
        self.refutations
            .get_or_init(|| {
                let vars = &self.hypotheses.vars;
                if matches!(self.conclusion.kind, PredKind::False) {
                    return None;
                }
                let mut parts: Vec<&Pred> = Vec::new();
                let mut open = vec![&self.conclusion];
                while let Some(p) = open.pop() {
                    match &p.kind {
                        PredKind::And(ps) => open.extend(ps.iter().rev()),
                        _ => parts.push(p),
                    }
                }
                if !parts.iter().all(|p| effect_free_choice::is_total(p, vars)) {
                    return None;
                }
                let search = |p: &Pred| {
                    let mut plan = Plan::of_conjuncts(vars.clone(), self.hypotheses.conjuncts.clone());
                    plan.add(&Pred { kind: PredKind::Not(Box::new(p.clone())), span: p.span });
                    plan.refute();
                    plan
                };
                Some(parts.into_iter().map(search).collect())
            })
            .as_deref()
    }
}

impl Plan {
    pub fn new(vars: &[VarId], preds: &[&Pred]) -> Plan {
        let mut plan = Plan::of_conjuncts(vars.to_vec(), Vec::new());
        for p in preds {
            plan.add(p);
        }
        plan.conclude();
        plan
    }

    /// Adds what several conjuncts say together.
    fn conclude(&mut self) {
        // An equation stands in place of the quantifier that it says the same as.
        for (number, equation) in told_functions(&self.conjuncts, &self.vars) {
            self.conjuncts[number] = Arc::new(Conjunct::new(equation, false, false));
        }
        let mut together = common_sequences(&self.conjuncts);
        together.extend(ends_of_relations(&self.conjuncts));
        together.extend(functions_on_their_domains(&self.conjuncts));
        together.extend(restricted_sets(&self.conjuncts));
        together.extend(bounded_records(&self.conjuncts));
        for (pred, partial) in together {
            self.push_from(pred, true, partial);
        }
        self.refute();
    }

    /// Adds what is false if the conjuncts contradict each other whatever the values are.
    fn refute(&mut self) {
        // A derived conjunct may be false where the one it follows from has no value.
        let own: Vec<&Pred> = self.conjuncts.iter().filter(|c| !c.derived).map(|c| &c.pred).collect();
        if contradict(&own, &self.vars) {
            let span = self.conjuncts.first().map(|c| c.pred.span).unwrap_or_default();
            self.push(Pred { kind: PredKind::False, span }, false);
        }
    }

    /// The plan of predicates that stand in front of each other, as nested guards do: where one is undefined, what
    /// stands behind it is not looked at.
    pub(crate) fn staged(vars: &[VarId], preds: &[&Pred]) -> Plan {
        let mut plan = Plan::of_conjuncts(vars.to_vec(), Vec::new());
        for (i, p) in preds.iter().enumerate() {
            let before = plan.conjuncts.len();
            plan.add(p);
            if i + 1 < preds.len() && plan.conjuncts[before..].iter().any(|c| c.partial) {
                plan.stages.push(plan.conjuncts.len());
            }
        }
        plan.conclude();
        plan
    }

    /// Whether some conjunct may have no truth value.
    pub(crate) fn is_partial(&self) -> bool {
        self.conjuncts.iter().any(|c| c.partial)
    }

    /// Whether the search for solutions passes over undefined valuations by the form of the plan alone.
    pub(crate) fn is_loose(&self) -> bool {
        !self.stages.is_empty() || self.conjuncts.iter().any(|c| c.derived && c.partial)
    }

    /// A plan made of conjuncts of another one.
    pub(crate) fn of_conjuncts(vars: Vec<VarId>, conjuncts: Vec<Arc<Conjunct>>) -> Plan {
        Plan { own: vars.len(), vars, conjuncts, stages: Vec::new() }
    }

    /// Adds a conjunct. One that is derived from a conjunct that may be undefined counts as partial itself.
    fn push_from(&mut self, pred: Pred, derived: bool, from_partial: bool) {
        self.conjuncts.push(Arc::new(Conjunct::new(pred, derived, from_partial)));
    }

    fn push(&mut self, pred: Pred, derived: bool) {
        self.push_from(pred, derived, false);
    }

    fn rel(&mut self, op: RelOp, a: &Expr, b: &Expr, span: Span, derived: bool) {
        let pred = Pred { kind: PredKind::Rel(op, a.clone(), b.clone()), span };
        if derived { self.push(pred, true) } else { self.add(&pred) }
    }

    /// Parts that together say the same as `whole`, if all of it has a value. Where some of it may have none, a part
    /// that is false must not hide that: the whole is tested then, and the parts only bind variables.
    fn split_into(&mut self, whole: &Pred, parts: &[Pred]) {
        if !pred_may_be_undefined(whole) {
            parts.iter().for_each(|p| self.add(p));
            return;
        }
        self.push(whole.clone(), false);
        let mut inner = Plan::of_conjuncts(Vec::new(), Vec::new());
        parts.iter().for_each(|p| inner.add(p));
        // A LET inside would need variables of its own.
        if !inner.vars.is_empty() {
            return;
        }
        for c in &inner.conjuncts {
            self.push_from(c.pred.clone(), true, true);
        }
    }

    pub(crate) fn add(&mut self, p: &Pred) {
        let span = p.span;
        match &p.kind {
            PredKind::True => {}
            PredKind::And(ps) => ps.iter().for_each(|q| self.add(q)),
            PredKind::Label(_, q) => self.add(q),
            PredKind::Not(q) => self.add_negation(q, p),
            // A binding without a value leaves the whole undefined, whatever the body is.
            PredKind::Let(bindings, _) if bindings.iter().any(|(_, e)| may_be_undefined(e)) => {
                self.push(p.clone(), false);
            }
            PredKind::Let(bindings, body) => {
                for (v, e) in bindings {
                    self.vars.push(*v);
                    let var = Expr { kind: ExprKind::Var(*v), ty: e.ty.clone(), span: e.span };
                    self.push(Pred { kind: PredKind::Rel(RelOp::Equal, var, e.clone()), span }, false);
                }
                self.add(body);
            }
            PredKind::Partition(whole, parts) => {
                self.push(p.clone(), false);
                let from = (span, pred_may_be_undefined(p));
                for part in parts {
                    if let ExprKind::SetExt(es) = &part.kind {
                        es.iter().for_each(|e| self.derive(RelOp::In, e, whole, from));
                    } else {
                        self.derive(RelOp::Subset, part, whole, from);
                    }
                }
            }
            PredKind::Rel(op, a, b) => {
                self.add_relation(*op, a, b, p);
                self.add_consequences(p);
            }
            PredKind::Forall(..) => {
                self.push(p.clone(), false);
                self.add_consequences(p);
            }
            _ => self.push(p.clone(), false),
        }
    }

    fn add_consequences(&mut self, p: &Pred) {
        for q in consequences(p, &self.vars) {
            self.push_from(q, true, pred_may_be_undefined(p));
        }
    }

    /// `a op b` follows from a conjunct that stands at `from.0` and may be undefined if `from.1`.
    fn derive(&mut self, op: RelOp, a: &Expr, b: &Expr, from: (Span, bool)) {
        let pred = Pred { kind: PredKind::Rel(op, a.clone(), b.clone()), span: from.0 };
        self.push_from(pred, true, from.1);
    }

    fn add_relation(&mut self, op: RelOp, a: &Expr, b: &Expr, p: &Pred) {
        let span = p.span;
        let rel = |op, a: &Expr, b: &Expr| Pred { kind: PredKind::Rel(op, a.clone(), b.clone()), span };
        match (op, &a.kind, &b.kind) {
            // A truth value that is known says what the predicate says, and has a value where the predicate has.
            (RelOp::Equal, ExprKind::BoolOf(q), ExprKind::Bool(known))
            | (RelOp::Equal, ExprKind::Bool(known), ExprKind::BoolOf(q)) => {
                if *known {
                    self.add(q);
                } else {
                    self.add_negation(q, &Pred { kind: PredKind::Not(q.clone()), span });
                }
            }
            (RelOp::Equal, ExprKind::Pair(x, y), ExprKind::Pair(z, w)) => {
                self.split_into(p, &[rel(RelOp::Equal, x, z), rel(RelOp::Equal, y, w)]);
            }
            (RelOp::In, ExprKind::Pair(x, y), ExprKind::Binary(BinOp::Cartesian, s, t)) => {
                self.split_into(p, &[rel(RelOp::In, x, s), rel(RelOp::In, y, t)]);
            }
            (RelOp::In, _, ExprKind::Binary(BinOp::Inter, s, t)) => {
                self.split_into(p, &[rel(RelOp::In, a, s), rel(RelOp::In, a, t)]);
            }
            (RelOp::In, _, ExprKind::Binary(BinOp::SetMinus, s, t)) => {
                self.split_into(p, &[rel(RelOp::In, a, s), rel(RelOp::NotIn, a, t)]);
            }
            (RelOp::In, _, ExprKind::Unary(UnOp::Pow, s)) => self.rel(RelOp::Subset, a, s, span, false),
            // A relation is a part of the product.
            (RelOp::In, _, ExprKind::Binary(BinOp::Relation, s, t)) => {
                let ty = b.ty.clone();
                let ty = match ty {
                    Type::Pow(t) => (*t).clone(),
                    other => other,
                };
                let product =
                    Expr { kind: ExprKind::Binary(BinOp::Cartesian, s.clone(), t.clone()), ty, span: b.span };
                self.rel(RelOp::Subset, a, &product, span, false);
            }
            // The items of a sequence lie in the set it is over.
            (
                RelOp::In,
                ExprKind::SeqExt(es),
                ExprKind::Unary(UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm, s),
            ) => {
                self.push(p.clone(), false);
                let from = (span, pred_may_be_undefined(p));
                es.iter().for_each(|e| self.derive(RelOp::In, e, s, from));
            }
            // So do the items of a sequence, and the rows of a listed function, in the sets the function is between.
            (RelOp::In, ExprKind::SeqExt(es) | ExprKind::SetExt(es), ExprKind::Binary(op, s, t))
                if op.arrow().is_some() =>
            {
                self.push(p.clone(), false);
                let from = (span, pred_may_be_undefined(p));
                for e in es {
                    match &e.kind {
                        _ if matches!(a.kind, ExprKind::SeqExt(_)) => self.derive(RelOp::In, e, t, from),
                        ExprKind::Pair(x, y) => {
                            self.derive(RelOp::In, x, s, from);
                            self.derive(RelOp::In, y, t, from);
                        }
                        _ => {}
                    }
                }
            }
            // An interval is empty if its ends are in the wrong order.
            (
                RelOp::Equal | RelOp::NotEqual,
                ExprKind::Binary(BinOp::Interval, low, high),
                ExprKind::SetExt(es),
            )
            | (
                RelOp::Equal | RelOp::NotEqual,
                ExprKind::SetExt(es),
                ExprKind::Binary(BinOp::Interval, low, high),
            ) if es.is_empty() => {
                let order = if op == RelOp::Equal { RelOp::Less } else { RelOp::GreaterEqual };
                self.split_into(p, &[rel(order, high, low)]);
            }
            // Nothing is left of a set that lies in the other.
            (
                RelOp::Equal | RelOp::NotEqual,
                ExprKind::Binary(BinOp::SetMinus, s, t),
                ExprKind::SetExt(es),
            )
            | (
                RelOp::Equal | RelOp::NotEqual,
                ExprKind::SetExt(es),
                ExprKind::Binary(BinOp::SetMinus, s, t),
            ) if es.is_empty() => {
                let op = if op == RelOp::Equal { RelOp::Subset } else { RelOp::NotSubset };
                self.split_into(p, &[rel(op, s, t)]);
            }
            (RelOp::Subset, ExprKind::SetExt(es), _) if !es.is_empty() => {
                let parts: Vec<Pred> = es.iter().map(|e| rel(RelOp::In, e, b)).collect();
                self.split_into(p, &parts);
            }
            (RelOp::Equal, _, _) => {
                self.push(p.clone(), false);
                let from = (span, self.conjuncts.last().is_some_and(|whole| whole.partial));
                for (x, y) in [(a, b), (b, a)] {
                    match &x.kind {
                        ExprKind::SetExt(es) if es.len() > 1 => {
                            es.iter().for_each(|e| self.derive(RelOp::In, e, y, from));
                        }
                        ExprKind::Binary(BinOp::Union, s, t) => {
                            self.derive_subset(s, y, from);
                            self.derive_subset(t, y, from);
                        }
                        _ => {}
                    }
                }
            }
            (RelOp::Subset, ExprKind::Binary(BinOp::Union, s, t), _) => {
                self.split_into(p, &[rel(RelOp::Subset, s, b), rel(RelOp::Subset, t, b)]);
            }
            (RelOp::StrictSubset, _, _) => {
                self.push(p.clone(), false);
                self.derive(RelOp::Subset, a, b, (span, pred_may_be_undefined(p)));
            }
            _ => self.push(p.clone(), false),
        }
    }

    /// `s <: y` follows from a conjunct.
    fn derive_subset(&mut self, s: &Expr, y: &Expr, from: (Span, bool)) {
        match &s.kind {
            ExprKind::SetExt(es) => es.iter().for_each(|e| self.derive(RelOp::In, e, y, from)),
            ExprKind::Binary(BinOp::Union, a, b) => {
                self.derive_subset(a, y, from);
                self.derive_subset(b, y, from);
            }
            _ => self.derive(RelOp::Subset, s, y, from),
        }
    }

    /// `not(q)`, written `p`.
    fn add_negation(&mut self, q: &Pred, p: &Pred) {
        let not = |q: &Pred| Pred { kind: PredKind::Not(Box::new(q.clone())), span: q.span };
        match &q.kind {
            PredKind::Not(r) => self.add(r),
            PredKind::Label(_, r) => self.add(&not(r)),
            PredKind::Or(ps) => {
                // A disjunct behind one that is always defined is looked at only where that one is false.
                let total = ps.iter().take_while(|p| !pred_may_be_undefined(p)).count();
                ps[..total].iter().for_each(|p| self.add(&not(p)));
                match &ps[total..] {
                    [] => {}
                    [last] => self.add(&not(last)),
                    rest => {
                        let whole = not(&Pred { kind: PredKind::Or(rest.to_vec()), span: q.span });
                        let parts: Vec<Pred> = rest.iter().map(not).collect();
                        self.split_into(&whole, &parts);
                    }
                }
            }
            PredKind::Implies(a, b) => {
                // Hypotheses that are always defined hold wherever the implication fails; with them, it is about the rest.
                let mut hypotheses = Vec::new();
                conjuncts_of(a, &mut hypotheses);
                let (partial, total): (Vec<&Pred>, Vec<&Pred>) =
                    hypotheses.into_iter().partition(|p| pred_may_be_undefined(p));
                total.into_iter().for_each(|p| self.add(p));
                if partial.is_empty() {
                    return self.add(&not(b));
                }
                let rest = Pred { kind: PredKind::And(partial.into_iter().cloned().collect()), span: a.span };
                let parts = [rest.clone(), not(b)];
                let whole = Pred { kind: PredKind::Implies(Box::new(rest), b.clone()), span: q.span };
                self.split_into(&not(&whole), &parts);
            }
            PredKind::Rel(op, a, b) => {
                self.add(&Pred { kind: PredKind::Rel(complement(*op), a.clone(), b.clone()), span: p.span })
            }
            _ => self.push(p.clone(), false),
        }
    }
}

/// The conjuncts of a predicate, those of conjunctions inside it included.
fn conjuncts_of<'a>(p: &'a Pred, out: &mut Vec<&'a Pred>) {
    match &p.kind {
        PredKind::And(ps) => ps.iter().for_each(|q| conjuncts_of(q, out)),
        _ => out.push(p),
    }
}

impl Conjunct {
    /// A conjunct that follows from others, of which some may be undefined if `partial`.
    pub(crate) fn derived(pred: Pred, partial: bool) -> Arc<Conjunct> {
        Arc::new(Conjunct::new(pred, true, partial))
    }

    fn new(pred: Pred, derived: bool, from_partial: bool) -> Conjunct {
        let (left, right, left_partial, right_partial) = match &pred.kind {
            PredKind::Rel(_, a, b) => {
                (free::of_expr(a), free::of_expr(b), may_be_undefined(a), may_be_undefined(b))
            }
            _ => (Vec::new(), Vec::new(), false, false),
        };
        let partial = from_partial
            || match &pred.kind {
                PredKind::Rel(..) => left_partial || right_partial,
                _ => pred_may_be_undefined(&pred),
            };
        let free = free::of_pred(&pred);
        let split = OnceLock::new();
        Conjunct { pred, free, left, right, derived, partial, left_partial, right_partial, split }
    }

    /// Whether `split` gives several cases that need no new variables.
    pub(crate) fn has_cases(&self) -> bool {
        match &self.pred.kind {
            PredKind::Or(_) | PredKind::Implies(..) | PredKind::Iff(..) | PredKind::If(..) => true,
            PredKind::Not(q) => matches!(q.kind, PredKind::And(_)),
            _ => false,
        }
    }

    /// The cases a conjunct falls into: its disjuncts, its witnesses, its branches.
    pub(crate) fn split(&self) -> Option<&Split> {
        let not = |q: &Pred| Pred { kind: PredKind::Not(Box::new(q.clone())), span: q.span };
        self.split
            .get_or_init(|| match &self.pred.kind {
                PredKind::Or(ps) => Some(Split::Cases(disjuncts(ps))),
                PredKind::Exists(vars, body) => Some(Split::Cases(vec![Plan::new(vars, &[body])])),
                // A condition without a value is not to be hidden by branches that are false.
                PredKind::If(c, ..) if pred_may_be_undefined(c) => None,
                PredKind::If(c, a, b) => {
                    Some(Split::Cases(vec![Plan::new(&[], &[c, a]), Plan::new(&[], &[&not(c), b])]))
                }
                PredKind::Implies(a, b) => {
                    Some(Split::Cases(vec![Plan::new(&[], &[&not(a)]), Plan::new(&[], &[a, b])]))
                }
                PredKind::Not(q) => match &q.kind {
                    PredKind::And(ps) => {
                        Some(Split::Cases(ps.iter().map(|p| Plan::new(&[], &[&not(p)])).collect()))
                    }
                    _ => None,
                },
                PredKind::Iff(a, b) => {
                    Some(Split::Cases(vec![Plan::new(&[], &[a, b]), Plan::new(&[], &[&not(a), &not(b)])]))
                }
                // `e : {x|P}` holds if `x=e & P` for some x.
                PredKind::Rel(RelOp::In, e, set) => match &set.kind {
                    ExprKind::Compr(vars, body) => {
                        let mut tuple: Option<Expr> = None;
                        let mut ty = e.ty.clone();
                        let mut types = Vec::new();
                        for _ in 1..vars.len() {
                            if let Type::Prod(a, b) = ty {
                                types.push((*b).clone());
                                ty = (*a).clone();
                            } else {
                                return None;
                            }
                        }
                        types.push(ty);
                        types.reverse();
                        for (v, t) in vars.iter().zip(types) {
                            let var = Expr { kind: ExprKind::Var(*v), ty: t.clone(), span: set.span };
                            tuple = Some(match tuple {
                                None => var,
                                Some(left) => Expr {
                                    ty: Type::prod(left.ty.clone(), t),
                                    kind: ExprKind::Pair(Box::new(left), Box::new(var)),
                                    span: set.span,
                                },
                            });
                        }
                        let equation = Pred {
                            kind: PredKind::Rel(RelOp::Equal, tuple?, e.clone()),
                            span: self.pred.span,
                        };
                        Some(Split::Cases(vec![Plan::new(vars, &[&equation, body])]))
                    }
                    ExprKind::Binary(BinOp::Union, s, t) if !may_be_undefined(set) => {
                        let part = |s: &Expr| Pred {
                            kind: PredKind::Rel(RelOp::In, e.clone(), s.clone()),
                            span: self.pred.span,
                        };
                        Some(Split::Cases(vec![Plan::new(&[], &[&part(s)]), Plan::new(&[], &[&part(t)])]))
                    }
                    _ => None,
                },
                _ => None,
            })
            .as_ref()
    }
}

impl Interpreter<'_> {
    /// The plan for the variables and predicates of a binder. Not kept: for formulas built on the way.
    pub(crate) fn plan_of(&self, vars: &[VarId], preds: &[&Pred]) -> Arc<Plan> {
        // A binder has one predicate; with more, or part of the variables, it is another question.
        if let ([pred], Some(first)) = (preds, vars.first())
            && self.is_declared(*first)
        {
            if let Some(plan) = self.cache.plans.borrow().get(first)
                && plan.vars[..plan.own] == *vars
            {
                return plan.clone();
            }
            let plan = Arc::new(Plan::new(vars, &[pred]));
            if !self.cache.plans.borrow().contains_key(first) {
                self.cache.plans.borrow_mut().insert(*first, plan.clone());
            }
            return plan;
        }
        Arc::new(Plan::new(vars, preds))
    }

    pub fn forall_plan(&self, vars: &[VarId], body: &Pred) -> Arc<ForallPlan> {
        let key = vars.first().copied().filter(|v| self.is_declared(*v));
        if let Some(plan) = key.and_then(|k| self.cache.foralls.borrow().get(&k).cloned()) {
            return plan;
        }
        let mut hypotheses = Vec::new();
        let mut body = body;
        loop {
            match &body.kind {
                PredKind::Label(_, p) => body = p,
                PredKind::Implies(p, q) => {
                    hypotheses.push(&**p);
                    body = q;
                }
                _ => break,
            }
        }
        let plan = Arc::new(if hypotheses.is_empty() {
            // A counterexample is a solution of the negation.
            let negation = Pred { kind: PredKind::Not(Box::new(body.clone())), span: body.span };
            let never = Pred { kind: PredKind::False, span: body.span };
            ForallPlan::new(Plan::new(vars, &[&negation]), never)
        } else {
            ForallPlan::new(Plan::staged(vars, &hypotheses), body.clone())
        });
        if let Some(k) = key {
            self.cache.foralls.borrow_mut().insert(k, plan.clone());
        }
        plan
    }
}

/// The cases of a disjunction. A disjunct counts only where those in front of it have a value.
fn disjuncts(ps: &[Pred]) -> Vec<Plan> {
    let mut before: Vec<Pred> = Vec::new();
    let mut cases = Vec::with_capacity(ps.len());
    for p in ps {
        let preds: Vec<&Pred> = std::iter::once(p).chain(&before).collect();
        cases.push(Plan::new(&[], &preds));
        if pred_may_be_undefined(p) {
            before.push(Pred { kind: PredKind::Not(Box::new(p.clone())), span: p.span });
        }
    }
    cases
}

fn complement(op: RelOp) -> RelOp {
    match op {
        RelOp::Equal => RelOp::NotEqual,
        RelOp::NotEqual => RelOp::Equal,
        RelOp::In => RelOp::NotIn,
        RelOp::NotIn => RelOp::In,
        RelOp::Subset => RelOp::NotSubset,
        RelOp::NotSubset => RelOp::Subset,
        RelOp::StrictSubset => RelOp::NotStrictSubset,
        RelOp::NotStrictSubset => RelOp::StrictSubset,
        RelOp::Less => RelOp::GreaterEqual,
        RelOp::LessEqual => RelOp::Greater,
        RelOp::Greater => RelOp::LessEqual,
        RelOp::GreaterEqual => RelOp::Less,
    }
}
