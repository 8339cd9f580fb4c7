//! The only table of programs (docs/spec/restriction.md#operands): what one does with its operands,
//! what it runs by its words, how the shell treats it, when it needs no entry, and how narrow an entry
//! for it can be. What any other program starts by itself is not modelled.

use super::options::{self, Options};

/// A row of the table.
pub struct Program {
    /// Separated by blanks.
    names: &'static str,
    /// What it does with its operands.
    pub does: Does,
    /// What it runs by its words.
    pub runs: Runs,
    /// What else holds for it: [`SHELL`] and the like.
    traits: u16,
    /// When it needs no entry.
    pub free: Free,
    /// The options with which it only shows files, or filters.
    pub options: Option<&'static Options>,
    /// How narrow an entry for it can be.
    pub shape: Shape,
}

/// What a program does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Unknown.
    Other,
    /// Only reads them.
    Reads,
    /// Removes or changes each.
    Changes,
    /// Moves all but the last to the last.
    Moves,
    /// Copies all but the last to the last.
    Copies,
    /// Copies, or makes directories.
    Installs,
    /// Copies trees: `rsync`.
    Syncs,
    /// Makes the last a link to the others.
    Links,
    /// `find`: its actions follow the paths.
    Find,
    /// `git`: its subcommand decides.
    Git,
    /// `sed`, which changes files if an option says so.
    Sed,
    /// `dd`: `of=FILE`.
    Dd,
}

/// What a program runs by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Nothing.
    Nothing,
    /// The command behind its options.
    Command {
        /// Letters and names of the options whose value is the next word.
        valued: &'static str,
        /// The number of operands before the command.
        operands: usize,
        /// The subcommands before it, if it runs one only there.
        verbs: &'static str,
        /// The options that may stand there for a grant (docs/spec/restriction.md#wrappers): with a
        /// `:` behind those with a value, `-#` for a number, `=` for harmless assignments.
        exact: Option<&'static str>,
    },
    /// The text behind `-c`: a shell.
    Text,
    /// Its words, as a text in this shell: `eval`.
    Words,
    /// Its first word, later: `trap`.
    Later,
}

/// Only a shell has it, as a builtin or reserved word.
pub const SHELL: u16 = 1;
/// It changes the shell's directory.
pub const MOVES: u16 = 1 << 1;
/// It runs a text in this shell, now or later.
pub const EVALUATES: u16 = 1 << 2;
/// It may change what names mean to the shell, or bind variables unseen.
pub const OPAQUE: u16 = 1 << 3;
/// It may set the shell's options.
pub const SETS: u16 = 1 << 4;
/// Its operands name variables.
pub const BINDS: u16 = 1 << 5;
/// It gives variables to programs.
pub const EXPORTS: u16 = 1 << 6;
/// The builtin behind it runs.
pub const PREFIX: u16 = 1 << 7;
/// It puts names that it reads behind the command that it runs.
pub const APPENDS: u16 = 1 << 11;
/// A shell whose texts are parsed like the surrounding line.
pub const PARSED: u16 = 1 << 8;
/// At the end of a pipe it may need no entry.
pub const FILTER: u16 = 1 << 9;
/// Skills often use it, and its name is hardly a word of a sentence.
pub const USUAL: u16 = 1 << 10;

