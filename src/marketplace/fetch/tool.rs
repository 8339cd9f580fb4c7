//! Runs one of the user's programs (git, curl) as a child process that can neither prompt nor
//! exceed its deadline nor fill the disk with its output. It knows nothing about what the program
//! does.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::error::reason;
use crate::marketplace::prelude::*;
use crate::sys::process::RunError;
use crate::sys::{process, time_running, variables};

/// The part of standard error that is read, in bytes. Its first lines say the most.
const STDERR: u64 = 64 * 1024;

/// How programs are run for one of our commands.
#[derive(Debug, Clone, Copy)]
pub struct Programs<'a> {
    /// The environment that they inherit, apart from the host's variables.
    pub env: &'a Env,
    /// When the result must be ready; `None` for a person at a terminal.
    pub deadline: Option<Instant>,
    /// Our directory for their output, in which they also run.
    pub scratch: &'a Dir,
    /// Receives the progress of a long transfer.
    pub progress: Option<fn(&str)>,
}

/// The result of a program that has exited by itself.
#[derive(Debug)]
pub struct CommandOutput {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output, positioned at the start.
    pub output: File,
    /// The first part of its standard error.
    pub errors: String,
}

/// How long to wait for another of our commands, if the result must be ready at `deadline`.
pub fn patience(deadline: Option<Instant>) -> Duration {
    within(limits::INSTALL_LOCK, deadline)
}

fn within(most: Duration, deadline: Option<Instant>) -> Duration {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    most.min(left.unwrap_or(Duration::MAX))
}

impl Programs<'_> {
    /// A command for `program` in our environment without the host's variables, with English
    /// messages.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        command.envs(variables::for_others(self.env));
        command.env("LC_ALL", "C");
        command.current_dir(self.scratch.path());
        command
    }

    /// Where `program` is on the user's path, of which places that depend on the current directory do
    /// not count.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn find(&self, program: &str) -> Result<PathBuf, FetchFailure> {
        which::which_in(program, Some(self.path()), self.scratch.path()).map_err(|_| {
            FetchFailure::new(FailureKind::Missing, format!("{program} was not found"))
        })
    }

    fn path(&self) -> OsString {
        let path = self.env.os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&path).filter(|place| place.is_absolute());
        std::env::join_paths(places).unwrap_or_default()
    }

    /// A command for a program that checks signatures: it knows nothing of the user but where programs
    /// and gpg's keys are.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn checking(&self, program: &str) -> Result<Command, FetchFailure> {
        let mut command = Command::new(self.find(program)?);
        command.env_clear();
        command.env("PATH", self.path()).env("LC_ALL", "C");
        let scratch = self.scratch.path();
        // Without one, gpg would make a directory in the home of somebody who does not use it.
        let usual = || Some(self.env.home()?.join(".gnupg"));
        let keyring = self.env.os("GNUPGHOME").map(|dir| self.env.cwd.join(dir));
        let keyring = keyring.or_else(usual).filter(|dir| dir.is_dir());
        command.env("GNUPGHOME", keyring.as_deref().unwrap_or(scratch));
        command.env("TMPDIR", scratch).current_dir(scratch);
        Ok(command)
    }

    /// Runs it to its end. Its output may have at most `max` bytes.
    ///
    /// # Errors
    /// When it cannot be started, or does not end in time or within `max`.
    pub fn run(
        &self,
        mut command: Command,
        input: impl AsRef<[u8]>,
        max: u64,
    ) -> Result<CommandOutput, FetchFailure> {
        let program = command.get_program().to_string_lossy().into_owned();
        process::limit_files(&mut command, limits::FETCHED_FILE);
        let patience = within(Duration::from_secs(limits::GIT_SECONDS), self.deadline);
        let mut shown = None;
        let watch = |errors: &File| {
            // This also reports a program that prints no progress while it waits for a slow server.
            let seconds = time_running().as_secs();
            if let (Some(show), true) = (self.progress, seconds > 0) {
                let silent = || format!("waiting for {program}: {seconds} s");
                show(&last_line(errors).unwrap_or_else(silent));
                shown = Some(show);
            }
        };
        let (input, file) = (input.as_ref(), || self.scratch.create_unseen());
        let ran = process::run(&mut command, input, file, patience, max, watch);
        if let Some(show) = shown {
            // This clears the line.
            show("");
        }
        let (status, output, errors) = ran.map_err(|error| match error {
            RunError::TimedOut => FetchFailure::new(
                FailureKind::TimedOut,
                format!("{program} did not finish in time"),
            ),
            RunError::AnswerTooLarge => {
                let text = format!("{program} answered with more than {max} bytes");
                FetchFailure::new(FailureKind::TooLarge, text)
            }
            RunError::Own(error) => self.local(&error),
            RunError::NotStarted(error) => FetchFailure::not_started(&program, &error),
        })?;
        let mut text = Vec::new();
        let read = errors.take(STDERR).read_to_end(&mut text);
        read.map_err(|e| self.local(&e))?;
        Ok(CommandOutput {
            status,
            output,
            errors: String::from_utf8_lossy(&text).into_owned(),
        })
    }

    /// The failure for one of our own I/O errors.
    pub fn local(&self, error: &io::Error) -> FetchFailure {
        let class = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FailureKind::DiskFull,
            io::ErrorKind::FileTooLarge => FailureKind::TooLarge,
            _ => FailureKind::Other,
        };
        let error = Error::io("work in", self.scratch.path(), error);
        FetchFailure::of(class, error)
    }

    /// The failure of a program that does not say why it failed: on a full disk it may not even be
    /// able to say that, so a write is tried here.
    pub fn tried(&self, failure: FetchFailure) -> FetchFailure {
        match (failure.class, self.write_some()) {
            (FailureKind::Other, Err(error)) => self.local(&error).context(Error::from(failure)),
            _ => failure,
        }
    }

    fn write_some(&self) -> io::Result<()> {
        self.scratch.create_unseen()?.write_all(&vec![1; 64 * 1024])
    }
}

