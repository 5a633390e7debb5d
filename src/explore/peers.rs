//! The other machines of a search: who owns which state, and how states and sums get there.
//!
//! In: packets of states for other machines, and what a machine has to say at the end of a level. Out: packets from
//! other machines, and what all of them said.
//! Never here: sockets; `cluster` has those, and tests have peers in one process.
//!
//! A search on several machines goes in rounds. In a round packets travel; a machine that has sent its last one
//! says so; when all have, and all packets are taken, everybody says something (`agree`) and hears what
//! everybody said, in the order of ranks. All decisions are taken from what was heard there, so all machines take the
//! same ones. A packet of a round is never handed out in another one.

use bombus_kernels::hash;
use std::fmt::Debug;

/// Bytes at which a packet is sent; few in tests, so that many are under way.
pub const PACKET: usize = if cfg!(test) { 200 } else { 1 << 18 };

/// States for another machine, found in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The rank of the machine that sent it.
    pub from: usize,
    pub bytes: Vec<u8>,
}

/// A machine that is no longer there, and why that is believed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    pub rank: usize,
    /// What the user calls the machine.
    pub name: String,
    pub why: String,
}

/// Mistakes that the exchange between machines could make. Tests make them on purpose, to see that they do not go unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A state that was sent once is not sent again, whatever its predecessor.
    NaiveFilter,
    /// States belong to machines by their words, which differ between processes.
    OwnerByWords,
    /// A machine that found nothing in a level sleeps through the next one.
    Sleeper,
    /// A machine that found nothing in a level writes no part when the search is saved.
    SleeperWithoutPart,
    /// The manifest is written before the parts that it names.
    ManifestFirst,
}

/// The machines of a search, as one of them sees them. Everything may be called by any thread.
pub trait Peers: Debug + Send + Sync {
    /// The number of this machine, from 0 on.
    fn rank(&self) -> usize;

    /// Which states belong to which machine; there are as many shares as machines.
    fn owners(&self) -> &Owners;

    /// What the user calls a machine.
    fn name(&self, rank: usize) -> String {
        format!("machine {rank}")
    }

    /// Sends a packet of this round, or gives it back because too many are under way to that machine. Whoever
    /// gets it back takes packets that arrive and tries again.
    fn offer(&self, to: usize, packet: Packet) -> Result<(), Packet>;

    /// A packet of this round that arrived, if there is one. It counts as taken.
    fn arrived(&self) -> Option<Packet>;

    /// Nothing more is sent in this round. Saying it twice is saying it once.
    fn end_round(&self);

    /// Whether all machines have ended the round and all packets that were sent here are taken. True when a machine
    /// was lost: nothing is worth waiting for then.
    fn is_round_over(&self) -> bool;

    /// Says something to all machines, ends the round and begins the next one. What all of them said, in the order of
    /// ranks. All packets that were sent here must have been taken.
    fn agree(&self, said: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost>;

    /// Waits a moment, or until something happens.
    fn rest(&self);

    /// Asks all machines to end the search as soon as they can.
    fn call_off(&self);

    /// Whether somebody asked for that.
    fn is_called_off(&self) -> bool;

    /// The machine that was lost first, if one was.
    fn lost(&self) -> Option<Lost>;

    /// Whether this machine makes a mistake. Asked in tests only, where some do.
    fn makes(&self, _: Mutant) -> bool {
        false
    }
}

/// Which states belong to which machine: a function of fingerprints that no run, thread or schedule changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners {
    /// For each machine but the last the first hash that is no longer its own, ascending.
    bounds: Vec<u64>,
}

impl Owners {
    /// Shares in proportion to `weights`, of which there is at least one and none is 0.
    pub fn new(weights: &[u32]) -> Owners {
        assert!(!weights.is_empty() && !weights.contains(&0), "every machine has a share");
        let all: u128 = weights.iter().map(|w| u128::from(*w)).sum();
        let mut sum = 0;
        let bounds = weights[..weights.len() - 1].iter().map(|weight| {
            sum += u128::from(*weight);
            ((sum << 64) / all) as u64
        });
        Owners { bounds: bounds.collect() }
    }

    /// How many machines there are.
    pub fn len(&self) -> usize {
        self.bounds.len() + 1
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// The machine to which the state with this fingerprint belongs, by its upper half: the one half that is kept of a
    /// predecessor. It is mixed because the visited set spreads states by the same bits.
    #[inline]
    pub fn of(&self, upper: u64) -> usize {
        let at = hash::mix(upper);
        self.bounds.iter().take_while(|bound| at >= **bound).count()
    }
}

#[cfg(test)]
mod tests {
    use super::Owners;
    use bombus_kernels::hash::mix;

    #[test]
    fn a_machine_owns_its_share_of_the_states() {
        let owners = Owners::new(&[1, 2, 1]);
        let mut owned = [0_u32; 3];
        (0..40_000).for_each(|n| owned[owners.of(mix(n))] += 1);
        // Expected 10,000, 20,000 and 10,000; the deviation of the largest is about 100.
        assert!(owned[0].abs_diff(10_000) < 600 && owned[1].abs_diff(20_000) < 600, "{owned:?}");
        assert_eq!(Owners::new(&[7]).of(u64::MAX), 0);
    }
}
