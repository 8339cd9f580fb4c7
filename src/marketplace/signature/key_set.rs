//! The keys that count for a check: the content of one file of signers and of one that revokes, read
//! once, so that what is checked is what was read; and the programs that check, git, ssh-keygen and
//! gpg, in an environment of our own, which has only the home of the user, for gpg's keys.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, Ran, Tool};
use crate::signing::{KeyKind, Listed, Signature, Signer, revocations};
use crate::sys::{Durable, EntryName, Moment, files, limits};

/// The most that any of them answers with, in bytes.
const ANSWER: u64 = 16 * 1024 * 1024;

/// Keys that count, and keys that do no longer.
pub struct KeySet<'p> {
    pub programs: Programs<'p>,
    /// The time for which they count.
    pub now: Moment,
    /// Who is listed.
    signers: Vec<Listed>,
    /// The fingerprints of revoked keys.
    revoked: BTreeSet<String>,
    /// What was found of commits and tags, by their ids: many skills are of one.
    pub of_git: RefCell<HashMap<String, Signature>>,
}

impl<'p> KeySet<'p> {
    /// Reads the files; no file counts as an empty one.
    ///
    /// # Errors
    /// When a file is missing or cannot be understood: who is listed or revoked is not known then.
    pub fn read(
        programs: Programs<'p>,
        signers: Option<&Path>,
        revoked: Option<&Path>,
    ) -> Result<Self> {
        Ok(Self {
            programs,
            now: Moment::now(),
            signers: read(signers, Listed::all)?,
            revoked: read(revoked, revocations)?,
            of_git: RefCell::default(),
        })
    }

    /// The lines that list a signer's key: by its fingerprint, or that of the part of it that signed.
    pub fn lines<'s>(&'s self, signer: &'s Signer) -> impl Iterator<Item = &'s Listed> {
        let is_it = |line: &&Listed| {
            line.kind == signer.key.kind
                && (line.fingerprint == signer.key.fingerprint
                    || signer.public.as_ref() == Some(&line.fingerprint))
        };
        self.signers.iter().filter(is_it)
    }

    /// The signature by a key, in the light of who is listed and revoked now.
    pub fn trust(&self, signer: &Signer) -> Signature {
        let fingerprint = &*signer.key.fingerprint;
        let public = signer.public.as_deref().unwrap_or_default();
        let mut keys = [fingerprint, public].into_iter();
        if let Some(key) = keys.find(|key| self.revoked.contains(*key)) {
            return Signature::bad(format!("the key {key} was revoked"));
        }
        if public.contains("-cert-") {
            // Its own key says nothing without who issued it, and for how long.
            return Signature::unchecked("by a certificate, of which none counts".to_owned());
        }
        let mut counting = self
            .lines(signer)
            .filter(|line| line.counts(signer.signed, self.now));
        let principal = counting.find_map(Listed::principal);
        if principal.is_none() && self.lines(signer).next().is_some() {
            let text = format!("the key {fingerprint} is listed, but not for");
            return Signature::bad(format!("{text} this purpose and time"));
        }
        if principal.is_none() && signer.key.kind == KeyKind::Openpgp {
            return Signature::unchecked(format!(
                "the OpenPGP key {fingerprint} is not listed here"
            ));
        }
        Signature::Good(Signer {
            principal: principal.map(str::to_owned),
            ..signer.clone()
        })
    }

    /// Writes a file for a program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &EntryName, bytes: &[u8]) -> Result<PathBuf> {
        let dir = self.programs.0.scratch;
        let written = dir.replace(name, bytes, 0o600, Durable::No);
        written.map_err(|error| dir.error("write", name, &error))?;
        Ok(dir.path_of(name))
    }
}

/// What a file says, if there is to be one.
fn read<T: Default>(path: Option<&Path>, parse: impl Fn(&str) -> Result<T>) -> Result<T> {
    let Some(path) = path else {
        return Ok(T::default());
    };
    let bytes = files::read_capped(path, limits::SIGNERS).map_err(|error| {
        Error::io("read", path, &error).hint("correct its path, or put the file there")
    })?;
    let read = parse(&String::from_utf8_lossy(&bytes));
    read.map_err(|error| error.context(format!("`{}`", path.display())))
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

    /// A command for one of them, that knows nothing of the user but where programs and gpg's keys
    /// are.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn command(&self, program: &str) -> Result<Command, Failure> {
        let mut command = Command::new(self.find(program)?);
        command.env_clear();
        let (env, scratch) = (self.0.env, self.0.scratch.path());
        command.env("PATH", self.path()).env("LC_ALL", "C");
        command.envs(
            ["HOME", "GNUPGHOME"]
                .into_iter()
                .filter_map(|name| Some((name, env.os(name)?))),
        );
        command.env("TMPDIR", scratch).current_dir(scratch);
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
