//! A mutation for each kind of proof obligation: it is found, under its kind and label.
//!
//! The sound model counts to three and back in a refinement; each mutation changes one formula of it.

use super::{Seen, check_all, check_with};
use bombus::model::LoadOptions;

/// The refinement keeps `x` and adds a direction; `turn` is convergent.
const SOUND: &str = "
machine M1 refines M0 sees C variables x up invariants @inv1 up∈BOOL @inv2 up=FALSE ⇒ x>0 theorem @thm1 x≤3
variant @vrn 3−x events
  event INITIALISATION then @act1 x≔0 @act2 up≔TRUE end
  event inc refines move any d where @grd1 d=1 @grd2 x<top ∧ up=TRUE theorem @thm d>0 with @p p=d then @act1 x≔x+d end
  event back refines move when @grd1 x=top with @p p=−top then @act1 x≔0 end
  convergent event turn when @grd1 x=top ∧ up=TRUE then @act1 up:∈{TRUE} end
end
machine M0 sees C variables x invariants @inv1 x∈0‥top events
  event INITIALISATION then @act1 x≔0 end
  event move any p where @grd1 x+p ∈ 0‥top then @act1 x≔x+p end
end
context C constants top axioms @axm1 top=3 theorem @axm2 top>0 end";

fn with(from: &str, to: &str) -> Seen {
    assert_eq!(SOUND.matches(from).count(), 1, "the mutation of {from}");
    check_all(&SOUND.replace(from, to), &LoadOptions { variants: true, ..LoadOptions::default() })
}

fn finds(from: &str, to: &str, finding: &str) {
    let seen = with(from, to);
    assert!(seen.findings.iter().any(|f| f == finding), "{from} → {to}: {seen:?}");
}

#[test]
fn the_sound_model_has_one_fault_and_only_with_variants() {
    // `turn` leaves everything as it is, so it does not decrease the variant; nothing else is wrong.
    let seen = check_all(SOUND, &LoadOptions::default());
    // x counts to 3 with up true; back to 0; turn loops at 3.
    assert_eq!(seen, Seen { states: 4, transitions: 5, findings: vec![] });
    assert_eq!(with("x=top ∧ up=TRUE then", "x=top ∧ up=FALSE then").findings, Vec::<String>::new());
}

#[test]
fn inv_an_invariant_that_an_event_breaks() {
    finds("@inv1 x∈0‥top", "@inv1 x∈0‥1", "Invariant: M0 / inv1: x∈0‥1");
}

#[test]
fn inv_of_the_refinement_itself() {
    finds("@inv2 up=FALSE ⇒ x>0", "@inv2 x<3", "Invariant: M1 / inv2: x<3");
}

#[test]
fn inv_an_initialisation_that_does_not_establish_the_invariant() {
    finds("@act1 x≔0 @act2 up≔TRUE", "@act1 x≔0 @act2 up≔FALSE", "Invariant: M1 / inv2: up=FALSE ⇒ x>0");
}

#[test]
fn sim_an_initialisation_that_the_abstraction_does_not_have() {
    finds(
        "@act1 x≔0 @act2 up≔TRUE",
        "@act1 x≔1 @act2 up≔TRUE",
        "Refinement: M1 / INITIALISATION / act1 / SIM",
    );
}

#[test]
fn grd_an_abstract_guard_that_does_not_follow() {
    finds("@grd2 x<top ∧", "@grd2 x≤top ∧", "Refinement: M1 / inc / grd1 / GRD");
}

#[test]
fn sim_an_action_that_the_abstraction_cannot_follow() {
    finds("with @p p=d then", "with @p p=0∗d then", "Refinement: M1 / inc / act1 / SIM");
}

#[test]
fn wfis_a_witness_without_a_value() {
    finds("with @p p=d then", "with @p p∈1‥3 ∧ p>3 then", "Refinement: M1 / inc / p / WFIS");
}

