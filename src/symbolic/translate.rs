//! A machine as a transition system over gates, for engines that reason about single steps.
//!
//! In: a machine, what is checked. Out: `System`s of any width, all alike, and the small-model bound of their queries.
//! The cells of a state are the literals and integers of its terms, those of constants first. Elements that a set can
//! only have outside of what the invariant allows have no cell: a step that adds one is a finding. Never here: searches.

use super::encode::number::{Atoms, Num};
use super::encode::term::Term;
use super::encode::{EncodeOptions, Encoder, Env};
use super::integer::Integer;
use super::sat::{Lit, Sat};
use super::spelling::Spelling;
use super::system::{Atom, Cell, Cube, Moment, Part, Step, System, Translation};
use super::unroll::{Properties, with_constants};
use bombus_analyse::proof_info::ProofInfo;
use bombus_base::budget::Budget;
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::{Machine, Pred, VarId};
use bombus_lang::value::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a translation yields beside the system itself.
#[derive(Clone, Default)]
struct TranslationYield {
    atoms: Atoms,
    /// The numbers of integer cells at each moment, by the index of the cell.
    numbers: BTreeMap<Moment, BTreeMap<usize, Num>>,
    weak: BTreeSet<String>,
    /// Where each cell stands.
    places: Vec<(VarId, Vec<Place>)>,
    /// Questions about each level that are not asked.
    saved: u64,
}

pub struct Translated<'m> {
    machine: &'m Machine,
    wanted: Properties,
    options: EncodeOptions,
    budget: Budget,
    proven: Arc<ProofInfo>,
    shape: RefCell<TranslationYield>,
}

impl<'m> Translated<'m> {
    pub fn new(
        machine: &'m Machine,
        wanted: Properties,
        options: EncodeOptions,
        proven: &Arc<ProofInfo>,
        budget: &Budget,
    ) -> Translated<'m> {
        let proven = if wanted.invariant { proven.clone() } else { Arc::default() };
        Translated { machine, wanted, options, budget: budget.clone(), proven, shape: RefCell::default() }
    }

    /// Cubes that no state lies in, as predicates of B: one for each cube.
    pub fn excluded(&self, cubes: &[Cube]) -> Vec<String> {
        let shape = self.shape.borrow();
        let spelling = Spelling { machine: self.machine, places: &shape.places };
        cubes.iter().map(|cube| spelling.excluded(cube)).collect()
    }

    /// The questions about each level that proofs make superfluous.
    pub fn saved_per_level(&self) -> u64 {
        self.shape.borrow().saved
    }

    /// What the last translation replaced by unknowns.
    pub fn weak(&self) -> BTreeSet<String> {
        self.shape.borrow().weak.clone()
    }

    /// The rule behind the bound of the last translation.
    pub fn width_reason(&self) -> Option<(usize, &'static str)> {
        self.shape.borrow().atoms.width()
    }

    /// No state shows a finding by itself, deadlocks left aside. After an event only what is not proven to be so counts.
    fn property(&self, enc: &mut Encoder, state: &Env, after: Option<usize>) -> Lit {
        let mut env = state.clone();
        let mut all = Vec::new();
        let machine = self.machine;
        let conjuncts = machine.invariant.iter().enumerate().filter(|_| self.wanted.invariant);
        for (i, c) in conjuncts {
            if !after.is_some_and(|event| self.proven.keeps(event, i)) {
                let t = enc.pred(&mut env, &c.pred);
                all.push(enc.surely(t));
            }
        }
        for (i, c) in machine.assertions.iter().enumerate().filter(|_| self.wanted.assertions) {
            if !(after.is_some() && self.proven.follows(i)) {
                let t = enc.pred(&mut env, &c.pred);
                all.push(enc.surely(t));
            }
        }
        if let Some(goal) = &machine.goal {
            let t = enc.pred(&mut env, goal);
            all.push(!enc.surely(t));
            if pred_may_be_undefined(goal) {
                all.push(t.defined);
            }
        }
        enc.g.and_all(&all)
    }

    fn deadlock(&self, enc: &mut Encoder, state: &Env) -> Lit {
        if !self.wanted.deadlock || self.proven.is_never_stuck() {
            return Lit::FALSE;
        }
        let mut none = Vec::new();
        for op in &self.machine.events {
            none.push(!enc.enabled(state, *op));
        }
        enc.g.and_all(&none)
    }

    fn cells(&self, env: &Env) -> Vec<Piece> {
        let vars: Vec<VarId> =
            self.machine.constants.iter().chain(&self.machine.variables).copied().collect();
        let mut out = Vec::new();
        for v in vars {
            if let Some(slot) = env.get(v) {
                flatten(v, &slot.term, &mut Vec::new(), &mut out);
            }
        }
        out
    }

    /// The cells of another moment, in the order of the cells of the current state.
    fn like(&self, enc: &mut Encoder, cells: &[Piece], env: &Env, inputs: &mut Vec<Lit>) -> Vec<Piece> {
        cells
            .iter()
            .map(|cell| {
                let term = env.get(cell.var).map(|s| s.term.clone());
                let by_images = matches!(cell.place.first(), Some(Place::Argument(_) | Place::Image(_)));
                let term = match term {
                    Some(t) if by_images => enc.images_of(&t).map(|images| Term::Images(Arc::new(images))),
                    term => term,
                };
                let found = term.and_then(|t| at_place(&t, &cell.place));
                let what = match (found, &cell.what) {
                    (Some(what), _) => what,
                    (None, What::Bit(_)) => {
                        let lit = enc.g.fresh();
                        inputs.push(lit);
                        What::Bit(lit)
                    }
                    (None, What::Number(_)) => {
                        let number = enc.num_limited();
                        inputs.extend(number.integer().bits());
                        What::Number(number)
                    }
                };
                Piece { what, ..cell.clone() }
            })
            .collect()
    }
}

