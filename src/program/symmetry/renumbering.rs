//! Packed states under permutations: where interchangeable elements stand in the words of a state.
//!
//! In: the layouts of the variables. Out: renumbered states, atoms of a structure, straight from words.
//! Never here: which permutation is wanted.
//!
//! A layout is taken apart once, when the model is loaded. What the atoms of a bit or a code are is
//! listed then; reading a state is additions. Named elements count as ordinary values.

use super::structure::{Structure, mix};
use super::types::{Group, Permutation, sets_of};
use super::values;
use crate::carrier::Carrier;
use crate::layout::{Field, Layout};
use crate::pool::{Pool, ValueId};
use crate::state::StateLayout;
use bombus_kernels::bits::{self, cells::Cells};
use bombus_kernels::faults::fault;
use bombus_lang::typed::{Machine, Type};

/// Codes of a carrier, each taken apart into interchangeable elements and the rest.
struct Coder {
    /// Axes with interchangeable elements.
    strides: Vec<u32>,
    /// By code: the code with zero on these axes, those with a named element excepted.
    rests: Vec<u16>,
    /// By code and axis: the element, `NONE` if it is named.
    places: Vec<u16>,
}

const NONE: u16 = u16::MAX;

impl Coder {
    fn new(group: &Group, carrier: &Carrier) -> Coder {
        let mut axes = Vec::new();
        collect_axes(carrier, &mut axes);
        let mut stride = carrier.card() as u32;
        let mut moved = Vec::new();
        for axis in &axes {
            stride /= (axis.card() as u32).max(1);
            if let Carrier::Set(set, _) = axis
                && group.is_symmetric(*set)
            {
                moved.push((stride, axis.card() as u32, *set));
            }
        }
        let mut coder =
            Coder { strides: moved.iter().map(|m| m.0).collect(), rests: Vec::new(), places: Vec::new() };
        for code in 0..carrier.card() as u32 {
            let mut rest = code;
            for (stride, card, set) in &moved {
                let number = code / stride % card;
                match group.place(*set, number) {
                    Some(place) => {
                        rest -= number * stride;
                        coder.places.push(place);
                    }
                    None => coder.places.push(NONE),
                }
            }
            coder.rests.push(rest as u16);
        }
        coder
    }

    fn is_fixed(&self) -> bool {
        self.strides.is_empty()
    }

    fn places(&self, code: usize) -> impl Iterator<Item = u16> + '_ {
        let axes = self.strides.len();
        self.places[code * axes..(code + 1) * axes].iter().copied().filter(|p| *p != NONE)
    }

    #[inline]
    fn permuted(&self, code: usize, numbers: &Permutation) -> usize {
        let axes = self.strides.len();
        let mut to = u32::from(self.rests[code]);
        for (place, stride) in self.places[code * axes..(code + 1) * axes].iter().zip(&self.strides) {
            if *place != NONE {
                to += u32::from(numbers[*place as usize]) * stride;
            }
        }
        to as usize
    }

    /// A hash for each code: where it stands, and all of it but the interchangeable elements. Which
    /// axes these are is part of it.
    fn keys(&self, key: u128) -> Vec<u128> {
        let axes = self.strides.len();
        (0..self.rests.len())
            .map(|code| {
                let named = self.places[code * axes..(code + 1) * axes]
                    .iter()
                    .fold(1u128, |bits, p| bits << 1 | u128::from(*p == NONE));
                mix(key, named << 64 | u128::from(self.rests[code]))
            })
            .collect()
    }
}

fn collect_axes<'c>(carrier: &'c Carrier, out: &mut Vec<&'c Carrier>) {
    match carrier {
        Carrier::Pair(p) => {
            collect_axes(&p.0, out);
            collect_axes(&p.1, out);
        }
        Carrier::Rec(fields) => fields.iter().for_each(|f| collect_axes(f, out)),
        _ => out.push(carrier),
    }
}

