//! Refinement: lock-step with the abstraction, and a mutation for each kind of proof obligation.

use super::{Seen, check, check_with};
use bombus::model::LoadOptions;

/// A counter that steps by a parameter; the refinement counts in two halves.
const ABSTRACT: &str = "
machine A variables x invariants @typ x∈0‥6 events
  event INITIALISATION then @ini x≔0 end
  event add any p where @ran p∈1‥2 @max x+p≤6 then @act x≔x+p end
end";

fn chain(concrete: &str) -> Seen {
    check(&format!("{concrete}\n{ABSTRACT}"))
}

#[test]
fn a_correct_refinement_with_witness_has_no_findings() {
    // x = l+r with l,r counting by turns: l=r or l=r+1, from 0+0 to 3+3: seven states in a row.
    let seen = chain(
        "machine B refines A variables l r invariants @glue x=l+r @l l∈0‥3 @r r∈0‥3 events
           event INITIALISATION then @l l≔0 @r r≔0 end
           event left refines add when @g l=r @m l<3 with @p p=1 then @act l≔l+1 end
           event right refines add when @g r<l with @p p=1 then @act r≔r+1 end end",
    );
    assert_eq!(seen, Seen { states: 7, transitions: 6, findings: vec![] });
}

#[test]
fn a_wrong_witness_is_a_finding_of_its_own_kind() {
    let seen = chain(
        "machine B refines A variables l invariants @glue x=l events
           event INITIALISATION then @l l≔0 end
           event left refines add when @m l<3 with @p p=3 then @act l≔l+1 end end",
    );
    assert!(seen.findings.contains(&"Refinement: B / left / ran / GRD".to_string()), "{seen:?}");
}

#[test]
fn a_broken_gluing_invariant_is_an_invariant_violation() {
    let seen = chain(
        "machine B refines A variables l invariants @glue x=l events
           event INITIALISATION then @l l≔0 end
           event left refines add when @m l<3 with @p p=2 then @act l≔l+1 end end",
    );
    assert!(seen.findings.iter().any(|f| f.starts_with("Invariant") && f.contains("x=l")), "{seen:?}");
}

#[test]
fn a_kept_variable_must_change_as_the_abstract_action_says() {
    let seen = chain(
        "machine B refines A variables x events
           event INITIALISATION then @ini x≔0 end
           event add refines add any p where @ran p∈1‥2 @max x+p≤6 then @act x≔x+1 end end",
    );
    assert_eq!(seen.findings, ["Refinement: B / add / act / SIM"]);
}

#[test]
fn an_empty_set_is_of_the_type_of_the_variable_that_takes_it() {
    // What the refinement assigns stands for `s'` in what the abstraction says of it, and nothing there has a type.
    for says in ["s :∈ {∅}", "s :∣ s' = ∅", "s ≔ {x∣x∈∅}", "s :∣ finite(s')"] {
        let text = format!(
            "machine A variables s invariants @typ s⊆ℤ variant card(s) events
               event INITIALISATION then @ini {says} end
               anticipated event empty then @act {says} end end
             machine B refines A variables s variant card(s) events
               event INITIALISATION then @ini s≔∅ end
               anticipated event empty refines empty then @act s≔∅ end end"
        );
        let options = LoadOptions { variants: true, ..LoadOptions::default() };
        assert_eq!(check_with(&text, &options).expect(says).findings, Vec::<String>::new(), "{says}");
    }
}

#[test]
fn a_witness_is_of_the_type_that_the_abstract_guards_give_its_parameter() {
    for says in ["p ⊆ ∅", "p ∈ {∅}", "p = ∅"] {
        let text = format!(
            "machine A variables s invariants @typ s⊆ℤ events
               event INITIALISATION then @ini s≔∅ end
               event put any p where @ran p⊆1‥2 then @act s≔p end end
             machine B refines A variables s events
               event INITIALISATION then @ini s≔∅ end
               event clear refines put with @p {says} then @act s≔∅ end end"
        );
        assert_eq!(check(&text), Seen { states: 1, transitions: 1, findings: vec![] }, "{says}");
    }
}

#[test]
fn a_new_event_must_not_change_abstract_variables() {
    let seen = chain(
        "machine B refines A variables x events
           event INITIALISATION then @ini x≔0 end
           event reset when @g x>4 then @act x≔0 end
           event add extends add end end",
    );
    assert_eq!(seen.findings, ["Refinement: B / reset / x / EQL"]);
}

#[test]
fn a_witness_without_a_solution_is_found() {
    let seen = chain(
        "machine B refines A variables x events
           event INITIALISATION then @ini x≔0 end
           event one refines add when @max x<6 with @p p∈1‥2 ∧ p<x then @act x≔x+1 end end",
    );
    assert!(seen.findings.contains(&"Refinement: B / one / p / WFIS".to_string()), "{seen:?}");
}

