//! Parses the files named on the command line and prints the messages about them, with the speed at the end.

use bombus::base::diagnostic::Sources;
use bombus::syntax::parse_unit;
use std::time::Instant;

fn main() {
    // Deeply nested texts need more stack than the main thread has.
    let worker = std::thread::Builder::new().stack_size(256 << 20).spawn(parse_all).expect("a thread");
    worker.join().expect("the parser does not panic");
}

fn parse_all() {
    let (mut files, mut rejected, mut bytes, mut seconds) = (0, 0, 0, 0.0);
    for path in std::env::args().skip(1) {
        let raw = match std::fs::read(&path) {
            Ok(raw) => raw,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let text = String::from_utf8_lossy(&raw).into_owned();
        let mut sources = Sources::default();
        let file = sources.add(path.as_str(), None, text.as_str());
        let start = Instant::now();
        let parsed = parse_unit(file, &text);
        seconds += start.elapsed().as_secs_f64();
        files += 1;
        bytes += text.len();
        if parsed.tree.is_none() {
            rejected += 1;
            println!("REJECTED {path}");
        }
        for diagnostic in &parsed.diagnostics {
            println!("{}", sources.render(diagnostic));
        }
    }
    let speed = bytes as f64 / 1e6 / seconds;
    println!("{files} files, {rejected} rejected, {bytes} bytes in {seconds:.3} s, {speed:.1} MB/s");
}