/// Whether codes stand for sets: the elements of these have no axis of their own.
fn has_sets_as_elements(layout: &Layout) -> bool {
    match layout {
        Layout::Code(c) | Layout::Bits(c) => c.has_sets(),
        Layout::Array(a) => a.rows.has_sets() || a.values.has_sets(),
        Layout::Table(t) => t.0.has_sets(),
        Layout::Int | Layout::Pair(_) | Layout::Rec(_) | Layout::Pool => false,
    }
}

/// How the words of a value are renumbered.
enum Renumbering {
    /// As they are, so many words.
    Fixed(usize),
    Code(Coder),
    Bits(Coder),
    Table {
        rows: Coder,
        present: usize,
        width: usize,
        value: Box<Renumbering>,
    },
    Array {
        rows: Coder,
        values: Coder,
        cells: Cells,
    },
    /// One after the other, so many words each.
    Parts(Vec<(usize, Renumbering)>),
    /// By way of the value: pooled ones, and layouts that are not known here.
    Value(Layout),
}

impl Renumbering {
    fn new(group: &Group, layout: &Layout) -> Renumbering {
        match layout {
            _ if has_sets_as_elements(layout) => Renumbering::Value(layout.clone()),
            Layout::Int => Renumbering::Fixed(1),
            Layout::Code(c) | Layout::Bits(c) => {
                let coder = Coder::new(group, c);
                match layout {
                    _ if coder.is_fixed() => Renumbering::Fixed(layout.words() as usize),
                    Layout::Code(_) => Renumbering::Code(coder),
                    _ => Renumbering::Bits(coder),
                }
            }
            Layout::Table(t) => {
                let (rows, value) = (Coder::new(group, &t.0), Renumbering::new(group, &t.1));
                if rows.is_fixed() && matches!(value, Renumbering::Fixed(_)) {
                    return Renumbering::Fixed(layout.words() as usize);
                }
                let (present, width) = (t.0.words() as usize, t.1.words() as usize);
                Renumbering::Table { rows, present, width, value: Box::new(value) }
            }
            Layout::Array(a) => {
                let (rows, values) = (Coder::new(group, &a.rows), Coder::new(group, &a.values));
                if rows.is_fixed() && values.is_fixed() {
                    return Renumbering::Fixed(layout.words() as usize);
                }
                Renumbering::Array { rows, values, cells: a.cells() }
            }
            Layout::Pair(p) => Renumbering::parts(group, [&p.0, &p.1].into_iter()),
            Layout::Rec(fields) => Renumbering::parts(group, fields.iter()),
            _ => Renumbering::Value(layout.clone()),
        }
    }

    fn parts<'l>(group: &Group, layouts: impl Iterator<Item = &'l Layout>) -> Renumbering {
        Renumbering::Parts(layouts.map(|l| (l.words() as usize, Renumbering::new(group, l))).collect())
    }

    /// Writes the renumbered value; `to` is zero. False when it cannot be renamed.
    fn permute(&self, from: &[u64], to: &mut [u64], by: &Renaming) -> bool {
        match self {
            Renumbering::Fixed(words) => to[..*words].copy_from_slice(&from[..*words]),
            Renumbering::Code(_) if fault("symmetry: a single element keeps its name") => to[0] = from[0],
            Renumbering::Code(coder) => to[0] = coder.permuted(from[0] as usize, by.numbers) as u64,
            Renumbering::Bits(coder) => {
                let words = bits::words_for(coder.rests.len()).max(1);
                for code in bits::iter(&from[..words]) {
                    if fault("symmetry: a set has its least element alone") && to[..words] != [0] {
                        break;
                    }
                    bits::insert(&mut to[..words], coder.permuted(code, by.numbers));
                }
            }
            Renumbering::Table { rows, present, width, value } => {
                for row in bits::iter(&from[..*present]) {
                    let to_row = rows.permuted(row, by.numbers);
                    bits::insert(&mut to[..*present], to_row);
                    let (a, b) = (present + row * width, present + to_row * width);
                    if !value.permute(&from[a..], &mut to[b..], by) {
                        return false;
                    }
                }
            }
            Renumbering::Array { rows, values, cells } => {
                cells.each(&from[..cells.words()], |row, value| {
                    let value = values.permuted(value as usize, by.numbers);
                    let row = if fault("symmetry: functions have one row") { 0 } else { row };
                    cells.put(to, rows.permuted(row, by.numbers), value as u64);
                });
            }
            Renumbering::Parts(parts) => {
                let mut at = 0;
                for (words, part) in parts {
                    if !part.permute(&from[at..], &mut to[at..], by) {
                        return false;
                    }
                    at += words;
                }
            }
            Renumbering::Value(layout) => {
                let value = values::permuted(by.group, &layout.decode(from, by.pool), by.numbers);
                return value.is_some_and(|v| layout.encode(&v, by.pool, to));
            }
        }
        true
    }
}

