//! Formulas of B over small finite types, evaluated by trying everything.
//!
//! In: terms of this file's own and values of variables. Out: a value, or none where the term is undefined, by the rule
//! of `docs/definedness.md` word by word; and the text of the term as a model writes it. Never here: anything of the
//! checker. What it and this file agree on was reached on two ways.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    Int(i64),
    Bool(bool),
    Pair(Box<(Value, Value)>),
    Set(BTreeSet<Value>),
}

pub type Env = BTreeMap<String, Value>;

/// A finite set that a bound variable runs through; its predicate says that the variable lies in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    Ints(i64, i64),
    /// All relations between `1..n` and `0..m`.
    Relations(i64, i64),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    Num(i64),
    Var(String),
    /// An operator between its operands.
    Bin(&'static str, Box<Term>, Box<Term>),
    /// An operator in front of its operand in brackets.
    Call(&'static str, Box<Term>),
    Apply(Box<Term>, Box<Term>),
    Image(Box<Term>, Box<Term>),
    SetOf(Vec<Term>),
    SeqOf(Vec<Term>),
    /// A field of a record that is written down.
    Field(Box<Term>, Box<Term>, bool),
    Compr(Bound, Box<Term>),
    Lambda(Bound, Box<Term>, Box<Term>),
    Sigma(Bound, Box<Term>, Box<Term>),
    Union(Bound, Box<Term>, Box<Term>),
    If(Box<Term>, Box<Term>, Box<Term>),
    Let(String, Box<Term>, Box<Term>),
    And(Vec<Term>),
    Or(Box<Term>, Box<Term>),
    Implies(Box<Term>, Box<Term>),
    Iff(Box<Term>, Box<Term>),
    Not(Box<Term>),
    /// A relation between two terms.
    Rel(&'static str, Box<Term>, Box<Term>),
    Forall(Vec<Bound>, Box<Term>),
    Exists(Vec<Bound>, Box<Term>),
    /// `bool(P) = TRUE`
    IsTrue(Box<Term>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub name: String,
    pub carrier: Carrier,
}

impl Carrier {
    pub fn values(&self) -> Vec<Value> {
        match self {
            Carrier::Ints(lo, hi) => (*lo..=*hi).map(Value::Int).collect(),
            Carrier::Relations(n, m) => {
                let pairs: Vec<Value> = (1..=*n)
                    .flat_map(|x| (0..=*m).map(move |y| pair(Value::Int(x), Value::Int(y))))
                    .collect();
                (0..1u32 << pairs.len())
                    .map(|bits| {
                        let chosen = pairs.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
                        Value::Set(chosen.map(|(_, p)| p.clone()).collect())
                    })
                    .collect()
            }
        }
    }

    /// That a variable lies in the carrier.
    pub fn typing(&self, name: &str) -> Term {
        let set = match self {
            Carrier::Ints(lo, hi) => bin("..", Term::Num(*lo), Term::Num(*hi)),
            Carrier::Relations(n, m) => {
                let product =
                    bin("*", bin("..", Term::Num(1), Term::Num(*n)), bin("..", Term::Num(0), Term::Num(*m)));
                Term::Call("POW", Box::new(product))
            }
        };
        Term::Rel(":", Box::new(Term::Var(name.into())), Box::new(set))
    }
}

pub fn bin(op: &'static str, a: Term, b: Term) -> Term {
    Term::Bin(op, Box::new(a), Box::new(b))
}

pub fn pair(a: Value, b: Value) -> Value {
    Value::Pair(Box::new((a, b)))
}

/// The truth of a predicate; none where it is undefined.
pub fn truth(t: &Term, env: &mut Env) -> Option<bool> {
    match value(t, env)? {
        Value::Bool(b) => Some(b),
        other => panic!("{t} is no predicate but {other:?}"),
    }
}

/// Runs with one more variable.
pub fn with<T>(env: &mut Env, name: &str, x: Value, run: impl FnOnce(&mut Env) -> T) -> T {
    let before = env.insert(name.into(), x);
    let result = run(env);
    match before {
        Some(x) => env.insert(name.into(), x),
        None => env.remove(name),
    };
    result
}

/// Calls `see` with the truth of `p` for every value of the bound variable.
fn each(bound: &Bound, p: &Term, env: &mut Env, see: &mut dyn FnMut(&mut Env, &Value, Option<bool>)) {
    for x in bound.carrier.values() {
        with(env, &bound.name, x.clone(), |env| {
            let holds = truth(p, env);
            see(env, &x, holds);
        });
    }
}

/// Calls `see` with the truth of `p` for all values of several variables.
fn each_of(bounds: &[Bound], p: &Term, env: &mut Env, see: &mut dyn FnMut(Option<bool>)) {
    match bounds.split_first() {
        None => see(truth(p, env)),
        Some((first, rest)) => {
            for x in first.carrier.values() {
                with(env, &first.name, x, |env| each_of(rest, p, env, see));
            }
        }
    }
}

pub fn value(t: &Term, env: &mut Env) -> Option<Value> {
    Some(match t {
        Term::Num(n) => Value::Int(*n),
        Term::Var(v) => env.get(v).unwrap_or_else(|| panic!("{v} has no value")).clone(),
        Term::Bin(op, a, b) => {
            let (a, b) = (value(a, env)?, value(b, env)?);
            binary(op, a, b)?
        }
        Term::Call(op, a) => unary(op, value(a, env)?)?,
        Term::Apply(f, x) => {
            // A lambda applied where it stands is asked for one point.
            if let Term::Lambda(bound, p, body) = &**f {
                let x = value(x, env)?;
                return with(env, &bound.name, x, |env| match truth(p, env) {
                    Some(true) => value(body, env),
                    _ => None,
                });
            }
            let f = set(value(f, env)?);
            let x = value(x, env)?;
            let mut images = f.iter().map(halves).filter(|(a, _)| *a == x).map(|(_, b)| b);
            match (images.next(), images.next()) {
                (Some(y), None) => y,
                _ => return None,
            }
        }
        Term::Image(r, s) => {
            let (r, s) = (set(value(r, env)?), set(value(s, env)?));
            Value::Set(r.iter().map(halves).filter(|(a, _)| s.contains(a)).map(|(_, b)| b).collect())
        }
        Term::SetOf(ts) => Value::Set(ts.iter().map(|t| value(t, env)).collect::<Option<_>>()?),
        Term::SeqOf(ts) => sequence(ts.iter().map(|t| value(t, env)).collect::<Option<Vec<_>>>()?),
        Term::Field(a, b, second) => {
            let (a, b) = (value(a, env)?, value(b, env)?);
            if *second { b } else { a }
        }
        Term::Compr(bound, p) => {
            let (mut found, mut defined) = (BTreeSet::new(), true);
            each(bound, p, env, &mut |_, x, holds| match holds {
                Some(true) => _ = found.insert(x.clone()),
                Some(false) => {}
                None => defined = false,
            });
            return defined.then_some(Value::Set(found));
        }
        Term::Lambda(bound, p, body) => {
            let all = images(bound, p, body, env)?;
            Value::Set(all.into_iter().map(|(x, y)| pair(x, y)).collect())
        }
        Term::Sigma(bound, p, body) => {
            Value::Int(images(bound, p, body, env)?.into_iter().map(|(_, y)| int(y)).sum())
        }
        Term::Union(bound, p, body) => {
            Value::Set(images(bound, p, body, env)?.into_iter().flat_map(|(_, y)| set(y)).collect())
        }
        Term::If(c, a, b) => return value(if truth(c, env)? { a } else { b }, env),
        Term::Let(v, e, body) => {
            let x = value(e, env)?;
            return with(env, v, x, |env| value(body, env));
        }
        _ => Value::Bool(predicate(t, env)?),
    })
}

/// The values of a body for all bindings that satisfy a predicate.
fn images(bound: &Bound, p: &Term, body: &Term, env: &mut Env) -> Option<Vec<(Value, Value)>> {
    let (mut found, mut defined) = (Vec::new(), true);
    each(bound, p, env, &mut |env, x, holds| match holds {
        Some(true) => match value(body, env) {
            Some(y) => found.push((x.clone(), y)),
            None => defined = false,
        },
        Some(false) => {}
        None => defined = false,
    });
    defined.then_some(found)
}

fn predicate(t: &Term, env: &mut Env) -> Option<bool> {
    match t {
        Term::And(ts) => {
            let mut all = Some(true);
            for t in ts {
                match truth(t, env) {
                    Some(true) => {}
                    Some(false) => return Some(false),
                    None => all = None,
                }
            }
            all
        }
        Term::Or(a, b) => {
            if truth(a, env)? {
                Some(true)
            } else {
                truth(b, env)
            }
        }
        Term::Implies(a, b) => {
            if truth(a, env)? {
                truth(b, env)
            } else {
                Some(true)
            }
        }
        Term::Iff(a, b) => {
            let a = truth(a, env)?;
            Some(a == truth(b, env)?)
        }
        Term::Not(a) => Some(!truth(a, env)?),
        Term::IsTrue(a) => truth(a, env),
        Term::Forall(bounds, p) => quantified(bounds, p, env, false).map(|found| !found),
        Term::Exists(bounds, p) => quantified(bounds, p, env, true),
        Term::Rel(op, a, b) => {
            if let (":" | "/:", Term::Compr(bound, p)) = (*op, &**b) {
                let x = value(a, env)?;
                let inside = with(env, &bound.name, x, |env| truth(p, env))?;
                return Some(inside == (*op == ":"));
            }
            let (a, b) = (value(a, env)?, value(b, env)?);
            Some(match *op {
                "=" => a == b,
                "/=" => a != b,
                "<" => int(a) < int(b),
                "<=" => int(a) <= int(b),
                ">" => int(a) > int(b),
                ">=" => int(a) >= int(b),
                ":" => set(b).contains(&a),
                "/:" => !set(b).contains(&a),
                "<:" => set(a).is_subset(&set(b)),
                "/<:" => !set(a).is_subset(&set(b)),
                other => panic!("no relation {other}"),
            })
        }
        other => panic!("{other} is no predicate"),
    }
}

/// Whether some binding has the wanted truth; else none if some binding is undefined.
fn quantified(bounds: &[Bound], p: &Term, env: &mut Env, wanted: bool) -> Option<bool> {
    let (mut found, mut defined) = (false, true);
    each_of(bounds, p, env, &mut |holds| match holds {
        Some(b) => found |= b == wanted,
        None => defined = false,
    });
    if found {
        return Some(true);
    }
    defined.then_some(false)
}

fn int(v: Value) -> i64 {
    match v {
        Value::Int(n) => n,
        other => panic!("{other:?} is no number"),
    }
}

fn set(v: Value) -> BTreeSet<Value> {
    match v {
        Value::Set(s) => s,
        other => panic!("{other:?} is no set"),
    }
}

fn halves(v: &Value) -> (Value, Value) {
    match v {
        Value::Pair(p) => (p.0.clone(), p.1.clone()),
        other => panic!("{other:?} is no pair"),
    }
}

fn sequence(items: Vec<Value>) -> Value {
    Value::Set(items.into_iter().enumerate().map(|(i, x)| pair(Value::Int(i as i64 + 1), x)).collect())
}

/// The items of a relation that is a sequence.
fn items(v: Value) -> Option<Vec<Value>> {
    let rows: Vec<(Value, Value)> = set(v).iter().map(halves).collect();
    let fits = rows.iter().enumerate().all(|(i, (x, _))| *x == Value::Int(i as i64 + 1));
    fits.then(|| rows.into_iter().map(|(_, y)| y).collect())
}

fn binary(op: &str, a: Value, b: Value) -> Option<Value> {
    let restricted = |r: Value, keep: &dyn Fn(&(Value, Value)) -> bool| {
        Value::Set(set(r).into_iter().filter(|p| keep(&halves(p))).collect())
    };
    Some(match op {
        "+" => Value::Int(int(a) + int(b)),
        "-" => Value::Int(int(a) - int(b)),
        "*" if matches!(a, Value::Set(_)) => {
            let b = set(b);
            Value::Set(set(a).iter().flat_map(|x| b.iter().map(|y| pair(x.clone(), y.clone()))).collect())
        }
        "*" => Value::Int(int(a) * int(b)),
        "/" => Value::Int(int(a).checked_div(int(b))?),
        "mod" => match (int(a), int(b)) {
            (a, b) if a >= 0 && b > 0 => Value::Int(a % b),
            _ => return None,
        },
        "**" => match (int(a), int(b)) {
            (a, b) if b >= 0 => Value::Int(a.pow(b as u32)),
            _ => return None,
        },
        ".." => Value::Set((int(a)..=int(b)).map(Value::Int).collect()),
        "|->" => pair(a, b),
        "\\/" => Value::Set(set(a).union(&set(b)).cloned().collect()),
        "/\\" => Value::Set(set(a).intersection(&set(b)).cloned().collect()),
        // The difference of sets; that of numbers is "-".
        "\\" => Value::Set(set(a).difference(&set(b)).cloned().collect()),
        "<|" => {
            let s = set(a);
            restricted(b, &|(x, _)| s.contains(x))
        }
        "<<|" => {
            let s = set(a);
            restricted(b, &|(x, _)| !s.contains(x))
        }
        "|>" => {
            let s = set(b);
            restricted(a, &|(_, y)| s.contains(y))
        }
        "|>>" => {
            let s = set(b);
            restricted(a, &|(_, y)| !s.contains(y))
        }
        "<+" => {
            let b = set(b);
            let over: BTreeSet<Value> = b.iter().map(|p| halves(p).0).collect();
            let kept = restricted(a, &|(x, _)| !over.contains(x));
            Value::Set(set(kept).union(&b).cloned().collect())
        }
        "<-" => {
            let mut all = items(a)?;
            all.push(b);
            sequence(all)
        }
        "->" => {
            let mut all = items(b)?;
            all.insert(0, a);
            sequence(all)
        }
        "^" => {
            let mut all = items(a)?;
            all.extend(items(b)?);
            sequence(all)
        }
        "/|\\" | "\\|/" => {
            // To take more than there is yields all of it, as in ProB; to drop more has no value.
            let (all, n) = (items(a)?, int(b));
            let most = all.len() as i64;
            if n < 0 || op != "/|\\" && n > most {
                return None;
            }
            let (front, back) = all.split_at(n.min(most) as usize);
            sequence(if op == "/|\\" { front.to_vec() } else { back.to_vec() })
        }
        other => panic!("no operator {other}"),
    })
}

fn unary(op: &str, a: Value) -> Option<Value> {
    Some(match op {
        "-" => Value::Int(-int(a)),
        "card" => Value::Int(set(a).len() as i64),
        "max" => set(a).last()?.clone(),
        "min" => set(a).first()?.clone(),
        "dom" => Value::Set(set(a).iter().map(|p| halves(p).0).collect()),
        "ran" => Value::Set(set(a).iter().map(|p| halves(p).1).collect()),
        "size" => Value::Int(items(a)?.len() as i64),
        "first" => items(a)?.first()?.clone(),
        "last" => items(a)?.last()?.clone(),
        "rev" => {
            let mut all = items(a)?;
            all.reverse();
            sequence(all)
        }
        "front" => {
            let mut all = items(a)?;
            all.pop()?;
            sequence(all)
        }
        "tail" => {
            let all = items(a)?;
            sequence(all.split_first()?.1.to_vec())
        }
        "POW" => {
            let all: Vec<Value> = set(a).into_iter().collect();
            Value::Set(
                (0..1u32 << all.len())
                    .map(|bits| {
                        let chosen = all.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
                        Value::Set(chosen.map(|(_, x)| x.clone()).collect())
                    })
                    .collect(),
            )
        }
        other => panic!("no operator {other}"),
    })
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |ts: &[Term]| ts.iter().map(Term::to_string).collect::<Vec<_>>().join(", ");
        let names = |bs: &[Bound]| bs.iter().map(|b| b.name.clone()).collect::<Vec<_>>().join(",");
        match self {
            Term::Num(n) if *n < 0 => write!(f, "({n})"),
            Term::Num(n) => write!(f, "{n}"),
            Term::Var(v) => f.write_str(v),
            Term::Bin("\\", a, b) => write!(f, "({a} - {b})"),
            Term::Bin(op, a, b) | Term::Rel(op, a, b) => write!(f, "({a} {op} {b})"),
            Term::Call("-", a) => write!(f, "(-({a}))"),
            Term::Call(op, a) => write!(f, "{op}({a})"),
            Term::Apply(g, a) => write!(f, "({g})({a})"),
            Term::Image(g, a) => write!(f, "({g})[{a}]"),
            Term::SetOf(ts) => write!(f, "{{{}}}", list(ts)),
            Term::SeqOf(ts) => write!(f, "[{}]", list(ts)),
            Term::Field(a, b, second) => {
                write!(f, "(rec(aa:{a}, bb:{b})'{})", if *second { "bb" } else { "aa" })
            }
            Term::Compr(b, p) => write!(f, "{{{} | {p}}}", b.name),
            Term::Lambda(b, p, e) => write!(f, "(%{}.({p} | {e}))", b.name),
            Term::Sigma(b, p, e) => write!(f, "SIGMA({}).({p} | {e})", b.name),
            Term::Union(b, p, e) => write!(f, "UNION({}).({p} | {e})", b.name),
            Term::If(c, a, b) => write!(f, "(IF {c} THEN {a} ELSE {b} END)"),
            Term::Let(v, e, body) => write!(f, "(LET {v} BE {v}={e} IN {body} END)"),
            Term::And(ts) => {
                write!(f, "({})", ts.iter().map(Term::to_string).collect::<Vec<_>>().join(" & "))
            }
            Term::Or(a, b) => write!(f, "({a} or {b})"),
            Term::Implies(a, b) => write!(f, "({a} => {b})"),
            Term::Iff(a, b) => write!(f, "({a} <=> {b})"),
            Term::Not(a) => write!(f, "not({a})"),
            Term::Forall(bs, p) => write!(f, "(!({}).({p}))", names(bs)),
            Term::Exists(bs, p) => write!(f, "(#({}).({p}))", names(bs)),
            Term::IsTrue(p) => write!(f, "(bool({p}) = TRUE)"),
        }
    }
}
