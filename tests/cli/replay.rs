//! `bombus replay` and `bombus animate` as a user sees them.

use crate::support::binary::Folder;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

struct Place(Folder);

impl Place {
    fn new(model: &str) -> Place {
        let folder = Folder::new();
        folder.write("m.mch", model);
        Place(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        self.0.bombus().args(args).output().unwrap()
    }

    fn animate(&self, commands: &str) -> Output {
        // From a file: a pipe to a program that has ended already could not be written to.
        let commands = std::fs::File::open(self.0.write("commands", commands)).unwrap();
        self.0.bombus().args(["animate", "m.mch"]).stdin(commands).output().unwrap()
    }
}

fn out(o: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&o.stdout), String::from_utf8_lossy(&o.stderr))
}

/// A counterexample with constants, parameters, results, sets, records and strings in it.
const SHOP: &str = "MACHINE shop SETS GOOD = {tea, rice}; CLIENT
CONSTANTS price PROPERTIES price : GOOD --> 1..2 & price(tea) /= price(rice)
VARIABLES cart, bill, paid, note
INVARIANT cart : CLIENT <-> GOOD & bill : struct(who : CLIENT, sum : NATURAL) & paid <: CLIENT & card(paid) < 2 & note : STRING
INITIALISATION cart := {} || bill :: struct(who : CLIENT, sum : {0}) || paid := {} || note := \"none\"
OPERATIONS
  take(c, g) = SELECT c : CLIENT & g : GOOD & c |-> g /: cart THEN cart := cart \\/ {c |-> g} || note := \"took\" END;
  sum <-- pay(c) = SELECT c : dom(cart) - paid THEN
    paid := paid \\/ {c} || sum := SIGMA(g).(g : cart[{c}] | price(g)) || bill := rec(who : c, sum : price(tea)) END
END";

#[test]
fn every_kind_of_trace_file_that_is_written_replays() {
    let place = Place::new(SHOP);
    let check = place.run(&["check", "m.mch", "--trace", "t.prob2trace", "--json", "result.json"]);
    assert_eq!(check.status.code(), Some(1), "{}", out(&check));
    place.run(&["check", "m.mch", "--trace", "t.json"]);
    for file in ["t.prob2trace", "t.json", "result.json"] {
        let replay = place.run(&["replay", file, "--model", "m.mch"]);
        assert_eq!(replay.status.code(), Some(0), "{file}: {}", out(&replay));
        let words = out(&replay);
        assert!(
            words.contains("REPLAYED") && words.contains("breaks the invariant card(paid) < 2"),
            "{words}"
        );
    }
    // Our own files name the model.
    assert_eq!(place.run(&["replay", "t.json"]).status.code(), Some(0));
    assert_eq!(place.run(&["replay", "t.prob2trace"]).status.code(), Some(2));
}

#[test]
fn values_are_compared_as_values_and_not_as_texts() {
    let place = Place::new(SHOP);
    let trace = |price: &str, cart: &str| {
        format!(
            r#"{{"transitionList":[
            {{"name":"$setup_constants","params":{{}},"results":{{}},"destState":{{"price":"{price}"}}}},
            {{"name":"$initialise_machine","params":null,"results":{{}},"destState":{{"cart":"∅"}}}},
            {{"name":"take","params":{{"c":"CLIENT1","g":"rice"}},"results":{{}},"destState":{{"cart":"{cart}"}}}},
            {{"name":"take","params":{{}},"results":{{}},"destState":{{}},"destStateNotChanged":["bill"]}}]}}"#
        )
    };
    let replay = |price: &str, cart: &str| {
        std::fs::write(place.path("t.prob2trace"), trace(price, cart)).unwrap();
        place.run(&["replay", "t.prob2trace", "--model", "m.mch", "--json"])
    };
    let right = replay("{rice↦2, tea↦1}", "{(CLIENT1↦rice)}");
    assert_eq!(right.status.code(), Some(0), "{}", out(&right));
    let wrong = replay("{(rice|->1),(tea|->1)}", "{(CLIENT1↦rice)}");
    assert_eq!(wrong.status.code(), Some(1), "no such valuation: {}", out(&wrong));
    let wrong = replay("{(tea|->1),(rice|->2)}", "{(CLIENT1↦tea)}");
    assert_eq!(wrong.status.code(), Some(1), "{}", out(&wrong));
    let result: Value = serde_json::from_slice(&wrong.stdout).unwrap();
    assert_eq!(result["failed"]["step"], 2);
    assert!(result["failed"]["because"].to_string().contains("cart: the trace says"), "{result}");
}

