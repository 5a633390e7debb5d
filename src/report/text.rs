//! The result for people: the verdict first, then its scope, the figures, the counterexample.

use super::ledger::Verdict;
use super::outcome::{INITIALISE, Outcome, SETUP_CONSTANTS, Symbolic, TraceStep, Violation};
use crate::base::text::one_line;
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
    let mut out = String::new();
    let _ = writeln!(out, "{}", headline(o));
    if detail == Detail::Quiet {
        return out;
    }
    scope(&mut out, o);
    figures(&mut out, o);
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
    if let Some(v) = &o.violation {
        out.push('\n');
        let longest = if detail == Detail::Verbose { usize::MAX } else { LONGEST_VALUE };
        violation_within(&mut out, v, longest);
    }
    let never: Vec<&str> = o.events.iter().filter(|e| e.transitions == 0).map(|e| e.name.as_str()).collect();
    if !never.is_empty() && o.counts.states > 0 {
        // A reduced search may leave out all transitions of an event.
        let word = if o.reductions.por == "on" { "never taken" } else { "never enabled" };
        let _ = writeln!(out, "  {word}  {}", never.join(", "));
    }
    for w in &o.warnings {
        let _ = writeln!(out, "warning: {w}");
    }
    if detail == Detail::Verbose {
        verbose(&mut out, o);
    }
    out
}

fn headline(o: &Outcome) -> String {
    match o.verdict() {
        Verdict::Verified => format!("VERIFIED    {}", o.machine),
        Verdict::Violated => {
            let what = match &o.violation {
                Some(v) => format!("{}: {}", v.kind, one_line(&v.property)),
                None => "a temporal property".into(),
            };
            format!("VIOLATED    {}   {what}", o.machine)
        }
        Verdict::Incomplete => {
            let mut text = match &o.violation {
                // A violation of the model would be the verdict; this one rests on a stand-in, or may do so.
                Some(v) => format!(
                    "INCOMPLETE  {}   not known to be a fault of the model: {}: {}",
                    o.machine,
                    v.kind,
                    one_line(&v.property)
                ),
                None => {
                    format!(
                        "INCOMPLETE  {}   nothing wrong was found, but not everything was seen:",
                        o.machine
                    )
                }
            };
            for r in o.ledger.reasons() {
                let _ = write!(text, "\n  because      {r}");
            }
            text
        }
    }
}

fn scope(out: &mut String, o: &Outcome) {
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
    if !parts.is_empty() {
        let _ = writeln!(out, "  scope        {}", parts.join(", "));
    }
}

/// What a symbolic engine did.
fn symbolic(out: &mut String, s: &Symbolic) {
    let depth = s.depth.map_or("nothing".into(), |d| format!("all paths of up to {d} operations"));
    let _ = writeln!(out, "  searched     {depth}; {} queries, {} conflicts", s.queries, s.conflicts);
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

fn figures(out: &mut String, o: &Outcome) {
    if let Some(s) = &o.symbolic {
        symbolic(out, s);
        return;
    }
    let c = &o.counts;
    let rate = if o.seconds.explore > 0.0 { c.states as f64 / o.seconds.explore } else { 0.0 };
    let _ = writeln!(
        out,
        "  explored     {} states, {} transitions, depth {} ({} initial{})",
        c.states,
        c.transitions,
        c.depth,
        c.initial,
        if c.constants > 0 {
            format!(", {} valuations of the constants", c.constants)
        } else {
            String::new()
        }
    );
    if !o.figures.is_empty() {
        let figures: Vec<String> = o.figures.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let _ = writeln!(out, "  figures      {}", figures.join(", "));
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
        o.found.iter().filter(|(_, n)| **n > 0).map(|(k, n)| format!("{n} {k}")).collect();
    if !found.is_empty() {
        let _ = writeln!(out, "  findings     {}", found.join(", "));
    }
    if o.verdict() == Verdict::Violated {
        for r in o.ledger.reasons() {
            let _ = writeln!(out, "  not complete {r}");
        }
    }
    let _ = writeln!(
        out,
        "  time         {:.2} s ({:.0} states/s), {} MiB, {} engine, {} worker{}",
        o.seconds.load + o.seconds.setup + o.seconds.explore + o.seconds.temporal,
        rate,
        o.peak_memory_bytes >> 20,
        o.engine,
        o.workers,
        if o.workers == 1 { "" } else { "s" }
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
    violation_within(out, v, usize::MAX);
}

fn violation_within(out: &mut String, v: &Violation, longest: usize) {
    let _ = writeln!(out, "{}: {}", v.kind, one_line(&v.property));
    for line in &v.explanation {
        let _ = writeln!(out, "    {line}");
    }
    trace_within(out, &v.trace, v.loop_start, longest);
}

/// The trace, each state shown by what changed.
pub fn trace(out: &mut String, steps: &[TraceStep], loop_start: Option<usize>) {
    trace_within(out, steps, loop_start, usize::MAX);
}

fn trace_within(out: &mut String, steps: &[TraceStep], loop_start: Option<usize>, longest: usize) {
    let mut before: &[(String, String)] = &[];
    for (i, s) in steps.iter().enumerate() {
        let mark = if loop_start == Some(i) { "  <- the loop starts here" } else { "" };
        let _ = writeln!(out, "  {:>4}  {}{mark}", i, label(s));
        for (name, value) in &s.state {
            let same = before.iter().any(|(n, v)| n == name && v == value);
            if !same {
                match value.char_indices().nth(longest) {
                    Some((cut, _)) => {
                        let _ = writeln!(out, "          {name} = {}… (--verbose shows all)", &value[..cut]);
                    }
                    None => {
                        let _ = writeln!(out, "          {name} = {value}");
                    }
                }
            }
        }
        before = &s.state;
    }
}

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
