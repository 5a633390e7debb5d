//! Event-B files to a typed machine.
//!
//! In: a path and the options of a run. Out: what `model::load` gives for classical B.
//! Never here: the notations themselves (`syntax::eventb`), the meaning of refinement (`lockstep`).

use super::{Options, flatten};
use crate::definitions::Definitions;
use crate::project::{LoadedMachine, MachineId, Project};
use crate::{LoadOptions, Loaded, finish};
use bombus_base::diagnostic::{Diagnostic, Severity, Sources};
use bombus_base::{FileId, Name, Span};
use bombus_lang::typed;
use bombus_lang::typed::{OWN, VarKind};
use bombus_lang::walk::{Visit, visit_pred, visit_stmt};
use bombus_source::project::{ComponentFile, ProjectFiles, read_project};
use bombus_source::{Found, Reader};
use bombus_syntax::ast::{ClauseKind, DefItem};
use bombus_syntax::eventb::rodin::{self, Component, InternalNames};
use bombus_syntax::eventb::{self, Context, Machine, camille, package, proofs, rodin_theory};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Whether the path names an Event-B model rather than a classical one.
pub fn is_eventb(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    matches!(extension.as_str(), "eventb" | "bum" | "buc" | "bcm" | "bcc" | "zip") || path.is_dir()
}

pub fn load(path: &Path, options: &LoadOptions) -> Loaded {
    let mut sources = Sources::default();
    match components(path, options, &mut sources) {
        Ok(project) => type_project(sources, &project, options),
        Err(diagnostics) => Loaded { sources, model: None, diagnostics },
    }
}

/// Reads all components; the machine to check comes first.
pub fn components(
    path: &Path,
    options: &LoadOptions,
    sources: &mut Sources,
) -> Result<eventb::Project, Vec<Diagnostic>> {
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("eventb")) && !path.is_dir() {
        let file = Reader::new(path, &options.include).read(path, sources).map_err(|d| vec![d])?;
        if camille::is_camille(&sources.get(file).text) {
            return text_project(path, file, options, sources);
        }
        let mut project = package::read(sources, file)?;
        if let Some(name) = &options.machine {
            choose(&mut project, Some(name))?;
        }
        return Ok(project);
    }
    let files = read_project(path, options.machine.as_deref(), sources).map_err(|d| vec![d])?;
    let mut project = rodin_project(&files, sources)?;
    choose(&mut project, files.chosen.as_deref())?;
    Ok(project)
}

/// Components in plain text: those of the file itself, and those it needs from files beside it, which
/// are named after them.
fn text_project(
    path: &Path,
    file: FileId,
    options: &LoadOptions,
    sources: &mut Sources,
) -> Result<eventb::Project, Vec<Diagnostic>> {
    let mut project = camille::read(sources, file)?;
    let mut reader = Reader::new(path, &options.include);
    let mut asked: BTreeSet<Name> = BTreeSet::new();
    let own: Vec<Name> = project.machines.iter().map(|m| m.name.clone()).collect();
    loop {
        let machines = project.machines.iter().filter_map(|m| m.refines.as_ref());
        let contexts = project.machines.iter().flat_map(|m| &m.sees);
        let extended = project.contexts.iter().flat_map(|c| &c.extends);
        let needed: Vec<Name> = machines.chain(contexts).chain(extended).map(|i| i.name.clone()).collect();
        let has = |name: &Name| {
            project.machines.iter().any(|m| m.name == *name)
                || project.contexts.iter().any(|c| c.name == *name)
        };
        let Some(missing) = needed.into_iter().find(|n| !has(n) && !asked.contains(n)) else { break };
        asked.insert(missing.clone());
        let Found::File(found) = reader.find(Some(path), &[format!("{missing}.eventb")]) else { continue };
        let id = reader.read(&found, sources).map_err(|d| vec![d])?;
        if camille::is_camille(&sources.get(id).text) {
            let more = camille::read(sources, id)?;
            project.machines.extend(more.machines);
            project.contexts.extend(more.contexts);
        }
    }
    match &options.machine {
        Some(name) => choose(&mut project, Some(name))?,
        // The machine the user wrote in this file is the one to check, whatever refines it elsewhere.
        None if own.len() == 1 => choose(&mut project, own.first().map(AsRef::as_ref))?,
        None => choose(&mut project, None)?,
    }
    Ok(project)
}

