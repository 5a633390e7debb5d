//! Models in shared libraries: small ones in C, compiled by `cc`, in both flavours. Without `cc` the tests say so
//! and pass.
//!
//! The model: K counters from 0 to N. Counted without a reduction it has (N+1)^K states and K*N*(N+1)^(K-1)
//! transitions; a reduction that keeps the deadlock needs K*N+1 states.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn bombus(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bombus")).args(args).output().expect("the binary runs")
}

fn json(args: &[&str]) -> Value {
    let out = bombus(&[args, &["--json"]].concat());
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&out.stderr)))
}

/// Compiles a text to a library with this name; `None` if there is no compiler.
fn compiled(dir: &Path, name: &str, text: &str) -> Option<String> {
    let (source, library) = (dir.join("model.c"), dir.join(name));
    std::fs::write(&source, text).unwrap();
    let out = Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(&source).output();
    match out {
        Ok(out) if out.status.success() => Some(library.display().to_string()),
        Ok(out) => panic!("{}", String::from_utf8_lossy(&out.stderr)),
        Err(_) => {
            eprintln!("skipped: there is no cc");
            None
        }
    }
}

/// What both flavours share: K counters from 0 to N, one group and one guard for each.
const COMMON: &str = r#"
#define K 4
#define N 3
typedef struct { int *labels; int group; int proviso; } info_t;
typedef void (*callback_t)(void *, info_t *, int *, int *);
static int step(int t, int *in, callback_t each, void *to) {
  int out[K], i;
  if (in[t] >= N) return 0;
  for (i = 0; i < K; i++) out[i] = in[i] + (i == t);
  int label[1] = { in[t] };
  info_t info = { label, t, 0 };
  each(to, &info, out, 0);
  return 1;
}
static int row[K];
static const int *only(int t) { static int rows[K][K]; rows[t][t] = 1; return rows[t]; }
static const int *none(int t) { static int zeros[K]; return zeros; }
static const int *all(int t) { static int ones[K]; int i; for (i = 0; i < K; i++) ones[i] = 1; return ones; }
static const int *own(int t) { static int lists[K][2]; lists[t][0] = 1; lists[t][1] = t; return lists[t]; }
static const char *names[K] = { "a", "b", "c", "d" };
static void zero(int *to) { int i; for (i = 0; i < K; i++) to[i] = 0; }
"#;

const DVE: &str = r#"
void get_initial_state(char *to) { zero((int *)to); }
int have_property() { return 0; }
int get_successor(void *m, int t, int *in, callback_t each, void *to) { return step(t, in, each, to); }
int get_state_variable_count() { return K; }
const char *get_state_variable_name(int v) { return names[v]; }
int get_state_variable_type(int v) { return 0; }
int get_state_variable_type_count() { return 1; }
const char *get_state_variable_type_name(int t) { return "byte"; }
int get_state_variable_type_value_count(int t) { return 0; }
const char *get_state_variable_type_value(int t, int v) { return "?"; }
int get_transition_count() { return K; }
const int *get_transition_read_dependencies(int t) { return only(t); }
const int *get_transition_may_write_dependencies(int t) { return only(t); }
int get_guard_count() { return K; }
const int *get_guards(int t) { return own(t); }
int get_guard(void *m, int g, int *in) { return in[g] < N; }
const int *get_guard_matrix(int g) { return only(g); }
const int *get_guard_may_be_coenabled_matrix(int g) { return all(g); }
const int *get_guard_nes_matrix(int g) { return none(g); }
const int *get_guard_nds_matrix(int g) { return only(g); }
const int *get_dna_matrix(int t) { return only(t); }
"#;

const SPINS: &str = r#"
void spins_get_initial_state(int *to) { zero(to); }
int spins_get_successor(void *m, int t, int *in, callback_t each, void *to) { return step(t, in, each, to); }
int spins_get_state_size() { return K; }
const char *spins_get_state_variable_name(int v) { return names[v]; }
int spins_get_state_variable_type(int v) { return 0; }
int spins_get_type_count() { return 2; }
const char *spins_get_type_name(int t) { return t ? "action" : "digit"; }
int spins_get_type_value_count(int t) { return t ? 3 : 4; }
const char *spins_get_type_value_name(int t, int v) {
  static const char *digits[] = { "none", "one", "two", "three" };
  static const char *actions[] = { "first", "second", "third" };
  return t ? actions[v] : digits[v];
}
int spins_get_transition_groups() { return K; }
const int *spins_get_transition_read_dependencies(int t) { return only(t); }
const int *spins_get_transition_may_write_dependencies(int t) { return only(t); }
int spins_get_edge_count() { return 1; }
const char *spins_get_edge_name(int e) { return "action"; }
int spins_get_edge_type(int e) { return 1; }
int spins_get_label_count() { return 1; }
const char *spins_get_label_name(int l) { return "end_"; }
int spins_get_label(void *m, int l, int *in) { int i; for (i = 0; i < K; i++) if (in[i] < N) return 0; return 1; }
"#;

