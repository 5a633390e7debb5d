//! Orbits: sets of states closed under the exchanges of a symmetry, and representatives of them.
//!
//! In: exchanges as permutations of variables. Out: closures (`sigma_Step` of the literature) and one state of each
//! orbit. Never here: whether the system is symmetric.

use super::diagram::{Diagrams, Halted, Renaming, Set};
use super::encoding::Encoding;
use bombus_system::Exchange;

pub struct Orbits {
    exchanges: Vec<Renaming>,
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
        Ok(Orbits { exchanges: exchanges.iter().map(of).collect::<Halted<_>>()?, rounds })
    }

    pub fn is_trivial(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The set with the images of its members under products of exchanges; all of them if `rounds` does not cut it.
    pub fn close(&self, set: &Set, rounds: Option<u64>, diagrams: &Diagrams) -> Halted<Set> {
        let mut all = set.clone();
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

    /// One state of each orbit that a set meets.
    pub fn pick(&self, set: &Set, encoding: &Encoding, diagrams: &Diagrams) -> Halted<Set> {
        let mut kept = Vec::new();
        let mut rest = set.clone();
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
