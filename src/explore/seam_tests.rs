//! What a system may say beside transitions and findings: proper ends, failures, states ahead.

use super::{Options, explore};
use bombus_base::budget::Budget;
use bombus_system::{EventId, FindingKind, Sink, Span, System};
use std::sync::Mutex;

/// 0 → 1 → … → `last`, which is a proper end or not.
struct Chain {
    last: u64,
    ends_properly: bool,
    fails_at: Option<u64>,
    foreseen: Mutex<Vec<u64>>,
    names: Vec<String>,
}

impl Chain {
    fn new(last: u64) -> Chain {
        let names = vec!["step".to_string()];
        Chain { last, ends_properly: false, fails_at: None, foreseen: Mutex::default(), names }
    }
}

impl System for Chain {
    type Worker = Option<u64>;

    fn worker(&self) -> Option<u64> {
        None
    }

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn initial(&self, _: &mut Option<u64>, sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0]);
    }

    fn foresee(&self, _: &mut Option<u64>, states: &[u64]) {
        self.foreseen.lock().unwrap().extend_from_slice(states);
    }

    fn successors(&self, worker: &mut Option<u64>, state: &[u64], sink: &mut dyn Sink) {
        *worker = Some(state[0]);
        if state[0] < self.last {
            sink.edge(EventId(0), 0, &[state[0] + 1]);
        }
    }

    fn terminated(&self, worker: &mut Option<u64>, state: &[u64]) -> bool {
        assert_eq!(*worker, Some(state[0]), "the successors of this state were computed last");
        self.ends_properly
    }

    fn failure(&self) -> Option<String> {
        self.fails_at.map(|n| format!("state {n} has no answer"))
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        vec![("n".into(), state[0].to_string())]
    }
}

#[test]
fn a_state_that_came_to_its_proper_end_is_no_deadlock() {
    for ends_properly in [false, true] {
        let chain = Chain { ends_properly, ..Chain::new(5) };
        let found = explore(&chain, &Options::default(), &Budget::unlimited()).unwrap();
        let deadlocks = u64::from(!ends_properly);
        assert_eq!((found.states, found.deadlocks), (6, deadlocks));
        assert_eq!(found.counts.of(FindingKind::Deadlock), deadlocks);
        assert_eq!(found.is_verified(), ends_properly);
    }
}

#[test]
fn a_system_that_failed_has_no_outcome() {
    let chain = Chain { fails_at: Some(3), ends_properly: true, ..Chain::new(5) };
    let failed = explore(&chain, &Options::default(), &Budget::unlimited());
    assert_eq!(failed.err().map(|e| e.0).as_deref(), Some("state 3 has no answer"));
}

#[test]
fn every_state_is_foreseen_before_its_successors_are_asked_for() {
    let chain = Chain { ends_properly: true, ..Chain::new(100) };
    explore(&chain, &Options::default(), &Budget::unlimited()).unwrap();
    assert_eq!(*chain.foreseen.lock().unwrap(), (0..=100).collect::<Vec<_>>());
}

#[test]
fn a_system_without_propositions_refuses_them() {
    let mut chain = Chain::new(1);
    assert!(chain.proposition("n = 1", Span::default()).is_err());
}
