//! Timed sections: what operators mean where time passes.
//!
//! In: core expressions of a process inside of `Timed(f) { … }`. Out: expressions over the event `tock`, one unit of
//! time. A communication lets time pass until it happens and then takes f of its event; choices and interrupts are not
//! resolved by `tock`, and all parallel processes do it together. Never here: `tock` as anything but an event.

use super::core::{Combine, Each, Ex, Kind};
use super::levels::timing;
use super::lexer;
use super::parser::{self, Script};
use super::scope::{Global, Scope};
use super::token::{Names, Sym, Tok};
use super::tree::{self, Decl, DeclKind, Over, Place};
use bombus_base::{FileId, Span};

/// Definitions that scripts with timed sections use; `t_` stands for a beginning that no script can write.
const PRELUDE: &str = "
t_STOP = tock -> t_STOP
t_SKIP = SKIP [] tock -> t_SKIP
t_WAIT(n) = if n == 0 then t_SKIP else tock -> t_WAIT(n - 1)
t_priority(P) = t_urgent(P, {tock})
";

/// The declarations, and those of the prelude if a section is among them.
pub fn with_prelude(mut decls: Vec<Decl>, names: &mut Names) -> Vec<Decl> {
    let tock = names.sym("tock");
    let declared = decls
        .iter()
        .any(|d| matches!(&d.kind, DeclKind::Channel(list, _) if list.iter().any(|(n, _)| *n == tock)));
    // Without a channel `tock` no section can stand anywhere.
    if !declared {
        return decls;
    }
    let (mut tokens, _) = lexer::tokens(PRELUDE, FileId(0), names);
    for token in &mut tokens {
        token.span = Span::default();
        if let Tok::Name(name) = &mut token.tok
            && let Some(rest) = names.text(*name).strip_prefix("t_").map(str::to_string)
        {
            *name = names.sym(&format!("timed {rest}"));
        }
    }
    let empty = Script { names: std::mem::take(names), decls: Vec::new(), faults: Vec::new() };
    let script = parser::tokens(tokens, empty);
    *names = script.names;
    decls.extend(script.decls);
    decls
}

impl Scope {
    /// The name of the whole script; inside of a section some names mean their timed versions.
    pub(super) fn global_name(&mut self, name: Sym, span: Span) -> Sym {
        let known = self.meaning(name, span);
        let Some(global) = self.out.globals.get(&known).copied() else {
            let fault = self.undefined(name, span);
            self.out.faults.push(fault);
            return known;
        };
        let Global::Builtin(builtin) = global else { return known };
        let timed = match builtin.word() {
            "STOP" => "timed STOP",
            "SKIP" => "timed SKIP",
            "WAIT" => "timed WAIT",
            "timed_priority" => "timed priority",
            _ => return known,
        };
        match self.place.timed {
            Some(_) => {
                self.tock(span);
                self.out.names.sym(timed)
            }
            None => {
                if builtin.is_refused() {
                    self.fault(span, format!("`{}` stands in timed sections only", builtin.word()));
                }
                known
            }
        }
    }

    /// The event of time, which a script with timed sections declares.
    fn tock(&mut self, span: Span) -> Ex {
        let tock = self.out.names.sym("tock");
        if !matches!(self.out.globals.get(&tock), Some(Global::Channel(_))) {
            self.fault(span, "a timed section needs the declaration `channel tock`");
        }
        self.built(Kind::Name(tock), span, vec![[tock].into()])
    }

    fn global_value(&mut self, name: &str, span: Span) -> Ex {
        self.tock(span);
        let name = self.out.names.sym(name);
        self.built(Kind::Name(name), span, vec![[name].into()])
    }

    /// The set of `tock`, inside of a timed section.
    pub(super) fn tock_set(&mut self, span: Span) -> Option<Ex> {
        self.place.timed?;
        let tock = self.tock(span);
        let free = vec![tock.free.clone()];
        Some(self.built(Kind::Set(vec![tock], Vec::new()), span, free))
    }

    /// The events of a set expression; processes that share events share `tock`.
    pub(super) fn shared(&mut self, set: &tree::Expr, together: bool) -> Ex {
        let span = set.span;
        let set = self.expr(set);
        let Some(tock) = self.tock_set(span).filter(|_| together) else { return set };
        let union = self.global_value("timed union", span);
        let free = vec![union.free.clone(), set.free.clone(), tock.free.clone()];
        self.built(Kind::Apply(union, vec![set, tock]), span, free)
    }

    pub(super) fn guard(&mut self, condition: Ex, process: Ex, span: Span) -> Ex {
        let mut free = vec![condition.free.clone(), process.free.clone()];
        if self.place.timed.is_none() {
            return self.built(Kind::Guard(condition, process), span, free);
        }
        let stop = self.global_value("timed STOP", span);
        free.push(stop.free.clone());
        self.built(Kind::If(condition, process, stop), span, free)
    }

    pub(super) fn combined(&mut self, op: Combine, p: Ex, q: Ex, span: Span) -> Ex {
        let mut free = vec![p.free.clone(), q.free.clone()];
        let over = match op {
            Combine::Interleave => Over::Parallel,
            Combine::External => Over::Choice,
            Combine::Interrupt => Over::Interrupt,
            _ => return self.built(Kind::Combine(op, p, q), span, free),
        };
        match self.tock_set(span) {
            Some(set) => {
                free.push(set.free.clone());
                self.built(Kind::Over(over, p, set, Some(q)), span, free)
            }
            None => self.built(Kind::Combine(op, p, q), span, free),
        }
    }

    /// A communication, with time before and after it inside of a section.
    pub(super) fn with_time(&mut self, prefix: Ex, span: Span) -> Ex {
        let Some(function) = self.place.timed else { return prefix };
        let tock = self.tock(span);
        let function = self.built(Kind::Name(function), span, vec![[function].into()]);
        let free = vec![function.free.clone(), tock.free.clone(), prefix.free.clone()];
        self.built(Kind::Timed(function, tock, prefix), span, free)
    }

    /// What a replicated operator of a section means for no processes.
    pub(super) fn of_no_processes(&mut self, each: &Each, span: Span) -> Option<Ex> {
        self.place.timed?;
        match each {
            Each::Internal | Each::Link(_) => None,
            Each::Sequence => Some(self.global_value("timed SKIP", span)),
            _ => Some(self.global_value("timed STOP", span)),
        }
    }

    pub(super) fn untimed(&mut self, span: Span, what: &str) {
        if self.place.timed.is_some() {
            self.fault(span, format!("{what} has no meaning inside of a timed section"));
        }
    }

    /// The declarations of a `let`, timed sections among them made flat.
    pub(super) fn sections_of(&mut self, decls: &[Decl]) -> Vec<Decl> {
        let mut out = Vec::new();
        let place = self.place;
        self.section(decls, place, false, &mut out);
        out
    }

    fn section(&mut self, decls: &[Decl], place: Place, inside: bool, out: &mut Vec<Decl>) {
        for decl in decls {
            if let DeclKind::Timed(function, inner) = &decl.kind {
                self.sections += 1;
                // Sections of the script have numbers of their own.
                let number = self.sections + (1 << 20);
                let names = &mut self.out.names;
                let timed = timing(function.clone(), place, decl.span, number, names, out);
                self.section(inner, Place { timed: Some(timed), ..place }, true, out);
                continue;
            }
            let mut decl = decl.clone();
            if inside {
                decl.place = Some(place);
            }
            out.push(decl);
        }
    }
}
