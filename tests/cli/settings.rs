//! What stands beside a model: settings, texts that change, traces that are written in other forms; and messages that
//! tell one mistake once.

use crate::support::binary::Folder;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

/// Three operations that use elements of a symmetric set; two properties fail.
const STOCK: &str =
    "MACHINE Stock SETS ITEM VARIABLES held, n INVARIANT held <: ITEM & n : 0..9 & card(held) < 2 & n < 3
INITIALISATION held, n := {}, 0
OPERATIONS take(i) = SELECT i : ITEM - held THEN held := held \\/ {i} END;
  count = SELECT n < 9 THEN n := n + 1 END END";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("Stock.mch", STOCK);
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    folder.bombus().args(args).output().expect("the binary runs")
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn one_mistake_about_a_type_makes_one_message_with_the_place_that_fixed_the_type() {
    let folder = Folder::new();
    folder.write(
        "m.mch",
        "MACHINE m SETS T VARIABLES w INVARIANT w : T
INITIALISATION w := {}
OPERATIONS ask(t) = SELECT t : T & t /: w THEN w := w \\/ {t} END;
  drop(t) = SELECT t : w THEN w := w - {t} END; n <-- amount = n := card(w) END",
    );
    let said = words(&run(&folder, &["check", "m.mch"]));
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    assert!(said.contains("this makes `w` of type T") && said.contains("m.mch:1:40"), "{said}");
    assert!(said.contains("also at m.mch:3:41, "), "{said}");
    // Mistakes about different names are told one by one.
    folder.write(
        "two.mch",
        "MACHINE two VARIABLES a, b INVARIANT a : 0..3 & b : BOOL INITIALISATION a, b := {}, 7 END",
    );
    let said = words(&run(&folder, &["check", "two.mch"]));
    assert_eq!(said.matches("error:").count(), 2, "{said}");
}

#[test]
fn a_block_that_is_not_closed_is_named_and_a_forgotten_parameter_is_shown_where_it_belongs() {
    let folder = Folder::new();
    let head =
        "MACHINE m SETS T = {t1, t2} VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS\n";
    for (body, told) in [
        ("a = PRE x < 3 THEN IF x = 1 THEN x := 2 END;\nb = BEGIN x := 0 END END", "this PRE is not closed"),
        ("a = x := 1;\nb = IF x = 1 THEN x := 2 END", "this IF is closed by the last END"),
        ("a = PRE t : T THEN x := 1 END END", "if `t` is a parameter, declare it: a(t)"),
        ("a(u) = PRE u : T & t : T THEN x := 1 END END", "declare it: a(u, t)"),
    ] {
        folder.write("m.mch", &format!("{head}{body}"));
        let output = run(&folder, &["check", "m.mch"]);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(told) && said.matches("error:").count() == 1, "{said}");
    }
    folder.write("i.mch", "MACHINE i VARIABLES x INVARIANTS x : 0..3 INITIALISATION x := 0 END");
    let said = words(&run(&folder, &["check", "i.mch"]));
    assert!(said.contains("the clause INVARIANT?") && said.matches("error:").count() == 1, "{said}");
}

