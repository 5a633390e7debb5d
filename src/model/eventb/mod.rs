//! Event-B to one flat machine: contexts and all levels of a refinement chain animated together.
//!
//! In: a `Project` of components. Out: the tree of one classical machine whose variables are those of
//! all levels, whose properties are the axioms and whose operations are the events of the most concrete
//! machine; the front end of classical B types it. Formulas keep their places, so messages
//! and findings still name the component and label they come from.
//! Never here: types, sizes of carrier sets, evaluation.

mod actions;
pub mod carriers;
pub mod chain;
mod datatypes;
mod definedness;
mod forms;
mod load;
pub mod lockstep;
mod theories;
mod variants;

use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_syntax::ast::{self, BinOp, ClauseKind, Expr, ExprKind, Ident, MachineKind, Stmt, StmtKind};
use bombus_syntax::eventb::names::{for_each_expr, free};
use bombus_syntax::eventb::{Action, Formula, INITIALISATION, Machine, Project};
use chain::{Chain, each_formula};
use datatypes::Datatypes;
use lockstep::{Lockstep, conjunction, node};
use std::collections::BTreeSet;

pub use load::{components, is_eventb, load};

#[derive(Clone, Debug)]
pub struct Options {
    /// How many abstractions are animated with the machine; all when `None`.
    pub abstract_levels: Option<usize>,
    /// Evaluate the theorems among the guards.
    pub theorem_guards: bool,
    /// Hold convergent and anticipated events to the variant.
    pub variants: bool,
    /// Datatypes of theories forget what their arguments are.
    pub generic: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { abstract_levels: None, theorem_guards: true, variants: false, generic: false }
    }
}

/// One machine that behaves as the chain does.
#[derive(Clone, Debug)]
pub struct Flat {
    pub machine: ast::Machine,
    /// Invariants that are not checked because a level they speak of is not animated.
    pub unchecked: Vec<String>,
    /// What was decided on the way and belongs to the scope of a verdict.
    pub notes: Vec<String>,
}

pub fn flatten(project: &Project, options: &Options) -> Result<Flat, Vec<Diagnostic>> {
    let mut chain = chain::chain(project, options.abstract_levels)?;
    let carriers = chain.contexts.iter().flat_map(|c| &c.sets).map(|s| s.name.clone()).collect();
    let datatypes = Datatypes::new(&project.theories, carriers, options.generic);
    each_formula(&mut chain, &mut |e| {
        forms::shorten(e);
        datatypes.settle_sets(e);
    });
    let mut definitions = definedness::demand(&mut chain, theories::operators(&project.theories));
    let extension = theories::extension(&project.theories, &datatypes, &used_names(&chain))?;
    definitions.extend(extension.definitions);
    let deterministic = |a: &Action| matches!(a.stmt.kind, StmtKind::Assign(..));
    let mut of_all_levels = chain.levels.iter().flat_map(|l| &l.events);
    if of_all_levels.any(|e| !e.witnesses.is_empty() || !e.actions.iter().all(deterministic)) {
        definitions.extend(actions::same_type());
    }
    let name = match (chain.levels.first(), chain.contexts.last()) {
        (Some(machine), _) => machine.name.clone(),
        (None, Some(context)) => context.name.clone(),
        (None, None) => return Err(vec![Diagnostic::plain("the project holds no machine and no context")]),
    };
    let span = chain.levels.first().map_or_else(Span::default, |m| m.span);
    let mut flat = Flat {
        machine: ast::Machine {
            kind: MachineKind::Machine,
            name: Ident { name, span },
            params: Vec::new(),
            refines: None,
            clauses: Vec::new(),
            packages: Vec::new(),
            span,
        },
        unchecked: Vec::new(),
        notes: Vec::new(),
    };
    if !chain.left_out.is_empty() {
        let names: Vec<&str> = chain.left_out.iter().map(AsRef::as_ref).collect();
        flat.notes.push(format!("not animated, so that refining them is not checked: {}", names.join(", ")));
    }
    let mut assertions = Vec::new();
    if !extension.free_types.is_empty() {
        add(&mut flat, ClauseKind::Freetypes(extension.free_types));
    }
    constants(&chain, &mut flat, &mut assertions, extension.functions);
    variables(&chain, &mut flat, &mut assertions)?;
    if !assertions.is_empty() {
        add(&mut flat, ClauseKind::Assertions(assertions));
    }
    events(&chain, options, &mut flat)?;
    if !definitions.is_empty() {
        add(&mut flat, ClauseKind::Definitions(definitions));
    }
    Ok(flat)
}

/// Every name that a formula of the chain uses freely.
fn used_names(chain: &Chain) -> BTreeSet<Name> {
    let mut used = BTreeSet::new();
    for axiom in chain.contexts.iter().flat_map(|c| &c.axioms) {
        used.extend(free(&axiom.expr));
    }
    for level in &chain.levels {
        for formula in level.invariants.iter().chain(&level.variants) {
            used.extend(free(&formula.expr));
        }
        for event in &level.events {
            for formula in event.guards.iter().chain(&event.witnesses) {
                used.extend(free(&formula.expr));
            }
            for action in &event.actions {
                for_each_expr(&mut action.stmt.clone(), &mut |e| used.extend(free(e)));
            }
        }
    }
    used
}

