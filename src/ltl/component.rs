//! Strongly connected components of the product, without recursion.
//!
//! In: the product and the nodes to start from. Out: each component once, successors before
//! predecessors. Never here: which components are accepting.
//!
//! Pearce's form of Tarjan's algorithm: one number per node. Live nodes have numbers counted up from 1,
//! finished components are numbered down from the top, so that one comparison tells an older live node
//! from a finished one. Nodes may be set back to 0 and searched again as long as nothing is live: edges
//! to finished nodes are then ignored, which is how a component is split further.

use super::product::{Cursor, Product};
use super::view::Graph;
use crate::base::budget::{Budget, Stop};

/// A node that belongs to no component any more.
const REMOVED: u32 = u32::MAX;

pub(super) struct Components {
    /// 0 not seen; small: live; large: the component.
    number: Vec<u32>,
    next_index: u32,
    next_component: u32,
    waiting: Vec<u32>,
    frames: Vec<Frame>,
}

struct Frame {
    node: u32,
    cursor: Cursor,
    /// No older live node was reached.
    root: bool,
    self_loop: bool,
}

impl Components {
    pub fn new(size: u64) -> Self {
        Components {
            number: vec![0; size as usize],
            next_index: 1,
            next_component: REMOVED - 1,
            waiting: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Whether two nodes are in one component; both must be finished.
    #[inline]
    pub fn together(&self, a: u32, b: u32) -> bool {
        self.number[a as usize] == self.number[b as usize]
    }

    /// Takes a node out of its component for good.
    pub fn remove(&mut self, node: u32) {
        self.number[node as usize] = REMOVED;
    }

    /// Forgets the component of a node, so that it is searched again.
    pub fn reset(&mut self, node: u32) {
        self.number[node as usize] = 0;
    }

    /// Searches from `root` unless it is known. `enter` is asked once for each new node whether to go on
    /// behind it; `found` gets every component that has a cycle.
    pub fn search<G: Graph>(
        &mut self,
        product: &Product<'_, G>,
        root: u32,
        budget: &Budget,
        mut enter: impl FnMut(u32) -> bool,
        mut found: impl FnMut(&Components, &[u32]),
    ) -> Result<(), Stop> {
        if self.number[root as usize] != 0 {
            return Ok(());
        }
        let mut steps = 0u32;
        if !self.enter(root, &mut enter) {
            return Ok(());
        }
        let mut active = product.activate(root, Cursor::default());
        let (mut is_root, mut self_loop) = (true, false);
        loop {
            while let Some(step) = product.advance(&mut active) {
                let there = self.number[step.node as usize];
                if there == 0 {
                    if self.enter(step.node, &mut enter) {
                        self.frames.push(Frame {
                            node: active.node,
                            cursor: product.park(&active),
                            root: is_root,
                            self_loop,
                        });
                        active = product.activate(step.node, Cursor::default());
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
            let low = self.number[active.node as usize];
            self.close(active.node, is_root, self_loop, &mut found);
            let Some(frame) = self.frames.pop() else { return Ok(()) };
            let child_is_root = is_root;
            (is_root, self_loop) = (frame.root, frame.self_loop);
            active = product.activate(frame.node, frame.cursor);
            if !child_is_root && low < self.number[active.node as usize] {
                self.number[active.node as usize] = low;
                is_root = false;
            }
        }
    }

    /// Numbers a new node; tells whether to go on behind it.
    fn enter(&mut self, node: u32, enter: &mut impl FnMut(u32) -> bool) -> bool {
        let go_on = enter(node);
        if go_on {
            self.number[node as usize] = self.next_index;
            self.next_index += 1;
        } else {
            // Nothing behind it matters: it is a finished component by itself.
            self.number[node as usize] = self.next_component;
            self.next_component -= 1;
        }
        go_on
    }

    /// All successors of `node` are done; if it is the root of its component, that is complete.
    fn close(&mut self, node: u32, root: bool, self_loop: bool, found: &mut impl FnMut(&Components, &[u32])) {
        let own = self.number[node as usize];
        self.waiting.push(node);
        if !root {
            return;
        }
        let mut from = self.waiting.len() - 1;
        while from > 0 && self.number[self.waiting[from - 1] as usize] >= own {
            from -= 1;
        }
        let component = self.next_component;
        self.next_component -= 1;
        if from + 1 == self.waiting.len() {
            // PERF: most components are single nodes; they cost no allocation.
            self.waiting.pop();
            self.number[node as usize] = component;
            self.next_index -= 1;
            if self_loop {
                found(self, &[node]);
            }
            return;
        }
        let nodes = self.waiting.split_off(from);
        for &n in &nodes {
            self.number[n as usize] = component;
        }
        self.next_index -= nodes.len() as u32;
        debug_assert!(self.next_index < self.next_component, "live numbers never meet component numbers");
        found(self, &nodes);
    }
}
