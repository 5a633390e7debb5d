//! The list of machines: one line each, `address:port` and a weight.
//!
//! In: the text of a hosts file. Out: machines in the order of their ranks, or every line that is wrong.
//! Never here: resolving names, sockets.

use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::span::{FileId, Span};

/// One machine of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// `address:port`, as the user wrote it.
    pub address: String,
    /// Its share of the states, in proportion to those of the others.
    pub weight: u32,
}

/// Most machines of a cluster.
pub const MOST: usize = 1024;

/// Reads a hosts file. Empty lines and what follows `#` are left out.
pub fn read(file: FileId, text: &str) -> Result<Vec<Host>, Vec<Diagnostic>> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut wrong = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.split('#').next().unwrap_or("").trim_end();
        let words: Vec<&str> = content.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        let span = |word: &str| {
            let offset = word.as_ptr() as usize - text.as_ptr() as usize;
            debug_assert!(offset >= start);
            Span::new(file, offset, offset + word.len())
        };
        if let Err(why) = check_address(first) {
            wrong.push(Diagnostic::error(span(first), why));
        } else if hosts.iter().any(|host| host.address == **first) {
            wrong.push(Diagnostic::error(span(first), "this machine stands in the list already"));
        }
        let weight = match words.get(1).map(|word| (word, word.parse::<u32>())) {
            None => 1,
            Some((_, Ok(n))) if n > 0 => n,
            Some((word, _)) => {
                wrong.push(Diagnostic::error(span(word), "a weight is a number from 1 on"));
                1
            }
        };
        if let Some(extra) = words.get(2) {
            wrong.push(Diagnostic::error(
                span(extra),
                "expected the end of the line: address:port and a weight",
            ));
        }
        hosts.push(Host { address: first.to_string(), weight });
    }
    if wrong.is_empty() && hosts.is_empty() {
        wrong
            .push(Diagnostic::plain("the list of machines is empty: each line is address:port and a weight"));
    }
    if hosts.len() > MOST {
        wrong.push(Diagnostic::plain(format!("{} machines are more than {MOST}", hosts.len())));
    }
    if wrong.is_empty() { Ok(hosts) } else { Err(wrong) }
}

fn check_address(word: &str) -> Result<(), &'static str> {
    let (host, port) = word.rsplit_once(':').ok_or("expected address:port")?;
    let port: u16 = port.parse().map_err(|_| "the port is a number from 1 to 65535")?;
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if port == 0 {
        return Err("the port is a number from 1 to 65535");
    }
    if host.is_empty() || host.contains(':') && !bracketed {
        return Err("expected address:port; an IPv6 address stands in brackets");
    }
    if matches!(host, "0.0.0.0" | "[::]" | "*") {
        return Err("a machine listens on one address of its own, never on all");
    }
    Ok(())
}

/// The messages as text, with the lines they are about.
pub fn render(path: &str, text: &str, wrong: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add(path, None, text);
    wrong.iter().map(|d| sources.render(d)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_machine_with_its_weight() {
        let hosts = read(FileId(0), "# two\nnode1:7000 3\n\n[::1]:7001 # one\n").unwrap();
        let told: Vec<(&str, u32)> = hosts.iter().map(|h| (h.address.as_str(), h.weight)).collect();
        assert_eq!(told, [("node1:7000", 3), ("[::1]:7001", 1)]);
    }

    #[test]
    fn every_line_that_is_wrong_is_reported_at_once() {
        let wrong = read(FileId(0), "a\nb:x\n0.0.0.0:1\nc:1 0\nd:2 1 2\nd:2\n").unwrap_err();
        assert_eq!(wrong.len(), 6);
        assert!(read(FileId(0), "# nothing\n").is_err());
    }
}
