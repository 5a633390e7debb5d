//! Where a machine starts: valuations of the constants, initial states; and what a state must satisfy.
//!
//! In: the machine. Out: all valuations that satisfy PROPERTIES, all states INITIALISATION may end
//! in, the clauses a state breaks.
//! Constants that no property relates are searched for apart, and the solutions multiplied.

use crate::env::Env;
use crate::error::{Error, ErrorKind, Flow, Res};
use crate::exec::Outcomes;
use crate::memo::SETUP;
use crate::solve::plan::{Conjunct, Plan};
use crate::{Constants, Interpreter, State};
use bombus_base::Span;
use bombus_base::hash::{HashMap, HashSet};
use bombus_lang::typed::{Clause, Expr, ExprKind, Machine, Pred, PredKind, RelOp, Type, VarId};
use bombus_lang::value::Value;
use bombus_lang::walk::{Visit, visit_pred};
use std::sync::Arc;

/// Steps of plain enumeration before constants are searched for with propagation.
const PATIENCE: u32 = 1 << 18;
/// More valuations than this are given up as too many.
const VALUATIONS: usize = 1 << 22;
/// The budget is asked when so many of them have been put together: they take memory, and little time.
const COMBINED: usize = 1 << 12;

/// Results of a computation that may have run into errors on the way.
#[derive(Clone, Debug)]
pub struct Found<T> {
    pub values: Vec<T>,
    /// The model's faults.
    pub errors: Vec<Error>,
    /// Our limits.
    pub incomplete: Vec<Error>,
    /// Choices of which only the integers of the scope were tried, which stand for all others.
    pub sampled: Vec<Error>,
}

impl<T> Found<T> {
    fn new() -> Found<T> {
        Found { values: Vec::new(), errors: Vec::new(), incomplete: Vec::new(), sampled: Vec::new() }
    }

    /// All there is to say beside the values.
    pub fn remarks(&self) -> impl Iterator<Item = &Error> {
        self.errors.iter().chain(&self.incomplete).chain(&self.sampled)
    }

    fn note(&mut self, e: Error) -> Res<()> {
        if e.is_stop() {
            return Err(e);
        }
        let list = match e.kind() {
            ErrorKind::Represented => &mut self.sampled,
            _ if e.is_finding() => &mut self.errors,
            _ => &mut self.incomplete,
        };
        if list.iter().all(|f| f.message() != e.message() || f.span() != e.span()) {
            list.push(e);
        }
        Ok(())
    }
}

/// What a state breaks; indices into the clauses of the machine.
#[derive(Clone, Debug, Default)]
pub struct Broken {
    pub invariant: Vec<usize>,
    pub assertions: Vec<usize>,
    /// Clauses without a value: whether it is an assertion, its index, and why.
    pub undefined: Vec<(bool, usize, Error)>,
    pub incomplete: Vec<Error>,
}

