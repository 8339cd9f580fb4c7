//! What a shell command line would run (docs/spec/restriction.md#shell-commands), read so that
//! nothing runs unseen: `read` compares the results of `scan` and of the parser, which must agree. `check` checks
//! every step against the rules, `deny` against denials.

mod builtins;
mod check;
mod constants;
mod deny;
#[cfg(test)]
mod differential;
mod directories;
mod expansion;
mod find;
mod heredoc;
mod names;
mod operand;
mod operands;
mod options;
mod position;
mod programs;
mod reach;
mod read;
mod reading_programs;
mod redirected;
mod scan;
mod special;
mod step;
#[cfg(test)]
#[rustfmt::skip]
mod tests;
mod tree;
mod word;
mod wrappers;
mod zsh;

use crate::permission::steps::Steps;

pub use check::{CommandRules, check};
pub use deny::{Denial, check_denials};
pub use names::{Variables, is_name, may_be_exported};
pub use options::ReadKind;
pub use programs::{COMMON, EntryShape, Wraps, by_name, by_path, has_word};
pub use reach::Surroundings;
pub use read::ParseCache;
pub use reading_programs::ReadScope;
pub use redirected::{Effects, effects};
pub use step::{SimpleCommand, Step};

/// Part of a command whose safety cannot be established.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The text concerned; empty for the command as a whole.
    pub part: String,
    /// What is wrong with it.
    pub why: String,
}

/// What stands for the names that `find` and `xargs` put in, and is read as something unknown.
const PLACEHOLDER: &str = "$(…)";

impl Rejection {
    fn new(part: &str, why: &str) -> Self {
        Self {
            part: part.replace(PLACEHOLDER, "{}"),
            why: why.to_owned(),
        }
    }

    /// The text concerned, in a command.
    pub fn part_or<'t>(&'t self, command: &'t str) -> &'t str {
        if self.part.is_empty() {
            command
        } else {
            &self.part
        }
    }

    /// The fault as an error.
    fn err<T>(part: &str, why: &str) -> Result<T, Self> {
        Err(Self::new(part, why))
    }

    /// The fault as an error, if the condition holds.
    fn err_if(condition: bool, part: &str, why: &str) -> Result<(), Self> {
        if condition {
            return Self::err(part, why);
        }
        Ok(())
    }

    /// Deducts work; an error once the decision's steps ran out.
    fn spend(steps: &Steps, work: usize) -> Result<(), Self> {
        Self::err_if(!steps.spend(work), "", "it takes too much work to judge")
    }

    /// The parser did not split the text as a shell would.
    fn misparsed(part: &str) -> Self {
        Self::new(part, "this cannot be read with certainty")
    }
}
