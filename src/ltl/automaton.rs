//! A generalised Büchi automaton on transitions, over the letters that occur.
//!
//! In: a formula in normal form and an alphabet. Out: tables from (control, letter) to successors, and
//! which controls may stop at the end of a finite path or have nothing left to ask for. Never here: the
//! graph.
//!
//! A control is a set of obligations (formulas that hold of the rest of the path) and what the past
//! program remembers. Reading a letter splits the obligations into what holds now and what is asked of
//! the next position; an until that is put off leaves its bit on the transition. A run is accepting if
//! no bit stands on all but finitely many of its transitions. The construction is that of Couvreur; it
//! is done for concrete letters, so that only satisfied branches arise and dominated ones are dropped.

use super::alphabet::Alphabet;
use super::atoms::Truth;
use super::bits::Bits;
use super::normal::{Form, FormId, Normal, both, negated};
use bombus_base::hash::HashMap;

/// A transition of the automaton: where it leads and which untils it puts off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Move {
    pub control: u32,
    pub postponed: u64,
}

pub(super) struct Automaton {
    pub controls: u32,
    /// The controls below this are those that lie behind a cyclic one, that included.
    pub searched: u32,
    /// The place of each control in the order in which they arose.
    order: Vec<u32>,
    letters: usize,
    classes: usize,
    pub initial: u32,
    /// Where the moves of (control, letter) begin; one more at the end.
    first: Vec<u32>,
    moves: Vec<Move>,
    /// (control, letter) pairs where an unknown truth may have hidden a move.
    unsure: Bits,
    /// (control, class) pairs that accept a path ending there; and those where that is unknown.
    ends: Bits,
    unsure_ends: Bits,
    /// (control, class) pairs with nothing left to ask for, whatever follows.
    discharged: Bits,
    /// Controls on a cycle that may be accepting.
    cyclic: Vec<bool>,
}

/// The formula needs an automaton beyond reason; the check is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

const MAX_TABLE: usize = 1 << 21;
/// Expansions of a control at a letter under a guess; each takes microseconds.
const MAX_WORK: usize = 1 << 22;
const MAX_BRANCHES: usize = 1 << 12;
const MAX_PROPHECIES: usize = 10;

impl Automaton {
    pub fn new(normal: &Normal, root: FormId, alphabet: &Alphabet) -> Result<Automaton, TooLarge> {
        if normal.untils() > 64 || normal.prophecies.len() > MAX_PROPHECIES {
            return Err(TooLarge);
        }
        let mut builder = Builder {
            normal,
            numbers: HashMap::new(),
            controls: Vec::new(),
            rows: Vec::new(),
            unsure: Vec::new(),
            work: 0,
        };
        let letters = alphabet.letters.len();
        let initial = builder.control(vec![root], normal.past.start());
        let mut at = 0;
        while at < builder.controls.len() {
            for letter in &alphabet.letters {
                builder.step(at, letter)?;
            }
            at += 1;
            if at * letters.max(alphabet.ends.len()) > MAX_TABLE {
                return Err(TooLarge);
            }
        }
        let (mut ends, mut unsure_ends, mut discharged) = (Vec::new(), Vec::new(), Vec::new());
        for control in 0..builder.controls.len() {
            for class in 0..alphabet.ends.len() {
                let (accepts, unsure) = builder.stops(control, &alphabet.ends[class])?;
                ends.push(accepts);
                unsure_ends.push(unsure);
                discharged.push(builder.is_discharged(control, &alphabet.opens[class])?);
            }
        }
        let mut draft = Draft {
            letters,
            classes: alphabet.ends.len(),
            initial,
            rows: builder.rows,
            unsure: builder.unsure,
            ends,
            unsure_ends,
            discharged,
        };
        draft.merge_equivalent();
        Ok(draft.freeze())
    }

    /// The moves from a control on a letter, as a range for `move_at`.
    #[inline]
    pub fn range(&self, control: u32, letter: u32) -> (u32, u32) {
        let at = control as usize * self.letters + letter as usize;
        (self.first[at], self.first[at + 1])
    }

    #[inline]
    pub fn move_at(&self, at: u32) -> Move {
        self.moves[at as usize]
    }

    /// No cycle can be accepting: only ends and discharged controls matter.
    pub fn is_terminal(&self) -> bool {
        !self.cyclic.contains(&true)
    }

