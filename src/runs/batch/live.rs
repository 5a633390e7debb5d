//! What is seen while a batch runs: a table that redraws itself on a terminal, plain lines elsewhere.

use super::super::units;
use super::journal::Record;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

/// Whoever wants to know how a batch goes on.
pub trait Board {
    fn begin(&mut self, name: &str, total: usize, kept: usize);
    fn started(&mut self, place: usize, name: &str, workers: u32);
    fn ended(&mut self, place: usize, name: &str, record: &Record, unmet: Option<String>);
    fn retried(&mut self, place: usize, name: &str, record: &Record);
    /// A check that was ended without a result.
    fn dropped(&mut self, place: usize);
    fn note(&mut self, text: &str);
    fn tick(&mut self);
    fn end(&mut self);
}

/// One line per event, for logs and pipes.
pub struct Lines<W: Write> {
    out: W,
    total: usize,
    done: usize,
}

impl<W: Write> Lines<W> {
    pub fn new(out: W) -> Self {
        Lines { out, total: 0, done: 0 }
    }
}

/// A log that cannot be written to must not end a batch: errors of writing are dropped here.
impl<W: Write> Board for Lines<W> {
    fn begin(&mut self, name: &str, total: usize, kept: usize) {
        (self.total, self.done) = (total, kept);
        let _ = writeln!(self.out, "{name}: {total} runs, {kept} of them done before");
    }

    fn started(&mut self, _: usize, _: &str, _: u32) {}

    fn ended(&mut self, _: usize, name: &str, record: &Record, unmet: Option<String>) {
        self.done += 1;
        let _ = writeln!(self.out, "[{}/{}] {}", self.done, self.total, line(name, record, unmet.as_deref()));
    }

    fn retried(&mut self, _: usize, name: &str, record: &Record) {
        let _ = writeln!(self.out, "{name}: {}; once more", record.ending());
    }

    fn dropped(&mut self, _: usize) {}

    fn note(&mut self, text: &str) {
        let _ = writeln!(self.out, "warning: {text}");
    }

    fn tick(&mut self) {}

    fn end(&mut self) {}
}

/// An ended run in one line.
pub fn line(name: &str, record: &Record, unmet: Option<&str>) -> String {
    let mark = if unmet.is_none() { "ok  " } else { "FAIL" };
    let states = record.number("states").map(|n| format!(", {} states", units::count(n))).unwrap_or_default();
    let why = unmet.map(|w| format!("   <- {w}")).unwrap_or_default();
    format!("{mark} {name}   {}{states}, {}{why}", record.verdict(), units::seconds(record.wall_seconds))
}

/// The table on a terminal: ended runs scroll away above, running ones stay below with their time.
pub struct Table<W: Write> {
    out: W,
    name: String,
    total: usize,
    done: usize,
    failed: usize,
    running: BTreeMap<usize, Running>,
    drawn: usize,
    width: usize,
}

struct Running {
    name: String,
    workers: u32,
    since: Instant,
}

impl<W: Write> Table<W> {
    pub fn new(out: W, width: usize) -> Self {
        Table {
            out,
            name: String::new(),
            total: 0,
            done: 0,
            failed: 0,
            running: BTreeMap::new(),
            drawn: 0,
            width: width.max(40),
        }
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            let _ = write!(self.out, "\x1b[{}A\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }

    fn draw(&mut self) {
        self.erase();
        let mut lines = vec![format!(
            "{}  {} of {} done, {} running{}",
            self.name,
            self.done,
            self.total,
            self.running.len(),
            if self.failed > 0 { format!(", {} not as expected", self.failed) } else { String::new() }
        )];
        for r in self.running.values().take(20) {
            lines.push(format!(
                "  {:>9}  {} worker{}  {}",
                units::seconds(r.since.elapsed().as_secs_f64()),
                r.workers,
                if r.workers == 1 { " " } else { "s" },
                r.name
            ));
        }
        if self.running.len() > 20 {
            lines.push(format!("  and {} more", self.running.len() - 20));
        }
        for l in &lines {
            let cut: String = l.chars().take(self.width - 1).collect();
            let _ = writeln!(self.out, "{cut}");
        }
        self.drawn = lines.len();
        let _ = self.out.flush();
    }

    fn above(&mut self, text: &str) {
        self.erase();
        let _ = writeln!(self.out, "{text}");
        self.draw();
    }
}

impl<W: Write> Board for Table<W> {
    fn begin(&mut self, name: &str, total: usize, kept: usize) {
        self.name = name.to_string();
        (self.total, self.done) = (total, kept);
        self.draw();
    }

    fn started(&mut self, place: usize, name: &str, workers: u32) {
        self.running.insert(place, Running { name: name.to_string(), workers, since: Instant::now() });
        self.draw();
    }

    fn ended(&mut self, place: usize, name: &str, record: &Record, unmet: Option<String>) {
        self.running.remove(&place);
        self.done += 1;
        self.failed += usize::from(unmet.is_some());
        self.above(&line(name, record, unmet.as_deref()));
    }

    fn retried(&mut self, place: usize, name: &str, record: &Record) {
        self.running.remove(&place);
        self.above(&format!("{name}: {}; once more", record.ending()));
    }

    fn dropped(&mut self, place: usize) {
        self.running.remove(&place);
        self.draw();
    }

    fn note(&mut self, text: &str) {
        self.above(&format!("warning: {text}"));
    }

    fn tick(&mut self) {
        self.draw();
    }

    fn end(&mut self) {
        self.erase();
        let _ = self.out.flush();
    }
}
