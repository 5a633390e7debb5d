//! The definitions of a CSP script, each evaluated: what `info` shows, and what `check` looks at where a script has
//! neither a process `MAIN` nor assertions.
//!
//! In: the evaluator of a script. Out: the value of each definition, or why it has none. A definition without parameters
//! whose name begins with `test` or `procTest` must have a value, true if it is a truth value; evaluation is lazy, so any
//! other definition may have none. Never here: assertions, printing.

use super::csp::told;
use super::one_line;
use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::text::many;
use crate::csp::component;
use crate::csp::core::{Bind, Expr, Kind};
use crate::csp::eval::Eval;
use crate::csp::token::Sym;
use crate::csp::value::{Data, Env, Fault, Res, Val};

/// States of a process that are looked at for faults.
const MOST_STATES: u64 = 20_000;
/// Longer values are not shown in full.
const LONGEST: usize = 100;

/// What a definition is.
pub(super) enum Value {
    Truth(bool),
    /// The number of states that were looked at, and whether those were all.
    Process(usize, bool),
    Function,
    Other(String),
    /// A limit was reached before there was a value.
    Unknown(String),
    Faulty(Diagnostic),
}

pub(super) struct Definition {
    pub(super) name: String,
    pub(super) value: Value,
    /// What stands behind the equals sign.
    pub(super) span: Span,
}

impl Definition {
    /// Whether the definition must have a value, and be true if that is a truth value.
    pub(super) fn is_claim(&self) -> bool {
        let last = self.name.rsplit("::").next().unwrap_or(&self.name);
        (last.starts_with("test") || last.starts_with("procTest")) && !matches!(self.value, Value::Function)
    }

    pub(super) fn fault(&self) -> Option<&Diagnostic> {
        match &self.value {
            Value::Faulty(fault) => Some(fault),
            _ => None,
        }
    }

    /// What it is, and its value, for a user.
    pub(super) fn line(&self) -> (&'static str, String) {
        match &self.value {
            Value::Truth(truth) => ("definition", format!("{} = {truth}", self.name)),
            Value::Other(shown) => ("definition", format!("{} = {shown}", self.name)),
            Value::Process(states, true) => {
                ("process", format!("{}   {}", self.name, many(*states as u64, "state")))
            }
            Value::Process(states, false) => {
                ("process", format!("{}   more than {states} states", self.name))
            }
            Value::Function => ("function", self.name.clone()),
            Value::Unknown(why) => ("definition", format!("{}   {why}", self.name)),
            Value::Faulty(fault) => ("definition", format!("{}   {}", self.name, fault.message)),
        }
    }
}

/// All definitions of a script in the order of the alphabet, those of its own prelude left out.
pub(super) fn definitions(eval: &mut Eval, budget: &Budget) -> Vec<Definition> {
    let script = eval.script.clone();
    let mut names: Vec<(Sym, bool, Span)> = Vec::new();
    for bind in &script.group.binds {
        match bind {
            Bind::Function(name, _) => names.push((*name, true, Span::default())),
            Bind::Value(pat, body) => {
                let mut bound = Vec::new();
                pat.names(&mut bound);
                names.extend(bound.into_iter().map(|name| (name, false, body.span)));
            }
        }
    }
    let mut list = Vec::new();
    let before = eval.limit.replace(budget.clone());
    for (name, function, span) in names {
        let text = script.names.text(name).to_string();
        if text.contains(' ') || budget.check().is_err() {
            continue;
        }
        let value = if function {
            Value::Function
        } else {
            evaluated(eval, name, budget).unwrap_or_else(|fault| match fault.limit {
                true => Value::Unknown(fault.message),
                false => Value::Faulty(told(&fault)),
            })
        };
        list.push(Definition { name: text, value, span });
    }
    eval.limit = before;
    list.sort_by(|a, b| a.name.cmp(&b.name));
    list
}

fn evaluated(eval: &mut Eval, name: Sym, budget: &Budget) -> Res<Value> {
    let kind = Kind::Name(name);
    let e = std::rc::Rc::new(Expr { id: u32::MAX - 1, span: Default::default(), kind, free: [name].into() });
    Ok(match eval.eval(&e, &Env::default())? {
        Val::Data(Data::Bool(truth)) => Value::Truth(truth),
        Val::Data(Data::Proc(term)) => return process(eval, term, budget),
        Val::Data(data) => Value::Other(short(eval.show(&data))),
        Val::Fun(_) => Value::Function,
        Val::Tuple(_) => Value::Other("a tuple".to_string()),
        Val::Seq(_) => Value::Other("a sequence".to_string()),
    })
}

/// Looks at the first states of a process for faults of evaluation.
fn process(eval: &mut Eval, term: u32, budget: &Budget) -> Res<Value> {
    let mut faults: Vec<Fault> = Vec::new();
    let table = component::table(eval, term, &mut faults, &budget.of_states(MOST_STATES))?;
    match faults.into_iter().find(|fault| !fault.limit) {
        Some(fault) => Err(Box::new(fault)),
        None => Ok(Value::Process(table.states() - table.open.len(), table.open.is_empty())),
    }
}

/// What `print` asks for, one line each.
pub(super) fn printed(eval: &mut Eval, sources: &Sources) -> Vec<(&'static str, String)> {
    let script = eval.script.clone();
    let mut lines = Vec::new();
    for e in &script.prints {
        eval.limit = Some(Budget::moment());
        let said = match eval.eval_data(e, &Env::default()) {
            Ok(value) => format!("= {}", short(eval.show(&value))),
            Err(fault) => format!("  {}", told(&fault).message),
        };
        lines.push(("print", format!("{} {said}", one_line(sources.slice(e.span)))));
    }
    eval.limit = None;
    lines
}

fn short(text: String) -> String {
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain("…".chars()).collect()
}
