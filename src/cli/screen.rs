//! The output device: its width, and whether it supports colour.

use super::caller::Caller;
use crate::skill::Level;
use crate::sys::{Env, terminal};

/// Where output goes: a terminal, a pipe, or the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    kind: Kind,
    colour: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// With this many columns.
    Terminal(usize),
    Pipe,
    /// Read by a model: like a pipe, but brief.
    Host,
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
    /// The standard output of this caller.
    pub fn of(env: &Env, caller: Caller) -> Self {
        let plain = |kind| Self {
            kind,
            colour: false,
        };
        if caller == Caller::Host {
            return plain(Kind::Host);
        }
        let set = || env.text("COLUMNS")?.parse().ok();
        let width = match terminal::columns() {
            None => return plain(Kind::Pipe),
            Some(0) => set().unwrap_or(USUAL),
            Some(width) => width,
        };
        Self {
            kind: Kind::Terminal(width),
            colour: takes_colour(env),
        }
    }

    /// The number of columns; `None` if lines may have any length.
    pub fn width(self) -> Option<usize> {
        match self.kind {
            Kind::Terminal(width) => Some(width),
            Kind::Pipe | Kind::Host => None,
        }
    }

    /// The same without the first `columns`.
    #[must_use]
    pub fn less(self, columns: usize) -> Self {
        match self.kind {
            Kind::Terminal(width) => Self {
                kind: Kind::Terminal(width.saturating_sub(columns)),
                ..self
            },
            Kind::Pipe | Kind::Host => self,
        }
    }

    /// Whether a model reads it.
    pub fn is_host(self) -> bool {
        self.kind == Kind::Host
    }

    /// Whether a person watches the output.
    pub fn is_terminal(self) -> bool {
        matches!(self.kind, Kind::Terminal(_))
    }

    /// Whether it supports colour.
    pub fn is_coloured(self) -> bool {
        self.colour
    }

    /// The text with its colour codes, if any.
    pub fn paint(self, text: &str, paint: Paint) -> String {
        let code = match paint {
            _ if !self.colour || text.is_empty() => return text.to_owned(),
            Paint::Plain => return text.to_owned(),
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
    let is = |name: &str, value: &str| env.text(name).as_deref() == Some(value);
    env.path("NO_COLOR").is_none() && !is("TERM", "dumb") && !is("CLICOLOR", "0")
}

#[cfg(test)]
impl Screen {
    /// A terminal without colour, for tests.
    pub fn wide(width: usize) -> Self {
        Self {
            kind: Kind::Terminal(width),
            colour: false,
        }
    }

    /// A pipe, for tests.
    pub fn pipe() -> Self {
        Self {
            kind: Kind::Pipe,
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
    fn the_host_gets_neither_colour_nor_a_width() {
        let screen = Screen::of(&Env::default(), Caller::Host);
        assert_eq!(
            (screen.width(), screen.paint("x", Paint::Bad)),
            (None, "x".to_owned())
        );
    }
}
