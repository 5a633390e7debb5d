//! The program itself, run on models of a test: a folder for them, a command in it, its result.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, with arguments to come.
pub fn bombus() -> Command {
    Command::new(program())
}

/// The path of the program.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_bombus")
}

/// Runs the program to its end.
pub fn run(args: &[impl AsRef<OsStr>]) -> Output {
    bombus().args(args).output().expect("the binary runs")
}

/// A file of `bench-models`.
pub fn bench_model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-models").join(name)
}

/// A folder for one test, which goes when the test ends.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a directory for models"))
    }

    /// With one machine in it, `M.mch`.
    pub fn with_machine(text: &str) -> Folder {
        let folder = Folder::new();
        folder.write("M.mch", text);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the model is written");
        path
    }

    /// The program in this folder, with arguments to come.
    pub fn bombus(&self) -> Command {
        let mut command = bombus();
        command.current_dir(self.0.path());
        command
    }

    /// `bombus check M.mch --json` in this folder, with more options.
    pub fn check(&self, options: &[&str]) -> Output {
        self.bombus().args(["check", "M.mch", "--json"]).args(options).output().expect("the binary runs")
    }

    /// A program in this folder, written by a process of its own: were it written here, a process that another test
    /// starts at this moment would hold the file open for writing, and nobody could run it.
    #[cfg(unix)]
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        let mut writer = Command::new("sh");
        let written = writer
            .args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .arg(text)
            .status();
        assert!(written.expect("there is a shell").success(), "{} is written", path.display());
        path
    }
}

/// Checks one machine, and gives the JSON that it ends with.
pub fn check_machine(text: &str, options: &[&str]) -> Value {
    json(&Folder::with_machine(text).check(options))
}

/// The JSON that a run ends with.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {}", messages(output)))
}

pub fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A result without what may differ between two runs of the same check.
pub fn timeless(mut result: Value) -> Value {
    if let Some(object) = result.as_object_mut() {
        for field in ["workers", "seconds", "peak_memory_bytes", "time_shares"] {
            object.remove(field);
        }
    }
    result
}
