//! Petri nets and transition tables behind the seam: counts, widths, reductions, formulas, faults.
//!
//! Expected figures come from closed forms, from an enumeration written here that shares no code with
//! the product, or from the same system written in B.

use crate::support::rng::Rng;
use bombus::api::Explorer;
use bombus::base::budget::Budget;
use bombus::explore::reduce::por::{Method, Por, Preserve, Proviso};
use bombus::explore::{Options, Order, Outcome, explore};
use bombus::net::{Marking, Net, Place, Transition};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::process::{Command, Output};

fn place(id: &str, tokens: u64) -> Place {
    Place { id: id.into(), name: None, tokens }
}

fn transition(id: &str, takes: &[(usize, u64)], puts: &[(usize, u64)]) -> Transition {
    Transition { id: id.into(), name: None, takes: takes.to_vec(), puts: puts.to_vec() }
}

/// Explores a net, widening its places as long as a marking does not fit.
fn explored(net: &Net, options: &Options) -> (Outcome, Marking) {
    let mut marking = Marking::new(net.clone());
    if options.por.is_some() {
        marking.prepare_reduction();
    }
    loop {
        match explore(&marking, options, &Budget::unlimited()) {
            Ok(outcome) => return (outcome, marking),
            Err(error) => assert!(marking.widen(), "{error}"),
        }
    }
}

fn keep_going() -> Options {
    Options { keep_going: true, ..Options::default() }
}

/// What there is to know about a net, by the plainest means.
#[derive(Debug, PartialEq, Eq)]
struct Figures {
    states: u64,
    transitions: u64,
    deadlocks: u64,
    most: (u64, u64),
}

/// The figures of a net; `None` if it has more than so many markings.
fn enumerated(net: &Net, limit: usize) -> Option<Figures> {
    let first: Vec<u64> = net.places.iter().map(|p| p.tokens).collect();
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open = VecDeque::from([first]);
    let mut figures = Figures { states: 0, transitions: 0, deadlocks: 0, most: (0, 0) };
    while let Some(now) = open.pop_front() {
        figures.states += 1;
        figures.most.0 = figures.most.0.max(now.iter().copied().max().unwrap_or(0));
        figures.most.1 = figures.most.1.max(now.iter().sum());
        let mut stuck = true;
        for t in &net.transitions {
            if t.takes.iter().any(|&(p, n)| now[p] < n) {
                continue;
            }
            stuck = false;
            figures.transitions += 1;
            let mut next = now.clone();
            t.takes.iter().for_each(|&(p, n)| next[p] -= n);
            t.puts.iter().for_each(|&(p, n)| next[p] += n);
            if seen.insert(next.clone()) {
                if seen.len() > limit {
                    return None;
                }
                open.push_back(next);
            }
        }
        figures.deadlocks += u64::from(stuck);
    }
    Some(figures)
}

fn random_net(rng: &mut Rng) -> Net {
    let places = 1 + rng.below(5);
    let tokens = |rng: &mut Rng| (if rng.one_in(3) { rng.below(6) } else { rng.below(2) }) as u64;
    let mut net = Net { name: "random".into(), ..Net::default() };
    net.places = (0..places).map(|p| place(&format!("p{p}"), tokens(rng))).collect();
    for t in 0..1 + rng.below(6) {
        let mut arcs = || -> Vec<(usize, u64)> {
            let joined: Vec<usize> = (0..places).filter(|_| rng.below(places + 1) < 2).collect();
            joined.into_iter().map(|p| (p, 1 + rng.below(2) as u64)).collect()
        };
        let (takes, puts) = (arcs(), arcs());
        net.transitions.push(Transition { id: format!("t{t}"), name: None, takes, puts });
    }
    net
}

/// A net in which transitions move tokens and never make or lose one.
fn moving_net(rng: &mut Rng) -> Net {
    let places = 2 + rng.below(3);
    let mut net = Net { name: "moving".into(), ..Net::default() };
    net.places = (0..places).map(|p| place(&format!("p{p}"), rng.below(3) as u64)).collect();
    for t in 0..2 + rng.below(3) {
        let moved = 1 + rng.below(2);
        let mut arcs = || {
            let mut count = vec![0; places];
            (0..moved).for_each(|_| count[rng.below(places)] += 1);
            (0..places).filter(|p| count[*p] > 0).map(|p| (p, count[p])).collect::<Vec<(usize, u64)>>()
        };
        let (takes, puts) = (arcs(), arcs());
        net.transitions.push(Transition { id: format!("t{t}"), name: None, takes, puts });
    }
    net
}

