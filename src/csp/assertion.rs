//! The assertions of a script: refinement, deadlock, divergence, determinism, traces.
//!
//! In: an assertion and the evaluator. Out: whether it holds, with a shortest counterexample if not.
//! Divergence needs the whole graph of transitions: there the edges are recorded and a circle of τ is looked
//! for. Never here: words of a report.

use super::compose::{Smaller, composition};
use super::eval::Eval;
use super::explicit::{NoTable, endless, explicit};
use super::machine::{Machine, Scratch};
use super::normal::{Normal, acceptance_of, subset};
use super::refine::{FAULT, REFUSAL, Refinement};
use super::scope::{AssertIn, ClaimIn};
use super::shortest::{self, Moves, Space};
use super::term::TAU;
use super::tree::Semantics;
use super::value::{Data, Env, Fault};
use bombus_base::budget::Budget;
use bombus_base::diagnostic::Sources;
use bombus_explore::{self as explore, Options, Outcome, Trace};
use bombus_graph::{Graph, NodeId};
use bombus_system::{FindingKind, System};

/// Why an assertion fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Trace,
    /// The events that are accepted, and those of which the specification accepts at least one set.
    Refusal {
        accepted: Vec<String>,
        required: Vec<Vec<String>>,
    },
    Divergence,
    Deadlock,
    /// After the trace an event is both possible and refused.
    Nondeterminism(String),
    /// The trace that is asked for is not one.
    NoTrace,
}

/// What an assertion comes to, before `not` is looked at.
#[derive(Clone, Debug)]
pub enum Judgement {
    Holds,
    /// With the events of a shortest path, τ left out.
    Fails(Vec<String>, Why),
    Incomplete(String),
    /// A fault of evaluation, met on this path.
    Faulty(Vec<String>, Box<Fault>),
}

/// Sizes of what was explored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    pub states: u64,
    pub transitions: u64,
    pub nodes: u64,
}

pub struct Judge<'a> {
    pub eval: &'a mut Eval,
    pub sources: &'a Sources,
    pub options: &'a Options,
    pub budget: &'a Budget,
    pub sizes: Sizes,
}

/// A stop on the way: a fault rejects the script, anything else is a judgement.
pub enum Halt {
    Fault(Box<Fault>),
    Judged(Judgement),
    Internal(String),
}

type Way<T> = Result<T, Halt>;

impl From<Box<Fault>> for Halt {
    fn from(fault: Box<Fault>) -> Halt {
        if fault.limit { Halt::Judged(Judgement::Incomplete(fault.message)) } else { Halt::Fault(fault) }
    }
}