/// The last progress line of a program that overwrites one line again and again.
fn last_line(errors: &File) -> Option<String> {
    let length = errors.metadata().ok()?.len();
    let mut tail = [0; 200];
    let start = length.saturating_sub(tail.len() as u64);
    // The offset is explicit because the program writes at the file's own position.
    let read = errors.read_at(&mut tail, start).ok()?;
    let text = String::from_utf8_lossy(&tail[..read]).into_owned();
    let line = text.rsplit(['\r', '\n']).find(|line| line.contains('%'))?;
    Some(line.trim().to_owned())
}

/// Why a program failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The repository does not exist, or the host claims so because it is private.
    NoRepository,
    /// Credentials are missing or were rejected. Public hosts also answer this way if a repository
    /// does not exist.
    NeedsAuthentication,
    /// The host cannot be reached.
    Unreachable,
    /// The host does not prove who it is by a certificate or key that is trusted here.
    Untrusted,
    /// The host gives nothing now: it was asked too often, or has an error of its own.
    Busy,
    /// It belongs to another user of this machine.
    NotOwned,
    /// The repository has no such branch, tag or commit.
    NoSuchRef,
    /// The source has no such skill.
    NoSuchSkill,
    /// The name means more than one thing in the repository.
    Ambiguous,
    /// The server redirects git, which is not followed.
    Redirected,
    /// The deadline passed.
    TimedOut,
    /// A size limit was exceeded.
    TooLarge,
    /// The disk is full.
    DiskFull,
    /// This user may not write there.
    NotWritable,
    /// The program is not installed.
    Missing,
    /// The network is needed, but not allowed.
    Offline,
    /// Anything else. The message contains what the program printed.
    Other,
}

/// A failed command, or an error of our own on the way to it.
#[derive(Debug)]
pub struct FetchFailure {
    /// What it means.
    pub class: FailureKind,
    /// What was attempted, why it failed, and the next step.
    error: Error,
}

