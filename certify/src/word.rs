//! A path that is claimed to break a formula: executed again, and the formula evaluated along it.
//!
//! In: `trace.json` with a formula and how the path ends: in a loop, in a deadlock, or open, which means that whatever
//! follows breaks the formula. Out: nothing, or a reason to reject.
//! Future operators are fixpoints over the positions, past ones are computed forward; the loop is unrolled as often as
//! operators of the past nest, after which their truth is periodic.
//! Never here: graphs.

use crate::certificate::Certificate;
use crate::formula::{Formula, Op, Truth};
use crate::report::Open;
use crate::run::events;
use crate::start::patient;
use crate::trace::steps_of;
use bombus_oracle::exec::Kind;
use bombus_oracle::judge::{Claim, Verdict, judge};
use bombus_oracle::search::{Look, Trace};
use bombus_oracle::tree::{Machine, Pred};
use serde_json::Value as Json;

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The last step leads to the state at this position again.
    Loop(usize),
    Deadlock,
    Open,
}

/// Checks a path that is claimed to break a formula; an error is a reason to reject.
pub fn replay(c: &Certificate, json: &Json, steps: u64, open: &mut Open) -> Result<(), String> {
    let names = events(&c.machine);
    let formula = Formula::read(&json["formula"], &names).map_err(|e| format!("trace.json: {e}"))?;
    if !c.manifest.formulas.iter().any(|f| f["formula"] == json["formula"]) {
        return Err("the formula of the trace is not one that was asked for".into());
    }
    let trace = steps_of(&c.machine, json).map_err(|e| format!("trace.json: {e}"))?;
    let end = match (&json["end"], json["end"].as_u64()) {
        (_, Some(entry)) => End::Loop(entry as usize),
        (Json::String(s), _) if s == "deadlock" => End::Deadlock,
        (Json::String(s), _) if s == "open" => End::Open,
        _ => return Err("trace.json: \"end\" is missing".into()),
    };
    if let End::Loop(entry) = end {
        let closes = trace.steps.get(entry).zip(trace.steps.last()).is_some_and(|(a, b)| a.state == b.state);
        if !closes || entry + 1 >= trace.steps.len() {
            return Err("the loop does not close".into());
        }
    }
    match executed(&c.machine, &trace, end, steps) {
        Verdict::Confirmed => {}
        Verdict::Refuted(why) => return Err(why),
        Verdict::TooBig(why) => {
            open.enter(&format!("the trace: {why}"), String::new);
            return Ok(());
        }
    }
    let atoms = atoms(c, &formula, &names, &trace, end, steps)?;
    match along(&formula, &atoms, end) {
        Some(false) => Ok(()),
        Some(true) => Err("the path satisfies the formula".into()),
        None => {
            open.enter("the formula cannot be evaluated along the path", String::new);
            Ok(())
        }
    }
}

/// Whether the steps are those of the machine, and a path that should end does.
fn executed(machine: &Machine, trace: &Trace, end: End, steps: u64) -> Verdict {
    let machine = Machine { goal: Some(Pred::True), ..machine.clone() };
    let kind = if end == End::Deadlock { Kind::Deadlock } else { Kind::Goal };
    judge(&machine, trace, &Claim { kind, place: None, event: None, strict_guards: false }, steps)
}

/// The truth of the atoms at each position, by the numbers of their sub-formulas.
fn atoms(
    c: &Certificate,
    f: &Formula,
    names: &[String],
    trace: &Trace,
    end: End,
    steps: u64,
) -> Result<Vec<Vec<Truth>>, String> {
    let machine = Machine { scope: None, ..c.machine.clone() };
    let oracle = patient(&machine, steps);
    let all = oracle.valuations(&trace.constants).map_err(|s| crate::start::words(&s))?.0;
    let [valuation] = &all[..] else { return Err("the constants of the trace are not the only ones".into()) };
    let positions = trace.steps.len() - usize::from(matches!(end, End::Loop(_)));
    let mut out = Vec::new();
    for i in 0..positions {
        let env = oracle.environment(valuation, Some(&trace.steps[i].state));
        let enabled = |only: Option<&str>| {
            oracle.restart();
            let mut look = Look::default();
            look.events(&oracle, &env, only, false);
            if look.transitions.is_empty() && !look.incomplete.is_empty() {
                None
            } else {
                Some(!look.transitions.is_empty())
            }
        };
        let next = trace.steps.get(i + 1).map(|s| &*s.event);
        let truth = |op: &Op| match op {
            Op::Pred(p) => {
                oracle.restart();
                oracle.holds(&env, &f.preds[*p]).ok()
            }
            Op::Enabled(e) => enabled(Some(&names[*e])),
            Op::Deadlock => enabled(None).map(|b| !b),
            Op::Executed(e) => match next {
                Some(event) => Some(event == names[*e]),
                None => (end == End::Deadlock).then_some(false),
            },
            _ => None,
        };
        out.push(f.ops.iter().map(truth).collect());
    }
    Ok(out)
}

