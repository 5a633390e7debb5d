//! A counterexample as a file: `.prob2trace` (ProB2-UI), `.json`, `.txt`, `.html`, by extension.

use super::json;
use super::outcome::{Outcome, SETUP_CONSTANTS, TraceStep, Violation};
use super::text;
use crate::base::text::escape;
use serde_json::{Value, json};

/// A path of a model, and what it shows.
pub struct Traced<'a> {
    pub file: &'a str,
    pub machine: &'a str,
    pub sets: Vec<&'a str>,
    pub violation: Option<&'a Violation>,
    pub steps: &'a [TraceStep],
    pub loop_start: Option<usize>,
}

/// The counterexample as a trace file with this extension, or the list of known extensions.
pub fn render(o: &Outcome, extension: &str) -> Result<String, String> {
    let (steps, loop_start): (&[TraceStep], _) =
        o.violation.as_ref().map_or((&[], None), |v| (&v.trace, v.loop_start));
    let traced = Traced {
        file: &o.file,
        machine: &o.machine,
        sets: o.scope.sets.iter().map(|s| s.name.as_str()).collect(),
        violation: o.violation.as_ref(),
        steps,
        loop_start,
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
        }))),
        "txt" => {
            let mut out = String::new();
            match &o.violation {
                Some(v) => text::violation(&mut out, v),
                None => text::trace(&mut out, steps, loop_start),
            }
            Ok(out)
        }
        "html" => Ok(html(o, steps, loop_start)),
        other => Err(format!("unknown kind of trace file '.{other}': use .prob2trace, .json, .txt or .html")),
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

fn html(o: &Traced, steps: &[TraceStep], loop_start: Option<usize>) -> String {
    let mut rows = String::new();
    let mut before: &[(String, String)] = &[];
    for (i, s) in steps.iter().enumerate() {
        let mut cells = String::new();
        for (name, value) in &s.state {
            let class = if before.iter().any(|(n, v)| n == name && v == value) { "same" } else { "new" };
            cells.push_str(&format!(
                "<div class=\"{class}\"><b>{}</b> = {}</div>",
                escape(name),
                escape(value)
            ));
        }
        let mark = if loop_start == Some(i) { " (loop starts here)" } else { "" };
        rows.push_str(&format!(
            "<tr><td>{i}</td><td><code>{}</code>{mark}</td><td>{cells}</td></tr>\n",
            escape(&text::label(s))
        ));
        before = &s.state;
    }
    let lines = o.violation.iter().flat_map(|v| &v.explanation);
    let why: String = lines.map(|line| format!("{}\n", escape(line))).collect();
    let why = if why.is_empty() { why } else { format!("<pre>{why}</pre>\n") };
    let title = match &o.violation {
        Some(v) => format!("{}: {}", v.kind, v.property),
        None => "trace".into(),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\nbody{{font:15px/1.5 sans-serif;margin:2em}}table{{border-collapse:collapse}}td,th{{border-top:1px solid #ccc;padding:.4em .8em;text-align:left;vertical-align:top}}.same{{color:#888}}.new{{color:#a00}}\n</style></head><body>\n<h1>{1}</h1>\n<p>{0}</p>\n{why}<table><tr><th>step</th><th>event</th><th>state (changed values in red)</th></tr>\n{rows}</table>\n</body></html>\n",
        escape(&title),
        escape(o.machine)
    )
}
