//! A machine and its abstractions in lock-step: every step must be one that the abstractions can take too.
//!
//! In: a machine with the levels above it, and values of the constants. Out: nothing, or a fault; what could not be decided
//! beside. Only the machines are read: no list of states is needed.
//! Never here: files, single machines (`player`).
//!
//! A combined state is a concrete state and the set of abstract states that the same calls with the same results lead to, which
//! agree with it in the variables that both have, and which satisfy the gluing conjuncts. A call may be made if the
//! precondition of the topmost operation holds in some state of the set. Then, where the topmost operation has a step, the
//! preconditions below hold too, and for each outcome the set of what the abstractions can do from there with these
//! results is not empty: that set belongs to the combined state that follows.
//! A set of which some states are not known proves a step all the same if it is not empty, and shows no fault if it is: a client may
//! make a call only where all abstract states allow it, so the calls of some of them are more than those of all.

use crate::clients::Alone;
use crate::levels::Levels;
use crate::manifest::Asked;
use crate::player::{Ids, Moves, Outcome, Player, Results, Truth, Values};
use crate::report::Open;
use bombus_oracle::exec::{Finding, Kind};
use bombus_oracle::search::Valuation;
use bombus_oracle::tree::{Machine, Name, Operation};
use bombus_oracle::value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::time::Instant;

/// Ways in which the levels may go on together that are looked at.
const TOGETHER: usize = 100_000;
/// Abstract states that all sets may have together.
const MEMBERS: usize = 30_000_000;

/// How far to go.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Steps of evaluation for each question.
    pub steps: u64,
    /// Combined states.
    pub states: u64,
    pub until: Option<Instant>,
}

/// Something that a right refinement does not do.
pub struct Fault {
    pub kind: Kind,
    pub event: Option<Name>,
    pub words: String,
}

/// Abstract states, and why these may not be all.
#[derive(Clone)]
pub struct Set {
    pub states: Rc<[u32]>,
    pub part: Option<String>,
}

/// Parameters of calls with the abstract states that allow them.
pub type Calls = BTreeMap<Ids, Vec<u32>>;

/// An event of the refining machine with its counterparts.
pub(crate) struct Event {
    pub(crate) name: Name,
    pub(crate) own: Part,
    looped: Option<usize>,
    /// By level.
    above: Vec<Option<Part>>,
    /// The topmost level that has it.
    top: Option<usize>,
    /// Whether all have as many parameters and results.
    fits: bool,
    params: usize,
}

/// The questions about an operation.
pub(crate) struct Part {
    pub(crate) step: usize,
    precondition: Option<usize>,
}

/// What the levels may do together.
struct Steps {
    outcomes: Vec<(Option<Results>, u32)>,
    part: Option<String>,
}

/// The results so far, and the values so far of the variables of all levels.
type Partial = BTreeSet<(Option<Results>, Vec<Option<u32>>)>;

/// States by their numbers.
#[derive(Default)]
pub(crate) struct Numbers {
    numbers: HashMap<Ids, u32>,
    all: Vec<Ids>,
}

impl Numbers {
    fn number(&mut self, state: Ids) -> u32 {
        let next = self.all.len() as u32;
        let n = *self.numbers.entry(state.clone()).or_insert(next);
        if n == next {
            self.all.push(state);
        }
        n
    }

    pub(crate) fn state(&self, n: u32) -> Ids {
        self.all[n as usize].clone()
    }
}

/// A lock-step.
pub struct Simulation<'a> {
    pub machine: &'a Machine,
    pub levels: &'a Levels,
    pub(crate) asked: Asked,
    pub limits: Limits,
    pub(crate) values: Values,
    pub(crate) own: Player<'a>,
    joint: Player<'a>,
    above: Vec<Player<'a>>,
    pub(crate) events: Vec<Event>,
    /// The clauses of the machine itself that are asked for: conditions of `own`, with their labels.
    pub(crate) clauses: Vec<(Kind, usize, Name)>,
    /// The machine alone, if its own faults are looked for too.
    pub alone: Option<Alone>,
    /// Conditions of `joint`: gluing conjuncts, then assertions.
    gluing: Vec<usize>,
    assertions: Vec<usize>,
    pub(crate) concretes: Numbers,
    abstracts: Numbers,
    steps: HashMap<(u32, usize, Ids), Rc<Steps>>,
    pub faults: Vec<Fault>,
    pub open: Open,
    /// Combined states that were found.
    pub combined: u64,
    members: usize,
}

