//! Whether a word names a protected place, as far as the word is known.

use std::path::{Path, PathBuf};

use super::{Checked, Fault, Operand, Reach, refuse_if};
use crate::permission::protected::{ANY, ANYTHING};
use crate::permission::shell::operand::{behind_unknown, parts};
use crate::permission::shell::word::Word;

/// Steps per part that may be a path, beside its length.
const PART: usize = 4;
const TOO_MANY: &str = "it has too many alternatives";

impl Reach<'_> {
    /// Refuses a word if part of it lies in a protected place other than the active skill's own.
    pub(super) fn part(&self, word: &Word, operand: &Operand) -> Checked {
        self.part_outside(word, operand, self.guard.own)
    }

    /// The same for a file that the shell itself writes.
    ///
    /// # Errors
    /// The word, and the reason.
    pub fn written(&self, word: &Word) -> Checked {
        self.each(word, |operand| self.part_outside(word, operand, &[]))
    }

    /// Refuses a word if part of it lies in a protected place other than these.
    pub(super) fn part_outside(&self, word: &Word, operand: &Operand, except: &[&Path]) -> Checked {
        let (text, is_known) = match operand {
            Operand::Path(text) => (text, true),
            Operand::Unknown(text) => (text, false),
            Operand::Temporary => return Ok(()),
            Operand::TooMany => return Fault::refuse(&word.raw, TOO_MANY),
        };
        let steps = self.guard.context.steps;
        let lies_within =
            |part: &str| !steps.spend(PART + part.len() / 16) || self.lies_within(part, except);
        if !is_known {
            self.unknown(word, text, except, lies_within)?;
        }
        refuse_if(word, parts(text).any(lies_within))
    }

    /// A word of which only the text before and behind something unknown is known.
    fn unknown(
        &self,
        word: &Word,
        text: &str,
        except: &[&Path],
        lies_within: impl Fn(&str) -> bool,
    ) -> Checked {
        self.met_unknown.set(true);
        // What stands before the unknown part: not `a` in `a:$x`.
        let mut before = parts(text).filter(|part| text.ends_with(part));
        refuse_if(word, before.any(|path| self.may_be_place(path)))?;
        self.guard.context.steps.spend(word.raw.len() / 16);
        let Some(behind) = behind_unknown(word, self.known) else {
            return Fault::refuse(&word.raw, TOO_MANY);
        };
        for tail in &behind {
            Self::joined(word, text, tail, &lies_within)?;
        }
        // Any name in any directory would be every place.
        let says_nothing = |tail: &&str| {
            let mut names = tail.split('/');
            let name = names.find(|name| !matches!(*name, "" | "." | ".."));
            name.is_none_or(|name| name.trim_matches([ANY, ANYTHING]).is_empty())
        };
        let tails = behind.iter().filter_map(|text| text.get(text.find('/')?..));
        let mut tails = tails.filter(|tail| !says_nothing(tail));
        tails.try_for_each(|tail| self.behind_unknown(word, text, tail, except, &lies_within))
    }

    /// What stands on both sides of the unknown part of a name, which may be empty.
    fn joined(word: &Word, text: &str, tail: &str, lies_within: impl Fn(&str) -> bool) -> Checked {
        let name = [text.rsplit('/').next(), tail.split('/').next()];
        let mut letters = name.into_iter().flatten();
        if !letters.any(|part| part.contains(char::is_alphanumeric)) {
            return Ok(());
        }
        let joined = format!("{text}{ANYTHING}{tail}");
        refuse_if(word, parts(&joined).any(lies_within))
    }

    fn behind_unknown(
        &self,
        word: &Word,
        text: &str,
        tail: &str,
        except: &[&Path],
        lies_within: impl Fn(&str) -> bool,
    ) -> Checked {
        // It may well be the project's root or the home directory.
        let root = self.guard.begin.to_string_lossy();
        let home = self.guard.context.places.home.as_deref();
        let home = home.and_then(Path::to_str);
        let mut bases = [Some(root.as_ref()), home].into_iter().flatten();
        let protection = self.guard.context.protection;
        // How far up it leads is not known either.
        let climbed = tail.trim_start_matches("/..");
        let below = Path::new(climbed.trim_start_matches('/'));
        // Before it stands nothing, or only the letter of an option.
        let is_begin = text.is_empty() || text.starts_with('-') && !text.contains('/');
        let may_end_within =
            || is_begin && protection.may_end_within(below) && !leads_into(below, except);
        let leads_in = bases.any(|base| lies_within(&format!("{base}{climbed}")))
            // Any name, for a `..` behind it.
            || lies_within(&format!("{text}…{tail}"))
            || may_end_within();
        refuse_if(word, leads_in)
    }
}

/// Whether a path begins with the last two names of one of these directories, as
/// `"$PLUGIN/skills/pdf/x.py"` does.
fn leads_into(path: &Path, directories: &[&Path]) -> bool {
    directories.iter().any(|directory| {
        let names = directory.components();
        let before = names.clone().count().saturating_sub(2);
        path.starts_with(names.skip(before).collect::<PathBuf>())
    })
}
