//! The graph of a search on several machines, gathered on the first of them.
//!
//! In: what each machine logged, and the states that it owns. Out: on the first machine the graph that a search on one
//! machine would have frozen, with the same numbers for the same states; or its size, where it does not fit there.
//! Never here: formulas, the search itself.
//!
//! Nodes are numbered by the fingerprints of their states, as on one machine. First all states travel to the first machine,
//! each machine's in ascending order, then all edges: the source by its place in that order, the target by its fingerprint.
//! A source whose target nobody has, because the search was ended, counts as not expanded.

use super::exchange::{pack, put_words, take_words, unpack};
use super::peers::{PACKET, Packet, Peers};
use super::together::Together;
use super::{InternalError, Reason, Shared};
use bombus_base::hash::HashMap;
use bombus_graph::{Csr, Edge, Graph, Log, NodeId};
use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_system::{EventId, Glossary, System};
use rayon::prelude::*;

/// What a graph takes that is too large for one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    pub states: u64,
    pub transitions: u64,
    pub bytes: u64,
}

/// What became of the graph.
pub(super) enum Gathered {
    Here(Box<Graph>),
    /// The first machine has it.
    Elsewhere,
    TooLarge(TooLarge, Own),
    /// A machine was lost on the way.
    Lost,
}

/// Bytes of an edge on its way: source, event, label, target.
const EDGE: usize = 4 + 4 + 8 + 16;

/// What is known of a state beside its words, as bits of a byte.
pub(super) const INITIAL: u8 = 1;
pub(super) const EXPANDED: u8 = 2;

/// The states of this machine in the order of their fingerprints.
pub(super) struct Own {
    pub order: Vec<(u128, u32)>,
    /// The place of each id in the order.
    pub place: Vec<u32>,
    pub marks: Vec<u8>,
}

/// Why a round came to nothing.
#[derive(Debug)]
pub enum Broken {
    /// A machine was lost.
    Lost,
    /// What arrived cannot be.
    Wrong(String),
}

/// Gathers the graph on the first machine. All machines call this at the same point of a search that is over.
pub(super) fn gather<S: System>(
    shared: &mut Shared<'_, S>,
    log: &Log,
    all_initial: bool,
) -> Result<Gathered, InternalError> {
    let Some(together) = &shared.together else { return Ok(Gathered::Elsewhere) };
    if together.is_lost() {
        return Ok(Gathered::Lost);
    }
    let ids = shared.visited.ids();
    let own = Own::new(shared, ids, log);
    match send_graph(shared, together, own, log, all_initial) {
        Ok(gathered) => Ok(gathered),
        Err(Broken::Lost) => Ok(Gathered::Lost),
        Err(Broken::Wrong(what)) => Err(InternalError(what)),
    }
}

/// How much may be gathered on this machine.
pub(super) struct Room<'a> {
    pub meter: &'a Meter,
    /// What the user allows, if anything is said.
    pub most: Option<u64>,
}

impl Room<'_> {
    /// Claims the bytes of a graph on the first machine, of which this machine has so many states and transitions; or what it would
    /// take, if there is not so much room for it.
    pub fn ask(
        &self,
        peers: &dyn Peers,
        words: usize,
        own: (usize, usize),
    ) -> Result<Result<u64, TooLarge>, Broken> {
        let said = [own.0 as u64, own.1 as u64].map(u64::to_le_bytes).concat();
        let heard = peers.agree(said).map_err(|_| Broken::Lost)?;
        let (mut states, mut transitions) = (0u64, 0u64);
        for said in &heard {
            let mut halves = said
                .chunks_exact(8)
                .map(|half| half.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)));
            states += halves.next().unwrap_or(0);
            transitions += halves.next().unwrap_or(0);
        }
        // State, fingerprint, place and mark of each node; each edge as it is logged and in its row.
        let node = words * 8 + 16 + 16 + 4 + 4 + 1;
        let bytes = states * node as u64 + transitions * (size_of::<Edge>() + 16) as u64;
        let allowed = states < u64::from(u32::MAX) && self.most.is_none_or(|most| bytes <= most);
        let fits = peers.rank() == 0 && allowed && self.meter.claim(bytes).is_ok();
        let heard = peers.agree(vec![fits.into()]).map_err(|_| Broken::Lost)?;
        let fits = heard[0] == [1];
        Ok(if fits { Ok(bytes) } else { Err(TooLarge { states, transitions, bytes }) })
    }
}

