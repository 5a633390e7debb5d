//! What the events of a process mean to a machine: which operation they move, with which values.
//!
//! In: the events that a process can do, and the machine. Out: a meaning for each event, and operations of the machine
//! whose parameters are fixed to the values of an event, so that no other values are ever tried.
//! Never here: transitions.

use crate::base::Span;
use crate::base::diagnostic::Diagnostic;
use crate::base::int::Int;
use crate::csp::eval::Eval;
use crate::csp::machine::Machine as Process;
use crate::csp::plain::Plain;
use crate::csp::term;
use crate::csp::value::Data;
use crate::driver::values::written;
use crate::lang::typed::{
    Expr, ExprKind, FreeId, Machine, OpId, Operation, Pred, PredKind, RelOp, SetId, SetKind, Stmt, StmtKind,
    Type, VarId,
};
use crate::lang::value::Value;
use crate::system::EventId;
use std::collections::{BTreeMap, BTreeSet};

/// Values of the parameters of one operation beyond this number are not made operations of their own.
const MOST_FIXED: usize = 256;

/// What an event of the process does to the machine.
pub enum Meets {
    /// The process moves alone.
    Nothing,
    /// The machine has no such value, so the event never happens.
    Never,
    Operation(Partners),
    /// The number of the observed predicate that says that a variable has the value.
    Variable(usize),
}

/// Transitions of the machine that an event goes with.
pub struct Partners {
    /// The number of the operation.
    pub operation: usize,
    /// The operation to run: the same, or one with fixed parameters.
    pub runs: EventId,
    /// The values of the first parameters and results.
    pub values: Vec<Value>,
    /// Every transition of `runs` has these values.
    pub fixed: bool,
}

/// The meaning of all events, by their numbers.
pub struct Meeting {
    pub meets: Vec<Meets>,
    /// For each operation added to the machine, the operation it comes from.
    pub origins: Vec<usize>,
    /// Predicates that variables have values.
    pub probes: Vec<Pred>,
    /// Elements of sets that the process names.
    pub named: BTreeSet<(SetId, u32)>,
    /// Values for elements of deferred sets are given.
    pub names_deferred: bool,
    /// Events that have values that the machine has not.
    pub strange: usize,
}

impl Meeting {
    /// A true predicate that names what the process names.
    pub fn naming(&self) -> Option<Pred> {
        let same = |(set, n): &(SetId, u32)| {
            let ty = Type::Set(*set);
            let one = || Expr { kind: ExprKind::Elem(*set, *n), ty: ty.clone(), span: Span::default() };
            Pred { kind: PredKind::Rel(RelOp::Equal, one(), one()), span: Span::default() }
        };
        let all: Vec<Pred> = self.named.iter().map(same).collect();
        (!all.is_empty()).then_some(Pred { kind: PredKind::And(all), span: Span::default() })
    }
}

/// What each event of the process means to the machine, which gets operations with fixed parameters.
pub fn meetings(eval: &mut Eval, process: &Process, machine: &mut Machine) -> Result<Meeting, Diagnostic> {
    let possible: BTreeSet<u32> = process.composition.rules.iter().map(|r| r.result).collect();
    let mut meeting = Meeting {
        meets: Vec::new(),
        origins: Vec::new(),
        probes: Vec::new(),
        named: BTreeSet::new(),
        names_deferred: false,
        strange: 0,
    };
    let mut wanted: Vec<(u32, usize, Vec<Value>)> = Vec::new();
    for event in 0..eval.events.len() as u32 {
        let name = process.event_parts(event).first().map_or("", String::as_str);
        let operation = machine.events.iter().position(|op| *machine.op(*op).name == *name);
        let variable = machine.variables.iter().position(|v| *machine.var(*v).name == *name);
        if event <= term::ENDED || !possible.contains(&event) || (operation.is_none() && variable.is_none()) {
            meeting.meets.push(Meets::Nothing);
            continue;
        }
        let vars: Vec<VarId> = match (operation, variable) {
            (Some(n), _) => {
                let op = machine.op(machine.events[n]);
                op.params.iter().chain(&op.results).copied().collect()
            }
            (None, n) => n.map(|n| machine.variables[n]).into_iter().collect(),
        };
        let plain = plain_values(eval, event, name, vars.len())?;
        let given = &vars[..plain.len()];
        meeting.names_deferred |= given.iter().any(|v| has_deferred(&machine.var(*v).ty, machine));
        let values = values_of(eval, event, &plain, given, machine)?;
        match &values {
            Some(values) => values.iter().for_each(|value| elements(value, &mut meeting.named)),
            None => meeting.strange += 1,
        }
        meeting.meets.push(match (values, operation) {
            (None, _) => Meets::Never,
            (Some(values), Some(n)) => {
                wanted.push((event, n, values));
                Meets::Never
            }
            (Some(values), None) => match values.first() {
                None => Meets::Nothing,
                Some(value) => {
                    let probe =
                        equation(machine, vars[0], value).ok_or_else(|| no_counterpart(eval, event))?;
                    meeting.probes.push(probe);
                    Meets::Variable(meeting.probes.len() - 1)
                }
            },
        });
    }
    fix(wanted, machine, &mut meeting);
    Ok(meeting)
}

