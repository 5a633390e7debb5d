//! Temporal formulas over a guided machine: predicates over the state of the machine, events of both.
//!
//! In: formulas as a user wrote them, the definitions of the machine and the pragmas of the script. Out: formulas, and
//! their predicates to be compiled with the machine. Never here: how formulas are decided.

use crate::base::Span;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::csp::temporal::undotted;
use crate::driver::foreign::temporal::Formulas;
use crate::driver::temporal::tree;
use crate::driver::{CheckOptions, Rejected};
use crate::lang::typed::Pred;
use crate::ltl::formula::Text;
use crate::model::{Formula, Model};
use crate::system::{EventId, PropId, Sink, System};

/// A system that only reads propositions: the predicates must be known before the machine is compiled.
pub struct Reading<'a> {
    pub model: &'a mut Model,
    pub names: Vec<String>,
    /// The predicates, by the numbers of their propositions.
    pub asked: Vec<Pred>,
}

impl System for Reading<'_> {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn initial(&self, _: &mut (), _: &mut dyn Sink) {}

    fn successors(&self, _: &mut (), _: &[u64], _: &mut dyn Sink) {}

    fn event(&self, _: &mut (), _: &[u64], _: EventId, _: &mut dyn Sink) {}

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let tree = tree("", &Text { text: text.to_string(), span: at }, "")?;
        match self.model.scope.typed(&mut self.model.machine, &tree)? {
            Formula::Pred(pred) => {
                self.asked.push(pred);
                Ok(PropId(self.asked.len() as u32 - 1))
            }
            Formula::Expr(e) => {
                Err(vec![Diagnostic::error(e.span, "a predicate is wanted here, this is an expression")])
            }
        }
    }
}

/// Reads all formulas that are asked for; dotted events are those of the process.
pub fn read(
    reading: &mut Reading<'_>,
    sources: &mut Sources,
    options: &CheckOptions,
) -> Result<Formulas, Rejected> {
    let mut options = options.clone();
    if options.temporal.assertions {
        let machine = &reading.model.machine;
        options.temporal.ltl.extend(machine.ltl.iter().map(|a| a.formula.clone()));
        options.temporal.ctl.extend(machine.ctl.iter().map(|a| a.formula.clone()));
    }
    Formulas::read(reading, sources, &options, &undotted)
}
