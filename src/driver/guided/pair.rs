//! A machine and the process that guides it as one `System`.
//!
//! In: the compiled machine, the tables of the process, what events mean. Out: states that are the words of both side
//! by side, and their transitions. The machine runs as compiled code; only transitions whose label is a hash are
//! computed again on values, because a hash does not tell the values that are to be compared.
//! Never here: the meaning of CSP or of B, reports.

use super::meeting::{Meeting, Meets, Partners};
use crate::base::budget::Budget;
use crate::base::hash::HashMap;
use crate::csp::machine::{Machine as Process, Scratch};
use crate::evaluate::{Interpreter, Transition};
use crate::lang::value::Value;
use crate::program::Program;
use crate::system::{EventId, Finding, FindingKind, Orbits, Precision, PropId, Sink, System};

pub struct Guided<'p, 'm> {
    pub program: &'p Program<'m>,
    pub process: &'p Process,
    pub meeting: Meeting,
    /// Operations that happen without the process.
    pub free: Vec<usize>,
    /// Operations of the machine, then τ, ✓ and the channels of the process.
    pub names: Vec<String>,
    pub operations: usize,
    pub budget: &'p Budget,
}

pub struct Hand<'m> {
    program: <Program<'m> as System>::Worker,
    scratch: Scratch,
    interpreter: Interpreter<'m>,
    /// Whether the transitions with a label go with an event of the process.
    fits: HashMap<(u32, u64), bool>,
    ran: Ran,
    /// Numbers of transitions among those of `ran`.
    chosen: Vec<usize>,
    /// Transitions of the pair: event, label and where the words of the target begin.
    found: Vec<(u32, u64, u32)>,
    targets: Vec<u64>,
}

/// The transitions of an operation that were computed last.
#[derive(Default)]
struct Ran {
    event: Option<EventId>,
    labels: Vec<u64>,
    /// The words of the machine after each.
    targets: Vec<u64>,
    /// Parameters and results of each, where labels do not tell them.
    values: Option<Vec<Vec<Value>>>,
}

/// Labels that are remembered.
const REMEMBERED: usize = 1 << 16;

/// Reasons of incompleteness beyond those of the machine, whose numbers do not have both of the highest bits.
const TOO_LARGE: u32 = u32::MAX;
const NOT_COMPUTED: u32 = u32::MAX - 1;
const NOT_OBSERVED: u32 = u32::MAX - 2;
/// Findings of the process; those of the machine have the highest bit or neither.
const FAULT: u32 = 1 << 30;
const BOTH: u32 = 3 << 30;

/// Takes the transitions of one operation of the machine.
struct Taking<'s> {
    ran: &'s mut Ran,
    /// The operation as the pair knows it.
    event: EventId,
    sink: &'s mut dyn Sink,
}

impl Sink for Taking<'_> {
    fn edge(&mut self, _: EventId, label: u64, target: &[u64]) {
        self.ran.labels.push(label);
        self.ran.targets.extend_from_slice(target);
    }

    fn finding(&mut self, finding: Finding) {
        let event = finding.event.map(|_| self.event);
        self.sink.finding(Finding { event, ..finding });
    }

    fn incomplete(&mut self, reason: u32) {
        self.sink.incomplete(reason);
    }

    fn undefined_guard(&mut self, _: EventId) {
        self.sink.undefined_guard(self.event);
    }
}