#[test]
fn a_trace_that_a_changed_model_cannot_follow_fails_at_the_step_and_says_why() {
    let counter = |guard: &str, by: &str| {
        format!(
            "MACHINE c VARIABLES x INVARIANT x < 3 INITIALISATION x := 0
             OPERATIONS inc(n) = SELECT n : {guard} THEN x := x + {by} END END"
        )
    };
    let place = Place::new(&counter("1..1", "n"));
    place.run(&["check", "m.mch", "--trace", "t.json"]);
    let cases = [
        (counter("{n | n = 1 & x < 2}", "n"), "step 3 of 4", "inc is not enabled"),
        (counter("2..2", "n"), "step 1 of 4", "inc is enabled, but not with these values"),
        (counter("2..2", "n"), "step 1 of 4", "false: n : 2..2"),
        (counter("1..1", "2 * n"), "step 1 of 4", "x: the trace says 1, the model 2"),
        (counter("1..1", "n").replace("inc", "add"), "step 1 of 4", "the model has no event inc"),
        (counter("1..1", "n").replace("x := 0", "x := 1"), "step 0 of 4", "x: the trace says 0, the model 1"),
        (counter("1..1", "n").replace('x', "y"), "step 0 of 4", "the model has no variable x"),
    ];
    for (model, step, why) in cases {
        std::fs::write(place.path("other.mch"), &model).unwrap();
        let replay = place.run(&["replay", "t.json", "--model", "other.mch"]);
        assert_eq!(replay.status.code(), Some(1), "{model}: {}", out(&replay));
        let words = out(&replay);
        assert!(words.contains("FAILED") && words.contains(step) && words.contains(why), "{model}: {words}");
    }
}

#[test]
fn a_lasso_is_closed_by_its_last_step() {
    let place = Place::new(
        "MACHINE ring VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS step = BEGIN x := (x mod 3) + 1 END END",
    );
    let check = place.run(&["check", "m.mch", "--ltl", "F {x = 7}", "--trace", "t.json"]);
    assert_eq!(check.status.code(), Some(1), "{}", out(&check));
    let replay = place.run(&["replay", "t.json"]);
    assert!(out(&replay).contains("leads back to the state after step"), "{}", out(&replay));
    assert!(!out(&replay).contains("does not"), "{}", out(&replay));
}

