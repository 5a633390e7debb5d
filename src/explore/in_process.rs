//! Machines of a search that are threads of one process, for tests.
//!
//! In: how many there are, their weights, how many packets may be under way. Out: one `Peers` for each.
//! Never here: assertions.

use super::peers::{Lost, Mutant, Owners, Packet, Peers};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub struct InProcess {
    rank: usize,
    hub: Arc<Hub>,
}

#[derive(Debug)]
struct Hub {
    owners: Owners,
    window: usize,
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Now {
    /// The round in which each machine is, and how many it has ended.
    round: Vec<u64>,
    ended: Vec<u64>,
    inbox: Vec<VecDeque<(u64, Packet)>>,
    /// Packets under way, by sender and receiver.
    under_way: Vec<Vec<usize>>,
    said: BTreeMap<u64, Vec<Option<Vec<u8>>>>,
    called_off: bool,
    lost: Option<Lost>,
    /// A machine that vanishes when it is about to agree in a round.
    vanishes: Option<(usize, u64)>,
    /// A mistake that all machines make.
    mutant: Option<Mutant>,
}

impl InProcess {
    /// Machines with these weights. At most `window` packets are under way between two of them.
    pub fn group(weights: &[u32], window: usize) -> Vec<Arc<InProcess>> {
        let n = weights.len();
        let now = Now {
            round: vec![0; n],
            ended: vec![0; n],
            inbox: vec![VecDeque::new(); n],
            under_way: vec![vec![0; n]; n],
            ..Now::default()
        };
        let hub = Arc::new(Hub {
            owners: Owners::new(weights),
            window,
            now: Mutex::new(now),
            changed: Condvar::new(),
        });
        (0..n).map(|rank| Arc::new(InProcess { rank, hub: hub.clone() })).collect()
    }

    /// Lets all machines make a mistake.
    pub fn make(&self, mutant: Mutant) {
        self.hub.now.lock().mutant = Some(mutant);
    }

    /// How many rounds this machine has ended.
    pub fn rounds(&self) -> u64 {
        self.hub.now.lock().round[self.rank]
    }

    /// Lets this machine vanish at the end of a round.
    pub fn vanish_in(&self, round: u64) {
        self.hub.now.lock().vanishes = Some((self.rank, round));
    }
}

impl Peers for InProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn owners(&self) -> &Owners {
        &self.hub.owners
    }

    fn offer(&self, to: usize, packet: Packet) -> Result<(), Packet> {
        let mut now = self.hub.now.lock();
        if now.under_way[self.rank][to] >= self.hub.window {
            return Err(packet);
        }
        let round = now.round[self.rank];
        assert!(now.ended[self.rank] <= round, "nothing is sent after the end of a round");
        now.under_way[self.rank][to] += 1;
        now.inbox[to].push_back((round, packet));
        self.hub.changed.notify_all();
        Ok(())
    }

    fn arrived(&self) -> Option<Packet> {
        let mut now = self.hub.now.lock();
        let round = now.round[self.rank];
        let at = now.inbox[self.rank].iter().position(|(of, _)| *of == round)?;
        let (_, packet) = now.inbox[self.rank].remove(at)?;
        now.under_way[packet.from][self.rank] -= 1;
        self.hub.changed.notify_all();
        Some(packet)
    }

    fn end_round(&self) {
        let mut now = self.hub.now.lock();
        now.ended[self.rank] = now.round[self.rank] + 1;
        self.hub.changed.notify_all();
    }

    fn is_round_over(&self) -> bool {
        let now = self.hub.now.lock();
        let round = now.round[self.rank];
        let all_ended = now.ended.iter().all(|ended| *ended > round);
        now.lost.is_some() || all_ended && now.inbox[self.rank].iter().all(|(of, _)| *of != round)
    }

    fn agree(&self, said: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        let mut now = self.hub.now.lock();
        let round = now.round[self.rank];
        if now.vanishes == Some((self.rank, round)) {
            now.lost = Some(Lost { rank: self.rank, name: "one".into(), why: "it vanished".into() });
        }
        now.ended[self.rank] = round + 1;
        let machines = now.round.len();
        now.said.entry(round).or_insert_with(|| vec![None; machines])[self.rank] = Some(said);
        self.hub.changed.notify_all();
        loop {
            if let Some(lost) = &now.lost {
                return Err(lost.clone());
            }
            let heard: Option<Vec<Vec<u8>>> = now.said[&round].iter().cloned().collect();
            if let Some(heard) = heard {
                now.round[self.rank] += 1;
                return Ok(heard);
            }
            self.hub.changed.wait(&mut now);
        }
    }

    fn rest(&self) {
        let mut now = self.hub.now.lock();
        self.hub.changed.wait_for(&mut now, Duration::from_millis(1));
    }

    fn call_off(&self) {
        self.hub.now.lock().called_off = true;
    }

    fn is_called_off(&self) -> bool {
        self.hub.now.lock().called_off
    }

    fn lost(&self) -> Option<Lost> {
        self.hub.now.lock().lost.clone()
    }

    fn makes(&self, mutant: Mutant) -> bool {
        self.hub.now.lock().mutant == Some(mutant)
    }
}
