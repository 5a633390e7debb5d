//! Unrolling: states and steps of a machine one after the other, in one solver.
//!
//! In: a machine, what is checked, options. Out: frames with the literals of what may be wrong in them (`Target`), steps
//! between frames, queries with the right meaning of UNSAT, and candidates read from models. A frame either begins with
//! the initialisation or with any state that satisfies the property; every later frame is a function of the one before
//! and of choices. Never here: in which order queries are asked (`bmc`, `kind`, `path`).

use super::encode::action::Outcome;
use super::encode::{EncodeOptions, Encoder, Env};
use super::lrat::{self, Proof};
use super::sat::{Answer, Batsat, Limit, Lit, Sat};
use super::valuations::may_be_undefined;
use bombus_analyse::proof_info::ProofInfo;
use bombus_base::Span;
use bombus_base::budget::Budget;
use bombus_base::finding::FindingKind;
use bombus_evaluate::Constants;
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::{Machine, Pred, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    pub invariant: bool,
    pub assertions: bool,
    pub deadlock: bool,
}

/// Something that may be wrong in a state, the same in every frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Invariant(usize),
    Assertion(usize),
    Goal,
    /// The goal has no truth value.
    DoubtfulGoal,
    Deadlock,
    /// Something goes wrong while the event, by its number, is computed.
    Fault(usize),
}

impl Target {
    pub fn kind(self) -> FindingKind {
        match self {
            Target::Invariant(_) => FindingKind::Invariant,
            Target::Assertion(_) => FindingKind::Assertion,
            Target::Goal | Target::DoubtfulGoal => FindingKind::Goal,
            Target::Deadlock => FindingKind::Deadlock,
            Target::Fault(_) => FindingKind::WellDefinedness,
        }
    }

    /// The target in words, for a ledger.
    pub fn words(self, machine: &Machine) -> String {
        match self {
            Target::Invariant(i) => format!("the invariant {}", machine.invariant[i].text),
            Target::Assertion(i) => format!("the assertion {}", machine.assertions[i].text),
            Target::Goal => "the goal".into(),
            Target::DoubtfulGoal => "whether the goal is defined".into(),
            Target::Deadlock => "deadlocks".into(),
            Target::Fault(e) => format!("what may go wrong in {}", machine.op(machine.events[e]).name),
        }
    }
}

/// The answer to a query, with what UNSAT means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A model, to be confirmed.
    Candidate,
    /// There is no behaviour of this kind.
    Proof,
    /// There is none with integers of so many bits, and nothing says that these are enough.
    TooNarrow,
    /// Stopped.
    Unknown,
}

/// The literals of the step from one frame to the next.
pub struct StepLits {
    pub events: Vec<Outcome>,
    /// Exactly one event is chosen.
    pub chosen: Vec<Lit>,
    /// The chosen event has an outcome.
    pub made: Lit,
}

pub struct Frame {
    pub env: Env,
    pub targets: Vec<(Target, Lit)>,
    /// What holds of the frame by proofs, if the invariant does.
    ruled_out: Vec<Lit>,
    /// Proofs leave nothing to ask about the frame.
    settled: bool,
    pub step: StepLits,
}

/// Values of what was chosen at one place: constants, parameters, ANY, `::`, `:(P)`.
pub type Choices = Vec<(Option<Span>, VarId, Value)>;

/// A path read from a model. What has no literals is missing.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    pub constants: Vec<(VarId, Value)>,
    pub beginning: Choices,
    /// The state after the initialisation, then after each event.
    pub states: Vec<Vec<(VarId, Value)>>,
    pub events: Vec<(usize, Choices)>,
    /// The event in which something goes wrong at the end, with its choices.
    pub fault: Option<(usize, Choices)>,
    /// What is wrong at the end.
    pub targets: Vec<Target>,
}

/// Figures of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub queries: u64,
    pub conflicts: u64,
    pub variables: u64,
}

pub struct Unrolling<'m> {
    pub enc: Encoder<'m>,
    machine: &'m Machine,
    wanted: Properties,
    constants: Env,
    pub beginning: Option<Outcome>,
    pub frames: Vec<Frame>,
    limit: Limit,
    proven: Arc<ProofInfo>,
    /// The whole invariant is asserted of all frames but the last, so that proofs may be used.
    believed: bool,
    /// Queries that proofs made superfluous.
    saved: u64,
}

