//! Strongly connected components of the product, without recursion.
//!
//! In: the product and the nodes to start from. Out: each component once, successors before
//! predecessors. Never here: which components are accepting.
//!
//! Pearce's form of Tarjan's algorithm: one number per node. Live nodes have numbers counted up from 1,
//! finished components are numbered down from the top, so that one comparison tells an older live node
//! from a finished one. Nodes may be set back to 0 and searched again as long as nothing is live: edges
//! to finished nodes are then ignored, which is how a component is split further without a copy of it.
//!
//! Eight bytes per node, whatever the graph: a node is on the path, or waits for the root of its
//! component, or neither, so path and waiting nodes share one array that they fill from its two ends.

use super::product::{Active, Cursor, Product};
use super::view::Graph;
use bombus_base::budget::{Budget, Stop};
use bombus_kernels::memory::prefetch;

/// A finished node that is in no component with a cycle, or no more.
const REMOVED: u32 = u32::MAX;

/// More nodes than this cannot be told from the two marks of a node on the path.
pub(super) const MAX_NODES: u64 = 1 << 30;
/// No older live node was reached from a node on the path.
const ROOT: u32 = 1 << 30;
const SELF_LOOP: u32 = 1 << 31;

/// How many nodes of the path ahead of its use the memory of a node is asked for: first where its row begins,
/// then the row.
const BACK: [usize; 2] = [10, 4];
/// How many waiting nodes ahead.
const WAITING: usize = 16;

pub(super) struct Components {
    /// 0 not seen; small: live; large: the component.
    number: Vec<u32>,
    /// The path up to `path`, the waiting nodes from `waiting` on, the last of them first.
    stack: Vec<u32>,
    path: usize,
    waiting: usize,
    /// Where the enumeration of successors stands, for the nodes on the path that have many.
    cursors: Vec<Cursor>,
    next_index: u32,
    next_component: u32,
}

impl Components {
    pub fn new(size: u64) -> Self {
        assert!(size <= MAX_NODES, "the caller refuses larger products");
        Components {
            // PERF: pages that no node needs are never touched.
            number: vec![0; size as usize],
            stack: vec![0; size as usize],
            path: 0,
            waiting: size as usize,
            cursors: Vec::new(),
            next_index: 1,
            next_component: REMOVED - 1,
        }
    }

    /// Whether two nodes are in one component; both must be finished.
    #[inline]
    pub fn together(&self, a: u32, b: u32) -> bool {
        self.number[a as usize] == self.number[b as usize]
    }

    /// Forgets the component of a node, so that it is searched again; not while a search is on.
    pub fn reset(&mut self, node: u32) {
        debug_assert_eq!(self.next_index, 1, "nothing is live");
        self.number[node as usize] = 0;
    }

    /// Gives back what only a search needs.
    pub fn settle(&mut self) {
        self.stack = Vec::new();
        self.waiting = 0;
    }

