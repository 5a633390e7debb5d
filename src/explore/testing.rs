//! Hand-written systems for tests: families with closed forms, and small tables of states.
//!
//! Never here: assertions.

use bombus_system::{EventId, Finding, FindingKind, Sink, System};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Families whose counts are known in closed form.
#[derive(Clone, Copy)]
pub enum Family {
    /// `k` counters of `n` values, each step raises one. Cyclic ones wrap around.
    Grid { k: u32, n: u64, cyclic: bool },
    /// 0 → 1 → … → n - 1.
    Path(u64),
    /// A centre with n rays that lead nowhere.
    Star(u64),
    /// A complete binary tree with n levels.
    Tree(u32),
}

/// A family, packed into `words` words (the counters of a grid one per word if there are several),
/// with a state in which something happens.
pub struct Toy {
    pub family: Family,
    pub words: usize,
    /// States (numbered as in `number`) that break the invariant.
    pub bad: Vec<u64>,
    pub panics_at: Option<u64>,
    pub incomplete_at: Option<u64>,
    events: Vec<String>,
}

impl Toy {
    pub fn new(family: Family) -> Toy {
        let events = match family {
            Family::Grid { k, .. } => k,
            Family::Tree(_) => 2,
            Family::Path(_) | Family::Star(_) => 1,
        };
        Toy {
            family,
            words: 1,
            bad: Vec::new(),
            panics_at: None,
            incomplete_at: None,
            events: (0..events).map(|e| format!("e{e}")).collect(),
        }
    }

    pub fn wide(family: Family, words: usize) -> Toy {
        Toy { words, ..Toy::new(family) }
    }

    /// Spreads a number over the words: base 16 digits from the last word to the first, the rest
    /// into the first.
    fn pack(&self, mut number: u64) -> Vec<u64> {
        let mut words = vec![0; self.words];
        for word in words[1..].iter_mut().rev() {
            *word = number % 16;
            number /= 16;
        }
        words[0] = number;
        words
    }

    fn number(&self, state: &[u64]) -> u64 {
        state.iter().skip(1).fold(state[0], |n, digit| n * 16 + digit)
    }

    fn next(&self, s: u64, mut to: impl FnMut(u32, u64)) {
        match self.family {
            Family::Grid { k, n, cyclic } => {
                let mut unit = 1;
                for event in 0..k {
                    let digit = s / unit % n;
                    if digit + 1 < n {
                        to(event, s + unit);
                    } else if cyclic {
                        to(event, s - digit * unit);
                    }
                    unit *= n;
                }
            }
            Family::Path(n) => {
                if s + 1 < n {
                    to(0, s + 1);
                }
            }
            Family::Star(n) => {
                if s == 0 {
                    (1..=n).for_each(|ray| to(0, ray));
                }
            }
            Family::Tree(levels) => {
                if s + 1 < 1 << (levels - 1) {
                    to(0, 2 * s + 1);
                    to(1, 2 * s + 2);
                }
            }
        }
    }
}

impl System for Toy {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        self.words
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &self.pack(0));
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        let s = self.number(state);
        if self.panics_at == Some(s) {
            panic!("state {s} is poisoned");
        }
        if self.incomplete_at == Some(s) {
            sink.incomplete(7);
        }
        self.next(s, |event, t| sink.edge(EventId(event), t, &self.pack(t)));
    }

    fn check(&self, _: &mut (), state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        if self.bad.contains(&self.number(state)) {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }
}

/// A system given by tables.
#[derive(Default)]
pub struct Table {
    pub initial: Vec<u64>,
    /// (source, event, label, target)
    pub edges: Vec<(u64, u32, u64, u64)>,
    /// Findings by state: by checking it, and by expanding it.
    pub checks: BTreeMap<u64, Vec<Finding>>,
    pub steps: BTreeMap<u64, Vec<Finding>>,
    pub undefined: Vec<(u64, u32)>,
    pub out_of_scope: Vec<u64>,
    pub events: Vec<String>,
    /// How often a check was asked for everything.
    pub full_checks: AtomicU64,
}

impl Table {
    pub fn new(initial: &[u64], edges: &[(u64, u32, u64)]) -> Table {
        let events = edges.iter().map(|e| e.1 + 1).max().unwrap_or(1);
        Table {
            initial: initial.to_vec(),
            edges: edges.iter().map(|&(s, e, t)| (s, e, t, t)).collect(),
            events: (0..events).map(|e| format!("e{e}")).collect(),
            ..Table::default()
        }
    }

    pub fn violating(mut self, state: u64, kind: FindingKind) -> Table {
        self.checks.entry(state).or_default().push(Finding { kind, property: 1, event: None });
        self
    }

    pub fn failing(mut self, state: u64, event: u32, kind: FindingKind) -> Table {
        let finding = Finding { kind, property: 2, event: Some(EventId(event)) };
        self.steps.entry(state).or_default().push(finding);
        self
    }
}

impl System for Table {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        self.initial.iter().for_each(|s| sink.edge(EventId(0), *s, &[*s]));
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        for (_, event, label, target) in self.edges.iter().filter(|e| e.0 == state[0]) {
            sink.edge(EventId(*event), *label, &[*target]);
        }
        for finding in self.steps.get(&state[0]).into_iter().flatten() {
            sink.finding(finding.clone());
        }
        for (_, event) in self.undefined.iter().filter(|u| u.0 == state[0]) {
            sink.undefined_guard(EventId(*event));
        }
    }

    fn check(&self, _: &mut (), state: &[u64], changed_by: Option<EventId>, sink: &mut dyn Sink) {
        if changed_by.is_none() {
            self.full_checks.fetch_add(1, Ordering::Relaxed);
        }
        for finding in self.checks.get(&state[0]).into_iter().flatten() {
            sink.finding(finding.clone());
        }
    }

    fn in_scope(&self, _: &mut (), state: &[u64], _: &mut dyn Sink) -> bool {
        !self.out_of_scope.contains(&state[0])
    }
}
