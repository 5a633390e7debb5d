//! Bad input: a clear message that names the component and label, and nothing else.

use super::check_with;
use super::projects::{ABSTRACT, CONTEXT, LIGHTS, write, zipped};
use crate::support::binary::bombus;
use bombus::model::LoadOptions;
use std::fs;
use std::path::Path;

fn refused(path: &Path) -> String {
    super::check_path(path, &LoadOptions::default()).expect_err("bad input")
}

fn refused_text(text: &str) -> String {
    check_with(text, &LoadOptions::default()).expect_err("bad input")
}

#[test]
fn a_broken_archive_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("p.zip");
    fs::write(&path, b"PK\x03\x04 not really").expect("a file");
    assert!(refused(&path).contains("no readable archive"));
    zipped(&path, &[("readme.txt", "nothing")]);
    assert!(refused(&path).contains("no Event-B components"));
}

#[test]
fn an_archive_that_climbs_out_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("p.zip");
    zipped(&path, &[("../../M0.bum", ABSTRACT)]);
    assert!(refused(&path).contains("leads out of the archive"));
    zipped(&path, &[("/etc/M0.bum", ABSTRACT)]);
    assert!(refused(&path).contains("leads out of the archive"));
}

#[test]
fn an_archive_that_expands_without_end_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("p.zip");
    let zeros = " ".repeat(40 << 20);
    zipped(&path, &[("P/M0.bum", &zeros)]);
    assert!(fs::metadata(&path).expect("there").len() < 1 << 20);
    assert!(refused(&path).contains("larger than"));
}

#[test]
fn documents_with_entities_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><org.eventb.core.machineFile>&b;</org.eventb.core.machineFile>"#;
    write(dir.path(), &[("M0.bum", bomb)]);
    assert!(refused(dir.path()).contains("no XML file of Rodin"));
}

#[test]
fn a_wrong_schema_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &[("M0.bum", "<html><body/></html>")]);
    assert!(refused(dir.path()).contains("html"));
    write(
        dir.path(),
        &[(
            "M0.bum",
            "<org.eventb.core.machineFile><org.eventb.core.variable name='x'/></org.eventb.core.machineFile>",
        )],
    );
    assert!(refused(dir.path()).contains("has no `identifier`"));
}

#[test]
fn a_file_that_holds_another_kind_of_component_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &[("M0.bum", CONTEXT)]);
    let message = refused(dir.path());
    assert!(message.contains("M0.bum holds a context, not a machine"), "{message}");
    fs::remove_file(dir.path().join("M0.bum")).expect("removed");
    write(dir.path(), &[("C0.buc", ABSTRACT)]);
    assert!(refused(dir.path()).contains("C0.buc holds a machine, not a context"));
}

#[test]
fn a_file_cut_short_is_refused_at_its_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let half: String = ABSTRACT.lines().take(5).collect::<Vec<_>>().join("\n");
    write(dir.path(), &[("M0.bum", &half)]);
    let message = refused(dir.path());
    assert!(message.contains("M0.bum:5:"), "{message}");
}

#[test]
fn a_missing_context_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let without: Vec<(&str, &str)> = LIGHTS.iter().filter(|(n, _)| *n != "C0.buc").copied().collect();
    write(dir.path(), &without);
    let message = refused(dir.path());
    assert!(message.contains("C0") && message.contains("missing"), "{message}");
}

#[test]
fn cycles_are_refused() {
    let message = refused_text("machine A refines B events end machine B refines A events end");
    assert!(message.contains("refines itself"), "{message}");
    let message = refused_text("machine M sees C events end context C extends D end context D extends C end");
    assert!(message.contains("extends itself"), "{message}");
}

#[test]
fn an_event_that_refines_a_missing_one_is_refused() {
    let message = refused_text(
        "machine B refines A variables x events event INITIALISATION then @a x≔0 end event e refines gone then @a x≔1 end end
         machine A variables x invariants @i x∈ℕ events event INITIALISATION then @a x≔0 end end",
    );
    assert!(message.contains("B / e: the refined event gone is missing in A"), "{message}");
}

#[test]
fn a_link_that_leads_out_of_the_project_is_refused() {
    let outside = tempfile::tempdir().expect("a directory");
    write(outside.path(), &[("M0.bum", ABSTRACT)]);
    let dir = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(outside.path().join("M0.bum"), dir.path().join("M0.bum")).expect("a link");
    assert!(refused(dir.path()).contains("leads out of the project"));
}

