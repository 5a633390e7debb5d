//! What partial order reduction needs to know about a compiled model.
//!
//! In: a program and what will be checked. Out: instances of events with their relations, the guards to
//! be compiled, the instance of each transition; texts and a graph of them for people.
//! Never here: which set is chosen in a state.

use super::effects::cells::{Cells, Tracer, touches};
use super::effects::facts::Fact;
use super::effects::ground::{Domains, Grounded, Guard, Instance, ground};
use super::effects::prove::{Bound, Prover};
use super::effects::relate::relate;
use super::effects::repair::may_repair;
use super::effects::split::split;
use super::exact::Constant;
use super::lower::Folder;
use super::system::{Program, Worker};
use super::{plan, uses::Uses};
use crate::refine_relations::{Contents, Trial};
use bombus_evaluate::Interpreter;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{Expr, ExprKind, Machine, OpId, Pred, Type, VarId};
use bombus_lang::value::Value;
use bombus_system::{EventId, GuardId, InstanceId, Relations};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// What a reduced search must preserve, in terms of the model.
#[derive(Clone, Debug, Default)]
pub struct Preserved<'w> {
    /// Each event is one instance, as in the paper on ample sets.
    pub whole_events: bool,
    pub invariant: bool,
    pub assertions: bool,
    pub goal: bool,
    /// State predicates of temporal formulas, and events whose enabledness they speak of.
    pub propositions: Vec<&'w Pred>,
    pub enabledness: Vec<usize>,
    /// Findings made while a step is computed need not be preserved.
    pub ignores_failures: bool,
    /// Paths up to stuttering are to be preserved, not only which states are reachable.
    pub paths: bool,
}

/// Instances and relations of a program.
pub struct Reduction {
    pub relations: Relations,
    labels: Vec<Labels>,
    /// Instances as people write them.
    pub names: Vec<String>,
    /// Conjuncts of the invariant that no event can break, and all of them.
    pub proven: usize,
    pub conjuncts: usize,
    pub grounded: Grounded,
    /// What cells can hold, for trying it out; none once that was done.
    pub(super) contents: Option<Contents>,
    ignores_failures: bool,
}

/// What the text of a machine tells about its parameters and conditions.
pub(super) struct Known<'k> {
    pub domains: &'k Domains<'k>,
    /// The conjuncts of the invariant.
    pub conjuncts: &'k [Pred],
    /// Proves with all of the invariant granted.
    pub by_invariant: &'k Prover<'k>,
}

/// A condition whose truth matters.
struct Watched {
    cells: Cells,
    /// The condition, with the fact that it may be, if states where it does not hold are looked for: then
    /// only a step that makes it true matters. A goal is looked for where it holds, and for paths every
    /// change matters.
    repaired: Option<(Pred, Option<Fact>)>,
}

impl Watched {
    /// Whether a step of `instance` may change the truth that matters.
    fn may_change(&self, instance: &Instance, guards: &[Guard], tracer: &Tracer<'_>) -> bool {
        let writes = &instance.touch.writes;
        touches(writes, &self.cells)
            && self.repaired.as_ref().is_none_or(|(p, fact)| {
                fact.as_ref().is_none_or(|fact| fact.may_become(true, writes))
                    && may_repair(p, instance, guards, tracer)
            })
    }
}

/// The conditions that a reduced search must preserve, and how many conjuncts of the invariant are proven and so not
/// among them.
fn watched_conditions(machine: &Machine, known: &Known<'_>, wanted: &Preserved<'_>) -> (Vec<Watched>, usize) {
    let domains = known.domains;
    let tracer = domains.tracer;
    let mut watched: Vec<Watched> = Vec::new();
    let mut watch = |p: &Pred, bad_if_false: bool| {
        let mut cells = Cells::new();
        if !bad_if_false || wanted.paths {
            tracer.pred(p, &mut cells);
            watched.push(Watched { cells, repaired: None });
            return;
        }
        for part in split(p, domains) {
            let mut cells = Cells::new();
            tracer.pred(&part, &mut cells);
            let fact = Fact::of(&part, tracer);
            watched.push(Watched { cells, repaired: Some((part, fact)) });
        }
    };
    let mut proven = 0;
    if wanted.invariant {
        for c in known.conjuncts {
            if known.by_invariant.keep(c) {
                proven += 1;
            } else {
                watch(c, true);
            }
        }
    }
    if wanted.assertions {
        machine.assertions.iter().for_each(|c| watch(&c.pred, true));
    }
    if wanted.goal {
        machine.goal.iter().for_each(|p| watch(p, false));
    }
    wanted.propositions.iter().for_each(|p| watch(p, false));
    (watched, proven)
}

