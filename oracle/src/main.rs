//! The command line: explore a machine, or judge a trace. Prints; everything else is in the library.

use bombus_oracle::eval::Oracle;
use bombus_oracle::exec::{Kind, Writes};
use bombus_oracle::judge::{Claim, Verdict, judge};
use bombus_oracle::search::{Options, Report, Step, Trace, explore};
use bombus_oracle::text::{Core, read, value_text};
use bombus_oracle::tree::{Expr, Machine, Name, Var};
use bombus_oracle::value::Value;
use serde_json::{Map, Value as Json, json};
use std::process::ExitCode;

const HELP: &str = "\
bombus-oracle explore FILE.core [--json] [--max-states N] [--steps N] [--strict-wd]
bombus-oracle judge FILE.core TRACE.json [--steps N]
bombus-oracle print FILE.core

explore visits all states of a machine in the core language; judge executes a trace again and answers
whether its claim is right; print writes the machine in its canonical form. --steps limits the steps of
evaluation per state. A trace is what explore --json shows as \"first\", values in the core language.
Exit status: 0 verified or confirmed, 1 violated or refuted, 2 rejected, 3 incomplete.";

fn main() -> ExitCode {
    // Trees may be nested as deeply as the reader allows; every level costs some stack.
    let work = std::thread::Builder::new().stack_size(1 << 28).spawn(|| {
        let args: Vec<String> = std::env::args().skip(1).collect();
        run(&args).unwrap_or_else(|message| {
            eprintln!("error: {message}");
            2
        })
    });
    let status = work.map(|w| w.join().unwrap_or(4)).unwrap_or(4);
    ExitCode::from(status)
}

fn run(args: &[String]) -> Result<u8, String> {
    let mut options = Options::default();
    let (mut files, mut as_json, mut rest) = (Vec::new(), false, args.iter());
    while let Some(a) = rest.next() {
        let mut number = || rest.next().and_then(|n| n.parse().ok()).ok_or(format!("{a} needs a number"));
        match a.as_str() {
            "-h" | "--help" => {
                println!("{HELP}");
                return Ok(0);
            }
            "--json" => as_json = true,
            "--strict-wd" => options.strict_guards = true,
            "--max-states" => options.max_states = number()? as usize,
            "--steps" => options.budget = number()?,
            a if a.starts_with('-') => return Err(format!("unknown option {a}; --help lists all")),
            a => files.push(a),
        }
    }
    let load = |file: &str| std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"));
    let machine = |file: &str| read::<Machine>(&load(file)?).map_err(|e| format!("{file}:{e}"));
    match files.as_slice() {
        ["explore", file] => {
            let machine = machine(file)?;
            let report = explore(&machine, &options, &mut || true);
            if as_json {
                println!("{:#}", report_json(&machine, &report))
            } else {
                show(&machine, &report)
            }
            Ok(status(&report).1)
        }
        ["judge", file, trace] => {
            let json = serde_json::from_str(&load(trace)?).map_err(|e| format!("{trace}: {e}"))?;
            let machine = machine(file)?;
            let (claim, steps) = trace_of(&machine, &json).map_err(|e| format!("{trace}: {e}"))?;
            let (text, status) = match judge(&machine, &steps, &claim, options.budget) {
                Verdict::Confirmed => ("CONFIRMED".to_string(), 0),
                Verdict::Refuted(why) => (format!("REFUTED     {why}"), 1),
                Verdict::TooBig(why) => (format!("INCOMPLETE  {why}"), 3),
            };
            println!("{text}");
            Ok(status)
        }
        ["print", file] => {
            println!("{}", machine(file)?.write());
            Ok(0)
        }
        _ => Err(format!("a command is expected\n{HELP}")),
    }
}

fn status(r: &Report) -> (&'static str, u8) {
    match (r.found.is_empty(), r.incomplete.is_empty()) {
        (false, _) => ("violated", 1),
        (true, true) => ("verified", 0),
        (true, false) => ("incomplete", 3),
    }
}

fn show(machine: &Machine, r: &Report) {
    println!("{:12}{}", status(r).0.to_uppercase(), machine.name);
    println!("  explored  {} states, {} transitions", r.states, r.transitions);
    println!("            {} initial, {} valuations of the constants", r.initial, r.constants);
    r.events.iter().for_each(|(e, (s, t))| println!("  event     {e}: {t} transitions from {s} states"));
    r.incomplete.iter().for_each(|why| println!("  incomplete because {why}"));
    let undefined: u64 = r.undefined_guards.values().sum();
    if undefined > 0 {
        println!("  warning   guards were undefined {undefined} times");
    }
    for (f, trace) in &r.first {
        println!("{} ({} found): {} {}", f.kind.word(), r.found[&f.kind], f.why, f.place);
        trace.constants.iter().for_each(|(n, v)| println!("    constant {n} = {v}"));
        for (i, step) in trace.steps.iter().enumerate() {
            let list = |vs: Vec<String>| vs.join(", ");
            let params = list(step.params.iter().map(Value::to_string).collect());
            let state = machine.variables.iter().zip(&step.state).map(|((n, _), v)| format!("{n} = {v}"));
            println!("{i:5}  {}({params})  {}", step.event, list(state.collect()));
        }
        if let Some((event, params)) = &f.event {
            let params: Vec<String> = params.iter().map(Value::to_string).collect();
            println!("       while computing {event}({})", params.join(", "));
        }
    }
}

