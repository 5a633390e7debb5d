//! Rodin projects on disk and zipped, checked files without their sources, packages of ProB.

use super::{Seen, check_path};
use crate::support::binary::bombus;
use bombus::base::diagnostic::Sources;
use bombus::model::LoadOptions;
use bombus::model::eventb::components;
use bombus::syntax::eventb::ProofStatus;
use std::fs;
use std::io::Write;
use std::path::Path;

pub const CONTEXT: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<org.eventb.core.contextFile version="3">
<org.eventb.core.carrierSet name="a" org.eventb.core.identifier="LIGHT"/>
<org.eventb.core.constant name="b" org.eventb.core.identifier="red"/>
<org.eventb.core.constant name="c" org.eventb.core.identifier="green"/>
<org.eventb.core.axiom name="d" org.eventb.core.label="axm1" org.eventb.core.predicate="partition(LIGHT, {red}, {green})"/>
</org.eventb.core.contextFile>"#;

pub const ABSTRACT: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<org.eventb.core.machineFile version="5">
<org.eventb.core.variable name="v" org.eventb.core.identifier="go"/>
<org.eventb.core.invariant name="i" org.eventb.core.label="inv1" org.eventb.core.predicate="go ∈ BOOL"/>
<org.eventb.core.event name="e0" org.eventb.core.convergence="0" org.eventb.core.extended="false" org.eventb.core.label="INITIALISATION">
<org.eventb.core.action name="a" org.eventb.core.assignment="go ≔ FALSE" org.eventb.core.label="act1"/>
</org.eventb.core.event>
<org.eventb.core.event name="e1" org.eventb.core.convergence="0" org.eventb.core.extended="false" org.eventb.core.label="set">
<org.eventb.core.parameter name="p" org.eventb.core.identifier="new"/>
<org.eventb.core.guard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="new ≠ go"/>
<org.eventb.core.action name="a" org.eventb.core.assignment="go ≔ new" org.eventb.core.label="act1"/>
</org.eventb.core.event>
</org.eventb.core.machineFile>"#;

pub const CONCRETE: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<org.eventb.core.machineFile version="5">
<org.eventb.core.refinesMachine name="r" org.eventb.core.target="M0"/>
<org.eventb.core.seesContext name="s" org.eventb.core.target="C0"/>
<org.eventb.core.variable name="v" org.eventb.core.identifier="light"/>
<org.eventb.core.invariant name="i" org.eventb.core.label="inv1" org.eventb.core.predicate="go = bool(light = green)"/>
<org.eventb.core.event name="e0" org.eventb.core.convergence="0" org.eventb.core.extended="false" org.eventb.core.label="INITIALISATION">
<org.eventb.core.action name="a" org.eventb.core.assignment="light ≔ red" org.eventb.core.label="act1"/>
</org.eventb.core.event>
<org.eventb.core.event name="e1" org.eventb.core.convergence="0" org.eventb.core.extended="false" org.eventb.core.label="switch">
<org.eventb.core.refinesEvent name="r" org.eventb.core.target="set"/>
<org.eventb.core.parameter name="p" org.eventb.core.identifier="l"/>
<org.eventb.core.guard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="l ∈ LIGHT ∖ {light}"/>
<org.eventb.core.witness name="w" org.eventb.core.label="new" org.eventb.core.predicate="new = bool(l = green)"/>
<org.eventb.core.action name="a" org.eventb.core.assignment="light ≔ l" org.eventb.core.label="act1"/>
</org.eventb.core.event>
</org.eventb.core.machineFile>"#;

