//! The two generations of the host's protocol (docs/hosts.md#which-call).

/// How a host passes data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Protocol {
    /// chibi from 0.7: as JSON on standard input; a call is killed after 30 seconds.
    #[value(help = "chibi 0.7 and later")]
    Stdin,
    /// chibi up to 0.6: in environment variables, with no time limit.
    #[value(help = "chibi up to 0.6")]
    Environment,
}

/// A release of the host: major and minor.
pub type Release = (u32, u32);

/// The first release that passes a plugin's data on standard input
/// (docs/hosts.md#generations).
const STDIN: Release = (0, 7);
/// The first release whose behaviour is known.
const KNOWN: Release = (0, 4);

impl Protocol {
    /// The generation of a release; `None` if it loads no such plugins.
    pub fn of(release: Release) -> Option<Self> {
        match release {
            new if new >= STDIN => Some(Self::Stdin),
            old if old >= KNOWN => Some(Self::Environment),
            _ => None,
        }
    }

    /// How it passes data, as a sentence goes on after "passes data".
    pub fn way(self) -> &'static str {
        match self {
            Self::Environment => "by environment variables",
            Self::Stdin => "by standard input",
        }
    }

    /// The generation as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Stdin => "stdin",
        }
    }
}

/// The release in the output of `chibi --version`.
pub fn release(version: &str) -> Option<Release> {
    let words = version.split_whitespace();
    let mut words = words.map(|word| word.trim_start_matches('v'));
    let number = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_and_compared_as_numbers() {
        for (text, expected) in [
            ("chibi 0.10.10\n", Some((0, 10))),
            ("chibi v0.5.0", Some((0, 5))),
            ("0.6.0-rc1", Some((0, 6))),
            ("chibi 0.7", Some((0, 7))),
            ("chibi", None),
            ("", None),
            ("chibi 0", None),
        ] {
            assert_eq!(release(text), expected, "{text}");
        }
        for (release, generation) in [
            ((0, 10), Some(Protocol::Stdin)),
            ((0, 7), Some(Protocol::Stdin)),
            ((0, 6), Some(Protocol::Environment)),
            ((0, 3), None),
        ] {
            assert_eq!(Protocol::of(release), generation, "{release:?}");
        }
    }
}
