//! Whose signature a text below which one stands has, by the user's `ssh-keygen`.

use std::path::Path;

use crate::error::Result;
use crate::marketplace::Market;
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::ssh;
use crate::signing::{Covers, Namespace, Signature};

impl Market<'_> {
    /// Checks the signature of an approval, with the keys that the files list and revoke.
    ///
    /// # Errors
    /// When a file cannot be read, or `ssh-keygen` does not answer.
    pub fn check_approval(
        &self,
        (text, signature): (&str, &str),
        signers: &Path,
        revoked: Option<&Path>,
    ) -> Result<Signature> {
        let keys = Keys::read(Some(signers), revoked)?;
        let staging = self.home_staging()?;
        let programs = self.programs(&staging);
        let files = KeyFiles::write(&programs, &keys)?;
        let purpose = (Namespace::Approval, Covers::Manifest);
        ssh::check(&programs, &files, signature, text.as_bytes(), purpose)
    }
}
