//! What a command would change through its operands (docs/spec/restriction.md#operands): no rule
//! lets it remove, move, replace or link the files that restrict it, or run our own executable.

use std::path::{Path, PathBuf};

use super::Fault;
use super::filters::files_of_sed;
use super::programs::{Program, runs_words_from};
use super::reach::{Checked, Named, Reach};
use super::runners::{self, base};
use super::word::Word;
use super::wrappers::{self, Inner};
use crate::permission::path::normalise;
use crate::permission::protected::{ANY, ONE, Relation, UNKNOWN, WHY_PROTECTED};
use crate::sys::name_list::Names;

mod finding;
mod git;
mod placing;

/// Options of many programs whose value is the directory to run in.
const DIRECTORY_OPTIONS: Names = Names::new(
    "-C -D -P -d -w --cd --chdir --chroot --cwd --dir --directory --directory-prefix --output-dir \
     --prefix --project --wd --work-tree --workdir --working-directory",
);
/// The limit of such options that are followed, and of the length of their values.
const MAX_DIRECTORIES: usize = 8;
const LONGEST: usize = 512;

/// Wrappers that may look for a program in other directories.
const WRAPPERS: Names = Names::new(
    "exec command env sudo doas su runuser chroot xargs setsid nice timeout time nohup stdbuf",
);
/// The limit of words behind a wrapper that may be the program.
const MAX_WORDS: usize = 64;

/// What a command may become: its words, and each thing that they may be.
struct Call<'w> {
    words: &'w [Word],
    named: Vec<Named<'w>>,
}

impl<'w> Call<'w> {
    /// What stands behind one of the things.
    fn behind(&self, at: usize) -> (&'w [Word], &[Named<'w>]) {
        let place = self.named[at].at + 1;
        let from = self.named.partition_point(|named| named.at < place);
        (&self.words[place..], &self.named[from..])
    }

    /// Where a program may stand: the first word, and each that may begin another command.
    fn programs(&self) -> impl Iterator<Item = usize> {
        let from = runs_words_from(self.words).unwrap_or(self.words.len());
        let places = self.named.iter().enumerate();
        places.filter_map(move |(at, named)| (named.at == 0 || named.at >= from).then_some(at))
    }
}

impl Reach<'_> {
    fn call<'w>(&self, words: &'w [Word]) -> Result<Call<'w>, Fault> {
        let named = self.named(words)?;
        Ok(Call { words, named })
    }

    /// The word that may run our own executable, if any.
    pub fn runs_ours(&self, words: &[Word]) -> Option<String> {
        let call = self.call(words).ok()?;
        // A shell may run any word as `$0` or `$1`.
        let is_shell = words
            .first()
            .is_some_and(|word| word.fits(runners::runs_text));
        let wraps = |word: &Word| word.fits(|text| WRAPPERS.has(base(text)));
        let wraps = words.first().is_some_and(wraps);
        let is_all = is_shell || self.sets_path;
        let all = (0..call.named.len()).filter(|_| is_all);
        let found = call.programs().chain(all).find(|at| {
            let named = &call.named[*at];
            let is_wild = named.text.contains([ANY, ONE]);
            let may_be = self.sets_path || (wraps || is_shell) && named.at < MAX_WORDS;
            let is_looked_for = named.at == 0 || may_be && !is_wild;
            self.is_ours(&named.text, is_looked_for)
        });
        found.map(|at| call.named[at].word.raw.clone())
    }

    /// Refuses a command that would change a protected place.
    ///
    /// # Errors
    /// The word concerned, and the reason.
    pub fn check(&self, words: &[Word]) -> Checked {
        // A command inside wrappers or `find` is checked again for each of them.
        Fault::afford(self.guard.context.steps, 1 + words.len())?;
        if let Some(Inner::Command(inner)) = wrappers::unwrap(words) {
            return self.check(&inner);
        }
        let call = self.call(words)?;
        self.check_here(&call)?;
        let mut directories = self.directories.clone();
        for to in directories_named(&call) {
            directories = directories.moved(&to);
            let moved = Reach {
                directories: &directories,
                ..*self
            };
            moved.check_here(&call)?;
        }
        Ok(())
    }

    /// The directories in which a command may run.
    pub fn directories_of(&self, words: &[Word]) -> Vec<PathBuf> {
        let mut found = self.paths("", false);
        if let Ok(call) = self.call(words) {
            let mut directories = self.directories.clone();
            for to in directories_named(&call) {
                directories = directories.moved(&to);
                found.extend(
                    directories
                        .resolve("")
                        .map(|here| self.guard.begin.join(here)),
                );
            }
        }
        found
    }

    fn check_here(&self, call: &Call) -> Checked {
        for at in call.programs() {
            let named = &call.named[at];
            let program = Program::named(&named.text);
            if named.at == 0 || program.changes() || matches!(program, Program::Find | Program::Git)
            {
                let (words, behind) = call.behind(at);
                Fault::afford(self.guard.context.steps, behind.len())?;
                self.program(program, words, behind)?;
            }
        }
        Ok(())
    }

    fn program(&self, program: Program, words: &[Word], named: &[Named]) -> Checked {
        match program {
            Program::Reads => Ok(()),
            Program::Changes => self.each_changed(named),
            Program::Moves | Program::Copies { .. } | Program::Links => self.placed(program, named),
            Program::Sed if files_of_sed(words).is_some() => Ok(()),
            Program::Sed => {
                named.iter().try_for_each(|named| self.sed_writes(named))?;
                if named.iter().any(|named| is_option(named, "i")) {
                    return self.each_changed(named);
                }
                self.others(named)
            }
            Program::Other => self.others(named),
            Program::Dd => named.iter().try_for_each(|named| {
                let file = named.text.strip_prefix("of=");
                refuse_if(named, file.is_some_and(|file| self.is_near(file)))
            }),
            Program::Find => self.find(words, named),
            Program::Git => self.git(named),
        }
    }

    /// Operands that are removed or changed, and the values of options.
    fn each_changed(&self, named: &[Named]) -> Checked {
        self.others(options(named))?;
        plain(named).try_for_each(|named| self.changed(named))
    }

    /// An operand that is removed or changed, perhaps with everything below it.
    fn changed(&self, named: &Named) -> Checked {
        // As in `sed -i '' …` of macOS.
        refuse_if(named, !named.text.is_empty() && self.is_near(&named.text))
    }

    /// Files that a program for `sed` writes with `w`.
    fn sed_writes(&self, named: &Named) -> Checked {
        let text = named.text.as_str();
        let behind = text
            .match_indices(['w', 'W'])
            .map(|(at, _)| &text[at + 1..]);
        let mut files = behind.filter_map(|rest| rest.lines().next());
        let is_place = |file: &str| self.lies_within(file.trim_start());
        refuse_if(named, files.any(is_place))
    }

    /// Unknown programs may use anything unprotected, and the active skill's files.
    ///
    /// # Errors
    /// The word, and the reason.
    pub(super) fn others<'n>(&self, named: impl IntoIterator<Item = &'n Named<'n>>) -> Checked {
        let mut named = named.into_iter();
        named.try_for_each(|named| refuse_if(named, self.names_place(&named.text)))
    }

    /// The values of assignments: a program may write the file that a variable names.
    ///
    /// # Errors
    /// The value, and the reason.
    pub fn values(&self, values: &[Word]) -> Checked {
        self.others(&self.named(values)?)
    }
}

