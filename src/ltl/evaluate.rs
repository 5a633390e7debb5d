//! The meaning of formulas on one path, straight from the definitions.
//!
//! In: a path and a property. Out: the truth of every sub-formula at every position, and whether the
//! path really is a counterexample. Never here: automata, products, components; nothing is shared with
//! the engines, because this is what they are checked against.
//!
//! Future operators are fixpoints over the positions of a lasso; past operators are computed forward.
//! The truth of past formulas may differ between the first rounds of a loop, so the loop is unrolled
//! until a round repeats the one before.

use super::atoms::{Table, Truth};
use super::formula::{Binary, Unary};
use super::ground::{Assumption, Ground, Node, NodeId, Property};
use super::path::{End, Path};
use super::view::{Edge, Graph, State};
use std::collections::BTreeSet;

/// A path with the truth of sub-formulas along it.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The path, with its loop unrolled until all truths are periodic.
    pub path: Path,
    /// The sub-formulas, operands before operators, and their truth at each position.
    pub rows: Vec<(NodeId, Vec<Truth>)>,
}

impl Evaluated {
    /// The truth of the whole formula on the path.
    pub fn verdict(&self) -> Truth {
        self.rows.last().map_or(Truth::Unknown, |(_, values)| values[0])
    }
}

/// Evaluates the sub-formulas of `root` along `path`.
pub fn evaluate<G: Graph>(ground: &Ground, root: NodeId, table: &Table<'_, G>, path: &Path) -> Evaluated {
    let wanted = ground.below(root);
    for times in 0..=wanted.len() + 1 {
        let path = path.unrolled(times);
        if let Some(values) = attempt(ground, &wanted, table, &path) {
            let rows = wanted
                .iter()
                .map(|&id| (id, values[id.0 as usize].clone().expect("operands come first")))
                .collect();
            return Evaluated { path, rows };
        }
    }
    panic!("the truth of past formulas on a lasso becomes periodic after as many rounds as they nest");
}

/// One truth per position for each wanted node, or nothing if a past formula is not yet periodic.
fn attempt<G: Graph>(
    ground: &Ground,
    wanted: &[NodeId],
    table: &Table<'_, G>,
    path: &Path,
) -> Option<Vec<Option<Vec<Truth>>>> {
    let line = Line { positions: path.states.len(), end: path.end };
    let mut values: Vec<Option<Vec<Truth>>> = vec![None; ground.nodes().len()];
    let mut fixed: Vec<Option<bool>> = vec![None; ground.nodes().len()];
    for &id in wanted {
        fixed[id.0 as usize] = fixed_truth(ground.node(id), |f| fixed[f.0 as usize]);
        if let Some(value) = fixed[id.0 as usize] {
            values[id.0 as usize] = Some(vec![value.into(); line.positions]);
            continue;
        }
        let of = |f: NodeId| values[f.0 as usize].as_ref().expect("operands come first");
        let row = match ground.node(id) {
            Node::Constant(value) => vec![Truth::from(value); line.positions],
            Node::Atom(atom) => path
                .steps()
                .map(|(state, next)| match next {
                    None if path.end == End::Open && table.meaning(atom).is_transition() => Truth::Unknown,
                    _ => table.at(atom, state, next),
                })
                .collect(),
            Node::Unary(Unary::Not, f) => of(f).iter().map(|v| not(*v)).collect(),
            Node::Unary(Unary::Next, f) => {
                let f = of(f);
                (0..line.positions).map(|i| line.after(f, i, Truth::False)).collect()
            }
            Node::Unary(Unary::Finally, f) => line.future(Truth::False, of(f), or),
            Node::Unary(Unary::Globally, f) => line.future(Truth::True, of(f), and),
            Node::Unary(Unary::Yesterday, f) => {
                let f = of(f);
                line.past(|i, _| if i == 0 { Truth::False } else { f[i - 1] }, |_, _| f[line.positions - 1])?
            }
            Node::Unary(Unary::Once, f) => line.since(Truth::False, of(f), or)?,
            Node::Unary(Unary::Historically, f) => line.since(Truth::True, of(f), and)?,
            Node::Binary(op, f, g) => {
                let pairs: Vec<(Truth, Truth)> = of(f).iter().copied().zip(of(g).iter().copied()).collect();
                match op {
                    Binary::And => pairs.iter().map(|&(f, g)| and(f, g)).collect(),
                    Binary::Or => pairs.iter().map(|&(f, g)| or(f, g)).collect(),
                    Binary::Implies => pairs.iter().map(|&(f, g)| or(not(f), g)).collect(),
                    Binary::Iff => pairs.iter().map(|&(f, g)| and(or(not(f), g), or(not(g), f))).collect(),
                    Binary::Until => line.future(Truth::False, &pairs, |(f, g), later| or(g, and(f, later))),
                    Binary::WeakUntil => {
                        line.future(Truth::True, &pairs, |(f, g), later| or(g, and(f, later)))
                    }
                    Binary::Release => line.future(Truth::True, &pairs, |(f, g), later| and(g, or(f, later))),
                    Binary::Since => {
                        line.since(Truth::False, &pairs, |(f, g), before| or(g, and(f, before)))?
                    }
                    Binary::Trigger => {
                        line.since(Truth::True, &pairs, |(f, g), before| and(g, or(f, before)))?
                    }
                }
            }
        };
        values[id.0 as usize] = Some(row);
    }
    Some(values)
}