/// Two nets that do not know of each other.
fn side_by_side(mut one: Net, other: Net) -> Net {
    let shift = one.places.len();
    let moved = |arcs: &[(usize, u64)]| arcs.iter().map(|&(p, n)| (p + shift, n)).collect();
    one.places.extend(other.places.into_iter().map(|p| Place { id: format!("other_{}", p.id), ..p }));
    one.transitions.extend(other.transitions.into_iter().map(|t| Transition {
        id: format!("other_{}", t.id),
        name: None,
        takes: moved(&t.takes),
        puts: moved(&t.puts),
    }));
    one
}

#[test]
fn a_net_has_the_markings_that_a_plain_enumeration_finds() {
    let mut rng = Rng::new(17);
    let mut compared = 0;
    for _ in 0..200 {
        let net = random_net(&mut rng);
        let Some(wanted) = enumerated(&net, 1000) else { continue };
        compared += 1;
        for (workers, order) in [(1, Order::Bfs), (3, Order::Bfs), (2, Order::Dfs)] {
            let (found, marking) = explored(&net, &Options { workers, order, ..keep_going() });
            let most = marking.most_tokens();
            let got = Figures {
                states: found.states,
                transitions: found.transitions,
                deadlocks: found.deadlocks,
                most,
            };
            assert_eq!(got, wanted, "{net:?}");
        }
    }
    assert!(compared > 60, "only {compared} nets are bounded");
}

#[test]
fn stubborn_sets_find_a_deadlock_exactly_where_there_is_one() {
    let mut rng = Rng::new(23);
    let (mut compared, mut smaller) = (0, 0);
    for _ in 0..100 {
        let net = side_by_side(moving_net(&mut rng), moving_net(&mut rng));
        let Some(wanted) = enumerated(&net, 1000) else { continue };
        compared += 1;
        for method in [Method::Stubborn, Method::Ample] {
            let por = Some(Por { method, preserve: Preserve::Deadlocks, proviso: Proviso::Topological });
            let (found, _) = explored(&net, &Options { por, ..keep_going() });
            assert_eq!(found.deadlocks > 0, wanted.deadlocks > 0, "{method:?} {net:?}");
            assert!(found.exhausted && found.states <= wanted.states);
            smaller += u64::from(found.states < wanted.states);
        }
    }
    assert!(compared > 50 && smaller > 20, "{compared} nets, {smaller} with fewer states");
}

/// Whether a formula holds of a net, and in how many states that was found out; `None` if a place was too narrow.
fn decided(net: &Net, formula: &str, reduces: bool) -> Option<(bool, u64)> {
    let mut marking = Marking::new(net.clone());
    marking.prepare_reduction();
    let explorer = Explorer::new(marking).check_deadlock(false).reduce(reduces).ltl(formula).unwrap();
    let report = explorer.run().ok()?;
    Some((report.temporal[0].holds.expect("everything was seen"), report.states()))
}

#[test]
fn stubborn_sets_keep_the_truth_of_formulas_without_next() {
    let mut rng = Rng::new(31);
    let (mut smaller, mut truths) = (0, [0, 0]);
    for _ in 0..60 {
        let net = side_by_side(moving_net(&mut rng), moving_net(&mut rng));
        for formula in [
            "G {p0 >= 1}",
            "F {p1 = 0}",
            "G F {p0 <= p1}",
            "{p0 > 0} U {p1 > 1}",
            "G ({p1 >= 1} => F {p0 >= 1})",
            "F G {enabled(t0)}",
            "F {other_p0 > p0} or G {other_p1 <= 1}",
        ] {
            let (Some(full), Some(reduced)) = (decided(&net, formula, false), decided(&net, formula, true))
            else {
                continue;
            };
            assert_eq!(full.0, reduced.0, "{formula} of {net:?}");
            smaller += u32::from(reduced.1 < full.1);
            truths[usize::from(full.0)] += 1;
        }
    }
    assert!(smaller > 20 && truths.iter().all(|n| *n > 40), "{smaller} smaller, {truths:?}");
}