impl<'a> Simulation<'a> {
    pub fn new(machine: &'a Machine, levels: &'a Levels, asked: Asked, limits: Limits) -> Simulation<'a> {
        let mut own = Player::new(machine, limits.steps);
        let mut joint = Player::new(&levels.joint, limits.steps);
        let mut above: Vec<Player> = levels.machines.iter().map(|m| Player::new(m, limits.steps)).collect();
        let counterpart =
            |m: &'a Machine, name: &Name| m.operations.iter().find(|o| o.event && o.name == *name);
        let part = |player: &mut Player, op: &Operation| Part {
            step: player.ask(op),
            precondition: player.ask_precondition(op),
        };
        let mut events = Vec::new();
        for op in machine.operations.iter().filter(|o| o.event) {
            let looped = counterpart(&levels.joint, &op.name);
            let all: Vec<_> = levels.machines.iter().map(|m| counterpart(m, &op.name)).collect();
            let alike =
                |o: &&Operation| o.params.len() == op.params.len() && o.results.len() == op.results.len();
            events.push(Event {
                name: op.name.clone(),
                own: part(&mut own, op),
                looped: looped.map(|op| joint.ask(op)),
                top: all.iter().rposition(Option::is_some),
                fits: all.iter().flatten().chain(&looped).all(alike),
                params: op.params.len(),
                above: all.iter().zip(&mut above).map(|(op, p)| op.map(|op| part(p, op))).collect(),
            });
        }
        let invariant = machine.invariant.iter().filter(|_| asked.invariant).map(|c| (Kind::Invariant, c));
        let clauses = machine.assertions.iter().filter(|_| asked.assertions).map(|c| (Kind::Assertion, c));
        let clauses = invariant.chain(clauses).map(|(kind, c)| (kind, own.ask_clause(c), c.label.clone()));
        let clauses = clauses.collect();
        let gluing = levels.joint.invariant.iter().map(|c| joint.ask_clause(c)).collect();
        let assertions = levels.joint.assertions.iter().map(|c| joint.ask_clause(c)).collect();
        Simulation {
            machine,
            levels,
            asked,
            limits,
            values: Values::default(),
            own,
            joint,
            above,
            events,
            clauses,
            alone: None,
            gluing,
            assertions,
            concretes: Numbers::default(),
            abstracts: Numbers::default(),
            steps: HashMap::new(),
            faults: Vec::new(),
            open: Open::default(),
            combined: 0,
            members: 0,
        }
    }

    /// Explores all combined states of one valuation of the constants, breadth first, up to the first fault. An error is a reason to reject.
    pub fn explore(&mut self, constants: &Valuation) -> Result<(), String> {
        let mut known: HashSet<(u32, Rc<[u32]>, bool)> = HashSet::new();
        let mut open: VecDeque<(u32, Set)> = self.begin(constants).into();
        let mut looked_at: VecDeque<(u32, Set)> = VecDeque::new();
        loop {
            while let Some((c, set)) = open.pop_front() {
                if set.states.is_empty() || !known.insert((c, set.states.clone(), set.part.is_some())) {
                    continue;
                }
                self.combined += 1;
                self.members += set.states.len();
                self.look(c, &set);
                looked_at.push_back((c, set));
            }
            if let Some(fault) = self.faults.first() {
                let event = fault.event.as_ref().map_or(String::new(), |e| format!("{e}: "));
                return Err(format!("{}: {event}{}", fault.kind.word(), fault.words));
            }
            let Some((c, set)) = looked_at.pop_front() else {
                self.count_alone();
                return Ok(());
            };
            if self.is_enough() {
                let place = || format!("{} combined states were looked at", self.combined);
                self.open.enter("that the machine refines its abstractions", place);
                return Ok(());
            }
            open.extend(self.expand(c, &set));
        }
    }

    fn is_enough(&self) -> bool {
        self.combined > self.limits.states
            || self.members > MEMBERS
            || self.limits.until.is_some_and(|end| Instant::now() > end)
    }

    /// The first combined states. A set is empty where the abstractions have no state that fits.
    pub fn begin(&mut self, constants: &Valuation) -> Vec<(u32, Set)> {
        self.own.begin(constants);
        self.joint.begin(constants);
        self.above.iter_mut().for_each(|p| p.begin(constants));
        (self.concretes, self.abstracts) = Default::default();
        self.steps.clear();
        let firsts = self.own.starts(&mut self.values);
        if let Some(why) = &firsts.open {
            self.open.enter(&format!("INITIALISATION: {why}"), String::new);
        }
        let states = firsts.states.iter().filter(|s| !s.contains(&None)).count();
        self.begin_alone(states as u64, states == firsts.states.len(), &firsts.findings);
        let above = self.begin_above();
        let mut out = Vec::new();
        for state in firsts.states {
            // What has no value is a fault of the machine alone.
            let Some(state) = state.into_iter().collect::<Option<Ids>>() else { continue };
            let c = self.concretes.number(state);
            let set = self.related(c, above.outcomes.iter().map(|o| o.1), above.part.clone());
            self.stuck(None, c, &set);
            out.push((c, set));
        }
        out
    }

    fn begin_above(&mut self) -> Steps {
        let (mut partial, mut part) = (self.nothing(), None);
        for (i, player) in self.above.iter_mut().enumerate() {
            let starts = player.starts(&mut self.values);
            part = part.or_else(|| fails(&self.levels.machines[i].name, &starts.findings, &starts.open));
            let whole: Vec<_> = starts.states.iter().filter_map(|s| s.iter().copied().collect()).collect();
            if whole.len() < starts.states.len() {
                part.get_or_insert_with(|| {
                    format!("{} leaves a variable open", self.levels.machines[i].name)
                });
            }
            let outcomes: Vec<(Option<Results>, Ids)> = whole.into_iter().map(|s| (None, s)).collect();
            partial = join(&partial, &self.levels.places[i], &outcomes, &mut part);
        }
        self.together(partial, part)
    }

    fn nothing(&self) -> Partial {
        Partial::from([(None, vec![None; self.levels.variables.len()])])
    }

    fn together(&mut self, partial: Partial, part: Option<String>) -> Steps {
        let whole = |(results, state): (Option<Results>, Vec<Option<u32>>)| {
            Some((results, self.abstracts.number(state.into_iter().collect::<Option<Ids>>()?)))
        };
        Steps { outcomes: partial.into_iter().filter_map(whole).collect(), part }
    }

    /// The state of all machines together: the concrete one, then what only abstractions have.
    fn joint_state(&self, c: u32, a: u32) -> Vec<u32> {
        let above = &self.abstracts.all[a as usize];
        let own = self.concretes.all[c as usize].iter().copied();
        own.chain(self.levels.hidden.iter().map(|i| above[*i])).collect()
    }

    /// The abstract states among some that may belong to a concrete one.
    fn related(&mut self, c: u32, candidates: impl Iterator<Item = u32>, part: Option<String>) -> Set {
        let (mut states, mut part) = (BTreeSet::new(), part);
        for a in candidates {
            let (own, above) = (&self.concretes.all[c as usize], &self.abstracts.all[a as usize]);
            if self.levels.shared.iter().any(|(i, j)| own[*i] != above[*j]) {
                continue;
            }
            let joint = self.joint_state(c, a);
            let (mut holds, mut unknown) = (true, None);
            for condition in &self.gluing {
                match self.joint.truth(&self.values, *condition, &joint) {
                    Truth::Holds => {}
                    Truth::False | Truth::Undefined(_) => {
                        holds = false;
                        break;
                    }
                    Truth::Open(why) => unknown = Some(why),
                }
            }
            match unknown {
                _ if !holds => {}
                Some(why) => part = Some(why),
                None => _ = states.insert(a),
            }
        }
        Set { states: states.into_iter().collect(), part }
    }

    pub fn fault(&mut self, kind: Kind, event: Option<usize>, words: String) {
        let event = event.map(|e| self.events[e].name.clone());
        self.faults.push(Fault { kind, event, words });
    }

    /// An empty set is a fault if it is known to be empty.
    fn stuck(&mut self, event: Option<usize>, c: u32, set: &Set) {
        let name = event.map_or("INITIALISATION", |e| &*self.events[e].name);
        match &set.part {
            _ if !set.states.is_empty() => {}
            Some(why) => self.open.enter(&format!("{name} was not followed: {why}"), String::new),
            None => {
                let words = format!("no abstraction can follow to {}", self.shown(c));
                self.fault(Kind::Refinement, event, words);
            }
        }
    }

    pub(crate) fn shown(&self, c: u32) -> String {
        let named = self.machine.variables.iter().zip(self.concretes.all[c as usize].iter());
        named.map(|((n, _), v)| format!("{n} = {}", self.values.get(*v))).collect::<Vec<_>>().join(", ")
    }

    /// The assertions that speak of abstractions.
    pub fn look(&mut self, c: u32, set: &Set) {
        self.look_alone(c);
        if !self.asked.assertions {
            return;
        }
        for a in set.states.iter() {
            let joint = self.joint_state(c, *a);
            for (condition, clause) in self.assertions.clone().into_iter().zip(&self.levels.joint.assertions)
            {
                match self.joint.truth(&self.values, condition, &joint) {
                    Truth::Holds => {}
                    Truth::False => self.fault(Kind::Assertion, None, format!("{} is false", clause.label)),
                    Truth::Undefined(why) => {
                        self.fault(Kind::WellDefinedness, None, format!("{why} in {}", clause.label));
                    }
                    Truth::Open(why) => {
                        self.open.enter(&format!("assertion {}: {why}", clause.label), String::new);
                    }
                }
            }
        }
    }

    /// The combined states after one; what goes wrong on the way is among the faults.
    pub fn expand(&mut self, c: u32, set: &Set) -> Vec<(u32, Set)> {
        let mut out = Vec::new();
        let said = (self.faults.len(), self.open.total());
        for e in 0..self.events.len() {
            for (params, states) in self.calls(e, c, set) {
                self.accepted(e, c, &params, &states);
                self.loops(e, c, &params, &states);
                if self.alone.is_some() {
                    self.call_alone(e, c, &params);
                }
                for (results, next) in self.outcomes(e, c, &params) {
                    self.step_alone(c, e, &params, &results, next);
                    let after = self.follow(e, &params, &states, &results, next, set.part.clone());
                    self.stuck(Some(e), next, &after);
                    out.push((next, after));
                }
            }
        }
        if out.is_empty() && said == (self.faults.len(), self.open.total()) {
            self.quiet_alone(c);
        }
        out
    }

    /// The number of an event.
    pub fn event(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|e| &*e.name == name)
    }

    /// The number of a concrete state, and of parameters and results.
    pub fn concrete(&mut self, state: &[Value]) -> u32 {
        let ids = self.ids(state);
        self.concretes.number(ids)
    }

    pub fn ids(&mut self, all: &[Value]) -> Ids {
        all.iter().map(|v| self.values.number(v)).collect()
    }

    pub fn results(&mut self, all: &[Option<Value>]) -> Results {
        all.iter().map(|v| Some(self.values.number(v.as_ref()?))).collect()
    }

    /// The calls of an event that may be made.
    pub fn calls(&mut self, e: usize, c: u32, set: &Set) -> Calls {
        let mut calls = Calls::new();
        let Event { name, own, above, top, fits, params, .. } = &self.events[e];
        if !fits {
            let words = format!("{name} has other parameters or results than the operation that it refines");
            self.open.enter(&words, String::new);
            return calls;
        }
        let above = top.and_then(|top| Some((top, above[top].as_ref()?)));
        let (mut missing, mut undefined) = (BTreeSet::new(), None);
        let mut found: BTreeSet<Ids> = BTreeSet::new();
        match above {
            Some((_, Part { precondition: None, .. })) if *params == 0 => {
                calls.insert(Ids::from([]), set.states.to_vec());
            }
            Some((top, Part { precondition: Some(pre), .. })) => {
                for a in set.states.iter() {
                    let state = level_state(&self.abstracts, self.levels, top, *a);
                    let moves = self.above[top].moves(&mut self.values, *pre, &state, None);
                    missing.extend(moves.open.clone());
                    undefined = undefined.or_else(|| moves.undefined.clone());
                    for one in &moves.outcomes {
                        let states = calls.entry(one.params.clone()).or_default();
                        if states.last() != Some(a) {
                            states.push(*a);
                        }
                    }
                }
            }
            // Nothing but guards says which parameters there are: those of the machine, and those of the abstraction.
            _ => {
                let state = self.concretes.all[c as usize].clone();
                let moves = self.own.moves(&mut self.values, own.step, &state, None);
                missing.extend(moves.open.clone());
                found.extend(tried(&mut self.values, &moves));
                if let (Some((top, part)), Some(_)) = (above, own.precondition) {
                    for a in set.states.iter() {
                        let state = level_state(&self.abstracts, self.levels, top, *a);
                        let moves = self.above[top].moves(&mut self.values, part.step, &state, None);
                        missing.extend(moves.open.clone());
                        found.extend(tried(&mut self.values, &moves));
                    }
                }
            }
        }
        calls.extend(found.into_iter().map(|params| (params, set.states.to_vec())));
        for why in missing {
            self.open.enter(&format!("which calls of {name} are allowed: {why}"), String::new);
        }
        if let Some(why) = undefined.filter(|_| self.asked.strict_guards) {
            self.fault(Kind::WellDefinedness, Some(e), format!("the precondition of the abstraction: {why}"));
        }
        calls
    }

    /// The abstract states that allow one call.
    pub fn allowing(&mut self, e: usize, set: &Set, params: &Ids) -> Vec<u32> {
        let Event { above, top, fits: true, .. } = &self.events[e] else { return Vec::new() };
        let part = top.and_then(|top| Some((top, above[top].as_ref()?.precondition?)));
        // Without a precondition nobody forbids a call.
        let Some((top, pre)) = part else { return set.states.to_vec() };
        let mut out = Vec::new();
        for a in set.states.iter() {
            let state = level_state(&self.abstracts, self.levels, top, *a);
            let moves = self.above[top].moves(&mut self.values, pre, &state, Some(params));
            match (&moves.open, moves.outcomes.is_empty()) {
                (Some(why), _) => self.open.enter(&format!("whether a call is allowed: {why}"), String::new),
                (None, false) => out.push(*a),
                (None, true) => {}
            }
        }
        out
    }

    /// The preconditions below the topmost one hold for a call that it allows, where it has a step.
    pub fn accepted(&mut self, e: usize, c: u32, params: &Ids, states: &[u32]) {
        let Event { name, own, above, top: Some(top), .. } = &self.events[e] else { return };
        let (mut open, mut wrong) = (BTreeSet::new(), None);
        for a in states {
            let mut answers = Vec::new();
            for (i, part) in above.iter().enumerate().take(*top) {
                if let Some(pre) = part.as_ref().and_then(|p| p.precondition) {
                    let state = level_state(&self.abstracts, self.levels, i, *a);
                    answers.push((Some(i), self.above[i].moves(&mut self.values, pre, &state, Some(params))));
                }
            }
            if let Some(pre) = own.precondition {
                let state = self.concretes.all[c as usize].clone();
                answers.push((None, self.own.moves(&mut self.values, pre, &state, Some(params))));
            }
            for (level, moves) in answers.iter().filter(|(_, moves)| moves.outcomes.is_empty()) {
                if let Some(why) = &moves.open {
                    open.insert(format!("the precondition of {name}: {why}"));
                    continue;
                }
                let Some(part) = &above[*top] else { continue };
                let state = level_state(&self.abstracts, self.levels, *top, *a);
                let highest = self.above[*top].moves(&mut self.values, part.step, &state, Some(params));
                if !highest.outcomes.is_empty() || !highest.findings.is_empty() {
                    let whose = level.map_or(&self.machine.name, |i| &self.levels.machines[i].name);
                    let how =
                        moves.undefined.as_ref().map_or("is false".into(), |w| format!("has no value ({w})"));
                    wrong = Some(format!(
                        "the precondition of {whose} {how} for ({}) where that of the abstraction holds; {}",
                        self.values.text(params),
                        self.shown(c)
                    ));
                } else if let Some(why) = &highest.open {
                    open.insert(format!("whether the abstraction of {name} has a step: {why}"));
                }
            }
        }
        open.iter().for_each(|words| self.open.enter(words, String::new));
        wrong.into_iter().for_each(|words| self.fault(Kind::Refinement, Some(e), words));
    }

    /// Loop invariants that speak of abstractions hold whichever abstract state belongs to the concrete one.
    pub fn loops(&mut self, e: usize, c: u32, params: &Ids, states: &[u32]) {
        let Some(looped) = self.events[e].looped else { return };
        let name = self.events[e].name.clone();
        let state = self.concretes.all[c as usize].clone();
        let plain = self.own.moves(&mut self.values, self.events[e].own.step, &state, Some(params));
        let ends = |moves: &Moves| -> BTreeSet<(Results, Vec<(usize, u32)>)> {
            moves.outcomes.iter().map(|o| (o.results.clone(), o.writes.clone())).collect()
        };
        for a in states {
            let joint = self.joint_state(c, *a);
            let moves = self.joint.moves(&mut self.values, looped, &joint, Some(params));
            if let Some(why) = &moves.open {
                self.open.enter(&format!("loops of {name}: {why}"), String::new);
            }
            for f in &moves.findings {
                if f.kind != Kind::Assertion || self.asked.assertions {
                    self.fault(f.kind, Some(e), format!("{} {}", f.why, f.place));
                }
            }
            let known = moves.findings.is_empty() && moves.open.is_none() && plain.open.is_none();
            if known && ends(&moves) != ends(&plain) {
                let words = "with its loop invariants the event does something else than without".to_string();
                self.fault(Kind::Refinement, Some(e), words);
            }
        }
    }

    /// The results and concrete states that a call leads to.
    pub fn outcomes(&mut self, e: usize, c: u32, params: &Ids) -> Vec<(Results, u32)> {
        let state = self.concretes.all[c as usize].clone();
        let moves = self.own.moves(&mut self.values, self.events[e].own.step, &state, Some(params));
        if let Some(why) = &moves.open {
            self.open.enter(&format!("{}: {why}", self.events[e].name), String::new);
        }
        let mut out = Vec::new();
        for one in &moves.outcomes {
            out.push((one.results.clone(), self.concretes.number(written(&state, one))));
        }
        out
    }

    /// The abstract states after an outcome of a call that these states allow.
    pub fn follow(
        &mut self,
        e: usize,
        params: &Ids,
        states: &[u32],
        results: &Results,
        next: u32,
        part: Option<String>,
    ) -> Set {
        let (mut candidates, mut part) = (BTreeSet::new(), part);
        for a in states {
            let steps = self.steps(e, *a, params);
            part = part.or_else(|| steps.part.clone());
            let agreeing = steps.outcomes.iter().filter(|o| o.0.as_ref().is_none_or(|r| agree(r, results)));
            candidates.extend(agreeing.map(|o| o.1));
        }
        self.related(next, candidates.into_iter(), part)
    }

    /// What the levels may do together in a call; those without the operation do nothing.
    fn steps(&mut self, e: usize, a: u32, params: &Ids) -> Rc<Steps> {
        let key = (a, e, params.clone());
        if let Some(known) = self.steps.get(&key) {
            return known.clone();
        }
        let (mut partial, mut part) = (self.nothing(), None);
        for i in 0..self.above.len() {
            let before = level_state(&self.abstracts, self.levels, i, a);
            let outcomes: Vec<(Option<Results>, Ids)> = match &self.events[e].above[i] {
                None => vec![(None, before)],
                Some(question) => {
                    let moves = self.above[i].moves(&mut self.values, question.step, &before, Some(params));
                    part =
                        part.or_else(|| fails(&self.levels.machines[i].name, &moves.findings, &moves.open));
                    moves.outcomes.iter().map(|o| (Some(o.results.clone()), written(&before, o))).collect()
                }
            };
            partial = join(&partial, &self.levels.places[i], &outcomes, &mut part);
        }
        let steps = Rc::new(self.together(partial, part));
        if self.steps.len() > TOGETHER {
            self.steps.clear();
        }
        self.steps.insert(key, steps.clone());
        steps
    }
}

