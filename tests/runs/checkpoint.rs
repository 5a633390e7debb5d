//! `--checkpoint` and `--resume` as a user sees them: kills, signals, limits, damage, full disks.
#![cfg(unix)]

use crate::support::binary::{Folder, bench_model, bombus, json, messages as told, program, timeless};
use crate::support::number_from_env;
use crate::support::rng::Rng;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// States in words, 19,683 of them.
const GRID: &str = "MACHINE grid
VARIABLES f INVARIANT f : 1..9 --> 0..2 INITIALISATION f := (1..9) * {0}
OPERATIONS step(i) = PRE i : 1..9 & f(i) < 2 THEN f(i) := f(i) + 1 END; back = BEGIN f := (1..9) * {0} END END";

/// Values in the pool, a constant that no list holds, several initial states; 21,845 states.
const QUEUE: &str = "MACHINE queue SETS ITEM = {a, b, c, d}
CONSTANTS next PROPERTIES next = %x.(x : NATURAL | x + 1)
VARIABLES q, n INVARIANT q : seq(ITEM) & n : NATURAL & size(q) <= 7
INITIALISATION ANY x WHERE x : ITEM THEN q := [x] || n := 1 END
OPERATIONS
  put(x) = SELECT x : ITEM & size(q) < 7 THEN q := q <- x || n := next(size(q)) END;
  get = SELECT q /= <> THEN q := tail(q) || n := size(q) - 1 END;
  turn = SELECT size(q) > 1 THEN q := tail(q) <- first(q) END
END";

/// Violated at depth 52, where many states are as bad; 27,000 states below the bound.
const WRONG: &str = "MACHINE wrong
VARIABLES x, y, z INVARIANT x : 0..29 & y : 0..29 & z : 0..29 & x + y + z /= 52
INITIALISATION x, y, z := 0, 0, 0
OPERATIONS
  ix = SELECT x < 29 THEN x := x + 1 END; iy = SELECT y < 29 THEN y := y + 1 END; iz = SELECT z < 29 THEN z := z + 1 END
END";

struct Place {
    dir: Folder,
    model: PathBuf,
}

impl Place {
    fn new(model: &str) -> Place {
        let dir = Folder::new();
        let model = dir.write("model.mch", model);
        Place { dir, model }
    }

    fn saved(&self) -> PathBuf {
        self.dir.path("saved")
    }

    fn file(&self) -> PathBuf {
        self.saved().join("search.bombus")
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut c = bombus();
        c.arg("check").arg(&self.model).arg("--json").args(more);
        if !more.contains(&"--workers") {
            c.args(["--workers", "2"]);
        }
        c.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        c
    }

    fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().unwrap()
    }

    fn path(&self) -> String {
        self.saved().display().to_string()
    }

    /// Goes on if something is saved, else starts, saving often.
    fn persistent(&self, more: &[&str]) -> Command {
        let mut c = self.command(more);
        c.args(["--checkpoint", &self.path(), "--resume", &self.path(), "--checkpoint-every", "0.02"]);
        c
    }
}

/// The result without what may differ between two runs.
fn essence(o: &Output) -> (Option<i32>, Value) {
    (o.status.code(), timeless(json(o)))
}

/// Whether a run said nothing of the model: nothing at all, or to programs that it was rejected.
fn has_no_verdict(output: &Output) -> bool {
    let result: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    output.stdout.is_empty() || result.is_some_and(|r| r["verdict"] == "rejected")
}

