//! The keys that count for a check: the content of one file of signers and of one that revokes, read
//! once, so that what is checked is what was read.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::marketplace::fetch::Programs;
use crate::marketplace::prelude::*;
use crate::signing::{AllowedSigner, KeyKind, Signature, Signer, revocations};

/// Accepted keys, and revoked ones.
pub struct KeySet<'p> {
    /// Runs what checks.
    pub tool: Programs<'p>,
    /// The time for which they count.
    pub now: UnixMillis,
    /// Who is listed, or why that is not known: what is wrong or revoked is so anyway.
    signers: Result<Vec<AllowedSigner>>,
    /// The fingerprints of revoked keys.
    revoked: BTreeSet<String>,
    /// What was found of commits and tags, by their ids: many skills are of one.
    pub of_git: RefCell<HashMap<String, Signature>>,
}

impl<'p> KeySet<'p> {
    /// Reads the files; no file counts as an empty one.
    ///
    /// # Errors
    /// When it is not known who is revoked.
    pub fn read(
        tool: Programs<'p>,
        signers: Option<&Path>,
        revoked: Option<&Path>,
    ) -> Result<Self> {
        Ok(Self {
            tool,
            now: UnixMillis::now(),
            signers: read(signers, AllowedSigner::all),
            revoked: read(revoked, revocations)?,
            of_git: RefCell::default(),
        })
    }

    /// The lines that list a signer's key: by its fingerprint, or that of the part of it that signed.
    pub fn lines<'s>(&'s self, signer: &'s Signer) -> impl Iterator<Item = &'s AllowedSigner> {
        let is_signers = |line: &&AllowedSigner| {
            line.kind == signer.key.kind
                && (line.fingerprint == signer.key.fingerprint
                    || signer.public.as_ref() == Some(&line.fingerprint))
        };
        self.signers.iter().flatten().filter(is_signers)
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
            return Signature::unchecked(
                "by a certificate; certificates are not accepted".to_owned(),
            );
        }
        if let Err(error) = &self.signers {
            return Signature::unchecked(error.to_string());
        }
        let mut counting = self
            .lines(signer)
            .filter(|line| line.is_valid_for(signer.signed, self.now));
        let principal = counting.find_map(AllowedSigner::principal);
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
        let dir = self.tool.scratch;
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
