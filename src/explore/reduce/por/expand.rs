//! A state is expanded as far as the reduction asks: its transitions are held, sorted by instance, and
//! the chosen ones are followed.
//!
//! In: a state. Out: edges to the worker's core, vertices and edges for the proviso, figures.
//! Never here: the choice itself, the search.

use super::proviso::{Round, Vertex};
use super::{Chooser, Common, Figures, Preserve, Proviso};
use crate::sink::{Notes, Source};
use crate::worker::Worker;
use bombus_kernels::memory::Meter;
use bombus_system::{EventId, Finding, Sink, System};

/// What a worker of a reduced search needs.
pub(crate) struct Reducer<'a> {
    common: &'a Common<'a>,
    chooser: Chooser<'a>,
    held: Held,
    enabled: Vec<u64>,
    chosen: Vec<u64>,
    part: Round,
    pub figures: Figures,
    /// What was told of the figures before.
    told: (u64, u64),
}

/// The transitions of one state, with what was said beside them.
#[derive(Default)]
struct Held {
    edges: Vec<HeldEdge>,
    targets: Vec<u64>,
    notes: Notes,
}

#[derive(Clone, Copy)]
struct HeldEdge {
    event: EventId,
    label: u64,
    instance: u32,
}

impl Sink for Held {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push(HeldEdge { event, label, instance: u32::MAX });
        self.targets.extend_from_slice(target);
    }

    fn finding(&mut self, finding: Finding) {
        self.notes.finding(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.notes.incomplete(reason);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.notes.undefined_guard(event);
    }
}

impl Held {
    fn clear(&mut self) {
        self.edges.clear();
        self.targets.clear();
        self.notes.clear();
    }
}

impl<'a> Reducer<'a> {
    pub fn new(common: &'a Common<'a>) -> Reducer<'a> {
        let width = common.relations.width();
        Reducer {
            common,
            chooser: Chooser::new(common.relations, common.por.method, common.por.preserve),
            held: Held::default(),
            enabled: vec![0; width],
            chosen: vec![0; width],
            part: Round::default(),
            figures: Figures::default(),
            told: (0, 0),
        }
    }

    /// Goes on from what was counted before, all of which was handed in.
    pub fn go_on_from(&mut self, figures: Figures) {
        self.told = (figures.looked_at(), figures.reduced);
        self.figures = figures;
    }

    /// Whether a state is to be looked at: not any more once the reduction was given up, unless the
    /// proviso asks for what was left out before.
    pub fn looks_at(&self, again: bool) -> bool {
        again || !self.common.has_given_up()
    }

    /// Gives what was gathered during a level to the common store; `watched` are edges of reduced
    /// states. False if there is no memory for it.
    pub fn hand_in(&mut self, watched: &mut Vec<(u32, u32)>, meter: &Meter) -> bool {
        self.part.edges.append(watched);
        if meter.claim(self.part.bytes()).is_err() {
            return false;
        }
        let now = (self.figures.looked_at(), self.figures.reduced);
        let (looked_at, reduced) = (now.0.wrapping_sub(self.told.0), now.1.wrapping_sub(self.told.1));
        self.told = now;
        self.common.hand_in(&mut self.part, looked_at, reduced);
        true
    }

    /// Names the instance of each held transition and marks it as enabled; false if one is unknown.
    fn sort_out<S: System>(&mut self, system: &S) -> bool {
        self.enabled.fill(0);
        for edge in &mut self.held.edges {
            let Some(instance) = system.instance(edge.event, edge.label) else { return false };
            edge.instance = instance.0;
            self.enabled[instance.0 as usize / 64] |= 1 << (instance.0 % 64);
        }
        self.held.notes.findings.is_empty() && self.held.notes.incomplete.is_empty()
    }
}

/// Which of the held transitions to follow.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    Chosen,
    LeftOut,
}

