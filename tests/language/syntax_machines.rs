//! Substitutions, clauses, definitions: what is accepted, and what the messages say otherwise.

use bombus::base::FileId;
use bombus::syntax::ast::*;
use bombus::syntax::{parse_formula, parse_substitution, parse_unit};

fn statement(text: &str) -> Stmt {
    let parsed = parse_substitution(FileId(0), text);
    parsed.tree.unwrap_or_else(|| panic!("`{text}` is rejected: {:?}", parsed.diagnostics))
}

#[track_caller]
fn no_statement(text: &str) -> String {
    let parsed = parse_substitution(FileId(0), text);
    assert!(parsed.tree.is_none(), "`{text}` is accepted as {:?}", parsed.tree);
    format!("{} / {}", parsed.diagnostics[0].message, parsed.diagnostics[0].help.join(" "))
}

#[track_caller]
fn machine(text: &str) -> Machine {
    let parsed = parse_unit(FileId(0), text);
    match parsed.tree {
        Some(Unit::Machine(machine)) => machine,
        other => panic!("`{text}` gives {other:?}, {:?}", parsed.diagnostics),
    }
}

#[track_caller]
fn messages(text: &str) -> Vec<String> {
    let parsed = parse_unit(FileId(0), text);
    assert!(parsed.tree.is_none(), "`{text}` is accepted");
    parsed.diagnostics.iter().map(|d| d.message.clone()).collect()
}

/// The body of `D` in a machine that holds only this definition.
#[track_caller]
fn definition(body: &str) -> DefBody {
    let text = format!("MACHINE M DEFINITIONS D == {body} ; E == 1 END");
    let machine = machine(&text);
    let ClauseKind::Definitions(items) = &machine.clauses[0].kind else { panic!("definitions") };
    assert_eq!(items.len(), 2, "`{body}` ends at its `;`");
    match &items[0] {
        DefItem::Def(definition) => definition.body.clone(),
        DefItem::File(_) => panic!("a definition"),
    }
}

#[test]
fn parallel_binds_tighter_than_sequence() {
    let StmtKind::Seq(parts) = statement("x:=5 ; y:=x || z:=x").kind else { panic!("a sequence") };
    assert_eq!(parts.len(), 2);
    assert!(matches!(&parts[1].kind, StmtKind::Par(both) if both.len() == 2));
    assert!(matches!(statement("a:=1;b:=1;c:=1").kind, StmtKind::Seq(parts) if parts.len() == 3));
}

#[test]
fn every_substitution_is_read() {
    for text in [
        "skip",
        "BEGIN skip END",
        "x := 1",
        "x,y := y,x",
        "f(1) := 2",
        "f(1)(2) := 3",
        "f(1,2) := 3",
        "r'a := 1",
        "r'a'b := 1",
        "f(x)'a := 1",
        "m.x := 1",
        "x :: S",
        "x,y :: S*T",
        "x :(x>x$0)",
        "x : (x>1)",
        "x,y:(x=y)",
        "PRE x=1 THEN skip END",
        "ASSERT x=1 THEN skip END",
        "CHOICE skip OR x:=1 OR x:=2 END",
        "IF x=1 THEN skip END",
        "IF x=1 THEN skip ELSIF x=2 THEN skip ELSE skip END",
        "SELECT x=1 THEN skip WHEN x=2 THEN skip ELSE skip END",
        "CASE x OF EITHER 1,2 THEN skip OR 3 THEN skip ELSE skip END END",
        "CASE (f;g) OF EITHER f THEN skip END END",
        "ANY x,y WHERE x=y THEN skip END",
        "LET x,y BE x=1 & y=2 IN skip END",
        "VAR x IN x:=1; y:=x END",
        "WHILE x<4 DO x:=x+1 INVARIANT x:0..4 VARIANT 4-x END",
        "WITNESS x=1 THEN skip END",
        "op",
        "op(1,2)",
        "r,s <-- op(1)",
        "r <-- m.op",
        "m.op(1)",
        "f(1) <-- op",
        "x ← op",
        "x ≔ 1",
        "x :∈ S",
        "skip ∥ skip",
        "left(1,2)",
        "r <-- top(1,2,3)",
        "left(1) := 2",
    ] {
        statement(text);
    }
}

