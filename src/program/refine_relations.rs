//! Relations refined by trying: every content of the few cells that two instances touch.
//!
//! In: relations from the text, the contents that cells can have. Out: fewer "may"s: pairs that accord
//! in all those states, guards that a step never makes true, actions that never fail. A pair with too
//! many states, or after the budget of evaluations is used up, stays as it was. The budget counts
//! evaluations and not seconds, so that the relations are the same on every machine.

mod states;
#[cfg(test)]
mod tests;

use crate::effects::cells::{Cell, Cells};
use crate::effects::facts::Fact;
use crate::effects::ground::{Grounded, Instance};
use crate::system::{Program, Worker};
use bombus_base::hash::HashMap;
use bombus_lang::value::Value;
use bombus_system::{EventId, Finding, GuardId, InstanceId, Relations, Sink};
use std::collections::BTreeMap;
use std::rc::Rc;

/// States tried for one pair, and evaluations in all.
const STATES: usize = 1024;
const EVALUATIONS: u64 = 80_000;

/// What each cell can hold; `None` in the list for a row or element that is not there.
pub type Contents = BTreeMap<Cell, Vec<Option<Value>>>;

pub(crate) struct Trial<'t, 'm> {
    pub program: &'t Program<'m>,
    pub worker: Worker<'m>,
    /// The variables of some state; cells that are not tried keep their content.
    pub base: Vec<Value>,
    pub contents: &'t Contents,
    pub instance: &'t dyn Fn(EventId, u64) -> Option<InstanceId>,
    pub left: u64,
    /// The steps of an event in a state: many instances touch the same cells.
    known: HashMap<(EventId, Vec<u64>), Rc<Steps>>,
}

/// Steps that are remembered.
const REMEMBERED: usize = 20_000;

/// The targets of one event.
#[derive(Default)]
struct Steps {
    edges: Vec<(EventId, u64, Vec<u64>)>,
    unclean: bool,
    /// How often something had no code.
    on_values: u64,
}

impl Sink for Steps {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push((event, label, target.to_vec()));
    }

    fn finding(&mut self, _: Finding) {
        self.unclean = true;
    }

    fn incomplete(&mut self, _: u32) {
        self.unclean = true;
    }

    // Counts as not enabled, like a false one.
    fn undefined_guard(&mut self, _: EventId) {}
}

impl<'t, 'm> Trial<'t, 'm> {
    pub fn new(
        program: &'t Program<'m>,
        base: Vec<Value>,
        contents: &'t Contents,
        instance: &'t dyn Fn(EventId, u64) -> Option<InstanceId>,
    ) -> Trial<'t, 'm> {
        let worker = program.trial_worker();
        let known = HashMap::new();
        Trial { program, worker, base, contents, instance, left: EVALUATIONS, known }
    }

    /// Takes out of the relations what no trial shows.
    pub fn refine(&mut self, grounded: &mut Grounded, r: &mut Relations) {
        for i in 0..grounded.instances.len() {
            if grounded.instances[i].may_fail && self.never_fails(grounded, i) == Some(true) {
                grounded.instances[i].may_fail = false;
            }
        }
        r.fallible = grounded.instances.iter().any(|i| i.may_fail);
        for a in 0..r.len() {
            let pairs: Vec<usize> = r.dependent.ones(a).filter(|b| *b > a).collect();
            for b in pairs {
                if let Some((accord, together)) = self.accord(grounded, a, b) {
                    for (x, y) in [(a, b), (b, a)] {
                        if accord {
                            r.dependent.remove(x, y);
                        }
                        if !together {
                            r.together.remove(x, y);
                        }
                    }
                }
            }
        }
        for g in 0..r.askable.len() {
            if !r.askable[g] {
                continue;
            }
            let by: Vec<usize> = r.enablers.ones(g).collect();
            for a in by {
                if self.never_enables(grounded, a, g) == Some(true) {
                    r.enablers.remove(g, a);
                }
            }
        }
        for a in 0..r.len() {
            for b in 0..r.len() {
                if !r.guards[b].iter().any(|g| r.enablers.contains(g.0 as usize, a)) {
                    r.enables.remove(a, b);
                }
            }
        }
    }

    /// The cells on which an instance depends, with those it writes.
    fn touched(grounded: &Grounded, i: &Instance) -> Cells {
        let mut cells: Cells = i.touch.reads.iter().chain(i.touch.writes.keys()).cloned().collect();
        for g in &i.guards {
            cells.extend(grounded.guards[*g].reads.iter().cloned());
        }
        cells
    }

    /// The distinct targets of an instance; `None` if something could not be computed.
    fn steps(&mut self, grounded: &Grounded, instance: usize, state: &[u64]) -> Option<Vec<Vec<u64>>> {
        self.left = self.left.checked_sub(1)?;
        let event = EventId(grounded.instances[instance].event as u32);
        let found = self.steps_of(event, state);
        // What has no code costs as much as many that have.
        self.left = self.left.saturating_sub(found.on_values * 40);
        if found.unclean {
            return None;
        }
        let wanted = Some(InstanceId(instance as u32));
        let mut targets: Vec<Vec<u64>> = found
            .edges
            .iter()
            .filter(|(event, label, _)| (self.instance)(*event, *label) == wanted)
            .map(|(_, _, target)| target.clone())
            .collect();
        targets.sort_unstable();
        targets.dedup();
        Some(targets)
    }

