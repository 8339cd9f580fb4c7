//! The options with which programs only show files or filter what they read, in GNU's, BSD's and
//! Claude Code's versions of them (docs/spec/restriction.md#reading-by-the-shell; there `find` is bfs
//! and `grep` is ugrep). Any other option makes the command an ordinary one.

mod awk;
mod jq;
mod sed;

use std::fmt;

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

/// The options of a program.
pub struct Options {
    /// What it shows; nothing if it only filters.
    pub shows: Option<Shows>,
    /// What operands it takes.
    pub takes: Takes,
    /// Letters of options without a value.
    pub flags: &'static str,
    /// Letters of options with a value, joined or in the next word.
    pub valued: &'static str,
    /// Long options without a value.
    pub long: &'static str,
    /// Long options with a value after `=`.
    pub long_valued: &'static str,
    /// Those of them that also take the next word, in every version.
    pub spaced: &'static str,
    /// Those that take two words. Where there are some, `--` ends no options.
    pub pairs: &'static str,
    /// Whether options may stand behind operands in every version.
    pub permutes: bool,
    /// Whether a glob that becomes an option does no harm: options change only what is shown.
    pub only_shows: bool,
    /// Whether versions differ on a value that is joined.
    pub apart: bool,
}

/// What operands a program takes.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
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

const fn options(shows: Option<Shows>, takes: Takes) -> Options {
    Options {
        shows,
        takes,
        flags: "",
        valued: "",
        long: "",
        long_valued: "",
        spaced: "",
        pairs: "",
        permutes: false,
        only_shows: false,
        apart: false,
    }
}

impl Options {
    /// Whether the value of an option is one that these programs take as it is meant.
    pub fn permit(&self, option: &str, value: &str) -> bool {
        !matches!(self.takes, Takes::Script(_)) || option != "-F" || awk::is_separator(value)
    }
}

/// Those of `cat`.
pub static CAT: Options = Options {
    flags: "AbeEnsTtuv",
    long: "--number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting \
         --squeeze-blank",
    only_shows: true,
    ..options(Some(Shows::Contents), Takes::Files)
};

/// Those of `head`.
pub static HEAD: Options = HEADS;

/// Not `-f`: it would never end.
pub static TAIL: Options = Options {
    only_shows: false,
    ..HEADS
};

const HEADS: Options = Options {
    flags: "qv0123456789",
    valued: "nc",
    long: "--quiet --silent --verbose",
    long_valued: "--lines --bytes",
    only_shows: true,
    ..options(Some(Shows::Contents), Takes::Files)
};

/// Those of `wc`.
pub static WC: Options = Options {
    flags: "lwcmL",
    long: "--lines --words --bytes --chars --max-line-length",
    ..options(Some(Shows::Contents), Takes::Files)
};

/// Those of `nl`.
pub static NL: Options = Options {
    flags: "p",
    valued: "bdfhilnsvw",
    only_shows: true,
    ..options(Some(Shows::Contents), Takes::Files)
};

/// Those of `file`.
pub static FILE: Options = Options {
    flags: "bhiIkN",
    long: "--brief --mime --mime-type --mime-encoding --keep-going",
    ..options(Some(Shows::Contents), Takes::Files)
};

/// Those of `sed`.
pub static SED: Options = Options {
    flags: "nEr",
    valued: "e",
    long: "--quiet --silent --regexp-extended",
    long_valued: "--expression",
    ..options(Some(Shows::Contents), Takes::Script(sed::only_prints))
};

/// Those of `jq`.
pub static JQ: Options = Options {
    flags: "acCejMnrRsS",
    long: "--ascii-output --compact-output --color-output --exit-status --join-output \
         --monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab",
    spaced: "--indent",
    permutes: true,
    pairs: "--arg --argjson",
    ..options(Some(Shows::Contents), Takes::Script(jq::stays_inside))
};