#[test]
fn becomes_such_that_is_no_membership() {
    let StmtKind::BecomesSuch(names, _) = statement("x:(x:1..3)").kind else { panic!("becomes such that") };
    assert_eq!(names.len(), 1);
    no_statement("x : S");
}

#[test]
fn wrong_substitutions_are_refused() {
    assert!(no_statement("r'a(1) := 2").contains("field"));
    no_statement("f(1) :: S");
    no_statement("f(1) :(x=1)");
    assert!(no_statement("BEGIN skip; END").contains("none may stand"));
    assert!(no_statement("BEGIN END").contains("empty"));
    assert!(no_statement("IF x=1 THEN ELSE skip END").contains("empty"));
    assert!(no_statement("skip ;; skip").contains("`;`"));
    no_statement("skip || || skip");
    assert!(no_statement("CASE x OF EITHER 1 THEN skip END").contains("second `END`"));
    no_statement("x,y");
    no_statement("x := ");
    no_statement("x,y := 1");
    assert!(no_statement("x := y = 1").contains("predicate"));
    no_statement("x[1] := 2");
    no_statement("(skip)");
    no_statement("SELECT x=1 THEN skip or skip END");
    no_statement("ANY x THEN skip END");
    no_statement("WHILE x<4 DO skip END");
    no_statement("x = 1");
}

#[test]
fn the_end_of_a_definition_is_found() {
    assert!(matches!(definition("dom(p;q)"), DefBody::Expr(_)));
    assert!(matches!(definition("(p;q)"), DefBody::Expr(_)));
    assert!(matches!(definition("r[p;q]"), DefBody::Expr(_)), "more liberal than ProB");
    assert!(matches!(definition("BEGIN x:=1; y:=2 END"), DefBody::Stmt(_)));
    assert!(
        matches!(definition("CASE x OF EITHER 1 THEN skip END END"), DefBody::Stmt(_)),
        "more liberal than ProB"
    );
    assert!(matches!(definition("WHILE x<1 DO x:=1; y:=2 INVARIANT x=1 VARIANT x END"), DefBody::Stmt(_)));
}

#[test]
fn a_definition_is_a_formula_if_it_can_be_one() {
    for text in
        ["1+1", "x=1", "x", "f(1)", "x,y", "IF x=1 THEN 2 ELSE 3 END", "IF a THEN b ELSE c END", "x:(S)"]
    {
        assert!(matches!(definition(text), DefBody::Expr(_)), "{text}");
    }
    for text in [
        "x:=1",
        "x,y:=y,x",
        "x::S",
        "x:(x=1)",
        "IF x=1 THEN y:=2 ELSE y:=3 END",
        "IF x=1 THEN op END",
        "LET x BE x=1 IN y:=x END",
        "skip",
        "r <-- op(1)",
        "f(1):=2",
    ] {
        assert!(matches!(definition(text), DefBody::Stmt(_)), "{text}");
    }
}

#[test]
fn a_definition_holds_one_substitution() {
    assert!(messages("MACHINE M DEFINITIONS D == x:=1 || y:=2 END")[0].contains("one substitution"));
    machine("MACHINE M DEFINITIONS D == BEGIN x:=1 || y:=2 END END");
}

#[test]
fn definitions_may_end_with_a_semicolon_and_name_files() {
    let m = machine("MACHINE M DEFINITIONS D == 1; \"a.def\"; `my d`(x) ≜ x; END");
    let ClauseKind::Definitions(items) = &m.clauses[0].kind else { panic!("definitions") };
    assert_eq!(items.len(), 3);
    assert!(matches!(&items[1], DefItem::File(path) if &*path.name == "a.def"));
    machine("MACHINE M DEFINITIONS END");
    let file = parse_unit(FileId(0), "DEFINITIONS D == 1; E(x) == x+1;");
    assert!(matches!(file.tree, Some(Unit::Definitions(items)) if items.len() == 2));
}

