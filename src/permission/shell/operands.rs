//! What a command would change through its operands (docs/spec/restriction.md#operands): no rule
//! lets it remove, move, replace or link the files that restrict it, or run our own executable.

use std::path::PathBuf;

use super::Fault;
use super::deny::runs_input;
use super::directories::WorkingDirectories;
use super::filters::files_of_sed;
use super::operand::{Operand, parts};
use super::programs::{self, Program, runs_words_from};
use super::reach::{Checked, Reach};
use super::runners::{self, base};
use super::word::Word;
use super::wrappers::{self, Inner};
use crate::permission::protected::{ANY, ANYTHING, Relation, WHY_PROTECTED};
use crate::sys::name_list::Names;

mod entering;
mod finding;
mod git;
mod naming;
mod placing;

/// Options of many programs whose value is the directory to run in.
const DIRECTORY_OPTIONS: Names = Names::new(
    "-C -D -P -d -w --cd --chdir --chroot --cwd --dir --directory --directory-prefix --output-dir \
     --prefix --project --wd --work-tree --workdir --working-directory",
);

/// Programs that append words to the command among theirs.
const FED: Names = Names::new("xargs parallel fd fdfind");

/// Wrappers that may look for a program in other directories.
const WRAPPERS: Names = Names::new(
    "exec command env sudo doas su runuser chroot xargs setsid nice timeout time nohup stdbuf",
);

const NOT_KNOWN: &str = "it is not known what this removes or moves";
/// Steps per word that may be a directory, beside its expansion.
const WORD: usize = 4;
/// Steps per word copied into the command that a wrapper runs.
const COPY: usize = 8;
/// The limit of words that may each begin another command.
const MAX_WORDS: usize = 256;

