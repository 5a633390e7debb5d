//! k-induction: no violation within k steps of a beginning, and none after k + 1 good states in a row.
//!
//! In: a machine, a judge of candidates. Out: the number k for which both queries are proofs, a confirmed violation, or
//! how far the search went. States in a row are made distinct where the solver repeats one (`simple path`), which is
//! sound because a shortest path to a violation repeats no state. Never here: what the judge does.

use super::bmc::{Ended, Search};
use super::encode::EncodeOptions;
use super::lrat::Proof;
use super::sat::{Batsat, Lit};
use super::unroll::{Figures, Properties, Reply, Target, Unrolling};
use bombus_analyse::proof_info::ProofInfo;
use bombus_base::budget::Budget;
use bombus_lang::typed::Machine;
use std::sync::Arc;

/// How an induction ended.
pub enum Induction<V> {
    /// Proved with this k.
    Proved(usize),
    /// The search for violations came to an end of its own.
    Base(Ended<V>),
    /// No k up to the last one is enough.
    NotInductive,
}

/// The step of an induction: good states in a row, of which the last one may be bad.
pub struct InductiveStep<'m> {
    unrolling: Unrolling<'m>,
    targets: Vec<Target>,
    simple: bool,
}

impl<'m> InductiveStep<'m> {
    pub fn new(
        machine: &'m Machine,
        wanted: Properties,
        options: EncodeOptions,
        simple: bool,
        proven: &Arc<ProofInfo>,
        budget: &Budget,
    ) -> InductiveStep<'m> {
        let unrolling = Unrolling::new(machine, wanted, options, budget).with_proofs(proven);
        InductiveStep::from_any_state(unrolling, simple)
    }

    fn from_any_state(mut unrolling: Unrolling<'m>, simple: bool) -> InductiveStep<'m> {
        unrolling.begin_anywhere();
        let targets = unrolling.all_targets();
        InductiveStep { unrolling, targets, simple }
    }

    /// After one more good state: does a bad one follow?
    pub fn one_more(&mut self) -> Reply {
        self.unrolling.extend(&self.targets);
        let last = self.unrolling.frames.len() - 1;
        let bad = self.unrolling.any_of(last, &self.targets);
        if bad == Lit::FALSE {
            self.unrolling.note_unasked(last);
            return Reply::Proof;
        }
        loop {
            let reply = self.unrolling.ask(&[bad]);
            if reply != Reply::Candidate || !self.simple || !self.tell_apart(last) {
                return reply;
            }
        }
    }

    /// Makes two states of the model distinct that are equal in it; false if there are none.
    fn tell_apart(&mut self, last: usize) -> bool {
        let model = self.unrolling.candidate(last);
        for b in 0..last {
            for a in 0..b {
                if model.states[a] == model.states[b]
                    && let Some(same) = self.unrolling.same_state(a, b)
                {
                    self.unrolling.enc.g.require(!same);
                    return true;
                }
            }
        }
        false
    }

    pub fn figures(&self) -> Figures {
        self.unrolling.figures()
    }

    /// Questions that proofs made superfluous.
    pub fn saved(&self) -> u64 {
        self.unrolling.saved()
    }

    pub fn width_reason(&self) -> Option<(usize, &'static str)> {
        self.unrolling.enc.atoms.width()
    }

    pub fn weak(&self) -> Vec<String> {
        self.unrolling.enc.weak.iter().cloned().collect()
    }
}

/// A proof for each query of an induction, with its name, that can be checked without this program. `None` if a query has a
/// model or was stopped.
pub fn proofs(
    machine: &Machine,
    wanted: Properties,
    options: &EncodeOptions,
    (k, simple): (usize, bool),
    budget: &Budget,
) -> Option<Vec<(String, Proof)>> {
    let logging = || Unrolling::over(machine, wanted, options.clone(), budget, Box::new(Batsat::logging()));
    let mut out = Vec::new();
    let mut start = logging();
    start.prepare_beginning();
    let fault = start.beginning.as_ref().map_or(Lit::FALSE, |b| b.fault);
    let none = start.no_beginning();
    out.push(("init".to_string(), start.refutation(&[fault, none])?));
    for depth in 0..=k {
        let mut base = logging();
        let targets = base.all_targets();
        base.prepare_beginning();
        base.begin();
        (0..depth).for_each(|_| base.extend(&targets));
        let bad = base.any_of(depth, &targets);
        out.push((format!("base_{depth}"), base.refutation(&[bad])?));
    }
    let mut step = InductiveStep::from_any_state(logging(), simple);
    let mut reply = Reply::Unknown;
    for _ in 0..=k {
        reply = step.one_more();
    }
    let last = step.unrolling.frames.len() - 1;
    let bad = step.unrolling.any_of(last, &step.targets);
    if reply == Reply::Proof {
        out.push(("step".to_string(), step.unrolling.refutation(&[bad])?));
        return Some(out);
    }
    None
}

/// Base and step in turn, up to the last k.
pub fn induce<V>(base: &mut Search<V>, step: &mut InductiveStep, last: usize) -> Induction<V> {
    if let Some(ended) = base.begin() {
        return Induction::Base(ended);
    }
    for k in 0..=last {
        (base.progress)(k);
        if let Some(ended) = base.look(k, &[]) {
            return Induction::Base(ended);
        }
        base.run.depth = Some(k);
        match step.one_more() {
            Reply::Proof => return Induction::Proved(k),
            Reply::Unknown => return Induction::Base(Ended::Stopped),
            Reply::TooNarrow | Reply::Candidate => {}
        }
        if k == last {
            break;
        }
        let without = base.active.clone();
        base.unrolling.extend(&without);
        match base.unrolling.ask(&[]) {
            Reply::Proof => return Induction::Base(Ended::AllPaths),
            Reply::Unknown => return Induction::Base(Ended::Stopped),
            Reply::TooNarrow => base.run.narrow = true,
            Reply::Candidate => {}
        }
    }
    Induction::NotInductive
}
