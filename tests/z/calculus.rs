//! The schema calculus, generics, bags and sequences, names and output as a user sees them.

use crate::{check, check_zed, counts, run, zed};

/// Whether a predicate over nothing but the library holds.
fn holds(predicate: &str) -> bool {
    holds_with("", predicate)
}

fn holds_with(paragraphs: &str, predicate: &str) -> bool {
    let items = format!(r"S \defs [n:0 \upto 0] \\ Init \defs [S' | n'=0 \land ({predicate})]");
    let result = check("p.tex", &format!("{paragraphs}{}", zed(&items)), &[]);
    assert_eq!(result["incomplete_because"], serde_json::json!([]), "{predicate}");
    result["initial"] == 1
}

#[test]
fn tuples_are_flat_and_have_components() {
    assert!(holds(r"(1, 2, 3).2 = 2 \land (1, 2, 3).1 = 1 \land (1, 2, 3).3 = 3"));
    assert!(holds(r"\# (\{1,2\} \cross \{1,2\} \cross \{3\}) = 4"));
    assert!(holds(r"(1, 2, 3) \in \{1\} \cross \{2\} \cross \{3\}"));
    assert!(holds(r"\{ a, b, c : 0 \upto 1 | a < b \} = \{(0,1,0), (0,1,1)\}"));
    assert!(holds(r"(\lambda a, b, c : 0 \upto 3 @ a + b + c) (1, 2, 3) = 6"));
}

#[test]
fn bindings_are_compared_by_their_components() {
    let point = r"\begin{zed} Point \defs [x, y : 0 \upto 2 | x \leq y] \end{zed}";
    assert!(holds_with(point, r"\# Point = 6"));
    assert!(holds_with(point, r"\exists Point @ \theta Point = \lblot x == 1, y == 2 \rblot"));
    assert!(holds_with(point, r"\forall p : Point @ p.x \leq p.y"));
    assert!(holds_with(point, r"\{ Point @ x + y \} = 0 \upto 4"));
    assert!(holds_with(point, r"\{ Point | x = 1 @ y \} = \{1, 2\}"));
    assert!(holds_with(point, r"\lblot x == 2, y == 1 \rblot \notin Point"));
    assert!(holds_with(point, r"(\mu Point | x = 2).y = 2"));
    assert!(holds_with(point, r"\exists Point'; Point @ \theta Point' = \theta Point"));
}

#[test]
fn bags_count() {
    assert!(holds(r"\lbag 1, 1 \rbag \uplus \lbag 1, 2 \rbag = \{1 \mapsto 3, 2 \mapsto 1\}"));
    assert!(holds(r"\lbag 1, 1, 2 \rbag \uminus \lbag 1, 2, 2 \rbag = \lbag 1 \rbag"));
    assert!(holds(r"2 \otimes \lbag 1, 2 \rbag = \lbag 1, 1, 2, 2 \rbag"));
    assert!(holds(r"count~\lbag 1, 1 \rbag~1 = 2 \land count~\lbag 1 \rbag~3 = 0"));
    assert!(holds(r"1 \inbag \lbag 1 \rbag \land \lbag 1 \rbag \subbageq \lbag 1, 1 \rbag"));
    assert!(holds(r"items~\langle 4, 5, 4 \rangle = \lbag 4, 4, 5 \rbag"));
    assert!(holds(r"\lbag 1, 1 \rbag \in \bag \{1\} \land \lbag \rbag \in \bag \{1\}"));
}

#[test]
fn sequences_have_their_operators() {
    assert!(holds(
        r"\langle 1 \rangle \prefix \langle 1, 2 \rangle \land \langle 2 \rangle \suffix \langle 1, 2 \rangle"
    ));
    assert!(holds(
        r"\langle 2, 3 \rangle \inseq \langle 1, 2, 3, 4 \rangle \land \lnot (\langle 3, 2 \rangle \inseq \langle 1, 2, 3 \rangle)"
    ));
    assert!(holds(
        r"\dcat \langle \langle 1 \rangle, \langle \rangle, \langle 2, 3 \rangle \rangle = \langle 1, 2, 3 \rangle"
    ));
    assert!(holds(r"squash~\{3 \mapsto 8, 7 \mapsto 9\} = \langle 8, 9 \rangle"));
    assert!(holds(
        r"head \langle 4, 5 \rangle = 4 \land last \langle 4, 5 \rangle = 5 \land front \langle 4, 5 \rangle = \langle 4 \rangle"
    ));
}

