//! Which bits each step and each condition of a compiled model depends on, for engines on sets of states.
//!
//! In: a program and what will be checked. Out: `system::Footprints`, and answers to what an engine then asks: the
//! steps of one event, the truth of a condition or of a part of it.
//! Never here: sets of states.
//!
//! Instances and cells are those of partial order reduction (`effects::ground`), with nothing granted but what is
//! proven: an engine on sets may compute steps from states that break the invariant before it looks at them.

use super::bits::{Bits, Moved};
use super::effects::cells::{Cells, Tracer};
use super::effects::ground::{Grounded, Instance, Put, ground};
use super::effects::prove::Bound;
use super::effects::split::{Most, split_up_to};
use super::exact;
use super::ir::Op;
use super::reduction::{Known, Labels};
use super::system::{Program, Worker};
use super::uses::Uses;
use crate::plan;
use crate::symmetry;
use bombus_base::span::Span;
use bombus_evaluate::{Constants, Error, Interpreter, Pieces};
use bombus_lang::typed::{Pred, PredKind, SetId, VarId};
use bombus_lang::value::Value;
use bombus_lang::walk::change_pred;
use bombus_system::{
    Condition, EventId, Exchange, Finding, FindingKind, Footprint, Footprints, InstanceId, Part, Sink,
};
use std::collections::BTreeMap;

/// What an engine on sets of states will ask for.
#[derive(Clone, Debug, Default)]
pub struct SetQuestions {
    pub invariant: bool,
    pub assertions: bool,
    pub goal: bool,
    /// How many of the observed predicates guide the search; they come last among these.
    pub hints: usize,
    /// The propositions of temporal claims.
    pub propositions: Vec<Proposition>,
    /// Whether symmetric sets are looked for.
    pub symmetry: bool,
}

/// A predicate over a state that temporal claims speak of.
#[derive(Clone, Debug)]
pub struct Proposition {
    pub pred: Pred,
    /// Its number among the observed predicates, if it was compiled with the model.
    pub observed: Option<usize>,
    /// Values of the variables that a quantifier around it binds.
    pub bound: Vec<(VarId, Value)>,
}

/// What is known once it was asked for.
pub(super) struct Prepared {
    pub footprints: Footprints,
    labels: Vec<Labels>,
    /// By condition: what it is, and the guards that its parts are.
    asked: Vec<(Asked, Vec<Option<usize>>)>,
    propositions: Vec<Proposition>,
    /// By instance: the values of its parameters, if they are fixed.
    arguments: Vec<Option<Vec<Value>>>,
}

impl Prepared {
    pub fn instance(&self, event: EventId, label: u64) -> Option<InstanceId> {
        self.labels[event.0 as usize].find(label)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Invariant(usize),
    Assertion(usize),
    Goal,
    /// By its number among the observed predicates.
    Hint(usize),
    Proposition(usize),
}

/// Parts of one condition: each has its own diagram.
const MOST: Most = Most { values: 256, parts: 4096 };

/// Valuations whose code is looked at for conditions that the layouts settle.
const LOOKED_AT: usize = 16;

/// A condition before its parts have places.
struct Draft {
    asked: Asked,
    parts: Vec<Pred>,
    cells: Vec<Cells>,
}

impl<'m> Program<'m> {
    /// Whether no valuation of the constants was found, so that there are no states at all.
    pub fn is_without_valuations(&self) -> bool {
        self.valuations.is_empty()
    }

