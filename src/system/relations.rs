//! What a reduction may rely on: relations between the instances of events, as rows of bits.
//!
//! In: filled by whoever implements `System` and knows its events; hand-written systems fill it in
//! tests. Out: read by `explore::reduce`. Every relation is a "may": a bit too many costs reduction,
//! a bit too few is a mistake.
//! Never here: how a relation was found, which set is chosen in a state.
//!
//! An *instance* is an event with its parameters fixed, or a whole event when there are too many of
//! them. A transition belongs to exactly one instance. A *guard* is a condition of which an instance
//! has several; it is enabled in a state if and only if all its guards hold there.

use super::EventId;

/// Index of an instance of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u32);

/// Index of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuardId(pub u32);

/// A matrix of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    columns: usize,
    /// Words of a row.
    width: usize,
    bits: Vec<u64>,
}

impl Rows {
    pub fn new(rows: usize, columns: usize) -> Rows {
        let width = columns.div_ceil(64).max(1);
        Rows { columns, width, bits: vec![0; rows * width] }
    }

    pub fn rows(&self) -> usize {
        self.bits.len() / self.width.max(1)
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn insert(&mut self, row: usize, column: usize) {
        debug_assert!(column < self.columns);
        self.bits[row * self.width + column / 64] |= 1 << (column % 64);
    }

    pub fn remove(&mut self, row: usize, column: usize) {
        self.bits[row * self.width + column / 64] &= !(1 << (column % 64));
    }

    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.bits[row * self.width + column / 64] >> (column % 64) & 1 != 0
    }

    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.width..(row + 1) * self.width]
    }

    /// The columns of a row, ascending.
    pub fn ones(&self, row: usize) -> impl Iterator<Item = usize> {
        ones(self.row(row))
    }

    pub fn count(&self) -> usize {
        self.bits.iter().map(|w| w.count_ones() as usize).sum()
    }
}

/// The positions of the bits of a set, ascending.
pub fn ones(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                i * 64 + bit
            })
        })
    })
}

/// The relations between all instances of a system.
#[derive(Clone, Debug, Default)]
pub struct Relations {
    /// The event of each instance.
    pub events: Vec<EventId>,
    /// Pairs of instances that may not accord, both ways, each with itself. Two instances accord if,
    /// wherever both are enabled, every transition of the one leaves the transitions of the other
    /// as they were (none lost, none added) and the two orders lead to the same states.
    pub dependent: Rows,
    /// Pairs (a, b) where a step of `a` may enable `b`, or give it a transition more.
    pub enables: Rows,
    /// Pairs (a, b) where a step of `a` may disable `b`, or take a transition from it.
    pub disables: Rows,
    /// Pairs of instances that may be enabled in one state.
    pub together: Rows,
    /// The guards of each instance.
    pub guards: Vec<Vec<GuardId>>,
    /// By guard: whether `System::guard` can be asked for it. One that cannot be asked counts as
    /// false only when all the others of its instance hold and the instance is not enabled.
    pub askable: Vec<bool>,
    /// By guard: instances of which a step may make it true (a necessary enabling set).
    pub enablers: Rows,
    /// By guard: instances of which a step may make it false.
    pub disablers: Rows,
    /// Instances of which a step may matter to what is checked: may turn a bad state into a good
    /// one (states), or change the truth of a proposition (paths). One bit each.
    pub visible: Vec<u64>,
    /// By instance: whether no step of it ever changes the state.
    pub idle: Vec<bool>,
    /// The computation of some instance may end in a finding: then ignoring an instance for ever
    /// would lose it, even if only deadlocks are looked for.
    pub fallible: bool,
}

impl Relations {
    /// Relations of `instances` with `guards` guards, all unrelated.
    pub fn unrelated(events: Vec<EventId>, guards: Vec<Vec<GuardId>>, guard_count: usize) -> Relations {
        let n = events.len();
        Relations {
            events,
            dependent: Rows::new(n, n),
            enables: Rows::new(n, n),
            disables: Rows::new(n, n),
            together: Rows::new(n, n),
            guards,
            askable: vec![true; guard_count],
            enablers: Rows::new(guard_count, n),
            disablers: Rows::new(guard_count, n),
            idle: vec![false; n],
            visible: vec![0; n.div_ceil(64).max(1)],
            fallible: false,
        }
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Words of a set of instances.
    pub fn width(&self) -> usize {
        self.visible.len()
    }

    pub fn is_visible(&self, instance: usize) -> bool {
        self.visible[instance / 64] >> (instance % 64) & 1 != 0
    }

    pub fn make_visible(&mut self, instance: usize) {
        self.visible[instance / 64] |= 1 << (instance % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_back_what_was_put_into_it() {
        let mut rows = Rows::new(3, 130);
        for column in [0, 63, 64, 129] {
            rows.insert(1, column);
        }
        rows.remove(1, 63);
        assert_eq!(rows.ones(1).collect::<Vec<_>>(), [0, 64, 129]);
        assert_eq!((rows.ones(0).count(), rows.ones(2).count(), rows.count()), (0, 0, 3));
    }
}
