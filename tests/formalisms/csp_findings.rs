//! What a user reads about a CSP script: every finding with its place and its trace, messages with a way out, and what other
//! commands say to a script.

use crate::support::binary::{Folder, json};
use std::process::Output;

const VENDING: &str = "-- a vending machine
channel coin, tea, coffee, kick
VM = coin -> (tea -> VM [] coffee -> VM)
BAD = coin -> (tea -> BAD |~| coffee -> BAD)
MAIN = VM [|{coin, tea}|] coin -> tea -> STOP
assert VM [F= BAD
assert -- holds
  VM [T= BAD
assert {- fails -} VM [T= coin -> kick -> STOP
";

fn run(text: &str, args: &[&str]) -> Output {
    let folder = Folder::new();
    folder.write("s.csp", text);
    folder.bombus().args(args).output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The message that rejects a script.
fn message(text: &str) -> String {
    let output = run(text, &["check", "s.csp"]);
    assert_eq!(output.status.code(), Some(2), "{text}: {}", out(&output));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_assertion_that_fails_is_a_finding_with_its_place_why_and_trace() {
    let said = out(&run(VENDING, &["check", "s.csp", "--no-deadlock", "--ltl", "G not [tea]"]));
    for words in [
        "ltl: G not [tea]",
        "assertion: VM [F= BAD\n  --> s.csp:6:1",
        "after <coin> only {",
        "assertion: VM [T= coin -> kick -> STOP\n  --> s.csp:9:1",
        "the trace <coin, kick> is not one of the specification",
        "     1  kick",
        "  assert       holds      VM [T= BAD\n",
    ] {
        assert!(said.contains(words), "{words:?} is missing:\n{said}");
    }
    let result = json(&run(VENDING, &["check", "s.csp", "--json"]));
    assert_eq!(result["violation"]["kind"], "deadlock");
    let others = result["other_violations"].as_array().expect("the other findings");
    assert_eq!(others.len(), 2, "{result:#}");
    assert_eq!(others[1]["place"]["line"], 9, "{result:#}");
    assert_eq!(others[1]["property"], "VM [T= coin -> kick -> STOP");
}

#[test]
fn a_value_outside_of_its_type_is_shown_at_its_place_and_no_event_is_called_never_enabled() {
    let text = "channel x : {0..1}\nchannel y\nMAIN = x!0 -> x!2 -> y -> STOP\n";
    let output = run(text, &["check", "s.csp"]);
    let said = out(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("well-definedness: x.2: the value 2 is outside of the type of its field\n"),
        "{said}"
    );
    assert!(said.contains("--> s.csp:3:") && said.contains("^"), "{said}");
    assert!(!said.contains("never enabled"), "{said}");
    let within = "channel x : {0..1}\nP = x!2 -> STOP\nassert P :[deadlock free]\n";
    let result = json(&run(within, &["check", "s.csp", "--json"]));
    assert_eq!(result["violation"]["place"]["line"], 2, "{result:#}");
}

#[test]
fn a_script_without_a_process_is_called_by_its_name() {
    let said = out(&run("assert STOP :[deadlock free]\n", &["check", "s.csp"]));
    assert!(said.starts_with("VIOLATED    s   assertion: STOP :[deadlock free]\n"), "{said}");
    let said = out(&run("test1 = 1 == 2\n", &["check", "s.csp"]));
    assert!(said.contains("assertion: test1 is false") && said.contains("--> s.csp:1:9"), "{said}");
}

#[test]
fn slips_in_scripts_have_a_way_out() {
    let cases = [
        ("channel a\nMAIN = (a -> STOP\n", "this is not closed"),
        ("channel a\nMAIN = a ->\n", "--> s.csp:2:10"),
        ("channel coin\nMAIN = cion -> STOP\n", "did you mean `coin`?"),
        ("channel a\nMAIN = loop(a -> SKIP)\n", "it has to be declared first: external loop"),
        ("channel a\nMAIN = sbisim(a -> SKIP)\n", "it has to be declared first: transparent sbisim"),
        ("assert STOP [X= STOP\n", "refinement `[X=` is not supported"),
        ("assert STOP [X= STOP\n", "`[FD=`"),
        ("assert STOP :[deadlok free]\n", "did you mean `deadlock free`?"),
        ("channel a\nchannel a\nMAIN = STOP\n", "declared here already"),
        ("MAIN = STOP\nMAIN = SKIP\n", "defined here already"),
        ("channel a\nMAIN(n) = a -> MAIN(n + 1)\n", "--> s.csp:2:"),
        ("channel c : {0..1}\ntest1 = c.1 == c.1 and c.0 != c.1\n", "`.` binds looser than comparisons"),
        ("test1 = error(\"no more\")\n", "`error` is called: no more"),
    ];
    for (text, way_out) in cases {
        let said = message(text);
        assert!(said.contains(way_out), "{text}\n{said}");
    }
}

#[test]
fn one_slip_is_one_message() {
    for text in [
        "MAIN = let\n  channel c\n  within STOP\n",
        "channel c : {0..1}\ntest1 = c.1 == c.1 and c.0 != c.1\n",
    ] {
        let said = message(text);
        assert_eq!(said.matches("error:").count(), 1, "{text}\n{said}");
    }
}

#[test]
fn commands_for_models_of_the_b_family_say_so_to_a_script() {
    for args in [&["serve", "s.csp"][..], &["simulate", "s.csp"], &["tests", "s.csp", "--out", "o"]] {
        let output = run(VENDING, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("this is a CSP script"), "{args:?}: {said}");
    }
}