/// The instances of one event by the label of a transition.
pub(super) enum Labels {
    Whole(u32),
    /// Sorted by label.
    Each(Vec<(u64, u32)>),
}

/// More valuations or initial states than this are not looked through for what holds at the start.
const LOOKED_AT: usize = 4096;

impl Reduction {
    pub fn instance(&self, event: EventId, label: u64) -> Option<InstanceId> {
        self.labels[event.0 as usize].find(label)
    }
}

impl Labels {
    /// Whether two instances have one label.
    pub(super) fn is_ambiguous(&self) -> bool {
        match self {
            Labels::Whole(_) => false,
            Labels::Each(list) => list.windows(2).any(|two| two[0].0 == two[1].0),
        }
    }

    pub(super) fn find(&self, label: u64) -> Option<InstanceId> {
        match self {
            Labels::Whole(i) => Some(InstanceId(*i)),
            Labels::Each(list) => {
                list.binary_search_by_key(&label, |l| l.0).ok().map(|at| InstanceId(list[at].1))
            }
        }
    }
}

impl<'m> Program<'m> {
    /// Finds instances and relations. To be called before the first state is computed, because guards
    /// become part of the code.
    pub fn prepare_reduction(&mut self, wanted: &Preserved<'_>) {
        if self.valuations.is_empty() {
            return;
        }
        let machine = self.machine;
        // Where the invariant is checked, a state outside it ends the search, so it may be granted
        // for all others. Else, and for paths, which go on, only what is proven is granted.
        let (grounded, relations, contents, proven) =
            self.with_domains(wanted.invariant && !wanted.paths, |known| {
                let domains = known.domains;
                let tracer = domains.tracer;
                let grounded = ground(domains, wanted.whole_events);
                let mut relations = relate(&grounded);
                let contents: Contents = grounded
                    .instances
                    .iter()
                    .flat_map(|i| i.touch.reads.iter().chain(i.touch.writes.keys()))
                    .chain(grounded.guards.iter().flat_map(|g| &g.reads))
                    .filter_map(|cell| Some((cell.clone(), domains.contents(cell)?)))
                    .collect();

                let (watched, proven) = watched_conditions(machine, known, wanted);
                for (i, instance) in grounded.instances.iter().enumerate() {
                    let enables = |other: &&Instance| {
                        wanted.enabledness.contains(&other.event)
                            && other
                                .guards
                                .iter()
                                .any(|g| touches(&instance.touch.writes, &grounded.guards[*g].reads))
                    };
                    if fault("por: no step is visible") {
                        continue;
                    }
                    if watched.iter().any(|w| w.may_change(instance, &grounded.guards, tracer))
                        || grounded.instances.iter().any(|other| enables(&other))
                    {
                        relations.make_visible(i);
                    }
                }
                (grounded, relations, contents, proven)
            });
        let mut relations = relations;
        let interpreter = Interpreter::new(machine, &self.budget);
        let names = grounded.instances.iter().map(|i| name_of(machine, i)).collect();
        let labels = self.labels_of(&grounded);
        self.guards = grounded.guards.iter().map(|g| g.pred.clone()).collect();
        // A guard without code would be asked for on values, in every state.
        let code = self.compiled(0, &interpreter);
        for (askable, entry) in relations.askable.iter_mut().zip(&code.guards) {
            *askable &= entry.is_some();
        }
        let ignores_failures = wanted.ignores_failures;
        relations.fallible &= !ignores_failures;
        let conjuncts = machine.invariant.iter().map(|c| plan::conjuncts(&c.pred).len()).sum();
        let many = self.valuations.len() > 1;
        // With several valuations a trial would have to be made for each.
        let contents = (!many).then_some(contents);
        self.reduction = Some(Reduction {
            relations,
            labels,
            names,
            proven,
            conjuncts,
            grounded,
            contents,
            ignores_failures,
        });
    }

