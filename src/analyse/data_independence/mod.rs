//! Data independence: choices of integers whose values the machine only copies and tests against numbers.
//!
//! In: a machine, with every predicate that a run of it evaluates. Out: the variables for which the integers of
//! MININT..MAXINT stand for all others.
//!
//! **Slots.** Every integer inside the type of a variable is a slot: `x : INTEGER` has one, `f : NATURAL +-> INTEGER`
//! has two, one for each column. Slots between which values are copied are one class (`shape`). What looks at a value
//! does one of two things to its class: a test against a number (`x < 3`, `x : NATURAL`) *cuts* the integers there;
//! everything else (sums, `x = y`, use as an argument, anything that is not understood) makes the class *seen*. A class
//! that is not seen is opaque, and its cuts divide the integers into regions.
//!
//! **Relation.** Two states are alike if they differ only in opaque slots, and there only within a region. Sets are
//! alike in one of two ways. *Exactly*: a bijection between them pairs elements that are alike; then sizes agree, and
//! for a relation whose left column is seen, domains and the number of images of each point agree. *Loosely*: each
//! element of one is like some element of the other; then it is known that both are empty or neither, and how their
//! elements pass tests, but not how many there are. What may merge equal values (union, range, image) makes a set that
//! is loose; what asks for more than loose sets give (application, size, being a function) needs an exact one; where
//! both happen to one class of sets, the slots inside become seen, and equality is alike in every way.
//!
//! **Simulation.** Let s be a state of the machine over all integers and t a state like it, and let s make a step with
//! some values for its choices. Let t choose, for each opaque choice that is sampled, a value of MININT..MAXINT in the
//! same region, and for the others the same or, where an equation defines the choice, what that gives. By induction
//! over terms all values met on the way are alike, by induction over predicates all guards, preconditions, conditions
//! and assertions have the same truth and are defined alike, since they see only seen slots, regions, and what sets
//! that are alike agree on; so t makes the step, to a state that is like the one s reaches, or runs into the same
//! fault. The same holds the other way round. Every state that is reachable over all integers is therefore like one
//! that was found, and no invariant, assertion, goal, SCOPE, guard or deadlock tells the two apart. That needs a value
//! of the scope in every region that the guard of the choice reaches (`bounds`); otherwise nothing is claimed.
//!
//! Temporal formulas are no part of this: they may name single transitions, and a run that checks one treats what is
//! said here as a reason for doubt.

mod bounds;
mod judge;
mod shape;
mod steps;
mod terms;

use bombus_lang::typed::{Machine, Type, VarId};
use bounds::Allowed;
use judge::Known;
use shape::{Classes, Shape};
use std::collections::BTreeSet;

/// What is said of a choice whose tried values stand for the others.
pub const STAND_FOR_ALL: &str =
    "the values tried stand for all others, which are only copied and tested against numbers";

/// The choices of a machine that are opaque and have a value of the scope in every region they reach.
#[derive(Debug, Default)]
pub struct Opaque {
    vars: BTreeSet<VarId>,
}

impl Opaque {
    pub fn of(machine: &Machine) -> Opaque {
        let mut flow = Flow::new(machine);
        flow.machine();
        flow.classes.settle();
        let mut vars = BTreeSet::new();
        for (i, decl) in machine.vars.iter().enumerate() {
            let v = VarId(i as u32);
            if decl.ty == Type::Integer
                && let Shape::Int(slot) = flow.vars[i]
                && flow.classes.is_covered(slot, &flow.allowed.of(v), &machine.minint, &machine.maxint)
            {
                vars.insert(v);
            }
        }
        Opaque { vars }
    }

    /// Whether the integers of the scope stand for all values of a choice.
    pub fn contains(&self, v: VarId) -> bool {
        self.vars.contains(&v)
    }
}

/// The analysis under way.
struct Flow<'m> {
    machine: &'m Machine,
    classes: Classes,
    /// The shape of each variable, by `VarId`.
    vars: Vec<Shape>,
    /// What guards leave to each choice.
    allowed: Allowed,
    /// Constants that a property equates with a number.
    known: Known,
}

impl<'m> Flow<'m> {
    fn new(machine: &'m Machine) -> Flow<'m> {
        let mut classes = Classes::default();
        let vars = machine.vars.iter().map(|d| classes.shape(&d.ty)).collect();
        Flow { machine, classes, vars, allowed: Allowed::default(), known: Known::of(machine) }
    }

    /// The shape of a variable; one that is not the machine's is not understood.
    fn var(&mut self, v: VarId, ty: &Type) -> Shape {
        match self.vars.get(v.0 as usize) {
            Some(shape) => shape.clone(),
            None => self.classes.seen_shape(ty),
        }
    }

    /// Several variables as the left-nested tuple they stand for.
    fn tuple(&mut self, vars: &[VarId]) -> Shape {
        let mut shapes = vars.iter().map(|v| self.vars.get(v.0 as usize).cloned().unwrap_or(Shape::Plain));
        let first = shapes.next().unwrap_or(Shape::Plain);
        shapes.fold(first, Shape::pair)
    }
}
