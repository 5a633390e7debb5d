//! Process expressions to terms: names, conditions and guards are unfolded until an operator stands at the head.
//!
//! In: expressions with environments. Out: numbers of terms. Right sides that are not needed yet stay
//! suspended. Never here: transitions.

use super::core::{Combine, Each, Ex, Kind, Over, Pairs};
use super::eval::Eval;
use super::term::{Alphabet, Relation, Term};
use super::value::{Data, Env, Res, SetOf, Suspended, Val};
use std::collections::{HashMap, HashSet};

/// Processes whose names are remembered: those of a composition are met first.
const MOST_CALLED: usize = 1000;

impl Eval {
    /// The term of a process expression.
    pub fn term(&mut self, e: &Ex, env: &Env) -> Res<u32> {
        match self.eval(e, env)? {
            Val::Data(Data::Proc(term)) => {
                self.remember_name(e, env, term);
                Ok(term)
            }
            // An event where a process is expected: the arrow after it was forgotten.
            _ => {
                self.here = e.span;
                self.fail("a process is expected here")
            }
        }
    }

    /// Remembers how the script calls a process, for messages.
    fn remember_name(&mut self, e: &Ex, env: &Env, term: u32) {
        if self.called.len() >= MOST_CALLED || self.called.contains_key(&term) {
            return;
        }
        let of_script = |name: &Ex| match name.kind {
            Kind::Name(sym) if env.find(sym).is_none() => Some(self.text(sym).to_string()),
            _ => None,
        };
        let text = match &e.kind {
            Kind::Apply(function, args) => of_script(function).map(|name| {
                let shown = |a: &Ex| self.known(a, env).map_or_else(|| "…".to_string(), |v| self.show(&v));
                let args: Vec<String> = args.iter().map(shown).collect();
                format!("{name}({})", args.join(", "))
            }),
            _ => of_script(e),
        };
        // Names of the prelude have a blank in them.
        if let Some(text) = text.filter(|text| !text.starts_with("timed ")) {
            self.called.insert(term, text);
        }
    }

    /// The term of a suspended process.
    pub fn resume(&mut self, suspended: &Suspended) -> Res<u32> {
        let env = self.env(&suspended.env);
        self.term(&suspended.expr, &env)
    }

    pub fn process(&mut self, e: &Ex, env: &Env) -> Res<u32> {
        let term = match &e.kind {
            Kind::Prefix(..) => Term::Prefix(e.clone(), self.bounds(env, &e.free)?),
            Kind::Guard(condition, body) => {
                if self.bool(condition, env)? {
                    return self.term(body, env);
                }
                Term::Stop
            }
            Kind::Combine(op, a, b) => match op {
                Combine::Interleave => {
                    let both = [self.term(a, env)?, self.term(b, env)?];
                    Term::Parallel([].into(), both.into())
                }
                Combine::Internal => Term::Internal([self.suspend(a, env)?, self.suspend(b, env)?].into()),
                Combine::External => Term::External([self.term(a, env)?, self.term(b, env)?].into()),
                Combine::Interrupt => Term::Interrupt(self.term(a, env)?, self.term(b, env)?),
                Combine::Timeout => Term::Timeout(self.term(a, env)?, self.suspend(b, env)?),
                Combine::Sequence => Term::Sequence(self.term(a, env)?, self.suspend(b, env)?),
            },
            Kind::Over(op, p, set, q) => {
                let process = self.term(p, env)?;
                let events = self.alphabet(set, env)?;
                match (op, q) {
                    (Over::Parallel, Some(q)) => Term::Parallel(events, [process, self.term(q, env)?].into()),
                    (Over::Choice, Some(q)) => Term::Choice(events, [process, self.term(q, env)?].into()),
                    (Over::Interrupt, Some(q)) => Term::SharedInterrupt(process, events, self.term(q, env)?),
                    (Over::Exception, Some(q)) => Term::Exception(process, events, self.suspend(q, env)?),
                    (Over::Project, _) => {
                        let hidden = self.all_but(&events)?;
                        Term::Hide(process, hidden)
                    }
                    _ => Term::Hide(process, events),
                }
            }
            Kind::Alphabetised(p, a, b, q) => {
                let (a, b) = (self.alphabet(a, env)?, self.alphabet(b, env)?);
                Term::Alphabetised([(a, self.term(p, env)?), (b, self.term(q, env)?)].into())
            }
            Kind::Link(p, pairs, q) => {
                let relation = self.relation(pairs, env)?;
                self.one_to_one(&relation)?;
                Term::Link(self.term(p, env)?, relation, self.term(q, env)?)
            }
            Kind::Rename(p, pairs) => {
                let relation = self.relation(pairs, env)?;
                Term::Rename(self.term(p, env)?, relation)
            }
            Kind::Each(each, stmts, body, none) => {
                let rows = self.rows(stmts, env)?;
                return match none {
                    Some(none) if rows.is_empty() => self.term(none, env),
                    _ => self.each(each, &rows, body, env),
                };
            }
            Kind::Timed(..) => Term::Timed(e.clone(), self.bounds(env, &e.free)?),
            _ => return self.fail("a process is expected here"),
        };
        Ok(self.terms.number(term))
    }

