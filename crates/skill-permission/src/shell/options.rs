//! The options with which programs only show files or filter what they read, in GNU's, BSD's and
//! Claude Code's versions of them (docs/spec/restriction.md#reading-by-the-shell; there `find` is bfs
//! and `grep` is ugrep). Any other option makes the command an ordinary one.

mod awk;
mod jq;
mod sed;

use std::fmt;

use ReadKind::{Contents, Matches, Names};

/// What a program shows of the files that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadKind {
    /// What is in them, or what kind of data that is.
    Contents,
    /// Lines that a pattern matches.
    Matches,
    /// Names, and what the file system says of them.
    Names,
}

impl fmt::Display for ReadKind {
    /// The entries that give it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contents => "`Read`",
            Self::Matches => "`Grep` or `Read`",
            Self::Names => "`Glob` or `LS`",
        })
    }
}

/// The options of a program.
pub struct ProgramOptions {
    /// What it shows; nothing if it only filters.
    pub reads: Option<ReadKind>,
    /// What operands it takes.
    pub operand_kind: OperandKind,
    /// Letters of options without a value.
    pub flags: &'static str,
    /// Letters of options with a value, joined or in the next word.
    pub valued: &'static str,
    /// Long options without a value.
    pub long: &'static str,
    /// Long options with a value after `=`.
    pub long_valued: &'static str,
    /// Those of them that also take the next word, in every version.
    pub next_word_valued: &'static str,
    /// Those that take two words. Where there are some, `--` ends no options.
    pub two_valued: &'static str,
    /// Whether options may stand behind operands in every version.
    pub permutes: bool,
    /// Whether a glob that becomes an option does no harm: options change only what is shown.
    pub only_shows: bool,
    /// Whether versions differ on a value that is joined.
    pub refuses_joined_values: bool,
}

/// What operands a program takes.
#[derive(Debug, Clone, Copy)]
pub enum OperandKind {
    /// Files; without any, its input.
    Files,
    /// Directories and files; without any, the current directory.
    Roots,
    /// A pattern, then files and directories; without any, its input or the current directory.
    Pattern,
    /// One or two sets of characters.
    Sets,
    /// A text for this program that must be harmless, then files.
    Script(fn(&str) -> bool),
}

const fn options(reads: Option<ReadKind>, operand_kind: OperandKind) -> ProgramOptions {
    ProgramOptions {
        reads,
        operand_kind,
        flags: "",
        valued: "",
        long: "",
        long_valued: "",
        next_word_valued: "",
        two_valued: "",
        permutes: false,
        only_shows: false,
        refuses_joined_values: false,
    }
}

impl ProgramOptions {
    /// Whether the value of an option is one that these programs take as it is meant.
    pub fn accepts(&self, option: &str, value: &str) -> bool {
        !matches!(self.operand_kind, OperandKind::Script(_))
            || option != "-F"
            || awk::is_separator(value)
    }
}

/// Those of `cat`.
pub static CAT: ProgramOptions = ProgramOptions {
    flags: "AbeEnsTtuv",
    long: "--number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting \
         --squeeze-blank",
    only_shows: true,
    ..options(Some(Contents), OperandKind::Files)
};

/// Those of `head`.
pub static HEAD: ProgramOptions = HEADS;

/// Not `-f`: it would never end.
pub static TAIL: ProgramOptions = ProgramOptions {
    only_shows: false,
    ..HEADS
};

const HEADS: ProgramOptions = ProgramOptions {
    flags: "qv0123456789",
    valued: "nc",
    long: "--quiet --silent --verbose",
    long_valued: "--lines --bytes",
    only_shows: true,
    ..options(Some(Contents), OperandKind::Files)
};

/// Those of `wc`.
pub static WC: ProgramOptions = ProgramOptions {
    flags: "lwcmL",
    long: "--lines --words --bytes --chars --max-line-length",
    ..options(Some(Contents), OperandKind::Files)
};

/// Those of `nl`.
pub static NL: ProgramOptions = ProgramOptions {
    flags: "p",
    valued: "bdfhilnsvw",
    only_shows: true,
    ..options(Some(Contents), OperandKind::Files)
};

/// Those of `file`.
pub static FILE: ProgramOptions = ProgramOptions {
    flags: "bhiIkN",
    long: "--brief --mime --mime-type --mime-encoding --keep-going",
    ..options(Some(Contents), OperandKind::Files)
};

/// Those of `sed`.
pub static SED: ProgramOptions = ProgramOptions {
    flags: "nEr",
    valued: "e",
    long: "--quiet --silent --regexp-extended",
    long_valued: "--expression",
    ..options(Some(Contents), OperandKind::Script(sed::only_prints))
};

/// Those of `jq`.
pub static JQ: ProgramOptions = ProgramOptions {
    flags: "acCejMnrRsS",
    long: "--ascii-output --compact-output --color-output --exit-status --join-output \
         --monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab",
    next_word_valued: "--indent",
    permutes: true,
    two_valued: "--arg --argjson",
    ..options(Some(Contents), OperandKind::Script(jq::stays_inside))
};