impl<'m> Unrolling<'m> {
    /// The constants, with PROPERTIES asserted.
    pub fn new(
        machine: &'m Machine,
        wanted: Properties,
        options: EncodeOptions,
        budget: &Budget,
    ) -> Unrolling<'m> {
        Unrolling::over(machine, wanted, options, budget, Box::new(Batsat::new()))
    }

    /// The same over a given solver.
    pub fn over(
        machine: &'m Machine,
        wanted: Properties,
        options: EncodeOptions,
        budget: &Budget,
        solver: Box<dyn Sat>,
    ) -> Unrolling<'m> {
        let mut enc = Encoder::over(machine, options, budget, solver);
        let constants = with_constants(&mut enc);
        let budget = budget.clone();
        let limit = Limit::stopped_by(Arc::new(move || budget.check().is_err()));
        Unrolling {
            enc,
            machine,
            wanted,
            constants,
            beginning: None,
            frames: Vec::new(),
            limit,
            proven: Arc::default(),
            believed: wanted.invariant,
            saved: 0,
        }
    }

    /// Frames that are made from now on leave out what is proven.
    pub fn with_proofs(mut self, proven: &Arc<ProofInfo>) -> Unrolling<'m> {
        self.proven = proven.clone();
        self
    }

    /// The initialisation as a step; nothing is asserted.
    pub fn prepare_beginning(&mut self) {
        let outcome = self.enc.initialisation(&self.constants.clone());
        self.beginning = Some(outcome);
    }

    /// Where this holds, the constants allow no initial state.
    pub fn no_beginning(&mut self) -> Lit {
        let constants = self.constants.clone();
        !self.enc.can_begin(&constants)
    }

    /// The first frame is an initial state.
    pub fn begin(&mut self) {
        let outcome = self.beginning.as_ref().expect("the initialisation was prepared");
        let (taken, mut env) = (outcome.taken, outcome.env.clone());
        self.enc.g.require(taken);
        env.remember(&self.machine.variables);
        self.push(env);
    }

    /// The first frame is any state that satisfies the property.
    pub fn begin_anywhere(&mut self) {
        let mut env = self.constants.clone();
        let machine = self.machine;
        let invariant: Vec<&Pred> = if self.wanted.invariant {
            machine.invariant.iter().map(|c| &c.pred).collect()
        } else {
            Vec::new()
        };
        self.enc.bind_leaves(&mut env, &machine.variables, &invariant);
        env.remember(&machine.variables);
        self.push(env);
    }

    fn push(&mut self, env: Env) {
        let step = self.step_from(&env);
        let mut targets = self.targets_of(&env, &step);
        let mut ruled_out = Vec::new();
        let open = !targets.is_empty();
        if self.believed {
            for (target, lit) in &mut targets {
                let open = self.open_part(*target, *lit);
                if open != *lit {
                    ruled_out.push(!*lit);
                    *lit = open;
                }
            }
            targets.retain(|(_, l)| *l != Lit::FALSE);
        }
        let settled = open && targets.is_empty();
        self.frames.push(Frame { env, targets, ruled_out, settled, step });
    }

    /// The part of a target of the next frame that no proof rules out. The frame before satisfies the whole invariant; what
    /// follows from the invariant of the next frame need not be asked where that invariant is.
    fn open_part(&mut self, target: Target, lit: Lit) -> Lit {
        match target {
            Target::Fault(event) if self.proven.is_faultless(event) => Lit::FALSE,
            Target::Assertion(i) if self.proven.follows(i) => Lit::FALSE,
            Target::Deadlock if self.proven.is_never_stuck() => Lit::FALSE,
            Target::Invariant(i) => {
                let Some(before) = self.frames.last() else { return lit };
                let chosen = &before.step.chosen;
                if !(0..chosen.len()).any(|e| self.proven.keeps(e, i)) {
                    return lit;
                }
                let open: Vec<Lit> =
                    (0..chosen.len()).filter(|e| !self.proven.keeps(*e, i)).map(|e| chosen[e]).collect();
                let some = self.enc.g.or_all(&open);
                self.enc.g.and(lit, some)
            }
            _ => lit,
        }
    }

    /// Whether proofs rule out all of these targets in the last frame if this event leads there.
    pub fn is_settled_after(&mut self, event: usize, targets: &[Target]) -> bool {
        let Some(last) = self.frames.last() else { return false };
        let settled = self.believed
            && last.targets.iter().filter(|(t, _)| targets.contains(t)).all(|(t, _)| match t {
                Target::Invariant(i) => self.proven.keeps(event, *i),
                _ => false,
            });
        self.saved += u64::from(settled && (last.settled || !last.targets.is_empty()));
        settled
    }

    /// A query about a frame would have no target: a proof may have saved the query.
    pub fn note_unasked(&mut self, frame: usize) {
        self.saved += u64::from(self.frames[frame].settled);
    }

    /// Queries that were not asked because a proof answers them.
    pub fn saved(&self) -> u64 {
        self.saved
    }

    fn step_from(&mut self, env: &Env) -> StepLits {
        let mut events = Vec::with_capacity(self.machine.events.len());
        for op in &self.machine.events {
            events.push(self.enc.event(env, *op));
        }
        if events.is_empty() {
            return StepLits { events, chosen: Vec::new(), made: Lit::FALSE };
        }
        let chosen = self.enc.g.one_hot(events.len());
        let made: Vec<Lit> = events.iter().zip(&chosen).map(|(e, c)| self.enc.g.and(e.taken, *c)).collect();
        StepLits { made: self.enc.g.or_all(&made), events, chosen }
    }

    fn targets_of(&mut self, state: &Env, step: &StepLits) -> Vec<(Target, Lit)> {
        let machine = self.machine;
        let mut env = state.clone();
        let mut all = Vec::new();
        let enc = &mut self.enc;
        for (i, c) in machine.invariant.iter().enumerate().filter(|_| self.wanted.invariant) {
            let t = enc.pred(&mut env, &c.pred);
            all.push((Target::Invariant(i), !enc.surely(t)));
        }
        for (i, c) in machine.assertions.iter().enumerate().filter(|_| self.wanted.assertions) {
            let t = enc.pred(&mut env, &c.pred);
            all.push((Target::Assertion(i), !enc.surely(t)));
        }
        if let Some(goal) = &machine.goal {
            let t = enc.pred(&mut env, goal);
            all.push((Target::Goal, enc.surely(t)));
            if pred_may_be_undefined(goal) {
                all.push((Target::DoubtfulGoal, !t.defined));
            }
        }
        if self.wanted.deadlock {
            let mut none = Vec::new();
            for op in &machine.events {
                let enabled = enc.enabled(state, *op);
                none.push(!enabled);
                if enabled == Lit::TRUE {
                    break;
                }
            }
            all.push((Target::Deadlock, enc.g.and_all(&none)));
        }
        for (i, e) in step.events.iter().enumerate() {
            all.push((Target::Fault(i), e.fault));
        }
        all.retain(|(_, l)| *l != Lit::FALSE);
        all
    }

    /// Adds the frame after the last one: a step is made, and the last frame shows none of these targets.
    pub fn extend(&mut self, without: &[Target]) {
        // A conjunct that is no longer looked for is not asserted either, and proofs rest on all of them.
        let all = (0..self.machine.invariant.len()).all(|i| without.contains(&Target::Invariant(i)));
        self.believed &= all;
        let frame = self.frames.last().expect("there is a first frame");
        let mut ruled_out: Vec<Lit> =
            frame.targets.iter().filter(|(t, _)| without.contains(t)).map(|(_, l)| !*l).collect();
        if self.believed {
            ruled_out.extend(&frame.ruled_out);
        }
        ruled_out.iter().for_each(|l| self.enc.g.require(*l));
        let made = frame.step.made;
        self.enc.g.require(made);
        let mut next: Option<Env> = None;
        let frame = self.frames.last().expect("there is a first frame");
        for (e, c) in frame.step.events.iter().zip(&frame.step.chosen) {
            next = Some(match next {
                None => e.env.clone(),
                Some(other) => self.enc.merged_env(*c, &e.env, &other),
            });
        }
        let mut env = self.constants.clone();
        if let Some(next) = next {
            for v in &self.machine.variables {
                env.put(*v, next.get(*v).cloned());
            }
        }
        env.remember(&self.machine.variables);
        self.push(env);
    }

    /// Asks for a model of everything asserted and of the assumptions.
    pub fn ask(&mut self, assumptions: &[Lit]) -> Reply {
        self.enc.ask(assumptions, &self.limit)
    }

    /// A proof that one of these literals cannot hold, for programs that believe nobody; the solver has to keep a log. The
    /// unrolling is of no use afterwards.
    pub fn refutation(&mut self, some: &[Lit]) -> Option<Proof> {
        if !self.enc.atoms.are_bounded() {
            let range = self.enc.g.range_assumption();
            self.enc.g.add_clause(&[range]);
        }
        self.enc.g.add_clause(some);
        match self.enc.g.solve(&[], &self.limit) {
            Answer::Unsat => lrat::prove(self.enc.g.sat.variables(), self.enc.g.sat.log()),
            _ => None,
        }
    }

    /// A literal of some of these targets being met in a frame.
    pub fn any_of(&mut self, frame: usize, targets: &[Target]) -> Lit {
        let lits: Vec<Lit> =
            self.frames[frame].targets.iter().filter(|(t, _)| targets.contains(t)).map(|(_, l)| *l).collect();
        self.enc.g.or_all(&lits)
    }

    /// All targets of the first frame that are not ruled out by their form.
    pub fn all_targets(&self) -> Vec<Target> {
        let machine = self.machine;
        let mut all = Vec::new();
        all.extend((0..machine.invariant.len()).filter(|_| self.wanted.invariant).map(Target::Invariant));
        all.extend((0..machine.assertions.len()).filter(|_| self.wanted.assertions).map(Target::Assertion));
        if machine.goal.is_some() {
            all.extend([Target::Goal, Target::DoubtfulGoal]);
        }
        all.extend(self.wanted.deadlock.then_some(Target::Deadlock));
        all.extend((0..machine.events.len()).map(Target::Fault));
        all
    }

    /// The path of the last model up to a frame.
    pub fn candidate(&self, frame: usize) -> Candidate {
        let enc = &self.enc;
        let values = |choices: &[(Option<Span>, VarId, super::encode::term::Term)]| -> Choices {
            choices.iter().filter_map(|(at, v, t)| Some((*at, *v, enc.value_in_model(t)?))).collect()
        };
        let state = |env: &Env, vars: &[VarId]| -> Vec<(VarId, Value)> {
            vars.iter().filter_map(|v| Some((*v, enc.value_in_model(&env.get(*v)?.term)?))).collect()
        };
        let mut out = Candidate {
            constants: state(&self.constants, &self.machine.constants),
            beginning: self.beginning.as_ref().map_or_else(Vec::new, |b| values(&b.notes.choices)),
            ..Candidate::default()
        };
        for (i, f) in self.frames.iter().enumerate().take(frame + 1) {
            out.states.push(state(&f.env, &self.machine.variables));
            if i < frame
                && let Some(e) = f.step.chosen.iter().position(|c| enc.g.value(*c))
            {
                out.events.push((e, values(&f.step.events[e].notes.choices)));
            }
        }
        if let Some(f) = self.frames.get(frame) {
            out.targets = f.targets.iter().filter(|(_, l)| enc.g.value(*l)).map(|(t, _)| *t).collect();
            let fault = out.targets.iter().find_map(|t| match t {
                Target::Fault(e) => Some(*e),
                _ => None,
            });
            out.fault = fault.map(|e| (e, values(&f.step.events[e].notes.choices)));
        }
        out
    }

    /// The literal of two frames having equal states; `None` where a state has parts without literals.
    pub fn same_state(&mut self, a: usize, b: usize) -> Option<Lit> {
        let mut all = Vec::new();
        for v in &self.machine.variables {
            let (x, y) = (self.frames[a].env.get(*v)?.term.clone(), self.frames[b].env.get(*v)?.term.clone());
            all.push(self.enc.equal(&x, &y)?);
        }
        Some(self.enc.g.and_all(&all))
    }

    /// Where this holds, the path is another one than that of the candidate: another event, other constants, or another
    /// state. `None` if no path can be told apart.
    pub fn another_path(&mut self, candidate: &Candidate) -> Option<Lit> {
        let mut same = Vec::new();
        for (i, (event, _)) in candidate.events.iter().enumerate() {
            same.push(self.frames[i].step.chosen[*event]);
        }
        let mut values = Vec::new();
        for (v, value) in &candidate.constants {
            values.push((self.constants.get(*v)?.term.clone(), value));
        }
        for (frame, state) in self.frames.iter().zip(&candidate.states) {
            for (v, value) in state {
                values.push((frame.env.get(*v)?.term.clone(), value));
            }
        }
        for (term, value) in values {
            same.extend(self.enc.is_value(&term, value));
        }
        let same = self.enc.g.and_all(&same);
        (same != Lit::TRUE).then_some(!same)
    }

    /// The most conflicts of one query; `None` is as many as it takes.
    pub fn limit_conflicts(&mut self, most: Option<u64>) {
        self.limit.conflicts = most;
    }

    pub fn figures(&self) -> Figures {
        let sat = &self.enc.g.sat;
        Figures { queries: sat.queries(), conflicts: sat.conflicts(), variables: u64::from(sat.variables()) }
    }
}

