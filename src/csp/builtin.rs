//! The names that every script knows, and those that `transparent` and `external` bring in.
//!
//! In: nothing. Out: a table of words. Never here: what they do (`library`).

/// A name with a meaning of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Builtin(u8);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A function of so many arguments.
    Function(u8),
    /// No function.
    Value,
    /// A function that `transparent` or `external` must name.
    External(u8),
    /// A compression: `f(P)` behaves as `P`.
    Compression,
    /// Known, but refused wherever it is used.
    Refused(bool),
}

use Class::{Compression, External, Function, Refused, Value};

const TABLE: [(&str, Class); 71] = [
    ("union", Function(2)),
    ("inter", Function(2)),
    ("diff", Function(2)),
    ("Union", Function(1)),
    ("Inter", Function(1)),
    ("member", Function(2)),
    ("card", Function(1)),
    ("empty", Function(1)),
    ("set", Function(1)),
    ("Set", Function(1)),
    ("Seq", Function(1)),
    ("seq", Function(1)),
    ("null", Function(1)),
    ("head", Function(1)),
    ("tail", Function(1)),
    ("concat", Function(1)),
    ("elem", Function(2)),
    ("length", Function(1)),
    ("extensions", Function(1)),
    ("productions", Function(1)),
    ("error", Function(1)),
    ("show", Function(1)),
    ("CHAOS", Function(1)),
    ("RUN", Function(1)),
    ("Map", Function(2)),
    ("mapFromList", Function(1)),
    ("mapToList", Function(1)),
    ("mapLookup", Function(2)),
    ("mapMember", Function(2)),
    ("mapUpdate", Function(3)),
    ("mapUpdateMultiple", Function(2)),
    ("mapDelete", Function(2)),
    ("emptyMap", Value),
    ("Events", Value),
    ("Int", Value),
    ("Bool", Value),
    ("Char", Value),
    ("Proc", Value),
    ("STOP", Value),
    ("SKIP", Value),
    ("DIV", Value),
    ("BUFFER", Function(2)),
    // The name stands in the prelude of timed sections alone.
    ("timed urgent", Function(2)),
    ("transpose", External(1)),
    ("mtransclose", External(2)),
    ("relational_image", External(1)),
    ("relational_inverse_image", External(1)),
    ("loop", External(1)),
    ("lazy_compile", External(2)),
    ("normal", Compression),
    ("normalise", Compression),
    ("sbisim", Compression),
    ("dbisim", Compression),
    ("wbisim", Compression),
    ("diamond", Compression),
    ("explicate", Compression),
    ("model_compress", Compression),
    ("tau_loop_factor", Compression),
    ("lazynorm", Compression),
    ("lazyenumerate", Compression),
    ("WEAK_BUFFER", Refused(false)),
    ("WAIT", Refused(false)),
    ("timed_priority", Refused(false)),
    ("chase", Refused(true)),
    ("chase_nocache", Refused(true)),
    ("prioritise", Refused(true)),
    ("prioritise_nocache", Refused(true)),
    ("prioritisepo", Refused(true)),
    ("deter", Refused(true)),
    ("failure_watchdog", Refused(true)),
    ("trace_watchdog", Refused(true)),
];

const ALL: [Builtin; TABLE.len()] = {
    let mut all = [Builtin(0); TABLE.len()];
    let mut i = 0;
    while i < TABLE.len() {
        all[i] = Builtin(i as u8);
        i += 1;
    }
    all
};

impl Builtin {
    pub const ALL: &'static [Builtin] = &ALL;

    pub fn word(self) -> &'static str {
        TABLE[self.0 as usize].0
    }

    /// Whether a script must name it in `transparent` or `external` first.
    pub fn is_external(self) -> bool {
        matches!(TABLE[self.0 as usize].1, External(_) | Compression | Refused(true))
    }

    pub fn is_compression(self) -> bool {
        TABLE[self.0 as usize].1 == Compression
    }

    /// Whether it is a compression, and how it makes a process smaller if it does.
    pub fn compression(self) -> Option<Option<super::term::Compression>> {
        use super::term::Compression::{Diamond, Strong};
        self.is_compression().then(|| match self.word() {
            "sbisim" => Some(Strong),
            "diamond" | "normal" | "normalise" | "model_compress" | "dbisim" | "wbisim" => Some(Diamond),
            _ => None,
        })
    }

    pub fn is_refused(self) -> bool {
        matches!(TABLE[self.0 as usize].1, Refused(_))
    }

    /// The number of arguments of a function.
    pub fn arity(self) -> Option<usize> {
        match TABLE[self.0 as usize].1 {
            Function(n) | External(n) => Some(n as usize),
            Compression => Some(1),
            Value | Refused(_) => None,
        }
    }
}