    /// Whether the initial control may stay whatever is read, and lies on no accepting cycle: the path may
    /// then begin to fail in any state that can be reached.
    pub fn waits(&self) -> bool {
        let stays = |letter| {
            let (at, stop) = self.range(self.initial, letter);
            (at..stop).any(|m| self.move_at(m).control == self.initial)
        };
        !self.is_cyclic(self.initial) && (0..self.letters as u32).all(stays)
    }

    /// The order among controls.
    pub fn rank(&self, control: u32) -> u32 {
        self.order[control as usize]
    }

    /// Whether an accepting cycle may pass here.
    #[inline]
    pub fn is_cyclic(&self, control: u32) -> bool {
        self.cyclic[control as usize]
    }

    pub fn any_unsure(&self) -> bool {
        !self.unsure.is_empty()
    }

    pub fn is_unsure(&self, control: u32, letter: u32) -> bool {
        self.unsure.contains(control as usize * self.letters + letter as usize)
    }

    /// Whether a path may end here.
    #[inline]
    pub fn ends(&self, control: u32, class: u32) -> Truth {
        let at = control as usize * self.classes + class as usize;
        if self.ends.contains(at) {
            Truth::True
        } else if self.unsure_ends.contains(at) {
            Truth::Unknown
        } else {
            Truth::False
        }
    }

    #[inline]
    pub fn is_discharged(&self, control: u32, class: u32) -> bool {
        self.discharged.contains(control as usize * self.classes + class as usize)
    }
}

/// What a formula may rely on at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// There is a next position.
    Next,
    /// The path ends here.
    End,
    /// Nothing is known.
    Open,
}

struct Builder<'n> {
    normal: &'n Normal,
    numbers: HashMap<(Vec<FormId>, Vec<Truth>), u32>,
    controls: Vec<(Vec<FormId>, Vec<Truth>)>,
    /// For each control and letter, in that order.
    rows: Vec<Vec<Move>>,
    unsure: Vec<bool>,
    work: usize,
}

impl Builder<'_> {
    /// The number of a control. What is implied by other obligations is left out, and memory that no
    /// obligation reads is forgotten.
    fn control(&mut self, mut obligations: Vec<FormId>, mut slots: Vec<Truth>) -> u32 {
        obligations.retain(|f| self.normal.form(*f) != Form::True);
        obligations.sort_unstable();
        obligations.dedup();
        let implied = |f: FormId| {
            obligations.iter().any(|&other| {
                other != f
                    && match (self.normal.form(other), self.normal.form(f)) {
                        // f R g asks for g now.
                        (Form::Release(_, now), _) if now == f => true,
                        // g now fulfils f U g.
                        (_, Form::Until(_, g, _)) => g == other,
                        (_, Form::Or(a, b)) => a == other || b == other,
                        _ => false,
                    }
            })
        };
        let kept: Vec<FormId> = obligations.iter().copied().filter(|&f| !implied(f)).collect();
        if !kept.iter().any(|&f| self.normal.reads_past(f)) {
            slots.clear();
        }
        let key = (kept, slots);
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        let number = self.controls.len() as u32;
        self.controls.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    /// How many guesses a position asks for: none if no memory is kept.
    fn guesses(&self, slots: &[Truth]) -> u32 {
        if slots.is_empty() { 1 } else { 1 << self.normal.prophecies.len() }
    }

    /// The obligations at a position under one guess, and the values of past formulas there.
    fn guessed(&self, control: usize, letter: &[Truth], guess: u32) -> (Vec<FormId>, Vec<Truth>) {
        let (obligations, slots) = &self.controls[control];
        let mut todo = obligations.clone();
        if slots.is_empty() {
            return (todo, Vec::new());
        }
        for (p, &(holds, fails)) in self.normal.prophecies.iter().enumerate() {
            todo.push(if guess >> p & 1 == 1 { holds } else { fails });
        }
        let values = self.normal.past.values(letter, |p| (guess >> p & 1 == 1).into(), slots);
        (todo, values)
    }

    fn step(&mut self, control: usize, letter: &[Truth]) -> Result<(), TooLarge> {
        let mut row: Vec<Move> = Vec::new();
        let mut unsure = false;
        for guess in 0..self.guesses(&self.controls[control].1) {
            self.work += 1;
            if self.work > MAX_WORK {
                return Err(TooLarge);
            }
            let (todo, values) = self.guessed(control, letter, guess);
            let mut expansion = Expansion::new(self.normal, letter, &values, Beyond::Next);
            expansion.run(todo, Vec::new(), Vec::new(), 0)?;
            unsure |= expansion.unsure;
            let branches = expansion.branches;
            for branch in branches {
                let slots = if values.is_empty() { Vec::new() } else { self.normal.past.remembered(&values) };
                row.push(Move { control: self.control(branch.next, slots), postponed: branch.postponed });
            }
        }
        row.sort_unstable();
        row.dedup();
        self.rows.push(row);
        self.unsure.push(unsure);
        Ok(())
    }

    /// Whether a path may end at a position with this letter, and whether an unknown truth forbade it.
    fn stops(&self, control: usize, letter: &[Truth]) -> Result<(bool, bool), TooLarge> {
        let mut unsure = false;
        for guess in 0..self.guesses(&self.controls[control].1) {
            let (todo, values) = self.guessed(control, letter, guess);
            let mut expansion = Expansion::new(self.normal, letter, &values, Beyond::End);
            expansion.run(todo, Vec::new(), Vec::new(), 0)?;
            if !expansion.branches.is_empty() {
                return Ok((true, false));
            }
            unsure |= expansion.unsure;
        }
        Ok((false, unsure))
    }

    /// Whether the obligations hold here whatever follows.
    fn is_discharged(&self, control: usize, open: &[Truth]) -> Result<bool, TooLarge> {
        let (obligations, slots) = &self.controls[control];
        let values = if slots.is_empty() {
            Vec::new()
        } else {
            self.normal.past.values(open, |_| Truth::Unknown, slots)
        };
        let mut expansion = Expansion::new(self.normal, open, &values, Beyond::Open);
        expansion.run(obligations.clone(), Vec::new(), Vec::new(), 0)?;
        Ok(!expansion.branches.is_empty())
    }
}

