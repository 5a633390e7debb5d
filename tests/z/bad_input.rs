//! Bad input: a clear message with the place, status 2, and all messages at once.

use crate::{rejected, run, zed};

fn complains(items: &str, wanted: &str) {
    let messages = rejected(&zed(items));
    assert!(messages.contains(wanted), "{items}\n{messages}");
    assert!(messages.contains("spec.tex:"), "the place is missing: {messages}");
}

#[test]
fn schemas_must_be_balanced() {
    let open = rejected("\\begin{schema}{S}\n x : \\nat\n");
    assert!(open.contains("`\\begin{schema}` is never closed") && open.contains("spec.tex:1:1"), "{open}");
    let inside = rejected("\\begin{schema}{S}\n x : \\nat\n\\begin{schema}{T} y : \\nat \\end{schema}");
    assert!(inside.contains("which is not closed") && inside.contains("spec.tex:3:1"), "{inside}");
    let other = rejected("\\begin{schema}{S} x : \\nat \\end{axdef}");
    assert!(other.contains("is closed by `\\end{axdef}`"), "{other}");
}

#[test]
fn an_unknown_environment_that_was_meant_to_be_formal_is_named() {
    let messages = rejected("\\begin{shema}{S} x : \\nat \\end{shema}");
    assert!(
        messages.contains("unknown environment `shema`") && messages.contains("did you mean `schema`"),
        "{messages}"
    );
}

#[test]
fn a_clash_of_types_across_schemas_shows_both_sides() {
    let items = r"A \defs [x : \nat] \\ B \defs [x : \power \nat] \\ C \defs A \land B";
    let messages = rejected(&zed(items));
    assert!(messages.contains("the component `x` has two types"), "{messages}");
    assert!(
        messages.contains("of type `\\num` here") && messages.contains("of type `\\power \\num` here"),
        "{messages}"
    );
}

#[test]
fn tuples_of_different_arity_clash() {
    complains(r"(1,2,3) = (1,(2,3))", "the sides of `=` are of different types");
    complains(r"((1,2),3) = (1,2,3)", r"this is of type `(\num \cross \num) \cross \num`");
    complains(r"1 \upto 3 \cup \{5\} = \{1\}", r"the left side of `\cup`");
}

#[test]
fn a_specification_without_a_state_is_refused() {
    let messages = rejected(&zed(r"Inc \defs [n, n' : 0 \upto 3 | n' = n + 1]"));
    assert!(messages.contains("there is no schema `Init`"), "{messages}");
    complains(r"Init \defs [n' : 0 \upto 3 | n' = 0]", "includes no schema");
    complains(
        r"A \defs [a : \nat] \\ B \defs [b : \nat] \\ Init \defs [A'; B']",
        "must include exactly one schema",
    );
}

#[test]
fn an_operation_on_a_state_of_another_type_is_refused() {
    complains(
        r"S \defs [n : 0 \upto 3] \\ Init \defs [S' | n' = 0] \\ Op \defs [n, n' : \power \nat | n' = n]",
        "is of another type than in the state",
    );
}

#[test]
fn invariant_and_scope_speak_of_the_state_alone() {
    let h = r"S \defs [n : 0 \upto 3] \\ Init \defs [S' | n' = 0] \\ Op \defs [\Delta S | n' = n] \\";
    complains(
        &format!(r"{h} Invariant \defs [m : \nat | m < 3]"),
        "`m` of `Invariant` is no component of the state",
    );
    complains(&format!(r"{h} Scope \defs [n : \power \nat]"), "`n` has another type in the state");
    complains(&format!(r"{h} Invariant[X] \defs [S | n < 3]"), "`Invariant` cannot be generic");
    complains(r"S \defs [n : 0 \upto 3] \\ Init[X] \defs [S' | n' = 0]", "`Init` cannot be generic");
}

#[test]
fn definitions_in_terms_of_themselves_are_refused() {
    complains(r"A \defs [B | true] \\ B \defs [A | true]", "`A` is defined in terms of itself: A → B → A");
    complains(r"a == b + 1 \\ b == a", "is defined in terms of itself");
    let names: Vec<String> = (0..2000).map(|i| format!(r"S{i}x \defs [S{}x | true]", i + 1)).collect();
    complains(&format!(r"{} \\ S2000x \defs [n : \nat]", names.join(r" \\ ")), "definitions use each other");
}

#[test]
fn a_specification_that_explodes_is_refused() {
    let doubled = (1..64).map(|i| {
        format!(r"S{i} \defs S{}x' \land S{}x''", i - 1, i - 1).replace(&format!("S{i} "), &format!("S{i}x "))
    });
    let items: Vec<String> =
        std::iter::once(r"S0x \defs [n : 0 \upto 3 | n > 1]".to_owned()).chain(doubled).collect();
    complains(&items.join(r" \\ "), "grows beyond");
}

