//! One run of code: what happens when it emits a transition or needs a value.
//!
//! In: calls from `exec`. Out: transitions packed and held back, pieces evaluated by the interpreter
//! and remembered. Never here: when code is run and what becomes of the transitions.

use super::compile::Compiled;
use super::exec::{Answer, FRAME, Host, Regs};
use super::label;
use super::lower::General;
use super::memo::Memo;
use super::pool::ValueId;
use super::system::Program;
use super::tray;
use bombus_evaluate::{Error, Interpreter, Pieces};
use bombus_lang::value::Value;

/// Transitions that are held back, as the tray has them: event, label, words of the target.
#[derive(Default)]
pub(super) struct Edges(pub(super) Vec<u64>);

impl Edges {
    /// Takes what is in the tray.
    pub(super) fn gather(&mut self, regs: &mut Regs) {
        self.0.extend_from_slice(tray::content(regs));
        tray::clear(regs);
    }
}

/// One run of code.
pub(super) struct Running<'r, 'm> {
    pub(super) program: &'r Program<'m>,
    pub(super) compiled: &'r Compiled,
    pub(super) interpreter: &'r Interpreter<'m>,
    pub(super) pieces: &'r mut Option<(usize, Pieces)>,
    pub(super) edges: &'r mut Edges,
    pub(super) answers: &'r mut Memo<(Answer, Box<[u64]>)>,
    pub(super) state: &'r [u64],
    /// The one event that is run; `None` if the tray tells it.
    pub(super) event: Option<u32>,
    /// Events with an undefined guard.
    pub(super) undefined: Vec<u32>,
}

impl Host for Running<'_, '_> {
    #[inline]
    fn emit(&mut self, t: u16, regs: &mut [u64; FRAME]) -> Answer {
        let packing = &self.compiled.packings[t as usize];
        if self.compiled.code.plan.is_some() {
            self.edges.gather(regs);
        }
        let edges = &mut self.edges.0;
        edges.push(packing.event.into());
        edges.push(label::of_registers(&packing.label, regs, &self.program.pool));
        let start = edges.len();
        edges.extend_from_slice(self.state);
        let target = &mut edges[start..];
        for p in &packing.places {
            if !p.store(regs[p.reg as usize], target) {
                return Answer::Misfit;
            }
        }
        for (field, reg) in &packing.wide {
            field.store(&regs[*reg as usize..], target);
        }
        Answer::Go
    }

    fn undefined(&mut self, regs: &[u64; FRAME]) {
        let event = self.event.unwrap_or_else(|| tray::event(regs));
        if self.undefined.last() != Some(&event) {
            self.undefined.push(event);
        }
    }

    fn general(&mut self, g: u16, regs: &mut [u64; FRAME]) -> Answer {
        let pool = &self.program.pool;
        let inputs = match &self.compiled.generals[g as usize] {
            General::Convert { from, to } => {
                let v = from.layout.decode(&regs[from.reg as usize..], pool);
                let fits = to.layout.encode(&v, pool, &mut regs[to.reg as usize..]);
                return if fits { Answer::Go } else { Answer::Misfit };
            }
            General::Count { set, out } => {
                let Value::Set(elems) = pool.get(ValueId(regs[set.reg as usize] as u32)) else {
                    return Answer::Misfit;
                };
                regs[*out as usize] = elems.len() as u64;
                return Answer::Go;
            }
            General::Element { set, at, out } => {
                let Value::Set(elems) = pool.get(ValueId(regs[set.reg as usize] as u32)) else {
                    return Answer::Misfit;
                };
                let fits = elems
                    .get(regs[*at as usize] as usize)
                    .is_some_and(|v| out.layout.encode(v, pool, &mut regs[out.reg as usize..]));
                return if fits { Answer::Go } else { Answer::Misfit };
            }
            General::Expr { inputs, .. } | General::Pred { inputs, .. } => inputs,
        };
        let known = self.answers.ask(g as usize, |key| {
            for (reg, n) in &self.compiled.code.generals[g as usize].reads {
                key.extend_from_slice(&regs[*reg as usize..*reg as usize + *n as usize]);
            }
        });
        let learns = known.is_some();
        let (at, n) = match self.compiled.code.generals[g as usize].write {
            Some((reg, n)) => (reg as usize, n as usize),
            None => (0, 0),
        };
        if let Some(Some((answer, words))) = known {
            regs[at..at + words.len()].copy_from_slice(words);
            return *answer;
        }
        let valuation = self.program.layout.valuation(self.state);
        if self.pieces.as_ref().is_none_or(|(v, _)| *v != valuation) {
            let constants = &self.program.valuations[valuation];
            *self.pieces = Some((valuation, Pieces::new(self.interpreter, constants)));
        }
        let Some((_, pieces)) = self.pieces else { return Answer::Misfit };
        for i in inputs {
            pieces.bind(i.var, i.old, i.from.layout.decode(&regs[i.from.reg as usize..], pool));
        }
        let answer = match &self.compiled.generals[g as usize] {
            General::Expr { expr, out, .. } => match self.interpreter.piece_value(expr, pieces) {
                Ok(v) if out.layout.encode(&v, pool, &mut regs[out.reg as usize..]) => Answer::Go,
                Ok(_) => Answer::Misfit,
                Err(e) => undecided(&e),
            },
            General::Pred { pred, out, .. } => match self.interpreter.piece_holds(pred, pieces) {
                Ok(b) => {
                    regs[*out as usize] = u64::from(b);
                    Answer::Go
                }
                Err(e) => undecided(&e),
            },
            General::Convert { .. } | General::Count { .. } | General::Element { .. } => Answer::Misfit,
        };
        for i in inputs {
            pieces.unbind(i.var, i.old);
        }
        // A misfit may have been a stop: it is not learnt.
        if learns && answer != Answer::Misfit {
            self.answers.learn((answer, regs[at..at + n].into()), n);
        }
        answer
    }

    fn tick(&mut self) -> bool {
        self.interpreter.budget().check().is_ok()
    }
}

/// Undefined values have a place to go to; anything else is the interpreter's to tell.
fn undecided(e: &Error) -> Answer {
    if e.is_undefined() { Answer::Jump } else { Answer::Misfit }
}
