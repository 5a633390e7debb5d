//! Benchmark harness: runs chosen workloads and prints figures, medians and ratios.
//!
//! Usage: `cargo run --release -p bombus-perf -- explore|table …`; without arguments it says how.
//! Never here: anything a test depends on.

mod explore;
mod table;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    match arguments.first().map(String::as_str) {
        Some("explore") => explore::run(rest),
        Some("table") => table::run(rest),
        _ => eprintln!("{}\n{}", explore::USAGE, table::USAGE),
    }
}

/// The value after `--name`, or a default.
fn option<T: std::str::FromStr>(arguments: &[String], name: &str, default: T) -> T {
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)).and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
