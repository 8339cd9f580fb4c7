//! What a command would change through its operands (docs/spec/restriction.md#operands): no rule
//! lets it remove, move, replace or link the files that restrict it, or run our own executable.

use super::Fault;
use super::find;
use super::operand::Operand;
use super::programs::{self, Program};
use super::reach::{Checked, Reach};
use super::runners::{base, runs_words};
use super::word::Word;
use super::wrappers::{self, Inner};
use crate::permission::protected::{Relation, WHY_PROTECTED};

mod placing;

const NOT_KNOWN: &str = "it is not known what this removes or moves";
/// Steps per word copied into the command that a wrapper runs.
const COPY: usize = 8;
/// The limit of words that may each begin another command.
const MAX_WORDS: usize = 256;

impl Reach<'_> {
    /// The word that runs our own executable, if any.
    pub fn runs_ours<'w>(&self, words: &'w [Word]) -> Option<&'w Word> {
        self.commands_in(words)
            .filter_map(|words| words.first())
            .find(|word| self.is_ours(word))
    }

    /// Refuses a command that would change a protected place.
    ///
    /// # Errors
    /// The word concerned, and the reason.
    pub fn check(&self, words: &[Word]) -> Checked {
        // A command inside wrappers or `find` is checked again for each of them.
        if !self.guard.context.steps.spend(COPY * (1 + words.len())) {
            return Err(Fault::too_much());
        }
        if let Some(Inner::Command(inner)) = wrappers::unwrap(words) {
            return self.check(&inner);
        }
        for (at, words) in self.commands_in(words).enumerate() {
            let program = Program::named(words[0].text().unwrap_or_default());
            if at == 0 || program.changes() {
                self.program(program, &words[1..])?;
            }
        }
        Ok(())
    }

    /// The command, and every other that may begin at one of its words.
    fn commands_in<'w>(&self, words: &'w [Word]) -> impl Iterator<Item = &'w [Word]> {
        let program = words.first().and_then(Word::text).unwrap_or_default();
        let count = if runs_words(base(program)) {
            words.len().min(MAX_WORDS)
        } else {
            1
        };
        self.guard.context.steps.spend(count * words.len());
        (0..count.min(words.len())).map(|at| &words[at..])
    }

    fn program(&self, program: Program, arguments: &[Word]) -> Checked {
        match program {
            Program::Reads => Ok(()),
            Program::Changes { whole_trees } => {
                let whole = arguments.iter().any(|word| is_option(word, whole_trees));
                self.each_changed(arguments, whole)
            }
            Program::Moves | Program::Copies { .. } | Program::Links => {
                self.placed(program, arguments)
            }
            Program::Sed if arguments.iter().any(|word| is_option(word, "i")) => {
                self.each_changed(arguments, false)
            }
            Program::Sed | Program::Other => self.others(arguments),
            Program::Dd => arguments.iter().try_for_each(|word| {
                let unread = !word.raw.starts_with("if=");
                let value = |text: &str| text.strip_prefix("of=").map(str::to_owned);
                self.each(word, |operand| match operand {
                    Operand::Path(text) => value(text).map_or(Ok(()), |path| {
                        refuse_if(word, self.relation(&path) != Relation::Apart)
                    }),
                    _ if unread => self.part(word, operand),
                    _ => Ok(()),
                })
            }),
            Program::Find => self.find(arguments),
            Program::Git => {
                let (program, behind) = programs::git(arguments);
                match program {
                    Program::Changes { .. } => self.git_changes(arguments, behind),
                    program => self.program(program, arguments),
                }
            }
        }
    }

    /// Operands that are removed or changed, and the values of options.
    fn each_changed(&self, arguments: &[Word], whole: bool) -> Checked {
        self.others(options(arguments))?;
        plain(arguments).try_for_each(|word| self.changed(word, whole))
    }

    /// Unknown programs may use anything unprotected, and the active skill's files.
    fn others<'w>(&self, words: impl IntoIterator<Item = &'w Word>) -> Checked {
        let mut words = words.into_iter();
        words.try_for_each(|word| self.each(word, |operand| self.part(word, operand)))
    }

    /// Refuses a word if part of it lies in a protected place other than the active skill's own.
    fn part(&self, word: &Word, operand: &Operand) -> Checked {
        let (Operand::Path(text) | Operand::Unknown(text)) = operand else {
            return Ok(());
        };
        // A value may stand behind any letter of clustered options: `-so.claude/x`.
        let cluster = text.strip_prefix('-').unwrap_or_default();
        let letters = cluster.bytes().take_while(u8::is_ascii_alphanumeric);
        let values = (1..=letters.count().max(1)).filter_map(|at| cluster.get(at..));
        // Without a separator it would be the whole text again.
        let splits = text
            .split(['=', ':', ',', '@'])
            .filter(|part| part.len() < text.len());
        let after = text
            .match_indices(['=', ':'])
            .map(|(at, _)| &text[at + 1..]);
        let mut parts = std::iter::once(text.as_str())
            .chain(values)
            .chain(splits)
            .chain(after)
            .filter(|part| !part.is_empty() && !part.starts_with('-'));
        let steps = self.guard.context.steps;
        let is_foreign = |part: &str| !steps.spend(1 + part.len() / 16) || self.is_foreign(part);
        refuse_if(word, parts.any(is_foreign))
    }

    /// An operand that is removed or changed, with everything below it.
    fn changed(&self, word: &Word, whole: bool) -> Checked {
        self.each(word, |operand| match operand {
            Operand::Path(text) => refuse_if(word, self.relation(text) != Relation::Apart),
            // Text that becomes several words may also contain the option.
            Operand::Unknown(_) if whole || !word.is_one_word() => {
                Fault::refuse(&word.raw, NOT_KNOWN)
            }
            Operand::Unknown(_) => self.part(word, operand),
            Operand::Temporary => Ok(()),
        })
    }

    fn find(&self, arguments: &[Word]) -> Checked {
        let is_global = |word: &&Word| word.is_any(&["-H", "-L", "-P"]);
        let begins = |word: &Word| word.prefix().starts_with(['-', '(', '!']);
        let globals = arguments.iter().take_while(is_global).count();
        let behind = &arguments[globals..];
        let (paths, tests) =
            behind.split_at(behind.iter().position(begins).unwrap_or(behind.len()));
        let mut removes = tests.iter().any(|word| word.is_any(&["-delete"]));
        let mut writes = removes;
        for at in (0..tests.len()).filter(|at| tests[*at].is_any(&find::RUNS)) {
            let command = &tests[at + 1..];
            let end = command.iter().position(|word| word.is_any(&[";", "+"]));
            let mut words = command[..end.unwrap_or(command.len())].to_vec();
            wrappers::make_unknown(&mut words, "{}");
            words.push(Word::unknown());
            let changes =
                |words: &[Word]| Program::named(words[0].text().unwrap_or_default()).changes();
            removes |= self.commands_in(&words).any(changes)
                || matches!(wrappers::unwrap(&words), Some(Inner::Command(inner)) if changes(&inner));
            writes = true;
            self.check(&words)?;
        }
        writes |= tests.iter().any(|word| word.prefix().starts_with("-f"));
        match (removes, writes) {
            (true, _) if paths.is_empty() => self.changed(&Word::literal("."), true),
            (true, _) => paths.iter().try_for_each(|word| self.changed(word, true)),
            (false, true) => self.others(arguments),
            (false, false) => Ok(()),
        }
    }

    /// `git clean`, `rm` and `mv`, in every directory named before them.
    fn git_changes(&self, arguments: &[Word], behind: &[Word]) -> Checked {
        let before = &arguments[..arguments.len() - behind.len()];
        self.others(options(before))?;
        let named: Vec<&Word> = plain(before).collect();
        // The last one is the subcommand itself.
        let elsewhere = &named[..named.len().saturating_sub(1)];
        for word in elsewhere {
            self.changed(word, true)?;
        }
        let cleans = named.last().and_then(|word| word.text()) == Some("clean");
        if cleans && plain(behind).next().is_none() {
            return self.changed(&Word::literal("."), true);
        }
        plain(behind).try_for_each(|word| self.changed(word, true))
    }
}

fn refuse_if(word: &Word, refused: bool) -> Checked {
    if refused {
        return Fault::refuse(&word.raw, WHY_PROTECTED);
    }
    Ok(())
}

fn options(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    arguments.iter().filter(|word| word.begins_option())
}

/// Words that are not options.
fn plain(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    let mut ended = false;
    arguments.iter().filter(move |word| {
        let ends = !ended && word.text() == Some("--");
        ended |= ends;
        !ends && (ended || !word.begins_option())
    })
}

/// Whether a word may be an option with one of these letters, in a cluster or in long form too.
fn is_option(word: &Word, letters: &str) -> bool {
    let Some(option) = word.prefix().strip_prefix('-') else {
        return false;
    };
    match option.strip_prefix('-') {
        Some(long) => {
            letters.is_empty() || long.starts_with(|c: char| letters.to_lowercase().contains(c))
        }
        None => letters.is_empty() || option.contains(|c: char| letters.contains(c)),
    }
}