/// The truth of a formula that is the same at every position of every path. An open prefix does not
/// show it: `F false` is refuted nowhere in particular.
fn fixed_truth(node: Node, of: impl Fn(NodeId) -> Option<bool>) -> Option<bool> {
    match node {
        Node::Constant(value) => Some(value),
        Node::Atom(_) => None,
        Node::Unary(op, f) => match (op, of(f)?) {
            (Unary::Not, f) => Some(!f),
            (Unary::Next | Unary::Yesterday, true) => None,
            (_, f) => Some(f),
        },
        Node::Binary(op, f, g) => match (op, of(f), of(g)) {
            (Binary::And, Some(false), _) | (Binary::And, _, Some(false)) => Some(false),
            (Binary::And, Some(f), Some(g)) => Some(f && g),
            (Binary::Or, Some(true), _) | (Binary::Or, _, Some(true)) => Some(true),
            (Binary::Or, Some(f), Some(g)) => Some(f || g),
            (Binary::Implies, Some(false), _) | (Binary::Implies, _, Some(true)) => Some(true),
            (Binary::Implies, Some(f), Some(g)) => Some(!f || g),
            (Binary::Iff, Some(f), Some(g)) => Some(f == g),
            (Binary::Until | Binary::Release | Binary::Since | Binary::Trigger, _, Some(g)) => Some(g),
            (Binary::WeakUntil, Some(true), _) | (Binary::WeakUntil, _, Some(true)) => Some(true),
            (Binary::WeakUntil, Some(f), Some(_)) => Some(f),
            _ => None,
        },
    }
}

/// The positions of a path, without what is there.
struct Line {
    positions: usize,
    end: End,
}

impl Line {
    /// The value at the next position; `at_end` where a finite path has none.
    fn after(&self, row: &[Truth], i: usize, at_end: Truth) -> Truth {
        if i + 1 < self.positions {
            return row[i + 1];
        }
        match self.end {
            End::Deadlock => at_end,
            End::Loop(entry) => row[entry],
            End::Open => Truth::Unknown,
        }
    }

    /// A least (from `False`) or greatest (from `True`) fixpoint of `step(here, value one later)`.
    /// Beyond the end of a finite path the value is that of the start.
    fn future<T: Copy>(&self, from: Truth, here: &[T], step: impl Fn(T, Truth) -> Truth) -> Vec<Truth> {
        let mut row = vec![from; self.positions];
        loop {
            let mut changed = false;
            for i in (0..self.positions).rev() {
                let value = step(here[i], self.after(&row, i, from));
                changed |= value != row[i];
                row[i] = value;
            }
            if !changed {
                return row;
            }
        }
    }

