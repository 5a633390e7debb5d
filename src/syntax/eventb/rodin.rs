//! Rodin's component files: machines and contexts as XML, sources and statically checked ones.
//!
//! In: the texts of `.bum`, `.buc`, `.bcm` and `.bcc` files. Out: contexts and machines whose formulas
//! have texts of their own. Sources are preferred, because they hold what the author wrote; a checked
//! file stands in where the source is missing. All errors are collected.
//! Never here: which machine is checked, merging of extended events (checked files are merged already).

use super::formula;
use super::printer::place_name;
use super::{Action, Context, Convergence, Event, Formula, INITIALISATION, Machine};
use crate::ast::{Expr, Ident};
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{FileId, Name, Span};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;

/// Larger documents are refused.
const MAX_NODES: u32 = 2_000_000;

const PREFIX: &str = "org.eventb.core.";

/// A component, whichever it is, with what only checked files need to know about each other.
pub enum Component {
    Machine(Machine, InternalNames),
    Context(Context),
}

/// Checked files refer to events by internal names: internal name to label.
pub type InternalNames = BTreeMap<String, Name>;

/// Parses a document; declarations of entities and document types are refused.
pub fn document<'a>(text: &'a str, file: FileId) -> Result<Document<'a>, Diagnostic> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|e| {
        let at = match e {
            roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode => text.len(),
            _ => offset(text, e.pos()),
        };
        Diagnostic::error(Span::new(file, at, at), format!("this is no XML file of Rodin: {e}"))
    })
}

fn offset(text: &str, pos: roxmltree::TextPos) -> usize {
    let start: usize =
        text.split_inclusive('\n').take(pos.row.saturating_sub(1) as usize).map(str::len).sum();
    (start + pos.col.saturating_sub(1) as usize).min(text.len())
}

/// Reads one component file called `name`.
pub fn read(sources: &mut Sources, file: FileId, name: &str) -> Result<Component, Vec<Diagnostic>> {
    let text = sources.get(file).text.clone();
    let document = document(&text, file).map_err(|d| vec![d])?;
    let root = document.root_element();
    let mut reader = Reader { sources, file, name: name.into(), errors: Vec::new() };
    let component = match tag(root) {
        "machineFile" => reader.machine(root),
        "contextFile" => Component::Context(reader.context(root)),
        "scMachineFile" => reader.checked_machine(root),
        "scContextFile" => Component::Context(reader.checked_context(root, name)),
        other => {
            let message = format!("the root of {name} is `{other}`, not a machine or context of Rodin");
            return Err(vec![Diagnostic::error(span_of(root, file), message)]);
        }
    };
    if reader.errors.is_empty() { Ok(component) } else { Err(reader.errors) }
}

/// The contexts that a checked machine carries along.
pub fn internal_contexts(
    sources: &mut Sources,
    file: FileId,
    name: &str,
) -> Result<Vec<Context>, Vec<Diagnostic>> {
    let text = sources.get(file).text.clone();
    let document = document(&text, file).map_err(|d| vec![d])?;
    let mut reader = Reader { sources, file, name: name.into(), errors: Vec::new() };
    let mut contexts = Vec::new();
    for node in children(document.root_element(), "scInternalContext") {
        let name = node.attribute("name").unwrap_or_default().to_string();
        reader.name = name.as_str().into();
        contexts.push(reader.checked_context(node, &name));
    }
    if reader.errors.is_empty() { Ok(contexts) } else { Err(reader.errors) }
}

fn tag<'a>(node: Node<'a, '_>) -> &'a str {
    let name = node.tag_name().name();
    name.strip_prefix(PREFIX).unwrap_or(name)
}

fn children<'a, 'i>(node: Node<'a, 'i>, wanted: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |c| c.is_element() && tag(*c) == wanted)
}

pub fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes()
        .find(|a| a.name().strip_prefix(PREFIX).is_some_and(|rest| rest == name))
        .map(|a| a.value())
}

fn flag(node: Node<'_, '_>, name: &str) -> bool {
    attribute(node, name) == Some("true")
}

pub(super) fn span_of(node: Node<'_, '_>, file: FileId) -> Span {
    let range = node.range();
    // The opening tag is enough to find the place.
    Span::new(file, range.start, range.end.min(range.start + 60))
}

/// The part of a handle such as `/Proj/abs.bcm|…scMachineFile#abs|…scEvent#x` that names the file.
pub(super) fn handle_file(handle: &str) -> String {
    let file = handle.split('|').next().unwrap_or_default();
    let last = file.rsplit('/').next().unwrap_or_default();
    unescape(last.rsplit_once('.').map_or(last, |(stem, _)| stem))
}