#[test]
fn every_clause_is_read() {
    let m = machine(
        "MACHINE M(P, n) CONSTRAINTS n:1..2 SEES A, p.B USES C INCLUDES D(1), q.E EXTENDS F PROMOTES op, q.op \
         SETS S; T={a,b}; U=V FREETYPES L = nil, cons(INTEGER*L) CONSTANTS c ABSTRACT_CONSTANTS d PROPERTIES c=d \
         VARIABLES v CONCRETE_VARIABLES w INVARIANT v=w ASSERTIONS v=1; w=1 INITIALISATION v:=1; w:=1 \
         DEFINITIONS V=={x,y} EXPRESSIONS e==1 PREDICATES pp==1=1 LOCAL_OPERATIONS l = skip \
         OPERATIONS r,s <-- o(x,y) ref abs = skip; p.q = x:=1 || y:=2 END",
    );
    assert_eq!(m.clauses.len(), 21);
    assert_eq!(m.params.len(), 2);
    let ClauseKind::Sees(seen) = &m.clauses[1].kind else { panic!("SEES") };
    assert_eq!(seen[1].prefix.as_ref().map(|p| p.name.to_string()), Some("p".into()));
    let ClauseKind::Operations(operations) = &m.clauses[20].kind else { panic!("OPERATIONS") };
    assert_eq!(operations[0].results.len(), 2);
    assert_eq!(operations[0].refines.as_ref().map(|r| r.name.to_string()), Some("abs".into()));
    assert_eq!(&*operations[1].name.name, "p.q");
    machine("MODEL M EVENTS e = skip END");
    machine("SYSTEM M END");
    let r = machine("REFINEMENT R REFINES M VARIABLES x INVARIANT x=1 END");
    assert_eq!(r.refines.map(|r| r.name.to_string()), Some("M".into()));
    machine("IMPLEMENTATION I REFINES M IMPORTS A VALUES c=1; S=1..3 CONCRETE_VARIABLES v INVARIANT v=1 END");
}

#[test]
fn clauses_stand_once_and_where_they_may() {
    assert!(messages("MACHINE M SETS S SETS T END")[0].contains("second time"));
    assert!(
        messages("MACHINE M CONSTANTS c CONCRETE_CONSTANTS d PROPERTIES c=d END")[0].contains("second time")
    );
    assert!(messages("MACHINE M OPERATIONS o=skip EVENTS p=skip END")[0].contains("second time"));
    for (head, clause) in [
        ("MACHINE M", "IMPORTS A"),
        ("MACHINE M", "VALUES x=1"),
        ("REFINEMENT M REFINES A", "USES B"),
        ("REFINEMENT M REFINES A", "CONSTRAINTS 1=1"),
        ("REFINEMENT M REFINES A", "LOCAL_OPERATIONS o=skip"),
        ("REFINEMENT M REFINES A", "IMPORTS B"),
        ("REFINEMENT M REFINES A", "VALUES x=1"),
        ("IMPLEMENTATION M REFINES A", "CONSTRAINTS 1=1"),
        ("IMPLEMENTATION M REFINES A", "INCLUDES B"),
        ("IMPLEMENTATION M REFINES A", "USES B"),
        ("IMPLEMENTATION M REFINES A", "ABSTRACT_CONSTANTS c"),
    ] {
        assert!(
            messages(&format!("{head} {clause} END"))[0].contains("may not have the clause"),
            "{head} {clause}"
        );
    }
    // Other tools take variables of an implementation for concrete ones.
    for clause in ["VARIABLES", "ABSTRACT_VARIABLES"] {
        let parsed = parse_unit(FileId(0), &format!("IMPLEMENTATION M REFINES A {clause} v END"));
        let said: Vec<&str> = parsed.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(parsed.tree.is_some(), "{said:?}");
        assert!(said[0].contains("these are read as CONCRETE_VARIABLES"), "{said:?}");
    }
}

#[test]
fn clauses_need_each_other() {
    assert!(messages("MACHINE M CONSTANTS c END")[0].contains("PROPERTIES"));
    assert_eq!(messages("MACHINE M VARIABLES v END").len(), 2, "INVARIANT and INITIALISATION");
    machine("REFINEMENT R REFINES M CONSTANTS c VARIABLES v END");
    assert!(messages("MACHINE M(n) END")[0].contains("CONSTRAINTS"));
    machine("MACHINE M(N) END");
    machine("MACHINE M(Pp) END");
    assert!(messages("MACHINE a.b END")[0].contains("dot"));
}

