//! Modules, their instances and timed sections, as written.
//!
//! In: the tokens from `module`, `instance` or `Timed` on. Out: declarations that hold declarations.
//! Never here: what the names inside of them mean (`levels`), how time passes (`timed`).

use super::parser::{Allowed, Parsed, Parser};
use super::token::{Sym, Tok};
use super::tree::DeclKind;
use bombus_base::Span;

impl Parser<'_> {
    /// `module M(x) … exports … endmodule`.
    pub(super) fn module(&mut self) -> Parsed<DeclKind> {
        let start = self.span();
        self.next();
        let (name, _) = self.name()?;
        let mut parameters = Vec::new();
        if self.is("(") && !self.tokens[self.at].first {
            self.next();
            if self.is(")") {
                return self.fail("a module without parameters is written without brackets");
            }
            parameters = self.names()?;
            self.expect(")")?;
        }
        let inside = self.decls(&["exports", "endmodule"], Allowed::MODULE);
        let exports =
            if self.take("exports") { self.decls(&["endmodule"], Allowed::MODULE) } else { Vec::new() };
        if !self.take("endmodule") {
            return self.fail_at(start, "this module has no `endmodule`");
        }
        Ok(DeclKind::Module(name, parameters, inside, exports))
    }

    /// `instance N = M(e)`.
    pub(super) fn instance(&mut self) -> Parsed<DeclKind> {
        self.next();
        let (name, _) = self.name()?;
        self.expect("=")?;
        let start = self.span();
        let (module, _) = self.name()?;
        let module = self.qualified(module)?;
        let span = start.to(self.before());
        let mut arguments = Vec::new();
        if self.is("(") && !self.tokens[self.at].first {
            self.next();
            if self.is(")") {
                return self.fail("an instance without arguments is written without brackets");
            }
            arguments = self.list(")")?;
            self.expect(")")?;
        }
        Ok(DeclKind::Instance(name, module, span, arguments))
    }

    /// `Timed(f) { … }`; what may not stand round a section may not stand in it either.
    pub(super) fn timed(&mut self, allowed: Allowed) -> Parsed<DeclKind> {
        let start = self.span();
        self.next();
        let function = if self.take("(") {
            let function = self.expr(0)?;
            self.expect(")")?;
            Some(function)
        } else {
            None
        };
        self.expect("{")?;
        let inside = if allowed.asserts { "a timed section" } else { allowed.inside };
        let decls = self.decls(&["}"], Allowed { prints: false, inside, ..allowed });
        if !self.take("}") {
            return self.fail_at(start, "this timed section is not closed: `}` is missing");
        }
        Ok(DeclKind::Timed(function, decls))
    }

    /// The name `A::B::x`, after its first part.
    pub(super) fn qualified(&mut self, first: Sym) -> Parsed<Sym> {
        let mut name = first;
        while self.take("::") {
            let (part, _): (Sym, Span) = self.name()?;
            let text = format!("{}::{}", self.text(name), self.text(part));
            name = self.script.names.sym(&text);
        }
        Ok(name)
    }

    /// Whether a name of two parts begins here, after its first part.
    pub(super) fn is_qualified(&self) -> bool {
        self.is("::") && matches!(self.tokens.get(self.at + 1).map(|t| &t.tok), Some(Tok::Name(_)))
    }
}
