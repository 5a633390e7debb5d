//! Temporal formulas as the user wrote them.
//!
//! In: built by `parse` and `ctl`. Out: trees with spans; atoms keep the text of their B parts.
//! Never here: truth values, automata, the graph.

use bombus_base::span::Span;
use std::fmt;

/// A piece of B inside a formula: a predicate, an expression or an argument.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    pub span: Span,
}

/// An operation with argument patterns: `op`, `op(1,_)`. Missing trailing arguments match anything.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub operation: Text,
    /// `None` stands for `_`.
    pub arguments: Vec<Option<Text>>,
}

impl Pattern {
    /// Whether every transition of the operation matches.
    pub fn is_plain(&self) -> bool {
        self.arguments.iter().all(Option::is_none)
    }
}

/// How a transition atom compares the two states of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The value of an expression is the same afterwards.
    Unchanged,
    Changed,
    Increasing,
    Decreasing,
    /// A before-after predicate holds between the two states.
    BeforeAfter,
}

#[derive(Clone, Debug)]
pub enum Atom {
    /// `{P}`
    Predicate(Text),
    /// `e(op)`
    Enabled(Pattern),
    /// `[op]`: the transition taken next.
    Executed(Pattern),
    /// `deadlock`
    Deadlock,
    /// `deadlock(a,b)`: none of them is enabled.
    NoneEnabled(Vec<Pattern>),
    /// `deterministic(a,b)`: at most one of them is enabled.
    AtMostOne(Vec<Pattern>),
    /// `controller(a,b)`: exactly one of them is enabled.
    ExactlyOne(Vec<Pattern>),
    /// `sink`: no transition leads to another state.
    Sink,
    /// `non_det`: at least two transitions leave the state.
    NonDet,
    Goal,
    /// `det_output`
    DetOutput,
    /// `error`: a state error is attached to the state.
    StateError,
    Current,
    Change(Change, Text),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unary {
    Not,
    Next,
    Finally,
    Globally,
    Yesterday,
    Once,
    Historically,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binary {
    And,
    Or,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
    Since,
    Trigger,
}

/// An assumption on infinite paths; finite ones are always fair.
#[derive(Clone, Debug)]
pub enum Fairness {
    /// `WF(op)` or `SF(op)`
    Operation {
        strong: bool,
        pattern: Pattern,
    },
    /// `WEF` or `SEF`: every operation with every choice of arguments.
    Every {
        strong: bool,
    },
    And(Box<Fairness>, Box<Fairness>),
    Or(Box<Fairness>, Box<Fairness>),
}

#[derive(Clone, Debug)]
pub struct Formula {
    pub span: Span,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Constant(bool),
    Atom(Atom),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
    /// `#x.({P} & f)` and `!x.({P} => f)`
    Quantified {
        universal: bool,
        variable: String,
        domain: Text,
        body: Box<Formula>,
    },
    /// `fairness => f`
    Fair(Fairness, Box<Formula>),
}

/// What a reduction of the state space has to know about a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// X, Y, `[op]` or a change atom: repeating a state may change the truth.
    pub counts_steps: bool,
    /// An argument pattern or a quantifier may name single elements of a set.
    pub names_elements: bool,
    pub quantified: bool,
    pub past: bool,
    /// A change atom: what is true depends on two states at once.
    pub relates_states: bool,
    pub fairness: bool,
    /// `WEF`, `SEF`, or fairness of an operation with arguments.
    pub fairness_of_instances: bool,
    /// Transitions of one operation are told apart, by a pattern, by fairness or by their number.
    pub tells_instances: bool,
    /// Every violation shows in a finite prefix (or at a deadlock), by its form alone. Fairness does not
    /// matter then: every prefix can be continued fairly.
    pub safety: bool,
    /// An operator of the future stands below one of the past: what was depends on what will be.
    pub future_below_past: bool,
}

impl Formula {
    pub fn features(&self) -> Features {
        let mut features = Features {
            safety: self.is_safety(true),
            future_below_past: self.looks_ahead(false),
            ..Features::default()
        };
        let mut open = vec![self];
        while let Some(formula) = open.pop() {
            match &formula.kind {
                Kind::Constant(_) => {}
                Kind::Atom(atom) => {
                    features.counts_steps |= matches!(atom, Atom::Executed(_) | Atom::Change(..));
                    features.relates_states |= matches!(atom, Atom::Change(..));
                    features.names_elements |= atom.patterns().iter().any(|p| !p.is_plain());
                    features.tells_instances |= atom.tells_instances();
                }
                Kind::Unary(op, f) => {
                    features.counts_steps |= matches!(op, Unary::Next | Unary::Yesterday);
                    features.past |= matches!(op, Unary::Yesterday | Unary::Once | Unary::Historically);
                    open.push(f);
                }
                Kind::Binary(op, f, g) => {
                    features.past |= matches!(op, Binary::Since | Binary::Trigger);
                    open.extend([&**f, g]);
                }
                Kind::Quantified { body, .. } => {
                    features.names_elements = true;
                    features.quantified = true;
                    open.push(body);
                }
                Kind::Fair(fairness, f) => {
                    features.fairness = true;
                    features.fairness_of_instances |= fairness.names_instances();
                    features.tells_instances |= fairness.names_instances();
                    open.push(f);
                }
            }
        }
        features
    }

