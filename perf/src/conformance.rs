//! Models with counts recorded for another checker: where ours differ, and of what kind each difference is.
//!
//! In: a CSV with the columns `path`, `states`, `transitions`, `deadlock`, `invariant_violated`, `constants`,
//! `deferred_sets` and `suspect`, the folder its paths start from. Out: a page in Markdown, how many rows agree and
//! one line for each row that does not. A row whose choices nothing bounds is checked again with
//! `--integers-in-scope`, which is what the other checker's window does.

use crate::models::Subject;
use crate::{option, values, words};
use bombus::runs::child::{self, Limits};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub const USAGE: &str = "conformance --list CSV [--root FOLDER] [--model WORD,…] [--skip N] [--take N] [--time-limit 20] [--binary PATH]";

/// Of what kind a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Agrees,
    AgreesInScope,
    Unbounded,
    Decidable,
    Missing,
    Time,
    Partial,
    Record,
    Unexplained,
}

impl Class {
    const ALL: [Class; 9] = [
        Class::Agrees,
        Class::AgreesInScope,
        Class::Unbounded,
        Class::Decidable,
        Class::Missing,
        Class::Time,
        Class::Partial,
        Class::Record,
        Class::Unexplained,
    ];

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Class::Agrees => {
                ("agrees", "states, transitions, deadlocks and violations are the recorded ones")
            }
            Class::AgreesInScope => (
                "unbounded, agrees in scope",
                "nothing bounds a choice, so the verdict is incomplete; with `--integers-in-scope` all is as recorded",
            ),
            Class::Unbounded => (
                "unbounded",
                "nothing bounds a choice, and the values that the other checker tried are not those of the scope",
            ),
            Class::Decidable => ("decidable", "a formula has a truth value that no rule of ours finds"),
            Class::Missing => ("missing", "a part of the language or of a library is not there"),
            Class::Time => ("time", "a limit of time or memory was reached"),
            Class::Partial => (
                "record of a part",
                "more states were reached than the record has, though a limit ended the search; or the record has not even the first states",
            ),
            Class::Record => (
                "quirk of the record",
                "our findings explain the difference: undefined formulas, false preconditions, failed obligations",
            ),
            Class::Unexplained => ("wrong?", "the counts differ and no finding says why"),
        }
    }
}

struct Row {
    path: String,
    states: u64,
    transitions: u64,
    deadlock: String,
    soft: bool,
}

struct Judged {
    row: Row,
    class: Class,
    why: String,
}

pub fn run(arguments: &[String]) -> Result<bool, String> {
    let list = PathBuf::from(values(arguments, "--list").ok_or("--list is missing")?);
    let root = values(arguments, "--root").map(PathBuf::from);
    let root = root.unwrap_or_else(|| list.parent().unwrap_or(Path::new(".")).to_path_buf());
    let limit: f64 = option(arguments, "--time-limit", 20.0);
    let chosen = words(arguments, "--model");
    let subject = Subject::new("bombus", values(arguments, "--binary").map(PathBuf::from), "")?;
    let rows = read(&list)?.into_iter();
    let rows = rows.filter(|r| chosen.is_empty() || chosen.iter().any(|w| r.path.contains(w)));
    let skipped = option(arguments, "--skip", 0);
    let mut judged = Vec::new();
    for row in rows.skip(skipped).take(option(arguments, "--take", usize::MAX)) {
        let judgement = judge(&subject, &root, row, limit)?;
        eprintln!("{:26} {}", judgement.class.words().0, judgement.row.path);
        judged.push(judgement);
    }
    print!("{}", page(&judged));
    Ok(judged.iter().all(|j| j.class != Class::Unexplained))
}

/// The rows whose counts can be relied on.
fn read(list: &Path) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(list).map_err(|e| format!("{}: {e}", list.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| header.iter().position(|h| *h == name).and_then(|n| cells.get(n)).copied();
        let (Some(states), Some(transitions)) =
            (cell("states").and_then(|n| n.parse().ok()), cell("transitions").and_then(|n| n.parse().ok()))
        else {
            continue;
        };
        if cell("invariant_violated") != Some("false") || cell("suspect") == Some("1") {
            continue;
        }
        let some = |name: &str| cell(name).is_some_and(|n| !n.is_empty() && n != "0");
        rows.push(Row {
            path: cell("path").ok_or("there is no column path")?.to_owned(),
            states,
            transitions,
            deadlock: cell("deadlock").unwrap_or_default().to_owned(),
            soft: some("constants") && some("deferred_sets"),
        });
    }
    Ok(rows)
}

fn judge(subject: &Subject, root: &Path, row: Row, limit: f64) -> Result<Judged, String> {
    let first = check(subject, &root.join(&row.path), limit, &[])?;
    let (class, why) = match &first {
        Err(why) => (if why.contains("rejected") { Class::Missing } else { Class::Time }, why.clone()),
        Ok(result) => match difference(&row, result) {
            None => (Class::Agrees, String::new()),
            Some(difference) => match (classified(&row, result, difference), part(&row, result)) {
                ((Class::Time | Class::Unexplained, why), Some(more)) => {
                    (Class::Partial, format!("{why}; {more}"))
                }
                (classified, _) => classified,
            },
        },
    };
    // What nothing bounds is tried again in the scope.
    if class == Class::Unbounded
        && let Ok(second) = check(subject, &root.join(&row.path), limit, &["--integers-in-scope"])?
        && difference(&row, &second).is_none()
    {
        return Ok(Judged { row, class: Class::AgreesInScope, why });
    }
    Ok(Judged { row, class, why })
}

