//! The rooms that the processes of one search agree upon, when states of some of them outgrew their layout.
//!
//! In: the rooms that this process would choose by what it met; the same of all processes. Out: bytes; the rooms in which what any of them
//! met has a place.
//! Never here: how rooms grow (`room`), how bytes travel, when a search begins again.
//!
//! All processes begin with the same rooms and hear the same bytes in the same order, so all come to the same rooms. What is wrong in the
//! bytes costs time at most: a room is a hint. Whether the layouts made of them are the same is compared by who asks (`Program::shape`).

use super::Program;
use super::invariant_ranges::{Function, Promise};
use super::room::{Room, Rooms};
use bombus_base::budget::Stop;
use bombus_lang::typed::VarId;
use bombus_lang::value::Value;

/// A promise is as deep as the type of a variable; what is deeper was not written by `write`.
const DEEPEST: u32 = 64;

impl<'m> Program<'m> {
    /// What this process says to the others: the rooms that it would choose by what it met.
    pub fn asks_for_room(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_rooms(&self.growth.grown(&self.rooms), &mut out);
        out
    }

    /// The same machine with room for what escaped in any process; `said` by all of them. `None` if there is no more room to give, or if
    /// what was said makes no sense.
    pub fn with_room_for_all(&self, said: &[Vec<u8>]) -> Result<Option<Program<'m>>, Stop> {
        let all: Option<Vec<Rooms>> = said.iter().map(|bytes| read_rooms(bytes)).collect();
        match all.and_then(|all| all.into_iter().reduce(united)) {
            Some(rooms) if rooms.keys().eq(self.rooms.keys()) => self.with_rooms(rooms),
            _ => Ok(None),
        }
    }
}

/// Rooms for what has a place in either.
fn united(mut rooms: Rooms, mut others: Rooms) -> Rooms {
    for (v, room) in &mut rooms {
        let Some(other) = others.remove(v) else { continue };
        let promise = std::mem::replace(&mut room.promise, Promise::Nothing);
        room.promise = promise.or(other.promise);
        room.numbers = room.numbers.zip(other.numbers).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        room.longest = room.longest.max(other.longest);
    }
    rooms
}

fn write_rooms(rooms: &Rooms, out: &mut Vec<u8>) {
    put(out, rooms.len() as i64);
    for (v, room) in rooms {
        put(out, v.0.into());
        write(&room.promise, out);
        match room.numbers {
            None => out.push(0),
            Some((lo, hi)) => {
                out.push(1);
                put(out, lo);
                put(out, hi);
            }
        }
        put(out, room.longest);
    }
}

fn read_rooms(mut bytes: &[u8]) -> Option<Rooms> {
    let from = &mut bytes;
    let mut rooms = Rooms::new();
    for _ in 0..take(from)? {
        let v = VarId(u32::try_from(take(from)?).ok()?);
        let promise = read(from, 0)?;
        let numbers = if flag(from)? { Some((take(from)?, take(from)?)) } else { None };
        let longest = take(from)?;
        if rooms.insert(v, Room { promise, numbers, longest }).is_some() {
            return None;
        }
    }
    bytes.is_empty().then_some(rooms)
}

fn write(promise: &Promise, out: &mut Vec<u8>) {
    match promise {
        Promise::Nothing => out.push(0),
        Promise::Range(lo, hi) => {
            out.push(1);
            for end in [lo, hi] {
                out.push(end.is_some().into());
                end.iter().for_each(|n| put(out, *n));
            }
        }
        Promise::Set(p) => {
            out.push(2);
            write(p, out);
        }
        Promise::Function(f) => {
            out.push(3);
            write(&f.from, out);
            write(&f.to, out);
            // A set that is not listed has no bytes from which it could be made again; without it the function is partial.
            let whole = f.whole.as_ref().filter(|whole| !whole.mentions_symbolic());
            out.push(whole.is_some().into());
            whole.iter().for_each(|whole| whole.encode(out));
            out.push(f.sequence.into());
        }
        Promise::Pair(p) => {
            out.push(4);
            write(&p.0, out);
            write(&p.1, out);
        }
        Promise::Rec(all) => {
            out.push(5);
            put(out, all.len() as i64);
            all.iter().for_each(|p| write(p, out));
        }
    }
}

