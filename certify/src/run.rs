//! The whole check of a certificate: what is examined, by how many threads, and what the answer is.
//!
//! In: a directory and options. Out: a report, or why there is nothing to check.
//! Threads share nothing that changes but the number of the next block; every thread has an oracle of its own.
//! Never here: obligations of single states.

use crate::certificate::{Certificate, Files, Unread, bytes_of};
use crate::examine::{Counted, Examiner};
use crate::log;
use crate::manifest::Counts;
use crate::members::Members;
use crate::orbit::Group;
use crate::reads::{chooses, elements};
use crate::report::{Open, Part, Report};
use crate::start::{STEPS, Start, start};
use crate::states::{States, hex};
use crate::{reduced, refinement, temporal, trace, unlisted};
use bombus_oracle::text::Core;
use bombus_oracle::tree::Machine;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Links between states that are remembered, of eight bytes each; of more it is not examined whether all states are reached.
const MOST_LINKS: usize = 1 << 26;

/// Trees may be nested as deeply as their reader allows; every level costs some stack.
pub const STACK: usize = 1 << 28;

/// What to examine, and with how much effort.
#[derive(Clone, Debug)]
pub struct Options {
    pub jobs: usize,
    /// Only so many states, chosen by the root.
    pub sample: Option<u64>,
    /// Only one part of several, counted from 1.
    pub shard: Option<(u64, u64)>,
    /// Steps of evaluation for one question.
    pub steps: u64,
    /// Blocks that were found to be right are entered here, and those entered before are not examined again.
    pub logs: Vec<PathBuf>,
    /// The most nodes of a product with the automaton of a formula.
    pub nodes: usize,
}

impl Default for Options {
    fn default() -> Options {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Options { jobs, sample: None, shard: None, steps: STEPS, logs: Vec::new(), nodes: 100_000_000 }
    }
}

