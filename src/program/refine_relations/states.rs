//! The states that a trial tries: every content of a few cells, where some facts hold.
//!
//! In: cells and what they can hold. Out: packed states, one by one. Variables have words of their own, so
//! a state is the first one with the words of some variables changed.
//! Never here: what is tried in them.

use crate::effects::cells::{Cell, Cells};
use crate::effects::facts::Fact;
use crate::refine_relations::{STATES, Trial};
use bombus_lang::typed::{Type, VarId};
use bombus_lang::value::Value;

impl Trial<'_, '_> {
    /// All states over some cells in which these facts hold; `None` if they are too many or not known.
    pub(crate) fn states(&self, mut cells: Cells, facts: &[&Fact]) -> Option<States> {
        let whole: Vec<VarId> = cells.iter().filter(|c| c.row.is_none()).map(|c| c.var).collect();
        cells.retain(|c| c.row.is_none() || !whole.contains(&c.var));
        let mut variables: Vec<Variable<'_>> = Vec::new();
        let mut count = 1usize;
        for cell in &cells {
            let pairs = self.is_relation(cell.var);
            let kept = |content: &&Option<Value>| {
                facts.iter().all(|fact| fact.cell != *cell || may_hold(fact, content, pairs))
            };
            let list: Vec<&Option<Value>> = self.contents.get(cell)?.iter().filter(kept).collect();
            count = count.checked_mul(list.len()).filter(|n| *n <= STATES)?;
            match variables.last_mut() {
                Some(last) if last.var == cell.var => last.cells.push((cell, list)),
                _ => variables.push(Variable { var: cell.var, pairs, cells: vec![(cell, list)] }),
            }
        }
        if count as u64 * 4 > self.left {
            return None;
        }
        let order = &self.program.machine().variables;
        let mut first = Vec::new();
        self.program.pack_first(&self.base, &mut first);
        let mut parts: Vec<Part> = Vec::new();
        let mut in_words = !self.program.is_escaped(&first);
        for variable in &variables {
            let at = order.iter().position(|v| *v == variable.var)?;
            let mut values = self.base.clone();
            let mut part = Part { at, values: Vec::new(), changes: Vec::new() };
            let mut packed = Vec::new();
            for number in 0..variable.count() {
                values[at] = variable.value(number, &self.base[at])?;
                self.program.pack_first(&values, &mut packed);
                in_words &= !self.program.is_escaped(&packed);
                part.changes.extend(packed.iter().zip(&first).map(|(word, before)| word ^ before));
                part.values.push(values[at].clone());
            }
            parts.push(part);
        }
        Some(States { first, parts, in_words, count })
    }

    fn is_relation(&self, v: VarId) -> bool {
        matches!(&self.program.machine().var(v).ty, Type::Pow(t) if matches!(**t, Type::Prod(..)))
    }

    /// The state with this number.
    pub(crate) fn state(&self, states: &States, mut number: usize) -> Vec<u64> {
        let mut state = states.first.clone();
        let mut values = Vec::new();
        if !states.in_words {
            values.clone_from(&self.base);
        }
        for part in &states.parts {
            let nth = number % part.values.len();
            number /= part.values.len();
            if states.in_words {
                let changes = &part.changes[nth * state.len()..(nth + 1) * state.len()];
                state.iter_mut().zip(changes).for_each(|(word, change)| *word ^= change);
            } else {
                values[part.at] = part.values[nth].clone();
            }
        }
        if !states.in_words {
            self.program.pack_first(&values, &mut state);
        }
        state
    }
}

/// The contents that the cells of one variable can have.
struct Variable<'c> {
    var: VarId,
    /// It is a relation.
    pairs: bool,
    cells: Vec<(&'c Cell, Vec<&'c Option<Value>>)>,
}

impl Variable<'_> {
    fn count(&self) -> usize {
        self.cells.iter().map(|(_, list)| list.len()).product()
    }

    /// The value with this number, made of the one before.
    fn value(&self, mut number: usize, before: &Value) -> Option<Value> {
        let mut value = before.clone();
        for (cell, list) in &self.cells {
            value = with_content(&value, cell, list[number % list.len()], self.pairs)?;
            number /= list.len();
        }
        Some(value)
    }
}

/// States over the values of a few variables. Variables have words of their own, so a state is the first
/// one changed in some of them, unless a value does not fit into words.
pub(crate) struct States {
    first: Vec<u64>,
    parts: Vec<Part>,
    pub in_words: bool,
    pub count: usize,
}

/// The values of one variable.
struct Part {
    /// Its place among the variables.
    at: usize,
    values: Vec<Value>,
    /// For each value, what it changes in the words of the first state.
    changes: Vec<u64>,
}

/// Whether a fact about a cell may hold when the cell has this content.
fn may_hold(fact: &Fact, content: &Option<Value>, pairs: bool) -> bool {
    match content {
        // The content of an element is whether it is there.
        _ if fact.cell.row.is_some() && (!pairs || fact.cell.column.is_some()) => {
            fact.allowed.contains(&Value::Bool(content.is_some()))
        }
        Some(v) => fact.allowed.contains(v),
        // A row that is not there has no content that could be allowed.
        None => fact.cell.row.is_none(),
    }
}

/// A value with another content in one cell; `pairs` if it is a relation.
fn with_content(value: &Value, cell: &Cell, content: &Option<Value>, pairs: bool) -> Option<Value> {
    let Some(row) = &cell.row else { return content.clone() };
    let Value::Set(elems) = value else { return None };
    let here = |e: &Value| match e {
        Value::Pair(p) if pairs => p.0 == *row,
        _ => e == row,
    };
    let mut all: Vec<Value> = elems.iter().filter(|e| !here(e)).cloned().collect();
    if let Some(v) = content {
        all.push(if pairs { Value::pair(row.clone(), v.clone()) } else { row.clone() });
    }
    Some(Value::set(all))
}
