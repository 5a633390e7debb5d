//! Step-by-step comparison of the compiled engine with the reference interpreter.

use bombus::base::budget::Budget;
use bombus::evaluate::search;
use bombus::evaluate::search::SearchOptions;
use bombus::evaluate::{Error, ErrorKind, Interpreter, State};
use bombus::lang::typed::Machine;
use bombus::program::native::Tier;
use bombus::program::{self, Options, Program, Worker};
use bombus::system::{EventId, Finding, FindingKind, Sink, System};
use bombus_kernels::hash;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub struct Limits {
    pub states: usize,
    pub seconds: u64,
    /// Whether events run as machine code where that is possible.
    pub native: bool,
    /// Whether layouts are guessed where the invariant says nothing; then they are compared once more as they have grown by what was
    /// met, and states must have the names that they have without guesses.
    pub guesses: bool,
}

#[derive(Default)]
struct Heard {
    edges: Vec<(u32, u64, Vec<u64>)>,
    findings: BTreeSet<(FindingKind, Option<u32>)>,
    incomplete: bool,
    undefined: BTreeSet<u32>,
}

impl Sink for Heard {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push((event.0, label, target.to_vec()));
    }
    fn finding(&mut self, f: Finding) {
        self.findings.insert((f.kind, f.event.map(|e| e.0)));
    }
    fn incomplete(&mut self, _: u32) {
        self.incomplete = true;
    }
    fn undefined_guard(&mut self, event: EventId) {
        self.undefined.insert(event.0);
    }
}

fn kind(e: &Error) -> FindingKind {
    match e.kind() {
        ErrorKind::Precondition => FindingKind::Precondition,
        ErrorKind::Assertion => FindingKind::Assertion,
        _ => FindingKind::WellDefinedness,
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: T, theirs: T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: compiled {ours:?}, reference {theirs:?}")) }
}

/// In how many looks at an event the compiled engine used each of its ways.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ways {
    pub machine_code: u64,
    pub register_code: u64,
    /// The event was handed to the evaluator.
    pub values: u64,
}

impl Ways {
    pub fn add(&mut self, other: Ways) {
        self.machine_code += other.machine_code;
        self.register_code += other.register_code;
        self.values += other.values;
    }
}

/// Compares both engines on the states that the interpreter finds first; the number of states.
pub fn agree(machine: &Machine, limits: &Limits) -> Result<usize, String> {
    agree_by(machine, limits, &mut Ways::default())
}

/// The same, and counts how the events of the compared states were run.
pub fn agree_by(machine: &Machine, limits: &Limits, ways: &mut Ways) -> Result<usize, String> {
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(Duration::from_secs(limits.seconds));
    let options =
        SearchOptions { keep_going: true, max_states: Some(limits.states as u64), ..Default::default() };
    let reference = search::explore(machine, &budget, &options);
    if budget.check().is_err() {
        return Ok(0);
    }
    let interpreter = Interpreter::new(machine, &budget);
    let native = if limits.native { Tier::AtOnce } else { Tier::Never };
    let plain = Options { native, ..Options::default() };
    let compiling = Options { rooms: limits.guesses.then(Arc::default), ..plain.clone() };
    // What the time stopped says nothing, here and below.
    let Ok(program) = program::compile(machine, &budget, &compiling) else { return Ok(0) };
    let names = match limits.guesses {
        true => program::compile(machine, &budget, &plain).ok(),
        false => None,
    };
    let known = Known { machine, reference: &reference, interpreter: &interpreter, names: names.as_ref() };
    let compared = known.agree(&program, limits.states, &budget, ways)?;
    if limits.guesses
        && let Ok(Some(grown)) = program.with_more_room()
    {
        known.agree(&grown, limits.states, &budget, ways)?;
    }
    Ok(compared)
}

/// What a compiled program is compared with.
struct Known<'k, 'm> {
    machine: &'m Machine,
    reference: &'k search::Exploration,
    interpreter: &'k Interpreter<'m>,
    /// The program without guesses, which names states.
    names: Option<&'k Program<'m>>,
}

impl<'m> Known<'_, 'm> {
    fn agree(
        &self,
        program: &Program<'m>,
        states: usize,
        budget: &Budget,
        ways: &mut Ways,
    ) -> Result<usize, String> {
        let Known { machine, reference, interpreter, names } = *self;
        program.validate()?;
        let mut worker = program.worker();
        let mut namer = names.map(|names| (names, names.worker()));
        let mut heard = Heard::default();
        program.initial(&mut worker, &mut heard);
        if budget.check().is_err() {
            return Ok(0);
        }
        same("initial states", heard.edges.len() as u64, reference.initial)?;
        for (_, _, words) in &heard.edges {
            let values: Vec<_> = program.state_values(words).into_iter().map(|(_, v)| v).collect();
            let constants: Vec<_> = program.constants_of(words).into_iter().map(|(_, v)| v).collect();
            let known =
                reference.states.iter().any(|s| *s.variables == *values && *s.constants == *constants);
            if !known {
                return Err(format!("initial state {values:?} is not one of the reference"));
            }
        }
        let mut compared = 0;
        for state in reference.states.iter().take(states) {
            if budget.check().is_err() {
                break;
            }
            let agreed = one_state(machine, program, interpreter, &mut worker, state, ways);
            if budget.check().is_err() {
                break;
            }
            agreed.map_err(|e| {
                let shown: Vec<String> = machine
                    .variables
                    .iter()
                    .zip(state.variables.iter())
                    .map(|(v, x)| {
                        format!("{}={}", machine.var(*v).name, x.show(machine, &machine.var(*v).ty))
                    })
                    .collect();
                format!("in {}: {e}", shown.join(", "))
            })?;
            if let Some((names, namer)) = &mut namer {
                same("the name of a state", name(program, &mut worker, state), name(names, namer, state))?;
            }
            compared += 1;
        }
        Ok(compared)
    }
}

