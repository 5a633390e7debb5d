//! The operational rules: which transitions a process term has.
//!
//! In: the number of a term. Out: its transitions, sorted, each once. ✓ of a component of a parallel
//! composition becomes τ and leaves Ω in its place; when all are Ω the composition does ✓.
//! Never here: exploration.

use super::core::{Ex, Field, Kind, Pat};
use super::eval::Eval;
use super::term::{Alphabet, TAU, TICK, Term};
use super::value::{Bounds, Data, Env, Res, SetOf, Suspended, data};
use std::collections::BTreeMap;

pub type Steps = Vec<(u32, u32)>;

/// Operators inside of each other.
const DEEPEST: usize = 3_000;
/// Alternatives of one communication.
const WIDEST: usize = 1_000_000;

/// One way through the fields of a communication.
struct Way {
    parts: Vec<Data>,
    env: Env,
    /// The values that were chosen internally.
    chosen: Vec<Data>,
}

impl Eval {
    pub fn steps(&mut self, term: u32) -> Res<Steps> {
        self.steps_within(term, 0)
    }

    pub(super) fn steps_within(&mut self, number: u32, depth: usize) -> Res<Steps> {
        if depth > DEEPEST {
            return self.give_up(format!(
                "more than {DEEPEST} operators of a process nest: a process that stands below an operator calls itself"
            ));
        }
        let deeper = depth + 1;
        let term = self.terms.get(number);
        let mut out: Steps = Vec::new();
        match &*term {
            Term::Stop | Term::Omega => {}
            Term::Skip => out.push((TICK, self.terms.number(Term::Omega))),
            Term::Diverge => out.push((TAU, number)),
            Term::Run(events) => out.extend(events.iter().map(|e| (*e, number))),
            Term::Chaos(events) => {
                out.extend(events.iter().map(|e| (*e, number)));
                out.push((TAU, self.terms.number(Term::Stop)));
            }
            Term::Prefix(e, env) => out = self.prefix(e, env)?,
            Term::Offers(list) => {
                for (event, then) in list.iter() {
                    out.push((*event, self.resumed(then)));
                }
            }
            Term::Internal(list) => {
                for one in list.iter() {
                    out.push((TAU, self.resumed(one)));
                }
            }
            Term::External(list) => {
                for (i, one) in list.iter().enumerate() {
                    for (event, to) in self.steps_within(*one, deeper)? {
                        out.push(if event == TAU {
                            let mut list = list.to_vec();
                            list[i] = to;
                            (TAU, self.terms.number(Term::External(list.into())))
                        } else {
                            (event, to)
                        });
                    }
                }
            }
            Term::Timeout(..) | Term::Interrupt(..) | Term::Sequence(..) | Term::Exception(..) => {
                out = self.in_turn(&term, deeper)?;
            }
            Term::Hide(..) | Term::Rename(..) => out = self.relabelled(&term, deeper)?,
            Term::Parallel(..) | Term::Alphabetised(..) => self.parallel(&term, deeper, &mut out)?,
            Term::Link(p, relation, q) => self.link(*p, relation, *q, deeper, &mut out)?,
            Term::Choice(..) | Term::SharedInterrupt(..) => out = self.shared(&term, deeper)?,
            Term::Timed(..) | Term::Delay(..) | Term::Urgent(..) => {
                out = self.in_time(number, &term, deeper)?
            }
            Term::Buffer(relation, size, inside) => {
                if (inside.len() as u64) < *size {
                    for (input, output) in relation.iter() {
                        let inside = inside.iter().copied().chain([*output]).collect();
                        let to = Term::Buffer(relation.clone(), *size, inside);
                        out.push((*input, self.terms.number(to)));
                    }
                }
                if let Some((first, rest)) = inside.split_first() {
                    let to = Term::Buffer(relation.clone(), *size, rest.into());
                    out.push((*first, self.terms.number(to)));
                }
            }
            Term::Compressed(_, p) => out = self.steps_within(*p, deeper)?,
            Term::Faulty(fault) => return Err(fault.clone()),
        }
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }

    /// The process that a suspended one becomes.
    fn resumed(&mut self, suspended: &Suspended) -> u32 {
        let to = self.resume(suspended);
        self.reached(to)
    }

    /// What a step leads to. A process that cannot be computed is a fault of the state after the step, not before it.
    fn reached(&mut self, to: Res<u32>) -> u32 {
        to.unwrap_or_else(|fault| self.terms.number(Term::Faulty(fault)))
    }

