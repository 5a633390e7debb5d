//! A search on several machines that is saved and goes on later, on as many machines as there are then.
//!
//! In: a search at rest between two levels, or what was saved of one. Out: a part of each machine with the states that it owns, and a
//! manifest that is written when all parts are; or a search that goes on.
//! Never here: files (`driver`), whether what was saved belongs to this model.
//!
//! A part holds the states of its machine level by level, in packets as they travel: words with a glossary, the predecessor's
//! fingerprint, and for the last level whether the state is flawed. Nothing in it depends on how many machines there were, so whoever goes
//! on reads all parts and keeps the states that are its own now. The manifest holds what every machine had counted.
//! A manifest names the level of its parts. Parts of a level stay until the manifest of a later level is there, so at any moment there
//! is a manifest with all its parts, or none.

use super::batch::{Batch, Marks};
use super::checkpoint::{In, Keeper, Out, Refusal, wrong};
use super::exchange::{put_words, take_words, unpack};
use super::order::{Lane, Stage};
use super::peers::{Mutant, PACKET};
use super::reunion::Sums;
use super::together::Together;
use super::worker::Worker;
use super::{Budget, Options, Outcome, Shared, block, conclude, prepare, run, workers};
use bombus_kernels::distant::upper;
use bombus_kernels::hash;
use bombus_kernels::parents::Level;
use bombus_kernels::visited::Seat;
use bombus_system::{Glossary, System};
use std::io::{self, Read};
use std::sync::atomic::Ordering;

/// Ends the packets of a level.
const NO_MORE: u64 = 0;

/// Stands for the predecessor of an initial state. No state has it: see `Distant::claim`.
const NONE: u64 = u64::MAX;

/// The name of the part that the machine `rank` of so many writes at a level.
fn name(depth: u32, rank: usize) -> String {
    format!("level-{depth}-machine-{rank}")
}

