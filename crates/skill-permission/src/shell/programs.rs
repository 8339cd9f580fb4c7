//! The only table of programs (docs/spec/restriction.md#operands): what one does with its operands,
//! what it runs by its words, how the shell treats it, when it needs no entry, and how narrow an entry
//! for it can be. What any other program starts by itself is not modelled.

use super::options::{self, ProgramOptions};

/// A row of the table.
pub struct Program {
    /// Separated by blanks.
    names: &'static str,
    /// What it does with its operands.
    pub operand_use: OperandUse,
    /// What it runs by its words.
    pub wraps: Wraps,
    /// What else holds for it: [`SHELL_ONLY`] and the like.
    traits: u16,
    /// When it needs no entry.
    pub neutral: NeutralForm,
    /// The options with which it only shows files, or filters.
    pub options: Option<&'static ProgramOptions>,
    /// How narrow an entry for it can be.
    pub shape: EntryShape,
}

/// What a program does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandUse {
    /// Unknown.
    Unknown,
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
pub enum Wraps {
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
        grantable: Option<&'static str>,
    },
    /// The text behind `-c`: a shell.
    CommandString,
    /// Its words, as a text in this shell: `eval`.
    Eval,
    /// Its first word, later: `trap`.
    Trap,
}

/// Only a shell has it, as a builtin or reserved word.
pub const SHELL_ONLY: u16 = 1;
/// It changes the shell's directory.
pub const CHANGES_DIRECTORY: u16 = 1 << 1;
/// It runs a text in this shell, now or later.
pub const EVALUATES: u16 = 1 << 2;
/// It may change what names mean to the shell, or bind variables unseen.
pub const BINDS_UNSEEN: u16 = 1 << 3;
/// It may set the shell's options.
pub const SETS_OPTIONS: u16 = 1 << 4;
/// Its operands name variables.
pub const BINDS_OPERANDS: u16 = 1 << 5;
/// It gives variables to programs.
pub const EXPORTS: u16 = 1 << 6;
/// The builtin behind it runs.
pub const PREFIX: u16 = 1 << 7;
/// It puts names that it reads behind the command that it runs.
pub const APPENDS_INPUT: u16 = 1 << 11;
/// A shell whose texts are parsed like the surrounding line.
pub const SAME_GRAMMAR: u16 = 1 << 8;
/// At the end of a pipe it may need no entry.
pub const FILTER: u16 = 1 << 9;
/// Skills often use it, and its name is hardly a word of a sentence.
pub const COMMON: u16 = 1 << 10;

