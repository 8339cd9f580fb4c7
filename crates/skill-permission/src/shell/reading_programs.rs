//! Commands that only show files (docs/spec/restriction.md#reading-by-the-shell) or filter a pipe
//! (docs/spec/restriction.md#pipe-filters). Does not know who may read what.

use super::options::{OperandKind, ProgramOptions, ReadKind};
use super::programs::{FILTER, OperandUse, by_name, has_word, without_system_path};
use super::word::{Piece, Word};
use crate::protected::ANY_TEXT;

/// What one operand leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The path: of a glob, the directory before it.
    pub path: String,
    /// How far it leads from there.
    pub depth: Depth,
}

/// How far an operand leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Depth {
    /// This file only.
    File,
    /// Everything below, if it is a directory.
    Tree,
    /// Names in the directory that match, with [`ANY_TEXT`] for what is not known.
    MatchingNames(String),
    /// Any name in the directory, or a file whose name is an option.
    AnyName,
}

/// A command that only shows files.
#[derive(Debug, PartialEq, Eq)]
pub struct FileRead<'w> {
    /// The program's name.
    pub program: &'w str,
    /// What it shows.
    pub reads: ReadKind,
    /// What it is given; nothing if it reads its input.
    pub operands: Vec<Operand>,
}

/// Words of `find` that test, print or combine, and take no value.
const FIND_WORDS: &str = "-P ( ) ! , -a -and -o -or -not -daystart -empty -executable -false -ls -mount -nogroup -noleaf \
     -nouser -nowarn -print -print0 -prune -quit -readable -true -warn -writable -xdev";
/// Those that take the next word as a value, which is no file.
const FIND_VALUED: &str = "-amin -atime -cmin -ctime -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links \
     -lname -maxdepth -mindepth -mmin -mtime -name -newerat -newerct -newermt -path -perm -printf \
     -regex -regextype -size -type -uid -user -wholename";

/// What a command shows, if it is one of these programs; `has_input` says that it reads a pipe or a
/// text where it is given no file.
///
/// # Errors
/// Why it is an ordinary command.
pub fn file_read(words: &[Word], has_input: bool) -> Option<Result<FileRead<'_>, String>> {
    let (program, arguments) = words.split_first()?;
    let name = without_system_path(program.text()?);
    let program = by_name(name);
    let (reads, operands) = match program.options {
        _ if program.operand_use == OperandUse::Find => (ReadKind::Names, find(arguments)),
        Some(options) => {
            let operands = ReadingArguments::read(name, options, arguments, has_input);
            (options.reads?, operands)
        }
        None => return None,
    };
    let program = name;
    Some(operands.map(|operands| FileRead {
        program,
        reads,
        operands,
    }))
}

/// Whether a command only filters what it reads from a pipe.
pub fn is_filter(words: &[Word]) -> bool {
    let filters = |(program, arguments): (&Word, &[Word])| {
        let name = program.text()?;
        let options = by_name(name)
            .options
            .filter(|_| by_name(name).has(FILTER))?;
        let files = ReadingArguments::read(name, options, arguments, true).ok()?;
        Some(files.is_empty())
    };
    words.split_first().and_then(filters).unwrap_or(false)
}

/// The arguments of a program, as far as they are read.
struct ReadingArguments<'a> {
    name: &'a str,
    options: &'static ProgramOptions,
    /// Each with whether it stands where no option can.
    operands: Vec<(&'a Word, bool)>,
    /// Whether an option gave the pattern or text that is else the first operand.
    is_given: bool,
    /// Whether it searches the current directory even where it has input.
    searches: bool,
}