#[test]
fn a_place_that_turns_out_too_narrow_is_widened_and_nothing_is_lost() {
    let tokens = 20_000;
    let net = Net {
        name: "tank".into(),
        places: vec![place("full", tokens), place("empty", 0)],
        transitions: vec![
            transition("drain", &[(0, 1)], &[(1, 3)]),
            transition("fill", &[(1, 3)], &[(0, 1)]),
        ],
    };
    let narrow = Marking::new(net.clone());
    let mut digests = BTreeSet::new();
    for workers in [1, 2, 4] {
        let (found, marking) = explored(&net, &Options { workers, ..keep_going() });
        assert!(
            marking.widths()[1] > narrow.widths()[1],
            "the first guess was wide enough: {:?}",
            marking.widths()
        );
        assert_eq!((found.states, found.transitions), (tokens + 1, 2 * tokens));
        assert_eq!(marking.most_tokens(), (3 * tokens, 3 * tokens));
        digests.insert(found.digest);
    }
    assert_eq!(digests.len(), 1, "the digest depends on the workers");
}

#[test]
fn more_tokens_than_can_be_counted_make_a_run_incomplete() {
    let net = Net {
        name: "flood".into(),
        places: vec![place("p", u64::MAX - 1), place("q", 1)],
        transitions: vec![transition("t", &[(1, 1)], &[(0, 2)])],
    };
    let (found, _) = explored(&net, &Options::default());
    assert!(!found.is_verified() && !found.reasons.is_empty());
}

fn bombus(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bombus")).args(args).output().expect("the binary runs")
}

fn json(args: &[&str]) -> Value {
    let out = bombus(&[args, &["--json"]].concat());
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&out.stderr)))
}

fn model(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-models/nets").join(name).display().to_string()
}

#[test]
fn the_figures_of_the_contest_are_in_the_json_and_in_the_text() {
    let ring = model("ring.pnml");
    let result = json(&["check", &ring]);
    assert_eq!(result["figures"]["max_token_in_place"], 5);
    assert_eq!(result["figures"]["max_token_per_marking"], 5);
    assert_eq!(result["engine"], "petri net");
    let text = String::from_utf8(bombus(&["check", &ring]).stdout).unwrap();
    assert!(text.contains("max token in place 5"), "{text}");
    assert!(!text.contains("integers"), "{text}");
}

#[test]
fn a_deadlock_of_a_net_is_shown_step_by_step_and_said_to_be_unconfirmed() {
    let result = json(&["check", &model("forks.pnml")]);
    assert_eq!(result["verdict"], "violated");
    let trace = result["violation"]["trace"].as_array().unwrap();
    assert_eq!(trace.len(), 6);
    assert_eq!(trace[0]["event"], "$initialise_machine");
    assert!(trace[1]["event"].as_str().unwrap().starts_with("take_left"));
    assert_eq!(trace[5]["state"]["fork0"], "0");
    let said = result["violation"]["explanation"].to_string();
    assert!(said.contains("no second interpreter"), "{said}");
    let quiet = json(&["check", &model("forks.pnml"), "--no-deadlock"]);
    assert_eq!(quiet["verdict"], "verified");
}

/// The formulas that hold of the ring, and those that do not.
#[test]
fn formulas_speak_of_tokens_and_transitions() {
    let ring = model("ring.pnml");
    for (formula, verdict) in [
        ("G {tokens(p0, p1, p2, p3, p4, p5) = 5}", "holds"),
        ("G ({p0 > 0} => e(step0))", "holds"),
        ("G {enabled(step3) <=> p3 >= 1}", "holds"),
        ("F {p5 > 0}", "holds"),
        ("F {p0 = 0}", "violated"),
        ("G F [step0]", "holds"),
        ("G F {p3 = 0}", "violated"),
        ("WF(step0) & WF(step1) & WF(step2) & WF(step3) & WF(step4) & WF(step5) => F {p3 > 0}", "holds"),
        ("G not deadlock", "holds"),
        ("G {p0 <= p1 + 4}", "violated"),
    ] {
        for workers in ["1", "3"] {
            let result = json(&["check", &ring, "--ltl", formula, "--workers", workers]);
            assert_eq!(result["temporal"][0]["verdict"], verdict, "{formula}");
        }
    }
    let result = json(&["check", &ring, "--ctl", "AG EF {p0 = 5}"]);
    assert_eq!(
        (&result["temporal"][0]["verdict"], &result["verdict"]),
        (&"holds".into(), &"verified".into())
    );
}

