//! A composition as a `System` of packed words.
//!
//! In: the tables and rules of a composition. Out: states of a few bits for each slot, successors by rules.
//! The label of a transition is the number of its event; its event in the sense of the explorer is the channel.
//! Never here: terms, evaluation.

use super::compose::Composition;
use super::eval::Eval;
use super::term::{TAU, TICK};
use super::value::Data;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::system::{EventId, Finding, FindingKind, Sink, System};

/// Where the local state of a slot stands in the words.
#[derive(Clone, Copy, Debug)]
struct Place {
    word: u32,
    shift: u32,
    mask: u64,
}

/// A process that can be explored by any number of threads.
pub struct Machine {
    pub composition: Composition,
    places: Vec<Place>,
    words: usize,
    /// Names of the channels; the first two are τ and ✓.
    names: Vec<String>,
    /// The channel of each event.
    channels: Vec<u32>,
    /// Events as written, and their parts.
    events: Vec<String>,
    parts: Vec<Vec<String>>,
    /// Faults as text.
    faults: Vec<String>,
    /// Slots with local states that have a fault or were not looked at.
    doubtful: Vec<u32>,
    /// For each slot that leads rules, what each of its local states begins.
    leads: Vec<(u32, Leads)>,
    /// Lists of rules that begin with the same event of the same slot.
    lists: Vec<Vec<u32>>,
}

/// The transitions of a slot by which rules begin, for each of its local states.
#[derive(Default)]
struct Leads {
    first: Vec<u32>,
    /// The number of a list of rules, and the transitions of the slot that have the event.
    items: Vec<(u32, std::ops::Range<u32>)>,
}

impl Leads {
    #[inline]
    fn of(&self, local: u32) -> &[(u32, std::ops::Range<u32>)] {
        &self.items[self.first[local as usize] as usize..self.first[local as usize + 1] as usize]
    }
}

/// The rules that each local state of each slot begins, so that a search looks nothing up by events.
fn leads(composition: &Composition) -> (Vec<(u32, Leads)>, Vec<Vec<u32>>) {
    let (mut all, mut lists) = (Vec::new(), Vec::new());
    for (slot, rules) in composition.by_leader.iter().enumerate().filter(|(_, rules)| !rules.is_empty()) {
        let mut events: Vec<u32> = rules.keys().copied().collect();
        events.sort_unstable();
        let begin = lists.len() as u32;
        lists.extend(events.iter().map(|event| rules[event].clone()));
        let table = &composition.slots[slot];
        let mut leads = Leads { first: vec![0], items: Vec::new() };
        for local in 0..table.states() as u32 {
            let mut at = table.range(local).start;
            for same in table.edges(local).chunk_by(|a, b| a.0 == b.0) {
                let end = at + same.len() as u32;
                if let Ok(i) = events.binary_search(&same[0].0) {
                    leads.items.push((begin + i as u32, at..end));
                }
                at = end;
            }
            leads.first.push(leads.items.len() as u32);
        }
        all.push((slot as u32, leads));
    }
    (all, lists)
}

/// One transition under construction: event number and where its target begins.
type Found = (u32, u32);

/// Memory of one thread.
#[derive(Default)]
pub struct Scratch {
    local: Vec<u32>,
    found: Vec<Found>,
    targets: Vec<u64>,
    /// Moves of the parts of a rule: slot and targets.
    choice: Vec<usize>,
}

impl Machine {
    pub fn new(composition: Composition, eval: &Eval, sources: &Sources) -> Machine {
        let mut places = Vec::new();
        let (mut word, mut used) = (0u32, 0u32);
        for table in &composition.slots {
            let bits = usize::BITS - table.states().saturating_sub(1).leading_zeros();
            if used + bits > 64 {
                word += 1;
                used = 0;
            }
            let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
            places.push(Place { word, shift: if used == 64 { 0 } else { used }, mask });
            used += bits;
        }
        let mut names = vec!["tau".to_string(), "tick".to_string()];
        names.extend(eval.script.channels.iter().map(|c| eval.text(c.name).to_string()));
        let channels = (0..eval.events.len() as u32)
            .map(|e| match e {
                TAU => 0,
                TICK => 1,
                _ => match eval.events.data(e).parts()[0] {
                    Data::Channel(n) => n + 2,
                    _ => 0,
                },
            })
            .collect();
        let events = (0..eval.events.len() as u32).map(|e| eval.show_event(e)).collect();
        let parts = (0..eval.events.len() as u32).map(|e| eval.event_parts(e)).collect();
        let faults = composition
            .faults
            .iter()
            .map(|f| {
                let place = sources.locate(f.span);
                if place.is_empty() { f.message.clone() } else { format!("{place}: {}", f.message) }
            })
            .collect();
        let doubtful = (0..composition.slots.len() as u32)
            .filter(|s| {
                let table = &composition.slots[*s as usize];
                !table.faults.is_empty() || !table.open.is_empty()
            })
            .collect();
        let (leads, lists) = leads(&composition);
        Machine {
            leads,
            lists,
            composition,
            places,
            words: word as usize + 1,
            names,
            channels,
            events,
            parts,
            faults,
            doubtful,
        }
    }

    #[inline]
    fn local(&self, state: &[u64], slot: usize) -> u32 {
        let place = self.places[slot];
        (state[place.word as usize] >> place.shift & place.mask) as u32
    }

    #[inline]
    fn put(&self, state: &mut [u64], slot: usize, local: u32) {
        let place = self.places[slot];
        let word = &mut state[place.word as usize];
        *word = *word & !(place.mask << place.shift) | u64::from(local) << place.shift;
    }

    pub fn event_text(&self, event: u32) -> &str {
        &self.events[event as usize]
    }

