//! The texts of one model: the main machine, all machines it refers to, all definition files.
//!
//! In: a path. Out: trees with their definition tables, references resolved to machines.
//! Never here: what the composition means (that is `compose`).

use super::definitions::Definitions;
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::text::distance;
use bombus_base::{FileId, Name, Span};
use bombus_source::{Found, Reader, missing};
use bombus_syntax as syntax;
use bombus_syntax::ast::{self, ClauseKind, DefItem, Ident, MachineRef, Unit};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Index into `Project::machines`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Sees,
    Uses,
    Includes,
    Extends,
    Imports,
}

#[derive(Debug)]
pub struct Reference {
    pub relation: Relation,
    pub to: MachineId,
    pub text: MachineRef,
}

#[derive(Debug)]
pub struct LoadedMachine {
    pub tree: ast::Machine,
    pub definitions: Arc<Definitions>,
    pub references: Vec<Reference>,
    pub refines: Option<MachineId>,
}

/// All machines of a model; those referred to come before those that refer.
#[derive(Debug, Default)]
pub struct Project {
    pub machines: Vec<LoadedMachine>,
}

impl Project {
    pub fn get(&self, id: MachineId) -> &LoadedMachine {
        &self.machines[id.0 as usize]
    }
}

/// The definition files of one machine: those being read, and all met so far.
struct Including {
    stack: Vec<FileId>,
    seen: HashSet<FileId>,
}

impl Including {
    fn of(machine: FileId) -> Self {
        Including { stack: vec![machine], seen: HashSet::new() }
    }
}

pub struct Loader<'a> {
    pub reader: Reader,
    pub sources: &'a mut Sources,
    pub diagnostics: Vec<Diagnostic>,
    project: Project,
    by_file: HashMap<FileId, Option<MachineId>>,
    /// Machines being loaded, outermost first: meeting one again is a cycle.
    open: Vec<(FileId, Name)>,
}

