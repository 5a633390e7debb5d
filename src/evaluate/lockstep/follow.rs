//! The abstractions of a chain: their initial states, their steps for given calls, and what relates them to a
//! concrete state.
//!
//! In: numbers of abstract and concrete states. Out: numbers of abstract states, each step computed once.
//! An abstract state holds the values of the variables of all levels; a level that steps changes its own, and levels
//! that share a variable must agree on it.

use crate::called::{Unsettled, Values, written};
use crate::env::Env;
use crate::error::{Error, Res};
use crate::exec::{Outcomes, Writes};
use crate::lockstep::Numbered;
use crate::{ErrorKind, Interpreter};
use bombus_analyse::effect_free_choice;
use bombus_base::Span;
use bombus_base::hash::HashMap;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{Clause, Machine, Operation, VarId};
use bombus_lang::value::Value;
use bombus_model::refinement::{Followed, Refined, Refinement};
use std::rc::Rc;

/// How near the abstraction came to following: 0 no step, 1 other results, 2 other values of shared variables, 3 a false
/// gluing conjunct; then how many shared variables have the same value.
pub(crate) type Rank = (u8, usize);

/// The nearest way of following that fails, in words.
#[derive(Default)]
pub(crate) struct Near {
    rank: Option<Rank>,
    pub(crate) words: String,
    pub(crate) span: Span,
    /// Some relation could not be decided, for this reason.
    pub(crate) unknown: Option<String>,
    /// The abstraction itself fails.
    pub(crate) failed: Option<String>,
    pub(crate) part: bool,
    /// The nearest false conjunct is the abstraction's own.
    pub(crate) itself: bool,
    /// The abstract state with which that conjunct is false.
    pub(crate) shown_by: Option<u32>,
}

impl Near {
    /// Takes the words if they tell of something nearer than those before, and says whether it did.
    pub(crate) fn nearer(&mut self, rank: Rank, words: String, span: Span) -> bool {
        let takes = self.rank.is_none_or(|r| r < rank);
        if takes {
            (self.rank, self.words, self.span) = (Some(rank), words, span);
        }
        takes
    }

    pub(crate) fn join(&mut self, other: Near) {
        if let Some(rank) = other.rank
            && self.nearer(rank, other.words, other.span)
        {
            (self.itself, self.shown_by) = (other.itself, other.shown_by);
        }
        self.unknown = self.unknown.take().or(other.unknown);
        self.part |= other.part;
    }

    pub(crate) fn or_if_none(mut self, failed: &Option<String>) -> Near {
        if self.rank.is_none() {
            self.words = "the abstraction has no initial state".into();
        }
        self.failed = self.failed.or_else(|| failed.clone());
        self
    }
}

/// Whether an abstract state may belong to a concrete one.
#[derive(Clone)]
pub(crate) enum Glue {
    Holds,
    /// A variable that both have has other values; so many others have the same.
    Differs {
        words: String,
        same: usize,
    },
    /// A conjunct is false or undefined; it may be the abstraction's own, which no refinement can help.
    Broken {
        words: String,
        span: Span,
        itself: bool,
    },
    Unknown(String),
}

/// What the levels may do together when they are called.
pub(crate) struct Steps {
    /// Results and the number of the state afterwards.
    pub(crate) outcomes: Vec<(Values, u32)>,
    /// These are all.
    pub(crate) whole: bool,
    /// Why a branch of an abstract operation has no outcome at all.
    pub(crate) failed: Option<String>,
    /// Where the step ends if there is no outcome.
    pub(crate) words: String,
}

type Admitted = Rc<(Vec<Values>, Unsettled)>;

pub(crate) struct Abstract<'m> {
    chain: &'m Refinement,
    /// The variables of all levels.
    variables: Vec<VarId>,
    /// Those that the checked machine has too: places in an abstract and in a concrete state.
    shared: Vec<(usize, usize)>,
    states: Numbered,
    glued: HashMap<(u32, u32), Glue>,
    steps: HashMap<(u32, usize, Values), Rc<Steps>>,
    admitted: HashMap<(u32, usize), Admitted>,
}