    /// The channel and the values of an event, each as written.
    pub fn event_parts(&self, event: u32) -> &[String] {
        &self.parts[event as usize]
    }

    pub fn channel(&self, event: u32) -> EventId {
        EventId(self.channels[event as usize])
    }

    pub fn start(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    /// The fault of a state, or that it was not looked at.
    fn doubt(&self, local: &[u32]) -> Option<Result<u32, ()>> {
        for slot in &self.doubtful {
            let table = &self.composition.slots[*slot as usize];
            let at = local[*slot as usize];
            if let Ok(i) = table.faults.binary_search_by_key(&at, |(s, _)| *s) {
                return Some(Ok(table.faults[i].1));
            }
            if table.open.binary_search(&at).is_ok() {
                return Some(Err(()));
            }
        }
        None
    }

    /// The diagnostics of faults, for those who reject a script because of them.
    pub fn fault_diagnostics(&self) -> Vec<Diagnostic> {
        self.composition.faults.iter().map(|f| Diagnostic::error(f.span, f.message.clone())).collect()
    }

    /// Computes the transitions of a state into the scratch memory, sorted by event and target, each once.
    /// An error is the fault of the state, or nothing if the state was not looked at because of a limit.
    pub fn moves<'s>(
        &self,
        scratch: &'s mut Scratch,
        state: &[u64],
    ) -> Result<impl Iterator<Item = (u32, &'s [u64])> + use<'s>, Option<u32>> {
        let Scratch { local, found, targets, choice } = scratch;
        local.clear();
        local.extend((0..self.places.len()).map(|slot| self.local(state, slot)));
        if let Some(doubt) = self.doubt(local) {
            return Err(doubt.ok());
        }
        found.clear();
        targets.clear();
        let words = self.words;
        for (slot, leads) in &self.leads {
            let table = &self.composition.slots[*slot as usize];
            for (list, range) in leads.of(local[*slot as usize]) {
                let first = table.numbered(range.clone());
                for rule in &self.lists[*list as usize] {
                    self.fire(*rule, first, local, state, found, targets, choice);
                }
            }
        }
        let at = move |i: u32| i as usize * words..(i as usize + 1) * words;
        if found.len() > 1 {
            found
                .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| targets[at(a.1)].cmp(&targets[at(b.1)])));
            found.dedup_by(|a, b| a.0 == b.0 && targets[at(a.1)] == targets[at(b.1)]);
        }
        let targets: &'s [u64] = targets;
        Ok(found.iter().map(move |(event, i)| (*event, &targets[at(*i)])))
    }

    /// All transitions of a rule whose parts are all able; those of the first part are given.
    #[allow(clippy::too_many_arguments)]
    fn fire(
        &self,
        rule: u32,
        first: &[(u32, u32)],
        local: &[u32],
        state: &[u64],
        found: &mut Vec<Found>,
        targets: &mut Vec<u64>,
        choice: &mut Vec<usize>,
    ) {
        let rule = &self.composition.rules[rule as usize];
        if let [(slot, _)] = rule.parts[..] {
            for (_, to) in first {
                let start = targets.len();
                targets.extend_from_slice(state);
                self.put(&mut targets[start..], slot as usize, *to);
                found.push((rule.result, (start / self.words) as u32));
            }
            return;
        }
        let moves = |i: usize| {
            if i == 0 {
                return first;
            }
            let (slot, event) = rule.parts[i];
            self.composition.slots[slot as usize].of_event(local[slot as usize], event)
        };
        if (1..rule.parts.len()).any(|i| moves(i).is_empty()) {
            return;
        }
        choice.clear();
        choice.resize(rule.parts.len(), 0);
        loop {
            let start = targets.len();
            targets.extend_from_slice(state);
            for (i, chosen) in choice.iter().enumerate() {
                let slot = rule.parts[i].0 as usize;
                self.put(&mut targets[start..], slot, moves(i)[*chosen].1);
            }
            found.push((rule.result, (start / self.words) as u32));
            let mut i = 0;
            while i < choice.len() {
                choice[i] += 1;
                if choice[i] < moves(i).len() {
                    break;
                }
                choice[i] = 0;
                i += 1;
            }
            if i == choice.len() {
                return;
            }
        }
    }
}

/// The reason of incompleteness of a component that is too large.
const TOO_LARGE: u32 = 0;

impl System for Machine {
    type Worker = Scratch;

    fn worker(&self) -> Scratch {
        Scratch::default()
    }

    fn words(&self) -> usize {
        self.words
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut Scratch, sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &self.start());
    }

    fn successors(&self, scratch: &mut Scratch, state: &[u64], sink: &mut dyn Sink) {
        match self.moves(scratch, state) {
            Ok(moves) => {
                for (event, target) in moves {
                    sink.edge(self.channel(event), u64::from(event), target);
                }
            }
            Err(Some(fault)) => {
                sink.finding(Finding { kind: FindingKind::WellDefinedness, property: fault, event: None });
            }
            Err(None) => sink.incomplete(TOO_LARGE),
        }
    }

    fn check(&self, _: &mut Scratch, _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}

    fn terminated(&self, _: &mut Scratch, state: &[u64]) -> bool {
        let ends = &self.composition.ends;
        !ends.is_empty() && ends.iter().all(|(slot, end)| self.local(state, *slot as usize) == *end)
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::WellDefinedness => self.faults[finding.property as usize].clone(),
            _ => "deadlock".to_string(),
        }
    }

    fn reason(&self, _: u32) -> String {
        "a component of the process has more states than the limit allows".to_string()
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        let locals = (0..self.places.len()).filter(|s| self.composition.slots[*s].states() > 1);
        locals.map(|slot| (format!("component {}", slot + 1), self.local(state, slot).to_string())).collect()
    }
}
