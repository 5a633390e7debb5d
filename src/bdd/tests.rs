//! Hand-written systems of which the counts are known in closed form.

use super::order::Arrangement;
use super::*;
use bombus_system::{BitField, Condition, EventId, Exchange, Footprint, Footprints, InstanceId, Part, Sink};

/// `n` cells of three values. Cell `i` goes from 0 to 1 if its right neighbour is not 2, from 1 to 2 if its right
/// neighbour is 0, and from 2 to 0.
struct Ring {
    n: u32,
    names: Vec<String>,
    footprints: Footprints,
    /// Cells that may never be 2 at once.
    apart: Option<(u32, u32)>,
    /// What the footprints leave out of what is read.
    hides_neighbour: bool,
}

fn get(state: &[u64], cell: u32) -> u64 {
    state[0] >> (2 * cell) & 3
}

fn put(state: &[u64], cell: u32, value: u64) -> Vec<u64> {
    vec![state[0] & !(3 << (2 * cell)) | value << (2 * cell)]
}

impl Ring {
    fn new(n: u32, apart: Option<(u32, u32)>, hides_neighbour: bool) -> Ring {
        let cell = |i: u32| 3u64 << (2 * (i % n));
        let fields = (0..n).map(|i| BitField { offset: 2 * i, width: 2, codes: Some(3) }).collect();
        let mut instances = Vec::new();
        for event in 0..3 {
            for i in 0..n {
                let right = if event < 2 && !hides_neighbour { cell(i + 1) } else { 0 };
                instances.push(Footprint {
                    event: EventId(event),
                    ground: true,
                    reads: vec![cell(i) | right],
                    writes: vec![cell(i)],
                });
            }
        }
        let conditions = apart.map(|(a, b)| Condition {
            finding: Some(Finding { kind: FindingKind::Invariant, property: 0, event: None }),
            proposition: None,
            found_if: false,
            parts: vec![Part { reads: vec![cell(a) | cell(b)], askable: false }],
        });
        let conditions = conditions.into_iter().collect();
        let footprints =
            Footprints { fields, common: vec![0], instances, conditions, ..Footprints::default() };
        let names = ["wish", "take", "leave"].map(String::from).to_vec();
        Ring { n, names, footprints, apart, hides_neighbour }
    }

    fn fine(&self, state: &[u64]) -> bool {
        self.apart.is_none_or(|(a, b)| get(state, a) != 2 || get(state, b) != 2)
    }

    /// All states, one by one.
    fn states(&self) -> usize {
        let mut list = vec![vec![0u64]];
        let mut seen: HashSet<Vec<u64>> = list.iter().cloned().collect();
        let mut at = 0;
        while at < list.len() {
            let mut heard = Heard::default();
            heard.look_at(None);
            self.successors(&mut (), &list[at].clone(), &mut heard);
            let next = heard.edges().iter().map(|e| e.2.clone());
            list.extend(next.filter(|s| seen.insert(s.clone())));
            at += 1;
        }
        list.len()
    }
}

impl System for Ring {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn initial(&self, _: &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0]);
    }

    fn successors(&self, worker: &mut (), state: &[u64], sink: &mut dyn Sink) {
        (0..3).for_each(|e| self.event(worker, state, EventId(e), sink));
    }

    fn check(&self, _: &mut (), state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        if !self.fine(state) {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }

    fn instance(&self, event: EventId, label: u64) -> Option<InstanceId> {
        Some(InstanceId(event.0 * self.n + label as u32))
    }

    fn footprints(&self) -> Option<&Footprints> {
        Some(&self.footprints)
    }

    fn event(&self, _: &mut (), state: &[u64], event: EventId, sink: &mut dyn Sink) {
        for i in 0..self.n {
            let (here, right) = (get(state, i), get(state, (i + 1) % self.n));
            let next = match (event.0, here) {
                (0, 0) if right != 2 => 1,
                (1, 1) if right == 0 => 2,
                (2, 2) => 0,
                _ => continue,
            };
            sink.edge(event, u64::from(i), &put(state, i, next));
        }
    }

    fn condition(
        &self,
        _: &mut (),
        state: &[u64],
        _: usize,
        _: Option<usize>,
        _: &mut dyn Sink,
    ) -> Option<bool> {
        Some(self.fine(state))
    }
}

fn options() -> Options {
    Options {
        nodes: 1 << 16,
        workers: 1,
        check_deadlock: true,
        keep_going: false,
        max_states: None,
        symmetry: Symmetry::Off,
        exchanges: Vec::new(),
        sigma_rounds: None,
        liveness: Liveness::default(),
        claims: Vec::new(),
    }
}

