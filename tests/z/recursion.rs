//! Functions that axioms define case by case: numbers, free types, sequences, elements.

use crate::{check, counts};

/// A check of axioms beside a counter whose step is guarded by `guard`: how many states it has.
fn states(before: &str, axioms: &str, guard: &str) -> (u64, u64) {
    let text = format!(
        "{before}\\begin{{axdef}}{axioms}\\end{{axdef}}\\begin{{zed}} S \\defs [n : 0 \\upto 9] \\\\ \
         Init \\defs [S' | n' = 0] \\\\ Inc \\defs [\\Delta S | {guard} \\land n' = n + 1] \\end{{zed}}"
    );
    counts(&check("spec.tex", &text, &["--no-deadlock"]))
}

#[test]
fn a_function_of_numbers_is_known_from_its_first_values_and_a_step() {
    for step in [
        "\\forall k : \\nat_1 @ fact~k = k * fact(k - 1)",
        "\\forall k : \\nat | k > 0 @ fact~k = k * fact(k - 1)",
        "\\forall k : \\nat @ fact(k + 1) = (k + 1) * fact~k",
    ] {
        let axioms = format!("fact : \\nat \\fun \\nat \\where {step} \\\\ fact~0 = 1");
        // 1, 1, 2, 6, 24: the first that is not below 20 is the fifth.
        assert_eq!(states("", &axioms, "fact~n < 20"), (5, 4), "{step}");
    }
    let fib = "fib : \\nat \\fun \\nat \\where fib~0 = 0 \\\\ fib~1 = 1 \\\\ \
               \\forall k : \\nat @ fib(k + 2) = fib~k + fib(k + 1)";
    // 0, 1, 1, 2, 3, 5.
    assert_eq!(states("", fib, "fib~n < 5"), (6, 5));
    let whole = "half : \\nat \\fun \\nat \\where \
                 \\forall k : \\nat @ half~k = (\\IF k < 2 \\THEN 0 \\ELSE 1 + half(k - 2))";
    assert_eq!(states("", whole, "half~n < 2"), (5, 4));
    let two = "pow : \\num \\cross \\nat \\fun \\num \\where \\forall b : \\num @ pow(b, 0) = 1 \\\\ \
               \\forall b : \\num; k : \\nat @ pow(b, k + 1) = b * pow(b, k)";
    assert_eq!(states("", two, "pow(2, n) < 8"), (4, 3));
}

#[test]
fn a_function_of_a_free_type_has_a_case_for_each_constructor() {
    let tree = "\\begin{zed} TREE ::= leaf | tip \\ldata \\nat \\rdata | node \\ldata TREE \\cross TREE \\rdata \\end{zed}";
    let axioms = "sum : TREE \\fun \\nat \\where sum~leaf = 0 \\\\ \\forall k : \\nat @ sum(tip~k) = k \\\\ \
                  \\forall a, b : TREE @ sum(node(a, b)) = sum~a + sum~b";
    // Twice n and 3.
    assert_eq!(states(tree, axioms, "sum(node(node(tip~n, leaf), node(tip~n, tip~3))) < 8"), (4, 3));
    let mirror = "mirror : TREE \\fun TREE \\where mirror~leaf = leaf \\\\ \\forall k : \\nat @ mirror(tip~k) = tip~k \\\\ \
                  \\forall a, b : TREE @ mirror(node(a, b)) = node(mirror~b, mirror~a)";
    let guard = "n < 2 \\land mirror(node(tip~n, leaf)) = node(leaf, tip~n)";
    assert_eq!(states(tree, mirror, guard), (3, 2));
    let enumerated = "\\begin{zed} C ::= red | green \\end{zed}";
    let weight = "w : C \\fun \\nat \\where w~red = 2 \\\\ w~green = 3";
    assert_eq!(states(enumerated, weight, "n < w~red + w~green"), (6, 5));
}

#[test]
fn a_function_of_sequences_takes_them_apart_at_either_end() {
    for pattern in ["\\langle k \\rangle \\cat s", "s \\cat \\langle k \\rangle"] {
        let axioms = format!(
            "sum : \\seq \\nat \\fun \\nat \\where sum \\langle \\rangle = 0 \\\\ \
             \\forall k : \\nat; s : \\seq \\nat @ sum({pattern}) = k + sum~s"
        );
        assert_eq!(states("", &axioms, "sum \\langle n, 1, n \\rangle < 6"), (4, 3), "{pattern}");
    }
}

#[test]
fn cases_that_leave_a_gap_or_overlap_define_nothing() {
    for axioms in [
        // Nothing is said of 1.
        "f : \\nat \\fun \\nat \\where f~0 = 0 \\\\ \\forall k : \\nat @ f(k + 2) = f~k",
        // Two equations for 1.
        "f : \\nat \\fun \\nat \\where f~0 = 0 \\\\ f~1 = 7 \\\\ \\forall k : \\nat_1 @ f~k = f(k - 1)",
        // What leads below zero is no natural number: whether there is such a function is not for a rule to say.
        "f : \\nat \\fun \\nat \\where f~0 = 0 \\\\ \\forall k : \\nat_1 @ f~k = f(k - 1) - 1",
    ] {
        let text = format!(
            "\\begin{{axdef}}{axioms}\\end{{axdef}}\\begin{{zed}} S \\defs [n : 0 \\upto 9] \\\\ \
             Init \\defs [S' | n' = f~0] \\\\ Inc \\defs [\\Delta S | n' = n + 1] \\end{{zed}}"
        );
        let result = check("spec.tex", &text, &["--no-deadlock"]);
        assert_ne!(result["verdict"], "verified", "{axioms}");
    }
}
