//! A speed-up measurement as text, CSV and JSON. Predictions are always marked as predictions.

use super::super::units;
use super::machines::{Costs, TRAVEL_SECONDS};
use super::{Law, Measured};
use serde_json::{Value, json};
use std::fmt::Write;

/// Worker counts beyond those measured for which a law is asked: powers of two up to eight times the largest.
pub fn beyond(m: &Measured) -> Vec<u32> {
    let largest = m.rows.iter().filter(|r| !r.oversubscribed).map(|r| r.workers).max().unwrap_or(1);
    let mut p = largest.next_power_of_two();
    let mut all = Vec::new();
    while p < largest * 8 {
        p *= 2;
        all.push(p);
    }
    all
}

/// The best law there is: the universal one if it could be fitted.
pub fn best(m: &Measured) -> Option<(&'static str, Law)> {
    m.universal.map(|l| ("USL", l)).or(m.amdahl.map(|l| ("Amdahl", l)))
}

pub fn text(m: &Measured) -> String {
    let mut out = String::new();
    let repeats = m.runs.iter().map(|r| r.repeat).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "{}   {} states, {} transitions, {}   {} repeats, interleaved; {} cores",
        m.machine,
        units::count(m.found.states),
        units::count(m.found.transitions),
        m.found.verdict,
        repeats,
        m.cores
    );
    let names: Vec<&str> =
        m.rows.first().map(|r| r.shares.iter().map(|(n, _)| n.as_str()).collect()).unwrap_or_default();
    let mut table = vec![
        [m.unit, "time", "range", "speed-up", "efficiency", "states/s", "memory"].map(String::from).to_vec(),
    ];
    if m.costs.is_some() {
        table[0].push("predicted".to_string());
    }
    table[0].extend(names.iter().map(|n| n.to_string()));
    for r in &m.rows {
        let mut line = vec![
            format!("{}{}", r.workers, if r.oversubscribed { "*" } else { "" }),
            units::seconds(r.median),
            format!("{} – {}", units::seconds(r.least), units::seconds(r.most)),
            format!("{:.2}", r.speedup),
            format!("{:.0} %", r.efficiency * 100.0),
            units::rate(r.states_per_second),
            units::bytes(r.peak),
        ];
        line.extend(m.costs.map(|c| units::seconds(c.seconds(f64::from(r.workers)))));
        line.extend(names.iter().map(|n| {
            let share = r.shares.iter().find(|(k, _)| k == n).map(|(_, v)| *v);
            share.map_or("–".into(), |v| format!("{:.0} %", v * 100.0))
        }));
        table.push(line);
    }
    out.push_str(&columns(&table));
    if m.rows.iter().any(|r| r.oversubscribed) {
        let _ = writeln!(out, "  * more {} than cores", m.unit);
    }
    out.push('\n');
    if let Some(costs) = m.costs {
        price(&mut out, &costs);
    }
    laws(&mut out, m);
    for w in &m.warnings {
        let _ = writeln!(out, "warning: {w}");
    }
    out
}

/// The cost model of several machines, in words.
fn price(out: &mut String, costs: &Costs) {
    let _ = writeln!(
        out,
        "  cost model   {:.2} µs a state alone, {:.1} successors, {:.0} % of those for others sent before; 0.2 µs for each that travels",
        costs.state_seconds * 1e6,
        costs.successors,
        costs.kept * 100.0
    );
    let far: Vec<String> =
        [8.0, 64.0].iter().map(|p| format!("{p} machines {:.0} %", costs.efficiency(*p) * 100.0)).collect();
    let _ = writeln!(
        out,
        "  prediction   speed of a machine among others, each with its own cores: {}",
        far.join(", ")
    );
}