    /// Finds the footprints. To be called before the first state is computed, because parts of conditions become
    /// part of the code. False if there are none: no valuation of the constants, or two instances of one event that
    /// their labels do not tell apart.
    pub fn prepare_footprints(&mut self, wanted: &SetQuestions) -> bool {
        if self.is_without_valuations() {
            return false;
        }
        let (grounded, drafts) = self.with_domains(false, |known| {
            let drafts = self.drafts(wanted, known);
            (ground(known.domains, false), drafts)
        });
        let labels = self.labels_of(&grounded);
        if labels.iter().any(Labels::is_ambiguous) {
            return false;
        }
        self.guards = drafts.iter().flat_map(|d| &d.parts).map(|p| askable(p).then(|| p.clone())).collect();
        let bits = Bits::new(&self.layout);
        let mut footprints = Footprints {
            fields: bits.fields.clone(),
            escape: self.layout.head_bits().0,
            common: bits.common(),
            instances: grounded.instances.iter().map(|i| footprint(&bits, &grounded, i)).collect(),
            ..Footprints::default()
        };
        let settled = self.settled();
        let mut asked = Vec::new();
        let mut guard = 0;
        for draft in &drafts {
            let guards: Vec<Option<usize>> =
                (guard..guard + draft.parts.len()).map(|g| self.guards[g].is_some().then_some(g)).collect();
            guard += draft.parts.len();
            if matches!(draft.asked, Asked::Invariant(i) if settled[i]) || draft.parts.is_empty() {
                continue;
            }
            let parts = draft.cells.iter().zip(&guards).map(|(cells, guard)| {
                let mut reads = bits.common();
                cells.iter().for_each(|cell| bits.insert(cell, &mut reads));
                Part { reads, askable: guard.is_some() }
            });
            footprints.conditions.push(Condition {
                finding: finding(draft.asked),
                proposition: match draft.asked {
                    Asked::Proposition(n) => Some(n),
                    _ => None,
                },
                found_if: matches!(draft.asked, Asked::Goal | Asked::Hint(_)),
                parts: parts.collect(),
            });
            asked.push((draft.asked, guards));
        }
        if wanted.symmetry {
            self.exchanges(&bits, &mut footprints);
        }
        let arguments = grounded.instances.into_iter().map(|i| i.params).collect();
        let propositions = wanted.propositions.clone();
        self.prepared = Some(Prepared { footprints, labels, asked, propositions, arguments });
        true
    }

    /// All conditions that will be asked for, taken apart. What is proven to hold in every state is left out.
    fn drafts(&self, wanted: &SetQuestions, known: &Known<'_>) -> Vec<Draft> {
        let machine = self.machine;
        let tracer = known.domains.tracer;
        let granted = &known.domains.prover.granted;
        let proven = |p: &Pred| {
            let bound = Bound::of(p).filter(|_| !Uses::of_pred(p).partial);
            bound.is_some_and(|b| {
                granted.iter().any(|g| g.var == b.var && g.set == b.set && g.subset == b.subset)
            })
        };
        let whole =
            |asked, p: &Pred| Draft { asked, cells: vec![cells_of(tracer, p)], parts: vec![p.clone()] };
        let taken_apart = |asked, p: &Pred| {
            let open = plan::conjuncts(p).into_iter().filter(|p| !proven(p));
            let parts: Vec<Pred> = open.flat_map(|p| split_up_to(&p, known.domains, MOST)).collect();
            Draft { asked, cells: parts.iter().map(|p| cells_of(tracer, p)).collect(), parts }
        };
        let mut drafts = Vec::new();
        if wanted.invariant {
            let all = machine.invariant.iter().enumerate();
            drafts.extend(all.map(|(i, c)| taken_apart(Asked::Invariant(i), &c.pred)));
        }
        if wanted.assertions {
            let all = machine.assertions.iter().enumerate().filter(|(i, _)| !self.statics[*i]);
            drafts.extend(all.map(|(i, c)| taken_apart(Asked::Assertion(i), &c.pred)));
        }
        if wanted.goal {
            drafts.extend(machine.goal.iter().map(|p| whole(Asked::Goal, p)));
        }
        let observed = &self.options.observed;
        let hints = observed.iter().enumerate().skip(observed.len().saturating_sub(wanted.hints));
        drafts.extend(hints.map(|(i, p)| whole(Asked::Hint(i), p)));
        for (i, p) in wanted.propositions.iter().enumerate() {
            let asked = Asked::Proposition(i);
            if p.bound.is_empty() {
                drafts.push(taken_apart(asked, &p.pred));
                continue;
            }
            let given: BTreeMap<VarId, Value> = p.bound.iter().cloned().collect();
            let mut put = p.pred.clone();
            change_pred(&mut put, &mut Put { given: &given, machine });
            // Asked for as a whole, with the variables bound: plans of quantifiers are remembered by their variables.
            drafts.push(Draft { asked, cells: vec![cells_of(tracer, &put)], parts: vec![always()] });
        }
        drafts
    }

