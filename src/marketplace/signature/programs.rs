//! Runs git, ssh-keygen, gpg and minisign to check signatures, in an environment of our own: no
//! configuration, hook or variable of the user or of a repository reaches them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::marketplace::fetch::{Class, Failure, Ran, Tool};
use crate::sys::EntryName;

/// The directory in a scratch directory in which they work.
pub const SIGNED: EntryName = EntryName::from_static("signed.git");

/// The home of GnuPG in a scratch directory.
pub const KEYRING: EntryName = EntryName::from_static("gnupg");

/// The most that any of them answers with, in bytes.
const ANSWER: u64 = 16 * 1024 * 1024;
/// The variables of the user that they need: where programs are, and which time zone dates in a file
/// of signers mean.
const KEPT: [&str; 2] = ["PATH", "TZ"];

/// How these programs are run.
#[derive(Debug, Clone, Copy)]
pub struct Programs<'a>(pub Tool<'a>);

impl Programs<'_> {
    /// Where `program` is on the user's path.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn find(&self, program: &str) -> Result<PathBuf, Failure> {
        let Tool { env, scratch, .. } = self.0;
        let path = env.os("PATH").unwrap_or_default();
        which::which_in(program, Some(path), scratch.path())
            .map_err(|_| Failure::new(Class::Missing, format!("{program} was not found")))
    }

    /// A command for one of them, that knows nothing of the user but where programs are.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn command(&self, program: &str) -> Result<Command, Failure> {
        let mut command = Command::new(self.find(program)?);
        command.env_clear();
        let scratch = self.0.scratch.path();
        for name in KEPT {
            if let Some(value) = self.0.env.os(name) {
                command.env(name, value);
            }
        }
        command.env("LC_ALL", "C");
        command.envs([("HOME", scratch), ("TMPDIR", scratch)]);
        command.env("GNUPGHOME", self.0.scratch.path_of(&KEYRING));
        command.current_dir(scratch);
        Ok(command)
    }

    /// A git command that works on `repo`.
    ///
    /// # Errors
    /// As [`Programs::command`].
    pub fn git(&self, repo: &Path) -> Result<Command, Failure> {
        let mut command = self.command("git")?;
        let nothing = Path::new("/dev/null");
        command.envs([
            ("GIT_CONFIG_GLOBAL", nothing),
            ("GIT_CONFIG_SYSTEM", nothing),
        ]);
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_ATTR_NOSYSTEM", "1")]);
        command.envs([
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
        ]);
        command.args(["-c", "core.hooksPath=/dev/null", "--git-dir"]);
        command.arg(repo);
        Ok(command)
    }

    /// Runs one to its end, whatever its status.
    ///
    /// # Errors
    /// When it cannot be run or does not end in time.
    pub fn run(&self, command: Command, input: &str) -> Result<Ran, Failure> {
        self.0.run(command, input, ANSWER)
    }
}
