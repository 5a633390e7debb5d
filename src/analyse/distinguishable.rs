//! Which elements of sets formulas can tell apart: by their names, or by functions of the tool that see an order.
//!
//! In: typed formulas. Out: sets and elements. Everything of B itself commutes with permutations of a deferred
//! set; whoever takes its elements for interchangeable asks here where that ends.

use bombus_lang::typed::{Expr, ExprKind, External, FreeId, Machine, SetId, Type};
use bombus_lang::walk::{Visit, visit_machine};
use std::collections::{BTreeMap, BTreeSet};

/// Functions of the tool whose value for renamed arguments is the renamed value: they pass an argument on, or are
/// defined by equality alone. All others may look at the order or the names of elements.
const BLIND: &[&str] = &[
    "ASSERT_EXPR",
    "ASSERT_TRUE",
    "AS_FUNCTION",
    "AS_NATURAL",
    "CLOSURE1",
    "COPY",
    "ENUMERATE",
    "FORCE",
    "IDENTITY",
    "MEMO",
    "MEMOIZE",
    "MU",
    "MU_WITH_DEFAULT",
    "REC",
    "REC_LET",
    "SCCS",
    "SYMBOLIC",
];

/// What formulas say of single elements.
pub struct Apart<'m> {
    machine: &'m Machine,
    /// Elements that stand in a formula.
    pub named: BTreeMap<SetId, BTreeSet<u32>>,
    /// Sets whose elements a function of the tool may tell apart, and its name.
    pub shown: BTreeMap<SetId, External>,
}

impl<'m> Apart<'m> {
    pub fn new(machine: &'m Machine) -> Apart<'m> {
        Apart { machine, named: BTreeMap::new(), shown: BTreeMap::new() }
    }

    fn show<'e>(&mut self, external: &External, all: impl Iterator<Item = &'e Expr>) {
        if BLIND.contains(&&*external.name) {
            return;
        }
        for set in all.flat_map(|e| sets_of(self.machine, &e.ty)) {
            self.shown.entry(set).or_insert_with(|| external.clone());
        }
    }
}

impl Visit for Apart<'_> {
    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Elem(set, number) => {
                self.named.entry(*set).or_default().insert(*number);
            }
            ExprKind::External(external, args) => self.show(external, args.iter().chain([e])),
            _ => {}
        }
    }

    fn external(&mut self, external: &External, args: &[Expr]) {
        self.show(external, args.iter());
    }
}

/// Sets whose elements some function that the machine calls may tell apart.
pub fn shown_sets(machine: &Machine) -> BTreeSet<SetId> {
    let mut apart = Apart::new(machine);
    visit_machine(machine, &mut apart);
    apart.shown.into_keys().collect()
}

/// The sets whose elements may stand in a value of a type.
pub fn sets_of(machine: &Machine, ty: &Type) -> BTreeSet<SetId> {
    fn collect(machine: &Machine, ty: &Type, seen: &mut BTreeSet<FreeId>, out: &mut BTreeSet<SetId>) {
        match ty {
            Type::Integer | Type::Bool | Type::String | Type::Real | Type::Any => {}
            Type::Set(s) => {
                out.insert(*s);
            }
            Type::Free(f) => {
                if seen.insert(*f) {
                    for (_, argument) in &machine.freetypes[f.0 as usize].constructors {
                        argument.iter().for_each(|t| collect(machine, t, seen, out));
                    }
                }
            }
            Type::Pow(t) => collect(machine, t, seen, out),
            Type::Prod(a, b) => {
                collect(machine, a, seen, out);
                collect(machine, b, seen, out);
            }
            Type::Struct(fields) => fields.iter().for_each(|(_, t)| collect(machine, t, seen, out)),
        }
    }
    let mut out = BTreeSet::new();
    collect(machine, ty, &mut BTreeSet::new(), &mut out);
    out
}
