//! Programs that only show files (docs/spec/restriction.md#reading-by-the-shell), with the options
//! that keep it so in GNU's, BSD's and Claude Code's versions of them (there `find` is bfs and `grep`
//! is ugrep). Any other option makes the command an ordinary one. Does not know who may read what.

use std::fmt;

use super::filters::{is_jq_program, is_sed_script};
use super::word::{Piece, Word};
use crate::permission::protected::ANY;
use crate::sys::name_list::Names;

/// What a program shows of the files that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// What is in them, or what kind of data that is.
    Contents,
    /// Lines that a pattern matches.
    Matches,
    /// Names, and what the file system says of them.
    Names,
}

/// What one operand leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The path: of a glob, the directory before it.
    pub path: String,
    /// How far it leads from there.
    pub extent: Extent,
}

/// How far an operand leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// This file only.
    File,
    /// Everything below, if it is a directory.
    Search,
    /// Names in the directory that match, with [`ANY`] for what is not known.
    Names(String),
    /// Any name in the directory, or a file whose name is an option.
    Anywhere,
}

/// A command that only shows files.
#[derive(Debug, PartialEq, Eq)]
pub struct Reading {
    /// The program's name.
    pub program: &'static str,
    /// What it shows.
    pub shows: Shows,
    /// What it is given; nothing if it reads its input.
    pub operands: Vec<Operand>,
}

impl fmt::Display for Shows {
    /// The entries that give it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contents => "`Read`",
            Self::Matches => "`Grep` or `Read`",
            Self::Names => "`Glob` or `LS`",
        })
    }
}

struct Program {
    name: &'static str,
    shows: Shows,
    takes: Takes,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with a value, joined or in the next word.
    valued: &'static str,
    /// Long options without a value.
    long: Names,
    /// Long options with a value after `=`.
    long_valued: Names,
    /// Those of them that also take the next word, in every version.
    spaced: Names,
}

/// What operands a program takes.
#[derive(Debug, Clone, Copy)]
enum Takes {
    /// Files; without any, its input.
    Files,
    /// Directories and files; without any, the current directory.
    Roots,
    /// A pattern, then files and directories; without any, its input or the current directory.
    Pattern,
    /// A text for this program that must be harmless, then files.
    Script(fn(&str) -> bool),
}

const fn program(name: &'static str, shows: Shows, takes: Takes) -> Program {
    Program {
        name,
        shows,
        takes,
        flags: "",
        valued: "",
        long: Names::new(""),
        long_valued: Names::new(""),
        spaced: Names::new(""),
    }
}

