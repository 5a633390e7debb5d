//! A composition as a `System` of packed words.
//!
//! In: the tables and rules of a composition. Out: states of a few bits for each slot, successors by rules.
//! The label of a transition is the number of its event; its event in the sense of the explorer is the channel.
//! Never here: terms, evaluation.

use super::compose::Composition;
use super::eval::Eval;
use super::firing::{Firing, Hand, Place};
use super::term::{TAU, TICK};
use super::value::{Data, Fault};
use bombus_base::diagnostic::Sources;
use bombus_system::{EventId, Finding, FindingKind, Sink, System};

/// A process that can be explored by any number of threads.
pub struct Machine {
    pub composition: Composition,
    places: Vec<Place>,
    words: usize,
    /// Bits used of the last word.
    bits: u32,
    /// Names of the channels; the first two are τ and ✓.
    names: Vec<String>,
    /// The channel of each event.
    channels: Vec<u32>,
    /// Events as written, and their parts.
    events: Vec<String>,
    parts: Vec<Vec<String>>,
    /// Faults as text.
    faults: Vec<String>,
    /// Why local states are open, if not because of the number of states.
    pub(super) limit: Option<String>,
    /// Slots with local states that have a fault or were not looked at.
    doubtful: Vec<u32>,
    firing: Firing,
}

/// One transition under construction: event number and where its target begins.
type Found = (u32, u32);

/// Memory of one thread.
#[derive(Default)]
pub struct Scratch {
    hand: Hand,
    found: Vec<Found>,
    targets: Vec<u64>,
}

impl Machine {
    pub fn new(composition: Composition, eval: &Eval, sources: &Sources) -> Machine {
        let (places, words, bits) = Place::all(&composition);
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
        let told = |f: &Fault| {
            let place = sources.locate(f.span);
            if place.is_empty() { f.message.clone() } else { format!("{place}: {}", f.message) }
        };
        let faults = composition.faults.iter().map(told).collect();
        let limit = composition.faults.iter().find(|f| f.limit).map(told);
        let doubtful = (0..composition.slots.len() as u32)
            .filter(|s| {
                let table = &composition.slots[*s as usize];
                !table.faults.is_empty() || !table.open.is_empty()
            })
            .collect();
        Machine {
            firing: Firing::new(&composition),
            composition,
            places,
            words,
            bits,
            names,
            channels,
            events,
            parts,
            faults,
            limit,
            doubtful,
        }
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

    /// How a component is called.
    fn component(&self, slot: usize) -> String {
        self.composition.names[slot].clone().unwrap_or_else(|| format!("component {}", slot + 1))
    }

    /// What each component could do in a state if the others did it with it, for a state in which nothing happens.
    pub fn waiting(&self, state: &[u64]) -> Vec<String> {
        const LISTED: usize = 6;
        let told = |slot: usize| {
            let offered = self.composition.slots[slot].edges(self.places[slot].get(state));
            // Slots that only note the end of a process are no components.
            if !offered.is_empty() && offered.iter().all(|(event, _)| *event == TICK) {
                return None;
            }
            let mut events: Vec<&str> = offered.iter().map(|(event, _)| self.event_text(*event)).collect();
            events.dedup();
            let more = events.len().saturating_sub(LISTED);
            events.truncate(LISTED);
            let name = self.component(slot);
            Some(match (events.is_empty(), more) {
                (true, _) => format!("{name} offers nothing"),
                (false, 0) => format!("{name} offers {}", events.join(", ")),
                (false, _) => format!("{name} offers {} and {more} more", events.join(", ")),
            })
        };
        (0..self.places.len()).filter_map(told).collect()
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

    /// Computes the transitions of a state into the scratch memory, sorted by event and target, each once.
    /// An error is the fault of the state, or nothing if the state was not looked at because of a limit.
    pub fn moves<'s>(
        &self,
        scratch: &'s mut Scratch,
        state: &[u64],
    ) -> Result<impl Iterator<Item = (u32, &'s [u64])> + use<'s>, Option<u32>> {
        self.enter(&mut scratch.hand, state)?;
        let Scratch { hand, found, targets } = scratch;
        found.clear();
        targets.clear();
        let words = self.words;
        self.firing.each(&self.composition, &self.places, hand, state, |event, target| {
            found.push((event, (targets.len() / words) as u32));
            targets.extend_from_slice(target);
        });
        let at = move |i: u32| i as usize * words..(i as usize + 1) * words;
        if found.len() > 1 {
            found
                .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| targets[at(a.1)].cmp(&targets[at(b.1)])));
            found.dedup_by(|a, b| a.0 == b.0 && targets[at(a.1)] == targets[at(b.1)]);
        }
        let targets: &'s [u64] = targets;
        Ok(found.iter().map(move |(event, i)| (*event, &targets[at(*i)])))
    }

    /// Reads the local states of a state. An error is its fault, or nothing if it was not looked at.
    #[inline]
    fn enter(&self, hand: &mut Hand, state: &[u64]) -> Result<(), Option<u32>> {
        hand.local.clear();
        hand.local.extend(self.places.iter().map(|place| place.get(state)));
        match self.doubt(&hand.local) {
            Some(doubt) => Err(doubt.ok()),
            None => Ok(()),
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

    fn packed_bits(&self) -> Option<u32> {
        (self.words == 1).then_some(self.bits.max(1))
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
        // PERF: where no two transitions are the same, nothing is kept to be sorted.
        let done = if self.firing.distinct {
            self.enter(&mut scratch.hand, state).map(|()| {
                let Scratch { hand, .. } = scratch;
                self.firing.each(&self.composition, &self.places, hand, state, |event, target| {
                    sink.edge(self.channel(event), u64::from(event), target);
                });
            })
        } else {
            self.moves(scratch, state).map(|moves| {
                moves.for_each(|(event, target)| sink.edge(self.channel(event), u64::from(event), target));
            })
        };
        match done {
            Ok(()) => {}
            Err(Some(fault)) => {
                sink.finding(Finding { kind: FindingKind::WellDefinedness, property: fault, event: None });
            }
            Err(None) => sink.incomplete(TOO_LARGE),
        }
    }

    fn check(&self, _: &mut Scratch, _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}

    fn terminated(&self, _: &mut Scratch, state: &[u64]) -> bool {
        let ends = &self.composition.ends;
        !ends.is_empty() && ends.iter().all(|(slot, end)| self.places[*slot as usize].get(state) == *end)
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::WellDefinedness => self.faults[finding.property as usize].clone(),
            _ => "no event is possible".to_string(),
        }
    }

    fn reason(&self, _: u32) -> String {
        let many = "a component of the process has more states than the limit allows";
        self.limit.clone().unwrap_or_else(|| many.to_string())
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        let locals = (0..self.places.len()).filter(|s| self.composition.slots[*s].states() > 1);
        locals
            .map(|slot| {
                let known = self.composition.names[slot].is_some();
                let name = if known {
                    format!("component {}, {}", slot + 1, self.component(slot))
                } else {
                    self.component(slot)
                };
                (name, self.places[slot].get(state).to_string())
            })
            .collect()
    }
}
