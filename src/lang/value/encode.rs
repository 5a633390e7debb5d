//! Stable bytes of a value: equal values have equal bytes, on every machine and in every run.
//!
//! In: values. Out: bytes, self-delimiting, for digests and for comparing symbolic sets.
//! Never here: decoding.

use crate::typed::{SetId, Type};
use crate::value::{Base, Symbolic, Value};
use bombus_base::Int;

/// Begins what stands for a long value: a hash of its bytes. No value's own bytes begin with it.
pub const HASHED: u8 = 11;

/// Writes the parts of values that are not at hand as such. What follows a `pair`, a `set` or a `rec` are its
/// parts, in their order.
pub struct Form<'a>(pub &'a mut Vec<u8>);

impl Form<'_> {
    #[inline]
    pub fn bool(self, b: bool) {
        self.0.push(u8::from(b));
    }

    #[inline]
    pub fn int(self, n: i64) {
        self.0.push(2);
        small(n, self.0);
    }

    #[inline]
    pub fn elem(self, set: SetId, n: u32) {
        self.0.push(5);
        number(u64::from(set.0), self.0);
        number(u64::from(n), self.0);
    }

    #[inline]
    pub fn pair(self) {
        self.0.push(6);
    }

    #[inline]
    pub fn set(self, elements: usize) {
        self.0.push(7);
        number(elements as u64, self.0);
    }

    #[inline]
    pub fn rec(self, fields: usize) {
        self.0.push(8);
        number(fields as u64, self.0);
    }
}

impl Value {
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Value::Bool(b) => Form(out).bool(*b),
            Value::Int(n) => {
                out.push(2);
                int(n, out);
            }
            Value::Str(s) => {
                out.push(3);
                text(s, out);
            }
            Value::Real(r) => {
                out.push(4);
                text(&r.to_string(), out);
            }
            Value::Elem(set, n) => Form(out).elem(*set, *n),
            Value::Pair(p) => {
                Form(out).pair();
                p.0.encode(out);
                p.1.encode(out);
            }
            Value::Set(elems) => {
                Form(out).set(elems.len());
                elems.iter().for_each(|v| v.encode(out));
            }
            Value::Rec(fields) => {
                Form(out).rec(fields.len());
                fields.iter().for_each(|v| v.encode(out));
            }
            Value::Free(id, constructor, arg) => {
                out.push(9);
                number(u64::from(id.0), out);
                number(u64::from(*constructor), out);
                match arg {
                    None => out.push(0),
                    Some(v) => {
                        out.push(1);
                        v.encode(out);
                    }
                }
            }
            Value::Symbolic(s) => {
                out.push(10);
                s.encode(out);
            }
        }
    }
}

impl Symbolic {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Symbolic::Base(b) => {
                out.push(0);
                base(b, out);
            }
            Symbolic::Interval(a, b) => {
                out.push(1);
                int(a, out);
                int(b, out);
            }
            Symbolic::Struct(sets) => {
                out.push(2);
                list(sets, out);
            }
            Symbolic::Unary(op, a) => {
                out.push(3);
                out.push(*op as u8);
                a.encode(out);
            }
            Symbolic::Binary(op, a, b) => {
                out.push(4);
                out.push(*op as u8);
                a.encode(out);
                b.encode(out);
            }
            Symbolic::Closure(c) => {
                out.push(5);
                out.push(c.code.kind as u8);
                number(c.code.vars.first().map_or(u64::MAX, |v| u64::from(v.0)), out);
                number(c.captured.len() as u64, out);
                for (v, value) in c.captured.iter() {
                    number(u64::from(v.0), out);
                    value.encode(out);
                }
            }
        }
    }
}

fn base(b: &Base, out: &mut Vec<u8>) {
    match b {
        Base::Integer => out.push(0),
        Base::Natural => out.push(1),
        Base::Natural1 => out.push(2),
        Base::String => out.push(3),
        Base::Real => out.push(4),
        Base::Free(id) => {
            out.push(5);
            number(u64::from(id.0), out);
        }
        Base::Function(f, t) => {
            out.push(6);
            out.push(*f as u8);
            ty(t, out);
        }
        Base::Constructor(id, c) => {
            out.push(7);
            number(u64::from(id.0), out);
            number(u64::from(*c), out);
        }
        Base::Destructor(id, c) => {
            out.push(8);
            number(u64::from(id.0), out);
            number(u64::from(*c), out);
        }
    }
}

fn ty(t: &Type, out: &mut Vec<u8>) {
    match t {
        Type::Integer => out.push(0),
        Type::Bool => out.push(1),
        Type::String => out.push(2),
        Type::Real => out.push(3),
        Type::Set(id) => {
            out.push(4);
            number(u64::from(id.0), out);
        }
        Type::Free(id) => {
            out.push(5);
            number(u64::from(id.0), out);
        }
        Type::Pow(t) => {
            out.push(6);
            ty(t, out);
        }
        Type::Prod(a, b) => {
            out.push(7);
            ty(a, out);
            ty(b, out);
        }
        Type::Struct(fields) => {
            out.push(8);
            number(fields.len() as u64, out);
            for (name, t) in fields.iter() {
                text(name, out);
                ty(t, out);
            }
        }
        Type::Any => out.push(9),
    }
}

fn list(values: &[Value], out: &mut Vec<u8>) {
    number(values.len() as u64, out);
    for v in values {
        v.encode(out);
    }
}

fn text(s: &str, out: &mut Vec<u8>) {
    number(s.len() as u64, out);
    out.extend_from_slice(s.as_bytes());
}

fn int(n: &Int, out: &mut Vec<u8>) {
    match n {
        Int::Small(n) => small(*n, out),
        Int::Big(b) => {
            out.push(1);
            text(&b.to_string(), out);
        }
    }
}

#[inline]
fn small(n: i64, out: &mut Vec<u8>) {
    out.push(0);
    // Zigzag keeps small numbers of either sign short.
    number(((n << 1) ^ (n >> 63)) as u64, out);
}

/// Seven bits a byte, low ones first.
#[inline]
fn number(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}