/// Checks the certificate in a directory, on a thread with a stack for deep trees.
pub fn check(dir: &Path, options: &Options) -> Result<Report, Unread> {
    std::thread::scope(|scope| {
        let files = |name: &str, most: u64| bytes_of(dir, name, most);
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, move || examined(&files, options));
        let thread = thread.map_err(|e| Unread::Missing(format!("no thread: {e}")))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Checks the certificate that consists of these files, on the thread at hand, which needs a large stack.
pub fn examined(files: Files, options: &Options) -> Result<Report, Unread> {
    let c = Certificate::load(files)?;
    let mut report = Report {
        name: c.machine.name.to_string(),
        manifest: c.manifest.clone(),
        rejected: None,
        open: Open::default(),
        part: Part::Whole,
        counted: Counts::default(),
        root: hex(&c.states.root),
        reached: false,
        refines: None,
    };
    for what in &c.manifest.not_certified {
        report.open.enter(&format!("the producer says that it is not certified: {what}"), String::new);
    }
    let examined = if !c.manifest.verified {
        trace::replay(&c, options.steps, &mut report.open)
    } else if c.manifest.allowed {
        // The lock-step looks at the machine too.
        Ok(())
    } else if let Some(why) = &c.manifest.unlisted {
        unlisted::explored(&c, why, options, &mut report)
    } else if c.manifest.reduced {
        reduced::examined(&c, options, &mut report)?
    } else {
        verified(&c, options, &mut report)?
    };
    let examined = examined.and_then(|()| refinement::examined(&c, options, &mut report));
    report.rejected = examined.err().or_else(|| report.open.ill_typed());
    Ok(report)
}

/// One block to examine: all its states, or some.
struct Work {
    block: usize,
    only: Option<Vec<u64>>,
}

/// What came out of one block.
struct Done {
    block: usize,
    counted: Counted,
    open: Open,
    rejected: Option<(u64, String)>,
    links: Vec<(u32, u32)>,
}

/// Nothing, or a reason to reject.
pub type Examined = Result<(), String>;

/// Examines the states that a certificate lists.
pub fn verified(c: &Certificate, options: &Options, report: &mut Report) -> Result<Examined, Unread> {
    let mut known = log::read(&options.logs, &report.root).map_err(Unread::Missing)?;
    let mut writer = log::Writer::open(options.logs.first(), &report.root).map_err(Unread::Missing)?;
    if options.sample.is_some() {
        known.clear();
    }
    Ok(examine(c, options, report, &known, &mut writer))
}

fn examine(
    c: &Certificate,
    options: &Options,
    report: &mut Report,
    known: &BTreeMap<usize, log::Entry>,
    writer: &mut log::Writer,
) -> Examined {
    let named = named_elements(c);
    // A choice of the least element tells all elements apart.
    let alike = !texts(c).iter().any(|text| chooses(text));
    let constants = Group::new(&c.machine, &named, |_| alike);
    let claimed = |set: &str| c.manifest.symmetry.iter().any(|s| &**s == set);
    let chosen = Group::new(&c.machine, &named, |set| alike && claimed(set));
    let members = Members::new(c, &chosen, options.jobs.max(1))?;
    let start = start(c, &members, &constants, options.steps)?;
    report.open.add(start.open.clone());
    report.counted.valuations = c.constants.len() as u64;
    report.counted.initial = start.members.len() as u64;
    let (work, part) = plan(c, options, known);
    report.part = part;
    let machine = Machine { scope: None, ..c.machine.clone() };
    let names: Vec<String> = events(&machine);
    let claimed: BTreeSet<&String> = c.manifest.counts.events.keys().collect();
    if !c.manifest.reduced && names.iter().collect::<BTreeSet<_>>() != claimed {
        return Err("the manifest counts other events than those of the machine".into());
    }
    let mut counted = Counted { states: 0, events: vec![(0, 0); names.len()] };
    for (block, entry) in known {
        if *block >= c.states.blocks() || entry.counted.events.len() != names.len() {
            return Err(format!("block {block} of a log is none of this certificate"));
        }
        counted.add(&entry.counted);
        report.open.add(entry.open.clone());
    }
    let done = in_parallel(c, options, &machine, &members, &start, &work, writer);
    let mut rejected: Option<(u64, String)> = None;
    let mut links = Vec::new();
    for d in done {
        links.extend(d.links);
        counted.add(&d.counted);
        report.open.add(d.open);
        rejected = rejected.into_iter().chain(d.rejected).min_by_key(|r| r.0);
    }
    report.counted.states = counted.states;
    report.counted.transitions = counted.events.iter().map(|e| e.1).sum();
    report.counted.events = names.iter().cloned().zip(counted.events).collect();
    match rejected {
        Some((_, why)) => return Err(why),
        None if report.part == Part::Whole => totals(c, report)?,
        None => {}
    }
    let linked = known.is_empty() && c.states.count <= u32::MAX.into() && links.len() <= MOST_LINKS;
    if report.part == Part::Whole && !c.manifest.reduced && report.open.total() == 0 && linked {
        reached(c, &start, links)?;
        report.reached = true;
    }
    if report.part == Part::Whole && c.manifest.reduced {
        reduced::linked(c, &machine, &members, &start, options)?;
    }
    if report.part == Part::Whole {
        temporal::formulas(c, &machine, &members, &start, options, &mut report.open)?;
    } else if !c.manifest.formulas.is_empty() {
        report.open.enter("temporal formulas, which need the whole certificate", String::new);
    }
    Ok(())
}

/// The elements that the machine or a formula names.
fn named_elements(c: &Certificate) -> BTreeSet<(String, u32)> {
    texts(c).iter().flat_map(|text| elements(text)).collect()
}

/// The machine and all texts in the formulas of a certificate.
fn texts(c: &Certificate) -> Vec<String> {
    let mut all = vec![c.machine.write()];
    let mut open: Vec<&Json> = c.manifest.formulas.iter().collect();
    while let Some(json) = open.pop() {
        open.extend(json.as_array().into_iter().flatten());
        open.extend(json.as_object().into_iter().flat_map(|o| o.values()));
        all.extend(json.as_str().map(str::to_string));
    }
    all
}

/// The names of the events of a machine, in their order.
pub fn events(machine: &Machine) -> Vec<String> {
    machine.operations.iter().filter(|o| o.event).map(|o| o.name.to_string()).collect()
}

/// What is examined in this run.
fn plan(c: &Certificate, options: &Options, known: &BTreeMap<usize, log::Entry>) -> (Vec<Work>, Part) {
    let blocks = c.states.blocks();
    if let Some(n) = options.sample {
        let mut by_block: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        let chosen = sample(&c.states, n);
        for state in &chosen {
            by_block.entry(c.states.block_of(*state).0).or_default().push(*state);
        }
        let work = by_block.into_iter().map(|(block, only)| Work { block, only: Some(only) }).collect();
        return (work, Part::Sample(chosen.len() as u64));
    }
    let (part, of) = options.shard.unwrap_or((1, 1));
    let mine = |b: &usize| *b as u64 % of == part - 1 && !known.contains_key(b);
    let work: Vec<Work> = (0..blocks).filter(mine).map(|block| Work { block, only: None }).collect();
    let seen = known.len() + work.len();
    let whole = seen == blocks;
    (work, if whole { Part::Whole } else { Part::Shard(seen as u64, blocks as u64) })
}

/// Numbers of states that the producer of a certificate could not choose.
fn sample(states: &States, n: u64) -> BTreeSet<u64> {
    let number = |i: u64| {
        let hash = Sha256::new().chain_update(states.root).chain_update(i.to_le_bytes()).finalize();
        u64::from_le_bytes(hash[..8].try_into().unwrap_or_default()) % states.count
    };
    if states.count == 0 { BTreeSet::new() } else { (0..n).map(number).collect() }
}

fn in_parallel(
    c: &Certificate,
    options: &Options,
    machine: &Machine,
    members: &Members,
    start: &Start,
    work: &[Work],
    writer: &mut log::Writer,
) -> Vec<Done> {
    let (next, bad) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let (send, receive) = mpsc::channel::<Done>();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1).min(work.len()) {
            let (send, next, bad) = (send.clone(), &next, &bad);
            let body = move || {
                let mut examiner = Examiner::new(c, machine, members, &start.slots, options.steps);
                // Blocks behind a bad one are left; those before it are not, so that the first fault is told.
                while let Some(work) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if work.block > bad.load(Ordering::Relaxed) {
                        continue;
                    }
                    let done = one_block(c, &mut examiner, work);
                    if done.rejected.is_some() {
                        bad.fetch_min(work.block, Ordering::Relaxed);
                    }
                    if send.send(done).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, body).expect("the system can start a thread");
        }
        drop(send);
        let mut all = Vec::new();
        for done in receive {
            if done.rejected.is_none() && work.iter().all(|w| w.only.is_none()) {
                writer.enter(done.block, &done.counted, &done.open);
            }
            all.push(done);
        }
        all
    })
}

