//! Messages about a model for programs: JSON and SARIF.
//!
//! In: diagnostics with their texts, findings with their places. Out: JSON values. Never here: text for people.

use super::outcome::{Outcome, Violation};
use crate::base::diagnostic::{Diagnostic, Severity, Sources};
use crate::explain::{Explanation, Place};
use serde_json::{Value, json};

/// The result for a model that was rejected.
pub fn rejected(file: &str, sources: &Sources, diagnostics: &[Diagnostic]) -> Value {
    let list: Vec<Value> = diagnostics.iter().map(|d| diagnostic(sources, d)).collect();
    json!({
        "bombus": env!("CARGO_PKG_VERSION"),
        "model": {"file": file, "machine": null},
        "verdict": "rejected",
        "diagnostics": list,
    })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// One message: where it is about, what it says, what helps.
pub fn diagnostic(sources: &Sources, d: &Diagnostic) -> Value {
    let place = d.labels.first().and_then(|(span, _)| Place::of(sources, *span));
    let labels: Vec<Value> = d
        .labels
        .iter()
        .map(|(span, text)| {
            let place = Place::of(sources, *span);
            json!({"place": place.as_ref().map(super::json::place), "text": text})
        })
        .collect();
    json!({
        "severity": word(d.severity),
        "message": d.message,
        "place": place.as_ref().map(super::json::place),
        "labels": labels,
        "help": d.help,
    })
}

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A run in the Static Analysis Results Interchange Format, version 2.1.0.
fn run(results: Vec<Value>) -> Value {
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "bombus",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [],
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn location(place: &Place) -> Value {
    json!({"physicalLocation": {
        "artifactLocation": {"uri": place.file},
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        },
    }})
}

fn result(rule: &str, level: &str, message: &str, place: Option<&Place>) -> Value {
    json!({
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": place.iter().map(|p| location(p)).collect::<Vec<_>>(),
    })
}

/// The messages that reject a model, as SARIF.
pub fn sarif_rejected(sources: &Sources, diagnostics: &[Diagnostic]) -> Value {
    let one = |d: &Diagnostic| {
        let place = d.labels.first().and_then(|(span, _)| Place::of(sources, *span));
        let help: String = d.help.iter().map(|h| format!("; {h}")).collect();
        result("rejected", word(d.severity), &format!("{}{help}", d.message), place.as_ref())
    };
    run(diagnostics.iter().map(one).collect())
}

/// The findings of a check, as SARIF. A finding without a place is placed at the beginning of its file.
pub fn sarif(o: &Outcome) -> Value {
    let start =
        Place { file: o.file.clone(), line: 1, column: 1, end_line: 1, end_column: 1, excerpt: Vec::new() };
    let one = |v: &Violation, why: &Explanation| {
        let lines: Vec<String> = std::iter::once(format!("{}: {}", v.kind, v.property))
            .chain(v.explanation.iter().cloned())
            .collect();
        result(&v.kind, "error", &lines.join("\n"), Some(why.place.as_ref().unwrap_or(&start)))
    };
    let first = o.violation.iter().map(|v| one(v, &o.why));
    let others = o.others.iter().map(|(v, why)| one(v, why));
    let doubts: Vec<Value> = match o.verdict() {
        super::Verdict::Incomplete => {
            o.ledger.reasons().iter().map(|r| result("incomplete", "warning", r, Some(&start))).collect()
        }
        _ => Vec::new(),
    };
    run(first.chain(others).chain(doubts).collect())
}
