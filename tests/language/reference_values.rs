//! Rows A–H of the reference table: formulas and their values, computed by the reference interpreter.
//!
//! Each row has its number in the table, the formula, and its value. `WD` is a well-definedness error,
//! `rejected` an error of syntax or type.

use bombus::base::Int;
use bombus::base::budget::Budget;
use bombus::base::diagnostic::Sources;
use bombus::evaluate::{Error, Interpreter};
use bombus::lang::value::Value;
use bombus::model::{Formula, FormulaScope, empty_machine};

/// The value of a formula with MAXINT 3 and MININT -1; `None` if it is rejected.
fn evaluate(text: &str) -> Option<Result<Value, Error>> {
    let (maxint, minint) = (Int::from(3i64), Int::from(-1i64));
    let mut machine = empty_machine(maxint.clone(), minint.clone());
    let scope = FormulaScope::empty(maxint, minint);
    let formula = scope.parse(&mut machine, &mut Sources::default(), "<row>", text).ok()?;
    let interpreter = Interpreter::new(&machine, &Budget::unlimited());
    Some(match formula {
        Formula::Expr(e) => interpreter.eval_expr(&e, None),
        Formula::Pred(p) => interpreter.eval_pred(&p, None).map(Value::Bool),
    })
}

fn outcome(text: &str) -> Result<Value, String> {
    match evaluate(text) {
        None => Err("rejected".to_string()),
        Some(Ok(v)) => Ok(v),
        Some(Err(e)) if e.is_undefined() => Err("WD".to_string()),
        Some(Err(e)) if e.is_incomplete() => Err("incomplete".to_string()),
        Some(Err(e)) => Err(e.to_string()),
    }
}

