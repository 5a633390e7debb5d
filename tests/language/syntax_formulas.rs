//! Predicates and expressions: priorities, brackets, tokens, and what is no formula.
//!
//! Groupings are shown by a second text with all parentheses written out; the numbers behind them are
//! those of the B language (ProB's parser agrees on each).

use bombus::base::FileId;
use bombus::syntax::ast::{BinOp, Const, Expr, ExprKind, TemplatePart};
use bombus::syntax::{parse_expression, parse_formula, parse_predicate};

fn parse(text: &str) -> Expr {
    let parsed = parse_formula(FileId(0), text);
    parsed.tree.unwrap_or_else(|| panic!("`{text}` is rejected: {:?}", parsed.diagnostics))
}

#[track_caller]
fn same(text: &str, explicit: &str) {
    assert_eq!(parse(text), parse(explicit), "`{text}` and `{explicit}`");
}

#[track_caller]
fn rejected(text: &str) -> String {
    let parsed = parse_formula(FileId(0), text);
    assert!(parsed.tree.is_none(), "`{text}` is accepted as {:?}", parsed.tree);
    let d = &parsed.diagnostics[0];
    format!("{} / {}", d.message, d.help.join(" "))
}

#[test]
fn arithmetic_groups_as_in_b() {
    same("2+3*4", "2+(3*4)");
    same("10-3-2", "(10-3)-2");
    same("6/2*3", "(6/2)*3");
    same("-7/2", "(-7)/2");
    same("10 mod 4*2", "(10 mod 4)*2");
    same("2**3**2", "2**(3**2)");
    same("-2**2", "(-2)**2");
    same("2*3**2", "2*(3**2)");
    same("3 - -1", "3-(-1)");
    same("2**-1", "2**(-1)");
    same("-r~", "-(r~)");
    same("-f(x)", "-(f(x))");
    same("1..n-1", "1..(n-1)");
    same("1..2+1", "1..(2+1)");
    same("-1..1", "(-1)..1");
    same("1..2 * 3..4", "(1..(2*3))..4");
}

#[test]
fn set_and_relation_operators_share_one_level_and_group_left() {
    same(r"A \/ B /\ C", r"(A \/ B) /\ C");
    same(r"A \/ B - C", r"A \/ (B-C)");
    same(r"1..3 \/ {7}", r"(1..3) \/ {7}");
    same("a|->b..c", "a|->(b..c)");
    same("a|->b|->c", "(a|->b)|->c");
    same("x->y->s", "(x->y)->s");
    same("A-->B-->C", "(A-->B)-->C");
    same(r"f \/ S<|g", r"(f \/ S)<|g");
    same(r"{1} <| r \/ s", r"({1} <| r) \/ s");
    same("1+1|->2*2", "(1+1)|->(2*2)");
    same("0->[1]<-2", "(0->[1])<-2");
    same("[1]^[2]<-3^[4]", "(([1]^[2])<-3)^[4]");
    same("1..1-->1..1", "(1..1)-->(1..1)");
}

#[test]
fn postfix_operators_apply_from_left_to_right() {
    same("f~(x)", "(f~)(x)");
    same("f(x)~", "(f(x))~");
    same("f(x)(y)", "(f(x))(y)");
    same("f'a(1)", "(f'a)(1)");
    same("r~[S]", "(r~)[S]");
    same("r[S]'f", "(r[S])'f");
    same("r'f[S]~", "((r'f)[S])~");
    assert!(rejected("r~~").contains("parentheses"));
    assert!(rejected("r~'f").contains("parentheses"));
    parse("(r~)~");
    parse("(r~)'f");
}

#[test]
fn connectives_group_as_in_b() {
    same("1=2 => 1=2 => 1=2", "(1=2 => 1=2) => 1=2");
    same("1=1 or 1=1 & 1=2", "(1=1 or 1=1) & 1=2");
    same("1=2 & 1=1 or 1=1", "(1=2 & 1=1) or 1=1");
    same("1=2 <=> 1=2 & 1=2", "(1=2 <=> 1=2) & 1=2");
    same("1=2 => 1=1 <=> 1=2", "1=2 => (1=1 <=> 1=2)");
    same("1=2 => 1=1 or 1=2", "1=2 => (1=1 or 1=2)");
    same("{1,2}-->{3}<:{1,2}+->{3}", "({1,2}-->{3})<:({1,2}+->{3})");
}