/// All components of a Rodin project, in the order of their names.
fn rodin_project(files: &ProjectFiles, sources: &mut Sources) -> Result<eventb::Project, Vec<Diagnostic>> {
    let mut project = eventb::Project::default();
    let mut errors = Vec::new();
    let has =
        |name: &str, extension: &str| files.files.iter().any(|f| f.name == name && f.extension == extension);
    let mut internal: BTreeMap<Name, InternalNames> = BTreeMap::new();
    let mut checked: Vec<&ComponentFile> = Vec::new();
    for file in &files.files {
        match file.extension.as_str() {
            "bum" | "buc" => {}
            "bcm" if !has(&file.name, "bum") => checked.push(file),
            "bcc" if !has(&file.name, "buc") => {}
            _ => continue,
        }
        match rodin::read(sources, file.file, &file.name) {
            Ok(Component::Context(context)) if file.is_machine() => {
                errors.push(misplaced(&context.name, "context", file, context.span));
            }
            Ok(Component::Machine(machine, _)) if !file.is_machine() => {
                errors.push(misplaced(&machine.name, "machine", file, machine.span));
            }
            Ok(Component::Context(context)) => project.contexts.push(context),
            Ok(Component::Machine(machine, names)) => {
                internal.insert(machine.name.clone(), names);
                project.machines.push(machine);
            }
            Err(found) => errors.extend(found),
        }
    }
    for file in checked {
        match rodin::internal_contexts(sources, file.file, &file.name) {
            Ok(contexts) => {
                for context in contexts {
                    if !project.contexts.iter().any(|c| c.name == context.name) {
                        project.contexts.push(context);
                    }
                }
            }
            Err(found) => errors.extend(found),
        }
    }
    resolve_handles(&mut project, &internal);
    read_theories(files, sources, &mut project, &mut errors);
    for file in files.files.iter().filter(|f| f.extension == "bps") {
        let obligations = files.files.iter().find(|f| f.extension == "bpo" && f.name == file.name);
        // A damaged status file says nothing about the model; its proofs are not believed.
        if let Ok(found) = proofs::read(sources, &file.name, file.file, obligations.map(|f| f.file)) {
            project.proofs.extend(found);
        }
    }
    if errors.is_empty() { Ok(project) } else { Err(errors) }
}

fn misplaced(name: &Name, what: &str, file: &ComponentFile, at: Span) -> Diagnostic {
    let expected = if file.is_machine() { "machine" } else { "context" };
    Diagnostic::error(at, format!("{name}.{} holds a {what}, not a {expected}", file.extension))
}

/// The theories of the project, deployed ones first: these are what its formulas were checked with.
fn read_theories(
    files: &ProjectFiles,
    sources: &mut Sources,
    project: &mut eventb::Project,
    errors: &mut Vec<Diagnostic>,
) {
    for extension in ["dtf", "tuf"] {
        for file in files.files.iter().filter(|f| f.extension == extension) {
            if project.theories.iter().any(|t| *t.name == *file.name) {
                continue;
            }
            match rodin_theory::read(sources, file.file, &file.name) {
                Ok(theory) => project.theories.push(theory),
                Err(found) => errors.extend(found),
            }
        }
    }
    for file in files.files.iter().filter(|f| f.extension == "tul") {
        match rodin_theory::available(sources, file.file) {
            Ok(names) => {
                let missing = |n: &Name| !project.theories.iter().any(|t| t.name == *n);
                project.missing_theories.extend(names.into_iter().filter(missing));
            }
            Err(found) => errors.push(found),
        }
    }
}

