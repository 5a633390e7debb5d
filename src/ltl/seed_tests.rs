//! Examples of seed paper 004, rebuilt as transition systems; truths as confirmed by independent
//! enumeration (design notes on the founding papers, part 4).

use super::check::Engine;
use super::testing::World;
use super::view::{Arc, Explicit, Graph, State};
use std::collections::{BTreeMap, BTreeSet};

/// A name and the states it stands for.
type Predicate<'a, S> = (&'a str, &'a dyn Fn(&S) -> bool);

/// Explores from `initial`; `successors` gives event, argument and target.
fn world<S: Clone + Ord>(
    initial: S,
    successors: impl Fn(&S) -> Vec<(&'static str, u64, S)>,
    predicates: &[Predicate<'_, S>],
) -> World {
    let mut numbers = BTreeMap::from([(initial.clone(), 0u32)]);
    let mut states = vec![initial];
    let mut events: Vec<String> = Vec::new();
    let mut arcs = Vec::new();
    let mut at = 0;
    while at < states.len() {
        for (event, label, target) in successors(&states[at].clone()) {
            let event = events.iter().position(|e| e == event).unwrap_or_else(|| {
                events.push(event.into());
                events.len() - 1
            }) as u32;
            let target = *numbers.entry(target.clone()).or_insert_with(|| {
                states.push(target);
                states.len() as u32 - 1
            });
            arcs.push(Arc { source: at as u32, event, label, target });
        }
        at += 1;
    }
    let holds =
        |p: &dyn Fn(&S) -> bool| (0..states.len() as u32).filter(|&s| p(&states[s as usize])).collect();
    World {
        graph: Explicit::new(states.len(), &[0], arcs),
        events,
        propositions: predicates.iter().map(|(name, p)| (name.to_string(), holds(*p))).collect(),
        undefined: Vec::new(),
    }
}

fn size(world: &World) -> (usize, u64) {
    (world.graph.states(), world.graph.transitions())
}

#[test]
fn traffic_lights_keep_their_next_annotations() {
    // Moat and square, true for go.
    let lights = world(
        (false, false),
        |&(moat, square)| {
            let mut all = vec![("Stop_All", 0, (false, false))];
            if !moat && !square {
                all.extend([("Go_Moat", 0, (true, false)), ("Go_Square", 0, (false, true))]);
            }
            if moat {
                all.push(("Stop_Moat", 0, (false, square)));
            }
            if square {
                all.push(("Stop_Square", 0, (moat, false)));
            }
            all
        },
        &[],
    );
    assert_eq!(size(&lights), (3, 7));
    for formula in [
        "G ([Stop_All] => X (e(Go_Moat) & e(Go_Square)))",
        "G ([Stop_Moat] => X (e(Go_Moat) & e(Go_Square)))",
        "G ([Stop_Square] => X (e(Go_Moat) & e(Go_Square)))",
        "G ([Go_Moat] => X (e(Stop_All) & e(Stop_Moat)))",
        "G ([Go_Square] => X (e(Stop_All) & e(Stop_Square)))",
    ] {
        lights.expect(formula, "holds");
    }
    lights.expect("G([Stop_All] => X !e(Go_Moat))", "violated");
}

/// Program counters 0 raise flag, 1 give turn away, 2 read the other's flag, 3 read turn, 4 enter,
/// 5 critical, 6 leave, 7 lower flag; and whose turn it is.
type Peterson = ([u8; 2], u8);

fn peterson() -> World {
    const NAMES: [[&str; 10]; 2] = [
        [
            "p1flag",
            "p1turn",
            "p1sees",
            "p1clear",
            "p1waits",
            "p1goes",
            "p1enter",
            "p1critical",
            "p1leave",
            "p1lower",
        ],
        [
            "p2flag",
            "p2turn",
            "p2sees",
            "p2clear",
            "p2waits",
            "p2goes",
            "p2enter",
            "p2critical",
            "p2leave",
            "p2lower",
        ],
    ];
    world(
        ([0, 0], 0),
        |&(pc, turn): &Peterson| {
            let mut all = Vec::new();
            for me in 0..2 {
                let other = 1 - me;
                let flag = pc[other] > 0;
                let (event, next, new_turn) = match pc[me] {
                    0 => (0, 1, turn),
                    1 => (1, 2, other as u8),
                    2 if flag => (2, 3, turn),
                    2 => (3, 4, turn),
                    3 if turn == other as u8 => (4, 2, turn),
                    3 => (5, 4, turn),
                    4 => (6, 5, turn),
                    5 => (7, 6, turn),
                    6 => (8, 7, turn),
                    _ => (9, 0, turn),
                };
                let mut after = pc;
                after[me] = next;
                all.push((NAMES[me][event], 0, (after, new_turn)));
            }
            all
        },
        &[("both", &|(pc, _): &Peterson| pc.iter().all(|c| (5..7).contains(c)))],
    )
}

#[test]
fn peterson_excludes_and_with_fairness_lets_in() {
    let peterson = peterson();
    // 56 states and 112 transitions: confirmed for the CSP version.
    assert_eq!(size(&peterson), (56, 112));
    for (formula, word) in [
        ("G([p1critical] => X(!e(p2critical)))", "holds"),
        ("G([p1critical] => X(!e(p2critical)) W [p1leave])", "holds"),
        ("G([p2critical] => X(!e(p1critical)) W [p2leave])", "holds"),
        ("G not {both}", "holds"),
        ("G ([p1flag] => F [p1critical])", "violated"),
        ("WEF => G ([p1flag] => F [p1critical])", "holds"),
        ("WEF => GF [p1critical]", "holds"),
        ("SEF => GF [p2critical]", "holds"),
        ("G ([p1critical] => O [p1flag])", "holds"),
        ("G ([p1critical] => Y (not [p1leave] S [p1flag]))", "holds"),
    ] {
        assert_eq!(peterson.check(formula).word(), word, "{formula}");
        if !formula.contains("EF") {
            assert_eq!(peterson.check_by(Engine::Tableau, formula).word(), word, "{formula}");
        }
    }
}

#[test]
fn the_organisation_has_a_quasi_deadlock() {
    // Three names, each outside, waiting or a member; Join is guarded by #waiting <= 1.
    let organisation = world(
        [0u8; 3],
        |roles: &[u8; 3]| {
            let waiting = roles.iter().filter(|r| **r == 1).count();
            let mut all = Vec::new();
            for x in 0..3 {
                let to = |role: u8| {
                    let mut after = *roles;
                    after[x] = role;
                    after
                };
                all.push(("Query", x as u64, *roles));
                match roles[x] {
                    0 => all.push(("JoinQ", x as u64, to(1))),
                    1 if waiting <= 1 => all.push(("Join", x as u64, to(2))),
                    1 => {}
                    _ => all.push(("Remove", x as u64, to(0))),
                }
            }
            all
        },
        &[
            ("members>2", &|r: &[u8; 3]| r.iter().all(|x| *x == 2)),
            ("waiting>2", &|r: &[u8; 3]| r.iter().all(|x| *x == 1)),
            ("together<=3", &|r: &[u8; 3]| r.iter().filter(|x| **x > 0).count() <= 3),
        ],
    );
    // 29 nodes and 149 edges with root, constants and initialisation.
    assert_eq!(size(&organisation), (27, 147));
    for (formula, word) in [
        ("!F{members>2}", "violated"),
        ("!F{waiting>2}", "violated"),
        ("G{together<=3}", "holds"),
        ("G(e(Join) or e(JoinQ) or e(Remove))", "violated"),
    ] {
        organisation.expect(formula, word);
    }
}

/// Kind (true for a request), requestor, responder, granted.
type Message = (bool, u8, u8, bool);

/// One workstation: 0 idle, 1 waiting, 2 editing; what it sends, what it got.
type Station = (u8, Vec<Message>, Vec<Message>);

#[test]
fn the_workstation_protocol_reads_what_was_transferred() {
    let stations = world(
        [(0, vec![], vec![]), (0, vec![], vec![])],
        |all: &[Station; 2]| {
            let mut out = Vec::new();
            for w in 0..2u8 {
                let (me, other) = (w as usize, 1 - w as usize);
                let label = u64::from(w);
                if all[me].0 == 0 {
                    let mut after = all.clone();
                    after[me].0 = 1;
                    after[me].1.push((true, w, w, true));
                    out.push(("RequestOK", label, after));
                }
                if let Some(&message) = all[me].1.first() {
                    let mut after = all.clone();
                    after[me].1.remove(0);
                    after[other].2.push(message);
                    out.push(("Transfer", label, after));
                }
                if let Some(&(request, requestor, responder, _)) = all[me].2.first() {
                    let mut after = all.clone();
                    after[me].2.remove(0);
                    if request {
                        let granted = all[me].0 == 0 || all[me].0 == 1 && requestor > w;
                        after[me].1.push((false, requestor, w, granted));
                        if granted {
                            after[me].0 = 0;
                        }
                        out.push(("ReadRequestOK", label, after));
                    } else {
                        if requestor == w && all[me].0 == 1 && responder != w {
                            after[me].0 = 2;
                        }
                        out.push(("ReadResponse", label, after));
                    }
                }
            }
            out
        },
        &[],
    );
    // 66 states, 111 transitions, one deadlock: confirmed by enumeration.
    assert_eq!(size(&stations), (66, 111));
    let deadlocks: BTreeSet<u32> = (0..66).filter(|&s| stations.graph.is_deadlock(State(s))).collect();
    assert_eq!(deadlocks.len(), 1);
    stations.expect("G ([Transfer] => X (e(ReadRequestOK) or e(ReadResponse)))", "holds");
    stations.expect("G not deadlock", "violated");
}

/// The fairness of the T=1 protocol, put into the formula: the paper needed 98,304 atoms. On a round of
/// sending and ejecting the assumption rules out every violation.
#[test]
fn fairness_inside_a_formula_stays_small() {
    let protocol = World::new(
        "0 -Insert-> 1; 1 -Csends-> 2; 2 -Rsends-> 1; 1 -Error-> 3; 3 -Resend-> 1; 3 -Resend-> 3; \
         1 -Eject-> 0; 2 -Eject-> 0; 3 -Eject-> 0",
        &[("card_bl", &[1, 3]), ("card_lb", &[0, 2]), ("reader_bl", &[2])],
    );
    let fair = "GF[Eject] & (GF{card_bl} => GF[Csends]) & (GF{reader_bl} => GF[Rsends])";
    let goal = "G({card_bl} => F{card_lb})";
    assert_eq!(protocol.check(goal).word(), "violated");
    assert_eq!(protocol.check(&format!("{fair} => {goal}")).word(), "holds");
    assert_eq!(protocol.check(&format!("SF(Eject) & SF(Csends) & SF(Rsends) => {goal}")).word(), "holds");
}
