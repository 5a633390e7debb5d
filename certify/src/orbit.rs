//! States up to a renaming of elements: one form for all states of an orbit.
//!
//! In: elements that no formula names, and values. Out: the least spelling among the renamings that a canonical
//! ordering of the elements leaves. Elements are ordered by how they occur, round after round; where that does not
//! decide, each choice is tried, except among elements that can be exchanged without a change.
//! Soundness needs only that the result is a renaming of the values; that it is the same for the whole orbit
//! decides whether right certificates are accepted.
//! Never here: which elements may be renamed.

use crate::encoding::{bytes, put_number};
use bombus_oracle::tree::{Machine, Name};
use bombus_oracle::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Leaves of the search for a canonical ordering, after which it is given up.
const MOST: usize = 20_000;

/// The elements that may be renamed among each other, set by set.
pub struct Group {
    classes: Vec<(Name, Vec<u32>)>,
}

/// For each element that may be renamed, its place in an ordering; several may still share one.
type Colours = BTreeMap<(Name, u32), u32>;

impl Group {
    /// The elements of the wanted sets that are not among those that formulas name.
    pub fn new(machine: &Machine, named: &BTreeSet<(String, u32)>, wanted: impl Fn(&str) -> bool) -> Group {
        let class = |set: &bombus_oracle::tree::GivenSet| {
            let all = 0..set.elements.len() as u32;
            (
                set.name.clone(),
                all.filter(|n| !named.contains(&(set.name.to_string(), *n))).collect::<Vec<_>>(),
            )
        };
        let classes = machine.sets.iter().filter(|s| wanted(&s.name)).map(class).filter(|c| c.1.len() > 1);
        Group { classes: classes.collect() }
    }

    /// Whether nothing can be renamed.
    pub fn is_trivial(&self) -> bool {
        self.classes.is_empty()
    }

    /// The spelling that stands for the orbit of some values; nothing if finding it would take too long.
    pub fn canonical(&self, machine: &Machine, values: &[Value]) -> Option<Vec<u8>> {
        let start: Colours =
            self.classes.iter().flat_map(|(s, es)| es.iter().map(|e| ((s.clone(), *e), 0))).collect();
        let mut search = Search { group: self, machine, values, best: None, leaves: 0 };
        search.branch(start)?;
        search.best
    }

    /// The cells of equal colour, class by class.
    fn cells(&self, colours: &Colours) -> Vec<(Name, Vec<u32>)> {
        let mut out = Vec::new();
        for (set, elements) in &self.classes {
            let mut by_colour: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for e in elements {
                by_colour.entry(colours[&(set.clone(), *e)]).or_default().push(*e);
            }
            out.extend(by_colour.into_values().map(|cell| (set.clone(), cell)));
        }
        out
    }
}

struct Search<'a> {
    group: &'a Group,
    machine: &'a Machine,
    values: &'a [Value],
    best: Option<Vec<u8>>,
    leaves: usize,
}

impl Search<'_> {
    fn branch(&mut self, colours: Colours) -> Option<()> {
        let colours = self.refined(colours);
        let cells = self.group.cells(&colours);
        let Some((set, cell)) = cells.iter().find(|c| c.1.len() > 1) else {
            self.leaves += 1;
            return (self.leaves <= MOST).then(|| self.leaf(&cells));
        };
        let mut tried: Vec<u32> = Vec::new();
        for e in cell {
            if tried.iter().any(|t| self.exchangeable(set, *t, *e)) {
                continue;
            }
            tried.push(*e);
            // The chosen element comes before the rest of its cell.
            let chosen = (set.clone(), *e);
            let doubled = colours.iter().map(|(k, c)| (k.clone(), 2 * c + u32::from(*k != chosen)));
            self.branch(doubled.collect())?;
        }
        Some(())
    }

    /// Every element has a colour of its own: the colours order the elements.
    fn leaf(&mut self, cells: &[(Name, Vec<u32>)]) {
        let mut renaming = BTreeMap::new();
        for (set, elements) in &self.group.classes {
            let ordered = cells.iter().filter(|c| c.0 == *set).flat_map(|c| &c.1);
            renaming.extend(ordered.zip(elements).map(|(from, to)| ((set.clone(), *from), *to)));
        }
        let mut form = Vec::new();
        let to = |set: &Name, n: u32| renaming.get(&(set.clone(), n)).copied().unwrap_or(n);
        self.values.iter().for_each(|v| form.extend(bytes(&renamed(self.machine, v, &to))));
        if self.best.as_ref().is_none_or(|best| form < *best) {
            self.best = Some(form);
        }
    }

    fn exchangeable(&self, set: &Name, a: u32, b: u32) -> bool {
        let to = |s: &Name, n: u32| match n {
            n if s == set && n == a => b,
            n if s == set && n == b => a,
            n => n,
        };
        self.values.iter().all(|v| renamed(self.machine, v, &to) == *v)
    }

    /// Orders elements of one colour by how they occur, until that tells no more apart.
    fn refined(&self, mut colours: Colours) -> Colours {
        loop {
            let cells = self.group.cells(&colours);
            let mut signed: BTreeMap<(Name, u32, Vec<u8>), Vec<u32>> = BTreeMap::new();
            for (set, e) in cells.iter().flat_map(|(s, cell)| cell.iter().map(move |e| (s, *e))) {
                let colour = colours[&(set.clone(), e)];
                let mut sign = Vec::new();
                if cells.iter().any(|(s, cell)| s == set && cell.len() > 1 && cell.contains(&e)) {
                    self.values.iter().for_each(|v| sketch(v, &colours, (set, e), &mut sign));
                }
                signed.entry((set.clone(), colour, sign)).or_default().push(e);
            }
            let mut next = Colours::new();
            for (colour, ((set, ..), elements)) in signed.iter().enumerate() {
                next.extend(elements.iter().map(|e| ((set.clone(), *e), colour as u32)));
            }
            if signed.len() == cells.len() {
                return next;
            }
            colours = next;
        }
    }
}

