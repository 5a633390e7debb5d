//! Loads models and prints for each whether it loads, or its first error.
//!
//! `load FILE…` prints all messages; `load --list expected.csv ROOT` loads every classical row of the list and
//! prints verdict, recorded states, path, seconds, first error, constants/deferred sets as loaded and as recorded.

use bombus::model::typed::SetKind;
use bombus::model::{LoadOptions, load};
use std::path::{Path, PathBuf};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let work = std::thread::Builder::new().stack_size(1 << 30).spawn(move || match args.as_slice() {
        [flag, list, root] if flag == "--list" => whole_list(Path::new(list), Path::new(root)),
        files => {
            for file in files {
                let loaded = load(Path::new(file), &LoadOptions::default());
                print!("{}", loaded.messages());
                match loaded.model {
                    Some(m) => println!("{file}: loaded\n{:#?}", m.machine.sets),
                    None => println!("{file}: rejected"),
                }
            }
        }
    });
    if let Ok(handle) = work {
        let _ = handle.join();
    }
}

fn whole_list(list: &Path, root: &Path) {
    let text = std::fs::read_to_string(list).unwrap_or_default();
    let (mut counted, mut loaded_of_counted) = (0, 0);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() < 4 || !matches!(cells[1], "classicalB" | "refinement") {
            continue;
        }
        let path: PathBuf = root.join(cells[0]);
        let started = std::time::Instant::now();
        let loaded = load(&path, &LoadOptions::default());
        let seconds = started.elapsed().as_secs_f64();
        let is_counted = cells[3].parse::<u64>().is_ok();
        counted += usize::from(is_counted);
        loaded_of_counted += usize::from(is_counted && loaded.model.is_some());
        let verdict = if loaded.model.is_some() { "loaded" } else { "rejected" };
        let error =
            loaded.diagnostics.iter().find(|d| d.severity == bombus::base::diagnostic::Severity::Error);
        let message = error.map_or(String::new(), |d| {
            let at = d.labels.first().map_or(String::new(), |(span, _)| {
                let (line, column) = loaded.sources.position(*span);
                format!(" at {line}:{column}")
            });
            format!("{}{at}", d.message)
        });
        let figures = loaded.model.as_ref().map_or(String::new(), |m| {
            let deferred = m.machine.sets.iter().filter(|s| s.kind != SetKind::Enumerated).count();
            format!("{}/{}", m.machine.constants.len(), deferred)
        });
        let recorded = format!("{}/{}", cells[8], cells[9]);
        println!("{verdict}\t{}\t{}\t{seconds:.2}\t{message}\t{figures}\t{recorded}", cells[3], cells[0]);
    }
    println!("counted rows: {counted}, loaded: {loaded_of_counted}");
}
