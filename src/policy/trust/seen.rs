//! The parts of a project as a person sees them before they decide: exactly that is recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::content::{files_of, is_empty_place, is_place};
use super::{Part, Trust, Trusted, Trusts, part_key, trust_key, unnamed};
use crate::error::{Error, Result};
use crate::policy::Ledger;
use crate::sys::Progress;

/// A part as it was when it was looked at.
#[derive(Debug)]
pub struct Seen {
    /// Its path.
    pub path: PathBuf,
    part: Result<Part>,
}

impl Seen {
    /// Reads a part.
    pub fn at(path: PathBuf) -> Self {
        let part = Part::read(&path).map_err(|error| {
            let error = Error::io("read", &path, &error);
            error.hint("without a digest, only `--always` could trust it")
        });
        Self { path, part }
    }

    /// Reads parts, of which a person may have to wait for many.
    pub fn all(paths: Vec<PathBuf>, show: Option<fn(&str)>) -> Vec<Self> {
        let progress = Progress::new("reading what is to be trusted", paths.len(), show);
        let read = |(done, path)| {
            progress.at(done);
            Self::at(path)
        };
        paths.into_iter().enumerate().map(read).collect()
    }

    /// The part with its key in the record of `holder`.
    pub(super) fn keyed(self, holder: &Path) -> Result<(String, Part)> {
        let key = part_key(holder, &self.path).ok_or_else(|| unnamed(&self.path))?;
        Ok((key.to_owned(), self.part?))
    }

    /// Whether it can be trusted.
    pub fn is_readable(&self) -> bool {
        self.part.is_ok()
    }

    /// The paths of its files, sorted.
    pub fn files(&self) -> Vec<String> {
        match &self.part {
            Ok(part) if !part.files.is_empty() => part.files.keys().cloned().collect(),
            _ => {
                let files = files_of(&self.path).unwrap_or_default();
                files.into_keys().collect()
            }
        }
    }
}

impl Trusts {
    /// Whether a part of `holder` is trusted as it was seen.
    pub fn of_seen(&self, holder: &Path, seen: &Seen) -> Trust {
        match (self.recorded(holder), &seen.part) {
            (Some(Trusted::Parts(parts)), Ok(now)) => part_key(holder, &seen.path)
                .and_then(|key| parts.get(key))
                .map_or(Trust::Missing, |before| before.against(now)),
            _ => self.of_part(holder, &seen.path),
        }
    }

    /// The trusted parts of `holder` that are no longer there.
    pub fn gone(&self, holder: &Path) -> Vec<PathBuf> {
        let Some(Trusted::Parts(parts)) = self.recorded(holder) else {
            return Vec::new();
        };
        let paths = parts.keys().map(|key| holder.join(key));
        paths
            .filter(|path| path.symlink_metadata().is_err())
            .collect()
    }

    /// Whether `holder` is trusted whatever changes.
    pub fn is_always(&self, holder: &Path) -> bool {
        self.recorded(holder).is_some_and(Trusted::is_always)
    }
}

impl Part {
    /// How this, as it was recorded, compares with the part `now`.
    fn against(&self, now: &Self) -> Trust {
        if now.digest == self.digest {
            return Trust::Given;
        }
        self.differing(|| now.files.clone())
    }

    /// What became of this, which is no longer as it was recorded.
    pub(super) fn differing(&self, now: impl FnOnce() -> BTreeMap<String, String>) -> Trust {
        let before = &self.files;
        if before.is_empty() {
            return Trust::Outdated(Vec::new());
        }
        let now = now();
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        let gone = gone.map(|path| format!("{path} (gone)"));
        let differing = now
            .iter()
            .filter_map(|(path, digest)| match before.get(path) {
                None => Some(format!("{path} (new)")),
                Some(known) => (known != digest).then(|| path.clone()),
            });
        Trust::Outdated(differing.chain(gone).collect())
    }
}

impl Ledger<Trusted> {
    /// Trusts these parts of `holder` as they were seen; with `keep`, the parts recorded before stay
    /// trusted too. Returns the unreadable parts, which are not trusted, with their errors.
    ///
    /// # Errors
    /// If nothing could be recorded.
    pub fn trust_seen(
        &self,
        holder: &Path,
        seen: Vec<Seen>,
        keep: bool,
    ) -> Result<Vec<(PathBuf, Error)>> {
        let mut parts = if keep {
            self.recorded_parts(holder)?
        } else {
            BTreeMap::new()
        };
        let counts = |path: &Path| !(is_place(path) && is_empty_place(path));
        let (mut unread, mut is_any) = (Vec::new(), false);
        for seen in seen {
            let path = seen.path.clone();
            match seen.keyed(holder) {
                Ok((key, part)) => {
                    is_any |= counts(&path);
                    parts.insert(key, part);
                }
                Err(error) => unread.push((path, error)),
            }
        }
        if !is_any && let Some((_, error)) = unread.pop() {
            let text = format!("nothing in `{}` could be trusted", holder.display());
            return Err(error.context(text));
        }
        self.put(&trust_key(holder)?, Trusted::Parts(parts))?;
        Ok(unread)
    }
}
