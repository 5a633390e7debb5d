//! Normal form for the automaton: negation at literals, past operators as a deterministic program.
//!
//! In: a formula without variables, to be refuted or satisfied. Out: obligations over X, weak X, U and R,
//! and a straight-line program that carries the truth of past formulas forward. Never here: the graph.
//!
//! On finite paths `not X f` is not `X not f`: the weak next `N f` is true at the end, and
//! `not X f = N not f`. So `f R g = g & (f or N(f R g))`, `f U g = g or (f & X(f U g))`.
//!
//! A past formula over atoms is determined by what has been seen. A future formula below a past one is
//! not: it becomes a prophecy, guessed at every position, and the guess becomes an obligation.

use super::atoms::{AtomId, Truth};
use super::formula::{Binary, Unary};
use super::ground::{Ground, Node, NodeId};
use bombus_base::hash::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FormId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    True,
    False,
    /// An atom, by its place in `Normal::atoms`.
    Atom(u32, bool),
    /// A past formula, by its place in `Past`.
    Past(u32, bool),
    And(FormId, FormId),
    Or(FormId, FormId),
    Next(FormId),
    WeakNext(FormId),
    /// The last number tells untils apart: its bit says that the until was put off.
    Until(FormId, FormId, u32),
    Release(FormId, FormId),
}

/// One step of the program for past formulas; operands stand before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PastOp {
    Constant(bool),
    Atom(u32),
    Prophecy(u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    /// What a slot remembers from the position before.
    Before(u32),
}

/// The truth of past formulas at a position, from the atoms there and the slots filled one position ago.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    ops: Vec<PastOp>,
    numbers: HashMap<PastOp, u32>,
    /// For each slot, the operation whose value it remembers.
    slots: Vec<u32>,
}

impl Past {
    fn add(&mut self, op: PastOp) -> u32 {
        *self.numbers.entry(op).or_insert_with(|| {
            self.ops.push(op);
            self.ops.len() as u32 - 1
        })
    }

    /// What the slots hold before the first position.
    pub fn start(&self) -> Vec<Truth> {
        vec![Truth::False; self.slots.len()]
    }

    /// The value of every operation. `prophecy` gives the guessed future formulas.
    pub fn values(&self, letter: &[Truth], prophecy: impl Fn(u32) -> Truth, slots: &[Truth]) -> Vec<Truth> {
        let mut values: Vec<Truth> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let of = |i: u32| values[i as usize];
            let value = match *op {
                PastOp::Constant(value) => value.into(),
                PastOp::Atom(a) => letter[a as usize],
                PastOp::Prophecy(p) => prophecy(p),
                PastOp::Not(f) => negated(of(f)),
                PastOp::And(f, g) => both(of(f), of(g)),
                PastOp::Or(f, g) => negated(both(negated(of(f)), negated(of(g)))),
                PastOp::Before(slot) => slots[slot as usize],
            };
            values.push(value);
        }
        values
    }

    /// What the slots remember of a position with these values.
    pub fn remembered(&self, values: &[Truth]) -> Vec<Truth> {
        self.slots.iter().map(|&op| values[op as usize]).collect()
    }
}

pub(super) fn negated(value: Truth) -> Truth {
    match value {
        Truth::True => Truth::False,
        Truth::False => Truth::True,
        Truth::Unknown => Truth::Unknown,
    }
}

pub(super) fn both(f: Truth, g: Truth) -> Truth {
    match (f, g) {
        (Truth::False, _) | (_, Truth::False) => Truth::False,
        (Truth::True, Truth::True) => Truth::True,
        _ => Truth::Unknown,
    }
}

/// A formula in normal form.
#[derive(Clone, Debug, Default)]
pub(super) struct Normal {
    forms: Vec<Form>,
    numbers: HashMap<Form, FormId>,
    /// For each form: no temporal operator of the future below it.
    local: Vec<bool>,
    /// For each form: a past literal below it.
    reads_past: Vec<bool>,
    pub past: Past,
    /// The atoms a letter has to tell.
    pub atoms: Vec<AtomId>,
    /// Guessed formulas: what has to hold if the guess is true, and if it is false.
    pub prophecies: Vec<(FormId, FormId)>,
    untils: HashMap<(FormId, FormId), u32>,
}

impl Normal {
    /// The normal form of `root`, or of its negation if `positive` is false.
    pub fn new(ground: &Ground, root: NodeId, positive: bool) -> (Normal, FormId) {
        let mut builder =
            Builder { ground, normal: Normal::default(), forms: HashMap::new(), pasts: HashMap::new() };
        let root = builder.form(root, positive);
        (builder.normal, root)
    }

    pub fn form(&self, id: FormId) -> Form {
        self.forms[id.0 as usize]
    }

    pub fn is_local(&self, id: FormId) -> bool {
        self.local[id.0 as usize]
    }

    pub fn reads_past(&self, id: FormId) -> bool {
        self.reads_past[id.0 as usize]
    }

    /// Number of untils, each with a bit of its own.
    pub fn untils(&self) -> usize {
        self.untils.len()
    }

