//! Formulas over evaluated atoms: quantifiers expanded, fairness set apart.
//!
//! In: a parsed formula and the table of atoms. Out: a property, that is a formula without variables
//! and the assumptions under which it has to hold. Never here: automata.

use super::atoms::{AtomId, Bound, Faults, Table};
use super::formula::{Atom, Binary, Fairness, Formula, Kind, Pattern, Unary};
use super::view::Graph;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::hash::HashMap;
use bombus_base::span::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    Constant(bool),
    Atom(AtomId),
    Unary(Unary, NodeId),
    Binary(Binary, NodeId, NodeId),
}

/// A formula without variables. Equal sub-formulas are one node; operands stand before operators.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    nodes: Vec<Node>,
    numbers: HashMap<Node, NodeId>,
}

impl Ground {
    pub fn add(&mut self, node: Node) -> NodeId {
        *self.numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            NodeId(self.nodes.len() as u32 - 1)
        })
    }

    pub fn unary(&mut self, op: Unary, f: NodeId) -> NodeId {
        self.add(Node::Unary(op, f))
    }

    pub fn binary(&mut self, op: Binary, f: NodeId, g: NodeId) -> NodeId {
        self.add(Node::Binary(op, f, g))
    }

    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A sub-formula as text.
    pub fn show<G: Graph>(&self, id: NodeId, table: &Table<'_, G>) -> String {
        match self.node(id) {
            Node::Constant(value) => value.to_string(),
            Node::Atom(atom) => table.text(atom).to_string(),
            Node::Unary(op, f) => format!("{} {}", op.word(), self.show(f, table)),
            Node::Binary(op, f, g) => {
                format!("({} {} {})", self.show(f, table), op.word(), self.show(g, table))
            }
        }
    }

    /// The sub-formulas of `root`, operands before operators.
    pub fn below(&self, root: NodeId) -> Vec<NodeId> {
        let mut wanted = vec![false; root.0 as usize + 1];
        wanted[root.0 as usize] = true;
        for i in (0..=root.0).rev() {
            if wanted[i as usize] {
                match self.node(NodeId(i)) {
                    Node::Unary(_, f) => wanted[f.0 as usize] = true,
                    Node::Binary(_, f, g) => {
                        wanted[f.0 as usize] = true;
                        wanted[g.0 as usize] = true;
                    }
                    Node::Constant(_) | Node::Atom(_) => {}
                }
            }
        }
        (0..=root.0).filter(|&i| wanted[i as usize]).map(NodeId).collect()
    }
}

/// Fairness of one operation.
#[derive(Clone, Debug)]
pub struct Constraint {
    pub strong: bool,
    /// The transitions that satisfy it.
    pub taken: AtomId,
    /// The states in which such a transition is possible.
    pub enabled: AtomId,
}

/// Constraints that an infinite path has to meet all.
#[derive(Clone, Debug, Default)]
pub struct Assumption {
    pub constraints: Vec<Constraint>,
    /// Weak fairness of every operation with every choice of arguments.
    pub every_weak: bool,
    pub every_strong: bool,
}

/// What is to be checked: `root` on every maximal path that is finite or meets one of the assumptions.
#[derive(Clone, Debug)]
pub struct Property {
    pub ground: Ground,
    pub root: NodeId,
    /// Never empty; a property without fairness has one trivial assumption.
    pub assumptions: Vec<Assumption>,
}

/// A quantifier with more values, or fairness with more alternatives, is refused.
const MAX_EXPANSION: usize = 10_000;

impl Property {
    pub fn new<G: Graph>(formula: &Formula, table: &mut Table<'_, G>) -> Result<Property, Faults> {
        let mut builder = Builder { table, ground: Ground::default(), bound: Vec::new() };
        let (assumptions, body) = match &formula.kind {
            Kind::Fair(fairness, body) => (builder.assumptions(fairness, formula.span)?, &**body),
            _ => (vec![Assumption::default()], formula),
        };
        let root = builder.formula(body)?;
        Ok(Property { ground: builder.ground, root, assumptions })
    }
}

struct Builder<'t, 'a, G> {
    table: &'t mut Table<'a, G>,
    ground: Ground,
    bound: Vec<Bound>,
}