impl<'m> Abstract<'m> {
    pub(crate) fn new(chain: &'m Refinement) -> Abstract<'m> {
        let mut variables: Vec<VarId> = Vec::new();
        for v in chain.levels.iter().flat_map(|l| &l.variables) {
            if !variables.contains(v) {
                variables.push(*v);
            }
        }
        let own = &chain.machine.variables[..chain.own_variables];
        let shared = variables
            .iter()
            .enumerate()
            .filter_map(|(i, v)| Some((i, own.iter().position(|w| w == v)?)))
            .collect();
        Abstract {
            chain,
            variables,
            shared,
            states: Numbered::default(),
            glued: HashMap::new(),
            steps: HashMap::new(),
            admitted: HashMap::new(),
        }
    }

    /// Another valuation of the constants begins.
    pub(crate) fn forget(&mut self) {
        *self = Abstract::new(self.chain);
    }

    pub(crate) fn bind(&self, env: &mut Env, a: u32) {
        for (v, x) in self.variables.iter().zip(self.states.get(a).iter()) {
            env.bind(*v, x.clone());
            env.replace_old(*v, Some(x.clone()));
        }
    }

    /// Binds what the checked machine does not have itself.
    pub(crate) fn bind_hidden(&self, env: &mut Env, a: u32) {
        for (i, (v, x)) in self.variables.iter().zip(self.states.get(a).iter()).enumerate() {
            if !self.shared.iter().any(|(j, _)| *j == i) {
                env.bind(*v, x.clone());
                env.replace_old(*v, Some(x.clone()));
            }
        }
    }

    /// The variables of abstractions that the checked machine does not have, with their values.
    pub(crate) fn hidden(&self, a: u32) -> Vec<(VarId, Value)> {
        let is_shared = |i: usize| self.shared.iter().any(|(j, _)| *j == i);
        let values = self.states.get(a);
        (0..self.variables.len())
            .filter(|i| !is_shared(*i))
            .map(|i| (self.variables[i], values[i].clone()))
            .collect()
    }

    /// The abstract state after an event beside the chain, which changed variables that all levels see.
    pub(crate) fn seen_change(&mut self, concrete: &Values, a: u32) -> u32 {
        let mut values = self.states.get(a).to_vec();
        for (i, j) in &self.shared {
            values[*i] = concrete[*j].clone();
        }
        self.states.number(values.into())
    }

    /// Whether an abstract state may belong to a concrete one. `env` holds the concrete state.
    pub(crate) fn glue(
        &mut self,
        interpreter: &Interpreter<'m>,
        mut env: Env,
        c: u32,
        concrete: &Values,
        a: u32,
    ) -> Res<Glue> {
        if let Some(known) = self.glued.get(&(c, a)) {
            return Ok(known.clone());
        }
        let machine = &self.chain.machine;
        let values = self.states.get(a);
        let differs = self.shared.iter().find(|(i, j)| values[*i] != concrete[*j]);
        let glue = if let Some((i, j)) = differs {
            let decl = machine.var(self.variables[*i]);
            let shown = |x: &Value| x.show(machine, &decl.ty);
            let words = format!(
                "{0}: the abstraction has {0} = {1}, not {2}",
                decl.name,
                shown(&values[*i]),
                shown(&concrete[*j])
            );
            let same = self.shared.iter().filter(|(i, j)| values[*i] == concrete[*j]).count();
            Glue::Differs { words, same }
        } else {
            self.bind_hidden(&mut env, a);
            let mut glue = Glue::Holds;
            for clause in &machine.invariant[self.chain.own_invariant..] {
                let text = bombus_base::text::one_line(&clause.text);
                let itself = self.is_own(clause);
                match interpreter.holds(&mut env, &clause.pred) {
                    Ok(true) => {}
                    Ok(false) if fault("lock-step: gluing conjuncts are not asked for") => {}
                    Ok(false) => {
                        glue = Glue::Broken { words: text, span: clause.pred.span, itself };
                        break;
                    }
                    Err(e) if e.is_stop() => return Err(e),
                    Err(e) if e.is_finding() => {
                        let words = format!("{} in {text}", e.message());
                        glue = Glue::Broken { words, span: e.span(), itself };
                        break;
                    }
                    // A later conjunct may still be false.
                    Err(e) => glue = Glue::Unknown(format!("{} in {text}", e.message())),
                }
            }
            glue
        };
        self.glued.insert((c, a), glue.clone());
        Ok(glue)
    }

    /// Whether a conjunct over abstract variables is no part of a refinement's invariant.
    fn is_own(&self, clause: &Clause) -> bool {
        let refinements = self.chain.levels.split_last().map_or(&[][..], |(_, lower)| lower);
        clause.origin != self.chain.machine.name && !refinements.iter().any(|l| l.name == clause.origin)
    }

    /// Whether the topmost operation of a call may do something, as far as that is known.
    pub(crate) fn may_step(
        &self,
        interpreter: &Interpreter<'m>,
        empty: &Env,
        followed: &Followed,
        a: u32,
        params: &Values,
    ) -> Res<bool> {
        let Some(top) = followed.refined.last() else { return Ok(true) };
        let mut env = empty.clone();
        self.bind(&mut env, a);
        let called = interpreter.outcomes_of(&mut env, top.op, params)?;
        Ok(!called.outcomes.is_empty() || !called.errors.is_empty() || !called.incomplete.is_empty())
    }

    /// The initial states of all levels together. `empty` holds the constants.
    pub(crate) fn initial(&mut self, interpreter: &Interpreter<'m>, empty: &Env) -> Res<Steps> {
        let mut joint = Joint::new(&self.variables);
        for level in &self.chain.levels {
            let mut env = empty.clone();
            let mut out = Outcomes::default();
            interpreter.exec(&mut env, &level.initialisation, &mut out)?;
            let writes = out.writes.into_iter().map(|w| (Values::from([]), w)).collect();
            let place = format!("{} / INITIALISATION", level.name);
            joint.level(&level.variables, None, writes, &out.errors, &place);
        }
        Ok(joint.finish(&mut self.states))
    }

    /// The calls that the topmost operation allows in an abstract state, and those of which nothing is known.
    pub(crate) fn admitted(
        &mut self,
        interpreter: &Interpreter<'m>,
        empty: &Env,
        event: usize,
        top: &Refined,
        a: u32,
    ) -> Res<Admitted> {
        if let Some(known) = self.admitted.get(&(a, event)) {
            return Ok(known.clone());
        }
        let params = &self.chain.machine.op(top.op).params;
        let mut env = empty.clone();
        self.bind(&mut env, a);
        let mut found: Vec<Values> = Vec::new();
        let mut unsettled = Unsettled::default();
        match &top.precondition {
            None => found.push(Values::from([])),
            Some(pre) if params.is_empty() => match interpreter.holds(&mut env, pre) {
                Ok(true) => found.push(Values::from([])),
                Ok(false) => {}
                Err(e) => unsettled.note(e)?,
            },
            Some(pre) => unsettled = interpreter.admitted_by(&mut env, params, pre, &mut found)?,
        }
        found.sort();
        found.dedup();
        let admitted = Rc::new((found, unsettled));
        self.admitted.insert((a, event), admitted.clone());
        Ok(admitted)
    }

    /// What the levels may do together for a call in an abstract state; levels without the operation do nothing.
    pub(crate) fn steps(
        &mut self,
        interpreter: &Interpreter<'m>,
        empty: &Env,
        event: usize,
        followed: &Followed,
        a: u32,
        params: &Values,
    ) -> Res<Rc<Steps>> {
        let key = (a, event, params.clone());
        if let Some(known) = self.steps.get(&key) {
            return Ok(known.clone());
        }
        let before = self.states.get(a).clone();
        let mut joint = Joint::new(&self.variables);
        for (i, level) in self.chain.levels.iter().enumerate() {
            let (outcomes, errors) = match followed.refined.get(i) {
                Some(refined) => {
                    let mut env = empty.clone();
                    self.bind(&mut env, a);
                    let called = interpreter.outcomes_of(&mut env, refined.op, params)?;
                    let errors = called.errors.into_iter().chain(called.incomplete).collect::<Vec<_>>();
                    (called.outcomes, errors)
                }
                None => (vec![(joint.results(), Writes::new())], Vec::new()),
            };
            let name = followed.refined.get(i).map_or("", |r| &*self.chain.machine.op(r.op).name);
            let place = format!("{} / {name}", level.name);
            joint.level(&level.variables, Some(&before), outcomes, &errors, &place);
        }
        let steps = Rc::new(joint.finish(&mut self.states));
        self.steps.insert(key, steps.clone());
        Ok(steps)
    }
}

/// Outcomes of several levels, put together level by level.
struct Joint<'a> {
    variables: &'a [VarId],
    /// Results, and the values so far of the variables.
    partial: Vec<(Option<Values>, Vec<Option<Value>>)>,
    whole: bool,
    failed: Option<String>,
    words: String,
}