impl<'m> Guided<'_, 'm> {
    pub fn split<'s>(&self, state: &'s [u64]) -> (&'s [u64], &'s [u64]) {
        state.split_at(self.program.words())
    }

    /// The events of the program that are one operation: itself, and itself with fixed parameters.
    pub fn forms(&self, operation: usize) -> impl Iterator<Item = EventId> + '_ {
        let fixed = self.meeting.origins.iter().enumerate().filter(move |(_, origin)| **origin == operation);
        let fixed = fixed.map(|(i, _)| EventId((self.operations + i) as u32));
        fixed.chain([EventId(operation as u32)])
    }

    /// Computes the transitions of an operation, all of them, if they are not those that were computed last.
    fn run(
        &self,
        hand: &mut Hand<'m>,
        machine: &[u64],
        operation: usize,
        runs: EventId,
        sink: &mut dyn Sink,
    ) {
        if hand.ran.event == Some(runs) {
            return;
        }
        hand.ran = Ran { event: Some(runs), values: None, ..std::mem::take(&mut hand.ran) };
        hand.ran.labels.clear();
        hand.ran.targets.clear();
        let mut taking = Taking { ran: &mut hand.ran, event: EventId(operation as u32), sink };
        self.program.event(&mut hand.program, machine, runs, &mut taking);
    }

    /// Chooses the transitions that an event goes with, by their numbers.
    fn choose(
        &self,
        hand: &mut Hand<'m>,
        machine: &[u64],
        event: u32,
        wanted: &Partners,
        sink: &mut dyn Sink,
    ) {
        hand.chosen.clear();
        if wanted.fixed {
            return hand.chosen.extend(0..hand.ran.labels.len());
        }
        if hand.fits.len() > REMEMBERED {
            hand.fits.clear();
        }
        for i in 0..hand.ran.labels.len() {
            let label = hand.ran.labels[i];
            let known = hand.fits.get(&(event, label)).copied().or_else(|| {
                let fit = self.program.spelled(wanted.runs, label)?.starts_with(&wanted.values);
                hand.fits.insert((event, label), fit);
                Some(fit)
            });
            match known {
                Some(true) => hand.chosen.push(i),
                Some(false) => {}
                None => return self.choose_by_values(hand, machine, wanted, sink),
            }
        }
    }

    /// The same where labels do not tell the values: all transitions are computed again on values.
    fn choose_by_values(&self, hand: &mut Hand<'m>, machine: &[u64], wanted: &Partners, sink: &mut dyn Sink) {
        if hand.ran.values.is_none() {
            hand.ran.labels.clear();
            hand.ran.targets.clear();
            hand.ran.values = Some(Vec::new());
            let from = self.program.values(machine);
            // Errors and choices that were cut short were told when the compiled code ran.
            match hand.interpreter.steps_of(&from, wanted.runs.0 as usize) {
                Ok(steps) => steps.transitions.iter().for_each(|t| self.take(hand, wanted.runs, t, sink)),
                Err(_) => sink.incomplete(NOT_COMPUTED),
            }
        }
        hand.chosen.clear();
        let fits = |values: &Vec<Value>| values.starts_with(&wanted.values);
        let values = hand.ran.values.iter().flatten().enumerate();
        hand.chosen.extend(values.filter(|(_, values)| fits(values)).map(|(i, _)| i));
    }

    /// Takes a transition that was computed on values.
    fn take(&self, hand: &mut Hand<'m>, runs: EventId, t: &Transition, sink: &mut dyn Sink) {
        let Some(target) = self.program.pack(&t.target) else { return sink.incomplete(NOT_COMPUTED) };
        let ran = &mut hand.ran;
        ran.labels.push(self.program.label(runs, &t.params, &t.results));
        ran.targets.extend(target);
        let values = t.params.iter().chain(t.results.iter()).cloned().collect();
        ran.values.get_or_insert_default().push(values);
    }

    /// Puts the chosen transitions of an operation beside a state of the process.
    fn put(&self, hand: &mut Hand<'m>, operation: usize, process: &[u64]) {
        let words = self.program.words();
        let Hand { ran, chosen, found, targets, .. } = hand;
        for i in chosen.iter() {
            found.push((operation as u32, ran.labels[*i], targets.len() as u32));
            targets.extend_from_slice(&ran.targets[i * words..(i + 1) * words]);
            targets.extend_from_slice(process);
        }
    }

    fn put_own(&self, hand: &mut Hand<'m>, event: u32, machine: &[u64], process: &[u64]) {
        let own = self.operations as u32 + self.process.channel(event).0;
        hand.found.push((own, u64::from(event), hand.targets.len() as u32));
        hand.targets.extend_from_slice(machine);
        hand.targets.extend_from_slice(process);
    }

    /// All transitions that the process takes part in.
    fn together(&self, hand: &mut Hand<'m>, scratch: &mut Scratch, state: &[u64], sink: &mut dyn Sink) {
        let (machine, process) = self.split(state);
        let moves = match self.process.moves(scratch, process) {
            Ok(moves) => moves,
            Err(Some(fault)) => {
                let kind = FindingKind::WellDefinedness;
                return sink.finding(Finding { kind, property: FAULT | fault, event: None });
            }
            Err(None) => return sink.incomplete(TOO_LARGE),
        };
        // Moves come in the order of their events: what was chosen for one serves all its moves.
        let mut last = None;
        for (event, target) in moves {
            match &self.meeting.meets[event as usize] {
                Meets::Nothing => self.put_own(hand, event, machine, target),
                Meets::Never => {}
                Meets::Variable(probe) => {
                    let mut truth = Ok(false);
                    self.program
                        .observe(&mut hand.program, machine, std::iter::once(*probe), |_, t| truth = t);
                    match truth {
                        Ok(true) => self.put_own(hand, event, machine, target),
                        Ok(false) => {}
                        Err(_) => sink.incomplete(NOT_OBSERVED),
                    }
                }
                Meets::Operation(wanted) => {
                    if last != Some(event) {
                        self.run(hand, machine, wanted.operation, wanted.runs, sink);
                        self.choose(hand, machine, event, wanted, sink);
                    }
                    self.put(hand, wanted.operation, target);
                    last = Some(event);
                }
            }
        }
    }
}

