//! Reading the temporal formulas of a run.
//!
//! In: formulas of the command line, of a file and of the model's definitions. Out: formulas that are well-formed
//! and whose names and types are right, or every fault of all of them. Never here: what a formula comes to.

use super::typing::Typing;
use super::{Formulas, Logic, One, always};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::span::Span;
use crate::driver::{CheckOptions, Engine, Rejected, one_line};
use crate::explore::Store;
use crate::lang::typed::TemporalAssertion;
use crate::ltl::atoms::{Faults, Table};
use crate::ltl::ground::Property;
use crate::ltl::view::Explicit;
use crate::ltl::{self, Checker, Place, parse_ctl, parse_ltl, pattern};
use crate::model::Model;

/// Reads and types all formulas of a run; the faults of all of them reject it.
pub fn read(model: &mut Model, sources: &mut Sources, options: &CheckOptions) -> Result<Formulas, Rejected> {
    let asked = &options.temporal;
    let refuse = |sources: &Sources, message: &str| {
        Err(Rejected { sources: sources.clone(), diagnostics: vec![Diagnostic::plain(message)] })
    };
    if !asked.is_empty() && !matches!(options.engine, Engine::Explicit | Engine::Bdd) {
        return refuse(sources, "temporal formulas are checked by the engines explicit and bdd only");
    }
    let mut reader = Reader::default();
    for text in &asked.ltl {
        let file = sources.add("<ltl>", None, text.as_str());
        reader.ltl(None, text, Place { file, offset: 0 });
    }
    if let Some((name, text)) = &asked.ltl_file
        && !reader.file(name, text, sources)
    {
        return refuse(sources, &format!("--ltl-file: there is no formula in {name}"));
    }
    if asked.assertions {
        let machine = &model.machine;
        // What was meant to be checked must not be passed over in silence.
        for a in &machine.doubtful_assertions {
            reader.faults.push(if a.formula.is_empty() {
                Diagnostic::error(a.span, format!("the temporal assertion `{}` is no string", a.name))
                    .help(format!("write {} == \"formula\"", a.name))
            } else {
                Diagnostic::error(a.span, format!("`{}` is not the name of a temporal assertion", a.name))
                    .help("formulas are defined as ASSERT_LTL… or ASSERT_CTL…; rename it to have it checked or left")
            });
        }
        let doubtful = !machine.doubtful_assertions.is_empty();
        if !doubtful && machine.ltl.is_empty() && machine.ctl.is_empty() {
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
    let Reader { mut list, mut warnings, mut faults } = reader;
    let typing = Typing::new(model);
    for one in &list {
        if let Err(more) = typed(&one.formula, &typing) {
            faults.extend(more);
        }
    }
    let mut pieces = typing.finish();
    if faults.is_empty() {
        warnings.append(&mut pieces.warnings);
        for one in &mut list {
            if let (Logic::Ltl(formula), ltl::Engine::Automaton) = (&one.formula, asked.engine) {
                one.always = always::predicate(formula, &pieces).map(|pred| pieces.observe(pred));
            }
        }
        let formulas = Formulas { list, pieces, warnings, engine: asked.engine };
        if formulas.need_graph() && options.store != Store::Exact {
            return refuse(sources, "temporal formulas need the states themselves: use --store exact");
        }
        Ok(formulas)
    } else {
        Err(Rejected { sources: sources.clone(), diagnostics: faults })
    }
}

#[derive(Default)]
pub struct Reader {
    pub list: Vec<One>,
    pub warnings: Vec<Diagnostic>,
    pub faults: Vec<Diagnostic>,
}

impl Reader {
    pub fn ltl(&mut self, name: Option<String>, text: &str, place: Place) {
        match parse_ltl(text, place) {
            Ok(parsed) => {
                self.warnings.extend(parsed.warnings);
                self.list.push(One {
                    name,
                    text: one_line(text),
                    formula: Logic::Ltl(parsed.formula),
                    always: None,
                });
            }
            Err(faults) => self.faults.extend(faults),
        }
    }

    pub fn ctl(&mut self, name: Option<String>, text: &str, place: Place) {
        match parse_ctl(text, place) {
            Ok(parsed) => {
                self.warnings.extend(parsed.warnings);
                self.list.push(One {
                    name,
                    text: one_line(text),
                    formula: Logic::Ctl(parsed.formula),
                    always: None,
                });
            }
            Err(faults) => self.faults.extend(faults),
        }
    }

    /// The formulas of a file, with the patterns it defines; whether there was any.
    pub fn file(&mut self, name: &str, text: &str, sources: &mut Sources) -> bool {
        let file = sources.add(name, None, text);
        let formulas = match pattern::read(text) {
            Ok(formulas) => formulas,
            Err(faults) => {
                let shown = |f: pattern::Fault| Diagnostic::error(Span::new(file, f.start, f.end), f.message);
                self.faults.extend(faults.into_iter().map(shown));
                return true;
            }
        };
        for f in &formulas {
            let place = if f.expanded == f.written {
                Place { file, offset: f.offset }
            } else {
                let called = format!("<{name}: {}>", one_line(&f.written));
                Place { file: sources.add(called, None, f.expanded.as_str()), offset: 0 }
            };
            let before = self.list.len();
            self.ltl(None, &f.expanded, place);
            self.list[before..].iter_mut().for_each(|one| one.text = one_line(&f.written));
        }
        !formulas.is_empty()
    }
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