/// In which form a command needs no entry (docs/spec/restriction.md#neutral-commands).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Free {
    /// In none.
    Never,
    /// In none, and no entry grants one: it sets any variable.
    Unseen,
    /// With any words.
    Always,
    /// If each word is one word.
    Words,
    /// With numbers.
    Numbers,
    /// With only these words.
    Only(&'static str),
    /// With these options and plain names.
    Named(&'static str),
    /// With clusters of these letters.
    Letters(&'static str),
    /// With paths, at most so many.
    Paths(usize),
    /// `cd` within the project or the skill.
    Directory,
    /// `test`.
    Test,
    /// `[`.
    Bracket,
    /// `printf` that only prints.
    Prints,
    /// `set` that only makes the shell strict.
    Strict,
    /// `command -v`.
    Looks,
    /// `export`.
    Exports,
    /// `readonly`.
    Keeps,
    /// `read`.
    Reads,
    /// `unset`.
    Unsets,
    /// `sleep`.
    Sleeps,
    /// `date`.
    Date,
    /// `seq`.
    Counts,
    /// `id`.
    User,
}

/// What follows a program's name, which decides how narrow an entry can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Anything: only the program can be named.
    Plain,
    /// So many words that say what to do: `git log`, `gh pr view`; behind the named one, another.
    Verbs(usize, &'static str),
    /// A package that is downloaded and run.
    Package,
    /// A script, a module or code.
    Interpreter,
    /// A script, or commands in a text.
    Shell,
    /// A command that it runs.
    Wrapper,
    /// A command that it runs as somebody else.
    Elevating,
    /// What it destroys or reaches: only the exact command can be named.
    Exact,
    /// Nothing that an entry should name.
    Never,
}

/// The options of what runs a package, a tool of a project, or something in its environment.
const PACKAGED: &str = "p c w --package --call --with --from --python";
const INSTALLED: &str = "p c --package --call";
const PROJECTS: &str = "e f i p w C P --with --with-editable --with-requirements --python --package \
     --project --directory --extra --group --env-file --index";
const SUDO: &str = "a c u g h p C D R T U r t --user --group --host --prompt --chdir --chroot --role \
     --type --other-user --close-from --command-timeout";
const XARGS: &str =
    "a d E I J L n P R s S --arg-file --delimiter --max-args --max-procs --max-chars";

#[rustfmt::skip]
static TABLE: &[Program] = &[
    // What removes, changes, moves or links its operands.
    usual("rm rmdir shred truncate chmod chown chgrp").does(Does::Changes).shape(Shape::Exact),
    usual("tee").does(Does::Changes),
    row("unlink").does(Does::Changes),
    usual("mv").does(Does::Moves),
    usual("cp").does(Does::Copies),
    usual("rsync").does(Does::Syncs).shape(Shape::Exact),
    row("install").does(Does::Installs),
    row("ln link").does(Does::Links),
    usual("dd").does(Does::Dd).shape(Shape::Exact),
    usual("find").does(Does::Find),
    usual("git").does(Does::Git).shape(Shape::Verbs(1, "")),
    usual("sed").does(Does::Sed).is(FILTER).with(&options::SED),
    // What only reads its operands.
    usual("cat").does(Does::Reads).is(FILTER).with(&options::CAT),
    row("head").does(Does::Reads).is(FILTER).with(&options::HEAD),
    row("tail").does(Does::Reads).is(FILTER).with(&options::TAIL),
    row("wc").does(Does::Reads).is(FILTER).with(&options::WC),
    row("nl").does(Does::Reads).is(FILTER).with(&options::NL),
    row("cut").does(Does::Reads).is(FILTER).with(&options::CUT),
    row("tac cksum sum md5sum sha1sum sha256sum").does(Does::Reads).is(FILTER).with(&options::PLAIN),
    usual("jq").does(Does::Reads).is(FILTER).with(&options::JQ),
    usual("grep").does(Does::Reads).is(FILTER).with(&options::GREP),
    row("egrep fgrep").does(Does::Reads).is(FILTER).with(&options::GREP),
    usual("rg").does(Does::Reads).with(&options::RG),
    usual("ls").does(Does::Reads).with(&options::LS),
    row("file").does(Does::Reads).with(&options::FILE),
    row("stat").does(Does::Reads).with(&options::STAT),
    usual("diff").does(Does::Reads),
    row("[[ od cmp comm realpath readlink du strings").does(Does::Reads),
    row("echo").does(Does::Reads).free(Free::Always),
    row("printf").does(Does::Reads).is(BINDS).free(Free::Prints),
    row("test").does(Does::Reads).free(Free::Test),
    row("[").does(Does::Reads).free(Free::Bracket),
    row("basename").does(Does::Reads).free(Free::Paths(2)),
    row("dirname").does(Does::Reads).free(Free::Paths(1)),
    usual("tree").with(&options::TREE),
    // What filters a pipe, and may write files.
    row("sort").is(FILTER).with(&options::SORT),
    row("uniq").is(FILTER).with(&options::UNIQ),
    row("tr").is(FILTER).with(&options::TR),
    row("column").is(FILTER).with(&options::COLUMN),
    row("rev").is(FILTER).with(&options::PLAIN),
    row("base64").is(FILTER).with(&options::BASE64),
    usual("awk").is(FILTER).with(&options::AWK),
    // What reports or waits.
    row("true false").free(Free::Words),
    row("pwd").free(Free::Only("-P -L")),
    row("nproc").free(Free::Only("--all")),
    row("whoami hostname").free(Free::Only("")),
    row("mktemp").free(Free::Only("-d")),
    row("which").free(Free::Named("-a")),
    row("uname").free(Free::Letters("asnrvmpio")),
    row("sleep").free(Free::Sleeps),
    row("date").free(Free::Date),
    row("seq").free(Free::Counts),
    row("id").free(Free::User),
    // Parts of the shell.
    row(":").is(SHELL).free(Free::Words),
    row("exit return break continue shift wait").is(SHELL).free(Free::Numbers),
    row("type").is(SHELL).free(Free::Named("-a -t -p")),
    row("cd").does(Does::Reads).is(SHELL | MOVES).free(Free::Directory).shape(Shape::Never),
    row("pushd popd").does(Does::Reads).is(SHELL | MOVES).shape(Shape::Never),
    row("set").is(SHELL | SETS).free(Free::Strict).shape(Shape::Never),
    row("shopt").is(SHELL | SETS).free(Free::Unseen),
    row("setopt").is(SHELL | SETS),
    row("export").is(SHELL | BINDS | EXPORTS).free(Free::Exports).shape(Shape::Never),
    row("readonly").is(SHELL | BINDS | EXPORTS).free(Free::Keeps),
    row("read").is(SHELL | BINDS).free(Free::Reads),
    row("unset").is(SHELL | BINDS).free(Free::Unsets).shape(Shape::Never),
    row("declare typeset local").is(SHELL | BINDS | EXPORTS).free(Free::Unseen),
    row("let getopts mapfile readarray").is(SHELL | BINDS).free(Free::Unseen),
    row("integer float print").is(SHELL | BINDS),
    row("function compgen").is(SHELL).free(Free::Unseen),
    row("alias").is(SHELL | OPAQUE).free(Free::Unseen).shape(Shape::Never),
    row("unalias complete").is(SHELL | OPAQUE).free(Free::Unseen),
    row("autoload zmodload sched vared bind fc").is(SHELL | OPAQUE),
    row("emulate enable").is(SHELL | OPAQUE | SETS),
    row("source .").is(SHELL | EVALUATES | OPAQUE | SETS).shape(Shape::Never),
    row("eval").is(SHELL | EVALUATES | OPAQUE | SETS).runs(Runs::Words).shape(Shape::Never),
    row("trap").is(SHELL | EVALUATES | OPAQUE | SETS).runs(Runs::Later).shape(Shape::Never),
    row("command").is(SHELL | PREFIX).free(Free::Looks).command("", 0).exactly(""),
    row("exec").is(SHELL | PREFIX).command("a", 0).exactly("").shape(Shape::Never),
    row("builtin noglob nocorrect").is(SHELL | PREFIX).command("", 0),
    row("coproc").is(SHELL | OPAQUE).command("", 0),
    // What runs a text or a command.
    usual("bash sh").is(PARSED).runs(Runs::Text),
    row("dash").is(PARSED).runs(Runs::Text),
    usual("zsh").runs(Runs::Text),
    row("ksh mksh ash rbash fish csh tcsh yash ksh93 lksh oksh loksh hush bash-static").runs(Runs::Text),
    usual("env").is(EXPORTS).command("a f u C S P L U --unset --chdir --argv0", 0).exactly("="),
    usual("timeout").command("k s --signal --kill-after", 1)
        .exactly("--foreground --preserve-status -v -k: -s: --signal: --kill-after:"),
    usual("nohup").command("", 0).exactly(""),
    usual("xargs").is(APPENDS).command(XARGS, 0).exactly("-0 -r -t -n: -P: -L: -I:"),
    row("time").is(PREFIX).command("f o --format --output", 0).exactly("-p"),
    row("nice").command("n --adjustment", 0).exactly("-# -n: --adjustment:"),
    row("stdbuf").command("i o e --input --output --error", 0).exactly("-i: -o: -e:"),
    usual("sudo doas").command(SUDO, 0).shape(Shape::Elevating),
    row("setsid - busybox toybox unbuffer pkexec linux32 linux64 fakeroot eatmydata chronic ltrace valgrind \
         dbus-run-session ssh-agent systemd-run systemd-inhibit xvfb-run rlwrap parallel").command("", 0),
    row("watch").command("n --interval", 0),
    row("ionice").command("c n p P u --class --classdata", 0),
    row("chrt").command("T P D p", 1),
    row("choom").command("n p", 0),
    row("direnv").command("", 2),
    row("taskset setarch chroot repeat").command("", 1),
    row("flock").command("w E --timeout --conflict-exit-code", 1),
    row("unshare nsenter").command("S G R w t W", 0),
    row("strace").command("e o p P s u a b I O S E X", 0),
    row("caffeinate").command("t w", 0),
    usual("npx bunx pnpx uvx").command(PACKAGED, 0).shape(Shape::Package),
    usual("npm pnpm yarn").command(INSTALLED, 0).behind("exec dlx x").shape(Shape::Verbs(1, "run")),
    usual("bundle").command(INSTALLED, 0).behind("exec dlx x").shape(Shape::Verbs(1, "")),
    row("rbenv pyenv mise").command(INSTALLED, 0).behind("exec dlx x"),
    usual("uv").command(PROJECTS, 0).behind("run").shape(Shape::Verbs(1, "pip")),
    usual("poetry pipenv").command(PROJECTS, 0).behind("run").shape(Shape::Verbs(1, "")),
    row("pdm hatch pixi").command(PROJECTS, 0).behind("run"),
    // What only suggestions know.
    usual("bun").shape(Shape::Verbs(1, "run")),
    usual("deno").shape(Shape::Verbs(1, "task")),
    usual("docker podman").shape(Shape::Verbs(1, "compose")),
    row("just task").shape(Shape::Verbs(1, "")),
    usual("apk apt apt-get adb brew cargo composer conda dnf docker-compose dotnet firebase flutter gem go gradle \
           gradlew helm kubectl launchctl make mvn netlify openssl pip pip3 pipx pulumi rake rustup systemctl \
           terraform vercel wrangler xcrun yum").shape(Shape::Verbs(1, "")),
    usual("aws az gcloud gh glab stripe supabase").shape(Shape::Verbs(2, "")),
    usual("node perl php python python3 ruby ts-node tsx").shape(Shape::Interpreter),
    usual("crontab diskutil kill killall mkfs mount pkill reboot scp sftp shutdown ssh umount").shape(Shape::Exact),
    row("agent-skills su").shape(Shape::Never),
    usual("black convert curl eslint ffmpeg ffprobe jest magick mkdir mypy pandoc pdftoppm pdftotext prettier pytest \
           ruff soffice sqlite3 tar touch tsc unzip vitest wget yq zip"),
];

static OTHER: Program = row("");

const fn row(names: &'static str) -> Program {
    Program {
        names,
        does: Does::Other,
        runs: Runs::Nothing,
        traits: 0,
        free: Free::Never,
        options: None,
        shape: Shape::Plain,
    }
}

const fn usual(names: &'static str) -> Program {
    row(names).is(USUAL)
}

/// What rows are made of.
impl Program {
    const fn does(self, does: Does) -> Self {
        Self { does, ..self }
    }

    const fn runs(self, runs: Runs) -> Self {
        Self { runs, ..self }
    }

    const fn command(self, valued: &'static str, operands: usize) -> Self {
        self.runs(Runs::Command {
            valued,
            operands,
            verbs: "",
            exact: None,
        })
    }

    const fn behind(mut self, subcommands: &'static str) -> Self {
        if let Runs::Command { verbs, .. } = &mut self.runs {
            *verbs = subcommands;
        }
        self
    }

    const fn exactly(mut self, options: &'static str) -> Self {
        if let Runs::Command { exact, .. } = &mut self.runs {
            *exact = Some(options);
        }
        self
    }

    const fn is(mut self, traits: u16) -> Self {
        self.traits |= traits;
        self
    }

    const fn free(self, free: Free) -> Self {
        Self { free, ..self }
    }

    const fn with(self, options: &'static Options) -> Self {
        Self {
            options: Some(options),
            ..self
        }
    }

    const fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }
}

/// Where a name stands in the table: the number of its row from 1, and its place there.
#[derive(Clone, Copy)]
struct Slot {
    row: u8,
    length: u8,
    begin: u16,
}

/// The names by their hashes; those of the same hash follow. The compiler fills it in, so that it
/// needs no work when the program starts.
static INDEX: [Slot; SLOTS] = index();
const SLOTS: usize = 1024;

#[allow(clippy::cast_possible_truncation)] // a test finds each name
const fn index() -> [Slot; SLOTS] {
    const EMPTY: Slot = Slot {
        row: 0,
        length: 0,
        begin: 0,
    };
    let mut index = [EMPTY; SLOTS];
    let mut row = 0;
    while row < TABLE.len() {
        let names = TABLE[row].names.as_bytes();
        let (mut begin, mut at) = (0, 0);
        while at <= names.len() {
            if at == names.len() || names[at] == b' ' {
                let mut slot = hash(names, begin, at);
                while index[slot].row != 0 {
                    slot = (slot + 1) % SLOTS;
                }
                index[slot] = Slot {
                    row: row as u8 + 1,
                    length: (at - begin) as u8,
                    begin: begin as u16,
                };
                begin = at + 1;
            }
            at += 1;
        }
        row += 1;
    }
    index
}

const fn hash(text: &[u8], begin: usize, end: usize) -> usize {
    let (mut hash, mut at) = (0_usize, begin);
    while at < end {
        hash = hash.wrapping_mul(31).wrapping_add(text[at] as usize);
        at += 1;
    }
    (hash ^ hash >> 10) % SLOTS
}

/// The program of exactly this name.
pub fn exactly(name: &str) -> &'static Program {
    find_row(name).unwrap_or(&OTHER)
}

