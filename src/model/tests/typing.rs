//! Types: what is inferred, what clashes.

use super::{one, rejected_one, type_of};
use crate::{Formula, FormulaScope, empty_machine};
use bombus_base::Int;
use bombus_base::diagnostic::Sources;
use bombus_lang::typed::{BinOp, ExprKind, Type};

fn formula(text: &str) -> Result<Formula, String> {
    let (maxint, minint) = (Int::from(3i64), Int::from(-1i64));
    let mut machine = empty_machine(maxint.clone(), minint.clone());
    let mut sources = Sources::default();
    FormulaScope::empty(maxint, minint)
        .parse(&mut machine, &mut sources, "<formula>", text)
        .map_err(|ds| ds.iter().map(|d| sources.render(d)).collect())
}

fn clashes(text: &str) {
    match formula(text) {
        Ok(_) => panic!("`{text}` was accepted"),
        Err(message) => assert!(message.contains("type clash"), "{message}"),
    }
}

fn types(text: &str) -> Formula {
    formula(text).unwrap_or_else(|m| panic!("{m}"))
}

#[test]
fn rows_of_the_table_that_are_type_errors_are_type_errors() {
    for text in [
        "1..2 * 3..4",                 // 81
        "1|->2|->3 = 1|->(2|->3)",     // 91
        "1->2->[3]",                   // 175
        "rec(a:1,b:2) = rec(a:1,c:2)", // 223
        "1 + 1.0",                     // 235
        "{1,2} = {(1,2)}",             // 244
    ] {
        clashes(text);
    }
}

#[test]
fn an_unknown_name_is_reported_246() {
    let message = formula("`my id` = `my id`").err().unwrap_or_default();
    assert!(message.contains("unknown identifier `my id`"), "{message}");
}

#[test]
fn closed_polymorphic_parts_are_allowed_57_68_80_151() {
    for text in ["card({})", "union({})", "{} <: {}", "[] = {}", "{} = {}", "max({})", "inter({})"] {
        types(text);
    }
}

#[test]
fn operators_take_their_default_where_nothing_decides_41_204() {
    for text in ["SIGMA(x).(x:{}|x)", "!x.(x:{} => x=x+1)", "#x.(x>0)"] {
        types(text);
    }
}

#[test]
fn minus_and_times_are_settled_by_types() {
    let op = |text: &str| match types(text) {
        Formula::Expr(e) => match e.kind {
            ExprKind::Binary(op, ..) => op,
            other => panic!("{other:?}"),
        },
        Formula::Pred(_) => panic!("a predicate"),
    };
    assert_eq!(op("3 - 1"), BinOp::Sub);
    assert_eq!(op("{1,2} - {1}"), BinOp::SetMinus);
    assert_eq!(op("2 * 3"), BinOp::Mul);
    assert_eq!(op("{1} * {2}"), BinOp::Cartesian);
    // The types of x and y come last.
    types("#(x,y).(x - y = x & x * y : POW(BOOL*BOOL) & y : POW(BOOL))");
}

#[test]
fn fields_of_records_are_sorted_and_found_later() {
    let Formula::Expr(e) = types("rec(b:TRUE,a:1)'b") else { panic!("a predicate") };
    assert_eq!(e.ty, Type::Bool);
    let ExprKind::Field(_, index) = e.kind else { panic!("no field") };
    assert_eq!(index, 1);
    types("#r.(r'a = 1 & r : struct(a:NAT,b:BOOL))");
}

#[test]
fn strings_have_size_and_concatenation_226_227() {
    for (text, ty) in
        [("size(\"abc\")", Type::Integer), ("\"ab\"^\"cd\"", Type::String), ("rev(\"ab\")", Type::String)]
    {
        let Formula::Expr(e) = types(text) else { panic!("a predicate") };
        assert_eq!(e.ty, ty, "{text}");
    }
}

#[test]
fn variables_get_types_from_invariant_and_operations() {
    let m = one("MACHINE M SETS S VARIABLES f, s, r INVARIANT f : S +-> BOOL & s = [1] & r = rec(x:1)
         INITIALISATION f, s, r := {}, [1], rec(x:2)
         OPERATIONS o <-- get(k) = PRE k : dom(f) THEN o := f(k) END END");
    assert_eq!(type_of(&m, "f"), "POW(S*BOOL)");
    assert_eq!(type_of(&m, "s"), "POW(INTEGER*INTEGER)");
    assert_eq!(type_of(&m, "r"), "struct(x:INTEGER)");
    assert_eq!(type_of(&m, "k"), "S");
    assert_eq!(type_of(&m, "o"), "BOOL");
}

#[test]
fn a_variable_that_nothing_types_is_reported() {
    let message = rejected_one("MACHINE M VARIABLES x INVARIANT x = x INITIALISATION x := x END");
    assert!(message.contains("could not infer type of `x`"), "{message}");
}

#[test]
fn free_types_have_constructors_as_functions() {
    let m = one(
        "MACHINE M FREETYPES L = nil, cons(INTEGER*L) VARIABLES x, f INVARIANT x : L & f : INTEGER*L +-> L
         INITIALISATION x := cons(1,nil) || f := {} OPERATIONS o = BEGIN f := cons END END",
    );
    assert_eq!(type_of(&m, "x"), "L");
    assert_eq!(m.freetypes[0].constructors[1].0.to_string(), "cons");
}

#[test]
fn maxint_and_nat_are_numbers() {
    let m = one("MACHINE M DEFINITIONS SET_PREF_MAXINT == 2**4 CONSTANTS c PROPERTIES c = MAXINT END");
    assert_eq!(m.maxint, Int::from(16i64));
}