impl Encoder<'_> {
    /// Asks for a model of everything asserted and of the assumptions, with the right meaning of UNSAT.
    pub(super) fn ask(&mut self, assumptions: &[Lit], limit: &Limit) -> Reply {
        if self.atoms.are_bounded() {
            return match self.g.solve(assumptions, limit) {
                Answer::Sat => Reply::Candidate,
                Answer::Unsat => Reply::Proof,
                Answer::Unknown => Reply::Unknown,
            };
        }
        let mut all = assumptions.to_vec();
        all.push(self.g.range_assumption());
        all.push(self.small);
        match self.g.solve(&all, limit) {
            Answer::Sat => return Reply::Candidate,
            Answer::Unknown => return Reply::Unknown,
            Answer::Unsat => {}
        }
        if self.g.sat.core().contains(&self.small) {
            all.pop();
            match self.g.solve(&all, limit) {
                Answer::Sat => return Reply::Candidate,
                Answer::Unknown => return Reply::Unknown,
                Answer::Unsat => {}
            }
        }
        match self.atoms.width() {
            Some((bits, _)) if bits <= self.options.width => Reply::Proof,
            _ => Reply::TooNarrow,
        }
    }
}

/// The environment of the constants, with PROPERTIES asserted.
pub(super) fn with_constants(enc: &mut Encoder) -> Env {
    let machine = enc.machine;
    let mut env = Env::new(machine);
    if let Some(valuations) = enc.options.valuations.clone() {
        listed_constants(enc, &mut env, &valuations);
        return env;
    }
    let properties: Vec<&Pred> = machine.properties.iter().map(|c| &c.pred).collect();
    enc.bind_leaves(&mut env, &machine.constants, &properties);
    for p in &properties {
        let t = enc.pred(&mut env, p);
        let holds = enc.surely(t);
        enc.g.require(holds);
    }
    env
}

