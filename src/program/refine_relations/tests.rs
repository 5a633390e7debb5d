//! States for trials against those made of values, and the facts that leave some of them out.

use crate::reduction::Reduction;
use crate::refine_relations::*;
use crate::{Options, Preserved, compile};
use bombus_base::budget::Budget;
use bombus_evaluate::Interpreter;
use bombus_model::{LoadOptions, load};

/// Numbers, rows of functions, elements of sets, a set as a whole, and a row that need not be there.
const MACHINE: &str = "MACHINE M SETS P = {p, q, r}
VARIABLES x, s, t, f, g INVARIANT x : 0..3 & s <: P & t <: P & f : P --> 0..2 & g : P +-> BOOL
INITIALISATION x := 1 || s := {p} || t := {} || f := P * {1} || g := {q |-> TRUE}
OPERATIONS
  up = SELECT x < 3 THEN x := x + 1 END;
  put(i) = SELECT i : P & i /: s & f(i) = 1 THEN s := s \\/ {i} END;
  cut(i) = SELECT i : P & i : s & i : dom(g) THEN g := {i} <<| g || s := s - {i} END;
  step(i) = SELECT i : P & f(i) /= 0 & g(i) = TRUE THEN f(i) := f(i) - 1 END;
  turn = SELECT t = s THEN t := P - s END
END";

fn on_machine(check: impl FnOnce(&Program<'_>, &Reduction, Vec<Value>) + Send) {
    let body = || {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("M.mch");
        std::fs::write(&path, MACHINE).expect("the model is written");
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        let mut program = compile(&model.machine, &Budget::unlimited(), &Options::default()).ok().unwrap();
        program.prepare_reduction(&Preserved { invariant: true, ..Preserved::default() });
        let interpreter = Interpreter::new(&model.machine, &Budget::unlimited());
        let initial = interpreter.initial_states(&program.valuations[0]).ok().unwrap();
        let base = initial.values[0].variables.to_vec();
        check(&program, program.reduction().unwrap(), base);
    };
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    std::thread::scope(|scope| thread.spawn_scoped(scope, body).unwrap().join().unwrap());
}

#[test]
fn states_made_of_changed_words_are_those_made_of_values() {
    on_machine(|program, r, base| {
        let contents = r.contents.as_ref().unwrap();
        let instance = |event, label| r.instance(event, label);
        let trial = Trial::new(program, base, contents, &instance);
        let mut compared = 0;
        for a in &r.grounded.instances {
            for b in &r.grounded.instances {
                let mut cells = Trial::touched(&r.grounded, a);
                cells.append(&mut Trial::touched(&r.grounded, b));
                let Some(mut states) = trial.states(cells, &[]) else { continue };
                assert!(states.in_words);
                let fast: Vec<_> = (0..states.count).map(|n| trial.state(&states, n)).collect();
                states.in_words = false;
                let slow: Vec<_> = (0..states.count).map(|n| trial.state(&states, n)).collect();
                assert_eq!(fast, slow);
                let mut distinct = fast.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), fast.len());
                compared += fast.len();
            }
        }
        assert!(compared > 1000, "{compared}");
    });
}

#[test]
fn no_state_in_which_an_instance_has_a_step_is_left_out_for_a_fact() {
    on_machine(|program, r, base| {
        let contents = r.contents.as_ref().unwrap();
        let instance = |event, label| r.instance(event, label);
        let mut trial = Trial::new(program, base, contents, &instance);
        let (mut kept, mut all) = (0, 0);
        for (i, instance) in r.grounded.instances.iter().enumerate() {
            trial.left = EVALUATIONS;
            let cells = Trial::touched(&r.grounded, instance);
            let facts = Trial::facts(&r.grounded, instance);
            let (Some(few), Some(every)) = (trial.states(cells.clone(), &facts), trial.states(cells, &[]))
            else {
                continue;
            };
            let few: Vec<_> = (0..few.count).map(|n| trial.state(&few, n)).collect();
            for n in 0..every.count {
                let s = trial.state(&every, n);
                let enabled = trial.steps(&r.grounded, i, &s).is_some_and(|steps| !steps.is_empty());
                assert!(!enabled || few.contains(&s), "{}", r.names[i]);
            }
            kept += few.len();
            all += every.count;
        }
        assert!(kept * 4 < all * 3, "{kept} of {all}");
    });
}
