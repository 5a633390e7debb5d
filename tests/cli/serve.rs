//! `bombus serve` as a browser meets it: who is answered, and what the answers say.

use crate::support::binary::Folder;
use crate::support::http::Served;
use serde_json::{Value, json};

/// Two may be inside where one is allowed: six steps from nothing, with the set-up, there is a fault.
pub const LOCK: &str = "MACHINE Lock
SETS PID = {p, q}
CONSTANTS other PROPERTIES other = {p |-> q, q |-> p}
VARIABLES inside, flag
INVARIANT inside <: PID & flag : PID --> BOOL & card(inside) <= 1
INITIALISATION inside := {} || flag := PID * {FALSE}
OPERATIONS
  ask(x) = SELECT x : PID & flag(x) = FALSE THEN flag(x) := TRUE END;
  enter(x) = SELECT x : PID & flag(x) = TRUE & x /: inside THEN inside := inside \\/ {x} END;
  n <-- leave(x) = SELECT x : inside THEN inside := inside - {x} || flag(x) := FALSE || n := card(inside) END
END";

fn lock() -> (Folder, Served) {
    let folder = Folder::with_machine(LOCK);
    let served = Served::start(&folder, &["M.mch"]);
    (folder, served)
}

/// Does the step with this label.
fn step(served: &Served, label: &str) -> Value {
    let view = served.ask("view", json!({}));
    let rows = view["operations"]["rows"].as_array().expect("a list of steps").clone();
    let row = rows.iter().find(|r| r["label"].as_str().is_some_and(|l| l.starts_with(label)));
    served.ask("step", json!({"n": row.unwrap_or_else(|| panic!("no {label} in {rows:?}"))["n"]}))
}

/// The text of a value in a view.
fn value<'v>(view: &'v Value, name: &str) -> &'v str {
    let rows = view["values"].as_array().expect("a table of values");
    rows.iter().find(|r| r["name"] == name).and_then(|r| r["text"].as_str()).expect("the name has a value")
}

#[test]
fn nothing_is_answered_without_the_token_to_another_host_or_to_another_origin() {
    let (_folder, served) = lock();
    let page = format!("GET /{}/", served.token);
    let ask = format!("POST /{}/api/view", served.token);
    let host = served.host();
    let own = format!("Origin: http://127.0.0.1:{}", served.port);
    for (line, headers, expected) in [
        (page.clone(), vec![host.clone()], 200),
        (ask.clone(), vec![host.clone(), own.clone()], 200),
        ("GET /".into(), vec![host.clone()], 403),
        (format!("GET /{}", served.token), vec![host.clone()], 403),
        ("POST /0123456789abcdef0123456789abcdef/api/view".into(), vec![host.clone()], 403),
        (ask.clone(), vec![], 403),
        (ask.clone(), vec![format!("Host: evil.example:{}", served.port)], 403),
        (ask.clone(), vec![host.clone(), "Origin: http://evil.example".into()], 403),
        (ask.clone(), vec![host.clone(), "Origin: null".into()], 403),
        (ask.clone(), vec![host.clone(), own.clone(), "Sec-Fetch-Site: cross-site".into()], 403),
        (ask.clone(), vec![host.clone(), own.clone(), "Origin: http://evil.example".into()], 400),
        (format!("OPTIONS /{}/api/view", served.token), vec![host.clone(), own.clone()], 405),
        (format!("GET /{}/api/view", served.token), vec![host.clone()], 405),
        (format!("GET /{}/../M.mch", served.token), vec![host.clone()], 404),
        (format!("GET /{}/%2e%2e/M.mch", served.token), vec![host.clone()], 404),
        (format!("GET /{}//etc/passwd", served.token), vec![host.clone()], 404),
        (format!("GET /{}/M.mch", served.token), vec![host.clone()], 404),
    ] {
        let (status, _, body) = served.request(&line, &headers, "");
        assert_eq!(status, expected, "{line} {headers:?}: {body}");
        assert!(status == 200 || body == "refused\n", "{line}: {body}");
    }
    let (_, head, body) = served.request(&page, &[host], "");
    assert!(head.contains("default-src 'none'") && head.contains("frame-ancestors 'none'"), "{head}");
    assert!(!head.contains("Access-Control"), "{head}");
    assert!(
        !body.contains("http://") && !body.contains("https://"),
        "the page loads something from elsewhere"
    );
}