impl<'p, 'm> System for Guided<'p, 'm> {
    type Worker = Hand<'m>;

    fn worker(&self) -> Hand<'m> {
        Hand {
            program: self.program.worker(),
            scratch: Scratch::default(),
            interpreter: Interpreter::new(self.program.machine(), self.budget),
            fits: HashMap::default(),
            ran: Ran::default(),
            chosen: Vec::new(),
            found: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn replay_worker(&self) -> Hand<'m> {
        Hand {
            program: self.program.replay_worker(),
            interpreter: Interpreter::new(self.program.machine(), &Budget::unlimited()),
            ..self.worker()
        }
    }

    fn words(&self) -> usize {
        self.program.words() + self.process.words()
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn constant_valuations(&self) -> usize {
        self.program.constant_valuations()
    }

    fn initial(&self, hand: &mut Hand<'m>, sink: &mut dyn Sink) {
        let mut beside = Beside { sink, start: self.process.start() };
        self.program.initial(&mut hand.program, &mut beside);
    }

    fn successors(&self, hand: &mut Hand<'m>, state: &[u64], sink: &mut dyn Sink) {
        hand.found.clear();
        hand.targets.clear();
        hand.ran.event = None;
        let mut scratch = std::mem::take(&mut hand.scratch);
        self.together(hand, &mut scratch, state, sink);
        hand.scratch = scratch;
        let (machine, process) = self.split(state);
        for operation in &self.free {
            self.run(hand, machine, *operation, EventId(*operation as u32), sink);
            hand.chosen.clear();
            hand.chosen.extend(0..hand.ran.labels.len());
            self.put(hand, *operation, process);
        }
        let Hand { found, targets, .. } = hand;
        let target = |at: &u32| &targets[*at as usize..*at as usize + self.words()];
        if found.len() > 1 {
            found.sort_unstable_by(|a, b| {
                (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| target(&a.2).cmp(target(&b.2)))
            });
            found.dedup_by(|a, b| (a.0, a.1) == (b.0, b.1) && target(&a.2) == target(&b.2));
        }
        for (event, label, at) in found.iter() {
            sink.edge(EventId(*event), *label, target(at));
        }
    }

    fn check(&self, hand: &mut Hand<'m>, state: &[u64], changed_by: Option<EventId>, sink: &mut dyn Sink) {
        // What the process does alone leaves the machine as it was, and that state was checked.
        match changed_by {
            Some(e) if (e.0 as usize) >= self.operations => {}
            by => self.program.check(&mut hand.program, self.split(state).0, by, sink),
        }
    }

    fn in_scope(&self, hand: &mut Hand<'m>, state: &[u64], sink: &mut dyn Sink) -> bool {
        self.program.in_scope(&mut hand.program, self.split(state).0, sink)
    }

    fn terminated(&self, hand: &mut Hand<'m>, state: &[u64]) -> bool {
        self.process.terminated(&mut hand.scratch, self.split(state).1)
    }

    fn fingerprint(&self, hand: &mut Hand<'m>, state: &[u64]) -> Option<u128> {
        let (machine, process) = self.split(state);
        let own = self.program.fingerprint(&mut hand.program, machine)?;
        Some(beside(own, process))
    }

    fn orbits(&self) -> Option<Box<dyn Orbits + '_>> {
        let machine = self.program.orbits()?;
        Some(Box::new(Apart { machine, words: self.program.words(), process: self.process.words() }))
    }

