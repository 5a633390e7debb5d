//! The canonical bytes of values: one spelling for each value of a type.
//!
//! In: values with their types, or bytes. Out: bytes, or values. `docs/certificates.md` is the specification.
//! Two values of one type are equal if and only if their bytes are. Bytes that are no value's own spelling are
//! refused, so a strictly ascending list of spellings names no value twice.
//! Never here: files, evaluation.

use bombus_oracle::tree::{Machine, Type};
use bombus_oracle::value::Value;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use std::sync::Arc;

/// Values may be nested so deeply.
const DEPTH: usize = 200;

/// Why bytes are not the spelling of a value.
pub type Wrong = String;

/// Appends the bytes of an integer: numbers from -64 to 63 in one byte, others as their size in bytes and their bytes,
/// the greatest first. Bytes compare as the numbers do.
pub fn put_int(n: &IBig, out: &mut Vec<u8>) {
    if let Ok(small) = i8::try_from(n)
        && (-64..64).contains(&small)
    {
        return out.push((i16::from(small) + 0x80) as u8);
    }
    let negative = *n < IBig::ZERO;
    let magnitude: UBig = if negative { (-n).try_into() } else { n.clone().try_into() }.unwrap_or_default();
    let digits = magnitude.to_be_bytes();
    let start = out.len();
    match u8::try_from(digits.len()) {
        Ok(k @ 1..=62) => out.push(0xbf + k),
        _ => {
            out.push(0xff);
            out.extend_from_slice(&(digits.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&digits);
    if negative {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

/// Appends the bytes of a count or a number of an element.
pub fn put_number(n: u64, out: &mut Vec<u8>) {
    if n < 64 { out.push(0x80 + n as u8) } else { put_int(&IBig::from(n), out) }
}

/// Appends the bytes of a value.
pub fn put(v: &Value, out: &mut Vec<u8>) {
    match v {
        Value::Bool(b) => out.push(u8::from(*b)),
        Value::Int(n) => put_int(n, out),
        Value::Real(r) => {
            put_int(r.numerator(), out);
            put_int(&IBig::from(r.denominator().clone()), out);
        }
        Value::Str(s) => {
            put_number(s.len() as u64, out);
            out.extend_from_slice(s.as_bytes());
        }
        Value::Elem(n, ..) => put_number(u64::from(*n), out),
        Value::Pair(p) => {
            put(&p.0, out);
            put(&p.1, out);
        }
        Value::Set(elements) => {
            put_number(elements.len() as u64, out);
            let (start, mut last, mut ascending) = (out.len(), out.len(), true);
            for e in elements.iter() {
                let own = out.len();
                put(e, out);
                ascending &= out[last..own] <= out[own..];
                last = own;
            }
            // The order of values is that of their bytes, unless they hold sets or texts of different lengths.
            if !ascending {
                out.truncate(start);
                let mut all: Vec<Vec<u8>> = elements.iter().map(bytes).collect();
                all.sort_unstable();
                all.iter().for_each(|e| out.extend_from_slice(e));
            }
        }
        Value::Record(fields) => fields.iter().for_each(|(_, v)| put(v, out)),
        Value::Free(n, _, arg) => {
            put_number(u64::from(*n), out);
            arg.iter().for_each(|v| put(v, out));
        }
    }
}

/// The bytes of a value.
pub fn bytes(v: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put(v, &mut out);
    out
}

/// Reads values of a machine from bytes.
pub struct Reader<'a> {
    machine: &'a Machine,
    bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(machine: &'a Machine, bytes: &'a [u8]) -> Reader<'a> {
        Reader { machine, bytes, at: 0 }
    }

    /// The value of a type that begins here; refused unless the bytes are its own spelling.
    pub fn value(&mut self, t: &Type) -> Result<Value, Wrong> {
        let start = self.at;
        let v = self.decode(t, 0)?;
        if bytes(&v) != self.bytes[start..self.at] {
            return Err("a value is not in its canonical form".into());
        }
        Ok(v)
    }

    /// Moves behind the value of a type that begins here, whether or not it is canonical.
    pub fn skip(&mut self, t: &Type) -> Result<(), Wrong> {
        self.pass(t, 0)
    }

    /// A count or a number of an element, in its canonical form.
    pub fn number(&mut self) -> Result<u64, Wrong> {
        let start = self.at;
        let n = self.int()?;
        let n = u64::try_from(&n).map_err(|_| "a number is negative or too large".to_string())?;
        let mut own = Vec::new();
        put_number(n, &mut own);
        if own != self.bytes[start..self.at] {
            return Err("a number is not in its canonical form".into());
        }
        Ok(n)
    }

    /// Whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Wrong> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or("the bytes of a value end too early")?;
        let part = &self.bytes[self.at..end];
        self.at = end;
        Ok(part)
    }

    /// The sign and the digits of an integer that is longer than one byte, or the small integer.
    fn digits(&mut self) -> Result<(bool, &'a [u8], i64), Wrong> {
        let first = self.take(1)?[0];
        if (0x40..0xc0).contains(&first) {
            return Ok((false, &[], i64::from(first) - 0x80));
        }
        let negative = first < 0x40;
        let size = if negative { !first } else { first };
        let count = if size < 0xff {
            u64::from(size - 0xbf)
        } else {
            let mut length = [0; 8];
            length.copy_from_slice(self.take(8)?);
            let length = u64::from_be_bytes(length);
            if negative { !length } else { length }
        };
        let count = usize::try_from(count).map_err(|_| "a number is too long")?;
        Ok((negative, self.take(count)?, 0))
    }

    fn int(&mut self) -> Result<IBig, Wrong> {
        let (negative, digits, small) = self.digits()?;
        if digits.is_empty() {
            return Ok(small.into());
        }
        let magnitude = if negative {
            UBig::from_be_bytes(&digits.iter().map(|b| !b).collect::<Vec<u8>>())
        } else {
            UBig::from_be_bytes(digits)
        };
        Ok(if negative { -IBig::from(magnitude) } else { magnitude.into() })
    }

    /// The number of elements of a set; an element has at least one byte.
    fn count(&mut self) -> Result<usize, Wrong> {
        let n = self.number()?;
        let left = (self.bytes.len() - self.at) as u64;
        if n > left { Err("a set has more elements than bytes".into()) } else { Ok(n as usize) }
    }

    fn decode(&mut self, t: &Type, depth: usize) -> Result<Value, Wrong> {
        if depth == DEPTH {
            return Err("a value is nested too deeply".into());
        }
        Ok(match t {
            Type::Bool => match self.take(1)?[0] {
                b @ (0 | 1) => Value::Bool(b == 1),
                _ => return Err("a truth value is neither 0 nor 1".into()),
            },
            Type::Integer => Value::Int(self.int()?),
            Type::Real => {
                let (numerator, denominator) = (self.int()?, self.int()?);
                let denominator: UBig =
                    denominator.try_into().map_err(|_| "a denominator is negative".to_string())?;
                if denominator == UBig::ZERO {
                    return Err("a denominator is zero".into());
                }
                Value::Real(RBig::from_parts(numerator, denominator))
            }
            Type::Str => {
                let n = self.number()?;
                let text = self.take(usize::try_from(n).map_err(|_| "a text is too long")?)?;
                Value::Str(std::str::from_utf8(text).map_err(|_| "a text is no UTF-8")?.into())
            }
            Type::Given(set) => {
                let n = self.number()?;
                let given = self.machine.sets.iter().find(|s| s.name == *set);
                let name = given.and_then(|s| s.elements.get(usize::try_from(n).ok()?));
                let name = name.ok_or_else(|| format!("{set} has no element number {n}"))?;
                Value::element(n as u32, set.clone(), name.clone())
            }
            Type::Free(free) => {
                let n = self.number()?;
                let all = self.machine.constructors(free).nth(usize::try_from(n).unwrap_or(usize::MAX));
                let (name, arg) = all.ok_or_else(|| format!("{free} has no constructor number {n}"))?;
                let arg = match arg {
                    Some((t, _)) => Some(Arc::new(self.decode(t, depth + 1)?)),
                    None => None,
                };
                Value::Free(n as u32, Arc::new((free.clone(), name.clone())), arg)
            }
            Type::Prod(a, b) => Value::pair(self.decode(a, depth + 1)?, self.decode(b, depth + 1)?),
            Type::Pow(t) => {
                let n = self.count()?;
                Value::set((0..n).map(|_| self.decode(t, depth + 1)).collect::<Result<_, _>>()?)
            }
            Type::Record(fields) => {
                let field =
                    |(n, t): &(_, Type)| Ok((std::clone::Clone::clone(n), self.decode(t, depth + 1)?));
                Value::record(fields.iter().map(field).collect::<Result<_, Wrong>>()?)
            }
        })
    }

    fn pass(&mut self, t: &Type, depth: usize) -> Result<(), Wrong> {
        if depth == DEPTH {
            return Err("a value is nested too deeply".into());
        }
        match t {
            Type::Bool => self.take(1).map(|_| ()),
            Type::Integer | Type::Given(_) => self.digits().map(|_| ()),
            Type::Real => self.digits().and_then(|_| self.digits()).map(|_| ()),
            Type::Prod(a, b) => {
                self.pass(a, depth + 1)?;
                self.pass(b, depth + 1)
            }
            Type::Pow(t) => {
                let n = self.count()?;
                (0..n).try_for_each(|_| self.pass(t, depth + 1))
            }
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.pass(t, depth + 1)),
            Type::Str | Type::Free(_) => self.decode(t, depth).map(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(n: i64) -> Vec<u8> {
        bytes(&Value::int(n))
    }

    #[test]
    fn integers_are_spelled_as_the_specification_says() {
        // The table of docs/certificates.md.
        let table: [(i64, &[u8]); 9] = [
            (0, &[0x80]),
            (63, &[0xbf]),
            (64, &[0xc0, 64]),
            (255, &[0xc0, 255]),
            (256, &[0xc1, 1, 0]),
            (-64, &[0x40]),
            (-65, &[0x3f, 0xbe]),
            (-256, &[0x3e, 0xfe, 0xff]),
            (i64::MIN, &[0x38, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
        ];
        for (n, own) in table {
            assert_eq!(spelled(n), own, "{n}");
        }
    }

    #[test]
    fn bytes_of_integers_compare_as_the_integers_do() {
        let mut all: Vec<IBig> = (-70_000..70_000).step_by(7).map(IBig::from).collect();
        for bits in [8, 16, 63, 64, 495, 496, 497, 600] {
            let power = IBig::ONE << bits;
            all.extend([power.clone(), &power - 1, -power.clone(), 1 - power]);
        }
        all.sort();
        all.dedup();
        let machine = Machine::default();
        let mut last: Vec<u8> = Vec::new();
        for n in all {
            let own = bytes(&Value::Int(n.clone()));
            assert!(last < own, "{n}");
            let mut reader = Reader::new(&machine, &own);
            assert_eq!(reader.value(&Type::Integer), Ok(Value::Int(n)));
            assert!(reader.is_at_end());
            last = own;
        }
    }

    #[test]
    fn a_second_spelling_of_a_value_is_refused() {
        let machine = Machine::default();
        let read = |bytes: &[u8], t: &Type| Reader::new(&machine, bytes).value(t);
        let ints = Type::Pow(Box::new(Type::Integer));
        assert_eq!(read(&[0x82, 0x81, 0x82], &ints), Ok(Value::set(vec![Value::int(1), Value::int(2)])));
        // Another order, an element twice, a number with a leading zero, a long form of a short number.
        for wrong in [&[0x82u8, 0x82, 0x81][..], &[0x82, 0x81, 0x81], &[0x81, 0xc1, 0, 100], &[0x81, 0xc0, 5]]
        {
            assert!(read(wrong, &ints).is_err(), "{wrong:?}");
        }
        assert!(read(&[0x82, 0x84], &Type::Real).is_err(), "a fraction that can be reduced");
        assert!(read(&[2], &Type::Bool).is_err());
        assert!(read(&[0xff, 255, 255, 255, 255, 255, 255, 255, 255], &Type::Integer).is_err());
    }
}
