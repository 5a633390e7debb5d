//! The transitions of a state: each event by machine code or register code, and where these give up, on values.
//!
//! In: a state in the frame of a worker. Out: edges and findings, those of one event at once, so that two ways never mix.
//! Never here: how values are evaluated (`fallback`).

use super::compile::Compiled;
use super::exec::{self, Exit};
use super::messages::Class;
use super::native::Made;
use super::system::{Program, Worker};
use super::tray;
use bombus_system::{EventId, Finding, FindingKind, Sink};

/// What is said of a guard that code finds undefined when the interpreter has no words for it.
const UNDEFINED_GUARD: &str = "the guard is undefined";

/// A sink that knows whether it was told of anything but edges.
struct Hearing<'s> {
    sink: &'s mut dyn Sink,
    told: bool,
}

impl Sink for Hearing<'_> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.sink.edge(event, label, target);
    }

    fn finding(&mut self, finding: Finding) {
        self.told = true;
        self.sink.finding(finding);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.told = true;
        self.sink.undefined_guard(event);
    }

    fn incomplete(&mut self, reason: u32) {
        self.told = true;
        self.sink.incomplete(reason);
    }
}

impl<'m> Program<'m> {
    /// The transitions of one event; the frame holds the state.
    pub(super) fn event_successors(
        &self,
        worker: &mut Worker<'m>,
        compiled: &Compiled,
        state: &[u64],
        event: EventId,
        sink: &mut dyn Sink,
    ) {
        if let Ok(code) = &compiled.events[event.0 as usize] {
            if compiled.code.plan.is_some() {
                tray::clear(&mut worker.frame.regs);
            }
            let (frame, mut host) = self.running(worker, compiled, state, Some(event.0));
            let exit = exec::run(&compiled.code, code.entry, frame, &mut host);
            let undefined = !host.undefined.is_empty();
            // The interpreter has the words for what is undefined.
            let in_words = exit == Exit::Done && undefined && self.options.strict_guards;
            if exit == Exit::Done && !in_words {
                if undefined {
                    sink.undefined_guard(event);
                }
                self.deliver(worker, compiled, sink);
                return;
            }
            if in_words {
                let mut heard = Hearing { sink, told: false };
                self.exact_event(worker, state, event, &mut heard);
                if !heard.told {
                    let property = self.messages.number(UNDEFINED_GUARD.into(), Class::Finding);
                    let kind = FindingKind::WellDefinedness;
                    sink.finding(Finding { kind, property, event: Some(event) });
                }
                return;
            }
        }
        if self.remembered(worker, state, event, sink) {
            return;
        }
        self.exact_event(worker, state, event, sink);
    }

    /// All events of the state in the tray, by machine code. An event that machine code does not do to its end is done
    /// by itself, and the round goes on behind it.
    pub(super) fn rounds(
        &self,
        worker: &mut Worker<'m>,
        compiled: &Compiled,
        made: &Made,
        state: &[u64],
        sink: &mut dyn Sink,
    ) {
        let mut first = 0;
        while first < self.names.len() {
            let (frame, mut host) = self.running(worker, compiled, state, None);
            let exit = made.round(&compiled.code, first, &mut frame.regs, &mut host);
            let mut undefined = std::mem::take(&mut host.undefined);
            let broken = (exit != Some(Exit::Done)).then(|| tray::event(&frame.regs));
            undefined.retain(|event| Some(*event) != broken);
            undefined.iter().for_each(|event| sink.undefined_guard(EventId(*event)));
            let Some(broken) = broken else { return self.deliver(worker, compiled, sink) };
            // What it left behind before it broke off goes.
            worker.edges.gather(&mut worker.frame.regs);
            let each = self.layout.words + tray::HEAD;
            let done = worker.edges.0.chunks_exact(each).take_while(|t| t[0] < u64::from(broken)).count();
            worker.edges.0.truncate(done * each);
            self.deliver(worker, compiled, sink);
            self.event_successors(worker, compiled, state, EventId(broken), sink);
            tray::clear(&mut worker.frame.regs);
            first = broken as usize + 1;
        }
    }

    /// Hands on what was held back, each distinct transition once.
    #[inline]
    fn deliver(&self, worker: &mut Worker<'m>, compiled: &Compiled, sink: &mut dyn Sink) {
        let Worker { edges, frame, .. } = worker;
        let in_tray = compiled.code.plan.is_some();
        let all = match (in_tray, edges.0.is_empty()) {
            (true, true) => tray::content(&frame.regs),
            (true, false) => {
                edges.gather(&mut frame.regs);
                &edges.0[..]
            }
            (false, _) => &edges.0[..],
        };
        if compiled.may_repeat {
            return self.deliver_distinct(compiled, all, sink);
        }
        if !all.is_empty() {
            sink.edges(all, self.layout.words);
        }
    }

    /// The same where an event may emit a transition twice.
    fn deliver_distinct(&self, compiled: &Compiled, all: &[u64], sink: &mut dyn Sink) {
        let words = self.layout.words;
        let each = words + tray::HEAD;
        let mut rest = all;
        while let Some(&event) = rest.first() {
            let same = rest.chunks_exact(each).take_while(|t| t[0] == event).count();
            let (group, behind) = rest.split_at(same * each);
            rest = behind;
            let repeats = compiled.events[event as usize].as_ref().is_ok_and(|code| code.may_repeat);
            if !repeats || same < 2 {
                sink.edges(group, words);
                continue;
            }
            let mut group: Vec<&[u64]> = group.chunks_exact(each).collect();
            group.sort_unstable();
            group.dedup();
            group.iter().for_each(|t| sink.edge(EventId(event as u32), t[1], &t[tray::HEAD..]));
        }
    }
}
