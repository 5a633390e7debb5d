//! `bombus mcp` as a client of the protocol meets it.

use super::serve::LOCK;
use crate::support::binary::Folder;
use serde_json::{Value, json};

/// Sends messages, one on each line, and gives the answers.
fn talk(folder: &Folder, messages: &[Value]) -> Vec<Value> {
    let text: String = messages.iter().map(|m| format!("{m}\n")).collect();
    let input = std::fs::File::open(folder.write("messages", &text)).expect("the messages were written");
    let output = folder.bombus().arg("mcp").stdin(input).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(0));
    let lines = String::from_utf8(output.stdout).expect("answers are text");
    lines.lines().map(|line| serde_json::from_str(line).expect("an answer is one line of JSON")).collect()
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The text of the answer to a call.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn tools_are_listed_and_their_answers_are_those_of_the_command_line() {
    let folder = Folder::with_machine(LOCK);
    let trace = folder.bombus().args(["check", "M.mch", "--quiet", "--trace", "t.json"]).output().unwrap();
    assert_eq!(trace.status.code(), Some(1));
    let answers = talk(
        &folder,
        &[
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
            call(3, "check", json!({"model": "M.mch"})),
            call(4, "eval", json!({"formula": "card(PID)", "model": "M.mch"})),
            call(5, "replay", json!({"trace": "t.json", "model": "M.mch"})),
            call(6, "simulate", json!({"model": "M.mch", "runs": 20, "steps": 50})),
            call(7, "eval", json!({"formula": "1 +"})),
            call(8, "fly", json!({})),
            call(9, "check", json!({"model": "M.mch", "seconds": 0})),
            json!({"jsonrpc": "2.0", "id": 10, "method": "fly"}),
        ],
    );
    // A notification has no answer.
    assert_eq!(answers.len(), 10);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "bombus");
    let names: Vec<&Value> =
        answers[1]["result"]["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["check", "explain", "eval", "replay", "simulate"]);
    let checked: Value = serde_json::from_str(text(&answers[2])).unwrap();
    assert_eq!(
        (&checked["verdict"], &checked["violation"]["kind"]),
        (&"violated".into(), &"invariant".into())
    );
    assert_eq!(text(&answers[3]), "2");
    let replayed: Value = serde_json::from_str(text(&answers[4])).unwrap();
    assert_eq!(replayed["replayed"], true);
    let walked: Value = serde_json::from_str(text(&answers[5])).unwrap();
    assert_eq!(walked["engine"], "simulate");
    assert_eq!(answers[6]["result"]["isError"], true);
    assert_eq!(
        (&answers[7]["error"]["code"], &answers[9]["error"]["code"]),
        (&(-32602).into(), &(-32601).into())
    );
    assert_eq!(answers[8]["result"]["isError"], true);
}

#[test]
fn a_predicate_and_a_disabled_operation_are_explained_at_the_end_of_a_trace() {
    let folder = Folder::with_machine(LOCK);
    let trace = folder.bombus().args(["check", "M.mch", "--quiet", "--trace", "t.json"]).output().unwrap();
    assert_eq!(trace.status.code(), Some(1));
    let answers = talk(
        &folder,
        &[
            call(1, "explain", json!({"model": "M.mch", "trace": "t.json", "formula": "card(inside) <= 1"})),
            call(2, "explain", json!({"model": "M.mch", "trace": "t.json", "operation": "enter"})),
            call(3, "explain", json!({"model": "M.mch", "trace": "t.json", "operation": "leave"})),
            call(4, "explain", json!({"model": "M.mch"})),
            call(5, "eval", json!({"model": "M.mch", "trace": "t.json", "formula": "card(inside)"})),
        ],
    );
    let broken: Value = serde_json::from_str(text(&answers[0])).unwrap();
    assert_eq!((&broken["is"], &broken["parts"][0]["value"]), (&"false".into(), &"2".into()), "{broken}");
    let disabled: Value = serde_json::from_str(text(&answers[1])).unwrap();
    assert_eq!(disabled["parts"][0]["is"], "false", "{disabled}");
    assert_eq!(
        (text(&answers[2]), &answers[2]["result"]["isError"]),
        ("leave is possible here", &true.into())
    );
    assert_eq!(answers[3]["result"]["isError"], true);
    assert_eq!(text(&answers[4]), "2");
}
