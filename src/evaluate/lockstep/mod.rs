//! A machine and its abstractions in lock-step: every step must be one that the abstractions can take too.
//!
//! In: a refinement chain. Out: findings of kind `refinement` with shortest traces, and every reason why something
//! was not decided.
//! Never here: the counts of a check (the checked machine alone gives those), threads.
//!
//! A combined state is a concrete state `c` and the set `A` of abstract states (one tuple of values for all levels
//! together) that may belong to it: those which the same calls with the same results lead to, which agree with `c` in
//! the variables both have, and which satisfy the conjuncts over variables of abstractions (the gluing invariant `J`).
//! For a call `p` of an operation let `A_p` be the states of `A` in which the precondition of the topmost operation
//! holds. If `A_p` is empty, nobody may make the call. Else
//! 1. the preconditions of all lower levels hold (if the topmost operation has a step at all: where its guards block it,
//!    nobody can have made the call), and
//! 2. for each concrete outcome `(r, c')` the set of all `a'` that a state of `A_p` leads to with results `r`, that agree
//!    with `c'` and that satisfy `J` is not empty; it is the set of the combined state that follows.
//!
//! *No false alarm*: suppose the proof obligations `I & J & pre_a => pre_c & [S_c]not[S_a]not(J & r = r')` hold. Every
//! `a` in `A` is related to `c` by `J`. So for each `a` in `A_p` the lower precondition holds, and each concrete outcome
//! has an abstract one from `a` with equal results and `J` again: neither 1 nor 2 can fail.
//! *No silent pass*: a client that respects the abstraction makes a call only where its precondition holds in every state
//! the abstraction may be in, so in every state of `A`; all such calls are tried from every combined state. That no set
//! ever is empty means that each run of the machine is a run of the abstraction with the same results, along which `J`
//! holds. It does not mean that `J` alone is a simulation: choices of the abstraction may be postponed, because all of
//! them are kept.
//! Where not all abstract outcomes are known, the set is marked as part of the set: one that is not empty still proves
//! the step, one that is empty proves nothing and is a reason why the check is incomplete.

mod calls;
mod follow;
mod reached;
mod words;

use crate::called::Values;
use crate::env::Env;
use crate::error::{Error, Res};
use crate::search::{TraceStep, kind_of};
use crate::{Constants, ErrorKind, Interpreter, State, Transition};
use bombus_base::Span;
use bombus_base::budget::{Budget, Stop};
use bombus_base::finding::FindingKind;
use bombus_base::hash::HashMap;
use bombus_lang::typed::VarId;
use bombus_lang::value::Value;
use bombus_model::refinement::{Followed, Refinement, Role};
use follow::{Abstract, Glue, Near};
pub use reached::Reached;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The checked machine's own invariant and assertions are looked at too, and errors of its actions.
    pub own_checks: bool,
    pub check_invariant: bool,
    pub check_assertions: bool,
    /// Looked at together with the checked machine's own clauses.
    pub check_deadlock: bool,
    /// Go on after a finding.
    pub keep_going: bool,
    /// A guard or precondition without a truth value is a finding.
    pub strict_guards: bool,
    pub max_states: Option<u64>,
}

/// What is wrong, and how to get there.
#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: FindingKind,
    /// The place and what fails there.
    pub property: String,
    /// Values that show it.
    pub lines: Vec<String>,
    pub span: Span,
    /// Where a gluing conjunct is false: the values of all levels.
    pub joint: Option<State>,
    pub trace: Vec<TraceStep>,
    /// The event whose computation goes wrong, by its number.
    pub event: Option<usize>,
    /// The same steps as values: the states of the checked machine, and the transition that leads to each but the first.
    pub path: Vec<(Option<Transition>, State)>,
}

#[derive(Clone, Debug, Default)]
pub struct Followup {
    /// Distinct, in the order of discovery; without `keep_going` at most one.
    pub findings: Vec<Finding>,
    pub found: BTreeMap<FindingKind, u64>,
    /// Each reason once.
    pub incomplete: BTreeSet<String>,
    /// In how many combined states the precondition of an abstract operation had no truth value, by its place.
    pub undefined_above: BTreeMap<String, u64>,
    /// Combined states.
    pub states: u64,
    /// With `own_checks`, the checked machine as far as clients may call it.
    pub reached: Reached,
}