impl FetchFailure {
    /// A failure whose message names the thing and the reason.
    pub fn new(class: FailureKind, message: impl Into<String>) -> Self {
        let error = Error::new(message);
        let error = match class.next_step() {
            Some(step) => error.hint(step),
            None => error,
        };
        Self { class, error }
    }

    /// Something that is asked for without the network.
    pub fn not_kept(what: impl fmt::Display) -> Self {
        Self::new(
            FailureKind::Offline,
            format!("{what} is not cached on this machine"),
        )
    }

    /// The same with this next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error = self.error.hint(hint);
        self
    }

    /// A program that could not be started.
    pub fn not_started(program: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            return Self::new(FailureKind::Missing, format!("{program} was not found"));
        }
        let text = format!("could not start {program}: {}", reason(error));
        Self::new(FailureKind::Other, text).hint(format!("check that `{program}` runs by itself"))
    }

    /// What git says on standard error, and what it means if its words tell that.
    pub fn from_stderr(stderr: &str) -> Self {
        let lines = stderr.split(['\n', '\r']).map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let (class, evidence) = classify(&lines);
        let mut told: Vec<&str> = lines.iter().copied().filter(|line| tells(line)).collect();
        if let Some(evidence) = evidence.filter(|line| !told.contains(line)) {
            told.insert(0, evidence);
        }
        // This adds nothing to the reason, which precedes it.
        if told.len() > 1 {
            told.retain(|line| *line != "fatal: Could not read from remote repository.");
        }
        told.dedup();
        if told.len() > 2 * TOLD {
            told.drain(TOLD..told.len() - TOLD);
        }
        if told.is_empty() {
            told.push(lines.last().unwrap_or(&"git failed and did not say why"));
        }
        let bare = |line: &&str| {
            let line = brief(line.trim_start_matches("fatal: "), 300);
            line.trim_end_matches('.').to_owned()
        };
        let told: Vec<String> = told.iter().map(bare).collect();
        let failure = Self::new(class, told.join("; "));
        // Git prints the whole command that makes an exception.
        let exception = lines.iter().find(|line| line.starts_with(EXCEPTION));
        match (class, exception) {
            (FailureKind::NotOwned, Some(exception)) => failure.hint(format!(
                "if you trust its owner, run `{}`; then git reads it",
                brief(exception, 300)
            )),
            (FailureKind::Other, _) => failure.hint(
                "git said no more; `agent-skills doctor` checks its version, and `git clone` may show details",
            ),
            _ => failure,
        }
    }

    /// Classifies curl's exit status and standard error.
    pub fn from_curl(status: Option<i32>, stderr: &str) -> Self {
        let class = match status {
            Some(5..=7 | 18 | 35 | 52 | 55 | 56 | 92) => FailureKind::Unreachable,
            Some(28) => FailureKind::TimedOut,
            Some(51 | 58 | 60 | 77 | 83 | 90 | 91) => FailureKind::Untrusted,
            Some(63) => FailureKind::TooLarge,
            _ => FailureKind::Other,
        };
        let line = stderr.lines().find(|line| line.starts_with("curl:"));
        let line = line.unwrap_or("curl failed and did not say why");
        let failure = Self::new(class, brief(line, 300));
        match class {
            FailureKind::Other => failure.hint("curl said no more; `curl -v` may show details"),
            _ => failure,
        }
    }

    /// A failure of our own with its class.
    pub fn of(class: FailureKind, error: Error) -> Self {
        Self { class, error }
    }

    /// Prepends what was attempted to the message.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.error = self.error.context(context);
        self
    }

    /// Whether this user cannot see the repository. Hosts hide private ones, so a request for
    /// credentials counts too.
    pub fn is_absence(&self) -> bool {
        matches!(
            self.class,
            FailureKind::NoRepository | FailureKind::NeedsAuthentication
        )
    }
}

