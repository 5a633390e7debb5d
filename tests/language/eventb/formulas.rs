//! Rows K of the reference table: formulas of the mathematical language and their values.

use super::{check, truth};

/// Number in the table, formula, and how it turns out as an axiom.
const ROWS: &[(u32, &str, &str)] = &[
    (289, "−2^2 = −4", "true"),
    (290, "(−7) ÷ 2 = −3", "true"),
    (291, "7 mod 3 = 1", "true"),
    (292, "(−1) mod 2 = 1", "WD"),
    (293, "(−2)^2 = 4", "WD"),
    (294, "1↦{1}∪{2} = 1↦{1,2}", "true"),
    (295, "{1}∪{2}∩{3} = ∅", "rejected"),
    (296, "⊤∧⊤∨⊥", "rejected"),
    (297, "⊥⇒⊥⇒⊥", "rejected"),
    (298, "∀x·x∈1‥3⇒x<4", "true"),
    (299, "{x↦y∣x∈1‥2∧y=x+1} = {1↦2,2↦3}", "true"),
    (300, "{x·x∈1‥3∣x∗x} = {1,4,9}", "true"),
    (301, "partition({1,2,3},{1},{2,3})", "true"),
    (302, "partition({1,2},{1,2},{2})", "false"),
    (303, "partition({1},{1},∅)", "true"),
    (304, "prj1(1↦2) = 1", "true"),
    (305, "{1,2}◁id = {1↦1,2↦2}", "true"),
    (306, "card(ℕ) = 1", "WD"),
    (307, "finite(ℕ)", "false"),
    (308, "(∅⦂ℙ(ℤ)) = ∅", "true"),
    (309, "∅=∅", "rejected"),
    (310, "(λx↦y·x∈ℤ∧y∈ℤ∣x+y)(3↦4) = 7", "true"),
    (311, "{1↦2,3↦4,3↦5}(1) = 2", "WD"),
];

