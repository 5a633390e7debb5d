//! Which layout each variable has: by what the invariant promises of it, and where it promises nothing, by a guess.
//!
//! In: the machine, the valuations of its constants, what was learnt of its variables before. Out: the layout of states, the rooms it was made
//! with, and the way back to the names that states have without guesses.
//! Never here: what a promise is (`invariant_ranges`), how wide a guess is (`room`, `window`), packing (`state`).

use super::exact::Constant;
use super::invariant_ranges::{Promise, Reader};
use super::layout::Layout;
use super::mirror::Mirror;
use super::room::{self, Room, Rooms};
use super::state::{self, StateLayout};
use super::uses::Uses;
use super::{Options, compile, window};
use bombus_base::hash::HashSet;
use bombus_evaluate::{Constants, Interpreter};
use bombus_lang::typed::{Machine, VarId};
use bombus_lang::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The layout of states, and what it was guessed from.
pub(super) struct ChosenLayouts {
    pub layout: StateLayout,
    /// Empty if nothing was guessed.
    pub rooms: Rooms,
    pub mirror: Option<Mirror>,
}

/// Valuations that are looked at when the promises of all leave a variable without a layout.
const LOOKED_AT: usize = 16;
/// Valuations whose promises are looked at at all, if they differ in what the invariant speaks of; they are spread
/// over the list, and states of the others may escape.
const SPREAD: usize = 256;

/// What the invariant promises about each variable, whichever of the valuations holds.
fn promises(
    machine: &Machine,
    interpreter: &Interpreter<'_>,
    valuations: &[Constants],
) -> BTreeMap<VarId, Promise> {
    let spoken: BTreeSet<VarId> =
        machine.invariant.iter().flat_map(|c| Uses::of_pred(&c.pred).reads).collect();
    let mut seen: HashSet<Vec<&Value>> = HashSet::new();
    let differ: Vec<&Constants> = valuations
        .iter()
        .filter(|constants| {
            let named = machine.constants.iter().zip(constants.iter());
            seen.insert(named.filter(|(c, _)| spoken.contains(c)).map(|(_, value)| value).collect())
        })
        .collect();
    let mut promises: BTreeMap<VarId, Promise> = BTreeMap::new();
    for (i, constants) in differ.iter().step_by(differ.len().div_ceil(SPREAD).max(1)).enumerate() {
        let folder = Constant::new(interpreter, constants);
        let mut reader = Reader { machine, folder: &folder, known: BTreeMap::new() };
        reader.read();
        for v in &machine.variables {
            let now = reader.known.remove(v).unwrap_or(Promise::Nothing);
            let all = if i == 0 { now } else { promises.remove(v).unwrap_or(Promise::Nothing).or(now) };
            promises.insert(*v, all);
        }
    }
    promises
}

/// A variable with its layout and what is promised about it.
type Placed = (VarId, Layout, Promise);

/// The layout of a variable under what is promised by the first valuations and by all of them; `shape` may make more of a promise.
fn placed(
    v: VarId,
    near: &Promise,
    all: &Promise,
    reader: &Reader<'_>,
    options: &Options,
    shape: impl Fn(&Promise) -> Promise,
) -> Placed {
    if options.plain {
        return (v, Layout::Pool, Promise::Nothing);
    }
    let chosen = |promise: &Promise| reader.layout(&reader.machine.var(v).ty, &shape(promise));
    // A place for most states is better than a number in the pool for all.
    let (layout, promise) = match (chosen(all).filter(|l| *l != Layout::Pool), chosen(near)) {
        (Some(layout), _) => (layout, all.clone()),
        (None, layout) => (layout.unwrap_or(Layout::Pool), near.clone()),
    };
    if options.every_value && state::may_escape(&layout) {
        return (v, Layout::Pool, Promise::Nothing);
    }
    (v, layout, promise)
}

/// What the first valuations promise of each variable, and what all of them do.
struct Promises {
    near: BTreeMap<VarId, Promise>,
    all: BTreeMap<VarId, Promise>,
}

impl Promises {
    fn of(&self, v: VarId) -> (Promise, Promise) {
        let promise = |known: &BTreeMap<VarId, Promise>| known.get(&v).cloned().unwrap_or(Promise::Nothing);
        (promise(&self.near), promise(&self.all))
    }
}

/// Chooses the layouts of all variables.
pub(super) fn choose(
    machine: &Machine,
    interpreter: &Interpreter<'_>,
    valuations: &[Constants],
    options: &Options,
) -> ChosenLayouts {
    let promises = Promises {
        near: promises(machine, interpreter, &valuations[..valuations.len().min(LOOKED_AT)]),
        all: promises(machine, interpreter, valuations),
    };
    let blind = compile::Blind;
    let reader = Reader { machine, folder: &blind, known: BTreeMap::new() };
    let wide = machine.variables.iter().map(|v| {
        let (near, all) = promises.of(*v);
        placed(*v, &near, &all, &reader, options, |promise| promise.clone())
    });
    let wide = StateLayout::new(wide.collect(), valuations.len());
    let Some(known) = options.rooms.as_ref().filter(|_| !room::has_loops(machine)) else {
        return ChosenLayouts { layout: wide, rooms: Rooms::default(), mirror: None };
    };
    let (guessed, rooms) = guessed(&promises, &reader, options, known, room::first_numbers(&wide));
    let layout = StateLayout::new(guessed, valuations.len());
    let mirror = Mirror::new(&layout, wide);
    ChosenLayouts { layout, rooms, mirror }
}

/// Layouts with guesses for what nothing is promised about: those of before where there were some, else the first ones, `first` for
/// numbers that stand by themselves.
fn guessed(
    promises: &Promises,
    reader: &Reader<'_>,
    options: &Options,
    known: &Rooms,
    first: Option<(i64, i64)>,
) -> (Vec<Placed>, Rooms) {
    let machine = reader.machine;
    let narrow = window::first(machine);
    let mut rooms = Rooms::default();
    let vars = machine.variables.iter().map(|v| {
        let known = known.get(v);
        let longest = known.map_or(room::LENGTH, |room| room.longest);
        let shorten = |promise: &Promise| room::shorten(promise, longest);
        let (near, all) = promises.of(*v);
        let ty = &machine.var(*v).ty;
        let bounding =
            |promise: Promise| window::bounding(reader, ty, &shorten(&promise), narrow).unwrap_or(promise);
        let outgrown =
            |room: &&Room| window::is_outgrown(reader, ty, &shorten(&all), &shorten(&room.promise));
        let (near, all) = match known {
            None => (bounding(near), bounding(all)),
            Some(room) if outgrown(&room) => (near, all),
            Some(room) => (room.promise.clone(), room.promise.clone()),
        };
        let (v, layout, promise) = placed(*v, &near, &all, reader, options, shorten);
        let numbers = known.map_or(first, |room| room.numbers);
        let bounded = numbers.map(|numbers| room::bounded(&layout, &promise, numbers));
        rooms.insert(v, Room { promise: promise.clone(), numbers, longest });
        (v, layout, bounded.unwrap_or(promise))
    });
    (vars.collect(), rooms)
}
