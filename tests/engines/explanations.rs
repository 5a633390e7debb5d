//! Explanations against the oracle: every value that an explanation names, under the bindings it names.
//!
//! On the first states of random machines every clause, every disabled event and every failing step is explained, and
//! the oracle evaluates each formula of the explanation by its own means.

use crate::support::{machines, number_from_env as setting, with_stack};
use bombus::base::budget::Budget;
use bombus::driver::judge::convert::Converter;
use bombus::evaluate::search::{self, SearchOptions};
use bombus::explain::{Claim, Explainer, Finding, Formula};
use bombus::lang::typed::Machine;
use bombus::lang::value::Value;
use bombus::model::{LoadOptions, load};
use bombus_oracle::eval::{Env, Oracle, Stop};
use std::path::Path;
use std::time::Duration;

/// Steps of evaluation that the oracle may take for one formula.
const STEPS: u64 = 100_000;

/// How many claims were compared, by what they say.
#[derive(Debug, Default)]
struct Compared {
    truths: usize,
    values: usize,
    undefined: usize,
    too_big: usize,
}

struct Judge<'m> {
    machine: &'m Machine,
    converter: Converter<'m>,
    compared: Compared,
}

impl Judge<'_> {
    fn check(&mut self, oracle: &Oracle, claim: &Claim) -> Result<(), String> {
        let mut env = Env::default();
        for (v, x) in &claim.bindings {
            let Some(plain) = self.converter.value(x, &self.machine.var(*v).ty) else { return Ok(()) };
            env.bind(&self.converter.name(*v), plain);
        }
        oracle.restart();
        let said = |claim: &Claim| match &claim.formula {
            Formula::Pred(p) => format!("{p:?}"),
            Formula::Expr(e) => format!("{e:?}"),
        };
        let result = match &claim.formula {
            Formula::Pred(p) => {
                let Ok(p) = self.converter.pred(p) else { return Ok(()) };
                oracle.holds(&env, &p).map(bombus_oracle::value::Value::Bool)
            }
            Formula::Expr(e) => {
                let Ok(e) = self.converter.expr(e) else { return Ok(()) };
                oracle.eval(&env, &e)
            }
        };
        let ty = match &claim.formula {
            Formula::Pred(_) => &bombus::lang::typed::Type::Bool,
            Formula::Expr(e) => &e.ty,
        };
        match (result, &claim.value) {
            (Err(Stop::TooBig(_)), _) => self.compared.too_big += 1,
            (Err(Stop::Undefined(_)), None) => self.compared.undefined += 1,
            (Ok(theirs), Some(ours)) => {
                let Some(plain) = self.converter.value(ours, ty) else { return Ok(()) };
                if plain != theirs {
                    return Err(format!("{}: {plain:?}, the oracle says {theirs:?}", said(claim)));
                }
                match ours {
                    Value::Bool(_) => self.compared.truths += 1,
                    _ => self.compared.values += 1,
                }
            }
            (theirs, ours) => return Err(format!("{}: {ours:?}, the oracle says {theirs:?}", said(claim))),
        }
        Ok(())
    }
}

/// Explains what there is to explain on some states and asks the oracle.
fn agree(path: &Path, states: usize) -> Result<Compared, String> {
    let loaded = load(path, &LoadOptions::default());
    let Some(model) = &loaded.model else { return Ok(Compared::default()) };
    let machine = &model.machine;
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(Duration::from_secs(3));
    let options = SearchOptions { keep_going: true, max_states: Some(states as u64), ..Default::default() };
    let found = search::explore(machine, &budget, &options);
    let converter = Converter::new(machine);
    let Ok(core) = converter.machine() else { return Ok(Compared::default()) };
    let oracle = Oracle::new(&core, STEPS);
    let explainer = Explainer::new(machine, &loaded.sources, &budget);
    let mut judge = Judge { machine, converter, compared: Compared::default() };
    for state in found.states.iter().take(states) {
        for clause in machine.invariant.iter().chain(&machine.assertions) {
            explainer.predicate_in(&clause.pred, Some(state));
        }
        for event in 0..machine.events.len() {
            explainer.why_disabled(state, event);
        }
        for claim in explainer.claims() {
            judge.check(&oracle, &claim)?;
        }
        if budget.check().is_err() {
            break;
        }
    }
    for finding in &found.findings {
        let explanation = explainer.explain(&Finding {
            kind: finding.kind.word(),
            property: &finding.property,
            event: None,
            state: finding.state.map(|at| &found.states[at]),
            strict_guards: false,
            broken: None,
            alone: false,
        });
        for claim in &explanation.claims {
            judge.check(&oracle, claim)?;
        }
    }
    Ok(judge.compared)
}

#[test]
fn every_value_in_an_explanation_is_the_oracles() {
    with_stack(|| {
        let first = setting("BOMBUS_ORACLE_SEED", 1);
        let count = setting("BOMBUS_EXPLAINED_MACHINES", 250);
        let dir = tempfile::tempdir().expect("a directory for models");
        let path = dir.path().join("Random.mch");
        let mut all = Compared::default();
        for seed in first..first + count {
            let machine = machines::random(seed);
            std::fs::write(&path, machine.to_string()).expect("the model is written");
            let compared = agree(&path, 4).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{machine}"));
            all.truths += compared.truths;
            all.values += compared.values;
            all.undefined += compared.undefined;
            all.too_big += compared.too_big;
        }
        eprintln!("{all:?}");
        assert!(all.truths >= 4 * count as usize, "too few truth values were compared: {all:?}");
        assert!(all.values >= count as usize, "too few values were compared: {all:?}");
        assert!(all.undefined > 0, "nothing undefined was compared: {all:?}");
    });
}
