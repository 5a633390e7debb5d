//! Machines, refinements, implementations and definition files: headers and clauses.
//!
//! In: tokens. Out: a `Unit`. Never here: rules about which clauses go together (those are in
//! `clause_rules`), formulas and substitutions.

use super::ast::{
    Clause, ClauseKind, Expr, Freetype, Ident, Machine, MachineKind, MachineRef, Operation, SetDecl, Unit,
};
use super::clause_rules;
use super::definitions::Bodies;
use super::parser::{Failed, Parse, Parser};
use super::precedence::Level;
use super::recovery::opens_clause;
use super::token::Tok;
use bombus_base::Name;
use bombus_base::diagnostic::{Diagnostic, Severity};

impl<'t> Parser<'t> {
    /// A whole file.
    pub fn unit(&mut self) -> Parse<Unit> {
        let mut packages = Vec::new();
        while self.peek() == Tok::Package {
            let pragma = self.advance();
            let imports = self.slice(pragma)["/*@".len()..].trim_start().starts_with("import");
            if imports == packages.is_empty() {
                let message = if imports {
                    "the package of this file must be named before others are imported"
                } else {
                    "a file belongs to one package"
                };
                self.report(
                    Diagnostic::error(pragma, message)
                        .help("write /*@package p*/ once and then /*@import-package q*/"),
                );
            }
            packages.push(self.pragma_argument(pragma));
        }
        let kind = match self.peek() {
            Tok::Machine | Tok::Model | Tok::System => MachineKind::Machine,
            Tok::Refinement => MachineKind::Refinement,
            Tok::Implementation => MachineKind::Implementation,
            Tok::Definitions => return self.definition_file(),
            Tok::Eof => {
                return self.fail(Diagnostic::error(self.span(), "the text is empty: expected a machine"));
            }
            _ => return self.unexpected("MACHINE, REFINEMENT, IMPLEMENTATION or DEFINITIONS"),
        };
        self.machine(kind, packages).map(Unit::Machine)
    }

    fn definition_file(&mut self) -> Parse<Unit> {
        self.advance();
        let items = self.definition_items(Bodies::Any);
        // Some definition files are closed by END.
        self.eat(Tok::End);
        if self.peek() != Tok::Eof {
            return self.unexpected("a definition or the end of the text");
        }
        Ok(Unit::Definitions(items))
    }

    fn machine(&mut self, kind: MachineKind, packages: Vec<Name>) -> Parse<Machine> {
        let start = self.advance();
        let header = self.header(kind);
        if header.is_err() {
            self.skip_to_clause();
        }
        let mut seen = Vec::new();
        let mut clauses = Vec::new();
        loop {
            match self.peek() {
                Tok::End => break,
                Tok::Eof => {
                    // An operation that goes on to the end of the text has been told.
                    let here = self.span();
                    let told = |d: &Diagnostic| d.labels.first().is_some_and(|(span, _)| *span == here);
                    if !self.diagnostics.last().is_some_and(told) {
                        let _ = self.unexpected::<()>("a clause or the END of the machine");
                    }
                    break;
                }
                tok if opens_clause(tok) => {
                    let span = self.advance();
                    seen.push((tok, span));
                    self.open_blocks.clear();
                    match self.clause(tok) {
                        Ok(kind) => clauses.push(Clause { kind, span }),
                        Err(Failed) => self.skip_to_clause(),
                    }
                }
                _ => {
                    let _ = self.unexpected::<()>("an operator, a clause or END");
                    self.skip_to_clause();
                }
            }
        }
        if self.eat(Tok::End) && self.peek() != Tok::Eof {
            let _ = self.unexpected::<()>("the end of the text after the END of the machine");
        }
        let (name, params, refines) = header?;
        let machine =
            Machine { kind, name, params, refines, clauses, packages, span: start.to(self.last_span()) };
        // A clause that could not be read is not missing.
        let all_read = self.diagnostics.iter().all(|d| d.severity != Severity::Error);
        for diagnostic in clause_rules::check(&machine, &seen, all_read) {
            self.report(diagnostic);
        }
        Ok(machine)
    }

