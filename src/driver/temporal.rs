//! Temporal formulas in a check: read before exploring, decided on the graph afterwards.
//!
//! In: formulas as the user wrote them, the loaded model, then the graph. Out: a verdict for each, and
//! for a violated one a trace that the evaluator and the oracle confirm step by step. Never here: how a
//! formula is decided, how a piece of B is evaluated.

mod along;
mod always;
mod certified;
mod chance;
mod claims;
mod counterexample;
mod reading;
mod scattered;
mod symmetric;
mod truth;
mod typing;

use super::{Certificate, judge, symmetry};
use crate::base::budget::Budget;
use crate::base::diagnostic::Diagnostic;
use crate::evaluate::{Interpreter, State};
use crate::explore::{self, Reason};
use crate::lang::typed::{Machine, Pred};
use crate::lang::walk::{Visit, visit_expr, visit_pred};
use crate::ltl::check::{NOT_EVALUATED, NOT_EXPLORED, Row};
use crate::ltl::ctl_parse::Ctl;
use crate::ltl::formula::Formula;
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path};
use crate::ltl::{self, Checker, CtlVerdict, Verdict};
use crate::program::Program;
use crate::program::observe::Watched;
use crate::report::{Ledger, Temporal, Violation};
use crate::system::System as _;
pub use along::decided_by_sets;
pub use claims::Claims;
use counterexample::{executed, violation};
pub(super) use counterexample::{truths_along, walked};
pub(super) use reading::Reader;
pub use reading::read;
use serde_json::Value as Json;
use symmetric::Execution;
use truth::Truths;
use typing::Pieces;
pub(super) use typing::tree;

/// What is said of a path that refutes a formula before its end.
pub const OPEN: &str = "whatever follows, the formula is violated";

/// More formulas than this are decided on the graph.
const MAX_WATCHED: usize = 64;

/// The temporal formulas a user asks for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub ltl: Vec<String>,
    /// Name and text of a file with one formula on each line.
    pub ltl_file: Option<(String, String)>,
    /// The `ASSERT_LTL…` and `ASSERT_CTL…` definitions of the model.
    pub assertions: bool,
    pub ctl: Vec<String>,
    /// How LTL formulas are decided.
    pub engine: ltl::Engine,
}

impl Asked {
    fn is_empty(&self) -> bool {
        self.ltl.is_empty() && self.ltl_file.is_none() && !self.assertions && self.ctl.is_empty()
    }
}

pub(super) enum Logic {
    Ltl(Formula),
    Ctl(Ctl),
}

impl Logic {
    pub fn word(&self) -> &'static str {
        match self {
            Logic::Ltl(_) => "ltl",
            Logic::Ctl(_) => "ctl",
        }
    }
}

pub(super) struct One {
    pub name: Option<String>,
    /// As the user wrote it.
    pub text: String,
    pub formula: Logic,
    /// The observed predicate that has to hold in every state, if the formula says no more than that.
    always: Option<usize>,
}

/// Formulas that are well-formed and well-typed.
pub struct Formulas {
    list: Vec<One>,
    pieces: Pieces,
    warnings: Vec<Diagnostic>,
    engine: ltl::Engine,
}

impl Formulas {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// What a formula, by its text, demands of every state, if it demands nothing else.
    pub fn always(&self, text: &str) -> Option<&Pred> {
        let number = self.list.iter().find(|one| one.text == text)?.always?;
        self.pieces.observed.get(number)
    }

    /// The state predicates of all formulas, if all are the same up to stuttering and can be decided
    /// on a graph that lacks transitions; else why not.
    pub fn propositions(&self) -> Result<Vec<&Pred>, String> {
        for one in &self.list {
            let why = match &one.formula {
                Logic::Ctl(_) => Some("a CTL formula speaks of branching, which is not preserved"),
                Logic::Ltl(f) => f.not_preserved(),
            };
            if let Some(why) = why {
                return Err(format!("{}: {why}", one.name.as_ref().unwrap_or(&one.text)));
            }
        }
        let over_states = self.pieces.observed.iter();
        let with_bound = self.pieces.places.values().filter_map(|typed| match &typed.part {
            typing::Part::Pred(p) => Some(p),
            _ => None,
        });
        Ok(over_states.chain(with_bound).collect())
    }