/// The value with elements renamed.
fn renamed(machine: &Machine, v: &Value, to: &dyn Fn(&Name, u32) -> u32) -> Value {
    let again = |v: &Value| renamed(machine, v, to);
    match v {
        Value::Elem(n, own) => {
            let (set, name) = &**own;
            let m = to(set, *n);
            let names = machine.sets.iter().find(|s| s.name == *set).map(|s| &s.elements);
            let own = names.and_then(|all| all.get(m as usize)).unwrap_or(name);
            Value::element(m, set.clone(), own.clone())
        }
        Value::Pair(p) => Value::pair(again(&p.0), again(&p.1)),
        Value::Set(es) => Value::set(es.iter().map(again).collect()),
        Value::Record(fs) => Value::record(fs.iter().map(|(n, v)| (n.clone(), again(v))).collect()),
        Value::Free(n, names, Some(arg)) => Value::Free(*n, names.clone(), Some(Arc::new(again(arg)))),
        other => other.clone(),
    }
}

/// The value with colours in the place of elements, and a mark in the place of one.
fn sketch(v: &Value, colours: &Colours, marked: (&Name, u32), out: &mut Vec<u8>) {
    match v {
        Value::Elem(n, names) => {
            let set = &names.0;
            let mark = (set, *n) == marked;
            match colours.get(&(set.clone(), *n)) {
                Some(c) => out.extend([1 + u8::from(mark)].into_iter().chain(c.to_be_bytes())),
                None => out.extend([0].into_iter().chain(n.to_be_bytes())),
            }
        }
        Value::Pair(p) => {
            sketch(&p.0, colours, marked, out);
            sketch(&p.1, colours, marked, out);
        }
        Value::Set(es) => {
            put_number(es.len() as u64, out);
            let one = |e: &Value| {
                let mut own = Vec::new();
                sketch(e, colours, marked, &mut own);
                own
            };
            let mut all: Vec<Vec<u8>> = es.iter().map(one).collect();
            all.sort_unstable();
            all.iter().for_each(|e| out.extend_from_slice(e));
        }
        Value::Record(fs) => fs.iter().for_each(|(_, v)| sketch(v, colours, marked, out)),
        Value::Free(n, _, arg) => {
            put_number(u64::from(*n), out);
            arg.iter().for_each(|a| sketch(a, colours, marked, out));
        }
        other => out.extend(bytes(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_oracle::tree::GivenSet;

    fn machine(n: u32) -> Machine {
        let elements = (0..n).map(|i| Name::from(format!("p{i}"))).collect();
        Machine { sets: vec![GivenSet { name: "P".into(), elements }], ..Machine::default() }
    }

    /// All renamings of the elements of a graph, by Heap's method.
    fn permutations(n: usize) -> Vec<Vec<u32>> {
        let mut all = vec![vec![]];
        for _ in 0..n {
            let longer = all.iter().flat_map(|p: &Vec<u32>| {
                (0..n as u32).filter(|e| !p.contains(e)).map(|e| [&p[..], &[e]].concat())
            });
            all = longer.collect();
        }
        all
    }

    #[test]
    fn renamed_graphs_have_one_form_and_graphs_that_differ_have_two() {
        let m = machine(4);
        let group = Group::new(&m, &BTreeSet::new(), |_| true);
        let element =
            |n: u32| Value::element(n, m.sets[0].name.clone(), m.sets[0].elements[n as usize].clone());
        let mut forms = BTreeSet::new();
        // All directed graphs on four nodes: 218 up to renaming (OEIS A000273).
        for graph in 0..1u32 << 12 {
            let arcs = (0..4u32).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b);
            let chosen = arcs.enumerate().filter(|(i, _)| graph >> i & 1 == 1).map(|(_, arc)| arc);
            let value = Value::set(chosen.map(|(a, b)| Value::pair(element(a), element(b))).collect());
            let form = group.canonical(&m, std::slice::from_ref(&value)).expect("few leaves");
            if graph % 37 == 0 {
                for p in permutations(4) {
                    let other = renamed(&m, &value, &|_, n| p[n as usize]);
                    assert_eq!(group.canonical(&m, &[other]).as_ref(), Some(&form));
                }
            }
            forms.insert(form);
        }
        assert_eq!(forms.len(), 218);
    }

    #[test]
    fn a_named_element_is_not_renamed() {
        let m = machine(2);
        let named = [("P".to_string(), 0)].into();
        assert!(Group::new(&m, &named, |_| true).is_trivial());
    }
}