impl Reach<'_> {
    /// The word that may run our own executable, if any.
    pub fn runs_ours(&self, words: &[Word]) -> Option<String> {
        // A shell may run any word as `$0` or `$1`.
        let is_shell = words
            .first()
            .is_some_and(|word| word.fits(runners::runs_text));
        let wraps = |word: &Word| word.fits(|text| WRAPPERS.has(base(text)));
        let wraps = words.first().is_some_and(wraps);
        let is_it = |(at, word): &(usize, &Word)| {
            let looked_for = *at == 0 && !word.raw.contains('/') || wraps || self.sets_path;
            self.is_ours(word) || looked_for && self.is_named_like_ours(word)
        };
        let commands = self.commands_in(words);
        let commands = commands.map(|inner| (words.len() - inner.len(), &inner[0]));
        let all = words.iter().enumerate();
        let all = all.filter(|_| is_shell || self.sets_path);
        let found = commands.chain(all).find(is_it);
        found.map(|(_, word)| word.raw.clone())
    }

    /// Whether one of the words may begin a program that runs its standard input.
    pub fn reads_commands(words: &[Word]) -> bool {
        let from = runs_words_from(words).unwrap_or(words.len());
        words.iter().enumerate().any(|(at, word)| {
            let runs = |program: &str| runs_input(base(program), &words[at + 1..]);
            (at == 0 || at >= from) && word.fits(runs)
        })
    }

    /// Refuses a command that would change a protected place.
    ///
    /// # Errors
    /// The word concerned, and the reason.
    pub fn check(&self, words: &[Word]) -> Checked {
        // A command inside wrappers or `find` is checked again for each of them.
        Fault::afford(self.guard.context.steps, COPY * (1 + words.len()))?;
        if let Some(Inner::Command(inner)) = wrappers::unwrap(words) {
            return self.check(&inner);
        }
        let is_fed = |word: &Word| word.fits(|text| FED.has(base(text)));
        let fed = words
            .iter()
            .any(is_fed)
            .then(|| [words, &[Word::unknown()]].concat());
        let words = fed.as_deref().unwrap_or(words);
        let with_options = self.with_options(words);
        for words in [words].into_iter().chain(with_options.as_deref()) {
            self.check_here(words)?;
            for directory in self.directories_named(words) {
                self.moved(&WorkingDirectories::at(directory))
                    .check_here(words)?;
            }
        }
        Ok(())
    }

    /// The command with every option that one of its words may become written out before that word,
    /// as in `for o in -l; do cp "$o" a b; done`; `None` if none does.
    fn with_options(&self, words: &[Word]) -> Option<Vec<Word>> {
        let mut all = Vec::new();
        for word in words {
            if word.text().is_none() {
                let named = self.named(word);
                let options = named.iter().filter_map(option_of);
                all.extend(options.map(Word::literal));
            }
            all.push(word.clone());
        }
        (all.len() > words.len()).then_some(all)
    }

    /// Whether it is not known that a word becomes no option.
    fn may_be_option(&self, word: &Word) -> bool {
        let may_be = |operand: &Operand| match operand {
            Operand::Unknown(text) => text.is_empty() || text.starts_with('-'),
            Operand::TooMany => true,
            Operand::Path(_) | Operand::Temporary => false,
        };
        word.text().is_none() && self.named(word).iter().any(may_be)
    }

    /// The directories among a command's words in which it may run, as with `git -C`: those of
    /// [`DIRECTORY_OPTIONS`], and all that hold a protected place or lie in one.
    pub fn directories_named(&self, words: &[Word]) -> Vec<PathBuf> {
        let Some((program, arguments)) = words.split_first() else {
            return Vec::new();
        };
        let arguments = match Program::named(program.text().unwrap_or_default()) {
            Program::Git => {
                let at = programs::git(arguments).at;
                // Behind an option that is not known there may be more of them.
                let is_option = arguments.get(at).is_some_and(Word::begins_option);
                if is_option {
                    arguments
                } else {
                    &arguments[..at]
                }
            }
            Program::Other => arguments,
            // They change no directory.
            _ => return Vec::new(),
        };
        // From a directory apart from all places, a path leads into one only upwards.
        let leads_up = words.iter().any(|word| word.raw.contains(".."));
        let mut found: Vec<PathBuf> = Vec::new();
        self.add_directories(arguments, leads_up, &mut found);
        // Each may be relative to one before it. So many options cannot be nested deeper.
        let mut begin = 0;
        for _ in arguments {
            let end = found.len();
            for at in begin..end {
                let directory = found[at].clone();
                if self.relation_at(&directory) != Relation::Within {
                    self.moved(&WorkingDirectories::at(directory))
                        .add_directories(arguments, leads_up, &mut found);
                }
            }
            begin = end;
        }
        found
    }

    fn add_directories(&self, arguments: &[Word], leads_up: bool, found: &mut Vec<PathBuf>) {
        let names_directory =
            |text: &str| leads_up && text.starts_with('-') && DIRECTORY_OPTIONS.has(text);
        for (at, word) in arguments.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| arguments[at].text());
            let is_value = before.is_some_and(names_directory);
            if !self.guard.context.steps.spend(WORD) {
                return;
            }
            let all = self.named(word);
            let texts = all.iter().filter_map(Operand::path);
            for (text, part) in texts.flat_map(|text| parts(text).map(move |part| (text, part))) {
                let option = text
                    .strip_suffix(part)
                    .map(|option| option.trim_end_matches('='));
                let names_one = is_value || option.is_some_and(names_directory);
                for path in self.paths(part).into_iter().flatten() {
                    let path = self.guard.begin.join(path);
                    // Programs follow links before `..`.
                    let path = self.guard.context.locate(&path).simplified(path);
                    // A name that says nothing would be every directory.
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let says_nothing =
                        !name.is_empty() && name.trim_matches([ANY, ANYTHING]).is_empty();
                    if self.guard.context.steps.spend(1 + found.len())
                        && !says_nothing
                        && !found.contains(&path)
                        && (names_one || self.relation_at(&path) != Relation::Apart)
                    {
                        found.push(path);
                    }
                }
            }
        }
    }

    /// The same in other directories.
    fn moved<'d>(&self, directories: &'d WorkingDirectories) -> Reach<'d>
    where
        Self: 'd,
    {
        Reach {
            directories,
            ..*self
        }
    }

    fn check_here(&self, words: &[Word]) -> Checked {
        for (at, words) in self.commands_in(words).enumerate() {
            let program = Program::named(words[0].text().unwrap_or_default());
            if at == 0 || program.changes() || matches!(program, Program::Find | Program::Git) {
                self.program(program, &words[1..])?;
            }
            if words[0].text().is_none() {
                self.perhaps_changed(&words[1..])?;
            }
        }
        Ok(())
    }

    /// The command, and every other that may begin at one of its words.
    fn commands_in<'w>(&self, words: &'w [Word]) -> impl Iterator<Item = &'w [Word]> {
        let from = runs_words_from(words).unwrap_or(words.len());
        let others = (from..words.len()).take(MAX_WORDS);
        self.guard.context.steps.spend(others.len() * words.len());
        let places = (0..words.len().min(1)).chain(others);
        places.map(|at| &words[at..])
    }

    fn program(&self, program: Program, arguments: &[Word]) -> Checked {
        match program {
            Program::Reads => Ok(()),
            Program::Changes { whole_trees } => self.each_changed(arguments, whole_trees),
            Program::Moves | Program::Copies { .. } | Program::Links => {
                self.placed(program, arguments)
            }
            Program::Sed if files_of_sed(arguments).is_some() => Ok(()),
            Program::Sed => {
                arguments
                    .iter()
                    .try_for_each(|word| self.sed_writes(word))?;
                if arguments.iter().any(|word| is_option(word, "i")) {
                    return self.each_changed(arguments, "");
                }
                self.others(arguments)
            }
            Program::Other => self.others(arguments),
            Program::Dd => arguments.iter().try_for_each(|word| {
                let unread = !word.raw.starts_with("if=") || !word.is_one_word();
                self.each(word, |operand| match operand {
                    Operand::Path(text) => {
                        let file = text.strip_prefix("of=");
                        refuse_if(word, file.is_some_and(|file| self.is_near_place(file)))
                    }
                    _ if unread => self.part(word, operand),
                    _ => Ok(()),
                })
            }),
            Program::Find => self.find(arguments),
            Program::Git => self.git(arguments),
        }
    }

    /// Operands of a program that is not known, as in `"$(command -v rm)" -r .claude`, also behind a
    /// wrapper.
    fn perhaps_changed(&self, arguments: &[Word]) -> Checked {
        let mut words = plain(arguments);
        words.try_for_each(|word| self.each_path(word, |path| self.holds_little_else(path)))
    }

    /// Operands that are removed or changed, and the values of options. With an option of these
    /// letters that applies to whole trees.
    fn each_changed(&self, arguments: &[Word], whole_trees: &str) -> Checked {
        self.others(options(arguments))?;
        let mut has = arguments.iter().map(|word| is_option(word, whole_trees));
        let whole = !whole_trees.is_empty() && has.any(|is| is);
        // Text that becomes several words may also contain the option.
        let may_be = |word: &Word| !whole_trees.is_empty() && !word.is_one_word();
        plain(arguments).try_for_each(|word| self.changed(word, whole || may_be(word)))
    }

    /// Files that a program for `sed` writes with `w`.
    fn sed_writes(&self, word: &Word) -> Checked {
        self.each(word, |operand| {
            let (Operand::Path(text) | Operand::Unknown(text)) = operand else {
                return Ok(());
            };
            let behind = text
                .match_indices(['w', 'W'])
                .map(|(at, _)| &text[at + 1..]);
            let mut files = behind
                .filter_map(|rest| rest.lines().next())
                .map(str::trim_start);
            let steps = self.guard.context.steps;
            let is_foreign = |file: &str| {
                !steps.spend(1 + file.len() / 16) || !file.is_empty() && self.is_foreign(file)
            };
            refuse_if(word, files.any(is_foreign))
        })
    }

    /// Unknown programs may use anything unprotected, and the active skill's files.
    ///
    /// # Errors
    /// The word, and the reason.
    pub fn others<'w>(&self, words: impl IntoIterator<Item = &'w Word>) -> Checked {
        let mut words = words.into_iter();
        words.try_for_each(|word| self.each(word, |operand| self.part(word, operand)))
    }

    /// An operand that is removed or changed, perhaps with everything below it.
    fn changed(&self, word: &Word, whole: bool) -> Checked {
        self.each(word, |operand| match operand {
            // As in `sed -i '' …` of macOS.
            Operand::Path(text) if text.is_empty() => Ok(()),
            Operand::Path(text) => refuse_if(word, self.is_near_place(text)),
            Operand::Unknown(_) if whole => Fault::refuse(&word.raw, NOT_KNOWN),
            _ => self.part_outside(word, operand, &[]),
        })
    }

    /// Whether a path is a protected place, or lies in or around one.
    fn is_near_place(&self, path: &str) -> bool {
        self.relation(path) != Relation::Apart
    }

    /// Refuses a word if `is_refused` holds for a path that it may name, or if it may name part of a
    /// protected place otherwise.
    fn each_path_or_part(&self, word: &Word, is_refused: impl Fn(&str) -> bool) -> Checked {
        self.each(word, |operand| match operand {
            Operand::Path(path) => refuse_if(word, is_refused(path)),
            _ => self.part_outside(word, operand, &[]),
        })
    }

    /// Whether a word may become an option.
    fn may_become_option(&self, word: &Word) -> bool {
        let is_option = |operand: &Operand| option_of(operand).is_some();
        word.text().is_none()
            && (self.may_be_option(word) || self.named(word).iter().any(is_option))
    }
}

