//! The compiled model: layouts, register code, query plans, and the `System` they make.
//!
//! In: `model::typed::Machine`. Out: `Program`, which the explorer drives through `system::System`.
//! Never here: who visits a state when, how results are shown.
//!
//! The way of a model: `promise` reads ranges off the invariant, `state` packs the variables, `plan`
//! orders conjuncts, `lower` makes register code (`ir`), `exec` runs it, as machine code (`native`) if
//! that is worth it; whatever has no code or no place goes to the interpreter through `exact`.
#![forbid(unsafe_code)]

mod agreement;
mod batched_tests;
pub mod bits;
pub mod carrier;
mod checks;
mod chosen_layouts;
pub mod compile;
mod constant_assertions;
pub mod effects;
mod entry_filter;
pub mod exact;
pub mod exec;
mod fallback;
pub mod footprints;
mod host;
pub mod invariant_ranges;
pub mod ir;
mod keys;
pub mod label;
pub mod layout;
pub mod lower;
pub mod memo;
mod messages;
mod mirror;
pub mod native;
pub mod observe;
mod op_effects;
pub mod plan;
pub mod pool;
pub mod reduction;
mod refine_relations;
pub mod relation_text;
pub mod room;
mod saved;
mod spelling;
pub mod state;
pub mod symmetry;
pub mod system;
mod transitions;
pub mod tray;
pub mod uses;
pub mod validate;
mod wide_ops;
mod window;
mod wire;

pub use constant_assertions::Late;
pub use keys::{Keys, Spell, Speller};
pub use reduction::{Preserved, Reduction};
pub use system::{Program, Worker};

use bombus_analyse::proof_info::ProofInfo;
use bombus_base::budget::{Budget, Stop};
use bombus_evaluate::{Constants, ErrorKind, Found, Interpreter};
use bombus_lang::typed::{Machine, Pred, SetId, Type, VarId};
use bombus_lang::value::Value;
use bombus_lang::value::identity::Forms;
use carrier::Carrier;
use chosen_layouts::ChosenLayouts;
use effects::Effects;
use layout::Layout;
use messages::Messages;
use parking_lot::Mutex;
use room::{Growth, Rooms};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use symmetry::Symmetry;
use uses::Uses;

/// How a model is compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Keep every variable in the value pool and every event on values; for tests.
    pub plain: bool,
    /// Give every value a place in the bits of a state: what only promises would make fit is kept in the value pool.
    pub every_value: bool,
    /// Do not evaluate the invariant; it still promises ranges.
    pub skip_invariant: bool,
    pub skip_assertions: bool,
    /// An undefined guard is a finding.
    pub strict_guards: bool,
    /// Whether register code becomes machine code.
    pub native: native::Tier,
    /// Predicates over a state that `Program::observe` will be asked about.
    pub observed: Vec<Pred>,
    /// Those of them that every state is checked for; a finding `Ltl` names the place in this list.
    pub watched: Vec<observe::Watched>,
    /// States that differ by a permutation of deferred sets count as one, told apart in this way.
    pub symmetry: Option<symmetry::Mode>,
    /// What events keep, instead of what they do not write.
    pub proven: Option<Arc<ProofInfo>>,
    /// What the evaluator says of the constants of this machine, if it was asked before.
    pub listed: Option<Arc<Found<Constants>>>,
    /// What the invariant says nothing about gets room as was learnt before, and is guessed where nothing was; `None` gives it all the
    /// room that there may be. Whoever guesses asks `Program::escapes` and begins again with `Program::with_more_room`.
    pub rooms: Option<Arc<Rooms>>,
}

