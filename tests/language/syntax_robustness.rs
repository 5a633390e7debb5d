//! Hostile and huge texts: an answer in bounded time, and never a panic.

use crate::support;

use bombus::base::FileId;
use bombus::syntax::ast::ExprKind;
use bombus::syntax::{parse_formula, parse_substitution, parse_unit, printer};
use support::mutate::mutate;
use support::rng::Rng;

fn formula(text: String) -> Result<ExprKind, String> {
    let parsed = parse_formula(FileId(0), &text);
    match parsed.tree {
        Some(tree) => Ok(tree.kind),
        None => Err(parsed.diagnostics[0].message.clone()),
    }
}

#[test]
fn deep_nesting_is_refused_with_a_message() {
    support::with_stack(|| {
        for text in [
            "(".repeat(1_000_000),
            "{".repeat(1_000_000),
            "[".repeat(1_000_000),
            "dom(".repeat(300_000),
            "!x.(".repeat(300_000),
            "not(".repeat(300_000),
            "IF 1=1 THEN ".repeat(100_000),
            "IF ".repeat(100_000),
            "x**".repeat(300_000) + "x",
            "x".to_owned() + &"+x".repeat(300_000),
            "x".to_owned() + &"(x)".repeat(300_000),
            "x".to_owned() + &"'x".repeat(300_000),
            "x=1".to_owned() + &" & x=1 or x=1".repeat(300_000),
            "x=1".to_owned() + &" => x=1".repeat(300_000),
            "/*@label a*/ ".repeat(100_000) + "x=1",
            "[x:=1] ".repeat(100_000) + "x=1",
            "(".repeat(100_000) + "x" + &",x)".repeat(100_000),
        ] {
            let message = formula(text.clone()).expect_err("too deep");
            assert!(message.contains("nested"), "{}…: {message}", &text[..20]);
        }
        for text in
            ["BEGIN ".repeat(100_000), "IF x=1 THEN ".repeat(100_000), "WHILE x=1 DO ".repeat(100_000)]
        {
            let parsed = parse_substitution(FileId(0), &text);
            assert!(parsed.diagnostics[0].message.contains("nested"));
        }
    });
}

#[test]
fn nesting_below_the_limit_is_accepted() {
    support::with_stack(|| {
        let deep = "(".repeat(1_900) + "x" + &")".repeat(1_900);
        assert!(formula(deep).is_ok());
        assert!(formula("x".to_owned() + &"+x".repeat(1_900)).is_ok());
        let nested = "{".repeat(1_900) + "x" + &"}".repeat(1_900);
        let tree = parse_formula(FileId(0), &nested).tree.expect("a tree");
        assert_eq!(printer::formula(&tree), nested);
    });
}

#[test]
fn wide_formulas_parse_in_one_go() {
    support::with_stack(|| {
        let set = format!("{{{}}}", vec!["1|->2"; 1_000_000].join(","));
        assert!(matches!(formula(set), Ok(ExprKind::SetExt(elements)) if elements.len() == 1_000_000));
        let names = format!("{{{}}}", vec!["x"; 1_000_000].join(","));
        assert!(matches!(formula(names), Ok(ExprKind::SetExt(elements)) if elements.len() == 1_000_000));
        let sequence = format!("[{}]", vec!["x"; 1_000_000].join(","));
        assert!(matches!(formula(sequence), Ok(ExprKind::SeqExt(elements)) if elements.len() == 1_000_000));
        let conjunction = vec!["x=1"; 100_000].join(" & ");
        assert!(matches!(formula(conjunction), Ok(ExprKind::And(parts)) if parts.len() == 100_000));
        let disjunction = vec!["x=1"; 100_000].join(" or ");
        assert!(matches!(formula(disjunction), Ok(ExprKind::Or(parts)) if parts.len() == 100_000));
        assert!(formula("9".repeat(200_000)).is_ok());
        assert!(formula("/*@symbolic*/ ".repeat(100_000) + "{x|x=1}").is_ok());
    });
}

