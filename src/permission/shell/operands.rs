//! What a command would change through its operands (docs/spec/restriction.md#operands): no rule
//! lets it remove, move, replace or link the files that restrict it, or run our own executable.

use super::Fault;
use super::filters::files_of_sed;
use super::programs::{self, Program, Run};
use super::reach::{Checked, Named, Reach};
use super::word::Word;
use crate::permission::protected::{Relation, UNKNOWN, WHY_PROTECTED};

mod finding;
mod git;
mod placing;

/// Options of many programs whose value is the directory to run in.
const DIRECTORY_OPTIONS: [&str; 8] = [
    "-C",
    "-D",
    "--chdir",
    "--directory",
    "--cwd",
    "--work-tree",
    "--output-dir",
    "--wd",
];
/// The limit of such options that are followed.
const MAX_DIRECTORIES: usize = 8;

impl Reach<'_> {
    /// The word that may run our own executable, if any.
    pub fn runs_ours(&self, words: &[Word]) -> Option<String> {
        let named = self.named(words).ok()?;
        let (program, arguments) = words.split_first()?;
        let mut first = named.iter().take_while(|named| named.at == 0);
        if first.any(|name| self.is_ours(&name.text)) {
            return Some(program.raw.clone());
        }
        let runs = programs::run_by(program.text()?, arguments);
        runs.iter().find_map(|run| match run {
            Run::Command(words) => self.runs_ours(words),
            Run::Text { .. } => None,
        })
    }

    /// Refuses a command that would change a protected place.
    ///
    /// # Errors
    /// The word concerned, and the reason.
    pub fn check(&self, words: &[Word]) -> Checked {
        // A command inside wrappers or `find` is checked again for each of them.
        Fault::afford(self.guard.context.steps, 1 + words.len())?;
        let named = self.named(words)?;
        self.check_here(words, &named)?;
        let mut directories = self.directories.clone();
        for to in directories_named(&named) {
            directories = directories.moved(&to);
            let moved = Reach {
                directories: &directories,
                ..*self
            };
            moved.check_here(words, &named)?;
        }
        Ok(())
    }

    fn check_here(&self, words: &[Word], named: &[Named]) -> Checked {
        let (first, behind) = named.split_at(named.partition_point(|named| named.at == 0));
        Fault::afford(self.guard.context.steps, behind.len())?;
        let arguments = words.get(1..).unwrap_or_default();
        first
            .iter()
            .try_for_each(|name| self.program(&name.text, arguments, behind))
    }

    fn program(&self, name: &str, words: &[Word], named: &[Named]) -> Checked {
        let program = Program::named(name);
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
            Program::Runs { .. } => {
                for run in programs::run_by(name, words) {
                    // Texts are read by themselves.
                    if let Run::Command(inner) = run {
                        self.check(&inner)?;
                    }
                }
                self.others(&named[..before_inner(program, words, named)])
            }
            Program::Shell | Program::Evaluates | Program::Other => self.others(named),
            Program::Dd => named.iter().try_for_each(|named| {
                let file = named.text.strip_prefix("of=");
                refuse_if(named, file.is_some_and(|file| self.is_near(file)))
            }),
            Program::Find => self.find(words, named),
            Program::Git => self.git(words, named),
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
fn directories_named<'n>(named: &'n [Named]) -> Vec<Vec<&'n str>> {
    let program = named.first().map(|name| Program::named(&name.text));
    if !matches!(
        program,
        Some(Program::Git | Program::Runs { .. } | Program::Other)
    ) {
        return Vec::new();
    }
    let values = named.iter().map(|option| {
        let mut options = DIRECTORY_OPTIONS.iter();
        let values = match options.find_map(|name| option.text.strip_prefix(name)) {
            Some("") => {
                let next = named.iter().filter(|next| next.at == option.at + 1);
                next.map(|next| next.text.as_str()).collect()
            }
            Some(value) => vec![value.trim_start_matches('=')],
            None => Vec::new(),
        };
        let known = values.into_iter().map(|value| value.split(UNKNOWN).next());
        known.flatten().filter(|known| !known.is_empty()).collect()
    });
    let found = values.filter(|values: &Vec<&str>| !values.is_empty());
    found.take(MAX_DIRECTORIES).collect()
}

/// How many of the things behind a program stand before the command that it runs.
fn before_inner(program: Program, arguments: &[Word], named: &[Named]) -> usize {
    let from = program.runs_from(arguments).unwrap_or(arguments.len());
    named.partition_point(|named| named.at <= from)
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
