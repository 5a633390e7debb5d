//! Symbolic engines against the evaluator and the explicit engine, and on models that no exploration finishes.
//!
//! Random machines: what the encoder says of a predicate in a state is what the evaluator says; the depth of bounded
//! model checking is that of the breadth-first search; a proof is never of a machine that the explicit engine refutes. The
//! table of unbounded models gives the answer of each with its reason.

use crate::support::binary::{Folder, check_machine};
use crate::support::machines;
use crate::support::{cases, first_seed, number_from_env, with_stack};
use bombus::base::budget::Budget;
use bombus::driver::{CheckOptions, Engine, Failure, Method, SymbolicSettings, check};
use bombus::evaluate::{Interpreter, search};
use bombus::lang::typed::{Machine, Pred};
use bombus::model::{self, LoadOptions};
use bombus::report::{Outcome, Verdict};
use bombus::symbolic::encode::{EncodeOptions, Encoder, Env};
use bombus::symbolic::sat::{Answer, Limit, Lit};
use std::path::Path;
use std::time::Duration;

pub fn options(engine: Engine) -> CheckOptions {
    CheckOptions { engine, refine_at_once: true, no_native: true, ..CheckOptions::default() }
}

fn symbolic(method: Method) -> Engine {
    Engine::Symbolic(SymbolicSettings {
        method,
        max_depth: 12,
        max_k: 4,
        frames: 30,
        width: 64,
        simple_path: true,
    })
}

/// The outcome for the text of a machine; `None` if the machine is rejected. The time only keeps a run from going on for
/// ever: what it ends is incomplete, and no assertion rests on that. Long runs have less of it for each machine
/// (`BOMBUS_SECONDS`).
fn outcome(text: &str, options: &CheckOptions) -> Option<Outcome> {
    outcome_within(number_from_env("BOMBUS_SECONDS", 20), text, options)
}

/// The outcome for the text of a machine that needs an answer, however busy the computer is.
fn answer(text: &str, options: &CheckOptions) -> Outcome {
    outcome_within(600, text, options).expect("a model")
}

fn outcome_within(seconds: u64, text: &str, options: &CheckOptions) -> Option<Outcome> {
    let folder = Folder::with_machine(text);
    outcome_of(&folder.path("M.mch"), options, Duration::from_secs(seconds))
}

pub fn outcome_of(path: &Path, options: &CheckOptions, limit: Duration) -> Option<Outcome> {
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(limit);
    match check(path, options, &budget) {
        Ok(outcome) => Some(outcome),
        Err(Failure::Rejected(_)) => None,
        Err(Failure::Internal(message)) => {
            panic!("{message}\n{}", std::fs::read_to_string(path).unwrap_or_default())
        }
    }
}

/// The operations of the trace.
pub fn depth(o: &Outcome) -> usize {
    o.violation.as_ref().map_or(0, |v| v.trace.iter().filter(|s| !s.event.starts_with('$')).count())
}

fn load(text: &str) -> Option<Machine> {
    let folder = Folder::with_machine(text);
    let loaded = model::load(&folder.path("M.mch"), &LoadOptions::default());
    loaded.model.map(|m| m.machine)
}

/// What was compared of predicates in states.
#[derive(Debug, Default)]
struct Compared {
    machines: usize,
    predicates: usize,
    comparisons: usize,
    /// Comparisons of predicates that the encoder understands.
    understood: usize,
    /// Predicates that take too many gates, such as products of products.
    large: usize,
}

/// Gates of one machine at most: a long run must not spend its time on a few multipliers.
const GATES: u32 = 150_000;

