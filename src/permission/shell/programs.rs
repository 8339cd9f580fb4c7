//! The only table of programs: which remove, move, replace, link or change their operands
//! (docs/spec/restriction.md#operands), which only read them, and which run a command or a text that
//! their words hold (docs/spec/restriction.md#denials). What any other program starts by itself is
//! not modelled.

use std::borrow::Cow;

use super::word::{Piece, Word};
use super::wrappers::{self, Inner};
use super::{find, shells};
use crate::sys::name_list::Names;

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
    /// Runs the command behind its options.
    Runs {
        /// Letters and names of the options whose value is the next word.
        valued: &'static str,
        /// The number of operands before the command.
        operands: usize,
        /// The subcommands before it, if it runs one only there.
        verbs: &'static str,
    },
    /// A shell, which runs the text behind `-c`.
    Shell,
    /// `eval` and `trap`: the shell itself runs their words as a text.
    Evaluates,
    /// Unknown.
    Other,
}

use Program::{
    Changes, Copies, Dd, Evaluates, Find, Git, Links, Moves, Other, Reads, Runs, Sed, Shell,
};

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
    (
        Names::new(
            "bash sh dash zsh ksh mksh ash rbash fish csh tcsh yash ksh93 lksh oksh loksh hush \
             bash-static",
        ),
        Shell,
    ),
    (Names::new("eval trap"), Evaluates),
    (
        Names::new(
            "command builtin nohup setsid noglob nocorrect - coproc busybox toybox unbuffer pkexec \
             linux32 linux64 fakeroot eatmydata chronic ltrace valgrind dbus-run-session ssh-agent \
             systemd-run systemd-inhibit xvfb-run rlwrap parallel",
        ),
        runs("", 0, ""),
    ),
    (
        Names::new("sudo doas"),
        runs(
            "a c u g h p C D R T U r t --user --group --host --prompt --chdir --chroot --role --type \
             --other-user --close-from --command-timeout",
            0,
            "",
        ),
    ),
    (
        Names::new("env"),
        runs("a f u C S P L U --unset --chdir --argv0", 0, ""),
    ),
    (
        Names::new("timeout"),
        runs("k s --signal --kill-after", 1, ""),
    ),
    (Names::new("time"), runs("f o --format --output", 0, "")),
    (
        Names::new("nice watch"),
        runs("n --adjustment --interval", 0, ""),
    ),
    (
        Names::new("stdbuf"),
        runs("i o e --input --output --error", 0, ""),
    ),
    (Names::new("exec"), runs("a", 0, "")),
    (
        Names::new("xargs"),
        runs(
            "a d E I J L n P R s S --arg-file --delimiter --max-args --max-procs --max-chars",
            0,
            "",
        ),
    ),
    (
        Names::new("ionice"),
        runs("c n p P u --class --classdata", 0, ""),
    ),
    (Names::new("chrt"), runs("T P D p", 1, "")),
    (Names::new("choom"), runs("n p", 0, "")),
    (Names::new("direnv"), runs("", 2, "")),
    (Names::new("taskset setarch chroot repeat"), runs("", 1, "")),
    (
        Names::new("flock"),
        runs("w E --timeout --conflict-exit-code", 1, ""),
    ),
    (Names::new("unshare nsenter"), runs("S G R w t W", 0, "")),
    (
        Names::new("strace"),
        runs("e o p P s u a b I O S E X", 0, ""),
    ),
    (Names::new("caffeinate"), runs("t w", 0, "")),
    (
        Names::new("npx bunx pnpx uvx"),
        runs("p c w --package --call --with --from --python", 0, ""),
    ),
    (
        Names::new("npm pnpm yarn bundle rbenv pyenv mise"),
        runs("p c --package --call", 0, "exec dlx x"),
    ),
    (
        Names::new("uv poetry pipenv pdm hatch pixi"),
        runs(
            "e f i p w C P --with --with-editable --with-requirements --python --package --project \
             --directory --extra --group --env-file --index",
            0,
            "run",
        ),
    ),
];

const fn copies(links: &'static str, into: &'static str) -> Program {
    Copies { links, into }
}

const fn runs(valued: &'static str, operands: usize, verbs: &'static str) -> Program {
    Runs {
        valued,
        operands,
        verbs,
    }
}