/// A third level: the switch takes a while.
pub const TIMED: &str = r#"<org.eventb.core.machineFile version="5">
<org.eventb.core.refinesMachine name="r" org.eventb.core.target="M1"/>
<org.eventb.core.seesContext name="s" org.eventb.core.target="C0"/>
<org.eventb.core.variable name="v" org.eventb.core.identifier="light"/>
<org.eventb.core.variable name="w" org.eventb.core.identifier="t"/>
<org.eventb.core.invariant name="i" org.eventb.core.label="inv1" org.eventb.core.predicate="t ∈ 0‥2"/>
<org.eventb.core.variant name="x" org.eventb.core.expression="2−t"/>
<org.eventb.core.event name="e0" org.eventb.core.convergence="0" org.eventb.core.extended="true" org.eventb.core.label="INITIALISATION">
<org.eventb.core.action name="a" org.eventb.core.assignment="t ≔ 0" org.eventb.core.label="act2"/>
</org.eventb.core.event>
<org.eventb.core.event name="e1" org.eventb.core.convergence="0" org.eventb.core.extended="true" org.eventb.core.label="switch">
<org.eventb.core.refinesEvent name="r" org.eventb.core.target="switch"/>
<org.eventb.core.guard name="g" org.eventb.core.label="grd2" org.eventb.core.predicate="t = 2"/>
<org.eventb.core.action name="a" org.eventb.core.assignment="t ≔ 0" org.eventb.core.label="act2"/>
</org.eventb.core.event>
<org.eventb.core.event name="e2" org.eventb.core.convergence="1" org.eventb.core.extended="false" org.eventb.core.label="tick">
<org.eventb.core.guard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="t &lt; 2"/>
<org.eventb.core.action name="a" org.eventb.core.assignment="t ≔ t+1" org.eventb.core.label="act1"/>
</org.eventb.core.event>
</org.eventb.core.machineFile>"#;

pub fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(dir.join(name), text).expect("a file");
    }
}

pub const LIGHTS: &[(&str, &str)] =
    &[("C0.buc", CONTEXT), ("M0.bum", ABSTRACT), ("M1.bum", CONCRETE), ("M2.bum", TIMED)];

/// Two lights and three times: six states; two ticks and one switch for each light.
fn six() -> Seen {
    Seen { states: 6, transitions: 6, findings: vec![] }
}

#[test]
fn a_directory_is_checked_at_its_most_refined_machine() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), LIGHTS);
    let options = LoadOptions { variants: true, ..LoadOptions::default() };
    assert_eq!(check_path(dir.path(), &options).expect("a model"), six());
}

#[test]
fn a_machine_can_be_named_or_pointed_at() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), LIGHTS);
    let two = Seen { states: 2, transitions: 2, findings: vec![] };
    assert_eq!(check_path(&dir.path().join("M1.bum"), &LoadOptions::default()).expect("a model"), two);
    let options = LoadOptions { machine: Some("M0".into()), ..LoadOptions::default() };
    assert_eq!(check_path(dir.path(), &options).expect("a model"), two);
    let options = LoadOptions { machine: Some("M9".into()), ..LoadOptions::default() };
    let message = check_path(dir.path(), &options).expect_err("no such machine");
    assert!(message.contains("M9") && message.contains("M0, M1, M2, C0"), "{message}");
}

#[test]
fn several_most_refined_machines_are_listed() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), LIGHTS);
    write(dir.path(), &[("Other.bum", ABSTRACT)]);
    let message = check_path(dir.path(), &LoadOptions::default()).expect_err("ambiguous");
    assert!(message.contains("M2, Other") && message.contains("--machine"), "{message}");
}

pub fn zipped(path: &Path, files: &[(&str, &str)]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("a file"));
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("written");
    }
    zip.finish().expect("an archive");
}

#[test]
fn a_zipped_project_is_read_without_unpacking() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("lights.zip");
    let files: Vec<(String, &str)> = LIGHTS.iter().map(|(n, t)| (format!("Lights/{n}"), *t)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), *t)).collect();
    zipped(&path, &files);
    assert_eq!(check_path(&path, &LoadOptions::default()).expect("a model"), six());
    assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
}

