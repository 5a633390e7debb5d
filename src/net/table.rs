//! A table of transition groups as a `System`.
//!
//! In: the content of an ETF file. Out: transitions between vectors of numbers, packed.
//! Never here: the text of the file, the search.
//!
//! Each group is one event and one instance of a reduction; its lines are its transitions. What a group
//! reads and writes is the union over its lines.

use super::etf::{Etf, Line};
use super::layout::{Layout, bits};
use super::proposition::{self, Names, Proposition};
use bombus_base::hash::HashMap;
use bombus_system::{
    Diagnostic, EventId, Finding, FindingKind, GuardId, InstanceId, PropId, Relations, Sink, Span, System,
    label_of,
};

pub struct Table {
    etf: Etf,
    layout: Layout,
    names: Vec<String>,
    groups: Vec<Group>,
    propositions: Vec<Proposition>,
    relations: Option<Relations>,
}

/// Places of lines in their group by the values before.
type Lines = HashMap<Vec<u32>, Vec<usize>>;

/// The lines of a group by the values that they read.
struct Group {
    /// Which variables lines touch, and the lines that do: these are found by one look.
    shapes: Vec<(Vec<usize>, Lines)>,
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl Group {
    fn new(lines: &[Line]) -> Group {
        let mut group = Group { shapes: Vec::new(), reads: Vec::new(), writes: Vec::new() };
        for (at, line) in lines.iter().enumerate() {
            let touched: Vec<usize> = line.parts.iter().map(|p| p.0).collect();
            let before: Vec<u32> = line.parts.iter().map(|p| p.1).collect();
            let known = group.shapes.iter().position(|(shape, _)| *shape == touched);
            let shape = known.unwrap_or_else(|| {
                group.shapes.push((touched.clone(), HashMap::new()));
                group.shapes.len() - 1
            });
            group.shapes[shape].1.entry(before).or_default().push(at);
            group.reads.extend(&touched);
            group.writes.extend(line.parts.iter().filter(|p| p.1 != p.2).map(|p| p.0));
        }
        for list in [&mut group.reads, &mut group.writes] {
            list.sort_unstable();
            list.dedup();
        }
        group
    }
}

/// Scratch memory of one thread.
#[derive(Default)]
pub struct Worker {
    key: Vec<u32>,
    next: Vec<u64>,
    /// Transitions of one group, so that equal ones are told once.
    found: Vec<(u64, Vec<u64>)>,
}

impl Table {
    pub fn new(etf: Etf) -> Table {
        let mut most: Vec<u32> = etf.initial.clone();
        for &(v, before, after) in etf.groups.iter().flatten().flat_map(|line| &line.parts) {
            most[v] = most[v].max(before).max(after);
        }
        let widths: Vec<u32> = most.iter().map(|n| bits(u64::from(*n))).collect();
        Table {
            layout: Layout::new(&widths),
            names: (0..etf.groups.len()).map(|g| format!("group_{g}")).collect(),
            groups: etf.groups.iter().map(|lines| Group::new(lines)).collect(),
            propositions: Vec::new(),
            relations: None,
            etf,
        }
    }

    pub fn etf(&self) -> &Etf {
        &self.etf
    }

    fn value(&self, state: &[u64], variable: usize) -> u64 {
        self.layout.fields[variable].get(state)
    }

    /// A number of a proposition: a variable, or behind them a fact about the state; no line means 0.
    fn number(&self, state: &[u64], number: usize) -> u64 {
        let Some(map) = number.checked_sub(self.layout.fields.len()) else {
            return self.value(state, number);
        };
        let applies =
            |parts: &[(usize, u32)]| parts.iter().all(|&(v, n)| self.value(state, v) == u64::from(n));
        let line = self.etf.maps[map].lines.iter().find(|(parts, _)| applies(parts));
        line.map_or(0, |(_, value)| u64::from(*value))
    }

    /// The variables that a number of a proposition depends on.
    fn support(&self, number: usize) -> Vec<usize> {
        match number.checked_sub(self.layout.fields.len()) {
            None => vec![number],
            Some(map) => {
                let lines = self.etf.maps[map].lines.iter();
                lines.flat_map(|(parts, _)| parts.iter().map(|(v, _)| *v)).collect()
            }
        }
    }

    /// The name of a value, where its sort has one.
    fn value_name(&self, sort: &str, value: u64) -> String {
        let sort = self.etf.sorts.iter().find(|s| s.name == sort);
        let name = sort.and_then(|s| s.values.get(usize::try_from(value).ok()?));
        name.cloned().unwrap_or_else(|| value.to_string())
    }

    /// The lines of a group that apply in `state`.
    fn lines(&self, group: &Group, state: &[u64], key: &mut Vec<u32>, mut each: impl FnMut(usize)) {
        for (touched, by_values) in &group.shapes {
            key.clear();
            key.extend(touched.iter().map(|v| self.value(state, *v) as u32));
            by_values.get(key.as_slice()).into_iter().flatten().for_each(|line| each(*line));
        }
    }

    fn is_enabled(&self, group: usize, state: &[u64]) -> bool {
        let mut any = false;
        self.lines(&self.groups[group], state, &mut Vec::new(), |_| any = true);
        any
    }

