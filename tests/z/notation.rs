//! The notation of fuzz: what is formal, where lines break, what is reported.

use bombus::base::FileId;
use bombus::driver::on_large_stack;
use bombus::syntax::Parsed;
use bombus::syntax::z::tree::Spec;

fn parse(_: FileId, text: &str) -> Parsed<Spec> {
    on_large_stack(|| bombus::syntax::z::parse(FileId(0), text)).expect("no panic")
}

fn messages(text: &str) -> Vec<String> {
    parse(FileId(0), text).diagnostics.into_iter().map(|d| d.message).collect()
}

fn accepted(zed: &str) {
    assert_eq!(messages(&format!("\\begin{{zed}}{zed}\\end{{zed}}")), Vec::<String>::new(), "{zed}");
}

fn refused(zed: &str) {
    assert!(parse(FileId(0), &format!("\\begin{{zed}}{zed}\\end{{zed}}")).tree.is_none(), "{zed}");
}

#[test]
fn text_outside_of_formal_environments_is_prose() {
    assert!(messages("We say $x \\in$ \\emph{nonsense ( [ } % \\begin{zed} \n").is_empty());
}

#[test]
fn two_percent_signs_hide_a_line_from_latex_alone() {
    let parsed = parse(FileId(0), "%% \\begin{zed} [NAME] \\end{zed}\n% \\begin{zed} ( \\end{zed}\n");
    assert_eq!(parsed.tree.expect("a specification").paragraphs.len(), 1);
}

#[test]
fn a_line_break_beside_a_binary_symbol_does_not_separate() {
    accepted("S \\defs [x : \\nat | x = 1 \\\\ + 2 \\\\ \\land x \\\\ > 1]");
    accepted("T ::= a \\\\ | b \\also [NAME] \\\\");
}

#[test]
fn every_item_with_an_error_is_reported() {
    let found = messages("\\begin{zed} x = ) \\\\ [A] \\\\ B == ] \\\\ C == 1 + \\} \\end{zed}");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn boxes_must_be_balanced() {
    assert!(messages("\\begin{schema}{S} x : \\nat ")[0].contains("never closed"));
    assert!(messages("\\begin{schema}{S} x : \\nat \\begin{zed} [A] \\end{zed}")[0].contains("not closed"));
    assert!(messages("\\begin{schema}{S} x : \\nat \\end{zed}")[0].contains("is closed by"));
    assert!(messages("\\end{schema}")[0].contains("without"));
}

#[test]
fn an_environment_that_was_meant_to_be_formal_is_named() {
    assert!(messages("\\begin{shcema}{S} x : \\nat \\end{shcema}")[0].contains("unknown environment"));
    assert!(messages("\\begin{box} x : \\nat \\where x > 1 \\end{box}")[0].contains("unknown environment"));
    assert!(messages("\\begin{itemize} \\item x \\end{itemize}").is_empty());
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    for (open, close) in [("\\{", "\\}"), ("(", ")"), ("\\langle", "\\rangle")] {
        let text = format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
        let found = messages(&format!("\\begin{{zed}}{text}\\end{{zed}}"));
        assert!(found.iter().any(|m| m.contains("nested too deeply")), "{open} {found:?}");
    }
    refused(&format!("{}x = 1{}", "\\lnot (".repeat(100_000), ")".repeat(100_000)));
    refused(&format!("x = {}1", "-".repeat(100_000)));
    for chain in [" + 1", "~1", "\\inv", ".a", " \\cross 1", " \\mapsto 1", " \\limg 1 \\rimg"] {
        refused(&format!("x = 1{}", chain.repeat(100_000)));
    }
    for chain in [" \\land 1 = 1", " \\implies 1 = 1", " \\hide (x)", " \\semi x = x"] {
        refused(&format!("1 = 1{}", chain.repeat(100_000)));
    }
    refused(&format!("x = {}", "{".repeat(100_000)));
    refused(&format!("x = {}1", "\\power ".repeat(100_000)));
    refused(&format!("{} x = 1", "\\lnot ".repeat(100_000)));
}

#[test]
fn declared_operators_are_read_as_declared() {
    let text =
        "%%inop \\join 3\n%%inrel \\above\n%%ingen \\twin\n\\begin{zed} a \\join b \\above c \\end{zed}";
    assert_eq!(messages(text), Vec::<String>::new());
}

#[test]
fn names_side_by_side_are_an_application_with_a_warning() {
    let parsed = parse(FileId(0), "\\begin{zed} f x = 1 \\end{zed}");
    assert!(parsed.tree.is_some());
    assert_eq!(parsed.diagnostics.len(), 1);
    accepted("f~x = 1");
}