    /// What partial order reduction does not preserve in this formula, if anything.
    pub fn not_preserved(&self) -> Option<&'static str> {
        let features = self.features();
        if features.counts_steps {
            return Some("X, Y and [op] count steps, which are not preserved");
        }
        if features.fairness {
            return Some("fairness speaks of transitions, which are not all there");
        }
        let mut open = vec![self];
        while let Some(f) = open.pop() {
            match &f.kind {
                Kind::Constant(_) | Kind::Atom(Atom::Predicate(_)) => {}
                Kind::Atom(_) => {
                    return Some("what is enabled is not preserved, only predicates of states are");
                }
                Kind::Unary(_, f) | Kind::Quantified { body: f, .. } | Kind::Fair(_, f) => open.push(f),
                Kind::Binary(_, f, g) => open.extend([&**f, g]),
            }
        }
        None
    }

    /// Whether an operator of the future stands below one of the past; `below` says that one is above.
    fn looks_ahead(&self, below: bool) -> bool {
        match &self.kind {
            Kind::Constant(_) | Kind::Atom(_) => false,
            Kind::Unary(op, f) => match op {
                Unary::Not => f.looks_ahead(below),
                Unary::Next | Unary::Finally | Unary::Globally => below || f.looks_ahead(false),
                Unary::Yesterday | Unary::Once | Unary::Historically => f.looks_ahead(true),
            },
            Kind::Binary(op, f, g) => match op {
                Binary::Until | Binary::WeakUntil | Binary::Release if below => true,
                Binary::Since | Binary::Trigger => f.looks_ahead(true) || g.looks_ahead(true),
                _ => f.looks_ahead(below) || g.looks_ahead(below),
            },
            Kind::Quantified { body, .. } => body.looks_ahead(below),
            Kind::Fair(_, f) => below || f.looks_ahead(below),
        }
    }

    /// Whether no eventuality is asked for, in the formula or (if not `positive`) in its negation.
    fn is_safety(&self, positive: bool) -> bool {
        match &self.kind {
            Kind::Constant(_) | Kind::Atom(_) => true,
            Kind::Unary(Unary::Not, f) => f.is_safety(!positive),
            Kind::Unary(Unary::Finally, f) => !positive && f.is_safety(positive),
            Kind::Unary(Unary::Globally, f) => positive && f.is_safety(positive),
            Kind::Unary(_, f) | Kind::Fair(_, f) | Kind::Quantified { body: f, .. } => f.is_safety(positive),
            Kind::Binary(op, f, g) => match op {
                Binary::Implies => f.is_safety(!positive) && g.is_safety(positive),
                Binary::Iff => [true, false].iter().all(|&p| f.is_safety(p) && g.is_safety(p)),
                Binary::Until => !positive && f.is_safety(positive) && g.is_safety(positive),
                Binary::WeakUntil | Binary::Release => {
                    positive && f.is_safety(positive) && g.is_safety(positive)
                }
                Binary::And | Binary::Or | Binary::Since | Binary::Trigger => {
                    f.is_safety(positive) && g.is_safety(positive)
                }
            },
        }
    }
}

impl Fairness {
    fn names_instances(&self) -> bool {
        match self {
            Fairness::Operation { pattern, .. } => !pattern.is_plain(),
            Fairness::Every { .. } => true,
            Fairness::And(f, g) | Fairness::Or(f, g) => f.names_instances() || g.names_instances(),
        }
    }
}

