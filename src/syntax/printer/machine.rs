//! Machines and definition files as text.
//!
//! In: units. Out: text, one clause after the other as in the tree.

use super::Printer;
use crate::ast::{
    Clause, ClauseKind, DefBody, DefItem, Definition, Expr, Freetype, Ident, Machine, MachineKind,
    MachineRef, Operation, SetDecl, Unit,
};
use crate::parser::{Sort, sort_of};
use crate::precedence::Level;

impl Printer {
    pub fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Machine(machine) => self.machine(machine),
            Unit::Definitions(items) => {
                self.text("DEFINITIONS");
                self.block(|p| p.items(items));
                self.text("\n");
            }
        }
    }

    fn machine(&mut self, machine: &Machine) {
        for (i, package) in machine.packages.iter().enumerate() {
            self.pragma(if i == 0 { "package" } else { "import-package" }, package);
            self.line();
        }
        self.text(match machine.kind {
            MachineKind::Machine => "MACHINE ",
            MachineKind::Refinement => "REFINEMENT ",
            MachineKind::Implementation => "IMPLEMENTATION ",
        });
        self.name(&machine.name.name);
        self.parameters(&machine.params);
        if let Some(refined) = &machine.refines {
            self.text(" REFINES ");
            self.name(&refined.name);
        }
        let words = definition_words(&machine.clauses);
        for (clause, word) in machine.clauses.iter().zip(words) {
            self.line();
            self.clause(&clause.kind, word);
        }
        self.line();
        self.text("END\n");
    }

    fn clause(&mut self, clause: &ClauseKind, definitions_word: &str) {
        match clause {
            ClauseKind::Constraints(p) => self.predicate_clause("CONSTRAINTS", p),
            ClauseKind::Properties(p) => self.predicate_clause("PROPERTIES", p),
            ClauseKind::Invariant(p) => self.predicate_clause("INVARIANT", p),
            ClauseKind::Assertions(parts) => {
                self.listed("ASSERTIONS", parts, " ;", |p, part| p.formula(part, Level::FORMULA));
            }
            ClauseKind::Sees(refs) => self.references("SEES", refs),
            ClauseKind::Uses(refs) => self.references("USES", refs),
            ClauseKind::Includes(refs) => self.references("INCLUDES", refs),
            ClauseKind::Extends(refs) => self.references("EXTENDS", refs),
            ClauseKind::Imports(refs) => self.references("IMPORTS", refs),
            ClauseKind::Promotes(names) => self.names_clause("PROMOTES", names),
            ClauseKind::CspController(script, process) => {
                self.text("CSP_CONTROLLER ");
                self.name(&script.name);
                if let Some(process) = process {
                    self.text(" ");
                    self.name(&process.name);
                }
            }
            ClauseKind::Sets(sets) => self.listed("SETS", sets, " ;", Self::set),
            ClauseKind::Freetypes(types) => self.listed("FREETYPES", types, " ;", Self::freetype),
            ClauseKind::Constants(names) => self.names_clause("CONSTANTS", names),
            ClauseKind::AbstractConstants(names) => self.names_clause("ABSTRACT_CONSTANTS", names),
            ClauseKind::Variables(names) => self.names_clause("VARIABLES", names),
            ClauseKind::ConcreteVariables(names) => self.names_clause("CONCRETE_VARIABLES", names),
            ClauseKind::Values(values) => self.listed("VALUES", values, " ;", |p, (name, value)| {
                p.name(&name.name);
                p.text(" = ");
                p.formula(value, Level::EXPRESSION);
            }),
            ClauseKind::Initialisation(body) => {
                self.text("INITIALISATION");
                self.block(|p| p.statement(body));
            }
            ClauseKind::Operations(operations) => {
                self.listed("OPERATIONS", operations, " ;", Self::operation);
            }
            ClauseKind::LocalOperations(operations) => {
                self.listed("LOCAL_OPERATIONS", operations, " ;", Self::operation);
            }
            ClauseKind::Definitions(items) => {
                self.text(definitions_word);
                self.block(|p| p.items(items));
            }
        }
    }

    fn block(&mut self, content: impl FnOnce(&mut Self)) {
        self.indent += 1;
        self.line();
        content(self);
        self.indent -= 1;
    }

    fn predicate_clause(&mut self, word: &str, predicate: &Expr) {
        self.text(word);
        self.block(|p| p.formula(predicate, Level::FORMULA));
    }

    fn names_clause(&mut self, word: &str, names: &[Ident]) {
        self.text(word);
        self.block(|p| p.names(names));
    }

    /// A clause whose items stand on lines of their own.
    fn listed<T>(&mut self, word: &str, items: &[T], joint: &str, mut item: impl FnMut(&mut Self, &T)) {
        self.text(word);
        self.block(|p| {
            for (i, one) in items.iter().enumerate() {
                if i > 0 {
                    p.text(joint);
                    p.line();
                }
                item(p, one);
            }
        });
    }

    fn references(&mut self, word: &str, refs: &[MachineRef]) {
        self.listed(word, refs, ",", |p, reference| {
            if let Some(prefix) = &reference.prefix {
                p.name(&prefix.name);
                p.text(".");
            }
            p.name(&reference.machine.name);
            if !reference.args.is_empty() {
                p.text("(");
                p.formulas(&reference.args, Level::FORMULA);
                p.text(")");
            }
            if let Some(file) = &reference.file {
                p.text(" ");
                p.pragma("file", file);
            }
        });
    }

    fn set(&mut self, set: &SetDecl) {
        match set {
            SetDecl::Deferred(name) => self.name(&name.name),
            SetDecl::Enumerated(name, elements) => {
                self.name(&name.name);
                self.text(" = {");
                self.names(elements);
                self.text("}");
            }
            SetDecl::ByDefinition(name, definition) => {
                self.name(&name.name);
                self.text(" = ");
                self.name(&definition.name);
            }
        }
    }

    fn freetype(&mut self, freetype: &Freetype) {
        self.name(&freetype.name.name);
        self.parameters(&freetype.params);
        self.text(" = ");
        for (i, (constructor, argument)) in freetype.constructors.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.name(&constructor.name);
            if let Some(argument) = argument {
                self.text("(");
                self.formula(argument, Level::IN_PAR);
                self.text(")");
            }
        }
    }

    fn operation(&mut self, operation: &Operation) {
        if !operation.results.is_empty() {
            self.names(&operation.results);
            self.text(" <-- ");
        }
        self.name(&operation.name.name);
        self.parameters(&operation.params);
        if let Some(refined) = &operation.refines {
            self.text(" ref ");
            self.name(&refined.name);
        }
        self.text(" =");
        self.block(|p| p.statement(&operation.body));
    }

    fn items(&mut self, items: &[DefItem]) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text(" ;");
                self.line();
            }
            match item {
                // A path is taken as written, without escapes.
                DefItem::File(path) => {
                    self.text("\"");
                    self.text(&path.name);
                    self.text("\"");
                }
                DefItem::Def(Definition { name, params, body }) => {
                    self.name(&name.name);
                    self.parameters(params);
                    self.text(" == ");
                    match body {
                        DefBody::Expr(expr) => self.formula(expr, Level::FORMULA),
                        DefBody::Stmt(stmt) => self.statement(stmt),
                    }
                }
            }
        }
    }
}