fn send_graph<S: System>(
    shared: &Shared<'_, S>,
    together: &Together<'_>,
    own: Own,
    log: &Log,
    all_initial: bool,
) -> Result<Gathered, Broken> {
    let count = |logs: &mut dyn Iterator<Item = usize>| logs.sum::<usize>();
    let edges = count(&mut log.edges.iter().map(Vec::len)) + count(&mut log.crossing.iter().map(Vec::len));
    let room = Room { meter: &shared.meter, most: shared.options.gather };
    if let Err(size) = room.ask(together.peers, shared.words, (own.order.len(), edges))? {
        return Ok(Gathered::TooLarge(size, own));
    }
    let mut representatives: HashMap<u32, &[u64]> = HashMap::default();
    for part in &log.representatives {
        let states = part.words.chunks_exact(shared.words.max(1));
        representatives.extend(part.prints.iter().map(|(id, _)| *id).zip(states));
    }
    let orbits = shared.system.orbits().is_some();
    let read = |at: usize, state: &mut [u64]| {
        let (print, id) = own.order[at];
        match representatives.get(&id) {
            Some(words) => state.copy_from_slice(words),
            None => assert!(!orbits && shared.visited.state(id, state), "a graph needs states"),
        }
        (print, own.marks[at])
    };
    let mut sender = Sender { peers: together.peers, system: shared.system, words: shared.words };
    let Some(mut whole) = sender.states(own.order.len(), read)? else {
        shared.ledger.enter_once(Reason::Unsent);
        return Ok(Gathered::Elsewhere);
    };
    let place = |id: u32| own.place[id as usize];
    let print = |id: u32| own.order[place(id) as usize].0;
    let within = log.edges.iter().flatten().map(|e| (place(e.source), e.event, e.label, print(e.target)));
    let crossing = log.crossing.iter().flatten().map(|e| (place(e.source), e.event, e.label, e.print));
    sender.edges(&mut whole, within.chain(crossing))?;
    if !together.is_first() {
        return Ok(Gathered::Elsewhere);
    }
    Ok(Gathered::Here(Box::new(whole.into_graph(all_initial, orbits))))
}

impl Own {
    fn new<S: System>(shared: &Shared<'_, S>, ids: Vec<u32>, log: &Log) -> Own {
        let prints_of_orbits: HashMap<u32, u128> =
            log.representatives.iter().flat_map(|part| part.prints.iter().copied()).collect();
        let orbits = shared.system.orbits().is_some();
        let mut order: Vec<(u128, u32)> = ids
            .into_par_iter()
            .with_min_len(1024)
            .map_init(
                || (shared.system.worker(), vec![0; shared.words]),
                |(scratch, state), id| {
                    if orbits {
                        return (prints_of_orbits[&id], id);
                    }
                    assert!(shared.visited.state(id, state), "a graph needs states");
                    let meant = shared.system.fingerprint(scratch, state);
                    (meant.unwrap_or_else(|| hash::words(state)), id)
                },
            )
            .collect();
        order.par_sort_unstable();
        let mut place = vec![u32::MAX; shared.visited.bound() as usize];
        order.iter().zip(0..).for_each(|((_, id), at)| place[*id as usize] = at);
        let mut marks = vec![0; order.len()];
        log.initial.iter().for_each(|id| marks[place[*id as usize] as usize] |= INITIAL);
        log.expanded.iter().flatten().for_each(|id| marks[place[*id as usize] as usize] |= EXPANDED);
        Own { order, place, marks }
    }
}

/// A round in which machines send to the first one.
struct Round<'a> {
    peers: &'a dyn Peers,
    /// Takes what a machine sent; `None` if it makes no sense.
    take: &'a mut dyn FnMut(usize, &[u8]) -> Option<()>,
}

