//! Whether every path of a graph satisfies a formula: tableau, product and components.
//!
//! In: a formula, a graph, the truth of the atoms in each state. Out: whether some maximal path breaks the formula.
//! A node of the product is a state with a guess: what will hold at the next position, what is executed next, what
//! held before. An edge keeps the guesses that come true. The formula is broken if a node in which it is false
//! reaches a deadlock with nothing left to come, or a component that meets every eventuality that it promises.
//! Never here: evaluation of predicates.

use crate::formula::{Formula, Op};
use std::collections::HashMap;

/// The transitions of all states: those of state `s` are `edges[starts[s]..starts[s + 1]]`, as event and target.
#[derive(Default)]
pub struct Graph {
    pub starts: Vec<usize>,
    pub edges: Vec<(u32, u32)>,
    pub initial: Vec<u32>,
}

impl Graph {
    fn states(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
    fn from(&self, s: usize) -> &[(u32, u32)] {
        &self.edges[self.starts[s]..self.starts[s + 1]]
    }
}

/// What is guessed of a position: the truth of sub-formula `of` at the next or the previous position, or of an atom.
#[derive(Clone, Copy)]
enum Guess {
    /// What it is beyond the end of a finite path.
    Later(usize, bool),
    /// What it is before the first position.
    Earlier(usize, bool),
    Executed(usize),
}

/// The most guesses.
const MOST: usize = 14;

/// Whether all paths satisfy the formula, or why that cannot be told. `atoms` has, for each state, one bit for each
/// predicate of the formula.
pub fn holds(f: &Formula, graph: &Graph, atoms: &[u64], most: usize) -> Result<bool, String> {
    let product = Product::new(f, graph, atoms, most)?;
    Ok(!product.search())
}

struct Product<'a> {
    graph: &'a Graph,
    guesses: Vec<(usize, Guess)>,
    /// The kind of each state: states with equal atoms are of one kind.
    kinds: Vec<u32>,
    /// For each kind and each guess the truth of all sub-formulas, one bit each.
    truths: Vec<Vec<u64>>,
    /// Sub-formulas that promise: number, whether the promise is made when it is true, and who fulfils it.
    promises: Vec<(usize, bool, usize)>,
    root: usize,
}