/// The directories in which a command may run by its options, as with `git -C`: those that each may
/// name.
fn directories_named<'c>(call: &'c Call) -> Vec<Vec<&'c str>> {
    let Some((program, arguments)) = call.named.split_first() else {
        return Vec::new();
    };
    let arguments = match Program::named(&program.text) {
        Program::Git => &arguments[..git::verb(arguments)],
        Program::Other => arguments,
        // They change no directory.
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for named in arguments.iter().filter(|named| named.is_option()) {
        let text = named.text.as_str();
        let joined = match text.split_once('=') {
            Some(parts) => Some(parts),
            None if text.starts_with("--") => None,
            None => text.split_at_checked(2),
        };
        let next = if DIRECTORY_OPTIONS.has(text) {
            let from = arguments.partition_point(|next| next.at <= named.at);
            let next = arguments[from..].iter();
            next.take_while(|next| next.at == named.at + 1).collect()
        } else {
            Vec::new()
        };
        let next = next.into_iter().map(|next| next.text.as_str());
        let joined = joined.filter(|(option, _)| DIRECTORY_OPTIONS.has(option));
        let values = next.chain(joined.map(|(_, value)| value));
        let known = values.map(|value| value.split(UNKNOWN).next().unwrap_or_default());
        // What is longer is a text, as behind `-d` of `curl`.
        let is_short = |value: &&str| normalise(Path::new(value)).as_os_str().len() <= LONGEST;
        let known = known.filter(|value| !value.is_empty()).filter(is_short);
        let known: Vec<&str> = known.collect();
        if !known.is_empty() {
            found.push(known);
        }
        if found.len() == MAX_DIRECTORIES {
            break;
        }
    }
    found
}

fn refuse_if(named: &Named, refused: bool) -> Checked {
    Fault::refuse_if(refused, &named.word.raw, WHY_PROTECTED)
}

fn options<'n, 'w>(named: &'n [Named<'w>]) -> impl Iterator<Item = &'n Named<'w>> {
    named.iter().filter(|named| named.is_option())
}

/// What is no option.
fn plain<'n, 'w>(named: &'n [Named<'w>]) -> impl Iterator<Item = &'n Named<'w>> {
    let mut ended = false;
    named.iter().filter(move |named| {
        let ends = !ended && named.text == "--";
        let is_plain = !ends && (ended || !named.is_option());
        ended |= ends;
        is_plain
    })
}

/// Whether this is an option with one of these letters, in a cluster or in long form too.
fn is_option(named: &Named, letters: &str) -> bool {
    let Some(option) = named.text.strip_prefix('-') else {
        return false;
    };
    match option.strip_prefix('-') {
        Some(long) => long.starts_with(|c: char| letters.to_lowercase().contains(c)),
        None => option.contains(|c: char| letters.contains(c)),
    }
}