#[test]
fn what_is_no_trace_or_no_model_is_rejected() {
    let place = Place::new(SHOP);
    std::fs::write(place.path("no.json"), "{\"x\": 1}").unwrap();
    for args in [["replay", "no.json"], ["replay", "missing.json"], ["animate", "missing.mch"]] {
        assert_eq!(place.run(&args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_model_is_stepped_through_by_numbers() {
    let place = Place::new(SHOP);
    let done = place.animate(
        "# constants, initialisation, two steps\n1\n1\n2\nstate\neval card(cart)\neval cart = {}\nlist\nundo\nhistory\nall\n",
    );
    assert_eq!(done.status.code(), Some(0), "{}", out(&done));
    let words = out(&done);
    for wanted in [
        "1  SETUP_CONSTANTS  price={(tea|->1),(rice|->2)}",
        "did take(c=CLIENT1, g=rice)",
        "  cart = {(CLIENT1|->rice)}",
        "\n1\n",
        "FALSE",
        "undone",
        "INITIALISATION",
    ] {
        assert!(words.contains(wanted), "{wanted} is not in\n{words}");
    }
    assert!(!words.contains("> "), "no prompt in a pipe");
}

#[test]
fn an_animation_is_saved_and_replays() {
    let place = Place::new(SHOP);
    let done = place.animate("1\n1\n1\n1\nsave a.prob2trace\nsave a.json\nsave a.html\nquit\n99\n");
    assert_eq!(done.status.code(), Some(0), "what follows quit is not read: {}", out(&done));
    for file in ["a.prob2trace", "a.json"] {
        let replay = place.run(&["replay", file, "--model", "m.mch"]);
        assert!(out(&replay).contains("REPLAYED    shop   4 steps"), "{}", out(&replay));
    }
}

#[test]
fn a_broken_invariant_a_deadlock_and_a_wrong_command_are_told() {
    let place = Place::new(
        "MACHINE c VARIABLES x INVARIANT x < 2 INITIALISATION x := 0
         OPERATIONS inc = SELECT x < 2 THEN x := x + 1 END END",
    );
    let done = place.animate("1\n1\n1\n");
    assert_eq!(done.status.code(), Some(0));
    assert!(out(&done).contains("! the invariant is broken: x < 2"), "{}", out(&done));
    assert!(out(&done).contains("nothing can be done here"));
    for wrong in ["7\n", "fly\n", "eval 1 +\n", "eval 1/0\n", "undo\n", "save nowhere.pdf\n"] {
        assert_eq!(place.animate(wrong).status.code(), Some(1), "{wrong}");
    }
}

/// What was tried is real: that other values were not tried does not matter to a trace that uses none of them.
#[test]
fn a_trace_through_a_parameter_that_nothing_bounds_is_replayed() {
    let place = Place::new(
        "MACHINE m VARIABLES x INVARIANT x < 3 INITIALISATION ANY v WHERE v : NATURAL THEN x := v - v END
         OPERATIONS d(p) = PRE p : NATURAL THEN x := p END END",
    );
    let checked = place.run(&["check", "m.mch", "--trace", "t.prob2trace"]);
    assert_eq!(checked.status.code(), Some(1), "{}", out(&checked));
    let replayed = place.run(&["replay", "t.prob2trace", "--model", "m.mch"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", out(&replayed));
    // But that a step is impossible cannot be said when not everything was tried.
    let text = std::fs::read_to_string(place.path("t.prob2trace")).unwrap();
    std::fs::write(place.path("other.prob2trace"), text.replace("\"3\"", "\"77\"")).unwrap();
    let replayed = place.run(&["replay", "other.prob2trace", "--model", "m.mch"]);
    assert_eq!(replayed.status.code(), Some(3), "{}", out(&replayed));
}

/// Formal parameters of two instances may have one name; a trace tells their values apart.
#[test]
fn parameters_of_one_name_are_told_apart_in_a_trace() {
    let place = Place::new("MACHINE m INCLUDES one(BOOL), p.two(1..2) PROMOTES put, p.add END");
    let one = "MACHINE one(T) VARIABLES x INVARIANT x <: T & x /= T INITIALISATION x := {}
               OPERATIONS put(e) = PRE e : T THEN x := x \\/ {e} END END";
    let two = "MACHINE two(T) VARIABLES y INVARIANT y <: T INITIALISATION y := {}
               OPERATIONS add(e) = PRE e : T THEN y := y \\/ {e} END END";
    std::fs::write(place.path("one.mch"), one).unwrap();
    std::fs::write(place.path("two.mch"), two).unwrap();
    for name in ["t.json", "t.prob2trace"] {
        let checked = place.run(&["check", "m.mch", "--trace", name]);
        assert_eq!(checked.status.code(), Some(1), "{}", out(&checked));
        let replayed = place.run(&["replay", name, "--model", "m.mch"]);
        assert_eq!(replayed.status.code(), Some(0), "{}", out(&replayed));
    }
}