#[test]
fn formulas_have_the_values_of_the_reference_table() {
    let wrong: Vec<String> = ROWS
        .iter()
        .filter_map(|(number, formula, expected)| {
            let got = truth(formula);
            (got != *expected).then(|| format!("{number}: {formula} is {got}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Row 311 again: what is declared as a function is not asked again, what is not is asked as a whole.
#[test]
fn an_application_asks_whether_the_whole_relation_is_a_function() {
    assert_eq!(truth("∃f·f={1↦2,3↦4} ∧ f(1)=2"), "true");
    assert_eq!(truth("∃r·r={1↦2,3↦4,3↦5} ∧ r(1)=2"), "WD");
    assert_eq!(truth("{2↦1,3↦1}∼(1) = 2"), "WD");
    assert_eq!(truth("({1↦2}\u{e103}{1↦3,2↦5})(1) = 3"), "true");
    assert_eq!(truth("2^3 = 8 ∧ (1+1)^2 = 4 ∧ 0^0 = 1"), "true");
}

#[test]
fn ascii_and_unicode_are_the_same_language() {
    for (ascii, unicode) in [
        ("!x.x:1..3 => x<4", "∀x·x∈1‥3 ⇒ x<4"),
        ("{x.x:1..3|x*x} = {1,4,9}", "{x·x∈1‥3∣x∗x} = {1,4,9}"),
        ("{1|->2} <+ {1|->3} = {1|->3}", "{1↦2}\u{e103}{1↦3} = {1↦3}"),
        ("#x.x:NAT & x<1 or false", "∃x·x∈ℕ ∧ x<1 ∨ ⊥"),
        ("{1} ** {2} = {1|->2} & 2^3=8", "{1}×{2} = {1↦2} ∧ 2^3=8"),
        ("not 1/=1 & {} <: {1}", "¬1≠1 ∧ ∅⊆{1}"),
    ] {
        assert_eq!(truth(ascii), truth(unicode), "{ascii}");
    }
}

#[test]
fn restriction_chains_read_from_the_left() {
    assert_eq!(truth("{1}◁{1↦2,2↦3}▷{2} = {1↦2}"), "true");
    assert_eq!(truth("{1,2}∖{1}∖{2} = ∅"), "rejected");
    assert_eq!(truth("1↦2↦3 = (1↦2)↦3"), "true");
    assert_eq!(truth("10−3−2 = 5 ∧ 12÷2∗3 = 18"), "true");
}

/// Row 312: all actions of an event read the state before it.
#[test]
fn actions_of_an_event_are_simultaneous() {
    // x=1,y=2 and x=2,y=1: two states, one swap from each.
    let seen = check(
        "machine M variables x y invariants @i x∈ℤ @j y∈ℤ events
           event INITIALISATION then @a x≔1 @b y≔2 end
           event swap then @a x≔y @b y≔x end end",
    );
    assert_eq!((seen.states, seen.transitions), (2, 2));
}

/// Row 313: primed names are values after the event.
#[test]
fn becomes_such_that_relates_the_values_before_and_after() {
    // From 5 to 6 and 7, from 6 to 7.
    let seen = check(
        "machine M variables x invariants @i x∈ℤ events
           event INITIALISATION then @a x≔5 end
           event up then @a x :∣ x'>x ∧ x'<8 end end",
    );
    assert_eq!((seen.states, seen.transitions), (3, 3));
}

/// An application that a hypothesis guards must not rule out functions that are undefined there.
#[test]
fn a_guarded_application_leaves_partial_functions_alone() {
    // Nine partial functions between sets of two; 1=1 excludes none. For the second: each point is
    // undefined (marked or not) or mapped to one of two and marked, so 4 ways for each of two points.
    let sets = "sets U R constants u1 u2 r1 r2 loc au axioms
        @u partition(U,{u1},{u2}) @r partition(R,{r1},{r2}) @loc loc∈U⇸R @au au⊆U";
    let nine = check(&format!("context C {sets} @none au=∅ @all ∀x,r·x∈dom(loc) ∧ loc(x)=r ⇒ 1=1 end"));
    assert_eq!(nine.states, 9);
    let sixteen = check(&format!("context C {sets} @all ∀x,r·x∈dom(loc) ∧ loc(x)=r ⇒ x∈au end"));
    assert_eq!(sixteen.states, 16);
}

/// Exporters write quantifiers one by one and sequences in full; both are known for what they are.
#[test]
fn forms_of_exporters_are_read_as_one() {
    assert_eq!(truth("∀p·⊤ ⇒ (∀q·p∈1‥2→BOOL ∧ q∈1‥2⇸BOOL ⇒ p\u{e103}q∈1‥2→BOOL)"), "true");
    assert_eq!(truth("{1↦8,2↦9} ∈ {n,f·n∈ℤ ∧ n∈ℕ ∧ f∈1‥n→{8,9}∣f}"), "true");
    assert_eq!(truth("{1↦8,3↦9} ∈ {n,f·n∈ℤ ∧ n∈ℕ ∧ f∈1‥n→{8,9}∣f}"), "false");
}

#[test]
fn the_length_of_a_listed_function_is_known() {
    // One valuation: n is 5, whatever MAXINT is.
    let seen = check("context C constants n f axioms @n n>0 @f f∈1‥n→ℕ @v f={i·i∈1‥5∣i↦i∗i} end");
    assert_eq!(seen.states, 1);
}

#[test]
fn a_deferred_set_has_room_for_what_the_axioms_put_into_it() {
    // Two elements by name and one in the part that is not empty: three states, each with two ways out.
    let seen = check(
        "machine M sees C variables x invariants @i x∈S events
           event INITIALISATION then @a x≔a end
           event next then @a x:∈S∖{x} end end
         context C sets S constants a b P axioms @p partition(S,{a},{b},P) @n P≠∅ end",
    );
    assert_eq!((seen.states, seen.transitions), (3, 6));
    // Names kept apart by ¬(a=b) count as well.
    let seen = check(
        "machine M sees C variables x invariants @i x∈S events
           event INITIALISATION then @a x≔a end
           event next then @a x:∈S∖{x} end end
         context C sets S constants a b c axioms @t a∈S ∧ b∈S ∧ c∈S @d ¬(a=b) ∧ ¬(b=c) ∧ ¬(a=c) end",
    );
    assert_eq!((seen.states, seen.transitions), (3, 6));
}

#[test]
fn a_relation_that_is_not_listed_gives_the_rows_of_a_known_side() {
    let divides = "({i,j·i∈ℤ ∧ j∈ℤ ∧ (∃k·k∈0‥j ∧ j=i∗k) ∣ i↦j})";
    let of = |n: u32| format!("{{r·r∈ℤ ∧ r↦{n} ∈ {divides} ∣ r}}");
    assert_eq!(truth(&format!("{} = {{1,2,3,4,6,12}}", of(12))), "true");
    assert_eq!(truth(&format!("{}∩{} = {{1,2,3,6}}", of(12), of(18))), "true");
    // Everything divides nought.
    assert_eq!(truth(&format!("card({}) = 1", of(0))), "incomplete");
}

#[test]
fn everything_is_equal_to_itself() {
    assert_eq!(truth("∀a,b,c·a∈ℕ ∧ b∈ℕ ∧ c∈ℕ ⇒ a=a ∧ (b=b ∧ c=c)"), "true");
    assert_eq!(truth("∃a·a∈ℕ ∧ a≠a"), "false");
}

#[test]
fn a_total_function_is_found_by_an_equation_about_its_points() {
    // The domain is stated by dom(f), the images by an equation; nothing else bounds them.
    let seen =
        check("context C constants f axioms @t f∈1‥5→ℕ @e ∀x·x∈dom(f)⇒f(x)=x∗x theorem @s f(5)=25 end");
    assert_eq!((seen.states, seen.findings), (1, vec![]));
    let seen = check("context C constants f axioms @t f∈1‥3→ℙ(ℤ) @e ∀x·x∈dom(f)⇒f(x)∈{{x},{x,9}} end");
    assert_eq!(seen.states, 8);
}

#[test]
fn a_function_that_calls_itself_twice_takes_linear_time() {
    // 2^60 applications, or sixty.
    let seen = check(
        "context C constants f axioms @t f∈ℤ↔ℤ
           @f f = {x·x=0∣x↦1} ∪ {x·x∈ℕ1∣x↦f(x−1)+f(x−1)}
           theorem @v f(60) = 2^60 end",
    );
    assert_eq!((seen.states, seen.findings), (1, vec![]));
}

#[test]
fn a_function_on_more_points_than_can_be_listed_is_kept_as_it_is_written() {
    // 2^64 sets of sets of six elements.
    let seen = check(
        "context C constants f axioms @f f = {s,x·s⊆ℙ(1‥6) ∧ x∈1‥6∣(s↦x)↦{c·c∈s ∧ x∈c∣c∖{x}}}
           theorem @v f({{1,2},{3}}↦2) = {{1}} theorem @w finite(f) end",
    );
    assert_eq!((seen.states, seen.findings), (1, vec![]));
}
