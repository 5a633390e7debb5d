//! Speed-up across worker counts, or across machines: the same check, many times, interleaved.
//!
//! In: a model with options, counts, repeats. Out: times, speed-ups, fitted laws; as text, CSV, JSON and SVG.
//! Runs are interleaved (1, 2, 4, 2, 4, 1, …) so that a machine that slows down in the meantime slows all counts alike.
//! Times of runs that found different things are never compared: the measurement ends with an error instead.

pub mod figure;
pub mod fit;
pub mod machines;
pub mod tables;

use super::child::{self, Checker, Limits};
use fit::{Law, Sample};
use machines::Costs;
use serde_json::Value;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub struct Plan {
    /// Model and options of `check`, without `--workers` and `--json`.
    pub args: Vec<OsString>,
    /// Numbers of workers, or of machines.
    pub workers: Vec<u32>,
    /// Workers of each machine, if machines are counted.
    pub each: Option<u32>,
    pub repeats: u32,
    /// Cores of this machine; counts beyond are measured but not fitted.
    pub cores: u32,
    pub limits: Limits,
}

/// One run of the check.
#[derive(Clone, Debug)]
pub struct Run {
    pub workers: u32,
    pub repeat: u32,
    /// Exploration alone, as the checker measured it: what is compared.
    pub explore: f64,
    /// The whole process.
    pub wall: f64,
    pub peak: u64,
    /// Workers that the checker says it used.
    pub used: u32,
    /// Shares of the workers' time by name, if the checker gives them.
    pub shares: Vec<(String, f64)>,
    /// States sent to other machines, and not sent again.
    pub travelled: Option<(u64, u64)>,
}

/// What must be equal in all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub verdict: String,
    pub states: u64,
    pub transitions: u64,
    pub digest: String,
}

pub struct Measured {
    pub model: String,
    pub machine: String,
    pub version: String,
    pub engine: String,
    pub found: Found,
    pub runs: Vec<Run>,
    pub cores: u32,
    pub rows: Vec<Row>,
    /// What is counted: workers or machines.
    pub unit: &'static str,
    /// What several machines should take, if they are counted.
    pub costs: Option<Costs>,
    pub amdahl: Option<Law>,
    pub universal: Option<Law>,
    pub warnings: Vec<String>,
}

/// All runs of one worker count.
#[derive(Clone, Debug)]
pub struct Row {
    pub workers: u32,
    /// Median, smallest and largest seconds of exploration.
    pub median: f64,
    pub least: f64,
    pub most: f64,
    pub wall: f64,
    pub peak: u64,
    /// Against the median of the smallest count measured.
    pub speedup: f64,
    pub efficiency: f64,
    pub states_per_second: f64,
    pub shares: Vec<(String, f64)>,
    pub oversubscribed: bool,
}

/// The exit status of `check` for a model or a command line that it rejects.
const REJECTED: i32 = 2;

/// Why there is no measurement.
#[derive(Debug)]
pub enum Unmeasured {
    /// The model or the options of `check` were rejected; what `check` said of it.
    Rejected(String),
    /// A run failed, or the runs disagree.
    Failed(String),
}

impl From<String> for Unmeasured {
    fn from(message: String) -> Unmeasured {
        Unmeasured::Failed(message)
    }
}

/// Runs everything; `tell` hears of each run as it ends.
pub fn measure(checker: &Checker, plan: &Plan, mut tell: impl FnMut(&Run)) -> Result<Measured, Unmeasured> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut runs: Vec<Run> = Vec::new();
    let mut first: Option<(Found, Value, u32)> = None;
    for repeat in 0..plan.repeats {
        // The order turns by one each time, so that no count is always first.
        for i in 0..plan.workers.len() {
            let workers = plan.workers[(i + repeat as usize) % plan.workers.len()];
            let mut args = plan.args.clone();
            let threads = plan.each.unwrap_or(workers);
            args.extend(["--workers".into(), threads.to_string().into(), "--json".into()]);
            let machines = if plan.each.is_some() { workers } else { 1 };
            let ended = machines::run(checker, &args, machines, plan.limits, &stop)
                .map_err(|e| format!("cannot start {}: {e}", checker.program.display()))?;
            let Some(result) = ended.result else {
                if ended.cut.is_none() && ended.status == Some(REJECTED) {
                    return Err(Unmeasured::Rejected(ended.messages));
                }
                return Err(no_result(workers, plan.unit(), &ended).into());
            };
            let found = found(&result)?;
            match &first {
                None => first = Some((found, result.clone(), workers)),
                Some((other, _, with)) if *other != found => {
                    return Err(differ(other, *with, &found, workers, plan.unit()).into());
                }
                Some(_) => {}
            }
            let run = Run {
                workers,
                repeat: repeat + 1,
                explore: result["seconds"]["explore"].as_f64().unwrap_or(ended.wall),
                wall: ended.wall,
                peak: result["peak_memory_bytes"].as_u64().unwrap_or(ended.peak),
                used: result["workers"].as_u64().map_or(threads, |n| n as u32),
                shares: shares(&result),
                travelled: machines::travelled(&result),
            };
            tell(&run);
            runs.push(run);
        }
    }
    let Some((found, result, _)) = first else { return Err("nothing was measured".to_string().into()) };
    Ok(conclude(plan, found, &result, runs))
}