/// The name that a search gives to a state.
fn name<'m>(program: &Program<'m>, worker: &mut Worker<'m>, state: &State) -> Option<u128> {
    let words = program.pack(state)?;
    Some(program.fingerprint(worker, &words).unwrap_or_else(|| hash::words(&words)))
}

fn one_state<'m>(
    machine: &Machine,
    program: &Program<'m>,
    interpreter: &Interpreter<'_>,
    // One for all states, as in a run: what it remembers of one must be right in the next.
    worker: &mut Worker<'m>,
    state: &State,
    ways: &mut Ways,
) -> Result<(), String> {
    let words = program.pack(state).ok_or("the constants are not a valuation")?;
    let back: Vec<_> = program.state_values(&words).into_iter().map(|(_, v)| v).collect();
    same("the packed state", &back[..], &state.variables[..])?;
    let steps = match interpreter.transitions(state) {
        Ok(steps) => steps,
        Err(_) => return Ok(()),
    };
    let mut heard = Heard::default();
    let before = worker.fallbacks;
    program.successors(worker, &words, &mut heard);
    let on_values = worker.fallbacks - before;
    let by_code = (machine.events.len() as u64).saturating_sub(on_values);
    let code = if program.native_bytes() > 0 { &mut ways.machine_code } else { &mut ways.register_code };
    *code += by_code;
    ways.values += on_values;
    let mut expected = Vec::new();
    for t in &steps.transitions {
        let event = EventId(t.event as u32);
        let target = program.pack(&t.target).ok_or("a target without a valuation")?;
        expected.push((event.0, program.label(event, &t.params, &t.results), target));
    }
    expected.sort();
    let mut edges = heard.edges.clone();
    edges.sort();
    if edges != expected {
        let show = |list: &[(u32, u64, Vec<u64>)], other: &[(u32, u64, Vec<u64>)]| -> Vec<String> {
            list.iter()
                .filter(|e| !other.contains(e))
                .take(3)
                .map(|(e, l, t)| {
                    format!("{} {l:x} {:?}", program.event_names()[*e as usize], program.describe(t))
                })
                .collect()
        };
        return Err(format!(
            "transitions: {} compiled, {} reference; only compiled {:?}; only reference {:?}",
            edges.len(),
            expected.len(),
            show(&edges, &expected),
            show(&expected, &edges)
        ));
    }
    let findings: BTreeSet<_> = steps.errors.iter().map(|(e, err)| (kind(err), Some(*e as u32))).collect();
    same("findings of actions", &heard.findings, &findings)?;
    same("incomplete", heard.incomplete, !steps.incomplete.is_empty())?;
    let undefined: BTreeSet<u32> = steps.undefined_guards.iter().map(|(e, _)| *e as u32).collect();
    same("undefined guards", &heard.undefined, &undefined)?;

    let broken = match interpreter.check_state(state, false) {
        Ok(b) => b,
        Err(_) => return Ok(()),
    };
    let mut heard = Heard::default();
    program.check(worker, &words, None, &mut heard);
    let mut expected: BTreeSet<(FindingKind, Option<u32>)> = BTreeSet::new();
    if !broken.invariant.is_empty() {
        expected.insert((FindingKind::Invariant, None));
    }
    if !broken.assertions.is_empty() {
        expected.insert((FindingKind::Assertion, None));
    }
    expected.extend(broken.undefined.iter().map(|(_, _, e)| (kind(e), None)));
    if let Some(goal) = &machine.goal
        && matches!(interpreter.eval_pred(goal, Some(state)), Ok(true))
    {
        expected.insert((FindingKind::Goal, None));
    }
    same("findings of the state", &heard.findings, &expected)?;
    // After a state without a finding, what an event cannot change needs no second look.
    if expected.is_empty() && broken.incomplete.is_empty() {
        for t in steps.transitions.iter().take(20) {
            let target = program.pack(&t.target).ok_or("a target without a valuation")?;
            let (mut whole, mut part) = (Heard::default(), Heard::default());
            program.check(worker, &target, None, &mut whole);
            program.check(worker, &target, Some(EventId(t.event as u32)), &mut part);
            same("findings after an event", &part.findings, &whole.findings)?;
        }
    }
    Ok(())
}
