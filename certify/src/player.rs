//! One machine of several that run in lock-step: what its operations do, and which of its clauses hold.
//!
//! In: questions about operations and clauses, in states whose values are numbered. Out: answers of the oracle; an answer
//! is used again for states that agree in all variables that the question reads.
//! Never here: what the answers of several machines mean together.

use crate::reads::variables;
use crate::start::{patient, words};
use bombus_oracle::eval::{Oracle, Stop};
use bombus_oracle::exec::{Finding, Run, Writes};
use bombus_oracle::search::Valuation;
use bombus_oracle::text::Core;
use bombus_oracle::tree::{Clause, Machine, Operation, Pred, Subst};
use bombus_oracle::value::Value;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Answers that one machine may remember.
const MOST: usize = 1 << 20;

/// Values by their numbers.
pub type Ids = Rc<[u32]>;
/// Results; nothing where none was given.
pub type Results = Rc<[Option<u32>]>;

/// Values that are met again and again; two numbers are the same if and only if the values are.
#[derive(Default)]
pub struct Values {
    numbers: BTreeMap<Value, u32>,
    all: Vec<Value>,
}

impl Values {
    pub fn number(&mut self, value: &Value) -> u32 {
        if let Some(n) = self.numbers.get(value) {
            return *n;
        }
        let n = u32::try_from(self.all.len()).expect("fewer than 2^32 values");
        self.numbers.insert(value.clone(), n);
        self.all.push(value.clone());
        n
    }

    pub fn get(&self, n: u32) -> &Value {
        &self.all[n as usize]
    }

    pub fn all(&self, ids: &[u32]) -> Vec<Value> {
        ids.iter().map(|n| self.get(*n).clone()).collect()
    }

