//! Frames of IC3: for each level a list of cubes that no state within so many steps lies in, and the queries about them.
//!
//! In: a system, cubes to block. Out: which step leads into a cube from the level below, or a part of the cube that no
//! step leads into. Never here: the order of the search, and how cubes are generalised.
//!
//! Level 0 is the moment before the initialisation: its only successors are initial states. Level `i` over-approximates
//! the states after at most `i - 1` events. Levels shrink downwards: what is blocked at a level is blocked at all levels
//! below. A blocked cube is a clause under the activation literal of its level. A step that leaves the width of limited
//! integers is no step here, so that the search is one of a finite system and each path that comes out is real; the
//! check of the invariant knows no such cut.

use crate::integer::Integer;
use crate::sat::{self, Answer, Limit, Lit};
use crate::system::{Cell, Cube, Fact, Moment, System, Translation, lies_in};

/// A query was stopped: nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// The frames of one search.
pub struct Frames<'a> {
    translation: &'a dyn Translation,
    width: usize,
    pub system: System,
    /// How many variables the system had before any atom of a cube.
    fresh: u32,
    /// Queries and conflicts of solvers that were given up.
    past: (u64, u64),
    limit: Limit,
    range: Lit,
    /// The initialisation is taken and ends within the width.
    begins: Lit,
    /// Each event is taken and ends within the width.
    steps: Vec<Lit>,
    /// The entry of level 0 stays empty.
    levels: Vec<Level>,
    /// The event that last led into a cube: the likeliest one to do so again.
    suspect: usize,
}

struct Level {
    active: Lit,
    blocked: Vec<Cube>,
}

/// How a cube is reached from the level below.
pub enum Reached {
    /// An initial state lies in the cube.
    Initially,
    /// Each state of the cube `from` has a step of the event into the cube.
    By { event: usize, from: Cube },
    /// No step leads into the given part of the facts.
    Never(Cube),
}

/// What ends a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    State,
    Step(usize),
}