/// The result of one run, or why there is none.
fn check(
    subject: &Subject,
    model: &Path,
    limit: f64,
    further: &[&str],
) -> Result<Result<Value, String>, String> {
    let mut args: Vec<OsString> = vec![model.into(), "--keep-going".into(), "--json".into()];
    args.extend(["--workers".into(), "1".into(), "--time-limit".into(), limit.to_string().into()]);
    args.extend(further.iter().map(OsString::from));
    let limits = Limits { seconds: Some(limit + 10.0), bytes: None };
    let ended = child::run(&subject.checker, &args, limits, &Arc::new(AtomicBool::new(false)))
        .map_err(|e| format!("{}: {e}", subject.checker.program.display()))?;
    if ended.cut.is_some() {
        return Ok(Err("the time limit was reached".into()));
    }
    Ok(ended.result.ok_or_else(|| "the model is rejected".to_string()))
}

/// What differs from the record, if anything does.
fn difference(row: &Row, result: &Value) -> Option<String> {
    if result["verdict"] == "incomplete" {
        return Some("incomplete".into());
    }
    let count = |name: &str| result["prob"][name].as_u64();
    let (states, transitions) = (count("states")?, count("transitions")?);
    if (states, transitions) != (row.states, row.transitions) {
        return Some(format!(
            "{states} states and {transitions} transitions, recorded {} and {}",
            row.states, row.transitions
        ));
    }
    let found = |name: &str| result["found"][name].as_u64().unwrap_or(0) > 0;
    let deadlock = (found("deadlock") != (row.deadlock == "true")) && row.deadlock != "unknown";
    if deadlock || found("invariant") { Some("the findings differ".into()) } else { None }
}

/// How the states that were reached show that the record has a part of them only. Every state that is reached is one of the model,
/// and valuations of constants and initial states are counted before any other.
fn part(row: &Row, result: &Value) -> Option<String> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let (all, explored) = (count(&result["prob"]["states"]), count(&result["states"]));
    let first = all - explored.min(all) + count(&result["initial"]);
    if row.soft {
        return None;
    }
    if row.states < first {
        return Some(format!("recorded are {} states, the first alone are {first}", row.states));
    }
    let limited = result["incomplete_because"].to_string().contains("limit reached");
    (limited && all > row.states).then(|| format!("{all} states reached, recorded {}", row.states))
}

/// The kind of a difference, by the reasons that the result gives.
fn classified(row: &Row, result: &Value, difference: String) -> (Class, String) {
    let reasons: Vec<&str> = result["incomplete_because"]
        .as_array()
        .map(|all| all.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let says = |words: &[&str]| reasons.iter().find(|r| words.iter().any(|w| r.contains(w)));
    let first = reasons.first().copied().unwrap_or_default();
    let kinds: [(Class, &[&str]); 4] = [
        (Class::Missing, &["not provided", "not evaluated", "is random", "no such file"]),
        (Class::Time, &["limit reached", "stopped", "too deep"]),
        (
            Class::Decidable,
            &["inclusion of symbolic sets", "would have to be listed", "may leave a formula undefined"],
        ),
        (Class::Unbounded, &["nothing bounds", "SCOPE left"]),
    ];
    for (class, words) in kinds {
        if let Some(reason) = says(words) {
            // A symbolic set beside a choice without a bound is not what the counts depend on.
            let unbounded = says(&["nothing bounds"]).filter(|_| class == Class::Decidable);
            return match unbounded {
                Some(reason) => (Class::Unbounded, brief(reason)),
                None => (class, brief(reason)),
            };
        }
    }
    let found: Vec<String> = result["found"]
        .as_object()
        .map(|all| all.iter().filter(|(_, n)| n.as_u64() > Some(0)).map(|(kind, _)| kind.clone()).collect())
        .unwrap_or_default();
    let explains = |kind: &String| {
        [
            "well_definedness",
            "well-definedness",
            "precondition",
            "assertion",
            "refinement",
            "invariant",
            "variant",
        ]
        .contains(&kind.as_str())
    };
    let undefined = result["warnings"].as_array().is_some_and(|all| {
        all.iter()
            .filter_map(Value::as_str)
            .any(|w| w.contains("undefined") && w.contains("counted as false"))
    });
    if found.iter().any(explains) || undefined || row.soft {
        let by = if found.iter().any(explains) {
            format!("found here: {}", found.join(", "))
        } else if undefined {
            "guards are undefined".into()
        } else {
            "constants over deferred sets, which the record collapses in its own way".into()
        };
        return (Class::Record, format!("{difference}; {by}"));
    }
    (
        Class::Unexplained,
        if first.is_empty() { difference } else { format!("{difference}; {}", brief(first)) },
    )
}

/// The reason without the place that it names.
fn brief(reason: &str) -> String {
    let end = reason.find(" (in ").or_else(|| reason.find(" (--")).unwrap_or(reason.len());
    reason[..end].replace('|', "\\|")
}

fn page(judged: &[Judged]) -> String {
    let mut text = String::from(
        "| kind | rows | of these with constants over deferred sets | meaning |\n|---|---:|---:|---|\n",
    );
    for class in Class::ALL {
        let all = || judged.iter().filter(|j| j.class == class);
        let (name, meaning) = class.words();
        let soft = all().filter(|j| j.row.soft).count();
        text.push_str(&format!("| {name} | {} | {soft} | {meaning} |\n", all().count()));
    }
    text.push_str("\n| model | kind | why |\n|---|---|---|\n");
    for class in &Class::ALL[1..] {
        for j in judged.iter().filter(|j| j.class == *class) {
            text.push_str(&format!("| {} | {} | {} |\n", j.row.path, class.words().0, j.why));
        }
    }
    text
}
