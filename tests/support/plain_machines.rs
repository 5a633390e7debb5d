//! Machines over small types and all their states, by trying everything.
//!
//! In: a machine of this file's own. Out: its text, and what exploring it must find: states, transitions, undefined invariants
//! and actions, undefined guards. Never here: anything of the checker (see `plain_terms`).

use super::plain_terms::{Bound, Env, Term, Value, bin, truth, value, with};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// More states than this are not looked at.
const STATES: usize = 300;

#[derive(Clone, Debug, PartialEq)]
pub enum Sub {
    Skip,
    Assign(&'static str, Term),
    /// `f(a) := b`
    Cell(Term, Term),
    In(&'static str, Term),
    Such(&'static str, Term),
    Pre(Term, Box<Sub>),
    Select(Vec<(Term, Sub)>, Option<Box<Sub>>),
    Any(Bound, Term, Box<Sub>),
    If(Term, Box<Sub>, Box<Sub>),
    Let(String, Term, Box<Sub>),
    Choice(Vec<Sub>),
    Par(Box<Sub>, Box<Sub>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub name: String,
    pub param: Option<Bound>,
    pub body: Sub,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    pub variables: Vec<&'static str>,
    pub invariant: Vec<Term>,
    pub initial: Vec<Term>,
    pub operations: Vec<Operation>,
}

/// What exploring a machine must find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    pub states: usize,
    pub transitions: usize,
    /// An invariant or an action is undefined somewhere.
    pub undefined: bool,
    pub broken: bool,
    /// Operations whose guard is undefined somewhere.
    pub guards: BTreeSet<String>,
}

/// The outcomes of a substitution: what is written.
type Writes = BTreeMap<&'static str, Value>;

#[derive(Default)]
struct Outcomes {
    writes: BTreeSet<(Option<Value>, Writes)>,
    undefined: bool,
    guard: bool,
}

/// The set that a variable stays in.
fn home(variable: &str) -> Term {
    let ints = |lo, hi| bin("..", Term::Num(lo), Term::Num(hi));
    let pow = |t| Term::Call("POW", Box::new(t));
    match variable {
        "x" | "y" => ints(0, 2),
        "s" => pow(ints(0, 1)),
        "f" => pow(bin("*", ints(0, 1), ints(0, 1))),
        _ => pow(bin("*", ints(1, 2), ints(0, 1))),
    }
}

impl Plain {
    pub fn text(&self) -> String {
        let mut out = format!("MACHINE Plain\nVARIABLES {}\nINVARIANT\n  ", self.variables.join(", "));
        let typing = self.variables.iter().map(|v| format!("{v} : {}", home(v)));
        let clauses: Vec<String> = typing.chain(self.invariant.iter().map(Term::to_string)).collect();
        let starts: Vec<String> =
            self.variables.iter().zip(&self.initial).map(|(v, e)| format!("{v} := {e}")).collect();
        let operations: Vec<String> = self
            .operations
            .iter()
            .map(|op| {
                let param = op.param.as_ref().map(|p| format!("({})", p.name)).unwrap_or_default();
                format!("  {}{param} = {}", op.name, op.body.text())
            })
            .collect();
        let _ = write!(
            out,
            "{}\nINITIALISATION {}\nOPERATIONS\n{}\nEND\n",
            clauses.join("\n  & "),
            starts.join(" || "),
            operations.join(";\n")
        );
        out
    }

    /// All states, unless there are too many.
    pub fn explore(&self) -> Option<Explored> {
        let mut found = Explored::default();
        let start: Env = self
            .variables
            .iter()
            .zip(&self.initial)
            .map(|(v, e)| {
                (v.to_string(), value(e, &mut Env::new()).expect("initial values are written down"))
            })
            .collect();
        let mut seen = BTreeSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            for clause in &self.invariant {
                match truth(clause, &mut state.clone()) {
                    Some(true) => {}
                    Some(false) => found.broken = true,
                    None => found.undefined = true,
                }
            }
            for op in &self.operations {
                let mut out = Outcomes::default();
                match &op.param {
                    None => guarded(&op.body, true, &mut state.clone(), None, &mut out),
                    Some(p) => {
                        for x in p.carrier.values() {
                            with(&mut state.clone(), &p.name, x.clone(), |env| {
                                guarded(&op.body, true, env, Some(&x), &mut out);
                            });
                        }
                    }
                }
                found.undefined |= out.undefined;
                if out.guard {
                    found.guards.insert(op.name.clone());
                }
                let targets: BTreeSet<(Option<Value>, Env)> = out
                    .writes
                    .into_iter()
                    .map(|(param, writes)| {
                        let mut next = state.clone();
                        next.extend(writes.into_iter().map(|(v, x)| (v.to_string(), x)));
                        (param, next)
                    })
                    .collect();
                found.transitions += targets.len();
                for (_, next) in targets {
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
            if seen.len() > STATES {
                return None;
            }
        }
        found.states = seen.len();
        Some(found)
    }
}

/// A substitution in the place of a guard. A PRE is a guard only where nothing else stands in front of it.
fn guarded(s: &Sub, outermost: bool, env: &mut Env, param: Option<&Value>, out: &mut Outcomes) {
    match s {
        Sub::Pre(p, body) if outermost => match truth(p, env) {
            Some(true) => guarded(body, true, env, param, out),
            Some(false) => {}
            None => out.guard = true,
        },
        Sub::Select(branches, other) => {
            let (mut open, mut defined) = (true, true);
            for (p, body) in branches {
                match truth(p, env) {
                    Some(true) => {
                        open = false;
                        guarded(body, false, env, param, out);
                    }
                    Some(false) => {}
                    None => {
                        out.guard = true;
                        defined = false;
                    }
                }
            }
            if let (true, true, Some(body)) = (open, defined, other) {
                guarded(body, false, env, param, out);
            }
        }
        Sub::Any(bound, p, body) => {
            for x in bound.carrier.values() {
                with(env, &bound.name, x, |env| match truth(p, env) {
                    Some(true) => guarded(body, false, env, param, out),
                    Some(false) => {}
                    None => out.guard = true,
                });
            }
        }
        Sub::Choice(all) => all.iter().for_each(|s| guarded(s, false, env, param, out)),
        _ => {
            let (writes, undefined) = outcomes(s, env);
            out.undefined |= undefined;
            out.writes.extend(writes.into_iter().map(|w| (param.cloned(), w)));
        }
    }
}

/// The outcomes of a substitution inside an action, and whether something in it is undefined.
fn outcomes(s: &Sub, env: &mut Env) -> (Vec<Writes>, bool) {
    let one = |v: &'static str, x: Option<Value>| match x {
        Some(x) => (vec![Writes::from([(v, x)])], false),
        None => (Vec::new(), true),
    };
    match s {
        Sub::Skip => (vec![Writes::new()], false),
        Sub::Assign(v, e) => one(v, value(e, env)),
        Sub::Cell(a, b) => {
            let row = Term::SetOf(vec![bin("|->", a.clone(), b.clone())]);
            one("f", value(&bin("<+", Term::Var("f".into()), row), env))
        }
        Sub::In(v, e) => match value(e, env) {
            Some(Value::Set(all)) => (all.into_iter().map(|x| Writes::from([(*v, x)])).collect(), false),
            Some(other) => panic!("{other:?} is no set"),
            None => (Vec::new(), true),
        },
        Sub::Such(v, p) => {
            let carrier = match value(&home(v), &mut Env::new()) {
                Some(Value::Set(all)) => all,
                other => panic!("{other:?} is no home"),
            };
            let (mut writes, mut undefined) = (Vec::new(), false);
            for x in carrier {
                match with(env, v, x.clone(), |env| truth(p, env)) {
                    Some(true) => writes.push(Writes::from([(*v, x)])),
                    Some(false) => {}
                    None => undefined = true,
                }
            }
            (writes, undefined)
        }
        Sub::Pre(..) => panic!("a PRE stands in front of an operation only"),
        Sub::Select(branches, other) => {
            let (mut writes, mut undefined, mut open) = (Vec::new(), false, true);
            for (p, body) in branches {
                match truth(p, env) {
                    Some(true) => {
                        open = false;
                        let (more, ill) = outcomes(body, env);
                        writes.extend(more);
                        undefined |= ill;
                    }
                    Some(false) => {}
                    None => {
                        open = false;
                        undefined = true;
                    }
                }
            }
            if let (true, Some(body)) = (open, other) {
                let (more, ill) = outcomes(body, env);
                writes.extend(more);
                undefined |= ill;
            }
            (writes, undefined)
        }
        Sub::Any(bound, p, body) => {
            let (mut writes, mut undefined) = (Vec::new(), false);
            for x in bound.carrier.values() {
                with(env, &bound.name, x, |env| match truth(p, env) {
                    Some(true) => {
                        let (more, ill) = outcomes(body, env);
                        writes.extend(more);
                        undefined |= ill;
                    }
                    Some(false) => {}
                    None => undefined = true,
                });
            }
            (writes, undefined)
        }
        Sub::If(c, a, b) => match truth(c, env) {
            Some(true) => outcomes(a, env),
            Some(false) => outcomes(b, env),
            None => (Vec::new(), true),
        },
        Sub::Let(v, e, body) => match value(e, env) {
            Some(x) => with(env, v, x, |env| outcomes(body, env)),
            None => (Vec::new(), true),
        },
        Sub::Choice(all) => {
            let (mut writes, mut undefined) = (Vec::new(), false);
            for s in all {
                let (more, ill) = outcomes(s, env);
                writes.extend(more);
                undefined |= ill;
            }
            (writes, undefined)
        }
        Sub::Par(a, b) => {
            let ((left, ill), (right, also)) = (outcomes(a, env), outcomes(b, env));
            let join = |l: &Writes, r: &Writes| l.clone().into_iter().chain(r.clone()).collect();
            (left.iter().flat_map(|l| right.iter().map(move |r| join(l, r))).collect(), ill || also)
        }
    }
}

impl Sub {
    fn text(&self) -> String {
        match self {
            Sub::Skip => "skip".into(),
            Sub::Assign(v, e) => format!("{v} := {e}"),
            Sub::Cell(a, b) => format!("f({a}) := {b}"),
            Sub::In(v, e) => format!("{v} :: {e}"),
            Sub::Such(v, p) => format!("{v} : ({p})"),
            Sub::Pre(p, s) => format!("PRE {p} THEN {} END", s.text()),
            Sub::Select(branches, other) => {
                let all: Vec<String> =
                    branches.iter().map(|(p, s)| format!("{p} THEN {}", s.text())).collect();
                let last = other.as_ref().map(|s| format!(" ELSE {}", s.text())).unwrap_or_default();
                format!("SELECT {}{last} END", all.join(" WHEN "))
            }
            Sub::Any(b, p, s) => format!("ANY {} WHERE {p} THEN {} END", b.name, s.text()),
            Sub::If(c, a, b) => format!("IF {c} THEN {} ELSE {} END", a.text(), b.text()),
            Sub::Let(v, e, s) => format!("LET {v} BE {v}={e} IN {} END", s.text()),
            Sub::Choice(all) => {
                format!("CHOICE {} END", all.iter().map(Sub::text).collect::<Vec<_>>().join(" OR "))
            }
            Sub::Par(a, b) => format!("BEGIN {} || {} END", a.text(), b.text()),
        }
    }
}
