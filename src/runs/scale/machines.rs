//! One check on several processes of this machine, connected as machines of a cluster are, and what that should cost.
//!
//! In: a check and a number of machines. Out: the result of rank 0, and a cost model: a state costs what it costs alone,
//! and each successor that belongs to another machine costs its travel. Never here: the search, the exchange of states.

use super::super::child::{self, Checker, Ended, Limits};
use super::{Found, Run, median};
use serde_json::Value;
use std::ffi::OsString;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Processor time of one successor that belongs to another machine, both ends together, as a prototype took.
pub const TRAVEL_SECONDS: f64 = 0.2e-6;
/// How often a run is tried again because another program took a port that was free a moment before.
const TRIES: usize = 5;

/// Runs a check on so many machines, all of them here.
pub fn run(
    checker: &Checker,
    args: &[OsString],
    machines: u32,
    limits: Limits,
    stop: &Arc<AtomicBool>,
) -> std::io::Result<Ended> {
    if machines == 1 {
        return child::run(checker, args, limits, stop);
    }
    let mut tried = 1;
    loop {
        let folder = std::env::temp_dir().join(format!("bombus-scale-{}-{tried}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let ended = on_loopback(checker, args, machines, limits, stop, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        let ended = ended?;
        let taken = ended.iter().any(|e| e.messages.contains("cannot listen"));
        if taken && tried < TRIES {
            tried += 1;
            continue;
        }
        let Some(first) = ended.into_iter().next() else {
            return Err(std::io::Error::other("no machine was started"));
        };
        return Ok(first);
    }
}

/// All machines at once; their ends in the order of their ranks.
fn on_loopback(
    checker: &Checker,
    args: &[OsString],
    machines: u32,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    folder: &std::path::Path,
) -> std::io::Result<Vec<Ended>> {
    let list = folder.join("hosts.txt");
    std::fs::write(&list, free_ports(machines)?.join("\n"))?;
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..machines)
            .map(|rank| {
                let mut line = args.to_vec();
                line.extend([
                    "--cluster".into(),
                    list.clone().into(),
                    "--rank".into(),
                    rank.to_string().into(),
                ]);
                scope.spawn(move || child::run(checker, &line, limits, stop))
            })
            .collect();
        let lost = || std::io::Error::other("a thread that watched a machine ended");
        runs.into_iter().map(|run| run.join().unwrap_or_else(|_| Err(lost()))).collect()
    })
}

/// Addresses of this machine on ports that are free now; they are all held until all are known.
fn free_ports(machines: u32) -> std::io::Result<Vec<String>> {
    let held: std::io::Result<Vec<TcpListener>> =
        (0..machines).map(|_| TcpListener::bind("127.0.0.1:0")).collect();
    held?.iter().map(|listener| Ok(listener.local_addr()?.to_string())).collect()
}

/// States that were sent to other machines, and those that were not sent again, of all machines together.
pub fn travelled(result: &Value) -> Option<(u64, u64)> {
    let machines = result["machines"].as_array()?;
    let sum = |field: &str| machines.iter().filter_map(|m| m[field].as_u64()).sum();
    Some((sum("sent"), sum("not_sent_again")))
}

/// What a search on several machines should take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    pub states: f64,
    /// Processor time for a state and its successors on one machine.
    pub state_seconds: f64,
    /// Successors of a state.
    pub successors: f64,
    /// The part of the successors of other machines that was not sent, because it had been before.
    pub kept: f64,
    /// Workers of each machine, and cores that all of them share.
    pub workers: u32,
    pub cores: u32,
}

impl Costs {
    /// From the runs on one machine, and the filter as the runs on several ones saw it.
    pub fn new(found: &Found, runs: &[Run], workers: u32, cores: u32) -> Option<Costs> {
        let mut alone: Vec<f64> = runs.iter().filter(|r| r.workers == 1).map(|r| r.explore).collect();
        alone.sort_by(f64::total_cmp);
        if alone.is_empty() || found.states == 0 {
            return None;
        }
        let (sent, kept) =
            runs.iter().filter_map(|r| r.travelled).fold((0, 0), |(sent, kept), (s, k)| (sent + s, kept + k));
        let states = found.states as f64;
        Some(Costs {
            states,
            state_seconds: median(&alone) * f64::from(workers.min(cores)) / states,
            successors: found.transitions as f64 / states,
            kept: if sent + kept == 0 { 0.0 } else { kept as f64 / (sent + kept) as f64 },
            workers,
            cores,
        })
    }

    /// Successors of a state that travel.
    pub fn travelling(&self, machines: f64) -> f64 {
        self.successors * (1.0 - 1.0 / machines) * (1.0 - self.kept)
    }

    /// The speed of a machine among others, as a part of its speed alone.
    pub fn efficiency(&self, machines: f64) -> f64 {
        self.state_seconds / (self.state_seconds + self.travelling(machines) * TRAVEL_SECONDS)
    }

    /// The time of the search; processes that share cores share their time.
    pub fn seconds(&self, machines: f64) -> f64 {
        let cores = (machines * f64::from(self.workers)).min(f64::from(self.cores));
        self.states * self.state_seconds / self.efficiency(machines) / cores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn costs() -> Costs {
        Costs { states: 1e6, state_seconds: 1e-6, successors: 4.0, kept: 0.25, workers: 1, cores: 64 }
    }

    #[test]
    fn a_machine_in_a_cluster_pays_for_each_successor_that_travels() {
        let costs = costs();
        // Half of four successors belong to the other machine, a quarter of these was sent before: 1.5 of 0.2 µs.
        assert!((costs.travelling(2.0) - 1.5).abs() < 1e-12);
        assert!((costs.efficiency(2.0) - 1.0 / 1.3).abs() < 1e-12);
        assert!((costs.seconds(2.0) - 0.65).abs() < 1e-12);
        assert!((costs.seconds(1.0) - 1.0).abs() < 1e-12);
        // On one core two processes take the time of both.
        assert!((Costs { cores: 1, ..costs }.seconds(2.0) - 1.3).abs() < 1e-12);
    }

    #[test]
    fn what_travelled_is_summed_over_the_machines() {
        let result =
            json!({"machines": [{"sent": 3, "not_sent_again": 1}, {"sent": 4, "not_sent_again": 0}]});
        assert_eq!(travelled(&result), Some((7, 1)));
        assert_eq!(travelled(&json!({})), None);
    }

    #[test]
    fn every_machine_gets_a_port_of_its_own() {
        let mut ports = free_ports(5).unwrap();
        ports.sort();
        ports.dedup();
        assert_eq!(ports.len(), 5);
    }
}
