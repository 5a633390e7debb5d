//! What a saved search must know of a compiled model: the values behind the numbers in its states.
//!
//! In: the pool and the texts of findings. Out: bytes, and back. Layouts and code are not saved: they
//! are made again from the same model, and whoever resumes makes sure that it is the same.
//!
//! Numbers of values depend on who met a value first, so the pool is saved in the order of its numbers
//! and restored before anything else is interned: the words of all saved states keep their meaning.

use super::Program;
use super::pool::ValueId;
use bombus_lang::value::Value;

const LISTED: u8 = 0;
const SYMBOLIC: u8 = 1;

impl Program<'_> {
    /// What the words of a state depend on beside the model: layouts, and the valuations by number.
    pub fn shape(&self) -> Vec<u8> {
        let mut out = self.layout_text().into_bytes();
        for valuation in &self.valuations {
            valuation.iter().for_each(|v| v.encode(&mut out));
        }
        out
    }

    pub(super) fn save_values(&self, waiting: Option<&[&[u64]]>, out: &mut Vec<u8>) -> Result<(), String> {
        let entries = self.pool.entries();
        let is_constant = |v: &Value| self.valuations.iter().any(|c| c.contains(v));
        let symbolic = |v: &Value| v.mentions_symbolic();
        // Sets that are not listed come back when they are computed again. A state that holds one
        // may be looked at before that happens.
        let lost = match waiting {
            _ if !entries.iter().any(|e| e.as_ref().map_or(true, |v| symbolic(v))) => false,
            Some(states) => {
                states.iter().any(|state| self.layout.unpack(state, &self.pool).iter().any(symbolic))
            }
            None => entries.iter().flatten().any(|v| symbolic(v) && !is_constant(v)),
        };
        if lost {
            return Err("a variable holds a set that is not listed, and that cannot be saved".into());
        }
        put(out, entries.len() as u64);
        for entry in entries {
            let mut bytes = Vec::new();
            let listed = match entry {
                Ok(v) => {
                    v.encode(&mut bytes);
                    !symbolic(v)
                }
                Err(promised) => {
                    bytes = promised;
                    false
                }
            };
            out.push(if listed { LISTED } else { SYMBOLIC });
            put(out, bytes.len() as u64);
            out.extend_from_slice(&bytes);
        }
        let texts = self.messages.all();
        put(out, texts.len() as u64);
        for (number, words) in texts {
            put(out, number.into());
            put(out, words.len() as u64);
            out.extend_from_slice(words.as_bytes());
        }
        Ok(())
    }

    pub(super) fn restore_values(&self, mut bytes: &[u8]) -> Result<(), String> {
        let from = &mut bytes;
        let damaged = || "its values cannot be read".to_string();
        // What a model needs before its first state is interned in the same order in every run.
        let before = self.pool.len() as u64;
        for n in 0..take(from).ok_or_else(damaged)? {
            let kind = piece(from, 1).ok_or_else(damaged)?[0];
            let length = take(from).ok_or_else(damaged)?;
            let mut bytes = piece(from, length).ok_or_else(damaged)?;
            if kind == SYMBOLIC && n < before {
                let mut here = Vec::new();
                self.pool.get(ValueId(n as u32)).encode(&mut here);
                if here != bytes {
                    return Err(damaged());
                }
                continue;
            }
            if kind == SYMBOLIC {
                self.pool.promise(bytes.to_vec());
                continue;
            }
            let value = Value::decode(&mut bytes).ok_or_else(damaged)?;
            if !bytes.is_empty() || u64::from(self.pool.intern(&value).0) != n {
                return Err(damaged());
            }
        }
        for _ in 0..take(from).ok_or_else(damaged)? {
            let number = u32::try_from(take(from).ok_or_else(damaged)?).map_err(|_| damaged())?;
            let length = take(from).ok_or_else(damaged)?;
            let words =
                std::str::from_utf8(piece(from, length).ok_or_else(damaged)?).map_err(|_| damaged())?;
            self.messages.learn(number, words);
        }
        if from.is_empty() { Ok(()) } else { Err(damaged()) }
    }
}

fn put(out: &mut Vec<u8>, n: u64) {
    out.extend_from_slice(&n.to_le_bytes());
}

fn take(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(piece(from, 8)?.try_into().ok()?))
}

fn piece<'a>(from: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (piece, rest) = from.split_at_checked(usize::try_from(length).ok()?)?;
    *from = rest;
    Some(piece)
}
