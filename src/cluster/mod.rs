//! Several machines: real processes that share one search, connected by timely dataflow over TCP.
//!
//! In: a list of machines, this machine's rank, a secret and the hash of the run. Out: the `Peers` that the explorer asks for.
//! Never here: the search itself; it knows its peers by the trait alone. No socket is opened unless `join` is called.
#![forbid(unsafe_code)]

mod dataflow;
pub mod handshake;
pub mod hosts;
mod post;
pub mod secret;

pub use handshake::{Refused, Ticket};
pub use hosts::Host;

use bombus_explore::peers::Peers;
use post::Post;
use rustix::net::sockopt;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// This machine's place in a cluster, until it is left.
pub struct Membership {
    post: Arc<Post>,
    carrier: Option<JoinHandle<()>>,
    #[cfg(test)]
    sockets: Vec<TcpStream>,
}

impl std::fmt::Debug for Membership {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.post)
    }
}

/// Takes part: waits until all machines are connected.
pub fn join(hosts: &[Host], ticket: &Ticket, timeout: Duration) -> Result<Membership, Refused> {
    let sockets = handshake::connect(hosts, ticket, timeout)?;
    for socket in sockets.iter().flatten() {
        watch_over(socket, timeout)
            .map_err(|e| Refused::Wrong(format!("cannot set up a connection: {e}")))?;
    }
    let weights: Vec<u32> = hosts.iter().map(|host| host.weight).collect();
    let names = hosts.iter().map(|host| host.address.clone()).collect();
    #[cfg(test)]
    let kept = sockets.iter().flatten().filter_map(|socket| socket.try_clone().ok()).collect();
    let post = Arc::new(Post::new(ticket.rank, &weights, names));
    let carried = post.clone();
    let rank = ticket.rank;
    let carrier = std::thread::Builder::new()
        .name("cluster".into())
        .spawn(move || {
            let why = match dataflow::run(&carried, rank, sockets) {
                Ok(true) => return,
                Ok(false) => "the exchange of states broke down".into(),
                Err(why) => why,
            };
            carried.lose(rank, why);
        })
        .map_err(|e| Refused::Wrong(format!("no thread for the exchange of states: {e}")))?;
    Ok(Membership {
        post,
        carrier: Some(carrier),
        #[cfg(test)]
        sockets: kept,
    })
}

/// A machine that is gone, or behind a cable that is cut, is noticed within the time-out.
fn watch_over(socket: &TcpStream, timeout: Duration) -> std::io::Result<()> {
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(None)?;
    let probe = (timeout / 4).max(Duration::from_secs(1));
    sockopt::set_socket_keepalive(socket, true)?;
    #[cfg(target_os = "linux")]
    {
        sockopt::set_tcp_keepidle(socket, probe)?;
        sockopt::set_tcp_keepintvl(socket, probe)?;
        sockopt::set_tcp_keepcnt(socket, 3)?;
        let most = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        sockopt::set_tcp_user_timeout(socket, most)?;
    }
    Ok(())
}

impl Membership {
    pub fn peers(&self) -> Arc<dyn Peers> {
        self.post.clone()
    }

    /// Vanishes as a process that is killed does.
    #[cfg(test)]
    fn break_off(mut self) {
        self.sockets.iter().for_each(|socket| {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        });
        self.carrier.take();
    }

    /// Says goodbye when the search is over, and waits until that is sent.
    pub fn leave(&mut self) {
        self.post.leave();
        if let Some(carrier) = self.carrier.take() {
            let _ = carrier.join();
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests;
