//! Which sets are symmetric: whose elements a model cannot tell apart, and why others are not.
//!
//! In: the machine. Out: for each set its standing, and the group of permutations that act on states.
//! Never here: states.
//!
//! Theorem 1 of the symmetry markers needs that transitions and checked predicates are built from
//! operators that commute with permutations. All operators of B do. What tells elements apart is
//! only: an element that a formula names (it is kept in its place, the others stay interchangeable),
//! and a function of the tool that sees the order or the name of elements (its sets are left out).
//! PROPERTIES do not matter: constants are part of the permuted state, so whatever distinguishes
//! elements by way of a constant distinguishes them in the state.

use bombus_analyse::distinguishable::Apart;
pub use bombus_analyse::distinguishable::sets_of;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{External, Machine, Pred, SetId, SetKind, SizeOrigin, Type};
use bombus_lang::walk::{visit_expr, visit_pred, visit_stmt};
use std::collections::BTreeSet;

/// What a set is to a symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its elements are interchangeable, those that are `named` excepted.
    Symmetric { named: BTreeSet<u32> },
    /// Its elements are told apart, for this reason.
    Apart(String),
}

/// The standing of every set of a machine, indexed by `SetId`. What is `asked` of its states counts like
/// its invariant.
pub fn standings(machine: &Machine, asked: &[Pred]) -> Vec<Standing> {
    let mut seen = Apart::new(machine);
    visit_stmt(&machine.initialisation, &mut seen);
    for op in &machine.operations {
        visit_stmt(&op.body, &mut seen);
    }
    for clause in machine.invariant.iter().chain(&machine.assertions) {
        visit_pred(&clause.pred, &mut seen);
    }
    for p in machine.goal.iter().chain(&machine.scope).chain(asked) {
        visit_pred(p, &mut seen);
    }
    for domain in machine.freetypes.iter().flat_map(|f| &f.domains).flatten() {
        visit_expr(domain, &mut seen);
    }
    let Apart { named, shown, .. } = seen;
    let mut in_properties = Apart::new(machine);
    machine.properties.iter().for_each(|c| visit_pred(&c.pred, &mut in_properties));
    (0..machine.sets.len() as u32)
        .map(|s| {
            let (id, set) = (SetId(s), machine.set(SetId(s)));
            if let Some(external) = shown.get(&id) {
                return Standing::Apart(told_apart_by(external));
            }
            let named = named.get(&id).filter(|_| !fault("symmetry: named elements are renamed"));
            let named = named.cloned().unwrap_or_default();
            // An enumerated set has names for a reason, unless nothing ever uses one. To tell only the named elements
            // apart would be sound too; the counts of the literature are those of deferred sets alone.
            if set.kind == SetKind::Enumerated && (!named.is_empty() || in_properties.named.contains_key(&id))
            {
                return Standing::Apart("enumerated, and its elements are named in the model".into());
            }
            if set.origin == SizeOrigin::Values {
                return Standing::Apart("VALUES gives it a value".into());
            }
            if set.elems.len() - named.len() < 2 {
                let why = if set.elems.len() < 2 { "it has one element" } else { "its elements are named" };
                return Standing::Apart(why.into());
            }
            Standing::Symmetric { named }
        })
        .collect()
}

pub fn told_apart_by(external: &External) -> String {
    format!("{} may tell its elements apart", external.name)
}

/// Whether a value of a type may say something of several interchangeable elements at once. If no
/// constant and no variable does, markers are exact (Proposition 2 of the symmetry markers, with
/// whole values in the place of NonSym ones).
pub fn relates(machine: &Machine, group: &Group, ty: &Type) -> bool {
    fn leaves(machine: &Machine, group: &Group, ty: &Type) -> usize {
        match ty {
            Type::Set(s) => usize::from(group.is_symmetric(*s)),
            Type::Prod(a, b) => leaves(machine, group, a) + leaves(machine, group, b),
            Type::Struct(fields) => fields.iter().map(|(_, t)| leaves(machine, group, t)).sum(),
            // A set inside a set, or a tree: nothing is promised if an element stands in it.
            _ if sets_of(machine, ty).iter().any(|s| group.is_symmetric(*s)) => 2,
            _ => 0,
        }
    }
    match ty {
        Type::Pow(t) => leaves(machine, group, t) > 1,
        Type::Prod(a, b) => relates(machine, group, a) || relates(machine, group, b),
        Type::Struct(fields) => fields.iter().any(|(_, t)| relates(machine, group, t)),
        _ => leaves(machine, group, ty) > 1,
    }
}

/// An interchangeable element, numbered over all symmetric sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub set: SetId,
    /// Its number in the set.
    pub number: u16,
}

/// All permutations of the interchangeable elements within their sets.
#[derive(Clone, Debug)]
pub struct Group {
    /// In the order of sets and numbers.
    pub elements: Vec<Element>,
    /// By set and number: where the element stands in `elements`.
    places: Vec<Vec<Option<u16>>>,
    /// Ranges of `elements`, one for each symmetric set.
    pub ranges: Vec<std::ops::Range<usize>>,
}

impl Group {
    pub fn new(machine: &Machine, standings: &[Standing]) -> Group {
        Group::of(&machine.sets.iter().map(|s| s.elems.len()).collect::<Vec<_>>(), standings)
    }

    /// The group of sets of these sizes.
    pub fn of(sizes: &[usize], standings: &[Standing]) -> Group {
        let mut group = Group { elements: Vec::new(), places: Vec::new(), ranges: Vec::new() };
        for (s, (size, standing)) in sizes.iter().zip(standings).enumerate() {
            let mut places = vec![None; *size];
            // Larger sets have no place in 16 bits; what is left out is only not reduced.
            let room = group.elements.len() + size < usize::from(u16::MAX);
            if let (Standing::Symmetric { named }, true) = (standing, room) {
                let first = group.elements.len();
                for (n, place) in places.iter_mut().enumerate().filter(|(n, _)| !named.contains(&(*n as u32)))
                {
                    *place = Some(group.elements.len() as u16);
                    group.elements.push(Element { set: SetId(s as u32), number: n as u16 });
                }
                group.ranges.push(first..group.elements.len());
            }
            group.places.push(places);
        }
        group
    }

    pub fn is_trivial(&self) -> bool {
        self.elements.is_empty()
    }

    /// Where an element stands among the interchangeable ones.
    #[inline]
    pub fn place(&self, set: SetId, number: u32) -> Option<u16> {
        self.places[set.0 as usize].get(number as usize).copied().flatten()
    }

    pub fn is_symmetric(&self, set: SetId) -> bool {
        self.places[set.0 as usize].iter().any(Option::is_some)
    }

    /// How many permutations there are.
    pub fn order(&self) -> f64 {
        self.ranges.iter().flat_map(|r| 1..=r.len()).map(|n| n as f64).product()
    }
}

/// The numbers that elements get, by their places in the group.
pub type Permutation = [u16];

/// Sets the numbers of the elements of `order`, all of one set, to those of `range` one after the other.
pub fn number_in_order(
    group: &Group,
    range: std::ops::Range<usize>,
    order: &[u16],
    numbers: &mut Permutation,
) {
    for (place, element) in range.zip(order) {
        numbers[*element as usize] = group.elements[place].number;
    }
}
