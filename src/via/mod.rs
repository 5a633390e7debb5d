//! A formalism in another process: the checker asks, the process answers, in frames on stdin and stdout.
//!
//! In: a command. Out: a `System` whose transitions another program computes, one process for each worker.
//! Never here: the search, what a state means.
//!
//! # The protocol, version 1
//!
//! All numbers are little-endian. A frame is its length as `u32` (of what follows), a kind as `u8`, and a
//! body. The process answers each frame by one of the same kind, in order, and writes nothing else to
//! stdout; it ends when stdin is closed. `text` is a `u16` length and so many bytes of UTF-8; `state` is a
//! byte string of the length that the process itself has named.
//!
//! | kind | asked | answered |
//! |---|---|---|
//! | 1 HELLO | `u32` version | `u32` version, `text` name, `u32` bytes of a state, `u32` count, so many `text` names of events |
//! | 2 INIT | – | one answer, as for a state |
//! | 3 SUCC | `u32` count, so many states | so many answers |
//! | 4 PROP | `text` proposition | `u8` 1 and `u32` number, or `u8` 0 and `text` what is wrong |
//! | 5 HOLDS | `u32` number, `u32` count, so many states | a `u8` for each: 0 false, 1 true, 2 cannot be computed |
//! | 6 SHOW | state | `u16` count, so many pairs of `text`: name and value |
//! | 7 LABEL | `u32` event, `u64` label, state before, state after | as SHOW |
//!
//! An answer about a state is: `u8` flags (1: no successor is meant to follow, this is no deadlock), `u32`
//! count and so many transitions (`u32` event, `u64` label, state), `u16` count and so many findings (`u8`
//! kind: 0 error, 1 invariant, 2 assertion, 3 goal; `text`), `u16` count and so many reasons why something
//! could not be computed (`text`). Kind 255 with a `text` says at any time that the process gives up.
//!
//! Every answer is a function of the question. Now and then a question is asked again, of another process
//! if there are several; a process that answers otherwise, breaks the format, dies, keeps silent for
//! longer than the limit or writes unasked ends the check as an error.
#![forbid(unsafe_code)]

mod command;
mod frame;
mod process;
mod system;

pub use command::split;
pub use frame::VERSION;
pub use system::Via;