/// Checked machines name the events they refine by internal names of the abstraction.
fn resolve_handles(project: &mut eventb::Project, internal: &BTreeMap<Name, InternalNames>) {
    for machine in &mut project.machines {
        let Some(names) = machine.refines.as_ref().and_then(|of| internal.get(&of.name)) else { continue };
        for refined in machine.events.iter_mut().flat_map(|e| &mut e.refines) {
            if let Some(label) = names.get(refined.name.as_ref()) {
                refined.name = label.clone();
            }
        }
    }
}

/// Puts the component to check first: the one the user named, or else the most refined machine.
fn choose(project: &mut eventb::Project, wanted: Option<&str>) -> Result<(), Vec<Diagnostic>> {
    let front = |machines: &mut Vec<Machine>, i: usize| machines[..=i].rotate_right(1);
    if let Some(name) = wanted {
        if let Some(i) = project.machines.iter().position(|m| m.name.as_ref() == name) {
            front(&mut project.machines, i);
            return Ok(());
        }
        if let Some(i) = project.contexts.iter().position(|c| c.name.as_ref() == name) {
            project.machines.clear();
            project.contexts[..=i].rotate_right(1);
            return Ok(());
        }
        let all = project.machines.iter().map(|m| &m.name).chain(project.contexts.iter().map(|c| &c.name));
        return Err(vec![unknown(name, &all.map(AsRef::as_ref).collect::<Vec<_>>())]);
    }
    if project.machines.is_empty() {
        let extended =
            |c: &Context| project.contexts.iter().any(|d| d.extends.iter().any(|e| e.name == c.name));
        let last: Vec<usize> =
            (0..project.contexts.len()).filter(|i| !extended(&project.contexts[*i])).collect();
        let names: Vec<&str> = last.iter().map(|i| project.contexts[*i].name.as_ref()).collect();
        return match (last.as_slice(), project.contexts.is_empty()) {
            ([one], _) => {
                let one = *one;
                project.contexts[..=one].rotate_right(1);
                Ok(())
            }
            (_, true) => Err(vec![Diagnostic::plain("the project holds no machine and no context")]),
            _ => Err(vec![ambiguous("context", &names)]),
        };
    }
    let refined =
        |m: &Machine| project.machines.iter().any(|n| n.refines.as_ref().is_some_and(|r| r.name == m.name));
    let last: Vec<usize> = (0..project.machines.len()).filter(|i| !refined(&project.machines[*i])).collect();
    match last.as_slice() {
        [one] => {
            front(&mut project.machines, *one);
            Ok(())
        }
        // Only a cycle leaves no most refined machine; the chain will say so.
        [] => Ok(()),
        several => {
            let names: Vec<&str> = several.iter().map(|i| project.machines[*i].name.as_ref()).collect();
            Err(vec![ambiguous("machine", &names)])
        }
    }
}

fn ambiguous(what: &str, names: &[&str]) -> Diagnostic {
    Diagnostic::plain(format!("the project has several most refined {what}s: {}", names.join(", ")))
        .help("choose one with --machine NAME")
}

fn unknown(name: &str, known: &[&str]) -> Diagnostic {
    Diagnostic::plain(format!("the project has no component `{name}`"))
        .help(format!("it has {}", known.join(", ")))
}

