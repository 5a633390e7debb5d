//! `bombus batch` as a user sees it, with a checker of a few lines of shell in place of the real one.
//!
//! The stand-in does what its model says: the first word of the file is what happens.
#![cfg(unix)]

use crate::support::binary::{self, Folder};
use crate::support::rng::Rng;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// Arguments are `check MODEL … --json`. Each start leaves a line in `starts`.
const CHECKER: &str = r#"#!/bin/sh
model="$2"
dir=$(dirname "$model")
read what rest < "$model"
echo "$$ $model" >> "$dir/starts"
answer() {
  echo "{\"bombus\":\"0\",\"verdict\":\"$1\",\"states\":$2,\"transitions\":7,\"seconds\":{\"explore\":0.5},$3\"peak_memory_bytes\":1048576}"
}
case "$what" in
  verified) sleep "${rest:-0}"; answer verified 42 ""; exit 0 ;;
  violated) answer violated 5 '"violation":{"kind":"deadlock","property":"a<b","explanation":[],"loop_start":null,"trace":[
      {"event":"$initialise_machine","params":{},"results":{},"state":{"x":"{}"}},
      {"event":"go","params":{"p":"<1>"},"results":{},"state":{"x":"{1}"}}]},'; exit 1 ;;
  incomplete) answer incomplete 9 '"incomplete_because":["time limit"],'; exit 3 ;;
  rejected) echo "line 3: no such variable" >&2; exit 2 ;;
  crash) echo "about to die" >&2; kill -SEGV $$ ;;
  crash-once) if [ -e "$model.crashed" ]; then answer verified 1 ""; exit 0; fi; touch "$model.crashed"; kill -9 $$ ;;
  term) kill -TERM $$ ;;
  liar) answer verified 1 ""; exit 1 ;;
  hang) exec sleep 1000 ;;
  verified-when) until [ -e "$dir/$rest" ]; do sleep 0.01; done; answer verified 8 ""; exit 0 ;;
esac
"#;

struct Place {
    dir: Folder,
}

impl Place {
    fn new(models: &[(&str, &str)], jobs: &str) -> Place {
        let dir = Folder::new();
        dir.script("checker", CHECKER);
        for (name, text) in models {
            dir.write(name, &format!("{text}\n"));
        }
        dir.write("jobs.toml", jobs);
        Place { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path(name)
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut c = binary::bombus();
        c.arg("batch").arg(self.path("jobs.toml")).arg("--checker").arg(self.path("checker")).args(more);
        c.arg("--json").arg(self.path("report.json"));
        c
    }

    fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().unwrap()
    }

    fn report(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("report.json")).unwrap()).unwrap()
    }

    /// Waits until no process has the results locked: what a killed batch was about to start lets go of them when it
    /// runs.
    fn wait_for_lock(&self) {
        if let Ok(file) = fs::OpenOptions::new().write(true).open(self.path("jobs.results.jsonl")) {
            file.lock().unwrap();
        }
    }

    fn starts(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("starts")).unwrap_or_default();
        text.lines().map(|l| l.rsplit('/').next().unwrap().to_string()).collect()
    }
}

fn out(o: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&o.stdout), String::from_utf8_lossy(&o.stderr))
}

fn job(model: &str, expect: &str) -> String {
    format!("[[job]]\nmodel = '{model}'\nexpect = {expect}\n")
}

#[test]
fn a_batch_succeeds_when_every_expectation_is_met() {
    let jobs = [
        job("a.mch", "'verified'"),
        job("b.mch", "{ verdict = 'violated', kind = 'deadlock', steps = 1, states = 5 }"),
        job("c.mch", "'incomplete'"),
        job("d.mch", "'rejected'"),
    ]
    .concat();
    let models =
        [("a.mch", "verified"), ("b.mch", "violated"), ("c.mch", "incomplete"), ("d.mch", "rejected")];
    let place = Place::new(&models, &jobs);
    let done = place.run(&[]);
    assert_eq!(done.status.code(), Some(0), "{}", out(&done));
    let report = place.report();
    assert_eq!(report["as_expected"], 4);
    assert_eq!(report["jobs"][1]["counterexample_steps"], 1);
    assert!(out(&done).contains("4 of 4 as expected"), "{}", out(&done));
}

