//! Loads a [`Skill`] from a directory, or says why it does not load; and lists the directories in a
//! skills directory, with a stamp that proves whether the list is unchanged.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

use skill_format::{Fields, split};

use super::Diagnostic;
use crate::error::reason;
use crate::sys::stamp::{Stamp, now};
use crate::sys::{Dir, EntryPath, files, limits};

#[cfg(test)]
mod tests;

/// Only a file of this name is stored in the catalog's index. For any other the directory is searched
/// each time.
const FILE: &str = "SKILL.md";

/// A skill on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// What its `SKILL.md` says.
    pub parsed: skill_format::Skill,
    /// The skill's directory, as it was found.
    pub dir: PathBuf,
    /// The path of its `SKILL.md`.
    pub file: PathBuf,
    /// `sha256:` and the hexadecimal digest of the whole `SKILL.md`.
    pub digest: String,
}

impl Deref for Skill {
    type Target = skill_format::Skill;

    fn deref(&self) -> &skill_format::Skill {
        &self.parsed
    }
}

impl Skill {
    /// Reads the skill in `dir`.
    ///
    /// # Errors
    /// A diagnostic of level error when there is no readable `SKILL.md`, or no valid name.
    pub fn load(dir: &Path) -> Result<Self, Diagnostic> {
        Self::load_stamped(dir).1
    }

    /// As [`Skill::load`], with the stamp that its file had before it was read; `None` unless that
    /// is a regular file named exactly `SKILL.md`, not a link of any kind.
    pub fn load_stamped(dir: &Path) -> (Option<Stamp>, Result<Self, Diagnostic>) {
        let file = dir.join(FILE);
        // Nearly all skills have such a file, and then one access is enough.
        match files::read_unlinked(&file, limits::SKILL_FILE) {
            Ok((metadata, bytes)) => {
                let skill = Self::parse(dir, file, &bytes);
                (Some(Stamp::from_metadata(&metadata)), skill)
            }
            _ => (None, Self::find(dir)),
        }
    }

    fn find(dir: &Path) -> Result<Self, Diagnostic> {
        let shown = || dir.display().to_string();
        let missing = || match unreadable(dir) {
            Some(error) => Diagnostic::Unreadable(shown(), reason(&error)),
            None => Diagnostic::NoSkillFile(shown()),
        };
        let file = find_skill_file(dir).ok_or_else(missing)?;
        let bytes = read(dir, &file)?;
        Self::parse(dir, file, &bytes)
    }

    /// Parses `bytes`, the content of `file` in `dir`, whose name is used if the field `name` is
    /// missing. Neither path has to exist.
    ///
    /// # Errors
    /// A diagnostic of level error when there is no valid name.
    pub fn parse(dir: &Path, file: PathBuf, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let directory = dir.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            parsed: skill_format::Skill::parse(&directory, bytes)?,
            dir: dir.to_owned(),
            file,
            digest: skill_file_digest(bytes),
        })
    }

    /// The instructions: the text after the frontmatter. Read on demand, because most calls need
    /// none.
    ///
    /// # Errors
    /// When the file cannot be read, or has changed since the skill was loaded.
    pub fn body(&self) -> Result<String, Diagnostic> {
        let bytes = read(&self.dir, &self.file)?;
        if skill_file_digest(&bytes) != self.digest {
            return Err(Diagnostic::Changed(self.file.display().to_string()));
        }
        let text = String::from_utf8_lossy(&bytes);
        Ok(split(&text).instructions().to_owned())
    }

    /// Its diagnostics, as this program words them.
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        self.diagnostics.iter().cloned().map(Diagnostic::Format)
    }

    /// What the index stores of it, as JSON: besides, where its file is.
    pub fn to_cached(&self) -> Vec<u8> {
        let file = self.file.strip_prefix(&self.dir).unwrap_or(&self.file);
        let stored = (&self.name, &self.fields, &self.diagnostics, &self.digest);
        serde_json::to_vec(&(stored, file.to_string_lossy())).unwrap_or_default()
    }

    /// Whether the index stores it, so that [`Skill::from_cached`] restores it.
    pub fn can_be_cached(&self) -> bool {
        self.file == self.dir.join(FILE)
    }

    /// The skill in `SKILL.md` of `dir`, restored from the JSON that the index has of it.
    pub fn from_cached(dir: &Path, cached: &[u8]) -> Option<Self> {
        let (stored, _): (_, String) = serde_json::from_slice(cached).ok()?;
        let (name, fields, diagnostics, digest): (_, Fields, _, _) = stored;
        let (dir, file) = (dir.to_owned(), dir.join(FILE));
        let description = fields.description();
        let parsed = skill_format::Skill {
            name,
            description,
            fields,
            diagnostics,
        };
        Some(Self {
            parsed,
            dir,
            file,
            digest,
        })
    }
}

