//! Classes of integer slots and of sets, and the shapes that place them inside a type.
//!
//! In: types, and what happens to values of them. Out: which slots are opaque, and where tests cut them.
//! One union-find holds both kinds of nodes: slots of integers, and sets (see `opaque` for exact and loose ones).

use crate::data_independence::bounds::Bounds;
use bombus_base::Int;
use bombus_lang::typed::Type;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A type with a node at each integer and each set that holds integers.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// No integers inside.
    Plain,
    Int(usize),
    Set(usize, Arc<Shape>),
    Pair(Arc<Shape>, Arc<Shape>),
    Rec(Arc<[Shape]>),
}

impl Shape {
    pub fn pair(a: Shape, b: Shape) -> Shape {
        Shape::Pair(Arc::new(a), Arc::new(b))
    }

    /// What the elements of a set are like.
    pub fn element(&self) -> Shape {
        match self {
            Shape::Set(_, e) => (**e).clone(),
            _ => Shape::Plain,
        }
    }

    /// The columns of a relation, or the parts of a pair.
    pub fn columns(&self) -> (Shape, Shape) {
        match self {
            Shape::Set(_, e) => e.columns(),
            Shape::Pair(a, b) => ((**a).clone(), (**b).clone()),
            _ => (Shape::Plain, Shape::Plain),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Node {
    parent: usize,
    /// A slot: something looks at the value itself.
    seen: bool,
    /// A slot: the lowest values of its regions but the first.
    cuts: BTreeSet<Int>,
    /// A set: equal elements may have been merged.
    loose: bool,
    /// A set: its size, or the number of images, is asked for.
    needs_exact: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    nodes: Vec<Node>,
    /// Every set with the shape of its elements.
    sets: Vec<(usize, Arc<Shape>)>,
}

impl Classes {
    fn node(&mut self) -> usize {
        self.nodes.push(Node { parent: self.nodes.len(), ..Node::default() });
        self.nodes.len() - 1
    }

    fn root(&mut self, mut n: usize) -> usize {
        while self.nodes[n].parent != n {
            let up = self.nodes[self.nodes[n].parent].parent;
            self.nodes[n].parent = up;
            n = up;
        }
        n
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let child = std::mem::take(&mut self.nodes[b]);
        self.nodes[b].parent = a;
        let node = &mut self.nodes[a];
        node.seen |= child.seen;
        node.loose |= child.loose;
        node.needs_exact |= child.needs_exact;
        node.cuts.extend(child.cuts);
    }

    pub fn int(&mut self) -> Shape {
        Shape::Int(self.node())
    }

    pub fn set(&mut self, element: Shape) -> Shape {
        let element = Arc::new(element);
        let n = self.node();
        self.sets.push((n, element.clone()));
        Shape::Set(n, element)
    }

    /// A set in which equal elements may have been merged.
    pub fn loose_set(&mut self, element: Shape) -> Shape {
        let set = self.set(element);
        self.loosen(&set);
        set
    }

    /// Fresh nodes for a type. Values of free types are plain: what goes into one is seen.
    pub fn shape(&mut self, ty: &Type) -> Shape {
        match ty {
            Type::Integer => self.int(),
            Type::Bool | Type::String | Type::Real | Type::Set(_) | Type::Free(_) | Type::Any => Shape::Plain,
            Type::Pow(t) => {
                let element = self.shape(t);
                self.set(element)
            }
            Type::Prod(a, b) => {
                let a = self.shape(a);
                Shape::pair(a, self.shape(b))
            }
            Type::Struct(fields) => Shape::Rec(fields.iter().map(|(_, t)| self.shape(t)).collect()),
        }
    }

    pub fn seen_shape(&mut self, ty: &Type) -> Shape {
        let shape = self.shape(ty);
        self.see(&shape);
        shape
    }

    /// Values of one are copied to the other, or both to a third.
    pub fn join(&mut self, a: &Shape, b: &Shape) {
        match (a, b) {
            (Shape::Plain, Shape::Plain) => {}
            (Shape::Int(x), Shape::Int(y)) => self.unite(*x, *y),
            (Shape::Set(x, a), Shape::Set(y, b)) => {
                self.unite(*x, *y);
                self.join(a, b);
            }
            (Shape::Pair(a, b), Shape::Pair(c, d)) => {
                self.join(a, c);
                self.join(b, d);
            }
            (Shape::Rec(a), Shape::Rec(b)) if a.len() == b.len() => {
                a.iter().zip(b.iter()).for_each(|(a, b)| self.join(a, b));
            }
            _ => {
                self.see(a);
                self.see(b);
            }
        }
    }

    /// Something depends on the values themselves.
    pub fn see(&mut self, shape: &Shape) {
        match shape {
            Shape::Plain => {}
            Shape::Int(n) => {
                let n = self.root(*n);
                self.nodes[n].seen = true;
            }
            Shape::Set(_, e) => self.see(e),
            Shape::Pair(a, b) => {
                self.see(a);
                self.see(b);
            }
            Shape::Rec(fields) => fields.iter().for_each(|f| self.see(f)),
        }
    }

    /// A test tells the integers below `at` from the others.
    pub fn cut(&mut self, shape: &Shape, at: Int) {
        if let Shape::Int(n) = shape {
            let n = self.root(*n);
            self.nodes[n].cuts.insert(at);
        }
    }

    /// A test tells `k` from all other integers.
    pub fn cut_out(&mut self, shape: &Shape, k: &Int) {
        self.cut(shape, k.clone());
        self.cut(shape, k.add(&Int::from(1i64)));
    }

    pub fn loosen(&mut self, set: &Shape) {
        if let Shape::Set(n, _) = set {
            let n = self.root(*n);
            self.nodes[n].loose = true;
        }
    }

    pub fn need_exact(&mut self, set: &Shape) {
        if let Shape::Set(n, _) = set {
            let n = self.root(*n);
            self.nodes[n].needs_exact = true;
        }
    }

    /// Two sets are both exact or count as loose.
    pub fn same_kind(&mut self, a: &Shape, b: &Shape) {
        if let (Shape::Set(a, _), Shape::Set(b, _)) = (a, b) {
            self.unite(*a, *b);
        }
    }

    /// Once all is known: what is inside a loose set that should be exact is seen.
    pub fn settle(&mut self) {
        for (n, element) in self.sets.clone() {
            let n = self.root(n);
            if self.nodes[n].loose && self.nodes[n].needs_exact {
                self.see(&element);
            }
        }
    }

    /// Whether a slot is opaque and each of its regions that some value within `bounds` lies in has one in `low..high`.
    pub fn is_covered(&mut self, slot: usize, bounds: &Bounds, low: &Int, high: &Int) -> bool {
        let n = self.root(slot);
        let node = &self.nodes[n];
        let one = Int::from(1i64);
        let starts = std::iter::once(None).chain(node.cuts.iter().map(Some));
        let ends = node.cuts.iter().map(|c| Some(c.sub(&one))).chain(std::iter::once(None));
        // From `a` to `b`, without end where there is none.
        let covered = starts.zip(ends).all(|(a, b)| {
            let out_of_reach = a.zip(bounds.high.as_ref()).is_some_and(|(a, most)| a > most)
                || b.as_ref().zip(bounds.low.as_ref()).is_some_and(|(b, least)| b < least);
            let tried = a.is_none_or(|a| a <= high) && b.is_none_or(|b| *low <= b);
            out_of_reach || tried
        });
        !node.seen && low <= high && covered
    }
}
