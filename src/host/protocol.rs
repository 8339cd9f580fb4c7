//! The two generations of the host's protocol (docs/spec/hosts.md#which-call).

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

impl Protocol {
    /// The generation as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Stdin => "stdin",
        }
    }
}