    /// The constants, if they have one valuation.
    pub fn only_constants(&self) -> Option<Constants> {
        (self.valuations.len() == 1).then(|| self.valuations[0].clone())
    }

    /// The values of the parameters of an instance; `None` if they are not fixed.
    pub fn arguments(&self, instance: InstanceId) -> Option<&[Value]> {
        self.prepared.as_ref()?.arguments[instance.0 as usize].as_deref()
    }

    /// By conjunct of the invariant: whether the layouts say all that it says.
    fn settled(&self) -> Vec<bool> {
        let mut settled = vec![self.valuations.len() <= LOOKED_AT; self.machine.invariant.len()];
        let interpreter = Interpreter::new(self.machine, &self.budget);
        for valuation in 0..self.valuations.len().min(LOOKED_AT) {
            let compiled = self.compiled(valuation, &interpreter);
            for (settled, entry) in settled.iter_mut().zip(&compiled.invariant) {
                *settled &= entry.is_some_and(|at| compiled.code.ops[at as usize] == Op::Ret);
            }
        }
        settled
    }

    /// Exchanges of neighbouring elements of symmetric sets that leave the constants as they are.
    fn exchanges(&self, bits: &Bits<'_>, footprints: &mut Footprints) {
        let group = symmetry::group(self.machine, &[], &self.valuations);
        for range in &group.ranges {
            for pair in group.elements[range.clone()].windows(2) {
                let (set, a, b) = (pair[0].set, u32::from(pair[0].number), u32::from(pair[1].number));
                let moved = Moved::swap(set, self.machine.set(set).elems.len(), a, b);
                match self.exchange(bits, &moved, [a, b]) {
                    Some(exchange) => footprints.exchanges.push(exchange),
                    None => {
                        let decl = self.machine.set(set);
                        footprints.notes.push(format!(
                            "{} and {} of {} are told apart: a constant or a pooled value holds them",
                            decl.elems[a as usize], decl.elems[b as usize], decl.name
                        ));
                    }
                }
            }
        }
    }

    /// What a permutation of a set does to the fields; `None` if it moves constants or pooled values.
    fn exchange(&self, bits: &Bits<'_>, moved: &Moved, [a, b]: [u32; 2]) -> Option<Exchange> {
        let fixed = |v| moved.value(v).as_ref() == Some(v);
        if !self.valuations.iter().all(|constants| constants.iter().all(fixed)) {
            return None;
        }
        let set = self.machine.set(moved.set);
        let name = |n: u32| set.elems[n as usize].to_string();
        Some(Exchange {
            set: set.name.to_string(),
            elements: [name(a), name(b)],
            images: bits.images(self.machine, moved)?,
            proved: true,
        })
    }

    /// A permutation that the user claims to be a symmetry: `to[n]` takes the place of element `n` of a set. It is
    /// proved if it is a product of exchanges that are.
    pub fn claimed_exchange(&self, set: SetId, to: Vec<u32>) -> Option<Exchange> {
        let moves: Vec<u32> = (0..to.len() as u32).filter(|n| to[*n as usize] != *n).collect();
        let ends = [*moves.first()?, *moves.last()?];
        let group = symmetry::group(self.machine, &[], &self.valuations);
        let free = moves.iter().all(|n| group.place(set, *n).is_some());
        let bits = Bits::new(&self.layout);
        let moved = Moved { set, to };
        let fixed = |v| moved.value(v).as_ref() == Some(v);
        let constants = self.valuations.iter().all(|constants| constants.iter().all(fixed));
        let decl = self.machine.set(set);
        Some(Exchange {
            set: decl.name.to_string(),
            elements: ends.map(|n| decl.elems[n as usize].to_string()),
            images: bits.images(self.machine, &moved)?,
            proved: free && constants,
        })
    }

