//! `bombus replay --log`: logs of a system against a model.

use super::serve::LOCK;
use crate::support::binary::{Folder, json, messages};
use crate::support::rng::Rng;
use serde_json::{Value, json as object};
use std::process::Output;

const MAP: &str = "
ignore = ['heartbeat']
[events.acquire]
operation = 'enter'
params = { x = 'who' }
[events.ask]
params = { x = 'who' }
[events.leave]
params = { x = 'who' }
results = { n = 'left' }
[state]
inside = 'inside'
flag = 'flag'
[values]
alice = 'p'
bob = 'q'
";

fn place(map: &str) -> Folder {
    let folder = Folder::with_machine(LOCK);
    folder.write("map.toml", map);
    folder
}

fn follow(folder: &Folder, lines: &[Value]) -> Output {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    folder.write("log.ndjson", &text);
    let args = ["replay", "--log", "log.ndjson", "--map", "map.toml", "--model", "M.mch", "--json"];
    folder.bombus().args(args).output().expect("the binary runs")
}

/// A run of two processes that ask, enter and leave, as a system would write it; what the model means by it is written
/// down here a second time.
fn run(rng: &mut Rng, steps: usize) -> Vec<Value> {
    let names = ["alice", "bob"];
    let (mut flag, mut inside) = ([false; 2], [false; 2]);
    let mut lines = Vec::new();
    while lines.len() < steps {
        let who = rng.below(2);
        let mut line = object!({"who": names[who], "at": lines.len()});
        if inside[who] {
            inside[who] = false;
            flag[who] = false;
            line["event"] = "leave".into();
            // The result is what was inside before the step.
            line["left"] = (inside.iter().filter(|i| **i).count() + 1).into();
        } else if flag[who] {
            inside[who] = true;
            line["event"] = "acquire".into();
        } else {
            flag[who] = true;
            line["event"] = "ask".into();
        }
        line["inside"] = (0..2).filter(|n| inside[*n]).map(|n| names[n]).collect();
        line["flag"] = object!({"alice": flag[0], "bob": flag[1]});
        lines.push(line);
    }
    lines
}

#[test]
fn a_log_of_the_model_is_explained_and_an_altered_line_is_the_one_that_is_not() {
    let folder = place(MAP);
    let mut rng = Rng::new(11);
    let lines = run(&mut rng, 120);
    let output = follow(&folder, &lines);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        messages(&output),
        String::from_utf8_lossy(&output.stdout)
    );
    assert_eq!((&json(&output)["lines"], &json(&output)["states"]), (&120.into(), &1.into()));
    for _ in 0..crate::support::cases(12) {
        let at = rng.below(120);
        let mut altered = lines.clone();
        match rng.below(3) {
            0 => altered[at]["who"] = if lines[at]["who"] == "alice" { "bob".into() } else { "alice".into() },
            1 => altered[at]["flag"]["bob"] = (lines[at]["flag"]["bob"] == false).into(),
            _ => {
                altered[at]["event"] =
                    if lines[at]["event"] == "ask" { "acquire".into() } else { "ask".into() }
            }
        }
        let output = follow(&folder, &altered);
        assert_eq!(output.status.code(), Some(1), "{} {}", altered[at], messages(&output));
        assert_eq!(json(&output)["unexplained"]["line"], at + 1, "{}", json(&output));
    }
}

#[test]
fn what_a_log_leaves_out_may_be_anything_and_the_states_that_fit_are_followed() {
    let folder = place(MAP);
    let events = |names: &[&str]| -> Vec<Value> { names.iter().map(|n| object!({"event": n})).collect() };
    // Who asked is not told: either may be the one, and only one more may ask.
    let output = follow(&folder, &events(&["ask"]));
    assert_eq!((output.status.code(), &json(&output)["states"]), (Some(0), &2.into()));
    let mut told = events(&["ask", "heartbeat", "acquire"]);
    told.push(object!({"event": "leave", "who": "bob"}));
    assert_eq!(follow(&folder, &told).status.code(), Some(0));
    let output = follow(&folder, &events(&["ask", "ask", "ask"]));
    let result = json(&output);
    assert_eq!((output.status.code(), &result["unexplained"]["line"]), (Some(1), &3.into()));
    let because = result["unexplained"]["because"].to_string();
    assert!(
        because.contains("ask is not enabled in the one state that fits") && because.contains("enter"),
        "{because}"
    );
    // What keeps the one who is named from entering is told with its values.
    let output = follow(&folder, &[object!({"event": "acquire", "who": "bob"})]);
    let because = json(&output)["unexplained"]["because"].to_string();
    assert!(because.contains("false: flag(x) = TRUE") && because.contains("x = q"), "{because}");
    told[3]["left"] = 7.into();
    let because = json(&follow(&folder, &told))["unexplained"]["because"].to_string();
    assert!(because.contains("n is 7 in the log"), "{because}");
}

#[test]
fn steps_that_the_log_does_not_show_are_taken_up_to_the_bound() {
    let lines = [object!({"event": "enter", "x": "p"}), object!({"event": "enter", "x": "q"})];
    let map = |steps: usize| {
        format!("silent = ['ask']\nsilent-steps = {steps}\n[events.enter]\nparams = {{ x = 'x' }}\n")
    };
    assert_eq!(follow(&place(&map(1)), &lines).status.code(), Some(0));
    let none = follow(&place(&map(0)), &lines);
    assert_eq!((none.status.code(), &json(&none)["unexplained"]["line"]), (Some(1), &1.into()));
    // Only one may ask before the first line; the second line finds q asleep.
    let late =
        [object!({"event": "enter", "x": "p"}), object!({"event": "leave"}), object!({"event": "leave"})];
    assert_eq!(json(&follow(&place(&map(1)), &late))["unexplained"]["line"], 3);
}

#[test]
fn a_log_or_map_that_makes_no_sense_is_refused_with_its_place() {
    for (map, log, words) in [
        (MAP, "{\"event\": \"ask\"}\n[1]\n", "line 2"),
        (MAP, "{\"event\": \"ask\"\n", "line 1"),
        (MAP, "{\"event\": \"fly\"}\n", "[events.fly]"),
        (MAP, "{\"event\": \"ask\", \"who\": \"carol\"}\n", "carol"),
        ("silent = ['fly']", "", "no event fly"),
        ("[events.ask]\nparams = { z = 'who' }", "", "no parameter z"),
        ("[state]\n'card(outside)' = 'n'", "", "outside"),
        ("colour = 'red'", "", "colour"),
    ] {
        let folder = place(map);
        folder.write("log.ndjson", log);
        let args = ["replay", "--log", "log.ndjson", "--map", "map.toml", "--model", "M.mch"];
        let output = folder.bombus().args(args).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(2), "{map} {log}");
        assert!(messages(&output).contains(words), "{words}: {}", messages(&output));
    }
}
