//! Rows of relations that are not listed.
//!
//! In: conjuncts `(x|->y) : r` where r is symbolic and one of x and y is known. Out: the other side, from the images of
//! the point or the points with the image, as `%i.(i:INTEGER & #k.(k:0..j & j=i*k) | …)` gives the divisors of j.
//! Only asked where nothing cheaper binds a variable.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::solve::order::{Item, Sink};
use bombus_lang::typed::{ExprKind, PredKind, RelOp, VarId};
use bombus_lang::value::Value;

impl Interpreter<'_> {
    /// Goes on with the rows of one conjunct; `None` if no conjunct gives any.
    pub(crate) fn by_row(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: &Option<Error>,
        sink: Sink,
    ) -> Res<Option<Flow>> {
        for (at, item) in open.iter().enumerate() {
            let PredKind::Rel(RelOp::In, pair, _) = &item.conjunct.pred.kind else { continue };
            let (ExprKind::Pair(a, b), Some(relation @ Value::Symbolic(_))) = (&pair.kind, item.set()) else {
                continue;
            };
            let (known, pattern, forwards) = if !self.has_unknown(unknown, a) && self.binds(unknown, b) {
                (a, b, true)
            } else if !self.has_unknown(unknown, b) && self.binds(unknown, a) {
                (b, a, false)
            } else {
                continue;
            };
            let rows = self.eval_canon(env, known).and_then(|point| {
                if forwards {
                    self.images(env, relation, &point, pair.span)
                } else {
                    self.inverse_images(env, relation, &point, pair.span)
                }
            });
            let mut rows = match rows {
                Ok(rows) => rows,
                Err(e) if e.is_stop() => return Err(e),
                Err(_) => continue,
            };
            rows.sort();
            rows.dedup();
            let mut rest = open.to_vec();
            let item = rest.remove(at);
            for row in &rows {
                let flow =
                    self.matched(env, unknown, &rest, Some(&item), pending.clone(), (pattern, row), sink)?;
                if flow == Flow::Stop {
                    return Ok(Some(Flow::Stop));
                }
            }
            return Ok(Some(Flow::Go));
        }
        Ok(None)
    }
}
