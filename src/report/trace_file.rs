//! A counterexample as a file: `.prob2trace` (ProB2-UI), `.json`, `.txt`, `.html`, or a sequence diagram as `.mmd` or `.svg`, by extension.

use super::json;
use super::outcome::{Outcome, SETUP_CONSTANTS, TraceStep, Violation};
use super::sequence::Sequence;
use super::{text, trace_page};
use crate::explain::FailingStep;
use serde_json::{Value, json};

/// The kinds of trace files that can be written.
pub const EXTENSIONS: [&str; 6] = ["prob2trace", "json", "txt", "html", "mmd", "svg"];

/// A path of a model, and what it shows.
pub struct Traced<'a> {
    pub file: &'a str,
    pub machine: &'a str,
    pub sets: Vec<&'a str>,
    pub violation: Option<&'a Violation>,
    pub steps: &'a [TraceStep],
    pub loop_start: Option<usize>,
    /// An SVG for each step, for the page; empty where there is none.
    pub drawings: Vec<String>,
    /// The check that found the path, for the page.
    pub report: Option<Report<'a>>,
}

impl Traced<'_> {
    /// The step that fails after the last state of the path.
    fn failing(&self) -> Option<&FailingStep> {
        self.report.as_ref().and_then(|report| report.outcome.why.step.as_ref())
    }
}

/// A check, and the command that asked for it.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    pub outcome: &'a Outcome,
    pub command: &'a str,
}

/// The counterexample as a trace file with this extension, or the list of known extensions.
pub fn render(o: &Outcome, extension: &str, command: &str, drawings: Vec<String>) -> Result<String, String> {
    let (steps, loop_start): (&[TraceStep], _) =
        o.violation.as_ref().map_or((&[], None), |v| (&v.trace, v.loop_start));
    let traced = Traced {
        file: &o.file,
        machine: &o.machine,
        sets: o.scope.sets.iter().map(|s| s.name.as_str()).collect(),
        violation: o.violation.as_ref(),
        steps,
        loop_start,
        drawings,
        report: Some(Report { outcome: o, command }),
    };
    render_trace(&traced, extension)
}

/// The content of a trace file with this extension, or the list of known extensions.
pub fn render_trace(o: &Traced, extension: &str) -> Result<String, String> {
    let (steps, loop_start) = (o.steps, o.loop_start);
    match extension {
        "prob2trace" => Ok(pretty(&prob2trace(o, steps))),
        "json" => Ok(pretty(&json!({
            "model": {"file": o.file, "machine": o.machine},
            "violation": o.violation.as_ref().map(|v| json!({"kind": v.kind, "property": v.property})),
            "trace": steps.iter().map(json::step).collect::<Vec<_>>(),
            "loop_start": loop_start,
            "failing_step": o.failing().map(json::failing_step),
        }))),
        "txt" => {
            let mut out = String::new();
            match (&o.violation, &o.report) {
                (Some(v), Some(report)) => text::findings(&mut out, v, report.outcome),
                (Some(v), None) => text::violation(&mut out, v),
                (None, _) => text::trace(&mut out, steps, loop_start),
            }
            Ok(out)
        }
        "html" => Ok(trace_page::page(o)),
        "mmd" => Ok(Sequence::of(steps, o.failing(), None).mermaid()),
        "svg" => Ok(Sequence::of(steps, o.failing(), None).svg()),
        other => {
            Err(format!("unknown kind of trace file '.{other}': use one of .{}", EXTENSIONS.join(", .")))
        }
    }
}

fn pretty(v: &Value) -> String {
    let mut text = serde_json::to_string_pretty(v).unwrap_or_default();
    text.push('\n');
    text
}

/// Format version 6: each transition with its parameters, results and the values it changed.
fn prob2trace(o: &Traced, steps: &[TraceStep]) -> Value {
    let names = |setup: bool| -> Vec<&str> {
        let mut all = Vec::new();
        for s in steps.iter().filter(|s| (s.event == SETUP_CONSTANTS) == setup) {
            for (n, _) in &s.state {
                if !all.contains(&n.as_str()) {
                    all.push(n.as_str());
                }
            }
        }
        all
    };
    let constants = names(true);
    let variables: Vec<&str> = names(false).into_iter().filter(|n| !constants.contains(n)).collect();
    let mut list = Vec::new();
    let mut before: &[(String, String)] = &[];
    for s in steps {
        let (same, changed): (Vec<_>, Vec<_>) =
            s.state.iter().cloned().partition(|pair| before.contains(pair) && s.event != SETUP_CONSTANTS);
        let same: Vec<&String> = same.iter().map(|(n, _)| n).collect();
        list.push(json!({
            "name": s.event,
            "params": json::pairs(&s.params),
            "results": json::pairs(&s.results),
            "destState": json::pairs(&changed),
            "destStateNotChanged": same,
            "preds": null,
            "postconditions": [],
            "description": "",
        }));
        before = &s.state;
    }
    json!({
        "description": o.violation.as_ref().map_or(String::new(), |v| format!("{}: {}", v.kind, v.property)),
        "transitionList": list,
        "variableNames": variables,
        "constantNames": constants,
        "setNames": o.sets,
        "machineOperationInfos": {},
        "globalIdentifierTypes": {},
        "metadata": {
            "fileType": "Trace",
            "formatVersion": 6,
            "creator": format!("bombus {}", env!("CARGO_PKG_VERSION")),
            "modelName": o.machine,
        },
    })
}
