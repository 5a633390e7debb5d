//! Values as text, in the syntax of B and the manner of ProB.
//!
//! In: a value, the machine for the names of elements, the type for the names of fields. Out: text
//! that parses again for every explicit value.

use crate::typed::{BinOp, Machine, Type, UnOp};
use crate::value::{Base, Symbolic, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;
use std::fmt::Write;

impl Value {
    /// The value as a user reads it; `ty` names the fields of records.
    pub fn show(&self, machine: &Machine, ty: &Type) -> String {
        self.show_within(machine, ty, usize::MAX).0
    }

    /// The same, but lists end after so many bytes with `…`; whether anything is missing.
    pub fn show_within(&self, machine: &Machine, ty: &Type, limit: usize) -> (String, bool) {
        let mut out = Page { text: String::new(), limit, cut: false };
        show(self, machine, ty, &mut out);
        (out.text, out.cut)
    }
}

/// Text with a length after which lists end.
struct Page {
    text: String,
    limit: usize,
    cut: bool,
}

impl Page {
    fn push(&mut self, c: char) {
        self.text.push(c);
    }

    fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Whether the text is long enough; a list then ends here.
    fn full(&mut self) -> bool {
        let full = self.text.len() >= self.limit;
        if full {
            self.cut = true;
            self.text.push('…');
        }
        full
    }
}

impl Write for Page {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text.write_str(text)
    }
}

fn show(v: &Value, m: &Machine, ty: &Type, out: &mut Page) {
    match v {
        Value::Bool(true) => out.push_str("TRUE"),
        Value::Bool(false) => out.push_str("FALSE"),
        Value::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Value::Str(s) => quote(s, out),
        Value::Real(r) => out.push_str(&decimal(r)),
        Value::Elem(set, n) => match m.sets.get(set.0 as usize).and_then(|s| s.elems.get(*n as usize)) {
            Some(name) => out.push_str(name),
            None => {
                let _ = write!(out, "S{}_{n}", set.0);
            }
        },
        Value::Pair(p) => {
            let (a, b) = parts(ty);
            out.push('(');
            show(&p.0, m, a, out);
            out.push_str("|->");
            show(&p.1, m, b, out);
            out.push(')');
        }
        Value::Set(elems) => {
            let elem = element(ty);
            match v.as_seq() {
                Some(seq) if !seq.is_empty() => {
                    let (_, item) = parts(elem);
                    list('[', ']', seq.into_iter(), m, item, out);
                }
                _ => list('{', '}', elems.iter(), m, elem, out),
            }
        }
        Value::Rec(fields) => {
            out.push_str("rec(");
            for (i, f) in fields.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                match ty {
                    Type::Struct(names) if i < names.len() => {
                        out.push_str(&names[i].0);
                        out.push(':');
                        show(f, m, &names[i].1, out);
                    }
                    _ => {
                        let _ = write!(out, "field{i}:");
                        show(f, m, &Type::Any, out);
                    }
                }
            }
            out.push(')');
        }
        Value::Free(id, c, arg) => {
            let constructor = m.freetypes.get(id.0 as usize).and_then(|f| f.constructors.get(*c as usize));
            match constructor {
                Some((name, _)) => out.push_str(name),
                None => {
                    let _ = write!(out, "constructor{c}");
                }
            }
            if let Some(arg) = arg {
                let ty = constructor.and_then(|(_, t)| t.clone()).unwrap_or(Type::Any);
                out.push('(');
                show(arg, m, &ty, out);
                out.push(')');
            }
        }
        Value::Symbolic(s) => symbolic(s, m, ty, out),
    }
}

fn list<'a>(
    open: char,
    close: char,
    items: impl Iterator<Item = &'a Value>,
    m: &Machine,
    ty: &Type,
    out: &mut Page,
) {
    out.push(open);
    for (i, v) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if out.full() {
            break;
        }
        show(v, m, ty, out);
    }
    out.push(close);
}

fn element(ty: &Type) -> &Type {
    match ty {
        Type::Pow(t) => t,
        _ => &Type::Any,
    }
}

fn parts(ty: &Type) -> (&Type, &Type) {
    match ty {
        Type::Prod(a, b) => (a, b),
        _ => (&Type::Any, &Type::Any),
    }
}