    /// Shows every piece of B in the formulas.
    pub fn visit(&self, v: &mut impl Visit) {
        self.pieces.observed.iter().for_each(|p| visit_pred(p, v));
        for typed in self.pieces.places.values() {
            match &typed.part {
                typing::Part::Observed(_) => {}
                typing::Part::Pred(p) => visit_pred(p, v),
                typing::Part::Expr(e) => visit_expr(e, v),
                typing::Part::Arguments(all) => all.iter().flatten().for_each(|p| visit_pred(p, v)),
            }
        }
    }

    /// Why these formulas cannot be decided on orbits of a symmetry.
    pub fn obstacle_to_symmetry(&self) -> Option<String> {
        self.list.iter().find_map(|one| {
            let why = symmetric::obstacle(&one.formula)?;
            Some(format!("{}: {why}", one.name.as_ref().unwrap_or(&one.text)))
        })
    }

    /// Whether every violation shows in a finite prefix, so that the search may end as soon as all are
    /// violated, although they are decided on a graph.
    pub fn may_end_early(&self) -> bool {
        let shows = |one: &One| match &one.formula {
            Logic::Ltl(f) => f.features().safety && !f.features().future_below_past,
            Logic::Ctl(_) => false,
        };
        self.need_graph() && self.engine == ltl::Engine::Automaton && self.list.iter().all(shows)
    }

    /// Whether some formula speaks of more than single states.
    pub fn need_graph(&self) -> bool {
        self.list.len() > MAX_WATCHED || self.list.iter().any(|one| one.always.is_none())
    }

    /// Formulas that are decided while the states are explored: all or none of them.
    pub fn watched(&self) -> Vec<Watched> {
        if self.need_graph() {
            return Vec::new();
        }
        let watch = |one: &One| one.always.map(|observed| Watched { observed, unknown: one.unknown() });
        self.list.iter().filter_map(watch).collect()
    }

    /// The formula with this number, as the user wrote it.
    pub fn text(&self, number: u32) -> String {
        self.list[number as usize].text.clone()
    }

    /// The predicate that a watched formula wants of every state.
    pub fn broken(&self, number: u32) -> Option<&Pred> {
        self.list[number as usize].always.map(|observed| &self.pieces.observed[observed])
    }

    /// The interpreter must see that `state` violates a watched formula.
    pub fn confirm(&self, number: u32, interpreter: &Interpreter, state: &State) -> Result<(), String> {
        let one = &self.list[number as usize];
        let pred = one.always.map(|observed| &self.pieces.observed[observed]);
        match pred.map(|pred| interpreter.eval_pred(pred, Some(state))) {
            Some(Ok(false)) => Ok(()),
            _ => Err(format!("the interpreter does not confirm that a state violates {}", one.text)),
        }
    }

    /// The formulas that a certificate covers, as its checker reads them, and what it does not cover.
    pub fn claims(&self, machine: &Machine) -> (Vec<Json>, Vec<String>) {
        certified::claims(self, machine)
    }

    /// A path to a state that breaks a watched formula, as a checker of certificates reads it.
    pub fn broken_path(&self, n: u32, machine: &Machine, path: &[judge::Stop]) -> Result<Json, String> {
        certified::broken((&self.list[n as usize], &self.pieces), machine, path, End::Open)
    }

    /// The predicates of the formulas that the model is compiled with.
    pub fn observed(&self) -> Vec<Pred> {
        self.pieces.observed.clone()
    }

    /// The verdicts of a run that has no graph.
    pub fn undecided(&self) -> Vec<Temporal> {
        self.list.iter().map(|one| one.verdict("incomplete")).collect()
    }
}

impl One {
    /// How messages name it.
    pub fn called(&self) -> String {
        format!("{} {}", self.formula.word(), self.name.as_ref().unwrap_or(&self.text))
    }

