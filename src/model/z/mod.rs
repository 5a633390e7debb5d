//! Z to a typed machine: types, the schema calculus, the state machine of ProZ.
//!
//! In: the tree of a specification. Out: the same `Machine` that classical B and Event-B become, so that everything
//! behind it serves Z as well; only names such as `x'`, `in?`, `out!` tell where the machine comes from.
//! Never here: LaTeX, evaluation.

mod bags;
mod compact;
pub mod copy;
mod elaborate;
mod expressions;
mod functions;
mod library;
mod machine;
mod names;
mod paragraphs;
mod predicates;
mod recursion;
mod references;
mod relations;
mod schema;
mod steps;
mod types;

use super::definitions::Definitions;
use super::elaborate::Elaborator;
use super::scope::{Access, Entity, Entry, Scope, ScopeId};
use super::settings::Settings;
use super::{FormulaScope, LoadOptions, Loaded, Model, sets};
use bombus_base::Name;
use bombus_base::diagnostic::{Diagnostic, Severity, Sources};
use bombus_lang::typed::{FreeId, Machine, SetId};
use bombus_source::Reader;
use bombus_syntax::z::{parse, tree::Spec};
use elaborate::Elaboration;
use machine::{Lowered, Lowering};
use paragraphs::value_definitions;
use std::path::Path;

/// Whether the path names a Z specification.
pub fn is_z(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    matches!(extension.as_str(), "tex" | "zed") && !path.is_dir()
}

pub fn load(path: &Path, options: &LoadOptions) -> Loaded {
    let mut sources = Sources::default();
    let file =
        match Reader::new(path, &options.include).with_unsaved(&options.unsaved).read(path, &mut sources) {
            Ok(file) => file,
            Err(d) => return Loaded { sources, model: None, diagnostics: vec![d] },
        };
    let text = sources.get(file).text.clone();
    let parsed = parse(file, &text);
    let mut diagnostics = parsed.diagnostics;
    let name: Name = path.file_stem().map_or_else(Name::default, |s| s.to_string_lossy().as_ref().into());
    let lowered = parsed.tree.and_then(|spec| lower(&spec, &name, options, &sources, &mut diagnostics));
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    let model = lowered.filter(|_| !failed).map(|(mut machine, notes, settings)| {
        let scope = formula_scope(&machine);
        let elements = sets::size_sets(&mut machine, &settings);
        let mut elaborator = Elaborator::new(settings.maxint.clone(), settings.minint.clone());
        elaborator.scopes.push(scope);
        let scope = FormulaScope::new(elaborator, ScopeId(0), &machine, &elements);
        Model { machine, scope, proofs: Vec::new(), refinement: None, notes }
    });
    Loaded { sources, model, diagnostics }
}

fn lower(
    spec: &Spec,
    name: &Name,
    options: &LoadOptions,
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Machine, Vec<String>, Settings)> {
    let settings = Settings::read(options, &Definitions::default());
    let mut found = Vec::new();
    let values = value_definitions(spec, &mut found);
    let mut elaboration = Elaboration::new();
    elaboration.diagnostics = found;
    let properties = elaboration.specification(spec, &values);
    let lowered = if elaboration.has_errors() {
        None
    } else {
        let lowering = Lowering {
            elaboration: &mut elaboration,
            spec,
            sources,
            name: name.clone(),
            wanted: &options.operations,
        };
        lowering.lower(properties, &settings)
    };
    if lowered.is_none() && !elaboration.has_errors() {
        elaboration.error(Diagnostic::plain("the specification has no state machine"));
    }
    diagnostics.append(&mut elaboration.diagnostics);
    let Lowered { mut machine, notes } = lowered?;
    compact::compact(&mut machine);
    Some((machine, notes, settings))
}

/// The names that formulas of the user can use.
fn formula_scope(machine: &Machine) -> Scope {
    let mut scope = Scope::default();
    let mut put = |name: &Name, entity: Entity, span| {
        let _ =
            scope.declare(name, Entry { entity, access: Access::Read("a name of the specification"), span });
    };
    for (i, set) in machine.sets.iter().enumerate() {
        let id = SetId(i as u32);
        put(&set.name, Entity::Set(id), set.span);
        for (n, element) in set.elems.iter().enumerate() {
            put(element, Entity::Elem(id, n as u32), set.span);
        }
    }
    for (i, free) in machine.freetypes.iter().enumerate() {
        let id = FreeId(i as u32);
        put(&free.name, Entity::Free(id), Default::default());
        for (n, (constructor, _)) in free.constructors.iter().enumerate() {
            put(constructor, Entity::Constructor(id, n as u32), Default::default());
        }
    }
    for var in machine.constants.iter().chain(&machine.variables) {
        let decl = machine.var(*var);
        put(&decl.name, Entity::Var(*var), decl.span);
    }
    scope
}