/// One way to meet all obligations at a position.
struct Branch {
    next: Vec<FormId>,
    postponed: u64,
}

struct Expansion<'e> {
    normal: &'e Normal,
    letter: &'e [Truth],
    past: &'e [Truth],
    beyond: Beyond,
    branches: Vec<Branch>,
    unsure: bool,
    budget: usize,
}

impl<'e> Expansion<'e> {
    fn new(normal: &'e Normal, letter: &'e [Truth], past: &'e [Truth], beyond: Beyond) -> Self {
        Expansion { normal, letter, past, beyond, branches: Vec::new(), unsure: false, budget: MAX_BRANCHES }
    }

    /// The truth of a formula without temporal operators of the future.
    fn local(&self, f: FormId) -> Truth {
        let signed = |value: Truth, positive: bool| if positive { value } else { negated(value) };
        match self.normal.form(f) {
            Form::True => Truth::True,
            Form::False => Truth::False,
            Form::Atom(a, positive) => signed(self.letter[a as usize], positive),
            Form::Past(p, positive) => signed(self.past[p as usize], positive),
            Form::And(f, g) => both(self.local(f), self.local(g)),
            Form::Or(f, g) => negated(both(negated(self.local(f)), negated(self.local(g)))),
            Form::Next(_) | Form::WeakNext(_) | Form::Until(..) | Form::Release(..) => {
                unreachable!("temporal formulas are not local")
            }
        }
    }

