//! Machines that are threads of one process, connected by real sockets.

use super::handshake::{Refused, Ticket};
use super::{Host, Membership, join};
use bombus_explore::peers::{Packet, Peers};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Addresses that were free a moment ago.
fn hosts(machines: usize) -> Vec<Host> {
    let open: Vec<TcpListener> =
        (0..machines).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    open.iter()
        .map(|listener| Host { address: listener.local_addr().expect("bound").to_string(), weight: 1 })
        .collect()
}

fn ticket(rank: usize, machines: usize) -> Ticket {
    Ticket { rank, machines, secret: b"a secret of the tests".to_vec(), run: [7; 32] }
}

/// Connects machines and gives each to a thread. Ports may be taken by others meanwhile: then it is tried again.
fn on_cluster<T: Send>(machines: usize, work: impl Fn(Membership) -> T + Sync) -> Vec<T> {
    for _ in 0..10 {
        let hosts = hosts(machines);
        let joined: Vec<Result<Membership, Refused>> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..machines)
                .map(|rank| {
                    let hosts = &hosts;
                    scope.spawn(move || join(hosts, &ticket(rank, machines), LIMIT))
                })
                .collect();
            all.into_iter().map(|one| one.join().expect("no panic")).collect()
        });
        let joined: Result<Vec<Membership>, Refused> = joined.into_iter().collect();
        if let Ok(joined) = joined {
            return std::thread::scope(|scope| {
                let work = &work;
                let all: Vec<_> = joined.into_iter().map(|one| scope.spawn(move || work(one))).collect();
                all.into_iter().map(|one| one.join().expect("no panic")).collect()
            });
        }
    }
    panic!("no free ports");
}

/// Ends a round and counts the bytes that arrived in it.
fn count_round(peers: &dyn Peers) -> usize {
    peers.end_round();
    let mut bytes = 0;
    while !peers.is_round_over() {
        match peers.arrived() {
            Some(packet) => bytes += packet.bytes.len(),
            None => peers.rest(),
        }
    }
    bytes
}

#[test]
fn what_is_sent_in_a_round_arrives_in_it_and_everybody_hears_everybody() {
    for machines in [1, 2, 3] {
        on_cluster(machines, |mut member| {
            let peers = member.peers();
            let me = peers.rank();
            for round in 0..20usize {
                for to in (0..machines).filter(|to| *to != me) {
                    for n in 0..round {
                        let mut packet = Packet { from: me, bytes: vec![me as u8; 1000 + n] };
                        while let Err(back) = peers.offer(to, packet) {
                            packet = back;
                            peers.rest();
                            assert!(peers.lost().is_none());
                            // A window of packets fits, so nobody waits for ever: the others take theirs below.
                            if peers.arrived().is_some() {
                                packet.bytes.push(0);
                            }
                        }
                    }
                }
                count_round(&*peers);
                let said = vec![me as u8, round as u8];
                let expected: Vec<Vec<u8>> =
                    (0..machines).map(|rank| vec![rank as u8, round as u8]).collect();
                assert_eq!(peers.agree(said).unwrap(), expected);
            }
            member.leave();
        });
    }
}

#[test]
fn a_machine_without_states_takes_part_in_every_round() {
    let arrived = on_cluster(3, |mut member| {
        let peers = member.peers();
        let mut bytes = 0;
        for round in 0..5 {
            if peers.rank() == 0 && round % 2 == 0 {
                peers.offer(1, Packet { from: 0, bytes: vec![0; 10] }).expect("nothing is under way");
            }
            bytes += count_round(&*peers);
            peers.agree(Vec::new()).unwrap();
        }
        member.leave();
        bytes
    });
    assert_eq!(arrived, [0, 30, 0]);
}

#[test]
fn a_machine_that_leaves_without_goodbye_is_lost_and_named() {
    let heard = on_cluster(3, |member| {
        let peers = member.peers();
        peers.agree(Vec::new()).unwrap();
        if peers.rank() == 1 {
            // As a process that is killed: its sockets close and it says nothing.
            member.break_off();
            return None;
        }
        let lost = peers.agree(Vec::new()).expect_err("one is gone");
        assert!(peers.is_round_over(), "nobody waits for what cannot come");
        Some(lost.rank)
    });
    assert_eq!(heard, [Some(1), None, Some(1)]);
}

#[test]
fn who_does_not_know_the_secret_or_has_another_run_is_refused() {
    let strangers: [fn(&mut Ticket); 3] = [
        |ticket| ticket.secret = b"another secret of the tests".to_vec(),
        |ticket| ticket.run[31] ^= 1,
        |ticket| ticket.machines = 3,
    ];
    for (i, spoil) in strangers.iter().enumerate() {
        let mut hosts = hosts(2);
        hosts.push(hosts[1].clone());
        let (first, second) = std::thread::scope(|scope| {
            let list = &hosts;
            let first = scope.spawn(move || join(&list[..2], &ticket(0, 2), Duration::from_secs(3)));
            let second = scope.spawn(move || {
                let mut wrong = ticket(1, 2);
                spoil(&mut wrong);
                join(&list[..wrong.machines], &wrong, Duration::from_secs(3))
            });
            (first.join().expect("no panic"), second.join().expect("no panic"))
        });
        assert!(matches!(first, Err(Refused::Late(_))), "{i}: {first:?}");
        assert!(second.is_err(), "{i}: {second:?}");
    }
}

/// A caller's side of a handshake as a stranger may have recorded it: machine 1 of another start of the same run.
fn recorded() -> Vec<u8> {
    let mut said = b"bombus-1".to_vec();
    said.extend_from_slice(&1u32.to_le_bytes());
    said.extend_from_slice(&2u32.to_le_bytes());
    said.extend_from_slice(&[7; 32]);
    said.extend_from_slice(&[5; 32 + 32]);
    said
}

#[test]
fn strangers_before_the_peers_do_no_harm() {
    for _ in 0..10 {
        let hosts = hosts(2);
        let address = hosts[0].address.clone();
        let list = &hosts;
        let joined = std::thread::scope(|scope| {
            let first = scope.spawn(move || join(list, &ticket(0, 2), LIMIT));
            let mut silent = Vec::new();
            for n in 0..20u8 {
                let Ok(mut stream) = TcpStream::connect(&address) else {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                };
                // Silence, random bytes, a beginning without an end, and what was said another time.
                let recorded = recorded();
                let bytes: &[u8] = match n % 4 {
                    0 => b"",
                    1 => &[n; 200],
                    2 => b"bombus-1\x01\x00\x00\x00",
                    _ => &recorded,
                };
                let _ = stream.write_all(bytes);
                silent.push(stream);
            }
            let second = scope.spawn(move || join(list, &ticket(1, 2), LIMIT));
            let joined = (first.join().expect("no panic"), second.join().expect("no panic"));
            for mut stream in silent {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
                let _ = stream.read(&mut [0; 16]);
            }
            joined
        });
        if let (Ok(_), Ok(_)) = joined {
            return;
        }
    }
    panic!("strangers kept the machines apart");
}
