//! Searches that left steps out: the states that they list are not closed under all steps.
//!
//! In: a certificate with the mark "reduced". Out: nothing, or a reason to reject; what is open beside. The machine is
//! explored anew; where that ends, the verdict needs no list, and the list need only be one that such a search could
//! have made: every state of it is reached from an initial one through others, and none is left without a step that has one.
//! Never here: why the steps that were left out do not matter, which only the exploration shows.

use crate::certificate::{Certificate, Unread};
use crate::examine::Examiner;
use crate::members::Members;
use crate::report::{Open, Report};
use crate::run::{Examined, Options, verified};
use crate::start::Start;
use crate::unlisted;
use bombus_oracle::tree::Machine;

/// Explores the machine, and examines the listed states.
pub fn examined(c: &Certificate, options: &Options, report: &mut Report) -> Result<Examined, Unread> {
    let before = report.open.total();
    if let Err(finding) = unlisted::explored(c, "the search left steps out", options, report) {
        return Ok(Err(finding));
    }
    let is_whole = report.open.total() == before;
    let mut listed = Report { open: Open::default(), ..report.clone() };
    let examined = verified(c, options, &mut listed)?;
    if !is_whole {
        listed.open.add(std::mem::take(&mut report.open));
        *report = listed;
    }
    Ok(examined)
}

/// Every listed state can be reached through listed states, and has a listed successor if it has any.
pub fn linked(
    c: &Certificate,
    machine: &Machine,
    members: &Members,
    start: &Start,
    options: &Options,
) -> Examined {
    let mut examiner = Examiner::new(c, machine, members, &start.slots, options.steps);
    let mut targets: Vec<Vec<u32>> = Vec::new();
    for block in 0..c.states.blocks() {
        let mut wrong = None;
        c.states.each(block, &mut |number, bytes| {
            let (mut own, mut steps) = (Vec::new(), 0);
            let mut edge = |_, target: Option<u64>| {
                steps += 1;
                own.extend(target.map(|n| n as u32));
            };
            wrong = examiner.state(number, bytes, Some(&mut edge)).err();
            if steps > 0 && own.is_empty() {
                wrong = Some(format!("state {number} has successors, and none of them is listed"));
            }
            own.sort_unstable();
            own.dedup();
            targets.push(own);
            wrong.is_none()
        });
        if let Some(why) = wrong {
            return Err(why);
        }
    }
    let mut is_reached = vec![false; targets.len()];
    let mut open: Vec<u32> = start.members.iter().map(|n| *n as u32).collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut is_reached[state as usize], true) {
            open.extend(targets[state as usize].iter().copied());
        }
    }
    match is_reached.iter().position(|r| !r) {
        Some(state) => Err(format!("state {state} is not reached through listed states")),
        None => Ok(()),
    }
}
