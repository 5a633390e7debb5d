//! Formulas of linear temporal logic as certificates spell them, and their truth at one position.
//!
//! In: JSON, an array that begins with the operator. Out: a list of sub-formulas, operands before operators; and the
//! truth of all of them at a position, given the atoms there and what is known of the position before and after.
//! Paths are maximal: infinite, or finite and ending in a deadlock, where `X f` and `[op]` are false.
//! Never here: graphs, paths.

use bombus_oracle::text::read;
use bombus_oracle::tree::Pred;
use serde_json::Value as Json;

/// A sub-formula; operands are numbers of earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Const(bool),
    /// A predicate, by its number.
    Pred(usize),
    Enabled(usize),
    /// The next step is one of this event.
    Executed(usize),
    Deadlock,
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    WeakUntil(usize, usize),
    Release(usize, usize),
    Yesterday(usize),
    Since(usize, usize),
    Trigger(usize, usize),
}

/// A formula: its sub-formulas, and which of them is the whole.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    pub ops: Vec<Op>,
    pub root: usize,
    pub preds: Vec<Pred>,
}

/// The most sub-formulas.
const MOST: usize = 60;

impl Formula {
    /// Reads a formula about events with these names.
    pub fn read(json: &Json, events: &[String]) -> Result<Formula, String> {
        let mut formula = Formula::default();
        formula.root = formula.node(json, events)?;
        if formula.ops.len() > MOST {
            Err(format!("a formula has more than {MOST} parts"))
        } else {
            Ok(formula)
        }
    }

    fn push(&mut self, op: Op) -> usize {
        if let Some(known) = self.ops.iter().position(|o| *o == op) {
            return known;
        }
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// The depth of the recursion is limited by the reader of JSON.
    fn node(&mut self, json: &Json, events: &[String]) -> Result<usize, String> {
        let parts = json.as_array().map(Vec::as_slice).unwrap_or_default();
        let word = parts.first().and_then(Json::as_str).unwrap_or_default();
        let text = || parts.get(1).and_then(Json::as_str).ok_or_else(|| format!("{word} needs a text"));
        let event = || {
            let name = text()?;
            events.iter().position(|e| e == name).ok_or_else(|| format!("there is no event {name}"))
        };
        let op = match (word, parts) {
            ("true" | "false", [_]) => Op::Const(word == "true"),
            ("deadlock", [_]) => Op::Deadlock,
            ("enabled", [_, _]) => Op::Enabled(event()?),
            ("executed", [_, _]) => Op::Executed(event()?),
            ("pred", [_, _]) => {
                self.preds.push(read(text()?)?);
                Op::Pred(self.preds.len() - 1)
            }
            (_, [_, f]) => {
                let a = self.node(f, events)?;
                match word {
                    "not" => Op::Not(a),
                    "X" => Op::Next(a),
                    "Y" => Op::Yesterday(a),
                    "F" => Op::Until(self.push(Op::Const(true)), a),
                    "G" => Op::Release(self.push(Op::Const(false)), a),
                    "O" => Op::Since(self.push(Op::Const(true)), a),
                    "H" => Op::Trigger(self.push(Op::Const(false)), a),
                    _ => return Err(format!("the operator {word} is not known")),
                }
            }
            (_, [_, f, g]) => {
                let (a, b) = (self.node(f, events)?, self.node(g, events)?);
                match word {
                    "and" => Op::And(a, b),
                    "or" => Op::Or(a, b),
                    "=>" => Op::Or(self.push(Op::Not(a)), b),
                    "<=>" => {
                        let (x, y) = (self.push(Op::Not(a)), self.push(Op::Not(b)));
                        let (x, y) = (self.push(Op::Or(x, b)), self.push(Op::Or(y, a)));
                        Op::And(x, y)
                    }
                    "U" => Op::Until(a, b),
                    "W" => Op::WeakUntil(a, b),
                    "R" => Op::Release(a, b),
                    "S" => Op::Since(a, b),
                    "T" => Op::Trigger(a, b),
                    _ => return Err(format!("the operator {word} is not known")),
                }
            }
            _ => return Err(format!("{json} is no formula")),
        };
        Ok(self.push(op))
    }
}

/// Truth, falsehood, or neither known.
pub type Truth = Option<bool>;

pub fn and(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

pub fn or(a: Truth, b: Truth) -> Truth {
    and(a.map(|a| !a), b.map(|b| !b)).map(|c| !c)
}

impl Op {
    /// The truth of this sub-formula at a position. `of` gives the truth of operands there, `atom` that of atoms;
    /// `later` and `earlier` the truth of a sub-formula one position on and one back, or beyond the end of the path.
    pub fn truth(
        &self,
        own: usize,
        of: &dyn Fn(usize) -> Truth,
        atom: &dyn Fn(&Op) -> Truth,
        later: &dyn Fn(usize, bool) -> Truth,
        earlier: &dyn Fn(usize, bool) -> Truth,
    ) -> Truth {
        match self {
            Op::Const(b) => Some(*b),
            Op::Pred(_) | Op::Enabled(_) | Op::Executed(_) | Op::Deadlock => atom(self),
            Op::Not(a) => of(*a).map(|a| !a),
            Op::And(a, b) => and(of(*a), of(*b)),
            Op::Or(a, b) => or(of(*a), of(*b)),
            Op::Next(a) => later(*a, false),
            Op::Until(a, b) => or(of(*b), and(of(*a), later(own, false))),
            Op::WeakUntil(a, b) => or(of(*b), and(of(*a), later(own, true))),
            Op::Release(a, b) => and(of(*b), or(of(*a), later(own, true))),
            Op::Yesterday(a) => earlier(*a, false),
            Op::Since(a, b) => or(of(*b), and(of(*a), earlier(own, false))),
            Op::Trigger(a, b) => and(of(*b), or(of(*a), earlier(own, true))),
        }
    }
}
