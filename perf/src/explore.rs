//! The explorer on hand-written counters: states per second, speed-up, bytes per state.
//!
//! The system costs almost nothing to evaluate, so the figures are those of the explorer itself.

use crate::{cpu_seconds, median, option};
use bombus::base::budget::Budget;
use bombus::explore::{Options, Order, Store, explore};
use bombus::system::{EventId, Sink, System};
use std::time::Instant;

pub const USAGE: &str = "explore [--counters 4] [--values 40] [--words 1] [--workers 1,2] \
                         [--order bfs|dfs|mixed] [--store exact|ids|hash|disk] [--repeat 5] [--edges]";

/// `k` counters of `n` values, each step raises one and wraps around; spread over `words` words.
struct Counters {
    k: u32,
    n: u64,
    words: usize,
    events: Vec<String>,
}

impl System for Counters {
    type Worker = Vec<u64>;

    fn worker(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    fn words(&self) -> usize {
        self.words
    }

    fn packed_bits(&self) -> Option<u32> {
        (self.words == 1).then_some(8 * self.k.min(8))
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, scratch: &mut Vec<u64>, sink: &mut dyn Sink) {
        scratch.fill(0);
        sink.edge(EventId(0), 0, scratch);
    }

    fn successors(&self, scratch: &mut Vec<u64>, state: &[u64], sink: &mut dyn Sink) {
        scratch.copy_from_slice(state);
        for event in 0..self.k {
            // Eight bits per counter, dealt out to the words in turn.
            let word = event as usize % self.words;
            let shift = event / self.words as u32 * 8;
            let value = state[word] >> shift & 0xff;
            let next = if value + 1 == self.n { 0 } else { value + 1 };
            scratch[word] = state[word] & !(0xff << shift) | next << shift;
            sink.edge(EventId(event), 0, scratch);
            scratch[word] = state[word];
        }
    }

    fn check(&self, _: &mut Vec<u64>, _: &[u64], _: Option<EventId>, _: &mut dyn Sink) {}
}

pub fn run(arguments: &[String]) {
    let k = option(arguments, "--counters", 4u32);
    let n = option(arguments, "--values", 40u64);
    let words = option(arguments, "--words", 1usize);
    let repeat = option(arguments, "--repeat", 5usize);
    let order = match option(arguments, "--order", String::from("bfs")).as_str() {
        "dfs" => Order::Dfs,
        "mixed" => Order::Mixed,
        _ => Order::Bfs,
    };
    // `ids` is the store of searches that number their states: fewer than all bits of a hash ask for it.
    let (store, tag_bits) = match option(arguments, "--store", String::from("exact")).as_str() {
        "hash" => (Store::Hash, 32),
        "ids" => (Store::Exact, 31),
        "disk" => (Store::Disk, 32),
        _ => (Store::Exact, 32),
    };
    let disk = (store == Store::Disk).then(std::env::temp_dir);
    let workers: Vec<usize> = option(arguments, "--workers", String::from("1,2"))
        .split(',')
        .filter_map(|count| count.parse().ok())
        .collect();
    let system = Counters { k, n, words, events: (0..k).map(|e| format!("raise{e}")).collect() };
    println!("{k} cyclic counters of {n} values in {words} words, {order:?}, {store:?}, {repeat} runs each");
    let mut base = None;
    // The numbers of workers take turns, so that a disturbance of the machine meets all of them.
    let mut rates = vec![Vec::new(); workers.len()];
    let mut costs = vec![Vec::new(); workers.len()];
    let mut last = Vec::new();
    for _ in 0..repeat {
        last.clear();
        for (i, &workers) in workers.iter().enumerate() {
            let record_edges = arguments.iter().any(|argument| argument == "--edges");
            let options = Options {
                workers,
                order,
                store,
                tag_bits,
                disk: disk.clone(),
                record_edges,
                stack: 1 << 20,
                ..Options::default()
            };
            let (start, cpu) = (Instant::now(), cpu_seconds());
            let outcome = explore(&system, &options, &Budget::unlimited()).expect("no internal error");
            let seconds = start.elapsed().as_secs_f64();
            assert_eq!(outcome.states, n.pow(k));
            assert!(outcome.is_verified());
            rates[i].push(outcome.states as f64 / seconds);
            costs[i].push((cpu_seconds() - cpu) * 1e9 / outcome.states as f64);
            last.push(outcome);
        }
    }
    for (((workers, rates), costs), outcome) in workers.iter().zip(rates).zip(costs).zip(&last) {
        let (low, high) =
            (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
        let rate = median(rates);
        let base = *base.get_or_insert(rate);
        let shares = &outcome.shares;
        let total = (shares.evaluate + shares.insert + shares.steal + shares.idle).as_secs_f64() / 100.0;
        println!(
            "{workers} workers: {:.2} M states/s (from {:.2} to {:.2}), x{:.2}; {:.0} ns of CPU per state; {} states, {:.1} bytes each \
             ({:.1} at the peak with queues); evaluate {:.0} %, insert {:.0} %, steal {:.0} %, idle {:.0} %",
            rate / 1e6,
            low / 1e6,
            high / 1e6,
            rate / base,
            median(costs),
            outcome.states,
            outcome.bytes_per_state(),
            outcome.peak_bytes as f64 / outcome.states as f64,
            shares.evaluate.as_secs_f64() / total,
            shares.insert.as_secs_f64() / total,
            shares.steal.as_secs_f64() / total,
            shares.idle.as_secs_f64() / total,
        );
    }
}
