//! Searches on several machines: nothing that a search tells depends on how many there are.

use super::in_process::InProcess;
use super::peers::Mutant;
use super::testing::{Family, Table, Toy};
use super::*;
use bombus_graph::{Graph, NodeId};
use bombus_system::{EventId, Sink};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

fn options(workers: usize) -> Options {
    Options { workers, stack: 1 << 20, ..Options::default() }
}

/// Everything that must not depend on the machines, as text.
fn essence(outcome: &Outcome) -> String {
    format!(
        "{} {} {} {:?} {:?} {} {:?} {:?} {:x} {:?} {} {:?} {} {} {}",
        outcome.states,
        outcome.transitions,
        outcome.initial,
        outcome.depth,
        outcome.events,
        outcome.deadlocks,
        outcome.counts,
        outcome.findings,
        outcome.digest,
        outcome.reasons,
        outcome.exhausted,
        outcome.undefined_guards,
        outcome.initial_transitions,
        outcome.out_of_scope,
        outcome.all_initial
    )
}

type Results = Vec<Result<Outcome, InternalError>>;

/// Runs the search on all machines of a group.
fn on_machines<S: System>(
    system: &S,
    options: &Options,
    budget: &Budget,
    group: &[Arc<InProcess>],
) -> Results {
    std::thread::scope(|scope| {
        let machines: Vec<_> = group
            .iter()
            .map(|one| {
                let peers: Arc<dyn Peers> = one.clone();
                let options = Options { peers: Some(peers), progress: Arc::default(), ..options.clone() };
                scope.spawn(move || explore(system, &options, budget))
            })
            .collect();
        machines.into_iter().map(|machine| machine.join().expect("no panic")).collect()
    })
}

/// The search is the same on 1, 2, 3 and 7 machines as on one that knows of no others.
fn agree<S: System>(system: &S, options: &Options) {
    let budget = Budget::unlimited();
    let alone = essence(&explore(system, options, &budget).expect("no internal error"));
    for machines in [1, 2, 3, 7] {
        for window in [1, 8] {
            let group = InProcess::group(&vec![1; machines], window);
            for outcome in on_machines(system, options, &budget, &group) {
                let outcome = outcome.expect("no internal error");
                assert_eq!(essence(&outcome), alone, "{machines} machines, {window} packets");
                assert_eq!(outcome.machines.len(), machines);
                assert_eq!(outcome.machines.iter().map(|m| m.states).sum::<u64>(), outcome.states);
            }
        }
    }
}

#[test]
fn a_complete_search_is_the_same_on_any_number_of_machines() {
    let families = [
        (Family::Grid { k: 3, n: 9, cyclic: false }, 3),
        (Family::Grid { k: 4, n: 5, cyclic: true }, 7),
        (Family::Star(2_000), 1),
        (Family::Tree(11), 1),
        (Family::Path(300), 1),
    ];
    for (family, words) in families {
        for store in [Mode::Exact, Mode::Hash] {
            for workers in [1, 3] {
                agree(&Toy::wide(family, words), &Options { store, keep_going: true, ..options(workers) });
            }
        }
    }
}

#[test]
fn the_trace_is_the_same_on_any_number_of_machines() {
    // Many shortest paths lead to each of these states; the least predecessor decides.
    let mut toy = Toy::wide(Family::Grid { k: 3, n: 8, cyclic: true }, 3);
    toy.bad = vec![5 + 8 * 5 + 64 * 5, 6 + 8 * 4 + 64 * 5, 7 + 8 * 7];
    for keep_going in [false, true] {
        for store in [Mode::Exact, Mode::Hash] {
            agree(&toy, &Options { keep_going, store, check_deadlock: false, ..options(2) });
        }
    }
}