#[test]
fn settings_beside_a_model_give_scopes_and_options_and_are_told() {
    let folder = folder();
    folder.write("bombus.toml", "keep-going = true\n[sets]\nITEM = 4\n[models.Other]\nmaxint = 1\n");
    let said = words(&run(&folder, &["check", "Stock.mch"]));
    assert!(said.contains("ITEM = 4 (--set)") && said.contains("invariant: n < 3"), "{said}");
    assert!(said.contains("note: bombus.toml: "), "{said}");
    let said = words(&run(&folder, &["check", "Stock.mch", "--set", "ITEM=3"]));
    assert!(said.contains("ITEM = 3 (--set)"), "{said}");
    let said = words(&run(&folder, &["check", "Stock.mch", "--no-config"]));
    assert!(said.contains("ITEM = 2 (default)") && !said.contains("note:"), "{said}");
    let said = words(&run(&folder, &["info", "Stock.mch"]));
    assert!(said.contains("ITEM4"), "{said}");
    folder.write("bombus.toml", "via = 'true'");
    let output = run(&folder, &["check", "Stock.mch"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("`via` is no setting"), "{}", words(&output));
}

#[test]
fn elements_of_symmetric_sets_appear_in_the_order_of_their_first_use() {
    let folder = folder();
    for size in ["3", "5"] {
        let said = words(&run(&folder, &["check", "Stock.mch", "--set", &format!("ITEM={size}")]));
        let (first, second) = (said.find("take(i=ITEM1)"), said.find("take(i=ITEM2)"));
        assert!(first.is_some() && first < second && said.contains("held = {ITEM1,ITEM2}"), "{said}");
    }
    // A formula that names an element keeps the names.
    let named = ["check", "Stock.mch", "--no-invariant", "--goal", "ITEM2 : held"];
    let said = words(&run(&folder, &named));
    assert!(said.contains("take(i=ITEM2)") && !said.contains("ITEM1)"), "{said}");
}

#[test]
fn every_finding_stands_on_the_page_and_in_the_report_for_continuous_integration() {
    let folder = folder();
    run(&folder, &["check", "Stock.mch", "--keep-going", "--trace", "x.html"]);
    let page = std::fs::read_to_string(folder.path("x.html")).expect("the page");
    for part in [
        "card(held) &lt; 2",
        "n &lt; 3",
        "ITEM = 2 (default)",
        "bombus check Stock.mch --keep-going",
        "Stock.mch:1:",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    folder.write("jobs.toml", "[[job]]\nmodel = 'Stock.mch'\noptions = ['--keep-going']\n");
    run(&folder, &["batch", "jobs.toml", "--junit", "x.xml", "--html", "b.html", "--quiet"]);
    for file in ["x.xml", "b.html"] {
        let text = std::fs::read_to_string(folder.path(file)).expect("the report");
        assert!(text.contains("card(held) &lt; 2") && text.contains("n &lt; 3"), "{file}:\n{text}");
    }
}

#[test]
fn a_trace_finds_the_model_beside_it_and_is_written_in_other_forms() {
    let folder = folder();
    run(&folder, &["check", "Stock.mch", "--trace", "t.prob2trace", "--trace", "t.json"]);
    for trace in ["t.prob2trace", "t.json"] {
        // From elsewhere: the working folder does not hold the model.
        let path = folder.path(trace);
        let from = folder.path(&format!("{trace}.html"));
        let elsewhere = Folder::new();
        let output = elsewhere
            .bombus()
            .args(["replay".as_ref(), path.as_os_str(), "--trace".as_ref(), from.as_os_str()])
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let page = std::fs::read_to_string(from).expect("the page");
        assert!(page.contains("take(i=ITEM2)") && page.contains("ITEM1"), "{page}");
    }
    let output = run(&folder, &["replay", "t.json", "-t", "again.prob2trace", "-t", "again.txt"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run(&folder, &["replay", "again.prob2trace"]).status.code(), Some(0));
    assert!(std::fs::read_to_string(folder.path("again.txt")).expect("a text").contains("take(i=ITEM1)"));
    for wrong in ["x.pdf", "Stock.mch", "no/such/x.txt"] {
        assert_eq!(run(&folder, &["replay", "t.json", "--trace", wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_watched_model_is_checked_again_when_its_text_changes() {
    let folder = folder();
    let mut child = folder
        .bombus()
        .args(["check", "Stock.mch", "--watch", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("a text");
    assert!(next().starts_with("VIOLATED    Stock"));
    folder.write(
        "Stock.mch",
        &STOCK.replace("card(held) < 2 & n < 3", "card(held) < 3 & n <= 9").replace("n < 9", "n < 2"),
    );
    let second = next();
    child.kill().expect("the process ends");
    child.wait().expect("the process has ended");
    assert!(second.starts_with("VIOLATED    Stock   deadlock"), "{second}");
}
