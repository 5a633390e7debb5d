//! Certificates of proofs by k-induction and IC3: what is written, and what a checker without the engines makes of it.

use crate::support::binary::{Folder, bombus, json, messages};
use bombus_certify::certificate::Unread;
use bombus_certify::proof::{Proved, check, is_one};
use std::fs;
use std::path::Path;

/// x never is -1, which needs that x stays positive: one clause for IC3.
const POSITIVE: &str = "MACHINE M VARIABLES x INVARIANT x : INTEGER & x /= -1 INITIALISATION x := 0
OPERATIONS up = x := x + 1; rest = skip END";
/// Two good states in a row rule -2 out.
const TWO: &str = "MACHINE M VARIABLES x INVARIANT x >= -2 & x /= -1 INITIALISATION x := 0
OPERATIONS up(i) = PRE i : 1..64 THEN x := x + i END END";
/// Sets, relations, truth values and elements in one invariant that is far from inductive.
const LAMPS: &str = "MACHINE M SETS COLOUR = {red, green} VARIABLES lit, c, on
INVARIANT lit <: COLOUR & c : COLOUR & on : BOOL & (on = TRUE => c : lit)
INITIALISATION lit, c, on := {}, red, FALSE
OPERATIONS switch = SELECT on = FALSE THEN lit := {c} || on := TRUE END;
  off = SELECT on = TRUE THEN lit := {} || on := FALSE END;
  turn = SELECT on = FALSE & lit = {} THEN c :: COLOUR END END";

/// The certificate of a machine that an engine verifies.
fn certified(text: &str, engine: &str) -> Folder {
    let folder = Folder::with_machine(text);
    let dir = folder.path("certificate");
    let dir = dir.to_str().expect("a plain path");
    let output = folder.check(&["--engine", engine, "--certificate", dir]);
    assert_eq!(output.status.code(), Some(0), "{engine}: {}", messages(&output));
    assert_eq!(json(&output)["verdict"], "verified");
    folder
}

fn answer(dir: &Path) -> Result<Proved, String> {
    match check(dir, &bombus_certify::run::Options::default()) {
        Ok(proved) if proved.rejected.is_none() => Ok(proved),
        Ok(proved) => Err(proved.text()),
        Err(Unread::Damaged(why) | Unread::Missing(why)) => Err(why),
    }
}

#[test]
fn proofs_are_accepted_and_say_what_they_rest_on() {
    for (text, engine, refutations, finite) in [
        // init, one for each event, safe
        (POSITIVE, "ic3", 4, false),
        (LAMPS, "ic3", 5, true),
        (LAMPS, "kind", 5, true),
        // init, paths of 0 and 1 operations, step
        (TWO, "kind", 4, false),
    ] {
        let folder = certified(text, engine);
        let dir = folder.path("certificate");
        assert!(is_one(&dir), "{engine}: {text}");
        let proved = answer(&dir).unwrap_or_else(|why| panic!("{engine} of {text}: {why}"));
        // Where the states of the model come to an end, nothing rests on the meaning of the clauses.
        let status = if finite { 0 } else { 3 };
        assert_eq!((proved.shown.len(), proved.status()), (refutations, status), "{}", proved.text());
        let believed =
            proved.text().contains("believed     the clauses say what the model and invariant.b say");
        assert_eq!(believed, !finite, "{}", proved.text());
        assert_eq!(proved.text().contains("explored     all "), finite, "{}", proved.text());
    }
}

#[test]
fn the_invariant_of_a_certificate_is_inductive_as_the_invariant_of_a_model() {
    for text in [POSITIVE, LAMPS] {
        let folder = certified(text, "ic3");
        let found =
            fs::read_to_string(folder.path("certificate").join("invariant.b")).expect("the invariant");
        let (head, rest) = text.split_once("INVARIANT").expect("an invariant");
        let (_, tail) = rest.split_once("INITIALISATION").expect("an initialisation");
        let strong = format!("{head}INVARIANT {found} INITIALISATION{tail}");
        let again = Folder::with_machine(&strong);
        let output = again.check(&["--engine", "kind", "--max-k", "0", "--proof-info", "off"]);
        assert_eq!(output.status.code(), Some(0), "{strong}\n{}", messages(&output));
    }
}

