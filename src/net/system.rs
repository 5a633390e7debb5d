//! A Petri net as a `System`: markings packed into words, firing, propositions over tokens.
//!
//! In: a net. Out: transitions between markings; the greatest numbers of tokens that were met.
//! Never here: the search, PNML.
//!
//! A place has as many bits as a few random runs of the net suggest. When a marking does not fit, the
//! search is of no use: nothing more is computed, `failure` says so, and whoever explores widens the
//! places concerned (`widen`) and begins again. The fingerprint of a marking does not depend on widths.

use super::Net;
use super::layout::{Field, Layout, bits};
use super::proposition::{self, Names, Proposition};
use super::relations::{self, Threshold};
use bombus_base::hash::HashMap;
use bombus_kernels::hash;
use bombus_system::{
    Diagnostic, EventId, Finding, FindingKind, GuardId, InstanceId, NO_INITIAL_STATE, PropId, Relations,
    Sink, Span, System,
};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Runs of the net from which the first widths are guessed, and the steps of each.
const RUNS: usize = 16;
const STEPS: usize = 2000;

/// After so many searches that found a place too narrow all places are widened at once.
const PATIENCE: u32 = 8;

/// The reason that a marking has more tokens in a place than can be counted.
const TOO_MANY: u32 = 0;

pub struct Marking {
    net: Net,
    names: Vec<String>,
    widths: Vec<u32>,
    layout: Layout,
    rules: Vec<Rule>,
    propositions: Vec<Proposition>,
    relations: Option<Reduction>,
    /// The greatest number of tokens in a place, and in all places of a marking.
    most_in_place: AtomicU64,
    most_in_marking: AtomicU64,
    /// Places that were too narrow, with the tokens that did not fit.
    narrow: Mutex<HashMap<usize, u64>>,
    overflowed: AtomicBool,
    /// How often places were widened.
    widened: u32,
}

struct Reduction {
    relations: Relations,
    thresholds: Vec<Threshold>,
}

/// A transition on packed markings.
struct Rule {
    takes: Vec<(Field, u64)>,
    /// Numbers that become smaller; the tokens are there if the transition is enabled.
    fewer: Vec<(Field, u64)>,
    /// Numbers that become greater, with their places.
    more: Vec<(Field, u64, usize)>,
}

impl Rule {
    #[inline]
    fn is_enabled(&self, state: &[u64]) -> bool {
        self.takes.iter().all(|(field, tokens)| field.get(state) >= *tokens)
    }
}

/// Scratch memory of one thread.
pub struct Worker {
    next: Vec<u64>,
    /// What this thread has told of the greatest numbers of tokens.
    most_in_place: u64,
    most_in_marking: u64,
}

impl Marking {
    pub fn new(net: Net) -> Marking {
        let widths = guess(&net);
        let names = net.transitions.iter().map(|t| t.id.clone()).collect();
        let mut marking = Marking {
            net,
            names,
            widths,
            layout: Layout::default(),
            rules: Vec::new(),
            propositions: Vec::new(),
            relations: None,
            most_in_place: AtomicU64::new(0),
            most_in_marking: AtomicU64::new(0),
            narrow: Mutex::default(),
            overflowed: AtomicBool::new(false),
            widened: 0,
        };
        marking.lay_out();
        marking
    }

    pub fn net(&self) -> &Net {
        &self.net
    }

    /// The bits of each place.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// Takes over the widths of a search that was saved; false if they cannot be those of this net.
    pub fn set_widths(&mut self, widths: &[u32]) -> bool {
        let fits = widths.len() == self.widths.len()
            && widths.iter().zip(&self.net.places).all(|(w, p)| (bits(p.tokens)..=64).contains(w));
        if fits && self.widths != widths {
            self.widths = widths.to_vec();
            self.widened += 1;
            self.lay_out();
        }
        fits
    }

    /// Widens the places that were too narrow in the last search; false if there was none.
    pub fn widen(&mut self) -> bool {
        let narrow = std::mem::take(&mut *self.narrow.lock());
        if narrow.is_empty() {
            return false;
        }
        self.widened += 1;
        for (place, width) in self.widths.iter_mut().enumerate() {
            if let Some(tokens) = narrow.get(&place) {
                *width = (*width * 2).max(bits(*tokens)).min(64);
            } else if self.widened > PATIENCE {
                *width = (*width * 2).min(64);
            }
        }
        self.overflowed.store(false, Ordering::Relaxed);
        self.lay_out();
        true
    }

