//! Which clauses a machine may have, and which need each other.
//!
//! In: a machine as parsed and the clause keywords as written. Out: messages. Never here: names and types.

use super::ast::{ClauseKind, Machine, MachineKind};
use super::token::Tok;
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;

/// Keywords that mean the same clause are one.
fn canonical(tok: Tok) -> Tok {
    match tok {
        Tok::ConcreteConstants => Tok::Constants,
        Tok::AbstractVariables => Tok::Variables,
        Tok::Initialization => Tok::Initialisation,
        Tok::Events => Tok::Operations,
        tok => tok,
    }
}

fn forbidden(kind: MachineKind, tok: Tok) -> bool {
    match kind {
        MachineKind::Machine => matches!(tok, Tok::Imports | Tok::Values),
        MachineKind::Refinement => {
            matches!(tok, Tok::Uses | Tok::Constraints | Tok::LocalOperations | Tok::Imports | Tok::Values)
        }
        MachineKind::Implementation => {
            matches!(tok, Tok::Constraints | Tok::Includes | Tok::Uses | Tok::AbstractConstants)
        }
    }
}

/// What is wrong with the clauses of a machine; which ones are missing is known only if all were read.
pub fn check(machine: &Machine, seen: &[(Tok, Span)], all_read: bool) -> Vec<Diagnostic> {
    let mut messages = Vec::new();
    let mut first: Vec<(Tok, Span)> = Vec::new();
    for &(tok, span) in seen {
        let tok = canonical(tok);
        if let Some(&(_, earlier)) = first.iter().find(|(other, _)| *other == tok) {
            let message = format!("the clause {} stands here a second time", tok.spelling());
            messages.push(Diagnostic::error(span, message).label(earlier, "the first one"));
        } else {
            first.push((tok, span));
        }
        // Other tools take it, and what is meant is clear.
        if machine.kind == MachineKind::Implementation && tok == Tok::Variables {
            let message = "an implementation has no abstract variables; these are read as CONCRETE_VARIABLES";
            messages.push(Diagnostic::warning(span, message));
        }
        if tok == Tok::CspController {
            let message = "a process guides this machine only if --csp names its script";
            messages.push(Diagnostic::warning(span, message));
        }
        if forbidden(machine.kind, tok) {
            let kind = match machine.kind {
                MachineKind::Machine => "an abstract machine",
                MachineKind::Refinement => "a refinement",
                MachineKind::Implementation => "an implementation",
            };
            messages
                .push(Diagnostic::error(span, format!("{kind} may not have the clause {}", tok.spelling())));
        }
    }
    let has = |tok: Tok| first.iter().any(|(other, _)| *other == tok);
    if machine.kind == MachineKind::Machine {
        for clause in &machine.clauses {
            let needed: &[Tok] = match clause.kind {
                ClauseKind::Constants(_) | ClauseKind::AbstractConstants(_) => &[Tok::Properties],
                ClauseKind::Variables(_) | ClauseKind::ConcreteVariables(_) => {
                    &[Tok::Invariant, Tok::Initialisation]
                }
                _ => &[],
            };
            for &tok in needed.iter().filter(|tok| all_read && !has(**tok)) {
                let message = format!("this clause needs a clause {}", tok.spelling());
                messages.push(Diagnostic::error(clause.span, message));
            }
        }
        if machine.params.is_empty() {
            let constraints = machine.clauses.iter().filter(|c| matches!(c.kind, ClauseKind::Constraints(_)));
            messages.extend(constraints.map(|clause| {
                Diagnostic::error(clause.span, "CONSTRAINTS without parameters of the machine")
                    .help("what constants satisfy stands in PROPERTIES")
            }));
        }
        // A name without upper-case letters is a scalar parameter.
        let scalar = machine.params.iter().find(|p| !p.name.chars().any(char::is_uppercase));
        if let Some(scalar) = scalar.filter(|_| !has(Tok::Constraints)) {
            let message = format!("the scalar parameter `{}` needs a clause CONSTRAINTS", scalar.name);
            messages.push(Diagnostic::error(scalar.span, message));
        }
    }
    messages
}
