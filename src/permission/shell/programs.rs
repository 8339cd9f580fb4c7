//! Which programs remove, move, replace, link or change their operands, and which only read them
//! (docs/spec/restriction.md#operands): the only table of them, and how each takes its operands.

use std::collections::BTreeSet;

use super::runners::{self, base};
use super::word::Word;

/// What a program does to its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Removes or changes each operand.
    Changes,
    /// Moves all but the last operand to the last.
    Moves,
    /// Copies all but the last operand to the last.
    Copies {
        /// Letters of the options that create links or directories instead.
        links: &'static str,
        /// The letter of the option that names the destination.
        into: &'static str,
    },
    /// Makes the last operand a link to the others.
    Links,
    /// `find`: its actions follow the paths.
    Find,
    /// `git`: its subcommand decides.
    Git,
    /// `sed`, which changes files if an option says so.
    Sed,
    /// `dd`: `of=FILE`.
    Dd,
    /// Only reads.
    Reads,
    /// Unknown.
    Other,
}

use crate::sys::name_list::Names;
use Program::{Changes, Copies, Dd, Find, Git, Links, Moves, Other, Reads, Sed};

static TABLE: &[(Names, Program)] = &[
    (
        Names::new("rm rmdir unlink shred truncate tee chmod chown chgrp"),
        Changes,
    ),
    (Names::new("mv"), Moves),
    (Names::new("cp"), copies("ls", "t")),
    (Names::new("install"), copies("d", "t")),
    (Names::new("rsync"), copies("", "")),
    (Names::new("ln link"), Links),
    (Names::new("dd"), Dd),
    (Names::new("sed"), Sed),
    (Names::new("find"), Find),
    (Names::new("git"), Git),
    (
        Names::new(
            "cat head tail ls grep egrep fgrep rg wc diff stat file echo printf jq cut nl od cmp comm \
             cksum sum md5sum sha1sum sha256sum basename dirname realpath readlink test [ [[ du tac \
             strings",
        ),
        Reads,
    ),
];

const fn copies(links: &'static str, into: &'static str) -> Program {
    Copies { links, into }
}

impl Program {
    /// Looks a program up by base name; GNU tools on other systems begin with `g`.
    pub fn named(name: &str) -> Self {
        let base = base(name);
        let find = |base: &str| TABLE.iter().find(|(names, _)| names.has(base));
        let gnu = base.strip_prefix('g').and_then(find);
        let program = find(base).or(gnu).map_or(Other, |(_, program)| *program);
        let is_below = |dir: &&str| name.starts_with(*dir) && !name.contains("..");
        // A `./cat` may be anything.
        if program == Reads && name.contains('/') && !["/bin/", "/usr/"].iter().any(is_below) {
            return Other;
        }
        program
    }

    /// Whether it removes, moves or changes its operands.
    pub fn changes(self) -> bool {
        !matches!(self, Reads | Other | Git | Find)
    }
}

/// Other programs that run none of their operands. Any program that is not listed may run them. What
/// interpreters and build tools run by themselves is not modelled.
const RUN_NO_OPERAND: Names = Names::new(
    ". : [ [[ alias apk apropos apt apt-cache apt-get ar autoload awk aws az b2sum base32 base64 \
     basename bat batcat bc bind black break bunzip2 bzip2 c++ cc cd cksum clang clang++ \
     clang-format cmp code column comm compopt complete continue convert cpio csplit curl \
     cut date declare df diff3 dig dirname dirs disown dnf dot du enable esbuild eslint eval exa \
     exit expand export expr eza false fc ffmpeg ffprobe flake8 flatpak float fmt fold g++ gawk gcc \
     gcloud gem getent getopts gh ghc glab gofmt golangci-lint gradle gradlew groups gunzip gzip \
     hash helm help hexdump history host hostname iconv id identify integer isort jar java javac \
     jest jobs join jq kill killall less let local locale lsof lua m4 magick make man mapfile \
     mawk md5sum mkdir mkfifo mktemp mocha more mvn mvnw mypy mysql nano ng nl node nproc \
     nslookup od openssl pandoc paste pdftotext perl pgrep php ping pip pip3 pkill playwright popd \
     prettier print printenv ps psql pushd pwd pylint pytest python python2 python3 read readarray \
     readlink readonly realpath redis-cli return rev Rscript ruby ruff rustc rustfmt scp seq set setopt \
     sha1sum sha256sum sha512sum shellcheck shfmt shift shopt sleep sort source split sqlite3 ss \
     strings sum swift sync tac tar terraform test top touch tr trap tree true tsc tsort tty type \
     typeset ulimit umask unalias uname unexpand uniq unset unsetopt unzip uptime vim vite vitest \
     wait webpack wget whatis whereis which who whoami xxd xz yamllint yq yum zcat zgrep zip \
     zipinfo zstd zypper",
);

/// Programs that run operands only behind one of [`runners::RUNNING`].
const BY_SUBCOMMAND: Names = Names::new(
    "brew bun cargo cmake composer conda corepack deno dotnet git go mamba meson npm pipx pnpm rustup snap \
     yarn",
);

/// The place from which on each word may begin another command, if the program may run one.
pub fn runs_words_from(words: &[Word]) -> Option<usize> {
    let (program, arguments) = words.split_first()?;
    let name = base(program.text()?);
    if BY_SUBCOMMAND.has(name) || runners::BY_SUBCOMMAND.has(name) {
        let is_running = |word: &Word| word.fits(|text| runners::RUNNING.has(text));
        return arguments.iter().position(is_running).map(|at| at + 2);
    }
    let runs_none = RUN_NO_OPERAND.has(name)
        || runners::SHELLS.has(name)
        || !matches!(Program::named(name), Program::Other);
    (!runs_none).then_some(1)
}

/// Options of `git` whose value is the next word.
const VALUED: Names = Names::new(
    "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
);

/// The places where the subcommand of `git` may stand, behind options that may not be plain.
pub fn git_verbs(arguments: &[Word]) -> impl Iterator<Item = usize> {
    let mut places = BTreeSet::from([0]);
    for (at, word) in arguments.iter().enumerate() {
        if !places.contains(&at) {
            continue;
        }
        let (text, is_option) = (word.text(), word.begins_option());
        let is_flag = text.is_some_and(|text| !VALUED.has(text)) || word.prefix().contains('=');
        let takes_one = text.is_some_and(|text| VALUED.has(text) && text != "--exec-path");
        if text.is_none() || is_option && !takes_one {
            places.insert(at + 1);
        }
        let may_be_any = text.is_none() && word.prefix().is_empty();
        if is_option && !is_flag || may_be_any {
            places.insert(at + 2);
        }
    }
    let most = arguments.len();
    places.into_iter().filter(move |at| *at < most)
}