static PROGRAMS: &[Program] = &[
    Program {
        flags: "AbeEnsTtuv",
        long: Names::new(
            "--number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting \
             --squeeze-blank",
        ),
        ..program("cat", Shows::Contents, Takes::Files)
    },
    Program {
        flags: "qv0123456789",
        valued: "nc",
        long: Names::new("--quiet --silent --verbose"),
        long_valued: Names::new("--lines --bytes"),
        ..program("head", Shows::Contents, Takes::Files)
    },
    // Not `-f`: it would never end.
    Program {
        flags: "qv0123456789",
        valued: "nc",
        long: Names::new("--quiet --silent --verbose"),
        long_valued: Names::new("--lines --bytes"),
        ..program("tail", Shows::Contents, Takes::Files)
    },
    Program {
        flags: "lwcmL",
        long: Names::new("--lines --words --bytes --chars --max-line-length"),
        ..program("wc", Shows::Contents, Takes::Files)
    },
    Program {
        flags: "p",
        valued: "bdfhilnsvw",
        ..program("nl", Shows::Contents, Takes::Files)
    },
    Program {
        flags: "bhiIkN",
        long: Names::new("--brief --mime --mime-type --mime-encoding --keep-going"),
        ..program("file", Shows::Contents, Takes::Files)
    },
    Program {
        flags: "nEr",
        valued: "e",
        long: Names::new("--quiet --silent --regexp-extended"),
        long_valued: Names::new("--expression"),
        ..program("sed", Shows::Contents, Takes::Script(is_sed_script))
    },
    Program {
        flags: "acCejMnrRsS",
        long: Names::new(
            "--ascii-output --compact-output --color-output --exit-status --join-output \
             --monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab",
        ),
        spaced: Names::new("--indent"),
        ..program("jq", Shows::Contents, Takes::Script(is_jq_program))
    },
    Program {
        flags: "abcEFGhHiIlLnoPqrsTUvwx0123456789",
        valued: "eABCm",
        long: Names::new(
            "--basic-regexp --byte-offset --color --colour --count \
             --extended-regexp --files-with-matches --files-without-match --fixed-strings \
             --ignore-case --initial-tab --invert-match --line-buffered --line-number \
             --line-regexp --no-filename --no-messages --only-matching --perl-regexp --quiet \
             --recursive --silent --text --with-filename --word-regexp",
        ),
        long_valued: Names::new(
            "--after-context --before-context --binary-files --color --colour --context \
             --exclude --exclude-dir --include --max-count --regexp",
        ),
        spaced: Names::new("--exclude --exclude-dir --include"),
        ..program("grep", Shows::Matches, Takes::Pattern)
    },
    // Not `-z`: it runs the programs that unpack.
    Program {
        flags: "0abcFHIilNnoPpqSsUuvwx.",
        valued: "ABCdEegjMmrTt",
        long: Names::new(
            "--block-buffered --byte-offset --case-sensitive --column --count --count-matches \
             --crlf --files --files-with-matches --files-without-match --fixed-strings \
             --glob-case-insensitive --heading --hidden --ignore-case --invert-match --json \
             --line-buffered --line-number --line-regexp --multiline --multiline-dotall \
             --no-config --no-filename --no-heading --no-ignore --no-ignore-parent \
             --no-ignore-vcs --no-line-number --no-messages --null --one-file-system \
             --only-matching --passthru --pcre2 --pretty --quiet --smart-case --stats --text \
             --trim --type-list --unrestricted --vimgrep --with-filename --word-regexp",
        ),
        long_valued: Names::new(
            "--after-context --before-context --color --context --encoding --glob --iglob \
             --max-columns --max-count --max-depth --max-filesize --regexp --replace --sort \
             --sortr --threads --type --type-not",
        ),
        spaced: Names::new(
            "--after-context --before-context --color --context --encoding --glob --iglob \
             --max-columns --max-count --max-depth --max-filesize --regexp --replace --sort \
             --sortr --threads --type --type-not",
        ),
        ..program("rg", Shows::Matches, Takes::Pattern)
    },
    Program {
        flags: "AaBbCcdFfGghiklmNnopQqRrSstUuXx1",
        long: Names::new(
            "--all --almost-all --author --classify --color --directory --full-time \
             --group-directories-first --human-readable --inode --literal --no-group \
             --numeric-uid-gid --recursive --reverse --si --size",
        ),
        long_valued: Names::new(
            "--block-size --color --format --hide --ignore --sort --time --time-style",
        ),
        ..program("ls", Shows::Names, Takes::Roots)
    },
    // BSD's `-f` takes a format, which then counts as a file too.
    Program {
        flags: "f",
        valued: "c",
        long: Names::new("--terse"),
        long_valued: Names::new("--format --printf"),
        ..program("stat", Shows::Names, Takes::Files)
    },
    // Not `-R`: it writes a file per directory with `-H` and `-L`.
    Program {
        flags: "acCDdfFghinNpqQrsStuUvxJX",
        valued: "LPI",
        long: Names::new(
            "--device --dirsfirst --du --filesfirst --gitignore --ignore-case --inodes \
             --matchdirs --metafirst --noreport --prune --si",
        ),
        long_valued: Names::new("--charset --filelimit --sort --timefmt"),
        ..program("tree", Shows::Names, Takes::Roots)
    },
];

/// Words of `find` that test, print or combine, and take no value.
const FIND_WORDS: Names = Names::new(
    "-P ( ) ! , -a -and -o -or -not -daystart -empty -executable -false -ls -mount -nogroup -noleaf \
     -nouser -nowarn -print -print0 -prune -quit -readable -true -warn -writable -xdev",
);
/// Those that take the next word as a value, which is no file.
const FIND_VALUED: Names = Names::new(
    "-amin -atime -cmin -ctime -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links \
     -lname -maxdepth -mindepth -mmin -mtime -name -newerat -newerct -newermt -path -perm -printf \
     -regex -regextype -size -type -uid -user -wholename",
);

