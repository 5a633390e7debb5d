//! Numbers packed into words: each has a width in bits of its own and lies in one word.
//!
//! In: widths. Out: fields that read and write their number in a packed state.
//! Never here: what a number counts.

/// Where a number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub word: u32,
    pub shift: u32,
    /// The largest number that fits.
    pub most: u64,
}

impl Field {
    #[inline]
    pub fn get(self, state: &[u64]) -> u64 {
        state[self.word as usize] >> self.shift & self.most
    }

    /// Writes a number that fits.
    #[inline]
    pub fn set(self, state: &mut [u64], number: u64) {
        debug_assert!(number <= self.most);
        let word = &mut state[self.word as usize];
        *word = *word & !(self.most << self.shift) | number << self.shift;
    }
}

/// The fields of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub fields: Vec<Field>,
    pub words: usize,
}

impl Layout {
    /// Fields of these widths, 1 to 64 bits each, in this order; at least one word.
    pub fn new(widths: &[u32]) -> Layout {
        let mut bit = 0u64;
        let mut fields = Vec::with_capacity(widths.len());
        for &width in widths {
            assert!((1..=64).contains(&width), "a field has 1 to 64 bits");
            if bit % 64 + u64::from(width) > 64 {
                bit = bit.next_multiple_of(64);
            }
            let most = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            fields.push(Field { word: (bit / 64) as u32, shift: (bit % 64) as u32, most });
            bit += u64::from(width);
        }
        Layout { fields, words: bit.div_ceil(64).max(1) as usize }
    }
}

/// The bits that a number needs, at least one.
pub fn bits(number: u64) -> u32 {
    (64 - number.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_gives_back_what_was_put_into_it_and_leaves_the_others_alone() {
        let widths = [1, 7, 64, 3, 60, 2, 64, 1];
        let layout = Layout::new(&widths);
        let mut state = vec![0; layout.words];
        for (i, field) in layout.fields.iter().enumerate() {
            field.set(&mut state, field.most);
            field.set(&mut state, field.most ^ (i as u64 & field.most));
        }
        for (i, (field, width)) in layout.fields.iter().zip(widths).enumerate() {
            assert_eq!(field.get(&state), field.most ^ (i as u64 & field.most));
            assert_eq!(bits(field.most), width);
        }
    }

    #[test]
    fn no_number_lies_in_two_words() {
        let layout = Layout::new(&[40, 40, 24]);
        assert_eq!(layout.words, 2);
        assert_eq!((layout.fields[1].word, layout.fields[1].shift), (1, 0));
        assert_eq!((layout.fields[2].word, layout.fields[2].shift), (1, 40));
    }
}