/// An archive may hold a whole workspace; `--machine` then names the project too, where the machine alone does not.
#[test]
fn a_machine_of_an_archive_with_several_projects_can_be_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("two.zip");
    let mut files: Vec<(String, &str)> = LIGHTS.iter().map(|(n, t)| (format!("Lights/{n}"), *t)).collect();
    files.push(("Small/M0.bum".into(), ABSTRACT));
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), *t)).collect();
    zipped(&path, &files);
    let named = |name: &str| LoadOptions { machine: Some(name.into()), ..LoadOptions::default() };
    let message = check_path(&path, &LoadOptions::default()).expect_err("ambiguous");
    assert!(message.contains("Lights, Small") && message.contains("--machine PROJECT/NAME"), "{message}");
    assert_eq!(check_path(&path, &named("M2")).expect("a model"), six());
    assert_eq!(check_path(&path, &named("Small/M0")).expect("a model").states, 2);
    check_path(&path, &named("M0")).expect_err("both projects have one");
    check_path(&path, &named("Other/M2")).expect_err("no such project");
}

#[test]
fn a_checked_machine_stands_in_for_a_missing_source() {
    let checked = r#"<org.eventb.core.scMachineFile org.eventb.core.accurate="true">
<org.eventb.core.scInternalContext name="C0">
<org.eventb.core.scCarrierSet name="LIGHT" org.eventb.core.type="ℙ(LIGHT)"/>
<org.eventb.core.scConstant name="red" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scConstant name="green" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scAxiom name="x" org.eventb.core.label="axm1" org.eventb.core.predicate="partition(LIGHT,{red},{green})" org.eventb.core.theorem="false"/>
</org.eventb.core.scInternalContext>
<org.eventb.core.scVariable name="light" org.eventb.core.concrete="true" org.eventb.core.abstract="false" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scInvariant name="i" org.eventb.core.label="inv1" org.eventb.core.predicate="light∈LIGHT" org.eventb.core.source="/P/M.bum|org.eventb.core.machineFile#M|org.eventb.core.invariant#i" org.eventb.core.theorem="false"/>
<org.eventb.core.scEvent name="'" org.eventb.core.label="INITIALISATION" org.eventb.core.convergence="0">
<org.eventb.core.scAction name="a" org.eventb.core.label="act1" org.eventb.core.assignment="light ≔ red"/>
</org.eventb.core.scEvent>
<org.eventb.core.scEvent name="(" org.eventb.core.label="switch" org.eventb.core.convergence="0">
<org.eventb.core.scParameter name="l" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scGuard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="l ≠ light" org.eventb.core.theorem="false"/>
<org.eventb.core.scAction name="a" org.eventb.core.label="act1" org.eventb.core.assignment="light ≔ l"/>
</org.eventb.core.scEvent>
</org.eventb.core.scMachineFile>"#;
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &[("M.bcm", checked)]);
    let seen = check_path(dir.path(), &LoadOptions::default()).expect("a model");
    assert_eq!(seen, Seen { states: 2, transitions: 2, findings: vec![] });
}

