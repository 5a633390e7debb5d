//! A model in a shared library as a `System`: vectors of numbers packed two to a word.
//!
//! In: a library of DVE2C or SpinS kind, loaded by the crate `bombus-pins`. Out: transitions by groups, what a
//! reduction may rely on, propositions over variables. Never here: `unsafe`, the search.
//!
//! Each group of transitions is one event and one instance of a reduction. A transition that is labelled
//! `assert` is a broken assertion of the model; a state with a label `end_…` has come to its proper end.

mod relations;

use crate::net::proposition::{self, Names, Proposition};
use crate::system::{
    Diagnostic, EventId, Finding, FindingKind, GuardId, InstanceId, NO_INITIAL_STATE, PropId, Relations,
    Sink, Span, System, label_of,
};
use bombus_pins::Model;
use std::path::Path;

/// The reason that cycles of a property automaton are not looked for.
const NO_CYCLES: u32 = 0;

pub struct Library {
    model: Model,
    names: Vec<String>,
    propositions: Vec<Proposition>,
    relations: Option<Relations>,
    /// For each label of transitions the value that stands for a broken assertion.
    asserts: Vec<Option<i32>>,
    /// The label that says that a state is a proper end.
    end: Option<usize>,
    /// Whether acceptance is part of the model, which a search for states does not look at.
    accepts: bool,
}

/// Scratch memory of one thread.
#[derive(Default)]
pub struct Worker {
    state: Vec<i32>,
    next: Vec<u64>,
    /// Transitions of one group, so that equal ones are told once.
    found: Vec<(u64, Vec<u64>)>,
}

impl Library {
    pub fn open(path: &Path) -> Result<Library, String> {
        let model = Model::open(path)?;
        let is_assert = |value: &String| value == "assert";
        let asserts = |ty: &usize| model.types.get(*ty).and_then(|t| t.values.iter().position(is_assert));
        let label = |prefix: &str| model.state_labels.iter().find(|(name, _)| name.starts_with(prefix));
        Ok(Library {
            names: (0..model.groups.len()).map(|g| format!("group_{g}")).collect(),
            propositions: Vec::new(),
            relations: None,
            asserts: model.edge_labels.iter().map(|(_, ty)| asserts(ty).map(|n| n as i32)).collect(),
            end: label("end_").map(|(_, number)| *number),
            accepts: model.has_property || label("accept_").is_some(),
            model,
        })
    }

    /// Computes what a reduction may rely on, once all propositions are known.
    pub fn prepare_reduction(&mut self) {
        self.relations = Some(relations::of(&self.model, &self.propositions));
    }

    /// Whether transitions may be broken assertions.
    pub fn has_assertions(&self) -> bool {
        self.asserts.iter().any(Option::is_some)
    }

    fn unpack(&self, state: &[u64], out: &mut Vec<i32>) {
        out.clear();
        out.extend(state.iter().flat_map(|word| [*word as u32 as i32, (*word >> 32) as u32 as i32]));
        out.truncate(self.model.variables.len());
    }

    fn unpacked(&self, state: &[u64]) -> Vec<i32> {
        let mut out = Vec::new();
        self.unpack(state, &mut out);
        out
    }

    /// The name of a value, where its type has one.
    fn value_name(&self, ty: usize, value: i32) -> String {
        let values = self.model.types.get(ty).map_or(&[][..], |t| &t.values);
        let name = usize::try_from(value).ok().and_then(|n| values.get(n));
        name.cloned().unwrap_or_else(|| value.to_string())
    }

    fn is_enabled(&self, group: usize, state: &[i32]) -> bool {
        let mut any = false;
        self.model.successors(group, state, &mut |_, _| any = true);
        any
    }
}

fn pack(state: &[i32], out: &mut Vec<u64>) {
    out.clear();
    let word =
        |pair: &[i32]| u64::from(pair[0] as u32) | u64::from(pair.get(1).map_or(0, |n| *n as u32)) << 32;
    out.extend(state.chunks(2).map(word));
}

impl System for Library {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn words(&self) -> usize {
        self.model.variables.len().div_ceil(2)
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn initial(&self, worker: &mut Worker, sink: &mut dyn Sink) {
        pack(&self.model.initial, &mut worker.next);
        sink.edge(EventId(0), 0, &worker.next);
        if self.accepts {
            sink.incomplete(NO_CYCLES);
        }
    }

