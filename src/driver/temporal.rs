//! Temporal formulas in a check: read before exploring, decided on the graph afterwards.
//!
//! In: formulas as the user wrote them, the loaded model, then the graph. Out: a verdict for each, and
//! for a violated one a trace that the reference interpreter confirms step by step. Never here: how a
//! formula is decided, how a piece of B is evaluated.

mod truth;
mod typing;

use super::compiled::{confirm_finding, confirmed_steps};
use super::{CheckOptions, Engine, Rejected, one_line};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::span::FileId;
use crate::explore::{self, Step, Store, Trace};
use crate::ltl::atoms::{Faults, Table, Truth};
use crate::ltl::bits::Bits;
use crate::ltl::check::Row;
use crate::ltl::ctl_parse::Ctl;
use crate::ltl::formula::Formula;
use crate::ltl::frozen::Frozen;
use crate::ltl::ground::Property;
use crate::ltl::path::{End, Path};
use crate::ltl::view::{Explicit, Graph as _};
use crate::ltl::{Checker, CtlVerdict, Place, Verdict, parse_ctl, parse_ltl};
use crate::model::Model;
use crate::model::reference::{Interpreter, State};
use crate::model::typed::TemporalAssertion;
use crate::program::Program;
use crate::report::{Ledger, SETUP_CONSTANTS, Temporal, Violation};
use crate::system::{Finding, FindingKind};
use truth::Truths;
use typing::{Pieces, Typing};

/// The temporal formulas a user asks for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub ltl: Vec<String>,
    /// Name and text of a file with one formula on each line.
    pub ltl_file: Option<(String, String)>,
    /// The `ASSERT_LTL…` and `ASSERT_CTL…` definitions of the model.
    pub assertions: bool,
    pub ctl: Vec<String>,
}

impl Asked {
    fn is_empty(&self) -> bool {
        self.ltl.is_empty() && self.ltl_file.is_none() && !self.assertions && self.ctl.is_empty()
    }
}

enum Logic {
    Ltl(Formula),
    Ctl(Ctl),
}

impl Logic {
    fn word(&self) -> &'static str {
        match self {
            Logic::Ltl(_) => "ltl",
            Logic::Ctl(_) => "ctl",
        }
    }
}

struct One {
    name: Option<String>,
    /// As the user wrote it.
    text: String,
    formula: Logic,
}

/// Formulas that are well-formed and well-typed.
pub struct Formulas {
    list: Vec<One>,
    pieces: Pieces,
    warnings: Vec<Diagnostic>,
}

impl Formulas {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The verdicts of a run that has no graph.
    pub fn undecided(&self) -> Vec<Temporal> {
        self.list.iter().map(|one| one.verdict("incomplete")).collect()
    }
}

impl One {
    fn verdict(&self, verdict: &'static str) -> Temporal {
        Temporal { name: self.name.clone(), formula: self.text.clone(), verdict }
    }
}

/// Reads and types all formulas of a run; the faults of all of them reject it.
pub fn read(model: &mut Model, sources: &mut Sources, options: &CheckOptions) -> Result<Formulas, Rejected> {
    let asked = &options.temporal;
    let refuse = |sources: &Sources, message: &str| {
        Err(Rejected { sources: sources.clone(), diagnostics: vec![Diagnostic::plain(message)] })
    };
    if !asked.is_empty() && options.engine == Engine::Reference {
        return refuse(sources, "temporal formulas are checked by the compiled engine only");
    }
    if !asked.is_empty() && options.store != Store::Exact {
        return refuse(sources, "temporal formulas need the states themselves: use --store exact");
    }
    let mut reader = Reader { list: Vec::new(), warnings: Vec::new(), faults: Vec::new() };
    for text in &asked.ltl {
        let file = sources.add("<ltl>", None, text.as_str());
        reader.ltl(None, text, Place { file, offset: 0 });
    }
    if let Some((name, text)) = &asked.ltl_file {
        let file = sources.add(name.as_str(), None, text.as_str());
        if !reader.lines(text, file) {
            return refuse(sources, &format!("--ltl-file: there is no formula in {name}"));
        }
    }
    if asked.assertions {
        let machine = &model.machine;
        if machine.ltl.is_empty() && machine.ctl.is_empty() {
            return refuse(
                sources,
                "--ltl-assertions: the model has no definition ASSERT_LTL… or ASSERT_CTL… that is a string",
            );
        }
        for a in &machine.ltl {
            reader.ltl(Some(a.name.to_string()), &a.formula, place(a, sources));
        }
        for a in &machine.ctl {
            reader.ctl(Some(a.name.to_string()), &a.formula, place(a, sources));
        }
    }
    for text in &asked.ctl {
        let file = sources.add("<ctl>", None, text.as_str());
        reader.ctl(None, text, Place { file, offset: 0 });
    }
    let Reader { list, warnings, mut faults } = reader;
    let typing = Typing::new(model);
    for one in &list {
        if let Err(more) = typed(&one.formula, &typing) {
            faults.extend(more);
        }
    }
    let pieces = typing.finish();
    if faults.is_empty() {
        Ok(Formulas { list, pieces, warnings })
    } else {
        Err(Rejected { sources: sources.clone(), diagnostics: faults })
    }
}

