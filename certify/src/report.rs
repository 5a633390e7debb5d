//! The answer about a certificate: accepted, accepted except for some obligations, or rejected.
//!
//! In: what the examiners saw. Out: text, JSON and an exit status.
//! Never here: how anything was examined.

use crate::manifest::{Counts, Manifest};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The most kinds of open obligations that are kept apart.
const MOST_KINDS: usize = 200;

/// Obligations that could not be decided, by their words: how many, and where the first one is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open(pub BTreeMap<String, (u64, String)>);

impl Open {
    /// Enters an obligation.
    pub fn enter(&mut self, words: &str, place: impl FnOnce() -> String) {
        let words = if self.0.len() >= MOST_KINDS && !self.0.contains_key(words) { "others" } else { words };
        match self.0.get_mut(words) {
            Some(entry) => entry.0 += 1,
            None => _ = self.0.insert(words.to_string(), (1, place())),
        }
    }

    /// Adds the obligations of another list.
    pub fn add(&mut self, other: Open) {
        for (words, (n, place)) in other.0 {
            self.0.entry(words).or_insert((0, place)).0 += n;
        }
    }

    /// Whether the oracle met a tree that breaks the rules of types: no model is like that.
    pub fn ill_typed(&self) -> Option<String> {
        let words = self.0.keys().find(|words| words.contains("ill-typed tree"))?;
        Some(format!("model.core is no model: {words}"))
    }

    /// How many obligations are open.
    pub fn total(&self) -> u64 {
        self.0.values().map(|e| e.0).sum()
    }
}

/// How much of the certificate was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// So many states, chosen by the root.
    Sample(u64),
    /// Some blocks of all.
    Shard(u64, u64),
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Report {
    pub name: String,
    pub manifest: Manifest,
    /// Why the certificate is rejected, if it is.
    pub rejected: Option<String>,
    pub open: Open,
    pub part: Part,
    /// What was counted.
    pub counted: Counts,
    pub root: String,
    /// Whether it was examined that every listed state is reached: the verdict does not need it, the counts do.
    pub reached: bool,
    /// The machines that it was shown to refine, and in how many combined states.
    pub refines: Option<(String, u64)>,
}

impl Report {
    /// 0 accepted, 1 rejected, 3 nothing is wrong but something was not checked.
    pub fn status(&self) -> u8 {
        match (&self.rejected, self.open.total(), &self.part) {
            (Some(_), ..) => 1,
            (None, 0, Part::Whole) => 0,
            _ => 3,
        }
    }

    /// The first line.
    pub fn headline(&self) -> String {
        let claim = if self.manifest.verified { "verified" } else { "violated" };
        let name = &self.name;
        match (&self.rejected, &self.part, self.open.total()) {
            (Some(why), ..) => format!("REJECTED    {name}   {claim}: {why}"),
            (None, Part::Sample(_), _) => {
                format!("SAMPLED     {name}   {claim}: nothing wrong where it was looked at")
            }
            (None, Part::Shard(..), _) => format!("SHARD       {name}   {claim}: nothing wrong in this part"),
            (None, Part::Whole, 0) => format!("ACCEPTED    {name}   {claim}"),
            (None, Part::Whole, n) => format!("ACCEPTED    {name}   {claim}, except for {n} obligations"),
        }
    }

    /// The answer for people.
    pub fn text(&self) -> String {
        let mut out = self.headline();
        let mut line = |word: &str, text: String| out += &format!("\n  {word:<12}{text}");
        let asked = &self.manifest.asked;
        let words = [
            (asked.invariant, "invariant"),
            (asked.assertions, "assertions"),
            (asked.deadlock, "no deadlock"),
            (asked.goal, "goal not reached"),
            (asked.strict_guards, "guards defined"),
        ];
        let mut claims: Vec<&str> = words.iter().filter(|w| w.0).map(|w| w.1).collect();
        claims.extend(["well-definedness", "preconditions"]);
        if self.manifest.verified {
            line("properties", claims.join(", "));
            let c = &self.counted;
            line(
                "counted",
                format!(
                    "{} constants, {} initial states, {} states, {} transitions",
                    c.valuations, c.initial, c.states, c.transitions
                ),
            );
            line("root", self.root.clone());
            if self.reached {
                line("reached", "every listed state, from an initial one".into());
            }
        }
        if let Some((names, combined)) = &self.refines {
            line("refines", format!("{names}, in {combined} combined states"));
        }
        // The text of a formula is the producer's; what was decided is the formula behind it.
        for f in &self.manifest.formulas {
            line("formula", format!("{}, which is {}", f["text"], f["formula"]));
        }
        if !self.manifest.symmetry.is_empty() {
            let sets: Vec<&str> = self.manifest.symmetry.iter().map(|s| &**s).collect();
            line("symmetry", format!("states up to renaming of {}", sets.join(", ")));
        }
        match self.part {
            Part::Sample(n) => line(
                "sample",
                format!(
                    "{n} states chosen by the root; if one state in {:.0} were wrong, this would have shown it with \
                     a probability of 99 %; a single wrong state among all is most likely not seen",
                    n as f64 / 100f64.ln()
                ),
            ),
            Part::Shard(part, all) => line("shard", format!("{part} of {all} blocks")),
            Part::Whole => {}
        }
        for (words, (n, place)) in &self.open.0 {
            line("open", format!("{n} × {words}{}{place}", if place.is_empty() { "" } else { "; first " }));
        }
        out
    }

    /// The answer for programs.
    pub fn json(&self) -> Json {
        let open = self.open.0.iter().map(|(w, (n, p))| json!({"obligation": w, "count": n, "first": p}));
        let events = self.counted.events.iter();
        let part = match &self.part {
            Part::Whole => json!("whole"),
            Part::Sample(n) => json!({"sample": n}),
            Part::Shard(n, all) => json!({"blocks": n, "of": all}),
        };
        json!({"result": match self.status() { 0 => "accepted", 1 => "rejected", _ => "accepted except" },
            "machine": self.name, "verdict": if self.manifest.verified { "verified" } else { "violated" },
            "formulas": self.manifest.formulas, "rejected": self.rejected, "open": open.collect::<Vec<_>>(), "part": part, "root": self.root,
            "reached": self.reached,
            "refines": self.refines.as_ref().map(|(names, n)| json!({"machines": names, "combined_states": n})),
            "counted": {"valuations": self.counted.valuations, "initial": self.counted.initial,
                "states": self.counted.states, "transitions": self.counted.transitions,
                "events": events.map(|(n, (s, t))| json!({"name": n, "states": s, "transitions": t}))
                    .collect::<Vec<_>>()},
            "about": self.manifest.about})
    }
}
