//! The encoder: typed formulas and substitutions become literals over a SAT solver.
//!
//! In: a typed machine, environments of terms. Out: for an expression a term and the literal of its being defined, for
//! a predicate the literals of its being true and of its being defined (docs/definedness.md), for a substitution its
//! outcome with the literals of its being possible and of what goes wrong in it.
//!
//! What the encoder does not understand becomes a fresh literal or a fresh leaf, and `weak` says so. A fresh literal may
//! take the true value of what it stands for, so every behaviour of the machine is a model of the clauses: UNSAT is a
//! proof, and a model is a candidate that the evaluator has to confirm. Never here: searches, verdicts.
//!
//! - `term` and `number`: values with literals in them.
//! - `expr`, `relation`, `images`, `sequence`, `member`, `pred`: formulas.
//! - `binder`: bindings of quantified variables; `leaf`: unknowns, confined by what is said of them.
//! - `witness`: values that make an existential formula true.
//! - `action`: substitutions; `flow`: calls and loops; `enabled`: whether a substitution has an outcome at all.

pub mod action;
mod binder;
mod enabled;
mod expr;
mod flow;
pub(crate) mod images;
mod leaf;
mod member;
pub mod number;
mod pred;
mod relation;
mod sequence;
pub mod term;
mod witness;

use crate::gates::Gates;
use crate::sat::{Batsat, Lit, Sat};
use bombus_base::budget::Budget;
use bombus_base::hash::HashMap;
use bombus_evaluate::Constants;
use bombus_lang::typed::{Expr, Machine, Pred, VarId};
use bombus_lang::{free, partiality};
use number::Atoms;
use std::collections::BTreeSet;
use std::sync::Arc;
use term::Term;

/// Bits of unlimited integers in the first look for a model.
pub const SMALL: usize = 9;
/// More variables of the solver than this are not made: what is left over is weak.
const VARIABLES: u32 = 12_000_000;

/// What an encoder is asked to do.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// Bits of unlimited integers.
    pub width: usize,
    /// Products of unlimited integers become unknowns, so that a small-model bound exists.
    pub free_products: bool,
    /// An undefined guard is a finding.
    pub strict_guards: bool,
    /// All valuations of the constants, where somebody has listed them.
    pub valuations: Option<Arc<[Constants]>>,
}

/// The truth of a predicate: `holds` counts only where `defined` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    pub holds: Lit,
    pub defined: Lit,
}

/// The value of a variable and the literal of its having one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    pub term: Term,
    pub set: Lit,
}

/// Values of variables, by their ids, now and before the enclosing `x:(P)` or loop.
#[derive(Clone, Debug)]
pub struct Env {
    slots: Vec<Option<Slot>>,
    old: Vec<Option<Slot>>,
}

impl Env {
    pub fn new(machine: &Machine) -> Env {
        Env { slots: vec![None; machine.vars.len()], old: vec![None; machine.vars.len()] }
    }

    pub fn get(&self, v: VarId) -> Option<&Slot> {
        self.slots.get(v.0 as usize)?.as_ref()
    }

    pub fn bind(&mut self, v: VarId, term: Term) {
        self.put(v, Some(Slot { term, set: Lit::TRUE }));
    }

    pub fn put(&mut self, v: VarId, slot: Option<Slot>) -> Option<Slot> {
        std::mem::replace(&mut self.slots[v.0 as usize], slot)
    }

    fn put_old(&mut self, v: VarId, slot: Option<Slot>) -> Option<Slot> {
        std::mem::replace(&mut self.old[v.0 as usize], slot)
    }

    /// `x$0` of every variable is the value it has now.
    pub fn remember(&mut self, vars: &[VarId]) {
        for v in vars {
            self.old[v.0 as usize] = self.slots[v.0 as usize].clone();
        }
    }
}

/// What stands for something that was not understood, by its place in the machine and the terms it reads.
type Key = (usize, Vec<Option<Slot>>);

pub struct Encoder<'m> {
    pub machine: &'m Machine,
    pub g: Gates,
    pub options: EncodeOptions,
    budget: Budget,
    /// Bits of unlimited integers.
    width: usize,
    /// The assumption that unlimited integers have few bits.
    pub small: Lit,
    pub atoms: Atoms,
    /// What was replaced by unknowns.
    pub weak: BTreeSet<String>,
    opaque: u32,
    stand_ins: HashMap<Key, Truth>,
    stand_in_terms: HashMap<Key, (Term, Lit)>,
    /// Functions that are being chosen among those with a value wherever they are applied: their applications do not
    /// count as undefined outside their domain.
    pub chosen: Vec<VarId>,
    /// One good binding is enough, so infinite types are sampled.
    sampling: bool,
    /// Some infinite type was sampled.
    sampled: bool,
    /// Witnesses of existential formulas, by their variables.
    witnesses: HashMap<Vec<VarId>, witness::Known>,
    /// How often the solver was asked for a witness.
    questions: usize,
    /// What a witness has to satisfy is being built.
    witnessing: bool,
}

