//! The temporal formulas of a certificate: those that are claimed to hold, and a path that is claimed to break one.
//!
//! In: a certificate whose states were all examined; or a trace. Out: nothing, or a reason to reject; what is open beside.
//! Never here: how a formula is decided on a graph (`product`) or along a path (`word`).

use crate::certificate::Certificate;
use crate::examine::Examiner;
use crate::formula::Formula;
use crate::members::Members;
use crate::product::{Graph, holds};
use crate::report::Open;
use crate::run::{Options, STACK, events};
use crate::start::Start;
use bombus_oracle::tree::{Machine, Pred};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Decides the formulas that are claimed to hold.
pub fn formulas(
    c: &Certificate,
    machine: &Machine,
    members: &Members,
    start: &Start,
    options: &Options,
    open: &mut Open,
) -> Result<(), String> {
    if c.manifest.formulas.is_empty() {
        return Ok(());
    }
    if c.manifest.reduced || open.total() > 0 {
        open.enter("temporal formulas, since not all transitions are known", String::new);
        return Ok(());
    }
    let names = events(machine);
    let mut all = Vec::new();
    for f in &c.manifest.formulas {
        all.push(Formula::read(&f["formula"], &names).map_err(|why| format!("{}: {why}", f["text"]))?);
    }
    let preds: Vec<Pred> = all.iter().flat_map(|f| f.preds.iter().cloned()).collect();
    if preds.len() > 64 || c.states.count > u64::from(u32::MAX) {
        open.enter("temporal formulas: too many predicates or states", String::new);
        return Ok(());
    }
    let examiner = || {
        let mut examiner = Examiner::new(c, machine, members, &start.slots, options.steps);
        examiner.watch(&preds);
        examiner
    };
    let (mut graph, atoms) = match graph(c, &examiner, options.jobs.max(1)) {
        Ok(made) => made,
        Err(why) => {
            open.enter(&format!("temporal formulas: {why}"), String::new);
            return Ok(());
        }
    };
    for (k, state) in &start.states {
        let number = members.find(c, *k, state).flatten().ok_or("an initial state is missing")?;
        graph.initial.push(number as u32);
    }
    let mut first = 0;
    for (f, json) in all.iter().zip(&c.manifest.formulas) {
        let mask = if f.preds.len() == 64 { u64::MAX } else { (1 << f.preds.len()) - 1 };
        let own: Vec<u64> = atoms.iter().map(|a| a >> (first % 64) & mask).collect();
        first += f.preds.len();
        match holds(f, &graph, &own, options.nodes) {
            Ok(true) => {}
            Ok(false) => return Err(format!("a path breaks the formula {}", json["text"])),
            Err(why) => open.enter(&format!("temporal formulas: {why}"), || json["text"].to_string()),
        }
    }
    Ok(())
}

/// The transitions and atoms of one block.
type Part = (usize, Vec<(Vec<(u32, u32)>, u64)>);

/// All transitions, and the truth of all predicates in each state.
fn graph<'a>(
    c: &'a Certificate,
    examiner: &(dyn Fn() -> Examiner<'a> + Sync),
    jobs: usize,
) -> Result<(Graph, Vec<u64>), String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut examiner, mut parts): (_, Vec<Part>) = (examiner(), Vec::new());
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= c.states.blocks() {
                return Ok(parts);
            }
            let (mut rows, mut wrong) = (Vec::new(), None);
            c.states.each(block, &mut |number, bytes| {
                let row = one_state(&mut examiner, number, bytes);
                match row {
                    Ok(row) => rows.push(row),
                    Err(why) => wrong = Some(why),
                }
                wrong.is_none()
            });
            match wrong {
                Some(why) => return Err(why),
                None => parts.push((block, rows)),
            }
        }
    };
    let parts: Vec<Result<Vec<Part>, String>> = std::thread::scope(|scope| {
        let thread = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let threads: Vec<_> = (0..jobs).map(thread).collect();
        let join = |t: std::io::Result<std::thread::ScopedJoinHandle<_>>| match t.map(|t| t.join()) {
            Ok(Ok(part)) => part,
            _ => Err("an examiner failed".into()),
        };
        threads.into_iter().map(join).collect()
    });
    let mut all: Vec<Part> = Vec::new();
    for part in parts {
        all.extend(part?);
    }
    all.sort_by_key(|p| p.0);
    let (mut graph, mut atoms) = (Graph { starts: vec![0], ..Graph::default() }, Vec::new());
    for (edges, truths) in all.into_iter().flat_map(|p| p.1) {
        graph.edges.extend(edges);
        graph.starts.push(graph.edges.len());
        atoms.push(truths);
    }
    Ok((graph, atoms))
}

/// The transitions of a state and the truth of the predicates in it.
fn one_state(examiner: &mut Examiner, number: u64, bytes: &[u8]) -> Result<(Vec<(u32, u32)>, u64), String> {
    let (mut edges, mut lost) = (Vec::new(), false);
    examiner.state(
        number,
        bytes,
        Some(&mut |event, target| match target {
            Some(n) => edges.push((event as u32, n as u32)),
            None => lost = true,
        }),
    )?;
    if lost {
        return Err("a successor is not known".into());
    }
    edges.sort_unstable();
    edges.dedup();
    Ok((edges, examiner.truths(bytes)?))
}