/// Compares every predicate of a machine in some states.
fn compare(machine: &Machine, compared: &mut Compared) {
    let budget = Budget::unlimited();
    let explored = search::explore(
        machine,
        &budget,
        &search::SearchOptions { max_states: Some(40), keep_going: true, ..Default::default() },
    );
    let options = EncodeOptions { width: 8, free_products: false, strict_guards: false, valuations: None };
    let mut enc = Encoder::new(machine, options, &budget);
    let mut env = Env::new(machine);
    enc.bind_leaves(&mut env, &machine.constants, &[]);
    let typing: Vec<&Pred> = machine.invariant.iter().map(|c| &c.pred).collect();
    enc.bind_leaves(&mut env, &machine.variables, &typing);
    env.remember(&machine.variables);
    let interpreter = Interpreter::new(machine, &budget);
    compared.machines += 1;
    let preds = machine.invariant.iter().chain(&machine.assertions).map(|c| &c.pred).chain(&machine.goal);
    for p in preds {
        compared.predicates += 1;
        let weak = enc.weak.len();
        let truth = enc.pred(&mut env, p);
        if enc.g.fresh().variable() > GATES {
            compared.large += 1;
            return;
        }
        let exact = enc.weak.len() == weak;
        for state in &explored.states {
            let mut assumptions = Vec::new();
            let pairs = machine.constants.iter().zip(state.constants.iter());
            for (v, value) in pairs.chain(machine.variables.iter().zip(state.variables.iter())) {
                let term = env.get(*v).expect("bound above").term.clone();
                assumptions.push(enc.is_value(&term, value).unwrap_or(Lit::TRUE));
            }
            // A state outside of what the invariant says has no literals.
            if assumptions.contains(&Lit::FALSE) {
                continue;
            }
            let (holds, defined) = match interpreter.eval_pred(p, Some(state)) {
                Ok(holds) => (holds, true),
                Err(e) if e.is_finding() => (false, false),
                Err(_) => continue,
            };
            assumptions.push(enc.g.range_assumption());
            assumptions.push(truth.defined.signed(defined));
            if defined {
                assumptions.push(truth.holds.signed(holds));
            }
            compared.comparisons += 1;
            let place = format!("{p:?}\n{state:?} {holds} {defined}");
            assert_eq!(enc.g.solve(&assumptions, &Limit::none()), Answer::Sat, "excluded: {place}");
            if exact {
                compared.understood += 1;
                let last = assumptions.len() - 1;
                assumptions[last] = !assumptions[last];
                assert_eq!(enc.g.solve(&assumptions, &Limit::none()), Answer::Unsat, "left open: {place}");
            }
        }
    }
}

#[test]
fn a_predicate_has_the_truth_and_the_definedness_that_the_evaluator_gives_it() {
    with_stack(|| {
        let mut all = Compared::default();
        for seed in first_seed()..first_seed() + cases(30) {
            let Some(machine) = load(&machines::random(seed).to_string()) else { continue };
            compare(&machine, &mut all);
        }
        eprintln!("{all:?}");
        assert!(all.understood * 10 >= all.comparisons * 4, "too little is understood: {all:?}");
    });
}

#[test]
fn bounded_model_checking_is_as_deep_as_the_breadth_first_search_and_proofs_are_never_of_refuted_machines() {
    with_stack(|| {
        let (mut machines, mut seen, mut agreed) = (0, 0, 0);
        for seed in first_seed()..first_seed() + cases(15) {
            let text = machines::random(seed).to_string();
            let Some(explicit) = outcome(&text, &options(Engine::Evaluate)) else { continue };
            let verdict = explicit.verdict();
            machines += 1;
            for method in [Method::Bmc, Method::Kind, Method::Ic3, Method::Portfolio] {
                // A portfolio starts an explorer with its memory: every tenth machine has to do.
                if method == Method::Portfolio && seed % 10 != 0 {
                    continue;
                }
                let Some(o) = outcome(&text, &options(symbolic(method))) else { continue };
                seen += 1;
                let place = format!("{} on seed {seed}: {:?}\n{text}", method.word(), o.ledger.reasons());
                match (o.verdict(), verdict) {
                    (Verdict::Violated, Verdict::Verified) => panic!("false alarm: {place}"),
                    (Verdict::Verified, Verdict::Violated) => panic!("wrong proof: {place}"),
                    (Verdict::Violated, Verdict::Violated) => {
                        agreed += 1;
                        let decided = !o.ledger.reasons().iter().any(|r| r.starts_with("not decided"));
                        if decided && method != Method::Portfolio {
                            assert_eq!(depth(&o), depth(&explicit), "depth: {place}");
                        }
                    }
                    (Verdict::Verified, Verdict::Verified) => agreed += 1,
                    _ => {}
                }
            }
        }
        eprintln!(
            "{machines} machines, {seen} runs, {agreed} of them with the verdict of the explicit engine"
        );
        assert!(agreed * 4 >= seen, "only {agreed} of {seen} runs decide");
    });
}