fn explored(ring: &Ring, options: &Options) -> Outcome {
    explore(ring, options, &Budget::unlimited()).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn sets_of_states_count_what_a_search_one_by_one_counts() {
    for n in 2..8 {
        let ring = Ring::new(n, None, false);
        let all = Options { keep_going: true, ..options() };
        let outcome = explored(&ring, &all);
        assert!(outcome.exhausted && outcome.reasons.is_empty(), "{:?}", outcome.reasons);
        assert_eq!(outcome.states, Some(ring.states().into()), "{n} cells");
    }
}

#[test]
fn a_path_to_a_finding_is_shortest_and_made_of_real_steps() {
    // Cells 0 and 2 of four: each has to wish and to take, so there are four steps.
    let ring = Ring::new(4, Some((0, 2)), false);
    let found = explored(&ring, &options()).found.expect("both cells can be taken");
    let path = found.path.expect("a path");
    assert_eq!((found.finding.kind, path.len()), (FindingKind::Invariant, 5));
    for two in path.windows(2) {
        let mut heard = Heard::default();
        heard.look_at(None);
        ring.event(&mut (), &two[0].state, two[1].event.expect("a step"), &mut heard);
        assert!(heard.edges().iter().any(|e| e.1 == two[1].label && e.2 == two[1].state));
    }
    assert!(!ring.fine(&path[4].state));
}

#[test]
fn a_deadlock_is_where_no_step_is_enabled() {
    // All cells wish, and nobody may take: three steps for three cells.
    let ring = Ring::new(3, None, false);
    let found = explored(&ring, &options()).found.expect("a deadlock");
    assert_eq!((found.finding.kind, found.path.map(|p| p.len())), (FindingKind::Deadlock, Some(4)));
}

#[test]
fn a_step_that_reads_more_than_its_footprint_names_breaks_the_run() {
    let ring = Ring::new(5, None, true);
    assert!(ring.hides_neighbour);
    let fault = explore(&ring, &Options { keep_going: true, ..options() }, &Budget::unlimited());
    assert!(fault.is_err_and(|words| words.contains("reads more") || words.contains("diagrams")));
}

#[test]
fn too_few_nodes_end_the_search_without_a_count_of_all_states() {
    let ring = Ring::new(30, None, false);
    let outcome = explored(&ring, &Options { nodes: 300, keep_going: true, ..options() });
    assert!(!outcome.exhausted);
    assert!(matches!(outcome.reasons[..], [Reason::Nodes(_), ..]), "{:?}", outcome.reasons);
}

#[test]
fn a_limit_of_states_ends_the_search() {
    let ring = Ring::new(8, None, false);
    let limited = Options { max_states: Some(100), keep_going: true, ..options() };
    let outcome = explored(&ring, &limited);
    assert!(!outcome.exhausted && outcome.reasons == [Reason::States(100)]);
}

#[test]
fn a_rotation_that_is_a_symmetry_leaves_the_number_of_states_as_it_is() {
    let n = 6;
    let ring = Ring::new(n, None, false);
    let images = (0..n).map(|i| ((i + 1) % n, None)).collect();
    let rotation = Exchange { set: "CELL".into(), elements: ["a".into(), "b".into()], images, proved: true };
    for symmetry in [Symmetry::Generators, Symmetry::Orbits] {
        let with = Options { symmetry, exchanges: vec![rotation.clone()], keep_going: true, ..options() };
        let outcome = explored(&ring, &with);
        assert_eq!(outcome.states, Some(ring.states().into()));
        let kept = usize::try_from(outcome.kept).expect("small");
        assert!(kept <= ring.states() && (symmetry == Symmetry::Generators || kept < ring.states() / 3));
    }
}

#[test]
fn a_wrong_exchange_is_told_and_makes_no_finding() {
    // Exchanging two neighbours is no symmetry of a ring: what it makes up is never expanded.
    let n = 6;
    let ring = Ring::new(n, None, false);
    let images = (0..n).map(|i| ([1, 0, 2, 3, 4, 5][i as usize], None)).collect();
    let wrong = Exchange { set: "CELL".into(), elements: ["a".into(), "b".into()], images, proved: false };
    let with = Options {
        symmetry: Symmetry::Generators,
        exchanges: vec![wrong],
        keep_going: true,
        check_deadlock: false,
        ..options()
    };
    let outcome = explored(&ring, &with);
    assert!(outcome.found.is_none() && outcome.states.is_none());
    assert!(outcome.reasons.iter().any(|r| matches!(r, Reason::Unproved(_))));
}

#[test]
fn both_arrangements_order_every_atom_once() {
    let ring = Ring::new(5, None, false);
    let none = vec![false; 5];
    for arrangement in [Arrangement::FieldByField, Arrangement::BitByBit] {
        let mut atoms = order::order(&ring.footprints, &none, &[u64::MAX], arrangement);
        atoms.sort_unstable();
        atoms.dedup();
        assert_eq!(atoms.len(), 10);
    }
}

/// The instances of one event of a ring: wish 0, take 1, leave 2.
fn instances(ring: &Ring, event: u32) -> Vec<u32> {
    (event * ring.n..(event + 1) * ring.n).collect()
}

fn decided(ring: &Ring, claim: Claim, with: &Options) -> Decided {
    let with = Options { keep_going: true, check_deadlock: false, claims: vec![claim], ..with.clone() };
    explored(ring, &with).decided.remove(0)
}

/// Some path leads to a deadlock; in every state; and the contrary of the first.
fn trees() -> [(Branching, bool); 3] {
    let reach =
        vec![Tree::True, Tree::State(Fact::Deadlock), Tree::Until(0, 1), Tree::Not(2), Tree::Until(0, 3)];
    let never = [reach.clone(), vec![Tree::Not(4)]].concat();
    [
        (Branching { trees: reach.clone(), root: 2 }, true),
        (Branching { trees: never, root: 5 }, true),
        (Branching { trees: reach, root: 3 }, false),
    ]
}

#[test]
fn a_claim_about_trees_that_fails_has_a_shortest_path_that_shows_it() {
    // From every state of three cells all may come to wish: leave what is taken, wish one by one.
    let ring = Ring::new(3, None, false);
    for (claim, holds) in trees() {
        match decided(&ring, Claim::Branching(claim), &options()) {
            Decided::Holds => assert!(holds),
            Decided::Path(path, Ending::Open) => assert!(!holds && path.len() == 4, "{path:?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_path_that_violates_a_claim_ends_in_a_deadlock_or_comes_round() {
    let ring = Ring::new(3, None, false);
    // Again and again somebody leaves: not where all wish.
    let forms = vec![Form::True, Form::Taken(instances(&ring, 2)), Form::Until(0, 1), Form::Not(2)];
    let often = [forms, vec![Form::Until(0, 3), Form::Not(4)]].concat();
    let claim = Linear { forms: often, root: 5, assumptions: vec![Vec::new()] };
    let Decided::Along(path) = decided(&ring, Claim::Linear(claim), &options()) else { panic!("it fails") };
    let mut heard = Heard::default();
    for two in path.windows(2) {
        heard.look_at(None);
        ring.successors(&mut (), &two[0], &mut heard);
        assert!(heard.edges().iter().any(|e| e.2 == two[1]), "{two:?}");
    }
    heard.look_at(None);
    ring.successors(&mut (), &path[path.len() - 1], &mut heard);
    assert!(heard.edges().is_empty() || path[..path.len() - 1].contains(&path[path.len() - 1]));
    // Whoever takes has wished before: a claim about the past.
    let forms = vec![
        Form::True,
        Form::Taken(instances(&ring, 0)),
        Form::Since(0, 1),
        Form::Taken(instances(&ring, 1)),
        Form::Not(2),
        Form::And(3, 4),
        Form::Until(0, 5),
        Form::Not(6),
    ];
    let claim = Linear { forms, root: 7, assumptions: vec![Vec::new()] };
    assert!(matches!(decided(&ring, Claim::Linear(claim), &options()), Decided::Holds));
}

#[test]
fn orbits_decide_as_all_states_do_and_representatives_verify_nothing() {
    let n = 4;
    let ring = Ring::new(n, None, false);
    let images = (0..n).map(|i| ((i + 1) % n, None)).collect();
    let rotation = Exchange { set: "CELL".into(), elements: ["a".into(), "b".into()], images, proved: true };
    let with = |liveness| Options {
        symmetry: Symmetry::Orbits,
        exchanges: vec![rotation.clone()],
        liveness,
        ..options()
    };
    for (claim, _) in trees() {
        let plain = matches!(decided(&ring, Claim::Branching(claim.clone()), &options()), Decided::Holds);
        for liveness in [Liveness::Quotient, Liveness::Xi(Way::Create), Liveness::Xi(Way::FromOrbits)] {
            match decided(&ring, Claim::Branching(claim.clone()), &with(liveness)) {
                Decided::Holds => assert!(plain, "{liveness:?}"),
                Decided::Path(..) => assert!(!plain, "{liveness:?}"),
                other => panic!("{other:?}"),
            }
        }
        let kept = decided(&ring, Claim::Branching(claim), &with(Liveness::Representatives));
        assert!(matches!(kept, Decided::Open(Open::OnlyKept)));
    }
}
