//! What `git` removes, moves or writes, by its subcommand.

use super::refuse_if;
use super::{Checked, Fault, NOT_KNOWN, Operand, Program, Reach, plain, plain_or_option};
use crate::permission::protected::{ANY, ANYTHING};
use crate::permission::shell::git_names::{GIT_TREE, Named, SETTINGS};
use crate::permission::shell::programs::{self, GitCommand};
use crate::permission::shell::runners::abbreviates;
use crate::permission::shell::word::Word;
use crate::sys::name_list::Names;

const SETS: &str = "later commands of git might remove other files";

impl Reach<'_> {
    /// A `git` command.
    pub(super) fn git(&self, arguments: &[Word]) -> Checked {
        let git = programs::git(arguments);
        if git.verb == Some("config") && self.sets(git.behind) {
            return Fault::refuse("config", SETS);
        }
        match git.effect {
            // Any word may be the name of any subcommand.
            _ if git.verb.is_some() && self.git.alias == Named::Wholly => {
                self.git_changes(arguments, &GitCommand { verb: None, ..git })
            }
            Program::Changes { .. } if git.verb.is_some() || self.may_remove(arguments, &git) => {
                self.git_changes(arguments, &git)
            }
            Program::Reads => {
                let before = git.behind.iter().take_while(|word| !word.is_any(&["--"]));
                // `--output=FILE`.
                let writes = before.into_iter().any(|word| self.may_be_option(word));
                self.met_unknown.set(self.met_unknown.get() || writes);
                Ok(())
            }
            _ => self.others(arguments),
        }
    }

    /// Whether `git config` with these arguments may set what changes other subcommands.
    fn sets(&self, arguments: &[Word]) -> bool {
        const READS: Names = Names::new(
            "get list -l --list --get --get-all --get-regexp --get-urlmatch --get-color",
        );
        let may_name = |word: &Word| {
            let name = word.raw.replace(['"', '\'', '\\'], "").to_ascii_lowercase();
            let unknown = word.text().is_none() && self.git.alias != Named::Not;
            unknown || SETTINGS.iter().any(|part| name.contains(part))
        };
        !arguments
            .iter()
            .any(|word| word.fits(|text| READS.has(text)))
            && arguments.iter().any(may_name)
    }

    /// Whether a subcommand of `git` that is not known may remove or move files.
    fn may_remove(&self, arguments: &[Word], git: &GitCommand) -> bool {
        let removes = |operand: &Operand| matches!(operand.path(), Some("clean" | "rm" | "mv"));
        let verb = arguments.get(git.at);
        self.git.removal || verb.is_some_and(|verb| self.named(verb).iter().any(removes))
    }

    /// `git clean`, `rm` and `mv`, and a subcommand that is not known.
    fn git_changes(&self, arguments: &[Word], git: &GitCommand) -> Checked {
        self.others(&arguments[..git.at])?;
        let is_option = |word: &&Word| word.begins_option() || self.may_become_option(word);
        self.others(git.behind.iter().filter(is_option))?;
        Fault::refuse_if(self.git.work_tree, GIT_TREE, NOT_KNOWN)?;
        let is_all = git.verb == Some("clean") && !self.names_path(git.behind);
        if is_all || git.verb.is_none() {
            self.changed(&Word::literal("."), true)?;
        }
        let is_pathspec = |word: &&Word| {
            word.prefix().starts_with(':') || word.raw.starts_with("--pathspec-from")
        };
        if let Some(word) = git.behind.iter().find(is_pathspec) {
            return Fault::refuse(&word.raw, NOT_KNOWN);
        }
        plain(git.behind).try_for_each(|word| {
            if !matches!(git.verb, Some("clean" | "rm")) {
                self.moves_elsewhere(word)?;
            }
            self.pathspec(word)
        })
    }

    /// Whether one of the arguments of `git clean` is surely a path: no option, nor the value of `-e`.
    fn names_path(&self, arguments: &[Word]) -> bool {
        let takes_one = |word: &Word| {
            let text = word.prefix();
            let is_short = !text.starts_with("--") && text.ends_with('e');
            let is_one = text.starts_with('-') && (is_short || abbreviates(text, "--exclude"));
            is_one || self.may_become_option(word)
        };
        let mut is_value = false;
        plain_or_option(arguments).any(|(word, is_option)| {
            let was_value = std::mem::replace(&mut is_value, takes_one(word));
            !is_option && !was_value && !self.may_become_option(word)
        })
    }

    /// What `git` removes or moves. It expands globs itself, which match in every directory below;
    /// so do those that the shell leaves as they are.
    fn pathspec(&self, word: &Word) -> Checked {
        if !word.raw.contains(['*', '?', '[', '\\']) {
            return self.changed(word, true);
        }
        self.each(word, |operand| match operand {
            Operand::Path(text) => {
                let glob = text.find(['*', '?', '[', '\\', ANY, ANYTHING]);
                let above = |at| text[..at].rsplit_once('/').map_or(".", |(above, _)| above);
                let path = glob.map_or(text.as_str(), above);
                refuse_if(word, self.is_near_place(path))
            }
            Operand::Unknown(_) => Fault::refuse(&word.raw, NOT_KNOWN),
            _ => self.part_outside(word, operand, &[]),
        })
    }
}
