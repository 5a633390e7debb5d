//! Proof information: what is known to hold of the machine before any state is looked at.
//!
//! In: proofs, from wherever. Out: for each event and each conjunct of the invariant, whether the event is known to keep
//! the conjunct, and on whose word; and what is known to follow from the invariant. Never here: how anything is proved.
//!
//! "Keeps" is said of steps from states in which the constants satisfy PROPERTIES and *all* conjuncts hold and are defined;
//! after such a step the conjunct holds and is defined. A search may use that only behind a state of which it knows, or
//! asserts, the whole invariant.

/// On whose word a pair is taken for proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The event writes nothing that the conjunct reads.
    Free,
    /// A discharged obligation of Rodin.
    Rodin,
    /// A query of our own.
    Own,
}

impl Source {
    pub const ALL: [Source; 3] = [Source::Free, Source::Rodin, Source::Own];

    pub fn word(self) -> &'static str {
        match self {
            Source::Free => "free",
            Source::Rodin => "rodin",
            Source::Own => "own",
        }
    }
}

/// What is proven of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofInfo {
    /// By event, then by conjunct of the invariant.
    kept: Vec<Vec<Option<Source>>>,
    /// Events in which nothing can go wrong where the invariant holds.
    faultless: Vec<bool>,
    /// Assertions that follow from the invariant.
    assertions: Vec<bool>,
    /// Some event is enabled wherever the invariant holds.
    never_stuck: bool,
}

impl ProofInfo {
    /// Nothing is proven.
    pub fn none(events: usize, conjuncts: usize, assertions: usize) -> ProofInfo {
        ProofInfo {
            kept: vec![vec![None; conjuncts]; events],
            faultless: vec![false; events],
            assertions: vec![false; assertions],
            never_stuck: false,
        }
    }

    /// Enters a pair; the first word that is given counts.
    pub fn enter(&mut self, event: usize, conjunct: usize, source: Source) {
        if let Some(entry) = self.kept.get_mut(event).and_then(|row| row.get_mut(conjunct)) {
            entry.get_or_insert(source);
        }
    }

    /// Takes a pair back.
    pub fn withdraw(&mut self, event: usize, conjunct: usize) {
        self.kept[event][conjunct] = None;
    }

    pub fn enter_faultless(&mut self, event: usize) {
        self.faultless[event] = true;
    }

    pub fn enter_assertion(&mut self, assertion: usize) {
        self.assertions[assertion] = true;
    }

    pub fn enter_never_stuck(&mut self) {
        self.never_stuck = true;
    }

    /// On whose word the event keeps the conjunct.
    pub fn source(&self, event: usize, conjunct: usize) -> Option<Source> {
        *self.kept.get(event)?.get(conjunct)?
    }

    pub fn keeps(&self, event: usize, conjunct: usize) -> bool {
        self.source(event, conjunct).is_some()
    }

    pub fn is_faultless(&self, event: usize) -> bool {
        self.faultless.get(event).copied().unwrap_or(false)
    }

    pub fn follows(&self, assertion: usize) -> bool {
        self.assertions.get(assertion).copied().unwrap_or(false)
    }

    pub fn is_never_stuck(&self) -> bool {
        self.never_stuck
    }

    /// The pairs that are proven, with their source, by event and conjunct.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, Source)> + '_ {
        self.kept.iter().enumerate().flat_map(|(event, row)| {
            row.iter().enumerate().filter_map(move |(conjunct, source)| Some((event, conjunct, (*source)?)))
        })
    }

    /// How many pairs there are, proven or not.
    pub fn all_pairs(&self) -> usize {
        self.kept.iter().map(Vec::len).sum()
    }

    pub fn count(&self, source: Source) -> usize {
        self.pairs().filter(|(_, _, from)| *from == source).count()
    }

    /// Events that keep every conjunct.
    pub fn proven_events(&self) -> usize {
        self.kept.iter().filter(|row| row.iter().all(Option::is_some)).count()
    }

    /// What rests on nobody's word but ours.
    pub fn without_rodin(&self) -> ProofInfo {
        let mut out = self.clone();
        for source in out.kept.iter_mut().flatten() {
            *source = source.filter(|from| *from != Source::Rodin);
        }
        out
    }

    /// What rests on the word of Rodin alone.
    pub fn of_rodin(&self) -> ProofInfo {
        let mut out = ProofInfo::none(self.kept.len(), self.kept.first().map_or(0, Vec::len), 0);
        for (event, conjunct, source) in self.pairs().filter(|(_, _, from)| *from == Source::Rodin) {
            out.enter(event, conjunct, source);
        }
        out
    }

    /// Whether nothing at all is proven.
    pub fn is_empty(&self) -> bool {
        self.pairs().next().is_none()
            && !self.never_stuck
            && !self.faultless.contains(&true)
            && !self.assertions.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_for_a_pair_counts() {
        let mut info = ProofInfo::none(2, 2, 0);
        info.enter(0, 1, Source::Free);
        info.enter(0, 1, Source::Own);
        info.enter(1, 0, Source::Rodin);
        info.enter(7, 7, Source::Own);
        assert_eq!(info.pairs().collect::<Vec<_>>(), [(0, 1, Source::Free), (1, 0, Source::Rodin)]);
        assert_eq!((info.count(Source::Own), info.all_pairs(), info.proven_events()), (0, 4, 0));
        assert_eq!(info.of_rodin().pairs().count(), 1);
        info.withdraw(1, 0);
        assert!(info.of_rodin().is_empty() && !info.is_empty());
    }
}