    /// Meets every formula of `todo`; each complete way becomes a branch.
    fn run(
        &mut self,
        mut todo: Vec<FormId>,
        mut done: Vec<FormId>,
        mut next: Vec<FormId>,
        postponed: u64,
    ) -> Result<(), TooLarge> {
        while let Some(f) = todo.pop() {
            if done.contains(&f) {
                continue;
            }
            done.push(f);
            if self.normal.is_local(f) {
                match self.local(f) {
                    Truth::True => continue,
                    Truth::False => return Ok(()),
                    Truth::Unknown => {
                        self.unsure = true;
                        return Ok(());
                    }
                }
            }
            match self.normal.form(f) {
                Form::And(a, b) => todo.extend([a, b]),
                Form::Or(a, b) => {
                    let mut other = todo.clone();
                    other.push(a);
                    self.branch(other, &done, &next, postponed)?;
                    todo.push(b);
                }
                Form::Next(a) => match self.beyond {
                    Beyond::Next => next.push(a),
                    Beyond::End | Beyond::Open => return Ok(()),
                },
                Form::WeakNext(a) => match self.beyond {
                    Beyond::Next => next.push(a),
                    Beyond::End => {}
                    Beyond::Open => return Ok(()),
                },
                Form::Until(a, b, number) => {
                    let fulfilled = self.normal.is_local(b).then(|| self.local(b));
                    if fulfilled == Some(Truth::True) {
                        continue;
                    }
                    if self.beyond == Beyond::Next {
                        let mut other = todo.clone();
                        other.push(a);
                        let mut later = next.clone();
                        later.push(f);
                        self.branch(other, &done, &later, postponed | 1 << number)?;
                    }
                    todo.push(b);
                }
                Form::Release(a, b) => {
                    todo.push(b);
                    match self.beyond {
                        Beyond::End => {}
                        Beyond::Open => todo.push(a),
                        Beyond::Next => {
                            if self.normal.is_local(a) && self.local(a) == Truth::True {
                                continue;
                            }
                            let mut other = todo.clone();
                            other.push(a);
                            self.branch(other, &done, &next, postponed)?;
                            next.push(f);
                        }
                    }
                }
                Form::True | Form::False | Form::Atom(..) | Form::Past(..) => unreachable!("local"),
            }
        }
        next.sort_unstable();
        next.dedup();
        self.keep(Branch { next, postponed });
        Ok(())
    }

    fn branch(
        &mut self,
        todo: Vec<FormId>,
        done: &[FormId],
        next: &[FormId],
        postponed: u64,
    ) -> Result<(), TooLarge> {
        self.budget = self.budget.checked_sub(1).ok_or(TooLarge)?;
        self.run(todo, done.to_vec(), next.to_vec(), postponed)
    }

    /// Adds a branch unless another asks for less; drops those that ask for more.
    fn keep(&mut self, new: Branch) {
        let within = |a: &Branch, b: &Branch| {
            a.postponed & !b.postponed == 0 && a.next.iter().all(|f| b.next.binary_search(f).is_ok())
        };
        if self.branches.iter().any(|old| within(old, &new)) {
            return;
        }
        self.branches.retain(|old| !within(&new, old));
        self.branches.push(new);
    }
}

/// The automaton before equivalent controls are merged.
struct Draft {
    letters: usize,
    classes: usize,
    initial: u32,
    rows: Vec<Vec<Move>>,
    unsure: Vec<bool>,
    ends: Vec<bool>,
    unsure_ends: Vec<bool>,
    discharged: Vec<bool>,
}

impl Draft {
    fn controls(&self) -> usize {
        self.rows.len().checked_div(self.letters).unwrap_or(self.ends.len() / self.classes.max(1)).max(1)
    }

    /// Merges controls that behave alike (bisimulation by partition refinement).
    fn merge_equivalent(&mut self) {
        let count = self.controls();
        let (letters, classes) = (self.letters, self.classes);
        let stop = |c: usize| {
            let range = c * classes..(c + 1) * classes;
            (&self.ends[range.clone()], &self.unsure_ends[range.clone()], &self.discharged[range])
        };
        let mut part: Vec<u32> = vec![0; count];
        let mut parts = 1;
        loop {
            let mut numbers = HashMap::new();
            let refined: Vec<u32> = (0..count)
                .map(|c| {
                    let row: Vec<Vec<Move>> = (c * letters..(c + 1) * letters)
                        .map(|at| {
                            let rename = |m: &Move| Move { control: part[m.control as usize], ..*m };
                            let mut moves: Vec<Move> = self.rows[at].iter().map(rename).collect();
                            moves.sort_unstable();
                            moves.dedup();
                            moves
                        })
                        .collect();
                    let key = (part[c], row, &self.unsure[c * letters..(c + 1) * letters], stop(c));
                    let fresh = numbers.len() as u32;
                    *numbers.entry(key).or_insert(fresh)
                })
                .collect();
            let found = numbers.len();
            drop(numbers);
            part = refined;
            if found == parts {
                break;
            }
            parts = found;
        }
        let representative: Vec<usize> = (0..parts)
            .map(|p| part.iter().position(|&q| q as usize == p).expect("no part is empty"))
            .collect();
        let pick = |values: &[bool], width: usize| -> Vec<bool> {
            representative.iter().flat_map(|&c| values[c * width..(c + 1) * width].iter().copied()).collect()
        };
        let rows = representative.iter().flat_map(|&c| &self.rows[c * letters..(c + 1) * letters]);
        let rows = rows
            .map(|row| {
                let mut moves: Vec<Move> =
                    row.iter().map(|m| Move { control: part[m.control as usize], ..*m }).collect();
                moves.sort_unstable();
                moves.dedup();
                moves
            })
            .collect();
        *self = Draft {
            letters,
            classes,
            initial: part[self.initial as usize],
            rows,
            unsure: pick(&self.unsure, letters),
            ends: pick(&self.ends, classes),
            unsure_ends: pick(&self.unsure_ends, classes),
            discharged: pick(&self.discharged, classes),
        };
    }

