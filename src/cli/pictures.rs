//! `bombus check --graph`, `--coverage` and `--require-coverage`: what is written beside the verdict.
//!
//! In: arguments as typed, and the exit status of the check. Out: files, words, and the status with the coverage counted
//! in. Both look at the states on their own, on values, and say how far they got.

use super::args;
use super::meaning::loading;
use super::run::{complain, rejected, said};
use super::{outputs, status};
use crate::base::FileId;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::driver::{self, Coverage, Part};
use crate::report::coverage_file::{Covered, EventRow, PartRow, VariableRow};
use crate::report::graph_file;
use clap::Args;
use std::path::{Path, PathBuf};

/// States that are drawn, and that coverage is computed on, unless the user says otherwise.
const DRAWN: usize = 1_000;
const COVERED: usize = 100_000;

/// Options of `check` that look at the states once more.
#[derive(Args, Debug, Clone, Default)]
pub struct Pictures {
    /// Write the states and steps as a graph: .dot, .graphml, .json or .svg by extension
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// With --graph: states with the same value of this expression are one node
    #[arg(long, value_name = "EXPR", requires = "graph", allow_hyphen_values = true)]
    pub project: Option<String>,
    /// With --graph: the most states that are drawn [default: 1000]
    #[arg(long, value_name = "N", requires = "graph")]
    pub graph_states: Option<usize>,
    /// Say what is ever used of the model (values, events, parts of guards, implications), or write it to FILE: .txt,
    /// .json or .html
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub coverage: Option<Option<PathBuf>>,
    /// The check ends with status 3 if an event is never enabled, a part of a guard never true, or the left side of an
    /// implication never true
    #[arg(long)]
    pub require_coverage: bool,
    /// With --coverage or --require-coverage: the most states that are looked at [default: 100000]
    #[arg(long, value_name = "N")]
    pub coverage_states: Option<usize>,
}

impl Pictures {
    /// Why these options cannot be followed, before anything is searched.
    pub fn refusal(&self, of_b: bool) -> Option<String> {
        let asked = self.graph.is_some() || self.coverage.is_some() || self.require_coverage;
        if asked && !of_b {
            return Some("--graph and --coverage are for machines of the B family".into());
        }
        if self.coverage_states.is_some() && self.coverage.is_none() && !self.require_coverage {
            return Some("--coverage-states: limits --coverage and --require-coverage".into());
        }
        let known = |file: &Path, kinds: &[&str]| kinds.contains(&extension(file));
        if let Some(file) = self.graph.as_deref().filter(|f| !known(f, &graph_file::EXTENSIONS)) {
            return Some(format!("--graph {}: use .dot, .graphml, .json or .svg", file.display()));
        }
        let graph = self.graph.iter().map(|file| ("--graph", file));
        let coverage = self.coverage.iter().flatten().map(|file| ("--coverage", file));
        let unwritable = graph.chain(coverage).find_map(|(option, file)| outputs::refused(option, file));
        match &self.coverage {
            Some(Some(file)) if !known(file, &["txt", "json", "html"]) => {
                Some(format!("--coverage={}: use .txt, .json or .html", file.display()))
            }
            _ => unwritable,
        }
    }

    /// The files that will be written.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.graph.iter().chain(self.coverage.iter().flatten())
    }

    /// Writes what was asked for; the status of the whole.
    pub fn write(
        &self,
        model: &Path,
        given: &args::Loading,
        quiet_out: bool,
        check: u8,
        budget: &Budget,
    ) -> u8 {
        let mut status = check;
        if let Some(file) = &self.graph {
            let states = self.graph_states.unwrap_or(DRAWN);
            match driver::state_graph(model, &loading(given), self.project.as_deref(), states, budget) {
                Err(r) => return rejected(&r),
                Ok(drawn) => {
                    for reason in &drawn.missing {
                        complain(&format!("{}: missing: {reason}", file.display()));
                    }
                    let content = drawn.render(extension(file)).unwrap_or_default();
                    if !outputs::write(file, &content) {
                        status = status::INTERNAL;
                    }
                }
            }
        }
        if self.coverage.is_some() || self.require_coverage {
            let states = self.coverage_states.unwrap_or(COVERED);
            match driver::coverage(model, &loading(given), states, budget) {
                Err(r) => return rejected(&r),
                Ok((coverage, sources)) => {
                    let covered = in_words(&coverage, &sources);
                    if !self.show(&covered, quiet_out) {
                        status = status::INTERNAL;
                    }
                    if self.require_coverage && status == status::OK {
                        status = required(&covered);
                    }
                }
            }
        }
        status
    }

    fn show(&self, covered: &Covered, quiet_out: bool) -> bool {
        match &self.coverage {
            None => true,
            Some(Some(file)) => outputs::write(file, &covered.render(extension(file)).unwrap_or_default()),
            // The JSON of the check has the output for itself.
            Some(None) if quiet_out => {
                complain(&covered.text());
                true
            }
            Some(None) => said(&covered.text()),
        }
    }
}

/// Status 3 and the reasons, unless everything was met.
fn required(covered: &Covered) -> u8 {
    let mut reasons = covered.uncovered.clone();
    if !covered.complete {
        reasons.push(format!("only {} states were looked at", covered.states));
    }
    for reason in &reasons {
        complain(&format!("not covered: {reason}"));
    }
    if reasons.is_empty() { status::OK } else { status::INCOMPLETE }
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// Coverage with the places of its parts as a file can tell them.
fn in_words(coverage: &Coverage, sources: &Sources) -> Covered {
    let part = |p: &Part| PartRow {
        text: p.text.clone(),
        file: p.span.file.0 as usize,
        line: sources.position(p.span).0,
        bytes: (p.span.start as usize, p.span.end as usize),
        ever_true: p.first_true.is_some(),
        ever_false: p.first_false.is_some(),
        doubtful: p.doubtful,
    };
    let text = |n: u32| {
        let file = sources.get(FileId(n));
        (file.name.clone(), file.text.to_string())
    };
    Covered {
        machine: coverage.machine.clone(),
        states: coverage.states,
        complete: coverage.complete,
        missing: coverage.missing.clone(),
        variables: coverage
            .variables
            .iter()
            .map(|v| VariableRow {
                name: v.name.clone(),
                ty: v.ty.clone(),
                values: v.values,
                least: v.least.clone(),
                greatest: v.greatest.clone(),
            })
            .collect(),
        events: coverage
            .events
            .iter()
            .map(|e| EventRow {
                name: e.name.clone(),
                states: e.states,
                transitions: e.transitions,
                guard: e.guard.iter().map(part).collect(),
            })
            .collect(),
        implications: coverage.implications.iter().map(part).collect(),
        uncovered: coverage.uncovered(),
        texts: (0..sources.len() as u32).map(text).collect(),
    }
}
