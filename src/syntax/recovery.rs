//! Where reading goes on after an error: at clauses, operations and definitions.
//!
//! In: the cursor. Out: the cursor at a place where one of these can begin. Never here: messages.

use super::parser::Parser;
use super::token::Tok;
use bombus_base::Span;

/// Keywords that open a clause of a machine.
pub fn opens_clause(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        Sets | Freetypes
            | Constants
            | AbstractConstants
            | ConcreteConstants
            | Properties
            | Constraints
            | Variables
            | AbstractVariables
            | ConcreteVariables
            | Invariant
            | Assertions
            | Initialisation
            | Initialization
            | Operations
            | Events
            | LocalOperations
            | Definitions
            | Expressions
            | Predicates
            | Includes
            | Extends
            | Imports
            | Sees
            | Uses
            | Promotes
            | Values
            | CspController
            | Refines
    )
}

/// Keywords that open a block of substitutions.
fn opens_block(tok: Tok) -> bool {
    use Tok::*;
    matches!(tok, Begin | Pre | Assert | Choice | If | Select | Case | Any | Let | Var | While)
}

/// What ends the body of a definition.
pub fn ends_body(tok: Tok) -> bool {
    opens_clause(tok) || matches!(tok, Tok::Semicolon | Tok::End | Tok::Eof)
}

impl<'t> Parser<'t> {
    /// Whether a clause begins here; the INVARIANT of an open loop is none.
    pub fn clause_ahead(&mut self, tok: Tok) -> bool {
        match tok {
            Tok::Invariant if self.open_loops > 0 => {
                self.open_loops -= 1;
                false
            }
            Tok::End => self.peek_at(1) == Tok::Eof,
            _ => opens_clause(tok),
        }
    }

    /// The block that must have been left open if this is the place of an error.
    pub fn unclosed_block(&self, expected: &str) -> Option<(Tok, Span)> {
        let here = self.peek();
        if here == Tok::Eof && self.open_blocks.is_empty() {
            return self.closed_block.filter(|_| self.previous() == Tok::End);
        }
        let header = here == Tok::Equal
            && expected.contains("the end of the block")
            && (opens_block(self.peek_at(1)) || matches!(self.peek_at(2), Tok::Assign | Tok::BecomesIn));
        let next =
            here == Tok::Ident && expected.contains("the end of the block") && self.operation_begins_at(0);
        let ends = here == Tok::Eof || opens_clause(here) && self.open_loops == 0;
        self.open_blocks.last().copied().filter(|_| header || next || ends)
    }

    /// Skips to the next clause, to the END of the machine, or to the end of the text.
    pub fn skip_to_clause(&mut self) {
        self.skip_until(|_| false);
    }

    /// Skips to the `;` before the next operation, or as far as `skip_to_clause`.
    pub fn skip_to_operation(&mut self) {
        self.skip_until(Self::operation_follows);
    }

    /// Skips to the `;` before the next definition, or as far as `skip_to_clause`.
    pub fn skip_to_definition(&mut self) {
        self.skip_until(Self::definition_follows);
    }

    fn skip_until(&mut self, stop: impl Fn(&Self) -> bool) {
        loop {
            match self.peek() {
                Tok::Eof => break,
                Tok::While => {
                    self.open_loops += 1;
                    self.advance();
                }
                Tok::Semicolon if stop(self) => break,
                tok if self.clause_ahead(tok) => break,
                _ => {
                    self.advance();
                }
            }
        }
        self.open_loops = 0;
    }

    /// Whether the `;` ahead is followed by a definition.
    fn definition_follows(&self) -> bool {
        match (self.peek_at(1), self.peek_at(2)) {
            (Tok::Str, _) | (Tok::Ident, Tok::Defines) => true,
            (Tok::Ident, Tok::ParOpen) => {
                let mut at = 3;
                while matches!(self.peek_at(at), Tok::Ident | Tok::Comma) {
                    at += 1;
                }
                self.peek_at(at) == Tok::ParClose && self.peek_at(at + 1) == Tok::Defines
            }
            _ => false,
        }
    }

    /// Whether the `;` ahead is followed by the header of an operation.
    fn operation_follows(&self) -> bool {
        self.operation_begins_at(1)
    }

    /// Whether the tokens so far ahead are the head of an operation.
    fn operation_begins_at(&self, ahead: usize) -> bool {
        let mut at = ahead;
        let mut names = 0;
        while matches!(self.peek_at(at), Tok::Ident | Tok::Comma | Tok::Dot) {
            names += usize::from(self.peek_at(at) == Tok::Ident);
            at += 1;
        }
        match self.peek_at(at) {
            Tok::Results => names > 0,
            Tok::Equal => names == 1,
            Tok::ParOpen if names == 1 => {
                at += 1;
                while matches!(self.peek_at(at), Tok::Ident | Tok::Comma) {
                    at += 1;
                }
                self.peek_at(at) == Tok::ParClose && self.peek_at(at + 1) == Tok::Equal
            }
            _ => false,
        }
    }
}