/// The internal name of the element that a handle points to.
fn handle_element(handle: &str) -> String {
    let last = handle.rsplit('|').next().unwrap_or_default();
    unescape(last.split_once('#').map_or("", |(_, name)| name))
}

/// Handles escape their own separators with a backslash.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

struct Reader<'a> {
    sources: &'a mut Sources,
    file: FileId,
    /// The component.
    name: Name,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn need<'n>(&mut self, node: Node<'n, '_>, name: &str) -> Option<&'n str> {
        let found = attribute(node, name);
        if found.is_none() {
            let message = format!("{}: a `{}` has no `{name}`", self.name, tag(node));
            self.errors.push(Diagnostic::error(span_of(node, self.file), message));
        }
        found
    }

    fn idents(&mut self, node: Node<'_, '_>, wanted: &'static str, name: &str) -> Vec<Ident> {
        let mut found = Vec::new();
        for child in children(node, wanted) {
            if let Some(text) = self.need(child, name) {
                found.push(Ident { name: text.trim().into(), span: span_of(child, self.file) });
            }
        }
        found
    }

    /// Names of checked elements stand in the plain attribute `name`.
    fn checked_idents(&mut self, node: Node<'_, '_>, wanted: &'static str) -> Vec<Ident> {
        children(node, wanted)
            .filter_map(|c| Some(Ident { name: c.attribute("name")?.into(), span: span_of(c, self.file) }))
            .collect()
    }

    fn handles(&mut self, node: Node<'_, '_>, wanted: &'static str) -> Vec<Ident> {
        let mut found = Vec::new();
        for child in children(node, wanted) {
            if let Some(handle) = self.need(child, "scTarget") {
                found.push(Ident { name: handle_file(handle).into(), span: span_of(child, self.file) });
            }
        }
        found
    }

    fn parse<T>(
        &mut self,
        text: &str,
        place: String,
        parser: fn(FileId, &str) -> Result<T, Diagnostic>,
    ) -> Option<T> {
        let file = self.sources.add(place.as_str(), None, text);
        match parser(file, text) {
            Ok(tree) => Some(tree),
            Err(mut d) => {
                d.message = format!("{place}: {}", d.message);
                self.errors.push(d);
                None
            }
        }
    }

    fn formula(&mut self, node: Node<'_, '_>, event: Option<&Name>, what: &str) -> Option<Formula> {
        let parser: fn(FileId, &str) -> Result<Expr, Diagnostic> =
            if what == "expression" { formula::expression } else { formula::predicate };
        let label: Name = attribute(node, "label").unwrap_or("vrn").trim().into();
        let text = self.need(node, what)?;
        let place = place_name(&self.name, event, &label);
        let expr = self.parse(text, place, parser)?;
        let origin = attribute(node, "source").map_or_else(|| self.name.clone(), |s| handle_file(s).into());
        Some(Formula { label, origin, expr, theorem: flag(node, "theorem") })
    }

    fn formulas(
        &mut self,
        node: Node<'_, '_>,
        wanted: &'static str,
        event: Option<&Name>,
        what: &str,
    ) -> Vec<Formula> {
        let mut found: Vec<Formula> = Vec::new();
        for child in children(node, wanted) {
            let Some(formula) = self.formula(child, event, what) else { continue };
            if found.iter().any(|f| f.label == formula.label && f.origin == formula.origin) {
                let place = place_name(&self.name, event, &formula.label);
                let message = format!("{place}: the label is used twice");
                self.errors.push(Diagnostic::error(span_of(child, self.file), message));
            }
            found.push(formula);
        }
        found
    }

    fn context(&mut self, root: Node<'_, '_>) -> Context {
        Context {
            name: self.name.clone(),
            extends: self.idents(root, "extendsContext", "target"),
            sets: self.idents(root, "carrierSet", "identifier"),
            constants: self.idents(root, "constant", "identifier"),
            axioms: self.formulas(root, "axiom", None, "predicate"),
            span: span_of(root, self.file),
        }
    }

    fn checked_context(&mut self, root: Node<'_, '_>, name: &str) -> Context {
        self.accurate(root);
        Context {
            name: name.into(),
            extends: self.handles(root, "scExtendsContext"),
            sets: self.checked_idents(root, "scCarrierSet"),
            constants: self.checked_idents(root, "scConstant"),
            axioms: self.formulas(root, "scAxiom", None, "predicate"),
            span: span_of(root, self.file),
        }
    }

    fn machine(&mut self, root: Node<'_, '_>) -> Component {
        let mut machine = Machine {
            name: self.name.clone(),
            refines: self.idents(root, "refinesMachine", "target").into_iter().next(),
            sees: self.idents(root, "seesContext", "target"),
            variables: self.idents(root, "variable", "identifier"),
            invariants: self.formulas(root, "invariant", None, "predicate"),
            variants: self.formulas(root, "variant", None, "expression"),
            events: Vec::new(),
            span: span_of(root, self.file),
        };
        for node in children(root, "event") {
            let Some(name) = self.need(node, "label") else { continue };
            let name: Name = name.trim().into();
            let refines = self.idents(node, "refinesEvent", "target");
            machine.events.push(Event {
                convergence: self.convergence(node),
                extended: flag(node, "extended"),
                refines,
                params: self.idents(node, "parameter", "identifier"),
                guards: self.formulas(node, "guard", Some(&name), "predicate"),
                witnesses: self.formulas(node, "witness", Some(&name), "predicate"),
                actions: self.actions(node, "action", &name),
                span: span_of(node, self.file),
                name,
            });
        }
        Component::Machine(machine, InternalNames::new())
    }

    fn convergence(&mut self, node: Node<'_, '_>) -> Convergence {
        match attribute(node, "convergence") {
            None | Some("0") => Convergence::Ordinary,
            Some("1") => Convergence::Convergent,
            Some("2") => Convergence::Anticipated,
            Some(other) => {
                let message = format!("{}: `{other}` is no convergence", self.name);
                self.errors.push(Diagnostic::error(span_of(node, self.file), message));
                Convergence::Ordinary
            }
        }
    }

    fn actions(&mut self, node: Node<'_, '_>, wanted: &'static str, event: &Name) -> Vec<Action> {
        let mut found = Vec::new();
        for child in children(node, wanted) {
            let label: Name = attribute(child, "label").unwrap_or("act").trim().into();
            let Some(text) = self.need(child, "assignment") else { continue };
            let place = place_name(&self.name, Some(event), &label);
            let origin =
                attribute(child, "source").map_or_else(|| self.name.clone(), |s| handle_file(s).into());
            if let Some(stmt) = self.parse(text, place, formula::assignment) {
                found.push(Action { label, origin, stmt });
            }
        }
        found
    }

    /// A checked file whose source had errors lacks the parts with the errors.
    fn accurate(&mut self, root: Node<'_, '_>) {
        if root.descendants().any(|n| attribute(n, "accurate") == Some("false")) {
            let message = format!(
                "{}: Rodin found errors in the source, so the checked file is not all of it",
                self.name
            );
            self.errors.push(Diagnostic::error(span_of(root, self.file), message));
        }
    }

    fn checked_machine(&mut self, root: Node<'_, '_>) -> Component {
        self.accurate(root);
        let mut names = InternalNames::new();
        let mut machine = Machine {
            name: self.name.clone(),
            refines: self.handles(root, "scRefinesMachine").into_iter().next(),
            sees: self.handles(root, "scSeesContext"),
            variables: Vec::new(),
            invariants: self.formulas(root, "scInvariant", None, "predicate"),
            variants: self.formulas(root, "scVariant", None, "expression"),
            events: Vec::new(),
            span: span_of(root, self.file),
        };
        // Internal contexts are seen as well, even where only an abstraction names them.
        for context in children(root, "scInternalContext") {
            let name = context.attribute("name").unwrap_or_default();
            if !machine.sees.iter().any(|s| s.name.as_ref() == name) {
                machine.sees.push(Ident { name: name.into(), span: span_of(context, self.file) });
            }
        }
        for node in children(root, "scVariable").filter(|n| attribute(*n, "concrete") != Some("false")) {
            if let Some(name) = node.attribute("name") {
                machine.variables.push(Ident { name: name.into(), span: span_of(node, self.file) });
            }
        }
        // Inherited invariants belong to the abstraction that states them.
        let own = machine.name.clone();
        machine.invariants.retain(|i| i.origin == own || machine.refines.is_none());
        for node in children(root, "scEvent") {
            let Some(name) = self.need(node, "label") else { continue };
            let name: Name = name.trim().into();
            if let Some(internal) = node.attribute("name") {
                names.insert(internal.to_string(), name.clone());
            }
            let mut refines = Vec::new();
            for child in children(node, "scRefinesEvent") {
                if let Some(handle) = self.need(child, "scTarget") {
                    let name = handle_element(handle).into();
                    refines.push(Ident { name, span: span_of(child, self.file) });
                }
            }
            if name.as_ref() == INITIALISATION {
                refines.clear();
            }
            machine.events.push(Event {
                convergence: self.convergence(node),
                extended: false,
                refines,
                params: self.checked_idents(node, "scParameter"),
                guards: self.formulas(node, "scGuard", Some(&name), "predicate"),
                witnesses: self.formulas(node, "scWitness", Some(&name), "predicate"),
                actions: self.actions(node, "scAction", &name),
                span: span_of(node, self.file),
                name,
            });
        }
        Component::Machine(machine, names)
    }
}
