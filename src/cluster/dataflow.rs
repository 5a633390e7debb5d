//! The dataflow that connects the machines of a search: letters travel at timestamps, and the progress of time tells
//! when a round is over.
//!
//! In: connected sockets, and items of a queue: letters, and steps of time. Out: letters of other machines, and the time up to which
//! everybody has sent everything.
//! Never here: what a letter means for the search (`post`), who may connect (`handshake`).
//!
//! Packets of round r travel at time 2r and moments after it, what machines say at its end at time 2r + 1. Timely dataflow has no notion of a
//! machine that goes away: its threads panic when a socket fails, or hang. So it never sees a socket fail: `Wire` notes
//! the failure, keeps the reading thread asleep and swallows what is written, and the search ends for another reason.

use super::post::Post;
use parking_lot::Mutex;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::zero_copy::stream::Stream;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::initialize::Hooks;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::InputHandle;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Exchange, Input, Probe};
use timely::execute::execute_from;
use timely::worker::Worker;

/// What a letter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// States.
    Packet,
    /// A packet was taken.
    Taken,
    /// What a machine says at the end of a round.
    Said,
    /// The search should end.
    CallOff,
    /// The machine leaves because the search is over.
    Goodbye,
}

/// What travels between machines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Letter {
    pub to: u32,
    pub from: u32,
    pub kind: Kind,
    pub round: u64,
    pub content: Bytes,
}

/// Bytes that are copied as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Whole)
    }
}

/// What the dataflow is asked to do, in this order.
#[derive(Debug)]
pub enum Item {
    Send(Letter),
    /// Nothing is sent before this time any more.
    Advance(u64),
}

/// Which connections failed.
#[derive(Debug, Default)]
pub struct Fate {
    /// The machines at their other ends, and why.
    pub failed: Mutex<Vec<(usize, String)>>,
}

impl Fate {
    /// A machine that is gone without a goodbye, and why that is believed.
    fn gone(&self, post: &Post) -> Option<(usize, String)> {
        self.failed.lock().iter().find(|(rank, _)| !post.has_left(*rank)).cloned()
    }
}

/// A connection that never fails as far as timely can see.
pub struct Wire {
    stream: TcpStream,
    rank: usize,
    fate: Arc<Fate>,
}

impl Wire {
    pub fn new(stream: TcpStream, rank: usize, fate: &Arc<Fate>) -> Wire {
        Wire { stream, rank, fate: fate.clone() }
    }

    fn fail(&self, why: String) {
        self.fate.failed.lock().push((self.rank, why));
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let why = loop {
            match self.stream.read(buffer) {
                Ok(0) => break "it closed the connection".to_string(),
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => break e.to_string(),
            }
        };
        self.fail(why);
        // The thread of timely that reads would panic at the end of a stream; it ends with the process instead.
        loop {
            std::thread::park();
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Ok(n) if n > 0 => Ok(n),
            Ok(_) => Ok(bytes.len()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => {
                self.fail(e.to_string());
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        Ok(Wire::new(self.stream.try_clone()?, self.rank, &self.fate))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let _ = self.stream.shutdown(how);
        Ok(())
    }
}

/// Bits below the times of rounds, for moments within a round.
const TICKS: u32 = 32;

/// How long the dataflow sleeps when nothing happens. Whoever puts an item wakes it.
const IDLE: Duration = Duration::from_millis(20);

/// Steps of the dataflow after which a letter that arrived before its connection ended has been handed out.
const SETTLED: u32 = 32;

/// How long the last letters may take from the dataflow to the socket.
const MOMENT: Duration = Duration::from_millis(50);

/// How long a machine that leaves waits until its last letters are sent.
const FAREWELL: Duration = Duration::from_secs(5);

/// Runs the dataflow until the search is over or a machine is lost. For a thread of its own, which waits while timely's thread works.
/// False if the dataflow broke down.
pub fn run(post: &Arc<Post>, rank: usize, sockets: Vec<Option<TcpStream>>) -> Result<bool, String> {
    let fate = Arc::new(Fate::default());
    let wires: Vec<Option<Wire>> = sockets
        .into_iter()
        .enumerate()
        .map(|(rank, socket)| socket.map(|socket| Wire::new(socket, rank, &fate)))
        .collect();
    let hooks = Hooks::default();
    let process = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), hooks.spill.clone());
    let (builders, guard) = initialize_networking_from_sockets(process, wires, rank, 1, hooks)
        .map_err(|e| format!("the connections cannot be used: {e}"))?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    let (done, over) = mpsc::channel();
    let post = post.clone();
    let guards = execute_from(builders, Box::new(guard), WorkerConfig::default(), move |worker| {
        post.is_carried_by(std::thread::current());
        carry(worker, &post, &fate);
        let _ = done.send(());
        // With a machine gone the dataflow never ends; the thread ends with the process.
        while worker.has_dataflows() {
            std::thread::park();
        }
    })?;
    let ended = over.recv().is_ok();
    // Its threads end by themselves, or with the process; joining them would wait for machines that are gone.
    std::mem::forget(guards);
    Ok(ended)
}

/// Carries letters until the search is over or a machine is lost.
fn carry(worker: &mut Worker, post: &Arc<Post>, fate: &Fate) {
    let mut input: InputHandle<u64, CapacityContainerBuilder<Vec<Letter>>> = InputHandle::new_with_builder();
    let receiver = post.clone();
    let probe = worker.dataflow(|scope| {
        scope
            .input_from(&mut input)
            .exchange(|letter: &Letter| u64::from(letter.to))
            .unary::<CapacityContainerBuilder<Vec<Letter>>, _, _, _>(Pipeline, "take", move |_, _| {
                move |input, _output| {
                    input.for_each(|_, letters: &mut Vec<Letter>| {
                        letters.drain(..).for_each(|letter| receiver.deliver(letter));
                    });
                }
            })
            .probe()
            .0
    });
    let mut settling = 0;
    loop {
        let (items, leaves) = post.outgoing();
        let idle = items.is_empty();
        for item in items {
            match item {
                Item::Send(letter) => input.send(letter),
                Item::Advance(time) => input.advance_to(time << TICKS),
            }
        }
        if !idle {
            // Letters wait inside the exchange until time moves on, however little.
            input.advance_to(input.time() + 1);
        }
        if leaves && idle {
            break;
        }
        if idle {
            worker.step_or_park(Some(IDLE));
        } else {
            worker.step();
        }
        post.reached(|time| !probe.less_than(&(time << TICKS)));
        match fate.gone(post) {
            None => settling = 0,
            // What arrived before the connection ended is handed out first; a goodbye may be among it.
            Some(_) if settling < SETTLED => settling += 1,
            Some((rank, why)) => {
                post.lose(rank, why);
                break;
            }
        }
    }
    if post.is_lost() {
        // Closing the input would let the dataflow wait for the machine that is gone.
        std::mem::forget(input);
        return;
    }
    input.close();
    let until = Instant::now() + FAREWELL;
    while worker.has_dataflows() && Instant::now() < until && fate.gone(post).is_none() {
        worker.step_or_park(Some(IDLE));
    }
    // The threads that send have a moment for what is left, before the process may end.
    std::thread::sleep(MOMENT);
}
