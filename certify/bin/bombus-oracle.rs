//! The command line: explore a machine, judge a trace, check a certificate. Prints; everything else is in the libraries.

use bombus_certify::certificate::{Unread, is_of};
use bombus_certify::proof;
use bombus_certify::run::{self, check};
use bombus_certify::trace::{params, trace_of};
use bombus_certify::trust;
use bombus_oracle::judge::{Verdict, judge};
use bombus_oracle::search::{Options, Report, explore};
use bombus_oracle::text::{Core, read, value_text};
use bombus_oracle::tree::{Machine, Var};
use bombus_oracle::value::Value;
use serde_json::{Map, Value as Json, json};
use std::path::Path;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
bombus-oracle explore FILE.core [--json] [--max-states N] [--steps N] [--strict-wd]
bombus-oracle judge FILE.core TRACE.json [--steps N] [--strict-wd]
bombus-oracle print FILE.core
bombus-oracle check DIR [--core FILE] [--jobs N] [--sample N] [--shard I/N] [--log FILE] [--steps N] [--nodes N] [--json]
bombus-oracle trust

explore visits all states of a machine in the core language; judge executes a trace again and answers
whether its claim is right; print writes the machine in its canonical form. --steps limits the steps of
evaluation per state. A trace is an entry of \"first\" of explore --json, values in the core language.
Exit status: 0 verified or confirmed, 1 violated or refuted, 2 rejected, 3 incomplete.

check examines a certificate that `bombus check --certificate DIR` wrote: constants, initial states, successors of every
state, properties, counts. --sample looks at N states that the root of the certificate chooses, --shard at one part of N.
--core rejects a certificate of another model than the one in FILE, which `bombus info --core MODEL` prints.
--log enters every block that is right, and leaves those that earlier runs entered; it may be given for several files, the
first one is written. --nodes limits the product with the automaton of a formula. Of a proof by k-induction or IC3 every
refutation is checked, and the model is explored up to 10000 states or --sample N: a finding rejects, and if these are
not all states, it is listed as open that the clauses say what the model says.
Exit status: 0 accepted, 1 rejected or damaged, 2 not readable, 3 nothing wrong but not everything could be checked.
trust prints how many lines of code an accepted certificate rests on.";

fn main() -> ExitCode {
    // Trees may be nested as deeply as the reader allows; every level costs some stack.
    let work = std::thread::Builder::new().stack_size(1 << 28).spawn(|| {
        let args: Vec<String> = std::env::args().skip(1).collect();
        run(&args).unwrap_or_else(|message| {
            eprintln!("error: {message}");
            2
        })
    });
    ExitCode::from(work.map(|w| w.join().unwrap_or(4)).unwrap_or(4))
}

fn run(args: &[String]) -> Result<u8, String> {
    let mut options = Options::default();
    let mut checking = run::Options::default();
    let (mut files, mut core, mut as_json, mut rest) = (Vec::new(), None, false, args.iter());
    while let Some(a) = rest.next() {
        let mut number = || rest.next().and_then(|n| n.parse().ok()).ok_or(format!("{a} needs a number"));
        match a.as_str() {
            "-h" | "--help" => files = vec!["help"],
            "--json" => as_json = true,
            "--strict-wd" => options.strict_guards = true,
            "--max-states" => options.max_states = number()? as usize,
            "--steps" => {
                options.budget = number()?;
                checking.steps = options.budget;
            }
            "--jobs" => checking.jobs = number()?.clamp(1, 1024) as usize,
            "--sample" => checking.sample = Some(number()?),
            "--nodes" => checking.nodes = number()? as usize,
            "--log" => checking.logs.push(rest.next().ok_or("--log needs a file")?.into()),
            "--core" => core = Some(rest.next().ok_or("--core needs a file")?),
            "--shard" => checking.shard = Some(shard(rest.next())?),
            a if a.starts_with('-') => return Err(format!("unknown option {a}; --help lists all")),
            a => files.push(a),
        }
    }
    let load = |file: &str| std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"));
    let machine = |file: &str| read::<Machine>(&load(file)?).map_err(|e| format!("{file}:{e}"));
    let (text, status) = match files.as_slice() {
        ["help", ..] => (HELP.to_string(), 0),
        ["explore", file] => {
            let machine = machine(file)?;
            let report = explore(&machine, &options, &mut || true);
            let json = report_json(&machine, &report);
            (if as_json { format!("{json:#}") } else { summary(&machine, &report, &json) }, status(&report).1)
        }
        ["judge", file, trace] => {
            let json = serde_json::from_str(&load(trace)?).map_err(|e| format!("{trace}: {e}"))?;
            let machine = machine(file)?;
            let (mut claim, steps) = trace_of(&machine, &json).map_err(|e| format!("{trace}: {e}"))?;
            claim.strict_guards = options.strict_guards;
            match judge(&machine, &steps, &claim, options.budget) {
                Verdict::Confirmed => ("CONFIRMED".to_string(), 0),
                Verdict::Refuted(why) => (format!("REFUTED     {why}"), 1),
                Verdict::TooBig(why) => (format!("INCOMPLETE  {why}"), 3),
            }
        }
        ["print", file] => (machine(file)?.write(), 0),
        ["trust"] => (trust::text(), 0),
        ["check", dir] => {
            let dir = Path::new(dir);
            let core = core.map(|file| load(file)).transpose()?;
            let answer = is_of(dir, core.as_deref()).and_then(|()| match proof::is_one(dir) {
                true => proof::check(dir, &checking).map(|r| (r.text(), r.json(), r.status())),
                false => check(dir, &checking).map(|r| (r.text(), r.json(), r.status())),
            });
            match answer {
                Ok((_, json, status)) if as_json => (format!("{json:#}"), status),
                Ok((text, _, status)) => (text, status),
                Err(Unread::Damaged(why)) if as_json => {
                    (format!("{:#}", json!({"result": "rejected", "rejected": why, "open": []})), 1)
                }
                Err(Unread::Damaged(why)) => (format!("REJECTED    {why}"), 1),
                Err(Unread::Missing(why)) => return Err(why),
            }
        }
        _ => return Err(format!("a command is expected\n{HELP}")),
    };
    println!("{text}");
    Ok(status)
}