/// The values of the variables of one level.
fn level_state(abstracts: &Numbers, levels: &Levels, level: usize, a: u32) -> Ids {
    let state = &abstracts.all[a as usize];
    levels.places[level].iter().map(|i| state[*i]).collect()
}

/// Why not all is known that a level may do.
fn fails(level: &Name, findings: &[Finding], open: &Option<String>) -> Option<String> {
    let fails = |f: &Finding| format!("{level} fails itself: {} {}", f.why, f.place);
    findings.first().map(fails).or_else(|| open.as_ref().map(|why| format!("{level}: {why}")))
}

/// The parameters that an operation was tried with and did something.
fn tried(values: &mut Values, moves: &Moves) -> Vec<Ids> {
    let wrong = moves.findings.iter().filter_map(|f| f.event.as_ref());
    let wrong = wrong.map(|e| e.1.iter().map(|v| values.number(v)).collect());
    moves.outcomes.iter().map(|o| o.params.clone()).chain(wrong).collect()
}

fn written(before: &Ids, outcome: &Outcome) -> Ids {
    let mut after = before.to_vec();
    outcome.writes.iter().for_each(|(i, v)| after[*i] = *v);
    after.into()
}

/// Whether results are equal; one that was given no value may have any.
fn agree(a: &Results, b: &Results) -> bool {
    a.iter().zip(b.iter()).all(|(x, y)| x == y || x.is_none() || y.is_none())
}

/// The outcomes of some levels joined with those of one more: results and variables of one name must agree.
fn join(
    partial: &Partial,
    places: &[usize],
    outcomes: &[(Option<Results>, Ids)],
    part: &mut Option<String>,
) -> Partial {
    let mut out = Partial::new();
    for (results, state) in partial {
        for (more, own) in outcomes {
            let fits = places.iter().zip(own.iter()).all(|(i, v)| state[*i].is_none_or(|known| known == *v));
            let both = results.as_ref().zip(more.as_ref());
            if !fits || both.is_some_and(|(a, b)| !agree(a, b)) {
                continue;
            }
            if out.len() >= TOGETHER {
                part.get_or_insert_with(|| format!("more than {TOGETHER} ways to go on"));
                return out;
            }
            let mut state = state.clone();
            places.iter().zip(own.iter()).for_each(|(i, v)| state[*i] = Some(*v));
            let known = both.map(|(a, b)| a.iter().zip(b.iter()).map(|(x, y)| x.or(*y)).collect());
            out.insert((known.or_else(|| results.clone().or_else(|| more.clone())), state));
        }
    }
    out
}