#[test]
fn a_certificate_with_a_change_in_any_file_is_refused() {
    let folder = certified(POSITIVE, "ic3");
    let dir = folder.path("certificate");
    let names: Vec<String> = fs::read_dir(&dir)
        .expect("the directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    assert_eq!(names.len(), 11, "manifest, model, invariant and four refutations: {names:?}");
    for name in names.iter().filter(|n| *n != "manifest.json") {
        let path = dir.join(name);
        let before = fs::read(&path).expect("the file");
        for changed in [[&before[..], b"\n"].concat(), before[..before.len() / 2].to_vec()] {
            fs::write(&path, changed).expect("the file is written");
            let why = answer(&dir).expect_err("a changed file");
            assert!(why.contains("hash differs") || why.contains("no text"), "{name}: {why}");
        }
        fs::remove_file(&path).expect("the file is removed");
        assert!(answer(&dir).is_err(), "{name}");
        fs::write(&path, before).expect("the file is written");
    }
    assert!(answer(&dir).is_ok());
}

#[test]
fn a_refutation_with_a_change_is_refused_also_if_its_hash_is_made_to_fit() {
    let folder = certified(POSITIVE, "ic3");
    let dir = folder.path("certificate");
    let manifest = fs::read_to_string(dir.join("manifest.json")).expect("the manifest");
    let write =
        |json: &serde_json::Value| fs::write(dir.join("manifest.json"), sealed(json)).expect("written");
    let rehashed = |name: &str, text: &str| {
        use sha2::Digest;
        let mut json: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
        let hash: String = sha2::Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
        json["hashes"][name] = hash.into();
        fs::write(dir.join(name), text).expect("written");
        write(&json);
    };
    for name in ["init.lrat", "step_1.lrat", "step_1.cnf"] {
        let before = fs::read_to_string(dir.join(name)).expect("the file");
        let lines: Vec<&str> = before.lines().collect();
        // The last line of a refutation is the empty clause; the header of a CNF counts its clauses.
        rehashed(name, &lines[..lines.len() - 1].join("\n"));
        let why = answer(&dir).expect_err("a shortened file");
        assert!(why.starts_with("REJECTED"), "{name}: {why}");
        rehashed(name, &before);
        assert!(answer(&dir).is_ok(), "{name}");
    }
    // An obligation less, twice the same, or one that is a path.
    let mut json: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let all = json["obligations"].as_array().expect("a list").clone();
    for wrong in [all[1..].to_vec(), [&all[..], &all[..1]].concat(), [&all[..2], &all[3..]].concat()] {
        json["obligations"] = wrong.into();
        write(&json);
        assert!(answer(&dir).is_err());
    }
    json["obligations"] = all.into();
    json["obligations"][0]["name"] = "../init".into();
    write(&json);
    assert!(answer(&dir).expect_err("a path").contains("is no name of an obligation"));
}

/// A manifest with a seal that fits, as whoever alters it on purpose would write it.
fn sealed(manifest: &serde_json::Value) -> String {
    use bombus_certify::states::{hex, sha256};
    let mut json = manifest.clone();
    json.as_object_mut().expect("an object").shift_remove("seal");
    json["seal"] = hex(&sha256(json.to_string().as_bytes())).into();
    json.to_string()
}

/// Whoever writes a manifest can put any clauses without a model into it.
#[test]
fn clauses_of_another_model_do_not_prove_a_model_with_a_finding() {
    let right = "MACHINE M VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0
        OPERATIONS up = SELECT x < 9 THEN x := x + 1 END; down = SELECT x > 0 THEN x := x - 1 END END";
    let folder = certified(right, "ic3");
    let dir = folder.path("certificate");
    assert_eq!(answer(&dir).expect("a right proof").status(), 0);
    let core = fs::read_to_string(dir.join("model.core")).expect("the model");
    let wrong = core.replacen("(< x 9)", "(< x 12)", 1);
    assert_ne!(core, wrong, "the guard stands in the model");
    let mut manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.join("manifest.json")).expect("the manifest"))
            .expect("JSON");
    use sha2::Digest;
    let hash: String = sha2::Sha256::digest(wrong.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
    manifest["hashes"]["model.core"] = hash.into();
    fs::write(dir.join("model.core"), wrong).expect("written");
    fs::write(dir.join("manifest.json"), sealed(&manifest)).expect("written");
    let why = answer(&dir).expect_err("a finding");
    assert!(why.contains("whatever the clauses say: invariant"), "{why}");
}

#[test]
fn a_violation_that_a_solver_found_has_a_trace_as_its_certificate() {
    let folder = Folder::with_machine(
        "MACHINE M VARIABLES x INVARIANT x < 3 INITIALISATION x := 0 OPERATIONS up = x := x + 1 END",
    );
    for engine in ["bmc", "kind", "ic3", "portfolio"] {
        let dir = folder.path(engine);
        let mut command = bombus();
        command.arg("check").arg(folder.path("M.mch")).args(["--engine", engine, "--certificate"]).arg(&dir);
        assert_eq!(command.output().expect("the binary runs").status.code(), Some(1), "{engine}");
        let report = bombus_certify::run::check(&dir, &bombus_certify::run::Options::default());
        let report = report.unwrap_or_else(|e| panic!("{engine}: {e:?}"));
        assert_eq!((report.status(), report.manifest.verified), (0, false), "{engine}: {}", report.text());
    }
}