    /// `step(here, value one earlier)`, with `before` in front of the first position.
    fn since<T: Copy>(
        &self,
        before: Truth,
        here: &[T],
        step: impl Fn(T, Truth) -> Truth,
    ) -> Option<Vec<Truth>> {
        self.past(
            |i, row| step(here[i], if i == 0 { before } else { row[i - 1] }),
            |entry, row| step(here[entry], row[self.positions - 1]),
        )
    }

    /// Values computed forward; `again` is the value at the loop's entry when coming from its end, and
    /// has to agree with the first visit.
    fn past(
        &self,
        value: impl Fn(usize, &[Truth]) -> Truth,
        again: impl Fn(usize, &[Truth]) -> Truth,
    ) -> Option<Vec<Truth>> {
        let mut row = Vec::with_capacity(self.positions);
        for i in 0..self.positions {
            row.push(value(i, &row));
        }
        match self.end {
            End::Loop(entry) if again(entry, &row) != row[entry] => None,
            _ => Some(row),
        }
    }
}

fn not(f: Truth) -> Truth {
    match f {
        Truth::False => Truth::True,
        Truth::True => Truth::False,
        Truth::Unknown => Truth::Unknown,
    }
}

fn and(f: Truth, g: Truth) -> Truth {
    match (f, g) {
        (Truth::False, _) | (_, Truth::False) => Truth::False,
        (Truth::True, Truth::True) => Truth::True,
        _ => Truth::Unknown,
    }
}

fn or(f: Truth, g: Truth) -> Truth {
    not(and(not(f), not(g)))
}

/// Checks that `path` is a path of the graph, fair, and refutes the property. The answer carries the
/// truth of all sub-formulas, or says what is wrong.
pub fn confirm<G: Graph>(
    property: &Property,
    table: &Table<'_, G>,
    path: &Path,
) -> Result<Evaluated, String> {
    if let Some(fault) = path.fault(table.graph()) {
        return Err(fault);
    }
    if let End::Loop(entry) = path.end {
        let round: Vec<(State, Edge)> =
            path.states.iter().copied().zip(path.edges.iter().copied()).skip(entry).collect();
        if !property.assumptions.iter().any(|a| is_fair(a, table, &round)) {
            return Err("the loop meets no fairness assumption".into());
        }
    }
    let evaluated = evaluate(&property.ground, property.root, table, path);
    match evaluated.verdict() {
        Truth::False => Ok(evaluated),
        Truth::True => Err("the path satisfies the formula".into()),
        Truth::Unknown => Err("the path does not decide the formula".into()),
    }
}

/// Whether going round for ever meets every constraint.
fn is_fair<G: Graph>(assumption: &Assumption, table: &Table<'_, G>, round: &[(State, Edge)]) -> bool {
    let graph = table.graph();
    let met = assumption.constraints.iter().all(|c| {
        let taken = round.iter().any(|&(s, e)| table.at(c.taken, s, Some(e)) == Truth::True);
        let mut disabled = round.iter().map(|&(s, e)| table.at(c.enabled, s, Some(e)) == Truth::False);
        taken || if c.strong { disabled.all(|d| d) } else { disabled.any(|d| d) }
    });
    let label = |e: Edge| (graph.event(e), graph.label(e));
    let offered = |s: State| graph.edges(s).map(|e| label(Edge(e))).collect::<BTreeSet<_>>();
    let taken: BTreeSet<_> = round.iter().map(|&(_, e)| label(e)).collect();
    let all_taken = round.iter().all(|&(s, _)| graph.is_expanded(s) && offered(s).is_subset(&taken));
    let weakly = || {
        let expanded = round.iter().filter(|&&(s, _)| graph.is_expanded(s));
        let always = expanded.map(|&(s, _)| offered(s)).reduce(|a, b| a.intersection(&b).copied().collect());
        always.is_some_and(|labels| labels.is_subset(&taken))
    };
    met && (!assumption.every_strong || all_taken) && (!assumption.every_weak || weakly())
}
