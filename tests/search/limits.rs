//! `--memory-limit` as a user sees it: what the process takes stays within it, and reaching it is told. A limit of time ends whatever
//! is being listed.
#![cfg(target_os = "linux")]

use crate::support::binary::{Folder, json, messages};
use serde_json::Value;

/// States in words: more than any limit here holds.
const WORDS: &str = "MACHINE words VARIABLES f INVARIANT f : 1..6 --> 0..19 INITIALISATION f := (1..6) * {0}
OPERATIONS step(i) = PRE i : 1..6 THEN f(i) := (f(i) + 1) mod 20 END END";

/// States with values in the pool.
const VALUES: &str =
    "MACHINE pooled SETS ITEM = {a, b, c, d} VARIABLES q INVARIANT q : seq(ITEM) INITIALISATION q := <>
OPERATIONS put(x) = SELECT x : ITEM THEN q := q <- x END END";

/// Millions of valuations of the constants, each of which is quickly made.
const VALUATIONS: &str =
    "MACHINE valued CONSTANTS a, b, c, d, e, f, g, h PROPERTIES a : 0..5 & b : 0..5 & c : 0..5
& d : 0..5 & e : 0..5 & f : 0..5 & g : 0..5 & h : 0..5 OPERATIONS op = skip END";

fn check(model: &str, options: &[&str]) -> Value {
    let out = Folder::with_machine(model).check(&[&["--workers", "2"], options].concat());
    assert_eq!(out.status.code(), Some(3), "{options:?}: {}", messages(&out));
    let result = json(&out);
    assert_eq!(result["verdict"], "incomplete");
    result
}

fn peak(model: &str, options: &[&str]) -> u64 {
    let result = check(model, options);
    assert_eq!(result["incomplete_because"][0], "memory limit reached");
    assert!(result["states"].as_u64().unwrap() > 1000, "{options:?}: {}", result["states"]);
    result["peak_memory_bytes"].as_u64().unwrap()
}

#[test]
fn the_process_stays_within_its_memory_limit_and_says_that_it_was_reached() {
    for (limit, mib) in [("80M", 80u64), ("130M", 130)] {
        for options in [["--store", "exact"], ["--store", "hash"], ["--order", "dfs"]] {
            let peak = peak(WORDS, &[&["--memory-limit", limit], &options[..]].concat());
            assert!(peak <= (mib << 20) * 105 / 100, "{limit} {options:?}: {} MiB", peak >> 20);
            assert!(peak >= (mib << 20) / 2, "{limit} {options:?}: half of it is left, {} MiB", peak >> 20);
        }
    }
    let peak = peak(VALUES, &["--memory-limit", "160M"]);
    assert!(peak <= (160 << 20) * 105 / 100, "{} MiB", peak >> 20);
}

#[test]
fn constants_that_are_set_up_stay_within_the_memory_limit() {
    let result = check(VALUATIONS, &["--memory-limit", "150M"]);
    assert_eq!(result["incomplete_because"][0], "memory limit reached while the constants were set up");
    let peak = result["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak <= (150 << 20) * 105 / 100, "{} MiB", peak >> 20);
}

#[test]
fn a_time_limit_ends_the_initial_states_of_all_valuations_together() {
    // Each of 200,000 valuations has more initial states than can be listed: a search that went on to the next one after the limit
    // would look at the clock once for each, and end in a quarter of an hour at best.
    let model = "MACHINE lists CONSTANTS n PROPERTIES n : 1..200000 VARIABLES f INVARIANT f : 1..20 --> 1..20 \
                 INITIALISATION f :: 1..20 --> 1..20 OPERATIONS op = skip END";
    let result = check(model, &["--time-limit", "1"]);
    let why = result["incomplete_because"][0].as_str().unwrap();
    assert!(why.starts_with("time limit reached"), "{why}");
}