impl<G: Graph> Builder<'_, '_, G> {
    fn formula(&mut self, formula: &Formula) -> Result<NodeId, Faults> {
        Ok(match &formula.kind {
            Kind::Constant(value) => self.ground.add(Node::Constant(*value)),
            Kind::Atom(atom) => {
                let atom = self.table.intern(atom, &self.bound, formula.span)?;
                self.ground.add(Node::Atom(atom))
            }
            Kind::Unary(op, f) => {
                let f = self.formula(f)?;
                self.ground.unary(*op, f)
            }
            Kind::Binary(op, f, g) => {
                // Both sides are visited even if the first has a fault, so that all faults are told.
                match (self.formula(f), self.formula(g)) {
                    (Ok(f), Ok(g)) => self.ground.binary(*op, f, g),
                    (Err(mut faults), Err(more)) => {
                        faults.extend(more);
                        return Err(faults);
                    }
                    (Err(faults), _) | (_, Err(faults)) => return Err(faults),
                }
            }
            Kind::Quantified { universal, variable, domain, body } => {
                let values = self.table.source().solutions(variable, domain, &self.bound)?;
                if values.len() > MAX_EXPANSION {
                    return Err(vec![Diagnostic::error(
                        domain.span,
                        format!("`{variable}` has {} values, more than can be expanded", values.len()),
                    )]);
                }
                let op = if *universal { Binary::And } else { Binary::Or };
                let mut instances = Vec::new();
                for value in values {
                    self.bound.push(value);
                    let instance = self.formula(body);
                    self.bound.pop();
                    instances.push(instance?);
                }
                self.balanced(op, &instances).unwrap_or_else(|| self.ground.add(Node::Constant(*universal)))
            }
            Kind::Fair(fairness, f) => {
                let premise = self.fairness_formula(fairness, formula.span)?;
                let f = self.formula(f)?;
                self.ground.binary(Binary::Implies, premise, f)
            }
        })
    }

    /// Joins many formulas in a tree of logarithmic height: later stages recurse over it.
    fn balanced(&mut self, op: Binary, list: &[NodeId]) -> Option<NodeId> {
        match list {
            [] => None,
            [one] => Some(*one),
            _ => {
                let (left, right) = list.split_at(list.len() / 2);
                let (left, right) = (self.balanced(op, left)?, self.balanced(op, right)?);
                Some(self.ground.binary(op, left, right))
            }
        }
    }

    fn constraint(&mut self, strong: bool, pattern: &Pattern) -> Result<Constraint, Faults> {
        let span = pattern.operation.span;
        let taken = self.table.intern(&Atom::Executed(pattern.clone()), &self.bound, span)?;
        let enabled = self.table.intern(&Atom::Enabled(pattern.clone()), &self.bound, span)?;
        Ok(Constraint { strong, taken, enabled })
    }

    /// The alternatives under which a path is fair.
    fn assumptions(&mut self, fairness: &Fairness, span: Span) -> Result<Vec<Assumption>, Faults> {
        Ok(match fairness {
            Fairness::Operation { strong, pattern } => {
                let constraints = vec![self.constraint(*strong, pattern)?];
                vec![Assumption { constraints, ..Assumption::default() }]
            }
            Fairness::Every { strong } => {
                vec![Assumption { every_strong: *strong, every_weak: !*strong, ..Assumption::default() }]
            }
            Fairness::Or(f, g) => {
                let mut all = self.assumptions(f, span)?;
                all.extend(self.assumptions(g, span)?);
                all
            }
            Fairness::And(f, g) => {
                let (left, right) = (self.assumptions(f, span)?, self.assumptions(g, span)?);
                if left.len() * right.len() > MAX_EXPANSION {
                    return Err(vec![Diagnostic::error(
                        span,
                        "the fairness assumption has too many alternatives",
                    )]);
                }
                let mut all = Vec::new();
                for l in &left {
                    for r in &right {
                        let mut both = l.clone();
                        both.constraints.extend(r.constraints.iter().cloned());
                        both.every_weak |= r.every_weak;
                        both.every_strong |= r.every_strong;
                        all.push(both);
                    }
                }
                all
            }
        })
    }

    /// Fairness inside a formula, spelled out: `GF e(a) => GF [a]`, or `FG e(a) => GF [a]` if weak. It
    /// is true on finite paths, since nothing is enabled at their end.
    fn fairness_formula(&mut self, fairness: &Fairness, span: Span) -> Result<NodeId, Faults> {
        match fairness {
            Fairness::Operation { strong, pattern } => {
                let constraint = self.constraint(*strong, pattern)?;
                Ok(constraint_formula(&mut self.ground, &constraint))
            }
            Fairness::Every { .. } => Err(vec![
                Diagnostic::error(span, "WEF and SEF can only be assumed for a whole formula")
                    .help("move the assumption to the front: `WEF => formula`"),
            ]),
            Fairness::And(f, g) | Fairness::Or(f, g) => {
                let op = if matches!(fairness, Fairness::And(..)) { Binary::And } else { Binary::Or };
                let (f, g) = (self.fairness_formula(f, span)?, self.fairness_formula(g, span)?);
                Ok(self.ground.binary(op, f, g))
            }
        }
    }
}

/// A constraint as a formula.
pub(super) fn constraint_formula(ground: &mut Ground, constraint: &Constraint) -> NodeId {
    let enabled = ground.add(Node::Atom(constraint.enabled));
    let taken = ground.add(Node::Atom(constraint.taken));
    let (outer, inner) =
        if constraint.strong { (Unary::Globally, Unary::Finally) } else { (Unary::Finally, Unary::Globally) };
    let premise = ground.unary(inner, enabled);
    let premise = ground.unary(outer, premise);
    let response = ground.unary(Unary::Finally, taken);
    let response = ground.unary(Unary::Globally, response);
    ground.binary(Binary::Implies, premise, response)
}