/// Whatever is wrong, the exit status is 2 and nothing is written beside the input.
#[test]
fn bad_input_ends_with_status_two_and_writes_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("p.zip");
    zipped(&path, &[("../../M0.bum", ABSTRACT)]);
    let out = bombus().arg("check").arg(&path).current_dir(dir.path()).output().expect("the binary runs");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("leads out of the archive"));
    assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
}

#[test]
fn a_label_used_twice_is_refused() {
    let message = refused_text("machine M variables x invariants @i x∈ℕ @i x>0 events end");
    assert!(message.contains("M / i: the label is used twice"), "{message}");
    let dir = tempfile::tempdir().expect("a directory");
    let twice = CONTEXT.replace(
        "</org.eventb.core.contextFile>",
        r#"<org.eventb.core.axiom name="e" org.eventb.core.label="axm1" org.eventb.core.predicate="⊤"/></org.eventb.core.contextFile>"#,
    );
    write(dir.path(), &[("C0.buc", &twice)]);
    assert!(refused(dir.path()).contains("C0 / axm1: the label is used twice"));
    // Inherited guards and actions count as well.
    let model = |more: &str| {
        format!(
            "machine B refines A variables x y events event INITIALISATION extends INITIALISATION then @b y≔0 end
               event e extends e {more} end end
             machine A variables x invariants @i x∈ℕ events event INITIALISATION then @a x≔0 end
               event e where @g x<2 then @a x≔x+1 end end"
        )
    };
    let message = refused_text(&model("where @g x>0"));
    assert!(message.contains("B / e / g: the label is used twice, first by A"), "{message}");
    let message = refused_text(&model("then @a y≔1"));
    assert!(message.contains("B / e / a: the label is used twice, first by A"), "{message}");
    let message = refused_text(&model("then @b y≔1 @b x≔1"));
    assert!(message.contains("B / e / b: the label is used twice"), "{message}");
}

#[test]
fn two_actions_that_assign_one_variable_are_named() {
    let message = refused_text(
        "machine M variables x invariants @i x∈ℕ events event INITIALISATION then @a x≔0 end
           event e then @up x≔x+1 @down x:∈{0,1} end end",
    );
    assert!(message.contains("M / e: up and down both assign x"), "{message}");
}

#[test]
fn errors_name_component_event_and_label() {
    let message = refused_text(
        "machine M2 variables x invariants @i x∈ℕ events
           event INITIALISATION then @a x≔0 end
           event evt_enter when @grd3 x+ then @a x≔1 end end",
    );
    assert!(message.contains("M2 / evt_enter / grd3"), "{message}");
    // A type error, found much later, still knows where it stands.
    let message = refused_text(
        "machine M2 variables x invariants @i x∈ℕ events
           event INITIALISATION then @a x≔0 end
           event evt_enter when @grd3 x=TRUE then @a x≔1 end end",
    );
    assert!(message.contains("M2 / evt_enter / grd3"), "{message}");
}

#[test]
fn operators_that_cannot_be_evaluated_are_named() {
    let text = "package(load_event_b_project([],[event_b_context(none,'C',[extends(none,[]),constants(none,[identifier(none,n)]),\
        axioms(none,[equal(none,identifier(none,n),extended_expr(none,magic,[integer(none,1)],[]))]),theorems(none,[]),sets(none,[])])],\
        [theory(theory_name('T',spells),[],[],[],[],[axiomatic_def_block(b,[],[opdef(magic,[argument(x,integer_set(none))],[])],[])],[])],_)).";
    let message = refused_text(text);
    assert!(message.contains("magic") && message.contains("spells"), "{message}");
}

#[test]
fn damaged_packages_never_crash() {
    let good = "package(load_event_b_project([event_b_model(none,'M',[sees(none,[]),variables(none,[identifier(none,x)]),invariant(none,[]),theorems(none,[]),events(none,[])])],[],[],_)).";
    for cut in (0..good.len()).step_by(3) {
        let _ = check_with(&good[..cut], &LoadOptions::default());
        let mut changed = good.to_string();
        changed.replace_range(cut..=cut, "[");
        let _ = check_with(&changed, &LoadOptions::default());
    }
}
