//! Checks commands against denials (docs/spec/restriction.md#denials): each simple command that is
//! read is compared, and those that it runs by its words. What cannot be read is refused.

use super::Rejection;
use super::parse::ParseCache;
use super::programs::{OperandUse, base, by_path};
use super::step::SimpleCommand;
use super::word::{self, Word};
use super::wrappers::{self, WrappedCommand};
use crate::command_pattern::CanonicalCommand;
use crate::vocabulary::Shell;

/// The limit of commands and texts within each other.
const MAX_DEPTH: usize = 8;

/// Why a command line is denied.
pub enum Denial {
    /// `denies` matches this part by the rule of this number.
    Rule(String, usize),
    /// What cannot be read, or what runs a program whose name is not plain text, may be denied.
    Unclear(Rejection),
}

impl From<Rejection> for Denial {
    fn from(rejection: Rejection) -> Self {
        Self::Unclear(rejection)
    }
}

/// Refuses a command line of which `denies` matches a part: it returns the rule's number.
///
/// # Errors
/// The first such part, or what is not clear.
pub fn check_denials(
    command: &str,
    denies: &dyn Fn(&CanonicalCommand) -> Option<usize>,
    cache: &ParseCache,
) -> Result<(), Denial> {
    DenialCheck { denies, cache }.check_text(command, cache.places.shell, 0)
}

struct DenialCheck<'a> {
    denies: &'a dyn Fn(&CanonicalCommand) -> Option<usize>,
    cache: &'a ParseCache<'a>,
}

impl DenialCheck<'_> {
    fn check_text(&self, text: &str, shell: Shell, depth: usize) -> Result<(), Denial> {
        let reading = self.cache.parse(text, shell, false);
        let reading = reading.as_ref().as_ref().map_err(Rejection::clone)?;
        let mut commands = reading.commands();
        commands.try_for_each(|simple| self.check_command(&simple.words, simple, depth))
    }

    /// A command that is, or is run by, a simple one.
    fn check_command(
        &self,
        words: &[Word],
        simple: &SimpleCommand,
        depth: usize,
    ) -> Result<(), Denial> {
        let Some((program, arguments)) = words.split_first() else {
            return Ok(());
        };
        Rejection::spend(self.cache.steps, words.len())?;
        Rejection::err_if(depth > MAX_DEPTH, "", "too many commands within commands")?;
        let unknown = || Rejection::new(&program.raw, "the program must be plain text");
        let name = program.text().ok_or_else(unknown)?;
        // A rule for a subcommand means it behind other options, too.
        let row = by_path(name);
        let verb = match row.operand_use {
            OperandUse::Git => wrappers::git_subcommand_index(arguments),
            _ => 0,
        };
        for name in [name, base(name)] {
            let name = Word::literal(name);
            for arguments in [arguments, &arguments[verb..]] {
                let command = std::iter::once(&name).chain(arguments);
                if let Some(rule) = (self.denies)(&word::canonical(&[], command)) {
                    return Err(Denial::Rule(simple.source(), rule));
                }
            }
        }
        for run in wrappers::inner_commands(row, arguments) {
            match run {
                WrappedCommand::Command(words) => self.check_command(&words, simple, depth + 1)?,
                WrappedCommand::Text { text, is_known } => {
                    Rejection::err_if(!is_known, name, "it runs text that is not known")?;
                    self.check_text(&text, Shell::default(), depth + 1)?;
                }
            }
        }
        Ok(())
    }
}