/// Models with unbounded integers or many initial states: the text behind the name, what holds of them, and why.
/// `Verified` may be `Incomplete` for an engine that finds no proof; `Violated` at a depth is what bmc has to find.
const UNBOUNDED: &[(&str, &str, Option<usize>, bool)] = &[
    // text, reason, depth of the violation, whether kind has to prove it
    (
        "VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 OPERATIONS up = x:=x+1 END",
        "adding keeps a number from sinking",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 OPERATIONS up(i) = PRE i:NATURAL1 THEN x:=x+i END END",
        "a sum of naturals is one",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x<=127 INITIALISATION x:=0 OPERATIONS up = x:=x+1 END",
        "no byte wraps around",
        Some(128),
        false,
    ),
    (
        "VARIABLES x INVARIANT x<=6 INITIALISATION x:=0 OPERATIONS up = x:=x+1 END",
        "seven steps reach seven",
        Some(7),
        false,
    ),
    (
        "VARIABLES x INVARIANT x/=-1 INITIALISATION x:=0 OPERATIONS up = x:=x+1 END",
        "needs that x stays positive",
        None,
        false,
    ),
    (
        "VARIABLES x INVARIANT x>=-2 & x/=-1 INITIALISATION x:=0 OPERATIONS up(i) = PRE i:1..64 THEN x:=x+i END END",
        "two good states in a row rule -2 out",
        None,
        true,
    ),
    (
        "VARIABLES x,y INVARIANT x=y INITIALISATION x,y:=0,0 OPERATIONS both = x,y:=x+1,y+1 END",
        "a relation of two numbers",
        None,
        true,
    ),
    (
        "VARIABLES x,y INVARIANT x<=y INITIALISATION x,y:=0,0 OPERATIONS a = y:=y+1; b = SELECT x<y THEN x:=x+1 END END",
        "never overtakes",
        None,
        true,
    ),
    (
        "VARIABLES x,y INVARIANT x<y INITIALISATION x,y:=0,1 OPERATIONS a = y:=y+1; b = SELECT x<y THEN x:=x+1 END END",
        "meets in one step",
        Some(1),
        false,
    ),
    (
        "VARIABLES x INVARIANT x mod 2 = 0 & x>=0 INITIALISATION x:=0 OPERATIONS up = x:=x+2 END",
        "even stays even",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x/=1024 INITIALISATION x:=1 OPERATIONS up = x:=x*2 END",
        "ten doublings",
        Some(10),
        false,
    ),
    (
        "VARIABLES x INVARIANT x>0 INITIALISATION x:=1 OPERATIONS up = x:=x*2 END",
        "doubling keeps the sign",
        None,
        true,
    ),
    (
        "VARIABLES x,y INVARIANT x*y>=0 INITIALISATION x,y:=0,0 OPERATIONS a = x:=x+1; b = y:=y+1 END",
        "a product of naturals; no proof is known",
        None,
        false,
    ),
    (
        "VARIABLES x,y INVARIANT x*y/=12 INITIALISATION x,y:=0,0 OPERATIONS a = x:=x+1; b = y:=y+1 END",
        "3*4 after seven steps",
        Some(7),
        false,
    ),
    (
        "VARIABLES x INVARIANT x:INTEGER INITIALISATION x:=0 OPERATIONS up = x:=x+1; down = x:=x-1 END",
        "typing alone",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 OPERATIONS down = SELECT x>0 THEN x:=x-1 END; up = x:=x+3 END",
        "never below nought",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 OPERATIONS down = SELECT x>1 THEN x:=x-3 END; up = x:=x+2 END",
        "2-3 is negative",
        Some(2),
        false,
    ),
    (
        "VARIABLES x,b INVARIANT x>=0 & b:BOOL & (b=TRUE => x>=5) INITIALISATION x,b:=0,FALSE OPERATIONS up = x:=x+1; set = SELECT x>=5 THEN b:=TRUE END END",
        "the flag remembers",
        None,
        true,
    ),
    (
        "VARIABLES x,b INVARIANT x>=0 & b:BOOL & (b=TRUE => x>=5) INITIALISATION x,b:=0,FALSE OPERATIONS up = x:=x+1; set = SELECT x>=4 THEN b:=TRUE END END",
        "the flag is set too early",
        Some(5),
        false,
    ),
    (
        "VARIABLES x INVARIANT x<33554432 INITIALISATION x::0..33554431 OPERATIONS up(i) = PRE i:1..1000 & x+i<=33554432 THEN x:=x+i END; back = PRE x=33554432 THEN x:=0 END END",
        "2**25 initial states",
        Some(1),
        false,
    ),
    (
        "VARIABLES x INVARIANT x=0 or x=1 INITIALISATION x:=0 OPERATIONS flip = x:=1-x END",
        "two states of an infinite type",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT 10/x>=0 INITIALISATION x:=3 OPERATIONS down = x:=x-1 END",
        "divides by nought",
        Some(3),
        false,
    ),
    (
        "VARIABLES x INVARIANT x>=1 & 10/x>=0 INITIALISATION x:=1 OPERATIONS up = x:=x+1 END",
        "a positive divisor",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x:NATURAL INITIALISATION x::NATURAL OPERATIONS up = x:=x+1 END",
        "infinitely many initial states",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x/=7 INITIALISATION x::NATURAL OPERATIONS up = x:=x+1 END",
        "one initial state of infinitely many",
        Some(0),
        false,
    ),
    (
        "VARIABLES x,s INVARIANT x>=0 & s<:1..3 & (s={} => x=0 or x>=1) INITIALISATION x,s:=0,{} OPERATIONS put(e) = PRE e:1..3 THEN s:=s\\/{e} || x:=x+1 END END",
        "a set beside a number",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 OPERATIONS up = ANY i WHERE i>x THEN x:=i END END",
        "any greater number",
        None,
        true,
    ),
    (
        "VARIABLES x INVARIANT x<=100 INITIALISATION x:=0 OPERATIONS up = ANY i WHERE i>x THEN x:=i END END",
        "any greater number, at once",
        Some(1),
        false,
    ),
    (
        "VARIABLES x INVARIANT x:0..1000 INITIALISATION x:=0 OPERATIONS o(i) = PRE i:NATURAL THEN IF i>20000 THEN x:=2000 ELSE x:=1 END END END",
        "a parameter without bounds beside a variable with bounds",
        Some(1),
        false,
    ),
];