    fn successors(&self, worker: &mut Worker, state: &[u64], sink: &mut dyn Sink) {
        let Worker { state: source, next, found } = worker;
        self.unpack(state, source);
        for group in 0..self.model.groups.len() {
            found.clear();
            let event = EventId(group as u32);
            self.model.successors(group, source, &mut |labels, target| {
                let broken = |(wanted, label): (&Option<i32>, &i32)| *wanted == Some(*label);
                if self.asserts.iter().zip(labels).any(broken) {
                    sink.finding(Finding { kind: FindingKind::Assertion, property: 0, event: Some(event) });
                    return;
                }
                pack(target, next);
                let label = label_of(labels, |n| n as u32);
                if !found.iter().any(|(l, n)| *l == label && n == next) {
                    sink.edge(event, label, next);
                    found.push((label, next.clone()));
                }
            });
        }
    }

    fn terminated(&self, worker: &mut Worker, state: &[u64]) -> bool {
        self.unpack(state, &mut worker.state);
        self.end.is_some_and(|end| self.model.label(end, &worker.state) != 0)
    }

    fn relations(&self) -> Option<&Relations> {
        self.relations.as_ref()
    }

    fn instance(&self, event: EventId, _: u64) -> Option<InstanceId> {
        Some(InstanceId(event.0))
    }

    fn guard(&self, worker: &mut Worker, state: &[u64], guard: GuardId) -> bool {
        self.unpack(state, &mut worker.state);
        self.model.label(guard.0 as usize, &worker.state) != 0
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let read = proposition::read(text, at, &Called(self))?;
        self.propositions.push(read);
        if self.relations.is_some() {
            self.prepare_reduction();
        }
        Ok(PropId(self.propositions.len() as u32 - 1))
    }

    fn holds(&self, worker: &mut Worker, state: &[u64], proposition: PropId) -> Option<bool> {
        self.unpack(state, &mut worker.state);
        let state = &worker.state;
        // Numbers below 0 have no place in a proposition: it cannot be evaluated there.
        let proposition = &self.propositions[proposition.0 as usize];
        let mut negative = false;
        proposition.visit(&mut |v| negative |= state[v] < 0, &mut |_| {});
        let number = |v: usize| state[v].unsigned_abs().into();
        (!negative).then(|| proposition.holds(&number, &|group| self.is_enabled(group, state)))
    }

    fn label(&self, event: EventId, label: u64, from: &[u64], to: &[u64]) -> Vec<(String, String)> {
        let (from, to) = (self.unpacked(from), self.unpacked(to));
        let mut fitting = None;
        self.model.successors(event.0 as usize, &from, &mut |labels, target| {
            if label_of(labels, |n| n as u32) == label && target == to {
                fitting.get_or_insert_with(|| labels.to_vec());
            }
        });
        let named = self.model.edge_labels.iter().zip(fitting.unwrap_or_default());
        named.map(|((name, ty), value)| (name.clone(), self.value_name(*ty, value))).collect()
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::Deadlock => "no group has a transition".into(),
            FindingKind::Properties if finding.property == NO_INITIAL_STATE => {
                "there is no initial state".into()
            }
            FindingKind::Assertion => "an assertion of the model".into(),
            kind => kind.word().into(),
        }
    }

    fn reason(&self, _: u32) -> String {
        "the model carries a property automaton, and accepting cycles are not looked for".into()
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        let values = self.unpacked(state);
        let both = self.model.variables.iter().zip(values);
        both.map(|(v, value)| (v.name.clone(), self.value_name(v.ty, value))).collect()
    }
}

/// Variables by name, values by the names of their types.
struct Called<'a>(&'a Library);

impl Names for Called<'_> {
    fn noun(&self) -> &str {
        "variable"
    }

    fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let mut named = self.0.model.variables.iter().enumerate().filter(|(_, v)| v.name == name);
        match (named.next(), named.next()) {
            (Some(_), Some(_)) => Err(format!("several variables have the name `{name}`")),
            (found, _) => Ok(found.map(|(at, _)| at)),
        }
    }

    fn event(&self, name: &str) -> Result<Option<usize>, String> {
        Ok(self.0.names.iter().position(|n| n == name))
    }

    fn value(&self, variable: usize, name: &str) -> Option<u64> {
        let ty = self.0.model.variables[variable].ty;
        self.0.model.types[ty].values.iter().position(|v| v == name).map(|at| at as u64)
    }
}