/// Symbolic sets in the notation that made them; closures are named by their bound variables.
fn symbolic(s: &Symbolic, m: &Machine, ty: &Type, out: &mut Page) {
    match s {
        Symbolic::Base(b) => out.push_str(&match b {
            Base::Integer => "INTEGER".to_string(),
            Base::Natural => "NATURAL".to_string(),
            Base::Natural1 => "NATURAL1".to_string(),
            Base::String => "STRING".to_string(),
            Base::Real => "REAL".to_string(),
            Base::Free(id) => m.freetypes.get(id.0 as usize).map_or(String::new(), |f| f.name.to_string()),
            Base::Function(f, _) => format!("{f:?}").to_lowercase(),
            Base::Constructor(id, c) | Base::Destructor(id, c) => m
                .freetypes
                .get(id.0 as usize)
                .and_then(|f| f.constructors.get(*c as usize))
                .map_or(String::new(), |(n, _)| n.to_string()),
        }),
        Symbolic::Interval(a, b) => {
            let _ = write!(out, "{a}..{b}");
        }
        Symbolic::Struct(sets) => {
            out.push_str("struct(");
            for (i, set) in sets.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                let (name, ty) = match element(ty) {
                    Type::Struct(names) if i < names.len() => (names[i].0.to_string(), names[i].1.clone()),
                    _ => (format!("field{i}"), Type::Any),
                };
                out.push_str(&name);
                out.push(':');
                show(set, m, &Type::pow(ty), out);
            }
            out.push(')');
        }
        Symbolic::Unary(op, a) => {
            let inner = match (op, ty) {
                (UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, Type::Pow(t)) => (**t).clone(),
                (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm, Type::Pow(t)) => {
                    match &**t {
                        Type::Pow(p) => Type::pow(parts(p).1.clone()),
                        _ => Type::Any,
                    }
                }
                _ => Type::Any,
            };
            let word = match op {
                UnOp::Inverse => "inverse".to_string(),
                UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1 => format!("{op:?}").to_uppercase(),
                _ => format!("{op:?}").to_lowercase(),
            };
            out.push_str(&word);
            out.push('(');
            show(a, m, &inner, out);
            out.push(')');
        }
        Symbolic::Binary(op, a, b) => {
            let (left, right) = match (op, ty) {
                (BinOp::Cartesian, Type::Pow(t)) => {
                    let (a, b) = parts(t);
                    (Type::pow(a.clone()), Type::pow(b.clone()))
                }
                (BinOp::Union | BinOp::Inter | BinOp::SetMinus | BinOp::Override, t) => {
                    (t.clone(), t.clone())
                }
                (_, Type::Pow(t)) => match &**t {
                    Type::Pow(p) => {
                        let (a, b) = parts(p);
                        (Type::pow(a.clone()), Type::pow(b.clone()))
                    }
                    _ => (Type::Any, Type::Any),
                },
                _ => (Type::Any, Type::Any),
            };
            out.push('(');
            show(a, m, &left, out);
            out.push_str(op.written().map_or(" ∘ ", |op| op.spelling()));
            show(b, m, &right, out);
            out.push(')');
        }
        Symbolic::Closure(c) => {
            let names: Vec<&str> =
                c.code.vars.iter().filter_map(|v| m.vars.get(v.0 as usize)).map(|d| &*d.name).collect();
            let _ = write!(out, "/*@symbolic*/ {{{}|…}}", names.join(","));
        }
    }
}

fn quote(s: &str, out: &mut Page) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A real as a decimal when it has a finite expansion, else as a quotient.
pub(crate) fn decimal(r: &RBig) -> String {
    let numerator = r.numerator().clone();
    let denominator = IBig::from(r.denominator().clone());
    // A finite expansion needs a denominator of twos and fives only.
    let mut rest = denominator.clone();
    let mut digits = 0usize;
    let (two, five, zero) = (IBig::from(2), IBig::from(5), IBig::from(0));
    let (mut twos, mut fives) = (0usize, 0usize);
    while &rest % &two == zero {
        rest /= &two;
        twos += 1;
    }
    while &rest % &five == zero {
        rest /= &five;
        fives += 1;
    }
    if rest != IBig::from(1) {
        return format!("({numerator}.0/{denominator}.0)");
    }
    digits = digits.max(twos).max(fives).max(1);
    let scaled = numerator * IBig::from(10).pow(digits) / denominator;
    let text = scaled.to_string();
    let (sign, text) = match text.strip_prefix('-') {
        Some(t) => ("-", t.to_string()),
        None => ("", text),
    };
    let text = format!("{text:0>width$}", width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    format!("{sign}{whole}.{fraction}")
}
