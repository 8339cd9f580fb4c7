//! `known-signers.json`: the keys that the user has accepted for a source, each since when. The
//! first signer of a source is remembered; a later one is only with the user's consent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::marketplace::lock::{LockEntry, write_json};
use crate::marketplace::prelude::*;
use crate::signing::{PublicKey, Signer};

const FILE: EntryName = EntryName::from_static("known-signers.json");
const VERSION: u32 = 1;

/// A key that was accepted for a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSigner {
    /// The key.
    #[serde(flatten)]
    pub key: PublicKey,
    /// The name that a file of signers gave it at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
}

/// All known signers, by source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct KnownSigners {
    version: u32,
    sources: BTreeMap<String, Vec<KnownSigner>>,
    /// Who signed what the user has installed into projects, by the digest of the files: what the
    /// lockfile of a project says is not believed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub installed: BTreeMap<String, Signer>,
}

impl KnownSigners {
    /// Reads them; a missing file has none.
    ///
    /// # Errors
    /// When the file cannot be read: nobody is known then, which has to be said.
    pub fn read(base: &Base) -> Result<Self> {
        let path = base.path().join(FILE.as_os_str());
        let read = files::unless_missing(&path, |path| files::read_capped(path, limits::LOCKFILE));
        let hint = || past(&path, "then the next signers count as the first");
        let read = read.map_err(|error| Error::io("read", &path, &error).hint(hint()))?;
        let Some(bytes) = read else {
            return Ok(Self::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::caused(format!("`{}` cannot be read", path.display()), error).hint(hint())
        })
    }

    /// Who is known for a source, the first first.
    pub fn of(&self, source: &str) -> &[KnownSigner] {
        let known = self.sources.get(source);
        known.map(Vec::as_slice).unwrap_or_default()
    }

    /// What is known of a key for a source.
    pub fn get(&self, source: &str, key: &PublicKey) -> Option<&KnownSigner> {
        self.of(source).iter().find(|known| known.key == *key)
    }

    /// Each key, with its source.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &KnownSigner)> {
        let each = self.sources.iter();
        each.flat_map(|(source, known)| known.iter().map(move |known| (source.as_str(), known)))
    }

    /// Remembers the signers of skills that were installed, for their sources since `now`, those known
    /// already since then; and `in_project` for the files.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remember(
        base: &Base,
        entries: &[&LockEntry],
        in_project: bool,
        now: UnixMillis,
    ) -> Result<()> {
        let path = base.path().join(FILE.as_os_str());
        let _lock = FileLock::exclusive(&path.with_extension("lock"), limits::INSTALL_LOCK)?;
        let mut known = Self::read(base)?;
        let mut is_new = false;
        for entry in entries {
            let Some(signer) = &entry.signer else {
                continue;
            };
            if known.get(&entry.source, &signer.key).is_none() {
                is_new = true;
                let of_source = known.sources.entry(entry.source.clone()).or_default();
                of_source.push(KnownSigner {
                    key: signer.key.clone(),
                    principal: signer.principal.clone(),
                    since: now.0,
                });
            }
            if in_project {
                let before = known.installed.insert(entry.sha256.clone(), signer.clone());
                is_new |= before.as_ref() != Some(signer);
            }
        }
        if !is_new {
            return Ok(());
        }
        known.version = VERSION;
        let file = base.file(&FILE)?;
        write_json(&file.dir, &file.name, &known, 0o600)
    }
}