impl Translation for Translated<'_> {
    fn system(&self, width: usize, solver: Box<dyn Sat>) -> System {
        let machine = self.machine;
        let options = EncodeOptions { width, ..self.options.clone() };
        let mut enc = Encoder::over(machine, options, &self.budget, solver);
        let constants = with_constants(&mut enc);
        let mut state = constants.clone();
        let invariant: Vec<&Pred> = match self.wanted.invariant {
            true => machine.invariant.iter().map(|c| &c.pred).collect(),
            false => Vec::new(),
        };
        enc.bind_leaves(&mut state, &machine.variables, &invariant);
        state.remember(&machine.variables);
        let cells = self.cells(&state);
        let property = self.property(&mut enc, &state, None);
        let bad_state = self.deadlock(&mut enc, &state);
        let mut numbers = BTreeMap::from([(Moment::Current, numbers_of(&cells))]);

        let begin = enc.initialisation(&constants);
        let cannot = !enc.can_begin(&constants);
        let mut steps = vec![(Moment::Initial, begin, cannot)];
        for (i, op) in machine.events.iter().enumerate() {
            steps.push((Moment::After(i), enc.event(&state, *op), Lit::FALSE));
        }
        let mut made = Vec::new();
        let mut saved = u64::from(self.wanted.deadlock && self.proven.is_never_stuck());
        for (moment, outcome, also_bad) in steps {
            let mut next = constants.clone();
            for v in &machine.variables {
                next.put(*v, outcome.env.get(*v).cloned());
            }
            next.remember(&machine.variables);
            let mut inputs: Vec<Lit> = outcome.notes.branches.clone();
            for (_, v, term) in &outcome.notes.choices {
                let mut parts = Vec::new();
                flatten(*v, term, &mut Vec::new(), &mut parts);
                for part in parts {
                    match part.what {
                        What::Bit(l) => inputs.push(l),
                        What::Number(n) => inputs.extend(n.integer().bits()),
                    }
                }
            }
            inputs.retain(|l| !l.is_constant());
            let after = self.like(&mut enc, &cells, &next, &mut inputs);
            let event = match moment {
                Moment::After(event) => Some(event),
                _ => None,
            };
            let kept = self.property(&mut enc, &next, event);
            let broken = enc.g.and(outcome.taken, !kept);
            let faultless = event.is_some_and(|e| self.proven.is_faultless(e));
            let fault = if faultless { Lit::FALSE } else { outcome.fault };
            let bad = enc.g.or_all(&[broken, fault, also_bad]);
            if event.is_some() && bad == Lit::FALSE && !self.proven.is_empty() {
                let whole = self.property(&mut enc, &next, None);
                let without = enc.g.and(outcome.taken, !whole);
                saved += u64::from(without != Lit::FALSE || outcome.fault != Lit::FALSE);
            }
            numbers.insert(moment, numbers_of(&after));
            made.push(Step {
                taken: outcome.taken,
                bad,
                next: after.into_iter().map(Piece::cell).collect(),
                inputs,
            });
        }
        let init = made.remove(0);
        let integers: Vec<usize> = numbers[&Moment::Current].keys().copied().collect();
        let variables = cells.len() - cells.iter().filter(|c| machine.constants.contains(&c.var)).count();
        let places = cells.iter().map(|c| (c.var, c.place.clone())).collect();
        *self.shape.borrow_mut() =
            TranslationYield { atoms: enc.atoms.clone(), numbers, weak: enc.weak.clone(), places, saved };
        let cells = cells.into_iter().map(Piece::cell).collect();
        let mut system = System::new(enc.g, cells, init, made, property);
        system.bad_state = bad_state;
        // Few integers: all of them may be related.
        if variables > 0 && integers.len() <= RELATED {
            for (i, a) in integers.iter().enumerate() {
                system.pairs.extend(integers[i + 1..].iter().map(|b| (*a, *b)));
            }
        }
        system
    }

    fn bound(&self, _: Part, invariant: &[Cube]) -> Option<usize> {
        let mut shape = self.shape.borrow().clone();
        let constant = |c: &dashu_int::IBig| Num::constant(c);
        for cells in shape.numbers.values() {
            for fact in invariant.iter().flatten() {
                match &fact.atom {
                    Atom::Bit(_) => {}
                    Atom::AtMost(x, c) => {
                        shape.atoms.note(cells.get(x)?, &constant(c));
                    }
                    Atom::Difference(x, y, c) => {
                        let difference = cells.get(x)?.minus(cells.get(y)?);
                        shape.atoms.note(&difference?, &constant(c));
                    }
                }
            }
        }
        shape.atoms.width().map(|(bits, _)| bits)
    }
}