#[test]
fn a_merged_event_needs_one_of_the_abstract_guards() {
    let seen = check(
        "machine B refines A variables x events
           event INITIALISATION then @ini x≔0 end
           event step refines even odd when @g x<9 then @act x≔x+1 end end
         machine A variables x invariants @i x∈ℕ events
           event INITIALISATION then @ini x≔0 end
           event even when @g x mod 2=0 ∧ x<8 then @act x≔x+1 end
           event odd when @g x mod 2=1 then @act x≔x+1 end end",
    );
    assert_eq!(seen.findings, ["Refinement: B / step / even, odd / MRG"]);
}

#[test]
fn merged_events_may_do_different_things_further_up() {
    // One level up both halves look alike; two levels up the even one counts and the odd one does not.
    let seen = check(
        "machine C refines B variables x events
           event INITIALISATION then @ini x≔0 end
           event step refines even odd when @g x<4 then @act x≔x+1 end end
         machine B refines A variables x invariants @x x∈0‥4 @n n=(x+1)÷2 events
           event INITIALISATION then @ini x≔0 end
           event even refines count when @g x mod 2=0 ∧ x<4 then @act x≔x+1 end
           event odd refines rest when @g x mod 2=1 then @act x≔x+1 end end
         machine A variables n invariants @i n∈0‥2 events
           event INITIALISATION then @ini n≔0 end
           event count when @g n<2 then @act n≔n+1 end
           event rest end end",
    );
    assert_eq!(seen, Seen { states: 5, transitions: 4, findings: vec![] });
}

#[test]
fn a_false_theorem_among_the_guards_is_found_and_does_not_disable() {
    let seen = check(
        "machine M variables x invariants @i x∈0‥2 events
           event INITIALISATION then @ini x≔0 end
           event up when @g x<2 theorem @t x<1 then @act x≔x+1 end end",
    );
    assert_eq!(seen.findings, ["Assertion: M / up / t / THM"]);
}

#[test]
fn vanished_variables_follow_their_witnesses() {
    // The abstraction forgets the order of choices: v becomes any of 1‥3, the refinement counts them.
    let seen = check(
        "machine B refines A variables n invariants @n n∈0‥3 @glue v=n events
           event INITIALISATION then @n n≔0 end
           event choose refines choose when @g n<3 with @v' v'=n' then @act n≔n+1 end end
         machine A variables v invariants @v v∈0‥3 events
           event INITIALISATION then @v v≔0 end
           event choose then @act v:∈1‥3 end end",
    );
    assert_eq!(seen, Seen { states: 4, transitions: 3, findings: vec![] });
}

#[test]
fn a_witness_of_a_vanished_variable_must_satisfy_the_abstract_action() {
    let seen = check(
        "machine B refines A variables n invariants @n n∈0‥9 events
           event INITIALISATION then @n n≔0 end
           event choose refines choose when @g n<4 with @v' v'=n' then @act n≔n+1 end end
         machine A variables v invariants @v v∈0‥9 events
           event INITIALISATION then @v v≔0 end
           event choose then @act v:∈1‥3 end end",
    );
    assert_eq!(seen.findings, ["Refinement: B / choose / act / SIM"]);
}

/// Reliability row 65: what is inherited by extension counts as if it were written out.
#[test]
fn an_extended_event_is_the_abstract_event_and_more() {
    let flat = check(
        "machine M variables x n invariants @typ x∈0‥6 @n n∈0‥9 events
           event INITIALISATION then @ini x≔0 @n n≔0 end
           event add any p where @ran p∈1‥2 @max x+p≤6 @few n<3 then @act x≔x+p @cnt n≔n+1 end end",
    );
    let extended = chain(
        "machine M refines A variables x n invariants @n n∈0‥9 events
           event INITIALISATION extends INITIALISATION then @n n≔0 end
           event add extends add where @few n<3 then @cnt n≔n+1 end end",
    );
    assert_eq!(flat, extended);
    // x+n pairs reachable in at most three steps of 1 or 2: 1+2+3+4.
    assert_eq!((flat.states, flat.transitions), (10, 12));
}

/// Reliability row 67: axioms of contexts that only an extended context extends.
#[test]
fn axioms_of_the_context_of_a_context_count() {
    let seen = check(
        "machine M sees C variables x invariants @i x∈ℤ events event INITIALISATION then @a x≔c end end
         context C extends B end
         context B extends A constants c axioms @b c∈1‥3 end
         context A axioms @false 1=2 end",
    );
    assert!(seen.findings.iter().any(|f| f.starts_with("Properties")), "{seen:?}");
}

