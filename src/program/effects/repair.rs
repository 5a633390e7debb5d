//! Whether a step may repair a condition: by what is known of the cells it writes, before and after it.
//!
//! In: a condition, an instance with the facts among its guards and the contents it writes. Out: false only
//! if no step of the instance leads from a state where the condition does not hold (or is undefined) to
//! one where it does. Never here: evaluation of states.
//!
//! Invariants often speak of a phase (`pc = 3 => …`). A step from phase 2 to phase 3 leaves `pc : {2,3} =>
//! …` as it was: with either number put in, the condition shrinks to the same formula.

use super::cells::{Cell, Content, Tracer, touches};
use super::facts::Allowed;
use super::ground::{Guard, Instance, literal};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp};
use bombus_lang::value::Value;
use bombus_lang::walk::{Change, change_pred};
use std::collections::{BTreeMap, BTreeSet};

/// Cells, contents of one cell, and pairs of before and after that are looked at.
const CELLS: usize = 3;
const CONTENTS: usize = 4;
const PAIRS: usize = 256;

/// The contents of some cells.
type Known<'k> = BTreeMap<&'k Cell, Value>;

pub fn may_repair(condition: &Pred, instance: &Instance, guards: &[Guard], tracer: &Tracer<'_>) -> bool {
    let writes = &instance.touch.writes;
    let mut reads = BTreeSet::new();
    tracer.pred(condition, &mut reads);
    let mut pairs: Vec<(Known<'_>, Known<'_>)> = vec![Default::default()];
    let hit: Vec<&Cell> = writes.keys().filter(|w| reads.iter().any(|r| w.overlaps(r))).collect();
    if hit.len() > CELLS {
        return true;
    }
    for cell in hit {
        let (Some(before), Some(after)) = (before(cell, instance, guards), after(cell, instance)) else {
            return true;
        };
        let mut more = Vec::new();
        for (b, a) in &pairs {
            for old in &before {
                // What may be written may also be left alone.
                for new in after.iter().chain([old]) {
                    let (mut b, mut a) = (b.clone(), a.clone());
                    b.insert(cell, old.clone());
                    a.insert(cell, new.clone());
                    more.push((b, a));
                }
            }
        }
        if more.len() > PAIRS {
            return true;
        }
        pairs = more;
    }
    let depends = |p: &Pred| {
        let mut cells = BTreeSet::new();
        tracer.pred(p, &mut cells);
        touches(writes, &cells)
    };
    pairs.iter().any(|(b, a)| {
        let before = Settle { tracer, known: b }.pred(condition);
        if matches!(before.kind, PredKind::True) {
            return false;
        }
        let after = Settle { tracer, known: a }.pred(condition);
        !matches!(after.kind, PredKind::False) && (before != after || depends(&before))
    })
}

/// A condition without what constants decide.
pub fn settled(condition: &Pred, tracer: &Tracer<'_>) -> Pred {
    Settle { tracer, known: &Known::new() }.pred(condition)
}

/// The contents that the guards of an instance allow for a cell.
fn before(cell: &Cell, instance: &Instance, guards: &[Guard]) -> Option<BTreeSet<Value>> {
    let facts = instance.guards.iter().filter_map(|g| guards[*g].fact.as_ref());
    facts.filter(|f| f.cell == *cell).find_map(|f| match &f.allowed {
        Allowed::Values(all) if all.len() <= CONTENTS => Some(all.clone()),
        _ => None,
    })
}

/// The contents that an instance may write into a cell.
fn after(cell: &Cell, instance: &Instance) -> Option<BTreeSet<Value>> {
    let contents = instance.touch.writes.get(cell)?.as_ref()?;
    let value = |c: &Content| match c {
        Content::Value(v) => Some(v.clone()),
        Content::Plus(_) => None,
    };
    (contents.len() <= CONTENTS).then(|| contents.iter().map(value).collect())?
}

/// Puts known contents into a condition and drops what they decide. The result holds, fails or is undefined
/// where the condition does: conjunctions and their kin are read from the left, as they are evaluated.
struct Settle<'s, 't> {
    tracer: &'s Tracer<'t>,
    known: &'s Known<'s>,
}

