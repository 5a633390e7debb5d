//! What a user can do about an incomplete verdict: another option, another engine, another scope, a bound.
//!
//! In: the machine, the options of the run and the reasons of its ledger. Out: sentences that begin with what to try.
//! An option is named only where the run would not be refused with it. Never here: the verdict.

use super::symbolic::{self, Method};
use super::temporal::Formulas;
use super::{CheckOptions, Engine, symmetry};
use crate::lang::typed::{Machine, SizeOrigin, Type};
use crate::program::symmetry::Mode;
use crate::program::symmetry::types::{Standing, standings};
use std::collections::BTreeSet;

/// What would see more than a run with these reasons did.
pub fn advice(
    machine: &Machine,
    options: &CheckOptions,
    formulas: &Formulas,
    followed: bool,
    reasons: &[String],
) -> Vec<String> {
    let mut all = Vec::new();
    let limited = reasons.iter().any(|r| r.contains("limit") && r.contains("reached"));
    let visits = matches!(options.engine, Engine::Explicit | Engine::Evaluate);
    if limited && visits {
        all.extend(fewer_states(machine, options, formulas));
        all.extend(no_states(machine, options, formulas, followed));
    }
    if limited {
        all.extend(smaller_sets(machine));
    }
    let bound = |name: &str| {
        machine.vars.iter().find(|d| *d.name == *name).and_then(|d| match &d.ty {
            Type::Integer => Some(format!("{name} : 0..10")),
            Type::Pow(of) if **of == Type::Integer => Some(format!("{name} <: 0..10")),
            _ => None,
        })
    };
    all.extend(bounds(reasons, bound));
    all
}

/// States that differ only in the names of elements may be counted once.
fn fewer_states(machine: &Machine, options: &CheckOptions, formulas: &Formulas) -> Option<String> {
    if options.symmetry.is_some() || !symmetry::refusals(machine, Mode::Exact, formulas, options).is_empty() {
        return None;
    }
    let standings = standings(machine, &[]);
    let free = standings.iter().zip(&machine.sets).filter_map(|(standing, set)| match standing {
        Standing::Symmetric { named } if set.elems.len() > named.len() + 1 => Some(&*set.name),
        _ => None,
    });
    let sets: Vec<&str> = free.collect();
    (!sets.is_empty()).then(|| {
        format!(
            "to see more: --symmetry exact counts states once that differ only in the names of elements of {}",
            sets.join(", ")
        )
    })
}

/// Engines that reason about all states at once.
fn no_states(
    machine: &Machine,
    options: &CheckOptions,
    formulas: &Formulas,
    followed: bool,
) -> Option<String> {
    let asked = CheckOptions { keep_going: false, ..options.clone() };
    let refused = symbolic::refusals(machine, &asked, !formulas.is_empty(), followed, Method::Ic3);
    refused.is_empty().then(|| {
        "to see more: --engine ic3 proves or refutes invariants without visiting states, --engine bmc looks for \
         short counterexamples only"
            .into()
    })
}

/// Sets whose sizes nobody fixed and that are larger than they must be.
fn smaller_sets(machine: &Machine) -> Option<String> {
    let free = machine.sets.iter().filter(|set| {
        matches!(set.origin, SizeOrigin::CommandLine | SizeOrigin::Default) && set.elems.len() > 1
    });
    let sizes: Vec<String> = free.map(|set| format!("--set {}={}", set.name, set.elems.len() - 1)).collect();
    (!sizes.is_empty()).then(|| format!("to see all of a smaller scope: {}", sizes.join(" ")))
}

/// What would bound the choices that nothing bounds; `bound` says it of a variable.
fn bounds(reasons: &[String], bound: impl Fn(&str) -> Option<String>) -> Option<String> {
    let conjuncts: BTreeSet<String> = reasons
        .iter()
        .filter_map(|reason| {
            let rest = &reason[reason.find("nothing bounds ")? + "nothing bounds ".len()..];
            let images = rest.strip_prefix("the images of ");
            let rest = images.unwrap_or(rest);
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\'')).unwrap_or(rest.len());
            let name = Some(&rest[..end]).filter(|name| !name.is_empty() && !["a", "the"].contains(name))?;
            if images.is_some() { Some(format!("ran({name}) <: 0..10")) } else { bound(name) }
        })
        .collect();
    let first = conjuncts.first()?;
    let others = if conjuncts.len() > 1 { ", and likewise for the others," } else { "" };
    Some(format!("to see all: a conjunct such as `{first}`{others} bounds the choice"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_nothing_bounds_is_named_with_a_conjunct_that_would() {
        let reasons = |all: &[&str]| all.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let integer = |name: &str| Some(format!("{name} : 0..10"));
        let advised = |all: &[&str]| bounds(&reasons(all), integer);
        let one = advised(&["op: nothing bounds new_value, which ranges over an infinite type"]);
        assert!(one.is_some_and(|words| words.contains("`new_value : 0..10`")));
        let images = advised(&["nothing bounds the images of f, which lie in an infinite set (in `f`)"]);
        assert!(images.is_some_and(|words| words.contains("`ran(f) <: 0..10`")));
        assert_eq!(advised(&["nothing bounds the images of a function", "time limit reached"]), None);
        let sequence = bounds(&reasons(&["nothing bounds t, which ranges over an infinite type"]), |_| None);
        assert_eq!(sequence, None);
    }
}
