//! Partial order reduction in a check: whether it may be used, what it must preserve, what it did.
//!
//! In: options and formulas before, figures after. Out: the explorer's settings and the words for the
//! report. A property that the reduction does not preserve switches it off, and the result says why.

use super::CheckOptions;
use super::temporal::Formulas;
use crate::explore::Store;
use crate::explore::reduce::por::{Figures, Method, Por, Preserve, Proviso};
use crate::program::{Preserved, Program};
use crate::report::PorDetails;
use crate::system::Relations;

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reduce {
    #[default]
    Off,
    Stubborn,
    Ample,
}

/// What is done about it.
#[derive(Default)]
pub(super) struct Settled {
    pub por: Option<Por>,
    /// Why not, or with which limits.
    pub notes: Vec<String>,
}

/// Prepares the program for a reduced search, if nothing speaks against one.
pub(super) fn settle(program: &mut Program<'_>, options: &CheckOptions, formulas: &Formulas) -> Settled {
    let method = match options.por {
        Reduce::Off => return Settled::default(),
        Reduce::Stubborn => Method::Stubborn,
        Reduce::Ample => Method::Ample,
    };
    let off =
        |why: String| Settled { por: None, notes: vec![format!("partial order reduction is off: {why}")] };
    let machine = program.machine();
    if options.keep_going {
        return off("--keep-going counts all findings, and a reduced search does not see all of them".into());
    }
    if machine.scope.is_some() {
        return off("SCOPE cuts paths, and a cut path may be the one that was kept".into());
    }
    if options.strict_wd && program.guards_may_be_undefined() {
        return off("--strict-wd reports undefined guards, in states that a reduced search may skip".into());
    }
    if program.valuations() == 0 {
        return off("there is no valuation of the constants".into());
    }
    let propositions = match formulas.propositions() {
        Ok(list) => list,
        Err(why) => return off(why),
    };
    let invariant = !options.no_invariant && !machine.invariant.is_empty();
    let assertions = !options.no_assertions && !machine.assertions.is_empty();
    let goal = machine.goal.is_some();
    let preserve = if !formulas.is_empty() {
        Preserve::Paths
    } else if invariant || assertions || goal {
        Preserve::States
    } else {
        Preserve::Deadlocks
    };
    if options.cluster.is_some() && options.checkpoint.is_used() {
        return off("several machines do not save what a reduction has seen".into());
    }
    if options.cluster.is_some() && !(options.deadlock_only && preserve == Preserve::Deadlocks) {
        return off(
            "several machines reduce a search for deadlocks alone (--only-deadlock): for anything else the machine that \
             leaves a step out would have to know where it leads"
                .into(),
        );
    }
    program.prepare_reduction(&Preserved {
        whole_events: method == Method::Ample,
        invariant,
        assertions,
        goal,
        propositions,
        enabledness: Vec::new(),
        paths: preserve == Preserve::Paths,
        ignores_failures: options.deadlock_only,
    });
    let proviso = if options.level_proviso || options.store == Store::Hash {
        Proviso::Level
    } else {
        Proviso::Topological
    };
    let mut notes = Vec::new();
    if options.deadlock_only {
        notes.push(
            "only deadlocks are preserved: an undefined action may stand in a state that was skipped".into(),
        );
    }
    Settled { por: Some(Por { method, preserve, proviso }), notes }
}

/// What a reduced search did, for the report, and what there is to say about it.
pub(super) fn details(relations: Option<&Relations>, por: Por, f: &Figures) -> (PorDetails, Vec<String>) {
    let fallible = relations.is_some_and(|r| r.fallible);
    let details = PorDetails {
        method: match por.method {
            Method::Stubborn => "stubborn",
            Method::Ample => "ample",
        },
        preserves: match por.preserve {
            Preserve::Deadlocks => "deadlocks",
            Preserve::States => "states",
            Preserve::Paths => "paths",
        },
        proviso: match por.proviso {
            _ if por.preserve == Preserve::Deadlocks && !fallible => "none",
            Proviso::Topological => "topological",
            Proviso::Level => "level",
        },
        instances: relations.map_or(0, |r| r.len() as u64),
        reduced: f.reduced,
        full_no_smaller: f.no_smaller,
        full_by_proviso: f.by_proviso,
        full_unknown: f.unknown,
        single: f.single,
        rounds: f.rounds,
        transitions_left_out: f.left_out,
        given_up_after: f.given_up_after,
    };
    let mut notes = Vec::new();
    if let Some(n) = f.given_up_after {
        notes.push(format!(
            "partial order reduction did not pay and was given up after {n} states (it had reduced {} of them)",
            f.reduced
        ));
    } else if f.reduced * 100 < f.looked_at() && f.looked_at() > 100 {
        notes.push(format!(
            "partial order reduction does not pay here: it reduced {} of {} states",
            f.reduced,
            f.looked_at()
        ));
    }
    (details, notes)
}
