//! The keys that count for a check, as files that programs can read.

use std::path::PathBuf;

use crate::error::Result;
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::openpgp::{self, Keyring};
use crate::marketplace::signature::programs::Programs;
use crate::sys::EntryName;

const SIGNERS: EntryName = EntryName::from_static("signers");
const REVOKED: EntryName = EntryName::from_static("revoked");

/// The keys of one set of files.
pub struct KeyFiles<'k> {
    pub keys: &'k Keys,
    pub keyring: Keyring,
}

impl<'k> KeyFiles<'k> {
    /// Writes them into the scratch directory, in place of those of another set.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(programs: &Programs, keys: &'k Keys) -> Result<Self> {
        programs.write(&SIGNERS, keys.for_ssh().as_bytes())?;
        programs.write(&REVOKED, keys.krl.as_deref().unwrap_or_default())?;
        Ok(Self {
            keys,
            keyring: openpgp::import(programs, keys)?,
        })
    }

    /// The file of ssh signers.
    pub fn signers(programs: &Programs) -> PathBuf {
        programs.0.scratch.path_of(&SIGNERS)
    }

    /// The binary list of revoked ssh keys, if there is one.
    pub fn revoked(&self, programs: &Programs) -> Option<PathBuf> {
        self.keys.krl.as_ref()?;
        Some(programs.0.scratch.path_of(&REVOKED))
    }
}