impl Judge<'_> {
    pub fn judge(&mut self, assert: &AssertIn) -> Way<Judgement> {
        match self.claim(&assert.claim) {
            Err(Halt::Judged(judgement)) => Ok(judgement),
            other => other,
        }
    }

    fn claim(&mut self, claim: &ClaimIn) -> Way<Judgement> {
        match claim {
            ClaimIn::Refines(spec, semantics, process) => {
                let spec = self.machine(spec)?;
                let normal = self.normal(&spec)?;
                let machine = self.machine(process)?;
                self.refines(&normal, &machine, *semantics)
            }
            ClaimIn::DeadlockFree(p, semantics) => {
                let machine = self.machine(p)?;
                self.free(&machine, true, *semantics == Semantics::Divergences)
            }
            ClaimIn::DivergenceFree(p) => {
                let machine = self.machine(p)?;
                self.free(&machine, false, true)
            }
            ClaimIn::Deterministic(p, semantics) => {
                let machine = self.machine(p)?;
                let normal = self.normal(&machine)?;
                Ok(deterministic(&normal, &machine, *semantics))
            }
            ClaimIn::HasTrace(p, _, trace) => {
                let machine = self.machine(p)?;
                let Data::Seq(wanted) = self.eval.eval_data(trace, &Env::default())? else {
                    self.eval.here = trace.span;
                    return Err(self
                        .eval
                        .fail::<()>("a sequence of events is expected here")
                        .unwrap_err()
                        .into());
                };
                let normal = self.normal(&machine)?;
                let mut node = 0;
                let mut done = Vec::new();
                for event in wanted.iter() {
                    self.eval.here = trace.span;
                    let event = self.eval.event(event)?;
                    match normal.after(node, event) {
                        Some(next) => node = next,
                        None => return Ok(Judgement::Fails(done, Why::NoTrace)),
                    }
                    done.push(self.eval.show_event(event));
                }
                Ok(Judgement::Holds)
            }
        }
    }

    fn machine(&mut self, e: &super::core::Ex) -> Way<Machine> {
        let term = self.eval.term(e, &Env::default())?;
        let composition = composition(self.eval, term, Smaller::All, self.budget)?;
        Ok(Machine::new(composition, self.eval, self.sources))
    }

    fn normal(&mut self, machine: &Machine) -> Way<Normal> {
        let table = explicit(machine, self.budget).map_err(|why| {
            Halt::Judged(match why {
                NoTable::Limit => {
                    let known = machine.limit.as_deref();
                    Judgement::Incomplete(
                        self.stopped(known.unwrap_or("the specification has too many states")),
                    )
                }
                NoTable::Fault(fault) => {
                    Judgement::Faulty(Vec::new(), machine.composition.faults[fault as usize].clone().into())
                }
            })
        })?;
        let normal = Normal::new(&table, self.budget).ok_or_else(|| {
            Halt::Judged(Judgement::Incomplete(self.stopped("the normal form has too many nodes")))
        })?;
        self.sizes.nodes = normal.nodes.len() as u64;
        Ok(normal)
    }

    fn stopped(&self, otherwise: &str) -> String {
        self.budget.check().err().map_or(otherwise.to_string(), |stop| stop.reason().to_string())
    }

    fn explore<S: System>(&mut self, system: &S, deadlock: bool, edges: bool) -> Way<Outcome> {
        let options = Options {
            check_deadlock: deadlock,
            record_edges: edges,
            keep_going: false,
            progress: Default::default(),
            ..self.options.clone()
        };
        let found = explore::explore(system, &options, self.budget).map_err(|e| Halt::Internal(e.0))?;
        self.sizes.states = found.states;
        self.sizes.transitions = found.transitions;
        Ok(found)
    }

    fn refines(&mut self, normal: &Normal, machine: &Machine, semantics: Semantics) -> Way<Judgement> {
        let product = Refinement { machine, normal, semantics };
        let diverges = semantics == Semantics::Divergences;
        let found = self.explore(&product, false, diverges)?;
        let first = first_finding(machine, &found, FAULT, |finding, trace| {
            let last = trace.last().map(|step| step.state.clone()).unwrap_or_default();
            if finding.property != REFUSAL {
                return Why::Trace;
            }
            refusal(&product, &last)
        });
        if diverges && let Some(graph) = &found.graph {
            let allowed =
                |words: &[u64]| product.node(words).is_none_or(|node| normal.nodes[node as usize].divergent);
            if let Some(path) = divergence(graph, allowed)
                && first.as_ref().is_none_or(|(depth, _)| path.len() <= *depth)
            {
                let judged = Judgement::Fails(visible(machine, &path), Why::Divergence);
                return Ok(self.shortest(judged, machine, Beside { product, scratch: Scratch::default() }));
            }
        }
        let judged = conclude(&product, first.map(|(_, judged)| judged), &found);
        Ok(self.shortest(judged, machine, Beside { product, scratch: Scratch::default() }))
    }

    /// The judgement with a counterexample that has as few visible events as there can be, if one is found in time.
    fn shortest(&self, judged: Judgement, machine: &Machine, mut space: impl Space) -> Judgement {
        let Judgement::Fails(trace, _) = &judged else { return judged };
        match shortest::shorter(&mut space, trace.len(), self.budget) {
            Some((path, why)) => Judgement::Fails(visible(machine, &path), why),
            None => judged,
        }
    }

    /// Freedom from deadlock, from divergence, or from both.
    fn free(&mut self, machine: &Machine, deadlock: bool, diverges: bool) -> Way<Judgement> {
        let found = self.explore(machine, deadlock, diverges)?;
        let space = Alone { machine, scratch: Scratch::default(), deadlock, diverges };
        let first = first_finding(machine, &found, 0, |_, _| Why::Deadlock);
        if diverges
            && let Some(graph) = &found.graph
            && let Some(path) = divergence(graph, |_| false)
            && first.as_ref().is_none_or(|(depth, _)| path.len() <= *depth)
        {
            let judged = Judgement::Fails(visible(machine, &path), Why::Divergence);
            return Ok(self.shortest(judged, machine, space));
        }
        Ok(self.shortest(conclude(machine, first.map(|(_, judged)| judged), &found), machine, space))
    }
}

