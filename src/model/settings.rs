//! Settings: command line, `SET_PREF_…`, `scope_…`, and the other definitions a checker reads.
//!
//! In: definitions of the main machine and the options of a run. Out: MAXINT, MININT, scopes, temporal
//! assertions. The command line beats definitions, which beat the defaults of ProB (2, 3, -1).

use super::definitions::Definitions;
use bombus_base::{Int, Name};
use bombus_lang::typed::TemporalAssertion;
use bombus_syntax::ast::{BinOp, Builtin, Const, DefBody, Expr, ExprKind};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What the user asks for when a model is loaded; everything has a default.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// `--set NAME=N`
    pub set_sizes: BTreeMap<String, usize>,
    /// `--set-size N`
    pub default_set_size: Option<usize>,
    pub maxint: Option<Int>,
    pub minint: Option<Int>,
    /// `--integers-in-scope`: choices of integers that nothing bounds are made in MININT..MAXINT.
    pub integers_in_scope: bool,
    /// `--include DIR`
    pub include: Vec<PathBuf>,
    /// `--allow-files DIR`: formulas may read files below these directories too.
    pub allow_files: Vec<PathBuf>,
    /// `--machine NAME`: which machine of an Event-B project is checked.
    pub machine: Option<String>,
    /// `--abstract-levels N`: how many abstractions are followed together with the machine.
    pub abstract_levels: Option<usize>,
    /// `--all-constants`: no symmetry of the constants is broken.
    pub all_constants: bool,
    /// `--variants`: events of Event-B must decrease or not increase the variant.
    pub variants: bool,
    /// `--operation NAME`: schemas of Z that are operations although others refer to them.
    pub operations: Vec<String>,
    /// Texts that an editor holds and has not saved, by the resolved paths of their files.
    pub unsaved: BTreeMap<PathBuf, Arc<str>>,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub maxint: Int,
    pub minint: Int,
    pub integers_in_scope: bool,
    /// How many abstractions are followed; all without a number.
    pub abstract_levels: Option<usize>,
    pub default_set_size: usize,
    /// `--set NAME=N`
    pub set_sizes: BTreeMap<String, usize>,
    /// `scope_S == n` or `a..b`
    pub scopes: BTreeMap<String, usize>,
    /// `SET_PREF_ALLOW_SIMULTANEOUS_ASSIGNMENTS`: branches of `||` may write one variable, if they agree.
    pub simultaneous_assignments: bool,
    /// `SET_PREF_SHOW_EVENTB_ANY_VALUES`: the values of an outermost ANY belong to the label of a step.
    pub any_values: bool,
    /// `SET_PREF_SYMBOLIC`: constants that are long comprehensions are not listed.
    pub symbolic: bool,
    /// Valuations of the constants that differ only in the names of elements are all kept.
    pub all_constants: bool,
    pub ltl: Vec<TemporalAssertion>,
    pub ctl: Vec<TemporalAssertion>,
    pub doubtful: Vec<TemporalAssertion>,
}

impl Settings {
    pub fn read(options: &LoadOptions, definitions: &Definitions) -> Settings {
        let preference = |name: &str| definition_int(definitions, &format!("SET_PREF_{name}"));
        let size =
            preference("DEFAULT_SETSIZE").and_then(|n| n.small()).and_then(|n| usize::try_from(n).ok());
        let mut settings = Settings {
            maxint: options.maxint.clone().or_else(|| preference("MAXINT")).unwrap_or(Int::from(3i64)),
            minint: options.minint.clone().or_else(|| preference("MININT")).unwrap_or(Int::from(-1i64)),
            integers_in_scope: options.integers_in_scope,
            abstract_levels: options.abstract_levels,
            default_set_size: options.default_set_size.or(size).unwrap_or(2).max(1),
            set_sizes: options.set_sizes.clone(),
            scopes: BTreeMap::new(),
            all_constants: options.all_constants,
            any_values: definition_is_true(definitions, "SET_PREF_SHOW_EVENTB_ANY_VALUES"),
            symbolic: definition_is_true(definitions, "SET_PREF_SYMBOLIC"),
            simultaneous_assignments: definition_is_true(
                definitions,
                "SET_PREF_ALLOW_SIMULTANEOUS_ASSIGNMENTS",
            ),
            ltl: Vec::new(),
            ctl: Vec::new(),
            doubtful: Vec::new(),
        };
        for def in definitions.iter().filter(|d| d.params.is_empty()) {
            let DefBody::Expr(body) = &def.body else { continue };
            let name = &*def.name.name;
            if let Some(set) = name.strip_prefix("scope_") {
                if let Some(size) = scope_size(definitions, body) {
                    settings.scopes.insert(set.to_owned(), size);
                }
                continue;
            }
            let (ltl, ctl) = (name.starts_with("ASSERT_LTL"), name.starts_with("ASSERT_CTL"));
            match &body.kind {
                ExprKind::Str(formula) if ltl => settings.ltl.push(temporal(&def.name.name, formula, body)),
                ExprKind::Str(formula) if ctl => settings.ctl.push(temporal(&def.name.name, formula, body)),
                ExprKind::Str(formula) if is_misspelt(name) => {
                    settings.doubtful.push(temporal(&def.name.name, formula, body));
                }
                _ if ltl || ctl => settings.doubtful.push(temporal(&def.name.name, &"".into(), body)),
                _ => {}
            }
        }
        settings
    }
}

