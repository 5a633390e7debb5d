//! Who may take part: every connection is proved on both sides before a byte of it means anything.
//!
//! In: the list of machines, this machine's rank, a secret, the hash of the run. Out: one socket for each other machine, or why there is
//! none.
//! Never here: what travels afterwards.
//!
//! A machine listens on the address in its own line, calls those of smaller rank and is called by those of greater rank. Caller and
//! listener each choose 32 random bytes, and each proves that it knows the secret by an HMAC-SHA256 over its role, both
//! random values, both ranks, the number of machines and the hash of the run; the roles make an echo of the other side's proof
//! worthless, the random values a replay. Whoever fails is sent away and does no harm: strangers are dealt with on threads of their own,
//! few at a time and not for long. The port is closed as soon as everybody is there.

use super::hosts::Host;
use hmac::{Hmac, Mac};
use parking_lot::Mutex;
use sha2::Sha256;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Begins every connection; changes with the protocol.
const MAGIC: [u8; 8] = *b"bombus-1";

/// How long a caller may take to prove itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// Callers that are heard at once.
const CALLERS: usize = 64;

/// How long to wait before a machine that does not answer yet is called again, or the port is looked at again.
const AGAIN: Duration = Duration::from_millis(20);

/// What a machine must know to take part.
#[derive(Clone)]
pub struct Ticket {
    pub rank: usize,
    pub machines: usize,
    pub secret: Vec<u8>,
    /// The model, the options, the version: all that must be the same everywhere.
    pub run: [u8; 32],
}

/// Why a machine does not take part.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// Nothing will change by trying again: wrong secret, another run, an address that cannot be used.
    Wrong(String),
    /// Somebody did not come in time.
    Late(String),
}

/// The bytes that a proof speaks for.
fn claim(ticket: &Ticket, role: u8, listener: usize, caller: usize, nonces: [&[u8; 32]; 2]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.push(role);
    for n in [listener, caller, ticket.machines] {
        bytes.extend_from_slice(&(n as u32).to_le_bytes());
    }
    nonces.iter().for_each(|nonce| bytes.extend_from_slice(*nonce));
    bytes.extend_from_slice(&ticket.run);
    bytes
}

const LISTENER: u8 = 1;
const CALLER: u8 = 2;

fn proof(secret: &[u8], claim: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    mac.update(claim);
    mac
}

fn nonce() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(bytes)
}

fn take<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// What a listener answers.
const WELCOME: u8 = 1;
const ANOTHER_RUN: u8 = 2;
const WRONG_SECRET: u8 = 3;

/// The listener's side: the rank of the caller, if it may take part.
fn hear(ticket: &Ticket, stream: &mut TcpStream) -> io::Result<Option<usize>> {
    let magic: [u8; 8] = take(stream)?;
    let caller = u32::from_le_bytes(take(stream)?) as usize;
    let machines = u32::from_le_bytes(take(stream)?) as usize;
    let run: [u8; 32] = take(stream)?;
    let theirs: [u8; 32] = take(stream)?;
    if magic != MAGIC || caller <= ticket.rank || caller >= ticket.machines.max(machines) {
        return Ok(None);
    }
    let same = run == ticket.run && machines == ticket.machines;
    stream.write_all(&[if same { WELCOME } else { ANOTHER_RUN }])?;
    if !same {
        return Ok(None);
    }
    let mine = nonce()?;
    let nonces = [&theirs, &mine];
    stream.write_all(&mine)?;
    let proved = proof(&ticket.secret, &claim(ticket, LISTENER, ticket.rank, caller, nonces));
    stream.write_all(&proved.finalize().into_bytes())?;
    let answer: [u8; 32] = take(stream)?;
    let expected = proof(&ticket.secret, &claim(ticket, CALLER, ticket.rank, caller, nonces));
    let right = expected.verify_slice(&answer).is_ok();
    stream.write_all(&[if right { WELCOME } else { WRONG_SECRET }])?;
    Ok(right.then_some(caller))
}

/// The caller's side.
fn call(ticket: &Ticket, listener: usize, stream: &mut TcpStream) -> Result<(), CallFailed> {
    let mine = nonce()?;
    let mut hello = MAGIC.to_vec();
    hello.extend_from_slice(&(ticket.rank as u32).to_le_bytes());
    hello.extend_from_slice(&(ticket.machines as u32).to_le_bytes());
    hello.extend_from_slice(&ticket.run);
    hello.extend_from_slice(&mine);
    stream.write_all(&hello)?;
    let refused = |why: &str| Err(CallFailed::Refused(why.into()));
    if take::<1>(stream)?[0] != WELCOME {
        return refused("it has another model, other options, another version or another list of machines");
    }
    let theirs: [u8; 32] = take(stream)?;
    let nonces = [&mine, &theirs];
    let answer: [u8; 32] = take(stream)?;
    let expected = proof(&ticket.secret, &claim(ticket, LISTENER, listener, ticket.rank, nonces));
    if expected.verify_slice(&answer).is_err() {
        return refused("it has another secret");
    }
    let proved = proof(&ticket.secret, &claim(ticket, CALLER, listener, ticket.rank, nonces));
    stream.write_all(&proved.finalize().into_bytes())?;
    if take::<1>(stream)?[0] != WELCOME {
        return refused("it has another secret");
    }
    Ok(())
}

