//! Random formulas on random graphs that are scattered over machines: what trimming leaves tells what the whole graph tells.

use super::check::{Checker, NOT_EXPLORED, Verdict};
use super::ctl::{self, CtlVerdict};
use super::ctl_parse::parse_ctl;
use super::differential_tests::{random_fairness, random_formula, random_world};
use super::parse::parse_ltl;
use super::path::{End, Path};
use super::scattered::{Letters, Others, Part, Trimmed, Vocabulary};
use super::testing::{HERE, Random, World};
use super::view::{Arc, Edge, Explicit, Graph, State};
use bombus_base::budget::Budget;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Barrier;

/// Machines that are threads.
struct Hub {
    turn: Barrier,
    post: Mutex<Vec<(Letters, Vec<u8>)>>,
}

struct Seat<'h> {
    rank: usize,
    hub: &'h Hub,
}

impl Others for Seat<'_> {
    type Broken = String;

    fn swap(&self, letters: Letters, said: Vec<u8>) -> Result<(Letters, Letters), String> {
        self.hub.post.lock()[self.rank] = (letters, said);
        self.hub.turn.wait();
        let heard = {
            let post = self.hub.post.lock();
            let letters = post.iter().map(|(letters, _)| letters[self.rank].clone()).collect();
            (letters, post.iter().map(|(_, said)| said.clone()).collect())
        };
        self.hub.turn.wait();
        Ok(heard)
    }

    fn wrong(&self, what: &str) -> String {
        what.into()
    }
}

/// What a machine has of a graph.
struct Piece {
    world: World,
    own: Vec<u32>,
    foreign: Vec<Range<u32>>,
    /// The states of the others that it has nodes for, by machine.
    met: Vec<Vec<u32>>,
}

fn arcs(world: &World) -> Vec<Arc> {
    let graph = &world.graph;
    let arc = |s: u32, e: Edge| Arc {
        source: s,
        event: graph.event(e).0,
        label: graph.label(e),
        target: graph.target(e).0,
    };
    (0..graph.states() as u32).flat_map(|s| graph.edges(State(s)).map(move |e| arc(s, Edge(e)))).collect()
}

/// The graph of some states with all their transitions, in new numbers. States that have a number but are not `told` are not expanded and
/// without truths.
fn part(world: &World, number: &BTreeMap<u32, u32>, nodes: usize, told: &[u32]) -> World {
    let kept = arcs(world).into_iter().filter(|arc| told.contains(&arc.source));
    let moved = kept.map(|arc| Arc { source: number[&arc.source], target: number[&arc.target], ..arc });
    let initial: Vec<u32> =
        world.graph.initial().iter().filter(|s| told.contains(&s.0)).map(|s| number[&s.0]).collect();
    let graph = Explicit::new(nodes, &initial, moved.collect()).with_told(told.len());
    let here =
        |set: &Vec<u32>| -> Vec<u32> { set.iter().filter(|s| told.contains(s)).map(|s| number[s]).collect() };
    let mut undefined = here(&world.undefined);
    undefined.extend(told.len() as u32..nodes as u32);
    let propositions = world.propositions.iter().map(|(name, set)| (name.clone(), here(set))).collect();
    World { graph, events: world.events.clone(), propositions, undefined }
}

fn piece(world: &World, owner: &[usize], machines: usize, rank: usize) -> Piece {
    let own: Vec<u32> = (0..owner.len() as u32).filter(|s| owner[*s as usize] == rank).collect();
    let mut order = own.clone();
    let (mut foreign, mut met) = (Vec::new(), Vec::new());
    for machine in 0..machines {
        let ends = arcs(world).into_iter().filter(|arc| own.contains(&arc.source)).map(|arc| arc.target);
        let mut ends: Vec<u32> = ends.filter(|s| machine != rank && owner[*s as usize] == machine).collect();
        ends.sort_unstable();
        ends.dedup();
        let first = order.len() as u32;
        order.extend(&ends);
        foreign.push(first..order.len() as u32);
        met.push(ends);
    }
    let number = order.iter().zip(0..).map(|(s, n)| (*s, n)).collect();
    Piece { world: part(world, &number, order.len(), &own), own, foreign, met }
}

