//! What a shell command line would run (docs/spec/restriction.md#shell-commands), read so that
//! nothing can run which was not seen: `scan` first, then the parser, then `read` holds the two
//! against each other. `judge` asks the rules about every step, `deny` looks for what is forbidden.

mod builtins;
mod conditional;
mod constants;
mod deny;
#[cfg(test)]
mod differential;
mod directories;
mod expansion;
mod filters;
mod find;
mod heredoc;
mod judge;
mod lexer;
mod names;
mod neutral;
mod operand;
mod operands;
mod position;
mod programs;
mod reach;
mod read;
mod redirected;
mod scan;
mod shells;
mod special;
mod step;
#[cfg(test)]
#[rustfmt::skip]
mod tests;
mod tree;
mod word;
mod wrappers;
mod zsh;

pub use deny::denied;
pub use judge::{Finding, Rules, judge};
pub use names::{Variables, is_name, may_be_exported};
pub use reach::Guard;
pub use redirected::{Touched, touched};

/// Something in a command that cannot be vouched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The text it is about; empty for the command as a whole.
    pub part: String,
    /// What is wrong with it.
    pub why: String,
}

impl Fault {
    fn new(part: &str, why: &str) -> Self {
        Self {
            part: part.to_owned(),
            why: why.to_owned(),
        }
    }

    /// For a command on which the decision's steps were spent.
    fn too_much() -> Self {
        Self::new("", "it takes too much work to judge")
    }

    /// For text that the parser did not take apart as a shell would.
    fn unread(part: &str) -> Self {
        Self::new(part, "this cannot be read with certainty")
    }
}
