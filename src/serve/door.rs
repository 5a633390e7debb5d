//! Who is answered: a listener on 127.0.0.1 that knows its visitors by a secret in the path.
//!
//! In: requests over HTTP. Out: the files of the page, and answers that the session gives. A request is refused unless
//! its path begins with the token, its host is this listener, and its origin, if it names one, is the page itself: a
//! page of somebody else can neither guess the token nor read an answer, and a name that somebody points at this
//! machine is not our name.
//! Never here: what is asked. No file of the disk is ever opened here.

use super::session::Cancel;
use serde_json::{Value, json};
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server};

/// A longer question is refused; a trace of a hundred thousand steps is shorter.
const LONGEST_QUESTION: usize = 256 << 20;
/// How often the listener looks whether it should end.
const LOOK: Duration = Duration::from_millis(100);
/// Requests that are answered at the same time; more are dropped.
const VISITORS: usize = 64;

/// The files of the page: name, kind, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("", "text/html; charset=utf-8", include_str!("assets/index.html")),
    ("style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("parts.js", "text/javascript; charset=utf-8", include_str!("assets/parts.js")),
    ("pictures.js", "text/javascript; charset=utf-8", include_str!("assets/pictures.js")),
    ("page.js", "text/javascript; charset=utf-8", include_str!("assets/page.js")),
];

/// Nothing is loaded from elsewhere, nothing is embedded elsewhere, no address leaks.
const HEADERS: &[(&str, &str)] = &[
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
];

/// A listener with its secret.
pub struct Door {
    http: Server,
    port: u16,
    token: String,
}

/// A question of the page that waits for the session.
struct Question {
    request: Request,
    name: String,
    body: Value,
}

impl Door {
    /// Opens a port of 127.0.0.1; any free one for 0.
    pub fn open(port: u16) -> Result<Door, String> {
        let http = Server::http(("127.0.0.1", port))
            .map_err(|e| format!("cannot listen on port {port} of 127.0.0.1: {e}"))?;
        let port = http.server_addr().to_ip().map_or(port, |address| address.port());
        let mut secret = [0u8; 16];
        getrandom::fill(&mut secret).map_err(|e| format!("no random numbers for the address: {e}"))?;
        let token = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Door { http, port, token })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers until `stop` is set. Questions are answered one after the other by `answer`; the question `cancel` ends
    /// the one in hand.
    pub fn answer(
        &self,
        stop: &AtomicBool,
        cancel: &Cancel,
        mut answer: impl FnMut(&str, &Value) -> Result<Value, String>,
    ) {
        let (questions, asked) = mpsc::channel();
        let visitors = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let questions = questions;
                while !stop.load(Ordering::SeqCst) {
                    let request = match self.http.recv_timeout(LOOK) {
                        Ok(Some(request)) => request,
                        Ok(None) => continue,
                        Err(_) => {
                            // A system without a free file has one later.
                            std::thread::sleep(LOOK);
                            continue;
                        }
                    };
                    if visitors.fetch_add(1, Ordering::SeqCst) >= VISITORS {
                        // Its connection is closed without a word.
                        visitors.fetch_sub(1, Ordering::SeqCst);
                        drop(request.into_writer());
                        continue;
                    }
                    // A visitor who sends slowly keeps nobody else waiting.
                    let (questions, visitors) = (questions.clone(), &visitors);
                    scope.spawn(move || {
                        self.receive(request, &questions, cancel);
                        visitors.fetch_sub(1, Ordering::SeqCst);
                    });
                }
                cancel.cancel();
            });
            loop {
                match asked.recv_timeout(LOOK) {
                    Ok(Question { request, name, body }) => {
                        let value = match answer(&name, &body) {
                            Ok(value) => value,
                            Err(message) => json!({ "error": message }),
                        };
                        respond(request, 200, "application/json", value.to_string());
                    }
                    Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::SeqCst) => {}
                    Err(_) => break,
                }
            }
        });
    }

    fn receive(&self, request: Request, questions: &mpsc::Sender<Question>, cancel: &Cancel) {
        match self.admit(&request) {
            Err(status) => refuse(request, status),
            Ok(path) => {
                if let Some(name) = path.strip_prefix("api/") {
                    ask(request, name, questions, cancel);
                    return;
                }
                match ASSETS.iter().find(|(name, ..)| *name == path) {
                    Some((_, kind, content)) if *request.method() == Method::Get => {
                        respond(request, 200, kind, (*content).to_string());
                    }
                    Some(_) => refuse(request, 405),
                    None => refuse(request, 404),
                }
            }
        }
    }

    /// The path after the token, or the status of a refusal. Nothing is told to those who do not know the token.
    fn admit(&self, request: &Request) -> Result<String, u16> {
        let header = |name: &'static str| -> Result<Option<String>, u16> {
            let mut values = request.headers().iter().filter(move |h| h.field.equiv(name));
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some(value), None) => Ok(Some(value.value.as_str().to_string())),
                _ => Err(400),
            }
        };
        let names = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !header("Host")?.is_some_and(|host| names.contains(&host)) {
            return Err(403);
        }
        if let Some(origin) = header("Origin")?
            && !names.iter().any(|name| origin == format!("http://{name}"))
        {
            return Err(403);
        }
        if let Some(site) = header("Sec-Fetch-Site")?
            && site != "same-origin"
            && site != "none"
        {
            return Err(403);
        }
        let path = request.url().split(['?', '#']).next().unwrap_or("");
        let (token, rest) = path.strip_prefix('/').and_then(|path| path.split_once('/')).ok_or(403u16)?;
        if same(token.as_bytes(), self.token.as_bytes()) { Ok(rest.to_string()) } else { Err(403) }
    }
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

fn ask(mut request: Request, name: &str, questions: &mpsc::Sender<Question>, cancel: &Cancel) {
    if *request.method() != Method::Post {
        return refuse(request, 405);
    }
    if request.body_length().is_none_or(|length| length > LONGEST_QUESTION) {
        return refuse(request, 413);
    }
    let mut text = String::new();
    if request.as_reader().take(LONGEST_QUESTION as u64).read_to_string(&mut text).is_err() {
        return refuse(request, 400);
    }
    let Ok(body) = serde_json::from_str(if text.is_empty() { "{}" } else { &text }) else {
        return refuse(request, 400);
    };
    if name == "cancel" {
        cancel.cancel();
        return respond(request, 200, "application/json", "{}".into());
    }
    // The session has ended if nobody takes the question: the connection closes with it.
    let _ = questions.send(Question { request, name: name.to_string(), body });
}

fn refuse(request: Request, status: u16) {
    respond(request, status, "text/plain; charset=utf-8", "refused\n".into());
}

fn respond(request: Request, status: u16, kind: &str, content: String) {
    let mut response = Response::from_string(content).with_status_code(status);
    for (name, value) in HEADERS.iter().copied().chain([("Content-Type", kind)]) {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    // A visitor who went away wanted no answer.
    let _ = request.respond(response);
}
