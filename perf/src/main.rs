//! Benchmark harness: runs chosen models and reports medians as ratios.
//!
//! Never here: anything a test depends on.

fn main() {
    println!("no benchmark is defined yet");
}
