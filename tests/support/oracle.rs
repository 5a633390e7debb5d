//! Step-by-step comparison of the evaluator with the oracle, which shares no code with it.

use bombus::base::budget::Budget;
use bombus::driver::judge::convert::Converter;
use bombus::evaluate::search;
use bombus::evaluate::search::SearchOptions;
use bombus::evaluate::{ErrorKind, Interpreter, State};
use bombus::lang::typed::{Machine, VarId};
use bombus::lang::value::Value;
use bombus_oracle::eval::Oracle;
use bombus_oracle::exec::{Kind, Writes};
use bombus_oracle::search::Look;
use bombus_oracle::tree::Name;
use bombus_oracle::value::Value as Plain;
use std::collections::BTreeSet;
use std::time::Duration;

/// Steps of evaluation that the oracle may take for one question.
const STEPS: u64 = 300_000;

/// How much was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Machines whose constants and initial states were compared.
    pub starts: usize,
    pub states: usize,
    pub transitions: usize,
    /// States at which both saw something undefined, or a guard that is.
    pub undefined: usize,
    /// Questions that the oracle's plain enumeration could not answer.
    pub too_big: usize,
}

impl Compared {
    pub fn add(&mut self, other: Compared) {
        self.starts += other.starts;
        self.states += other.states;
        self.transitions += other.transitions;
        self.undefined += other.undefined;
        self.too_big += other.too_big;
    }
}

type Step = (Name, Vec<Plain>, Vec<Option<Plain>>, Vec<Plain>);

struct Comparison<'m> {
    machine: &'m Machine,
    converter: Converter<'m>,
    interpreter: Interpreter<'m>,
}

/// Compares constants, initial states, and on the first `states` states all transitions and findings.
pub fn agree(machine: &Machine, states: usize, seconds: u64) -> Result<Compared, String> {
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(Duration::from_secs(seconds));
    let options = SearchOptions { keep_going: true, max_states: Some(states as u64), ..Default::default() };
    let found = search::explore(machine, &budget, &options);
    let mut compared = Compared::default();
    let converter = Converter::new(machine);
    let Ok(core) = converter.machine() else { return Ok(compared) };
    if budget.check().is_err() {
        return Ok(compared);
    }
    let oracle = Oracle::new(&core, STEPS);
    let c = Comparison { machine, converter, interpreter: Interpreter::new(machine, &budget) };
    c.start(&oracle, &found, &mut compared)?;
    for state in found.states.iter().take(states) {
        let result = c.state(&oracle, state, &mut compared);
        if budget.check().is_err() {
            break;
        }
        result.map_err(|why| format!("in {}: {why}", c.shown(state)))?;
    }
    Ok(compared)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, evaluator: T, oracle: T) -> Result<(), String> {
    if evaluator == oracle {
        Ok(())
    } else {
        Err(format!("{what}: evaluator {evaluator:?}, oracle {oracle:?}"))
    }
}