impl FailureKind {
    /// What an HTTP status means that is no success.
    pub fn of_status(status: u16) -> Self {
        match status {
            300..=399 => Self::Redirected,
            401 | 403 => Self::NeedsAuthentication,
            404 | 410 => Self::NoRepository,
            408 | 429 | 500..=599 => Self::Busy,
            _ => Self::Other,
        }
    }

    /// What helps against it, if that is certain.
    fn next_step(self) -> Option<&'static str> {
        Some(match self {
            Self::NoRepository => "check the spelling of the address",
            Self::NeedsAuthentication => {
                "check the spelling; if the repository is private, `git ls-remote ADDRESS` has to work without a prompt (credential helper, ssh agent)"
            }
            Self::Unreachable => "check the network, the host's name and the proxy settings",
            Self::Untrusted => {
                "check the address and this machine's clock; to trust a certificate set `http.sslCAInfo` (git) or `cacert` in `~/.curlrc` (curl); to trust a host key run `ssh -T HOST`"
            }
            Self::Busy => "try again later; a login usually raises the limit",
            Self::NotOwned => {
                "if you trust its owner, run `git config --global --add safe.directory DIR`"
            }
            Self::NoSuchRef => "name a branch, a tag or a full commit id that the repository has",
            Self::Redirected => {
                "a policy limits the sources: give the address that it redirects to (`curl -I` shows it)"
            }
            Self::Ambiguous => "give the full name of the one you mean",
            Self::TimedOut => {
                "try again, or run `agent-skills` in a terminal, where it may take longer"
            }
            Self::TooLarge => "name the skill you want, or ask its author to trim the repository",
            Self::DiskFull => "free some space and try again",
            Self::NotWritable => {
                "check the permissions of the plugin directory, which `agent-skills doctor` names"
            }
            Self::Missing => "install it, or add it to PATH",
            Self::Offline => "run it once without `--offline`",
            Self::NoSuchSkill | Self::Other => return None,
        })
    }
}

impl From<FetchFailure> for Error {
    fn from(failure: FetchFailure) -> Self {
        failure.error
    }
}

/// An error of our own keeps its words and is of no particular class.
impl From<Error> for FetchFailure {
    fn from(error: Error) -> Self {
        let class = FailureKind::Other;
        Self { class, error }
    }
}

/// How many of git's first and last lines a message has: the first know most, the last what came of it.
const TOLD: usize = 2;

/// How git's advice about a repository of another user begins.
const EXCEPTION: &str = "git config --global --add safe.directory ";

/// What git and ssh print, in lowercase, and what it means. The first match counts.
const MEANINGS: [(FailureKind, &str); 10] = [
    (FailureKind::NotOwned, "dubious ownership"),
    (
        FailureKind::DiskFull,
        "no space left on device|disk quota exceeded",
    ),
    (
        FailureKind::NotWritable,
        "read-only file system|insufficient permission|for writing: permission denied|\
         fetch_head': permission denied",
    ),
    // The kernel ends a program with signal 25 (SIGXFSZ) at its limit of `process::limit_files`.
    (FailureKind::TooLarge, "file too large|died of signal 25"),
    (
        FailureKind::Untrusted,
        "certificate|host key verification failed",
    ),
    (
        FailureKind::Unreachable,
        "could not resolve|connection refused|connection timed out|\
         failed to connect|couldn't connect|network is unreachable|no route to host|\
         temporary failure in name resolution|name or service not known|\
         operation timed out|too slow|connection reset|early eof|hung up unexpectedly|\
         unexpected disconnect|rpc failed|unable to look up|connect tunnel|from proxy",
    ),
    (
        FailureKind::NoSuchRef,
        "couldn't find remote ref|not our ref|no such ref|unadvertised object|\
         did not receive expected object",
    ),
    (
        FailureKind::NeedsAuthentication,
        "authentication failed|could not read username|could not read password|\
         terminal prompts disabled|permission denied (publickey|saml sso|\
         invalid username or password|access denied",
    ),
    (
        FailureKind::NoRepository,
        "repository not found|does not appear to be a git repository|' not found|\
                  could not be found or you don't have permission|does not exist|\
         not found: did you run git update-server-info",
    ),
    // Such as ssh.
    (
        FailureKind::Missing,
        "error: cannot run |: not found|command not found",
    ),
];

