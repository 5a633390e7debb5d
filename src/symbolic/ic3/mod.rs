//! IC3: an inductive invariant found by blocking, level by level, the states that lead to a finding.
//!
//! In: a translation that yields a system of any width. Out: an invariant that was proved again by a fresh solver, a
//! sequence of events that leads to a finding (to be replayed), or why neither was found. Never here: clauses of B.
//!
//! A level is left only when all states that lead to a finding in one more step are blocked, and obligations are not
//! moved up, so the first counterexample is a shortest one, among those within the width. The search treats the width of limited integers as if it
//! were the truth; only `certificate` decides whether the invariant that comes out is one for all integers. No query is
//! random and no hash map is walked: equal systems give equal runs.

pub mod certificate;
mod frames;
mod generalise;

use crate::sat::{Batsat, Limit};
use crate::system::{Cube, Part, Translation};
use certificate::Recheck;
pub use frames::Finding;
use frames::{Frames, Reached, Stopped};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a run may cost.
#[derive(Clone)]
pub struct Options {
    /// The most levels, that is, events in a row plus one.
    pub frames: usize,
    /// Bits of limited integers at the start.
    pub first_width: usize,
    /// The most bits of limited integers.
    pub max_width: usize,
    pub limit: Limit,
}

impl Default for Options {
    fn default() -> Self {
        Options { frames: 200, first_width: 8, max_width: 128, limit: Limit::none() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No reachable state lies in any of these cubes, all satisfy the property, and none is a finding.
    Invariant(Vec<Cube>),
    Counterexample(Counterexample),
    Unknown(Why),
}

/// Events that lead from an initial state to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Events that are completed before the last one or the last state.
    pub events: Vec<usize>,
    /// What the finding is seen in; `None` is the initialisation.
    pub end: Option<Finding>,
}

impl Counterexample {
    /// Events up to the finding, the one that shows the finding included.
    pub fn depth(&self) -> usize {
        self.events.len() + usize::from(matches!(self.end, Some(Finding::Step(_))))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The limit of the options, or a query that was stopped.
    Stopped,
    /// All levels were used up.
    Frames,
    /// The invariant holds for integers of the largest width, and it is not known whether that is enough.
    Width,
    /// The fresh solver refuted the invariant though no width is involved: a defect of the search or the translation.
    Refuted(Part),
}

/// A run with its figures.
#[derive(Clone, Debug)]
pub struct Report {
    pub outcome: Outcome,
    pub frames: usize,
    pub queries: u64,
    pub conflicts: u64,
    /// Bits of limited integers in the last search or check.
    pub width: usize,
    /// Whether there are limited integers at all.
    pub limited: bool,
    /// Which of the translations for the certificate was asked last.
    pub check: usize,
}

/// Searches at growing widths until a certificate passes, a finding is reached, or a limit is.
pub fn prove(translation: &dyn Translation, options: &Options) -> Report {
    prove_by(translation, &[translation], options, &mut |_, _| false)
}

/// As `prove`, with other translations of the same machine for the certificate: those that rest on less come first, and
/// the answer of the last one counts if none of them proves the invariant. `meanwhile` is called again and again with the
/// level and the number of queries so far; if it says so, the search stops.
pub fn prove_by(
    translation: &dyn Translation,
    checks: &[&dyn Translation],
    options: &Options,
    meanwhile: &mut dyn FnMut(usize, u64) -> bool,
) -> Report {
    let mut width = options.first_width.min(options.max_width);
    let (mut queries, mut conflicts) = (0, 0);
    loop {
        let mut counted = |level, asked| meanwhile(level, queries + asked);
        let search = Search::new(translation, width, options.limit.clone(), &mut counted);
        let mut report = search.run(options.frames, width);
        // Choices of a step, and parts of a state that no cube speaks of, may be limited where no cell is.
        report.limited |= translation.bound(Part::Safety, &[]) != Some(1);
        queries += report.queries;
        conflicts += report.conflicts;
        let mut next = None;
        if let Outcome::Invariant(cubes) = &report.outcome {
            let mut checked = Recheck::Unknown;
            let searched = report.width;
            for (number, check) in checks.iter().enumerate() {
                report.width = searched;
                report.check = number;
                checked = check_at_growing_width(*check, cubes, &mut report.width, options, &mut queries);
                if checked == Recheck::Proved {
                    break;
                }
            }
            match checked {
                Recheck::Proved => {}
                Recheck::Refuted(part) if !report.limited => {
                    report.outcome = Outcome::Unknown(Why::Refuted(part));
                }
                // A wider integer breaks the invariant: the search starts again with the wider one.
                Recheck::Refuted(_) if report.width > width => next = Some(report.width),
                Recheck::Refuted(_) | Recheck::Width(_) if 2 * width <= options.max_width => {
                    next = Some(2 * width);
                }
                Recheck::Refuted(_) | Recheck::Width(_) => report.outcome = Outcome::Unknown(Why::Width),
                Recheck::Unknown => report.outcome = Outcome::Unknown(Why::Stopped),
            }
        }
        match next {
            Some(wider) => width = wider,
            None => return Report { queries, conflicts, ..report },
        }
    }
}

/// Checks the invariant with a fresh solver, at the width that the queries need if that is known and allowed.
fn check_at_growing_width(
    translation: &dyn Translation,
    cubes: &[Cube],
    width: &mut usize,
    options: &Options,
    queries: &mut u64,
) -> Recheck {
    loop {
        let system = translation.system(*width, Box::new(Batsat::new()));
        let (checked, asked) = certificate::recheck(system, translation, cubes, *width, &options.limit);
        *queries += asked;
        match checked {
            Recheck::Width(Some(needed)) if needed <= options.max_width && needed > *width => *width = needed,
            other => return other,
        }
    }
}

/// A state, or rather all states of a cube, from which a finding is reached.
struct Obligation {
    cube: Cube,
    then: Then,
}

/// What follows a state of an obligation.
#[derive(Clone, Copy)]
enum Then {
    Finding(Finding),
    /// The event, and the number of the obligation that the event leads to.
    Event(usize, usize),
}

struct Search<'a, 'w> {
    frames: Frames<'a>,
    meanwhile: &'w mut dyn FnMut(usize, u64) -> bool,
    obligations: Vec<Obligation>,
}

impl<'a, 'w> Search<'a, 'w> {
    fn new(
        translation: &'a dyn Translation,
        width: usize,
        limit: Limit,
        meanwhile: &'w mut dyn FnMut(usize, u64) -> bool,
    ) -> Search<'a, 'w> {
        Search { frames: Frames::new(translation, width, limit), meanwhile, obligations: Vec::new() }
    }