impl<'a> ReadingArguments<'a> {
    fn read(
        name: &'a str,
        options: &'static ProgramOptions,
        words: &'a [Word],
        has_input: bool,
    ) -> Result<Vec<Operand>, String> {
        let mut this = Self {
            name,
            options,
            operands: Vec::new(),
            is_given: false,
            searches: false,
        };
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            // BSD's versions take everything behind the first operand for files.
            let behind = !options.permutes && !this.operands.is_empty();
            rest = match word.text() {
                Some("--") if options.two_valued.is_empty() => {
                    this.operands.extend(after.iter().map(|word| (word, true)));
                    break;
                }
                Some(text) if text.starts_with("--") => this.long(text, after)?,
                Some(text) if text.len() > 1 && text.starts_with('-') => {
                    this.cluster(text, after)?
                }
                None if word.may_be_option() => {
                    this.expanded(word)?;
                    after
                }
                text => {
                    this.operands.push((word, text == Some("-")));
                    rest = after;
                    continue;
                }
            };
            if behind {
                let read = &words[words.len() - after.len() - 1..words.len() - rest.len()];
                this.operands.extend(read.iter().map(|word| (word, true)));
            }
        }
        this.file_operands(has_input)
    }

    /// A long option that a glob or brace makes of the word, perhaps several times.
    fn expanded(&self, word: &Word) -> Result<(), String> {
        const CHOOSE_FILES: &str =
            "--exclude --exclude-dir --glob --hide --iglob --ignore --include";
        let option = word.prefix().split_once('=').map(|(option, _)| option);
        let stays = !word.raw.contains(['$', '`', '<', '>']);
        match option.filter(|option| has_word(CHOOSE_FILES, option)) {
            Some(option) if stays && has_word(self.options.long_valued, option) => Ok(()),
            _ => Err(unknown_option(self.name, &word.raw)),
        }
    }

    fn long(&mut self, text: &str, rest: &'a [Word]) -> Result<&'a [Word], String> {
        let options = self.options;
        self.searches |= matches!(text, "--recursive" | "--files" | "--type-list");
        self.is_given |= matches!(text, "--files" | "--type-list");
        if has_word(options.two_valued, text) {
            return match rest {
                [name, value, rest @ ..] if value.is_one_word() => known_text(name).map(|_| rest),
                _ => Err(unknown_option(self.name, text)),
            };
        }
        match text.split_once('=') {
            Some((option, value)) if has_word(options.long_valued, option) => {
                self.value(option, value)?;
                Ok(rest)
            }
            None if has_word(options.long, text) => Ok(rest),
            None if has_word(options.next_word_valued, text) => self.next(text, rest),
            _ => Err(unknown_option(self.name, text)),
        }
    }

    fn cluster(&mut self, text: &str, rest: &'a [Word]) -> Result<&'a [Word], String> {
        let options = self.options;
        for (at, letter) in text.char_indices().skip(1) {
            if options.flags.contains(letter) {
                self.searches |= letter == 'r';
                continue;
            }
            let joined = &text[at + letter.len_utf8()..];
            if !options.valued.contains(letter)
                || options.refuses_joined_values && !joined.is_empty()
            {
                return Err(unknown_option(self.name, text));
            }
            let option = format!("-{letter}");
            if joined.is_empty() {
                return self.next(&option, rest);
            }
            self.value(&option, joined)?;
            break;
        }
        Ok(rest)
    }

    /// An option's value in the next word.
    fn next(&mut self, option: &str, rest: &'a [Word]) -> Result<&'a [Word], String> {
        let missing = || unknown_option(self.name, option);
        let (value, rest) = rest.split_first().ok_or_else(missing)?;
        self.value(option, known_text(value)?)?;
        Ok(rest)
    }

    fn value(&mut self, option: &str, value: &str) -> Result<(), String> {
        if !self.options.accepts(option, value) {
            return Err(unknown_option(self.name, value));
        }
        if matches!(option, "-e" | "--regexp" | "--expression") {
            self.is_given = true;
            return self.script(value);
        }
        Ok(())
    }

    fn script(&self, text: &str) -> Result<(), String> {
        match self.options.operand_kind {
            OperandKind::Script(is_harmless) if !is_harmless(text) => {
                let name = self.name;
                Err(format!("this text for `{name}` may do more than read"))
            }
            _ => Ok(()),
        }
    }

    fn file_operands(mut self, has_input: bool) -> Result<Vec<Operand>, String> {
        let options = self.options;
        let operand_kind = options.operand_kind;
        if matches!(operand_kind, OperandKind::Pattern | OperandKind::Script(_)) && !self.is_given {
            let name = self.name;
            let missing = || format!("`{name}` has nothing to look for");
            let first = self.operands.first().ok_or_else(missing)?.0;
            self.script(known_text(first)?)?;
            self.operands.remove(0);
        }
        if matches!(operand_kind, OperandKind::Sets) && matches!(self.operands.len(), 1 | 2) {
            let sets = std::mem::take(&mut self.operands);
            sets.iter()
                .try_for_each(|(set, _)| known_text(set).map(drop))?;
        }
        let searches = matches!(operand_kind, OperandKind::Roots | OperandKind::Pattern);
        let mut operands = Vec::new();
        for (word, ends_options) in &self.operands {
            if options.reads != Some(ReadKind::Names) && word.text() == Some("-") {
                continue;
            }
            operands.push(operand(word, searches, *ends_options, options.only_shows)?);
        }
        let here = match operand_kind {
            OperandKind::Roots => true,
            OperandKind::Pattern => self.searches || !has_input,
            OperandKind::Files | OperandKind::Sets | OperandKind::Script(_) => false,
        };
        if self.operands.is_empty() && here {
            operands.push(current_directory());
        }
        Ok(operands)
    }
}

fn find(arguments: &[Word]) -> Result<Vec<Operand>, String> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.text() {
            Some(text) if has_word(FIND_WORDS, text) => {}
            Some(text) if has_word(FIND_VALUED, text) => {
                let value = rest.next().ok_or_else(|| unknown_option("find", text))?;
                known_text(value)?;
            }
            Some(text) if text.starts_with('-') => return Err(unknown_option("find", text)),
            None if word.may_be_option() => return Err(unknown_option("find", &word.raw)),
            // Some versions take starting points anywhere.
            _ => operands.push(operand(word, true, false, false)?),
        }
    }
    if operands.is_empty() {
        operands.push(current_directory());
    }
    Ok(operands)
}

