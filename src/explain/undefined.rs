//! Why a formula has no value: the innermost expression that is undefined, with the values of its operands.
//!
//! In: a formula whose evaluation failed, and the environment. Out: the culprit, under the bindings of quantifiers and
//! comprehensions for which it fails. Never here: how the evaluation goes; each part is simply evaluated again.

use super::formula::bare;
use super::{Explainer, Formula, Node, Place, Worth};
use bombus_base::Span;
use bombus_evaluate::env::Env;
pub use bombus_evaluate::error::{Error, Flow};
use bombus_lang::free;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, VarId};
use bombus_lang::value::Value;

/// Deeper parts are not followed.
const DEPTH: usize = 64;

impl Explainer<'_> {
    /// The culprit of an undefined predicate, if it is found.
    pub(super) fn undefined_pred(&self, env: &mut Env, p: &Pred, depth: usize) -> Option<Node> {
        if depth > DEPTH {
            return None;
        }
        let depth = depth + 1;
        match &bare(p).kind {
            PredKind::And(ps) | PredKind::Or(ps) => {
                let q = ps.iter().find(|q| self.is_undefined(env, q))?;
                self.undefined_pred(env, q, depth)
            }
            PredKind::Not(q) => self.undefined_pred(env, q, depth),
            PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                let q = [a, b].into_iter().find(|q| self.is_undefined(env, q))?;
                self.undefined_pred(env, q, depth)
            }
            PredKind::If(c, a, b) => {
                let q = match self.interpreter.holds(env, c) {
                    Ok(true) => a,
                    Ok(false) => b,
                    Err(_) => c,
                };
                self.undefined_pred(env, q, depth)
            }
            PredKind::Rel(_, a, b) => {
                self.undefined_expr(env, a, depth).or_else(|| self.undefined_expr(env, b, depth))
            }
            PredKind::Finite(e) => self.undefined_expr(env, e, depth),
            PredKind::Partition(e, es) => {
                std::iter::once(e).chain(es).find_map(|e| self.undefined_expr(env, e, depth))
            }
            PredKind::External(_, es) => es.iter().find_map(|e| self.undefined_expr(env, e, depth)),
            PredKind::Forall(vars, body) | PredKind::Exists(vars, body) => {
                self.undefined_in_binder(env, vars, body, None, depth)
            }
            PredKind::Let(bindings, body) => {
                self.undefined_in_let(env, bindings, depth, &mut |env| self.undefined_pred(env, body, depth))
            }
            PredKind::True | PredKind::False | PredKind::Label(..) => None,
        }
    }

    fn is_undefined(&self, env: &mut Env, p: &Pred) -> bool {
        self.interpreter.holds(env, p).is_err_and(|e| e.is_finding())
    }

    /// The culprit of an expression, if the expression is undefined.
    pub(super) fn undefined_expr(&self, env: &mut Env, e: &Expr, depth: usize) -> Option<Node> {
        let error = self.interpreter.eval_canon(env, e).err().filter(Error::is_finding)?;
        if depth > DEPTH {
            return None;
        }
        let depth = depth + 1;
        let inner = match &e.kind {
            ExprKind::SetExt(es)
            | ExprKind::SeqExt(es)
            | ExprKind::Rec(es)
            | ExprKind::StructSet(es)
            | ExprKind::External(_, es) => es.iter().find_map(|e| self.undefined_expr(env, e, depth)),
            ExprKind::Pair(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Apply(a, b) => {
                self.undefined_expr(env, a, depth).or_else(|| self.undefined_expr(env, b, depth))
            }
            ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Symbolic(a) => {
                self.undefined_expr(env, a, depth)
            }
            ExprKind::Construct(_, _, Some(a)) => self.undefined_expr(env, a, depth),
            ExprKind::BoolOf(p) => self.undefined_pred(env, p, depth),
            ExprKind::Compr(vars, p) => self.undefined_in_binder(env, vars, p, None, depth),
            ExprKind::Big(_, vars, p, x) => self.undefined_in_binder(env, vars, p, Some(x), depth),
            ExprKind::If(c, a, b) => match self.interpreter.holds(env, c) {
                Ok(true) => self.undefined_expr(env, a, depth),
                Ok(false) => self.undefined_expr(env, b, depth),
                Err(_) => self.undefined_pred(env, c, depth),
            },
            ExprKind::Let(bindings, x) => {
                self.undefined_in_let(env, bindings, depth, &mut |env| self.undefined_expr(env, x, depth))
            }
            _ => None,
        };
        inner.or_else(|| Some(self.culprit(env, e, &error)))
    }

    /// An expression whose operands have values and that has none itself.
    fn culprit(&self, env: &mut Env, e: &Expr, error: &Error) -> Node {
        self.count();
        self.claim(env, Formula::Expr(e.clone()), None);
        let mut node = Node::new(self.expr_text(e, Span::default()), Worth::Undefined(error.told()));
        node.place = Place::of(self.sources, e.span);
        let operands: Vec<&Expr> = match &e.kind {
            ExprKind::Apply(f, x) => {
                self.domain_note(env, f, x, &mut node);
                vec![x]
            }
            ExprKind::Binary(_, a, b) | ExprKind::Pair(a, b) => vec![a, b],
            ExprKind::Unary(_, a) | ExprKind::Field(a, _) => vec![a],
            ExprKind::External(_, es) | ExprKind::SetExt(es) | ExprKind::SeqExt(es) => es.iter().collect(),
            _ => Vec::new(),
        };
        operands.into_iter().for_each(|x| self.side(env, x, &mut node, e.span));
        node
    }

    /// Where a function is defined, or what it is several times.
    fn domain_note(&self, env: &mut Env, f: &Expr, x: &Expr, node: &mut Node) {
        let (Ok(function), Ok(point)) =
            (self.interpreter.eval_lazy(env, f), self.interpreter.eval_canon(env, x))
        else {
            return;
        };
        let text = self.expr_text(f, Span::default());
        let bombus_lang::typed::Type::Pow(row) = &f.ty else { return };
        let bombus_lang::typed::Type::Prod(from, to) = &**row else { return };
        let images: Vec<String> = function
            .as_set()
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_pair)
            .filter(|(at, _)| **at == point)
            .map(|(_, image)| self.show(image, to))
            .collect();
        if images.len() > 1 {
            node.notes.push(format!(
                "{text} maps {} to {}",
                self.show(&point, from),
                images.join(" and to ")
            ));
        } else if let Ok(domain) = self.interpreter.domain(env, &function)
            && let Ok(domain) = self.interpreter.listed_form(env, domain)
        {
            let domain = self.show(&domain, &bombus_lang::typed::Type::pow((**from).clone()));
            node.notes.push(format!("dom({text}) = {domain}"));
        }
    }

    fn undefined_in_let(
        &self,
        env: &mut Env,
        bindings: &[(VarId, Expr)],
        depth: usize,
        body: &mut dyn FnMut(&mut Env) -> Option<Node>,
    ) -> Option<Node> {
        let mut saved = Vec::new();
        let mut witness = Vec::new();
        let mut found = None;
        for (v, e) in bindings {
            match self.interpreter.eval_canon(env, e) {
                Ok(value) => {
                    witness.push(self.named(*v, &value));
                    saved.push((*v, env.replace(*v, Some(value))));
                }
                Err(_) => {
                    found = self.undefined_expr(env, e, depth);
                    break;
                }
            }
        }
        let found = found.or_else(|| body(env));
        env.restore(saved);
        found.map(|mut node| {
            node.witness.splice(0..0, witness);
            node
        })
    }

    /// The culprit under the first bindings for which a conjunct, or the expression behind them, has no value.
    pub(super) fn undefined_in_binder(
        &self,
        env: &mut Env,
        vars: &[VarId],
        body: &Pred,
        then: Option<&Expr>,
        depth: usize,
    ) -> Option<Node> {
        let mut found: Option<Node> = None;
        // A universal `P => Q` is looked at where P holds.
        let (hypotheses, conclusion) = match &bare(body).kind {
            PredKind::Implies(p, q) => (&**p, Some(&**q)),
            _ => (body, None),
        };
        let plan = std::sync::Arc::new(bombus_evaluate::solve::plan::Plan::new(vars, &[hypotheses]));
        self.interpreter.cache.kept.borrow_mut().push(plan.clone());
        let run = self.interpreter.run_plan(env, &plan, &mut |env, error| {
            if let Some(e) = error.filter(|e| e.is_stop()) {
                return Err(e.clone());
            }
            let culprit = match error {
                Some(e) if !e.is_finding() => None,
                Some(_) => hypotheses.conjuncts().into_iter().find_map(|c| {
                    let bound = free::of_pred(c).iter().all(|v| !vars.contains(v) || env.is_bound(*v));
                    (bound && self.is_undefined(env, c)).then(|| self.undefined_pred(env, c, depth)).flatten()
                }),
                None => conclusion
                    .filter(|q| self.is_undefined(env, q))
                    .and_then(|q| self.undefined_pred(env, q, depth))
                    .or_else(|| then.and_then(|x| self.undefined_expr(env, x, depth))),
            };
            Ok(match culprit {
                Some(mut node) => {
                    let witness = vars.iter().filter_map(|v| Some(self.named(*v, env.get(*v)?)));
                    node.witness.splice(0..0, witness.collect::<Vec<_>>());
                    found = Some(node);
                    Flow::Stop
                }
                None => Flow::Go,
            })
        });
        self.note_stop(&run);
        found
    }
}