    /// The truth of a condition or of a part of it.
    pub(super) fn condition_holds(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        condition: usize,
        part: Option<usize>,
        sink: &mut dyn Sink,
    ) -> Option<bool> {
        let prepared =
            self.prepared.as_ref().expect("footprints are prepared before conditions are asked for");
        let (asked, guards) = &prepared.asked[condition];
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        if !self.layout.is_escaped(state) {
            self.enter(worker, compiled, state);
        }
        if let Some(guard) = part.and_then(|part| guards[part]) {
            let pred = self.guards[guard].as_ref()?;
            return self.holds(worker, compiled, compiled.guards[guard], pred, state).ok();
        }
        let (entry, pred) = match *asked {
            Asked::Invariant(i) => (compiled.invariant[i], &self.machine.invariant[i].pred),
            Asked::Assertion(i) => (compiled.assertions[i], &self.machine.assertions[i].pred),
            Asked::Goal => (compiled.goal, self.machine.goal.as_ref()?),
            Asked::Hint(i) => (compiled.observed[i], &self.options.observed[i]),
            Asked::Proposition(i) => {
                let Proposition { pred, observed, bound } = &prepared.propositions[i];
                if !bound.is_empty() {
                    return self.holds_with(worker, pred, bound, state);
                }
                (observed.and_then(|n| compiled.observed[n]), pred)
            }
        };
        let truth = self.holds(worker, compiled, entry, pred, state);
        truth.map_err(|e| self.tell_of(*asked, &e, sink)).ok()
    }

    /// Whether a predicate with variables that are bound to values holds in a state.
    fn holds_with(
        &self,
        worker: &Worker<'m>,
        pred: &Pred,
        bound: &[(VarId, Value)],
        state: &[u64],
    ) -> Option<bool> {
        let values = self.values(state);
        let mut pieces = Pieces::new(&worker.interpreter, &values.constants);
        for (v, x) in self
            .machine
            .variables
            .iter()
            .zip(values.variables.iter())
            .chain(bound.iter().map(|b| (&b.0, &b.1)))
        {
            pieces.bind(*v, false, x.clone());
        }
        worker.interpreter.piece_holds(pred, &mut pieces).ok()
    }

    fn tell_of(&self, asked: Asked, e: &Error, sink: &mut dyn Sink) {
        match asked {
            Asked::Invariant(_) | Asked::Assertion(_) => self.tell(e, None, sink),
            Asked::Goal => sink.incomplete(self.reason_number(format!("goal: {}", exact::words(e)))),
            // Where a hint has no truth value it gives none: any hint is sound. A claim without a truth value is open.
            Asked::Hint(_) | Asked::Proposition(_) => {}
        }
    }
}

/// Whether a part can be evaluated by itself: plans of quantifiers are remembered by their variables, so a formula
/// with a binder may not be asked for with several values put into it.
fn askable(p: &Pred) -> bool {
    !Uses::of_pred(p).binds() && !matches!(p.kind, PredKind::True)
}

fn finding(asked: Asked) -> Option<Finding> {
    let (kind, property) = match asked {
        Asked::Invariant(i) => (FindingKind::Invariant, i),
        Asked::Assertion(i) => (FindingKind::Assertion, i),
        Asked::Goal => (FindingKind::Goal, 0),
        Asked::Hint(_) | Asked::Proposition(_) => return None,
    };
    Some(Finding { kind, property: property as u32, event: None })
}

/// Stands for what is only asked for as a whole.
fn always() -> Pred {
    Pred { kind: PredKind::True, span: Span::default() }
}

fn cells_of(tracer: &Tracer<'_>, p: &Pred) -> Cells {
    let mut cells = Cells::new();
    tracer.pred(p, &mut cells);
    cells
}

fn footprint(bits: &Bits<'_>, grounded: &Grounded, i: &Instance) -> Footprint {
    let mut writes = vec![0; bits.common().len()];
    i.touch.writes.keys().for_each(|cell| bits.insert(cell, &mut writes));
    let mut reads = bits.common();
    let guards = i.guards.iter().flat_map(|g| &grounded.guards[*g].reads);
    guards.chain(&i.touch.reads).for_each(|cell| bits.insert(cell, &mut reads));
    // A cell that some path leaves alone keeps its content.
    reads.iter_mut().zip(&writes).for_each(|(r, w)| *r |= w);
    Footprint { event: EventId(i.event as u32), ground: i.params.is_some(), reads, writes }
}