/// A permutation with what is needed to rename pooled values by it.
struct Renaming<'a> {
    group: &'a Group,
    pool: &'a Pool,
    numbers: &'a Permutation,
}

/// One thing to read off the words of a state.
struct Node {
    /// First word of the value in the registers.
    at: usize,
    /// The elements it belongs to: arguments of the functions around it.
    prefix: Vec<u16>,
    kind: NodeKind,
}

enum NodeKind {
    /// Words in which no interchangeable element stands.
    Fixed {
        words: usize,
        key: u128,
    },
    /// A code, or bits: a hash for each code.
    Code {
        coder: usize,
        keys: Vec<u128>,
    },
    Bits {
        coder: usize,
        words: usize,
        keys: Vec<u128>,
    },
    /// A function: for each argument, if its bit is set, its hash and its nodes.
    Rows {
        words: usize,
        rows: Vec<(u128, Vec<u16>, Vec<Node>)>,
    },
    /// A function as an array: a hash for each argument and for each value.
    Cells {
        cells: Cells,
        rows: usize,
        values: usize,
        row_keys: Vec<u128>,
        value_keys: Vec<u128>,
    },
    /// A pooled value without interchangeable elements.
    Apart {
        key: u128,
    },
    /// A value that is read as such.
    Value {
        key: u128,
        layout: Layout,
    },
}

struct Slot {
    reg: usize,
    words: usize,
    fields: Vec<Field>,
    shape: Renumbering,
}

/// All variables of a state.
pub struct Shapes {
    slots: Vec<Slot>,
    nodes: Vec<Node>,
    coders: Vec<Coder>,
    registers: usize,
}

impl Shapes {
    pub fn new(machine: &Machine, group: &Group, layout: &StateLayout) -> Shapes {
        let mut shapes = Shapes { slots: Vec::new(), nodes: Vec::new(), coders: Vec::new(), registers: 0 };
        for (i, slot) in layout.slots.iter().enumerate() {
            let (reg, words) = (slot.reg as usize, slot.layout.words() as usize);
            shapes.registers = shapes.registers.max(reg + words);
            let mut build = Build { machine, group, coders: &mut shapes.coders };
            let ty = &machine.var(slot.var).ty;
            build.nodes(&slot.layout, ty, reg, variable_key(i), &[], &mut shapes.nodes);
            let shape = Renumbering::new(group, &slot.layout);
            shapes.slots.push(Slot { reg, words, fields: slot.fields.clone(), shape });
        }
        shapes
    }

