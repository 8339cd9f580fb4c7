//! Which activations have run their skill's hooks, and so owe what runs at their end. One small file
//! each, beside the state, so that a host that is killed takes none of it along. What the hooks
//! are and whether they may run is not known here.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::sys::{FileLock, files, limits};

/// One activation of a skill with hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookRecord {
    /// Whose the activation is, see [`super::Session::owner`].
    pub owner: String,
    /// The skill's name.
    pub skill: String,
    /// Its directory.
    pub dir: PathBuf,
    /// The digest of everything in it, as approved.
    pub digest: String,
    /// Whether something is to run at the end.
    pub owes: bool,
}

/// All of them.
#[derive(Debug, Clone)]
pub struct HookRecords {
    dir: PathBuf,
}

/// A record that only this process deals with, as long as this lives.
#[derive(Debug)]
pub struct Taken {
    file: PathBuf,
    _lock: FileLock,
}

impl HookRecords {
    /// The records beside the state in `dir`.
    pub fn at(dir: &Path) -> Self {
        Self {
            dir: dir.join("hooks"),
        }
    }

    /// Writes down that an activation has begun; `false` when it had already.
    ///
    /// # Errors
    /// When it cannot be written, or the end of an earlier activation is being dealt with.
    pub fn begin(&self, record: &HookRecord) -> Result<bool> {
        fs::create_dir_all(&self.dir).map_err(|source| Error::io("create", &self.dir, &source))?;
        let file = self.file(record);
        let _lock = FileLock::exclusive(&file.with_extension("lock"), limits::HOOK_LOCK)?;
        if file.exists() {
            return Ok(false);
        }
        let json = serde_json::to_vec(record).map_err(|error| Error::new(error.to_string()))?;
        files::replace_file(&file, &json, 0o600)?;
        Ok(true)
    }

    /// Every record. What cannot be read is none.
    pub fn all(&self) -> Vec<HookRecord> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let records = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
        let read = |path: PathBuf| {
            let bytes = files::read_capped(&path, limits::HOOK_RECORD).ok()?;
            let record: HookRecord = serde_json::from_slice(&bytes).ok()?;
            (self.file(&record) == path).then_some(record)
        };
        records
            .take(limits::HOOK_RECORDS)
            .filter_map(read)
            .collect()
    }

    /// Takes a record, unless another process has it or has dealt with it. A process that dies
    /// lets go of it.
    pub fn take(&self, record: &HookRecord) -> Option<Taken> {
        let file = self.file(record);
        let lock = FileLock::exclusive(&file.with_extension("lock"), std::time::Duration::ZERO);
        let taken = Taken {
            _lock: lock.ok()?,
            file,
        };
        if taken.file.exists() {
            return Some(taken);
        }
        // Waiting made the file for the lock anew.
        let _ = fs::remove_file(taken.file.with_extension("lock"));
        None
    }

    fn file(&self, record: &HookRecord) -> PathBuf {
        let mut hash = Sha256::new();
        hash.update(&record.owner);
        hash.update([0]);
        hash.update(&record.skill);
        let name = format!("{:x}", hash.finalize());
        self.dir.join(&name[..32]).with_extension("json")
    }
}

impl Taken {
    /// Nothing is owed any more.
    pub fn done(self) {
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(self.file.with_extension("lock"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activation_is_recorded_once_and_taken_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let records = HookRecords::at(dir.path());
        let record = |skill: &str| HookRecord {
            owner: "1-2".to_owned(),
            skill: skill.to_owned(),
            dir: "/x".into(),
            digest: "sha256:0".to_owned(),
            owes: true,
        };
        assert!(records.all().is_empty());
        assert!(records.begin(&record("a")).unwrap() && !records.begin(&record("a")).unwrap());
        assert!(records.begin(&record("b")).unwrap());
        assert_eq!(records.all().len(), 2);
        let taken = records.take(&record("a")).unwrap();
        assert!(records.take(&record("a")).is_none());
        taken.done();
        assert!(records.take(&record("a")).is_none());
        assert_eq!(records.all(), [record("b")]);
        drop(records.take(&record("b")).unwrap());
        assert!(records.take(&record("b")).is_some(), "it was not done");
        let litter = fs::read_dir(dir.path().join("hooks")).unwrap().flatten();
        let litter = litter.map(|entry| entry.file_name());
        assert_eq!(
            litter.filter(|name| name != "x").count(),
            2,
            "record and lock of b"
        );
    }

    #[test]
    fn what_is_no_record_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let records = HookRecords::at(dir.path());
        fs::create_dir(dir.path().join("hooks")).unwrap();
        for (name, text) in [
            ("a.json", "{"),
            (
                "b.json",
                r#"{"owner":"x","skill":"y","dir":"/","digest":"z","owes":true}"#,
            ),
            ("c.txt", "{}"),
        ] {
            fs::write(dir.path().join("hooks").join(name), text).unwrap();
        }
        assert!(records.all().is_empty());
    }
}