/// Sets up the constants and chooses layouts. Code is made when a valuation is first met.
pub fn compile<'m>(machine: &'m Machine, budget: &Budget, options: &Options) -> Result<Program<'m>, Stop> {
    let interpreter = Interpreter::new(machine, budget);
    let constants = options.listed.as_deref().cloned().map_or_else(|| interpreter.constants(), Ok);
    let (valuations, setup_errors, setup_incomplete, setup_sampled) = match constants {
        Ok(found) => (found.values, found.errors, found.incomplete, found.sampled),
        Err(e) => match e.kind() {
            ErrorKind::Stopped(stop) => return Err(stop),
            _ => (Vec::new(), Vec::new(), vec![e], Vec::new()),
        },
    };
    let mut group = None;
    let mut confused = false;
    let mut valuations = valuations;
    if let Some(mode) = options.symmetry {
        let found = Arc::new(symmetry::group(machine, &options.observed, &valuations));
        if !found.is_trivial() {
            (valuations, confused) = symmetry::one_of_each_orbit(mode, machine, &found, valuations, budget)?;
            group = Some((mode, found));
        }
    }
    let ChosenLayouts { layout, rooms, mirror } =
        chosen_layouts::choose(machine, &interpreter, &valuations, options);
    let labels = machine
        .events
        .iter()
        .map(|op| {
            let op = machine.op(*op);
            op.params.iter().chain(&op.results).map(|v| label_layout(machine, &machine.var(*v).ty)).collect()
        })
        .collect();
    let read: Vec<BTreeSet<VarId>> =
        machine.assertions.iter().map(|c| Uses::of_pred(&c.pred).all()).collect();
    let statics = read.iter().map(|read| read.iter().all(|v| !machine.variables.contains(v))).collect();
    let places = |read: &BTreeSet<VarId>| {
        let constants = machine.constants.iter().enumerate();
        constants.filter(|(_, v)| read.contains(v)).map(|(at, _)| at).collect()
    };
    let mut effects = Effects::of(machine);
    if let Some(proven) = &options.proven {
        effects.touch_what_is_open(proven, machine.invariant.len());
    }
    let symmetry = group.map(|(mode, group)| Symmetry::new(machine, mode, &group, &layout, &valuations));
    Ok(Program {
        machine,
        symmetry,
        confused,
        budget: budget.clone(),
        pool: Default::default(),
        pools: layout.slots.iter().any(|s| s.layout.has_pool()),
        reaches: fallback::Reach::all(&layout, &effects),
        layout,
        compiled: valuations.iter().map(|_| OnceLock::new()).collect(),
        valuations,
        effects,
        names: machine.events.iter().map(|op| machine.op(*op).name.to_string()).collect(),
        setup_errors,
        setup_incomplete,
        setup_sampled,
        statics,
        read_by_statics: read.iter().map(places).collect(),
        looked: Mutex::default(),
        labels,
        messages: Messages::default(),
        options: options.clone(),
        guards: Vec::new(),
        reduction: None,
        prepared: None,
        rooms,
        mirror,
        growth: Growth::default(),
    })
}

