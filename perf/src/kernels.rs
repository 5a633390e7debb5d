//! Micro-benchmarks of the kernels: loops over bits and bit matrices, the hash, and the visited set (`table`).
//!
//! Nanoseconds of CPU per call, median of some rounds. Figures of single loops are for comparing two builds of one
//! kernel, not for adding up: in a model they run on warm caches between other work.

use crate::{cpu_seconds, median, option, table};
use bombus::runs::scale::tables::columns;
use bombus_kernels::bits::matrix::{self, Shape};
use bombus_kernels::{bits, hash};
use std::hint::black_box;

pub const USAGE: &str = "kernels [--repeat 3] [--keys 2000000] [--workers 2]";

/// Sizes of the sets between which relations are measured: one word, a few, many.
const SIZES: [usize; 4] = [6, 8, 20, 64];

/// A name and what is measured under it.
type Kernel = (&'static str, fn(&Input) -> u64);

pub fn run(arguments: &[String]) {
    let repeat = option(arguments, "--repeat", 3usize);
    println!("ns of CPU per call, median of {repeat} rounds; columns: elements of each set");
    let mut rows = vec![["kernel", "6", "8", "20", "64"].map(String::from).to_vec()];
    let kernels: [Kernel; 12] = [
        ("count", |i| bits::count(&i.set) as u64),
        ("is_subset", |i| bits::is_subset(&i.set, &i.other) as u64),
        ("iter", |i| bits::iter(&i.set).map(|bit| bit as u64).sum()),
        ("hash", |i| hash::words(&i.a) as u64),
        ("single", |i| matrix::single(&i.function, i.shape, i.shape.rows / 2).unwrap_or(0) as u64),
        ("image", |i| i.with(i.words(), |out| matrix::image(&i.a, i.shape, &i.set, out))),
        ("dom", |i| i.with(i.words(), |out| matrix::dom(&i.a, i.shape, out))),
        ("inverse", |i| i.with(i.a.len(), |out| matrix::inverse(&i.a, i.shape, out))),
        ("compose", |i| i.with(i.a.len(), |out| matrix::compose(&i.a, i.shape, &i.b, i.shape, out))),
        ("override", |i| i.with(i.a.len(), |out| matrix::override_with(&i.a, &i.b, i.shape, out))),
        ("is_functional", |i| matrix::is_functional(&i.function, i.shape) as u64),
        ("closure1", |i| i.with(i.a.len(), |out| matrix::closure1(&i.a, i.shape.rows, out))),
    ];
    for (name, kernel) in kernels {
        let mut row = vec![name.to_string()];
        for size in SIZES {
            let input = Input::new(size);
            let times = (0..repeat).map(|_| per_call(|| kernel(black_box(&input)))).collect();
            row.push(format!("{:.1}", median(times) * 1e9));
        }
        rows.push(row);
    }
    print!("{}", columns(&rows));
    table::run(arguments);
}

/// Seconds of CPU of one call. The clock of the system has steps of a hundredth of a second, so the calls go on until
/// they have taken many of them.
fn per_call(mut call: impl FnMut() -> u64) -> f64 {
    let mut calls = 1u64 << 10;
    loop {
        let start = cpu_seconds();
        for _ in 0..calls {
            black_box(call());
        }
        let seconds = cpu_seconds() - start;
        if seconds >= 0.15 {
            return seconds / calls as f64;
        }
        calls *= 4;
    }
}

/// Relations over a set of some size, and subsets of it, with half of their elements.
struct Input {
    shape: Shape,
    a: Vec<u64>,
    b: Vec<u64>,
    function: Vec<u64>,
    set: Vec<u64>,
    other: Vec<u64>,
}

impl Input {
    fn new(size: usize) -> Input {
        let shape = Shape { rows: size, cols: size };
        let half = |bits: usize, seed: u64| {
            let mut set = vec![0; bits.div_ceil(64)];
            (0..bits)
                .filter(|bit| hash::mix(*bit as u64 + (seed << 32)) & 1 == 0)
                .for_each(|bit| bits::insert(&mut set, bit));
            set
        };
        let mut function = vec![0; shape.bits().div_ceil(64)];
        for row in 0..size {
            matrix::put_single(&mut function, shape, row, hash::mix(row as u64) as usize % size);
        }
        Input {
            shape,
            a: half(shape.bits(), 1),
            b: half(shape.bits(), 2),
            function,
            set: half(size, 3),
            other: half(size, 4),
        }
    }

    fn words(&self) -> usize {
        self.shape.rows.div_ceil(64)
    }

    /// Calls a kernel that writes so many words.
    fn with(&self, words: usize, kernel: impl FnOnce(&mut [u64])) -> u64 {
        let mut out = [0u64; 64];
        kernel(&mut out[..words]);
        out[0]
    }
}
