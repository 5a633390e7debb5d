//! Faults of lowering, machine code, sieves, tables and reductions, one at a time: each is noticed, and none gives a
//! certificate that is wrong and accepted.
//!
//! `cargo test --workspace --profile checked --features seeded-faults --test seeded_faults -- --nocapture` prints what noticed which;
//! `BOMBUS_FAULTS=part` tries only faults whose names have this part.

#[path = "../support/binary.rs"]
#[allow(dead_code)]
mod binary;
mod models;

use binary::{Folder, bombus};
use bombus_certify::certificate::Unread;
use bombus_certify::run::{Options, check};
use models::{MODELS, Model, REFINES};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// What a certificate claims: verdict, states, transitions. Of a trace and of a reduced search only the verdict is claimed.
type Claim = (bool, u64, u64);

/// How a run came out.
#[derive(Debug, PartialEq)]
enum Run {
    /// The checker rejects the certificate, for this reason.
    Rejected(String),
    /// A finding was not confirmed, or the program broke off: there is no verdict.
    Unconfirmed,
    /// The run or the check is incomplete.
    Open,
    Accepted(Claim),
}

fn run(model: &Model, options: &[&str], fault: &str) -> Run {
    let (machine, above) = model.text.split_once(REFINES).unwrap_or((model.text, ""));
    let folder = Folder::with_machine(machine);
    if !above.is_empty() {
        folder.write("A.mch", above);
    }
    let dir = folder.path("certificate");
    let limits = ["--progress", "off", "--workers", "2", "--max-states", "200000", "--time-limit", "600"];
    let output = bombus()
        .args(["check".as_ref(), folder.path("M.mch").as_os_str(), "--certificate".as_ref(), dir.as_os_str()])
        .args(["--maxint", "8", "--set-size", "3"])
        .args(limits)
        .args(options)
        .env("BOMBUS_FAULT", fault)
        .output()
        .expect("the binary runs");
    match output.status.code() {
        Some(0 | 1) => {}
        Some(3) => return Run::Open,
        Some(2) => panic!("{fault}: {}", String::from_utf8_lossy(&output.stderr)),
        _ => return Run::Unconfirmed,
    }
    match check(&dir, &Options { jobs: 1, ..Options::default() }) {
        Err(Unread::Damaged(why)) => Run::Rejected(why),
        // The program could not put its verdict into a certificate, and said so.
        Err(Unread::Missing(_)) => Run::Open,
        Ok(report) => match (report.rejected, report.open.total()) {
            (Some(why), _) => Run::Rejected(why),
            (None, 1..) => Run::Open,
            (None, 0) if report.manifest.reduced => Run::Accepted((report.manifest.verified, 0, 0)),
            (None, 0) => {
                let counts = &report.manifest.counts;
                Run::Accepted((report.manifest.verified, counts.states, counts.transitions))
            }
        },
    }
}

/// The names of all faults in the sources.
fn faults() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("kernels/src")];
    let mut names = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                let parts = text.split("fault(\"").skip(1).filter_map(|part| part.split_once('"'));
                names.extend(parts.map(|part| part.0.to_string()));
            }
        }
    }
    names
}

#[test]
fn every_fault_is_noticed_and_no_wrong_certificate_is_accepted() {
    let runs: Vec<(&Model, &[&str])> =
        MODELS.iter().flat_map(|m| m.runs.iter().map(move |options| (m, *options))).collect();
    let right: Vec<Run> = runs.iter().map(|(model, options)| run(model, options, "")).collect();
    for ((model, options), right) in runs.iter().zip(&right) {
        assert!(matches!(right, Run::Accepted(_)), "{options:?} {right:?}\n{}", model.text);
    }
    let part = std::env::var("BOMBUS_FAULTS").unwrap_or_default();
    let all = faults();
    assert!(all.len() >= 60, "there are {} faults", all.len());
    let waiting = Mutex::new(all.into_iter().filter(|name| name.contains(&part)).collect::<Vec<_>>());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(fault) = { waiting.lock().expect("no panic").pop() } {
                    let found: Vec<Run> =
                        runs.iter().map(|(model, options)| run(model, options, &fault)).collect();
                    let verdict = judge(&fault, &runs, &right, &found);
                    wrong.lock().expect("no panic").extend(verdict);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the answers under a fault.
fn judge(fault: &str, runs: &[(&Model, &[&str])], right: &[Run], found: &[Run]) -> Option<String> {
    let name = |i: usize| {
        let title = runs[i].0.text.split_whitespace().nth(1).unwrap_or_default();
        format!("{title} {}", runs[i].1.join(" "))
    };
    let different = |i: &usize| matches!(found[*i], Run::Accepted(_)) && found[*i] != right[*i];
    if let Some(i) = (0..found.len()).find(different) {
        return Some(format!("{fault}: {} is accepted: {:?} for {:?}", name(i), found[i], right[i]));
    }
    let count = |f: fn(&Run) -> bool| found.iter().filter(|r| f(r)).count();
    let (rejected, unconfirmed) =
        (count(|r| matches!(r, Run::Rejected(_))), count(|r| *r == Run::Unconfirmed));
    println!(
        "{fault}: {rejected} rejected, {unconfirmed} not confirmed, {} open",
        count(|r| *r == Run::Open)
    );
    for (i, why) in found.iter().enumerate() {
        if let Run::Rejected(why) = why {
            println!("    {}: {why}", name(i));
            break;
        }
    }
    (rejected + unconfirmed == 0).then(|| format!("{fault}: nothing notices it"))
}