    /// Words of scratch memory for `enter` and `permute`.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Enters what a state, which stands in registers, says of its elements. `rest`: also what it says
    /// of none.
    pub fn enter(
        &self,
        group: &Group,
        pool: &Pool,
        regs: &[u64],
        rest: bool,
        places: &mut Vec<u16>,
        out: &mut Structure,
    ) {
        for node in &self.nodes {
            self.enter_node(node, group, pool, regs, rest, places, out);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn enter_node(
        &self,
        node: &Node,
        group: &Group,
        pool: &Pool,
        regs: &[u64],
        rest: bool,
        places: &mut Vec<u16>,
        out: &mut Structure,
    ) {
        let said_of_none = node.prefix.is_empty();
        match &node.kind {
            NodeKind::Fixed { words, key } => {
                if rest || !said_of_none {
                    let value = bombus_kernels::hash::words(&regs[node.at..node.at + words]);
                    out.atom(mix(*key, value), &node.prefix);
                }
            }
            NodeKind::Code { coder, keys } => {
                let code = regs[node.at] as usize;
                self.enter_code(&self.coders[*coder], code, keys[code], node, places, out);
            }
            NodeKind::Bits { coder, words, keys } => {
                let coder = &self.coders[*coder];
                for code in bits::iter(&regs[node.at..node.at + words]) {
                    self.enter_code(coder, code, keys[code], node, places, out);
                }
            }
            NodeKind::Rows { words, rows } => {
                for row in bits::iter(&regs[node.at..node.at + words]) {
                    let (key, prefix, nodes) = &rows[row];
                    out.atom(*key, prefix);
                    for node in nodes {
                        self.enter_node(node, group, pool, regs, rest, places, out);
                    }
                }
            }
            NodeKind::Cells { cells, rows, values, row_keys, value_keys } => {
                let (rows, values) = (&self.coders[*rows], &self.coders[*values]);
                cells.each(&regs[node.at..node.at + cells.words()], |row, value| {
                    places.clear();
                    places.extend_from_slice(&node.prefix);
                    places.extend(rows.places(row));
                    places.extend(values.places(value as usize));
                    out.atom(mix(row_keys[row], value_keys[value as usize]), places);
                });
            }
            NodeKind::Apart { key } => {
                if rest || !said_of_none {
                    let content = pool.content128(ValueId(regs[node.at] as u32));
                    out.atom(mix(*key, content), &node.prefix);
                }
            }
            NodeKind::Value { key, layout } => {
                places.clear();
                places.extend_from_slice(&node.prefix);
                values::enter(group, &layout.decode(&regs[node.at..], pool), *key, places, out);
            }
        }
    }

    #[inline]
    fn enter_code(
        &self,
        coder: &Coder,
        code: usize,
        key: u128,
        node: &Node,
        places: &mut Vec<u16>,
        out: &mut Structure,
    ) {
        if node.prefix.is_empty() && coder.strides.len() == 1 {
            let place = coder.places[code];
            let places = if place == NONE { &[][..] } else { std::slice::from_ref(&place) };
            out.atom(key, places);
            return;
        }
        places.clear();
        places.extend_from_slice(&node.prefix);
        places.extend(coder.places(code));
        out.atom(key, places);
    }

    /// Writes the packed state in which the elements are renumbered to `out`, which is zero but for
    /// its head. `regs` holds the state, `scratch` is of the same size. False when a value cannot be
    /// renamed.
    pub fn permute(
        &self,
        group: &Group,
        pool: &Pool,
        regs: &[u64],
        numbers: &Permutation,
        scratch: &mut [u64],
        out: &mut [u64],
    ) -> bool {
        let by = Renaming { group, pool, numbers };
        self.slots.iter().all(|slot| {
            let all = slot.reg..slot.reg + slot.words;
            let renumbered = match slot.shape {
                Renumbering::Fixed(_) => &regs[all],
                _ => {
                    scratch[all.clone()].fill(0);
                    if !slot.shape.permute(&regs[all.clone()], &mut scratch[all.clone()], &by) {
                        return false;
                    }
                    &scratch[all]
                }
            };
            let fits = slot.fields.iter().all(|f| f.store(&renumbered[f.part as usize..], out));
            debug_assert!(fits, "a layout holds a value if it holds its renumberings");
            fits
        })
    }
}

/// The hash that stands for variable number `slot`.
pub fn variable_key(slot: usize) -> u128 {
    mix(super::structure::word("variable"), slot as u128)
}

struct Build<'a> {
    machine: &'a Machine,
    group: &'a Group,
    coders: &'a mut Vec<Coder>,
}

impl Build<'_> {
    fn is_apart(&self, ty: &Type) -> bool {
        sets_of(self.machine, ty).iter().all(|s| !self.group.is_symmetric(*s))
    }