#[test]
fn fis_an_action_without_an_outcome() {
    finds("up:∈{TRUE}", "up:∈{TRUE}∖{TRUE}", "Assertion: M1 / turn / act1 / FIS");
    finds("up:∈{TRUE}", "up:∣ up'=TRUE ∧ up'=FALSE", "Assertion: M1 / turn / act1 / FIS");
}

#[test]
fn fis_an_initialisation_without_an_outcome() {
    finds("@act2 up≔TRUE", "@act2 up:∈∅", "Assertion: M1 / INITIALISATION / act2 / FIS");
}

#[test]
fn var_a_convergent_event_that_does_not_decrease_the_variant() {
    finds("up:∈{TRUE}", "up≔TRUE", "Variant: M1 / turn / vrn / VAR");
}

#[test]
fn nat_a_variant_that_is_negative() {
    finds("@vrn 3−x", "@vrn 2−x", "Variant: M1 / turn / vrn / NAT");
}

#[test]
fn thm_a_theorem_that_does_not_hold() {
    finds("theorem @thm d>0", "theorem @thm d>1", "Assertion: M1 / inc / thm / THM");
    finds("theorem @thm1 x≤3", "theorem @thm1 x≤2", "Assertion: M1 / thm1: x≤2");
    finds("theorem @axm2 top>0", "theorem @axm2 top>4", "Assertion: C / axm2: top>4");
}

#[test]
fn eql_a_new_event_that_changes_an_abstract_variable() {
    // Without the variant, which is not decreased either.
    let then = "turn when @grd1 x=top ∧ up=TRUE then";
    let text = SOUND.replace(then, &format!("{then} @act9 x≔1"));
    let seen = check_all(&text, &LoadOptions::default());
    assert_eq!(seen.findings, ["Refinement: M1 / turn / x / EQL"]);
}

#[test]
fn dlf_a_state_without_an_event() {
    let seen = with("back refines move when @grd1 x=top", "back refines move when @grd1 x>top");
    assert_eq!(
        seen.findings.iter().filter(|f| f.starts_with("Deadlock")).count(),
        0,
        "turn is enabled: {seen:?}"
    );
    let text = SOUND.replace("turn when @grd1 x=top", "turn when @grd1 x>top");
    let text = text.replace("back refines move when @grd1 x=top", "back refines move when @grd1 x>top");
    let seen = check_all(&text, &LoadOptions::default());
    assert_eq!(seen.findings.iter().filter(|f| f.starts_with("Deadlock")).count(), 1, "{seen:?}");
}

#[test]
fn wd_an_undefined_action_invariant_and_axiom() {
    let seen = with("@act1 x≔x+d", "@act1 x≔x+d÷(1−x)");
    assert!(seen.findings.iter().any(|f| f.starts_with("WellDefinedness")), "{seen:?}");
    let seen = with("@inv2 up=FALSE ⇒ x>0", "@inv2 3÷x ≥ 1 ∨ ⊤");
    assert!(
        seen.findings.iter().any(|f| f.starts_with("WellDefinedness") && f.contains("M1 / inv2")),
        "{seen:?}"
    );
    let seen = with("@axm1 top=3", "@axm1 top=3 ∧ 3÷(top−3)=1");
    assert!(seen.findings.iter().any(|f| f.starts_with("WellDefinedness")), "{seen:?}");
}

/// An abstract choice that is impossible must not silently disable the concrete event.
#[test]
fn sim_a_vanished_variable_whose_abstract_choice_is_impossible() {
    let seen = check_with(
        "machine B refines A variables n invariants @n n∈0‥2 events
           event INITIALISATION then @n n≔0 end
           event step refines step when @g n<2 then @act n≔n+1 end end
         machine A variables v invariants @v v∈0‥9 events
           event INITIALISATION then @v v≔0 end
           event step then @act v:∈{w∣w∈0‥9 ∧ w>9} end end",
        &LoadOptions::default(),
    );
    assert_eq!(seen.expect("a model").findings, ["Refinement: B / step / act / SIM"]);
}
