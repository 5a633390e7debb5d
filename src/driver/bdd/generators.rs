//! Permutations that a user claims to be symmetries, one on each line of a file.
//!
//! In: lines `swap SET a b` and `perm SET (a b c)(d e)`; `#` begins a remark. Out: exchanges of fields, each with
//! whether it is known to be a symmetry. All faults are told, with their places.

use crate::base::Span;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::span::FileId;
use crate::driver::Rejected;
use crate::lang::typed::{Machine, SetId};
use crate::program::Program;
use crate::system::Exchange;

pub fn read(program: &Program, sources: &Sources, name: &str, text: &str) -> Result<Vec<Exchange>, Rejected> {
    let mut sources = sources.clone();
    let file = sources.add(name, None, text);
    let mut exchanges = Vec::new();
    let mut faults = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = words(line.split('#').next().unwrap_or(""), start, file);
        start += line.len();
        if words.is_empty() {
            continue;
        }
        match permutation(program.machine(), &words) {
            Err(fault) => faults.push(fault),
            Ok((set, to)) => match program.claimed_exchange(set, to) {
                Some(exchange) => exchanges.push(exchange),
                None => faults.push(Diagnostic::error(
                    words[0].1,
                    "this permutation moves nothing, or values that have no bits of their own in a state",
                )),
            },
        }
    }
    if faults.is_empty() { Ok(exchanges) } else { Err(Rejected { sources, diagnostics: faults }) }
}

type Word<'t> = (&'t str, Span);

/// Words and brackets, with their places.
fn words(line: &str, start: usize, file: FileId) -> Vec<Word<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let first = rest.chars().next().expect("something is left");
        let length = match first {
            '(' | ')' => 1,
            c if c.is_whitespace() || c == ',' => {
                at += c.len_utf8();
                continue;
            }
            _ => rest.find(|c: char| c.is_whitespace() || "(),".contains(c)).unwrap_or(rest.len()),
        };
        out.push((&rest[..length], Span::new(file, start + at, start + at + length)));
        at += length;
    }
    out
}

/// What a line says: `to[n]` takes the place of element `n`.
fn permutation(machine: &Machine, words: &[Word<'_>]) -> Result<(SetId, Vec<u32>), Diagnostic> {
    let wrong = |at: Span| Diagnostic::error(at, "expected `swap SET a b` or `perm SET (a b c)(d e)`");
    let [(kind, at), rest @ ..] = words else { return Err(wrong(Span::default())) };
    let [(set, set_at), rest @ ..] = rest else { return Err(wrong(*at)) };
    let Some(id) = machine.sets.iter().position(|s| *s.name == **set) else {
        let names: Vec<&str> = machine.sets.iter().map(|s| &*s.name).collect();
        return Err(Diagnostic::error(*set_at, format!("the model has no set {set}"))
            .help(format!("its sets are {}", names.join(", "))));
    };
    let decl = &machine.sets[id];
    let element = |(name, at): &Word<'_>| {
        let found = decl.elems.iter().position(|e| **e == **name);
        found.map(|n| n as u32).ok_or_else(|| {
            let all: Vec<&str> = decl.elems.iter().map(|e| &**e).collect();
            Diagnostic::error(*at, format!("{set} has no element {name}"))
                .help(format!("its elements are {}", all.join(", ")))
        })
    };
    let mut to: Vec<u32> = (0..decl.elems.len() as u32).collect();
    match (*kind, rest) {
        ("swap", [a, b]) => {
            let (a, b) = (element(a)?, element(b)?);
            to.swap(a as usize, b as usize);
        }
        ("perm", cycles) if !cycles.is_empty() => {
            let mut cycle: Option<Vec<u32>> = None;
            for word in cycles {
                match (word.0, &mut cycle) {
                    ("(", None) => cycle = Some(Vec::new()),
                    (")", Some(_)) => {
                        let all = cycle.take().unwrap_or_default();
                        for (i, n) in all.iter().enumerate() {
                            to[*n as usize] = all[(i + 1) % all.len()];
                        }
                    }
                    (name, Some(all)) if name != "(" => {
                        let n = element(word)?;
                        if all.contains(&n) || to[n as usize] != n {
                            return Err(Diagnostic::error(word.1, format!("{name} stands here twice")));
                        }
                        all.push(n);
                    }
                    _ => return Err(wrong(word.1)),
                }
            }
            if cycle.is_some() {
                return Err(wrong(*at));
            }
        }
        _ => return Err(wrong(*at)),
    }
    Ok((SetId(id as u32), to))
}
