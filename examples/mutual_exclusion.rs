//! Peterson's algorithm for two processes as a hand-written `System`: one word per state, no allocation.
//!
//! `cargo run --release --example mutual_exclusion` finds its states, checks mutual exclusion, and decides
//! that whoever wants to enter will enter.

use bombus::api::{Diagnostic, EventId, Explorer, Finding, FindingKind, PropId, Sink, Span, System, Verdict};

/// Where a process is: idle, has raised its flag, waits for its turn, is in the critical section.
const AT: [&str; 4] = ["idle", "flag", "wait", "crit"];

struct Peterson {
    events: Vec<String>,
}

/// A state: two bits for each process, one bit for whose turn it is.
fn place(state: u64, process: u64) -> u64 {
    state >> (2 * process) & 3
}

impl System for Peterson {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn initial(&self, (): &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0]);
    }

    fn successors(&self, (): &mut (), state: &[u64], sink: &mut dyn Sink) {
        for me in 0..2 {
            let (at, other, turn) = (place(state[0], me), 1 - me, state[0] >> 4);
            let may_enter = place(state[0], other) == 0 || turn == me;
            if at == 2 && !may_enter {
                continue;
            }
            let mut next = state[0] & !(3 << (2 * me)) | ((at + 1) % 4) << (2 * me);
            if at == 1 {
                next = next & 15 | other << 4;
            }
            sink.edge(EventId((4 * me + at) as u32), 0, &[next]);
        }
    }

    fn check(&self, (): &mut (), state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        if place(state[0], 0) == 3 && place(state[0], 1) == 3 {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let found = (0..8).find(|n| text.trim() == format!("{} {}", n / 4, AT[*n % 4]));
        let unknown = || vec![Diagnostic::error(at, "a proposition is a process and its place: `0 wait`")];
        found.map(|n| PropId(n as u32)).ok_or_else(unknown)
    }

    fn holds(&self, (): &mut (), state: &[u64], PropId(n): PropId) -> Option<bool> {
        Some(place(state[0], u64::from(n / 4)) == u64::from(n % 4))
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        (0..2).map(|p| (format!("process{p}"), AT[place(state[0], p) as usize].to_string())).collect()
    }
}

pub fn main() {
    let steps = ["raise", "give_turn", "enter", "leave"];
    let events = (0..8).map(|n| format!("{}{}", steps[n % 4], n / 4)).collect();
    let fair = "WF(enter0) & WF(give_turn0) & WF(leave1) & WF(give_turn1) & WF(enter1)";
    let explorer = Explorer::new(Peterson { events }).workers(2);
    let explorer = explorer.ltl(&format!("{fair} => G ({{0 flag}} => F {{0 crit}})")).expect("a formula");
    let report = explorer.run().expect("the engine works");
    println!("{} states, {} transitions: {}", report.states(), report.transitions(), report.verdict.word());
    assert_eq!((report.states(), report.transitions()), (20, 34));
    assert_eq!(report.verdict, Verdict::Verified, "{:?} {:?}", report.reasons, report.violation);
}
