//! Explanations: why a finding is one, on the exact tier, after the search.
//!
//! In: a machine, its texts, a state, what was found there. Out: the formula at fault as a tree of parts with truth
//! values, witnesses and values; the place in the text; the step that fails with what was chosen on the way; for a
//! deadlock every guard; for contradicting properties a smallest set of them. Terminal, JSON, pages and the animator
//! show the same tree. Whatever cannot be evaluated in time is left out; an explanation never changes a verdict.
//! Never here: exploration, packed states, output.
#![forbid(unsafe_code)]

mod chosen;
mod contradiction;
mod disabled;
mod formula;
mod membership;
mod spelling;
mod substitution;
mod tree;
mod undefined;

pub use spelling::{unwrapped, without_comments};
pub use tree::{Call, Claim, Explanation, FailingStep, Formula, Node, Place, Worth, bindings, cut};

use bombus_base::budget::Budget;
use bombus_base::diagnostic::Sources;
use bombus_base::finding::FindingKind;
use bombus_base::text::one_line;
use bombus_base::{Name, Span};
use bombus_evaluate::env::Env;
use bombus_evaluate::exec::Outcomes;
use bombus_evaluate::{Interpreter, State};
use bombus_lang::free;
use bombus_lang::typed::{Clause, Machine, Pred, Stmt, StmtKind, VarId};
use bombus_lang::value::Value;
use std::cell::{Cell, RefCell};
use substitution::{Fault, Walk};

/// More parts than this hide the point.
const NODES: usize = 120;

/// What was found, in the words of the result.
pub struct Finding<'a> {
    pub kind: &'a str,
    /// The conjunct, assertion or message, as the result names it.
    pub property: &'a str,
    /// The event whose step fails, where the engine names it.
    pub event: Option<&'a str>,
    /// Where it was found; none for what was found before there was a state.
    pub state: Option<&'a State>,
    /// An undefined guard is a finding.
    pub strict_guards: bool,
    /// For temporal formulas: the predicate that the last state breaks, if a single one tells.
    pub broken: Option<&'a Pred>,
    /// The other clauses that the state breaks are findings of their own.
    pub alone: bool,
}

/// Explains findings of one machine within one budget.
pub struct Explainer<'a> {
    interpreter: Interpreter<'a>,
    machine: &'a Machine,
    sources: &'a Sources,
    claims: RefCell<Vec<Claim>>,
    nodes: Cell<usize>,
    cut_short: Cell<bool>,
    /// Bound variables whose values stand above the part in hand.
    told: RefCell<Vec<VarId>>,
}

/// Which faults of a step are looked for: their kind and words.
type FaultFilter<'a> = &'a dyn Fn(FindingKind, &str) -> bool;

