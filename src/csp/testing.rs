//! Scripts in tests: read, evaluate, explore.
//!
//! In: the text of a script. Out: figures and verdicts. Never here: expectations.

use super::assertion::{Halt, Judge, Judgement};
use super::component::Table;
use super::compose::{Smaller, composition};
use super::eval::Eval;
use super::explicit::{divergent, explicit};
use super::machine::Machine;
use super::normal::Normal;
use super::scope::scoped;
use super::term::TICK;
use super::value::Env;
use super::{parser, scope, types};
use bombus_base::budget::Budget;
use bombus_base::diagnostic::Sources;
use bombus_explore::{self as explore, Options};

/// Evaluation recurses as deep as a script makes it.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 30).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("no panic")
    })
}

pub fn read(text: &str) -> Result<(Eval, Sources), String> {
    let mut sources = Sources::default();
    let script = scoped(parser::text("test.csp", text, &mut sources));
    let faults = if script.faults.is_empty() { types::check(&script) } else { script.faults.clone() };
    if faults.is_empty() {
        return Ok((Eval::new(script), sources));
    }
    Err(faults.iter().map(|d| sources.render(d)).collect::<Vec<_>>().join("\n"))
}

pub fn machine(eval: &mut Eval, sources: &Sources, name: &str) -> Machine {
    let sym = eval.script.names.find(name).expect("the process is defined");
    let expr = named(sym);
    let term = eval.term(&expr, &Env::default()).expect("the process has a term");
    let composition =
        composition(eval, term, Smaller::Written, &Budget::unlimited()).expect("the process has components");
    Machine::new(composition, eval, sources)
}

fn named(sym: super::token::Sym) -> super::core::Ex {
    std::rc::Rc::new(super::core::Expr {
        id: u32::MAX - 1,
        span: Default::default(),
        kind: super::core::Kind::Name(sym),
        free: [sym].into(),
    })
}

/// `states/transitions`, `T` and the number of traces up to three events, `D`, `V`, `✓`.
pub fn figures(machine: &Machine) -> String {
    let options = Options { check_deadlock: false, ..Options::default() };
    let found = explore::explore(machine, &options, &Budget::unlimited()).expect("it explores");
    let table: Table = explicit(machine, &Budget::unlimited()).expect("a table");
    let normal = Normal::new(&table, &Budget::unlimited()).expect("a normal form");
    let mut text = format!("{}/{} T{}", found.states, found.transitions, traces(&normal, 0, 3));
    if found.deadlocks > 0 {
        text.push_str(" D");
    }
    if divergent(&table).contains(&true) {
        text.push_str(" V");
    }
    if (0..table.states() as u32).any(|s| !table.of_event(s, TICK).is_empty()) {
        text.push_str(" ✓");
    }
    text
}

fn traces(normal: &Normal, node: u32, length: u32) -> u64 {
    if length == 0 {
        return 1;
    }
    1 + normal.nodes[node as usize].next.iter().map(|(_, to)| traces(normal, *to, length - 1)).sum::<u64>()
}

/// The verdicts of all assertions, in order.
pub fn verdicts(text: &str, workers: usize) -> Vec<String> {
    let (mut eval, sources) = read(text).expect("the script is right");
    let script = eval.script.clone();
    let options = Options { workers, ..Options::default() };
    let budget = Budget::unlimited();
    let mut judge = Judge {
        eval: &mut eval,
        sources: &sources,
        options: &options,
        budget: &budget,
        sizes: Default::default(),
    };
    script.asserts.iter().map(|assert| said(judge.judge(assert), assert)).collect()
}

fn said(judged: Result<Judgement, Halt>, assert: &scope::AssertIn) -> String {
    use super::assertion::Why;
    let text = match judged {
        Ok(Judgement::Holds) => "holds".to_string(),
        Ok(Judgement::Fails(trace, why)) => {
            let why = match why {
                Why::Trace => "trace",
                Why::Refusal { .. } => "refusal",
                Why::Divergence => "divergence",
                Why::Deadlock => "deadlock",
                Why::Nondeterminism(_) => "nondeterminism",
                Why::NoTrace => "no trace",
            };
            format!("fails after <{}> ({why})", trace.join(","))
        }
        Ok(Judgement::Incomplete(why)) => format!("incomplete: {why}"),
        Ok(Judgement::Faulty(_, fault)) => format!("faulty: {}", fault.message),
        Err(Halt::Fault(fault)) => format!("fault: {}", fault.message),
        Err(Halt::Judged(_)) => "judged".to_string(),
        Err(Halt::Internal(why)) => format!("internal: {why}"),
    };
    if assert.negated { format!("not {text}") } else { text }
}