impl<'a> Product<'a> {
    fn new(f: &Formula, graph: &'a Graph, atoms: &[u64], most: usize) -> Result<Product<'a>, String> {
        let (mut guesses, mut promises) = (Vec::new(), Vec::new());
        for (i, op) in f.ops.iter().enumerate() {
            match op {
                Op::Next(a) => guesses.push((i, Guess::Later(*a, false))),
                Op::Until(..) => guesses.push((i, Guess::Later(i, false))),
                Op::WeakUntil(..) | Op::Release(..) => guesses.push((i, Guess::Later(i, true))),
                Op::Yesterday(a) => guesses.push((i, Guess::Earlier(*a, false))),
                Op::Since(..) => guesses.push((i, Guess::Earlier(i, false))),
                Op::Trigger(..) => guesses.push((i, Guess::Earlier(i, true))),
                Op::Executed(e) => guesses.push((i, Guess::Executed(*e))),
                _ => {}
            }
            match op {
                Op::Until(_, b) => promises.push((i, true, *b)),
                Op::WeakUntil(a, _) => promises.push((i, false, *a)),
                Op::Release(_, b) => promises.push((i, false, *b)),
                _ => {}
            }
        }
        if guesses.len() > MOST {
            return Err(format!("a formula needs {} guesses", guesses.len()));
        }
        let nodes = graph.states().checked_mul(1 << guesses.len());
        if nodes.is_none_or(|n| n > most || n >= u32::MAX as usize) {
            return Err(format!("the product has more than {most} nodes"));
        }
        let mut product =
            Product { graph, guesses, kinds: Vec::new(), truths: Vec::new(), promises, root: f.root };
        let mut known = HashMap::new();
        for (s, preds) in atoms.iter().enumerate() {
            let mut enabled: Vec<u32> = graph.from(s).iter().map(|e| e.0).collect();
            enabled.sort_unstable();
            enabled.dedup();
            let next = known.len() as u32;
            let kind = *known.entry((*preds, enabled.clone())).or_insert(next);
            if kind == next {
                let row = (0..1u32 << product.guesses.len()).map(|g| product.truth(f, *preds, &enabled, g));
                let row = row.collect();
                product.truths.push(row);
            }
            product.kinds.push(kind);
        }
        Ok(product)
    }

    /// The truth of all sub-formulas at a position.
    fn truth(&self, f: &Formula, preds: u64, enabled: &[u32], guess: u32) -> u64 {
        let guessed = |own: usize| {
            let bit = self.guesses.iter().position(|(i, _)| *i == own);
            bit.map(|bit| guess >> bit & 1 == 1)
        };
        let mut truth = 0u64;
        for (i, op) in f.ops.iter().enumerate() {
            let atom = |op: &Op| match op {
                Op::Pred(p) => Some(preds >> p & 1 == 1),
                Op::Enabled(e) => Some(enabled.contains(&(*e as u32))),
                Op::Deadlock => Some(enabled.is_empty()),
                _ => guessed(i),
            };
            let of = |a: usize| Some(truth >> a & 1 == 1);
            let other = |_: usize, _: bool| guessed(i);
            if op.truth(i, &of, &atom, &other, &other) == Some(true) {
                truth |= 1 << i;
            }
        }
        truth
    }

    fn width(&self) -> usize {
        self.guesses.len()
    }

    fn truths_at(&self, node: u32) -> u64 {
        let (s, guess) = (node as usize >> self.width(), node as usize & ((1 << self.width()) - 1));
        self.truths[self.kinds[s] as usize][guess]
    }

    /// Whether a node may follow another by an event.
    fn follows(&self, from: u32, event: u32, to: u32) -> bool {
        let (here, there) = (self.truths_at(from), self.truths_at(to));
        self.guesses.iter().enumerate().all(|(bit, (_, guess))| match guess {
            Guess::Later(a, _) => (from >> bit & 1) as u64 == there >> a & 1,
            Guess::Earlier(a, _) => (to >> bit & 1) as u64 == here >> a & 1,
            Guess::Executed(e) => (from >> bit & 1 == 1) == (*e as u32 == event),
        })
    }

    /// Whether a path may end in a node.
    fn ends(&self, node: u32) -> bool {
        let s = node as usize >> self.width();
        self.graph.from(s).is_empty()
            && self.guesses.iter().enumerate().all(|(bit, (_, guess))| match guess {
                Guess::Later(_, beyond) => (node >> bit & 1 == 1) == *beyond,
                Guess::Executed(_) => node >> bit & 1 == 0,
                Guess::Earlier(..) => true,
            })
    }

    /// Whether a path may begin in a node and break the formula.
    fn begins(&self, node: u32) -> bool {
        self.truths_at(node) >> self.root & 1 == 0
            && self.guesses.iter().enumerate().all(|(bit, (_, guess))| match guess {
                Guess::Earlier(_, before) => (node >> bit & 1 == 1) == *before,
                _ => true,
            })
    }

    /// The promises that a node fulfils or does not make, one bit each.
    fn fulfilled(&self, node: u32) -> u64 {
        let truth = self.truths_at(node);
        let one = |(bit, (own, when, by)): (usize, &(usize, bool, usize))| {
            let promised = (truth >> own & 1 == 1) == *when;
            let fulfils = (truth >> by & 1 == 1) == *when;
            u64::from(!promised || fulfils) << bit
        };
        self.promises.iter().enumerate().map(one).sum()
    }

    /// Whether some path breaks the formula: components by Tarjan's method, without recursion.
    fn search(&self) -> bool {
        let guesses = 1u32 << self.width();
        let all = (1u64 << self.promises.len()) - 1;
        let nodes = self.graph.states() << self.width();
        let mut low = vec![0u32; nodes];
        let (mut count, mut stack, mut frames) = (0u32, Vec::<u32>::new(), Vec::<Frame>::new());
        // A number below `DONE` is that of a node on the stack.
        const DONE: u32 = u32::MAX;
        let starts = self.graph.initial.iter().flat_map(|s| (0..guesses).map(move |g| s * guesses + g));
        for start in starts.filter(|n| self.begins(*n)) {
            if low[start as usize] != 0 {
                continue;
            }
            frames.push(Frame::new(start));
            while let Some(frame) = frames.last_mut() {
                let node = frame.node;
                if frame.number == 0 {
                    if self.ends(node) {
                        return true;
                    }
                    count += 1;
                    (frame.number, low[node as usize]) = (count, count);
                    stack.push(node);
                }
                match self.next(frame) {
                    Some(next) if next == node => frame.repeats = true,
                    Some(next) => match low[next as usize] {
                        0 => frames.push(Frame::new(next)),
                        DONE => {}
                        known => low[node as usize] = low[node as usize].min(known),
                    },
                    None => {
                        let done = *frame;
                        frames.pop();
                        let own = low[node as usize];
                        if own == done.number {
                            let from = stack.iter().rposition(|n| *n == node).unwrap_or(0);
                            let cycle = done.repeats || stack.len() - from > 1;
                            let met = stack[from..].iter().fold(0, |met, n| met | self.fulfilled(*n));
                            if cycle && met == all {
                                return true;
                            }
                            stack.drain(from..).for_each(|n| low[n as usize] = DONE);
                        }
                        if let Some(parent) = frames.last().filter(|_| own != done.number) {
                            low[parent.node as usize] = low[parent.node as usize].min(own);
                        }
                    }
                }
            }
        }
        false
    }

    /// The next successor of a node that was not looked at yet.
    fn next(&self, frame: &mut Frame) -> Option<u32> {
        let edges = self.graph.from(frame.node as usize >> self.width());
        while let Some((event, target)) = edges.get(frame.edge) {
            while frame.guess < 1 << self.width() {
                let to = target << self.width() | frame.guess;
                frame.guess += 1;
                if self.follows(frame.node, *event, to) {
                    return Some(to);
                }
            }
            frame.edge += 1;
            frame.guess = 0;
        }
        None
    }
}

/// A node that is being looked at: its number, and which successor comes next.
#[derive(Clone, Copy)]
struct Frame {
    node: u32,
    number: u32,
    edge: usize,
    guess: u32,
    /// Whether the node is its own successor.
    repeats: bool,
}

impl Frame {
    fn new(node: u32) -> Frame {
        Frame { node, number: 0, edge: 0, guess: 0, repeats: false }
    }
}