    fn lay_out(&mut self) {
        self.layout = Layout::new(&self.widths);
        let field = |place: usize| self.layout.fields[place];
        self.rules = self
            .net
            .transitions
            .iter()
            .map(|t| {
                let changes = t.changes();
                // The differences of two numbers below 2^64 are below 2^64 in size.
                let size = |n: i128| n.unsigned_abs() as u64;
                Rule {
                    takes: t.takes.iter().map(|&(p, n)| (field(p), n)).collect(),
                    fewer: changes.iter().filter(|c| c.1 < 0).map(|&(p, n)| (field(p), size(n))).collect(),
                    more: changes.iter().filter(|c| c.1 > 0).map(|&(p, n)| (field(p), size(n), p)).collect(),
                }
            })
            .collect();
        self.most_in_place.store(0, Ordering::Relaxed);
        self.most_in_marking.store(0, Ordering::Relaxed);
    }

    /// Computes what a reduction may rely on, once all propositions are known.
    pub fn prepare_reduction(&mut self) {
        let (relations, thresholds) = relations::of(&self.net, &self.propositions);
        self.relations = Some(Reduction { relations, thresholds });
    }

    /// The greatest number of tokens in a place, and in a marking, of all that were met.
    pub fn most_tokens(&self) -> (u64, u64) {
        (self.most_in_place.load(Ordering::Relaxed), self.most_in_marking.load(Ordering::Relaxed))
    }

    fn tokens(&self, state: &[u64], place: usize) -> u64 {
        self.layout.fields[place].get(state)
    }

    /// Notes that a place is too narrow. With 64 bits there is nothing to widen.
    fn too_narrow(&self, place: usize, tokens: u64) {
        self.narrow.lock().insert(place, tokens);
        self.overflowed.store(true, Ordering::Relaxed);
    }

    fn fire(&self, rule: &Rule, state: &[u64], next: &mut [u64]) -> Fired {
        next.copy_from_slice(state);
        for (field, tokens) in &rule.fewer {
            field.set(next, field.get(next) - tokens);
        }
        for (field, tokens, place) in &rule.more {
            match field.get(next).checked_add(*tokens) {
                Some(sum) if sum <= field.most => field.set(next, sum),
                Some(sum) => return Fired::TooNarrow(*place, sum),
                None if field.most == u64::MAX => return Fired::TooMany,
                None => return Fired::TooNarrow(*place, u64::MAX),
            }
        }
        Fired::Fits
    }
}

enum Fired {
    Fits,
    TooNarrow(usize, u64),
    TooMany,
}

/// Widths that suffice for a few random runs: one bit where a place never had more than one token, else
/// one bit more than was needed.
fn guess(net: &Net) -> Vec<u32> {
    let mut most: Vec<u64> = net.places.iter().map(|p| p.tokens).collect();
    let changes: Vec<Vec<(usize, i128)>> = net.transitions.iter().map(|t| t.changes()).collect();
    let mut chance = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..RUNS {
        let mut now: Vec<u64> = net.places.iter().map(|p| p.tokens).collect();
        for _ in 0..STEPS {
            let count = net.transitions.len();
            if count == 0 {
                break;
            }
            chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let first = (chance >> 33) as usize % count;
            let enabled = |t: &usize| net.transitions[*t].takes.iter().all(|&(p, n)| now[p] >= n);
            let Some(t) = (first..count).chain(0..first).find(enabled) else { break };
            for &(p, change) in &changes[t] {
                now[p] = u64::try_from(i128::from(now[p]) + change).unwrap_or(u64::MAX);
                most[p] = most[p].max(now[p]);
            }
        }
    }
    most.iter().map(|&n| if n <= 1 { 1 } else { (bits(n) + 1).min(64) }).collect()
}

