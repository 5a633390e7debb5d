//! Bounded model checking path by path: a tree of event sequences, pruned where a sequence has no behaviour.
//!
//! In: a search as for `bmc`, and how to make further unrollings like its own. Out: the violation at the end of the least
//! sequence, by length and then by the order of events. A sequence is a list of assumptions, so what a solver learns about
//! one helps with the next. A sequence is not asked about if its last event is proven to break nothing.
//!
//! Helpers, each with an unrolling of its own, share out the questions about sequences of one length. The search itself
//! only asks where a helper found no refutation, in the order of the sequences: so what is found, and by which
//! queries, does not depend on the number of helpers.

use super::bmc::{Ended, Search};
use super::sat::Lit;
use super::unroll::{Figures, Reply, Target, Unrolling};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// More sequences of one length than this are given up.
const SEQUENCES: usize = 500_000;
/// Sequences that are asked about at a time.
const PORTION: usize = 4096;
/// The encoder recurses as deep as formulas do.
const STACK: usize = 256 << 20;

/// Events by their numbers, first to last.
type Sequence = Vec<usize>;

/// How helpers are made.
pub struct Beside<'h, 'm> {
    pub helpers: usize,
    /// An unrolling like that of the search, with nothing asserted but the constants.
    pub unrolling: &'h (dyn Fn() -> Unrolling<'m> + Sync),
}

/// All sequences up to a length. The figures are the queries about ends of sequences.
pub fn run<'m, V>(search: &mut Search<'_, 'm, V>, last: usize, beside: &Beside<'_, 'm>) -> Ended<V> {
    if let Some(ended) = search.begin() {
        return ended;
    }
    (search.progress)(0);
    // The state after the initialisation is one question, and none for helpers.
    if let Some(ended) = search.look(0, &[]) {
        return ended;
    }
    search.run.depth = Some(0);
    search.run.ends = Some(1);
    if last == 0 {
        return Ended::Depth;
    }
    std::thread::scope(|scope| {
        let helpers = Helpers::new(scope, beside);
        let ended = longer_ones(search, last, &helpers);
        search.run.beside = helpers.dismiss();
        ended
    })
}

/// The sequences of one event and more.
fn longer_ones<V>(search: &mut Search<V>, last: usize, helpers: &Helpers) -> Ended<V> {
    let mut sequences: Vec<Sequence> = vec![Vec::new()];
    for depth in 1..=last {
        // What no shorter sequence shows is ruled out for all longer ones.
        let without = search.active.clone();
        let events = search.unrolling.frames[depth - 1].step.chosen.len();
        search.unrolling.extend(&without);
        helpers.extend(&without);
        sequences = match prolonged(search, &sequences, events, helpers) {
            Ok(longer) => longer,
            Err(ended) => return ended,
        };
        if sequences.is_empty() {
            return Ended::AllPaths;
        }
        (search.progress)(depth);
        for portion in sequences.chunks(PORTION) {
            if let Some(ended) = looked_at(search, depth, portion, helpers) {
                return ended;
            }
        }
        search.run.depth = Some(depth);
    }
    Ended::Depth
}

/// The sequences with one more event that have a behaviour.
fn prolonged<V>(
    search: &mut Search<V>,
    sequences: &[Sequence],
    events: usize,
    helpers: &Helpers,
) -> Result<Vec<Sequence>, Ended<V>> {
    let mut longer: Vec<Sequence> = Vec::new();
    for portion in sequences.chunks(PORTION) {
        let next: Vec<Sequence> = portion
            .iter()
            .flat_map(|sequence| (0..events).map(|event| [&sequence[..], &[event]].concat()))
            .collect();
        let (next, replies) = helpers.ask(next, Question::Possible);
        for (sequence, reply) in next.iter().zip(replies) {
            match reply {
                Reply::Proof => continue,
                Reply::Unknown => return Err(Ended::Stopped),
                Reply::TooNarrow => search.run.narrow = true,
                Reply::Candidate => {}
            }
            longer.push(sequence.clone());
        }
        if longer.len() > SEQUENCES {
            let length = longer[0].len();
            search.run.doubts.push(format!("more than {SEQUENCES} sequences of {length} events"));
            return Err(Ended::Depth);
        }
    }
    Ok(longer)
}