#[test]
fn definitions_that_nest_deeply_are_refused() {
    let first = format!("a0x == 1{}", " + 1".repeat(1500));
    let rest = (1..60).map(|i| format!("a{i}x == a{}x{}", i - 1, " + 1".repeat(1500)));
    let items: Vec<String> = std::iter::once(first).chain(rest).collect();
    complains(&items.join(r" \\ "), "nest too deeply");
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in
        [(r"\{", r"\}"), ("(", ")"), ("{", "}"), (r"\langle", r"\rangle"), (r"\power (", ")")]
    {
        let items = format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
        let (status, _, messages) = run("check", "spec.tex", &zed(&items), &[]);
        assert_eq!(status, 2, "{open}");
        assert!(messages.contains("spec.tex:1:"), "{open}");
    }
}

#[test]
fn every_error_is_reported() {
    let messages =
        rejected(&zed(r"a == 1 + \{2\} \\ b == c \\ [D] \\ D == 3 \\ S \defs [x : \nat | x = \{\} \land y]"));
    assert!(messages.contains("a relation sign"), "{messages}");
    let messages =
        rejected(&zed(r"a == 1 + \{2\} \\ b == c \\ [D] \\ D == 3 \\ S \defs [x : \nat | x = \{\}]"));
    for wanted in ["the right side of `+`", "unknown name `c`", "`D` is defined twice", "the sides of `=`"] {
        assert!(messages.contains(wanted), "{wanted}\n{messages}");
    }
}

#[test]
fn a_generic_definition_without_an_equation_is_refused() {
    let messages =
        rejected("\\begin{gendef}[X] f : X \\fun X \\where \\exists x : X @ f~x = x \\end{gendef}");
    assert!(messages.contains("is not defined by an equation"), "{messages}");
}

#[test]
fn wrong_numbers_of_actual_parameters_are_refused() {
    complains(
        r"P[X] == X \cross X \\ Q == P[\nat, \nat]",
        "has 1 formal parameters, and 2 actual ones are given",
    );
    complains(
        r"B[X] \defs [c : X] \\ S \defs [B | true]",
        "has 1 formal parameters, and 0 actual ones are given",
    );
}

#[test]
fn options_of_other_languages_are_refused() {
    let text =
        zed(r"S \defs [n : 0 \upto 1] \\ Init \defs [S' | n' = 0] \\ Op \defs [\Delta S | n' = 1 - n]");
    assert_eq!(run("check", "spec.tex", &text, &["--machine", "M"]).0, 2);
    assert_eq!(run("check", "spec.tex", &text, &["--operation", "Nothing"]).0, 2);
    assert_eq!(run("check", "M.mch", "MACHINE M END", &["--operation", "Op"]).0, 2);
}

#[test]
fn what_has_no_name_or_no_beginning_is_told_with_its_place() {
    let nameless = rejected("\\begin{schema}{}\n x : \\nat\n\\end{schema}");
    assert!(nameless.contains("the name of the schema is missing"), "{nameless}");
    assert!(nameless.contains("spec.tex:1:16"), "{nameless}");
    complains(r"Op \defs [x, x' : \nat | x' = x + 1]", "there is no schema `Init`");
    complains(r"two[X, X] == X", "the formal parameter `X` stands here twice");
}

#[test]
fn formal_text_in_an_unknown_environment_is_not_passed_over() {
    let text = "\\begin{machine}\n S \\defs [n : \\nat]\n\\end{machine}";
    assert!(rejected(text).contains("unknown environment `machine`"));
    let quoted = "\\begin{verbatim}\n S \\defs [n : \\nat]\n\\end{verbatim}";
    assert!(!rejected(quoted).contains("unknown environment"));
}

#[test]
fn a_generic_definition_point_by_point_must_cover_what_is_declared() {
    let state = r"\begin{zed} S \defs [n : 0 \upto 1] \\ Init \defs [S' | n' = 0] \end{zed}";
    for (declared, defined) in [
        (r"f : X \pfun X", r"\forall x : X @ f~x = x"),
        (r"f : X \cross X \fun X", r"\forall x : X; y : \nat @ f(x, y) = x"),
        (r"f : \power (X \cross X)", r"\forall x : X; y : \nat @ (x, y) \in f \iff y = 1"),
        (r"f : X \fun X", r"\forall x : X @ f~x = f~x"),
    ] {
        let text = format!(r"\begin{{gendef}}[X] {declared} \where {defined} \end{{gendef}} {state}");
        let messages = rejected(&text);
        assert!(messages.contains("spec.tex:1:"), "{declared}: {messages}");
    }
}
