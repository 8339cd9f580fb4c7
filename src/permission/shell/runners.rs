//! Programs that run what their arguments name: shells, wrappers, and those that run text. The only
//! table of them for denials and operands; `wrappers` knows those whose options are read exactly.

use super::word::Word;
use crate::sys::name_list::Names;

/// Shells, which run text from an argument or from standard input.
pub const SHELLS: Names = Names::new(
    "bash sh dash zsh ksh mksh ash rbash fish csh tcsh yash pwsh posh oksh loksh hush elvish nu \
     xonsh osh ysh rc es zsh5 rzsh ksh93 lksh bash-static",
);

/// Wrappers that take their options alike.
pub struct Wrapper {
    names: Names,
    /// Letters of options whose value is the next word or joined; `*` if this is unknown.
    valued: &'static str,
    /// The number of its own operands before the program.
    pub operands: usize,
    /// Long options whose value is the next word.
    long: Names,
    /// Letters and names of options without a value; if empty, every letter that is not in `valued`.
    flags: Names,
}

impl Wrapper {
    const fn options(self, long: &'static str, flags: &'static str) -> Self {
        Self {
            long: Names::new(long),
            flags: Names::new(flags),
            ..self
        }
    }

    /// Whether the next word is this option's value; `None` if it may be.
    pub fn takes_value(&self, option: &str) -> Option<bool> {
        if let Some(long) = option.strip_prefix("--") {
            let is_flag = long.contains('=') || self.flags.has(long);
            return self
                .long
                .has(long)
                .then_some(true)
                .or(is_flag.then_some(false));
        }
        if self.valued == "*" {
            return None;
        }
        let is_valued = |letter: char| self.valued.contains(letter);
        let letters = &option[1..];
        let (flags, value) = letters.split_at(letters.find(is_valued).unwrap_or(letters.len()));
        let is_flag = |letter: char| self.flags.has(letter.encode_utf8(&mut [0; 4]));
        let known = self.flags.is_empty() || flags.chars().all(is_flag);
        known.then_some(value.chars().count() == 1)
    }
}

const fn row(names: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper {
        names: Names::new(names),
        valued,
        operands,
        long: Names::new(""),
        flags: Names::new(""),
    }
}

static WRAPPERS: &[Wrapper] = &[
    row(
        "nohup command builtin setsid noglob nocorrect - coproc busybox toybox unbuffer",
        "",
        0,
    ),
    row("taskset setarch chroot repeat", "", 1),
    row("choom", "np", 0),
    row(
        "linux32 linux64 i386 i486 i586 i686 x86_64 uname26 ssh-agent start-stop-daemon proot \
         eatmydata chronic catchsegv runcon parallel prlimit numactl setpriv ltrace valgrind gdb \
         fakeroot bwrap firejail systemd-run systemd-inhibit dbus-run-session rlwrap pkexec",
        "*",
        0,
    ),
    row("sudo", "acughpCDRTUrt", 0),
    row("doas", "auC", 0),
    row("env", "afuCSPLU", 0),
    row("timeout gtimeout", "ks", 1),
    row("time", "fo", 0),
    row("nice watch", "n", 0),
    row("stdbuf", "ioe", 0),
    row("exec", "a", 0),
    row("xargs", "adEIJLnPRsS", 0),
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
    row("perf", "*", 1),
    row("direnv", "*", 2),
    // After the word that makes them run something.
    row(
        "poetry pipenv pdm hatch pixi bundle rbenv pyenv asdf",
        "*",
        0,
    ),
    row("uv", "fipwCP", 0).options(
        "with with-editable with-requirements python package project directory extra group \
         only-group env-file from index index-url",
        "m n q s v U active all-extras all-groups dev exact frozen isolated locked no-dev \
         no-project no-sync offline module quiet script verbose",
    ),
    // The same: a container, then the program.
    row("docker podman", "acehmpuvw", 1).options(
        "add-host cap-add cap-drop cpus device entrypoint env env-file expose gpus hostname \
         label memory mount name network net pid platform publish restart security-opt \
         shm-size tmpfs ulimit user userns volume volumes-from workdir",
        "d i q t P T detach init interactive no-deps privileged publish-all quiet read-only rm \
         tty",
    ),
    row("kubectl", "cfklnosv", 1).options(
        "cluster container context filename image kubeconfig labels namespace output restart \
         server target user",
        "i q t attach quiet rm stdin tty",
    ),
];

