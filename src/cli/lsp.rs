//! `bombus lsp`: a language server on stdin and stdout, for editors.
//!
//! In: messages of the Language Server Protocol. Out: answers and diagnostics, while the user types. What is said about a
//! text comes from `driver`; a text that is wrong keeps the answers of the last one that was right.
//! Never here: what a text means.

use super::run::complain;
use super::status;
use crate::driver::{Document, Range};
use crate::model::LoadOptions;
use clap::Args;
use lsp_server::{Connection, Message, Notification, Request, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Args, Debug)]
#[command(
    after_help = "The protocol is that of microsoft's language servers; editors/vscode starts it for Visual Studio Code."
)]
pub struct Lsp {
    /// Ignored: messages go over stdin and stdout anyway
    #[arg(long, hide = true)]
    pub stdio: bool,
}

pub fn run(_: &Lsp) -> u8 {
    let (connection, threads) = Connection::stdio();
    let capabilities = json!({
        "textDocumentSync": {"openClose": true, "change": 1, "save": true},
        "hoverProvider": true,
        "definitionProvider": true,
        "documentSymbolProvider": true,
        "codeLensProvider": {"resolveProvider": false},
    });
    if let Err(e) = connection.initialize(capabilities) {
        complain(&format!("error: the editor does not speak the protocol: {e}"));
        return status::REJECTED;
    }
    let mut server = Server::default();
    for message in &connection.receiver {
        let answers = match message {
            Message::Request(request) => match connection.handle_shutdown(&request) {
                Ok(false) => vec![Message::Response(server.answer(request))],
                _ => break,
            },
            Message::Notification(notification) => server.note(notification),
            Message::Response(_) => Vec::new(),
        };
        if answers.into_iter().any(|answer| connection.sender.send(answer).is_err()) {
            break;
        }
    }
    drop(connection);
    // The threads end with the pipes.
    let _ = threads.join();
    status::OK
}

/// An open text.
struct Open {
    text: Arc<str>,
    /// The last model that could be loaded from it.
    good: Option<Document>,
}

#[derive(Default)]
struct Server {
    open: BTreeMap<PathBuf, Open>,
    /// Files that messages were shown for, by the text they belong to.
    told: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Server {
    fn note(&mut self, notification: Notification) -> Vec<Message> {
        let params = &notification.params;
        let Some(path) = path_of(&params["textDocument"]["uri"]) else { return Vec::new() };
        match notification.method.as_str() {
            "textDocument/didOpen" => self.changed(path, params["textDocument"]["text"].as_str()),
            "textDocument/didChange" => {
                // Whole texts are asked for, so the last change is the text.
                let text = params["contentChanges"].as_array().and_then(|all| all.last()?["text"].as_str());
                self.changed(path, text)
            }
            "textDocument/didSave" => self.changed(path, None),
            "textDocument/didClose" => {
                self.open.remove(&path);
                self.told.remove(&path).into_iter().flatten().map(|file| publish(&file, Vec::new())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Loads a text anew and tells what is wrong with it.
    fn changed(&mut self, path: PathBuf, text: Option<&str>) -> Vec<Message> {
        if let Some(text) = text {
            let good = self.open.remove(&path).and_then(|open| open.good);
            self.open.insert(path.clone(), Open { text: text.into(), good });
        }
        let unsaved = self.open.iter().map(|(path, open)| (path.clone(), open.text.clone())).collect();
        let document = Document::load(&path, &LoadOptions { unsaved, ..LoadOptions::default() });
        let mut by_file: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::new();
        by_file.insert(path.clone(), Vec::new());
        for file in self.told.remove(&path).into_iter().flatten() {
            by_file.entry(file).or_default();
        }
        for message in &document.messages {
            let severity = if message.error { 1 } else { 2 };
            let file = message.file.clone().unwrap_or_else(|| path.clone());
            by_file.entry(file).or_default().push(json!({
                "range": range(&message.range), "severity": severity, "source": "bombus", "message": message.text,
            }));
        }
        self.told.insert(path.clone(), by_file.keys().cloned().collect());
        if let Some(open) = self.open.get_mut(&path).filter(|_| document.is_good()) {
            open.good = Some(document);
        }
        by_file.into_iter().map(|(file, list)| publish(&file, list)).collect()
    }

    fn answer(&self, request: Request) -> Response {
        let params = &request.params;
        let path = path_of(&params["textDocument"]["uri"]).unwrap_or_default();
        let place = |key: &str| params["position"][key].as_u64().unwrap_or(0) as usize;
        let (line, column) = (place("line"), place("character"));
        let open = self.open.get(&path);
        let good = open.and_then(|open| Some((open, open.good.as_ref()?)));
        let result = match request.method.as_str() {
            "textDocument/hover" => good
                .and_then(|(open, model)| model.hover(&open.text, line, column))
                .map(|text| json!({"contents": {"kind": "plaintext", "value": text}})),
            "textDocument/definition" => good
                .and_then(|(open, model)| model.definition(&open.text, line, column))
                .map(|(file, at)| json!({"uri": uri_of(&file), "range": range(&at)})),
            "textDocument/documentSymbol" => good.map(|(_, model)| {
                let symbols = model.symbols(&path);
                let one = |s: &crate::driver::Symbol| {
                    json!({"name": s.name, "detail": s.detail, "kind": symbol_kind(s.kind),
                           "range": range(&s.range), "selectionRange": range(&s.range)})
                };
                symbols.iter().map(one).collect()
            }),
            "textDocument/codeLens" => open.map(|_| {
                let first = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
                json!([{"range": first, "command": {
                    "title": "check with Bombus", "command": "bombus.check", "arguments": [path.display().to_string()],
                }}])
            }),
            other => {
                let message = format!("there is no method {other}");
                return Response::new_err(request.id, lsp_server::ErrorCode::MethodNotFound as i32, message);
            }
        };
        Response::new_ok(request.id, result)
    }
}

fn publish(file: &Path, diagnostics: Vec<Value>) -> Message {
    let params = json!({"uri": uri_of(file), "diagnostics": diagnostics});
    Message::Notification(Notification::new("textDocument/publishDiagnostics".into(), params))
}

fn range(at: &Range) -> Value {
    let place = |(line, column): (usize, usize)| json!({"line": line, "character": column});
    json!({"start": place(at.start), "end": place(at.end)})
}

/// The numbers of the protocol for kinds of symbols.
fn symbol_kind(word: &str) -> u32 {
    match word {
        "set" => 10,
        "constant" => 14,
        "variable" => 13,
        _ => 12,
    }
}

/// The file that an address names; files alone are ours.
fn path_of(uri: &Value) -> Option<PathBuf> {
    let encoded = uri.as_str()?.strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(b) = rest.next() {
        if b == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(b);
        }
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    // What the loader reads is known by its resolved path.
    Some(path.canonicalize().unwrap_or(path))
}

fn uri_of(path: &Path) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-_.~".contains(&b);
    let mut out = String::from("file://");
    for b in path.to_string_lossy().bytes() {
        if plain(b) {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}
