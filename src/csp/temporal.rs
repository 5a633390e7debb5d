//! Atoms of temporal formulas over processes: events alone.
//!
//! In: the graph of an exploration and the machine that knows its events. Out: which transitions an event pattern
//! means. `[c.1]` stands for `[c(1)]`: a channel with the values of its first fields, `_` for any.
//! Never here: temporal operators; states of processes have no predicates.

use super::machine::Machine;
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use bombus_ltl::atoms::{Atoms, Bound, Extent, Faults, Special};
use bombus_ltl::formula::{Change, Pattern, Text};
use bombus_ltl::view::{Edge, Graph};
use bombus_system::{EventId, System};

/// Events of a machine on a graph.
pub struct Events<'a, G> {
    pub machine: &'a Machine,
    pub graph: &'a G,
}

const NO_STATE: &str = "a process has no variables: formulas speak of its events, as [c.1] or e(c)";

impl<G: Graph> Atoms for Events<'_, G> {
    fn event_names(&self) -> &[String] {
        self.machine.event_names()
    }

    fn predicate(&self, predicate: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(predicate.span, NO_STATE)])
    }

    fn matching(&self, event: EventId, pattern: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        let fits = |parts: &[String]| {
            pattern.arguments.iter().enumerate().all(|(i, wanted)| match wanted {
                None => parts.len() > i + 1,
                Some(text) => parts.get(i + 1).is_some_and(|part| *part == text.text),
            })
        };
        let transitions = self.graph.transitions() as usize;
        Ok(Extent::par(transitions, |i| {
            let edge = Edge(i as u64);
            let here = self.graph.event(edge) == event
                && fits(self.machine.event_parts(self.graph.label(edge) as u32));
            here.into()
        }))
    }

    fn change(&self, _: Change, text: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(text.span, NO_STATE)])
    }

    fn special(&self, _: Special, at: Span) -> Result<Extent, Faults> {
        Err(vec![Diagnostic::error(at, NO_STATE)])
    }

    fn solutions(&self, _: &str, domain: &Text, _: &[Bound]) -> Result<Vec<Bound>, Faults> {
        Err(vec![Diagnostic::error(domain.span, NO_STATE)])
    }
}

/// A formula in which dotted events are written with brackets: `[c.1.A]` becomes `[c(1,A)]`. What stands in braces is a
/// predicate and stays as it is.
pub fn undotted(formula: &str) -> String {
    let chars: Vec<char> = formula.chars().collect();
    let mut out = String::new();
    let (mut at, mut braces) = (0, 0_usize);
    while at < chars.len() {
        match chars[at] {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
        let starts = braces == 0 && chars[at].is_alphabetic() && (at == 0 || !word(chars[at - 1]));
        if !starts {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        let end = (at..chars.len()).find(|i| !word(chars[*i])).unwrap_or(chars.len());
        out.extend(&chars[at..end]);
        at = end;
        let mut parts: Vec<String> = Vec::new();
        while at + 1 < chars.len() && chars[at] == '.' && (word(chars[at + 1]) || chars[at + 1] == '-') {
            let end = (at + 2..chars.len()).find(|i| !word(chars[*i])).unwrap_or(chars.len());
            parts.push(chars[at + 1..end].iter().collect());
            at = end;
        }
        if !parts.is_empty() {
            out.push_str(&format!("({})", parts.join(",")));
        }
    }
    out
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

#[cfg(test)]
mod tests {
    use super::undotted;

    #[test]
    fn a_dotted_event_is_a_channel_with_arguments() {
        assert_eq!(undotted("G([c.1] => F [d._.A])"), "G([c(1)] => F [d(_,A)])");
        assert_eq!(undotted("G e(c.-1) & [tau]"), "G e(c(-1)) & [tau]");
        assert_eq!(undotted("G({m.x = 1} => [c.1])"), "G({m.x = 1} => [c(1)])");
    }
}
