//! What a text means as one machine: names, types, composition, refinement chains, sizes of sets.
//!
//! In: trees from `syntax`, of classical B, Event-B or Z. Out: a typed flat `Machine`.
//! Never here: evaluation, bits, packed states, threads.
#![forbid(unsafe_code)]

mod checks;
mod compose;
mod definitions;
mod elaborate;
pub mod eventb;
mod formula;
mod overload;
mod project;
mod records;
pub mod refinement;
mod scope;
mod sets;
mod settings;
mod settle;
#[cfg(test)]
mod tests;
mod trees;
pub mod types;
pub mod z;

pub use elaborate::IMPLEMENTED as EXTERNAL_FUNCTIONS;
pub use formula::{Formula, FormulaScope, empty_machine};
pub use settings::LoadOptions;

use bombus_base::data_files::DataFiles;
use bombus_base::diagnostic::{Diagnostic, Severity, Sources, one_for_each_cause};
use bombus_lang::typed::Machine;
use bombus_source::Reader;
use bombus_syntax::eventb::Proof;
use compose::{Composed, Composer};
use project::{Loader, MachineId, Project};
use refinement::Refinement;
use settings::Settings;
use std::path::Path;
use std::sync::Arc;

/// A model as loaded: the machine unless something is wrong, and all that was found to say.
pub struct Loaded {
    pub sources: Sources,
    pub model: Option<Model>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// All messages as a user reads them.
    pub fn messages(&self) -> String {
        self.diagnostics.iter().map(|d| self.sources.render(d)).collect()
    }
}

/// A machine, and the scope in which formulas of the user are read.
pub struct Model {
    pub machine: Machine,
    pub scope: FormulaScope,
    /// What the authors of an Event-B model proved about it; nothing is skipped because of them.
    pub proofs: Vec<Proof>,
    /// The abstractions of a classical machine, if it refines any.
    pub refinement: Option<Refinement>,
    /// What was decided when the model was read and a user may wonder about.
    pub notes: Vec<String>,
}

/// Loads a classical B machine with everything it refers to, an Event-B model, or a Z specification.
///
/// Call it on a thread with a large stack: the passes recurse as deep as the text nests.
pub fn load(path: &Path, options: &LoadOptions) -> Loaded {
    let mut loaded = load_texts(path, options);
    if let Some(model) = &mut loaded.model {
        let files = Arc::new(DataFiles::beside(path, &options.allow_files));
        if let Some(refinement) = &mut model.refinement {
            refinement.machine.files = files.clone();
        }
        model.machine.files = files;
    }
    loaded
}

fn load_texts(path: &Path, options: &LoadOptions) -> Loaded {
    if eventb::is_eventb(path) {
        return eventb::load(path, options);
    }
    if z::is_z(path) {
        return z::load(path, options);
    }
    let mut sources = Sources::default();
    let reader = Reader::new(path, &options.include).with_unsaved(&options.unsaved);
    let (project, main, diagnostics) = Loader::new(reader, &mut sources).load(path);
    finish(sources, project, main, diagnostics, options)
}

/// From the texts of a model to one typed machine.
fn finish(
    sources: Sources,
    project: Project,
    main: Option<MachineId>,
    mut diagnostics: Vec<Diagnostic>,
    options: &LoadOptions,
) -> Loaded {
    let failed = |ds: &[Diagnostic]| ds.iter().any(|d| d.severity == Severity::Error);
    let Some(main) = main.filter(|_| !failed(&diagnostics)) else {
        return Loaded { sources, model: None, diagnostics };
    };
    let settings = Settings::read(options, &project.get(main).definitions);
    let (elaborator, composed, scope) = Composer::compose(&project, main, &sources, &settings);
    diagnostics.extend(elaborator.diagnostics.iter().cloned());
    let model = composed.map(|Composed { mut machine, mut refinement }| {
        let elements = sets::size_sets(&mut machine, &settings);
        if let Some(refinement) = &mut refinement {
            sets::size_like(refinement, &machine, &elements);
        }
        let scope = FormulaScope::new(elaborator, scope, &machine, &elements);
        Model { machine, scope, proofs: Vec::new(), refinement, notes: Vec::new() }
    });
    let model = model.filter(|_| !failed(&diagnostics));
    Loaded { sources, model, diagnostics: one_for_each_cause(diagnostics) }
}
