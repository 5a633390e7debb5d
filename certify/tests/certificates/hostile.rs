//! Damaged and hostile certificates: an answer, whatever the bytes are.
//!
//! `BOMBUS_HOSTILE=n` asks for more random faults, and tells how they were answered.

use crate::mutations::violated;
use crate::producer::verified;
use crate::{COUNTER, LOCK};
use bombus_certify::certificate::Unread;
use bombus_certify::run::{Options, STACK, check, examined};
use std::path::Path;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Some fault in some bytes.
fn damage(bytes: &mut Vec<u8>, seed: &mut u64) {
    let at = random(seed) as usize % bytes.len().max(1);
    match random(seed) % 11 {
        _ if bytes.is_empty() => bytes.push(random(seed) as u8),
        7 => *bytes = (0..random(seed) % 300).map(|_| random(seed) as u8).collect(),
        8 => {
            let (one, n) =
                ([b"(", b"[", b"{", b"\xff"][random(seed) as usize % 4], random(seed) as usize % 2000);
            bytes.splice(at..at, one.repeat(n));
        }
        9 => {
            let number =
                [&b"18446744073709551615"[..], b"-1", b"4294967296", b"1e99"][random(seed) as usize % 4];
            let from = bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |n| at + n);
            let digits = bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            bytes.splice(from..from + digits, number.iter().copied());
        }
        10 => {
            let quote = bytes[at..].iter().position(|b| *b == b'"').map_or(at, |n| at + n + 1);
            bytes.splice(quote..quote, b"../../../etc/".iter().copied());
        }
        0 => bytes[at] = random(seed) as u8,
        1 => bytes[at] ^= 1 << (random(seed) % 8),
        2 => bytes.truncate(at),
        3 => bytes.insert(at, random(seed) as u8),
        4 => _ = bytes.remove(at),
        5 => bytes.extend((0..random(seed) % 40).map(|i| (i * 37) as u8)),
        _ => {
            let (from, n) = (random(seed) as usize % bytes.len(), random(seed) as usize % 16);
            let part: Vec<u8> = bytes[from..].iter().take(n).copied().collect();
            bytes.splice(at..at, part);
        }
    }
}

