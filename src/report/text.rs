//! The result for people: the verdict first, then its scope, the figures, the findings.

use super::finding_text::{self, Manner, property_text};
use super::ledger::Verdict;
use super::outcome::{
    BddDetails, INITIALISE, Outcome, Proven, SETUP_CONSTANTS, Symbolic, TraceStep, Violation,
};
use super::style::Style;
use crate::base::text::{grouped, many, one_line};
use std::fmt::Write;

/// Longer values are cut where people read them; files and `--verbose` have them whole.
const LONGEST_VALUE: usize = 300;

/// How much to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    Quiet,
    Normal,
    Verbose,
}

pub fn render(o: &Outcome, detail: Detail) -> String {
    render_in(o, detail, Style::Plain)
}

/// The result in a style.
pub fn render_in(o: &Outcome, detail: Detail, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", headline(o, style));
    if detail == Detail::Quiet {
        return out;
    }
    scope(&mut out, o);
    figures(&mut out, o);
    if let Some(goal) = o.goal.as_ref().filter(|_| o.found("goal") == 0) {
        let words = if o.ledger.reasons().is_empty() { "not reached" } else { "not reached so far" };
        let _ = writeln!(out, "  goal         {words}: {}", one_line(goal));
    }
    for t in &o.temporal {
        let name = t.name.as_ref().map(|n| format!("{n}: ")).unwrap_or_default();
        let _ = writeln!(out, "  temporal     {:10} {name}{}", t.verdict, one_line(&t.formula));
    }
    if !o.temporal.is_empty() {
        let checked = o.temporal.iter().filter(|t| t.verdict != "incomplete").count();
        let _ = writeln!(out, "  temporal     {checked} of {} properties checked", o.temporal.len());
    }
    for a in o.asserts.iter().flatten() {
        let why = if a.why.is_empty() { String::new() } else { format!("   {}", a.why) };
        let _ = writeln!(out, "  assert       {:10} {}{why}", a.verdict, one_line(&a.text));
    }
    let longest = if detail == Detail::Verbose { usize::MAX } else { LONGEST_VALUE };
    let manner = Manner { longest, style };
    let first = o.violation.iter().map(|v| (v, &o.why));
    for (v, why) in first.chain(o.others.iter().map(|(v, why)| (v, why))) {
        out.push('\n');
        finding_text::finding(&mut out, v, why, manner);
    }
    if let Some(line) = never_enabled(o) {
        let _ = writeln!(out, "  {line}");
    }
    for w in &o.warnings {
        let _ = writeln!(out, "{} {w}", style.doubtful("warning:"));
    }
    if detail == Detail::Verbose {
        verbose(&mut out, o);
    }
    out
}

/// Events that were not seen to happen: never, if everything was seen.
fn never_enabled(o: &Outcome) -> Option<String> {
    // An event whose action fails was enabled.
    let fails = |name: &str| {
        let all = std::iter::once(&o.why).chain(o.others.iter().map(|(_, why)| why));
        all.filter_map(|why| why.step.as_ref()).any(|step| step.event == name)
    };
    let silent = o.events.iter().filter(|e| e.states == 0 && e.transitions == 0 && !fails(&e.name));
    let names: Vec<&str> = silent.map(|e| e.name.as_str()).collect();
    if names.is_empty() || o.counts.states == 0 {
        return None;
    }
    let complete = o.ledger.reasons().is_empty();
    let words = match (o.reductions.por, complete) {
        // A reduced search may leave out all transitions of an event.
        ("on", _) => "never taken ",
        (_, true) => "never enabled",
        (_, false) => "not enabled so far:",
    };
    Some(format!("{words}  {}", names.join(", ")))
}

fn headline(o: &Outcome, style: Style) -> String {
    match o.verdict() {
        Verdict::Verified => format!("{}    {}", style.good("VERIFIED"), o.machine),
        Verdict::Violated => {
            let what = match &o.violation {
                Some(v) => format!("{}: {}", v.kind, property_text(v, &o.why)),
                None => "a temporal property".into(),
            };
            // Whoever looks for a goal wants to reach it.
            if o.violation.as_ref().is_some_and(|v| v.kind == "goal") {
                return format!("{}     {}   {what}", style.good("REACHED"), o.machine);
            }
            format!("{}    {}   {what}", style.bad("VIOLATED"), o.machine)
        }
        Verdict::Incomplete => {
            let word = style.doubtful("INCOMPLETE");
            let mut text = match &o.violation {
                // A violation of the model would be the verdict; this one rests on a stand-in, or may do so.
                Some(v) => format!(
                    "{word}  {}   not known to be a fault of the model: {}: {}",
                    o.machine,
                    v.kind,
                    one_line(&v.property)
                ),
                None => {
                    format!("{word}  {}   nothing wrong was found, but not everything was seen:", o.machine)
                }
            };
            for r in o.ledger.reasons() {
                let _ = write!(text, "\n  because      {r}");
            }
            text
        }
    }
}

