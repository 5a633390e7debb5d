//! Predicates: the literal of their being true, and of their being defined.
//!
//! In: a typed predicate and an environment. Out: two literals, by the rules of docs/definedness.md: a conjunction is
//! false if a conjunct is, else undefined if one is; disjunctions and implications go from left to right; quantifiers
//! are conjunctions and disjunctions of their instances. Never here: bindings (`binder`).

use super::member::is_whole;
use super::term::{LISTED, Rows, Term};
use super::{Encoder, Env, Slot, Truth};
use crate::sat::Lit;
use bombus_lang::free;
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;

impl Encoder<'_> {
    /// A predicate; one that is not understood is an unknown truth.
    pub fn pred(&mut self, env: &mut Env, p: &Pred) -> Truth {
        if self.is_full() {
            return self.opaque_pred(env, p, "too many literals");
        }
        let sure = |holds: Lit| Truth { holds, defined: Lit::TRUE };
        match &p.kind {
            PredKind::True => sure(Lit::TRUE),
            PredKind::False => sure(Lit::FALSE),
            PredKind::And(ps) => {
                let all: Vec<Truth> = ps.iter().map(|p| self.pred(env, p)).collect();
                self.all_of(&all)
            }
            PredKind::Or(ps) => {
                let mut all: Vec<Truth> = ps.iter().map(|p| self.pred(env, p)).collect();
                let Some(mut out) = all.pop() else { return sure(Lit::FALSE) };
                while let Some(left) = all.pop() {
                    let rest = self.g.or(left.holds, out.defined);
                    out = Truth {
                        holds: self.g.or(left.holds, out.holds),
                        defined: self.g.and(left.defined, rest),
                    };
                }
                out
            }
            PredKind::Not(p) => {
                let t = self.pred(env, p);
                Truth { holds: !t.holds, defined: t.defined }
            }
            PredKind::Implies(a, b) => {
                let (a, b) = (self.pred(env, a), self.pred(env, b));
                let rest = self.g.implies(a.holds, b.defined);
                Truth { holds: self.g.implies(a.holds, b.holds), defined: self.g.and(a.defined, rest) }
            }
            PredKind::Iff(a, b) => {
                let (a, b) = (self.pred(env, a), self.pred(env, b));
                Truth { holds: self.g.iff(a.holds, b.holds), defined: self.g.and(a.defined, b.defined) }
            }
            PredKind::Rel(op, a, b) => match self.relation(env, *op, a, b) {
                Some(t) => t,
                None => self.opaque_pred(env, p, "a comparison of values that have no literals"),
            },
            PredKind::Forall(vars, body) => match self.quantified(env, vars, body, true) {
                Some(t) => t,
                None => self.some_instances(env, p, vars, body),
            },
            PredKind::Exists(vars, body) => match self.quantified(env, vars, body, false) {
                Some(t) => t,
                None => self.some_binding(env, p, vars, body),
            },
            PredKind::If(c, a, b) => {
                let (c, a, b) = (self.pred(env, c), self.pred(env, a), self.pred(env, b));
                let branch = self.g.ite(c.holds, a.defined, b.defined);
                Truth { holds: self.g.ite(c.holds, a.holds, b.holds), defined: self.g.and(c.defined, branch) }
            }
            PredKind::Let(bindings, body) => {
                let mut saved = Vec::new();
                let mut defined = Vec::new();
                for (v, e) in bindings {
                    let (term, d) = self.expr(env, e);
                    defined.push(d);
                    saved.push((*v, env.put(*v, Some(Slot { term, set: Lit::TRUE }))));
                }
                let t = self.pred(env, body);
                for (v, slot) in saved {
                    env.put(v, slot);
                }
                defined.push(t.defined);
                Truth { holds: t.holds, defined: self.g.and_all(&defined) }
            }
            PredKind::Finite(e) => match self.expr(env, e) {
                (Term::Set(_) | Term::Images(_), d) => Truth { holds: Lit::TRUE, defined: d },
                _ => self.opaque_pred(env, p, "finiteness of a set that has no literals"),
            },
            PredKind::Partition(whole, parts) => match self.partition(env, whole, parts) {
                Some(t) => t,
                None => self.opaque_pred(env, p, "a partition of sets that have no literals"),
            },
            PredKind::External(..) => self.opaque_pred(env, p, "a predicate of the tool"),
            PredKind::Label(_, p) => self.pred(env, p),
        }
    }

    /// A conjunction; the order means nothing.
    pub fn all_of(&mut self, all: &[Truth]) -> Truth {
        let holds: Vec<Lit> = all.iter().map(|t| t.holds).collect();
        let defined: Vec<Lit> = all.iter().map(|t| t.defined).collect();
        let every = self.g.and_all(&defined);
        let holds = self.g.and_all(&holds);
        if every == Lit::TRUE {
            return Truth { holds, defined: every };
        }
        let wrong: Vec<Lit> = all.iter().map(|t| self.surely_not(*t)).collect();
        let wrong = self.g.or_all(&wrong);
        Truth { holds, defined: self.g.or(wrong, every) }
    }

    fn quantified(&mut self, env: &mut Env, vars: &[VarId], body: &Pred, all: bool) -> Option<Truth> {
        if all && let Some((vars, body)) = merged(vars, body) {
            return self.quantified(env, &vars, body, true);
        }
        // `!x.(P => Q)` asks for bindings of P; where P is false the instance is true.
        let bound_by = match (&strip(body).kind, all) {
            (PredKind::Implies(p, _), true) => p,
            (_, true) => return self.forall_of_type(env, vars, body),
            _ => body,
        };
        let mut instances = Vec::new();
        let sure = self.bindings(env, vars, bound_by, &mut |this, env| {
            let t = this.pred(env, body);
            instances.push(if all { t } else { Truth { holds: !t.holds, defined: t.defined } });
            Some(())
        })?;
        let t = self.all_of(&instances);
        let t = if all { t } else { Truth { holds: !t.holds, defined: t.defined } };
        Some(self.where_sure(sure, t))
    }

    /// `!x.(P)` without a premise: `x` runs through its whole type.
    fn forall_of_type(&mut self, env: &mut Env, vars: &[VarId], body: &Pred) -> Option<Truth> {
        let everything = Pred { kind: PredKind::True, span: body.span };
        let mut instances = Vec::new();
        self.bindings(env, vars, &everything, &mut |this, env| {
            instances.push(this.pred(env, body));
            Some(())
        })?;
        Some(self.all_of(&instances))
    }

    /// `#x.(P)` with too many bindings: where the literal holds, some unknown satisfies P, and where a witness satisfies P,
    /// the literal holds. Elsewhere nothing is said, so the literal stands for more than the predicate does.
    fn some_binding(&mut self, env: &mut Env, p: &Pred, vars: &[VarId], body: &Pred) -> Truth {
        let known = self.stand_ins.len();
        let truth = self.opaque_pred(env, p, "a quantifier whose bindings are not bounded");
        if self.stand_ins.len() == known {
            return truth;
        }
        let found = self.witnessed(env, vars, &[body], &mut |this, env| {
            let inside = this.pred(env, body);
            this.surely(inside)
        });
        // Only a truth that is defined is looked for among defined instances.
        self.g.add_clause(&[!truth.holds, !truth.defined, found.some]);
        for sure in found.proposed {
            self.g.add_clause(&[!sure, truth.holds]);
            self.g.add_clause(&[!sure, truth.defined]);
        }
        debug_assert!(truth.defined == Lit::TRUE || pred_may_be_undefined(p));
        truth
    }

    /// `!x.(P)` with too many bindings: where the literal does not hold, some unknown falsifies P; where the literal holds, P
    /// holds of the least and of the greatest set, if `x` is a set. Of other bindings nothing is said where the literal
    /// holds, so the literal stands for more than the predicate does.
    fn some_instances(&mut self, env: &mut Env, p: &Pred, vars: &[VarId], body: &Pred) -> Truth {
        let known = self.stand_ins.len();
        let truth = self.opaque_pred(env, p, "a quantifier whose bindings are not bounded");
        if self.stand_ins.len() == known {
            return truth;
        }
        let wrong = self.counterexample(env, vars, body);
        // A conjunction that is false and defined has an instance that is.
        self.g.add_clause(&[truth.holds, !truth.defined, wrong]);
        let ([v], PredKind::Implies(premise, _)) = (vars, &strip(body).kind) else { return truth };
        // Instances are made once, of what is said of constants: in every state they would be too many.
        let machine = self.machine;
        if !free::of_pred(p).iter().all(|v| machine.constants.contains(v)) {
            return truth;
        }
        let Some(greatest) = self.greatest_set(env, *v, premise) else { return truth };
        for set in [Term::set(Rows::new()), greatest] {
            let saved = env.put(*v, Some(Slot { term: set, set: Lit::TRUE }));
            let instance = self.pred(env, body);
            env.put(*v, saved);
            let fine = self.surely(instance);
            // A conjunction of instances that is true and defined has defined instances only.
            self.g.add_clause(&[!truth.holds, !truth.defined, fine]);
        }
        truth
    }

    /// An unknown binding falsifies what a quantifier says of all of them.
    fn counterexample(&mut self, env: &mut Env, vars: &[VarId], body: &Pred) -> Lit {
        let bound_by = match &strip(body).kind {
            PredKind::Implies(p, _) => p,
            _ => &Pred { kind: PredKind::True, span: body.span },
        };
        let falsified = &mut |this: &mut Self, env: &mut Env| {
            let inside = this.pred(env, body);
            this.surely_not(inside)
        };
        self.unknown_binding(env, vars, &[bound_by], falsified).0
    }

    /// The greatest set of those that `v <: A`, `v : POW(A)` or `v : A <-> B` in a premise allow.
    fn greatest_set(&mut self, env: &mut Env, v: VarId, premise: &Pred) -> Option<Term> {
        let saved = env.put(v, None);
        let mut found = None;
        for p in premise.conjuncts() {
            let PredKind::Rel(op, x, set) = &p.kind else { continue };
            if !matches!(x.kind, ExprKind::Var(w) if w == v) || free::mentions(set, &|w| w == v) {
                continue;
            }
            found = match (op, &set.kind) {
                (RelOp::Subset, _) => self.expr(env, set).0.as_set().cloned(),
                (RelOp::In, ExprKind::Unary(UnOp::Pow, of)) => self.expr(env, of).0.as_set().cloned(),
                (RelOp::In, ExprKind::Binary(BinOp::Relation, a, b)) => {
                    let (a, b) = (self.expr(env, a).0, self.expr(env, b).0);
                    a.as_set().zip(b.as_set()).filter(|(a, b)| a.len() * b.len() <= LISTED).map(|(a, b)| {
                        let mut rows = Rows::new();
                        for (x, l) in a {
                            for (y, m) in b {
                                rows.insert(Value::pair(x.clone(), y.clone()), self.g.and(*l, *m));
                            }
                        }
                        rows
                    })
                }
                _ => None,
            };
            if found.is_some() {
                break;
            }
        }
        env.put(v, saved);
        found.map(Term::set)
    }

    fn relation(&mut self, env: &mut Env, op: RelOp, a: &Expr, b: &Expr) -> Option<Truth> {
        if a.ty == Type::Real {
            return None;
        }
        match op {
            // A variable is of its type, even one without a value: nothing is read (docs/definedness.md, rule 11).
            RelOp::In | RelOp::NotIn if matches!(a.kind, ExprKind::Var(_)) && is_type(b) => {
                Some(Truth { holds: Lit::TRUE.signed(op == RelOp::In), defined: Lit::TRUE })
            }
            RelOp::In | RelOp::NotIn => {
                let (x, d) = self.expr(env, a);
                let t = self.element(env, &x, b)?;
                let holds = t.holds.signed(op == RelOp::In);
                Some(Truth { holds, defined: self.g.and(d, t.defined) })
            }
            RelOp::Subset | RelOp::NotSubset | RelOp::StrictSubset | RelOp::NotStrictSubset => {
                self.inclusion(env, op, a, b)
            }
            _ => {
                let ((x, d), (y, e)) = (self.expr(env, a), self.expr(env, b));
                let defined = self.g.and(d, e);
                let holds = match op {
                    RelOp::Equal => self.equal(&x, &y)?,
                    RelOp::NotEqual => !self.equal(&x, &y)?,
                    RelOp::LessEqual => self.num_le(x.as_int()?, y.as_int()?),
                    RelOp::Less => self.num_lt(x.as_int()?, y.as_int()?),
                    RelOp::GreaterEqual => self.num_le(y.as_int()?, x.as_int()?),
                    _ => self.num_lt(y.as_int()?, x.as_int()?),
                };
                Some(Truth { holds, defined })
            }
        }
    }

    fn inclusion(&mut self, env: &mut Env, op: RelOp, a: &Expr, b: &Expr) -> Option<Truth> {
        let strict = matches!(op, RelOp::StrictSubset | RelOp::NotStrictSubset);
        let negated = matches!(op, RelOp::NotSubset | RelOp::NotStrictSubset);
        let may_fail = strict || bombus_lang::partiality::may_be_undefined(b);
        if !may_fail && let Some(images) = self.range_of(env, a) {
            let d = self.is_defined(env, a);
            let holds = self.images_within(env, &images, false, b)?;
            return Some(Truth { holds: holds.signed(!negated), defined: d });
        }
        let (x, d) = self.expr(env, a);
        if !strict && is_whole(b) {
            return Some(Truth { holds: Lit::constant(!negated), defined: d });
        }
        if !may_fail && let Term::Images(images) = &x {
            let holds = self.images_within(env, images, true, b)?;
            return Some(Truth { holds: holds.signed(!negated), defined: d });
        }
        let rows = x.as_set()?.clone();
        let (holds, e) = if may_fail {
            let (y, e) = self.expr(env, b);
            let ys = y.as_set()?.clone();
            let within = self.included(&rows, &ys);
            let back = if strict { self.included(&ys, &rows) } else { Lit::FALSE };
            (self.g.and(within, !back), e)
        } else {
            (self.rows_within(env, &rows, b)?, Lit::TRUE)
        };
        Some(Truth { holds: holds.signed(!negated), defined: self.g.and(d, e) })
    }

    fn included(&mut self, xs: &Rows, ys: &Rows) -> Lit {
        let all: Vec<Lit> = xs
            .iter()
            .map(|(v, l)| {
                let other = ys.get(v).copied().unwrap_or(Lit::FALSE);
                self.g.implies(*l, other)
            })
            .collect();
        self.g.and_all(&all)
    }

    fn partition(&mut self, env: &mut Env, whole: &Expr, parts: &[Expr]) -> Option<Truth> {
        let (x, d) = self.expr(env, whole);
        let xs = x.as_set()?.clone();
        let mut defined = vec![d];
        let mut rows: std::collections::BTreeMap<_, Vec<Lit>> =
            xs.keys().map(|v| (v.clone(), Vec::new())).collect();
        for part in parts {
            let (y, d) = self.expr(env, part);
            defined.push(d);
            for (v, l) in y.as_set()? {
                rows.entry(v.clone()).or_default().push(*l);
            }
        }
        let mut all = Vec::new();
        for (v, lits) in rows {
            let any = self.g.or_all(&lits);
            let own = xs.get(&v).copied().unwrap_or(Lit::FALSE);
            all.push(self.g.iff(any, own));
            all.push(self.g.at_most_one(&lits));
        }
        Some(Truth { holds: self.g.and_all(&all), defined: self.g.and_all(&defined) })
    }
}

/// `!x.(!y.(P))`, also behind a premise that says nothing, as one quantifier over both.
fn merged<'p>(vars: &[VarId], body: &'p Pred) -> Option<(Vec<VarId>, &'p Pred)> {
    let inner = match &strip(body).kind {
        PredKind::Implies(p, q) if matches!(strip(p).kind, PredKind::True) => strip(q),
        PredKind::Forall(..) => strip(body),
        _ => return None,
    };
    let PredKind::Forall(more, body) = &inner.kind else { return None };
    Some(([vars, more].concat(), body))
}

/// The predicate below its labels.
pub(super) fn strip(p: &Pred) -> &Pred {
    let mut p = p;
    while let PredKind::Label(_, inner) = &p.kind {
        p = inner;
    }
    p
}

/// Whether a set is a whole type that has no constructors.
fn is_type(set: &Expr) -> bool {
    matches!(&set.kind, ExprKind::TypeSet(ty) if !matches!(ty, Type::Free(_)))
}