/// Something that a command runs by its words.
pub enum Run<'w> {
    /// Another command.
    Command(Cow<'w, [Word]>),
    /// A command line.
    Text {
        /// The text; what is not known of it stays as it is written.
        text: String,
        /// Whether all of it is known.
        is_known: bool,
    },
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
        matches!(self, Changes | Moves | Copies { .. } | Links | Sed | Dd)
    }

    /// The place among its arguments where the command begins that it runs.
    pub fn runs_from(self, arguments: &[Word]) -> Option<usize> {
        let Runs {
            valued,
            operands,
            verbs,
        } = self
        else {
            return None;
        };
        let (valued, verbs) = (Names::new(valued), Names::new(verbs));
        let mut at = 0;
        if !verbs.is_empty() {
            at = 1 + arguments
                .iter()
                .position(|word| word.fits(|text| verbs.has(text)))?;
        }
        let assigns = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('='));
        let (mut left, mut options) = (operands, true);
        while let Some(word) = arguments.get(at) {
            let text = word.prefix();
            if options && text == "--" {
                options = false;
            } else if options && text.len() > 1 && text.starts_with('-') {
                let is_valued = |c: char| valued.has(c.encode_utf8(&mut [0; 4]));
                let takes_next = if text.starts_with("--") {
                    valued.has(text)
                } else {
                    let found = text[1..].find(is_valued);
                    found.is_some_and(|at| at + 2 == text.len())
                };
                at += usize::from(takes_next);
            } else if !word.pieces.iter().any(assigns) {
                if left == 0 {
                    return Some(at);
                }
                left -= 1;
            }
            at += 1;
        }
        None
    }
}

/// What a command runs by its words; its program is known by `name`.
pub fn run_by<'w>(name: &str, arguments: &'w [Word]) -> Vec<Run<'w>> {
    let text = |words: &[Word]| {
        let written = |word: &Word| match word.text() {
            Some(text) => text.to_owned(),
            None => word.raw.trim_matches(['"', '\'']).to_owned(),
        };
        let all: Vec<String> = words.iter().map(written).collect();
        let text = Run::Text {
            text: all.join(" "),
            is_known: words.iter().all(|word| word.text().is_some()),
        };
        let is_empty = all.iter().all(|text| text.trim().is_empty());
        (!is_empty).then_some(text).into_iter().collect()
    };
    let program = Program::named(name);
    match (program, base(name)) {
        (Find, _) => {
            let commands = find::commands(arguments).into_iter();
            commands.map(|words| Run::Command(words.into())).collect()
        }
        (Shell, _) => shells::text_of(arguments)
            .map_or_else(Vec::new, |word| text(std::slice::from_ref(word))),
        (Evaluates, "trap") => text(&arguments[..arguments.len().min(1)]),
        (Evaluates, _) => text(arguments),
        (_, "command")
            if arguments
                .first()
                .is_some_and(|word| word.is_any(&["-v", "-V"])) =>
        {
            Vec::new()
        }
        _ => {
            let Some(from) = program.runs_from(arguments) else {
                return Vec::new();
            };
            let mut words = Cow::Borrowed(&arguments[from..]);
            if base(name) == "xargs" {
                let words = words.to_mut();
                match wrappers::unwrap_xargs(arguments) {
                    Some(Inner::Command(exact)) => *words = exact.into_owned(),
                    _ => find::fill_in(words),
                }
            }
            vec![Run::Command(words)]
        }
    }
}

/// The last component of a program's path. Where GNU's tools have other names, `gfind` is `find`.
pub fn base(program: &str) -> &str {
    match program.rsplit('/').next().unwrap_or(program) {
        "gfind" => "find",
        base => base,
    }
}

/// Whether a text is a long option, also abbreviated or with a value.
pub fn abbreviates(text: &str, option: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    name.len() > 2 && option.starts_with(name)
}

/// Options of `git` whose value is the next word.
const VALUED: Names =
    Names::new("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source");

/// The place of the subcommand of `git` among its arguments.
pub fn git_verb(arguments: &[Word]) -> usize {
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.begins_option()) {
        at += 1 + usize::from(option.fits(|text| VALUED.has(text)));
    }
    at.min(arguments.len())
}