impl Settle<'_, '_> {
    fn pred(&self, p: &Pred) -> Pred {
        let made = |kind| Pred { kind, span: p.span };
        let constant = |b: bool| made(if b { PredKind::True } else { PredKind::False });
        match &p.kind {
            PredKind::And(ps) => self.joined(ps, true, &made),
            PredKind::Or(ps) => self.joined(ps, false, &made),
            PredKind::Label(_, p) => self.pred(p),
            PredKind::Not(q) => {
                let q = self.pred(q);
                match q.kind {
                    PredKind::True => constant(false),
                    PredKind::False => constant(true),
                    _ => made(PredKind::Not(Box::new(q))),
                }
            }
            PredKind::Implies(a, b) => {
                let a = self.pred(a);
                match a.kind {
                    PredKind::True => self.pred(b),
                    PredKind::False => constant(true),
                    _ => made(PredKind::Implies(Box::new(a), Box::new(self.pred(b)))),
                }
            }
            PredKind::Rel(op, a, b) => match self.relation(*op, a, b) {
                Some(truth) => constant(truth),
                None => self.changed(p),
            },
            _ => self.changed(p),
        }
    }

    /// A conjunction (`unit` is true) or disjunction.
    fn joined(&self, ps: &[Pred], unit: bool, made: &dyn Fn(PredKind) -> Pred) -> Pred {
        let mut rest = Vec::new();
        for p in ps {
            let p = self.pred(p);
            match (&p.kind, unit) {
                (PredKind::True, true) | (PredKind::False, false) => continue,
                (PredKind::False, true) | (PredKind::True, false) => {
                    // What stands behind is not evaluated; what stands before may be undefined.
                    rest.push(p);
                    break;
                }
                _ => rest.push(p),
            }
        }
        match rest.len() {
            0 => made(if unit { PredKind::True } else { PredKind::False }),
            1 => rest.swap_remove(0),
            _ => made(if unit { PredKind::And(rest) } else { PredKind::Or(rest) }),
        }
    }

    fn changed(&self, p: &Pred) -> Pred {
        let mut p = p.clone();
        change_pred(&mut p, &mut Put(self));
        p
    }

    fn value(&self, e: &Expr) -> Option<Value> {
        let mut e = e.clone();
        bombus_lang::walk::change_expr(&mut e, &mut Put(self));
        (self.tracer.fold)(&e)
            .filter(|v| matches!(v, Value::Int(Int::Small(_)) | Value::Bool(_) | Value::Elem(..)))
    }

    /// The truth of a comparison or membership, if it is known.
    fn relation(&self, op: RelOp, a: &Expr, b: &Expr) -> Option<bool> {
        if let RelOp::In | RelOp::NotIn = op {
            let (x, positive) = (self.value(a)?, op == RelOp::In);
            if let Some(var) = self.tracer.variable(b) {
                let there = self.known.get(&self.tracer.element(var, x))?;
                return Some((*there == Value::Bool(true)) == positive);
            }
            let inside = match &b.kind {
                ExprKind::SetExt(es) => {
                    let all: Option<Vec<Value>> = es.iter().map(|e| self.value(e)).collect();
                    all?.contains(&x)
                }
                ExprKind::Binary(BinOp::Interval, lo, hi) => {
                    let (lo, hi) = (small(&self.value(lo)?)?, small(&self.value(hi)?)?);
                    let x = small(&x)?;
                    lo <= x && x <= hi
                }
                ExprKind::TypeSet(_) => true,
                _ => return None,
            };
            return Some(inside == positive);
        }
        let (a, b) = (self.value(a)?, self.value(b)?);
        let (x, y) = (small(&a), small(&b));
        match op {
            RelOp::Equal => Some(a == b),
            RelOp::NotEqual => Some(a != b),
            RelOp::Less => Some(x? < y?),
            RelOp::LessEqual => Some(x? <= y?),
            RelOp::Greater => Some(x? > y?),
            RelOp::GreaterEqual => Some(x? >= y?),
            _ => None,
        }
    }
}

fn small(v: &Value) -> Option<i64> {
    match v {
        Value::Int(Int::Small(n)) => Some(*n),
        _ => None,
    }
}

/// Puts known contents in the place of the cells.
struct Put<'p, 's, 't>(&'p Settle<'s, 't>);

impl Change for Put<'_, '_, '_> {
    fn expr(&mut self, e: &mut Expr) {
        let cell = match &e.kind {
            ExprKind::Var(_) => self.0.tracer.variable(e).map(Cell::whole),
            ExprKind::Apply(..) => super::facts::content_of(e, self.0.tracer),
            _ => None,
        };
        if let Some(cell) = cell
            && let Some(value) = self.0.known.get(&cell)
            && let Some(kind) = literal(value, &e.ty, e.span)
        {
            e.kind = kind;
        }
    }
}