impl Round<'_> {
    fn send(&mut self, bytes: Vec<u8>) -> Result<(), Broken> {
        let from = self.peers.rank();
        if from == 0 {
            return self.open(from, &bytes);
        }
        let mut packet = Packet { from, bytes };
        while let Err(back) = self.peers.offer(0, packet) {
            packet = back;
            if self.peers.lost().is_some() {
                return Err(Broken::Lost);
            }
            self.peers.rest();
        }
        Ok(())
    }

    fn open(&mut self, from: usize, bytes: &[u8]) -> Result<(), Broken> {
        (self.take)(from, bytes)
            .ok_or_else(|| Broken::Wrong(format!("a part of the graph from machine {from} cannot be read")))
    }

    /// Takes what the others send until all have sent everything, and says something to all.
    fn end(mut self, said: Vec<u8>) -> Result<Vec<Vec<u8>>, Broken> {
        self.peers.end_round();
        loop {
            match self.peers.arrived() {
                Some(packet) => self.open(packet.from, &packet.bytes)?,
                None if self.peers.is_round_over() => break,
                None => self.peers.rest(),
            }
        }
        self.peers.agree(said).map_err(|_| Broken::Lost)
    }
}

/// What sends a graph to the first machine: all states first, then all edges.
pub(super) struct Sender<'a, S> {
    pub peers: &'a dyn Peers,
    pub system: &'a S,
    pub words: usize,
}

impl<S: System> Sender<'_, S> {
    /// Sends the states of this machine in the order of their fingerprints: `read` writes the words of one of them, and says its
    /// fingerprint and its marks. `None` if some machine has a state that cannot be told by bytes.
    pub fn states(
        &mut self,
        count: usize,
        read: impl Fn(usize, &mut [u64]) -> (u128, u8),
    ) -> Result<Option<Whole>, Broken> {
        let machines = self.peers.owners().len();
        let mut nodes = Nodes { words: self.words, parts: (0..machines).map(|_| Part::default()).collect() };
        let mut round =
            Round { peers: self.peers, take: &mut |from, bytes| nodes.take(self.system, from, bytes) };
        let (mut glossary, mut bytes, mut state) = (Glossary::default(), Vec::new(), vec![0; self.words]);
        let mut told = true;
        for at in 0..count {
            let (print, marks) = read(at, &mut state);
            bytes.extend_from_slice(&print.to_le_bytes());
            bytes.push(marks);
            told &= self.system.export(&mut state, &mut glossary);
            if !told {
                break;
            }
            put_words(&mut bytes, &state);
            if bytes.len() + glossary.bytes().len() >= PACKET {
                round.send(pack(&mut glossary, &mut bytes))?;
            }
        }
        if told && !bytes.is_empty() {
            round.send(pack(&mut glossary, &mut bytes))?;
        }
        let heard = round.end(vec![told.into()])?;
        if heard.iter().any(|said| *said != [1]) {
            return Ok(None);
        }
        nodes.sorted().map(Some)
    }

    /// Sends edges: the place of the source among the states that were sent, and the fingerprint of the target.
    pub fn edges(
        &mut self,
        whole: &mut Whole,
        edges: impl Iterator<Item = (u32, EventId, u64, u128)>,
    ) -> Result<(), Broken> {
        let mut round = Round { peers: self.peers, take: &mut |from, bytes| whole.take(from, bytes) };
        let (mut glossary, mut bytes) = (Glossary::default(), Vec::new());
        for (source, event, label, print) in edges {
            bytes.extend_from_slice(&source.to_le_bytes());
            bytes.extend_from_slice(&event.0.to_le_bytes());
            bytes.extend_from_slice(&label.to_le_bytes());
            bytes.extend_from_slice(&print.to_le_bytes());
            if bytes.len() >= PACKET {
                round.send(pack(&mut glossary, &mut bytes))?;
            }
        }
        if !bytes.is_empty() {
            round.send(pack(&mut glossary, &mut bytes))?;
        }
        round.end(Vec::new()).map(|_| ())
    }
}

/// The states that arrived, of each machine in the order in which it sent them.
struct Nodes {
    words: usize,
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    prints: Vec<u128>,
    marks: Vec<u8>,
    states: Vec<u64>,
}

