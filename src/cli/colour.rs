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
        let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        match self {
            Colour::Always => Style::Colour,
            Colour::Never => Style::Plain,
            Colour::Auto if terminal && !set("NO_COLOR") && !dumb => Style::Colour,
            Colour::Auto => Style::Plain,
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