impl<'a> Explainer<'a> {
    pub fn new(machine: &'a Machine, sources: &'a Sources, budget: &Budget) -> Explainer<'a> {
        Explainer {
            interpreter: Interpreter::new(machine, budget),
            machine,
            sources,
            claims: RefCell::default(),
            nodes: Cell::new(0),
            cut_short: Cell::new(false),
            told: RefCell::default(),
        }
    }

    /// Explains one finding.
    pub fn explain(&self, finding: &Finding) -> Explanation {
        self.explained(|| match (kind_of_word(finding.kind), finding.state) {
            (Some(FindingKind::Invariant), Some(state)) => {
                self.broken(&self.machine.invariant, finding.property, finding.alone, state)
            }
            (Some(FindingKind::Assertion), Some(state)) if self.is_clause(finding.property) => {
                self.broken(&self.machine.assertions, finding.property, finding.alone, state)
            }
            (Some(FindingKind::Goal), Some(state)) => self.reached(state),
            (Some(FindingKind::Ltl), state) => match (finding.broken, state) {
                (Some(p), Some(state)) => {
                    let nodes = vec![self.predicate(&mut self.env(Some(state)), p, Span::default(), 0)];
                    Explanation { nodes, ..Explanation::default() }
                }
                _ => Explanation::default(),
            },
            (Some(FindingKind::Deadlock), Some(state)) => self.deadlock(state),
            (Some(FindingKind::Properties), None) => self.no_start(),
            (Some(kind), Some(state)) => self.failing(kind, finding, state),
            (Some(kind), None) => self.failing_start(kind, finding.property),
            (None, _) => Explanation::default(),
        })
    }

    /// An explanation with what is noted beside it: claims, and whether something was left out.
    fn explained(&self, work: impl FnOnce() -> Explanation) -> Explanation {
        self.claims.borrow_mut().clear();
        self.nodes.set(0);
        self.cut_short.set(false);
        let mut explanation = work();
        explanation.cut_short = self.cut_short.get();
        explanation.claims = self.claims.take();
        explanation
    }

    /// Why a predicate is true or false in a state.
    pub fn predicate_in(&self, p: &Pred, state: Option<&State>) -> Node {
        self.nodes.set(0);
        let mut env = self.env(state);
        self.predicate(&mut env, p, Span::default(), 0)
    }

    /// Why each false conjunct of some is false in a state.
    pub fn false_clauses(&self, clauses: &[Clause], state: &State) -> Explanation {
        self.explained(|| self.broken(clauses, "", false, state))
    }

    /// The claims of the nodes that were made since the last explanation.
    pub fn claims(&self) -> Vec<Claim> {
        self.claims.take()
    }

    fn is_clause(&self, property: &str) -> bool {
        self.machine.assertions.iter().any(|c| c.text == property)
    }

    /// The clause that is named first, then the others that the state breaks too, unless it is told `alone`.
    fn broken(&self, clauses: &[Clause], property: &str, alone: bool, state: &State) -> Explanation {
        let mut env = self.env(Some(state));
        let mut out = Explanation::default();
        let named = clauses.iter().filter(|c| c.text == property);
        let others = clauses.iter().filter(|c| c.text != property);
        let others = others.filter(|_| !alone);
        for clause in named.chain(others) {
            let truth = self.interpreter.holds(&mut env, &clause.pred);
            self.note_stop(&truth);
            if !matches!(truth, Ok(false)) {
                continue;
            }
            let mut node = self.predicate(&mut env, &clause.pred, Span::default(), 0);
            if let Some(label) = label(clause) {
                node.text = format!("{label}: {}", node.text);
            }
            if out.place.is_none() {
                out.place = node.place.clone();
            }
            out.nodes.push(node);
        }
        out
    }

    fn reached(&self, state: &State) -> Explanation {
        let Some(goal) = &self.machine.goal else { return Explanation::default() };
        let mut env = self.env(Some(state));
        let node = self.predicate(&mut env, goal, Span::default(), 0);
        Explanation { place: node.place.clone(), nodes: vec![node], ..Explanation::default() }
    }

    fn deadlock(&self, state: &State) -> Explanation {
        let mut env = self.env(Some(state));
        let nodes: Vec<Node> =
            (0..self.machine.events.len()).map(|event| self.not_called(&mut env, state, event)).collect();
        let mut out = Explanation { nodes, ..Explanation::default() };
        if self.machine.events.is_empty() {
            out.notes.push("the machine has no operations".into());
        }
        out
    }

    /// A step from a state that fails, or a clause that is undefined there.
    fn failing(&self, kind: FindingKind, finding: &Finding, state: &State) -> Explanation {
        let mut env = self.env(Some(state));
        if kind == FindingKind::WellDefinedness {
            let clauses = self.machine.invariant.iter().chain(&self.machine.assertions);
            for clause in clauses {
                let Err(e) = self.interpreter.holds(&mut env, &clause.pred) else { continue };
                if e.is_finding() && finding.property.starts_with(e.message()) {
                    let node = self.predicate(&mut env, &clause.pred, Span::default(), 0);
                    let place = Place::of(self.sources, e.span()).or_else(|| node.place.clone());
                    return Explanation { place, nodes: vec![node], ..Explanation::default() };
                }
            }
        }
        let exact = |k: FindingKind, words: &str| k == kind && words == finding.property;
        let similar = |k: FindingKind, _: &str| k == kind;
        let is_named =
            |event: usize| finding.event == Some(&*self.machine.op(self.machine.events[event]).name);
        let (named, others): (Vec<usize>, Vec<usize>) =
            (0..self.machine.events.len()).partition(|e| is_named(*e));
        // A trace whose elements were renamed has its fault in other words, but in the same event.
        let tries: [(FaultFilter, &[usize]); 4] =
            [(&exact, &named), (&similar, &named), (&exact, &others), (&similar, &others)];
        for (wanted, events) in tries {
            for &event in events {
                if let Some((step, fault)) = self.event_fault(&mut env, event, wanted, finding.strict_guards)
                {
                    let place = self.place_of(&fault);
                    return Explanation {
                        place,
                        step: Some(step),
                        nodes: vec![fault.node],
                        ..Explanation::default()
                    };
                }
            }
        }
        Explanation::default()
    }

    fn place_of(&self, fault: &Fault) -> Option<Place> {
        Place::of(self.sources, fault.span).or_else(|| fault.node.place.clone())
    }

    /// A fault of the properties or of the initialisation.
    fn failing_start(&self, kind: FindingKind, words: &str) -> Explanation {
        let wanted = |k: FindingKind, said: &str| k == kind && said == words;
        let mut env = Env::new(self.machine.vars.len());
        for (i, clause) in self.machine.properties.iter().enumerate() {
            let culprit = self.undefined_in_binder(&mut env, &self.constants_of(&[i]), &clause.pred, None, 0);
            if let Some(node) =
                culprit.filter(|n| matches!(&n.worth, Worth::Undefined(why) if why.starts_with(words)))
            {
                return Explanation {
                    place: node.place.clone(),
                    nodes: vec![node],
                    ..Explanation::default()
                };
            }
        }
        let Ok(constants) = self.interpreter.constants() else { return Explanation::default() };
        for valuation in &constants.values {
            let mut env = self.beginning(valuation);
            let mut walk = Walk::new(&wanted);
            if let Some(fault) = self.fault(&mut env, &self.machine.initialisation, &mut walk) {
                let step = FailingStep {
                    event: "INITIALISATION".into(),
                    params: Vec::new(),
                    locals: fault.locals.clone(),
                    calls: fault.calls.clone(),
                };
                let place = self.place_of(&fault);
                return Explanation {
                    place,
                    step: Some(step),
                    nodes: vec![fault.node],
                    ..Explanation::default()
                };
            }
        }
        let place = Place::of(self.sources, self.machine.initialisation.span);
        Explanation { place, ..Explanation::default() }
    }

    /// Nothing to start with: properties that contradict each other, or an initialisation without outcome.
    fn no_start(&self) -> Explanation {
        let mut out = Explanation::default();
        let Some(core) = self.contradiction() else {
            if self.has_constants() == Some(true) {
                out.place = Place::of(self.sources, self.dead_end());
            }
            return out;
        };
        let mut env = Env::new(self.machine.vars.len());
        for i in &core {
            let clause = &self.machine.properties[*i];
            let ground = free::of_pred(&clause.pred).is_empty();
            let mut node = if ground {
                self.predicate(&mut env, &clause.pred, Span::default(), 0)
            } else {
                Node::new(self.pred_text(&clause.pred, Span::default()), Worth::Required)
            };
            if !ground {
                node.place = Place::of(self.sources, clause.pred.span);
            }
            out.place = out.place.or_else(|| node.place.clone());
            out.nodes.push(node);
        }
        out.notes.push(match core.len() {
            1 => "no values of the constants satisfy this conjunct".into(),
            n => format!("these {n} conjuncts cannot hold together; without any one of them the others can"),
        });
        out
    }

    /// The first statement of the initialisation behind which no outcome is left; that of an included machine comes first.
    fn dead_end(&self) -> Span {
        let whole = &self.machine.initialisation;
        let mut parts = Vec::new();
        in_order(whole, &mut parts);
        let Ok(constants) = self.interpreter.constants() else { return whole.span };
        for valuation in &constants.values {
            for n in 1..=parts.len() {
                let kind = StmtKind::Seq(parts[..n].iter().map(|part| (*part).clone()).collect());
                let begun = Stmt { kind, span: whole.span };
                let mut out = Outcomes::default();
                match self.interpreter.exec(&mut self.beginning(valuation), &begun, &mut out) {
                    Ok(()) if out.writes.is_empty() => return parts[n - 1].span,
                    Ok(()) => {}
                    Err(_) => return whole.span,
                }
            }
        }
        whole.span
    }

    /// The constants have values, and nothing else has.
    fn beginning(&self, constants: &[Value]) -> Env {
        let mut env = Env::new(self.machine.vars.len());
        for (v, x) in self.machine.constants.iter().zip(constants) {
            env.bind(*v, x.clone());
        }
        env
    }

    fn env(&self, state: Option<&State>) -> Env {
        let mut env = self.interpreter.env(state);
        // Nothing is remembered by its place in memory: formulas of explanations come and go.
        env.valuation = None;
        env
    }

    fn count(&self) {
        self.nodes.set(self.nodes.get() + 1);
    }

    fn has_room(&self) -> bool {
        self.nodes.get() < NODES
    }

    fn named(&self, v: VarId, value: &Value) -> (String, String) {
        let (name, ty) = match self.machine.vars.get(v.0 as usize) {
            Some(decl) => (decl.name.clone(), decl.ty.clone()),
            None => (Name::from("?"), bombus_lang::typed::Type::Any),
        };
        (name.to_string(), value.show(self.machine, &ty))
    }

    /// Notes what an explanation says of a formula, so that others can check it.
    fn claim(&self, env: &Env, formula: Formula, value: Option<Value>) {
        let (free, old) = match &formula {
            Formula::Pred(p) => (free::of_pred(p), free::reads_old(p, None)),
            Formula::Expr(e) => {
                let nothing = Pred { kind: bombus_lang::typed::PredKind::True, span: e.span };
                (free::of_expr(e), free::reads_old(&nothing, Some(e)))
            }
        };
        let bindings: Option<Vec<(VarId, Value)>> =
            free.into_iter().map(|v| Some((v, env.get(v)?.clone()))).collect();
        if let (Some(bindings), false) = (bindings, old) {
            self.claims.borrow_mut().push(Claim { formula, bindings, value });
        }
    }
}

/// The statements of a sequence, and of sequences in it, in their order.
fn in_order<'a>(s: &'a Stmt, parts: &mut Vec<&'a Stmt>) {
    match &s.kind {
        StmtKind::Seq(steps) => steps.iter().for_each(|step| in_order(step, parts)),
        _ => parts.push(s),
    }
}

/// The label of a clause, unless its text names it already.
fn label(clause: &Clause) -> Option<String> {
    let label = clause.label.as_ref()?;
    let text = one_line(&clause.text);
    if text.starts_with(&*clause.origin) {
        // Clauses of Event-B are named with their component: `M0 / inv3`.
        return text.split_once(": ").map(|(place, _)| place.to_string());
    }
    Some(label.to_string())
}

fn kind_of_word(word: &str) -> Option<FindingKind> {
    FindingKind::ALL.into_iter().find(|k| k.word() == word)
}