/// Waits that long, then kills; tells whether the run had ended by itself.
fn kill_after(mut child: Child, wait: Duration) -> Option<Output> {
    let end = Instant::now() + wait;
    while Instant::now() < end {
        if child.try_wait().unwrap().is_some() {
            return Some(child.wait_with_output().unwrap());
        }
        sleep(Duration::from_micros(300));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// Kills a run at random moments, goes on each time, and compares the end with an undisturbed run.
fn survives(model: &str, options: &[&str], kills: u64, seed: u64) {
    let place = Place::new(model);
    let started = Instant::now();
    let wanted = essence(&place.run(options));
    let whole = started.elapsed();
    let mut rng = Rng::new(seed);
    let mut killed = 0;
    let result = loop {
        // Any number of workers may go on with what another one saved.
        let workers = ["1", "2", "3", "5"][rng.below(4)];
        let mut command = place.persistent(&[options, &["--workers", workers]].concat());
        if killed == kills {
            break command.output().unwrap();
        }
        let wait = whole.mul_f64(rng.below(1000) as f64 / 1000.0) + Duration::from_millis(1);
        if let Some(output) = kill_after(command.spawn().unwrap(), wait) {
            assert_eq!(essence(&output), wanted, "after {killed} kills");
            // It ended before it was killed; from the beginning again.
            assert!(!place.file().exists(), "a search that has ended leaves nothing behind");
        }
        killed += 1;
    };
    assert_eq!(essence(&result), wanted, "after {killed} kills");
}

#[test]
fn a_search_killed_at_random_moments_ends_as_if_it_had_not_been() {
    let kills = number_from_env("BOMBUS_KILLS", 4);
    survives(GRID, &[], kills, 1);
    survives(GRID, &["--store", "hash"], kills, 2);
    survives(QUEUE, &[], kills, 3);
    survives(QUEUE, &["--store", "hash"], kills, 4);
    survives(WRONG, &[], kills, 5);
    survives(WRONG, &["--keep-going"], kills, 6);
}

#[test]
fn a_model_of_the_papers_survives_kills_in_both_stores_with_and_without_symmetry() {
    // Fifty kills of checks that take seconds: BOMBUS_KILLS=50 BOMBUS_KILL_SIZE=5 (6 on a fast machine).
    let kills = number_from_env("BOMBUS_KILLS", 2);
    let size = number_from_env("BOMBUS_KILL_SIZE", 3);
    let text = |name: &str| fs::read_to_string(bench_model("papers").join(name)).unwrap();
    let (processes, transfers) = (format!("PID={size}"), format!("TRANSFER={size}"));
    for store in ["exact", "hash"] {
        let plain = ["--set", &processes, "--store", store];
        survives(&text("peterson.mch"), &plain, kills, 20);
        let symmetric = ["--set", &transfers, "--store", store, "--symmetry", "exact"];
        survives(&text("transfers.mch"), &symmetric, kills, 21);
    }
    // A goal that is reached near the end: the trace is the same too.
    let late = [
        "--set",
        &processes,
        "--goal",
        "card(at~[{outside}]) = N - 1 & announced = PID * {1}",
        "--no-deadlock",
    ];
    survives(&text("peterson.mch"), &late, kills, 22);
}

#[test]
fn other_orders_and_temporal_formulas_survive_kills_too() {
    let kills = number_from_env("BOMBUS_KILLS", 3);
    survives(GRID, &["--order", "dfs"], kills, 7);
    survives(QUEUE, &["--order", "mixed"], kills, 8);
    survives(QUEUE, &["--ltl", "G F [get]"], kills, 9);
}

/// 27,000 states, each reached whatever the order. Of those, 603 have x + y + z = 52: with x' = 29 - x and so on these
/// are the ways to write 87 - 52 = 35 as a sum of three numbers up to 29, 37·36/2 = 666 without the bound and
/// 3·(7·6/2) = 63 fewer for the one number that is above it.
#[test]
fn in_other_orders_a_resumed_search_counts_the_same_and_shows_some_real_trace() {
    fn all<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["--keep-going", "--no-deadlock"], more].concat()
    }
    let parts = |o: &Output| {
        let (status, mut result) = essence(o);
        let object = result.as_object_mut().unwrap();
        // Depth and trace belong to breadth first.
        object.remove("depth");
        (status, object.remove("violation").unwrap(), result)
    };
    let place = Place::new(WRONG);
    let bfs = parts(&place.run(&all(&[])));
    assert_eq!((bfs.0, &bfs.2["found"]["invariant"]), (Some(1), &603.into()), "{}", bfs.2);
    for order in ["dfs", "mixed"] {
        let limited =
            place.run(&all(&["--order", order, "--checkpoint", &place.path(), "--max-states", "6000"]));
        assert!(place.file().exists(), "{}", told(&limited));
        let (status, violation, rest) =
            parts(&place.run(&all(&["--order", order, "--resume", &place.path()])));
        assert_eq!((status, &rest), (Some(1), &bfs.2), "{order}");
        let number = |step: &Value, name: &str| step["state"][name].as_str().unwrap().parse::<i64>().unwrap();
        let sums: Vec<i64> = violation["trace"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|s| s["event"] != "$setup_constants")
            .map(|s| ["x", "y", "z"].iter().map(|name| number(s, name)).sum())
            .collect();
        assert_eq!(
            sums,
            (0..=52).collect::<Vec<_>>(),
            "{order}: each step of a trace raises one number by one"
        );
    }
}

