//! The compiled model as a `System`: successors and checks on packed states.
//!
//! In: packed states from the explorer. Out: edges and findings. Each event runs as code; an event
//! that has none, or that meets a value without a place, is done by the interpreter instead, from the
//! same state and in full. Edges of one event are held back until it is through, so that the two
//! ways never mix.

use super::Options;
use super::compile::{self, Compiled, Source};
use super::effects::Effects;
use super::exact::{self, Constant};
use super::exec::{self, Answer, Exit, Frame};
use super::fallback::Reach;
use super::footprints::Prepared;
use super::host::{Edges, Running};
use super::label;
use super::layout::Layout;
use super::memo::Memo;
use super::messages::{Class, Messages};
use super::mirror::{self, Mirror};
use super::pool::Pool;
use super::reduction::Reduction;
use super::room::{Growth, Rooms};
use super::state::StateLayout;
use super::symmetry::{OrbitWorker, States, Symmetry};
use super::tray;
use crate::constant_assertions::{Heard, Statics};
use bombus_base::budget::Budget;
use bombus_evaluate::{Constants, Error, ErrorKind, Interpreter, Pieces, Standing, State};
use bombus_kernels::hash;
use bombus_lang::typed::{Machine, Pred, VarId};
use bombus_lang::value::{Value, digest};
use bombus_system::{
    EventId, Finding, FindingKind, Footprints, Glossary, GuardId, InstanceId, NO_INITIAL_STATE, Orbits,
    Relations, Sink, System,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::OnceLock;

pub struct Program<'m> {
    pub(super) machine: &'m Machine,
    pub(super) budget: Budget,
    pub(super) pool: Pool,
    pub(super) layout: StateLayout,
    /// Some variable stands in the value pool.
    pub(super) pools: bool,
    pub(super) valuations: Vec<Constants>,
    pub(super) symmetry: Option<Symmetry>,
    /// A valuation may have been taken for another one that is not symmetric to it.
    pub(super) confused: bool,
    pub(super) compiled: Vec<OnceLock<Compiled>>,
    pub(super) effects: Effects,
    /// What each event touches.
    pub(super) reaches: Vec<Reach>,
    pub(super) names: Vec<String>,
    /// Errors met while the constants were set up, told with the initial states.
    pub(super) setup_errors: Vec<Error>,
    pub(super) setup_incomplete: Vec<Error>,
    pub(super) setup_sampled: Vec<Error>,
    /// Assertions about constants alone: checked once for each valuation.
    pub(super) statics: Vec<bool>,
    /// For each assertion, the places of the constants that it reads.
    pub(super) read_by_statics: Vec<Vec<usize>>,
    /// What the look at the constants and the initial states left behind, once it was taken.
    pub(super) looked: Mutex<Option<Statics>>,
    /// Layouts in which parameters and results are hashed, for each event.
    pub(super) labels: Vec<Vec<Layout>>,
    /// Texts of findings and reasons, by their numbers.
    pub(super) messages: Messages,
    pub(super) options: Options,
    /// Guards of instances that a reduction may ask for.
    pub(super) guards: Vec<Option<Pred>>,
    pub(super) reduction: Option<Reduction>,
    /// What engines on sets of states rely on.
    pub(super) prepared: Option<Prepared>,
    /// The room that the variables got, if some of it was guessed.
    pub(super) rooms: Rooms,
    /// The layout that names states where guesses made another one.
    pub(super) mirror: Option<Mirror>,
    pub(super) growth: Growth,
}

/// States on values that take as long as making code for a valuation.
const ESCAPES_FOR_CODE: u64 = 64;

/// The limits are looked at once for so many initial states.
const LOOK: usize = 1 << 12;

/// Scratch memory of one thread.
pub struct Worker<'m> {
    pub(super) frame: Frame,
    /// The valuation whose constants stand in the frame.
    pub(super) loaded: Option<usize>,
    pub(super) interpreter: Interpreter<'m>,
    pub(super) pieces: Option<(usize, Pieces)>,
    pub(super) edges: Edges,
    /// Answers of pieces that were evaluated on values: how it went, and the words written.
    pub(super) answers: Memo<(Answer, Box<[u64]>)>,
    /// Transitions of events that were done on values: labels, and the registers of what is written.
    pub(super) steps: Memo<Vec<(u64, Box<[u64]>)>>,
    /// Room for the words of a variable and the bytes of a state (`fingerprint`).
    pub(super) spelling: (Vec<u64>, Vec<u8>),
    /// Room for the words that name a state.
    pub(super) mirrored: (mirror::Scratch, Vec<u64>),
    /// Pieces that were done on values: whole events and conjuncts.
    pub fallbacks: u64,
    /// The state that was last decoded for the interpreter: its words, and its environment.
    pub(super) standing: Option<(Box<[u64]>, Standing)>,
    /// States are looked for that were met before, so what holds of the constants alone was told.
    pub(super) replays: bool,
}