    /// Searches from `root` unless it is known. `enter` is asked once for each new node whether to go on
    /// behind it; `found` gets every component that has a cycle.
    pub fn search<G: Graph>(
        &mut self,
        product: &Product<'_, G>,
        root: u32,
        budget: &Budget,
        mut enter: impl FnMut(u32) -> bool,
        mut found: impl FnMut(Component<'_>),
    ) -> Result<(), Stop> {
        if self.number[root as usize] != 0 {
            return Ok(());
        }
        let mut steps = 0u32;
        if !self.enter(root, &mut enter) {
            return Ok(());
        }
        let mut active = product.activate(root, Cursor::default());
        self.ask_ahead(product, &active);
        let (mut is_root, mut self_loop) = (true, false);
        loop {
            while let Some(step) = product.advance(&mut active) {
                let there = self.number[step.node as usize];
                if there == 0 {
                    if self.enter(step.node, &mut enter) {
                        self.stack[self.path] = active.node
                            | if is_root { ROOT } else { 0 }
                            | if self_loop { SELF_LOOP } else { 0 };
                        self.path += 1;
                        if active.is_wide() {
                            self.cursors.push(product.park(&active));
                        }
                        active = product.activate(step.node, Cursor::default());
                        self.ask_ahead(product, &active);
                        (is_root, self_loop) = (true, false);
                    }
                } else if there < self.number[active.node as usize] {
                    self.number[active.node as usize] = there;
                    is_root = false;
                } else {
                    self_loop |= step.node == active.node;
                }
            }
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(1 << 16) {
                budget.check()?;
            }
            let child = active.node;
            let low = self.number[child as usize];
            self.close(child, is_root, self_loop, &mut found);
            if self.path == 0 {
                return Ok(());
            }
            self.path -= 1;
            let parent = self.stack[self.path];
            self.ask_back(product);
            let child_is_root = is_root;
            (is_root, self_loop) = (parent & ROOT != 0, parent & SELF_LOOP != 0);
            active = product.activate(parent & (ROOT - 1), Cursor::default());
            if active.is_wide() {
                let cursor = self.cursors.pop().expect("a node with many successors left its cursor");
                active = product.activate(active.node, cursor);
            } else {
                // PERF: the child is the first of its kind among the successors, otherwise it would not
                // have been new; a few of them are read again instead of a cursor being kept.
                while product.advance(&mut active).is_some_and(|step| step.node != child) {}
            }
            if !child_is_root && low < self.number[active.node as usize] {
                self.number[active.node as usize] = low;
                is_root = false;
            }
        }
    }

    /// PERF: the numbers of all successors are asked for at once, so that the search waits for the slowest of
    /// them and not for one after the other.
    #[inline]
    fn ask_ahead<G: Graph>(&self, product: &Product<'_, G>, active: &Active) {
        if !active.is_wide() {
            product.ahead(active, |node| prefetch(&self.number[node as usize]));
        }
    }

    /// PERF: which nodes the search comes back to next is written on the path.
    #[inline]
    fn ask_back<G: Graph>(&self, product: &Product<'_, G>) {
        if let Some(far) = self.path.checked_sub(BACK[0]) {
            let node = self.stack[far] & (ROOT - 1);
            product.prefetch_offset(node);
            prefetch(&self.number[node as usize]);
        }
        if let Some(near) = self.path.checked_sub(BACK[1]) {
            product.prefetch_row(self.stack[near] & (ROOT - 1));
        }
    }

    /// Numbers a new node; tells whether to go on behind it.
    fn enter(&mut self, node: u32, enter: &mut impl FnMut(u32) -> bool) -> bool {
        let go_on = enter(node);
        if go_on {
            self.number[node as usize] = self.next_index;
            self.next_index += 1;
        } else {
            // Nothing behind it matters: it is finished, and on no cycle.
            self.number[node as usize] = REMOVED;
        }
        go_on
    }

    /// All successors of `node` are done; if it is the root of its component, that is complete.
    fn close(&mut self, node: u32, root: bool, self_loop: bool, found: &mut impl FnMut(Component<'_>)) {
        debug_assert!(self.path < self.waiting, "no node stands in both halves");
        let own = self.number[node as usize];
        if !root {
            self.waiting -= 1;
            self.stack[self.waiting] = node;
            return;
        }
        let first = self.waiting;
        while let Some(&n) = self.stack.get(self.waiting)
            && self.number[n as usize] >= own
        {
            if let Some(&later) = self.stack.get(self.waiting + WAITING) {
                prefetch(&self.number[later as usize]);
            }
            self.number[n as usize] = self.next_component;
            self.next_index -= 1;
            self.waiting += 1;
        }
        self.next_index -= 1;
        if first == self.waiting && !self_loop {
            // Nobody asks for the number of a node without a cycle.
            self.number[node as usize] = REMOVED;
            return;
        }
        self.number[node as usize] = self.next_component;
        self.next_component -= 1;
        // Each round of splitting takes new numbers, so there is no other bound for them.
        assert!(self.next_index < self.next_component, "live numbers never meet component numbers");
        let mut alone = [node];
        let nodes = if first < self.waiting {
            // The place before the first member is free: the path ends below it.
            self.stack[first - 1] = node;
            &mut self.stack[first - 1..self.waiting]
        } else {
            &mut alone[..]
        };
        found(Component { nodes, number: &mut self.number });
    }
}

/// A component that has a cycle, as soon as it is known.
pub(super) struct Component<'c> {
    pub nodes: &'c [u32],
    number: &'c mut [u32],
}

impl Component<'_> {
    /// Whether a node belongs to this component.
    #[inline]
    pub fn contains(&self, node: u32) -> bool {
        self.number[node as usize] == self.number[self.nodes[0] as usize]
    }

    /// Takes a node out for good, so that no cycle passes through it when the rest is searched again.
    pub fn remove(&mut self, node: u32) {
        self.number[node as usize] = REMOVED;
    }
}