fn one_block(c: &Certificate, examiner: &mut Examiner, work: &Work) -> Done {
    examiner.open = Open::default();
    examiner.counted = Counted { states: 0, events: vec![(0, 0); examiner.counted.events.len()] };
    let mut rejected = None;
    c.states.each(work.block, &mut |number, bytes| {
        if work.only.as_ref().is_some_and(|only| only.binary_search(&number).is_err()) {
            return true;
        }
        rejected = examiner.state(number, bytes, None).err().map(|why| (number, why));
        rejected.is_none()
    });
    let (counted, open) = (examiner.counted.clone(), std::mem::take(&mut examiner.open));
    let links = std::mem::take(&mut examiner.links);
    Done { block: work.block, counted, open, rejected, links }
}

/// From the initial states all listed ones are reached: a list that is closed and holds a state too many would tell the right
/// verdict and the wrong counts.
fn reached(c: &Certificate, start: &Start, mut links: Vec<(u32, u32)>) -> Examined {
    links.sort_unstable();
    let mut is_reached = vec![false; c.states.count as usize];
    let mut open: Vec<u32> = start.members.iter().map(|n| *n as u32).collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut is_reached[state as usize], true) {
            let first = links.partition_point(|link| link.0 < state);
            open.extend(links[first..].iter().take_while(|link| link.0 == state).map(|link| link.1));
        }
    }
    match is_reached.iter().position(|reached| !reached) {
        Some(state) => Err(format!("state {state} is listed, and no path leads to it")),
        None => Ok(()),
    }
}

/// The counts of the manifest are those that were counted.
fn totals(c: &Certificate, report: &mut Report) -> Examined {
    let (claimed, counted) = (&c.manifest.counts, &report.counted);
    if claimed.states != counted.states {
        return Err(format!("there are {} states, not {}", counted.states, claimed.states));
    }
    let steps =
        c.manifest.reduced || claimed.transitions == counted.transitions && claimed.events == counted.events;
    if steps && claimed.initial == counted.initial {
        return Ok(());
    }
    if report.open.total() > 0 && !c.manifest.reduced {
        report.open.enter("the counts of the manifest", String::new);
        return Ok(());
    }
    let wrong = counted.events.iter().find(|(name, n)| claimed.events.get(*name) != Some(n));
    Err(match wrong {
        Some((name, (states, transitions))) => format!(
            "{name} makes {transitions} transitions in {states} states, the manifest claims {:?}",
            claimed.events.get(name).map(|e| (e.1, e.0))
        ),
        None => format!(
            "{} initial states and {} transitions were counted, the manifest claims {} and {}",
            counted.initial, counted.transitions, claimed.initial, claimed.transitions
        ),
    })
}
