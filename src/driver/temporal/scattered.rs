//! Temporal formulas where the graph is too large for one machine: each is decided on what trimming leaves of it.
//!
//! In: the piece of the graph that this machine has, the formulas. Out: on the first machine verdicts and counterexamples, on the
//! others nothing of use: they take part, and hear the verdicts afterwards. Never here: how a graph is trimmed (`ltl::scattered`), how
//! what is left is gathered (`explore`).

use super::typing::Pieces;
use super::{Checked, Decided, Execution, Formulas, Logic, One, Truths, chance, decide, walked};
use crate::base::budget::Budget;
use crate::driver::Certificate;
use crate::explore::{Broken, Piece, Rest, TooLarge, swap};
use crate::graph::Graph;
use crate::ltl::check::{NOT_EVALUATED, NOT_EXPLORED};
use crate::ltl::frozen::Frozen;
use crate::ltl::path::Path;
use crate::ltl::scattered::{Letters, Others, Part, RECORD, Trimmed, Vocabulary};
use crate::ltl::{self, Checker};
use crate::program::Program;
use crate::report::Ledger;

/// Why a formula is not decided on a graph that is too large.
pub(super) fn does_not_fit(what: &str, size: &TooLarge) -> String {
    let TooLarge { states, transitions, bytes } = size;
    format!(
        "{what} of {states} states and {transitions} transitions, about {} MB, does not fit on one machine, and \
         temporal formulas are decided there",
        bytes.div_ceil(1 << 20)
    )
}

/// The machines that have the other pieces, as trimming sees them.
struct Across<'a>(&'a Piece);

impl Others for Across<'_> {
    type Broken = Broken;

    fn swap(&self, letters: Letters, said: Vec<u8>) -> Result<(Letters, Letters), Broken> {
        swap(self.0.peers(), letters, RECORD, said)
    }

    fn wrong(&self, what: &str) -> Broken {
        Broken::Wrong(what.into())
    }
}

/// What is known of a formula after trimming, on this machine.
enum Left {
    Nothing,
    /// What the first machine has to look at, the room it takes, and the letters of the whole graph.
    Here(Box<Graph>, u64, Vocabulary),
    /// The first machine looks.
    Elsewhere,
    Undecided(String),
}

/// Decides every formula on a graph of which each machine has a piece, and which is too large as a whole. All machines call this at
/// the same point; only the first one learns the verdicts.
pub(super) fn check(
    program: &Program,
    (piece, size): (&Piece, &TooLarge),
    formulas: &Formulas,
    ledger: &mut Ledger,
    (budget, certificate): (&Budget, &Certificate),
) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for one in &formulas.list {
        let left = trimmed(program, (piece, size), (one, formulas), budget);
        let (left, chance) = match left.and_then(|left| Ok((left, chance_of(one, piece)?))) {
            Ok(left) => left,
            Err(Broken::Wrong(what)) => return Err(what),
            Err(Broken::Lost) => {
                let lost = piece.peers().lost();
                let lost = lost.map_or("a machine".into(), |lost| format!("{} ({})", lost.name, lost.why));
                ledger.enter(format!("lost {lost} before formulas were decided"));
                checked.verdicts = formulas.undecided();
                return Ok(checked);
            }
        };
        let own = (one, &formulas.pieces, certificate);
        let nowhere = |_: &Path| Err("there is no graph".to_string());
        let mut enter = |decided: Decided, show: &dyn Fn(&Path) -> Result<Execution, String>| {
            let decided = match decided {
                // Paths may start in an initial state that could not be computed.
                Decided::Holds if !piece.graph.all_initial => Decided::Incomplete(vec![NOT_EXPLORED.into()]),
                decided => decided,
            };
            if matches!(decided, Decided::Holds) {
                checked.chance = checked.chance.max(chance);
            }
            checked.enter(program, own, decided, show, ledger)
        };
        match left {
            Left::Nothing => enter(Decided::Holds, &nowhere)?,
            Left::Elsewhere => checked.verdicts.push(one.verdict("incomplete")),
            Left::Undecided(why) => enter(Decided::Incomplete(vec![why]), &nowhere)?,
            Left::Here(graph, claimed, letters) => {
                let frozen = Frozen::new(&graph);
                let decided =
                    on_the_rest(program, (&graph, &frozen), (one, &formulas.pieces, letters), budget);
                enter(decided, &|path: &Path| walked(&graph, &frozen, path))?;
                piece.give_back(claimed);
            }
        }
    }
    Ok(checked)
}