impl<'m> Encoder<'m> {
    pub fn new(machine: &'m Machine, options: EncodeOptions, budget: &Budget) -> Encoder<'m> {
        Encoder::over(machine, options, budget, Box::new(Batsat::new()))
    }

    /// An encoder over a given solver.
    pub fn over(
        machine: &'m Machine,
        options: EncodeOptions,
        budget: &Budget,
        solver: Box<dyn Sat>,
    ) -> Encoder<'m> {
        let mut g = Gates::new(solver);
        let small = g.fresh();
        Encoder {
            machine,
            g,
            width: options.width,
            options,
            budget: budget.clone(),
            small,
            atoms: Atoms::default(),
            weak: BTreeSet::new(),
            opaque: 0,
            stand_ins: HashMap::default(),
            stand_in_terms: HashMap::default(),
            chosen: Vec::new(),
            sampling: false,
            sampled: false,
            witnesses: HashMap::default(),
            questions: 0,
            witnessing: false,
        }
    }

    fn weak(&mut self, what: String) {
        if self.weak.len() < 64 {
            self.weak.insert(what);
        }
    }

    /// Whether no more clauses should be made: the run has to end, or the solver holds too much already.
    fn is_full(&self) -> bool {
        self.g.sat.variables() > VARIABLES || self.budget.check().is_err()
    }

    /// A truth that nothing is known of.
    fn unknown(&mut self, may_be_undefined: bool) -> Truth {
        let holds = self.g.fresh();
        Truth { holds, defined: if may_be_undefined { self.g.fresh() } else { Lit::TRUE } }
    }

    fn key(&self, env: &Env, place: usize, free: &[VarId]) -> Key {
        (place, free.iter().map(|v| env.get(*v).cloned()).collect())
    }

    /// Literals for a predicate that is not understood; the same ones wherever it reads the same.
    fn opaque_pred(&mut self, env: &Env, p: &Pred, why: &str) -> Truth {
        let key = self.key(env, std::ptr::from_ref(p) as usize, &free::of_pred(p));
        // Values from before are not part of the key.
        let shared = !free::reads_old(p, None);
        if shared && let Some(known) = self.stand_ins.get(&key) {
            return *known;
        }
        self.weak(format!("{why} (byte {} of the text)", p.span.start));
        let truth = self.unknown(partiality::pred_may_be_undefined(p));
        self.stand_ins.insert(key, truth);
        truth
    }

    /// A term for an expression that is not understood.
    fn opaque_expr(&mut self, env: &Env, e: &Expr) -> (Term, Lit) {
        let free = free::of_expr(e);
        let key = self.key(env, std::ptr::from_ref(e) as usize, &free);
        let shared = free::reads_only(e, &|_| true);
        if shared && let Some(known) = self.stand_in_terms.get(&key) {
            return known.clone();
        }
        self.weak(format!(
            "an expression of type {} (byte {} of the text)",
            self.type_word(&e.ty),
            e.span.start
        ));
        let term = self.leaf_of(&e.ty);
        let defined = if partiality::may_be_undefined(e) { self.g.fresh() } else { Lit::TRUE };
        self.stand_in_terms.insert(key, (term.clone(), defined));
        (term, defined)
    }

    fn type_word(&self, ty: &bombus_lang::typed::Type) -> String {
        use bombus_lang::typed::Type;
        match ty {
            Type::Integer => "INTEGER".into(),
            Type::Bool => "BOOL".into(),
            Type::String => "STRING".into(),
            Type::Real => "REAL".into(),
            Type::Set(id) => self.machine.set(*id).name.to_string(),
            Type::Free(_) => "a free type".into(),
            Type::Pow(t) => format!("POW({})", self.type_word(t)),
            Type::Prod(a, b) => format!("({}*{})", self.type_word(a), self.type_word(b)),
            Type::Struct(_) => "a record".into(),
            Type::Any => "?".into(),
        }
    }

    /// What is known where `sure` holds, and unknown elsewhere.
    fn where_sure(&mut self, sure: Lit, truth: Truth) -> Truth {
        if sure == Lit::TRUE {
            return truth;
        }
        let other = self.unknown(true);
        Truth {
            holds: self.g.ite(sure, truth.holds, other.holds),
            defined: self.g.ite(sure, truth.defined, other.defined),
        }
    }

    /// True and defined.
    pub fn surely(&mut self, t: Truth) -> Lit {
        self.g.and(t.holds, t.defined)
    }

    /// False and defined.
    pub fn surely_not(&mut self, t: Truth) -> Lit {
        self.g.and(!t.holds, t.defined)
    }
}
