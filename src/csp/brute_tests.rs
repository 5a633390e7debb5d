//! Refinement against an enumeration of behaviours, on random pairs of processes.
//!
//! The enumeration follows the operational rules of terms, trace by trace, with no normal form, no components and no
//! rules of composition, no compressions; the judge uses all of them.

use super::assertion::{Judge, Judgement, Why};
use super::eval::Eval;
use super::scope::ClaimIn;
use super::term::{TAU, TICK};
use super::testing::{on_large_stack, read};
use super::tree::Semantics;
use super::value::Env;
use bombus_base::budget::Budget;
use bombus_base::random::Random;
use bombus_explore::Options;
use std::collections::{BTreeMap, BTreeSet};

struct Dice(Random);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0.below(sides)
    }

    fn event(&mut self) -> &'static str {
        ["a", "b", "c"][self.roll(3) as usize]
    }

    /// A process over three events; names of recursive processes stand after a prefix only, and never below an
    /// operator that would let the term grow.
    fn process(&mut self, depth: u32, recursive: bool) -> String {
        if depth == 0 {
            return match self.roll(if recursive { 5 } else { 2 }) {
                0 => "STOP".to_string(),
                1 => "SKIP".to_string(),
                n => format!("{} -> {}", self.event(), ["X", "Y", "X"][n as usize - 2]),
            };
        }
        let (d, e) = (depth - 1, self.event());
        let kind = self.roll(17);
        let flat = recursive && kind < 6;
        let (p, q) = (self.process(d, flat), self.process(d, flat));
        match kind {
            0..=2 => format!("{e} -> ({p})"),
            3 => format!("(({p}) [] ({q}))"),
            4 => format!("(({p}) |~| ({q}))"),
            5 => format!("(({p}) [> ({q}))"),
            6 => format!("(({p}) ; ({q}))"),
            7 => format!("(({p}) /\\ ({q}))"),
            8 => format!("(({p}) [|{{{e}}}|] ({q}))"),
            9 => format!("(({p}) ||| ({q}))"),
            10 => format!("(({p}) [{{a,b}} || {{b,c}}] ({q}))"),
            11 => format!("(({p}) \\ {{{e}}})"),
            12 => format!("(({p})[[{e} <- b]])"),
            13 => format!("sbisim({p})"),
            14 => format!("diamond({p})"),
            15 => format!("(({p}) [+{{{e}}}+] ({q}))"),
            _ => format!("(({p}) /+{{{e}}}+\\ ({q}))"),
        }
    }
}

/// What a process may do, up to a length of traces.
struct Behaviour {
    /// For each trace: acceptances of stable states, and whether the process may diverge after it.
    after: BTreeMap<Vec<u32>, (BTreeSet<BTreeSet<u32>>, bool)>,
}

const LENGTH: usize = 6;
const MOST: usize = 60;

fn behaviour(eval: &mut Eval, term: u32) -> Option<Behaviour> {
    let mut steps: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    let mut open = vec![term];
    while let Some(at) = open.pop() {
        if steps.contains_key(&at) {
            continue;
        }
        let row = eval.steps(at).ok()?;
        open.extend(row.iter().map(|(_, to)| *to));
        steps.insert(at, row);
        if steps.len() > MOST {
            return None;
        }
    }
    // A path of more silent steps than there are states goes round.
    let mut silent: BTreeSet<u32> = steps.keys().copied().collect();
    for _ in 0..=steps.len() {
        silent = silent
            .iter()
            .copied()
            .filter(|s| steps[s].iter().any(|(e, to)| *e == TAU && silent.contains(to)))
            .collect();
    }
    let mut after = BTreeMap::new();
    let mut traces: Vec<(Vec<u32>, BTreeSet<u32>)> = vec![(Vec::new(), BTreeSet::from([term]))];
    while let Some((trace, mut states)) = traces.pop() {
        let mut open: Vec<u32> = states.iter().copied().collect();
        while let Some(at) = open.pop() {
            let more: Vec<u32> = steps[&at]
                .iter()
                .filter(|(e, to)| *e == TAU && !states.contains(to))
                .map(|(_, to)| *to)
                .collect();
            states.extend(&more);
            open.extend(more);
        }
        let mut acceptances = BTreeSet::new();
        let mut next: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for state in &states {
            let events: BTreeSet<u32> = steps[state].iter().map(|(e, _)| *e).collect();
            if events.contains(&TICK) {
                acceptances.insert(BTreeSet::from([TICK]));
            } else if !events.contains(&TAU) {
                acceptances.insert(events);
            }
            for (event, to) in steps[state].iter().filter(|(e, _)| *e != TAU) {
                next.entry(*event).or_default().insert(*to);
            }
        }
        let diverges = states.iter().any(|s| silent.contains(s));
        if trace.len() < LENGTH {
            traces.extend(next.into_iter().map(|(e, to)| ([trace.as_slice(), &[e]].concat(), to)));
        }
        after.insert(trace, (acceptances, diverges));
    }
    Some(Behaviour { after })
}