#[test]
fn a_reduction_of_a_net_keeps_the_truth_of_formulas_over_states() {
    let switches = model("switches.pnml");
    let full = json(&["check", &switches]);
    let reduced = json(&["check", &switches, "--por", "on"]);
    assert_eq!((&full["verdict"], &reduced["verdict"]), (&"verified".into(), &"verified".into()));
    assert!(reduced["states"].as_u64() < full["states"].as_u64());
    for (formula, verdict) in [
        ("F {on3 = 1}", "violated"),
        ("G {on3 + off3 = 1}", "holds"),
        ("G ({on3 = 1} => {on3 = 1} W {off3 = 1})", "holds"),
        ("{on4 = 0} W {on3 = 1}", "violated"),
    ] {
        for por in ["off", "on"] {
            let result = json(&["check", &switches, "--por", por, "--ltl", formula]);
            assert_eq!(result["temporal"][0]["verdict"], verdict, "{formula} --por {por}");
            assert_eq!(result["reductions"]["por"], por);
        }
    }
    let off = json(&["check", &switches, "--por", "on", "--ltl", "X {on3 = 1}"]);
    assert_eq!(off["reductions"]["por"], "off");
}

/// The same ring in B.
const RING: &str = "MACHINE ring VARIABLES p INVARIANT p : 0..5 --> NAT
INITIALISATION p := %i.(i : 0..5 | 0) <+ {0 |-> 5}
OPERATIONS step(i) = PRE i : 0..5 & p(i) > 0 THEN p := p <+ {i |-> p(i) - 1, (i + 1) mod 6 |-> p((i + 1) mod 6) + 1} END
END";

#[test]
fn a_net_and_the_same_system_in_b_have_the_same_counts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ring.mch");
    std::fs::write(&file, RING).unwrap();
    let b = json(&["check", &file.display().to_string(), "--maxint", "5"]);
    let net = json(&["check", &model("ring.pnml")]);
    for figure in ["states", "transitions", "depth", "initial", "verdict"] {
        assert_eq!(b[figure], net[figure], "{figure}");
    }
}

#[test]
fn a_search_of_a_net_goes_on_where_it_was_saved() {
    let tank = model("tank.pnml");
    for net in [tank, model("switches.pnml")] {
        let dir = tempfile::tempdir().unwrap();
        let saved = dir.path().join("saved").display().to_string();
        let first = json(&["check", &net, "--checkpoint", &saved, "--max-states", "300", "--workers", "2"]);
        assert_eq!(first["verdict"], "incomplete");
        let resumed = json(&["check", &net, "--resume", &saved, "--workers", "2"]);
        let whole = json(&["check", &net, "--workers", "1"]);
        for figure in ["states", "transitions", "digest", "verdict", "figures", "events"] {
            assert_eq!(resumed[figure], whole[figure], "{figure} of {net}");
        }
    }
}

#[test]
fn what_means_something_for_b_alone_is_refused() {
    let ring = model("ring.pnml");
    for option in [
        &["--maxint", "5"][..],
        &["--symmetry", "exact"],
        &["--set", "X=3"],
        &["--goal", "1=1"],
        &["--via-limit", "3"],
    ] {
        let out = bombus(&[&["check", &ring], option].concat());
        assert_eq!(out.status.code(), Some(2), "{option:?}");
    }
    let out = bombus(&["info", &ring]);
    assert_eq!(out.status.code(), Some(2));
    for formula in ["G {nowhere > 1}", "G {p0 >}", "G unchanged({p0})", "G e(nothing)"] {
        let out = bombus(&["check", &ring, "--ltl", formula]);
        assert_eq!(out.status.code(), Some(2), "{formula}");
    }
}

/// A net with one arc of this type, as some editors write it.
fn arc_of(kind: &str) -> String {
    format!(
        "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'><place id='p'>\
         <initialMarking><text>3</text></initialMarking></place><transition id='t'/>\
         <arc id='a' source='p' target='t'><type value='{kind}'/></arc></page></net></pnml>"
    )
}

