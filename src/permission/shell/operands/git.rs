//! What `git` removes, moves or writes, by its subcommand.

use super::{Checked, Named, Reach, options, plain, refuse_if};
use crate::permission::protected::{ANY, ONE, UNKNOWN};
use crate::permission::shell::programs::{abbreviates, git_verb};
use crate::permission::shell::word::Word;

impl Reach<'_> {
    /// A `git` command.
    pub(super) fn git(&self, words: &[Word], arguments: &[Named]) -> Checked {
        let place = 1 + git_verb(words);
        let (options, rest) = arguments.split_at(arguments.partition_point(|one| one.at < place));
        let (verbs, behind) = rest.split_at(rest.partition_point(|one| one.at == place));
        self.others(options)?;
        for verb in verbs {
            match verb.text.as_str() {
                "clean" if leaves_files(behind, "--dry-run", 'n') => {}
                "clean" | "mv" => self.git_changes(&verb.text, behind)?,
                "rm" if !leaves_files(behind, "--cached", '\0') => {
                    self.git_changes(&verb.text, behind)?;
                }
                "log" | "diff" | "show" | "status" | "blame" => {
                    let writes = |text: &str| text.starts_with("-o") || text.starts_with("--ou");
                    self.others(behind.iter().filter(|named| writes(&named.text)))?;
                }
                _ => self.others(behind)?,
            }
        }
        Ok(())
    }

    /// `git clean`, `rm` and `mv`.
    fn git_changes(&self, verb: &str, behind: &[Named]) -> Checked {
        self.others(options(behind))?;
        if verb == "clean" && !names_path(behind) {
            let here = Word::literal(".");
            let here = self.named(std::slice::from_ref(&here))?;
            here.iter().try_for_each(|named| self.changed(named))?;
        }
        plain(behind).try_for_each(|named| self.pathspec(named))
    }

    /// What `git` removes or moves. It expands globs itself, which match in every directory below;
    /// so do those that the shell leaves as they are.
    fn pathspec(&self, named: &Named) -> Checked {
        let text = named.text.as_str();
        // As in `:/x` and `:(glob)x`: below the root or here.
        let magic = text.strip_prefix(':').map(|text| {
            let text = text.split_once(')').map_or(text, |(_, path)| path);
            text.trim_start_matches(['/', '!', '^'])
        });
        let text = magic.unwrap_or(text);
        let known = text.split(UNKNOWN).next().unwrap_or_default();
        let is_glob = named.word.raw.contains(['*', '?', '[', '\\']);
        let glob = known
            .find(['*', '?', '[', '\\', ANY, ONE])
            .filter(|_| is_glob);
        let above = |at| known[..at].rsplit_once('/').map_or(".", |(above, _)| above);
        let path = glob.map_or(text, above);
        let path = if magic.is_some() && path.is_empty() {
            "."
        } else {
            path
        };
        let root = self.guard.begin.join(path);
        let at_root = magic.is_some() && self.is_near(&root.to_string_lossy());
        refuse_if(named, at_root || self.is_near(path))
    }
}

/// Whether one of the arguments of `git clean` is a path: no option, nor the value of `-e`.
fn names_path(arguments: &[Named]) -> bool {
    let takes_one = |named: &Named| {
        let text = named.text.as_str();
        let is_short = !text.starts_with("--") && text.ends_with('e');
        text.starts_with('-') && (is_short || abbreviates(text, "--exclude"))
    };
    let (mut is_value, mut ended) = (false, false);
    arguments.iter().any(|named| {
        let was_value = std::mem::replace(&mut is_value, !ended && takes_one(named));
        let is_path = !was_value && (ended || !named.is_option());
        ended |= named.text == "--";
        is_path
    })
}

/// Whether an option stands before `--` by which `git` leaves files as they are, written out or as
/// `letter`, and none that takes it back. `-e` takes the next word.
fn leaves_files(arguments: &[Named], option: &str, letter: char) -> bool {
    let (mut is_there, mut is_value) = (false, false);
    let mut before = arguments.iter().take_while(|named| named.text != "--");
    let is_harmless = |named: &Named| {
        let text = named.text.as_str();
        if std::mem::take(&mut is_value) || !named.is_option() {
            return true;
        }
        let is_long = text.starts_with("--");
        let (letters, value) = text.split_once('e').unwrap_or((text, "x"));
        is_value = !is_long && value.is_empty();
        is_there |= text == option || !is_long && letters.contains(letter);
        !text.starts_with("--no-") && !text.starts_with("--e")
    };
    before.all(is_harmless) && is_there
}