impl<'m> Program<'m> {
    pub(super) fn compiled(&self, valuation: usize, interpreter: &Interpreter<'m>) -> &Compiled {
        self.compiled[valuation].get_or_init(|| {
            let constants = &self.valuations[valuation];
            let folder = Constant::new(interpreter, constants).one_of(self.valuations.len());
            let map: BTreeMap<VarId, Value> =
                self.machine.constants.iter().copied().zip(constants.iter().cloned()).collect();
            let mut compiled = compile::compile(&Source {
                machine: self.machine,
                pool: &self.pool,
                folder: &folder,
                constants: &map,
                layout: &self.layout,
                touched: &self.effects.touched,
                statics: &self.statics,
                guards: &self.guards,
                observed: &self.options.observed,
                native: self.options.native,
            });
            compiled.quiet = self.quiet(&compiled);
            compiled
        })
    }

    /// Bytes of machine code that events and conjuncts became.
    pub fn native_bytes(&self) -> usize {
        let made = self.compiled.iter().filter_map(|c| c.get());
        made.map(|c| c.code.native.bytes()).sum()
    }

    pub fn machine(&self) -> &'m Machine {
        self.machine
    }

    /// Valuations of the constants, the empty one of a model without constants included.
    pub fn valuations(&self) -> usize {
        self.valuations.len()
    }

    pub(super) fn worker_with(&self, budget: &Budget) -> Worker<'m> {
        Worker {
            frame: Frame::default(),
            loaded: None,
            interpreter: Interpreter::new(self.machine, budget),
            pieces: None,
            edges: Edges::default(),
            answers: Memo::default(),
            steps: Memo::default(),
            spelling: Default::default(),
            mirrored: Default::default(),
            fallbacks: 0,
            standing: None,
            replays: false,
        }
    }

    /// The state as the interpreter knows it.
    pub fn values(&self, state: &[u64]) -> State {
        State {
            constants: self.valuations[self.layout.valuation(state)].clone(),
            variables: self.layout.unpack(state, &self.pool).into(),
        }
    }

    /// The variables of a state with their values.
    pub fn state_values(&self, state: &[u64]) -> Vec<(VarId, Value)> {
        self.layout.slots.iter().map(|s| s.var).zip(self.layout.unpack(state, &self.pool)).collect()
    }

    /// The constants that a state was set up with.
    pub fn constants_of(&self, state: &[u64]) -> Vec<(VarId, Value)> {
        let values = &self.valuations[self.layout.valuation(state)];
        self.machine.constants.iter().copied().zip(values.iter().cloned()).collect()
    }

    /// The packed form of a state of the interpreter; `None` when its constants are not a valuation.
    pub fn pack(&self, state: &State) -> Option<Vec<u64>> {
        let valuation = self.valuations.iter().position(|c| *c == state.constants)?;
        let mut packed = Vec::new();
        self.layout.pack(valuation, &state.variables, &self.pool, &mut packed);
        Some(packed)
    }

    /// Packs a state, and notes what has no place.
    pub(super) fn pack_noting(&self, valuation: usize, values: &[Value], packed: &mut Vec<u64>) {
        self.layout.pack(valuation, values, &self.pool, packed);
        if !self.rooms.is_empty() && self.layout.is_escaped(packed) {
            self.growth.note(&self.rooms, &self.machine.variables, values);
        }
    }

    /// The label of a transition: a function of its parameters and results alone.
    pub fn label(&self, event: EventId, params: &[Value], results: &[Value]) -> u64 {
        let layouts = &self.labels[event.0 as usize];
        let values: Vec<(Layout, &Value)> =
            layouts.iter().cloned().zip(params.iter().chain(results.iter())).collect();
        label::of_values(&values, &self.pool)
    }

    /// The parameters and results that a label spells; none if it is a hash of them.
    pub fn spelled(&self, event: EventId, label: u64) -> Option<Vec<Value>> {
        label::values(&self.labels[event.0 as usize], label, &self.pool)
    }

    /// The number of a text that says why the run sees less than everything.
    pub(super) fn reason_number(&self, text: String) -> u32 {
        self.messages.number(text, Class::Reason)
    }

    pub(super) fn tell(&self, e: &Error, event: Option<EventId>, sink: &mut dyn Sink) {
        if e.is_finding() {
            let kind = match e.kind() {
                ErrorKind::Precondition => FindingKind::Precondition,
                ErrorKind::Assertion => FindingKind::Assertion,
                ErrorKind::Refinement => FindingKind::Refinement,
                ErrorKind::Variant => FindingKind::Variant,
                _ => FindingKind::WellDefinedness,
            };
            let property = self.messages.number(exact::words(e), Class::Finding);
            sink.finding(Finding { kind, property, event });
        } else {
            let words = match event {
                Some(e_) => format!("{}: {}", self.names[e_.0 as usize], e.reason(self.machine)),
                None => e.reason(self.machine),
            };
            sink.incomplete(self.reason_number(words));
        }
    }

    /// A choice that was sampled although nothing but transitions is missing: not a reason to doubt the states, but
    /// temporal formulas may ask for the transitions.
    pub(super) fn note(&self, e: &Error, event: Option<EventId>, sink: &mut dyn Sink) {
        let words = match event {
            Some(event) => format!("{}: {}", self.names[event.0 as usize], exact::words(e)),
            None => exact::words(e),
        };
        sink.incomplete(self.messages.number(words, Class::Note));
    }

    /// Whether a reason only says that transitions to known states were not counted.
    pub fn is_note(&self, reason: u32) -> bool {
        Class::of(reason) == Class::Note
    }

    /// Loads constants and state into the frame.
    pub(super) fn enter(&self, worker: &mut Worker<'m>, compiled: &Compiled, state: &[u64]) {
        self.enter_tray(worker, compiled, state);
        self.layout.load(state, &mut worker.frame.regs[..]);
    }

    /// Loads constants into the frame, and puts the state where machine code looks for it.
    #[inline]
    pub(super) fn enter_tray(&self, worker: &mut Worker<'m>, compiled: &Compiled, state: &[u64]) {
        let valuation = self.layout.valuation(state);
        if worker.loaded != Some(valuation) {
            for (r, words) in &compiled.code.constants {
                worker.frame.regs[*r as usize..*r as usize + words.len()].copy_from_slice(words);
            }
            worker.loaded = Some(valuation);
            // Pieces are numbered for each valuation anew.
            worker.answers.forget();
            worker.steps.forget();
        }
        if compiled.code.plan.is_some() {
            tray::begin(&mut worker.frame.regs, state);
        }
    }

    /// A hash that a state has in every run, whatever numbers the pool gave to its values.
    fn name(&self, layout: &StateLayout, state: &[u64], regs: &mut Vec<u64>, bytes: &mut Vec<u8>) -> u128 {
        if layout.stable_words(state, &self.pool, regs) {
            return hash::words(regs);
        }
        bytes.clear();
        bytes.extend_from_slice(&(layout.valuation(state) as u64).to_le_bytes());
        layout.spell(state, &self.pool, regs, bytes);
        digest::hash128(bytes)
    }

    /// The hash that the state would have without guesses.
    fn mirrored(&self, mirror: &Mirror, worker: &mut Worker<'m>, state: &[u64]) -> u128 {
        let Worker { spelling: (regs, bytes), mirrored: (scratch, words), .. } = worker;
        if mirror.stable_words(&self.layout, state, &self.pool, scratch, words) {
            return hash::words(words);
        }
        mirror.pack(&self.layout, state, &self.pool, words);
        self.name(&mirror.wide, words, regs, bytes)
    }

    /// A predicate by its code, or by the interpreter.
    pub(super) fn run(
        &self,
        worker: &mut Worker<'m>,
        compiled: &Compiled,
        entry: u32,
        state: &[u64],
    ) -> Exit {
        let (frame, mut host) = self.running(worker, compiled, state, Some(0));
        exec::run(&compiled.code, entry, frame, &mut host)
    }

    /// The frame of a worker, and who hears of what its code does.
    #[inline]
    pub(super) fn running<'w>(
        &'w self,
        worker: &'w mut Worker<'m>,
        compiled: &'w Compiled,
        state: &'w [u64],
        event: Option<u32>,
    ) -> (&'w mut Frame, Running<'w, 'm>) {
        let Worker { frame, interpreter, pieces, edges, answers, .. } = worker;
        edges.0.clear();
        let undefined = Vec::new();
        let host =
            Running { program: self, compiled, interpreter, pieces, edges, answers, state, event, undefined };
        (frame, host)
    }
}