#[test]
fn steps_are_done_undone_and_done_again_and_another_step_opens_a_branch() {
    let (_folder, served) = lock();
    step(&served, "SETUP_CONSTANTS");
    step(&served, "INITIALISATION");
    let view = step(&served, "ask(x=p)");
    assert_eq!((view["position"].as_u64(), view["length"].as_u64()), (Some(3), Some(3)));
    assert_eq!(value(&view, "flag"), "{(p|->TRUE),(q|->FALSE)}");
    let flag = view["values"].as_array().unwrap().iter().find(|r| r["name"] == "flag").unwrap();
    assert_eq!(flag["change"]["added"], json!(["(p|->TRUE)"]));
    assert_eq!(flag["change"]["removed"], json!(["(p|->FALSE)"]));
    assert_eq!(served.ask("undo", json!({}))["position"], 2);
    assert_eq!(value(&served.ask("redo", json!({})), "flag"), "{(p|->TRUE),(q|->FALSE)}");
    served.ask("undo", json!({}));
    let view = step(&served, "ask(x=q)");
    assert_eq!(value(&view, "flag"), "{(p|->FALSE),(q|->TRUE)}");
    let branches = view["branches"].as_array().unwrap();
    assert_eq!((branches.len(), branches[0]["leaves_at"].as_u64()), (1, Some(2)));
    let back = served.ask("branch", json!({"leaf": branches[0]["leaf"]}));
    assert_eq!(value(&back, "flag"), "{(p|->TRUE),(q|->FALSE)}");
    // The same step again is the same place, not a third branch.
    served.ask("undo", json!({}));
    assert_eq!(step(&served, "ask(x=p)")["branches"].as_array().unwrap().len(), 1);
    assert_eq!(served.ask("goto", json!({"position": 0}))["values"], json!([]));
    assert!(served.try_ask("undo", json!({}))["error"].is_string());
    assert!(served.try_ask("goto", json!({"position": 9}))["error"].is_string());
    assert!(served.try_ask("step", json!({"n": 99}))["error"].is_string());
}

#[test]
fn formulas_have_values_and_parts_and_errors_in_the_present_state() {
    let (_folder, served) = lock();
    step(&served, "SETUP_CONSTANTS");
    step(&served, "INITIALISATION");
    let answer = served.ask("evaluate", json!({"formula": "card(inside) = 0 & flag(p) = TRUE"}));
    assert_eq!((answer["text"].as_str(), answer["predicate"].as_bool()), (Some("FALSE"), Some(true)));
    // Of a false conjunction, the part that is false is shown, with the values of its sides.
    let part =
        answer["tree"]["parts"].as_array().unwrap().iter().find(|p| p["text"] == "flag(p) = TRUE").unwrap();
    assert_eq!(part["truth"], false);
    assert!(part["parts"].to_string().contains("\"value\":\"FALSE\""), "{part}");
    let why = served.ask("why", json!({"event": "enter"}));
    assert!(why.to_string().contains("flag(x) = TRUE"), "{why}");
    assert!(served.try_ask("why", json!({"event": "ask"}))["error"].is_string());
    assert_eq!(served.ask("evaluate", json!({"formula": "other~(p)"}))["text"], "q");
    let undefined = served.try_ask("evaluate", json!({"formula": "min({x | x : 1..3 & x > 5})"}));
    assert!(undefined["error"].is_string(), "{undefined}");
    let wrong = served.try_ask("evaluate", json!({"formula": "inside +"}));
    assert!(wrong["error"].as_str().unwrap().contains('^'), "{wrong}");
}