/// Runs the machine and its abstractions in lock-step.
pub fn follow(chain: &Refinement, budget: &Budget, options: &Options) -> Followup {
    let mut search = Search::new(chain, budget, options);
    if let Err(e) = search.run() {
        let reason = match e.kind() {
            ErrorKind::Stopped(Stop::Time) => "time limit reached".to_string(),
            ErrorKind::Stopped(Stop::Memory) => "memory limit reached".to_string(),
            ErrorKind::Stopped(Stop::Interrupted) => "interrupted".to_string(),
            _ => e.message().to_string(),
        };
        search.result.incomplete.insert(reason);
    }
    search.result
}

/// Values that are met again and again, by number.
#[derive(Default)]
struct Numbered {
    values: Vec<Values>,
    numbers: HashMap<Values, u32>,
}

impl Numbered {
    fn number(&mut self, values: Values) -> u32 {
        if let Some(n) = self.numbers.get(&values) {
            return *n;
        }
        let n = u32::try_from(self.values.len()).expect("fewer than 2^32 states of one level");
        self.values.push(values.clone());
        self.numbers.insert(values, n);
        n
    }

    fn get(&self, n: u32) -> &Values {
        &self.values[n as usize]
    }
}

/// Abstract states that may belong to a concrete one, sorted.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Set {
    states: Rc<[u32]>,
    /// More states may belong to it that could not be computed.
    part: bool,
}

struct Node {
    concrete: u32,
    set: Set,
    from: Option<(usize, Step)>,
}

/// A call with its results.
#[derive(Clone)]
struct Step {
    event: usize,
    params: Values,
    results: Values,
}

/// What the checked machine may do when it is called.
#[derive(Default)]
struct Moves {
    /// Results and the number of the state afterwards.
    outcomes: Vec<(Values, u32)>,
    errors: Vec<Error>,
    undefined_guards: Vec<Error>,
    incomplete: Vec<Error>,
}

/// Abstract states by the calls that may be made in them.
type Calls = BTreeMap<Values, Vec<u32>>;

type Going = bool;

struct Search<'m> {
    chain: &'m Refinement,
    interpreter: Interpreter<'m>,
    options: &'m Options,
    abstracts: Abstract<'m>,
    constants: Constants,
    concretes: Numbered,
    nodes: Vec<Node>,
    index: HashMap<(u32, Set), usize>,
    moves: HashMap<(u32, usize, Values, Option<u32>), Rc<Moves>>,
    result: Followup,
    /// Kinds found in this look at a combined state.
    seen: BTreeSet<FindingKind>,
    /// Some event did something in this look.
    moved: bool,
    tally: reached::Tally,
}