/// Why a run is incomplete when valuations of the constants were told apart by inexact markers.
const APPROXIMATE: &str = "approximate symmetry: valuations of the constants may have been taken for others that are not symmetric to them";

impl<'m> System for Program<'m> {
    type Worker = Worker<'m>;

    fn worker(&self) -> Worker<'m> {
        self.worker_with(&self.budget)
    }

    fn replay_worker(&self) -> Worker<'m> {
        Worker { replays: true, ..self.worker_with(&Budget::unlimited()) }
    }

    fn words(&self) -> usize {
        self.layout.words
    }

    fn packed_bits(&self) -> Option<u32> {
        (self.layout.words == 1).then(|| self.layout.bits.min(64) as u32)
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn constant_valuations(&self) -> usize {
        if self.machine.constants.is_empty() { 0 } else { self.valuations.len() }
    }

    fn initial(&self, worker: &mut Worker<'m>, sink: &mut dyn Sink) {
        let mut looked = Statics::default();
        let sink = &mut Heard { sink, state: None, looked: &mut looked };
        self.setup_errors.iter().chain(&self.setup_incomplete).for_each(|e| self.tell(e, None, sink));
        self.setup_sampled.iter().for_each(|e| self.note(e, None, sink));
        if self.valuations.is_empty() {
            if self.setup_errors.is_empty() && self.setup_incomplete.is_empty() {
                sink.finding(Finding { kind: FindingKind::Properties, property: 0, event: None });
            }
            return;
        }
        if self.confused {
            sink.incomplete(self.reason_number(APPROXIMATE.into()));
        }
        let mut packed = Vec::new();
        for (valuation, constants) in self.valuations.iter().enumerate() {
            match worker.interpreter.initial_states(constants) {
                Ok(found) => {
                    let nothing = found.values.is_empty();
                    if nothing && found.errors.is_empty() && found.incomplete.is_empty() {
                        sink.finding(Finding { kind: FindingKind::Properties, property: 1, event: None });
                    }
                    found.errors.iter().chain(&found.incomplete).for_each(|e| self.tell(e, None, sink));
                    found.sampled.iter().for_each(|e| self.note(e, None, sink));
                    for (i, state) in found.values.iter().enumerate() {
                        if i % LOOK == 0
                            && let Err(stop) = worker.interpreter.look()
                        {
                            return self.tell(&stop, None, sink);
                        }
                        self.pack_noting(valuation, &state.variables, &mut packed);
                        sink.edge(EventId(0), 0, &packed);
                    }
                    if let (Some(first), false) = (found.values.first(), worker.replays) {
                        self.check_statics(worker, first, sink);
                    }
                }
                // A limit that is reached ends the list, not only that of this valuation.
                Err(stop) if stop.is_stop() => return self.tell(&stop, None, sink),
                Err(e) => self.tell(&e, None, sink),
            }
        }
        if !worker.replays {
            self.keep_statics(looked);
        }
    }

    fn successors(&self, worker: &mut Worker<'m>, state: &[u64], sink: &mut dyn Sink) {
        if self.layout.is_escaped(state) {
            for e in 0..self.names.len() {
                self.exact_event(worker, state, EventId(e as u32), sink);
            }
            return;
        }
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        if let Some(made) = compiled.code.native.made(&compiled.code)
            && made.knows_states()
            && !self.options.strict_guards
        {
            self.enter_tray(worker, compiled, state);
            return self.rounds(worker, compiled, made, state, sink);
        }
        self.enter(worker, compiled, state);
        for (e, opening) in compiled.openings.iter().enumerate() {
            if !opening.is_some_and(|o| o.is_closed(&worker.frame.regs)) {
                self.event_successors(worker, compiled, state, EventId(e as u32), sink);
            }
        }
    }

    fn check(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        changed_by: Option<EventId>,
        sink: &mut dyn Sink,
    ) {
        self.check_state(worker, state, changed_by, sink);
    }

    fn in_scope(&self, worker: &mut Worker<'m>, state: &[u64], sink: &mut dyn Sink) -> bool {
        let Some(scope) = &self.machine.scope else { return true };
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        if !self.layout.is_escaped(state) {
            self.enter(worker, compiled, state);
        }
        match self.holds(worker, compiled, compiled.scope, scope, state) {
            Ok(inside) => inside,
            Err(e) => {
                sink.incomplete(self.reason_number(format!("SCOPE: {}", exact::words(&e))));
                true
            }
        }
    }

    fn fingerprint(&self, worker: &mut Worker<'m>, state: &[u64]) -> Option<u128> {
        if let Some(mirror) = &self.mirror {
            return Some(self.mirrored(mirror, worker, state));
        }
        // Pool numbers depend on who met a value first; everything else is the same in every run.
        if !self.pools && !self.layout.is_escaped(state) {
            return None;
        }
        let (regs, bytes) = &mut worker.spelling;
        Some(self.name(&self.layout, state, regs, bytes))
    }

    fn place(&self, worker: &mut Worker<'m>, state: &[u64]) -> Option<u128> {
        if !self.pools && !self.layout.is_escaped(state) {
            return match state {
                [word] => Some(u128::from(hash::mix(!word)) << 64),
                _ => self.mirror.is_some().then(|| hash::words(state)),
            };
        }
        // Without guesses that is the fingerprint.
        self.mirror.as_ref()?;
        let (regs, bytes) = &mut worker.spelling;
        Some(self.name(&self.layout, state, regs, bytes))
    }

    fn escapes(&self) -> u64 {
        let escapes = self.growth.escapes();
        // With another layout code is made anew for each valuation, which takes as long as so many states on values.
        if escapes / ESCAPES_FOR_CODE < self.valuations.len() as u64 { 0 } else { escapes }
    }

    fn relations(&self) -> Option<&Relations> {
        self.reduction.as_ref().map(|r| &r.relations)
    }

    fn instance(&self, event: EventId, label: u64) -> Option<InstanceId> {
        match (&self.reduction, &self.prepared) {
            (Some(reduction), _) => reduction.instance(event, label),
            (None, prepared) => prepared.as_ref()?.instance(event, label),
        }
    }

    fn footprints(&self) -> Option<&Footprints> {
        self.prepared.as_ref().map(|p| &p.footprints)
    }

    fn event(&self, worker: &mut Worker<'m>, state: &[u64], event: EventId, sink: &mut dyn Sink) {
        if self.layout.is_escaped(state) {
            return self.exact_event(worker, state, event, sink);
        }
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        self.enter(worker, compiled, state);
        self.event_successors(worker, compiled, state, event, sink);
    }

    fn condition(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        condition: usize,
        part: Option<usize>,
        sink: &mut dyn Sink,
    ) -> Option<bool> {
        self.condition_holds(worker, state, condition, part, sink)
    }

    fn guard(&self, worker: &mut Worker<'m>, state: &[u64], guard: GuardId) -> bool {
        self.guard_holds(worker, state, guard)
    }

    fn save(&self, waiting: Option<&[&[u64]]>, out: &mut Vec<u8>) -> Result<(), String> {
        self.save_values(waiting, out)
    }

    fn restore(&self, bytes: &[u8]) -> Result<(), String> {
        self.restore_values(bytes)
    }

    fn export(&self, state: &mut [u64], glossary: &mut Glossary) -> bool {
        self.export_state(state, glossary)
    }

    fn import(&self, state: &mut [u64], values: &[u32]) -> bool {
        self.import_state(state, values)
    }

    fn learn(&self, from: &mut &[u8]) -> Option<u32> {
        Some(self.pool.intern(&Value::decode(from)?).0)
    }

    fn text(&self, number: u32) -> Option<String> {
        self.messages.text(number)
    }

    fn learn_text(&self, number: u32, words: &str) {
        self.messages.learn(number, words);
    }

    fn orbits(&self) -> Option<Box<dyn Orbits + '_>> {
        let symmetry = self.symmetry.as_ref()?;
        Some(Box::new(OrbitWorker::new(symmetry, States { layout: &self.layout, pool: &self.pool })))
    }

    fn property(&self, finding: &Finding) -> String {
        let clause = |clauses: &[bombus_lang::typed::Clause]| {
            clauses.get(finding.property as usize).map(|c| c.text.clone()).unwrap_or_default()
        };
        match finding.kind {
            FindingKind::Invariant => clause(&self.machine.invariant),
            FindingKind::Assertion if Class::of(finding.property) != Class::Finding => {
                clause(&self.machine.assertions)
            }
            FindingKind::Deadlock => "no operation is enabled".into(),
            FindingKind::Goal => "the goal is reached".into(),
            FindingKind::Properties if finding.property == 0 => {
                "no valuation of the constants satisfies PROPERTIES".into()
            }
            FindingKind::Properties if finding.property == NO_INITIAL_STATE => {
                "there is no initial state".into()
            }
            FindingKind::Properties => "INITIALISATION has no outcome".into(),
            _ => self.messages.text(finding.property).unwrap_or_default(),
        }
    }

    fn reason(&self, reason: u32) -> String {
        self.messages.text(reason).unwrap_or_default()
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        self.state_values(state)
            .into_iter()
            .map(|(v, x)| {
                let decl = self.machine.var(v);
                (decl.name.to_string(), x.show(self.machine, &decl.ty))
            })
            .collect()
    }
}