struct Reader {
    list: Vec<One>,
    warnings: Vec<Diagnostic>,
    faults: Vec<Diagnostic>,
}

impl Reader {
    fn ltl(&mut self, name: Option<String>, text: &str, place: Place) {
        match parse_ltl(text, place) {
            Ok(parsed) => {
                self.warnings.extend(parsed.warnings);
                self.list.push(One { name, text: one_line(text), formula: Logic::Ltl(parsed.formula) });
            }
            Err(faults) => self.faults.extend(faults),
        }
    }

    fn ctl(&mut self, name: Option<String>, text: &str, place: Place) {
        match parse_ctl(text, place) {
            Ok(parsed) => {
                self.warnings.extend(parsed.warnings);
                self.list.push(One { name, text: one_line(text), formula: Logic::Ctl(parsed.formula) });
            }
            Err(faults) => self.faults.extend(faults),
        }
    }

    /// One formula on each line that is neither empty nor a comment; whether there was any.
    fn lines(&mut self, text: &str, file: FileId) -> bool {
        let mut offset = 0;
        let mut any = false;
        for line in text.split_inclusive('\n') {
            let formula = line.trim();
            // `#x.(…)` is a quantified formula, any other `#` begins a comment.
            let quantified = parse_quantifier(formula);
            if !formula.is_empty() && !formula.starts_with("//") && (quantified || !formula.starts_with('#'))
            {
                let lead = line.len() - line.trim_start().len();
                self.ltl(None, formula, Place { file, offset: offset + lead });
                any = true;
            }
            offset += line.len();
        }
        any
    }
}

/// Whether a line begins with `#x.(`.
fn parse_quantifier(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('#') else { return false };
    let name = rest.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let begins = rest.trim_start().starts_with(char::is_alphabetic);
    begins && name.trim_start().strip_prefix('.').is_some_and(|body| body.trim_start().starts_with('('))
}

/// Where an assertion stands: in the text of the model if it is there letter by letter.
fn place(assertion: &TemporalAssertion, sources: &mut Sources) -> Place {
    let quoted = sources.slice(assertion.span);
    let inner = quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"'));
    if inner == Some(assertion.formula.as_str()) {
        return Place { file: assertion.span.file, offset: assertion.span.start as usize + 1 };
    }
    let file = sources.add(format!("<{}>", assertion.name), None, assertion.formula.as_str());
    Place { file, offset: 0 }
}

/// Walks a formula as the checker will, so that every name and type in it is looked at.
fn typed(formula: &Logic, typing: &Typing) -> Result<(), Faults> {
    let graph = Explicit::new(1, &[0], Vec::new());
    match formula {
        Logic::Ltl(f) => Property::new(f, &mut Table::new(&graph, typing)).map(|_| ()),
        Logic::Ctl(f) => Checker::new(&graph, typing, &Budget::unlimited()).check_ctl(f).map(|_| ()),
    }
}

/// What the formulas of a run came to.
#[derive(Default)]
pub struct Checked {
    pub verdicts: Vec<Temporal>,
    /// Of the first violated formula.
    pub violation: Option<Violation>,
}

/// Decides every formula on the graph of an exploration.
pub fn check(
    program: &Program,
    found: &explore::Outcome,
    formulas: &Formulas,
    ledger: &mut Ledger,
    budget: &Budget,
) -> Result<Checked, String> {
    if formulas.is_empty() {
        return Ok(Checked::default());
    }
    let Some(graph) = &found.graph else {
        ledger.enter("there is no graph to check temporal formulas on");
        return Ok(Checked { verdicts: formulas.undecided(), violation: None });
    };
    let frozen = if is_complete(found) {
        Frozen::complete(graph)
    } else {
        Frozen::partial(graph, Bits::new(graph.nodes()))
    };
    let truths = Truths::new(program, graph, &formulas.pieces, budget);
    let mut checker = Checker::new(&frozen, &truths, budget);
    let mut checked = Checked::default();
    for one in &formulas.list {
        let decided = match &one.formula {
            Logic::Ltl(f) => checker.check(f).map(|verdict| match verdict {
                Verdict::Holds => Decided::Holds,
                Verdict::Violated(c) => Decided::Violated(c.path, c.rows),
                Verdict::Incomplete(reasons) => Decided::Incomplete(reasons),
            }),
            Logic::Ctl(f) => checker.check_ctl(f).map(|verdict| match verdict {
                CtlVerdict::Holds => Decided::Holds,
                CtlVerdict::Violated(path) => Decided::Violated(path, Vec::new()),
                CtlVerdict::Incomplete(reasons) => Decided::Incomplete(reasons),
            }),
        };
        // Names and types are right; what is left are values that cannot be computed.
        let decided = decided
            .unwrap_or_else(|faults| Decided::Incomplete(faults.into_iter().map(|d| d.message).collect()));
        match decided {
            Decided::Holds => checked.verdicts.push(one.verdict("holds")),
            Decided::Violated(path, rows) => {
                checked.verdicts.push(one.verdict("violated"));
                if checked.violation.is_none() {
                    checked.violation = Some(violation(program, &frozen, graph, one, &path, &rows)?);
                }
            }
            Decided::Incomplete(reasons) => {
                checked.verdicts.push(one.verdict("incomplete"));
                let called = one.name.as_ref().unwrap_or(&one.text);
                if reasons.is_empty() {
                    ledger.enter(format!("{} {called}: not decided", one.formula.word()));
                }
                for reason in reasons {
                    ledger.enter(format!("{} {called}: {reason}", one.formula.word()));
                }
            }
        }
    }
    Ok(checked)
}