/// Saves a search that all machines have brought to rest between two levels.
pub(super) fn save<S: System>(
    shared: &Shared<'_, S>,
    together: &Together<'_>,
    keeper: &dyn Keeper,
    workers: &mut [Worker<'_, S>],
    queues: &[[Vec<Batch>; 2]],
) {
    let depth = shared.queues.stage().depth;
    let flawed: std::collections::BTreeSet<u32> = queues
        .iter()
        .flatten()
        .flatten()
        .flat_map(|batch| (0..batch.len()).filter(|at| batch.marks(*at).flawed).map(|at| batch.id(at)))
        .collect();
    let elapsed = || shared.budget.elapsed();
    let mine = name(depth, together.peers.rank());
    let is_flawed = |id: u32| flawed.contains(&id);
    let makes = |mutant: Mutant| cfg!(test) && together.peers.makes(mutant);
    let sleeps = queues.iter().flatten().all(Vec::is_empty) && makes(Mutant::SleeperWithoutPart);
    let late = makes(Mutant::ManifestFirst);
    let write = |seat: &mut Seat| {
        keeper.keep_part(&mine, &mut |out| write_part(shared, together, seat, &is_flawed, &mut Out(out)))
    };
    let written = sleeps || late || write(&mut workers[0].core.seat);
    let records: Vec<_> = workers.iter().map(|worker| &worker.core.record).collect();
    let mut sums = Sums::so_far(shared, &records);
    let mut said = vec![u8::from(written)];
    let Ok(counted) = shared.write_sums(together, &mut sums) else { return };
    said.extend(counted);
    let Some(heard) = together.agree(said) else { return };
    let all = heard.iter().all(|bytes| bytes.first() == Some(&1));
    if all && together.is_first() {
        keeper.keep(&elapsed, &mut |out| write_manifest(together, depth, &heard, &mut Out(out)));
    }
    // Nobody removes earlier parts before the manifest that replaces theirs is there.
    let Some(heard) = together.agree(vec![u8::from(all && keeper.has_kept())]) else { return };
    if late {
        write(&mut workers[0].core.seat);
    }
    if heard[0] == [1] {
        keeper.keep_only_parts(&format!("level-{depth}-"), together.is_first());
    }
    keeper.postpone(elapsed());
}

fn write_manifest(together: &Together<'_>, depth: u32, heard: &[Vec<u8>], out: &mut Out) -> io::Result<()> {
    out.u32(depth)?;
    out.u32(heard.len() as u32)?;
    // What machines counted before the search was resumed last stays what it was.
    let before = together.before.lock();
    out.u32((before.len() + heard.len()) as u32)?;
    before.iter().try_for_each(|bytes| out.bytes(bytes))?;
    heard.iter().try_for_each(|bytes| out.bytes(&bytes[1..]))
}

fn write_part<S: System>(
    shared: &Shared<'_, S>,
    together: &Together<'_>,
    seat: &mut Seat,
    is_flawed: &dyn Fn(u32) -> bool,
    out: &mut Out,
) -> io::Result<()> {
    let distant = shared.visited.distant.as_ref().expect("several machines look far");
    let starts = together.starts.lock().clone();
    let mut state = vec![0; shared.words];
    let (mut glossary, mut states) = (Glossary::default(), Vec::new());
    // The last start is the first id of a level of which nothing is known yet.
    for level in starts.windows(2) {
        for id in level[0]..level[1] {
            if !shared.visited.state(id, &mut state) {
                return Err(io::Error::other("states that are kept as hashes cannot be saved"));
            }
            // Some ids of a level were never used.
            let session = shared.visited.enter(seat);
            let mut session = session.map_err(|_| io::Error::other("a worker failed"))?;
            if session.find(&state) != Some(id) {
                continue;
            }
            drop(session);
            if !shared.system.export(&mut state, &mut glossary) {
                return Err(io::Error::other(
                    "a variable holds a set that is not listed, and that cannot be saved",
                ));
            }
            put_words(&mut states, &state);
            states.extend_from_slice(&distant.predecessor(id).unwrap_or(NONE).to_le_bytes());
            states.push(is_flawed(id).into());
            if states.len() + glossary.bytes().len() >= PACKET {
                write_packet(&mut glossary, &mut states, out)?;
            }
        }
        write_packet(&mut glossary, &mut states, out)?;
        out.u64(NO_MORE)?;
    }
    Ok(())
}

fn write_packet(glossary: &mut Glossary, states: &mut Vec<u8>, out: &mut Out) -> io::Result<()> {
    if !states.is_empty() {
        out.bytes(&super::exchange::pack(glossary, states))?;
    }
    Ok(())
}

/// Goes on with a search that was saved on any number of machines.
pub(super) fn resume<S: System>(
    system: &S,
    options: &Options,
    budget: &Budget,
    from: &mut dyn Read,
) -> Result<Outcome, Refusal> {
    let keeper = options.keeper.as_ref().ok_or_else(|| wrong("parts that nobody can read"))?;
    let mut from = In(from);
    let (depth, machines) = (from.u32()?, from.u32()?);
    let before: io::Result<Vec<Vec<u8>>> = (0..from.u32()?).map(|_| from.bytes()).collect();
    let no_memory = || Refusal::Unreadable("it does not fit into the memory limit".into());
    let (shared, lanes) = prepare(system, options, budget).ok_or_else(no_memory)?;
    let states;
    let records = {
        let together = shared.together.as_ref().expect("only several machines have parts");
        *together.before.lock() = before?;
        let mut parts = Vec::new();
        for rank in 0..machines {
            parts.push(keeper.part(&name(depth, rank as usize))?);
        }
        let mut restored = Restored::new(&shared, together);
        for level in 0..=depth {
            for part in &mut parts {
                restored.read_level(&mut In(part), level == depth)?;
            }
            shared.visited.give_back(&mut restored.seat);
            together.starts.lock().push(shared.visited.bound());
        }
        for part in &mut parts {
            if part.read(&mut [0])? != 0 {
                return Err(wrong("something after its end"));
            }
        }
        states = restored.states;
        restored.begin(depth, lanes)
    };
    let mut outcome = conclude(shared, records).map_err(Refusal::Internal)?;
    outcome.resumed = Some(states);
    Ok(outcome)
}

/// The states of this machine, as they are read.
struct Restored<'a, S: System> {
    shared: &'a Shared<'a, S>,
    together: &'a Together<'a>,
    seat: Seat,
    scratch: S::Worker,
    states: u64,
    frontier: Vec<Batch>,
}

