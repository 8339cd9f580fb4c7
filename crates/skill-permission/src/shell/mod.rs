//! What a shell command line would run (docs/spec/restriction.md#shell-commands), read so that
//! nothing runs unseen: `parse` compares the results of `scan` and of the parser, which must agree.
//! `check` checks every step against the rules, `denials` against denials.

mod accepted_expansions;
mod check;
mod constants;
mod denials;
mod directories;
mod effects;
mod find;
mod heredoc;
mod lexer_position;
mod neutral_commands;
mod operand_paths;
mod options;
mod parse;
#[cfg(test)]
mod parser_comparison;
mod programs;
mod protected_operands;
mod reading_programs;
mod scan;
mod special_variables;
mod step;
mod variables;
mod word_expansion;
#[cfg(test)]
#[rustfmt::skip]
mod tests;
mod syntax_tree;
mod word;
mod wrappers;
mod zsh;

use crate::steps::Steps;

pub use check::{CommandRules, check};
pub use denials::{Denial, check_denials};
pub use effects::{Effects, effects};
pub use options::ReadKind;
pub use parse::ParseCache;
pub use programs::{COMMON, EntryShape, Wraps, by_name, by_path, has_word};
pub use reading_programs::Depth;
pub use step::{LineStep, SimpleCommand};
pub use variables::{Variables, is_name, may_be_exported};

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
        Self::err_if(!steps.spend(work), "", "checking it would take too long")
    }

    /// The parser did not split the text as a shell would.
    fn misparsed(part: &str) -> Self {
        Self::new(part, "this cannot be parsed with certainty")
    }
}