    /// The controls on a cycle that loses every until bit. A control discharged in every class needs no
    /// cycle: it has accepted.
    fn cyclic(&self) -> Vec<bool> {
        let count = self.controls();
        let settled = |c: usize| self.discharged[c * self.classes..(c + 1) * self.classes].iter().all(|d| *d);
        let reach = |from: usize| {
            let mut seen = vec![false; count];
            let mut open = vec![from];
            while let Some(c) = open.pop() {
                for m in self.rows[c * self.letters..(c + 1) * self.letters].iter().flatten() {
                    let to = m.control as usize;
                    if !settled(to) && !seen[to] {
                        seen[to] = true;
                        open.push(to);
                    }
                }
            }
            seen
        };
        let reached: Vec<Vec<bool>> =
            (0..count).map(|c| if settled(c) { vec![false; count] } else { reach(c) }).collect();
        let accepts = |c: usize| {
            if !reached[c][c] {
                return false;
            }
            let mut always = !0u64;
            for d in (0..count).filter(|&d| reached[c][d] && reached[d][c]) {
                for m in self.rows[d * self.letters..(d + 1) * self.letters].iter().flatten() {
                    let to = m.control as usize;
                    if reached[c][to] && reached[to][c] {
                        always &= m.postponed;
                    }
                }
            }
            always == 0
        };
        (0..count).map(accepts).collect()
    }

    /// The controls, those first that a cyclic one leads to or that are cyclic; and how many these are.
    fn searched_first(&self, cyclic: &[bool]) -> (Vec<u32>, u32) {
        let mut behind = cyclic.to_vec();
        let mut open: Vec<usize> = (0..behind.len()).filter(|c| cyclic[*c]).collect();
        while let Some(c) = open.pop() {
            for m in self.rows[c * self.letters..(c + 1) * self.letters].iter().flatten() {
                let to = m.control as usize;
                if !behind[to] {
                    behind[to] = true;
                    open.push(to);
                }
            }
        }
        let (mut first, last): (Vec<u32>, Vec<u32>) =
            (0..behind.len() as u32).partition(|c| behind[*c as usize]);
        let searched = first.len() as u32;
        first.extend(last);
        (first, searched)
    }

    fn freeze(self) -> Automaton {
        const SMALL: usize = 256;
        let controls = self.controls();
        let cyclic = if controls <= SMALL { self.cyclic() } else { vec![true; controls] };
        let (order, searched) = self.searched_first(&cyclic);
        let mut number = vec![0; controls];
        for (new, old) in order.iter().enumerate() {
            number[*old as usize] = new as u32;
        }
        // The values of each control stand together, `width` of them.
        let bits = |values: &[bool], width: usize| {
            let old = |i: usize| order[i / width] as usize * width + i % width;
            Bits::from_fn(values.len(), |i| values[old(i)])
        };
        let mut first = Vec::with_capacity(self.rows.len() + 1);
        let mut moves: Vec<Move> = Vec::new();
        for &control in &order {
            let at = control as usize * self.letters;
            for row in &self.rows[at..at + self.letters] {
                first.push(moves.len() as u32);
                moves.extend(row.iter().map(|m| Move { control: number[m.control as usize], ..*m }));
            }
        }
        first.push(moves.len() as u32);
        Automaton {
            controls: controls as u32,
            searched,
            letters: self.letters,
            classes: self.classes,
            initial: number[self.initial as usize],
            first,
            moves,
            unsure: bits(&self.unsure, self.letters),
            ends: bits(&self.ends, self.classes),
            unsure_ends: bits(&self.unsure_ends, self.classes),
            discharged: bits(&self.discharged, self.classes),
            cyclic: order.iter().map(|old| cyclic[*old as usize]).collect(),
            order,
        }
    }
}
