//! The end of a search: the books are checked, the findings get their traces.
//!
//! In: what the workers shared, and what each of them recorded. Out: the outcome.
//! Never here: the search itself.

use super::findings::Findings;
use super::gather::{Broken, Gathered, gather};
use super::ledger::Reason;
use super::order::{Order, Stage};
use super::outcome::{Kept, Outcome, Violation};
use super::piece::Piece;
use super::reunion::Sums;
use super::sink::Record;
use super::{InternalError, Shared, disk, second, trace};
use bombus_graph::{Graph, Log};
use bombus_kernels::parents::Level;
use bombus_kernels::visited::Mode;
use bombus_system::{Finding, System};
use std::sync::atomic::Ordering;

/// Findings that get a trace of their own.
pub(super) const TRACES: usize = 64;

/// Adds up what the workers did, checks the books, rebuilds the traces.
pub(super) fn conclude<S: System>(
    mut shared: Shared<'_, S>,
    records: Vec<Record>,
) -> Result<Outcome, InternalError> {
    let mut sums = Sums::of(&mut shared, records);
    if sums.confused > 0 {
        shared.ledger.enter(Reason::Orbits, sums.confused);
    }
    if let Some(message) = shared.panicked() {
        sums.failure = Some(format!("a worker failed: {message}"));
    }
    sums.failure = sums.failure.or_else(|| shared.system.failure());
    let machines = match &shared.together {
        Some(together) => shared.reunite(together, &mut sums)?,
        None => Vec::new(),
    };
    if let Some(failure) = sums.failure {
        return Err(InternalError(failure));
    }
    let stage = shared.queues.stage();
    let mut outcome = Outcome { machines, ..sums.outcome };
    outcome.por = shared.reduction.as_ref().map(|reduction| reduction.conclude(sums.por));
    let books = sums.books;
    books.check(outcome.exhausted).map_err(|sum| InternalError(format!("the books do not add up: {sum}")))?;
    outcome.states = books.fresh;
    outcome.transitions = books.transitions;
    outcome.initial_transitions = books.initial_edges;
    // What the others found is not known when one is lost, and without its path a finding is none.
    if outcome.lost.is_none() {
        outcome.violated = shared.violated.load(Ordering::Relaxed);
    }
    if shared.options.order == Order::Bfs && books.fresh > 0 {
        outcome.depth = Some(stage.depth + sums.beyond as u32);
    }
    outcome.collision_bound = shared.visited.collision_bound(books.fresh);
    outcome.counts = sums.findings.counts();
    outcome.outgrown = shared.outgrown.load(Ordering::Relaxed);
    // Whoever begins again finds the same again.
    let shown = if outcome.outgrown { Some(Vec::new()) } else { show(&mut shared, sums.findings, stage)? };
    match shown {
        Some(findings) => outcome.findings = findings,
        // Without its path a finding is none, and without the finding nothing is verified.
        None => {
            shared.ledger.enter_once(Reason::Ids);
            outcome.exhausted = false;
            outcome.violated = 0;
            outcome.counts = Findings::default().counts();
        }
    }
    let stores_states = shared.options.store == Mode::Exact;
    if shared.options.record_edges && shared.together.is_some() {
        return with_graph(shared, sums.log, outcome);
    } else if shared.options.record_edges {
        outcome.graph = Graph::freeze(shared.system, shared.visited, &shared.meter, sums.log);
        if outcome.graph.is_none() {
            shared.ledger.enter(Reason::Memory, 1);
        }
    } else if shared.options.keep_states && stores_states && outcome.findings.is_empty() && !outcome.outgrown
    {
        outcome.kept = Some(Kept::new(shared.visited));
    }
    outcome.reasons = shared.ledger.close();
    Ok(outcome)
}