impl Joint<'_> {
    fn new(variables: &[VarId]) -> Joint<'_> {
        Joint {
            variables,
            partial: vec![(None, vec![None; variables.len()])],
            whole: true,
            failed: None,
            words: String::new(),
        }
    }

    /// Results that a level without the operation goes along with.
    fn results(&self) -> Values {
        let count = self.partial.first().and_then(|(r, _)| r.as_ref()).map_or(0, |r| r.len());
        (0..count).map(|_| Value::unassigned()).collect()
    }

    /// Joins the outcomes of a level; what it does not write keeps the value `before`.
    fn level(
        &mut self,
        own: &[VarId],
        before: Option<&Values>,
        outcomes: Vec<(Values, Writes)>,
        errors: &[Error],
        place: &str,
    ) {
        for e in errors {
            if e.is_finding() {
                self.failed.get_or_insert_with(|| format!("{place} fails itself: {}", e.message()));
            } else {
                self.whole = false;
            }
        }
        if outcomes.is_empty() && self.words.is_empty() {
            self.words = format!("{place} has no step");
        }
        let places: Vec<(usize, VarId)> =
            own.iter().filter_map(|v| Some((self.variables.iter().position(|w| w == v)?, *v))).collect();
        let mut next = Vec::new();
        for (results, values) in &self.partial {
            'outcome: for (other, writes) in &outcomes {
                if results.as_ref().is_some_and(|r| !agree(r, other)) {
                    continue;
                }
                let mut values = values.clone();
                for (i, v) in &places {
                    let new = written(writes, *v).or_else(|| before.map(|b| b[*i].clone()));
                    match (&values[*i], new) {
                        (_, None) => {
                            self.failed
                                .get_or_insert_with(|| format!("{place} leaves a variable without a value"));
                            continue 'outcome;
                        }
                        (Some(known), Some(new)) if *known != new => continue 'outcome,
                        (_, Some(new)) => values[*i] = Some(new),
                    }
                }
                let results = results.as_ref().map_or_else(|| other.clone(), |r| known(r, other));
                next.push((Some(results), values));
            }
        }
        if next.is_empty() && self.words.is_empty() {
            self.words = format!("{place} cannot follow the level below it");
        }
        self.partial = next;
    }

    fn finish(self, states: &mut Numbered) -> Steps {
        let mut outcomes: Vec<(Values, u32)> = self
            .partial
            .into_iter()
            .filter_map(|(results, values)| {
                let values: Option<Vec<Value>> = values.into_iter().collect();
                Some((results.unwrap_or_else(|| Values::from([])), states.number(values?.into())))
            })
            .collect();
        outcomes.sort();
        outcomes.dedup();
        Steps { outcomes, whole: self.whole, failed: self.failed, words: self.words }
    }
}

