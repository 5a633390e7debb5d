//! The post office of one machine: what its explorers hand in and collect, and what the dataflow carries.
//!
//! In: packets and words of this machine's explorers; letters that the dataflow delivers. Out: letters for the dataflow; packets and words
//! for the explorers.
//! Never here: sockets, timely.
//!
//! At most `WINDOW` packets to a machine are not taken yet; more are given back to whoever sends them. So a machine that is slow, or
//! asleep, makes the others wait and never fills their memory.

use super::dataflow::{Bytes, Item, Kind, Letter};
use bombus_explore::peers::{Lost, Owners, Packet, Peers};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;
use std::thread::Thread;
use std::time::Duration;

/// Packets to one machine that are not taken yet, at most.
const WINDOW: usize = 8;

/// How long an explorer that waits sleeps at most.
const MOMENT: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub struct Post {
    rank: usize,
    owners: Owners,
    /// What the user calls the machines.
    names: Vec<String>,
    desk: Mutex<Desk>,
    changed: Condvar,
    /// The thread of the dataflow.
    carrier: OnceLock<Thread>,
}

#[derive(Debug, Default)]
struct Desk {
    round: u64,
    /// This machine has ended the round; everybody has.
    ended: bool,
    over: bool,
    inbox: VecDeque<(u64, Packet)>,
    outbox: Vec<Item>,
    /// Packets that each machine has not taken yet.
    under_way: Vec<usize>,
    said: BTreeMap<u64, Vec<Option<Vec<u8>>>>,
    called_off: bool,
    leaves: bool,
    /// Machines that said goodbye.
    left: Vec<bool>,
    lost: Option<Lost>,
}

impl Post {
    pub fn new(rank: usize, weights: &[u32], names: Vec<String>) -> Post {
        let machines = weights.len();
        let desk = Desk { under_way: vec![0; machines], left: vec![false; machines], ..Desk::default() };
        Post {
            rank,
            owners: Owners::new(weights),
            names,
            desk: Mutex::new(desk),
            changed: Condvar::new(),
            carrier: OnceLock::new(),
        }
    }

    /// Names the thread that carries letters.
    pub fn is_carried_by(&self, thread: Thread) {
        let _ = self.carrier.set(thread);
    }

    fn wake_carrier(&self) {
        if let Some(carrier) = self.carrier.get() {
            carrier.unpark();
        }
    }

    fn letter(&self, to: usize, kind: Kind, round: u64, content: Vec<u8>) -> Item {
        Item::Send(Letter { to: to as u32, from: self.rank as u32, kind, round, content: Bytes(content) })
    }

    /// Sends something to all other machines.
    fn broadcast(&self, desk: &mut Desk, kind: Kind, content: &[u8]) {
        let round = desk.round;
        for to in (0..self.names.len()).filter(|to| *to != self.rank) {
            desk.outbox.push(self.letter(to, kind, round, content.to_vec()));
        }
    }

    /// Takes what is to be carried; whether this machine leaves when that is done.
    pub fn outgoing(&self) -> (Vec<Item>, bool) {
        let mut desk = self.desk.lock();
        (std::mem::take(&mut desk.outbox), desk.leaves)
    }

    /// Takes a letter of another machine.
    pub fn deliver(&self, letter: Letter) {
        let mut desk = self.desk.lock();
        let Letter { from, kind, round, content, .. } = letter;
        let from = from as usize;
        if from >= self.names.len() || from == self.rank {
            desk.lost.get_or_insert(Lost {
                rank: from,
                name: "a machine without a name".into(),
                why: "a letter of nobody arrived".into(),
            });
            return;
        }
        match kind {
            Kind::Packet => desk.inbox.push_back((round, Packet { from, bytes: content.0 })),
            Kind::Taken => desk.under_way[from] = desk.under_way[from].saturating_sub(1),
            Kind::Said => {
                let machines = self.names.len();
                desk.said.entry(round).or_insert_with(|| vec![None; machines])[from] = Some(content.0);
            }
            Kind::CallOff => desk.called_off = true,
            Kind::Goodbye => desk.left[from] = true,
        }
        self.changed.notify_all();
    }

    /// Notes how far time has come; `is_past` tells whether everything before a time has been delivered.
    pub fn reached(&self, is_past: impl Fn(u64) -> bool) {
        let mut desk = self.desk.lock();
        if desk.ended && !desk.over && is_past(2 * desk.round + 1) {
            desk.over = true;
            self.changed.notify_all();
        }
    }

    pub fn lose(&self, rank: usize, why: String) {
        let name = self.names.get(rank).cloned().unwrap_or_default();
        self.desk.lock().lost.get_or_insert(Lost { rank, name, why });
        self.changed.notify_all();
    }

    pub fn is_lost(&self) -> bool {
        self.desk.lock().lost.is_some()
    }

    /// Whether a machine has said goodbye.
    pub fn has_left(&self, rank: usize) -> bool {
        self.desk.lock().left[rank]
    }

    /// Says goodbye; the dataflow ends when that is sent.
    pub fn leave(&self) {
        let mut desk = self.desk.lock();
        self.broadcast(&mut desk, Kind::Goodbye, &[]);
        desk.leaves = true;
        drop(desk);
        self.wake_carrier();
    }
}

impl Peers for Post {
    fn rank(&self) -> usize {
        self.rank
    }

    fn owners(&self) -> &Owners {
        &self.owners
    }

