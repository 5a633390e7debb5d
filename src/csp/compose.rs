//! Components under one tree of operators as a `System`: a table of rules over packed local states.
//!
//! In: a process term. Out: components as tables, and rules: which components move together by which events,
//! and what that is to the outside. Hiding, renaming, linking and all kinds of parallel composition become
//! rules; what stands below them is a component. Never here: terms once the rules are made, so any number of
//! threads may explore.

use super::bisimulation::compressed;
use super::component::{self, Table};
use super::eval::Eval;
use super::term::{Alphabet, Compression, ENDED, Relation, TAU, TICK, Term};
use super::value::{Fault, Res};
use bombus_base::budget::Budget;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Rules beyond this number are refused: the process is explored as one component instead.
const MOST_RULES: usize = 200_000;

/// Components that move by these events do the result together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// Slots, ascending, each with the event that it does.
    pub parts: Vec<(u32, u32)>,
    pub result: u32,
}

/// The rules of a process and its components.
#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// The table of each slot.
    pub slots: Vec<Arc<Table>>,
    /// How the script calls the process of each slot, where it has a name.
    pub names: Vec<Option<String>>,
    pub rules: Vec<Rule>,
    /// How the end is told: slots and the local state that each has then; none if the process cannot end.
    pub ends: Vec<(u32, u32)>,
    pub faults: Vec<Fault>,
    /// The number of terms that became slots.
    pub components: usize,
}

/// What a node of the tree offers to the one above.
struct Offer {
    rules: Vec<Rule>,
    /// The slots that say whether it has ended.
    ended: Vec<u32>,
}

/// Which components are made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smaller {
    /// Those that the script names, step by step: temporal formulas count τ as a step.
    Steps,
    /// Those that the script names, as it says.
    Written,
    /// All, because only failures and divergences are asked for.
    All,
}

struct Builder<'a> {
    eval: &'a mut Eval,
    budget: &'a Budget,
    smaller: Smaller,
    out: Composition,
    known: HashMap<(u32, Option<Compression>), Arc<Table>>,
}

/// The rules of a process.
pub fn composition(eval: &mut Eval, term: u32, smaller: Smaller, budget: &Budget) -> Res<Composition> {
    if let Some(done) = build(eval, term, smaller, budget, true)? {
        return Ok(done);
    }
    let done = build(eval, term, smaller, budget, false)?;
    done.map_or_else(|| eval.fail("this process has too many rules"), Ok)
}

fn build(
    eval: &mut Eval,
    term: u32,
    smaller: Smaller,
    budget: &Budget,
    apart: bool,
) -> Res<Option<Composition>> {
    let out = Composition::default();
    let mut builder = Builder { eval, budget, smaller, out, known: HashMap::new() };
    let Some(offer) = (if apart { builder.node(term)? } else { Some(builder.leaf(term, None)?) }) else {
        return Ok(None);
    };
    let mut out = builder.out;
    out.rules = offer.rules;
    out.rules.sort_unstable();
    out.rules.dedup();
    for slot in offer.ended {
        let table = &out.slots[slot as usize];
        let end = (0..table.states() as u32).find(|s| !table.of_event(*s, ENDED).is_empty());
        match end {
            Some(end) => out.ends.push((slot, end)),
            None => {
                out.ends.clear();
                break;
            }
        }
    }
    Ok(Some(out))
}

