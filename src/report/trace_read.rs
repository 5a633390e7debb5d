//! Trace files as they are read: `.prob2trace`, our `.json`, and the JSON result of a check.
//!
//! In: text. Out: steps with names and values as texts.
//! Never here: what the texts mean in a model.

use super::finding_text::failing_call;
use super::outcome::TraceStep;
use super::trace_page::Beside;
use crate::explain::bindings;
use serde_json::Value;

/// A trace as a file tells it. What a file leaves out is left out here.
#[derive(Clone, Debug, Default)]
pub struct ReadTrace {
    /// The model's file, if the trace names it.
    pub model: Option<String>,
    /// The name of the machine, if the trace names it.
    pub machine: Option<String>,
    /// What the last state is said to break: a kind and a property.
    pub violation: Option<(String, String)>,
    /// Why, in lines.
    pub why: Vec<String>,
    pub steps: Vec<TraceStep>,
    pub loop_start: Option<usize>,
}

pub fn read(text: &str) -> Result<ReadTrace, String> {
    let json: Value = serde_json::from_str(text).map_err(|e| format!("it is not JSON: {e}"))?;
    if let Some(list) = json.get("transitionList") {
        let list = list.as_array().ok_or("its transitionList is not a list")?;
        let steps = list.iter().map(|s| step(s, "name", "destState")).collect::<Result<_, _>>()?;
        let machine = json.get("metadata").and_then(|about| about.get("modelName")).and_then(Value::as_str);
        return Ok(ReadTrace { steps, machine: machine.map(String::from), ..ReadTrace::default() });
    }
    let violation = json.get("violation").filter(|v| !v.is_null());
    let inside = violation.filter(|v| v.get("trace").is_some()).unwrap_or(&json);
    let list = inside
        .get("trace")
        .and_then(Value::as_array)
        .ok_or("it holds no trace: neither a transitionList nor a trace of steps")?;
    let word = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).map(String::from);
    Ok(ReadTrace {
        model: json.get("model").and_then(|m| word(m, "file")),
        machine: json.get("model").and_then(|m| word(m, "machine")),
        violation: violation.and_then(|v| Some((word(v, "kind")?, word(v, "property")?))),
        why: violation.map(why).unwrap_or_default(),
        steps: steps(list)?,
        loop_start: inside.get("loop_start").and_then(Value::as_u64).map(|n| n as usize),
    })
}

/// The place and the reasons of a finding of a JSON result, and the step that fails after the last state of its trace.
pub fn why(finding: &Value) -> Vec<String> {
    let place = &finding["place"];
    let place =
        place["file"].as_str().map(|file| format!("--> {file}:{}:{}", place["line"], place["column"]));
    let reasons = finding["explanation"].as_array().into_iter().flatten().filter_map(Value::as_str);
    place.into_iter().chain(reasons.map(String::from)).chain(failing(&finding["failing_step"])).collect()
}

/// `add(k=3) fails, where m = 2`.
fn failing(step: &Value) -> Option<String> {
    let bound = |key: &str, between: &str| {
        let all: Vec<(String, String)> = pairs(step.get(key)).unwrap_or_default();
        all.iter().map(|(n, v)| format!("{n}{between}{v}")).collect::<Vec<_>>().join(", ")
    };
    let (params, locals) = (bound("params", "="), bound("locals", " = "));
    let params = if params.is_empty() { params } else { format!("({params})") };
    let locals = if locals.is_empty() { locals } else { format!(", where {locals}") };
    Some(format!("{}{params} fails{locals}", step.get("event")?.as_str()?))
}

/// What a finding in a JSON result tells of its trace besides the states.
pub fn beside(finding: &Value) -> Beside {
    let words = |v: &Value| bindings(&pairs(Some(v)).unwrap_or_default());
    let chosen = finding["chosen"].as_array().into_iter().flatten();
    let chosen = chosen.filter_map(|c| Some((c["step"].as_u64()? as usize, words(&c["values"])))).collect();
    let place = &finding["place"];
    let at = match (place["file"].as_str(), &place["line"], &place["column"]) {
        (Some(file), _, _) if file.contains(" / ") => file.to_string(),
        (Some(file), line, column) => format!("{file}:{line}:{column}"),
        (None, ..) => String::new(),
    };
    let step = &finding["failing_step"];
    let fails = step["event"].as_str().map(|event| {
        let params = pairs(step.get("params")).unwrap_or_default();
        (failing_call(event, &params, LONGEST), at, words(&step["locals"]))
    });
    Beside { chosen, fails }
}

/// Longer values of parameters are cut on pages.
const LONGEST: usize = 240;

/// The steps of a trace in a JSON result.
pub fn steps(trace: &[Value]) -> Result<Vec<TraceStep>, String> {
    trace.iter().map(|s| step(s, "event", "state")).collect()
}

fn step(v: &Value, name: &str, state: &str) -> Result<TraceStep, String> {
    let event = v.get(name).and_then(Value::as_str).ok_or_else(|| format!("a step has no {name}"))?;
    Ok(TraceStep {
        event: event.to_string(),
        params: pairs(v.get("params"))?,
        results: pairs(v.get("results"))?,
        state: pairs(v.get(state))?,
    })
}

fn pairs(v: Option<&Value>) -> Result<Vec<(String, String)>, String> {
    match v {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => Ok((name.clone(), text.clone())),
                other => Err(format!("the value of {name} is not a text: {other}")),
            })
            .collect(),
        Some(other) => Err(format!("values by name are wanted, not {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_tell_the_same_steps() {
        let ours = r#"{"model":{"file":"m.mch"},"violation":{"kind":"invariant","property":"x<2"},
            "trace":[{"event":"$initialise_machine","params":{},"results":{},"state":{"x":"0"}},
                     {"event":"inc","params":{"by":"2"},"results":{},"state":{"x":"2"}}],"loop_start":null}"#;
        let probs = r#"{"description":"","transitionList":[
            {"name":"$initialise_machine","params":{},"results":{},"destState":{"x":"0"},"destStateNotChanged":[]},
            {"name":"inc","params":{"by":"2"},"results":null,"destState":{"x":"2"}}],"metadata":{}}"#;
        let (a, b) = (read(ours).unwrap(), read(probs).unwrap());
        assert_eq!(format!("{:?}", a.steps), format!("{:?}", b.steps));
        assert_eq!(a.model.as_deref(), Some("m.mch"));
        assert_eq!(a.violation.unwrap().0, "invariant");
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for text in
            ["", "[]", "{}", r#"{"trace":[{}]}"#, r#"{"transitionList":7}"#, r#"{"trace":[{"event":3}]}"#]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
