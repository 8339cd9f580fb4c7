//! Which activations have run their skill's `pre` hooks and still have to run the `post` hooks.
//! Each has a small file beside the state, which survives a kill of the host. It does not know what
//! the hooks are or whether they may run.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::sys::{Dir, Durable, EntryName, FileLock, limits};

/// Records of activations with hooks that are read; each active one has a record.
const HOOK_RECORDS: usize = 1000;

/// One activation of a skill with hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookRecord {
    /// The owner of the activation, see [`super::Session::owner`].
    pub owner: String,
    /// The skill's name.
    pub skill: String,
    /// Its directory.
    pub dir: PathBuf,
    /// The digest of the whole directory, as approved.
    pub digest: String,
    /// Whether it has `post` hooks to run.
    pub owes: bool,
}

/// A record that this process holds exclusively until it is dropped.
#[derive(Debug)]
pub struct LockedRecord {
    dir: Dir,
    stem: EntryName,
    _lock: FileLock,
}

const HOOKS: EntryName = EntryName::from_static("hooks");
const JSON: EntryName = EntryName::from_static(".json");
const LOCK: EntryName = EntryName::from_static(".lock");

impl HookRecord {
    /// Records beside the state in `state` that an activation has begun; `false` if that was recorded
    /// already.
    ///
    /// # Errors
    /// When it cannot be written, or another process is handling the end of an earlier activation.
    pub fn begin(&self, state: &Path) -> Result<bool> {
        let dir = Dir::make_anchor(state).and_then(|state| state.make_dir(&HOOKS));
        let failed = |source| Error::io("create", &state.join(HOOKS.as_os_str()), &source);
        let (dir, stem) = (dir.map_err(failed)?, stem(self));
        let file = stem.with_end(&JSON);
        let _lock = dir.lock(&stem.with_end(&LOCK), limits::HOOK_LOCK)?;
        if dir.has(&file) {
            return Ok(false);
        }
        let json = serde_json::to_vec(self)
            .map_err(|error| Error::caused("the record of hooks cannot be written", error))?;
        let written = dir.replace(&file, &json, 0o600, Durable::Yes);
        written.map_err(|error| dir.error("write", &file, &error))?;
        Ok(true)
    }

    /// Every record. Unreadable ones are skipped.
    pub fn all(state: &Path) -> Vec<Self> {
        let Some(dir) = open(state) else {
            return Vec::new();
        };
        let names = dir.entries().unwrap_or_default().into_iter();
        let names = names.map(|(name, _)| name);
        let records = names.filter(|name| name.as_os_str().as_bytes().ends_with(b".json"));
        let read = |name: EntryName| {
            let bytes = dir.read(&name, limits::HOOK_RECORD).ok()?;
            let record: Self = serde_json::from_slice(&bytes).ok()?;
            (stem(&record).with_end(&JSON) == name).then_some(record)
        };
        records.take(HOOK_RECORDS).filter_map(read).collect()
    }

    /// Takes the record, unless another process holds it or has handled it. The death of a process
    /// releases it.
    pub fn take(&self, state: &Path) -> Option<LockedRecord> {
        let (dir, stem) = (open(state)?, stem(self));
        let lock = dir.lock(&stem.with_end(&LOCK), std::time::Duration::ZERO);
        let lock = lock.ok()?;
        if dir.has(&stem.with_end(&JSON)) {
            return Some(LockedRecord {
                dir,
                stem,
                _lock: lock,
            });
        }
        // Taking the lock recreated its file.
        let _ = dir.remove_file(&stem.with_end(&LOCK));
        None
    }
}

fn open(state: &Path) -> Option<Dir> {
    Dir::anchor(state).ok()?.open_dir(&HOOKS).ok()
}

/// The part that the names of a record's files have in common.
fn stem(record: &HookRecord) -> EntryName {
    let name = Sha256::digest([&record.owner, "\0", &record.skill].concat());
    EntryName::parse(&format!("{name:x}")[..32]).unwrap_or(HOOKS)
}

impl LockedRecord {
    /// Removes the record: no hook is left to run.
    pub fn done(self) {
        for end in [JSON, LOCK] {
            let _ = self.dir.remove_file(&self.stem.with_end(&end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_activation_is_recorded_once_and_taken_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path();
        let record = |skill: &str| HookRecord {
            owner: "1-2".to_owned(),
            skill: skill.to_owned(),
            dir: "/x".into(),
            digest: "sha256:0".to_owned(),
            owes: true,
        };
        assert!(HookRecord::all(state).is_empty());
        assert!(record("a").begin(state).unwrap() && !record("a").begin(state).unwrap());
        assert!(record("b").begin(state).unwrap());
        assert_eq!(HookRecord::all(state).len(), 2);
        let taken = record("a").take(state).unwrap();
        assert!(record("a").take(state).is_none());
        taken.done();
        assert!(record("a").take(state).is_none());
        assert_eq!(HookRecord::all(state), [record("b")]);
        drop(record("b").take(state).unwrap());
        assert!(record("b").take(state).is_some(), "it was not done");
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
        let state = dir.path();
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
        assert!(HookRecord::all(state).is_empty());
    }
}