    /// Operators that give way from one process to another.
    fn in_turn(&mut self, term: &Term, deeper: usize) -> Res<Steps> {
        let mut out: Steps = Vec::new();
        match term {
            Term::Timeout(p, q) => {
                for (event, to) in self.steps_within(*p, deeper)? {
                    let stays = event == TAU;
                    let to = if stays { self.terms.number(Term::Timeout(to, q.clone())) } else { to };
                    out.push((event, to));
                }
                out.push((TAU, self.resumed(q)));
            }
            Term::Interrupt(p, q) => {
                for (event, to) in self.steps_within(*p, deeper)? {
                    let to = if event == TICK { to } else { self.terms.number(Term::Interrupt(to, *q)) };
                    out.push((event, to));
                }
                for (event, to) in self.steps_within(*q, deeper)? {
                    let to = if event == TAU { self.terms.number(Term::Interrupt(*p, to)) } else { to };
                    out.push((event, to));
                }
            }
            Term::Sequence(p, q) => {
                for (event, to) in self.steps_within(*p, deeper)? {
                    out.push(if event == TICK {
                        (TAU, self.resumed(q))
                    } else {
                        (event, self.terms.number(Term::Sequence(to, q.clone())))
                    });
                }
            }
            Term::Exception(p, events, q) => {
                for (event, to) in self.steps_within(*p, deeper)? {
                    let to = if events.binary_search(&event).is_ok() {
                        self.resumed(q)
                    } else if event == TICK {
                        to
                    } else {
                        self.terms.number(Term::Exception(to, events.clone(), q.clone()))
                    };
                    out.push((event, to));
                }
            }
            _ => {}
        }
        Ok(out)
    }

    /// Hiding and renaming.
    fn relabelled(&mut self, term: &Term, deeper: usize) -> Res<Steps> {
        let mut out: Steps = Vec::new();
        match term {
            Term::Hide(p, events) => {
                for (event, to) in self.steps_within(*p, deeper)? {
                    let hidden = events.binary_search(&event).is_ok();
                    let to =
                        if event == TICK { to } else { self.terms.number(Term::Hide(to, events.clone())) };
                    out.push((if hidden { TAU } else { event }, to));
                }
            }
            Term::Rename(p, relation) => {
                for (event, to) in self.steps_within(*p, deeper)? {
                    if event == TICK {
                        out.push((TICK, to));
                        continue;
                    }
                    let to = self.terms.number(Term::Rename(to, relation.clone()));
                    let from = relation.partition_point(|(a, _)| *a < event);
                    let images: Vec<u32> =
                        relation[from..].iter().take_while(|(a, _)| *a == event).map(|(_, b)| *b).collect();
                    if images.is_empty() {
                        out.push((event, to));
                    }
                    out.extend(images.into_iter().map(|b| (b, to)));
                }
            }
            _ => {}
        }
        Ok(out)
    }

