//! Programs that run what their arguments name: shells, wrappers, and those that run text. The only
//! table of them for denials and operands; `wrappers` knows those whose options are read exactly.

use super::name_list::Names;

/// Shells, which run text from an argument or from standard input.
pub const SHELLS: Names = Names(
    "bash sh dash zsh ksh mksh ash rbash fish csh tcsh yash pwsh posh oksh loksh hush elvish nu \
     xonsh osh ysh rc es",
);

/// Wrappers that take their options alike.
pub struct Wrapper {
    names: Names,
    /// Letters of options whose value is the next word or joined; `*` if this is unknown.
    pub valued: &'static str,
    /// The number of its own operands before the program.
    pub operands: usize,
}

const fn row(names: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper {
        names: Names(names),
        valued,
        operands,
    }
}

static WRAPPERS: &[Wrapper] = &[
    row("nohup command builtin setsid noglob nocorrect", "", 0),
    row("- coproc busybox toybox unbuffer", "", 0),
    row("taskset setarch chroot repeat", "", 1),
    row("choom", "np", 0),
    row(
        "linux32 linux64 i386 i486 i586 i686 x86_64 uname26 ssh-agent",
        "*",
        0,
    ),
    row(
        "start-stop-daemon proot eatmydata chronic catchsegv runcon",
        "*",
        0,
    ),
    row("sudo", "ughpCDRTUrt", 0),
    row("doas", "uC", 0),
    row("env", "uCS", 0),
    row("timeout gtimeout", "ks", 1),
    row("time", "fo", 0),
    row("nice watch", "n", 0),
    row("stdbuf", "ioe", 0),
    row("exec", "a", 0),
    row("xargs", "adEILnPs", 0),
    row("ionice", "cnpPu", 0),
    row("chrt", "TPDp", 1),
    row("flock", "wE", 1),
    row("unshare", "SGRw", 0),
    row("nsenter", "tSGW", 0),
    row("npx", "pc", 0),
    row("bunx pnpx", "p", 0),
    row("uvx", "pw", 0),
    row("caffeinate", "tw", 0),
    row("strace", "eopPsuabIOSEX", 0),
    row(
        "parallel prlimit numactl setpriv ltrace valgrind gdb",
        "*",
        0,
    ),
    row(
        "fakeroot bwrap firejail systemd-run systemd-inhibit",
        "*",
        0,
    ),
    row("dbus-run-session rlwrap pkexec", "*", 0),
    row("perf", "*", 1),
    row("direnv", "*", 2),
    // After the word that makes them run something.
    row(
        "uv poetry pipenv pdm hatch pixi bundle rbenv pyenv asdf",
        "*",
        0,
    ),
    // The same: a container, then the program.
    row("docker podman kubectl", "*", 1),
];

/// Those of [`WRAPPERS`] that run something only behind one of [`RUNNING`].
pub const BY_SUBCOMMAND: Names =
    Names("uv poetry pipenv pdm hatch pixi bundle rbenv pyenv asdf docker podman kubectl");

/// Subcommands with which a program runs the words behind them.
pub const RUNNING: Names = Names("run exec dlx tool foreach bisect create debug");

/// How many letters of clustered options may stand before a text.
const MAX_LETTERS: usize = 3;

/// Programs other than shells that run text from an argument.
const RUN_TEXT: Names = Names(
    "eval trap su runuser sg ssh watch parallel script nix nix-shell flock mise entr tmux screen \
     xvfb-run",
);

/// The last component of a program's path.
pub fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// How a wrapper of this base name takes its options.
pub fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.names.has(name))
}

/// Whether a program runs text from an argument.
pub fn runs_text(program: &str) -> bool {
    RUN_TEXT.has(base(program)) || SHELLS.has(base(program))
}

/// The texts that a program may run from one argument: the argument itself, or what stands behind the
/// letters or the name of an option (`-c`, `-qc'rm x'`, `--command='rm x'`).
pub fn texts(argument: &str) -> impl Iterator<Item = &str> {
    let option = argument.strip_prefix('-');
    let whole = option.is_none().then_some(argument);
    let joined = option.into_iter().flat_map(|option| {
        let letters = (0..=MAX_LETTERS).filter_map(|at| option.get(at..));
        letters.map(|text| text.trim_start_matches('-'))
    });
    let value = argument.split_once('=').map(|(_, value)| value);
    // `ssh -o ProxyCommand='rm x'`; without blanks it would be an assignment.
    let value = value.filter(|_| option.is_some() || argument.contains(char::is_whitespace));
    let all = whole.into_iter().chain(joined).chain(value);
    all.filter(|text| !text.trim().is_empty())
}