/// The edges of a graph are the transitions that were counted, if the search came to its end.
fn has_all_edges(outcome: &Outcome, edges: u64) -> Result<(), InternalError> {
    if outcome.exhausted && edges != outcome.transitions {
        let transitions = outcome.transitions;
        return Err(InternalError(format!("a graph of {edges} edges was gathered, not of {transitions}")));
    }
    Ok(())
}

/// The outcome with the graph that several machines have: whole on the first one, or a piece on each.
fn with_graph<S: System>(
    mut shared: Shared<'_, S>,
    log: Log,
    mut outcome: Outcome,
) -> Result<Outcome, InternalError> {
    let peers = shared.options.peers.clone();
    let mut lost = false;
    let gathered = gather(&mut shared, &log, outcome.all_initial)?;
    outcome.reasons = shared.ledger.entries();
    match gathered {
        Gathered::Here(graph) => {
            has_all_edges(&outcome, graph.forward.edges() as u64)?;
            outcome.graph = Some(*graph);
        }
        Gathered::Elsewhere => {}
        Gathered::Lost => lost = true,
        Gathered::TooLarge(size, own) => {
            has_all_edges(&outcome, size.transitions)?;
            outcome.too_large = Some(size);
            // All machines have counted the same, so that all or none of them keep their pieces.
            if outcome.is_whole() {
                match Piece::new(shared, own, log) {
                    Ok(piece) => outcome.piece = piece,
                    Err(Broken::Wrong(what)) => return Err(InternalError(what)),
                    Err(Broken::Lost) => lost = true,
                }
            }
        }
    }
    if lost {
        outcome.reasons.push((Reason::Lost, 1));
        outcome.reasons.sort_unstable();
        outcome.exhausted = false;
        outcome.lost = peers.and_then(|peers| peers.lost());
    }
    Ok(outcome)
}

/// The findings with their traces: the first one has one, and with `keep_going` some more. `None` if no path can be found because more
/// states lie before a finding than ids can name.
fn show<S: System>(
    shared: &mut Shared<'_, S>,
    findings: Findings,
    stage: Stage,
) -> Result<Option<Vec<Violation>>, InternalError> {
    let levels: Vec<Level> = match shared.options.order {
        Order::Bfs => std::iter::once(stage.level).chain(stage.before).collect(),
        Order::Dfs | Order::Mixed => Vec::new(),
    };
    let least: Vec<_> = findings.into_least().collect();
    let mut found_again = match &shared.disk {
        Some(_) => Some(disk::paths(shared, &least)?),
        None if shared.visited.knows_parents() || shared.together.is_some() => None,
        None => match second::paths(shared, &least)? {
            Some(paths) => Some(paths),
            None => return Ok(None),
        },
    };
    let mut all: Vec<Violation> = Vec::new();
    let mut shown: Vec<Finding> = Vec::new();
    for (at, (place, mut finding, id)) in least.into_iter().enumerate() {
        let first = all.is_empty();
        let wanted = first || shared.options.keep_going && shown.len() < TRACES && !shown.contains(&finding);
        let path = match (&shared.together, id) {
            // All machines have the same findings in the same order, and look for each path together.
            (Some(together), _) if wanted => {
                let path = shared.path_across(together, &place, &finding)?;
                shown.extend(path.is_some().then(|| finding.clone()));
                path
            }
            (None, Some(id)) if wanted => {
                shown.push(finding.clone());
                let path = match &mut found_again {
                    Some(paths) => paths.remove(&at).unwrap_or_else(|| Err(second::not_found())),
                    None => trace::rebuild(shared.system, &shared.visited, &levels, id, &finding),
                };
                match path {
                    Ok(path) => Some(path),
                    // Where orbits are told apart approximately, a later finding may have no path that is found.
                    Err(_) if !first && shared.system.orbits().is_some() => None,
                    Err(e) => return Err(e),
                }
            }
            _ => None,
        };
        let trace = path.map(|path| {
            finding = path.finding;
            path.trace
        });
        all.push(Violation { finding, depth: place.depth, state: place.state, trace });
    }
    Ok(Some(all))
}