fn machine_of(body: &str) -> String {
    format!("MACHINE M {body}")
}

#[test]
fn unbounded_models_have_the_answer_that_their_reason_gives() {
    with_stack(|| {
        let mut wrong = Vec::new();
        for (body, reason, violated, inductive) in UNBOUNDED {
            let text = machine_of(body);
            for method in [Method::Bmc, Method::BmcPath, Method::Kind, Method::Ic3] {
                let may_be_open = match violated {
                    None => !(*inductive && method == Method::Kind),
                    Some(d) => *d > 12 || (*d > 4 && matches!(method, Method::Kind | Method::Ic3)),
                };
                let options = options(symbolic(method));
                let o = match may_be_open {
                    true => outcome(&text, &options).expect("a model"),
                    false => answer(&text, &options),
                };
                let good = match (violated, o.verdict()) {
                    (None, Verdict::Violated) | (Some(_), Verdict::Verified) => false,
                    (None, Verdict::Verified) => method != Method::Bmc && method != Method::BmcPath,
                    (_, Verdict::Incomplete) => may_be_open,
                    (Some(d), Verdict::Violated) => depth(&o) == *d,
                };
                if !good {
                    wrong.push(format!(
                        "{} says {:?} at {} of {reason}: {body}\n  {:?}",
                        method.word(),
                        o.verdict(),
                        depth(&o),
                        o.ledger.reasons()
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn constants_without_a_valuation_are_a_finding_and_prove_nothing() {
    with_stack(|| {
        let vacuous = [
            "MACHINE M CONSTANTS c PROPERTIES c:INTEGER & c>3 & c<3 VARIABLES x INVARIANT x=0 INITIALISATION x:=0 OPERATIONS o = skip END",
            "MACHINE M CONSTANTS c PROPERTIES c:0..3 VARIABLES x INVARIANT x=0 INITIALISATION x:: (1..c)-(0..9) OPERATIONS o = skip END",
        ];
        for text in vacuous {
            for method in [Method::Bmc, Method::BmcPath, Method::Kind, Method::Ic3] {
                let o = answer(text, &options(symbolic(method)));
                assert_eq!(
                    o.verdict(),
                    Verdict::Violated,
                    "{} of {text}: {:?}",
                    method.word(),
                    o.ledger.reasons()
                );
                assert_eq!(o.violation.expect("a finding").kind, "properties");
            }
        }
    });
}

/// No evaluator lists the relations of forty nodes; the greatest one refutes the property.
#[test]
fn what_properties_say_of_all_sets_is_tried_with_the_greatest_set() {
    with_stack(|| {
        let text = "MACHINE M SETS C CONSTANTS N PROPERTIES N=1..40 & card(C)=2 & \
                    !g.(g : N<->N & g/={} => #f.(f : N-->C & !n.(!m.(n/=m & n|->m : g => f(n)/=f(m))))) \
                    VARIABLES x INVARIANT x:0..1 INITIALISATION x:=0 OPERATIONS o = x:=1-x END";
        let o = answer(text, &options(symbolic(Method::Kind)));
        assert_eq!(o.verdict(), Verdict::Violated, "{:?}", o.ledger.reasons());
        assert_eq!(o.violation.expect("a finding").kind, "properties");
    });
}

#[test]
fn the_solver_chooses_constants() {
    with_stack(|| {
        let text = "MACHINE M CONSTANTS m PROPERTIES m:{127,255} VARIABLES c INVARIANT c>=0 & c<=m INITIALISATION c:=0 \
                    OPERATIONS incby(i) = PRE i:1..64 THEN c:=c+i END END";
        let o = answer(text, &options(symbolic(Method::Bmc)));
        assert_eq!((o.verdict(), depth(&o)), (Verdict::Violated, 2));
        let trace = o.violation.expect("a finding").trace;
        assert_eq!(trace[0].state, [("m".to_string(), "127".to_string())]);
    });
}

#[test]
fn a_state_without_a_successor_is_found_where_guards_have_finitely_many_parameters() {
    with_stack(|| {
        let text = "MACHINE M VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 \
                    OPERATIONS up(i) = SELECT i:1..2 & x+i<=5 THEN x:=x+i END END";
        let o = answer(text, &options(symbolic(Method::Bmc)));
        assert_eq!((o.verdict(), depth(&o)), (Verdict::Violated, 3));
        assert_eq!(o.violation.expect("a finding").kind, "deadlock");
    });
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    let text = "MACHINE M VARIABLES x INVARIANT x>=0 & x<7 INITIALISATION x:=0 \
                OPERATIONS up(i) = PRE i:1..3 THEN x:=x+i END; down = PRE x>0 THEN x:=x-1 END END";
    for engine in ["bmc", "bmc-path", "kind", "ic3"] {
        let answer = |workers: &str| {
            let result = check_machine(text, &["--engine", engine, "--workers", workers]);
            (result["verdict"].clone(), result["violation"].clone())
        };
        let alone = answer("1");
        assert_eq!(alone.0, "violated", "{engine}");
        assert_eq!(alone, answer("3"), "{engine}");
    }
}