#[test]
fn division_rounds_down_whatever_the_signs() {
    for (a, b) in [(7i64, 2i64), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (6, -3), (0, -3)] {
        let q = a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0);
        let r = a - b * q;
        assert!(holds(&format!(r"({a}) \div ({b}) = {q} \land ({a}) \mod ({b}) = {r}")), "{a} {b}");
    }
}

#[test]
fn an_undefined_predicate_does_not_hold() {
    assert!(!holds(r"1 \div 0 = 1"));
    assert!(!holds(r"head~(\langle \rangle \cat \langle \rangle) = n'"));
    assert!(!holds(r"(\mu x : 1 \upto 2) = 1"));
}

#[test]
fn the_intersection_of_no_sets_is_the_whole_type() {
    let t = r"\begin{zed} T ::= a | b \end{zed}";
    assert!(holds_with(
        t,
        r"\bigcap \{ s : \power T | s \neq s \} = T \land \bigcap \{\{a\}, \{a, b\}\} = \{a\}"
    ));
}

#[test]
fn generic_definitions_are_instantiated_or_inferred() {
    let text = r"%%ingen \twin
%%inop \join 3
\begin{zed} X \twin Y == X \cross Y \\ Second[X] == \{ x : X; y : X @ (x, y) \mapsto y \} \end{zed}
\begin{gendef}[X] none : \power X \where none = \{ x : X | false \} \end{gendef}
\begin{axdef} \_ \join \_ : \num \cross \num \fun \num \where (\_ \join \_) = (\lambda a, b : \num @ 10 * a + b) \end{axdef}";
    assert!(holds_with(
        text,
        r"(1, 2) \in \{1\} \twin \{2\} \land none = \{\} \cap \{1\} \land none[\nat] = \{\}"
    ));
    assert!(holds_with(text, r"Second[0 \upto 2](0, 2) = 2 \land 4 \join 2 = 42"));
}

#[test]
fn operators_are_functions_and_relations() {
    assert!(holds(
        r"(\_ + \_) (1, 2) = 3 \land (1, 2) \in (\_ < \_) \land \{1 \mapsto 2\} \subseteq (\_ \leq \_)"
    ));
    assert!(holds(r"\{ x : 1 \upto 3 @ (succ~x, \# \{x\}) \} = \{(2,1), (3,1), (4,1)\}"));
    assert!(holds(
        r"\{1 \mapsto 2, 2 \mapsto 3\}^{2} = \{1 \mapsto 3\} \land \{1 \mapsto 2\}^{-1} = \{2 \mapsto 1\}"
    ));
}

#[test]
fn operators_may_be_declared_decorated_and_given_actual_parameters() {
    assert!(holds(
        r"(-) (3 + 4) = - 7 \land (\_ \surj \_)[0 \upto 1, \{5\}] = \{(\lambda x : 0 \upto 1 @ 5)\}"
    ));
    let text = r"%%ingen \twin
\begin{zed} X \twin' Y == Y \cross X \\ E ::= num \ldata 0 \upto 1 \rdata | (\_ +_0 \_) \ldata E \cross E \rdata \end{zed}
\begin{schema}{Both[X, Y]} a : X; b : Y \end{schema}";
    assert!(holds_with(text, r"(2, 1) \in \{1\} \twin' \{2\} \land num~1 +_0 num~0 \neq num~0 +_0 num~1"));
    assert!(holds_with(text, r"\# Both[0 \upto 1, 0 \upto 2] = 6"));
}

