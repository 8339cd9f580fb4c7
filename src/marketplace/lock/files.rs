//! The files of a skill with a digest each, and what differs between two such lists. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The paths with their digests, sorted. A map would take half a kilobyte for a skill of two files,
/// and thousands are kept at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(Vec<(String, String)>);

impl Files {
    /// The digest of the file at `path`.
    pub fn get(&self, path: &str) -> Option<&str> {
        let at = self
            .0
            .binary_search_by(|(other, _)| other.as_str().cmp(path));
        at.ok().map(|at| self.0[at].1.as_str())
    }

    /// Their paths.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(path, _)| path.as_str())
    }

    /// The paths that are not in `others`.
    pub fn only(&self, others: &Self) -> Vec<String> {
        let only = self.paths().filter(|path| others.get(path).is_none());
        only.map(str::to_owned).collect()
    }

    /// The paths in both with different content.
    pub fn changed(&self, others: &Self) -> Vec<String> {
        let differs = |path: &&str| {
            let other = others.get(path);
            other.is_some() && other != self.get(path)
        };
        let changed = self.paths().filter(differs);
        changed.map(str::to_owned).collect()
    }
}

impl FromIterator<(String, String)> for Files {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(files: I) -> Self {
        let sorted: BTreeMap<_, _> = files.into_iter().collect();
        Self(sorted.into_iter().collect())
    }
}

impl Serialize for Files {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(path, digest)| (path, digest)))
    }
}

impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::deserialize(from)?.into_iter().collect())
    }
}