    /// The reason when its predicate cannot be evaluated in some state.
    fn unknown(&self) -> String {
        format!("{}: {NOT_EVALUATED}", self.called())
    }

    fn is_linear(&self) -> bool {
        matches!(self.formula, Logic::Ltl(_))
    }

    fn tells_instances(&self) -> bool {
        match &self.formula {
            Logic::Ltl(f) => f.features().tells_instances,
            Logic::Ctl(f) => chance::tells_instances(f),
        }
    }

    pub fn verdict(&self, verdict: &'static str) -> Temporal {
        Temporal { name: self.name.clone(), formula: self.text.clone(), verdict }
    }
}

/// What the formulas of a run came to.
#[derive(Default)]
pub struct Checked {
    pub verdicts: Vec<Temporal>,
    /// One for each violated formula, in the order of the formulas.
    pub violations: Vec<Violation>,
    /// The chance that a formula holds only because two transitions were taken for one.
    pub chance: f64,
}

/// Decides every formula on the graph of an exploration.
pub fn check(
    program: &Program,
    found: &explore::Outcome,
    formulas: &Formulas,
    ledger: &mut Ledger,
    (budget, certificate): (&Budget, &Certificate),
) -> Result<Checked, String> {
    if formulas.is_empty() {
        return Ok(Checked::default());
    }
    if !formulas.need_graph() {
        return Ok(watched(program, found, formulas, ledger));
    }
    let Some(graph) = &found.graph else {
        if let (Some(size), Some(piece)) = (&found.too_large, &found.piece) {
            return scattered::check(program, (piece, size), formulas, ledger, (budget, certificate));
        }
        ledger.enter(match &found.too_large {
            Some(size) => scattered::does_not_fit("the graph", size),
            None => "there is no graph to check temporal formulas on".into(),
        });
        return Ok(Checked { verdicts: formulas.undecided(), ..Checked::default() });
    };
    if graph.has_orbits() && symmetry::grade(program, found) == "approximate" {
        ledger.enter("temporal formulas cannot be decided where orbits are told apart only approximately");
        return Ok(Checked { verdicts: formulas.undecided(), ..Checked::default() });
    }
    let frozen = Frozen::new(graph);
    let truths = Truths::new(program, graph, &formulas.pieces, budget);
    let mut checker = Checker::new(&frozen, &truths, budget).with_engine(formulas.engine);
    let mut checked = Checked::default();
    for one in &formulas.list {
        if let Err(stop) = budget.check() {
            checked.verdicts.push(one.verdict("incomplete"));
            ledger.enter(format!("{}: {}", one.called(), stop.reason()));
            continue;
        }
        let decided = decide(&mut checker, one);
        if matches!(decided, Decided::Holds) && checked.chance == 0.0 && one.tells_instances() {
            checked.chance = chance::of_labels(graph);
        }
        let show = |path: &Path| executed(program, graph, &frozen, path);
        checked.enter(program, (one, &formulas.pieces, certificate), decided, show, ledger)?;
    }
    Ok(checked)
}

impl Checked {
    /// Enters what a formula came to; `show` makes an execution of a path.
    fn enter(
        &mut self,
        program: &Program,
        own: (&One, &Pieces, &Certificate),
        decided: Decided,
        show: impl FnOnce(&Path) -> Result<Execution, String>,
        ledger: &mut Ledger,
    ) -> Result<(), String> {
        let one = own.0;
        match decided {
            Decided::Holds => self.verdicts.push(one.verdict("holds")),
            Decided::Violated(path, rows) => match show(&path) {
                Ok(shown) => {
                    self.verdicts.push(one.verdict("violated"));
                    self.violations.push(violation(program, own, &path, &rows, shown)?);
                }
                Err(why) => {
                    self.verdicts.push(one.verdict("incomplete"));
                    ledger
                        .enter(format!("{}: a violation was found but cannot be shown: {why}", one.called()));
                }
            },
            Decided::Incomplete(reasons) => {
                self.verdicts.push(one.verdict("incomplete"));
                if reasons.is_empty() {
                    ledger.enter(format!("{}: not decided", one.called()));
                }
                for reason in reasons {
                    ledger.enter(format!("{}: {reason}", one.called()));
                }
            }
        }
        Ok(())
    }
}