#[test]
fn many_errors_give_a_bounded_number_of_messages() {
    support::with_stack(|| {
        for text in [
            "\u{1}\u{2}".repeat(500_000),
            "?!".repeat(500_000),
            "MACHINE M DEFINITIONS ".to_owned() + &"D == ; ".repeat(100_000) + "END",
            "MACHINE M OPERATIONS ".to_owned() + &"op = x := ; ".repeat(100_000) + "END",
            "MACHINE M ".to_owned() + &"SETS ".repeat(100_000) + "END",
            "MACHINE M DEFINITIONS ".to_owned() + &"D(x,x,x == 1; ".repeat(100_000) + "END",
            "MACHINE M OPERATIONS ".to_owned() + &"; x,x".repeat(100_000) + "END",
            "\"".repeat(100_001),
            "`".repeat(100_001),
            "/*".repeat(100_000),
            "```".repeat(100_001),
            "'''".repeat(100_001),
        ] {
            let parsed = parse_unit(FileId(0), &text);
            assert!(parsed.tree.is_none());
            assert!(!parsed.diagnostics.is_empty() && parsed.diagnostics.len() <= 200);
        }
    });
}

#[test]
fn empty_and_odd_texts_are_errors() {
    for text in [
        "",
        " ",
        "\n",
        "\0",
        "MACHINE",
        "MACHINE M",
        "END",
        "\u{FEFF}",
        "#!",
        "#!x\n",
        "/*",
        "\"",
        "'''",
        "```",
        "`",
    ] {
        let parsed = parse_unit(FileId(0), text);
        assert!(parsed.tree.is_none() && !parsed.diagnostics.is_empty(), "{text:?}");
    }
    let text = "#!/usr/bin/env probcli\nMACHINE M END";
    assert!(parse_unit(FileId(0), text).tree.is_some(), "a first line `#!` is skipped");
    assert!(parse_unit(FileId(0), "\u{FEFF}MACHINE M END").tree.is_some());
}

/// Samples that use every construct, for damage.
const SAMPLES: &[&str] = &[
    include_str!("../support/samples/lift.mch"),
    include_str!("../support/samples/words.mch"),
    include_str!("../support/samples/stack.ref"),
    include_str!("../support/samples/loop.imp"),
    include_str!("../support/samples/common.def"),
];

#[test]
fn the_samples_parse_and_survive_printing() {
    for text in SAMPLES {
        let parsed = parse_unit(FileId(0), text);
        let tree = parsed.tree.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics));
        assert_eq!(parse_unit(FileId(0), &printer::unit(&tree)).tree.as_ref(), Some(&tree));
    }
}

/// Parses a damaged text; if it is still one, its tree must survive printing.
fn survive(text: &str) {
    let parsed = parse_unit(FileId(0), text);
    match parsed.tree {
        None => assert!(!parsed.diagnostics.is_empty(), "rejected without a message:\n{text}"),
        Some(tree) => {
            let printed = printer::unit(&tree);
            let again = parse_unit(FileId(0), &printed);
            assert!(
                again.tree.as_ref() == Some(&tree),
                "{text}\nprints as\n{printed}\n{:?}",
                again.diagnostics.first()
            );
        }
    }
    for diagnostic in &parsed.diagnostics {
        for (span, _) in &diagnostic.labels {
            assert!(span.start <= span.end && span.end as usize <= text.len());
            assert!(text.is_char_boundary(span.start as usize) && text.is_char_boundary(span.end as usize));
        }
    }
}

#[test]
fn damaged_texts_never_panic() {
    support::with_stack(|| {
        let count = support::number_from_env("BOMBUS_MUTATIONS", 20_000);
        for case in 0..count {
            let mut rng = Rng::new(0xBEE + case);
            let sample = *rng.pick(SAMPLES);
            survive(&mutate(sample, &mut rng));
        }
    });
}

#[test]
#[ignore = "needs real models: BOMBUS_CORPUS names their directory"]
fn damaged_texts_of_real_models_never_panic() {
    support::with_stack(|| {
        let files = support::classical_files(&support::corpus());
        for case in 0..support::number_from_env("BOMBUS_MUTATIONS", 20_000) {
            let mut rng = Rng::new(0xF00D + case);
            let path = rng.pick(&files);
            let text = support::read_text(path);
            if text.len() < 100_000 {
                survive(&mutate(&text, &mut rng));
            }
        }
    });
}