/// Those of `grep`.
pub static GREP: Options = Options {
    flags: "abcEFGhHiIlLnoPqrsTUvwx0123456789",
    valued: "eABCm",
    long: "--basic-regexp --byte-offset --color --colour --count \
         --extended-regexp --files-with-matches --files-without-match --fixed-strings \
         --ignore-case --initial-tab --invert-match --line-buffered --line-number \
         --line-regexp --no-filename --no-messages --only-matching --perl-regexp --quiet \
         --recursive --silent --text --with-filename --word-regexp",
    long_valued: "--after-context --before-context --binary-files --color --colour --context \
         --exclude --exclude-dir --include --max-count --regexp",
    spaced: "--exclude --exclude-dir --include",
    permutes: true,
    ..options(Some(Shows::Matches), Takes::Pattern)
};

/// Not `-z`: it runs the programs that unpack.
pub static RG: Options = Options {
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
    long_valued: "--after-context --before-context --color --context --encoding --glob --iglob \
         --max-columns --max-count --max-depth --max-filesize --regexp --replace --sort \
         --sortr --threads --type --type-not",
    spaced: "--after-context --before-context --color --context --encoding --glob --iglob \
         --max-columns --max-count --max-depth --max-filesize --regexp --replace --sort \
         --sortr --threads --type --type-not",
    permutes: true,
    ..options(Some(Shows::Matches), Takes::Pattern)
};

/// Those of `ls`.
pub static LS: Options = Options {
    flags: "AaBbCcdFfGghiklmNnopQqRrSstUuXx1",
    long: "--all --almost-all --author --classify --color --directory --full-time \
         --group-directories-first --human-readable --inode --literal --no-group \
         --numeric-uid-gid --recursive --reverse --si --size",
    long_valued: "--block-size --color --format --hide --ignore --sort --time --time-style",
    only_shows: true,
    ..options(Some(Shows::Names), Takes::Roots)
};

/// BSD's `-f` takes a format, which then counts as a file too.
pub static STAT: Options = Options {
    flags: "f",
    valued: "c",
    long: "--terse",
    long_valued: "--format --printf",
    only_shows: true,
    ..options(Some(Shows::Names), Takes::Files)
};

/// Not `-R`: it writes a file per directory with `-H` and `-L`.
pub static TREE: Options = Options {
    flags: "acCDdfFghinNpqQrsStuUvxJX",
    valued: "LPI",
    long: "--device --dirsfirst --du --filesfirst --gitignore --ignore-case --inodes \
         --matchdirs --metafirst --noreport --prune --si",
    long_valued: "--charset --filelimit --sort --timefmt",
    permutes: true,
    apart: true,
    ..options(Some(Shows::Names), Takes::Roots)
};

/// A filter without options that it may have.
pub static PLAIN: Options = options(None, Takes::Files);

/// Not `-o`, `-S`, `-T` or `--compress-program`, which write files and run programs.
pub static SORT: Options = Options {
    flags: "rnufhVbdgMs",
    valued: "kt",
    ..options(None, Takes::Files)
};

/// Those of `uniq`.
pub static UNIQ: Options = Options {
    flags: "cdui",
    valued: "fsw",
    ..options(None, Takes::Files)
};

/// Those of `cut`.
pub static CUT: Options = Options {
    flags: "s",
    valued: "dfcb",
    ..options(None, Takes::Files)
};

/// Those of `tr`.
pub static TR: Options = Options {
    flags: "dscC",
    ..options(None, Takes::Sets)
};

/// Those of `column`.
pub static COLUMN: Options = Options {
    flags: "tx",
    valued: "sc",
    ..options(None, Takes::Files)
};

/// Not BSD's `-o`, which writes a file.
pub static BASE64: Options = Options {
    flags: "dD",
    long: "--decode",
    ..options(None, Takes::Files)
};

/// Those of `awk`.
pub static AWK: Options = Options {
    valued: "F",
    ..options(None, Takes::Script(awk::is_harmless))
};