/// Cubes hold differences of integers if there are no more than this.
const RELATED: usize = 6;

/// A literal or number of a term.
#[derive(Clone)]
enum What {
    Bit(Lit),
    Number(Num),
}

/// Where a literal stands in the term of a variable.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Second,
    Field(usize),
    /// Whether the term is this value, or has this element.
    Value(Value),
    /// Whether this is an argument of the function.
    Argument(Value),
    /// The image of this argument, which is in the domain in every state.
    Image(Value),
}

#[derive(Clone)]
struct Piece {
    var: VarId,
    place: Vec<Place>,
    what: What,
}

impl Piece {
    fn cell(self) -> Cell {
        match self.what {
            What::Bit(l) => Cell::Bit(l),
            What::Number(n) => Cell::Integer(n.integer().clone()),
        }
    }
}

fn numbers_of(cells: &[Piece]) -> BTreeMap<usize, Num> {
    let number = |(i, c): (usize, &Piece)| match &c.what {
        What::Number(n) => Some((i, n.clone())),
        What::Bit(_) => None,
    };
    cells.iter().enumerate().filter_map(number).collect()
}

fn flatten(var: VarId, term: &Term, place: &mut Vec<Place>, out: &mut Vec<Piece>) {
    match term {
        Term::Bool(l) => out.push(Piece { var, place: place.clone(), what: What::Bit(*l) }),
        Term::Int(n) => out.push(Piece { var, place: place.clone(), what: What::Number(n.clone()) }),
        Term::Choice(choices) => {
            for (v, l) in choices.iter() {
                let mut at = place.clone();
                at.push(Place::Value(v.clone()));
                out.push(Piece { var, place: at, what: What::Bit(*l) });
            }
        }
        Term::Set(rows) => {
            for (v, l) in rows.iter() {
                let mut at = place.clone();
                at.push(Place::Value(v.clone()));
                out.push(Piece { var, place: at, what: What::Bit(*l) });
            }
        }
        Term::Pair(p) => {
            for (step, part) in [(Place::First, &p.0), (Place::Second, &p.1)] {
                place.push(step);
                flatten(var, part, place, out);
                place.pop();
            }
        }
        Term::Rec(parts) => {
            for (i, part) in parts.iter().enumerate() {
                place.push(Place::Field(i));
                flatten(var, part, place, out);
                place.pop();
            }
        }
        Term::Images(images) => {
            for (v, (l, image)) in images.iter() {
                if *l == Lit::TRUE {
                    place.push(Place::Image(v.clone()));
                    flatten(var, image, place, out);
                } else {
                    place.push(Place::Argument(v.clone()));
                    out.push(Piece { var, place: place.clone(), what: What::Bit(*l) });
                }
                place.pop();
            }
        }
        Term::Opaque(_) => {}
    }
}

/// What stands at a place of a term; `None` where the term is not known there.
fn at_place(term: &Term, place: &[Place]) -> Option<What> {
    match (term, place) {
        (Term::Bool(l), []) => Some(What::Bit(*l)),
        (Term::Int(n), []) => Some(What::Number(n.clone())),
        (Term::Choice(choices), [Place::Value(v)]) => {
            Some(What::Bit(choices.iter().find(|(w, _)| w == v).map_or(Lit::FALSE, |(_, l)| *l)))
        }
        (Term::Set(rows), [Place::Value(v)]) => Some(What::Bit(rows.get(v).copied().unwrap_or(Lit::FALSE))),
        (Term::Pair(p), [Place::First, rest @ ..]) => at_place(&p.0, rest),
        (Term::Pair(p), [Place::Second, rest @ ..]) => at_place(&p.1, rest),
        (Term::Rec(parts), [Place::Field(i), rest @ ..]) => at_place(parts.get(*i)?, rest),
        (Term::Images(images), [Place::Argument(v)]) => {
            Some(What::Bit(images.get(v).map_or(Lit::FALSE, |(l, _)| *l)))
        }
        (Term::Images(images), [Place::Image(v), rest @ ..]) => at_place(&images.get(v)?.1, rest),
        _ => None,
    }
}

impl Num {
    fn constant(value: &dashu_int::IBig) -> Num {
        Num::known_as(Integer::constant(value.clone()))
    }
}