    fn name(&self, rank: usize) -> String {
        self.names.get(rank).cloned().unwrap_or_default()
    }

    fn offer(&self, to: usize, packet: Packet) -> Result<(), Packet> {
        let mut desk = self.desk.lock();
        if desk.under_way[to] >= WINDOW {
            return Err(packet);
        }
        desk.under_way[to] += 1;
        let item = self.letter(to, Kind::Packet, desk.round, packet.bytes);
        desk.outbox.push(item);
        drop(desk);
        self.wake_carrier();
        Ok(())
    }

    fn arrived(&self) -> Option<Packet> {
        let mut desk = self.desk.lock();
        let round = desk.round;
        // Packets of the next round may have come before this machine has heard what all said in this one.
        let at = desk.inbox.iter().position(|(of, _)| *of == round)?;
        let (_, packet) = desk.inbox.remove(at)?;
        let item = self.letter(packet.from, Kind::Taken, round, Vec::new());
        desk.outbox.push(item);
        drop(desk);
        self.wake_carrier();
        Some(packet)
    }

    fn end_round(&self) {
        let mut desk = self.desk.lock();
        if !desk.ended {
            desk.ended = true;
            let time = 2 * desk.round + 1;
            desk.outbox.push(Item::Advance(time));
            drop(desk);
            self.wake_carrier();
        }
    }

    fn is_round_over(&self) -> bool {
        let desk = self.desk.lock();
        let round = desk.round;
        let somebody_left = desk.left.iter().any(|left| *left);
        desk.lost.is_some() || somebody_left || desk.over && desk.inbox.iter().all(|(of, _)| *of != round)
    }

    fn agree(&self, said: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        self.end_round();
        let mut desk = self.desk.lock();
        let round = desk.round;
        self.broadcast(&mut desk, Kind::Said, &said);
        desk.outbox.push(Item::Advance(2 * round + 2));
        let machines = self.names.len();
        desk.said.entry(round).or_insert_with(|| vec![None; machines])[self.rank] = Some(said);
        self.wake_carrier();
        loop {
            if desk.said[&round].iter().all(Option::is_some) {
                let heard = desk.said.remove(&round).unwrap_or_default();
                desk.round += 1;
                (desk.ended, desk.over) = (false, false);
                return Ok(heard.into_iter().flatten().collect());
            }
            if let Some(lost) = &desk.lost {
                return Err(lost.clone());
            }
            // What a machine said came before its goodbye.
            let left = (0..machines).find(|rank| desk.left[*rank] && desk.said[&round][*rank].is_none());
            if let Some(rank) = left {
                let why = "it left before the search was over".to_string();
                let lost = Lost { rank, name: self.names[rank].clone(), why };
                return Err(desk.lost.insert(lost).clone());
            }
            self.changed.wait(&mut desk);
        }
    }

    fn rest(&self) {
        let mut desk = self.desk.lock();
        self.changed.wait_for(&mut desk, MOMENT);
    }

    fn call_off(&self) {
        let mut desk = self.desk.lock();
        if !std::mem::replace(&mut desk.called_off, true) {
            self.broadcast(&mut desk, Kind::CallOff, &[]);
            drop(desk);
            self.wake_carrier();
        }
    }

    fn is_called_off(&self) -> bool {
        self.desk.lock().called_off
    }

    fn lost(&self) -> Option<Lost> {
        self.desk.lock().lost.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(from: u32, kind: Kind, round: u64, content: &[u8]) -> Letter {
        Letter { to: 0, from, kind, round, content: Bytes(content.to_vec()) }
    }

    fn post() -> Post {
        Post::new(0, &[1, 1], vec!["a".into(), "b".into()])
    }

    #[test]
    fn no_more_packets_are_under_way_than_the_other_machine_can_hold() {
        let post = post();
        let packet = || Packet { from: 0, bytes: vec![1] };
        for _ in 0..WINDOW {
            assert!(post.offer(1, packet()).is_ok());
        }
        assert_eq!(post.offer(1, packet()), Err(packet()));
        post.deliver(letter(1, Kind::Taken, 0, &[]));
        assert!(post.offer(1, packet()).is_ok());
        assert!(post.offer(1, packet()).is_err());
    }

    #[test]
    fn a_packet_of_the_next_round_waits_for_it() {
        let post = post();
        post.deliver(letter(1, Kind::Packet, 1, &[7]));
        assert_eq!(post.arrived(), None);
        post.end_round();
        assert!(!post.is_round_over());
        post.reached(|time| time <= 1);
        assert!(post.is_round_over());
        post.deliver(letter(1, Kind::Said, 0, &[5]));
        assert_eq!(post.agree(vec![4]).unwrap(), [vec![4], vec![5]]);
        assert!(!post.is_round_over());
        assert_eq!(post.arrived().map(|packet| packet.bytes), Some(vec![7]));
    }

    #[test]
    fn what_was_said_before_a_machine_was_lost_is_heard() {
        let post = post();
        post.deliver(letter(1, Kind::Said, 0, &[5]));
        post.lose(1, "gone".into());
        assert!(post.agree(Vec::new()).is_ok());
        assert_eq!(post.agree(Vec::new()).unwrap_err().name, "b");
    }

    #[test]
    fn a_letter_of_nobody_ends_the_search() {
        let post = post();
        post.deliver(letter(7, Kind::Said, 0, &[5]));
        assert!(post.is_lost());
    }
}
