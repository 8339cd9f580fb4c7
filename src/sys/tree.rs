//! Digests of directories, as a whole or by file. Links are followed and their targets count,
//! because whoever trusts a directory trusts what is read through it.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

use super::stamp::{Stamp, Stamps};
use super::{files, limits};

/// `sha256:` and the digest of the files at or below `places`, in that order: for each file its
/// path below the place, executable bit and content. A missing place counts too. The names of the
/// places do not count, so their number is fixed: what is listed from a directory needs
/// [`digest_named`]. With it come the stamps of everything it depends on, taken before the content
/// was read.
///
/// # Errors
/// When something cannot be read, is neither file nor directory, or exceeds the limits of a skill
/// ([`limits::INSTALL_FILES`], [`limits::INSTALL_BYTES`], [`limits::DIGEST_DEPTH`],
/// [`limits::WALK_STEPS`]).
pub fn digest_and_stamps<const N: usize>(places: [&Path; N]) -> io::Result<(String, Stamps)> {
    let mut hash = Sha256::new();
    let mut reading = TreeReader::default();
    for place in places {
        reading.hash(place, &mut hash)?;
        hash.update([b'|']);
    }
    let digest = format!("sha256:{:x}", hash.finalize());
    Ok((digest, reading.stamps))
}

/// As [`digest_and_stamps`], for any number of paths below `root`: the name of each below `root` counts
/// too.
///
/// # Errors
/// As [`digest_and_stamps`], and when a path is not below `root`.
pub fn digest_named(root: &Path, paths: &[PathBuf]) -> io::Result<(String, Stamps)> {
    let mut hash = Sha256::new();
    let mut reading = TreeReader::default();
    for path in paths {
        let name = path.strip_prefix(root).map_err(io::Error::other)?;
        record(&mut hash, name, b'|', b"");
        reading.hash(path, &mut hash)?;
    }
    let digest = format!("sha256-named:{:x}", hash.finalize());
    Ok((digest, reading.stamps))
}

/// The files at or below `root` by relative path, each with the beginning of a digest of what
/// [`digest_and_stamps`] covers. It shows which files changed, but does not authenticate them.
///
/// # Errors
/// As [`digest_and_stamps`].
pub fn file_digests(root: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    TreeReader::default().read(root, &mut |path, kind, content| {
        let mut hash = Sha256::new();
        record(&mut hash, path, kind, content);
        let digest = format!("{:x}", hash.finalize());
        files.insert(path.to_string_lossy().into_owned(), digest[..16].to_owned());
    })?;
    Ok(files)
}

/// Adds a file to a digest. The length comes first, so that two different directories never hash the
/// same bytes.
pub fn record(hash: &mut Sha256, path: &Path, kind: u8, content: &[u8]) {
    let name = path.as_os_str().as_bytes();
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update([kind]);
    hash.update((content.len() as u64).to_le_bytes());
    hash.update(content);
}

/// Receives each file's path, kind and content.
type FileSink<'t> = &'t mut dyn FnMut(&Path, u8, &[u8]);

/// What was read so far.
#[derive(Default)]
struct TreeReader {
    steps: usize,
    files: usize,
    bytes: u64,
    stamps: Stamps,
}

impl TreeReader {
    /// Adds what is at or below `root` to a digest.
    fn hash(&mut self, root: &Path, hash: &mut Sha256) -> io::Result<()> {
        self.read(root, &mut |path, kind, content| {
            record(hash, path, kind, content);
        })
    }

    /// Reads what is at or below `root`. A missing and an empty directory are the same: neither
    /// contains anything.
    fn read(&mut self, root: &Path, tell: FileSink) -> io::Result<()> {
        if root.symlink_metadata().is_ok() {
            return self.add(root.to_owned(), Path::new(""), 0, tell);
        }
        self.stamps.push((root.to_owned(), None));
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "links are followed, see above")]
    fn add(&mut self, path: PathBuf, below: &Path, depth: usize, tell: FileSink) -> io::Result<()> {
        self.steps += 1;
        if self.steps > limits::WALK_STEPS {
            return Err(io::Error::other("its links make too many files of a few"));
        }
        let Ok(metadata) = fs::metadata(&path) else {
            // A dangling link counts by its target, because that may exist later.
            let target = fs::read_link(&path)?;
            self.stamps.push((path, None));
            return self.record(below, b'l', target.as_os_str().as_bytes(), tell);
        };
        let stamp = Stamp::from_metadata(&metadata);
        self.stamps.push((path.clone(), Some(stamp)));
        if metadata.is_dir() {
            if depth > limits::DIGEST_DEPTH {
                return Err(io::Error::other(format!(
                    "`{}` is too deep, or a link in a circle",
                    path.display()
                )));
            }
            let mut names = fs::read_dir(&path)?
                .map(|entry| Ok(entry?.file_name()))
                .collect::<io::Result<Vec<_>>>()?;
            names.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
            return names.iter().try_for_each(|name| {
                self.add(path.join(name), &below.join(name), depth + 1, tell)
            });
        }
        let left = limits::INSTALL_BYTES - self.bytes;
        let content = files::read_capped(&path, left)?;
        let executable = metadata.permissions().mode() & 0o100 != 0;
        self.record(below, if executable { b'x' } else { b'f' }, &content, tell)
    }

    fn record(&mut self, path: &Path, kind: u8, content: &[u8], tell: FileSink) -> io::Result<()> {
        self.files += 1;
        self.bytes += content.len() as u64;
        if self.files > limits::INSTALL_FILES {
            return Err(io::Error::other("it has more files than skills have"));
        }
        tell(path, kind, content);
        Ok(())
    }
}