#[test]
fn one_crash_loses_one_job_and_the_batch_fails() {
    let jobs = ["a.mch", "b.mch", "c.mch", "d.mch", "e.mch"].map(|m| job(m, "'verified'")).concat();
    let models = [
        ("a.mch", "crash"),
        ("b.mch", "crash-once"),
        ("c.mch", "verified"),
        ("d.mch", "liar"),
        ("e.mch", "term"),
    ];
    let place = Place::new(&models, &jobs);
    let done = place.run(&["--cores", "2"]);
    assert_eq!(done.status.code(), Some(1), "{}", out(&done));
    let report = place.report();
    let of = |i: usize, field: &str| report["jobs"][i][field].clone();
    assert_eq!(of(0, "verdict"), "crashed");
    assert_eq!(of(0, "attempts"), 2, "a crash is tried once more");
    assert_eq!(of(0, "messages"), "about to die");
    assert_eq!((of(1, "verdict"), of(1, "attempts")), ("verified".into(), 2.into()));
    assert_eq!(of(2, "as_expected"), true);
    assert_eq!(of(3, "verdict"), "crashed", "a verdict counts only with the exit status that belongs to it");
    assert_eq!(of(4, "verdict"), "crashed", "ending one run does not end the batch");
}

#[test]
fn an_expectation_that_is_not_met_fails_the_batch_and_says_why() {
    let place = Place::new(&[("a.mch", "violated")], &job("a.mch", "'verified'"));
    let done = place.run(&[]);
    assert_eq!(done.status.code(), Some(1));
    assert!(out(&done).contains("violated, expected verified"), "{}", out(&done));
    assert!(out(&done).contains("deadlock: a<b"), "{}", out(&done));
}

#[test]
fn reports_for_machines_and_for_browsers_hold_the_counterexample_and_escape_it() {
    let place = Place::new(
        &[("a.mch", "violated"), ("b.mch", "verified")],
        "[[job]]\nmodel='a.mch'\n[[job]]\nmodel='b.mch'\nmaxint='1..3'",
    );
    let (html, xml) = (place.path("r.html"), place.path("r.xml"));
    place.run(&["--html", html.to_str().unwrap(), "--junit", xml.to_str().unwrap()]);
    let html = fs::read_to_string(html).unwrap();
    assert!(html.contains("a&lt;b") && html.contains("p=&lt;1&gt;") && !html.contains("<script"));
    assert!(html.contains("<svg") && html.contains("maxint"));
    assert!(
        !html.contains("http://")
            || html.matches("http://").count() == html.matches("http://www.w3.org/2000/svg").count()
    );
    let xml = fs::read_to_string(xml).unwrap();
    assert!(xml.contains("tests=\"4\" failures=\"1\" errors=\"0\""), "{xml}");
    assert!(xml.contains("<failure message=\"violated, expected verified\">"), "{xml}");
}

#[test]
fn a_second_start_runs_only_what_is_missing_or_changed() {
    let jobs = [job("a.mch", "'verified'"), job("b.mch", "'verified'")].concat();
    let place = Place::new(&[("a.mch", "verified"), ("b.mch", "verified")], &jobs);
    place.run(&[]);
    assert_eq!(place.starts().len(), 2);
    place.run(&[]);
    assert_eq!(place.starts().len(), 2, "nothing runs twice");
    fs::write(place.path("b.mch"), "verified 0.01\n").unwrap();
    place.run(&[]);
    assert_eq!(place.starts()[2..], ["b.mch"], "a changed model runs again");
    place.run(&["--fresh"]);
    assert_eq!(place.starts().len(), 5);
    fs::remove_file(place.path("report.json")).unwrap();
    assert_eq!(place.run(&["--report-only"]).status.code(), Some(0));
    assert_eq!(place.report()["as_expected"], 2);
    assert_eq!(place.starts().len(), 5, "a report runs nothing");
}