/// Types a project whose first machine is the one to check.
pub fn type_project(sources: Sources, project: &eventb::Project, options: &LoadOptions) -> Loaded {
    let settings = Options {
        abstract_levels: options.abstract_levels,
        variants: options.variants,
        ..Options::default()
    };
    let mut loaded = type_flat(sources, project, &settings, options);
    if loaded.model.is_none() && !project.missing_theories.is_empty() {
        let names: Vec<&str> = project.missing_theories.iter().map(AsRef::as_ref).collect();
        loaded.diagnostics.push(
            Diagnostic::plain(format!(
                "the project uses theories that it does not hold: {}",
                names.join(", ")
            ))
            .help("put their files (.dtf or .tuf) into the project"),
        );
    }
    let parametric = project.theories.iter().flat_map(|t| &t.datatypes).any(|d| !d.params.is_empty());
    if loaded.model.is_some() || !parametric {
        return loaded;
    }
    // A datatype that is used over several types has no one type for its arguments.
    let generic = type_flat(loaded.sources, project, &Options { generic: true, ..settings }, options);
    let untyped = |v: &typed::VarDecl| v.kind != VarKind::Local && !v.name.starts_with(OWN) && is_open(&v.ty);
    match &generic.model {
        // A variable without a type has no values to run through: nothing could be said of all of them.
        Some(model) if !model.machine.vars.iter().any(untyped) => generic,
        Some(_) => Loaded { sources: generic.sources, model: None, diagnostics: loaded.diagnostics },
        None => Loaded { sources: generic.sources, model: None, diagnostics: loaded.diagnostics },
    }
}

fn type_flat(
    sources: Sources,
    project: &eventb::Project,
    settings: &Options,
    options: &LoadOptions,
) -> Loaded {
    let flat = match flatten(project, settings) {
        Ok(flat) => flat,
        Err(diagnostics) => return Loaded { sources, model: None, diagnostics },
    };
    let mut diagnostics: Vec<Diagnostic> = flat
        .notes
        .iter()
        .map(|note| Diagnostic { severity: Severity::Warning, ..Diagnostic::plain(note.as_str()) })
        .collect();
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
    let typed = Project { machines: vec![machine] };
    let mut loaded = finish(sources, typed, Some(MachineId(0)), diagnostics, options);
    if let Some(model) = &mut loaded.model {
        model.proofs = project.proofs.clone();
        model.machine.unchecked.extend(flat.unchecked);
        // Each formula has a text of its own whose name says where it comes from.
        let machine = &mut model.machine;
        for clause in
            machine.properties.iter_mut().chain(&mut machine.invariant).chain(&mut machine.assertions)
        {
            let file = clause.pred.span.file;
            let name = &loaded.sources.get(file).name;
            if let Some((component, _)) = name.split_once(" / ") {
                clause.origin = Name::from(component);
                let place = name.split(" (").next().unwrap_or(name);
                clause.text = format!("{place}: {}", clause.text);
            }
        }
        // Exporters leave out types that Rodin has checked; generic datatypes have none.
        if !project.exported && !settings.generic {
            let mut open = OpenTypes::default();
            open.machine(machine);
            loaded.diagnostics.extend(open.found);
        }
    }
    if loaded.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        loaded.model = None;
    }
    loaded
}

/// In Event-B every formula must have one type: `∅=∅` has none.
#[derive(Default)]
struct OpenTypes {
    found: Vec<Diagnostic>,
}

impl OpenTypes {
    fn machine(&mut self, m: &typed::Machine) {
        for clause in m.properties.iter().chain(&m.invariant).chain(&m.assertions) {
            visit_pred(&clause.pred, self);
        }
        visit_stmt(&m.initialisation, self);
        for operation in &m.operations {
            visit_stmt(&operation.body, self);
        }
    }
}

impl Visit for OpenTypes {
    fn expr(&mut self, e: &typed::Expr) {
        if is_open(&e.ty) && !self.found.iter().any(|d| d.labels.first().is_some_and(|(at, _)| *at == e.span))
        {
            self.found.push(
                Diagnostic::error(e.span, "nothing tells the type of this expression")
                    .help("write it with its type, such as (∅ ⦂ ℙ(ℤ))"),
            );
        }
    }
}

fn is_open(ty: &typed::Type) -> bool {
    match ty {
        typed::Type::Any => true,
        typed::Type::Pow(t) => is_open(t),
        typed::Type::Prod(a, b) => is_open(a) || is_open(b),
        _ => false,
    }
}