/// The keyword of each clause of definitions: three clauses of the text end up as one kind of the
/// tree, and each keyword may be used once.
fn definition_words(clauses: &[Clause]) -> Vec<&'static str> {
    let mut words = vec!["DEFINITIONS"; clauses.len()];
    let places: Vec<usize> =
        (0..clauses.len()).filter(|&i| matches!(clauses[i].kind, ClauseKind::Definitions(_))).collect();
    if places.len() < 2 {
        return words;
    }
    let allows = |place: usize, word: &str| match &clauses[place].kind {
        ClauseKind::Definitions(items) => match word {
            "EXPRESSIONS" => items.iter().all(|item| defines(item, Sort::Expression)),
            "PREDICATES" => items.iter().all(|item| defines(item, Sort::Predicate)),
            _ => true,
        },
        _ => false,
    };
    const ORDERS: [[&str; 3]; 6] = [
        ["EXPRESSIONS", "PREDICATES", "DEFINITIONS"],
        ["EXPRESSIONS", "DEFINITIONS", "PREDICATES"],
        ["PREDICATES", "EXPRESSIONS", "DEFINITIONS"],
        ["PREDICATES", "DEFINITIONS", "EXPRESSIONS"],
        ["DEFINITIONS", "EXPRESSIONS", "PREDICATES"],
        ["DEFINITIONS", "PREDICATES", "EXPRESSIONS"],
    ];
    for order in ORDERS {
        if places.iter().zip(order).all(|(&place, word)| allows(place, word)) {
            for (&place, word) in places.iter().zip(order) {
                words[place] = word;
            }
            break;
        }
    }
    words
}

/// Whether a definition may stand in a clause of one sort.
fn defines(item: &DefItem, sort: Sort) -> bool {
    match item {
        DefItem::Def(Definition { body: DefBody::Expr(expr), .. }) => {
            let own = sort_of(expr);
            own == sort || own == Sort::Either
        }
        _ => false,
    }
}
