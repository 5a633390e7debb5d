//! Explanations as data: formulas with their values, places in the text, the step that fails.
//!
//! In: built by the other files of this room. Out: read by `report`, the animator and tests.
//! Never here: evaluation, colours, widths of terminals.

use bombus_base::Span;
use bombus_base::diagnostic::Sources;
use bombus_lang::typed::{Expr, Pred, VarId};
use bombus_lang::value::Value;

/// What a formula comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worth {
    True,
    False,
    /// The formula has no meaning in this state, and why.
    Undefined(String),
    /// The value of an expression as text.
    Value(String),
    /// An operation that cannot happen.
    Disabled,
    /// One of several formulas that cannot hold together.
    Required,
    /// The value was not computed.
    Unknown,
}

impl Worth {
    /// The word of the JSON result; values of expressions have none.
    pub fn word(&self) -> &'static str {
        match self {
            Worth::True => "true",
            Worth::False => "false",
            Worth::Undefined(_) => "undefined",
            Worth::Value(_) => "value",
            Worth::Disabled => "disabled",
            Worth::Required => "required",
            Worth::Unknown => "unknown",
        }
    }
}

/// Where a formula stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    /// Line and column of the first character, both from 1; columns count characters.
    pub line: usize,
    pub column: usize,
    /// Line and column behind the last character.
    pub end_line: usize,
    pub end_column: usize,
    /// The line of the text with a caret below.
    pub excerpt: Vec<String>,
}

impl Place {
    /// The place of a span; `None` for formulas that no file holds.
    pub fn of(sources: &Sources, span: Span) -> Option<Place> {
        if span == Span::default() || span.file.0 as usize >= sources.len() {
            return None;
        }
        let (line, column) = sources.position(span);
        let end = Span { start: span.end, ..span };
        let (end_line, end_column) = sources.position(end);
        let excerpt = sources.quote(span);
        Some(Place { file: sources.get(span.file).name.clone(), line, column, end_line, end_column, excerpt })
    }

    /// `file:line:column`; formulas of Event-B are named by component and label alone.
    pub fn words(&self) -> String {
        if self.file.contains(" / ") {
            return self.file.clone();
        }
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A formula, what it comes to, and the parts that decide that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub text: String,
    pub worth: Worth,
    pub place: Option<Place>,
    /// Values of bound variables for which the formula comes to this.
    pub witness: Vec<(String, String)>,
    /// Why, in words: the element that breaks a membership, the difference of two sets.
    pub notes: Vec<String>,
    pub parts: Vec<Node>,
}

impl Node {
    pub fn new(text: impl Into<String>, worth: Worth) -> Node {
        Node {
            text: text.into(),
            worth,
            place: None,
            witness: Vec::new(),
            notes: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// The lines of a terminal: each part is indented below its whole.
    pub fn lines(&self, longest: usize) -> Vec<String> {
        let mut out = Vec::new();
        self.write(0, longest, &mut out);
        out
    }

    fn write(&self, depth: usize, longest: usize, out: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        let text = cut(&self.text, longest);
        out.push(match &self.worth {
            Worth::True => format!("{indent}true: {text}"),
            Worth::False => format!("{indent}false: {text}"),
            Worth::Undefined(why) => format!("{indent}undefined: {text}   ({why})"),
            Worth::Value(value) => format!("{indent}{text} = {}", cut(value, longest)),
            Worth::Disabled => format!("{indent}disabled: {text}"),
            Worth::Required => format!("{indent}required: {text}"),
            Worth::Unknown => format!("{indent}not computed: {text}"),
        });
        if !self.witness.is_empty() {
            out.push(format!("{indent}  for {}", cut(&bindings(&self.witness), longest)));
        }
        for note in &self.notes {
            out.push(format!("{indent}  {}", cut(note, longest)));
        }
        for part in &self.parts {
            part.write(depth + 1, longest, out);
        }
    }
}

/// `x = 1, y = {2}`.
pub fn bindings(list: &[(String, String)]) -> String {
    list.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// A text of at most so many characters, with a mark where it is cut.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// An operation that was called, with its arguments and the place of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub operation: String,
    pub arguments: Vec<(String, String)>,
    pub place: Option<Place>,
}

/// The step that fails: what was chosen until the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailingStep {
    pub event: String,
    pub params: Vec<(String, String)>,
    /// Values of ANY, LET, VAR and `:(…)` that were chosen on the way.
    pub locals: Vec<(String, String)>,
    /// Operations that were called, outermost first.
    pub calls: Vec<Call>,
}

/// Why a finding is one.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The formula, guard or substitution at fault.
    pub place: Option<Place>,
    pub step: Option<FailingStep>,
    pub nodes: Vec<Node>,
    /// Rows of the trace, by number, with the values of ANY and LET that were chosen there.
    pub chosen: Vec<(usize, Vec<(String, String)>)>,
    /// What else helps: other sizes of sets, a minimal set of conjuncts.
    pub notes: Vec<String>,
    /// The time was up before everything was looked at.
    pub cut_short: bool,
    /// What the nodes claim, for whoever wants to check it.
    pub claims: Vec<Claim>,
}

impl Explanation {
    pub fn is_empty(&self) -> bool {
        self.place.is_none() && self.step.is_none() && self.nodes.is_empty() && self.notes.is_empty()
    }

    /// Everything but the excerpt, as lines of text.
    pub fn lines(&self, longest: usize) -> Vec<String> {
        let mut out = Vec::new();
        for call in self.step.iter().flat_map(|s| &s.calls) {
            let place = call.place.as_ref().map(|p| format!(" at {}", p.words())).unwrap_or_default();
            let arguments = match call.arguments.is_empty() {
                true => String::new(),
                false => format!(" with {}", cut(&bindings(&call.arguments), longest)),
            };
            out.push(format!("{} is called{place}{arguments}", call.operation));
        }
        out.extend(self.nodes.iter().flat_map(|n| n.lines(longest)));
        out.extend(self.notes.iter().cloned());
        if self.cut_short {
            out.push("(the time for explanations was up: more may be said)".into());
        }
        out
    }
}

/// A formula of an explanation as the engine read it.
#[derive(Clone, Debug)]
pub enum Formula {
    Pred(Pred),
    Expr(Expr),
}

/// What an explanation says of a formula: its value where the bound variables have these values.
#[derive(Clone, Debug)]
pub struct Claim {
    pub formula: Formula,
    pub bindings: Vec<(VarId, Value)>,
    /// `None`: the formula has no value.
    pub value: Option<Value>,
}