impl Atom {
    /// The operations the atom speaks of.
    pub fn patterns(&self) -> &[Pattern] {
        match self {
            Atom::Enabled(p) | Atom::Executed(p) => std::slice::from_ref(p),
            Atom::NoneEnabled(list) | Atom::AtMostOne(list) | Atom::ExactlyOne(list) => list,
            _ => &[],
        }
    }

    /// Whether transitions of one operation are told apart.
    pub fn tells_instances(&self) -> bool {
        matches!(self, Atom::NonDet | Atom::DetOutput) || self.patterns().iter().any(|p| !p.is_plain())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.operation.text)?;
        if !self.arguments.is_empty() {
            let arguments: Vec<&str> =
                self.arguments.iter().map(|a| a.as_ref().map_or("_", |a| a.text.as_str())).collect();
            write!(out, "({})", arguments.join(","))?;
        }
        Ok(())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |patterns: &[Pattern]| patterns.iter().map(Pattern::to_string).collect::<Vec<_>>().join(",");
        match self {
            Atom::Predicate(p) => write!(out, "{{{}}}", p.text),
            Atom::Enabled(p) => write!(out, "e({p})"),
            Atom::Executed(p) => write!(out, "[{p}]"),
            Atom::Deadlock => out.write_str("deadlock"),
            Atom::NoneEnabled(ps) => write!(out, "deadlock({})", list(ps)),
            Atom::AtMostOne(ps) => write!(out, "deterministic({})", list(ps)),
            Atom::ExactlyOne(ps) => write!(out, "controller({})", list(ps)),
            Atom::Sink => out.write_str("sink"),
            Atom::NonDet => out.write_str("non_det"),
            Atom::Goal => out.write_str("goal"),
            Atom::DetOutput => out.write_str("det_output"),
            Atom::StateError => out.write_str("error"),
            Atom::Current => out.write_str("current"),
            Atom::Change(change, e) => {
                let word = match change {
                    Change::Unchanged => "unchanged",
                    Change::Changed => "changed",
                    Change::Increasing => "increasing",
                    Change::Decreasing => "decreasing",
                    Change::BeforeAfter => "before_after",
                };
                write!(out, "{word}({{{}}})", e.text)
            }
        }
    }
}

impl fmt::Display for Fairness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fairness::Operation { strong: true, pattern } => write!(out, "SF({pattern})"),
            Fairness::Operation { strong: false, pattern } => write!(out, "WF({pattern})"),
            Fairness::Every { strong: true } => out.write_str("SEF"),
            Fairness::Every { strong: false } => out.write_str("WEF"),
            Fairness::And(f, g) => write!(out, "({f} & {g})"),
            Fairness::Or(f, g) => write!(out, "({f} or {g})"),
        }
    }
}

impl Unary {
    pub fn word(self) -> &'static str {
        match self {
            Unary::Not => "not",
            Unary::Next => "X",
            Unary::Finally => "F",
            Unary::Globally => "G",
            Unary::Yesterday => "Y",
            Unary::Once => "O",
            Unary::Historically => "H",
        }
    }
}

impl Binary {
    pub fn word(self) -> &'static str {
        match self {
            Binary::And => "&",
            Binary::Or => "or",
            Binary::Implies => "=>",
            Binary::Iff => "<=>",
            Binary::Until => "U",
            Binary::WeakUntil => "W",
            Binary::Release => "R",
            Binary::Since => "S",
            Binary::Trigger => "T",
        }
    }
}

/// With a pair of parentheses round every binary formula, so that no precedence is needed to read it.
impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Constant(value) => write!(out, "{value}"),
            Kind::Atom(atom) => write!(out, "{atom}"),
            Kind::Unary(op, f) => write!(out, "{} {f}", op.word()),
            Kind::Binary(op, f, g) => write!(out, "({f} {} {g})", op.word()),
            Kind::Quantified { universal: true, variable, domain, body } => {
                write!(out, "!{variable}.({{{}}} => {body})", domain.text)
            }
            Kind::Quantified { universal: false, variable, domain, body } => {
                write!(out, "#{variable}.({{{}}} & {body})", domain.text)
            }
            Kind::Fair(fairness, f) => write!(out, "({fairness} => {f})"),
        }
    }
}