fn laws(out: &mut String, m: &Measured) {
    match m.amdahl {
        Some(l) => {
            let limit = match l.sigma {
                s if s >= 1.0 => "more workers are not faster".into(),
                s if s > 1e-6 => format!("at most {:.1} times faster", 1.0 / s),
                _ => "no limit seen".into(),
            };
            let _ = writeln!(
                out,
                "  Amdahl       serial fraction {:.2} % ({limit}), error {:.1} %",
                l.sigma * 100.0,
                l.error * 100.0
            );
        }
        None => {
            out.push_str("  Amdahl       not determined: two different counts within the cores are needed\n")
        }
    }
    match m.universal {
        Some(l) => {
            let peak = l.peak().map_or(String::new(), |p| format!(", best at {p:.0} {}", m.unit));
            let _ = writeln!(
                out,
                "  USL          contention {:.2} %, coherence {:.4} %{peak}, error {:.1} %",
                l.sigma * 100.0,
                l.kappa * 100.0,
                l.error * 100.0
            );
        }
        None => out
            .push_str("  USL          not determined: three different counts within the cores are needed\n"),
    }
    if let Some((name, law)) = best(m) {
        let all: Vec<String> =
            beyond(m).iter().map(|p| format!("{p} {} {:.1}", m.unit, law.speedup(f64::from(*p)))).collect();
        let _ = writeln!(out, "  prediction   by {name}, not measured: speed-up with {}", all.join(", "));
    }
}

/// Right-aligned columns with two blanks between them.
pub fn columns(table: &[Vec<String>]) -> String {
    let width =
        |c: usize| table.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for row in table {
        out.push_str("  ");
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(c, t)| format!("{}{t}", " ".repeat(width(c) - t.chars().count())))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// One line per run: raw numbers for other tools.
pub fn csv(m: &Measured) -> String {
    let mut out = String::from(
        "COUNT,repeat,explore_seconds,wall_seconds,states,transitions,states_per_second,peak_memory_bytes\n",
    );
    out = out.replacen("COUNT", m.unit, 1);
    for r in &m.runs {
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{}",
            r.workers,
            r.repeat,
            r.explore,
            r.wall,
            m.found.states,
            m.found.transitions,
            m.found.states as f64 / r.explore,
            r.peak
        );
    }
    out
}

pub fn json(m: &Measured) -> Value {
    let law = |l: &Law| {
        json!({"one_worker_seconds": l.one, "serial_fraction": l.sigma, "coherence": l.kappa,
               "relative_error": l.error, "best_workers": l.peak()})
    };
    let predicted: Vec<Value> = best(m)
        .map(|(name, l)| {
            beyond(m)
                .into_iter()
                .map(|p| {
                    let p64 = f64::from(p);
                    json!({m.unit: p, "speedup": l.speedup(p64), "seconds": l.seconds(p64), "law": name, "prediction": true})
                })
                .collect()
        })
        .unwrap_or_default();
    json!({
        "bombus": m.version,
        "model": {"file": m.model, "machine": m.machine},
        "engine": m.engine,
        "cores": m.cores,
        "verdict": m.found.verdict,
        "states": m.found.states,
        "transitions": m.found.transitions,
        "digest": m.found.digest,
        "rows": m.rows.iter().map(|r| json!({
            m.unit: r.workers,
            "predicted_seconds": m.costs.map(|c| c.seconds(f64::from(r.workers))),
            "seconds": {"median": r.median, "least": r.least, "most": r.most, "wall_median": r.wall},
            "speedup": r.speedup,
            "efficiency": r.efficiency,
            "states_per_second": r.states_per_second,
            "peak_memory_bytes": r.peak,
            "time_shares": r.shares.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<serde_json::Map<_, _>>(),
            "more_workers_than_cores": r.oversubscribed,
        })).collect::<Vec<_>>(),
        "cost_model": m.costs.map(|c| json!({
            "state_seconds": c.state_seconds, "successors": c.successors, "not_sent_again": c.kept,
            "travel_seconds": TRAVEL_SECONDS, "workers_each": c.workers,
        })),
        "amdahl": m.amdahl.as_ref().map(law),
        "usl": m.universal.as_ref().map(law),
        "predicted": predicted,
        "runs": m.runs.iter().map(|r| json!({
            m.unit: r.workers, "repeat": r.repeat, "explore_seconds": r.explore, "wall_seconds": r.wall,
            "peak_memory_bytes": r.peak,
        })).collect::<Vec<_>>(),
        "warnings": m.warnings,
    })
}
