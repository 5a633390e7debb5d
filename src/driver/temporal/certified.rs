//! Temporal formulas as a checker of certificates reads them.
//!
//! In: formulas with their typed pieces. Out: JSON, an array that begins with the operator; predicates in the core
//! language, operations by their names there. A formula with a part that the checker does not know is told by name.
//! Never here: truth.

use super::typing::{Part, Pieces};
use super::{Formulas, Logic, One};
use crate::driver::judge;
use crate::lang::typed::Machine;
use crate::ltl::formula::{Atom, Binary, Formula, Kind, Pattern};
use crate::ltl::path::End;
use serde_json::{Value as Json, json};

/// Why a formula is not certified.
type Unknown = String;

/// The formulas that a certificate covers, and what it does not cover.
pub fn claims(formulas: &Formulas, machine: &Machine) -> (Vec<Json>, Vec<String>) {
    let (mut covered, mut left) = (Vec::new(), Vec::new());
    for one in &formulas.list {
        match formula_of(one, &formulas.pieces, machine) {
            Ok(json) => covered.push(json!({"text": one.text, "formula": json})),
            Err(why) => left.push(format!("{}: {why}", one.called())),
        }
    }
    (covered, left)
}

/// A path that breaks a formula, in addition to its steps.
pub fn broken(
    (one, pieces): (&One, &Pieces),
    machine: &Machine,
    path: &[judge::Stop],
    end: End,
) -> Result<Json, Unknown> {
    let mut json = judge::path_json(machine, path)?;
    json["text"] = json!(one.text);
    json["formula"] = formula_of(one, pieces, machine)?;
    json["end"] = match end {
        End::Loop(entry) => json!(entry),
        End::Deadlock => json!("deadlock"),
        End::Open => json!("open"),
    };
    Ok(json)
}

fn formula_of(one: &One, pieces: &Pieces, machine: &Machine) -> Result<Json, Unknown> {
    match &one.formula {
        Logic::Ltl(f) => Translation { pieces, machine }.formula(f),
        Logic::Ctl(_) => Err("CTL is not certified".into()),
    }
}

struct Translation<'a> {
    pieces: &'a Pieces,
    machine: &'a Machine,
}

impl Translation<'_> {
    fn formula(&self, f: &Formula) -> Result<Json, Unknown> {
        Ok(match &f.kind {
            Kind::Constant(b) => json!([b.to_string()]),
            Kind::Atom(atom) => self.atom(atom)?,
            Kind::Unary(op, f) => {
                json!([op.word(), self.formula(f)?])
            }
            Kind::Binary(op, f, g) => {
                // The certificate's own word; all others are those of the formula.
                let word = if *op == Binary::And { "and" } else { op.word() };
                json!([word, self.formula(f)?, self.formula(g)?])
            }
            Kind::Quantified { .. } => return Err("a quantifier over a formula is not certified".into()),
            Kind::Fair(..) => return Err("fairness is not certified".into()),
        })
    }

    fn atom(&self, atom: &Atom) -> Result<Json, Unknown> {
        Ok(match atom {
            Atom::Predicate(text) => match self.pieces.places.get(&text.span).map(|t| &t.part) {
                Some(Part::Observed(n)) => self.predicate(*n)?,
                _ => return Err("a predicate with a quantified variable is not certified".into()),
            },
            Atom::Goal => self.predicate(self.pieces.goal.ok_or("there is no goal")?)?,
            Atom::Deadlock => json!(["deadlock"]),
            Atom::Enabled(p) => json!(["enabled", self.event(p)?]),
            Atom::Executed(p) => json!(["executed", self.event(p)?]),
            Atom::NoneEnabled(list) => {
                let mut all = json!(["true"]);
                for p in list {
                    all = json!(["and", all, ["not", ["enabled", self.event(p)?]]]);
                }
                all
            }
            other => return Err(format!("{other} is not certified")),
        })
    }

    fn predicate(&self, observed: usize) -> Result<Json, Unknown> {
        Ok(json!(["pred", judge::pred_text(self.machine, &self.pieces.observed[observed])?]))
    }

    fn event(&self, p: &Pattern) -> Result<String, Unknown> {
        if !p.is_plain() {
            return Err("arguments of an operation are not certified".into());
        }
        let named = |op: &crate::lang::typed::OpId| *self.machine.op(*op).name == *p.operation.text;
        let at = self.machine.events.iter().position(named).ok_or("an operation that is no event")?;
        Ok(judge::event_name(self.machine, at))
    }
}