/// The truth of a formula at the first position of a path with these atoms.
pub fn along(f: &Formula, atoms: &[Vec<Truth>], end: End) -> Truth {
    let past =
        f.ops.iter().filter(|o| matches!(o, Op::Yesterday(_) | Op::Since(..) | Op::Trigger(..))).count();
    let (order, end) = match end {
        End::Loop(entry) => {
            let period = atoms.len() - entry;
            let rounds = past + 1;
            let order: Vec<usize> =
                (0..atoms.len()).chain((0..period * rounds).map(|i| entry + i % period)).collect();
            (order, End::Loop(atoms.len() + period * (rounds - 1)))
        }
        end => ((0..atoms.len()).collect(), end),
    };
    let n = order.len();
    let mut truth: Vec<Vec<Truth>> = Vec::new();
    for (own, op) in f.ops.iter().enumerate() {
        let greatest = matches!(op, Op::WeakUntil(..) | Op::Release(..));
        let mut row: Vec<Truth> = vec![Some(greatest); n];
        // A fixpoint is reached after as many rounds as there are positions, since each round but the last moves one.
        for _ in 0..=n {
            let before = row.clone();
            let backwards = !matches!(op, Op::Yesterday(_) | Op::Since(..) | Op::Trigger(..));
            for at in 0..n {
                let i = if backwards { n - 1 - at } else { at };
                let of = |a: usize| truth[a][i];
                let value = |a: usize, i: usize| if a == own { row[i] } else { truth[a][i] };
                let later = |a: usize, beyond: bool| match end {
                    _ if i + 1 < n => value(a, i + 1),
                    End::Loop(entry) => value(a, entry),
                    End::Deadlock => Some(beyond),
                    End::Open => None,
                };
                let earlier = |a: usize, before: bool| if i == 0 { Some(before) } else { value(a, i - 1) };
                let atom = |_: &Op| atoms[order[i]][own];
                row[i] = op.truth(own, &of, &atom, &later, &earlier);
            }
            if row == before {
                break;
            }
        }
        truth.push(row);
    }
    truth[f.root][0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::{Graph, holds};
    use serde_json::json;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    fn formula(seed: &mut u64, depth: u32) -> Json {
        let sub = |seed: &mut u64| formula(seed, depth - 1);
        match random(seed) % if depth == 0 { 4 } else { 17 } {
            0 => json!(["pred", "(= 1 1)"]),
            1 => json!(["executed", "a"]),
            2 => json!(["enabled", "b"]),
            3 => json!(["deadlock"]),
            n @ 4..=10 => {
                let word = ["not", "X", "F", "G", "Y", "O", "H"][n as usize - 4];
                json!([word, sub(seed)])
            }
            n => {
                let word = ["and", "U", "W", "R", "S", "T"][n as usize - 11];
                json!([word, sub(seed), sub(seed)])
            }
        }
    }

    /// All lassos and finite maximal paths up to a length, as atoms and ends.
    fn paths(g: &Graph, f: &Formula, preds: &[u64], most: usize, see: &mut dyn FnMut(&[Vec<Truth>], End)) {
        let mut open: Vec<(Vec<u32>, Vec<u32>)> = g.initial.iter().map(|s| (vec![*s], vec![])).collect();
        while let Some((states, taken)) = open.pop() {
            let last = *states.last().expect("a path has a state") as usize;
            let own = |s: u32| &g.edges[g.starts[s as usize]..g.starts[s as usize + 1]];
            let row = |i: usize, s: u32, event: Option<u32>| -> Vec<Truth> {
                let _ = i;
                let one = |op: &Op| match op {
                    Op::Pred(p) => Some(preds[s as usize] >> p & 1 == 1),
                    Op::Executed(e) => Some(event == Some(*e as u32)),
                    Op::Enabled(e) => Some(own(s).iter().any(|x| x.0 == *e as u32)),
                    Op::Deadlock => Some(own(s).is_empty()),
                    _ => None,
                };
                f.ops.iter().map(one).collect()
            };
            let rows = |taken: &[u32]| -> Vec<Vec<Truth>> {
                states.iter().enumerate().map(|(i, s)| row(i, *s, taken.get(i).copied())).collect()
            };
            if own(last as u32).is_empty() {
                see(&rows(&taken), End::Deadlock);
            }
            for (event, to) in own(last as u32) {
                let taken = [&taken[..], &[*event]].concat();
                for entry in (0..states.len()).filter(|i| states[*i] == *to) {
                    see(&rows(&taken), End::Loop(entry));
                }
                if states.len() < most {
                    open.push(([&states[..], &[*to]].concat(), taken));
                }
            }
        }
    }

    #[test]
    fn a_formula_holds_on_a_graph_if_and_only_if_no_short_path_breaks_it() {
        let names = ["a".to_string(), "b".to_string()];
        let (mut seed, mut held, mut broken) = (7, 0, 0);
        for round in 0..600 {
            let f = Formula::read(&formula(&mut seed, 3), &names).expect("a formula");
            let n = 1 + random(&mut seed) as usize % 3;
            let mut g = Graph { starts: vec![0], edges: vec![], initial: vec![0] };
            for _ in 0..n {
                for _ in 0..random(&mut seed) % 3 {
                    g.edges.push((random(&mut seed) as u32 % 2, random(&mut seed) as u32 % n as u32));
                }
                g.starts.push(g.edges.len());
            }
            let preds: Vec<u64> = (0..n).map(|_| random(&mut seed)).collect();
            let Ok(answer) = holds(&f, &g, &preds, 1 << 20) else { continue };
            let mut refuted = false;
            paths(&g, &f, &preds, 6, &mut |atoms, end| refuted |= along(&f, atoms, end) == Some(false));
            // A counterexample may be longer than the paths that are listed, so only one direction is exact.
            assert!(!refuted || !answer, "round {round}: {f:?} holds, but a path breaks it");
            (held, broken) = (held + u32::from(answer), broken + u32::from(refuted));
            if !answer && !refuted {
                let longer = f.ops.len() > 4;
                assert!(longer, "round {round}: {f:?} is broken, but by no short path");
            }
        }
        assert!(held > 60 && broken > 60, "{held} {broken}");
    }
}