/// The sizes of sets and the integers that a verdict holds for; empty if there are none.
pub fn scope_words(o: &Outcome) -> String {
    let sized: Vec<String> = o
        .scope
        .sets
        .iter()
        .filter_map(|s| s.origin.map(|why| format!("{} = {} ({why})", s.name, s.size)))
        .collect();
    let mut parts = sized;
    let all = if o.scope.integers { " for every choice that nothing bounds" } else { "" };
    if !o.scope.maxint.is_empty() {
        parts.push(format!("integers {}..{}{all}", o.scope.minint, o.scope.maxint));
    }
    parts.join(", ")
}

fn scope(out: &mut String, o: &Outcome) {
    let words = scope_words(o);
    if !words.is_empty() {
        let _ = writeln!(out, "  scope        {words}");
    }
}

/// What was proven beforehand, and by whom.
fn proven(out: &mut String, p: &Proven) {
    let all: usize = p.by.iter().map(|(_, n)| n).sum();
    if all == 0 && p.checked.is_none() {
        return;
    }
    let by: Vec<String> =
        p.by.iter().filter(|(_, n)| *n > 0).map(|(source, n)| format!("{n} {source}")).collect();
    let _ = write!(out, "  proven       {all} of {} pairs of an event and a conjunct", p.pairs);
    if !by.is_empty() {
        let _ = write!(out, " ({})", by.join(", "));
    }
    if p.saved > 0 {
        let _ = write!(out, "; {} queries saved", p.saved);
    }
    if p.asked > 0 {
        let _ = write!(out, ", {} asked for it", p.asked);
    }
    let _ = writeln!(out);
    if let Some(checked) = p.checked {
        let _ = writeln!(out, "  claims       {checked} checked, {} dropped", p.dropped);
    }
    if p.trusted {
        let _ = writeln!(out, "  rests on     obligations that Rodin has discharged");
    }
}

/// What a symbolic engine did.
fn symbolic(out: &mut String, s: &Symbolic) {
    let depth = s.depth.map_or("nothing".into(), |d| format!("all paths of up to {d} operations"));
    let ends = s.ends.map_or(String::new(), |n| format!(" ({n} about ends of sequences)"));
    let _ = writeln!(out, "  searched     {depth}; {} queries{ends}, {} conflicts", s.queries, s.conflicts);
    if let Some(k) = s.k {
        let _ =
            writeln!(out, "  proof        by induction: no bad state follows {} good states in a row", k + 1);
    } else if let Some(clauses) = s.clauses {
        let frames = s.frames.unwrap_or(0);
        let _ = writeln!(
            out,
            "  proof        an inductive invariant: the property and {clauses} clauses, {frames} frames"
        );
    } else if let Some(kind) = s.certificate {
        let _ = writeln!(out, "  proof        {kind}");
    }
    proven(out, &s.proven);
    if s.width > 0 {
        let _ = writeln!(out, "  integers     {} bits: {}", s.width, s.width_reason);
    }
    for weak in s.weak.iter().take(5) {
        let _ = writeln!(out, "  weak         {weak}");
    }
    if s.weak.len() > 5 {
        let _ = writeln!(out, "  weak         {} more", s.weak.len() - 5);
    }
    let _ = writeln!(out, "  time         {:.2} s", s.seconds);
}

fn explored(out: &mut String, o: &Outcome) {
    let c = &o.counts;
    let _ = writeln!(
        out,
        "  explored     {}, {}{} ({} initial{})",
        many(c.states, "state"),
        many(c.transitions, "transition"),
        // Only a breadth-first search knows how far states are.
        if c.depth > 0 || c.states <= c.initial {
            format!(", depth {}", grouped(c.depth))
        } else {
            String::new()
        },
        grouped(c.initial),
        if c.constants > 0 {
            format!(", {} of the constants", many(c.constants, "valuation"))
        } else {
            String::new()
        }
    );
}

/// The counts of a search on sets of states.
fn sets(out: &mut String, d: &BddDetails) {
    let unknown = || "unknown".to_string();
    let _ = writeln!(
        out,
        "  explored     {} states, {} transitions ({} initial)",
        d.states.clone().unwrap_or_else(unknown),
        d.transitions.clone().unwrap_or_else(unknown),
        d.initial
    );
    if let Some(kept) = &d.representatives {
        let _ = writeln!(
            out,
            "  symmetry     {}: {kept} representatives, {} exchanges of elements",
            d.symmetry, d.exchanges
        );
    }
    let _ = writeln!(
        out,
        "  diagrams     {} variables, {} nodes for the states, {} for {} relations, {} rounds",
        d.variables, d.nodes_of_states, d.nodes_of_relations, d.instances, d.rounds
    );
}