    fn nodes(
        &mut self,
        layout: &Layout,
        ty: &Type,
        at: usize,
        key: u128,
        prefix: &[u16],
        out: &mut Vec<Node>,
    ) {
        let node = |kind| Node { at, prefix: prefix.to_vec(), kind };
        let apart = self.is_apart(ty);
        if apart && !layout.has_pool() {
            out.push(node(NodeKind::Fixed { words: layout.words() as usize, key }));
            return;
        }
        match (layout, ty) {
            (Layout::Pool, _) if apart => out.push(node(NodeKind::Apart { key })),
            _ if has_sets_as_elements(layout) => {
                out.push(node(NodeKind::Value { key, layout: layout.clone() }));
            }
            (Layout::Code(c) | Layout::Bits(c), _) => {
                let coder = Coder::new(self.group, c);
                let keys = coder.keys(key);
                let (coder, words) = (self.keep(coder), c.words() as usize);
                out.push(node(match layout {
                    Layout::Code(_) => NodeKind::Code { coder, keys },
                    _ => NodeKind::Bits { coder, words, keys },
                }));
            }
            (Layout::Array(a), _) => {
                let (rows, values) = (Coder::new(self.group, &a.rows), Coder::new(self.group, &a.values));
                let (row_keys, value_keys) = (rows.keys(key), values.keys(mix(key, 1)));
                let (rows, values) = (self.keep(rows), self.keep(values));
                out.push(node(NodeKind::Cells { cells: a.cells(), rows, values, row_keys, value_keys }));
            }
            (Layout::Table(t), Type::Pow(element)) => {
                let Type::Prod(_, range) = &**element else { unreachable!("a table holds a function") };
                let coder = Coder::new(self.group, &t.0);
                let keys = coder.keys(key);
                let (present, width) = (t.0.words() as usize, t.1.words() as usize);
                let rows = (0..t.0.card())
                    .map(|row| {
                        let prefix: Vec<u16> = prefix.iter().copied().chain(coder.places(row)).collect();
                        let mut nodes = Vec::new();
                        let first = at + present + row * width;
                        self.nodes(&t.1, range, first, mix(keys[row], 1), &prefix, &mut nodes);
                        (keys[row], prefix, nodes)
                    })
                    .collect();
                out.push(node(NodeKind::Rows { words: present, rows }));
            }
            (Layout::Pair(l), Type::Prod(a, b)) => {
                self.nodes(&l.0, a, at, mix(key, 1), prefix, out);
                self.nodes(&l.1, b, at + l.0.words() as usize, mix(key, 2), prefix, out);
            }
            (Layout::Rec(ls), Type::Struct(fields)) => {
                let mut at = at;
                for (i, (l, (_, ty))) in ls.iter().zip(fields.iter()).enumerate() {
                    self.nodes(l, ty, at, mix(key, i as u128), prefix, out);
                    at += l.words() as usize;
                }
            }
            _ => out.push(node(NodeKind::Value { key, layout: layout.clone() })),
        }
    }

    fn keep(&mut self, coder: Coder) -> usize {
        let same =
            |c: &Coder| c.strides == coder.strides && c.rests == coder.rests && c.places == coder.places;
        self.coders.iter().position(same).unwrap_or_else(|| {
            self.coders.push(coder);
            self.coders.len() - 1
        })
    }
}