/// Looks for targets at the ends of some sequences, in their order. `None`: there are none.
fn looked_at<V>(
    search: &mut Search<V>,
    depth: usize,
    portion: &[Sequence],
    helpers: &Helpers,
) -> Option<Ended<V>> {
    let open: Vec<Sequence> = portion
        .iter()
        .filter(|sequence| {
            let last = sequence[sequence.len() - 1];
            !search.unrolling.is_settled_after(last, &search.active)
        })
        .cloned()
        .collect();
    let active = search.active.clone();
    if search.unrolling.any_of(depth, &active) == Lit::FALSE {
        open.iter().for_each(|_| search.unrolling.note_unasked(depth));
        return None;
    }
    *search.run.ends.get_or_insert(0) += open.len() as u64;
    let (open, replies) = helpers.ask(open, Question::Wrong(depth, active));
    for (sequence, reply) in open.iter().zip(replies) {
        if reply != Reply::Proof {
            let path = literals(&search.unrolling, sequence);
            if let Some(ended) = search.look(depth, &path) {
                return Some(ended);
            }
        }
    }
    None
}

/// The assumptions that a sequence is.
fn literals(unrolling: &Unrolling, sequence: &[usize]) -> Vec<Lit> {
    sequence.iter().zip(&unrolling.frames).map(|(event, frame)| frame.step.chosen[*event]).collect()
}

enum Question {
    /// Whether there is a path with these events.
    Possible,
    /// Whether one of the targets is met in the frame at the end.
    Wrong(usize, Vec<Target>),
}

/// Questions that are shared out.
struct Portion {
    question: Question,
    sequences: Vec<Sequence>,
    next: AtomicUsize,
}

enum Work {
    Extend(Arc<[Target]>),
    Ask(Arc<Portion>, Sender<(usize, Reply)>),
}

/// Threads with an unrolling each.
struct Helpers<'scope> {
    work: Vec<Sender<Work>>,
    threads: Vec<ScopedJoinHandle<'scope, Figures>>,
}

impl<'scope> Helpers<'scope> {
    fn new<'env, 'm>(scope: &'scope Scope<'scope, 'env>, beside: &'env Beside<'_, 'm>) -> Helpers<'scope> {
        let mut helpers = Helpers { work: Vec::new(), threads: Vec::new() };
        for _ in 0..beside.helpers.max(1) {
            let (send, receive) = mpsc::channel();
            let unrolling = beside.unrolling;
            let thread = Builder::new()
                .name("paths".into())
                .stack_size(STACK)
                .spawn_scoped(scope, move || help(unrolling(), &receive));
            // One that cannot be started leaves its share to the others.
            if let Ok(thread) = thread {
                helpers.work.push(send);
                helpers.threads.push(thread);
            }
        }
        helpers
    }

    fn extend(&self, without: &[Target]) {
        let without: Arc<[Target]> = without.into();
        // A helper that has ended, as after a panic, answers nothing any more; `ask` sees that.
        self.work.iter().for_each(|helper| {
            let _ = helper.send(Work::Extend(without.clone()));
        });
    }

    /// The reply for each sequence; what nobody answered is unknown.
    fn ask(&self, sequences: Vec<Sequence>, question: Question) -> (Vec<Sequence>, Vec<Reply>) {
        let mut replies = vec![Reply::Unknown; sequences.len()];
        let portion = Arc::new(Portion { question, sequences, next: AtomicUsize::new(0) });
        let (send, receive) = mpsc::channel();
        for helper in &self.work {
            let _ = helper.send(Work::Ask(portion.clone(), send.clone()));
        }
        drop(send);
        for (i, reply) in receive {
            replies[i] = reply;
        }
        (portion.sequences.clone(), replies)
    }

    /// Ends all helpers; their figures together.
    fn dismiss(self) -> Figures {
        drop(self.work);
        let mut all = Figures::default();
        for thread in self.threads {
            match thread.join() {
                Ok(figures) => {
                    all.queries += figures.queries;
                    all.conflicts += figures.conflicts;
                    all.variables = all.variables.max(figures.variables);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    }
}

/// What a helper does until nobody has work for it.
fn help(mut unrolling: Unrolling, work: &Receiver<Work>) -> Figures {
    unrolling.prepare_beginning();
    unrolling.begin();
    for work in work {
        match work {
            Work::Extend(without) => unrolling.extend(&without),
            Work::Ask(portion, tell) => loop {
                let i = portion.next.fetch_add(1, Ordering::Relaxed);
                let Some(sequence) = portion.sequences.get(i) else { break };
                let reply = answer(&mut unrolling, &portion.question, sequence);
                let unheard = tell.send((i, reply)).is_err();
                if unheard || reply == Reply::Unknown {
                    break;
                }
            },
        }
    }
    unrolling.figures()
}

fn answer(unrolling: &mut Unrolling, question: &Question, sequence: &[usize]) -> Reply {
    let mut assumptions = literals(unrolling, sequence);
    if let Question::Wrong(frame, targets) = question {
        let any = unrolling.any_of(*frame, targets);
        if any == Lit::FALSE {
            return Reply::Proof;
        }
        assumptions.push(any);
    }
    unrolling.ask(&assumptions)
}