impl<'a> Loader<'a> {
    pub fn new(reader: Reader, sources: &'a mut Sources) -> Self {
        Loader {
            reader,
            sources,
            diagnostics: Vec::new(),
            project: Project::default(),
            by_file: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Loads the main file and everything it needs. The main machine is the last one of the project.
    pub fn load(mut self, path: &Path) -> (Project, Option<MachineId>, Vec<Diagnostic>) {
        let main = match self.reader.read(path, self.sources) {
            Ok(file) => self.machine(file, None),
            Err(d) => {
                self.diagnostics.push(d);
                None
            }
        };
        (self.project, main, self.diagnostics)
    }

    fn machine(&mut self, file: FileId, at: Option<Span>) -> Option<MachineId> {
        if let Some(known) = self.by_file.get(&file) {
            return *known;
        }
        if let Some(from) = self.open.iter().position(|(f, _)| *f == file) {
            let mut circle: Vec<&str> = self.open[from..].iter().map(|(_, n)| &**n).collect();
            circle.push(circle[0]);
            let text = format!("machines refer to each other in a circle: {}", circle.join(" → "));
            self.diagnostics.push(match at {
                Some(span) => Diagnostic::error(span, text),
                None => Diagnostic::plain(text),
            });
            return None;
        }
        let text = self.sources.get(file).text.clone();
        let parsed = syntax::parse_unit(file, &text);
        self.diagnostics.extend(parsed.diagnostics);
        let loaded =
            match parsed.tree {
                Some(Unit::Machine(tree)) => {
                    if at.is_none() {
                        self.diagnostics.extend(misnamed(&tree, &self.sources.get(file).name));
                    }
                    self.complete(file, tree)
                }
                Some(Unit::Definitions(_)) => {
                    let name = self.sources.get(file).name.clone();
                    let text = format!("`{name}` holds definitions only, not a machine");
                    self.diagnostics.push(at.map_or_else(
                        || Diagnostic::plain(text.clone()),
                        |s| Diagnostic::error(s, text.clone()),
                    ));
                    None
                }
                None => None,
            };
        self.by_file.insert(file, loaded);
        loaded
    }

    fn complete(&mut self, file: FileId, mut tree: ast::Machine) -> Option<MachineId> {
        self.diagnostics.extend(super::records::settle(&mut tree));
        self.open.push((file, tree.name.name.clone()));
        let mut definitions = Definitions::default();
        let mut references = Vec::new();
        let mut whole = true;
        for clause in &tree.clauses {
            match &clause.kind {
                ClauseKind::Definitions(items) => {
                    self.definitions(items, file, &mut definitions, &mut Including::of(file))
                }
                ClauseKind::Sees(refs) => {
                    whole &= self.references(refs, Relation::Sees, file, &tree, &mut references)
                }
                ClauseKind::Uses(refs) => {
                    whole &= self.references(refs, Relation::Uses, file, &tree, &mut references)
                }
                ClauseKind::Includes(refs) => {
                    whole &= self.references(refs, Relation::Includes, file, &tree, &mut references)
                }
                ClauseKind::Extends(refs) => {
                    whole &= self.references(refs, Relation::Extends, file, &tree, &mut references)
                }
                ClauseKind::Imports(refs) => {
                    whole &= self.references(refs, Relation::Imports, file, &tree, &mut references)
                }
                _ => {}
            }
        }
        self.diagnostics.extend(unfold_lists(&mut tree, &definitions));
        self.diagnostics.extend(definitions.cycles());
        self.diagnostics.extend(definitions.hidden_by_parameters());
        let mut refines = None;
        if let Some(name) = &tree.refines {
            refines = self.find_machine(&name.name, None, file, name.span, &tree);
            whole &= refines.is_some();
        }
        self.open.pop();
        if !whole {
            return None;
        }
        let id = MachineId(self.project.machines.len() as u32);
        self.project.machines.push(LoadedMachine {
            tree,
            definitions: Arc::new(definitions),
            references,
            refines,
        });
        Some(id)
    }

    fn references(
        &mut self,
        refs: &[MachineRef],
        relation: Relation,
        file: FileId,
        tree: &ast::Machine,
        into: &mut Vec<Reference>,
    ) -> bool {
        let mut whole = true;
        for text in refs {
            match self.find_machine(&text.machine.name, text.file.as_deref(), file, text.machine.span, tree) {
                Some(to) => into.push(Reference { relation, to, text: text.clone() }),
                None => whole = false,
            }
        }
        whole
    }

    fn find_machine(
        &mut self,
        name: &Name,
        file_pragma: Option<&str>,
        from: FileId,
        at: Span,
        tree: &ast::Machine,
    ) -> Option<MachineId> {
        let mut names: Vec<String> = Vec::new();
        match file_pragma {
            Some(path) => names.push(path.to_owned()),
            None => {
                for extension in ["mch", "ref", "imp", "sys"] {
                    names.push(format!("{name}.{extension}"));
                    for package in imported_packages(&tree.packages) {
                        names.push(format!("{package}/{name}.{extension}"));
                    }
                }
            }
        }
        let beside: Option<PathBuf> = self.shown_path(from);
        let found = match self.reader.find_machine(beside.as_deref(), &names) {
            Found::Outside(path) if is_imported(beside.as_deref(), &tree.packages, &path) => {
                Found::File(path)
            }
            found => found,
        };
        let read = match found {
            Found::File(path) => self.reader.read(&path, self.sources),
            Found::Library(library) => Ok(self.reader.read_library(library, self.sources)),
            found => {
                self.diagnostics.push(missing("machine", name, &found, at));
                return None;
            }
        };
        match read {
            Ok(file) => self.machine(file, Some(at)),
            Err(mut d) => {
                d.labels.push((at, "referred to here".into()));
                self.diagnostics.push(d);
                None
            }
        }
    }

    /// Where a text was read from, for what stands beside it.
    fn shown_path(&self, file: FileId) -> Option<PathBuf> {
        self.sources.get(file).path.clone()
    }

    fn definitions(
        &mut self,
        items: &[DefItem],
        file: FileId,
        into: &mut Definitions,
        within: &mut Including,
    ) {
        for item in items {
            match item {
                DefItem::Def(def) => {
                    // What comes with Bombus gives way to what the model defines itself.
                    let provided = |d: &ast::Definition| self.sources.get(d.name.span.file).path.is_none();
                    match into.get(&def.name.name) {
                        Some(old) if provided(old) => into.replace(def.clone()),
                        Some(_) if provided(def) => {}
                        _ => {
                            if let Err(d) = into.add(def.clone()) {
                                self.diagnostics.push(d);
                            }
                        }
                    }
                }
                DefItem::File(name) => self.definition_file(name, file, into, within),
            }
        }
    }

    fn definition_file(
        &mut self,
        name: &ast::Ident,
        from: FileId,
        into: &mut Definitions,
        within: &mut Including,
    ) {
        let beside = self.shown_path(from);
        // Files named in a definition file may stand beside the machine as well.
        let machine = self.shown_path(within.stack[0]);
        let mut found = self.reader.find_definitions(beside.as_deref(), &name.name);
        if matches!(found, Found::Nowhere) {
            found = self.reader.find_definitions(machine.as_deref(), &name.name);
        }
        let file = match found {
            Found::File(path) => match self.reader.read(&path, self.sources) {
                Ok(file) => file,
                Err(mut d) => {
                    d.labels.push((name.span, "named here".into()));
                    self.diagnostics.push(d);
                    return;
                }
            },
            Found::Library(library) => self.reader.read_library(library, self.sources),
            nowhere => {
                self.diagnostics.push(missing("definition file", &name.name, &nowhere, name.span));
                return;
            }
        };
        if within.stack.contains(&file) {
            self.diagnostics.push(Diagnostic::error(
                name.span,
                format!("the definition file `{}` includes itself", name.name),
            ));
            return;
        }
        // A file that two others name counts once, however often it is met.
        if !within.seen.insert(file) {
            return;
        }
        let text = self.sources.get(file).text.clone();
        let parsed = syntax::parse_unit(file, &text);
        self.diagnostics.extend(parsed.diagnostics);
        match parsed.tree {
            Some(Unit::Definitions(items)) => {
                within.stack.push(file);
                self.definitions(&items, file, into, within);
                within.stack.pop();
            }
            Some(Unit::Machine(tree)) => {
                let message = format!("`{}` holds a machine; only its definitions are read here", name.name);
                self.diagnostics.push(Diagnostic::warning(name.span, message));
                within.stack.push(file);
                for clause in &tree.clauses {
                    if let ClauseKind::Definitions(items) = &clause.kind {
                        self.definitions(items, file, into, within);
                    }
                }
                within.stack.pop();
            }
            None => {}
        }
    }
}

/// Puts the identifiers that a definition lists, `Vs == (x,y)`, in place of its name where variables or constants are
/// declared; the warnings say where.
fn unfold_lists(tree: &mut ast::Machine, definitions: &Definitions) -> Vec<Diagnostic> {
    fn listed(e: &ast::Expr, out: &mut Vec<Ident>) -> bool {
        match &e.kind {
            ast::ExprKind::Ident(name) => {
                out.push(Ident { name: name.clone(), span: e.span });
                true
            }
            ast::ExprKind::Binary(ast::BinOp::Maplet, a, b) => {
                matches!(b.kind, ast::ExprKind::Ident(_)) && listed(a, out) && listed(b, out)
            }
            _ => false,
        }
    }
    let mut out = Vec::new();
    for clause in &mut tree.clauses {
        let (ClauseKind::Variables(names)
        | ClauseKind::ConcreteVariables(names)
        | ClauseKind::Constants(names)
        | ClauseKind::AbstractConstants(names)) = &mut clause.kind
        else {
            continue;
        };
        for ident in std::mem::take(names) {
            let mut list = Vec::new();
            let found = definitions.get(&ident.name).filter(|d| d.params.is_empty());
            let unfolds = match found.map(|d| &d.body) {
                Some(ast::DefBody::Expr(body)) => listed(body, &mut list) && list.len() > 1,
                _ => false,
            };
            if unfolds {
                let message = format!("`{}` stands for the identifiers of its definition here", ident.name);
                out.push(Diagnostic::warning(ident.span, message));
                names.extend(list);
            } else {
                names.push(ident);
            }
        }
    }
    out
}

/// A warning for a machine whose name looks like a slip for the name of its file: other machines look for it by name.
fn misnamed(tree: &ast::Machine, file: &str) -> Option<Diagnostic> {
    let name = &tree.name.name;
    let stem = Path::new(file).file_stem()?.to_str()?;
    let letters = name.chars().count().min(stem.chars().count());
    let slip = *stem != **name && letters > 2 && distance(stem, name) <= letters / 3 && is_slip(stem, name);
    slip.then(|| {
        let message = format!("the machine is called `{name}` and its file `{stem}`");
        Diagnostic::warning(tree.name.span, message)
    })
}

/// Two names that differ by case, signs or numbers, or of which one goes on where the other ends, are two names on purpose.
fn is_slip(a: &str, b: &str) -> bool {
    let letters = |s: &str| s.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
    let (a, b) = (letters(a), letters(b));
    !a.starts_with(&b) && !b.starts_with(&a)
}

/// The directories of imported packages, as seen from the file's own package and from the root of all.
fn imported_packages(packages: &[Name]) -> Vec<String> {
    let Some((own, imported)) = packages.split_first() else { return Vec::new() };
    let up = "../".repeat(own.split('.').count());
    imported.iter().map(|p| p.replace('.', "/")).flat_map(|dir| [format!("{up}{dir}"), dir]).collect()
}

/// Whether a machine lies in an imported package, seen from a text that stands where its own package says.
fn is_imported(from: Option<&Path>, packages: &[Name], machine: &Path) -> bool {
    let imported = || {
        let (own, imported) = packages.split_first()?;
        let home = from?.parent()?.canonicalize().ok()?;
        let own: PathBuf = own.split('.').collect();
        if !home.ends_with(&own) {
            return None;
        }
        let root = home.ancestors().nth(own.components().count())?;
        let place = machine.canonicalize().ok()?.parent()?.to_path_buf();
        Some(imported.iter().any(|p| root.join(p.split('.').collect::<PathBuf>()) == place))
    };
    imported().unwrap_or(false)
}