/// Constants that have one of these valuations.
fn listed_constants(enc: &mut Encoder, env: &mut Env, valuations: &[Constants]) {
    let machine = enc.machine;
    let chosen = if valuations.is_empty() { Vec::new() } else { enc.g.one_hot(valuations.len()) };
    for (i, v) in machine.constants.iter().enumerate() {
        let choices: Vec<(Value, Lit)> =
            valuations.iter().zip(&chosen).map(|(values, l)| (values[i].clone(), *l)).collect();
        let term = match choices.first() {
            Some((first, _)) if choices.iter().all(|(x, _)| x == first) => enc.known(first),
            _ if choices.iter().any(|(x, _)| x.mentions_symbolic()) => enc.leaf_of(&machine.var(*v).ty),
            _ => enc.one_of(&machine.var(*v).ty, &choices),
        };
        env.bind(*v, term);
    }
}

/// Whether some valuation leaves a property undefined and makes none false: a question of its own, because it asserts
/// less than all other questions do.
pub fn doubtful_properties(machine: &Machine, options: EncodeOptions, budget: &Budget) -> bool {
    // Valuations are listed only if no property is undefined.
    let properties: Vec<&Pred> = machine.properties.iter().map(|c| &c.pred).collect();
    options.valuations.is_none()
        && may_be_undefined(machine, (&machine.constants, &properties), options, budget)
}
