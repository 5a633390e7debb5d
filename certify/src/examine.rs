//! The obligations of one state: its properties hold, and every successor is a member.
//!
//! In: a state of the certificate. Out: nothing, or a reason to reject; counts of transitions and open obligations
//! beside. An answer of the oracle is used again for states that agree in all variables that the question reads.
//! Never here: which states are examined, and by whom.

use crate::certificate::Certificate;
use crate::encoding::{Reader, put, put_number};
use crate::members::{Members, decoded, valuation};
use crate::memo::{Answers, Values, is_too_much};
use crate::points::{Change, Move, Places, Question, Split};
use crate::reads::variables;
use crate::report::Open;
use crate::start::{is_answerable, patient, shown, words};
use bombus_oracle::eval::{Env, Oracle, Slot};
use bombus_oracle::exec::Kind;
use bombus_oracle::search::{Look, State};
use bombus_oracle::text::Core;
use bombus_oracle::tree::{Clause, Machine, Name, Operation, Pred};
use bombus_oracle::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// What is wrong or undecided about a clause in a state.
enum Truth {
    Fine,
    Wrong(String),
    Open(String),
}

/// What an event does in a state.
struct Steps {
    steps: Vec<Step>,
    /// The spellings of all values that the steps write.
    bytes: Vec<u8>,
    /// Whether all steps write the same variables, so that different steps have different targets.
    uniform: bool,
    wrong: Option<String>,
    open: Vec<String>,
    /// Whether the event neither makes a step nor goes wrong.
    quiet: bool,
}

/// A transition: which parameters and results, by a number, and which variables it writes, ascending, with the
/// places of their spellings.
struct Step {
    label: u32,
    writes: Vec<(usize, Range<usize>)>,
}

/// A property of single states, and whether it is the goal or the scope.
#[derive(Clone, Copy)]
enum Property {
    /// The kind of the clause, and its number among those of the kind.
    Clause(Kind, usize),
    Goal,
    Scope,
}

/// Examines states one after the other.
pub struct Examiner<'a> {
    c: &'a Certificate,
    machine: &'a Machine,
    oracle: Oracle<'a>,
    /// Asked one after the other where `oracle` has no answer: about the machine with the bounds that follow from its
    /// predicates, and about the machine in more steps.
    others: Option<[Oracle<'a>; 2]>,
    /// Steps of evaluation for one question.
    most: u64,
    /// The events that the first oracle had no answer about.
    hard: Vec<bool>,
    members: &'a Members<'a>,
    slots: &'a [Option<Vec<Slot>>],
    values: Vec<Values>,
    properties: Vec<(Property, Answers<Truth>)>,
    events: Vec<(Name, Answers<Steps>)>,
    /// The events that are looked at by the values of their parameters.
    splits: Vec<Option<Split>>,
    places: Places,
    /// Predicates of formulas.
    atoms: Vec<(Pred, Answers<Result<bool, String>>)>,
    /// The numbers of the values of the state under examination.
    ids: Vec<u32>,
    /// The names of the machine with their values in that state, once a question was asked.
    env: Option<Env>,
    /// The spelling of a successor.
    bytes: Vec<u8>,
    /// Where the successors of an event were found, by their places among its steps.
    near: Vec<Vec<usize>>,
    weight: usize,
    /// Which listed states lead to which others, by their numbers.
    pub links: Vec<(u32, u32)>,
    pub counted: Counted,
    pub open: Open,
}

/// States and transitions that were seen, by event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub states: u64,
    pub events: Vec<(u64, u64)>,
}

impl Counted {
    /// Adds other counts of the same machine.
    pub fn add(&mut self, other: &Counted) {
        self.states += other.states;
        self.events.resize(self.events.len().max(other.events.len()), (0, 0));
        for (sum, more) in self.events.iter_mut().zip(&other.events) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }
}

/// Whoever wants to know the transitions: the event, and the number of the listed state that is the target, if it is known.
pub type Edges<'e> = &'e mut dyn FnMut(usize, Option<u64>);