    fn header(&mut self, kind: MachineKind) -> Parse<(Ident, Vec<Ident>, Option<Ident>)> {
        let name = self.dotted()?;
        if name.name.contains('.') {
            self.report(Diagnostic::error(name.span, "the name of a machine may not hold a dot"));
        }
        let mut params = Vec::new();
        if self.eat(Tok::ParOpen) {
            params = self.declared_list()?;
            self.expect(Tok::ParClose)?;
        }
        let mut refines = None;
        if kind != MachineKind::Machine {
            if self.peek() != Tok::Refines {
                return self.unexpected("`REFINES` and the name of the refined machine");
            }
            self.advance();
            refines = Some(self.dotted()?);
        }
        Ok((name, params, refines))
    }

    fn clause(&mut self, tok: Tok) -> Parse<ClauseKind> {
        Ok(match tok {
            Tok::Constraints => ClauseKind::Constraints(self.predicate()?.expr),
            Tok::Properties => ClauseKind::Properties(self.predicate()?.expr),
            Tok::Invariant => ClauseKind::Invariant(self.predicate()?.expr),
            Tok::Assertions => {
                ClauseKind::Assertions(self.separated(Tok::Semicolon, |p| Ok(p.predicate()?.expr))?)
            }
            Tok::Sees => ClauseKind::Sees(self.comma_list(Self::machine_ref)?),
            Tok::Uses => ClauseKind::Uses(self.comma_list(Self::machine_ref)?),
            Tok::Includes => ClauseKind::Includes(self.comma_list(Self::machine_ref)?),
            Tok::Extends => ClauseKind::Extends(self.comma_list(Self::machine_ref)?),
            Tok::Imports => ClauseKind::Imports(self.comma_list(Self::machine_ref)?),
            Tok::Promotes => ClauseKind::Promotes(self.comma_list(Self::dotted)?),
            Tok::CspController => {
                let script = self.dotted()?;
                let process = if self.peek() == Tok::Ident { Some(self.component()?) } else { None };
                ClauseKind::CspController(script, process)
            }
            Tok::Sets => ClauseKind::Sets(self.separated(Tok::Semicolon, Self::set)?),
            Tok::Freetypes => ClauseKind::Freetypes(self.separated(Tok::Semicolon, Self::freetype)?),
            Tok::Constants | Tok::ConcreteConstants => ClauseKind::Constants(self.declared_list()?),
            Tok::AbstractConstants => ClauseKind::AbstractConstants(self.declared_list()?),
            Tok::Variables | Tok::AbstractVariables => ClauseKind::Variables(self.declared_list()?),
            Tok::ConcreteVariables => ClauseKind::ConcreteVariables(self.declared_list()?),
            Tok::Values => ClauseKind::Values(self.separated(Tok::Semicolon, Self::valuation)?),
            Tok::Initialisation | Tok::Initialization => ClauseKind::Initialisation(self.sequence()?),
            Tok::Operations | Tok::Events => ClauseKind::Operations(self.operations()?),
            Tok::LocalOperations => ClauseKind::LocalOperations(self.operations()?),
            Tok::Definitions => ClauseKind::Definitions(self.definition_items(Bodies::Any)),
            Tok::Expressions => ClauseKind::Definitions(self.definition_items(Bodies::Expressions)),
            Tok::Predicates => ClauseKind::Definitions(self.definition_items(Bodies::Predicates)),
            _ => {
                let d = Diagnostic::error(self.last_span(), "`REFINES` belongs to the header")
                    .help("write REFINEMENT Name REFINES Abstract");
                return self.fail(d);
            }
        })
    }