/// Those of [`WRAPPERS`] whose options with a value are all listed, in every implementation.
pub const EXACT: Names = Names::new(
    "sudo doas env timeout gtimeout time nice nohup command builtin exec setsid stdbuf ionice \
     xargs noglob nocorrect",
);

/// Those of [`WRAPPERS`] that run something only behind one of [`RUNNING`].
pub const BY_SUBCOMMAND: Names =
    Names::new("uv poetry pipenv pdm hatch pixi bundle rbenv pyenv asdf docker podman kubectl");

/// Subcommands with which a program runs the words behind them.
pub const RUNNING: Names =
    Names::new("run exec dlx tool foreach bisect create debug explore unshare devenv -E");

/// How many letters of clustered options may stand before a text.
const MAX_LETTERS: usize = 3;

/// Programs other than shells that run text from an argument.
const RUN_TEXT: Names = Names::new(
    "eval trap su runuser sg ssh watch parallel script nix nix-shell flock mise entr tmux screen \
     xvfb-run",
);

/// Why a command is refused whose text cannot be read.
pub const UNKNOWN_TEXT: &str = "it runs text that is not known";

/// The steps that a look-up in these tables costs.
pub const LOOK_UP: usize = 4;

/// The last component of a program's path. Where GNU's tools have other names, `gfind` is `find`.
pub fn base(program: &str) -> &str {
    match program.rsplit('/').next().unwrap_or(program) {
        "gfind" => "find",
        base => base,
    }
}

/// The name that `exec -a` or `env -a` gives the program behind it, by which that may choose what it
/// does; with its option, if they are one word.
pub fn new_name<'w>(program: &str, arguments: &'w [Word]) -> Option<&'w Word> {
    let wrapper = wrapper(program).filter(|_| matches!(program, "exec" | "env"))?;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.prefix();
        match text.strip_prefix('-') {
            Some(long) if long.starts_with('-') && abbreviates(text, "--argv0") => {
                return Some(word);
            }
            Some(short) if !short.starts_with('-') && short.contains('a') => {
                return if short.ends_with('a') {
                    words.next()
                } else {
                    Some(word)
                };
            }
            Some(_) if wrapper.takes_value(text) == Some(true) => drop(words.next()),
            Some(_) => {}
            None => break,
        }
    }
    None
}

/// Whether a text is a long option, also abbreviated or with a value.
pub fn abbreviates(text: &str, option: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    name.len() > 2 && option.starts_with(name)
}

/// How a wrapper of this base name takes its options.
pub fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.names.has(name))
}

/// Whether one of the words of a command is a text that `git` may run, such as the value of a setting.
pub fn is_text_of_git(words: &[Word], at: usize) -> bool {
    const OPTIONS: Names = Names::new("-c -x -u --exec --extcmd --upload-pack --receive-pack");
    const ATTACHED: [&str; 6] = ["-x", "-u", "--exec", "--extcmd", "--upload", "--receive"];
    let is_option =
        |word: &Word| word.fits(|text| OPTIONS.has(text)) || word.prefix().ends_with("-filter");
    let is_value = at.checked_sub(1).is_some_and(|at| is_option(&words[at]));
    let begins = |option: &&str| words[at].prefix().starts_with(option);
    words[0].fits(|program| base(program) == "git") && (is_value || ATTACHED.iter().any(begins))
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
