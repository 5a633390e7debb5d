//! Whether output is coloured: the usual rules.
//!
//! In: the option, the environment, the kind of output. Out: a style. Never here: which part has which colour.

use crate::report::Style;
use clap::ValueEnum;
use std::io::IsTerminal;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Default)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    /// The style of standard output.
    pub fn of_output(self) -> Style {
        self.style(std::io::stdout().is_terminal())
    }

    /// The style of standard error.
    pub fn of_messages(self) -> Style {
        self.style(std::io::stderr().is_terminal())
    }

    fn style(self, terminal: bool) -> Style {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        self.rule(terminal, no_colour || dumb)
    }

    /// The usual rule: what is asked for counts most, then what the environment forbids, then where the output goes.
    fn rule(self, terminal: bool, forbidden: bool) -> Style {
        match self {
            Colour::Always => Style::Colour,
            Colour::Auto if terminal && !forbidden => Style::Colour,
            Colour::Auto | Colour::Never => Style::Plain,
        }
    }
}

/// Messages about a model with their heads, places and carets coloured.
pub fn messages(text: &str, style: Style) -> String {
    if style == Style::Plain {
        return text.to_string();
    }
    let line = |line: &str| -> String {
        if let Some(rest) = line.strip_prefix("error:") {
            return format!("{}{}", style.bad("error:"), style.strong(rest));
        }
        if let Some(rest) = line.strip_prefix("warning:") {
            return format!("{}{}", style.doubtful("warning:"), style.strong(rest));
        }
        if line.trim_start().starts_with("-->") {
            return style.place(line);
        }
        let caret = line
            .split_once('|')
            .filter(|(head, tail)| head.trim().is_empty() && tail.trim_start().starts_with('^'));
        match caret {
            Some((head, tail)) => format!("{head}|{}", style.bad(tail)),
            None => line.to_string(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_unless_the_environment_forbids_them_and_options_count_more() {
        assert_eq!(Colour::Auto.rule(true, false), Style::Colour);
        assert_eq!(Colour::Auto.rule(true, true), Style::Plain, "NO_COLOR");
        assert_eq!(Colour::Auto.rule(false, false), Style::Plain, "a pipe");
        assert_eq!(Colour::Always.rule(false, true), Style::Colour);
        assert_eq!(Colour::Never.rule(true, false), Style::Plain);
    }
}
