//! States in a packet, each told by what differs from the one before it.
//!
//! In: states for one machine with their events and sources, in the order in which they were found; the bytes of a packet. Out: bytes;
//! the same states.
//! Never here: what a state means, where it goes, whether it is known.
//!
//! A state follows others of the same source, from which it differs in a few words, so that its record is the event, a bit for each
//! word, and the words that changed. The source is told once for all states that follow it; where no predecessors are kept, only that it is
//! another one. A packet depends on no other one.

use super::exchange::pack;
use bombus_system::Glossary;

/// What is told of the source of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The upper half of its fingerprint.
    pub print: u64,
    /// Everything has to be checked in what follows it.
    pub flawed: bool,
}

/// States that are gathered for one machine.
#[derive(Default)]
pub(super) struct Parcel {
    pub glossary: Glossary,
    /// Whether the fingerprints of sources are told.
    names_sources: bool,
    records: Vec<u8>,
    origin: Option<Origin>,
    /// The state before.
    last: Vec<u64>,
}

const ANOTHER_ORIGIN: u64 = 1;
const FLAWED: u64 = 2;
const FLAGS: u32 = 2;

impl Parcel {
    pub fn new(names_sources: bool) -> Parcel {
        Parcel { names_sources, ..Parcel::default() }
    }

    /// Adds a state, whose words are those of the glossary.
    pub fn put(&mut self, state: &[u64], origin: Origin, event: u32) {
        let mut head = u64::from(event) << FLAGS;
        let another = self.origin != Some(origin);
        if another {
            head |= ANOTHER_ORIGIN | if origin.flawed { FLAWED } else { 0 };
        }
        if self.last.len() != state.len() {
            self.last.resize(state.len(), 0);
        }
        let most = MOST_OF_HEAD + 8 + state.len().div_ceil(8) + 8 * state.len();
        self.records.reserve(most);
        put_number(&mut self.records, head);
        if another {
            self.origin = Some(origin);
            if self.names_sources {
                self.records.extend_from_slice(&origin.print.to_le_bytes());
            }
        }
        // PERF: states of one word are most frequent.
        if let ([new], [old]) = (state, &mut self.last[..]) {
            self.records.push((new != old).into());
            if new != old {
                self.records.extend_from_slice(&new.to_le_bytes());
                *old = *new;
            }
            return;
        }
        for (new, old) in state.chunks(8).zip(self.last.chunks_mut(8)) {
            let differ =
                |(mask, bit), (new, old): (&u64, &u64)| (mask | u8::from(new != old) << bit, bit + 1);
            let (mask, _) = new.iter().zip(old.iter()).fold((0_u8, 0), differ);
            self.records.push(mask);
            let mut left = mask;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                self.records.extend_from_slice(&new[at].to_le_bytes());
                old[at] = new[at];
                left &= left - 1;
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.records.len() + self.glossary.bytes().len()
    }

    /// All that was gathered as a packet; nothing is left.
    pub fn seal(&mut self) -> Vec<u8> {
        self.origin = None;
        self.last.fill(0);
        pack(&mut self.glossary, &mut self.records)
    }
}

/// Bytes of a number with 34 bits, seven in each.
const MOST_OF_HEAD: usize = 5;

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads the states of a packet one after the other.
pub(super) struct Unpacking<'a> {
    bytes: &'a [u8],
    names_sources: bool,
    origin: Option<Origin>,
    /// The words of the state that was read last, as they were sent.
    pub state: Vec<u64>,
}

/// What is told beside the words of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub origin: Origin,
    /// The origin is not that of the state before.
    pub another: bool,
    pub event: u32,
}

