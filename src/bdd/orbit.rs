//! Orbits: sets of states closed under the exchanges of a symmetry, and representatives of them.
//!
//! In: exchanges as permutations of variables. Out: closures (`sigma_Step` of the literature) and one state of each
//! orbit. Never here: whether the system is symmetric.

use super::diagram::{Diagrams, Halted, Renaming, Set};
use super::encoding::Encoding;
use super::sorting::Sorting;
use bombus_system::Exchange;
use dashu_int::UBig;

pub struct Orbits {
    exchanges: Vec<Renaming>,
    sorting: Sorting,
    /// Rounds of a closure at most; none if it goes on to the end.
    pub rounds: Option<u64>,
}

/// Orbits of one set that are told apart one by one; what is left is kept as it is.
const PICKS: usize = 4096;

impl Orbits {
    pub fn new(
        exchanges: &[Exchange],
        rounds: Option<u64>,
        encoding: &Encoding,
        diagrams: &Diagrams,
    ) -> Halted<Orbits> {
        let of = |e: &Exchange| diagrams.renaming(&encoding.permuted(e));
        let sorting = Sorting::new(exchanges, encoding, diagrams)?;
        Ok(Orbits { exchanges: exchanges.iter().map(of).collect::<Halted<_>>()?, sorting, rounds })
    }

    pub fn is_trivial(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The set with the images of its members under products of exchanges; all of them if `rounds` does not cut it.
    pub fn close(&self, set: &Set, rounds: Option<u64>, diagrams: &Diagrams) -> Halted<Set> {
        let mut all = set.clone();
        if rounds.is_none() && self.sorting.exact {
            for exchange in self.sorting.exchanges() {
                diagrams.check()?;
                all = all.or(&self.exchanges[exchange].of(&all)?)?;
            }
            return Ok(all);
        }
        let mut round = 0;
        loop {
            let before = all.clone();
            for exchange in &self.exchanges {
                all = all.or(&exchange.of(&all)?)?;
            }
            round += 1;
            if all == before || rounds.is_some_and(|most| round >= most) {
                return Ok(all);
            }
            diagrams.check()?;
        }
    }

    /// Whether the exchanges map a set to itself.
    pub fn is_closed(&self, set: &Set) -> Halted<bool> {
        for exchange in &self.exchanges {
            if exchange.of(set)? != *set {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether sorted states tell orbits apart, so that `pick_unseen` does without closures. Where the user cuts closures off after
    /// some rounds (`rounds`), closures are what is asked for.
    pub fn are_sorted(&self) -> bool {
        self.sorting.exact && self.rounds.is_none()
    }

    /// One state of each orbit that a set meets and that no sorted state of `seen` belongs to. These orbits are seen from now on.
    pub fn pick_unseen(&self, set: &Set, seen: &mut Set, diagrams: &Diagrams) -> Halted<Set> {
        self.sorting.pick(set, seen, &self.exchanges, diagrams)
    }

    /// How many states the orbits of sorted states have, counted over `counted` variables.
    pub fn size(&self, sorted: &Set, counted: u32, diagrams: &Diagrams) -> Halted<UBig> {
        self.sorting.arrangements(sorted, counted, diagrams)
    }

    /// One state of each orbit that a set meets.
    pub fn pick(&self, set: &Set, encoding: &Encoding, diagrams: &Diagrams) -> Halted<Set> {
        let mut rest = self.sorting.pick(set, &mut diagrams.none.clone(), &self.exchanges, diagrams)?;
        if self.sorting.exact {
            return Ok(rest);
        }
        let mut kept = Vec::new();
        while let Some(one) = rest.pick() {
            diagrams.check()?;
            if kept.len() >= PICKS {
                kept.push(rest);
                break;
            }
            let state = diagrams.cube(encoding.current.iter().map(|v| (*v, one[*v as usize])))?;
            rest = rest.without(&self.close(&state, None, diagrams)?)?;
            kept.push(state);
        }
        diagrams.union(kept)
    }
}