    fn each(&mut self, each: &Each, rows: &[Env], body: &Ex, env: &Env) -> Res<u32> {
        let term = match each {
            Each::Internal => {
                if rows.is_empty() {
                    return self.fail("an internal choice of no processes");
                }
                let all: Res<Vec<Suspended>> = rows.iter().map(|row| self.suspend(body, row)).collect();
                Term::Internal(all?.into())
            }
            Each::Sequence => return self.in_sequence(rows, body),
            Each::Link(pairs) => return self.linked(pairs, rows, body),
            Each::Alphabetised(set) => {
                let mut all = Vec::new();
                for row in rows {
                    all.push((self.alphabet(set, row)?, self.term(body, row)?));
                }
                if all.is_empty() { Term::Skip } else { Term::Alphabetised(all.into()) }
            }
            Each::External | Each::Interleave | Each::Parallel(_) | Each::Choice(_) => {
                let events = match each {
                    Each::Parallel(set) | Each::Choice(set) => self.alphabet(set, env)?,
                    _ => [].into(),
                };
                let all: Res<Vec<u32>> = rows.iter().map(|row| self.term(body, row)).collect();
                let all = all?;
                match (each, all.len()) {
                    (Each::External | Each::Choice(_), 0) => Term::Stop,
                    (_, 0) => Term::Skip,
                    (_, 1) => return Ok(all[0]),
                    (Each::External, _) => Term::External(all.into()),
                    (Each::Choice(_), _) => Term::Choice(events, all.into()),
                    _ => Term::Parallel(events, all.into()),
                }
            }
        };
        Ok(self.terms.number(term))
    }

    /// `; x:<…> @ P`: the first process, then the rest.
    fn in_sequence(&mut self, rows: &[Env], body: &Ex) -> Res<u32> {
        let Some((last, front)) = rows.split_last() else { return Ok(self.terms.number(Term::Skip)) };
        let mut rest = self.suspend(body, last)?;
        let Some((first, middle)) = front.split_first() else { return self.term(body, last) };
        for row in middle.iter().rev() {
            // `P ; (rest)` as an expression over the environment that both need.
            rest = self.then(body, row, rest)?;
        }
        let first = self.term(body, first)?;
        Ok(self.terms.number(Term::Sequence(first, rest)))
    }

    /// The suspended process `P ; Q` of a suspended `Q`: its name stands in the environment.
    fn then(&mut self, body: &Ex, env: &Env, rest: Suspended) -> Res<Suspended> {
        let name = super::token::Sym(u32::MAX);
        let next =
            crate::core::Expr { id: u32::MAX, span: body.span, kind: Kind::Name(name), free: [name].into() };
        let mut free: Vec<super::token::Sym> = body.free.to_vec();
        free.push(name);
        let expr = crate::core::Expr {
            // Told apart from the body itself by its highest bit.
            id: body.id | 1 << 31,
            span: body.span,
            kind: Kind::Combine(Combine::Sequence, body.clone(), next.into()),
            free: free.into(),
        };
        let mut bounds = self.bounds(env, &body.free)?.to_vec();
        bounds.insert(0, super::value::Bound::Later(name, rest));
        Ok(Suspended { expr: expr.into(), env: bounds.into() })
    }