#[test]
fn chains_of_one_connective_are_one_node() {
    let ExprKind::And(parts) = parse("a=1 & b=1 & c=1").kind else { panic!("a conjunction") };
    assert_eq!(parts.len(), 3);
    let ExprKind::And(parts) = parse("(a=1 & b=1) & c=1").kind else { panic!("a conjunction") };
    assert_eq!(parts.len(), 2, "a parenthesised conjunction stays its own node");
}

#[test]
fn a_predicate_is_no_value_and_a_value_no_predicate() {
    assert!(rejected("not 1=2").contains("not(P)"));
    assert!(rejected("1=1=1").contains("does not chain"));
    assert!(rejected("TRUE & 1=1").contains("predicate is expected"));
    assert!(rejected("(1=1) + 1").contains("bool("));
    assert!(rejected("{1=1}").contains("expression is expected"));
    assert!(rejected("f(1=1)").contains("expression is expected"));
    assert!(rejected("!x.(x)=1").contains("expression is expected"));
    assert!(rejected("bool(1)").contains("predicate is expected"));
    assert!(rejected("IF 1=1 THEN 2 ELSE 3=3 END").contains("expression is expected"));
    assert!(parse_predicate(FileId(0), "1+1").tree.is_none());
    assert!(parse_expression(FileId(0), "1=1").tree.is_none());
    for either in ["D", "D(1,2)", "IF D THEN E ELSE F END", "LET x BE x=1 IN D(x) END", "(D)"] {
        assert!(
            parse_predicate(FileId(0), either).tree.is_some(),
            "{either} may be a definition of a predicate"
        );
        assert!(parse_expression(FileId(0), either).tree.is_some(), "{either} may be a value");
    }
    parse("(D) & 1=1");
    parse("D(1) => not(E)");
}

#[test]
fn composition_stands_only_inside_some_brackets() {
    for text in ["(f;g)", "dom(f;g)", "r[f;g]", "{f;g}", "(a,f;g)", "rec(a:f;g)", "%x.(x=1|f;g)", "(f||g)"] {
        parse(text);
    }
    for text in ["f;g", "h(f;g)", "[f;g]", "f||g"] {
        rejected(text);
    }
    same("(a;b;c)", "((a;b);c)");
    same("(a;b||c)", "((a;b)||c)");
    same(r"(a;b\/c)", r"(a;(b\/c))");
    same("(f /*@symbolic*/ ; g)", "(f;g)");
}

#[test]
fn couples_and_arguments() {
    same("(1,2,3)", "((1|->2)|->3)");
    same("{(1,2)}", "{1|->2}");
    assert_ne!(parse("{1,2}"), parse("{(1,2)}"));
    let ExprKind::Apply(_, arguments) = parse("f(1,2)").kind else { panic!("a call") };
    assert_eq!(arguments.len(), 2, "arguments are not paired by the parser");
    same("a,b", "a|->b");
    rejected("f()");
}

#[test]
fn braces_hold_elements_or_bind_names() {
    same("{}", "∅");
    same("{ }", "{}");
    same("{(x,y,z)|x=y}", "{x,y,z|x=y}");
    same("{x·x:1..3|x*x}", "{(x).x:1..3|x*x}");
    same("{x,y·x:1..3|x*x}", "{(x,y).x:1..3|x*x}");
    assert!(rejected("{x|->y|x:1..2 & y=x}").contains("only names"));
    rejected("{x|x}&{");
    same("[]", "<>");
    same("< >", "<>");
    rejected("a<>b");
}

