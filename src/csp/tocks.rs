//! The operational rules of operators that share events without parallel composition, and of time.
//!
//! In: terms of timed sections, synchronising choices and interrupts. Out: their transitions.
//! Never here: the other operators (`step`), which processes these terms are made of (`timed`).

use super::core::Kind;
use super::eval::Eval;
use super::step::{Steps, replaced};
use super::term::{Alphabet, TAU, TICK, Term};
use super::value::{Data, Res, Val, data};
use std::collections::BTreeMap;

/// An event may take so many units of time.
const LONGEST: u64 = 1_000_000;

impl Eval {
    /// Choices and interrupts with events that all sides do together.
    pub(super) fn shared(&mut self, term: &Term, deeper: usize) -> Res<Steps> {
        let mut out: Steps = Vec::new();
        match term {
            Term::Choice(events, list) => {
                let mut each = Vec::new();
                for (i, one) in list.iter().enumerate() {
                    let mut by_event: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                    for (event, to) in self.steps_within(*one, deeper)? {
                        if event == TAU {
                            let moved = replaced(list, i, to).into();
                            out.push((TAU, self.terms.number(Term::Choice(events.clone(), moved))));
                        } else if events.binary_search(&event).is_ok() {
                            by_event.entry(event).or_default().push(to);
                        } else {
                            out.push((event, to));
                        }
                    }
                    each.push(by_event);
                }
                for (event, moved) in joint(events, &each) {
                    out.push((event, self.terms.number(Term::Choice(events.clone(), moved.into()))));
                }
            }
            Term::SharedInterrupt(p, events, q) => {
                let mut each = vec![BTreeMap::new(), BTreeMap::new()];
                for (side, one) in [*p, *q].into_iter().enumerate() {
                    for (event, to) in self.steps_within(one, deeper)? {
                        if events.binary_search(&event).is_ok() {
                            each[side].entry(event).or_insert_with(Vec::new).push(to);
                        } else if event == TICK || (side == 1 && event != TAU) {
                            out.push((event, to));
                        } else {
                            let (p, q) = if side == 0 { (to, *q) } else { (*p, to) };
                            let stays = Term::SharedInterrupt(p, events.clone(), q);
                            out.push((event, self.terms.number(stays)));
                        }
                    }
                }
                for (event, moved) in joint(events, &each) {
                    let stays = Term::SharedInterrupt(moved[0], events.clone(), moved[1]);
                    out.push((event, self.terms.number(stays)));
                }
            }
            _ => {}
        }
        Ok(out)
    }

    /// Communications that take time, delays, and events that wait for τ.
    pub(super) fn in_time(&mut self, number: u32, term: &Term, deeper: usize) -> Res<Steps> {
        match term {
            Term::Timed(e, bounds) => {
                let Kind::Timed(function, tock, prefix) = &e.kind else {
                    return self.fail("no communication");
                };
                let env = self.env(bounds);
                let tock = self.eval_data(tock, &env)?;
                let tock = self.event(&tock)?;
                let mut out = vec![(tock, number)];
                for (event, to) in self.prefix(prefix, bounds)? {
                    let outer = std::mem::replace(&mut self.here, function.span);
                    let callee = self.eval(function, &env)?;
                    let happened = data(self.events.data(event).clone());
                    let time = match self.apply(callee, vec![happened])? {
                        Val::Data(Data::Int(time)) => time.small().and_then(|n| u64::try_from(n).ok()),
                        _ => None,
                    };
                    let Some(time) = time.filter(|n| *n <= LONGEST) else {
                        let shown = self.show_event(event);
                        return self
                            .fail(format!("the time that {shown} takes is no number from 0 to {LONGEST}"));
                    };
                    self.here = outer;
                    out.push((event, self.delayed(tock, time, to)));
                }
                Ok(out)
            }
            Term::Delay(event, times, process) => {
                Ok(vec![(*event, self.delayed(*event, times - 1, *process))])
            }
            Term::Urgent(process, events) => {
                let steps = self.steps_within(*process, deeper)?;
                let urgent = steps.iter().any(|(e, _)| *e == TAU || *e == TICK);
                let mut out = Vec::new();
                for (event, to) in steps {
                    if event == TICK {
                        out.push((TICK, to));
                    } else if !urgent || events.binary_search(&event).is_err() {
                        out.push((event, self.terms.number(Term::Urgent(to, events.clone()))));
                    }
                }
                Ok(out)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn delayed(&mut self, event: u32, times: u64, process: u32) -> u32 {
        if times == 0 { process } else { self.terms.number(Term::Delay(event, times, process)) }
    }
}

/// The ways in which all sides do an event of the set together.
fn joint(events: &Alphabet, each: &[BTreeMap<u32, Vec<u32>>]) -> Vec<(u32, Vec<u32>)> {
    let mut out = Vec::new();
    for event in events.iter() {
        let mut moved: Vec<Vec<u32>> = vec![Vec::new()];
        for by_event in each {
            let targets = by_event.get(event).map_or(&[][..], Vec::as_slice);
            moved =
                moved.iter().flat_map(|m| targets.iter().map(|t| [m.as_slice(), &[*t]].concat())).collect();
        }
        out.extend(moved.into_iter().map(|list| (*event, list)));
    }
    out
}
