//! Valuations of the constants by a SAT solver.
//!
//! In: a machine, constants that properties relate to each other, a budget. Out: all their values that satisfy those properties, or nothing where any
//! doubt is left: a formula that became an unknown, a property that may be undefined, a width that may be too small, more
//! valuations than can be listed, a query that was stopped. Every valuation was evaluated by the exact tier, and that there are
//! no others is a refutation that was checked. Never here: when this is asked at all, and in which order valuations are told.

use super::encode::{EncodeOptions, Encoder, Env};
use super::sat::{Answer, Batsat, Limit, Lit};
use super::unroll::Reply;
use super::{lrat, lrat_check};
use bombus_base::budget::Budget;
use bombus_evaluate::{Interpreter, State};
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::{Machine, Pred, PredKind, VarId};
use bombus_lang::value::Value;
use bombus_lang::{chosen, free};
use std::sync::Arc;

/// More valuations of one group than this are not listed.
pub const VALUATIONS: usize = 4096;
/// A longer log of the solver is not checked.
const LOGGED: usize = 1 << 21;
/// Bits of integers that nothing bounds.
const WIDTH: usize = 40;

/// Constants that properties relate to each other, with those properties.
pub struct Group<'m> {
    pub constants: Vec<VarId>,
    pub properties: Vec<&'m Pred>,
}

/// The constants by what relates them, in the order of the machine. Properties of no constant are in no group.
pub fn groups(machine: &Machine) -> Vec<Group<'_>> {
    let mut all: Vec<Group> =
        machine.constants.iter().map(|v| Group { constants: vec![*v], properties: Vec::new() }).collect();
    let mut conjuncts = Vec::new();
    machine.properties.iter().for_each(|c| split(&c.pred, &mut conjuncts));
    for p in conjuncts {
        let free = free::of_pred(p);
        let touched = |g: &Group| g.constants.iter().any(|v| free.contains(v));
        let Some(first) = all.iter().position(&touched) else { continue };
        let mut at = first + 1;
        while at < all.len() {
            if touched(&all[at]) {
                let other = all.remove(at);
                all[first].constants.extend(other.constants);
                all[first].properties.extend(other.properties);
            } else {
                at += 1;
            }
        }
        all[first].properties.push(p);
    }
    all
}

fn split<'p>(p: &'p Pred, out: &mut Vec<&'p Pred>) {
    match &p.kind {
        PredKind::And(ps) => ps.iter().for_each(|p| split(p, out)),
        PredKind::Label(_, p) => split(p, out),
        _ => out.push(p),
    }
}

fn options() -> EncodeOptions {
    EncodeOptions { width: WIDTH, free_products: false, strict_guards: false, valuations: None }
}

fn stopped_by(budget: &Budget) -> Limit {
    let budget = budget.clone();
    Limit::stopped_by(Arc::new(move || budget.check().is_err()))
}

/// The properties of a group as clauses; nothing if a part of them became an unknown.
fn encoded<'m>(
    machine: &'m Machine,
    group: &Group,
    budget: &Budget,
    solver: Batsat,
) -> Option<(Encoder<'m>, Env)> {
    let mut enc = Encoder::over(machine, options(), budget, Box::new(solver));
    let mut env = Env::new(machine);
    enc.bind_leaves(&mut env, &group.constants, &group.properties);
    for p in &group.properties {
        let t = enc.pred(&mut env, p);
        let holds = enc.surely(t);
        enc.g.require(holds);
        if !enc.weak.is_empty() {
            return None;
        }
    }
    Some((enc, env))
}

/// All values of the constants of a group, each in the order of the group.
pub fn solutions(machine: &Machine, group: &Group, budget: &Budget) -> Option<Vec<Vec<Value>>> {
    let (mut enc, env) = encoded(machine, group, budget, Batsat::new())?;
    if may_be_undefined(machine, (&group.constants, &group.properties), options(), budget) {
        return None;
    }
    let interpreter = Interpreter::new(machine, budget);
    let limit = stopped_by(budget);
    let mut out = Vec::new();
    loop {
        match enc.ask(&[], &limit) {
            Reply::Proof => return are_all(machine, group, &out, budget).then_some(out),
            Reply::TooNarrow | Reply::Unknown => return None,
            Reply::Candidate => {}
        }
        let mut values = Vec::with_capacity(group.constants.len());
        for v in &group.constants {
            let term = env.get(*v)?.term.clone();
            values.push(enc.value_in_model(&term)?);
        }
        if out.len() == VALUATIONS || !holds(machine, &interpreter, group, &values) {
            return None;
        }
        rule_out(&mut enc, &env, group, &values)?;
        out.push(values);
    }
}

