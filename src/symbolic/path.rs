//! Bounded model checking path by path: a tree of event sequences, pruned where a sequence has no behaviour.
//!
//! In: a search as for `bmc`. Out: the violation at the end of the least sequence, by length and then by the order of
//! events. A node of the tree is a list of assumptions in one solver, so what is learnt at one node helps at the next.

use super::bmc::{Ended, Search};
use super::sat::Lit;
use super::unroll::Reply;

/// More sequences of one length than this are given up.
const SEQUENCES: usize = 20_000;

/// All sequences up to a length. The figures are the queries about ends of sequences.
pub fn run<V>(search: &mut Search<V>, last: usize) -> Ended<V> {
    if let Some(ended) = search.begin() {
        return ended;
    }
    let mut sequences: Vec<Vec<Lit>> = vec![Vec::new()];
    for depth in 0..=last {
        (search.progress)(depth);
        for sequence in &sequences {
            if let Some(ended) = search.look(depth, sequence) {
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
        for sequence in &sequences {
            for event in &chosen {
                let mut next = sequence.clone();
                next.push(*event);
                match search.unrolling.ask(&next) {
                    Reply::Proof => {}
                    Reply::Unknown => return Ended::Stopped,
                    Reply::TooNarrow => {
                        search.run.narrow = true;
                        longer.push(next);
                    }
                    Reply::Candidate => longer.push(next),
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