impl<S: System> Worker<'_, S> {
    /// Expands a state as far as the reduction asks; `again` if the proviso wants what was left out
    /// the first time. Gives the number of its transitions; what was noted is in the core's notes.
    pub(crate) fn expand_reduced(&mut self, state: &[u64], again: bool) -> usize {
        let Some(mut reducer) = self.reducer.take() else { return 0 };
        let total = self.reduce(&mut reducer, state, again);
        self.reducer = Some(reducer);
        total
    }

    fn reduce(&mut self, reducer: &mut Reducer<'_>, state: &[u64], again: bool) -> usize {
        let system = self.shared.system;
        reducer.held.clear();
        system.successors(&mut self.scratch, state, &mut reducer.held);
        let total = reducer.held.edges.len();
        let known = reducer.sort_out(system) && !self.core.source.marks.loose;
        if !again {
            std::mem::swap(&mut self.core.notes, &mut reducer.held.notes);
        }
        let enabled = super::stubborn::size(&reducer.enabled);
        if !known || enabled < 2 {
            // A state that is expanded again was reduced, so it is not one of these.
            let count = if known { &mut reducer.figures.single } else { &mut reducer.figures.unknown };
            *count += 1;
            self.follow_part(reducer, Part::All, false);
            return total;
        }
        let scratch = &mut self.scratch;
        let chosen = reducer.chooser.choose(&reducer.enabled, &mut |g| system.guard(scratch, state, g));
        let Some(chosen) = chosen else {
            reducer.figures.no_smaller += 1;
            self.follow_part(reducer, Part::All, false);
            return total;
        };
        reducer.chosen.copy_from_slice(chosen);
        if again {
            reducer.figures.reduced = reducer.figures.reduced.wrapping_sub(1);
            reducer.figures.by_proviso += 1;
            let more = self.follow_part(reducer, Part::LeftOut, false);
            reducer.figures.left_out = reducer.figures.left_out.wrapping_sub(more);
            return total;
        }
        let common = reducer.common;
        let followed = self.follow_part(reducer, Part::Chosen, common.needs_proviso());
        let left_out = total as u64 - followed;
        reducer.figures.reduced = reducer.figures.reduced.wrapping_add(1);
        reducer.figures.left_out = reducer.figures.left_out.wrapping_add(left_out);
        let Source { id: Some(id), print, marks, .. } = self.core.source else { return total };
        if common.keeps_edges() {
            let missing = enabled - super::stubborn::size(&reducer.chosen);
            reducer.part.vertices.push(Vertex { id, print, missing, flawed: marks.flawed });
        } else if common.needs_proviso() && !self.leads_on(common) {
            reducer.figures.reduced = reducer.figures.reduced.wrapping_sub(1);
            reducer.figures.by_proviso += 1;
            reducer.figures.left_out = reducer.figures.left_out.wrapping_sub(left_out);
            self.follow_part(reducer, Part::LeftOut, false);
        }
        total
    }

    /// The level rule: whether the watched edges of the state lead to the level being filled, all of
    /// them (paths) or one (states).
    fn leads_on(&mut self, common: &Common<'_>) -> bool {
        debug_assert_eq!(common.por.proviso, Proviso::Level);
        self.core.flush();
        let filling = self.core.seat.level.map_or(0, |level| level.filling);
        let mut targets = self.core.watched.drain(..).map(|(_, target)| target >= filling);
        match common.por.preserve {
            Preserve::Paths => targets.all(|new| new),
            Preserve::Deadlocks | Preserve::States => targets.any(|new| new),
        }
    }

    /// Follows some of the held transitions, and says how many. `watch` if the proviso wants to know
    /// where they lead.
    fn follow_part(&mut self, reducer: &Reducer<'_>, part: Part, watch: bool) -> u64 {
        let words = self.shared.words;
        let relations = reducer.common.relations;
        let strict = reducer.common.por.preserve == Preserve::States;
        let is_chosen =
            |edge: &HeldEdge| reducer.chosen[edge.instance as usize / 64] >> (edge.instance % 64) & 1 != 0;
        if part == Part::LeftOut {
            // The events of the chosen ones were counted when the state was expanded first.
            for edge in reducer.held.edges.iter().filter(|edge| is_chosen(edge)) {
                self.core.covered.of(edge.event.0 as usize).last = self.core.stamp;
            }
        }
        let mut followed = 0;
        for (at, edge) in reducer.held.edges.iter().enumerate() {
            let instance = edge.instance as usize;
            if part != Part::All && is_chosen(edge) != (part == Part::Chosen) {
                continue;
            }
            followed += 1;
            // A step that may repair a bad state is no way to a full one.
            self.core.watch = watch && !(strict && relations.is_visible(instance));
            self.core.edge(edge.event, edge.label, &reducer.held.targets[at * words..(at + 1) * words]);
        }
        self.core.watch = false;
        followed
    }
}
