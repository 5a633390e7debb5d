//! Bounded model checking path by path: a tree of event sequences, pruned where a sequence has no behaviour.
//!
//! In: a search as for `bmc`. Out: the violation at the end of the least sequence, by length and then by the order of
//! events. A node of the tree is a list of assumptions in one solver, so what is learnt at one node helps at the next. A
//! sequence is not asked about if its last event is proven to break nothing.

use super::bmc::{Ended, Search};
use super::sat::Lit;
use super::unroll::Reply;

/// More sequences of one length than this are given up.
const SEQUENCES: usize = 500_000;

/// All sequences up to a length. The figures are the queries about ends of sequences.
pub fn run<V>(search: &mut Search<V>, last: usize) -> Ended<V> {
    if let Some(ended) = search.begin() {
        return ended;
    }
    let mut sequences: Vec<(Vec<Lit>, Option<usize>)> = vec![(Vec::new(), None)];
    for depth in 0..=last {
        (search.progress)(depth);
        for (sequence, last) in &sequences {
            let settled = last.is_some_and(|event| search.unrolling.is_settled_after(event, &search.active));
            if !settled && let Some(ended) = search.look(depth, sequence) {
                return ended;
            }
        }
        search.run.depth = Some(depth);
        if depth == last {
            break;
        }
        // What no sequence of this length shows is ruled out for all longer ones.
        let chosen = search.unrolling.frames[depth].step.chosen.clone();
        let without = search.active.clone();
        search.unrolling.extend(&without);
        let mut longer = Vec::new();
        for (sequence, _) in &sequences {
            for (event, lit) in chosen.iter().enumerate() {
                let mut next = sequence.clone();
                next.push(*lit);
                match search.unrolling.ask(&next) {
                    Reply::Proof => {}
                    Reply::Unknown => return Ended::Stopped,
                    Reply::TooNarrow => {
                        search.run.narrow = true;
                        longer.push((next, Some(event)));
                    }
                    Reply::Candidate => longer.push((next, Some(event))),
                }
                if longer.len() > SEQUENCES {
                    search
                        .run
                        .doubts
                        .push(format!("more than {SEQUENCES} sequences of {} events", depth + 1));
                    return Ended::Depth;
                }
            }
        }
        if longer.is_empty() {
            return Ended::AllPaths;
        }
        sequences = longer;
    }
    Ended::Depth
}