    pub fn text(&self, ids: &[u32]) -> String {
        ids.iter().map(|n| self.get(*n).to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// One step of an operation: parameters, results, and the places of the variables that are written with their values.
pub struct Outcome {
    pub params: Ids,
    pub results: Results,
    pub writes: Vec<(usize, u32)>,
}

/// What an operation does.
#[derive(Default)]
pub struct Moves {
    pub outcomes: Vec<Outcome>,
    pub findings: Vec<Finding>,
    /// Why a guard has no truth value.
    pub undefined: Option<String>,
    /// Why this may not be all.
    pub open: Option<String>,
}

/// Whether a clause holds.
#[derive(Clone)]
pub enum Truth {
    Holds,
    False,
    Undefined(String),
    Open(String),
}

/// How an initialisation ends: the values of all variables, as far as they have any.
#[derive(Default)]
pub struct Starts {
    pub states: Vec<Vec<Option<u32>>>,
    pub findings: Vec<Finding>,
    pub open: Option<String>,
}

struct Question {
    op: Operation,
    reads: Vec<usize>,
    known: HashMap<(Option<Ids>, Ids), Rc<Moves>>,
}

struct Condition {
    pred: Pred,
    reads: Vec<usize>,
    known: HashMap<Ids, Truth>,
}

/// A machine with what it was asked.
pub struct Player<'a> {
    machine: &'a Machine,
    oracle: Oracle<'a>,
    constants: Valuation,
    questions: Vec<Question>,
    conditions: Vec<Condition>,
    remembered: usize,
}

impl<'a> Player<'a> {
    /// A machine of which every question may take so many steps of evaluation.
    pub fn new(machine: &'a Machine, steps: u64) -> Player<'a> {
        Player {
            machine,
            oracle: patient(machine, steps),
            constants: Valuation::new(),
            questions: Vec::new(),
            conditions: Vec::new(),
            remembered: 0,
        }
    }

    /// From now on the constants have these values.
    pub fn begin(&mut self, constants: &Valuation) {
        self.constants = constants.clone();
        self.forget();
    }

    fn forget(&mut self) {
        self.questions.iter_mut().for_each(|q| q.known.clear());
        self.conditions.iter_mut().for_each(|c| c.known.clear());
        self.remembered = 0;
    }

    /// Adds the question what an operation does; the answer is its number.
    pub fn ask(&mut self, op: &Operation) -> usize {
        let reads = variables(self.machine, &op.body.write());
        self.questions.push(Question { op: op.clone(), reads, known: HashMap::new() });
        self.questions.len() - 1
    }

    /// Adds the question for which parameters the precondition of an operation holds, if it has one.
    pub fn ask_precondition(&mut self, op: &Operation) -> Option<usize> {
        let pre = precondition(&op.body)?;
        let body = Subst::Pre(pre, Box::new(Subst::Skip));
        Some(self.ask(&Operation { results: Vec::new(), body, ..op.clone() }))
    }

    /// Adds the question whether a clause holds.
    pub fn ask_clause(&mut self, clause: &Clause) -> usize {
        let reads = variables(self.machine, &clause.pred.write());
        self.conditions.push(Condition { pred: clause.pred.clone(), reads, known: HashMap::new() });
        self.conditions.len() - 1
    }

    /// The operation of a question.
    pub fn operation(&self, question: usize) -> &Operation {
        &self.questions[question].op
    }

    /// What an operation does in a state, for any or for given parameters.
    pub fn moves(
        &mut self,
        values: &mut Values,
        question: usize,
        state: &[u32],
        params: Option<&Ids>,
    ) -> Rc<Moves> {
        let Question { op, reads, known } = &self.questions[question];
        let key = (params.cloned(), reads.iter().map(|v| state[*v]).collect::<Ids>());
        if let Some(known) = known.get(&key) {
            return known.clone();
        }
        self.oracle.restart();
        let given = params.map(|p| values.all(p));
        let fits = given.as_ref().is_none_or(|given| {
            given.len() == op.params.len() && given.iter().zip(&op.params).all(|(v, (_, t))| v.is_of(t))
        });
        let env = self.oracle.environment(&self.constants, Some(&values.all(state)));
        let mut run = Run::new(&self.oracle, None);
        let made = if fits {
            run.operation(&env, op, given.as_deref())
        } else {
            Err(Stop::TooBig(format!("ill-typed tree: other parameters than those of {} are given", op.name)))
        };
        let mut moves = Moves { findings: run.findings, ..Moves::default() };
        moves.undefined = run.undefined_guards.into_iter().next().map(|u| u.why);
        match made {
            Err(stop) => moves.open = Some(words(&stop)),
            Ok(made) => {
                for t in made {
                    match placed(self.machine, values, &t.writes) {
                        Some(writes) => moves.outcomes.push(Outcome {
                            params: t.params.iter().map(|v| values.number(v)).collect(),
                            results: t.results.iter().map(|v| Some(values.number(v.as_ref()?))).collect(),
                            writes,
                        }),
                        None => {
                            moves.open = Some(format!("ill-typed tree: {} writes something else", op.name))
                        }
                    }
                }
            }
        }
        let moves = Rc::new(moves);
        self.remember(1 + moves.outcomes.len());
        self.questions[question].known.insert(key, moves.clone());
        moves
    }

    /// Whether a clause holds in a state.
    pub fn truth(&mut self, values: &Values, condition: usize, state: &[u32]) -> Truth {
        let Condition { pred, reads, known } = &self.conditions[condition];
        let key: Ids = reads.iter().map(|v| state[*v]).collect();
        if let Some(known) = known.get(&key) {
            return known.clone();
        }
        self.oracle.restart();
        let env = self.oracle.environment(&self.constants, Some(&values.all(state)));
        let truth = match self.oracle.holds(&env, pred) {
            Ok(true) => Truth::Holds,
            Ok(false) => Truth::False,
            Err(Stop::Undefined(u)) => Truth::Undefined(u.why),
            Err(stop) => Truth::Open(words(&stop)),
        };
        self.remember(1);
        self.conditions[condition].known.insert(key, truth.clone());
        truth
    }

    fn remember(&mut self, answers: usize) {
        self.remembered += answers;
        if self.remembered > MOST {
            self.forget();
        }
    }

    /// How the initialisation ends.
    pub fn starts(&mut self, values: &mut Values) -> Starts {
        self.oracle.restart();
        let mut run = Run::new(&self.oracle, None);
        let made = run.initialise(&self.oracle.environment(&self.constants, None));
        let mut starts = Starts { findings: run.findings, ..Starts::default() };
        match made {
            Err(stop) => starts.open = Some(words(&stop)),
            Ok(made) => {
                for writes in made {
                    let mut state = vec![None; self.machine.variables.len()];
                    match placed(self.machine, values, &writes) {
                        Some(writes) => writes.into_iter().for_each(|(i, v)| state[i] = Some(v)),
                        None => {
                            starts.open = Some("ill-typed tree: INITIALISATION writes something else".into())
                        }
                    }
                    starts.states.push(state);
                }
            }
        }
        starts.states.sort();
        starts.states.dedup();
        starts
    }
}

/// The places of written variables with their values; nothing if one is no variable or its value is of another type.
fn placed(machine: &Machine, values: &mut Values, writes: &Writes) -> Option<Vec<(usize, u32)>> {
    let one = |(name, value): (&_, &Value)| {
        let place = machine.variables.iter().position(|v| v.0 == *name)?;
        value.is_of(&machine.variables[place].1).then(|| (place, values.number(value)))
    };
    writes.iter().map(one).collect()
}

/// The outermost precondition of an operation.
fn precondition(body: &Subst) -> Option<Pred> {
    let mut found = Vec::new();
    let mut at = body;
    while let Subst::Pre(p, inner) = at {
        found.push(p.clone());
        at = inner;
    }
    if found.is_empty() { None } else { Some(Pred::And(found)) }
}