    /// The steps of all instances of an event.
    fn steps_of(&mut self, event: EventId, state: &[u64]) -> Rc<Steps> {
        let key = (event, state.to_vec());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut found = Steps::default();
        let before = self.worker.fallbacks;
        self.program.successors_of(&mut self.worker, state, event, &mut found);
        found.on_values = self.worker.fallbacks - before;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let found = Rc::new(found);
        self.known.insert(key, found.clone());
        found
    }

    fn never_fails(&mut self, grounded: &Grounded, i: usize) -> Option<bool> {
        let states = self.states(Self::touched(grounded, &grounded.instances[i]), &[])?;
        Some((0..states.count).all(|n| self.steps(grounded, i, &self.state(&states, n)).is_some()))
    }

    /// What its guards say of single cells: where one is false the instance has no steps.
    fn facts<'g>(grounded: &'g Grounded, i: &Instance) -> Vec<&'g Fact> {
        i.guards.iter().filter_map(|g| grounded.guards[*g].fact.as_ref()).collect()
    }

    /// Whether two instances accord in all states, and whether both are enabled in one.
    fn accord(&mut self, grounded: &Grounded, a: usize, b: usize) -> Option<(bool, bool)> {
        let mut cells = Self::touched(grounded, &grounded.instances[a]);
        cells.append(&mut Self::touched(grounded, &grounded.instances[b]));
        let mut facts = Self::facts(grounded, &grounded.instances[a]);
        facts.append(&mut Self::facts(grounded, &grounded.instances[b]));
        let mut together = false;
        let states = self.states(cells, &facts)?;
        for n in 0..states.count {
            let s = self.state(&states, n);
            let xs = self.steps(grounded, a, &s)?;
            if xs.is_empty() {
                continue;
            }
            let ys = self.steps(grounded, b, &s)?;
            if ys.is_empty() {
                continue;
            }
            together = true;
            if !self.square(grounded, (a, &xs), (b, &ys))? {
                return Some((false, true));
            }
        }
        Some((true, together))
    }

    /// Whether the steps `xs` of one instance and `ys` of another commute: each pair meets again, and
    /// nothing is added on the way.
    fn square(
        &mut self,
        grounded: &Grounded,
        (a, xs): (usize, &[Vec<u64>]),
        (b, ys): (usize, &[Vec<u64>]),
    ) -> Option<bool> {
        let after_a: Vec<Vec<Vec<u64>>> =
            xs.iter().map(|x| self.steps(grounded, b, x)).collect::<Option<_>>()?;
        let after_b: Vec<Vec<Vec<u64>>> =
            ys.iter().map(|y| self.steps(grounded, a, y)).collect::<Option<_>>()?;
        let meet = after_a.iter().all(|xb| after_b.iter().all(|ya| xb.iter().any(|z| ya.contains(z))));
        let known = |these: &[Vec<Vec<u64>>], those: &[Vec<Vec<u64>>]| {
            these.iter().flatten().all(|z| those.iter().any(|others| others.contains(z)))
        };
        let as_many =
            after_a.iter().all(|xb| xb.len() == ys.len()) && after_b.iter().all(|ya| ya.len() == xs.len());
        Some(meet && as_many && known(&after_a, &after_b) && known(&after_b, &after_a))
    }

    /// Whether no step of an instance makes a false guard true.
    fn never_enables(&mut self, grounded: &Grounded, a: usize, g: usize) -> Option<bool> {
        let mut cells = Self::touched(grounded, &grounded.instances[a]);
        cells.extend(grounded.guards[g].reads.iter().cloned());
        let guard = GuardId(g as u32);
        let states = self.states(cells, &Self::facts(grounded, &grounded.instances[a]))?;
        for n in 0..states.count {
            let s = self.state(&states, n);
            let targets = self.steps(grounded, a, &s)?;
            if targets.is_empty() || self.program.guard_at(&mut self.worker, &s, guard) {
                continue;
            }
            if targets.iter().any(|t| self.program.guard_at(&mut self.worker, t, guard)) {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl<'m> Program<'m> {
    /// The transitions of one event from any state.
    fn successors_of(&self, worker: &mut Worker<'m>, state: &[u64], event: EventId, sink: &mut dyn Sink) {
        if self.layout.is_escaped(state) {
            self.exact_event(worker, state, event, sink);
            return;
        }
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        self.enter(worker, compiled, state);
        self.event_successors(worker, compiled, state, event, sink);
    }

    /// Whether a guard holds in any state.
    fn guard_at(&self, worker: &mut Worker<'m>, state: &[u64], guard: GuardId) -> bool {
        if !self.layout.is_escaped(state) {
            let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
            self.enter(worker, compiled, state);
        }
        self.guard_holds(worker, state, guard)
    }

    fn is_escaped(&self, state: &[u64]) -> bool {
        self.layout.is_escaped(state)
    }

    fn trial_worker(&self) -> Worker<'m> {
        self.worker_with(&self.budget)
    }

    /// The packed state of some values, under the first valuation.
    fn pack_first(&self, values: &[Value], packed: &mut Vec<u64>) {
        self.layout.pack(0, values, &self.pool, packed);
    }
}