/// Clocks that go round on their own, so that the proviso asks for states again: with two elements 68,400 states and
/// 317,880 transitions, of which 95,400 are followed, and 6,840 states are asked for again in 28 rounds (measured).
const ROUNDS: &str = "MACHINE rounds SETS P
VARIABLES pc, t, u, v INVARIANT pc : P --> 0..5 & t : 0..9 & u : 0..9 & v : 0..19 & (v = 19 => u /= 5)
INITIALISATION pc := P * {0} || t, u, v := 0, 0, 0
OPERATIONS
  tick = BEGIN t := (t + 1) mod 10 END;
  tock = BEGIN u := (u + 1) mod 10 END;
  up = SELECT v < 18 THEN v := v + 1 END;
  go(p) = SELECT p : P & pc(p) < 5 THEN pc(p) := pc(p) + 1 END;
  back(p) = SELECT p : P & pc(p) = 5 & t = 3 THEN pc(p) := 0 END
END";

#[test]
fn reduced_searches_survive_kills_with_and_without_symmetry() {
    let kills = number_from_env("BOMBUS_KILLS", 3);
    for proviso in ["topo", "level"] {
        survives(ROUNDS, &["--set-size", "2", "--por", "on", "--proviso", proviso], kills, 30);
        survives(
            ROUNDS,
            &["--set-size", "3", "--por", "on", "--symmetry", "exact", "--proviso", proviso],
            kills,
            31,
        );
    }
    survives(WRONG, &["--por", "on"], kills, 32);
    survives(QUEUE, &["--por", "on"], kills, 33);
    survives(QUEUE, &["--por", "on", "--ltl", "G F {n < 3}"], kills, 34);
}

#[test]
fn a_signal_saves_the_search_and_ends_it() {
    let place = Place::new(&GRID.replace("1..9", "1..12"));
    let wanted = essence(&place.run(&[]));
    // A search that was saved is under way and hears signals. One that ends before the signal comes says nothing,
    // and the next starts from the beginning.
    let number = || fs::metadata(place.file()).ok().map(|m| m.ino());
    let mut ended_early = 0;
    for _ in 0..100 {
        let before = number();
        let mut child = place.persistent(&[]).spawn().unwrap();
        while number() == before && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        // The standard library sends no other signal than SIGKILL.
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let (status, result) = essence(&output);
        if status == Some(130) {
            ended_early += 1;
            assert_eq!(result["verdict"], "incomplete");
            assert_eq!(result["incomplete_because"][0], "interrupted");
            assert!(place.file().exists(), "{}", told(&output));
        } else {
            assert_eq!((status, result), wanted);
        }
        if ended_early == 3 {
            break;
        }
    }
    assert!(ended_early > 0, "a hundred signals were not heard");
    let result = place.run(&["--checkpoint", &place.path(), "--resume", &place.path()]);
    assert_eq!(essence(&result), wanted);
}