/// Gives each event an operation to run.
fn fix(wanted: Vec<(u32, usize, Vec<Value>)>, machine: &mut Machine, meeting: &mut Meeting) {
    let mut variants: BTreeMap<(usize, Vec<Value>), Option<EventId>> = BTreeMap::new();
    for (_, operation, values) in &wanted {
        let params = machine.op(machine.events[*operation]).params.len();
        let inputs = &values[..values.len().min(params)];
        variants.insert((*operation, inputs.to_vec()), None);
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    variants.keys().for_each(|(operation, _)| *counts.entry(*operation).or_default() += 1);
    for ((operation, inputs), runs) in &mut variants {
        if inputs.is_empty() || counts[operation] > MOST_FIXED {
            continue;
        }
        let op = machine.op(machine.events[*operation]).clone();
        let Some(fixed) = with_values(machine, &op, inputs) else { continue };
        *runs = Some(EventId(machine.events.len() as u32));
        machine.events.push(OpId(machine.operations.len() as u32));
        machine.operations.push(fixed);
        meeting.origins.push(*operation);
    }
    for (event, operation, values) in wanted {
        let params = machine.op(machine.events[operation]).params.len();
        let inputs = values[..values.len().min(params)].to_vec();
        let bare = inputs.is_empty();
        let runs = variants[&(operation, inputs)];
        let fixed = values.len() <= params && (bare || runs.is_some());
        let runs = runs.unwrap_or(EventId(operation as u32));
        meeting.meets[event as usize] = Meets::Operation(Partners { operation, runs, values, fixed });
    }
}

/// The operation with its first parameters fixed.
fn with_values(machine: &Machine, op: &Operation, values: &[Value]) -> Option<Operation> {
    let equations: Option<Vec<Pred>> =
        op.params.iter().zip(values).map(|(v, value)| equation(machine, *v, value)).collect();
    let guard = Pred { kind: PredKind::And(equations?), span: op.span };
    let body = Stmt { kind: StmtKind::Pre(guard, Box::new(op.body.clone())), span: op.body.span };
    Some(Operation { body, ..op.clone() })
}

fn equation(machine: &Machine, v: VarId, value: &Value) -> Option<Pred> {
    let ty = machine.var(v).ty.clone();
    let value = written(value, &ty)?;
    let var = Expr { kind: ExprKind::Var(v), ty, span: Span::default() };
    Some(Pred { kind: PredKind::Rel(RelOp::Equal, var, value), span: Span::default() })
}

fn no_counterpart(eval: &Eval, event: u32) -> Diagnostic {
    Diagnostic::plain(format!(
        "the event {} has a value that cannot be compared with one of the machine",
        eval.show_event(event)
    ))
}

/// The values of an event in plain form. A constructor and its arguments are one value.
fn plain_values(eval: &mut Eval, event: u32, name: &str, most: usize) -> Result<Vec<Plain>, Diagnostic> {
    let parts = eval.events.data(event).parts()[1..].to_vec();
    let mut plain = Vec::new();
    let mut rest = &parts[..];
    while !rest.is_empty() {
        let (whole, others) = rest.split_at(eval.whole(rest).unwrap_or(1).clamp(1, rest.len()));
        let value = if let [one] = whole { one.clone() } else { Data::Dot(whole.into()) };
        plain.push(eval.plain(&value).ok_or_else(|| {
            Diagnostic::plain(format!("the event {} has a value that B has not", eval.show_event(event)))
        })?);
        rest = others;
    }
    if plain.len() > most {
        return Err(Diagnostic::plain(format!(
            "the event {} has {} values, `{name}` of the machine has {most}",
            eval.show_event(event),
            plain.len(),
        )));
    }
    Ok(plain)
}

/// The values of an event as the machine has them; none if it has not.
fn values_of(
    eval: &Eval,
    event: u32,
    plain: &[Plain],
    vars: &[VarId],
    machine: &Machine,
) -> Result<Option<Vec<Value>>, Diagnostic> {
    let mut values = Vec::new();
    for (plain, v) in plain.iter().zip(vars) {
        match value_of(plain, &machine.var(*v).ty, machine) {
            Fit::Value(value) => values.push(value),
            Fit::None => return Ok(None),
            Fit::Unknown => return Err(no_counterpart(eval, event)),
        }
    }
    Ok(Some(values))
}

/// Whether elements of a deferred set may stand in values of a type.
fn has_deferred(ty: &Type, machine: &Machine) -> bool {
    match ty {
        Type::Set(set) => machine.set(*set).kind == SetKind::Deferred,
        Type::Pow(t) => has_deferred(t, machine),
        Type::Prod(a, b) => has_deferred(a, machine) || has_deferred(b, machine),
        Type::Free(_) | Type::Struct(_) => true,
        _ => false,
    }
}

/// A value of CSP among those of a type.
enum Fit {
    Value(Value),
    /// The type has no such value.
    None,
    /// Values of such a type have no form in CSP.
    Unknown,
}

impl Fit {
    fn of(value: Option<Value>) -> Fit {
        value.map_or(Fit::None, Fit::Value)
    }
}

fn value_of(plain: &Plain, ty: &Type, machine: &Machine) -> Fit {
    match (ty, plain) {
        (Type::Integer, Plain::Atom(text)) => Fit::of(number(text)),
        (Type::Bool, Plain::Atom(text)) => match text.as_str() {
            "true" | "TRUE" => Fit::Value(Value::Bool(true)),
            "false" | "FALSE" => Fit::Value(Value::Bool(false)),
            _ => Fit::None,
        },
        (Type::Set(set), Plain::Atom(text)) => {
            let place = machine.set(*set).elems.iter().position(|e| **e == **text);
            Fit::of(place.map(|n| Value::Elem(*set, n as u32)))
        }
        (Type::String, Plain::Text(text)) => Fit::Value(Value::str(text)),
        // A text without characters is written as a sequence without elements.
        (Type::String, Plain::Set(items)) if items.is_empty() => Fit::Value(Value::str("")),
        (Type::Prod(a, b), Plain::Pair(pair)) => {
            match (value_of(&pair.0, a, machine), value_of(&pair.1, b, machine)) {
                (Fit::Value(x), Fit::Value(y)) => Fit::Value(Value::pair(x, y)),
                (Fit::Unknown, _) | (_, Fit::Unknown) => Fit::Unknown,
                _ => Fit::None,
            }
        }
        (Type::Pow(t), Plain::Set(items)) => {
            let mut values = Vec::new();
            for item in items {
                match value_of(item, t, machine) {
                    Fit::Value(value) => values.push(value),
                    other => return other,
                }
            }
            Fit::Value(Value::set(values))
        }
        (Type::Free(id), _) => constructed(plain, *id, machine),
        (Type::Real | Type::Struct(_) | Type::Any, _) => Fit::Unknown,
        _ => Fit::None,
    }
}

fn number(text: &str) -> Option<Value> {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n = Int::parse(digits, 10)?;
    Some(Value::Int(if minus { n.neg() } else { n }))
}

/// A member of a free type: a constructor by its name, with its argument behind dots.
fn constructed(plain: &Plain, id: FreeId, machine: &Machine) -> Fit {
    let (mut head, mut arguments) = (plain, Vec::new());
    while let Plain::Pair(pair) = head {
        arguments.push(&pair.1);
        head = &pair.0;
    }
    let Plain::Atom(name) = head else { return Fit::None };
    let constructors = &machine.freetypes[id.0 as usize].constructors;
    let Some(at) = constructors.iter().position(|(c, _)| **c == **name) else { return Fit::None };
    let argument = arguments.into_iter().rev().cloned().reduce(Plain::pair);
    match (&constructors[at].1, argument) {
        (None, None) => Fit::Value(Value::Free(id, at as u32, None)),
        (Some(ty), Some(argument)) => match value_of(&argument, ty, machine) {
            Fit::Value(value) => Fit::Value(Value::Free(id, at as u32, Some(value.into()))),
            other => other,
        },
        _ => Fit::None,
    }
}

/// All elements of sets that stand in a value.
fn elements(value: &Value, out: &mut BTreeSet<(SetId, u32)>) {
    match value {
        Value::Elem(set, n) => {
            out.insert((*set, *n));
        }
        Value::Pair(pair) => {
            elements(&pair.0, out);
            elements(&pair.1, out);
        }
        Value::Set(items) | Value::Rec(items) => items.iter().for_each(|x| elements(x, out)),
        Value::Free(_, _, Some(argument)) => elements(argument, out),
        _ => {}
    }
}
