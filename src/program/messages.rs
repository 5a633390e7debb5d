//! Numbers of the texts of findings and reasons: what explores states hands on numbers, people read texts.
//!
//! In: a text and its class. Out: its number, which depends on the text alone and not on which thread or machine met it
//! first. A number is a hash, so two texts may share one; then both are told, and none is lost.
//! Never here: what a text says.

use super::label::Hash;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// What a text is about. Texts of two classes never share a number, so a reason to doubt a verdict cannot be taken for
/// a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Why a run saw less than everything.
    Reason,
    /// Transitions to known states were not counted: no reason to doubt the states.
    Note,
    /// What was found. Assertions of the ASSERTIONS clause have small numbers, texts stay above them.
    Finding,
}

const NOTE: u32 = 1 << 30;
const FINDING: u32 = 1 << 31;

impl Class {
    fn mark(self) -> u32 {
        match self {
            Class::Reason => 0,
            Class::Note => NOTE,
            Class::Finding => FINDING,
        }
    }

    pub(super) fn of(number: u32) -> Class {
        match number & (NOTE | FINDING) {
            0 => Class::Reason,
            NOTE => Class::Note,
            _ => Class::Finding,
        }
    }
}

/// All texts that were numbered so far.
#[derive(Debug, Default)]
pub(super) struct Messages(Mutex<BTreeMap<u32, BTreeSet<String>>>);

impl Messages {
    pub(super) fn number(&self, text: String, class: Class) -> u32 {
        let mut hash = Hash::default();
        text.bytes().for_each(|b| hash.word(u64::from(b)));
        let number = hash.0 as u32 & !(NOTE | FINDING) | class.mark();
        self.0.lock().entry(number).or_default().insert(text);
        number
    }

    /// Enters a text under the number that another run or machine gave it.
    pub(super) fn learn(&self, number: u32, text: &str) {
        self.0.lock().entry(number).or_default().insert(text.to_string());
    }

    /// The text of a number; the texts, if several share it.
    pub(super) fn text(&self, number: u32) -> Option<String> {
        let all = self.0.lock();
        let texts: Vec<&str> = all.get(&number)?.iter().map(String::as_str).collect();
        Some(texts.join("; "))
    }

    /// All numbers with their texts, in a fixed order.
    pub(super) fn all(&self) -> Vec<(u32, String)> {
        let all = self.0.lock();
        all.iter().flat_map(|(number, texts)| texts.iter().map(|text| (*number, text.clone()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_a_number_are_both_told() {
        let messages = Messages::default();
        let number = messages.number("nothing bounds x".into(), Class::Reason);
        messages.learn(number, "nothing bounds y");
        assert_eq!(messages.text(number).as_deref(), Some("nothing bounds x; nothing bounds y"));
        assert_eq!(messages.all().len(), 2);
    }

    #[test]
    fn the_same_text_has_one_number_in_each_class() {
        let messages = Messages::default();
        let numbers = [Class::Reason, Class::Note, Class::Finding].map(|class| {
            let number = messages.number("sampled".into(), class);
            assert_eq!(Class::of(number), class);
            assert_eq!(messages.number("sampled".into(), class), number);
            number
        });
        assert_eq!(BTreeSet::from(numbers).len(), 3);
    }
}