#[test]
fn three_levels_run_in_lock_step() {
    // The most concrete counter doubles as both abstractions; every level keeps its own variable.
    let seen = check(
        "machine M2 refines M1 variables c invariants @g2 b=c events
           event INITIALISATION then @c c≔0 end
           event go refines go any k where @k k=1 @c c<4 with @j j=k then @c c≔c+k end end
         machine M1 refines M0 variables b invariants @g1 a=2∗b events
           event INITIALISATION then @b b≔0 end
           event go refines go any j where @j j∈1‥1 @b b<4 with @i i=2∗j then @b b≔b+j end end
         machine M0 variables a invariants @a a∈0‥8 events
           event INITIALISATION then @a a≔0 end
           event go any i where @i i∈1‥2 @m a+i≤8 then @a a≔a+i end end",
    );
    assert_eq!(seen, Seen { states: 5, transitions: 4, findings: vec![] });
}

#[test]
fn fewer_levels_can_be_animated() {
    let text = format!(
        "machine B refines A variables l invariants @glue x=l @own l∈0‥3 events
           event INITIALISATION then @l l≔0 end
           event left refines add when @m l<3 with @p p=3 then @act l≔l+1 end end\n{ABSTRACT}"
    );
    let options = LoadOptions { abstract_levels: Some(0), ..LoadOptions::default() };
    let seen = check_with(&text, &options).expect("a model");
    assert_eq!(seen, Seen { states: 4, transitions: 3, findings: vec![] });
    // The user is told what this leaves out.
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("B.eventb");
    std::fs::write(&path, &text).expect("a file");
    let messages = bombus::model::load(&path, &options).messages();
    assert!(messages.contains("refining them is not checked: A"), "{messages}");
}

#[test]
fn convergent_events_decrease_the_variant() {
    let model = |step: &str| {
        format!(
            "machine M variables x invariants @i x∈0‥5 variant @vrn 5−x events
               event INITIALISATION then @ini x≔2 end
               convergent event go when @g x>0 ∧ x<5 then @act x≔{step} end end"
        )
    };
    let options = LoadOptions { variants: true, ..LoadOptions::default() };
    assert_eq!(check_with(&model("x+1"), &options).expect("a model").findings, Vec::<String>::new());
    assert_eq!(
        check_with(&model("x−1"), &options).expect("a model").findings,
        ["Variant: M / go / vrn / VAR"]
    );
    // Without the option nobody asks.
    assert_eq!(check(&model("x−1")).findings, Vec::<String>::new());
}

#[test]
fn a_variant_may_be_a_set_that_shrinks() {
    let text = "machine M variables s invariants @i s⊆1‥3 variant @vrn s events
         event INITIALISATION then @ini s≔1‥3 end
         convergent event take any e where @g e∈s then @act s≔s∖{e} end
         anticipated event stay when @g s≠∅ then @act s≔s end end";
    let options = LoadOptions { variants: true, ..LoadOptions::default() };
    let seen = check_with(text, &options).expect("a model");
    // All subsets of 1‥3; each is left once per element, and stay loops on all but the empty one.
    assert_eq!(seen, Seen { states: 8, transitions: 12 + 7, findings: vec![] });
}

#[test]
fn a_set_that_shrinks_without_end_is_no_variant() {
    // ℕ∖(0‥x) loses an element in each step and never runs out of them.
    let text = "machine M variables x invariants @i x∈0‥3 variant @vrn ℕ∖(0‥x) events
         event INITIALISATION then @ini x≔0 end
         convergent event go when @g x<3 then @act x≔x+1 end
         event back when @g x=3 then @act x≔0 end end";
    let options = LoadOptions { variants: true, ..LoadOptions::default() };
    let seen = check_with(text, &options).expect("a model");
    assert_eq!(seen.findings, ["Variant: M / go / vrn / FIN"]);
    assert_eq!(check_with(&text.replace('ℕ', "0‥9"), &options).expect("a model").findings, [""; 0]);
}

#[test]
fn carrier_sets_are_enumerated_by_their_partition() {
    let enumerated = check(
        "machine M sees C variables x invariants @i x∈S events
           event INITIALISATION then @a x≔a end
           event next then @a x:∈S∖{x} end end
         context C sets S constants a b c axioms @p partition(S,{a},{b},{c}) end",
    );
    assert_eq!((enumerated.states, enumerated.transitions), (3, 6));
}

/// Test of the same model in both languages: the counts must be the same.
#[test]
fn the_same_model_in_classical_b_has_the_same_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("M.mch");
    let text = "MACHINE M VARIABLES x, n INVARIANT x:0..6 & n:0..9 INITIALISATION x:=0 || n:=0 OPERATIONS
        add(p) = PRE p:1..2 & x+p<=6 & n<3 THEN x:=x+p || n:=n+1 END END";
    std::fs::write(&path, text).expect("a file");
    let classical = super::check_path(&path, &LoadOptions::default()).expect("a model");
    let eventb = check(
        "machine M variables x n invariants @typ x∈0‥6 @n n∈0‥9 events
           event INITIALISATION then @ini x≔0 @n n≔0 end
           event add any p where @ran p∈1‥2 @max x+p≤6 @few n<3 then @act x≔x+p @cnt n≔n+1 end end",
    );
    assert_eq!(classical, eventb);
}
