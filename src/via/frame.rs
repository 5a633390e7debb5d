//! The bytes of frames: written for questions, read from answers, never trusted.
//!
//! In: numbers and texts. Out: bytes, and back; whatever does not fit the format is an error in words.
//! Never here: processes.

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// A longer answer is refused before it is read.
pub const LONGEST: usize = 64 << 20;

/// What a frame is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Hello = 1,
    Init = 2,
    Succ = 3,
    Prop = 4,
    Holds = 5,
    Show = 6,
    Label = 7,
}

/// The kind of a frame by which a process gives up.
pub const GIVES_UP: u8 = 255;

/// A question that is being written; its length is filled in at the end.
#[derive(Default)]
pub struct Question {
    bytes: Vec<u8>,
}

impl Question {
    pub fn begin(&mut self, kind: Kind) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.push(kind as u8);
    }

    pub fn u32(&mut self, n: u32) {
        self.bytes.extend_from_slice(&n.to_le_bytes());
    }

    pub fn u64(&mut self, n: u64) {
        self.bytes.extend_from_slice(&n.to_le_bytes());
    }

    /// False if the text is too long for the format.
    pub fn text(&mut self, text: &str) -> bool {
        let Ok(length) = u16::try_from(text.len()) else { return false };
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
        true
    }

    /// The first `length` bytes of packed words.
    pub fn state(&mut self, words: &[u64], length: usize) {
        let start = self.bytes.len();
        for word in words {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        self.bytes.truncate(start + length);
    }

    pub fn finish(&mut self) -> &[u8] {
        let length = (self.bytes.len() - 4) as u32;
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        &self.bytes
    }
}

/// What is wrong with an answer.
pub type Wrong = String;

/// The body of an answer, read from the front.
pub struct Answer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Answer<'a> {
    pub fn new(bytes: &'a [u8]) -> Answer<'a> {
        Answer { bytes, at: 0 }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Wrong> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or("an answer is shorter than it says")?;
        let part = &self.bytes[self.at..end];
        self.at = end;
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        Ok(self.take(N)?.try_into().expect("so many bytes were taken"))
    }

    pub fn u8(&mut self) -> Result<u8, Wrong> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16, Wrong> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Wrong> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Wrong> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn text(&mut self) -> Result<&'a str, Wrong> {
        let length = self.u16()?;
        std::str::from_utf8(self.take(length.into())?).map_err(|_| "a text that is not UTF-8".into())
    }

    pub fn pairs(&mut self) -> Result<Vec<(String, String)>, Wrong> {
        let count = self.u16()?;
        (0..count).map(|_| Ok((self.text()?.to_string(), self.text()?.to_string()))).collect()
    }

    pub fn end(&self) -> Result<(), Wrong> {
        if self.at == self.bytes.len() { Ok(()) } else { Err("an answer is longer than it says".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut question = Question::default();
        question.begin(Kind::Prop);
        assert!(question.text("p = 1"));
        question.u64(7);
        question.state(&[0x0807_0605_0403_0201, 0x0a09], 10);
        assert!(!question.text(&"x".repeat(70_000)));
        let bytes = question.finish().to_vec();
        let mut answer = Answer::new(&bytes);
        assert_eq!(answer.u32().unwrap() as usize, bytes.len() - 4);
        assert_eq!(answer.u8().unwrap(), Kind::Prop as u8);
        assert_eq!((answer.text().unwrap(), answer.u64().unwrap()), ("p = 1", 7));
        assert_eq!(answer.take(10).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(answer.end().is_ok() && answer.u8().is_err());
    }
}