#[test]
fn binders_need_a_dot_and_a_parenthesised_body() {
    same("!x.(x=1)", "!(x).(x=1)");
    same("!x,y.(x=y)", "!(x,y).(x=y)");
    same("∀x·(x=1)", "!x.(x=1)");
    same("#x•(x=1)", "#x⋅(x=1)");
    same("SIGMA x.(x:S|x)", "SIGMA(x).(x:S|x)");
    same("UNION(x,y).(x:S & y:T|{x})", "⋃(x,y).(x∈S ∧ y∈T∣{x})");
    assert!(rejected("!x.x=1").contains("dot"));
    assert!(rejected("!(x).x=1").contains("parentheses"));
    assert!(rejected("!(i.j).(i=j)").contains("dot"));
}

#[test]
fn branches_need_else() {
    parse("IF 1>2 THEN 5 ELSE 6 END");
    parse("IF 1>2 THEN 5 ELSIF 2>3 THEN 1 ELSE 6 END + 1");
    parse("IF 1=1 THEN 2=2 ELSE 1/0=1 END & 1=1");
    assert!(rejected("IF 1=1 THEN 2 END").contains("ELSE"));
    parse("LET x,y BE x=3 & y=4 IN x+y END");
}

#[test]
fn substitutions_apply_to_atomic_predicates() {
    same("[x,y := 1,2] x=y & x=1", "([x,y := 1,2] x=y) & x=1");
    let ExprKind::After(targets, values, _) = parse("[f(1),r'a := 1,2] x=y").kind else {
        panic!("a substitution")
    };
    assert_eq!((targets.len(), values.len()), (2, 2));
    rejected("[x := 1] 2");
    rejected("[x := 1,2] x=1");
}

#[test]
fn records_trees_and_keyword_functions() {
    same("rec((a:1),(b:2))", "rec(a:1,b:2)");
    parse("card(struct(a:1..2,b:BOOL))");
    parse("rec(a:1,b:TRUE)'b");
    parse("bin(bin(1),2,bin(3))");
    parse("succ(4) + pred(0) + (succ;pred)(1)");
    parse("prj1({1},{2})(1|->2) + prj1(1|->2) + @prj1(1|->2)");
    parse("@finite(S) & @partition(S,A,B)");
    assert!(rejected("card + 1").contains("card(…)"));
    assert!(rejected("card(1,2)").contains("one argument"));
    assert!(rejected("iterate(r)").contains("2 arguments"));
    let ExprKind::Apply(callee, _) = parse("`left`(t)").kind else { panic!("a call of a user's function") };
    assert_eq!(callee.kind, ExprKind::Ident("left".into()));
    let ExprKind::Builtin(..) = parse("left(t)").kind else { panic!("a tree function") };
    assert!(
        matches!(parse("left(t) |-> left").kind, ExprKind::Binary(_, l, _) if matches!(l.kind, ExprKind::Apply(..)))
    );
}

#[test]
fn unary_minus_stands_alone() {
    assert!(rejected("--x").contains("-(-x)"));
    rejected("- -x");
    parse("-(-x)");
    parse("a - -b");
    rejected("+1");
}

#[test]
fn tokens_are_as_long_as_possible() {
    let ExprKind::Binary(op, ..) = parse("a<-1").kind else { panic!("append") };
    assert_eq!(op, BinOp::Append);
    let ExprKind::Binary(op, ..) = parse("a < -1").kind else { panic!("less") };
    assert_eq!(op, BinOp::Less);
    let ExprKind::Binary(op, ..) = parse("a>-1").kind else { panic!("greater") };
    assert_eq!(op, BinOp::Greater);
    rejected("x<--1");
    assert!(parse_predicate(FileId(0), "a<-1 & b=1").diagnostics[0].help[0].contains("< -"));
    same("x:-1..2", "x : (-1)..2");
    same(r"a/\b", r"a /\ b");
    same(r"a/|\b", r"a /|\ b");
    same(r"a\/b", r"a \/ b");
    same(r"a\|/b", r"a \|/ b");
    same(r"a\b", r"a ∖ b");
    same("1..5", "1 .. 5");
    assert!(matches!(parse("1.5").kind, ExprKind::Real(_)));
    same("1.5..2", "1.5 .. 2");
    same("0xFF + 1", "255+1");
    same("0xff", "255");
    assert!(matches!(parse("1.5e-3").kind, ExprKind::Real(_)));
    assert!(matches!(parse("r'f").kind, ExprKind::Field(..)));
    rejected("x'");
    assert!(rejected(r"a \= b").contains("/="));
    assert!(rejected(r"a \: b").contains("/:"));
    same("x$0", "x $0");
    rejected("x$1");
}

