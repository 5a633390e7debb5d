//! Glossaries: what makes the words of states mean the same in another process.
//!
//! In: numbers of values that stand in the words of states. Out: numbers from 0 on, in the order in which the
//! values were met, and the bytes that explain them.
//! Never here: what a value is; a system spells its own.
//!
//! The states of one packet share one glossary, so a value that many of them hold travels once, and no packet
//! depends on another one.

use bombus_base::hash::HashMap;

/// The values of one packet, on the side that sends it.
#[derive(Default)]
pub struct Glossary {
    numbers: HashMap<u32, u32>,
    bytes: Vec<u8>,
}

impl Glossary {
    /// The number of the value `id` in this packet. `spell` appends the bytes of the value when it is met for
    /// the first time, and says whether it can be told by bytes at all.
    pub fn number(&mut self, id: u32, spell: impl FnOnce(&mut Vec<u8>) -> bool) -> Option<u32> {
        if let Some(number) = self.numbers.get(&id) {
            return Some(*number);
        }
        let before = self.bytes.len();
        if !spell(&mut self.bytes) {
            self.bytes.truncate(before);
            return None;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(id, number);
        Some(number)
    }

    /// How many values it explains.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The explanations, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn clear(&mut self) {
        self.numbers.clear();
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Glossary;

    #[test]
    fn a_value_is_spelled_once_however_many_states_hold_it() {
        let mut glossary = Glossary::default();
        let mut spelled = |id: u32| {
            glossary.number(id, |out| {
                out.push(id as u8);
                id != 9
            })
        };
        assert_eq!([spelled(5), spelled(9), spelled(7), spelled(5)], [Some(0), None, Some(1), Some(0)]);
        assert_eq!((glossary.len(), glossary.bytes()), (2, &[5, 7][..]));
    }
}
