//! Every row of `values.tsv`: a formula of the core language and its value.

use bombus_oracle::eval::{Env, Oracle, Stop};
use bombus_oracle::text::{Core, read};
use bombus_oracle::tree::{Expr, Machine, Pred};

/// The value as text: an expression's value in B notation, TRUE or FALSE, `undefined`, `too-big`.
fn outcome(kind: &str, text: &str) -> String {
    let machine = Machine::default();
    let oracle = Oracle::new(&machine, 10_000_000);
    let env = Env::default();
    let answer = if kind == "pred" {
        let p: Pred = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(p.write(), text, "what was read is not what is written");
        oracle.holds(&env, &p).map(|b| if b { "TRUE".to_string() } else { "FALSE".to_string() })
    } else {
        let e: Expr = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(e.write(), text, "what was read is not what is written");
        oracle.eval(&env, &e).map(|v| v.to_string())
    };
    match answer {
        Ok(v) => v,
        Err(Stop::Undefined(_)) => "undefined".into(),
        Err(Stop::TooBig(_)) => "too-big".into(),
        Err(other) => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_row_of_the_table_has_the_stated_value() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in include_str!("values.tsv").lines().filter(|l| !l.starts_with('#')) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [number, kind, source, core, value] = cells[..] else { panic!("five cells: {row}") };
        let expected = match value {
            "undefined" | "too-big" => value.to_string(),
            "TRUE" | "FALSE" => value.to_string(),
            other => outcome("expr", other),
        };
        let found = outcome(kind, core);
        if found != expected {
            wrong.push(format!("{number}: {source}: expected {expected}, found {found}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 250, "only {count} rows");
}
