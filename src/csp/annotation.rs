//! Type annotations: `f, g :: Eq a => (a) -> Int`.
//!
//! In: the tokens from the first name on. Out: the names. Types are inferred, so an annotation is read, and refused if
//! it is none, but not kept. Never here: types as the inference knows them (`types`).

use super::parser::{DEPTH, Parsed, Parser};
use super::token::Tok;
use super::tree::{Decl, DeclKind};

impl Parser<'_> {
    /// Whether names and `::` come next: nothing that is declared has a name of two parts.
    pub(super) fn is_annotation(&self) -> bool {
        let mut rest = self.tokens[self.at..].iter().map(|t| &t.tok);
        while let Some(Tok::Name(_)) = rest.next() {
            match rest.next() {
                Some(Tok::Op("::")) => return true,
                Some(Tok::Op(",")) => {}
                _ => return false,
            }
        }
        false
    }

    pub(super) fn annotation(&mut self) -> Parsed<Decl> {
        let start = self.span();
        let names = self.names()?;
        self.expect("::")?;
        self.constraints()?;
        self.type_()?;
        Ok(Decl { kind: DeclKind::Annotation(names), span: start.to(self.before()), place: None })
    }

    fn constraints(&mut self) -> Parsed<()> {
        let start = self.at;
        let bracket = self.take("(");
        loop {
            let class = match (self.peek(), &self.tokens.get(self.at + 1).map(|t| &t.tok)) {
                (Tok::Name(class), Some(Tok::Name(_))) if !self.tokens[self.at + 1].first => *class,
                _ => {
                    self.at = start;
                    return Ok(());
                }
            };
            let text = self.text(class);
            if !["Eq", "Ord", "Set", "Yieldable", "Inputable", "Complete"].contains(&text.as_str()) {
                return self.fail(&format!("`{text}` is no constraint on types"));
            }
            self.at += 2;
            if !self.take(",") {
                break;
            }
        }
        if bracket {
            self.expect(")")?;
        }
        self.expect("=>")
    }

    fn type_(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail("this type nests too deeply");
        }
        match self.next() {
            Tok::Name(_) => {}
            Tok::Op("<") => {
                self.type_()?;
                self.expect(">")?;
            }
            Tok::Op("{") => {
                self.type_()?;
                self.expect("}")?;
            }
            Tok::Op("(|") => {
                self.type_()?;
                self.expect("=>")?;
                self.type_()?;
                self.expect("|)")?;
            }
            Tok::Op("(") => {
                while !self.is(")") {
                    self.type_()?;
                    if !self.take(",") {
                        break;
                    }
                }
                self.expect(")")?;
                if self.take("->") {
                    self.type_()?;
                }
            }
            _ => {
                self.at -= 1;
                return self.fail("a type is expected here");
            }
        }
        while self.take("=>") || self.take("=>*") || self.take(".") {
            self.type_()?;
        }
        self.depth -= 1;
        Ok(())
    }
}
