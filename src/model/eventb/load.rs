//! Event-B files to a typed machine.
//!
//! In: the path of a package and the options of a run. Out: what `model::load` gives for classical B.
//! Never here: the notations themselves (`syntax::eventb`), the meaning of refinement (`lockstep`).

use super::{Options, flatten};
use crate::base::Name;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::model::definitions::Definitions;
use crate::model::project::{LoadedMachine, MachineId, Project};
use crate::model::{LoadOptions, Loaded, finish};
use crate::source::Reader;
use crate::syntax::ast::{ClauseKind, DefItem};
use crate::syntax::eventb::{self, package};
use std::path::Path;
use std::sync::Arc;

/// Whether the path names an Event-B model rather than a classical one.
pub fn is_eventb(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("eventb"))
}

pub fn load(path: &Path, options: &LoadOptions) -> Loaded {
    let mut sources = Sources::default();
    match components(path, options, &mut sources) {
        Ok(project) => type_project(sources, &project, options),
        Err(diagnostics) => Loaded { sources, model: None, diagnostics },
    }
}

fn components(
    path: &Path,
    options: &LoadOptions,
    sources: &mut Sources,
) -> Result<eventb::Project, Vec<Diagnostic>> {
    let file = Reader::new(path, &options.include).read(path, sources).map_err(|d| vec![d])?;
    package::read(sources, file)
}

/// Types a project whose first machine is the one to check.
pub fn type_project(sources: Sources, project: &eventb::Project, options: &LoadOptions) -> Loaded {
    let settings = Options { abstract_levels: options.abstract_levels, ..Options::default() };
    let flat = match flatten(project, &settings) {
        Ok(flat) => flat,
        Err(diagnostics) => return Loaded { sources, model: None, diagnostics },
    };
    let mut diagnostics = Vec::new();
    let mut definitions = Definitions::default();
    for clause in &flat.machine.clauses {
        let ClauseKind::Definitions(items) = &clause.kind else { continue };
        for item in items {
            if let DefItem::Def(def) = item
                && let Err(d) = definitions.add(def.clone())
            {
                diagnostics.push(d);
            }
        }
    }
    let machine = LoadedMachine {
        tree: flat.machine,
        definitions: Arc::new(definitions),
        references: Vec::new(),
        refines: None,
    };
    let project = Project { machines: vec![machine] };
    let mut loaded = finish(sources, project, Some(MachineId(0)), diagnostics, options);
    if let Some(model) = &mut loaded.model {
        model.machine.unchecked.extend(flat.unchecked);
        // Each formula has a text of its own whose name says where it comes from.
        let machine = &mut model.machine;
        for clause in machine.properties.iter_mut().chain(&mut machine.invariant).chain(&mut machine.assertions) {
            let file = clause.pred.span.file;
            let name = &loaded.sources.get(file).name;
            if let Some((component, _)) = name.split_once(" / ") {
                clause.origin = Name::from(component);
            }
        }
    }
    loaded
}