    fn parallel(&mut self, term: &Term, deeper: usize, out: &mut Steps) -> Res<()> {
        match term {
            Term::Parallel(events, list) => {
                let alone = |_: usize, e: u32| events.binary_search(&e).is_err();
                let wanted: Vec<&Alphabet> = vec![events; list.len()];
                let build = |list: Vec<u32>| Term::Parallel(events.clone(), list.into());
                self.together(list, &wanted, &alone, &|_, _| true, &build, deeper, out)?;
            }
            Term::Alphabetised(pairs) => {
                let list: Vec<u32> = pairs.iter().map(|(_, p)| *p).collect();
                let wanted: Vec<&Alphabet> = pairs.iter().map(|(a, _)| a).collect();
                let may = |i: usize, e: u32| pairs[i].0.binary_search(&e).is_ok();
                let build = |list: Vec<u32>| {
                    Term::Alphabetised(pairs.iter().map(|(a, _)| a.clone()).zip(list).collect())
                };
                self.together(&list, &wanted, &|_, _| false, &may, &build, deeper, out)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Parallel composition: events that are `alone` move one component, the others all that want them.
    #[allow(clippy::too_many_arguments)]
    fn together(
        &mut self,
        list: &[u32],
        wanted: &[&Alphabet],
        alone: &dyn Fn(usize, u32) -> bool,
        may: &dyn Fn(usize, u32) -> bool,
        build: &dyn Fn(Vec<u32>) -> Term,
        depth: usize,
        out: &mut Steps,
    ) -> Res<()> {
        let omega = self.terms.number(Term::Omega);
        if list.iter().all(|p| *p == omega) {
            out.push((TICK, omega));
            return Ok(());
        }
        let mut each: Vec<BTreeMap<u32, Vec<u32>>> = Vec::new();
        for (i, one) in list.iter().enumerate() {
            let mut by_event: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (event, to) in self.steps_within(*one, depth)? {
                if event == TAU || event == TICK {
                    let to = if event == TICK { omega } else { to };
                    let moved = replaced(list, i, to);
                    out.push((TAU, self.terms.number(build(moved))));
                } else if alone(i, event) {
                    let moved = replaced(list, i, to);
                    out.push((event, self.terms.number(build(moved))));
                } else if may(i, event) {
                    by_event.entry(event).or_default().push(to);
                }
            }
            each.push(by_event);
        }
        let mut shared: Vec<u32> = each.iter().flat_map(|m| m.keys().copied()).collect();
        shared.sort_unstable();
        shared.dedup();
        for event in shared {
            let mut moved: Vec<Vec<u32>> = vec![list.to_vec()];
            for (i, by_event) in each.iter().enumerate() {
                if wanted[i].binary_search(&event).is_err() {
                    continue;
                }
                let targets = by_event.get(&event).map_or(&[][..], Vec::as_slice);
                moved = moved.iter().flat_map(|m| targets.iter().map(|t| replaced(m, i, *t))).collect();
            }
            for list in moved {
                out.push((event, self.terms.number(build(list))));
            }
        }
        Ok(())
    }

    fn link(&mut self, p: u32, relation: &[(u32, u32)], q: u32, depth: usize, out: &mut Steps) -> Res<()> {
        let omega = self.terms.number(Term::Omega);
        if p == omega && q == omega {
            out.push((TICK, omega));
            return Ok(());
        }
        let (left, right) = (self.steps_within(p, depth)?, self.steps_within(q, depth)?);
        let build =
            |terms: &mut super::term::Terms, p: u32, q: u32| terms.number(Term::Link(p, relation.into(), q));
        for (event, to) in &left {
            let linked: Vec<u32> = relation.iter().filter(|(a, _)| a == event).map(|(_, b)| *b).collect();
            if linked.is_empty() {
                let (event, to) = if *event == TICK { (TAU, omega) } else { (*event, *to) };
                out.push((event, build(&mut self.terms, to, q)));
            }
            for (_, other) in right.iter().filter(|(e, _)| linked.contains(e)) {
                out.push((TAU, build(&mut self.terms, *to, *other)));
            }
        }
        for (event, to) in &right {
            if !relation.iter().any(|(_, b)| b == event) {
                let (event, to) = if *event == TICK { (TAU, omega) } else { (*event, *to) };
                out.push((event, build(&mut self.terms, p, to)));
            }
        }
        Ok(())
    }

    /// The events of a communication.
    pub(super) fn prefix(&mut self, e: &Ex, bounds: &Bounds) -> Res<Steps> {
        let Kind::Prefix(channel, fields, then) = &e.kind else { return self.fail("no communication") };
        let env = self.env(bounds);
        let outer = std::mem::replace(&mut self.here, e.span);
        let head = self.eval_data(channel, &env)?;
        self.here = channel.span;
        if !matches!(head.parts()[0], Data::Channel(_)) {
            return self.fail(format!("{} is no event", self.show(&head)));
        }
        let mut ways = vec![Way { parts: head.parts().to_vec(), env, chosen: Vec::new() }];
        let fields = self.single_inputs(fields);
        let internal = fields.iter().any(|f| matches!(f, Field::Choice(..)));
        for (i, field) in fields.iter().enumerate() {
            let last = i + 1 == fields.len();
            let mut next = Vec::new();
            for way in ways {
                self.field(field, last, way, channel, &mut next)?;
                if next.len() > WIDEST {
                    return self.give_up(format!("a communication with more than {WIDEST} events"));
                }
            }
            ways = next;
        }
        self.here = channel.span;
        let mut by_choice: BTreeMap<Vec<Data>, Vec<(u32, Suspended)>> = BTreeMap::new();
        let mut out = Vec::new();
        for way in ways {
            let event = self.event(&Data::dotted(way.parts))?;
            if internal {
                let then = self.suspend(then, &way.env)?;
                by_choice.entry(way.chosen).or_default().push((event, then));
            } else {
                let to = self.term(then, &way.env);
                out.push((event, self.reached(to)));
            }
        }
        if internal && by_choice.is_empty() {
            return self.fail("an internal choice of no values");
        }
        for (_, mut offers) in by_choice {
            offers.sort_unstable();
            offers.dedup();
            out.push((TAU, self.terms.number(Term::Offers(offers.into()))));
        }
        self.here = outer;
        Ok(out)
    }

    /// `?x.y` that others follow is `?x?y`, unless a constructor holds the parts together.
    fn single_inputs(&mut self, fields: &[Field]) -> Vec<Field> {
        let mut out = Vec::new();
        for (i, field) in fields.iter().enumerate() {
            match field {
                Field::Input(Pat::Dot(parts), None) if i + 1 < fields.len() => {
                    out.extend(self.whole_patterns(parts).into_iter().map(|p| Field::Input(p, None)));
                }
                Field::Choice(Pat::Dot(parts), None) if i + 1 < fields.len() => {
                    out.extend(self.whole_patterns(parts).into_iter().map(|p| Field::Choice(p, None)));
                }
                other => out.push(other.clone()),
            }
        }
        out
    }

    /// The parts of a dotted pattern, those that make one whole value joined.
    fn whole_patterns(&mut self, parts: &[Pat]) -> Vec<Pat> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let len = self.pattern_extent(&parts[at..]).min(parts.len() - at);
            out.push(if len == 1 { parts[at].clone() } else { Pat::Dot(parts[at..at + len].to_vec()) });
            at += len;
        }
        out
    }

    fn pattern_extent(&mut self, parts: &[Pat]) -> usize {
        let Some(Pat::Const(name)) = parts.first() else { return 1 };
        let arity = match self.constant(*name) {
            Some(Data::Const(n)) => self.arity(false, n as usize),
            Some(Data::Channel(n)) => self.arity(true, n as usize),
            _ => 0,
        };
        let mut at = 1;
        for _ in 0..arity {
            at += self.pattern_extent(parts.get(at..).unwrap_or(&[]));
        }
        at
    }

    /// The constructor or channel of a name.
    pub fn constant(&self, name: super::token::Sym) -> Option<Data> {
        match self.script.globals.get(&name)? {
            super::scope::Global::Constructor(n) => Some(Data::Const(*n)),
            super::scope::Global::Channel(n) => Some(Data::Channel(*n)),
            _ => None,
        }
    }

    fn field(&mut self, field: &Field, last: bool, way: Way, channel: &Ex, out: &mut Vec<Way>) -> Res<()> {
        let (pat, within) = match field {
            Field::Output(value) => {
                let span = value.span;
                let value = self.eval_data(value, &way.env)?;
                let mut parts = way.parts;
                parts.extend(value.parts().iter().cloned());
                self.here = span;
                self.progress(&parts)?;
                out.push(Way { parts, ..way });
                return Ok(());
            }
            Field::Input(pat, within) | Field::Choice(pat, within) => (pat, within),
        };
        let internal = matches!(field, Field::Choice(..));
        let set = match within {
            Some(set) => Some(self.set(set, &way.env)?),
            None => None,
        };
        self.here = channel.span;
        let rows: Vec<Vec<Data>> = match &set {
            Some(set) => self.rows_within(&way.parts, set, last)?,
            None if last => self.completions(&way.parts)?,
            None => self.next_field(&way.parts)?,
        };
        for row in rows {
            let value = Data::dotted_or_none(row.clone());
            let Some(value) = value else {
                return self.fail(format!(
                    "{} has no further field to read",
                    self.show(&Data::dotted(way.parts.clone()))
                ));
            };
            if let Some(env) = self.matching(pat, data(value.clone()), &way.env)? {
                let mut chosen = way.chosen.clone();
                if internal {
                    chosen.push(value);
                }
                out.push(Way { parts: [way.parts.as_slice(), &row].concat(), env, chosen });
            }
        }
        Ok(())
    }

    /// The values of a set that the next fields of a channel can take.
    fn rows_within(&mut self, parts: &[Data], set: &SetOf, last: bool) -> Res<Vec<Vec<Data>>> {
        if let SetOf::Finite(list) = set {
            let mut rows = Vec::new();
            for item in list {
                let longer = [parts, item.parts()].concat();
                if self.progress(&longer).is_ok() {
                    rows.push(item.parts().to_vec());
                }
            }
            return Ok(rows);
        }
        let all = if last { self.completions(parts)? } else { self.next_field(parts)? };
        let mut rows = Vec::new();
        for row in all {
            if self.is_member(&Data::dotted(row.clone()), set)? {
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

impl Data {
    fn dotted_or_none(parts: Vec<Data>) -> Option<Data> {
        (!parts.is_empty()).then(|| Data::dotted(parts))
    }
}

pub(super) fn replaced(list: &[u32], at: usize, by: u32) -> Vec<u32> {
    let mut list = list.to_vec();
    list[at] = by;
    list
}