/// Whether the table has exactly this name.
pub fn is_known(name: &str) -> bool {
    find_row(name).is_some()
}

/// The program of this name, whatever its path; GNU tools on other systems begin with `g`.
pub fn named(name: &str) -> &'static Program {
    let base = base(name);
    let gnu = || find_row(base.strip_prefix('g')?);
    find_row(base).or_else(gnu).unwrap_or(&OTHER)
}

fn find_row(name: &str) -> Option<&'static Program> {
    let mut at = hash(name.as_bytes(), 0, name.len());
    loop {
        let slot = INDEX[at];
        let program = &TABLE[usize::from(slot.row).checked_sub(1)?];
        let begin = usize::from(slot.begin);
        let names = program.names.as_bytes();
        if usize::from(slot.length) == name.len()
            && &names[begin..begin + name.len()] == name.as_bytes()
        {
            return Some(program);
        }
        at = (at + 1) % SLOTS;
    }
}

impl Program {
    /// Whether this holds for it.
    pub fn has(&self, traits: u16) -> bool {
        self.traits & traits != 0
    }

    /// What it does with its operands where it is called so: a `./cat` may be anything.
    pub fn does_as(&self, name: &str) -> Does {
        let is_below = |dir: &&str| name.starts_with(*dir) && !name.contains("..");
        match self.does {
            Does::Reads if name.contains('/') && !["/bin/", "/usr/"].iter().any(is_below) => {
                Does::Other
            }
            does => does,
        }
    }

