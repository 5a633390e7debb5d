//! A client of the page that `bombus serve` shows: starts the program, asks, ends it.

use super::binary::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A running server and where it listens.
pub struct Served {
    child: Child,
    pub port: u16,
    pub token: String,
}

impl Served {
    /// `bombus serve` in a folder, with these arguments.
    pub fn start(folder: &Folder, args: &[&str]) -> Served {
        let mut command = folder.bombus();
        command.arg("serve").args(args);
        Served::by(command)
    }

    /// A command that serves in the end, after it may have said other things.
    pub fn by(mut command: Command) -> Served {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let out = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let mut lines = out.lines().map(|line| line.expect("its output is text"));
        let line = lines.find(|line| line.contains(" is at http://")).expect("it says where it is");
        let address = line.trim().rsplit_once("http://127.0.0.1:").expect(&line).1;
        let (port, token) = address.split_once('/').expect("an address with a token");
        Served { child, port: port.parse().expect("a port"), token: token.trim_end_matches('/').to_string() }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Sends a request as it stands, with the given header lines; the status, the header and the body.
    pub fn request(&self, line: &str, headers: &[String], body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the port is open");
        let mut text = format!("{line} HTTP/1.0\r\n");
        headers.iter().for_each(|h| text.push_str(&format!("{h}\r\n")));
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(text.as_bytes()).expect("the request is sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer comes");
        let answer = String::from_utf8(answer).expect("the answer is text");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, head.to_string(), body.to_string())
    }

    /// The host that a browser names.
    pub fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    /// Asks a question as the page does; the answer may be an error.
    pub fn try_ask(&self, name: &str, body: Value) -> Value {
        let origin = format!("Origin: http://127.0.0.1:{}", self.port);
        let line = format!("POST /{}/api/{name}", self.token);
        let (status, head, answer) = self.request(&line, &[self.host(), origin], &body.to_string());
        assert_eq!(status, 200, "{head}");
        serde_json::from_str(&answer).unwrap_or_else(|_| panic!("no JSON: {answer}"))
    }

    /// Asks a question that must have an answer.
    pub fn ask(&self, name: &str, body: Value) -> Value {
        let answer = self.try_ask(name, body);
        assert!(answer["error"].is_null(), "{name}: {}", answer["error"]);
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
