//! The assertions and tests of a CSP script, and findings with the place that they speak of.
//!
//! In: a run whose process was explored. Out: every assertion judged; each that fails is a finding of its own, with its place, why
//! it fails, and a trace. Never here: how an assertion is judged (`csp::assertion`).

use super::csp::{Run, reject, step, told};
use super::{Failure, one_line};
use crate::base::Span;
use crate::base::diagnostic::Sources;
use crate::csp::assertion::{Halt, Judge, Judgement, Why};
use crate::csp::eval::Eval;
use crate::csp::lexer::without_comments;
use crate::explain::{Explanation, Place};
use crate::explore::{Options, Order, Store};
use crate::report::{Asserted, Violation};
use std::time::Instant;

impl Run<'_> {
    /// Judges every assertion of the script.
    pub(super) fn assertions(&mut self, eval: &mut Eval, sources: &Sources) -> Result<(), Failure> {
        let judging = Instant::now();
        let script = eval.script.clone();
        let how = Options { order: Order::Bfs, store: Store::Exact, ..self.how(false) };
        let mut judge =
            Judge { eval, sources, options: &how, budget: self.budget, sizes: Default::default() };
        for assert in &script.asserts {
            let text = one_line(&without_comments(sources.slice(assert.span)));
            let text = text.strip_prefix("assert").unwrap_or(&text).trim().to_string();
            let judged = match judge.judge(assert) {
                Ok(judged) => judged,
                Err(Halt::Judged(judged)) => judged,
                Err(Halt::Fault(fault)) => return Err(reject(sources, vec![told(&fault)])),
                Err(Halt::Internal(message)) => return Err(Failure::Internal(message)),
            };
            let entry = asserted(text, assert.negated, &judged);
            match judged {
                Judgement::Incomplete(why) => self.out.ledger.enter(format!("assert {}: {why}", entry.text)),
                Judgement::Faulty(trace, fault) => {
                    let at = sources.locate(fault.span);
                    let why = if at.is_empty() {
                        fault.message.clone()
                    } else {
                        format!("{at}: {}", fault.message)
                    };
                    self.out.ledger.enter(format!("assert {}: {why}", entry.text));
                    let finding = finding("well-definedness", fault.message.clone(), &trace);
                    self.violate(finding, Place::of(sources, fault.span));
                }
                _ if entry.verdict == "violated" => {
                    let mut finding = finding("assertion", entry.text.clone(), &entry.trace);
                    finding.explanation.push(entry.why.clone());
                    self.violate(finding, Place::of(sources, assert.span));
                }
                _ => {}
            }
            if let Some(list) = &mut self.out.asserts {
                list.push(entry);
            }
        }
        self.out.seconds.temporal += judging.elapsed().as_secs_f64();
        Ok(())
    }

    /// A boolean definition that should be true.
    pub(super) fn claim(&mut self, name: &str, truth: bool, span: Span, sources: &Sources) {
        let verdict = if truth { "holds" } else { "violated" };
        if !truth {
            self.violate(finding("assertion", format!("{name} is false"), &[]), Place::of(sources, span));
        }
        let entry = Asserted { text: name.to_string(), verdict, trace: Vec::new(), why: String::new() };
        if let Some(list) = &mut self.out.asserts {
            list.push(entry);
        }
    }

    /// Counts a finding and keeps it with its place.
    fn violate(&mut self, finding: Violation, place: Option<Place>) {
        *self.out.found.entry(finding.kind.clone()).or_default() += 1;
        self.keep(finding, place);
    }

    /// Keeps a finding that is counted already.
    pub(super) fn keep(&mut self, finding: Violation, place: Option<Place>) {
        let why = Explanation { place, ..Explanation::default() };
        if self.out.violation.is_none() {
            self.out.violation = Some(finding);
            self.out.why = why;
        } else {
            self.out.others.push((finding, why));
        }
    }
}

fn finding(kind: &str, property: String, trace: &[String]) -> Violation {
    Violation {
        confirmed_by: None,
        kind: kind.to_string(),
        property,
        explanation: Vec::new(),
        trace: trace.iter().map(|event| step(event)).collect(),
        loop_start: None,
    }
}

fn asserted(text: String, negated: bool, judged: &Judgement) -> Asserted {
    let (holds, trace, why) = match judged {
        Judgement::Holds => (Some(true), Vec::new(), String::new()),
        Judgement::Fails(trace, why) => (Some(false), trace.clone(), reason(trace, why)),
        Judgement::Incomplete(why) => (None, Vec::new(), why.clone()),
        Judgement::Faulty(trace, fault) => (None, trace.clone(), fault.message.clone()),
    };
    let verdict = match holds {
        None => "incomplete",
        Some(holds) if holds != negated => "holds",
        Some(_) => "violated",
    };
    let why = if negated && holds == Some(true) { "the negated assertion holds".to_string() } else { why };
    Asserted { text, verdict, trace, why }
}

fn reason(trace: &[String], why: &Why) -> String {
    let set = |events: &[String]| format!("{{{}}}", events.join(", "));
    let after = format!("after <{}>", trace.join(", "));
    match why {
        Why::Trace => format!("the trace <{}> is not one of the specification", trace.join(", ")),
        Why::Refusal { accepted, required } => {
            let required: Vec<String> = required.iter().map(|r| set(r)).collect();
            format!(
                "{after} only {} is accepted, the specification asks for {}",
                set(accepted),
                required.join(" or ")
            )
        }
        Why::Divergence => format!("{after} the process diverges"),
        Why::Deadlock => format!("{after} the process is deadlocked"),
        Why::Nondeterminism(event) => format!("{after} the event {event} may happen and may be refused"),
        Why::NoTrace => format!("the process has this trace only as far as <{}>", trace.join(", ")),
    }
}
