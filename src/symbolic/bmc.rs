//! Bounded model checking: the shortest violation, by longer and longer unrollings.
//!
//! In: an unrolling, a judge of candidates. Out: a confirmed violation, or how far none was found. Every depth is asked
//! once for all targets together. If at some depth no path is left, all paths were seen. Where formulas were replaced by
//! unknowns a candidate may be spurious: then other candidates are asked for, a few times, and a target that the judge
//! confirms in none of them is dropped, after which the run is no proof.

use super::sat::Lit;
use super::unroll::{Candidate, Figures, Reply, Target, Unrolling};
use bombus_base::budget::Budget;

/// Candidates of one question that are judged before its targets are dropped.
const CANDIDATES: usize = 16;

/// What a judge says of a candidate.
pub enum Judged<V> {
    Violation(V),
    /// The machine does not do this.
    Spurious(String),
}

/// How a search ended.
pub enum Ended<V> {
    Violation(V),
    /// PROPERTIES have no solution, or INITIALISATION has none for any of them; a proof, or for want of bits.
    NoBeginning {
        proved: bool,
    },
    /// No path is longer than the depth, and nothing was found.
    AllPaths,
    /// All depths up to the last one were asked.
    Depth,
    /// Stopped by a limit.
    Stopped,
}

/// What is remembered along the way.
#[derive(Default)]
pub struct Run {
    /// The last depth at which nothing was found.
    pub depth: Option<usize>,
    /// Targets that are no longer looked for, with the reason.
    pub dropped: Vec<(Target, String)>,
    /// Doubts that do not belong to a target.
    pub doubts: Vec<String>,
    /// Some depth was left on the strength of a width that nothing bounds.
    pub narrow: bool,
    /// Sequences of events whose ends were asked about, where the search goes path by path.
    pub ends: Option<u64>,
    /// Figures of helpers.
    pub beside: Figures,
}

/// Candidates of one question that the judge did not confirm.
#[derive(Default)]
struct Refuted {
    /// Their targets, with the reasons.
    targets: Vec<(Target, String)>,
    /// Each literal holds of all paths but one of them.
    others: Vec<Lit>,
}

pub struct Search<'a, 'm, V> {
    pub unrolling: Unrolling<'m>,
    pub run: Run,
    pub active: Vec<Target>,
    pub judge: &'a mut dyn FnMut(&Candidate) -> Judged<V>,
    pub progress: &'a dyn Fn(usize),
    pub budget: &'a Budget,
    /// All targets are looked for, each until it is found.
    pub keep_going: bool,
    /// What was found on the way, if the search goes on.
    pub found: Vec<V>,
}

impl<'a, 'm, V> Search<'a, 'm, V> {
    pub fn new(
        unrolling: Unrolling<'m>,
        judge: &'a mut dyn FnMut(&Candidate) -> Judged<V>,
        progress: &'a dyn Fn(usize),
        budget: &'a Budget,
    ) -> Search<'a, 'm, V> {
        let active = unrolling.all_targets();
        let (run, found) = (Run::default(), Vec::new());
        Search { unrolling, run, active, judge, progress, budget, keep_going: false, found }
    }

    /// The constants and the initialisation. `None`: there is a first frame now.
    pub fn begin(&mut self) -> Option<Ended<V>> {
        let u = &mut self.unrolling;
        match u.ask(&[]) {
            Reply::Proof => return Some(Ended::NoBeginning { proved: true }),
            Reply::Unknown => return Some(Ended::Stopped),
            Reply::TooNarrow => return Some(Ended::NoBeginning { proved: false }),
            Reply::Candidate => {}
        }
        u.prepare_beginning();
        let fault = u.beginning.as_ref().map(|b| b.fault).expect("the initialisation was prepared");
        let none = u.no_beginning();
        for (lit, word) in
            [(fault, "INITIALISATION may go wrong"), (none, "INITIALISATION may have no outcome")]
        {
            match u.ask(&[lit]) {
                Reply::Proof => {}
                Reply::Unknown => return Some(Ended::Stopped),
                Reply::TooNarrow => self.run.narrow = true,
                Reply::Candidate => match (self.judge)(&u.candidate(0)) {
                    Judged::Violation(v) => return Some(Ended::Violation(v)),
                    Judged::Spurious(why) => self.run.doubts.push(format!("{word}: {why}")),
                },
            }
        }
        u.begin();
        match u.ask(&[]) {
            Reply::Proof => Some(Ended::NoBeginning { proved: true }),
            Reply::Unknown => Some(Ended::Stopped),
            Reply::TooNarrow => Some(Ended::NoBeginning { proved: false }),
            Reply::Candidate => None,
        }
    }

