//! A file that records by name what someone consented to, and that only its owner can write. It
//! does not know what the consent covers.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, past, reason};
use crate::sys::process::effective_user;
use crate::sys::stamp::{Stamp, now};
use crate::sys::{Dir, Durable, FileLock, files, limits};

/// The version of the file.
const VERSION: u32 = 1;

/// The record in one file.
#[derive(Debug, Clone)]
pub struct Ledger<V = String> {
    file: PathBuf,
    root_only: bool,
    records: PhantomData<V>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerFile<V> {
    version: u32,
    entries: BTreeMap<String, V>,
}

impl<V: Serialize + DeserializeOwned> Ledger<V> {
    /// The user's record in `file`.
    pub fn for_user(file: PathBuf) -> Self {
        Self {
            file,
            root_only: false,
            records: PhantomData,
        }
    }

    /// The same record, which counts only if nobody but root can write it.
    #[must_use]
    pub fn for_root(self) -> Self {
        Self {
            root_only: true,
            ..self
        }
    }

    /// The path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// All entries; empty if there is no file yet.
    ///
    /// # Errors
    /// If the file cannot be read, is not this program's, or could have been written by another
    /// user. Then nothing counts as consented to.
    pub fn entries(&self) -> Result<BTreeMap<String, V>> {
        let refused = |why: String| {
            let text = format!("`{}` cannot be relied on: {why}", self.file.display());
            let then = "then nothing is trusted or approved; do that again";
            Error::new(text).hint(past(&self.file, then))
        };
        let unreadable = |error: std::io::Error| refused(reason(&error));
        let opened = files::unless_missing(&self.file, files::open_with_metadata);
        let Some((file, metadata)) = opened.map_err(unreadable)? else {
            return Ok(BTreeMap::new());
        };
        if let Some(why) = self.mistrusted(&metadata) {
            return Err(refused(why.to_owned()));
        }
        let bytes = files::read_file_capped(&file, metadata.len(), limits::TRUST_FILE);
        let bytes = bytes.map_err(unreadable)?;
        let written: LedgerFile<V> =
            serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))?;
        if written.version != VERSION {
            let version = written.version;
            return Err(refused(format!("its version {version} is not known")));
        }
        Ok(written.entries)
    }

    /// The stamp of the file, if [`Ledger::entries`] would rely on it and any later change to it is
    /// certain to show.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let before = now();
        let metadata = fs::metadata(&self.file).ok()?;
        let stamp = Stamp::from_metadata(&metadata);
        (self.mistrusted(&metadata).is_none() && stamp.is_settled(before)).then_some(stamp)
    }

    /// Why a file with this metadata cannot be relied on, whatever is in it.
    fn mistrusted(&self, metadata: &Metadata) -> Option<&'static str> {
        let is_ours = metadata.uid() == effective_user() && !self.root_only;
        let others_may = metadata.mode() & 0o022 != 0 || metadata.uid() != 0 && !is_ours;
        others_may.then_some("another user could have written it")
    }

    /// Records `value` under `key`.
    ///
    /// # Errors
    /// If the record cannot be read, locked or written.
    pub fn put(&self, key: &str, value: V) -> Result<()> {
        self.change(|entries| {
            entries.insert(key.to_owned(), value);
        })
    }

    /// Removes `key`; returns whether it was there.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn take(&self, key: &str) -> Result<bool> {
        let mut was_there = false;
        self.change(|entries| was_there = entries.remove(key).is_some())?;
        Ok(was_there)
    }

    /// Changes the entries by `edit`.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub(super) fn change(&self, edit: impl FnOnce(&mut BTreeMap<String, V>)) -> Result<()> {
        if let Some(dir) = self.file.parent() {
            Dir::make_anchor(dir).map_err(|source| Error::io("create", dir, &source))?;
        }
        let _lock = FileLock::exclusive(&self.file.with_extension("lock"), limits::INSTALL_LOCK)?;
        let mut entries = self.entries()?;
        edit(&mut entries);
        let written = LedgerFile {
            version: VERSION,
            entries,
        };
        let mut json = serde_json::to_vec(&written)
            .map_err(|error| Error::caused("the record cannot be written", error))?;
        json.push(b'\n');
        // Every user must be able to read root's record.
        let mode = if self.root_only { 0o644 } else { 0o600 };
        files::replace(&self.file, &json, mode, Durable::Yes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn entries_are_kept_privately_and_taken_out() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::for_user(dir.path().join("trust.json"));
        assert!(ledger.entries().unwrap().is_empty());
        ledger.put("/a", "1".to_owned()).unwrap();
        ledger.put("/a", "2".to_owned()).unwrap();
        ledger.put("/b", "3".to_owned()).unwrap();
        assert!(ledger.take("/b").unwrap() && !ledger.take("/b").unwrap());
        assert_eq!(
            ledger.entries().unwrap(),
            [("/a".to_owned(), "2".to_owned())].into()
        );
        assert_eq!(fs::metadata(ledger.file()).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_somebody_else_could_have_written_counts_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let ledger: Ledger = Ledger::for_user(dir.path().join("trust.json"));
        for text in [
            "",
            "{}",
            "[]",
            r#"{"version":2,"entries":{}}"#,
            r#"{"version":1,"entries":{"a":1}}"#,
        ] {
            fs::write(ledger.file(), text).unwrap();
            fs::set_permissions(ledger.file(), fs::Permissions::from_mode(0o600)).unwrap();
            assert!(
                ledger.entries().is_err() && ledger.put("a", "b".to_owned()).is_err(),
                "{text}"
            );
            assert_eq!(
                fs::read_to_string(ledger.file()).unwrap(),
                text,
                "it is not overwritten"
            );
        }
        fs::write(ledger.file(), r#"{"version":1,"entries":{}}"#).unwrap();
        fs::set_permissions(ledger.file(), fs::Permissions::from_mode(0o666)).unwrap();
        assert!(ledger.entries().is_err());
    }
}