fn figures(out: &mut String, o: &Outcome) {
    if let Some(s) = &o.symbolic {
        symbolic(out, s);
        return;
    }
    let c = &o.counts;
    if let Some(d) = &o.reductions.bdd {
        sets(out, d);
    } else {
        explored(out, o);
    }
    let rate = if o.seconds.explore > 0.0 { c.states as f64 / o.seconds.explore } else { 0.0 };
    if !o.figures.is_empty() {
        let figures: Vec<String> =
            o.figures.iter().map(|(name, n)| format!("{name} {}", grouped(*n))).collect();
        let _ = writeln!(out, "  figures      {}", figures.join(", "));
    }
    if let Some(p) = &o.reductions.proven {
        proven(out, p);
    }
    if o.reductions.symmetry != "off" {
        let _ = writeln!(
            out,
            "  symmetry     {}: states that differ by a permutation of {} count as one",
            o.reductions.symmetry,
            o.reductions.symmetric_sets.join(", ")
        );
    }
    let bound = o.reductions.collision_bound;
    if o.reductions.store == "hash" {
        let _ = writeln!(out, "  store        hashes: a state was missed with probability below {bound:.1e}");
    } else if bound > 0.0 && o.reductions.symmetry != "off" {
        let _ = writeln!(
            out,
            "  markers      hashes: two were equal by chance with probability below {bound:.1e}"
        );
    }
    if let Some(d) = &o.reductions.por_details {
        let _ = writeln!(
            out,
            "  reduction    partial order ({} sets of {} instances, preserves {}, proviso {}): \
             {} states reduced, {} full ({} no smaller set, {} by proviso, {} not known), {} with one choice",
            d.method,
            d.instances,
            d.preserves,
            d.proviso,
            d.reduced,
            d.full_no_smaller + d.full_by_proviso + d.full_unknown,
            d.full_no_smaller,
            d.full_by_proviso,
            d.full_unknown,
            d.single
        );
    }
    let found: Vec<String> =
        o.found.iter().filter(|(_, n)| **n > 0).map(|(k, n)| format!("{} {k}", grouped(*n))).collect();
    if !found.is_empty() {
        let _ = writeln!(out, "  findings     {}", found.join(", "));
    }
    if o.verdict() == Verdict::Violated {
        for r in o.ledger.reasons() {
            let _ = writeln!(out, "  searched     not everything: {r}");
        }
    }
    for (rank, m) in o.machines.iter().enumerate() {
        let _ = writeln!(
            out,
            "  machine {rank:<4} {}: {} states, sent {}, received {}, {} MiB, waited {:.2} s",
            m.name,
            m.states,
            m.sent,
            m.received,
            m.peak_bytes >> 20,
            m.waited_seconds
        );
    }
    let _ = writeln!(
        out,
        "  time         {:.2} s ({} states/s), {} MiB, {} engine, {}",
        o.seconds.load + o.seconds.setup + o.seconds.explore + o.seconds.temporal,
        grouped(rate as u64),
        grouped(o.peak_memory_bytes >> 20),
        o.engine,
        many(o.workers as u64, "worker")
    );
}

fn verbose(out: &mut String, o: &Outcome) {
    let _ = writeln!(out, "  events       states in which each is enabled, transitions");
    for e in &o.events {
        let _ = writeln!(out, "    {:30} {:10} {:10}", e.name, e.states, e.transitions);
    }
    let _ = writeln!(out, "  digest       {}", o.digest);
    for line in &o.details {
        let _ = writeln!(out, "  {line}");
    }
}

/// The violation with its whole trace.
pub fn violation(out: &mut String, v: &Violation) {
    finding_text::finding(out, v, &Default::default(), WHOLE);
}

/// The finding `v` of a check and all its others, with their reasons and traces, nothing cut.
pub fn findings(out: &mut String, v: &Violation, o: &Outcome) {
    finding_text::finding(out, v, &o.why, WHOLE);
    for (v, why) in &o.others {
        out.push('\n');
        finding_text::finding(out, v, why, WHOLE);
    }
}

/// The trace, each state shown by what changed.
pub fn trace(out: &mut String, steps: &[TraceStep], loop_start: Option<usize>) {
    finding_text::trace(out, steps, loop_start, WHOLE);
}

/// Nothing is cut.
const WHOLE: Manner = Manner { longest: usize::MAX, style: Style::Plain };

/// `r <-- event(a=1, b=2)`.
pub fn label(s: &TraceStep) -> String {
    let name = match s.event.as_str() {
        SETUP_CONSTANTS => "SETUP_CONSTANTS",
        INITIALISE => "INITIALISATION",
        other => other,
    };
    let mut text = String::new();
    if !s.results.is_empty() {
        let values: Vec<&str> = s.results.iter().map(|(_, v)| v.as_str()).collect();
        let _ = write!(text, "{} <-- ", values.join(", "));
    }
    text.push_str(name);
    if !s.params.is_empty() {
        let values: Vec<String> = s.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let _ = write!(text, "({})", values.join(", "));
    }
    text
}