    /// Looks for the active targets in a frame, under assumptions. `None`: there are none.
    pub fn look(&mut self, frame: usize, path: &[Lit]) -> Option<Ended<V>> {
        if !self.keep_going {
            return self.look_for(frame, path, None);
        }
        for target in self.active.clone() {
            match self.look_for(frame, path, Some(target)) {
                Some(Ended::Violation(v)) => {
                    self.found.push(v);
                    self.active.retain(|t| *t != target);
                }
                Some(ended) => return Some(ended),
                None => {}
            }
        }
        None
    }

    /// Looks for one target, or for any of them.
    fn look_for(&mut self, frame: usize, path: &[Lit], only: Option<Target>) -> Option<Ended<V>> {
        let mut refuted = Refuted::default();
        loop {
            if self.budget.check().is_err() {
                return Some(Ended::Stopped);
            }
            let any = match only {
                Some(target) if !self.active.contains(&target) => return None,
                Some(target) => self.unrolling.any_of(frame, &[target]),
                None => self.unrolling.any_of(frame, &self.active),
            };
            if any == Lit::FALSE {
                self.unrolling.note_unasked(frame);
                return None;
            }
            let assumptions = [path, &refuted.others[..], &[any]].concat();
            match self.unrolling.ask(&assumptions) {
                // No candidate but those that were refuted.
                Reply::Proof | Reply::TooNarrow if !refuted.targets.is_empty() => {
                    self.give_up(std::mem::take(&mut refuted));
                    continue;
                }
                Reply::Proof => return None,
                Reply::TooNarrow => {
                    self.run.narrow = true;
                    return None;
                }
                Reply::Unknown => return Some(Ended::Stopped),
                Reply::Candidate => {}
            }
            let candidate = self.unrolling.candidate(frame);
            match (self.judge)(&candidate) {
                Judged::Violation(v) => return Some(Ended::Violation(v)),
                Judged::Spurious(why) => {
                    let met = candidate.targets.iter().filter(|t| self.active.contains(t));
                    refuted.targets.extend(met.map(|t| (*t, why.clone())));
                    let another = !self.unrolling.enc.weak.is_empty() && refuted.others.len() < CANDIDATES;
                    match self.unrolling.another_path(&candidate).filter(|_| another) {
                        Some(other) => refuted.others.push(other),
                        None => self.give_up(std::mem::take(&mut refuted)),
                    }
                }
            }
        }
    }

    /// Targets that only unconfirmed candidates show are no longer looked for.
    fn give_up(&mut self, refuted: Refuted) {
        for (target, why) in refuted.targets {
            if self.active.contains(&target) {
                self.active.retain(|t| *t != target);
                self.run.dropped.push((target, why));
            }
        }
    }

    /// All depths up to the last one.
    pub fn run(&mut self, last: usize) -> Ended<V> {
        if let Some(ended) = self.begin() {
            return ended;
        }
        self.depths(0, last)
    }

    /// Greater depths than before, up to the last one.
    pub fn go_on(&mut self, last: usize) -> Ended<V> {
        let Some(before) = self.run.depth else { return Ended::Depth };
        if before >= last {
            return Ended::Depth;
        }
        // A frame that was made may not have been looked at.
        if self.unrolling.frames.len() <= before + 1 {
            let without = self.active.clone();
            self.unrolling.extend(&without);
        }
        self.depths(before + 1, last)
    }

    fn depths(&mut self, first: usize, last: usize) -> Ended<V> {
        for depth in first..=last {
            (self.progress)(depth);
            if let Some(ended) = self.look(depth, &[]) {
                return ended;
            }
            self.run.depth = Some(depth);
            if depth == last || (self.keep_going && self.active.is_empty()) {
                break;
            }
            let without = self.active.clone();
            self.unrolling.extend(&without);
            match self.unrolling.ask(&[]) {
                Reply::Proof => return Ended::AllPaths,
                Reply::Unknown => return Ended::Stopped,
                Reply::TooNarrow => {
                    self.run.narrow = true;
                    break;
                }
                Reply::Candidate => {}
            }
        }
        Ended::Depth
    }
}