/// Whether results are equal; one that was given no value may have any.
pub(crate) fn agree(a: &Values, b: &Values) -> bool {
    let open = Value::unassigned();
    fault("lock-step: results are not compared")
        || a.iter().zip(b.iter()).all(|(x, y)| x == y || *x == open || *y == open)
}

/// The results of two levels that agree.
fn known(a: &Values, b: &Values) -> Values {
    let open = Value::unassigned();
    a.iter().zip(b.iter()).map(|(x, y)| if *x == open { y } else { x }.clone()).collect()
}

/// Whether values that an operation did not try lead to the same states and results, or to others like them.
pub(crate) fn is_harmless(machine: &Machine, op: &Operation, e: &Error) -> bool {
    match e.kind() {
        ErrorKind::Represented => true,
        ErrorKind::Sampled(v) => op.results.is_empty() && effect_free_choice::is_inert(machine, &op.body, v),
        _ => false,
    }
}

/// Whether no level can tell the values of a parameter apart.
pub(crate) fn is_inert_everywhere(machine: &Machine, followed: &Followed, v: VarId) -> bool {
    let ops = || followed.refined.iter().map(|r| r.op).chain([followed.op]).map(|op| machine.op(op));
    let Some(place) = ops().find_map(|op| op.params.iter().position(|p| *p == v)) else { return false };
    ops().all(|op| {
        op.params.get(place).is_some_and(|p| effect_free_choice::is_inert(machine, &op.body, *p))
            && op.results.is_empty()
    })
}
