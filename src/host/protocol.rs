//! The two generations of the host's protocol (docs/spec/hosts.md#which-call).

/// How a host passes data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// chibi up to 0.6: in environment variables, with no time limit.
    Environment,
    /// chibi from 0.7: as JSON on standard input; a call is killed after 30 seconds.
    Stdin,
}