impl<'a> Examiner<'a> {
    /// `machine` is the certificate's without its scope, which is a property here.
    pub fn new(
        c: &'a Certificate,
        machine: &'a Machine,
        members: &'a Members<'a>,
        slots: &'a [Option<Vec<Slot>>],
        steps: u64,
    ) -> Examiner<'a> {
        let mut properties = Vec::new();
        let asked = &c.manifest.asked;
        let mut add = |kind: Kind, clauses: &[Clause]| {
            for (at, clause) in clauses.iter().enumerate() {
                let reads = variables(machine, &clause.pred.write());
                properties.push((Property::Clause(kind, at), Answers::new(reads)));
            }
        };
        if asked.invariant {
            add(Kind::Invariant, &machine.invariant);
        }
        if asked.assertions {
            add(Kind::Assertion, &machine.assertions);
        }
        if let Some(goal) = c.machine.goal.as_ref().filter(|_| asked.goal) {
            properties.push((Property::Goal, Answers::new(variables(machine, &goal.write()))));
        }
        if let Some(scope) = &c.machine.scope {
            properties.push((Property::Scope, Answers::new(variables(machine, &scope.write()))));
        }
        let event = |o: &bombus_oracle::tree::Operation| {
            (o.name.clone(), Answers::new(variables(machine, &o.body.write())))
        };
        let events: Vec<_> = machine.operations.iter().filter(|o| o.event).map(event).collect();
        let oracle = Oracle::new(machine, steps);
        let mut places = Places::new(machine);
        let mut split = |op: &Operation| match slots {
            [Some(constants)] => {
                let env = oracle.environment(constants, None);
                Split::new(machine, op, &oracle, &env, &mut places)
            }
            _ => None,
        };
        let splits = machine.operations.iter().filter(|o| o.event).map(&mut split).collect();
        Examiner {
            c,
            machine,
            oracle,
            splits,
            places,
            others: None,
            most: steps,
            hard: vec![false; events.len()],
            members,
            slots,
            values: machine.variables.iter().map(|_| Values::default()).collect(),
            properties,
            counted: Counted { states: 0, events: vec![(0, 0); events.len()] },
            events,
            atoms: Vec::new(),
            ids: Vec::new(),
            env: None,
            near: vec![Vec::new(); machine.operations.len()],
            bytes: Vec::new(),
            weight: 0,
            links: Vec::new(),
            open: Open::default(),
        }
    }

    /// Examines a state; an error is a reason to reject.
    pub fn state(&mut self, number: u64, bytes: &[u8], edges: Option<Edges>) -> Result<(), String> {
        if is_too_much(self.weight) {
            self.forget();
        }
        let at = |why: String| format!("state {number}: {why}");
        let k = self.parse(bytes).map_err(at)?;
        self.counted.states += 1;
        if self.slots[k].is_none() {
            self.open.enter("states whose constants are not known", || format!("state {number}"));
            return Ok(());
        }
        for p in 0..self.properties.len() {
            match &*self.property(p, k) {
                Truth::Fine => {}
                Truth::Wrong(why) => return Err(at(format!("{why}; {}", self.text()))),
                Truth::Open(why) => self.open.enter(why, || format!("state {number}")),
            }
        }
        self.events((number, bytes), k, edges).map_err(at)
    }

    /// Predicates whose truth is wanted in every state.
    pub fn watch(&mut self, preds: &[Pred]) {
        let atom = |p: &Pred| (p.clone(), Answers::new(variables(self.machine, &p.write())));
        self.atoms = preds.iter().map(atom).collect();
    }

    /// The truth of the watched predicates in the state that was examined last, one bit each.
    pub fn truths(&mut self, bytes: &[u8]) -> Result<u64, String> {
        let k = self.parse(bytes)?;
        let mut truths = 0;
        for a in 0..self.atoms.len() {
            let known = self.atoms[a].1.find(k, &self.ids);
            let answer = known.unwrap_or_else(|| {
                self.oracle.restart();
                let env = self.environment(k);
                let holds = self.oracle.holds(&env, &self.atoms[a].0);
                let holds = holds.map_err(|stop| words(&stop));
                self.atoms[a].1.add(holds, 32, &mut self.weight)
            });
            truths |= u64::from((*answer).clone()?) << a;
        }
        Ok(truths)
    }

    fn forget(&mut self) {
        self.values.iter_mut().for_each(Values::clear);
        self.properties.iter_mut().for_each(|p| p.1.clear());
        self.events.iter_mut().for_each(|e| e.1.clear());
        self.splits.iter_mut().flatten().for_each(Split::clear);
        self.places.clear();
        self.atoms.iter_mut().for_each(|a| a.1.clear());
        self.ids.clear();
        self.weight = 0;
    }

    /// The numbers of the values of a state, and its valuation.
    fn parse(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let mut reader = Reader::new(self.machine, bytes);
        let k = valuation(self.c, &mut reader)?;
        let before = std::mem::take(&mut self.ids);
        self.env = None;
        for (i, (name, t)) in self.machine.variables.iter().enumerate() {
            let start = reader.at;
            // Bytes begin with at most one value of a type, so this is the value that the state before has.
            let same = before.get(i).filter(|id| bytes[start..].starts_with(self.values[i].bytes(**id)));
            if let Some(id) = same {
                reader.at += self.values[i].bytes(*id).len();
                self.ids.push(*id);
                continue;
            }
            reader.skip(t).map_err(|why| format!("{name}: {why}"))?;
            let own = &bytes[start..reader.at];
            let id = match self.values[i].find(own) {
                Some(id) => id,
                None => {
                    let value =
                        Reader::new(self.machine, own).value(t).map_err(|why| format!("{name}: {why}"))?;
                    self.places.add(self.machine, i, own, &mut self.weight);
                    self.values[i].add(own, value, &mut self.weight)
                }
            };
            self.ids.push(id);
        }
        if reader.is_at_end() { Ok(k) } else { Err("it has bytes behind its last variable".into()) }
    }

    /// The state under examination as values.
    fn state_values(&self) -> State {
        self.values.iter().zip(&self.ids).map(|(v, id)| v.value(*id).clone()).collect()
    }

    fn text(&self) -> String {
        shown(self.c, &self.state_values())
    }

    /// The names of the machine in the state under examination; they are shared by all questions about it.
    fn environment(&mut self, k: usize) -> Env {
        if let Some(env) = &self.env {
            return env.clone();
        }
        let slots = self.slots[k].as_deref().unwrap_or_default();
        let env = self.oracle.environment(slots, Some(&self.state_values()));
        self.env = Some(env.clone());
        env
    }

    fn property(&mut self, p: usize, k: usize) -> Arc<Truth> {
        if let Some(known) = self.properties[p].1.find(k, &self.ids) {
            return known;
        }
        let env = self.environment(k);
        let mut truth = self.asked(&env, None, p);
        for other in [true, false] {
            if matches!(&truth, Truth::Open(why) if is_answerable(why)) {
                truth = self.asked(&env, Some(other), p);
            }
        }
        self.properties[p].1.add(truth, 64, &mut self.weight)
    }

    /// An oracle with its machine: the first one that is asked, the one that knows bounds, or one with more steps.
    fn oracle(&mut self, bounds: Option<bool>) -> (&Oracle<'a>, &'a Machine) {
        let (c, machine, steps) = (self.c, self.machine, self.most);
        let make = || [patient(c.bounded(), steps), patient(machine, steps)];
        let (oracle, machine) = match bounds {
            None => (&self.oracle, machine),
            Some(true) => (&self.others.get_or_insert_with(make)[0], c.bounded()),
            Some(false) => (&self.others.get_or_insert_with(make)[1], machine),
        };
        oracle.restart();
        (oracle, machine)
    }

    /// What an oracle says about a property.
    fn asked(&mut self, env: &Env, bounds: Option<bool>, p: usize) -> Truth {
        let (c, property) = (self.c, self.properties[p].0);
        let (oracle, machine) = self.oracle(bounds);
        let open = |name: &str, stop| Truth::Open(format!("{name}: {}", words(&stop)));
        match property {
            Property::Clause(kind, at) => {
                let all = if kind == Kind::Invariant { &machine.invariant } else { &machine.assertions };
                let mut look = Look::default();
                look.clauses(oracle, env, kind, &all[at..=at]);
                match (look.findings.first(), look.incomplete.first()) {
                    (Some(f), _) => Truth::Wrong(format!("{}: {} {}", f.kind.word(), f.why, f.place)),
                    (None, Some(why)) => Truth::Open(format!("{} {}: {why}", kind.word(), all[at].label)),
                    (None, None) => Truth::Fine,
                }
            }
            Property::Goal => match machine.goal.as_ref().map(|g| oracle.holds(env, g)) {
                Some(Ok(true)) => Truth::Wrong("the goal is reached".into()),
                Some(Ok(false)) | None => Truth::Fine,
                Some(Err(stop)) => open("goal", stop),
            },
            Property::Scope => match c.machine.scope.as_ref().map(|s| oracle.holds(env, s)) {
                Some(Ok(true)) | None => Truth::Fine,
                Some(Ok(false)) => {
                    Truth::Wrong("it is outside the scope, so its successors are not known".into())
                }
                Some(Err(stop)) => open("scope", stop),
            },
        }
    }

    /// All transitions of all events lead to members.
    fn events(
        &mut self,
        (number, own): (u64, &[u8]),
        k: usize,
        mut edges: Option<Edges>,
    ) -> Result<(), String> {
        let (mut quiet, mut targets) = (true, Vec::new());
        for e in 0..self.events.len() {
            if let Some(moves) = self.moves(e, k) {
                let mut made = 0;
                for step in moves.iter() {
                    quiet &= step.quiet;
                    if let Some(why) = &step.wrong {
                        return Err(format!("{why}; {}", self.text()));
                    }
                    let Some(writes) = &step.writes else { continue };
                    self.spell_move(k, writes);
                    let target = if self.bytes == own { Some(number) } else { self.member((e, made), k)? };
                    made += 1;
                    match (&mut edges, target) {
                        (Some(edge), target) => edge(e, target),
                        (None, target) => targets.extend(target.filter(|t| *t != number)),
                    }
                }
                let count = &mut self.counted.events[e];
                *count = (count.0 + u64::from(made > 0), count.1 + made as u64);
                continue;
            }
            let steps = self.steps(e, k);
            quiet &= steps.quiet;
            if let Some(why) = &steps.wrong {
                return Err(format!("{why}; {}", self.text()));
            }
            for why in &steps.open {
                self.open.enter(why, || format!("state {number}"));
            }
            let mut distinct: Vec<(u32, Vec<u8>)> = Vec::new();
            let mut made = 0;
            for step in &steps.steps {
                self.spell(k, &steps, step);
                if !steps.uniform {
                    distinct.push((step.label, self.bytes.clone()));
                }
                let target = if self.bytes == own { Some(number) } else { self.member((e, made), k)? };
                made += 1;
                // Whoever wants the transitions keeps them.
                match (&mut edges, target) {
                    (Some(edge), target) => edge(e, target),
                    (None, target) => targets.extend(target.filter(|t| *t != number)),
                }
            }
            distinct.sort_unstable();
            distinct.dedup();
            let count = &mut self.counted.events[e];
            count.0 += u64::from(made > 0);
            count.1 += if steps.uniform { made } else { distinct.len() } as u64;
        }
        targets.sort_unstable();
        targets.dedup();
        self.links.extend(targets.iter().map(|target| (number as u32, *target as u32)));
        if quiet && self.c.manifest.asked.deadlock {
            return Err(format!("no operation is enabled; {}", self.text()));
        }
        Ok(())
    }

    /// Spells the state after a step.
    fn spell(&mut self, k: usize, steps: &Steps, step: &Step) {
        self.bytes.clear();
        put_number(k as u64, &mut self.bytes);
        let mut writes = step.writes.iter().peekable();
        for (i, id) in self.ids.iter().enumerate() {
            let written = writes.next_if(|w| w.0 == i).map(|w| &steps.bytes[w.1.clone()]);
            self.bytes.extend_from_slice(written.unwrap_or(self.values[i].bytes(*id)));
        }
    }

    /// Spells the state after a move.
    fn spell_move(&mut self, k: usize, writes: &[(usize, Change)]) {
        self.bytes.clear();
        put_number(k as u64, &mut self.bytes);
        let mut writes = writes.iter().peekable();
        for (i, id) in self.ids.iter().enumerate() {
            let own = self.values[i].bytes(*id);
            match writes.next_if(|w| w.0 == i) {
                Some((_, change)) => self.places.changed(i, *id, own, change, &mut self.bytes),
                None => self.bytes.extend_from_slice(own),
            }
        }
    }

    /// What an event does for each value of its parameters in the state under examination, if it is looked at in that way.
    fn moves(&mut self, e: usize, k: usize) -> Option<Vec<Arc<Move>>> {
        let mut split = self.splits[e].take()?;
        let mut moves = Vec::with_capacity(split.choices());
        for at in 0..split.choices() {
            let known = split.find(at, &self.ids, &self.places);
            let answer = match known {
                Some(known) => Some(known),
                None => self.ask(&mut split, (e, at), k),
            };
            match answer {
                // The event is looked at as a whole from now on.
                None => return None,
                // Nothing happens there.
                Some(answer) if answer.quiet => {}
                Some(answer) => moves.push(answer),
            }
        }
        self.splits[e] = Some(split);
        Some(moves)
    }

    fn ask(&mut self, split: &mut Split, (e, at): (usize, usize), k: usize) -> Option<Arc<Move>> {
        let (env, state) = (self.environment(k), self.state_values());
        self.oracle.restart();
        let asked = self.c.manifest.asked;
        let question = Question {
            machine: self.machine,
            oracle: &self.oracle,
            env: &env,
            strict: asked.strict_guards,
            is_wrong: &|f| f.kind != Kind::Assertion || asked.assertions,
        };
        let op = self.machine.operation(&self.events[e].0)?;
        let (answer, size) = split.ask(at, op, &question, &state, &self.places)?;
        self.weight += size;
        Some(answer)
    }

    /// The successor that was spelled is a member: its number, if it is known.
    fn member(&mut self, (e, step): (usize, usize), k: usize) -> Result<Option<u64>, String> {
        let found = match self.members {
            Members::Listed(states) => {
                let near = &mut self.near[e];
                near.resize(near.len().max(step + 1), 0);
                Some(states.find_near(&self.bytes, &mut near[step]))
            }
            renamed => renamed.find(self.c, k, &self.successor()?),
        };
        match found {
            Some(Some(target)) => Ok(Some(target)),
            Some(None) if self.c.manifest.reduced => {
                let event = format!("the search was reduced and left a step out: {}", self.events[e].0);
                self.open.enter(&event, String::new);
                Ok(None)
            }
            None => {
                let place = shown(self.c, &self.successor()?);
                self.open.enter("a successor has too many renamings", || place);
                Ok(None)
            }
            Some(None) => Err(format!(
                "a successor by {} is missing: {}; from {}",
                self.events[e].0,
                shown(self.c, &self.successor()?),
                self.text()
            )),
        }
    }

    /// The successor that was spelled, as values.
    fn successor(&self) -> Result<State, String> {
        decoded(self.c, &self.bytes).map(|(_, values)| values)
    }

    /// What an event does in the state under examination.
    fn steps(&mut self, e: usize, k: usize) -> Arc<Steps> {
        if let Some(known) = self.events[e].1.find(k, &self.ids) {
            return known;
        }
        let env = self.environment(k);
        let (name, strict) = (self.events[e].0.clone(), self.c.manifest.asked.strict_guards);
        let mut look = Look::default();
        for bounds in [self.hard[e].then_some(true), Some(true), Some(false)] {
            look = Look::default();
            look.events(self.oracle(bounds).0, &env, Some(&name), strict);
            if look.incomplete.iter().all(|why| !is_answerable(why)) {
                break;
            }
            self.hard[e] = true;
        }
        let quiet = look.transitions.is_empty() && look.findings.is_empty() && look.incomplete.is_empty();
        let asked = |kind: Kind| kind != Kind::Assertion || self.c.manifest.asked.assertions;
        let wrong = look.findings.iter().find(|f| asked(f.kind)).map(|f| {
            let params = f.event.iter().flat_map(|e| &e.1).map(Value::to_string).collect::<Vec<_>>();
            format!("{name}({}): {}: {} {}", params.join(", "), f.kind.word(), f.why, f.place)
        });
        let mut open: Vec<String> = look.incomplete.iter().map(|why| format!("{name}: {why}")).collect();
        let (mut steps, mut bytes): (Vec<Step>, Vec<u8>) = Default::default();
        let mut last = None;
        for (_, t) in look.transitions {
            let mut writes = Vec::new();
            for (n, v) in &t.writes {
                match self.machine.variables.iter().position(|x| x.0 == *n) {
                    Some(i) if v.is_of(&self.machine.variables[i].1) => {
                        let start = bytes.len();
                        put(v, &mut bytes);
                        writes.push((i, start..bytes.len()));
                    }
                    _ => open
                        .push(format!("{name}: ill-typed tree: a value of another type is written to {n}")),
                }
            }
            writes.sort_unstable_by_key(|w| w.0);
            let same = last.as_ref().is_some_and(|(p, r)| *p == t.params && *r == t.results);
            let label = steps.last().map_or(0, |s| s.label + u32::from(!same));
            last = Some((t.params, t.results));
            steps.push(Step { label, writes });
        }
        let written = |s: &Step| s.writes.iter().map(|w| w.0).collect::<Vec<_>>();
        let uniform = steps.windows(2).all(|two| written(&two[0]) == written(&two[1]));
        let size = bytes.len() + steps.iter().map(|s| 64 + 24 * s.writes.len()).sum::<usize>();
        let answer = Steps { steps, bytes, uniform, wrong, open, quiet };
        self.events[e].1.add(answer, size, &mut self.weight)
    }
}
