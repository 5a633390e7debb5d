//! `bombus mcp`: checks, formulas, traces and walks as tools of a program that speaks the Model Context Protocol.
//!
//! In: JSON-RPC messages, one on each line of stdin. Out: answers, one on each line of stdout. Every tool has a budget:
//! what is not done in time is incomplete, as on the command line. A check runs in a process of its own.
//! Never here: what a check does.

use super::args::Loading;
use super::meaning::{cores, loading};
use super::run::watch_signals;
use super::status;
use crate::base::budget::Budget;
use crate::driver::{self, Failure, SimulateOptions, Why};
use crate::report::json as result_json;
use crate::runs::child;
use clap::Args;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

/// The revision of the protocol that is spoken if the other side names none.
const PROTOCOL: &str = "2024-11-05";
/// Seconds that a tool may take unless the caller asks for more, and the most it may ask for.
const SECONDS: f64 = 30.0;
const MOST_SECONDS: f64 = 3600.0;

#[derive(Args, Debug)]
#[command(
    after_help = "Messages are JSON-RPC 2.0, one on each line. The tools are check, explain, eval, replay and simulate; each takes\n\
`seconds`, its budget (30 if not given). The end of stdin ends the program."
)]
pub struct Mcp {}

pub fn run(_: &Mcp) -> u8 {
    let budget = Budget::unlimited();
    watch_signals(&budget);
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Value>(&line) {
            Ok(message) => respond(&message),
            Err(e) => Some(failure(&Value::Null, -32700, &format!("no JSON: {e}"))),
        };
        if let Some(answer) = answer {
            let mut out = std::io::stdout().lock();
            if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
                break;
            }
        }
    }
    status::OK
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The answer to a message; none to a notification.
fn respond(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let Some(method) = message["method"].as_str() else {
        return Some(failure(id, -32600, "a request names a method"));
    };
    let result = match method {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"].as_str().unwrap_or(PROTOCOL),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bombus", "version": env!("CARGO_PKG_VERSION")},
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": tools() }),
        "tools/call" => {
            let arguments = &message["params"]["arguments"];
            match call(message["params"]["name"].as_str().unwrap_or(""), arguments) {
                Ok(value) => content(&value, false),
                Err(Wrong::Tool(name)) => {
                    return Some(failure(id, -32602, &format!("there is no tool {name}")));
                }
                Err(Wrong::Said(text)) => content(&Value::String(text), true),
            }
        }
        other => return Some(failure(id, -32601, &format!("there is no method {other}"))),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn content(value: &Value, is_error: bool) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), String::from);
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn tools() -> Value {
    let string = |words: &str| json!({"type": "string", "description": words});
    let number = |words: &str| json!({"type": "number", "description": words});
    let texts = |words: &str| json!({"type": "array", "items": {"type": "string"}, "description": words});
    let model = string("path of the model");
    let seconds = number("budget in seconds");
    let sets = texts("sizes of deferred sets, such as PID=3");
    let maxint = number("value of MAXINT");
    let at =
        string("path of a .prob2trace or .json file of the model, in whose last state the question is asked");
    let tool = |name: &str, words: &str, properties: Value, required: Value| {
        json!({"name": name, "description": words,
               "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false}})
    };
    json!([
        tool(
            "check",
            "Explore every reachable state of a model of B, Event-B, Z or CSP-M. The answer is the JSON result: verdict (verified, violated, incomplete), reasons, counterexample with an explanation.",
            json!({"model": model, "goal": string("a predicate to look for"), "ltl": texts("LTL formulas to check"),
                   "max_states": number("stop after so many states"), "sets": sets, "maxint": maxint, "seconds": seconds}),
            json!(["model"])
        ),
        tool(
            "explain",
            "Why a predicate of B is true or false, or why an operation is not enabled: a tree of parts with truth values, values and witnesses, in the last state of a trace or in the first initial state.",
            json!({"model": model, "formula": string("the predicate"), "operation": string("instead of a predicate: an operation that is not enabled"), "trace": at,
                   "sets": sets, "maxint": maxint, "seconds": seconds}),
            json!(["model"])
        ),
        tool(
            "eval",
            "The value of an expression or predicate of B, in the last state of a trace or in the first initial state of a model if one is given.",
            json!({"formula": string("the formula"), "model": model, "trace": at, "sets": sets, "maxint": maxint, "seconds": seconds}),
            json!(["formula"])
        ),
        tool(
            "replay",
            "Re-run a trace file against a model: whether every step can be made, and why the first one cannot.",
            json!({"trace": string("path of a .prob2trace or .json file"), "model": model, "sets": sets, "maxint": maxint, "seconds": seconds}),
            json!(["trace", "model"])
        ),
        tool(
            "simulate",
            "Random walks through a model. They find faults but verify nothing.",
            json!({"model": model, "runs": number("how many walks"), "steps": number("the most steps of a walk"),
                   "seed": number("what makes the walks what they are"), "sets": sets, "maxint": maxint, "seconds": seconds}),
            json!(["model"])
        ),
    ])
}

/// Why a call has no result.
enum Wrong {
    Tool(String),
    Said(String),
}

impl From<String> for Wrong {
    fn from(text: String) -> Wrong {
        Wrong::Said(text)
    }
}

fn call(name: &str, arguments: &Value) -> Result<Value, Wrong> {
    let given = options(arguments)?;
    let seconds = arguments["seconds"].as_f64().unwrap_or(SECONDS);
    if !(seconds > 0.0 && seconds <= MOST_SECONDS) {
        return Err(format!("seconds: a number up to {MOST_SECONDS} is wanted").into());
    }
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(Duration::from_secs_f64(seconds));
    let text = |key: &str| arguments[key].as_str();
    let wanted = |key: &str| text(key).ok_or_else(|| Wrong::Said(format!("{key}: a text is wanted")));
    let number = |key: &str, default: u64| arguments[key].as_u64().unwrap_or(default);
    match name {
        "check" => check(wanted("model")?, arguments, &given, seconds, &budget),
        "eval" => {
            match driver::eval(
                wanted("formula")?,
                text("model").map(Path::new),
                text("trace").map(Path::new),
                &loading(&given),
                &budget,
            ) {
                Ok(Ok(value)) => Ok(Value::String(value.text())),
                Ok(Err(message)) => Err(message.into()),
                Err(rejected) => Err(rejected.text().into()),
            }
        }
        "explain" => {
            let asked = match (text("formula"), text("operation")) {
                (Some(formula), None) => Why::Predicate(formula),
                (None, Some(operation)) => Why::NotEnabled(operation),
                _ => return Err(Wrong::Said("formula or operation: one of the two is wanted".into())),
            };
            let (model, trace) = (Path::new(wanted("model")?), text("trace").map(Path::new));
            match driver::why(asked, Some(model), trace, &loading(&given), &budget) {
                Ok(Ok(node)) => Ok(result_json::node(&node)),
                Ok(Err(message)) => Err(message.into()),
                Err(rejected) => Err(rejected.text().into()),
            }
        }
        "replay" => {
            let (trace, model) = (wanted("trace")?, wanted("model")?);
            let replayed =
                driver::replay(Path::new(trace), Some(Path::new(model)), &loading(&given), &budget);
            let (replayed, _) = replayed.map_err(|r| r.text())?;
            Ok(super::animate::replay_json(&replayed))
        }
        "simulate" => {
            let options = SimulateOptions {
                loading: loading(&given),
                walks: number("runs", 1000),
                steps: number("steps", 1000),
                seed: number("seed", 1),
                workers: cores(),
                no_deadlock: false,
                no_invariant: false,
                no_assertions: false,
                keep_going: false,
            };
            match driver::simulate(Path::new(wanted("model")?), &options, &budget) {
                Ok(outcome) => Ok(result_json::render(&outcome)),
                Err(Failure::Rejected(r)) => Err(r.text().into()),
                Err(Failure::Internal(message)) => Err(format!("internal error: {message}").into()),
            }
        }
        other => Err(Wrong::Tool(other.into())),
    }
}

/// Sizes of sets and integers.
fn options(arguments: &Value) -> Result<Loading, String> {
    let mut given = Loading { maxint: arguments["maxint"].as_i64(), ..Loading::default() };
    for size in arguments["sets"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        given.sets.push(super::args::parse_set(size)?);
    }
    Ok(given)
}

fn check(
    model: &str,
    arguments: &Value,
    given: &Loading,
    seconds: f64,
    budget: &Budget,
) -> Result<Value, Wrong> {
    let mut line: Vec<OsString> =
        ["--json", "--progress", "off", "--time-limit", &seconds.to_string()].map(OsString::from).to_vec();
    line.extend(given.arguments());
    if let Some(goal) = arguments["goal"].as_str() {
        line.push(format!("--goal={goal}").into());
    }
    for formula in arguments["ltl"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        line.push(format!("--ltl={formula}").into());
    }
    if let Some(n) = arguments["max_states"].as_u64() {
        line.extend(["--max-states".into(), n.to_string().into()]);
    }
    // A path that begins with a dash is a path.
    line.extend(["--".into(), model.into()]);
    let ourselves = child::Checker::ourselves().map_err(|e| format!("cannot start a check: {e}"))?;
    let limits = child::Limits { seconds: Some(seconds), bytes: None };
    let ended = child::run(&ourselves, &line, limits, &budget.interrupt_flag())
        .map_err(|e| format!("cannot start a check: {e}"))?;
    ended.result.ok_or(Wrong::Said(ended.messages))
}