/// What the lines mean, and the one that says so. A warning or advice is no reason.
fn classify<'l>(lines: &[&'l str]) -> (FailureKind, Option<&'l str>) {
    let is_reason = |line: &&&str| !line.starts_with("warning:") && !line.starts_with("hint:");
    let by_status = lines.iter().filter(is_reason).find_map(|line| {
        let (_, status) = line.split_once("returned error: ")?;
        Some((
            FailureKind::of_status(status.get(..3)?.parse().ok()?),
            Some(*line),
        ))
    });
    let by_words = || {
        MEANINGS.iter().find_map(|(class, words)| {
            let mut reasons = lines.iter().filter(is_reason);
            let line = reasons.find(|line| has_any(&line.to_ascii_lowercase(), words))?;
            Some((*class, Some(*line)))
        })
    };
    by_status
        .or_else(by_words)
        .unwrap_or((FailureKind::Other, None))
}

/// Whether a line may give a reason, and is no progress.
fn tells(line: &str) -> bool {
    let starts = ["fatal:", "error:", "ERROR:", "ssh:"];
    let said = line.strip_prefix("remote: ");
    let is_progress = |said: &str| said.contains("objects:") || said.starts_with("Total ");
    starts.iter().any(|start| line.starts_with(start)) || said.is_some_and(|it| !is_progress(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn no_file_that_a_program_makes_is_longer_than_permitted() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Dir::anchor(dir.path()).unwrap();
        let env = Env::new([("PATH", "/usr/bin:/bin")], Path::new("/"));
        let tool = Programs {
            env: &env,
            deadline: None,
            scratch: &scratch,
            progress: None,
        };
        for (size, is_made) in [
            (limits::FETCHED_FILE, true),
            (limits::FETCHED_FILE + 1, false),
        ] {
            let mut command = tool.command("dd");
            command.args(["if=/dev/null", "of=x", "bs=1", &format!("seek={size}")]);
            let ran = tool.run(command, "", 0).unwrap();
            assert_eq!(ran.status.success(), is_made, "{}", ran.errors);
        }
    }

    #[test]
    fn the_last_progress_is_the_one_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("e");
        std::fs::write(&path, "Receiving: 10% (1/10)\rReceiving: 20% (2/10)\rRec").unwrap();
        assert_eq!(
            last_line(&File::open(path).unwrap()).unwrap(),
            "Receiving: 20% (2/10)"
        );
    }

    #[test]
    fn what_git_says_has_the_class_a_person_would_give_it() {
        for (stderr, class) in [
            (
                "fatal: '/tmp/x' does not appear to be a git repository\nfatal: Could not read from \
                 remote repository.",
                FailureKind::NoRepository,
            ),
            (
                "remote: Repository not found.\nfatal: repository 'https://github.com/o/r/' not found",
                FailureKind::NoRepository,
            ),
            (
                "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
                FailureKind::NeedsAuthentication,
            ),
            (
                "git@github.com: Permission denied (publickey).",
                FailureKind::NeedsAuthentication,
            ),
            (
                "fatal: unable to access 'https://h/': Could not resolve host: h",
                FailureKind::Unreachable,
            ),
            (
                "ssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote \
                 repository.",
                FailureKind::Unreachable,
            ),
            (
                "fatal: couldn't find remote ref refs/heads/x",
                FailureKind::NoSuchRef,
            ),
            (
                "fatal: remote error: upload-pack: not our ref 1234",
                FailureKind::NoSuchRef,
            ),
            (
                "error: file write error: No space left on device",
                FailureKind::DiskFull,
            ),
            (
                "error: RPC failed; curl 18 transfer closed\nfatal: early EOF",
                FailureKind::Unreachable,
            ),
            ("fatal: index-pack failed", FailureKind::Other),
            (
                "fatal: cannot open '/x/FETCH_HEAD': Permission denied",
                FailureKind::NotWritable,
            ),
            (
                "error: cannot run ssh: No such file or directory\nfatal: unable to fork",
                FailureKind::Missing,
            ),
            (
                "fatal: unable to access 'https://h/': The requested URL returned error: 302",
                FailureKind::Redirected,
            ),
            (
                "error: index-pack died of signal 25\nfatal: could not finish pack-objects to repack",
                FailureKind::TooLarge,
            ),
        ] {
            assert_eq!(FetchFailure::from_stderr(stderr).class, class, "{stderr}");
        }
    }

    #[test]
    fn what_git_says_is_told_whatever_it_is() {
        for (stderr, told) in [
            (
                "remote: Enumerating objects: 3, done.\rremote: Total 3 (delta 0)\nerror: object a1: \
                 badTimezone: bad time zone\nfatal: fsck error in packed object\nfatal: fetch-pack: \
                 invalid index-pack output",
                "error: object a1: badTimezone: bad time zone; fsck error in packed object; \
                 fetch-pack: invalid index-pack output",
            ),
            (
                "warning: lazy fetching disabled\nfatal: could not fetch a1 from promisor remote",
                "could not fetch a1 from promisor remote",
            ),
            (
                "warning: No space left on device\nerror: unknown option `stdin'\nusage: git fetch",
                "error: unknown option `stdin'",
            ),
            ("died", "died"),
            ("", "git failed and did not say why"),
        ] {
            let failure = FetchFailure::from_stderr(stderr);
            assert_eq!(failure.class, FailureKind::Other, "{stderr}");
            assert_eq!(failure.error.to_string(), told);
            let hint = failure.error.next_step().unwrap();
            assert!(hint.starts_with("git said no more"), "{hint}");
        }
        // The words that tell the class are told, and so is what the other side says.
        let failure = FetchFailure::from_stderr(
            "remote: fatal: pack is broken\nfatal: the remote end hung up unexpectedly\n\
             fatal: early EOF\nfatal: index-pack failed",
        );
        let told = failure.error.to_string();
        assert_eq!(failure.class, FailureKind::Unreachable);
        let all = [
            "pack is broken",
            "hung up",
            "early EOF",
            "index-pack failed",
        ];
        assert!(all.iter().all(|words| told.contains(words)), "{told}");
        let failure = FetchFailure::from_stderr(
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
        );
        let told = failure.error.to_string();
        assert_eq!(failure.class, FailureKind::NeedsAuthentication);
        assert!(told.contains("(publickey)"), "{told}");
    }

    #[test]
    fn no_failure_of_curl_is_taken_for_a_full_disk() {
        for status in 1..100 {
            let failure = FetchFailure::from_curl(Some(status), "curl: (23) Failed writing body");
            assert_ne!(failure.class, FailureKind::DiskFull, "{status}");
        }
        let error = FetchFailure::from_curl(Some(23), "").error;
        assert!(error.next_step().is_some_and(|step| step.contains("curl")));
    }

    #[test]
    fn a_repository_of_another_user_has_gits_own_advice() {
        let stderr = "fatal: detected dubious ownership in repository at '/srv/x y/.git'\nTo add an \
                      exception for this directory, call:\n\n\tgit config --global --add \
                      safe.directory '/srv/x y/.git'\nfatal: Could not read from remote repository.";
        let error = Error::from(FetchFailure::from_stderr(stderr));
        assert_eq!(
            error.to_string(),
            "detected dubious ownership in repository at '/srv/x y/.git'"
        );
        let hint = error.next_step().unwrap();
        let command = "`git config --global --add safe.directory '/srv/x y/.git'`";
        assert!(hint.contains(command), "{hint}");
    }

    #[test]
    fn escape_sequences_of_a_server_do_not_reach_the_message() {
        let failure = FetchFailure::from_stderr("remote: \u{1b}[31mno");
        assert!(!failure.error.to_string().contains('\u{1b}'));
    }
}
