//! The words in which steps of a routine are told to a builder, whatever the processor.

/// A place in the routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(pub u32);

/// A temporary: it lives until the next request, call or label. The numbers are those of x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Temp {
    A = 0,
    C = 1,
    D = 2,
    E = 6,
    F = 7,
}

/// What is done with two words, of which the first is changed. The numbers are those of x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    /// Only compares.
    Cmp = 7,
}

/// When a jump is taken, after a step that sets the flags. The numbers are those of x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    Overflow = 0x0,
    /// Less, of numbers without a sign; also: there was a carry or the bit is set.
    Below = 0x2,
    NotBelow = 0x3,
    Equal = 0x4,
    NotEqual = 0x5,
    Above = 0x7,
    Negative = 0x8,
    Less = 0xc,
    NotLess = 0xd,
    NotGreater = 0xe,
    Greater = 0xf,
}

/// Where a label is that nobody has bound.
pub(super) const UNBOUND: u32 = u32::MAX;

/// Something that stands behind the steps because it is seldom needed.
pub(super) enum Aside {
    /// The answer to a request was not to go on: jump to the label, or end with the answer.
    Answer { at: Label, jump: Option<Label> },
    /// Tell the host that time has passed, then go back.
    Tick { at: Label, back: Label },
    /// A piece is done while a call is open in it: forget the call.
    Done { at: Label },
}
