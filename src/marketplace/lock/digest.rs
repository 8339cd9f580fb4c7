//! The content of an installed skill as one digest, and one for each file. Directories have the
//! same digest if their files have the same paths, executable bits and bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::marketplace::prelude::*;
use crate::signing;
use crate::sys::tree;

/// The mode of a link, which no file has.
const LINK: u32 = 0;

/// The digests of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// Hexadecimal SHA-256 over the files, sorted by the bytes of their paths. Each file
    /// contributes the path's length, the path, one byte 0 or 1 for executable, the content's
    /// length, and the content. Lengths are 8 bytes, little-endian.
    pub sha256: String,
    /// Each path with the SHA-256 of its bytes, followed by `+x` if executable.
    pub files: Files,
    /// The paths of what can be run.
    pub scripts: BTreeSet<String>,
    /// The paths of links.
    pub links: BTreeSet<String>,
    /// The total size of all files.
    pub bytes: u64,
}

impl Digest {
    /// Reads every file below `dir`. A link counts as a file that contains its target: installed
    /// skills have no links, so one added later shows as a change.
    ///
    /// # Errors
    /// When a file cannot be read, or there are more files than an install may have.
    pub fn read(dir: &Path) -> Result<Self> {
        let root = Dir::anchor(dir).map_err(|error| Error::io("read directory", dir, &error))?;
        let mut paths = Vec::new();
        collect(&root, Path::new(""), &mut paths)?;
        paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
        let mut whole = Sha256::new();
        let mut digest = Self::default();
        let mut files = BTreeMap::new();
        for path in paths {
            let read = read(&root, &path);
            let (content, mode) =
                read.map_err(|error| Error::io("read", &dir.join(&path), &error))?;
            digest.bytes += content.len() as u64;
            if digest.bytes > limits::INSTALL_BYTES {
                return Err(too_large(dir));
            }
            let executable = mode & 0o100 != 0;
            tree::record(&mut whole, &path, u8::from(executable), &content);
            let can_run = Runner::of(&path, has_bit(mode), &content).is_some();
            let value = signing::digest(&content, executable);
            let path = path.to_string_lossy().into_owned();
            digest.links.extend((mode == LINK).then(|| path.clone()));
            digest.scripts.extend(can_run.then(|| path.clone()));
            files.insert(path, value);
        }
        digest.files = files.into();
        digest.sha256 = format!("{:x}", whole.finalize());
        Ok(digest)
    }
}

fn collect(root: &Dir, below: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = root.open_dir_below(below).and_then(|dir| dir.entries());
    let unreadable = |error| Error::io("read directory", &root.path().join(below), &error);
    for (name, kind) in entries.map_err(unreadable)? {
        let path = below.join(name.as_os_str());
        if kind == EntryKind::Dir {
            collect(root, &path, found)?;
        } else {
            found.push(path);
        }
        if found.len() > limits::INSTALL_FILES {
            return Err(too_large(root.path()));
        }
    }
    Ok(())
}

fn read(root: &Dir, path: &Path) -> io::Result<(Vec<u8>, u32)> {
    let dir = root.open_dir_below(path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().and_then(EntryName::parse);
    let name = name.ok_or(io::ErrorKind::InvalidInput)?;
    if dir.kind(&name)? == Some(EntryKind::Link) {
        let target = dir.read_link(&name)?;
        return Ok(([b"link\0", target.as_os_str().as_bytes()].concat(), LINK));
    }
    let (file, metadata) = dir.open_file(&name)?;
    let mut content = Vec::new();
    file.take(limits::INSTALL_BYTES + 1)
        .read_to_end(&mut content)?;
    Ok((content, metadata.permissions().mode()))
}

fn too_large(dir: &Path) -> Error {
    let text = format!(
        "`{}` is larger than an installed skill may be",
        dir.display()
    );
    Error::new(text).hint("remove what was put there after the install")
}

/// The paths with their digests, sorted. A map would take half a kilobyte for a skill of two files,
/// and thousands are kept at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
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

impl From<BTreeMap<String, String>> for Files {
    fn from(files: BTreeMap<String, String>) -> Self {
        Self(files.into_iter().collect())
    }
}

impl Serialize for Files {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(path, digest)| (path, digest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::dir::swapping::{SECRET, while_swapped};
    use std::fs;

    fn digest(files: &[(&str, &str, u32)]) -> Digest {
        let dir = tempfile::tempdir().unwrap();
        for (path, text, mode) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        Digest::read(dir.path()).unwrap()
    }

    #[test]
    fn the_same_files_have_the_same_digest_and_any_change_another() {
        let one = [("a", "x", 0o644), ("d/b", "y", 0o755)];
        let same = [("d/b", "y", 0o700), ("a", "x", 0o600)];
        assert_eq!(digest(&one), digest(&same));
        for other in [
            [("a", "x", 0o644), ("d/b", "y", 0o644)],
            [("a", "x", 0o644), ("d/c", "y", 0o755)],
            [("a", "xd", 0o644), ("b", "y", 0o755)],
        ] {
            assert_ne!(digest(&one).sha256, digest(&other).sha256);
        }
    }

    #[test]
    fn the_format_is_the_documented_one() {
        let bytes = [
            &1u64.to_le_bytes()[..],
            b"a",
            &[1],
            &1u64.to_le_bytes()[..],
            b"x",
        ]
        .concat();
        let digest = digest(&[("a", "x", 0o755)]);
        assert_eq!(digest.sha256, format!("{:x}", Sha256::digest(&bytes)));
        let sha = format!("{:x}+x", Sha256::digest(b"x"));
        assert_eq!(digest.files.get("a"), Some(sha.as_str()));
    }

    #[test]
    fn nothing_outside_is_read_while_links_are_swapped_in() {
        let secret = format!("{:x}", Sha256::digest(SECRET));
        while_swapped(|skill| {
            let Ok(digest) = Digest::read(skill) else {
                return false;
            };
            let files = &digest.files;
            let is_outside = |path: &str| {
                path.ends_with("only-outside") || files.get(path) == Some(secret.as_str())
            };
            assert!(!files.paths().any(is_outside), "{files:?}");
            files.paths().any(|path| path.ends_with("/file"))
        });
    }
}