#[test]
fn states_in_the_slots_of_the_table_have_the_same_traces_on_any_number_of_machines() {
    let mut toy = Toy::new(Family::Grid { k: 3, n: 8, cyclic: true });
    toy.bad = vec![5 + 8 * 5 + 64 * 5, 6 + 8 * 4 + 64 * 5, 7 + 8 * 7];
    for keep_going in [false, true] {
        agree(&toy, &Options { keep_going, check_deadlock: false, ..options(2) });
    }
    // The first state of all, and one whose predecessors stand with others.
    for bad in [0, 255] {
        let mut toy = Toy::new(Family::Tree(9));
        toy.bad = vec![bad];
        agree(&toy, &Options { check_deadlock: false, ..options(1) });
    }
}

#[test]
fn what_was_found_before_a_limit_is_shown_with_its_path() {
    for words in [1, 3] {
        let mut toy = Toy::wide(Family::Grid { k: 4, n: 30, cyclic: true }, words);
        toy.bad = vec![5];
        let mut budget = Budget::unlimited();
        budget.max_states = Some(20_000);
        let options = Options { keep_going: true, check_deadlock: false, ..options(2) };
        for outcome in on_machines(&toy, &options, &budget, &InProcess::group(&[1, 1, 1], 2)) {
            let outcome = outcome.expect("no internal error");
            assert_eq!(outcome.reasons, [(Reason::States(20_000), 1)]);
            let path: Vec<u64> =
                outcome.findings[0].trace.iter().flatten().map(|step| step.state[words - 1]).collect();
            assert_eq!(path, [0, 1, 2, 3, 4, 5]);
        }
    }
}

#[test]
fn a_machine_that_is_lost_while_paths_are_looked_for_leaves_no_finding_behind() {
    for words in [1, 3] {
        let mut toy = Toy::wide(Family::Grid { k: 3, n: 5, cyclic: false }, words);
        toy.bad = vec![2 + 5 * 2];
        let whole = InProcess::group(&[1, 1], 2);
        on_machines(&toy, &options(1), &Budget::unlimited(), &whole);
        let rounds = whole[0].rounds();
        // Levels of the first search and of the second, their sums, and the path.
        assert!(rounds > 12, "{rounds}");
        for round in 0..rounds {
            let group = InProcess::group(&[1, 1], 2);
            group[1].vanish_in(round);
            for outcome in on_machines(&toy, &options(1), &Budget::unlimited(), &group) {
                let outcome = outcome.expect("no internal error");
                assert!(!outcome.is_verified() && !outcome.exhausted, "round {round}");
                assert_eq!(outcome.lost.map(|lost| lost.rank), Some(1), "round {round}");
                assert!(outcome.findings.is_empty() && outcome.counts.total() == 0, "round {round}");
            }
        }
    }
}

/// A family some of whose states do not fit their form, as this machine sees it.
struct Outgrown {
    toy: Toy,
    fits: fn(u64) -> bool,
    escapes: AtomicU64,
}

impl System for Outgrown {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        self.toy.event_names()
    }

    fn escapes(&self) -> u64 {
        self.escapes.load(Ordering::Relaxed)
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        self.toy.initial(&mut (), sink);
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        self.toy.successors(&mut (), state, sink);
    }

    fn check(&self, _: &mut (), state: &[u64], event: Option<EventId>, sink: &mut dyn Sink) {
        self.escapes.fetch_add(u64::from(!(self.fits)(state[0])), Ordering::Relaxed);
        self.toy.check(&mut (), state, event, sink);
    }
}

