//! Types every model named on the command line and says which could not be typed.

use bombus::model::{LoadOptions, load};
use std::path::Path;

fn main() {
    let work = std::thread::Builder::new().stack_size(1 << 28).spawn(run).expect("a thread");
    work.join().expect("no panic");
}

fn run() {
    let (mut good, mut bad) = (0, 0);
    for path in std::env::args().skip(1) {
        let loaded = load(Path::new(&path), &LoadOptions::default());
        if loaded.model.is_some() {
            good += 1;
        } else {
            bad += 1;
            println!("{path}");
            for d in loaded.diagnostics.iter().take(2) {
                print!("{}", loaded.sources.render(d));
            }
        }
    }
    println!("{good} typed, {bad} not");
}