#[test]
fn strings_and_their_escapes() {
    let content = |text: &str| match parse(text).kind {
        ExprKind::Str(content) => content.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(content(r#""a\"b""#), "a\"b");
    assert_eq!(content(r#""a\qb""#), "a\\qb", "an unknown escape keeps both characters");
    assert_eq!(content(r#""\n\t\r\\""#), "\n\t\r\\");
    assert_eq!(content("'''a\"b'''"), "a\"b");
    assert_eq!(content("'''a\r\nb\rc'''"), "a\nb\nc");
    rejected("\"abc");
    rejected("\"abc\ndef\"");
    rejected("'''abc");
    let ExprKind::Template(parts) = parse("```a${1+1}b${{x}}c```").kind else { panic!("a template") };
    assert_eq!(parts.len(), 5);
    assert_eq!(parts[1], TemplatePart::Expr(parse("1+1")));
    rejected("```${1+}```");
    rejected("```${1```");
}

#[test]
fn names_between_back_quotes() {
    assert_eq!(parse("`my id`").kind, ExprKind::Ident("my id".into()));
    assert_eq!(parse("`MACHINE`").kind, ExprKind::Ident("MACHINE".into()));
    assert_eq!(parse("`a`.`b`").kind, ExprKind::Ident("a.b".into()));
    assert_eq!(parse("a . b").kind, ExprKind::Ident("a.b".into()));
    assert!(rejected("`a.b`").contains("dot"));
    rejected("``");
    rejected("_x");
    rejected("`abc");
}

#[test]
fn white_space_and_comments() {
    same("/* c */ 1 // d", "1");
    same("1\u{A0}+\u{2028}1", "1+1");
    assert!(rejected("1 /* open").contains("not closed"));
    same("1 /* a /* b */", "1");
    rejected("1 /* a /* b */ */");
    same("1 /*@desc two words*/ + 1 /*@unknown x*/", "1+1");
}

#[test]
fn unicode_forms_are_the_same_operators() {
    for (unicode, ascii) in [
        ("P=1 ⇒ Q=1", "P=1 => Q=1"),
        ("P=1 ⟹ Q=1", "P=1 => Q=1"),
        ("P=1 ∧ Q=1", "P=1 & Q=1"),
        ("P=1 ∨ Q=1", "P=1 or Q=1"),
        ("P=1 ⇔ Q=1", "P=1 <=> Q=1"),
        ("P=1 ⟺ Q=1", "P=1 <=> Q=1"),
        ("(a∥b)", "(a||b)"),
        ("(a‖b)", "(a||b)"),
        ("a↔b", "a<->b"),
        ("a⇸b", "a+->b"),
        ("a→b", "a-->b"),
        ("a⤔b", "a>+>b"),
        ("a↣b", "a>->b"),
        ("a⤀b", "a+->>b"),
        ("a↠b", "a-->>b"),
        ("a⤖b", "a>->>b"),
        ("a\u{E100}b", "a<<->b"),
        ("a\u{E101}b", "a<->>b"),
        ("a\u{E102}b", "a<<->>b"),
        ("a↦b", "a|->b"),
        ("a⋖b", "a<+b"),
        ("a\u{E103}b", "a<+b"),
        ("a⊗b", "a><b"),
        ("a⌒b", "a^b"),
        ("a◁b", "a<|b"),
        ("a⩤b", "a<<|b"),
        ("a◀b", "a<<|b"),
        ("a▷b", "a|>b"),
        ("a⩥b", "a|>>b"),
        ("a▶b", "a|>>b"),
        ("a⇾b", "a->b"),
        ("a⇽b", "a<-b"),
        ("a∪b", r"a\/b"),
        ("a∩b", r"a/\b"),
        ("a↑b", r"a/|\b"),
        ("a↓b", r"a\|/b"),
        ("a‥b", "a..b"),
        ("a−b", "a-b"),
        ("a∖b", r"a\b"),
        ("a∗b", "a*b"),
        ("a⨯b", "a×b"),
        ("a÷b", "a/b"),
        ("a˄b", "a**b"),
        ("a∼", "a~"),
        ("a⁻¹", "a~"),
        ("∀x.(x=1)", "!x.(x=1)"),
        ("∃x.(x=1)", "#x.(x=1)"),
        ("λx.(x=1|x)", "%x.(x=1|x)"),
        ("\u{1D706}x.(x=1|x)", "%x.(x=1|x)"),
        ("a∈b", "a:b"),
        ("a∉b", "a/:b"),
        ("a∋b", "b:a"),
        ("a∌b", "b/:a"),
        ("a⊆b", "a<:b"),
        ("a⊈b", "a/<:b"),
        ("a⊂b", "a<<:b"),
        ("a⊊b", "a<<:b"),
        ("a⊄b", "a/<<:b"),
        ("a⊇b", "b<:a"),
        ("a⊃b", "b<<:a"),
        ("a⊉b", "b/<:a"),
        ("a⊅b", "b/<<:a"),
        ("a≠b", "a/=b"),
        ("a≤b", "a<=b"),
        ("a≥b", "a>=b"),
        ("ℤ", "INTEGER"),
        ("ℕ", "NATURAL"),
        ("ℕ1", "NATURAL1"),
        ("ℕ₁", "NATURAL1"),
        ("ℙ(a)", "POW(a)"),
        ("ℙ1(a)", "POW1(a)"),
        ("ℙ₁(a)", "POW1(a)"),
        ("ℝ", "REAL"),
        ("𝔹", "BOOL"),
        ("∅", "{}"),
        ("⋃(x).(x=1|x)", "UNION(x).(x=1|x)"),
        ("⋂(x).(x=1|x)", "INTER(x).(x=1|x)"),
        ("∑(x).(x=1|x)", "SIGMA(x).(x=1|x)"),
        ("∏(x).(x=1|x)", "PI(x).(x=1|x)"),
        ("⊤", "btrue"),
        ("⊥", "bfalse"),
        ("¬(a=b)", "not(a=b)"),
        ("{x∣x=1}", "{x|x=1}"),
    ] {
        same(unicode, ascii);
    }
    parse("∅ ⦂ ℙ(ℤ)");
    parse("xλ + x₁ + x′ + été");
    for illegal in ["a⋀b", "a⋁b", "∄x.(x=1)", "⊢", "a⇐b", "a∊b", "a∍b", "a⌢b"] {
        rejected(illegal);
    }
}

#[test]
fn pragmas_label_and_mark() {
    let ExprKind::And(parts) = parse("/*@label one*/ x=1 & /*@label \"two words\"*/ y=2").kind else {
        panic!()
    };
    assert!(matches!(&parts[0].kind, ExprKind::Label(name, _) if &**name == "one"));
    assert!(matches!(&parts[1].kind, ExprKind::Label(name, _) if &**name == "two words"));
    assert!(matches!(parse("/*@symbolic*/ {x|x:NATURAL}").kind, ExprKind::Symbolic(_)));
    assert!(matches!(parse("/*@symbolic*/ %x.(x:NATURAL|x)").kind, ExprKind::Symbolic(_)));
    assert_eq!(parse("/*@symbolic*/ {}").kind, ExprKind::Const(Const::EmptySet));
    rejected("/*@label*/ x=1");
}

#[test]
fn adjacent_operators_are_errors() {
    for text in [
        "x=1 & & y=1",
        "x + * y",
        "(a;;b)",
        "(a || || b)",
        "x=1 &",
        "& x=1",
        "x = ",
        "",
        "a b",
        "1 2",
        "(1",
        "1)",
        "{1",
        "[1",
        "f(1",
        "x =",
    ] {
        rejected(text);
    }
}