impl<'a> Frames<'a> {
    pub fn new(translation: &'a dyn Translation, width: usize, limit: Limit) -> Frames<'a> {
        let system = translation.system(width, sat::searcher());
        let levels = vec![Level { active: Lit::TRUE, blocked: Vec::new() }];
        let mut frames = Frames {
            translation,
            width,
            system,
            fresh: 0,
            past: (0, 0),
            limit,
            range: Lit::TRUE,
            begins: Lit::FALSE,
            steps: Vec::new(),
            levels,
            suspect: 0,
        };
        frames.prepare();
        frames
    }

    /// Makes the literals that queries need over a fresh system.
    fn prepare(&mut self) {
        self.range = self.system.gates.range_assumption();
        self.begins = self.within_width(Moment::Initial);
        self.steps = (0..self.system.events.len()).map(|e| self.within_width(Moment::After(e))).collect();
        for level in 1..self.levels.len() {
            self.levels[level].active = self.system.gates.fresh();
            for cube in self.levels[level].blocked.clone() {
                self.assert_blocked(&cube, level);
            }
        }
        self.fresh = self.system.gates.sat.variables();
    }

    /// The literal of "the step is taken and each limited integer still fits its bits".
    fn within_width(&mut self, moment: Moment) -> Lit {
        let Some(step) = self.system.step(moment) else { return Lit::TRUE };
        let mut all = vec![step.taken];
        for (before, after) in self.system.cells.iter().zip(step.next.clone()) {
            if let (Cell::Integer(before), Cell::Integer(after)) = (before, after)
                && before.is_limited()
                && *before != after
            {
                let (low, high) = before.bounds();
                let gates = &mut self.system.gates;
                all.push(gates.int_le(&Integer::constant(low.clone()), &after));
                all.push(gates.int_le(&after, &Integer::constant(high.clone())));
            }
        }
        self.system.gates.and_all(&all)
    }

    /// Whether the answer may depend on the width.
    pub fn has_limited_integers(&self) -> bool {
        self.system.cells.iter().any(|cell| matches!(cell, Cell::Integer(number) if number.is_limited()))
    }

    /// Queries and conflicts so far.
    pub fn effort(&self) -> (u64, u64) {
        let sat = &self.system.gates.sat;
        (self.past.0 + sat.queries(), self.past.1 + sat.conflicts())
    }

    /// Starts with a fresh solver when most variables belong to atoms that were tried and given up: each model has to
    /// give them values. The solver's last answer is gone afterwards.
    pub fn tidy(&mut self) {
        if self.system.gates.sat.variables() < 2 * self.fresh + 2000 {
            return;
        }
        self.past = self.effort();
        self.system = self.translation.system(self.width, sat::searcher());
        self.prepare();
    }

    pub fn top(&self) -> usize {
        self.levels.len() - 1
    }

    pub fn blocked(&self, level: usize) -> &[Cube] {
        &self.levels[level].blocked
    }

    /// What is blocked at a level and above, and so at the level.
    pub fn blocked_from(&self, level: usize) -> Vec<Cube> {
        self.levels[level..].iter().flat_map(|l| l.blocked.iter().cloned()).collect()
    }

    pub fn add_level(&mut self) {
        let active = self.system.gates.fresh();
        self.levels.push(Level { active, blocked: Vec::new() });
    }

    /// The bits of the widest integer of a state.
    pub fn widest_integer(&self) -> usize {
        let bits = |cell: &Cell| match cell {
            Cell::Integer(number) => number.bits().len(),
            Cell::Bit(_) => 0,
        };
        self.system.cells.iter().map(bits).max().unwrap_or(0)
    }

    /// Blocks a cube at a level; weaker entries at the level and below are taken from the lists.
    pub fn block(&mut self, cube: Cube, level: usize) {
        self.assert_blocked(&cube, level);
        for below in &mut self.levels[..=level] {
            below.blocked.retain(|old| !lies_in(old, &cube));
        }
        self.levels[level].blocked.push(cube);
    }

    fn assert_blocked(&mut self, cube: &Cube, level: usize) {
        let literals = self.system.literals(Moment::Current, cube);
        let mut clause: Vec<Lit> = literals.iter().map(|l| !*l).collect();
        clause.push(!self.levels[level].active);
        self.system.gates.add_clause(&clause);
    }

    pub fn is_blocked(&self, cube: &[Fact], level: usize) -> bool {
        self.levels[level..].iter().any(|l| l.blocked.iter().any(|b| lies_in(cube, b)))
    }

    fn ask(&mut self, assumptions: &[Lit]) -> Result<bool, Stopped> {
        if self.limit.is_stopped() {
            return Err(Stopped);
        }
        match self.system.gates.solve(assumptions, &self.limit) {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Unknown => Err(Stopped),
        }
    }

    /// The assumptions of "the current state lies in the frame of the level".
    fn frame(&self, level: usize) -> Vec<Lit> {
        let mut out = vec![self.range, self.system.property];
        out.extend(self.levels[level..].iter().map(|l| l.active));
        out
    }

    /// Whether the initialisation itself is a finding.
    pub fn bad_initialisation(&mut self) -> Result<bool, Stopped> {
        self.ask(&[self.range, self.system.init.bad])
    }

    /// A state of the frame that is a finding or has a step that is one, lifted.
    pub fn finding(&mut self, level: usize) -> Result<Option<(Finding, Cube)>, Stopped> {
        let mut questions = vec![(Finding::State, Moment::Current, self.system.bad_state)];
        for (event, step) in self.system.events.iter().enumerate() {
            questions.push((Finding::Step(event), Moment::After(event), step.bad));
        }
        for (finding, moment, bad) in questions {
            if bad == Lit::FALSE {
                continue;
            }
            let mut assumptions = self.frame(level);
            assumptions.push(bad);
            if self.ask(&assumptions)? {
                let cube = self.lifted(moment, &[bad])?;
                return Ok(Some((finding, cube)));
            }
        }
        Ok(None)
    }

    /// How the cube is reached from the frame below `level`, from outside of the cube.
    pub fn reach(&mut self, cube: &Cube, level: usize) -> Result<Reached, Stopped> {
        let (from, part) = self.query(cube, level)?;
        match from {
            None => Ok(Reached::Never(part)),
            Some(Moment::After(event)) => {
                let mut goal = self.system.literals(Moment::After(event), cube);
                goal.push(self.steps[event]);
                let from = self.lifted(Moment::After(event), &goal)?;
                Ok(Reached::By { event, from })
            }
            Some(_) => Ok(Reached::Initially),
        }
    }

    /// A part of the cube that is not reached from the frame below `level`, if the cube is not.
    pub fn unreached_part(&mut self, cube: &Cube, level: usize) -> Result<Option<Cube>, Stopped> {
        let (from, part) = self.query(cube, level)?;
        Ok(from.is_none().then_some(part))
    }

    /// The step that leads into the cube, with the solver's model standing at that step; or the facts that are needed
    /// to keep all steps out.
    fn query(&mut self, cube: &Cube, level: usize) -> Result<(Option<Moment>, Cube), Stopped> {
        let mut needed = vec![false; cube.len()];
        let start = [self.range, self.begins];
        if self.leads_into(Moment::Initial, &start, cube, &mut needed)? {
            return Ok((Some(Moment::Initial), Vec::new()));
        }
        if level > 1 {
            let outside = self.assume_outside(cube);
            let answer = self.event_into(cube, level, outside, &mut needed);
            self.system.gates.add_clause(&[!outside]);
            if let Some(event) = answer? {
                return Ok((Some(Moment::After(event)), Vec::new()));
            }
        }
        let part = cube.iter().zip(needed).filter(|(_, used)| *used).map(|(fact, _)| fact.clone()).collect();
        Ok((None, part))
    }

    /// A new literal under which the current state is not in the cube.
    fn assume_outside(&mut self, cube: &Cube) -> Lit {
        let outside = self.system.gates.fresh();
        let mut clause: Vec<Lit> =
            self.system.literals(Moment::Current, cube).into_iter().map(|l| !l).collect();
        clause.push(!outside);
        self.system.gates.add_clause(&clause);
        outside
    }

    fn event_into(
        &mut self,
        cube: &Cube,
        level: usize,
        outside: Lit,
        needed: &mut [bool],
    ) -> Result<Option<usize>, Stopped> {
        let mut assumptions = self.frame(level - 1);
        assumptions.push(outside);
        let here = self.system.literals(Moment::Current, cube);
        let count = self.system.events.len();
        let suspect = self.suspect;
        for event in (0..count).map(|i| (suspect + i) % count) {
            let taken = self.steps[event];
            // An event that writes nothing of the cube leads into no part of the cube from outside of that part.
            if taken == Lit::FALSE || self.system.literals(Moment::After(event), cube) == here {
                continue;
            }
            assumptions.push(taken);
            if self.leads_into(Moment::After(event), &assumptions, cube, needed)? {
                self.suspect = event;
                return Ok(Some(event));
            }
            assumptions.pop();
        }
        Ok(None)
    }

    /// Whether there is a step into the cube; if not, marks the facts of the core.
    fn leads_into(
        &mut self,
        moment: Moment,
        start: &[Lit],
        cube: &Cube,
        needed: &mut [bool],
    ) -> Result<bool, Stopped> {
        let goal = self.system.literals(moment, cube);
        let assumptions = [start, &goal[..]].concat();
        if self.ask(&assumptions)? {
            return Ok(true);
        }
        let core = self.system.gates.sat.core();
        // Of facts with one literal the first that is already needed, else the first, stands for all.
        for lit in core {
            let same = |i: &usize| goal[*i] == *lit;
            let all: Vec<usize> = (0..goal.len()).filter(same).collect();
            if let Some(first) = all.first()
                && !start.contains(lit)
                && !all.iter().any(|i| needed[*i])
            {
                needed[*first] = true;
            }
        }
        Ok(false)
    }

    /// The part of the model's state from which, with the model's choices, the goal follows. If the goal is no function
    /// of state and choices, the whole state.
    fn lifted(&mut self, moment: Moment, goal: &[Lit]) -> Result<Cube, Stopped> {
        let mut state = self.system.cube_of_model();
        let inputs = self.system.inputs_of_model(moment);
        let missed = self.system.gates.fresh();
        let mut clause: Vec<Lit> = goal.iter().map(|l| !*l).collect();
        clause.push(!missed);
        self.system.gates.add_clause(&clause);
        let start = [&[self.range, missed][..], &inputs[..]].concat();
        // Differences alone are more general than the numbers themselves, where they suffice.
        if let Some(relational) = self.system.relational(&state)
            && let Some(core) = self.core_of(&start, &relational)?
        {
            state = core;
        }
        // The second round often finds a smaller core, because it starts from the first one.
        for _ in 0..2 {
            match self.core_of(&start, &state)? {
                Some(core) if core.len() < state.len() => state = core,
                _ => break,
            }
        }
        self.system.gates.add_clause(&[!missed]);
        Ok(state)
    }

    /// The facts of the cube that contradict the assumptions of `start`, if the cube does.
    fn core_of(&mut self, start: &[Lit], cube: &Cube) -> Result<Option<Cube>, Stopped> {
        let literals = self.system.literals(Moment::Current, cube);
        if self.ask(&[start, &literals[..]].concat())? {
            return Ok(None);
        }
        let core = self.system.gates.sat.core();
        let kept = cube.iter().zip(literals).filter(|(_, lit)| core.contains(lit));
        Ok(Some(kept.map(|(fact, _)| fact.clone()).collect()))
    }
}