impl Interpreter<'_> {
    /// All valuations of the constants. Without constants, one empty valuation if the properties hold.
    /// Most properties name their solutions one after the other, and enumeration is done before constraints
    /// are made; so that is tried first, for a fixed number of steps.
    pub fn constants(&self) -> Res<Found<Constants>> {
        self.windowed.set(false);
        let mut found = self.search_constants()?;
        if found.values.is_empty() && found.errors.is_empty() && self.windowed.get() {
            found.note(self.nothing_in_scope("the constants have no values", Span::default()))?;
        }
        Ok(found)
    }

    /// Where the integers of the scope were taken for all and leave nothing to start with: nothing was looked at.
    fn nothing_in_scope(&self, what: &str, span: Span) -> Error {
        let Machine { minint, maxint, .. } = self.machine;
        let words =
            format!("{what} within {minint}..{maxint}, which --integers-in-scope takes for all integers");
        Error::new(ErrorKind::Unbounded, span, words)
    }

    fn search_constants(&self) -> Res<Found<Constants>> {
        // Whoever asks for propagation everywhere gets it here too.
        if self.propagation.is_some_and(|from| from > 0.0) {
            self.patience.set(Some(PATIENCE));
            self.alone.set(true);
            let found = self.valuations();
            self.alone.set(false);
            self.patience.set(None);
            if !matches!(&found, Err(e) if e.kind() == ErrorKind::Impatient) {
                return found;
            }
        }
        self.valuations()
    }

    fn valuations(&self) -> Res<Found<Constants>> {
        let preds: Vec<&Pred> = self.machine.properties.iter().map(|c| &c.pred).collect();
        let plan = Arc::new(Plan::new(&self.machine.constants, &preds));
        // Values of nodes are remembered, so the nodes have to stay where they are.
        self.kept.borrow_mut().push(plan.clone());
        let mut found = Found::new();
        let mut env = Env::new(self.machine.vars.len());
        env.valuation = Some(SETUP);
        // Conjuncts grouped by the unknown variables they share; those without any are tests.
        let mut groups: Vec<(Vec<VarId>, Vec<Arc<Conjunct>>)> =
            plan.vars.iter().map(|v| (vec![*v], vec![])).collect();
        let mut tests = Vec::new();
        for c in &plan.conjuncts {
            let mut joined: (Vec<VarId>, Vec<Arc<Conjunct>>) = (Vec::new(), vec![c.clone()]);
            let mut at = None;
            let mut i = 0;
            while i < groups.len() {
                if groups[i].0.iter().any(|v| c.free.contains(v)) {
                    let group = groups.remove(i);
                    at.get_or_insert(i);
                    joined.0.extend(group.0);
                    let own = std::mem::take(&mut joined.1);
                    joined.1 = group.1;
                    joined.1.extend(own);
                } else {
                    i += 1;
                }
            }
            match at {
                Some(i) => groups.insert(i, joined),
                None => tests.push(c.clone()),
            }
        }
        for c in tests.iter().filter(|c| !c.derived) {
            match self.holds(&mut env, &c.pred) {
                Ok(true) => {}
                Ok(false) => return Ok(found),
                Err(e) => {
                    let fatal = e.is_finding();
                    found.note(e)?;
                    if fatal {
                        return Ok(found);
                    }
                }
            }
        }
        // The order of the text decides between binders that cost the same.
        let order: HashMap<*const Conjunct, usize> =
            plan.conjuncts.iter().enumerate().map(|(i, c)| (Arc::as_ptr(c), i)).collect();
        let mut partial: Vec<Vec<(VarId, Value)>> = vec![Vec::new()];
        for (vars, mut conjuncts) in groups {
            conjuncts.sort_by_key(|c| order.get(&Arc::as_ptr(c)).copied());
            let group = Plan::of_conjuncts(vars.clone(), conjuncts);
            let mut solutions: Vec<Vec<(VarId, Value)>> = Vec::new();
            let mut seen = HashSet::new();
            // A partial function among the constants is chosen among those that are defined where they are applied.
            let chosen = applications_of(&searched_for(self.machine, &vars, &group), &group);
            let mut passed_over: Option<Error> = None;
            let run = self.run_plan(&mut env, &group, &mut |env, error| {
                if let Some(e) = error {
                    if e.is_finding() && chosen.contains(&e.span()) {
                        passed_over.get_or_insert_with(|| e.clone());
                        self.passed_over.set(true);
                    } else {
                        found.note(e.clone())?;
                    }
                    return Ok(Flow::Go);
                }
                let mut solution = Vec::with_capacity(vars.len());
                for v in vars.iter().filter(|v| self.machine.constants.contains(v)) {
                    let value = env.get(*v).cloned().unwrap_or_default();
                    solution.push((*v, self.canon_constant(env, value)?));
                }
                if seen.insert(solution.clone()) {
                    solutions.push(solution);
                }
                if solutions.len() > VALUATIONS {
                    return Err(Error::too_large("the constants have too many valuations"));
                }
                Ok(Flow::Go)
            });
            if let Err(e) = run {
                found.note(e)?;
            }
            // No function at all is defined wherever it is applied: that is what is wrong.
            if solutions.is_empty()
                && let Some(e) = passed_over
            {
                found.note(e)?;
            }
            if partial.len().saturating_mul(solutions.len()) > VALUATIONS {
                found.note(Error::too_large("the constants have too many valuations"))?;
                return Ok(found);
            }
            solutions.sort();
            let mut next = Vec::with_capacity(partial.len() * solutions.len());
            for p in &partial {
                self.charge(solutions.len().saturating_mul(vars.len()))?;
                for s in &solutions {
                    let mut both = p.clone();
                    both.extend(s.iter().cloned());
                    next.push(both);
                    if next.len().is_multiple_of(COMBINED) {
                        self.look()?;
                    }
                }
            }
            partial = next;
        }
        for valuation in partial {
            found.values.push(
                self.machine
                    .constants
                    .iter()
                    .map(|v| {
                        valuation.iter().find(|(w, _)| w == v).map(|(_, x)| x.clone()).unwrap_or_default()
                    })
                    .collect(),
            );
            if found.values.len().is_multiple_of(COMBINED) {
                self.look()?;
            }
        }
        Ok(found)
    }

    /// All states INITIALISATION may end in.
    pub fn initial_states(&self, constants: &Constants) -> Res<Found<State>> {
        let mut env = Env::new(self.machine.vars.len());
        for (v, x) in self.machine.constants.iter().zip(constants.iter()) {
            env.bind(*v, x.clone());
        }
        env.valuation = Some(self.memo.borrow_mut().valuation(constants));
        let mut out = Outcomes::default();
        self.windowed.set(false);
        self.exec(&mut env, &self.machine.initialisation, &mut out)?;
        let mut found = Found::new();
        if out.writes.is_empty() && out.errors.is_empty() && self.windowed.get() {
            found.note(
                self.nothing_in_scope("INITIALISATION has no outcome", self.machine.initialisation.span),
            )?;
        }
        for e in out.errors {
            found.note(e)?;
        }
        let mut seen = HashSet::new();
        'next: for writes in out.writes {
            let mut variables = Vec::with_capacity(self.machine.variables.len());
            for v in &self.machine.variables {
                match writes.iter().find(|(w, _)| w == v) {
                    Some((_, x)) => variables.push(x.clone()),
                    None => {
                        let name = &self.machine.var(*v).name;
                        found.note(Error::new(
                            crate::ErrorKind::Uninitialised,
                            self.machine.initialisation.span,
                            format!("INITIALISATION gives {name} no value"),
                        ))?;
                        continue 'next;
                    }
                }
            }
            let state = State { constants: constants.clone(), variables: variables.into() };
            if seen.insert(state.clone()) {
                found.values.push(state);
            }
        }
        Ok(found)
    }

    /// The clauses a state breaks. `statics` asks for assertions about constants alone as well.
    pub fn check_state(&self, state: &State, statics: bool) -> Res<Broken> {
        let mut env = self.env(Some(state));
        self.check_in(&mut env, &|_, clause| statics || !self.is_static(clause))
    }

    pub(crate) fn is_static(&self, clause: &Clause) -> bool {
        bombus_lang::free::of_pred(&clause.pred).iter().all(|v| !self.machine.variables.contains(v))
    }

    /// Checks the clauses that `wanted` (is it an assertion, the clause) asks for.
    pub(crate) fn check_in(&self, env: &mut Env, wanted: &dyn Fn(bool, &Clause) -> bool) -> Res<Broken> {
        let mut broken = Broken::default();
        for (assertion, clauses) in [(false, &self.machine.invariant), (true, &self.machine.assertions)] {
            for (i, clause) in clauses.iter().enumerate() {
                if assertion && !wanted(assertion, clause) {
                    continue;
                }
                match self.holds(env, &clause.pred) {
                    Ok(true) => {}
                    Ok(false) if assertion => broken.assertions.push(i),
                    Ok(false) => broken.invariant.push(i),
                    Err(e) if e.is_stop() => return Err(e),
                    Err(e) if e.is_finding() => broken.undefined.push((assertion, i, e)),
                    Err(e) => broken.incomplete.push(e),
                }
            }
        }
        Ok(broken)
    }
}