/// A search that a limit ended, and what it was asked.
fn saved_by_limit(model: &str, more: &[&str]) -> Place {
    let place = Place::new(model);
    let mut options = vec!["--checkpoint", "DIR", "--max-states", "6000"];
    options.extend_from_slice(more);
    let path = place.path();
    options[1] = &path;
    let output = place.run(&options);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(place.file().exists());
    place
}

#[test]
fn a_limit_saves_the_search_and_a_larger_one_goes_on() {
    for (model, more) in [(GRID, &[][..]), (QUEUE, &["--store", "hash"]), (GRID, &["--order", "dfs"])] {
        let place = saved_by_limit(model, more);
        let mut options = vec!["--resume", "DIR", "--max-states", "9000"];
        let path = place.path();
        options[1] = &path;
        options.extend_from_slice(more);
        let further = place.run(&options);
        let (status, result) = essence(&further);
        assert_eq!(status, Some(3));
        assert!(result["states"].as_u64().unwrap() >= 9000, "{result}");
        options.truncate(2);
        options.extend_from_slice(more);
        assert_eq!(essence(&place.run(&options)), essence(&place.run(more)));
        assert!(!place.file().exists());
    }
}

#[test]
fn a_search_goes_on_only_with_the_same_model_and_the_same_options() {
    let place = saved_by_limit(GRID, &[]);
    let bytes = fs::read(place.file()).unwrap();
    let path = place.path();
    let refused = |options: &[&str], why: &str| {
        let output = place.run(&[&["--resume", &path], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", told(&output));
        assert!(told(&output).contains(why), "{options:?}: {}", told(&output));
        assert!(has_no_verdict(&output), "{}", told(&output));
        assert_eq!(fs::read(place.file()).unwrap(), bytes, "what is saved stays as it is");
    };
    for options in [
        &["--store", "hash"][..],
        &["--order", "dfs"],
        &["--no-deadlock"],
        &["--keep-going"],
        &["--maxint", "7"],
        &["--goal", "f(1) = 2"],
        &["--ltl", "G {f(1) < 3}"],
        &["--strict-wd"],
    ] {
        refused(options, "the options changed since this search was saved");
    }
    refused(&["--engine", "evaluate", "--workers", "1"], "the evaluate engine cannot save its search");
    // A comment is a change of the text, a bound one of the meaning.
    for model in [GRID.replace("MACHINE", "/* seen */ MACHINE"), GRID.replace("f(i) < 2", "f(i) < 1")] {
        fs::write(&place.model, model).unwrap();
        refused(&[], "the model changed since this search was saved");
    }
    fs::write(&place.model, GRID).unwrap();
    // Limits, workers and what is printed may change.
    let other = place.run(&["--resume", &path, "--workers", "3", "--time-limit", "100", "--verbose"]);
    assert_eq!(other.status.code(), Some(0), "{}", told(&other));
    assert!(told(&other).contains("resumed"), "{}", told(&other));
}

#[test]
fn what_is_saved_is_not_overwritten_and_must_be_there_to_go_on() {
    let place = saved_by_limit(GRID, &[]);
    let again = place.run(&["--checkpoint", &place.path()]);
    assert_eq!(again.status.code(), Some(2));
    assert!(told(&again).contains("a search is saved there"), "{}", told(&again));
    let nowhere = place.run(&["--resume", "/nowhere/at/all"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(told(&nowhere).contains("no search is saved there"), "{}", told(&nowhere));
    let lonely = place.run(&["--checkpoint-every", "5"]);
    assert_eq!(lonely.status.code(), Some(2));
    for reduction in [["--por", "on"], ["--por", "ample"], ["--symmetry", "marker"]] {
        let output = place.run(&[&["--resume", &place.path()], &reduction[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    }
}

#[test]
fn two_hundred_damaged_files_are_refused() {
    let place = saved_by_limit(QUEUE, &[]);
    let other = saved_by_limit(GRID, &[]);
    let right = fs::read(place.file()).unwrap();
    let foreign = fs::read(other.file()).unwrap();
    let mut rng = Rng::new(200);
    let size = right.len();
    assert!(size > 100_000, "{size}");
    for case in 0..200 {
        let mut wrong = right.clone();
        match case % 5 {
            // Cut, from the last byte on.
            0 => wrong.truncate(size - 1 - if case < 10 { case } else { rng.below(size - 1) }),
            // One bit flipped.
            1 => wrong[rng.below(size)] ^= 1 << rng.below(8),
            // Two pieces swapped.
            2 => {
                let piece = 1 + rng.below(5000);
                let (a, b) = (rng.below(size / 2), size / 2 + rng.below(size / 2));
                let piece = piece.min(wrong.len() - b).min(b - a);
                for i in 0..piece {
                    wrong.swap(a + i, b + i);
                }
            }
            // The end of another one, or zeros.
            3 => {
                let at = rng.below(size.min(foreign.len()));
                wrong.truncate(at);
                wrong.extend_from_slice(&foreign[at..]);
            }
            _ => {
                let at = rng.below(size - 64);
                let end = if case % 2 == 0 { wrong.len() } else { at + 64 };
                wrong[at..end].fill(0);
            }
        }
        if wrong == right {
            continue;
        }
        fs::write(place.file(), &wrong).unwrap();
        let output = place.run(&["--resume", &place.path()]);
        assert_eq!(output.status.code(), Some(2), "case {case}: {}", told(&output));
        assert!(has_no_verdict(&output));
        let message = told(&output);
        assert!(message.contains("damaged") || message.contains("changed since"), "case {case}: {message}");
    }
    fs::write(place.file(), &right).unwrap();
    let output = place.run(&["--resume", &place.path()]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn a_disk_that_is_full_costs_the_saving_and_not_the_result() {
    let place = Place::new(QUEUE);
    let wanted = essence(&place.run(&[]));
    let run = |blocks: &str, resume: bool| {
        // Files beyond so many blocks of 1024 bytes cannot be written.
        let mut c = Command::new("bash");
        c.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", blocks, program()]);
        // So often that no machine visits all states before the search is to be saved.
        c.arg("check").arg(&place.model).args(["--json", "--checkpoint-every", "0.001"]);
        c.arg("--checkpoint").arg(place.saved());
        if resume {
            c.arg("--resume").arg(place.saved());
        }
        c.output().unwrap()
    };
    let output = run("16", false);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let (_, mut result) = essence(&output);
    let warnings = result["warnings"].take();
    let first = warnings[0].as_str().unwrap_or_else(|| panic!("nothing was to be saved: {warnings}"));
    assert!(first.contains("could not be saved") && first.contains("search.bombus.new"), "{first}");
    result["warnings"] = wanted.1["warnings"].clone();
    assert_eq!((Some(0), result), wanted);
    // What was saved before stays, and is good.
    let output = place.run(&["--checkpoint", &place.path(), "--max-states", "9000"]);
    assert_eq!(output.status.code(), Some(3));
    let before = fs::read(place.file()).unwrap();
    let copy = place.dir.path("copy");
    fs::copy(place.file(), &copy).unwrap();
    let output = run("16", true);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    fs::create_dir_all(place.saved()).unwrap();
    fs::copy(&copy, place.file()).unwrap();
    assert_eq!(fs::read(place.file()).unwrap(), before);
    assert_eq!(essence(&place.run(&["--resume", &place.path()])), wanted);
}

#[test]
fn a_directory_that_cannot_be_written_is_refused_before_the_search() {
    let place = Place::new(GRID);
    let output = place.run(&["--checkpoint", "/proc/nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("/proc/nothing"), "{}", told(&output));
}

#[test]
fn what_is_saved_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = saved_by_limit(GRID, &[]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place.saved()), mode(&place.file())), (0o700, 0o600));
    let names: Vec<_> = fs::read_dir(place.saved()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["search.bombus"], "nothing half-written is left");
}