/// Whether a name begins almost as those of temporal assertions do: without regard to case and underscores at
/// most one letter is wrong, missing or too much.
fn is_misspelt(name: &str) -> bool {
    let letters: Vec<char> = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_uppercase()).collect();
    let begins = |wanted: &str| {
        let wanted: Vec<char> = wanted.chars().collect();
        let same = letters.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
        let (rest, left) = (&letters[same..], &wanted[same..]);
        let goes_on = |rest: &[char], left: &[char]| rest.starts_with(left);
        left.is_empty()
            || goes_on(rest, &left[1..])
            || rest.split_first().is_some_and(|(_, r)| goes_on(r, left) || goes_on(r, &left[1..]))
    };
    begins("ASSERTLTL") || begins("ASSERTCTL")
}

fn temporal(name: &Name, formula: &Name, body: &Expr) -> TemporalAssertion {
    TemporalAssertion { name: name.clone(), formula: formula.to_string(), span: body.span }
}

fn scope_size(definitions: &Definitions, body: &Expr) -> Option<usize> {
    let size = match &body.kind {
        ExprKind::Binary(BinOp::Interval, a, b) => {
            fold(definitions, b, 0)?.sub(&fold(definitions, a, 0)?).add(&Int::ONE)
        }
        _ => fold(definitions, body, 0)?,
    };
    usize::try_from(size.small()?).ok().filter(|n| *n > 0)
}

fn definition_is_true(definitions: &Definitions, name: &str) -> bool {
    let body = definitions.get(name).map(|d| &d.body);
    matches!(body, Some(DefBody::Expr(Expr { kind: ExprKind::Const(Const::True), .. })))
}

fn definition_int(definitions: &Definitions, name: &str) -> Option<Int> {
    match &definitions.get(name)?.body {
        DefBody::Expr(body) => fold(definitions, body, 0),
        DefBody::Stmt(_) => None,
    }
}

/// The value of an expression that is built from numbers and definitions only.
fn fold(definitions: &Definitions, e: &Expr, depth: usize) -> Option<Int> {
    if depth > 100 {
        return None;
    }
    let go = |x: &Expr| fold(definitions, x, depth + 1);
    match &e.kind {
        ExprKind::Int(n) => Some(n.clone()),
        ExprKind::Neg(x) => Some(go(x)?.neg()),
        ExprKind::Ident(name) => match &definitions.get(name)?.body {
            DefBody::Expr(body) => go(body),
            DefBody::Stmt(_) => None,
        },
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (go(a)?, go(b)?);
            match op {
                BinOp::Add => Some(a.add(&b)),
                BinOp::Sub => Some(a.sub(&b)),
                BinOp::Mul => Some(a.mul(&b)),
                BinOp::Div => a.div(&b),
                BinOp::Power => {
                    let exponent = b.small().filter(|n| (0..=256).contains(n))?;
                    Some((0..exponent).fold(Int::ONE, |product, _| product.mul(&a)))
                }
                _ => None,
            }
        }
        ExprKind::Builtin(Builtin::Card, args) => match &args.first()?.kind {
            ExprKind::Binary(BinOp::Interval, a, b) => Some(go(b)?.sub(&go(a)?).add(&Int::ONE)),
            ExprKind::SetExt(items) => Some(Int::from(items.len())),
            ExprKind::Const(Const::Bool) => Some(Int::from(2i64)),
            _ => None,
        },
        _ => None,
    }
}