impl Plan {
    fn unit(&self) -> &'static str {
        if self.each.is_some() { "machines" } else { "workers" }
    }
}

fn no_result(workers: u32, unit: &str, ended: &child::Ended) -> String {
    let how = match (ended.cut, ended.status, ended.signal) {
        (Some(child::Cut::Time), ..) => "did not end within its time limit".to_string(),
        (Some(child::Cut::Memory), ..) => "took more memory than its limit".to_string(),
        (_, Some(s), _) => format!("ended with status {s}"),
        (_, _, Some(s)) => format!("was ended by signal {s}"),
        _ => "ended".to_string(),
    };
    format!("the run with {workers} {unit} {how} and gave no result\n{}", ended.messages)
}

fn found(result: &Value) -> Result<Found, String> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let verdict = text(&result["verdict"]);
    if verdict == "incomplete" {
        let why: Vec<String> =
            result["incomplete_because"].as_array().into_iter().flatten().map(text).collect();
        return Err(format!("a run that is cut short says nothing about speed: {}", why.join("; ")));
    }
    Ok(Found {
        verdict,
        states: result["states"].as_u64().ok_or("the result has no number of states")?,
        transitions: result["transitions"].as_u64().ok_or("the result has no number of transitions")?,
        digest: text(&result["digest"]),
    })
}

fn differ(a: &Found, with_a: u32, b: &Found, with_b: u32, unit: &str) -> String {
    let line = |f: &Found, w: u32| {
        format!(
            "  {w} {unit}: {}, {} states, {} transitions, digest {}",
            f.verdict, f.states, f.transitions, f.digest
        )
    };
    format!(
        "the runs found different things, so their times cannot be compared\n{}\n{}",
        line(a, with_a),
        line(b, with_b)
    )
}

/// The first object of the result that holds shares of time, name by name.
fn shares(result: &Value) -> Vec<(String, f64)> {
    let object = ["time_shares", "shares"].iter().find_map(|k| result[*k].as_object());
    object.into_iter().flatten().filter_map(|(k, v)| v.as_f64().map(|v| (k.clone(), v))).collect()
}

fn conclude(plan: &Plan, found: Found, result: &Value, runs: Vec<Run>) -> Measured {
    let mut counts = plan.workers.clone();
    counts.sort_unstable();
    counts.dedup();
    let mut rows: Vec<Row> = counts.iter().map(|w| row(*w, &runs, &found, plan)).collect();
    let base = rows.first().map(|r| (r.workers, r.median));
    if let Some((workers, median)) = base {
        for r in &mut rows {
            // Against the smallest count; if that is not one worker, its own speed-up is taken as linear.
            r.speedup = f64::from(workers) * median / r.median;
            r.efficiency = r.speedup / f64::from(r.workers);
        }
    }
    // Medians: one slow run on a busy machine must not bend a curve away from the table beside it.
    let samples: Vec<Sample> = rows
        .iter()
        .filter(|r| !r.oversubscribed)
        .map(|r| Sample { workers: r.workers, seconds: r.median })
        .collect();
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let mut measured = Measured {
        model: text(&result["model"]["file"]),
        machine: text(&result["model"]["machine"]),
        version: text(&result["bombus"]),
        engine: text(&result["engine"]),
        costs: plan.each.and_then(|each| Costs::new(&found, &runs, each, plan.cores)),
        unit: plan.unit(),
        found,
        cores: plan.cores,
        amdahl: fit::amdahl(&samples),
        universal: fit::universal(&samples),
        warnings: Vec::new(),
        rows,
        runs,
    };
    measured.warnings = warnings(&measured, base.map_or(1, |b| b.0), plan);
    measured
}

fn row(workers: u32, runs: &[Run], found: &Found, plan: &Plan) -> Row {
    let mine: Vec<&Run> = runs.iter().filter(|r| r.workers == workers).collect();
    let mut times: Vec<f64> = mine.iter().map(|r| r.explore).collect();
    times.sort_by(f64::total_cmp);
    let mut walls: Vec<f64> = mine.iter().map(|r| r.wall).collect();
    walls.sort_by(f64::total_cmp);
    let typical = median(&times);
    let mut shares: Vec<(String, f64)> = Vec::new();
    for run in &mine {
        for (name, value) in &run.shares {
            let part = value / mine.len() as f64;
            match shares.iter_mut().find(|(n, _)| n == name) {
                Some((_, sum)) => *sum += part,
                None => shares.push((name.clone(), part)),
            }
        }
    }
    Row {
        workers,
        median: typical,
        least: times.first().copied().unwrap_or(f64::NAN),
        most: times.last().copied().unwrap_or(f64::NAN),
        wall: median(&walls),
        peak: mine.iter().map(|r| r.peak).max().unwrap_or(0),
        speedup: 1.0,
        efficiency: 1.0,
        states_per_second: found.states as f64 / typical,
        shares,
        oversubscribed: workers * plan.each.unwrap_or(1) > plan.cores,
    }
}