enum Decided {
    Holds,
    Violated(Path, Vec<Row>),
    Incomplete(Vec<String>),
}

/// Whether the graph has every transition of every reachable state. One that ended in an error of
/// evaluation is a finding and no transition, so it is missing.
fn is_complete(found: &explore::Outcome) -> bool {
    // An assertion may be an ASSERT that ended an event.
    let missing = [
        FindingKind::Assertion,
        FindingKind::WellDefinedness,
        FindingKind::Precondition,
        FindingKind::Refinement,
        FindingKind::Variant,
    ];
    found.exhausted
        && found.reasons.is_empty()
        && found.out_of_scope == 0
        && missing.iter().all(|kind| found.counts.of(*kind) == 0)
}

/// The counterexample as a trace; the transition that closes a loop is its last step.
fn violation(
    program: &Program,
    frozen: &Frozen,
    graph: &crate::graph::Graph,
    one: &One,
    path: &Path,
    rows: &[Row],
) -> Result<Violation, String> {
    let closing = match path.end {
        End::Loop(entry) => Some(path.states[entry]),
        End::Deadlock | End::Open => None,
    };
    let mut trace: Trace = Vec::new();
    for (i, state) in path.states.iter().copied().chain(closing).enumerate() {
        let taken = i.checked_sub(1).map(|before| path.edges[before]);
        let words = graph.state(frozen.node(state)).ok_or("a state of the graph has no words")?;
        trace.push(Step {
            event: taken.map(|e| frozen.event(e)),
            label: taken.map_or(0, |e| frozen.label(e)),
            state: words,
        });
    }
    let interpreter = Interpreter::new(program.machine(), &Budget::unlimited());
    let states: Vec<State> = trace.iter().map(|s| program.values(&s.state)).collect();
    let steps = confirmed_steps(program, &interpreter, &trace, &states)?;
    if let (End::Deadlock, Some(last)) = (path.end, states.last()) {
        let deadlock = Finding { kind: FindingKind::Deadlock, property: 0, event: None };
        confirm_finding(&interpreter, &deadlock, last)?;
    }
    let setup = steps.iter().take_while(|s| s.event == SETUP_CONSTANTS).count();
    let mut explanation = truths_along(rows, path.states.len(), setup);
    explanation.push(
        match (path.end, &one.formula) {
            (End::Loop(_), _) => "the last step closes the loop: the path goes round for ever",
            (End::Deadlock, _) => "the path ends in a deadlock",
            (End::Open, Logic::Ltl(_)) => "whatever follows, the formula is violated",
            (End::Open, Logic::Ctl(_)) => "the formula fails; the path shows it as far as one path can",
        }
        .to_string(),
    );
    Ok(Violation {
        kind: one.formula.word().to_string(),
        property: one.text.clone(),
        explanation,
        trace: steps,
        loop_start: match path.end {
            End::Loop(entry) => Some(entry + setup),
            End::Deadlock | End::Open => None,
        },
    })
}

/// Longer paths and larger formulas would hide the point.
const MAX_POSITIONS: usize = 40;
const MAX_ROWS: usize = 20;

/// A table of the sub-formulas and their truth after each step of the trace.
fn truths_along(rows: &[Row], positions: usize, setup: usize) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let shown = positions.min(MAX_POSITIONS);
    let width = (setup + shown).saturating_sub(1).to_string().len();
    let more = if positions > shown { " …" } else { "" };
    let line = |cells: &mut dyn Iterator<Item = String>, text: &str| {
        let cells: Vec<String> = cells.map(|c| format!("{c:>width$}")).collect();
        format!("{}{more}  {text}", cells.join(" "))
    };
    let mut lines = vec![line(&mut (setup..setup + shown).map(|i| i.to_string()), "after step")];
    // The whole formula stands last; it is the one to keep when there are too many.
    for row in &rows[rows.len().saturating_sub(MAX_ROWS)..] {
        let cells = row.truth.iter().take(shown).map(|t| match t {
            Truth::True => "T".to_string(),
            Truth::False => "F".to_string(),
            Truth::Unknown => "?".to_string(),
        });
        lines.push(line(&mut { cells }, &one_line(&row.formula)));
    }
    lines
}
