//! What is well typed and what is not.

use super::testing::{on_large_stack, read};

fn fault(text: &str) -> Option<String> {
    on_large_stack(|| read(text).err().map(|said| said.lines().next().unwrap_or("").to_string()))
}

#[test]
fn an_expression_of_the_wrong_type_is_refused() {
    let rows = [
        ("x = 1 + true", "Bool, Int is expected"),
        ("f(n) = if n then STOP else 3", "Int, Proc is expected"),
        ("g = head({1})", "{Int}, <a> is expected"),
        ("h(<>) = 0\nh(3) = 1", "(Int) -> Int, (<a>) -> Int is expected"),
        ("channel a\nP = a -> 5", "Int, Proc is expected"),
        ("f(x) = x\ny = f(1, 2)", "1 arguments are expected, 2 are given"),
        ("y = 3(4)", "it is no function"),
        ("y = <1, true>", "Bool, Int is expected"),
        ("y = {x | x <- 3}", "a set or a sequence is expected"),
        ("P = STOP [] {}", "Proc is expected"),
        ("f(x) = (x + 1, not x)", "Int, Bool is expected"),
        ("y = union({1}, <2>)", "<Int>, {Int} is expected"),
        ("y = (1, 2) == (1, 2, 3)", "(Int, Int) is expected"),
        ("channel a\nP = a -> a", "event or member of a datatype, Proc is expected"),
        ("channel a : Bool\nP = STOP [] a.true", "event or member of a datatype, Proc is expected"),
        ("datatype T = A | B.Bool\nf(x) = x + 1\ny = f(A)", "event or member of a datatype, Int is expected"),
        ("channel a\ny = <a, 1>", "Int, event or member of a datatype is expected"),
        ("P = STOP\nassert 1 [T= P", "Int, Proc is expected"),
    ];
    for (text, message) in rows {
        let said = fault(text).unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(said.ends_with(message), "{text}: {said}");
    }
}

#[test]
fn definitions_have_as_many_types_as_they_are_used_with() {
    for text in [
        "id(x) = x\ny = (id(1), id(true), id(STOP))",
        "y = let g(x) = h(x)\nh(x) = x\nwithin (g(1), g(<>))",
        "map(f)(<>) = <>\nmap(f)(<x>^xs) = <f(x)>^map(f)(xs)\ny = (map(\\ n @ n + 1)(<1>), map(\\ b @ not b)(<true>))",
        "fold(f, e, <>) = e\nfold(f, e, <x>^xs) = f(x, fold(f, e, xs))\ny = fold(\\ a, b @ a + b, 0, <1,2>)",
        "even(0) = true\neven(n) = odd(n - 1)\nodd(0) = false\nodd(n) = even(n - 1)",
        "datatype T = A | B.{0..1}\nf(A) = 0\nf(B.n) = n + 1\nchannel c : T.{0..1}\nP = c?t?n -> (if f(t) == n then P else STOP)",
        "datatype T = A | B.{0..1}\nchannel c : T.{0..1}\nchannel d : {0..1}.T\nf(x) = c.x\nP = f(A.0) -> f(B.1)!0 -> d?y -> STOP\n\
         y = (card({A, B.0}), <c.A.0, d.0.A>, {| c.A, d |})",
        "channel c : {0..1}\nf(k) = k!0 -> STOP\nP = f(c) [] (let g = c.1 within g -> STOP)",
        "(p, q) = (1, <true>)\ny = p + 1 == 2 and head(q)",
    ] {
        assert_eq!(fault(text), None, "{text}");
    }
}