#[derive(Debug)]
enum CallFailed {
    Refused(String),
    Io(io::Error),
}

impl From<io::Error> for CallFailed {
    fn from(error: io::Error) -> CallFailed {
        CallFailed::Io(error)
    }
}

/// The addresses of a line of the list.
pub fn resolve(address: &str) -> io::Result<Vec<SocketAddr>> {
    Ok(address.to_socket_addrs()?.collect())
}

/// Whether a machine can be reached by nobody but this one.
pub fn is_loopback(address: &str) -> bool {
    resolve(address).is_ok_and(|all| !all.is_empty() && all.iter().all(|a| a.ip().is_loopback()))
}

/// Connects to all other machines.
pub fn connect(
    hosts: &[Host],
    ticket: &Ticket,
    timeout: Duration,
) -> Result<Vec<Option<TcpStream>>, Refused> {
    // Who is alone has nobody to listen to.
    if hosts.len() == 1 {
        return Ok(vec![None]);
    }
    let until = Instant::now() + timeout;
    let mine = &hosts[ticket.rank].address;
    let listener = listen(mine, until)?;
    let seats: Arc<Mutex<Vec<Option<TcpStream>>>> =
        Arc::new(Mutex::new(hosts.iter().map(|_| None).collect()));
    let wrong: Mutex<Option<Refused>> = Mutex::default();
    std::thread::scope(|scope| {
        for (rank, host) in hosts.iter().enumerate().take(ticket.rank) {
            let (seats, wrong) = (&seats, &wrong);
            scope.spawn(move || match reach(ticket, rank, host, until) {
                Ok(stream) => seats.lock()[rank] = Some(stream),
                Err(refused) => {
                    wrong.lock().get_or_insert(refused);
                }
            });
        }
        if ticket.rank + 1 < hosts.len() {
            accept(&listener, ticket, &seats, &wrong, until);
        }
    });
    drop(listener);
    if let Some(refused) = wrong.into_inner() {
        return Err(refused);
    }
    let seats = std::mem::take(&mut *seats.lock());
    let missing: Vec<&str> = seats
        .iter()
        .zip(hosts)
        .enumerate()
        .filter(|(rank, (seat, _))| seat.is_none() && *rank != ticket.rank)
        .map(|(_, (_, host))| host.address.as_str())
        .collect();
    if missing.is_empty() {
        return Ok(seats);
    }
    Err(Refused::Late(format!("within {} s there was nothing of {}", timeout.as_secs(), missing.join(", "))))
}

/// Opens the port. One that another process has just given back may not be free at once.
fn listen(address: &str, until: Instant) -> Result<TcpListener, Refused> {
    let resolved = resolve(address).map_err(|e| Refused::Wrong(format!("{address}: {e}")))?;
    loop {
        let listener = TcpListener::bind(&resolved[..]).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        match listener {
            Ok(listener) => return Ok(listener),
            Err(e) if e.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                std::thread::sleep(AGAIN * 10);
            }
            Err(e) => return Err(Refused::Wrong(format!("cannot listen on {address}: {e}"))),
        }
    }
}