#[test]
fn a_state_is_found_from_here_and_among_all_and_its_absence_is_said() {
    let (_folder, served) = lock();
    step(&served, "SETUP_CONSTANTS");
    step(&served, "INITIALISATION");
    step(&served, "ask(x=q)");
    // From here: ask(p), enter(p), enter(q) in some order.
    let view = served.ask("find", json!({"predicate": "inside = PID", "here": true}));
    assert_eq!(view["position"], 6);
    assert_eq!(value(&view, "inside"), "{p,q}");
    assert!(view["remarks"][0].as_str().unwrap().contains("card(inside) <= 1"), "{}", view["remarks"]);
    let view = served.ask("find", json!({"predicate": "inside = {q}", "here": false}));
    assert_eq!(view["position"], 4);
    let none = served.try_ask("find", json!({"predicate": "card(flag) = 1", "here": true}));
    // Each of two processes sleeps, asks or is inside, independently of the other: three times three.
    assert_eq!(none["error"], "none of the 9 states that follow satisfies it");
    let none = served.ask("find", json!({"predicate": "card(flag) = 1", "here": false}));
    assert!(none["said"][0].as_str().unwrap().contains("no reachable state"), "{}", none["said"]);
}

#[test]
fn a_check_opens_its_counterexample_and_a_saved_trace_is_opened_again() {
    let (folder, served) = lock();
    let view = served.ask("check", json!({}));
    assert_eq!(view["finding"]["kind"], "invariant");
    assert_eq!(value(&view, "inside"), "{p,q}");
    let saved = served.ask("save", json!({"kind": "prob2trace"}));
    assert_eq!(saved["name"], "Lock.prob2trace");
    served.ask("goto", json!({"position": 0}));
    let again = served.ask("load", json!({"content": saved["content"]}));
    assert_eq!((again["position"].as_u64(), value(&again, "inside")), (Some(6), "{p,q}"));
    assert!(served.try_ask("load", json!({"content": "{}"}))["error"].is_string());
    folder.write("t.prob2trace", saved["content"].as_str().unwrap());
    drop(served);
    let served = Served::start(&folder, &["M.mch", "--trace", "t.prob2trace"]);
    assert_eq!(value(&served.ask("view", json!({})), "inside"), "{p,q}");
}

#[test]
fn a_check_with_open_ends_with_the_page_of_its_counterexample() {
    let folder = Folder::with_machine(LOCK);
    let mut command = folder.bombus();
    // No browser is found, so none opens on the desktop of whoever runs this test.
    command.args(["check", "M.mch", "--open"]).env("PATH", "");
    let served = Served::by(command);
    let view = served.ask("view", json!({}));
    assert_eq!((&view["finding"]["kind"], value(&view, "inside")), (&"invariant".into(), "{p,q}"));
}

#[test]
fn the_state_space_is_drawn_with_a_projection_and_its_nodes_are_places_to_go() {
    let (_folder, served) = lock();
    let all = served.ask("graph", json!({"project": "", "states": 100}));
    // Each of two processes sleeps, asks or is inside; and both may be inside.
    assert_eq!((all["states"].as_u64(), all["complete"].as_bool()), (Some(9), Some(true)));
    assert_eq!(all["nodes"].as_array().unwrap().iter().filter(|n| n["bad"] == true).count(), 1);
    let projected = served.ask("graph", json!({"project": "card(inside)", "states": 100}));
    let labels: Vec<&str> =
        projected["nodes"].as_array().unwrap().iter().filter_map(|n| n["label"].as_str()).collect();
    assert_eq!(labels, ["0", "1", "2"]);
    let edges = projected["edges"].as_array().unwrap();
    assert!(!edges.iter().any(|e| e["from"] == 0 && e["to"] == 2), "nobody enters together: {edges:?}");
    let view = served.ask("visit", json!({"state": projected["nodes"][2]["first"]}));
    assert_eq!(value(&view, "inside"), "{p,q}");
    let part = served.ask("graph", json!({"project": "", "states": 3}));
    assert_eq!(part["complete"], false);
    assert!(served.try_ask("graph", json!({"project": "1 = 1"}))["error"].is_string());
    // Both processes have the flag TRUE here.
    let relation = served.ask("relation", json!({"name": "flag"}));
    assert_eq!(
        (relation["nodes"].as_array().unwrap().len(), relation["edges"].as_array().unwrap().len()),
        (3, 2)
    );
}