fn add(flat: &mut Flat, kind: ClauseKind) {
    let span = flat.machine.span;
    flat.machine.clauses.push(ast::Clause { kind, span });
}

/// The predicate under its label.
fn labelled(formula: &Formula) -> Expr {
    node(ExprKind::Label(formula.label.clone(), Box::new(formula.expr.clone())), formula.expr.span)
}

fn constants(chain: &Chain, flat: &mut Flat, assertions: &mut Vec<Expr>, functions: Vec<(Name, Expr)>) {
    let sets: Vec<Ident> = chain.contexts.iter().flat_map(|c| c.sets.clone()).collect();
    let names: Vec<Ident> = chain.contexts.iter().flat_map(|c| c.constants.clone()).collect();
    let all = || chain.contexts.iter().flat_map(|c| &c.axioms);
    assertions.extend(all().filter(|a| a.theorem).map(labelled));
    let axioms: Vec<&Formula> = all().filter(|a| !a.theorem).collect();
    let trees: Vec<Expr> = axioms.iter().map(|a| a.expr.clone()).collect();
    let mut settled = carriers::settle(&sets, &names, &trees);
    flat.notes.extend(settled.instantiated);
    if !settled.sets.is_empty() {
        add(flat, ClauseKind::Sets(settled.sets));
    }
    settled
        .constants
        .extend(functions.iter().map(|(name, value)| Ident { name: name.clone(), span: value.span }));
    if !settled.constants.is_empty() {
        add(flat, ClauseKind::Constants(settled.constants));
    }
    let lengths = carriers::lengths(&trees);
    let mut properties: Vec<Expr> = functions
        .into_iter()
        .map(|(name, value)| {
            let span = value.span;
            let equation = lockstep::binary(BinOp::Equal, lockstep::ident(&name, span), value);
            node(ExprKind::Label(name, Box::new(equation)), span)
        })
        .collect();
    properties.extend(
        axioms
            .iter()
            .zip(settled.axioms)
            .filter_map(|(axiom, expr)| Some(labelled(&Formula { expr: expr?, ..(*axiom).clone() }))),
    );
    properties.extend(lengths);
    if !properties.is_empty() {
        let span = properties[0].span;
        add(flat, ClauseKind::Properties(conjunction(properties, span)));
    }
}

/// The variables of all levels, each once, those of the checked machine first.
fn all_variables(levels: &[Machine]) -> Vec<Ident> {
    let mut seen = BTreeSet::new();
    levels.iter().flat_map(|l| &l.variables).filter(|v| seen.insert(v.name.clone())).cloned().collect()
}

fn variables(chain: &Chain, flat: &mut Flat, assertions: &mut Vec<Expr>) -> Result<(), Vec<Diagnostic>> {
    let variables = all_variables(&chain.levels);
    let animated: BTreeSet<&Name> = variables.iter().map(|v| &v.name).collect();
    let dropped: BTreeSet<Name> = chain.hidden.iter().filter(|v| !animated.contains(v)).cloned().collect();
    let mut invariants = Vec::new();
    for level in chain.levels.iter().rev() {
        for invariant in &level.invariants {
            if !free(&invariant.expr).is_disjoint(&dropped) {
                flat.unchecked.push(format!("{} / {}", level.name, invariant.label));
            } else if invariant.theorem {
                assertions.push(labelled(invariant));
            } else {
                invariants.push(labelled(invariant));
            }
        }
    }
    if !variables.is_empty() {
        add(flat, ClauseKind::Variables(variables));
    }
    if !invariants.is_empty() {
        let span = invariants[0].span;
        add(flat, ClauseKind::Invariant(conjunction(invariants, span)));
    }
    Ok(())
}

fn events(chain: &Chain, options: &Options, flat: &mut Flat) -> Result<(), Vec<Diagnostic>> {
    let lockstep = Lockstep::new(&chain.levels, options.theorem_guards, options.variants);
    let mut initialisation = Stmt { kind: StmtKind::Skip, span: flat.machine.span };
    let mut operations = Vec::new();
    if let Some(machine) = chain.levels.first() {
        for event in &machine.events {
            let body = lockstep.event(event);
            if event.name.as_ref() == INITIALISATION {
                initialisation = body;
                continue;
            }
            operations.push(ast::Operation {
                name: Ident { name: event.name.clone(), span: event.span },
                results: Vec::new(),
                params: event.params.clone(),
                refines: None,
                body,
            });
        }
    }
    add(flat, ClauseKind::Initialisation(initialisation));
    if !operations.is_empty() {
        add(flat, ClauseKind::Operations(operations));
    }
    Ok(())
}
