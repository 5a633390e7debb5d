//! `--integers-in-scope`: which integers stand for all where nothing bounds a choice or a quantifier.
//!
//! In: variables that no conjunct of the whole predicate bounds, and what the conjuncts say of them. Out: the finite
//! part of their values that is tried. The window of an integer is MININT..MAXINT; a bound that is known on one side
//! takes the place of that end, and where the bound lies beyond the other end, the bound alone is tried. Pairs,
//! records, sets and functions are made of integers in the window.
//! Never here: comprehensions, lambdas, sums. They are values, and a value is never cut.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, ErrorKind, Flow, Res};
use crate::eval::interval;
use crate::integer_sets::Spans;
use crate::size::Card;
use crate::solve::choice::is_choice;
use crate::solve::order::{Item, Sink, mentions_any};
use bombus_base::Int;
use bombus_base::hash::HashSet;
use bombus_lang::typed::{BinOp, ExprKind, Machine, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use bombus_lang::walk::{Visit, visit_machine};

/// A part with more values than this is not tried: the choice stays one that nothing bounds.
const MOST: f64 = 18.0;

/// The variables of all quantifiers of a machine; none if they are not cut to the scope.
pub(crate) fn quantified(machine: &Machine) -> HashSet<VarId> {
    struct Quantified(HashSet<VarId>);
    impl Visit for Quantified {
        fn quantified(&mut self, v: VarId) {
            self.0.insert(v);
        }
    }
    let mut found = Quantified(HashSet::new());
    if machine.integers_in_scope {
        visit_machine(machine, &mut found);
    }
    found.0
}

impl Interpreter<'_> {
    /// Whether the values of a variable that nothing bounds are cut to the scope.
    pub(crate) fn is_cut(&self, env: &Env, v: VarId) -> bool {
        if !self.machine.integers_in_scope || env.exact {
            return false;
        }
        // What is still searched for may be what bounds a quantifier.
        let quantified = || !env.searching && self.quantified.contains(&v);
        env.row == Some(v) || is_choice(self.machine, &self.any, v) || quantified()
    }

    /// The truth of a quantifier: as it is, if that is decided without the scope, else within the scope.
    pub fn within_window(&self, env: &mut Env, decide: &mut dyn FnMut(&mut Env) -> Res<bool>) -> Res<bool> {
        if !self.machine.integers_in_scope || env.exact || env.searching {
            return decide(env);
        }
        env.exact = true;
        let first = decide(env);
        env.exact = false;
        match first {
            Err(e) if e.kind() == ErrorKind::Unbounded => decide(env),
            known => known,
        }
    }

    /// Gives one of the unknown variables, none of which is bounded, its values in the scope. `None` if there are no
    /// such values to be tried.
    pub(crate) fn try_window(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: &Option<Error>,
        sink: Sink,
    ) -> Res<Option<Flow>> {
        let cut: Vec<VarId> = unknown.iter().copied().filter(|v| self.is_cut(env, *v)).collect();
        // A quantifier inside a comprehension is asked for each element, and no element is left out because of it.
        if cut.len() < unknown.len() {
            return Ok(None);
        }
        let mut found = None;
        if let Some(v) = cut.iter().find(|v| self.type_of(**v) == Type::Integer) {
            found = Some((*v, self.window(env, unknown, open, *v)?));
        } else {
            for v in cut {
                if let Some(values) = self.compound_window(env, open, v)? {
                    found = Some((v, values));
                    break;
                }
            }
        }
        let Some((var, values)) = found else { return Ok(None) };
        self.windowed.set(true);
        let flow = self.for_each(env, &values, &mut |env, x| {
            self.bound(env, unknown, open, pending.clone(), var, x, sink)
        })?;
        Ok(Some(flow))
    }

    /// The window of an integer, from all that the conjuncts say of it.
    pub(crate) fn window(&self, env: &mut Env, unknown: &[VarId], open: &[Item], var: VarId) -> Res<Value> {
        let Some((low, high)) = self.ends(env, unknown, open, var)? else { return Ok(Value::empty()) };
        let mut spans = Spans::between(low, high);
        for item in open {
            let c = &item.conjunct;
            let alone = c.free.iter().all(|v| *v == var || !unknown.contains(v));
            if alone && let Some(s) = self.spans_of_pred(env, &c.pred, var)? {
                spans = spans.inter(&s);
            }
        }
        let Some((low, high)) = spans.hull() else { return Ok(Value::empty()) };
        let window = self.between(low, high);
        // A quantifier is true by any witness: one beyond the window that the conjuncts name is as good.
        match spans.choice().filter(|_| self.quantified.contains(&var)) {
            Some(n) => self.set_union(env, window, Value::sorted_set(vec![Value::Int(n)])),
            None => Ok(window),
        }
    }

    /// The window between two ends, each of which need not be known.
    fn between(&self, low: Option<Int>, high: Option<Int>) -> Value {
        let Machine { minint, maxint, .. } = self.machine;
        match (low, high) {
            (Some(low), Some(high)) => interval(&low, &high),
            (Some(low), None) => interval(&low, (&low).max(maxint)),
            (None, Some(high)) => interval((&high).min(minint), &high),
            (None, None) => interval(minint, maxint),
        }
    }

    /// The values in the scope of a pair, record, set or function: those of each set it must belong to, together.
    fn compound_window(&self, env: &mut Env, open: &[Item], v: VarId) -> Res<Option<Value>> {
        let ty = self.type_of(v);
        if mentions_any(&ty) {
            return Ok(None);
        }
        let mut all: Option<Vec<Value>> = None;
        for item in open {
            let PredKind::Rel(op, a, _) = &item.conjunct.pred.kind else { continue };
            if !matches!(a.kind, ExprKind::Var(w) if w == v) {
                continue;
            }
            let set = match (op, &item.set) {
                (RelOp::In, Some(set)) => set.clone(),
                (RelOp::Subset, Some(set)) => Value::symbolic(Symbolic::Unary(UnOp::Pow, set.clone())),
                _ => continue,
            };
            if let Some(part) = self.part_in_scope(env, &set, &ty)?
                && let Some(list) = self.list(env, &part)?
            {
                all.get_or_insert_with(Vec::new).extend(list.iter().cloned());
            }
        }
        match all {
            Some(values) => Ok(Some(self.set_of(env, values)?)),
            None => self.part_in_scope(env, &self.type_set(&ty), &ty),
        }
    }

    /// The elements of a set that lie in the scope: the set itself if it is finite. `None` if its form does not tell
    /// them, or if they are too many.
    pub(crate) fn part_in_scope(&self, env: &mut Env, set: &Value, ty: &Type) -> Res<Option<Value>> {
        self.tick()?;
        if !matches!(self.card(env, set)?, Card::Infinite | Card::Unknown) {
            return Ok(Some(set.clone()));
        }
        if *ty == Type::Integer {
            let window = match self.spans(env, set)? {
                Some(spans) => match spans.hull() {
                    Some((low, high)) => self.between(low, high),
                    None => return Ok(Some(Value::empty())),
                },
                None => self.between(None, None),
            };
            return Ok(Some(self.members_among(env, &window, set)?));
        }
        let Value::Symbolic(s) = set else { return Ok(None) };
        let part = match (&**s, ty) {
            (Symbolic::Binary(BinOp::Cartesian, a, b), Type::Prod(t, u)) => {
                let a = self.part_in_scope(env, a, t)?;
                a.zip(self.part_in_scope(env, b, u)?).map(|(a, b)| Symbolic::Binary(BinOp::Cartesian, a, b))
            }
            (Symbolic::Struct(sets), Type::Struct(fields)) => {
                let mut parts = Vec::with_capacity(sets.len());
                for (set, (_, t)) in sets.iter().zip(fields.iter()) {
                    let Some(part) = self.part_in_scope(env, set, t)? else { return Ok(None) };
                    parts.push(part);
                }
                Some(Symbolic::Struct(parts.into()))
            }
            (Symbolic::Unary(op @ (UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1), a), Type::Pow(t)) => {
                self.part_in_scope(env, a, t)?.map(|a| Symbolic::Unary(*op, a))
            }
            (Symbolic::Binary(op, a, b), Type::Pow(pair)) if op.arrow().is_some() => {
                let Type::Prod(t, u) = &**pair else { return Ok(None) };
                let sides = self.part_in_scope(env, a, t)?.zip(self.part_in_scope(env, b, u)?);
                // A part of what must be covered as a whole is not enough.
                let (total, onto) = op.arrow().map_or((true, true), |arrow| (arrow.total, arrow.onto));
                sides
                    .filter(|(x, y)| (!total || x == a) && (!onto || y == b))
                    .map(|(x, y)| Symbolic::Binary(*op, x, y))
            }
            (
                Symbolic::Closure(_) | Symbolic::Binary(BinOp::Union | BinOp::Inter | BinOp::SetMinus, ..),
                _,
            ) => {
                let whole = self.part_in_scope(env, &self.type_set(ty), ty)?;
                return whole.map(|whole| self.members_among(env, &whole, set)).transpose();
            }
            _ => None,
        };
        let Some(part) = part.map(Value::symbolic) else { return Ok(None) };
        Ok(match self.card(env, &part)? {
            Card::Infinite | Card::Unknown => None,
            card => (card.log2() <= MOST).then_some(part),
        })
    }

    fn members_among(&self, env: &mut Env, values: &Value, set: &Value) -> Res<Value> {
        let mut inside = Vec::new();
        self.for_each(env, values, &mut |env, x| {
            if self.member(env, &x, set)? {
                inside.push(x);
            }
            Ok(Flow::Go)
        })?;
        self.set_of(env, inside)
    }
}
