//! One flat machine from a machine and all it sees, uses, includes, imports and refines.
//!
//! In: the trees of a project. Out: a typed `Machine`, and the scope of the main machine for formulas.
//! Never here: files, sizes of deferred sets (that is `sets`).
//!
//! Each machine becomes one instance for each prefix it is included under; prefixed instances have
//! variables and operations of their own but share sets and constants. A machine that is seen or used
//! from several places is one instance. First all instances are declared, those referred to before those
//! that refer, then their bodies are elaborated, then the flat machine is assembled.

mod assemble;
mod bodies;
mod chain;
mod declare;
mod labels;
mod outputs;

use super::elaborate::Elaborator;
use super::project::{MachineId, Project, Relation};
use super::refinement::Refinement;
use super::scope::{Entry, ScopeId};
use super::settings::Settings;
use bombus_base::diagnostic::Sources;
use bombus_base::{Name, Span};
use bombus_lang::typed::{Machine, OpId, Pred, Stmt, VarId};
use bombus_syntax::ast;
use std::collections::HashMap;
use std::sync::Arc;

/// Index into `Composer::instances`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct InstanceId(u32);

/// One machine under one prefix.
#[derive(Debug)]
struct Instance {
    machine: MachineId,
    /// Empty, or ends with a dot.
    prefix: String,
    scope: ScopeId,
    references: Vec<(Relation, InstanceId)>,
    refines: Option<InstanceId>,
    /// Sets, elements, constants, free types that others may see.
    statics: Vec<(Name, Entry)>,
    /// Variables that others may see, by their name in this machine.
    variables: Vec<(Name, VarId, Span)>,
    /// Operations that others may call, by their name in this machine.
    operations: Vec<(Name, OpId)>,
    /// The variables this instance brings into the state.
    own: Vec<VarId>,
    /// The operations of the text, with their place in `bodies`.
    own_operations: Vec<OpId>,
}

/// A formal parameter of an included machine, and the actual one in the including machine.
#[derive(Debug)]
struct Instantiated {
    formal: VarId,
    actual: ast::Expr,
    scope: ScopeId,
}

/// What an instance says, typed.
#[derive(Debug, Default)]
struct Bodies {
    properties: Vec<Pred>,
    invariant: Vec<Pred>,
    assertions: Vec<Pred>,
    initialisation: Option<Stmt>,
}

/// The flat machine as it is animated alone, and the chain of abstractions if it refines any.
pub struct Composed {
    pub machine: Machine,
    pub refinement: Option<Refinement>,
}

pub struct Composer<'a> {
    pub elaborator: Elaborator,
    project: &'a Project,
    sources: &'a Sources,
    settings: &'a Settings,
    instances: Vec<Instance>,
    bodies: Vec<Bodies>,
    by_key: HashMap<(MachineId, String), InstanceId>,
    /// Sets and constants of each machine, shared by its instances.
    statics: HashMap<MachineId, Vec<(Name, Entry)>>,
    /// Bodies of operations, indexed by `OpId`.
    operation_bodies: Vec<Option<Stmt>>,
    /// Operations that are callable inside their machine only.
    local_operations: Vec<OpId>,
    /// Variables of refined machines that a variable of the refinement stands for.
    identified: HashMap<VarId, VarId>,
    properties_done: Vec<MachineId>,
    instantiated: Vec<Instantiated>,
    /// Deferred sets that VALUES equates with a set, and the scope in which that set is to be read.
    valued: HashMap<Name, (Arc<ast::Expr>, ScopeId)>,
    /// The scope that includes an instance, and where it says so.
    includers: HashMap<(MachineId, String), (ScopeId, Span)>,
    /// The machines that are seen or used, under which prefix, and where.
    seen: Vec<(MachineId, String, Span)>,
}

impl<'a> Composer<'a> {
    /// Flattens the project. `None` if there were errors; they stand in `elaborator.diagnostics`.
    pub fn compose(
        project: &'a Project,
        main: MachineId,
        sources: &'a Sources,
        settings: &'a Settings,
    ) -> (Elaborator, Option<Composed>, ScopeId) {
        let mut composer = Composer {
            elaborator: Elaborator::new(settings.maxint.clone(), settings.minint.clone()),
            project,
            sources,
            settings,
            instances: Vec::new(),
            bodies: Vec::new(),
            by_key: HashMap::new(),
            statics: HashMap::new(),
            operation_bodies: Vec::new(),
            local_operations: Vec::new(),
            identified: HashMap::new(),
            properties_done: Vec::new(),
            instantiated: Vec::new(),
            valued: HashMap::new(),
            includers: HashMap::new(),
            seen: Vec::new(),
        };
        let main = composer.declare(main, String::new(), None, Span::default());
        composer.seen_instances();
        composer.elaborate();
        let scope = composer.instances[main.0 as usize].scope;
        composer.elaborator.settle_pending();
        composer.elaborator.report_untyped(0);
        let composed = composer.assemble(main);
        let failed = composer.elaborator.has_errors();
        (composer.elaborator, (!failed).then_some(composed), scope)
    }

    fn instance(&self, id: InstanceId) -> &Instance {
        &self.instances[id.0 as usize]
    }
}