impl Nodes {
    fn take<S: System>(&mut self, system: &S, from: usize, bytes: &[u8]) -> Option<()> {
        let (count, mut glossary, records) = unpack(bytes)?;
        if count > glossary.len() {
            return None;
        }
        let values: Vec<u32> = (0..count).map(|_| system.learn(&mut glossary)).collect::<Option<_>>()?;
        let size = 16 + 1 + self.words * 8;
        if !glossary.is_empty() || !records.len().is_multiple_of(size) {
            return None;
        }
        let part = self.parts.get_mut(from)?;
        let mut state = vec![0; self.words];
        for record in records.chunks_exact(size) {
            let (print, rest) = record.split_first_chunk::<16>()?;
            let (marks, words) = rest.split_first()?;
            take_words(words, &mut state)?;
            if !system.import(&mut state, &values) {
                return None;
            }
            part.prints.push(u128::from_le_bytes(*print));
            part.marks.push(*marks);
            part.states.extend_from_slice(&state);
        }
        Some(())
    }

    /// All nodes in the order of their fingerprints.
    fn sorted(self) -> Result<Whole, Broken> {
        let mut order: Vec<(u128, u32, u32)> = Vec::new();
        for (machine, part) in self.parts.iter().enumerate() {
            order.extend(part.prints.iter().zip(0..).map(|(print, at)| (*print, machine as u32, at)));
        }
        order.par_sort_unstable();
        if order.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(Broken::Wrong("two states of the graph have one fingerprint".into()));
        }
        let mut node_of: Vec<Vec<u32>> = self.parts.iter().map(|part| vec![0; part.prints.len()]).collect();
        let mut whole = Whole {
            words: self.words,
            prints: Vec::with_capacity(order.len()),
            marks: Vec::with_capacity(order.len()),
            states: Vec::with_capacity(order.len() * self.words),
            node_of: Vec::new(),
            edges: Vec::new(),
            elsewhere: false,
        };
        for (node, (print, machine, at)) in order.iter().enumerate() {
            let part = &self.parts[*machine as usize];
            node_of[*machine as usize][*at as usize] = node as u32;
            whole.prints.push(*print);
            whole.marks.push(part.marks[*at as usize]);
            whole.states.extend_from_slice(&part.states[*at as usize * self.words..][..self.words]);
        }
        whole.node_of = node_of;
        Ok(whole)
    }
}

/// The graph, as far as it has arrived.
pub(super) struct Whole {
    words: usize,
    /// Ascending.
    prints: Vec<u128>,
    marks: Vec<u8>,
    states: Vec<u64>,
    /// The node of each state of each machine.
    node_of: Vec<Vec<u32>>,
    edges: Vec<Edge>,
    /// Whether states were left out on purpose: one more node then stands for all of them. Otherwise the source of an edge to a
    /// state that nobody has counts as not expanded.
    pub elsewhere: bool,
}

impl Whole {
    fn take(&mut self, from: usize, bytes: &[u8]) -> Option<()> {
        let (_, _, records) = unpack(bytes)?;
        if !records.len().is_multiple_of(EDGE) {
            return None;
        }
        for record in records.chunks_exact(EDGE) {
            let (source, rest) = record.split_first_chunk::<4>()?;
            let (event, rest) = rest.split_first_chunk::<4>()?;
            let (label, print) = rest.split_first_chunk::<8>()?;
            let source = *self.node_of.get(from)?.get(u32::from_le_bytes(*source) as usize)?;
            let print = u128::from_le_bytes(print.try_into().ok()?);
            let event = EventId(u32::from_le_bytes(*event));
            let label = u64::from_le_bytes(*label);
            match self.prints.binary_search(&print) {
                Ok(target) => self.edges.push(Edge { source, event, label, target: target as u32 }),
                Err(_) if self.elsewhere => {
                    self.edges.push(Edge { source, event, label, target: self.prints.len() as u32 });
                }
                Err(_) => self.marks[source as usize] &= !EXPANDED,
            }
        }
        Some(())
    }

    pub fn into_graph(self, all_initial: bool, orbits: bool) -> Graph {
        let marked = |mark: u8, wanted: bool| -> Vec<NodeId> {
            let nodes = self.marks.iter().zip(0..).filter(|(marks, _)| (**marks & mark != 0) == wanted);
            nodes.map(|(_, node)| NodeId(node)).collect()
        };
        let (initial, mut open) = (marked(INITIAL, true), marked(EXPANDED, false));
        let told = self.prints.len();
        open.extend(self.elsewhere.then_some(NodeId(told as u32)));
        let forward = Csr::new(told + usize::from(self.elsewhere), &[self.edges]);
        Graph::assembled(forward, (initial, all_initial), open, (self.words, told, self.states), orbits)
    }
}
