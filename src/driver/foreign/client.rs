//! What a check needs of a formalism beside the seam: reductions on demand, layouts that adapt, figures.
//!
//! In: the systems of other formalisms. Out: one trait that `check` relies on.

use crate::explore::Outcome;
use crate::explore::reduce::por::Preserve;
use crate::net::{Marking, Table};
use crate::pins::Library;
use crate::system::System;
use crate::via::Via;

/// A system that can be checked from the command line.
pub trait Client: System + Send {
    /// Gets ready for a reduction, after all propositions were read. Gives what the findings of the system
    /// itself need, or why there is no reduction.
    fn prepare_reduction(&mut self) -> Result<Preserve, String> {
        Err("nothing is known about the transitions of this model".into())
    }

    /// Changes the layout of states after a search in which some state did not fit; false if that was not
    /// the reason of the failure.
    fn adapt(&mut self) -> bool {
        false
    }

    /// How states are laid out, in words that a saved search keeps.
    fn layout(&self) -> String {
        format!("{} words", self.words())
    }

    /// Takes over a layout that a search was saved with, if it can be one of this model.
    fn adopt(&mut self, _layout: &str) {}

    /// What the formalism counts beside states and transitions.
    fn figures(&self, _found: &Outcome) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

impl Client for Marking {
    fn prepare_reduction(&mut self) -> Result<Preserve, String> {
        Marking::prepare_reduction(self);
        Ok(Preserve::Deadlocks)
    }

    fn adapt(&mut self) -> bool {
        self.widen()
    }

    fn layout(&self) -> String {
        let widths: Vec<String> = self.widths().iter().map(u32::to_string).collect();
        format!("bits {}", widths.join(" "))
    }

    fn adopt(&mut self, layout: &str) {
        let widths = layout.strip_prefix("bits ").map(|all| all.split(' ').map(str::parse).collect());
        if let Some(Ok::<Vec<u32>, _>(widths)) = widths {
            self.set_widths(&widths);
        }
    }

    /// The figures of the Model Checking Contest; a search that did not see all markings has none.
    fn figures(&self, found: &Outcome) -> Vec<(&'static str, u64)> {
        if !found.is_whole() || found.por.is_some() {
            return Vec::new();
        }
        let (place, marking) = self.most_tokens();
        vec![("max token in place", place), ("max token per marking", marking)]
    }
}

/// The bytes of a state are as many as the process says; nothing is known about its transitions.
impl Client for Via {}

impl Client for Library {
    fn prepare_reduction(&mut self) -> Result<Preserve, String> {
        if self.has_assertions() {
            return Err("the model has assertions, which may be broken in states that are skipped".into());
        }
        Library::prepare_reduction(self);
        Ok(Preserve::Deadlocks)
    }
}

impl Client for Table {
    fn prepare_reduction(&mut self) -> Result<Preserve, String> {
        Table::prepare_reduction(self);
        Ok(Preserve::Deadlocks)
    }
}