impl<'a, S: System> Restored<'a, S> {
    fn new(shared: &'a Shared<'a, S>, together: &'a Together<'a>) -> Self {
        *together.starts.lock() = vec![0];
        let scratch = shared.system.worker();
        Restored { shared, together, seat: shared.visited.seat(0), scratch, states: 0, frontier: Vec::new() }
    }

    /// Reads the states of one level from one part.
    fn read_level(&mut self, from: &mut In, waits: bool) -> Result<(), Refusal> {
        loop {
            let packet = from.bytes()?;
            if packet.is_empty() {
                return Ok(());
            }
            self.read_packet(&packet, waits).ok_or_else(|| wrong("states that cannot be read"))??;
        }
    }

    fn read_packet(&mut self, packet: &[u8], waits: bool) -> Option<Result<(), Refusal>> {
        let shared = self.shared;
        let words = shared.words;
        let (count, mut glossary, states) = unpack(packet)?;
        let values: Vec<u32> =
            (0..count).map(|_| shared.system.learn(&mut glossary)).collect::<Option<_>>()?;
        let size = words * 8 + 9;
        if !glossary.is_empty() || states.len() % size != 0 {
            return None;
        }
        let mut state = vec![0; words];
        for record in states.chunks_exact(size) {
            let rest = take_words(record, &mut state)?;
            let predecessor = u64::from_le_bytes(*rest.first_chunk()?);
            if !shared.system.import(&mut state, &values) {
                return None;
            }
            let print = shared.system.fingerprint(&mut self.scratch, &state);
            let print = print.unwrap_or_else(|| hash::words(&state));
            if self.together.peers.owners().of(upper(print)) != self.together.peers.rank() {
                continue;
            }
            let flawed = record[size - 1] != 0;
            if let Err(refusal) = self.put(&state, print, predecessor, waits.then_some(flawed)) {
                return Some(Err(refusal));
            }
        }
        Some(Ok(()))
    }

    /// Puts one state where it belongs; `waits` if it waits for its expansion, with its mark.
    fn put(
        &mut self,
        state: &[u64],
        print: u128,
        predecessor: u64,
        waits: Option<bool>,
    ) -> Result<(), Refusal> {
        let shared = self.shared;
        let full = || Refusal::Unreadable("it does not fit into the memory limit".into());
        let id = {
            let mut session = shared.visited.enter(&mut self.seat).map_err(|_| full())?;
            let key = session.key(state).map_err(|_| full())?;
            let entry = session.insert(key).map_err(|_| full())?;
            if !entry.fresh {
                return Err(wrong("a state twice"));
            }
            entry.id
        };
        let distant = shared.visited.distant.as_ref().expect("several machines look far");
        if predecessor != NONE {
            distant.claim(id, u128::from(predecessor) << 64);
        }
        self.states += 1;
        if let Some(flawed) = waits {
            if self.frontier.last().is_none_or(Batch::is_full) {
                self.frontier.push(Batch::new(shared.words, &shared.meter).map_err(|_| full())?);
            }
            if let Some(batch) = self.frontier.last_mut() {
                batch.push(id, print, state, Marks { flawed, loose: false });
            }
        }
        Ok(())
    }

    /// Hands the states that wait to workers, and lets them go on.
    fn begin(self, depth: u32, lanes: Vec<Lane>) -> Vec<super::sink::Record> {
        let Restored { shared, together, seat, states, frontier, .. } = self;
        shared.visited.rise(seat);
        let bound = shared.visited.bound();
        let first = together.starts.lock()[depth as usize];
        let level = Level { odd: depth % 2 == 1, expanding: first, filling: bound };
        let waiting: u64 = frontier.iter().map(|batch| batch.len() as u64).sum();
        let stage = Stage { depth, level, before: None, block: block(waiting, shared.workers) };
        shared.queues.begin(stage);
        shared.queues.tally.created(0, waiting);
        shared.states.add(0, states);
        shared.progress.states.store(states, Ordering::Relaxed);
        shared.progress.expanded.store(states - waiting, Ordering::Relaxed);
        shared.progress.depth.store(depth, Ordering::Relaxed);
        together.sending.store(shared.workers, Ordering::Relaxed);
        let mut workers = workers(shared, lanes);
        let count = workers.len();
        for (i, batch) in frontier.into_iter().enumerate() {
            workers[i % count].lane.refill((depth & 1) as usize, [batch]);
        }
        run(shared, workers)
    }
}
