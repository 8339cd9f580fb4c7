//! The keys that count for a check: the content of one file of signers and of one that revokes, read
//! once, so that what is checked is what was read.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::signing::{KRL, KeyKind, Listed, Signers, revocations};
use crate::sys::{files, limits};

/// Keys that count, and keys that do no longer.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// Who is listed.
    pub signers: Signers,
    /// The fingerprints of revoked keys.
    revoked: BTreeSet<String>,
    /// A binary list of revoked ssh keys, for `ssh-keygen`.
    pub krl: Option<Vec<u8>>,
}

impl Keys {
    /// Those of these signers, none revoked.
    pub fn listing(signers: Signers) -> Self {
        Self {
            signers,
            ..Self::default()
        }
    }

    /// Reads the files; no file counts as an empty one.
    ///
    /// # Errors
    /// When a file is missing or cannot be understood: who is listed or revoked is not known then.
    pub fn read(signers: Option<&Path>, revoked: Option<&Path>) -> Result<Self> {
        let mut keys = Self::default();
        if let Some(path) = signers {
            let text = String::from_utf8_lossy(&bytes(path)?).into_owned();
            keys.signers = Signers::parse(&text).map_err(|error| of_file(path, error))?;
        }
        if let Some(path) = revoked {
            let bytes = bytes(path)?;
            if bytes.starts_with(KRL) {
                keys.krl = Some(bytes);
            } else {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                keys.revoked = revocations(&text).map_err(|error| of_file(path, error))?;
            }
        }
        Ok(keys)
    }

    /// Whether a key was revoked by its fingerprint.
    pub fn revokes(&self, fingerprint: &str) -> bool {
        self.revoked.contains(fingerprint)
    }

    /// Whether some line lists this ssh key.
    pub fn lists_ssh(&self, fingerprint: &str) -> bool {
        let mut listed = self.signers.of_kind(KeyKind::Ssh);
        listed.any(|listed| listed.fingerprint.as_deref() == Some(fingerprint))
    }

    /// The lines of ssh keys for `ssh-keygen`, without revoked keys: one may be an authority, which
    /// no signature names.
    pub fn for_ssh(&self) -> String {
        let listed = self.signers.of_kind(KeyKind::Ssh);
        let counts = |key: &&Listed| {
            let own = key.fingerprint.as_deref();
            own.is_none_or(|own| !self.revokes(own))
        };
        let lines = listed.filter(counts).flat_map(|key| [&key.text, "\n"]);
        lines.collect()
    }
}

fn of_file(path: &Path, error: Error) -> Error {
    error.context(format!("`{}`", path.display()))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    files::read_capped(path, limits::SIGNERS).map_err(|error| {
        Error::io("read", path, &error).hint("correct its path, or put the file there")
    })
}