/// The same counters in B.
const COUNTERS: &str =
    "MACHINE counters VARIABLES c INVARIANT c : 0..3 --> 0..3 INITIALISATION c := (0..3) * {0}
OPERATIONS raise(i) = PRE i : 0..3 & c(i) < 3 THEN c(i) := c(i) + 1 END END";

#[test]
fn a_library_in_c_and_the_same_system_in_b_have_the_same_counts_and_verdicts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("counters.mch");
    std::fs::write(&file, COUNTERS).unwrap();
    let Some(dve) = compiled(dir.path(), "dve.so", &format!("{COMMON}{DVE}")) else { return };
    let b = json(&["check", &file.display().to_string()]);
    for workers in ["1", "3"] {
        let result = json(&["check", &dve, "--workers", workers]);
        for figure in ["states", "transitions", "depth", "initial", "verdict"] {
            assert_eq!(b[figure], result[figure], "{figure}");
        }
        assert_eq!((&result["states"], &result["transitions"]), (&256.into(), &768.into()));
        assert_eq!(result["violation"]["kind"], "deadlock");
        assert_eq!(result["violation"]["trace"].as_array().unwrap().len(), 13);
    }
    let reduced = json(&["check", &dve, "--por", "on"]);
    assert_eq!((&reduced["states"], &reduced["verdict"]), (&13.into(), &"violated".into()));
    for (formula, verdict) in [
        ("F {a = 3}", "holds"),
        ("G {a <= b}", "violated"),
        ("G {a <= 3 & a + b <= 6}", "holds"),
        ("F [group_2]", "holds"),
    ] {
        for por in ["off", "on"] {
            let result = json(&["check", &dve, "--no-deadlock", "--ltl", formula, "--por", por]);
            assert_eq!(result["temporal"][0]["verdict"], verdict, "{formula}");
        }
    }
}

#[test]
fn a_spins_library_names_its_values_and_its_proper_ends() {
    let dir = tempfile::tempdir().unwrap();
    let Some(spins) = compiled(dir.path(), "model.spins", &format!("{COMMON}{SPINS}")) else { return };
    let result = json(&["check", &spins]);
    assert_eq!((&result["states"], &result["verdict"]), (&256.into(), &"verified".into()));
    let reduced = json(&["check", &spins, "--por", "on"]);
    assert_eq!((&reduced["states"], &reduced["verdict"]), (&13.into(), &"verified".into()));
    let bad = json(&["check", &spins, "--ltl", "G {a /= two}"]);
    let last = bad["violation"]["trace"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["state"]["a"], &last["params"]["action"]), (&"two".into(), &"second".into()));
    let named = json(&["check", &spins, "--ltl", "G ([group_0(second)] => {a = one})"]);
    assert_eq!(named["temporal"][0]["verdict"], "holds");
}

#[test]
fn a_broken_assertion_of_a_library_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{COMMON}{SPINS}").replace("\"second\"", "\"assert\"");
    let Some(spins) = compiled(dir.path(), "model.spins", &text) else { return };
    let result = json(&["check", &spins]);
    assert_eq!((&result["violation"]["kind"], &result["verdict"]), (&"assertion".into(), &"violated".into()));
    assert_eq!(json(&["check", &spins, "--por", "on"])["reductions"]["por"], "off");
}

#[test]
fn a_library_with_a_property_automaton_is_never_verified() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{COMMON}{SPINS}").replace("return \"end_\"", "return \"accept_\"");
    let Some(spins) = compiled(dir.path(), "model.spins", &text) else { return };
    let result = json(&["check", &spins, "--no-deadlock"]);
    assert_eq!(result["verdict"], "incomplete");
}

#[test]
fn a_library_of_another_kind_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{COMMON}{DVE}").replace("get_transition_count", "get_another_count");
    for (text, said) in [("int x;", "neither"), (text.as_str(), "lacks the symbol `get_transition_count`")] {
        let Some(library) = compiled(dir.path(), "other.so", text) else { return };
        let out = bombus(&["check", &library]);
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2));
        assert!(told.contains(said), "{told}");
    }
    let file = dir.path().join("text.so");
    std::fs::write(&file, "no library").unwrap();
    assert_eq!(bombus(&["check", &file.display().to_string()]).status.code(), Some(2));
}