    fn machine_ref(&mut self) -> Parse<MachineRef> {
        let full = self.dotted()?;
        let (prefix, machine) = match full.name.rsplit_once('.') {
            Some((prefix, machine)) => (
                Some(Ident { name: prefix.into(), span: full.span }),
                Ident { name: machine.into(), span: full.span },
            ),
            None => (None, full),
        };
        let mut args = Vec::new();
        if self.eat(Tok::ParOpen) {
            args = self.arguments(&mut 0)?;
        }
        let mut file = None;
        if self.peek() == Tok::File {
            let pragma = self.advance();
            file = Some(self.pragma_argument(pragma));
        }
        Ok(MachineRef { prefix, machine, args, file })
    }

    fn set(&mut self) -> Parse<SetDecl> {
        let name = self.declared()?;
        if !self.eat(Tok::Equal) {
            return Ok(SetDecl::Deferred(name));
        }
        if self.peek() == Tok::Ident {
            let definition = self.declared()?;
            return Ok(SetDecl::ByDefinition(name, definition));
        }
        self.expect(Tok::BraceOpen)?;
        let elements = self.declared_list()?;
        self.expect(Tok::BraceClose)?;
        Ok(SetDecl::Enumerated(name, elements))
    }

    fn freetype(&mut self) -> Parse<Freetype> {
        let name = self.declared()?;
        let mut params = Vec::new();
        if self.eat(Tok::ParOpen) {
            params = self.declared_list()?;
            self.expect(Tok::ParClose)?;
        }
        self.expect(Tok::Equal)?;
        let constructors = self.comma_list(|p| {
            let constructor = p.declared()?;
            let mut argument = None;
            if p.eat(Tok::ParOpen) {
                argument = Some(p.in_par()?.expr);
                p.expect(Tok::ParClose)?;
            }
            Ok((constructor, argument))
        })?;
        Ok(Freetype { name, params, constructors })
    }

    fn valuation(&mut self) -> Parse<(Ident, Expr)> {
        let name = self.dotted()?;
        self.expect(Tok::Equal)?;
        let value = self.formula(Level::EXPRESSION)?;
        self.want_expression(&value);
        Ok((name, value.expr))
    }

    /// Operations between `;`. A failed one is skipped, so that all errors are found.
    fn operations(&mut self) -> Parse<Vec<Operation>> {
        let mut operations = Vec::new();
        let mut failed = false;
        loop {
            match self.operation() {
                Ok(operation) => operations.push(operation),
                Err(Failed) => {
                    failed = true;
                    self.open_blocks.clear();
                    self.skip_to_operation();
                }
            }
            if !self.eat(Tok::Semicolon) {
                return if failed { Err(Failed) } else { Ok(operations) };
            }
        }
    }

    fn operation(&mut self) -> Parse<Operation> {
        let mut name = self.dotted()?;
        let mut results = Vec::new();
        if matches!(self.peek(), Tok::Comma | Tok::Results) {
            if name.name.contains('.') {
                self.report(Diagnostic::error(name.span, "the name of a result may not hold a dot"));
            }
            results.push(name);
            while self.eat(Tok::Comma) {
                results.push(self.declared()?);
            }
            self.expect(Tok::Results)?;
            name = self.dotted()?;
        }
        let mut params = Vec::new();
        if self.eat(Tok::ParOpen) {
            params = self.declared_list()?;
            self.expect(Tok::ParClose)?;
        }
        let mut refines = None;
        if self.peek() == Tok::Ident && self.slice(self.span()) == "ref" {
            self.advance();
            refines = Some(self.dotted()?);
        }
        if self.peek() != Tok::Equal {
            return self.unexpected("`=` and the body of the operation");
        }
        self.advance();
        let body = self.parallel()?;
        if self.peek() != Tok::Semicolon && self.peek() != Tok::End && !opens_clause(self.peek()) {
            return self.unexpected("`;` before the next operation, `||`, a clause or END");
        }
        Ok(Operation { name, results, params, refines, body })
    }
}