/// The first reason against refinement after a trace, if there is one.
fn broken(spec: &Behaviour, process: &Behaviour, trace: &[u32], semantics: Semantics) -> Option<Why> {
    let strict = semantics == Semantics::Divergences;
    let forgiven = (0..=trace.len()).any(|n| spec.after.get(&trace[..n]).is_some_and(|(_, d)| *d));
    if strict && forgiven {
        return None;
    }
    let (acceptances, diverges) = &process.after[trace];
    let Some((least, _)) = spec.after.get(trace) else { return Some(Why::Trace) };
    if strict && *diverges {
        return Some(Why::Divergence);
    }
    let refused = |a: &BTreeSet<u32>| !least.iter().any(|b| b.is_subset(a));
    if semantics != Semantics::Traces && acceptances.iter().any(refused) {
        return Some(Why::Refusal { accepted: Vec::new(), required: Vec::new() });
    }
    None
}

fn one_pair(dice: &mut Dice) -> Option<[bool; 3]> {
    let bodies: Vec<String> = (0..2).map(|_| dice.process(2, true)).collect();
    let (p, q) = (dice.process(3, true), dice.process(3, true));
    let text = format!(
        "channel a, b, c\ntransparent sbisim, diamond\nX = a -> ({})\nY = b -> ({})\nP = {p}\nQ = {q}\nassert P [T= Q\nassert P [F= Q\nassert P [FD= Q",
        bodies[0], bodies[1]
    );
    let (mut eval, sources) = read(&text).expect("the script is right");
    let script = eval.script.clone();
    let budget = Budget::unlimited();
    let options = Options { workers: 2, ..Options::default() };
    let mut verdicts = [false; 3];
    for (i, assert) in script.asserts.iter().enumerate() {
        let ClaimIn::Refines(p, semantics, q) = &assert.claim else { panic!("a refinement") };
        let (p, q) = (eval.term(p, &Env::default()).ok()?, eval.term(q, &Env::default()).ok()?);
        let (spec, process) = (behaviour(&mut eval, p)?, behaviour(&mut eval, q)?);
        let mut judge = Judge {
            eval: &mut eval,
            sources: &sources,
            options: &options,
            budget: &budget,
            sizes: Default::default(),
        };
        match judge.judge(assert) {
            Ok(Judgement::Holds) => {
                let why = process.after.keys().find_map(|t| broken(&spec, &process, t, *semantics));
                assert_eq!(why, None, "{text}\nholds, says the judge");
                verdicts[i] = true;
            }
            Ok(Judgement::Fails(trace, why)) if trace.len() <= LENGTH => {
                let trace: Vec<u32> = trace.iter().map(|shown| number(&eval, shown)).collect();
                let found = broken(&spec, &process, &trace, *semantics);
                let same = found.as_ref().map(std::mem::discriminant) == Some(std::mem::discriminant(&why));
                // A divergence and a refusal after one trace are both right.
                assert!(
                    same || found.is_some(),
                    "{text}\n{semantics:?} fails, says the judge: {trace:?} {why:?}"
                );
            }
            Ok(Judgement::Fails(..)) => {}
            other => panic!("{text}\n{:?}", other.ok()),
        }
    }
    Some(verdicts)
}

fn number(eval: &Eval, shown: &str) -> u32 {
    (0..eval.events.len() as u32)
        .find(|e| eval.show_event(*e) == shown && *e != 2)
        .expect("the event is known")
}

/// What assertions say of a process, and of the process made smaller.
#[test]
fn a_compressed_process_means_what_the_process_means() {
    on_large_stack(|| {
        let mut dice = Dice(Random(0x1234_5678_9abc_def1));
        for _ in 0..120 {
            let (p, q) = (dice.process(3, false), dice.process(2, false));
            let mut said = Vec::new();
            for whole in ["", "sbisim", "diamond", "normal"] {
                let text = format!(
                    "channel a, b, c\ntransparent sbisim, diamond, normal\nQ = {q}\nP = {whole}({p})\n\
                     assert P :[deadlock free]\nassert P :[divergence free]\nassert P :[deterministic]\n\
                     assert Q [F= P [|{{a}}|] Q\nassert P [] Q [FD= Q ||| P\nassert P \\ {{b}} [FD= Q\n"
                );
                said.push((super::testing::verdicts(&text, 1), text));
            }
            let kind = |v: &str| v.split(' ').next().unwrap_or("").to_string();
            for (verdicts, text) in &said[1..] {
                let same = verdicts.iter().map(|v| kind(v)).eq(said[0].0.iter().map(|v| kind(v)));
                assert!(same, "{text}{verdicts:?} instead of {:?}", said[0].0);
            }
        }
    });
}

#[test]
fn refinement_of_random_processes_is_what_their_behaviours_say() {
    let (mut pairs, mut held) = (0, [0; 3]);
    // About two thirds of the pairs are small enough: BOMBUS_PAIRS=8000 tries more than 5,000.
    let rounds = std::env::var("BOMBUS_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    on_large_stack(|| {
        let mut dice = Dice(Random(0x9e37_79b9_7f4a_7c15));
        for _ in 0..rounds {
            if let Some(verdicts) = one_pair(&mut dice) {
                pairs += 1;
                verdicts.iter().zip(&mut held).for_each(|(v, n)| *n += usize::from(*v));
            }
        }
    });
    // Both verdicts occur often enough to mean something.
    assert!(pairs > 300, "{pairs} pairs");
    assert!(held.iter().all(|n| *n > 10 && *n < pairs - 10), "{held:?} of {pairs} held");
}
