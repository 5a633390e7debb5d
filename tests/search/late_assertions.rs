//! Assertions about constants alone that take long: they wait until all states were visited, and are told all the same.

use crate::support::binary::check_machine;
use serde_json::Value;

/// An assertion that takes more steps than may be taken before the search, and is decided in a moment.
const LONG: &str = "!x.(x : 1..300000 => x * x >= x)";
const FALSE_IN_THE_END: &str = "!x.(x : 1..300000 => x * x /= c * c)";
/// One that nobody will see the end of.
const ENDLESS: &str = "!(x,y).(x : 1..1000000 & y : 1..1000000 => x * y >= x)";

const ENGINES: [&[&str]; 3] = [&["--workers", "1"], &["--workers", "2"], &["--engine", "evaluate"]];

fn check(properties: &str, assertions: &str, options: &[&str]) -> Value {
    let text = format!(
        "MACHINE m CONSTANTS c PROPERTIES {properties} ASSERTIONS {assertions} VARIABLES v INVARIANT v : 0..9 \
         INITIALISATION v := 0 OPERATIONS step = BEGIN v := (v + 1) mod 10 END END"
    );
    check_machine(&text, options)
}

/// The same with a limit on time, which is doubled until the ten states of the search fit into it: how long they take
/// depends on what else the machine does.
fn check_limited(properties: &str, assertions: &str, options: &[&str]) -> Value {
    (0..10)
        .map(|n| check(properties, assertions, &[options, &["--time-limit", &(1 << n).to_string()]].concat()))
        .find(|result| result["states"] == 10)
        .expect("ten states take less than a thousand seconds")
}

/// Verdict, states, assertions found broken, steps of the trace.
fn summary(result: &Value) -> (String, u64, u64, usize) {
    (
        result["verdict"].as_str().unwrap().to_string(),
        result["states"].as_u64().unwrap(),
        result["found"]["assertion"].as_u64().unwrap(),
        result["violation"]["trace"].as_array().map_or(0, Vec::len),
    )
}

#[test]
fn an_assertion_that_takes_long_is_decided_after_the_search() {
    for engine in ENGINES {
        assert_eq!(summary(&check("c = 300000", LONG, engine)), ("verified".into(), 10, 0, 0), "{engine:?}");
        for keep_going in [&[][..], &["--keep-going"]] {
            let result = check("c = 300000", FALSE_IN_THE_END, &[engine, keep_going].concat());
            assert_eq!(summary(&result), ("violated".into(), 10, 1, 2), "{engine:?} {keep_going:?}");
            assert_eq!(result["violation"]["kind"], "assertion");
        }
    }
}

#[test]
fn an_assertion_that_is_not_decided_leaves_the_states_complete_and_the_verdict_open() {
    for engine in ENGINES {
        let result = check_limited("c = 1", ENDLESS, engine);
        assert_eq!(summary(&result), ("incomplete".into(), 10, 0, 0), "{engine:?}");
        assert_eq!(result["incomplete_because"][0], "time limit reached");
    }
}

#[test]
fn an_assertion_that_takes_long_hides_no_other() {
    for engine in ENGINES {
        // Without --keep-going a broken one ends the search before it begins.
        let result = check("c = 1", &format!("{ENDLESS}; c = 2"), engine);
        assert_eq!(summary(&result), ("violated".into(), 1, 1, 2), "{engine:?}");
        // All of it is one look, so a kind counts once.
        let assertions = format!("c = 2; {FALSE_IN_THE_END}; {ENDLESS}");
        let result = check_limited("c = 1", &assertions, &[engine, &["--keep-going"]].concat());
        assert_eq!(summary(&result), ("violated".into(), 10, 1, 2), "{engine:?}");
        assert_eq!(result["incomplete_because"][0], "time limit reached");
    }
}

#[test]
fn the_constants_that_break_an_assertion_late_are_shown() {
    for engine in ENGINES {
        let result = check(
            "c : {1, 2, 300000, 300001}",
            "c < 300000 or (c = 300000 & !x.(x : 1..300000 => x * x /= c))
            or !x.(x : 1..300000 => x * x /= (c - 1) * (c - 1))",
            engine,
        );
        assert_eq!(result["verdict"], "violated", "{engine:?}");
        assert_eq!(result["violation"]["trace"][0]["state"]["c"], "300001", "{engine:?}");
    }
}
