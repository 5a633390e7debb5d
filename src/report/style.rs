//! Colours of a terminal.
//!
//! In: text and what part of a result the text is. Out: the text between escape sequences, or as it was.
//! Never here: whether there is a terminal; `cli` decides that.

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Plain,
    Colour,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Style::Plain => text.to_string(),
            Style::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    pub fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub fn doubtful(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn place(self, text: &str) -> String {
        self.paint("34", text)
    }
}
