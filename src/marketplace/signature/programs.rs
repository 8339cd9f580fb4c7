//! Runs git, ssh-keygen and gpg to check signatures, in an environment of our own: no
//! configuration, hook or variable of the user or of a repository reaches them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::error::Result;
use crate::marketplace::fetch::{Class, Failure, Ran, Tool};

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

    /// A command for one of them, that knows nothing of the user but where programs are.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn command(&self, program: &str) -> Result<Command, Failure> {
        let mut command = Command::new(self.find(program)?);
        command.env_clear();
        let scratch = self.0.scratch.path();
        command.env("PATH", self.path()).env("LC_ALL", "C");
        command.envs([("HOME", scratch), ("TMPDIR", scratch)]);
        command.current_dir(scratch);
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