/// The states of a refinement, to be searched for the fewest events.
struct Beside<'a> {
    product: Refinement<'a>,
    scratch: Scratch,
}

impl Beside<'_> {
    /// Whether the specification may diverge here, so that anything is allowed.
    fn anything_goes(&self, state: &[u64]) -> bool {
        let node = self.product.node(state).map(|n| &self.product.normal.nodes[n as usize]);
        self.product.semantics == Semantics::Divergences && node.is_some_and(|node| node.divergent)
    }
}

impl Space for Beside<'_> {
    fn start(&self) -> Vec<u64> {
        self.product.start()
    }

    fn moves(&mut self, state: &[u64]) -> Option<Moves> {
        let none = self.anything_goes(state);
        if none { Some(Vec::new()) } else { self.product.moves(&mut self.scratch, state) }
    }

    fn wrong(&mut self, state: &[u64], moves: &Moves) -> Option<Why> {
        if self.product.node(state).is_none() {
            return Some(Why::Trace);
        }
        let free = self.product.semantics == Semantics::Traces || self.anything_goes(state);
        let refused = !free && self.product.refuses(state, moves.iter().map(|(event, _)| *event));
        refused.then(|| refusal(&self.product, state))
    }

    fn must_not_diverge(&self, state: &[u64]) -> bool {
        self.product.semantics == Semantics::Divergences
            && self.product.node(state).is_some()
            && !self.anything_goes(state)
    }
}

/// The states of a process that must not deadlock, not diverge, or neither.
struct Alone<'a> {
    machine: &'a Machine,
    scratch: Scratch,
    deadlock: bool,
    diverges: bool,
}

impl Space for Alone<'_> {
    fn start(&self) -> Vec<u64> {
        self.machine.start()
    }

    fn moves(&mut self, state: &[u64]) -> Option<Moves> {
        let found = self.machine.moves(&mut self.scratch, state).ok()?;
        Some(found.map(|(event, to)| (event, to.to_vec())).collect())
    }

    fn wrong(&mut self, state: &[u64], moves: &Moves) -> Option<Why> {
        let stuck = self.deadlock && moves.is_empty();
        (stuck && !self.machine.terminated(&mut self.scratch, state)).then_some(Why::Deadlock)
    }

    fn must_not_diverge(&self, _: &[u64]) -> bool {
        self.diverges
    }
}

/// The finding that ends the exploration, with its depth. Faults are numbered from `first_fault` on.
fn first_finding(
    machine: &Machine,
    found: &Outcome,
    first_fault: u32,
    why: impl Fn(&bombus_system::Finding, &Trace) -> Why,
) -> Option<(usize, Judgement)> {
    let violation = found.findings.first()?;
    let trace = violation.trace.clone().unwrap_or_default();
    let labels: Vec<u32> = trace.iter().filter(|s| s.event.is_some()).map(|s| s.label as u32).collect();
    let path = visible(machine, &labels);
    let judged = match violation.finding.kind {
        FindingKind::WellDefinedness => {
            let fault = (violation.finding.property - first_fault) as usize;
            Judgement::Faulty(path, machine.composition.faults[fault].clone().into())
        }
        _ => Judgement::Fails(path, why(&violation.finding, &trace)),
    };
    Some((violation.depth as usize, judged))
}