impl<'a> Unpacking<'a> {
    pub fn new(bytes: &'a [u8], words: usize, names_sources: bool) -> Unpacking<'a> {
        Unpacking { bytes, names_sources, origin: None, state: vec![0; words] }
    }

    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next state; `None` if the bytes make no sense.
    pub fn next(&mut self) -> Option<Told> {
        let head = self.number()?;
        let event = u32::try_from(head >> FLAGS).ok()?;
        let another = head & ANOTHER_ORIGIN != 0;
        if another {
            let mut print = 0;
            if self.names_sources {
                let (bytes, rest) = self.bytes.split_first_chunk::<8>()?;
                self.bytes = rest;
                print = u64::from_le_bytes(*bytes);
            }
            self.origin = Some(Origin { print, flawed: head & FLAWED != 0 });
        }
        for words in self.state.chunks_mut(8) {
            let (mask, mut rest) = self.bytes.split_first()?;
            let mut left = *mask;
            while left != 0 {
                let (word, after) = rest.split_first_chunk::<8>()?;
                *words.get_mut(left.trailing_zeros() as usize)? = u64::from_le_bytes(*word);
                rest = after;
                left &= left - 1;
            }
            self.bytes = rest;
        }
        Some(Told { origin: self.origin?, another, event })
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for at in 0..MOST_OF_HEAD {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::unpack;
    use super::*;
    use bombus_kernels::random::Random;

    fn read(bytes: &[u8], words: usize) -> Option<Vec<(Vec<u64>, Told)>> {
        read_with(bytes, words, true)
    }

    fn read_with(bytes: &[u8], words: usize, names_sources: bool) -> Option<Vec<(Vec<u64>, Told)>> {
        let mut records = Unpacking::new(bytes, words, names_sources);
        let mut all = Vec::new();
        while !records.is_over() {
            let told = records.next()?;
            all.push((records.state.clone(), told));
        }
        Some(all)
    }

    #[test]
    fn what_is_put_into_a_packet_is_read_from_it() {
        let mut random = Random(5);
        let mut below = |n: u64| random.below(n);
        for round in 0..600 {
            let names_sources = round % 2 == 0;
            let mut parcel = Parcel::new(names_sources);
            let words = below(20) as usize;
            let mut state = vec![0; words];
            let mut put = Vec::new();
            let mut origin = Origin::default();
            for _ in 0..below(30) {
                if below(3) == 0 {
                    origin = Origin { print: below(4), flawed: below(2) == 0 };
                }
                let event = if below(5) == 0 { u32::MAX } else { below(300) as u32 };
                (0..below(4)).for_each(|_| {
                    if words > 0 {
                        state[below(words as u64) as usize] = below(3).wrapping_mul(below(u64::MAX));
                    }
                });
                parcel.put(&state, origin, event);
                let print = if names_sources { origin.print } else { 0 };
                put.push((state.clone(), Origin { print, ..origin }, event));
            }
            let packet = parcel.seal();
            assert!(parcel.is_empty());
            let (_, _, records) = unpack(&packet).unwrap();
            let got = read_with(records, words, names_sources).unwrap();
            let got: Vec<_> = got.into_iter().map(|(state, told)| (state, told.origin, told.event)).collect();
            assert_eq!(got, put, "round {round}");
        }
    }

    #[test]
    fn a_state_that_resembles_the_one_before_takes_a_few_bytes() {
        for (names_sources, source) in [(true, 8), (false, 0)] {
            let mut parcel = Parcel::new(names_sources);
            let origin = Origin { print: 7, flawed: false };
            let mut state = vec![u64::MAX; 16];
            parcel.put(&state, origin, 3);
            let first = parcel.bytes();
            state[9] = 1;
            parcel.put(&state, origin, 4);
            assert_eq!((first, parcel.bytes() - first), (1 + source + 2 + 16 * 8, 1 + 2 + 8));
        }
    }

    #[test]
    fn another_source_is_told_where_its_name_is_not() {
        let mut parcel = Parcel::new(false);
        [(7, false), (7, false), (8, false), (8, true)]
            .iter()
            .for_each(|(print, flawed)| parcel.put(&[5], Origin { print: *print, flawed: *flawed }, 1));
        let packet = parcel.seal();
        let (_, _, records) = unpack(&packet).unwrap();
        let told = read_with(records, 1, false).unwrap();
        let told: Vec<_> = told.iter().map(|(_, told)| (told.another, told.origin.flawed)).collect();
        assert_eq!(told, [(true, false), (false, false), (true, false), (true, true)]);
    }

    #[test]
    fn bytes_that_make_no_sense_are_not_read() {
        let mut parcel = Parcel::new(true);
        parcel.put(&[5, 6, 7], Origin { print: 9, flawed: true }, 1000);
        parcel.put(&[5, 6, 8], Origin { print: 9, flawed: true }, 2);
        let packet = parcel.seal();
        let (_, _, records) = unpack(&packet).unwrap();
        let whole = read(records, 3).unwrap();
        assert_eq!(whole.iter().map(|(_, told)| told.another).collect::<Vec<_>>(), [true, false]);
        let ends: Vec<usize> = (1..records.len()).filter(|end| read(&records[..*end], 3).is_some()).collect();
        assert_eq!(ends.len(), 1, "only the end of the first record is an end");
        assert_eq!(read(&records[ends[0]..], 3), None, "a state without a source");
        assert_eq!(read(&[0x85, 0x80, 0x80, 0x80, 0x80, 0], 3), None, "a number without an end");
        assert_eq!(
            read(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0], 3),
            None,
            "a fourth word of three"
        );
    }
}