/// The functions among some variables that no equation gives a value. Equations may depend on variables that are
/// searched for, but not on functions that are.
fn searched_for(machine: &Machine, vars: &[VarId], plan: &Plan) -> Vec<VarId> {
    let is_relation = |v: &VarId| {
        let decl = machine.vars.get(v.0 as usize);
        decl.is_some_and(|d| matches!(&d.ty, Type::Pow(inner) if matches!(**inner, Type::Prod(..))))
    };
    let mut open: Vec<VarId> = vars.iter().copied().filter(is_relation).collect();
    let mut equations = Vec::new();
    for c in plan.conjuncts.iter().filter(|c| !c.derived) {
        let PredKind::Rel(RelOp::Equal, a, b) = &c.pred.kind else { continue };
        equations.extend([(a, &c.right), (b, &c.left)].into_iter().filter_map(
            |(side, free)| match side.kind {
                ExprKind::Var(v) => Some((v, free)),
                _ => None,
            },
        ));
    }
    loop {
        let given =
            equations.iter().find(|(v, free)| open.contains(v) && !free.iter().any(|w| open.contains(w)));
        let Some((v, _)) = given else { return open };
        open.retain(|w| w != v);
    }
}

/// Where functions that are themselves searched for are applied.
fn applications_of(vars: &[VarId], plan: &Plan) -> HashSet<Span> {
    struct Applied<'a>(&'a [VarId], HashSet<Span>);
    impl Visit for Applied<'_> {
        fn expr(&mut self, e: &Expr) {
            if let ExprKind::Apply(f, _) = &e.kind
                && matches!(f.kind, ExprKind::Var(v) if self.0.contains(&v))
            {
                self.1.insert(e.span);
            }
        }
    }
    let mut applied = Applied(vars, HashSet::default());
    plan.conjuncts.iter().for_each(|c| visit_pred(&c.pred, &mut applied));
    applied.1
}
