//! What a job is expected to say, and whether it did.
//!
//! In: the expectation of the jobs file and the record of a run. Out: met, or why not. A crash never meets anything.

use super::super::child::steps;
use super::journal::{How, Record};
use serde::Deserialize;
use serde_json::{Value, json};

const WORDS: [&str; 5] = ["verified", "violated", "incomplete", "rejected", "any"];

/// As written: one word, or a table that says more.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum ExpectText {
    Word(String),
    Table(ExpectTable),
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct ExpectTable {
    verdict: String,
    kind: Option<String>,
    steps: Option<u64>,
    states: Option<u64>,
    transitions: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// One of `WORDS`.
    pub verdict: String,
    pub kind: Option<String>,
    /// Operations of the counterexample.
    pub steps: Option<u64>,
    pub states: Option<u64>,
    pub transitions: Option<u64>,
}

impl Default for Expect {
    fn default() -> Self {
        Expect { verdict: "verified".into(), kind: None, steps: None, states: None, transitions: None }
    }
}

impl TryFrom<ExpectText> for Expect {
    type Error = String;

    fn try_from(text: ExpectText) -> Result<Expect, String> {
        let expect = match text {
            ExpectText::Word(verdict) => Expect { verdict, ..Expect::default() },
            ExpectText::Table(t) => Expect {
                verdict: t.verdict,
                kind: t.kind,
                steps: t.steps,
                states: t.states,
                transitions: t.transitions,
            },
        };
        if WORDS.contains(&expect.verdict.as_str()) {
            Ok(expect)
        } else {
            Err(format!("'{}' cannot be expected; expect one of {}", expect.verdict, WORDS.join(", ")))
        }
    }
}

impl Expect {
    /// In a few words, for tables.
    pub fn words(&self) -> String {
        let mut parts = vec![self.verdict.clone()];
        parts.extend(self.kind.clone());
        parts.extend(self.steps.map(|n| format!("{n} steps")));
        parts.extend(self.states.map(|n| format!("{n} states")));
        parts.extend(self.transitions.map(|n| format!("{n} transitions")));
        parts.join(", ")
    }

    pub fn json(&self) -> Value {
        json!({"verdict": self.verdict, "kind": self.kind, "steps": self.steps, "states": self.states,
               "transitions": self.transitions})
    }

    /// `Ok`, or what was different.
    pub fn judge(&self, record: &Record) -> Result<(), String> {
        match record.how {
            How::Crashed => return Err(record.ending()),
            How::OutOfTime | How::OutOfMemory if self.verdict == "incomplete" || self.verdict == "any" => {
                return Ok(());
            }
            How::OutOfTime | How::OutOfMemory => return Err(record.ending()),
            How::Rejected if self.verdict == "rejected" => return Ok(()),
            How::Rejected => return Err(record.ending()),
            How::Answered => {}
        }
        let Some(result) = &record.result else { return Err(record.ending()) };
        let verdict = result["verdict"].as_str().unwrap_or("no verdict");
        if self.verdict != "any" && self.verdict != verdict {
            let reasons = result["incomplete_because"].as_array();
            let why = match reasons.and_then(|all| all.first()).and_then(Value::as_str) {
                Some(reason) if verdict == "incomplete" => format!(" ({reason})"),
                _ => String::new(),
            };
            return Err(format!("{verdict}{why}, expected {}", self.verdict));
        }
        let kind = result["violation"]["kind"].as_str();
        if let Some(wanted) = &self.kind
            && kind != Some(wanted)
        {
            return Err(format!("violation of kind {}, expected {wanted}", kind.unwrap_or("none")));
        }
        let numbers = [
            ("steps", self.steps, steps(result)),
            ("states", self.states, result["states"].as_u64()),
            ("transitions", self.transitions, result["transitions"].as_u64()),
        ];
        for (what, wanted, found) in numbers {
            if wanted.is_some() && wanted != found {
                let found = found.map_or("no".into(), |n| n.to_string());
                return Err(format!("{found} {what}, expected {}", wanted.unwrap_or(0)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(how: How, result: Option<Value>) -> Record {
        Record { how, result, ..Record::default() }
    }

    fn violated() -> Record {
        let trace = json!([{"event": "$initialise_machine"}, {"event": "go"}]);
        let result =
            json!({"verdict": "violated", "states": 4, "violation": {"kind": "deadlock", "trace": trace}});
        record(How::Answered, Some(result))
    }

    #[test]
    fn an_expectation_says_what_was_different() {
        let mut expect = Expect::default();
        assert_eq!(expect.judge(&violated()).unwrap_err(), "violated, expected verified");
        expect.verdict = "violated".into();
        assert_eq!(expect.judge(&violated()), Ok(()));
        expect.steps = Some(2);
        assert_eq!(expect.judge(&violated()).unwrap_err(), "1 steps, expected 2");
        expect.steps = Some(1);
        expect.kind = Some("invariant".into());
        assert!(expect.judge(&violated()).unwrap_err().contains("deadlock"));
    }

    #[test]
    fn an_incomplete_run_says_why() {
        let result = json!({"verdict": "incomplete", "incomplete_because": ["time limit reached", "more"]});
        let why = Expect::default().judge(&record(How::Answered, Some(result))).unwrap_err();
        assert_eq!(why, "incomplete (time limit reached), expected verified");
    }

    #[test]
    fn a_crash_meets_no_expectation() {
        for word in WORDS {
            let expect = Expect { verdict: word.into(), ..Expect::default() };
            assert!(expect.judge(&record(How::Crashed, None)).is_err(), "{word}");
        }
    }

    #[test]
    fn a_rejected_model_can_be_expected() {
        let expect = Expect { verdict: "rejected".into(), ..Expect::default() };
        assert_eq!(expect.judge(&record(How::Rejected, None)), Ok(()));
    }
}
