//! The keys that count for a check: the content of one file of signers and of one that revokes, read
//! once, so that what is checked is what was read; and the programs that check by them, git,
//! ssh-keygen and gpg, in an environment of our own: no configuration, hook or variable of the user or
//! of a repository reaches them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, Ran, Tool};
use crate::signing::{Covers, KeyKind, Listed, Signature, Signers, revocations};
use crate::sys::{Dir, Durable, EntryName, Moment, files, limits};

/// The most that any of them answers with, in bytes.
const ANSWER: u64 = 16 * 1024 * 1024;

const GPG: EntryName = EntryName::from_static("gpg.conf");
/// It asks nobody, and nothing that outlives it.
const GPG_OPTIONS: &str = "batch\nquiet\nno-autostart\ndisable-dirmngr\nno-auto-key-retrieve\n";

/// Keys that count, and keys that do no longer.
pub struct KeySet<'p> {
    pub programs: Programs<'p>,
    /// The time for which they count.
    pub now: Moment,
    /// Who is listed.
    pub signers: Signers,
    /// The fingerprints of revoked keys.
    revoked: BTreeSet<String>,
    name: EntryName,
    dir: OnceCell<Dir>,
    /// The full fingerprints of the OpenPGP keys, each with the number of its line, once they are
    /// imported.
    pub keyring: OnceCell<Vec<(String, usize)>>,
    /// What was found of commits and tags, by their ids: many skills are of one.
    pub of_git: RefCell<HashMap<String, Signature>>,
}

impl<'p> KeySet<'p> {
    /// Those of these signers, none revoked.
    pub fn listing(programs: Programs<'p>, signers: Signers) -> Self {
        Self {
            programs,
            now: Moment::now(),
            signers,
            revoked: BTreeSet::new(),
            name: EntryName::from_static("keys"),
            dir: OnceCell::new(),
            keyring: OnceCell::new(),
            of_git: RefCell::default(),
        }
    }

    /// Reads the files; no file counts as an empty one. `number` tells this set from others.
    ///
    /// # Errors
    /// When a file is missing or cannot be understood: who is listed or revoked is not known then.
    pub fn read(
        programs: Programs<'p>,
        number: usize,
        signers: Option<&Path>,
        revoked: Option<&Path>,
    ) -> Result<Self> {
        let mut set = Self::listing(programs, Signers::default());
        set.name = EntryName::parse(format!("keys-{number}")).unwrap_or(set.name);
        if let Some(path) = signers {
            set.signers = Signers::parse(&text(path)?).map_err(|error| of_file(path, error))?;
        }
        if let Some(path) = revoked {
            set.revoked = revocations(&text(path)?).map_err(|error| of_file(path, error))?;
        }
        Ok(set)
    }

    /// Whether a key was revoked by its fingerprint.
    pub fn revokes(&self, fingerprint: &str) -> bool {
        self.revoked.contains(fingerprint)
    }

    /// The lines of ssh keys that count now for a purpose.
    pub fn counting(&self, signed: Covers) -> impl Iterator<Item = &Listed> {
        let listed = self.signers.of_kind(KeyKind::Ssh);
        listed.filter(move |key| key.counts(signed, self.now))
    }

    /// Writes a file for a program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &EntryName, bytes: &[u8]) -> Result<PathBuf> {
        let dir = self.dir()?;
        let written = dir.replace(name, bytes, 0o600, Durable::No);
        written.map_err(|error| dir.error("write", name, &error))?;
        Ok(dir.path_of(name))
    }

    /// A command for a program that knows only these keys.
    ///
    /// # Errors
    /// When it is not installed, or the disk is full.
    pub fn command(&self, program: &str) -> Result<Command> {
        let mut command = self.programs.command(program)?;
        command.env("GNUPGHOME", self.dir()?.path());
        Ok(command)
    }

    /// The directory of these keys, which is a home of GnuPG.
    fn dir(&self) -> Result<&Dir> {
        if let Some(dir) = self.dir.get() {
            return Ok(dir);
        }
        // Nothing of an earlier check's keys counts.
        let (scratch, name) = (self.programs.0.scratch, &self.name);
        let made = scratch
            .remove_ours(name)
            .and_then(|()| scratch.make_private_dir(name));
        let made = made.map_err(|error| scratch.error("make directory", name, &error))?;
        let dir = self.dir.get_or_init(|| made);
        self.write(&GPG, GPG_OPTIONS.as_bytes())?;
        Ok(dir)
    }
}

fn of_file(path: &Path, error: Error) -> Error {
    error.context(format!("`{}`", path.display()))
}

fn text(path: &Path) -> Result<String> {
    let bytes = files::read_capped(path, limits::SIGNERS).map_err(|error| {
        Error::io("read", path, &error).hint("correct its path, or put the file there")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

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
