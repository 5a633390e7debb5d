//! Functions and predicates the tool provides: strings, choice, sorting, graphs, printing.
//!
//! In: the name of an external function and its arguments. Out: its value. Printing has no effect.
//! Never here: files, clocks, randomness; models that need them are reported as not evaluated.

use crate::base::{Int, Span};
use crate::evaluate::Interpreter;
use crate::evaluate::env::Env;
use crate::evaluate::error::{Error, Res};
use crate::evaluate::size::Card;
use crate::lang::typed::{Expr, External, Type, UnOp};
use crate::lang::value::Value;
use dashu_int::IBig;
use std::collections::{BTreeMap, BTreeSet};

impl Interpreter<'_> {
    pub(crate) fn external(&self, env: &mut Env, f: &External, args: &[Expr], e: &Expr) -> Res<Value> {
        let name: &str = &f.name;
        // Functions that pass an argument through are transparent, also for symbolic sets.
        match (name, args) {
            ("vprintf" | "VPRINTF", [_, x]) | ("fvprintf", [_, _, x]) => return self.eval(env, x),
            ("FORCE" | "ENUMERATE" | "IDENTITY" | "TRACE", [x]) => return self.eval(env, x),
            ("SYMBOLIC" | "MEMOIZE" | "MEMO" | "REC" | "PRINT_VALUE", [x]) => {
                return self.eval_symbolic(env, x);
            }
            ("ASSERT_EXPR", [condition, _, x]) => {
                return match self.eval(env, condition)? {
                    Value::Bool(true) => self.eval(env, x),
                    _ => Err(Error::undefined(e.span, "ASSERT_EXPR does not hold")),
                };
            }
            ("COPY", [x]) => return self.eval(env, x),
            ("MAXIMIZE_EXPR" | "MAXIMIZE", [set]) => {
                let set = self.eval_lazy(env, set)?;
                let found = self.largest(env, &set, e.span)?;
                return found.ok_or_else(|| Error::undefined(e.span, "MAXIMIZE of the empty set"));
            }
            // What Event-B asks of `f` in `f(x)` and of `a` in `a^b`.
            ("AS_FUNCTION", [x]) => {
                let value = self.eval(env, x)?;
                if let Value::Set(pairs) = &value {
                    let mut firsts = pairs.iter().map(|p| p.as_pair().map(|(first, _)| first));
                    let mut last = firsts.next();
                    for next in firsts {
                        if last == Some(next) {
                            return Err(Error::undefined(
                                e.span,
                                "the relation that is applied is no function",
                            ));
                        }
                        last = Some(next);
                    }
                }
                return Ok(value);
            }
            ("AS_NATURAL", [x]) => {
                let value = self.eval(env, x)?;
                return match value.as_int() {
                    Some(n) if *n < Int::ZERO => {
                        Err(Error::undefined(e.span, "a negative number is raised to a power"))
                    }
                    _ => Ok(value),
                };
            }
            _ => {}
        }
        let values = self.eval_all(env, args)?;
        self.external_value(env, name, &values, args, e)
    }

    fn external_value(
        &self,
        env: &mut Env,
        name: &str,
        values: &[Value],
        args: &[Expr],
        e: &Expr,
    ) -> Res<Value> {
        let span = e.span;
        let undefined = |why: &str| Error::undefined(span, format!("{name}: {why}"));
        let text = |s: String| Ok(Value::str(&s));
        match (name, values) {
            ("STRING_APPEND" | "STRING_CONC2", [Value::Str(a), Value::Str(b)]) => text(format!("{a}{b}")),
            ("STRING_LENGTH", [Value::Str(s)]) => Ok(Value::Int(Int::from(s.chars().count()))),
            ("STRING_CHARS", [Value::Str(s)]) => {
                Ok(Value::seq(s.chars().map(|c| Value::str(&c.to_string()))))
            }
            ("STRING_CODES", [Value::Str(s)]) => Ok(Value::seq(s.chars().map(|c| Value::int(c as i64)))),
            ("CODES_TO_STRING", [v]) => {
                let items = v.as_seq().ok_or_else(|| undefined("not a sequence"))?;
                text(
                    items
                        .into_iter()
                        .filter_map(|c| c.as_int()?.small().and_then(|n| char::from_u32(n as u32)))
                        .collect(),
                )
            }
            ("STRING_SPLIT", [Value::Str(s), Value::Str(sep)]) => {
                if sep.is_empty() {
                    return Ok(Value::seq([Value::Str(s.clone())]));
                }
                Ok(Value::seq(s.split(&**sep).map(Value::str)))
            }
            ("STRING_JOIN", [v, Value::Str(sep)]) => text(self.strings(v, &undefined)?.join(sep)),
            ("STRING_CONC", [v]) => text(self.strings(v, &undefined)?.concat()),
            ("STRING_TO_UPPER", [Value::Str(s), ..]) => text(s.to_uppercase()),
            ("STRING_TO_LOWER", [Value::Str(s), ..]) => text(s.to_lowercase()),
            ("STRING_REV", [Value::Str(s)]) => text(s.chars().rev().collect()),
            ("STRING_REPLACE", [Value::Str(s), Value::Str(a), Value::Str(b)]) => text(s.replace(&**a, b)),
            ("SUB_STRING", [Value::Str(s), Value::Int(from), Value::Int(len)]) => {
                let from = from.small().unwrap_or(0).max(1) as usize;
                let len = len.small().unwrap_or(0).max(0) as usize;
                text(s.chars().skip(from - 1).take(len).collect())
            }
            ("STRING_PADLEFT", [Value::Str(s), Value::Int(n), Value::Str(c)]) => {
                let n = n.small().unwrap_or(0).max(0) as usize;
                let pad = n.saturating_sub(s.chars().count()).min(100_000);
                text(format!("{}{s}", c.repeat(pad)))
            }
            ("STRING_TO_INT", [Value::Str(s)]) => {
                parse_int(s).map(Value::Int).ok_or_else(|| undefined("not a number"))
            }
            ("DEC_STRING_TO_INT", [Value::Str(s), Value::Int(places)]) => {
                let places = places.small().unwrap_or(0);
                let number =
                    crate::evaluate::eval::parse_real(s.trim()).ok_or_else(|| undefined("not a number"))?;
                let scale = dashu_ratio::RBig::from(IBig::from(10).pow(places.unsigned_abs() as usize));
                let scaled = if places >= 0 { number * scale } else { number / scale };
                let half = dashu_ratio::RBig::from_parts(1.into(), 2u8.into());
                Ok(Value::Int(Int::from_big((scaled + half).floor())))
            }
            ("INT_TO_STRING", [Value::Int(n)]) => text(n.to_string()),
            ("INT_TO_DEC_STRING", [Value::Int(n), Value::Int(places)]) => {
                let places = places.small().unwrap_or(0).clamp(0, 1000) as usize;
                let digits = if n.is_negative() { n.neg() } else { n.clone() }.to_string();
                let digits = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = digits.split_at(digits.len() - places);
                let sign = if n.is_negative() { "-" } else { "" };
                text(if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
            }
            ("TO_STRING" | "TO_STRING_UNICODE", [v]) => text(match v {
                Value::Str(s) => s.to_string(),
                v => v.show(self.machine, &args[0].ty),
            }),
            ("FORMAT_TO_STRING", [Value::Str(format), rest]) => {
                let item = match &args[1].ty {
                    Type::Pow(t) => match &**t {
                        Type::Prod(_, item) => (**item).clone(),
                        _ => Type::Any,
                    },
                    _ => Type::Any,
                };
                let items = rest.as_seq().ok_or_else(|| undefined("not a sequence"))?;
                let mut items = items.into_iter().map(|v| match v {
                    Value::Str(s) => s.to_string(),
                    v => v.show(self.machine, &item),
                });
                let mut out = String::new();
                let mut chars = format.chars().peekable();
                while let Some(c) = chars.next() {
                    match (c, chars.peek()) {
                        ('~', Some('w' | 'p')) => {
                            chars.next();
                            out.push_str(&items.next().unwrap_or_default());
                        }
                        ('~', Some('n')) => {
                            chars.next();
                            out.push('\n');
                        }
                        _ => out.push(c),
                    }
                }
                text(out)
            }
            ("STRING_TO_ENUM", [Value::Str(s)]) => match &e.ty {
                Type::Set(id) => self.machine.sets[id.0 as usize]
                    .elems
                    .iter()
                    .position(|n| n == s)
                    .map(|n| Value::Elem(*id, n as u32))
                    .ok_or_else(|| undefined("no such element")),
                _ => Err(undefined("no enumerated set")),
            },
            ("ABS", [Value::Int(n)]) => Ok(Value::Int(if n.is_negative() { n.neg() } else { n.clone() })),
            ("GCD", [Value::Int(a), Value::Int(b)]) => {
                let (mut a, mut b) = (a.to_big(), b.to_big());
                while b != IBig::from(0) {
                    (a, b) = (b.clone(), a % b);
                }
                let g = Int::from_big(a);
                Ok(Value::Int(if g.is_negative() { g.neg() } else { g }))
            }
            ("FACTORIAL", [Value::Int(n)]) => match n.small() {
                Some(n) if (0..=10_000).contains(&n) => {
                    Ok(Value::Int((1..=n).fold(Int::ONE, |p, i| p.mul(&Int::from(i)))))
                }
                _ => Err(undefined("negative or too large argument")),
            },
            ("SQRT" | "INT_SQRT", [Value::Int(n)]) => match n.small() {
                Some(n) if n >= 0 => {
                    let mut r = (n as f64).sqrt() as i64;
                    while r > 0 && r.checked_mul(r).is_none_or(|s| s > n) {
                        r -= 1;
                    }
                    while (r + 1).checked_mul(r + 1).is_some_and(|s| s <= n) {
                        r += 1;
                    }
                    Ok(Value::int(r))
                }
                _ => Err(undefined("negative or too large argument")),
            },
            ("MSB", [Value::Int(n)]) => match n.small() {
                Some(n) if n > 0 => Ok(Value::int(63 - i64::from(n.leading_zeros()))),
                _ => Err(undefined("argument not positive or too large")),
            },
            ("FDIV", [Value::Int(a), Value::Int(b)]) => {
                let q = a.div(b).ok_or_else(|| undefined("division by zero"))?;
                let exact = q.mul(b) == *a;
                let negative = a.is_negative() != b.is_negative();
                Ok(Value::Int(if !exact && negative { q.sub(&Int::ONE) } else { q }))
            }
            ("CDIV", [Value::Int(a), Value::Int(b)]) => {
                let q = a.div(b).ok_or_else(|| undefined("division by zero"))?;
                let exact = q.mul(b) == *a;
                let negative = a.is_negative() != b.is_negative();
                Ok(Value::Int(if !exact && !negative { q.add(&Int::ONE) } else { q }))
            }
            ("CHOOSE" | "MU", [set]) => {
                if name == "CHOOSE"
                    && self.card(env, set)? == Card::Infinite
                    && let Some(n) = self.spans(env, set)?.and_then(|s| s.choice())
                {
                    return Ok(Value::Int(n));
                }
                let list = self.need_list(env, set, span)?;
                if name == "MU" && list.len() != 1 {
                    return Err(undefined("the set is not a singleton"));
                }
                list.first().cloned().ok_or_else(|| undefined("the set is empty"))
            }
            ("MU_WITH_DEFAULT", [set, default]) => {
                let list = self.need_list(env, set, span)?;
                match &*list {
                    [] => Ok(default.clone()),
                    [x] => Ok(x.clone()),
                    _ => Err(undefined("the set has several elements")),
                }
            }
            ("SORT", [set]) => Ok(Value::seq(self.need_list(env, set, span)?.iter().cloned())),
            ("SQUASH", [f]) => {
                let rows = self.need_list(env, f, span)?;
                Ok(Value::seq(rows.iter().filter_map(Value::as_pair).map(|(_, y)| y.clone())))
            }
            ("CLOSURE1", [r]) => self.unary_set(env, UnOp::Closure1, r.clone(), e),
            ("SCCS", [r]) => {
                let pairs = self.need_list(env, r, span)?;
                Ok(components(&pairs))
            }
            ("REC_LET", [_, x]) => Ok(x.clone()),
            ("STRINGIFY", [v]) => text(v.show(self.machine, &args[0].ty)),
            ("BOOL_STR" | "BOOL_TO_STRING", [Value::Bool(b)]) => {
                text(if *b { "TRUE" } else { "FALSE" }.to_string())
            }
            ("random_element", [set]) | ("random_subset", [set]) => {
                let _ = set;
                Err(Error::unsupported(span, format!("{name} is random")))
            }
            _ => Err(Error::unsupported(
                span,
                format!("the external function {name} with {} arguments is not evaluated", values.len()),
            )),
        }
    }

    fn strings(&self, v: &Value, undefined: &dyn Fn(&str) -> Error) -> Res<Vec<String>> {
        let items = v.as_seq().ok_or_else(|| undefined("not a sequence"))?;
        Ok(items.into_iter().filter_map(|s| s.as_str()).map(|s| s.to_string()).collect())
    }

    pub(crate) fn external_pred(&self, env: &mut Env, f: &External, args: &[Expr], span: Span) -> Res<bool> {
        let name: &str = &f.name;
        match name {
            // Printing and hints to a solver are true.
            "printf"
            | "fprintf"
            | "printf1"
            | "dprintf"
            | "tprintf"
            | "printf_two"
            | "printf_nonvar"
            | "printf_opt_trace"
            | "observe"
            | "observe_indent"
            | "tobserve"
            | "observe_fun"
            | "ENUMERATE"
            | "DO_NOT_ENUMERATE"
            | "SEE"
            | "TRACE"
            | "LEQ_SYM_BREAK"
            | "CHECK_DET"
            | "IS_EVALUATED"
            | "SET_PREF"
            | "KODKOD"
            | "KODKOD_SOLVE"
            | "printf_no_backtrack" => return Ok(true),
            _ => {}
        }
        let values = self.eval_all(env, args)?;
        match (name, values.as_slice()) {
            ("ASSERT_TRUE", [Value::Bool(true), ..]) => Ok(true),
            ("ASSERT_TRUE", [Value::Bool(false), rest @ ..]) => {
                let why = rest.first().and_then(Value::as_str).map_or(String::new(), |s| format!(": {s}"));
                Err(Error::undefined(span, format!("ASSERT_TRUE fails{why}")))
            }
            ("STRING_IS_INT", [Value::Str(s)]) => Ok(parse_int(s).is_some()),
            ("STRING_IS_NUMBER" | "STRING_IS_DECIMAL", [Value::Str(s)]) => {
                Ok(crate::evaluate::eval::parse_real(s.trim()).is_some())
            }
            ("STRING_IS_ALPHANUMERIC", [Value::Str(s)]) => {
                Ok(!s.is_empty() && s.chars().all(char::is_alphanumeric))
            }
            ("STRING_CONTAINS_STRING", [Value::Str(s), Value::Str(part)]) => Ok(s.contains(&**part)),
            ("STRING_EQUAL_CASE_INSENSITIVE", [Value::Str(a), Value::Str(b)]) => {
                Ok(a.to_lowercase() == b.to_lowercase())
            }
            ("LESS" | "LEQ_SYM", [a, b]) => Ok(if name == "LESS" { a < b } else { a <= b }),
            _ => {
                // A predicate may be provided as a function to BOOL.
                let e = Expr {
                    kind: crate::lang::typed::ExprKind::External(f.clone(), args.to_vec()),
                    ty: Type::Bool,
                    span,
                };
                match self.external_value(env, name, &values, args, &e)? {
                    Value::Bool(b) => Ok(b),
                    _ => Err(Error::unsupported(span, format!("{name} is not a predicate"))),
                }
            }
        }
    }
}