/// The digest of a `SKILL.md` with this content, as in [`Skill::digest`].
pub fn skill_file_digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// `SKILL.md` in `dir`, else the first file whose name differs only in case.
pub fn find_skill_file(dir: &Path) -> Option<PathBuf> {
    let exact = dir.join(FILE);
    if exact.is_file() {
        return Some(exact);
    }
    let entries = files::entries(dir).ok()?.into_iter();
    let named = entries.filter(|(name, _)| name.as_os_str().eq_ignore_ascii_case(FILE));
    let paths = named.map(|(name, _)| dir.join(name.as_os_str()));
    paths.filter(|path| path.is_file()).min()
}

/// Why it is not known whether there is a `SKILL.md` in `dir`.
pub fn unreadable(dir: &Path) -> Option<io::Error> {
    let is_known = |error: &io::Error| {
        use io::ErrorKind::{NotADirectory, NotFound};
        matches!(error.kind(), NotFound | NotADirectory)
    };
    let looked = dir.join(FILE).symlink_metadata().err();
    let read = || files::entries(dir).err();
    let mut errors = looked.into_iter().chain(read());
    errors.find(|error| !is_known(error))
}

fn read(dir: &Path, file: &Path) -> Result<Vec<u8>, Diagnostic> {
    read_skill_file(dir, file)
        .map_err(|why| Diagnostic::Unreadable(file.display().to_string(), why.to_string()))
}

/// The bytes of the `SKILL.md` at `path`, directly in the skill's directory `dir`. Links are followed
/// inside the directory that contains the skill, and to another `SKILL.md`, as stow and home-manager
/// link it from a store: nothing secret is called so.
///
/// # Errors
/// When it leads elsewhere, is too large or cannot be read.
pub fn read_skill_file(dir: &Path, path: &Path) -> io::Result<Vec<u8>> {
    // A regular file directly in the directory cannot lie elsewhere.
    if let Ok((_, bytes)) = files::read_unlinked(path, limits::SKILL_FILE) {
        return Ok(bytes);
    }
    let (root, real) = (dir.canonicalize()?, path.canonicalize()?);
    let around = root.parent().unwrap_or(&root);
    let below = real.strip_prefix(around).ok().and_then(EntryPath::parse);
    if let Some(below) = below {
        return Dir::anchor(around)?.read_below(&below, limits::SKILL_FILE);
    }
    let name = real.to_string_lossy().to_ascii_lowercase();
    if name.ends_with("skill.md") {
        return Ok(files::read_unlinked(&real, limits::SKILL_FILE)?.1);
    }
    Err(io::Error::other(
        "it is a link that leaves the skills directory",
    ))
}

/// The skills in `root`, sorted: directories with a `SKILL.md`, in any spelling.
pub fn skill_directories(root: &Path) -> Vec<PathBuf> {
    let (mut dirs, _) = list(root);
    dirs.retain(|dir| find_skill_file(dir).is_some());
    dirs
}

/// The directories in `root`, sorted, and its stamp, if they are unchanged as long as that is; none if
/// it is missing or unreadable. Only a complete list gets a stamp, because whether the root can be read
/// may change without changing the stamp.
#[expect(
    clippy::disallowed_methods,
    reason = "only names, which may be many: no more than the cap are read"
)]
pub fn list(root: &Path) -> (Vec<PathBuf>, Option<Stamp>) {
    let now = now();
    let stamp = Stamp::of(root);
    let mut names = Vec::new();
    // A link's target may become a directory without changing the root.
    let entries = fs::read_dir(root);
    let mut vouched = entries.is_ok();
    for entry in entries.into_iter().flatten().take(limits::CATALOG_ENTRIES) {
        let Ok(entry) = entry else {
            vouched = false;
            continue;
        };
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().ok();
        if kind.is_some_and(|kind| kind.is_dir()) || root.join(&name).is_dir() {
            names.push(name);
        } else {
            vouched &= kind.is_some_and(|kind| kind.is_file());
        }
    }
    names.sort_unstable();
    let settled = stamp.filter(|stamp| vouched && stamp.is_settled(now));
    let dirs = names.iter().map(|name| root.join(name));
    (dirs.collect(), settled)
}
