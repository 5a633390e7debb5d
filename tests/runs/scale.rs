//! `bombus scale` as a user sees it, with a checker of a few lines of shell in place of the real one.
#![cfg(unix)]

use crate::support::binary::Folder;
use serde_json::Value;
use std::fs;
use std::process::Output;

/// Arguments are `check MODEL … --workers N --json`; the time falls with the workers, a twentieth of it does not.
const CHECKER: &str = r#"#!/bin/sh
before=
for a in "$@"; do [ "$before" = --workers ] && w=$a; before=$a; done
ms=$((200 + 3800 / w))
printf '{"bombus":"0","model":{"file":"m","machine":"m"},"engine":"shell","verdict":"verified","states":%s,' "${STATES:-1000}"
printf '"transitions":5,"digest":"d","workers":%s,"seconds":{"explore":%s.%03d},"peak_memory_bytes":1}' $w $((ms / 1000)) $((ms % 1000))
"#;

fn scale(folder: &Folder, script: &str, more: &[&str]) -> Output {
    let mut c = folder.bombus();
    c.args(["scale", "m.mch", "--repeats", "2", "--cores", "8", "--checker"]);
    c.arg(folder.script("checker", script)).args(more).output().unwrap()
}

#[test]
fn speed_ups_are_tabled_fitted_and_drawn() {
    let folder = Folder::new();
    let files = ["--svg", "s.svg", "--csv", "s.csv", "--json", "s.json"];
    let out = scale(&folder, CHECKER, &[&["--workers", "1,2,4,8"], &files[..]].concat());
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("serial fraction 5.00 %"), "{text}");
    assert!(text.contains("prediction") && text.contains("not measured"), "{text}");
    let json: Value = serde_json::from_str(&fs::read_to_string(folder.path("s.json")).unwrap()).unwrap();
    // 4.0 s with one worker, 0.675 s with eight.
    let speedup = json["rows"][3]["speedup"].as_f64().unwrap();
    assert!((speedup - 4.0 / 0.675).abs() < 1e-9, "{speedup}");
    assert!(json["predicted"].as_array().unwrap().iter().all(|p| p["prediction"] == true));
    assert_eq!(fs::read_to_string(folder.path("s.csv")).unwrap().lines().count(), 1 + 4 * 2);
    let svg = fs::read_to_string(folder.path("s.svg")).unwrap();
    assert!(svg.contains("speed-up") && svg.contains("predicted") && svg.contains("workers (8 cores)"));
}

/// The time falls with the lines of the list of machines, and rank 0 alone reports.
const CLUSTER: &str = r#"#!/bin/sh
before=
rank=0
machines=1
for a in "$@"; do
  [ "$before" = --rank ] && rank=$a
  [ "$before" = --cluster ] && machines=$(grep -c : "$a")
  before=$a
done
[ $rank = 0 ] || exit 0
printf '{"bombus":"0","model":{"file":"m","machine":"m"},"engine":"shell","verdict":"verified","states":1000000,'
printf '"transitions":4000000,"digest":"d","workers":1,"seconds":{"explore":%s},"peak_memory_bytes":1,' $((4 / machines))
printf '"machines":[{"sent":1500000,"not_sent_again":500000}]}'
"#;

#[test]
fn machines_are_measured_and_predicted_by_the_cost_of_travel() {
    let folder = Folder::new();
    let more = ["--machines", "1,2,4", "--svg", "s.svg", "--json", "s.json"];
    let out = scale(&folder, CLUSTER, &more);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let json: Value = serde_json::from_str(&fs::read_to_string(folder.path("s.json")).unwrap()).unwrap();
    assert_eq!(json["rows"][2]["machines"], 4);
    assert_eq!(json["rows"][2]["speedup"], 4.0);
    // 4 µs a state alone; half of four successors go to the other machine, a quarter of them was sent before.
    let predicted = json["rows"][1]["predicted_seconds"].as_f64().unwrap();
    assert!((predicted - (4.0 + 1.5 * 0.2) / 2.0).abs() < 1e-9, "{predicted}");
    assert!(text.contains("cost model   4.00 µs a state alone, 4.0 successors, 25 %"), "{text}");
    let svg = fs::read_to_string(folder.path("s.svg")).unwrap();
    assert!(
        svg.contains("measured")
            && svg.contains("cost model, predicted")
            && svg.contains("machines (8 cores)")
    );
    let refused = scale(&folder, CLUSTER, &["--machines", "1,2", "--workers", "1,2"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn more_workers_than_cores_are_measured_with_a_warning_and_not_fitted() {
    let folder = Folder::new();
    let out = scale(&folder, CHECKER, &["--workers", "1,16"]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("16*") && text.contains("warning: 16 workers on 8 cores"), "{text}");
    assert!(text.contains("Amdahl       not determined"), "{text}");
}

#[test]
fn runs_that_found_different_things_are_refused() {
    let folder = Folder::new();
    let differing = CHECKER.replace("${STATES:-1000}", "$w");
    let out = scale(&folder, &differing, &["--workers", "1,2"]);
    assert_eq!(out.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&out.stderr).contains("the runs found different things"));
}