    fn holds(&self, hand: &mut Hand<'m>, state: &[u64], proposition: PropId) -> Option<bool> {
        let mut truth = None;
        let which = std::iter::once(self.meeting.probes.len() + proposition.0 as usize);
        self.program.observe(&mut hand.program, self.split(state).0, which, |_, t| truth = t.ok());
        truth
    }

    fn label(&self, event: EventId, label: u64, from: &[u64], to: &[u64]) -> Vec<(String, String)> {
        let machine = self.program.machine();
        if event.0 as usize >= self.operations {
            let parts = self.process.event_parts(label as u32).iter().skip(1).enumerate();
            return parts.map(|(i, part)| (format!("{}", i + 1), part.clone())).collect();
        }
        let op = machine.op(machine.events[event.0 as usize]);
        let values = self.program.spelled(event, label).or_else(|| {
            let unlimited = Budget::unlimited();
            let interpreter = Interpreter::new(machine, &unlimited);
            let (from, to) = (self.program.values(self.split(from).0), self.program.values(self.split(to).0));
            self.forms(event.0 as usize).find_map(|form| {
                let steps = interpreter.steps_of(&from, form.0 as usize).ok()?;
                let taken = steps
                    .transitions
                    .iter()
                    .find(|t| t.target == to && self.program.label(event, &t.params, &t.results) == label)?;
                Some(taken.params.iter().chain(taken.results.iter()).cloned().collect())
            })
        });
        let vars = op.params.iter().chain(&op.results).map(|v| machine.var(*v));
        let both = vars.zip(values.unwrap_or_default());
        both.map(|(v, value)| (v.name.to_string(), value.show(machine, &v.ty))).collect()
    }

    fn property(&self, finding: &Finding) -> String {
        match (finding.kind, finding.property) {
            (FindingKind::WellDefinedness, p) if p & BOTH == FAULT => {
                self.process.property(&Finding { property: p & !BOTH, ..finding.clone() })
            }
            _ => self.program.property(finding),
        }
    }

    fn reason(&self, reason: u32) -> String {
        match reason {
            NOT_COMPUTED => "transitions of an operation could not be computed".to_string(),
            NOT_OBSERVED => "the value of a variable could not be compared".to_string(),
            TOO_LARGE => self.process.reason(0),
            other => self.program.reason(other),
        }
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        self.program.describe(self.split(state).0)
    }
}

/// A hash of a machine's state together with the words of the process, which are the same in every run.
fn beside(machine: u128, process: &[u64]) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    process.iter().fold(machine, |so_far, word| {
        (so_far ^ u128::from(*word)).wrapping_mul(ODD).rotate_left(47).wrapping_add(ODD)
    })
}

/// Initial states of the machine beside the start of the process.
struct Beside<'s> {
    sink: &'s mut dyn Sink,
    start: Vec<u64>,
}

impl Sink for Beside<'_> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.sink.edge(event, label, &[target, &self.start].concat());
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.sink.incomplete(reason);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.sink.undefined_guard(event);
    }
}

/// Orbits of the machine beside states of the process, which names none of what is interchanged.
struct Apart<'p> {
    machine: Box<dyn Orbits + 'p>,
    words: usize,
    process: usize,
}

impl Orbits for Apart<'_> {
    fn words(&self) -> usize {
        self.machine.words() + self.process
    }

    fn identity(&mut self, state: &[u64], out: &mut [u64]) -> Precision {
        let (machine, process) = state.split_at(self.words);
        let (own, rest) = out.split_at_mut(self.machine.words());
        rest.copy_from_slice(process);
        self.machine.identity(machine, own)
    }

    fn print(&self, identity: &[u64]) -> u128 {
        let (own, process) = identity.split_at(self.machine.words());
        beside(self.machine.print(own), process)
    }
}
