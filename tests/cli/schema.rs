//! The JSON result against its schema, for results of every kind.

use crate::support::binary::{Folder, bench_model, json, run};
use serde_json::Value;
use std::path::Path;

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/result.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
}

fn holds(validator: &jsonschema::Validator, what: &str, result: &Value) {
    let faults: Vec<String> =
        validator.iter_errors(result).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{what}: {}\n{result:#}", faults.join("\n"));
}

#[test]
fn results_of_every_kind_are_as_the_schema_says() {
    let validator = schema();
    let faulty = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty");
    let mut seen = std::collections::BTreeSet::new();
    let names = [
        "quantified.mch",
        "nested_call.mch",
        "buffer_closed.mch",
        "contradiction.mch",
        "division.mch",
        "lost_guard.eventb",
        "glued.ref",
        "called_counter.mch",
    ];
    for name in names {
        let path = faulty.join(name).display().to_string();
        for more in [
            &[][..],
            &["--keep-going", "--max-states", "50"],
            &["--max-states", "2"],
            &["--ltl", "G F deadlock", "--max-states", "50"],
        ] {
            let mut args = vec!["check", &path, "--json"];
            args.extend_from_slice(more);
            let result = json(&run(&args));
            holds(&validator, &format!("{name} {more:?}"), &result);
            seen.insert(result["verdict"].as_str().expect("a verdict").to_string());
        }
    }
    let counters = bench_model("counters.mch").display().to_string();
    holds(&validator, "counters", &json(&run(&["check", &counters, "--json", "--symmetry", "exact"])));
    let folder = Folder::new();
    let bad = folder.write("bad.mch", "MACHINE bad OPERATIONS a = x := END").display().to_string();
    let result = json(&run(&["check", &bad, "--json"]));
    holds(&validator, "a rejected model", &result);
    seen.insert(result["verdict"].as_str().expect("a verdict").to_string());
    assert!(["violated", "incomplete", "rejected"].iter().all(|v| seen.contains(*v)), "{seen:?}");
}

#[test]
fn the_schema_refuses_a_verified_result_with_a_violation() {
    let validator = schema();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty/quantified.mch");
    let mut result = json(&run(&["check".into(), path.display().to_string(), "--json".into()]));
    assert!(validator.is_valid(&result));
    result["verdict"] = "verified".into();
    assert!(!validator.is_valid(&result));
}