/// Where these programs are on every system.
const DIRECTORIES: [&str; 2] = ["/bin/", "/usr/bin/"];

/// What a command shows, if it is one of these programs; `has_input` says that it reads a pipe or a
/// text where it is given no file.
///
/// # Errors
/// Why it is an ordinary command.
pub fn reading(words: &[Word], has_input: bool) -> Option<Result<Reading, String>> {
    let (program, arguments) = words.split_first()?;
    let name = program.text()?;
    let name = DIRECTORIES
        .iter()
        .find_map(|dir| name.strip_prefix(dir))
        .unwrap_or(name);
    if name == "find" {
        return Some(find(arguments));
    }
    let program = PROGRAMS.iter().find(|program| program.name == name)?;
    Some(Arguments::new(program).read(arguments, has_input))
}

/// The arguments of a program, as far as they are read.
struct Arguments<'a> {
    program: &'static Program,
    /// Each with whether it stands where no option can.
    operands: Vec<(&'a Word, bool)>,
    /// Whether an option gave the pattern or text that is else the first operand.
    is_given: bool,
    /// Whether it searches the current directory even where it has input.
    searches: bool,
}

impl<'a> Arguments<'a> {
    fn new(program: &'static Program) -> Self {
        Self {
            program,
            operands: Vec::new(),
            is_given: false,
            searches: false,
        }
    }