    /// Calls `work` with what the text of the machine tells about parameters and conditions. With `grants_invariant`
    /// the invariant is taken to hold in every state; else only as far as it is proven.
    pub(super) fn with_domains<T>(&self, grants_invariant: bool, work: impl FnOnce(&Known<'_>) -> T) -> T {
        let machine = self.machine;
        let interpreter = Interpreter::new(machine, &self.budget);
        let folder = Constant::new(&interpreter, &self.valuations[0]);
        let state: BTreeSet<VarId> = machine.variables.iter().copied().collect();
        let many = self.valuations.len() > 1;
        let fixed = |e: &Expr, binders: bool| {
            let uses = Uses::of_expr(e);
            uses.olds.is_empty()
                && (binders || !uses.binds())
                && uses.reads.iter().all(|v| machine.constants.contains(v))
                && (!many || uses.reads.is_empty())
        };
        let fold = |e: &Expr| match &e.kind {
            ExprKind::Int(n) => Some(Value::Int(n.clone())),
            ExprKind::Bool(b) => Some(Value::Bool(*b)),
            ExprKind::Elem(s, n) => Some(Value::Elem(*s, *n)),
            _ if fixed(e, false) && !is_large(&e.ty) => folder.value(e).filter(is_explicit),
            _ => None,
        };
        let set_value = |e: &Expr| match &e.ty {
            Type::Pow(t) if !is_large(t) && fixed(e, true) => folder.value(e).filter(is_explicit),
            _ => None,
        };
        let member = |v: &Value, set: &Expr| if fixed(set, true) { folder.member(v, set) } else { None };
        let tracer = Tracer { machine, state: &state, fold: &fold };
        let conjuncts: Vec<Pred> = machine.invariant.iter().flat_map(|c| plan::conjuncts(&c.pred)).collect();
        let body = |op: &OpId| Uses::of_stmt(&machine.op(*op).body, machine);
        let written: Vec<BTreeSet<VarId>> = machine.events.iter().map(|op| body(op).writes).collect();
        let prover = |granted: Vec<Bound>| Prover {
            machine,
            tracer: &tracer,
            member: &member,
            granted,
            written: &written,
            looked_at: RefCell::default(),
        };
        let all_bounds: Vec<Bound> = conjuncts.iter().filter_map(Bound::of).collect();
        let granted = if grants_invariant {
            all_bounds.clone()
        } else {
            self.inductive(&interpreter, &conjuncts, &prover)
        };
        let by_invariant = prover(all_bounds);
        let granting = prover(granted);
        let domains = Domains { machine, tracer: &tracer, set_value: &set_value, prover: &granting };
        work(&Known { domains: &domains, conjuncts: &conjuncts, by_invariant: &by_invariant })
    }

    /// Whether relations could be refined by trying what cells can hold. It takes some milliseconds.
    pub fn can_refine_reduction(&self) -> bool {
        self.reduction.as_ref().is_some_and(|r| r.contents.is_some())
    }

    /// Refines the relations by trying. No search may rely on them meanwhile.
    pub fn refine_reduction(&mut self) {
        let Some(mut r) = self.reduction.take() else { return };
        if let Some(contents) = r.contents.take()
            && let interpreter = Interpreter::new(self.machine, &self.budget)
            && let Ok(initial) = interpreter.initial_states(&self.valuations[0])
            && let Some(base) = initial.values.first()
        {
            let Reduction { relations, labels, grounded, ignores_failures, .. } = &mut r;
            let instance = |event: EventId, label: u64| labels[event.0 as usize].find(label);
            let base = base.variables.to_vec();
            Trial::new(self, base, &contents, &instance).refine(grounded, relations);
            relations.fallible &= !*ignores_failures;
        }
        self.reduction = Some(r);
    }

    /// What is known for partial order reduction, once it was prepared.
    pub fn reduction(&self) -> Option<&Reduction> {
        self.reduction.as_ref()
    }

    /// Whether a guard is defined and holds in the state that the frame holds since its successors were
    /// computed.
    pub(super) fn guard_holds(&self, worker: &mut Worker<'m>, state: &[u64], guard: GuardId) -> bool {
        let at = guard.0 as usize;
        let Some(pred) = &self.guards[at] else { return false };
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        self.holds(worker, compiled, compiled.guards[at], pred, state).unwrap_or(false)
    }

    /// Bounds that hold in all initial states and that every event keeps, given all of them.
    fn inductive<'p>(
        &self,
        interpreter: &Interpreter<'_>,
        conjuncts: &[Pred],
        prover: &dyn Fn(Vec<Bound>) -> Prover<'p>,
    ) -> Vec<Bound> {
        let mut candidates: Vec<&Pred> = conjuncts.iter().filter(|c| Bound::of(c).is_some()).collect();
        if self.valuations.len() > LOOKED_AT {
            return Vec::new();
        }
        for constants in &self.valuations {
            match interpreter.initial_states(constants) {
                Ok(found) if found.values.len() <= LOOKED_AT => {
                    let holds = |c: &&Pred| {
                        found.values.iter().all(|s| interpreter.eval_pred(c, Some(s)).is_ok_and(|b| b))
                    };
                    candidates.retain(holds);
                }
                _ => return Vec::new(),
            }
        }
        loop {
            let bounds: Vec<Bound> = candidates.iter().filter_map(|c| Bound::of(c)).collect();
            let before = candidates.len();
            let prover = prover(bounds.clone());
            candidates.retain(|c| prover.keep(c));
            if candidates.len() == before {
                return bounds;
            }
        }
    }