fn current_directory() -> Operand {
    Operand {
        path: ".".to_owned(),
        depth: Depth::Tree,
    }
}

fn unknown_option(program: &str, option: &str) -> String {
    format!("`{option}` is not among the options of `{program}` that only read")
}

fn known_text(word: &Word) -> Result<&str, String> {
    word.text().ok_or_else(|| {
        let raw = &word.raw;
        format!("`{raw}` must be plain text, in quotes if it is a pattern")
    })
}

/// What a word leads to as a file. A glob at its beginning may become an option, unless options have
/// ended, or `only_shows` says that this does no harm where every file may be read.
fn operand(
    word: &Word,
    searches: bool,
    ends_options: bool,
    only_shows: bool,
) -> Result<Operand, String> {
    let raw = &word.raw;
    let unclear = || format!("`{raw}` must be a plain path");
    // In zsh it is the path of a program.
    if raw.starts_with('=') {
        return Err(unclear());
    }
    let (begins_at_home, pieces) = match word.pieces.as_slice() {
        [Piece::Tilde, rest @ ..] => (true, rest),
        pieces => (false, pieces),
    };
    let (known, glob) = match pieces {
        [Piece::Text(text), glob @ ..] => (text.as_str(), glob),
        glob => ("", glob),
    };
    let home = match () {
        () if begins_at_home && (pieces.is_empty() || known.starts_with('/')) => "~",
        () if begins_at_home => return Err(unclear()),
        // A quoted one is a name.
        () if known.starts_with('~') => "./",
        () => "",
    };
    if glob.is_empty() && word.is_complete {
        let depth = if searches { Depth::Tree } else { Depth::File };
        let path = format!("{home}{known}");
        return Ok(Operand { path, depth });
    }
    // A glob; all else that is not known may be anything, and a brace several words.
    let first_wild = raw.find(['*', '?', '[']);
    if raw.contains(['$', '`', '<', '>', '{']) || raw.contains("..") {
        return Err(unclear());
    }
    // Which links stand in the directories that it matches is not looked up.
    if first_wild.is_none_or(|at| raw[at..].contains('/')) {
        return Err(format!(
            "`{raw}` matches names in several directories: write them, or search below one"
        ));
    }
    let may_be_option = known.is_empty() && !begins_at_home && !ends_options;
    if may_be_option && !only_shows {
        return Err(format!(
            "a file may be called `-x`, so write `./{raw}` for `{raw}`"
        ));
    }
    let (directory, name) = match known.rfind('/') {
        Some(at) => known.split_at(at + 1),
        None => ("", known),
    };
    let path = match format!("{home}{directory}") {
        path if path.is_empty() => ".".to_owned(),
        path => path,
    };
    let mut names = name.to_owned();
    for piece in glob {
        match piece {
            Piece::Text(text) => names.push_str(text),
            _ => names.push(ANY_TEXT),
        }
    }
    // Of a bracket only the beginning is known.
    let depth = if !word.is_complete || may_be_option {
        Depth::AnyName
    } else {
        Depth::MatchingNames(names)
    };
    Ok(Operand { path, depth })
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use super::*;

    fn filters(command: &str) -> bool {
        let words: Vec<_> = command.split(' ').map(Word::literal).collect();
        is_filter(&words)
    }

    #[test]
    fn filter_programs_only_filter() {
        for command in [
            "head", "head -20", "head -n 20", "head -n20", "tail -c 100", "tail -n +5", "wc -l", "sort", "sort -rn", "sort -k 2 -t ,", "sort -k2,3n", "uniq -c", "cut -d: -f1", "cut -d , -f 1-3", "tr a-z A-Z", "tr -d x", "grep x", "grep -i x", "grep -vE x", "grep -n -A 3 x", "grep -e x", "grep -c x", "nl", "column -t", "cat", "rev", "tac",
        ] {
            assert!(filters(command), "{command}");
        }
    }

    #[test]
    fn programs_that_do_more_are_no_filters() {
        for command in [
            "head x", "head -n 5 x", "tail -f", "tail -F x", "tail --follow", "wc x", "wc --files0-from=x", "sort x", "sort -o x", "sort -uo x", "sort -ox", "sort --compress-prog=./evil", "sort -S100k", "sort -T /tmp", "sort --files0-from=x", "uniq x", "uniq x y", "cut -f1 x", "tr a b c", "grep", "grep x y", "grep -r x", "grep -f x", "grep -fx", "grep -e x y", "grep -R x", "grep --file=x", "cat x", "cat -x", "nl x", "rev x", "tac x", "column x", "sed w x", "awk xy", "tee x", "xargs x", "less", "jq", "grep -if x",
        ] {
            assert!(!filters(command), "{command}");
        }
    }
}
