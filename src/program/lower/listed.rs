//! Values that are known now but have no bit-set: a loop over the rows of a constant table.
//!
//! In: a plan with steps that no other loop can carry out, because they go through a constant set of sequences, sets
//! or functions, or through a type without an end. Out: the same plan with the values of those steps in it. What
//! depends on such a value alone is decided here and tested no more.
//! A value that a conjunct over it and constants leaves out makes the whole conjunction false, whatever the other
//! conjuncts are; where one of them has no value, or takes long to find, the plan stays as it was.

use super::*;
use crate::carrier::MAX_CARD;
use crate::plan::{Plan, PlanStep, Source};
use crate::uses::Uses;

/// Rows of a table at most, and its registers.
const MAX_ROWS: usize = 512;
const MAX_WORDS: usize = 4096;
/// Elements of a set that is not made at all: to list it would take longer than a small search.
const VAST: f64 = 65_536.0;

impl<'w> Lower<'w> {
    /// The plan with lists in place of steps that have no loop; `None` if there is no such step, or one has no list.
    pub(super) fn with_lists(&self, plan: &Plan) -> Option<Plan> {
        let mut steps = Vec::new();
        let mut decided: Vec<usize> = Vec::new();
        let mut changed = false;
        for step in &plan.steps {
            let listed = match step {
                PlanStep::Bind(v, Source::Type(ty)) if self.is_endless(ty) => {
                    Some((self.variable(*v), self.solved(plan, *v, &mut decided)?, vec![*v]))
                }
                PlanStep::Bind(v, Source::Member(set)) if self.is_constant_expr(set) => {
                    let values = match (!self.is_vast(set)).then(|| self.w.folder.value(set)).flatten() {
                        Some(all) if self.has_bits(&all, set) => None,
                        Some(Value::Set(all)) if all.len() <= MAX_ROWS => Some(all.to_vec()),
                        // Too many elements, or a set without an end: the other conjuncts may leave few.
                        _ => Some(self.solved(plan, *v, &mut decided)?),
                    };
                    values.map(|values| (self.variable(*v), values, vec![*v]))
                }
                PlanStep::Match { pattern, set, binds } => {
                    self.awkward(set).map(|values| (pattern.clone(), values, binds.clone()))
                }
                _ => None,
            };
            let Some((pattern, values, binds)) = listed else {
                steps.push(step.clone());
                continue;
            };
            let values = self.kept(plan, &pattern, values, &binds, &mut decided);
            if values.iter().any(Value::mentions_symbolic) {
                return None;
            }
            changed = true;
            steps.push(PlanStep::Listed { pattern, values, binds });
        }
        steps.retain(|step| !matches!(step, PlanStep::Test(i) if decided.contains(i)));
        changed.then(|| Plan { conjuncts: plan.conjuncts.clone(), steps, unbounded: None })
    }

    fn variable(&self, v: VarId) -> Expr {
        let decl = self.w.machine.var(v);
        Expr { kind: ExprKind::Var(v), ty: decl.ty.clone(), span: decl.span }
    }

    pub(super) fn is_endless(&self, ty: &Type) -> bool {
        !crate::plan::Estimates::type_size(self, ty).is_finite()
    }

    /// The values that the conjuncts over `v` and constants leave it.
    fn solved(&self, plan: &Plan, v: VarId, decided: &mut Vec<usize>) -> Option<Vec<Value>> {
        let closed = self.closed(plan, &[v]);
        let conjuncts: Vec<&Pred> = closed.iter().map(|i| &plan.conjuncts[*i]).collect();
        let values = self.w.folder.solutions(v, &conjuncts, MAX_ROWS)?;
        decided.extend(closed);
        Some(values)
    }

    fn has_bits(&self, value: &Value, set: &Expr) -> bool {
        matches!(self.natural(value, &set.ty), Some(Layout::Bits(_)))
    }