/// Checked files name each other by handles, repeat what they inherit, and need no source at all.
#[test]
fn a_chain_of_checked_files_is_the_chain_of_their_sources() {
    let context = r#"<org.eventb.core.scContextFile org.eventb.core.accurate="true">
<org.eventb.core.scCarrierSet name="LIGHT" org.eventb.core.type="ℙ(LIGHT)"/>
<org.eventb.core.scConstant name="red" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scConstant name="green" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scAxiom name="x" org.eventb.core.label="axm1" org.eventb.core.predicate="partition(LIGHT,{red},{green})" org.eventb.core.theorem="false"/>
</org.eventb.core.scContextFile>"#;
    let go = r#"<org.eventb.core.scInvariant name="i" org.eventb.core.label="inv1" org.eventb.core.predicate="go∈BOOL" org.eventb.core.source="/P/M0.bum|org.eventb.core.machineFile#M0|org.eventb.core.invariant#i" org.eventb.core.theorem="false"/>"#;
    let base = format!(
        r#"<org.eventb.core.scMachineFile org.eventb.core.accurate="true">
<org.eventb.core.scVariable name="go" org.eventb.core.concrete="true" org.eventb.core.abstract="false" org.eventb.core.type="BOOL"/>
{go}
<org.eventb.core.scEvent name="e(" org.eventb.core.label="INITIALISATION" org.eventb.core.convergence="0">
<org.eventb.core.scAction name="a" org.eventb.core.label="act1" org.eventb.core.assignment="go ≔ FALSE"/>
</org.eventb.core.scEvent>
<org.eventb.core.scEvent name="e)" org.eventb.core.label="set" org.eventb.core.convergence="0">
<org.eventb.core.scParameter name="new" org.eventb.core.type="BOOL"/>
<org.eventb.core.scGuard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="new≠go" org.eventb.core.theorem="false"/>
<org.eventb.core.scAction name="a" org.eventb.core.label="act1" org.eventb.core.assignment="go ≔ new"/>
</org.eventb.core.scEvent>
</org.eventb.core.scMachineFile>"#
    );
    let concrete = |guard: &str| {
        format!(
            r#"<org.eventb.core.scMachineFile org.eventb.core.accurate="true">
<org.eventb.core.scRefinesMachine name="r" org.eventb.core.scTarget="/P/M0.bcm|org.eventb.core.scMachineFile#M0"/>
<org.eventb.core.scSeesContext name="s" org.eventb.core.scTarget="/P/C0.bcc|org.eventb.core.scContextFile#C0"/>
<org.eventb.core.scVariable name="go" org.eventb.core.concrete="false" org.eventb.core.abstract="true" org.eventb.core.type="BOOL"/>
<org.eventb.core.scVariable name="light" org.eventb.core.concrete="true" org.eventb.core.abstract="false" org.eventb.core.type="LIGHT"/>
{go}
<org.eventb.core.scInvariant name="j" org.eventb.core.label="inv1" org.eventb.core.predicate="go=bool(light=green)" org.eventb.core.source="/P/M1.bum|org.eventb.core.machineFile#M1|org.eventb.core.invariant#i" org.eventb.core.theorem="false"/>
<org.eventb.core.scEvent name="f" org.eventb.core.label="INITIALISATION" org.eventb.core.convergence="0">
<org.eventb.core.scAction name="a" org.eventb.core.label="act1" org.eventb.core.assignment="light ≔ red"/>
</org.eventb.core.scEvent>
<org.eventb.core.scEvent name="g" org.eventb.core.label="switch" org.eventb.core.convergence="0">
<org.eventb.core.scRefinesEvent name="r" org.eventb.core.scTarget="/P/M0.bcm|org.eventb.core.scMachineFile#M0|org.eventb.core.scEvent#e)"/>
<org.eventb.core.scParameter name="l" org.eventb.core.type="LIGHT"/>
<org.eventb.core.scGuard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="{guard}" org.eventb.core.theorem="false"/>
<org.eventb.core.scWitness name="w" org.eventb.core.label="new" org.eventb.core.predicate="new=bool(l=green)"/>
<org.eventb.core.scAction name="a" org.eventb.core.label="act1" org.eventb.core.assignment="light ≔ l"/>
</org.eventb.core.scEvent>
</org.eventb.core.scMachineFile>"#
        )
    };
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &[("C0.bcc", context), ("M0.bcm", &base), ("M1.bcm", &concrete("l ∈ LIGHT∖{light}"))]);
    let seen = check_path(dir.path(), &LoadOptions::default()).expect("a model");
    assert_eq!(seen, Seen { states: 2, transitions: 2, findings: vec![] });
    // The abstract event is known by its label: a light may not be switched to itself.
    write(dir.path(), &[("M1.bcm", &concrete("l ∈ LIGHT"))]);
    let seen = check_path(dir.path(), &LoadOptions::default()).expect("a model");
    assert_eq!(seen.findings, ["Refinement: M1 / switch / grd1 / GRD"]);
}