/// What a formula comes to on a graph.
pub(super) fn decide(checker: &mut Checker<'_, Frozen<'_>>, one: &One) -> Decided {
    let decided = match &one.formula {
        Logic::Ltl(f) => checker.check(f).map(|verdict| match verdict {
            Verdict::Holds => Decided::Holds,
            Verdict::Violated(c) => Decided::Violated(c.path, c.rows),
            Verdict::Incomplete(reasons) => Decided::Incomplete(reasons),
        }),
        Logic::Ctl(f) => checker.check_ctl(f).map(|verdict| match verdict {
            CtlVerdict::Holds => Decided::Holds,
            CtlVerdict::Violated(path, rows) => Decided::Violated(path, rows),
            CtlVerdict::Incomplete(reasons) => Decided::Incomplete(reasons),
        }),
    };
    // Names and types are right; what is left are values that cannot be computed.
    decided.unwrap_or_else(|faults| Decided::Incomplete(faults.into_iter().map(|d| d.message).collect()))
}

/// Whether all formulas are violated by what was explored up to a level, and by paths as short as any in
/// the whole state space: no longer than the levels that are complete.
pub fn all_violated(
    program: &Program,
    found: &explore::Outcome,
    formulas: &Formulas,
    budget: &Budget,
) -> bool {
    let (Some(graph), Some(depth)) = (&found.graph, found.depth) else { return false };
    if graph.has_orbits() && symmetry::grade(program, found) == "approximate" {
        return false;
    }
    let frozen = Frozen::new(graph);
    let truths = Truths::new(program, graph, &formulas.pieces, budget);
    let mut checker = Checker::new(&frozen, &truths, budget);
    let mut violated = |one: &One| matches!(decide(&mut checker, one), Decided::Violated(path, _) if path.edges.len() <= depth as usize);
    formulas.list.iter().all(&mut violated)
}

/// The verdicts on formulas that were decided while the states were explored.
fn watched(program: &Program, found: &explore::Outcome, formulas: &Formulas, ledger: &mut Ledger) -> Checked {
    let not_evaluated = |one: &One| {
        let unknown = one.unknown();
        let said = |r: &Reason| matches!(r, Reason::System(n) if program.reason(*n) == unknown);
        found.reasons.iter().any(|(reason, _)| said(reason))
    };
    let decide = |(i, one): (usize, &One)| {
        if found.violated >> i & 1 == 1 {
            return one.verdict("violated");
        }
        let evaluated = !not_evaluated(one);
        if found.is_whole() && evaluated {
            return one.verdict("holds");
        }
        if evaluated {
            ledger.enter(format!("{}: {NOT_EXPLORED}", one.called()));
        }
        one.verdict("incomplete")
    };
    Checked { verdicts: formulas.list.iter().enumerate().map(decide).collect(), ..Checked::default() }
}

/// The threads that formulas are checked by; none if there is no formula.
pub struct Threads(Option<rayon::ThreadPool>);

/// The interpreter recurses as deep as a formula nests.
const STACK: usize = 256 << 20;

pub fn threads(formulas: &Formulas, workers: usize) -> Result<Threads, String> {
    threads_if(formulas.need_graph(), workers)
}

/// Threads, if formulas are decided on a graph.
pub fn threads_if(needed: bool, workers: usize) -> Result<Threads, String> {
    if !needed {
        return Ok(Threads(None));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers.max(1)).stack_size(STACK).build();
    pool.map(|pool| Threads(Some(pool))).map_err(|e| format!("no threads for temporal formulas: {e}"))
}

impl Threads {
    /// Does a job whose parallel parts are shared by these threads.
    pub fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(job),
            None => job(),
        }
    }
}

pub(super) enum Decided {
    Holds,
    Violated(Path, Vec<Row>),
    Incomplete(Vec<String>),
}
