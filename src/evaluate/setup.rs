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
use bombus_lang::chosen;
use bombus_lang::typed::{Clause, Machine, Pred, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Steps of plain enumeration before constants are searched for with propagation.
const PATIENCE: u32 = 1 << 18;
/// More valuations than this are given up as too many.
const VALUATIONS: usize = 1 << 22;
/// The budget is asked when so many of them have been put together: they take memory, and little time.
const COMBINED: usize = 1 << 12;
/// The limits are looked at once for so many initial states.
const LOOK: usize = 1 << 12;

/// Values of some constants.
type Solution = Vec<(VarId, Value)>;
/// Constants that properties relate to each other, with those properties.
type Group = (Vec<VarId>, Vec<Arc<Conjunct>>);

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
        // A partial function among the constants is chosen among those that are defined where they are applied.
        self.chosen.replace(chosen::functions(self.machine));
        let found = self.chosen_valuations();
        self.chosen.take();
        found
    }

    fn chosen_valuations(&self) -> Res<Found<Constants>> {
        let preds: Vec<&Pred> = self.machine.properties.iter().map(|c| &c.pred).collect();
        let plan = Arc::new(Plan::new(&self.machine.constants, &preds));
        // Values of nodes are remembered, so the nodes have to stay where they are.
        self.cache.kept.borrow_mut().push(plan.clone());
        let mut found = Found::new();
        let mut env = Env::new(self.machine.vars.len());
        env.valuation = Some(SETUP);
        let (groups, tests) = grouped(&plan);
        let mut is_undefined = false;
        for c in tests.iter().filter(|c| !c.derived) {
            match self.holds(&mut env, &c.pred) {
                Ok(true) => {}
                Ok(false) => return Ok(Found::new()),
                Err(e) => {
                    is_undefined |= e.is_finding();
                    found.note(e)?;
                }
            }
        }
        let mut all = Vec::with_capacity(groups.len());
        for (vars, conjuncts) in groups {
            let group = Plan::of_conjuncts(vars, conjuncts);
            let solved = match self.solve_without_window(&mut env, &group)? {
                Some(solved) => solved,
                None => self.solve_group(&mut env, &group)?,
            };
            // Properties that are false for all values of some constants are false, whatever else is undefined.
            if solved.values.is_empty() && solved.remarks().next().is_none() {
                return Ok(Found::new());
            }
            for e in solved.remarks() {
                found.note(e.clone())?;
            }
            all.push(solved.values);
        }
        if !is_undefined {
            self.combine(all, &mut found)?;
        }
        Ok(found)
    }

    /// All values of related constants without the window of `--integers-in-scope`: rows of a function may bound each other in another order than the one
    /// in which they are chosen. `None` if that does not find all of them.
    fn solve_without_window(&self, env: &mut Env, group: &Plan) -> Res<Option<Found<Solution>>> {
        if !self.machine.integers_in_scope {
            return Ok(None);
        }
        env.exact = true;
        let solved = self.solve_group(env, group);
        env.exact = false;
        let solved = solved?;
        let is_whole = solved.incomplete.is_empty() && solved.sampled.is_empty();
        Ok(is_whole.then_some(solved))
    }

    /// All values of constants that their properties relate to each other.
    fn solve_group(&self, env: &mut Env, group: &Plan) -> Res<Found<Solution>> {
        let mut found = Found::new();
        let mut seen = HashSet::new();
        let mut passed_over: Option<Error> = None;
        let run = self.run_plan(env, group, &mut |env, error| {
            if let Some(e) = error {
                if e.is_misapplied() {
                    passed_over.get_or_insert_with(|| e.clone());
                    self.passed_over.set(true);
                } else {
                    found.note(e.clone())?;
                }
                // What is open without the window is solved again within it.
                let is_open = e.kind() == ErrorKind::Unbounded && env.exact;
                return Ok(if is_open { Flow::Stop } else { Flow::Go });
            }
            let mut solution = Vec::with_capacity(group.vars.len());
            for v in group.vars.iter().filter(|v| self.machine.constants.contains(v)) {
                let value = env.get(*v).cloned().unwrap_or_default();
                solution.push((*v, self.canon_constant(env, value)?));
            }
            if seen.insert(solution.clone()) {
                found.values.push(solution);
            }
            if found.values.len() > VALUATIONS {
                return Err(Error::too_large("the constants have too many valuations"));
            }
            Ok(Flow::Go)
        });
        if let Err(e) = run {
            found.note(e)?;
        }
        // No function at all is defined wherever it is applied: that is what is wrong.
        if found.values.is_empty() {
            match passed_over {
                Some(e) => found.note(e)?,
                None if found.remarks().next().is_none() => self.note_passed_over(env, group, &mut found)?,
                None => {}
            }
        }
        found.values.sort();
        Ok(found)
    }

    /// Where no valuation was found, functions that are chosen may have been passed over in silence: notes one of them.
    fn note_passed_over(&self, env: &mut Env, group: &Plan, found: &mut Found<Solution>) -> Res<()> {
        if !group.vars.iter().any(|v| self.is_chosen(*v)) {
            return Ok(());
        }
        let chosen = self.chosen.take();
        let run = self.run_plan(env, group, &mut |_, error| match error {
            Some(e) => found.note(e.clone()).map(|()| Flow::Stop),
            None => Ok(Flow::Go),
        });
        self.chosen.replace(chosen);
        match run {
            Ok(_) => Ok(()),
            Err(e) => found.note(e),
        }
    }

    /// Every solution of a group with every one of the others.
    fn combine(&self, groups: Vec<Vec<Solution>>, found: &mut Found<Constants>) -> Res<()> {
        let mut partial: Vec<Solution> = vec![Vec::new()];
        for solutions in groups {
            if partial.len().saturating_mul(solutions.len()) > VALUATIONS {
                return found.note(Error::too_large("the constants have too many valuations"));
            }
            let mut next = Vec::with_capacity(partial.len() * solutions.len());
            for p in &partial {
                let constants = solutions.first().map_or(0, Vec::len);
                self.charge(solutions.len().saturating_mul(constants))?;
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
            let value = |v: &VarId| valuation.iter().find(|(w, _)| w == v).map(|(_, x)| x.clone());
            found.values.push(self.machine.constants.iter().map(|v| value(v).unwrap_or_default()).collect());
            if found.values.len().is_multiple_of(COMBINED) {
                self.look()?;
            }
        }
        Ok(())
    }

    /// All states INITIALISATION may end in.
    pub fn initial_states(&self, constants: &Constants) -> Res<Found<State>> {
        let mut env = Env::new(self.machine.vars.len());
        for (v, x) in self.machine.constants.iter().zip(constants.iter()) {
            env.bind(*v, x.clone());
        }
        env.valuation = Some(self.cache.memo.borrow_mut().valuation(constants));
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
        'next: for (i, writes) in out.writes.into_iter().enumerate() {
            if i % LOOK == 0 {
                self.look()?;
            }
            let mut variables = Vec::with_capacity(self.machine.variables.len());
            for v in &self.machine.variables {
                match writes.iter().find(|(w, _)| w == v) {
                    Some((_, x)) => variables.push(x.clone()),
                    None => {
                        found.note(self.without_initial_value(*v))?;
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

    /// That some outcome of INITIALISATION leaves a variable without a value.
    pub(crate) fn without_initial_value(&self, v: VarId) -> Error {
        Error::new(
            ErrorKind::Uninitialised,
            self.machine.initialisation.span,
            format!("INITIALISATION gives {} no value", self.machine.var(v).name),
        )
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

/// Conjuncts grouped by the unknown variables they share, each group in the order of the text, which decides between
/// binders that cost the same; and the conjuncts without any.
fn grouped(plan: &Plan) -> (Vec<Group>, Vec<Arc<Conjunct>>) {
    let mut groups: Vec<Group> = plan.vars.iter().map(|v| (vec![*v], vec![])).collect();
    let mut tests = Vec::new();
    for c in &plan.conjuncts {
        let mut joined: Group = (Vec::new(), Vec::new());
        let mut at = None;
        let mut i = 0;
        while i < groups.len() {
            if groups[i].0.iter().any(|v| c.free.contains(v)) {
                let group = groups.remove(i);
                at.get_or_insert(i);
                joined.0.extend(group.0);
                joined.1.extend(group.1);
            } else {
                i += 1;
            }
        }
        joined.1.push(c.clone());
        match at {
            Some(i) => groups.insert(i, joined),
            None => tests.push(c.clone()),
        }
    }
    let order: HashMap<*const Conjunct, usize> =
        plan.conjuncts.iter().enumerate().map(|(i, c)| (Arc::as_ptr(c), i)).collect();
    for (_, conjuncts) in &mut groups {
        conjuncts.sort_by_key(|c| order.get(&Arc::as_ptr(c)).copied());
    }
    (groups, tests)
}
