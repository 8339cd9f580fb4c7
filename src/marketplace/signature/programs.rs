//! Runs git, ssh-keygen and gpg to check signatures, in an environment of our own: no
//! configuration, hook or variable of the user or of a repository reaches them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::marketplace::fetch::{Class, Failure, Ran, Tool};
use crate::sys::{Durable, EntryName};

/// The directory in a scratch directory in which they work.
pub const SIGNED: EntryName = EntryName::from_static("signed.git");

/// The home of GnuPG in a scratch directory.
pub const KEYRING: EntryName = EntryName::from_static("gnupg");

/// The most that any of them answers with, in bytes.
const ANSWER: u64 = 16 * 1024 * 1024;

/// How these programs are run.
#[derive(Debug, Clone, Copy)]
pub struct Programs<'a>(pub Tool<'a>);

impl Programs<'_> {
    /// Where `program` is on the user's path.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn find(&self, program: &str) -> Result<PathBuf, Failure> {
        which::which_in(program, Some(self.path()), self.0.scratch.path())
            .map_err(|_| Failure::new(Class::Missing, format!("{program} was not found")))
    }

    /// The user's path, without places that depend on the current directory.
    fn path(&self) -> OsString {
        let path = self.0.env.os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&path).filter(|place| place.is_absolute());
        std::env::join_paths(places).unwrap_or_default()
    }

    /// Writes a file for one of them into the scratch directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &EntryName, bytes: &[u8]) -> Result<()> {
        let scratch = self.0.scratch;
        let written = scratch.replace(name, bytes, 0o600, Durable::No);
        written.map_err(|error| scratch.error("write", name, &error))
    }

    /// A command for one of them, that knows nothing of the user but where programs are.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn command(&self, program: &str) -> Result<Command, Failure> {
        let mut command = Command::new(self.find(program)?);
        command.env_clear();
        let scratch = self.0.scratch.path();
        // A time zone of the environment's would move the dates in a file of signers.
        command.env("PATH", self.path()).env("LC_ALL", "C");
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
    pub fn run(&self, command: Command, input: impl AsRef<[u8]>) -> Result<Ran, Failure> {
        self.0.run(command, input, ANSWER)
    }
}