    /// Computes what a reduction may rely on, once all propositions are known.
    pub fn prepare_reduction(&mut self) {
        let count = self.groups.len();
        let events = (0..count as u32).map(EventId).collect();
        let guards = (0..count as u32).map(|g| vec![GuardId(g)]).collect();
        let mut r = Relations::unrelated(events, guards, count);
        r.askable.fill(false);
        let meet = |a: &[usize], b: &[usize]| a.iter().any(|v| b.binary_search(v).is_ok());
        for (g, group) in self.groups.iter().enumerate() {
            r.idle[g] = group.writes.is_empty();
            r.dependent.insert(g, g);
            for (h, other) in self.groups.iter().enumerate() {
                r.together.insert(g, h);
                if meet(&group.writes, &other.reads) {
                    r.enables.insert(g, h);
                    r.disables.insert(g, h);
                    r.enablers.insert(h, g);
                    r.disablers.insert(h, g);
                    r.dependent.insert(g, h);
                    r.dependent.insert(h, g);
                }
            }
        }
        let mut watched = vec![false; self.etf.variables.len()];
        let mut events = Vec::new();
        for p in &self.propositions {
            let mut watch = |number: usize| self.support(number).into_iter().for_each(|v| watched[v] = true);
            p.visit(&mut watch, &mut |event| events.push(event));
        }
        for event in events {
            self.groups[event].reads.iter().for_each(|v| watched[*v] = true);
        }
        for (g, group) in self.groups.iter().enumerate() {
            if group.writes.iter().any(|v| watched[*v]) {
                r.make_visible(g);
            }
        }
        self.relations = Some(r);
    }
}

impl System for Table {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn words(&self) -> usize {
        self.layout.words
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn initial(&self, worker: &mut Worker, sink: &mut dyn Sink) {
        worker.next.clear();
        worker.next.resize(self.layout.words, 0);
        for (field, value) in self.layout.fields.iter().zip(&self.etf.initial) {
            field.set(&mut worker.next, u64::from(*value));
        }
        sink.edge(EventId(0), 0, &worker.next);
    }

    fn successors(&self, worker: &mut Worker, state: &[u64], sink: &mut dyn Sink) {
        let Worker { key, next, found } = worker;
        for (g, group) in self.groups.iter().enumerate() {
            found.clear();
            self.lines(group, state, key, |at| {
                let line = &self.etf.groups[g][at];
                next.clear();
                next.extend_from_slice(state);
                for &(v, _, after) in &line.parts {
                    self.layout.fields[v].set(next, u64::from(after));
                }
                let label = label_of(&line.labels, |n| n);
                if !found.iter().any(|(l, n)| *l == label && n == next) {
                    sink.edge(EventId(g as u32), label, next);
                    found.push((label, next.clone()));
                }
            });
        }
    }

    fn relations(&self) -> Option<&Relations> {
        self.relations.as_ref()
    }

    fn instance(&self, event: EventId, _: u64) -> Option<InstanceId> {
        Some(InstanceId(event.0))
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let read = proposition::read(text, at, &Called(self))?;
        self.propositions.push(read);
        if self.relations.is_some() {
            self.prepare_reduction();
        }
        Ok(PropId(self.propositions.len() as u32 - 1))
    }

    fn holds(&self, _: &mut Worker, state: &[u64], proposition: PropId) -> Option<bool> {
        let proposition = &self.propositions[proposition.0 as usize];
        Some(proposition.holds(&|n| self.number(state, n), &|g| self.is_enabled(g, state)))
    }

    fn label(&self, event: EventId, label: u64, from: &[u64], to: &[u64]) -> Vec<(String, String)> {
        let group = &self.groups[event.0 as usize];
        let mut fitting = None;
        self.lines(group, from, &mut Vec::new(), |at| {
            let line = &self.etf.groups[event.0 as usize][at];
            let leads = line.parts.iter().all(|&(v, _, after)| self.value(to, v) == u64::from(after));
            if leads && label_of(&line.labels, |n| n) == label {
                fitting.get_or_insert(line);
            }
        });
        let values = fitting.map_or(&[][..], |line| &line.labels);
        let named = self.etf.labels.iter().zip(values);
        named.map(|(l, n)| (l.name.clone(), self.value_name(&l.sort, u64::from(*n)))).collect()
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::Deadlock => "no group has a transition".into(),
            kind => kind.word().into(),
        }
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        let variables = self.etf.variables.iter().enumerate();
        variables.map(|(i, v)| (v.name.clone(), self.value_name(&v.sort, self.value(state, i)))).collect()
    }
}

/// Variables and facts by name, values by the names of their sorts.
struct Called<'a>(&'a Table);

impl Names for Called<'_> {
    fn noun(&self) -> &str {
        "variable"
    }

    fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let mut named = self.0.etf.variables.iter().enumerate().filter(|(_, v)| v.name == name);
        match (named.next(), named.next()) {
            (Some(_), Some(_)) => Err(format!("several variables have the name `{name}`")),
            (Some((at, _)), None) => Ok(Some(at)),
            (None, _) => {
                let map = self.0.etf.maps.iter().position(|map| map.name == name);
                Ok(map.map(|at| self.0.etf.variables.len() + at))
            }
        }
    }

    fn event(&self, name: &str) -> Result<Option<usize>, String> {
        Ok(self.0.names.iter().position(|n| n == name))
    }

    fn value(&self, variable: usize, name: &str) -> Option<u64> {
        let sort = &self.0.etf.variables.get(variable)?.sort;
        let sort = self.0.etf.sorts.iter().find(|s| s.name == *sort)?;
        sort.values.iter().position(|v| v == name).map(|at| at as u64)
    }
}