/// What all machines are left with, as states of the whole graph, and the letters of all; `None` if the graph was not trimmed.
fn left(
    world: &World,
    text: &str,
    owner: &[usize],
    trim: impl Fn(&mut Checker<'_, Explicit>, &Part<'_, Seat<'_>>) -> Trimmed + Sync,
) -> Option<(Vec<u32>, Vocabulary)> {
    let machines = owner.iter().max().map_or(1, |last| last + 1);
    let pieces: Vec<Piece> = (0..machines).map(|rank| piece(world, owner, machines, rank)).collect();
    let hub = Hub { turn: Barrier::new(machines), post: Mutex::new(vec![Default::default(); machines]) };
    let trimmed = |rank: usize| {
        let piece = &pieces[rank];
        let here = |s: &u32| piece.own.binary_search(s).unwrap() as u32;
        let shown: Vec<Vec<u32>> =
            pieces.iter().map(|other| other.met[rank].iter().map(here).collect()).collect();
        let seat = Seat { rank, hub: &hub };
        let own = piece.own.len() as u32;
        let part = Part { own, foreign: &piece.foreign, shown: &shown, others: &seat };
        let budget = Budget::unlimited();
        match trim(&mut Checker::new(&piece.world.graph, &piece.world, &budget), &part) {
            Trimmed::Nothing => Some((Vec::new(), Vocabulary::default())),
            Trimmed::Left(states, letters) => Some((states.iter().map(|s| piece.own[s]).collect(), letters)),
            Trimmed::Not(_) => None,
        }
    };
    let trimmed = &trimmed;
    let parts: Vec<Option<(Vec<u32>, Vocabulary)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..machines).map(|rank| scope.spawn(move || trimmed(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(parts.iter().all(|part| part.is_some() == parts[0].is_some()), "{text}: machines disagree");
    let (left, letters): (Vec<Vec<u32>>, Vec<Vocabulary>) = parts.into_iter().flatten().unzip();
    assert!(letters.windows(2).all(|two| two[0] == two[1]), "{text}: machines know other letters");
    let mut left = left.concat();
    left.sort_unstable();
    Some((left, letters.into_iter().next()?))
}

/// The steps of a path, whatever the numbers of states and transitions.
fn steps(world: &World, path: &Path, names: &[u32]) -> (Vec<u32>, Vec<(u32, u64)>, End) {
    let states = path.states.iter().map(|s| names[s.index()]).collect();
    let edges = path.edges.iter().map(|e| (world.graph.event(*e).0, world.graph.label(*e))).collect();
    (states, edges, path.end)
}

#[derive(Debug, Default)]
struct Tally {
    nothing: usize,
    violated: usize,
    fair: usize,
    not: usize,
    smaller: usize,
}

/// Who owns each state, of one to four machines.
fn random_owners(random: &mut Random, states: usize) -> Vec<usize> {
    let machines = 1 + random.below(4);
    (0..states).map(|_| random.below(machines) as usize).collect()
}

/// What is gathered of a graph: all states that are left out are the last node.
fn rest(world: &World, left: &[u32]) -> World {
    let elsewhere = left.len() as u32;
    let place = |s: u32| left.binary_search(&s).map_or(elsewhere, |at| at as u32);
    let number = (0..world.graph.states() as u32).map(|s| (s, place(s))).collect();
    part(world, &number, left.len() + 1, left)
}

fn compare(random: &mut Random, tally: &mut Tally) {
    let world = random_world(random, 14);
    let mut text = random_formula(random, 8);
    if random.below(3) == 0 {
        text = format!("{} => ({text})", random_fairness(random));
    }
    let states = world.graph.states();
    let owner = random_owners(random, states);
    let formula = parse_ltl(&text, HERE).unwrap_or_else(|f| panic!("{text}: {}", f[0].message)).formula;
    let trimmed = left(&world, &text, &owner, |checker, part| checker.trim(&formula, part).unwrap());
    let Some((left, letters)) = trimmed else {
        tally.not += 1;
        return;
    };
    let whole = world.check(&text);
    let Some(last) = left.last() else {
        tally.nothing += 1;
        assert_eq!(whole.word(), "holds", "{text} on {:?} at {owner:?}", world.graph);
        return;
    };
    assert!((*last as usize) < states);
    tally.smaller += usize::from(left.len() < states);
    let rest = rest(&world, &left);
    let budget = Budget::unlimited();
    let mut checker = Checker::new(&rest.graph, &rest, &budget).with_letters(letters);
    match (checker.check(&formula).unwrap(), whole) {
        (Verdict::Violated(there), Verdict::Violated(here)) => {
            tally.violated += 1;
            let all: Vec<u32> = (0..states as u32).collect();
            let (there, here) = (steps(&rest, &there.path, &left), steps(&world, &here.path, &all));
            assert_eq!(there, here, "{text} on {:?} at {owner:?}", world.graph);
        }
        (Verdict::Incomplete(why), Verdict::Holds) if why == [NOT_EXPLORED] => tally.fair += 1,
        (there, here) => panic!("{text} on {:?}: {there:?}, but {here:?}", world.graph),
    }
}

#[test]
fn what_trimming_leaves_of_a_graph_on_several_machines_decides_a_formula_by_the_same_path() {
    let mut random = Random(22);
    let mut tally = Tally::default();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| (0..800).for_each(|_| compare(&mut random, &mut tally)));
    let Tally { nothing, violated, fair, smaller, .. } = tally;
    assert!(nothing > 150 && violated > 300 && fair > 1 && smaller > 250, "{tally:?}");
}

fn check_ctl(world: &World, formula: &super::ctl_parse::Ctl) -> CtlVerdict {
    Checker::new(&world.graph, world, &Budget::unlimited()).check_ctl(formula).unwrap()
}

fn compare_ctl(random: &mut Random, tally: &mut Tally) {
    let mut world = random_world(random, 14);
    let size = 1 + random.below(8);
    let mut text = ctl::tests::random_formula(random, size);
    if random.below(2) == 0 {
        text = text.replace("EX[a]", "EX[a(1)]");
    }
    let states = world.graph.states();
    if random.below(20) == 0 {
        world.undefined = vec![random.below(states as u64) as u32];
    }
    let owner = random_owners(random, states);
    let formula = parse_ctl(&text, HERE).unwrap_or_else(|f| panic!("{text}: {}", f[0].message)).formula;
    let trimmed = left(&world, &text, &owner, |checker, part| checker.trim_ctl(&formula, part).unwrap());
    let whole = check_ctl(&world, &formula);
    let Some((left, _)) = trimmed else {
        tally.not += 1;
        assert!(!world.undefined.is_empty(), "{text}: all truths are known");
        return;
    };
    if left.is_empty() {
        tally.nothing += 1;
        assert_eq!(whole.word(), "holds", "{text} on {:?} at {owner:?}", world.graph);
        return;
    }
    tally.smaller += usize::from(left.len() < states);
    let rest = rest(&world, &left);
    match (check_ctl(&rest, &formula), whole) {
        (CtlVerdict::Violated(there, _), CtlVerdict::Violated(here, _)) => {
            tally.violated += 1;
            let all: Vec<u32> = (0..states as u32).collect();
            let (there, here) = (steps(&rest, &there, &left), steps(&world, &here, &all));
            assert_eq!(there, here, "{text} on {:?} at {owner:?}", world.graph);
        }
        (there, here) => panic!("{text} on {:?} at {owner:?}: {there:?}, but {here:?}", world.graph),
    }
}

#[test]
fn labels_of_a_graph_on_several_machines_decide_a_ctl_formula_by_the_same_path() {
    let mut random = Random(23);
    let mut tally = Tally::default();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| (0..1200).for_each(|_| compare_ctl(&mut random, &mut tally)));
    let Tally { nothing, violated, smaller, not, .. } = tally;
    assert!(nothing > 300 && violated > 300 && smaller > 250 && not > 10, "{tally:?}");
}