impl<'m> Search<'m> {
    fn new(chain: &'m Refinement, budget: &Budget, options: &'m Options) -> Search<'m> {
        Search {
            chain,
            interpreter: Interpreter::new(&chain.machine, budget),
            options,
            abstracts: Abstract::new(chain),
            constants: Vec::new().into(),
            concretes: Numbered::default(),
            nodes: Vec::new(),
            index: HashMap::new(),
            moves: HashMap::new(),
            result: Followup::default(),
            seen: BTreeSet::new(),
            moved: false,
            tally: reached::Tally::default(),
        }
    }

    fn run(&mut self) -> Res<()> {
        let constants = self.interpreter.constants()?;
        for e in &constants.incomplete {
            self.reason(e.message());
        }
        // No call leads to what is undefined before the first one.
        if constants.errors.iter().any(|e| !self.own_error(e)) {
            return Ok(());
        }
        for (number, valuation) in constants.values.into_iter().enumerate() {
            self.constants = valuation;
            self.concretes = Numbered::default();
            self.nodes.clear();
            self.index.clear();
            self.moves.clear();
            self.abstracts.forget();
            let going = self.explore()?;
            if self.options.own_checks {
                self.count(number as u64);
            }
            if !going {
                break;
            }
        }
        Ok(())
    }

    /// All combined states of one valuation of the constants, breadth first.
    fn explore(&mut self) -> Res<Going> {
        if !self.initialise()? {
            return Ok(false);
        }
        let mut at = 0;
        while at < self.nodes.len() {
            if self.options.max_states.is_some_and(|m| self.result.states > m) {
                self.reason("the limit on states was reached");
                return Ok(false);
            }
            self.interpreter.look()?;
            if !self.expand(at)? {
                return Ok(false);
            }
            at += 1;
        }
        Ok(true)
    }

    /// An environment with the constants only.
    fn empty(&self) -> Env {
        let mut env = Env::new(self.chain.machine.vars.len());
        for (v, x) in self.chain.machine.constants.iter().zip(self.constants.iter()) {
            env.bind(*v, x.clone());
        }
        env.valuation = Some(self.interpreter.cache.memo.borrow_mut().valuation(&self.constants));
        env
    }

    /// An environment with a concrete state.
    fn concrete(&self, c: u32) -> Env {
        let mut env = self.empty();
        let own = &self.chain.machine.variables[..self.chain.own_variables];
        for (v, x) in own.iter().zip(self.concretes.get(c).iter()) {
            env.bind(*v, x.clone());
            env.replace_old(*v, Some(x.clone()));
        }
        env
    }

    fn initialise(&mut self) -> Res<Going> {
        self.seen.clear();
        let mut env = self.empty();
        let mut out = crate::exec::Outcomes::default();
        self.interpreter.exec(&mut env, &self.chain.machine.initialisation, &mut out)?;
        for e in out.errors.iter().filter(|e| e.kind() != ErrorKind::Represented) {
            if !e.is_finding() {
                self.reason(e.message());
            } else if !self.own_error(e) {
                return Ok(false);
            }
        }
        let starts = self.abstracts.initial(&self.interpreter, &self.empty())?;
        let own = &self.chain.machine.variables[..self.chain.own_variables];
        let mut firsts: Vec<Values> = Vec::new();
        for writes in &out.writes {
            let values: Result<Vec<Value>, VarId> =
                own.iter().map(|v| crate::called::written(writes, *v).ok_or(*v)).collect();
            match values {
                Ok(values) => firsts.push(values.into()),
                Err(v) if !self.own_error(&self.interpreter.without_initial_value(v)) => return Ok(false),
                Err(_) => {}
            }
        }
        firsts.sort();
        firsts.dedup();
        self.result.reached.initial += firsts.len() as u64;
        for values in firsts {
            let c = self.concretes.number(values);
            let (set, near) = self.related(c, starts.outcomes.iter().map(|(_, a)| *a), !starts.whole)?;
            let going = match set {
                Some(set) => self.enter(c, set, None)?,
                None => {
                    let near = near.or_if_none(&starts.failed);
                    self.stuck(c, None, near, !starts.whole)?
                }
            };
            if !going {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An error of the checked machine itself before any call.
    fn own_error(&mut self, e: &Error) -> Going {
        let message = e.message().to_string();
        !self.options.own_checks || self.finding(kind_of(e), message, Vec::new(), e.span(), None, None)
    }

    /// The abstract states among `candidates` that may belong to `c`, and what kept others away.
    fn related(
        &mut self,
        c: u32,
        candidates: impl Iterator<Item = u32>,
        part: bool,
    ) -> Res<(Option<Set>, Near)> {
        let (mut states, mut part) = (BTreeSet::new(), part);
        let mut near = Near::default();
        for a in candidates {
            let env = self.concrete(c);
            match self.abstracts.glue(&self.interpreter, env, c, self.concretes.get(c), a)? {
                Glue::Holds => {
                    states.insert(a);
                }
                Glue::Unknown(why) => {
                    part = true;
                    near.unknown = Some(why);
                }
                Glue::Differs { words, same } => {
                    near.nearer((2, same), words, Span::default());
                }
                Glue::Broken { words, span, itself } => {
                    if near.nearer((3, 0), words, span) {
                        (near.itself, near.shown_by) = (itself, Some(a));
                    }
                }
            }
        }
        near.part = part;
        let set = (!states.is_empty()).then(|| Set { states: states.into_iter().collect(), part });
        Ok((set, near))
    }

    /// Adds a combined state, and looks at it if it is new.
    fn enter(&mut self, c: u32, set: Set, from: Option<(usize, Step)>) -> Res<Going> {
        let key = (c, set);
        if self.index.contains_key(&key) {
            return Ok(true);
        }
        let at = self.nodes.len();
        let (c, set) = key.clone();
        self.index.insert(key, at);
        self.nodes.push(Node { concrete: c, set, from });
        self.result.states += 1;
        self.check(at)
    }

    /// Assertions over variables of abstractions; with `own_checks` the clauses of the checked machine too.
    fn check(&mut self, at: usize) -> Res<Going> {
        let machine = &self.chain.machine;
        let (invariant, assertions) = (&machine.invariant[..self.chain.own_invariant], &machine.assertions);
        let (own, glued) = assertions.split_at(self.chain.own_assertions);
        let c = self.nodes[at].concrete;
        if self.options.own_checks {
            let invariant = invariant.iter().filter(|_| self.options.check_invariant);
            let own = own.iter().filter(|_| self.options.check_assertions);
            let clauses = invariant
                .map(|c| (c, FindingKind::Invariant))
                .chain(own.map(|c| (c, FindingKind::Assertion)));
            for (clause, kind) in clauses {
                let mut env = self.concrete(c);
                if !self.judge(&mut env, clause, kind, at)? {
                    return Ok(false);
                }
            }
        }
        if !self.options.check_assertions || glued.is_empty() {
            return Ok(true);
        }
        for a in self.nodes[at].set.states.iter().copied().collect::<Vec<_>>() {
            for clause in glued {
                let mut env = self.concrete(c);
                self.abstracts.bind(&mut env, a);
                if !self.judge(&mut env, clause, FindingKind::Assertion, at)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn judge(
        &mut self,
        env: &mut Env,
        clause: &bombus_lang::typed::Clause,
        kind: FindingKind,
        at: usize,
    ) -> Res<Going> {
        let text = bombus_base::text::one_line(&clause.text);
        match self.interpreter.holds(env, &clause.pred) {
            Ok(true) => Ok(true),
            Ok(false) => Ok(self.finding(kind, text, Vec::new(), clause.pred.span, Some(at), None)),
            Err(e) if e.is_stop() => Err(e),
            Err(e) if e.is_finding() => {
                let text = format!("{} in {text}", e.message());
                Ok(self.finding(kind_of(&e), text, Vec::new(), e.span(), Some(at), None))
            }
            Err(e) => {
                self.reason(e.message());
                Ok(true)
            }
        }
    }

    fn expand(&mut self, at: usize) -> Res<Going> {
        self.seen.clear();
        let c = self.nodes[at].concrete;
        if let Some(scope) = &self.chain.machine.scope {
            // Where SCOPE cannot be evaluated the search of the machine alone says so.
            match self.interpreter.holds(&mut self.concrete(c), scope) {
                Ok(false) => return Ok(true),
                Err(e) if e.is_stop() => return Err(e),
                _ => {}
            }
        }
        self.moved = false;
        for event in 0..self.chain.events.len() {
            let followed = &self.chain.events[event];
            if followed.role == Role::OtherParameters {
                let name = &self.chain.machine.op(followed.op).name;
                self.reason(&format!("{name} has other parameters than the operation it refines"));
                continue;
            }
            let (calls, undefined) = self.calls(at, event, followed)?;
            if !self.undefined_above(at, event, followed, &undefined.above)
                || !self.undefined_own(at, event, &undefined.own)
            {
                return Ok(false);
            }
            for (params, states) in calls {
                if !self.call(at, event, followed, &params, &states)? {
                    return Ok(false);
                }
            }
        }
        if !self.moved && self.options.own_checks && self.options.check_deadlock {
            let words = "no operation is enabled".to_string();
            return Ok(self.finding(
                FindingKind::Deadlock,
                words,
                Vec::new(),
                Span::default(),
                Some(at),
                None,
            ));
        }
        Ok(true)
    }

    /// One call: preconditions, then every outcome of the machine.
    fn call(
        &mut self,
        at: usize,
        event: usize,
        followed: &Followed,
        params: &Values,
        states: &[u32],
    ) -> Res<Going> {
        if !self.preconditions(at, event, followed, params, states)? {
            return Ok(false);
        }
        let c = self.nodes[at].concrete;
        // A precondition that fails was told; without a refined operation it is a guard that holds.
        let readers: Vec<Option<u32>> = if followed.loops_read_abstractions {
            states.iter().map(|a| Some(*a)).collect()
        } else {
            vec![None]
        };
        let mut moves = Rc::new(Moves::default());
        for a in readers {
            moves = self.moves(c, event, params, a)?;
            for e in &moves.errors {
                if (self.options.own_checks || a.is_some())
                    && !self.finding(
                        kind_of(e),
                        e.message().to_string(),
                        Vec::new(),
                        e.span(),
                        Some(at),
                        Some(event),
                    )
                {
                    return Ok(false);
                }
            }
            let op = self.chain.machine.op(followed.op);
            for e in moves.incomplete.iter().filter(|e| !follow::is_harmless(&self.chain.machine, op, e)) {
                self.reason(&format!("{}: {}", op.name, e.message()));
            }
        }
        if !self.undefined_own(at, event, &moves.undefined_guards) {
            return Ok(false);
        }
        self.moved |= !(moves.outcomes.is_empty() && moves.errors.is_empty() && moves.incomplete.is_empty());
        for (results, next) in &moves.outcomes {
            let step = Step { event, params: params.clone(), results: results.clone() };
            if !self.take(at, followed, step, *next, states)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What the checked machine does; `a` is given to loop invariants that speak of abstractions.
    fn moves(&mut self, c: u32, event: usize, params: &Values, a: Option<u32>) -> Res<Rc<Moves>> {
        let key = (c, event, params.clone(), a);
        if let Some(known) = self.moves.get(&key) {
            return Ok(known.clone());
        }
        let mut env = self.concrete(c);
        if let Some(a) = a {
            self.abstracts.bind_hidden(&mut env, a);
        }
        let mut called = self.interpreter.outcomes_of(&mut env, self.chain.events[event].op, params)?;
        let before = self.concretes.get(c).clone();
        let own = &self.chain.machine.variables[..self.chain.own_variables];
        let mut outcomes = Vec::with_capacity(called.outcomes.len());
        for (results, writes) in std::mem::take(&mut called.outcomes) {
            let after: Values = own
                .iter()
                .zip(before.iter())
                .map(|(v, old)| crate::called::written(&writes, *v).unwrap_or_else(|| old.clone()))
                .collect();
            outcomes.push((results, self.concretes.number(after)));
        }
        let crate::called::Called { errors, undefined_guards, incomplete, .. } = called;
        let moves = Rc::new(Moves { outcomes, errors, undefined_guards, incomplete });
        self.moves.insert(key, moves.clone());
        Ok(moves)
    }

    /// One outcome of the machine: the abstractions follow, or they cannot.
    fn take(&mut self, at: usize, followed: &Followed, step: Step, next: u32, states: &[u32]) -> Res<Going> {
        if self.options.own_checks {
            self.tally.step(self.nodes[at].concrete, &step, next);
        }
        let mut part = self.nodes[at].set.part;
        let mut near = Near::default();
        let mut candidates = Vec::new();
        for a in states {
            if followed.role == Role::Beside {
                candidates.push(self.abstracts.seen_change(self.concretes.get(next), *a));
                continue;
            }
            let steps = self.abstracts.steps(
                &self.interpreter,
                &self.empty(),
                step.event,
                followed,
                *a,
                &step.params,
            )?;
            part |= !steps.whole;
            if steps.outcomes.is_empty() {
                near.nearer((0, 0), steps.words.clone(), Span::default());
            }
            near.failed = near.failed.or_else(|| steps.failed.clone());
            for (results, after) in &steps.outcomes {
                if follow::agree(&step.results, results) {
                    candidates.push(*after);
                } else {
                    let words = self.result_words(followed, &step.results, results);
                    near.nearer((1, 0), words, Span::default());
                }
            }
        }
        let (set, further) = self.related(next, candidates.into_iter(), part)?;
        near.join(further);
        match set {
            Some(set) => self.enter(next, set, Some((at, step))),
            None => {
                let part = near.part || part;
                self.stuck(next, Some((at, step)), near, part)
            }
        }
    }

    /// No abstract state is left: a finding if all were known, else a reason.
    fn stuck(&mut self, c: u32, from: Option<(usize, Step)>, near: Near, part: bool) -> Res<Going> {
        let place = self.place(from.as_ref().map(|(_, s)| s.event));
        if part || near.failed.is_some() {
            let why = near
                .failed
                .or(near.unknown)
                .unwrap_or_else(|| "not all choices of the abstraction were tried".into());
            self.reason(&format!("{place} was not followed: {why}"));
            return Ok(true);
        }
        let kind = if near.itself { FindingKind::Invariant } else { FindingKind::Refinement };
        let property = format!("{place} / {}", near.words);
        let lines = self.stuck_lines(from.as_ref());
        let machine = &self.chain.machine;
        let operation = from.as_ref().map_or(machine.initialisation.span, |(_, step)| {
            machine.op(self.chain.events[step.event].op).span
        });
        // The combined state has no number: the step that leads to it ends the trace.
        let (trace, path) = (self.trace_to(c, from.clone()), self.path_to(c, from));
        let joint = near.shown_by.map(|a| self.joint(c, a));
        // A step that no conjunct refuses is shown by the operation that makes it.
        let span = if near.span == Span::default() { operation } else { near.span };
        Ok(self.report(Finding { kind, property, lines, span, joint, trace, event: None, path }))
    }

    fn finding(
        &mut self,
        kind: FindingKind,
        property: String,
        mut lines: Vec<String>,
        span: Span,
        at: Option<usize>,
        event: Option<usize>,
    ) -> Going {
        if let Some(event) = event {
            lines.insert(
                0,
                format!("while computing {}", self.chain.machine.op(self.chain.events[event].op).name),
            );
        }
        let (trace, path) = at.map_or_else(Default::default, |at| {
            let Node { concrete, from, .. } = &self.nodes[at];
            (self.trace_to(*concrete, from.clone()), self.path_to(*concrete, from.clone()))
        });
        self.report(Finding { kind, property, lines, span, joint: None, trace, event, path })
    }

    /// The values of a concrete state and of an abstract one, in the order of the machine of all levels.
    fn joint(&self, c: u32, a: u32) -> State {
        let machine = &self.chain.machine;
        let (own, hidden) = (self.concretes.get(c), self.abstracts.hidden(a));
        let value = |(i, v): (usize, &VarId)| match own.get(i) {
            Some(x) => x.clone(),
            None => hidden.iter().find(|(w, _)| w == v).map_or(Value::unassigned(), |(_, x)| x.clone()),
        };
        State {
            constants: self.constants.clone(),
            variables: machine.variables.iter().enumerate().map(value).collect(),
        }
    }

    fn report(&mut self, finding: Finding) -> Going {
        let kind = finding.kind;
        if self.seen.insert(kind) {
            *self.result.found.entry(kind).or_default() += 1;
        }
        if self.result.findings.iter().all(|f| f.kind != kind || f.property != finding.property) {
            self.result.findings.push(finding);
        }
        self.options.keep_going
    }

    fn reason(&mut self, reason: &str) {
        self.result.incomplete.insert(reason.to_string());
    }
}