fn read(from: &mut &[u8], depth: u32) -> Option<Promise> {
    if depth > DEEPEST {
        return None;
    }
    Some(match byte(from)? {
        0 => Promise::Nothing,
        1 => {
            let mut end = || Some(if flag(from)? { Some(take(from)?) } else { None });
            Promise::Range(end()?, end()?)
        }
        2 => Promise::Set(Box::new(read(from, depth + 1)?)),
        3 => {
            let (domain, to) = (read(from, depth + 1)?, read(from, depth + 1)?);
            let whole = if flag(from)? { Some(Value::decode(from)?) } else { None };
            Promise::Function(Box::new(Function { from: domain, to, whole, sequence: flag(from)? }))
        }
        4 => Promise::Pair(Box::new((read(from, depth + 1)?, read(from, depth + 1)?))),
        5 => {
            let parts = take(from)?;
            Promise::Rec((0..parts).map(|_| read(from, depth + 1)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn put(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(&n.to_le_bytes());
}

fn take(from: &mut &[u8]) -> Option<i64> {
    let (bytes, rest) = from.split_first_chunk::<8>()?;
    *from = rest;
    Some(i64::from_le_bytes(*bytes))
}

fn byte(from: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = from.split_first()?;
    *from = rest;
    Some(*byte)
}

fn flag(from: &mut &[u8]) -> Option<bool> {
    match byte(from)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooms(hi: i64, longest: i64) -> Rooms {
        let range = |lo, hi| Promise::Range(lo, hi);
        let whole = Some(Value::set((1..=3).map(Value::int).collect()));
        let function =
            Function { from: range(Some(1), Some(3)), to: range(Some(0), Some(hi)), whole, sequence: false };
        let sequence =
            Function { from: range(Some(1), None), to: Promise::Nothing, whole: None, sequence: true };
        let promises = [
            Promise::Nothing,
            range(None, Some(hi)),
            Promise::Set(Box::new(Promise::Pair(Box::new((range(Some(-3), None), Promise::Nothing))))),
            Promise::Function(Box::new(function)),
            Promise::Rec(vec![Promise::Function(Box::new(sequence)), range(Some(i64::MIN), Some(i64::MAX))]),
        ];
        let numbers = |n: usize| n.is_multiple_of(2).then_some((-hi, hi));
        let all = promises.into_iter().enumerate();
        all.map(|(n, promise)| (VarId(n as u32), Room { promise, numbers: numbers(n), longest })).collect()
    }

    fn written(rooms: &Rooms) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_rooms(rooms, &mut bytes);
        bytes
    }

    #[test]
    fn what_a_process_asks_for_is_what_the_others_read() {
        assert_eq!(read_rooms(&written(&rooms(7, 8))), Some(rooms(7, 8)));
        assert_eq!(read_rooms(&written(&Rooms::new())), Some(Rooms::new()));
    }

    #[test]
    fn a_room_of_all_has_a_place_for_what_any_of_them_met() {
        let united_rooms = rooms(20, 16);
        assert_eq!(united(rooms(7, 16), rooms(20, 8)), united_rooms);
        assert_eq!(united(rooms(20, 8), rooms(7, 16)), united_rooms);
    }

    #[test]
    fn bytes_that_are_cut_off_or_go_on_are_no_rooms() {
        let bytes = written(&rooms(7, 8));
        assert!((0..bytes.len()).all(|end| read_rooms(&bytes[..end]).is_none()));
        assert_eq!(read_rooms(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(read(&mut &[2; 200][..], 0), None, "too deep for any type");
        assert_eq!(read_rooms(&i64::MAX.to_le_bytes()), None);
    }
}