    fn linked(&mut self, pairs: &Pairs, rows: &[Env], body: &Ex) -> Res<u32> {
        let Some((last, front)) = rows.split_last() else {
            return self.fail("a linked parallel of no processes");
        };
        let mut term = self.term(body, last)?;
        for row in front.iter().rev() {
            let relation = self.relation(pairs, row)?;
            self.one_to_one(&relation)?;
            let left = self.term(body, row)?;
            term = self.terms.number(Term::Link(left, relation, term));
        }
        Ok(term)
    }

    /// The events of a set expression.
    pub fn alphabet(&mut self, e: &Ex, env: &Env) -> Res<Alphabet> {
        let set = self.set(e, env)?;
        self.here = e.span;
        self.events_of(&set)
    }

    pub fn alphabet_of(&mut self, value: &Data) -> Res<Alphabet> {
        match value {
            Data::Set(set) => self.events_of(set),
            other => self.fail(format!("{} is no set of events", self.show(other))),
        }
    }

    fn events_of(&mut self, set: &SetOf) -> Res<Alphabet> {
        let list = self.elements(set)?.to_vec();
        let mut events = Vec::with_capacity(list.len());
        for item in &list {
            events.push(self.event(item)?);
        }
        events.sort_unstable();
        events.dedup();
        Ok(events.into())
    }

    /// The number of a complete event.
    pub fn event(&mut self, value: &Data) -> Res<u32> {
        let parts = value.parts();
        if !matches!(parts[0], Data::Channel(_)) {
            return self.fail(format!("{} is no event", self.show(value)));
        }
        if !self.is_complete(parts)? {
            return self.fail(format!("{} is no event: fields are missing", self.show(value)));
        }
        Ok(self.events.number(value))
    }

    fn all_but(&mut self, events: &[u32]) -> Res<Alphabet> {
        let mut all = Vec::new();
        for n in 0..self.script.channels.len() {
            for event in self.productions(&Data::Channel(n as u32))? {
                all.push(self.events.number(&event));
            }
        }
        all.sort_unstable();
        all.retain(|e| events.binary_search(e).is_err());
        Ok(all.into())
    }

    /// Pairs of prefixes, extended to all completions of the first one.
    fn relation(&mut self, pairs: &Pairs, env: &Env) -> Res<Relation> {
        let mut all = Vec::new();
        for row in self.rows(&pairs.stmts, env)? {
            for (from, to) in &pairs.list {
                let (a, b) = (self.eval_data(from, &row)?, self.eval_data(to, &row)?);
                if !matches!(a.parts()[0], Data::Channel(_)) {
                    self.here = from.span;
                    return self.fail(format!("{} is no event", self.show(&a)));
                }
                for rest in self.completions(a.parts())? {
                    let source = Data::dotted([a.parts(), &rest].concat());
                    let target = Data::dotted([b.parts(), &rest].concat());
                    self.here = to.span;
                    all.push((self.event(&source)?, self.event(&target)?));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all.into())
    }

    /// Linked events must tell each other apart.
    pub(super) fn one_to_one(&mut self, relation: &[(u32, u32)]) -> Res<()> {
        let mut left: HashMap<u32, u32> = HashMap::new();
        let mut right = HashSet::new();
        for (a, b) in relation {
            if left.insert(*a, *b).is_some() || !right.insert(*b) {
                let (a, b) = (self.show_event(*a), self.show_event(*b));
                return self.fail(format!("the link of {a} with {b} is ambiguous"));
            }
        }
        Ok(())
    }
}
