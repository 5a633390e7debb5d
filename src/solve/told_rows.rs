//! Functions whose rows the conjuncts tell one after another: `f : 0..9 --> S & f(0) = a & !n.(n:1..9 => f(n) = g(f(n-1)))`.
//!
//! In: a variable that is a total function on points that can be listed, and the conjuncts about it. Out: the one function that
//! they leave, if they tell every row. A row is told by an equation whose other side has a value with the rows that are told
//! already: a function with another row there makes the equation false. What needs more than rows that are known is not
//! told by it, and the function as a whole is tested with all conjuncts in the end.

use crate::Interpreter;
use crate::env::{Env, Rows};
use crate::error::{Error, Flow, Res};
use crate::solve::functions::{prunable, tells_rows};
use crate::solve::order::{Item, Sink};
use crate::solve::plan::Conjunct;
use bombus_lang::typed::{ExprKind, PredKind, RelOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use std::sync::Arc;

/// Functions with more points than this are not built here.
const POINTS: usize = 1 << 16;

impl Interpreter<'_> {
    /// Goes on with a function that is told row by row; `None` if there is no such function among the unknowns.
    pub(crate) fn search_told(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: &Option<Error>,
        sink: Sink,
    ) -> Res<Option<Flow>> {
        for item in open {
            let PredKind::Rel(RelOp::In, f, _) = &item.conjunct.pred.kind else { continue };
            let (ExprKind::Var(var), Some(Value::Symbolic(set))) = (&f.kind, item.set()) else { continue };
            let Symbolic::Binary(arrow, points, _) = &**set else { continue };
            let is_total = arrow.arrow().is_some_and(|a| a.functional && a.total);
            if !is_total || !unknown.contains(var) {
                continue;
            }
            let about: Vec<Arc<Conjunct>> = open
                .iter()
                .map(|i| &i.conjunct)
                .filter(|c| !c.derived && c.free.iter().all(|v| v == var || !unknown.contains(v)))
                .filter(|c| prunable(&c.pred) && tells_rows(&c.pred, *var))
                .cloned()
                .collect();
            if about.is_empty() {
                continue;
            }
            let Some(points) = self.list(env, points)?.filter(|points| points.len() <= POINTS) else {
                continue;
            };
            let Some(rows) = self.told_rows(env, &about, *var, &points)? else { continue };
            let rows = rows.into_iter().filter_map(|(x, y)| Some(Value::pair(x, y?))).collect();
            return self.bound(env, unknown, open, pending.clone(), *var, Value::set(rows), sink).map(Some);
        }
        Ok(None)
    }

    /// The rows of a function, if the conjuncts tell all of them.
    fn told_rows(
        &self,
        env: &mut Env,
        about: &[Arc<Conjunct>],
        var: VarId,
        points: &[Value],
    ) -> Res<Option<Rows>> {
        let before = std::mem::replace(&mut env.searching, true);
        env.begin_partial(var, Rows::new());
        let mut left: Vec<&Value> = points.iter().collect();
        let mut result: Res<()> = Ok(());
        while !left.is_empty() && result.is_ok() {
            let number = left.len();
            left.retain(|point| match self.told_row(env, about, var, point) {
                Ok(Some(image)) => {
                    if let Some(rows) = env.partial_rows() {
                        rows.insert((*point).clone(), Some(image));
                    }
                    false
                }
                Ok(None) => true,
                Err(stop) => {
                    result = Err(stop);
                    true
                }
            });
            if left.len() == number {
                break;
            }
        }
        let rows = env.end_partial();
        env.searching = before;
        result?;
        Ok(rows.filter(|_| left.is_empty()))
    }

    fn told_row(
        &self,
        env: &mut Env,
        about: &[Arc<Conjunct>],
        var: VarId,
        point: &Value,
    ) -> Res<Option<Value>> {
        self.tick()?;
        for c in about {
            if let Some(images) = self.row_candidates(env, &c.pred, var, point)?
                && let [image] = &*images
            {
                return Ok(Some(image.clone()));
            }
        }
        Ok(None)
    }
}