fn conclude<S: System>(system: &S, first: Option<Judgement>, found: &Outcome) -> Judgement {
    if let Some(judged) = first {
        return judged;
    }
    if found.is_verified() && found.is_whole() {
        return Judgement::Holds;
    }
    let reasons: Vec<String> = found
        .reasons
        .iter()
        .map(|(reason, _)| match reason {
            explore::Reason::System(n) => system.reason(*n),
            explore::Reason::States(n) => format!("the limit of {n} states was reached"),
            explore::Reason::Time => "the time limit was reached".to_string(),
            explore::Reason::Interrupted => "it was interrupted".to_string(),
            _ => "the memory limit was reached".to_string(),
        })
        .collect();
    Judgement::Incomplete(if reasons.is_empty() {
        "not everything was explored".into()
    } else {
        reasons.join("; ")
    })
}

fn visible(machine: &Machine, labels: &[u32]) -> Vec<String> {
    labels.iter().filter(|e| **e != TAU).map(|e| machine.event_text(*e).to_string()).collect()
}

fn refusal(product: &Refinement<'_>, state: &[u64]) -> Why {
    let machine = product.machine;
    let mut scratch = machine.worker();
    let events: Vec<u32> = match machine.moves(&mut scratch, product.process(state)) {
        Ok(moves) => moves.map(|(event, _)| event).collect(),
        Err(_) => Vec::new(),
    };
    let text = |list: &[u32]| list.iter().map(|e| machine.event_text(*e).to_string()).collect::<Vec<_>>();
    let accepted = acceptance_of(events.into_iter()).unwrap_or_default();
    let required = product.node(state).map_or(Vec::new(), |node| {
        product.normal.nodes[node as usize].acceptances.iter().map(|a| text(a)).collect()
    });
    Why::Refusal { accepted: text(&accepted), required }
}

/// The labels of a shortest path to a state with an endless path of τ, states that are allowed to have one
/// left out.
fn divergence(graph: &Graph, allowed: impl Fn(&[u64]) -> bool) -> Option<Vec<u32>> {
    let forward = &graph.forward;
    let nodes = graph.nodes();
    let tau = |node: u32| -> Vec<u32> {
        forward
            .row(NodeId(node))
            .map(|at| forward.edge(at))
            .filter(|(_, label, _)| *label == u64::from(TAU))
            .map(|(_, _, to)| to.0)
            .collect()
    };
    let left = endless(nodes, tau);
    if !left.contains(&true) {
        return None;
    }
    let mut from: Vec<Option<(u32, u32)>> = vec![None; nodes];
    let mut seen = vec![false; nodes];
    let mut queue = std::collections::VecDeque::new();
    for start in &graph.initial {
        seen[start.0 as usize] = true;
        queue.push_back(start.0);
    }
    while let Some(node) = queue.pop_front() {
        if left[node as usize] && !graph.state(NodeId(node)).is_some_and(|words| allowed(&words)) {
            let mut path = Vec::new();
            let mut at = node;
            while let Some((before, label)) = from[at as usize] {
                path.push(label);
                at = before;
            }
            path.reverse();
            return Some(path);
        }
        for at in forward.row(NodeId(node)) {
            let (_, label, to) = forward.edge(at);
            if !std::mem::replace(&mut seen[to.0 as usize], true) {
                from[to.0 as usize] = Some((node, label as u32));
                queue.push_back(to.0);
            }
        }
    }
    None
}

/// A process is deterministic if it never diverges and never may refuse what it may do.
fn deterministic(normal: &Normal, machine: &Machine, semantics: Semantics) -> Judgement {
    let diverges = semantics == Semantics::Divergences;
    let refused = |node: &super::normal::Node| {
        let events: Vec<u32> = node.next.iter().map(|(e, _)| *e).collect();
        node.acceptances.iter().find_map(|a| events.iter().copied().find(|e| !subset(&[*e], a)))
    };
    let found = normal.shortest(|n| (diverges && n.divergent) || refused(n).is_some(), |_| true);
    match found {
        None => Judgement::Holds,
        Some((trace, node)) => {
            let node = &normal.nodes[node as usize];
            let why = match refused(node) {
                Some(event) => Why::Nondeterminism(machine.event_text(event).to_string()),
                None => Why::Divergence,
            };
            Judgement::Fails(visible(machine, &trace), why)
        }
    }
}