/// Those of `grep`.
pub static GREP: ProgramOptions = ProgramOptions {
    flags: "abcEFGhHiIlLnoPqrsTUvwx0123456789",
    valued: "eABCm",
    long: "--basic-regexp --byte-offset --color --colour --count \
         --extended-regexp --files-with-matches --files-without-match --fixed-strings \
         --ignore-case --initial-tab --invert-match --line-buffered --line-number \
         --line-regexp --no-filename --no-messages --only-matching --perl-regexp --quiet \
         --recursive --silent --text --with-filename --word-regexp",
    long_valued: "--after-context --before-context --binary-files --color --colour --context \
         --exclude --exclude-dir --include --max-count --regexp",
    next_word_valued: "--exclude --exclude-dir --include",
    permutes: true,
    ..options(Some(Matches), OperandKind::Pattern)
};

const RG_VALUED: &str = "--after-context --before-context --color --context --encoding --glob --iglob \
     --max-columns --max-count --max-depth --max-filesize --regexp --replace --sort \
     --sortr --threads --type --type-not";

/// Not `-z`: it runs the programs that unpack.
pub static RG: ProgramOptions = ProgramOptions {
    flags: "0abcFHIilNnoPpqSsUuvwx.",
    valued: "ABCdEegjMmrTt",
    long: "--block-buffered --byte-offset --case-sensitive --column --count --count-matches \
         --crlf --files --files-with-matches --files-without-match --fixed-strings \
         --glob-case-insensitive --heading --hidden --ignore-case --invert-match --json \
         --line-buffered --line-number --line-regexp --multiline --multiline-dotall \
         --no-config --no-filename --no-heading --no-ignore --no-ignore-parent \
         --no-ignore-vcs --no-line-number --no-messages --null --one-file-system \
         --only-matching --passthru --pcre2 --pretty --quiet --smart-case --stats --text \
         --trim --type-list --unrestricted --vimgrep --with-filename --word-regexp",
    long_valued: RG_VALUED,
    next_word_valued: RG_VALUED,
    permutes: true,
    ..options(Some(Matches), OperandKind::Pattern)
};

/// Those of `ls`.
pub static LS: ProgramOptions = ProgramOptions {
    flags: "AaBbCcdFfGghiklmNnopQqRrSstUuXx1",
    long: "--all --almost-all --author --classify --color --directory --full-time \
         --group-directories-first --human-readable --inode --literal --no-group \
         --numeric-uid-gid --recursive --reverse --si --size",
    long_valued: "--block-size --color --format --hide --ignore --sort --time --time-style",
    only_shows: true,
    ..options(Some(Names), OperandKind::Roots)
};

/// BSD's `-f` takes a format, which then counts as a file too.
pub static STAT: ProgramOptions = ProgramOptions {
    flags: "f",
    valued: "c",
    long: "--terse",
    long_valued: "--format --printf",
    only_shows: true,
    ..options(Some(Names), OperandKind::Files)
};

/// Not `-R`: it writes a file per directory with `-H` and `-L`.
pub static TREE: ProgramOptions = ProgramOptions {
    flags: "acCDdfFghinNpqQrsStuUvxJX",
    valued: "LPI",
    long: "--device --dirsfirst --du --filesfirst --gitignore --ignore-case --inodes \
         --matchdirs --metafirst --noreport --prune --si",
    long_valued: "--charset --filelimit --sort --timefmt",
    permutes: true,
    refuses_joined_values: true,
    ..options(Some(Names), OperandKind::Roots)
};

/// A filter without options that it may have.
pub static PLAIN: ProgramOptions = options(None, OperandKind::Files);

/// Not `-o`, `-S`, `-T` or `--compress-program`, which write files and run programs.
pub static SORT: ProgramOptions = ProgramOptions {
    flags: "rnufhVbdgMs",
    valued: "kt",
    ..options(None, OperandKind::Files)
};

/// Those of `uniq`.
pub static UNIQ: ProgramOptions = ProgramOptions {
    flags: "cdui",
    valued: "fsw",
    ..options(None, OperandKind::Files)
};

/// Those of `cut`.
pub static CUT: ProgramOptions = ProgramOptions {
    flags: "s",
    valued: "dfcb",
    ..options(None, OperandKind::Files)
};

/// Those of `tr`.
pub static TR: ProgramOptions = ProgramOptions {
    flags: "dscC",
    ..options(None, OperandKind::Sets)
};

/// Those of `column`.
pub static COLUMN: ProgramOptions = ProgramOptions {
    flags: "tx",
    valued: "sc",
    ..options(None, OperandKind::Files)
};

/// Not BSD's `-o`, which writes a file.
pub static BASE64: ProgramOptions = ProgramOptions {
    flags: "dD",
    long: "--decode",
    ..options(None, OperandKind::Files)
};

/// Those of `awk`.
pub static AWK: ProgramOptions = ProgramOptions {
    valued: "F",
    ..options(None, OperandKind::Script(awk::is_harmless))
};
