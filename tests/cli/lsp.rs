//! `bombus lsp` in a scripted session: open, edit, hover, definition, symbols, diagnostics.

use crate::support::binary::Folder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Session {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
}

impl Session {
    fn start(folder: &Folder) -> Session {
        let mut command = folder.bombus();
        let mut child =
            command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut session = Session { child, to, from, last: 0 };
        let answer =
            session.ask("initialize", json!({"capabilities": {}, "processId": null, "rootUri": null}));
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        session.tell("initialized", json!({}));
        session
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        self.to.flush().expect("the server listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("the server answers") > 0, "the server has ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(n) => length = n.parse().expect("a length"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).expect("the whole answer");
        serde_json::from_slice(&body).expect("an answer is JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// The diagnostics of the next message about a file.
    fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                return message["params"]["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const LIFT: &str = "MACHINE Lift
INCLUDES Doors
DEFINITIONS top == 3
VARIABLES floor
INVARIANT floor : 0..top
INITIALISATION floor := 0
OPERATIONS up = SELECT floor < top & open = FALSE THEN floor := floor + 1 END
END";
const DOORS: &str = "MACHINE Doors VARIABLES open INVARIANT open : BOOL INITIALISATION open := FALSE OPERATIONS slam = BEGIN open := FALSE END END";

/// The place of a word in a text, as an editor counts.
fn place(text: &str, word: &str) -> Value {
    let at = text.find(word).expect("the word is there");
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |n| n + 1);
    json!({"line": line, "character": column})
}

#[test]
fn an_editor_learns_what_is_wrong_what_names_mean_and_where_they_come_from() {
    let folder = Folder::new();
    let main = folder.write("Lift.mch", LIFT);
    let other = folder.write("Doors.mch", DOORS);
    let uri = format!("file://{}", main.canonicalize().unwrap().display());
    let mut editor = Session::start(&folder);
    let document = json!({"uri": uri, "languageId": "b", "version": 1, "text": LIFT});
    editor.tell("textDocument/didOpen", json!({"textDocument": document}));
    assert_eq!(editor.diagnostics(&uri), Vec::<Value>::new());

    let at = |word: &str| json!({"textDocument": {"uri": uri}, "position": place(LIFT, word)});
    let hover = editor.ask("textDocument/hover", at("floor : 0"));
    assert_eq!(hover["contents"]["value"], "variable floor : INTEGER\nfirst value: 0");
    let hover = editor.ask("textDocument/hover", at("top & open"));
    assert_eq!(hover["contents"]["value"], "top == 3");
    let definition = editor.ask("textDocument/definition", at("open = FALSE"));
    let doors = format!("file://{}", other.canonicalize().unwrap().display());
    assert_eq!((&definition["uri"], &definition["range"]["start"]["character"]), (&doors.into(), &24.into()));
    let definition = editor.ask("textDocument/definition", at("top & open"));
    assert_eq!(definition["range"]["start"], json!({"line": 2, "character": 12}));
    let symbols = editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
    let names: Vec<&Value> = symbols.as_array().unwrap().iter().map(|s| &s["name"]).collect();
    assert_eq!(names, ["floor", "up"]);
    let lens = editor.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
    assert_eq!(lens[0]["command"]["command"], "bombus.check");

    // A text that is not saved counts, and what was right before still answers.
    let wrong = LIFT.replace("floor := 0\n", "flor := 0\n");
    let change = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": wrong}]});
    editor.tell("textDocument/didChange", change);
    let messages = editor.diagnostics(&uri);
    assert_eq!(messages[0]["severity"], 1, "{messages:?}");
    assert_eq!(messages[0]["range"]["start"], place(&wrong, "flor"));
    let hover = editor.ask("textDocument/hover", at("floor : 0"));
    assert_eq!(hover["contents"]["value"], "variable floor : INTEGER\nfirst value: 0");
    let change = json!({"textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"text": LIFT}]});
    editor.tell("textDocument/didChange", change);
    assert_eq!(editor.diagnostics(&uri), Vec::<Value>::new());
    editor.ask("shutdown", Value::Null);
    editor.tell("exit", Value::Null);
}

#[test]
fn an_editor_learns_what_is_wrong_with_a_csp_script_while_it_is_written() {
    let folder = Folder::new();
    let path = folder.write("s.csp", "channel coin\nMAIN = coin -> MAIN\n");
    let uri = format!("file://{}", path.display());
    let mut session = Session::start(&folder);
    let document =
        json!({"uri": uri, "languageId": "csp", "version": 1, "text": "channel coin\nMAIN = cion -> MAIN\n"});
    session.tell("textDocument/didOpen", json!({"textDocument": document}));
    let found = session.diagnostics(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"]["start"], json!({"line": 1, "character": 7}));
    assert!(found[0]["message"].as_str().expect("a text").contains("did you mean `coin`?"));
    let change = json!([{"text": "channel coin\nMAIN = coin -> MAIN\n"}]);
    let document = json!({"uri": uri, "version": 2});
    session.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": change}));
    assert!(session.diagnostics(&uri).is_empty());
}
