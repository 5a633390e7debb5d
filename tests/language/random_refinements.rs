//! Random chains of refinements: the lock-step check, its certificate, and the definition agree.

use crate::classical_refinement::{ENGINES, check_with};
use crate::refinement_certificates::accepted;
use crate::support::rng::Rng;
use std::collections::BTreeSet;

/// A level of a random chain: states 0..2, and for one operation the states its precondition allows and the
/// steps (before, result, after).
struct Level {
    start: BTreeSet<usize>,
    allowed: Option<BTreeSet<usize>>,
    steps: BTreeSet<(usize, usize, usize)>,
    /// Pairs of states of the level above and of this level; empty for the topmost.
    glue: BTreeSet<(usize, usize)>,
}

const STATES: usize = 3;

fn random_level(rng: &mut Rng, top: bool, dense: usize) -> Level {
    let mut level =
        Level { start: BTreeSet::new(), allowed: None, steps: BTreeSet::new(), glue: BTreeSet::new() };
    level.start.insert(rng.below(STATES));
    level.start.extend((0..STATES).filter(|_| rng.chance(dense)));
    if rng.chance(60) {
        level.allowed = Some((0..STATES).filter(|_| rng.chance(80)).collect());
    }
    for a in 0..STATES {
        for r in 0..2 {
            level.steps.extend((0..STATES).filter(|_| rng.chance(dense)).map(|b| (a, r, b)));
        }
        if !top {
            level.glue.extend((0..STATES).filter(|_| rng.chance(80)).map(|b| (a, b)));
        }
    }
    level
}

fn listed<T>(items: &BTreeSet<T>, one: impl Fn(&T) -> String) -> String {
    format!("{{{}}}", items.iter().map(one).collect::<Vec<_>>().join(","))
}

fn text_of(level: &Level, at: usize) -> String {
    let numbers = |s: &BTreeSet<usize>| listed(s, |n| n.to_string());
    let head =
        if at == 0 { "MACHINE L0".to_string() } else { format!("REFINEMENT L{at} REFINES L{}", at - 1) };
    let glue = if at == 0 {
        String::new()
    } else {
        format!(" & (v{} |-> v{at}) : {}", at - 1, listed(&level.glue, |(a, b)| format!("{a}|->{b}")))
    };
    let steps = listed(&level.steps, |(a, r, b)| format!("{a}|->{r}|->{b}"));
    let body = format!(
        "ANY o, n WHERE o : 0..1 & n : 0..2 & (v{at}|->o|->n) : {steps} THEN v{at} := n || r := o END"
    );
    let body = match &level.allowed {
        Some(allowed) => format!("PRE v{at} : {} THEN {body} END", numbers(allowed)),
        None => body,
    };
    format!(
        "{head} VARIABLES v{at} INVARIANT v{at} : 0..2{glue} INITIALISATION v{at} :: {}
         OPERATIONS r <-- op = {body} END",
        numbers(&level.start)
    )
}

/// Whether the lowest level refines the others, by its definition: sets of abstract tuples for each concrete state.
fn simulated(levels: &[Level]) -> bool {
    let (concrete, abstracts) = levels.split_last().expect("a level");
    let tuples = |choices: Vec<Vec<usize>>| {
        choices.into_iter().fold(vec![Vec::new()], |done: Vec<Vec<usize>>, next| {
            done.iter().flat_map(|d| next.iter().map(|n| [d.clone(), vec![*n]].concat())).collect()
        })
    };
    let related = |c: usize, tuple: &Vec<usize>| {
        let all = [tuple.clone(), vec![c]].concat();
        (1..levels.len()).all(|i| levels[i].glue.contains(&(all[i - 1], all[i])))
    };
    let starts = tuples(abstracts.iter().map(|l| l.start.iter().copied().collect()).collect());
    let mut todo: Vec<(usize, BTreeSet<Vec<usize>>)> = concrete
        .start
        .iter()
        .map(|c| (*c, starts.iter().filter(|t| related(*c, t)).cloned().collect()))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some((c, set)) = todo.pop() {
        if set.is_empty() {
            return false;
        }
        if !seen.insert((c, set.clone())) {
            continue;
        }
        let allows = |l: &Level, v: usize| l.allowed.as_ref().is_none_or(|s| s.contains(&v));
        let callable: Vec<&Vec<usize>> = set.iter().filter(|t| allows(&levels[0], t[0])).collect();
        if callable.is_empty() {
            continue;
        }
        let lower = |t: &Vec<usize>| (1..abstracts.len()).all(|i| allows(&levels[i], t[i]));
        // Where the topmost operation has no step, nobody can have made the call.
        let steps = |t: &Vec<usize>| levels[0].steps.iter().any(|(from, _, _)| *from == t[0]);
        if callable.iter().any(|t| steps(t) && !(allows(concrete, c) && lower(t))) {
            return false;
        }
        for (_, r, next) in concrete.steps.iter().filter(|(from, _, _)| *from == c && allows(concrete, c)) {
            let mut after = BTreeSet::new();
            for t in &callable {
                let choices = abstracts.iter().zip(t.iter()).map(|(l, v)| {
                    l.steps.iter().filter(|(a, o, _)| a == v && o == r).map(|(_, _, b)| *b).collect()
                });
                after.extend(tuples(choices.collect()).into_iter().filter(|t| related(*next, t)));
            }
            todo.push((*next, after));
        }
    }
    true
}

#[test]
fn random_chains_are_judged_as_the_definition_judges_them() {
    let mut rng = Rng::new(2026);
    let dir = tempfile::tempdir().expect("a directory");
    let mut verdicts = [0, 0];
    for case in 0..120 {
        let height = 2 + rng.below(2);
        // Abstractions with many choices and a machine with few, so that both answers are frequent.
        let levels: Vec<Level> = (0..height)
            .map(|i| random_level(&mut rng, i == 0, if i + 1 == height { 15 } else { 70 }))
            .collect();
        let texts: Vec<(String, String)> = (0..height)
            .rev()
            .map(|i| (format!("L{i}.{}", if i == 0 { "mch" } else { "ref" }), text_of(&levels[i], i)))
            .collect();
        let files: Vec<(&str, &str)> = texts.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        let expected = simulated(&levels);
        let (status, json) = check_with(dir.path(), &files, &["--engine", ENGINES[case % 2]]);
        assert_eq!(status, if expected { 0 } else { 1 }, "case {case}: {files:#?}\n{json:#}");
        if !expected {
            assert_eq!(json["violation"]["kind"], "refinement");
        }
        let report = accepted(&files, &["--no-deadlock", "--engine", ENGINES[case / 2 % 2]]);
        assert_eq!(report.manifest.verified, expected, "case {case}: {}", report.text());
        verdicts[usize::from(expected)] += 1;
    }
    assert!(verdicts[0] > 20 && verdicts[1] > 20, "{verdicts:?}");
}