impl Builder<'_> {
    fn slot(&mut self, table: Arc<Table>, name: Option<String>) -> u32 {
        self.out.slots.push(table);
        self.out.names.push(name);
        self.out.slots.len() as u32 - 1
    }

    /// A term as one component.
    fn leaf(&mut self, term: u32, asked: Option<Compression>) -> Res<Offer> {
        let how = match (self.smaller, asked) {
            (Smaller::Steps, Some(_)) | (Smaller::All, None) => Some(Compression::Strong),
            (_, asked) => asked,
        };
        let table = match self.known.get(&(term, how)) {
            Some(table) => table.clone(),
            None => {
                let mut made = component::table(self.eval, term, &mut self.out.faults, self.budget)?;
                if let Some(how) = how {
                    made = compressed(made, how);
                }
                let made = Arc::new(made);
                self.known.insert((term, how), made.clone());
                made
            }
        };
        self.out.components += 1;
        let events = table.events();
        let slot = self.slot(table, self.eval.called.get(&term).cloned());
        let rules = events
            .into_iter()
            .filter(|e| *e != ENDED)
            .map(|e| Rule { parts: vec![(slot, e)], result: e })
            .collect();
        Ok(Offer { rules, ended: vec![slot] })
    }

    /// A term as rules over the components below it; `None` if these are too many.
    fn node(&mut self, term: u32) -> Res<Option<Offer>> {
        match &*self.eval.terms.get(term) {
            Term::Hide(inner, events) => {
                let Some(mut offer) = self.node(*inner)? else { return Ok(None) };
                for rule in &mut offer.rules {
                    if events.binary_search(&rule.result).is_ok() {
                        rule.result = TAU;
                    }
                }
                Ok(Some(offer))
            }
            Term::Rename(inner, relation) => {
                let Some(offer) = self.node(*inner)? else { return Ok(None) };
                Ok(Some(renamed(offer, relation)))
            }
            Term::Parallel(events, list) => {
                let alphabets = vec![events.clone(); list.len()];
                let Some(offers) = self.nodes(list)? else { return Ok(None) };
                self.parallel(offers, &alphabets, false)
            }
            Term::Alphabetised(pairs) => {
                let list: Vec<u32> = pairs.iter().map(|(_, p)| *p).collect();
                let alphabets: Vec<Alphabet> = pairs.iter().map(|(a, _)| a.clone()).collect();
                let Some(offers) = self.nodes(&list)? else { return Ok(None) };
                self.parallel(offers, &alphabets, true)
            }
            Term::Link(p, relation, q) => {
                let Some(offers) = self.nodes(&[*p, *q])? else { return Ok(None) };
                self.linked(offers, relation)
            }
            Term::Compressed(how, inner) => self.leaf(*inner, Some(*how)).map(Some),
            _ => self.leaf(term, None).map(Some),
        }
    }

    fn nodes(&mut self, list: &[u32]) -> Res<Option<Vec<Offer>>> {
        let mut offers = Vec::new();
        for term in list {
            match self.node(*term)? {
                Some(offer) => offers.push(offer),
                None => return Ok(None),
            }
        }
        Ok(Some(offers))
    }

    /// Rules of a parallel composition: events outside of all alphabets move one component alone, or none if
    /// components are confined to their alphabets.
    fn parallel(&mut self, offers: Vec<Offer>, alphabets: &[Alphabet], confined: bool) -> Res<Option<Offer>> {
        let mut rules = Vec::new();
        let mut shared: Vec<BTreeMap<u32, Vec<Rule>>> = Vec::new();
        let mut ended = Vec::new();
        for (offer, alphabet) in offers.into_iter().zip(alphabets) {
            let mut by_event: BTreeMap<u32, Vec<Rule>> = BTreeMap::new();
            for mut rule in offer.rules {
                if rule.result == TAU || rule.result == TICK {
                    rule.result = TAU;
                    rules.push(rule);
                } else if alphabet.binary_search(&rule.result).is_ok() {
                    by_event.entry(rule.result).or_default().push(rule);
                } else if !confined {
                    rules.push(rule);
                }
            }
            shared.push(by_event);
            ended.push(offer.ended);
        }
        let mut events: Vec<u32> = shared.iter().flat_map(|m| m.keys().copied()).collect();
        events.sort_unstable();
        events.dedup();
        for event in events {
            let mut joint = vec![Rule { parts: Vec::new(), result: event }];
            for (by_event, alphabet) in shared.iter().zip(alphabets) {
                if alphabet.binary_search(&event).is_err() {
                    continue;
                }
                let mine = by_event.get(&event).map_or(&[][..], Vec::as_slice);
                if joint.len().saturating_mul(mine.len()) > MOST_RULES {
                    return Ok(None);
                }
                joint = joint.iter().flat_map(|a| mine.iter().map(|b| both(a, b, event))).collect();
            }
            rules.extend(joint);
            if rules.len() > MOST_RULES {
                return Ok(None);
            }
        }
        Ok(Some(self.ending(rules, ended)))
    }

    fn linked(&mut self, offers: Vec<Offer>, relation: &Relation) -> Res<Option<Offer>> {
        let mut rules = Vec::new();
        let mut sides: Vec<BTreeMap<u32, Vec<Rule>>> = Vec::new();
        let mut ended = Vec::new();
        for (side, offer) in offers.into_iter().enumerate() {
            let mut by_event: BTreeMap<u32, Vec<Rule>> = BTreeMap::new();
            for mut rule in offer.rules {
                let bound = relation.iter().any(|(a, b)| rule.result == if side == 0 { *a } else { *b });
                if rule.result == TICK {
                    rule.result = TAU;
                }
                if bound {
                    by_event.entry(rule.result).or_default().push(rule);
                } else {
                    rules.push(rule);
                }
            }
            sides.push(by_event);
            ended.push(offer.ended);
        }
        for (a, b) in relation.iter() {
            let left = sides[0].get(a).map_or(&[][..], Vec::as_slice);
            let right = sides[1].get(b).map_or(&[][..], Vec::as_slice);
            rules.extend(left.iter().flat_map(|x| right.iter().map(move |y| both(x, y, TAU))));
            if rules.len() > MOST_RULES {
                return Ok(None);
            }
        }
        Ok(Some(self.ending(rules, ended)))
    }

    /// When all parts have ended, the whole does ✓ once: a slot of its own remembers that.
    fn ending(&mut self, mut rules: Vec<Rule>, ended: Vec<Vec<u32>>) -> Offer {
        let own = self.slot(Arc::new(Table::new(&[vec![(TICK, 1)], vec![(ENDED, 1)]])), None);
        let mut parts: Vec<(u32, u32)> = ended.into_iter().flatten().map(|slot| (slot, ENDED)).collect();
        parts.push((own, TICK));
        parts.sort_unstable();
        rules.push(Rule { parts, result: TICK });
        Offer { rules, ended: vec![own] }
    }
}

fn both(a: &Rule, b: &Rule, result: u32) -> Rule {
    let mut parts = [a.parts.as_slice(), b.parts.as_slice()].concat();
    parts.sort_unstable();
    Rule { parts, result }
}

fn renamed(offer: Offer, relation: &Relation) -> Offer {
    let mut rules = Vec::new();
    for rule in offer.rules {
        let from = relation.partition_point(|(a, _)| *a < rule.result);
        let images: Vec<u32> =
            relation[from..].iter().take_while(|(a, _)| *a == rule.result).map(|(_, b)| *b).collect();
        if images.is_empty() {
            rules.push(rule);
        } else {
            rules.extend(images.into_iter().map(|b| Rule { parts: rule.parts.clone(), result: b }));
        }
    }
    Offer { rules, ended: offer.ended }
}