#[test]
fn only_current_unbroken_discharged_proofs_are_believed() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), LIGHTS);
    let sequent = |name: &str, stamp: u32| {
        format!(r#"<org.eventb.core.poSequent name="{name}" org.eventb.core.poStamp="{stamp}"/>"#)
    };
    let status = |name: &str, confidence: i32, stamp: u32, broken: bool| {
        format!(
            r#"<org.eventb.core.psStatus name="{name}" org.eventb.core.confidence="{confidence}" org.eventb.core.poStamp="{stamp}" org.eventb.core.psBroken="{broken}"/>"#
        )
    };
    let names = ["set/inv1/INV", "set/act1/FIS", "inv1/WD", "set/grd1/WD"];
    let obligations: String = names.iter().map(|n| sequent(n, 3)).collect();
    let statuses = [
        status(names[0], 1000, 3, false),
        status(names[1], 1000, 2, false),
        status(names[2], 1000, 3, true),
        status(names[3], 500, 3, false),
    ];
    let bpo = format!("<org.eventb.core.poFile>{obligations}</org.eventb.core.poFile>");
    let bps = format!("<org.eventb.core.psFile>{}</org.eventb.core.psFile>", statuses.concat());
    write(dir.path(), &[("M0.bpo", &bpo), ("M0.bps", &bps)]);
    let mut sources = Sources::default();
    let project = components(dir.path(), &LoadOptions::default(), &mut sources).expect("a project");
    let believed: Vec<ProofStatus> = project.proofs.iter().map(|p| p.status).collect();
    assert_eq!(
        believed,
        [ProofStatus::Discharged, ProofStatus::Open, ProofStatus::Open, ProofStatus::Reviewed]
    );
}

#[test]
fn proof_status_is_shown_by_info() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), LIGHTS);
    let bpo = r#"<org.eventb.core.poFile><org.eventb.core.poSequent name="set/inv1/INV" org.eventb.core.poStamp="1"/>
<org.eventb.core.poSequent name="set/grd1/WD" org.eventb.core.poStamp="1"/></org.eventb.core.poFile>"#;
    let bps = r#"<org.eventb.core.psFile><org.eventb.core.psStatus name="set/inv1/INV" org.eventb.core.confidence="1000" org.eventb.core.poStamp="1"/>
<org.eventb.core.psStatus name="set/grd1/WD" org.eventb.core.confidence="0" org.eventb.core.poStamp="1"/></org.eventb.core.psFile>"#;
    write(dir.path(), &[("M0.bpo", bpo), ("M0.bps", bps), ("M1.bps", bps)]);
    let info = || {
        let out = bombus().arg("info").arg(dir.path()).output().expect("the binary runs");
        assert!(out.status.success());
        String::from_utf8(out.stdout).expect("text")
    };
    let text = info();
    assert!(text.contains("proofs      M0: 1 of 2 obligations discharged"), "{text}");
    assert!(text.contains("not proved  M0 / set / grd1 / WD"), "{text}");
    // Nobody knows what the status file of M1 speaks of: its obligations are missing.
    assert!(text.contains("proofs      M1: 0 of 2 obligations discharged"), "{text}");
}