    pub(super) fn labels_of(&self, grounded: &Grounded) -> Vec<Labels> {
        let mut labels: Vec<Labels> = self.names.iter().map(|_| Labels::Each(Vec::new())).collect();
        for (i, instance) in grounded.instances.iter().enumerate() {
            match &instance.params {
                None => labels[instance.event] = Labels::Whole(i as u32),
                Some(params) => {
                    let label = self.label(EventId(instance.event as u32), params, &[]);
                    if let Labels::Each(list) = &mut labels[instance.event] {
                        list.push((label, i as u32));
                    }
                }
            }
        }
        for list in &mut labels {
            if let Labels::Each(list) = list {
                list.sort_unstable();
            }
        }
        labels
    }
}

/// Whether listing the values of a type may take for ever: sets of sets and the like.
fn is_large(ty: &Type) -> bool {
    match ty {
        Type::Pow(t) => matches!(**t, Type::Pow(_)) || is_large(t),
        Type::Prod(a, b) => is_large(a) || is_large(b),
        Type::Integer | Type::Bool | Type::Set(_) => false,
        _ => true,
    }
}

fn is_explicit(v: &Value) -> bool {
    match v {
        Value::Symbolic(_) => false,
        Value::Pair(p) => is_explicit(&p.0) && is_explicit(&p.1),
        Value::Set(all) => all.iter().all(is_explicit),
        Value::Rec(all) => all.iter().all(is_explicit),
        _ => true,
    }
}

fn name_of(machine: &Machine, i: &Instance) -> String {
    let op = machine.op(machine.events[i.event]);
    let Some(params) = i.params.as_ref().filter(|p| !p.is_empty()) else { return op.name.to_string() };
    let shown: Vec<String> =
        params.iter().zip(&op.params).map(|(v, p)| v.show(machine, &machine.var(*p).ty)).collect();
    format!("{}({})", op.name, shown.join(","))
}
