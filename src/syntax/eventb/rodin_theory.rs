//! Rodin's theory files: datatypes and operators as XML, sources and deployed ones.
//!
//! In: the texts of `.tuf` and `.dtf` files, and of `.tul` files that name the theories of a project. Out: a
//! `Theory` whose formulas have texts of their own. Proof rules and theorems are left alone. All errors
//! are collected.
//! Never here: which operators a model uses, what they compute.

use super::printer::place_name;
use super::rodin::{document, handle_file, span_of};
use super::{Constructor, Datatype, Operator, OperatorDefinition, Theory, formula};
use crate::ast::Expr;
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{FileId, Name};
use roxmltree::Node;

/// Reads the theory called `name`.
pub fn read(sources: &mut Sources, file: FileId, name: &str) -> Result<Theory, Vec<Diagnostic>> {
    let text = sources.get(file).text.clone();
    let document = document(&text, file).map_err(|d| vec![d])?;
    let root = document.root_element();
    if !matches!(last(root.tag_name().name()), "theoryRoot" | "deployedTheoryRoot" | "scTheoryRoot") {
        let message = format!("the root of {name} is `{}`, not a theory of Rodin", root.tag_name().name());
        return Err(vec![Diagnostic::error(span_of(root, file), message)]);
    }
    let mut reader = Reader { sources, file, name: name.into(), errors: Vec::new() };
    let theory = reader.theory(root);
    if reader.errors.is_empty() { Ok(theory) } else { Err(reader.errors) }
}