/// In which form a command needs no entry (docs/spec/restriction.md#neutral-commands).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeutralForm {
    /// In none.
    Never,
    /// In none, and no entry grants one: it sets any variable.
    SetsAnyVariable,
    /// With any words.
    Always,
    /// If each word is one word.
    SingleWords,
    /// With numbers.
    Numbers,
    /// With only these words.
    OnlyWords(&'static str),
    /// With these options and plain names.
    OptionsThenNames(&'static str),
    /// With clusters of these letters.
    OptionLetters(&'static str),
    /// With paths, at most so many.
    Paths(usize),
    /// `cd` within the project or the skill.
    Cd,
    /// `test`.
    Test,
    /// `[`.
    Bracket,
    /// `printf` that only prints.
    Printf,
    /// `set` that only makes the shell strict.
    Set,
    /// `command -v`.
    CommandV,
    /// `export`.
    Export,
    /// `readonly`.
    Readonly,
    /// `read`.
    Read,
    /// `unset`.
    Unset,
    /// `sleep`.
    Sleep,
    /// `date`.
    Date,
    /// `seq`.
    Seq,
    /// `id`.
    Id,
}

/// What follows a program's name, which decides how narrow an entry can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryShape {
    /// Anything: only the program can be named.
    Plain,
    /// So many words that say what to do: `git log`, `gh pr view`; behind the named one, another.
    Subcommands(usize, &'static str),
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
    common("rm rmdir shred truncate chmod chown chgrp").operands(OperandUse::Changes).shape(EntryShape::Exact),
    common("tee").operands(OperandUse::Changes),
    row("unlink").operands(OperandUse::Changes),
    common("mv").operands(OperandUse::Moves),
    common("cp").operands(OperandUse::Copies),
    common("rsync").operands(OperandUse::Syncs).shape(EntryShape::Exact),
    row("install").operands(OperandUse::Installs),
    row("ln link").operands(OperandUse::Links),
    common("dd").operands(OperandUse::Dd).shape(EntryShape::Exact),
    common("find").operands(OperandUse::Find),
    common("git").operands(OperandUse::Git).shape(EntryShape::Subcommands(1, "")),
    common("sed").operands(OperandUse::Sed).traits(FILTER).with(&options::SED),
    // What only reads its operands.
    common("cat").operands(OperandUse::Reads).traits(FILTER).with(&options::CAT),
    row("head").operands(OperandUse::Reads).traits(FILTER).with(&options::HEAD),
    row("tail").operands(OperandUse::Reads).traits(FILTER).with(&options::TAIL),
    row("wc").operands(OperandUse::Reads).traits(FILTER).with(&options::WC),
    row("nl").operands(OperandUse::Reads).traits(FILTER).with(&options::NL),
    row("cut").operands(OperandUse::Reads).traits(FILTER).with(&options::CUT),
    row("tac cksum sum md5sum sha1sum sha256sum").operands(OperandUse::Reads).traits(FILTER).with(&options::PLAIN),
    common("jq").operands(OperandUse::Reads).traits(FILTER).with(&options::JQ),
    common("grep").operands(OperandUse::Reads).traits(FILTER).with(&options::GREP),
    row("egrep fgrep").operands(OperandUse::Reads).traits(FILTER).with(&options::GREP),
    common("rg").operands(OperandUse::Reads).with(&options::RG),
    common("ls").operands(OperandUse::Reads).with(&options::LS),
    row("file").operands(OperandUse::Reads).with(&options::FILE),
    row("stat").operands(OperandUse::Reads).with(&options::STAT),
    common("diff").operands(OperandUse::Reads),
    row("[[ od cmp comm realpath readlink du strings").operands(OperandUse::Reads),
    row("echo").operands(OperandUse::Reads).neutral(NeutralForm::Always),
    row("printf").operands(OperandUse::Reads).traits(BINDS_OPERANDS).neutral(NeutralForm::Printf),
    row("test").operands(OperandUse::Reads).neutral(NeutralForm::Test),
    row("[").operands(OperandUse::Reads).neutral(NeutralForm::Bracket),
    row("basename").operands(OperandUse::Reads).neutral(NeutralForm::Paths(2)),
    row("dirname").operands(OperandUse::Reads).neutral(NeutralForm::Paths(1)),
    common("tree").with(&options::TREE),
    // What filters a pipe, and may write files.
    row("sort").traits(FILTER).with(&options::SORT),
    row("uniq").traits(FILTER).with(&options::UNIQ),
    row("tr").traits(FILTER).with(&options::TR),
    row("column").traits(FILTER).with(&options::COLUMN),
    row("rev").traits(FILTER).with(&options::PLAIN),
    row("base64").traits(FILTER).with(&options::BASE64),
    common("awk").traits(FILTER).with(&options::AWK),
    // What reports or waits.
    row("true false").neutral(NeutralForm::SingleWords),
    row("pwd").neutral(NeutralForm::OnlyWords("-P -L")),
    row("nproc").neutral(NeutralForm::OnlyWords("--all")),
    row("whoami hostname").neutral(NeutralForm::OnlyWords("")),
    row("mktemp").neutral(NeutralForm::OnlyWords("-d")),
    row("which").neutral(NeutralForm::OptionsThenNames("-a")),
    row("uname").neutral(NeutralForm::OptionLetters("asnrvmpio")),
    row("sleep").neutral(NeutralForm::Sleep),
    row("date").neutral(NeutralForm::Date),
    row("seq").neutral(NeutralForm::Seq),
    row("id").neutral(NeutralForm::Id),
    // Parts of the shell.
    row(":").traits(SHELL_ONLY).neutral(NeutralForm::SingleWords),
    row("exit return break continue shift wait").traits(SHELL_ONLY).neutral(NeutralForm::Numbers),
    row("type").traits(SHELL_ONLY).neutral(NeutralForm::OptionsThenNames("-a -t -p")),
    row("cd").operands(OperandUse::Reads).traits(SHELL_ONLY | CHANGES_DIRECTORY).neutral(NeutralForm::Cd).shape(EntryShape::Never),
    row("pushd popd").operands(OperandUse::Reads).traits(SHELL_ONLY | CHANGES_DIRECTORY).shape(EntryShape::Never),
    row("set").traits(SHELL_ONLY | SETS_OPTIONS).neutral(NeutralForm::Set).shape(EntryShape::Never),
    row("shopt").traits(SHELL_ONLY | SETS_OPTIONS).neutral(NeutralForm::SetsAnyVariable),
    row("setopt").traits(SHELL_ONLY | SETS_OPTIONS),
    row("export").traits(SHELL_ONLY | BINDS_OPERANDS | EXPORTS).neutral(NeutralForm::Export).shape(EntryShape::Never),
    row("readonly").traits(SHELL_ONLY | BINDS_OPERANDS | EXPORTS).neutral(NeutralForm::Readonly),
    row("read").traits(SHELL_ONLY | BINDS_OPERANDS).neutral(NeutralForm::Read),
    row("unset").traits(SHELL_ONLY | BINDS_OPERANDS).neutral(NeutralForm::Unset).shape(EntryShape::Never),
    row("declare typeset local").traits(SHELL_ONLY | BINDS_OPERANDS | EXPORTS).neutral(NeutralForm::SetsAnyVariable),
    row("let getopts mapfile readarray").traits(SHELL_ONLY | BINDS_OPERANDS).neutral(NeutralForm::SetsAnyVariable),
    row("integer float print").traits(SHELL_ONLY | BINDS_OPERANDS),
    row("function compgen").traits(SHELL_ONLY).neutral(NeutralForm::SetsAnyVariable),
    row("alias").traits(SHELL_ONLY | BINDS_UNSEEN).neutral(NeutralForm::SetsAnyVariable).shape(EntryShape::Never),
    row("unalias complete").traits(SHELL_ONLY | BINDS_UNSEEN).neutral(NeutralForm::SetsAnyVariable),
    row("autoload zmodload sched vared bind fc").traits(SHELL_ONLY | BINDS_UNSEEN),
    row("emulate enable").traits(SHELL_ONLY | BINDS_UNSEEN | SETS_OPTIONS),
    row("source .").traits(SHELL_ONLY | EVALUATES | BINDS_UNSEEN | SETS_OPTIONS).shape(EntryShape::Never),
    row("eval").traits(SHELL_ONLY | EVALUATES | BINDS_UNSEEN | SETS_OPTIONS).wraps(Wraps::Eval).shape(EntryShape::Never),
    row("trap").traits(SHELL_ONLY | EVALUATES | BINDS_UNSEEN | SETS_OPTIONS).wraps(Wraps::Trap).shape(EntryShape::Never),
    row("command").traits(SHELL_ONLY | PREFIX).neutral(NeutralForm::CommandV).command("", 0).grantable_options(""),
    row("exec").traits(SHELL_ONLY | PREFIX).command("a", 0).grantable_options("").shape(EntryShape::Never),
    row("builtin noglob nocorrect").traits(SHELL_ONLY | PREFIX).command("", 0),
    row("coproc").traits(SHELL_ONLY | BINDS_UNSEEN).command("", 0),
    // What runs a text or a command.
    common("bash sh").traits(SAME_GRAMMAR).wraps(Wraps::CommandString),
    row("dash").traits(SAME_GRAMMAR).wraps(Wraps::CommandString),
    common("zsh").wraps(Wraps::CommandString),
    row("ksh mksh ash rbash fish csh tcsh yash ksh93 lksh oksh loksh hush bash-static").wraps(Wraps::CommandString),
    common("env").traits(EXPORTS).command("a f u C S P L U --unset --chdir --argv0", 0).grantable_options("="),
    common("timeout").command("k s --signal --kill-after", 1)
        .grantable_options("--foreground --preserve-status -v -k: -s: --signal: --kill-after:"),
    common("nohup").command("", 0).grantable_options(""),
    common("xargs").traits(APPENDS_INPUT).command(XARGS, 0).grantable_options("-0 -r -t -n: -P: -L: -I:"),
    row("time").traits(PREFIX).command("f o --format --output", 0).grantable_options("-p"),
    row("nice").command("n --adjustment", 0).grantable_options("-# -n: --adjustment:"),
    row("stdbuf").command("i o e --input --output --error", 0).grantable_options("-i: -o: -e:"),
    common("sudo doas").command(SUDO, 0).shape(EntryShape::Elevating),
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
    common("npx bunx pnpx uvx").command(PACKAGED, 0).shape(EntryShape::Package),
    common("npm pnpm yarn").command(INSTALLED, 0).after_subcommand("exec dlx x").shape(EntryShape::Subcommands(1, "run")),
    common("bundle").command(INSTALLED, 0).after_subcommand("exec dlx x").shape(EntryShape::Subcommands(1, "")),
    row("rbenv pyenv mise").command(INSTALLED, 0).after_subcommand("exec dlx x"),
    common("uv").command(PROJECTS, 0).after_subcommand("run").shape(EntryShape::Subcommands(1, "pip")),
    common("poetry pipenv").command(PROJECTS, 0).after_subcommand("run").shape(EntryShape::Subcommands(1, "")),
    row("pdm hatch pixi").command(PROJECTS, 0).after_subcommand("run"),
    // What only suggestions know.
    common("bun").shape(EntryShape::Subcommands(1, "run")),
    common("deno").shape(EntryShape::Subcommands(1, "task")),
    common("docker podman").shape(EntryShape::Subcommands(1, "compose")),
    row("just task").shape(EntryShape::Subcommands(1, "")),
    common("apk apt apt-get adb brew cargo composer conda dnf docker-compose dotnet firebase flutter gem go gradle \
           gradlew helm kubectl launchctl make mvn netlify openssl pip pip3 pipx pulumi rake rustup systemctl \
           terraform vercel wrangler xcrun yum").shape(EntryShape::Subcommands(1, "")),
    common("aws az gcloud gh glab stripe supabase").shape(EntryShape::Subcommands(2, "")),
    common("node perl php python python3 ruby ts-node tsx").shape(EntryShape::Interpreter),
    common("crontab diskutil kill killall mkfs mount pkill reboot scp sftp shutdown ssh umount").shape(EntryShape::Exact),
    row("agent-skills su").shape(EntryShape::Never),
    common("black convert curl eslint ffmpeg ffprobe jest magick mkdir mypy pandoc pdftoppm pdftotext prettier pytest \
           ruff soffice sqlite3 tar touch tsc unzip vitest wget yq zip"),
];

static OTHER: Program = row("");

const fn row(names: &'static str) -> Program {
    Program {
        names,
        operand_use: OperandUse::Unknown,
        wraps: Wraps::Nothing,
        traits: 0,
        neutral: NeutralForm::Never,
        options: None,
        shape: EntryShape::Plain,
    }
}

const fn common(names: &'static str) -> Program {
    row(names).traits(COMMON)
}

/// What rows are made of.
impl Program {
    const fn operands(self, operand_use: OperandUse) -> Self {
        Self {
            operand_use,
            ..self
        }
    }

    const fn wraps(self, wraps: Wraps) -> Self {
        Self { wraps, ..self }
    }

    const fn command(self, valued: &'static str, operands: usize) -> Self {
        self.wraps(Wraps::Command {
            valued,
            operands,
            verbs: "",
            grantable: None,
        })
    }

    const fn after_subcommand(mut self, subcommands: &'static str) -> Self {
        if let Wraps::Command { verbs, .. } = &mut self.wraps {
            *verbs = subcommands;
        }
        self
    }

    const fn grantable_options(mut self, options: &'static str) -> Self {
        if let Wraps::Command { grantable, .. } = &mut self.wraps {
            *grantable = Some(options);
        }
        self
    }

    const fn traits(mut self, traits: u16) -> Self {
        self.traits |= traits;
        self
    }

    const fn neutral(self, neutral: NeutralForm) -> Self {
        Self { neutral, ..self }
    }

    const fn with(self, options: &'static ProgramOptions) -> Self {
        Self {
            options: Some(options),
            ..self
        }
    }

    const fn shape(self, shape: EntryShape) -> Self {
        Self { shape, ..self }
    }
}

/// A hash slot: a row of the table (from 1; 0 is none), and where the name stands in it.
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
pub fn by_name(name: &str) -> &'static Program {
    find_row(name).unwrap_or(&OTHER)
}

/// Whether the table has exactly this name.
pub fn is_known(name: &str) -> bool {
    find_row(name).is_some()
}

/// The program of this name, whatever its path; GNU tools on other systems begin with `g`.
pub fn by_path(name: &str) -> &'static Program {
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
    pub fn operand_use_as(&self, name: &str) -> OperandUse {
        let is_below = |dir: &&str| name.starts_with(*dir) && !name.contains("..");
        match self.operand_use {
            OperandUse::Reads if name.contains('/') && !["/bin/", "/usr/"].iter().any(is_below) => {
                OperandUse::Unknown
            }
            operand_use => operand_use,
        }
    }

    /// Whether it removes, moves or changes its operands.
    pub fn changes(&self) -> bool {
        !matches!(
            self.operand_use,
            OperandUse::Unknown | OperandUse::Reads | OperandUse::Find | OperandUse::Git
        )
    }
}

/// Whether a name is in a list, which is separated by blanks.
pub fn has_word(list: &str, name: &str) -> bool {
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
    let mut moving = TABLE
        .iter()
        .filter(|row| row.has(CHANGES_DIRECTORY | EVALUATES));
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
                assert!(std::ptr::eq(by_name(name), row), "{name}");
            }
        }
        assert!(std::ptr::eq(by_path("/usr/bin/gls"), by_name("ls")));
        for name in ["", " ", "no-such-program", "rm rmdir"] {
            assert!(
                std::ptr::eq(by_name(name), std::ptr::from_ref(&OTHER)),
                "{name}"
            );
        }
    }
}
