//! The visited set alone against dashmap: time per insert, every key twice.

use crate::{cpu_seconds, median, option};
use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_kernels::visited::{Mode, Shape, Visited};
use std::hash::{BuildHasherDefault, Hasher};

pub const USAGE: &str = "table [--keys 10000000] [--workers 2] [--repeat 3]";

/// dashmap gets keys that are hashed already, as ours do.
#[derive(Default)]
struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only words are hashed")
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = hash::mix(word);
    }
}

pub fn run(arguments: &[String]) {
    let keys = option(arguments, "--keys", 10_000_000u64);
    let workers = option(arguments, "--workers", 2usize);
    let repeat = option(arguments, "--repeat", 3usize);
    println!(
        "{keys} keys, each inserted twice, {workers} workers; ns of CPU per insert (median of {repeat})"
    );
    for (name, job) in
        [("exact", ours(Mode::Exact)), ("hash", ours(Mode::Hash)), ("dashmap", Box::new(dashmap))]
    {
        let times = (0..repeat).map(|_| job(keys, workers)).collect();
        println!("{name}: {:.1} ns", median(times) * 1e9 / (2 * keys) as f64);
    }
}

/// Seconds of CPU for inserting all keys.
type Job = Box<dyn Fn(u64, usize) -> f64>;

fn ours(mode: Mode) -> Job {
    Box::new(move |keys, workers| {
        let shape = Shape {
            mode,
            words: 1,
            workers,
            slots: 1 << 13,
            tag_bits: 32,
            satellites: false,
            ..Shape::default()
        };
        let set = Visited::new(shape, &Meter::new(None)).expect("memory");
        on_all(keys, workers, |worker, chunk| {
            let mut seat = set.seat(worker);
            seat.block = 1024;
            let mut fresh = 0;
            let mut found = Vec::new();
            for batch in chunk.chunks(192) {
                let mut session = set.enter(&mut seat).expect("memory");
                found.clear();
                for key in batch {
                    let key = session.key(&[*key]).expect("memory");
                    session.prefetch(key);
                    found.push(key);
                }
                for key in &found {
                    fresh += session.insert(*key).expect("memory").fresh as usize;
                }
            }
            fresh
        })
    })
}

fn dashmap(keys: u64, workers: usize) -> f64 {
    let map: dashmap::DashMap<u64, u32, BuildHasherDefault<Given>> = Default::default();
    on_all(keys, workers, |_, chunk| chunk.iter().filter(|key| map.insert(**key, 1).is_none()).count())
}

/// Deals the keys out to the workers, every key to two places, and takes the time of all.
fn on_all(keys: u64, workers: usize, insert: impl Fn(usize, &[u64]) -> usize + Sync) -> f64 {
    let scattered = |n: u64| hash::mix(n % keys) >> 8;
    let chunks: Vec<Vec<u64>> = (0..workers as u64)
        .map(|w| {
            (0..2 * keys / workers as u64)
                .map(|i| scattered(i.wrapping_mul(7) + w * 2 * keys / workers as u64))
                .collect()
        })
        .collect();
    let start = cpu_seconds();
    let fresh: usize = std::thread::scope(|scope| {
        let insert = &insert;
        let running: Vec<_> =
            chunks.iter().enumerate().map(|(w, chunk)| scope.spawn(move || insert(w, chunk))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    let seconds = cpu_seconds() - start;
    assert!(fresh as u64 <= keys);
    seconds
}