/// The layout in which a parameter or result is hashed: a function of its type alone.
pub(crate) fn label_layout(machine: &Machine, ty: &Type) -> Layout {
    fn words(machine: &Machine, ty: &Type) -> Option<Layout> {
        let sizes = |s: SetId| machine.set(s).elems.len();
        Some(match ty {
            Type::Integer => Layout::Int,
            Type::Bool | Type::Set(_) => Layout::Code(Carrier::of_type(ty, &sizes)?),
            Type::Pow(t) => Layout::Bits(Carrier::of_type(t, &sizes)?),
            Type::Prod(a, b) => Layout::pair(words(machine, a)?, words(machine, b)?),
            Type::Struct(fields) => {
                Layout::Rec(fields.iter().map(|(_, t)| words(machine, t)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
    words(machine, ty).unwrap_or(Layout::Pool)
}

impl<'m> Program<'m> {
    /// The same machine with room for what escaped in a search; `None` if there is no more room to give.
    pub fn with_more_room(&self) -> Result<Option<Program<'m>>, Stop> {
        self.with_rooms(self.growth.grown(&self.rooms))
    }

    /// The same machine with these rooms; `None` if they are what it has.
    fn with_rooms(&self, grown: Rooms) -> Result<Option<Program<'m>>, Stop> {
        if grown == self.rooms {
            return Ok(None);
        }
        let listed = Found {
            values: self.valuations.clone(),
            errors: self.setup_errors.clone(),
            incomplete: self.setup_incomplete.clone(),
            sampled: self.setup_sampled.clone(),
        };
        let (listed, rooms) = (Some(Arc::new(listed)), Some(Arc::new(grown)));
        let options = Options { listed, rooms, ..self.options.clone() };
        compile(self.machine, &self.budget, &options).map(Some)
    }
}

impl Program<'_> {
    /// Layout of every variable and bits per state, for `bombus info`.
    pub fn layout_text(&self) -> String {
        self.layout.describe(self.machine)
    }

    /// Why events and conjuncts are evaluated on values, for `bombus info`.
    pub fn uncompiled(&self) -> Vec<String> {
        let interpreter = Interpreter::new(self.machine, &self.budget);
        if self.valuations.is_empty() {
            return Vec::new();
        }
        let compiled = self.compiled(0, &interpreter);
        let events = compiled
            .events
            .iter()
            .zip(&self.names)
            .filter_map(|(e, name)| e.as_ref().err().map(|why| format!("{name}: {}", why.0)));
        let clauses = compiled
            .invariant
            .iter()
            .zip(&self.machine.invariant)
            .filter(|(entry, _)| entry.is_none())
            .map(|(_, c)| c.text.clone());
        events.chain(clauses).collect()
    }

    /// Places of the formulas that are evaluated on values inside compiled code.
    pub fn on_values(&self) -> Vec<bombus_base::Span> {
        let interpreter = Interpreter::new(self.machine, &self.budget);
        if self.valuations.is_empty() {
            return Vec::new();
        }
        let compiled = self.compiled(0, &interpreter);
        let mut used: Vec<u16> = compiled
            .code
            .ops
            .iter()
            .filter_map(|op| if let ir::Op::General { g, .. } = op { Some(*g) } else { None })
            .collect();
        used.dedup();
        used.iter()
            .filter_map(|g| match &compiled.generals[*g as usize] {
                lower::General::Expr { expr, .. } => Some(expr.span),
                lower::General::Pred { pred, .. } => Some(pred.span),
                lower::General::Convert { .. }
                | lower::General::Count { .. }
                | lower::General::Element { .. } => None,
            })
            .collect()
    }

    /// Whether the guard of some event has a condition of its own for having a truth value.
    pub fn guards_may_be_undefined(&self) -> bool {
        self.machine.events.iter().any(|op| {
            let op = self.machine.op(*op);
            let all = lower::alternatives(&op.params, &op.body);
            all.iter().flat_map(|a| &a.conjuncts).any(|c| Uses::of_pred(c).partial)
        })
    }

    /// The code of the first valuation and where the events in it begin, printed.
    pub fn code_text(&self) -> String {
        if self.valuations.is_empty() {
            return "there is no valuation of the constants".into();
        }
        let interpreter = Interpreter::new(self.machine, &self.budget);
        let compiled = self.compiled(0, &interpreter);
        let mut text = String::new();
        for (name, event) in self.names.iter().zip(&compiled.events) {
            match event {
                Ok(event) => text += &format!("{:5}  begins {name}\n", event.entry),
                Err(_) => text += &format!("       {name} is interpreted\n"),
            }
        }
        text + &compiled.code.to_string()
    }

    /// The symmetry of the model, if states are told apart up to it and some set is symmetric.
    pub fn symmetry(&self) -> Option<&Symmetry> {
        self.symmetry.as_ref()
    }

    /// The sets whose elements are interchangeable, as far as the symmetry is used.
    pub fn symmetric_sets(&self) -> Vec<String> {
        let Some(symmetry) = &self.symmetry else { return Vec::new() };
        let group = &symmetry.group;
        let sets = group.ranges.iter().map(|r| group.elements[r.start].set);
        sets.map(|s| self.machine.set(s).name.to_string()).collect()
    }

    /// Whether a valuation may have been taken for another one that is not symmetric to it.
    pub fn is_confused(&self) -> bool {
        self.confused
    }

    /// Whether two of the sets that states may hold might be one set in two forms. No state tells itself apart by the
    /// values of constants, as long as there are no others.
    pub fn tells_sets_apart_by_form(&self) -> bool {
        let entries = self.pool.entries();
        let symbolic: Vec<&Value> = entries
            .iter()
            .filter_map(|e| e.as_ref().ok().copied())
            .filter(|v| v.mentions_symbolic())
            .collect();
        let of_constants = |v: &Value| self.valuations.iter().any(|all| all.iter().any(|c| c == v));
        if symbolic.iter().all(|v| of_constants(v)) {
            return false;
        }
        let mut forms = Forms::default();
        symbolic.into_iter().for_each(|v| forms.meet(v));
        forms.may_be_equal()
    }

    /// Distinct values in the pool.
    pub fn pooled(&self) -> usize {
        self.pool.len()
    }

    /// Checks the code of the first valuation; the first fault in words.
    pub fn validate(&self) -> Result<(), String> {
        if self.valuations.is_empty() {
            return Ok(());
        }
        let interpreter = Interpreter::new(self.machine, &self.budget);
        let compiled = self.compiled(0, &interpreter);
        let mut entries: Vec<u32> = compiled.events.iter().flatten().map(|e| e.entry).collect();
        let tests = compiled.invariant.iter().chain(&compiled.assertions).chain(&compiled.after);
        entries.extend(tests.flatten());
        entries.extend(compiled.goal);
        entries.extend(compiled.observed.iter().flatten());
        entries.extend(compiled.scope);
        validate::validate(&compiled.code, &entries)
    }

    /// The number of the valuation that a state belongs to.
    pub fn valuation_of(&self, state: &[u64]) -> usize {
        self.layout.valuation(state)
    }

    /// A variable of the pool: the values of constants.
    pub fn valuation(&self, number: usize) -> Vec<(VarId, Value)> {
        self.machine.constants.iter().copied().zip(self.valuations[number].iter().cloned()).collect()
    }
}