/// Fills `dir` with directories of links to each other: 8^16 of them for who follows links, and no
/// file.
///
/// # Panics
/// When they cannot be made.
#[cfg(test)]
pub fn multiply(dir: &Path) {
    for at in 0..16 {
        let level = dir.join(format!("d{at}"));
        fs::create_dir(&level).unwrap();
        for link in 0..8 {
            let to = format!("../d{}", at + 1);
            std::os::unix::fs::symlink(to, level.join(link.to_string())).unwrap();
        }
    }
    fs::create_dir(dir.join("d16")).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_change_changes_it_and_nothing_else_does() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("o"), "1").unwrap();
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir(at("d")).unwrap();
        fs::write(at("d/a"), "x").unwrap();
        symlink(outside.path().join("o"), at("link")).unwrap();
        symlink("missing", at("broken")).unwrap();
        let now = || digest_and_stamps([root.path()]).unwrap().0;
        let mut seen = vec![now()];
        assert_eq!(now(), seen[0]);
        let changes: [&dyn Fn(); 7] = [
            &|| fs::write(at("d/a"), "y").unwrap(),
            &|| fs::set_permissions(at("d/a"), fs::Permissions::from_mode(0o755)).unwrap(),
            &|| fs::rename(at("d/a"), at("d/b")).unwrap(),
            &|| fs::write(at("new"), "").unwrap(),
            &|| fs::write(outside.path().join("o"), "2").unwrap(),
            &|| fs::write(at("missing"), "there now").unwrap(),
            &|| fs::remove_file(at("new")).unwrap(),
        ];
        for change in changes {
            change();
            let digest = now();
            assert!(!seen.contains(&digest));
            seen.push(digest);
        }
    }

    #[test]
    fn circles_and_devices_are_errors_and_what_is_missing_is_not() {
        let root = tempfile::tempdir().unwrap();
        assert!(digest_and_stamps([&root.path().join("missing")]).is_ok());
        fs::write(root.path().join("file"), "x").unwrap();
        assert!(digest_and_stamps([&root.path().join("file")]).is_ok());
        symlink(".", root.path().join("self")).unwrap();
        assert!(digest_and_stamps([root.path()]).is_err());
        fs::remove_file(root.path().join("self")).unwrap();
        symlink("/dev/zero", root.path().join("zero")).unwrap();
        assert!(digest_and_stamps([root.path()]).is_err());
        fs::remove_file(root.path().join("zero")).unwrap();
        multiply(root.path());
        assert!(digest_and_stamps([root.path()]).is_err());
    }

    /// The digest of these files, listed from one directory.
    fn named(files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let entries = fs::read_dir(root.path()).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        digest_named(root.path(), &paths).unwrap().0
    }

    #[test]
    fn what_is_listed_counts_with_its_name() {
        let before = [("lib", "good"), ("lib.old", "bad")];
        assert_eq!(named(&before), named(&before));
        let mut seen = vec![named(&before)];
        for after in [
            &[("a", "good"), ("lib", "bad")][..],
            &[("lib/x", "good"), ("lib.old/x", "bad")],
            &[("a/x", "good"), ("lib/x", "bad")],
            &[("x", "good"), ("y", "bad")],
            &[("a/x", "good"), ("a/y", "bad")],
            &[("a/x", "good"), ("y", "bad")],
            &[("lib", "good")],
            &[],
        ] {
            let digest = named(after);
            assert!(!seen.contains(&digest), "{after:?}");
            seen.push(digest);
        }
    }

    #[test]
    fn a_path_elsewhere_has_no_name() {
        let root = tempfile::tempdir().unwrap();
        assert!(digest_named(&root.path().join("a"), &[root.path().join("b")]).is_err());
    }
}