#[test]
fn long_values_long_lists_of_steps_and_long_histories_come_in_pages() {
    let folder = Folder::with_machine(
        "MACHINE Long VARIABLES s INVARIANT s <: NATURAL INITIALISATION s := {x | x : 1..30000 & x mod 3 /= 1}
         OPERATIONS pop = SELECT s /= {} THEN s := s - {min(s)} END END",
    );
    let served = Served::start(&folder, &["M.mch"]);
    let view = step(&served, "INITIALISATION");
    assert!(view.to_string().len() < 200_000, "{} bytes", view.to_string().len());
    let s = view["values"].as_array().unwrap().iter().find(|r| r["name"] == "s").unwrap();
    assert_eq!((s["size"].as_u64(), s["cut"].as_bool()), (Some(20_000), Some(true)));
    let page = served.ask("value", json!({"name": "s", "from": 19_999, "count": 100}));
    assert_eq!((page["total"].as_u64(), page["parts"].as_array().unwrap().len()), (Some(20_000), 1));
    assert_eq!(page["parts"][0]["text"], "30000");
    folder.write(
        "Many.mch",
        "MACHINE Many VARIABLES n INVARIANT n : NATURAL INITIALISATION n := 0
         OPERATIONS add(k) = SELECT k : 1..3000 THEN n := n + k END END",
    );
    let served = Served::start(&folder, &["Many.mch"]);
    let view = step(&served, "INITIALISATION");
    assert!(view.to_string().len() < 200_000, "{} bytes", view.to_string().len());
    assert_eq!(view["operations"]["total"], 3000);
    let rest = served.ask("operations", json!({"from": 2990, "filter": ""}));
    assert_eq!(rest["rows"].as_array().unwrap().len(), 10);
    let some = served.ask("operations", json!({"filter": "k=2999"}));
    assert_eq!((some["fitting"].as_u64(), some["rows"][0]["n"].as_u64()), (Some(1), Some(2998)));
    let walked = served.ask("random", json!({"steps": 40, "seed": 7}));
    assert_eq!(walked["position"], 41);
    let n = value(&walked, "n").to_string();
    served.ask("goto", json!({"position": 1}));
    assert_eq!(value(&served.ask("random", json!({"steps": 40, "seed": 7})), "n"), n);
    let history = served.ask("history", json!({"from": 39, "count": 500}));
    assert_eq!((history["length"].as_u64(), history["rows"][1]["n"].as_u64()), (Some(41), Some(41)));
}

#[test]
fn a_model_or_port_or_trace_that_is_no_good_is_refused_with_status_2() {
    let folder = Folder::with_machine("MACHINE M VARIABLES x INVARIANT x : NAT INITIALISATION x := y END");
    folder.write("no.json", "{}");
    for args in
        [&["serve", "M.mch"][..], &["serve", "missing.mch"], &["serve", "M.mch", "--trace", "no.json"]]
    {
        let output = folder.bombus().args(args).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_drawing_beside_the_model_shows_every_state_and_runs_no_script() {
    let folder = Folder::with_machine(LOCK);
    folder.write(
        "M.svg",
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script><!-- <rect data-b-x='1'/> -->
<circle r='5' fill='grey' data-b-fill='IF card(inside) &gt; 1 THEN \"red\" ELSE \"green\" END' data-b-visible='p : inside'/>
<text data-b-text='card(inside)'>?</text><rect data-b-width='nobody'/></svg>",
    );
    let served = Served::start(&folder, &["M.mch"]);
    step(&served, "SETUP_CONSTANTS");
    let view = step(&served, "INITIALISATION");
    assert_eq!(view["drawing"], true);
    let drawn = served.ask("drawing", json!({}));
    let svg = drawn["svg"].as_str().expect("a drawing");
    assert!(svg.contains("fill=\"green\"") && !svg.contains("grey") && svg.contains(">0</text>"), "{svg}");
    assert!(svg.contains("visible=\"false\"") && svg.contains("<rect/>"), "{svg}");
    assert!(drawn["said"].to_string().contains("nobody"), "{drawn}");
    // The page shows an image, in which scripts do not run; the trace of a check has a drawing for each row.
    let output =
        folder.bombus().args(["check", "M.mch", "--trace", "x.html"]).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    let page = std::fs::read_to_string(folder.path("x.html")).expect("the page");
    let json = page.split("id=\"drawings\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let all: Vec<String> = serde_json::from_str(json.expect("drawings")).expect("a list");
    assert_eq!(all.len(), 6);
    assert!(all[0].is_empty() && all[1].contains("green") && all[5].contains("fill=\"red\""), "{all:?}");
    assert!(!page.contains("<script>alert"), "a script of the drawing is outside the image");
}