impl System for Marking {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker { next: vec![0; self.layout.words], most_in_place: 0, most_in_marking: 0 }
    }

    fn words(&self) -> usize {
        self.layout.words
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn initial(&self, worker: &mut Worker, sink: &mut dyn Sink) {
        let state = &mut worker.next;
        state.fill(0);
        for (field, place) in self.layout.fields.iter().zip(&self.net.places) {
            field.set(state, place.tokens);
        }
        sink.edge(EventId(0), 0, state);
    }

    fn successors(&self, worker: &mut Worker, state: &[u64], sink: &mut dyn Sink) {
        if self.overflowed.load(Ordering::Relaxed) {
            return;
        }
        for (t, rule) in self.rules.iter().enumerate() {
            if !rule.is_enabled(state) {
                continue;
            }
            match self.fire(rule, state, &mut worker.next) {
                Fired::Fits => sink.edge(EventId(t as u32), 0, &worker.next),
                Fired::TooNarrow(place, tokens) => self.too_narrow(place, tokens),
                Fired::TooMany => sink.incomplete(TOO_MANY),
            }
        }
    }

    /// Nothing is wrong with a marking; its tokens are counted.
    fn check(&self, worker: &mut Worker, state: &[u64], _: Option<EventId>, _: &mut dyn Sink) {
        let (mut most, mut sum) = (0, 0u64);
        for field in &self.layout.fields {
            let tokens = field.get(state);
            most = most.max(tokens);
            sum = sum.saturating_add(tokens);
        }
        if most > worker.most_in_place {
            worker.most_in_place = most;
            self.most_in_place.fetch_max(most, Ordering::Relaxed);
        }
        if sum > worker.most_in_marking {
            worker.most_in_marking = sum;
            self.most_in_marking.fetch_max(sum, Ordering::Relaxed);
        }
    }

    /// Until a place was widened the widths are a function of the net.
    fn fingerprint(&self, _: &mut Worker, state: &[u64]) -> Option<u128> {
        if self.widened == 0 {
            return None;
        }
        let tokens: Vec<u64> = self.layout.fields.iter().map(|field| field.get(state)).collect();
        Some(hash::words(&tokens))
    }

    fn relations(&self) -> Option<&Relations> {
        self.relations.as_ref().map(|r| &r.relations)
    }

    fn instance(&self, event: EventId, _: u64) -> Option<InstanceId> {
        Some(InstanceId(event.0))
    }

    fn guard(&self, _: &mut Worker, state: &[u64], guard: GuardId) -> bool {
        let reduction = self.relations.as_ref().expect("guards are asked for by a reduction");
        let Threshold { place, tokens } = reduction.thresholds[guard.0 as usize];
        self.tokens(state, place) >= tokens
    }

    fn save(&self, _: Option<&[&[u64]]>, out: &mut Vec<u8>) -> Result<(), String> {
        if self.overflowed.load(Ordering::Relaxed) {
            return Err("a place is too narrow, the search begins again".into());
        }
        let (place, marking) = self.most_tokens();
        out.extend_from_slice(&place.to_le_bytes());
        out.extend_from_slice(&marking.to_le_bytes());
        Ok(())
    }

    fn restore(&self, bytes: &[u8]) -> Result<(), String> {
        let number =
            |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
        match (number(0), number(8), bytes.len()) {
            (Some(place), Some(marking), 16) => {
                self.most_in_place.store(place, Ordering::Relaxed);
                self.most_in_marking.store(marking, Ordering::Relaxed);
                Ok(())
            }
            _ => Err("it holds no figures of a net".into()),
        }
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let read = proposition::read(text, at, &Called(&self.net))?;
        let known = self.propositions.iter().position(|p| *p == read);
        let id = known.unwrap_or_else(|| {
            self.propositions.push(read);
            self.propositions.len() - 1
        });
        if self.relations.is_some() {
            self.prepare_reduction();
        }
        Ok(PropId(id as u32))
    }

    fn holds(&self, _: &mut Worker, state: &[u64], proposition: PropId) -> Option<bool> {
        let proposition = &self.propositions[proposition.0 as usize];
        Some(proposition.holds(&|place| self.tokens(state, place), &|t| self.rules[t].is_enabled(state)))
    }

    fn failure(&self) -> Option<String> {
        self.overflowed.load(Ordering::Relaxed).then(|| "a place has more tokens than bits".into())
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::Properties if finding.property == NO_INITIAL_STATE => "no initial marking".into(),
            FindingKind::Deadlock => "no transition is enabled".into(),
            kind => kind.word().into(),
        }
    }

    fn reason(&self, _: u32) -> String {
        "a place may have 2^64 tokens or more, which cannot be counted".into()
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        let places = self.net.places.iter().enumerate();
        places.map(|(i, p)| (p.id.clone(), self.tokens(state, i).to_string())).collect()
    }
}

/// Places and transitions are called by their identifiers, or by their names where these are unique.
struct Called<'a>(&'a Net);

impl Names for Called<'_> {
    fn noun(&self) -> &str {
        "place"
    }

    fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let all = || self.0.places.iter().map(|p| (p.id.as_str(), p.name.as_deref()));
        called(all, name, "places")
    }

    fn event(&self, name: &str) -> Result<Option<usize>, String> {
        let all = || self.0.transitions.iter().map(|t| (t.id.as_str(), t.name.as_deref()));
        called(all, name, "transitions")
    }
}

fn called<'a, I: Iterator<Item = (&'a str, Option<&'a str>)>>(
    all: impl Fn() -> I,
    wanted: &str,
    noun: &str,
) -> Result<Option<usize>, String> {
    if let Some(at) = all().position(|(id, _)| id == wanted) {
        return Ok(Some(at));
    }
    let mut named = all().enumerate().filter(|(_, (_, name))| *name == Some(wanted)).map(|(at, _)| at);
    match (named.next(), named.next()) {
        (Some(_), Some(_)) => {
            Err(format!("several {noun} have the name `{wanted}`: use the identifier of one"))
        }
        (found, _) => Ok(found),
    }
}
