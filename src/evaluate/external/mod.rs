//! Functions and predicates the tool provides: strings, numbers, files, choice, sorting, graphs, printing.
//!
//! In: the name of an external function and its arguments. Out: its value. Printing has no effect.
//! Never here: clocks, randomness, files that are written; models that need them are reported as not evaluated.

mod documents;
mod files;
mod numbers;
mod reals;
mod regex;
mod strings;
mod times;
mod typed_text;

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use crate::size::Card;
use bombus_base::{Int, Span};
use bombus_lang::typed::{Expr, External, Type, UnOp};
use bombus_lang::value::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What a function gives for its arguments.
enum Answer {
    Value(Value),
    /// The arguments are outside of the function's domain: a finding.
    Undefined(String),
    /// The function has a value there that is not computed: the verdict is incomplete.
    Unsupported(String),
}

impl Answer {
    fn undefined(why: &str) -> Answer {
        Answer::Undefined(why.to_owned())
    }
}

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
        let plain = strings::value(name, values)
            .or_else(|| numbers::value(name, values))
            .or_else(|| reals::value(name, values))
            .or_else(|| regex::value(name, values))
            .or_else(|| times::value(name, values))
            .or_else(|| files::value(self.machine, name, values, &e.ty))
            .or_else(|| documents::value(self.machine, name, values, &e.ty))
            .or_else(|| self.spelled(name, values, args, &e.ty))
            .or_else(|| self.told(name, values));
        match plain {
            Some(Answer::Value(value)) => Ok(value),
            Some(Answer::Undefined(why)) => Err(Error::undefined(span, format!("{name}: {why}"))),
            Some(Answer::Unsupported(why)) => Err(Error::unsupported(span, format!("{name}: {why}"))),
            None => self.of_sets(env, name, values, e),
        }
    }

    /// Values as texts, and texts that name values.
    fn spelled(&self, name: &str, values: &[Value], args: &[Expr], ty: &Type) -> Option<Answer> {
        let shown = |value: &Value, ty: &Type| match value {
            Value::Str(s) => s.to_string(),
            value => value.show(self.machine, ty),
        };
        let text = match (name, values) {
            ("TO_STRING" | "TO_STRING_UNICODE", [value]) => shown(value, &args[0].ty),
            ("STRINGIFY", [value]) => value.show(self.machine, &args[0].ty),
            ("FORMAT_TO_STRING", [Value::Str(format), rest]) => {
                let item = match &args[1].ty {
                    Type::Pow(row) => match &**row {
                        Type::Prod(_, item) => (**item).clone(),
                        _ => Type::Any,
                    },
                    _ => Type::Any,
                };
                let Some(items) = rest.as_seq() else { return Some(Answer::undefined("not a sequence")) };
                strings::formatted(format, items.into_iter().map(|value| shown(value, &item)))
            }
            ("STRING_TO_ENUM", [Value::Str(s)]) => {
                return Some(match typed_text::atom(self.machine, ty, s) {
                    Ok(element) if matches!(ty, Type::Set(_)) => Answer::Value(element),
                    Ok(_) => Answer::undefined("no enumerated set"),
                    Err(why) => Answer::Undefined(why),
                });
            }
            // The hash is that of the value's spelling: equal values have equal hashes in every run.
            ("HASH" | "SHA_HASH" | "SHA_HASH_HEX", [value]) if value.mentions_symbolic() => {
                return Some(Answer::Unsupported("the value holds a set that is not listed".into()));
            }
            ("HASH" | "SHA_HASH" | "SHA_HASH_HEX", [value]) => {
                let bytes = Sha256::digest(value.show(self.machine, &args[0].ty));
                return Some(Answer::Value(match name {
                    "HASH" => Value::int(bytes[..7].iter().fold(0, |sum, b| sum << 8 | i64::from(*b))),
                    "SHA_HASH" => Value::seq(bytes.iter().map(|b| Value::int(i64::from(*b)))),
                    _ => Value::str(&bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()),
                }));
            }
            _ => return None,
        };
        Some(Answer::Value(Value::str(&text)))
    }

    /// Functions of LibraryMeta: what the model says of itself.
    fn told(&self, name: &str, values: &[Value]) -> Option<Answer> {
        let machine = self.machine;
        let answer = match (name, values) {
            ("PROJECT_STATISTICS", [Value::Str(what)]) => {
                let count = match &**what {
                    "constants" => machine.constants.len(),
                    "variables" => machine.variables.len(),
                    "properties" => machine.properties.len(),
                    "invariants" => machine.invariant.len(),
                    "operations" => machine.events.len(),
                    _ => return Some(Answer::Unsupported(format!("`{what}` is not counted"))),
                };
                Value::Int(count.into())
            }
            ("GET_PREF", [Value::Str(what)]) => match &**what {
                "MAXINT" => Value::str(&machine.maxint.to_string()),
                "MININT" => Value::str(&machine.minint.to_string()),
                _ => return Some(Answer::Unsupported(format!("the preference `{what}` is not known"))),
            },
            ("PROJECT_INFO", [Value::Str(what)]) if &**what == "main-file" || &**what == "files" => {
                return Some(Answer::Unsupported("places of files are not told".into()));
            }
            // A model is given no arguments of its own.
            ("ARGC", []) => Value::int(0),
            _ => return None,
        };
        Some(Answer::Value(answer))
    }

    /// Functions of CHOOSE, SORT, SCCS and LibraryProB: elements and parts of sets.
    fn of_sets(&self, env: &mut Env, name: &str, values: &[Value], e: &Expr) -> Res<Value> {
        let span = e.span;
        let undefined = |why: &str| Error::undefined(span, format!("{name}: {why}"));
        match (name, values) {
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
            ("UNSAT_CORE" | "MAX_SAT", [holds, set]) => {
                self.part_of_conditions(env, name, (holds, set), span)
            }
            ("random_element" | "random_subset", [_]) | ("RANDOM", [_, _]) => {
                Err(Error::unsupported(span, format!("{name} is random")))
            }
            _ => Err(Error::unsupported(
                span,
                format!("the external function {name} with {} arguments is not evaluated", values.len()),
            )),
        }
    }

    /// A smallest part of a set on which a function is false, or a largest one on which the function is true: no
    /// element can be left out or added. Elements are tried in ascending order.
    fn part_of_conditions(
        &self,
        env: &mut Env,
        name: &str,
        (holds, set): (&Value, &Value),
        span: Span,
    ) -> Res<Value> {
        let all = self.need_list(env, set, span)?;
        let core = name == "UNSAT_CORE";
        let mut part: Vec<Value> = if core { all.to_vec() } else { Vec::new() };
        let mut is_true = |part: &[Value]| -> Res<bool> {
            let value = self.apply(env, holds, &Value::sorted_set(part.to_vec()), span)?;
            Ok(value.as_bool() == Some(true))
        };
        if is_true(&part)? == core {
            return Err(Error::undefined(span, format!("{name}: there is no such part of the set")));
        }
        for element in all.iter() {
            let mut other = part.clone();
            if core {
                other.retain(|kept| kept != element);
            } else {
                other.push(element.clone());
            }
            if is_true(&other)? != core {
                part = other;
            }
        }
        Ok(Value::sorted_set(part))
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
            ("LESS" | "LEQ_SYM", [a, b]) => Ok(if name == "LESS" { a < b } else { a <= b }),
            _ => {
                // A predicate may be provided as a function to BOOL.
                let e = Expr {
                    kind: bombus_lang::typed::ExprKind::External(f.clone(), args.to_vec()),
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
