//! What the LTL parser accepts and refuses, in the words of the reference.

use super::*;
use crate::formula::Features;
use crate::parse_ctl;
use bombus_base::diagnostic::Sources;
use bombus_base::span::FileId;

const HERE: Place = Place { file: FileId(0), offset: 0 };

/// The formula with all its parentheses.
fn read(text: &str) -> String {
    match parse_ltl(text, HERE) {
        Ok(parsed) => parsed.formula.to_string(),
        Err(faults) => panic!("{text}: {}", faults[0].message),
    }
}

fn refused(text: &str) -> Diagnostic {
    match parse_ltl(text, HERE) {
        Ok(parsed) => panic!("{text} was read as {}", parsed.formula),
        Err(mut faults) => faults.remove(0),
    }
}

#[test]
fn precedences_are_those_of_prob() {
    for (text, meaning) in [
        ("G {p} => F {q}", "(G {p} => F {q})"),
        ("{p} U {q} & {r}", "(({p} U {q}) & {r})"),
        ("G {p} U {q}", "(G {p} U {q})"),
        ("not {p} U {q}", "(not {p} U {q})"),
        ("GF{p}", "G F {p}"),
        ("XX {p}", "X X {p}"),
        ("{a} or {b} & {c}", "(({a} or {b}) & {c})"),
        ("{a} & {b} or {c}", "(({a} & {b}) or {c})"),
        ("{a} => {b} => {c}", "(({a} => {b}) => {c})"),
        ("{a} U {b} W {c}", "(({a} U {b}) W {c})"),
        ("{a} => {b} <=> {c}", "(({a} => {b}) <=> {c})"),
        ("{a} S {b} T {c} R {d}", "((({a} S {b}) T {c}) R {d})"),
        ("G ([a] => X e(b))", "G ([a] => X e(b))"),
        ("(FG e(C) => GF [C]) & (G {x=1})", "((F G e(C) => G F [C]) & G {x=1})"),
    ] {
        assert_eq!(read(text), meaning, "{text}");
    }
}

#[test]
fn every_alias_names_its_operator() {
    for (words, meaning) in [
        (&["G", "globally", "always", "□"][..], "G true"),
        (&["F", "finally", "eventually", "<>", "⋄"], "F true"),
        (&["X", "next"], "X true"),
        (&["Y", "yesterday"], "Y true"),
        (&["O", "once"], "O true"),
        (&["H", "historically"], "H true"),
        (&["not", "¬", "!"], "not true"),
    ] {
        for word in words {
            assert_eq!(read(&format!("{word} true")), meaning);
        }
    }
    for (words, meaning) in [
        (&["&", "∧", "and", "&&"][..], "(true & false)"),
        (&["or", "∨", "||"], "(true or false)"),
        (&["=>", "⇒", "implies", "->"], "(true => false)"),
        (&["<=>", "⇔", "equivalent", "<->"], "(true <=> false)"),
        (&["U", "until", "stronguntil"], "(true U false)"),
        (&["W", "weakuntil"], "(true W false)"),
        (&["R", "release"], "(true R false)"),
        (&["S", "since"], "(true S false)"),
        (&["T", "trigger"], "(true T false)"),
    ] {
        for word in words {
            assert_eq!(read(&format!("true {word} false")), meaning);
        }
    }
    for (text, meaning) in [
        ("enabled(op)", "e(op)"),
        ("Av(op)", "e(op)"),
        ("available(op(1))", "e(op(1))"),
        ("UNCHANGED({x})", "unchanged({x})"),
        ("BA({x>x$0})", "before_after({x>x$0})"),
        ("sf(a) & wf(b) => true", "((SF(a) & WF(b)) => true)"),
    ] {
        assert_eq!(read(text), meaning);
    }
}

#[test]
fn b_text_is_taken_whole_with_its_brackets() {
    for (text, meaning) in [
        ("{x:{1,2} & f({3}) = {}}", "{x:{1,2} & f({3}) = {}}"),
        ("[op(f(1,2),_,{3,4})]", "[op(f(1,2),_,{3,4})]"),
        ("[op([1,2](1))]", "[op([1,2](1))]"),
        ("e( op )", "e(op)"),
        ("deadlock(a,b(1),c)", "deadlock(a,b(1),c)"),
        ("deterministic(a)", "deterministic(a)"),
        ("controller(a, b)", "controller(a,b)"),
        ("deadlock", "deadlock"),
        (
            "sink or goal or error or current or det_output",
            "((((sink or goal) or error) or current) or det_output)",
        ),
        ("changed({x}) or increasing({card(s)})", "(changed({x}) or increasing({card(s)}))"),
        ("#x.({x:1..3} & F [op(x)])", "#x.({x:1..3} & F [op(x)])"),
        ("!y1 . ({y1:S} => G {y1:t})", "!y1.({y1:S} => G {y1:t})"),
    ] {
        assert_eq!(read(text), meaning);
    }
}