fn parse_int(s: &str) -> Option<Int> {
    let s = s.trim();
    let (negative, digits) = match s.strip_prefix('-') {
        Some(d) => (true, d),
        None => (false, s),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n = Int::parse(digits, 10)?;
    Some(if negative { n.neg() } else { n })
}

/// The set of strongly connected components of a relation that hold a cycle or an edge.
fn components(pairs: &[Value]) -> Value {
    let mut next: BTreeMap<&Value, Vec<&Value>> = BTreeMap::new();
    for (x, y) in pairs.iter().filter_map(Value::as_pair) {
        next.entry(x).or_default().push(y);
        next.entry(y).or_default();
    }
    let reach = |from: &Value| {
        let mut seen = BTreeSet::new();
        let mut todo = next.get(from).cloned().unwrap_or_default();
        while let Some(y) = todo.pop() {
            if seen.insert(y) {
                todo.extend(next.get(y).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&Value, BTreeSet<&Value>> = next.keys().map(|x| (*x, reach(x))).collect();
    let mut out = Vec::new();
    for (x, from_x) in &reached {
        let component: Vec<Value> =
            from_x.iter().filter(|y| reached[*y].contains(*x)).map(|y| (*y).clone()).collect();
        if !component.is_empty() {
            out.push(Value::set(component));
        }
    }
    Value::set(out)
}