#[test]
fn a_jobs_file_with_mistakes_starts_nothing() {
    let place = Place::new(&[], "[[job]]\nmodel='gone.mch'\n[[job]]\nmodel='gone2.mch'");
    let done = place.run(&[]);
    assert_eq!(done.status.code(), Some(2));
    assert!(out(&done).contains("gone.mch") && out(&done).contains("gone2.mch"), "{}", out(&done));
    let place = Place::new(&[("a.mch", "verified")], "[[job]]\nmodel='a.mch'\nworkers=9");
    let done = place.run(&["--cores", "2"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(out(&done).contains("9 workers, but the budget is 2"), "{}", out(&done));
}

/// A report without what a clock says.
fn timeless(mut report: Value) -> Value {
    for job in report["jobs"].as_array_mut().unwrap() {
        job["wall_seconds"] = Value::Null;
        job["peak_memory_bytes"] = Value::Null;
    }
    report
}

#[test]
fn a_batch_killed_at_random_moments_gives_the_same_report() {
    let names: Vec<String> = (0..24).map(|i| format!("m{i:02}.mch")).collect();
    let texts: Vec<String> = (0..24)
        .map(|i| match i {
            // One that cannot end while the batch is being killed, so that no batch ends by itself before.
            5 => "verified-when open".into(),
            _ if i % 7 == 3 => "violated".into(),
            _ => format!("verified 0.0{}", i % 4),
        })
        .collect();
    let models: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let jobs: String = names.iter().map(|n| job(n, "'any'")).collect();

    let quiet = Place::new(&models, &jobs);
    quiet.dir.write("open", "");
    assert_eq!(quiet.run(&["--cores", "3"]).status.code(), Some(0));
    let expected = timeless(quiet.report());

    let place = Place::new(&models, &jobs);
    let mut rng = Rng::new(12345);
    for _ in 0..20 {
        place.wait_for_lock();
        let before = place.starts().len();
        let mut batch = place.command(&["--cores", "3", "--quiet"]).spawn().unwrap();
        while place.starts().len() == before {
            assert!(batch.try_wait().unwrap().is_none(), "the batch ended, though one of its jobs cannot");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(rng.below(60_000) as u64));
        batch.kill().unwrap();
        batch.wait().unwrap();
    }
    place.wait_for_lock();
    place.dir.write("open", "");
    let done = place.run(&["--cores", "3"]);
    assert_eq!(done.status.code(), Some(0), "{}", out(&done));
    let mut report = timeless(place.report());
    // Models lie in another folder; everything else is the same.
    let text = report.to_string().replace(place.path("").to_str().unwrap(), quiet.path("").to_str().unwrap());
    report = serde_json::from_str(&text).unwrap();
    assert_eq!(report, expected);
}

#[test]
fn a_killed_batch_leaves_no_check_running() {
    if !Path::new("/proc/self/cmdline").exists() {
        return;
    }
    let place = Place::new(&[("a.mch", "hang")], &job("a.mch", "'verified'"));
    let mut batch = place.command(&["--quiet"]).spawn().unwrap();
    let pid = loop {
        let text = fs::read_to_string(place.path("starts")).unwrap_or_default();
        if let Some(line) = text.lines().next().filter(|_| text.ends_with('\n')) {
            break line.split(' ').next().unwrap().to_string();
        }
        thread::sleep(Duration::from_millis(10));
    };
    batch.kill().unwrap();
    batch.wait().unwrap();
    // What has ended has no command line; a number that was given away again has another one. A kill comes at once,
    // but a busy machine may take its time with it.
    for _ in 0..30_000 {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if !line.contains("sleep\u{0}1000") && !line.contains(place.path("").to_str().unwrap()) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the check outlived its batch");
}

#[test]
fn an_interrupted_batch_keeps_what_ended_and_says_so() {
    let jobs = [job("a.mch", "'verified'"), job("b.mch", "'verified'")].concat();
    let place = Place::new(&[("a.mch", "verified"), ("b.mch", "hang")], &jobs);
    let batch = place.command(&["--cores", "1"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    while place.starts().len() < 2 {
        thread::sleep(Duration::from_millis(10));
    }
    Command::new("kill").arg("-INT").arg(batch.id().to_string()).status().unwrap();
    let done = batch.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", out(&done));
    assert!(out(&done).contains("1 of 2 as expected, 1 did not run"), "{}", out(&done));
}

#[test]
fn results_that_cannot_be_written_end_the_batch_with_what_is_safe() {
    let jobs = ["a.mch", "b.mch", "c.mch", "d.mch"].map(|m| job(m, "'verified'")).concat();
    let models = ["a.mch", "b.mch", "c.mch", "d.mch"].map(|m| (m, "verified"));
    let place = Place::new(&models, &jobs);
    // A limit on the size of files stands for a full disk: the third record does not fit.
    let shell = format!(
        "trap '' XFSZ; ulimit -f 1; exec '{}' batch '{}' --checker '{}' --cores 1",
        binary::program(),
        place.path("jobs.toml").display(),
        place.path("checker").display()
    );
    let done = Command::new("sh").arg("-c").arg(shell).output().unwrap();
    assert_eq!(done.status.code(), Some(4), "{}", out(&done));
    assert!(out(&done).contains("results are safe there; make room"), "{}", out(&done));
    let kept = fs::read_to_string(place.path("jobs.results.jsonl")).unwrap();
    assert!(kept.ends_with('\n') || kept.is_empty());
    // With room again, the rest runs and nothing is lost.
    let before = kept.lines().count();
    let done = place.run(&["--cores", "1"]);
    assert_eq!(done.status.code(), Some(0), "{}", out(&done));
    assert!(out(&done).contains(&format!("4 runs, {before} of them done before")), "{}", out(&done));
}