/// The option that an operand is.
fn option_of(operand: &Operand) -> Option<&str> {
    operand.path().filter(|text| text.starts_with('-'))
}

fn refuse_if(word: &Word, refused: bool) -> Checked {
    Fault::refuse_if(refused, &word.raw, WHY_PROTECTED)
}

fn options(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    arguments.iter().filter(|word| word.begins_option())
}

/// Words that are not options.
fn plain(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    let words = plain_or_option(arguments);
    words.filter_map(|(word, is_option)| (!is_option).then_some(word))
}

/// The words, and whether each is an option.
fn plain_or_option(arguments: &[Word]) -> impl Iterator<Item = (&Word, bool)> {
    let mut ended = false;
    arguments.iter().filter_map(move |word| {
        let ends = !ended && word.text() == Some("--");
        ended |= ends;
        (!ends).then(|| (word, !ended && word.begins_option()))
    })
}

/// Whether a word begins as an option and goes on with something that is not known: it may be any.
fn is_open(word: &Word) -> bool {
    word.begins_option() && word.text().is_none() && !word.prefix().contains('=')
}

/// Whether a word may be an option with one of these letters, in a cluster or in long form too.
pub fn is_option(word: &Word, letters: &str) -> bool {
    let Some(option) = word.prefix().strip_prefix('-') else {
        return false;
    };
    if is_open(word) || letters.is_empty() {
        return true;
    }
    match option.strip_prefix('-') {
        Some(long) => long.starts_with(|c: char| letters.to_lowercase().contains(c)),
        None => option.contains(|c: char| letters.contains(c)),
    }
}
