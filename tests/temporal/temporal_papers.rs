//! The examples of the LTL paper: our models of them, its formulas, and the truth that an independent
//! enumeration confirmed for each. Two formulas are not as the paper prints them: brackets that do not
//! match are closed as the text means it, and the philosophers' one is false.

use crate::support::binary::{bench_model, bombus, json};
use serde_json::Value;

/// Checks the formulas on a model in one run; gives the result.
fn check(model: &str, options: &[&str], formulas: &[(&str, &str)]) -> Value {
    let mut command = bombus();
    command
        .arg("check")
        .arg(bench_model("papers").join(model))
        .args(["--no-deadlock", "--json"])
        .args(options);
    for (formula, _) in formulas {
        command.args(["--ltl", formula]);
    }
    let result = json(&command.output().expect("the binary runs"));
    for (i, (formula, word)) in formulas.iter().enumerate() {
        assert_eq!(result["temporal"][i]["verdict"], *word, "{model}: {formula}");
    }
    result
}

/// The verdicts on the formulas that a model brings along.
fn own(model: &str, expected: &[(&str, &str)]) {
    let result = check(model, &["--ltl-assertions"], &[]);
    let verdicts: Vec<(&str, &str)> = result["temporal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["name"].as_str().unwrap(), t["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(verdicts, expected, "{model}");
}

#[test]
fn the_robot_puts_a_piece_down_only_where_there_is_room() {
    let formulas = [
        ("G([unload] => {exit_busy = FALSE})", "holds"),
        ("G(({robot_busy = TRUE} & X {robot_busy = FALSE}) => {exit_busy = FALSE})", "holds"),
        ("G([load] => {exit_busy = FALSE})", "violated"),
    ];
    check("robot.mch", &[], &formulas);
    own("robot.mch", &[("ASSERT_LTL_exit", "holds"), ("ASSERT_LTL_flank", "holds")]);
}

const ANSWER: &str = "G({card_frame = more} => F {card_frame = final})";

/// The paper puts fairness into the formula and needs 98,304 atoms for it.
#[test]
fn the_smart_card_answers_only_under_fairness() {
    let sent = |side: &str| format!("([{side}_last] or [{side}_more] or [{side}_receipt])");
    let f = format!(
        "GF [eject] & (GF {{card_frame = more}} => GF {}) & (GF {{reader_frame = more}} => GF {})",
        sent("card"),
        sent("reader")
    );
    let whole = format!("{f} => {ANSWER}");
    let some = format!("GF [eject] => {ANSWER}");
    // The card may send its last block again and again, but not all the time.
    let strong = format!("SF(card_last) => {ANSWER}");
    let weak = format!("WF(card_last) => {ANSWER}");
    let every = format!("SEF => {ANSWER}");
    let formulas = [
        (ANSWER, "violated"),
        (&whole, "holds"),
        (&some, "holds"),
        (&strong, "holds"),
        (&weak, "violated"),
        (&every, "holds"),
    ];
    let result = check("t1_protocol.mch", &[], &formulas);
    println!("{} s for six formulas", result["seconds"]["temporal"]);
    let trace = result["violation"]["trace"].as_array().unwrap();
    let start = result["violation"]["loop_start"].as_u64().unwrap() as usize;
    assert!(trace[start..].iter().all(|step| step["state"]["card_frame"] == "more"));
    own("t1_protocol.mch", &[("ASSERT_LTL_p1", "violated"), ("ASSERT_LTL_fair", "holds")]);
}

#[test]
fn the_organisation_has_a_quasi_deadlock() {
    let formulas = [
        ("not F {card(member) > 2}", "violated"),
        ("not F {card(waiting) > 2}", "violated"),
        ("G {card(waiting) + card(member) <= 3}", "holds"),
        ("G (e(Join) or e(JoinQ) or e(Remove))", "violated"),
        ("G not deadlock(Join, JoinQ, Remove)", "violated"),
    ];
    check("organisation.mch", &["--set", "NAME=3"], &formulas);
}

#[test]
fn cruising_starts_where_it_is_allowed() {
    let formulas = [
        // Setting is possible only where the brake is not pressed, so that it can be.
        ("G(e(set_cruise) => e(press_brake))", "holds"),
        ("G(e(release_brake) => X e(set_cruise))", "violated"),
        ("G([set_cruise] => X e(cruise_off))", "holds"),
        ("G(e(cruise_off) => Y O [set_cruise])", "holds"),
        ("G(e(cruise_off) => Y [set_cruise])", "violated"),
    ];
    check("cruise.mch", &[], &formulas);
}

#[test]
fn philosophers_drop_only_what_they_took() {
    let formulas = [
        // As printed in the paper, where it is said to hold: nothing can be dropped at the start.
        ("G(e(DropFork) U ([TakeLeftFork] or [TakeRightFork]))", "violated"),
        ("not e(DropFork) U ([TakeLeftFork] or [TakeRightFork])", "holds"),
        ("G(e(DropFork) => Y O [TakeLeftFork])", "holds"),
        ("G not deadlock", "violated"),
    ];
    let result = check("philosophers_protocol.mch", &[], &formulas);
    assert_eq!(result["states"], 306);
}

#[test]
fn traffic_lights_keep_their_next_annotations() {
    let go = |event: &str| format!("G([{event}] => X (e(Go_Moat) & e(Go_Square)))");
    let (all, moat, square) = (go("Stop_All"), go("Stop_Moat"), go("Stop_Square"));
    let formulas = [
        (&*all, "holds"),
        (&moat, "holds"),
        (&square, "holds"),
        ("G([Go_Moat] => X (e(Stop_All) & e(Stop_Moat)))", "holds"),
        ("G([Go_Square] => X (e(Stop_All) & e(Stop_Square)))", "holds"),
        ("G([Stop_All] => X not e(Go_Moat))", "violated"),
    ];
    check("traffic_light.mch", &[], &formulas);
}

#[test]
fn workstations_read_what_was_transferred() {
    let formulas = [("G([Transfer] => X (e(ReadRequestOK) or e(ReadResponse)))", "holds")];
    let result = check("workstations.mch", &[], &formulas);
    assert_eq!(result["states"], 66);
}