    fn add(&mut self, form: Form) -> FormId {
        if let Some(&known) = self.numbers.get(&form) {
            return known;
        }
        let (local, reads_past) = match form {
            Form::True | Form::False | Form::Atom(..) => (true, false),
            Form::Past(..) => (true, true),
            Form::And(f, g) | Form::Or(f, g) => {
                (self.is_local(f) && self.is_local(g), self.reads_past(f) || self.reads_past(g))
            }
            Form::Next(f) | Form::WeakNext(f) => (false, self.reads_past(f)),
            Form::Until(f, g, _) | Form::Release(f, g) => (false, self.reads_past(f) || self.reads_past(g)),
        };
        let id = FormId(self.forms.len() as u32);
        self.forms.push(form);
        self.local.push(local);
        self.reads_past.push(reads_past);
        self.numbers.insert(form, id);
        id
    }

    fn constant(&mut self, value: bool) -> FormId {
        self.add(if value { Form::True } else { Form::False })
    }

    fn and(&mut self, f: FormId, g: FormId) -> FormId {
        match (self.form(f), self.form(g)) {
            (Form::True, _) => g,
            (_, Form::True) => f,
            (Form::False, _) | (_, Form::False) => self.constant(false),
            _ if f == g => f,
            _ => self.add(Form::And(f.min(g), f.max(g))),
        }
    }

    fn or(&mut self, f: FormId, g: FormId) -> FormId {
        match (self.form(f), self.form(g)) {
            (Form::False, _) => g,
            (_, Form::False) => f,
            (Form::True, _) | (_, Form::True) => self.constant(true),
            _ if f == g => f,
            _ => self.add(Form::Or(f.min(g), f.max(g))),
        }
    }

    fn next(&mut self, f: FormId) -> FormId {
        if self.form(f) == Form::False { f } else { self.add(Form::Next(f)) }
    }

    fn weak_next(&mut self, f: FormId) -> FormId {
        if self.form(f) == Form::True { f } else { self.add(Form::WeakNext(f)) }
    }

    fn until(&mut self, f: FormId, g: FormId) -> FormId {
        match (self.form(f), self.form(g)) {
            (_, Form::True | Form::False) | (Form::False, _) => g,
            // F F g = F g and f U (f U g) = f U g.
            (_, Form::Until(inner, ..)) if inner == f => g,
            // F G F g = G F g, also at the end of a finite path.
            (Form::True, Form::Release(never, inner))
                if self.form(never) == Form::False
                    && matches!(self.form(inner), Form::Until(t, ..) if self.form(t) == Form::True) =>
            {
                g
            }
            _ => {
                let number = self.untils.len() as u32;
                let number = *self.untils.entry((f, g)).or_insert(number);
                self.add(Form::Until(f, g, number))
            }
        }
    }

    fn release(&mut self, f: FormId, g: FormId) -> FormId {
        match (self.form(f), self.form(g)) {
            (_, Form::True | Form::False) | (Form::True, _) => g,
            (_, Form::Release(inner, _)) if inner == f => g,
            (Form::False, Form::Until(always, inner, _))
                if self.form(always) == Form::True
                    && matches!(self.form(inner), Form::Release(n, _) if self.form(n) == Form::False) =>
            {
                g
            }
            _ => self.add(Form::Release(f, g)),
        }
    }
}

struct Builder<'g> {
    ground: &'g Ground,
    normal: Normal,
    forms: HashMap<(NodeId, bool), FormId>,
    pasts: HashMap<NodeId, u32>,
}