    /// Lets others work for a moment.
    fn pause(&mut self, level: usize) -> Result<(), Stopped> {
        if (self.meanwhile)(level, self.frames.effort().0) { Err(Stopped) } else { Ok(()) }
    }

    fn run(mut self, most: usize, width: usize) -> Report {
        let outcome = self.search(most).unwrap_or(Outcome::Unknown(Why::Stopped));
        let (queries, conflicts) = self.frames.effort();
        let limited = self.frames.has_limited_integers();
        Report { outcome, frames: self.frames.top(), queries, conflicts, width, limited, check: 0 }
    }

    fn search(&mut self, most: usize) -> Result<Outcome, Stopped> {
        if self.frames.bad_initialisation()? {
            return Ok(Outcome::Counterexample(Counterexample { events: Vec::new(), end: None }));
        }
        self.frames.add_level();
        for level in 1..=most {
            self.pause(level)?;
            while let Some((finding, cube)) = self.frames.finding(level)? {
                if let Some(path) = self.block_all(cube, level, finding)? {
                    return Ok(Outcome::Counterexample(path));
                }
            }
            self.frames.add_level();
            if let Some(invariant) = self.propagate(level)? {
                return Ok(Outcome::Invariant(invariant));
            }
        }
        Ok(Outcome::Unknown(Why::Frames))
    }

    /// Blocks the cube at the level, and for that everything that leads to the cube below; or a path to the finding.
    fn block_all(
        &mut self,
        cube: Cube,
        level: usize,
        finding: Finding,
    ) -> Result<Option<Counterexample>, Stopped> {
        self.obligations.clear();
        self.obligations.push(Obligation { cube, then: Then::Finding(finding) });
        let mut queue = BinaryHeap::from([Reverse((level, Reverse(0)))]);
        while let Some(Reverse((level, Reverse(number)))) = queue.pop() {
            self.pause(self.frames.top())?;
            self.frames.tidy();
            let cube = self.obligations[number].cube.clone();
            if self.frames.is_blocked(&cube, level) {
                continue;
            }
            match self.frames.reach(&cube, level)? {
                Reached::Initially => return Ok(Some(self.path_from(number))),
                Reached::By { event, from } => {
                    queue.push(Reverse((level, Reverse(number))));
                    queue.push(Reverse((level - 1, Reverse(self.obligations.len()))));
                    let then = Then::Event(event, number);
                    self.obligations.push(Obligation { cube: from, then });
                }
                Reached::Never(part) => {
                    let wide = generalise::generalise(&mut self.frames, &cube, part, level)?;
                    let mut highest = level;
                    while highest < self.frames.top()
                        && self.frames.unreached_part(&wide, highest + 1)?.is_some()
                    {
                        highest += 1;
                    }
                    self.frames.block(wide, highest);
                }
            }
        }
        Ok(None)
    }

    fn path_from(&self, mut number: usize) -> Counterexample {
        let mut events = Vec::new();
        loop {
            match self.obligations[number].then {
                Then::Finding(end) => return Counterexample { events, end: Some(end) },
                Then::Event(event, next) => {
                    events.push(event);
                    number = next;
                }
            }
        }
    }

    /// Moves cubes up to the level above where they are blocked there too. A level that becomes empty equals the one
    /// above it: what is blocked above is an invariant.
    fn propagate(&mut self, top: usize) -> Result<Option<Vec<Cube>>, Stopped> {
        for level in 1..=top {
            for cube in self.frames.blocked(level).to_vec() {
                // A cube that was moved may have swallowed others of the list.
                self.frames.tidy();
                let stands = self.frames.blocked(level).contains(&cube);
                if stands && let Some(part) = self.frames.unreached_part(&cube, level + 1)? {
                    self.frames.block(part, level + 1);
                }
            }
            if self.frames.blocked(level).is_empty() {
                return Ok(Some(self.frames.blocked_from(level + 1)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