/// The chance that two labels of transitions on all machines are equal by accident, if that matters to the formula. All machines
/// call this at the same point.
fn chance_of(one: &One, piece: &Piece) -> Result<f64, Broken> {
    if !one.tells_instances() {
        return Ok(0.0);
    }
    let nobody = vec![Vec::new(); piece.shown.len()];
    let (_, heard) = Across(piece).swap(nobody, chance::hashed(&piece.graph).to_le_bytes().into())?;
    let number = |said: &Vec<u8>| said.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let hashed: Option<u64> = heard.iter().map(number).sum();
    let wrong = || Broken::Wrong("the number of labels of a machine cannot be read".into());
    Ok(chance::of_hashed(hashed.ok_or_else(wrong)?))
}

/// Decides a formula on what is left of the graph. Everything that is not there lies on no path that refutes the formula, so that
/// it holds if nothing that is there refutes it and all truths are known there.
fn on_the_rest(
    program: &Program,
    (graph, frozen): (&Graph, &Frozen),
    (one, pieces, letters): (&One, &Pieces, Vocabulary),
    budget: &Budget,
) -> Decided {
    let truths = Truths::new(program, graph, pieces, budget);
    let mut checker = Checker::new(frozen, &truths, budget).with_letters(letters);
    match decide(&mut checker, one) {
        // What shows that a CTL formula fails is there; nothing shows that it holds.
        Decided::Incomplete(reasons) if reasons == [NOT_EXPLORED] && one.is_linear() => {
            match checker.knows_all(graph.told()) {
                true => Decided::Holds,
                false => Decided::Incomplete(vec![NOT_EVALUATED.into()]),
            }
        }
        decided => decided,
    }
}

/// Trims the graph for a formula and gathers what is left.
fn trimmed(
    program: &Program,
    (piece, size): (&Piece, &TooLarge),
    (one, formulas): (&One, &Formulas),
    budget: &Budget,
) -> Result<Left, Broken> {
    let whole = |why: &str| Ok(Left::Undecided(format!("{}: {why}", does_not_fit("the graph", size))));
    match &one.formula {
        Logic::Ltl(_) if formulas.engine != ltl::Engine::Automaton => {
            return whole("only the automaton decides a formula on a part of it");
        }
        Logic::Ltl(formula) if formula.features().quantified => {
            return whole("what the formula says of all elements is decided on the whole of it");
        }
        _ => {}
    }
    let frozen = Frozen::new(&piece.graph);
    let truths = Truths::new(program, &piece.graph, &formulas.pieces, budget);
    let across = Across(piece);
    let part = Part { own: piece.own, foreign: &piece.foreign, shown: &piece.shown, others: &across };
    let mut checker = Checker::new(&frozen, &truths, budget);
    let trimmed = match &one.formula {
        Logic::Ltl(formula) => checker.trim(formula, &part)?,
        Logic::Ctl(formula) => checker.trim_ctl(formula, &part)?,
    };
    let (states, letters) = match trimmed {
        Trimmed::Nothing => return Ok(Left::Nothing),
        Trimmed::Not(why) => return whole(&why),
        Trimmed::Left(states, letters) => (states, letters),
    };
    Ok(match piece.gather(program, |node| states.contains(node as usize))? {
        Rest::Here(graph, claimed) => Left::Here(graph, claimed, letters),
        Rest::Elsewhere => Left::Elsewhere,
        Rest::TooLarge(size) => Left::Undecided(does_not_fit("what is left of the graph", &size)),
        Rest::Unsent => Left::Undecided("a state cannot be sent to another machine".into()),
    })
}