impl Builder<'_> {
    fn atom(&mut self, atom: AtomId) -> u32 {
        let known = self.normal.atoms.iter().position(|a| *a == atom);
        known.unwrap_or_else(|| {
            self.normal.atoms.push(atom);
            self.normal.atoms.len() - 1
        }) as u32
    }

    fn form(&mut self, id: NodeId, positive: bool) -> FormId {
        if let Some(&known) = self.forms.get(&(id, positive)) {
            return known;
        }
        let form = match self.ground.node(id) {
            Node::Constant(value) => self.normal.constant(value == positive),
            Node::Atom(atom) => {
                let atom = self.atom(atom);
                self.normal.add(Form::Atom(atom, positive))
            }
            Node::Unary(op, f) => match op {
                Unary::Not => self.form(f, !positive),
                Unary::Next => {
                    let f = self.form(f, positive);
                    if positive { self.normal.next(f) } else { self.normal.weak_next(f) }
                }
                Unary::Finally | Unary::Globally => {
                    let f = self.form(f, positive);
                    if (op == Unary::Finally) == positive {
                        let t = self.normal.constant(true);
                        self.normal.until(t, f)
                    } else {
                        let t = self.normal.constant(false);
                        self.normal.release(t, f)
                    }
                }
                Unary::Yesterday | Unary::Once | Unary::Historically => self.past_literal(id, positive),
            },
            Node::Binary(op, f, g) => match op {
                Binary::And | Binary::Or => {
                    let (f, g) = (self.form(f, positive), self.form(g, positive));
                    if (op == Binary::And) == positive { self.normal.and(f, g) } else { self.normal.or(f, g) }
                }
                Binary::Implies => {
                    let (f, g) = (self.form(f, !positive), self.form(g, positive));
                    if positive { self.normal.or(f, g) } else { self.normal.and(f, g) }
                }
                Binary::Iff => {
                    let (f, not_f) = (self.form(f, true), self.form(f, false));
                    let (g, not_g) = (self.form(g, positive), self.form(g, !positive));
                    let same = self.normal.and(f, g);
                    let other = self.normal.and(not_f, not_g);
                    self.normal.or(same, other)
                }
                Binary::Until | Binary::Release => {
                    let (f, g) = (self.form(f, positive), self.form(g, positive));
                    if (op == Binary::Until) == positive {
                        self.normal.until(f, g)
                    } else {
                        self.normal.release(f, g)
                    }
                }
                Binary::WeakUntil => {
                    // f W g = g R (f or g), and its negation is not g U (not f & not g).
                    let (f, g) = (self.form(f, positive), self.form(g, positive));
                    if positive {
                        let either = self.normal.or(f, g);
                        self.normal.release(g, either)
                    } else {
                        let neither = self.normal.and(f, g);
                        self.normal.until(g, neither)
                    }
                }
                Binary::Since | Binary::Trigger => self.past_literal(id, positive),
            },
        };
        self.forms.insert((id, positive), form);
        form
    }

    fn past_literal(&mut self, id: NodeId, positive: bool) -> FormId {
        let op = self.past(id);
        self.normal.add(Form::Past(op, positive))
    }

    /// The operation that computes a formula below a past operator.
    fn past(&mut self, id: NodeId) -> u32 {
        if let Some(&known) = self.pasts.get(&id) {
            return known;
        }
        let op = match self.ground.node(id) {
            Node::Constant(value) => PastOp::Constant(value),
            Node::Atom(atom) => PastOp::Atom(self.atom(atom)),
            Node::Unary(op, f) => match op {
                Unary::Not => PastOp::Not(self.past(f)),
                Unary::Next | Unary::Finally | Unary::Globally => self.prophecy(id),
                Unary::Yesterday => {
                    let f = self.past(f);
                    PastOp::Before(self.slot(f))
                }
                Unary::Once => {
                    let f = self.past(f);
                    let always = self.normal.past.add(PastOp::Constant(true));
                    self.since(always, f)
                }
                Unary::Historically => {
                    // H f = not O not f.
                    let f = self.past(f);
                    let not_f = self.normal.past.add(PastOp::Not(f));
                    let always = self.normal.past.add(PastOp::Constant(true));
                    let once = self.since(always, not_f);
                    PastOp::Not(self.normal.past.add(once))
                }
            },
            Node::Binary(op, f, g) => match op {
                Binary::Until | Binary::WeakUntil | Binary::Release => self.prophecy(id),
                _ => {
                    let (f, g) = (self.past(f), self.past(g));
                    let past = &mut self.normal.past;
                    match op {
                        Binary::And => PastOp::And(f, g),
                        Binary::Or => PastOp::Or(f, g),
                        Binary::Implies => {
                            let not_f = past.add(PastOp::Not(f));
                            PastOp::Or(not_f, g)
                        }
                        Binary::Iff => {
                            let (not_f, not_g) = (past.add(PastOp::Not(f)), past.add(PastOp::Not(g)));
                            let there = past.add(PastOp::Or(not_f, g));
                            let back = past.add(PastOp::Or(not_g, f));
                            PastOp::And(there, back)
                        }
                        Binary::Since => self.since(f, g),
                        _ => {
                            // f T g = not(not f S not g).
                            let (not_f, not_g) = (past.add(PastOp::Not(f)), past.add(PastOp::Not(g)));
                            let since = self.since(not_f, not_g);
                            PastOp::Not(self.normal.past.add(since))
                        }
                    }
                }
            },
        };
        let number = self.normal.past.add(op);
        self.pasts.insert(id, number);
        number
    }

    /// `f S g = g or (f & what it was before)`; the slot remembers the result.
    fn since(&mut self, f: u32, g: u32) -> PastOp {
        let slot = self.slot(u32::MAX);
        let past = &mut self.normal.past;
        let before = past.add(PastOp::Before(slot));
        let kept = past.add(PastOp::And(f, before));
        let whole = PastOp::Or(g, kept);
        past.slots[slot as usize] = past.add(whole);
        whole
    }

    fn slot(&mut self, remembers: u32) -> u32 {
        let past = &mut self.normal.past;
        past.slots.push(remembers);
        past.slots.len() as u32 - 1
    }

    fn prophecy(&mut self, id: NodeId) -> PastOp {
        let (holds, fails) = (self.form(id, true), self.form(id, false));
        self.normal.prophecies.push((holds, fails));
        PastOp::Prophecy(self.normal.prophecies.len() as u32 - 1)
    }
}