/// Leaves one valuation out.
fn rule_out(enc: &mut Encoder, env: &Env, group: &Group, values: &[Value]) -> Option<()> {
    let mut same = Vec::with_capacity(values.len());
    for (v, value) in group.constants.iter().zip(values) {
        let term = env.get(*v)?.term.clone();
        same.push(enc.is_value(&term, value)?);
    }
    let same = enc.g.and_all(&same);
    enc.g.require(!same);
    Some(())
}

/// Whether there are no valuations but these: asked again of a solver that keeps a log, and its refutation is checked.
fn are_all(machine: &Machine, group: &Group, listed: &[Vec<Value>], budget: &Budget) -> bool {
    let refutation = || {
        let (mut enc, env) = encoded(machine, group, budget, Batsat::logging())?;
        for values in listed {
            rule_out(&mut enc, &env, group, values)?;
        }
        // The first answer was no answer unless the width is enough.
        if !enc.atoms.are_bounded() {
            let range = enc.g.range_assumption();
            enc.g.add_clause(&[range]);
        }
        match enc.g.solve(&[], &stopped_by(budget)) {
            Answer::Unsat if enc.g.sat.log().len() <= LOGGED => {
                lrat::prove(enc.g.sat.variables(), enc.g.sat.log())
            }
            _ => None,
        }
    };
    refutation().is_some_and(|proof| lrat_check::check(&proof.cnf.dimacs(), &proof.lrat).is_ok())
}

/// Whether the evaluator agrees that the values satisfy the properties.
fn holds(machine: &Machine, interpreter: &Interpreter, group: &Group, values: &[Value]) -> bool {
    let value = |v: &VarId| {
        let at = group.constants.iter().position(|w| w == v);
        at.map_or_else(Value::empty, |at| values[at].clone())
    };
    let state = State { constants: machine.constants.iter().map(value).collect(), variables: [].into() };
    group.properties.iter().all(|p| interpreter.eval_pred(p, Some(&state)).is_ok_and(|holds| holds))
}

/// Whether some values of these constants may leave a property undefined that no other property rules out. An application of
/// a function that is chosen asks for the functions that are defined there.
pub fn may_be_undefined(
    machine: &Machine,
    (constants, properties): (&[VarId], &[&Pred]),
    options: EncodeOptions,
    budget: &Budget,
) -> bool {
    if !properties.iter().any(|p| pred_may_be_undefined(p)) {
        return false;
    }
    let mut enc = Encoder::new(machine, options, budget);
    let mut env = Env::new(machine);
    // Only what cannot be undefined confines the constants.
    let total: Vec<&Pred> = properties.iter().copied().filter(|p| !pred_may_be_undefined(p)).collect();
    enc.bind_leaves(&mut env, constants, &total);
    let chosen = chosen::functions(machine);
    let mut undefined = Vec::new();
    for p in properties {
        let t = enc.pred(&mut env, p);
        let wrong = enc.surely_not(t);
        enc.g.require(!wrong);
        enc.chosen.clone_from(&chosen);
        let lenient = enc.pred(&mut env, p);
        enc.chosen.clear();
        undefined.push(!lenient.defined);
    }
    let some = enc.g.or_all(&undefined);
    if some == Lit::FALSE {
        return false;
    }
    let mut assumptions = vec![some];
    if !enc.atoms.are_bounded() {
        assumptions.push(enc.g.range_assumption());
    }
    let enough = enc.atoms.width().is_some_and(|(bits, _)| bits <= enc.options.width);
    enc.g.solve(&assumptions, &stopped_by(budget)) != Answer::Unsat || !enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_model::{self as model, LoadOptions};

    fn machine(constants: &str, properties: &str) -> Machine {
        let folder = std::env::temp_dir().join(format!("bombus-valuations-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("M.mch");
        let text = format!("MACHINE M CONSTANTS {constants} PROPERTIES {properties} END");
        std::fs::write(&path, text).expect("a file");
        model::load(&path, &LoadOptions::default()).model.expect("a model").machine
    }

    /// What relates constants puts them into one group; each keeps its own properties.
    #[test]
    fn constants_that_no_property_relates_are_apart() {
        let m = machine("a, b, c, d", "a:1..3 & b:1..3 & c:1..3 & d:1..3 & a < c & 1 < 2");
        let all = groups(&m);
        let sizes: Vec<(usize, usize)> =
            all.iter().map(|g| (g.constants.len(), g.properties.len())).collect();
        assert_eq!(sizes, [(2, 3), (1, 1), (1, 1)]);
    }
}