/// What each of so many machines says of a search that may end because states outgrew their form; only the last machine has states that
/// do not fit.
fn outgrown(machines: usize, bad: &[u64], fits: fn(u64) -> bool, options: &Options) -> Vec<Outcome> {
    let group = InProcess::group(&vec![1; machines], 2);
    std::thread::scope(|scope| {
        let all: Vec<_> = group
            .into_iter()
            .enumerate()
            .map(|(rank, peers)| {
                let options = Options {
                    peers: Some(peers),
                    pause_when_outgrown: true,
                    progress: Arc::default(),
                    ..options.clone()
                };
                scope.spawn(move || {
                    let mut toy = Toy::new(Family::Grid { k: 3, n: 16, cyclic: true });
                    toy.bad = bad.to_vec();
                    let fits = if rank + 1 == machines { fits } else { |_| true };
                    let system = Outgrown { toy, fits, escapes: AtomicU64::new(0) };
                    explore(&system, &options, &Budget::unlimited()).expect("no internal error")
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

#[test]
fn machines_end_at_the_same_level_when_the_states_of_one_of_them_outgrow_their_form() {
    let all = Options { keep_going: true, check_deadlock: false, ..options(2) };
    for machines in [1, 2, 3, 7] {
        for record_edges in [false, true] {
            let options = Options { record_edges, ..all.clone() };
            let told: Vec<_> = outgrown(machines, &[1, 700], |n| n % 2 == 0, &options)
                .iter()
                .map(|one| {
                    assert!(one.outgrown && !one.exhausted && one.escapes >= FEW_ESCAPES);
                    assert!(one.findings.is_empty() && one.graph.is_none() && one.piece.is_none());
                    (one.depth, one.states, one.escapes, one.digest)
                })
                .collect();
            assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
        }
        // A finding in a level that outgrows the form ends the search, and is shown with its path.
        let first = Options { keep_going: false, ..all.clone() };
        for one in outgrown(machines, &[1], |_| false, &first) {
            assert!(!one.outgrown && one.findings[0].trace.as_ref().is_some_and(|path| path.len() == 2));
        }
        // Few states that do not fit change nothing.
        for one in
            outgrown(machines, &[], |n| n > 20, &all).iter().chain(&outgrown(machines, &[], |n| n != 9, &all))
        {
            assert!(!one.outgrown && one.is_verified());
        }
        // What does not fit is found late, and on one machine only: all end, or none.
        let late = outgrown(machines, &[], |n| n < 3_900, &all);
        assert!(late.iter().all(|one| one.outgrown == late[0].outgrown && one.outgrown != one.exhausted));
    }
}

#[test]
fn findings_before_and_in_the_first_level_are_the_same_on_any_number_of_machines() {
    agree(&Table::new(&[], &[]), &options(2));
    let table = Table::new(&[3, 4, 4, 9], &[(3, 0, 4), (4, 0, 3), (9, 0, 9)]);
    agree(&table.violating(4, FindingKind::Invariant), &options(2));
    let mut table = Table::new(&[0], &[(0, 0, 1), (1, 1, 2), (2, 0, 3), (1, 0, 3), (3, 0, 0)])
        .violating(2, FindingKind::Assertion)
        .failing(3, 1, FindingKind::WellDefinedness);
    table.undefined = vec![(0, 1), (3, 0)];
    table.out_of_scope = vec![2];
    agree(&table, &Options { keep_going: true, ..options(1) });
    agree(&table, &options(3));
}

#[test]
fn what_could_not_be_computed_is_known_on_all_machines() {
    let mut toy = Toy::new(Family::Tree(8));
    toy.incomplete_at = Some(37);
    agree(&toy, &Options { keep_going: true, ..options(2) });
}

#[test]
fn machines_own_states_in_proportion_to_their_weights() {
    let toy = Toy::new(Family::Grid { k: 4, n: 9, cyclic: true });
    let group = InProcess::group(&[1, 3], 8);
    let results =
        on_machines(&toy, &Options { check_deadlock: false, ..options(2) }, &Budget::unlimited(), &group);
    for outcome in results {
        let owned: Vec<u64> = outcome.unwrap().machines.iter().map(|m| m.states).collect();
        // A quarter of 6561 states is 1640; the deviation is about 35.
        assert!(owned[0].abs_diff(1640) < 200, "{owned:?}");
    }
}

#[test]
fn a_limit_of_one_machine_ends_the_search_of_all() {
    let toy = Toy::new(Family::Grid { k: 4, n: 30, cyclic: true });
    let mut budget = Budget::unlimited();
    budget.max_states = Some(20_000);
    for outcome in on_machines(&toy, &options(2), &budget, &InProcess::group(&[1, 1, 1], 2)) {
        let outcome = outcome.unwrap();
        assert_eq!(outcome.reasons, [(Reason::States(20_000), 1)]);
        assert!(!outcome.exhausted && outcome.states >= 20_000);
    }
}

#[test]
fn a_failure_of_one_machine_is_a_failure_of_all() {
    let mut toy = Toy::new(Family::Tree(12));
    toy.panics_at = Some(700);
    for outcome in on_machines(&toy, &options(2), &Budget::unlimited(), &InProcess::group(&[1, 1, 1], 2)) {
        let error = outcome.err().expect("no verdict").0;
        assert!(error.contains("state 700 is poisoned"), "{error}");
    }
}

#[test]
fn a_machine_that_is_lost_makes_the_search_incomplete_and_is_named() {
    let mut toy = Toy::new(Family::Grid { k: 3, n: 9, cyclic: false });
    toy.bad = vec![1];
    for round in [0, 1, 2, 5] {
        let group = InProcess::group(&[1, 1, 1], 2);
        group[1].vanish_in(round);
        for outcome in
            on_machines(&toy, &Options { keep_going: true, ..options(2) }, &Budget::unlimited(), &group)
        {
            let outcome = outcome.expect("no internal error");
            assert!(!outcome.exhausted && !outcome.is_verified() && outcome.findings.is_empty());
            assert_eq!(outcome.reasons, [(Reason::Lost, 1)]);
            assert_eq!(outcome.lost.map(|lost| lost.rank), Some(1));
        }
    }
}

/// The graph that a search kept, as text: rows, initial and open nodes, states.
fn drawn(graph: &Graph) -> String {
    let states: Vec<_> = (0..graph.nodes() as u32).map(|n| graph.state(NodeId(n))).collect();
    format!("{:?} {:?} {} {:?} {states:?}", graph.forward, graph.initial, graph.all_initial, graph.open)
}

#[test]
fn the_graph_is_gathered_as_one_machine_has_it() {
    let mut faulty = Toy::wide(Family::Tree(7), 2);
    faulty.incomplete_at = Some(37);
    let systems = [
        Toy::wide(Family::Grid { k: 3, n: 6, cyclic: true }, 3),
        Toy::wide(Family::Grid { k: 2, n: 9, cyclic: false }, 1),
        Toy::wide(Family::Star(700), 1),
        Toy::wide(Family::Path(90), 1),
        faulty,
    ];
    for toy in &systems {
        let options = Options { keep_going: true, record_edges: true, ..options(2) };
        let alone = explore(toy, &options, &Budget::unlimited()).unwrap();
        let alone = drawn(alone.graph.as_ref().expect("it was asked for"));
        for machines in [1, 2, 3, 7] {
            let group = InProcess::group(&vec![1; machines], 2);
            let outcomes = on_machines(toy, &options, &Budget::unlimited(), &group);
            let graphs: Vec<_> = outcomes.into_iter().map(|o| o.unwrap().graph).collect();
            assert_eq!(graphs[0].as_ref().map(drawn), Some(alone.clone()), "{machines} machines");
            assert!(graphs[1..].iter().all(Option::is_none), "the first machine has it");
        }
    }
}

#[test]
fn a_graph_of_a_search_that_was_ended_says_which_states_lack_transitions() {
    let toy = Toy::new(Family::Grid { k: 4, n: 30, cyclic: true });
    let mut budget = Budget::unlimited();
    budget.max_states = Some(5_000);
    let options = Options { keep_going: true, record_edges: true, ..options(2) };
    let outcomes = on_machines(&toy, &options, &budget, &InProcess::group(&[1, 1, 1], 2));
    let outcome = outcomes.into_iter().next().unwrap().unwrap();
    let graph = outcome.graph.expect("it fits");
    assert!(!graph.open.is_empty() && !outcome.exhausted);
    assert_eq!(graph.nodes() as u64, outcome.states);
    // Every node but the open ones has all of its four transitions.
    let full = |node: u32| graph.forward.row(NodeId(node)).len() == 4;
    assert!((0..graph.nodes() as u32).all(|node| full(node) || graph.open.contains(&NodeId(node))));
}

#[test]
fn a_machine_that_is_lost_while_the_graph_is_gathered_is_named() {
    let toy = Toy::new(Family::Grid { k: 2, n: 5, cyclic: false });
    let options = Options { keep_going: true, record_edges: true, ..options(1) };
    let whole = InProcess::group(&[1, 1], 2);
    on_machines(&toy, &options, &Budget::unlimited(), &whole);
    let rounds = whole[0].rounds();
    for round in rounds - 3..rounds {
        let group = InProcess::group(&[1, 1], 2);
        group[1].vanish_in(round);
        for outcome in on_machines(&toy, &options, &Budget::unlimited(), &group) {
            let outcome = outcome.expect("no internal error");
            assert!(!outcome.is_verified() && outcome.graph.is_none(), "round {round}");
            assert_eq!(outcome.lost.map(|lost| lost.rank), Some(1));
        }
    }
}

/// States whose words depend on who met a value first: each machine has numbers of its own.
struct Interned {
    numbers: Mutex<Vec<u64>>,
    offset: u64,
    events: Vec<String>,
}

impl Interned {
    fn new(offset: u64) -> Interned {
        Interned { numbers: Mutex::default(), offset, events: vec!["up".into(), "twice".into()] }
    }

    fn intern(&self, value: u64) -> u64 {
        let mut numbers = self.numbers.lock();
        let known = numbers.iter().position(|v| *v == value);
        let at = known.unwrap_or_else(|| {
            numbers.push(value);
            numbers.len() - 1
        });
        at as u64 + self.offset
    }

    fn value(&self, number: u64) -> u64 {
        self.numbers.lock()[(number - self.offset) as usize]
    }
}

impl System for Interned {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[self.intern(1)]);
    }

    fn successors(&self, _: &mut (), state: &[u64], sink: &mut dyn Sink) {
        let value = self.value(state[0]);
        for (event, next) in [(value + 1) % 997, value * 2 % 997].into_iter().enumerate() {
            sink.edge(EventId(event as u32), next, &[self.intern(next)]);
        }
    }

    fn check(&self, _: &mut (), state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        if self.value(state[0]) == 500 {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }

    fn fingerprint(&self, _: &mut (), state: &[u64]) -> Option<u128> {
        Some(bombus_kernels::hash::words(&[self.value(state[0])]))
    }

    fn export(&self, state: &mut [u64], glossary: &mut bombus_system::Glossary) -> bool {
        let value = self.value(state[0]);
        let number = glossary.number(state[0] as u32, |bytes| {
            bytes.extend_from_slice(&value.to_le_bytes());
            true
        });
        number.is_some_and(|number| {
            state[0] = u64::from(number);
            true
        })
    }

    fn import(&self, state: &mut [u64], values: &[u32]) -> bool {
        let known = values.get(state[0] as usize);
        known.is_some_and(|id| {
            state[0] = u64::from(*id);
            true
        })
    }

    fn learn(&self, from: &mut &[u8]) -> Option<u32> {
        let (bytes, rest) = from.split_first_chunk::<8>()?;
        *from = rest;
        Some(self.intern(u64::from_le_bytes(*bytes)) as u32)
    }
}

#[test]
fn states_are_owned_and_told_by_what_they_mean_and_not_by_their_words() {
    let told = |system: &Interned, outcome: &Outcome| {
        let path: Vec<u64> =
            outcome.findings[0].trace.iter().flatten().map(|s| system.value(s.state[0])).collect();
        (outcome.states, outcome.transitions, outcome.depth, outcome.digest, path)
    };
    for keep_going in [false, true] {
        let options = Options { keep_going, ..options(2) };
        let one = Interned::new(0);
        let alone = told(&one, &explore(&one, &options, &Budget::unlimited()).unwrap());
        for machines in [2, 3, 7] {
            let group = InProcess::group(&vec![1; machines], 2);
            std::thread::scope(|scope| {
                for (rank, peers) in group.into_iter().enumerate() {
                    let (options, alone) = (options.clone(), &alone);
                    scope.spawn(move || {
                        let system = Interned::new(1000 * rank as u64);
                        let options = Options { peers: Some(peers), progress: Arc::default(), ..options };
                        let outcome = explore(&system, &options, &Budget::unlimited()).unwrap();
                        assert_eq!(told(&system, &outcome), *alone);
                    });
                }
            });
        }
    }
}

/// Where machines save a search: parts and a manifest, as on a disk that all of them share. Every manifest is kept with its parts.
#[derive(Debug, Default)]
struct Disk {
    parts: Mutex<BTreeMap<String, Vec<u8>>>,
    saved: Mutex<Vec<Saved>>,
}

type Saved = (Vec<u8>, BTreeMap<String, Vec<u8>>);

impl Keeper for Disk {
    fn is_due(&self, _: Duration) -> bool {
        true
    }

    fn keep(&self, _: &dyn Fn() -> Duration, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("memory takes everything");
        let parts = self.parts.lock().clone();
        self.saved.lock().push((bytes, parts));
    }

    fn keep_part(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> bool {
        let mut bytes = Vec::new();
        let written = write(&mut bytes).is_ok();
        self.parts.lock().insert(name.into(), bytes);
        written
    }

    fn part(&self, name: &str) -> io::Result<Box<dyn Read>> {
        let bytes = self.parts.lock().get(name).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes)))
    }

    fn keep_only_parts(&self, prefix: &str, _: bool) {
        self.parts.lock().retain(|name, _| name.starts_with(prefix));
    }
}

/// Goes on from a saved search on so many machines, and tells what all of them found.
fn resumed<S: System>(system: &S, options: &Options, saved: &Saved, machines: usize) -> Vec<String> {
    let disk = Arc::new(Disk { parts: Mutex::new(saved.1.clone()), saved: Mutex::default() });
    std::thread::scope(|scope| {
        let all: Vec<_> = InProcess::group(&vec![1; machines], 2)
            .into_iter()
            .map(|peers| {
                let keeper: Arc<dyn Keeper> = disk.clone();
                let options = Options {
                    peers: Some(peers),
                    keeper: Some(keeper),
                    progress: Arc::default(),
                    ..options.clone()
                };
                scope.spawn(move || {
                    let outcome = resume(system, &options, &Budget::unlimited(), &mut &saved.0[..]);
                    essence(&outcome.expect("it is whole"))
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

#[test]
fn a_search_that_was_saved_goes_on_with_any_number_of_machines() {
    let mut bad = Toy::wide(Family::Grid { k: 3, n: 6, cyclic: true }, 3);
    bad.bad = vec![3 + 6 * 4 + 36 * 3, 5 + 6 * 5 + 36 * 5];
    let whole = Toy::wide(Family::Grid { k: 2, n: 12, cyclic: false }, 7);
    for (toy, keep_going) in [(&bad, false), (&bad, true), (&whole, true)] {
        let options = Options { keep_going, ..options(2) };
        let alone = essence(&explore(toy, &options, &Budget::unlimited()).unwrap());
        for machines in [1, 3] {
            let disk = Arc::new(Disk::default());
            let keeper: Arc<dyn Keeper> = disk.clone();
            let saving = Options { keeper: Some(keeper), ..options.clone() };
            let group = InProcess::group(&vec![1; machines], 2);
            for outcome in on_machines(toy, &saving, &Budget::unlimited(), &group) {
                assert_eq!(essence(&outcome.unwrap()), alone, "saving changes nothing");
            }
            let saved = disk.saved.lock();
            assert!(saved.len() > 5, "{} savings", saved.len());
            for one in saved.iter().step_by(3) {
                for machines in [1, 2, 3, 4] {
                    for told in resumed(toy, &options, one, machines) {
                        assert_eq!(told, alone, "{machines} machines go on");
                    }
                }
            }
        }
    }
}

/// Whether some search that makes the mistake tells something else than one machine, or fails.
fn is_noticed(mutant: Mutant) -> bool {
    [5, 6, 8].into_iter().any(|n| is_noticed_on_grid(n, mutant)) || is_noticed_by_words(mutant)
}

fn is_noticed_on_grid(n: u64, mutant: Mutant) -> bool {
    let mut toy = Toy::wide(Family::Grid { k: 3, n, cyclic: true }, 3);
    // Many shortest paths lead to the corner that is farthest away.
    toy.bad = vec![n * n * n - 1];
    let options = Options { keep_going: true, ..options(2) };
    let alone = essence(&explore(&toy, &options, &Budget::unlimited()).unwrap());
    let disk = Arc::new(Disk::default());
    let keeper: Arc<dyn Keeper> = disk.clone();
    let saving = Options { keeper: Some(keeper), ..options.clone() };
    let group = InProcess::group(&[1, 1, 1], 2);
    group[0].make(mutant);
    let outcomes = on_machines(&toy, &saving, &Budget::unlimited(), &group);
    if outcomes.iter().any(|outcome| !outcome.as_ref().is_ok_and(|o| essence(o) == alone)) {
        return true;
    }
    // What was saved has to be whole at the moment when its manifest is there.
    let saved = disk.saved.lock();
    saved.iter().any(|one| !is_whole(&toy, &options, one))
}

/// The same where every machine has words of its own for the states.
fn is_noticed_by_words(mutant: Mutant) -> bool {
    let options = Options { keep_going: true, ..options(2) };
    let systems: Vec<Interned> = (0..3).map(|rank| Interned::new(1000 * rank)).collect();
    let alone = explore(&systems[0], &options, &Budget::unlimited()).unwrap();
    let group = InProcess::group(&[1, 1, 1], 2);
    group[0].make(mutant);
    std::thread::scope(|scope| {
        let machines: Vec<_> = group
            .into_iter()
            .zip(&systems)
            .map(|(peers, system)| {
                let options = Options { peers: Some(peers), progress: Arc::default(), ..options.clone() };
                scope.spawn(move || explore(system, &options, &Budget::unlimited()))
            })
            .collect();
        let same = |o: Outcome| (o.states, o.digest, o.depth) == (alone.states, alone.digest, alone.depth);
        machines.into_iter().any(|machine| !machine.join().expect("no panic").is_ok_and(same))
    })
}

/// Whether all parts that a manifest names are there.
fn is_whole<S: System>(system: &S, options: &Options, (manifest, parts): &Saved) -> bool {
    let keeper: Arc<dyn Keeper> =
        Arc::new(Disk { parts: Mutex::new(parts.clone()), saved: Mutex::default() });
    let peers: Arc<dyn Peers> = InProcess::group(&[1], 1)[0].clone();
    let options =
        Options { peers: Some(peers), keeper: Some(keeper), progress: Arc::default(), ..options.clone() };
    resume(system, &options, &Budget::unlimited(), &mut &manifest[..]).is_ok()
}

#[test]
fn mistakes_of_the_exchange_do_not_go_unnoticed() {
    let mutants = [
        Mutant::NaiveFilter,
        Mutant::OwnerByWords,
        Mutant::Sleeper,
        Mutant::SleeperWithoutPart,
        Mutant::ManifestFirst,
    ];
    for mutant in mutants {
        assert!(is_noticed(mutant), "{mutant:?}");
    }
}

#[test]
fn a_saved_search_without_one_of_its_parts_is_refused() {
    let toy = Toy::new(Family::Grid { k: 2, n: 9, cyclic: false });
    let disk = Arc::new(Disk::default());
    let keeper: Arc<dyn Keeper> = disk.clone();
    let saving = Options { keeper: Some(keeper), ..options(1) };
    on_machines(&toy, &saving, &Budget::unlimited(), &InProcess::group(&[1, 1], 2));
    let (manifest, mut parts) = disk.saved.lock()[3].clone();
    parts.pop_last();
    let keeper: Arc<dyn Keeper> = Arc::new(Disk { parts: Mutex::new(parts), saved: Mutex::default() });
    let peers: Arc<dyn Peers> = InProcess::group(&[1], 1)[0].clone();
    let options = Options { peers: Some(peers), keeper: Some(keeper), ..options(1) };
    assert!(matches!(
        resume(&toy, &options, &Budget::unlimited(), &mut &manifest[..]),
        Err(Refusal::Unreadable(_))
    ));
}
