//! The report of a batch as one HTML page that needs nothing else: tables, plots, every counterexample.
//!
//! Everything that comes from a model or a message is escaped; the page holds no script and loads nothing.

use super::super::child::steps;
use super::super::plot::{Axis, Bar, Chart, Point, Series, Style, bars, svg};
use super::super::units;
use super::summary::{findings, headline, verdict};
use super::{Entry, Finished};
use crate::base::text::{escape, many, shell_word};
use crate::report::page_style::STYLE;
use crate::report::{trace_page, trace_read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What this page has beside the common style.
const OWN_STYLE: &str = "table.results { width: 100%; } table.results td { white-space: nowrap; } td.n, th.n { text-align: right; white-space: nowrap; }
tr.bad td.run { box-shadow: inset 4px 0 0 light-dark(#c4471c, #e0764f); } .ok { background: var(--good); } .doubt { background: var(--doubt); } .badge.ok, .badge.no { white-space: nowrap; }
a { color: light-dark(#0b5cad, #7db8f5); } pre { background: var(--panel); padding: .6rem; overflow-x: auto; } details { margin: .8rem 0; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; } .plots svg, .wide svg { max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
td.run { min-width: 12rem; }
";

pub fn page(f: &Finished) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<style>{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        escape(&f.name),
        escape(&f.name)
    );
    let colour = if f.unmet() + f.left() == 0 { "ok" } else { "no" };
    let head = headline(f);
    let head = head.strip_prefix(&format!("{}: ", f.name)).unwrap_or(&head);
    let _ = writeln!(out, "<p><span class=\"badge {colour}\">{}</span></p>", escape(head));
    let time: f64 = f.entries.iter().filter_map(|e| e.record.as_ref()).map(|r| r.wall_seconds).sum();
    let states: u64 = f.entries.iter().filter_map(|e| e.record.as_ref()?.number("states")).sum();
    let _ = writeln!(
        out,
        "<p class=\"muted\">bombus {}; {} of checking in all, {} states.</p>",
        env!("CARGO_PKG_VERSION"),
        units::seconds(time),
        units::count(states)
    );
    failures(&mut out, f);
    results(&mut out, f);
    sweeps(&mut out, f);
    longest(&mut out, f);
    counterexamples(&mut out, f);
    messages(&mut out, f);
    out.push_str("</body>\n</html>\n");
    out
}

/// What needs a reader comes first.
fn failures(out: &mut String, f: &Finished) {
    let failed = || f.entries.iter().enumerate().filter_map(|(i, e)| Some((i, e, e.unmet.as_ref()?)));
    if failed().next().is_none() {
        return;
    }
    out.push_str("<h2>Not as expected</h2>\n<ul>\n");
    for (i, e, why) in failed() {
        let trace = match violation(e) {
            Some(v) if has_trace(e) => format!(
                "; <a href=\"#ce{i}\">{} <code>{}</code></a>",
                escape(v["kind"].as_str().unwrap_or_default()),
                escape(v["property"].as_str().unwrap_or_default())
            ),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "<li><a href=\"#run{i}\">{}</a>: <span class=\"why\">{}</span>{trace}</li>",
            escape(&e.instance.name),
            escape(why)
        );
    }
    out.push_str("</ul>\n");
}

fn results(out: &mut String, f: &Finished) {
    out.push_str(
        "<h2>Results</h2>\n<div class=\"wide\"><table class=\"results\">\n<tr><th>run</th><th>verdict</th><th>expected</th><th>outcome</th><th class=\"n\">states</th>\
         <th class=\"n\">transitions</th><th class=\"n\">time</th><th class=\"n\">states/s</th><th class=\"n\">memory</th></tr>\n",
    );
    for (i, e) in f.entries.iter().enumerate() {
        let bad = e.unmet.is_some();
        let number = |field| e.record.as_ref().and_then(|r| r.number(field)).map_or("–".into(), units::count);
        let (time, memory) = e.record.as_ref().map_or(("–".into(), "–".into()), |r| {
            (units::seconds(r.wall_seconds), units::bytes(r.peak_memory_bytes))
        });
        let why = e.unmet.as_ref().map(|w| format!("<div>{}</div>", escape(w))).unwrap_or_default();
        let shown = badge(&verdict(e));
        let shown = if has_trace(e) { format!("<a href=\"#ce{i}\">{shown}</a>") } else { shown };
        let _ = writeln!(
            out,
            "<tr id=\"run{i}\"{}><td class=\"run\">{}<div class=\"muted\">{}</div></td><td>{shown}</td><td>{}</td><td>{}{why}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{time}</td><td class=\"n\">{}</td><td class=\"n\">{memory}</td></tr>",
            if bad { " class=\"bad\"" } else { "" },
            escape(&e.instance.name),
            escape(&e.instance.model.file_name().unwrap_or_default().to_string_lossy()),
            escape(&e.instance.expect.words()),
            if bad { "<b>no</b>" } else { "as expected" },
            number("states"),
            number("transitions"),
            speed(e).map_or("–".into(), units::rate),
        );
    }
    out.push_str("</table></div>\n");
}

/// A verdict on its colour.
fn badge(verdict: &str) -> String {
    let colour = match verdict {
        "verified" => " ok",
        "violated" => "",
        _ => " doubt",
    };
    format!("<span class=\"badge{colour}\">{}</span>", escape(verdict))
}

fn speed(e: &Entry) -> Option<f64> {
    let result = e.record.as_ref()?.result.as_ref()?;
    let seconds = result["seconds"]["explore"].as_f64().filter(|s| *s > 0.0)?;
    Some(result["states"].as_u64()? as f64 / seconds)
}

/// For each job that was swept: states and time along each axis that has several values.
fn sweeps(out: &mut String, f: &Finished) {
    let mut jobs: Vec<&str> = Vec::new();
    for e in f.entries.iter().filter(|e| !e.instance.point.is_empty()) {
        if !jobs.contains(&e.instance.job.as_str()) {
            jobs.push(&e.instance.job);
        }
    }
    if jobs.is_empty() {
        return;
    }
    out.push_str("<h2>Sweeps</h2>\n");
    for job in jobs {
        let mine: Vec<&Entry> = f.entries.iter().filter(|e| e.instance.job == job).collect();
        let Some((axis, _)) = mine.first().and_then(|e| e.instance.point.first()) else { continue };
        let states = series(&mine, axis, |e| e.record.as_ref()?.number("states").map(|n| n as f64));
        let times = series(&mine, axis, |e| e.record.as_ref().map(|r| r.wall_seconds));
        let _ = writeln!(out, "<h3>{}</h3>\n<div class=\"plots\">", escape(job));
        for (title, label, series) in
            [("states", "states", states), ("time", "time of the whole run (s)", times)]
        {
            if series.iter().any(|s| s.points.len() > 1) {
                out.push_str(&chart(&format!("{job}: {title}"), axis, label, series));
            }
        }
        out.push_str("</div>\n");
    }
}

/// Values along one axis; runs that differ elsewhere are series of their own.
fn series(entries: &[&Entry], axis: &str, value: impl Fn(&Entry) -> Option<f64>) -> Vec<Series> {
    let mut groups: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for e in entries {
        let rest: Vec<String> =
            e.instance.point.iter().filter(|(n, _)| n != axis).map(|(n, v)| format!("{n}={v}")).collect();
        let x = e.instance.point.iter().find(|(n, _)| n == axis).map(|(_, v)| *v as f64);
        if let (Some(x), Some(y)) = (x, value(e)) {
            groups.entry(rest.join(" ")).or_default().push(Point::at(x, y));
        }
    }
    let mut all: Vec<Series> = Vec::new();
    for (name, mut points) in groups {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        // Series that lie on each other, such as the states of all worker counts, are one line.
        let same =
            |s: &&mut Series| s.points.iter().map(|p| (p.x, p.y)).eq(points.iter().map(|p| (p.x, p.y)));
        match all.iter_mut().find(same) {
            Some(s) => s.name.push_str(&format!(", {name}")),
            None => all.push(Series { name, points, style: Style::Measured, colour: all.len() }),
        }
    }
    all
}

fn chart(title: &str, x: &str, y: &str, series: Vec<Series>) -> String {
    let mut ticks: Vec<f64> = series.iter().flat_map(|s| s.points.iter().map(|p| p.x)).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let all = || series.iter().flat_map(|s| s.points.iter().map(|p| p.y));
    let least = all().fold(f64::INFINITY, f64::min);
    let most = all().fold(0.0, f64::max);
    // Growth by more than a factor of ten is readable only on a logarithmic axis.
    let log = least > 0.0 && most / least > 10.0;
    svg(&Chart {
        title: title.into(),
        x: Axis { label: x.into(), ticks, ..Axis::default() },
        y: Axis { label: y.into(), log, from_zero: true, ..Axis::default() },
        series,
        width: 560.0,
        height: 320.0,
        note: None,
    })
}

/// Where the time went.
fn longest(out: &mut String, f: &Finished) {
    let mut ran: Vec<&Entry> = f.entries.iter().filter(|e| e.record.is_some()).collect();
    if ran.len() < 2 {
        return;
    }
    let wall = |e: &Entry| e.record.as_ref().map_or(0.0, |r| r.wall_seconds);
    ran.sort_by(|a, b| wall(b).total_cmp(&wall(a)));
    let top: Vec<Bar> = ran
        .iter()
        .take(20)
        .map(|e| Bar {
            name: e.instance.name.clone(),
            value: wall(e),
            text: units::seconds(wall(e)),
            good: e.unmet.is_none(),
        })
        .collect();
    let title = if ran.len() > 20 { "The twenty longest runs" } else { "Time of each run" };
    let _ = writeln!(out, "<h2>Time</h2>\n<div class=\"wide\">{}</div>", bars(title, &top, 900.0));
}

fn violation(e: &Entry) -> Option<&Value> {
    let v = &e.record.as_ref()?.result.as_ref()?["violation"];
    v.is_object().then_some(v)
}

fn has_trace(e: &Entry) -> bool {
    violation(e).is_some_and(|v| v["trace"].as_array().is_some_and(|t| !t.is_empty()))
}

fn counterexamples(out: &mut String, f: &Finished) {
    if !f.entries.iter().any(has_trace) {
        return;
    }
    out.push_str("<h2>Counterexamples</h2>\n");
    for (i, e) in f.entries.iter().enumerate().filter(|(_, e)| has_trace(e)) {
        let Some(v) = violation(e) else { continue };
        let length = e.record.as_ref().and_then(|r| r.result.as_ref()).and_then(steps).unwrap_or(0);
        let _ = writeln!(
            out,
            "<details{}><summary><b>{}</b>: {} <code>{}</code>, {}</summary><div id=\"ce{i}\">\n\
             <p class=\"muted\">scope: {}</p>\n<p class=\"muted\">command: <code>{}</code></p>",
            if e.unmet.is_some() { " open" } else { "" },
            escape(&e.instance.name),
            escape(v["kind"].as_str().unwrap_or_default()),
            escape(v["property"].as_str().unwrap_or_default()),
            many(length, "step"),
            escape(&scope(e)),
            escape(&command(e))
        );
        for (n, finding) in findings(e).into_iter().enumerate() {
            if n > 0 {
                let word = |key: &str| escape(finding[key].as_str().unwrap_or_default());
                let _ = writeln!(out, "<h3>also {}: <code>{}</code></h3>", word("kind"), word("property"));
            }
            one_finding(out, finding);
        }
        out.push_str("</div></details>\n");
    }
}

/// The reasons of a finding and its trace.
fn one_finding(out: &mut String, v: &Value) {
    let lines = trace_read::why(v);
    if !lines.is_empty() {
        let _ = writeln!(out, "<pre>{}</pre>", escape(&lines.join("\n")));
    }
    let trace = v["trace"].as_array().map_or(&[][..], Vec::as_slice);
    let Ok(steps) = trace_read::steps(trace) else { return };
    trace_page::constants(out, &steps);
    let loop_start = v["loop_start"].as_u64().map(|n| n as usize);
    trace_page::table(out, &steps, loop_start, &trace_read::beside(v));
}

/// The command that gives the same answer for people.
fn command(e: &Entry) -> String {
    let words = e.instance.args.iter().filter(|a| *a != "--json").map(|a| shell_word(&a.to_string_lossy()));
    ["bombus".to_string(), "check".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Sizes and bounds for which a run says what it says.
fn scope(e: &Entry) -> String {
    let Some(result) = e.record.as_ref().and_then(|r| r.result.as_ref()) else { return String::new() };
    let sets = result["scope"]["sets"].as_object().into_iter().flatten();
    let sizes = sets.map(|(name, size)| format!("{name} = {size}"));
    let integers = format!("integers {}..{}", result["scope"]["minint"], result["scope"]["maxint"]);
    sizes.chain([integers]).collect::<Vec<_>>().join(", ")
}

fn messages(out: &mut String, f: &Finished) {
    let with: Vec<(&Entry, &str)> = f
        .entries
        .iter()
        .filter_map(|e| e.record.as_ref().map(|r| (e, r.messages.as_str())))
        .filter(|(_, m)| !m.is_empty())
        .collect();
    if with.is_empty() {
        return;
    }
    out.push_str("<h2>Messages</h2>\n");
    for (e, m) in with {
        let _ = writeln!(
            out,
            "<details open><summary><b>{}</b></summary><pre>{}</pre></details>",
            escape(&e.instance.name),
            escape(m)
        );
    }
}
