//! A real browser without a screen, driven over a pair of named pipes in the protocol of its developer tools.
//!
//! Messages are JSON texts that end with a zero byte. Nobody waits a fixed time: a condition is asked for until it
//! holds, and a far deadline ends a test that would hang.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// After this long a condition will not come true.
const DEADLINE: Duration = Duration::from_secs(120);

pub struct Chromium {
    child: Child,
    to: File,
    from: File,
    unread: Vec<u8>,
    last: u64,
    session: Option<String>,
    /// What the page reported as wrong: exceptions, refused resources.
    pub complaints: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Chromium {
    /// The browser, if this machine has one and pipes with names.
    pub fn start() -> Option<Chromium> {
        let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
        let found = |name: &&&str| {
            let mut command = Command::new(name);
            command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|s| s.success())
        };
        let program = names.iter().find(found)?;
        let folder = tempfile::tempdir().expect("a folder for the browser");
        let pipes = [folder.path().join("to"), folder.path().join("from")];
        if !Command::new("mkfifo").args(&pipes).status().is_ok_and(|s| s.success()) {
            return None;
        }
        let mut profile = std::ffi::OsString::from("--user-data-dir=");
        profile.push(folder.path().join("profile"));
        let child = Command::new("sh")
            .args(["-c", "to=$1; from=$2; shift 2; exec \"$@\" 3<\"$to\" 4>\"$from\"", "sh"])
            .args(&pipes)
            .args([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--no-first-run", "--remote-debugging-pipe"])
            .arg(profile)
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        let to = OpenOptions::new().write(true).open(&pipes[0]).expect("a pipe to the browser");
        let from = File::open(&pipes[1]).expect("a pipe from the browser");
        let mut browser = Chromium {
            child,
            to,
            from,
            unread: Vec::new(),
            last: 0,
            session: None,
            complaints: Vec::new(),
            _folder: folder,
        };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"].as_array().and_then(|all| all.iter().find(|t| t["type"] == "page"));
        let page = page.expect("the browser has a page")["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": page, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        Some(browser)
    }

    /// Asks the browser for something.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let message = self.message();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(message["params"].to_string()),
                Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => {
                    self.complaints.push(message["params"]["entry"].to_string());
                }
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Value {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                let message: Vec<u8> = self.unread.drain(..=end).collect();
                return serde_json::from_slice(&message[..end]).expect("the browser speaks JSON");
            }
            let mut more = [0; 1 << 16];
            let read = self.from.read(&mut more).expect("the browser answers");
            assert!(read > 0, "the browser has ended");
            self.unread.extend_from_slice(&more[..read]);
        }
    }

    /// The value of an expression in the page.
    pub fn script(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub fn wait_for(&mut self, expression: &str) {
        let started = Instant::now();
        while self.script(expression) != true {
            assert!(started.elapsed() < DEADLINE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Goes to an address.
    pub fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        let down = json!({"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}),
        );
    }

    /// Types a text into the field that has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// The size of the page, and whether the desktop is dark.
    pub fn resize(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