    /// Whether a set of functions or of sets is too large to be listed even for a moment, by the sizes of its parts.
    fn is_vast(&self, set: &Expr) -> bool {
        let size = |e: &Expr| Some(self.w.folder.value(e)?.as_set()?.len() as f64);
        let most = match &set.kind {
            ExprKind::Binary(op, a, b) if op.arrow().is_some() => {
                size(a).zip(size(b)).map(|(rows, values)| (values + 1.0).powf(rows))
            }
            ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, a) => size(a).map(f64::exp2),
            _ => None,
        };
        most.is_some_and(|n| n > VAST)
    }

    /// The elements of a constant set that has no bit-set.
    pub(super) fn awkward(&self, set: &Expr) -> Option<Vec<Value>> {
        if !self.is_constant_expr(set) || self.is_vast(set) {
            return None;
        }
        let value = self.w.folder.value(set)?;
        match &value {
            Value::Set(elems) if elems.len() <= MAX_ROWS && !self.has_bits(&value, set) => {
                Some(elems.to_vec())
            }
            _ => None,
        }
    }

    /// The conjuncts that speak of these variables and of constants alone.
    fn closed(&self, plan: &Plan, vars: &[VarId]) -> Vec<usize> {
        let is_closed = |c: &Pred| {
            let uses = Uses::of_pred(c);
            let known = |v: &VarId| vars.contains(v) || self.value_of(*v).is_some();
            uses.olds.is_empty()
                && uses.reads.iter().any(|v| vars.contains(v))
                && uses.reads.iter().all(known)
        };
        (0..plan.conjuncts.len()).filter(|i| is_closed(&plan.conjuncts[*i])).collect()
    }

    /// The values for which all conjuncts hold that can be decided now; those are added to `decided`. A conjunct that
    /// has no value for one of them is left to be tested.
    fn kept(
        &self,
        plan: &Plan,
        pattern: &Expr,
        mut values: Vec<Value>,
        binds: &[VarId],
        decided: &mut Vec<usize>,
    ) -> Vec<Value> {
        let tested = |i: &usize| plan.steps.iter().any(|s| matches!(s, PlanStep::Test(j) if i == j));
        let Some(paths) = binds.iter().map(|v| given::place_in(pattern, *v)).collect::<Option<Vec<_>>>()
        else {
            return values;
        };
        for i in self.closed(plan, binds) {
            if decided.contains(&i) || !tested(&i) {
                continue;
            }
            let c = &plan.conjuncts[i];
            let truth = Expr { kind: ExprKind::BoolOf(Box::new(c.clone())), ty: Type::Bool, span: c.span };
            let decide = |value: &Value| {
                for (v, path) in binds.iter().zip(&paths) {
                    self.w.folder.give(*v, given::at(value, path));
                }
                let found = self.w.folder.value(&truth);
                binds.iter().for_each(|v| self.w.folder.give(*v, None));
                match found {
                    Some(Value::Bool(holds)) => Some(holds),
                    _ => None,
                }
            };
            let Some(truths) = values.iter().map(decide).collect::<Option<Vec<bool>>>() else { continue };
            let mut truths = truths.into_iter();
            values.retain(|_| truths.next() == Some(true));
            decided.push(i);
        }
        values
    }

    /// Starts a loop over listed values: the value, where the next round begins, where the loop ends.
    pub(super) fn listed_loop(
        &mut self,
        values: &[Value],
        ty: &Type,
        want: Option<&Layout>,
    ) -> Low<(Operand, Label, Label)> {
        let wanted = want.filter(|layout| self.all_fit(values, layout)).cloned();
        let Some(layout) = wanted.or_else(|| self.joint(values, ty)) else {
            return unsupported("values without a common layout");
        };
        let table = self.rows_of_values(values, &layout)?;
        // A name for a transition is a number in the pool, if the type alone gives no words.
        let named = crate::label_layout(self.w.machine, ty) == Layout::Pool && layout != Layout::Pool;
        let names = if named { Some(self.rows_of_values(values, &Layout::Pool)?) } else { None };
        let (lo, hi) = (self.integer(0)?, self.integer(values.len() as i64 - 1)?);
        let (cursor, head, exit) = self.integer_loop(&lo, &hi)?;
        let x = self.table_get(&table, cursor.reg, exit)?;
        if let Some(names) = names {
            let name = self.table_get(&names, cursor.reg, exit)?;
            self.pooled.push((x.clone(), name));
        }
        Ok((x, head, exit))
    }

    fn rows_of_values(&mut self, values: &[Value], layout: &Layout) -> Low<Operand> {
        let rows = Carrier::Ints { lo: 0, n: values.len().max(1) as u16 };
        let table = Layout::table(rows, layout.clone());
        let present = table.words() as usize - values.len().max(1) * layout.words() as usize;
        if table.words() as usize > MAX_WORDS {
            return unsupported("a list too large for registers");
        }
        let mut words = vec![0; table.words() as usize];
        for (row, value) in values.iter().enumerate() {
            bombus_kernels::bits::insert(&mut words, row);
            let at = present + row * layout.words() as usize;
            if !layout.encode(value, self.w.pool, &mut words[at..]) {
                return unsupported("a value without a place");
            }
        }
        Ok(Operand { reg: self.constant(words)?, layout: table })
    }

    fn all_fit(&self, values: &[Value], layout: &Layout) -> bool {
        let mut words = vec![0; layout.words() as usize];
        values.iter().all(|v| layout.encode(v, self.w.pool, &mut words))
    }

    /// A layout for all of these values.
    fn joint(&self, values: &[Value], ty: &Type) -> Option<Layout> {
        if let Some(l) = self.of_type(ty) {
            return Some(l);
        }
        match ty {
            Type::Prod(a, b) => {
                let pairs: Vec<(&Value, &Value)> =
                    values.iter().map(Value::as_pair).collect::<Option<_>>()?;
                let left: Vec<Value> = pairs.iter().map(|p| p.0.clone()).collect();
                let right: Vec<Value> = pairs.iter().map(|p| p.1.clone()).collect();
                Some(Layout::pair(self.joint(&left, a)?, self.joint(&right, b)?))
            }
            Type::Pow(t) => {
                let sizes = |s: SetId| self.w.machine.set(s).elems.len();
                let sets: Vec<&[Value]> = values.iter().map(Value::as_set).collect::<Option<_>>()?;
                let elements = || sets.iter().flat_map(|s| s.iter());
                if elements().next().is_none() {
                    return self.tiny(t).map(Layout::Bits);
                }
                if let Type::Prod(a, b) = &**t {
                    let pairs: Vec<(&Value, &Value)> =
                        elements().map(Value::as_pair).collect::<Option<_>>()?;
                    let rows = Carrier::of_values(pairs.iter().map(|p| p.0), a, &sizes);
                    let cells = Carrier::of_values(pairs.iter().map(|p| p.1), b, &sizes);
                    if let (Some(rows), Some(cells)) = (rows, cells) {
                        let array = |total| {
                            Layout::array(from_one(&rows), cells.clone(), total)
                                .filter(|l| self.all_fit(values, l))
                        };
                        if let Some(layout) = array(true).or_else(|| array(false)) {
                            return Some(layout);
                        }
                    }
                }
                let carrier = Carrier::of_values(elements(), t, &sizes)?;
                (carrier.card() <= MAX_CARD).then_some(Layout::Bits(carrier))
            }
            _ => None,
        }
    }
}

/// The arguments of sequences begin at 1.
fn from_one(rows: &Carrier) -> Carrier {
    match rows {
        Carrier::Ints { lo, n } if (2..=4).contains(lo) => Carrier::Ints { lo: 1, n: n + (*lo as u16 - 1) },
        c => c.clone(),
    }
}