fn check(rows: &[(u32, &str, &str)]) {
    let mut wrong = Vec::new();
    for (number, formula, expected) in rows {
        let got = outcome(formula);
        let want = match *expected {
            word @ ("WD" | "rejected") => Err(word.to_string()),
            value => outcome(value),
        };
        if got != want {
            wrong.push(format!("row {number}: {formula} should be {expected}, is {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn formulas_have_the_values_of_the_table() {
    check(ROWS);
}

#[rustfmt::skip]
const ROWS: &[(u32, &str, &str)] = &[
    (1, "2+3*4", "14"),
    (2, "10-3-2", "5"),
    (3, "6/2*3", "9"),
    (4, "7/2", "3"),
    (5, "(-7)/2", "-3"),
    (6, "-7/2", "-3"),
    (7, "7/(-2)", "-3"),
    (8, "(-7)/(-2)", "3"),
    (9, "1/2", "0"),
    (10, "(-1)/2", "0"),
    (11, "7 mod 3", "1"),
    (12, "9 mod 3", "0"),
    (13, "2 mod 5", "2"),
    (14, "10 mod 4*2", "4"),
    (15, "2*10 mod 4", "0"),
    (16, "7 mod 0", "WD"),
    (17, "7 mod (-2)", "WD"),
    (18, "(-7) mod 2", "WD"),
    (19, "-7 mod 2", "WD"),
    (20, "5/0", "WD"),
    (21, "2**10", "1024"),
    (22, "2**3**2", "512"),
    (23, "(2**3)**2", "64"),
    (24, "-2**2", "4"),
    (25, "-(2**2)", "-4"),
    (26, "2*3**2", "18"),
    (27, "0**0", "1"),
    (28, "(-2)**3", "-8"),
    (29, "2**(-1)", "WD"),
    (30, "3 - -1", "4"),
    (31, "0xFF + 1", "256"),
    (32, "2**64 - 1", "18446744073709551615"),
    (33, "succ(4)", "5"),
    (34, "pred(0)", "-1"),
    (35, "min({3,1,2})", "1"),
    (36, "max({3,1,2})", "3"),
    (37, "max({})", "WD"),
    (38, "SIGMA(x).(x:1..4|x)", "10"),
    (39, "SIGMA(x).(x:{-1,1}|x*x)", "2"),
    (40, "PI(x).(x:1..5|x)", "120"),
    (41, "SIGMA(x).(x:{}|x)", "0"),
    (42, "PI(x).(x:1..0|x)", "1"),
    (43, "SIGMA(x,y).(x:1..2 & y:1..3|x*y)", "18"),
    (44, "1..3", "{1,2,3}"),
    (45, "3..1", "{}"),
    (46, "-1..1", "{-1,0,1}"),
    (47, "1..2+1", "{1,2,3}"),
    (48, r"1..3 \/ {7}", "{1,2,3,7}"),
    (49, r"{1,2} \/ {2,3} /\ {3,4}", "{3}"),
    (50, r"{1,2} \/ ({2,3} /\ {3,4})", "{1,2,3}"),
    (51, r"{1,2,3} \/ {4} - {1,4}", "{1,2,3}"),
    (52, r"({1,2,3} \/ {4}) - {1,4}", "{2,3}"),
    (53, "{1,2,3} - {1} - {2}", "{3}"),
    (54, r"{1,2,3} \ {2}", "{1,3}"),
    (55, "{1,1,2} = {2,1}", "TRUE"),
    (56, "card({1,1,2})", "2"),
    (57, "card({})", "0"),
    (58, "card(NATURAL)", "WD"),
    (59, "card(POW(1..3))", "8"),
    (60, "card(POW1(1..3))", "7"),
    (61, "POW({})={{}}", "TRUE"),
    (62, "{} : POW({1})", "TRUE"),
    (63, "{} : POW1({1})", "FALSE"),
    (64, "FIN(1..2)=POW(1..2)", "TRUE"),
    (65, "union({{1},{2,3},{}})", "{1,2,3}"),
    (66, "inter({{1,2},{2,3}})", "{2}"),
    (67, "inter({})", "WD"),
    (68, "union({})", "{}"),
    (69, "UNION(x).(x:1..3|{x,x*10})", "{1,2,3,10,20,30}"),
    (70, "INTER(x).(x:1..3|x..5)", "{3,4,5}"),
    (71, "{x|x:1..5 & x mod 2=1}", "{1,3,5}"),
    (72, "{x,y|x:1..2 & y=x+1}", "{1|->2,2|->3}"),
    (73, "{x,y,z|x=1 & y=2 & z=3}", "{((1|->2)|->3)}"),
    (74, "{x|->y|x:1..2 & y=x}", "rejected"),
    (76, "{1,2} <: 1..3", "TRUE"),
    (77, "{1,2} <<: {1,2}", "FALSE"),
    (78, "{1,2} /<<: {1,2}", "TRUE"),
    (79, "3 /: 1..2", "TRUE"),
    (80, "{} <: {}", "TRUE"),
    (81, "1..2 * 3..4", "rejected"),
    (82, "(1..2) * (3..4)", "{1|->3,1|->4,2|->3,2|->4}"),
    (83, "card((1..3)*(1..4)*(1..2))", "24"),
    (84, "NAT <: INT", "TRUE"),
    (85, "MAXINT+1 : NATURAL", "TRUE"),
    (86, "MAXINT+1 : NAT", "FALSE"),
    (87, "-1 : NATURAL", "FALSE"),
    (88, "0 : NATURAL1", "FALSE"),
    (89, "2**100 : NATURAL", "TRUE"),
    (90, "1|->2|->3 = (1|->2)|->3", "TRUE"),
    (91, "1|->2|->3 = 1|->(2|->3)", "rejected"),
    (92, "(1,2,3) = ((1,2),3)", "TRUE"),
    (93, "1+1|->2*2 = (2,4)", "TRUE"),
    (94, "1|->1..2 = (1,{1,2})", "TRUE"),
    (95, "{1|->2,3|->4}~", "{2|->1,4|->3}"),
    (96, "dom({1|->2,3|->4})", "{1,3}"),
    (97, "ran({1|->2,3|->2})", "{2}"),
    (98, "{1|->2,1|->3,2|->4}[{1}]", "{2,3}"),
    (99, "{1|->2}[{}]", "{}"),
    (100, "({1|->2,2|->3};{2|->5,3|->6})", "{1|->5,2|->6}"),
    (101, "{1|->2};{2|->3}", "rejected"),
    (102, "dom({1|->2};{2|->3})", "{1}"),
    (103, "{1|->2,2|->3} <+ {2|->9,4|->8}", "{1|->2,2|->9,4|->8}"),
    (104, "{1} <| {1|->2,2|->3}", "{1|->2}"),
    (105, "{1} <<| {1|->2,2|->3}", "{2|->3}"),
    (106, "{1|->2,2|->3} |> {3}", "{2|->3}"),
    (107, "{1|->2,2|->3} |>> {3}", "{1|->2}"),
    (108, r"{1} <| {1|->2} \/ {5|->6}", "{1|->2,5|->6}"),
    (109, "{1|->2} >< {1|->3}", "{1|->(2|->3)}"),
    (110, "({1|->2} || {3|->4})", "{(1|->3)|->(2|->4)}"),
    (111, "id({1,2})", "{1|->1,2|->2}"),
    (112, "prj1({1,2},{5})(2|->5)", "2"),
    (113, "prj2({1,2},{5})(2|->5)", "5"),
    (114, "closure1({1|->2,2|->3})", "{1|->2,2|->3,1|->3}"),
    (115, "closure1({1|->2,2|->1})", "{1|->1,1|->2,2|->1,2|->2}"),
    (116, "(7|->7) : closure({1|->2})", "TRUE"),
    (117, "(7|->7) : closure1({1|->2})", "FALSE"),
    (118, "iterate({1|->2,2|->3,3|->4},2)", "{1|->3,2|->4}"),
    (119, "(9|->9) : iterate({1|->2},0)", "TRUE"),
    (120, "fnc({1|->2,1|->3})", "{1|->{2,3}}"),
    (121, "rel({1|->{2,3}})", "{1|->2,1|->3}"),
    (122, "card({1,2}<->{3})", "4"),
    (123, "card({1,2}+->{3,4})", "9"),
    (124, "card({1,2}-->{3,4,5})", "9"),
    (125, "card({1,2}>->{3,4,5})", "6"),
    (126, "card({1,2}>+>{3,4})", "7"),
    (127, "card({1,2,3}-->>{4,5})", "6"),
    (128, "card({1,2,3}+->>{4,5})", "12"),
    (129, "card({1,2}>->>{3,4})", "2"),
    (130, "card({1,2}>->>{3})", "0"),
    (131, "card({1,2}>+>>{3})", "2"),
    (132, "card({1,2}<<->{3,4})", "9"),
    (133, "{} : {1,2} --> {3}", "FALSE"),
    (134, "{} : {} --> {3}", "TRUE"),
    (135, "{} : 1..2 +-> {3}", "TRUE"),
    (136, "{1|->2,1|->3} : {1}+->{2,3}", "FALSE"),
    (137, "{1|->5,2|->6}(2)", "6"),
    (138, "{1|->5}(2)", "WD"),
    (139, "{1|->5,1|->6}(1)", "WD"),
    (140, "{1|->5,2|->6,2|->7}(1)", "5"),
    (141, "(%x.(x:1..3|x*x))(2)", "4"),
    (142, "%x.(x:1..2|x+1)", "{1|->2,2|->3}"),
    (143, "(%(x,y).(x:INTEGER & y:INTEGER|x-y))(7,2)", "5"),
    (144, "(%x.(x:NATURAL|x+1))(-1)", "WD"),
    (145, "{1|->{2|->3}}(1)(2)", "3"),
    (146, "{(1|->2)|->3}(1,2)", "3"),
    (147, "{1|->5,2|->6}~(6)", "2"),
    (148, "(%x.(x:1..3|x);%y.(y:1..3|y*2))", "{1|->2,2|->4,3|->6}"),
    (149, "dom(%x.(x:1..5 & x>3|x))", "{4,5}"),
    (150, "[4,5,6] = {1|->4,2|->5,3|->6}", "TRUE"),
    (151, "[] = {}", "TRUE"),
    (152, "size([4,5,6])", "3"),
    (153, "[4,5,6](2)", "5"),
    (154, "first([4,5,6])", "4"),
    (155, "last([4,5,6])", "6"),
    (156, "front([4,5,6])", "[4,5]"),
    (157, "tail([4,5,6])", "[5,6]"),
    (158, "first([])", "WD"),
    (159, "last([])", "WD"),
    (160, "front([])", "WD"),
    (161, "tail([])", "WD"),
    (162, "tail([7])", "[]"),
    (163, "[1,2]^[3]", "[1,2,3]"),
    (164, "0->[1,2]", "[0,1,2]"),
    (165, "[1,2]<-3", "[1,2,3]"),
    (166, "rev([1,2,3])", "[3,2,1]"),
    (167, "conc([[1],[],[2,3]])", "[1,2,3]"),
    (168, r"[1,2,3]/|\2", "[1,2]"),
    (169, r"[1,2,3]\|/2", "[3]"),
    (170, r"[1,2,3]/|\0", "[]"),
    (171, r"[1,2,3]\|/3", "[]"),
    (172, r"[1,2]\|/3", "WD"),
    (173, r"[1,2]/|\(-1)", "WD"),
    (174, "0->[1]<-2", "[0,1,2]"),
    (175, "1->2->[3]", "rejected"),
    (176, "[1]^[2]<-3^[4]", "[1,2,3,4]"),
    (177, "card(iseq({1,2}))", "5"),
    (178, "card(perm({1,2,3}))", "6"),
    (179, "card(iseq1({1,2,3}))", "15"),
    (180, "[1,1] : iseq({1})", "FALSE"),
    (181, "[1,1] : seq({1})", "TRUE"),
    (182, "{2|->1} : seq({1})", "FALSE"),
    (183, "size({2|->1})", "WD"),
    (184, "[] : seq1(NAT)", "FALSE"),
    (185, "ran([3,3,4])", "{3,4}"),
    (186, "card([3,3,4])", "3"),
    (187, "[1,2,3] |> {2}", "{2|->2}"),
    (188, "1=2 => 1=2 => 1=2", "FALSE"),
    (189, "1=2 => (1=2 => 1=2)", "TRUE"),
    (190, "1=1 or 1=1 & 1=2", "FALSE"),
    (191, "1=1 or (1=1 & 1=2)", "TRUE"),
    (192, "1=2 & 1=1 or 1=1", "TRUE"),
    (193, "1=2 <=> 1=2 & 1=2", "FALSE"),
    (194, "1=2 <=> (1=2 & 1=2)", "TRUE"),
    (195, "1=2 => 1=1 <=> 1=2", "TRUE"),
    (196, "1=2 => 1=1 or 1=2 & 1=2", "TRUE"),
    (197, "not(1=2) & 1=1", "TRUE"),
    (198, "not 1=2", "rejected"),
    (199, "1=1=1", "rejected"),
    (200, "TRUE & 1=1", "rejected"),
    (201, "bool(1=1) = TRUE", "TRUE"),
    (202, "bool(1>2)", "FALSE"),
    (203, "!x.(x:1..3 => x<4)", "TRUE"),
    (204, "!x.(x:{} => x=x+1)", "TRUE"),
    (205, "#x.(x:1..3 & x*x=9)", "TRUE"),
    (206, "#x.(x:INTEGER & x*x=2)", "FALSE"),
    (207, "#(x,y).(x:1..3 & y:1..3 & x+y=6)", "TRUE"),
    (208, "!(x,y).(x:1..2 & y:1..2 => x=y)", "FALSE"),
    (209, "2>1 & 1/0=1", "WD"),
    (210, "2<1 & 1/0=1", "FALSE"),
    (211, "2>1 or 1/0=1", "TRUE"),
    (212, "2<1 => 1/0=1", "TRUE"),
    (213, "1/0=1 or 2>1", "WD"),
    (214, "{x|x:-2..2 & x/=0 & 4/x=2}", "{2}"),
    (215, "IF 1>2 THEN 5 ELSE 6 END", "6"),
    (216, "LET x BE x=3 IN x*x END", "9"),
    (217, "LET x,y BE x=3 & y=4 IN x+y END", "7"),
    (218, "IF 1=1 THEN 2=2 ELSE 1/0=1 END", "TRUE"),
    (219, "rec(a:1,b:TRUE)'b", "TRUE"),
    (220, "rec(a:1,b:2) = rec(b:2,a:1)", "TRUE"),
    (221, "rec(a:1) : struct(a:NAT)", "TRUE"),
    (222, "card(struct(a:1..2,b:BOOL))", "4"),
    (223, "rec(a:1,b:2) = rec(a:1,c:2)", "rejected"),
    (224, r#""ab" = "ab""#, r#"TRUE"#),
    (225, r#""ab" /= "AB""#, r#"TRUE"#),
    (226, r#"size("abc")"#, r#"3"#),
    (227, r#""ab"^"cd""#, r#""abcd""#),
    (228, r#"'''a"b''' = "a\"b""#, r#"TRUE"#),
    (229, "card(BOOL)", "2"),
    (230, "1.5 + 1.5", "3.0"),
    (231, "floor(2.7)", "2"),
    (232, "ceiling(2.1)", "3"),
    (233, "floor(-2.5)", "-3"),
    (234, "real(2) = 2.0", "TRUE"),
    (235, "1 + 1.0", "rejected"),
    (236, "1.0/2.0", "0.5"),
    (237, "LET a BE a=[1] IN a<-1 END", "[1,1]"),
    (238, "LET a BE a=0 IN bool(a < -1) END", "FALSE"),
    (239, "LET a BE a=0 IN bool(a>-1) END", "TRUE"),
    (240, "{f|f:1..1-->1..1}", "{{1|->1}}"),
    (241, "{1,2}-->{3}<:{1,2}+->{3}", "TRUE"),
    (242, "(1,2) : {1}*{2}", "TRUE"),
    (243, "{(1,2)} = {1|->2}", "TRUE"),
    (244, "{1,2} = {(1,2)}", "rejected"),
    (245, "/* c */ 1 // d", "1"),
    (247, "#x.(x=1..2)", "TRUE"),
    (248, "[1,2][{1}]", "{1}"),
    (249, "[[1,2]](1)(2)", "2"),
    (250, r"max({1,2}\/{5})-min({4})", "1"),
];

#[test]
fn large_functions_are_judged_by_their_form() {
    check(&[
        (0, "id(1..10000000) : 1..10000000 >->> 1..10000000", "TRUE=TRUE"),
        (1, "id(1..10000000) : perm(1..10000000)", "TRUE=TRUE"),
        (2, "id(1..10000000) : perm(1..10000001)", "TRUE=FALSE"),
        (3, "id(2..10000000) : perm(2..10000000)", "TRUE=FALSE"),
        (4, "id(1..10000000) : 1..10000000 >->> 0..10000000", "TRUE=FALSE"),
        (5, "dom(%x.(x:1..2000000|x*2)) = 1..2000000", "TRUE=TRUE"),
        (6, "card(%x.(x:1..2000000|x*2))", "2000000"),
        (7, "dom(%x.(x:0..2|6/x))", "WD"),
        (8, "{} <+ (1000..137000)*(3..5) = (1000..137000)*{3,4,5}", "TRUE=TRUE"),
        (9, "%x.(x:NATURAL|x+7) : NATURAL >-> NATURAL", "TRUE=TRUE"),
        (10, "succ : INTEGER >->> INTEGER", "TRUE=TRUE"),
    ]);
}

#[test]
fn numbers_are_bounded_by_roots_factors_and_the_bodies_of_lambdas() {
    check(&[
        (0, "#(f,x).(f = %y.(y:INTEGER|y+y) & x:INTEGER & f(f(f(x))) = 1000)", "TRUE=TRUE"),
        (1, "#(f,x).(f = %y.(y:INTEGER|y+y) & x:INTEGER & f(f(f(f(x)))) = 1000)", "TRUE=FALSE"),
        (2, "{x|x:INTEGER & x*x*x = -27000}", "{-30}"),
        (3, "{x|x:INTEGER & x**4 = 81}", "{-3,3}"),
        (4, "#(f,x).(f = %y.(y:INTEGER|(y*y)*y) & x:INTEGER & f(f(x)) = 134217728)", "TRUE=TRUE"),
        (5, "#(f,x).(f = %y.(y:INTEGER|(y*y)*y) & x:INTEGER & f(f(x)) = 134217721)", "TRUE=FALSE"),
        (6, "#(f,c).(f = %x.(x:INTEGER|x+c) & c:NATURAL & f(10)+f(9) = 129)", "TRUE=TRUE"),
        (7, "{c|c:NATURAL & c*(c+2) = 120}", "{10}"),
        (8, "#(v,x).(v:INTEGER & x:INTEGER & [1,v,3,v+1,4,x,7,8,9,10,11,12] : perm(1..12))", "TRUE=TRUE"),
        (9, "{x|x:NATURAL & x*x <= 10}", "{0,1,2,3}"),
        // A function that is not defined everywhere is not unfolded: its application has no value.
        (10, "#(f,y).(f = %x.(x:1..3|x+y) & y:100..110 & f(5) = 7)", "WD"),
    ]);
}

#[test]
fn the_image_of_a_set_confines_the_rows_of_a_function() {
    check(&[
        (0, "#r.(r[NATURAL1] <: 1..10 & r : 1..115 --> 0..1)", "TRUE=TRUE"),
        (1, "{r|r : 1..2 --> 0..2 & r[{1}] = {2}}", "{{1|->2,2|->0},{1|->2,2|->1},{1|->2,2|->2}}"),
    ]);
}

#[test]
fn domains_of_infinite_relations_are_compared() {
    check(&[
        (0, "dom(dom({x,y,r|x:INTEGER & y:INTEGER & r:INTEGER & r = x+y})) = INTEGER", "TRUE"),
        (1, "dom(dom({x,y,r|r:INTEGER & x:NATURAL & y:NATURAL & r = (x+y)+1})) = NATURAL", "TRUE"),
        (2, "dom({x,y|x:NATURAL & y:INTEGER & y > 3 & y < 5}) = NATURAL1", "FALSE"),
        (3, "dom({x,y|x:INTEGER & x > 3 & y:NATURAL}) = {n|n:INTEGER & n >= 4}", "TRUE"),
    ]);
}