#[test]
fn a_variable_of_one_case_alone_is_free_in_the_others() {
    let text = r"\begin{zed} [NAME, DATE] \\ REPORT ::= ok | already\_known | not\_known \end{zed}
        \begin{schema}{Book} known : \power NAME \\ birthday : NAME \pfun DATE \where known = \dom birthday \end{schema}
        \begin{zed} Init \defs [Book' | known' = \empty] \\ Success \defs [result! : REPORT | result! = ok]
        \also New \defs [\Delta Book; name? : NAME; date? : DATE | name? \notin known
          \land birthday' = birthday \cup \{name? \mapsto date?\}]
        \also Old \defs [\Xi Book; name? : NAME; result! : REPORT | name? \in known \land result! = already\_known]
        \also Known \defs [\Xi Book; name? : NAME; date! : DATE | name? \in known \land date! = birthday~name?]
        \also Unknown \defs [\Xi Book; name? : NAME; result! : REPORT | name? \notin known \land result! = not\_known]
        \also Cards \defs [\Xi Book; today? : DATE; cards! : \power NAME | cards! = birthday\inv \limg \{today?\} \rimg]
        \also Add \defs (New \land Success) \lor Old \\ Find \defs (Known \land Success) \lor Unknown
        \also Remind \defs Cards \land Success \end{zed}";
    // With k of two names known: Add 2(2 - k) + 2k, for the date is free where the name is known; Find k + 2(2 - k), for the
    // date found is free where the name is not; Remind 2. There are 1, 4, 4 states with k = 0, 1, 2.
    assert_eq!(counts(&check("book.tex", text, &[])), (9, 36 + 24 + 18));
}

#[test]
fn a_function_that_an_axiom_defines_point_by_point_is_known() {
    let text = r"\begin{axdef} square : \nat \fun \nat; plus : \num \cross \num \fun \num \where
        \forall n : \nat @ square~n = n * n \\ \forall a, b : \num @ plus(a, b) = a + square~2 + b \end{axdef}
        \begin{zed} S \defs [n : 0 \upto 300] \\ Init \defs [S' | n' = 2] \\ Op \defs [\Delta S | n' = square~n]
        \\ Add \defs [\Delta S | n' = plus(n, 1) \land n < 3] \end{zed}";
    // 2, 4, 16, 256 by squares; 7 and 49 behind 2 + 4 + 1.
    let result = check("f.tex", text, &[]);
    assert_eq!((counts(&result), &result["constants"]), ((6, 5), &1.into()));
}

#[test]
fn promotion_does_not_go_through_the_states_of_what_is_promoted() {
    // Were all bindings of the local schema tried, each step would look at ten thousand pairs of them.
    let items = r"[ID] \\ Local \defs [a, b : 0 \upto 99] \\ Global \defs [f : ID \pfun Local]
        \\ Init \defs [Global' | f' = \{ i : ID @ i \mapsto \lblot a == 0, b == 0 \rblot \}]
        \\ Promote \defs [\Delta Global; \Delta Local; i? : ID | i? \in \dom f \land \theta Local = f~i?
          \land f' = f \oplus \{i? \mapsto \theta Local'\}]
        \\ Step \defs [\Delta Local | a < 3 \land a' = a + 1 \land b' = 99 - a]
        \\ One \defs \exists \Delta Local @ Promote \land Step";
    assert_eq!(counts(&check_zed(items, &["--set", "ID=3"])), (64, 144));
}

#[test]
fn recursive_free_types_have_values_of_any_depth() {
    let text = r"\begin{zed} TREE ::= leaf | node \ldata TREE \cross TREE \rdata \end{zed}";
    assert!(holds_with(text, r"node(leaf, node(leaf, leaf)) \neq node(node(leaf, leaf), leaf)"));
    let items = r"TREE ::= leaf | node \ldata TREE \rdata \\ S \defs [t : TREE] \\ Init \defs [S' | t' = leaf]
        \\ Grow \defs [\Delta S | t \neq node(node~leaf) \land t' = node~t]";
    assert_eq!(counts(&check_zed(items, &[])), (3, 2));
}

#[test]
fn hiding_composition_and_piping_quantify() {
    let items = r"S \defs [n : 0 \upto 5] \\ Init \defs [S' | n' = 0]
        \\ Inc \defs [\Delta S; k? : 1 \upto 2 | n' = n + k?] \\ Dec \defs [\Delta S | n' = n - 1]
        \\ Both \defs (Inc \semi Dec) \hide (k?)";
    // From n the pair leads to n and to n + 1, as long as n + k? is at most 5.
    assert_eq!(counts(&check_zed(items, &[])), (5, 9));
    let items = r"S \defs [n : 0 \upto 3] \\ Init \defs [S' | n' = 0] \\ A \defs [\Delta S; x? : 0 \upto 3 | n' = x?]
        \\ B \defs A \project [\Delta S | n < n']";
    assert_eq!(counts(&check_zed(items, &[])), (4, 6));
}

#[test]
fn a_user_may_define_what_delta_means() {
    let items = r"S \defs [a, b : 0 \upto 2] \\ \Delta S \defs [S; S' | b' = b] \\ Init \defs [S' | a' = 0 \land b' = 1]
        \\ Op \defs [\Delta S | a' = a + 1]";
    assert_eq!(counts(&check_zed(items, &[])), (3, 2));
}

#[test]
fn the_first_schema_whose_name_begins_with_init_serves_with_a_warning() {
    let items =
        r"S \defs [n : 0 \upto 2] \\ InitProbe \defs [S' | n' = 0] \\ Step \defs [\Delta S | n' = n + 1]";
    let result = check_zed(items, &[]);
    assert_eq!(counts(&result), (3, 2));
    assert!(
        result["warnings"].to_string().contains("`InitProbe` is taken for the initialisation"),
        "{result}"
    );
}

#[test]
fn an_unbounded_output_is_incomplete_and_an_equation_is_not() {
    let spec = |p: &str| {
        format!(
            r"S \defs [n : 0 \upto 2] \\ Init \defs [S' | n' = 0] \\ Op \defs [\Delta S; x! : \nat | n' = 2 - n {p}]"
        )
    };
    assert_eq!(counts(&check_zed(&spec(r"\land x! = 7 * n"), &[])), (2, 2));
    let result = check_zed(&spec(""), &["--strict-wd"]);
    assert_ne!(
        result["warnings"].to_string() + &result["incomplete_because"].to_string(),
        "[][]",
        "{result}"
    );
}

#[test]
fn inputs_and_outputs_keep_their_names_in_traces() {
    let items = r"S \defs [n : 0 \upto 2] \\ Init \defs [S' | n' = 0]
        \\ Add \defs [\Delta S; by? : 1 \upto 2; old! : \num | n' = n + by? \land old! = n] \\ Invariant \defs [S | n < 2]";
    let result = check_zed(items, &[]);
    let trace = result["violation"]["trace"].as_array().expect("a trace");
    let last = trace.last().expect("a step");
    assert_eq!(last["event"], "Add");
    assert_eq!(
        (&last["params"]["by?"], &last["results"]["old!"], &last["state"]["n"]),
        (&"2".into(), &"0".into(), &"2".into())
    );
}

#[test]
fn temporal_formulas_speak_of_operations_and_components() {
    let items = r"S \defs [n : 0 \upto 2] \\ Init \defs [S' | n' = 0] \\ Inc \defs [\Delta S | n' = (n + 1) \mod 3]
        \\ Look \defs [\Xi S | n = 2]";
    let result = check_zed(items, &["--ltl", "G ({n = 2} => e(Look))", "--ltl", "G ([Inc] => X {n > 0})"]);
    assert_eq!(result["temporal"][0]["verdict"], "holds");
    assert_eq!(result["temporal"][1]["verdict"], "violated");
}

#[test]
fn a_schema_that_is_referred_to_is_an_operation_on_request() {
    let items =
        zed(r"S \defs [n : 0 \upto 3] \\ Init \defs [S' | n' = 0] \\ Inc \defs [\Delta S | n' = n + 1]
        \\ Stuck \defs [\Xi S | \lnot \pre Inc]");
    assert_eq!(counts(&check("s.tex", &items, &[])), (1, 0));
    assert_eq!(counts(&check("s.tex", &items, &["--operation", "Inc"])), (4, 4));
    let (_, out, _) = run("info", "s.tex", &items, &[]);
    assert!(out.contains("Inc is no operation: Stuck refers to it"), "{out}");
}

#[test]
fn values_are_evaluated_in_the_first_state_of_a_specification() {
    let items = zed(
        r"[N] \\ S \defs [s : \power N; q : \seq \num] \\ Init \defs [S' | s' = N \land q' = \langle 4, 5 \rangle]",
    );
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("s.zed");
    std::fs::write(&path, items).expect("a file");
    let eval = |formula: &str| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_bombus"))
            .args(["eval", formula, "--model"])
            .arg(&path)
            .output()
            .expect("the binary runs");
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    assert_eq!(eval("card(s)"), "2");
    assert_eq!(eval("q(2) + size(q)"), "7");
}

#[test]
fn partial_order_reduction_sees_what_an_operation_leaves_alone() {
    let items = r"S \defs [a, b, c : 0 \upto 3] \\ Init \defs [S' | a' = b' = c' = 0]
        \\ A \defs [\Delta S | a' = a + 1 \land b' = b \land c' = c]
        \\ B \defs [\Delta S | b' = b + 1 \land a' = a \land c' = c]
        \\ C \defs [\Delta S | c' = c + 1 \land a' = a \land b' = b]";
    assert_eq!(counts(&check_zed(items, &[])), (64, 144));
    let options = ["--json", "--workers", "1", "--no-deadlock", "--por", "on"];
    let (_, reduced, messages) = run("check", "spec.tex", &zed(items), &options);
    let reduced: serde_json::Value = serde_json::from_str(&reduced).expect(&messages);
    assert!(reduced["states"].as_u64().is_some_and(|n| n < 64), "{reduced}");
}

#[test]
fn relations_may_be_iterated_in_three_notations() {
    for square in ["^{2}", "^2", r" \bsup 1 + 1 \esup"] {
        assert!(holds(&format!(r"\{{1 \mapsto 2, 2 \mapsto 3\}}{square} = \{{1 \mapsto 3\}}")), "{square}");
    }
}

#[test]
fn a_relation_that_an_axiom_defines_by_an_equivalence_is_known() {
    let text = r"%%inrel \below
%%prerel \even
\begin{axdef} \_ \below \_ : \nat \rel \nat; \even \_ : \power \num; far : \power (\num \cross \num) \where
 \forall x, y : \nat @ x \below y \iff x < y \\ \forall x : \num @ \even x \iff x \mod 2 = 0
 \\ \forall x, y : \num @ (x, y) \in far \iff x - y > 10 \end{axdef}";
    assert!(holds_with(text, r"3 \below 400 \land \lnot (3 \below 3) \land (-1, 2) \notin (\_ \below \_)"));
    assert!(holds_with(text, r"\even 4 \land \lnot (\even 7) \land \even (-2)"));
    assert!(holds_with(text, r"(20, 5) \in far \land (5, 20) \notin far"));
    // A relation that its equivalence does not tell everywhere stays a choice.
    let part = r"\begin{axdef} some : \power (0 \upto 2) \where \forall x : 0 \upto 1 @ x \in some \iff x = 1 \end{axdef}";
    let items = zed(r"S \defs [n : 0 \upto 2] \\ Init \defs [S' | n' \in some]");
    let result = check("p.tex", &format!("{part}{items}"), &[]);
    assert_eq!((&result["constants"], &result["initial"]), (&2.into(), &3.into()));
}

#[test]
fn a_generic_definition_may_go_point_by_point() {
    let text = r"%%inrel \begins
%%inop \only 4
\begin{gendef}[X, Y] swap : X \cross Y \fun Y \cross X; \_ \only \_ : (X \rel Y) \cross \power Y \fun (X \rel Y)
\where \forall x : X; y : Y @ swap(x, y) = (y, x)
 \\ (\_ \only \_) = (\lambda r : X \rel Y; s : \power Y @ \{ x : X; y : Y | (x, y) \in r \land y \in s \}) \end{gendef}
\begin{gendef}[X] \_ \begins \_ : \seq X \rel \seq X \where
 \forall s, t : \seq X @ s \begins t \iff (\exists u : \seq X @ s \cat u = t) \end{gendef}";
    assert!(holds_with(text, r"swap(1, \{2\}) = (\{2\}, 1) \land swap[\nat, \nat](1, 2) = (2, 1)"));
    assert!(holds_with(
        text,
        r"\langle 1 \rangle \begins \langle 1, 2 \rangle \land \lnot (\langle 2 \rangle \begins \langle 1, 2 \rangle)"
    ));
    // An operator with two formal parameters is applied to its operands; they are no actual parameters.
    assert!(holds_with(text, r"\{1 \mapsto 2, 2 \mapsto 3\} \only \{3\} = \{2 \mapsto 3\}"));
}

#[test]
fn a_constructor_takes_apart_what_it_has_built() {
    // Two values, at most two of them on the stack: 1 + 2 + 4 states, as many steps down as up.
    let items = r"LIST ::= nil | cons \ldata (0 \upto 1) \cross LIST \rdata \\ S \defs [l : LIST; k : 0 \upto 2]
        \\ Init \defs [S' | l' = nil \land k' = 0] \\ Push \defs [\Delta S; x? : 0 \upto 1 | l' = cons(x?, l) \land k' = k + 1]
        \\ Pop \defs [\Delta S; x! : 0 \upto 1 | cons(x!, l') = l \land k' = k - 1]";
    assert_eq!(counts(&check_zed(items, &[])), (7, 12));
}