/// The theories that a `.tul` file makes available.
pub fn available(sources: &Sources, file: FileId) -> Result<Vec<Name>, Diagnostic> {
    let text = &sources.get(file).text;
    let document = document(text, file)?;
    let mut names = Vec::new();
    for node in document.descendants().filter(Node::is_element) {
        let handles = node.attributes().filter(|a| last(a.name()) == "availableTheory");
        names.extend(handles.map(|a| Name::from(handle_file(a.value()))));
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The part of `org.eventb.theory.core.scTypeParameter` that tells.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The element's name without the mark of a checked one: `datatypeDefinition`.
fn kind(node: Node<'_, '_>) -> String {
    let name = last(node.tag_name().name());
    match name.strip_prefix("sc") {
        Some(rest) if rest.starts_with(char::is_uppercase) => {
            let mut letters = rest.chars();
            letters.next().map(|c| c.to_lowercase().chain(letters).collect()).unwrap_or_default()
        }
        _ => name.to_string(),
    }
}

fn children<'a, 'i>(node: Node<'a, 'i>, wanted: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |c| c.is_element() && kind(*c) == wanted)
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes().find(|a| a.name().contains('.') && last(a.name()) == name).map(|a| a.value())
}

struct Reader<'a> {
    sources: &'a mut Sources,
    file: FileId,
    /// The theory.
    name: Name,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn error(&mut self, node: Node<'_, '_>, message: &str) {
        let message = format!("{}: {message}", self.name);
        self.errors.push(Diagnostic::error(span_of(node, self.file), message));
    }

    /// Sources name an element by `identifier` or `label`, deployed files by a plain `name`.
    fn id(&mut self, node: Node<'_, '_>) -> Option<Name> {
        let found =
            attribute(node, "identifier").or(attribute(node, "label")).or_else(|| node.attribute("name"));
        if found.is_none() {
            self.error(node, &format!("a `{}` has no name", kind(node)));
        }
        found.map(|n| n.trim().into())
    }

    /// The formula in an attribute, under the name of the element it belongs to.
    fn formula(&mut self, node: Node<'_, '_>, what: &str, label: &Name) -> Option<Expr> {
        let Some(text) = attribute(node, what) else {
            self.error(node, &format!("a `{}` of {label} has no `{what}`", kind(node)));
            return None;
        };
        let place = place_name(&self.name, None, label);
        let file = self.sources.add(place.as_str(), None, text);
        match formula::expression(file, text).or_else(|e| formula::predicate(file, text).map_err(|_| e)) {
            Ok(tree) => Some(tree),
            Err(mut d) => {
                d.message = format!("{place}: {}", d.message);
                self.errors.push(d);
                None
            }
        }
    }

    fn typed(&mut self, node: Node<'_, '_>, wanted: &'static str, label: &Name) -> Vec<(Name, Expr)> {
        let mut found = Vec::new();
        for child in children(node, wanted) {
            // Sources of operators give the type of an argument as an expression.
            let what = if attribute(child, "type").is_some() { "type" } else { "expression" };
            if let (Some(name), Some(set)) = (self.id(child), self.formula(child, what, label)) {
                found.push((name, set));
            }
        }
        found
    }

    fn theory(&mut self, root: Node<'_, '_>) -> Theory {
        let mut theory = Theory {
            name: self.name.clone(),
            type_params: Vec::new(),
            datatypes: Vec::new(),
            operators: Vec::new(),
            axiomatic: Vec::new(),
            axiomatic_types: Vec::new(),
            axioms: Vec::new(),
            mappings: Vec::new(),
        };
        for node in children(root, "typeParameter") {
            theory.type_params.extend(self.id(node));
        }
        for node in children(root, "datatypeDefinition") {
            theory.datatypes.extend(self.datatype(node));
        }
        for node in children(root, "newOperatorDefinition") {
            theory.operators.extend(self.operator(node));
        }
        for block in children(root, "axiomaticDefinitionsBlock") {
            for node in children(block, "axiomaticTypeDefinition") {
                theory.axiomatic_types.extend(self.id(node));
            }
            for node in children(block, "axiomaticOperatorDefinition") {
                if let Some(name) = self.id(node) {
                    let args = self.typed(node, "operatorArgument", &name);
                    theory.axiomatic.push(Operator { name, args, definition: OperatorDefinition::Axiomatic });
                }
            }
        }
        theory
    }

    fn datatype(&mut self, node: Node<'_, '_>) -> Option<Datatype> {
        let name = self.id(node)?;
        let mut params: Vec<Name> = Vec::new();
        for argument in children(node, "typeArgument") {
            match attribute(argument, "givenType").or_else(|| argument.attribute("name")) {
                Some(param) => params.push(param.trim().into()),
                None => self.error(argument, &format!("a type argument of {name} has no type")),
            }
        }
        let mut constructors = Vec::new();
        for constructor in children(node, "datatypeConstructor") {
            if let Some(of) = self.id(constructor) {
                let args = self.typed(constructor, "constructorArgument", &name);
                constructors.push(Constructor { name: of, args });
            }
        }
        Some(Datatype { name, params, constructors })
    }

    fn operator(&mut self, node: Node<'_, '_>) -> Option<Operator> {
        let name = self.id(node)?;
        if attribute(node, "notationType").is_some_and(|n| !n.eq_ignore_ascii_case("prefix")) {
            self.error(node, &format!("the operator {name} is not written before its arguments"));
            return None;
        }
        let args = self.typed(node, "operatorArgument", &name);
        let direct = children(node, "directOperatorDefinition").next();
        let recursive = children(node, "recursiveOperatorDefinition").next();
        let definition = match (direct, recursive) {
            (Some(direct), _) => OperatorDefinition::Direct(self.formula(direct, "formula", &name)?),
            (None, Some(recursive)) => {
                let Some(on) = attribute(recursive, "inductiveArgument") else {
                    self.error(recursive, &format!("the recursion of {name} has no argument"));
                    return None;
                };
                let mut cases = Vec::new();
                for case in children(recursive, "recursiveDefinitionCase") {
                    let pattern = self.formula(case, "expression", &name)?;
                    cases.push((pattern, self.formula(case, "formula", &name)?));
                }
                OperatorDefinition::Recursive { on: on.trim().into(), cases }
            }
            (None, None) => OperatorDefinition::Axiomatic,
        };
        Some(Operator { name, args, definition })
    }
}