/// `I/N`: part I of N parts.
fn shard(text: Option<&String>) -> Result<(u64, u64), String> {
    let parts =
        text.and_then(|t| t.split_once('/')).and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| 1 <= *i && i <= n).ok_or("--shard needs I/N with I from 1 to N".into())
}

fn status(r: &Report) -> (&'static str, u8) {
    match (r.found.is_empty(), r.incomplete.is_empty()) {
        (false, _) => ("violated", 1),
        (true, true) => ("verified", 0),
        (true, false) => ("incomplete", 3),
    }
}

/// The report for people: a headline, the counts, and each first finding with its trace.
fn summary(machine: &Machine, r: &Report, json: &Json) -> String {
    let mut out = format!("{:12}{}", status(r).0.to_uppercase(), machine.name);
    for key in
        ["states", "transitions", "constants", "initial", "undefined_guards", "events", "incomplete_because"]
    {
        out += &format!("\n  {key:20}{}", json[key]);
    }
    for (f, trace) in &r.first {
        let event = f.event.as_ref().map_or(String::new(), |(n, _)| format!("while computing {n}"));
        out += &format!("\n{} ({} found): {} {} {event}", f.kind.word(), r.found[&f.kind], f.why, f.place);
        out.extend(trace.constants.iter().map(|(n, v)| format!("\n       {n} = {v}")));
        for (i, step) in trace.steps.iter().enumerate() {
            let params: Vec<String> = step.params.iter().map(Value::to_string).collect();
            out += &format!("\n{i:5}  {}({}) ", step.event, params.join(", "));
            let state = machine.variables.iter().zip(&step.state);
            out.extend(state.map(|((n, _), v)| format!(" {n} = {v}")));
        }
    }
    out
}

fn values<'v>(names: &[Var], values: impl Iterator<Item = Option<&'v Value>>) -> Json {
    let entry = |((n, _), v): (&Var, Option<&Value>)| (n.to_string(), json!(v.map(value_text)));
    Json::Object(names.iter().zip(values).map(entry).collect())
}

fn report_json(machine: &Machine, r: &Report) -> Json {
    let first = r.first.iter().map(|(f, trace)| {
        let steps = trace.steps.iter().map(|s| {
            let op = machine.operation(&s.event);
            let results = op.map_or(&[][..], |o| &o.results[..]);
            json!({"event": &*s.event, "params": values(params(op), s.params.iter().map(Some)),
                "results": values(results, s.results.iter().map(Option::as_ref)),
                "state": values(&machine.variables, s.state.iter().map(Some))})
        });
        let constants = trace.constants.iter().map(|(n, v)| (n.to_string(), json!(value_text(v))));
        let event = f.event.as_ref().map(|(n, vs)| {
            json!({"name": &**n, "params": values(params(machine.operation(n)), vs.iter().map(Some))})
        });
        json!({"kind": f.kind.word(), "why": f.why, "place": f.place, "while": event,
            "constants": constants.collect::<Map<_, _>>(), "trace": steps.collect::<Vec<_>>()})
    });
    let events = r.events.iter().map(|(e, (s, t))| (e.to_string(), json!({"states": s, "transitions": t})));
    let found = r.found.iter().map(|(k, n)| (k.word().to_string(), json!(n)));
    json!({"machine": &*machine.name, "verdict": status(r).0, "incomplete_because": r.incomplete,
        "states": r.states, "transitions": r.transitions, "constants": r.constants, "initial": r.initial,
        "undefined_guards": r.undefined_guards.values().sum::<u64>(), "events": events.collect::<Map<_, _>>(),
        "found": found.collect::<Map<_, _>>(), "first": first.collect::<Vec<_>>()})
}
