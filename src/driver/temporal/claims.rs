//! Temporal formulas as claims for the engine on sets of states.
//!
//! In: read and typed formulas, then the compiled model with its instances of events. Out: propositions to be learned,
//! and claims over them; or, by name, what that engine does not decide. Never here: sets.
//!
//! Formulas are ground before the model has its footprints, because the propositions become part of these; atoms about
//! operations are looked up afterwards, when instances are known.

use super::typing::{Part, Pieces};
use super::{Formulas, Logic};
use crate::base::budget::Budget;
use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;
use crate::bdd::{Branching, Claim, Fact, Fair, Form, Linear, Tree};
use crate::evaluate::{Interpreter, Pieces as Environment};
use crate::lang::typed::{Machine, VarId};
use crate::lang::value::Value;
use crate::ltl::atoms::{AtomId, Atoms, Bound, Extent, Faults, Special, Table};
use crate::ltl::bits::Bits;
use crate::ltl::ctl_parse::{Ctl, CtlKind, Quantifier, Temporal};
use crate::ltl::formula::{Atom, Binary, Change, Pattern, Text, Unary};
use crate::ltl::ground::{Node, Property};
use crate::ltl::view::Explicit;
use crate::program::Program;
use crate::program::footprints::Proposition;
use crate::program::uses::Uses;
use crate::system::{EventId, InstanceId, System};
use std::cell::RefCell;

/// Formulas without variables, over numbered atoms.
pub struct Claims {
    list: Vec<Early>,
    atoms: Vec<(Atom, Vec<Bound>)>,
    /// Values of quantified variables; `Bound::value` is a place here.
    values: Vec<Value>,
    /// By atom: its number among the propositions, if it is one.
    numbers: Vec<Option<usize>>,
    pub propositions: Vec<Proposition>,
}

enum Early {
    Linear(Property),
    Branching(Vec<EarlyTree>, usize),
}

enum EarlyTree {
    Constant(bool),
    Atom(AtomId),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Next(Option<AtomId>, usize),
    Until(usize, usize),
    Globally(usize),
}

/// An atom in terms of facts and steps.
enum Piece {
    Fact(Fact),
    Taken(Vec<u32>),
    Not(Box<Piece>),
    All(Vec<Piece>),
    Any(Vec<Piece>),
}

const LEFT: &str = "this is left to the explicit engine";

