//! A second search, for the paths to what a search without predecessors found.
//!
//! In: findings with their states and depths. Out: the path to each that is to be shown, the very one that a
//! search with predecessors shows.
//! Never here: verdicts and counts. All that the second search says beside the paths is forgotten.
//!
//! A search that stores states in the slots of its table (`bombus_kernels::packed`) keeps no predecessors: they would
//! double its memory, and most searches find nothing. When there is something to show, its level is known, and so is how large the
//! table must be: the levels before it are searched again with a table that does not grow, in which the slot of a state
//! is its id and its predecessor stands beside it. Which predecessor is kept depends on the model alone, so
//! the second search says what the first one would have.
//!
//! Several machines search again together: all have the same findings, so all begin the second search and ask for the same paths.

use super::conclusion::TRACES;
use super::findings::Place;
use super::order::Order;
use super::together::Together;
use super::trace::{self, Path};
use super::trail;
use super::{InternalError, Options, Purpose, Reason, Shared, begin, finish, prepare_for, run};
use bombus_base::budget::Budget;
use bombus_kernels::packed::{Capacity, Packed};
use bombus_kernels::parents::Level;
use bombus_kernels::visited::{Mode, Shape, Visited};
use bombus_system::{Finding, System};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far a search is done again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    /// The level that is filled last.
    pub depth: u32,
    /// The slots of the first search, if its states stood in them, and a little more.
    pub capacity: Option<Capacity>,
}

/// Paths by the number of the finding.
pub(super) type Paths = BTreeMap<usize, Result<Path, InternalError>>;

/// Why a second search came to nothing.
enum Failed {
    /// More states lie before the finding than ids can name.
    Ids,
    /// Another machine was lost.
    Lost,
    Otherwise(InternalError),
}

impl From<InternalError> for Failed {
    fn from(error: InternalError) -> Failed {
        Failed::Otherwise(error)
    }
}

/// Whether the paths of a search can be found by another one.
pub(super) fn is_possible(options: &Options) -> bool {
    options.order == Order::Bfs && options.keeper.is_none() && !options.record_edges
}

/// How the states of a search stand in its table, if they may stand there: nobody needs their ids.
pub(super) fn packed(system: &impl System, options: &Options, again: Option<Again>) -> Option<Packed> {
    // Fewer bits of a hash are for tests of the other store.
    if !is_possible(options) || options.store != Mode::Exact || options.tag_bits < 32 {
        return None;
    }
    let bits = system.packed_bits()?;
    match again {
        None => Some(Packed { bits, fixed: None }),
        Some(again) => again.capacity.map(|capacity| Packed { bits, fixed: Some(capacity) }),
    }
}

pub(super) fn not_found() -> InternalError {
    InternalError("a second search did not find a state that the first one had found".into())
}

/// The paths to the findings that are shown, by another search. The states of the first one are given up for it. The inner `Err` says why
/// there are none: more states lie before a finding than ids can name (states without ids may be so many, their predecessors not), or
/// another machine was lost.
pub(super) fn paths<S: System>(
    shared: &mut Shared<'_, S>,
    findings: &[(Place, Finding, Option<u32>)],
) -> Result<Result<Paths, Reason>, InternalError> {
    let together = shared.together.is_some();
    let wanted = wanted(findings, shared.options.keep_going);
    let trails = std::mem::take(&mut shared.trails);
    if !together && let Some(paths) = trail::paths(shared, &trails, findings) {
        return Ok(Ok(paths));
    }
    drop(trails);
    let Some(depth) = wanted.iter().map(|at| findings[*at].0.depth).max() else {
        return Ok(Ok(Paths::new()));
    };
    // Several machines number their states when they search again.
    let capacity = shared.visited.capacity().filter(|_| !together);
    shared.visited = Visited::new(Shape { slots: 1, ..Shape::default() }, &shared.meter)
        .map_err(|_| InternalError("no memory to search for a path".into()))?;
    let options = Options {
        keep_going: true,
        until_violated: 0,
        pause_beyond: None,
        pause_when_outgrown: false,
        progress: Arc::default(),
        ..shared.options.clone()
    };
    // States come in another order: a table as large as the first may have no room for one. The last try is
    // with predecessors by id.
    let larger = |part: u64| {
        capacity.map(|c| Capacity { narrow: c.narrow + c.narrow / part, wide: c.wide + c.wide / part })
    };
    let mut failure = Failed::Otherwise(not_found());
    for capacity in [larger(32), larger(4), None].into_iter().skip(if capacity.is_none() { 2 } else { 0 }) {
        match search(shared.system, &options, Again { depth, capacity }, &wanted, findings) {
            Ok(paths) => return Ok(Ok(paths)),
            Err(why) => failure = why,
        }
    }
    match failure {
        Failed::Ids => Ok(Err(Reason::Ids)),
        Failed::Lost => Ok(Err(Reason::Lost)),
        Failed::Otherwise(error) => Err(error),
    }
}