/// Makes the hash of a file fit, so that what stands behind the hash is looked at too.
fn with_hashes(files: &mut [(&'static str, Vec<u8>)]) {
    use bombus_certify::states::{States, hex, sha256};
    let hashes: Vec<(&str, String)> = files
        .iter()
        .map(|(name, bytes)| match *name {
            "states.bin" => {
                (*name, States::read(bytes.clone()).map_or_else(|_| String::new(), |s| hex(&s.root)))
            }
            name => (name, hex(&sha256(bytes))),
        })
        .collect();
    for (name, bytes) in files.iter_mut().filter(|f| f.0 == "manifest.json") {
        let Ok(mut json) = serde_json::from_slice::<serde_json::Value>(bytes) else { continue };
        for (file, hash) in hashes.iter().filter(|h| h.0 != *name) {
            if json["hashes"].is_object() {
                json["hashes"][file] = serde_json::json!(hash);
            }
        }
        if let Some(keys) = json.as_object_mut() {
            keys.shift_remove("seal");
            let seal = hex(&sha256(serde_json::json!(keys).to_string().as_bytes()));
            keys.insert("seal".into(), seal.into());
        }
        *bytes = json.to_string().into_bytes();
    }
}

fn put(dir: &Path, files: &[(&'static str, Vec<u8>)]) {
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).expect("the directory can be written");
    }
}

/// How damaged certificates were answered.
#[derive(Default, Debug)]
struct Answered {
    unread: usize,
    rejected: usize,
    open: usize,
    accepted: usize,
}

/// Damages certificates at random and checks them, without a disk.
fn damaged_at_random(rounds: usize) -> Answered {
    let options = Options { jobs: 1, steps: 20_000, ..Options::default() };
    let small = COUNTER.replace("70 72", "3 4");
    let right = [verified(LOCK).files(), verified(&small).files(), violated().files()];
    let (mut seed, mut answered) = (1, Answered::default());
    for round in 0..rounds {
        let mut files = right[round % 3].clone();
        for _ in 0..=random(&mut seed) % 3 {
            let at = random(&mut seed) as usize % files.len();
            damage(&mut files[at].1, &mut seed);
        }
        if !round.is_multiple_of(4) {
            with_hashes(&mut files);
        }
        let read = |name: &str, most: u64| {
            let file = files.iter().find(|f| f.0 == name && f.1.len() as u64 <= most);
            file.map(|f| f.1.clone()).ok_or_else(|| Unread::Missing(name.into()))
        };
        match examined(&read, &options).map(|report| report.status()) {
            Err(_) => answered.unread += 1,
            Ok(1) => answered.rejected += 1,
            Ok(0) => answered.accepted += 1,
            Ok(_) => answered.open += 1,
        }
    }
    answered
}

#[test]
fn any_bytes_get_an_answer() {
    let asked = std::env::var("BOMBUS_HOSTILE").ok().and_then(|n| n.parse().ok());
    let rounds = asked.unwrap_or(1500);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || damaged_at_random(rounds));
    let answered = thread.expect("a thread").join().expect("nothing panics");
    if asked.is_some() {
        println!("{answered:?}");
    }
    // What is left out of account is little: labels of clauses, blanks, keys that nobody reads.
    assert!(answered.accepted * 3 < rounds, "of {rounds} damaged certificates: {answered:?}");
}

#[test]
fn huge_counts_and_deep_nesting_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let options = Options { jobs: 1, ..Options::default() };
    let right = verified(LOCK).files();
    let refused = |name: &'static str, bytes: Vec<u8>| {
        let mut files = right.clone();
        files.iter_mut().filter(|f| f.0 == name).for_each(|f| f.1 = bytes.clone());
        with_hashes(&mut files);
        put(dir.path(), &files);
        let answer = check(dir.path(), &options);
        assert!(answer.map_or(true, |report| report.status() == 1), "{name}");
    };
    let mut states = bombus_certify::states::MAGIC.to_vec();
    states.extend([1, 0, 0, 0, 255, 255, 255, 255]);
    refused("states.bin", states.clone());
    states.truncate(12);
    states.extend([255, 255, 255, 255, 4, 0, 0, 0, 0, 2, 0x80, 0x80]);
    refused("states.bin", states);
    let one = |state: &[u8]| bombus_certify::states::write(&[state.to_vec()], 1);
    refused("states.bin", one(&[0x80, 0xff, 255, 255, 255, 255, 255, 255, 255, 255]));
    refused("states.bin", one(&[0x80, 0xc7, 255, 255, 255, 255, 255, 255, 255, 255, 0x80]));
    let mut constants = b"BombusCons\x01\n".to_vec();
    constants.extend([0xc7, 255, 255, 255, 255, 255, 255, 255, 255]);
    refused("constants.bin", constants);
    refused("model.core", "(".repeat(1_000_000).into_bytes());
    refused(
        "model.core",
        format!("(machine M (goal {}TRUE{}))", "(not ".repeat(390), ")".repeat(390)).into_bytes(),
    );
    refused("manifest.json", "[".repeat(1_000_000).into_bytes());
    refused("manifest.json", br#"{"format": "bombus-certificate", "version": 2e400}"#.to_vec());
}

#[test]
fn a_certificate_without_a_file_is_not_readable() {
    let dir = tempfile::tempdir().expect("a directory");
    for missing in 0..4 {
        let files = verified(LOCK).files();
        let name = files[missing].0;
        put(dir.path(), &files);
        std::fs::remove_file(dir.path().join(name)).expect("removed");
        assert!(check(dir.path(), &Options::default()).is_err(), "{name}");
        std::fs::create_dir(dir.path().join(name)).expect("a directory in the place of a file");
        assert!(check(dir.path(), &Options::default()).is_err(), "{name}");
        std::fs::remove_dir(dir.path().join(name)).expect("removed");
    }
}
