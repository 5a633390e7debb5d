//! Reduced searches that are saved at every moment and go on from there.

use super::super::{Method, Por, Preserve, Proviso};
use super::random::{Fault, Guarded};
use super::{alike, search};
use crate::checkpoint_tests::saved_anywhere;
use crate::{Keeper, Options, explore, resume};
use bombus_base::budget::Budget;
use parking_lot::Mutex;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

fn options(por: Por) -> Options {
    Options {
        workers: 2,
        por: Some(por),
        keep_going: true,
        check_deadlock: false,
        slots: 64,
        stack: 1 << 20,
        ..Options::default()
    }
}

#[test]
fn a_reduced_search_saved_at_any_moment_ends_as_if_it_had_not_been() {
    let (mut savings, mut with_rounds) = (0, 0);
    for seed in 0..240u64 {
        let preserve = [Preserve::Deadlocks, Preserve::States, Preserve::Paths][seed as usize % 3];
        let proviso = if seed % 4 < 3 { Proviso::Topological } else { Proviso::Level };
        let por = Por { method: Method::Stubborn, preserve, proviso };
        let how = options(por);
        // Edges between orbits are not saved.
        let record_edges = seed.is_multiple_of(5);
        let plain = Guarded::random(seed, preserve, Fault::None);
        savings += saved_anywhere(&plain, &Options { record_edges, ..how.clone() }, 1 + seed % 3);
        savings += saved_anywhere(&alike::random_system(seed, preserve, Fault::None), &how, 1);
        with_rounds += u64::from(search(&plain, Some(por), 1, true).por.is_some_and(|f| f.rounds > 1));
    }
    assert!(savings > 1000 && with_rounds > 20, "{savings} savings, {with_rounds} with several rounds");
}

/// Keeps the last state of a search.
#[derive(Debug, Default)]
struct Last(Mutex<Vec<u8>>);

impl Keeper for Last {
    fn is_due(&self, _: Duration) -> bool {
        true
    }

    fn keep(&self, _: &dyn Fn() -> Duration, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("memory takes everything");
        *self.0.lock() = bytes;
    }
}

#[test]
fn a_reduced_search_goes_on_only_with_the_same_relations() {
    let por = Por { method: Method::Stubborn, preserve: Preserve::States, proviso: Proviso::Topological };
    let mut system = Guarded::random(2, Preserve::States, Fault::None);
    let last = Arc::new(Last::default());
    let saving = Options { keeper: Some(last.clone()), ..options(por) };
    explore(&system, &saving, &Budget::unlimited()).unwrap();
    let bytes = last.0.lock().clone();
    let try_it = |system: &Guarded, how: &Options| resume(system, how, &Budget::unlimited(), &mut &bytes[..]);
    assert!(try_it(&system, &options(por)).is_ok());
    assert!(try_it(&system, &Options { por: None, ..options(por) }).is_err());
    assert!(try_it(&system, &options(Por { proviso: Proviso::Level, ..por })).is_err());
    assert!(try_it(&system, &options(Por { preserve: Preserve::Paths, ..por })).is_err());
    for cut in 0..bytes.len() {
        assert!(resume(&system, &options(por), &Budget::unlimited(), &mut &bytes[..cut]).is_err());
    }
    // The set chosen in a state would be another one.
    let n = system.relations.len() - 1;
    if system.relations.dependent.contains(0, n) {
        system.relations.dependent.remove(0, n);
    } else {
        system.relations.dependent.insert(0, n);
    }
    assert!(try_it(&system, &options(por)).is_err());
}