fn values(names: &[Var], values: impl Iterator<Item = Option<Value>>) -> Json {
    let entry = |((n, _), v): (&Var, Option<Value>)| (n.to_string(), json!(v.map(|v| value_text(&v))));
    Json::Object(names.iter().zip(values).map(entry).collect())
}

fn report_json(machine: &Machine, r: &Report) -> Json {
    let some = |vs: &[Value]| vs.iter().cloned().map(Some).collect::<Vec<_>>().into_iter();
    let first = r.first.iter().map(|(f, trace)| {
        let steps = trace.steps.iter().map(|s| {
            let op = machine.operation(&s.event);
            let (params, results) = op.map_or((&[][..], &[][..]), |o| (&o.params[..], &o.results[..]));
            json!({"event": &*s.event, "params": values(params, some(&s.params)),
                "results": values(results, s.results.iter().cloned()),
                "state": values(&machine.variables, some(&s.state))})
        });
        let constants = trace.constants.iter().map(|(n, v)| (n.to_string(), json!(value_text(v))));
        let event = f.event.as_ref().map(|(n, vs)| {
            let params = machine.operation(n).map_or(&[][..], |o| &o.params[..]);
            json!({"name": &**n, "params": values(params, some(vs))})
        });
        json!({"kind": f.kind.word(), "why": f.why, "place": f.place, "while": event,
            "constants": constants.collect::<Map<_, _>>(), "trace": steps.collect::<Vec<_>>()})
    });
    json!({"machine": &*machine.name, "verdict": status(r).0, "incomplete_because": r.incomplete,
        "states": r.states, "transitions": r.transitions, "constants": r.constants, "initial": r.initial,
        "undefined_guards": r.undefined_guards.values().sum::<u64>(),
        "events": r.events.iter().map(|(e, (s, t))| (e.to_string(), json!({"states": s, "transitions": t}))).collect::<Map<_, _>>(),
        "found": r.found.iter().map(|(k, n)| (k.word().to_string(), json!(n))).collect::<Map<_, _>>(),
        "first": first.collect::<Vec<_>>()})
}

/// The claim and the trace of a JSON object.
fn trace_of(machine: &Machine, json: &Json) -> Result<(Claim, Trace), String> {
    let oracle = Oracle::new(machine, 1_000_000);
    let value = |j: &Json| -> Result<Value, String> {
        let text = j.as_str().ok_or(format!("{j} is not a text"))?;
        let e = read::<Expr>(text).map_err(|e| format!("in `{text}`: {e}"))?;
        oracle.eval(&Default::default(), &e).map_err(|e| format!("`{text}`: {e:?}"))
    };
    let all = |names: &[Var], j: &Json| -> Result<Vec<Value>, String> {
        names.iter().map(|(n, _)| value(&j[&**n]).map_err(|e| format!("{n}: {e}"))).collect()
    };
    let word = |j: &Json| j.as_str().map(str::to_string);
    let kind = json["kind"].as_str().and_then(Kind::named).ok_or("\"kind\" is missing or unknown")?;
    let event = match word(&json["while"]["name"]) {
        None => None,
        Some(n) => {
            let op = machine.operation(&n).ok_or(format!("{n} is no operation"))?;
            Some((Name::from(n), Some(all(&op.params, &json["while"]["params"])?)))
        }
    };
    let place = word(&json["place"]).filter(|p| !p.is_empty());
    let mut constants = Writes::new();
    for (n, v) in json["constants"].as_object().into_iter().flatten() {
        constants.insert(n.as_str().into(), value(v)?);
    }
    let mut steps = Vec::new();
    for s in json["trace"].as_array().ok_or("\"trace\" is missing")? {
        let event = word(&s["event"]).ok_or("a step has no \"event\"")?;
        let op = machine.operation(&event).filter(|_| !steps.is_empty());
        let params = all(op.map_or(&[], |o| &o.params), &s["params"])?;
        let result = |(n, _): &Var| Some(&s["results"][&**n]).filter(|j| !j.is_null()).map(value).transpose();
        let results = op.map_or(&[][..], |o| &o.results[..]).iter().map(result).collect::<Result<_, _>>()?;
        let state = all(&machine.variables, &s["state"])?;
        steps.push(Step { event: event.into(), params, results, state });
    }
    Ok((Claim { kind, place, event, strict_guards: true }, Trace { constants, steps }))
}