#[test]
fn fairness_is_an_antecedent() {
    for (text, meaning) in [
        ("SF(a) & SF(b) => F {p}", "((SF(a) & SF(b)) => F {p})"),
        ("SF(a) or SF(b) => F {p}", "((SF(a) or SF(b)) => F {p})"),
        ("WF(a) & WF(b) & SF(c) => F {p}", "(((WF(a) & WF(b)) & SF(c)) => F {p})"),
        ("(SF(a)) => F {p}", "(SF(a) => F {p})"),
        ("SEF & WEF => F {p}", "((SEF & WEF) => F {p})"),
        ("WEF & SF(a) => F {p}", "((WEF & SF(a)) => F {p})"),
        ("SF(a(1)) => {p} <=> {q}", "(SF(a(1)) => ({p} <=> {q}))"),
        ("(SF(F) & SF(E)) or (SF(C) & SF(D)) => GF {p}", "(((SF(F) & SF(E)) or (SF(C) & SF(D))) => G F {p})"),
        ("G (SF(a) => F {p})", "G (SF(a) => F {p})"),
    ] {
        assert_eq!(read(text), meaning);
    }
    for text in [
        "(SF(a) & WF(b)) => F {p}",
        "SF(a) & WF(b) & SF(c) => F {p}",
        "SEF & SF(a) => F {p}",
        "SF(a) => WF(b) => F {p}",
        "G SF(a)",
        "SF(a)",
        "{p} => SF(a)",
    ] {
        refused(text);
    }
}

#[test]
fn faults_are_told_at_their_place() {
    for (text, at) in [
        ("G (foo)", 3),
        ("<>[]{p}", 3),
        ("G ({p}", 6),
        ("{p", 0),
        ("{p} {q}", 4),
        ("{p} <=> {q} <=> {r}", 12),
        ("{p} &", 5),
        ("", 0),
        ("{p})", 3),
        ("#x.({x:S} => {p})", 10),
        ("! x.{p}", 4),
        ("changed(x)", 8),
        ("[op(1)x]", 1),
        ("{p} | {q}", 4),
    ] {
        let fault = refused(text);
        assert_eq!(fault.labels[0].0.start, at, "{text}: {}", fault.message);
    }
    let mut sources = Sources::default();
    let text = "G ({x=1} ~> {y=1})";
    let file = sources.add("<formula>", None, text);
    let fault = &parse_ltl(text, Place { file, offset: 0 }).unwrap_err()[0];
    assert!(sources.render(fault).contains("<formula>:1:10"));
}

/// What a user sees who takes the notation for another one: one fault, and the way out.
#[test]
fn other_notations_are_told_how_they_are_written_here() {
    for (text, wanted) in [
        ("{p} ~> {q}", "G (p => F q)"),
        ("AG {p}", "--ctl"),
        ("AGEF {p}", "--ctl"),
        ("G e create", "e(op)"),
        ("changed {x}", "changed({x})"),
        ("[]{p}", "G"),
        ("G(active={})", "{P}"),
        ("G (x>3)", "{P}"),
        ("x:S => F {p}", "{P}"),
        ("{p} | {q}", "or"),
        ("G ~{p}", "not"),
    ] {
        let faults = parse_ltl(text, HERE).unwrap_err();
        let help: Vec<&str> = faults[0].help.iter().map(|h| &**h).collect();
        assert!(help.join(" ").contains(wanted), "{text}: {}: {help:?}", faults[0].message);
    }
    for text in ["{p} ~> {q}", "AG {p}", "G (x>3)", "x:S => F {p}"] {
        assert_eq!(parse_ltl(text, HERE).unwrap_err().len(), 1, "{text}");
    }
    for (text, wanted) in [("AG SF(a)", "fairness"), ("{p} <=> {q}", "equivalence"), ("AG {p} W {q}", "LTL")]
    {
        let fault = &parse_ctl(text, HERE).unwrap_err()[0];
        assert!(fault.message.contains(wanted), "{text}: {}", fault.message);
    }
}

#[test]
fn the_old_negation_is_read_and_told() {
    let parsed = parse_ltl("G([p1critical] => X(!e(p2critical)))", HERE).unwrap();
    assert_eq!(parsed.formula.to_string(), "G ([p1critical] => X not e(p2critical))");
    assert_eq!(parsed.warnings.len(), 1);
    assert_eq!(read("! F {card(member) > 2}"), "not F {card(member) > 2}");
}

#[test]
fn nesting_without_bound_is_refused() {
    refused(&format!("{}true", "G ".repeat(100_000)));
    refused(&format!("{}true{}", "(".repeat(100_000), ")".repeat(100_000)));
    refused(&vec!["true"; 100_000].join(" & "));
}

#[test]
fn spans_are_shifted_to_the_place_in_the_file() {
    let parsed = parse_ltl("G {x=1}", Place { file: FileId(3), offset: 100 }).unwrap();
    assert_eq!(parsed.formula.span, Span::new(FileId(3), 100, 107));
    let Kind::Unary(_, inner) = parsed.formula.kind else { panic!() };
    let Kind::Atom(Atom::Predicate(p)) = inner.kind else { panic!() };
    assert_eq!(p.span, Span::new(FileId(3), 103, 106));
}

#[test]
fn what_reductions_must_know_shows_in_the_form() {
    let features = |text: &str| parse_ltl(text, HERE).unwrap().formula.features();
    for (text, safety) in [
        ("G {p}", true),
        ("G ([a] => X e(b))", true),
        ("{p} W {q}", true),
        ("not F {p}", true),
        ("not ({p} U {q})", true),
        ("G (e(a) => Y O [b])", true),
        ("F {p}", false),
        ("G ({p} => F {q})", false),
        ("{p} U {q}", false),
        ("G {p} => {q}", false),
        ("G {p} <=> {q}", false),
        ("not G {p}", false),
    ] {
        assert_eq!(features(text).safety, safety, "{text}");
    }
    assert!(features("G (e(a) => F {p})") == Features::default());
    assert!(
        features("X {p}").counts_steps && features("[a]").counts_steps && !features("O {p}").counts_steps
    );
    assert!(features("e(a(1))").names_elements && !features("e(a(_))").names_elements);
    assert!(features("SF(a) => true").fairness && features("WEF => true").fairness_of_instances);
}
