//! The output device: its width, and whether it supports colour.

use crate::skill::Level;
use crate::sys::wrap::{filled, wrapped};
use crate::sys::{Env, wrap};

/// Where output goes: a terminal, a pipe, or the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// The number of columns of a terminal; `None` if lines may have any length.
    pub width: Option<usize>,
    /// Whether a model reads it: like a pipe, but brief.
    pub is_host: bool,
    /// Whether it supports colour.
    pub colour: bool,
}

/// How text is emphasized if there is colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Paint {
    /// Not at all.
    #[default]
    Plain,
    /// A heading.
    Bold,
    /// Less important.
    Dim,
    /// Correct.
    Good,
    /// Worth attention.
    Warn,
    /// Broken.
    Bad,
}

impl From<Level> for Paint {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Bad,
            Level::Warning => Self::Warn,
            Level::Note => Self::Dim,
        }
    }
}

/// The width of a terminal that does not report one.
const USUAL: usize = 80;

impl Screen {
    /// Standard output.
    pub fn new(env: &Env, is_host: bool) -> Self {
        let usual = || env.text("COLUMNS")?.parse().ok();
        let width = match wrap::columns().filter(|_| !is_host) {
            Some(0) => Some(usual().unwrap_or(USUAL)),
            width => width,
        };
        Self {
            width,
            is_host,
            colour: width.is_some() && takes_colour(env),
        }
    }

    /// The same without the first `columns`.
    #[must_use]
    pub fn less(self, columns: usize) -> Self {
        let width = self.width.map(|width| width.saturating_sub(columns));
        Self { width, ..self }
    }

    /// Whether a person watches the output.
    pub fn is_terminal(self) -> bool {
        self.width.is_some()
    }

    /// The text, broken between words where a line does not fit.
    pub fn fit(self, text: String) -> String {
        match self.width {
            Some(width) => wrapped(&text, width),
            None => text,
        }
    }

    /// `text` after `first`, with later lines indented by `indent`, and a line end. A word wider than
    /// the line stays whole, so that it can be copied. Without a width the result is one line.
    pub fn hanging(self, first: &str, text: &str, indent: usize) -> String {
        let width = self.width.unwrap_or(usize::MAX);
        filled(first, text, indent, width).trim_end().to_owned() + "\n"
    }

    /// The text with its colour codes, if any.
    pub fn paint(self, text: &str, paint: Paint) -> String {
        let code = match paint {
            Paint::Plain => return text.to_owned(),
            _ if !self.colour || text.is_empty() => return text.to_owned(),
            Paint::Bold => "1",
            Paint::Dim => "2",
            Paint::Good => "32",
            Paint::Warn => "33",
            Paint::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Follows <https://no-color.org> and <https://bixense.com/clicolors>.
fn takes_colour(env: &Env) -> bool {
    let is_off = env.text("CLICOLOR").as_deref() == Some("0");
    env.path("NO_COLOR").is_none() && !is_dumb(env) && !is_off
}

/// Whether the terminal shows text only: what is on it cannot be changed.
pub fn is_dumb(env: &Env) -> bool {
    env.text("TERM").as_deref() == Some("dumb")
}

#[cfg(test)]
impl Screen {
    /// A terminal without colour, for tests.
    pub fn wide(width: usize) -> Self {
        Self {
            width: Some(width),
            ..Self::pipe()
        }
    }

    /// A pipe, for tests.
    pub fn pipe() -> Self {
        Self {
            width: None,
            is_host: false,
            colour: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn colour_is_left_out_where_the_environment_asks_for_that() {
        for (vars, colour) in [
            (&[][..], true),
            (&[("NO_COLOR", "1")], false),
            (&[("NO_COLOR", "")], true),
            (&[("TERM", "dumb")], false),
            (&[("CLICOLOR", "0")], false),
        ] {
            let env = Env::new(vars.iter().copied(), Path::new("/"));
            assert_eq!(takes_colour(&env), colour, "{vars:?}");
        }
    }

    #[test]
    fn words_that_do_not_fit_go_below_and_long_ones_stay_whole() {
        for (width, expected) in [
            (80, "- one two three\n"),
            (10, "- one two\n  three\n"),
            (5, "- one\n  two\n  three\n"),
        ] {
            let shown = Screen::wide(width).hanging("- ", "one two three", 2);
            assert_eq!(shown, expected, "{width}");
        }
        assert_eq!(
            Screen::wide(4).hanging("", "a /long/path", 0),
            "a\n/long/path\n"
        );
        assert_eq!(Screen::pipe().hanging("- ", "one two", 2), "- one two\n");
    }

    #[test]
    fn the_host_gets_neither_colour_nor_a_width() {
        let screen = Screen::new(&Env::default(), true);
        assert_eq!(
            (screen.width, screen.paint("x", Paint::Bad)),
            (None, "x".to_owned())
        );
    }
}