#[test]
fn a_checked_file_with_errors_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &[("M.bcm", r#"<org.eventb.core.scMachineFile org.eventb.core.accurate="false"/>"#)]);
    let message = check_path(dir.path(), &LoadOptions::default()).expect_err("bad input");
    assert!(message.contains("M: Rodin found errors"), "{message}");
}

#[test]
fn packages_of_all_ages_are_read() {
    // The same counter as exporters wrote it over the years: event with 7, 8 and 9 arguments.
    let package = |event: &str, pos: &str, extra: &str| {
        format!(
            "package(load_event_b_project([event_b_model(none,'M',[sees(none,[]),variables(none,[identifier(none,x)]),\
             invariant(none,[member({pos},identifier(none,x),interval(none,integer(none,0),integer(none,3)))]),\
             theorems(none,[]),events(none,[{event}])])],[]{extra},_Error))."
        )
    };
    let init = "[assign(none,[identifier(none,x)],[integer(none,0)])]";
    let guard = "[less(none,identifier(none,x),integer(none,3))]";
    let step = "[assign(none,[identifier(none,x)],[add(none,identifier(none,x),integer(none,1))])]";
    let seven =
        format!("event(none,'INITIALISATION',[],[],[],{init},[]),event(none,inc,[],[],{guard},{step},[])");
    let eight = format!(
        "event(none,'INITIALISATION',ordinary(none),[],[],[],{init},[]),event(none,inc,ordinary(none),[],[],{guard},{step},[])"
    );
    let nine = format!(
        "event(none,'INITIALISATION',ordinary(none),[],[],[],[],{init},[]),event(none,inc,convergent(none),[],[],{guard},[],{step},[])"
    );
    for text in [
        package(&seven, "rodinpos(inv1,'\\140\\')", ""),
        package(&eight, "rodinpos(inv1,internal)", ",[discharged('M',inc,inv1)]"),
        package(
            &nine,
            "rodinpos('M',inv1,'_x')",
            ",[exporter_version(3),po('M','Invariant',[event(inc)],true)]",
        ),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("M.eventb");
        fs::write(&path, text).expect("a file");
        let seen = check_path(&path, &LoadOptions::default()).expect("a model");
        assert_eq!(seen, Seen { states: 4, transitions: 3, findings: vec![] });
    }
}

#[test]
fn operators_of_a_theory_are_unfolded() {
    let text = "package(load_event_b_project([],[event_b_context(none,'C',[extends(none,[]),constants(none,[identifier(none,r)]),\
        abstract_constants(none,[]),axioms(none,[equal(none,identifier(none,r),set_extension(none,[couple(none,[integer(none,1),integer(none,2)])])),\
        extended_pred(none,mirrored,[union(none,identifier(none,r),extended_expr(none,flip,[identifier(none,r)],[]))],[])]),\
        theorems(none,[]),sets(none,[])])],[theory(theory_name('T',rels),[],['A'],[],\
        [operator(flip,[argument(x,pow_subset(none,cartesian_product(none,identifier(none,'A'),identifier(none,'A'))))],truth(none),[reverse(none,identifier(none,x))],[]),\
         operator(mirrored,[argument(x,pow_subset(none,cartesian_product(none,identifier(none,'A'),identifier(none,'A'))))],truth(none),[equal(none,identifier(none,x),extended_expr(none,flip,[identifier(none,x)],[]))],[])],[],[])],_)).";
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("C.eventb");
    fs::write(&path, text).expect("a file");
    assert_eq!(check_path(&path, &LoadOptions::default()).expect("a model").states, 1);
}

#[test]
fn components_in_text_find_each_other_beside() {
    let dir = tempfile::tempdir().expect("a directory");
    let concrete = "machine B refines A sees C variables x events
        event INITIALISATION extends INITIALISATION end // the same
        event up extends up where @few x < c end end";
    let base = "machine A variables x invariants @i x ∈ ℕ events
        event INITIALISATION then @a x ≔ 0 end
        event up then @a x ≔ x+1 end end";
    write(
        dir.path(),
        &[
            ("B.eventb", concrete),
            ("A.eventb", base),
            ("C.eventb", "context C constants c axioms @c c=3 end"),
        ],
    );
    let seen = check_path(&dir.path().join("B.eventb"), &LoadOptions::default()).expect("a model");
    assert_eq!(seen, Seen { states: 4, transitions: 3, findings: vec![] });
}
