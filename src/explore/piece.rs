//! The part of a graph that stays on each machine where the whole does not fit on one.
//!
//! In: what this machine logged. Out: its states with their transitions, and the states of others that transitions lead to, as
//! nodes without words; letters to the owners of those; the graph of some of the states, gathered on the first machine.
//! Never here: which states are worth gathering; formulas decide that.
//!
//! Machines know each other's states by number: a machine tells each owner once, by their fingerprints, which of its states its
//! own transitions lead to.

use super::exchange::{pack, unpack};
use super::gather::{Broken, EXPANDED, INITIAL, Own, Room, Sender, TooLarge};
use super::peers::{PACKET, Packet, Peers};
use super::{Options, Shared};
use bombus_graph::{Csr, Edge, Graph, Log, NodeId};
use bombus_kernels::distant::upper;
use bombus_kernels::memory::Meter;
use bombus_system::{Glossary, System};
use std::ops::Range;
use std::sync::Arc;

/// The part of a graph that one machine has.
pub struct Piece {
    /// The states of this machine in the order of their fingerprints, then those of others.
    pub graph: Graph,
    /// How many of the nodes are states of this machine.
    pub own: u32,
    /// For each machine the nodes that are its states.
    pub foreign: Vec<Range<u32>>,
    /// For each machine the states of this one that its transitions lead to, in the order of its nodes for them.
    pub shown: Vec<Vec<u32>>,
    /// The fingerprint of each node.
    prints: Vec<u128>,
    words: usize,
    peers: Arc<dyn Peers>,
    meter: Arc<Meter>,
    most: Option<u64>,
}

/// What became of a part of the graph that was to be gathered.
pub enum Rest {
    /// The first machine has it, for so many bytes of its room. All states that were left out are its last node, which is not
    /// expanded.
    Here(Box<Graph>, u64),
    Elsewhere,
    TooLarge(TooLarge),
    /// Some state cannot be told by bytes.
    Unsent,
}

impl Piece {
    /// The piece of this machine, unless some machine has no room for its own. All machines call this at the same point.
    pub(super) fn new<S: System>(shared: Shared<'_, S>, own: Own, log: Log) -> Result<Option<Piece>, Broken> {
        let Options { peers: Some(peers), gather, .. } = shared.options else { return Ok(None) };
        let crossing = log.crossing.iter().map(Vec::len).sum::<usize>();
        let edges = crossing + log.edges.iter().map(Vec::len).sum::<usize>();
        // Each edge as it is sorted and in its row; the fingerprint and number of each end, at both machines.
        let bytes = edges * (size_of::<Edge>() + 16) + crossing * (16 + 16 + 4 + 4);
        // What a piece says of its states is true only if all of them have all their transitions.
        let is_whole = own.marks.iter().all(|marks| marks & EXPANDED != 0);
        let fits = is_whole && shared.system.orbits().is_none() && shared.meter.claim(bytes as u64).is_ok();
        let heard = peers.agree(vec![fits.into()]).map_err(|_| Broken::Lost)?;
        if heard.iter().any(|said| *said != [1]) {
            return Ok(None);
        }
        let (Own { order, place, marks }, owners) = (own, peers.owners());
        let (mut prints, ids): (Vec<u128>, Vec<u32>) = order.into_iter().unzip();
        let mut ends: Vec<Vec<u128>> = vec![Vec::new(); owners.len()];
        for edge in log.crossing.iter().flatten() {
            ends[owners.of(upper(edge.print))].push(edge.print);
        }
        let own = ids.len() as u32;
        let mut foreign = Vec::new();
        for ends in &mut ends {
            ends.sort_unstable();
            ends.dedup();
            let first = prints.len() as u32;
            prints.extend_from_slice(ends);
            foreign.push(first..prints.len() as u32);
        }
        let shown = acquaint(&**peers, ends, &prints[..own as usize])?;
        let place = |id: u32| place[id as usize];
        let abroad = |print: u128| {
            let nodes = &foreign[owners.of(upper(print))];
            let there = &prints[nodes.start as usize..nodes.end as usize];
            nodes.start + there.binary_search(&print).expect("every end was entered") as u32
        };
        let mut logs = log.edges;
        for edge in logs.iter_mut().flatten() {
            (edge.source, edge.target) = (place(edge.source), place(edge.target));
        }
        for log in log.crossing {
            let here = |e: bombus_graph::Crossing| Edge {
                source: place(e.source),
                event: e.event,
                label: e.label,
                target: abroad(e.print),
            };
            logs.push(log.into_iter().map(here).collect());
        }
        let forward = Csr::new(prints.len(), &logs);
        drop(logs);
        let initial = marks.iter().zip(0..).filter(|(marks, _)| **marks & INITIAL != 0);
        let initial = initial.map(|(_, node)| NodeId(node)).collect();
        Ok(Some(Piece {
            graph: Graph::part(forward, (initial, log.all_initial), (shared.words, ids, shared.visited)),
            own,
            foreign,
            shown,
            prints,
            words: shared.words,
            peers: peers.clone(),
            meter: shared.meter.clone(),
            most: *gather,
        }))
    }