    fn read(mut self, words: &'a [Word], has_input: bool) -> Result<Reading, String> {
        // BSD's versions of the others take everything behind the first operand for files.
        let permutes = matches!(self.program.takes, Takes::Pattern)
            || matches!(self.program.name, "jq" | "tree");
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let behind = !permutes && !self.operands.is_empty();
            rest = after;
            match word.text() {
                Some("--") if self.program.name != "jq" => {
                    let others = rest.iter().map(|word| (word, true));
                    self.operands.extend(others);
                    break;
                }
                Some("-") => self.operands.push((word, true)),
                Some(text) if text.starts_with("--") => rest = self.long(text, rest)?,
                Some(text) if text.starts_with('-') => rest = self.cluster(text, rest)?,
                None if word.begins_option() => self.expanded(word)?,
                _ => {
                    self.operands.push((word, false));
                    continue;
                }
            }
            if behind {
                let read = after.len() - rest.len();
                let also = std::iter::once(word).chain(&after[..read]);
                self.operands.extend(also.map(|word| (word, true)));
            }
        }
        self.reading(has_input)
    }

    /// A long option that a glob or brace makes of the word, perhaps several times.
    fn expanded(&self, word: &Word) -> Result<(), String> {
        const CHOOSE_FILES: Names =
            Names::new("--exclude --exclude-dir --glob --hide --iglob --ignore --include");
        let option = word.prefix().split_once('=').map(|(option, _)| option);
        let stays = !word.raw.contains(['$', '`', '<', '>']);
        match option.filter(|option| CHOOSE_FILES.has(option)) {
            Some(option) if stays && self.program.long_valued.has(option) => Ok(()),
            _ => Err(unlisted(self.program.name, &word.raw)),
        }
    }

    fn long(&mut self, text: &str, rest: &'a [Word]) -> Result<&'a [Word], String> {
        let program = self.program;
        self.searches |= matches!(text, "--recursive" | "--files" | "--type-list");
        self.is_given |= matches!(text, "--files" | "--type-list");
        if program.name == "jq" && matches!(text, "--arg" | "--argjson") {
            let [name, value, rest @ ..] = rest else {
                return Err(unlisted(program.name, text));
            };
            literal(name)?;
            literal(value)?;
            return Ok(rest);
        }
        match text.split_once('=') {
            Some((option, value)) if program.long_valued.has(option) => {
                self.value(option, value)?;
                Ok(rest)
            }
            None if program.long.has(text) => Ok(rest),
            None if program.spaced.has(text) => self.next(text, rest),
            _ => Err(unlisted(program.name, text)),
        }
    }

    fn cluster(&mut self, text: &str, rest: &'a [Word]) -> Result<&'a [Word], String> {
        let program = self.program;
        for (at, letter) in text.char_indices().skip(1) {
            if program.flags.contains(letter) {
                self.searches |= program.name == "grep" && letter == 'r';
                continue;
            }
            let joined = &text[at + letter.len_utf8()..];
            // Versions of `tree` differ on a value that is joined.
            if !program.valued.contains(letter) || program.name == "tree" && !joined.is_empty() {
                return Err(unlisted(program.name, text));
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
        let missing = || unlisted(self.program.name, option);
        let (value, rest) = rest.split_first().ok_or_else(missing)?;
        self.value(option, literal(value)?)?;
        Ok(rest)
    }

    fn value(&mut self, option: &str, value: &str) -> Result<(), String> {
        if matches!(option, "-e" | "--regexp" | "--expression") {
            self.is_given = true;
            return self.script(value);
        }
        Ok(())
    }

    fn script(&self, text: &str) -> Result<(), String> {
        match self.program.takes {
            Takes::Script(is_harmless) if !is_harmless(text) => {
                let name = self.program.name;
                Err(format!("this text for `{name}` may do more than read"))
            }
            _ => Ok(()),
        }
    }

    fn reading(mut self, has_input: bool) -> Result<Reading, String> {
        let Program {
            name, shows, takes, ..
        } = *self.program;
        if matches!(takes, Takes::Pattern | Takes::Script(_)) && !self.is_given {
            if self.operands.is_empty() {
                return Err(format!("`{name}` has nothing to look for"));
            }
            let (first, _) = self.operands.remove(0);
            self.script(literal(first)?)?;
        }
        let searches = matches!(takes, Takes::Roots | Takes::Pattern);
        let mut operands = Vec::new();
        for (word, ends_options) in &self.operands {
            if shows != Shows::Names && word.text() == Some("-") {
                continue;
            }
            // The options of these do nothing but change what is shown.
            let only_shows = matches!(name, "cat" | "head" | "nl" | "ls" | "stat");
            operands.push(operand(word, searches, *ends_options, only_shows)?);
        }
        let here = match takes {
            Takes::Roots => true,
            Takes::Pattern => self.searches || !has_input,
            Takes::Files | Takes::Script(_) => false,
        };
        if self.operands.is_empty() && here {
            operands.push(current_directory());
        }
        Ok(Reading {
            program: name,
            shows,
            operands,
        })
    }
}

fn find(arguments: &[Word]) -> Result<Reading, String> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.text() {
            Some(text) if FIND_WORDS.has(text) => {}
            Some(text) if FIND_VALUED.has(text) => {
                let value = rest.next().ok_or_else(|| unlisted("find", text))?;
                literal(value)?;
            }
            Some(text) if text.starts_with('-') => return Err(unlisted("find", text)),
            None if word.begins_option() => return Err(unlisted("find", &word.raw)),
            // Some versions take starting points anywhere.
            _ => operands.push(operand(word, true, false, false)?),
        }
    }
    if operands.is_empty() {
        operands.push(current_directory());
    }
    Ok(Reading {
        program: "find",
        shows: Shows::Names,
        operands,
    })
}

fn current_directory() -> Operand {
    Operand {
        path: ".".to_owned(),
        extent: Extent::Search,
    }
}

fn unlisted(program: &str, option: &str) -> String {
    format!("`{option}` is not among the options of `{program}` that only read")
}

fn literal(word: &Word) -> Result<&str, String> {
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
    if glob.is_empty() && word.is_whole {
        let extent = if searches {
            Extent::Search
        } else {
            Extent::File
        };
        let path = format!("{home}{known}");
        return Ok(Operand { path, extent });
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
            _ => names.push(ANY),
        }
    }
    // Of a bracket only the beginning is known.
    let extent = if !word.is_whole || may_be_option {
        Extent::Anywhere
    } else {
        Extent::Names(names)
    };
    Ok(Operand { path, extent })
}