impl Comparison<'_> {
    fn shown(&self, state: &State) -> String {
        let one = |(v, x): (&VarId, &Value)| {
            format!("{}={}", self.machine.var(*v).name, x.show(self.machine, &self.machine.var(*v).ty))
        };
        let constants = self.machine.constants.iter().zip(state.constants.iter()).map(one);
        let variables = self.machine.variables.iter().zip(state.variables.iter()).map(one);
        constants.chain(variables).collect::<Vec<_>>().join(", ")
    }

    fn values(&self, vars: &[VarId], values: &[Value]) -> Option<Vec<Plain>> {
        vars.iter().zip(values).map(|(v, x)| self.converter.value(x, &self.machine.var(*v).ty)).collect()
    }

    /// Valuations of the constants with their initial states.
    fn start(
        &self,
        oracle: &Oracle,
        found: &search::Exploration,
        compared: &mut Compared,
    ) -> Result<(), String> {
        let mut look = Look::default();
        let all = look.start(oracle, &Writes::new());
        if !look.incomplete.is_empty() || !found.incomplete.is_empty() {
            compared.too_big += 1;
            return Ok(());
        }
        let mut theirs = BTreeSet::new();
        for (valuation, states) in all {
            let constants: Option<Vec<Plain>> = valuation.iter().map(|slot| slot.value()).collect();
            let Some(constants) = constants else {
                compared.too_big += 1;
                return Ok(());
            };
            theirs.extend(states.into_iter().map(|s| (constants.clone(), s)));
        }
        let initial =
            found.states.iter().zip(&found.origins).filter(|(_, o)| o.from.is_none()).map(|(s, _)| s);
        let ours: Option<BTreeSet<_>> = initial
            .map(|s| {
                Some((
                    self.values(&self.machine.constants, &s.constants)?,
                    self.values(&self.machine.variables, &s.variables)?,
                ))
            })
            .collect();
        let Some(ours) = ours else { return Ok(()) };
        compared.starts += 1;
        same("constants and initial states", ours, theirs)
    }

    fn state(&self, oracle: &Oracle, state: &State, compared: &mut Compared) -> Result<(), String> {
        let (Some(constants), Some(values)) = (
            self.values(&self.machine.constants, &state.constants),
            self.values(&self.machine.variables, &state.variables),
        ) else {
            return Ok(());
        };
        let slots: Vec<_> = constants.into_iter().map(bombus_oracle::eval::Slot::Value).collect();
        let env = oracle.environment(&slots, Some(&values));
        oracle.restart();
        let (mut predicates, mut events) = (Look::default(), Look::default());
        predicates.predicates(oracle, &env);
        oracle.restart();
        events.events(oracle, &env, None, false);
        compared.states += 1;
        compared.undefined += usize::from(
            !events.undefined_guards.is_empty()
                || predicates
                    .findings
                    .iter()
                    .chain(&events.findings)
                    .any(|f| f.kind == Kind::WellDefinedness),
        );
        self.steps(oracle, state, &values, events, compared)?;
        self.clauses(state, predicates, compared)
    }

    fn steps(
        &self,
        oracle: &Oracle,
        state: &State,
        values: &[Plain],
        look: Look,
        compared: &mut Compared,
    ) -> Result<(), String> {
        let Ok(steps) = self.interpreter.transitions(state) else { return Ok(()) };
        if !look.incomplete.is_empty() || !steps.incomplete.is_empty() {
            compared.too_big += 1;
            return Ok(());
        }
        let theirs: BTreeSet<Step> = look
            .transitions
            .into_iter()
            .map(|(event, t)| {
                let target = oracle.state_after(Some(values), &t.writes).expect("every variable has a value");
                // The evaluator marks a missing result by a text, which the generator never makes.
                let results =
                    t.results.into_iter().map(|r| r.filter(|v| *v != Plain::Str("?".into()))).collect();
                (event, t.params, results, target)
            })
            .collect();
        let mut ours: BTreeSet<Step> = BTreeSet::new();
        for t in &steps.transitions {
            let op = self.machine.op(self.machine.events[t.event]);
            let result = |(v, x): (&VarId, &Value)| {
                let missing = *x == Value::unassigned();
                if missing { Some(None) } else { self.converter.value(x, &self.machine.var(*v).ty).map(Some) }
            };
            let (Some(params), Some(results), Some(target)) = (
                self.values(&op.params, &t.params),
                op.results.iter().zip(t.results.iter()).map(result).collect::<Option<Vec<_>>>(),
                self.values(&self.machine.variables, &t.target.variables),
            ) else {
                return Ok(());
            };
            ours.insert((self.converter.event(t.event), params, results, target));
        }
        compared.transitions += ours.len();
        if ours != theirs {
            let only = |a: &BTreeSet<Step>, b: &BTreeSet<Step>| {
                format!("{:?}", a.difference(b).take(2).collect::<Vec<_>>())
            };
            return Err(format!(
                "transitions: {} by the evaluator, {} by the oracle; only the evaluator {}; only the oracle {}",
                ours.len(),
                theirs.len(),
                only(&ours, &theirs),
                only(&theirs, &ours)
            ));
        }
        let ours: BTreeSet<(String, Kind)> = steps
            .errors
            .iter()
            .map(|(e, error)| {
                let kind = match error.kind() {
                    ErrorKind::Precondition => Kind::Precondition,
                    ErrorKind::Assertion => Kind::Assertion,
                    ErrorKind::Refinement => Kind::Refinement,
                    ErrorKind::Variant => Kind::Variant,
                    _ => Kind::WellDefinedness,
                };
                (self.converter.event(*e).to_string(), kind)
            })
            .collect();
        let theirs = look
            .findings
            .iter()
            .filter_map(|f| Some((f.event.as_ref()?.0.to_string(), f.kind)))
            .collect::<BTreeSet<_>>();
        same("findings of events", ours, theirs)?;
        let ours: BTreeSet<String> =
            steps.undefined_guards.iter().map(|(e, _)| self.converter.event(*e).to_string()).collect();
        let theirs: BTreeSet<String> = look.undefined_guards.iter().map(|e| e.to_string()).collect();
        same("events with an undefined guard", ours, theirs)
    }

    fn clauses(&self, state: &State, look: Look, compared: &mut Compared) -> Result<(), String> {
        let Ok(broken) = self.interpreter.check_state(state, true) else { return Ok(()) };
        if !look.incomplete.is_empty() || !broken.incomplete.is_empty() {
            compared.too_big += 1;
            return Ok(());
        }
        let has = |kind: Kind| look.findings.iter().any(|f| f.kind == kind);
        same("a broken invariant", !broken.invariant.is_empty(), has(Kind::Invariant))?;
        same("a broken assertion", !broken.assertions.is_empty(), has(Kind::Assertion))?;
        same("an undefined clause", !broken.undefined.is_empty(), has(Kind::WellDefinedness))
    }
}