    /// The machines that have the other pieces.
    pub fn peers(&self) -> &dyn Peers {
        &*self.peers
    }

    /// Gathers the states of all machines that `keeps` names, with all their transitions, on the first one. All machines call
    /// this at the same point.
    pub fn gather<S: System>(&self, system: &S, keeps: impl Fn(u32) -> bool) -> Result<Rest, Broken> {
        let kept: Vec<u32> = (0..self.own).filter(|node| keeps(*node)).collect();
        let row = |node: u32| self.graph.forward.row(NodeId(node));
        let edges = kept.iter().map(|node| row(*node).len()).sum();
        let room = Room { meter: &self.meter, most: self.most };
        let claimed = match room.ask(self.peers(), self.words, (kept.len(), edges))? {
            Ok(claimed) => claimed,
            Err(size) => return Ok(Rest::TooLarge(size)),
        };
        let initial = &self.graph.initial;
        let read = |at: usize, state: &mut [u64]| {
            let node = NodeId(kept[at]);
            assert!(self.graph.read_state(node, state), "a graph needs states");
            let first = if initial.binary_search(&node).is_ok() { INITIAL } else { 0 };
            (self.prints[node.0 as usize], EXPANDED | first)
        };
        let mut sender = Sender { peers: self.peers(), system, words: self.words };
        let Some(mut whole) = sender.states(kept.len(), read)? else { return Ok(Rest::Unsent) };
        whole.elsewhere = true;
        let told = |(place, node): (u32, &u32)| {
            row(*node).map(move |at| {
                let (event, label, target) = self.graph.forward.edge(at);
                (place, event, label, self.prints[target.0 as usize])
            })
        };
        sender.edges(&mut whole, (0..).zip(&kept).flat_map(told))?;
        if self.peers.rank() != 0 {
            return Ok(Rest::Elsewhere);
        }
        Ok(Rest::Here(Box::new(whole.into_graph(self.graph.all_initial, false)), claimed))
    }

    /// Gives the room of a graph back that was gathered and is gone.
    pub fn give_back(&self, claimed: u64) {
        self.meter.release(claimed);
    }
}

/// Tells the owners which of their states this machine's transitions lead to, and hears the same: for each machine the states of
/// this one by their places in `own`.
fn acquaint(peers: &dyn Peers, ends: Vec<Vec<u128>>, own: &[u128]) -> Result<Vec<Vec<u32>>, Broken> {
    let bytes = |ends: Vec<u128>| ends.into_iter().flat_map(u128::to_le_bytes).collect();
    let (asked, _) = swap(peers, ends.into_iter().map(bytes).collect(), size_of::<u128>(), Vec::new())?;
    let look_up = |(machine, asked): (usize, Vec<u8>)| {
        let (prints, _) = asked.as_chunks::<16>();
        let mut prints: Vec<u128> = prints.iter().map(|print| u128::from_le_bytes(*print)).collect();
        prints.sort_unstable();
        let place = |print: &u128| own.binary_search(print).ok().map(|at| at as u32);
        let places: Option<Vec<u32>> = prints.iter().map(place).collect();
        places.ok_or_else(|| Broken::Wrong(format!("machine {machine} knows a state that is not here")))
    };
    asked.into_iter().enumerate().map(look_up).collect()
}

/// For each machine what it sent here, or what it said.
type Letters = Vec<Vec<u8>>;

/// Sends each machine a list of records of so many bytes each, and says something to all: what all sent here, and what
/// all said. Records of one machine may arrive in another order. All machines call this at the same point.
pub fn swap(
    peers: &dyn Peers,
    letters: Letters,
    record: usize,
    said: Vec<u8>,
) -> Result<(Letters, Letters), Broken> {
    let from = peers.rank();
    let mut taken: Letters = vec![Vec::new(); letters.len()];
    let mut take = |packet: Packet| {
        let records = unpack(&packet.bytes).map(|(_, _, records)| records);
        let records = records.filter(|records| records.len().is_multiple_of(record));
        match records.zip(taken.get_mut(packet.from)) {
            Some((records, taken)) => {
                taken.extend_from_slice(records);
                Ok(())
            }
            None => Err(Broken::Wrong(format!("a letter from machine {} cannot be read", packet.from))),
        }
    };
    let size = (PACKET / record).max(1) * record;
    for (to, letter) in letters.into_iter().enumerate() {
        for part in letter.chunks(size) {
            let mut packet = Packet { from, bytes: pack(&mut Glossary::default(), &mut part.to_vec()) };
            while let Err(back) = peers.offer(to, packet) {
                packet = back;
                if peers.lost().is_some() {
                    return Err(Broken::Lost);
                }
                match peers.arrived() {
                    Some(arrived) => take(arrived)?,
                    None => peers.rest(),
                }
            }
        }
    }
    peers.end_round();
    loop {
        match peers.arrived() {
            Some(arrived) => take(arrived)?,
            None if peers.is_round_over() => break,
            None => peers.rest(),
        }
    }
    let heard = peers.agree(said).map_err(|_| Broken::Lost)?;
    Ok((taken, heard))
}