/// The findings that get a trace, as they are chosen when they are shown.
pub(super) fn wanted(findings: &[(Place, Finding, Option<u32>)], keep_going: bool) -> Vec<usize> {
    let mut wanted: Vec<usize> = Vec::new();
    for (at, (place, finding, _)) in findings.iter().enumerate() {
        let shown = wanted.iter().any(|before| findings[*before].1 == *finding);
        if place.state.is_some() && (at == 0 || keep_going && wanted.len() < TRACES && !shown) {
            wanted.push(at);
        }
    }
    wanted
}

fn search<S: System>(
    system: &S,
    options: &Options,
    again: Again,
    wanted: &[usize],
    findings: &[(Place, Finding, Option<u32>)],
) -> Result<Paths, Failed> {
    // A finding is shown even when time or memory are up: nothing but the model limits this search.
    let budget = Budget::unlimited();
    let refused = || InternalError("no memory to search for a path".into());
    let (shared, lanes) = prepare_for(system, options, &budget, Purpose::Paths(again)).ok_or_else(refused)?;
    let workers = begin(&shared, lanes);
    let goes_on = match &shared.together {
        Some(together) => shared.begin_together(together) && again.depth > 0,
        None => again.depth > 0,
    };
    let records = if goes_on { run(&shared, workers) } else { finish(workers) };
    drop(records);
    if let Some(together) = &shared.together {
        return across(&shared, together, wanted, findings);
    }
    if let Some(message) = shared.panicked() {
        return Err(InternalError(format!("a worker failed: {message}")).into());
    }
    if shared.ledger.entries().iter().any(|(reason, _)| *reason == Reason::Ids) {
        return Err(Failed::Ids);
    }
    if !shared.ledger.entries().iter().all(|(reason, _)| matches!(reason, Reason::System(_))) {
        return Err(refused().into());
    }
    let stage = shared.queues.stage();
    let levels: Vec<Level> = std::iter::once(stage.level).chain(stage.before).collect();
    let mut paths = Paths::new();
    for &at in wanted {
        let (place, finding, _) = &findings[at];
        let state = place.state.as_ref().ok_or_else(not_found)?;
        let id = id_of(&shared, state)?.ok_or_else(not_found)?;
        paths.insert(at, trace::rebuild(system, &shared.visited, &levels, id, finding));
    }
    Ok(paths)
}

/// The paths of a second search of several machines, whose states stand on all of them.
fn across<S: System>(
    shared: &Shared<'_, S>,
    together: &Together<'_>,
    wanted: &[usize],
    findings: &[(Place, Finding, Option<u32>)],
) -> Result<Paths, Failed> {
    let fault = shared.panicked().map(|message| format!("a worker failed: {message}"));
    let reasons = shared.ledger.entries();
    let met = |wanted: fn(&Reason) -> bool| reasons.iter().any(|(reason, _)| wanted(reason));
    let said = match fault {
        Some(_) => FAILED,
        None if met(|reason| *reason == Reason::Ids) => NO_IDS,
        // What could not be sent was not sent in the first search either.
        None if met(|reason| !matches!(reason, Reason::System(_) | Reason::Unsent)) => FAILED,
        None => WELL,
    };
    let heard = if together.is_lost() { None } else { together.agree(vec![said]) };
    let heard = heard.ok_or(Failed::Lost)?;
    if heard.iter().any(|said| *said == [NO_IDS]) {
        return Err(Failed::Ids);
    }
    if heard.iter().any(|said| *said != [WELL]) {
        let why = fault.unwrap_or_else(|| "the machines could not search for a path".into());
        return Err(InternalError(why).into());
    }
    let mut paths = Paths::new();
    for &at in wanted {
        let (place, finding, _) = &findings[at];
        match shared.path_across(together, place, finding) {
            Ok(path) => paths.extend(path.map(|path| (at, Ok(path)))),
            Err(_) if together.is_lost() => return Err(Failed::Lost),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(paths)
}

/// What a machine says of its part in a second search.
const WELL: u8 = 0;
const NO_IDS: u8 = 1;
const FAILED: u8 = 2;

/// The id of a state, or of its orbit.
fn id_of<S: System>(shared: &Shared<'_, S>, state: &[u64]) -> Result<Option<u32>, InternalError> {
    let mut identity = Vec::new();
    let key = match &mut shared.system.orbits() {
        None => state,
        Some(orbits) => {
            identity.resize(orbits.words(), 0);
            orbits.identity(state, &mut identity);
            &identity
        }
    };
    let mut seat = shared.visited.seat(0);
    let session = shared.visited.enter(&mut seat);
    let id = session.map_err(|_| InternalError("a second search was aborted".into()))?.find(key);
    shared.visited.rise(seat);
    Ok(id)
}