/// A net with a place and a reference of this kind that nothing uses.
fn referring(kind: &str, to: &str) -> String {
    format!(
        "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><place id=\"p\"/>
         <{kind} id=\"r\" ref=\"{to}\"/></net></pnml>"
    )
}

#[test]
fn the_contest_and_a_net_have_the_same_four_figures() {
    // Markings, firings, most tokens in a place, most tokens in a marking: as the contest of 2023 prints them.
    for (file, [states, transitions, place, marking]) in [
        ("referendum.pnml", [59_050, 393_661, 1, 10]),
        ("philosophers.pnml", [59_049, 459_270, 1, 20]),
        ("swimming_pool.pnml", [89_621, 450_003, 20, 45]),
    ] {
        let result = json(&["check", &model(file), "--no-deadlock", "--workers", "2"]);
        let figures = &result["figures"];
        assert_eq!(
            (&result["states"], &result["transitions"]),
            (&states.into(), &transitions.into()),
            "{file}"
        );
        let most = (&figures["max_token_in_place"], &figures["max_token_per_marking"]);
        assert_eq!(most, (&place.into(), &marking.into()), "{file}");
    }
}

#[test]
fn an_arc_that_says_that_it_is_plain_is_plain() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plain.pnml").display().to_string();
    std::fs::write(&file, arc_of("normal")).unwrap();
    let told = json(&["check", &file, "--no-deadlock"]);
    assert_eq!((told["states"].as_u64(), told["transitions"].as_u64()), (Some(4), Some(3)));
}

#[test]
fn a_text_that_is_no_net_is_rejected_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, said) in [
        ("a.pnml", "<pnml><net", "well-formed"),
        ("b.pnml", "<html/>", "<pnml>"),
        ("c.etf", "begin state\nx:byte\nend state\nbegin init\n1 2\nend init\n", "2 initial values"),
        ("d.pnml", "\u{0}\u{1}", "well-formed"),
        ("e.pnml", arc_of("inhibitor").as_str(), "type `inhibitor`"),
        ("f.pnml", referring("referencePlace", "nothing").as_str(), "no place and no transition `nothing`"),
        ("g.pnml", referring("referenceTransition", "p").as_str(), "of the other kind"),
    ] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        let out = bombus(&["check", &file.display().to_string()]);
        let told = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{told}");
        assert!(told.contains(said), "{told}");
    }
}

/// Two counters that wait for each other: a lift and its door.
const LIFT: &str = "begin state\nfloor:Floor door:Door\nend state\nbegin edge\nact:Act\nend edge\n\
    begin init\n0 0\nend init\nbegin trans\n0/1 0/0 0\n1/2 0/0 0\nend trans\nbegin trans\n2/1 0/0 1\n1/0 0/0 1\nend trans\n\
    begin trans\n* 0/1 2\n* 1/0 3\nend trans\nbegin map high:bool\n1 * 1\n2 * 1\nend map\nbegin sort Floor\n\"ground\"\n\"first\"\n\"top\"\nend sort\n\
    begin sort Door\n\"shut\"\n\"open\"\nend sort\nbegin sort Act\n\"up\"\n\"down\"\n\"open\"\n\"shut\"\nend sort\n";

#[test]
fn a_table_of_transitions_is_explored_with_the_names_of_its_sorts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lift.etf");
    std::fs::write(&file, LIFT).unwrap();
    let lift = file.display().to_string();
    let result = json(&["check", &lift]);
    // Six states; the door moves in each, the lift has four moves with the door shut.
    assert_eq!((&result["states"], &result["transitions"]), (&6.into(), &10.into()));
    for (formula, verdict) in [
        ("G ({door = open} => not [group_0])", "holds"),
        ("G {floor = ground or door = shut}", "violated"),
        ("G ([group_2(open)] => X {door = open})", "holds"),
        ("G not [group_2(shut)]", "violated"),
        ("F {floor = top}", "violated"),
        ("G {high = 1 <=> floor /= ground}", "holds"),
    ] {
        let result = json(&["check", &lift, "--ltl", formula]);
        assert_eq!(result["temporal"][0]["verdict"], verdict, "{formula}");
    }
    let bad = json(&["check", &lift, "--ltl", "G {floor = ground or door = shut}"]);
    let last = bad["violation"]["trace"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["params"]["act"], &last["state"]["floor"]), (&"open".into(), &"first".into()));
}