/// Takes callers until all machines of greater rank are there.
fn accept(
    listener: &TcpListener,
    ticket: &Ticket,
    seats: &Arc<Mutex<Vec<Option<TcpStream>>>>,
    wrong: &Mutex<Option<Refused>>,
    until: Instant,
) {
    let heard = Arc::new(AtomicUsize::new(0));
    let complete = || seats.lock()[ticket.rank + 1..].iter().all(Option::is_some);
    while !complete() && Instant::now() < until && wrong.lock().is_none() {
        match listener.accept() {
            // Those beyond the number are sent away; a machine of the cluster calls again.
            Ok(_) if heard.load(Ordering::Relaxed) >= CALLERS => {}
            Ok((mut stream, _)) => {
                heard.fetch_add(1, Ordering::Relaxed);
                let (ticket, seats, heard) = (ticket.clone(), seats.clone(), heard.clone());
                // Nobody waits for a stranger who says nothing: the thread ends by itself.
                std::thread::spawn(move || {
                    let caller = prepare(&stream).and_then(|()| hear(&ticket, &mut stream));
                    if let Ok(Some(caller)) = caller {
                        let mut seats = seats.lock();
                        // Two processes of one rank: the first one stays.
                        if let Some(seat) = seats.get_mut(caller)
                            && seat.is_none()
                        {
                            *seat = Some(stream);
                        }
                    }
                    heard.fetch_sub(1, Ordering::Relaxed);
                });
            }
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Calls a machine until it answers.
fn reach(ticket: &Ticket, rank: usize, host: &Host, until: Instant) -> Result<TcpStream, Refused> {
    let mut last = String::from("it does not answer");
    while Instant::now() < until {
        let stream = resolve(&host.address).and_then(|all| TcpStream::connect(&all[..]));
        let answered = stream.map_err(CallFailed::Io).and_then(|mut stream| {
            prepare(&stream)?;
            call(ticket, rank, &mut stream)?;
            Ok(stream)
        });
        match answered {
            Ok(stream) => return Ok(stream),
            Err(CallFailed::Refused(why)) => {
                return Err(Refused::Wrong(format!("{} refuses: {why}", host.address)));
            }
            Err(CallFailed::Io(e)) => last = e.to_string(),
        }
        std::thread::sleep(AGAIN);
    }
    Err(Refused::Late(format!("{}: {last}", host.address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(rank: usize) -> Ticket {
        Ticket { rank, machines: 2, secret: b"a secret of the tests".to_vec(), run: [7; 32] }
    }

    /// The two ends of a connection.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let caller = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (listening, _) = listener.accept().expect("it was called");
        (listening, caller)
    }

    /// What a caller says before and after the listener's proof.
    const HELLO: usize = 8 + 4 + 4 + 32 + 32;
    const PROOF: usize = 32;

    /// Lets machine 1 call machine 0 through somebody who listens: what the listener took it for, and the bytes of each side.
    fn overheard() -> (Option<usize>, Vec<u8>, Vec<u8>) {
        let ((mut listening, mut to_listener), (mut to_caller, mut calling)) = (pair(), pair());
        std::thread::scope(|scope| {
            let heard = scope.spawn(move || hear(&ticket(0), &mut listening).expect("nobody left"));
            let called = scope.spawn(move || call(&ticket(1), 0, &mut calling));
            let (mut from_caller, mut from_listener) = (Vec::new(), Vec::new());
            // Hello, then welcome, random value and proof, then proof, then welcome.
            for (of_caller, bytes) in [(true, HELLO), (false, 1 + 32 + PROOF), (true, PROOF), (false, 1)] {
                let mut said = vec![0; bytes];
                let (from, to, record) = match of_caller {
                    true => (&mut to_caller, &mut to_listener, &mut from_caller),
                    false => (&mut to_listener, &mut to_caller, &mut from_listener),
                };
                from.read_exact(&mut said).expect("it is said");
                to.write_all(&said).expect("somebody hears");
                record.extend(said);
            }
            assert!(called.join().expect("no panic").is_ok());
            (heard.join().expect("no panic"), from_caller, from_listener)
        })
    }

    #[test]
    fn a_handshake_that_was_overheard_lets_nobody_in_when_it_is_said_again() {
        let (heard, said, _) = overheard();
        assert_eq!(heard, Some(1), "the one who knows the secret is let in");
        let (mut listening, mut stranger) = pair();
        let heard = std::thread::scope(|scope| {
            let heard = scope.spawn(move || hear(&ticket(0), &mut listening).expect("nobody left"));
            stranger.write_all(&said).expect("it listens");
            let mut answer = Vec::new();
            stranger.read_to_end(&mut answer).expect("it answers");
            assert_eq!(answer.len(), 1 + 32 + PROOF + 1);
            assert_eq!(answer.last(), Some(&WRONG_SECRET));
            heard.join().expect("no panic")
        });
        assert_eq!(heard, None, "the listener chose another random value");
    }

    #[test]
    fn answers_that_were_overheard_make_nobody_a_listener() {
        let (_, _, answers) = overheard();
        let (mut stranger, mut calling) = pair();
        let called = std::thread::scope(|scope| {
            let called = scope.spawn(move || call(&ticket(1), 0, &mut calling));
            stranger.write_all(&answers).expect("it calls");
            called.join().expect("no panic")
        });
        assert!(matches!(called, Err(CallFailed::Refused(why)) if why.contains("another secret")));
    }

    #[test]
    fn a_proof_that_is_sent_back_to_its_maker_is_no_proof() {
        // A stranger calls and answers with the listener's own proof: the roles differ.
        let (mut listening, mut stranger) = pair();
        let heard = std::thread::scope(|scope| {
            let heard = scope.spawn(move || hear(&ticket(0), &mut listening).expect("nobody left"));
            let mut hello = MAGIC.to_vec();
            hello.extend_from_slice(&1u32.to_le_bytes());
            hello.extend_from_slice(&2u32.to_le_bytes());
            hello.extend_from_slice(&[7; 32]);
            hello.extend_from_slice(&[9; 32]);
            stranger.write_all(&hello).expect("it listens");
            let _: [u8; 33] = take(&mut stranger).expect("it answers");
            let proof: [u8; PROOF] = take(&mut stranger).expect("it answers");
            stranger.write_all(&proof).expect("it listens");
            heard.join().expect("no panic")
        });
        assert_eq!(heard, None);
    }
}