/// The middle of sorted numbers.
pub fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

fn warnings(m: &Measured, base: u32, plan: &Plan) -> Vec<String> {
    let mut all = Vec::new();
    let beyond: Vec<String> =
        m.rows.iter().filter(|r| r.oversubscribed).map(|r| r.workers.to_string()).collect();
    if !beyond.is_empty() {
        all.push(format!(
            "{} {} on {} cores: they share cores, so these times say nothing about a larger machine and are left out of the fits",
            beyond.join(", "),
            m.unit,
            m.cores
        ));
    }
    if let Some(r) = m.runs.iter().find(|r| r.used != plan.each.unwrap_or(r.workers)) {
        all.push(format!(
            "asked for {} workers, the {} engine used {}: this is no measurement of speed-up",
            plan.each.unwrap_or(r.workers),
            m.engine,
            r.used
        ));
    }
    if base != 1 {
        let unit = m.unit;
        all.push(format!(
            "one of the {unit} was not measured: speed-ups take {base} {unit} as {base} times one"
        ));
    }
    if m.rows.iter().any(|r| r.median < 0.1) {
        all.push("some runs explore for less than 0.1 s: start-up and the clock weigh more than the search; take a larger model".into());
    }
    let spread = m.rows.iter().map(|r| (r.most - r.least) / r.median).fold(0.0, f64::max);
    if spread > 0.15 {
        all.push(format!(
            "times of one count of {} differ by up to {:.0} %: the machine was not quiet",
            m.unit,
            spread * 100.0
        ));
    }
    if let Some(other) = m.rows.iter().find(|r| r.speedup > f64::from(r.workers) * 1.05) {
        all.push(format!(
            "{} {} are faster than linear: noise, or caches that fit better",
            other.workers, m.unit
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn script(body: &str) -> Checker {
        Checker {
            program: "/bin/sh".into(),
            before: vec!["-c".into(), body.into(), "sh".into()],
            starter: None,
        }
    }

    fn plan(workers: &[u32]) -> Plan {
        Plan {
            args: vec!["m.mch".into()],
            workers: workers.to_vec(),
            each: None,
            repeats: 2,
            cores: 2,
            limits: Limits::default(),
        }
    }

    /// A checker that takes 8/workers seconds, so it says.
    const IDEAL: &str = r#"echo "{\"verdict\":\"verified\",\"states\":100,\"transitions\":200,\"digest\":\"d\",
        \"seconds\":{\"explore\":$((8 / $3))}}""#;

    #[test]
    fn an_ideal_checker_has_ideal_speed_ups() {
        let m = measure(&script(IDEAL), &plan(&[1, 2, 4]), |_| {}).unwrap();
        let speedups: Vec<f64> = m.rows.iter().map(|r| r.speedup).collect();
        assert_eq!(speedups, [1.0, 2.0, 4.0]);
        assert!(m.rows[2].oversubscribed && !m.rows[1].oversubscribed);
        assert!(m.amdahl.unwrap().sigma.abs() < 1e-9);
        assert_eq!(m.universal, None, "only two counts are within the cores");
        assert!(m.warnings[0].starts_with("4 workers on 2 cores"), "{:?}", m.warnings);
    }

    #[test]
    fn runs_that_found_different_things_are_not_compared() {
        let body = r#"echo "{\"verdict\":\"verified\",\"states\":$3,\"transitions\":2,\"seconds\":{\"explore\":1}}""#;
        let error = measure(&script(body), &plan(&[1, 2]), |_| {}).err().unwrap();
        assert!(
            matches!(&error, Unmeasured::Failed(e) if e.starts_with("the runs found different things")),
            "{error:?}"
        );
    }

    #[test]
    fn a_run_without_a_result_is_an_error_with_its_last_words() {
        let error = measure(&script("echo broken >&2; exit 4"), &plan(&[1]), |_| {}).err().unwrap();
        assert!(
            matches!(&error, Unmeasured::Failed(e) if e.contains("status 4") && e.contains("broken")),
            "{error:?}"
        );
    }

    #[test]
    fn a_model_that_the_checker_rejects_is_rejected_in_its_words() {
        let error = measure(&script("echo no model >&2; exit 2"), &plan(&[1]), |_| {}).err().unwrap();
        assert!(matches!(&error, Unmeasured::Rejected(said) if said.trim() == "no model"), "{error:?}");
    }

    #[test]
    fn an_incomplete_run_says_nothing_about_speed() {
        let result = json!({"verdict": "incomplete", "incomplete_because": ["time limit"]});
        assert!(found(&result).unwrap_err().contains("time limit"));
    }
}