#[test]
fn separators_do_not_end_a_list() {
    for text in [
        "MACHINE M SETS S; END",
        "MACHINE M OPERATIONS o = skip; END",
        "MACHINE M ASSERTIONS 1=1; END",
        "MACHINE M SETS S,T END",
        "MACHINE M CONSTANTS c, PROPERTIES c=1 END",
        "MACHINE M DEFINITIONS D == 1;; E == 2 END",
        "MACHINE M OPERATIONS o = skip; x := 1; p = skip END",
    ] {
        messages(text);
    }
}

#[test]
fn all_errors_of_a_file_are_found() {
    let found = messages(
        "MACHINE M SETS 1 CONSTANTS c PROPERTIES c = = 1 DEFINITIONS D == 1 +; E == 2; F == ) \
         VARIABLES v INVARIANT v : INITIALISATION v := \
         OPERATIONS a = BEGIN x := END; b = skip; c = WHILE x DO y := INVARIANT x=1 VARIANT z END; d = IF THEN END END",
    );
    assert_eq!(found.len(), 9, "{found:#?}");
    let found = messages("MACHINE M PROPERTIES x ?? 1 = 1 INVARIANT y § 1 END");
    assert_eq!(found.len(), 4, "two of the lexer, two of the parser: {found:#?}");
}

#[test]
fn messages_point_at_the_place() {
    let text = "MACHINE M\nINVARIANT x = )\nEND";
    let parsed = parse_unit(FileId(0), text);
    let span = parsed.diagnostics[0].labels[0].0;
    assert_eq!(&text[span.start as usize..span.end as usize], ")");
    assert_eq!(parsed.diagnostics[0].message, "expected an expression or a predicate, found `)`");
}

#[test]
fn spans_cover_the_text_of_a_node() {
    let text = "(a + b) * c & !x.(x = 1)";
    let tree = parse_formula(FileId(0), "aa * ((b + c)) = dd(1)'e").tree.expect("a tree");
    assert_eq!((tree.span.start, tree.span.end), (0, 24));
    let parsed = parse_formula(FileId(0), text);
    let label = parsed.diagnostics[0].labels[0].0;
    assert_eq!(&text[label.start as usize..label.end as usize], "(a + b) * c");
}

#[test]
fn the_end_of_the_machine_is_the_end_of_the_text() {
    assert!(messages("MACHINE M END END")[0].contains("after the END"));
    assert!(messages("MACHINE M INVARIANT 1=1")[0].contains("END"));
    assert!(messages("x = 1")[0].contains("MACHINE"));
    assert!(messages("REFINEMENT R END")[0].contains("REFINES"));
}

#[test]
fn names_of_contextual_functions_belong_to_the_model_that_declares_them() {
    let text = "MACHINE M VARIABLES floor, left INVARIANT floor : 0..9 & left : 0..9 --> INT & left(floor) = 1 \
                INITIALISATION floor, left := 0, {} OPERATIONS top(father) = skip END";
    let m = machine(text);
    let ClauseKind::Invariant(Expr { kind: ExprKind::And(parts), .. }) = &m.clauses[1].kind else {
        panic!("And")
    };
    let ExprKind::Binary(_, call, _) = &parts[2].kind else { panic!("an equation") };
    assert!(matches!(call.kind, ExprKind::Apply(..)), "left is the variable, not the tree function");
    let m =
        machine("MACHINE M PROPERTIES floor(2.5) = 2 DEFINITIONS left(x) == x+1 ASSERTIONS left(1) = 2 END");
    let ClauseKind::Properties(p) = &m.clauses[0].kind else { panic!("PROPERTIES") };
    assert!(
        matches!(&p.kind, ExprKind::Binary(_, f, _) if matches!(f.kind, ExprKind::Builtin(Builtin::Floor, _)))
    );
    let ClauseKind::Assertions(a) = &m.clauses[2].kind else { panic!("ASSERTIONS") };
    assert!(matches!(&a[0].kind, ExprKind::Binary(_, f, _) if matches!(f.kind, ExprKind::Apply(..))));
}

#[test]
fn packages_and_files_are_kept() {
    let m = machine(
        "/*@package a.b*/ /*@import-package c*/ /*@generated*/ MACHINE M SEES N /*@file \"x/N.mch\"*/ END",
    );
    assert_eq!(m.packages.len(), 2);
    let ClauseKind::Sees(refs) = &m.clauses[0].kind else { panic!("SEES") };
    assert_eq!(refs[0].file.as_deref(), Some("x/N.mch"));
}
