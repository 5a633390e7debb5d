//! A process of a CSP script, step by step.
//!
//! In: a script and the choices of a user. Out: the events that are possible, the path so far, the present state.
//! Never here: commands as typed, printing.

use super::Failure;
use super::csp::{load, no_process, read_expression, reject, term_machine};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::csp::compose::Smaller;
use crate::csp::machine::Machine;
use crate::system::{Finding, FindingKind, System};
use std::path::Path;

/// A walk through the states of a process.
pub struct ProcessAnimation {
    machine: Machine,
    /// Events with the states that they led to.
    path: Vec<(u32, Vec<u64>)>,
    /// Steps that were taken back, the last one first.
    undone: Vec<(u32, Vec<u64>)>,
}

impl ProcessAnimation {
    /// The process of a name, or `MAIN`.
    pub fn new(path: &Path, name: Option<&str>) -> Result<ProcessAnimation, Failure> {
        let mut sources = Sources::default();
        let script = load(path, &mut sources).map_err(|d| reject(&sources, d))?;
        let name = name.unwrap_or("MAIN");
        if script.names.find(name).is_none_or(|n| !script.globals.contains_key(&n)) {
            return Err(reject(&sources, vec![no_process(name)]));
        }
        let (mut eval, main) =
            read_expression(script, name, "<main>", &mut sources).map_err(|d| reject(&sources, d))?;
        let machine = term_machine(&mut eval, &main, Smaller::Steps, &sources, &Budget::unlimited())?;
        Ok(ProcessAnimation { machine, path: Vec::new(), undone: Vec::new() })
    }

    fn here(&self) -> Vec<u64> {
        self.path.last().map_or_else(|| self.machine.start(), |(_, state)| state.clone())
    }

    fn moves(&self) -> Result<Vec<(u32, Vec<u64>)>, String> {
        let mut scratch = self.machine.worker();
        match self.machine.moves(&mut scratch, &self.here()) {
            Ok(moves) => Ok(moves.map(|(event, to)| (event, to.to_vec())).collect()),
            Err(Some(fault)) => {
                let kind = FindingKind::WellDefinedness;
                Err(self.machine.property(&Finding { kind, property: fault, event: None }))
            }
            Err(None) => Err(self.machine.reason(0)),
        }
    }

    /// The events that are possible, in order; or the fault of the present state.
    pub fn choices(&self) -> Result<Vec<String>, String> {
        Ok(self.moves()?.iter().map(|(event, _)| self.machine.event_text(*event).to_string()).collect())
    }

    pub fn choose(&mut self, number: usize) -> bool {
        let chosen = self.moves().ok().and_then(|moves| moves.into_iter().nth(number));
        let found = chosen.is_some();
        if found {
            self.undone.clear();
        }
        self.path.extend(chosen);
        found
    }

    /// Does an event by its name; an error if there is none such, or more than one way to do it.
    pub fn choose_named(&mut self, event: &str) -> Result<(), String> {
        let choices = self.choices()?;
        let ways: Vec<usize> = (0..choices.len()).filter(|i| choices[*i] == event).collect();
        match ways[..] {
            [one] => {
                self.choose(one);
                Ok(())
            }
            [] => Err(format!("{event} is neither a command nor an event that is possible")),
            _ => {
                let numbers: Vec<String> = ways.iter().map(|i| (i + 1).to_string()).collect();
                Err(format!("{event} leads to different states: choose one of {}", numbers.join(", ")))
            }
        }
    }

    pub fn undo(&mut self) -> bool {
        let last = self.path.pop();
        let found = last.is_some();
        self.undone.extend(last);
        found
    }

    pub fn redo(&mut self) -> bool {
        let next = self.undone.pop();
        let found = next.is_some();
        self.path.extend(next);
        found
    }

    /// Goes to the state after so many steps of the path, or of what was taken back.
    pub fn go_to(&mut self, steps: usize) -> bool {
        if steps > self.path.len() + self.undone.len() {
            return false;
        }
        while self.path.len() > steps {
            self.undo();
        }
        while self.path.len() < steps {
            self.redo();
        }
        true
    }

    /// The events of the path so far.
    pub fn history(&self) -> Vec<String> {
        self.path.iter().map(|(event, _)| self.machine.event_text(*event).to_string()).collect()
    }

    /// The local states of the components.
    pub fn state(&self) -> Vec<(String, String)> {
        self.machine.describe(&self.here())
    }

    pub fn has_ended(&self) -> bool {
        self.machine.terminated(&mut self.machine.worker(), &self.here())
    }
}