    /// Whether it removes, moves or changes its operands.
    pub fn changes(&self) -> bool {
        !matches!(
            self.does,
            Does::Other | Does::Reads | Does::Find | Does::Git
        )
    }
}

/// Whether a name is in a list, which is separated by blanks.
pub fn lists(list: &str, name: &str) -> bool {
    list.split(' ').any(|one| one == name)
}

/// The name of a program that is called by its path on every system.
pub fn without_system_path(program: &str) -> &str {
    let name = ["/bin/", "/usr/bin/"]
        .iter()
        .find_map(|dir| program.strip_prefix(dir));
    name.unwrap_or(program)
}

/// The last component of a program's path.
pub fn base(program: &str) -> &str {
    program.rfind('/').map_or(program, |at| &program[at + 1..])
}

/// Whether a command line evaluated in this shell may change its directory.
pub fn text_may_move(text: &str) -> bool {
    let mut moving = TABLE.iter().filter(|row| row.has(MOVES | EVALUATES));
    moving.any(|row| row.names.split(' ').any(|name| text.contains(name)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_name_has_one_row_and_is_found() {
        let rows = TABLE.iter();
        let names: Vec<_> = rows.flat_map(|row| row.names.split(' ')).collect();
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert!(TABLE.len() < 255 && names.len() < SLOTS / 2);
        for row in TABLE {
            for name in row.names.split(' ') {
                assert!(std::ptr::eq(exactly(name), row), "{name}");
            }
        }
        assert!(std::ptr::eq(named("/usr/bin/gls"), exactly("ls")));
        for name in ["", " ", "no-such-program", "rm rmdir"] {
            assert!(
                std::ptr::eq(exactly(name), std::ptr::from_ref(&OTHER)),
                "{name}"
            );
        }
    }
}