impl Claims {
    /// Grounds all formulas of a run.
    pub fn ground(formulas: &Formulas, machine: &Machine, budget: &Budget) -> Result<Claims, Faults> {
        let events = machine.events.iter().map(|op| machine.op(*op).name.to_string()).collect();
        let source =
            Grounding { machine, pieces: &formulas.pieces, budget, events, values: RefCell::default() };
        let graph = Explicit::new(1, &[0], Vec::new());
        let mut table = Table::new(&graph, &source);
        let (mut list, mut faults) = (Vec::new(), Vec::new());
        for one in &formulas.list {
            let early = match &one.formula {
                Logic::Ltl(f) => Property::new(f, &mut table).map(Early::Linear),
                Logic::Ctl(f) => {
                    let mut trees = Vec::new();
                    early_tree(f, &mut table, &mut trees).map(|root| Early::Branching(trees, root))
                }
            };
            match early {
                Ok(early) => list.push(early),
                Err(more) => faults.extend(more),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let atoms: Vec<(Atom, Vec<Bound>)> = (0..table.len())
            .map(|i| table.parsed(AtomId(i as u32)))
            .map(|(atom, bound)| (atom.clone(), bound.to_vec()))
            .collect();
        drop(table);
        let values = source.values.into_inner();
        let mut claims = Claims { list, atoms, values, numbers: Vec::new(), propositions: Vec::new() };
        for i in 0..claims.atoms.len() {
            let proposition = claims.proposition(i, &formulas.pieces);
            let number = proposition.map(|p| {
                claims.propositions.push(p);
                claims.propositions.len() - 1
            });
            claims.numbers.push(number);
        }
        Ok(claims)
    }

    fn proposition(&self, atom: usize, pieces: &Pieces) -> Option<Proposition> {
        let observed =
            |n: usize| Proposition { pred: pieces.observed[n].clone(), observed: Some(n), bound: Vec::new() };
        match &self.atoms[atom] {
            (Atom::Goal, _) => pieces.goal.map(observed),
            (Atom::Predicate(text), bound) => {
                let typed = pieces.places.get(&text.span)?;
                match &typed.part {
                    Part::Observed(n) => Some(observed(*n)),
                    Part::Pred(pred) => Some(Proposition {
                        pred: pred.clone(),
                        observed: None,
                        bound: self.bindings(&typed.bound, bound),
                    }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn bindings(&self, vars: &[VarId], bound: &[Bound]) -> Vec<(VarId, Value)> {
        vars.iter().copied().zip(bound.iter().map(|b| self.values[b.value as usize].clone())).collect()
    }

    /// The claims, or all that this engine does not decide.
    pub fn settle(&self, program: &Program, formulas: &Formulas) -> Result<Vec<Claim>, Faults> {
        let lookup = Lookup { claims: self, program, pieces: &formulas.pieces };
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        for early in &self.list {
            let claim = match early {
                Early::Linear(property) => lookup.linear(property).map(Claim::Linear),
                Early::Branching(trees, root) => lookup.branching(trees, *root).map(Claim::Branching),
            };
            match claim {
                Ok(claim) => all.push(claim),
                Err(fault) => faults.push(*fault),
            }
        }
        if faults.is_empty() { Ok(all) } else { Err(faults) }
    }
}

type Settled<T> = Result<T, Box<Diagnostic>>;

fn refused(at: Span, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(at, format!("--engine bdd: {message}")).help(LEFT))
}

/// The model with its instances, asked about atoms.
struct Lookup<'l, 'm> {
    claims: &'l Claims,
    program: &'l Program<'m>,
    pieces: &'l Pieces,
}

impl Lookup<'_, '_> {
    fn instances(&self) -> u32 {
        self.program.footprints().map_or(0, |f| f.instances.len() as u32)
    }

    /// The instances that match a pattern.
    fn matching(&self, pattern: &Pattern, bound: &[Bound]) -> Settled<Vec<u32>> {
        let name = &pattern.operation.text;
        let event = self.program.event_names().iter().position(|n| n == name).unwrap_or(usize::MAX);
        let footprints = self.program.footprints().expect("the model has its footprints");
        let of_event = (0..self.instances())
            .filter(|i| footprints.instances[*i as usize].event == EventId(event as u32));
        if pattern.is_plain() {
            return Ok(of_event.collect());
        }
        let at = pattern.operation.span;
        let typed = self.pieces.places.get(&at).expect("every piece of a formula was typed");
        let Part::Arguments(wanted) = &typed.part else {
            unreachable!("a pattern is typed as its arguments")
        };
        let machine = self.program.machine();
        let interpreter = Interpreter::new(machine, &Budget::unlimited());
        let constants = self.program.only_constants();
        let varies =
            |v: &VarId| machine.variables.contains(v) || constants.is_none() && machine.constants.contains(v);
        if wanted.iter().flatten().any(|p| Uses::of_pred(p).all().iter().any(varies)) {
            return Err(refused(at, format!("the arguments that are asked of {name} depend on the state")));
        }
        let mut environment = Environment::new(&interpreter, &constants.unwrap_or_default());
        for (v, x) in self.claims.bindings(&typed.bound, bound) {
            environment.bind(v, false, x);
        }
        let params = &machine.op(machine.events[event]).params;
        let mut found = Vec::new();
        for i in of_event {
            let Some(values) = self.program.arguments(InstanceId(i)) else {
                let why = format!("the arguments of {name} are not taken apart one by one");
                return Err(refused(at, why));
            };
            let mut fits = true;
            for ((pred, v), x) in wanted.iter().zip(params).zip(values) {
                let Some(pred) = pred else { continue };
                environment.bind(*v, false, x.clone());
                let truth = interpreter.piece_holds(pred, &mut environment);
                environment.unbind(*v, false);
                fits &= truth.map_err(|_| {
                    refused(at, format!("the arguments that are asked of {name} have no value"))
                })?;
            }
            if fits {
                found.push(i);
            }
        }
        Ok(found)
    }

    fn enabled(&self, pattern: &Pattern, bound: &[Bound]) -> Settled<Piece> {
        Ok(Piece::Fact(Fact::Enabled(self.matching(pattern, bound)?)))
    }

    fn atom(&self, atom: AtomId) -> Settled<Piece> {
        let (parsed, bound) = &self.claims.atoms[atom.0 as usize];
        let all = |list: &[Pattern]| -> Settled<Vec<Piece>> {
            list.iter().map(|p| self.enabled(p, bound)).collect()
        };
        Ok(match parsed {
            Atom::Predicate(_) | Atom::Goal => {
                let number = self.claims.numbers[atom.0 as usize].expect("a predicate is a proposition");
                Piece::Fact(Fact::Holds(number))
            }
            Atom::Enabled(pattern) => self.enabled(pattern, bound)?,
            Atom::Executed(pattern) => Piece::Taken(self.matching(pattern, bound)?),
            Atom::Deadlock => Piece::Fact(Fact::Deadlock),
            Atom::Sink => Piece::Fact(Fact::Sink),
            Atom::Current => Piece::Fact(Fact::Initial),
            Atom::NoneEnabled(list) => Piece::Not(Box::new(Piece::Any(all(list)?))),
            Atom::AtMostOne(list) => Piece::All(self.no_two(list, bound)?),
            Atom::ExactlyOne(list) => {
                let mut both = self.no_two(list, bound)?;
                both.push(Piece::Any(all(list)?));
                Piece::All(both)
            }
            Atom::Change(_, text) => {
                return Err(refused(text.span, format!("{parsed} compares two states")));
            }
            Atom::NonDet | Atom::DetOutput | Atom::StateError => {
                let message = format!("--engine bdd: {parsed} asks for single transitions");
                return Err(Box::new(Diagnostic::plain(message).help(LEFT)));
            }
        })
    }

    /// For every two patterns, that not both are enabled.
    fn no_two(&self, list: &[Pattern], bound: &[Bound]) -> Settled<Vec<Piece>> {
        let mut apart = Vec::new();
        for (i, one) in list.iter().enumerate() {
            for other in &list[..i] {
                let both = vec![self.enabled(one, bound)?, self.enabled(other, bound)?];
                apart.push(Piece::Not(Box::new(Piece::All(both))));
            }
        }
        Ok(apart)
    }

    fn linear(&self, property: &Property) -> Settled<Linear> {
        let mut forms = Forms::default();
        let mut of: Vec<Option<usize>> = vec![None; property.ground.nodes().len()];
        for id in property.ground.below(property.root) {
            let get = |f: crate::ltl::ground::NodeId| of[f.0 as usize].expect("operands come first");
            let form = match property.ground.node(id) {
                Node::Constant(value) => forms.constant(value),
                Node::Atom(atom) => {
                    let piece = self.atom(atom)?;
                    forms.piece(&piece)
                }
                Node::Unary(op, f) => forms.unary(op, get(f)),
                Node::Binary(op, f, g) => forms.binary(op, get(f), get(g)),
            };
            of[id.0 as usize] = Some(form);
        }
        let root = of[property.root.0 as usize].expect("the root was met");
        let mut assumptions = Vec::new();
        for assumption in &property.assumptions {
            let mut all = Vec::new();
            for c in &assumption.constraints {
                let (enabled, taken) = (self.atom(c.enabled)?, self.atom(c.taken)?);
                let (enabled, taken) = (forms.piece(&enabled), forms.piece(&taken));
                all.push(Fair { strong: c.strong, enabled, taken });
            }
            for (strong, wanted) in [(true, assumption.every_strong), (false, assumption.every_weak)] {
                for i in (0..self.instances()).filter(|_| wanted) {
                    all.push(self.fair_instance(&mut forms, strong, i)?);
                }
            }
            assumptions.push(all);
        }
        Ok(Linear { forms: forms.list, root, assumptions })
    }

    fn fair_instance(&self, forms: &mut Forms, strong: bool, i: u32) -> Settled<Fair> {
        if self.program.arguments(InstanceId(i)).is_none() {
            let footprints = self.program.footprints().expect("the model has its footprints");
            let event = footprints.instances[i as usize].event.0 as usize;
            let name = &self.program.event_names()[event];
            let word = if strong { "SEF" } else { "WEF" };
            let message =
                format!("--engine bdd: {word}: the arguments of {name} are not taken apart one by one");
            return Err(Box::new(Diagnostic::plain(message).help(LEFT)));
        }
        let enabled = forms.add(Form::State(Fact::Enabled(vec![i])));
        let taken = forms.add(Form::Taken(vec![i]));
        Ok(Fair { strong, enabled, taken })
    }

    fn branching(&self, early: &[EarlyTree], root: usize) -> Settled<Branching> {
        let mut trees = Trees::default();
        let mut of = Vec::new();
        for tree in early {
            let at = match tree {
                EarlyTree::Constant(value) => trees.constant(*value),
                EarlyTree::Atom(atom) => {
                    let piece = self.atom(*atom)?;
                    trees.piece(&piece)
                }
                EarlyTree::Not(f) => trees.add(Tree::Not(of[*f])),
                EarlyTree::And(f, g) => trees.add(Tree::And(of[*f], of[*g])),
                EarlyTree::Or(f, g) => trees.add(Tree::Or(of[*f], of[*g])),
                EarlyTree::Next(None, f) => trees.add(Tree::Next(None, of[*f])),
                EarlyTree::Next(Some(atom), f) => match self.atom(*atom)? {
                    Piece::Taken(instances) => trees.add(Tree::Next(Some(instances), of[*f])),
                    _ => unreachable!("a step is asked for by its operation"),
                },
                EarlyTree::Until(f, g) => trees.add(Tree::Until(of[*f], of[*g])),
                EarlyTree::Globally(f) => trees.add(Tree::Globally(of[*f])),
            };
            of.push(at);
        }
        Ok(Branching { root: of[root], trees: trees.list })
    }
}

/// A claim about paths that is being put together.
#[derive(Default)]
struct Forms {
    list: Vec<Form>,
}

impl Forms {
    fn add(&mut self, form: Form) -> usize {
        self.list.iter().position(|f| *f == form).unwrap_or_else(|| {
            self.list.push(form);
            self.list.len() - 1
        })
    }

    fn not(&mut self, f: usize) -> usize {
        match self.list[f] {
            Form::Not(g) => g,
            _ => self.add(Form::Not(f)),
        }
    }

    fn constant(&mut self, value: bool) -> usize {
        let truth = self.add(Form::True);
        if value { truth } else { self.not(truth) }
    }

    fn piece(&mut self, piece: &Piece) -> usize {
        match piece {
            Piece::Fact(fact) => self.add(Form::State(fact.clone())),
            Piece::Taken(instances) => self.add(Form::Taken(instances.clone())),
            Piece::Not(p) => {
                let p = self.piece(p);
                self.not(p)
            }
            Piece::All(list) => list.iter().fold(self.constant(true), |all, p| {
                let p = self.piece(p);
                self.add(Form::And(all, p))
            }),
            Piece::Any(list) => list.iter().fold(self.constant(false), |any, p| {
                let p = self.piece(p);
                self.add(Form::Or(any, p))
            }),
        }
    }

    fn unary(&mut self, op: Unary, f: usize) -> usize {
        match op {
            Unary::Not => self.not(f),
            Unary::Next => self.add(Form::Next(f)),
            Unary::Yesterday => self.add(Form::Yesterday(f)),
            Unary::Finally | Unary::Once => {
                let truth = self.constant(true);
                self.add(if op == Unary::Once { Form::Since(truth, f) } else { Form::Until(truth, f) })
            }
            Unary::Globally | Unary::Historically => {
                let not = self.not(f);
                let other = if op == Unary::Globally { Unary::Finally } else { Unary::Once };
                let found = self.unary(other, not);
                self.not(found)
            }
        }
    }

    fn binary(&mut self, op: Binary, f: usize, g: usize) -> usize {
        match op {
            Binary::And => self.add(Form::And(f, g)),
            Binary::Or => self.add(Form::Or(f, g)),
            Binary::Implies => {
                let not = self.not(f);
                self.add(Form::Or(not, g))
            }
            Binary::Iff => {
                let (there, back) = (self.binary(Binary::Implies, f, g), self.binary(Binary::Implies, g, f));
                self.add(Form::And(there, back))
            }
            Binary::Until => self.add(Form::Until(f, g)),
            Binary::Since => self.add(Form::Since(f, g)),
            // By their duals.
            Binary::Release | Binary::Trigger => {
                let (f, g) = (self.not(f), self.not(g));
                let dual =
                    self.add(if op == Binary::Release { Form::Until(f, g) } else { Form::Since(f, g) });
                self.not(dual)
            }
            Binary::WeakUntil => {
                let either = self.add(Form::Or(f, g));
                self.binary(Binary::Release, g, either)
            }
        }
    }
}

/// A claim about trees that is being put together.
#[derive(Default)]
struct Trees {
    list: Vec<Tree>,
}

impl Trees {
    fn add(&mut self, tree: Tree) -> usize {
        self.list.push(tree);
        self.list.len() - 1
    }

    fn constant(&mut self, value: bool) -> usize {
        let truth = self.add(Tree::True);
        if value { truth } else { self.add(Tree::Not(truth)) }
    }

    fn piece(&mut self, piece: &Piece) -> usize {
        match piece {
            Piece::Fact(fact) => self.add(Tree::State(fact.clone())),
            Piece::Taken(instances) => self.add(Tree::State(Fact::Enabled(instances.clone()))),
            Piece::Not(p) => {
                let p = self.piece(p);
                self.add(Tree::Not(p))
            }
            Piece::All(list) => list.iter().fold(self.constant(true), |all, p| {
                let p = self.piece(p);
                self.add(Tree::And(all, p))
            }),
            Piece::Any(list) => list.iter().fold(self.constant(false), |any, p| {
                let p = self.piece(p);
                self.add(Tree::Or(any, p))
            }),
        }
    }
}

/// A CTL formula in terms of some paths. The recursion is as deep as the formula, which its parser bounds.
fn early_tree(f: &Ctl, table: &mut Table<'_, Explicit>, trees: &mut Vec<EarlyTree>) -> Result<usize, Faults> {
    let mut sub = |f: &Ctl, trees: &mut Vec<EarlyTree>| early_tree(f, table, trees);
    let tree = match &f.kind {
        CtlKind::Constant(value) => EarlyTree::Constant(*value),
        CtlKind::Atom(atom) => EarlyTree::Atom(table.intern(atom, &[], f.span)?),
        CtlKind::Not(f) => EarlyTree::Not(sub(f, trees)?),
        CtlKind::And(f, g) => EarlyTree::And(sub(f, trees)?, sub(g, trees)?),
        CtlKind::Or(f, g) => EarlyTree::Or(sub(f, trees)?, sub(g, trees)?),
        CtlKind::Implies(f, g) => {
            let f = sub(f, trees)?;
            let not = put(trees, EarlyTree::Not(f));
            EarlyTree::Or(not, sub(g, trees)?)
        }
        CtlKind::Path(Quantifier::Exists, temporal) => match temporal {
            Temporal::Next(None, f) => EarlyTree::Next(None, sub(f, trees)?),
            Temporal::Next(Some(pattern), f) => {
                let f = sub(f, trees)?;
                let atom = Atom::Executed(pattern.clone());
                EarlyTree::Next(Some(table.intern(&atom, &[], pattern.operation.span)?), f)
            }
            Temporal::Finally(f) => {
                let truth = put(trees, EarlyTree::Constant(true));
                EarlyTree::Until(truth, sub(f, trees)?)
            }
            Temporal::Globally(f) => EarlyTree::Globally(sub(f, trees)?),
            Temporal::Until(f, g) => EarlyTree::Until(sub(f, trees)?, sub(g, trees)?),
        },
        // On all paths: on no path the contrary.
        CtlKind::Path(Quantifier::All, temporal) => {
            let contrary = match temporal {
                Temporal::Next(_, f) => EarlyTree::Next(None, negated(sub(f, trees)?, trees)),
                Temporal::Finally(f) => EarlyTree::Globally(negated(sub(f, trees)?, trees)),
                Temporal::Globally(f) => {
                    let truth = put(trees, EarlyTree::Constant(true));
                    EarlyTree::Until(truth, negated(sub(f, trees)?, trees))
                }
                Temporal::Until(f, g) => {
                    let (not_f, not_g) = (negated(sub(f, trees)?, trees), negated(sub(g, trees)?, trees));
                    let neither = put(trees, EarlyTree::And(not_f, not_g));
                    let left = put(trees, EarlyTree::Until(not_g, neither));
                    let never = put(trees, EarlyTree::Globally(not_g));
                    EarlyTree::Or(left, never)
                }
            };
            EarlyTree::Not(put(trees, contrary))
        }
    };
    Ok(put(trees, tree))
}

fn put(trees: &mut Vec<EarlyTree>, tree: EarlyTree) -> usize {
    trees.push(tree);
    trees.len() - 1
}

fn negated(f: usize, trees: &mut Vec<EarlyTree>) -> usize {
    put(trees, EarlyTree::Not(f))
}

/// Answers what grounding asks: only the values of quantified variables matter.
struct Grounding<'g> {
    machine: &'g Machine,
    pieces: &'g Pieces,
    budget: &'g Budget,
    events: Vec<String>,
    values: RefCell<Vec<Value>>,
}

impl Atoms for Grounding<'_> {
    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn predicate(&self, _: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Ok(Extent::known(Bits::new(1)))
    }

    fn matching(&self, _: EventId, _: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        Ok(Extent::known(Bits::new(0)))
    }

    fn change(&self, _: Change, _: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Ok(Extent::known(Bits::new(0)))
    }

    fn special(&self, _: Special, _: Span) -> Result<Extent, Faults> {
        Ok(Extent::known(Bits::new(1)))
    }

    /// The values in the initial states, where the formula is evaluated.
    fn solutions(&self, variable: &str, domain: &Text, bound: &[Bound]) -> Result<Vec<Bound>, Faults> {
        let fault = |message: String| vec![Diagnostic::error(domain.span, message)];
        let typed = self.pieces.places.get(&domain.span).expect("every piece of a formula was typed");
        let Part::Expr(set) = &typed.part else { unreachable!("a domain is typed as a set") };
        let interpreter = Interpreter::new(self.machine, self.budget);
        let cannot = |e: String| fault(format!("the values of `{variable}` cannot be computed: {e}"));
        let constants = interpreter.constants().map_err(|e| cannot(e.to_string()))?;
        let mut found: Option<Value> = None;
        for valuation in &constants.values {
            let states = interpreter.initial_states(valuation).map_err(|e| cannot(e.to_string()))?;
            for state in &states.values {
                let mut environment = Environment::new(&interpreter, valuation);
                for (v, b) in typed.bound.iter().zip(bound) {
                    environment.bind(*v, false, self.values.borrow()[b.value as usize].clone());
                }
                for (v, x) in self.machine.variables.iter().zip(state.variables.iter()) {
                    environment.bind(*v, false, x.clone());
                }
                let value =
                    interpreter.piece_value(set, &mut environment).map_err(|e| cannot(e.to_string()))?;
                if found.as_ref().is_some_and(|known| *known != value) {
                    return Err(fault(format!("`{variable}` has other values in other initial states")));
                }
                found = Some(value);
            }
        }
        super::truth::elements(self.machine, variable, set, found, &self.values).map_err(fault)
    }
}
